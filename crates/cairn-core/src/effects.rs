//! What evaluating an expression may do besides giving a value.
//!
//! The problem: a pass that removes, moves or duplicates an expression must know whether anyone could notice. The idea:
//! one walk sums up the effects in a small set ([`Effects`]); the questions passes ask are predicates on the set.
//!
//! A global read can fail unless the facts of `passes::known` say that the variable is bound whenever it is read; so
//! questions take a function `globals` that gives the effects of reading a global ([`unknown_global`] knows nothing;
//! `GlobalFacts::read_effects` does).
//!
//! Loops (`Labels` entered again by a jump from their own body) may not terminate and so are never discardable.

use crate::ir::{Expr, GlobalId};
use crate::prim::{Effect, PrimOp};
use crate::walk;

/// A set of effects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effects(u8);

impl Effects {
    /// Nothing at all.
    pub const NONE: Effects = Effects(0);
    /// Allocates a mutable object: evaluating twice makes two.
    pub const ALLOC: Effects = Effects(1);
    /// Reads mutable memory.
    pub const READ: Effects = Effects(2);
    /// May raise.
    pub const FAIL: Effects = Effects(4);
    /// Writes memory, does input or output, calls unknown code, captures or leaves the continuation, may not terminate.
    pub const WRITE: Effects = Effects(8);

    /// Union.
    pub const fn and(self, other: Effects) -> Effects {
        Effects(self.0 | other.0)
    }
    /// Is every effect of `self` in `other`?
    pub const fn within(self, other: Effects) -> bool {
        self.0 & !other.0 == 0
    }
    /// Has some effect in common with `other`?
    pub const fn meets(self, other: Effects) -> bool {
        self.0 & other.0 != 0
    }
    /// May two expressions with these effects change places?
    pub const fn commutes(self, other: Effects) -> bool {
        let writes = self.meets(Effects::WRITE) || other.meets(Effects::WRITE);
        let both_fail = self.meets(Effects::FAIL) && other.meets(Effects::FAIL);
        self.0 == 0 || other.0 == 0 || !writes && !both_fail
    }
}

/// The effects of reading a global about which nothing is known.
pub fn unknown_global(_: GlobalId) -> Effects {
    Effects::READ.and(Effects::FAIL)
}

/// The effects of a primitive itself, without its operands'.
pub fn of_prim(op: PrimOp, proven: u8) -> Effects {
    let effect = match op.effect() {
        Effect::Pure => Effects::NONE,
        Effect::Alloc => Effects::ALLOC,
        Effect::Read => Effects::READ,
        Effect::Write => Effects::WRITE,
    };
    if op.can_fail(proven) { effect.and(Effects::FAIL) } else { effect }
}

/// The effects of the node itself, without its children's. Lambda bodies are not children in this sense.
fn of_node(e: &Expr, globals: &dyn Fn(GlobalId) -> Effects) -> Effects {
    match e {
        Expr::Const(_) | Expr::Local(_) | Expr::If(..) | Expr::Seq(_) | Expr::Let(..) | Expr::Values(_) => {
            Effects::NONE
        }
        Expr::Fix(..) | Expr::Lambda(_) => Effects::NONE,
        Expr::Global(g, _) => globals(*g),
        Expr::SetLocal(..) => Effects::WRITE,
        Expr::SetGlobal(..) => Effects::WRITE.and(Effects::FAIL),
        Expr::Letrec(..) => Effects::FAIL,
        Expr::Call(..) | Expr::Apply(..) | Expr::CallCc(..) => Effects::WRITE.and(Effects::FAIL),
        Expr::Prim { op, proven, .. } => of_prim(*op, *proven),
        Expr::Receive { .. } => Effects::FAIL,
        Expr::Labels(ls, _) => {
            if ls.iter().any(|l| has_jump(&l.body, ls)) {
                Effects::WRITE
            } else {
                Effects::NONE
            }
        }
        // leaving the expression: effects of a jump inside its own `Labels` are those of the label's body, counted
        // there
        Expr::Jump(..) => Effects::NONE,
    }
}

fn has_jump(body: &Expr, labels: &[crate::ir::Label]) -> bool {
    let mut found = false;
    walk::visit_now(body, &mut |e| {
        if let Expr::Jump(l, _) = e {
            found |= labels.iter().any(|x| x.id == *l);
        }
    });
    found
}

/// All effects of evaluating `e`. Jumps out of `e` are not counted.
pub fn of(e: &Expr, globals: &dyn Fn(GlobalId) -> Effects) -> Effects {
    let mut all = Effects::NONE;
    walk::visit_now(e, &mut |e| all = all.and(of_node(e, globals)));
    all
}

/// Has `e` a jump to a label bound outside it? Such an expression must stay in tail position.
pub fn jumps_out(e: &Expr) -> bool {
    let mut bound = Vec::new();
    let mut jumps = Vec::new();
    walk::visit_now(e, &mut |e| match e {
        Expr::Labels(ls, _) => bound.extend(ls.iter().map(|l| l.id)),
        Expr::Jump(l, _) => jumps.push(*l),
        _ => {}
    });
    jumps.iter().any(|j| !bound.contains(j))
}

const REMOVABLE: Effects = Effects::ALLOC.and(Effects::READ);

/// May `e` be removed when its value is not needed?
pub fn discardable(e: &Expr, globals: &dyn Fn(GlobalId) -> Effects) -> bool {
    of(e, globals).within(REMOVABLE) && !jumps_out(e)
}

/// Does `e` always give the same value, with no effect and without failing? It may be moved anywhere its variables are
/// in scope, and evaluated once or twice.
pub fn pure(e: &Expr, globals: &dyn Fn(GlobalId) -> Effects) -> bool {
    of(e, globals).within(Effects::NONE) && !jumps_out(e)
}
