//! Instructions of x86-64 for a function.
//!
//! ```text
//!  hot blocks, in the order of [`Forms`]      then cold ones      then what happens between a branch and a phi
//! ```
//!
//! A function has a native frame only if it has more values than registers; whoever jumps to it, and whoever it jumps
//! to, sees the same `rsp`.

use super::allocate::{self, Allocation, PARAMETERS, Place};
use super::forms::{Forms, NONE};
use super::ir::*;
use super::live::{self, Lives};
use super::selector::{Move, Selector};
use super::x86::*;

/// What a C function wants back.
const SAVED: [u8; 6] = [RBX, RBP, R12, R13, R14, R15];

/// What comes next in the code.
type Next = Option<u32>;

/// Code of a function: returns where it begins, behind its prefix.
pub(super) fn function(code: &mut Code, f: &Function) -> Result<usize, String> {
    let forms = Forms::of(f)?;
    let lives = Lives::of(f, &forms);
    let allocation = Allocation::of(f, &forms, &lives);
    let slots = allocation.slots;
    let mut s = Selector {
        code,
        f,
        forms,
        lives,
        allocation,
        starts: vec![0; f.blocks.len()],
        jumps: Vec::new(),
        edges: Vec::new(),
        frame_sizes: Vec::new(),
        kept: vec![NONE; f.values as usize],
        slots,
        has_frame: slots > 0 || f.is_c,
        position: 0,
    };
    let start = s.begin();
    s.blocks()?;
    s.finish()?;
    Ok(start)
}

impl Selector<'_, '_> {
    /// The prefix and what comes before the first block.
    fn begin(&mut self) -> usize {
        let prefix = &self.f.prefix;
        let code = &mut *self.code;
        while !(code.bytes.len() + prefix.bytes.len()).is_multiple_of(16) {
            code.byte(0xCC);
        }
        let (base, start) = (code.bytes.len(), code.bytes.len() + prefix.bytes.len());
        code.bytes.extend_from_slice(&prefix.bytes);
        for a in &prefix.addresses {
            let at = base + a.at as usize;
            let (field, more) = match a.from {
                Some(_) => (Field::Distance, a.more + at as i64 - start as i64),
                None => (Field::Word, a.more),
            };
            code.relocations.push(Relocation { at, symbol: a.of, more, field });
        }
        code.bytes.extend_from_slice(&self.f.prologue);
        if self.f.is_c {
            SAVED.iter().for_each(|r| code.push(*r));
        }
        self.move_rsp(Group::Sub);
        if self.f.is_c {
            self.code.copy(R12, RDI);
        }
        for parameter in parameter::ARGC..parameter::COUNT {
            if let Place::Slot(_) = self.place(parameter) {
                let to = self.slot_of(parameter);
                self.code.store(Width::Quad, to, PARAMETERS[parameter as usize]);
            }
        }
        start
    }

    pub(super) fn move_rsp(&mut self, op: Group) {
        if self.has_frame {
            self.code.group_number(op, true, Operand::Register(RSP), i32::MAX);
            self.frame_sizes.push(self.code.bytes.len() - 4);
        }
    }

    fn blocks(&mut self) -> Result<(), String> {
        let layout = self.layout();
        for (k, &block) in layout.iter().enumerate() {
            self.starts[block as usize] = self.code.bytes.len();
            let next = layout.get(k + 1).copied();
            for i in self.f.blocks[block as usize].clone() {
                if let (Inst::Return, true) = (&self.f.insts[i as usize], self.is_behind_jump(block, i)) {
                    continue;
                }
                self.position = allocate::position(self.f, &self.lives, block, i);
                self.instruction(&self.f.insts[i as usize], block, next)?;
            }
        }
        Ok(())
    }

    /// Jumps to Scheme code are written as calls in front of a return.
    fn is_behind_jump(&self, block: u32, inst: u32) -> bool {
        inst > self.f.blocks[block as usize].start && matches!(self.f.insts[inst as usize - 1], Inst::Jump { .. })
    }

    /// Hot blocks, then cold ones: those that are only entered by unlikely branches, or from cold ones.
    fn layout(&self) -> Vec<u32> {
        let mut is_hot = vec![false; self.f.blocks.len()];
        is_hot[0] = true;
        for &block in &self.forms.order {
            if !is_hot[block as usize] {
                continue;
            }
            let (successors, count) = self.f.successors(block);
            let unlikely = match self.f.terminator(block) {
                Inst::Branch { unlikely: Some(u), .. } => *u,
                _ => NONE,
            };
            for s in successors[..count].iter().filter(|s| **s != unlikely) {
                is_hot[*s as usize] = true;
            }
        }
        let (mut hot, cold): (Vec<u32>, Vec<u32>) =
            self.forms.order.iter().partition(|block| is_hot[**block as usize]);
        hot.extend(cold);
        hot
    }

    /// Edges, and everything that was not known before.
    fn finish(&mut self) -> Result<(), String> {
        for (at, from, to) in std::mem::take(&mut self.edges) {
            self.patch(at, self.code.bytes.len());
            self.position = self.last_position(from);
            self.edge_moves(from, to)?;
            let jump = self.code.jump(None);
            self.jumps.push((jump, to));
        }
        for (at, block) in std::mem::take(&mut self.jumps) {
            self.patch(at, self.starts[block as usize]);
        }
        // with the return address, and what a C function saves, a multiple of 16 bytes
        let odd = if self.f.is_c { 1 + SAVED.len() as i32 } else { 1 };
        let words = self.slots as i32;
        let size = 8 * (words + (words + odd) % 2);
        for at in &self.frame_sizes {
            self.code.bytes[*at..*at + 4].copy_from_slice(&size.to_le_bytes());
        }
        Ok(())
    }

    fn last_position(&self, block: u32) -> u32 {
        allocate::position(self.f, &self.lives, block, self.f.blocks[block as usize].end - 1)
    }

    fn patch(&mut self, at: usize, target: usize) {
        let distance = (target as i64 - at as i64 - 4) as i32;
        self.code.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
    }

    fn instruction(&mut self, inst: &Inst, block: u32, next: Next) -> Result<(), String> {
        match inst {
            Inst::Phi { .. } | Inst::Part { .. } => Ok(()),
            Inst::Set { variable, value } => self.move_to(*variable, *value),
            Inst::Get { to, variable } if self.forms.has_place(*to) => self.move_to(*to, Op::Value(*variable)),
            Inst::Get { .. } => Ok(()),
            Inst::Load { to, ty, at } => self.load(*to, *ty, *at),
            Inst::Store { ty, value, at } => self.store(*ty, *value, *at),
            Inst::NoteStack { at } => {
                self.code.address_of(RAX, Memory { base: Some(RSP), more: -8, ..Memory::default() });
                self.code.store(Width::Quad, Memory { base: Some(R12), more: *at, ..Memory::default() }, RAX);
                Ok(())
            }
            Inst::Goto { block: to } => self.leave(block, *to, next),
            Inst::Branch { condition, then, otherwise, .. } => {
                self.branch(*condition, [block, *then, *otherwise], next)
            }
            Inst::Return => {
                self.move_rsp(Group::Add);
                if self.f.is_c {
                    SAVED.iter().rev().for_each(|r| self.code.pop(*r));
                }
                self.code.byte(0xC3);
                Ok(())
            }
            Inst::Unreachable => {
                self.code.bytes.extend_from_slice(&[0x0F, 0x0B]);
                Ok(())
            }
            Inst::Jump { f, operands } => self.jump(*f, operands),
            Inst::CallC { to, f, variadic, operands, .. } => self.call_c(*to, *f, *variadic, operands),
            Inst::CallScheme { f, operands } => self.call_scheme(*f, operands),
            Inst::Stub { to, at, moves_sp, operands } => self.stub(*to, *at, *moves_sp, operands),
            Inst::Checked { to, op, a, b } => self.checked(*to, *op, *a, *b),
            _ => self.operation(inst),
        }
    }

    /// Goes from one block to another, which may come next.
    fn leave(&mut self, from: u32, to: u32, next: Next) -> Result<(), String> {
        self.edge_moves(from, to)?;
        if next != Some(to) {
            let at = self.code.jump(None);
            self.jumps.push((at, to));
        }
        Ok(())
    }

    fn branch(&mut self, condition: Op, [from, then, otherwise]: [u32; 3], next: Next) -> Result<(), String> {
        if let Some(n) = self.sum_of_condition(condition) {
            return self.leave(from, if n != 0 { then } else { otherwise }, next);
        }
        if let Some(maker) = self.forms.is_late(condition)
            && let Inst::FloatCompare { condition, a, b, .. } = self.f.insts[maker as usize]
        {
            let (conditions, count) = self.float_compare(condition, a, b);
            let (jumps, last) = match condition {
                FloatCondition::Equal => (otherwise, then),
                _ => (then, otherwise),
            };
            conditions[..count].iter().for_each(|c| self.jump_if(*c, from, jumps));
            return self.leave(from, last, next);
        }
        let flags = self.flags(condition)?;
        let (flags, jumps, last) = match next {
            Some(n) if n == then => (flags ^ 1, otherwise, then),
            _ => (flags, then, otherwise),
        };
        self.jump_if(flags, from, jumps);
        self.leave(from, last, next)
    }

    fn sum_of_condition(&self, condition: Op) -> Option<i64> {
        match self.forms.is_late(condition) {
            Some(_) => None,
            None => self.sum(condition).number(),
        }
    }

    fn jump_if(&mut self, flags: u8, from: u32, to: u32) {
        let at = self.code.jump(Some(flags));
        if live::edge(self.f, from, to).next().is_some() {
            self.edges.push((at, from, to));
        } else {
            self.jumps.push((at, to));
        }
    }

    /// What phis of `to` become.
    fn edge_moves(&mut self, from: u32, to: u32) -> Result<(), String> {
        let mut moves = Vec::new();
        for (value, op) in live::edge(self.f, from, to) {
            let float = self.f.floats[value as usize];
            moves.push(Move { to: self.place(value), from: self.locate(&self.sum(op))?, float });
        }
        self.shuffle(moves)
    }
}
