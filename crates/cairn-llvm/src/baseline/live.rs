//! How long values live: for each one range of positions, from where it is first set to where it is last used.
//!
//! Blocks are numbered in the order of [`Forms`]; an instruction takes two positions, the first for what it uses, the
//! second for what it makes. A value that lives across a loop's end lives in all of the loop.

use super::forms::{self, Forms, NONE};
use super::ir::*;

/// From the first to the last position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub start: u32,
    pub end: u32,
}

impl Range {
    const NEVER: Range = Range { start: u32::MAX, end: 0 };

    fn add(&mut self, position: u32) {
        self.start = self.start.min(position);
        self.end = self.end.max(position);
    }

    pub fn is_empty(&self) -> bool {
        self.start == u32::MAX
    }
}

/// What lives when.
pub(super) struct Lives {
    pub ranges: Vec<Range>,
    /// The first position of each block that is reached.
    pub starts: Vec<u32>,
}

/// Values that several blocks know, and the numbers of their bits.
struct Shared {
    number: Vec<u32>,
    values: Vec<Value>,
}

/// The phis of a block: the value, what it is from each predecessor, and these.
pub(super) fn phis(f: &Function, block: u32) -> impl Iterator<Item = (Value, &[Op], &[Op])> {
    f.insts[f.blocks[block as usize].start as usize..].iter().map_while(move |inst| match inst {
        Inst::Phi { to, operands, blocks } => Some((*to, f.operands(operands), f.operands(blocks))),
        _ => None,
    })
}

/// What phis of `to` become at the end of `from`.
pub(super) fn edge(f: &Function, from: u32, to: u32) -> impl Iterator<Item = (Value, Op)> {
    phis(f, to).filter_map(move |(value, operands, blocks)| {
        let k = blocks.iter().position(|b| *b == Op::Int(from.into()))?;
        Some((value, operands[k]))
    })
}

impl Lives {
    pub fn of(f: &Function, forms: &Forms) -> Lives {
        let mut lives = Lives { ranges: vec![Range::NEVER; f.values as usize], starts: vec![0; f.blocks.len()] };
        let mut at = 2;
        for &block in &forms.order {
            lives.starts[block as usize] = at;
            at += 2 * f.blocks[block as usize].len() as u32;
        }
        let shared = lives.inside_blocks(f, forms);
        if !shared.values.is_empty() {
            lives.across_blocks(f, forms, &shared);
        }
        for parameter in 0..parameter::COUNT {
            let range = &mut lives.ranges[parameter as usize];
            if !range.is_empty() {
                range.start = 0;
            }
        }
        lives
    }

    /// The position at which a block's last instruction makes something.
    fn end(&self, f: &Function, block: u32) -> u32 {
        self.starts[block as usize] + 2 * f.blocks[block as usize].len() as u32 - 1
    }

    /// Ranges as far as blocks show them, and what is in several blocks.
    fn inside_blocks(&mut self, f: &Function, forms: &Forms) -> Shared {
        let mut home = vec![NONE; f.values as usize];
        let mut shared = Shared { number: vec![NONE; f.values as usize], values: Vec::new() };
        for &block in &forms.order {
            self.walk(f, forms, block, &mut |lives, value, position, _| {
                lives.ranges[value as usize].add(position);
                let home = &mut home[value as usize];
                if *home == NONE {
                    *home = block;
                } else if *home != block && shared.number[value as usize] == NONE {
                    shared.number[value as usize] = shared.values.len() as u32;
                    shared.values.push(value);
                }
            });
        }
        shared
    }

    /// Calls `each` with the values of a block in the order of its instructions, their positions, and whether they are
    /// set there.
    fn walk(
        &mut self,
        f: &Function,
        forms: &Forms,
        block: u32,
        each: &mut impl FnMut(&mut Lives, Value, u32, bool),
    ) {
        let start = self.starts[block as usize];
        // their predecessors set them
        for (value, ..) in phis(f, block) {
            each(self, value, start, false);
        }
        for (k, i) in f.blocks[block as usize].clone().enumerate() {
            let (inst, position) = (&f.insts[i as usize], start + 2 * k as u32);
            if matches!(inst, Inst::Phi { .. }) || forms.is_idle(inst) {
                continue;
            }
            let makes = forms::result(inst);
            if makes.is_none_or(|to| forms.has_place(to))
                || matches!(inst, Inst::Stub { .. } | Inst::Checked { .. })
            {
                forms::operands(f, inst, &mut |op| used(f, forms, op, &mut |v| each(self, v, position, false)));
            }
            if let Inst::Get { to, variable } = inst
                && forms.has_place(*to)
            {
                each(self, *variable, position, false);
            }
            match inst {
                Inst::Set { variable, .. } => each(self, *variable, position + 1, true),
                Inst::Stub { to, .. } => {
                    if let Some(part) = forms.part(*to, 0) {
                        each(self, part, position + 1, true);
                    }
                }
                Inst::Checked { to, .. } => {
                    for part in [0, 1].into_iter().filter_map(|k| forms.part(*to, k)) {
                        if forms.has_place(part) {
                            each(self, part, position + 1, true);
                        }
                    }
                }
                Inst::Part { .. } => {}
                _ => {
                    if let Some(to) = makes.filter(|to| forms.has_place(*to)) {
                        each(self, to, position + 1, true);
                    }
                }
            }
        }
        let end = self.end(f, block);
        let (successors, count) = f.successors(block);
        for &to in &successors[..count] {
            for (_, op) in edge(f, block, to) {
                used(f, forms, op, &mut |v| each(self, v, end - 1, false));
            }
        }
        for &to in &successors[..count] {
            for (value, _) in edge(f, block, to) {
                each(self, value, end, true);
            }
        }
    }

    /// Adds the positions of blocks through which values live.
    fn across_blocks(&mut self, f: &Function, forms: &Forms, shared: &Shared) {
        let words = shared.values.len().div_ceil(64);
        let mut used_first = vec![0u64; words * f.blocks.len()];
        let mut set_first = used_first.clone();
        for &block in &forms.order {
            let base = words * block as usize;
            self.walk(f, forms, block, &mut |_, value, _, is_set| {
                let n = shared.number[value as usize] as usize;
                if n == NONE as usize {
                    return;
                }
                let (word, bit) = (base + n / 64, 1u64 << (n % 64));
                if is_set {
                    set_first[word] |= bit & !used_first[word];
                } else {
                    used_first[word] |= bit & !set_first[word];
                }
            });
        }
        // what lives when a block is entered; what is used first there, and what lives behind it and is not set in it
        let mut before = used_first;
        loop {
            let mut is_same = true;
            for &block in forms.order.iter().rev() {
                let (successors, count) = f.successors(block);
                for w in 0..words {
                    let behind =
                        successors[..count].iter().fold(0, |bits, s| bits | before[words * *s as usize + w]);
                    let at = words * block as usize + w;
                    let new = before[at] | behind & !set_first[at];
                    is_same &= new == before[at];
                    before[at] = new;
                }
            }
            if is_same {
                break;
            }
        }
        for &block in &forms.order {
            let (start, end) = (self.starts[block as usize], self.end(f, block));
            let (successors, count) = f.successors(block);
            let mut add = |bits: &[u64], position: u32| {
                for (w, word) in bits.iter().enumerate() {
                    let mut left = *word;
                    while left != 0 {
                        let n = 64 * w + left.trailing_zeros() as usize;
                        left &= left - 1;
                        self.ranges[shared.values[n] as usize].add(position);
                    }
                }
            };
            add(&before[words * block as usize..][..words], start);
            for s in &successors[..count] {
                add(&before[words * *s as usize..][..words], end);
            }
        }
    }
}

/// The values with places that an operand comes to.
pub(super) fn used(f: &Function, forms: &Forms, op: Op, each: &mut dyn FnMut(Value)) {
    if let Some(maker) = forms.is_late(op) {
        let inst = &f.insts[maker as usize];
        forms::operands(f, inst, &mut |op| used(f, forms, op, each));
        return;
    }
    let sum = forms.sum(op);
    [sum.base, sum.index].into_iter().flatten().for_each(each);
}
