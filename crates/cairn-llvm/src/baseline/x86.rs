//! Instructions of x86-64 as bytes (Intel's manual, volume 2).

use super::ir::Symbol;

pub(super) const RAX: u8 = 0;
pub(super) const RCX: u8 = 1;
pub(super) const RDX: u8 = 2;
pub(super) const RBX: u8 = 3;
pub(super) const RSP: u8 = 4;
pub(super) const RBP: u8 = 5;
pub(super) const RSI: u8 = 6;
pub(super) const RDI: u8 = 7;
pub(super) const R8: u8 = 8;
pub(super) const R9: u8 = 9;
pub(super) const R10: u8 = 10;
pub(super) const R11: u8 = 11;
pub(super) const R12: u8 = 12;
pub(super) const R13: u8 = 13;
pub(super) const R14: u8 = 14;
pub(super) const R15: u8 = 15;

/// Where C functions take words.
pub(super) const C_ARGUMENTS: [u8; 6] = [RDI, RSI, RDX, RCX, R8, R9];

/// Does a C function leave the register as it is?
pub(super) fn survives_c(register: u8) -> bool {
    matches!(register, RBX | RBP | R12..=R15)
}

/// A place in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    pub base: Option<u8>,
    pub index: Option<u8>,
    pub symbol: Option<Symbol>,
    pub more: i32,
}

/// The second operand of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Register(u8),
    Memory(Memory),
}

/// How an address goes into code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Field {
    /// Four bytes, from the end of the field.
    Relative,
    /// Four bytes, which are sign extended.
    Signed,
    /// Four bytes, which are zero extended.
    Unsigned,
    /// Eight bytes, from where the field is.
    Distance,
    /// Eight bytes.
    Word,
}

/// An address in code or data that is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relocation {
    pub at: usize,
    pub symbol: Symbol,
    pub more: i64,
    pub field: Field,
}

/// The operations of the group that has an opcode with every kind of operand, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Group {
    Add = 0,
    Or = 1,
    And = 4,
    Sub = 5,
    Xor = 6,
    Cmp = 7,
}

/// Shifts, by the numbers of their group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shift {
    Rol = 0,
    Ror = 1,
    Shl = 4,
    Shr = 5,
    Sar = 7,
}

/// Widths of operations on registers for words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    Byte,
    Half,
    Double,
    Quad,
}

/// Code under construction.
#[derive(Default)]
pub(super) struct Code {
    pub bytes: Vec<u8>,
    pub relocations: Vec<Relocation>,
}

impl Code {
    pub fn byte(&mut self, b: u8) {
        self.bytes.push(b);
    }

    fn int(&mut self, n: i32) {
        self.bytes.extend_from_slice(&n.to_le_bytes());
    }

    fn address(&mut self, symbol: Symbol, more: i64, field: Field) {
        let at = self.bytes.len();
        self.relocations.push(Relocation { at, symbol, more, field });
        self.int(0);
    }

    /// An instruction: a prefix that comes before `REX` (0: none), whether it is for 64 bits, one to three bytes of
    /// opcode, a register or a number for its place, an operand.
    pub fn instruction(&mut self, prefix: u8, wide: bool, opcode: &[u8], register: u8, operand: Operand) {
        self.with_rex(prefix, wide, false, opcode, register, operand);
    }

    /// One whose registers are bytes; without `REX`, numbers from 4 on would be the second bytes of others.
    fn of_bytes(&mut self, opcode: &[u8], register: u8, operand: Operand) {
        let is_second = |r: u8| (RSP..R8).contains(&r);
        let always = is_second(register) || matches!(operand, Operand::Register(r) if is_second(r));
        self.with_rex(0, false, always, opcode, register, operand);
    }

    fn with_rex(&mut self, prefix: u8, wide: bool, always: bool, opcode: &[u8], register: u8, operand: Operand) {
        if prefix != 0 {
            self.byte(prefix);
        }
        let (b, x) = match operand {
            Operand::Register(r) => (r >> 3, 0),
            Operand::Memory(m) => (m.base.unwrap_or(0) >> 3, m.index.unwrap_or(0) >> 3),
        };
        let rex = 0x40 | u8::from(wide) << 3 | (register >> 3) << 2 | x << 1 | b;
        if rex != 0x40 || always {
            self.byte(rex);
        }
        self.bytes.extend_from_slice(opcode);
        let register = (register & 7) << 3;
        match operand {
            Operand::Register(r) => self.byte(0xC0 | register | r & 7),
            Operand::Memory(m) => self.memory(register, m),
        }
    }

    /// `ModRM`, `SIB` and displacement.
    fn memory(&mut self, register: u8, m: Memory) {
        let (base, index) = match (m.base, m.index) {
            // `rsp` is no index
            (Some(base), Some(RSP)) => (Some(RSP), Some(base)),
            both => both,
        };
        let Some(base) = base else {
            // no base: four bytes of displacement
            self.byte(register | 4);
            self.byte((index.unwrap_or(RSP) & 7) << 3 | 5);
            self.displacement(m);
            return;
        };
        let mode = match m {
            Memory { symbol: Some(_), .. } => 0x80,
            Memory { more: 0, .. } if base & 7 != RBP => 0,
            Memory { more: -128..=127, .. } => 0x40,
            _ => 0x80,
        };
        match index {
            None if base & 7 != RSP => self.byte(mode | register | base & 7),
            _ => {
                self.byte(mode | register | 4);
                self.byte((index.unwrap_or(RSP) & 7) << 3 | base & 7);
            }
        }
        match mode {
            0 => {}
            0x40 => self.byte(m.more as u8),
            _ => self.displacement(m),
        }
    }

    fn displacement(&mut self, m: Memory) {
        match m.symbol {
            Some(symbol) => self.address(symbol, m.more.into(), Field::Signed),
            None => self.int(m.more),
        }
    }

    // ---- words

    /// `mov register, operand`
    pub fn load(&mut self, to: u8, from: Operand) {
        self.instruction(0, true, &[0x8B], to, from);
    }

    pub fn copy(&mut self, to: u8, from: u8) {
        if to != from {
            self.load(to, Operand::Register(from));
        }
    }

    /// A load of less than a word, zero extended.
    pub fn load_unsigned(&mut self, width: Width, to: u8, from: Operand) {
        match width {
            Width::Byte => self.of_bytes(&[0x0F, 0xB6], to, from),
            Width::Half => self.instruction(0, false, &[0x0F, 0xB7], to, from),
            Width::Double => self.instruction(0, false, &[0x8B], to, from),
            Width::Quad => self.load(to, from),
        }
    }

    /// A load of less than a word, sign extended.
    pub fn load_signed(&mut self, width: Width, to: u8, from: Operand) {
        match width {
            Width::Byte => self.instruction(0, true, &[0x0F, 0xBE], to, from),
            Width::Half => self.instruction(0, true, &[0x0F, 0xBF], to, from),
            Width::Double => self.instruction(0, true, &[0x63], to, from),
            Width::Quad => self.load(to, from),
        }
    }

    pub fn store(&mut self, width: Width, to: Memory, from: u8) {
        let to = Operand::Memory(to);
        match width {
            Width::Byte => self.of_bytes(&[0x88], from, to),
            Width::Half => self.instruction(0x66, false, &[0x89], from, to),
            Width::Double => self.instruction(0, false, &[0x89], from, to),
            Width::Quad => self.instruction(0, true, &[0x89], from, to),
        }
    }

    /// Stores a number, which for a word must fit into 32 bits.
    pub fn store_number(&mut self, width: Width, to: Memory, n: i64) {
        let to = Operand::Memory(to);
        match width {
            Width::Byte => {
                self.of_bytes(&[0xC6], 0, to);
                self.byte(n as u8);
            }
            Width::Half => {
                self.instruction(0x66, false, &[0xC7], 0, to);
                self.bytes.extend_from_slice(&(n as i16).to_le_bytes());
            }
            Width::Double => {
                self.instruction(0, false, &[0xC7], 0, to);
                self.int(n as i32);
            }
            Width::Quad => {
                self.instruction(0, true, &[0xC7], 0, to);
                self.int(n as i32);
            }
        }
    }

    /// Stores the address of a symbol.
    pub fn store_address(&mut self, to: Memory, symbol: Symbol, more: i64) {
        self.instruction(0, true, &[0xC7], 0, Operand::Memory(to));
        self.address(symbol, more, Field::Signed);
    }

    /// A number into a register, the shortest way that leaves the flags alone.
    pub fn number(&mut self, to: u8, n: i64) {
        if u32::try_from(n).is_ok() {
            self.short_move(to);
            self.int(n as u32 as i32);
        } else if i32::try_from(n).is_ok() {
            self.instruction(0, true, &[0xC7], 0, Operand::Register(to));
            self.int(n as i32);
        } else {
            self.byte(0x48 | to >> 3);
            self.byte(0xB8 | to & 7);
            self.bytes.extend_from_slice(&n.to_le_bytes());
        }
    }

    /// The address of a symbol into a register.
    pub fn symbol(&mut self, to: u8, symbol: Symbol, more: i64) {
        self.short_move(to);
        self.address(symbol, more, Field::Unsigned);
    }

    /// `mov r32, imm32`, without its number.
    fn short_move(&mut self, to: u8) {
        if to >= 8 {
            self.byte(0x41);
        }
        self.byte(0xB8 | to & 7);
    }

    pub fn address_of(&mut self, to: u8, m: Memory) {
        self.instruction(0, true, &[0x8D], to, Operand::Memory(m));
    }

    /// `op register, operand`
    pub fn group(&mut self, op: Group, wide: bool, to: u8, from: Operand) {
        self.instruction(0, wide, &[(op as u8) << 3 | 3], to, from);
    }

    /// `op operand, number`
    pub fn group_number(&mut self, op: Group, wide: bool, to: Operand, n: i32) {
        if let Ok(short) = i8::try_from(n) {
            self.instruction(0, wide, &[0x83], op as u8, to);
            self.byte(short as u8);
        } else {
            self.instruction(0, wide, &[0x81], op as u8, to);
            self.int(n);
        }
    }

    /// Compares a byte in memory or a register with a number.
    pub fn compare_byte(&mut self, a: Operand, n: i8) {
        self.of_bytes(&[0x80], Group::Cmp as u8, a);
        self.byte(n as u8);
    }

    pub fn test(&mut self, wide: bool, a: u8, b: u8) {
        self.instruction(0, wide, &[0x85], b, Operand::Register(a));
    }

    pub fn test_number(&mut self, wide: bool, a: u8, n: i32) {
        if (0..128).contains(&n) {
            self.of_bytes(&[0xF6], 0, Operand::Register(a));
            self.byte(n as u8);
        } else {
            self.instruction(0, wide, &[0xF7], 0, Operand::Register(a));
            self.int(n);
        }
    }

    pub fn multiply(&mut self, wide: bool, to: u8, from: Operand) {
        self.instruction(0, wide, &[0x0F, 0xAF], to, from);
    }

    pub fn multiply_number(&mut self, wide: bool, to: u8, from: Operand, n: i32) {
        self.instruction(0, wide, &[0x69], to, from);
        self.int(n);
    }

    pub fn shift(&mut self, op: Shift, wide: bool, to: u8, bits: u8) {
        self.instruction(0, wide, &[0xC1], op as u8, Operand::Register(to));
        self.byte(bits);
    }

    /// By `cl`.
    pub fn shift_by_cl(&mut self, op: Shift, wide: bool, to: u8) {
        self.instruction(0, wide, &[0xD3], op as u8, Operand::Register(to));
    }

    /// `shld`, `shrd`
    pub fn double_shift(&mut self, left: bool, to: u8, from: u8, bits: u8) {
        let opcode = if left { 0xA4 } else { 0xAC };
        self.instruction(0, true, &[0x0F, opcode], from, Operand::Register(to));
        self.byte(bits);
    }

    /// `rdx:rax` by a register: the quotient in `rax`, the rest in `rdx`.
    pub fn divide(&mut self, by: u8) {
        self.bytes.extend_from_slice(&[0x48, 0x99]); // cqo
        self.instruction(0, true, &[0xF7], 7, Operand::Register(by));
    }

    pub fn push(&mut self, register: u8) {
        if register >= 8 {
            self.byte(0x41);
        }
        self.byte(0x50 | register & 7);
    }

    pub fn pop(&mut self, register: u8) {
        if register >= 8 {
            self.byte(0x41);
        }
        self.byte(0x58 | register & 7);
    }

    /// 0 or 1 in a register, by a condition.
    pub fn set(&mut self, condition: u8, to: u8) {
        self.of_bytes(&[0x0F, 0x90 | condition], 0, Operand::Register(to));
        self.load_unsigned(Width::Byte, to, Operand::Register(to));
    }

    pub fn move_if(&mut self, condition: u8, to: u8, from: Operand) {
        self.instruction(0, true, &[0x0F, 0x40 | condition], to, from);
    }

    // ---- jumps

    /// `jmp` or, with a condition, `jcc`; returns where its four bytes are.
    pub fn jump(&mut self, condition: Option<u8>) -> usize {
        match condition {
            Some(c) => self.bytes.extend_from_slice(&[0x0F, 0x80 | c]),
            None => self.byte(0xE9),
        }
        self.int(0);
        self.bytes.len() - 4
    }

    pub fn jump_to_symbol(&mut self, symbol: Symbol, more: i64) {
        self.byte(0xE9);
        self.address(symbol, more - 4, Field::Relative);
    }

    pub fn jump_to(&mut self, register: u8) {
        self.instruction(0, false, &[0xFF], 4, Operand::Register(register));
    }

    pub fn call(&mut self, target: Operand) {
        self.instruction(0, false, &[0xFF], 2, target);
    }

    // ---- doubles

    /// `movsd` or `movss` to a register.
    pub fn load_float(&mut self, double: bool, to: u8, from: Operand) {
        match from {
            Operand::Register(from) if from == to => {}
            Operand::Register(_) => self.instruction(0, false, &[0x0F, 0x28], to, from),
            Operand::Memory(_) => {
                self.instruction(if double { 0xF2 } else { 0xF3 }, false, &[0x0F, 0x10], to, from)
            }
        }
    }

    pub fn store_float(&mut self, double: bool, to: Memory, from: u8) {
        let prefix = if double { 0xF2 } else { 0xF3 };
        self.instruction(prefix, false, &[0x0F, 0x11], from, Operand::Memory(to));
    }

    /// The bits of a word as a double.
    pub fn bits_to_double(&mut self, to: u8, from: u8) {
        self.instruction(0x66, true, &[0x0F, 0x6E], to, Operand::Register(from));
    }

    pub fn double_to_bits(&mut self, to: u8, from: u8) {
        self.instruction(0x66, true, &[0x0F, 0x7E], from, Operand::Register(to));
    }

    pub fn zero_double(&mut self, to: u8) {
        self.instruction(0, false, &[0x0F, 0x57], to, Operand::Register(to));
    }

    /// An instruction on doubles: `addsd` is 0x58, `mulsd` 0x59, `subsd` 0x5C, `divsd` 0x5E, `sqrtsd` 0x51.
    pub fn float(&mut self, opcode: u8, to: u8, from: Operand) {
        self.instruction(0xF2, false, &[0x0F, opcode], to, from);
    }

    pub fn compare_doubles(&mut self, a: u8, b: Operand) {
        self.instruction(0x66, false, &[0x0F, 0x2E], a, b);
    }
}
