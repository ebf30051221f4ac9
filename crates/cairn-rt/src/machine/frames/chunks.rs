//! Stack chunks (frame strategy `chunks`; Marlow 2010, Hieb, Dybvig & Bruggeman 1990, Appel & Shao 1996 §6).
//!
//! Frames grow down inside a chunk. A *segment* is the part of a chunk between `Machine::sp` and `Machine::base`;
//! the word at `base` is the return address of the underflow frame. Below a segment is a chain of continuation objects,
//! each covering one earlier segment. The oldest frame of all is the halt frame.
//!
//! ```text
//!   chunk B (current)             chunk A
//!  ┌──────────────┐ end          ┌──────────────┐ end
//!  │ underflow    │◀ base        │ underflow    │◀ BASE of K1
//!  │ frame        │              │ halt         │
//!  │ frame        │◀ sp          │ frame        │
//!  │ (free)       │              │ frame        │◀ SP of K1
//!  │ red zone     │◀ limit       │ (free)       │
//!  └──────────────┘              └──────────────┘
//!                                under ──▶ K1 {chunk A, SP..BASE, NEXT #f}
//! ```
//!
//! * **overflow**: the current frames become a continuation object (an *implicit* capture) and execution goes on
//!   in a fresh chunk;
//! * **capture** (`call/cc`): the same, but execution goes on in the same chunk below the captured frames: O(1)
//!   at any depth. An empty segment is not captured again: the continuation below is the one asked for;
//! * **underflow**: goes on with the frames of the continuation below. A *private* one, made by an overflow or a
//!   one-shot capture, is used up: its frames are run where they are, or if something alive lies below them, they move.
//!   The frames of a *shared* one are copied one by one, or all at once if they are few; they may be entered any
//!   number of times;
//! * **reinstate**: drops the current segment, makes `k` the continuation below, underflows.
//!
//! One-shot continuations (Bruggeman, Waddell & Dybvig 1996) cost no copying: frames seal a part of their chunk, and
//! when they are returned to and nothing was sealed below them since, the part is theirs again. A chunk that is not in
//! use records its *low-water mark*, the end of its sealed part. A multi-shot capture *promotes* all private
//! continuations below it: each once, so this costs O(1) for each continuation made.
//!
//! ```text
//!   chunk in use                    │ K1 private │ u │ K2 private │ u │ frames of the segment │ free …
//!   K2 is returned to: in place     │ K1 private │ u │ frames │ free …
//!   K1 is called instead: K2 may be │ K1 (used)  │ u │ K2 private │ u │ frames of K1, moved │ free …
//!   called later, so K1 moves
//! ```
//!
//! Capture, underflow by copying, and reinstatement are compiled code (`cairn-llvm/src/strategy/chunks.rs`): a dozen
//! instructions each. It comes here when it lacks room, or in the rarer cases.
//!
//! Full collections move what is left in chunks that are mostly dead ([`super::compaction`]).
//!
//! Invariants: captured frames (those covered by a continuation object) are not written except by the collector; a
//! chunk is kept while a continuation object or the machine refers to it; only used continuation objects cover nothing.
//! No two objects of which one is private cover the same frames. What is below a shared one is shared.
//! `Machine::under_sp` is 0, or `under` is shared and it lies strictly between `SP` and `BASE` of that. Dirty marks
//! (Marlow 2010): the segment being run is scanned by every collection, a continuation's frames once when it is
//! promoted and then only by full ones. (`CAIRN_CHUNKS=all-dirty` scans all, to measure what the marks save.)

use super::compaction::compact;
use super::sealed_frames::{live_word, low_water, set_low_water};
use super::strategy::{FrameStrategy, continuation_word, make_continuation, raise_used, set_word};
use crate::exhaustion;
use crate::machine::audit::Segment;
use crate::machine::frame_reader::{descriptor, visit_frames};
use crate::machine::state::State;
use crate::machine::stop_word::arm;
use crate::runtime::rt;
use cairn_heap::RootVisitor;
use cairn_heap::address::Address;
use cairn_layout::Value;
use cairn_layout::code::{SHAPE, flags, shape_words};
use cairn_layout::limits::{BELOW_RED_ZONE, MOVED_BYTES, RED_ZONE};
use cairn_layout::machine::{Machine, slot};
use cairn_layout::object::continuation::{self, state::*};

fn state(ctx: &mut Machine) -> &'static mut State {
    &mut rt(ctx).strategy
}

/// Allocates a chunk with room for `bytes`, or reports that memory is exhausted.
fn new_chunk(ctx: &mut Machine, bytes: u64) -> (u64, u64) {
    let usual = state(ctx).chunks.geometry.bytes;
    if bytes + 2 * RED_ZONE <= usual
        && let Some(chunk) = state(ctx).chunks.spare.take()
    {
        return chunk;
    }
    let fits = |c: &(u64, u64)| c.1 - c.0 >= bytes + 2 * RED_ZONE;
    if let Some(chunk) = state(ctx).chunks.left.pop_if(|c| fits(c)) {
        return chunk;
    }
    let size = (bytes + 2 * RED_ZONE).next_multiple_of(usual);
    let (start, size) = match rt(ctx).heap.alloc_chunk(size) {
        Ok(chunk) => chunk,
        Err(_) => exhaustion::overdraw(ctx, size, |ctx| rt(ctx).heap.alloc_chunk(size)),
    };
    (start, start + size)
}

/// Makes `chunk` current and empty, its base frame being the return address `bottom`; the next frame has this many
/// `bytes`.
fn enter_chunk(ctx: &mut Machine, (start, end): (u64, u64), bytes: u64, bottom: u64) {
    let s = state(ctx);
    (s.chunks.start, s.chunks.end) = (start, end);
    ctx.thread.chunk = start;
    let room = bytes + s.chunks.geometry.room_max;
    set_limit(ctx, (start + BELOW_RED_ZONE + RED_ZONE).max((end - 8).saturating_sub(room)));
    ctx.thread.base = end - 8;
    ctx.thread.sp = ctx.thread.base;
    // SAFETY: `new_chunk` gave `start..end`, which nobody else uses. The first word, below the red zone, records its
    // end.
    unsafe {
        *(start as *mut u64) = end;
        *live_word(start) = 0;
        *(ctx.thread.base as *mut u64) = bottom;
    }
}

/// The first segment: its only frame is the halt frame.
fn start(ctx: &mut Machine) {
    let (halt, underflow) = (state(ctx).halt, state(ctx).underflow);
    let chunk = new_chunk(ctx, 0);
    enter_chunk(ctx, chunk, 0, underflow);
    ctx.thread.sp -= 8;
    // SAFETY: `enter_chunk` left `sp` at the last word of a fresh chunk, so the word below is free.
    unsafe { *(ctx.thread.sp as *mut u64) = halt };
    set_under(ctx, Value::FALSE);
}

/// Gives back the current chunk if the current segment is the only thing in it.
fn leave_chunk(ctx: &mut Machine) {
    let chunks = &mut state(ctx).chunks;
    if ctx.thread.base != chunks.end - 8 {
        // earlier segments of this chunk may be captured: the collector decides
        return set_low_water(ctx.thread.chunk, ctx.thread.base + 8);
    }
    let chunk = (chunks.start, chunks.end);
    if rt(ctx).options.ambiguous_frames {
        // Some word may look like a reference to a continuation in it: it is not freed, but can be used again.
        return state(ctx).chunks.left.push(chunk);
    }
    let chunks = &mut state(ctx).chunks;
    if chunk.1 - chunk.0 == chunks.geometry.bytes && chunks.spare.is_none() {
        chunks.spare = Some(chunk);
    } else {
        rt(ctx).heap.free_chunk(chunk.0);
    }
}

/// The continuation below the current segment, as an object of its own or `#f`.
fn remainder(ctx: &mut Machine) -> Value {
    if ctx.thread.under_sp != 0 {
        let rest = copy(ctx, ctx.thread.under, ctx.thread.under_sp);
        set_under(ctx, rest);
    }
    ctx.thread.under
}

fn set_under(ctx: &mut Machine, k: Value) {
    (ctx.thread.under, ctx.thread.under_sp) = (k, 0);
}

/// A continuation like `k`, from the frame at `sp` on, with the present winders.
fn copy(ctx: &mut Machine, k: Value, sp: u64) -> Value {
    use continuation::{BASE, CHUNK, NEXT, STATE};
    let [chunk, base, next, state] = [CHUNK, BASE, NEXT, STATE].map(|i| continuation_word(k, i));
    let winders = ctx.slot(slot::WINDERS).0;
    make_continuation(ctx, [chunk, sp, base, next, winders, state])
}

/// Turns the frames `sp..base`, at least one, into the continuation object `Machine::under`.
fn seal(ctx: &mut Machine, state: u64) {
    debug_assert!(ctx.thread.sp < ctx.thread.base);
    let next = remainder(ctx);
    let winders = ctx.slot(slot::WINDERS).0;
    let k = make_continuation(ctx, [ctx.thread.chunk, ctx.thread.sp, ctx.thread.base, next.0, winders, state]);
    set_under(ctx, k);
}

/// Sets the limit of the chunk now in use.
fn set_limit(ctx: &mut Machine, limit: u64) {
    ctx.thread.stack_limit = limit;
    arm(ctx);
}

/// See [`FrameStrategy::overflow`].
fn overflow(ctx: &mut Machine, bytes: u64, kept: u64) {
    // SAFETY: the youngest frame is at `sp` and has `kept` bytes. A copy, because its chunk may be given back.
    let frame = unsafe { std::slice::from_raw_parts(ctx.thread.sp as *const u64, kept as usize / 8) }.to_vec();
    ctx.thread.sp += kept;
    if ctx.thread.sp == ctx.thread.base {
        leave_chunk(ctx);
    } else {
        seal(ctx, PRIVATE);
        set_low_water(ctx.thread.chunk, ctx.thread.sp);
    }
    let underflow = state(ctx).underflow;
    let chunk = new_chunk(ctx, bytes + kept);
    enter_chunk(ctx, chunk, bytes + kept, underflow);
    ctx.thread.sp -= kept;
    // SAFETY: `new_chunk` was asked for `bytes + kept` bytes, and the frame, a copy, has `kept`.
    unsafe { std::ptr::copy_nonoverlapping(frame.as_ptr(), ctx.thread.sp as *mut u64, frame.len()) };
}

/// Makes the continuation below and all below that shared.
fn promote(ctx: &mut Machine) {
    let mut k = ctx.thread.under;
    while k != Value::FALSE && continuation_word(k, continuation::STATE) != SHARED {
        set_word(k, continuation::STATE, SHARED);
        k = Value(continuation_word(k, continuation::NEXT));
    }
}

/// See `cairn_machine_capture`. Compiled code has room for the object when it does not come here.
fn capture(ctx: &mut Machine) -> Value {
    promote(ctx);
    if ctx.thread.sp != ctx.thread.base {
        return seal_here(ctx, SHARED);
    }
    let k = remainder(ctx);
    if continuation_word(k, continuation::WINDERS) == ctx.slot(slot::WINDERS).0 {
        return k;
    }
    let sp = continuation_word(k, continuation::SP);
    copy(ctx, k, sp)
}

/// See `cairn_machine_capture_once`.
fn capture_once(ctx: &mut Machine) -> Value {
    if ctx.thread.sp != ctx.thread.base {
        return seal_here(ctx, PRIVATE);
    }
    let k = remainder(ctx);
    // With other winders a second object covers the same frames, so neither is private.
    let same = continuation_word(k, continuation::WINDERS) == ctx.slot(slot::WINDERS).0;
    if same { k } else { capture(ctx) }
}

/// Captures the frames of the segment, and begins another one in the same chunk.
fn seal_here(ctx: &mut Machine, state_word: u64) -> Value {
    seal(ctx, state_word);
    // Frames may reach into the red zone, but never to its last word.
    ctx.thread.sp -= 8;
    ctx.thread.base = ctx.thread.sp;
    let underflow = state(ctx).underflow;
    // SAFETY: `sp` was just lowered by a word, to within the red zone at most, which is of this chunk and holds
    // nothing.
    unsafe { *(ctx.thread.base as *mut u64) = underflow };
    ctx.thread.under
}

/// See `cairn_machine_underflow`.
fn underflow(ctx: &mut Machine) {
    debug_assert_eq!(ctx.thread.sp, ctx.thread.base);
    let k = ctx.thread.under;
    debug_assert!(k != Value::FALSE, "returned below the outermost frame");
    match continuation_word(k, continuation::STATE) {
        SHARED => copy_youngest(ctx, k),
        PRIVATE => take_over(ctx, k),
        _ => {
            start(ctx);
            raise_used(ctx)
        }
    }
}

/// Copies the youngest frame of shared `k`.
fn copy_youngest(ctx: &mut Machine, k: Value) {
    let base = continuation_word(k, continuation::BASE);
    let sp = if ctx.thread.under_sp == 0 { continuation_word(k, continuation::SP) } else { ctx.thread.under_sp };
    // SAFETY: `sp` is `SP` of continuation `k` or the frame that an earlier copy ended at, below `base`: so a whole
    // frame.
    let bytes = unsafe { frame_bytes(sp) };
    copy_frames(ctx, sp, bytes);
    ctx.thread.under_sp = sp + bytes;
    if ctx.thread.under_sp == base {
        set_under(ctx, Value(continuation_word(k, continuation::NEXT)));
    }
}

/// Goes on with the frames of private `k`, in place if nothing that may be alive lies below them in their chunk. Else
/// they move, or the youngest ones if there are many: then the rest is private, too.
fn take_over(ctx: &mut Machine, k: Value) {
    use continuation::{BASE, CHUNK, NEXT, SP};
    let [chunk, sp, base, next] = [CHUNK, SP, BASE, NEXT].map(|i| continuation_word(k, i));
    // SAFETY: `chunk` is another chunk in use, whose second word is its low-water mark while it is not the current one.
    let low = if chunk == ctx.thread.chunk { ctx.thread.base + 8 } else { unsafe { *low_water(chunk) } };
    if sp == low {
        if chunk != ctx.thread.chunk {
            change_chunk(ctx, chunk);
        }
        (ctx.thread.sp, ctx.thread.base) = (sp, base);
        set_under(ctx, Value(next));
    } else {
        let mut end = sp;
        while end < base && end - sp < MOVED_BYTES {
            // SAFETY: `sp..base` are whole frames, `end < base`, and `end` has moved by whole frames only.
            end += unsafe { frame_bytes(end) };
        }
        copy_frames(ctx, sp, end - sp);
        let rest = if end == base { Value(next) } else { copy(ctx, k, end) };
        set_under(ctx, rest);
    }
    for (i, word) in [(CHUNK, 0), (SP, 0), (BASE, 0), (NEXT, Value::FALSE.0)] {
        set_word(k, i, word);
    }
    set_word(k, continuation::WINDERS, Value::FALSE.0);
    set_word(k, continuation::STATE, USED);
}

/// Copies frames to the present, empty segment, or to another chunk where there is room.
fn copy_frames(ctx: &mut Machine, from: u64, bytes: u64) {
    if ctx.thread.base - bytes < ctx.thread.stack_limit {
        let underflow = state(ctx).underflow;
        leave_chunk(ctx);
        let chunk = new_chunk(ctx, bytes);
        enter_chunk(ctx, chunk, bytes, underflow);
    }
    ctx.thread.sp = ctx.thread.base - bytes;
    // SAFETY: at `from` are `bytes` of whole frames of a continuation; `leave_chunk` gives back only chunks without
    // any. The current chunk has `bytes` below `base`, or is a fresh one for as many.
    unsafe { std::ptr::copy_nonoverlapping(from as *const u64, ctx.thread.sp as *mut u64, bytes as usize / 8) };
}

/// Makes an earlier chunk the current one, instead of one with an empty segment.
fn change_chunk(ctx: &mut Machine, chunk: u64) {
    leave_chunk(ctx);
    // SAFETY: `chunk` is a chunk in use, whose first word is its end (see `enter_chunk`).
    let end = unsafe { *(chunk as *const u64) };
    let s = state(ctx);
    (s.chunks.start, s.chunks.end) = (chunk, end);
    ctx.thread.chunk = chunk;
    set_limit(ctx, chunk + BELOW_RED_ZONE + RED_ZONE);
}

/// Size of the frame at `sp`.
///
/// # Safety
/// A whole frame begins at `sp`.
unsafe fn frame_bytes(sp: u64) -> u64 {
    // SAFETY: a whole frame is at `sp` (`# Safety`): it begins with a return address, before which its shape word
    // stands.
    unsafe { 8 * shape_words(descriptor(*(sp as *const u64), SHAPE)) }
}

/// Notes where the frames below the current segment are. Their continuation objects may be on the move when a
/// collection comes to look at them; the frames themselves do not move.
fn note_below(ctx: &mut Machine) {
    state(ctx).chunks.below.clear();
    let mut k = ctx.thread.under;
    while k != Value::FALSE {
        let span = (continuation_word(k, continuation::SP), continuation_word(k, continuation::BASE));
        state(ctx).chunks.below.push(span);
        k = Value(continuation_word(k, continuation::NEXT));
    }
}

/// The current segment: none before the machine has frames.
fn current(ctx: &Machine) -> Option<Segment> {
    let t = &ctx.thread;
    (t.chunk != 0).then_some(Segment { chunk: t.chunk, sp: t.sp, base: t.base })
}

/// The segment that a continuation object covers, unless it has been used.
///
/// # Safety
/// `k` is the address of a continuation object, as `make_continuation` makes them.
pub(super) unsafe fn covered(k: Address) -> Option<Segment> {
    // SAFETY: `k` is a continuation object (`# Safety`), and `i` one of its words.
    let word = |i: u64| unsafe { k.plus(8 * i).load() };
    let chunk = word(continuation::CHUNK);
    (chunk != 0).then(|| Segment { chunk, sp: word(continuation::SP), base: word(continuation::BASE) })
}

/// What is neither a frame nor in one.
///
/// # Safety
/// At a safepoint, so `Machine::under` holds a value.
unsafe fn visit_rest<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) {
    // SAFETY: `under` is a word of the machine, and holds a continuation object or `#f`, as `set_under` left it.
    unsafe { visitor.slot(&raw mut ctx.thread.under as *mut u64) };
    if ctx.thread.chunk != 0 {
        visitor.mark_chunk(Address(ctx.thread.chunk));
    }
    if let Some((spare, _)) = state(ctx).chunks.spare {
        visitor.mark_chunk(Address(spare));
    }
}

/// The collector's reading of a segment.
///
/// # Safety
/// `s.sp..s.base` are whole frames, whose live words hold values; nothing else uses them meanwhile.
pub(super) unsafe fn visit_segment<V: RootVisitor>(s: Segment, visitor: &mut V) {
    // SAFETY: `sp..base` are whole frames (`# Safety`), each read by its own descriptor.
    unsafe { visit_frames(s.sp, s.base, visitor) };
    visitor.mark_chunk(Address(s.chunk));
}

/// The auditor's reading of a segment.
///
/// # Safety
/// `s.chunk` is the address of a chunk whose first word is its end; nothing else uses it meanwhile.
pub(super) unsafe fn audit_segment<V: RootVisitor>(
    ctx: &mut Machine,
    s: Segment,
    visitor: &mut V,
) -> Result<(), String> {
    // SAFETY: `s.chunk` is a chunk (`# Safety`), whose first word is its end (see `enter_chunk`), so all up to there
    // can be read.
    let outcome = unsafe { state(ctx).auditor.segment(s, Address(s.chunk).load(), visitor) };
    visitor.mark_chunk(Address(s.chunk));
    outcome
}

/// Calls `f` for the frames `sp..base`, which are whole; true: for all, and none of them was the halt frame.
fn walk_segment(mut sp: u64, base: u64, f: &mut dyn FnMut(u64, u64) -> bool) -> bool {
    while sp < base {
        // SAFETY: callers pass bounds of whole frames, and `sp` has moved by whole frames only.
        let (code, shape) = unsafe {
            let code = *(sp as *const u64);
            (code, descriptor(code, SHAPE))
        };
        if shape & flags::HALT != 0 || !f(code, sp) {
            return false;
        }
        sp += 8 * shape_words(shape);
    }
    true
}

/// Calls `f` for the frames of `k` from `sp` on, all of them if that is 0, and for those below, until it returns
/// false.
fn walk_below(mut k: Value, mut sp: u64, f: &mut dyn FnMut(u64, u64) -> bool) {
    while k != Value::FALSE {
        let from = if sp == 0 { continuation_word(k, continuation::SP) } else { sp };
        if !walk_segment(from, continuation_word(k, continuation::BASE), f) {
            return;
        }
        (k, sp) = (Value(continuation_word(k, continuation::NEXT)), 0);
    }
}

/// See [`FrameStrategy::depth`]: by segments.
fn depth(ctx: &Machine, most: u64) -> u64 {
    let mut bytes = ctx.thread.base - ctx.thread.sp;
    let (mut k, mut sp) = (ctx.thread.under, ctx.thread.under_sp);
    while k != Value::FALSE && bytes <= most {
        let from = if sp == 0 { continuation_word(k, continuation::SP) } else { sp };
        bytes += continuation_word(k, continuation::BASE) - from;
        (k, sp) = (Value(continuation_word(k, continuation::NEXT)), 0);
    }
    bytes
}

/// See the module's header.
pub enum ChunksRuntime {}

impl FrameStrategy for ChunksRuntime {
    fn start(ctx: &mut Machine) {
        start(ctx)
    }

    fn overflow(ctx: &mut Machine, bytes: u64, kept: u64) {
        overflow(ctx, bytes, kept)
    }

    fn push(ctx: &mut Machine, code: u64, value: Value) {
        if ctx.thread.sp - 16 < ctx.thread.stack_limit {
            overflow(ctx, 16, 0);
        }
        ctx.thread.sp -= 16;
        // SAFETY: above is made sure that `sp - 16` is not below the limit, so the two words are free.
        unsafe { (ctx.thread.sp as *mut [u64; 2]).write([code, value.0]) };
    }

    fn is_empty(ctx: &Machine) -> bool {
        ctx.thread.sp == ctx.thread.base
    }

    fn settle(ctx: &mut Machine) {
        if ctx.thread.sp == ctx.thread.base {
            underflow(ctx);
        }
    }

    fn underflow(ctx: &mut Machine) {
        underflow(ctx)
    }

    fn capture(ctx: &mut Machine) -> Value {
        capture(ctx)
    }

    fn capture_once(ctx: &mut Machine) -> Value {
        capture_once(ctx)
    }

    fn reinstate(ctx: &mut Machine, k: Value) {
        ctx.thread.sp = ctx.thread.base;
        set_under(ctx, k);
        underflow(ctx)
    }

    /// The consumed part of the continuation below must not keep anything alive.
    fn before_collection(ctx: &mut Machine) {
        // Those that nothing refers to are free afterwards.
        state(ctx).chunks.left.clear();
        state(ctx).chunks.found.begin();
        remainder(ctx);
        if state(ctx).chunks.all_dirty {
            note_below(ctx);
        }
    }

    fn after_collection(ctx: &mut Machine) {
        if !rt(ctx).options.ambiguous_frames {
            compact(ctx);
        }
    }

    unsafe fn visit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) {
        state(ctx).chunks.found.begin();
        // SAFETY: at a safepoint (`# Safety`), so `sp..base` are whole frames; so are the spans that `note_below` took
        // just before this collection from continuation objects, whose frames stay where they are.
        unsafe {
            visit_rest(ctx, visitor);
            if let Some(s) = current(ctx) {
                state(ctx).looks_at::<V>((s.base - s.sp) / 8);
                visit_segment(s, visitor);
            }
            let below = std::mem::take(&mut state(ctx).chunks.below);
            if V::YOUNG_ONLY {
                for (sp, base) in below {
                    state(ctx).looks_at::<V>((base - sp) / 8);
                    visit_frames(sp, base, visitor);
                }
            }
        }
    }

    unsafe fn visit_rest<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) {
        // SAFETY: at a safepoint (`# Safety`), so `under` holds a value.
        unsafe { visit_rest(ctx, visitor) }
    }

    fn segment(ctx: &Machine) -> Option<Segment> {
        current(ctx)
    }

    unsafe fn covered(k: Address) -> Option<Segment> {
        // SAFETY: `k` is a continuation object (`# Safety`).
        unsafe { covered(k) }
    }

    unsafe fn visit_continuation<V: RootVisitor>(ctx: &Machine, k: Address, visitor: &mut V) {
        // SAFETY: `k` is a continuation object at its last place (`# Safety`), so it covers whole frames of a chunk in
        // use.
        unsafe {
            if let Some(s) = covered(k) {
                if !V::YOUNG_ONLY {
                    rt(ctx).strategy.chunks.found.note(k, &s);
                }
                visit_segment(s, visitor)
            }
        }
    }

    unsafe fn audit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) -> Result<(), String> {
        // SAFETY: at a safepoint (`# Safety`), so `under` holds a value; the current chunk is one that `new_chunk`
        // gave.
        unsafe {
            visit_rest(ctx, visitor);
            current(ctx).map_or(Ok(()), |s| audit_segment(ctx, s, visitor))
        }
    }

    unsafe fn audit_continuation<V: RootVisitor>(
        ctx: &mut Machine,
        k: Address,
        visitor: &mut V,
    ) -> Result<(), String> {
        // SAFETY: `k` is a continuation object (`# Safety`), so what it covers lies in a chunk.
        unsafe { covered(k).map_or(Ok(()), |s| audit_segment(ctx, s, visitor)) }
    }

    fn depth(ctx: &Machine, most: u64) -> u64 {
        depth(ctx, most)
    }

    fn walk(ctx: &Machine, f: &mut dyn FnMut(u64, u64) -> bool) {
        let t = &ctx.thread;
        if walk_segment(t.sp, t.base, f) && t.under != Value::FALSE {
            walk_below(t.under, t.under_sp, f);
        }
    }

    fn walk_continuation(k: Value, f: &mut dyn FnMut(u64, u64) -> bool) {
        walk_below(k, 0, f)
    }

    fn live_values(_: &Machine, frame: u64) -> Vec<Value> {
        struct Values(Vec<Value>);
        impl RootVisitor for Values {
            unsafe fn slot(&mut self, slot: *mut u64) {
                // SAFETY: `slot` is a valid word, as `RootVisitor::slot` demands of whoever calls it: `visit_frames`
                // below.
                self.0.push(Value(unsafe { *slot }));
            }
            fn mark_chunk(&mut self, _: Address) {}
        }
        let mut values = Values(Vec::new());
        // SAFETY: `walk` came to `frame`, so a whole frame begins there; `frame + 8` ends the loop after that one.
        unsafe { visit_frames(frame, frame + 8, &mut values) };
        values.0
    }
}
