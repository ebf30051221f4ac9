//! Side tables about the objects of small-object blocks: where they start, and which lines hold live ones.
//!
//! ```text
//!  memory                        ████████▒▒▒▒▒▒▒▒████............    one block: 32 KiB
//!  starts     1 bit per word     1       1       1                   512 bytes
//!  lines      1 byte per line    1 (128 bytes)   1        0          256 bytes
//! ```
//!
//! Between collections the start bits are exactly the objects of the block that were live at the last major collection or
//! were promoted since; while marking they are the mark bits. Lines tell the allocator what is free, after Immix
//! (Blackburn & McKinley 2008); unlike there, an object marks all its lines, so no line is live by implication.

use crate::address::{Address, BLOCK_BYTES};
use crate::region::{Mapping, Region};

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
    bits: *mut u64,
    lines: *mut u8,
    base: Address,
}

impl Marks {
    /// Tables for this region, all clear.
    pub fn new(region: &Region) -> std::io::Result<Marks> {
        let bytes = region.span().bytes();
        let bits = Mapping::reserve(bytes >> (GRANULE_SHIFT + 3))?;
        let lines = Mapping::reserve(bytes >> LINE_SHIFT)?;
        let (b, l) = (bits.base().words(), lines.base().bytes());
        Ok(Marks { _maps: [bits, lines], bits: b, lines: l, base: region.base() })
    }
    #[inline(always)]
    fn bit(&self, a: Address) -> (*mut u64, u64) {
        let granule = a.offset_from(self.base) >> GRANULE_SHIFT;
        // SAFETY: callers pass addresses inside the region.
        (unsafe { self.bits.add((granule >> 6) as usize) }, 1 << (granule & 63))
    }
    /// Records that an object starts at `a`, inside the region. Was it unrecorded?
    #[inline(always)]
    pub fn set(&self, a: Address) -> bool {
        let (word, bit) = self.bit(a);
        // SAFETY: the table is ours, and only the collector writes it, from one thread.
        unsafe {
            let old = *word;
            *word = old | bit;
            old & bit == 0
        }
    }
    /// Does an object start at `a`?
    #[inline(always)]
    pub fn is_set(&self, a: Address) -> bool {
        let (word, bit) = self.bit(a);
        // SAFETY: as for `set`.
        unsafe { *word & bit != 0 }
    }
    /// Marks the line of a pair.
    #[inline(always)]
    pub fn mark_line(&self, a: Address) {
        // SAFETY: as for `set`.
        unsafe { *self.lines.add((a.offset_from(self.base) >> LINE_SHIFT) as usize) = 1 }
    }
    /// Marks the lines of an object.
    #[inline(always)]
    pub fn mark_lines(&self, a: Address, bytes: u64) {
        let first = a.offset_from(self.base);
        let last = (first + bytes - 1) >> LINE_SHIFT;
        let mut line = first >> LINE_SHIFT;
        while line <= last {
            // SAFETY: as for `set`; the object lies in the region.
            unsafe { *self.lines.add(line as usize) = 1 };
            line += 1;
        }
    }
    /// The lines of the block at `start`.
    pub fn lines(&self, start: Address) -> &[u8; LINES_PER_BLOCK] {
        let at = (start.offset_from(self.base) >> LINE_SHIFT) as usize;
        // SAFETY: a block has this many consecutive lines; nobody writes the table while the slice is in use.
        unsafe { &*(self.lines.add(at) as *const [u8; LINES_PER_BLOCK]) }
    }
    /// Forgets everything about the block at `start`.
    pub fn clear(&self, start: Address) {
        let at = (start.offset_from(self.base) >> LINE_SHIFT) as usize;
        let (word, _) = self.bit(start);
        // SAFETY: a block has this many lines and words of bits, from these places on.
        unsafe {
            std::ptr::write_bytes(self.lines.add(at), 0, LINES_PER_BLOCK);
            std::ptr::write_bytes(word, 0, BIT_WORDS);
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
        let r = Region::reserve(28).unwrap();
        let m = Marks::new(&r).unwrap();
        let b = r.base().plus(5 * BLOCK_BYTES);
        assert!(m.set(b.plus(24)) && !m.set(b.plus(24)) && m.set(b.plus(40)));
        assert!(m.is_set(b.plus(24)) && !m.is_set(b) && !m.is_set(b.plus(48)));
        m.mark_lines(b.plus(120), 16); // lines 0 and 1
        m.mark_line(b.plus(128 * 4));
        assert_eq!(m.free_lines(b, 0, 1), Some((2, 4)));
        assert_eq!(m.free_lines(b, 0, 3), Some((5, 256)));
        m.mark_lines(b.plus(BLOCK_BYTES - 256), 256);
        assert_eq!(m.free_lines(b, 4, 1), Some((5, 254)));
        assert_eq!(m.free_lines(b, 254, 1), None);
        m.clear(b);
        assert_eq!(m.free_lines(b, 0, 1), Some((0, 256)));
        assert!(!m.is_set(b.plus(24)));
    }
}
