//! The collectors.
//!
//! A collector composes spaces into an algorithm. It implements [`plan::Plan`], publishes its facts
//! (`cairn_layout::facts`) for code generation, and asks the language runtime for roots ([`crate::client`]).
//!
//! Adding a collector: its facts in `cairn_layout::collector`; a folder `gc/NAME/` with its plan and, beside it, its
//! [`Constraints`], which must agree with the facts or nothing compiles; a variant in `heap::Selected` with two lines
//! there.

pub mod bdw;
mod budget;
pub mod r#gen;
pub mod marksweep;
pub mod mcc;
pub mod plan;

use cairn_layout::collector::COLLECTORS;
use plan::Constraints;

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
