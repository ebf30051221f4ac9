//! Safepoints: where the collector may run, and what it finds.
//!
//! The problem: the collector needs every live value at a known place. The idea: the slow path of a check stores the
//! live variables into the spill area of the machine context, calls the runtime, and loads them back; no value lives in
//! registers or on the native stack meanwhile. Unboxed doubles stay where they are: the cold stub keeps them. Frames
//! may have moved afterwards, so `sp` is what the runtime says.
//!
//! | statement | asks | goes to |
//! |---|---|---|
//! | `HeapCheck` | `hi - lo < bytes` | `cairn_machine_collect` |
//! | `StackCheck` | `sp - bytes < stack_guard`, or what the strategy asks | `cairn_machine_guard` |
//! | `StopCheck` | `stack_guard < 0` (signed: it is `STOP`) | `cairn_machine_guard` |

use super::builder::{ins, line};
use super::emitter::Emitter;
use super::ir_text::{Mem, Odds, Val};
use crate::alloc;
use cairn_frame::ir::{Rep, Var};
use cairn_layout::collector::Moving;
use cairn_layout::limits::{CHECK_RESERVE, SPILL_WORDS};
use cairn_layout::machine::Machine;
use cairn_layout::value::Value as Word;
use std::mem::offset_of;

/// Offset of a word of the spill area.
fn spill(i: usize) -> usize {
    offset_of!(Machine, spill) + 8 * i
}

impl Emitter<'_, '_> {
    /// What a collection at a poll leaves at least: as much as an earlier heap check of the block may have promised.
    pub(super) fn poll_bytes(&self) -> u64 {
        self.collector.checked_bytes(CHECK_RESERVE)
    }

    /// Bytes 0 asks for a poll: a collection when the runtime wants one, which it shows by leaving little room.
    pub(super) fn heap_check(&mut self, bytes: u32, live: &[Var]) {
        if bytes == 0 || !self.fresh_start {
            self.make_room(bytes.into(), live, None);
            return;
        }
        let room = self.collector.checked_bytes(bytes.into());
        let short = self.room_below(room);
        let (cold, go) = (self.fresh(), self.fresh());
        self.branch(&short, &cold, &go, Odds::Unlikely);
        self.out_of_line(&cold, |e| e.again(room.max(16)));
        self.start(&go);
        let alloc = alloc::for_facts(self.collector);
        alloc.checked(self, room);
    }

    /// A heap check for objects of `bytes` bytes. `extra` is one more value that lives on; its new word is returned.
    pub(super) fn make_room(&mut self, bytes: u64, live: &[Var], extra: Option<&Val>) -> Option<Val> {
        let room = self.collector.checked_bytes(bytes);
        let short = if bytes == 0 { self.collection_wanted() } else { self.room_below(room) };
        let (cold, go, here) = (self.fresh(), self.fresh(), self.here());
        self.branch(&short, &cold, &go, Odds::Unlikely);
        let moved = self.out_of_line(&cold, |e| {
            if bytes > 0 {
                e.note_allocation(e.allocation);
            }
            let moved = e.collect(if bytes == 0 { e.poll_bytes() } else { room.max(16) }, live, extra);
            e.goto(&go);
            (moved, e.here())
        });
        self.start(&go);
        let extra = match (extra, moved) {
            (Some(v), (Some(new), after)) => Some(self.phi("i64", &[(v.clone(), here), (new, after)])),
            _ => None,
        };
        let alloc = alloc::for_facts(self.collector);
        alloc.checked(self, room);
        extra
    }

    /// An `i1`: is there less room than this many bytes?
    pub(super) fn room_below(&mut self, bytes: u64) -> Val {
        let (hi, lo) = (self.hi(), self.lo());
        let room = ins!(self, "sub i64 {hi}, {lo}");
        ins!(self, "icmp ult i64 {room}, {bytes}")
    }

    fn collection_wanted(&mut self) -> Val {
        self.room_below(self.poll_bytes() + 16)
    }

    /// Room for `words` more words of stack; see `Stmt::StackCheck`. The frame will be where the room is.
    pub(super) fn stack_check(&mut self, words: u32, live: &[Var]) {
        let activations = self.activations;
        let place = activations.place(self, words);
        let over = activations.lacks_room(self, words, &place);
        let here = self.here();
        let elsewhere = self.slow_guard(&over, 8 * words, live, |e| (activations.place(e, words), e.here()));
        self.reserved = Some(self.phi("i64", &[(place, here), elsewhere]));
    }

    /// See `Stmt::StopCheck`.
    pub(super) fn stop_check(&mut self, live: &[Var]) {
        let asked = self.stop_asked();
        self.slow_guard(&asked, 0, live, |_| ());
    }

    /// An `i1`: is a stop requested? A volatile load, for a loop must not ask once and for all.
    pub(crate) fn stop_asked(&mut self) -> Val {
        let p = ins!(self, "getelementptr i8, ptr %ctx, i64 {}", offset_of!(Machine, stack_guard));
        let guard = ins!(self, "load volatile i64, ptr {p}{}", Mem::Machine.suffix());
        ins!(self, "icmp slt i64 {guard}, 0")
    }

    /// If the guard trips, the runtime is called, then `after` emitted.
    fn slow_guard<T>(&mut self, trips: &Val, bytes: u32, live: &[Var], after: impl FnOnce(&mut Self) -> T) -> T {
        let (cold, go) = (self.fresh(), self.fresh());
        self.branch(trips, &cold, &go, Odds::Unlikely);
        let result = self.out_of_line(&cold, |e| {
            let kept = 8 * e.func.map_or(0, |(_, f)| f.incoming_words());
            let arguments = [bytes, kept].map(|n| Val::word(Word::fixnum(n as i64).0));
            e.safepoint("cairn_machine_guard", &arguments, live, &[]);
            let result = after(e);
            e.goto(&go);
            result
        });
        self.start(&go);
        result
    }

    /// Calls the collector. `extra` is one more value that lives on; its new word is returned.
    pub(crate) fn collect(&mut self, bytes: u64, live: &[Var], extra: Option<&Val>) -> Option<Val> {
        let bytes = Val::word(Word::fixnum(bytes as i64).0);
        self.safepoint("cairn_machine_collect", &[bytes], live, extra.as_slice()).pop()
    }

    /// Calls the runtime where it may collect. `extra` are further values that live on; their new words are returned.
    /// When nothing moves, the words stored for the collector are still in hand.
    pub(crate) fn safepoint(&mut self, symbol: &str, args: &[Val], live: &[Var], extra: &[&Val]) -> Vec<Val> {
        if self.footing.is_read_as_it_is() {
            // nothing in the stub's registers and the function's frame moves
            let sp = self.sp();
            self.cold_call(symbol, &sp, args);
            return extra.iter().map(|w| (*w).clone()).collect();
        }
        let live = self.spill(live);
        let mut count = live.len();
        let at_extra = count;
        for w in extra {
            self.store_machine(spill(count), w);
            count += 1;
        }
        let at_sp = count;
        let moves_sp = self.cx.frames.is_value();
        if moves_sp {
            let sp = self.sp();
            self.store_machine(spill(count), &sp);
            count += 1;
        }
        assert!(count <= SPILL_WORDS, "{count} words live on across a collection");
        self.store_machine(offset_of!(Machine, spilled), &Val::Int(count as i64));
        let sp = self.sp();
        let new_sp = self.cold_call(symbol, &sp, args);
        if self.collector.moving == Moving::Never {
            if !moves_sp {
                self.set_sp(&new_sp);
            }
            return extra.iter().map(|w| (*w).clone()).collect();
        }
        self.reload(&live);
        let sp = if moves_sp { self.load_machine(spill(at_sp)) } else { new_sp };
        self.set_sp(&sp);
        (0..extra.len()).map(|i| self.load_machine(spill(at_extra + i))).collect()
    }

    /// Stores the tagged variables of these into the spill area; returns them.
    pub(super) fn spill(&mut self, live: &[Var]) -> Vec<Var> {
        let to_store = |v: &Var| !self.footing.is_read_as_it_is() && self.rep(*v) == Rep::Tagged;
        let live: Vec<Var> = live.iter().copied().filter(to_store).collect();
        for (i, v) in live.iter().enumerate() {
            let w = ins!(self, "load i64, ptr %v{}", v.0);
            self.store_machine(spill(i), &w);
        }
        live
    }

    /// Loads spilled variables back, unless nothing moves.
    pub(super) fn reload(&mut self, live: &[Var]) {
        if self.collector.moving == Moving::Never {
            return;
        }
        for (i, v) in live.iter().enumerate() {
            let w = self.load_machine(spill(i));
            line!(self, "store i64 {w}, ptr %v{}", v.0);
        }
    }

    /// To be called on a slow path with the statement's result in hand, when nothing else of the statement is
    /// outstanding: collects if the runtime wants it and the frame pass allows it here.
    pub(crate) fn poll(&mut self, result: &Val) -> Val {
        let Some((live, target)) = self.poll.clone() else { return result.clone() };
        let live: Vec<Var> = live.into_iter().filter(|v| Some(*v) != target).collect();
        let wanted = self.collection_wanted();
        let (yes, join, here) = (self.fresh(), self.fresh(), self.here());
        self.branch(&wanted, &yes, &join, Odds::Unlikely);
        self.start(&yes);
        let moved = self.collect(self.poll_bytes(), &live, Some(result)).expect("an extra value");
        let after = self.here();
        self.goto(&join);
        self.start(&join);
        self.phi("i64", &[(result.clone(), here), (moved, after)])
    }
}
