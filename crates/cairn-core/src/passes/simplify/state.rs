//! What the simplifier knows on its way, and the small expressions that it makes.

use crate::ir::{Expr, GlobalId, LabelId, Lambda, Literal, Program, VarId};
use crate::passes::known::GlobalFacts;
use cairn_layout::code::Site;
use rustc_hash::{FxHashMap, FxHashSet};

/// What is needed of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::passes) enum Ctx {
    /// Its value or values.
    Value,
    /// Whether it is `#f`.
    Test,
    /// Only its effects.
    Effect,
}

/// What a variable may be replaced by.
#[derive(Clone)]
pub(super) enum Atom {
    Const(Literal),
    Local(VarId),
    Global(GlobalId, Site),
}

impl Atom {
    pub(super) fn expr(&self) -> Expr {
        match self {
            Atom::Const(l) => Expr::Const(l.clone()),
            Atom::Local(v) => Expr::Local(*v),
            Atom::Global(g, s) => Expr::Global(*g, *s),
        }
    }
}

/// A piece of an expression that is evaluated before what follows.
pub(super) enum Step {
    Bind(VarId, Expr),
    Do(Expr),
    Fix(Vec<(VarId, Lambda)>),
    Receive(Expr, Vec<VarId>, Option<VarId>, Site),
}

pub(super) struct Simplifier<'a> {
    pub(super) program: &'a mut Program,
    pub(super) facts: &'a GlobalFacts,
    pub(super) env: Vec<Option<Atom>>,
    /// Variables known to be true (not `#f`) here.
    pub(super) truths: Vec<bool>,
    /// Upper bound of the number of occurrences.
    pub(super) uses: Vec<u32>,
    /// Variables bound to complex numbers of known parts.
    pub(super) complexes: FxHashMap<VarId, [Atom; 2]>,
    pub(super) labels: FxHashMap<LabelId, State>,
    pub(super) label_uses: Vec<u32>,
    /// Global procedures that do nothing but call one another, forever.
    pub(super) endless: FxHashSet<GlobalId>,
    /// Index of the top-level form that is being simplified.
    pub(super) form: usize,
    /// How many lambdas enclose the expression: outside of all, it is evaluated when its form is.
    pub(super) lambdas: usize,
}

pub(super) fn unit() -> Expr {
    Expr::Const(Literal::Unspecified)
}

pub(super) fn truth(b: bool) -> Expr {
    Expr::Const(Literal::Bool(b))
}

pub(super) fn is_true(l: &Literal) -> bool {
    !matches!(l, Literal::Bool(false))
}

/// A constant in context.
pub(super) fn constant(l: Literal, ctx: Ctx) -> Expr {
    match ctx {
        Ctx::Value => Expr::Const(l),
        Ctx::Test => truth(is_true(&l)),
        Ctx::Effect => unit(),
    }
}

/// Does the expression give exactly one value (if it returns)?
pub(super) fn single_valued(e: &Expr) -> bool {
    matches!(
        e,
        Expr::Const(_)
            | Expr::Local(_)
            | Expr::Global(..)
            | Expr::Prim { .. }
            | Expr::Lambda(_)
            | Expr::SetGlobal(..)
    )
}

/// What happens to a label.
pub(super) struct State {
    pub(super) params: Vec<VarId>,
    /// The body yet to be simplified; taken when it moves.
    pub(super) body: Option<Expr>,
    pub(super) mode: Mode,
    pub(super) reached: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mode {
    /// Stays a label.
    Label,
    /// Moves to its only jump.
    Once,
    /// Is copied to its jumps.
    Copy,
}
