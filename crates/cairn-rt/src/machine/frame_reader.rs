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
/// `code` is the address of compiled code with a descriptor before it, of which a word is at `offset`.
#[inline]
pub unsafe fn descriptor(code: u64, offset: i64) -> u64 {
    // SAFETY: a descriptor stands before `code` (`# Safety`), and `offset` is that of one of its words.
    unsafe { *((code as i64 + offset) as *const u64) }
}

/// Where that is whose distance from a code address stands at `offset`; 0 if it is nowhere.
///
/// # Safety
/// `code` is the address of compiled code with a descriptor before it, of which a word is at `offset`.
#[inline]
pub unsafe fn described(code: u64, offset: i64) -> u64 {
    // SAFETY: a descriptor stands before `code` (`# Safety`), and `offset` is that of one of its words.
    target(code, unsafe { descriptor(code, offset) })
}

/// The name whose distance stands at `offset`, if there is one.
///
/// # Safety
/// `code` is the address of compiled code with a descriptor before it, of which the word at `offset` is 0 or the
/// distance of a name, a C string.
pub unsafe fn described_name(code: u64, offset: i64) -> Option<String> {
    // SAFETY: the word at `offset` is a name's distance (`# Safety`); the emitter ends names with a NUL.
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
    // SAFETY: `code` is a return point of this shape, and `i` one of its words (`# Safety`): so a map of that kind has
    // bit `i`.
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
/// `sp..base` is a sequence of whole frames, whose live words hold values; nothing else uses them meanwhile.
pub unsafe fn visit_frames<V: RootVisitor>(sp: u64, base: u64, visitor: &mut V) {
    let mut sp = sp;
    while sp < base {
        // SAFETY: `sp < base`, and whole frames begin at `sp` (`# Safety`): a return address, then the words its live
        // map speaks of.
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
/// A whole frame of so many words is at `sp`, which returns to `code`, whose shape has `LONG_MAP`.
#[cold]
#[inline(never)]
unsafe fn visit_long<V: RootVisitor>(code: u64, words: u64, sp: u64, visitor: &mut V) {
    // SAFETY: `code`'s shape has `LONG_MAP` (`# Safety`), so at `LIVE_HIGH` is the distance of a map with a bit for
    // each word.
    unsafe {
        let map = described(code, LIVE_HIGH) as *const u64;
        for i in 0..words.div_ceil(64) {
            visit_bits(*map.add(i as usize), sp + 512 * i, visitor);
        }
    }
}

/// Visits the words from `start` on whose bit is set.
///
/// # Safety
/// Such words belong to a frame and hold values.
#[inline]
unsafe fn visit_bits<V: RootVisitor>(mut bits: u64, start: u64, visitor: &mut V) {
    while bits != 0 {
        let i = bits.trailing_zeros() as u64;
        bits &= bits - 1;
        // SAFETY: the bit says that this word of the frame at `start` is live (`# Safety`), so it holds a value.
        unsafe { visitor.slot((start + 8 * i) as *mut u64) };
    }
}
