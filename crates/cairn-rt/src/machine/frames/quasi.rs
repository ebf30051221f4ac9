//! Frames from a free list (frame strategy `quasi`; Danvy 1987, the quasi-stack of Appel & Shao 1996 §9).
//!
//! Frames are linked and never move; their words lie in parts of eight words (`cairn_layout::quasi`). Compiled code
//! takes the parts of a frame from a free list and puts them back when it leaves the frame. Parts come from blocks,
//! which are chunks of the heap.
//!
//! **Marks.** A frame that a continuation refers to, or that a collection has found, bears a mark: it is not put back,
//! so nobody writes it. All frames below a marked one are marked, too. So a capture marks frames as far as the first
//! that is marked already, and a minor collection visits frames as far as the first that an earlier one has *kept*:
//! what has been pushed since.
//!
//! **Blocks.** A bit for each part says that the last collections have kept it. The other parts are free as soon as a
//! collection is over; the free list is made of them block by block, when it has run out. A block that a collection
//! leaves empty, and that was not needed until the next, goes back to the heap.
//!
//! Invariants: a part whose bit is not set is in the free list, in a frame made since the last collection, or behind
//! the cursor; frames with a bit have a mark; the outermost frame's link is 0.

use super::quasi_blocks::{Block, PART, Quasi};
use super::strategy::{FrameStrategy, continuation_word, make_continuation};
use super::whole;
use crate::machine::audit::Segment;
use crate::machine::frame_reader::{descriptor, is_live};
use crate::machine::stop_word::arm;
use crate::runtime::rt;
use cairn_heap::address::Address;
use cairn_heap::blocks::POISON;
use cairn_heap::{AmbiguousVisitor, RootVisitor};
use cairn_layout::Value;
use cairn_layout::code::{SHAPE, flags, shape_words};
use cairn_layout::machine::{Machine, slot};
use cairn_layout::object::continuation;
use cairn_layout::quasi::{MARK, NEXT, part_of, parts};

/// Most bytes of a block.
const BLOCK_MAX: u64 = 1 << 20;

fn quasi(ctx: &Machine) -> &'static mut Quasi {
    &mut rt(ctx).strategy.quasi
}

/// The parts of a frame, from the first.
///
/// # Safety
/// A frame of so many words begins at `frame`: all of its parts but the last are linked to the next. (Who does not
/// know may check each part before asking for the next.)
unsafe fn parts_of(frame: u64, words: u64) -> impl Iterator<Item = u64> {
    let mut part = frame;
    (0..parts(words as u32)).map(move |i| {
        if i > 0 {
            // SAFETY: `part` is one of the frame's parts (`# Safety`) and `i` more are to come, so its `NEXT` links it
            // to one.
            part = unsafe { *((part + NEXT) as *const u64) };
        }
        part
    })
}

/// A frame as compiled code left it.
struct Frame {
    code: u64,
    link: u64,
    shape: u64,
    words: u64,
    at: u64,
}

impl Frame {
    /// # Safety
    /// A frame begins at `at`: a return address, before which a descriptor stands, and the link.
    unsafe fn read(at: u64) -> Frame {
        // SAFETY: a frame begins at `at` (`# Safety`): a return address, before which a descriptor stands, and the
        // link.
        unsafe {
            let [code, link] = *(at as *const [u64; 2]);
            let shape = descriptor(code, SHAPE);
            Frame { code, link, shape, words: shape_words(shape), at }
        }
    }

    fn below(&self) -> u64 {
        self.link & !MARK
    }

    fn is_outermost(&self) -> bool {
        self.shape & flags::HALT != 0
    }

    /// Calls `f` with the address of each slot, and whether it is live.
    fn slots(&self, mut f: impl FnMut(u64, bool)) {
        // SAFETY: `read` found a frame at `self.at`, and `code`, `shape` and `words` are what its descriptor says.
        unsafe {
            let all: Vec<u64> = parts_of(self.at, self.words).collect();
            for i in 2..self.words {
                let (part, offset) = part_of(self.words as u32, i as u32);
                f(all[part as usize] + 8 * u64::from(offset), is_live(self.code, self.shape, i));
            }
        }
    }
}

/// Keeps the frames from `frame` on, as far as no earlier collection has, and calls `f` with each.
///
/// # Safety
/// `frame` is 0 or a frame; nothing runs it meanwhile.
unsafe fn keep(ctx: &Machine, mut frame: u64, mut f: impl FnMut(&Frame)) {
    let quasi = quasi(ctx);
    while frame != 0 {
        // SAFETY: `frame` is a frame: the first by `# Safety`, the others because a frame's link is one or 0. Its
        // second word is the link, which only compiled code and this thread write.
        unsafe {
            let read = Frame::read(frame);
            let mut known = false;
            parts_of(frame, read.words).for_each(|part| known |= quasi.keep(part));
            if known {
                return;
            }
            *((frame + 8) as *mut u64) |= MARK;
            f(&read);
            frame = read.below();
        }
    }
}

/// Lets the free list be made anew, and keeps the blocks.
fn begin<V: RootVisitor>(ctx: &mut Machine, everything: bool, visitor: &mut V) {
    quasi(ctx).begin(everything);
    ctx.free_parts = 0;
    mark_blocks(ctx, visitor);
}

fn mark_blocks<V: RootVisitor>(ctx: &Machine, visitor: &mut V) {
    quasi(ctx).blocks.iter().for_each(|b| visitor.mark_chunk(Address(b.start)));
}

/// Puts the free parts of the next block into the free list; of a new one, if no block has any.
fn refill(ctx: &mut Machine) {
    if let Some(start) = quasi(ctx).waiting.pop() {
        let block = quasi(ctx).block(start).expect("a block that waits");
        let n = block.index(block.end);
        let free = (0..n).rev().filter(|i| !block.keeps(*i)).map(|i| block.start + PART * i as u64);
        // SAFETY: no bit of these parts of a block is set, so by the module's invariant nobody uses them.
        free.for_each(|part| unsafe {
            *((part + NEXT) as *mut u64) = std::mem::replace(&mut ctx.free_parts, part);
        });
        return;
    }
    let have: u64 = quasi(ctx).blocks.iter().map(|b| b.end - b.start).sum();
    let usual = rt(ctx).strategy.chunks.geometry.bytes;
    let bytes = (have / 4).min(BLOCK_MAX).next_multiple_of(usual).max(usual);
    let (start, end) = whole::alloc_chunk(ctx, bytes);
    // Captured frames do not come back by themselves.
    rt(ctx).heap.chunks_are_due();
    let kept = vec![0; ((end - start) / PART).div_ceil(64) as usize];
    let blocks = &mut quasi(ctx).blocks;
    let at = blocks.partition_point(|b| b.start < start);
    blocks.insert(at, Block { start, end, kept });
    quasi(ctx).waiting.push(start);
}

/// Are there so many parts in the free list?
fn has(ctx: &Machine, n: u32) -> bool {
    let mut part = ctx.free_parts;
    for _ in 0..n {
        if part == 0 {
            return false;
        }
        // SAFETY: `part` is not 0, so it is a part of the free list, whose `NEXT` is the following one or 0.
        part = unsafe { *((part + NEXT) as *const u64) };
    }
    true
}

/// A frame of at most eight words, with these in it.
fn make<const N: usize>(ctx: &mut Machine, words: [u64; N]) {
    while !has(ctx, 1) {
        refill(ctx);
    }
    let part = ctx.free_parts;
    // SAFETY: `has(ctx, 1)` above, so `part` heads the free list; callers make frames of at most eight words, one part.
    unsafe {
        ctx.free_parts = *((part + NEXT) as *const u64);
        (part as *mut [u64; N]).write(words);
    }
    ctx.thread.sp = part;
}

/// See the module's header.
pub enum QuasiRuntime {}

impl FrameStrategy for QuasiRuntime {
    fn start(ctx: &mut Machine) {
        ctx.thread.stack_limit = 0;
        arm(ctx);
        let halt = rt(ctx).strategy.halt;
        make(ctx, [halt, 0]);
    }

    fn lacks_room(ctx: &Machine, bytes: u64) -> bool {
        !has(ctx, parts((bytes / 8) as u32))
    }

    fn overflow(ctx: &mut Machine, bytes: u64, _: u64) {
        while Self::lacks_room(ctx, bytes) {
            refill(ctx);
        }
    }

    fn push(ctx: &mut Machine, code: u64, value: Value) {
        let below = ctx.thread.sp;
        make(ctx, [code, below, value.0]);
    }

    fn settle(_: &mut Machine) {}

    fn underflow(_: &mut Machine) {
        unreachable!("linked frames have no segments")
    }

    fn capture(ctx: &mut Machine) -> Value {
        let mut frame = ctx.thread.sp;
        while frame != 0 {
            // SAFETY: `frame` is `sp` or what a frame is linked to, and not 0, so a frame; its second word is its link.
            let link = unsafe { &mut *((frame + 8) as *mut u64) };
            if *link & MARK != 0 {
                break;
            }
            frame = std::mem::replace(link, *link | MARK);
        }
        let winders = ctx.slot(slot::WINDERS).0;
        make_continuation(ctx, [0, ctx.thread.sp, 0, Value::FALSE.0, winders, Value::fixnum(0).0])
    }

    fn reinstate(ctx: &mut Machine, k: Value) {
        ctx.thread.sp = continuation_word(k, continuation::SP);
    }

    /// Gives back blocks that have been empty and not needed since the last collection.
    fn before_collection(ctx: &mut Machine) {
        if rt(ctx).options.ambiguous_frames {
            return;
        }
        for start in std::mem::take(&mut quasi(ctx).waiting) {
            if quasi(ctx).blocks.len() > 1 && quasi(ctx).block(start).is_some_and(|b| b.is_empty()) {
                quasi(ctx).blocks.retain(|b| b.start != start);
                rt(ctx).heap.free_chunk(start);
            }
        }
    }

    unsafe fn visit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) {
        begin(ctx, !V::YOUNG_ONLY, visitor);
        // SAFETY: the frames are whole (`# Safety`), so `sp` is a frame or 0; `slots` shows words of frames, live ones
        // of which hold values.
        unsafe {
            keep(ctx, ctx.thread.sp, |frame| {
                rt(ctx).strategy.looks_at::<V>(frame.words);
                frame.slots(|slot, live| {
                    if live {
                        visitor.slot(slot as *mut u64);
                    }
                });
            });
        }
    }

    unsafe fn visit_rest<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) {
        mark_blocks(ctx, visitor);
    }

    unsafe fn visit_ambiguous<V: AmbiguousVisitor>(ctx: &mut Machine, visitor: &mut V) {
        quasi(ctx).begin(true);
        ctx.free_parts = 0;
        // SAFETY: the frames are whole (`# Safety`), so `sp` is a frame or 0.
        unsafe { keep(ctx, ctx.thread.sp, |frame| show(frame, visitor)) };
    }

    unsafe fn visit_continuation<V: RootVisitor>(ctx: &Machine, k: Address, visitor: &mut V) {
        // SAFETY: `k` is a continuation object (`# Safety`), whose `SP` is a frame that `capture` has marked, so that
        // it stays.
        unsafe {
            keep(ctx, k.plus(8 * continuation::SP).load(), |frame| {
                rt(ctx).strategy.looks_at_continuation::<V>(frame.words);
                frame.slots(|slot, live| {
                    if live {
                        visitor.slot(slot as *mut u64);
                    }
                });
            });
        }
    }

    unsafe fn visit_ambiguous_continuation<V: RootVisitor + AmbiguousVisitor>(
        ctx: &Machine,
        k: Address,
        visitor: &mut V,
    ) {
        // SAFETY: `k` is a continuation object (`# Safety`), whose `SP` is a frame that `capture` has marked, so that
        // it stays.
        unsafe { keep(ctx, k.plus(8 * continuation::SP).load(), |frame| show(frame, visitor)) };
    }

    unsafe fn audit_ambiguous<V: AmbiguousVisitor>(ctx: &mut Machine, visitor: &mut V) {
        quasi(ctx).audited.clear();
        // SAFETY: the frames are whole (`# Safety`), so `sp` is a frame or 0.
        unsafe { show_unaudited(ctx, ctx.thread.sp, visitor) }
    }

    unsafe fn audit_ambiguous_continuation<V: RootVisitor + AmbiguousVisitor>(
        ctx: &Machine,
        k: Address,
        visitor: &mut V,
    ) {
        // SAFETY: `k` is a continuation object (`# Safety`), whose `SP` is a frame that `capture` has marked, so that
        // it stays.
        unsafe { show_unaudited(ctx, k.plus(8 * continuation::SP).load(), visitor) }
    }

    fn segment(_: &Machine) -> Option<Segment> {
        None
    }

    unsafe fn covered(_: Address) -> Option<Segment> {
        None
    }

    unsafe fn audit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) -> Result<(), String> {
        quasi(ctx).audited.clear();
        mark_blocks(ctx, visitor);
        audit(ctx, ctx.thread.sp, visitor)
    }

    unsafe fn audit_continuation<V: RootVisitor>(
        ctx: &mut Machine,
        k: Address,
        visitor: &mut V,
    ) -> Result<(), String> {
        // SAFETY: `k` is a continuation object (`# Safety`), of which `SP` is a word.
        audit(ctx, unsafe { k.plus(8 * continuation::SP).load() }, visitor)
    }

    fn depth(ctx: &Machine, most: u64) -> u64 {
        let mut bytes = 0;
        walk(ctx.thread.sp, &mut |code, _| {
            // SAFETY: `walk` shows return addresses of frames, before which a descriptor stands.
            let words = shape_words(unsafe { descriptor(code, SHAPE) });
            bytes += PART * u64::from(parts(words as u32));
            bytes <= most
        });
        bytes
    }

    fn walk(ctx: &Machine, f: &mut dyn FnMut(u64, u64) -> bool) {
        walk(ctx.thread.sp, f)
    }

    fn walk_continuation(k: Value, f: &mut dyn FnMut(u64, u64) -> bool) {
        walk(continuation_word(k, continuation::SP), f)
    }

    fn live_values(_: &Machine, frame: u64) -> Vec<Value> {
        let mut values = vec![];
        // SAFETY: `walk` came to `frame`, so it is one; a live slot of it holds a value.
        unsafe {
            Frame::read(frame).slots(|slot, live| {
                if live {
                    values.push(Value(*(slot as *const u64)));
                }
            });
        }
        values
    }
}

/// Calls `f` for a frame, if it is not 0, and those below.
fn walk(mut frame: u64, f: &mut dyn FnMut(u64, u64) -> bool) {
    while frame != 0 {
        // SAFETY: callers pass 0 or a frame, and a frame is linked to 0 or a frame.
        let read = unsafe { Frame::read(frame) };
        if read.is_outermost() || !f(read.code, frame) {
            return;
        }
        frame = read.below();
    }
}

/// Shows the words of a frame.
fn show<V: AmbiguousVisitor>(frame: &Frame, visitor: &mut V) {
    // SAFETY: `slots` calls this with addresses of words of the frame, which lie in its parts.
    frame.slots(|slot, _| visitor.ambiguous(unsafe { *(slot as *const u64) }));
}

/// Shows the words of the frames from `frame` on, as far as this audit has not read them.
///
/// # Safety
/// `frame` is 0 or a frame.
unsafe fn show_unaudited<V: AmbiguousVisitor>(ctx: &Machine, mut frame: u64, visitor: &mut V) {
    while frame != 0 && quasi(ctx).audited.insert(frame) {
        // SAFETY: `frame` is not 0, and a frame: the first by `# Safety`, the others because frames are linked to
        // frames.
        let read = unsafe { Frame::read(frame) };
        show(&read, visitor);
        frame = read.below();
    }
}

/// The distrustful reading of the frames from `frame` on, as far as this audit has not read them.
fn audit<V: RootVisitor>(ctx: &mut Machine, mut frame: u64, visitor: &mut V) -> Result<(), String> {
    while frame != 0 && quasi(ctx).audited.insert(frame) {
        let at = |what: &str| format!("frame at {frame:#x}: {what}");
        let is_part = |part: u64| quasi(ctx).block(part).is_some_and(|b| (part - b.start).is_multiple_of(PART));
        if !is_part(frame) {
            return Err(at("it is not in a block"));
        }
        // SAFETY: `is_part(frame)`, so it can be read. `return_point` has checked `code` before its descriptor is read,
        // and each part is found to be one before its link is followed.
        let read = unsafe {
            let code = *(frame as *const u64);
            let words = rt(ctx).strategy.auditor.return_point(code).map_err(|e| at(&e))?;
            if words < 2 || !parts_of(frame, words).all(is_part) {
                return Err(at("its parts are not in blocks"));
            }
            Frame::read(frame)
        };
        if read.is_outermost() != (read.below() == 0) {
            return Err(at("the outermost frame is linked to another, or another to none"));
        }
        // SAFETY: all parts of the frame were found in blocks above, and `slots` shows their words only.
        read.slots(|slot, live| unsafe {
            if live { visitor.slot(slot as *mut u64) } else { *(slot as *mut u64) = POISON }
        });
        frame = read.below();
    }
    Ok(())
}
