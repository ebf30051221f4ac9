//! The collectors.
//!
//! A collector composes spaces into an algorithm. It implements [`plan::Plan`], publishes its facts
//! (`cairn_layout::facts`) for code generation, and asks the language runtime for roots ([`crate::client`]).
//!
//! Adding a collector: its facts in `cairn_layout::collector`; a folder `gc/NAME/` with its plan and, beside it, its
//! [`Constraints`], which must agree with the facts or nothing compiles; in this file its `mod`, its constraints in
//! [`ALL`], a variant of [`Selected`] and an arm where that is matched. Nothing else names a collector.

pub mod bdw;
mod budget;
pub mod driver;
pub mod r#gen;
pub mod marksweep;
pub mod mcc;
pub mod plan;

use crate::address::Span;
use crate::config::HeapConfig;
use crate::error::HeapError;
use crate::model::ObjectModel;
use crate::state::Core;
use bdw::Bdw;
use cairn_layout::collector::{self, COLLECTORS, CollectorFacts};
use r#gen::Gen;
use marksweep::MarkSweep;
use mcc::Mcc;
use plan::{Constraints, Plan};

/// Those of all collectors, in the order of `cairn_layout::facts::COLLECTORS`.
pub(crate) const ALL: &[&Constraints] =
    &[&r#gen::CONSTRAINTS, &mcc::CONSTRAINTS, &marksweep::CONSTRAINTS, &bdw::CONSTRAINTS];

const _: () = {
    assert!(ALL.len() == COLLECTORS.len(), "every collector that has facts can be chosen");
    let mut i = 0;
    while i < ALL.len() {
        ALL[i].check();
        i += 1;
    }
};

/// The collectors that a heap can be made with.
// A heap has one of them, and asks it often. So none is in a box, which would be one more load, and a byte of its own
// says which it is: found in a field of one of the plans, that would have to be decoded each time.
#[allow(clippy::large_enum_variant)]
#[repr(u8)]
pub(crate) enum Selected {
    Gen(Gen),
    Mcc(Mcc),
    MarkSweep(MarkSweep),
    Bdw(Bdw),
}

impl Selected {
    /// The collector that publishes these facts, one of [`ALL`].
    pub fn new<M: ObjectModel>(
        facts: &CollectorFacts,
        core: &mut Core,
        young: Span,
        config: &HeapConfig,
    ) -> Result<Selected, HeapError> {
        Ok(match facts.name {
            name if name == collector::GEN.name => Selected::Gen(Plan::new::<M>(core, young, config)?),
            name if name == collector::MCC.name => Selected::Mcc(Plan::new::<M>(core, young, config)?),
            name if name == collector::MARKSWEEP.name => Selected::MarkSweep(Plan::new::<M>(core, young, config)?),
            name if name == collector::BDW.name => Selected::Bdw(Plan::new::<M>(core, young, config)?),
            name => unreachable!("`{name}` has constraints, but no plan"),
        })
    }
}

/// Does something with the selected collector: `with_plan!(&mut self.selected, plan => …)`.
macro_rules! with_plan {
    ($selected:expr, $plan:ident => $body:expr) => {
        match $selected {
            $crate::gc::Selected::Gen($plan) => $body,
            $crate::gc::Selected::Mcc($plan) => $body,
            $crate::gc::Selected::MarkSweep($plan) => $body,
            $crate::gc::Selected::Bdw($plan) => $body,
        }
    };
}
pub(crate) use with_plan;
