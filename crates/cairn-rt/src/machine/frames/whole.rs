//! What strategies with one stack have in common (`stack`, `resize`, `native`): continuations are copies of frames, the
//! first two's of all of them; a stack that cannot move lies in a region that grows.
//!
//! A copy lies in a chunk of the heap, in the form of a segment of `chunks`: so the same code visits and audits it, and
//! the collector finds out how long it lives.
//!
//! ```text
//!  chunk │ its end │ frames, youngest first … halt │ underflow frame │
//! ```

use super::chunks::{audit_segment, covered, visit_segment};
use super::stack_region::{STEP_MAX, StackRegion};
use super::strategy::{continuation_word, make_continuation};
use crate::exhaustion::size_text;
use crate::machine::audit::Segment;
use crate::machine::frame_reader::descriptor;
use crate::machine::state::Geometry;
use crate::machine::stop_word::{arm, served};
use crate::runtime::rt;
use crate::{exhaustion, fatal};
use cairn_heap::RootVisitor;
use cairn_heap::address::Address;
use cairn_layout::Value;
use cairn_layout::code::{SHAPE, flags, shape_words};
use cairn_layout::machine::{Machine, slot, stop as reason};
use cairn_layout::object::continuation;

/// Copies of the stack for which there must be room: a handler, and what it leaves by, make some before anything is
/// free again.
pub const COPIES: u64 = 3;

/// A stack with less room than this may outrun the next stop check.
const SPARE: u64 = STEP_MAX / 8;

/// A chunk of at least `bytes`: its start and one past its end. When memory is exhausted, the program is told.
pub fn alloc_chunk(ctx: &mut Machine, bytes: u64) -> (u64, u64) {
    let (start, size) = match rt(ctx).heap.alloc_chunk(bytes) {
        Ok(chunk) => chunk,
        Err(_) => exhaustion::overdraw(ctx, bytes, |ctx| rt(ctx).heap.alloc_chunk(bytes)),
    };
    (start, start + size)
}

/// Is this a run under zeal, with as many parts of the stack as can be?
pub fn is_tiny(ctx: &Machine) -> bool {
    rt(ctx).strategy.chunks.geometry.bytes == Geometry::TINY.bytes
}

/// The region of the stack.
pub fn region(ctx: &mut Machine) -> &'static mut StackRegion {
    rt(ctx).strategy.stack.region.as_mut().expect("a thread has been started")
}

/// Makes the region, if there is none, for a stack that may fill the heap's maximum.
pub fn ensure_region(ctx: &mut Machine) {
    if rt(ctx).strategy.stack.region.is_some() {
        return;
    }
    let most = rt(ctx).heap.heap_max();
    let new = StackRegion::new(ctx, most + most / 4 + (64 << 20), is_tiny(ctx));
    if new.is_none() {
        fatal::say(ctx, "cairn: there is no address space for the stack");
        fatal::end(ctx, 1)
    }
    rt(ctx).strategy.stack.region = new;
}

/// A thread starts on the region, which is its only limit.
pub fn start_in_region(ctx: &mut Machine) {
    ctx.thread.chunk = region(ctx).start();
    ctx.thread.stack_limit = 0;
    arm(ctx);
    count_growth(ctx);
}

/// Counts what the region has grown by.
pub fn count_growth(ctx: &mut Machine) {
    served(ctx, reason::STACK);
    let bytes = region(ctx).take_growth();
    if region(ctx).room() < SPARE {
        let has = size_text(region(ctx).most());
        (rt(ctx).flush)(ctx);
        fatal::say(ctx, &format!("cairn: out of memory: the stack has filled the {has} of addresses that it got"));
        fatal::end(ctx, 1)
    }
    if rt(ctx).heap.charge(bytes).is_err() {
        exhaustion::overdraw(ctx, bytes, |ctx| rt(ctx).heap.charge(bytes));
    }
}

/// Where the stack is.
pub fn segment(ctx: &Machine) -> Option<Segment> {
    let t = &ctx.thread;
    (t.chunk != 0).then_some(Segment { chunk: t.chunk, sp: t.sp, base: t.base })
}

/// A continuation object with a copy of frames, which lie in `spans`, the youngest first.
///
/// # Safety
/// They are spans of whole frames, and the last one ends with the outermost frame.
pub unsafe fn copy_out(ctx: &mut Machine, spans: &[(u64, u64)]) -> Value {
    let bytes: u64 = spans.iter().map(|(from, to)| to - from).sum();
    let (chunk, end) = alloc_chunk(ctx, bytes + 16);
    let base = end - 8;
    let mut to = base - bytes;
    // SAFETY: `alloc_chunk` was asked for `bytes`, a word before and one behind; the spans are whole frames (`#
    // Safety`), of another chunk or region, and come to `bytes`.
    unsafe {
        *(chunk as *mut u64) = end;
        *(base as *mut u64) = rt(ctx).strategy.underflow;
        for &(from, until) in spans {
            std::ptr::copy_nonoverlapping(from as *const u64, to as *mut u64, ((until - from) / 8) as usize);
            to += until - from;
        }
    }
    // Nobody frees chunks by hand, so copies alone may make a collection due.
    rt(ctx).heap.chunks_are_due();
    let winders = ctx.slot(slot::WINDERS).0;
    make_continuation(ctx, [chunk, base - bytes, base, Value::FALSE.0, winders, Value::fixnum(0).0])
}

/// Where the frames of a continuation object are: from and to.
pub fn frames_of(k: Value) -> (u64, u64) {
    (continuation_word(k, continuation::SP), continuation_word(k, continuation::BASE))
}

/// See `FrameStrategy::same`: each capture makes a copy of its own, but of tails of one continuation only the
/// same are equally deep.
pub fn same(j: Value, k: Value) -> bool {
    let [j, k] = [j, k].map(frames_of);
    j.1 - j.0 == k.1 - k.0
}

/// See `FrameStrategy::covered`.
///
/// # Safety
/// `k` is the address of a continuation object.
pub unsafe fn segment_of(k: Address) -> Option<Segment> {
    // SAFETY: `k` is a continuation object (`# Safety`).
    unsafe { covered(k) }
}

/// See `FrameStrategy::visit_continuation`.
///
/// # Safety
/// `k` is the address of a continuation object that `copy_out` made; nothing else uses its copy meanwhile.
pub unsafe fn visit_continuation<V: RootVisitor>(k: Address, visitor: &mut V) {
    // SAFETY: `k` is a continuation object (`# Safety`), so what it covers are whole frames, which `copy_out` made.
    unsafe {
        if let Some(s) = covered(k) {
            visit_segment(s, visitor)
        }
    }
}

/// See `FrameStrategy::audit_continuation`.
///
/// # Safety
/// `k` is the address of a continuation object that `copy_out` made; its frames need not be whole.
pub unsafe fn audit_continuation<V: RootVisitor>(
    ctx: &mut Machine,
    k: Address,
    visitor: &mut V,
) -> Result<(), String> {
    // SAFETY: `k` is a continuation object (`# Safety`), so what it covers lies in a chunk, whose first word `copy_out`
    // made its end.
    unsafe { covered(k).map_or(Ok(()), |s| audit_segment(ctx, s, visitor)) }
}

/// See `FrameStrategy::walk`: the frames from `sp` on. Underflow frames among them are none of the program's.
pub fn walk(mut sp: u64, f: &mut dyn FnMut(u64, u64) -> bool) {
    loop {
        // SAFETY: callers pass the youngest of whole frames; `sp` moves by whole frames, and the outermost one, with
        // `HALT`, ends this.
        let (code, shape) = unsafe {
            let code = *(sp as *const u64);
            (code, descriptor(code, SHAPE))
        };
        if shape & flags::HALT != 0 || shape & flags::UNDERFLOW == 0 && !f(code, sp) {
            return;
        }
        sp += 8 * shape_words(shape);
    }
}

/// Bytes of the frame at `sp`.
///
/// # Safety
/// A whole frame begins at `sp`.
pub unsafe fn frame_bytes(sp: u64) -> u64 {
    // SAFETY: a whole frame is at `sp` (`# Safety`): it begins with a return address, before which its shape word
    // stands.
    unsafe { 8 * shape_words(descriptor(*(sp as *const u64), SHAPE)) }
}
