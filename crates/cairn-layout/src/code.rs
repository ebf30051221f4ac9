//! Descriptors: the words before a code address.
//!
//! Every code address that can appear in a procedure or a frame is preceded by prefix data, so that the
//! collector, `apply`'s errors and the backtrace need nothing but the address.
//!
//! ```text
//!  entry (procedure code)                 return point
//!  -32  name: *const c_char or 0          -48  name of the enclosing procedure: *const c_char
//!  -24  site (packed source position)     -40  site of the call
//!  -16  arity (see below)                 -32  multiple-value entry: code address
//!   -8  shape                             -24  live map, bits 64..128, or pointer to more words
//!    0  code                              -16  live map, bits 0..64
//!                                          -8  shape
//!                                           0  code
//! ```
//!
//! The shape word is the same for both: bits 0..32 size in words (closure: code word and free variables; frame:
//! return address and slots), bits 32..40 [`flags`].
//!
//! Live map: bit `i` is set when word `i` of the frame holds a live value. Word 0, the return address, is never
//! set. Under `chunks`, word `i` is at `sp + 8*i`. Frames of more than 128 words set `flags::LONG_MAP`; then the
//! word at -24 is the address of `ceil(size/64)` map words and -16 is unused. Heap frames are scanned whole.
//!
//! Arity: bits 0..16 minimum argument count, bit 16 rest arguments, bit 17 several clauses (case-lambda).

/// Bytes of prefix data before a return point.
pub const RETURN_PREFIX: u64 = 48;
/// Offset of the shape word.
pub const SHAPE: i64 = -8;
/// Offset of a return point's first live-map word.
pub const LIVE_LOW: i64 = -16;
/// Offset of a return point's second live-map word or pointer to the long map.
pub const LIVE_HIGH: i64 = -24;
/// Offset of a return point's multiple-value entry.
pub const MV_ENTRY: i64 = -32;
/// Offset of a return point's site.
pub const RETURN_SITE: i64 = -40;
/// Offset of a return point's procedure name.
pub const RETURN_NAME: i64 = -48;
/// Offset of an entry's arity.
pub const ARITY: i64 = -16;
/// Offset of an entry's site.
pub const ENTRY_SITE: i64 = -24;
/// Offset of an entry's name.
pub const ENTRY_NAME: i64 = -32;

/// Bits 32..40 of the shape word.
pub mod flags {
    /// Code of a return point (frame), not of a procedure.
    pub const RETURN: u64 = 1 << 32;
    /// The underflow frame at a segment's base: control continues in `Machine::under`.
    pub const UNDERFLOW: u64 = 1 << 33;
    /// The outermost frame of a machine entry: walking stops here.
    pub const HALT: u64 = 1 << 34;
    /// A continuation object: its frames must be traced too.
    pub const CONTINUATION: u64 = 1 << 35;
    /// The live map is in memory.
    pub const LONG_MAP: u64 = 1 << 36;
    /// Library code: hidden in backtraces.
    pub const LIBRARY: u64 = 1 << 37;
}

/// Size in words from a shape word.
#[inline]
pub const fn shape_words(shape: u64) -> u64 {
    shape & 0xFFFF_FFFF
}

/// A packed source position: `file << 40 | start`, both counted from 0; `u64::MAX >> 3` when unknown.
///
/// `file` indexes the module's source table, `start` is a byte offset. As a fixnum-sized integer it can travel
/// in any register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Site(pub u64);

impl Site {
    /// No position known.
    pub const NONE: Site = Site(u64::MAX >> 4);
    /// Packs a file index and a byte offset.
    pub const fn new(file: u32, start: u32) -> Site {
        Site(((file as u64 & 0xF_FFFF) << 40) | start as u64)
    }
    /// The file index, unless unknown.
    pub const fn file(self) -> Option<u32> {
        if self.0 == Site::NONE.0 { None } else { Some((self.0 >> 40) as u32) }
    }
    /// The byte offset.
    pub const fn start(self) -> u32 {
        self.0 as u32
    }
}
