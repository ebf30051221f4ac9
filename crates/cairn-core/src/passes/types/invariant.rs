//! Doubles that loops do not change are decoded before them.
//!
//! ```text
//! (labels ((L (i) (if (%fx=:3 i n) r (seq (%vector-set! v i (%fl*:3 k (%fl…))) (jump L (%fx+:3 i 1))))))
//!   (jump L 0))
//! ```
//! becomes, where `k` is known to be a flonum,
//! ```text
//! (let ((double (%fl*:3 k 1.0)))
//!   (labels ((L (i) (if (%fx=:3 i n) r (seq (%vector-set! v i (%fl*:3 double (%fl…))) (jump L (%fx+:3 i 1))))))
//!     (jump L 0)))
//! ```
//!
//! The problem: a flonum from outside of a loop, a parameter or what came out of an object, is a value word that may
//! move when a collection runs in the loop, so LLVM cannot take its decoding out of the loop. The idea: do it here, in
//! front of the outermost loop that has the flonum as an operand. Multiplying by one is the conversion, as in
//! [`super::unbox`]; the variable has no other uses, so it stays a double (`cairn_frame::reps`).
//!
//! Which loops: those without calls and lambdas, across which no double stays in a register. What is known to be a
//! flonum: variables of that type; variables that a test around the loop has shown to be one; flonum operations'
//! results, which are doubles already and left alone.
//!
//! Invariants: it comes after all else of [`super`]: a copy of a loop has its own tests around it. A variable is
//! replaced only where it is an operand that must be a flonum. Complexity: nodes × depth of loops.

use super::env::Env;
use crate::ir::{Expr, LabelId, Literal, Program, TopForm, VarId};
use crate::prim::{Kind, Op, PrimOp};
use crate::walk::{deep, for_each_binder, for_each_child_mut, rewrite, size_at_most, take, visit};
use cairn_layout::code::Site;
use cairn_num::Number;
use rustc_hash::{FxHashMap, FxHashSet};

/// Larger loops are left alone, with what comes after them.
const LIMIT: usize = 4000;
/// More doubles than so many would not stay in registers.
const MAX_DOUBLES: usize = 8;

/// Decodes flonums in front of the loops that have them as operands.
pub(super) fn run(program: &mut Program, forms: &mut [TopForm], env: &Env) {
    for form in forms {
        Invariant { program, env, tested: FxHashSet::default() }.walk(form.expr_mut());
    }
}

struct Invariant<'a> {
    program: &'a mut Program,
    env: &'a Env,
    /// Variables that a test has shown to be flonums.
    tested: FxHashSet<VarId>,
}

impl Invariant<'_> {
    fn walk(&mut self, e: &mut Expr) {
        deep(|| match e {
            Expr::If(test, then, other) => {
                self.walk(test);
                let tested = flonum_test(test).filter(|v| self.tested.insert(*v));
                self.walk(then);
                if let Some(v) = tested {
                    self.tested.remove(&v);
                }
                self.walk(other);
            }
            Expr::Labels(..) => {
                self.decode_before(e);
                for_each_child_mut(e, &mut |e| self.walk(e));
            }
            e => for_each_child_mut(e, &mut |e| self.walk(e)),
        })
    }

    /// Decodes in front of `e`, labels, what a loop among them has as doubles.
    fn decode_before(&mut self, e: &mut Expr) {
        let Expr::Labels(labels, _) = &*e else { return };
        let [l] = &labels[..] else { return };
        if !size_at_most(&l.body, LIMIT) || !is_plain_loop(&l.body, l.id) {
            return;
        }
        let mut inside: FxHashSet<VarId> = l.params.iter().copied().collect();
        visit(&l.body, &mut |e| for_each_binder(e, &mut |v| _ = inside.insert(v)));
        let mut doubles: Vec<VarId> = Vec::new();
        visit(&l.body, &mut |e| {
            operands(e, |v| {
                let known = self.tested.contains(&v) || self.env.knows(v).is_flonum();
                if known && !inside.contains(&v) && !doubles.contains(&v) {
                    doubles.push(v);
                }
            })
        });
        doubles.truncate(MAX_DOUBLES);
        if doubles.is_empty() {
            return;
        }
        let names: FxHashMap<VarId, VarId> =
            doubles.iter().map(|v| (*v, self.program.fresh_var("double"))).collect();
        let Expr::Labels(labels, _) = &mut *e else { return };
        rewrite(&mut labels[0].body, &mut |e| {
            let Expr::Prim { op, args, .. } = e else { return };
            for (i, a) in args.iter_mut().enumerate() {
                if let Expr::Local(v) = a
                    && is_double_operand(*op, i)
                    && let Some(name) = names.get(v)
                {
                    *v = *name;
                }
            }
        });
        let decoded = doubles.iter().map(|v| {
            let args = vec![Expr::Local(*v), Expr::Const(Literal::Number(Number::Flo(1.0)))];
            (names[v], Expr::Prim { op: PrimOp::Op(Op::FlMul), args, site: Site::NONE, proven: 3 })
        });
        *e = Expr::Let(decoded.collect(), Box::new(take(e)));
    }
}

/// Does the body jump to its own beginning, and call nothing?
fn is_plain_loop(body: &Expr, id: LabelId) -> bool {
    let (mut turns, mut plain) = (false, true);
    visit(body, &mut |e| match e {
        Expr::Jump(to, _) => turns |= *to == id,
        Expr::Call(..) | Expr::Apply(..) | Expr::CallCc(..) | Expr::Receive { .. } => plain = false,
        Expr::Lambda(_) | Expr::Fix(..) | Expr::Letrec(..) => plain = false,
        _ => {}
    });
    turns && plain
}

/// Calls `f` on the variables that the operation has as doubles.
fn operands(e: &Expr, mut f: impl FnMut(VarId)) {
    let Expr::Prim { op, args, .. } = e else { return };
    for (i, a) in args.iter().enumerate() {
        if let Expr::Local(v) = a
            && is_double_operand(*op, i)
        {
            f(*v);
        }
    }
}

fn is_double_operand(op: PrimOp, i: usize) -> bool {
    use Op::*;
    let PrimOp::Op(o) = op else { return false };
    let arithmetic = matches!(o, FlAdd | FlSub | FlMul | FlDiv | FlSqrt | FlAbs | FlEq | FlLt | FlLe);
    arithmetic && op.arg_kind(i) == Kind::Flonum
}

/// The variable that the test finds to be a flonum.
fn flonum_test(e: &Expr) -> Option<VarId> {
    match e {
        Expr::Prim { op: PrimOp::Op(Op::IsFlonum), args, .. } => match args[..] {
            [Expr::Local(v)] => Some(v),
            _ => None,
        },
        _ => None,
    }
}
