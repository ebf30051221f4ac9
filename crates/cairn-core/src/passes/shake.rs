//! Dead global elimination.
//!
//! ```text
//! before  (define used (lambda used (x) x))        after  (define used (lambda used (x) x))
//!         (define unused (lambda unused () used))         (used 1)
//!         (used 1)
//! ```
//!
//! The problem: a program is compiled together with the whole library and uses a small part of it. The idea: start
//! from the forms that must run and mark what they mention, transitively; definitions never marked go. Since nearly all
//! of the library is lambdas, this runs before anything expensive, and again after inlining.
//!
//! A definition of a program must run if its expression has effects or may fail. One of the library need not, whatever
//! it calls: it only makes its value, be that a table, a parameter or a record type ("Definitions of the library make
//! values", CONTRIBUTING.md). What the library does at its top level to the value of one of its variables (`(set! v
//! …)`, or a store into a record, vector or record type) belongs to the variable, and goes with it.
//!
//! Invariants: globals keep their numbers; forms keep their order. Complexity: linear.

use super::known::GlobalFacts;
use crate::effects;
use crate::ir::{Expr, GlobalId, Program, TopForm};
use crate::prim::{Effect, Op, PrimOp, SHOW_RECORD_TYPE, TELL_SENT};
use crate::walk::{self, visit};
use cairn_layout::code::Site;

/// When a form is needed.
enum Needed {
    Always,
    /// If somebody reads the variable.
    With(GlobalId),
    Never,
}

/// Runs the pass.
pub fn run(program: &mut Program, facts: &GlobalFacts) {
    let mut belonging: Vec<Vec<usize>> = vec![Vec::new(); program.globals.len()];
    let mut live = vec![false; program.forms.len()];
    let mut work = Vec::new();
    for (i, form) in program.forms.iter().enumerate() {
        // the last form's value is that of the program (in the REPL)
        let result = i + 1 == program.forms.len() && matches!(form, TopForm::Expr(_));
        match needed(program, form, facts) {
            Needed::With(g) if !result => belonging[g.0 as usize].push(i),
            Needed::Never if !result => {}
            _ => {
                live[i] = true;
                work.push(i);
            }
        }
    }
    while let Some(i) = work.pop() {
        visit(program.forms[i].expr(), &mut |e| {
            if let Expr::Global(g, _) | Expr::SetGlobal(g, ..) = e {
                for b in &belonging[g.0 as usize] {
                    if !std::mem::replace(&mut live[*b], true) {
                        work.push(*b);
                    }
                }
            }
        });
    }
    // a live definition that redefines something must find its earlier definitions gone or not at all: a definition is
    // never a read, so dropping dead ones is safe
    let mut live = live.into_iter();
    program.forms.retain(|_| live.next() == Some(true));
}

fn needed(program: &Program, form: &TopForm, facts: &GlobalFacts) -> Needed {
    let discardable = |e: &Expr| effects::discardable(e, &|g: GlobalId| facts.read_effects(g));
    // what is imported may be read by others than this program
    let of_library = |g: &GlobalId| {
        let info = &program.globals[g.0 as usize];
        info.library && info.import.is_none()
    };
    let in_library =
        |site: &Site| site.file().and_then(|f| program.sources.get(f as usize)).is_some_and(|f| f.library);
    if let TopForm::Define(g, e) = form {
        debug_assert!(
            !of_library(g) || !changes_others(e),
            "the definition of {} does more",
            program.globals[g.0 as usize].name
        );
    }
    match form {
        TopForm::Define(g, e) if of_library(g) || discardable(e) => Needed::With(*g),
        TopForm::Expr(Expr::SetGlobal(g, e, _)) if of_library(g) && discardable(e) => Needed::With(*g),
        TopForm::Expr(Expr::Prim { op, args, site, .. })
            if let [Expr::Global(g, _), rest @ ..] = &args[..]
                && stores_into_first(*op)
                && of_library(g)
                && in_library(site)
                && rest.iter().all(discardable) =>
        {
            Needed::With(*g)
        }
        TopForm::Expr(e) if discardable(e) => Needed::Never,
        _ => Needed::Always,
    }
}

/// Does evaluating it, but for what it calls, change anything that it has not made?
fn changes_others(e: &Expr) -> bool {
    let mut found = false;
    walk::visit_now(e, &mut |e| {
        found |= match e {
            Expr::SetGlobal(..) => true,
            Expr::Prim { op: PrimOp::Op(op), args, .. } => {
                PrimOp::Op(*op).effect() == Effect::Write && !matches!(args.first(), Some(Expr::Local(_)))
            }
            _ => false,
        }
    });
    found
}

/// Does it change its first operand, and nothing else?
fn stores_into_first(op: PrimOp) -> bool {
    matches!(op, PrimOp::Op(Op::RecordSet | Op::VectorSet) | SHOW_RECORD_TYPE | TELL_SENT)
}
