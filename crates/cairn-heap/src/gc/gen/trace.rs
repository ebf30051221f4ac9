//! Tracing: the hot loops of both collections.
//!
//! `slot` looks at one word. If it refers to an object that is to move, the object is copied and the word
//! updated; the copy is grey until its words have been looked at in turn. Forwarding:
//!
//! ```text
//!   pair                     object or procedure
//!   car  PAIR_MOVED          first word   new reference
//!   cdr  new reference
//! ```
//!
//! Order of copies. A Cheney scan alone copies breadth first, which scatters lists. So copying a pair at once
//! copies the pairs along its cdr as well: a list becomes contiguous, in order, and its cdrs need no second
//! look to stay correct. The most recently filled hole is scanned first.
//!
//! Marking. In a major collection an object that stays where it is gets its start bit set and goes on a stack; its
//! size is learned, its lines are marked and its words looked at when it comes off again, by way of a short queue,
//! so that its first words have been prefetched meanwhile. The stacks are bounded: an object that they have no room for
//! is noted in a table besides its mark, and looked for when they are empty.
//!
//! What a word means, and where an object ends, is the object model's to say. The type is generic over the extent of
//! the collection, too, so that each has its own test for "is to move":
//! minor, one comparison with a range; major, one load of the block's state byte.
//!
//! # What holds
//!
//! Unsafe code here relies on this, and on nothing else:
//!
//! * *Still.* The mutator stands still, and one thread traces.
//! * *References.* A word that is reached refers to the start of an object in the `from` range: roots, cards and
//!   objects show words that are by the contracts of [`RootVisitor`] and [`ObjectModel`] what they seem to be, and
//!   those outside of the range are left alone; an ambiguous word is looked up by the [`Finder`], and its object
//!   pinned, before tracing.
//! * *Whole or forwarded.* The first word of an object that may move is its own, or says that it has moved. It is
//!   asked before anything else of the object is read, and an object that has moved is never read again but for its
//!   new address.
//! * *Room.* There are free blocks for all survivors ([`super::Plan::reserve`]), so a copy always finds a place;
//!   old and new place do not overlap.
//! * *Grey words* are initialised: they belong to copies, to marked objects, or to dirty cards, and each block's
//!   objects are found by its start bits. A hole's words are never grey.
//! * *States.* There is a state byte for each block of the region. Which blocks are evacuated is settled before
//!   tracing; a block that is taken for copies becomes old at once, and is not evacuated.

#![allow(unsafe_op_in_unsafe_fn)] // One algorithm, safe by what is listed under "What holds".

use crate::address::{Address, BLOCK_BYTES, BLOCK_SHIFT, Span, WORD, copy_words};
use crate::blocks::{Kind, State};
use crate::client::{AmbiguousVisitor, Client, RootVisitor, WeakVisitor};
use crate::find::Finder;
use crate::marks::{MarkTables, Starts};
use crate::model::{Located, ObjectModel, RefKind};
use crate::region::{CARD_BYTES, OwnCards};
use crate::space::cells::CellSpace;
use crate::space::compact::{CompactSpace, CompactStack};
use crate::space::immortal::ImmortalSpace;
use crate::space::large::LargeSpace;
use crate::space::markregion::{MarkRegionSpace, Tables};
use crate::space::pinned::PinnedSpace;
use crate::space::stack_chunks::ChunkSpace;
use crate::state::Core;
use crate::weak::{Watched, WeakObjects, WeakTracing};
use std::marker::PhantomData;

/// Objects in the queue between the mark stack and the scan.
const QUEUE: usize = 16;
/// Words between the one that is looked at and the one whose object is prefetched.
const AHEAD: u64 = 8;
/// Longer objects are scanned in pieces, so that the mark stack stays short.
const PIECE_BYTES: u64 = 1024;

/// A stack that does not grow beyond a bound, nor when the system has no memory for it.
struct Bounded<T> {
    items: Vec<T>,
    most: usize,
}

impl<T> Bounded<T> {
    fn new(most: usize) -> Bounded<T> {
        Bounded { items: Vec::new(), most }
    }
    #[inline(always)]
    fn has_room(&mut self) -> bool {
        self.items.len() < self.items.capacity() || self.grow()
    }
    #[cold]
    fn grow(&mut self) -> bool {
        let len = self.items.len();
        let more = (2 * len).max(1024).min(self.most).saturating_sub(len);
        more > 0 && self.items.try_reserve_exact(more).is_ok()
    }
    /// Was there room?
    #[inline(always)]
    fn push(&mut self, item: T) -> bool {
        let room = self.has_room();
        if room {
            self.items.push(item);
        }
        room
    }
    /// Was there room?
    fn insert(&mut self, at: usize, item: T) -> bool {
        let room = self.has_room();
        if room {
            self.items.insert(at, item);
        }
        room
    }
    #[inline(always)]
    fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }
    fn len(&self) -> usize {
        self.items.len()
    }
}

/// The spaces that only this collector has, as tracing needs them.
pub(super) struct Spaces<'h> {
    pub old: &'h mut MarkRegionSpace,
    pub pinned: &'h PinnedSpace,
    /// Where new objects are.
    pub nursery: Span,
}

/// The state of a collection under way.
#[repr(C)] // See `watching`.
pub(crate) struct Tracer<'h, M, C, const MAJOR: bool, const WATCH: bool = false> {
    pub(super) model: &'h M,
    /// Words outside this range need no second look: minor, everything that can be young; major, the region.
    from: Span,
    from_bytes: u64,
    nursery: Span,
    nursery_bytes: u64,
    region_base: u64,
    region_bytes: u64,
    states: *const u8,
    marks: MarkTables,
    pub(super) old: &'h mut MarkRegionSpace,
    pub(super) t: Tables<'h>,
    pub(super) large: &'h mut LargeSpace,
    pub(super) immortal: &'h ImmortalSpace,
    pub(super) cells: &'h CellSpace,
    pub(super) pinned: &'h PinnedSpace,
    compact: &'h CompactSpace,
    compact_stack: CompactStack,
    chunks: &'h mut ChunkSpace,
    stack: Bounded<u64>,
    /// References to marked objects outside of the old space: cells and pinned objects.
    apart: Bounded<u64>,
    /// Most entries of a stack.
    most: usize,
    own_cards: OwnCards,
    /// Words of static data visited.
    pub(super) static_looked_at: u64,
    /// There are marked objects, noted as such, that no stack had room for.
    deferred: bool,
    pub(super) overflows: u64,
    /// Room for the objects on a card.
    pub(super) starts: Vec<Address>,
    queue: [u64; QUEUE],
    queue_start: usize,
    queue_len: usize,
    continuations: Vec<Address>,
    in_continuation: bool,
    copied: u64,
    weak: &'h mut WeakObjects,
    watched: Watched,
    _client: PhantomData<C>,
}

impl<'h, M: ObjectModel, C: Client, const MAJOR: bool, const WATCH: bool> Tracer<'h, M, C, MAJOR, WATCH> {
    /// Words may turn up that may or may not be references.
    pub(super) const AMBIGUOUS: bool = M::AMBIGUOUS || C::AMBIGUOUS;

    /// Starts a collection that looks at references into `from`.
    pub(crate) fn new(model: &'h M, core: &'h mut Core, spaces: Spaces<'h>, from: Span) -> Self {
        let nursery = spaces.nursery;
        Tracer {
            model,
            from,
            from_bytes: from.bytes(),
            nursery,
            nursery_bytes: nursery.bytes(),
            region_base: core.region.base().0,
            region_bytes: core.region.span().bytes(),
            states: core.pool.table.states(),
            marks: core.marks.tables(),
            old: spaces.old,
            t: Tables { pool: &mut core.pool, cards: &core.cards, marks: &core.marks },
            large: &mut core.large,
            immortal: &core.immortal,
            cells: &core.cells,
            pinned: spaces.pinned,
            compact: &core.compact,
            compact_stack: CompactStack::default(),
            chunks: &mut core.chunks,
            stack: Bounded::new(core.mark_stack),
            apart: Bounded::new(core.mark_stack),
            most: core.mark_stack,
            own_cards: core.own_cards,
            static_looked_at: 0,
            deferred: false,
            overflows: 0,
            starts: Vec::new(),
            queue: [0; QUEUE],
            queue_start: 0,
            queue_len: 0,
            continuations: Vec::new(),
            in_continuation: false,
            copied: 0,
            weak: &mut core.weak,
            watched: Watched::default(),
            _client: PhantomData,
        }
    }

    /// Bytes copied so far.
    pub(crate) fn copied(&self) -> u64 {
        self.copied
    }

    /// Is the pair to move that the reference `a` stands for? Pairs are never large.
    #[inline(always)]
    unsafe fn pair_moves(&self, a: u64) -> bool {
        if MAJOR {
            let offset = a.wrapping_sub(self.region_base);
            offset < self.from_bytes && *self.states.add((offset >> BLOCK_SHIFT) as usize) & State::FROM != 0
        } else {
            self.is_in_nursery(a) && !(Self::AMBIGUOUS && self.t.marks.is_set(M::pair_address(a)))
        }
    }

    /// What the word `w`, which refers to the start of an object in the `from` range, has to become.
    #[inline]
    pub(super) unsafe fn reach(&mut self, w: u64) -> u64 {
        let a = M::address(w).0;
        if MAJOR {
            let block = (a.wrapping_sub(self.region_base)) >> BLOCK_SHIFT;
            let state = State(*self.states.add(block as usize));
            if !state.has(State::FROM) {
                if state.is(Kind::Scannable) || state.is(Kind::Leaf) {
                    self.mark(w);
                } else {
                    self.reach_apart(state, w);
                }
                return w;
            }
        } else if a < self.nursery.start.0 {
            let block = (a.wrapping_sub(self.region_base)) >> BLOCK_SHIFT;
            let state = State(*self.states.add(block as usize));
            if state.is(Kind::Large) && state.has(State::YOUNG) || state.is(Kind::Shared) {
                self.mark_large(Address(a));
            }
            return w;
        } else if Self::AMBIGUOUS && self.t.marks.is_set(Address(a)) {
            // In the nursery, only what is pinned has a start bit.
            return w;
        }
        if M::is_pair(w) {
            self.evacuate_pairs(a)
        } else if M::is_object(w) {
            self.evacuate(a, RefKind::Object)
        } else {
            self.evacuate(a, RefKind::Procedure)
        }
    }

    /// Marks an object of the old space that stays where it is.
    #[inline(always)]
    unsafe fn mark(&mut self, w: u64) {
        let a = M::address(w);
        if self.marks.set(a.0.wrapping_sub(self.region_base)) {
            self.note(a);
            if !self.stack.push(w) {
                self.defer(w);
            }
        }
    }

    /// Marks an object that is not in the old space.
    #[cold]
    fn reach_apart(&mut self, state: State, w: u64) {
        let a = M::address(w);
        match state.kind() {
            Kind::Large | Kind::Shared => self.mark_large(a),
            Kind::Typed | Kind::Untyped | Kind::Pinned if self.t.marks.set(a) => {
                self.note(a);
                if !self.apart.push(w) {
                    // SAFETY: `w` refers to an object that the line above has marked, as deferred ones must be.
                    unsafe { self.defer(w) }
                }
            }
            _ => {}
        }
    }

    /// Marks a compact record, and what it leads to; or the object in which lies what the word refers to.
    #[inline]
    fn reach_indirect(&mut self, w: u64) {
        if let Some(offset) = M::inside(w) {
            return self.reach_holder(offset);
        }
        let watched = &mut self.watched;
        self.compact.mark::<false>(w, &mut self.compact_stack, |w| {
            if WATCH {
                watched.note(Address(w));
            }
        });
    }

    #[cold]
    fn reach_holder(&mut self, offset: u64) {
        if let Some(o) = self.large.holder(self.t.pool, offset) {
            self.mark_large(o.start);
        }
    }

    /// Looks at the words of a marked object that is not in the old space, nor large.
    #[cold]
    unsafe fn scan_apart(&mut self, w: u64) {
        let (a, cells, pinned) = (M::address(w), self.cells, self.pinned);
        let block = self.t.pool.table.block_of(a);
        if self.t.pool.table.state(block).is(Kind::Pinned) {
            let o = pinned.around(a).expect("a reference into such a block is one to a pinned object");
            self.scan_pinned(o, o.span());
        } else {
            let class = cells.class_of(&self.t.pool.table, block);
            class.scan(a, Span::new(a, a.plus(class.bytes())), self);
        }
    }

    /// Looks at the words of a pinned object within `part`; with its first word, at the frames of a continuation.
    pub(super) unsafe fn scan_pinned(&mut self, o: &Located, part: Span) {
        if o.measure.continuation && part.contains(o.span().start) {
            self.push_continuation(o.span().start);
        }
        o.scan(self.model, part, self);
    }

    #[cold]
    pub(super) fn mark_large(&mut self, a: Address) {
        if WATCH && self.watched.contains(a) {
            // Reached, though perhaps not for the first time.
            self.watched.note(a);
        }
        if let Some(words) = self.large.mark(self.t.pool, a, MAJOR) {
            if MAJOR && self.old.queued() >= self.most {
                self.large.defer(self.t.pool, words);
                self.deferred = true;
            } else {
                self.old.push_grey(words);
            }
        }
    }

    #[inline(always)]
    fn alloc_pair(&mut self) -> Address {
        let a = self.old.alloc_pair(&mut self.t);
        if Self::AMBIGUOUS {
            self.t.marks.note_pair(a, true);
        }
        a
    }

    /// Copies a pair, and the pairs along its cdr.
    #[inline(always)]
    unsafe fn evacuate_pairs(&mut self, first: u64) -> u64 {
        let mut from = first as *mut u64;
        let car = *from;
        let mut cdr = *from.add(1);
        if car == M::PAIR_MOVED {
            return cdr;
        }
        let a = self.alloc_pair();
        let mut to = a.words();
        let result = M::reference(a, RefKind::Pair);
        *from = M::PAIR_MOVED;
        *from.add(1) = result;
        self.note(Address(first));
        *to = car;
        self.copied += 16;
        loop {
            if !M::is_pair(cdr) || !self.pair_moves(cdr) {
                *to.add(1) = cdr;
                return result;
            }
            from = M::pair_address(cdr).words();
            let car = *from;
            let next = *from.add(1);
            if car == M::PAIR_MOVED {
                *to.add(1) = next;
                return result;
            }
            let a = self.alloc_pair();
            let copy = a.words();
            let word = M::reference(a, RefKind::Pair);
            *from = M::PAIR_MOVED;
            *from.add(1) = word;
            self.note(Address(from as u64));
            *to.add(1) = word;
            *copy = car;
            self.copied += 16;
            to = copy;
            cdr = next;
        }
    }

    /// Copies an object of this kind, no pair.
    #[inline(always)]
    unsafe fn evacuate(&mut self, a: u64, kind: RefKind) -> u64 {
        let from = a as *mut u64;
        let first = *from;
        if let Some(moved) = M::moved(kind, first) {
            return moved;
        }
        let m = self.model.measure(kind, first);
        let to = if m.bytes > BLOCK_BYTES {
            self.alloc_huge(m.bytes, kind, m.leaf)
        } else if m.leaf {
            self.old.alloc_leaf(&mut self.t, m.bytes)
        } else {
            self.old.alloc_scannable(&mut self.t, m.bytes)
        };
        if Self::AMBIGUOUS {
            self.t.marks.note_pair(to, false);
        }
        copy_words(from, to.words(), m.bytes / WORD);
        self.copied += m.bytes;
        let word = M::reference(to, kind);
        *from = word;
        self.note(Address(a));
        if m.continuation {
            self.push_continuation(to);
        }
        word
    }

    /// Room for an object that fits no block, although it was born in the nursery: it becomes a large object.
    #[cold]
    #[inline(never)]
    fn alloc_huge(&mut self, bytes: u64, kind: RefKind, leaf: bool) -> Address {
        let a = self.large.alloc(self.t.pool, bytes, kind, leaf, 0).expect("room for survivors was reserved");
        self.mark_large(a);
        a
    }

    /// Notes a continuation whose frames are to be looked at. Of those that a minor collection copies there are no more
    /// than the nursery holds.
    #[inline]
    unsafe fn push_continuation(&mut self, a: Address) {
        if MAJOR && self.continuations.len() >= self.most {
            self.defer(M::reference(a, RefKind::Procedure));
        } else {
            self.continuations.push(a);
        }
    }

    /// No stack has room for the marked object that `w` refers to: its mark will have to do.
    #[cold]
    unsafe fn defer(&mut self, w: u64) {
        let a = M::address(w);
        let leaf = self.t.pool.table.state(self.t.pool.table.block_of(a)).is(Kind::Leaf);
        if leaf {
            let m = self.model.measure(M::kind(w), a.load());
            return self.marks.mark_lines(a.offset_from(Address(self.region_base)), m.bytes);
        }
        self.t.marks.defer(a, M::is_pair(w));
        self.deferred = true;
    }

    /// Looks for the objects that were deferred. Each time one is found, the stacks are emptied first, so that the next
    /// has room; what is deferred meanwhile behind this walk is found by another.
    unsafe fn resume(&mut self, client: &mut C) {
        self.deferred = false;
        self.overflows += 1;
        let mut i = 0;
        while let Some(&block) = self.old.scannable().get(i) {
            self.resume_block(self.t.pool.table.address_of(block), client);
            i += 1;
        }
        let (cells, pinned) = (self.cells, self.pinned);
        for (block, _) in cells.blocks(false).chain(cells.blocks(true)) {
            self.resume_block(self.t.pool.table.address_of(block), client);
        }
        for block in pinned.blocks() {
            self.resume_block(self.t.pool.table.address_of(block), client);
        }
        let mut from = 0;
        while let Some((words, next)) = self.large.take_deferred(from) {
            from = next;
            self.scan_pieces(words);
            self.empty_stacks(client);
        }
    }

    unsafe fn resume_block(&mut self, start: Address, client: &mut C) {
        while let Some((a, pair)) = self.t.marks.take_deferred(start) {
            let state = self.t.pool.table.state(self.t.pool.table.block_of(a));
            match state.kind() {
                Kind::Scannable if pair => self.scan_list(a.words()),
                Kind::Scannable => self.scan_headed(a, Located::headed(self.model, a).reference.kind()),
                Kind::Typed | Kind::Untyped => self.scan_apart(M::reference(a, RefKind::Object)),
                _ if pair => self.scan_apart(M::reference(a, RefKind::Pair)),
                _ => self.scan_apart(Located::headed(self.model, a).reference.word()),
            }
            self.empty_stacks(client);
        }
    }

    /// Looks at the words within `part` of headed objects that fill a span.
    pub(super) unsafe fn scan_objects(&mut self, objects: Span, part: Span) {
        let mut a = objects.start;
        while a < part.end {
            if a.load() == 0 {
                a = a.plus(WORD);
                continue;
            }
            let o = Located::headed(self.model, a);
            if o.span().end > part.start {
                o.scan(self.model, part, self);
            }
            a = o.span().end;
        }
    }

    /// Looks at the words of a span, from the start of an object to the end of one unless words describe themselves.
    #[inline(always)]
    pub(super) unsafe fn scan(&mut self, span: Span) {
        if !M::SELF_DESCRIBING {
            return self.scan_objects(span, span);
        }
        self.scan_words::<false>(span);
    }

    /// Looks at words that describe themselves, in this direction.
    #[inline(always)]
    unsafe fn scan_words<const DOWNWARDS: bool>(&mut self, span: Span) {
        let step: isize = if DOWNWARDS { -1 } else { 1 };
        let mut p = if DOWNWARDS { span.end.words().sub(1) } else { span.start.words() };
        for left in (0..span.bytes() / WORD).rev() {
            if !MAJOR && left >= AHEAD {
                self.prefetch(*p.offset(step * AHEAD as isize));
            }
            let w = *p;
            // What most words are that refer to something young.
            if !MAJOR && M::is_object(w) && self.is_in_nursery(w) && !Self::AMBIGUOUS {
                *p = self.evacuate(M::address(w).0, RefKind::Object);
            } else {
                self.slot(p);
            }
            p = p.wrapping_offset(step);
        }
    }

    #[inline(always)]
    fn is_in_nursery(&self, w: u64) -> bool {
        w.wrapping_sub(self.nursery.start.0) < self.nursery_bytes
    }

    /// Brings the object that a word refers to into the cache, if it is to move.
    #[inline(always)]
    fn prefetch(&self, w: u64) {
        if self.is_in_nursery(w) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a prefetch never faults, whatever the address.
            unsafe {
                std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(w as *const i8);
            }
        }
    }

    /// The next marked object, by way of the queue.
    #[inline(always)]
    unsafe fn next_marked(&mut self) -> Option<u64> {
        while let Some(w) = self.stack.pop() {
            #[cfg(target_arch = "x86_64")]
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(M::address(w).0 as *const i8);
            if self.queue_len == QUEUE {
                let first = std::mem::replace(&mut self.queue[self.queue_start % QUEUE], w);
                self.queue_start = (self.queue_start + 1) % QUEUE;
                return Some(first);
            }
            self.queue[(self.queue_start + self.queue_len) % QUEUE] = w;
            self.queue_len += 1;
        }
        if self.queue_len == 0 {
            return None;
        }
        let w = self.queue[self.queue_start % QUEUE];
        self.queue_start = (self.queue_start + 1) % QUEUE;
        self.queue_len -= 1;
        Some(w)
    }

    /// Marks the lines of a marked object and looks at its words.
    #[inline(always)]
    unsafe fn scan_marked(&mut self, w: u64) {
        let a = M::address(w);
        if M::is_pair(w) {
            self.scan_list(a.words());
        } else if M::is_object(w) {
            self.scan_headed(a, RefKind::Object);
        } else {
            self.scan_headed(a, RefKind::Procedure);
        }
    }

    #[inline(always)]
    unsafe fn scan_headed(&mut self, a: Address, kind: RefKind) {
        let m = self.model.measure(kind, a.load());
        self.marks.mark_lines(a.0.wrapping_sub(self.region_base), m.bytes);
        if m.continuation {
            self.push_continuation(a);
        }
        if !m.leaf {
            self.scan_pieces(Span::new(a, a.plus(m.bytes)));
        }
    }

    /// Scans a marked pair, and the unmarked pairs along its cdr.
    #[inline(always)]
    unsafe fn scan_list(&mut self, mut pair: *mut u64) {
        let (bottom, mut left) = (self.stack.len(), PIECE_BYTES / 16);
        loop {
            self.marks.mark_line((pair as u64).wrapping_sub(self.region_base));
            self.slot(pair);
            let cdr = *pair.add(1);
            let offset = cdr.wrapping_sub(self.region_base);
            if !M::is_pair(cdr) || offset >= self.from_bytes {
                return self.slot(pair.add(1));
            }
            let state = State(*self.states.add((offset >> BLOCK_SHIFT) as usize));
            if state.has(State::FROM) {
                *pair.add(1) = self.evacuate_pairs(M::pair_address(cdr).0);
                return;
            }
            if !state.is(Kind::Scannable) {
                return self.slot(pair.add(1));
            }
            if !self.t.marks.set(M::pair_address(cdr)) {
                return;
            }
            self.note(M::pair_address(cdr));
            left -= 1;
            if left == 0 {
                // The elements so far first: not all elements of a long list must get onto the stack.
                if !self.stack.insert(bottom, cdr) {
                    self.defer(cdr);
                }
                return;
            }
            pair = M::pair_address(cdr).words();
        }
    }

    /// Scans the first piece of a span, and queues the rest.
    #[inline(always)]
    unsafe fn scan_pieces(&mut self, span: Span) {
        if span.bytes() <= PIECE_BYTES || !M::SELF_DESCRIBING || self.old.queued() >= self.most {
            return self.scan(span);
        }
        let cut = span.start.plus(PIECE_BYTES);
        self.old.push_grey(Span::new(cut, span.end));
        self.scan(Span::new(span.start, cut));
    }

    /// Scans until nothing is grey, and lets the client deal with what is dying and with weak references.
    ///
    /// # Safety
    /// All grey words are what the object model says.
    pub(crate) unsafe fn finish(&mut self, client: &mut C) {
        self.drain(client);
        if self.weak.is_idle(MAJOR) {
            client.visit_dying(self);
            self.drain(client);
            return client.visit_weak(self);
        }
        let (mut weak, cards) = (std::mem::take(self.weak), self.t.cards);
        weak.settle::<M, C, _>(self.watching(), client, cards);
        *self.weak = weak;
    }

    /// This tracer in another phase of the collection: it notes what it reaches that is watched.
    fn watching(&mut self) -> &mut Tracer<'h, M, C, MAJOR, true> {
        // SAFETY: `WATCH` is no part of any field's type, so that with `repr(C)` both types have one layout.
        unsafe { &mut *(self as *mut Self as *mut Tracer<'h, M, C, MAJOR, true>) }
    }

    /// The object at `a` is reached for the first time.
    #[inline(always)]
    fn note(&mut self, a: Address) {
        if WATCH {
            self.watched.note(a);
        }
    }

    /// Where the object of this reference, which was to move, has gone, if anywhere.
    unsafe fn moved(&self, w: u64) -> Option<u64> {
        let a = M::address(w);
        let first = a.load();
        match M::kind(w) {
            RefKind::Pair => (first == M::PAIR_MOVED).then(|| *a.words().add(1)),
            kind => M::moved(kind, first),
        }
    }

    /// Scans until nothing is grey.
    ///
    /// # Safety
    /// All grey words are what the object model says.
    unsafe fn drain(&mut self, client: &mut C) {
        self.empty_stacks(client);
        while MAJOR && self.deferred {
            self.resume(client);
        }
    }

    unsafe fn empty_stacks(&mut self, client: &mut C) {
        loop {
            if MAJOR {
                while let Some(w) = self.next_marked() {
                    self.scan_marked(w);
                }
                if let Some(w) = self.apart.pop() {
                    self.scan_apart(w);
                    continue;
                }
            }
            if let Some(grey) = self.old.take_grey() {
                if MAJOR {
                    self.scan_pieces(grey.span);
                } else if grey.downwards && M::SELF_DESCRIBING {
                    self.scan_words::<true>(grey.span);
                } else {
                    self.scan(grey.span);
                }
                continue;
            }
            let Some(k) = self.continuations.pop() else { return };
            self.in_continuation = true;
            client.trace_continuation(k, self);
            self.in_continuation = false;
        }
    }
}

impl<M: ObjectModel, C: Client, const MAJOR: bool, const WATCH: bool> AmbiguousVisitor
    for Tracer<'_, M, C, MAJOR, WATCH>
{
    /// A word of an object. In a minor collection what it refers to was pinned before anything moved; in a major one
    /// it was only kept from moving.
    fn ambiguous(&mut self, word: u64) {
        if !MAJOR || !Self::AMBIGUOUS {
            return;
        }
        if M::is_indirect(word) {
            self.reach_indirect(word);
        }
        let finder = Finder {
            model: self.model,
            pool: self.t.pool,
            marks: self.t.marks,
            large: self.large,
            cells: self.cells,
            own: self.pinned,
        };
        if let Some(o) = finder.around(Address(word), Starts::BeforeMarking) {
            // SAFETY: the finder has found an object outside of the nursery, so `o.reference` is one to a whole object
            // (*References*).
            unsafe { self.reach(o.reference.word()) };
        }
    }
}

impl<M: ObjectModel, C: Client, const MAJOR: bool, const WATCH: bool> RootVisitor
    for Tracer<'_, M, C, MAJOR, WATCH>
{
    const YOUNG_ONLY: bool = !MAJOR;

    #[inline(always)]
    unsafe fn slot(&mut self, slot: *mut u64) {
        let w = *slot;
        if w.wrapping_sub(self.from.start.0) >= self.from_bytes || !M::is_reference(w) {
            if MAJOR && M::is_indirect(w) {
                self.reach_indirect(w);
            }
            return;
        }
        if MAJOR {
            // What stays where it is, as nearly everything does, is not worth a call, nor its slot a store.
            let block = M::address(w).0.wrapping_sub(self.region_base) >> BLOCK_SHIFT;
            if State(*self.states.add(block as usize)).stays_in_old_space() {
                return self.mark(w);
            }
        }
        *slot = self.reach(w);
    }

    unsafe fn static_words(&mut self, start: *mut u64, n: usize) {
        let a = Address(start as u64);
        let span = Span::new(a, a.plus(8 * n as u64));
        if MAJOR || !self.own_cards.contains(span) {
            self.static_looked_at += if MAJOR { 0 } else { n as u64 };
            return self.words(start, n);
        }
        let cards = self.t.cards;
        cards.take_dirty_in(span, |part| {
            let n = (part.bytes() / WORD) as usize;
            self.static_looked_at += n as u64;
            self.words(part.start.words(), n);
            if part.bytes() < CARD_BYTES {
                // The rest of the card may belong to other static data: it stays dirty for them.
                cards.mark(part.start);
            }
        });
    }

    fn mark_chunk(&mut self, chunk: Address) {
        self.chunks.mark(self.t.pool, chunk, self.in_continuation);
    }
}

impl<M: ObjectModel, C: Client, const MAJOR: bool, const WATCH: bool> WeakVisitor
    for Tracer<'_, M, C, MAJOR, WATCH>
{
    const EVERYTHING: bool = MAJOR;

    unsafe fn survivor(&self, w: u64) -> Option<u64> {
        if M::is_indirect(w) {
            let alive = !MAJOR
                || match M::inside(w) {
                    Some(offset) => self.large.holder(self.t.pool, offset).is_some_and(|o| o.marked),
                    None => self.compact.is_marked(w),
                };
            return alive.then_some(w);
        }
        let a = M::address(w);
        if a.0.wrapping_sub(self.region_base) >= self.region_bytes {
            return Some(w);
        }
        let block = self.t.pool.table.block_of(a);
        let state = self.t.pool.table.state(block);
        let alive = match state.kind() {
            // Beside pinned objects, which have a start bit, there may be young ones.
            Kind::Pinned if self.t.marks.is_set(a) => true,
            Kind::Pinned | Kind::Nursery => return self.moved(w),
            _ if state.has(State::FROM) && MAJOR => return self.moved(w),
            Kind::Scannable | Kind::Leaf | Kind::Typed | Kind::Untyped => !MAJOR || self.t.marks.is_set(a),
            Kind::Large | Kind::Shared => {
                self.large.around(self.t.pool, a).is_some_and(|o| o.marked || !MAJOR && !o.young)
            }
            _ => true,
        };
        alive.then_some(w)
    }
}

impl<M: ObjectModel, C: Client, const MAJOR: bool> WeakTracing<C> for Tracer<'_, M, C, MAJOR, true> {
    unsafe fn trace(&mut self, client: &mut C) {
        self.drain(client);
    }
    fn watched(&mut self) -> &mut Watched {
        &mut self.watched
    }
    fn holder(&self, offset: u64) -> Option<Address> {
        self.large.holder(self.t.pool, offset).map(|o| o.start)
    }
}
