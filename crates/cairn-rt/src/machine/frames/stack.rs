//! One contiguous stack with a guard page (frame strategy `stack`; Appel & Shao 1996 §2).
//!
//! Frames grow down in a region of their own (`stack_region`), which gets memory by page faults: compiled code asks for
//! nothing when it pushes a frame. A continuation is a copy of all frames, which is copied back when it is invoked.
//!
//! **Generations.** What a minor collection has seen of the stack need not be looked at again unless it has been run
//! since. So before a collection an underflow frame, a *mark*, is put in above the youngest frame, which moves down by
//! a word. Only frames below the youngest mark can have changed. A return to a mark comes to the runtime, which takes
//! the mark away and puts in another, some frames higher up.
//!
//! ```text
//!   sp                base
//!   │ frame │ … frame │ mark │ frame │ frame … │ mark │ frame … halt │ underflow │
//!   └ may be new ─────┘      └ visited, not run since ───────────────┘ marks[0]
//! ```
//!
//! Invariants: `ThreadState::base` is the address of the youngest mark, the last of [`Stack::marks`]; between two marks
//! is at least one frame; frames at or above [`Stack::visited`], which is not below `base` between collections, hold
//! nothing young that a collection has not shown.
//!
//! [`Stack::marks`]: crate::machine::state::Stack::marks
//! [`Stack::visited`]: crate::machine::state::Stack::visited

use super::chunks::ChunksRuntime;
use super::stack_region::STEP_MAX;
use super::strategy::FrameStrategy;
use super::whole;
use super::whole::{COPIES, is_tiny, region};
use crate::machine::audit::Segment;
use crate::machine::frame_reader::visit_frames;
use crate::machine::state::State;
use crate::runtime::rt;
use cairn_heap::RootVisitor;
use cairn_heap::address::Address;
use cairn_layout::Value;
use cairn_layout::collector::Barrier;
use cairn_layout::machine::Machine;

/// Fewer bytes of frames than this are looked at by each collection; and about so many come back at a mark.
const PART: u64 = 1024;

fn state(ctx: &mut Machine) -> &'static mut State {
    &mut rt(ctx).strategy
}

/// Empties the stack.
fn clear(ctx: &mut Machine) {
    let underflow = state(ctx).underflow;
    let bottom = region(ctx).end - 8;
    // SAFETY: the region ends at `bottom + 8`; its upper end can be written from the beginning, and no frame is there
    // now.
    unsafe { *(bottom as *mut u64) = underflow };
    set_marks(ctx, bottom);
    ctx.thread.sp = bottom;
}

/// There is no mark but the end of the stack.
fn set_marks(ctx: &mut Machine, bottom: u64) {
    let stack = &mut state(ctx).stack;
    stack.marks.clear();
    stack.marks.push(bottom);
    stack.visited = bottom;
    ctx.thread.base = bottom;
}

fn bottom(ctx: &mut Machine) -> u64 {
    state(ctx).stack.marks[0]
}

/// Puts a mark between the frames `sp..split` and what comes above; they move down by a word.
///
/// # Safety
/// `sp..split` are whole frames, at least one; `split` is below the youngest mark.
unsafe fn put_mark(ctx: &mut Machine, split: u64) {
    let s = state(ctx);
    let sp = ctx.thread.sp;
    // SAFETY: the region goes on below `sp`, and a fault there makes it grow; `sp..split` are whole frames (`#
    // Safety`), which hold no addresses of frames, so they may move.
    unsafe {
        std::ptr::copy(sp as *const u64, (sp - 8) as *mut u64, ((split - sp) / 8) as usize);
        *((split - 8) as *mut u64) = s.underflow;
    }
    s.stack.marks.push(split - 8);
    ctx.thread.base = split - 8;
    ctx.thread.sp = sp - 8;
}

/// Parts of the stack without marks, youngest first.
fn spans(ctx: &mut Machine) -> Vec<(u64, u64)> {
    let mut from = ctx.thread.sp;
    let marks = state(ctx).stack.marks.iter().rev();
    marks.map(|&mark| (std::mem::replace(&mut from, mark + 8), mark)).filter(|(from, to)| from < to).collect()
}

/// See the module's header.
pub enum StackRuntime {}

impl FrameStrategy for StackRuntime {
    fn start(ctx: &mut Machine) {
        whole::ensure_region(ctx);
        clear(ctx);
        let halt = state(ctx).halt;
        ctx.thread.sp -= 8;
        // SAFETY: `clear` left `sp` at the last word of the region, and nothing is below it.
        unsafe { *(ctx.thread.sp as *mut u64) = halt };
        whole::start_in_region(ctx);
    }

    fn overflow(_: &mut Machine, _: u64, _: u64) {
        unreachable!("nothing is below the limit of a stack that has none")
    }

    fn grown(ctx: &mut Machine) {
        whole::count_growth(ctx);
    }

    fn copy_bytes(ctx: &Machine) -> u64 {
        let used = rt(ctx).strategy.stack.marks[0] - ctx.thread.sp;
        // the stack and its copies grow by a step before this is asked again
        COPIES * used + used.min((COPIES + 1) * STEP_MAX)
    }

    fn push(ctx: &mut Machine, code: u64, value: Value) {
        ctx.thread.sp -= 16;
        // SAFETY: the region goes on below `sp`, and a fault there makes it grow.
        unsafe { (ctx.thread.sp as *mut [u64; 2]).write([code, value.0]) };
    }

    fn settle(ctx: &mut Machine) {
        if ctx.thread.sp == ctx.thread.base {
            Self::underflow(ctx);
        }
    }

    /// Takes the youngest mark away and puts one in some frames above.
    fn underflow(ctx: &mut Machine) {
        debug_assert_eq!(ctx.thread.sp, ctx.thread.base);
        let part = if is_tiny(ctx) { 1 } else { PART };
        let stack = &mut state(ctx).stack;
        stack.marks.pop();
        let next = *stack.marks.last().expect("returned below the outermost frame");
        ctx.thread.sp += 8;
        let mut split = ctx.thread.sp;
        while split < next && split - ctx.thread.sp < part {
            // SAFETY: whole frames lie between two marks, `split < next`, and `split` has moved by whole frames only.
            split += unsafe { whole::frame_bytes(split) };
        }
        if split == next {
            ctx.thread.base = next;
        } else {
            // SAFETY: `split` is between two frames: it has moved by whole frames from `sp`.
            unsafe { put_mark(ctx, split) };
        }
        stack.visited = stack.visited.max(ctx.thread.base);
    }

    fn capture(ctx: &mut Machine) -> Value {
        let spans = spans(ctx);
        // SAFETY: `spans` gives the frames between the marks, to the end of the stack, where the outermost frame is.
        unsafe { whole::copy_out(ctx, &spans) }
    }

    fn same(j: Value, k: Value) -> bool {
        whole::same(j, k)
    }

    fn reinstate(ctx: &mut Machine, k: Value) {
        let (from, to) = whole::frames_of(k);
        let bottom = bottom(ctx);
        set_marks(ctx, bottom);
        ctx.thread.sp = bottom - (to - from);
        // SAFETY: `from..to` are the frames in the copy that `k` keeps; the region goes on below `bottom`, and a fault
        // makes it grow.
        unsafe {
            std::ptr::copy_nonoverlapping(
                from as *const u64,
                ctx.thread.sp as *mut u64,
                ((to - from) / 8) as usize,
            )
        };
    }

    fn before_collection(ctx: &mut Machine) {
        if ctx.thread.chunk == 0 {
            return; // no thread has been started
        }
        let sp = ctx.thread.sp;
        let back = region(ctx).trim(sp);
        rt(ctx).heap.discharge(back);
        let enough = if is_tiny(ctx) { 0 } else { PART };
        let generations = rt(ctx).heap.facts().barrier != Barrier::None;
        if generations && ctx.thread.base - sp > enough {
            // SAFETY: the youngest frame is at `sp`, for `base - sp > enough >= 0`.
            let split = sp + unsafe { whole::frame_bytes(sp) };
            if split < ctx.thread.base {
                // SAFETY: `split` is the end of the youngest frame, and another is above it.
                unsafe { put_mark(ctx, split) };
            }
        }
    }

    unsafe fn visit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) {
        if ctx.thread.chunk == 0 {
            return;
        }
        let (sp, bottom) = (ctx.thread.sp, bottom(ctx));
        let s = state(ctx);
        let end = if V::YOUNG_ONLY { s.stack.visited } else { bottom };
        s.looks_at::<V>((end - sp) / 8);
        // SAFETY: at a safepoint (`# Safety`), so whole frames lie between `sp` and `end`, and marks, which are frames
        // of one word, too.
        unsafe { visit_frames(sp, end, visitor) };
        s.stack.visited = ctx.thread.base;
    }

    /// The region is no chunk of the heap.
    unsafe fn visit_rest<V: RootVisitor>(_: &mut Machine, _: &mut V) {}

    fn segment(ctx: &Machine) -> Option<Segment> {
        let base = *rt(ctx).strategy.stack.marks.first()?;
        Some(Segment { chunk: ctx.thread.chunk, sp: ctx.thread.sp, base })
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
        if ctx.thread.chunk == 0 {
            return Ok(());
        }
        let (chunk, end) = (ctx.thread.chunk, region(ctx).end);
        for (sp, base) in spans(ctx) {
            // SAFETY: the spans lie between `sp` and the region's end, which can all be read and written (`# Safety`).
            unsafe { state(ctx).auditor.segment(Segment { chunk, sp, base }, end, visitor)? };
        }
        Ok(())
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
