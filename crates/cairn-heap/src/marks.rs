//! Side tables about the objects of small-object blocks: where they start, and which lines hold live ones.
//!
//! ```text
//!  memory                        ████████▒▒▒▒▒▒▒▒████............    one block: 32 KiB
//!  starts     1 bit per word     1       1       1                   512 bytes
//!  lines      1 byte per line    1 (128 bytes)   1        0          256 bytes
//!  live       bytes per block    of the objects that were marked      4 bytes
//! ```
//!
//! Between collections the start bits are exactly the objects of the block that were live at the last major
//! collection or were promoted since; while marking they are the mark bits. Lines tell the allocator what is free,
//! after Immix (Blackburn & McKinley 2008); unlike there, an object marks all its lines, so no line is live by
//! implication.
//!
//! Where words may or may not be references, two more tables exist ([`Marks::expect_ambiguity`]): which starts are
//! those of pairs, since a pair does not say so itself; and the start bits as they were before marking, since objects
//! must still be found while marking.

use crate::address::{Address, BLOCK_BYTES, BLOCK_SHIFT, PAIR_BYTES, Span, prefetch};
use crate::region::{Mapping, Region};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// log2 of the bytes per start bit.
const GRANULE_SHIFT: u32 = 3;
/// log2 of the line size.
const LINE_SHIFT: u32 = 7;
/// Bytes per line.
pub const LINE_BYTES: u64 = 1 << LINE_SHIFT;
/// Lines per block.
pub const LINES_PER_BLOCK: usize = (BLOCK_BYTES / LINE_BYTES) as usize;
/// Words of start bits per block.
const BIT_WORDS: usize = (BLOCK_BYTES >> GRANULE_SHIFT) as usize / 64;

/// See the module's header.
pub struct Marks {
    _maps: [Mapping; 2],
    /// Objects that are marked, but were not looked at for lack of room: see [`Marks::defer`].
    deferred: Mapping,
    /// Words of mixed blocks that belong to leaves, and do not describe themselves.
    raw: Mapping,
    tables: MarkTables,
    base: Address,
    bytes: u64,
    ambiguity: Option<[Mapping; 2]>,
}

/// Starts and lines, for loops that have no time to find the tables first. Places are offsets from the region's base.
#[derive(Clone, Copy)]
pub struct MarkTables {
    bits: *mut u64,
    lines: *mut u8,
    /// Of each block the bytes of the objects whose lines were marked.
    live: *mut u32,
}

impl MarkTables {
    /// Records that an object starts there. Was it unrecorded?
    ///
    /// # Safety
    /// The offset is less than the region's size, the tables still exist, and no other thread uses them meanwhile.
    #[inline(always)]
    pub unsafe fn set(self, offset: u64) -> bool {
        let granule = offset >> GRANULE_SHIFT;
        let bit = 1 << (granule & 63);
        // SAFETY: the offset is below the region's size, the tables still exist, and this thread alone uses them (`#
        // Safety`).
        unsafe {
            let word = self.bits.add((granule >> 6) as usize);
            let old = *word;
            *word = old | bit;
            old & bit == 0
        }
    }
    /// Marks the line of a pair, once.
    ///
    /// # Safety
    /// The offset is less than the region's size, the tables still exist, and no other thread uses them meanwhile.
    #[inline(always)]
    pub unsafe fn mark_line(self, offset: u64) {
        // SAFETY: the offset is below the region's size, the tables still exist, and this thread alone uses them (`#
        // Safety`).
        unsafe {
            *self.lines.add((offset >> LINE_SHIFT) as usize) = 1;
            *self.live.add((offset >> BLOCK_SHIFT) as usize) += PAIR_BYTES as u32;
        }
    }
    /// Marks the lines of an object, once.
    ///
    /// # Safety
    /// The object ends within the region's size, the tables still exist, and no other thread uses them meanwhile.
    #[inline(always)]
    pub unsafe fn mark_lines(self, offset: u64, bytes: u64) {
        let (first, last) = (offset >> LINE_SHIFT, (offset + bytes - 1) >> LINE_SHIFT);
        // Most objects lie on one or two lines: no loop, which would become a call.
        // SAFETY: the object ends below the region's size, the tables still exist, and this thread alone uses them (`#
        // Safety`).
        unsafe {
            *self.lines.add(first as usize) = 1;
            *self.lines.add(last as usize) = 1;
            *self.live.add((offset >> BLOCK_SHIFT) as usize) += bytes as u32;
            if last - first > 1 {
                std::ptr::write_bytes(self.lines.add(first as usize), 1, (last - first) as usize);
            }
        }
    }
}

/// Which start bits to look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Starts {
    /// Those in use.
    Now,
    /// Those kept by [`Marks::keep_starts`].
    BeforeMarking,
}

impl Marks {
    /// Tables for this region, all clear.
    pub fn new(region: &Region) -> std::io::Result<Marks> {
        let bytes = region.span().bytes();
        let bits = Mapping::reserve(bytes >> (GRANULE_SHIFT + 3))?;
        // The bytes of each block come after the lines.
        let lines = Mapping::reserve((bytes >> LINE_SHIFT) + (bytes >> BLOCK_SHIFT) * size_of::<u32>() as u64)?;
        let deferred = Mapping::reserve(bytes >> (GRANULE_SHIFT + 3))?;
        let (b, l) = (bits.base().words(), lines.base().bytes());
        let live = lines.base().plus(bytes >> LINE_SHIFT).bytes().cast();
        Ok(Marks {
            _maps: [bits, lines],
            deferred,
            raw: Mapping::reserve(bytes >> (GRANULE_SHIFT + 3))?,
            tables: MarkTables { bits: b, lines: l, live },
            base: region.base(),
            bytes,
            ambiguity: None,
        })
    }
    #[inline(always)]
    fn bit(&self, a: Address) -> (*mut u64, u64) {
        debug_assert!(a.offset_from(self.base) < self.bytes);
        let granule = a.offset_from(self.base) >> GRANULE_SHIFT;
        // SAFETY: `a` is inside the region (asserted in debug builds), and the table has a bit for each word of it.
        (unsafe { self.tables.bits.add((granule >> 6) as usize) }, 1 << (granule & 63))
    }
    /// Records that an object starts at `a`, inside the region. Was it unrecorded?
    #[inline(always)]
    pub fn set(&self, a: Address) -> bool {
        let (word, bit) = self.bit(a);
        // SAFETY: `bit` has given a word of the table, which only the collector writes, from one thread.
        unsafe {
            let old = *word;
            *word = old | bit;
            old & bit == 0
        }
    }
    /// Records that an object starts at `a`, while other threads record starts, too. Was it unrecorded?
    #[inline(always)]
    pub fn set_shared(&self, a: Address) -> bool {
        let (word, bit) = self.bit(a);
        // SAFETY: `bit` has given an aligned word of the table; while threads share it, all of them use this function.
        let word = unsafe { AtomicU64::from_ptr(word) };
        word.load(Relaxed) & bit == 0 && word.fetch_or(bit, Relaxed) & bit == 0
    }
    /// The start bit at `a` will soon be looked at.
    #[inline(always)]
    pub fn prefetch(&self, a: Address) {
        prefetch(self.bit(a).0 as *const u8);
    }
    /// [`Marks::defer`], while other threads do so, too.
    pub fn defer_shared(&self, a: Address, pair: bool) {
        let granule = (a.offset_from(self.base) >> GRANULE_SHIFT) + u64::from(!pair);
        // SAFETY: `a` is inside the region, so the word is in the table, and aligned; while threads share it, all use
        // this function.
        let word = unsafe { AtomicU64::from_ptr(self.deferred.base().words().add((granule >> 6) as usize)) };
        word.fetch_or(1 << (granule & 63), Relaxed);
    }
    /// Notes that the marked object at `a` is still to be looked at, and whether it is a pair.
    ///
    /// Objects have two words at least: a bit at the first word stands for a pair, one at the second for another
    /// object.
    pub fn defer(&self, a: Address, pair: bool) {
        let granule = (a.offset_from(self.base) >> GRANULE_SHIFT) + u64::from(!pair);
        // SAFETY: `a` is inside the region, and the table has a bit for each word, the second words of objects among
        // them; one thread.
        unsafe { *self.deferred.base().words().add((granule >> 6) as usize) |= 1 << (granule & 63) };
    }
    /// Takes one of the deferred objects of the block at `start`, if there is any: where it is, and whether it is a
    /// pair.
    pub fn take_deferred(&self, start: Address) -> Option<(Address, bool)> {
        let first = start.offset_from(self.base) >> GRANULE_SHIFT;
        for i in 0..BIT_WORDS as u64 {
            // SAFETY: `start` is the start of a block of the region, which has `BIT_WORDS` words of bits; one thread,
            // one reference.
            let word = unsafe { &mut *self.deferred.base().words().add((first / 64 + i) as usize) };
            if *word != 0 {
                let at = start.plus((i * 64 + u64::from(word.trailing_zeros())) << GRANULE_SHIFT);
                *word &= *word - 1;
                // The second word of an object has no start bit.
                return Some(if self.is_set(at) { (at, true) } else { (at.minus(8), false) });
            }
        }
        None
    }
    fn change_raw(&self, span: Span, f: impl Fn(&mut u64, u64)) {
        let mut granule = span.start.offset_from(self.base) >> GRANULE_SHIFT;
        let end = span.end.offset_from(self.base) >> GRANULE_SHIFT;
        while granule < end {
            let n = (64 - granule % 64).min(end - granule);
            let mask = (u64::MAX >> (64 - n)) << (granule % 64);
            // SAFETY: the span is inside the region, so the table has bits for it; one thread, and the reference ends
            // with the call.
            f(unsafe { &mut *self.raw.base().words().add((granule / 64) as usize) }, mask);
            granule += n;
        }
    }
    /// Notes that these words of a mixed block belong to a leaf.
    pub fn set_raw(&self, span: Span) {
        self.change_raw(span, |word, mask| *word |= mask);
    }
    /// Forgets it.
    pub fn unset_raw(&self, span: Span) {
        self.change_raw(span, |word, mask| *word &= !mask);
    }
    /// Which of the 64 words from `a` on, where a card begins, belong to leaves: bit by bit, the first the lowest.
    pub fn raw_words(&self, a: Address) -> u64 {
        let granule = a.offset_from(self.base) >> GRANULE_SHIFT;
        debug_assert!(granule.is_multiple_of(64));
        // SAFETY: `a` is inside the region, and the table has a word for each 64 words of it.
        unsafe { *self.raw.base().words().add((granule / 64) as usize) }
    }
    /// Does an object start at `a`?
    #[inline(always)]
    pub fn is_set(&self, a: Address) -> bool {
        let (word, bit) = self.bit(a);
        // SAFETY: `bit` has given a word of the table; no thread writes it other than atomically meanwhile.
        unsafe { *word & bit != 0 }
    }
    /// The last start at or before `a` in its block.
    pub fn last_start(&self, a: Address, which: Starts) -> Option<Address> {
        let bits = match which {
            Starts::Now => self.tables.bits,
            Starts::BeforeMarking => self.ambiguity.as_ref()?[1].base().words(),
        };
        let granule = a.offset_from(self.base) >> GRANULE_SHIFT;
        let first = granule / 64 / BIT_WORDS as u64 * BIT_WORDS as u64;
        let mut i = granule / 64;
        let mut mask = u64::MAX >> (63 - granule % 64);
        loop {
            // SAFETY: `first..=i` are words of the table, for the block around `a`.
            let word = unsafe { *bits.add(i as usize) } & mask;
            if word != 0 {
                return Some(self.base.plus((i * 64 + 63 - word.leading_zeros() as u64) << GRANULE_SHIFT));
            }
            if i == first {
                return None;
            }
            i -= 1;
            mask = u64::MAX;
        }
    }
    /// Calls `f` with each start within a span of one block, in order.
    pub fn starts_in(&self, span: Span, mut f: impl FnMut(Address)) {
        let mut granule = span.start.offset_from(self.base) >> GRANULE_SHIFT;
        let end = span.end.offset_from(self.base) >> GRANULE_SHIFT;
        while granule < end {
            // SAFETY: the span lies in the region, and `granule` in the span, so the table has this word.
            let word = unsafe { *self.tables.bits.add((granule / 64) as usize) } >> (granule % 64);
            if word == 0 {
                granule = (granule / 64 + 1) * 64;
                continue;
            }
            granule += word.trailing_zeros() as u64;
            if granule < end {
                f(self.base.plus(granule << GRANULE_SHIFT));
            }
            granule += 1;
        }
    }
    /// Forgets that an object starts at `a`.
    pub fn unset(&self, a: Address) {
        let (word, bit) = self.bit(a);
        // SAFETY: `bit` has given a word of the table, which only the collector writes, from one thread.
        unsafe { *word &= !bit }
    }
    /// From now on pairs are told from other objects, and starts can be kept. Call it before the first object gets a
    /// start.
    pub fn expect_ambiguity(&mut self) -> std::io::Result<()> {
        if self.ambiguity.is_none() {
            let reserve = || Mapping::reserve(self.bytes >> (GRANULE_SHIFT + 3));
            self.ambiguity = Some([reserve()?, reserve()?]);
        }
        Ok(())
    }
    #[inline(always)]
    fn pair_bit(&self, a: Address) -> Option<(*mut u64, u64)> {
        let granule = a.offset_from(self.base) >> GRANULE_SHIFT;
        // SAFETY: the table has the size of the other one, and `a` is inside the region.
        (self.ambiguity.as_ref())
            .map(|t| unsafe { (t[0].base().words().add((granule >> 6) as usize), 1 << (granule & 63)) })
    }
    /// Records whether what starts at `a` is a pair.
    #[inline(always)]
    pub fn note_pair(&self, a: Address, pair: bool) {
        if let Some((word, bit)) = self.pair_bit(a) {
            // SAFETY: `pair_bit` has given a word of the table, which only the collector writes, from one thread.
            unsafe { *word = if pair { *word | bit } else { *word & !bit } }
        }
    }
    /// Is what starts at `a` a pair?
    pub fn is_pair(&self, a: Address) -> bool {
        // SAFETY: `pair_bit` has given a word of the table, which only the collector writes, from one thread.
        self.pair_bit(a).is_some_and(|(word, bit)| unsafe { *word & bit != 0 })
    }
    /// Keeps the start bits of the block at `start` for [`Starts::BeforeMarking`].
    pub fn keep_starts(&self, start: Address) {
        let Some(tables) = &self.ambiguity else { return };
        let at = (start.offset_from(self.base) >> (GRANULE_SHIFT + 6)) as usize;
        // SAFETY: `start` is the start of a block of the region, which has this many words in either table.
        unsafe {
            std::ptr::copy_nonoverlapping(self.tables.bits.add(at), tables[1].base().words().add(at), BIT_WORDS)
        }
    }
    /// The tables of starts and lines.
    pub const fn tables(&self) -> MarkTables {
        self.tables
    }
    /// The lines of the block at `start`.
    pub fn lines(&self, start: Address) -> &[u8; LINES_PER_BLOCK] {
        let at = (start.offset_from(self.base) >> LINE_SHIFT) as usize;
        // SAFETY: `start` is the start of a block, which has this many lines side by side; nobody writes them while the
        // slice is in use.
        unsafe { &*(self.tables.lines.add(at) as *const [u8; LINES_PER_BLOCK]) }
    }
    /// Forgets everything about the block at `start`.
    pub fn clear(&self, start: Address) {
        let at = (start.offset_from(self.base) >> LINE_SHIFT) as usize;
        let (word, _) = self.bit(start);
        // SAFETY: `start` is the start of a block, which has this many lines and words of bits, from these places on.
        unsafe {
            std::ptr::write_bytes(self.tables.lines.add(at), 0, LINES_PER_BLOCK);
            std::ptr::write_bytes(word, 0, BIT_WORDS);
            *self.live(start) = 0;
        }
    }
    fn live(&self, start: Address) -> *mut u32 {
        // SAFETY: `start` is inside the region, which has an entry for each block.
        unsafe { self.tables.live.add((start.offset_from(self.base) >> BLOCK_SHIFT) as usize) }
    }
    /// Bytes of the objects in the block at `start` whose lines were marked since it was last cleared.
    pub fn live_bytes(&self, start: Address) -> u64 {
        // SAFETY: `live` has given a word of the table; nobody writes it meanwhile.
        u64::from(unsafe { *self.live(start) })
    }
    /// Forgets the starts in the block at `start`; what is known of its lines stays.
    pub fn clear_starts(&self, start: Address) {
        let (word, _) = self.bit(start);
        // SAFETY: `start` is the start of a block, which has this many words of bits, from `word` on.
        unsafe { std::ptr::write_bytes(word, 0, BIT_WORDS) };
    }
    /// How many objects start in the block at `start`.
    pub fn count_starts(&self, start: Address) -> u64 {
        let (word, _) = self.bit(start);
        // SAFETY: `start` is the start of a block, which has this many words of bits; nobody writes them while the
        // slice is in use.
        let words = unsafe { std::slice::from_raw_parts(word, BIT_WORDS) };
        words.iter().map(|w| w.count_ones() as u64).sum()
    }
    /// The lines of this span, whole ones of one block, are not free any more.
    pub fn take_lines(&self, span: Span) {
        let at = span.start.offset_from(self.base) >> LINE_SHIFT;
        // SAFETY: the span lies in one block of the region, so these lines are in the table.
        unsafe {
            std::ptr::write_bytes(self.tables.lines.add(at as usize), 1, (span.bytes() >> LINE_SHIFT) as usize);
        }
    }
    /// The next run of at least `least` free lines in the block at `start`, from line `from` on: first line and one
    /// past the last.
    pub fn free_lines(&self, start: Address, from: usize, least: usize) -> Option<(usize, usize)> {
        let lines = self.lines(start);
        let mut first = from;
        loop {
            first += lines[first..].iter().position(|&l| l == 0)?;
            let end = lines[first..].iter().position(|&l| l != 0).map_or(LINES_PER_BLOCK, |n| first + n);
            if end - first >= least {
                return Some((first, end));
            }
            first = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_starts_of_objects() {
        let r = Region::reserve(28, None).unwrap();
        let m = Marks::new(&r).unwrap();
        let b = r.base().plus(5 * BLOCK_BYTES);
        assert!(m.set(b.plus(24)) && !m.set(b.plus(24)) && m.set(b.plus(40)));
        assert!(m.is_set(b.plus(24)) && !m.is_set(b) && !m.is_set(b.plus(48)));
        let (t, o) = (m.tables(), b.offset_from(r.base()));
        // SAFETY: the offsets are of places in the region, the tables exist, and this is the only thread.
        unsafe {
            t.mark_lines(o + 120, 16); // lines 0 and 1
            t.mark_line(o + 128 * 4);
        }
        assert_eq!(m.free_lines(b, 0, 1), Some((2, 4)));
        assert_eq!(m.free_lines(b, 0, 3), Some((5, 256)));
        // SAFETY: the last 256 bytes of the block are in the region, the tables exist, and this is the only thread.
        unsafe { t.mark_lines(o + BLOCK_BYTES - 256, 256) };
        assert_eq!(m.free_lines(b, 4, 1), Some((5, 254)));
        // SAFETY: these lines are those of one block of the region, the tables exist, and this is the only thread.
        unsafe { t.mark_lines(o + 128 * 10 + 8, 128 * 5) };
        assert_eq!(m.free_lines(b, 5, 1), Some((5, 10)));
        assert_eq!(m.free_lines(b, 10, 1), Some((16, 254)));
        assert_eq!(m.free_lines(b, 254, 1), None);
        assert_eq!((m.live_bytes(b), m.live_bytes(b.plus(BLOCK_BYTES))), (16 + 16 + 256 + 128 * 5, 0));
        m.clear(b);
        assert_eq!(m.live_bytes(b), 0);
        assert_eq!(m.free_lines(b, 0, 1), Some((0, 256)));
        assert!(!m.is_set(b.plus(24)));
    }
    #[test]
    fn objects_are_found_from_their_middle_and_pairs_told_from_others() {
        let r = Region::reserve(28, None).unwrap();
        let mut m = Marks::new(&r).unwrap();
        m.expect_ambiguity().unwrap();
        let b = r.base().plus(7 * BLOCK_BYTES);
        let at = |word: u64| b.plus(8 * word);
        assert_eq!(m.last_start(at(4095), Starts::Now), None);
        for word in [3, 64, 200, 4094] {
            m.set(at(word));
        }
        m.set(b.minus(16)); // of the block before
        for (from, found) in
            [(2, None), (3, Some(3)), (63, Some(3)), (64, Some(64)), (199, Some(64)), (4095, Some(4094))]
        {
            assert_eq!(m.last_start(at(from), Starts::Now), found.map(at), "{from}");
        }
        let mut seen = vec![];
        m.starts_in(Span::new(at(3), at(4094)), |a| seen.push(a));
        assert_eq!(seen, [at(3), at(64), at(200)]);
        m.note_pair(at(64), true);
        assert!(m.is_pair(at(64)) && !m.is_pair(at(3)));
        m.note_pair(at(64), false);
        assert!(!m.is_pair(at(64)));
        m.keep_starts(b);
        m.clear(b);
        m.set(at(300));
        m.unset(at(300));
        assert_eq!(m.last_start(at(4095), Starts::Now), None);
        assert_eq!(m.last_start(at(4095), Starts::BeforeMarking), Some(at(4094)));
    }
}
