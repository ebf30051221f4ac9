//! Types of C, for `(cairn c)`: their names in programs, their sizes, and what they hold.
//!
//! The expander turns a name into a number, [`CType::code`]; compiled code and runtime read the number. All is System
//! V's convention for x86-64: `long` has 64 bits, `char` is signed.

/// A type of an argument, a result, or of something in C's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum CType {
    /// Nothing: only a result.
    Void = 0,
    /// A boolean; of an argument, anything but `#f` is true.
    Bool = 1,
    /// A character up to U+00FF, as a byte.
    Char = 2,
    /// Integers of so many bits, with a sign.
    I8 = 3,
    #[allow(missing_docs)]
    I16 = 4,
    #[allow(missing_docs)]
    I32 = 5,
    #[allow(missing_docs)]
    I64 = 6,
    /// Natural numbers of so many bits.
    U8 = 7,
    #[allow(missing_docs)]
    U16 = 8,
    #[allow(missing_docs)]
    U32 = 9,
    #[allow(missing_docs)]
    U64 = 10,
    /// Floating point of 32 bits.
    F32 = 11,
    /// Floating point of 64 bits.
    F64 = 12,
    /// UTF-8 that ends in NUL; `#f` is NULL.
    String = 13,
    /// An address; `#f` is NULL.
    Pointer = 14,
    /// The elements of a bytevector or another homogeneous vector, by reference: only an argument.
    Bytes = 15,
    /// A structure by value: an argument or a result, whose [`Shape`] is beside.
    Struct = 16,
}

impl CType {
    /// All, by number.
    pub const ALL: [CType; 17] = {
        use CType::*;
        [Void, Bool, Char, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, String, Pointer, Bytes, Struct]
    };
    /// Names in programs.
    pub const NAMES: &'static [(&'static str, CType)] = &[
        ("void", CType::Void),
        ("bool", CType::Bool),
        ("char", CType::Char),
        ("signed-char", CType::I8),
        ("unsigned-char", CType::U8),
        ("short", CType::I16),
        ("unsigned-short", CType::U16),
        ("int", CType::I32),
        ("unsigned", CType::U32),
        ("unsigned-int", CType::U32),
        ("long", CType::I64),
        ("unsigned-long", CType::U64),
        ("long-long", CType::I64),
        ("unsigned-long-long", CType::U64),
        ("size_t", CType::U64),
        ("ssize_t", CType::I64),
        ("ptrdiff_t", CType::I64),
        ("intptr_t", CType::I64),
        ("uintptr_t", CType::U64),
        ("int8", CType::I8),
        ("int16", CType::I16),
        ("int32", CType::I32),
        ("int64", CType::I64),
        ("uint8", CType::U8),
        ("uint16", CType::U16),
        ("uint32", CType::U32),
        ("uint64", CType::U64),
        ("float", CType::F32),
        ("double", CType::F64),
        ("string", CType::String),
        ("pointer", CType::Pointer),
        ("bytevector", CType::Bytes),
    ];
    /// The type of this name.
    pub fn by_name(name: &str) -> Option<CType> {
        Self::NAMES.iter().find(|(n, _)| *n == name).map(|(_, t)| *t)
    }
    /// Its number.
    pub const fn code(self) -> u8 {
        self as u8
    }
    /// The type of a number.
    pub const fn of(code: u8) -> CType {
        Self::ALL[code as usize]
    }
    /// Bytes in memory, which are also its alignment; 0 for what lies in none.
    pub const fn bytes(self) -> usize {
        use CType::*;
        match self {
            Void | Bytes | Struct => 0,
            Bool | Char | I8 | U8 => 1,
            I16 | U16 => 2,
            I32 | U32 | F32 => 4,
            I64 | U64 | F64 | String | Pointer => 8,
        }
    }
    /// Least and greatest integer, of a type of integers.
    pub const fn integers(self) -> Option<(i128, i128)> {
        use CType::*;
        let signed = matches!(self, I8 | I16 | I32 | I64);
        if !signed && !matches!(self, U8 | U16 | U32 | U64) {
            return None;
        }
        let bits = 8 * self.bytes() as u32;
        Some(if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) })
    }
    /// Does it travel in registers for floating point?
    pub const fn is_floating(self) -> bool {
        matches!(self, CType::F32 | CType::F64)
    }
}

/// Registers for arguments that are integers or addresses.
pub const INTEGER_REGISTERS: usize = 6;
/// Registers for arguments that are floating point.
pub const FLOAT_REGISTERS: usize = 8;

/// How a structure travels by value: in registers, one for each eight bytes, or as a copy in memory.
///
/// ```text
///  63        3        2       1        0
/// ┌───────────┬───────────┬────────┬───────┐
/// │   bytes   │ in memory │ 2nd is │ first │   a fixnum
/// └───────────┴───────────┴ float ─┴ eight ┘
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// How many bytes it has.
    pub bytes: usize,
    /// Does it lie in memory? Structures of more than 16 bytes do.
    pub in_memory: bool,
    /// Is all of these eight bytes floating point?
    pub floating: [bool; 2],
}

impl Shape {
    /// The shape of a number, which `lib/cairn/c.sld` makes.
    pub const fn of(code: i64) -> Shape {
        Shape { bytes: (code >> 3) as usize, in_memory: code & 4 != 0, floating: [code & 1 != 0, code & 2 != 0] }
    }
    /// Does it travel in registers, of which so many are left, integers' and floating point's? All of it does, or
    /// nothing.
    pub fn fits(&self, (integers, floats): (usize, usize)) -> bool {
        let floating = self.parts().iter().filter(|floating| **floating).count();
        !self.in_memory && floating <= floats && self.parts().len() - floating <= integers
    }
    /// For each eight bytes, whether they are floating point.
    pub fn parts(&self) -> &[bool] {
        &self.floating[..self.bytes.div_ceil(8).min(2)]
    }
}

/// What object code calls a function of a C source that is inlined, by its number.
pub fn inlined_symbol(number: i64) -> String {
    format!("c.source.{number:x}")
}

/// The signature of a call that compiled code makes itself, as a fixnum: four bits for each type, the result's first.
pub mod direct {
    use super::{CType, FLOAT_REGISTERS, INTEGER_REGISTERS};

    /// Most arguments.
    pub const ARGUMENTS_MAX: usize = 14;

    /// Can compiled code make a call of this signature itself? All arguments are in registers, and none is copied.
    pub fn is_possible(result: CType, arguments: &[CType]) -> bool {
        let floats = arguments.iter().filter(|t| t.is_floating()).count();
        let simple = |t: &CType| !matches!(t, CType::Void | CType::String | CType::Bytes | CType::Struct);
        arguments.len() <= ARGUMENTS_MAX
            && floats <= FLOAT_REGISTERS
            && arguments.len() - floats <= INTEGER_REGISTERS
            && arguments.iter().all(simple)
            && (result == CType::Void || simple(&result))
    }

    /// The fixnum.
    pub fn code(result: CType, arguments: &[CType]) -> i64 {
        let types = std::iter::once(&result).chain(arguments);
        types.enumerate().fold(0, |n, (i, t)| n | (t.code() as i64) << (4 * i))
    }

    /// The result's type.
    pub const fn result(code: i64) -> CType {
        CType::of(code as u8 & 15)
    }

    /// The type of argument `i`, from 0.
    pub const fn argument(code: i64, i: usize) -> CType {
        CType::of((code >> (4 * (i + 1))) as u8 & 15)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places_in_the_table() {
        for (i, t) in CType::ALL.iter().enumerate() {
            assert_eq!(t.code() as usize, i);
            assert_eq!(CType::of(t.code()), *t);
            let named = CType::NAMES.iter().any(|(_, named)| named == t);
            assert_eq!(named, *t != CType::Struct, "{t:?} has a name, structures have their own");
        }
        for (i, (name, _)) in CType::NAMES.iter().enumerate() {
            assert!(CType::NAMES[..i].iter().all(|(other, _)| other != name), "{name} stands once");
        }
        assert_eq!(CType::by_name("int").and_then(CType::integers), Some((-2_147_483_648, 2_147_483_647)));
        assert_eq!(CType::by_name("size_t").and_then(CType::integers), Some((0, u64::MAX as i128)));
        assert_eq!(CType::by_name("float").and_then(CType::integers), None);
        assert_eq!(CType::by_name("complex"), None);
    }

    #[test]
    fn signatures_are_fixnums() {
        use CType::*;
        let most = [[F64; 8].as_slice(), &[Pointer; 6]].concat();
        assert!(direct::is_possible(Pointer, &most));
        let code = direct::code(Pointer, &most);
        assert!((0..1 << 60).contains(&code));
        assert_eq!(direct::result(code), Pointer);
        assert_eq!((direct::argument(code, 7), direct::argument(code, 8)), (F64, Pointer));
        assert!(!direct::is_possible(Void, &[I32; 7]));
        assert!(!direct::is_possible(Void, &[F32; 9]));
        assert!(!direct::is_possible(Void, &[String]));
        assert!(!direct::is_possible(Void, &[Struct]) && !direct::is_possible(Struct, &[]));
        assert!(!direct::is_possible(String, &[]));
        assert!(direct::is_possible(Void, &[]));
    }
}
