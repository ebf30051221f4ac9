//! Runtime calls of macro transformers.

use super::machine::{Machine, Procedure, Value};
use super::stop::{Res, Stop};
use super::transform::{character, string};
use super::transformer_tables::HOLE;
use super::values::{Atom, Val, boolean, cells, fixnum, items, list, unspecified};
use crate::walk::deep;
use cairn_layout::code::Site;
use cairn_num::division::Round;
use cairn_num::signed::BitOp;
use cairn_num::{Int, Number};
use std::cell::RefCell;
use std::rc::Rc;

/// Elements of a made string or vector, at most.
const MAX_LENGTH: usize = 1 << 20;

impl<'p> Machine<'p> {
    pub(super) fn runtime(&self, name: &'static str, args: &[Value<'p>]) -> Res<Value<'p>> {
        if let ("fatal", [Val::String(s), site, ..]) = (name, args) {
            let site = match site {
                Val::Num(Number::Int(Int::Fix(n))) => Site(*n as u64),
                _ => Site::NONE,
            };
            return Err(Stop::Raised(s.borrow().iter().collect(), site));
        }
        if let Some(result) = self.port_call(name, args) {
            return result;
        }
        let call = Call { name, args };
        match name {
            // what is expanded is not what runs
            "count-evaluation" => Ok(unspecified()),
            "length" => {
                let (mut l, mut n) = (args[0].clone(), 0);
                while let Some((_, rest)) = l.pair() {
                    l = rest;
                    n += 1;
                    self.world.step()?;
                }
                if matches!(l, Val::Nil) { Ok(fixnum(n)) } else { Err(Stop::Operand) }
            }
            "equal" => Ok(boolean(self.equal(&args[0], &args[1])?)),
            "generate-symbol" => self.fresh_symbol(),
            "syntax-host" => self.ask_host(args),
            "broken-object" => Ok(Val::Atom(HOLE)),
            "weak-kind" if matches!(args, [Val::Vector(_)]) => Ok(boolean(false)),
            _ if name.starts_with("table-") => self.table_call(name, args),
            "machine-builtin" => Ok(Val::Procedure(Rc::new(Procedure::Builtin(call.size(0)?)))),
            _ if name.starts_with("num-") || name.ends_with("num") || name.starts_with("num->") => call.numeric(),
            _ if name.contains("char") || name == "digit-value" => call.character(),
            _ if name.contains("string") || name.contains("utf8") => call.text(),
            _ => call.other(),
        }
    }

    pub(super) fn equal(&self, a: &Value<'p>, b: &Value<'p>) -> Res<bool> {
        self.world.step()?;
        match (a, b) {
            (Val::Pair(p), Val::Pair(q)) => {
                if Rc::ptr_eq(p, q) {
                    return Ok(true);
                }
                // along the list in a loop, into elements by recursion
                let (mut a, mut b) = (a.clone(), b.clone());
                while let (Some((x, rest)), Some((y, other))) = (a.pair(), b.pair()) {
                    self.world.step()?;
                    if !deep(|| self.equal(&x, &y))? {
                        return Ok(false);
                    }
                    (a, b) = (rest, other);
                }
                if a.pair().is_some() || b.pair().is_some() { Ok(false) } else { self.equal(&a, &b) }
            }
            (Val::Vector(v), Val::Vector(w)) => {
                let (v, w) = (v.borrow().clone(), w.borrow().clone());
                if v.len() != w.len() {
                    return Ok(false);
                }
                for (x, y) in v.iter().zip(&w) {
                    if !deep(|| self.equal(x, y))? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Val::String(s), Val::String(t)) => Ok(*s.borrow() == *t.borrow()),
            (Val::Bytes(s), Val::Bytes(t)) => Ok(*s.borrow() == *t.borrow()),
            (Val::Numbers(k, s), Val::Numbers(l, t)) => Ok(k == l && s == t),
            _ => Ok(a.is_eqv(b)),
        }
    }
}

/// A call by name. What is not here is [`Stop::Unsupported`]; operands of other kinds are [`Stop::Operand`].
struct Call<'c, 'p> {
    name: &'static str,
    args: &'c [Value<'p>],
}

type Text = Rc<RefCell<Vec<char>>>;

impl<'p> Call<'_, 'p> {
    fn num(&self, i: usize) -> Res<&Number> {
        match self.args.get(i) {
            Some(Val::Num(n)) => Ok(n),
            _ => Err(Stop::Operand),
        }
    }

    fn int(&self, i: usize) -> Res<&Int> {
        match self.num(i)? {
            Number::Int(n) => Ok(n),
            _ => Err(Stop::Operand),
        }
    }

    fn size(&self, i: usize) -> Res<usize> {
        let n = self.int(i)?.to_i64().and_then(|n| usize::try_from(n).ok());
        n.filter(|n| *n < MAX_LENGTH).ok_or(Stop::Operand)
    }

    fn char(&self, i: usize) -> Res<char> {
        match self.args.get(i) {
            Some(Val::Atom(Atom::Char(c))) => Ok(*c),
            _ => Err(Stop::Operand),
        }
    }

    fn str(&self, i: usize) -> Res<&Text> {
        match self.args.get(i) {
            Some(Val::String(s)) => Ok(s),
            _ => Err(Stop::Operand),
        }
    }

    /// Bounds in operands `i` and `i + 1` of something of this length.
    fn range(&self, i: usize, length: usize) -> Res<std::ops::Range<usize>> {
        let (start, end) = (self.size(i)?, self.size(i + 1)?);
        if start <= end && end <= length { Ok(start..end) } else { Err(Stop::Operand) }
    }

    /// The elements of a proper list.
    fn items(&self, i: usize) -> Res<Vec<Value<'p>>> {
        items(&self.args[i])
    }

    fn unsupported<T>(&self) -> Res<T> {
        Err(Stop::Unsupported(self.name))
    }

    fn numeric(&self) -> Res<Value<'p>> {
        let number = |n: Number| Ok(Val::Num(n));
        let fault = |r: Result<Number, cairn_num::Fault>| r.map(Val::Num).map_err(|_| Stop::Operand);
        let flo = |f: fn(f64) -> bool| match self.num(0)? {
            Number::Flo(x) => Ok(boolean(f(*x))),
            Number::Complex(..) => {
                let (re, im) = self.num(0)?.complex_f64();
                Ok(boolean(f(re) || f(im)))
            }
            _ => Ok(boolean(false)),
        };
        match self.name {
            "num-integer?" => Ok(boolean(matches!(&self.args[0], Val::Num(n) if n.is_integer()))),
            "num-rational?" => Ok(boolean(match &self.args[0] {
                Val::Num(Number::Flo(x)) => x.is_finite(),
                Val::Num(n) => n.is_real(),
                _ => false,
            })),
            "num-exact?" => Ok(boolean(self.num(0)?.is_exact())),
            "num-nan?" => flo(f64::is_nan),
            "num-infinite?" => flo(f64::is_infinite),
            "num-finite?" => match flo(|x| !x.is_finite())? {
                Val::Atom(Atom::Bool(infinite)) => Ok(boolean(!infinite)),
                _ => Err(Stop::Operand),
            },
            "num-gcd" => fault(self.num(0)?.gcd(self.num(1)?)),
            "num-numerator" => fault(self.num(0)?.numerator()),
            "num-denominator" => fault(self.num(0)?.denominator()),
            "num-floor" => fault(self.num(0)?.round_to(Round::Floor)),
            "num-ceiling" => fault(self.num(0)?.round_to(Round::Ceiling)),
            "num-truncate" => fault(self.num(0)?.round_to(Round::Truncate)),
            "num-round" => fault(self.num(0)?.round_to(Round::Nearest)),
            "num-exp" => number(self.num(0)?.exp()),
            "num-log" => fault(self.num(0)?.log()),
            "num-sin" => number(self.num(0)?.sin()),
            "num-cos" => number(self.num(0)?.cos()),
            "num-tan" => number(self.num(0)?.tan()),
            "num-atan" => fault(self.num(0)?.atan()),
            "num-make-rectangular" | "num-make-polar" => {
                let (a, b) = (self.num(0)?, self.num(1)?);
                match (a.is_real() && b.is_real(), self.name) {
                    (false, _) => Err(Stop::Operand),
                    (true, "num-make-polar") => number(Number::polar(a, b)),
                    (true, _) => number(Number::rectangular(a.clone(), b.clone())),
                }
            }
            "num-sqrt" => number(self.num(0)?.sqrt()),
            "num-expt" => fault(self.num(0)?.expt(self.num(1)?)),
            "num-exact" => self.num(0)?.to_exact().map(Val::Num).ok_or(Stop::Operand),
            "num-inexact" => number(self.num(0)?.to_inexact()),
            "num-real-part" => number(self.num(0)?.real_part()),
            "num-imag-part" => number(self.num(0)?.imag_part()),
            "num-magnitude" => number(self.num(0)?.magnitude()),
            "num-exact-integer-sqrt" => {
                let (root, rest) = self.num(0)?.exact_integer_sqrt().map_err(|_| Stop::Operand)?;
                Ok(Val::Pair(cells(vec![Val::Num(Number::Int(root)), Val::Num(Number::Int(rest))])))
            }
            "num->string" => {
                let radix = u32::try_from(self.size(1)?).ok().filter(|r| (2..=36).contains(r));
                Ok(string(&cairn_num::format_number(self.num(0)?, radix.ok_or(Stop::Operand)?)))
            }
            "string->num" => {
                let radix = u32::try_from(self.size(1)?).ok().filter(|r| (2..=36).contains(r));
                let text: String = self.str(0)?.borrow().iter().collect();
                let n = cairn_num::parse_number(&text, radix.ok_or(Stop::Operand)?);
                Ok(n.map_or(boolean(false), Val::Num))
            }
            "num-and" => number(Number::Int(self.int(0)?.bitwise(BitOp::And, self.int(1)?))),
            "num-or" => number(Number::Int(self.int(0)?.bitwise(BitOp::Or, self.int(1)?))),
            "num-xor" => number(Number::Int(self.int(0)?.bitwise(BitOp::Xor, self.int(1)?))),
            "num-not" => number(Number::Int(self.int(0)?.not())),
            "num-shift" => {
                let by = self.int(1)?.to_i64().filter(|n| n.unsigned_abs() < 1 << 24).ok_or(Stop::Operand)?;
                self.int(0)?.shift(by).map(|n| Val::Num(Number::Int(n))).ok_or(Stop::Operand)
            }
            "num-bit-count" => Ok(fixnum(self.int(0)?.bit_count() as i64)),
            "num-integer-length" => Ok(fixnum(self.int(0)?.integer_length() as i64)),
            _ => self.unsupported(),
        }
    }

    fn character(&self) -> Res<Value<'p>> {
        let one = |mut it: std::char::ToUppercase, c: char| if it.len() == 1 { it.next().unwrap_or(c) } else { c };
        let lower = |c: char| c.to_lowercase().next().unwrap_or(c);
        if let "write-char" = self.name {
            let c = self.char(0)?;
            return self.put(1, &c.to_string());
        }
        let c = self.char(0)?;
        Ok(match self.name {
            "char-upcase" => character(one(c.to_uppercase(), c)),
            "char-downcase" => character(lower(c)),
            "char-foldcase" => character(lower(one(c.to_uppercase(), c))),
            "char-alphabetic?" => boolean(c.is_alphabetic()),
            "char-numeric?" => boolean(c.is_numeric()),
            "char-whitespace?" => boolean(c.is_whitespace()),
            "char-upper-case?" => boolean(c.is_uppercase()),
            "char-lower-case?" => boolean(c.is_lowercase()),
            "digit-value" => c.to_digit(10).map_or(boolean(false), |d| fixnum(i64::from(d))),
            _ => return self.unsupported(),
        })
    }

    fn put(&self, port: usize, text: &str) -> Res<Value<'p>> {
        match self.args.get(port) {
            Some(Val::Port(p)) => {
                p.text.borrow_mut().push_str(text);
                Ok(unspecified())
            }
            _ => self.unsupported(),
        }
    }

    fn text(&self) -> Res<Value<'p>> {
        let made = |chars: Vec<char>| Ok(Val::String(Rc::new(RefCell::new(chars))));
        let chars = |items: Vec<Value<'p>>| -> Res<Vec<char>> {
            items
                .iter()
                .map(|x| if let Val::Atom(Atom::Char(c)) = x { Ok(*c) } else { Err(Stop::Operand) })
                .collect()
        };
        let mapped = |f: fn(&str) -> String| Ok(string(&f(&self.str(0)?.borrow().iter().collect::<String>())));
        match self.name {
            "make-string" => made(vec![self.char(1)?; self.size(0)?]),
            "string-append" => made([&self.str(0)?.borrow()[..], &self.str(1)?.borrow()[..]].concat()),
            "string-concat" => {
                let mut all = Vec::new();
                for x in self.items(0)? {
                    let Val::String(s) = &x else { return Err(Stop::Operand) };
                    all.extend_from_slice(&s.borrow());
                }
                made(all)
            }
            "substring" => {
                let s = self.str(0)?.borrow();
                made(s[self.range(1, s.len())?].to_vec())
            }
            "string-copy!" => {
                let from = self.str(2)?.borrow().clone();
                let part = &from[self.range(3, from.len())?];
                let (mut to, at) = (self.str(0)?.borrow_mut(), self.size(1)?);
                to.get_mut(at..at + part.len()).ok_or(Stop::Operand)?.copy_from_slice(part);
                Ok(unspecified())
            }
            "string-compare" => {
                let order = self.str(0)?.borrow().cmp(&self.str(1)?.borrow());
                Ok(fixnum(order as i64))
            }
            "string=?" => Ok(boolean(*self.str(0)?.borrow() == *self.str(1)?.borrow())),
            "string-upcase" => mapped(str::to_uppercase),
            "string-downcase" => mapped(str::to_lowercase),
            "string-foldcase" => mapped(|s| s.to_uppercase().to_lowercase()),
            "list->string" => made(chars(self.items(0)?)?),
            "string->list" => {
                let s = self.str(0)?.borrow();
                Ok(list(s[self.range(1, s.len())?].iter().map(|c| character(*c)).collect()))
            }
            "string->vector" => {
                let s = self.str(0)?.borrow();
                Ok(Val::Vector(cells(s[self.range(1, s.len())?].iter().map(|c| character(*c)).collect())))
            }
            "vector->string" => match &self.args[0] {
                Val::Vector(v) => made(chars(v.borrow()[self.range(1, v.borrow().len())?].to_vec())?),
                _ => Err(Stop::Operand),
            },
            "string->utf8" => {
                let s = self.str(0)?.borrow();
                let part: String = s[self.range(1, s.len())?].iter().collect();
                Ok(Val::Bytes(Rc::new(RefCell::new(part.into_bytes()))))
            }
            "utf8->string" => {
                let Some(Val::Bytes(b)) = self.args.first() else { return Err(Stop::Operand) };
                let part = b.borrow()[self.range(1, b.borrow().len())?].to_vec();
                made(String::from_utf8_lossy(&part).chars().collect())
            }
            "string-hash" => Ok(fixnum(hash(&self.str(0)?.borrow().iter().collect::<String>()))),
            "string->symbol" => Ok(Val::Symbol(self.str(0)?.borrow().iter().collect::<String>().into())),
            "write-string" => {
                let text: String = {
                    let s = self.str(0)?.borrow();
                    s[self.range(2, s.len())?].iter().collect()
                };
                self.put(1, &text)
            }
            _ => self.unsupported(),
        }
    }

    fn other(&self) -> Res<Value<'p>> {
        match (self.name, self.args) {
            ("eqv", [a, b]) => Ok(boolean(a.is_eqv(b))),
            // where prompts end, and what cannot be sent to other places: there are none here
            ("note-base" | "record-type-sent!", _) => Ok(unspecified()),
            ("subbytevector", [Val::Bytes(b), ..]) => {
                let part = b.borrow()[self.range(1, b.borrow().len())?].to_vec();
                Ok(Val::Bytes(Rc::new(RefCell::new(part))))
            }
            ("bytevector-append", [_]) => {
                let mut all = Vec::new();
                for x in self.items(0)? {
                    let Val::Bytes(b) = &x else { return Err(Stop::Operand) };
                    all.extend_from_slice(&b.borrow());
                }
                Ok(Val::Bytes(Rc::new(RefCell::new(all))))
            }
            ("equal-hash", [x]) => Ok(fixnum(hash(&x.to_string()))),
            ("make-vector", [_, x]) => Ok(Val::Vector(cells(vec![x.clone(); self.size(0)?]))),
            ("subvector", [Val::Vector(v), ..]) => {
                let part = v.borrow()[self.range(1, v.borrow().len())?].to_vec();
                Ok(Val::Vector(cells(part)))
            }
            ("vector-copy!", [Val::Vector(to), _, Val::Vector(from), ..]) => {
                let part = from.borrow()[self.range(3, from.borrow().len())?].to_vec();
                let at = self.size(1)?;
                to.borrow_mut().get_mut(at..at + part.len()).ok_or(Stop::Operand)?.clone_from_slice(&part);
                Ok(unspecified())
            }
            ("vector-fill!", [Val::Vector(v), x, ..]) => {
                let range = self.range(2, v.borrow().len())?;
                v.borrow_mut()[range].fill(x.clone());
                Ok(unspecified())
            }
            ("vector-append", [_]) => {
                let mut all = Vec::new();
                for x in self.items(0)? {
                    let Val::Vector(v) = &x else { return Err(Stop::Operand) };
                    all.extend_from_slice(&v.borrow());
                }
                Ok(Val::Vector(cells(all)))
            }
            ("list->vector", [_]) => Ok(Val::Vector(cells(self.items(0)?))),
            ("vector->list", [Val::Vector(v), ..]) => {
                let range = self.range(1, v.borrow().len())?;
                Ok(list(v.borrow()[range].to_vec()))
            }
            ("make-bytevector", [..]) => {
                let byte = u8::try_from(self.size(1)?).map_err(|_| Stop::Operand)?;
                Ok(Val::Bytes(Rc::new(RefCell::new(vec![byte; self.size(0)?]))))
            }
            ("list?", [x]) => {
                let (mut l, mut n) = (x.clone(), 0);
                while let Some((_, rest)) = l.pair() {
                    l = rest;
                    n += 1;
                    if n == MAX_LENGTH {
                        return Ok(boolean(false));
                    }
                }
                Ok(boolean(matches!(l, Val::Nil)))
            }
            ("append-reversed", [_, end]) => {
                let mut out = end.clone();
                for x in self.items(0)? {
                    out = Val::Pair(cells(vec![x, out]));
                }
                Ok(out)
            }
            ("make-record-type" | "make-record-subtype", parts) => {
                Ok(Val::Record(cells([vec![boolean(false)], parts.to_vec()].concat())))
            }
            ("record-define", [name, own, sealed, parent, _]) => {
                let mut parts = vec![boolean(false), name.clone(), own.clone(), sealed.clone()];
                if let Val::Record(_) = parent {
                    parts.push(parent.clone());
                }
                Ok(Val::Record(cells(parts)))
            }
            ("record-type-about", [Val::Record(r), _]) => {
                let parts = r.borrow();
                match (&parts[..], self.size(1)?) {
                    ([Val::Atom(Atom::Bool(false)), name, ..], 0) => Ok(name.clone()),
                    ([_, _, own, ..], 1) => Ok(own.clone()),
                    ([_, _, own, _, parent], 2) => {
                        let Val::Record(_) = parent else { return Err(Stop::Operand) };
                        let inherited = Call { name: self.name, args: &[parent.clone(), fixnum(2)] }.other()?;
                        Ok(list([items(&inherited)?, items(own)?].concat()))
                    }
                    ([_, _, own, ..], 2) => Ok(own.clone()),
                    ([_, _, _, _, parent], 3) => Ok(parent.clone()),
                    _ => Ok(boolean(false)),
                }
            }
            ("record-type-about", [_, _]) => Ok(boolean(false)),
            ("record-type-show!", _) => Ok(unspecified()),
            ("make-record", [rtd, _]) => {
                let mut parts = vec![rtd.clone()];
                parts.extend(self.items(1)?);
                Ok(Val::Record(cells(parts)))
            }
            ("write-object", [x, _, mode]) => {
                let display = matches!(mode, Val::Num(n) if n.is_zero());
                let text = match x {
                    Val::String(s) if display => s.borrow().iter().collect(),
                    Val::Atom(Atom::Char(c)) if display => c.to_string(),
                    x => x.written(),
                };
                self.put(1, &text)
            }
            ("make-vector" | "subvector" | "vector-copy!" | "vector-fill!" | "vector->list", _) => {
                Err(Stop::Operand)
            }
            _ => self.unsupported(),
        }
    }
}

/// Of the written form: equal data have the same.
fn hash(text: &str) -> i64 {
    text.bytes().fold(5381i64, |h, b| (h.wrapping_mul(33) ^ i64::from(b)) & 0xFFFF_FFFF_FFFF)
}
