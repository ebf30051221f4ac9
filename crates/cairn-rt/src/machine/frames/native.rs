//! LLVM's own frames (frame strategy `native`; the setting of Smith & Morrisett 1998).
//!
//! Compiled code runs on a stack in a region of its own (`stack_region`), by `call` and `ret`; the runtime runs on the
//! host's. A return address says how large the caller's frame is (`cairn-llvm/src/activations/joined.rs`), and what is
//! elsewhere prefix data; nothing else is known of a frame, so its words are ambiguous roots.
//!
//! A frame cannot be moved, for LLVM may keep addresses of it. So a continuation is a copy that goes back to where it
//! was: frames of the same depth have the same addresses. Capture copies what is new since the last one, and puts the
//! return point `underflow` in place of the youngest return address; frames come back a few at a time, as they are
//! returned to.
//!
//! ```text
//!   sp                          base
//!   │ frame │ … frame │ frame   │ underflow     not in place: frames of `under`, from `under_sp` on, … halt │
//!
//!   chunk │ its end │ addresses in the region less those here │ frames …                    of a continuation
//! ```
//!
//! valgrind takes writes here ("Invalid write", at `reinstate` and `underflow`) for faults, as far as we can tell by
//! mistake: it thinks that what the stack pointer has left behind may not be written any more. But the words are in the
//! region, mapped and writable (so says valgrind itself), at the places that the frames had when they were captured.
//! What is in place there is given up by `reinstate`, and lies below what `underflow` brings back; the runtime is on
//! the host's stack meanwhile, and signals have a stack of their own (`signal_stack`).
//!
//! Invariants: at `base` is the address of `underflow`; the frames of `under` belong at `base`; all return addresses
//! lie at 8 modulo 16; between runtime calls, what compiled code has on the stack lies above `Machine::native_sp`.

use super::stack_region::STEP_MAX;
use super::strategy::{FrameStrategy, behind_native_descriptor, continuation_word, make_continuation, operand};
use super::whole::{self, COPIES, is_tiny, region};
use crate::fatal;
use crate::machine::audit::Segment;
use crate::machine::frame_reader::descriptor;
use crate::machine::state::State;
use crate::machine::{native_stubs, signal_stack};
use crate::runtime::rt;
use cairn_heap::address::Address;
use cairn_heap::{AmbiguousVisitor, RootVisitor};
use cairn_layout::Value;
use cairn_layout::code::{SHAPE, flags};
use cairn_layout::machine::{Machine, NativeStubs, slot};
use cairn_layout::object::continuation::{self, state as status};

/// About so many bytes of frames come back at a time.
const PART: u64 = 1024;
/// Words of a copy's chunk before the frames.
const HEAD: u64 = 16;

fn state(ctx: &mut Machine) -> &'static mut State {
    &mut rt(ctx).strategy
}

/// Takes the stubs for such frames into use, instead of the usual ones.
pub fn install(ctx: &mut Machine) {
    ctx.cold_stub = native_stubs::cold as *const () as u64;
    ctx.slow_stub = native_stubs::slow as *const () as u64;
    ctx.native = NativeStubs {
        call: native_stubs::call as *const () as u64,
        call_c: native_stubs::call_c as *const () as u64,
        return_many: native_stubs::return_many as *const () as u64,
        go: native_stubs::go as *const () as u64,
    };
    let s = state(ctx);
    s.halt = native_stubs::halt as *const () as u64;
    s.underflow = native_stubs::underflow as *const () as u64;
    s.resume = native_stubs::resume as *const () as u64;
}

/// Bytes from this return address, which is that of a function's caller, to the caller's own.
///
/// # Safety
/// The word at `at` is a return address of native frames; behind one of `resume` stands the size of its frame.
unsafe fn frame_bytes(at: u64, resume: u64) -> u64 {
    // SAFETY: at `at` is a return address of native frames (`# Safety`), behind which the two instructions stand; one
    // of `resume` has its frame's size in the next word of the stack.
    unsafe {
        let code = *(at as *const u64);
        if code == resume { *((at + 8) as *const u64) } else { operand(code, SIZE).wrapping_add(8) }
    }
}

/// Where the operands are of the two instructions behind a call, and where these end.
const SIZE: u64 = 4;

/// The word at an address of the stack.
fn set_stack_word(at: u64, word: u64) {
    // SAFETY: callers have the address of a word of the region, at or below the frames; it grows when it is written.
    unsafe { *(at as *mut u64) = word }
}

/// How far from its copy a continuation's frames belong.
fn distance(k: Value) -> u64 {
    // SAFETY: `k` is a continuation object, whose chunk begins with the two words that `copy_out` wrote.
    unsafe { *((continuation_word(k, continuation::CHUNK) + 8) as *const u64) }
}

/// Where the frames of a continuation belong: from and to.
fn place(k: Value) -> (u64, u64) {
    let d = distance(k);
    [continuation::SP, continuation::BASE].map(|i| continuation_word(k, i).wrapping_add(d)).into()
}

fn set_under(ctx: &mut Machine, k: Value) {
    (ctx.thread.under, ctx.thread.under_sp) = (k, 0);
}

/// A continuation like `k`, from the copied frame at `sp` on, with the present winders.
fn part_of(ctx: &mut Machine, k: Value, sp: u64) -> Value {
    let [chunk, base, next] =
        [continuation::CHUNK, continuation::BASE, continuation::NEXT].map(|i| continuation_word(k, i));
    let winders = ctx.slot(slot::WINDERS).0;
    make_continuation(ctx, [chunk, sp, base, next, winders, status::SHARED])
}

/// The continuation of the frames that are not in place, as an object of its own or `#f`.
fn remainder(ctx: &mut Machine) -> Value {
    if ctx.thread.under_sp != 0 {
        let rest = part_of(ctx, ctx.thread.under, ctx.thread.under_sp);
        set_under(ctx, rest);
    }
    ctx.thread.under
}

/// Copies the frames `sp..base`, at least one, into a continuation object, which is then `Machine::under`.
fn copy_out(ctx: &mut Machine) {
    let next = remainder(ctx);
    let (sp, bytes) = (ctx.thread.sp, ctx.thread.base - ctx.thread.sp);
    let (chunk, end) = whole::alloc_chunk(ctx, bytes + HEAD);
    let to = chunk + HEAD;
    // SAFETY: `alloc_chunk` was asked for `bytes + HEAD`, so the chunk has room for two words and the frames
    // `sp..base`.
    unsafe {
        *(chunk as *mut [u64; 2]) = [end, sp.wrapping_sub(to)];
        std::ptr::copy_nonoverlapping(sp as *const u64, to as *mut u64, (bytes / 8) as usize);
    }
    rt(ctx).heap.chunks_are_due();
    let winders = ctx.slot(slot::WINDERS).0;
    let k = make_continuation(ctx, [chunk, to, to + bytes, next.0, winders, status::SHARED]);
    set_under(ctx, k);
    ctx.thread.base = sp;
    set_stack_word(sp, state(ctx).underflow);
}

/// Walks over copied or present frames; true: over all, and none of them was the halt frame.
fn walk_frames(mut at: u64, end: u64, resume: u64, f: &mut dyn FnMut(u64, u64) -> bool) -> bool {
    while at < end {
        // SAFETY: callers pass the bounds of whole frames, and `at` has moved by whole frames only.
        let (bytes, code, shape) = unsafe {
            let code = *(at as *const u64);
            (frame_bytes(at, resume), code, descriptor(behind_native_descriptor(code), SHAPE))
        };
        if shape & flags::HALT != 0 || !f(code, at) {
            return false;
        }
        at += bytes;
    }
    true
}

/// Walks over the frames of `k` from `sp` on, all of them if that is 0, and over those below.
fn walk_below(mut k: Value, mut sp: u64, f: &mut dyn FnMut(u64, u64) -> bool) {
    let resume = native_stubs::resume as *const () as u64;
    while k != Value::FALSE {
        let from = if sp == 0 { continuation_word(k, continuation::SP) } else { sp };
        if !walk_frames(from, continuation_word(k, continuation::BASE), resume, f) {
            return;
        }
        (k, sp) = (Value(continuation_word(k, continuation::NEXT)), 0);
    }
}

/// See the module's header.
pub enum NativeRuntime {}

impl FrameStrategy for NativeRuntime {
    fn start(ctx: &mut Machine) {
        whole::ensure_region(ctx);
        if !signal_stack::ensure() {
            fatal::say(ctx, "cairn: there is no memory for the stack of signal handlers");
            fatal::end(ctx, 1)
        }
        let base = region(ctx).end - 8;
        set_stack_word(base, state(ctx).underflow);
        set_stack_word(base - 16, state(ctx).halt);
        (ctx.thread.sp, ctx.thread.base) = (base - 16, base);
        set_under(ctx, Value::FALSE);
        ctx.native_sp = ctx.thread.sp;
        whole::start_in_region(ctx);
    }

    fn overflow(_: &mut Machine, _: u64, _: u64) {
        unreachable!("nothing is below the limit of a stack that has none")
    }

    fn grown(ctx: &mut Machine) {
        whole::count_growth(ctx);
    }

    fn copy_bytes(ctx: &Machine) -> u64 {
        let used = ctx.thread.base - ctx.thread.sp;
        // the stack grows by a step before this is asked again
        COPIES * used + used.min((COPIES + 1) * STEP_MAX)
    }

    /// Frames of one slot are those of `suspend`: below is the saved block of the runtime call under way.
    fn push(ctx: &mut Machine, code: u64, value: Value) {
        let sp = ctx.native_sp - native_stubs::RESUME_HEAD;
        for (i, word) in [code, ctx.thread.sp - sp, value.0].into_iter().enumerate() {
            set_stack_word(sp + 8 * i as u64, word);
        }
        ctx.thread.sp = sp;
    }

    /// A return to `underflow` finds its way.
    fn settle(_: &mut Machine) {}

    fn underflow(ctx: &mut Machine) {
        let k = ctx.thread.under;
        let (from, end) = match ctx.thread.under_sp {
            0 => (continuation_word(k, continuation::SP), continuation_word(k, continuation::BASE)),
            sp => (sp, continuation_word(k, continuation::BASE)),
        };
        let tiny = is_tiny(ctx);
        let s = state(ctx);
        let part = if tiny { 1 } else { PART };
        let mut to = from;
        while to < end && to - from < part {
            // SAFETY: `from..end` are whole frames of `k`, `to < end`, and `to` has moved by whole frames only.
            to += unsafe { frame_bytes(to, s.resume) };
        }
        let d = distance(k);
        let sp = from.wrapping_add(d);
        // SAFETY: `distance` says where in the region the frames were, and nothing is there that lives: younger frames
        // have been left.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u64, sp as *mut u64, ((to - from) / 8) as usize) };
        (ctx.thread.sp, ctx.thread.base) = (sp, to.wrapping_add(d));
        set_stack_word(ctx.thread.base, state(ctx).underflow);
        if to == end {
            set_under(ctx, Value(continuation_word(k, continuation::NEXT)));
        } else {
            ctx.thread.under_sp = to;
        }
    }

    fn capture(ctx: &mut Machine) -> Value {
        if ctx.thread.sp < ctx.thread.base {
            copy_out(ctx);
            return ctx.thread.under;
        }
        let k = remainder(ctx);
        if continuation_word(k, continuation::WINDERS) == ctx.slot(slot::WINDERS).0 {
            return k;
        }
        let sp = continuation_word(k, continuation::SP);
        part_of(ctx, k, sp)
    }

    fn reinstate(ctx: &mut Machine, k: Value) {
        let sp = place(k).0;
        (ctx.thread.sp, ctx.thread.base) = (sp, sp);
        set_stack_word(sp, state(ctx).underflow);
        set_under(ctx, k);
    }

    /// The part that is in place must not keep anything alive in its copy.
    fn before_collection(ctx: &mut Machine) {
        if ctx.thread.chunk == 0 {
            return; // no thread has been started
        }
        let lowest = Self::lowest(ctx);
        let back = region(ctx).trim(lowest);
        rt(ctx).heap.discharge(back);
        remainder(ctx);
    }

    /// Frames cannot be read precisely: what only they refer to is not found.
    unsafe fn visit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) {
        // SAFETY: at a safepoint (`# Safety`), so `under`, which is all that is visited, holds a value.
        unsafe { Self::visit_rest(ctx, visitor) }
    }

    unsafe fn visit_rest<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) {
        // SAFETY: at a safepoint (`# Safety`), so `under` holds a value: a continuation object or `#f`.
        unsafe { visitor.slot(&raw mut ctx.thread.under as *mut u64) };
    }

    unsafe fn visit_ambiguous<V: AmbiguousVisitor>(ctx: &mut Machine, visitor: &mut V) {
        if ctx.thread.chunk != 0 {
            let (from, base) = (Self::lowest(ctx), ctx.thread.base);
            state(ctx).full_words += (base - from) / 8;
            // SAFETY: `lowest..base` are words of the region between what compiled code has on its stack and the oldest
            // frame in place.
            unsafe { visitor.ambiguous_words(from as *const u64, ((base - from) / 8) as usize) };
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
        // SAFETY: `k` is a continuation object (`# Safety`).
        if let Some(s) = unsafe { whole::segment_of(k) } {
            visitor.mark_chunk(Address(s.chunk));
        }
    }

    unsafe fn audit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) -> Result<(), String> {
        // SAFETY: at a safepoint (`# Safety`), so `under`, which is all that is visited, holds a value.
        unsafe { Self::visit_rest(ctx, visitor) };
        Ok(())
    }

    unsafe fn audit_continuation<V: RootVisitor>(
        ctx: &mut Machine,
        k: Address,
        visitor: &mut V,
    ) -> Result<(), String> {
        // SAFETY: `k` is a continuation object (`# Safety`), of which no frame is read here.
        unsafe { Self::visit_continuation(ctx, k, visitor) };
        Ok(())
    }

    fn walk(ctx: &Machine, f: &mut dyn FnMut(u64, u64) -> bool) {
        let t = &ctx.thread;
        if walk_frames(t.sp, t.base, rt(ctx).strategy.resume, f) && t.under != Value::FALSE {
            walk_below(t.under, t.under_sp, f);
        }
    }

    fn walk_continuation(k: Value, f: &mut dyn FnMut(u64, u64) -> bool) {
        walk_below(k, 0, f)
    }

    fn live_values(ctx: &Machine, frame: u64) -> Vec<Value> {
        // SAFETY: `walk` came to `frame`, so a whole frame begins there, whose size `frame_bytes` tells; words can be
        // read as any value.
        let words = unsafe {
            let bytes = frame_bytes(frame, native_stubs::resume as *const () as u64);
            std::slice::from_raw_parts(frame as *const Value, (bytes / 8) as usize)
        };
        let heap = &rt(ctx).heap;
        words.iter().copied().filter(|v| v.is_pointer() && heap.is_in_use(v.address())).collect()
    }
}

impl NativeRuntime {
    /// The lowest address of what is needed on the stack.
    fn lowest(ctx: &mut Machine) -> u64 {
        let at = ctx.native_sp;
        let r = region(ctx);
        if (r.start()..r.end).contains(&at) { at.min(ctx.thread.sp) } else { ctx.thread.sp }
    }
}
