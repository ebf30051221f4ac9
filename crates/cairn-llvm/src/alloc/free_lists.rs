//! Cells popped from free lists.
//!
//! ```text
//!  Machine::free[list] ──▶ │ link │ … │ ──▶ │ link │ … │ ──▶ 0
//! ```
//!
//! An empty list is refilled by the runtime, which never collects: what may be allocated until the next collection is
//! the budget `hi - lo`, spent by heap checks.
//!
//! Two things would hand out a cell twice. The link is a word of what becomes an object of any kind, so its load has no
//! alias class: LLVM may not move the object's first stores above it. And runtime calls take cells from the same lists:
//! no call that allocates may be declared to leave memory alone ([`Allocator::keeps_state_in_memory`]).

use super::allocator::{Allocator, after_prefix};
use super::by_call;
use crate::emit::builder::{Builder, ins};
use crate::emit::ir_text::{Odds, Val};
use cairn_layout::machine::Machine;
use cairn_layout::object::AllocKind;
use cairn_layout::value::Value as Word;
use std::mem::offset_of;

pub(super) struct FreeLists;

impl Allocator for FreeLists {
    fn take(&self, b: &mut Builder, kind: AllocKind, bytes: u64) -> Val {
        let whole = bytes + b.collector.prefix_bytes(kind);
        let Some(list) = b.collector.free_list(kind, whole) else { return by_call::take(b, kind, bytes) };
        let head = offset_of!(Machine, free) + 8 * list.0 as usize;
        let first = b.load_machine(head);
        let none = ins!(b, "icmp eq i64 {first}, 0");
        let (refill, go, here) = (b.fresh(), b.fresh(), b.here());
        b.branch(&none, &refill, &go, Odds::Unlikely);
        let refilled = b.out_of_line(&refill, |b| {
            let sp = b.sp();
            let cell = b.cold_call("cairn_machine_cells", &sp, &[Val::word(Word::fixnum(list.0.into()).0)]);
            b.goto(&go);
            (cell, b.here())
        });
        b.start(&go);
        let at = b.phi("i64", &[(first, here), refilled]);
        let cell = b.address(&at, 0);
        let link = ins!(b, "load i64, ptr {cell}");
        b.store_machine(head, &link);
        after_prefix(b, at, kind, bytes)
    }

    fn checked(&self, b: &mut Builder, bytes: u64) {
        if bytes > 0 {
            let hi = b.hi();
            let left = ins!(b, "sub i64 {hi}, {bytes}");
            b.set_hi(&left);
        }
    }

    fn keeps_state_in_memory(&self) -> bool {
        true
    }
}
