//! Heap objects.
//!
//! Pairs have no header: two words, car and cdr, at `address` and `address + 8`. Procedures begin with a code
//! address whose descriptor (see [`crate::code`]) gives their size. Every other object begins with a header:
//!
//! ```text
//!  63                      16 15     8 7    3 2 0
//! ┌──────────────────────────┬────────┬──────┬─────┐
//! │ length                   │ flags  │ type │ 010 │
//! └──────────────────────────┴────────┴──────┴─────┘
//! ```
//!
//! Records have another header, which says which type of record it is (see [`record`]).
//!
//! Types from 16 up are *leaves*: their payload holds no values, they live in leaf blocks once promoted, and the
//! collector never looks inside. The length counts words for scannable objects, and for leaves bytes
//! (bytevector, numeric vector), characters (string, 4 bytes each), 64-bit limbs (bignum) or words (flonum).
//! Every object occupies a multiple of 8 bytes and at least 16 bytes (room for a header and one word).

/// Type codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Type {
    /// `length` values.
    Vector = 0,
    /// `length` fields, values; the header is a type word, see [`record`].
    Record = 1,
    /// Name (string), hash (fixnum).
    Symbol = 2,
    /// One value; made by assignment conversion.
    Box = 3,
    /// Numerator, denominator: exact integers, lowest terms, denominator > 1.
    Ratnum = 4,
    /// Real part, imaginary part: real numbers.
    Compnum = 5,
    /// A port; see [`port`].
    Port = 6,
    /// Promise: one value, a box shared by chained promises (see lib/scheme/lazy).
    Promise = 7,
    /// Parameter state and other library objects that must not look like records: `length` values.
    Opaque = 8,
    /// Characters, 4 bytes each.
    String = 16,
    /// Bytes.
    Bytevector = 17,
    /// Magnitude limbs, least significant first, no leading zero limb; flag bit 0 is the sign.
    Bignum = 18,
    /// A double whose exponent does not allow self-tagging.
    Flonum = 19,
    /// Weak words, as the header's flags say: one of `cairn_heap::WeakKind`.
    Weak = 20,
    /// Record without values among its fields: `length` words of numbers as they are; see [`record`].
    RawRecord = 21,
    /// Numbers of one kind, side by side, `length` bytes; see [`numeric`].
    NumericVector = 22,
}

/// What is being allocated, as far as the heap has to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum AllocKind {
    /// Two words without header.
    Pair = 0,
    /// Closure, continuation or frame in the heap: begins with a code address.
    Procedure = 1,
    /// Object with a header whose words are values.
    Scannable = 2,
    /// Object with a header whose payload holds no values.
    Leaf = 3,
}

impl AllocKind {
    /// All kinds, by their numbers.
    pub const ALL: [AllocKind; 4] = [AllocKind::Pair, AllocKind::Procedure, AllocKind::Scannable, AllocKind::Leaf];
}

/// First leaf type code.
pub const FIRST_LEAF: u8 = 16;
/// Flag of a negative bignum.
pub const FLAG_NEGATIVE: u8 = 1;
/// Flag of literal (immutable) strings and vectors.
pub const FLAG_LITERAL: u8 = 2;
/// Flag of vectors and bytevectors in which elements of structure vectors lie: they never move.
pub const FLAG_STILL: u8 = 4;
/// The flags that vectors, strings and bytevectors may have.
pub const SEQUENCE_FLAGS: u8 = FLAG_LITERAL | FLAG_STILL;
/// Is this the header of a storage of structure vectors?
pub const fn header_is_still(h: u64) -> bool {
    let t = header_type_code(h);
    (t == Type::Vector as u8 || t == Type::Bytevector as u8) && h >> FLAGS_SHIFT & FLAG_STILL as u64 != 0
}
/// Where the length starts in a header.
pub const LENGTH_SHIFT: u32 = 16;
/// Where the flags start in a header.
pub const FLAGS_SHIFT: u32 = 8;

/// The low byte of headers of this type: what compiled code compares.
#[inline]
pub const fn type_byte(t: Type) -> u8 {
    ((t as u8) << 3) | 2
}
/// A header word; for records, that of a type without number.
#[inline]
pub const fn header(t: Type, flags: u8, length: u64) -> u64 {
    let sequence = matches!(t, Type::Vector | Type::String | Type::Bytevector);
    debug_assert!(!sequence || flags & !SEQUENCE_FLAGS == 0);
    (length << length_shift(type_byte(t) as u64)) | ((flags as u64) << FLAGS_SHIFT) | type_byte(t) as u64
}
/// The type code of a header.
#[inline]
pub const fn header_type_code(h: u64) -> u8 {
    ((h >> 3) & 31) as u8
}
/// Is this the header of a leaf?
#[inline]
pub const fn header_is_leaf(h: u64) -> bool {
    header_type_code(h) >= FIRST_LEAF
}
/// The length of a header.
#[inline]
pub const fn header_length(h: u64) -> u64 {
    h >> length_shift(h)
}
/// Where the length starts in this header.
#[inline]
pub const fn length_shift(h: u64) -> u32 {
    const RECORDS: u32 = 1 << Type::Record as u32 | 1 << Type::RawRecord as u32;
    LENGTH_SHIFT + (RECORDS >> header_type_code(h) & 1) * (record::LENGTH_SHIFT - LENGTH_SHIFT)
}
/// The flags of a header.
#[inline]
pub const fn header_flags(h: u64) -> u8 {
    (h >> FLAGS_SHIFT) as u8
}
/// Whole size in bytes, header included, of the object with this header.
#[inline]
pub const fn object_bytes(h: u64) -> u64 {
    let n = header_length(h);
    let payload = match header_type_code(h) {
        16 => n * 4,
        17 | 22 => n,
        _ => n * 8,
    };
    headed_bytes(payload.div_ceil(8) as usize)
}

/// Whole size in bytes of an object of one header or code word and `n` words more.
#[inline]
pub const fn headed_bytes(n: usize) -> u64 {
    let n = n as u64;
    8 + 8 * if n == 0 { 1 } else { n }
}

/// Headers of records.
///
/// ```text
///  63 62 61       40  39  38 35 34   31 30                      8 7    3 2 0
/// ┌─────┬───────────┬────┬─────┬───────┬─────────────────────────┬──────┬─────┐
/// │ 0 0 │ length    │ E  │ 0   │ depth │ number of type, from 1  │ type │ 010 │
/// └─────┴───────────┴────┴─────┴───────┴─────────────────────────┴──────┴─────┘
/// ```
///
/// All records of a type have the same header, and that word, the *type word*, stands for the type in programs: it is
/// what a variable defined by `define-record-type` holds. So a type test is one comparison, and a record has no word
/// for its type. `E`: the type extends another one, whose operations must accept its records too; the depth is the
/// number of its ancestors, or [`record::DEPTH_MAX`] if there are more. A type word is not `#t`, whose low byte it has,
/// since no type has number 0.
pub mod record {
    use super::{Type, type_byte};
    use crate::Value;

    /// Where the number starts.
    pub const NUMBER_SHIFT: u32 = 8;
    /// Bits of the number.
    pub const NUMBER_BITS: u32 = 23;
    /// Where the number of ancestors starts.
    pub const DEPTH_SHIFT: u32 = NUMBER_SHIFT + NUMBER_BITS;
    /// The greatest number of ancestors that a type word can say.
    pub const DEPTH_MAX: u64 = 15;
    /// Set in type words of types that extend another one.
    pub const EXTENDS: u64 = 1 << 39;
    /// Where the length starts.
    pub const LENGTH_SHIFT: u32 = 40;
    /// The length of the longest record: two bits above it belong to collectors.
    pub const LENGTH_MAX: u64 = (1 << 22) - 1;

    /// The type word of type `number` with `ancestors` ancestors and records of `length` words.
    pub const fn type_word(raw: bool, ancestors: u64, number: u32, length: u64) -> u64 {
        let t = if raw { Type::RawRecord } else { Type::Record };
        let depth = if ancestors < DEPTH_MAX { ancestors } else { DEPTH_MAX };
        type_byte(t) as u64
            | (number as u64) << NUMBER_SHIFT
            | depth << DEPTH_SHIFT
            | if ancestors > 0 { EXTENDS } else { 0 }
            | length << LENGTH_SHIFT
    }
    /// Where compiled code finds out whether a record's type extends another one: a *display* (Cohen 1991) for each
    /// type number that fits. An entry is a type word and those of its ancestors, the oldest first, so that the place
    /// of the one asked for is said by that one's depth. An entry whose word is not the one looked for says nothing;
    /// types with as many ancestors as a type word can say, or more, have none.
    pub mod ancestry {
        /// Entries of the table.
        pub const ENTRIES: u64 = 1 << 16;
        /// log2 of the bytes of an entry.
        pub const ENTRY_SHIFT: u32 = 7;
        /// Bytes from the start of an entry to the type's word.
        pub const WORD: i64 = 0;
        /// Bytes from the start of an entry to the word of its oldest ancestor.
        pub const ANCESTORS: i64 = 8;
    }
    /// Is this a type word?
    #[inline]
    pub const fn is_type_word(w: u64) -> bool {
        let byte = w as u8;
        compact::is_type(w)
            || (byte == type_byte(Type::Record) || byte == type_byte(Type::RawRecord)) && w != Value::TRUE.0
    }
    /// The number of a type word.
    #[inline]
    pub const fn number(w: u64) -> u32 {
        if compact::is_type(w) {
            return compact::type_number(w);
        }
        (w >> NUMBER_SHIFT) as u32 & ((1 << NUMBER_BITS) - 1)
    }

    /// What a field may hold.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
    #[repr(u8)]
    #[allow(missing_docs)]
    pub enum FieldKind {
        /// Any value.
        Any = 0,
        F64,
        F32,
        I8,
        I16,
        I32,
        I64,
        U8,
        U16,
        U32,
        U64,
        Char,
        Bool,
        /// A record of some type, or `#f`; whoever stores checks it.
        Ref,
    }

    impl FieldKind {
        /// All, by number, with their names in programs.
        pub const ALL: [(FieldKind, &'static str); 14] = [
            (FieldKind::Any, "any"),
            (FieldKind::F64, "f64"),
            (FieldKind::F32, "f32"),
            (FieldKind::I8, "i8"),
            (FieldKind::I16, "i16"),
            (FieldKind::I32, "i32"),
            (FieldKind::I64, "i64"),
            (FieldKind::U8, "u8"),
            (FieldKind::U16, "u16"),
            (FieldKind::U32, "u32"),
            (FieldKind::U64, "u64"),
            (FieldKind::Char, "char"),
            (FieldKind::Bool, "bool"),
            (FieldKind::Ref, "ref"),
        ];
        /// The kind of this name.
        pub fn by_name(name: &str) -> Option<FieldKind> {
            Self::ALL.iter().find(|(_, n)| *n == name).map(|(k, _)| *k)
        }
        /// Its name.
        pub const fn name(self) -> &'static str {
            Self::ALL[self as usize].1
        }
        /// Bytes in a raw record; `None` for values that the collector must see.
        pub const fn raw_bytes(self) -> Option<u64> {
            use FieldKind::*;
            Some(match self {
                Any | Ref => return None,
                F64 | I64 | U64 => 8,
                F32 | I32 | U32 | Char => 4,
                I16 | U16 => 2,
                I8 | U8 | Bool => 1,
            })
        }
        /// Least and greatest integer that a field of this kind holds, if it holds integers.
        pub const fn integers(self) -> Option<(i128, i128)> {
            use FieldKind::*;
            Some(match self {
                I8 => (-1 << 7, (1 << 7) - 1),
                I16 => (-1 << 15, (1 << 15) - 1),
                I32 => (-1 << 31, (1 << 31) - 1),
                I64 => (-1 << 63, (1 << 63) - 1),
                U8 => (0, (1 << 8) - 1),
                U16 => (0, (1 << 16) - 1),
                U32 => (0, (1 << 32) - 1),
                U64 => (0, (1 << 64) - 1),
                _ => return None,
            })
        }
        /// What it holds, with an article, as errors say it.
        pub const fn expected(self) -> &'static str {
            use FieldKind::*;
            match self {
                Any => "value",
                F64 | F32 => "flonum",
                I8 => "integer from -128 to 127",
                I16 => "integer from -32768 to 32767",
                I32 => "integer from -2147483648 to 2147483647",
                I64 => "integer of 64 bits",
                U8 => "integer from 0 to 255",
                U16 => "integer from 0 to 65535",
                U32 => "integer from 0 to 4294967295",
                U64 => "natural number of 64 bits",
                Char => "character",
                Bool => "boolean",
                Ref => "record",
            }
        }
    }

    /// Where a field is and what it may hold; operations have it as a fixnum, [`Slot::code`], which for a field of
    /// any value is its number from 0.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
    pub struct Slot {
        /// What it may hold.
        pub kind: FieldKind,
        /// In a raw record: the number as it is, `at` bytes behind the header; of a field of any kind a value that is
        /// no reference. In a compact record: as it is, `at` bytes behind the record's start. Else a value, word `at`
        /// behind the header.
        pub raw: bool,
        /// Where.
        pub at: u32,
        /// In a compact record.
        pub compact: Option<compact::Place>,
    }

    impl Slot {
        /// A field of a record that is not compact.
        pub const fn new(kind: FieldKind, raw: bool, at: u32) -> Slot {
            Slot { kind, raw, at, compact: None }
        }
        /// This slot as a fixnum.
        pub const fn code(self) -> i64 {
            let code = self.at as i64 | (self.kind as i64) << 32 | (self.raw as i64) << 40;
            match self.compact {
                None => code,
                Some(p) => {
                    code | (p.index as i64) << 16
                        | (p.own as i64) << 31
                        | (p.stride as i64) << 41
                        | (p.widths as i64) << 53
                }
            }
        }
        /// From a fixnum.
        pub const fn of(code: i64) -> Slot {
            let kind = (code >> 32) as u8 as usize;
            let kind = if kind < FieldKind::ALL.len() { FieldKind::ALL[kind].0 } else { FieldKind::Any };
            let raw = code >> 40 & 1 != 0;
            let stride = (code >> 41) as u16 & 0xFFF;
            if stride == 0 {
                return Slot::new(kind, raw, code as u32);
            }
            let place = compact::Place {
                index: (code >> 16) as u8,
                own: code >> 31 & 1 != 0,
                stride,
                widths: match code >> 53 & 3 {
                    1 => compact::Widths::From8,
                    2 => compact::Widths::From16,
                    _ => compact::Widths::Only32,
                },
            };
            Slot { kind, raw, at: code as u16 as u32, compact: Some(place) }
        }
        /// The field of a compact type where its records are plain ones, because the collector knows no others.
        pub const fn plain(self) -> Slot {
            match self.compact {
                Some(p) => Slot::new(self.kind, false, p.index as u32),
                None => self,
            }
        }
    }

    /// Compact records: fields as narrow as their kinds, references of 32 bits or less, no header.
    ///
    /// The records of a type lie side by side in a *pool*, one for each heap, and are numbered from 1. A reference is
    /// a word that says type and number, so it stays the same wherever the pool lies:
    ///
    /// ```text
    ///  63 62 61              46 45         32 31                     3 2 0
    /// ┌─────┬──────────────────┬─────────────┬────────────────────────┬─────┐
    /// │ 1 0 │ number of type   │ 0           │ number of record       │ 010 │
    /// └─────┴──────────────────┴─────────────┴────────────────────────┴─────┘
    /// ```
    ///
    /// To whoever does not know of them it is an immediate; no other word with that tag has the highest bit, which in
    /// headers is the collectors'. A field for references to records of one compact type holds the low half without the
    /// tag, so 0 for `#f`, or where it is narrower than 32 bits the number alone.
    ///
    /// The type word is what would be the reference to number 0, which no record has. So references are the sum of the
    /// type word and what the field holds, and a type test is a difference that is less than 2³².
    pub mod compact {
        use super::{FieldKind, Slot};
        use crate::value::TAG_IMMEDIATE;

        /// Which widths references in fields have, as the pool grows.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
        #[repr(u8)]
        pub enum Widths {
            /// 32 bits, always.
            #[default]
            Only32 = 0,
            /// 8 bits, then 16, then 32.
            From8 = 1,
            /// 16 bits, then 32.
            From16 = 2,
        }

        impl Widths {
            /// Bits of the first references.
            pub const fn first(self) -> u32 {
                match self {
                    Widths::From8 => 8,
                    Widths::From16 => 16,
                    Widths::Only32 => 32,
                }
            }
        }

        /// Which types have compact records.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
        #[repr(u8)]
        pub enum Mode {
            /// Those that are declared so.
            #[default]
            Declared = 0,
            /// None.
            Off = 1,
            /// Those of the program that can, too.
            Auto = 2,
        }

        /// Which types have compact records, and how wide references in them are.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
        pub struct Choice {
            /// Which types.
            pub mode: Mode,
            /// How wide.
            pub widths: Widths,
        }

        impl Choice {
            /// All there are.
            pub const ALL: [Choice; 9] = {
                let modes = [Mode::Declared, Mode::Off, Mode::Auto];
                let widths = [Widths::Only32, Widths::From8, Widths::From16];
                let mut all = [Choice { mode: Mode::Declared, widths: Widths::Only32 }; 9];
                let mut i = 0;
                while i < 9 {
                    all[i] = Choice { mode: modes[i / 3], widths: widths[i % 3] };
                    i += 1;
                }
                all
            };
            /// As the command line has it.
            pub fn by_names(mode: &str, bits: &str) -> Option<Choice> {
                let mode = match mode {
                    "declared" => Mode::Declared,
                    "off" => Mode::Off,
                    "auto" => Mode::Auto,
                    _ => return None,
                };
                let all = [Widths::Only32, Widths::From8, Widths::From16];
                let widths = all.into_iter().find(|w| w.first().to_string() == bits)?;
                Some(Choice { mode, widths })
            }
        }

        /// A field's place in a compact record.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub struct Place {
            /// The number of the field, from 0.
            pub index: u8,
            /// A field of references to records of the same type.
            pub own: bool,
            /// Bytes of a record, while references have 32 bits.
            pub stride: u16,
            /// How wide references are.
            pub widths: Widths,
        }

        /// A type with more fields has plain records.
        pub const FIELDS_MAX: usize = 255;
        /// Types with greater numbers are not compact.
        pub const TYPES: u32 = 1 << 16;
        /// Where the number of a record starts in a reference.
        pub const RECORD_SHIFT: u32 = 3;
        /// The greatest number of a record.
        pub const RECORDS: u32 = u32::MAX >> RECORD_SHIFT;
        /// Where the number of the type starts in a reference.
        const TYPE_SHIFT: u32 = 46;
        /// A type word is shifted right by this, and the result is where its entry is in the table of pools: in bytes,
        /// and [`BIAS`] too far.
        pub const ENTRY_AT: u32 = TYPE_SHIFT - ENTRY_SHIFT;
        /// How far before the table `Machine::pools` points.
        pub const BIAS: u64 = 1 << (63 - ENTRY_AT);
        /// log2 of the bytes of an entry of the table of pools.
        pub const ENTRY_SHIFT: u32 = 6;

        /// What compiled code knows of a pool: an entry of `Machine::pools`.
        #[repr(C)]
        pub struct Entry {
            /// Where the record of number 0 would lie.
            pub base: u64,
            /// The number of the next record.
            pub next: u32,
            /// When that is reached, the runtime is asked.
            pub limit: u32,
            /// For each field of references: the upper half of those that it holds, 0 if it has held none.
            pub targets: *mut u32,
            /// For each field: how many bytes it lies behind the record's start.
            pub places: *const u32,
            /// Bits of references in fields.
            pub bits: u32,
            /// Bytes of a record.
            pub stride: u32,
            /// No record has a greater number.
            pub high: u32,
            /// Not used.
            pub rest: [u32; 5],
        }

        const _: () = assert!(size_of::<Entry>() == 1 << ENTRY_SHIFT);
        const _: () = assert!((TYPES as u64) << TYPE_SHIFT == 1 << 62);

        /// The type word of the compact type of this number.
        pub const fn word(type_number: u32) -> u64 {
            1 << 63 | (type_number as u64) << TYPE_SHIFT | TAG_IMMEDIATE
        }
        /// Is this the type word of a compact type?
        #[inline]
        pub const fn is_type(w: u64) -> bool {
            w as u32 == TAG_IMMEDIATE as u32 && (w as i64) < 0
        }
        /// The upper half of references to records of a compact type.
        #[inline]
        pub const fn upper(type_word: u64) -> u32 {
            (type_word >> 32) as u32
        }
        /// The reference to the record of this number.
        #[inline]
        pub const fn reference(type_word: u64, number: u32) -> u64 {
            with_upper(upper(type_word), number)
        }
        /// The reference with this upper half to the record of this number.
        #[inline]
        pub const fn with_upper(upper: u32, number: u32) -> u64 {
            (upper as u64) << 32 | (number << RECORD_SHIFT) as u64 | TAG_IMMEDIATE
        }
        /// The number of the type of a reference.
        #[inline]
        pub const fn type_number(reference: u64) -> u32 {
            (reference >> TYPE_SHIFT) as u32 & (TYPES - 1)
        }
        /// The type word of the type of a reference.
        #[inline]
        pub const fn type_of(reference: u64) -> u64 {
            with_upper(upper(reference), 0)
        }
        /// The number of the record of a reference.
        #[inline]
        pub const fn record_number(reference: u64) -> u32 {
            reference as u32 >> RECORD_SHIFT
        }

        const _: () = assert!(super::number(word(77)) == 77 && type_of(reference(word(77), 5)) == word(77));
        const _: () = assert!(record_number(reference(word(77), 5)) == 5 && type_number(word(77)) == 77);
        const _: () = assert!(word(77) >> ENTRY_AT == BIAS + (77 << ENTRY_SHIFT));

        /// Bytes of a field while references have so many bits; `None` if compact records have no such fields.
        pub const fn bytes(kind: FieldKind, bits: u32) -> Option<u32> {
            match kind {
                FieldKind::Ref => Some(bits / 8),
                kind => match kind.raw_bytes() {
                    Some(n) => Some(n as u32),
                    None => None,
                },
            }
        }

        /// Where fields of these kinds lie, and the bytes of a record, while references have so many bits: the widest
        /// come first, so that nothing lies between them.
        pub fn layout(kinds: &[FieldKind], bits: u32) -> Option<(Vec<u32>, u32)> {
            let sizes: Vec<u32> = kinds.iter().map(|k| bytes(*k, bits)).collect::<Option<_>>()?;
            let mut order: Vec<usize> = (0..kinds.len()).collect();
            order.sort_by_key(|i| std::cmp::Reverse(sizes[*i]));
            let (mut at, mut places) = (0, vec![0; kinds.len()]);
            for i in order {
                places[i] = at;
                at += sizes[i];
            }
            let align = sizes.iter().copied().max().unwrap_or(1);
            Some((places, at.max(1).next_multiple_of(align)))
        }

        /// The slots of a compact type's fields: what each holds, and whether that is references to its own records.
        pub fn slots(fields: &[(FieldKind, bool)], widths: Widths) -> Option<Vec<Slot>> {
            let kinds: Vec<FieldKind> = fields.iter().map(|f| f.0).collect();
            let (places, stride) = layout(&kinds, 32)?;
            if stride > 0xFFF || fields.is_empty() || fields.len() > FIELDS_MAX {
                return None;
            }
            let slot = |(i, at): (usize, u32)| {
                let (kind, own) = fields[i];
                let place = Place { index: i as u8, own, stride: stride as u16, widths };
                Slot { kind, raw: true, at, compact: Some(place) }
            };
            Some(places.into_iter().enumerate().map(slot).collect())
        }
    }

    /// Bytes of an element of a structure vector whose fields are these, all raw or none.
    pub fn stride(slots: impl Iterator<Item = Slot>) -> usize {
        let (mut end, mut align) = (0, 1);
        for slot in slots {
            let (at, size) = match slot.kind.raw_bytes() {
                _ if !slot.raw => (8 * slot.at as usize, 8),
                size => (slot.at as usize, size.unwrap_or(8) as usize),
            };
            end = end.max(at + size);
            align = align.max(size);
        }
        end.next_multiple_of(align)
    }

    /// In the fixnum that describes a type: records are raw.
    pub const RAW: i64 = 1;
    /// No other type extends it.
    pub const SEALED: i64 = 2;
    /// In the fixnum that describes a type: records are compact, if the collector can deal with that.
    pub const COMPACT: i64 = 4;
    /// The length of its records is from here on.
    pub const DESCRIBED_LENGTH_SHIFT: u32 = 4;
}

/// Size in bytes of a pair.
pub const PAIR_BYTES: u64 = 16;

/// Objects larger than this are allocated apart and never moved.
pub const LARGE_BYTES: u64 = 8 * 1024;

/// Homogeneous numeric vectors.
pub mod numeric;

/// Word indices of the fields of structure vectors, records of the types that `define-structure-vector` makes.
pub mod structure {
    /// Number of elements, a fixnum.
    pub const LENGTH: u64 = 0;
    /// What the elements lie in, a vector or bytevector.
    pub const STORAGE: u64 = 1;
    /// `#f`, or a vector: for every so many elements `#f`, or weak references to those that are referred to.
    pub const PAGES: u64 = 2;
    /// Elements for which `PAGES` has one entry.
    pub const PAGE: i64 = 64;
}

/// Word indices of symbol fields.
pub mod symbol {
    /// The name, a string.
    pub const NAME: u64 = 0;
    /// The hash, a fixnum.
    pub const HASH: u64 = 1;
    /// Number of fields.
    pub const LEN: u64 = 2;
}

/// Word indices of port fields, shared by the runtime and `lib/cairn/port.scm`.
///
/// Textual and binary ports buffer bytes (UTF-8 when textual). An input port's unread bytes are
/// `BUF[POS..END]`; an output port's unflushed bytes are `BUF[0..POS]` and `END` is the capacity.
pub mod port {
    /// Fixnum of `FLAG_*` bits.
    pub const FLAGS: u64 = 0;
    /// Bytevector.
    pub const BUF: u64 = 1;
    /// Fixnum: next byte to read or write.
    pub const POS: u64 = 2;
    /// Fixnum: end of valid bytes (input) or capacity (output).
    pub const END: u64 = 3;
    /// File descriptor as fixnum, or `#f` for string and bytevector ports.
    pub const FD: u64 = 4;
    /// File name (string) or `#f`.
    pub const NAME: u64 = 5;
    /// Fixnum: the line of the byte at `COUNTED`, from 1. Newlines read since are counted when somebody asks.
    pub const LINE: u64 = 6;
    /// Free for the library (fold-case state of `read`, …).
    pub const EXTRA: u64 = 7;
    /// Fixnum: the first byte of `BUF` that `LINE` does not count yet; at most `POS` in an input port.
    pub const COUNTED: u64 = 8;
    /// In a port that reads and writes, while it writes: a bytevector of what was not read. Else `#f`.
    pub const OTHER: u64 = 9;
    /// Number of fields.
    pub const LEN: u64 = 10;
    /// Header flag: compiled code may take ASCII characters from `BUF[POS..END]`.
    pub const CAN_READ_TEXT: u8 = 1;
    /// Header flag: compiled code may take bytes from `BUF[POS..END]`.
    pub const CAN_READ_BYTES: u8 = 2;
    /// Header flag: compiled code may put ASCII characters into `BUF[POS..END]`.
    pub const CAN_WRITE_TEXT: u8 = 4;
    /// Header flag: compiled code may put bytes into `BUF[POS..END]`.
    pub const CAN_WRITE_BYTES: u8 = 8;
    /// Port reads.
    pub const FLAG_INPUT: i64 = 1;
    /// Port writes.
    pub const FLAG_OUTPUT: i64 = 2;
    /// Port carries characters.
    pub const FLAG_TEXTUAL: i64 = 4;
    /// Port carries bytes.
    pub const FLAG_BINARY: i64 = 8;
    /// Port is open.
    pub const FLAG_OPEN: i64 = 16;
    /// Flush after each newline and before reading standard input.
    pub const FLAG_CONSOLE: i64 = 32;
    /// End of file was seen once on a console.
    pub const FLAG_AT_EOF: i64 = 64;
    /// A socket: its buffer is small, and given back while there is nothing in it.
    pub const FLAG_SOCKET: i64 = 128;
    /// Asked of a file that is opened to be written: what is there stays.
    pub const OPEN_KEEPING: i64 = 256;
    /// What left the buffer of an output port last was not a line end.
    pub const FLAG_INSIDE_LINE: i64 = 512;
}

/// Word indices of a hash table, a record that `lib/cairn/hash-table.sld` defines; see `cairn_rt::table`.
pub mod table {
    /// Fixnum: which keys are the same, one of the constants below.
    pub const KIND: u64 = 0;
    /// Vector of the entries, in the order in which they were made: key, value, key, value, …
    pub const ENTRIES: u64 = 1;
    /// Fixnum: entries made so far, those deleted since among them.
    pub const USED: u64 = 2;
    /// Fixnum: entries that are there.
    pub const COUNT: u64 = 3;
    /// Bytevector: the index, or `#f` while there are few entries.
    pub const INDEX: u64 = 4;
    /// Bytevector: the index of the entries whose hash changes with the next collection, or `#f`.
    pub const YOUNG: u64 = 5;
    /// Fixnum: places taken in that.
    pub const YOUNG_USED: u64 = 6;
    /// Fixnum: collections up to the last time that the indices were brought up to date.
    pub const COLLECTIONS: u64 = 7;
    /// Fixnum: those of them that moved old objects; `#f` if no hash in the index depends on an address.
    pub const MOVES: u64 = 8;
    /// `#f` if nobody but the table knows the vector of entries, or only to look at one entry.
    pub const WALKED: u64 = 9;
    /// Fixnum: the entry after the one that was found last, where the next search begins; -1 in tables of kind `OTHER`,
    /// whose keys only the program can tell.
    pub const NEXT: u64 = 10;
    /// Kind: `eq?`.
    pub const EQ: i64 = 0;
    /// Kind: `eqv?`.
    pub const EQV: i64 = 1;
    /// Kind: `equal?`.
    pub const EQUAL: i64 = 2;
    /// Kind: `string=?`.
    pub const STRING: i64 = 3;
    /// Kind: the program's own procedures.
    pub const OTHER: i64 = 4;
    /// Entries of a new table.
    pub const LEAST: i64 = 8;
}

/// Flags of weak objects: what their words mean, see `cairn_heap::WeakKind`.
pub mod weak {
    /// Weak references.
    pub const REFERENCES: i64 = 0;
    /// Key, value, key, value, …
    pub const EPHEMERONS: i64 = 1;
    /// Value, key, …
    pub const BY_VALUE: i64 = 2;
    /// Pairs of weak references that go together.
    pub const BOTH: i64 = 3;
}

/// Words of a continuation object (a procedure whose code is the strategy's reinstatement entry).
///
/// Word 0 is the code address. Under `chunks`, `SP..BASE` delimits the frames that this continuation covers in `CHUNK`;
/// `NEXT` is the continuation below them, or `#f`. Under `heap`, `SP` is the tagged frame itself and the others are
/// fixnum 0. Two continuations of the same frames have the same `SP`.
pub mod continuation {
    /// Code address.
    pub const CODE: u64 = 0;
    /// Address of the stack chunk (raw, 8-aligned).
    pub const CHUNK: u64 = 1;
    /// Address of the youngest frame (raw, 8-aligned), or tagged heap frame.
    pub const SP: u64 = 2;
    /// One past the oldest frame (raw, 8-aligned).
    pub const BASE: u64 = 3;
    /// The rest: a continuation or `#f`.
    pub const NEXT: u64 = 4;
    /// Dynamic-wind list at capture.
    pub const WINDERS: u64 = 5;
    /// What may become of the frames, a word of [`state`].
    pub const STATE: u64 = 6;
    /// Number of words, code included.
    pub const LEN: u64 = 7;

    /// States of a continuation.
    ///
    /// ```text
    ///   call/1cc, overflow ──▶ private ──a call/cc above it──▶ shared ◀── call/cc
    ///                             │
    ///                             └──called, or returned to──▶ used
    /// ```
    pub mod state {
        use crate::Value;
        /// May be used any number of times: nobody writes its frames. All continuations below it are shared, too.
        pub const SHARED: u64 = Value::fixnum(0).0;
        /// May be used once: its frames may be run where they are, or moved.
        pub const PRIVATE: u64 = Value::fixnum(1).0;
        /// Has been used, and covers nothing any more: its other words are 0 or `#f`.
        pub const USED: u64 = Value::fixnum(2).0;
    }
}

const _: () = assert!(type_byte(Type::Vector) & 7 == 2);
const _: () = assert!(object_bytes(header(Type::String, 0, 3)) == 24);
const _: () = assert!(object_bytes(record::type_word(false, 99, (1 << 27) - 1, record::LENGTH_MAX)) == 8 << 22);
const _: () = assert!(object_bytes(header(Type::Bytevector, 0, 0)) == 16);
