//! Tests: what each branch of a conditional may assume.
//!
//! A fact is a filter: in the branch, the variable's type is met with it.

use super::env::Fact;
use super::lattice::{Type, bits::*, mask, predicate};
use super::operations::Operands;
use super::state::Types;
use crate::ir::{Expr, Literal};
use crate::prim::{Op, PrimOp};
use crate::walk::take;

pub(super) type Facts = Vec<Fact>;

/// What evaluating a test gave.
pub(super) struct Outcome {
    /// Type of its value.
    pub ty: Type,
    /// What holds when it is true.
    pub then: Facts,
    /// What holds when it is `#f`.
    pub other: Facts,
}

impl Outcome {
    fn plain(ty: Type) -> Outcome {
        Outcome { ty, then: Vec::new(), other: Vec::new() }
    }
}

fn is_bool(e: &Expr, b: bool) -> bool {
    matches!(e, Expr::Const(Literal::Bool(x)) if *x == b)
}

impl Types {
    /// Evaluates a test.
    pub(super) fn test(&mut self, e: &mut Expr) -> Outcome {
        match e {
            Expr::Local(v) => {
                let v = *v;
                let ty = self.expr(e);
                Outcome { ty, then: vec![(v, Type::of(ANY & !FALSE))], other: vec![(v, Type::of(FALSE))] }
            }
            Expr::Prim { op: PrimOp::Op(Op::Not), args, .. } => {
                let inner = self.test(&mut args[0]);
                if inner.ty.is_none() {
                    return inner;
                }
                let f = if inner.ty.may_be(ANY & !FALSE) { FALSE } else { 0 };
                let t = if inner.ty.may_be(FALSE) { TRUE } else { 0 };
                Outcome { ty: Type::of(f | t), then: inner.other, other: inner.then }
            }
            Expr::Prim { .. } => {
                let (ty, operands) = self.prim(e);
                match operands {
                    Some(operands) if !ty.is_none() => {
                        let (then, other) = implied(&operands);
                        Outcome { ty, then, other }
                    }
                    _ => Outcome::plain(ty),
                }
            }
            Expr::If(_, _, other) if is_bool(other, false) => self.conjunction(e),
            Expr::If(_, then, _) if is_bool(then, true) => self.disjunction(e),
            Expr::Seq(es) => {
                let Some((last, init)) = es.split_last_mut() else { return Outcome::plain(Type::UNSPECIFIED) };
                for e in init {
                    let t = self.expr(e);
                    if t.is_none() {
                        return Outcome::plain(t);
                    }
                }
                self.test(last)
            }
            Expr::Let(bs, body) if !bs.iter().any(|(_, e)| matches!(e, Expr::Lambda(_))) => {
                if self.bindings(bs) {
                    self.test(body)
                } else {
                    Outcome::plain(Type::NONE)
                }
            }
            e => Outcome::plain(self.expr(e)),
        }
    }

    /// `(if a b #f)`
    fn conjunction(&mut self, e: &mut Expr) -> Outcome {
        let Expr::If(a, b, _) = e else { return Outcome::plain(Type::ANY) };
        let first = self.test(a);
        if !first.ty.may_be(ANY & !FALSE) {
            return Outcome::plain(first.ty);
        }
        let (second, facts) = self.under(&first.then, b);
        let mut then = first.then;
        then.extend(facts);
        then.extend(second.then);
        let mut ty = second.ty;
        if first.ty.may_be(FALSE) {
            ty = ty.join(Type::boolean(false));
        } else if self.phase.rewrites() {
            let (a, b) = (take(a), take(b));
            *e = if self.discardable(&a) { b } else { Expr::Seq(vec![a, b]) };
        }
        Outcome { ty, then, other: Vec::new() }
    }

    /// `(if a #t b)`
    fn disjunction(&mut self, e: &mut Expr) -> Outcome {
        let Expr::If(a, _, b) = e else { return Outcome::plain(Type::ANY) };
        let first = self.test(a);
        if !first.ty.may_be(FALSE) {
            let ty = if first.ty.is_none() { first.ty } else { Type::boolean(true) };
            return Outcome::plain(ty);
        }
        let (second, facts) = self.under(&first.other, b);
        let mut other = first.other;
        other.extend(facts);
        other.extend(second.other);
        let mut ty = second.ty;
        if first.ty.may_be(ANY & !FALSE) {
            ty = ty.join(Type::boolean(true));
        } else if self.phase.rewrites() {
            let (a, b) = (take(a), take(b));
            *e = if self.discardable(&a) { b } else { Expr::Seq(vec![a, b]) };
        }
        Outcome { ty, then: Vec::new(), other }
    }

    /// Evaluates a test under assumptions; also the facts that its evaluation established.
    fn under(&mut self, facts: &Facts, e: &mut Expr) -> (Outcome, Facts) {
        let mark = self.env.mark();
        self.env.assume(facts);
        let impossible = self.env.contradicts(facts);
        let outcome = if impossible { Outcome::plain(Type::NONE) } else { self.test(e) };
        (outcome, self.env.leave(mark))
    }
}

/// What the outcome of an operation says about variables among its operands.
fn implied(o: &Operands) -> (Facts, Facts) {
    let (mut then, mut other): (Facts, Facts) = (Vec::new(), Vec::new());
    let (a, b) = (o.types[0], o.types[1]);
    let mut say = |which: usize, yes: Type, no: Type| {
        if let Some(v) = o.vars[which] {
            then.push((v, yes));
            other.push((v, no));
        }
    };
    if let Some(kinds) = predicate(o.op) {
        say(0, Type::of(kinds), Type::of(ANY & !kinds));
        return (then, other);
    }
    const FAR: i128 = i128::MAX;
    let below = |n: i128| Type::ANY.restrict(-FAR, n);
    let above = |n: i128| Type::ANY.restrict(n, FAR);
    let integers = |t: Type| t.bounds().filter(|_| t.within(INTEGER));
    // operands in the order of `<` or `<=`
    let ((x, lo), (y, hi)) = match o.op {
        Op::NumGt | Op::NumGe => ((1, b), (0, a)),
        _ => ((0, a), (1, b)),
    };
    match o.op {
        Op::IsInstance | Op::IsCompact => {
            if let Some(rtd) = o.rtd {
                say(0, Type { rtd: Some(rtd), ..Type::of(RECORD) }, Type::ANY);
            }
        }
        Op::NumLt | Op::NumGt | Op::FxLt | Op::NumLe | Op::NumGe | Op::FxLe => {
            let (near, far) = if matches!(o.op, Op::NumLt | Op::NumGt | Op::FxLt) { (1, 0) } else { (0, 1) };
            if let Some((least, greatest)) = integers(hi) {
                say(x, below(greatest - near), above(least + far));
            }
            if let Some((least, greatest)) = integers(lo) {
                say(y, above(least + near), below(greatest - far));
            }
        }
        Op::NumEq | Op::FxEq => {
            let equal = |(lo, hi)| Type::of(INTEGER | FLONUM | COMPNUM).restrict(lo, hi);
            if let Some(bounds) = integers(b) {
                say(0, equal(bounds), without(a, b));
            }
            if let Some(bounds) = integers(a) {
                say(1, equal(bounds), without(b, a));
            }
        }
        Op::Eq | Op::Eqv => {
            say(0, b, without(a, b));
            say(1, a, without(b, a));
        }
        Op::CharEq | Op::CharLt => {}
        _ => debug_assert!(mask(o.op.info().result) != 0),
    }
    (then, other)
}

/// Values of `a` that differ from the value of `b`, if `b` is known to be one value.
fn without(a: Type, b: Type) -> Type {
    const SINGLE: [u32; 7] = [TRUE, FALSE, NULL, EOF, DEFAULT, UNSPECIFIED, UNBOUND];
    if SINGLE.contains(&b.kinds) {
        return Type::of(ANY & !b.kinds);
    }
    if b.is_fixnum() && b.lo == b.hi && a.may_be(FIXNUM) {
        let n = i128::from(b.lo);
        if a.lo == b.lo && !a.may_be(LOW) {
            return Type::ANY.restrict(n + 1, i128::MAX);
        }
        if a.hi == b.lo && !a.may_be(HIGH) {
            return Type::ANY.restrict(i128::MIN, n - 1);
        }
    }
    Type::ANY
}
