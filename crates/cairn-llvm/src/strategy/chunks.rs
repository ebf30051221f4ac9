//! Frames on a stack that grows downwards in chunks.
//!
//! ```text
//!   sp ──▶ │ return address │ slot n-1 │ … │ slot 0 │ caller's frame …
//!                                                   ▲ sp + 8 * words
//! ```
//!
//! A function entered by returning finds its own frame at `sp` and replaces it: slots stay where they are, only the low
//! end moves. The stack check before the call has found room.

use super::{Push, Strategy};
use crate::emit::builder::{Builder, ins, line};
use crate::emit::ir_text::{Mem, Odds, Val};
use cairn_layout::code::SHAPE;
use cairn_layout::limits::COPY_WORDS;
use cairn_layout::machine::Machine;
use cairn_layout::object::continuation;
use std::mem::offset_of;

pub(super) struct StackFrames;

fn slot_offset(words: u32, slot: u32) -> i64 {
    8 * (words as i64 - 1 - slot as i64)
}

impl Strategy for StackFrames {
    fn frame_is_value(&self) -> bool {
        false
    }

    fn slot(&self, _: &mut Builder, sp: &Val, words: u32, slot: u32) -> (Val, i64) {
        (sp.clone(), slot_offset(words, slot))
    }

    fn slot_word(&self, words: u32, slot: u32) -> u32 {
        words - 1 - slot
    }

    fn leave(&self, e: &mut Builder, words: u32) -> Val {
        let sp = e.sp();
        ins!(e, "add i64 {sp}, {}", 8 * words)
    }

    fn leave_counted(&self, e: &mut Builder, words: &Val) -> Val {
        let sp = e.sp();
        let bytes = ins!(e, "shl i64 {words}, 3");
        ins!(e, "add i64 {sp}, {bytes}")
    }

    fn push(&self, e: &mut Builder, push: &Push<'_>) -> Val {
        let Push { frame, stores, incoming, .. } = *push;
        let sp = match (&push.reserved, 8 * (incoming as i64 - frame.words as i64)) {
            (Some(sp), _) => sp.clone(),
            (None, 0) => e.sp(),
            (None, d) => {
                let old = e.sp();
                ins!(e, "add i64 {old}, {d}")
            }
        };
        let base = e.address(&sp, 0);
        if !(push.returns_here && incoming == frame.words) {
            line!(e, "store ptr {}, ptr {base}{}", push.ret, Mem::Frame.suffix());
        }
        for (slot, v) in stores {
            e.store_at(&base, slot_offset(frame.words, *slot), v, Mem::Frame);
        }
        sp
    }

    fn return_code(&self, e: &mut Builder, sp: &Val) -> Val {
        e.load_code(sp, 0, Mem::Frame)
    }

    fn underflows(&self) -> bool {
        true
    }

    /// Copies the youngest frame of the continuation below. The runtime does it when the continuation may be resumed in
    /// place, or when there is no room.
    fn underflow(&self, e: &mut Builder) -> Val {
        let k = e.load_machine(offset_of!(Machine, thread.under));
        let consumed = e.load_machine(offset_of!(Machine, thread.under_sp));
        let (serial, captured) =
            (e.continuation_word(&k, continuation::SERIAL), e.load_machine(offset_of!(Machine, thread.captured)));
        let private = ins!(e, "icmp sgt i64 {serial}, {captured}");
        let (slow, shared, first, copy, copied, emptied, go) =
            (e.fresh(), e.fresh(), e.fresh(), e.fresh(), e.fresh(), e.fresh(), e.fresh());
        e.branch(&private, &slow, &shared, Odds::Unlikely);
        e.start(&shared);
        let whole = e.continuation_word(&k, continuation::SP);
        let untouched = ins!(e, "icmp eq i64 {consumed}, 0");
        let from = ins!(e, "select i1 {untouched}, i64 {whole}, i64 {consumed}");
        let code = e.load_word(&from, 0, Mem::Frame);
        let shape = e.load_word(&code, SHAPE, Mem::Code);
        let words = ins!(e, "and i64 {shape}, {}", u32::MAX);
        let bytes = ins!(e, "shl i64 {words}, 3");
        let sp = e.sp();
        let to = ins!(e, "sub i64 {sp}, {bytes}");
        let limit = e.load_machine(offset_of!(Machine, thread.stack_limit));
        let over = ins!(e, "icmp ult i64 {to}, {limit}");
        e.branch(&over, &slow, &first, Odds::Unlikely);
        let from_slow = e.out_of_line(&slow, |e| {
            let sp = e.sp();
            let sp = e.cold_call("cairn_machine_underflow", &sp, &[]);
            e.goto(&go);
            (sp, e.here())
        });
        e.start(&first);
        let next = ins!(e, "add i64 {from}, {bytes}");
        e.goto(&copy);
        e.start(&copy);
        // from the old end on, in blocks: what is copied too much lands below the frame
        let (done, then) = (Val::text("%copied"), Val::text("%copied.next"));
        line!(e, "{done} = phi i64 [ 0, %{first} ], [ {then}, %{copy} ]");
        let (source, target) = (ins!(e, "sub i64 {next}, {done}"), ins!(e, "sub i64 {sp}, {done}"));
        for i in 1..=COPY_WORDS as i64 {
            let w = e.load_word(&source, -8 * i, Mem::Frame);
            e.store_word(&target, -8 * i, &w, Mem::Frame);
        }
        line!(e, "{then} = add i64 {done}, {}", 8 * COPY_WORDS);
        let more = ins!(e, "icmp ult i64 {then}, {bytes}");
        e.branch(&more, &copy, &copied, Odds::Unlikely);
        e.start(&copied);
        let base = e.continuation_word(&k, continuation::BASE);
        let last = ins!(e, "icmp eq i64 {next}, {base}");
        let kept = ins!(e, "select i1 {last}, i64 0, i64 {next}");
        e.store_machine(offset_of!(Machine, thread.under_sp), &kept);
        let here = e.here();
        e.branch(&last, &emptied, &go, Odds::Probable);
        e.start(&emptied);
        let below = e.continuation_word(&k, continuation::NEXT);
        e.store_machine(offset_of!(Machine, thread.under), &below);
        e.goto(&go);
        e.start(&go);
        e.phi("i64", &[(to.clone(), here), (to, emptied), from_slow])
    }

    fn capture(&self, e: &mut Builder) -> Val {
        let (sp, base) = (e.sp(), e.load_machine(offset_of!(Machine, thread.base)));
        let (under, consumed) = (
            e.load_machine(offset_of!(Machine, thread.under)),
            e.load_machine(offset_of!(Machine, thread.under_sp)),
        );
        let winders = e.winders();
        let [slow, whole, empty, again, seal, go] = std::array::from_fn(|_| e.fresh());
        let untouched = ins!(e, "icmp eq i64 {consumed}, 0");
        e.branch(&untouched, &whole, &slow, Odds::Likely);
        let from_slow = e.out_of_line(&slow, |e| {
            let sp = e.sp();
            let k = e.cold_call("cairn_machine_capture", &sp, &[]);
            let sp = e.load_machine(offset_of!(Machine, thread.sp));
            e.set_sp(&sp);
            e.goto(&go);
            (k, e.here())
        });
        e.start(&whole);
        let serial = e.load_machine(offset_of!(Machine, thread.serial));
        e.store_machine(offset_of!(Machine, thread.captured), &serial);
        let none = ins!(e, "icmp eq i64 {sp}, {base}");
        e.branch(&none, &empty, &seal, Odds::Even);
        e.start(&empty);
        let theirs = e.continuation_word(&under, continuation::WINDERS);
        let same = ins!(e, "icmp eq i64 {theirs}, {winders}");
        e.branch(&same, &again, &slow, Odds::Likely);
        e.start(&again);
        e.goto(&go);
        e.start(&seal);
        let chunk = e.load_machine(offset_of!(Machine, thread.chunk));
        let k = e.continuation([chunk, sp.clone(), base, under.clone(), winders, Val::Int(0)]);
        e.store_machine(offset_of!(Machine, thread.under), &k);
        let sp = ins!(e, "sub i64 {sp}, 8");
        e.store_machine(offset_of!(Machine, thread.base), &sp);
        let p = e.address(&sp, 0);
        line!(e, "store ptr @cairn_underflow, ptr {p}{}", Mem::Frame.suffix());
        e.set_sp(&sp);
        let sealed = e.here();
        e.goto(&go);
        e.start(&go);
        e.phi("i64", &[(under, again), (k, sealed), from_slow])
    }

    fn reinstate(&self, e: &mut Builder, k: &Val) -> Val {
        let base = e.load_machine(offset_of!(Machine, thread.base));
        e.set_sp(&base);
        e.store_machine(offset_of!(Machine, thread.under), k);
        e.store_machine(offset_of!(Machine, thread.under_sp), &Val::Int(0));
        self.underflow(e)
    }
}
