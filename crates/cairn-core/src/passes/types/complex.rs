//! Complex numbers of flonums: arithmetic by parts, and loop parameters that travel as two flonums.
//!
//! ```text
//! (labels ((L (z) (if … z (jump L (%+ (%* z z) c)))))            ; z and c complex numbers of flonums
//! becomes
//! (labels ((L (re im)
//!            (let ((z (%fl-rectangular re im)))
//!              (if … z (jump L (%fl+ (%fl- (%fl* (%compnum-real z) (%compnum-real z)) …
//! ```
//!
//! The problem: a complex number is an object of three words, and its arithmetic a call. The idea: where the operands
//! are known, sums, differences and products become flonum operations on parts, put together by `%fl-rectangular`;
//! `simplify` takes a part of what was just put together from there, so that a number that is only computed with is
//! never made. Across the jumps of a loop its parts are parameters of their own, if the loop only computes with it.
//!
//! The parts are combined as `cairn_num` does it: a flonum operand has an exact zero as imaginary part, which leaves
//! signed zeros and NaNs alone.

use super::apart::inexact_operands;
use super::lattice::{Type, bits::*, predicate};
use super::operations::flonum_like;
use super::plans::Split;
use super::state::Types;
use crate::ir::{Expr, Label, LabelId, Literal, VarId};
use crate::prim::{Op, PrimOp};
use crate::walk::{deep, for_each_child, rewrite, take, visit};
use cairn_layout::code::Site;
use cairn_num::Number;

/// One operand: its real and its imaginary part, which a flonum does not have.
struct Parts {
    re: Expr,
    im: Option<Expr>,
}

fn prim(op: Op, args: Vec<Expr>) -> Expr {
    let proven = if op == Op::CompnumReal || op == Op::CompnumImag { 1 } else { 3 };
    Expr::Prim { op: PrimOp::Op(op), args, site: Site::NONE, proven }
}

/// The exact zero?
fn is_zero(t: Type) -> bool {
    t.is_fixnum() && (t.lo, t.hi) == (0, 0)
}

fn add(a: Expr, b: Expr) -> Expr {
    prim(Op::FlAdd, vec![a, b])
}

fn sub(a: Expr, b: Expr) -> Expr {
    prim(Op::FlSub, vec![a, b])
}

fn mul(a: &Expr, b: &Expr) -> Expr {
    prim(Op::FlMul, vec![a.clone(), b.clone()])
}

fn neg(a: &Expr) -> Expr {
    mul(&Expr::Const(Literal::Number(Number::Flo(-1.0))), a)
}

/// Wraps `body` in bindings, the first outermost.
fn bind(bindings: Vec<(VarId, Expr)>, body: Expr) -> Expr {
    bindings.into_iter().rev().fold(body, |body, b| Expr::Let(vec![b], Box::new(body)))
}

impl Types {
    /// The types of the operands of `o`, if they are numbers that it can combine by parts.
    pub(super) fn combines_parts(&self, o: Op, args: &[Expr], types: &[Type]) -> Option<[Type; 2]> {
        let [a, b] = *types else { return None };
        let as_flonum = |t: Type| if t.is_flocomp() { Type::of(FLONUM) } else { t };
        let some = a.is_flocomp() || b.is_flocomp();
        let fit = match o {
            // the zero is replaced: nothing is lost that must be evaluated
            Op::Sub if is_zero(a) => b.is_flocomp() && matches!(args[0], Expr::Const(_) | Expr::Local(_)),
            Op::Add | Op::Sub | Op::Mul => some && flonum_like(o, as_flonum(a), as_flonum(b)),
            Op::NumEq => a.is_flocomp() && b.is_flocomp(),
            _ => false,
        };
        fit.then_some([a, b])
    }

    /// The operation `o` on operands of types that [`Self::combines_parts`] gave.
    pub(super) fn by_parts(&mut self, o: Op, args: &mut [Expr], types: [Type; 2]) -> Expr {
        let mut bindings = Vec::new();
        if o == Op::Sub && is_zero(types[0]) {
            // `(- 0 x)` is the negated x, also of 0.0
            args[0] = Expr::Const(Literal::Number(Number::Flo(-0.0)));
        }
        inexact_operands(args, &types);
        let [a, b] = args else { unreachable!("{o:?} has two operands") };
        let a = self.parts(take(a), types[0].is_flocomp(), &mut bindings);
        let b = self.parts(take(b), types[1].is_flocomp(), &mut bindings);
        let (re, im) = match (o, &a.im, &b.im) {
            (Op::Add, None, Some(y)) => (add(a.re, b.re), y.clone()),
            (Op::Add, Some(x), None) => (add(a.re, b.re), x.clone()),
            (Op::Add, Some(x), Some(y)) => (add(a.re, b.re), add(x.clone(), y.clone())),
            (Op::Sub, Some(x), None) => (sub(a.re, b.re), x.clone()),
            (Op::Sub, None, Some(y)) => (sub(a.re, b.re), neg(y)),
            (Op::Sub, Some(x), Some(y)) => (sub(a.re, b.re), sub(x.clone(), y.clone())),
            (Op::Mul, Some(x), None) => (mul(&a.re, &b.re), mul(x, &b.re)),
            (Op::Mul, None, Some(y)) => (mul(&b.re, &a.re), mul(y, &a.re)),
            (Op::Mul, Some(x), Some(y)) => (sub(mul(&a.re, &b.re), mul(x, y)), add(mul(&a.re, y), mul(x, &b.re))),
            (Op::NumEq, Some(x), Some(y)) => {
                let same = |x: &Expr, y: &Expr| prim(Op::FlEq, vec![x.clone(), y.clone()]);
                let no = Expr::Const(Literal::Bool(false));
                let test = Expr::If(Box::new(same(&a.re, &b.re)), Box::new(same(x, y)), Box::new(no));
                return bind(bindings, test);
            }
            _ => unreachable!("{o:?} on parts"),
        };
        let (r, i) = (self.fresh(), self.fresh());
        bindings.extend([(r, re), (i, im)]);
        bind(bindings, prim(Op::FlRectangular, vec![Expr::Local(r), Expr::Local(i)]))
    }

    fn parts(&mut self, e: Expr, complex: bool, bindings: &mut Vec<(VarId, Expr)>) -> Parts {
        let e = self.name_of(e, bindings);
        if !complex {
            return Parts { re: e, im: None };
        }
        let re = prim(Op::CompnumReal, vec![e.clone()]);
        Parts { re, im: Some(prim(Op::CompnumImag, vec![e])) }
    }

    /// A variable or constant with the value of `e`.
    fn name_of(&mut self, e: Expr, bindings: &mut Vec<(VarId, Expr)>) -> Expr {
        if matches!(e, Expr::Local(_) | Expr::Const(_)) {
            return e;
        }
        let v = self.fresh();
        bindings.push((v, e));
        Expr::Local(v)
    }

    /// Decides which parameters of labels are split, now that their types are final.
    pub(super) fn plan_splits(&mut self, labels: &[Label]) {
        for l in labels {
            let wanted: Vec<bool> = self.splittable(l).collect();
            let split: Split =
                wanted.into_iter().map(|wanted| wanted.then(|| [self.fresh(), self.fresh()])).collect();
            if split.iter().any(Option::is_some) {
                self.plans.splits.insert(l.id, split);
            }
        }
    }

    /// Which parameters could be split?
    pub(super) fn splittable(&self, l: &Label) -> impl Iterator<Item = bool> {
        l.params.iter().enumerate().map(|(i, v)| self.slots.get(*v).is_flocomp() && only_computes(*v, l, i))
    }

    /// Gives a walked label its new parameters.
    pub(super) fn split_label(&self, l: &mut Label) {
        let Some(split) = self.plans.splits.get(&l.id) else { return };
        let mut params = Vec::new();
        for (v, s) in std::mem::take(&mut l.params).into_iter().zip(split) {
            let Some(parts) = s else {
                params.push(v);
                continue;
            };
            params.extend(parts);
            let whole = prim(Op::FlRectangular, parts.iter().map(|p| Expr::Local(*p)).collect());
            l.body = Expr::Let(vec![(v, whole)], Box::new(take(&mut l.body)));
        }
        l.params = params;
    }

    /// Jumps that still pass a split parameter as a whole were not walked: they are never reached.
    pub(super) fn drop_whole_jumps(&self, e: &mut Expr) {
        if self.plans.splits.is_empty() {
            return;
        }
        rewrite(e, &mut |e| {
            if let Expr::Jump(l, args) = e
                && let Some(split) = self.plans.splits.get(l)
                && args.len() == split.len()
            {
                *e = Expr::Const(Literal::Unspecified);
            }
        });
    }

    /// A walked jump to a label that is split.
    pub(super) fn split_jump(&mut self, l: LabelId, args: Vec<Expr>) -> Expr {
        let Some(split) = self.plans.splits.get(&l).cloned() else { return Expr::Jump(l, args) };
        let (mut bindings, mut all) = (Vec::new(), Vec::new());
        let last = split.iter().rposition(Option::is_some).unwrap_or(0);
        for (i, (e, s)) in args.into_iter().zip(&split).enumerate() {
            // in order: what comes before an operand that gets a name gets one too
            let e = if i <= last { self.name_of(e, &mut bindings) } else { e };
            if s.is_some() {
                all.push(prim(Op::CompnumReal, vec![e.clone()]));
                all.push(prim(Op::CompnumImag, vec![e]));
            } else {
                all.push(e);
            }
        }
        bind(bindings, Expr::Jump(l, all))
    }
}

/// Is parameter `v` of the label, its `at`th, an operand of arithmetic only, or passed on to the same place? Branches
/// for what is no complex number are left out, and so are those that leave the loop: what they need is made there.
fn only_computes(v: VarId, label: &Label, at: usize) -> bool {
    Uses { v, label, at }.compute(&label.body, true)
}

struct Uses<'a> {
    v: VarId,
    label: &'a Label,
    at: usize,
}

impl Uses<'_> {
    fn is_v(&self, e: &Expr) -> bool {
        matches!(e, Expr::Local(x) if *x == self.v)
    }

    /// `tail`: the value of `e` is that of the loop.
    fn compute(&self, e: &Expr, tail: bool) -> bool {
        let all = |es: &[Expr], fit: &dyn Fn(usize) -> bool| {
            es.iter().enumerate().all(|(i, e)| fit(i) && self.is_v(e) || self.compute(e, false))
        };
        deep(|| match e {
            Expr::Local(x) => *x != self.v,
            Expr::If(test, then, other) => {
                let is = match &**test {
                    Expr::Prim { op: PrimOp::Op(o), args, .. } if self.is_v(&args[0]) => predicate(*o),
                    _ => None,
                };
                let (yes, no) = is.map_or((true, true), |kinds| (kinds & FLOCOMP != 0, kinds & FLOCOMP == 0));
                let branch = |e: &Expr| tail && !self.goes_on(e) || self.compute(e, tail);
                (is.is_some() || self.compute(test, false)) && (!yes || branch(then)) && (!no || branch(other))
            }
            Expr::Let(bindings, body) => {
                bindings.iter().all(|(_, e)| self.compute(e, false)) && self.compute(body, tail)
            }
            Expr::Prim { op: PrimOp::Op(o), args, .. } => all(args, &|_| computes(*o)),
            Expr::Jump(l, args) if *l == self.label.id => all(args, &|i| i == self.at),
            e => {
                let mut good = true;
                for_each_child(e, &mut |e| good = good && self.compute(e, false));
                good
            }
        })
    }

    /// Does `e` jump to the label?
    fn goes_on(&self, e: &Expr) -> bool {
        let mut jumps = false;
        visit(e, &mut |e| jumps |= matches!(e, Expr::Jump(l, _) if *l == self.label.id));
        jumps
    }
}

/// Does the operation only look at the parts of its complex operands?
fn computes(o: Op) -> bool {
    matches!(o, Op::Add | Op::Sub | Op::Mul | Op::NumEq | Op::CompnumReal | Op::CompnumImag | Op::IsCompnum)
}
