//! Tracing: the hot loops of both collections.
//!
//! `slot` looks at one word. If it refers to an object that is to move, the object is copied and the word
//! updated; the copy is grey until its words have been looked at in turn. Forwarding:
//!
//! ```text
//!   pair                     object or procedure
//!   car  FORWARDED           first word   new reference (tag 7 or 6; headers have tag 2, code addresses tag 0)
//!   cdr  new reference
//! ```
//!
//! Order of copies. A Cheney scan alone copies breadth first, which scatters lists. So copying a pair at once
//! copies the pairs along its cdr as well: a list becomes contiguous, in order, and its cdrs need no second
//! look to stay correct. The most recently filled hole is scanned first.
//!
//! Marking. In a major collection an object that stays where it is gets its start bit set and goes on a stack; its
//! size is learned, its lines are marked and its words looked at when it comes off again, by way of a short queue,
//! so that its first words have been prefetched meanwhile.
//!
//! The type is generic over the extent of the collection, so that each has its own test for "is to move":
//! minor, one comparison with a range; major, one load of the block's state byte.

#![allow(unsafe_op_in_unsafe_fn)] // The whole file is one unsafe algorithm; contracts are on the functions.

use crate::address::{Address, BLOCK_BYTES, BLOCK_SHIFT, BlockIndex, Span, WORD, is_pointer_word};
use crate::blocks::{Kind, State};
use crate::gc::{Client, RootVisitor};
use crate::heap::Core;
use crate::space::chunks::ChunkSpace;
use crate::space::immortal::ImmortalSpace;
use crate::space::large::LargeSpace;
use crate::space::markregion::{MarkRegionSpace, Tables};
use cairn_layout::Value;
use cairn_layout::code::{SHAPE, flags, shape_words};
use cairn_layout::object::{FIRST_LEAF, header_length};
use cairn_layout::value::{TAG_IMMEDIATE, TAG_MASK, TAG_OBJECT, TAG_PAIR, TAG_PROCEDURE};

/// log2 of the payload unit of each type, two bits per type code: 3 except strings (2) and bytevectors (0).
const UNIT_SHIFTS: u64 = !(0b1101 << 32);

/// [`cairn_layout::object::object_bytes`] without a branch on the type.
#[inline(always)]
pub(crate) const fn object_bytes(header: u64) -> u64 {
    let unit = (UNIT_SHIFTS >> ((header >> 2) & 62)) & 3;
    let payload = ((header_length(header) << unit) + 7) & !7;
    if payload == 0 { 16 } else { payload + 8 }
}

/// Objects in the queue between the mark stack and the scan.
const QUEUE: usize = 16;
/// Longer objects are scanned in pieces, so that the mark stack stays short.
const PIECE_BYTES: u64 = 1024;

/// The bit of a header that leaves have.
const LEAF_BIT: u64 = (FIRST_LEAF as u64) << 3;

const _: () = {
    use cairn_layout::object::{Type, header};
    let types = [Type::Vector, Type::Opaque, Type::String, Type::Bytevector, Type::Bignum, Type::Flonum];
    let mut i = 0;
    while i < types.len() {
        let mut n = 0;
        while n < 20 {
            let h = header(types[i], 3, n);
            assert!(object_bytes(h) == cairn_layout::object::object_bytes(h));
            assert!((h & LEAF_BIT != 0) == cairn_layout::object::header_is_leaf(h));
            n += 1;
        }
        i += 1;
    }
};

/// The state of a collection under way.
pub(crate) struct Tracer<'h, const MAJOR: bool> {
    /// Words outside this range need no second look: minor, everything that can be young; major, the region.
    from: Span,
    from_bytes: u64,
    nursery: Span,
    region_base: u64,
    states: *const u8,
    pub(super) old: &'h mut MarkRegionSpace,
    pub(super) t: Tables<'h>,
    pub(super) large: &'h mut LargeSpace,
    pub(super) immortal: &'h ImmortalSpace,
    chunks: &'h mut ChunkSpace,
    stack: Vec<u64>,
    queue: [u64; QUEUE],
    queue_start: usize,
    queue_len: usize,
    continuations: Vec<Address>,
    in_continuation: bool,
    copied: u64,
}

impl<'h, const MAJOR: bool> Tracer<'h, MAJOR> {
    /// Starts a collection that looks at references into `from`.
    pub(crate) fn new(core: &'h mut Core, old: &'h mut MarkRegionSpace, from: Span, nursery: Span) -> Self {
        Tracer {
            from,
            from_bytes: from.bytes(),
            nursery,
            region_base: core.region.base().0,
            states: core.pool.table.states(),
            old,
            t: Tables { pool: &mut core.pool, cards: &core.cards, marks: &core.marks },
            large: &mut core.large,
            immortal: &core.immortal,
            chunks: &mut core.chunks,
            stack: Vec::new(),
            queue: [0; QUEUE],
            queue_start: 0,
            queue_len: 0,
            continuations: Vec::new(),
            in_continuation: false,
            copied: 0,
        }
    }

    /// Bytes copied so far.
    pub(crate) fn copied(&self) -> u64 {
        self.copied
    }

    /// Is the pair at `a` to move? Pairs are never large.
    #[inline(always)]
    unsafe fn pair_moves(&self, a: u64) -> bool {
        if MAJOR {
            let offset = a.wrapping_sub(self.region_base);
            offset < self.from_bytes && *self.states.add((offset >> BLOCK_SHIFT) as usize) & State::FROM != 0
        } else {
            a.wrapping_sub(self.nursery.start.0) < self.nursery.end.0 - self.nursery.start.0
        }
    }

    /// What the word `w`, which refers to the start of an object in the `from` range, has to become.
    #[inline]
    unsafe fn reach(&mut self, w: u64) -> u64 {
        let a = w & !TAG_MASK;
        if MAJOR {
            let block = (a.wrapping_sub(self.region_base)) >> BLOCK_SHIFT;
            let state = State(*self.states.add(block as usize));
            if !state.has(State::FROM) {
                if state.is(Kind::Scannable) || state.is(Kind::Leaf) {
                    if self.t.marks.set(Address(a)) {
                        self.stack.push(w);
                    }
                } else if state.is(Kind::Large) {
                    self.mark_large(BlockIndex(block as u32));
                }
                return w;
            }
        } else if a < self.nursery.start.0 {
            let block = (a.wrapping_sub(self.region_base)) >> BLOCK_SHIFT;
            let state = State(*self.states.add(block as usize));
            if state.is(Kind::Large) && state.has(State::YOUNG) {
                self.mark_large(BlockIndex(block as u32));
            }
            return w;
        }
        match w & TAG_MASK {
            TAG_PAIR => self.evacuate_pairs(a),
            TAG_OBJECT => self.evacuate_object(a),
            _ => self.evacuate_procedure(a),
        }
    }

    #[cold]
    fn mark_large(&mut self, block: BlockIndex) {
        if let Some(words) = self.large.mark(self.t.pool, block) {
            self.old.push_grey(words);
        }
    }

    /// Copies a pair, and the pairs along its cdr.
    #[inline(always)]
    unsafe fn evacuate_pairs(&mut self, first: u64) -> u64 {
        let mut from = first as *mut u64;
        let car = *from;
        let mut cdr = *from.add(1);
        if car == Value::FORWARDED.0 {
            return cdr;
        }
        let mut to = self.old.alloc_pair(&mut self.t).words();
        let result = to as u64 | TAG_PAIR;
        *from = Value::FORWARDED.0;
        *from.add(1) = result;
        *to = car;
        self.copied += 16;
        loop {
            if cdr & TAG_MASK != TAG_PAIR || !self.pair_moves(cdr) {
                *to.add(1) = cdr;
                return result;
            }
            from = (cdr - TAG_PAIR) as *mut u64;
            let car = *from;
            let next = *from.add(1);
            if car == Value::FORWARDED.0 {
                *to.add(1) = next;
                return result;
            }
            let copy = self.old.alloc_pair(&mut self.t).words();
            let word = copy as u64 | TAG_PAIR;
            *from = Value::FORWARDED.0;
            *from.add(1) = word;
            *to.add(1) = word;
            *copy = car;
            self.copied += 16;
            to = copy;
            cdr = next;
        }
    }

    #[inline(always)]
    unsafe fn evacuate_object(&mut self, a: u64) -> u64 {
        let from = a as *mut u64;
        let header = *from;
        if header & TAG_MASK != TAG_IMMEDIATE {
            return header;
        }
        let bytes = object_bytes(header);
        let leaf = header & LEAF_BIT != 0;
        let to = if bytes > BLOCK_BYTES {
            self.alloc_huge(bytes, TAG_OBJECT, leaf)
        } else if leaf {
            self.old.alloc_leaf(&mut self.t, bytes)
        } else {
            self.old.alloc_scannable(&mut self.t, bytes)
        };
        copy_words(from, to.words(), bytes / WORD);
        self.copied += bytes;
        let word = to.0 | TAG_OBJECT;
        *from = word;
        word
    }

    #[inline(always)]
    unsafe fn evacuate_procedure(&mut self, a: u64) -> u64 {
        let from = a as *mut u64;
        let code = *from;
        if code & TAG_MASK == TAG_PROCEDURE {
            return code;
        }
        let shape = *(code.wrapping_add_signed(SHAPE) as *const u64);
        let words = shape_words(shape);
        let bytes = words * WORD;
        let to = if bytes > BLOCK_BYTES {
            self.alloc_huge(bytes, TAG_PROCEDURE, false)
        } else {
            self.old.alloc_scannable(&mut self.t, bytes)
        };
        copy_words(from, to.words(), words);
        self.copied += bytes;
        let word = to.0 | TAG_PROCEDURE;
        *from = word;
        if shape & flags::CONTINUATION != 0 {
            self.continuations.push(to);
        }
        word
    }

    /// Room for an object that fits no block, although it was born in the nursery: it becomes a large object.
    #[cold]
    #[inline(never)]
    fn alloc_huge(&mut self, bytes: u64, tag: u64, leaf: bool) -> Address {
        let a = self.large.alloc(self.t.pool, bytes, tag, leaf, 0).expect("room for survivors was reserved");
        self.mark_large(self.t.pool.table.block_of(a));
        a
    }

    /// Looks at the words of a span.
    #[inline(always)]
    pub(super) unsafe fn scan(&mut self, span: Span) {
        let mut p = span.start.words();
        let end = span.end.words();
        while p < end {
            self.slot(p);
            p = p.add(1);
        }
    }

    /// The next marked object, by way of the queue.
    #[inline(always)]
    unsafe fn next_marked(&mut self) -> Option<u64> {
        while self.queue_len < QUEUE {
            let Some(w) = self.stack.pop() else { break };
            #[cfg(target_arch = "x86_64")]
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>((w & !TAG_MASK) as *const i8);
            self.queue[(self.queue_start + self.queue_len) % QUEUE] = w;
            self.queue_len += 1;
        }
        if self.queue_len == 0 {
            return None;
        }
        let w = self.queue[self.queue_start];
        self.queue_start = (self.queue_start + 1) % QUEUE;
        self.queue_len -= 1;
        Some(w)
    }

    /// Marks the lines of a marked object and looks at its words.
    #[inline(always)]
    unsafe fn scan_marked(&mut self, w: u64) {
        let a = Address(w & !TAG_MASK);
        match w & TAG_MASK {
            TAG_PAIR => self.scan_list(a.words()),
            TAG_OBJECT => {
                let header = a.load();
                let bytes = object_bytes(header);
                self.t.marks.mark_lines(a, bytes);
                if header & LEAF_BIT == 0 {
                    self.scan_pieces(Span::new(a, a.plus(bytes)));
                }
            }
            _ => {
                let shape = *(a.load().wrapping_add_signed(SHAPE) as *const u64);
                let bytes = shape_words(shape) * WORD;
                self.t.marks.mark_lines(a, bytes);
                if shape & flags::CONTINUATION != 0 {
                    self.continuations.push(a);
                }
                self.scan_pieces(Span::new(a, a.plus(bytes)));
            }
        }
    }

    /// Scans a marked pair, and the unmarked pairs along its cdr.
    #[inline(always)]
    unsafe fn scan_list(&mut self, mut pair: *mut u64) {
        let (bottom, mut left) = (self.stack.len(), PIECE_BYTES / 16);
        loop {
            self.t.marks.mark_line(Address(pair as u64));
            self.slot(pair);
            let cdr = *pair.add(1);
            let offset = cdr.wrapping_sub(self.region_base);
            if cdr & TAG_MASK != TAG_PAIR || offset >= self.from_bytes {
                return self.slot(pair.add(1));
            }
            let state = State(*self.states.add((offset >> BLOCK_SHIFT) as usize));
            if state.has(State::FROM) {
                *pair.add(1) = self.evacuate_pairs(cdr - TAG_PAIR);
                return;
            }
            if !state.is(Kind::Scannable) || !self.t.marks.set(Address(cdr - TAG_PAIR)) {
                return;
            }
            left -= 1;
            if left == 0 {
                // The elements so far first, lest all elements of a long list get onto the stack.
                return self.stack.insert(bottom, cdr);
            }
            pair = (cdr - TAG_PAIR) as *mut u64;
        }
    }

    /// Scans the first piece of a span, and queues the rest.
    #[inline(always)]
    unsafe fn scan_pieces(&mut self, span: Span) {
        if span.bytes() <= PIECE_BYTES {
            return self.scan(span);
        }
        let cut = span.start.plus(PIECE_BYTES);
        self.old.push_grey(Span::new(cut, span.end));
        self.scan(Span::new(span.start, cut));
    }

    /// Scans until nothing is grey.
    ///
    /// # Safety
    /// All grey words obey the invariant of `cairn_layout::value`.
    pub(crate) unsafe fn drain<C: Client>(&mut self, client: &mut C) {
        loop {
            if MAJOR {
                while let Some(w) = self.next_marked() {
                    self.scan_marked(w);
                }
            }
            if let Some(span) = self.old.take_grey() {
                if MAJOR {
                    self.scan_pieces(span);
                } else {
                    self.scan(span);
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

impl<const MAJOR: bool> RootVisitor for Tracer<'_, MAJOR> {
    #[inline(always)]
    unsafe fn slot(&mut self, slot: *mut u64) {
        let w = *slot;
        if w.wrapping_sub(self.from.start.0) >= self.from_bytes || !is_pointer_word(w) {
            return;
        }
        *slot = self.reach(w);
    }

    fn mark_chunk(&mut self, chunk: Address) {
        self.chunks.mark(self.t.pool, chunk, self.in_continuation);
    }
}

/// Copies `n > 0` words between places that do not overlap.
#[inline(always)]
unsafe fn copy_words(from: *const u64, to: *mut u64, n: u64) {
    if n > 16 {
        std::ptr::copy_nonoverlapping(from, to, n as usize);
        return;
    }
    let mut i = 0;
    while i < n as usize {
        *to.add(i) = *from.add(i);
        i += 1;
    }
}
