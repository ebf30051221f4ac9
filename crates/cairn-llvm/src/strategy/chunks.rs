//! Frames on a stack that grows downwards in chunks.
//!
//! ```text
//!   sp ──▶ │ return address │ slot n-1 │ … │ slot 0 │ caller's frame …
//!                                                   ▲ sp + 8 * words
//! ```
//!
//! A function entered by returning finds its own frame at `sp` and replaces it: slots stay where they are, only the low end
//! moves. Frames are checked against `Machine::stack_limit`; 1024 bytes below the limit are always usable, so a frame that
//! grows in place needs no check while it is not larger than that.

use super::Strategy;
use crate::emit::Emitter;
use crate::emit::function::{incoming_words, ins, line};
use crate::emit::text::{Mem, Odds, Val};
use cairn_frame::ir::{Frame, FuncId};
use cairn_layout::machine::Machine;
use cairn_layout::value::Value as Word;
use std::mem::offset_of;

/// Bytes below the stack limit that are always usable.
const RED_ZONE: u32 = 1024;

pub(super) struct StackFrames;

fn slot_offset(words: u32, slot: u32) -> i64 {
    8 * (words as i64 - 1 - slot as i64)
}

impl Strategy for StackFrames {
    fn frame_is_value(&self) -> bool {
        false
    }

    fn slot(&self, _: &mut Emitter<'_, '_>, sp: &Val, words: u32, slot: u32) -> (Val, i64) {
        (sp.clone(), slot_offset(words, slot))
    }

    fn slot_word(&self, words: u32, slot: u32) -> u32 {
        words - 1 - slot
    }

    fn leave(&self, e: &mut Emitter<'_, '_>, words: u32) -> Val {
        let sp = e.sp();
        ins!(e, "add i64 {sp}, {}", 8 * words)
    }

    fn push(&self, e: &mut Emitter<'_, '_>, frame: &Frame, stores: &[(u32, Val)], ret: FuncId) -> Val {
        let incoming = e.func.map_or(0, |(_, f)| incoming_words(f));
        let old = e.sp();
        let sp = match 8 * (incoming as i64 - frame.words as i64) {
            0 => old.clone(),
            d => ins!(e, "add i64 {old}, {d}"),
        };
        let grows = frame.words > incoming;
        let checked = grows && (incoming == 0 || 8 * frame.words > RED_ZONE);
        let sp = if checked { self.check_limit(e, frame, stores, incoming, &old, sp) } else { sp };
        let returns_here = e.func.is_some_and(|(id, _)| id == ret) && incoming == frame.words;
        let base = e.address(&sp, 0);
        if !returns_here {
            let code = e.cx.symbol(ret);
            line!(e, "store ptr {code}, ptr {base}{}", Mem::Frame.suffix());
        }
        for (slot, v) in stores {
            e.store_at(&base, slot_offset(frame.words, *slot), v, Mem::Frame);
        }
        sp
    }

    fn return_code(&self, e: &mut Emitter<'_, '_>, sp: &Val) -> Val {
        e.load_code(sp, 0, Mem::Frame)
    }

    fn underflows(&self) -> bool {
        true
    }
}

impl StackFrames {
    /// Compares with the limit; in the cold part the runtime finds another place, and slots that stay are copied there.
    fn check_limit(
        &self,
        e: &mut Emitter<'_, '_>,
        frame: &Frame,
        stores: &[(u32, Val)],
        incoming: u32,
        old: &Val,
        sp: Val,
    ) -> Val {
        let limit = e.load_machine(offset_of!(Machine, stack_limit));
        let over = ins!(e, "icmp ult i64 {sp}, {limit}");
        let (cold, go) = (e.fresh(), e.fresh());
        let here = e.here();
        e.branch(&over, &cold, &go, Odds::Unlikely);
        let moved = e.out_of_line(&cold, |e| {
            let kept: Vec<(u32, Val)> = frame
                .live
                .iter()
                .filter(|s| incoming > 0 && !stores.iter().any(|(t, _)| t == *s))
                .map(|s| (*s, e.load_word(old, slot_offset(incoming, *s), Mem::Frame)))
                .collect();
            let parent = ins!(e, "add i64 {old}, {}", 8 * incoming);
            let bytes = Word::fixnum(8 * frame.words as i64);
            let base = e.cold_call("cairn_machine_overflow", &parent, &[Val::word(bytes.0)]);
            let sp = ins!(e, "sub i64 {base}, {}", 8 * frame.words);
            for (slot, v) in &kept {
                e.store_word(&sp, slot_offset(frame.words, *slot), v, Mem::Frame);
            }
            e.goto(&go);
            (sp, e.here())
        });
        e.start(&go);
        e.phi("i64", &[(sp, here), moved])
    }
}
