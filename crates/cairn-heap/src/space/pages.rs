//! Pages: memory for objects of all kinds together, in units of a size that is a parameter.
//!
//! A page is filled from both ends. Which words of it are filled is all that is kept beside it, so objects are found by
//! walking from the start. What is too long for a page gets several neighbouring ones, which then count as one page.
//!
//! ```text
//!  page   │ object │ object │ …      lo ··· free ··· hi      … │ object │ object │
//! ```
//!
//! Two tables are indexed by address: a byte that says what a page is in the collection under way, and the number of
//! its entry. Pages smaller than a block are cut from blocks that are theirs alone.

use crate::address::{Address, BLOCK_BYTES, BLOCK_SHIFT, BlockIndex, Span};
use crate::blocks::{BlockPool, Kind, poison};
use crate::region::{Mapping, Region};

/// Number of a page's entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PageId(u32);

/// What a page is in the collection under way. Between collections, all are [`Role::FROM`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Role(pub u8);

impl Role {
    /// No page.
    pub const NONE: Role = Role(0);
    /// From-space: its objects are copied, or the page is promoted.
    pub const FROM: Role = Role(1);
    /// Promoted: to-space, where it is.
    pub const PROMOTED: Role = Role(2);
    /// To-space: filled with copies.
    pub const TO: Role = Role(3);
}

/// A page: where it is and how far it is filled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Page {
    /// The whole page; empty for a free entry.
    pub span: Span,
    /// Objects lie below this address …
    pub lo: Address,
    /// … and from this one up …
    pub hi: Address,
    /// … to this one: the end of the page, or of what was handed out of it.
    pub end: Address,
    /// The objects on it have start bits.
    start_bits: bool,
}

impl Page {
    /// The two filled parts.
    pub fn filled(&self) -> [Span; 2] {
        [Span::new(self.span.start, self.lo), Span::new(self.hi, self.end)]
    }
}

/// See the module's header.
pub struct PageSpace {
    shift: u32,
    base: Address,
    roles: Mapping,
    ids: Mapping,
    pages: Vec<Page>,
    free_ids: Vec<u32>,
    /// Free pages of blocks that are cut up; the last is handed out first.
    free: Vec<Address>,
    /// Blocks that are cut up. Their cold words count the pages in use.
    cut: Vec<BlockIndex>,
    bytes: u64,
}

impl PageSpace {
    /// Pages of this size, a power of two from 512 bytes to a block.
    pub fn new(region: &Region, page_bytes: u64) -> std::io::Result<PageSpace> {
        assert!(
            page_bytes.is_power_of_two() && (512..=BLOCK_BYTES).contains(&page_bytes),
            "pages of {page_bytes} bytes"
        );
        let shift = page_bytes.trailing_zeros();
        let slots = region.span().bytes() >> shift;
        Ok(PageSpace {
            shift,
            base: region.base(),
            roles: Mapping::reserve(slots)?,
            ids: Mapping::reserve(4 * slots)?,
            pages: Vec::new(),
            free_ids: Vec::new(),
            free: Vec::new(),
            cut: Vec::new(),
            bytes: 0,
        })
    }
    /// Bytes of a page.
    pub const fn page_bytes(&self) -> u64 {
        1 << self.shift
    }
    /// log2 of the same.
    pub const fn shift(&self) -> u32 {
        self.shift
    }
    /// The table of roles, for tracing loops: a byte for each page of the region.
    pub const fn roles(&self) -> *const u8 {
        self.roles.base().bytes()
    }
    #[inline(always)]
    fn slot(&self, a: Address) -> usize {
        (a.offset_from(self.base) >> self.shift) as usize
    }
    /// The role of the page around `a`, an address of the region.
    #[inline(always)]
    pub fn role(&self, a: Address) -> Role {
        // SAFETY: `a` is an address of the region, and the table has a byte for each of its pages.
        Role(unsafe { *self.roles().add(self.slot(a)) })
    }
    /// The page around `a`, which is in one.
    pub fn id(&self, a: Address) -> PageId {
        debug_assert!(self.role(a) != Role::NONE);
        // SAFETY: `a` is an address of the region, and the table has four bytes for each of its pages.
        PageId(unsafe { *(self.ids.base().bytes() as *const u32).add(self.slot(a)) })
    }
    /// What is known of a page.
    pub fn page(&self, id: PageId) -> &Page {
        &self.pages[id.0 as usize]
    }
    /// Do the objects on it have start bits?
    pub fn has_start_bits(&self, id: PageId) -> bool {
        self.page(id).start_bits
    }
    /// They have, or they have not.
    pub fn set_start_bits(&mut self, id: PageId, yes: bool) {
        self.pages[id.0 as usize].start_bits = yes;
    }
    /// The pages in use, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = PageId> + '_ {
        (0..self.pages.len() as u32).map(PageId).filter(|id| self.page(*id).span.bytes() > 0)
    }
    /// Bytes of all pages in use.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Bytes of the blocks that they lie in.
    pub fn block_bytes(&self) -> u64 {
        self.bytes + ((self.free.len() as u64) << self.shift)
    }
    /// Gives a page another role.
    pub fn set_role(&mut self, id: PageId, role: Role) {
        let span = self.page(id).span;
        self.fill_roles(span, role);
    }
    fn fill_roles(&mut self, span: Span, role: Role) {
        let n = (span.bytes() >> self.shift) as usize;
        // SAFETY: the span is one of pages of the region, `n` of them, and the table has a byte for each.
        unsafe { std::ptr::write_bytes(self.roles.base().bytes().add(self.slot(span.start)), role.0, n) };
    }
    /// A page has been filled this far.
    pub fn fill(&mut self, id: PageId, lo: Address, hi: Address, end: Address) {
        let p = &mut self.pages[id.0 as usize];
        debug_assert!(p.span.start <= lo && lo <= hi && hi <= end && end <= p.span.end);
        (p.lo, p.hi, p.end) = (lo, hi, end);
    }
    /// An empty page with room for `bytes`: in most cases more than one such object.
    pub fn take(&mut self, pool: &mut BlockPool, bytes: u64, role: Role) -> Option<PageId> {
        let size = bytes.max(1).checked_next_multiple_of(self.page_bytes())?;
        let start = if size > BLOCK_BYTES {
            let blocks = size.div_ceil(BLOCK_BYTES) as u32;
            let b = pool.take_run(blocks, 0)?;
            pool.table.set_run(b, blocks, Kind::Page, Kind::Page, 0);
            pool.table.address_of(b)
        } else if let (true, Some(a)) = (size == self.page_bytes(), self.free.last().copied()) {
            self.free.pop();
            self.count(pool, a, 1);
            a
        } else {
            let (b, _) = pool.take()?;
            pool.table.set(b, Kind::Page, 0);
            let start = pool.table.address_of(b);
            if self.shift < BLOCK_SHIFT {
                pool.table.set_cold(b, (size >> self.shift) as u32);
                self.cut.push(b);
                let mut a = start.plus(BLOCK_BYTES);
                while a > start.plus(size) {
                    a = a.minus(self.page_bytes());
                    self.free.push(a);
                }
            }
            start
        };
        let size = if size > BLOCK_BYTES { size.next_multiple_of(BLOCK_BYTES) } else { size };
        let span = Span::new(start, start.plus(size));
        let page = Page { span, lo: start, hi: span.end, end: span.end, start_bits: false };
        let id = match self.free_ids.pop() {
            Some(id) => {
                self.pages[id as usize] = page;
                id
            }
            None => {
                self.pages.push(page);
                self.pages.len() as u32 - 1
            }
        };
        self.bytes += size;
        self.fill_roles(span, role);
        let (first, n) = (self.slot(start), (size >> self.shift) as usize);
        // SAFETY: the page lies in the region, and the table, which is ours alone, has four bytes for each of its `n`
        // parts.
        unsafe { std::slice::from_raw_parts_mut((self.ids.base().bytes() as *mut u32).add(first), n) }.fill(id);
        Some(PageId(id))
    }
    fn count(&mut self, pool: &mut BlockPool, a: Address, change: i32) {
        let b = pool.table.block_of(a);
        pool.table.set_cold(b, pool.table.cold(b).wrapping_add_signed(change));
    }
    /// The page is free.
    pub fn give(&mut self, pool: &mut BlockPool, id: PageId) {
        let span = self.page(id).span;
        self.fill_roles(span, Role::NONE);
        self.pages[id.0 as usize] = Page::default();
        self.free_ids.push(id.0);
        self.bytes -= span.bytes();
        if span.bytes() > BLOCK_BYTES {
            return pool.give_run(pool.table.block_of(span.start), (span.bytes() / BLOCK_BYTES) as u32);
        }
        if self.shift == BLOCK_SHIFT {
            return pool.give(pool.table.block_of(span.start), false);
        }
        if pool.poisons() {
            poison(span);
        }
        let n = span.bytes() >> self.shift;
        self.free.extend((0..n).rev().map(|i| span.start.plus(i << self.shift)));
        self.count(pool, span.start, -(n as i32));
    }
    /// After a collection: blocks without pages in use go back, and free pages are put into the order of their
    /// addresses.
    pub fn settle(&mut self, pool: &mut BlockPool) {
        self.free.retain(|a| pool.table.cold(pool.table.block_of(*a)) > 0);
        self.free.sort_unstable_by_key(|a| std::cmp::Reverse(*a));
        self.cut.retain(|b| {
            let in_use = pool.table.cold(*b) > 0;
            if !in_use {
                pool.give(*b, false);
            }
            in_use
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_any_size_are_found_again_and_never_overlap() {
        let r = Region::reserve(28, None).unwrap();
        for page_bytes in [512, 2048, 8192, BLOCK_BYTES] {
            let mut pool = BlockPool::new(&r, 1000, false).unwrap();
            let mut s = PageSpace::new(&r, page_bytes).unwrap();
            let mut held: Vec<PageId> = Vec::new();
            for round in 0..20u64 {
                for i in 0..200u64 {
                    let bytes = [1, page_bytes, page_bytes + 1, 5000, 40_000, 300][((i * 5 + round) % 6) as usize];
                    let Some(id) = s.take(&mut pool, bytes, Role::FROM) else { break };
                    let span = s.page(id).span;
                    assert!(span.bytes() >= bytes && span.bytes().is_multiple_of(page_bytes));
                    for other in &held {
                        let o = s.page(*other).span;
                        assert!(o.end <= span.start || span.end <= o.start, "{o:?} and {span:?}");
                    }
                    assert_eq!([s.id(span.start), s.id(span.end.minus(1))], [id, id]);
                    held.push(id);
                }
                assert_eq!(s.iter().count(), held.len());
                assert_eq!(s.block_bytes(), pool.bytes_in_use());
                held.sort_unstable_by_key(|id| id.0 % 7);
                for id in held.split_off(held.len() / 4) {
                    let start = s.page(id).span.start;
                    s.give(&mut pool, id);
                    assert_eq!(s.role(start), Role::NONE);
                }
                s.settle(&mut pool);
            }
            for id in held {
                s.give(&mut pool, id);
            }
            s.settle(&mut pool);
            assert_eq!((pool.in_use(), s.bytes()), (0, 0));
        }
    }
}
