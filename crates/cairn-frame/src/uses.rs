//! Which variables the parts of the Frame IR read and write, and where control goes.
//!
//! Whatever a pass wants to know of an operation's operands, it asks here; a new operation is added here once.

use crate::ir::*;

/// Calls `f` with the variable of an operand, if it is one.
pub fn operand(o: &Operand, f: &mut impl FnMut(Var)) {
    if let Operand::Var(v) = o {
        f(*v);
    }
}

/// Calls `f` with each variable an operation uses. `Free` uses the closure variable, which is passed in.
pub fn op_uses(op: &Op, closure: Option<Var>, mut f: impl FnMut(Var)) {
    match op {
        Op::Copy(o) | Op::SetGlobal(_, o) | Op::SetGlobalChecked(_, o, _) => operand(o, &mut f),
        Op::Prim(p) => p.args.iter().for_each(|a| operand(a, &mut f)),
        Op::Global(_) | Op::GlobalChecked(..) | Op::Slot(_) => {}
        Op::Free(_) => {
            if let Some(c) = closure {
                f(c);
            }
        }
        Op::Closure { free, .. } => free.iter().for_each(|a| operand(a, &mut f)),
        Op::ClosurePatch { closure, value, .. } => {
            f(*closure);
            operand(value, &mut f);
        }
    }
}

/// Calls `f` with each variable a statement uses; safepoints use nothing.
pub fn stmt_uses(s: &Stmt, closure: Option<Var>, f: impl FnMut(Var)) {
    match s {
        Stmt::Assign(_, op) | Stmt::Effect(op) => op_uses(op, closure, f),
        Stmt::HeapCheck { .. } | Stmt::StackCheck { .. } | Stmt::StopCheck { .. } => {}
    }
}

/// Calls `f` with each variable a test uses.
pub fn test_uses(t: &Test, mut f: impl FnMut(Var)) {
    match t {
        Test::Truthy(o) => operand(o, &mut f),
        Test::Prim(p) => p.args.iter().for_each(|a| operand(a, &mut f)),
    }
}

/// Calls `f` with each variable a callee uses.
pub fn callee_uses(c: &Callee, mut f: impl FnMut(Var)) {
    match c {
        Callee::Unknown(o) | Callee::Apply(o) | Callee::CallCc(_, o) | Callee::Known(_, Some(o)) => {
            operand(o, &mut f)
        }
        Callee::Known(_, None) => {}
    }
}

/// Calls `f` with each variable the terminator uses, frame stores included.
pub fn term_uses(t: &Term, mut f: impl FnMut(Var)) {
    let mut operand = |o: &Operand| {
        if let Operand::Var(v) = o {
            f(*v);
        }
    };
    match t {
        Term::Goto(_) => {}
        Term::Branch { test, .. } => test_uses(test, f),
        Term::Return(o) => operand(o),
        Term::ReturnMulti(os) => os.iter().for_each(operand),
        Term::TailCall { callee, args, .. } => {
            args.iter().for_each(&mut operand);
            callee_uses(callee, f);
        }
        Term::Call { callee, args, frame, .. } => {
            args.iter().for_each(&mut operand);
            frame.stores.iter().for_each(|(_, o)| operand(o));
            callee_uses(callee, f);
        }
    }
}

/// Successors inside the function.
pub fn successors(t: &Term) -> Vec<BlockId> {
    match t {
        Term::Goto(b) => vec![*b],
        Term::Branch { then, els, .. } => vec![*then, *els],
        _ => vec![],
    }
}

/// Changes the successors inside the function.
pub fn retarget(t: &mut Term, f: impl Fn(BlockId) -> BlockId) {
    match t {
        Term::Goto(b) => *b = f(*b),
        Term::Branch { then, els, .. } => (*then, *els) = (f(*then), f(*els)),
        _ => {}
    }
}

/// Calls `f` with each variable a call defines on return.
pub fn results_defs(r: &Results, mut f: impl FnMut(Var)) {
    match r {
        Results::Single(v) => f(*v),
        Results::Multi { params, rest, .. } => params.iter().chain(rest).for_each(|v| f(*v)),
    }
}

/// Calls `f` with every variable occurrence of a block, definitions included, to change it.
pub fn rename_variables(b: &mut Block, f: &mut impl FnMut(&mut Var)) {
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
            Callee::Unknown(o) | Callee::Apply(o) | Callee::CallCc(_, o) | Callee::Known(_, Some(o)) => {
                operand(o, f)
            }
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
            Stmt::HeapCheck { live, .. } | Stmt::StackCheck { live, .. } | Stmt::StopCheck { live } => {
                live.iter_mut().for_each(&mut *f)
            }
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
