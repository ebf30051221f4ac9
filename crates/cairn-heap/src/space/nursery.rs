//! The nursery: where new objects are born.
//!
//! A fixed address range, handed out in order as extents of whole blocks. The mutator fills an extent from both
//! ends, pairs from `lo` up and everything else from `hi` down, so that one comparison `hi - lo >= bytes`
//! serves both. Being contiguous, youth is a range comparison. A soft limit says when a collection is due; the
//! runtime, which may not collect, can take extents beyond it, up to the end of the range.

use crate::address::{Address, BLOCK_BYTES, BlockIndex, PAIR_BYTES, Span, blocks_for};
use crate::blocks::{BlockTable, Kind, State, poison};
use crate::region::release_pages;
use cairn_layout::machine::Cursors;

/// How far a poisoned nursery wanders before it starts over.
const LAP_BYTES: u64 = 2 << 20;

/// Pages of the nursery go back to the system so many bytes at a time.
const RELEASED_BYTES: u64 = 512 << 10;

/// Bytes of a page of the system.
const PAGE_BYTES: u64 = 4 << 10;

/// An extent and how far it is filled.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The whole extent.
    pub span: Span,
    /// End of the pairs.
    pub lo: Address,
    /// Start of the other objects.
    pub hi: Address,
}

impl Extent {
    /// An extent that is filled up to these cursors.
    pub const fn filled_to(span: Span, at: Cursors) -> Extent {
        Extent { span, lo: Address(at.lo), hi: Address(at.hi) }
    }
    /// How far it is filled.
    pub const fn cursors(&self) -> Cursors {
        Cursors { lo: self.lo.0, hi: self.hi.0 }
    }
}

/// See the module's header.
pub struct Nursery {
    span: Span,
    soft: u64,
    /// Where the extents handed out since the last reset begin.
    base: Address,
    next: Address,
    /// Highest address whose pages may be resident.
    warm: Address,
    /// The most that was used lately: pages up to there stay, though the soft limit may be lower for a while.
    lately: u64,
    current: Span,
    closed: Vec<Extent>,
    exact: bool,
    /// Most bytes of an extent, if no more are asked for.
    most: u64,
    /// What is left out because pinned objects lie there, in order.
    islands: Vec<Span>,
    /// Bytes between `base` and `next` that were left out.
    skipped: u64,
}

impl Nursery {
    /// A nursery over this range. `exact`: extents are just as large as asked for, so that every heap check fails.
    pub fn new(span: Span, soft_bytes: u64, exact: bool) -> Nursery {
        let start = span.start;
        Nursery {
            span,
            soft: soft_bytes,
            base: start,
            next: start,
            warm: start,
            lately: 0,
            current: Span::new(start, start),
            closed: Vec::new(),
            exact,
            most: u64::MAX,
            islands: Vec::new(),
            skipped: 0,
        }
    }
    /// The whole range.
    #[inline(always)]
    pub const fn span(&self) -> Span {
        self.span
    }
    /// Bytes handed out since the last reset.
    #[inline(always)]
    pub const fn used(&self) -> u64 {
        self.next.offset_from(self.base) - self.skipped
    }
    /// Changes the soft limit.
    pub fn set_soft_limit(&mut self, bytes: u64) {
        self.soft = bytes.max(BLOCK_BYTES);
    }
    /// Is there room for `need` more bytes below the soft limit?
    pub const fn has_room(&self, need: u64) -> bool {
        self.used() + blocks_for(need) as u64 * BLOCK_BYTES <= self.soft
    }
    /// From now on no extent is longer than this, unless more is asked for.
    pub fn set_most(&mut self, bytes: u64) {
        self.most = bytes;
    }
    /// The extent being filled.
    pub const fn current(&self) -> Span {
        self.current
    }
    /// The next `need > 0` bytes: up to the end of a block or to the next island, unless the nursery is exact; `None`
    /// when the range is exhausted.
    pub fn take(&mut self, table: &mut BlockTable, need: u64) -> Option<Span> {
        let need = need.checked_next_multiple_of(PAIR_BYTES)?;
        let mut start = self.next;
        let mut shore = self.span.end;
        let ahead = self.islands.partition_point(|i| i.end <= start);
        for island in &self.islands[ahead..] {
            if island.start.0 >= start.0.checked_add(need)? {
                shore = island.start;
                break;
            }
            start = island.end;
        }
        if shore.offset_from(start) < need || shore < start {
            return None;
        }
        let end = start.plus(need);
        let end = if self.exact || self.most <= need {
            end
        } else {
            let most = Address(start.0.saturating_add(self.most) & !(PAIR_BYTES - 1));
            Address(end.0.next_multiple_of(BLOCK_BYTES)).min(shore).min(most)
        };
        self.skipped += start.offset_from(self.next);
        let span = Span::new(start, end);
        self.next = end;
        self.warm = Address(self.warm.0.max(end.0.next_multiple_of(BLOCK_BYTES)));
        let (first, last) = (table.block_of(start), table.block_of(end.minus(1)));
        for b in first.0..=last.0 {
            if !table.state(BlockIndex(b)).is(Kind::Pinned) {
                table.set(BlockIndex(b), Kind::Nursery, State::FROM | State::YOUNG);
            }
        }
        Some(span)
    }
    /// Makes this the extent that the mutator fills.
    pub fn open(&mut self, span: Span) {
        debug_assert!(!self.is_open());
        self.current = span;
    }
    /// Closes the current extent at these cursors. Returns the bytes allocated in it. Idempotent.
    pub fn close(&mut self, at: Cursors) -> u64 {
        let span = self.current;
        if span.bytes() == 0 {
            return 0;
        }
        self.current = Span::new(span.end, span.end);
        self.add_closed(Extent::filled_to(span, at))
    }
    /// Records an extent that was filled apart from the current one. Returns the bytes allocated in it.
    pub fn add_closed(&mut self, x: Extent) -> u64 {
        debug_assert!(x.span.start <= x.lo && x.lo <= x.hi && x.hi <= x.span.end, "bad cursors: {x:?}");
        self.closed.push(x);
        x.span.bytes() - x.hi.offset_from(x.lo)
    }
    /// Leaves the mutator only what is below `end`; returns the current extent from `start` on, whose objects begin at
    /// `hi`.
    pub fn split(&mut self, end: Address, start: Address, hi: Address) -> Extent {
        let rest = Span::new(start, self.current.end);
        self.current.end = end;
        Extent { span: rest, lo: start, hi }
    }
    /// Is there a current extent?
    pub const fn is_open(&self) -> bool {
        self.current.bytes() > 0
    }
    /// Removes the closed extents that do not lie in the range of the nursery.
    pub fn take_closed_elsewhere(&mut self) -> Vec<Extent> {
        let span = self.span;
        self.closed.extract_if(.., |x| !span.contains(x.span.start)).collect()
    }
    /// Bytes of the objects in the closed extents.
    pub fn filled(&self) -> u64 {
        self.closed.iter().map(|x| x.span.bytes() - x.hi.offset_from(x.lo)).sum()
    }
    /// Bytes of the pairs among them.
    pub fn pairs(&self) -> u64 {
        self.closed.iter().map(|x| x.lo.offset_from(x.span.start)).sum()
    }
    /// The closed extents, in no particular order.
    pub fn closed(&self) -> &[Extent] {
        &self.closed
    }
    /// Gives the pages beyond what has been handed out back to the system.
    pub fn trim(&mut self) {
        let keep = Address(self.next.0.next_multiple_of(BLOCK_BYTES));
        outside(&self.islands, Span::new(keep, self.warm.max(keep)), release_whole_pages);
        self.warm = keep;
    }
    /// Empties the nursery: every survivor has left, except those on these islands. Pages that have not
    /// been used for some collections go back to the system.
    ///
    /// When poisoned, it goes on behind what it has used, and comes back only after a while: so a stale reference meets
    /// poison, not the next new object.
    pub fn reset(&mut self, islands: &[Span], poisoned: bool) {
        self.closed.clear();
        self.skipped = 0;
        let former = std::mem::replace(&mut self.islands, islands.to_vec());
        if poisoned {
            for span in former.into_iter().chain([Span::new(self.base, self.next)]) {
                outside(&self.islands, span, poison);
            }
            let next = Address(self.next.0.next_multiple_of(BLOCK_BYTES));
            let far = next.offset_from(self.span.start) > LAP_BYTES;
            self.base = if far { self.span.start } else { next };
            self.next = self.base;
            self.current = Span::new(self.base, self.base);
            return;
        }
        self.lately = (self.next.offset_from(self.span.start)).max(self.lately - self.lately / 32);
        let lately = self.lately.next_multiple_of(RELEASED_BYTES);
        let keep = Address((self.span.start.0 + self.soft.max(lately)).min(self.warm.0));
        outside(&self.islands, Span::new(keep, self.warm), release_whole_pages);
        // Islands further on that are none any more. (To give back all from here to the last of them each time, though
        // it had been given back before, took longer than the rest of the collection.)
        for island in former.into_iter().filter(|i| i.end > keep) {
            let end = Address(island.end.0.next_multiple_of(PAGE_BYTES));
            let pages = Span::new(Address(island.start.0 & !(PAGE_BYTES - 1)).max(keep), end.max(keep));
            outside(&self.islands, pages, release_whole_pages);
        }
        self.warm = keep;
        self.next = self.span.start;
        self.current = Span::new(self.span.start, self.span.start);
    }
}

/// Gives back the pages that lie wholly in a span.
fn release_whole_pages(span: Span) {
    let start = Address(span.start.0.next_multiple_of(PAGE_BYTES));
    let end = Address(span.end.0 & !(PAGE_BYTES - 1));
    if start < end {
        release_pages(Span::new(start, end));
    }
}

/// Calls `f` with each part of a span that lies outside of the islands.
fn outside(islands: &[Span], span: Span, f: impl Fn(Span)) {
    let mut at = span.start;
    for island in islands {
        let part = island.intersection(span);
        if part.bytes() > 0 {
            f(Span::new(at, part.start));
            at = part.end;
        }
    }
    f(Span::new(at, span.end));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::Region;

    #[test]
    fn extents_leave_islands_out_and_used_counts_none_of_them() {
        let region = Region::reserve(28, None).unwrap();
        let mut table = BlockTable::new(&region).unwrap();
        let block = |i: u64| region.base().plus(i * BLOCK_BYTES);
        let mut n = Nursery::new(Span::new(block(0), block(20)), 20 * BLOCK_BYTES, false);
        let islands =
            [Span::new(block(0), block(2)), Span::new(block(3), block(4)), Span::new(block(7), block(8))];
        n.reset(&islands, false);
        let mut take = |need: u64| n.take(&mut table, need * BLOCK_BYTES).map(|s| s.start);
        assert_eq!([take(1), take(1), take(3), take(12)], [Some(block(2)), Some(block(4)), Some(block(8)), None]);
        assert_eq!(take(9), Some(block(11)));
        assert_eq!(n.used(), 14 * BLOCK_BYTES);
        let parts = std::cell::RefCell::new(vec![]);
        outside(&n.islands, Span::new(block(1), block(9)), |s| parts.borrow_mut().push(s));
        let parts = parts.into_inner();
        assert_eq!(parts.iter().map(|s| s.bytes() / BLOCK_BYTES).collect::<Vec<_>>(), [0, 1, 3, 1]);
        assert_eq!(parts[2], Span::new(block(4), block(7)));
    }
    #[test]
    fn what_lies_between_islands_of_one_block_is_used() {
        let region = Region::reserve(28, None).unwrap();
        let mut table = BlockTable::new(&region).unwrap();
        let at = |kib: u64| region.base().plus(kib << 10);
        let mut n = Nursery::new(Span::new(at(0), at(128)), 128 << 10, false);
        table.set(BlockIndex(0), Kind::Pinned, 0);
        n.reset(&[Span::new(at(4), at(5)), Span::new(at(20), at(24)), Span::new(at(30), at(36))], false);
        let mut take =
            |kib: u64| n.take(&mut table, kib << 10).map(|s| ((s.start.0 - at(0).0) >> 10, s.bytes() >> 10));
        assert_eq!(take(1), Some((0, 4)));
        assert_eq!(take(16), Some((36, 28)), "no gap before has room");
        assert_eq!(take(64), Some((64, 64)));
        assert_eq!(take(1), None);
        assert_eq!(n.used(), (4 + 28 + 64) << 10);
        assert!(table.state(BlockIndex(0)).is(Kind::Pinned) && table.state(BlockIndex(1)).is(Kind::Nursery));
    }
    #[test]
    fn what_was_an_island_is_poisoned_like_all_that_was_used() {
        let region = Region::reserve(28, None).unwrap();
        let mut table = BlockTable::new(&region).unwrap();
        let at = |word: u64| region.base().plus(8 * word);
        let mut n = Nursery::new(Span::new(at(0), at(1 << 18)), 64 << 10, false);
        n.take(&mut table, BLOCK_BYTES).unwrap();
        let (first, second) = (Span::new(at(32), at(64)), Span::new(at(512), at(1024)));
        n.reset(&[first, second], true);
        // SAFETY: the words asked for are in the region, whose memory can be read.
        let poisoned = |word: u64| unsafe { at(word).load() } == crate::blocks::POISON;
        assert!([0, 31, 64, 511, 1024, 4095].into_iter().all(poisoned));
        assert!(![32, 63, 512, 1023, 4096].into_iter().any(poisoned));
        n.reset(&[second], true);
        assert!([32, 63].into_iter().all(poisoned) && ![512, 1023].into_iter().any(poisoned));
    }
}
