//! Representation choice: which variables of a function hold unboxed doubles.
//!
//! The problem: a flonum operation decodes its operands and encodes its result; in `(fl+ (fl* a b) (fl* c d))` the
//! products are encoded only to be decoded again. The idea: a variable all of whose values are results of flonum
//! operations, flonum constants or other such variables, and which some flonum operation uses, is kept as a raw
//! double. So is one that is stored in an object: as long as it tags itself the store needs no barrier. Where it is
//! used as a value after all, it is encoded there.
//!
//! ```text
//!  t1 = (fl* a b)             t1!d = (fl* a b)       decode a, b; multiply
//!  t2 = (fl+ t1 c)     ──▶    t2!d = (fl+ t1 c)      decode c; add
//!  vector-set! v i t2         vector-set! v i t2     encode once
//! ```
//!
//! Invariants: parameters, results of calls, slots and closure variables are never unboxed, so a raw double never
//! crosses a call and never sits in a frame or in a heap check's live list. Optimistic fixpoint over copies.

use crate::ir::*;
use crate::uses;
use cairn_core::ir::Literal;
use cairn_core::prim::PrimOp;
use cairn_num::Number;

/// A variable encoded more often than this stays a value.
const MAX_ENCODINGS: u32 = 8;

/// Chooses representations; to be called before heap checks are placed.
pub fn choose(f: &mut Function) {
    let n = f.vars.len();
    let mut raw = vec![true; n];
    let mut assigned = vec![false; n];
    match &f.kind {
        FuncKind::Body { params, closure } => params.iter().chain(closure).for_each(|v| raw[v.0 as usize] = false),
        FuncKind::Return { results, .. } => uses::results_defs(results, |v| raw[v.0 as usize] = false),
        FuncKind::Entry { .. } => return,
    }
    // Uses that gain from a double (by flonum operations, and stores) against uses that encode it; stores are both.
    let mut gaining = vec![0u32; n];
    let mut encoded = vec![0u32; n];
    let mut any = false;
    for b in &f.blocks {
        for s in &b.stmts {
            match s {
                Stmt::Assign(v, op) => {
                    assigned[v.0 as usize] = true;
                    let flonum = match op {
                        Op::Prim(p) => is_flonum_result(p),
                        Op::Copy(Operand::Const(Literal::Number(Number::Flo(_)))) => true,
                        Op::Copy(Operand::Var(_)) => true, // decided below
                        _ => false,
                    };
                    any |= flonum;
                    raw[v.0 as usize] &= flonum;
                    count_uses(op, &mut gaining, &mut encoded);
                }
                Stmt::Effect(op) => count_uses(op, &mut gaining, &mut encoded),
                _ => {}
            }
        }
        if let Term::Branch { test: Test::Prim(p), .. } = &b.term {
            count_prim(p, &mut gaining, &mut encoded);
        } else {
            uses::term_uses(&b.term, |v| encoded[v.0 as usize] += 1);
        }
    }
    if !any {
        return;
    }
    loop {
        let mut changed = false;
        // How often a variable is copied into one that stays raw, and into others.
        let mut raw_copies = vec![0u32; n];
        let mut value_copies = vec![0u32; n];
        for s in f.blocks.iter().flat_map(|b| &b.stmts) {
            if let Stmt::Assign(v, Op::Copy(Operand::Var(w))) = s {
                if raw[v.0 as usize] {
                    raw_copies[w.0 as usize] += 1;
                } else {
                    value_copies[w.0 as usize] += 1;
                }
                if raw[v.0 as usize] && !raw[w.0 as usize] {
                    raw[v.0 as usize] = false;
                    changed = true;
                }
            }
        }
        for v in 0..n {
            let useful = gaining[v] + raw_copies[v] > 0;
            if raw[v] && (!assigned[v] || !useful || encoded[v] + value_copies[v] > MAX_ENCODINGS) {
                raw[v] = false;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for (info, raw) in f.vars.iter_mut().zip(raw) {
        if raw {
            info.rep = Rep::Double;
        }
    }
}

fn is_flonum_result(p: &Prim) -> bool {
    p.makes_flonum()
}

/// Counts a primitive's operands: flonum operations decode them, stores encode them, all others want values.
fn count_prim(p: &Prim, gaining: &mut [u32], encoded: &mut [u32]) {
    for (i, a) in p.args.iter().enumerate() {
        if let Operand::Var(v) = a {
            let decodes = p.takes_flonum(i) && p.op != PrimOp::Op(cairn_core::prim::Op::FlRectangular);
            // encoded as part of the store, which so needs no barrier
            let stores = p.op.stored_operand() == Some(i);
            gaining[v.0 as usize] += u32::from(decodes || stores);
            encoded[v.0 as usize] += u32::from(!decodes);
        }
    }
}

fn count_uses(op: &Op, gaining: &mut [u32], encoded: &mut [u32]) {
    match op {
        Op::Prim(p) => count_prim(p, gaining, encoded),
        Op::Copy(_) => {}
        op => uses::op_uses(op, None, |v| encoded[v.0 as usize] += 1),
    }
}
