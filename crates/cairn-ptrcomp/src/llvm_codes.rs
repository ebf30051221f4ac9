//! Numbers of LLVM 19's C interface: what `LLVMGetInstructionOpcode`, `LLVMGetValueKind` and `LLVMGetTypeKind` return.
//!
//! Only those that the analysis or the rewriting tells apart; invariant: they are those of `llvm-c/Core.h`.

/// `LLVMOpcode`.
pub(crate) mod opcode {
    pub const RET: i32 = 1;
    pub const BR: i32 = 2;
    pub const SWITCH: i32 = 3;
    pub const INDIRECT_BR: i32 = 4;
    pub const UNREACHABLE: i32 = 7;
    pub const ADD: i32 = 8;
    pub const SUB: i32 = 10;
    pub const MUL: i32 = 12;
    pub const UDIV: i32 = 14;
    pub const SDIV: i32 = 15;
    pub const SHL: i32 = 20;
    pub const AND: i32 = 23;
    pub const OR: i32 = 24;
    pub const ALLOCA: i32 = 26;
    pub const LOAD: i32 = 27;
    pub const STORE: i32 = 28;
    pub const GEP: i32 = 29;
    pub const TRUNC: i32 = 30;
    pub const ZEXT: i32 = 31;
    pub const SEXT: i32 = 32;
    pub const UI_TO_FP: i32 = 35;
    pub const SI_TO_FP: i32 = 36;
    pub const PTR_TO_INT: i32 = 39;
    pub const INT_TO_PTR: i32 = 40;
    pub const BIT_CAST: i32 = 41;
    pub const ICMP: i32 = 42;
    pub const FCMP: i32 = 43;
    pub const PHI: i32 = 44;
    pub const CALL: i32 = 45;
    pub const SELECT: i32 = 46;
    pub const INSERT_ELEMENT: i32 = 51;
    pub const EXTRACT_VALUE: i32 = 53;
    pub const INSERT_VALUE: i32 = 54;
    pub const FENCE: i32 = 55;
    pub const CMP_XCHG: i32 = 56;
    pub const RMW: i32 = 57;
    pub const CALL_BR: i32 = 67;
    pub const FREEZE: i32 = 68;

    /// Comparisons, switches, products and quotients, arithmetic of floats and what they become.
    pub const MAKES_NO_ADDRESS: [i32; 19] =
        [ICMP, FCMP, SWITCH, 9, 11, MUL, 13, UDIV, 15, 16, 17, 18, 19, 33, 34, 35, 36, 37, 66];
}

/// `LLVMValueKind`.
pub(crate) mod value_kind {
    pub const ARGUMENT: i32 = 0;
    pub const BLOCK: i32 = 1;
    pub const FUNCTION: i32 = 5;
    pub const GLOBAL: i32 = 8;
    pub const BLOCK_ADDRESS: i32 = 9;
    pub const CONSTANT_EXPR: i32 = 10;
    pub const CONSTANT_STRUCT: i32 = 12;
    pub const UNDEF: i32 = 14;
    pub const AGGREGATE_ZERO: i32 = 15;
    pub const INT: i32 = 18;
    pub const FLOAT: i32 = 19;
    pub const NULL: i32 = 20;
    pub const METADATA: i32 = 22;
    pub const ASSEMBLY: i32 = 23;
    pub const INSTRUCTION: i32 = 24;
    pub const POISON: i32 = 25;
}

/// `LLVMTypeKind`.
pub(crate) mod type_kind {
    pub const VOID: i32 = 0;
    pub const FLOAT: i32 = 2;
    pub const DOUBLE: i32 = 3;
    pub const INTEGER: i32 = 8;
    pub const STRUCT: i32 = 10;
    pub const ARRAY: i32 = 11;
    pub const POINTER: i32 = 12;
    pub const VECTOR: i32 = 13;
}
