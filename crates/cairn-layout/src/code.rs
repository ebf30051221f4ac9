//! Descriptors: the words before a code address.
//!
//! Every code address that can appear in a procedure or a frame is preceded by prefix data, so that the
//! collector, `apply`'s errors and the backtrace need nothing but the address.
//!
//! ```text
//!  entry (procedure code)                 return point
//!  -32  name: where its C string is       -48  name of the enclosing procedure: where its C string is
//!  -24  site (packed source position)     -40  site of the call
//!  -16  arity (see below)                 -32  multiple-value entry: a code address
//!   -8  shape                             -24  live map, bits 64..128, or where more words are
//!    0  code                              -16  live map, bits 0..64
//!                                          -8  shape
//!                                           0  code
//! ```
//!
//! Where something is, is said by its distance from the code address ([`target`]), so that code may lie anywhere and
//! nobody has to write into it; 0 is nothing. Compiled code reads the multiple-value entry at each return of several
//! values. It is an address where addresses are known when the code is made, and a distance, too, in code that may lie
//! anywhere, whose return points have the flag `ANYWHERE`: an addition that only shared libraries pay for.
//!
//! A body, which only known calls and jumps enter, has a prefix for the profiler alone, which looks backwards from an
//! instruction for the function around it: name and site as before an entry, 0, and [`BODY_SHAPE`]. (A prefix is whole
//! units of 16 bytes, for its beginning is what LLVM aligns.)
//! Code that is no procedure's has one with a name of 0.
//!
//! The shape word is the same for both: bits 0..32 size in words (closure: code word and free variables; frame:
//! return address and slots), bits 32..40 [`flags`].
//!
//! Live map: bit `i` is set when word `i` of the frame holds a live value. Word 0, the return address, is never
//! set. Under `chunks`, word `i` is at `sp + 8*i`. Frames of more than 128 words set `flags::LONG_MAP`; then the
//! word at -24 says where `ceil(size/64)` map words are and -16 is unused. Heap frames are scanned whole.
//!
//! Arity ([`count_word`]): bits 0..16 minimum argument count, bit 16 rest arguments, bit 17 several clauses
//! (case-lambda). With several clauses, bits 0..16 are those of the clause with rest arguments, and bit 32 + n is set
//! when n arguments are accepted. A count too large for bits 0..16 leaves all ones there and stands in bits 32..64 (of
//! one clause).

use crate::limits::SHORT_COUNT;

/// Bytes of prefix data before a return point.
pub const RETURN_PREFIX: u64 = 48;
/// Offset of the shape word.
pub const SHAPE: i64 = -8;
/// Offset of a return point's first live-map word.
pub const LIVE_LOW: i64 = -16;
/// Offset of a return point's second live-map word, or of the distance of the long map.
pub const LIVE_HIGH: i64 = -24;
/// Offset of a return point's multiple-value entry.
pub const MV_ENTRY: i64 = -32;
/// Offset of a return point's site.
pub const RETURN_SITE: i64 = -40;
/// Offset of the distance of a return point's procedure name.
pub const RETURN_NAME: i64 = -48;
/// Offset of an entry's arity.
pub const ARITY: i64 = -16;
/// Offset of an entry's site.
pub const ENTRY_SITE: i64 = -24;
/// Offset of the distance of an entry's name.
pub const ENTRY_NAME: i64 = -32;

/// The shape word of a body: no closure and no frame has one like it.
pub const BODY_SHAPE: u64 = flags::BODY | 0xCA1B_0D1E;

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
    /// Code of a body: [`BODY_SHAPE`](super::BODY_SHAPE), and perhaps `LIBRARY`.
    pub const BODY: u64 = 1 << 38;
    /// A return point of code that may lie anywhere: its multiple-value entry is a distance.
    pub const ANYWHERE: u64 = 1 << 39;
    /// All flags of a return point.
    pub const OF_RETURNS: u64 = RETURN | UNDERFLOW | HALT | LONG_MAP | LIBRARY | ANYWHERE;
}

/// Where something is, at this distance from a code address; 0 if it is nowhere.
#[inline]
pub const fn target(code: u64, distance: u64) -> u64 {
    if distance == 0 { 0 } else { code.wrapping_add(distance) }
}

/// The multiple-value entry of a return point with this shape, by the word at [`MV_ENTRY`].
pub const fn mv_entry(code: u64, shape: u64, word: u64) -> u64 {
    if shape & flags::ANYWHERE == 0 { word } else { target(code, word) }
}

/// A count of arguments or values, and whether more are accepted.
pub const fn count_word(required: u64, more: bool) -> u64 {
    let count = if required < SHORT_COUNT { required } else { SHORT_COUNT | required << 32 };
    count | (more as u64) << 16
}

/// The count in a [`count_word`]; of several clauses, that of the one with rest arguments.
pub const fn least_count(word: u64) -> u64 {
    let short = word & SHORT_COUNT;
    if short == SHORT_COUNT && word & SEVERAL == 0 { word >> 32 } else { short }
}

/// Bit of an arity word: several clauses.
pub const SEVERAL: u64 = 1 << 17;
/// Bit of `values-mismatch`'s first operand: the values are arguments of the procedure that the site names.
pub const OF_PROCEDURE: u64 = 1 << 17;

/// The first operand of `values-mismatch`: the [`count_word`] of the values expected at `site`, and [`OF_PROCEDURE`].
pub fn expected_values(required: usize, rest: bool, site: Site) -> i64 {
    let what = if site.who().is_some() { OF_PROCEDURE } else { 0 };
    (count_word(required as u64, rest) | what) as i64
}

/// Size in words from a shape word.
#[inline]
pub const fn shape_words(shape: u64) -> u64 {
    shape & 0xFFFF_FFFF
}

/// What a call through `Machine::slow_stub` does: the runtime call of an operation whose fast path gave up. The stub
/// raises if it fails, and collects afterwards if a collection is due: so compiled code has one call instead of two
/// calls, two tests and a jump.
#[repr(C)]
pub struct SlowCall {
    /// Byte offset in `Machine` of the pointer to the runtime call.
    pub call: u64,
    /// Where to go when it fails, with this descriptor in the count register: `@cairn_failed` of the module.
    pub failed: u64,
    /// The throw's descriptor.
    pub throw: u64,
    /// Words of the frame to leave before raising.
    pub leave: u64,
    /// [`SlowCall::NO_POLL`], [`SlowCall::POLL`] or [`SlowCall::POLL_FRAME_VALUE`].
    pub poll: u64,
    /// Bytes that a collection leaves at least; with less than [`SlowCall::SPARE`] beyond them one is due.
    pub room: u64,
}

impl SlowCall {
    /// Never collects.
    pub const NO_POLL: u64 = 0;
    /// Collects when the nursery has too little room: the live values are in
    /// `Machine::spill[0..spilled]`; there is room for two more, the result and `sp`. The new `sp` is what the runtime
    /// says.
    pub const POLL: u64 = 1;
    /// Like [`SlowCall::POLL`], but `sp` is a value, which moves like others.
    pub const POLL_FRAME_VALUE: u64 = 2;
    /// See [`SlowCall::room`].
    pub const SPARE: u64 = 16;
}

/// A packed source position, and the name that errors there give:
///
/// ```text
///  59        46 45        32   31   30            0
/// |    file    |    who     | tail |     start     |
/// ```
///
/// `file` indexes the module's source table (all ones: no position), `start` is a byte offset. `who` says which
/// procedure an error names: 0 the operation itself, else one more than an index into the program's table of
/// procedure names. `tail` marks calls that were written in tail position. File number 0x3FFE stands for a position in
/// an inlined body: `start` then indexes a table that says where the body was inlined (in Core and Frame IR
/// `Program::inlined`, at run time `ModuleTable::inlined`, which has a row for every check that may fail, too, with the
/// name of its procedure). As a fixnum-sized integer a site can travel in any register.
///
/// All of this is relative to one module. In a running program, a site that has left its module's tables (in a
/// condition, in a backtrace) has the module's number instead of `who`, whose work is done by then.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Site(pub u64);

impl Site {
    const FIELD: u64 = 0x3FFF;
    const INLINED: u64 = 0x3FFE;
    const TAIL: u64 = 1 << 31;
    const START: u32 = 0x7FFF_FFFF;
    const WHO_SHIFT: u32 = 32;
    const FILE_SHIFT: u32 = 46;
    /// No position known.
    pub const NONE: Site = Site(Site::FIELD << Site::FILE_SHIFT);
    /// Packs a file index and a byte offset.
    pub const fn new(file: u32, start: u32) -> Site {
        if file as u64 >= Site::INLINED {
            Site::NONE
        } else {
            Site((file as u64) << Site::FILE_SHIFT | (start & Site::START) as u64)
        }
    }
    /// Row `row` of the table of inlined positions.
    pub const fn inlined(row: u32) -> Site {
        Site(Site::INLINED << Site::FILE_SHIFT | (row & Site::START) as u64)
    }
    /// The file index, unless unknown or inlined.
    pub const fn file(self) -> Option<u32> {
        if self.kind() >= Site::INLINED { None } else { Some(self.kind() as u32) }
    }
    /// Is there a position?
    pub const fn is_known(self) -> bool {
        self.kind() < Site::FIELD
    }
    /// The row in the table of inlined positions, if it is one.
    pub const fn row(self) -> Option<u32> {
        if self.kind() == Site::INLINED { Some(self.start()) } else { None }
    }
    /// The position of a call in tail position.
    pub const fn tail(self) -> Site {
        if self.is_known() { Site(self.0 | Site::TAIL) } else { self }
    }
    /// Was it written in tail position? Then its procedure has no frame any more when the callee runs.
    pub const fn is_tail(self) -> bool {
        self.0 & Site::TAIL != 0
    }
    /// Without the mark of tail calls.
    pub const fn plain(self) -> Site {
        Site(self.0 & !Site::TAIL)
    }
    /// Modules that a site can tell apart.
    pub const MODULES: u32 = Site::FIELD as u32 + 1;
    /// This position, in the tables of the module with this number; nothing known remains so.
    pub const fn in_module(self, module: u32) -> Site {
        assert!(module < Site::MODULES);
        if !self.is_known() {
            return Site::NONE;
        }
        Site(self.0 & !(Site::FIELD << Site::WHO_SHIFT) | (module as u64) << Site::WHO_SHIFT)
    }
    /// The module's number.
    pub const fn module(self) -> u32 {
        (self.0 >> Site::WHO_SHIFT & Site::FIELD) as u32
    }
    /// What makes a site without a name one of this module, when it is added.
    pub const fn base(module: u32) -> u64 {
        (module as u64) << Site::WHO_SHIFT
    }
    const fn kind(self) -> u64 {
        self.0 >> Site::FILE_SHIFT
    }
    /// The byte offset.
    pub const fn start(self) -> u32 {
        self.0 as u32 & Site::START
    }
    /// Index of the name that errors give, unless it is that of the operation.
    pub const fn who(self) -> Option<usize> {
        match self.0 >> Site::WHO_SHIFT & Site::FIELD {
            0 => None,
            n => Some(n as usize - 1),
        }
    }
    /// This position with the name of index `who`; names beyond the room for them are left out.
    pub const fn with_who(self, who: Option<usize>) -> Site {
        let who = match who {
            Some(i) if (i as u64) < Site::FIELD => i as u64 + 1,
            _ => 0,
        };
        Site(self.0 & !(Site::FIELD << Site::WHO_SHIFT) | who << Site::WHO_SHIFT)
    }
    /// The position of `place`, if it has one, under the name of this one.
    pub const fn moved_to(self, place: Site) -> Site {
        if !place.is_known() { self } else { place.with_who(self.who()) }
    }
}

/// `{file:start}`, `{file:start:who}`, `{:who}` without position; nothing when nothing is known.
impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.file(), self.who()) {
            (Some(file), None) => write!(f, "{{{file}:{}}}", self.start()),
            (Some(file), Some(who)) => write!(f, "{{{file}:{}:{who}}}", self.start()),
            (None, Some(who)) => write!(f, "{{:{who}}}"),
            (None, None) => Ok(()),
        }
    }
}

impl std::str::FromStr for Site {
    type Err = String;

    /// What [`Display`](std::fmt::Display) prints, without the braces.
    fn from_str(text: &str) -> Result<Site, String> {
        let number = |s: &str| s.parse::<u32>().map_err(|_| format!("`{text}` is not a position"));
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            ["", who] => Ok(Site::NONE.with_who(Some(number(who)? as usize))),
            [file, start] => Ok(Site::new(number(file)?, number(start)?)),
            [file, start, who] => {
                Ok(Site::new(number(file)?, number(start)?).with_who(Some(number(who)? as usize)))
            }
            _ => Err(format!("`{text}` is not a position")),
        }
    }
}

/// Where an unknown call stands: the upper half of its `argc`.
///
/// A call that is returned to has a frame, whose return point knows the position. A tail call leaves nothing behind, so
/// that a procedure which finds a wrong count could not say who called it. A constant in the half of the register that
/// counts leave free costs no instruction.
pub mod tail_call {
    /// It is no tail call: the youngest frame is the caller's.
    pub const NONE: u32 = 0;
    /// A tail call without a position.
    pub const SOMEWHERE: u32 = 1;

    /// A tail call at a byte of a source, and at the calls that this was inlined at: a hash, for modules do not know
    /// each other's numbers. Whoever wants the position looks for a row of the tables that has the same one.
    pub fn at<'a>(places: impl Iterator<Item = (&'a [u8], u32)>) -> u32 {
        let bytes = places.flat_map(|(path, start)| path.iter().copied().chain(start.to_le_bytes()));
        let hash = bytes.fold(0x811C_9DC5, |h: u32, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
        // the last bytes have not reached all bits
        let mixed = (hash ^ hash >> 15).wrapping_mul(0x2C1B_3C6D);
        (mixed ^ mixed >> 13).max(SOMEWHERE + 1)
    }

    /// `argc` of a tail call with so many arguments.
    pub const fn count(arguments: u32, call: u32) -> i64 {
        (arguments as u64 | (call as u64) << 32) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_calls_are_told_apart_and_leave_the_count() {
        let calls: std::collections::BTreeSet<u32> =
            (0..200_000).map(|i| tail_call::at([(&b"lib/a.scm"[..], i / 2), (b"b.scm", i)].into_iter())).collect();
        assert!(calls.len() > 199_980, "{}", calls.len());
        assert!(calls.first() > Some(&tail_call::SOMEWHERE));
        assert_eq!(tail_call::count(7, u32::MAX) as u32, 7);
        assert_eq!(tail_call::count(7, tail_call::NONE), 7);
    }

    #[test]
    fn sites_keep_their_parts() {
        for (file, start, who) in [(0, 0, None), (3, u32::MAX >> 1, Some(0)), (0x3FFD, 7, Some(0x3FFE))] {
            let s = Site::new(file, start).with_who(who);
            assert_eq!((s.file(), s.start(), s.who()), (Some(file), start, who));
            assert_eq!(s.to_string().trim_matches(['{', '}']).parse(), Ok(s));
        }
        let unplaced = Site::NONE.with_who(Some(5));
        assert_eq!((unplaced.file(), unplaced.who(), &*unplaced.to_string()), (None, Some(5), "{:5}"));
        assert_eq!(":5".parse(), Ok(unplaced));
        assert_eq!(Site::NONE.to_string(), "");
        assert_eq!(Site::new(0x3FFE, 1), Site::NONE);
        let row = Site::inlined(9).with_who(Some(1)).tail();
        assert_eq!((row.row(), row.file(), row.who(), row.is_tail()), (Some(9), None, Some(1), true));
        assert_eq!(row.plain(), Site::inlined(9).with_who(Some(1)));
        assert_eq!((Site::NONE.tail(), Site::NONE.row(), Site::NONE.is_known()), (Site::NONE, None, false));
        assert_eq!(Site::NONE.with_who(Some(0x3FFF)), Site::NONE);
        for module in [0, 1, Site::MODULES - 1] {
            let there = row.in_module(module);
            assert_eq!((there.module(), there.row(), there.is_tail()), (module, Some(9), true));
            let plain = Site::new(3, 7);
            assert_eq!(plain.in_module(module), Site(plain.0 + Site::base(module)));
            assert_eq!(Site::NONE.with_who(Some(5)).in_module(module), Site::NONE);
        }
        assert!("1:x".parse::<Site>().is_err() && "1".parse::<Site>().is_err());
    }

    #[test]
    fn distances_go_both_ways() {
        let code = 0x7F00_0000_1000;
        assert_eq!((target(code, 0x20), target(code, -0x20i64 as u64)), (code + 0x20, code - 0x20));
        assert_eq!(target(code, 0), 0);
        let anywhere = 4 | flags::RETURN | flags::ANYWHERE;
        assert_eq!(mv_entry(code, anywhere, -0x40i64 as u64), code - 0x40);
        assert_eq!(mv_entry(code, 4 | flags::RETURN, 0x4000), 0x4000);
    }

    #[test]
    fn counts_of_any_size() {
        for count in [0, 1, 5, SHORT_COUNT - 1, SHORT_COUNT, SHORT_COUNT + 1, 70_000, 1 << 24] {
            for more in [false, true] {
                let word = count_word(count, more);
                assert_eq!((least_count(word), word >> 16 & 1, word & SEVERAL), (count, more as u64, 0));
            }
        }
        assert_eq!(least_count(count_word(7, true) | SEVERAL | 1 << 34), 7);
        let named = Site::NONE.with_who(Some(0));
        assert_eq!(expected_values(70_000, false, named) as u64, count_word(70_000, false) | OF_PROCEDURE);
    }

    #[test]
    fn moved_sites_keep_their_name() {
        let (a, b) = (Site::new(1, 2).with_who(Some(3)), Site::new(4, 5));
        assert_eq!(a.moved_to(b), b.with_who(Some(3)));
        assert_eq!(b.moved_to(a), a.with_who(None));
        assert_eq!(a.moved_to(Site::NONE), a);
        assert_eq!(Site::NONE.with_who(Some(9)).moved_to(b), b.with_who(Some(9)));
    }
}
