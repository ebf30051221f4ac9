//! Where objects are made: what heap profiles want to know.
//!
//! The idea: a program that is compiled for it notes in `Machine::allocation_site` where it is, but only on the way to
//! the runtime: on the slow path of a heap check, and before runtime calls. The fast path is the same as without. Heap
//! profiles make slow paths frequent (`cairn_heap`, `sampling.rs`).
//!
//! A heap check covers all allocations up to the next one; its site is that of the first of them which has one.

use super::builder::{ins, line};
use super::emitter::Emitter;
use super::ir_text::{Mem, Val};
use cairn_frame::ir::{FuncKind, Op, Stmt, Term};
use cairn_layout::code::Site;
use cairn_layout::machine::Machine;
use std::mem::offset_of;

impl Emitter<'_, '_> {
    /// The site of what a heap check before these statements is for.
    pub(super) fn first_allocation(&self, rest: &[Stmt], end: &Term) -> Site {
        for s in rest {
            match s {
                Stmt::HeapCheck { bytes: 1.., .. } => return Site::NONE,
                Stmt::Assign(_, op) | Stmt::Effect(op) if op.alloc_bytes() > 0 => {
                    let site = self.site_of(op);
                    if site.is_known() {
                        return site;
                    }
                }
                _ => {}
            }
        }
        // A frame in the heap.
        if let Term::Call { site, .. } = end { site.plain() } else { Site::NONE }
    }

    fn site_of(&self, op: &Op) -> Site {
        match op {
            Op::Prim(p) => p.site,
            Op::Closure { entry, .. } => match self.cx.module.functions[entry.0 as usize].kind {
                FuncKind::Entry { site, .. } => site,
                _ => Site::NONE,
            },
            _ => Site::NONE,
        }
    }

    /// Notes where the code under way allocates, if the program is compiled for that. The store is volatile: calls of
    /// the runtime may be declared not to read memory.
    pub(super) fn note_allocation(&mut self, site: Site) {
        if !self.cx.notes_sites {
            return;
        }
        let procedure = self.func.map_or("", |(_, f)| &f.procedure);
        let position = self.cx.position(site.plain(), procedure);
        let base = self.load_at(&Val::text("@cairn_site_base"), 0, Mem::Global);
        let at = ins!(self, "add i64 {}, {base}", position.0);
        let p = ins!(self, "getelementptr i8, ptr %ctx, i64 {}", offset_of!(Machine, allocation_site));
        line!(self, "store volatile i64 {at}, ptr {p}{}", Mem::Machine.suffix());
    }
}
