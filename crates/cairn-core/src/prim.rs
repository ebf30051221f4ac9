//! Primitive operations: what compiled code does inline.
//!
//! A primitive has a fixed arity (or is variadic: it allocates its operands), checks its operands unless a check
//! is proven unnecessary, and never calls Scheme. Library code writes `(%car x)`; everything a user calls is a
//! procedure or a re-exported primitive of lib/. Operations that need the runtime's Rust are [`PrimOp::Rt`].

use cairn_layout::calls::{FAIL, PURE, RtIndex, by_symbol};
use cairn_layout::object::numeric::NumericKind;

/// How an operation may be moved or removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Depends on operands only: foldable, removable, commutes with everything.
    Pure,
    /// Allocates a fresh mutable object: removable when unused, not shareable.
    Alloc,
    /// Reads mutable memory: removable when unused (if it cannot fail), does not cross writes.
    Read,
    /// Writes memory or does input/output: stays.
    Write,
}

/// What an operand must be (checked at run time unless proven) or what a result is known to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Kind {
    /// Any value: no check.
    Any,
    /// Fixnum.
    Fixnum,
    /// Flonum (immediate or boxed).
    Flonum,
    /// Non-real complex number.
    Compnum,
    /// Any number.
    Number,
    /// `#t` or `#f`.
    Boolean,
    /// Pair.
    Pair,
    /// Symbol.
    Symbol,
    /// String.
    String,
    /// Character.
    Char,
    /// Vector.
    Vector,
    /// Bytevector.
    Bytevector,
    /// Procedure.
    Procedure,
    /// Box of assignment conversion.
    Box,
    /// Record (of any type).
    Record,
    /// Port.
    Port,
    /// Promise.
    Promise,
    /// Opaque library object.
    Opaque,
}

macro_rules! prims {
    ($($(#[$doc:meta])* $variant:ident $name:literal ($($arg:ident),*) -> $res:ident, $effect:ident;)*) => {
        /// An operation with a fixed number of operands.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
        pub enum Op { $($(#[$doc])* $variant,)* }
        /// All operations.
        pub const OPS: &[OpInfo] = &[$(OpInfo {
            op: Op::$variant, name: $name, args: &[$(Kind::$arg),*], result: Kind::$res, effect: Effect::$effect,
        }),*];
    };
}

/// Facts about an operation.
#[derive(Debug)]
pub struct OpInfo {
    /// The operation.
    pub op: Op,
    /// Name in the library, without `%`.
    pub name: &'static str,
    /// Operand kinds; anything but `Any` is checked.
    pub args: &'static [Kind],
    /// Kind of the result.
    pub result: Kind,
    /// Effect when all checks pass. Failing checks raise; an operation with checks is removable only if proven.
    pub effect: Effect,
}

prims! {
    // type predicates
    /// Fixnum?
    IsFixnum "fixnum?" (Any) -> Boolean, Pure;
    /// Flonum, immediate or boxed?
    IsFlonum "flonum?" (Any) -> Boolean, Pure;
    /// Bignum?
    IsBignum "bignum?" (Any) -> Boolean, Pure;
    /// Ratnum?
    IsRatnum "ratnum?" (Any) -> Boolean, Pure;
    /// Non-real complex?
    IsCompnum "compnum?" (Any) -> Boolean, Pure;
    /// Any number?
    IsNumber "number?" (Any) -> Boolean, Pure;
    /// Pair?
    IsPair "pair?" (Any) -> Boolean, Pure;
    /// Empty list?
    IsNull "null?" (Any) -> Boolean, Pure;
    /// Boolean?
    IsBoolean "boolean?" (Any) -> Boolean, Pure;
    /// Symbol?
    IsSymbol "symbol?" (Any) -> Boolean, Pure;
    /// String?
    IsString "string?" (Any) -> Boolean, Pure;
    /// Character?
    IsChar "char?" (Any) -> Boolean, Pure;
    /// Vector?
    IsVector "vector?" (Any) -> Boolean, Pure;
    /// Bytevector?
    IsBytevector "bytevector?" (Any) -> Boolean, Pure;
    /// Procedure?
    IsProcedure "procedure?" (Any) -> Boolean, Pure;
    /// Record object of any type?
    IsRecord "record?" (Any) -> Boolean, Pure;
    /// Port?
    IsPort "port?" (Any) -> Boolean, Pure;
    /// Promise?
    IsPromise "promise?" (Any) -> Boolean, Pure;
    /// Opaque library object?
    IsOpaque "opaque?" (Any) -> Boolean, Pure;
    /// End-of-file object?
    IsEof "eof-object?" (Any) -> Boolean, Pure;
    /// Absent optional argument?
    IsDefault "default-object?" (Any) -> Boolean, Pure;
    /// Record of this type (second operand), or of one that extends it?
    IsInstance "record-instance?" (Any, Any) -> Boolean, Pure;
    /// Record of this compact type (second operand)?
    IsCompact "compact-instance?" (Any, Any) -> Boolean, Pure;
    /// Negation: `#t` for `#f` only.
    Not "not" (Any) -> Boolean, Pure;
    /// Same word?
    Eq "eq?" (Any, Any) -> Boolean, Pure;
    /// `eqv?`: same word, or equal numbers of the same exactness.
    Eqv "eqv?" (Any, Any) -> Boolean, Pure;

    // pairs
    /// Fresh pair.
    Cons "cons" (Any, Any) -> Pair, Alloc;
    /// First of a pair.
    Car "car" (Pair) -> Any, Read;
    /// Second of a pair.
    Cdr "cdr" (Pair) -> Any, Read;
    /// Stores into a pair; the result is unspecified.
    SetCar "set-car!" (Pair, Any) -> Any, Write;
    /// Stores into a pair.
    SetCdr "set-cdr!" (Pair, Any) -> Any, Write;

    // generic arithmetic: inline for fixnums and flonums, else the runtime
    /// Sum.
    Add "+" (Number, Number) -> Number, Pure;
    /// Difference.
    Sub "-" (Number, Number) -> Number, Pure;
    /// Product.
    Mul "*" (Number, Number) -> Number, Pure;
    /// Quotient `a / b` (exact ratio or flonum).
    Div "/" (Number, Number) -> Number, Pure;
    /// Numerically equal.
    NumEq "=" (Number, Number) -> Boolean, Pure;
    /// Less.
    NumLt "<" (Number, Number) -> Boolean, Pure;
    /// Less or equal.
    NumLe "<=" (Number, Number) -> Boolean, Pure;
    /// Greater.
    NumGt ">" (Number, Number) -> Boolean, Pure;
    /// Greater or equal.
    NumGe ">=" (Number, Number) -> Boolean, Pure;
    /// Truncating integer quotient.
    Quotient "quotient" (Number, Number) -> Number, Pure;
    /// Remainder with the sign of the dividend.
    Remainder "remainder" (Number, Number) -> Number, Pure;
    /// Remainder with the sign of the divisor.
    Modulo "modulo" (Number, Number) -> Number, Pure;
    /// Flooring integer quotient.
    FloorQuotient "floor-quotient" (Number, Number) -> Number, Pure;
    /// Square root: inline for non-negative flonums, else the runtime.
    Sqrt "sqrt" (Number) -> Number, Pure;
    /// Nearest flonum: inline for fixnums and flonums, else the runtime.
    Inexact "inexact" (Number) -> Number, Pure;

    // fixnums, wrapping modulo 2^61; operands are checked unless proven
    /// Wrapping sum.
    FxAdd "fx+" (Fixnum, Fixnum) -> Fixnum, Pure;
    /// Wrapping difference.
    FxSub "fx-" (Fixnum, Fixnum) -> Fixnum, Pure;
    /// Wrapping product.
    FxMul "fx*" (Fixnum, Fixnum) -> Fixnum, Pure;
    /// Equal.
    FxEq "fx=" (Fixnum, Fixnum) -> Boolean, Pure;
    /// Less.
    FxLt "fx<" (Fixnum, Fixnum) -> Boolean, Pure;
    /// Less or equal.
    FxLe "fx<=" (Fixnum, Fixnum) -> Boolean, Pure;
    /// Bitwise and.
    FxAnd "fxand" (Fixnum, Fixnum) -> Fixnum, Pure;
    /// Bitwise or.
    FxOr "fxior" (Fixnum, Fixnum) -> Fixnum, Pure;
    /// Bitwise exclusive or.
    FxXor "fxxor" (Fixnum, Fixnum) -> Fixnum, Pure;
    /// Left shift by 0..=60, wrapping.
    FxShl "fxsll" (Fixnum, Fixnum) -> Fixnum, Pure;
    /// Arithmetic right shift by 0..=60.
    FxShr "fxsra" (Fixnum, Fixnum) -> Fixnum, Pure;
    /// How many of the 61 bits are ones.
    FxOnes "fxones" (Fixnum) -> Fixnum, Pure;
    /// Bits of the integer without its sign: as many as there are up to the highest that differs from the sign.
    FxLength "fxlength" (Fixnum) -> Fixnum, Pure;
    /// Zeros below the lowest one; of 0, 61.
    FxTrailing "fxtrailing" (Fixnum) -> Fixnum, Pure;

    // flonums
    /// Sum.
    FlAdd "fl+" (Flonum, Flonum) -> Flonum, Pure;
    /// Difference.
    FlSub "fl-" (Flonum, Flonum) -> Flonum, Pure;
    /// Product.
    FlMul "fl*" (Flonum, Flonum) -> Flonum, Pure;
    /// Quotient.
    FlDiv "fl/" (Flonum, Flonum) -> Flonum, Pure;
    /// Equal.
    FlEq "fl=" (Flonum, Flonum) -> Boolean, Pure;
    /// Less.
    FlLt "fl<" (Flonum, Flonum) -> Boolean, Pure;
    /// Less or equal.
    FlLe "fl<=" (Flonum, Flonum) -> Boolean, Pure;
    /// Square root.
    FlSqrt "flsqrt" (Flonum) -> Flonum, Pure;
    /// Absolute value.
    FlAbs "flabs" (Flonum) -> Flonum, Pure;
    /// Largest integer not above.
    FlFloor "flfloor" (Flonum) -> Flonum, Pure;
    /// Smallest integer not below.
    FlCeiling "flceiling" (Flonum) -> Flonum, Pure;
    /// Integer part.
    FlTruncate "fltruncate" (Flonum) -> Flonum, Pure;
    /// Nearest integer, ties to even.
    FlRound "flround" (Flonum) -> Flonum, Pure;
    /// Flonum of a fixnum.
    FixnumToFlonum "fixnum->flonum" (Fixnum) -> Flonum, Pure;

    // complex numbers
    /// Non-real complex number of flonum parts, also if the imaginary part is zero.
    FlRectangular "fl-rectangular" (Flonum, Flonum) -> Compnum, Pure;
    /// Real part.
    CompnumReal "compnum-real" (Compnum) -> Number, Pure;
    /// Imaginary part.
    CompnumImag "compnum-imag" (Compnum) -> Number, Pure;

    // characters
    /// Scalar value.
    CharToInteger "char->integer" (Char) -> Fixnum, Pure;
    /// Character of a scalar value; checks the range and surrogates.
    IntegerToChar "integer->char" (Fixnum) -> Char, Pure;
    /// Equal.
    CharEq "char=?" (Char, Char) -> Boolean, Pure;
    /// Less.
    CharLt "char<?" (Char, Char) -> Boolean, Pure;

    // vectors, strings, bytevectors: indices are checked against the length
    /// Length.
    VectorLength "vector-length" (Vector) -> Fixnum, Pure;
    /// Element.
    VectorRef "vector-ref" (Vector, Fixnum) -> Any, Read;
    /// Store.
    VectorSet "vector-set!" (Vector, Fixnum, Any) -> Any, Write;
    /// Length in characters.
    StringLength "string-length" (String) -> Fixnum, Pure;
    /// Character.
    StringRef "string-ref" (String, Fixnum) -> Char, Read;
    /// Store a character.
    StringSet "string-set!" (String, Fixnum, Char) -> Any, Write;
    /// Length in bytes.
    BytevectorLength "bytevector-length" (Bytevector) -> Fixnum, Pure;
    /// Byte.
    BytevectorRef "bytevector-u8-ref" (Bytevector, Fixnum) -> Fixnum, Read;
    /// Store a byte (0..=255, checked).
    BytevectorSet "bytevector-u8-set!" (Bytevector, Fixnum, Fixnum) -> Any, Write;

    // homogeneous numeric vectors, in the order of `NumericKind`, from the second one on ([`Op::numeric`]). Vector and
    // index are checked.
    /// Is it a s8vector?
    IsS8Vector "s8vector?" (Any) -> Boolean, Pure;
    /// Is it a u16vector?
    IsU16Vector "u16vector?" (Any) -> Boolean, Pure;
    /// Is it a s16vector?
    IsS16Vector "s16vector?" (Any) -> Boolean, Pure;
    /// Is it a u32vector?
    IsU32Vector "u32vector?" (Any) -> Boolean, Pure;
    /// Is it a s32vector?
    IsS32Vector "s32vector?" (Any) -> Boolean, Pure;
    /// Is it a u64vector?
    IsU64Vector "u64vector?" (Any) -> Boolean, Pure;
    /// Is it a s64vector?
    IsS64Vector "s64vector?" (Any) -> Boolean, Pure;
    /// Is it a f32vector?
    IsF32Vector "f32vector?" (Any) -> Boolean, Pure;
    /// Is it a f64vector?
    IsF64Vector "f64vector?" (Any) -> Boolean, Pure;
    /// Is it a c64vector?
    IsC64Vector "c64vector?" (Any) -> Boolean, Pure;
    /// Is it a c128vector?
    IsC128Vector "c128vector?" (Any) -> Boolean, Pure;
    /// Number of elements.
    S8VectorLength "s8vector-length" (Any) -> Fixnum, Pure;
    /// Number of elements.
    U16VectorLength "u16vector-length" (Any) -> Fixnum, Pure;
    /// Number of elements.
    S16VectorLength "s16vector-length" (Any) -> Fixnum, Pure;
    /// Number of elements.
    U32VectorLength "u32vector-length" (Any) -> Fixnum, Pure;
    /// Number of elements.
    S32VectorLength "s32vector-length" (Any) -> Fixnum, Pure;
    /// Number of elements.
    U64VectorLength "u64vector-length" (Any) -> Fixnum, Pure;
    /// Number of elements.
    S64VectorLength "s64vector-length" (Any) -> Fixnum, Pure;
    /// Number of elements.
    F32VectorLength "f32vector-length" (Any) -> Fixnum, Pure;
    /// Number of elements.
    F64VectorLength "f64vector-length" (Any) -> Fixnum, Pure;
    /// Number of elements.
    C64VectorLength "c64vector-length" (Any) -> Fixnum, Pure;
    /// Number of elements.
    C128VectorLength "c128vector-length" (Any) -> Fixnum, Pure;
    /// Element.
    S8VectorRef "s8vector-ref" (Any, Fixnum) -> Fixnum, Read;
    /// Element.
    U16VectorRef "u16vector-ref" (Any, Fixnum) -> Fixnum, Read;
    /// Element.
    S16VectorRef "s16vector-ref" (Any, Fixnum) -> Fixnum, Read;
    /// Element.
    U32VectorRef "u32vector-ref" (Any, Fixnum) -> Fixnum, Read;
    /// Element.
    S32VectorRef "s32vector-ref" (Any, Fixnum) -> Fixnum, Read;
    /// Element.
    U64VectorRef "u64vector-ref" (Any, Fixnum) -> Number, Read;
    /// Element.
    S64VectorRef "s64vector-ref" (Any, Fixnum) -> Number, Read;
    /// Element.
    F32VectorRef "f32vector-ref" (Any, Fixnum) -> Flonum, Read;
    /// Element.
    F64VectorRef "f64vector-ref" (Any, Fixnum) -> Flonum, Read;
    /// Element.
    C64VectorRef "c64vector-ref" (Any, Fixnum) -> Compnum, Read;
    /// Element.
    C128VectorRef "c128vector-ref" (Any, Fixnum) -> Compnum, Read;
    /// Store.
    S8VectorSet "s8vector-set!" (Any, Fixnum, Any) -> Any, Write;
    /// Store.
    U16VectorSet "u16vector-set!" (Any, Fixnum, Any) -> Any, Write;
    /// Store.
    S16VectorSet "s16vector-set!" (Any, Fixnum, Any) -> Any, Write;
    /// Store.
    U32VectorSet "u32vector-set!" (Any, Fixnum, Any) -> Any, Write;
    /// Store.
    S32VectorSet "s32vector-set!" (Any, Fixnum, Any) -> Any, Write;
    /// Store.
    U64VectorSet "u64vector-set!" (Any, Fixnum, Any) -> Any, Write;
    /// Store.
    S64VectorSet "s64vector-set!" (Any, Fixnum, Any) -> Any, Write;
    /// Store.
    F32VectorSet "f32vector-set!" (Any, Fixnum, Flonum) -> Any, Write;
    /// Store.
    F64VectorSet "f64vector-set!" (Any, Fixnum, Flonum) -> Any, Write;

    // records. Operand 1 is the type, operand 2 says where the field is, a literal fixnum: `record::Slot::code`.
    /// A field of a record of this type, or one that extends it: `(%record-ref r rtd i)`; checks the type.
    RecordRef "record-ref" (Any, Any, Fixnum) -> Any, Read;
    /// `(%record-set! r rtd i x)`: also checks that the field may hold `x`.
    RecordSet "record-set!" (Any, Any, Fixnum, Any) -> Any, Write;
    /// `(%record-fl-ref r rtd i)`: reads a raw field that holds a flonum.
    RecordFlRef "record-fl-ref" (Any, Any, Fixnum) -> Flonum, Read;
    /// `(%record-fl-set! r rtd i x)`.
    RecordFlSet "record-fl-set!" (Any, Any, Fixnum, Flonum) -> Any, Write;
    /// An element of a field that is an array: `(%record-at r rtd i k)`, where `i` says where its first element is, and
    /// `k`, a fixnum, is known to be the index of one; checks the type.
    RecordAt "record-at" (Any, Any, Fixnum, Any) -> Any, Read;
    /// `(%record-at-set! r rtd i x k)`: also checks that the element may be `x`.
    RecordAtSet "record-at-set!" (Any, Any, Fixnum, Any, Any) -> Any, Write;
    /// `(%record-fl-at r rtd i k)`: of a raw array of flonums.
    RecordFlAt "record-fl-at" (Any, Any, Fixnum, Any) -> Flonum, Read;
    /// `(%record-fl-at-set! r rtd i x k)`.
    RecordFlAtSet "record-fl-at-set!" (Any, Any, Fixnum, Flonum, Any) -> Any, Write;
    /// A field of an element of a structure vector: `(%structure-get storage offset i)`; the offset in bytes and the
    /// storage's being one are known to be right. Only the optimizer makes these.
    StructureRef "structure-get" (Any, Any, Fixnum) -> Any, Read;
    /// `(%structure-put! storage offset i x)`: checks that the field may hold `x`.
    StructureSet "structure-put!" (Any, Any, Fixnum, Any) -> Any, Write;
    /// `(%structure-fl-get storage offset i)`: reads a raw field that holds a flonum.
    StructureFlRef "structure-fl-get" (Any, Any, Fixnum) -> Flonum, Read;
    /// `(%structure-fl-put! storage offset i x)`.
    StructureFlSet "structure-fl-put!" (Any, Any, Fixnum, Flonum) -> Any, Write;
    /// `(%raw-record rtd n)`: fresh record of `n` raw words of zeros.
    RawRecord "raw-record" (Any, Fixnum) -> Record, Alloc;
    /// `(%compact-record rtd n)`: fresh record of a compact type with `n` fields, all of them 0 or `#f`.
    CompactRecord "compact-record" (Any, Fixnum) -> Record, Alloc;
    /// The type of a record.
    RecordType "record-rtd" (Record) -> Any, Pure;

    // boxes (assignment conversion)
    /// Fresh box.
    MakeBox "box" (Any) -> Box, Alloc;
    /// Contents.
    Unbox "unbox" (Box) -> Any, Read;
    /// Store.
    SetBox "set-box!" (Box, Any) -> Any, Write;

    // library objects. The index is a literal fixnum.
    /// Port field, see `cairn_layout::object::port`.
    PortRef "port-ref" (Port, Fixnum) -> Any, Read;
    /// Store into a port field.
    PortSet "port-set!" (Port, Fixnum, Any) -> Any, Write;
    // The usual case of one character or byte in or out of a port's buffer. `#f`: not done, it takes the runtime.
    /// The next character of a port, consumed.
    PortTakeChar "port-take-char" (Any) -> Any, Write;
    /// The next character of a port.
    PortLookChar "port-look-char" (Any) -> Any, Read;
    /// The next byte of a port, consumed.
    PortTakeByte "port-take-byte" (Any) -> Any, Write;
    /// Puts a character (first operand) into a port's buffer: `#t`.
    PortPutChar "port-put-char" (Any, Any) -> Any, Write;
    /// Puts a byte (first operand) into a port's buffer: `#t`.
    PortPutByte "port-put-byte" (Any, Any) -> Any, Write;
    /// Promise contents.
    PromiseRef "promise-ref" (Promise) -> Any, Read;
    /// Store into a promise.
    PromiseSet "promise-set!" (Promise, Any) -> Any, Write;
    /// Fresh promise.
    MakePromise "make-promise-object" (Any) -> Promise, Alloc;
    /// Field of an opaque object (`(%opaque x ...)` makes one).
    OpaqueRef "opaque-ref" (Opaque, Fixnum) -> Any, Read;
    /// Store into an opaque object.
    OpaqueSet "opaque-set!" (Opaque, Fixnum, Any) -> Any, Write;
    /// Name of a symbol.
    SymbolName "symbol->string" (Symbol) -> String, Pure;
    /// Machine slot `i` (literal fixnum), see `cairn_layout::machine::slot`.
    MachineRef "machine-ref" (Fixnum) -> Any, Read;
    /// Store into a machine slot.
    MachineSet "machine-set!" (Fixnum, Any) -> Any, Write;
    /// `(%c-quiet? address)`: can the C function there call no Scheme procedure? So it is until a callback is made.
    CIsQuiet "c-quiet?" (Fixnum) -> Boolean, Read;
    /// `(%c-holds? x bytes)`: is it a homogeneous vector of at least so many bytes?
    CHolds "c-holds?" (Any, Fixnum) -> Boolean, Pure;
}

/// A primitive operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum PrimOp {
    /// Inline operation of fixed arity.
    Op(Op),
    /// `(%vector x ...)`: fresh vector of the operands.
    Vector,
    /// `(%record rtd x ...)`: fresh record.
    Record,
    /// `(%opaque x ...)`: fresh opaque object.
    Opaque,
    /// `(%c-call signature address inlined x ...)`: calls a C function with arguments that are right; see
    /// `cairn_layout::c::direct` for the signature, a literal fixnum. `inlined`, another one, is 0, or says which
    /// function of a C source LLVM puts there, `cairn_layout::c::inlined_symbol`; then nobody needs the address. An
    /// integer or an address that is no fixnum is in `Machine::c_wide`, and the result `#f`. A structure by value is a
    /// fresh bytevector.
    CCall,
    /// A runtime call.
    Rt(RtIndex),
}

/// The reference to an element of a structure vector: vector, index, storage, offset, type.
pub const STRUCTURE_REFERENCE: PrimOp = PrimOp::Rt(by_symbol("cairn_structure_reference"));
/// A reference to an element, which nothing else knows: storage, offset, type.
pub const STRUCTURE_ELEMENT: PrimOp = PrimOp::Rt(by_symbol("cairn_structure_element"));
/// Two elements change places: storage, their offsets, type.
pub const STRUCTURE_SWAP: PrimOp = PrimOp::Rt(by_symbol("cairn_structure_swap"));
/// Makes a record type that extends no other.
pub const MAKE_RECORD_TYPE: PrimOp = PrimOp::Rt(by_symbol("cairn_record_make_type"));
/// Says which fields of a type's records are printed.
pub const SHOW_RECORD_TYPE: PrimOp = PrimOp::Rt(by_symbol("cairn_record_show"));
/// Says how records of a type are sent to other places.
pub const TELL_SENT: PrimOp = PrimOp::Rt(by_symbol("cairn_place_sent"));
/// Makes a record type that extends the one that is its last operand.
pub const MAKE_RECORD_SUBTYPE: PrimOp = PrimOp::Rt(by_symbol("cairn_record_make_subtype"));
/// Makes a raw record of zeros that is too large to be made by [`Op::RawRecord`].
pub const MAKE_RAW_RECORD: PrimOp = PrimOp::Rt(by_symbol("cairn_record_make_raw"));
/// The numbers of an array in a record: record, where its first element is, length, numbers, who.
pub const RECORD_FILL: PrimOp = PrimOp::Rt(by_symbol("cairn_record_fill"));
/// A copy of a record that lies in another one: that one, its type, a list of pairs of where a value is in the copy and
/// where it is there, the copy's words, its type.
pub const RECORD_PART: PrimOp = PrimOp::Rt(by_symbol("cairn_record_part"));
/// Elements of a structure vector get the fields of a record: storage, offset, how many, record.
pub const STRUCTURE_FILL: PrimOp = PrimOp::Rt(by_symbol("cairn_structure_fill"));
/// `(%structure-type type kept?)`: the type, whose records may be elements of structure vectors from now on; whether
/// references to such elements may be kept.
pub const STRUCTURE_TYPE: PrimOp = PrimOp::Rt(by_symbol("cairn_structure_type"));

/// Makes a homogeneous numeric vector: number of its kind, length, fill, what errors call it.
pub const NUMERIC_MAKE: PrimOp = PrimOp::Rt(by_symbol("cairn_numeric_make"));

impl Op {
    /// Is it an access to a field of a record?
    pub const fn is_field_access(self) -> bool {
        matches!(self, Op::RecordRef | Op::RecordSet | Op::RecordFlRef | Op::RecordFlSet) || self.index().is_some()
    }
    /// The operand that is the index, of an access to an element of a field.
    pub const fn index(self) -> Option<usize> {
        match self {
            Op::RecordAt | Op::RecordFlAt => Some(3),
            Op::RecordAtSet | Op::RecordFlAtSet => Some(4),
            _ => None,
        }
    }
    /// What an access does whose field lies elsewhere: in a structure vector, or behind the first element of an array.
    pub const fn of_field(self) -> Op {
        match self {
            Op::StructureRef | Op::RecordAt => Op::RecordRef,
            Op::StructureSet | Op::RecordAtSet => Op::RecordSet,
            Op::StructureFlRef | Op::RecordFlAt => Op::RecordFlRef,
            Op::StructureFlSet | Op::RecordFlAtSet => Op::RecordFlSet,
            other => other,
        }
    }
    /// Does it ask whether a record is of a type, its second operand?
    pub const fn asks_type(self) -> bool {
        self.is_field_access() || matches!(self, Op::IsInstance | Op::IsCompact)
    }
    /// For operations on numeric vectors that are no bytevectors: what they do, and of which kind.
    pub fn numeric(self) -> Option<(Numeric, NumericKind)> {
        const KINDS: usize = NumericKind::ALL.len() - 1;
        let n = (self as usize).checked_sub(Op::IsS8Vector as usize)?;
        if self as usize > Op::F64VectorSet as usize {
            return None;
        }
        let access = [Numeric::Is, Numeric::Length, Numeric::Ref, Numeric::Set][n / KINDS];
        Some((access, NumericKind::ALL[n % KINDS + 1].0))
    }
    /// What errors call the operation, given its proven bits.
    pub fn called(self, proven: u8) -> &'static str {
        match self {
            Op::F64VectorRef if proven & AS_VECTOR != 0 => Op::VectorRef.info().name,
            Op::F64VectorSet if proven & AS_VECTOR != 0 => Op::VectorSet.info().name,
            Op::F64VectorLength if proven & AS_VECTOR != 0 => Op::VectorLength.info().name,
            _ => self.info().name,
        }
    }
    /// Facts about this operation.
    pub fn info(self) -> &'static OpInfo {
        &OPS[self as usize]
    }
}

/// What an operation does with a numeric vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numeric {
    /// Is it one of the kind?
    Is,
    /// How many elements has it?
    Length,
    /// An element.
    Ref,
    /// A store of an element.
    Set,
}

/// The bit among the proven ones of an operation on records that says: nothing extends the type.
pub const NEVER_EXTENDED: u8 = 1 << 1;

/// The bit among the proven ones of an operation that asks for a record type ([`Op::asks_type`]) that says: no record
/// of the type lies in a structure vector.
pub const IN_NO_VECTOR: u8 = 1 << 4;

/// The bit among the proven ones of an access to a record's field that says: the operand has passed for a record of the
/// type before, though it may be an element of a structure vector, whose fields lie elsewhere.
pub const HAS_PASSED: u8 = 1 << 5;

/// The bit among the proven ones of an operation on an element of a vector, string, bytevector or numeric vector that
/// says: the object is one of the kind, and the index a fixnum in its range. (Not that it may be changed.)
pub const IN_RANGE: u8 = 1 << 3;

/// The bit among the proven ones of an operation on an f64vector that says: to the program it is a vector, that is what
/// errors call it, and nobody else has it, so it is no literal. Then bit 0 says that it is one, as for vectors.
pub const AS_VECTOR: u8 = 1 << 7;

/// What the operations that count bits give for a fixnum, which has 61.
pub(crate) fn count_bits(op: Op, n: i64) -> i64 {
    match op {
        Op::FxOnes => (n << 3).count_ones() as i64,
        Op::FxLength => 64 - (n ^ n >> 63).leading_zeros() as i64,
        _ => n.trailing_zeros().min(61) as i64,
    }
}

/// The bit among the proven ones of generic arithmetic that says: operand `i` is a fixnum.
pub const fn fixnum_bit(i: usize) -> u8 {
    1 << (4 + i)
}

/// The bit among the proven ones of a store ([`PrimOp::stored_operand`]) that says: what is stored, operand `i`, is a
/// *scalar*, a fixnum, boolean, character, the empty list or another of the values that have neither parts nor an
/// identity.
pub const fn scalar_bit(i: usize) -> u8 {
    1 << (4 + i)
}

impl PrimOp {
    /// The primitive called `name` (without `%`).
    pub fn by_name(name: &str) -> Option<PrimOp> {
        match name {
            "vector" => return Some(PrimOp::Vector),
            "record" => return Some(PrimOp::Record),
            "opaque" => return Some(PrimOp::Opaque),
            "c-call" => return Some(PrimOp::CCall),
            _ => {}
        }
        if let Some(i) = OPS.iter().find(|i| i.name == name) {
            return Some(PrimOp::Op(i.op));
        }
        RtIndex::by_name(name).map(PrimOp::Rt)
    }
    /// Name without `%`.
    pub fn name(self) -> &'static str {
        match self {
            PrimOp::Op(op) => op.info().name,
            PrimOp::Vector => "vector",
            PrimOp::Record => "record",
            PrimOp::Opaque => "opaque",
            PrimOp::CCall => "c-call",
            PrimOp::Rt(i) => i.row().name,
        }
    }
    /// Does control come back from it?
    pub fn returns(self) -> bool {
        !matches!(self.name(), "fatal" | "exit" | "emergency-exit" | "machine-throw")
    }
    /// Number of operands, or `None` when variadic.
    pub fn arity(self) -> Option<usize> {
        match self {
            PrimOp::Op(op) => Some(op.info().args.len()),
            PrimOp::Vector | PrimOp::Record | PrimOp::Opaque | PrimOp::CCall => None,
            PrimOp::Rt(i) => Some(i.row().arity),
        }
    }
    /// Effect when no check fails.
    pub fn effect(self) -> Effect {
        match self {
            PrimOp::Op(op) => op.info().effect,
            PrimOp::Vector | PrimOp::Record | PrimOp::Opaque => Effect::Alloc,
            PrimOp::CCall => Effect::Write,
            MAKE_RECORD_TYPE => Effect::Alloc,
            PrimOp::Rt(i) if i.row().flags & PURE != 0 => Effect::Read,
            PrimOp::Rt(_) => Effect::Write,
        }
    }
    /// Operand kinds of checked operations.
    pub fn arg_kind(self, i: usize) -> Kind {
        match self {
            PrimOp::Op(op) => op.info().args[i],
            _ => Kind::Any,
        }
    }
    /// Kind of the result.
    pub fn result(self) -> Kind {
        match self {
            PrimOp::Op(op) => op.info().result,
            PrimOp::Vector => Kind::Vector,
            PrimOp::Record => Kind::Record,
            PrimOp::Opaque => Kind::Opaque,
            PrimOp::Rt(_) | PrimOp::CCall => Kind::Any,
        }
    }
    /// Is it generic arithmetic, whose "proven" bits may say [`fixnum_bit`] of its operands?
    pub fn is_generic(self) -> bool {
        use Op::*;
        matches!(
            self,
            PrimOp::Op(
                Add | Sub
                    | Mul
                    | Div
                    | NumEq
                    | NumLt
                    | NumLe
                    | NumGt
                    | NumGe
                    | Quotient
                    | Remainder
                    | Modulo
                    | FloorQuotient
            )
        )
    }
    /// The operand that the operation puts into an object made before, for operations whose "proven" bits may say
    /// [`scalar_bit`] of it.
    pub fn stored_operand(self) -> Option<usize> {
        match self {
            PrimOp::Op(Op::SetCar | Op::SetCdr | Op::SetBox) => Some(1),
            PrimOp::Op(Op::VectorSet) => Some(2),
            PrimOp::Op(Op::RecordSet | Op::RecordAtSet | Op::StructureSet) => Some(3),
            _ => None,
        }
    }
    /// Is it on an element at an index, operand 1, which may be out of range?
    pub fn is_indexed(self) -> bool {
        match self {
            PrimOp::Op(Op::VectorRef | Op::VectorSet | Op::StringRef | Op::StringSet) => true,
            PrimOp::Op(Op::BytevectorRef | Op::BytevectorSet) => true,
            PrimOp::Op(o) => matches!(o.numeric(), Some((Numeric::Ref | Numeric::Set, _))),
            _ => false,
        }
    }
    /// Can it raise, given which operand checks are proven (bit `i` for operand `i`)? Of the operands of `<` and its
    /// like, "proven" says that they are real.
    pub fn can_fail(self, proven: u8) -> bool {
        match self {
            PrimOp::Op(op) => {
                let indexed = matches!(
                    op,
                    Op::VectorRef
                        | Op::VectorSet
                        | Op::StringRef
                        | Op::StringSet
                        | Op::BytevectorRef
                        | Op::BytevectorSet
                        | Op::IntegerToChar
                        | Op::RecordSet
                        | Op::RecordAtSet
                        | Op::StructureSet
                        | Op::Div
                        | Op::Quotient
                        | Op::Remainder
                        | Op::Modulo
                        | Op::FloorQuotient
                );
                let literal_index = matches!(
                    op,
                    Op::PortRef
                        | Op::PortSet
                        | Op::OpaqueRef
                        | Op::OpaqueSet
                        | Op::MachineRef
                        | Op::MachineSet
                        | Op::RawRecord
                        | Op::CompactRecord
                        | Op::RecordRef
                        | Op::RecordFlRef
                        | Op::RecordFlSet
                        | Op::RecordAt
                        | Op::RecordAtSet
                        | Op::RecordFlAt
                        | Op::RecordFlAtSet
                        | Op::StructureRef
                        | Op::StructureSet
                        | Op::StructureFlRef
                        | Op::StructureFlSet
                );
                indexed
                    || op.numeric().is_some_and(|(access, _)| match access {
                        Numeric::Is => false,
                        Numeric::Length => proven & (AS_VECTOR | 1) != AS_VECTOR | 1,
                        Numeric::Ref | Numeric::Set => true,
                    })
                    || op.is_field_access() && proven & 1 == 0
                    || op.info().args.iter().enumerate().any(|(i, k)| {
                        *k != Kind::Any && proven & (1 << i) == 0 && !(literal_index && *k == Kind::Fixnum)
                    })
            }
            PrimOp::Vector | PrimOp::Record | PrimOp::Opaque | PrimOp::CCall => false,
            PrimOp::Rt(i) => i.row().flags & FAIL != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_order_matches_enum_and_names_are_unique() {
        for (i, info) in OPS.iter().enumerate() {
            assert_eq!(info.op as usize, i);
            assert_eq!(PrimOp::by_name(info.name), Some(PrimOp::Op(info.op)), "{}", info.name);
        }
        for (kind, name) in &NumericKind::ALL[1..] {
            let all = [
                (Numeric::Is, "?"),
                (Numeric::Length, "-length"),
                (Numeric::Ref, "-ref"),
                (Numeric::Set, "-set!"),
            ];
            for (access, end) in all {
                let found = PrimOp::by_name(&format!("{name}vector{end}"));
                match found {
                    Some(PrimOp::Op(op)) => assert_eq!(op.numeric(), Some((access, *kind)), "{name}{end}"),
                    _ => assert!(kind.is_complex() && access == Numeric::Set, "{name}{end}"),
                }
            }
        }
        assert_eq!(Op::BytevectorSet.numeric(), None);
        assert_eq!(Op::RecordRef.numeric(), None);
        for row in cairn_layout::calls::RT_CALLS {
            assert_eq!(PrimOp::by_name(row.name).map(|p| p.name()), Some(row.name), "{}", row.name);
        }
    }
}
