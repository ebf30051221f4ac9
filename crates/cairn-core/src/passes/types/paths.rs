//! Two paths: code that computes with values out of objects, once for flonums.
//!
//! ```text
//! (let ((u (%vector-ref re a)))
//!   (let ((x (%vector-ref re b)))
//!     (let ((v (%* x 2.0)))
//!       (seq (%vector-set! re a (%+ u v)) (%vector-set! re b (%- u v))))))
//! ```
//! becomes
//! ```text
//! (let ((u (%vector-ref re a)))
//!   (let ((x (%vector-ref re b)))
//!     (if (if (%flonum? u) (%flonum? x) #f)
//!         (let ((v (%* x 2.0))) (seq …))                             ; the next walk finds flonums here
//!         (let ((v (%* x 2.0))) (seq …)))))
//! ```
//!
//! The problem: [`super::speculate`] tests the leaves of one tree, and where its slow path comes back nothing is known
//! of the result, so the next tree tests again. The idea: values that several operations would have as flonums are
//! tested once, right where they are bound, and what follows is there twice; the paths do not meet before the scope
//! ends. So it is with a variable that is bound to such a tree, or to one operation that several others want to know
//! of, and with the store of a tree.
//!
//! Which values: variables that are operands of generic arithmetic with evidence, as for trees: the other operand is a
//! flonum; or the variable itself may be one and the program stores flonums in objects. Two such operations must gain,
//! or one in a loop. They are tested where a run of bindings ends that only read.
//!
//! Invariants: only the copy for flonums, which keeps its names, is looked through for further values, and code without
//! lambdas up to [`SMALL`] is copied; a form grows by no more than its size and [`GROWTH_FREE`]. Linear but for the
//! sizes, which are looked up at each binding up to [`SMALL`].

use super::lattice::{Type, bits::*};
use super::plans::Wishes;
use super::speculate::{is_inner, is_root};
use super::state::{Phase, Types};
use super::twice::{if_all, on_flonums};
use crate::effects::{self, Effects};
use crate::ir::{Clause, Expr, LabelId, Program, TopForm, VarId};
use crate::prim::{Op, PrimOp};
use crate::walk::{Renaming, copy_fresh, deep, for_each_child_mut, size, size_at_most, take, visit};
use rustc_hash::FxHashSet;

/// Nodes of the largest code that is copied.
const SMALL: usize = 500;
/// Nodes that every form may grow by.
const GROWTH_FREE: usize = 1500;
/// Nodes of the largest operand of a store that is done on two paths.
const SMALL_OPERAND: usize = 16;
/// Operations that must gain from a copy.
const MIN_OPERATIONS: u32 = 2;

impl Types {
    /// Takes down what an arithmetic operation on operands of these types would have.
    pub(super) fn wish(&mut self, op: Op, args: &[Expr], types: &[Type]) {
        use Op::*;
        let arithmetic = matches!(op, Add | Sub | Mul | Div | NumEq | NumLt | NumLe | NumGt | NumGe);
        let ([a, b], [t, u]) = (args, types) else { return };
        if self.phase != Phase::Plan || !arithmetic {
            return;
        }
        for (e, t, other) in [(a, t, u), (b, u, t)] {
            let Expr::Local(v) = e else { continue };
            let guess = (t.hint || !t.may_be(FIXNUM)) && other.may_be(FLONUM);
            if t.may_be(FLONUM) && !t.is_flonum() && (other.is_flonum() || guess) {
                *self.plans.wishes.entry(*v).or_default() += 1;
            }
        }
    }
}

/// Gives flonums a path of their own where `wishes` say that this pays, but not in the loops `versioned`, of which they
/// have one already.
pub(super) fn run(program: &mut Program, forms: &mut [TopForm], wishes: &Wishes, versioned: &FxHashSet<LabelId>) {
    for form in forms {
        let e = form.expr_mut();
        let mut asked = false;
        visit(e, &mut |e| match e {
            Expr::Local(v) => asked |= wishes.contains_key(v),
            Expr::Prim { op, args, .. } => asked |= op.stored_operand().is_some_and(|i| is_choice(&args[i])),
            _ => {}
        });
        if asked {
            let room = size(e) + GROWTH_FREE;
            Paths { program, wishes, versioned, room }.walk(e);
        }
    }
}

struct Paths<'a> {
    program: &'a mut Program,
    wishes: &'a Wishes,
    versioned: &'a FxHashSet<LabelId>,
    /// What the form may still grow by.
    room: usize,
}

impl Paths<'_> {
    fn walk(&mut self, e: &mut Expr) {
        store_in_branches(self.program, e);
        deep(|| match e {
            Expr::Let(..) => self.after_reads(e, Vec::new()),
            Expr::Lambda(l) => l.clauses.iter_mut().for_each(|c| self.clause(c)),
            Expr::Fix(bs, body) => {
                bs.iter_mut().flat_map(|(_, l)| &mut l.clauses).for_each(|c| self.clause(c));
                self.walk(body);
            }
            Expr::Labels(labels, body) => {
                for l in labels {
                    if !self.versioned.contains(&l.id) {
                        self.scope(&mut l.body, &l.params);
                    }
                }
                self.walk(body);
            }
            e => for_each_child_mut(e, &mut |e| self.walk(e)),
        })
    }

    fn clause(&mut self, c: &mut Clause) {
        self.scope(&mut c.body, &c.params);
    }

    /// The scope of parameters.
    fn scope(&mut self, body: &mut Expr, params: &[VarId]) {
        let wanted = self.wanted(params.iter().copied());
        self.after_reads(body, wanted);
    }

    fn wanted(&self, vars: impl Iterator<Item = VarId>) -> Vec<VarId> {
        vars.filter(|v| self.wishes.contains_key(v)).collect()
    }

    /// Walks `e`, in front of which these variables have been bound, and tests them after the bindings it begins with
    /// that only read.
    fn after_reads(&mut self, e: &mut Expr, mut wanted: Vec<VarId>) {
        deep(|| {
            if wanted.is_empty() && self.goes_on_in_branches(e) {
                return;
            }
            if let Expr::Let(bs, body) = e
                && (bs.iter().all(|(_, e)| only_reads(e)) || wanted.is_empty())
            {
                bs.iter_mut().for_each(|(_, e)| self.walk(e));
                wanted.extend(self.wanted(bs.iter().map(|b| b.0)));
                return self.after_reads(body, wanted);
            }
            if !self.gains(&wanted, e) || !self.may_copy(e) {
                if self.goes_on_in_branches(e) {
                    return;
                }
                return match e {
                    Expr::Let(bs, body) => {
                        bs.iter_mut().for_each(|(_, e)| self.walk(e));
                        let wanted = self.wanted(bs.iter().map(|b| b.0));
                        self.after_reads(body, wanted)
                    }
                    e => self.walk(e),
                };
            }
            self.room -= size(e);
            let other = copy_fresh(self.program, e, &mut Renaming::default());
            self.walk(e);
            *e = if_all(wanted.into_iter().map(|v| (v, Op::IsFlonum)), take(e), other);
        })
    }

    /// Do enough operations gain when these variables are flonums in their scope? One in a loop is done often.
    fn gains(&self, wanted: &[VarId], scope: &Expr) -> bool {
        let gain: u32 = wanted.iter().map(|v| self.wishes[v]).sum();
        gain >= MIN_OPERATIONS || gain > 0 && size_at_most(scope, SMALL) && used_in_loop(scope, wanted)
    }

    /// A variable that is bound to a choice between two paths: its scope goes on in both.
    fn goes_on_in_branches(&mut self, e: &mut Expr) -> bool {
        let Expr::Let(bs, body) = &mut *e else { return false };
        let [(v, value)] = &mut bs[..] else { return false };
        let Some(wishes) = self.wishes.get(v) else { return false };
        let single = *wishes >= MIN_OPERATIONS && is_single(value);
        if !(single || is_choice(value)) || !self.may_copy(body) {
            return false;
        }
        if single {
            on_flonums(self.program, value);
        }
        self.room -= size(body);
        let v = *v;
        let mut names = Renaming::default();
        let other = names.bind(self.program, v);
        let slow = copy_fresh(self.program, body, &mut names);
        self.after_reads(body, Vec::new());
        let mut scopes = [(other, slow), (v, take(body))];
        let mut left = scopes.iter_mut().rev();
        *e = in_branches(take(value), &mut |value| {
            let (v, body) = left.next().expect("there are two branches");
            Expr::Let(vec![(*v, value)], Box::new(take(body)))
        });
        true
    }

    fn may_copy(&self, e: &Expr) -> bool {
        let mut lambdas = false;
        size_at_most(e, SMALL.min(self.room)) && {
            visit(e, &mut |e| lambdas |= matches!(e, Expr::Lambda(_) | Expr::Fix(..)));
            !lambdas
        }
    }
}

/// Where what is stored is a choice between two paths ([`super::speculate`]), the store is done on each: a double,
/// then, needs no barrier.
///
/// ```text
/// (%vector-set! v (%+ i n) (let ((a …)) (if (%flonum? a) x y)))
/// ⟶ (let ((operand (%+ i n)))
///      (let ((a …)) (if (%flonum? a) (%vector-set! v operand x) (%vector-set! v operand y))))
/// ```
fn store_in_branches(program: &mut Program, e: &mut Expr) {
    let Expr::Prim { op, args, .. } = e else { return };
    let Some(stored) = op.stored_operand() else { return };
    // the value is computed last
    if stored + 1 != args.len() || !is_choice(&args[stored]) {
        return;
    }
    // operands that fail, or that are large, are evaluated where they are, and have names
    let fails = |a: &Expr| effects::of(a, &effects::unknown_global).meets(Effects::FAIL);
    let computes = binds_computations(&args[stored]);
    let movable = |a: &Expr| computes && only_reads(a) && size_at_most(a, SMALL_OPERAND) && !fails(a);
    let mut bindings = Vec::new();
    if let Some(last) =
        args[..stored].iter().rposition(|a| !matches!(a, Expr::Local(_) | Expr::Const(_)) && !movable(a))
    {
        for (i, a) in args[..=last].iter_mut().enumerate() {
            let is_type = i == 1 && matches!(op, PrimOp::Op(o) if o.asks_type());
            if !is_type && !matches!(a, Expr::Local(_) | Expr::Const(_)) {
                let name = program.fresh_var("operand");
                bindings.push((name, std::mem::replace(a, Expr::Local(name))));
            }
        }
    }
    let choice = take(&mut args[stored]);
    let store = take(e);
    *e = in_branches(choice, &mut |value| {
        let mut store = store.clone();
        if let Expr::Prim { args, .. } = &mut store {
            args[stored] = value;
        }
        store
    });
    for (name, operand) in bindings.into_iter().rev() {
        *e = Expr::Let(vec![(name, operand)], Box::new(take(e)));
    }
}

/// Bindings, then a test of variables?
fn is_choice(e: &Expr) -> bool {
    match e {
        Expr::Let(_, body) => is_choice(body),
        Expr::If(test, ..) => is_flonum_test(test),
        _ => false,
    }
}

/// Do the bindings in front of the choice only read and compute?
fn binds_computations(e: &Expr) -> bool {
    match e {
        Expr::Let(bs, body) => bs.iter().all(|(_, e)| only_computes(e)) && binds_computations(body),
        _ => true,
    }
}

/// Is one of these an operand in a loop?
fn used_in_loop(e: &Expr, vars: &[VarId]) -> bool {
    let mut used = false;
    visit(e, &mut |e| {
        let Expr::Labels(labels, _) = e else { return };
        for l in labels {
            let (mut turns, mut operand) = (false, false);
            visit(&l.body, &mut |e| match e {
                Expr::Jump(to, _) => turns |= *to == l.id,
                Expr::Prim { op, args, .. } if is_root(*op) || is_inner(*op) => {
                    operand |= args.iter().any(|a| matches!(a, Expr::Local(v) if vars.contains(v)));
                }
                _ => {}
            });
            used |= turns && operand;
        }
    });
    used
}

/// One generic operation on what is only read?
fn is_single(e: &Expr) -> bool {
    let Expr::Prim { op: PrimOp::Op(Op::Add | Op::Sub | Op::Mul), args, .. } = e else { return false };
    args.iter().all(only_reads) && args.iter().any(|a| !matches!(a, Expr::Const(_)))
}

fn only_computes(e: &Expr) -> bool {
    match e {
        Expr::Prim { op, args, .. } if is_inner(*op) => args.iter().all(only_computes),
        e => only_reads(e),
    }
}

fn is_flonum_test(e: &Expr) -> bool {
    match e {
        Expr::Prim { op: PrimOp::Op(Op::IsFlonum), .. } | Expr::Const(_) => true,
        Expr::If(a, b, c) => is_flonum_test(a) && is_flonum_test(b) && is_flonum_test(c),
        _ => false,
    }
}

fn in_branches(e: Expr, store: &mut impl FnMut(Expr) -> Expr) -> Expr {
    match e {
        Expr::Let(bs, body) => Expr::Let(bs, Box::new(in_branches(*body, store))),
        Expr::If(test, then, other) => Expr::If(test, Box::new(store(*then)), Box::new(store(*other))),
        e => store(e),
    }
}

/// Nothing but reads, as leaves of trees are?
fn only_reads(e: &Expr) -> bool {
    match e {
        Expr::Local(_) | Expr::Const(_) | Expr::Global(..) => true,
        Expr::If(test, leaf, other) => {
            is_flonum_test(test) && only_reads(leaf) && matches!(**other, Expr::Const(_))
        }
        Expr::Prim { op: PrimOp::Op(o), args, .. } => {
            use Op::*;
            let integers = matches!(o, FxAdd | FxSub | FxMul);
            let read = matches!(o, VectorRef | RecordRef | RecordFlRef | Car | Cdr | Unbox);
            (read || integers) && args.iter().all(only_reads)
        }
        _ => false,
    }
}
