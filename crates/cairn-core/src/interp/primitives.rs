//! What primitive operations and runtime calls do, for any interpreter whose values are [`Val`]s; and what a program
//! leaves behind: what it wrote, and its machine slots.

use super::stop::{Res, Stop};
use super::values::{Atom, Val, boolean, cells, fixnum, items, list, unspecified, wrap};
use crate::ir::Literal;
use crate::prim::{HAS_PASSED, IN_RANGE, Kind, Op, PrimOp, count_bits, fixnum_bit, scalar_bit};
use crate::walk::deep;
use cairn_layout::object::port;
use cairn_layout::object::record::Slot;
use cairn_num::{Int, Number};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The state that primitive operations read and change.
pub struct World<P> {
    slots: RefCell<Vec<Val<P>>>,
    fuel: Cell<usize>,
    trace: RefCell<Vec<String>>,
    /// Pairs and vectors of literals, by the address of the node: nodes have an identity.
    literals: RefCell<FxHashMap<*const u8, Val<P>>>,
}

impl<P> World<P> {
    /// A world for so many steps.
    pub fn new(fuel: usize) -> World<P> {
        World {
            slots: RefCell::new(vec![Val::Nil; 64]),
            fuel: Cell::new(fuel),
            trace: RefCell::default(),
            literals: RefCell::default(),
        }
    }

    /// A step.
    pub fn step(&self) -> Res<()> {
        self.fuel.set(self.fuel.get().checked_sub(1).ok_or(Stop::Fuel)?);
        Ok(())
    }

    /// So many steps from here on.
    pub fn refuel(&self, steps: usize) {
        self.fuel.set(steps);
    }

    /// Adds to what was written.
    pub fn note(&self, text: String) {
        self.trace.borrow_mut().push(text);
    }

    /// How many texts were written.
    pub fn noted(&self) -> usize {
        self.trace.borrow().len()
    }

    /// A machine slot.
    pub fn slot(&self, i: usize) -> Val<P> {
        self.slots.borrow()[i].clone()
    }

    /// Stores into a machine slot.
    pub fn set_slot(&self, i: usize, x: Val<P>) {
        self.slots.borrow_mut()[i] = x;
    }

    /// What was written.
    pub fn into_trace(self) -> Vec<String> {
        self.trace.into_inner()
    }

    /// A primitive operation. Claims in `proven` are not believed.
    pub fn prim(&self, op: PrimOp, args: Vec<Val<P>>, proven: u8) -> Res<Val<P>> {
        let o = match op {
            PrimOp::Op(o) => o,
            PrimOp::Vector => return Ok(Val::Vector(cells(args))),
            PrimOp::Record => return Ok(Val::Record(cells(args))),
            PrimOp::Opaque => return Ok(Val::Opaque(cells(args))),
            PrimOp::Rt(i) => return self.runtime(i.row().name, args),
            PrimOp::CCall => return self.runtime(op.name(), args),
        };
        for (i, (kind, x)) in o.info().args.iter().zip(&args).enumerate() {
            if op.is_generic() && proven & fixnum_bit(i) != 0 && !x.is(Kind::Fixnum) {
                return Err(Stop::Unsound(format!("operand {i} of {} is {x}, no fixnum", o.info().name)));
            }
            if op.stored_operand() == Some(i) && proven & scalar_bit(i) != 0 && !x.is_scalar() {
                return Err(Stop::Unsound(format!("{} stores {x}, no scalar", o.info().name)));
            }
            // the frame pass reads long lists of arguments through vectors in this way
            let vector = o == Op::OpaqueRef && matches!(x, Val::Vector(_)) && proven & 1 != 0;
            if !x.is(*kind) && !vector {
                return if proven & (1 << i) != 0 {
                    Err(Stop::Unsound(format!("operand {i} of {} is {x}, not {kind:?}", o.info().name)))
                } else {
                    Err(Stop::Operand)
                };
            }
        }
        if op.is_indexed() && proven & IN_RANGE != 0 && !is_element(&args) {
            return Err(Stop::Unsound(format!("{} is out of range", o.info().name)));
        }
        self.operate(o, &args, proven)
    }

    fn operate(&self, o: Op, args: &[Val<P>], proven: u8) -> Res<Val<P>> {
        use Op::*;
        let fx = |i: usize| match &args[i] {
            Val::Num(Number::Int(Int::Fix(n))) => *n,
            _ => 0,
        };
        let fl = |i: usize| match &args[i] {
            Val::Num(Number::Flo(x)) => *x,
            _ => f64::NAN,
        };
        let flo = |x: f64| Ok(Val::Num(Number::Flo(x)));
        if let Some(kind) = predicate_kind(o) {
            return Ok(boolean(args[0].is(kind)));
        }
        if let Val::Num(a) = &args[0]
            && let Some(r) = arithmetic(o, a, args.get(1))
        {
            return r;
        }
        let index = |items: usize| usize::try_from(fx(1)).ok().filter(|i| *i < items).ok_or(Stop::Operand);
        match (o, args) {
            (IsFixnum, [x]) => Ok(boolean(matches!(x, Val::Num(Number::Int(Int::Fix(_)))))),
            (IsBignum, [x]) => Ok(boolean(matches!(x, Val::Num(Number::Int(Int::Big { .. }))))),
            (IsRatnum, [x]) => Ok(boolean(matches!(x, Val::Num(Number::Ratio(..))))),
            (IsCompnum, [x]) => Ok(boolean(matches!(x, Val::Num(Number::Complex(..))))),
            (IsNull, [x]) => Ok(boolean(matches!(x, Val::Nil))),
            (IsEof, [x]) => Ok(boolean(matches!(x, Val::Atom(Atom::Eof)))),
            (IsDefault, [x]) => Ok(boolean(matches!(x, Val::Atom(Atom::Default)))),
            (IsInstance | IsCompact, [x, rtd]) => Ok(boolean(instance(x, rtd))),
            (Not, [x]) => Ok(boolean(matches!(x, Val::Atom(Atom::Bool(false))))),
            (Eq, [a, b]) => Ok(boolean(a.is_eq(b))),
            (Eqv, [a, b]) => Ok(boolean(a.is_eqv(b))),
            (Cons, [a, b]) => Ok(Val::Pair(cells(vec![a.clone(), b.clone()]))),
            (Car, [Val::Pair(p)]) => Ok(p.borrow()[0].clone()),
            (Cdr, [Val::Pair(p)]) => Ok(p.borrow()[1].clone()),
            (SetCar | SetCdr, [Val::Pair(p), x]) => {
                p.borrow_mut()[usize::from(o == SetCdr)] = x.clone();
                Ok(unspecified())
            }
            (FxAdd, _) => Ok(wrap(fx(0).wrapping_add(fx(1)))),
            (FxSub, _) => Ok(wrap(fx(0).wrapping_sub(fx(1)))),
            (FxMul, _) => Ok(wrap(fx(0).wrapping_mul(fx(1)))),
            (FxEq, _) => Ok(boolean(fx(0) == fx(1))),
            (FxLt, _) => Ok(boolean(fx(0) < fx(1))),
            (FxLe, _) => Ok(boolean(fx(0) <= fx(1))),
            (FxAnd, _) => Ok(fixnum(fx(0) & fx(1))),
            (FxOr, _) => Ok(fixnum(fx(0) | fx(1))),
            (FxXor, _) => Ok(fixnum(fx(0) ^ fx(1))),
            (FxShl, _) => Ok(wrap(fx(0).wrapping_shl(fx(1) as u32))),
            (FxShr, _) => Ok(fixnum(fx(0) >> fx(1).clamp(0, 60))),
            (FxOnes | FxLength | FxTrailing, _) => Ok(fixnum(count_bits(o, fx(0)))),
            (FlAdd, _) => flo(fl(0) + fl(1)),
            (FlSub, _) => flo(fl(0) - fl(1)),
            (FlMul, _) => flo(fl(0) * fl(1)),
            (FlDiv, _) => flo(fl(0) / fl(1)),
            (FlEq, _) => Ok(boolean(fl(0) == fl(1))),
            (FlLt, _) => Ok(boolean(fl(0) < fl(1))),
            (FlLe, _) => Ok(boolean(fl(0) <= fl(1))),
            (FlSqrt, _) => flo(fl(0).sqrt()),
            (FlAbs, _) => flo(fl(0).abs()),
            (FlFloor, _) => flo(fl(0).floor()),
            (FlCeiling, _) => flo(fl(0).ceil()),
            (FlTruncate, _) => flo(fl(0).trunc()),
            (FlRound, _) => flo(fl(0).round_ties_even()),
            (FixnumToFlonum, _) => flo(fx(0) as f64),
            (FlRectangular, _) => {
                let part = |i: usize| Box::new(Number::Flo(fl(i)));
                Ok(Val::Num(Number::Complex(part(0), part(1))))
            }
            (CompnumReal, [Val::Num(z)]) => Ok(Val::Num(z.real_part())),
            (CompnumImag, [Val::Num(z)]) => Ok(Val::Num(z.imag_part())),
            (CharToInteger, [Val::Atom(Atom::Char(c))]) => Ok(fixnum(i64::from(u32::from(*c)))),
            (IntegerToChar, _) => match u32::try_from(fx(0)).ok().and_then(char::from_u32) {
                Some(c) => Ok(Val::Atom(Atom::Char(c))),
                None => Err(Stop::Operand),
            },
            (CharEq, [Val::Atom(Atom::Char(a)), Val::Atom(Atom::Char(b))]) => Ok(boolean(a == b)),
            (CharLt, [Val::Atom(Atom::Char(a)), Val::Atom(Atom::Char(b))]) => Ok(boolean(a < b)),
            (VectorLength, [Val::Vector(v)]) => Ok(fixnum(v.borrow().len() as i64)),
            (VectorRef, [Val::Vector(v), _]) => Ok(v.borrow()[index(v.borrow().len())?].clone()),
            (VectorSet, [Val::Vector(v), _, x]) => {
                let i = index(v.borrow().len())?;
                v.borrow_mut()[i] = x.clone();
                Ok(unspecified())
            }
            (StringLength, [Val::String(s)]) => Ok(fixnum(s.borrow().len() as i64)),
            (StringRef, [Val::String(s), _]) => Ok(Val::Atom(Atom::Char(s.borrow()[index(s.borrow().len())?]))),
            (StringSet, [Val::String(s), _, Val::Atom(Atom::Char(c))]) => {
                let i = index(s.borrow().len())?;
                s.borrow_mut()[i] = *c;
                Ok(unspecified())
            }
            (BytevectorLength, [Val::Bytes(b)]) => Ok(fixnum(b.borrow().len() as i64)),
            (BytevectorRef, [Val::Bytes(b), _]) => Ok(fixnum(i64::from(b.borrow()[index(b.borrow().len())?]))),
            (BytevectorSet, [Val::Bytes(b), ..]) => {
                let i = index(b.borrow().len())?;
                b.borrow_mut()[i] = u8::try_from(fx(2)).map_err(|_| Stop::Operand)?;
                Ok(unspecified())
            }
            (CompactRecord, [rtd, _]) => {
                let cells_of = |n: i64| vec![boolean(false); 8 * n as usize];
                Ok(Val::Record(cells([vec![rtd.clone()], cells_of(fx(1))].concat())))
            }
            (RawRecord, [rtd, _]) => {
                let cells_of = |n: i64| vec![fixnum(0); 8 * n as usize];
                Ok(Val::Record(cells([vec![rtd.clone()], cells_of(fx(1))].concat())))
            }
            (RecordRef | RecordSet | RecordFlRef | RecordFlSet, [x, rtd, ..]) => {
                let field = Slot::of(fx(2)).at as usize + 1;
                match x {
                    Val::Record(r) if instance(x, rtd) && field < r.borrow().len() => {
                        if let Some(x) = args.get(3) {
                            r.borrow_mut()[field] = x.clone();
                            return Ok(unspecified());
                        }
                        Ok(r.borrow()[field].clone())
                    }
                    _ if proven & (1 | HAS_PASSED) != 0 => {
                        Err(Stop::Unsound(format!("{x} is no instance of {rtd}")))
                    }
                    _ => Err(Stop::Operand),
                }
            }
            (RecordAt | RecordAtSet | RecordFlAt | RecordFlAtSet, [x, rtd, ..]) => {
                let k = o.index().map_or(0, fx);
                let field = Slot::of(fx(2)).element(k).at as usize + 1;
                match x {
                    Val::Record(r) if instance(x, rtd) && field < r.borrow().len() => {
                        if o.index() == Some(4) {
                            r.borrow_mut()[field] = args[3].clone();
                            return Ok(unspecified());
                        }
                        Ok(r.borrow()[field].clone())
                    }
                    _ if proven & (1 | HAS_PASSED) != 0 => {
                        Err(Stop::Unsound(format!("{x} is no instance of {rtd}")))
                    }
                    _ => Err(Stop::Operand),
                }
            }
            (RecordType, [Val::Record(r)]) => Ok(r.borrow()[0].clone()),
            (MakeBox, [x]) => Ok(Val::Box(cells(vec![x.clone()]))),
            (MakePromise, [x]) => Ok(Val::Promise(cells(vec![x.clone()]))),
            (Unbox, [Val::Box(b)]) | (PromiseRef, [Val::Promise(b)]) => Ok(b.borrow()[0].clone()),
            (SetBox, [Val::Box(b), x]) | (PromiseSet, [Val::Promise(b), x]) => {
                b.borrow_mut()[0] = x.clone();
                Ok(unspecified())
            }
            (OpaqueRef, [Val::Opaque(v) | Val::Vector(v), _]) => Ok(v.borrow()[index(v.borrow().len())?].clone()),
            (OpaqueSet, [Val::Opaque(v), _, x]) => {
                let i = index(v.borrow().len())?;
                v.borrow_mut()[i] = x.clone();
                Ok(unspecified())
            }
            (SymbolName, [Val::Symbol(s) | Val::Ident(_, s)]) => {
                Ok(Val::String(Rc::new(RefCell::new(s.chars().collect()))))
            }
            // the runtime call will do it
            (PortPutChar | PortTakeChar | PortLookChar, _) => Ok(boolean(false)),
            (PortRef, [Val::Port(p), _]) => match fx(1) as u64 {
                port::FLAGS => Ok(fixnum(p.flags())),
                // neither a custom port nor one that folds case
                port::FD | port::EXTRA => Ok(boolean(false)),
                _ => Err(Stop::Unsupported(o.info().name)),
            },
            (MachineRef, _) => Ok(self.slots.borrow()[fx(0) as usize].clone()),
            (MachineSet, [_, x]) => {
                self.slots.borrow_mut()[fx(0) as usize] = x.clone();
                Ok(unspecified())
            }
            _ => Err(Stop::Unsupported(o.info().name)),
        }
    }

    fn runtime(&self, name: &'static str, args: Vec<Val<P>>) -> Res<Val<P>> {
        let count = |x: &Val<P>| match x {
            Val::Num(Number::Int(Int::Fix(n))) => usize::try_from(*n).ok().filter(|n| *n < 1 << 20),
            _ => None,
        };
        match (name, &args[..]) {
            ("write-object", [x, ..]) => {
                self.trace.borrow_mut().push(x.to_string());
                Ok(unspecified())
            }
            ("equal", [a, b]) => Ok(boolean(a.to_string() == b.to_string())),
            ("eqv", [a, b]) => Ok(boolean(a.is_eqv(b))),
            ("make-vector", [n, x]) => Ok(Val::Vector(cells(vec![x.clone(); count(n).ok_or(Stop::Operand)?]))),
            ("make-string", [n, Val::Atom(Atom::Char(c))]) => {
                Ok(Val::String(Rc::new(RefCell::new(vec![*c; count(n).ok_or(Stop::Operand)?]))))
            }
            ("make-vector" | "make-string", _) => Err(Stop::Operand),
            ("length", [l]) => {
                let (mut l, mut n) = (l.clone(), 0);
                while let Val::Pair(p) = l.clone() {
                    l = p.borrow()[1].clone();
                    n += 1;
                    self.step()?;
                }
                if matches!(l, Val::Nil) { Ok(fixnum(n)) } else { Err(Stop::Operand) }
            }
            ("list->vector", [l]) => Ok(Val::Vector(cells(items(l)?))),
            ("make-record", [rtd, l]) => {
                let fields = items(l)?;
                Ok(Val::Record(cells([vec![rtd.clone()], fields].concat())))
            }
            ("make-record-type" | "make-record-subtype", parts) => {
                Ok(Val::Record(cells([vec![boolean(false)], parts.to_vec()].concat())))
            }
            ("append-reversed", [l, tail]) => {
                let cons = |tail, x: Val<P>| Val::Pair(cells(vec![x, tail]));
                Ok(items(l)?.into_iter().fold(tail.clone(), cons))
            }
            ("vector->list", [Val::Vector(v), from, to]) => {
                let (from, to) = (count(from).ok_or(Stop::Operand)?, count(to).ok_or(Stop::Operand)?);
                v.borrow().get(from..to).map(|part| list(part.to_vec())).ok_or(Stop::Operand)
            }
            ("values-mismatch", _) => Err(Stop::Arity),
            ("num-exact", [Val::Num(n)]) => n.to_exact().map(Val::Num).ok_or(Stop::Operand),
            ("num-sin", [Val::Num(n)]) => Ok(Val::Num(n.sin())),
            _ => Err(Stop::Unsupported(name)),
        }
    }

    /// A literal; each node of a program's text is one object.
    pub fn literal(&self, l: &Literal) -> Val<P> {
        match l {
            Literal::Number(n) => Val::Num(n.clone()),
            Literal::Char(c) => Val::Atom(Atom::Char(*c)),
            Literal::Bool(b) => boolean(*b),
            Literal::Nil => Val::Nil,
            Literal::Unspecified => unspecified(),
            Literal::Eof => Val::Atom(Atom::Eof),
            Literal::Default => Val::Atom(Atom::Default),
            Literal::Unbound => Val::Atom(Atom::Unbound),
            Literal::Symbol(s) => Val::Symbol(s.clone()),
            Literal::String(s) => Val::String(Rc::new(RefCell::new(s.chars().collect()))),
            Literal::Bytes(b) => Val::Bytes(Rc::new(RefCell::new(b.to_vec()))),
            Literal::Numbers(kind, b) => Val::Numbers(*kind, b.clone()),
            Literal::Pair(p) => self.node(Rc::as_ptr(p).cast(), || {
                deep(|| Val::Pair(cells(vec![self.literal(&p.0), self.literal(&p.1)])))
            }),
            Literal::Vector(v) => {
                self.node(v.as_ptr().cast(), || Val::Vector(cells(v.iter().map(|l| self.literal(l)).collect())))
            }
        }
    }

    fn node(&self, address: *const u8, make: impl FnOnce() -> Val<P>) -> Val<P> {
        let known = self.literals.borrow().get(&address).cloned();
        known.unwrap_or_else(|| {
            let value = make();
            self.literals.borrow_mut().insert(address, value.clone());
            value
        })
    }
}

fn arithmetic<P>(o: Op, a: &Number, b: Option<&Val<P>>) -> Option<Res<Val<P>>> {
    use cairn_num::division::Division;
    let num = |n: Number| Some(Ok(Val::Num(n)));
    let Some(Val::Num(b)) = b else {
        return match o {
            Op::Sqrt => num(a.sqrt()),
            Op::Inexact => num(a.to_inexact()),
            _ => None,
        };
    };
    let order = |accept: fn(std::cmp::Ordering) -> bool| {
        if !a.is_real() || !b.is_real() {
            return Some(Err(Stop::Operand));
        }
        Some(Ok(boolean(a.compare(b).is_some_and(accept))))
    };
    let divide = |d: Division| Some(a.divide_integers(d, b).map(Val::Num).map_err(|_| Stop::Operand));
    match o {
        Op::Add => num(a.add(b)),
        Op::Sub => num(a.sub(b)),
        Op::Mul => num(a.mul(b)),
        Op::Div => Some(a.div(b).map(Val::Num).ok_or(Stop::Operand)),
        Op::NumEq => Some(Ok(boolean(a.num_eq(b)))),
        Op::NumLt => order(|c| c.is_lt()),
        Op::NumLe => order(|c| c.is_le()),
        Op::NumGt => order(|c| c.is_gt()),
        Op::NumGe => order(|c| c.is_ge()),
        Op::Quotient => divide(Division::Quotient),
        Op::Remainder => divide(Division::Remainder),
        Op::Modulo => divide(Division::Modulo),
        Op::FloorQuotient => divide(Division::FloorQuotient),
        _ => None,
    }
}

fn predicate_kind(o: Op) -> Option<Kind> {
    Some(match o {
        Op::IsFlonum => Kind::Flonum,
        Op::IsNumber => Kind::Number,
        Op::IsPair => Kind::Pair,
        Op::IsBoolean => Kind::Boolean,
        Op::IsSymbol => Kind::Symbol,
        Op::IsString => Kind::String,
        Op::IsChar => Kind::Char,
        Op::IsVector => Kind::Vector,
        Op::IsBytevector => Kind::Bytevector,
        Op::IsProcedure => Kind::Procedure,
        Op::IsRecord => Kind::Record,
        Op::IsPort => Kind::Port,
        Op::IsPromise => Kind::Promise,
        Op::IsOpaque => Kind::Opaque,
        _ => return None,
    })
}

fn instance<P>(x: &Val<P>, rtd: &Val<P>) -> bool {
    let Val::Record(r) = x else { return false };
    let mut of = r.borrow()[0].clone();
    loop {
        // a type: #f, name, fields, description, and the type that it extends
        let next = match &of {
            of if of.is_eq(rtd) => return true,
            Val::Record(r) => r.borrow().get(4).cloned(),
            _ => None,
        };
        let Some(next) = next else { return false };
        of = next;
    }
}

/// Is the second argument the number of an element of the first?
fn is_element<P>(args: &[Val<P>]) -> bool {
    let [object, Val::Num(Number::Int(Int::Fix(i))), ..] = args else { return false };
    let length = match object {
        Val::Vector(v) => v.borrow().len(),
        Val::String(s) => s.borrow().len(),
        Val::Bytes(b) => b.borrow().len(),
        Val::Numbers(kind, bytes) => bytes.len() / kind.bytes(),
        _ => return false,
    };
    usize::try_from(*i).is_ok_and(|i| i < length)
}
