//! Frames that LLVM makes (`native`): `sp` is the address of the function's own return address.
//!
//! There is nothing to push, to find or to leave: calls and returns are `emit/native_calls.rs`. What is rare is the
//! runtime's.

use super::operations::{Push, Strategy};
use crate::emit::builder::Builder;
use crate::emit::ir_text::Val;
use cairn_core::ir::Shots;

pub(super) struct NativeFrames;

impl Strategy for NativeFrames {
    fn frame_is_value(&self) -> bool {
        false
    }

    fn slot(&self, _: &mut Builder, _: &Val, _: u32, _: u32) -> (Val, i64) {
        unreachable!("slots are variables")
    }

    fn slot_word(&self, words: u32, slot: u32) -> u32 {
        words - 1 - slot
    }

    fn leave(&self, b: &mut Builder, _: u32) -> Val {
        b.sp()
    }

    fn leave_counted(&self, b: &mut Builder, _: &Val) -> Val {
        b.sp()
    }

    fn push(&self, _: &mut Builder, _: &Push<'_>) -> Val {
        unreachable!("calls push")
    }

    fn return_code(&self, _: &mut Builder, _: &Val) -> Val {
        unreachable!("a return is no jump")
    }

    fn underflows(&self) -> bool {
        false
    }

    fn underflow(&self, _: &mut Builder) -> Val {
        unreachable!("the runtime has the return point")
    }

    fn capture(&self, b: &mut Builder, _: Shots) -> Val {
        let sp = b.sp();
        b.cold_call("cairn_machine_capture", &sp, &[])
    }

    fn reinstate(&self, _: &mut Builder, _: &Val) -> Val {
        unreachable!("`go` does it, on another stack")
    }
}
