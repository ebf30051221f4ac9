//! Types of C, for `(cairn c)`: their names in programs, their sizes, and what they hold.
//!
//! The expander turns a name into a number, [`CType::code`]; compiled code and runtime read the number. All is System
//! V's convention for x86-64: `long` has 64 bits, `char` is signed.

use crate::object::numeric::NumericKind;

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

/// A homogeneous vector among the types of an exported procedure: C passes an address and how many elements there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VectorType {
    /// What the elements are.
    pub kind: NumericKind,
    /// C lends it for reading only.
    pub constant: bool,
}

impl VectorType {
    /// Numbers of types from here on are those of vectors.
    const FIRST: u8 = 32;

    /// Its number.
    pub const fn code(self) -> u8 {
        Self::FIRST + (self.kind as u8) * 2 + self.constant as u8
    }
}

/// A type of an exported procedure, by its number; a vector is of type [`CType::Bytes`], and what it is stands beside.
pub const fn exported(code: u8) -> (CType, Option<VectorType>) {
    if code < VectorType::FIRST {
        return (CType::of(code), None);
    }
    let n = code - VectorType::FIRST;
    match NumericKind::of((n / 2) as i64) {
        Some(kind) => (CType::Bytes, Some(VectorType { kind, constant: n & 1 != 0 })),
        None => (CType::Bytes, None),
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
    /// Its number.
    pub const fn code(&self) -> i64 {
        let [first, second] = self.floating;
        (self.bytes as i64) << 3 | (self.in_memory as i64) << 2 | (second as i64) << 1 | first as i64
    }
    /// Words that hold it.
    pub const fn words(&self) -> usize {
        self.bytes.div_ceil(8)
    }
    /// For each eight bytes, whether they are floating point.
    pub fn parts(&self) -> &[bool] {
        &self.floating[..self.bytes.div_ceil(8).min(2)]
    }
}

/// A type as a function has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passed {
    /// No structure.
    Scalar(CType),
    /// A structure by value.
    Struct(Shape),
}

/// Registers for arguments that are left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers {
    /// Of integers and addresses.
    pub integers: usize,
    /// Of floating point.
    pub floats: usize,
}

impl Registers {
    /// All of them, but for the one with the address of a result in memory.
    pub fn for_result(result: Passed) -> Registers {
        let room = matches!(result, Passed::Struct(shape) if shape.in_memory);
        Registers { integers: INTEGER_REGISTERS - room as usize, floats: FLOAT_REGISTERS }
    }
    /// Does the next argument go into registers? Else all of it is on the stack, and what comes later may still fit.
    pub fn take(&mut self, argument: Passed) -> bool {
        let (integers, floats) = match argument {
            Passed::Scalar(t) => (!t.is_floating() as usize, t.is_floating() as usize),
            Passed::Struct(shape) => {
                if !shape.fits((self.integers, self.floats)) {
                    return false;
                }
                let floats = shape.parts().iter().filter(|floating| **floating).count();
                (shape.parts().len() - floats, floats)
            }
        };
        let fits = integers <= self.integers && floats <= self.floats;
        if fits {
            self.integers -= integers;
            self.floats -= floats;
        }
        fits
    }
}

/// What object code calls a function of a C source that is inlined, by its number.
pub fn inlined_symbol(number: i64) -> String {
    format!("c.source.{number:x}")
}

/// The signature of a call that compiled code makes itself, as a fixnum: four bits for each type, the result's first.
///
/// A structure takes two places among the arguments: [`SHAPE`](direct::SHAPE), whose operand is the literal
/// [`Shape::code`], and [`STRUCT`](direct::STRUCT), whose operand is a pointer, or a homogeneous vector that is long
/// enough. If the result is a structure, the first argument is its shape alone; it becomes a fresh bytevector.
pub mod direct {
    use super::{CType, FLOAT_REGISTERS, INTEGER_REGISTERS, Passed, Registers, Shape};

    /// The type of the operand that says which shape the next one, or the result, has.
    pub const SHAPE: CType = CType::String;
    /// The type of a structure.
    pub const STRUCT: CType = CType::Bytes;
    /// The type of an address whose operand is a homogeneous vector, that of its elements; or a pointer, or `#f`. Only
    /// results are void.
    pub const ELEMENTS: CType = CType::Void;
    /// Most words of all arguments on the stack.
    pub const STACK_WORDS: usize = 32;
    /// Most bytes of a structure that is a result.
    pub const RESULT_BYTES: usize = 512;

    /// Most arguments.
    pub const ARGUMENTS_MAX: usize = 14;

    /// Can compiled code make a call of this signature itself? All arguments are in registers, and none is copied.
    pub fn is_possible(result: CType, arguments: &[CType]) -> bool {
        let floats = arguments.iter().filter(|t| t.is_floating()).count();
        arguments.len() <= ARGUMENTS_MAX
            && floats <= FLOAT_REGISTERS
            && arguments.len() - floats <= INTEGER_REGISTERS
            && arguments.iter().all(|t| *t == ELEMENTS || is_word(*t))
            && (result == CType::Void || is_word(result))
    }

    /// Is it a number, a character, a boolean, or an address?
    const fn is_word(t: CType) -> bool {
        !matches!(t, CType::Void | CType::String | CType::Bytes | CType::Struct)
    }

    /// Can compiled code make a call of this signature itself, with structures by value among its types?
    pub fn reaches(result: Passed, arguments: &[Passed]) -> bool {
        let places = |p: &Passed| 1 + matches!(p, Passed::Struct(_)) as usize;
        let is_possible = |p: &Passed| !matches!(p, Passed::Scalar(t) if *t != ELEMENTS && !is_word(*t));
        let returns = match result {
            Passed::Scalar(t) => t == CType::Void || is_word(t),
            Passed::Struct(shape) => shape.bytes <= RESULT_BYTES,
        };
        let first = matches!(result, Passed::Struct(_)) as usize;
        let mut left = Registers::for_result(result);
        let stack = arguments.iter().filter(|a| !left.take(**a)).map(|a| match a {
            Passed::Scalar(_) => 1,
            Passed::Struct(shape) => shape.words(),
        });
        let stack: usize = stack.sum();
        returns
            && arguments.iter().all(is_possible)
            && first + arguments.iter().map(places).sum::<usize>() <= ARGUMENTS_MAX
            && stack <= STACK_WORDS
    }

    /// The types of [`code`] for a signature with structures.
    pub fn types(result: Passed, arguments: &[Passed]) -> (CType, Vec<CType>) {
        let (result, mut types) = match result {
            Passed::Scalar(t) => (t, Vec::new()),
            Passed::Struct(_) => (STRUCT, vec![SHAPE]),
        };
        for a in arguments {
            match a {
                Passed::Scalar(t) => types.push(*t),
                Passed::Struct(_) => types.extend([SHAPE, STRUCT]),
            }
        }
        (result, types)
    }

    /// What a signature says of a function: the result, and the arguments, each with the place of its operand among
    /// those behind address and number. `shape` is the literal at such a place.
    pub fn signature(code: i64, places: usize, shape: impl Fn(usize) -> i64) -> (Passed, Vec<(Passed, usize)>) {
        let mut i = 0;
        let result = match result(code) {
            STRUCT => {
                i = 1;
                Passed::Struct(Shape::of(shape(0)))
            }
            t => Passed::Scalar(t),
        };
        let mut arguments = Vec::new();
        while i < places {
            match argument(code, i) {
                SHAPE => {
                    arguments.push((Passed::Struct(Shape::of(shape(i))), i + 1));
                    i += 2;
                }
                t => {
                    arguments.push((Passed::Scalar(t), i));
                    i += 1;
                }
            }
        }
        (result, arguments)
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

/// Where in `Machine::c_words` what is, for a call with arguments on the stack by compiled code that is on a stack of
/// its own itself. The beginning is as in the runtime's `Words`.
pub mod spread {
    use super::{FLOAT_REGISTERS, INTEGER_REGISTERS, direct};

    /// Registers of integers.
    pub const INTEGERS: usize = 0;
    /// Registers of floating point.
    pub const FLOATS: usize = INTEGERS + INTEGER_REGISTERS;
    /// The first result, an integer; the first of floating point; the second integer; the second of floating point.
    pub const RESULTS: usize = FLOATS + FLOAT_REGISTERS;
    /// The stack.
    pub const STACK: usize = RESULTS + 4;
    /// All of it.
    pub const WORDS: usize = STACK + direct::STACK_WORDS;
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
    fn exported_types_keep_their_kind() {
        for t in CType::ALL {
            assert_eq!(exported(t.code()), (t, None));
        }
        for (kind, _) in NumericKind::ALL {
            for constant in [false, true] {
                let vector = VectorType { kind, constant };
                assert_eq!(exported(vector.code()), (CType::Bytes, Some(vector)));
            }
        }
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
        assert!(direct::is_possible(Void, &[direct::ELEMENTS]));
        assert!(direct::ELEMENTS.code() < 16 && direct::SHAPE.code() < 16 && direct::STRUCT.code() < 16);
        assert!(!direct::is_possible(String, &[]));
        assert!(direct::is_possible(Void, &[]));
    }

    #[test]
    fn structures_are_pairs_of_places() {
        use CType::*;
        let in_registers = Shape { bytes: 12, in_memory: false, floating: [true, false] };
        let large = Shape { bytes: 24, in_memory: true, floating: [false, false] };
        assert_eq!((Shape::of(in_registers.code()), Shape::of(large.code())), (in_registers, large));
        let (small, large) = (Passed::Struct(in_registers), Passed::Struct(large));
        let arguments = [Passed::Scalar(F64), small, Passed::Scalar(I8), large];
        assert!(direct::reaches(large, &arguments));
        let (result, types) = direct::types(large, &arguments);
        let code = direct::code(result, &types);
        let shapes = [large, Passed::Scalar(F64), small, small, Passed::Scalar(I8), large, large];
        let shape = |i: usize| match shapes[i] {
            Passed::Struct(shape) => shape.code(),
            Passed::Scalar(t) => panic!("{t:?} is no structure"),
        };
        let (result, places) = direct::signature(code, types.len(), shape);
        assert_eq!(result, large);
        assert_eq!(places, [(arguments[0], 1), (small, 3), (arguments[2], 4), (large, 6)]);
        // all or nothing in registers, and what comes later may fit
        let mut left = Registers { integers: 1, floats: 0 };
        assert_eq!(
            [small, large, Passed::Scalar(I8), Passed::Scalar(I8)].map(|a| left.take(a)),
            [false, false, true, false]
        );
        // a place for the result's shape, and two for each argument
        let tiny = Passed::Struct(Shape { bytes: 4, in_memory: false, floating: [false, false] });
        assert!(direct::reaches(Passed::Scalar(Void), &[tiny; 7]) && !direct::reaches(tiny, &[tiny; 7]));
        assert!(!direct::reaches(Passed::Scalar(Void), &[Passed::Scalar(String)]));
        let huge = Passed::Struct(Shape { bytes: 1000, in_memory: true, floating: [false, false] });
        assert!(!direct::reaches(huge, &[]) && !direct::reaches(Passed::Scalar(I32), &[huge]));
    }
}
