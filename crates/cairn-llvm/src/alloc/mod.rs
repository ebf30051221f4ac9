//! How compiled code gets memory for objects, and what it does at stores: one implementation per way of allocating,
//! chosen by the facts that the collector publishes (`cairn_layout::collector`).
//!
//! Nothing else in this crate knows which way it is. A heap check of compiled code has covered every object that is
//! made here, and is the only safepoint: nothing here collects. A new way is a new file, and a variant of `Allocation`.

mod allocator;
mod barrier;
mod by_call;
mod free_lists;
mod two_ended;

pub(crate) use barrier::after_store;

use allocator::Allocator;
use cairn_layout::collector::{Allocation, CollectorFacts};

/// The implementation for a collector.
pub(crate) fn for_facts(facts: &CollectorFacts) -> &'static dyn Allocator {
    match facts.allocation {
        Allocation::TwoEnded => &two_ended::TwoEnded,
        Allocation::FreeLists { .. } => &free_lists::FreeLists,
        Allocation::Call => &by_call::ByCall,
    }
}
