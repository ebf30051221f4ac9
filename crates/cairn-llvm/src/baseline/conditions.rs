//! Comparisons, and what they leave in the flags.

use super::ir::*;
use super::selector::Selector;
use super::x86::*;

impl Selector<'_, '_> {
    /// Compares two words; the condition that says what was asked.
    pub(super) fn compare(&mut self, ty: Type, condition: Condition, a: Op, b: Op) -> Result<Condition, String> {
        if let Some(maker) = self.forms.is_late(a) {
            let Inst::Binary { ty, a, b, .. } = self.f.insts[maker as usize] else {
                return Err("a test of something else".into());
            };
            self.test(ty, a, b)?;
            return Ok(condition);
        }
        let (mut a, mut b, mut condition) = (a, b, condition);
        if self.sum(a).number().is_some() && self.sum(b).number().is_none() {
            std::mem::swap(&mut a, &mut b);
            condition = swapped(condition);
        }
        let number = self.short_number(b);
        if ty == Type::I8 {
            let (Some(n), a) = (number, self.word_operand(a, RAX)?) else { return Err("a comparison".into()) };
            self.code.compare_byte(a, n as i8);
            return Ok(condition);
        }
        let wide = match ty {
            Type::I64 => true,
            Type::I32 => false,
            _ => return Err("a comparison".into()),
        };
        match number {
            Some(0) if matches!(condition, Condition::Equal | Condition::NotEqual) => {
                let a = self.word(a, RAX)?;
                self.code.test(wide, a, a);
            }
            Some(n) => {
                let a = self.word_operand(a, RAX)?;
                self.code.group_number(Group::Cmp, wide, a, n);
            }
            None => {
                let a = self.word(a, RAX)?;
                let b = self.word_operand(b, R10)?;
                self.code.group(Group::Cmp, wide, a, b);
            }
        }
        Ok(condition)
    }

    fn test(&mut self, ty: Type, a: Op, b: Op) -> Result<(), String> {
        let wide = ty == Type::I64;
        let (a, b) = if self.sum(a).number().is_some() { (b, a) } else { (a, b) };
        let number = self.short_number(b);
        let a = self.word(a, RAX)?;
        match number {
            Some(n) => self.code.test_number(wide, a, n),
            None => {
                let b = self.word(b, R10)?;
                self.code.test(wide, a, b);
            }
        }
        Ok(())
    }

    /// Compares doubles; the conditions of which one, or with `false` all, must hold.
    pub(super) fn float_compare(&mut self, condition: FloatCondition, a: Op, b: Op) -> ([u8; 2], usize) {
        const PARITY: u8 = 10;
        let (a, b) = match condition {
            FloatCondition::Less | FloatCondition::LessOrEqual => (b, a),
            _ => (a, b),
        };
        let a = self.double(a, 0);
        let b = self.double_operand(b, 1);
        self.code.compare_doubles(a, b);
        match condition {
            FloatCondition::Less | FloatCondition::Greater => ([Condition::Above as u8; 2], 1),
            FloatCondition::LessOrEqual | FloatCondition::GreaterOrEqual => {
                ([Condition::AboveOrEqual as u8; 2], 1)
            }
            // what contradicts, and what agrees
            FloatCondition::Equal | FloatCondition::UnorderedOrNotEqual => {
                ([Condition::NotEqual as u8, PARITY], 2)
            }
        }
    }

    /// A comparison of doubles as 0 or 1 in `rax`.
    pub(super) fn float_condition(&mut self, condition: FloatCondition, a: Op, b: Op) {
        let (conditions, count) = self.float_compare(condition, a, b);
        if count == 1 {
            self.code.set(conditions[0], RAX);
            return;
        }
        self.code.set(conditions[0], RAX);
        self.code.set(conditions[1], R10);
        self.code.group(Group::Or, false, RAX, Operand::Register(R10));
        if condition == FloatCondition::Equal {
            self.code.group_number(Group::Xor, false, Operand::Register(RAX), 1);
        }
    }

    /// Makes the flags say whether a condition holds.
    pub(super) fn flags(&mut self, condition: Op) -> Result<u8, String> {
        if let Some(maker) = self.forms.is_late(condition) {
            return match self.f.insts[maker as usize] {
                Inst::Compare { ty, condition, a, b, .. } => Ok(self.compare(ty, condition, a, b)? as u8),
                Inst::Part { .. } => Ok(Condition::Overflow as u8),
                _ => Err("a condition of another kind".into()),
            };
        }
        let r = self.word(condition, RAX)?;
        self.code.test(false, r, r);
        Ok(Condition::NotEqual as u8)
    }
}

/// The condition when operands change places.
fn swapped(condition: Condition) -> Condition {
    match condition {
        Condition::Below => Condition::Above,
        Condition::AboveOrEqual => Condition::BelowOrEqual,
        Condition::BelowOrEqual => Condition::AboveOrEqual,
        Condition::Above => Condition::Below,
        Condition::Less => Condition::Greater,
        Condition::GreaterOrEqual => Condition::LessOrEqual,
        Condition::LessOrEqual => Condition::GreaterOrEqual,
        Condition::Greater => Condition::Less,
        same => same,
    }
}
