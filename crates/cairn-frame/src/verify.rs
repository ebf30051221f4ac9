//! Checks the invariants of the Frame IR (listed in [`crate::ir`]); knows nothing of how they were established.

use crate::graph::VarSet;
use crate::ir::*;
use crate::split::{CHECK_LIMIT, final_successors, final_term_uses};

/// All violations found, each naming its function and block.
pub fn verify(m: &Module) -> Result<(), Vec<String>> {
    let mut errors = vec![];
    for f in &m.functions {
        let mut check = Checker { m, f, errors: &mut errors };
        check.function();
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

struct Checker<'a> {
    m: &'a Module,
    f: &'a Function,
    errors: &'a mut Vec<String>,
}

impl Checker<'_> {
    fn error(&mut self, block: usize, what: String) {
        self.errors.push(format!("{} b{block}: {what}", self.f.name));
    }

    fn function(&mut self) {
        let f = self.f;
        if let FuncKind::Entry { clauses, .. } = &f.kind {
            for c in clauses {
                let FuncKind::Body { params, .. } = &self.m.function(c.body).kind else {
                    return self.error(0, format!("clause body {} is not a body", self.m.function(c.body).name));
                };
                // Lifted free variables never meet an entry.
                if params.len() as u32 != c.required + c.rest as u32 {
                    self.error(0, "clause and body differ in parameters".into());
                }
            }
            return;
        }
        self.assigned_before_use();
        for (i, b) in f.blocks.iter().enumerate() {
            self.heap_checks(i, b);
            self.block(i, b);
        }
    }

    /// Forward dataflow: the variables assigned on every path to a block.
    fn assigned_before_use(&mut self) {
        let f = self.f;
        let n = f.vars.len();
        let mut entry = VarSet::new(n);
        match &f.kind {
            FuncKind::Body { params, closure } => params.iter().chain(closure).for_each(|v| {
                entry.insert(*v);
            }),
            FuncKind::Return { results, .. } => crate::graph::results_defs(results, |v| {
                entry.insert(v);
            }),
            FuncKind::Entry { .. } => {}
        }
        let closure = match &f.kind {
            FuncKind::Body { closure, .. } => *closure,
            _ => None,
        };
        let mut at: Vec<Option<VarSet>> = vec![None; f.blocks.len()];
        at[0] = Some(entry);
        let mut work = vec![0usize];
        while let Some(b) = work.pop() {
            let mut set = at[b].clone().expect("reached");
            for s in &f.blocks[b].stmts {
                if let Stmt::Assign(v, _) = s {
                    set.insert(*v);
                }
            }
            for s in final_successors(&f.blocks[b].term) {
                let s = s.0 as usize;
                let new = match &at[s] {
                    None => Some(set.clone()),
                    Some(old) => {
                        let mut meet = VarSet::new(n);
                        old.iter().filter(|v| set.contains(*v)).for_each(|v| {
                            meet.insert(v);
                        });
                        (meet != *old).then_some(meet)
                    }
                };
                if let Some(new) = new {
                    at[s] = Some(new);
                    work.push(s);
                }
            }
        }
        for (i, b) in f.blocks.iter().enumerate() {
            let Some(mut set) = at[i].clone() else { continue };
            let mut bad = vec![];
            for s in &b.stmts {
                crate::graph::stmt_uses(s, closure, |v| {
                    if !set.contains(v) {
                        bad.push(v);
                    }
                });
                match s {
                    Stmt::Assign(v, _) => {
                        set.insert(*v);
                    }
                    Stmt::HeapCheck { live, .. } => {
                        bad.extend(live.iter().copied().filter(|v| !set.contains(*v)));
                    }
                    Stmt::Effect(_) => {}
                }
            }
            final_term_uses(&b.term, |v| {
                if !set.contains(v) {
                    bad.push(v);
                }
            });
            for v in bad {
                self.error(i, format!("{}.{} is used before it is assigned", f.vars[v.0 as usize].name, v.0));
            }
        }
    }

    fn heap_checks(&mut self, i: usize, b: &Block) {
        let mut room = 0u32;
        for s in &b.stmts {
            match s {
                // A poll leaves at least the room it found.
                Stmt::HeapCheck { bytes, .. } => room = room.max(*bytes),
                Stmt::Assign(_, op) | Stmt::Effect(op) => {
                    let need = op.alloc_bytes();
                    if need > room {
                        self.error(i, format!("{need} bytes are allocated without a heap check"));
                    }
                    room = room.saturating_sub(need);
                    if need > CHECK_LIMIT {
                        self.error(i, format!("an inline allocation of {need} bytes is too large"));
                    }
                }
            }
        }
        if let Term::Call { frame, .. } = &b.term
            && self.m.strategy.frames_in_heap
            && (8 * frame.frame.words).max(16) > room
        {
            self.error(i, "a heap frame is allocated without a heap check".into());
        }
    }

    fn block(&mut self, i: usize, b: &Block) {
        for s in &b.stmts {
            let (Stmt::Assign(_, op) | Stmt::Effect(op)) = s else { continue };
            match (op, &self.f.kind) {
                (Op::Slot(s), FuncKind::Return { frame, .. }) if frame.live.contains(s) => {}
                (Op::Slot(s), _) => self.error(i, format!("slot {s} is not live in the incoming frame")),
                (Op::Free(_), FuncKind::Body { closure: Some(_), .. }) => {}
                (Op::Free(_), _) => self.error(i, "a free variable is loaded without a closure".into()),
                (Op::Prim(p), _) if p.op.arity().is_some_and(|n| n != p.args.len()) => {
                    self.error(i, format!("{} has {} operands", p.op.name(), p.args.len()));
                }
                _ => {}
            }
        }
        for s in final_successors(&b.term) {
            if s.0 as usize >= self.f.blocks.len() || s.0 == 0 {
                self.error(i, format!("jump to b{}", s.0));
            }
        }
        match &b.term {
            Term::TailCall { callee: Callee::Known(g, _), args, .. }
            | Term::Call { callee: Callee::Known(g, _), args, .. } => match &self.m.function(*g).kind {
                FuncKind::Body { params, .. } if params.len() == args.len() => {}
                _ => self.error(
                    i,
                    format!("direct call of {} with {} arguments", self.m.function(*g).name, args.len()),
                ),
            },
            Term::Call { callee: Callee::Apply(_), args, .. }
            | Term::TailCall { callee: Callee::Apply(_), args, .. }
                if args.len() != 1 =>
            {
                self.error(i, "apply takes one list".into());
            }
            _ => {}
        }
        if let Term::Call { frame, ret, .. } = &b.term {
            let top = frame.frame.live.last().map_or(0, |s| s + 1);
            if frame.frame.words != self.m.strategy.header_words + top {
                self.error(i, "frame size does not fit its slots".into());
            }
            match &self.m.function(*ret).kind {
                FuncKind::Return { frame: expected, .. } if *expected == frame.frame => {}
                _ => self.error(i, format!("{} does not expect this frame", self.m.function(*ret).name)),
            }
            for s in &frame.frame.live {
                let stored = frame.stores.iter().any(|(t, _)| t == s);
                let kept = self.m.strategy.reuse
                    && matches!(&self.f.kind, FuncKind::Return { frame, .. } if frame.live.contains(s));
                if !stored && !kept {
                    self.error(i, format!("slot {s} of the new frame is never stored"));
                }
            }
        }
    }
}
