//! Splitting a procedure at its calls: one [`Function`] per piece.
//!
//! The problem: a call that is not a tail call must store what is live into a frame and continue in code that can
//! be entered with nothing but that frame. The idea:
//!
//! 1. [`duplicate_tiny_joins`]: a join block of a few instructions is copied into each predecessor rather than
//!    becoming a function of its own;
//! 2. [`graph::extend_return_pieces`]: a return point gets its own copy of what it jumps to, and so keeps its frame;
//! 3. [`graph::pieces`]: every return point and every block shared between pieces is a root;
//! 4. [`Slots`]: each variable that lives across a call gets one slot for the whole procedure (greedy coloring), so
//!    that a frame can be kept from call to call and only new values are stored; strategies without
//!    reuse number slots densely per call;
//! 5. each piece becomes a function. Frame slots and closure variables are loaded lazily: a load sinks to the block of
//!    its first use, and a variable that only passes through stays in its slot;
//! 6. one heap check per block covers its allocations (and its heap frame).
//!
//! ```text
//!  b0: call g(x) -> t, then b1        f.0   Body(x)              call g(x) frame{slot0 := y} ret f.0.r1
//!  b1: u := + t y; return u           f.0.r1 Return{slot0} (t)   y := slot 0; u := + t y; return u
//! ```
//!
//! Safety for space: a frame's live map names exactly the variables that the code behind the return point can still use.

use crate::graph::{self, PBlock, PTerm, Proc, VarSet};
use crate::ir::*;
use cairn_core::prim::PrimOp;
use cairn_layout::code::Site;
use cairn_layout::facts::StrategyFacts;
use std::collections::HashMap;
use std::rc::Rc;

/// Bytes that one heap check may ask for: the runtime leaves at least this much in a nursery block, so that
/// allocation inside runtime calls never invalidates an outstanding check.
pub const CHECK_LIMIT: u32 = 4096;

/// Splits `proc`; its first piece becomes function `body`, the others are appended to `functions`.
pub fn split(proc: Proc, body: FuncId, functions: &mut Vec<Option<Function>>, strategy: &'static StrategyFacts) {
    let mut proc = proc;
    duplicate_tiny_joins(&mut proc);
    if strategy.reuse {
        crate::graph::extend_return_pieces(&mut proc);
    }
    let live = graph::live_in(&proc);
    let roots = graph::pieces(&proc.blocks);
    let slots = Slots::assign(&proc, &live, strategy);
    let mut ids: HashMap<BlockId, FuncId> = HashMap::new();
    ids.insert(BlockId(0), body);
    for (i, r) in roots.iter().enumerate() {
        if r.0 as usize == i && i != 0 {
            functions.push(None);
            ids.insert(*r, FuncId(functions.len() as u32 - 1));
        }
    }
    // A call that returns to each return point; if there are several, they are copies and save the same variables.
    let mut call_of: HashMap<BlockId, usize> = HashMap::new();
    for (i, b) in proc.blocks.iter().enumerate() {
        if let PTerm::Call(.., next) = &b.term {
            call_of.insert(*next, i);
        }
    }
    let mut members: HashMap<BlockId, Vec<BlockId>> = HashMap::new();
    for (i, r) in roots.iter().enumerate() {
        members.entry(*r).or_default().push(BlockId(i as u32));
    }
    let splitter = Splitter { proc: &proc, live: &live, roots: &roots, slots: &slots, ids: &ids, strategy };
    for (root, blocks) in members {
        let f = splitter.piece(root, &blocks, call_of.get(&root).copied());
        functions[ids[&root].0 as usize] = Some(f);
    }
}

/// Copies tiny blocks that several pieces would share into their predecessors.
fn duplicate_tiny_joins(proc: &mut Proc) {
    for _ in 0..2 {
        let roots = graph::pieces(&proc.blocks);
        let mut initial = vec![false; proc.blocks.len()];
        for b in &proc.blocks {
            if let PTerm::Call(.., next) = &b.term {
                initial[next.0 as usize] = true;
            }
        }
        let tiny: Vec<bool> = proc
            .blocks
            .iter()
            .enumerate()
            .map(|(i, b)| {
                i != 0
                    && roots[i].0 as usize == i
                    && !initial[i]
                    && b.stmts.len() <= 2
                    && b.stmts.iter().all(|s| match s {
                        Stmt::Assign(_, op) | Stmt::Effect(op) => op.alloc_bytes() == 0,
                        Stmt::HeapCheck { .. } => false,
                    })
                    && match &b.term {
                        PTerm::Return(_) => true,
                        PTerm::Goto(t) => t.0 as usize != i,
                        PTerm::TailCall(_, args, _) => args.len() <= 6,
                        _ => false,
                    }
            })
            .collect();
        if !tiny.contains(&true) {
            return;
        }
        for i in 0..proc.blocks.len() {
            let mut term = proc.blocks[i].term.clone();
            if let (PTerm::Goto(t), false) = (&term, tiny[i]) {
                if tiny[t.0 as usize] {
                    let copy = copy_block(&proc.blocks[t.0 as usize]);
                    proc.blocks[i].stmts.extend(copy.stmts);
                    proc.blocks[i].term = copy.term;
                }
                continue;
            }
            if matches!(term, PTerm::Call(..)) || tiny[i] {
                continue;
            }
            graph::successors_mut(&mut term, |s| {
                if tiny[s.0 as usize] {
                    let copy = copy_block(&proc.blocks[s.0 as usize]);
                    proc.blocks.push(copy);
                    *s = BlockId(proc.blocks.len() as u32 - 1);
                }
            });
            proc.blocks[i].term = term;
        }
        graph::renumber(proc);
    }
}

fn copy_block(b: &PBlock) -> PBlock {
    PBlock { stmts: b.stmts.clone(), term: b.term.clone() }
}

/// Frame slots of variables that live across calls.
struct Slots {
    /// For each block that ends in a call: the saved variables with their slots, by slot.
    at: HashMap<usize, Vec<(Var, u32)>>,
}

impl Slots {
    fn assign(proc: &Proc, live: &[VarSet], strategy: &StrategyFacts) -> Slots {
        let mut sets: Vec<(usize, Vec<Var>)> = vec![];
        for (i, b) in proc.blocks.iter().enumerate() {
            if matches!(b.term, PTerm::Call(..)) {
                sets.push((i, graph::live_after_term(proc, b, live).iter().collect()));
            }
        }
        let mut at = HashMap::new();
        if !strategy.reuse {
            for (i, set) in sets {
                at.insert(i, set.into_iter().enumerate().map(|(s, v)| (v, s as u32)).collect());
            }
            return Slots { at };
        }
        // Interference among the variables saved together, then greedy coloring in order of first call.
        let mut together: HashMap<Var, Vec<usize>> = HashMap::new();
        for (k, (_, set)) in sets.iter().enumerate() {
            for v in set {
                together.entry(*v).or_default().push(k);
            }
        }
        let mut slot: HashMap<Var, u32> = HashMap::new();
        for (_, set) in &sets {
            for v in set {
                if slot.contains_key(v) {
                    continue;
                }
                let mut taken: Vec<u32> = vec![];
                for &k in &together[v] {
                    taken.extend(sets[k].1.iter().filter_map(|w| slot.get(w).copied()));
                }
                taken.sort_unstable();
                taken.dedup();
                let free = taken.iter().enumerate().find(|(i, s)| *i as u32 != **s).map(|(i, _)| i);
                slot.insert(*v, free.unwrap_or(taken.len()) as u32);
            }
        }
        for (i, set) in sets {
            let mut saved: Vec<(Var, u32)> = set.into_iter().map(|v| (v, slot[&v])).collect();
            saved.sort_by_key(|x| x.1);
            at.insert(i, saved);
        }
        Slots { at }
    }

    fn frame(&self, call: usize, strategy: &StrategyFacts) -> Frame {
        let saved = &self.at[&call];
        let top = saved.last().map_or(0, |(_, s)| s + 1);
        Frame { words: strategy.header_words + top, live: saved.iter().map(|x| x.1).collect() }
    }
}

struct Splitter<'a> {
    proc: &'a Proc,
    live: &'a [VarSet],
    roots: &'a [BlockId],
    slots: &'a Slots,
    ids: &'a HashMap<BlockId, FuncId>,
    strategy: &'static StrategyFacts,
}

impl Splitter<'_> {
    fn piece(&self, root: BlockId, blocks: &[BlockId], call: Option<usize>) -> Function {
        let proc = self.proc;
        let mut assigned = VarSet::new(proc.vars.len());
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
            let PTerm::Call(_, _, site, results, _) = &proc.blocks[call].term else { unreachable!() };
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
            if !matches!(proc.blocks[b.0 as usize].term, PTerm::Call(..)) {
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
                PTerm::Goto(s) => Term::Goto(target(*s)),
                PTerm::Branch(test, a, c) => {
                    let (then, els) = (target(*a), target(*c));
                    Term::Branch { test: test.clone(), then, els }
                }
                PTerm::Return(v) => Term::Return(v.clone()),
                PTerm::ReturnMulti(vs) => Term::ReturnMulti(vs.clone()),
                PTerm::TailCall(callee, args, site) => {
                    Term::TailCall { callee: callee.clone(), args: args.clone(), site: *site }
                }
                PTerm::Call(callee, args, site, _, next) => {
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
                PTerm::None => Term::Return(Operand::Const(cairn_core::ir::Literal::Unspecified)),
            };
            out.push(Block { stmts: block.stmts.clone(), term });
        }
        out.extend(trampolines);

        let mut function = Function {
            name: format!("{}.{}{}", proc.name, self.ids[&BlockId(0)].0, suffix).into(),
            procedure: proc.name.clone(),
            library: proc.library,
            kind,
            vars: vec![],
            blocks: out,
        };
        let closure = compact_variables(&mut function, &mut pending, closure, proc, &mut assigned);
        let n = function.vars.len();
        place_loads(&mut function.blocks, pending, closure, n, &assigned);
        crate::reps::choose(&mut function);
        insert_heap_checks(&mut function, closure, self.strategy);
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
            visit_block_vars(b, &mut |v| {
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
    let mut renumbered = VarSet::new(vars.len());
    for (old, new) in &map {
        if assigned.contains(*old) {
            renumbered.insert(*new);
        }
    }
    *assigned = renumbered;
    f.vars = vars;
    closure.map(|c| map[&c])
}

/// Calls `f` with every variable occurrence of a block, definitions included.
pub fn visit_block_vars(b: &mut Block, f: &mut impl FnMut(&mut Var)) {
    fn operand(o: &mut Operand, f: &mut impl FnMut(&mut Var)) {
        if let Operand::Var(v) = o {
            f(v);
        }
    }
    fn op(o: &mut Op, f: &mut impl FnMut(&mut Var)) {
        match o {
            Op::Copy(x) | Op::SetGlobal(_, x) | Op::SetGlobalChecked(_, x, _) => operand(x, f),
            Op::Prim(p) => p.args.iter_mut().for_each(|a| operand(a, f)),
            Op::Global(_) | Op::GlobalChecked(..) | Op::Slot(_) | Op::Free(_) => {}
            Op::Closure { free, .. } => free.iter_mut().for_each(|a| operand(a, f)),
            Op::ClosurePatch { closure, value, .. } => {
                f(closure);
                operand(value, f);
            }
        }
    }
    fn callee(c: &mut Callee, f: &mut impl FnMut(&mut Var)) {
        match c {
            Callee::Unknown(o) | Callee::Apply(o) | Callee::CallCc(o) | Callee::Known(_, Some(o)) => operand(o, f),
            Callee::Known(_, None) => {}
        }
    }
    for s in &mut b.stmts {
        match s {
            Stmt::Assign(v, o) => {
                op(o, f);
                f(v);
            }
            Stmt::Effect(o) => op(o, f),
            Stmt::HeapCheck { live, .. } => live.iter_mut().for_each(&mut *f),
        }
    }
    match &mut b.term {
        Term::Goto(_) => {}
        Term::Branch { test, .. } => match test {
            Test::Truthy(o) => operand(o, f),
            Test::Prim(p) => p.args.iter_mut().for_each(|a| operand(a, f)),
        },
        Term::Return(o) => operand(o, f),
        Term::ReturnMulti(os) => os.iter_mut().for_each(|o| operand(o, f)),
        Term::TailCall { callee: c, args, .. } => {
            callee(c, f);
            args.iter_mut().for_each(|o| operand(o, f));
        }
        Term::Call { callee: c, args, frame, .. } => {
            callee(c, f);
            args.iter_mut().for_each(|o| operand(o, f));
            frame.stores.iter_mut().for_each(|(_, o)| operand(o, f));
        }
    }
}

/// Calls `f` with each variable the terminator uses, frame stores included.
pub fn final_term_uses(t: &Term, mut f: impl FnMut(Var)) {
    let mut operand = |o: &Operand| {
        if let Operand::Var(v) = o {
            f(*v);
        }
    };
    match t {
        Term::Goto(_) => {}
        Term::Branch { test, .. } => graph::test_uses(test, f),
        Term::Return(o) => operand(o),
        Term::ReturnMulti(os) => os.iter().for_each(operand),
        Term::TailCall { callee, args, .. } => {
            args.iter().for_each(&mut operand);
            graph::callee_uses(callee, f);
        }
        Term::Call { callee, args, frame, .. } => {
            args.iter().for_each(&mut operand);
            frame.stores.iter().for_each(|(_, o)| operand(o));
            graph::callee_uses(callee, f);
        }
    }
}

/// Successors inside the function.
pub fn final_successors(t: &Term) -> Vec<BlockId> {
    match t {
        Term::Goto(b) => vec![*b],
        Term::Branch { then, els, .. } => vec![*then, *els],
        _ => vec![],
    }
}

/// Variables live on entry to each block of a function.
pub fn final_live_in(blocks: &[Block], closure: Option<Var>, n: usize) -> Vec<VarSet> {
    let mut live = vec![VarSet::new(n); blocks.len()];
    loop {
        let mut changed = false;
        for (i, b) in blocks.iter().enumerate().rev() {
            let mut set = VarSet::new(n);
            for s in final_successors(&b.term) {
                set.union(&live[s.0 as usize]);
            }
            final_term_uses(&b.term, |v| {
                set.insert(v);
            });
            for s in b.stmts.iter().rev() {
                step_back(&mut set, s, closure);
            }
            changed |= live[i].union(&set);
        }
        if !changed {
            return live;
        }
    }
}

fn step_back(set: &mut VarSet, s: &Stmt, closure: Option<Var>) {
    if let Stmt::Assign(v, _) = s {
        set.remove(*v);
    }
    graph::stmt_uses(s, closure, |v| {
        set.insert(v);
    });
}

/// Inserts the loads of frame slots and closure variables, each as late as the control flow allows.
fn place_loads(blocks: &mut [Block], pending: Vec<(Var, Op)>, closure: Option<Var>, n: usize, assigned: &VarSet) {
    if pending.is_empty() {
        return;
    }
    let live = final_live_in(blocks, closure, n);
    let mut preds = vec![0u32; blocks.len()];
    preds[0] = 1;
    for b in blocks.iter() {
        for s in final_successors(&b.term) {
            preds[s.0 as usize] += 1;
        }
    }
    for (v, op) in pending {
        if !live[0].contains(v) {
            continue;
        }
        if assigned.contains(v) {
            blocks[0].stmts.insert(0, Stmt::Assign(v, op));
            continue;
        }
        let mut work = vec![0usize];
        while let Some(b) = work.pop() {
            let first_use = blocks[b].stmts.iter().position(|s| {
                let mut hit = false;
                graph::stmt_uses(s, closure, |u| hit |= u == v);
                hit
            });
            if let Some(at) = first_use {
                blocks[b].stmts.insert(at, Stmt::Assign(v, op.clone()));
                continue;
            }
            let mut hit = false;
            final_term_uses(&blocks[b].term, |u| hit |= u == v);
            let succs: Vec<BlockId> =
                final_successors(&blocks[b].term).into_iter().filter(|s| live[s.0 as usize].contains(v)).collect();
            if hit || succs.iter().any(|s| preds[s.0 as usize] > 1) {
                blocks[b].stmts.push(Stmt::Assign(v, op.clone()));
            } else {
                work.extend(succs.iter().map(|s| s.0 as usize));
            }
        }
    }
}

/// Inserts heap checks: before the first allocation of a block, for all allocations of the block. A block that allocates
/// inside the runtime (strings, bignums, boxed flonums) gets a poll, a check of 0 bytes: every cycle through allocating code
/// passes a check or a poll. A check alone would not do there: when a collection is due the runtime leaves `CHECK_LIMIT` bytes,
/// enough for many small checks between which it may allocate objects of any size.
fn insert_heap_checks(f: &mut Function, closure: Option<Var>, strategy: &StrategyFacts) {
    let vars: Rc<[VarInfo]> = f.vars.clone().into();
    let needs: Vec<bool> = f.blocks.iter().map(|b| block_bytes(b, strategy) > 0).collect();
    let polls: Vec<Vec<usize>> = f.blocks.iter().zip(&needs).map(|(b, n)| poll_positions(b, *n, &vars)).collect();
    if !needs.contains(&true) && polls.iter().all(Vec::is_empty) {
        return;
    }
    let n = f.vars.len();
    let live = final_live_in(&f.blocks, closure, n);
    for (i, b) in f.blocks.iter_mut().enumerate() {
        if !needs[i] && polls[i].is_empty() {
            continue;
        }
        // Live sets before each statement, and before the terminator.
        let mut set = VarSet::new(n);
        for s in final_successors(&b.term) {
            set.union(&live[s.0 as usize]);
        }
        final_term_uses(&b.term, |v| {
            set.insert(v);
        });
        let tagged =
            |set: &VarSet| -> Vec<Var> { set.iter().filter(|v| vars[v.0 as usize].rep == Rep::Tagged).collect() };
        // Walk backwards, cutting segments that stay within the limit. A group of closures that patch each other is never
        // cut: nothing in it calls the runtime, so it may exceed the limit.
        let mut bytes = frame_bytes(&b.term, strategy);
        let mut check_at: Option<(usize, Vec<Var>)> = (bytes > 0).then(|| (b.stmts.len(), tagged(&set)));
        let mut inserts: Vec<(usize, u32, Vec<Var>)> = vec![];
        let spans = patch_spans(b);
        if polls[i].contains(&b.stmts.len()) {
            inserts.push((b.stmts.len(), 0, tagged(&set)));
        }
        for (k, s) in b.stmts.iter().enumerate().rev() {
            let here = match s {
                Stmt::Assign(_, op) | Stmt::Effect(op) => op.alloc_bytes(),
                Stmt::HeapCheck { .. } => 0,
            };
            let cuts = |at: usize| !spans.iter().any(|(made, patched)| *made < at && at <= *patched);
            if here > 0 && bytes + here > CHECK_LIMIT && check_at.as_ref().is_some_and(|(at, _)| cuts(*at)) {
                let (at, live) = check_at.take().expect("bytes without a check");
                inserts.push((at, bytes, live));
                bytes = 0;
            }
            step_back(&mut set, s, closure);
            if polls[i].contains(&k) {
                inserts.push((k, 0, tagged(&set)));
            }
            if here > 0 {
                bytes += here;
                check_at = Some((k, tagged(&set)));
            }
        }
        if let Some((at, live)) = check_at {
            inserts.push((at, bytes, live));
        }
        // From last to first position; a poll comes before a check at the same place, right after its operation.
        inserts.sort_by_key(|(at, bytes, _)| std::cmp::Reverse((*at, *bytes)));
        for (at, bytes, live) in inserts {
            b.stmts.insert(at, Stmt::HeapCheck { bytes, live });
        }
    }
}

/// Before which statements a block that may allocate in the runtime should be polled: after the last call of the runtime. If
/// arithmetic is all that may allocate there, the polls are right after each operation: the back end puts them into the
/// slow paths, where they cost nothing. A poll for boxes of doubles is on every path; where there is a heap check, that will do
/// for such small objects. (One poll for all arithmetic of a block, on every path, made `cairn build` 6 % faster, but `tak`
/// 9 % slower.)
fn poll_positions(b: &Block, checked: bool, vars: &[VarInfo]) -> Vec<usize> {
    let boxes = |v: Var| vars[v.0 as usize].rep == Rep::Double;
    let arithmetic = |s: &Stmt| match s {
        Stmt::Assign(v, Op::Prim(p)) => p.boxes_its_result() && !boxes(*v),
        Stmt::Effect(Op::Prim(p)) => p.boxes_its_result(),
        _ => false,
    };
    let calls = |s: &Stmt| match s {
        Stmt::Assign(_, Op::Prim(p)) | Stmt::Effect(Op::Prim(p)) => {
            matches!(p.op, PrimOp::Rt(i) if i.row().flags & cairn_layout::calls::ALLOC != 0)
        }
        _ => false,
    };
    if let Some(k) = b.stmts.iter().rposition(calls) {
        return vec![k + 1];
    }
    if checked {
        return b.stmts.iter().rposition(arithmetic).map(|k| k + 1).into_iter().collect();
    }
    if boxes_double_at_end(b, boxes) || b.stmts.iter().any(|s| !arithmetic(s) && boxes_double(s, boxes)) {
        return vec![b.stmts.iter().position(arithmetic).unwrap_or(b.stmts.len())];
    }
    (0..b.stmts.len()).filter(|k| arithmetic(&b.stmts[*k])).map(|k| k + 1).collect()
}

/// Is an unboxed double used as a value by this operation? There it is encoded, and perhaps boxed.
fn encodes(p: &Prim, boxes: impl Fn(Var) -> bool) -> bool {
    let value = |i| p.op.arg_kind(i) != cairn_core::prim::Kind::Flonum;
    p.args.iter().enumerate().any(|(i, a)| matches!(a, Operand::Var(v) if boxes(*v) && value(i)))
}

/// The same of a statement.
fn boxes_double(s: &Stmt, boxes: impl Fn(Var) -> bool) -> bool {
    match s {
        Stmt::Assign(_, Op::Prim(p)) | Stmt::Effect(Op::Prim(p)) => encodes(p, boxes),
        Stmt::Assign(v, Op::Copy(_)) if boxes(*v) => false,
        Stmt::Assign(_, op) | Stmt::Effect(op) => {
            let mut any = false;
            graph::op_uses(op, None, |v| any |= boxes(v));
            any
        }
        Stmt::HeapCheck { .. } => false,
    }
}

/// The same of a terminator.
fn boxes_double_at_end(b: &Block, boxes: impl Fn(Var) -> bool) -> bool {
    match &b.term {
        Term::Branch { test: Test::Prim(p), .. } => encodes(p, boxes),
        term => {
            let mut any = false;
            final_term_uses(term, |v| any |= boxes(v));
            any
        }
    }
}

/// The statements between which no check may come: from the allocation of a closure to the last patch of it. A collection
/// in between might promote the closure, and patches have no write barrier.
fn patch_spans(b: &Block) -> Vec<(usize, usize)> {
    let mut made: HashMap<Var, usize> = HashMap::new();
    let mut spans = vec![];
    for (k, s) in b.stmts.iter().enumerate() {
        match s {
            Stmt::Assign(v, Op::Closure { .. }) => {
                made.insert(*v, k);
            }
            Stmt::Effect(Op::ClosurePatch { closure, .. }) => spans.push((made[closure], k)),
            _ => {}
        }
    }
    spans
}

fn frame_bytes(t: &Term, strategy: &StrategyFacts) -> u32 {
    match t {
        Term::Call { frame, .. } if strategy.frames_in_heap => (8 * frame.frame.words).max(16),
        _ => 0,
    }
}

fn block_bytes(b: &Block, strategy: &StrategyFacts) -> u32 {
    let stmts: u32 = b
        .stmts
        .iter()
        .map(|s| match s {
            Stmt::Assign(_, op) | Stmt::Effect(op) => op.alloc_bytes(),
            Stmt::HeapCheck { .. } => 0,
        })
        .sum();
    stmts + frame_bytes(&b.term, strategy)
}
