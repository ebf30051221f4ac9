//! Heap checks that start their function again.
//!
//! The problem: a heap check's slow path stores what lives, calls the collector and loads everything back: dozens of
//! instructions in most functions, and two definitions of each variable from there on. The idea: most checks come
//! before anything has happened in their function. There the slow path is a jump to one piece of code that the module
//! has, `@cairn_again`: it collects with the function's arguments as roots, and enters the function once more.
//!
//! ```text
//!  short of room? ──▶ Machine::again := { function, bytes, which registers are arguments };  jump @cairn_again
//!                                        │
//!  function from the start ◀── collect ◀─┘
//! ```
//!
//! Invariants: between the entry and such a check, on every path, there is nothing but what may happen twice: no
//! effect, no allocation (else the room might be short again), no loop. Stack checks and stop checks are not made so:
//! when a stop is requested for good, as under zeal, they would never get past themselves.

use super::builder::ins;
use super::emitter::Emitter;
use super::ir_text::{Mem, Val};
use super::regs::{Place, Regs, known_place};
use cairn_core::prim::{Effect, PrimOp};
use cairn_frame::ir::*;
use cairn_layout::limits::ARG_REGISTERS;
use cairn_layout::machine::Machine;
use cairn_layout::value::Value as Word;
use std::mem::offset_of;

/// For each block, whether its start is reached with nothing done yet.
pub(super) fn fresh_blocks(f: &Function) -> Vec<bool> {
    let mut fresh = vec![false; f.blocks.len()];
    if incoming(f).is_none() || f.vars.iter().any(|v| v.rep == Rep::Double) {
        return fresh;
    }
    let mut entries = vec![0u32; f.blocks.len()];
    let successors = |b: &Block| match &b.term {
        Term::Goto(s) => [Some(*s), None],
        Term::Branch { then, els, .. } => [Some(*then), Some(*els)],
        _ => [None, None],
    };
    // only edges that can be reached count
    let (mut reached, mut todo) = (vec![false; f.blocks.len()], vec![0]);
    while let Some(b) = todo.pop() {
        if !std::mem::replace(&mut reached[b], true) {
            for s in successors(&f.blocks[b]).into_iter().flatten() {
                entries[s.0 as usize] += 1;
                todo.push(s.0 as usize);
            }
        }
    }
    // in topological order; loops and what comes after them are never ready
    let mut stale = vec![false; f.blocks.len()];
    let mut ready = if entries[0] == 0 { vec![0] } else { vec![] };
    while let Some(b) = ready.pop() {
        let block = &f.blocks[b];
        fresh[b] = !stale[b];
        let done = stale[b] || !block.stmts.iter().all(repeatable) || !repeatable_test(&block.term);
        for s in successors(block).into_iter().flatten() {
            let s = s.0 as usize;
            stale[s] |= done;
            entries[s] -= 1;
            if entries[s] == 0 {
                ready.push(s);
            }
        }
    }
    fresh
}

/// May the statement happen twice, and does it leave the nursery's room alone?
pub(super) fn repeatable(s: &Stmt) -> bool {
    match s {
        Stmt::Assign(_, op) | Stmt::Effect(op) => match op {
            Op::Copy(_) | Op::Global(_) | Op::GlobalChecked(..) | Op::Free(_) | Op::Slot(_) => true,
            Op::Prim(p) => repeatable_prim(p),
            Op::SetGlobal(..) | Op::SetGlobalChecked(..) | Op::Closure { .. } | Op::ClosurePatch { .. } => false,
        },
        Stmt::HeapCheck { bytes, .. } => *bytes > 0,
        // they go on after a collection, with other words than those that came in
        Stmt::StackCheck { .. } | Stmt::StopCheck { .. } => false,
    }
}

fn repeatable_prim(p: &Prim) -> bool {
    let runtime = matches!(p.op, PrimOp::Rt(_));
    !runtime && matches!(p.op.effect(), Effect::Pure | Effect::Read) && !p.boxes_its_result()
}

fn repeatable_test(t: &Term) -> bool {
    if let Term::Branch { test: Test::Prim(p), .. } = t { repeatable_prim(p) } else { true }
}

/// The registers that hold a function's arguments, if all of them are in registers: `argc`, `clo`, `a0`…
fn incoming(f: &Function) -> Option<[bool; 2 + ARG_REGISTERS]> {
    let mut found = [false; 2 + ARG_REGISTERS];
    match &f.kind {
        FuncKind::Body { params, closure } => {
            found[1] = closure.is_some();
            for i in 0..params.len() {
                match known_place(i, closure.is_some()) {
                    Place::Argc => found[0] = true,
                    Place::Clo => found[1] = true,
                    Place::Arg(i) => found[2 + i] = true,
                    Place::Memory(_) => return None,
                }
            }
        }
        FuncKind::Return { results: Results::Single(_), .. } => found[2] = true,
        _ => return None,
    }
    Some(found)
}

impl Emitter<'_, '_> {
    /// Enters the function under way once more, with room for `bytes` bytes. Nothing has happened in it yet.
    pub(super) fn again(&mut self, bytes: u64) {
        let (id, f) = self.func.expect("a function of the program");
        let held = incoming(f).expect("arguments in registers");
        let mask = held.iter().enumerate().fold(0, |m, (i, held)| m | (*held as u64) << i);
        let code = self.cx.symbol(id);
        let descriptor = self.cx.again(&code, Word::fixnum(bytes as i64), mask);
        let at = Val::text(format!("ptrtoint (ptr {descriptor} to i64)"));
        self.note_allocation(self.allocation);
        self.store_machine(offset_of!(Machine, again), &at);
        let mut regs = self.incoming_regs();
        for (r, held) in words(&mut regs).into_iter().zip(held) {
            if !held {
                *r = Val::poison();
            }
        }
        let sp = self.sp();
        self.jump(&Val::text("@cairn_again"), &sp, &regs);
    }

    /// Body of `@cairn_again`.
    pub(super) fn collect_and_enter(&mut self) {
        let descriptor = self.load_machine(offset_of!(Machine, again));
        let [code, bytes, mask] = [0, 8, 16].map(|at| self.load_word(&descriptor, at, Mem::Code));
        let mut regs = self.incoming_regs();
        let held: Vec<Val> = (words(&mut regs).into_iter().enumerate())
            .map(|(i, r)| {
                let top = ins!(self, "shl i64 {mask}, {}", 63 - i);
                let all = ins!(self, "ashr i64 {top}, 63");
                ins!(self, "and i64 {r}, {all}")
            })
            .collect();
        let extra: Vec<&Val> = held.iter().collect();
        let moved = self.safepoint("cairn_machine_collect", &[bytes], &[], &extra);
        words(&mut regs).into_iter().zip(moved).for_each(|(r, new)| *r = new);
        let code = ins!(self, "inttoptr i64 {code} to ptr");
        let sp = self.sp();
        self.jump(&code, &sp, &regs);
    }
}

/// The registers in the order of the mask's bits.
fn words(regs: &mut Regs) -> Vec<&mut Val> {
    [&mut regs.argc, &mut regs.clo].into_iter().chain(&mut regs.a).collect()
}
