//! Frames as immutable heap records (frame strategy `heap`; Appel & Shao 1996).
//!
//! ```text
//!   sp - 6 ──▶ │ return address │ caller's frame │ slots … │
//! ```
//!
//! `ThreadState::sp` is a value like any other, and the collector finds frames by it as it finds closures. So there is
//! little to do here: room for frames is part of the heap checks of compiled code, there are no segments to leave, and
//! a continuation is an object that remembers `sp`. The outermost frame's caller is 0.

use super::strategy::{FrameStrategy, continuation_word, make_continuation};
use crate::alloc::alloc_procedure;
use crate::machine::audit::Segment;
use crate::machine::frame_reader::descriptor;
use crate::runtime::rt;
use cairn_heap::RootVisitor;
use cairn_heap::address::Address;
use cairn_layout::Value;
use cairn_layout::code::{SHAPE, flags, shape_words};
use cairn_layout::machine::{Machine, slot};
use cairn_layout::object::continuation;
use cairn_layout::value::TAG_PROCEDURE;

/// Calls `f` for `frame` and those below.
fn walk(mut frame: Value, f: &mut dyn FnMut(u64, u64) -> bool) {
    while frame.is_procedure() {
        // SAFETY: `frame` is `sp` or what a frame is linked to, and a procedure: a return address and the frame below
        // it, or 0.
        let (code, parent) = unsafe { (*(frame.address() as *const u64), *((frame.address() + 8) as *const u64)) };
        // SAFETY: `code` was read as a frame's first word, its return address, before which a descriptor stands.
        if unsafe { descriptor(code, SHAPE) } & flags::HALT != 0 || !f(code, frame.address()) {
            return;
        }
        frame = Value(parent);
    }
}

/// See the module's header.
pub enum HeapRuntime {}

impl FrameStrategy for HeapRuntime {
    fn start(ctx: &mut Machine) {
        let frame = alloc_procedure(ctx, 2);
        // SAFETY: `alloc_procedure` has just given out these two words.
        unsafe {
            *(frame as *mut u64) = rt(ctx).strategy.halt;
            *(frame as *mut u64).add(1) = 0;
        }
        ctx.thread.sp = frame | TAG_PROCEDURE;
    }

    fn push(ctx: &mut Machine, code: u64, value: Value) {
        let frame = alloc_procedure(ctx, 3);
        // SAFETY: `alloc_procedure` has just given out these three words.
        unsafe { (frame as *mut [u64; 3]).write([code, ctx.thread.sp, value.0]) };
        ctx.thread.sp = frame | TAG_PROCEDURE;
    }

    fn settle(_: &mut Machine) {}

    fn overflow(_: &mut Machine, _: u64, _: u64) {
        unreachable!("heap checks make room for frames in the heap")
    }

    fn underflow(_: &mut Machine) {
        unreachable!("frames in the heap have no segments")
    }

    fn capture(ctx: &mut Machine) -> Value {
        let winders = ctx.slot(slot::WINDERS).0;
        make_continuation(ctx, [0, ctx.thread.sp, 0, Value::FALSE.0, winders, 0])
    }

    fn reinstate(ctx: &mut Machine, k: Value) {
        ctx.thread.sp = continuation_word(k, continuation::SP);
    }

    fn before_collection(_: &mut Machine) {}

    unsafe fn visit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) {
        // SAFETY: at a safepoint (`# Safety`), so `sp` holds a value: the youngest frame, or 0 before there is one.
        unsafe { visitor.slot(&raw mut ctx.thread.sp) }
    }

    /// The collector visits `continuation::SP` itself.
    unsafe fn visit_rest<V: RootVisitor>(_: &mut Machine, _: &mut V) {}

    fn segment(_: &Machine) -> Option<Segment> {
        None
    }

    unsafe fn covered(_: Address) -> Option<Segment> {
        None
    }

    unsafe fn visit_continuation<V: RootVisitor>(_: &Machine, _: Address, _: &mut V) {}

    /// Frames are objects: the heap's checker walks them.
    unsafe fn audit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) -> Result<(), String> {
        // SAFETY: at a safepoint (`# Safety`), which is all that `visit_thread` asks for here: it reads no frame.
        unsafe { Self::visit_thread(ctx, visitor) };
        Ok(())
    }

    unsafe fn audit_continuation<V: RootVisitor>(_: &mut Machine, _: Address, _: &mut V) -> Result<(), String> {
        Ok(())
    }

    fn walk(ctx: &Machine, f: &mut dyn FnMut(u64, u64) -> bool) {
        walk(Value(ctx.thread.sp), f)
    }

    fn walk_continuation(k: Value, f: &mut dyn FnMut(u64, u64) -> bool) {
        walk(Value(continuation_word(k, continuation::SP)), f)
    }

    fn live_values(_: &Machine, frame: u64) -> Vec<Value> {
        // SAFETY: `walk` came to `frame`: a return address, whose shape says how many words there are, the frame below
        // it, values.
        unsafe {
            let words = shape_words(descriptor(*(frame as *const u64), SHAPE));
            (2..words).map(|i| Value(*((frame + 8 * i) as *const u64))).collect()
        }
    }
}
