//! From the blocks of a piece to a [`Function`].

use super::frame_slots::Slots;
use super::{checks, loads};
use crate::flow::VarSet;
use crate::graph::{self, Proc, ProcTerm};
use crate::ir::*;
use crate::uses;
use cairn_layout::code::Site;
use cairn_layout::facts::StrategyFacts;
use std::collections::HashMap;

/// A procedure on its way to functions.
pub struct Splitter<'a> {
    pub proc: &'a Proc,
    pub live: &'a [VarSet],
    pub roots: &'a [BlockId],
    pub slots: &'a Slots,
    pub ids: &'a HashMap<BlockId, FuncId>,
    pub strategy: &'static StrategyFacts,
    pub vast: bool,
}

impl Splitter<'_> {
    /// The piece of these blocks; `call` is the block whose call returns to its root.
    pub fn piece(&self, root: BlockId, blocks: &[BlockId], call: Option<usize>) -> Function {
        let proc = self.proc;
        let mut assigned = VarSet::new();
        for b in blocks {
            let block = &proc.blocks[b.0 as usize];
            for s in &block.stmts {
                if let Stmt::Assign(v, _) = s {
                    assigned.insert(*v);
                }
            }
        }
        // Where variables live on entry that are not in registers come from.
        let mut pending: Vec<(Var, Op)> = vec![];
        let (kind, suffix) = if let Some(call) = call {
            let ProcTerm::Call(_, _, site, results, _) = &proc.blocks[call].term else { unreachable!() };
            for (v, s) in &self.slots.at[&call] {
                pending.push((*v, Op::Slot(*s)));
            }
            let frame = self.slots.frame(call, self.strategy);
            (FuncKind::Return { frame, results: results.clone(), site: *site }, format!(".r{}", root.0))
        } else if root.0 == 0 {
            for (i, v) in proc.free.iter().enumerate() {
                if self.live[0].contains(*v) {
                    pending.push((*v, Op::Free(i as u32)));
                }
            }
            (FuncKind::Body { params: proc.params.clone(), closure: proc.closure }, String::new())
        } else {
            let params = self.live[root.0 as usize].iter().collect();
            (FuncKind::Body { params, closure: None }, format!(".b{}", root.0))
        };
        let closure = if root.0 == 0 { proc.closure } else { None };
        // Kept slots: variables that stay in the incoming frame.
        let kept: HashMap<Var, u32> = match (&kind, self.strategy.reuse) {
            (FuncKind::Return { .. }, true) => pending
                .iter()
                .filter(|(v, _)| !assigned.contains(*v))
                .map(|(v, op)| (*v, if let Op::Slot(s) = op { *s } else { unreachable!() }))
                .collect(),
            _ => HashMap::new(),
        };

        // Blocks of the function: an entry block of its own when the root has predecessors inside the piece.
        let looped = blocks.iter().any(|b| {
            let mut back = false;
            if !matches!(proc.blocks[b.0 as usize].term, ProcTerm::Call(..)) {
                graph::successors(&proc.blocks[b.0 as usize].term, |s| back |= s == root);
            }
            back
        });
        let mut number: HashMap<BlockId, BlockId> = HashMap::new();
        let offset = looped as u32;
        for (i, b) in blocks.iter().enumerate() {
            number.insert(*b, BlockId(i as u32 + offset));
        }
        debug_assert_eq!(blocks[0], root);
        let mut out: Vec<Block> = vec![];
        if looped {
            out.push(Block { stmts: vec![], term: Term::Goto(BlockId(1)) });
        }
        let mut trampolines: Vec<Block> = vec![];
        let first_trampoline = blocks.len() as u32 + offset;
        let mut target = |s: BlockId| -> BlockId {
            if self.roots[s.0 as usize] == root {
                return number[&s];
            }
            let args = self.live[s.0 as usize].iter().map(Operand::Var).collect();
            let term = Term::TailCall { callee: Callee::Known(self.ids[&s], None), args, site: Site::NONE };
            trampolines.push(Block { stmts: vec![], term });
            BlockId(first_trampoline + trampolines.len() as u32 - 1)
        };
        for b in blocks {
            let block = &proc.blocks[b.0 as usize];
            let term = match &block.term {
                ProcTerm::Goto(s) => Term::Goto(target(*s)),
                ProcTerm::Branch(test, a, c) => {
                    let (then, els) = (target(*a), target(*c));
                    Term::Branch { test: test.clone(), then, els }
                }
                ProcTerm::Return(v) => Term::Return(v.clone()),
                ProcTerm::ReturnMulti(vs) => Term::ReturnMulti(vs.clone()),
                ProcTerm::TailCall(callee, args, site) => {
                    Term::TailCall { callee: callee.clone(), args: args.clone(), site: *site }
                }
                ProcTerm::Call(callee, args, site, _, next) => {
                    let saved = &self.slots.at[&(b.0 as usize)];
                    let stores = saved
                        .iter()
                        .filter(|(v, s)| kept.get(v) != Some(s))
                        .map(|(v, s)| (*s, Operand::Var(*v)))
                        .collect();
                    Term::Call {
                        callee: callee.clone(),
                        args: args.clone(),
                        site: *site,
                        frame: NewFrame { frame: self.slots.frame(b.0 as usize, self.strategy), stores },
                        ret: self.ids[next],
                    }
                }
                ProcTerm::None => Term::Return(Operand::Const(cairn_core::ir::Literal::Unspecified)),
            };
            out.push(Block { stmts: block.stmts.clone(), term });
        }
        out.extend(trampolines);

        let mut function = Function {
            name: format!("{}.{}{}", proc.name, self.ids[&BlockId(0)].0, suffix).into(),
            procedure: proc.name.clone(),
            library: proc.library,
            vast: self.vast,
            kind,
            vars: vec![],
            blocks: out,
        };
        let closure = compact_variables(&mut function, &mut pending, closure, proc, &mut assigned);
        loads::place(&mut function.blocks, pending, closure, &assigned);
        crate::reps::choose(&mut function);
        checks::insert(&mut function, closure, self.strategy);
        function
    }
}

/// Renumbers the function's variables densely (a procedure may have thousands, a piece a handful).
fn compact_variables(
    f: &mut Function,
    pending: &mut Vec<(Var, Op)>,
    closure: Option<Var>,
    proc: &Proc,
    assigned: &mut VarSet,
) -> Option<Var> {
    let mut map: HashMap<Var, Var> = HashMap::new();
    let mut vars: Vec<VarInfo> = vec![];
    let mut used: HashMap<Var, ()> = HashMap::new();
    {
        let mut number = |v: &mut Var| {
            let next = Var(map.len() as u32);
            let new = *map.entry(*v).or_insert_with(|| {
                vars.push(proc.vars[v.0 as usize].clone());
                next
            });
            *v = new;
        };
        match &mut f.kind {
            FuncKind::Body { params, closure } => params.iter_mut().chain(closure).for_each(&mut number),
            FuncKind::Return { results, .. } => match results {
                Results::Single(v) => number(v),
                Results::Multi { params, rest, .. } => params.iter_mut().chain(rest).for_each(&mut number),
            },
            FuncKind::Entry { .. } => {}
        }
        for b in &mut f.blocks {
            uses::rename_variables(b, &mut |v| {
                number(v);
                used.insert(*v, ());
            });
        }
        for (v, _) in pending.iter_mut() {
            number(v);
        }
    }
    // Only what this piece itself mentions needs loading.
    pending.retain(|(v, _)| used.contains_key(v));
    let mut renumbered = VarSet::new();
    for (old, new) in &map {
        if assigned.contains(*old) {
            renumbered.insert(*new);
        }
    }
    *assigned = renumbered;
    f.vars = vars;
    closure.map(|c| map[&c])
}
