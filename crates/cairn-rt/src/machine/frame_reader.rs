//! Reading frames by their descriptors.
//!
//! Everything needed is in the descriptor before each return address (`cairn_layout::code`): the frame's size and which
//! of its words are live values. Nothing else of a frame is looked at, so a dead slot may hold anything.

use cairn_heap::RootVisitor;
use cairn_layout::code::{LIVE_HIGH, LIVE_LOW, SHAPE, flags, shape_words, target};
use std::ffi::CStr;

/// Reads the descriptor word at `offset` from a code address.
///
/// # Safety
/// `code` is the address of compiled code with prefix data.
#[inline]
pub unsafe fn descriptor(code: u64, offset: i64) -> u64 {
    // SAFETY: by the contract of this function.
    unsafe { *((code as i64 + offset) as *const u64) }
}

/// Where that is whose distance from a code address stands at `offset`; 0 if it is nowhere.
///
/// # Safety
/// As of [`descriptor`].
#[inline]
pub unsafe fn described(code: u64, offset: i64) -> u64 {
    // SAFETY: by the contract.
    target(code, unsafe { descriptor(code, offset) })
}

/// The name whose distance stands at `offset`, if there is one.
///
/// # Safety
/// As of [`descriptor`]; a name's distance is there.
pub unsafe fn described_name(code: u64, offset: i64) -> Option<String> {
    // SAFETY: by the contract; a name is a C string.
    unsafe {
        match described(code, offset) {
            0 => None,
            name => Some(CStr::from_ptr(name as *const _).to_string_lossy().into_owned()),
        }
    }
}

/// Does the live map of a return point show word `i` of its frames?
///
/// # Safety
/// `shape` is the shape of `code`, a return point; the word is one of the frame's.
pub unsafe fn is_live(code: u64, shape: u64, i: u64) -> bool {
    // SAFETY: by the contract.
    let map = unsafe {
        match (shape & flags::LONG_MAP != 0, i / 64) {
            (true, n) => *(described(code, LIVE_HIGH) as *const u64).add(n as usize),
            (false, 0) => descriptor(code, LIVE_LOW),
            (false, _) => descriptor(code, LIVE_HIGH),
        }
    };
    map >> (i % 64) & 1 != 0
}

/// Visits the live words of the frames in `sp..base`.
///
/// # Safety
/// `sp..base` is a sequence of whole frames.
pub unsafe fn visit_frames<V: RootVisitor>(sp: u64, base: u64, visitor: &mut V) {
    let mut sp = sp;
    while sp < base {
        // SAFETY: `sp` is the start of a frame: a return address, then the words its live map speaks of.
        unsafe {
            let code = *(sp as *const u64);
            let shape = descriptor(code, SHAPE);
            let words = shape_words(shape);
            if shape & flags::LONG_MAP != 0 {
                visit_long(code, words, sp, visitor);
            } else {
                visit_bits(descriptor(code, LIVE_LOW), sp, visitor);
                if words > 64 {
                    visit_bits(descriptor(code, LIVE_HIGH), sp + 512, visitor);
                }
            }
            sp += 8 * words;
        }
    }
}

/// Visits the live words of a frame of so many words whose map is not in its descriptor.
///
/// # Safety
/// As of [`visit_frames`].
#[cold]
#[inline(never)]
unsafe fn visit_long<V: RootVisitor>(code: u64, words: u64, sp: u64, visitor: &mut V) {
    // SAFETY: by the contract; the map has a bit for each word.
    unsafe {
        let map = described(code, LIVE_HIGH) as *const u64;
        for i in 0..words.div_ceil(64) {
            visit_bits(*map.add(i as usize), sp + 512 * i, visitor);
        }
    }
}

#[inline]
unsafe fn visit_bits<V: RootVisitor>(mut bits: u64, start: u64, visitor: &mut V) {
    while bits != 0 {
        let i = bits.trailing_zeros() as u64;
        bits &= bits - 1;
        // SAFETY: the caller's live map says that this word is a value.
        unsafe { visitor.slot((start + 8 * i) as *mut u64) };
    }
}
