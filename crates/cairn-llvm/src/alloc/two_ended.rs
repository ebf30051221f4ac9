//! Bump allocation from both ends of an extent.
//!
//! ```text
//!        lo ──▶ pairs                     other objects ◀── hi
//!  ┌─────┬────────────────────────────────────────────────┬─────┐
//!  │ … p │                     free                       │ o … │
//!  └─────┴────────────────────────────────────────────────┴─────┘
//! ```
//!
//! `hi - lo >= bytes` is the one check for both. Pairs lie apart, so that a collector finds their starts by arithmetic.

use super::allocator::{Allocator, after_prefix};
use crate::emit::builder::{Builder, ins};
use crate::emit::ir_text::Val;
use cairn_layout::object::AllocKind;

pub(super) struct TwoEnded;

impl Allocator for TwoEnded {
    fn take(&self, b: &mut Builder, kind: AllocKind, bytes: u64) -> Val {
        let whole = bytes + b.collector.prefix_bytes(kind);
        let at = if kind == AllocKind::Pair {
            let at = b.lo();
            let lo = ins!(b, "add i64 {at}, {whole}");
            b.set_lo(&lo);
            at
        } else {
            let hi = b.hi();
            let at = ins!(b, "sub i64 {hi}, {whole}");
            b.set_hi(&at);
            at
        };
        after_prefix(b, at, kind, bytes)
    }

    fn checked(&self, _: &mut Builder, _: u64) {}

    fn keeps_state_in_memory(&self) -> bool {
        false
    }
}
