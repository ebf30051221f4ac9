//! How compiled code gets memory for objects, and what it does at stores: one implementation per way of allocating,
//! chosen by the facts that the collector publishes (`cairn_layout::collector`).
//!
//! Nothing else in this crate knows which way it is. A heap check of compiled code has covered every object that is
//! made here, and is the only safepoint: nothing here collects. A new way is a new file, and a variant of `Allocation`.

mod barrier;
mod by_call;
mod free_lists;
mod two_ended;

pub(crate) use barrier::after_store;

use crate::emit::builder::{Builder, ins};
use crate::emit::ir_text::{Mem, Val};
use cairn_layout::collector::{Allocation, CollectorFacts, prefix};
use cairn_layout::object::AllocKind;

/// Inline allocation.
pub(crate) trait Allocator {
    /// Memory for an object of `bytes` bytes: its address, a word. The prefix is written if there is one; nothing else
    /// is.
    fn take(&self, b: &mut Builder, kind: AllocKind, bytes: u64) -> Val;

    /// Comes after a heap check that has found `bytes` bytes.
    fn checked(&self, b: &mut Builder, bytes: u64);

    /// Does compiled code read from memory what is free, so that other allocation in between changes what it reads?
    fn keeps_state_in_memory(&self) -> bool;
}

/// The implementation for a collector.
pub(crate) fn for_facts(facts: &CollectorFacts) -> &'static dyn Allocator {
    match facts.allocation {
        Allocation::TwoEnded => &two_ended::TwoEnded,
        Allocation::FreeLists { .. } => &free_lists::FreeLists,
        Allocation::Call => &by_call::ByCall,
    }
}

/// The address of an object whose memory, with room for a prefix, begins at `at`; writes the prefix.
fn after_prefix(b: &mut Builder, at: Val, kind: AllocKind, bytes: u64) -> Val {
    match b.collector.prefix_bytes(kind) {
        0 => at,
        n => {
            b.store_word(&at, 0, &Val::word(prefix(kind, bytes)), Mem::Header);
            ins!(b, "add i64 {at}, {n}")
        }
    }
}
