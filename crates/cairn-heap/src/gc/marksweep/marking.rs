//! Marking: everything that can be reached gets its start bit set.
//!
//! Nothing moves and nothing is written but bits, so any number of threads can trace at once ([`super::sharing`]); with
//! one, none of that is compiled in. What is on the stack are references, not objects: an object is touched once, when
//! its bit is set and its words are looked at, and a short queue in front of the stack has asked for both in time
//! (Garner, Blackburn & Frampton 2007). Pairs are looked at from the second word, so that of a list no more than a few
//! references wait.
//!
//! The stacks have a fixed size. An object that a stack has no room for is *deferred*: marked, and found again by a
//! second bit. Long objects wait as *pieces*, so that a vector does not fill the stack; and a thread with nothing else
//! gives away half of a piece.
//!
//! # What holds
//!
//! Unsafe code here relies on this, and on nothing else:
//!
//! * *Still.* The mutator stands still, and no object moves, from [`Marker::new`] until the last marker is gone.
//! * *References.* Every word on a stack, in the queue, in a piece or in a batch refers to the start of an
//!   allocated object of the region. What roots and objects show is a reference by the contracts of [`RootVisitor`]
//!   and [`ObjectModel`], and is asked if it is in the region ([`Marker::is_in_heap`]); an ambiguous word is looked
//!   up by the [`Finder`] first.
//! * *Whole objects.* All words of an allocated object are initialised, and `measure` says where it ends: loads
//!   from its start to its end stay inside its cell. What lies behind a part of a piece belongs to the same object.
//! * *Only bits are written*: those of `Marks` and of compact pools, atomically where others trace (`PARALLEL`). No
//!   other memory is written, so that references from several threads to one object do no harm.
//! * *Once.* Who sets an object's bit looks at its words, or notes it as deferred, so nobody else has to.
//! * *States.* There is a state byte for each block of the region, and none changes while objects are traced.

#![allow(unsafe_op_in_unsafe_fn)] // One algorithm, safe by what is listed under "What holds".

use super::sharing::{Batch, Next, Piece, Sharing};
use crate::address::{Address, BlockIndex, Span, WORD, prefetch};
use crate::blocks::{Kind, State};
use crate::client::{AmbiguousVisitor, Client, RootVisitor, WeakVisitor};
use crate::find::Finder;
use crate::marks::Starts;
use crate::model::{Located, ObjectModel, RefKind};
use crate::region::Region;
use crate::space::cells::CellWords;
use crate::space::compact::{CompactSpace, CompactStack};
use crate::space::segregated::SegregatedSpace;
use crate::space::stack_chunks::ChunkSpace;
use crate::weak::{Watched, WeakTracing};
use std::sync::atomic::Ordering::Relaxed;

/// References on their way from the stack.
const QUEUE: usize = 8;
/// Bytes of an object that are looked at at once.
const PIECE: u64 = 2 << 10;
/// A thread with fewer references gives none away.
const WORTH_SHARING: usize = 32;

/// What all threads look at.
pub(super) struct Shared<'h, M> {
    pub finder: Finder<'h, M, SegregatedSpace>,
    pub compact: &'h CompactSpace,
    pub region: Span,
    pub sharing: Sharing,
    states: *const u8,
}

// SAFETY: all that is written through it are bits of `Marks`, atomically while several threads trace; the rest is only
// read. The descriptors behind `states` do not change meanwhile.
unsafe impl<M: ObjectModel> Sync for Shared<'_, M> {}

impl<'h, M: ObjectModel> Shared<'h, M> {
    pub fn new(
        finder: Finder<'h, M, SegregatedSpace>,
        compact: &'h CompactSpace,
        region: &Region,
        threads: usize,
    ) -> Self {
        let states = finder.pool.table.states();
        Shared { finder, compact, region: region.span(), sharing: Sharing::new(threads), states }
    }
}

/// The room that a thread works in; kept from collection to collection.
#[derive(Default)]
pub(super) struct Stacks {
    references: Vec<u64>,
    pieces: Vec<Piece>,
    /// Continuations to be asked about, of a thread that works alone.
    continuations: Vec<Address>,
}

impl Stacks {
    /// Room for `most` references.
    pub fn new(most: usize) -> Result<Stacks, std::collections::TryReserveError> {
        let mut s = Stacks::default();
        s.references.try_reserve_exact(most)?;
        s.pieces.try_reserve_exact(most / 8 + 8)?;
        s.continuations.try_reserve_exact(64)?;
        Ok(s)
    }
}

/// One thread's part. `PARALLEL`: others trace at the same time.
pub(super) struct Marker<'s, 'h, M, const PARALLEL: bool> {
    s: &'s Shared<'h, M>,
    stacks: &'s mut Stacks,
    queue: [u64; QUEUE],
    at: usize,
    /// The stack is being emptied: it cannot be emptied to make room.
    draining: bool,
    /// For the thread that asks the client.
    chunks: Option<&'s mut ChunkSpace>,
    in_continuation: bool,
    compact_stack: CompactStack,
    watched: Watched,
    pub watching: bool,
    /// Ambiguous words that refer to an object.
    pub found: u64,
    /// Times that deferred objects were looked for.
    pub overflows: u64,
}

impl<'s, 'h, M: ObjectModel, const PARALLEL: bool> Marker<'s, 'h, M, PARALLEL> {
    pub fn new(s: &'s Shared<'h, M>, stacks: &'s mut Stacks, chunks: Option<&'s mut ChunkSpace>) -> Self {
        Marker {
            s,
            stacks,
            queue: [0; QUEUE],
            at: 0,
            draining: false,
            chunks,
            in_continuation: false,
            compact_stack: CompactStack::default(),
            watched: Watched::default(),
            watching: false,
            found: 0,
            overflows: 0,
        }
    }

    // ---- reaching objects

    #[inline(always)]
    fn mark(&self, a: Address) -> bool {
        let marks = self.s.finder.marks;
        if PARALLEL { marks.set_shared(a) } else { marks.set(a) }
    }

    #[inline(always)]
    fn is_in_heap(&self, w: u64) -> bool {
        M::is_reference(w) && self.s.region.contains(M::address(w))
    }

    /// A word was met: what it refers to is to be marked.
    #[inline(always)]
    unsafe fn meet(&mut self, w: u64) {
        if self.is_in_heap(w) {
            self.push(w);
        } else if M::is_indirect(w) {
            self.mark_indirect(w);
        }
    }

    /// A word refers to a compact record, or to what lies inside of a large object.
    #[inline]
    unsafe fn mark_indirect(&mut self, w: u64) {
        if let Some(offset) = M::inside(w) {
            let finder = &self.s.finder;
            if let Some(o) = finder.large.holder(finder.pool, offset) {
                self.push(M::reference(o.start, o.kind));
            }
            return;
        }
        let (watching, watched) = (!PARALLEL && self.watching, &mut self.watched);
        self.s.compact.mark::<PARALLEL>(w, &mut self.compact_stack, |w| {
            if watching {
                watched.note(Address(w));
            }
        });
    }

    #[inline(always)]
    unsafe fn push(&mut self, w: u64) {
        let stack = &mut self.stacks.references;
        if stack.len() < stack.capacity() {
            stack.push(w);
        } else {
            self.make_room(w);
        }
    }

    /// The stack is full.
    #[cold]
    unsafe fn make_room(&mut self, w: u64) {
        if PARALLEL && self.share() {
            return self.push(w);
        }
        if !PARALLEL && !self.draining && self.stacks.references.capacity() > 0 {
            // The client is showing its roots.
            self.drain();
            return self.push(w);
        }
        // Marked now, looked at later.
        let a = M::address(w);
        let state = self.state(a);
        match state.kind() {
            Kind::Segregated | Kind::Typed if !self.mark(a) => return,
            Kind::Segregated | Kind::Typed => {}
            Kind::Large | Kind::Shared if !self.mark(a) => return,
            Kind::Large | Kind::Shared => {}
            _ => return,
        }
        self.note(a);
        self.defer(a, M::is_pair(w));
    }

    #[cold]
    fn defer(&mut self, a: Address, pair: bool) {
        let marks = self.s.finder.marks;
        if PARALLEL {
            marks.defer_shared(a, pair)
        } else {
            marks.defer(a, pair)
        }
        self.s.sharing.deferred.store(true, Relaxed);
    }

    #[inline(always)]
    fn state(&self, a: Address) -> State {
        let block = self.s.finder.pool.table.block_of(a);
        // SAFETY: `a` is the start of an object of the region (*References*), and there is a state for each block
        // (*States*).
        State(unsafe { *self.s.states.add(block.0 as usize) })
    }

    #[inline(always)]
    fn note(&mut self, a: Address) {
        if !PARALLEL && self.watching {
            self.watched.note(a);
        }
    }

    /// A reference leaves the queue: its object is marked, and its words are looked at.
    #[inline(always)]
    unsafe fn visit(&mut self, w: u64) {
        let a = M::address(w);
        let state = self.state(a);
        if !state.is(Kind::Segregated) {
            return self.visit_apart(w, a, state);
        }
        if !self.mark(a) {
            return;
        }
        self.note(a);
        if !state.has(State::LEAF) {
            self.look_at(w, a);
        }
    }

    /// Looks at the words of an object in a cell, which is no leaf.
    #[inline(always)]
    unsafe fn look_at(&mut self, w: u64, a: Address) {
        if M::is_pair(w) {
            let (first, second) = (a.load(), a.plus(WORD).load());
            self.meet(second);
            self.meet(first);
            return;
        }
        let m = self.s.finder.model.measure(M::kind(w), a.load());
        if m.continuation {
            self.met_continuation(a);
        }
        let whole = Span::new(a, a.plus(m.bytes));
        if m.bytes > PIECE {
            self.push_piece((w, whole));
        } else {
            self.scan(a, m.bytes, whole);
        }
    }

    /// Looks at the words within `part` of the object of so many bytes at `a`, from the last to the first.
    #[inline(always)]
    unsafe fn scan(&mut self, a: Address, bytes: u64, part: Span) {
        if !M::SELF_DESCRIBING {
            let model = self.s.finder.model;
            return model.scan(a, bytes, part, self);
        }
        let mut at = part.end;
        while at > part.start {
            at = at.minus(WORD);
            self.meet(at.load());
        }
    }

    /// Large objects, and cells of one type; all else is not marked.
    #[cold]
    unsafe fn visit_apart(&mut self, w: u64, a: Address, state: State) {
        match state.kind() {
            Kind::Large | Kind::Shared | Kind::Typed if self.mark(a) => {
                self.note(a);
                self.look_at_apart(w, a, state);
            }
            _ => {}
        }
    }

    unsafe fn look_at_apart(&mut self, w: u64, a: Address, state: State) {
        let finder = &self.s.finder;
        if state.is(Kind::Typed) {
            let class = finder.cells.class_of(&finder.pool.table, finder.pool.table.block_of(a));
            if let CellWords::Typed(mut map) = class.words() {
                while map != 0 {
                    self.slot(a.plus(map.trailing_zeros() as u64 * WORD).words());
                    map &= map - 1;
                }
            }
            return;
        }
        let m = finder.model.measure(M::kind(w), a.load());
        if m.continuation {
            self.met_continuation(a);
        }
        if !m.leaf {
            self.push_piece((w, Span::new(a, a.plus(m.bytes))));
        }
    }

    unsafe fn push_piece(&mut self, piece: Piece) {
        if self.stacks.pieces.len() < self.stacks.pieces.capacity() {
            self.stacks.pieces.push(piece);
        } else {
            self.defer(M::address(piece.0), false);
        }
    }

    unsafe fn met_continuation(&mut self, k: Address) {
        let noted = if PARALLEL {
            self.s.sharing.continuation(k)
        } else {
            let all = &mut self.stacks.continuations;
            let room = all.len() < all.capacity();
            if room {
                all.push(k);
            }
            room
        };
        if !noted {
            self.defer(k, false);
        }
    }

    // ---- tracing

    /// The next reference, by way of the queue.
    #[inline(always)]
    unsafe fn next(&mut self) -> Option<u64> {
        while let Some(w) = self.stacks.references.pop() {
            let a = M::address(w);
            prefetch(a.bytes());
            self.s.finder.marks.prefetch(a);
            let before = std::mem::replace(&mut self.queue[self.at], w);
            self.at = (self.at + 1) % QUEUE;
            if before != 0 {
                return Some(before);
            }
        }
        for _ in 0..QUEUE {
            let before = std::mem::take(&mut self.queue[self.at]);
            self.at = (self.at + 1) % QUEUE;
            if before != 0 {
                return Some(before);
            }
        }
        None
    }

    /// Looks at everything that waits in this thread.
    unsafe fn drain(&mut self) {
        self.draining = true;
        loop {
            while let Some(w) = self.next() {
                self.visit(w);
                if PARALLEL && self.s.sharing.is_hungry() {
                    self.share();
                }
            }
            let Some((w, part)) = self.stacks.pieces.pop() else { break };
            let mut now = part;
            if part.bytes() > PIECE {
                now.end = part.start.plus(PIECE);
                self.stacks.pieces.push((w, Span::new(now.end, part.end)));
            }
            let a = M::address(w);
            let bytes = self.s.finder.model.measure(M::kind(w), a.load()).bytes;
            self.scan(a, bytes, now);
        }
        self.draining = false;
    }

    /// Gives half of the work away, if there is much; was there?
    #[cold]
    unsafe fn share(&mut self) -> bool {
        let stacks = &mut *self.stacks;
        let mut batch = Batch::default();
        let n = stacks.references.len() / 2;
        if n >= WORTH_SHARING / 2 {
            if batch.references.try_reserve_exact(n).is_err() {
                return false;
            }
            // The older ones: what hangs on them is larger.
            batch.references.extend_from_slice(&stacks.references[..n]);
            stacks.references.drain(..n);
        } else {
            let Some((w, part)) = stacks.pieces.first_mut() else { return false };
            if part.bytes() < 4 * PIECE || batch.pieces.try_reserve_exact(1).is_err() {
                return false;
            }
            let middle = part.start.plus((part.bytes() / 2) & !(WORD - 1));
            batch.pieces.push((*w, Span::new(middle, part.end)));
            part.end = middle;
        }
        match self.s.sharing.give(batch) {
            Ok(()) => true,
            Err(batch) => {
                self.take(batch);
                false
            }
        }
    }

    unsafe fn take(&mut self, batch: Batch) {
        for w in batch.references {
            self.push(w);
        }
        for piece in batch.pieces {
            self.push_piece(piece);
        }
    }

    /// Traces together with the other threads until all is done.
    ///
    /// # Safety
    /// What waits, here and there, are references to objects.
    pub unsafe fn work(&mut self) {
        loop {
            self.drain();
            match self.s.sharing.next(false) {
                Next::Batch(batch) => self.take(batch),
                Next::Continuations(_) | Next::Done => return,
            }
        }
    }

    /// Traces until all is done: together with others, or alone.
    ///
    /// # Safety
    /// What waits, here and there, are references to objects; the mutator stands still.
    pub unsafe fn trace_all<C: Client>(&mut self, client: &mut C) {
        loop {
            self.drain();
            if PARALLEL {
                match self.s.sharing.next(true) {
                    Next::Batch(batch) => self.take(batch),
                    Next::Continuations(all) => all.into_iter().for_each(|k| self.ask(k, client)),
                    Next::Done => return,
                }
            } else if let Some(k) = self.stacks.continuations.pop() {
                self.ask(k, client);
            } else if self.s.sharing.deferred.load(Relaxed) {
                self.resume();
            } else {
                return;
            }
        }
    }

    /// Asks the client what a continuation keeps.
    fn ask<C: Client>(&mut self, k: Address, client: &mut C) {
        self.in_continuation = true;
        client.trace_continuation(k, self);
        self.in_continuation = false;
    }

    /// Looks at the objects that were deferred, block by block.
    #[cold]
    unsafe fn resume(&mut self) {
        self.s.sharing.deferred.store(false, Relaxed);
        self.overflows += 1;
        let table = &self.s.finder.pool.table;
        for i in 0..(self.s.region.bytes() / crate::address::BLOCK_BYTES) as u32 {
            let block = BlockIndex(i);
            if !matches!(
                table.state(block).kind(),
                Kind::Segregated | Kind::Typed | Kind::Large | Kind::LargeTail | Kind::Shared
            ) {
                continue;
            }
            while let Some((a, pair)) = self.s.finder.marks.take_deferred(table.address_of(block)) {
                let state = self.state(a);
                if state.is(Kind::Typed) {
                    self.look_at_apart(M::reference(a, RefKind::Object), a, state);
                } else if pair {
                    self.look_at(M::reference(a, RefKind::Pair), a);
                } else {
                    let o = Located::headed(self.s.finder.model, a);
                    if state.is(Kind::Segregated) && !state.has(State::LEAF) {
                        self.look_at(o.reference.word(), a);
                    } else if !state.is(Kind::Segregated) {
                        self.look_at_apart(o.reference.word(), a, state);
                    }
                }
                self.drain();
                if !self.stacks.continuations.is_empty() {
                    // The client is asked first: there is room for a few of them only.
                    self.s.sharing.deferred.store(true, Relaxed);
                    return;
                }
            }
        }
    }
}

impl<M: ObjectModel, const PARALLEL: bool> RootVisitor for Marker<'_, '_, M, PARALLEL> {
    #[inline(always)]
    unsafe fn slot(&mut self, slot: *mut u64) {
        self.meet(*slot);
    }

    fn mark_chunk(&mut self, chunk: Address) {
        let in_continuation = self.in_continuation;
        let chunks = self.chunks.as_mut().expect("the thread that asks the client marks chunks");
        chunks.mark(self.s.finder.pool, chunk, in_continuation);
    }
}

impl<M: ObjectModel, const PARALLEL: bool> AmbiguousVisitor for Marker<'_, '_, M, PARALLEL> {
    fn ambiguous(&mut self, word: u64) {
        if M::is_indirect(word) {
            // SAFETY: any word will do: `holder` and the pools look up whether there is something.
            unsafe { self.mark_indirect(word) };
        }
        if let Some(o) = self.s.finder.around(Address(word), Starts::BeforeMarking) {
            self.found += 1;
            // SAFETY: the finder has found an object, so `o.reference` is one to it (*References*).
            unsafe { self.push(o.reference.word()) };
        }
    }
}

impl<M: ObjectModel> WeakVisitor for Marker<'_, '_, M, false> {
    const EVERYTHING: bool = true;

    unsafe fn survivor(&self, w: u64) -> Option<u64> {
        if M::is_indirect(w) {
            let finder = &self.s.finder;
            let alive = match M::inside(w) {
                Some(offset) => {
                    finder.large.holder(finder.pool, offset).is_some_and(|o| finder.marks.is_set(o.start))
                }
                None => self.s.compact.is_marked(w),
            };
            return alive.then_some(w);
        }
        let a = M::address(w);
        if !self.s.region.contains(a) {
            return Some(w);
        }
        let alive = match self.state(a).kind() {
            Kind::Segregated | Kind::Large | Kind::Shared | Kind::Typed => self.s.finder.marks.is_set(a),
            _ => true,
        };
        alive.then_some(w)
    }
}

impl<M: ObjectModel, C: Client> WeakTracing<C> for Marker<'_, '_, M, false> {
    unsafe fn trace(&mut self, client: &mut C) {
        self.trace_all(client);
    }
    fn watched(&mut self) -> &mut Watched {
        &mut self.watched
    }
    fn holder(&self, offset: u64) -> Option<Address> {
        self.s.finder.large.holder(self.s.finder.pool, offset).map(|o| o.start)
    }
}
