//! Homogeneous numeric vectors (SRFI 160): numbers of one kind, as they are in C.
//!
//! ```text
//!  63                      16 15   12 11    8 7    3 2 0
//! ┌──────────────────────────┬───────┬───────┬──────┬─────┐
//! │ length in bytes          │ kind  │ flags │  22  │ 010 │
//! └──────────────────────────┴───────┴───────┴──────┴─────┘
//! ```
//!
//! The kind is part of the header's low half word, so that one comparison finds type and kind. A `u8vector` is a
//! bytevector, with the header of bytevectors.

use super::record::FieldKind;
use super::{FLAG_LITERAL, FLAGS_SHIFT, Type, header, header_length, header_type_code, type_byte};

/// What the elements are, by number; the order is that of the operations in the table of primitives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum NumericKind {
    U8 = 0,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
    F32,
    F64,
    /// Complex numbers, two `f32`.
    C64,
    /// Complex numbers, two `f64`.
    C128,
}

impl NumericKind {
    /// All, by number, with their names in programs.
    pub const ALL: [(NumericKind, &'static str); 12] = [
        (NumericKind::U8, "u8"),
        (NumericKind::S8, "s8"),
        (NumericKind::U16, "u16"),
        (NumericKind::S16, "s16"),
        (NumericKind::U32, "u32"),
        (NumericKind::S32, "s32"),
        (NumericKind::U64, "u64"),
        (NumericKind::S64, "s64"),
        (NumericKind::F32, "f32"),
        (NumericKind::F64, "f64"),
        (NumericKind::C64, "c64"),
        (NumericKind::C128, "c128"),
    ];
    /// The kind of this number.
    pub const fn of(number: i64) -> Option<NumericKind> {
        if number < 0 || number as usize >= Self::ALL.len() {
            return None;
        }
        Some(Self::ALL[number as usize].0)
    }
    /// The kind of this name.
    pub fn by_name(name: &str) -> Option<NumericKind> {
        Self::ALL.iter().find(|(_, n)| *n == name).map(|(k, _)| *k)
    }
    /// Its name.
    pub const fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
    /// What a vector of this kind is called, with its article.
    pub const fn with_article(self) -> &'static str {
        use NumericKind::*;
        match self {
            U8 => "a u8vector",
            S8 => "an s8vector",
            U16 => "a u16vector",
            S16 => "an s16vector",
            U32 => "a u32vector",
            S32 => "an s32vector",
            U64 => "a u64vector",
            S64 => "an s64vector",
            F32 => "an f32vector",
            F64 => "an f64vector",
            C64 => "a c64vector",
            C128 => "a c128vector",
        }
    }
    /// The kind of the vector with this header.
    pub const fn of_header(h: u64) -> Option<NumericKind> {
        match header_type_code(h) {
            17 => Some(NumericKind::U8),
            22 if is_vector(h) => Some(NumericKind::F64),
            22 => NumericKind::of((h >> KIND_SHIFT & 15) as i64),
            _ => None,
        }
    }
    /// What an element is, or each of the two parts of a complex one.
    pub const fn part(self) -> FieldKind {
        use NumericKind::*;
        match self {
            U8 => FieldKind::U8,
            S8 => FieldKind::I8,
            U16 => FieldKind::U16,
            S16 => FieldKind::I16,
            U32 => FieldKind::U32,
            S32 => FieldKind::I32,
            U64 => FieldKind::U64,
            S64 => FieldKind::I64,
            F32 | C64 => FieldKind::F32,
            F64 | C128 => FieldKind::F64,
        }
    }
    /// Are the elements complex numbers?
    pub const fn is_complex(self) -> bool {
        matches!(self, NumericKind::C64 | NumericKind::C128)
    }
    /// What an element is, as errors say it.
    pub const fn expected(self) -> &'static str {
        match self {
            NumericKind::U8 => "byte",
            NumericKind::C64 | NumericKind::C128 => "inexact complex number",
            kind => kind.part().expected(),
        }
    }
    /// log2 of the bytes of an element.
    pub const fn shift(self) -> u32 {
        match self.part().raw_bytes() {
            Some(bytes) => bytes.trailing_zeros() + self.is_complex() as u32,
            None => unreachable!(),
        }
    }
    /// Bytes of an element.
    pub const fn bytes(self) -> usize {
        1 << self.shift()
    }
    /// The type of the object.
    pub const fn object_type(self) -> Type {
        if matches!(self, NumericKind::U8) { Type::Bytevector } else { Type::NumericVector }
    }
    /// The flags in the header of a vector that is no literal.
    pub const fn flags(self) -> u8 {
        (self as u8) << (KIND_SHIFT - FLAGS_SHIFT)
    }
    /// Header of a vector of so many elements.
    pub const fn header(self, literal: bool, elements: u64) -> u64 {
        let flags = self.flags() | if literal { FLAG_LITERAL } else { 0 };
        header(self.object_type(), flags, elements << self.shift())
    }
    /// What the bits of [`NumericKind::header_mask`] in the header are.
    pub const fn header_bits(self) -> u64 {
        type_byte(self.object_type()) as u64 | (self as u64) << KIND_SHIFT
    }
    /// The bits of a header that say type and kind. To operations on f64vectors, one that is a vector to the program is
    /// an f64vector, too.
    pub const fn header_mask(self) -> u64 {
        match self {
            NumericKind::F64 => KIND_BITS & !VECTOR_BIT,
            _ => KIND_BITS,
        }
    }
}

/// Where the kind starts in a header.
const KIND_SHIFT: u32 = 12;
/// The bits of a header that say type and kind.
const KIND_BITS: u64 = 0xF0FF;
/// The bit that literals have.
pub const LITERAL_BIT: u64 = (FLAG_LITERAL as u64) << FLAGS_SHIFT;
/// In the number of a kind: an f64vector that is a vector to the program, and is printed as one. The compiler makes
/// them of vectors that hold flonums only (`cairn-core/src/passes/types/vectors.rs`).
pub const VECTOR: i64 = 4;
const VECTOR_BIT: u64 = (VECTOR as u64) << KIND_SHIFT;

/// Is this the header of an f64vector that is a vector to the program?
pub const fn is_vector(h: u64) -> bool {
    h & KIND_BITS == NumericKind::F64.header_bits() | VECTOR_BIT
}

/// Header of an f64vector of so many elements that is a vector to the program.
pub const fn vector_header(elements: u64) -> u64 {
    NumericKind::F64.header(false, elements) | VECTOR_BIT
}

const _: () = assert!(is_vector(vector_header(3)) && !is_vector(NumericKind::F64.header(true, 3)));
// No kind has the number with that bit.
const _: () = assert!(NumericKind::F64 as i64 & VECTOR == 0);
const _: () = assert!(NumericKind::ALL.len() as i64 <= NumericKind::F64 as i64 | VECTOR);
const _: () = assert!(NumericKind::C128.header_bits() == 0xB0B2 && NumericKind::U8.header_bits() == 0x8A);
const _: () = assert!(header_length(NumericKind::F64.header(true, 3)) == 24);
