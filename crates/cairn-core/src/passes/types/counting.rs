//! Loops that count: their counters, what is linear in these, and the objects that are the same in every turn.
//!
//! ```text
//! (labels ((L (k s)
//!            (if (%fx=:3 k n)                                          ; the counter is `k`, the bound `n`
//!                s
//!                (jump L (%+:19 k 1)
//!                        (%fl+ s (%f64vector-ref (%vector-ref m i) (%+:3 k i))))))) …)
//! ```
//!
//! The problem: a test of an access need not be made in every turn if it is known between which indices the accesses
//! are, and to which object. The idea: sums and products of the counter and what does not change are linear in it. The
//! object is what a variable from outside of the loop holds, or an element of that, as the rows of a matrix are: it
//! stays while the loop runs if nothing in the loop may store into the vector. Stores into other vectors are no harm if
//! these *are* others, which can be asked before the loop.
//!
//! Invariants: innermost loops without calls and lambdas, except in what comes after them.

use super::twice::inside;
use crate::ir::{Expr, Label, LabelId, Literal, VarId};
use crate::passes::fold::fixnum;
use crate::prim::{Effect, Op, PrimOp};
use crate::walk::{deep, for_each_binder, size_at_most, visit};
use cairn_layout::code::Site;
use cairn_num::{Int, Number};
use rustc_hash::{FxHashMap, FxHashSet};

/// Larger loop bodies are not looked at.
const LIMIT: usize = 600;
/// Nor are loops that are larger with what comes after them.
const SEARCH_LIMIT: usize = 4000;
/// Larger linear expressions are not looked at.
const LINEAR: usize = 24;
/// The greatest step of a counter.
const MAX_STEP: i64 = 1 << 16;

/// When a loop goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum While {
    /// The counter is below the bound.
    Below,
    /// It is not above.
    UpTo,
    /// It is another number.
    Not,
}

/// A loop that counts.
pub(super) struct Counting {
    /// Which parameter.
    pub(super) parameter: usize,
    pub(super) counter: VarId,
    pub(super) step: i64,
    /// While the counter, or the negative one where it counts down, is so to the bound.
    pub(super) goes_on: While,
    pub(super) bound: Expr,
    /// It goes on where the test at its beginning has this answer.
    pub(super) answer: bool,
    /// Variables that change from turn to turn.
    pub(super) inner: FxHashSet<VarId>,
    /// Values of variables bound inside.
    pub(super) values: FxHashMap<VarId, Expr>,
    /// What it stores into vectors.
    pub(super) stores: Stores,
}

impl Counting {
    pub(super) fn of(l: &Label) -> Option<Counting> {
        if !size_at_most(&l.body, SEARCH_LIMIT) {
            return None;
        }
        let mut body = Vec::new();
        inside(&l.body, l.id, &mut Vec::new(), &mut |e| body.push(e));
        if body.len() > LIMIT {
            return None;
        }
        let mut inner: FxHashSet<VarId> = l.params.iter().copied().collect();
        let (mut values, mut jumps, mut own) = (FxHashMap::default(), Vec::new(), FxHashSet::default());
        for e in &body {
            match e {
                Expr::Call(..) | Expr::Apply(..) | Expr::CallCc(..) => return None,
                Expr::Lambda(_) | Expr::Fix(..) | Expr::Letrec(..) | Expr::Receive { .. } => return None,
                Expr::Labels(labels, _) => own.extend(labels.iter().map(|l| l.id)),
                Expr::Jump(to, args) if *to == l.id => jumps.push(args),
                Expr::Let(bs, _) => values.extend(bs.iter().map(|(v, e)| (*v, (*e).clone()))),
                _ => {}
            }
            for_each_binder(e, &mut |v| {
                inner.insert(v);
            });
        }
        if jumps.is_empty() || loops_inside(&l.body, &own) {
            return None;
        }
        let (parameter, step) = (0..l.params.len()).find_map(|i| {
            let mut steps = jumps.iter().map(|args| step_of(&args[i], l.params[i], &values));
            let first = steps.next()??;
            steps.all(|s| s == Some(first)).then_some((i, first))
        })?;
        let counter = l.params[parameter];
        let Expr::If(test, then, other) = &l.body else { return None };
        let leaves = |e: &Expr| {
            let mut stays = false;
            visit(e, &mut |e| stays |= matches!(e, Expr::Jump(to, _) if *to == l.id));
            !stays
        };
        let answer = match (leaves(then), leaves(other)) {
            (true, false) => false,
            (false, true) => true,
            _ => return None,
        };
        let (goes_on, bound) = condition(test, counter, answer, step > 0)?;
        let stores = Stores::default();
        let mut c = Counting { parameter, counter, step, goes_on, bound, answer, inner, values, stores };
        c.stores = Stores::of(&c, &body);
        ((c.is_outside(&c.bound) || c.computed_bound().is_some()) && (goes_on != While::Not || step.abs() == 1))
            .then_some(c)
    }

    /// The bound as a sum or product of what does not change, if it is one.
    pub(super) fn computed_bound(&self) -> Option<Expr> {
        let bound = self.linear(&self.bound)?;
        (matches!(bound, Expr::Prim { .. }) && !self.changes(&bound)).then_some(bound)
    }

    /// Does it not change while the loop runs, and may it be evaluated before?
    fn is_outside(&self, e: &Expr) -> bool {
        match e {
            Expr::Local(v) => !self.inner.contains(v),
            Expr::Const(l) => fixnum(l).is_some(),
            Expr::Prim {
                op: PrimOp::Op(Op::VectorLength | Op::StringLength | Op::BytevectorLength | Op::F64VectorLength),
                args,
                ..
            } => self.is_outside(&args[0]),
            _ => false,
        }
    }

    /// Is the counter in the linear expression?
    pub(super) fn changes(&self, e: &Expr) -> bool {
        let mut found = false;
        visit(e, &mut |e| found |= matches!(e, Expr::Local(v) if *v == self.counter));
        found
    }

    /// `e` as sums and products of the counter, constants and variables from outside, linear in the counter.
    pub(super) fn linear(&self, e: &Expr) -> Option<Expr> {
        let e = self.expand(e)?;
        size_at_most(&e, LINEAR).then_some(e)
    }

    fn expand(&self, e: &Expr) -> Option<Expr> {
        match e {
            Expr::Const(l) => fixnum(l).map(number),
            Expr::Local(v) if *v == self.counter || !self.inner.contains(v) => Some(Expr::Local(*v)),
            Expr::Local(v) => deep(|| self.expand(self.values.get(v)?)),
            Expr::Prim { op: PrimOp::Op(o), args, .. } => {
                let o = operation(*o)?;
                let (a, b) = (self.expand(&args[0])?, self.expand(&args[1])?);
                let product_of_counters = o == Op::Mul && self.changes(&a) && self.changes(&b);
                let e = generic(o, a, b);
                (!product_of_counters && size_at_most(&e, LINEAR)).then_some(e)
            }
            _ => None,
        }
    }

    /// The object that `e` is in every turn.
    pub(super) fn source(&self, e: &Expr) -> Option<Source> {
        let source = self.any_source(e)?;
        let mut vectors = std::iter::successors(source.vector(), |s| s.vector());
        vectors.all(|v| self.stores.others(v).is_some()).then_some(source)
    }

    /// The object that `e` is in every turn, if no store changes that.
    fn any_source(&self, e: &Expr) -> Option<Source> {
        match e {
            Expr::Local(v) if !self.inner.contains(v) => Some(Source::Variable(*v)),
            Expr::Local(v) => deep(|| self.any_source(self.values.get(v)?)),
            Expr::Prim { op: PrimOp::Op(Op::VectorRef), args, .. } => {
                let (vector, index) = (self.any_source(&args[0])?, self.linear(&args[1])?);
                (!self.changes(&index)).then(|| Source::Element(Box::new(vector), index))
            }
            _ => None,
        }
    }
}

/// An object.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// What a variable from outside of the loop holds.
    Variable(VarId),
    /// An element of a vector, at an index that does not change.
    Element(Box<Source>, Expr),
}

impl Source {
    /// Is it this object, by what can be read in the program?
    pub(super) fn is(&self, other: &Source) -> bool {
        match (self, other) {
            (Source::Variable(v), Source::Variable(w)) => v == w,
            (Source::Element(a, i), Source::Element(b, j)) => a.is(b) && same(i, j),
            _ => false,
        }
    }

    /// The vector that it is an element of.
    pub(super) fn vector(&self) -> Option<&Source> {
        match self {
            Source::Variable(_) => None,
            Source::Element(vector, _) => Some(vector),
        }
    }
}

/// What a loop stores into vectors.
#[derive(Default)]
pub(super) enum Stores {
    /// Into these vectors only; no element of one of them is among the sources of the loop.
    Into(Vec<Source>),
    /// Into any.
    #[default]
    Anywhere,
}

impl Stores {
    /// Of the nodes of a loop's body.
    pub(super) fn of(counting: &Counting, body: &[&Expr]) -> Stores {
        let mut into: Vec<Source> = Vec::new();
        for e in body {
            let Expr::Prim { op, args, .. } = e else { continue };
            match op {
                PrimOp::Op(Op::VectorSet) => match counting.any_source(&args[0]) {
                    Some(source) => into.push(source),
                    None => return Stores::Anywhere,
                },
                PrimOp::Op(_) => {}
                op if op.effect() == Effect::Write => return Stores::Anywhere,
                _ => {}
            }
        }
        let stays = |s: &Source| s.vector().is_none_or(|v| !into.iter().any(|other| other.is(v)));
        let mut sources = into.iter();
        if sources.all(|s| std::iter::successors(Some(s), |s| s.vector()).all(stays)) {
            Stores::Into(into)
        } else {
            Stores::Anywhere
        }
    }

    /// The vectors that are stored into, if the elements of this one stay unless it is one of them.
    pub(super) fn others(&self, vector: &Source) -> Option<&[Source]> {
        match self {
            Stores::Into(stored) if !stored.iter().any(|s| s.is(vector)) => Some(stored),
            _ => None,
        }
    }
}

/// Are these linear expressions the same?
pub(super) fn same(a: &Expr, b: &Expr) -> bool {
    match (a, b) {
        (Expr::Local(v), Expr::Local(w)) => v == w,
        (Expr::Const(l), Expr::Const(m)) => fixnum(l) == fixnum(m),
        (Expr::Prim { op: o, args: a, .. }, Expr::Prim { op: p, args: b, .. }) => {
            o == p && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        _ => false,
    }
}

/// Does one of the labels jump to itself or an earlier one? Only joins are known not to.
fn loops_inside(e: &Expr, labels: &FxHashSet<LabelId>) -> bool {
    let mut found = false;
    visit(e, &mut |e| {
        if let Expr::Labels(ls, _) = e
            && ls.iter().any(|l| labels.contains(&l.id))
        {
            for l in ls {
                visit(&l.body, &mut |e| found |= matches!(e, Expr::Jump(to, _) if ls.iter().any(|l| l.id == *to)));
            }
        }
    });
    found
}

/// What is added to the counter by this argument.
fn step_of(e: &Expr, counter: VarId, values: &FxHashMap<VarId, Expr>) -> Option<i64> {
    let e = match e {
        Expr::Local(v) if *v != counter => values.get(v)?,
        e => e,
    };
    let Expr::Prim { op: PrimOp::Op(o), args, .. } = e else { return None };
    let step = match (operation(*o)?, &args[..]) {
        (Op::Add, [Expr::Local(v), Expr::Const(l)] | [Expr::Const(l), Expr::Local(v)]) if *v == counter => {
            fixnum(l)?
        }
        (Op::Sub, [Expr::Local(v), Expr::Const(l)]) if *v == counter => fixnum(l)?.checked_neg()?,
        _ => return None,
    };
    (step != 0 && step.abs() <= MAX_STEP).then_some(step)
}

/// How the counter is to the bound while the loop goes on, if it goes on where `test` has this answer.
fn condition(test: &Expr, counter: VarId, answer: bool, up: bool) -> Option<(While, Expr)> {
    let Expr::Prim { op: PrimOp::Op(o), args, .. } = test else { return None };
    if let (Op::Not, [e]) = (*o, &args[..]) {
        return condition(e, counter, !answer, up);
    }
    let [a, b] = &args[..] else { return None };
    let is_counter = |e: &Expr| matches!(e, Expr::Local(v) if *v == counter);
    let (left, bound) = match (is_counter(a), is_counter(b)) {
        (true, false) => (true, b),
        (false, true) => (false, a),
        _ => return None,
    };
    // "less" with the counter on the left, or what that is with everything turned round
    let (mut less, mut or_equal) = match o {
        Op::NumEq | Op::FxEq => return (!answer).then(|| (While::Not, bound.clone())),
        Op::NumLt | Op::FxLt => (true, false),
        Op::NumLe | Op::FxLe => (true, true),
        Op::NumGt => (false, false),
        Op::NumGe => (false, true),
        _ => return None,
    };
    if !left {
        less = !less;
    }
    if !answer {
        (less, or_equal) = (!less, !or_equal);
    }
    (less == up).then(|| (if or_equal { While::UpTo } else { While::Below }, bound.clone()))
}

/// The generic operation of sums and products.
pub(super) fn operation(o: Op) -> Option<Op> {
    Some(match o {
        Op::Add | Op::FxAdd => Op::Add,
        Op::Sub | Op::FxSub => Op::Sub,
        Op::Mul | Op::FxMul => Op::Mul,
        _ => return None,
    })
}

/// An operation on integers, which may be bignums.
pub(super) fn generic(op: Op, a: Expr, b: Expr) -> Expr {
    Expr::Prim { op: PrimOp::Op(op), args: vec![a, b], site: Site::NONE, proven: 3 }
}

pub(super) fn number(n: i64) -> Expr {
    Expr::Const(Literal::Number(Number::Int(Int::Fix(n))))
}
