//! Frames from a free list (Danvy 1987; Appel & Shao's quasi-stack, 1996 §9).
//!
//! A frame consists of *parts* of eight words, the first of which is what `sp` refers to. A frame of up to eight words
//! is one part; the parts of a larger one hold seven words each and are linked by their last word. So are the parts of
//! the free list, so that a frame goes back to it as it is.
//!
//! ```text
//!   sp ──▶ │ return address │ caller's frame, mark │ slot 0 │ … │ slot 4 │ next part │ ──▶ │ slot 5 │ … │
//!                                              ▲ bit 0                       slot 5, if there are no more than six
//! ```
//!
//! A frame is written once. Leaving it puts it back, unless it bears the mark: it has been captured, or a collection
//! has found it; then only the collector knows when it is free.

use super::operations::{Frames, Push, Strategy};
use crate::emit::builder::{Builder, ins, line};
use crate::emit::ir_text::{Mem, Odds, Val};
use cairn_core::ir::Shots;
use cairn_layout::facts::QUASI;
use cairn_layout::machine::Machine;
use cairn_layout::object::continuation;
use cairn_layout::quasi::{MARK, NEXT, part_of, parts};
use std::mem::offset_of;

pub(crate) struct QuasiFrames;

/// Frames of more parts than this are left to the runtime when room is asked for.
const LOOKED_FOR: u32 = 4;

const FREE: usize = offset_of!(Machine, free_parts);

fn word(slot: u32) -> u32 {
    QUASI.header_words + slot
}

/// The part after `part`, as a word.
fn next(e: &mut Builder, part: &Val) -> Val {
    e.load_word(part, NEXT as i64, Mem::Frame)
}

/// The parts of a frame, from its first.
fn chain(e: &mut Builder, first: &Val, n: u32) -> Vec<Val> {
    let mut all = vec![first.clone()];
    while all.len() < n as usize {
        let last = next(e, &all[all.len() - 1]);
        all.push(last);
    }
    all
}

/// Leaves the frame at `sp`, of so many parts.
fn recycle(e: &mut Builder, parts: u32) -> Val {
    let sp = e.sp();
    let link = e.load_word(&sp, 8, Mem::Frame);
    let mark = ins!(e, "and i64 {link}, {MARK}");
    let marked = ins!(e, "icmp ne i64 {mark}, 0");
    let (own, go) = (e.fresh(), e.fresh());
    e.branch(&marked, &go, &own, Odds::Unlikely);
    e.start(&own);
    let last = chain(e, &sp, parts).pop().expect("a part");
    let free = e.load_machine(FREE);
    e.store_word(&last, NEXT as i64, &free, Mem::Frame);
    e.store_machine(FREE, &sp);
    e.goto(&go);
    e.start(&go);
    ins!(e, "and i64 {link}, {}", !MARK as i64)
}

impl Frames for QuasiFrames {
    fn slot_word(&self, _: u32, slot: u32) -> u32 {
        word(slot)
    }
}

impl Strategy for QuasiFrames {
    fn slot(&self, e: &mut Builder, sp: &Val, words: u32, slot: u32) -> (Val, i64) {
        let (part, offset) = part_of(words, word(slot));
        let at = chain(e, sp, part + 1).pop().expect("a part");
        (at, 8 * offset as i64)
    }

    fn place(&self, _: &mut Builder, _: u32) -> Val {
        Val::Int(0) // the first of the free list, but an incoming frame may come before it
    }

    /// The guard is 0, or the largest word while a stop is requested.
    fn lacks_room(&self, e: &mut Builder, words: u32, _: &Val) -> Val {
        let guard = e.load_machine(offset_of!(Machine, stack_guard));
        let n = parts(words);
        if n > LOOKED_FOR {
            return Val::text("true");
        }
        let mut part = e.load_machine(FREE);
        let mut lacks = ins!(e, "icmp ule i64 {part}, {guard}");
        for _ in 1..n {
            // where there is none, any word that can be read will do
            let none = ins!(e, "icmp eq i64 {part}, 0");
            let context = ins!(e, "ptrtoint ptr %ctx to i64");
            let some = ins!(e, "select i1 {none}, i64 {context}, i64 {part}");
            part = next(e, &some);
            let end = ins!(e, "icmp eq i64 {part}, 0");
            lacks = ins!(e, "or i1 {lacks}, {end}");
            part = ins!(e, "select i1 {lacks}, i64 0, i64 {part}");
        }
        lacks
    }

    fn leave(&self, e: &mut Builder, words: u32) -> Val {
        recycle(e, parts(words))
    }

    /// Errors leave frames to the collector.
    fn leave_counted(&self, e: &mut Builder, words: &Val) -> Val {
        let (own, go) = (e.fresh(), e.fresh());
        let sp = e.sp();
        let none = ins!(e, "icmp eq i64 {words}, 0");
        let here = e.here();
        e.branch(&none, &go, &own, Odds::Even);
        e.start(&own);
        let link = e.load_word(&sp, 8, Mem::Frame);
        let parent = ins!(e, "and i64 {link}, {}", !MARK as i64);
        e.goto(&go);
        e.start(&go);
        e.phi("i64", &[(sp, here), (parent, own)])
    }

    fn push(&self, e: &mut Builder, push: &Push<'_>) -> Val {
        let Push { frame, stores, incoming, .. } = *push;
        let parent = if incoming == 0 { e.sp() } else { self.leave(e, incoming) };
        let sp = e.load_machine(FREE);
        let all = chain(e, &sp, parts(frame.words));
        let rest = next(e, all.last().expect("a part"));
        e.store_machine(FREE, &rest);
        let base = e.address(&sp, 0);
        line!(e, "store ptr {}, ptr {base}{}", push.ret, Mem::Frame.suffix());
        e.store_word(&sp, 8, &parent, Mem::Frame);
        for (slot, v) in stores {
            let (part, offset) = part_of(frame.words, word(*slot));
            e.store_word(&all[part as usize], 8 * offset as i64, v, Mem::Frame);
        }
        sp
    }

    fn return_code(&self, e: &mut Builder, sp: &Val) -> Val {
        e.load_code(sp, 0, Mem::Frame)
    }

    fn capture(&self, e: &mut Builder, _: Shots) -> Val {
        let sp = e.sp();
        e.cold_call("cairn_machine_capture", &sp, &[])
    }

    fn reinstate(&self, e: &mut Builder, k: &Val) -> Val {
        e.continuation_word(k, continuation::SP)
    }
}
