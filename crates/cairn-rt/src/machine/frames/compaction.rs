//! Sealed frames that move together, so that chunks become free (frame strategy `chunks`).
//!
//! Threads share chunks: each that waits has sealed a few frames in the chunk that was current. When most of them have
//! ended, a few sealed segments keep many chunks. So a collection of everything counts the live bytes of each chunk and
//! notes the private continuations that it finds; when it is over, those in chunks that are mostly dead move to fresh
//! chunks, side by side, as if they had been sealed there one after the other:
//!
//! ```text
//!   before  │ end, low water, live │ … dead … │ K1 │ u │ … dead … │      before  │ … dead … │ K2 │ u │ … dead … │
//!   after   │ end, low water, live │ free …              │ K2 │ u │ K1 │ u │
//! ```
//!
//! Frames hold no addresses of frames, and a private continuation's are covered by one object alone: three of its words
//! change. Chunks with shared ones stay as they are; so does the current chunk. What moves is a quarter of the chunks
//! that become free, or less, so the work is bounded by what the collection has done.
//!
//! Invariant: the notes are of the last collection of everything and are used before compiled code goes on; what moves
//! is all that is live in its chunk, which is freed.

use super::sealed_frames::{live_word, low_water, set_low_water};
use super::strategy::{continuation_word, set_word};
use crate::runtime::rt;
use crate::start_options::Zeal;
use cairn_layout::Value;
use cairn_layout::limits::{BELOW_RED_ZONE, RED_ZONE};
use cairn_layout::machine::Machine;
use cairn_layout::object::continuation::{BASE, CHUNK, SP, STATE, state::PRIVATE};
use cairn_layout::value::TAG_PROCEDURE;

/// One in so many bytes of a chunk, or fewer, are live: what is there moves.
const SPARSE: u64 = 4;
/// With fewer sparse chunks nothing moves.
const WORTH_IT: usize = 4;

/// Where the next segment is sealed: a chunk and the lowest sealed address in it.
struct Target {
    start: u64,
    low: u64,
}

/// A collection is over: moves what is alone in its chunk.
pub fn compact(ctx: &mut Machine) {
    let mut found = std::mem::take(&mut rt(ctx).strategy.chunks.found.private);
    let least = if rt(ctx).options.zeal == Zeal::Off { WORTH_IT } else { 1 };
    let current = ctx.thread.chunk;
    found.retain(|&(chunk, _)| {
        // SAFETY: `note` takes chunks of continuations that live, so `chunk` is in use; its first word is its end.
        let bytes = unsafe { *(chunk as *const u64) } - chunk;
        chunk != current && rt(ctx).strategy.chunks.found.live(chunk) * SPARSE <= bytes
    });
    found.sort_unstable();
    if found.chunk_by(|a, b| a.0 == b.0).count() < least {
        return;
    }
    let mut target = None;
    for group in found.chunk_by(|a, b| a.0 == b.0) {
        let chunk = group[0].0;
        let objects = group.iter().map(|&(_, k)| Value(k | TAG_PROCEDURE));
        let noted: u64 = objects.clone().map(bytes_of).sum();
        if noted != rt(ctx).strategy.chunks.found.live(chunk) {
            continue; // somebody else keeps it, too
        }
        for k in objects {
            if move_frames(ctx, k, &mut target).is_none() {
                return;
            }
        }
        rt(ctx).heap.free_chunk(chunk);
    }
}

/// Bytes of the frames of a private continuation, and of the word at their base.
fn bytes_of(k: Value) -> u64 {
    debug_assert_eq!(continuation_word(k, STATE), PRIVATE);
    continuation_word(k, BASE) + 8 - continuation_word(k, SP)
}

/// Moves the frames of a private continuation out of their chunk. `None`: there is no memory.
fn move_frames(ctx: &mut Machine, k: Value, target: &mut Option<Target>) -> Option<()> {
    let (sp, bytes) = (continuation_word(k, SP), bytes_of(k));
    let has_room = |t: &&mut Target| t.low - bytes >= t.start + BELOW_RED_ZONE + RED_ZONE;
    let t = match target.as_mut().filter(has_room) {
        Some(t) => t,
        None => target.insert(fresh(ctx, bytes)?),
    };
    t.low -= bytes;
    // SAFETY: `sp..base` are whole frames, and `bytes` counts the word at `base` too; `has_room` or `fresh` made sure
    // of as much.
    unsafe { std::ptr::copy_nonoverlapping(sp as *const u64, t.low as *mut u64, bytes as usize / 8) };
    set_low_water(t.start, t.low);
    for (i, word) in [(CHUNK, t.start), (SP, t.low), (BASE, t.low + bytes - 8)] {
        set_word(k, i, word);
    }
    Some(())
}

/// An empty chunk for frames of old continuations.
fn fresh(ctx: &mut Machine, bytes: u64) -> Option<Target> {
    let usual = rt(ctx).strategy.chunks.geometry.bytes;
    let size = (bytes + BELOW_RED_ZONE + RED_ZONE).next_multiple_of(usual);
    let heap = &mut rt(ctx).heap;
    if heap.bytes_in_use() + size > heap.heap_max() {
        return None; // to be refused would ask for another collection
    }
    let (start, size) = heap.alloc_chunk(size).ok()?;
    rt(ctx).heap.keep_chunk(start);
    // SAFETY: `alloc_chunk` has just given this chunk, of more than the three words below the red zone; nothing is live
    // in it.
    unsafe {
        *(start as *mut u64) = start + size;
        *live_word(start) = 0;
        *low_water(start) = start + size;
    }
    Some(Target { start, low: start + size })
}
