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
//! A subtree of integers, such as the divisor of `(%/ 1.0 (%+ (%* i j) 1))`, is one leaf. Each of its operations that
//! may overflow gets a name and is tested at once, so that the next one knows its operands.
//!
//! Leaves are evaluated before all operations, so they must not have effects beyond failing; which of several
//! errors is reported may then differ, as with any order of evaluation.

use super::lattice::{Type, bits::*};
use super::rounds::Types;
use super::version::{Test, if_all};
use crate::effects::{self, Effects};
use crate::ir::{Expr, VarId};
use crate::prim::{Kind, Op, PrimOp};
use crate::walk::{rewrite, take};

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

/// Integers with more operations that may overflow are left alone.
const MAX_STEPS: usize = 4;

/// A leaf that comes before the operations, or a step of one.
struct Leaf {
    name: VarId,
    value: Expr,
    /// It is an integer, tested for a fixnum at once.
    may_overflow: bool,
}

#[derive(Default)]
struct Survey {
    operations: usize,
    evidence: usize,
    /// Leaves that may be flonums by a guess; leaves that are fixnums.
    hints: usize,
    fixnums: usize,
    /// Leaves that must be tested, as variables: tested once each.
    tests: Vec<Test>,
    /// Other leaves that must be bound and tested.
    bindings: usize,
    hopeless: bool,
}

impl Types {
    /// Speculates on the tree `e`, if that looks useful. One whose value is `stored` may be a single operation: a
    /// double is stored without a barrier.
    pub(super) fn speculate(&mut self, e: &mut Expr, stored: bool) {
        let mut survey = Survey::default();
        self.survey(e, &mut survey);
        let tests = survey.tests.len() + survey.bindings;
        let least = if stored { 1 } else { MIN_OPERATIONS };
        if survey.hopeless
            || survey.evidence == 0 && (survey.hints == 0 || survey.fixnums > 0)
            || !(least..=MAX_OPERATIONS).contains(&survey.operations)
            || !(1..=MAX_TESTS).contains(&tests)
        {
            return;
        }
        self.plans.another_round = true;
        let (mut leaves, mut tests) = (Vec::new(), survey.tests);
        self.bind_leaves(e, &mut leaves, &mut tests);
        let tree = take(e);
        let choice = if_all(tests.into_iter(), tree.clone(), tree.clone());
        *e = (0..leaves.len()).rev().fold(choice, |body, i| {
            let leaf = &leaves[i];
            let body = match leaf.may_overflow {
                false => body,
                true => {
                    let slow = self.rest(&leaves[i + 1..], tree.clone());
                    if_all([(leaf.name, Op::IsFixnum)].into_iter(), body, slow)
                }
            };
            Expr::Let(vec![(leaf.name, leaf.value.clone())], Box::new(body))
        });
    }

    /// The tree after its last leaves, with names of their own for them.
    fn rest(&mut self, leaves: &[Leaf], tree: Expr) -> Expr {
        let mut names: Vec<(VarId, VarId)> = Vec::new();
        let rename = |e: &mut Expr, names: &[(VarId, VarId)]| {
            rewrite(e, &mut |e| {
                if let Expr::Local(v) = e
                    && let Some((_, new)) = names.iter().find(|(old, _)| old == v)
                {
                    *v = *new;
                }
            });
        };
        let mut bindings = Vec::new();
        for leaf in leaves {
            let mut value = leaf.value.clone();
            rename(&mut value, &names);
            let new = self.fresh();
            names.push((leaf.name, new));
            bindings.push((new, value));
        }
        let mut body = tree;
        rename(&mut body, &names);
        bindings.into_iter().rev().fold(body, |body, b| Expr::Let(vec![b], Box::new(body)))
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
                Expr::Prim { op, .. } if self.is_integer(a) => {
                    s.fixnums += 1;
                    if op.result() != Kind::Fixnum {
                        let steps = steps(a);
                        s.bindings += steps;
                        // each step has a slow path of its own
                        s.hopeless |= steps > MAX_STEPS || !self.may_come_first(a);
                    }
                }
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
                        if !s.tests.contains(&(*v, Op::IsFlonum)) {
                            s.tests.push((*v, Op::IsFlonum));
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
                        s.hopeless |= !self.may_come_first(leaf);
                    }
                    _ => s.hopeless = true,
                },
            }
        }
    }

    /// May the leaf be evaluated before the operations?
    fn may_come_first(&self, leaf: &Expr) -> bool {
        let allowed = Effects::READ.and(Effects::ALLOC).and(Effects::FAIL);
        quick(leaf) && effects::of(leaf, &|g| self.facts.read_effects(g)).within(allowed)
    }

    /// Is the value an exact integer, or an error?
    fn is_integer(&self, e: &Expr) -> bool {
        match e {
            Expr::Const(l) => Type::literal(l).within(INTEGER),
            Expr::Local(v) => {
                let t = self.env.get(*v);
                !t.is_none() && t.within(INTEGER)
            }
            Expr::Prim { op: op @ PrimOp::Op(o), args, .. } => {
                use Op::*;
                let of_integers = matches!(o, Add | Sub | Mul | Quotient | Remainder | Modulo | FloorQuotient);
                op.result() == Kind::Fixnum || of_integers && args.iter().all(|a| self.is_integer(a))
            }
            _ => false,
        }
    }

    /// Gives names to the leaves that must be tested.
    fn bind_leaves(&mut self, e: &mut Expr, leaves: &mut Vec<Leaf>, tests: &mut Vec<Test>) {
        let Expr::Prim { op: PrimOp::Op(o), args, .. } = e else { return };
        if !generic(*o) {
            return;
        }
        for a in args {
            let integer = self.is_integer(a);
            match a {
                Expr::Local(_) | Expr::Const(_) => {}
                Expr::Prim { .. } if integer => self.bind_steps(a, leaves),
                Expr::Prim { op, .. } if is_inner(*op) => self.bind_leaves(a, leaves, tests),
                leaf => {
                    let name = self.fresh();
                    if matches!(leaf_kind(leaf), Kind::Any | Kind::Number) {
                        tests.push((name, Op::IsFlonum));
                    }
                    leaves.push(Leaf {
                        name,
                        value: std::mem::replace(leaf, Expr::Local(name)),
                        may_overflow: false,
                    });
                }
            }
        }
    }

    /// Gives names to the operations of a subtree of integers that may overflow, or fail.
    fn bind_steps(&mut self, e: &mut Expr, leaves: &mut Vec<Leaf>) {
        let Expr::Prim { op, args, .. } = e else { return };
        let may_overflow = op.result() != Kind::Fixnum;
        args.iter_mut().for_each(|a| self.bind_steps(a, leaves));
        let name = self.fresh();
        leaves.push(Leaf { name, value: std::mem::replace(e, Expr::Local(name)), may_overflow });
    }
}

/// The number of operations that may overflow.
fn steps(e: &Expr) -> usize {
    let Expr::Prim { op, args, .. } = e else { return 0 };
    usize::from(op.result() != Kind::Fixnum) + args.iter().map(steps).sum::<usize>()
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
