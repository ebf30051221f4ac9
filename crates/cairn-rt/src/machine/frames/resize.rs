//! One stack object that moves when it grows (frame strategy `resize`; what Marlow 2010 calls the old way).
//!
//! All frames lie in one chunk of the heap. When it is full, the frames are copied into one of twice the size; when a
//! collection finds it mostly empty, into one of half the size. Nothing but `ThreadState` knows where frames are, so a
//! copy is all there is to moving. Every collection looks at the whole stack. A continuation is a copy of all frames.
//!
//! ```text
//!   chunk                        limit          sp                 base
//!   │ its end │ … │ red zone    │ free …        │ frames … halt    │ underflow │
//! ```

use super::chunks::{ChunksRuntime, audit_segment, visit_segment};
use super::strategy::FrameStrategy;
use super::whole;
use super::whole::COPIES;
use crate::machine::audit::Segment;
use crate::machine::stop_word::arm;
use crate::runtime::rt;
use cairn_heap::RootVisitor;
use cairn_heap::address::Address;
use cairn_layout::Value;
use cairn_layout::limits::{BELOW_RED_ZONE, RED_ZONE};
use cairn_layout::machine::Machine;

/// Bytes of a chunk that frames which are checked for cannot use.
const UNUSABLE: u64 = BELOW_RED_ZONE + RED_ZONE + 8;

/// Makes a chunk the stack, which is empty then.
fn enter(ctx: &mut Machine, (start, end): (u64, u64)) {
    let underflow = rt(ctx).strategy.underflow;
    let t = &mut ctx.thread;
    (t.chunk, t.base, t.sp) = (start, end - 8, end - 8);
    // SAFETY: `start..end` is a fresh chunk, which nobody else uses: its first word and its last.
    unsafe {
        *(start as *mut u64) = end;
        *(t.base as *mut u64) = underflow;
    }
    t.stack_limit = start + BELOW_RED_ZONE + RED_ZONE;
    arm(ctx);
}

/// The smallest stack.
fn least(ctx: &Machine) -> u64 {
    rt(ctx).strategy.chunks.geometry.bytes
}

/// Bytes of the chunk.
fn size(ctx: &Machine) -> u64 {
    ctx.thread.base + 8 - ctx.thread.chunk
}

/// Moves the frames into another chunk, which is fresh and has room for them and [`UNUSABLE`] bytes.
fn move_to(ctx: &mut Machine, chunk: (u64, u64)) {
    let (old, sp, bytes) = (ctx.thread.chunk, ctx.thread.sp, ctx.thread.base - ctx.thread.sp);
    enter(ctx, chunk);
    ctx.thread.sp -= bytes;
    // SAFETY: `sp` on are `bytes` of whole frames, and callers have made the fresh chunk large enough, see `UNUSABLE`.
    unsafe { std::ptr::copy_nonoverlapping(sp as *const u64, ctx.thread.sp as *mut u64, bytes as usize / 8) };
    discard(ctx, old);
}

/// Nothing refers to the chunk. Where some word might look as if it did, the collector decides.
fn discard(ctx: &mut Machine, chunk: u64) {
    if !rt(ctx).options.ambiguous_frames {
        rt(ctx).heap.free_chunk(chunk);
    }
}

/// See the module's header.
pub enum ResizeRuntime {}

impl FrameStrategy for ResizeRuntime {
    fn start(ctx: &mut Machine) {
        // What an earlier thread had is not marked by the next collection.
        let chunk = whole::alloc_chunk(ctx, least(ctx));
        enter(ctx, chunk);
        let halt = rt(ctx).strategy.halt;
        ctx.thread.sp -= 8;
        // SAFETY: `enter` left `sp` at the last word of a fresh chunk, so the word below is free.
        unsafe { *(ctx.thread.sp as *mut u64) = halt };
    }

    fn overflow(ctx: &mut Machine, bytes: u64, _: u64) {
        let used = ctx.thread.base - ctx.thread.sp;
        let chunk = whole::alloc_chunk(ctx, (2 * size(ctx)).max(used + bytes + UNUSABLE));
        move_to(ctx, chunk);
    }

    /// When it is full, for it is not asked again until then.
    fn copy_bytes(ctx: &Machine) -> u64 {
        COPIES * size(ctx)
    }

    fn push(ctx: &mut Machine, code: u64, value: Value) {
        if ctx.thread.sp - 16 < ctx.thread.stack_limit {
            Self::overflow(ctx, 16, 0);
        }
        ctx.thread.sp -= 16;
        // SAFETY: above is made sure that `sp - 16` is not below the limit, so the two words are free.
        unsafe { (ctx.thread.sp as *mut [u64; 2]).write([code, value.0]) };
    }

    fn settle(_: &mut Machine) {}

    fn underflow(_: &mut Machine) {
        unreachable!("the outermost frame is not returned through")
    }

    fn capture(ctx: &mut Machine) -> Value {
        let frames = (ctx.thread.sp, ctx.thread.base);
        // SAFETY: `sp..base` are all frames of the stack, which are whole between two runtime calls.
        unsafe { whole::copy_out(ctx, &[frames]) }
    }

    fn same(j: Value, k: Value) -> bool {
        whole::same(j, k)
    }

    fn reinstate(ctx: &mut Machine, k: Value) {
        let (from, to) = whole::frames_of(k);
        let bytes = to - from;
        if bytes + UNUSABLE > size(ctx) {
            let chunk = whole::alloc_chunk(ctx, (2 * bytes + UNUSABLE).next_multiple_of(least(ctx)));
            let old = ctx.thread.chunk;
            enter(ctx, chunk);
            discard(ctx, old);
        }
        ctx.thread.sp = ctx.thread.base - bytes;
        // SAFETY: `from..to` are the frames in the copy that `k` keeps; the stack's chunk has `bytes` below `base`, as
        // was made sure.
        unsafe {
            std::ptr::copy_nonoverlapping(from as *const u64, ctx.thread.sp as *mut u64, bytes as usize / 8)
        };
    }

    fn before_collection(ctx: &mut Machine) {
        if ctx.thread.chunk == 0 {
            return; // no thread has been started
        }
        let (used, half) = (ctx.thread.base - ctx.thread.sp, size(ctx) / 2);
        if half >= least(ctx)
            && 2 * used + UNUSABLE < half
            && let Ok((start, bytes)) = rt(ctx).heap.alloc_chunk(half)
        {
            move_to(ctx, (start, start + bytes));
        }
    }

    unsafe fn visit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) {
        let Some(s) = Self::segment(ctx) else { return };
        rt(ctx).strategy.looks_at::<V>((s.base - s.sp) / 8);
        // SAFETY: at a safepoint (`# Safety`), so `sp..base` are whole frames of the chunk.
        unsafe { visit_segment(s, visitor) }
    }

    unsafe fn visit_rest<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) {
        if ctx.thread.chunk != 0 {
            visitor.mark_chunk(Address(ctx.thread.chunk));
        }
    }

    fn segment(ctx: &Machine) -> Option<Segment> {
        whole::segment(ctx)
    }

    unsafe fn covered(k: Address) -> Option<Segment> {
        // SAFETY: `k` is a continuation object (`# Safety`).
        unsafe { whole::segment_of(k) }
    }

    unsafe fn visit_continuation<V: RootVisitor>(_: &Machine, k: Address, visitor: &mut V) {
        // SAFETY: `k` is a continuation object (`# Safety`), which `capture` had `copy_out` make.
        unsafe { whole::visit_continuation(k, visitor) }
    }

    unsafe fn audit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) -> Result<(), String> {
        // SAFETY: `chunk` is the stack's, whose first word `enter` has made its end.
        Self::segment(ctx).map_or(Ok(()), |s| unsafe { audit_segment(ctx, s, visitor) })
    }

    unsafe fn audit_continuation<V: RootVisitor>(
        ctx: &mut Machine,
        k: Address,
        visitor: &mut V,
    ) -> Result<(), String> {
        // SAFETY: `k` is a continuation object (`# Safety`), which `capture` had `copy_out` make.
        unsafe { whole::audit_continuation(ctx, k, visitor) }
    }

    fn depth(ctx: &Machine, _: u64) -> u64 {
        ctx.thread.base - ctx.thread.sp
    }

    fn walk(ctx: &Machine, f: &mut dyn FnMut(u64, u64) -> bool) {
        whole::walk(ctx.thread.sp, f)
    }

    fn walk_continuation(k: Value, f: &mut dyn FnMut(u64, u64) -> bool) {
        whole::walk(whole::frames_of(k).0, f)
    }

    fn live_values(ctx: &Machine, frame: u64) -> Vec<Value> {
        ChunksRuntime::live_values(ctx, frame)
    }
}
