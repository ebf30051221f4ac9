//! Frames on a stack that grows downwards in chunks.
//!
//! ```text
//!   sp ──▶ │ return address │ slot n-1 │ … │ slot 0 │ caller's frame …
//!                                                   ▲ sp + 8 * words
//! ```
//!
//! A function entered by returning finds its own frame at `sp` and replaces it: slots stay where they are, only the low
//! end moves. The stack check before the call has found room.

use super::operations::{Frames, Push, Segments, Strategy};
use crate::emit::builder::{Builder, Label, ins, line};
use crate::emit::ir_text::{Mem, Odds, Val};
use cairn_core::ir::Shots;
use cairn_layout::code::SHAPE;
use cairn_layout::limits::{COPY_WORDS, MOVED_BYTES};
use cairn_layout::machine::{Machine, slot, slot_offset as machine_slot};
use cairn_layout::object::continuation::{self, state};
use cairn_layout::value::{TAG_PROCEDURE, Value as Word};
use std::mem::offset_of;

pub(crate) struct StackFrames;

fn slot_offset(words: u32, slot: u32) -> i64 {
    8 * (words as i64 - 1 - slot as i64)
}

impl Frames for StackFrames {}

impl Strategy for StackFrames {
    fn slot(&self, _: &mut Builder, sp: &Val, words: u32, slot: u32) -> (Val, i64) {
        (sp.clone(), slot_offset(words, slot))
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

    /// Another one is what is left of the continuation below.
    fn captured(&self) -> u64 {
        2
    }

    fn segments(&self) -> Option<&dyn Segments> {
        Some(self)
    }

    fn capture(&self, e: &mut Builder, shots: Shots) -> Val {
        if shots == Shots::Many {
            let count = e.load_machine(machine_slot(slot::CAPTURES));
            let more = ins!(e, "add i64 {count}, {}", Word::fixnum(1).0);
            e.store_machine(machine_slot(slot::CAPTURES), &more);
        }
        let (sp, base) = (e.sp(), e.load_machine(offset_of!(Machine, thread.base)));
        let (under, consumed) = (
            e.load_machine(offset_of!(Machine, thread.under)),
            e.load_machine(offset_of!(Machine, thread.under_sp)),
        );
        let winders = e.winders();
        let [slow, part, rest, whole, empty, again, seal, go] = std::array::from_fn(|_| e.fresh());
        let untouched = ins!(e, "icmp eq i64 {consumed}, 0");
        e.branch(&untouched, &whole, &part, Odds::Likely);
        let (state, symbol) = match shots {
            Shots::Many => (state::SHARED, "cairn_machine_capture"),
            Shots::One => (state::PRIVATE, "cairn_machine_capture_once"),
        };
        let from_slow = e.out_of_line(&slow, |e| {
            let sp = e.sp();
            let k = e.cold_call(symbol, &sp, &[]);
            let sp = e.load_machine(offset_of!(Machine, thread.sp));
            e.set_sp(&sp);
            e.goto(&go);
            (k, e.here())
        });
        // What is left of a shared continuation whose youngest frames have been returned to is one of its own.
        e.start(&part);
        let none = ins!(e, "icmp eq i64 {sp}, {base}");
        e.branch(&none, &slow, &rest, Odds::Unlikely);
        e.start(&rest);
        let [chunk, end, next] =
            [continuation::CHUNK, continuation::BASE, continuation::NEXT].map(|i| e.continuation_word(&under, i));
        let left = e.continuation([chunk, consumed, end, next, winders.clone(), Val::word(state::SHARED)]);
        e.store_machine(offset_of!(Machine, thread.under_sp), &Val::Int(0));
        let left_here = e.here();
        e.goto(&seal);
        e.start(&whole);
        if shots == Shots::Many {
            // what is below becomes shared, too
            let [below, known] = std::array::from_fn(|_| e.fresh());
            let none = ins!(e, "icmp eq i64 {under}, {}", Word::FALSE.0);
            e.branch(&none, &known, &below, Odds::Unlikely);
            e.start(&below);
            let theirs = e.continuation_word(&under, continuation::STATE);
            let shared = ins!(e, "icmp eq i64 {theirs}, {}", state::SHARED);
            e.branch(&shared, &known, &slow, Odds::Likely);
            e.start(&known);
        }
        let none = ins!(e, "icmp eq i64 {sp}, {base}");
        let known_here = e.here();
        e.branch(&none, &empty, &seal, Odds::Even);
        e.start(&empty);
        let theirs = e.continuation_word(&under, continuation::WINDERS);
        let same = ins!(e, "icmp eq i64 {theirs}, {winders}");
        e.branch(&same, &again, &slow, Odds::Likely);
        e.start(&again);
        e.goto(&go);
        e.start(&seal);
        let below = e.phi("i64", &[(under.clone(), known_here), (left, left_here)]);
        let chunk = e.load_machine(offset_of!(Machine, thread.chunk));
        let k = e.continuation([chunk, sp.clone(), base, below, winders, Val::word(state)]);
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

    /// The segment is dropped and an empty one takes its place.
    fn enter(&self, e: &mut Builder, k: &Val) -> Val {
        let base = e.load_machine(offset_of!(Machine, thread.base));
        e.set_sp(&base);
        e.store_machine(offset_of!(Machine, thread.under), k);
        e.store_machine(offset_of!(Machine, thread.under_sp), &Val::Int(0));
        base
    }

    fn reinstate(&self, e: &mut Builder, k: &Val) -> Val {
        self.enter(e, k);
        self.underflow(e)
    }
}

impl Segments for StackFrames {
    /// Copies the youngest frame of a shared continuation below, or what is left of it if that fits into one block. A
    /// private one is taken over: where it is when it borders on the segment that ends here, else by moving its frames.
    /// The runtime does what is rare.
    fn underflow(&self, e: &mut Builder) -> Val {
        let k = e.load_machine(offset_of!(Machine, thread.under));
        let state = e.continuation_word(&k, continuation::STATE);
        let [shared, all, one, emptied, single, in_place, move_it, room, slow, go] =
            std::array::from_fn(|_| e.fresh());
        let is_shared = ins!(e, "icmp eq i64 {state}, {}", state::SHARED);
        e.branch(&is_shared, &shared, &single, Odds::Even);

        e.start(&single);
        let (from, base) =
            (e.continuation_word(&k, continuation::SP), e.load_machine(offset_of!(Machine, thread.base)));
        let border = ins!(e, "add i64 {base}, 8");
        let borders = ins!(e, "icmp eq i64 {from}, {border}");
        e.branch(&borders, &in_place, &move_it, Odds::Even);
        e.start(&in_place);
        let whole = e.continuation_word(&k, continuation::BASE);
        e.store_machine(offset_of!(Machine, thread.base), &whole);
        take_over(e, &k);
        let taken = e.here();
        e.goto(&go);

        e.start(&move_it);
        let end = e.continuation_word(&k, continuation::BASE);
        let bytes = ins!(e, "sub i64 {end}, {from}");
        // a used one covers nothing: the runtime complains
        let less = ins!(e, "sub i64 {bytes}, 1");
        let small = ins!(e, "icmp ult i64 {less}, {MOVED_BYTES}");
        e.branch(&small, &room, &slow, Odds::Likely);
        e.start(&room);
        let moved = make_room(e, &bytes, &slow);
        copy_frames(e, &end, &bytes);
        take_over(e, &k);
        let moved_here = e.here();
        e.goto(&go);

        e.start(&shared);
        let consumed = e.load_machine(offset_of!(Machine, thread.under_sp));
        let whole = e.continuation_word(&k, continuation::SP);
        let base = e.continuation_word(&k, continuation::BASE);
        let untouched = ins!(e, "icmp eq i64 {consumed}, 0");
        let first = ins!(e, "select i1 {untouched}, i64 {whole}, i64 {consumed}");
        // what fits into a block is copied at once: its other frames then return like any others
        let left = ins!(e, "sub i64 {base}, {first}");
        let one_block = ins!(e, "icmp ule i64 {left}, {}", 8 * COPY_WORDS);
        e.branch(&one_block, &all, &one, Odds::Even);

        e.start(&all);
        let copied_all = make_room(e, &left, &slow);
        let sp = e.sp();
        copy_block(e, &base, &sp);
        e.store_machine(offset_of!(Machine, thread.under_sp), &Val::Int(0));
        let all_here = e.here();
        e.goto(&emptied);

        e.start(&one);
        let code = e.load_word(&first, 0, Mem::Frame);
        let shape = e.load_word(&code, SHAPE, Mem::Code);
        let words = ins!(e, "and i64 {shape}, {}", u32::MAX);
        let bytes = ins!(e, "shl i64 {words}, 3");
        let copied = make_room(e, &bytes, &slow);
        let next = ins!(e, "add i64 {first}, {bytes}");
        copy_frames(e, &next, &bytes);
        let last = ins!(e, "icmp eq i64 {next}, {base}");
        let kept = ins!(e, "select i1 {last}, i64 0, i64 {next}");
        e.store_machine(offset_of!(Machine, thread.under_sp), &kept);
        let here = e.here();
        e.branch(&last, &emptied, &go, Odds::Unlikely);

        e.start(&emptied);
        let emptied_sp = e.phi("i64", &[(copied_all, all_here), (copied.clone(), here.clone())]);
        let below = e.continuation_word(&k, continuation::NEXT);
        e.store_machine(offset_of!(Machine, thread.under), &below);
        e.goto(&go);

        let from_slow = e.out_of_line(&slow, |e| {
            let sp = e.sp();
            let sp = e.cold_call("cairn_machine_underflow", &sp, &[]);
            e.goto(&go);
            (sp, e.here())
        });
        e.start(&go);
        e.phi("i64", &[(from, taken), (moved, moved_here), (copied, here), (emptied_sp, emptied), from_slow])
    }
}

/// `sp` of frames of so many bytes in the present, empty segment; goes to `slow` if they do not fit.
fn make_room(e: &mut Builder, bytes: &Val, slow: &Label) -> Val {
    let (sp, fits) = (e.sp(), e.fresh());
    let to = ins!(e, "sub i64 {sp}, {bytes}");
    let limit = e.load_machine(offset_of!(Machine, thread.stack_limit));
    let over = ins!(e, "icmp ult i64 {to}, {limit}");
    e.branch(&over, slow, &fits, Odds::Unlikely);
    e.start(&fits);
    to
}

/// Copies the `bytes` before `end` to those before `sp`, from the old end on, in blocks: what is copied too much lands
/// below.
fn copy_frames(e: &mut Builder, end: &Val, bytes: &Val) {
    let (sp, first, copy, copied) = (e.sp(), e.here(), e.fresh(), e.fresh());
    e.goto(&copy);
    e.start(&copy);
    let (done, then) = (Val::text(format!("%copied.{}", copy.0)), Val::text(format!("%next.{}", copy.0)));
    line!(e, "{done} = phi i64 [ 0, %{first} ], [ {then}, %{copy} ]");
    let (source, target) = (ins!(e, "sub i64 {end}, {done}"), ins!(e, "sub i64 {sp}, {done}"));
    copy_block(e, &source, &target);
    line!(e, "{then} = add i64 {done}, {}", 8 * COPY_WORDS);
    let more = ins!(e, "icmp ult i64 {then}, {bytes}");
    e.branch(&more, &copy, &copied, Odds::Unlikely);
    e.start(&copied);
}

/// Copies the [`COPY_WORDS`] words before `source` to those before `target`, wanted or not: there is so much space
/// below the red zone of a chunk ([`cairn_layout::limits`]).
fn copy_block(e: &mut Builder, source: &Val, target: &Val) {
    // All loads come first, so that they can be made two at a time.
    let words: Vec<Val> = (1..=COPY_WORDS as i64).map(|i| e.load_word(source, -8 * i, Mem::Frame)).collect();
    for (i, w) in (1..).zip(&words) {
        e.store_word(target, -8 * i, w, Mem::Frame);
    }
}

/// The frames of private `k` are the thread's now; what is below them is below the segment. Nothing is left in `k`: it
/// must keep nothing alive.
fn take_over(e: &mut Builder, k: &Val) {
    use continuation::{BASE, CHUNK, NEXT, SP, STATE, WINDERS};
    let below = e.continuation_word(k, NEXT);
    e.store_machine(offset_of!(Machine, thread.under), &below);
    let (none, no) = (Val::Int(0), Val::word(Word::FALSE.0));
    let words = [(CHUNK, &none), (SP, &none), (BASE, &none), (NEXT, &no), (WINDERS, &no)];
    for (i, w) in words.into_iter().chain([(STATE, &Val::word(state::USED))]) {
        e.store_word(k, 8 * i as i64 - TAG_PROCEDURE as i64, w, Mem::Closure);
    }
}
