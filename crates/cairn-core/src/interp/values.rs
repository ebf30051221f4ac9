//! Values of the reference interpreters, and how they are written.
//!
//! A value knows nothing of what is interpreted: what a procedure is, is a parameter.

use super::port::Port;
use super::stop::{Res, Stop};
use crate::prim::Kind;
use crate::walk::deep;
use cairn_layout::object::numeric::NumericKind;
use cairn_layout::value::{FIXNUM_MAX, FIXNUM_MIN};
use cairn_num::{Int, Number};
use std::cell::RefCell;
use std::fmt::{self, Write};
use std::rc::Rc;

/// Immediate values that are no numbers.
#[derive(Clone, Copy, PartialEq)]
pub enum Atom {
    /// `#t` or `#f`.
    Bool(bool),
    /// A character.
    Char(char),
    /// What assignments return.
    Unspecified,
    /// The end of a file.
    Eof,
    /// An absent optional argument.
    Default,
    /// A variable that is not defined yet.
    Unbound,
    /// What is where something was that is gone.
    Broken,
}

/// What can be changed.
pub type Cells<P> = Rc<RefCell<Vec<Val<P>>>>;

/// A value; `P` is a procedure.
pub enum Val<P> {
    /// An immediate.
    Atom(Atom),
    /// The empty list.
    Nil,
    /// A number.
    Num(Number),
    /// A symbol.
    Symbol(Rc<str>),
    /// An identifier that is not just a symbol, in macro transformers: number and name. To programs a symbol.
    Ident(u32, Rc<str>),
    /// A port of text.
    Port(Rc<Port>),
    /// A string.
    String(Rc<RefCell<Vec<char>>>),
    /// A bytevector.
    Bytes(Rc<RefCell<Vec<u8>>>),
    /// A numeric vector that is no bytevector; it can only be handed on.
    Numbers(NumericKind, Rc<[u8]>),
    /// A pair.
    Pair(Cells<P>),
    /// A vector.
    Vector(Cells<P>),
    /// A record: its type, then its fields.
    Record(Cells<P>),
    /// An object of the library.
    Opaque(Cells<P>),
    /// A box of assignment conversion.
    Box(Cells<P>),
    /// A promise.
    Promise(Cells<P>),
    /// A procedure.
    Procedure(Rc<P>),
}

/// Fresh cells.
pub fn cells<P>(items: Vec<Val<P>>) -> Cells<P> {
    Rc::new(RefCell::new(items))
}

/// `#t` or `#f`.
pub fn boolean<P>(b: bool) -> Val<P> {
    Val::Atom(Atom::Bool(b))
}

/// A fixnum.
pub fn fixnum<P>(n: i64) -> Val<P> {
    Val::Num(Number::Int(Int::Fix(n)))
}

/// Modulo 2^61, signed.
pub fn wrap<P>(n: i64) -> Val<P> {
    fixnum(n << 3 >> 3)
}

/// A fresh list.
pub fn list<P>(items: Vec<Val<P>>) -> Val<P> {
    items.into_iter().rev().fold(Val::Nil, |tail, x| Val::Pair(cells(vec![x, tail])))
}

/// The elements of a proper list; of a circular one there are too many.
pub fn items<P>(l: &Val<P>) -> Res<Vec<Val<P>>> {
    const MANY: usize = 1 << 22;
    let (mut l, mut out) = (l.clone(), vec![]);
    while let Some((x, rest)) = l.pair() {
        if out.len() == MANY {
            return Err(Stop::Fuel);
        }
        out.push(x);
        l = rest;
    }
    if matches!(l, Val::Nil) { Ok(out) } else { Err(Stop::Operand) }
}

/// What assignments return.
pub fn unspecified<P>() -> Val<P> {
    Val::Atom(Atom::Unspecified)
}

impl<P> Clone for Val<P> {
    fn clone(&self) -> Self {
        match self {
            Val::Atom(a) => Val::Atom(*a),
            Val::Nil => Val::Nil,
            Val::Num(n) => Val::Num(n.clone()),
            Val::Symbol(s) => Val::Symbol(s.clone()),
            Val::Ident(n, s) => Val::Ident(*n, s.clone()),
            Val::Port(p) => Val::Port(p.clone()),
            Val::String(s) => Val::String(s.clone()),
            Val::Bytes(b) => Val::Bytes(b.clone()),
            Val::Numbers(kind, b) => Val::Numbers(*kind, b.clone()),
            Val::Pair(c) => Val::Pair(c.clone()),
            Val::Vector(c) => Val::Vector(c.clone()),
            Val::Record(c) => Val::Record(c.clone()),
            Val::Opaque(c) => Val::Opaque(c.clone()),
            Val::Box(c) => Val::Box(c.clone()),
            Val::Promise(c) => Val::Promise(c.clone()),
            Val::Procedure(p) => Val::Procedure(p.clone()),
        }
    }
}

impl<P> Val<P> {
    /// The parts of a pair.
    pub fn pair(&self) -> Option<(Val<P>, Val<P>)> {
        let Val::Pair(p) = self else { return None };
        let p = p.borrow();
        Some((p[0].clone(), p[1].clone()))
    }

    /// Is it of this kind?
    pub fn is(&self, kind: Kind) -> bool {
        match kind {
            Kind::Any => true,
            Kind::Fixnum => {
                matches!(self, Val::Num(Number::Int(Int::Fix(n))) if (FIXNUM_MIN..=FIXNUM_MAX).contains(n))
            }
            Kind::Flonum => matches!(self, Val::Num(Number::Flo(_))),
            Kind::Compnum => matches!(self, Val::Num(Number::Complex(..))),
            Kind::Number => matches!(self, Val::Num(_)),
            Kind::Boolean => matches!(self, Val::Atom(Atom::Bool(_))),
            Kind::Pair => matches!(self, Val::Pair(_)),
            Kind::Symbol => matches!(self, Val::Symbol(_) | Val::Ident(..)),
            Kind::String => matches!(self, Val::String(_)),
            Kind::Char => matches!(self, Val::Atom(Atom::Char(_))),
            Kind::Vector => matches!(self, Val::Vector(_)),
            Kind::Bytevector => matches!(self, Val::Bytes(_)),
            Kind::Procedure => matches!(self, Val::Procedure(_)),
            Kind::Box => matches!(self, Val::Box(_)),
            Kind::Record => matches!(self, Val::Record(_)),
            Kind::Promise => matches!(self, Val::Promise(_)),
            Kind::Opaque => matches!(self, Val::Opaque(_)),
            Kind::Port => matches!(self, Val::Port(_)),
        }
    }

    /// Is it a scalar: a value with neither parts nor an identity ([`crate::prim::scalar_bit`])?
    pub fn is_scalar(&self) -> bool {
        matches!(self, Val::Atom(_) | Val::Nil) || self.is(Kind::Fixnum)
    }

    /// `eq?`
    pub fn is_eq(&self, other: &Val<P>) -> bool {
        match (self, other) {
            (Val::Atom(a), Val::Atom(b)) => a == b,
            (Val::Nil, Val::Nil) => true,
            (Val::Num(Number::Int(Int::Fix(a))), Val::Num(Number::Int(Int::Fix(b)))) => a == b,
            // most doubles are immediate; programs under test must not ask
            (Val::Num(Number::Flo(a)), Val::Num(Number::Flo(b))) => a.to_bits() == b.to_bits(),
            (Val::Symbol(a), Val::Symbol(b)) => a == b,
            (Val::Ident(a, _), Val::Ident(b, _)) => a == b,
            (Val::Port(a), Val::Port(b)) => Rc::ptr_eq(a, b),
            (Val::String(a), Val::String(b)) => Rc::ptr_eq(a, b),
            (Val::Bytes(a), Val::Bytes(b)) => Rc::ptr_eq(a, b),
            (Val::Numbers(_, a), Val::Numbers(_, b)) => Rc::ptr_eq(a, b),
            (Val::Pair(a), Val::Pair(b)) | (Val::Vector(a), Val::Vector(b)) => Rc::ptr_eq(a, b),
            (Val::Record(a), Val::Record(b)) | (Val::Opaque(a), Val::Opaque(b)) => Rc::ptr_eq(a, b),
            (Val::Box(a), Val::Box(b)) | (Val::Promise(a), Val::Promise(b)) => Rc::ptr_eq(a, b),
            (Val::Procedure(a), Val::Procedure(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// `eqv?`
    pub fn is_eqv(&self, other: &Val<P>) -> bool {
        match (self, other) {
            (Val::Num(a), Val::Num(b)) => a.is_exact() == b.is_exact() && self.to_string() == other.to_string(),
            _ => self.is_eq(other),
        }
    }
}

impl<P> fmt::Display for Val<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Val::Atom(Atom::Bool(b)) => f.write_str(if *b { "#t" } else { "#f" }),
            Val::Atom(Atom::Char(c)) => write!(f, "#\\{c}"),
            Val::Atom(Atom::Unspecified) => f.write_str("#<unspecified>"),
            Val::Atom(Atom::Eof) => f.write_str("#<eof>"),
            Val::Atom(Atom::Default) => f.write_str("#<default>"),
            Val::Atom(Atom::Unbound) => f.write_str("#<unbound>"),
            Val::Atom(Atom::Broken) => f.write_str("#<broken>"),
            Val::Nil => f.write_str("()"),
            Val::Num(n) => f.write_str(&cairn_num::format_number(n, 10)),
            Val::Symbol(s) | Val::Ident(_, s) => f.write_str(s),
            Val::Port(_) => f.write_str("#<port>"),
            Val::String(s) => write!(f, "{:?}", s.borrow().iter().collect::<String>()),
            Val::Bytes(b) => write!(f, "#u8{:?}", b.borrow()),
            Val::Numbers(kind, b) => write!(f, "#bytes-of-{}{b:?}", kind.name()),
            Val::Pair(_) => deep(|| {
                let (mut rest, mut before) = (self.clone(), '(');
                while let Some((x, next)) = rest.pair() {
                    write!(f, "{before}{x}")?;
                    (rest, before) = (next, ' ');
                }
                if !matches!(rest, Val::Nil) {
                    write!(f, " . {rest}")?;
                }
                f.write_str(")")
            }),
            Val::Vector(v) => sequence(f, "#(", &v.borrow()),
            Val::Record(v) => {
                let parts = v.borrow();
                let name = match parts.first() {
                    Some(Val::Record(rtd)) => rtd.borrow().get(1).map(Val::to_string),
                    _ => None,
                };
                let start = format!("#<{} ", name.as_deref().unwrap_or("record"));
                sequence(f, &start, parts.get(1..).unwrap_or_default())
            }
            Val::Opaque(_) => f.write_str("#<opaque>"),
            Val::Box(b) => sequence(f, "#<box ", &b.borrow()),
            Val::Promise(_) => f.write_str("#<promise>"),
            // which lambda it is may change, and so may its name
            Val::Procedure(_) => f.write_str("#<procedure>"),
        }
    }
}

impl<P> Val<P> {
    /// As text, of which there is not too much: the value may be circular.
    pub fn written(&self) -> String {
        let mut text = Bounded(String::new());
        if write!(text, "{self}").is_err() {
            text.0.push('…');
        }
        text.0
    }
}

/// A text that is full at some length.
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        const LONG: usize = 100_000;
        if self.0.len() > LONG {
            return Err(fmt::Error);
        }
        self.0.push_str(s);
        Ok(())
    }
}

fn sequence<P>(f: &mut fmt::Formatter<'_>, open: &str, items: &[Val<P>]) -> fmt::Result {
    deep(|| {
        f.write_str(open)?;
        for (i, x) in items.iter().enumerate() {
            write!(f, "{}{x}", if i > 0 { " " } else { "" })?;
        }
        f.write_str(if open.starts_with("#<") { ">" } else { ")" })
    })
}
