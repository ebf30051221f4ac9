//! Every object asked of the runtime, which writes its prefix and spends the budget; it never collects.

use super::allocator::Allocator;
use crate::emit::builder::Builder;
use crate::emit::ir_text::Val;
use cairn_layout::object::AllocKind;
use cairn_layout::value::Value as Word;

pub(super) struct ByCall;

impl Allocator for ByCall {
    fn take(&self, b: &mut Builder, kind: AllocKind, bytes: u64) -> Val {
        take(b, kind, bytes)
    }

    fn checked(&self, _: &mut Builder, _: u64) {}

    fn keeps_state_in_memory(&self) -> bool {
        false
    }
}

/// The address of a fresh object.
pub(super) fn take(b: &mut Builder, kind: AllocKind, bytes: u64) -> Val {
    let (kind, bytes) = (Word::fixnum(kind as i64), Word::fixnum(bytes as i64));
    let sp = b.sp();
    b.cold_call("cairn_machine_object", &sp, &[Val::word(kind.0), Val::word(bytes.0)])
}
