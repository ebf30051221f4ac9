//! The instructions of LLVM's text that [`crate::emit`] writes, as data.

/// A value of a function: a parameter, an `alloca`, or what an instruction makes.
pub(super) type Value = u32;

/// A function or a global variable: its place in [`super::text::Symbols`].
pub(super) type Symbol = u32;

/// Bytes and the addresses in them that are not known yet.
#[derive(Default, Clone)]
pub(super) struct Bytes {
    pub bytes: Vec<u8>,
    pub addresses: Vec<Address>,
}

/// A word that holds an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Address {
    pub at: u32,
    pub of: Symbol,
    pub more: i64,
    /// The distance from this function instead.
    pub from: Option<Symbol>,
}

/// What instructions take.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Op {
    Value(Value),
    /// A number; for a double, its bits.
    Int(i64),
    /// An address, and so many bytes.
    Symbol(Symbol, i64),
    Poison,
}

/// Parameters have fixed numbers.
pub(super) mod parameter {
    use super::Value;

    pub const CTX: Value = 0;
    pub const SP: Value = 1;
    pub const LO: Value = 2;
    pub const HI: Value = 3;
    /// `argc`, `clo`, `a0` … `a4` follow.
    pub const ARGC: Value = 4;
    pub const CLO: Value = 5;
    pub const COUNT: Value = 11;
    /// The variables of `sp`, `lo`, `hi`.
    pub const SP_VARIABLE: Value = 11;
    pub const LO_VARIABLE: Value = 12;
    pub const HI_VARIABLE: Value = 13;
    /// From here on, in turn: temporaries, variables, and values with other names.
    pub const OTHERS: Value = 14;
}

/// Types of values and of what is in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Type {
    I1,
    I8,
    I16,
    I32,
    /// Words and pointers.
    I64,
    F32,
    F64,
}

impl Type {
    pub fn is_float(self) -> bool {
        matches!(self, Type::F32 | Type::F64)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    Lshr,
    Ashr,
    Sdiv,
    Srem,
}

impl Binary {
    pub fn commutes(self) -> bool {
        matches!(self, Binary::Add | Binary::Mul | Binary::And | Binary::Or | Binary::Xor)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Float {
    Add,
    Sub,
    Mul,
    Div,
}

/// Conditions of comparisons, by the code that `jcc` and `setcc` have for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Condition {
    Overflow = 0,
    Below = 2,
    AboveOrEqual = 3,
    Equal = 4,
    NotEqual = 5,
    BelowOrEqual = 6,
    Above = 7,
    Less = 12,
    GreaterOrEqual = 13,
    LessOrEqual = 14,
    Greater = 15,
}

/// How doubles compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FloatCondition {
    Equal,
    UnorderedOrNotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Functions of one number that LLVM knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Intrinsic {
    Ones,
    LeadingZeros,
    TrailingZeros,
    Sqrt,
    Fabs,
    Negate,
    /// To an integer, by the mode of `roundsd`.
    Round(u8),
}

/// Conversions between types, one way for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cast {
    /// The bits of a word stay.
    Same,
    Zext(Type),
    Sext(Type),
    BitsToDouble,
    DoubleToBits,
    SignedToDouble,
    DoubleToSigned,
    FloatToDouble,
    DoubleToFloat,
}

/// Operands of an instruction that has many: a part of [`Function::operands`].
pub(super) type Operands = std::ops::Range<u32>;

#[derive(Clone, Debug)]
pub(super) enum Inst {
    /// What a variable holds.
    Get {
        to: Value,
        variable: Value,
    },
    Set {
        variable: Value,
        value: Op,
    },
    Load {
        to: Value,
        ty: Type,
        at: Op,
    },
    Store {
        ty: Type,
        value: Op,
        at: Op,
    },
    /// `base` and so many bytes.
    Address {
        to: Value,
        base: Op,
        index: Op,
    },
    Cast {
        to: Value,
        cast: Cast,
        value: Op,
    },
    Binary {
        to: Value,
        ty: Type,
        op: Binary,
        a: Op,
        b: Op,
    },
    /// `fshl`, `fshr`: one half of two words that are shifted together; of the same word twice, a rotation.
    Funnel {
        to: Value,
        left: bool,
        a: Op,
        b: Op,
        bits: u8,
    },
    /// With an overflow bit: parts 0 and 1.
    Checked {
        to: Value,
        op: Binary,
        a: Op,
        b: Op,
    },
    Compare {
        to: Value,
        ty: Type,
        condition: Condition,
        a: Op,
        b: Op,
    },
    FloatCompare {
        to: Value,
        condition: FloatCondition,
        a: Op,
        b: Op,
    },
    Float {
        to: Value,
        op: Float,
        a: Op,
        b: Op,
    },
    Intrinsic {
        to: Value,
        which: Intrinsic,
        a: Op,
    },
    Select {
        to: Value,
        condition: Op,
        a: Op,
        b: Op,
    },
    /// `operands`: for each predecessor the value, and `blocks` in the same order.
    Phi {
        to: Value,
        operands: Operands,
        blocks: Operands,
    },
    /// A part of what an instruction with several results has made.
    Part {
        to: Value,
        of: Value,
        index: u8,
    },
    /// A call of a stub of the runtime's through the machine context: `rax`, then what goes to other registers. Its
    /// parts are `rax`, `lo`, `hi`, and `sp` if the stub may change it.
    Stub {
        to: Value,
        at: i32,
        moves_sp: bool,
        operands: Operands,
    },
    /// Where the native stack is when Scheme code begins: into the machine context.
    NoteStack {
        at: i32,
    },
    /// A call by C's convention.
    CallC {
        to: Option<Value>,
        f: Op,
        variadic: bool,
        operands: Operands,
    },
    /// A call of Scheme code from C: all registers may change.
    CallScheme {
        f: Op,
        operands: Operands,
    },
    /// A jump to Scheme code.
    Jump {
        f: Op,
        operands: Operands,
    },
    Goto {
        block: u32,
    },
    /// One of the blocks may be entered almost never.
    Branch {
        condition: Op,
        then: u32,
        otherwise: u32,
        unlikely: Option<u32>,
    },
    Return,
    Unreachable,
}

/// Instructions from one label to the next.
pub(super) type Block = std::ops::Range<u32>;

/// A function, and what is before its first instruction.
#[derive(Default)]
pub(super) struct Function {
    pub symbol: Symbol,
    pub is_global: bool,
    /// Called from C, not jumped to.
    pub is_c: bool,
    /// What code finds before the function's address.
    pub prefix: Bytes,
    /// What it begins with.
    pub prologue: Vec<u8>,
    pub insts: Vec<Inst>,
    pub operands: Vec<Op>,
    pub blocks: Vec<Block>,
    /// How many numbers values may have.
    pub values: u32,
    /// Values that are doubles.
    pub floats: Vec<bool>,
}

impl Function {
    pub fn operands(&self, range: &Operands) -> &[Op] {
        &self.operands[range.start as usize..range.end as usize]
    }

    /// The last instruction of a block.
    pub fn terminator(&self, block: u32) -> &Inst {
        &self.insts[self.blocks[block as usize].end as usize - 1]
    }

    /// Where a block goes.
    pub fn successors(&self, block: u32) -> ([u32; 2], usize) {
        match self.terminator(block) {
            Inst::Goto { block } => ([*block, 0], 1),
            Inst::Branch { then, otherwise, .. } => ([*then, *otherwise], 2),
            _ => ([0, 0], 0),
        }
    }
}
