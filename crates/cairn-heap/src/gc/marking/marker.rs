//! Marking: everything that can be reached gets its start bit set.
//!
//! Nothing moves and nothing is written but bits, so any number of threads can trace at once ([`super::together`],
//! [`super::sharing`]); with one, none of that is compiled in. A queue in front of the stack has asked for an object
//! in time before its words are looked at (Garner, Blackburn & Frampton 2007). When an object's bit is set depends
//! on where objects lie:
//!
//! * *Cells* (`marksweep`): what is on the stack are references, not objects; an object is touched once, when its bit
//!   is set and its words are looked at. Pairs are looked at from the second word, so that of a list no more than a few
//!   references wait.
//! * *Lines* (`LINES`: mark-region blocks, `gen`): objects that are met together lie together, and their bits, too. So
//!   a bit is set at once, and what was marked before gets onto no stack. Lists are followed along their cdrs. With its
//!   words, an object's lines are marked.
//!
//! The stacks have a fixed size. An object that a stack has no room for is *deferred*: marked, and found again by a
//! second bit. Long objects wait as *pieces*, so that a vector does not fill the stack; and a thread with nothing else
//! gives away half of a piece.
//!
//! A collector may be about to evacuate some blocks. Then the objects there are marked as others are, and the *slots*
//! in objects that stay, of references to those that do not, are noted: so that one thread can move them afterwards,
//! which needs no other thread's consent. Whatever else refers to them, roots and frames, has to be shown again.
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
//! * *Only bits are written*: those of `Marks`, and its counts, and of compact pools; where others trace (`PARALLEL`),
//!   atomically, or by one side alone ([`crate::marks`]). No other memory is written, so that references from several
//!   threads to one object do no harm.
//! * *Once, or seldom twice.* Who sets an object's bit looks at its words, or notes it as deferred, so nobody else has
//!   to. Two sides may set the bits of one object at the same time, and both look at it; continuations are claimed, so
//!   that the client is asked once.
//! * *States.* There is a state byte for each block of the region, and none changes while objects are traced.

#![allow(unsafe_op_in_unsafe_fn)] // One algorithm, safe by what is listed under "What holds".

use super::sharing::{Batch, Next, Piece, Sharing};
use crate::address::{Address, BlockIndex, PAIR_BYTES, Span, WORD, prefetch};
use crate::blocks::{Kind, State};
use crate::client::{AmbiguousVisitor, Client, RootVisitor, WeakVisitor};
use crate::find::Finder;
use crate::marks::{MarkTables, Sides, Starts};
use crate::model::{Located, ObjectModel, RefKind};
use crate::region::Region;
use crate::space::compact::{CompactSpace, CompactStack};
use crate::space::stack_chunks::ChunkSpace;
use crate::weak::{Watched, WeakTracing};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// References on their way from the stack.
const QUEUE: usize = 16;
/// Bytes of an object that are looked at at once.
const PIECE: u64 = 2 << 10;
/// A thread with fewer references gives none away.
const WORTH_SHARING: usize = 32;
/// Blocks whose starts a thread merges at once.
const MERGED_AT_ONCE: u32 = 256;

/// What all threads look at.
pub(super) struct Shared<'h, M> {
    finder: Finder<'h, M>,
    compact: &'h CompactSpace,
    region: Span,
    pub sharing: Sharing,
    states: *const u8,
    tables: MarkTables,
    /// Some blocks will be evacuated.
    moving: bool,
    /// Blocks whose starts have been merged, or are being merged.
    merged: AtomicU32,
}

// SAFETY: all that is written through it are bits of `Marks`, atomically while several threads trace; the rest is only
// read. The descriptors behind `states` do not change meanwhile.
unsafe impl<M: ObjectModel> Sync for Shared<'_, M> {}

impl<'h, M: ObjectModel> Shared<'h, M> {
    pub(super) fn new(
        finder: Finder<'h, M>,
        compact: &'h CompactSpace,
        region: &Region,
        threads: usize,
        moving: bool,
    ) -> Self {
        let (states, tables) = (finder.pool.table.states(), finder.marks.tables());
        Shared {
            finder,
            compact,
            region: region.span(),
            sharing: Sharing::new(threads),
            states,
            tables,
            moving,
            merged: AtomicU32::new(0),
        }
    }
}

/// The room that a thread works in. No two threads' lie in lines of the cache that a processor fetches together.
#[derive(Default)]
#[repr(align(128))]
pub(in crate::gc) struct Stacks {
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

/// What a marker has found that is to be looked at again, once objects have moved.
#[derive(Default)]
pub(in crate::gc) struct Again {
    /// Places in objects that stay, of references to objects that do not.
    pub slots: Vec<*mut u64>,
    /// Continuations that the client was asked about.
    pub continuations: Vec<Address>,
    /// There was no room to note all of them.
    pub incomplete: bool,
}

// SAFETY: places in a heap that stands still; nobody looks at them before all markers are gone.
unsafe impl Send for Again {}

impl Again {
    #[cold]
    fn grow<T>(&mut self, all: impl FnOnce(&mut Again) -> &mut Vec<T>) -> bool {
        let grown = all(self).try_reserve(1024).is_ok();
        self.incomplete |= !grown;
        grown
    }
    fn slot(&mut self, slot: *mut u64) {
        if self.slots.len() < self.slots.capacity() || self.grow(|a| &mut a.slots) {
            self.slots.push(slot);
        }
    }
    /// Was there room?
    fn continuation(&mut self, k: Address) -> bool {
        let room = self.continuations.len() < self.continuations.capacity() || self.grow(|a| &mut a.continuations);
        if room {
            self.continuations.push(k);
        }
        room
    }
    /// Notes what another marker has found.
    pub fn append(&mut self, mut other: Again) {
        self.incomplete |= other.incomplete;
        if self.slots.try_reserve(other.slots.len()).is_ok() {
            self.slots.append(&mut other.slots);
        } else {
            self.incomplete = true;
        }
    }
}

/// One thread's part. `PARALLEL`: others trace at the same time. `LINES`: see the module's header.
pub(in crate::gc) struct Marker<'s, 'h, M, const PARALLEL: bool, const LINES: bool> {
    s: &'s Shared<'h, M>,
    stacks: &'s mut Stacks,
    sides: Option<Sides>,
    pub again: Again,
    /// The words that are being looked at are those of an object that stays where it is.
    stays: bool,
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

impl<'s, 'h, M: ObjectModel, const PARALLEL: bool, const LINES: bool> Marker<'s, 'h, M, PARALLEL, LINES> {
    /// `sides`: the tables that starts are recorded in, if others trace at the same time.
    pub(super) fn new(
        s: &'s Shared<'h, M>,
        stacks: &'s mut Stacks,
        sides: Option<Sides>,
        chunks: Option<&'s mut ChunkSpace>,
    ) -> Self {
        debug_assert_eq!(sides.is_some(), PARALLEL);
        Marker {
            s,
            stacks,
            sides,
            again: Again::default(),
            stays: false,
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
        match self.sides {
            Some(sides) if PARALLEL => marks.set_beside(sides, a),
            _ => marks.set(a),
        }
    }
    /// The object of so many bytes at `a`, of a mark-region block, has just been marked: its lines are, too.
    #[inline(always)]
    unsafe fn mark_lines(&self, a: Address, bytes: u64) {
        let offset = a.offset_from(self.s.region.start);
        match self.sides {
            Some(sides) if PARALLEL => self.s.tables.mark_lines_beside(sides, offset, bytes),
            _ => self.s.tables.mark_lines(offset, bytes),
        }
    }

    #[inline(always)]
    fn is_in_heap(&self, w: u64) -> bool {
        // Most words that refer to no object of the region are small, and not worth a look at their tags.
        self.s.region.contains(Address(w)) && M::is_reference(w)
    }

    /// A word was met at this place: what it refers to is to be marked.
    #[inline(always)]
    unsafe fn meet(&mut self, slot: *mut u64) {
        let w = *slot;
        if self.is_in_heap(w) {
            if LINES && self.s.moving && self.stays && self.state(M::address(w)).has(State::FROM) {
                self.again.slot(slot);
            }
            self.reach(w);
        } else if M::is_indirect(w) {
            self.mark_indirect(w);
        }
    }

    /// What this reference refers to is to be marked.
    #[inline(always)]
    pub(super) unsafe fn reach(&mut self, w: u64) {
        if !LINES {
            return self.push(w);
        }
        let a = M::address(w);
        if self.is_kept_by_bits(self.state(a)) && self.mark(a) {
            self.note(a);
            self.push(w);
        }
    }

    /// Do objects in such a block live by their start bits?
    #[inline(always)]
    fn is_kept_by_bits(&self, state: State) -> bool {
        const fn bits(kinds: &[Kind]) -> u16 {
            let (mut all, mut i) = (0, 0);
            while i < kinds.len() {
                all |= 1 << kinds[i] as u8;
                i += 1;
            }
            all
        }
        let kinds = const {
            if LINES {
                bits(&[
                    Kind::Scannable,
                    Kind::Leaf,
                    Kind::Large,
                    Kind::Shared,
                    Kind::Typed,
                    Kind::Untyped,
                    Kind::Pinned,
                ])
            } else {
                bits(&[Kind::Segregated, Kind::Large, Kind::Shared, Kind::Typed])
            }
        };
        kinds >> (state.0 & 15) & 1 != 0
    }

    /// A word refers to a compact record, or to what lies inside of a large object.
    #[inline]
    unsafe fn mark_indirect(&mut self, w: u64) {
        if let Some(offset) = M::inside(w) {
            let finder = &self.s.finder;
            if let Some(o) = finder.large.holder(finder.pool, offset) {
                self.reach(M::reference(o.start, o.kind));
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
            self.stays = false;
            return self.push(w);
        }
        // Marked now, looked at later.
        let a = M::address(w);
        if !LINES {
            if !self.is_kept_by_bits(self.state(a)) || !self.mark(a) {
                return;
            }
            self.note(a);
        }
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
        // SAFETY: the address is inside the region.
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
        if LINES {
            return self.look(w, a, state);
        }
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

    /// Looks at a marked object in a block of this state.
    #[inline(always)]
    unsafe fn look(&mut self, w: u64, a: Address, state: State) {
        if !LINES {
            if !state.is(Kind::Segregated) {
                self.look_apart(w, a, state);
            } else if !state.has(State::LEAF) {
                self.look_at(w, a);
            }
        } else if state.0 & 14 == Kind::Scannable as u8 {
            self.stays = !state.has(State::FROM);
            if M::is_pair(w) { self.follow_list(a) } else { self.look_at(w, a) }
        } else {
            self.stays = true;
            self.look_apart(w, a, state);
        }
    }

    /// Looks at the words of an object, or the pair, in a block of small objects, which in a cell is no leaf.
    #[inline(always)]
    unsafe fn look_at(&mut self, w: u64, a: Address) {
        if !LINES && M::is_pair(w) {
            self.meet(a.plus(WORD).words());
            self.meet(a.words());
            return;
        }
        let m = self.s.finder.model.measure(M::kind(w), a.load());
        if LINES {
            self.mark_lines(a, m.bytes);
        }
        if m.continuation {
            self.met_continuation(a);
        }
        if LINES && m.leaf {
            return;
        }
        let whole = Span::new(a, a.plus(m.bytes));
        if m.bytes > PIECE {
            self.push_piece((w, whole));
        } else {
            self.scan(a, m.bytes, whole);
        }
    }

    /// Looks at a marked pair, and at the pairs along its cdr that are unmarked, in mark-region blocks.
    #[inline(always)]
    unsafe fn follow_list(&mut self, mut pair: Address) {
        // So many at once, then their elements: not all of a long list must get onto the stack.
        let bottom = self.stacks.references.len();
        for left in (0..PIECE / PAIR_BYTES).rev() {
            self.mark_lines(pair, PAIR_BYTES);
            self.meet(pair.words());
            let cdr = pair.plus(WORD);
            let w = cdr.load();
            if !M::is_pair(w) || !self.s.region.contains(M::pair_address(w)) {
                return self.meet(cdr.words());
            }
            let next = M::pair_address(w);
            let state = self.state(next);
            // Whether slots are noted is asked of each object anew.
            if !state.is(Kind::Scannable) || state.has(State::FROM) || !self.stays {
                return self.meet(cdr.words());
            }
            if !self.mark(next) {
                return;
            }
            self.note(next);
            if left == 0 {
                let stack = &mut self.stacks.references;
                if stack.len() < stack.capacity() {
                    return stack.insert(bottom.min(stack.len()), w);
                }
                return self.push(w);
            }
            pair = next;
        }
    }

    /// Looks at the words within `part` of the object of so many bytes at `a`, from the last to the first.
    #[inline(always)]
    unsafe fn scan(&mut self, a: Address, bytes: u64, part: Span) {
        if !M::SELF_DESCRIBING {
            let model = self.s.finder.model;
            return model.scan(a, bytes, part, self);
        }
        if LINES {
            let mut at = part.start;
            while at < part.end {
                self.meet(at.words());
                at = at.plus(WORD);
            }
            return;
        }
        let mut at = part.end;
        while at > part.start {
            at = at.minus(WORD);
            self.meet(at.words());
        }
    }

    /// Marks what is in no block of small objects, and looks at it.
    #[cold]
    unsafe fn visit_apart(&mut self, w: u64, a: Address, state: State) {
        if self.is_kept_by_bits(state) && self.mark(a) {
            self.note(a);
            self.look_apart(w, a, state);
        }
    }

    /// Looks at a marked object that is large, pinned, or a cell of one class.
    #[cold]
    unsafe fn look_apart(&mut self, w: u64, a: Address, state: State) {
        let finder = &self.s.finder;
        match state.kind() {
            Kind::Typed | Kind::Untyped => {
                let class = finder.cells.class_of(&finder.pool.table, finder.pool.table.block_of(a));
                return class.scan(a, Span::new(a, a.plus(class.bytes())), self);
            }
            Kind::Pinned if M::is_pair(w) => return self.words(a.words(), 2),
            _ => {}
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
            let marks = self.s.finder.marks;
            if !marks.claim(k) {
                return;
            }
            let noted = self.s.sharing.continuation(k);
            if !noted {
                marks.give_back(k);
            }
            noted
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
            if !LINES {
                self.s.finder.marks.prefetch(a);
            }
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
            self.stays = !self.state(a).has(State::FROM);
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

    /// Traces together with the other threads until all is done, and merges starts.
    ///
    /// # Safety
    /// What waits, here and there, are references to objects.
    pub(super) unsafe fn work(&mut self) {
        loop {
            self.drain();
            match self.s.sharing.next(false) {
                Next::Batch(batch) => self.take(batch),
                Next::Continuations(_) | Next::Done => return self.merge(),
            }
        }
    }

    /// Merges the starts that helpers have set, together with the other threads: nobody marks any more.
    fn merge(&self) {
        let finder = &self.s.finder;
        loop {
            let first = self.s.merged.fetch_add(MERGED_AT_ONCE, Relaxed);
            for i in first..first + MERGED_AT_ONCE {
                let Some(block) = finder.pool.nth_used(i) else { return };
                if self.is_kept_by_bits(finder.pool.table.state(block)) {
                    finder.marks.merge(finder.pool.table.address_of(block));
                }
            }
        }
    }

    /// Traces until all is done: together with others, or alone.
    ///
    /// # Safety
    /// As for [`Marker::work`].
    pub unsafe fn trace_all<C: Client>(&mut self, client: &mut C) {
        loop {
            self.drain();
            if PARALLEL {
                match self.s.sharing.next(true) {
                    Next::Batch(batch) => self.take(batch),
                    Next::Continuations(all) => all.into_iter().for_each(|k| self.ask(k, client)),
                    Next::Done => return self.merge(),
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
        let noted = (PARALLEL || LINES && self.s.moving) && self.again.continuation(k);
        if PARALLEL && !noted {
            // It may be met once more.
            self.s.finder.marks.give_back(k);
        }
        (self.in_continuation, self.stays) = (true, false);
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
            let state = table.state(block);
            if !self.is_kept_by_bits(state) && !state.is(Kind::LargeTail) {
                continue;
            }
            while let Some((a, pair)) = self.s.finder.marks.take_deferred(table.address_of(block)) {
                let w = if pair {
                    M::reference(a, RefKind::Pair)
                } else if state.is(Kind::Typed) || state.is(Kind::Untyped) {
                    M::reference(a, RefKind::Object)
                } else {
                    Located::headed(self.s.finder.model, a).reference.word()
                };
                self.look(w, a, self.state(a));
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

impl<M: ObjectModel, const PARALLEL: bool, const LINES: bool> RootVisitor for Marker<'_, '_, M, PARALLEL, LINES> {
    #[inline(always)]
    unsafe fn slot(&mut self, slot: *mut u64) {
        self.meet(slot);
    }

    fn mark_chunk(&mut self, chunk: Address) {
        let in_continuation = self.in_continuation;
        let chunks = self.chunks.as_mut().expect("the thread that asks the client marks chunks");
        chunks.mark(self.s.finder.pool, chunk, in_continuation);
    }
}

impl<M: ObjectModel, const PARALLEL: bool, const LINES: bool> AmbiguousVisitor
    for Marker<'_, '_, M, PARALLEL, LINES>
{
    fn ambiguous(&mut self, word: u64) {
        if M::is_indirect(word) {
            // SAFETY: any word may be shown that looks like such a reference.
            unsafe { self.mark_indirect(word) };
        }
        if let Some(o) = self.s.finder.around(Address(word), Starts::BeforeMarking) {
            self.found += 1;
            // SAFETY: a reference to an object.
            unsafe { self.reach(o.reference.word()) };
        }
    }
}

impl<M: ObjectModel> WeakVisitor for Marker<'_, '_, M, false, false> {
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

impl<M: ObjectModel, C: Client> WeakTracing<C> for Marker<'_, '_, M, false, false> {
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
