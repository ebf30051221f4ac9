//! Reserved address space: the region that holds every block, and the card table beside it.
//!
//! The problem: questions about a word ("is it a pointer into the heap, of which kind is its block, is it
//! young") must cost one compare and one load. The idea: reserve one contiguous region up front, so that the
//! answers are differences and indices; the system gives pages only to what is touched.
//!
//! ```text
//!  base                                                                  base + 64 GiB
//!  │ small blocks: old, chunks, immortal ▶ …  free  … ◀ large objects │ nursery … │
//!  ╰ grows up                                  grows down ╯           ╰ fixed start, grows up
//! ```
//!
//! So everything that can be young (nursery and large objects) is one contiguous range whose low end is the
//! frontier of the large objects.
//!
//! Invariants: the base is a multiple of the block size; the card of an address is
//! `(address >> CARD_SHIFT) & mask`, on absolute addresses, and the table covers the region or more: no two blocks
//! of a region share a card.

use crate::address::{Address, BLOCK_BYTES, BLOCK_SHIFT, BlockIndex, Span};
use cairn_layout::machine::{CARD_SHIFT, DIRTY, REGION_BITS};

/// Smallest region worth having: below this, creation fails.
const SMALLEST_REGION_BITS: u32 = 26;
/// Addresses of a process, where it has no limit.
const ALL_ADDRESSES: u64 = 1 << 47;
/// Where it has none, a heap takes at most this share of the addresses that are left.
const SHARE: u64 = 1024;
/// What is left to tables beside the region and to everything else, where addresses are limited.
const SET_APART: u64 = 96 << 20;
/// log2 of how often a smaller region fits into what the card table covers: the rest is for static data, which lies
/// anywhere.
const CARDS_BEYOND: u32 = 4;
/// What a thread may take beside memory of the heap: mimalloc reserves 32 MiB on a boundary of as much.
const THREAD: u64 = 72 << 20;
/// Alignment of the region's base: a huge page.
const BASE_ALIGN: u64 = 2 << 20;

/// Address space from `mmap`, unmapped when dropped. Pages read as zero until written.
pub struct Mapping {
    base: Address,
    bytes: u64,
}

impl Mapping {
    /// Reserves `bytes` without asking the system to set memory aside.
    pub fn reserve(bytes: u64) -> std::io::Result<Mapping> {
        // SAFETY: an anonymous private mapping at an address of the system's choice touches nothing that exists.
        let p = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if p == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Mapping { base: Address(p as u64), bytes })
    }
    /// First byte.
    #[inline(always)]
    pub const fn base(&self) -> Address {
        self.base
    }
    /// Bytes of it.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Makes it longer; its pages may be elsewhere afterwards. What comes on top is clear.
    pub fn grow(&mut self, bytes: u64) -> std::io::Result<()> {
        // SAFETY: a mapping that we own, whose addresses its owner takes anew after this.
        let p = unsafe {
            libc::mremap(
                self.base.0 as *mut libc::c_void,
                self.bytes as usize,
                bytes as usize,
                libc::MREMAP_MAYMOVE,
            )
        };
        if p == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        (self.base, self.bytes) = (Address(p as u64), bytes);
        Ok(())
    }
    /// Gives back all but this part, whose ends are multiples of the page size.
    fn trimmed(self, part: Span) -> Mapping {
        let all = Span::new(self.base, self.base.plus(self.bytes));
        std::mem::forget(self);
        for rest in [Span::new(all.start, part.start), Span::new(part.end, all.end)] {
            if rest.bytes() > 0 {
                // SAFETY: part of a mapping that was ours alone, and that nothing has used.
                unsafe { libc::munmap(rest.start.0 as *mut libc::c_void, rest.bytes() as usize) };
            }
        }
        Mapping { base: part.start, bytes: part.bytes() }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `base` and `bytes` are those of a mapping we own; nobody can hold references into it, since the
        // heap hands out plain addresses only.
        unsafe { libc::munmap(self.base.0 as *mut libc::c_void, self.bytes as usize) };
    }
}

/// Gives the pages of a block-aligned span back to the system; they read as zero afterwards.
pub fn release_pages(span: Span) {
    if span.bytes() > 0 {
        // SAFETY: the span is inside a mapping of ours and holds no live object (callers pass free blocks).
        unsafe { libc::madvise(span.start.0 as *mut libc::c_void, span.bytes() as usize, libc::MADV_DONTNEED) };
    }
}

/// Has the system provide the pages of a span that is about to be written: one call instead of a fault for each. Where
/// the system cannot (before Linux 5.14), nothing happens.
pub fn populate_pages(span: Span) {
    // SAFETY: `MADV_POPULATE_WRITE` provides pages without changing what they hold, and fails where nothing is mapped.
    unsafe { libc::madvise(span.start.0 as *mut libc::c_void, span.bytes() as usize, libc::MADV_POPULATE_WRITE) };
}

/// Asks for huge pages in a span. Where the system has none, nothing happens.
pub fn advise_huge(span: Span) {
    // SAFETY: `MADV_HUGEPAGE` changes how pages are backed, not what they hold, and fails where nothing is mapped.
    unsafe { libc::madvise(span.start.0 as *mut libc::c_void, span.bytes() as usize, libc::MADV_HUGEPAGE) };
}

/// log2 of the addresses that a heap should reserve in this process now: `most`, but less where addresses are limited,
/// or many heaps have taken theirs; never less than `least`, however, if the system grants that. Where the process has
/// a limit, the heap takes at most one part of `share`.
pub fn suitable_bits(most: u32, least: u32, share: u64) -> u32 {
    let share = match addresses_left() {
        (left, true) => left.saturating_sub(SET_APART) / share,
        (left, false) => left / SHARE,
    };
    bits_for_share(share, most, least)
}

/// Bytes of addresses that this process may still take, and whether that is because it has a limit.
pub fn addresses_left() -> (u64, bool) {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is a valid `rlimit`, which the call fills.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } == 0;
    let limited = known && limit.rlim_cur < ALL_ADDRESSES;
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|s| s.split(' ').next()?.parse::<u64>().ok()).unwrap_or(0);
    // SAFETY: `sysconf` is given no address, and only reads a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as u64;
    let all = if limited { limit.rlim_cur } else { ALL_ADDRESSES };
    (all.saturating_sub(pages * page), limited)
}

/// Threads that this process may still start: each takes addresses for its stack and for what it allocates with
/// `malloc`, and ends the process where it gets none.
pub fn room_for_threads() -> usize {
    match addresses_left() {
        (left, true) => (left / THREAD) as usize,
        (_, false) => usize::MAX,
    }
}

/// log2 of the largest power of two that is no more than a share, within bounds.
fn bits_for_share(share: u64, most: u32, least: u32) -> u32 {
    share.checked_ilog2().unwrap_or(0).max(SMALLEST_REGION_BITS).max(least).min(most)
}

/// The reserved region.
pub struct Region {
    _map: Mapping,
    base: Address,
    blocks: u32,
}

impl Region {
    /// Reserves a region of `2^bits` bytes, or the largest smaller power of two that the system grants. If it is as
    /// large as what cards cover, the cards of its last part are those of `static_data`.
    pub fn reserve(bits: u32, static_data: Option<Address>) -> std::io::Result<Region> {
        let mut bits = bits.clamp(SMALLEST_REGION_BITS, REGION_BITS);
        if let Some(a) = static_data.filter(|_| bits == REGION_BITS)
            && let Ok(map) = Mapping::reserve(2 << bits)
        {
            // The middle of the last sixty-fourth is there.
            let size = 1u64 << bits;
            let wanted = (a.0 + size / 128) & !(BASE_ALIGN - 1);
            let base = map.base.plus(wanted.wrapping_sub(map.base.0) % size);
            return Ok(Region {
                _map: map.trimmed(Span::new(base, base.plus(size))),
                base,
                blocks: 1 << (bits - BLOCK_SHIFT),
            });
        }
        loop {
            match Mapping::reserve((1 << bits) + BASE_ALIGN) {
                Ok(map) => {
                    let base = Address((map.base.0 + BASE_ALIGN - 1) & !(BASE_ALIGN - 1));
                    return Ok(Region { _map: map, base, blocks: 1 << (bits - BLOCK_SHIFT) });
                }
                Err(e) if bits == SMALLEST_REGION_BITS => return Err(e),
                Err(_) => bits -= 1,
            }
        }
    }
    /// First byte.
    #[inline(always)]
    pub const fn base(&self) -> Address {
        self.base
    }
    /// Number of blocks.
    pub const fn blocks(&self) -> u32 {
        self.blocks
    }
    /// The whole region.
    pub const fn span(&self) -> Span {
        Span::new(self.base, Address(self.base.0 + self.blocks as u64 * BLOCK_BYTES))
    }
    /// First byte of a block.
    #[inline(always)]
    pub const fn address_of(&self, block: BlockIndex) -> Address {
        Address(self.base.0 + ((block.0 as u64) << BLOCK_SHIFT))
    }
    /// The block around an address, which must be inside the region.
    #[inline(always)]
    pub const fn block_of(&self, a: Address) -> BlockIndex {
        BlockIndex((a.offset_from(self.base) >> BLOCK_SHIFT) as u32)
    }
    /// The span of `n` blocks from `block`.
    pub const fn span_of(&self, block: BlockIndex, n: u32) -> Span {
        let start = self.address_of(block);
        Span::new(start, Address(start.0 + ((n as u64) << BLOCK_SHIFT)))
    }
}

/// Static data with cards that no word of an object has: where they lie.
///
/// Card indices are addresses modulo what the table covers, so static data share the cards of some part of the region:
/// of its last part, which stays unused, if the region was placed for them.
#[derive(Clone, Copy, Debug)]
pub struct OwnCards(Span);

impl OwnCards {
    /// Those around `static_data`; none without. Objects end at `end`, in the region that begins at `base`.
    pub fn around(static_data: Option<Address>, base: Address, end: Address, cards: &Cards) -> OwnCards {
        let covered = cards.covers();
        let (from, to) = (end.offset_from(base).next_multiple_of(CARD_BYTES), covered - CARD_BYTES);
        let Some(a) = static_data else { return OwnCards(Span::new(base, base)) };
        let offset = a.0.wrapping_sub(base.0) % covered;
        // Not an address that is the same modulo what the table covers: its data would have the cards of these.
        let at = |o: u64| Address(a.0.wrapping_sub(offset).wrapping_add(o));
        OwnCards(if (from..to).contains(&offset) { Span::new(at(from), at(to)) } else { Span::new(base, base) })
    }

    /// Is all of `span` there?
    pub fn contains(self, span: Span) -> bool {
        self.0.start <= span.start && span.end <= self.0.end
    }
}

/// Bytes covered by one card.
pub const CARD_BYTES: u64 = 1 << CARD_SHIFT;
/// Bytes covered by one bit of a card.
const EIGHTH: u64 = CARD_BYTES / 8;
/// Cards per block: one cache line of the table.
pub const CARDS_PER_BLOCK: usize = (BLOCK_BYTES / CARD_BYTES) as usize;

const _: () = assert!(CARDS_PER_BLOCK == 64);

/// The card table: one byte per 512 bytes, nonzero when a reference may have been stored there since the last
/// collection. The mutator marks the card of the *slot* it writes, whatever the age of the object: all of it, or the
/// bit of the eighth that the slot lies in (`cairn_set`, for programs that change a word here and there in much data).
pub struct Cards {
    map: Mapping,
    mask: u64,
}

impl Cards {
    /// An all-clean table for a region.
    pub fn new(region: &Region) -> std::io::Result<Cards> {
        let bits = (region.blocks.ilog2() + BLOCK_SHIFT + CARDS_BEYOND).min(REGION_BITS);
        let n = 1 << (bits - CARD_SHIFT);
        Ok(Cards { map: Mapping::reserve(n)?, mask: n - 1 })
    }
    /// Bytes that have a card each of their own.
    pub const fn covers(&self) -> u64 {
        (self.mask + 1) << CARD_SHIFT
    }
    /// What `Machine::card_mask` is.
    pub const fn mask(&self) -> u64 {
        self.mask
    }
    /// What `Machine::cards` points to.
    #[inline(always)]
    pub const fn base(&self) -> *mut u8 {
        self.map.base.bytes()
    }
    /// The card of an address.
    #[inline(always)]
    pub fn card(&self, a: Address) -> *mut u8 {
        // SAFETY: the masked index is below the size of the table.
        unsafe { self.base().add(((a.0 >> CARD_SHIFT) & self.mask) as usize) }
    }
    /// Marks the card of a slot.
    #[inline(always)]
    pub fn mark(&self, slot: Address) {
        // SAFETY: `card` has given a byte of the table, which is ours; the mutator's thread and this one are the same.
        unsafe { *self.card(slot) = DIRTY }
    }
    /// Is the eighth of a card dirty that this address lies in?
    pub fn is_dirty(&self, a: Address) -> bool {
        // SAFETY: `card` has given a byte of the table, which is ours.
        unsafe { *self.card(a) >> (a.0 / EIGHTH % 8) & 1 != 0 }
    }
    /// Marks every card that a span touches.
    pub fn mark_span(&self, span: Span) {
        let mut a = Address(span.start.0 & !(CARD_BYTES - 1));
        while a < span.end {
            self.mark(a);
            a = a.plus(CARD_BYTES);
        }
    }
    /// Cleans every card that a span touches.
    pub fn clean_span(&self, span: Span) {
        let mut a = Address(span.start.0 & !(CARD_BYTES - 1));
        while a < span.end {
            // SAFETY: `card` has given a byte of the table, which is ours; the mutator's thread and this one are the
            // same.
            unsafe { *self.card(a) = 0 };
            a = a.plus(CARD_BYTES);
        }
    }
    /// Cleans the cards of `n` blocks from `start`, a block boundary.
    pub fn clean_blocks(&self, start: Address, n: u32) {
        debug_assert!(start.0.is_multiple_of(BLOCK_BYTES));
        for i in 0..n as u64 {
            // SAFETY: the 64 cards of a block are consecutive, because blocks are aligned and the table's size is a
            // multiple of 64.
            unsafe { std::ptr::write_bytes(self.card(start.plus(i << BLOCK_SHIFT)), 0, CARDS_PER_BLOCK) };
        }
    }
    /// Calls `f` with each dirty card that a span touches.
    pub fn dirty_in(&self, span: Span, mut f: impl FnMut(Span)) {
        let mut a = Address(span.start.0 & !(CARD_BYTES - 1));
        while a < span.end {
            // SAFETY: `card` has given a byte of the table, which is ours.
            dirty_parts(a, unsafe { *self.card(a) }, &mut f);
            a = a.plus(CARD_BYTES);
        }
    }
    /// Calls `f` with the part of each dirty card that lies in a span, and cleans the card: all of it, so what it may
    /// share with others must be marked again. A card of which nothing in the span is dirty stays as it is.
    pub fn take_dirty_in(&self, span: Span, mut f: impl FnMut(Span)) {
        let mut a = Address(span.start.0 & !(CARD_BYTES - 1));
        while a < span.end {
            // SAFETY: the table's size and place are multiples of eight, and so is the index of this card.
            if a.0.is_multiple_of(8 * CARD_BYTES) && unsafe { *(self.card(a) as *const u64) } == 0 {
                a = a.plus(8 * CARD_BYTES);
                continue;
            }
            // SAFETY: `card` has given a byte of the table, which is ours; the mutator's thread and this one are the
            // same.
            let dirty = unsafe { self.card(a).replace(0) };
            let mut is_ours = false;
            dirty_parts(a, dirty, |part| {
                let part = part.intersection(span);
                if part.bytes() > 0 {
                    is_ours = true;
                    f(part);
                }
            });
            if !is_ours {
                // SAFETY: `card` has given a byte of the table, which is ours.
                unsafe { *self.card(a) = dirty };
            }
            a = a.plus(CARD_BYTES);
        }
    }
    /// Calls `f` with each dirty card of the block at `start` and cleans it.
    ///
    /// # Safety
    /// Nobody else writes the table meanwhile. `start` is a block boundary.
    #[inline(always)]
    pub unsafe fn take_dirty(&self, start: Address, mut f: impl FnMut(Span)) {
        let line = self.card(start) as *mut u64;
        // Nearly all blocks are clean; a large heap has many.
        // SAFETY: `start` is a block boundary (`# Safety`), so its 64 cards are side by side and begin at a multiple of
        // 64.
        if unsafe { (0..CARDS_PER_BLOCK / 8).fold(0, |any, i| any | *line.add(i)) } == 0 {
            return;
        }
        for group in 0..CARDS_PER_BLOCK / 8 {
            // SAFETY: `start` is a block boundary (`# Safety`), so its 64 cards are side by side and begin at a
            // multiple of 64.
            let eight = unsafe { *line.add(group) };
            if eight == 0 {
                continue;
            }
            // SAFETY: `group` is one of the eight words of the block's cards, and nobody else writes them meanwhile (`#
            // Safety`).
            unsafe { *line.add(group) = 0 };
            for i in 0..8 {
                let dirty = (eight >> (8 * i)) as u8;
                dirty_parts(start.plus((group as u64 * 8 + i) << CARD_SHIFT), dirty, &mut f);
            }
        }
    }
}

/// Calls `f` with the parts of the card at `a` whose bits are set, neighbours together.
#[inline(always)]
fn dirty_parts(a: Address, mut dirty: u8, mut f: impl FnMut(Span)) {
    if dirty == DIRTY {
        return f(Span::new(a, a.plus(CARD_BYTES)));
    }
    while dirty != 0 {
        let first = dirty.trailing_zeros();
        let end = first + (dirty >> first).trailing_ones();
        f(Span::new(a.plus(u64::from(first) * EIGHTH), a.plus(u64::from(end) * EIGHTH)));
        dirty &= !(((1u16 << end) - 1) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_heap_gets_all_and_thousands_get_their_share() {
        let (mut left, mut heaps) = (ALL_ADDRESSES, 0);
        assert_eq!(bits_for_share(left / SHARE, REGION_BITS, 0), REGION_BITS);
        // With what a heap reserves beside its region: cards, and tables of an eighth at most.
        while let Some(rest) =
            left.checked_sub((9 << bits_for_share(left / SHARE, REGION_BITS, 0)) / 8 + (160 << 20))
        {
            (left, heaps) = (rest, heaps + 1);
        }
        assert!(heaps > 8_000, "{heaps}");
        assert_eq!(bits_for_share((8 << 30) / 16, REGION_BITS, 0), 29);
        assert_eq!(bits_for_share((8 << 30) / 16, REGION_BITS, 33), 33, "a maximum that was asked for");
        assert_eq!(bits_for_share(0, REGION_BITS, 0), SMALLEST_REGION_BITS);
        assert_eq!(bits_for_share(1 << 30, 28, 0), 28);
    }
    #[test]
    fn the_region_is_block_aligned_and_cards_of_blocks_never_overlap() {
        let r = Region::reserve(30, None).unwrap();
        assert_eq!(r.base().0 % BLOCK_BYTES, 0);
        assert_eq!(r.blocks(), 1 << 15);
        let b = BlockIndex(77);
        assert_eq!(r.block_of(r.address_of(b).plus(BLOCK_BYTES - 1)), b);
        let cards = Cards::new(&r).unwrap();
        let a = r.address_of(b);
        cards.mark(a.plus(BLOCK_BYTES - 1));
        assert!(!cards.is_dirty(a.plus(BLOCK_BYTES)) && !cards.is_dirty(a));
        let mut seen = vec![];
        // SAFETY: `a` is the start of a block, and the table is local to this test.
        unsafe { cards.take_dirty(a, |s| seen.push(s)) };
        assert_eq!(seen, [Span::new(a.plus(BLOCK_BYTES - 512), a.plus(BLOCK_BYTES))]);
        assert!(!cards.is_dirty(a.plus(BLOCK_BYTES - 1)));
    }
    #[test]
    fn bits_of_a_card_stand_for_its_eighths() {
        let r = Region::reserve(30, None).unwrap();
        let cards = Cards::new(&r).unwrap();
        let a = r.address_of(BlockIndex(5)).plus(3 * CARD_BYTES);
        let part = |from: u64, to: u64| Span::new(a.plus(from), a.plus(to));
        for (bits, parts) in [
            (0u8, vec![]),
            (1, vec![part(0, 64)]),
            (0b1000_0000, vec![part(448, 512)]),
            (0b0110_0101, vec![part(0, 64), part(128, 192), part(320, 448)]),
            (0b0111_1111, vec![part(0, 448)]),
            (0b1111_1110, vec![part(64, 512)]),
            (DIRTY, vec![part(0, 512)]),
        ] {
            let set = || {
                // SAFETY: `card` gives a byte of the table, which is local to this test.
                unsafe { *cards.card(a) = bits }
            };
            let (mut seen, mut taken, mut in_span) = (vec![], vec![], vec![]);
            set();
            (0..CARD_BYTES).for_each(|i| {
                assert_eq!(cards.is_dirty(a.plus(i)), parts.iter().any(|p| p.contains(a.plus(i))), "{bits:b} {i}");
            });
            cards.dirty_in(part(0, 512), |p| seen.push(p));
            // SAFETY: the start of a block is asked for, and the table is local to this test.
            unsafe { cards.take_dirty(r.address_of(BlockIndex(5)), |p| taken.push(p)) };
            set();
            cards.take_dirty_in(part(100, 100), |p| in_span.push(p));
            cards.take_dirty_in(part(100, 400), |p| in_span.push(p));
            let dirty = (0..8).any(|i| cards.is_dirty(a.plus(i * 64)));
            assert_eq!(dirty, in_span.is_empty() && !parts.is_empty(), "{bits:b}");
            assert_eq!((&seen, &taken), (&parts, &parts), "{bits:b}");
            let clipped: Vec<Span> =
                parts.iter().map(|p| p.intersection(part(100, 400))).filter(|p| p.bytes() > 0).collect();
            assert_eq!(in_span, clipped, "{bits:b}");
        }
    }
}
