//! Addresses, references and block indices are different types.
//!
//! [`Address`] is a place in memory, [`ObjectReference`](crate::model::ObjectReference) a word that stands for an
//! object, [`BlockIndex`] the number of a 32 KiB block counted from the base of the region. Mixing them up is the
//! classic collector bug; here it does not compile. All three are plain integers at run time.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// log2 of the block size.
pub const BLOCK_SHIFT: u32 = cairn_layout::machine::BLOCK_SHIFT;
/// Bytes per block.
pub const BLOCK_BYTES: u64 = 1 << BLOCK_SHIFT;
/// Bytes per word.
pub const WORD: u64 = 8;
pub use cairn_layout::object::PAIR_BYTES;

/// A byte address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Address(pub u64);

impl Address {
    /// The address `bytes` above.
    #[inline(always)]
    #[must_use]
    pub const fn plus(self, bytes: u64) -> Address {
        Address(self.0 + bytes)
    }
    /// The address `bytes` below.
    #[inline(always)]
    #[must_use]
    pub const fn minus(self, bytes: u64) -> Address {
        Address(self.0 - bytes)
    }
    /// Distance in bytes from `base`; wraps when below it.
    #[inline(always)]
    pub const fn offset_from(self, base: Address) -> u64 {
        self.0.wrapping_sub(base.0)
    }
    /// This address as a pointer to words.
    #[inline(always)]
    pub const fn words(self) -> *mut u64 {
        self.0 as *mut u64
    }
    /// This address as a pointer to bytes.
    #[inline(always)]
    pub const fn bytes(self) -> *mut u8 {
        self.0 as *mut u8
    }
    /// Reads the word at this address.
    ///
    /// # Safety
    /// The address is 8-aligned and inside mapped memory that nobody else is writing.
    #[inline(always)]
    pub unsafe fn load(self) -> u64 {
        // SAFETY: the address is 8-aligned and inside mapped memory that nobody else is writing (`# Safety`).
        unsafe { *self.words() }
    }
    /// Writes the word at this address.
    ///
    /// # Safety
    /// The address is 8-aligned and inside mapped memory that nobody else uses meanwhile; the word may be overwritten.
    #[inline(always)]
    pub unsafe fn store(self, word: u64) {
        // SAFETY: the address is 8-aligned, inside mapped memory that nobody else uses, and the word may be overwritten
        // (`# Safety`).
        unsafe { *self.words() = word }
    }
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// A half-open range of addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// First byte.
    pub start: Address,
    /// One past the last byte.
    pub end: Address,
}

impl Span {
    /// From `start` to `end`.
    #[inline(always)]
    pub const fn new(start: Address, end: Address) -> Span {
        Span { start, end }
    }
    /// Length in bytes.
    #[inline(always)]
    pub const fn bytes(self) -> u64 {
        self.end.0 - self.start.0
    }
    /// What both spans cover; empty if nothing.
    #[inline]
    #[must_use]
    pub fn intersection(self, other: Span) -> Span {
        let start = self.start.max(other.start);
        Span { start, end: self.end.min(other.end).max(start) }
    }
    /// Is `a` inside?
    #[inline(always)]
    pub const fn contains(self, a: Address) -> bool {
        a.offset_from(self.start) < self.bytes()
    }
}

/// Number of a block, counted from the base of the region.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct BlockIndex(pub u32);

impl BlockIndex {
    /// The block `n` further on.
    #[inline(always)]
    #[must_use]
    pub const fn plus(self, n: u32) -> BlockIndex {
        BlockIndex(self.0 + n)
    }
}

/// Number of blocks that hold `bytes`.
#[inline(always)]
pub const fn blocks_for(bytes: u64) -> u32 {
    bytes.div_ceil(BLOCK_BYTES) as u32
}

/// Copies `n > 1` words between places that do not overlap.
///
/// # Safety
/// `n` words can be read at `from` and written at `to`; the places do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_words(from: *const u64, to: *mut u64, n: u64) {
    type Two = [u64; 2];
    let n = n as usize;
    debug_assert!(n > 1);
    // SAFETY: `n` words can be read at `from` and written at `to` (`# Safety`), and `n > 1`. The first two words and
    // the last two may be the same ones.
    unsafe {
        if n <= 4 {
            let first = (from as *const Two).read_unaligned();
            let last = (from.add(n - 2) as *const Two).read_unaligned();
            (to as *mut Two).write_unaligned(first);
            (to.add(n - 2) as *mut Two).write_unaligned(last);
        } else if n <= 16 {
            let mut i = 0;
            while i < n {
                *to.add(i) = *from.add(i);
                i += 1;
            }
        } else {
            std::ptr::copy_nonoverlapping(from, to, n);
        }
    }
}

/// What is there will soon be looked at. Any address will do.
#[inline(always)]
pub(crate) fn prefetch(at: *const u8) {
    // SAFETY: a prefetch reads nothing as far as the program can tell, and never faults.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at as *const i8)
    };
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Hashes one address, or the word that stands for an object there.
#[derive(Default)]
pub struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("only addresses are hashed")
    }
    fn write_u64(&mut self, n: u64) {
        let h = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = h ^ (h >> 32);
    }
}

/// Something for each of several addresses.
pub type ByAddress<T> = HashMap<u64, T, BuildHasherDefault<AddressHasher>>;
