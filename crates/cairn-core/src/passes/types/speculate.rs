//! Flonum speculation: a tree of generic arithmetic that looks like floating point is tested once at its leaves.
//!
//! ```text
//! (%- (%* wr (%vector-ref v j)) (%* wi (%vector-ref v k)))          ; wr, wi are flonums
//! ```
//! becomes
//! ```text
//! (let ((a (%vector-ref v j)))
//!   (let ((b (%vector-ref v k)))
//!     (if (if (%flonum? a) (%flonum? b) #f)
//!         (%- (%* wr a) (%* wi b))                                  ; the next walk makes these fl*, fl-
//!         (%- (%* wr a) (%* wi b)))))
//! ```
//!
//! The problem: contents of vectors, records and lists have no known type, so every operation on them tests and decodes
//! its operands and encodes its result. The idea: between flonum operations nothing is encoded (`cairn-frame::reps`);
//! so one test per leaf buys raw doubles inside. Only trees with evidence are treated: a leaf that is a flonum, or one
//! that comes out of an object when the program stores flonums in objects and no leaf is a fixnum.
//!
//! Leaves are evaluated before all operations, so they must not have effects beyond failing; which of several
//! errors is reported may then differ, as with any order of evaluation.

use super::lattice::{Type, bits::*};
use super::rounds::Types;
use crate::effects::{self, Effects};
use crate::ir::{Expr, Literal, VarId};
use crate::prim::{Kind, Op, PrimOp};
use crate::walk::take;
use cairn_layout::code::Site;

/// Trees with fewer generic operations are left alone.
const MIN_OPERATIONS: usize = 2;
/// Trees with more leaves to test are left alone.
const MAX_TESTS: usize = 12;
/// And trees with more operations: they are doubled.
const MAX_OPERATIONS: usize = 24;

/// Is the operation part of a tree, below its root?
pub(super) fn is_inner(op: PrimOp) -> bool {
    use Op::*;
    let PrimOp::Op(o) = op else { return false };
    generic(o) && !comparison(o) || matches!(o, FlAdd | FlSub | FlMul | FlDiv | FlSqrt | FlAbs)
}

/// Can the operation be the root of a tree?
pub(super) fn is_root(op: PrimOp) -> bool {
    matches!(op, PrimOp::Op(o) if generic(o))
}

fn generic(o: Op) -> bool {
    matches!(o, Op::Add | Op::Sub | Op::Mul | Op::Div) || comparison(o)
}

fn comparison(o: Op) -> bool {
    matches!(o, Op::NumLt | Op::NumLe | Op::NumGt | Op::NumGe | Op::NumEq)
}

#[derive(Default)]
struct Survey {
    operations: usize,
    evidence: usize,
    /// Leaves that may be flonums by a guess; leaves that are fixnums.
    hints: usize,
    fixnums: usize,
    /// Leaves that must be tested, as variables: tested once each.
    tests: Vec<VarId>,
    /// Other leaves that must be bound and tested.
    bindings: usize,
    hopeless: bool,
}

impl Types {
    /// Speculates on the tree `e`, if that looks useful.
    pub(super) fn speculate(&mut self, e: &mut Expr) {
        let mut survey = Survey::default();
        self.survey(e, &mut survey);
        let tests = survey.tests.len() + survey.bindings;
        if survey.hopeless
            || survey.evidence == 0 && (survey.hints == 0 || survey.fixnums > 0)
            || !(MIN_OPERATIONS..=MAX_OPERATIONS).contains(&survey.operations)
            || !(1..=MAX_TESTS).contains(&tests)
        {
            return;
        }
        self.plans.another_round = true;
        let mut bindings = Vec::new();
        let mut tests = survey.tests;
        self.bind_leaves(e, &mut bindings, &mut tests);
        let test = tests.into_iter().rev().fold(None, |rest, v| {
            let test = operation(Op::IsFlonum, vec![Expr::Local(v)]);
            Some(match rest {
                None => test,
                Some(rest) => {
                    Expr::If(Box::new(test), Box::new(rest), Box::new(Expr::Const(Literal::Bool(false))))
                }
            })
        });
        let Some(test) = test else { return };
        let other = take(e);
        let choice = Expr::If(Box::new(test), Box::new(other.clone()), Box::new(other));
        *e = bindings.into_iter().rev().fold(choice, |body, b| Expr::Let(vec![b], Box::new(body)));
    }

    fn survey(&self, e: &Expr, s: &mut Survey) {
        let Expr::Prim { op: op @ PrimOp::Op(o), args, .. } = e else { return };
        s.operations += usize::from(generic(*o));
        if !generic(*o) {
            s.evidence += 1; // operands of flonum operations are no leaves of ours
            s.hopeless |= !is_inner(*op);
            return;
        }
        for a in args {
            match a {
                Expr::Prim { op, .. } if is_inner(*op) => self.survey(a, s),
                Expr::Local(v) => {
                    let t = self.env.get(*v);
                    if t.is_flonum() {
                        s.evidence += 1;
                    } else if !t.may_be(FLONUM) {
                        s.fixnums += 1;
                        s.hopeless |= !t.within(EXACT);
                    } else {
                        s.hints += usize::from(t.hint);
                        if !s.tests.contains(v) {
                            s.tests.push(*v);
                        }
                    }
                }
                Expr::Const(l) => {
                    let t = Type::literal(l);
                    s.evidence += usize::from(t.is_flonum());
                    s.fixnums += usize::from(t.is_fixnum());
                    s.hopeless |= !t.within(REAL);
                }
                leaf => match leaf_kind(leaf) {
                    Kind::Flonum => s.evidence += 1,
                    Kind::Fixnum => s.fixnums += 1,
                    Kind::Any | Kind::Number => {
                        s.bindings += 1;
                        s.hints += usize::from(self.slots.stored_flonums && quick(leaf));
                        let allowed = Effects::READ.and(Effects::ALLOC).and(Effects::FAIL);
                        let effects = effects::of(leaf, &|g| self.facts.read_effects(g));
                        s.hopeless |= !effects.within(allowed) || !quick(leaf);
                    }
                    _ => s.hopeless = true,
                },
            }
        }
    }

    /// Gives names to the leaves that must be tested.
    fn bind_leaves(&mut self, e: &mut Expr, bindings: &mut Vec<(VarId, Expr)>, tests: &mut Vec<VarId>) {
        let Expr::Prim { op: PrimOp::Op(o), args, .. } = e else { return };
        if !generic(*o) {
            return;
        }
        for a in args {
            match a {
                Expr::Prim { op, .. } if is_inner(*op) => self.bind_leaves(a, bindings, tests),
                Expr::Local(_) | Expr::Const(_) => {}
                leaf => {
                    let v = self.fresh();
                    let name = Expr::Local(v);
                    if matches!(leaf_kind(leaf), Kind::Any | Kind::Number) {
                        tests.push(v);
                    }
                    bindings.push((v, std::mem::replace(leaf, name)));
                }
            }
        }
    }
}

/// Only reads of variables and fields.
fn quick(e: &Expr) -> bool {
    match e {
        Expr::Local(_) | Expr::Const(_) | Expr::Global(..) => true,
        Expr::Prim { op: PrimOp::Op(_), args, .. } => args.iter().all(quick),
        _ => false,
    }
}

fn leaf_kind(e: &Expr) -> Kind {
    match e {
        Expr::Prim { op, .. } => op.result(),
        _ => Kind::Any,
    }
}

fn operation(op: Op, args: Vec<Expr>) -> Expr {
    Expr::Prim { op: PrimOp::Op(op), args, site: Site::NONE, proven: 0 }
}
