//! What each way of allocating inline does.

use crate::emit::builder::{Builder, ins};
use crate::emit::ir_text::{Mem, Val};
use cairn_layout::collector::prefix;
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

/// The address of an object whose memory, with room for a prefix, begins at `at`; writes the prefix.
pub(super) fn after_prefix(b: &mut Builder, at: Val, kind: AllocKind, bytes: u64) -> Val {
    match b.collector.prefix_bytes(kind) {
        0 => at,
        n => {
            b.store_word(&at, 0, &Val::word(prefix(kind, bytes)), Mem::Header);
            ins!(b, "add i64 {at}, {n}")
        }
    }
}
