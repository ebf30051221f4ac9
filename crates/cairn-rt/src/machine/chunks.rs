//! Stack chunks (frame strategy `chunks`; Marlow 2010, Hieb, Dybvig & Bruggeman 1990, Appel & Shao 1996 §6).
//!
//! Frames grow down inside a chunk. A *segment* is the part of a chunk between `Machine::sp` and `Machine::base`;
//! the word at `base` is the return address of the underflow frame (the bottom segment has none: its last frame
//! is the halt frame). Below a segment is a chain of continuation objects, each covering one earlier segment:
//!
//! ```text
//!   chunk B (current)             chunk A
//!  ┌──────────────┐ end          ┌──────────────┐ end
//!  │ underflow    │◀ base        │ halt         │
//!  │ frame        │              │ frame        │
//!  │ frame        │◀ sp          │ frame        │◀ SP of K1
//!  │ (free)       │              │ (free)       │
//!  │ red zone     │◀ limit       └──────────────┘
//!  └──────────────┘              under ──▶ K1 {chunk A, SP..BASE, NEXT #f}
//! ```
//!
//! * **overflow**: the current frames become a continuation object (an *implicit* capture) and execution goes on
//!   in a fresh chunk;
//! * **capture** (`call/cc`): the same, but execution goes on in the same chunk below the captured frames: O(1)
//!   at any depth;
//! * **underflow**: the youngest frame of the continuation below is copied into the current segment. Captured frames are
//!   never run in place, so they are immutable and may be re-entered any number of times. When nothing has been captured
//!   since the continuation was created (its serial is younger than the last capture's) nobody else can see
//!   it: then its chunk is resumed in place and nothing is copied;
//! * **reinstate**: drops the current segment, makes `k` the continuation below, underflows.
//!
//! Invariants: captured frames (those covered by a continuation object) are not written except by the collector; a chunk is
//! kept while a continuation object or the machine refers to it. Dirty marks (Marlow 2010): the segment being run is
//! scanned by every collection, a continuation's frames once when it is promoted and then only by full ones.

use super::{State, continuation_word, make_continuation};
use crate::alloc::out_of_memory;
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::code::{SHAPE, shape_words};
use cairn_layout::machine::Machine;
use cairn_layout::object::continuation;

/// Size of a chunk in bytes.
pub const CHUNK_BYTES: u64 = 32 * 1024;
/// Bytes below `Machine::stack_limit` that frames may use without a check: compiled code lets a frame grow in place
/// up to this size.
pub const RED_ZONE: u64 = 1024;
/// A segment is not started in a chunk with less room than this.
const ROOM_MIN: u64 = 2 * RED_ZONE;

/// Chunk state of a machine.
#[derive(Default)]
pub struct Chunks {
    /// Bounds of the current chunk.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
    /// Where the part of `Machine::under` not yet copied back starts.
    pub under_sp: u64,
    /// Serial of the youngest continuation object.
    pub serial: i64,
    /// `serial` at the last capture: continuation objects up to it may be shared.
    pub captured: i64,
    /// A chunk of the usual size kept for the next overflow: start and end.
    pub spare: Option<(u64, u64)>,
}

fn state(ctx: &mut Machine) -> &'static mut State {
    &mut rt(ctx).strategy
}

/// Allocates a chunk with room for `bytes`, or reports that memory is exhausted.
fn new_chunk(ctx: &mut Machine, bytes: u64) -> (u64, u64) {
    if bytes <= CHUNK_BYTES - 2 * RED_ZONE
        && let Some(chunk) = state(ctx).chunks.spare.take()
    {
        return chunk;
    }
    let size = CHUNK_BYTES.max((bytes + 2 * RED_ZONE).next_multiple_of(CHUNK_BYTES));
    match rt(ctx).heap.alloc_chunk(size) {
        Ok((start, size)) => (start, start + size),
        Err(_) => out_of_memory(ctx, size),
    }
}

/// Makes `chunk` current and empty, its base frame being the return address `bottom`.
fn enter_chunk(ctx: &mut Machine, (start, end): (u64, u64), bottom: u64) {
    let s = state(ctx);
    (s.chunks.start, s.chunks.end) = (start, end);
    ctx.chunk = start;
    ctx.stack_limit = start + 8 + RED_ZONE;
    ctx.base = end - 8;
    ctx.sp = ctx.base;
    // SAFETY: the first and the last word of a fresh chunk. The first, below the red zone, records its end.
    unsafe {
        *(start as *mut u64) = end;
        *(ctx.base as *mut u64) = bottom;
    }
}

/// The first segment: its only frame is the halt frame.
pub fn start(ctx: &mut Machine) {
    let chunk = new_chunk(ctx, 0);
    let halt = state(ctx).halt;
    enter_chunk(ctx, chunk, halt);
    ctx.base = chunk.1;
    ctx.under = Value::FALSE;
}

/// Gives back the current chunk if the current segment is the only thing in it.
fn leave_chunk(ctx: &mut Machine) {
    let chunks = &mut state(ctx).chunks;
    if ctx.base != chunks.end - 8 {
        return; // earlier segments of this chunk may be captured: the collector decides
    }
    let chunk = (chunks.start, chunks.end);
    if chunk.1 - chunk.0 == CHUNK_BYTES && chunks.spare.is_none() {
        chunks.spare = Some(chunk);
    } else {
        rt(ctx).heap.free_chunk(chunk.0);
    }
}

/// The continuation below the current segment, as an object of its own or `#f`.
pub fn remainder(ctx: &mut Machine) -> Value {
    let k = ctx.under;
    if k == Value::FALSE {
        return k;
    }
    let sp = state(ctx).chunks.under_sp;
    if sp == continuation_word(k, continuation::SP) {
        return k;
    }
    let (chunk, base) = (continuation_word(k, continuation::CHUNK), continuation_word(k, continuation::BASE));
    let next = Value(continuation_word(k, continuation::NEXT));
    if sp == base {
        set_under(ctx, next);
        return next;
    }
    let serial = Value(continuation_word(k, continuation::SERIAL)).as_fixnum();
    let rest = make_continuation(ctx, [chunk, sp, base, 0], next, serial);
    set_under(ctx, rest);
    rest
}

fn set_under(ctx: &mut Machine, k: Value) {
    ctx.under = k;
    state(ctx).chunks.under_sp = if k == Value::FALSE { 0 } else { continuation_word(k, continuation::SP) };
}

/// Turns the frames `sp..base` into a continuation object.
fn segment_continuation(ctx: &mut Machine) -> Value {
    let next = remainder(ctx);
    let chunks = &mut state(ctx).chunks;
    chunks.serial += 1;
    let serial = chunks.serial;
    make_continuation(ctx, [ctx.chunk, ctx.sp, ctx.base, 0], next, serial)
}

/// See `cairn_machine_overflow`.
pub fn overflow(ctx: &mut Machine, bytes: u64) {
    let underflow = state(ctx).underflow;
    if ctx.sp == ctx.base {
        leave_chunk(ctx);
    } else {
        let k = segment_continuation(ctx);
        set_under(ctx, k);
    }
    let chunk = new_chunk(ctx, bytes);
    enter_chunk(ctx, chunk, underflow);
}

/// See `cairn_machine_capture`.
pub fn capture(ctx: &mut Machine) -> Value {
    let k = segment_continuation(ctx);
    let s = state(ctx);
    s.chunks.captured = s.chunks.serial;
    if ctx.sp != ctx.base {
        let underflow = s.underflow;
        set_under(ctx, k);
        if ctx.sp - 8 < ctx.stack_limit + ROOM_MIN {
            let chunk = new_chunk(ctx, 0);
            enter_chunk(ctx, chunk, underflow);
        } else {
            ctx.sp -= 8;
            ctx.base = ctx.sp;
            // SAFETY: the word below the captured frames is above the chunk's limit.
            unsafe { *(ctx.base as *mut u64) = underflow };
        }
    }
    k
}

/// See `cairn_machine_reinstate`.
pub fn reinstate(ctx: &mut Machine, k: Value) {
    let s = state(ctx);
    if ctx.base == s.chunks.end {
        // The bottom segment has no underflow frame to fall back to.
        let underflow = s.underflow;
        let chunk = new_chunk(ctx, 0);
        enter_chunk(ctx, chunk, underflow);
    }
    ctx.sp = ctx.base;
    set_under(ctx, k);
    underflow(ctx);
}

/// See `cairn_machine_underflow`.
pub fn underflow(ctx: &mut Machine) {
    debug_assert_eq!(ctx.sp, ctx.base);
    loop {
        let k = ctx.under;
        debug_assert!(k != Value::FALSE, "returned below the outermost frame");
        let (sp, base) = (state(ctx).chunks.under_sp, continuation_word(k, continuation::BASE));
        if sp == base {
            let next = Value(continuation_word(k, continuation::NEXT));
            set_under(ctx, next);
            continue;
        }
        let serial = Value(continuation_word(k, continuation::SERIAL)).as_fixnum();
        if serial > state(ctx).chunks.captured {
            return resume_in_place(ctx, k, sp, base);
        }
        // SAFETY: `sp..base` are the frames of continuation `k`; each begins with a return address, whose
        // shape word gives the frame's size.
        unsafe {
            let code = *(sp as *const u64);
            let words = shape_words(*((code as i64 + SHAPE) as *const u64));
            if ctx.base - 8 * words < ctx.stack_limit + ROOM_MIN {
                let underflow = state(ctx).underflow;
                leave_chunk(ctx);
                let chunk = new_chunk(ctx, 8 * words);
                enter_chunk(ctx, chunk, underflow);
            }
            let to = ctx.base - 8 * words;
            std::ptr::copy_nonoverlapping(sp as *const u64, to as *mut u64, words as usize);
            ctx.sp = to;
            state(ctx).chunks.under_sp = sp + 8 * words;
        }
        return;
    }
}

/// Continues in the chunk of `k`, which nobody else can see.
fn resume_in_place(ctx: &mut Machine, k: Value, sp: u64, base: u64) {
    let chunk = continuation_word(k, continuation::CHUNK);
    let next = Value(continuation_word(k, continuation::NEXT));
    leave_chunk(ctx);
    // SAFETY: the first word of a chunk is its end (see `enter_chunk`).
    let end = unsafe { *(chunk as *const u64) };
    let s = state(ctx);
    (s.chunks.start, s.chunks.end) = (chunk, end);
    ctx.chunk = chunk;
    ctx.stack_limit = chunk + 8 + RED_ZONE;
    ctx.sp = sp;
    ctx.base = base;
    set_under(ctx, next);
}
