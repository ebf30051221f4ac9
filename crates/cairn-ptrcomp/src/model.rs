//! A linked module as plain data: what the analysis reads of LLVM's IR, and nothing else of it.
//!
//! Values of a function are numbered: parameters first, then instructions. Instructions that neither make nor use
//! pointers are [`Op::Plain`]. Address computations keep their steps, for offsets mean something else when the layout
//! changes. Sizes of allocations and copies are described by what is known of them: [`Size`].

use cairn_llvm_c::ValueRef;
use std::collections::HashMap;

/// A function of the module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FuncId(pub u32);
/// A global variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GlobalId(pub u32);
/// A parameter or instruction of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ValueId(pub u32);

/// A source line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct At {
    /// Index into [`Module::files`].
    pub file: u32,
    /// Line; 0 if not known.
    pub line: u32,
}

/// The program.
pub struct Module {
    pub functions: Vec<Function>,
    pub globals: Vec<Global>,
    pub files: Vec<String>,
    /// Types that hints name.
    pub types: Vec<TypeName>,
    pub hints: Vec<Hint>,
    /// Of calls that came from a function put in its caller's place: the functions they lie in, innermost first, the
    /// last being the one that has them now, and the place in each.
    pub inlined: HashMap<(FuncId, ValueId), Vec<(String, At)>>,
    /// Inline assembly outside of functions, aliases or the like: why nothing may be changed.
    pub strange: Option<String>,
}

/// Between two names of a type that may be either.
pub const EITHER: &str = " or ";

/// A type, as code names it: `struct list`, `char`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeName {
    pub name: String,
    /// Bytes; 0 if not known.
    pub size: u64,
    /// A structure or union.
    pub compound: bool,
}

/// An access or the computation of an address, which says what type of object lies where. The analysis relies on none
/// of them: they are for names only.
pub struct Hint {
    pub function: FuncId,
    pub pointer: Operand,
    /// So many bytes before the pointer the object begins.
    pub back: u64,
    /// Index into [`Module::types`].
    pub of: u32,
    /// The function whose text says it, where that was put in its caller's place.
    pub inside: Option<Box<str>>,
}

/// A global variable.
pub struct Global {
    pub name: String,
    pub declared: bool,
    /// Code outside of the module uses it.
    pub kept: bool,
    /// Constant, and without pointers.
    pub literal: bool,
    /// Pointers in the initial value.
    pub pointers: Vec<(u64, Operand)>,
    /// The arrays of its type: offset, count, size of an element.
    pub runs: Vec<(u64, u64, u64)>,
    /// The reference to it.
    pub handle: ValueRef,
}

/// A function.
pub struct Function {
    pub name: String,
    pub declared: bool,
    pub intrinsic: bool,
    pub varargs: bool,
    /// Code outside of the module calls it.
    pub kept: bool,
    /// Labels of it are values (computed gotos, `asm goto`), so there can be only one version of it.
    pub fixed: bool,
    /// It is used otherwise than called.
    pub address_taken: bool,
    /// A call with the same number has the same type and convention.
    pub signature: u64,
    pub params: Vec<Kind>,
    /// Of each parameter: can an address be in it, of whatever type it is?
    pub wide: Vec<bool>,
    pub result: Kind,
    /// Values: those of parameters are `Op::Param`.
    pub values: Vec<Value>,
    /// The reference to it.
    pub handle: ValueRef,
}

/// What sort of value it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Void,
    Pointer,
    Data,
    /// Several values, a pointer among them.
    Mixed,
}

impl Kind {
    pub fn has_pointer(self) -> bool {
        matches!(self, Kind::Pointer | Kind::Mixed)
    }
}

/// A value, with the instruction that makes it.
pub struct Value {
    pub op: Op,
    pub kind: Kind,
    pub at: At,
    /// The instruction; null for parameters.
    pub handle: ValueRef,
}

/// What an instruction works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    Value(ValueId),
    /// An address in a global variable.
    Global(GlobalId, i64),
    Function(FuncId),
    Null,
    /// A number, or undefined.
    Data,
    /// A pointer of which nothing is known.
    Strange,
}

/// What is known of a number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Size {
    Const(u64),
    /// A multiple of this.
    Multiple(u64),
    /// The parameter of this function; if that is zero, it may be one, for that holds nothing either.
    Param(FuncId, u32),
    /// The product of two parameters of this function.
    Product(FuncId, u32, u32),
    Unknown,
}

impl Size {
    /// The product of two numbers of bytes or objects.
    pub fn times(self, other: Size) -> Size {
        match (self, other) {
            (Size::Const(a), Size::Const(b)) => a.checked_mul(b).map_or(Size::Unknown, Size::Const),
            (Size::Const(1), size) | (size, Size::Const(1)) => size,
            (Size::Param(f, a), Size::Param(g, b)) if f == g => Size::Product(f, a, b),
            // The larger constant is the size of the elements, the other way round the number of them.
            (_, Size::Const(n)) | (Size::Const(n), _) | (_, Size::Multiple(n)) | (Size::Multiple(n), _) => {
                Size::Multiple(n)
            }
            _ => Size::Unknown,
        }
    }

    /// Is it told by parameters?
    pub fn is_given(self) -> bool {
        matches!(self, Size::Param(..) | Size::Product(..))
    }

    /// With these in place of the parameters of a function. What is given as zero may be one.
    pub fn given(self, function: FuncId, size: impl Fn(u32) -> Size) -> Size {
        let size = |n| match size(n) {
            Size::Const(0) => Size::Unknown,
            size => size,
        };
        match self {
            Size::Param(f, n) if f == function => size(n),
            Size::Product(f, a, b) if f == function => size(a).times(size(b)),
            size => size,
        }
    }
}

/// A step of an address computation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// To a field of a structure.
    Field(u64),
    /// Along objects of this size: by this many, or by a variable number.
    Along { stride: u64, by: Option<i64> },
    /// To an element of an array inside an object.
    Element { stride: u64, count: u64, by: Option<i64> },
    /// By bytes.
    Bytes(i64),
}

/// What a program learns, when it reads data, of a pointer that may lie there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reading {
    /// The number that it is, or its upper half: that of an address is not zero.
    pub whole: bool,
    /// Part of its lower half, of which the last bits are zero.
    pub low: bool,
    /// What is read, but for whole floats, is kept somewhere: where it is more than the lower half, that may become a
    /// pointer again, alone or with the rest.
    pub carried: bool,
    /// The whole of it as a float, which can be copied, but of which no address is computed.
    pub float: bool,
}

impl Reading {
    /// What both tell.
    pub fn and(self, other: Reading) -> Reading {
        Reading {
            whole: self.whole || other.whole,
            low: self.low || other.low,
            carried: self.carried || other.carried,
            float: self.float || other.float,
        }
    }
}

/// Can data that are written be a pointer's bits, read elsewhere as a float?
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Copied {
    #[default]
    No,
    /// As an integer.
    Integer,
    /// As a float.
    Float,
}

/// Instructions.
#[derive(Clone, Debug)]
pub enum Op {
    Param,
    /// Nothing to do with pointers.
    Plain,
    Alloca,
    Load {
        from: Operand,
        size: u64,
        align: u32,
        simple: bool,
        /// Of data: what is done with them.
        reading: Reading,
    },
    Store {
        to: Operand,
        value: Operand,
        kind: Kind,
        size: u64,
        align: u32,
        simple: bool,
        copied: Copied,
    },
    /// Atomic read-modify-write: pointer, operands.
    Atomic {
        on: Operand,
        values: Vec<Operand>,
        size: u64,
        kind: Kind,
    },
    Address {
        base: Operand,
        steps: Vec<Step>,
    },
    /// The result is one of these: phi, select, freeze, aggregates.
    Join(Vec<Operand>),
    Compare {
        left: Operand,
        right: Operand,
    },
    /// To an integer; that is only compared or subtracted from another.
    ToInteger {
        of: Operand,
        harmless: bool,
    },
    FromInteger,
    /// The bits of a float are a number, or part of a vector, which can be taken for one of numbers.
    BitsOfFloat,
    Return(Operand),
    Call(Box<Call>),
    /// Whatever we know nothing of.
    Strange(Vec<Operand>),
}

/// More often than is counted.
pub const UNBOUNDED: u64 = u64::MAX;

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    pub callee: Callee,
    /// As of functions; zero if it is no plain call.
    pub signature: u64,
    /// How often it is made in one call of its function, at most; or [`UNBOUNDED`].
    pub times: u64,
    pub arguments: Vec<Operand>,
    /// What is known of each argument as a size.
    pub sizes: Vec<Size>,
    /// Of each argument: is it a null pointer or the number zero?
    pub zero: Vec<bool>,
    pub by_value: Vec<bool>,
    /// Of each argument: can an address be in it, of whatever type it is?
    pub wide: Vec<bool>,
    /// Somebody looks at the result.
    pub used: bool,
}

/// Who is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    Known(FuncId),
    Indirect(Operand),
    /// Inline assembly.
    Assembly,
}

impl Module {
    /// The function.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The position as `file:line`.
    pub fn place(&self, at: At) -> String {
        match (at.line, self.files.get(at.file as usize)) {
            (0, _) | (_, None) => "?".into(),
            (line, Some(file)) => format!("{file}:{line}"),
        }
    }

    /// Ids of all functions.
    pub fn function_ids(&self) -> impl Iterator<Item = FuncId> + use<> {
        (0..self.functions.len() as u32).map(FuncId)
    }
}
