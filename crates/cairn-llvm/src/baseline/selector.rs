//! One function's code under construction: where values are, and what brings them where they are wanted.

use super::allocate::{Allocation, Place};
use super::forms::{Forms, Sum};
use super::ir::*;
use super::live::Lives;
use super::x86::*;

/// One function's code under construction.
pub(super) struct Selector<'c, 'f> {
    pub code: &'c mut Code,
    pub f: &'f Function,
    pub forms: Forms,
    pub lives: Lives,
    pub allocation: Allocation,
    /// Where blocks begin.
    pub starts: Vec<usize>,
    /// Jumps to blocks: where their four bytes are.
    pub jumps: Vec<(usize, u32)>,
    /// Edges with something to do: the jump that leads there, from, to.
    pub edges: Vec<(usize, u32, u32)>,
    /// Where the size of the frame has to be written.
    pub frame_sizes: Vec<usize>,
    /// Slots of values that are kept across calls, if there is a frame.
    pub kept: Vec<u32>,
    pub slots: u32,
    pub has_frame: bool,
    /// The position of the instruction.
    pub position: u32,
}

/// A sum by the places of its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Located {
    pub values: [Option<Place>; 2],
    pub symbol: Option<Symbol>,
    pub more: i64,
    pub poison: bool,
}

/// A move that is one of several at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub to: Place,
    pub from: Located,
    pub float: bool,
}

impl Move {
    pub fn reads(&self, place: Place) -> bool {
        self.from.values.contains(&Some(place))
    }

    /// Is there nothing to do?
    pub fn is_idle(&self) -> bool {
        let stays = self.from.values == [Some(self.to), None] && self.from.more == 0 && self.from.symbol.is_none();
        stays || self.from.poison || self.to == Place::Nowhere
    }
}

impl Selector<'_, '_> {
    pub(super) fn place(&self, value: Value) -> Place {
        self.allocation.places[value as usize]
    }

    pub(super) fn slot(&self, slot: u32) -> Memory {
        Memory { base: Some(RSP), more: 8 * slot as i32, ..Memory::default() }
    }

    /// The slot of a value that has one.
    pub(super) fn slot_of(&self, value: Value) -> Memory {
        match self.place(value) {
            Place::Slot(slot) => self.slot(slot),
            place => unreachable!("{place:?}"),
        }
    }

    /// A value, where an instruction takes any operand.
    fn operand(&self, value: Value) -> Operand {
        self.operand_at(self.place(value))
    }

    pub(super) fn operand_at(&self, place: Place) -> Operand {
        match place {
            Place::Register(r) | Place::Vector(r) => Operand::Register(r),
            Place::Slot(slot) => Operand::Memory(self.slot(slot)),
            Place::Nowhere => unreachable!("a value without a place is used"),
        }
    }

    pub(super) fn sum(&self, op: Op) -> Sum {
        self.forms.sum(op)
    }

    pub(super) fn register_of(&self, value: Value) -> Option<u8> {
        match self.place(value) {
            Place::Register(r) => Some(r),
            _ => None,
        }
    }

    /// A number that fits into an instruction, if it is that.
    pub(super) fn short_number(&self, op: Op) -> Option<i32> {
        self.sum(op).number().and_then(|n| i32::try_from(n).ok())
    }

    /// A word in a register: its own, or this one.
    pub(super) fn word(&mut self, op: Op, scratch: u8) -> Result<u8, String> {
        let sum = self.sum(op);
        if let Some(r) = sum.single().and_then(|v| self.register_of(v)) {
            return Ok(r);
        }
        self.put(scratch, &sum)?;
        Ok(scratch)
    }

    /// A word as an operand: in memory, if it is a value in a slot.
    pub(super) fn word_operand(&mut self, op: Op, scratch: u8) -> Result<Operand, String> {
        match self.sum(op).single() {
            Some(v) => Ok(self.operand(v)),
            None => Ok(Operand::Register(self.word(op, scratch)?)),
        }
    }

    /// Puts a sum into a register. The flags stay, but where both values are in slots.
    pub(super) fn put(&mut self, to: u8, sum: &Sum) -> Result<(), String> {
        let located = self.locate(sum)?;
        self.put_located(to, &located);
        Ok(())
    }

    /// Where the parts of a sum are.
    pub(super) fn locate(&self, sum: &Sum) -> Result<Located, String> {
        let at = |v: Option<Value>| v.map(|v| self.place(v));
        let values = [at(sum.base), at(sum.index)];
        if values[0].is_some() && i32::try_from(sum.more).is_err() {
            return Err("a large distance".into());
        }
        if values.contains(&Some(Place::Nowhere)) {
            return Err("a value without a place is used".into());
        }
        Ok(Located { values, symbol: sum.symbol, more: sum.more, poison: sum.poison })
    }

    pub(super) fn put_located(&mut self, to: u8, l: &Located) {
        let memory = Memory { symbol: l.symbol, more: l.more as i32, ..Memory::default() };
        let is_plain = l.more == 0 && l.symbol.is_none();
        match l.values {
            _ if l.poison => {}
            [None, _] => match l.symbol {
                Some(symbol) => self.code.symbol(to, symbol, l.more),
                None => self.code.number(to, l.more),
            },
            [Some(Place::Register(r)), None] if is_plain => self.code.copy(to, r),
            [Some(Place::Register(r)), None] => self.code.address_of(to, Memory { base: Some(r), ..memory }),
            [Some(Place::Register(r)), Some(Place::Register(i))] => {
                self.code.address_of(to, Memory { base: Some(r), index: Some(i), ..memory });
            }
            [Some(Place::Register(r)), Some(slot)] | [Some(slot), Some(Place::Register(r))] if r != to => {
                self.code.load(to, self.operand_at(slot));
                self.code.address_of(to, Memory { base: Some(to), index: Some(r), ..memory });
            }
            [Some(first), more] => {
                // `to` is one of the values, if one of them is in a register
                let (first, more) = match more {
                    Some(second @ Place::Register(_)) => (second, Some(first)),
                    _ => (first, more),
                };
                if first != Place::Register(to) {
                    self.code.load(to, self.operand_at(first));
                }
                if let Some(slot) = more {
                    self.code.group(Group::Add, true, to, self.operand_at(slot));
                }
                if !is_plain {
                    self.code.address_of(to, Memory { base: Some(to), ..memory });
                }
            }
        }
    }

    /// A place in memory; `r10` helps.
    pub(super) fn memory(&mut self, at: Op) -> Result<Memory, String> {
        let sum = self.sum(at);
        let more = i32::try_from(sum.more).map_err(|_| "a large distance")?;
        let registers = [sum.base, sum.index].map(|v| v.map(|v| self.register_of(v)));
        let memory = Memory { base: None, index: None, symbol: sum.symbol, more };
        Ok(match (sum.base, sum.index, registers) {
            (None, ..) => memory,
            (_, None, [Some(Some(b)), _]) => Memory { base: Some(b), ..memory },
            (_, Some(_), [Some(Some(b)), Some(Some(i))]) => Memory { base: Some(b), index: Some(i), ..memory },
            (Some(slot), None, _) => {
                self.code.load(R10, self.operand(slot));
                Memory { base: Some(R10), ..memory }
            }
            (Some(base), Some(index), [b, i]) => match (b.flatten(), i.flatten()) {
                (Some(r), None) => {
                    self.code.load(R10, self.operand(index));
                    Memory { base: Some(R10), index: Some(r), ..memory }
                }
                (None, Some(r)) => {
                    self.code.load(R10, self.operand(base));
                    Memory { base: Some(R10), index: Some(r), ..memory }
                }
                _ => {
                    self.code.load(R10, self.operand(base));
                    self.code.group(Group::Add, true, R10, self.operand(index));
                    Memory { base: Some(R10), ..memory }
                }
            },
        })
    }

    /// The register in which a value is made: its own, or this one; then [`Selector::made`].
    pub(super) fn target(&self, value: Value, scratch: u8) -> u8 {
        match self.place(value) {
            Place::Register(r) | Place::Vector(r) => r,
            _ => scratch,
        }
    }

    /// A value has been made in this register. The flags stay.
    pub(super) fn made(&mut self, value: Value, register: u8) {
        match self.place(value) {
            Place::Register(r) => self.code.copy(r, register),
            Place::Vector(r) => self.code.load_float(true, r, Operand::Register(register)),
            Place::Slot(slot) if self.f.floats[value as usize] => {
                self.code.store_float(true, self.slot(slot), register);
            }
            Place::Slot(slot) => self.code.store(Width::Quad, self.slot(slot), register),
            Place::Nowhere => {}
        }
    }

    /// A double in a register: its own, or this one.
    pub(super) fn double(&mut self, op: Op, scratch: u8) -> u8 {
        let sum = self.sum(op);
        match sum.single() {
            Some(v) => match self.operand(v) {
                Operand::Register(r) => r,
                memory => {
                    self.code.load_float(true, scratch, memory);
                    scratch
                }
            },
            None => {
                self.double_number(scratch, sum.more);
                scratch
            }
        }
    }

    fn double_number(&mut self, to: u8, bits: i64) {
        if bits == 0 {
            self.code.zero_double(to);
        } else {
            self.code.number(RAX, bits);
            self.code.bits_to_double(to, RAX);
        }
    }

    pub(super) fn double_operand(&mut self, op: Op, scratch: u8) -> Operand {
        match self.sum(op).single() {
            Some(v) => self.operand(v),
            None => Operand::Register(self.double(op, scratch)),
        }
    }

    /// Moves an operand to where a value is; `rax` and `xmm0` help.
    pub(super) fn move_to(&mut self, value: Value, op: Op) -> Result<(), String> {
        let sum = self.sum(op);
        if sum.poison {
            return Ok(());
        }
        match self.place(value) {
            Place::Nowhere => Ok(()),
            Place::Register(r) => self.put(r, &sum),
            Place::Vector(r) => {
                let from = self.double(op, r);
                self.code.load_float(true, r, Operand::Register(from));
                Ok(())
            }
            Place::Slot(_) if sum.single() == Some(value) => Ok(()),
            Place::Slot(_) if self.f.floats[value as usize] => {
                let (to, from) = (self.slot_of(value), self.double(op, 0));
                self.code.store_float(true, to, from);
                Ok(())
            }
            Place::Slot(_) => {
                let to = self.slot_of(value);
                match sum.number() {
                    Some(n) if i32::try_from(n).is_ok() => self.code.store_number(Width::Quad, to, n),
                    _ => {
                        let from = self.word(op, RAX)?;
                        self.code.store(Width::Quad, to, from);
                    }
                }
                Ok(())
            }
        }
    }
}
