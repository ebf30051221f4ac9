//! The rounds.
//!
//! ```text
//!  walks until       the last walk:        copies of code:            walks, and a        bounds, invariant,
//!  nothing grows ──▶ rewrites, plans ──▶ peel, version, paths ──▶ last one: rewrites ──▶ records.make_raw
//!        ▲                  │                                                                    ▲
//!        └── vectors        └──────────────── no plan needs another round ───────────────────────┘
//!            made raw
//! ```
//!
//! Copies of code come between the rounds, since each makes facts that hold in the copy only: the second round finds
//! them. What comes after it needs the facts that it found, and no further walk.

use super::env::Env;
use super::held::Facts;
use super::state::{Phase, Types};
use super::{bounds, fields, invariant, paths, peel, vectors, version};
use crate::ir::{Program, TopForm};
use crate::passes::known;

pub(super) fn run(program: &mut Program) {
    fields::run(program);
    vectors::name_objects(program);
    let facts = known::analyze(program);
    let mut forms = std::mem::take(&mut program.forms);
    let mut types = Types::new(program, facts, &forms);
    types.find(&mut forms);
    if types.slots.vectors.make_raw(&mut forms) {
        types = Types::new(program, types.facts, &forms);
    }
    let mut forms = types.round(forms, Phase::Plan);
    program.vars.append(&mut types.plans.fresh);
    let mut records = std::mem::take(&mut types.slots.records);
    let mut env = std::mem::replace(&mut types.env, Env::new(0, Facts::default()));
    if !types.plans.peels.is_empty() {
        peel::run(program, &mut forms, &types.plans.peels);
    }
    types.plans.versions.fit(program, &forms);
    if !types.plans.versions.is_empty() {
        version::run(program, &mut forms, &types.plans.versions, &mut types.plans.wishes);
    }
    types.plans.another_round |= !types.plans.wishes.is_empty();
    if types.plans.another_round {
        paths::run(program, &mut forms, &types.plans.wishes, &types.plans.versions.labels());
    }
    if types.plans.another_round {
        // the fast paths of speculated trees still have generic operations; parameters are split in code without dead
        // branches
        let mut types = Types::new(program, types.facts, &forms);
        forms = types.round(forms, Phase::Finish);
        program.vars.append(&mut types.plans.fresh);
        (records, env) = (types.slots.records, types.env);
    }
    bounds::run(program, &mut forms, &env);
    invariant::run(program, &mut forms, &env);
    records.make_raw(program, &mut forms);
    program.forms = forms;
}

impl Types {
    /// Walks until nothing grows.
    pub(super) fn find(&mut self, forms: &mut [TopForm]) {
        while let Some(i) = self.forms.next() {
            self.form(i, &mut forms[i]);
        }
    }

    /// Walks until nothing grows, then once more to rewrite.
    fn round(&mut self, mut forms: Vec<TopForm>, last: Phase) -> Vec<TopForm> {
        self.find(&mut forms);
        self.phase = last;
        for (i, form) in forms.iter_mut().enumerate() {
            self.form(i, form);
            self.drop_whole_jumps(form.expr_mut());
        }
        debug_assert!(self.forms.all_walked(), "the last walk found something new");
        forms
    }
}
