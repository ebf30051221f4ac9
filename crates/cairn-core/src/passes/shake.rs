//! Dead global elimination.
//!
//! ```text
//! before  (define used (lambda used (x) x))        after  (define used (lambda used (x) x))
//!         (define unused (lambda unused () used))         (used 1)
//!         (used 1)
//! ```
//!
//! The problem: a program is compiled together with the whole library and uses a small part of it. The idea: start
//! from the forms that must run (expressions and definitions that have effects or may fail) and mark what they mention,
//! transitively; definitions never marked go. Since nearly all of the library is lambdas, this runs before anything
//! expensive, and again after inlining.
//!
//! Invariants: globals keep their numbers; forms keep their order. Complexity: linear.

use super::known::GlobalFacts;
use crate::effects;
use crate::ir::{Expr, GlobalId, Program, TopForm};
use crate::walk::visit;

/// Runs the pass.
pub fn run(program: &mut Program, facts: &GlobalFacts) {
    let mut definitions: Vec<Vec<usize>> = vec![Vec::new(); program.globals.len()];
    let mut live = vec![false; program.forms.len()];
    let mut work = Vec::new();
    for (i, form) in program.forms.iter().enumerate() {
        let removable = effects::discardable(form.expr(), &|g: GlobalId| facts.read_effects(g));
        if let TopForm::Define(g, _) = form {
            definitions[g.0 as usize].push(i);
        }
        // the last form's value is that of the program (in the REPL)
        let result = i + 1 == program.forms.len() && matches!(form, TopForm::Expr(_));
        if !removable || result {
            live[i] = true;
            work.push(i);
        }
    }
    while let Some(i) = work.pop() {
        visit(program.forms[i].expr(), &mut |e| {
            if let Expr::Global(g, _) | Expr::SetGlobal(g, ..) = e {
                for d in &definitions[g.0 as usize] {
                    if !std::mem::replace(&mut live[*d], true) {
                        work.push(*d);
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
