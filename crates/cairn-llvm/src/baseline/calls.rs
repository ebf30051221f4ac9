//! Jumps to Scheme code and calls: operands go to their registers all at once.

use super::allocate::{PARAMETERS, Place};
use super::forms::NONE;
use super::ir::*;
use super::selector::{Move, Selector};
use super::x86::*;

/// What is kept across a call.
struct Kept {
    values: Vec<Value>,
    slots: Vec<u32>,
    /// Of the frame that the call has for it.
    words: i32,
}

impl Selector<'_, '_> {
    /// Operands into registers.
    fn pass(&mut self, operands: &[Op], registers: &[u8]) -> Result<(), String> {
        let mut moves = Vec::with_capacity(operands.len());
        for (op, r) in operands.iter().zip(registers) {
            moves.push(Move { to: Place::Register(*r), from: self.locate(&self.sum(*op))?, float: false });
        }
        self.shuffle(moves)
    }

    pub(super) fn jump(&mut self, f: Op, operands: &Operands) -> Result<(), String> {
        let target = self.sum(f);
        let operands = self.f.operands(operands);
        // a register that no operand goes to, or one that is free
        let is_taken = |r: &u8| operands.iter().zip(PARAMETERS).any(|(op, to)| to == *r && !self.sum(*op).poison);
        let own = target.single().and_then(|v| self.register_of(v)).filter(|r| !is_taken(r));
        if own.is_none() && (target.base.is_some() || target.symbol.is_none()) {
            self.put(R10, &target)?;
        }
        self.pass(operands, &PARAMETERS)?;
        self.move_rsp(Group::Add);
        match (target.symbol, own) {
            (_, Some(own)) => self.code.jump_to(own),
            (Some(symbol), _) if target.base.is_none() => self.code.jump_to_symbol(symbol, target.more),
            _ => self.code.jump_to(R10),
        }
        Ok(())
    }

    pub(super) fn call_scheme(&mut self, f: Op, operands: &Operands) -> Result<(), String> {
        if !self.allocation.across(self.position).is_empty() {
            return Err("something lives across a call of Scheme code".into());
        }
        let target = self.sum(f);
        self.put(R10, &target)?;
        self.pass(self.f.operands(operands), &PARAMETERS)?;
        self.code.call(Operand::Register(R10));
        Ok(())
    }

    pub(super) fn call_c(
        &mut self,
        to: Option<Value>,
        f: Op,
        variadic: bool,
        operands: &Operands,
    ) -> Result<(), String> {
        let kept = self.keep(true, |place| !matches!(place, Place::Register(r) if survives_c(r)));
        let target = self.sum(f);
        self.put(R10, &target)?;
        self.pass(self.f.operands(operands), &C_ARGUMENTS)?;
        if variadic {
            // no doubles in vector registers
            self.code.number(RAX, 0);
        }
        self.code.call(Operand::Register(R10));
        if let Some(to) = to {
            self.made(to, RAX);
        }
        self.bring_back(&kept);
        Ok(())
    }

    /// Calls a stub: what lives in registers is there afterwards, but for `rax` and the machine's registers.
    pub(super) fn stub(&mut self, to: Value, at: i32, moves_sp: bool, operands: &Operands) -> Result<(), String> {
        let operands = self.f.operands(operands);
        // what goes to `rax`, `ctx`, `sp`, arguments, `lo`, `hi`
        let [first, _, sp, arguments @ .., lo, hi] = operands else {
            return Err("a stub without operands".into());
        };
        if !moves_sp && self.sum(*sp).single() != Some(parameter::SP_VARIABLE) {
            return Err("a stub with another stack".into());
        }
        let used = &C_ARGUMENTS[1..][..arguments.len()];
        let kept = self.keep(false, |place| matches!(place, Place::Register(r) if used.contains(&r)));
        let mut all = vec![*sp, *lo, *hi];
        all.extend(arguments);
        let mut registers = vec![R13, R14, R15];
        registers.extend(used);
        let first = self.sum(*first);
        if first.base.is_some() {
            return Err("a stub that is not known".into());
        }
        self.pass(&all, &registers)?;
        self.put(RAX, &first)?;
        self.code.call(Operand::Memory(Memory { base: Some(R12), more: at, ..Memory::default() }));
        if let Some(result) = self.forms.part(to, 0) {
            self.made(result, RAX);
        }
        self.bring_back(&kept);
        Ok(())
    }

    /// Stores what lives across this instruction in such places: in the native frame if there is one, else in one for
    /// this call, which for C leaves `rsp` as C wants it.
    fn keep(&mut self, is_for_c: bool, is_lost: impl Fn(Place) -> bool) -> Kept {
        let across = self.allocation.across(self.position);
        let values: Vec<Value> = across.iter().copied().filter(|v| is_lost(self.place(*v))).collect();
        let words = match self.has_frame {
            true => 0,
            false => values.len() as i32 | i32::from(is_for_c),
        };
        self.grow(Group::Sub, words);
        let slots: Vec<u32> = match self.has_frame {
            true => values.iter().map(|v| self.slot_for(*v)).collect(),
            false => (0..values.len() as u32).collect(),
        };
        for (v, slot) in values.iter().zip(&slots) {
            let to = self.slot(*slot);
            match self.place(*v) {
                Place::Vector(r) => self.code.store_float(true, to, r),
                Place::Register(r) => self.code.store(Width::Quad, to, r),
                _ => {}
            }
        }
        Kept { values, slots, words }
    }

    fn bring_back(&mut self, kept: &Kept) {
        for (v, slot) in kept.values.iter().zip(&kept.slots) {
            let from = Operand::Memory(self.slot(*slot));
            match self.place(*v) {
                Place::Vector(r) => self.code.load_float(true, r, from),
                Place::Register(r) => self.code.load(r, from),
                _ => {}
            }
        }
        self.grow(Group::Add, kept.words);
    }

    /// Moves `rsp` by so many words, which no other place of the native frame notices.
    fn grow(&mut self, op: Group, words: i32) {
        if words > 0 {
            self.code.group_number(op, true, Operand::Register(RSP), 8 * words);
        }
    }

    /// Where a value is kept across calls.
    fn slot_for(&mut self, value: Value) -> u32 {
        if self.kept[value as usize] == NONE {
            self.kept[value as usize] = self.slots;
            self.slots += 1;
        }
        self.kept[value as usize]
    }
}
