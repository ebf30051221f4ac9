//! Frames as immutable heap records (Appel & Shao 1996).
//!
//! ```text
//!   sp - 6 ──▶ │ return address │ caller's frame │ slot 0 │ slot 1 │ …
//! ```
//!
//! A frame is allocated at every call, covered by the heap check before it, and never changed; so
//! `sp` is a value, and a heap check that collects gets a new one.

use super::operations::{Frames, Push, Strategy};
use crate::emit::builder::{Builder, ins, line};
use crate::emit::ir_text::{Mem, Odds, Val};
use cairn_core::ir::Shots;
use cairn_layout::facts::HEAP;
use cairn_layout::object::{AllocKind, continuation, headed_bytes};
use cairn_layout::value::{TAG_PROCEDURE, Value as Word};

pub(crate) struct HeapFrames;

const TAG: i64 = TAG_PROCEDURE as i64;

fn slot_word(slot: u32) -> u32 {
    HEAP.header_words + slot
}

impl Frames for HeapFrames {
    fn is_value(&self) -> bool {
        true
    }

    fn slot_word(&self, _: u32, slot: u32) -> u32 {
        slot_word(slot)
    }
}

impl Strategy for HeapFrames {
    fn slot(&self, _: &mut Builder, sp: &Val, _: u32, slot: u32) -> (Val, i64) {
        (sp.clone(), 8 * slot_word(slot) as i64 - TAG)
    }

    fn leave(&self, e: &mut Builder, _: u32) -> Val {
        let sp = e.sp();
        e.load_word(&sp, 8 - TAG, Mem::Frame)
    }

    fn leave_counted(&self, e: &mut Builder, words: &Val) -> Val {
        let (own, go) = (e.fresh(), e.fresh());
        let sp = e.sp();
        let none = ins!(e, "icmp eq i64 {words}, 0");
        let here = e.here();
        e.branch(&none, &go, &own, Odds::Even);
        e.start(&own);
        let parent = self.leave(e, 0);
        e.goto(&go);
        e.start(&go);
        e.phi("i64", &[(sp, here), (parent, own)])
    }

    fn push(&self, e: &mut Builder, push: &Push<'_>) -> Val {
        let Push { frame, stores, incoming, .. } = *push;
        let parent = if incoming == 0 { e.sp() } else { self.leave(e, incoming) };
        let at = e.allocate(AllocKind::Procedure, headed_bytes(frame.words as usize - 1));
        let base = e.address(&at, 0);
        line!(e, "store ptr {}, ptr {base}{}", push.ret, Mem::Frame.suffix());
        e.store_at(&base, 8, &parent, Mem::Frame);
        for (slot, v) in stores {
            e.store_at(&base, 8 * slot_word(*slot) as i64, v, Mem::Frame);
        }
        // a slot without a live value must still hold a word that the collector can scan
        for word in HEAP.header_words..frame.words {
            if !stores.iter().any(|(s, _)| slot_word(*s) == word) {
                e.store_at(&base, 8 * word as i64, &Val::Int(0), Mem::Frame);
            }
        }
        ins!(e, "add i64 {at}, {TAG}")
    }

    fn return_code(&self, e: &mut Builder, sp: &Val) -> Val {
        e.load_code(sp, -TAG, Mem::Frame)
    }

    /// Frames are never changed, so a use costs the same whether there may be others or not.
    fn capture(&self, e: &mut Builder, _: Shots) -> Val {
        let (sp, winders) = (e.sp(), e.winders());
        let none = Val::Int(0);
        e.continuation([none.clone(), sp, none.clone(), Val::word(Word::FALSE.0), winders, none])
    }

    fn reinstate(&self, e: &mut Builder, k: &Val) -> Val {
        e.continuation_word(k, continuation::SP)
    }
}
