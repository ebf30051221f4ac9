//! Checks the invariants of the Frame IR (listed in [`crate::ir`]); knows nothing of how they were established.
//!
//! First the references: every block, variable, function and global that is named exists and is of the right kind; what
//! follows relies on it. Then, per function, what it hands over and keeps is within `cairn_layout::limits`, a forward
//! dataflow over variables, and a walk through each block.

pub(crate) mod bounds;
mod checker;
mod cycles;
mod reads;

use crate::flow::VarSet;
use crate::ir::*;
use bounds::allocated;
use cairn_core::ir::Literal;
use cairn_core::prim::Kind;
use cairn_num::Number;
use checker::Checker;
use std::collections::HashMap;

/// All violations found, each naming its function and block.
pub fn verify(m: &Module) -> Result<(), Vec<String>> {
    let mut errors = vec![];
    if m.functions.get(m.main.0 as usize).is_none_or(|f| closure_words(f) != Some(1)) {
        errors.push("main is not a closed entry".into());
    }
    for g in &m.globals {
        if let Some(f) = g.procedure
            && m.functions.get(f.0 as usize).is_none_or(|f| closure_words(f) != Some(1))
        {
            errors.push(format!("global {} is not initialized with a closed entry", g.name));
        }
    }
    for f in &m.functions {
        let mut check = Checker { m, f, errors: &mut errors };
        check.function();
    }
    if errors.is_empty() {
        errors.extend(cycles::without_safepoint(m));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Size of an entry's closures; `None` for other functions and for dropped entries.
fn closure_words(f: &Function) -> Option<u32> {
    match &f.kind {
        FuncKind::Entry { closure_words, .. } if f.in_use() => Some(*closure_words),
        _ => None,
    }
}

impl Checker<'_> {
    fn function(&mut self) {
        let f = self.f;
        self.kind_bounds();
        if let FuncKind::Entry { clauses, .. } = &f.kind {
            return clauses.iter().for_each(|c| self.clause(c));
        }
        let before = self.errors.len();
        self.references();
        if self.errors.len() > before {
            return;
        }
        self.assigned_before_use();
        for (i, b) in f.blocks.iter().enumerate() {
            self.block_bounds(i, b);
            self.heap_checks(i, b);
            self.stack_checks(i, b);
            self.closures(i, b);
            self.doubles(i, b);
            self.block(i, b);
        }
    }

    fn clause(&mut self, c: &EntryClause) {
        let Some(body) = self.callee_function(c.body) else {
            return self.error(0, format!("no function {}", c.body.0));
        };
        let FuncKind::Body { params, .. } = &body.kind else {
            return self.error(0, format!("clause body {} is not a body", body.name));
        };
        // Lifted free variables never meet an entry.
        if params.len() as u32 != c.params() {
            self.error(0, "clause and body differ in parameters".into());
        }
    }

    /// Everything named exists.
    fn references(&mut self) {
        let f = self.f;
        if f.blocks.is_empty() {
            return self.error(0, "no blocks".into());
        }
        let mut vars: Vec<(usize, Var)> = reads::given(&f.kind).into_iter().map(|v| (0, v)).collect();
        for (i, b) in f.blocks.iter().enumerate() {
            vars.extend(reads::named(b, f.closure()).into_iter().map(|v| (i, v)));
            for s in reads::next(&b.term).into_iter().filter(|s| *s >= f.blocks.len() || *s == 0) {
                self.error(i, format!("jump to b{s}"));
            }
            for s in &b.stmts {
                if let Stmt::Assign(_, op) | Stmt::Effect(op) = s {
                    self.op_references(i, op);
                }
            }
            self.term_references(i, &b.term);
        }
        for (i, v) in vars {
            if v.0 as usize >= f.vars.len() {
                self.error(i, format!("no variable {}", v.0));
            }
        }
    }

    fn op_references(&mut self, i: usize, op: &Op) {
        match op {
            Op::Copy(o) | Op::ClosurePatch { value: o, .. } => self.operands(i, std::slice::from_ref(o)),
            Op::Prim(p) => self.operands(i, &p.args),
            Op::Global(g) | Op::GlobalChecked(g, _) => self.global(i, *g),
            Op::SetGlobal(g, o) | Op::SetGlobalChecked(g, o, _) => {
                self.global(i, *g);
                self.operands(i, std::slice::from_ref(o));
            }
            Op::Free(_) | Op::Slot(_) => {}
            Op::Closure { entry, free } => {
                let words = self.callee_function(*entry).and_then(closure_words);
                if words != Some(1 + free.len() as u32) {
                    self.error(i, format!("a closure of {} free variables does not fit its entry", free.len()));
                }
                self.operands(i, free);
            }
        }
    }

    fn term_references(&mut self, i: usize, t: &Term) {
        match t {
            Term::Goto(_) => {}
            Term::Branch { test: Test::Truthy(o), .. } => self.operands(i, std::slice::from_ref(o)),
            Term::Branch { test: Test::Prim(p), .. } => {
                self.operands(i, &p.args);
                if p.op.result() != Kind::Boolean {
                    self.error(i, format!("{} is not a test", p.op.name()));
                }
                self.arity(i, p);
            }
            Term::Return(o) => self.operands(i, std::slice::from_ref(o)),
            Term::ReturnMulti(os) => self.operands(i, os),
            Term::TailCall { callee, args, .. } => self.call_references(i, callee, args),
            Term::Call { callee, args, frame, ret, .. } => {
                self.call_references(i, callee, args);
                frame.stores.iter().for_each(|(_, o)| self.operands(i, std::slice::from_ref(o)));
                if self.callee_function(*ret).is_none() {
                    self.error(i, format!("no function {}", ret.0));
                }
            }
        }
    }

    fn call_references(&mut self, i: usize, callee: &Callee, args: &[Operand]) {
        self.operands(i, args);
        match callee {
            Callee::Unknown(o) | Callee::Apply(o) | Callee::CallCc(_, o) => {
                self.operands(i, std::slice::from_ref(o))
            }
            Callee::Known(f, closure) => {
                closure.iter().for_each(|o| self.operands(i, std::slice::from_ref(o)));
                if self.callee_function(*f).is_none() {
                    self.error(i, format!("no function {}", f.0));
                }
            }
        }
    }

    fn operands(&mut self, i: usize, all: &[Operand]) {
        for o in all {
            if let Operand::Procedure(f) = o
                && self.callee_function(*f).and_then(closure_words) != Some(1)
            {
                self.error(i, format!("function {} has no static closure", f.0));
            }
        }
    }

    fn global(&mut self, i: usize, g: cairn_core::ir::GlobalId) {
        if g.0 as usize >= self.m.globals.len() {
            self.error(i, format!("no global {}", g.0));
        }
    }

    fn arity(&mut self, i: usize, p: &Prim) {
        if p.op.arity().is_some_and(|n| n != p.args.len()) {
            self.error(i, format!("{} has {} operands", p.op.name(), p.args.len()));
        }
    }

    /// A variable is assigned before it is used, on every path; and a safepoint keeps it, if one comes in between.
    fn assigned_before_use(&mut self) {
        let assigned = self.available(false);
        let mut kept = self.available(true);
        kept.sort_unstable();
        kept.dedup();
        for v in kept {
            let what = if assigned.contains(&v) {
                format!("{} is used before it is assigned", self.var(v.1))
            } else {
                format!("{} is used after a safepoint that does not keep it", self.var(v.1))
            };
            self.error(v.0, what);
        }
    }

    /// Forward dataflow: the variables available on every path to a block; returns uses of others. A safepoint makes
    /// tagged variables it does not list unavailable when `checks` is set: the collector may have moved what they point
    /// to.
    fn available(&mut self, checks: bool) -> Vec<(usize, Var)> {
        let f = self.f;
        let mut entry = VarSet::new();
        reads::given(&f.kind).into_iter().for_each(|v| {
            entry.insert(v);
        });
        let step = |set: &mut VarSet, s: &Stmt| match s {
            Stmt::Assign(v, _) => {
                set.insert(*v);
            }
            _ if checks => {
                let Some(live) = s.safepoint_live() else { return };
                let stale = |v: &Var| f.vars[v.0 as usize].rep == Rep::Tagged && !live.contains(v);
                let gone: Vec<Var> = set.iter().filter(stale).collect();
                gone.into_iter().for_each(|v| set.remove(v));
            }
            _ => {}
        };
        let mut at: Vec<Option<VarSet>> = vec![None; f.blocks.len()];
        at[0] = Some(entry);
        let mut work = vec![0usize];
        while let Some(b) = work.pop() {
            let mut set = at[b].clone().expect("reached");
            f.blocks[b].stmts.iter().for_each(|s| step(&mut set, s));
            for s in reads::next(&f.blocks[b].term) {
                let new = match &at[s] {
                    None => Some(set.clone()),
                    Some(old) => {
                        let mut meet = VarSet::new();
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
        let mut bad = vec![];
        for (i, b) in f.blocks.iter().enumerate() {
            let Some(mut set) = at[i].clone() else { continue };
            for s in &b.stmts {
                let mut read = reads::statement(s, f.closure());
                read.extend(s.safepoint_live().unwrap_or_default());
                bad.extend(read.into_iter().filter(|v| !set.contains(*v)).map(|v| (i, v)));
                step(&mut set, s);
            }
            let read = reads::terminator(&b.term);
            bad.extend(read.into_iter().filter(|v| !set.contains(*v)).map(|v| (i, v)));
        }
        bad
    }

    fn heap_checks(&mut self, i: usize, b: &Block) {
        let mut room = 0u32;
        for s in &b.stmts {
            match s {
                // A poll leaves at least the room it found.
                Stmt::HeapCheck { bytes, .. } => room = room.max(*bytes),
                // The runtime may come back to another place of the nursery.
                Stmt::StackCheck { .. } | Stmt::StopCheck { .. } => room = 0,
                Stmt::Assign(_, op) | Stmt::Effect(op) => {
                    let need = allocated(op);
                    if need > room {
                        self.error(i, format!("{need} bytes are allocated without a heap check"));
                    }
                    room = room.saturating_sub(need);
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

    /// The stack has room for frames that grow beyond what is there.
    fn stack_checks(&mut self, i: usize, b: &Block) {
        let needed = match &b.term {
            Term::Call { frame, .. } => self.stack_needed(&frame.frame),
            _ => None,
        };
        let last = b.stmts.iter().rposition(|s| s.safepoint_live().is_some());
        let checked = last.and_then(|k| match b.stmts[k] {
            Stmt::StackCheck { words, .. } => Some(words),
            _ => None,
        });
        match (needed, checked) {
            (Some(n), Some(c)) if c != n => self.error(i, format!("{c} words of stack are checked, {n} needed")),
            (Some(n), None) => self.error(i, format!("{n} words of stack are used without a stack check")),
            _ => {}
        }
        let checks = b.stmts.iter().filter(|s| matches!(s, Stmt::StackCheck { .. })).count();
        if checks > needed.is_some() as usize {
            self.error(i, "a stack check does not stand before a call that needs it".into());
        }
    }

    /// Patches fill closures that no collection has seen.
    fn closures(&mut self, i: usize, b: &Block) {
        let mut fresh: HashMap<Var, usize> = HashMap::new();
        for s in &b.stmts {
            match s {
                Stmt::HeapCheck { .. } | Stmt::StackCheck { .. } | Stmt::StopCheck { .. } => fresh.clear(),
                Stmt::Assign(v, Op::Closure { free, .. }) => {
                    fresh.insert(*v, free.len());
                }
                Stmt::Effect(Op::ClosurePatch { closure, index, .. }) => match fresh.get(closure) {
                    Some(n) if (*index as usize) < *n => {}
                    Some(_) => self.error(i, format!("{} has no free variable {index}", self.var(*closure))),
                    None => {
                        let closure = self.var(*closure);
                        self.error(
                            i,
                            format!("{closure} is patched, but not allocated since the last heap check"),
                        );
                    }
                },
                Stmt::Assign(v, _) => {
                    fresh.remove(v);
                }
                Stmt::Effect(_) => {}
            }
        }
    }

    /// Unboxed doubles are results of flonum operations only, and no collector sees them.
    fn doubles(&mut self, i: usize, b: &Block) {
        if i == 0 {
            for v in reads::given(&self.f.kind) {
                if !self.is_double(v) {
                    continue;
                }
                self.error(i, format!("{} comes from outside and cannot be an unboxed double", self.var(v)));
            }
        }
        for s in &b.stmts {
            match s {
                Stmt::Assign(v, op) if self.is_double(*v) => {
                    let flonum = match op {
                        Op::Copy(Operand::Var(w)) => self.is_double(*w),
                        Op::Copy(Operand::Const(Literal::Number(Number::Flo(_)))) => true,
                        Op::Prim(p) => p.makes_flonum(),
                        _ => false,
                    };
                    if !flonum {
                        self.error(i, format!("{} is an unboxed double but assigned a value", self.var(*v)));
                    }
                }
                _ => {
                    let live = s.safepoint_live().unwrap_or_default();
                    for v in live.iter().filter(|v| self.is_double(**v)).collect::<Vec<_>>() {
                        self.error(i, format!("{} is an unboxed double in a live list", self.var(*v)));
                    }
                }
            }
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
                (Op::Prim(p), _) => self.arity(i, p),
                _ => {}
            }
        }
        if let Term::TailCall { callee, args, .. } | Term::Call { callee, args, .. } = &b.term {
            self.call(i, callee, args);
        }
        if let Term::Call { frame, ret, .. } = &b.term {
            self.new_frame(i, frame, *ret);
        }
    }

    fn call(&mut self, i: usize, callee: &Callee, args: &[Operand]) {
        match callee {
            Callee::Known(g, closure) => {
                let callee = self.m.function(*g);
                match &callee.kind {
                    FuncKind::Body { params, closure: c } if params.len() == args.len() => {
                        if c.is_some() != closure.is_some() {
                            self.error(i, format!("direct call of {} and its closure", callee.name));
                        }
                    }
                    _ => self.error(i, format!("direct call of {} with {} arguments", callee.name, args.len())),
                }
            }
            Callee::Apply(_) if args.len() != 1 => self.error(i, "apply takes one list".into()),
            Callee::CallCc(..) if !args.is_empty() => self.error(i, "call/cc takes no arguments".into()),
            _ => {}
        }
    }

    fn new_frame(&mut self, i: usize, frame: &NewFrame, ret: FuncId) {
        if !frame.frame.live.is_sorted_by(|a, b| a < b) {
            self.error(i, "live slots are not ascending".into());
        }
        let top = frame.frame.live.last().map_or(0, |s| s + 1);
        if frame.frame.words != self.m.strategy.header_words + top {
            self.error(i, "frame size does not fit its slots".into());
        }
        match &self.m.function(ret).kind {
            FuncKind::Return { frame: expected, .. } if *expected == frame.frame => {}
            _ => self.error(i, format!("{} does not expect this frame", self.m.function(ret).name)),
        }
        for s in &frame.frame.live {
            let stored = frame.stores.iter().any(|(t, _)| t == s);
            let kept = self.m.strategy.reuse
                && matches!(&self.f.kind, FuncKind::Return { frame, .. } if frame.live.contains(s));
            if !stored && !kept {
                self.error(i, format!("slot {s} of the new frame is never stored"));
            }
        }
        for (s, _) in frame.stores.iter().filter(|(s, _)| !frame.frame.live.contains(s)) {
            self.error(i, format!("slot {s} of the new frame is stored but dead"));
        }
    }
}
