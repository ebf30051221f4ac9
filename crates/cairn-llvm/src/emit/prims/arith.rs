//! Generic arithmetic: inline for two fixnums and for flonums, else a cold call.
//!
//! ```text
//!  (a | b) & 7 == 0 ──yes──▶ add, overflow? ──no──▶ done
//!        │no                      │yes
//!        ▼                        ▼
//!  (a | b) & 2 == 0 ──yes──▶ …   cold: cairn_num_add
//!  fixnum or flonum ──no─────────▲
//! ```
//!
//! A literal or an unboxed double decides one side at compile time; a fixnum met by a flonum is converted here. Exact
//! zero is the identity of sums even for `-0.0`, so there it becomes the double zero that is one ([`Zeros`]).

use super::{Sink, Value, literal_fixnum};
use crate::emit::brief::Brief;
use crate::emit::builder::{Label, ins};
use crate::emit::emitter::Emitter;
use crate::emit::ir_text::{Odds, Val, double};
use cairn_core::ir::Literal;
use cairn_core::prim::{Op, fixnum_bit};
use cairn_frame::ir::{Operand, Prim};
use cairn_layout::value::Value as Word;

/// An operand, as far as it is known.
enum Side {
    /// A literal fixnum.
    Fixnum(i64),
    /// A double in hand.
    Double(Val),
    /// A word that is a fixnum.
    Word(Val),
    /// A word that can be anything, and an `i1` that says whether it is a fixnum, if there is one.
    Any(Val, Option<Val>),
}

/// Is one side a double in hand?
fn in_hand(a: &Side, b: &Side) -> bool {
    matches!((a, b), (Side::Double(_), _) | (_, Side::Double(_)))
}

/// How the fixnum 0 becomes a double, on the left and on the right: as `-0.0`?
type Zeros = [bool; 2];

/// `-0.0 + x` is `x` for every double `x`, so is `x - 0.0`; and `-0.0 - x` is `-x`.
fn zeros(op: Op) -> Zeros {
    match op {
        Op::Add => [true, true],
        Op::Sub => [true, false],
        _ => [false, false],
    }
}

fn literal_double(i: i64, negative_zero: bool) -> Val {
    double(if i == 0 && negative_zero { -0.0 } else { i as f64 })
}

/// Fixnums up to here are doubles without rounding.
const EXACT_DOUBLE: i64 = 1 << 53;

impl Emitter<'_, '_> {
    fn side(&mut self, p: &Prim, i: usize) -> Side {
        let o = &p.args[i];
        if let Some(i) = literal_fixnum(o) {
            return Side::Fixnum(i);
        }
        match self.known_double(o) {
            Some(d) => Side::Double(d),
            None if p.proven & fixnum_bit(i) != 0 => Side::Word(self.operand(o)),
            None => Side::Any(self.operand(o), self.fixnum_flag(o)),
        }
    }

    /// The word of a side.
    fn side_word(&mut self, s: &Side) -> Val {
        match s {
            Side::Fixnum(i) => Val::word(Word::fixnum(*i).0),
            Side::Double(d) => self.encode_double(d),
            Side::Any(w, _) | Side::Word(w) => w.clone(),
        }
    }

    /// The doubles of both sides when neither is anything but a fixnum or a self-tagged flonum; else to `slow`. Two
    /// fixnums do not come here. With `mixed`, a fixnum beside a flonum is converted; without (comparisons are exact),
    /// it goes to `slow`.
    fn side_doubles(&mut self, a: &Side, b: &Side, mixed: Option<Zeros>, slow: &Label) -> (Val, Val) {
        let probe = match (a, b) {
            (Side::Any(v, _), Side::Any(w, _)) => Some(ins!(self, "or i64 {v}, {w}")),
            (Side::Any(v, _), _) | (_, Side::Any(v, _)) => Some(v.clone()),
            _ => None,
        };
        if let Some(probe) = probe {
            // of all tags, those of fixnums and flonums have this bit clear
            let bit = ins!(self, "and i64 {probe}, 2");
            let numbers = ins!(self, "icmp eq i64 {bit}, 0");
            let go = self.fresh();
            self.branch(&numbers, &go, slow, Odds::Probable);
            self.start(&go);
        }
        let [left, right] = [0, 1].map(|i| mixed.map(|zeros| zeros[i]));
        (self.side_double(a, b, left, slow), self.side_double(b, a, right, slow))
    }

    /// `mixed`: what [`Zeros`] says for this side.
    fn side_double(&mut self, side: &Side, other: &Side, mixed: Option<bool>, slow: &Label) -> Val {
        let w = match side {
            Side::Fixnum(i) => return literal_double(*i, mixed == Some(true)),
            Side::Double(d) => return d.clone(),
            Side::Word(w) => return self.converted(w, mixed == Some(true)),
            Side::Any(w, _) => w,
        };
        if matches!(other, Side::Fixnum(_) | Side::Word(_)) {
            return self.decode_immediate(w);
        }
        let fixnum = self.is_fixnum(side);
        let decode = self.fresh();
        let (Some(negative_zero), Side::Double(_)) = (mixed, other) else {
            self.branch(&fixnum, slow, &decode, Odds::Unlikely);
            self.start(&decode);
            return self.decode_immediate(w);
        };
        let convert = self.fresh();
        let join = self.fresh();
        self.branch(&fixnum, &convert, &decode, Odds::Even);
        self.start(&convert);
        let c = self.converted(w, negative_zero);
        self.goto(&join);
        self.start(&decode);
        let d = self.decode_immediate(w);
        self.goto(&join);
        self.start(&join);
        self.phi("double", &[(c, convert), (d, decode)])
    }

    /// The double of fixnum word `w`; that of 0 is `-0.0` if so wanted.
    fn converted(&mut self, w: &Val, negative_zero: bool) -> Val {
        if !negative_zero {
            return self.fixnum_to_double(w);
        }
        // of the number, not of the word: that of the least fixnum has no opposite
        let n = ins!(self, "ashr i64 {w}, 3");
        let opposite = ins!(self, "sub i64 0, {n}");
        let d = ins!(self, "sitofp i64 {opposite} to double");
        ins!(self, "fneg double {d}")
    }

    /// An `i1`: is a side that can be anything a fixnum?
    fn is_fixnum(&mut self, side: &Side) -> Val {
        match side {
            Side::Any(_, Some(flag)) => flag.clone(),
            Side::Any(w, None) => self.has_tag(w, 0),
            _ => unreachable!("a side that is known"),
        }
    }

    /// Sends two fixnums one way, words `(a, b)` in hand; emission goes on where at least one is none. Returns `false`
    /// if two fixnums are impossible.
    fn split_fixnums(&mut self, a: &Side, b: &Side, fixnums: &Label) -> bool {
        let only = match (a, b) {
            (Side::Double(_), _) | (_, Side::Double(_)) => return false,
            (Side::Any(..), Side::Any(..)) => {
                // Two branches, and both tests before them: jump threading sees on the fast path that each is a fixnum,
                // and finds the tests when it meets them again. What is left LLVM makes one test of `v | w`. A flag
                // goes first: it is a phi that the branch can be threaded through.
                let (first, second) = if matches!(b, Side::Any(_, Some(_))) { (b, a) } else { (a, b) };
                let (first, second) = (self.is_fixnum(first), self.is_fixnum(second));
                let (go, other) = (self.fresh(), self.fresh());
                self.branch(&first, &go, &other, Odds::Probable);
                self.start(&go);
                self.branch(&second, fixnums, &other, Odds::Probable);
                self.start(&other);
                return true;
            }
            (Side::Any(..), _) => self.is_fixnum(a),
            (_, Side::Any(..)) => self.is_fixnum(b),
            _ => Val::text("true"),
        };
        let other = self.fresh();
        self.branch(&only, fixnums, &other, Odds::Probable);
        self.start(&other);
        true
    }

    /// Is there a way for doubles? Not for two fixnums, nor for a fixnum that does not fit; `mixed` as in
    /// `side_doubles`.
    fn flonum_path(a: &Side, b: &Side, mixed: bool) -> bool {
        let fits = |s: &Side| match s {
            Side::Fixnum(i) => i.abs() <= EXACT_DOUBLE,
            Side::Word(_) => mixed,
            Side::Double(_) | Side::Any(..) => true,
        };
        let fixnum = |s: &Side| matches!(s, Side::Fixnum(_) | Side::Word(_));
        fits(a) && fits(b) && !(fixnum(a) && fixnum(b))
    }

    /// Is the way for doubles in line? A double in hand always has it.
    fn has_flonum_path(&self, a: &Side, b: &Side, mixed: bool) -> bool {
        Self::flonum_path(a, b, mixed) && (self.brief == Brief::Not || in_hand(a, b))
    }

    /// Both doubles when no test is needed.
    fn known_doubles(a: &Side, b: &Side, zeros: Zeros) -> Option<(Val, Val)> {
        let known = |s: &Side, negative_zero: bool| match s {
            Side::Fixnum(i) => Some(literal_double(*i, negative_zero)),
            Side::Double(d) => Some(d.clone()),
            Side::Word(_) | Side::Any(..) => None,
        };
        if Self::flonum_path(a, b, true) { Some((known(a, zeros[0])?, known(b, zeros[1])?)) } else { None }
    }

    /// `+`, `-`, `*`, `/`.
    pub(super) fn arithmetic(&mut self, op: Op, p: &Prim) -> Value {
        let (a, b) = (self.side(p, 0), self.side(p, 1));
        let (symbol, float, overflow) = match op {
            Op::Add => ("cairn_num_add", "fadd", "sadd"),
            Op::Sub => ("cairn_num_sub", "fsub", "ssub"),
            Op::Mul => ("cairn_num_mul", "fmul", "smul"),
            _ => ("cairn_num_div", "fdiv", ""),
        };
        if let Some((x, y)) = Self::known_doubles(&a, &b, zeros(op)) {
            return Value::Double(ins!(self, "{float} double {x}, {y}"));
        }
        if self.brief.calls() && !in_hand(&a, &b) {
            let (v, w) = (self.side_word(&a), self.side_word(&b));
            return Value::Word(self.slow_result(symbol, &[v, w], p.site));
        }
        let (join, slow, fixnums) = (self.fresh(), self.fresh(), self.fresh());
        // results and whether they are fixnums
        let (mut paths, mut flags) = (Vec::new(), Vec::new());
        // division of fixnums is exact or a ratio: left to the runtime
        let divides = op == Op::Div;
        let split = self.split_fixnums(&a, &b, if divides { &slow } else { &fixnums });
        if self.has_flonum_path(&a, &b, true) {
            let (x, y) = self.side_doubles(&a, &b, Some(zeros(op)), &slow);
            let d = ins!(self, "{float} double {x}, {y}");
            if in_hand(&a, &b) {
                let w = self.encode_result(&d);
                paths.push((w, self.here()));
                flags.push((Val::text("false"), self.here()));
                self.goto(&join);
            } else {
                // the runtime has to box it, and can as well do the rest once more
                let (w, fits) = self.encode_if_immediate(&d);
                paths.push((w, self.here()));
                flags.push((Val::text("false"), self.here()));
                self.branch(&fits, &join, &slow, Odds::Likely);
            }
        } else {
            self.goto(&slow);
        }
        if split && !divides {
            self.start(&fixnums);
            let (mut v, w) = (self.side_word(&a), self.side_word(&b));
            if op == Op::Mul {
                v = ins!(self, "ashr i64 {v}, 3");
            }
            let r = ins!(self, "call {{ i64, i1 }} @llvm.{overflow}.with.overflow.i64(i64 {v}, i64 {w})");
            let sum = ins!(self, "extractvalue {{ i64, i1 }} {r}, 0");
            let over = ins!(self, "extractvalue {{ i64, i1 }} {r}, 1");
            paths.push((sum, self.here()));
            flags.push((Val::text("true"), self.here()));
            self.branch(&over, &slow, &join, Odds::Unlikely);
        }
        self.out_of_line(&slow, |e| {
            let (v, w) = (e.side_word(&a), e.side_word(&b));
            let r = e.slow_result(symbol, &[v, w], p.site);
            flags.push((e.has_tag(&r, 0), e.here()));
            paths.push((r, e.here()));
            e.goto(&join);
        });
        self.start(&join);
        let result = self.phi("i64", &paths);
        let flag = self.phi("i1", &flags);
        self.set_result_flag(flag);
        Value::Word(result)
    }

    /// `=`, `<`, `<=`, `>`, `>=`.
    pub(super) fn compare(&mut self, op: Op, p: &Prim, sink: &mut Sink) {
        let (mut first, mut second) = (0, 1);
        let (symbol, int, float) = match op {
            Op::NumEq => ("cairn_num_eq", "eq", "oeq"),
            Op::NumLt | Op::NumGt => ("cairn_num_lt", "slt", "olt"),
            _ => ("cairn_num_le", "sle", "ole"),
        };
        if matches!(op, Op::NumGt | Op::NumGe) {
            std::mem::swap(&mut first, &mut second);
        }
        let (a, b) = (self.side(p, first), self.side(p, second));
        if let Some((x, y)) = Self::known_doubles(&a, &b, zeros(op)) {
            let bit = ins!(self, "fcmp {float} double {x}, {y}");
            return sink.end(self, &bit);
        }
        if self.brief.calls() && !in_hand(&a, &b) {
            let (v, w) = (self.side_word(&a), self.side_word(&b));
            let r = self.rt_call(symbol, &[v, w], p.site);
            let bit = ins!(self, "icmp ne i64 {r}, {}", Word::FALSE.0);
            return sink.end(self, &bit);
        }
        let (slow, fixnums) = (self.fresh(), self.fresh());
        let split = self.split_fixnums(&a, &b, &fixnums);
        if self.has_flonum_path(&a, &b, false) {
            let (x, y) = self.side_doubles(&a, &b, None, &slow);
            let bit = ins!(self, "fcmp {float} double {x}, {y}");
            sink.end(self, &bit);
        } else {
            self.goto(&slow);
        }
        if split {
            self.start(&fixnums);
            let (v, w) = (self.side_word(&a), self.side_word(&b));
            let bit = ins!(self, "icmp {int} i64 {v}, {w}");
            sink.end(self, &bit);
        }
        self.out_of_line(&slow, |e| {
            let (v, w) = (e.side_word(&a), e.side_word(&b));
            let r = e.rt_call(symbol, &[v, w], p.site);
            let bit = ins!(e, "icmp ne i64 {r}, {}", Word::FALSE.0);
            sink.end(e, &bit);
        });
    }

    /// `quotient`, `remainder`, `modulo`, `floor-quotient`: inline for fixnums unless the divisor is 0 or -1 (the one
    /// quotient that overflows).
    pub(super) fn integer_division(&mut self, op: Op, p: &Prim) -> Value {
        let (v, w) = (self.operand(&p.args[0]), self.operand(&p.args[1]));
        let symbol = match op {
            Op::Quotient => "cairn_num_quotient",
            Op::Remainder => "cairn_num_remainder",
            Op::Modulo => "cairn_num_modulo",
            _ => "cairn_num_floor_quotient",
        };
        let divisor = literal_fixnum(&p.args[1]);
        let (join, slow) = (self.fresh(), self.fresh());
        let mut paths = Vec::new();
        let is_literal_number = |o: &Operand| matches!(o, Operand::Const(Literal::Number(_)));
        let ok = if is_literal_number(&p.args[1]) && divisor.is_none_or(|d| d == 0 || d == -1) {
            None
        } else {
            let fixnum = |i: usize| p.proven & fixnum_bit(i) != 0;
            Some(match (fixnum(0), fixnum(1) || divisor.is_some()) {
                (true, true) => Val::text("true"),
                (true, false) => self.has_tag(&w, 0),
                (false, true) => self.has_tag(&v, 0),
                (false, false) => {
                    let probe = ins!(self, "or i64 {v}, {w}");
                    self.has_tag(&probe, 0)
                }
            })
        };
        if let Some(ok) = ok {
            self.guard(&ok, &slow);
            if divisor.is_none() {
                // 0 and -1 are the words 0 and -8
                let shifted = ins!(self, "add i64 {w}, 8");
                let safe = ins!(self, "icmp ugt i64 {shifted}, 8");
                self.guard(&safe, &slow);
            }
            let r = match divisor {
                Some(d) if d > 0 && (d as u64).is_power_of_two() => self.divide_by_power(op, &v, d),
                _ => self.divide(op, &v, &w),
            };
            paths.push((r, self.here()));
            self.goto(&join);
        } else {
            self.goto(&slow);
        }
        self.out_of_line(&slow, |e| {
            let r = e.slow_result(symbol, &[v.clone(), w.clone()], p.site);
            paths.push((r, e.here()));
            e.goto(&join);
        });
        self.start(&join);
        Value::Word(self.phi("i64", &paths))
    }

    /// Division of fixnum words: the quotient of words is the plain quotient, the remainder of words is a word.
    fn divide(&mut self, op: Op, v: &Val, w: &Val) -> Val {
        match op {
            Op::Quotient => {
                let q = self.short_divide("div", v, w);
                ins!(self, "shl i64 {q}, 3")
            }
            Op::Remainder => self.short_divide("rem", v, w),
            Op::Modulo => {
                let r = self.short_divide("rem", v, w);
                let fix = self.signs_differ(&r, w);
                let add = ins!(self, "select i1 {fix}, i64 {w}, i64 0");
                ins!(self, "add i64 {r}, {add}")
            }
            _ => {
                let q = self.short_divide("div", v, w);
                let back = ins!(self, "mul i64 {q}, {w}");
                let r = ins!(self, "sub i64 {v}, {back}");
                let fix = self.signs_differ(&r, w);
                let one = ins!(self, "zext i1 {fix} to i64");
                let q = ins!(self, "sub i64 {q}, {one}");
                ins!(self, "shl i64 {q}, 3")
            }
        }
    }

    fn short_divide(&mut self, what: &str, v: &Val, w: &Val) -> Val {
        ins!(self, "s{what} i64 {v}, {w}")
    }

    /// An `i1`: is the remainder `r` not zero and of another sign than the divisor?
    fn signs_differ(&mut self, r: &Val, w: &Val) -> Val {
        let x = ins!(self, "xor i64 {r}, {w}");
        let differ = ins!(self, "icmp slt i64 {x}, 0");
        let some = ins!(self, "icmp ne i64 {r}, 0");
        ins!(self, "and i1 {differ}, {some}")
    }

    /// The divisor is a positive power of two: shifts and masks. LLVM knows these for `sdiv`; the flooring ones are
    /// simpler yet.
    fn divide_by_power(&mut self, op: Op, v: &Val, d: i64) -> Val {
        match op {
            Op::Modulo => ins!(self, "and i64 {v}, {}", (d << 3) - 1),
            Op::FloorQuotient => {
                let q = ins!(self, "ashr i64 {v}, {}", d.trailing_zeros());
                ins!(self, "and i64 {q}, -8")
            }
            _ => self.divide(op, v, &Val::word(Word::fixnum(d).0)),
        }
    }
}
