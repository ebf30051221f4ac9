//! Files that are evaluated form by form: open programs, and what `load` reads.
//!
//! The problem: what a form means may depend on the evaluation of those before it, for `load` brings macros; but forms
//! that come one by one are slower, and mean less, than a program: each becomes native by itself, and a procedure
//! cannot use the macro that is defined behind it. The idea: only some forms can load or evaluate anything. Definitions
//! of procedures, of syntax and of record types, and variables that are made by calls of the library, cannot. So these
//! go together until another form comes.
//!
//! ```text
//!  (load "lib.scm")                       alone
//!  (define (f x) (g x))                ⎫
//!  (define table (make-vector 10 0))   ⎬  together: one unit, whose definitions know each other
//!  (define-syntax m …)                 ⎪
//!  (define (g x) (m x))                ⎭
//!  (display (f 1))                        alone
//! ```
//!
//! Forms of `begin`, `include` and `cond-expand` are forms of the file. A name that is imported, mentioned, and defined
//! behind the group that mentions it, is a variable of the file from the start, with the imported value: as in a
//! program that is expanded as a whole (`scan`).
//!
//! Complexity: linear in the text.

use super::core::Core;
use super::evaluate::OpenText;
use super::meaning::{Binding, Entrance, Meaning, Origin};
use super::state::{Expander, R};
use crate::diagnostic::Span;
use crate::syntax::{Datum, Ident, Syntax};
use cairn_core::ir::{Expr, TopForm};
use cairn_layout::code::Site;
use rustc_hash::FxHashSet;

/// Procedures of the library that load, evaluate, or call what they are given.
const CALLERS: [&str; 4] = ["load", "eval", "apply", "environment"];
/// Values of calls that are nested deeper are not looked at.
const MOST_NESTED: usize = 20;

impl Expander<'_> {
    /// The next forms of a file that are expanded together; none at its end.
    pub(super) fn next_forms(&mut self, text: &mut OpenText) -> R<Vec<Syntax>> {
        let mut group = Vec::new();
        while let Some(form) = text.forms.pop_front() {
            let inner = match (self.head(&form), form.as_list()) {
                (Some(Core::Begin), Some(parts)) => Some(parts[1..].to_vec()),
                (Some(Core::Include), Some(parts)) => Some(self.include(form.span, &parts[1..], false)?),
                (Some(Core::IncludeCi), Some(parts)) => Some(self.include(form.span, &parts[1..], true)?),
                (Some(Core::CondExpand), Some(_)) => Some(self.cond_expand(&form)?),
                (Some(Core::Import | Core::DefineLibrary), _) => None,
                _ => {
                    if !std::mem::replace(&mut text.declared, true) {
                        self.declare_ahead(std::iter::once(&form).chain(&text.forms));
                    }
                    None
                }
            };
            match inner {
                Some(inner) => inner.into_iter().rev().for_each(|form| text.forms.push_front(form)),
                None if self.is_quiet(&form) => group.push(form),
                None if group.is_empty() => return Ok(vec![form]),
                None => {
                    text.forms.push_front(form);
                    break;
                }
            }
        }
        Ok(group)
    }

    /// The keyword at the head of a form at top level.
    fn head(&self, form: &Syntax) -> Option<Core> {
        let id = form.parts().0.first()?.as_ident()?;
        match self.resolve(id) {
            Meaning::Bound(Binding::Core(core)) => Some(core),
            Meaning::Bound(_) => None,
            Meaning::Unbound(..) => {
                let known = [Core::Import, Core::DefineLibrary, Core::CondExpand, Core::Include];
                known.into_iter().find(|c| c.name() == &**self.name(id))
            }
        }
    }

    /// Can the evaluation of this form change what the forms behind it mean?
    fn is_quiet(&self, form: &Syntax) -> bool {
        match (self.head(form), form.as_list()) {
            (
                Some(
                    Core::DefineSyntax
                    | Core::DefineSyntaxParameter
                    | Core::DefineRecordType
                    | Core::DefineStructureVector,
                ),
                _,
            ) => true,
            (Some(Core::Define), Some([_, what, rhs @ ..])) => {
                what.as_ident().is_none() || rhs.iter().all(|x| self.is_quiet_value(x, true, 0))
            }
            _ => false,
        }
    }

    /// Can evaluating this value load nothing? It may refer to variables of the program only if `variables`.
    fn is_quiet_value(&self, x: &Syntax, variables: bool, depth: usize) -> bool {
        if depth > MOST_NESTED {
            return false;
        }
        if let Some(id) = x.as_ident() {
            return match self.resolve(id) {
                Meaning::Bound(Binding::Prim(_)) => true,
                Meaning::Bound(Binding::Global(g)) => variables || self.s.program.globals[g.0 as usize].library,
                Meaning::Bound(_) => false,
                Meaning::Unbound(..) => variables,
            };
        }
        if !matches!(x.datum, Datum::List(_) | Datum::Dotted(_)) {
            return true;
        }
        let Some([operator, operands @ ..]) = x.as_list() else { return false };
        match self.head(x) {
            Some(Core::Lambda | Core::NamedLambda | Core::CaseLambda) => return variables,
            Some(Core::Quote | Core::Delay | Core::DelayForce) => return true,
            Some(_) => return false,
            None => {}
        }
        let Some(id) = operator.as_ident() else { return false };
        let variables = match self.resolve(id) {
            Meaning::Bound(Binding::Prim(_)) => variables,
            Meaning::Bound(Binding::Global(g)) => {
                let info = &self.s.program.globals[g.0 as usize];
                if !info.library || CALLERS.contains(&&*info.name) {
                    return false;
                }
                false // it might call them
            }
            _ => return false,
        };
        operands.iter().all(|x| self.is_quiet_value(x, variables, depth + 1))
    }

    /// Makes variables of the imported names that a file defines behind the group in which it mentions them first.
    fn declare_ahead<'f>(&mut self, forms: impl Iterator<Item = &'f Syntax>) {
        let mut before: FxHashSet<Ident> = FxHashSet::default();
        let mut here: FxHashSet<Ident> = FxHashSet::default();
        let mut todo: Vec<&Syntax> = forms.collect();
        todo.reverse();
        while let Some(form) = todo.pop() {
            if self.head(form) == Some(Core::Begin) {
                todo.extend(form.as_list().unwrap_or(&[]).iter().skip(1).rev());
                continue;
            }
            if !self.is_quiet(form) {
                before.extend(here.drain());
            }
            if self.head(form) == Some(Core::Define)
                && let Some(what) = form.as_list().and_then(|parts| parts.get(1))
                && let Some(id) = what.as_ident().or_else(|| what.parts().0.first()?.as_ident())
                && before.contains(&id)
            {
                self.declare_redefined(id, form.span);
            }
            mentioned(form, &mut here);
            if !self.is_quiet(form) {
                before.extend(here.drain());
            }
        }
    }

    /// A variable that begins with the imported value of its name.
    fn declare_redefined(&mut self, id: Ident, span: Span) {
        let Some(&Entrance { binding, origin: Origin::Imported | Origin::Offered, .. }) =
            self.module().table.get(&id)
        else {
            return;
        };
        let old = match binding {
            Binding::Global(old) => Expr::Global(old, Site::NONE),
            Binding::Prim(op) => match self.primitive_value(op, op.name(), Span::default()) {
                Ok(e) => e,
                Err(_) => return,
            },
            _ => return,
        };
        let name = self.name(id).clone();
        let g = self.fresh_global(&name, false);
        self.s.program.globals[g.0 as usize].assigned = true;
        self.define_top(id, Binding::Global(g), span);
        self.push_form(TopForm::Define(g, old));
    }
}

/// The identifiers in a form.
fn mentioned(form: &Syntax, found: &mut FxHashSet<Ident>) {
    let mut todo = vec![form];
    while let Some(x) = todo.pop() {
        match &x.datum {
            Datum::Ident(id) => {
                found.insert(*id);
            }
            Datum::List(items) | Datum::Dotted(items) | Datum::Vector(items) => todo.extend(items.iter()),
            _ => {}
        }
    }
}
