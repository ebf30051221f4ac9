//! What makes one value: arithmetic, conversions, loads; and stores.

use super::allocate::Place;
use super::forms::{self, Sum};
use super::ir::*;
use super::selector::Selector;
use super::x86::*;

impl Selector<'_, '_> {
    /// What makes one value, which may not be wanted or be computed elsewhere.
    pub(super) fn operation(&mut self, inst: &Inst) -> Result<(), String> {
        let Some(to) = forms::result(inst) else { return Ok(()) };
        if !self.forms.has_place(to) || self.place(to) == Place::Nowhere {
            return Ok(());
        }
        match inst {
            Inst::Address { base, index, .. } => self.sum_of(to, *base, *index),
            Inst::Binary { ty, op, a, b, .. } => self.binary(to, *ty, *op, *a, *b),
            Inst::Funnel { left, a, b, bits, .. } => self.funnel(to, *left, [*a, *b], *bits),
            Inst::Cast { cast, value, .. } => self.cast(to, *cast, *value),
            Inst::Compare { ty, condition, a, b, .. } => {
                let condition = self.compare(*ty, *condition, *a, *b)?;
                let target = self.target(to, RAX);
                self.code.set(condition as u8, target);
                self.made(to, target);
                Ok(())
            }
            Inst::FloatCompare { condition, a, b, .. } => {
                self.float_condition(*condition, *a, *b);
                self.made(to, RAX);
                Ok(())
            }
            Inst::Float { op, a, b, .. } => {
                self.float(to, *op, *a, *b);
                Ok(())
            }
            Inst::Intrinsic { which, a, .. } => self.intrinsic(to, *which, *a),
            Inst::Select { condition, a, b, .. } => self.select(to, *condition, *a, *b),
            _ => Err(format!("no code for {inst:?}")),
        }
    }

    /// An address of more than two values.
    fn sum_of(&mut self, to: Value, base: Op, index: Op) -> Result<(), String> {
        let index = self.word(index, R10)?;
        let base = self.sum(base);
        self.put(RAX, &base)?;
        self.code.group(Group::Add, true, RAX, Operand::Register(index));
        self.made(to, RAX);
        Ok(())
    }

    pub(super) fn load(&mut self, to: Value, ty: Type, at: Op) -> Result<(), String> {
        let from = Operand::Memory(self.memory(at)?);
        if ty.is_float() {
            let target = self.target(to, 0);
            self.code.load_float(ty == Type::F64, target, from);
            self.made(to, target);
        } else {
            let target = self.target(to, RAX);
            self.code.load_unsigned(width(ty)?, target, from);
            self.made(to, target);
        }
        Ok(())
    }

    pub(super) fn store(&mut self, ty: Type, value: Op, at: Op) -> Result<(), String> {
        let to = self.memory(at)?;
        let sum = self.sum(value);
        if ty.is_float() {
            let from = self.double(value, 0);
            self.code.store_float(ty == Type::F64, to, from);
            return Ok(());
        }
        match (sum.number(), &sum) {
            (Some(n), _) if i32::try_from(n).is_ok() => self.code.store_number(width(ty)?, to, n),
            (None, Sum { base: None, symbol: Some(symbol), more, .. }) if ty == Type::I64 => {
                self.code.store_address(to, *symbol, *more);
            }
            _ => {
                let from = self.word(value, RAX)?;
                self.code.store(width(ty)?, to, from);
            }
        }
        Ok(())
    }

    fn binary(&mut self, to: Value, ty: Type, op: Binary, a: Op, b: Op) -> Result<(), String> {
        let wide = match ty {
            Type::I64 => true,
            Type::I32 | Type::I1 => false,
            _ => return Err("an operation on less than 32 bits".into()),
        };
        match op {
            Binary::Shl => return self.shift(to, Shift::Shl, wide, a, b),
            Binary::Lshr => return self.shift(to, Shift::Shr, wide, a, b),
            Binary::Ashr => return self.shift(to, Shift::Sar, wide, a, b),
            Binary::Sdiv | Binary::Srem => return self.divide(to, op, a, b),
            _ => {}
        }
        let target = self.two_operands(to, op, wide, a, b)?;
        self.made(to, target);
        Ok(())
    }

    /// `a op b` in a register, which is returned; the flags are the operation's.
    fn two_operands(&mut self, to: Value, op: Binary, wide: bool, a: Op, b: Op) -> Result<u8, String> {
        let (mut a, mut b) = (a, b);
        if op.commutes() && self.sum(a).number().is_some() {
            std::mem::swap(&mut a, &mut b);
        }
        let mut target = self.target(to, RAX);
        let reads = |s: &Self, op: Op, r: u8| {
            let sum = s.sum(op);
            [sum.base, sum.index].into_iter().flatten().any(|v| s.register_of(v) == Some(r))
        };
        if reads(self, b, target) {
            if op.commutes() && !reads(self, a, target) && self.sum(b).single().is_some() {
                std::mem::swap(&mut a, &mut b);
            } else if self.sum(a).single() != self.sum(b).single() || self.sum(b).single().is_none() {
                target = RAX;
            }
        }
        let number = self.short_number(b);
        if let (Binary::Mul, Some(n)) = (op, number) {
            let from = self.word_operand(a, target)?;
            self.code.multiply_number(wide, target, from, n);
            return Ok(target);
        }
        let a = self.sum(a);
        self.put(target, &a)?;
        let group = match op {
            Binary::Add => Group::Add,
            Binary::Sub => Group::Sub,
            Binary::And => Group::And,
            Binary::Or => Group::Or,
            Binary::Xor => Group::Xor,
            _ => {
                let b = self.word_operand(b, R10)?;
                self.code.multiply(wide, target, b);
                return Ok(target);
            }
        };
        match number {
            Some(n) => self.code.group_number(group, wide, Operand::Register(target), n),
            None => {
                let b = self.word_operand(b, R10)?;
                self.code.group(group, wide, target, b);
            }
        }
        Ok(target)
    }

    fn shift(&mut self, to: Value, op: Shift, wide: bool, a: Op, b: Op) -> Result<(), String> {
        let value = self.sum(a);
        if let Some(bits) = self.sum(b).number() {
            let target = self.target(to, RAX);
            self.put(target, &value)?;
            self.code.shift(op, wide, target, bits as u8);
            self.made(to, target);
            return Ok(());
        }
        self.put(RAX, &value)?;
        let count = self.sum(b);
        self.code.copy(R10, RCX);
        self.put(RCX, &count)?;
        self.code.shift_by_cl(op, wide, RAX);
        self.code.copy(RCX, R10);
        self.made(to, RAX);
        Ok(())
    }

    fn divide(&mut self, to: Value, op: Binary, a: Op, b: Op) -> Result<(), String> {
        let (a, b) = (self.sum(a), self.sum(b));
        self.put(R10, &b)?;
        self.put(RAX, &a)?;
        let is_own = self.place(to) == Place::Register(RDX);
        if !is_own {
            self.code.push(RDX);
        }
        self.code.divide(R10);
        if op == Binary::Srem {
            self.code.copy(RAX, RDX);
        }
        if !is_own {
            self.code.pop(RDX);
        }
        self.made(to, RAX);
        Ok(())
    }

    fn funnel(&mut self, to: Value, left: bool, [a, b]: [Op; 2], bits: u8) -> Result<(), String> {
        let (a, b) = (self.sum(a), self.sum(b));
        if a == b {
            let target = self.target(to, RAX);
            self.put(target, &a)?;
            self.code.shift(if left { Shift::Rol } else { Shift::Ror }, true, target, bits);
            self.made(to, target);
            return Ok(());
        }
        let (high, low) = (a, b);
        self.put(R10, if left { &low } else { &high })?;
        self.put(RAX, if left { &high } else { &low })?;
        self.code.double_shift(left, RAX, R10, bits);
        self.made(to, RAX);
        Ok(())
    }

    pub(super) fn checked(&mut self, to: Value, op: Binary, a: Op, b: Op) -> Result<(), String> {
        let (result, overflow) = (self.forms.part(to, 0), self.forms.part(to, 1));
        let target = self.two_operands(result.unwrap_or(to), op, true, a, b)?;
        if let Some(result) = result {
            self.made(result, target);
        }
        if let Some(overflow) = overflow.filter(|v| self.forms.has_place(*v)) {
            self.code.set(Condition::Overflow as u8, RAX);
            self.made(overflow, RAX);
        }
        Ok(())
    }

    fn cast(&mut self, to: Value, cast: Cast, value: Op) -> Result<(), String> {
        match cast {
            Cast::Same => return Err("a conversion that is a sum has a place".into()),
            Cast::Zext(Type::I1) => return self.move_to(to, value),
            Cast::Zext(ty) | Cast::Sext(ty) => {
                let from = self.word_operand(value, RAX)?;
                let target = self.target(to, RAX);
                match cast {
                    Cast::Zext(_) => self.code.load_unsigned(width(ty)?, target, from),
                    _ => self.code.load_signed(width(ty)?, target, from),
                }
                self.made(to, target);
            }
            Cast::BitsToDouble => {
                let (from, target) = (self.word(value, RAX)?, self.target(to, 0));
                self.code.bits_to_double(target, from);
                self.made(to, target);
            }
            Cast::DoubleToBits => {
                let (from, target) = (self.double(value, 0), self.target(to, RAX));
                self.code.double_to_bits(target, from);
                self.made(to, target);
            }
            Cast::SignedToDouble => {
                let from = self.word_operand(value, RAX)?;
                let target = self.target(to, 0);
                self.code.zero_double(target);
                self.code.instruction(0xF2, true, &[0x0F, 0x2A], target, from);
                self.made(to, target);
            }
            Cast::DoubleToSigned => {
                let from = self.double_operand(value, 0);
                let target = self.target(to, RAX);
                self.code.instruction(0xF2, true, &[0x0F, 0x2C], target, from);
                self.made(to, target);
            }
            Cast::FloatToDouble | Cast::DoubleToFloat => {
                let from = self.double(value, 0);
                let target = self.target(to, 0);
                let prefix = if cast == Cast::FloatToDouble { 0xF3 } else { 0xF2 };
                self.code.instruction(prefix, false, &[0x0F, 0x5A], target, Operand::Register(from));
                self.made(to, target);
            }
        }
        Ok(())
    }

    fn float(&mut self, to: Value, op: Float, a: Op, b: Op) {
        let target = match self.target(to, 0) {
            own if self.double_place(b) == Some(own) && self.double_place(a) != Some(own) => 0,
            own => own,
        };
        let from = self.double(a, target);
        self.code.load_float(true, target, Operand::Register(from));
        let b = self.double_operand(b, 1);
        let opcode = match op {
            Float::Add => 0x58,
            Float::Mul => 0x59,
            Float::Sub => 0x5C,
            Float::Div => 0x5E,
        };
        self.code.float(opcode, target, b);
        self.made(to, target);
    }

    fn double_place(&self, op: Op) -> Option<u8> {
        match self.sum(op).single().map(|v| self.place(v)) {
            Some(Place::Vector(r)) => Some(r),
            _ => None,
        }
    }

    fn intrinsic(&mut self, to: Value, which: Intrinsic, a: Op) -> Result<(), String> {
        match which {
            Intrinsic::Ones => {
                let a = self.word_operand(a, RAX)?;
                let target = self.target(to, RAX);
                self.code.instruction(0xF3, true, &[0x0F, 0xB8], target, a);
                self.made(to, target);
            }
            Intrinsic::LeadingZeros | Intrinsic::TrailingZeros => {
                let is_leading = which == Intrinsic::LeadingZeros;
                let a = self.word_operand(a, RAX)?;
                self.code.number(R10, if is_leading { 127 } else { 64 });
                self.code.instruction(0, true, &[0x0F, if is_leading { 0xBD } else { 0xBC }], RAX, a);
                self.code.move_if(Condition::Equal as u8, RAX, Operand::Register(R10));
                if is_leading {
                    self.code.group_number(Group::Xor, true, Operand::Register(RAX), 63);
                }
                self.made(to, RAX);
            }
            Intrinsic::Sqrt => {
                let a = self.double_operand(a, 0);
                let target = self.target(to, 0);
                self.code.float(0x51, target, a);
                self.made(to, target);
            }
            Intrinsic::Round(mode) => {
                let a = self.double_operand(a, 0);
                let target = self.target(to, 0);
                self.code.instruction(0x66, false, &[0x0F, 0x3A, 0x0B], target, a);
                self.code.byte(mode);
                self.made(to, target);
            }
            Intrinsic::Fabs | Intrinsic::Negate => {
                let a = self.double(a, 0);
                self.code.double_to_bits(RAX, a);
                // `btr` clears a bit, `btc` changes it
                let number = if which == Intrinsic::Fabs { 6 } else { 7 };
                self.code.instruction(0, true, &[0x0F, 0xBA], number, Operand::Register(RAX));
                self.code.byte(63);
                let target = self.target(to, 0);
                self.code.bits_to_double(target, RAX);
                self.made(to, target);
            }
        }
        Ok(())
    }

    fn select(&mut self, to: Value, condition: Op, a: Op, b: Op) -> Result<(), String> {
        let flags = self.flags(condition)?;
        let (a, b) = (self.sum(a), self.sum(b));
        for sum in [&a, &b] {
            let in_slot = |v: Option<Value>| v.is_some_and(|v| self.register_of(v).is_none());
            if sum.index.is_some() && (in_slot(sum.base) || in_slot(sum.index)) {
                return Err("a choice of sums".into());
            }
        }
        self.put(RAX, &b)?;
        self.put(R10, &a)?;
        self.code.move_if(flags, RAX, Operand::Register(R10));
        self.made(to, RAX);
        Ok(())
    }
}

fn width(ty: Type) -> Result<Width, String> {
    Ok(match ty {
        Type::I8 => Width::Byte,
        Type::I16 => Width::Half,
        Type::I32 => Width::Double,
        Type::I64 => Width::Quad,
        _ => return Err("a width".into()),
    })
}
