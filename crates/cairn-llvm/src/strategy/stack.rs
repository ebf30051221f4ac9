//! Frames on one stack in one piece: of a fixed place (`stack`), or one that moves when it grows (`resize`).
//!
//! Frames look as they do in chunks, and are found, made and left by the same code. What differs is whether a push is
//! checked, which the frame pass knows, and what is rare: a continuation is a copy of the whole stack, so capture and
//! reinstatement are the runtime's.

use super::chunks::StackFrames;
use super::operations::{Frames, Push, Segments, Strategy};
use crate::emit::builder::Builder;
use crate::emit::ir_text::Val;
use cairn_core::ir::Shots;

pub(crate) struct WholeStack;

impl Frames for WholeStack {}

impl Strategy for WholeStack {
    fn slot(&self, e: &mut Builder, sp: &Val, words: u32, slot: u32) -> (Val, i64) {
        StackFrames.slot(e, sp, words, slot)
    }

    fn leave(&self, e: &mut Builder, words: u32) -> Val {
        StackFrames.leave(e, words)
    }

    fn leave_counted(&self, e: &mut Builder, words: &Val) -> Val {
        StackFrames.leave_counted(e, words)
    }

    fn push(&self, e: &mut Builder, push: &Push<'_>) -> Val {
        StackFrames.push(e, push)
    }

    fn return_code(&self, e: &mut Builder, sp: &Val) -> Val {
        StackFrames.return_code(e, sp)
    }

    fn segments(&self) -> Option<&dyn Segments> {
        Some(self)
    }

    fn capture(&self, e: &mut Builder, _: Shots) -> Val {
        e.captured_by_runtime()
    }

    fn reinstate(&self, e: &mut Builder, k: &Val) -> Val {
        let sp = e.sp();
        e.cold_call("cairn_machine_reinstate", &sp, std::slice::from_ref(k))
    }
}

impl Segments for WholeStack {
    fn underflow(&self, e: &mut Builder) -> Val {
        let sp = e.sp();
        e.cold_call("cairn_machine_underflow", &sp, &[])
    }
}
