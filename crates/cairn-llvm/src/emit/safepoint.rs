//! Safepoints: where the collector may run, and what it finds.
//!
//! The problem: the collector needs every live value at a known place. The idea: the slow path of a heap check stores
//! the live variables into the spill area of the machine context, calls the runtime, and loads them back; nothing lives
//! in registers or on the native stack meanwhile.

use super::builder::{ins, line};
use super::emitter::Emitter;
use super::text::{Odds, Val};
use cairn_frame::ir::{Rep, Var};
use cairn_layout::collector::Moving;
use cairn_layout::limits::{CHECK_RESERVE, SPILL_WORDS};
use cairn_layout::machine::Machine;
use cairn_layout::value::Value as Word;
use std::mem::offset_of;

/// What a collection at a poll leaves at least: as much as an earlier heap check of the block may have promised.
const POLL_BYTES: u64 = CHECK_RESERVE;

impl Emitter<'_, '_> {
    /// Bytes 0 asks for a poll: a collection when the runtime wants one, which it shows by leaving little room.
    pub(super) fn heap_check(&mut self, bytes: u32, live: &[Var]) {
        self.make_room(bytes.into(), live, None);
    }

    /// A heap check for objects of `bytes` bytes. `extra` is one more value that lives on; its new word is returned.
    pub(super) fn make_room(&mut self, bytes: u64, live: &[Var], extra: Option<&Val>) -> Option<Val> {
        let room = self.collector.checked_bytes(bytes);
        let short = if bytes == 0 { self.collection_wanted() } else { self.room_below(room) };
        let (cold, go, here) = (self.fresh(), self.fresh(), self.here());
        self.branch(&short, &cold, &go, Odds::Unlikely);
        let moved = self.out_of_line(&cold, |e| {
            let moved = e.collect(if bytes == 0 { POLL_BYTES } else { room.max(16) }, live, extra);
            e.goto(&go);
            (moved, e.here())
        });
        self.start(&go);
        let extra = match (extra, moved) {
            (Some(v), (Some(new), after)) => Some(self.phi("i64", &[(v.clone(), here), (new, after)])),
            _ => None,
        };
        let alloc = self.alloc;
        alloc.checked(self, room);
        extra
    }

    /// An `i1`: is there less room than this many bytes?
    fn room_below(&mut self, bytes: u64) -> Val {
        let (hi, lo) = (self.hi(), self.lo());
        let room = ins!(self, "sub i64 {hi}, {lo}");
        ins!(self, "icmp ult i64 {room}, {bytes}")
    }

    fn collection_wanted(&mut self) -> Val {
        self.room_below(CHECK_RESERVE + 16)
    }

    /// Calls the collector. `extra` is one more value that lives on; its new word is returned. When nothing moves, the
    /// words stored for the collector are still in hand.
    fn collect(&mut self, bytes: u64, live: &[Var], extra: Option<&Val>) -> Option<Val> {
        let live: Vec<Var> = live.iter().copied().filter(|v| self.rep(*v) == Rep::Tagged).collect();
        let spill = |i: usize| offset_of!(Machine, spill) + 8 * i;
        for (i, v) in live.iter().enumerate() {
            let w = ins!(self, "load i64, ptr %v{}", v.0);
            self.store_machine(spill(i), &w);
        }
        let mut count = live.len();
        let at_extra = count;
        if let Some(w) = extra {
            self.store_machine(spill(count), w);
            count += 1;
        }
        let at_sp = count;
        let moves_sp = self.cx.strategy.frame_is_value();
        if moves_sp {
            let sp = self.sp();
            self.store_machine(spill(count), &sp);
            count += 1;
        }
        assert!(count <= SPILL_WORDS, "{count} words live on across a collection");
        self.store_machine(offset_of!(Machine, spilled), &Val::Int(count as i64));
        let sp = self.sp();
        self.cold_call("cairn_machine_collect", &sp, &[Val::word(Word::fixnum(bytes as i64).0)]);
        if self.collector.moving == Moving::Never {
            return extra.cloned();
        }
        for (i, v) in live.iter().enumerate() {
            let w = self.load_machine(spill(i));
            line!(self, "store i64 {w}, ptr %v{}", v.0);
        }
        if moves_sp {
            let w = self.load_machine(spill(at_sp));
            self.set_sp(&w);
        }
        extra.map(|_| self.load_machine(spill(at_extra)))
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
        let moved = self.collect(POLL_BYTES, &live, Some(result)).expect("an extra value");
        let after = self.here();
        self.goto(&join);
        self.start(&join);
        self.phi("i64", &[(result.clone(), here), (moved, after)])
    }
}
