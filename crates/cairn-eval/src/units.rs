//! Forms that were typed or loaded, found again by another process that makes native code of them.
//!
//! ```text
//!  the session, and its log          job: log, unit           another session, in the compiler
//!  environment, open, next, next … ─────────────────────▶     the same steps again, up to that form
//!        └ unit: text, form, fingerprint                       └ the same form, with the library's procedures
//! ```
//!
//! The problem: what a form means depends on all that was defined before it, and the expander that is part of a running
//! program keeps no Core, no library code and no compiler. The idea: the session writes down what it was told to do.
//! Who is to compile a form does the same steps, which takes milliseconds, and has the form's Core when it comes to it.
//! What is not written down, such as what `eval` has expanded, may make a difference, so both sides compute a
//! fingerprint of the form, and a form whose fingerprint is another is not compiled.
//!
//! Invariants: texts without procedures, macros and imports leave the log when they are closed; a log that gets too
//! long is given up, and what is evaluated from then on stays evaluated. So sessions that evaluate for ever need
//! bounded room.

use cairn_core::ir::{GlobalId, Program, TopForm};
use cairn_core::passes;
use cairn_core::tier::{self, Part, Request};
use cairn_rt::evaluated_program::{BetterCode, Progress, Stopper};
use cairn_syntax::{Environment, Loader, OpenText, Session};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Debug;

/// Texts of more bytes in all are not kept.
const MAX_BYTES: usize = 1 << 20;
/// Nor are more steps.
const MAX_STEPS: usize = 50_000;

/// Something that a session was told to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Make an environment of import sets, or the usual one.
    Environment(Option<String>),
    /// Open a text.
    Open {
        /// Its name.
        name: String,
        /// What it says.
        text: String,
        /// As if so many lines came before it.
        lines_before: i32,
        /// Is it a file, whose definitions go together?
        whole: bool,
    },
    /// Expand the next form of the text that was opened in that step, in the environment of that number.
    Next {
        /// Number of the step.
        opened: usize,
        /// Number of the environment.
        environment: usize,
    },
}

/// Where a form is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The step that opened its text.
    pub opened: usize,
    /// Its number in the text.
    pub form: usize,
    /// What it must be: see [`tier::fingerprint`].
    pub fingerprint: i64,
    /// How many cells it has.
    pub cells: usize,
}

impl From<[i64; 4]> for Place {
    fn from([opened, form, fingerprint, cells]: [i64; 4]) -> Place {
        Place { opened: opened as usize, form: form as usize, fingerprint, cells: cells as usize }
    }
}

/// A form, and what the session was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// All steps.
    pub steps: Vec<Step>,
    /// The form, then those that define what it calls: before it or behind it.
    pub parts: Vec<Place>,
}

/// Makes native code while evaluation goes on. What a module is for, and what it asks of its surroundings, is said in
/// `cairn_core::tier`.
pub trait UnitCompiler: Debug + Send + Sync {
    /// Begins with a module of what is hot in a unit; a ticket for it, or `None` if nobody can. The stopper is for when
    /// there is better code for it.
    fn request(&self, unit: Unit, request: Request, stopper: Stopper) -> Option<i64>;
    /// The module. A ticket is good for one.
    fn ready(&self, ticket: i64) -> Progress;
    /// The better code that has come since it was asked for.
    fn better_code(&self) -> Vec<BetterCode>;
}

/// What a session was told to do.
#[derive(Debug, Default)]
pub(crate) struct Log {
    steps: Vec<Step>,
    bytes: usize,
    full: bool,
    /// Texts that are open, by number.
    texts: FxHashMap<i64, Text>,
}

/// An open text.
#[derive(Debug)]
struct Text {
    opened: usize,
    forms: usize,
    /// Did it leave anything that forms behind it may depend on?
    needed: bool,
    /// [`Session::extent`] before the form that is expanded.
    extent: usize,
}

impl Log {
    fn push(&mut self, step: Step) -> usize {
        self.bytes += match &step {
            Step::Open { name, text, .. } => name.len() + text.len(),
            Step::Environment(sets) => sets.as_ref().map_or(0, String::len),
            Step::Next { .. } => 0,
        };
        if self.bytes > MAX_BYTES || self.steps.len() >= MAX_STEPS {
            self.full = true;
            self.steps = Vec::new();
            self.texts = FxHashMap::default();
        }
        if !self.full {
            self.steps.push(step);
        }
        self.steps.len().wrapping_sub(1)
    }

    pub(crate) fn environment(&mut self, sets: Option<&str>) {
        self.push(Step::Environment(sets.map(str::to_string)));
    }

    pub(crate) fn open(&mut self, number: i64, name: &str, text: &str, lines_before: i32, whole: bool) {
        let (name, text) = (name.to_string(), text.to_string());
        let opened = self.push(Step::Open { name, text, lines_before, whole });
        if !self.full {
            self.texts.insert(number, Text { opened, forms: 0, needed: false, extent: 0 });
        }
    }

    /// The place of the form that will be expanded next: the step that opened its text, and its number there.
    pub(crate) fn next(&mut self, number: i64, environment: i64, session: &Session) -> Option<(usize, usize)> {
        let text = self.texts.get_mut(&number)?;
        text.extent = session.extent();
        let place = (text.opened, text.forms);
        text.forms += 1;
        self.push(Step::Next { opened: place.0, environment: environment as usize });
        (!self.full).then_some(place)
    }

    /// That form has been expanded. What its evaluation defines does not count: a name without definition means the
    /// same.
    pub(crate) fn expanded(&mut self, number: i64, session: &Session, is_unit: bool) {
        if let Some(text) = self.texts.get_mut(&number) {
            text.needed |= is_unit || text.extent != session.extent();
        }
    }

    pub(crate) fn close(&mut self, number: i64) {
        let Some(text) = self.texts.remove(&number) else { return };
        let steps = &self.steps[text.opened + 1..];
        let alone = steps.iter().all(|s| matches!(s, Step::Next { opened, .. } if *opened == text.opened));
        if alone && !text.needed {
            if let Some(Step::Open { name, text, .. }) = self.steps.get(text.opened) {
                self.bytes -= name.len() + text.len();
            }
            self.steps.truncate(text.opened);
        }
    }

    /// The unit of the form at the first of these places.
    pub(crate) fn unit(&self, parts: Vec<Place>) -> Option<Unit> {
        (!self.full).then(|| Unit { steps: self.steps.clone(), parts })
    }
}

/// A form found again.
#[derive(Debug)]
pub struct Found {
    /// A program whose forms are those of the library and then that one, dialect `Fixed`.
    pub program: Program,
    /// How many are the library's.
    pub library: usize,
    /// What the form calls, dialect `Fixed`.
    pub others: Vec<Part>,
    /// Variables of libraries that the session has read before: they are in cells.
    pub defined: FxHashSet<GlobalId>,
}

impl Unit {
    /// Does the steps in a session that keeps the forms of the library, until all of the unit's parts have come. A
    /// part that means something else by now is as good as empty, but the first must not be.
    pub fn find(&self, mut session: Session, loader: &mut dyn Loader) -> Result<Found, String> {
        let mut environments: Vec<Environment> = Vec::new();
        let mut texts: FxHashMap<usize, (OpenText, usize)> = FxHashMap::default();
        let failed = || "the session cannot be followed".to_string();
        let mut parts: Vec<Part> = self.parts.iter().map(|p| Part { forms: Vec::new(), cells: p.cells }).collect();
        let mut missing = parts.len();
        let mut defined = FxHashSet::default();
        for (n, step) in self.steps.iter().enumerate() {
            match step {
                Step::Environment(sets) => {
                    let environment = session.environment(sets.as_deref(), loader).map_err(|_| failed())?;
                    // what the import of libraries brings is code of its own
                    session
                        .expand_in(environment, "", loader, |s| library_variables(s.expanded(), &mut defined))
                        .map_err(|_| failed())?;
                    environments.push(environment);
                }
                Step::Open { name, text, lines_before, whole } => {
                    texts.insert(n, (session.open_text(name, text, *lines_before, *whole), 0));
                }
                Step::Next { opened, environment } => {
                    let environment = *environments.get(*environment).ok_or_else(failed)?;
                    let (text, forms) = texts.get_mut(opened).ok_or_else(failed)?;
                    let this = self.parts.iter().position(|p| (p.opened, p.form) == (*opened, *forms));
                    *forms += 1;
                    missing -= this.map_or(0, |_| 1);
                    let last = missing == 0;
                    // what was an error then is one now
                    let form = session.expand_next(environment, text, loader, |s| {
                        library_variables(s.expanded(), &mut defined);
                        let Some(this) = this else {
                            passes::wrong_counts::note_definitions(s.program());
                            return None;
                        };
                        passes::prepare(s.program());
                        if tier::fingerprint(s.expanded(), &s.expanded().forms) == self.parts[this].fingerprint {
                            parts[this].forms.clone_from(&s.expanded().forms);
                        }
                        last.then(|| s.with_library())
                    });
                    if this.is_some() && last {
                        let (program, library) = form.ok().flatten().flatten().ok_or_else(failed)?;
                        return found(program, library, parts, defined);
                    }
                }
            }
        }
        Err(failed())
    }
}

/// The variable of a library that a form defines.
pub(crate) fn library_variable(program: &Program, form: &TopForm) -> Option<GlobalId> {
    match form {
        TopForm::Define(g, _) => Some(*g).filter(|g| program.globals[g.0 as usize].library),
        TopForm::Expr(_) => None,
    }
}

/// Adds the variables of libraries that these forms define.
fn library_variables(program: &Program, defined: &mut FxHashSet<GlobalId>) {
    defined.extend(program.forms.iter().filter_map(|form| library_variable(program, form)));
}

/// The first part behind the library.
fn found(
    mut program: Program,
    library: Vec<TopForm>,
    mut parts: Vec<Part>,
    defined: FxHashSet<GlobalId>,
) -> Result<Found, String> {
    let count = library.len();
    program.forms = library;
    passes::prepare(&mut program);
    program.forms.append(&mut parts[0].forms);
    if program.forms.len() == count {
        return Err("the form means something else by now".into());
    }
    Ok(Found { program, library: count, others: parts.split_off(1), defined })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library_loader::Files;

    /// A session that is told what these texts say, and its log.
    fn told(texts: &[&str]) -> (Session, Log, Environment) {
        let (mut session, mut log) = (Session::new(), Log::default());
        let environment = session.environment(Some("(scheme base)"), &mut Files::default()).unwrap();
        session.expand_in(environment, "", &mut Files::default(), |_| ()).unwrap();
        log.environment(Some("(scheme base)"));
        for (n, text) in (0..).zip(texts) {
            let mut open = session.open_text("a", text, 0, false);
            log.open(n, "a", text, 0, false);
            loop {
                log.next(n, 0, &session);
                let form = session.expand_next(environment, &mut open, &mut Files::default(), |_| ());
                log.expanded(n, &session, false);
                if !matches!(form, Ok(Some(()))) {
                    break;
                }
            }
            session.close_text(open);
            log.close(n);
        }
        (session, log, environment)
    }

    /// The fingerprint of the next form.
    fn fingerprint(session: &mut Session, environment: Environment, text: &str) -> i64 {
        let mut open = session.open_text("b", text, 0, false);
        let form = session.expand_next(environment, &mut open, &mut Files::default(), |s| {
            cairn_core::passes::prepare(s.program());
            tier::fingerprint(s.expanded(), &s.expanded().forms)
        });
        form.unwrap().unwrap()
    }

    #[test]
    fn texts_that_leave_nothing_are_forgotten() {
        let left = |text: &str| told(&[text]).1.steps.len() - 1;
        assert_eq!(left("(car '(1)) (+ 1 2)"), 0);
        assert_ne!(left("(define-syntax m (syntax-rules () ((_) 1)))"), 0);
        assert_ne!(left("(import (scheme write))"), 0);
        assert_ne!(left("(define new 1)"), 0);
        let again = told(&["(define new 1)", "(define new 2)"]).1;
        assert_eq!(again.steps.len(), told(&["(define new 1)"]).1.steps.len());
        assert_ne!(left("(define car 1)"), 0, "another meaning of a name");
        let of_a_macro = told(&["(define-syntax m (syntax-rules () ((_) 1)))", "(define m 1)"]).1.steps.len();
        assert_eq!(
            of_a_macro,
            told(&["(define-syntax m (syntax-rules () ((_) 1)))", "(define n 1)"]).1.steps.len()
        );
    }

    #[test]
    fn names_of_values_are_not_noted() {
        let (mut session, mut log, environment) = told(&[]);
        let mut open = session.open_text("a", "(car '(1))", 0, false);
        log.open(9, "a", "(car '(1))", 0, false);
        log.next(9, 0, &session);
        session.expand_next(environment, &mut open, &mut Files::default(), |_| ()).unwrap();
        log.expanded(9, &session, false);
        session.define_variable(environment, "$1", &mut Files::default());
        log.close(9);
        assert_eq!(log.steps.len(), 1);
    }

    #[test]
    fn a_unit_keeps_its_text() {
        let (mut session, mut log, environment) = told(&[]);
        let text = "1 (lambda (x) x)";
        let mut open = session.open_text("a", text, 0, false);
        log.open(9, "a", text, 0, false);
        assert_eq!(log.next(9, 0, &session), Some((1, 0)));
        session.expand_next(environment, &mut open, &mut Files::default(), |_| ()).unwrap();
        log.expanded(9, &session, false);
        assert_eq!(log.next(9, 0, &session), Some((1, 1)));
        log.expanded(9, &session, true);
        log.close(9);
        assert_eq!(log.steps.len(), 4);
    }

    #[test]
    fn a_log_that_is_too_long_is_given_up() {
        let (session, mut log, _) = told(&[]);
        let long = "x".repeat(MAX_BYTES);
        log.open(1, "a", &long, 0, false);
        assert_eq!(log.next(1, 0, &session), None);
        assert!(log.unit(Vec::new()).is_none() && log.steps.is_empty());
        log.open(2, "a", "(f)", 0, false);
        assert_eq!(log.next(2, 0, &session), None);
        log.close(2);
    }

    #[test]
    fn the_same_steps_lead_to_the_same_form() {
        let macros = "(define-syntax twice (syntax-rules () ((_ e) (begin e e))))";
        let form = "(define (f x) (twice (set! y (+ x y))) (let loop ((i 0)) (if (< i x) (loop (+ i 1)) y)))";
        let (mut session, mut log, environment) =
            told(&["(define y 1)", macros, "(broken", "(import (scheme cxr))"]);
        log.open(9, "b", form, 0, false);
        let (opened, number) = log.next(9, 0, &session).unwrap();
        let wanted = fingerprint(&mut session, environment, form);
        let place = Place { opened, form: number, fingerprint: wanted, cells: 0 };
        let unit = log.unit(vec![place]).unwrap();
        let found = unit.find(Session::new(), &mut Files::default()).unwrap();
        assert!(found.library < found.program.forms.len());
        // a part may stand before the form or behind it; what means something else is empty
        for (text, same) in [("(define (g) y)", 0), ("(define (h) y)", 1)] {
            let mut open = session.open_text("c", text, 0, false);
            log.open(10, "c", text, 0, false);
            let (opened, number) = log.next(10, 0, &session).unwrap();
            let print = session.expand_next(environment, &mut open, &mut Files::default(), |s| {
                cairn_core::passes::prepare(s.program());
                tier::fingerprint(s.expanded(), &s.expanded().forms)
            });
            let place = Place { opened, form: number, fingerprint: print.unwrap().unwrap() + 1 - same, cells: 7 };
            let parts = vec![unit.parts[0].clone(), place];
            let found = log.unit(parts).unwrap().find(Session::new(), &mut Files::default()).unwrap();
            assert_eq!((found.others[0].forms.len(), found.others[0].cells), (same as usize, 7));
            assert_eq!(found.program.forms.len() - found.library, 1);
        }
        // without the macro, or with another, it is not that form
        let other = |wrong: &str| {
            let mut unit = unit.clone();
            for step in &mut unit.steps {
                if let Step::Open { text, .. } = step
                    && text == macros
                {
                    *text = wrong.into();
                }
            }
            unit.find(Session::new(), &mut Files::default()).unwrap_err()
        };
        assert_eq!(other("(define twice 1)"), "the form means something else by now");
        let thrice = macros.replace("e e", "e e e");
        assert_eq!(other(&thrice), "the form means something else by now");
    }
}
