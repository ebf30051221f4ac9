//! A procedure with its return points inside: the functions of programs with native frames.
//!
//! The problem: the frame pass splits a procedure at its calls, since elsewhere every call is a jump. LLVM's own frames
//! want the procedure whole: a call in the middle, and values that live across it left to the register allocator. The
//! idea: nothing of the Frame IR changes. A body and all return points of its calls become one function again; a slot
//! of the frame becomes a variable; a call goes on at the first block of its return point.
//!
//! ```text
//!  body f:      … call g frame 3 [0, 1] store 0:=x then f.r1        f: … slot0 = x; %r = call g; t = %r; goto b7
//!  return f.r1: -> t;  y = slot 0; …                          ▶         b7: y = slot0; …
//! ```
//!
//! Slots keep their numbers from call to call of an activation, so what a reused frame still holds is still in the
//! variable. Bodies that are entered by jumps from several pieces (loops, joins) stay functions: a jump to them is a
//! tail call, which leaves the frame.

use cairn_frame::ir::*;
use cairn_frame::uses;
use std::collections::HashMap;

/// See the module's header.
pub(crate) struct Joined {
    /// The body, with the blocks of all return points.
    pub function: Function,
    /// The return points: what they make of values, in variables of `function`, and their first block.
    pub returns: HashMap<FuncId, (Results, BlockId)>,
}

/// All bodies that call.
pub(crate) fn all(m: &Module) -> HashMap<FuncId, Joined> {
    let calls = |f: &Function| f.blocks.iter().any(|b| matches!(b.term, Term::Call { .. }));
    let bodies = |(_, f): &(usize, &Function)| matches!(f.kind, FuncKind::Body { .. }) && calls(f);
    let every = m.functions.iter().enumerate().filter(bodies);
    every.map(|(i, f)| (FuncId(i as u32), join(m, f))).collect()
}

/// A body with the return points of its calls.
fn join(m: &Module, body: &Function) -> Joined {
    let mut function = body.clone();
    let mut returns = HashMap::new();
    let mut slots: HashMap<u32, Var> = HashMap::new();
    let mut next = 0;
    while next < function.blocks.len() {
        let found = match &mut function.blocks[next].term {
            Term::Call { ret, frame, .. } => Some((*ret, std::mem::take(&mut frame.stores))),
            _ => None,
        };
        if let Some((ret, stores)) = found {
            for (slot, o) in stores {
                let v = slot_variable(&mut function, &mut slots, slot);
                function.blocks[next].stmts.push(Stmt::Assign(v, Op::Copy(o)));
            }
            let piece = || append(&mut function, &mut slots, m.function(ret));
            returns.entry(ret).or_insert_with(piece);
        }
        next += 1;
    }
    Joined { function, returns }
}

/// The variable that stands for a slot.
fn slot_variable(f: &mut Function, slots: &mut HashMap<u32, Var>, slot: u32) -> Var {
    *slots.entry(slot).or_insert_with(|| {
        f.vars.push(VarInfo { name: "slot".into(), rep: Rep::Tagged });
        Var(f.vars.len() as u32 - 1)
    })
}

/// Adds the blocks of a return point.
fn append(f: &mut Function, slots: &mut HashMap<u32, Var>, piece: &Function) -> (Results, BlockId) {
    let FuncKind::Return { results, .. } = &piece.kind else { panic!("calls return to return points") };
    let (vars, blocks) = (f.vars.len() as u32, f.blocks.len() as u32);
    f.vars.extend(piece.vars.iter().cloned());
    for b in &piece.blocks {
        let mut b = b.clone();
        uses::rename_variables(&mut b, &mut |v| v.0 += vars);
        uses::retarget(&mut b.term, |s| BlockId(s.0 + blocks));
        for s in &mut b.stmts {
            if let Stmt::Assign(_, op) | Stmt::Effect(op) = s
                && let Op::Slot(slot) = *op
            {
                *op = Op::Copy(Operand::Var(slot_variable(f, slots, slot)));
            }
        }
        f.blocks.push(b);
    }
    let moved = |v: &Var| Var(v.0 + vars);
    let results = match results {
        Results::Single(v) => Results::Single(moved(v)),
        Results::Multi { params, rest, site } => Results::Multi {
            params: params.iter().map(moved).collect(),
            rest: rest.as_ref().map(moved),
            site: *site,
        },
    };
    (results, BlockId(blocks))
}
