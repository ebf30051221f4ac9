//! One collection, stage by stage.
//!
//! ```text
//!  pin     untyped objects are pinned, and what their words refer to
//!  root    ambiguous roots: what they refer to is pinned and goes to the mark queue;
//!          then precise roots: what they refer to is reached as below
//!  graph   until both queues are empty:
//!            mark queue    live pinned objects: their words are looked at where they are
//!            Cheney queue  copies in to-space: their words are looked at
//!          to reach an object for the first time is
//!            pinned        → mark queue; its page is promoted, which pins everything on it
//!            not pinned    → copied to to-space, its new address left behind
//!  free    pages left in from-space
//!  sweep   promoted pages: live objects lose their state bits, the others become holes, which no quasi-pointer finds
//! ```
//!
//! One traversal: an object is touched when it is first reached, and when its words are looked at.
//!
//! # What holds
//!
//! Unsafe code here relies on this, and on nothing else:
//!
//! * *Still.* The mutator stands still, one thread collects, and the stages come in their order; each says so as
//!   its contract.
//! * *Meta words.* Every object on a page begins with a word that describes it, with state bits that are zero
//!   before a collection. All parts that a page says are filled can be walked from one object to the next; a hole
//!   describes itself.
//! * *References.* A word that is reached leads to such an object, or to one of the spaces that all collectors
//!   have, whose tables say where it begins; a quasi-pointer is looked up by the [`Detector`] first, which walks
//!   filled parts only.
//! * *Whole or copied.* An object that is visited and not pinned has been copied: of it nothing but its meta word
//!   and its new address behind that is read. A pinned one is read where it is.
//! * *Pins come first.* Stage *pin*, and the ambiguous roots of stage *root*, end before the first copy is made, so
//!   nothing that an ambiguous word refers to has moved.
//! * *Room.* Pages for all survivors were reserved; to-space and from-space are different pages.

#![allow(unsafe_op_in_unsafe_fn)] // One algorithm, safe by what is listed under "What holds".

use super::meta_words::{self, Object, PINNED, STATE, VISITED, meta_of};
use super::quasi_pointers::{Detector, Found, Resume};
use crate::address::{Address, BLOCK_BYTES, Span, WORD, copy_words};
use crate::blocks::{BlockPool, Kind, poison};
use crate::client::{AmbiguousVisitor, Client, RootVisitor, WeakVisitor};
use crate::config::Proposals;
use crate::find::Finder;
use crate::marks::{Marks, Starts};
use crate::model::{Located, ObjectModel, RefKind};
use crate::region::Cards;
use crate::space::cells::CellSpace;
use crate::space::compact::{CompactSpace, CompactStack};
use crate::space::immortal::ImmortalSpace;
use crate::space::large::LargeSpace;
use crate::space::own::NoSpaces;
use crate::space::pages::{PageId, PageSpace, Role};
use crate::space::stack_chunks::ChunkSpace;
use crate::state::Core;
use crate::weak::{Watched, WeakObjects, WeakTracing};
use std::collections::VecDeque;
use std::marker::PhantomData;

/// Shorter holes are not filled.
const LEAST_HOLE: u64 = 256;

/// What a collection has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Words tested for being quasi-pointers.
    pub tested: u64,
    /// Objects that were walked over for that.
    pub walked: u64,
    /// Those of them, among the roots, that refer to an object.
    pub roots: u64,
    /// Pages promoted.
    pub promoted: u64,
    /// Live objects that were pinned, and their bytes.
    pub pinned: u64,
    pub pinned_bytes: u64,
    /// Bytes of holes made.
    pub holes: u64,
    /// Objects copied, and their bytes.
    pub copies: u64,
    pub copied: u64,
}

/// What an ambiguous word means now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A word of an untyped object that may be dead.
    Pin,
    /// A root.
    Root,
    /// A word of a live untyped object.
    Graph,
}

/// The state of a collection under way.
pub(super) struct Collection<'h, M, C> {
    model: &'h M,
    pages: &'h mut PageSpace,
    pool: &'h mut BlockPool,
    cards: &'h Cards,
    marks: &'h Marks,
    large: &'h mut LargeSpace,
    cells: &'h mut CellSpace,
    immortal: &'h ImmortalSpace,
    compact: &'h mut CompactSpace,
    compact_stack: CompactStack,
    chunks: &'h mut ChunkSpace,
    poison: bool,
    region: Span,
    roles: *const u8,
    shift: u32,
    stage: Stage,
    /// References to live pinned objects whose words are to be looked at.
    mark_queue: VecDeque<u64>,
    /// Pages of to-space, in the order in which they were filled: the Cheney queue, from `scanned` on.
    to_space: Vec<PageId>,
    /// Index of the page, and the address in it, up to which words have been looked at.
    scanned: (usize, Address),
    /// What is free of the last page.
    free: Span,
    promoted: Vec<PageId>,
    /// Holes that are worth to be filled.
    pub holes: Vec<Span>,
    /// Live untyped objects.
    pub untyped: Vec<Address>,
    /// Live objects that are on no page, whose words are to be looked at.
    apart: Vec<Located>,
    proposals: Proposals,
    /// Pages with start bits.
    indexed: Vec<PageId>,
    /// Words of this stage, if they are gathered first.
    gathered: Option<Vec<u64>>,
    resume: Resume,
    continuations: Vec<Address>,
    in_continuation: bool,
    pub counts: Counts,
    weak: &'h mut WeakObjects,
    /// Who waits for what is reached, and whether anybody does.
    watched: Watched,
    watching: bool,
    _client: PhantomData<C>,
}

impl<'h, M: ObjectModel, C: Client> Collection<'h, M, C> {
    const AMBIGUOUS: bool = M::AMBIGUOUS || C::AMBIGUOUS;

    /// Begins a collection.
    pub fn new(model: &'h M, core: &'h mut Core, pages: &'h mut PageSpace, proposals: Proposals) -> Self {
        core.chunks.begin_major();
        core.compact.begin_marking();
        core.cells.begin_marking(&core.pool.table, &core.marks);
        Collection {
            model,
            region: core.region.span(),
            roles: pages.roles(),
            shift: pages.shift(),
            pages,
            poison: core.zeal.poison,
            pool: &mut core.pool,
            cards: &core.cards,
            marks: &core.marks,
            large: &mut core.large,
            cells: &mut core.cells,
            immortal: &core.immortal,
            compact: &mut core.compact,
            compact_stack: CompactStack::default(),
            chunks: &mut core.chunks,
            stage: Stage::Pin,
            mark_queue: VecDeque::new(),
            to_space: Vec::new(),
            scanned: (0, Address(0)),
            free: Span::default(),
            promoted: Vec::new(),
            holes: Vec::new(),
            untyped: Vec::new(),
            apart: Vec::new(),
            proposals,
            indexed: Vec::new(),
            gathered: None,
            resume: Resume::default(),
            continuations: Vec::new(),
            in_continuation: false,
            counts: Counts::default(),
            weak: &mut core.weak,
            watched: Watched::default(),
            watching: false,
            _client: PhantomData,
        }
    }

    // ---- the stages

    /// *Pin*: untyped objects, and what their words refer to, are pinned, whether they live or not.
    ///
    /// # Safety
    /// The mutator stands still. `chain` are all untyped objects on pages.
    pub unsafe fn pin(&mut self, chain: &[Address], client: &mut C) {
        self.stage = Stage::Pin;
        self.gather();
        client.visit_pinning(self);
        if M::AMBIGUOUS {
            self.pin_untyped(chain);
        }
        self.sort_out();
    }

    /// Words of untyped objects, on pages and elsewhere.
    unsafe fn pin_untyped(&mut self, chain: &[Address]) {
        for &a in chain {
            // Who holds the address of an untyped object need not tell.
            a.store(a.load() | PINNED);
            let o = Object { meta: a, is: self.model.describe(a.load() & !STATE) };
            self.scan(&o);
        }
        let large: Vec<Address> = self.large.iter().filter(|o| !o.leaf).map(|o| o.start).collect();
        for a in large {
            if self.model.describe(a.load()).untyped {
                let o = Located::headed(self.model, a);
                o.scan(self.model, o.span(), self);
            }
        }
        self.immortals(true);
    }

    /// *Root*: scans the roots. First the ambiguous ones, before anything is copied.
    ///
    /// # Safety
    /// The mutator stands still, and [`Collection::pin`] was called.
    pub unsafe fn root(&mut self, client: &mut C) {
        self.stage = Stage::Root;
        self.gather();
        client.visit_ambiguous(self);
        self.sort_out();
        self.stage = Stage::Graph;
        self.immortals(false);
        client.visit_roots(self);
    }

    /// *Graph*: the traversal.
    ///
    /// # Safety
    /// [`Collection::root`] was called.
    pub unsafe fn graph(&mut self, client: &mut C) {
        self.drain(client);
        if self.weak.is_idle(true) {
            client.visit_dying(self);
            self.drain(client);
            client.visit_weak(self);
        } else {
            let (mut weak, cards) = (std::mem::take(self.weak), self.cards);
            self.watching = true;
            weak.settle::<M, C, _>(self, client, cards);
            *self.weak = weak;
        }
        self.close_to_space();
    }

    /// *Free*: pages left in from-space.
    ///
    /// # Safety
    /// [`Collection::graph`] was called.
    pub unsafe fn free(&mut self) {
        for id in std::mem::take(&mut self.indexed) {
            let span = self.pages.page(id).span;
            for i in 0..span.bytes().div_ceil(BLOCK_BYTES) {
                let block = self.pool.table.block_of(span.start.plus(i * BLOCK_BYTES));
                self.marks.clear(self.pool.table.address_of(block));
            }
            self.pages.set_start_bits(id, false);
        }
        let left: Vec<PageId> = (self.pages.iter())
            .filter(|id| self.pages.role(self.pages.page(*id).span.start) == Role::FROM)
            .collect();
        for id in left {
            self.pages.give(self.pool, id);
        }
        self.pages.settle(self.pool);
        self.large.sweep_all(self.pool, self.cards);
        self.cells.sweep(self.pool, self.marks, self.poison);
        self.chunks.sweep_all(self.pool);
        self.compact.sweep();
    }

    /// *Sweep*: clears the state bits on promoted pages, and makes holes of what is not live.
    ///
    /// # Safety
    /// [`Collection::free`] was called.
    pub unsafe fn sweep(&mut self) {
        for id in std::mem::take(&mut self.promoted) {
            for part in self.pages.page(id).filled() {
                self.sweep_part(part);
            }
            self.pages.set_role(id, Role::FROM);
        }
        for id in std::mem::take(&mut self.to_space) {
            self.pages.set_role(id, Role::FROM);
        }
    }

    unsafe fn sweep_part(&mut self, part: Span) {
        let mut last: Option<Object> = None;
        let first = self.holes.len();
        let holes = &mut self.holes;
        let (counts, poisoned, reuse) = (&mut self.counts, self.poison, self.proposals.reuse_holes);
        meta_words::walk(self.model, part, |o| {
            let meta = o.meta.load();
            if meta & STATE == STATE {
                o.meta.store(meta & !STATE);
                last = None;
                return true;
            }
            counts.holes += o.is.whole;
            // Neighbours become one hole.
            let mut whole = o;
            if let Some(before) = last.filter(|b| b.end() == o.meta) {
                whole = before;
                whole.is.whole += o.is.whole;
            }
            if poisoned {
                poison(Span::new(o.meta, o.end()));
            }
            whole.meta.store(meta_words::hole(whole.is.whole));
            last = Some(whole);
            match holes.last_mut().filter(|h| h.start == whole.meta) {
                Some(h) => h.end = whole.end(),
                None => holes.push(Span::new(whole.meta, whole.end())),
            }
            true
        });
        let mut kept = first;
        for i in first..holes.len() {
            if reuse && holes[i].bytes() >= LEAST_HOLE {
                holes[kept] = holes[i];
                kept += 1;
            }
        }
        holes.truncate(kept);
    }

    // ---- reaching objects

    /// Marks a compact record, and what it leads to; or the object in which lies what the word refers to.
    #[inline]
    fn reach_indirect(&mut self, w: u64) {
        if let Some(offset) = M::inside(w) {
            return self.reach_holder(offset);
        }
        let (watching, watched) = (self.watching, &mut self.watched);
        self.compact.mark::<false>(w, &mut self.compact_stack, |w| {
            if watching {
                watched.note(Address(w));
            }
        });
    }

    #[cold]
    fn reach_holder(&mut self, offset: u64) {
        if let Some(o) = self.large.holder(self.pool, offset) {
            let w = M::reference(o.start, o.kind);
            // SAFETY: the space has an object at `o.start`, so `w` is a reference to a whole large object.
            unsafe { self.reach_apart(w) };
        }
    }

    /// What the reference `w` to an object on a page of from-space, or on a promoted one, has to become.
    #[inline]
    unsafe fn reach(&mut self, w: u64) -> u64 {
        let at = meta_of::<M>(w);
        let meta = at.load();
        if meta & STATE == 0 {
            return self.copy(w, at, meta);
        }
        if meta & PINNED == 0 {
            // Visited and not pinned: copied.
            return at.plus(WORD).load();
        }
        if meta & VISITED == 0 {
            self.mark(w, at, meta);
        }
        w
    }

    /// The object at `a` is reached.
    #[inline(always)]
    fn note(&mut self, a: Address) {
        if self.watching {
            self.watched.note(a);
        }
    }

    /// Copies an object to to-space.
    #[inline(always)]
    unsafe fn copy(&mut self, w: u64, from: Address, meta: u64) -> u64 {
        let is = self.model.describe(meta);
        let to = self.room(is.whole);
        copy_words(from.words(), to.words(), is.whole / WORD);
        let start = if M::is_prefixed(is.kind) { to.plus(WORD) } else { to };
        let new = M::reference(start, is.kind);
        debug_assert_eq!(M::kind(w), is.kind);
        from.store(meta | VISITED);
        from.plus(WORD).store(new);
        self.counts.copies += 1;
        self.counts.copied += is.whole;
        self.note(M::address(w));
        if is.kind == RefKind::Procedure && self.model.measure(is.kind, start.load()).continuation {
            self.continuations.push(start);
        }
        if M::AMBIGUOUS && is.untyped {
            self.untyped.push(start);
        }
        new
    }

    /// Room in to-space.
    #[inline(always)]
    unsafe fn room(&mut self, bytes: u64) -> Address {
        let a = self.free.start;
        if self.free.bytes() < bytes {
            return self.room_on_new_page(bytes);
        }
        self.free.start = a.plus(bytes);
        a
    }

    #[cold]
    unsafe fn room_on_new_page(&mut self, bytes: u64) -> Address {
        self.close_to_space();
        let id = self.pages.take(self.pool, bytes, Role::TO).expect("room for survivors was reserved");
        let span = self.pages.page(id).span;
        if self.to_space.is_empty() {
            self.scanned = (0, span.start);
        }
        self.to_space.push(id);
        self.free = Span::new(span.start.plus(bytes), span.end);
        span.start
    }

    /// Notes how far the last page of to-space is filled.
    fn close_to_space(&mut self) {
        if let Some(&id) = self.to_space.last() {
            let end = self.pages.page(id).span.end;
            self.pages.fill(id, self.free.start, end, end);
        }
    }

    /// A pinned object is reached for the first time: it goes to the mark queue, and its page is promoted.
    unsafe fn mark(&mut self, w: u64, at: Address, meta: u64) {
        at.store(meta | STATE);
        self.note(M::address(w));
        if self.pages.role(at) == Role::FROM {
            self.promote(self.pages.id(at));
        }
        let is = self.model.describe(meta & !STATE);
        self.counts.pinned += 1;
        self.counts.pinned_bytes += is.whole;
        if M::AMBIGUOUS && is.untyped {
            self.untyped.push(at);
        }
        if !is.leaf {
            self.mark_queue.push_back(w);
        }
    }

    /// The page goes over to to-space, and everything on it is pinned that has not been copied.
    unsafe fn promote(&mut self, id: PageId) {
        self.pages.set_role(id, Role::PROMOTED);
        self.promoted.push(id);
        self.counts.promoted += 1;
        for part in self.pages.page(id).filled() {
            meta_words::walk(self.model, part, |o| {
                let meta = o.meta.load();
                if meta & VISITED == 0 {
                    o.meta.store(meta | PINNED);
                }
                true
            });
        }
    }

    /// Reaches an object that is on no page: nothing there moves.
    #[cold]
    unsafe fn reach_apart(&mut self, w: u64) {
        let a = M::address(w);
        // Perhaps not for the first time: then nobody waits.
        self.note(a);
        let block = self.pool.table.block_of(a);
        match self.pool.table.state(block).kind() {
            Kind::Large | Kind::LargeTail | Kind::Shared if self.large.mark(self.pool, a, true).is_some() => {
                self.apart.push(Located::headed(self.model, a));
            }
            Kind::Typed if self.marks.set(a) => {
                self.apart.push(Located::cell::<M>(a, self.cells.class_of(&self.pool.table, block).bytes()));
            }
            _ => {}
        }
    }

    // ---- quasi-pointers

    /// From here on words are gathered, if they are to be looked at in batches.
    fn gather(&mut self) {
        self.gathered = (Self::AMBIGUOUS && self.proposals.batched).then(Vec::new);
    }

    /// Looks at the words that were gathered, in the order of what they refer to.
    unsafe fn sort_out(&mut self) {
        if let Some(mut words) = self.gathered.take() {
            words.sort_unstable();
            words.dedup();
            self.resume = Resume::default();
            self.gathered = Some(Vec::new());
            for word in words {
                self.quasi_pointer(word);
            }
            self.gathered = None;
        }
    }

    fn find(&mut self, word: u64) -> Option<Found> {
        self.counts.tested += 1;
        let in_order = self.gathered.is_some();
        let mut detector = Detector {
            indexed: self.proposals.start_bits.then_some(&mut self.indexed),
            resume: in_order.then_some(&mut self.resume),
            walked: &mut self.counts.walked,
            pages: self.pages,
            finder: Finder {
                model: self.model,
                pool: self.pool,
                marks: self.marks,
                large: self.large,
                cells: self.cells,
                own: &NoSpaces,
            },
        };
        detector.around(Address(word), Starts::BeforeMarking)
    }

    /// A word that may be a reference has been met.
    ///
    /// # Safety
    /// What the module's header says under "What holds"; the word may be any in the region.
    unsafe fn quasi_pointer(&mut self, word: u64) {
        match self.find(word) {
            Some(Found::OnPage(o)) => {
                let meta = o.meta.load();
                match self.stage {
                    Stage::Pin => o.meta.store(meta | PINNED),
                    Stage::Root => {
                        self.counts.roots += 1;
                        if meta & VISITED == 0 {
                            self.mark(o.reference::<M>(), o.meta, meta);
                        }
                    }
                    Stage::Graph if meta & STATE == PINNED => self.mark(o.reference::<M>(), o.meta, meta),
                    Stage::Graph => debug_assert!(meta & STATE == STATE, "met too late to be pinned"),
                }
            }
            Some(Found::Apart(o)) if self.stage != Stage::Pin => {
                self.counts.roots += u64::from(self.stage == Stage::Root);
                self.reach_apart(o.reference.word());
            }
            _ => {}
        }
    }

    // ---- looking at words

    /// Looks at the words of immortal objects: of the untyped ones, or of the others as well.
    unsafe fn immortals(&mut self, only_untyped: bool) {
        let immortal = self.immortal;
        for x in immortal.extents().filter(|x| !x.leaf) {
            if M::SELF_DESCRIBING {
                self.words(x.span.start.words(), (x.span.bytes() / WORD) as usize);
                continue;
            }
            let mut a = x.span.start;
            while a < x.span.end {
                let o = Located::headed(self.model, a);
                if !only_untyped || self.model.describe(a.load()).untyped {
                    o.scan(self.model, o.span(), self);
                }
                a = o.span().end;
            }
        }
    }

    unsafe fn scan(&mut self, o: &Object) {
        let span = o.span::<M>();
        if M::SELF_DESCRIBING {
            self.words(span.start.words(), (span.bytes() / WORD) as usize);
        } else {
            self.model.scan(span.start, span.bytes(), span, self);
        }
    }

    /// Looks at words until nothing is left to look at.
    unsafe fn drain(&mut self, client: &mut C) {
        loop {
            while let Some(w) = self.mark_queue.pop_front() {
                self.scan_marked(w);
            }
            if self.scan_copies() || self.scan_apart() {
                continue;
            }
            let Some(k) = self.continuations.pop() else { return };
            self.in_continuation = true;
            client.trace_continuation(k, self);
            self.in_continuation = false;
        }
    }

    /// The words of a live pinned object.
    unsafe fn scan_marked(&mut self, w: u64) {
        let meta = meta_of::<M>(w);
        let o = Object { meta, is: self.model.describe(meta.load() & !STATE) };
        if o.is.kind == RefKind::Procedure && self.model.measure(o.is.kind, o.start::<M>().load()).continuation {
            self.continuations.push(o.start::<M>());
        }
        self.scan(&o);
    }

    /// The words of copies that have not been looked at. Were there any?
    unsafe fn scan_copies(&mut self) -> bool {
        let mut any = false;
        while let Some(&id) = self.to_space.get(self.scanned.0) {
            let mut at = self.scanned.1;
            loop {
                // The page may cease to be the last one meanwhile.
                let last = self.scanned.0 + 1 == self.to_space.len();
                let end = if last { self.free.start } else { self.pages.page(id).lo };
                if at >= end {
                    break;
                }
                any = true;
                let o = Object { meta: at, is: self.model.describe(at.load()) };
                at = o.end();
                if !o.is.leaf {
                    self.scan(&o);
                }
            }
            self.scanned.1 = at;
            if self.scanned.0 + 1 == self.to_space.len() {
                break;
            }
            let next = self.to_space[self.scanned.0 + 1];
            self.scanned = (self.scanned.0 + 1, self.pages.page(next).span.start);
        }
        any
    }

    unsafe fn scan_apart(&mut self) -> bool {
        let Some(o) = self.apart.pop() else { return false };
        let a = o.reference.address();
        let block = self.pool.table.block_of(a);
        if self.pool.table.state(block).is(Kind::Typed) {
            let words = self.cells.class_of(&self.pool.table, block).words();
            if let crate::space::cells::CellWords::Typed(mut map) = words {
                while map != 0 {
                    self.slot(a.plus(map.trailing_zeros() as u64 * WORD).words());
                    map &= map - 1;
                }
            }
        } else {
            o.scan(self.model, o.span(), self);
        }
        true
    }
}

impl<M: ObjectModel, C: Client> RootVisitor for Collection<'_, M, C> {
    #[inline(always)]
    unsafe fn slot(&mut self, slot: *mut u64) {
        let w = *slot;
        let offset = M::address(w).offset_from(self.region.start);
        if !M::is_reference(w) || offset >= self.region.bytes() {
            if M::is_indirect(w) {
                self.reach_indirect(w);
            }
            return;
        }
        match Role(*self.roles.add((offset >> self.shift) as usize)) {
            Role::TO => {}
            Role::NONE => self.reach_apart(w),
            _ => *slot = self.reach(w),
        }
    }

    fn mark_chunk(&mut self, chunk: Address) {
        self.chunks.mark(self.pool, chunk, self.in_continuation);
    }
}

impl<M: ObjectModel, C: Client> AmbiguousVisitor for Collection<'_, M, C> {
    fn ambiguous(&mut self, word: u64) {
        if Self::AMBIGUOUS && M::is_indirect(word) && self.stage != Stage::Pin {
            self.reach_indirect(word);
        }
        if Self::AMBIGUOUS && self.region.contains(Address(word)) {
            if let Some(words) = &mut self.gathered {
                return words.push(word);
            }
            // SAFETY: any word of the region may be asked about: `find` looks it up first.
            unsafe { self.quasi_pointer(word) };
        }
    }
}

impl<M: ObjectModel, C: Client> WeakVisitor for Collection<'_, M, C> {
    const EVERYTHING: bool = true;

    unsafe fn survivor(&self, w: u64) -> Option<u64> {
        if M::is_indirect(w) {
            let alive = match M::inside(w) {
                Some(offset) => self.large.holder(self.pool, offset).is_some_and(|o| o.marked),
                None => self.compact.is_marked(w),
            };
            return alive.then_some(w);
        }
        let a = M::address(w);
        if !self.region.contains(a) {
            return Some(w);
        }
        match self.pages.role(a) {
            Role::TO => Some(w),
            Role::NONE => {
                let alive = match self.pool.table.state(self.pool.table.block_of(a)).kind() {
                    Kind::Large | Kind::Shared => self.large.around(self.pool, a).is_some_and(|o| o.marked),
                    Kind::Typed => self.marks.is_set(a),
                    _ => true,
                };
                alive.then_some(w)
            }
            _ => {
                let at = meta_of::<M>(w);
                match at.load() & STATE {
                    STATE => Some(w),
                    VISITED => Some(at.plus(WORD).load()),
                    _ => None,
                }
            }
        }
    }
}

impl<M: ObjectModel, C: Client> WeakTracing<C> for Collection<'_, M, C> {
    unsafe fn trace(&mut self, client: &mut C) {
        self.drain(client);
    }
    fn watched(&mut self) -> &mut Watched {
        &mut self.watched
    }
    fn holder(&self, offset: u64) -> Option<Address> {
        self.large.holder(self.pool, offset).map(|o| o.start)
    }
}
