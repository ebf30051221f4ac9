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
//! Leaves are evaluated before all operations, so they must not have effects beyond failing. One that may fail comes
//! after operations that may: it is evaluated only where these have flonums, with which none fails; where not, the slow
//! path does everything in its own order.
//!
//! ```text
//! (%* (%+ x 1.0) (%car l))    ▶    (let ((a (if (%flonum? x) (%car l) #f)))
//!                                    (if (if (%flonum? x) (%flonum? a) #f)
//!                                        (%* (%+ x 1.0) a)
//!                                        (%* (%+ x 1.0) (%car l))))
//! ```

use super::lattice::{Type, bits::*};
use super::state::Types;
use super::twice::{Test, if_all};
use crate::effects::{self, Effects};
use crate::ir::{Expr, Literal, VarId};
use crate::prim::{Kind, Op, PrimOp};
use crate::walk::rewrite;
use cairn_layout::code::Site;
use cairn_num::{Int, Number};

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
    /// It may fail, and operations before it would without these. It is evaluated only where they hold.
    guard: Vec<Doubt>,
}

/// What must be so that an operation does not fail.
#[derive(Clone, Copy)]
enum Doubt {
    Flonum(VarId),
    /// Of a divisor that is an integer.
    NotZero(VarId),
}

/// The leaves of a tree, in the order in which they are evaluated.
#[derive(Default)]
struct Leaves {
    all: Vec<Leaf>,
    tests: Vec<Test>,
    /// Of operations that come before the next leaf.
    doubts: Vec<Doubt>,
    /// The number of the last leaf with a guard.
    guarded: Option<usize>,
    /// An operation before the next leaf may fail whatever it is given.
    blocked: bool,
    /// A leaf that may fail cannot come before such an operation.
    hopeless: bool,
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
        let mut leaves = Leaves { tests: survey.tests, ..Leaves::default() };
        let mut tree = e.clone();
        self.bind_leaves(&mut tree, &mut leaves);
        if leaves.hopeless {
            return;
        }
        self.plans.another_round = true;
        let Leaves { all: leaves, tests, .. } = leaves;
        let zeros = leaves.iter().flat_map(|l| &l.guard).filter(|d| matches!(d, Doubt::NotZero(_)));
        let zeros: Vec<Doubt> = zeros.copied().collect();
        let slow = |from| in_order(&leaves, from, tree.clone());
        let choice =
            if_all(tests.into_iter(), without_doubt(&zeros, tree.clone(), slow(leaves.len())), slow(leaves.len()));
        *e = (0..leaves.len()).rev().fold(choice, |body, i| {
            let leaf = &leaves[i];
            let body = match leaf.may_overflow {
                false => body,
                true => if_all([(leaf.name, Op::IsFixnum)].into_iter(), body, slow(i + 1)),
            };
            let value = match leaf.guard.is_empty() {
                true => leaf.value.clone(),
                false => without_doubt(&leaf.guard, leaf.value.clone(), leaf.other()),
            };
            Expr::Let(vec![(leaf.name, value)], Box::new(body))
        });
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
    fn bind_leaves(&mut self, e: &mut Expr, leaves: &mut Leaves) {
        let Expr::Prim { op: PrimOp::Op(o), args, .. } = e else { return };
        for a in args.iter_mut() {
            let integer = self.is_integer(a);
            match a {
                Expr::Local(_) | Expr::Const(_) => {}
                Expr::Prim { .. } if integer => self.bind_steps(a, leaves),
                Expr::Prim { op: PrimOp::Op(o), .. } if generic(*o) && !comparison(*o) => {
                    self.bind_leaves(a, leaves)
                }
                // what does not fail stays where it is
                Expr::Prim { op, .. } if is_inner(*op) && !self.may_fail(a) => {}
                leaf => {
                    let kind = leaf_kind(leaf);
                    let name = self.bind_leaf(leaf, false, leaves);
                    if matches!(kind, Kind::Any | Kind::Number) {
                        leaves.tests.push((name, Op::IsFlonum));
                    }
                }
            }
        }
        args.iter().for_each(|a| self.doubt(a, leaves));
        // a flonum can be divided by zero, too
        if let (Op::Div, [dividend, divisor]) = (*o, &args[..])
            && !self.becomes_flonum(dividend, leaves)
            && !self.becomes_flonum(divisor, leaves)
        {
            match divisor {
                Expr::Const(Literal::Number(Number::Int(i))) if *i != Int::Fix(0) => {}
                Expr::Local(v) => leaves.doubts.push(Doubt::NotZero(*v)),
                _ => leaves.blocked = true,
            }
        }
    }

    /// Takes down what must be so that the operand, the tree's or the name of a leaf, is a number.
    fn doubt(&self, operand: &Expr, leaves: &mut Leaves) {
        let is_number = match operand {
            Expr::Const(l) => Type::literal(l).within(REAL),
            Expr::Prim { .. } => true,
            Expr::Local(v) => match leaves.all.iter().find(|l| l.name == *v) {
                Some(leaf) => leaf.may_overflow || leaf_kind(&leaf.value) != Kind::Any,
                None => {
                    let t = self.env.get(*v);
                    !t.is_none() && t.within(REAL)
                }
            },
            _ => false,
        };
        match operand {
            _ if is_number => {}
            Expr::Local(v) if leaves.tests.contains(&(*v, Op::IsFlonum)) => leaves.doubts.push(Doubt::Flonum(*v)),
            _ => leaves.blocked = true,
        }
    }

    /// Is the operand a flonum, or is it one where doubts are taken down for that?
    fn becomes_flonum(&self, operand: &Expr, leaves: &mut Leaves) -> bool {
        match operand {
            Expr::Const(l) => Type::literal(l).is_flonum(),
            Expr::Local(v) if leaves.tests.contains(&(*v, Op::IsFlonum)) => {
                leaves.doubts.push(Doubt::Flonum(*v));
                true
            }
            Expr::Local(v) => match leaves.all.iter().find(|l| l.name == *v) {
                Some(leaf) => leaf_kind(&leaf.value) == Kind::Flonum,
                None => self.env.get(*v).is_flonum(),
            },
            Expr::Prim { op, .. } if op.result() == Kind::Flonum => true,
            Expr::Prim { op: PrimOp::Op(Op::Add | Op::Sub | Op::Mul | Op::Div), args, .. } => {
                args.iter().any(|a| self.becomes_flonum(a, leaves))
            }
            _ => false,
        }
    }

    /// Gives names to the operations of a subtree of integers that may overflow, or fail.
    fn bind_steps(&mut self, e: &mut Expr, leaves: &mut Leaves) {
        let Expr::Prim { op, args, .. } = e else { return };
        let may_overflow = op.result() != Kind::Fixnum;
        args.iter_mut().for_each(|a| self.bind_steps(a, leaves));
        self.bind_leaf(e, may_overflow, leaves);
    }

    fn bind_leaf(&mut self, leaf: &mut Expr, may_overflow: bool, leaves: &mut Leaves) -> VarId {
        let name = self.fresh();
        let mut guard = Vec::new();
        if self.may_fail(leaf) {
            leaves.hopeless |= leaves.blocked;
            guard = std::mem::take(&mut leaves.doubts);
            // that an earlier leaf is a flonum tells that its guard held
            if let Some(last) = leaves.guarded.map(|i| &leaves.all[i])
                && !guard.iter().any(|d| matches!(d, Doubt::Flonum(v) if *v == last.name))
            {
                guard.extend(&last.guard);
            }
            if !guard.is_empty() {
                leaves.guarded = Some(leaves.all.len());
            }
        }
        let value = std::mem::replace(leaf, Expr::Local(name));
        leaves.all.push(Leaf { name, value, may_overflow, guard });
        name
    }

    fn may_fail(&self, e: &Expr) -> bool {
        effects::of(e, &|g| self.facts.read_effects(g)).meets(Effects::FAIL)
    }
}

impl Leaf {
    /// The value where the guard does not hold: of the same kind, if nobody tests that.
    fn other(&self) -> Expr {
        Expr::Const(match leaf_kind(&self.value) {
            Kind::Flonum => Literal::Number(Number::Flo(0.0)),
            Kind::Fixnum if !self.may_overflow => Literal::Number(Number::Int(Int::Fix(0))),
            _ => Literal::Bool(false),
        })
    }
}

/// The tree with leaves back where they belong: those from a number on, and those with guards.
fn in_order(leaves: &[Leaf], from: usize, mut tree: Expr) -> Expr {
    // a leaf's name stands once: in the tree, or in a later leaf
    for (i, leaf) in leaves.iter().enumerate().rev() {
        if i >= from || !leaf.guard.is_empty() {
            rewrite(&mut tree, &mut |e| {
                if matches!(e, Expr::Local(v) if *v == leaf.name) {
                    *e = leaf.value.clone();
                }
            });
        }
    }
    tree
}

/// `body` where nothing is in doubt, else `slow`.
fn without_doubt(doubts: &[Doubt], body: Expr, slow: Expr) -> Expr {
    let flonums =
        doubts.iter().filter_map(|d| if let Doubt::Flonum(v) = d { Some((*v, Op::IsFlonum)) } else { None });
    let zeros = doubts.iter().filter_map(|d| if let Doubt::NotZero(v) = d { Some(*v) } else { None });
    let body = zeros.fold(body, |body, v| {
        let args = vec![Expr::Local(v), Expr::Const(Literal::Number(Number::Int(Int::Fix(0))))];
        let is_zero = Expr::Prim { op: PrimOp::Op(Op::NumEq), args, site: Site::NONE, proven: 0 };
        Expr::If(Box::new(is_zero), Box::new(slow.clone()), Box::new(body))
    });
    if doubts.iter().any(|d| matches!(d, Doubt::Flonum(_))) { if_all(flonums, body, slow) } else { body }
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
