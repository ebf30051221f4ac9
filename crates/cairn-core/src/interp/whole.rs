//! Running whole programs, library and all, for tests of passes: what a program notes must stay the same.
//!
//! The machine is that of macro transformers ([`super::transform`]): errors go to the hook of the library, so `guard`
//! and handlers work; most runtime calls are there. Unlike a transformer, a program runs its forms in order, a form
//! that stops is noted and the next one runs, and the optimizer's claims (`proven`) are checked.
//! `(%write-object x '() 1)` notes `x`.
//!
//! A form may do what is not to be had here; that is noted, too. A program may go on for too long: what it noted before
//! counts ([`Notes::end`]).

use super::machine::{Host, Machine, Natives, Out, Value};
use super::stop::Stop;
use crate::ir::{Program, TopForm};
use crate::walk::deep;
use rustc_hash::FxHashMap;

/// The note of a form that does what is not to be had here.
const UNKNOWN: &str = "unknown";

/// What a program noted.
#[derive(Debug, Clone, PartialEq)]
pub struct Notes {
    /// What it wrote, and why forms stopped, in order.
    pub notes: Vec<String>,
    /// Why it ended before its end.
    pub end: Option<Stop>,
}

impl Notes {
    /// Are these the notes of the same program, of which those before have seen all or a part?
    pub fn follow(&self, before: &Notes) -> bool {
        match before.notes.iter().zip(&self.notes).find(|(a, b)| a != b) {
            // a pass made what is not to be had here superfluous; the form did other things than before
            Some((a, _)) => a == UNKNOWN,
            None if before.end.is_some() => self.notes.len() >= before.notes.len(),
            None => self.notes.len() == before.notes.len() && self.end.is_none(),
        }
    }
}

struct Nobody;

impl<'p> Natives<'p> for Nobody {
    fn call(&self, _: u32, _: &[Value<'p>]) -> Result<Value<'p>, String> {
        Err("there are no procedures of a host".into())
    }
}

/// Runs a program; each form for at most `fuel` steps.
pub fn run_whole(program: &Program, fuel: usize) -> Notes {
    let exports = FxHashMap::default();
    let machine = Machine::new(program, fuel, Some(Host::auditing(&Nobody, &exports)));
    let mut end = None;
    for form in &program.forms {
        machine.world.refuel(fuel);
        machine.depth.set(0);
        let result = deep(|| match form {
            TopForm::Define(g, e) => machine.value(e, &None).map(|v| {
                machine.globals.borrow_mut()[g.0 as usize] = Some(v);
            }),
            TopForm::Expr(e) => machine.values(e, &None).map(|out| {
                debug_assert!(!matches!(out, Out::Tail(..) | Out::Jump(..)));
            }),
        });
        match (result, form) {
            (Ok(()), _) => {}
            // what the library sets up and tests do not need
            (Err(Stop::Unsupported(_)), _) if machine.world.noted() == 0 => {}
            // what reads the variable is unknown, too
            (Err(Stop::Unsupported(_)), TopForm::Define(..)) => {}
            (Err(stop @ (Stop::Fuel | Stop::Unsound(_))), _) => end = Some(stop),
            // a definition that failed: what follows reads a variable that is not there
            (Err(stop), TopForm::Define(..)) => end = Some(stop),
            (Err(stop), TopForm::Expr(_)) => machine.world.note(kind(&stop).into()),
        }
        if end.is_some() {
            break;
        }
    }
    Notes { notes: machine.world.into_trace(), end }
}

/// Which texts and which numbers go with it, passes may change.
fn kind(stop: &Stop) -> &'static str {
    match stop {
        Stop::Operand => "operand",
        Stop::NotProcedure => "no procedure",
        Stop::Arity => "arity",
        Stop::Unbound => "unbound",
        Stop::Raised(..) => "raised",
        Stop::Throw(..) => "a continuation that was left",
        Stop::Unsupported(_) => UNKNOWN,
        Stop::Fuel | Stop::Unsound(_) => "end",
    }
}
