//! What the verifier holds for read, bound and reached: its own definitions, not those that passes work with.
//!
//! Reads are listed as operands, in one piece: a variable that a pass overlooks is found here all the same.

use crate::ir::*;

/// The variables among operands.
fn variables<'a>(operands: impl IntoIterator<Item = &'a Operand>) -> Vec<Var> {
    let var = |o: &Operand| if let Operand::Var(v) = o { Some(*v) } else { None };
    operands.into_iter().filter_map(var).collect()
}

fn callee(c: &Callee) -> Option<&Operand> {
    match c {
        Callee::Known(_, closure) => closure.as_ref(),
        Callee::Unknown(o) | Callee::Apply(o) | Callee::CallCc(_, o) => Some(o),
    }
}

/// Variables that a statement reads; `Free` reads the closure. Safepoints keep variables, but read none.
pub fn statement(s: &Stmt, closure: Option<Var>) -> Vec<Var> {
    let (Stmt::Assign(_, op) | Stmt::Effect(op)) = s else { return vec![] };
    match op {
        Op::Prim(p) => variables(&p.args),
        Op::Closure { free, .. } => variables(free),
        Op::Copy(o) | Op::SetGlobal(_, o) | Op::SetGlobalChecked(_, o, _) => variables([o]),
        Op::ClosurePatch { closure, value, .. } => [variables([value]), vec![*closure]].concat(),
        Op::Free(_) => closure.into_iter().collect(),
        Op::Slot(_) | Op::Global(_) | Op::GlobalChecked(..) => vec![],
    }
}

/// Variables that a terminator reads, those that it stores in a frame among them.
pub fn terminator(t: &Term) -> Vec<Var> {
    match t {
        Term::Return(o) | Term::Branch { test: Test::Truthy(o), .. } => variables([o]),
        Term::ReturnMulti(os) | Term::Branch { test: Test::Prim(Prim { args: os, .. }), .. } => variables(os),
        Term::TailCall { callee: c, args, .. } => variables(callee(c).into_iter().chain(args)),
        Term::Call { callee: c, args, frame, .. } => {
            variables(callee(c).into_iter().chain(args).chain(frame.stores.iter().map(|(_, o)| o)))
        }
        Term::Goto(_) => vec![],
    }
}

/// Variables that a function has from its beginning, its closure among them.
pub fn given(kind: &FuncKind) -> Vec<Var> {
    match kind {
        FuncKind::Entry { .. } => vec![],
        FuncKind::Body { params, closure } => params.iter().chain(closure).copied().collect(),
        FuncKind::Return { results: Results::Single(v), .. } => vec![*v],
        FuncKind::Return { results: Results::Multi { params, rest, .. }, .. } => {
            params.iter().chain(rest).copied().collect()
        }
    }
}

/// Every variable that a block names.
pub fn named(b: &Block, closure: Option<Var>) -> Vec<Var> {
    let mut all = terminator(&b.term);
    for s in &b.stmts {
        all.extend(statement(s, closure));
        all.extend(s.safepoint_live().unwrap_or_default());
        if let Stmt::Assign(v, _) = s {
            all.push(*v);
        }
    }
    all
}

/// The blocks that control may go to inside the function.
pub fn next(t: &Term) -> Vec<usize> {
    match t {
        Term::Branch { then, els, .. } => vec![then.0 as usize, els.0 as usize],
        Term::Goto(b) => vec![b.0 as usize],
        Term::Return(_) | Term::ReturnMulti(_) | Term::TailCall { .. } | Term::Call { .. } => vec![],
    }
}
