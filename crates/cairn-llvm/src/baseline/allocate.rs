//! Registers for values: a linear scan over their ranges (Poletto & Sarkar 1999).
//!
//! A value has one place as long as it lives: a register, or a slot of the native frame. Where registers run out, the
//! range that ends last gets a slot. The machine's registers are fixed (`r12` … `r15`), as in all Scheme code; `rax`,
//! `r10`, `xmm0` and `xmm1` are for what an instruction needs in between.

use super::forms::{Forms, NONE};
use super::ir::*;
use super::live::{Lives, Range};
use super::x86::*;

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Nowhere,
    Register(u8),
    Vector(u8),
    /// A word of the native frame.
    Slot(u32),
}

/// Where everything is.
pub(super) struct Allocation {
    pub places: Vec<Place>,
    /// What lives across calls and stubs, by their positions, in ascending order.
    pub across: Vec<(u32, Vec<Value>)>,
    pub slots: u32,
}

const REGISTERS: [u8; 9] = [RDX, RCX, RSI, RDI, R8, R9, R11, RBX, RBP];
const VECTORS: std::ops::Range<u8> = 2..16;

/// Where parameters come: `ctx`, `sp`, `lo`, `hi`, `argc`, `clo`, `a0` … `a4`, by LLVM's `preserve_none`.
pub(super) const PARAMETERS: [u8; parameter::COUNT as usize] =
    [R12, R13, R14, R15, RDI, RSI, RDX, RCX, R8, R9, R11];

/// The register of a value that always has the same.
fn fixed(value: Value) -> Option<u8> {
    match value {
        parameter::CTX..=parameter::HI => Some(PARAMETERS[value as usize]),
        parameter::SP_VARIABLE..=parameter::HI_VARIABLE => {
            Some(PARAMETERS[(value - parameter::SP_VARIABLE + 1) as usize])
        }
        _ => None,
    }
}

/// What would save a move.
struct Wishes {
    /// To be where this value is.
    like: Vec<Value>,
    register: Vec<u8>,
}

/// No register.
const ANY: u8 = u8::MAX;

impl Wishes {
    fn of(f: &Function, forms: &Forms) -> Wishes {
        let n = f.values as usize;
        let mut wishes = Wishes { like: vec![NONE; n], register: vec![ANY; n] };
        let single = |op: Op| forms.sum(op).single();
        for &block in &forms.order {
            for i in f.blocks[block as usize].clone() {
                match &f.insts[i as usize] {
                    Inst::Set { variable, value } => wishes.alike(*variable, single(*value)),
                    Inst::Binary { to, a, .. } | Inst::Float { to, a, .. } => wishes.alike(*to, single(*a)),
                    Inst::Checked { to, a, .. } => {
                        if let Some(to) = forms.part(*to, 0) {
                            wishes.alike(to, single(*a));
                        }
                    }
                    Inst::Get { to, variable } if forms.has_place(*to) => wishes.alike(*to, Some(*variable)),
                    Inst::Phi { to, operands, .. } => {
                        f.operands(operands).iter().for_each(|op| wishes.alike(*to, single(*op)));
                    }
                    Inst::Jump { operands, .. } => {
                        for (op, register) in f.operands(operands).iter().zip(PARAMETERS) {
                            if let Some(v) = single(*op) {
                                wishes.register[v as usize] = register;
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        wishes
    }

    fn alike(&mut self, value: Value, other: Option<Value>) {
        if let Some(other) = other.filter(|other| *other != value) {
            self.like[value as usize] = other;
            if self.like[other as usize] == NONE {
                self.like[other as usize] = value;
            }
        }
    }
}

/// One kind of registers, and what is in them.
struct Bank {
    all: Vec<u8>,
    /// What is in a register until when.
    active: Vec<(Value, u8, u32)>,
}

impl Bank {
    fn is_free(&self, register: u8) -> bool {
        self.all.contains(&register) && self.active.iter().all(|(_, r, _)| *r != register)
    }

    fn expire(&mut self, start: u32) {
        self.active.retain(|(.., end)| *end >= start);
    }

    fn free(&self) -> Option<u8> {
        self.all.iter().copied().find(|r| self.active.iter().all(|(_, other, _)| other != r))
    }
}

impl Allocation {
    pub fn of(f: &Function, forms: &Forms, lives: &Lives) -> Allocation {
        let wishes = Wishes::of(f, forms);
        let mut a = Allocation { places: vec![Place::Nowhere; f.values as usize], across: Vec::new(), slots: 0 };
        let mut values: Vec<(Range, Value)> = Vec::new();
        for (value, range) in lives.ranges.iter().enumerate() {
            match fixed(value as Value) {
                Some(register) => a.places[value] = Place::Register(register),
                None if range.is_empty() => {}
                None => values.push((*range, value as Value)),
            }
        }
        values.sort_unstable_by_key(|(range, value)| (range.start, *value));
        let mut words = Bank { all: REGISTERS.to_vec(), active: Vec::new() };
        let mut doubles = Bank { all: VECTORS.collect(), active: Vec::new() };
        let mut calls = calls(f, forms, lives).into_iter().peekable();
        for (range, value) in values {
            while let Some(call) = calls.next_if(|call| *call < range.start) {
                a.note(call, [&words, &doubles]);
            }
            let is_float = f.floats[value as usize];
            let bank = if is_float { &mut doubles } else { &mut words };
            bank.expire(range.start);
            a.give(bank, &wishes, value, range, is_float);
        }
        calls.for_each(|call| a.note(call, [&words, &doubles]));
        a.keep_across();
        a
    }

    fn note(&mut self, call: u32, banks: [&Bank; 2]) {
        let live = banks.iter().flat_map(|bank| &bank.active).filter(|(.., end)| *end > call);
        self.across.push((call, live.map(|(value, ..)| *value).collect()));
    }

    /// A register, or a slot for what ends last.
    fn give(&mut self, bank: &mut Bank, wishes: &Wishes, value: Value, range: Range, is_float: bool) {
        let wanted = match value {
            parameter::ARGC..parameter::COUNT => PARAMETERS[value as usize],
            _ => match self.places.get(wishes.like[value as usize] as usize) {
                Some(Place::Register(r) | Place::Vector(r)) if bank.is_free(*r) => *r,
                _ => wishes.register[value as usize],
            },
        };
        let place = |r| if is_float { Place::Vector(r) } else { Place::Register(r) };
        let free = if bank.is_free(wanted) { Some(wanted) } else { bank.free() };
        let register = free.or_else(|| {
            let (k, last) = bank.active.iter().enumerate().max_by_key(|(_, (.., end))| *end)?;
            let (other, register, end) = *last;
            (end > range.end).then(|| {
                bank.active.swap_remove(k);
                self.places[other as usize] = self.new_slot();
                register
            })
        });
        self.places[value as usize] = match register {
            Some(r) => {
                bank.active.push((value, r, range.end));
                place(r)
            }
            None => self.new_slot(),
        };
    }

    fn new_slot(&mut self) -> Place {
        self.slots += 1;
        Place::Slot(self.slots - 1)
    }

    /// Only what is in registers has to be kept.
    fn keep_across(&mut self) {
        let places = &self.places;
        for (_, values) in &mut self.across {
            values.retain(|v| matches!(places[*v as usize], Place::Register(_) | Place::Vector(_)));
        }
    }

    /// What lives across the call at a position.
    pub fn across(&self, position: u32) -> &[Value] {
        match self.across.binary_search_by_key(&position, |(p, _)| *p) {
            Ok(k) => &self.across[k].1,
            Err(_) => &[],
        }
    }
}

/// The positions of calls.
fn calls(f: &Function, forms: &Forms, lives: &Lives) -> Vec<u32> {
    let mut calls = Vec::new();
    for &block in &forms.order {
        let start = lives.starts[block as usize];
        for (k, i) in f.blocks[block as usize].clone().enumerate() {
            if let Inst::CallC { .. } | Inst::CallScheme { .. } | Inst::Stub { .. } = f.insts[i as usize] {
                calls.push(start + 2 * k as u32);
            }
        }
    }
    calls
}

/// The position of an instruction.
pub(super) fn position(f: &Function, lives: &Lives, block: u32, inst: u32) -> u32 {
    lives.starts[block as usize] + 2 * (inst - f.blocks[block as usize].start)
}
