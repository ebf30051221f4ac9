//! The state of a round, which all rules share.
//!
//! Each rule is an `impl Types` in a file of its own. They call each other as the walk goes down the tree, so together
//! they are one recursion, `Types::expr` its centre ([`super::order`]); but a file names only what is below it: this
//! state, and what the state is made of.

use super::agenda::Forms;
use super::env::Env;
use super::held::Facts;
use super::lattice::Type;
use super::plans::Plans;
use super::slots::Slots;
use super::targets::{ProcedureId, Procedures, Target};
use crate::effects;
use crate::ir::{Expr, LabelId, Program, TopForm, VarId, VarInfo};
use crate::passes::known::{GlobalFacts, Known};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What a walk is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// To find out: walks until nothing grows, nothing is changed.
    Find,
    /// The last walk of the first round: rewrites, speculates, and plans copies of code.
    Plan,
    /// The last walk of the last round: rewrites.
    Finish,
}

impl Phase {
    pub(super) fn rewrites(self) -> bool {
        self != Phase::Find
    }
}

/// Who gets the values of what is walked.
#[derive(Clone)]
pub(super) enum Receiver {
    /// The calls of a procedure.
    Callers(ProcedureId),
    /// The parameters of a `receive`.
    Parameters(Rc<[VarId]>),
}

/// State of a round.
pub(super) struct Types {
    pub(super) facts: GlobalFacts,
    pub(super) phase: Phase,
    pub(super) env: Env,
    pub(super) slots: Slots,
    pub(super) procedures: Procedures,
    pub(super) labels: FxHashMap<LabelId, Target>,
    pub(super) forms: Forms,
    pub(super) plans: Plans,
    /// The expression being walked is an operand inside an arithmetic tree.
    pub(super) inside_tree: bool,
    /// The operation being walked is an operand that is stored.
    pub(super) stored: bool,
    /// Who gets the values of the expression being walked, if that is in tail position there.
    pub(super) receiver: Option<Receiver>,
}

impl Types {
    /// Nothing is known; all forms but definitions of procedures are to be walked.
    pub(super) fn new(program: &Program, facts: GlobalFacts, forms: &[TopForm]) -> Types {
        let (vars, globals) = (program.vars.len(), program.globals.len());
        let held = Facts::of(program);
        let slots = Slots::new(program, &facts, forms, held.clone());
        let mut t = Types {
            facts,
            phase: Phase::Find,
            env: Env::new(vars, held),
            slots,
            procedures: Procedures::new(vars, globals),
            labels: FxHashMap::default(),
            forms: Forms::new(forms.len()),
            plans: Plans::default(),
            inside_tree: false,
            stored: false,
            receiver: None,
        };
        for (i, form) in forms.iter().enumerate() {
            if let TopForm::Define(g, Expr::Lambda(l)) = form
                && let Known::Lambda { .. } = &t.facts.get(*g).value
            {
                t.procedures.define(*g, l, i);
            } else {
                t.forms.enqueue(i);
            }
        }
        t
    }

    /// A variable for an intermediate result.
    pub(super) fn fresh(&mut self) -> VarId {
        self.plans.fresh.push(VarInfo::new("leaf"));
        self.env.add()
    }

    /// Does some jump to the label come from its own body?
    pub(super) fn is_loop(&self, l: LabelId) -> bool {
        self.labels.get(&l).is_some_and(|t| t.looping)
    }

    /// Types of the arguments of jumps to the label from its own body, in the last walk.
    pub(super) fn inner_types(&self, l: LabelId) -> Option<&[Type]> {
        self.labels.get(&l).map(|t| &t.inner[..]).filter(|t| !t.is_empty())
    }

    /// May the expression be left out when nobody wants its value?
    pub(super) fn discardable(&self, e: &Expr) -> bool {
        effects::discardable(e, &|g| self.facts.read_effects(g))
    }
}
