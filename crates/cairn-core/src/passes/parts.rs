//! Objects by their parts: records and pairs that are only read where they were made are never made (the field calls
//! it scalar replacement).
//!
//! ```text
//! (let ((v (%record vec.1 (%- a b) (%- c d))))
//!   (%+ (%* (%record-ref v vec.1 0) (%record-ref v vec.1 0)) (%record-ref v vec.1 1)))
//! ```
//! becomes
//! ```text
//! (let ((v0 (%- a b)))
//!   (let ((v1 (%- c d)))
//!     (%+ (%* v0 v0) v1)))
//! ```
//!
//! The problem: programs that compute with points and vectors make one for each intermediate result, which lives for a
//! few operations. The idea: once the procedures that make and take them are inlined, many such variables are only
//! operands of reads, and of tests whose answer is known; then their fields may as well be variables. It comes before
//! [`super::types`], which so sees the numbers and keeps them raw.
//!
//! Records that a variable holds because another one does (`(let ((b (%record … a …))) …)`) take another round.
//!
//! Invariants: dialect `Opt` in and out; operands are evaluated in their order, and what could fail still does. A
//! record whose type may not be defined yet stays. Linear in each of [`ROUNDS`].

use super::known::{self, GlobalFacts};
use super::simplify;
use crate::effects;
use crate::ir::{Expr, GlobalId, Literal, Program, VarId};
use crate::prim::{Op, PrimOp};
use crate::walk::{rewrite, visit};
use cairn_layout::object::record::{FieldKind, Slot};
use cairn_num::{Int, Number};
use rustc_hash::FxHashMap;

/// How often what has become visible is looked at again.
const ROUNDS: usize = 3;

/// Replaces throughout `program`; tells whether there was something.
pub fn run(program: &mut Program) -> bool {
    let mut any = false;
    for _ in 0..ROUNDS {
        let facts = known::analyze(program);
        if !round(program, &facts) {
            break;
        }
        any = true;
        // reads of parts that are records themselves are about other variables now
        let facts = known::analyze(program);
        simplify::run(program, &facts);
    }
    any
}

/// What a variable holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Object {
    Pair,
    Record(GlobalId),
}

/// A variable that is bound to a fresh object.
struct Candidate {
    object: Object,
    parts: usize,
    /// Occurrences that are not accounted for by a read or test.
    others: i64,
}

fn round(program: &mut Program, facts: &GlobalFacts) -> bool {
    let mut candidates: FxHashMap<VarId, Candidate> = FxHashMap::default();
    for form in &program.forms {
        visit(form.expr(), &mut |e| {
            let Expr::Let(bs, _) = e else { return };
            for (v, e) in bs {
                if let Some((object, parts)) = made(e, facts) {
                    candidates.insert(*v, Candidate { object, parts, others: 0 });
                }
            }
        });
    }
    if candidates.is_empty() {
        return false;
    }
    for form in &program.forms {
        visit(form.expr(), &mut |e| match e {
            Expr::Local(v) => {
                if let Some(c) = candidates.get_mut(v) {
                    c.others += 1;
                }
            }
            e => {
                if let Some((v, _)) = question(e, &candidates)
                    && let Some(c) = candidates.get_mut(&v)
                {
                    c.others -= 1;
                }
            }
        });
    }
    candidates.retain(|_, c| c.others == 0);
    if candidates.is_empty() {
        return false;
    }
    let mut names: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
    for (v, c) in &candidates {
        let name = program.vars[v.0 as usize].name.clone();
        names.insert(*v, (0..c.parts).map(|_| program.fresh_var(&name)).collect());
    }
    for form in &mut program.forms {
        rewrite(form.expr_mut(), &mut |e| {
            if let Some((v, answer)) = question(e, &candidates) {
                *e = match answer {
                    Answer::Yes => Expr::Const(Literal::Bool(true)),
                    Answer::Part(i) => Expr::Local(names[&v][i]),
                };
                return;
            }
            let Expr::Let(bs, _) = e else { return };
            if bs.iter().any(|(v, _)| candidates.contains_key(v)) {
                *bs = std::mem::take(bs).into_iter().flat_map(|(v, e)| by_parts(v, e, &names)).collect();
            }
        });
    }
    true
}

/// The bindings in place of that of `v`.
fn by_parts(v: VarId, e: Expr, names: &FxHashMap<VarId, Vec<VarId>>) -> Vec<(VarId, Expr)> {
    match (names.get(&v), e) {
        (Some(parts), Expr::Prim { op, mut args, .. }) => {
            if op == PrimOp::Record {
                args.remove(0);
            }
            parts.iter().copied().zip(args).collect()
        }
        (_, e) => vec![(v, e)],
    }
}

/// The object that `e` makes, and the number of its parts.
fn made(e: &Expr, facts: &GlobalFacts) -> Option<(Object, usize)> {
    let Expr::Prim { op, args, .. } = e else { return None };
    match (op, &args[..]) {
        (PrimOp::Op(Op::Cons), [_, _]) => Some((Object::Pair, 2)),
        (PrimOp::Record, [t @ Expr::Global(g, _), parts @ ..]) => {
            let defined = effects::discardable(t, &|g| facts.read_effects(g));
            defined.then_some((Object::Record(*g), parts.len()))
        }
        _ => None,
    }
}

/// What is asked of a candidate, as far as that is known without it.
enum Answer {
    Yes,
    Part(usize),
}

fn question(e: &Expr, candidates: &FxHashMap<VarId, Candidate>) -> Option<(VarId, Answer)> {
    let Expr::Prim { op: PrimOp::Op(op), args, .. } = e else { return None };
    let Some(Expr::Local(v)) = args.first() else { return None };
    let c = candidates.get(v)?;
    let answer = match (op, c.object, &args[1..]) {
        (Op::Car, Object::Pair, []) => Answer::Part(0),
        (Op::Cdr, Object::Pair, []) => Answer::Part(1),
        (Op::IsPair, Object::Pair, []) | (Op::IsRecord, Object::Record(_), []) => Answer::Yes,
        (Op::IsInstance, Object::Record(t), [Expr::Global(g, _)]) if t == *g => Answer::Yes,
        (Op::RecordRef, Object::Record(t), [Expr::Global(g, _), Expr::Const(code)]) if t == *g => {
            let Literal::Number(Number::Int(Int::Fix(code))) = code else { return None };
            let slot = Slot::of(*code);
            let is_field = slot == Slot::new(FieldKind::Any, false, slot.at) && (slot.at as usize) < c.parts;
            is_field.then_some(Answer::Part(slot.at as usize))?
        }
        _ => return None,
    };
    Some((*v, answer))
}
