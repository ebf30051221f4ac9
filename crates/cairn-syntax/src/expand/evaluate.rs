//! Expansion while a program runs: what `eval` and `environment` need.
//!
//! ```text
//!  compiling                                  running
//!  (import (scheme eval)) brings              a session of its own preloads the same libraries for their
//!  (cairn evaluator); its variable            macros and names, drops their forms, and expands forms in
//!  `running-bindings` is defined here:        environments; a reference to a variable of a library is found
//!  a procedure that returns the values        among the values by its key
//!  of all library variables, with keys
//! ```
//!
//! A *key* names a variable of a library, `(scheme base) map`, or a primitive as a procedure, `%car first`: both sides
//! make the same keys from the same sources ([`Session::definitions`]). Variables that are assigned are left out, for
//! their values would be old; so are those that macros of a library define under names of their own.
//!
//! The text of a form that `eval` is given is its written form: messages quote it. The form is an object all the same:
//! its quoted parts are parts of it, and what cannot be written may stand in it. So the expander knows which datum of
//! the text is which object, by the order of the text.

use super::loader::{LibraryName, Loader};
use super::meaning::{Binding, Entrance, Library, Origin};
use super::prims::{self, primitive_key};
use super::state::{Expander, Failed, Session};
use crate::diagnostic::{Diagnostic, Span};
use crate::read::Reader;
use crate::syntax::{Datum, Syntax};
use cairn_core::inlined::InlineTable;
use cairn_core::ir::{Clause, Expr, GlobalId, Lambda, Literal, Program, SourceFile, TopForm};
use cairn_core::prim::PrimOp;
use cairn_layout::code::Site;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::rc::Rc;

/// The variable of `(cairn evaluator)` that the expander defines.
pub const RUNNING_BINDINGS: &str = "running-bindings";
/// Variables read by one procedure: large functions compile slowly.
const CHUNK: usize = 64;

/// A text whose forms are expanded one after another.
#[derive(Debug)]
pub struct OpenText {
    file: u32,
    pub(super) forms: VecDeque<Syntax>,
    /// Its number, if it is a file, whose definitions go together ([`super::file_forms`]), or 0.
    number: u32,
    /// Have the names been declared that a file defines again?
    pub(super) declared: bool,
    /// Why there are no more forms behind these.
    error: Option<Diagnostic>,
    /// How many macros there were when it was opened.
    macros: usize,
}

impl OpenText {
    /// The number of its source.
    pub fn file(&self) -> u32 {
        self.file
    }
    /// Has the last form been expanded, with nothing wrong behind it?
    pub fn is_at_end(&self) -> bool {
        self.forms.is_empty() && self.error.is_none()
    }
}

/// Where code is evaluated: the top level of a module of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Environment(pub(super) u32);

impl Environment {
    /// This environment as a number.
    pub fn number(self) -> u32 {
        self.0
    }
}

impl Session {
    /// Makes the libraries known whose code runs already: their forms are forgotten.
    pub fn preload(&mut self, libraries: &[LibraryName], loader: &mut dyn Loader) -> Result<(), Failed> {
        let mut x = Expander::new(self, loader);
        for name in libraries {
            if let Err(d) = x.load(name, Span::default()) {
                x.report(d);
            }
        }
        for (op, name) in x.procedures() {
            x.wrapper(op, &name);
        }
        self.retained.forms.append(&mut self.program.forms);
        self.outcome()
    }

    /// A new environment with the bindings of import sets, given as text; `None`: what a program without `import` has.
    /// The forms of libraries loaded for it are in the next program of [`Session::expand_in`].
    pub fn environment(&mut self, sets: Option<&str>, loader: &mut dyn Loader) -> Result<Environment, Failed> {
        let module = self.modules.len() as u32;
        let mut x = Expander::new(self, loader);
        x.new_module(None, false);
        x.ctx.module = module;
        match sets {
            None => x.import_defaults(Span::default()),
            Some(text) => {
                let sets = x.evaluated(text);
                x.import(Span::default(), &sets);
                x.report_foreign();
            }
        }
        self.warnings.clear();
        self.outcome().map(|()| Environment(module))
    }

    /// Expands the form written as `text` in an environment and hands the program, which `then` may change, to it. The
    /// program's globals are those of the whole session; its forms are new.
    ///
    /// The text is what somebody wrote of an object in memory: where a compound datum or a string becomes a constant,
    /// the constant is the object ([`Session::objects`]).
    pub fn expand_in<T>(
        &mut self,
        environment: Environment,
        text: &str,
        loader: &mut dyn Loader,
        then: impl FnOnce(&mut Session) -> T,
    ) -> Result<T, Failed> {
        let forms = Expander::new(self, loader).evaluated(text);
        self.embedded = addresses(&forms);
        let result = self.expand_forms(environment, 0, forms, loader, then);
        self.embedded.clear();
        result
    }

    pub(super) fn expand_forms<T>(
        &mut self,
        environment: Environment,
        text: u32,
        forms: Vec<Syntax>,
        loader: &mut dyn Loader,
        then: impl FnOnce(&mut Session) -> T,
    ) -> Result<T, Failed> {
        let outer = self.evaluating.replace(text);
        let mut x = Expander::new(self, loader);
        x.ctx.module = environment.0;
        x.top_level(forms, FxHashMap::default());
        x.define_wanted_of_c_headers();
        x.report_foreign();
        self.evaluating = outer;
        self.warnings.clear();
        let result = self.outcome().map(|()| then(self));
        // local variables of forms that have been expanded are not referred to again
        let forms = std::mem::take(&mut self.program.forms);
        self.c_headers.forms_are_gone();
        // transformers may refer to what was defined before
        let all = self.syntax_case;
        let of_library = |g: &GlobalId| self.library_globals.contains(g) || self.helpers.values().any(|h| h == g);
        let kept = |f: &TopForm| matches!(f, TopForm::Define(g, _) if all || of_library(g));
        let mut dropped = Program::default();
        for form in forms {
            if kept(&form) { self.retained.forms.push(form) } else { dropped.forms.push(form) }
        }
        if self.library_forms.is_none() {
            self.program.vars.clear();
            self.program.early_reads.clear();
            self.program.inlined = InlineTable::default();
        }
        self.program.labels = 0;
        result
    }

    /// Does anything that was expanded refer to `load` or `interaction-environment`? Then a program is an open world:
    /// others may use and define what it defines. So is one that makes environments and has libraries, other than
    /// `compiled` ones, that define variables: these are loaded once, for the program and for what it evaluates.
    pub fn is_open(&self, compiled: impl Fn(&LibraryName) -> bool) -> bool {
        let variable = |e: &Entrance| e.origin == Origin::Defined && matches!(e.binding, Binding::Global(_));
        let own = |(name, l): (&LibraryName, &Library)| {
            !compiled(name) && self.modules[l.module as usize].table.values().any(variable)
        };
        self.open || self.makes_environments && self.libraries.iter().any(own)
    }

    /// The program of the forms just expanded, for `then` of [`Session::expand_in`].
    pub fn program(&mut self) -> &mut Program {
        &mut self.program
    }

    /// The program of the forms just expanded, as one of its own, and the forms of the library so far, if they are
    /// kept ([`Session::keep_library_forms`]).
    pub fn with_library(&mut self) -> (Program, Vec<TopForm>) {
        let mut program = self.program.clone();
        program.sources.clone_from(&self.sources);
        (program, self.library_forms.as_mut().map(std::mem::take).unwrap_or_default())
    }

    /// Grows with the macros and libraries that are known, and when a name is given a meaning at top level, also
    /// instead of another one.
    pub fn extent(&self) -> usize {
        self.macros.len() + self.libraries.len() + self.meanings
    }

    /// The program of the forms just expanded, to be read.
    pub fn expanded(&self) -> &Program {
        &self.program
    }

    /// The variables that stand for objects of the text, whose compound data and strings are counted as they begin.
    pub fn objects(&self) -> &[GlobalId] {
        &self.objects
    }

    /// A text whose forms are expanded one after another, each when the one before has been evaluated. Definitions of a
    /// `whole` file go together. Places are told as if so many lines came before it.
    pub fn open_text(&mut self, name: &str, text: &str, lines_before: i32, whole: bool) -> OpenText {
        let file = self.free_sources.pop().unwrap_or_else(|| self.add_source("", "", false));
        self.sources[file as usize] = SourceFile { lines_before, ..SourceFile::new(name, text, false) };
        let mut forms = VecDeque::new();
        let mut reader = Reader::new(file, text, &mut self.names);
        let error = loop {
            match reader.next_datum() {
                Ok(Some(x)) => forms.push_back(x),
                Ok(None) => break None,
                Err(d) => break Some(*d),
            }
        };
        self.whole_texts += u32::from(whole);
        let number = if whole { self.whole_texts } else { 0 };
        OpenText { file, forms, number, declared: false, error, macros: self.macros.len() }
    }

    /// A text of which only the definition around byte `at` is there, to be expanded once more, and where: at the top
    /// level of an environment, or of the library that it is part of. `None` if its name means something else by now.
    pub fn open_definition(
        &mut self,
        name: &str,
        text: &str,
        at: usize,
        environment: Environment,
        loader: &mut dyn Loader,
    ) -> Option<(OpenText, Environment)> {
        let mut open = self.open_text(name, text, 0, false);
        open.error = None;
        let found = self.definition_around(&open, (name, text), at, environment, loader);
        match found {
            Some((form, environment)) => {
                open.forms = VecDeque::from([form]);
                Some((open, environment))
            }
            None => {
                self.close_text(open);
                None
            }
        }
    }

    fn definition_around(
        &mut self,
        open: &OpenText,
        (path, text): (&str, &str),
        at: usize,
        environment: Environment,
        loader: &mut dyn Loader,
    ) -> Option<(Syntax, Environment)> {
        let is_around = |x: &&Syntax| (x.span.start as usize..x.span.end as usize).contains(&at);
        let mut form = open.forms.iter().find(is_around)?;
        let mut library = None;
        loop {
            let Datum::List(items) = &form.datum else { return None };
            match &*self.head(items) {
                "begin" => {}
                "define-library" | "library" => {
                    let name = Expander::new(self, loader).library_name(items.get(1)?).ok()?;
                    library = Some(self.libraries.get(&name)?.module);
                }
                _ => break,
            }
            form = items.iter().skip(1).find(is_around)?;
        }
        // a library includes files
        let included = || {
            let libraries = self.modules.iter().enumerate().filter(|(_, m)| m.name.is_some() && !m.builtin);
            let mut theirs = libraries.flat_map(|(n, m)| m.table.values().map(move |e| (n, e)));
            let here = |e: &Entrance| {
                let file = self.sources.get(e.span.file as usize);
                e.origin == Origin::Defined
                    && form.span.start <= e.span.start
                    && e.span.start < form.span.end
                    && file.is_some_and(|f| &*f.path == path && &*f.text == text)
            };
            theirs.find(|(_, e)| here(e)).map(|(n, _)| n as u32)
        };
        let module = library.or_else(included).unwrap_or(environment.0);
        let Datum::List(items) = &form.datum else { return None };
        if self.head(items).starts_with("define") {
            let mut what = items.get(1)?;
            while let Datum::List(inner) | Datum::Dotted(inner) = &what.datum {
                what = inner.first()?;
            }
            let Datum::Ident(id) = what.datum else { return None };
            self.modules[module as usize].table.get(&id).filter(|e| e.origin == Origin::Defined)?;
        }
        Some((form.clone(), Environment(module)))
    }

    /// The name that a form begins with.
    fn head(&self, items: &[Syntax]) -> Rc<str> {
        match items.first().map(|x| &x.datum) {
            Some(Datum::Ident(id)) => self.names.name(*id).clone(),
            _ => "".into(),
        }
    }

    /// The variable that a name means at the top level of an environment.
    pub fn variable_of(&mut self, environment: Environment, name: &str) -> Option<GlobalId> {
        let id = self.names.intern(name);
        match self.modules.get(environment.0 as usize)?.table.get(&id)?.binding {
            Binding::Global(g) => Some(g),
            _ => None,
        }
    }

    /// Expands the next form of a text, as [`Session::expand_in`] does; `None` at its end.
    pub fn expand_next<T>(
        &mut self,
        environment: Environment,
        text: &mut OpenText,
        loader: &mut dyn Loader,
        then: impl FnOnce(&mut Session) -> T,
    ) -> Result<Option<T>, Failed> {
        let forms = if text.number > 0 {
            let mut x = Expander::new(self, loader);
            x.ctx.module = environment.0;
            let forms = x.next_forms(text);
            forms.map_err(|d| Failed { errors: vec![*d], sources: self.sources.clone() })?
        } else {
            text.forms.pop_front().into_iter().collect()
        };
        if !forms.is_empty() {
            return self.expand_forms(environment, text.number, forms, loader, then).map(Some);
        }
        match text.error.take() {
            Some(d) => Err(Failed { errors: vec![d], sources: self.sources.clone() }),
            None => Ok(None),
        }
    }

    /// Forgets a text, unless macros were defined meanwhile: messages about them show it.
    pub fn close_text(&mut self, text: OpenText) {
        if text.macros == self.macros.len() {
            self.sources[text.file as usize].text = "".into();
            self.free_sources.push(text.file);
        }
    }

    /// The files read so far, by number.
    pub fn sources(&self) -> &[SourceFile] {
        &self.sources
    }

    /// The number of the source that stands for evaluated text.
    pub fn evaluated_source(&self) -> Option<u32> {
        self.evaluated
    }

    /// The variable of this name at the top level of an environment, defined if it is not.
    pub fn define_variable(&mut self, environment: Environment, name: &str, loader: &mut dyn Loader) -> GlobalId {
        let mut x = Expander::new(self, loader);
        x.ctx.module = environment.0;
        let id = x.s.names.intern(name);
        let old = x.s.modules[environment.0 as usize].table.get(&id).copied();
        if let Some(Entrance { binding: Binding::Global(g), origin: Origin::Defined, .. }) = old {
            return g;
        }
        let g = x.define_unbound(id, environment.0);
        let g = g.unwrap_or_else(|| x.fresh_global(name, false));
        x.define_top(id, Binding::Global(g), Span::default());
        g
    }

    /// The names bound at the top level of an environment, and whether they were defined there.
    pub fn bound_names(&self, environment: Environment) -> Vec<(String, bool)> {
        let Some(module) = self.modules.get(environment.0 as usize) else { return Vec::new() };
        let own = module.table.iter().filter(|(id, _)| self.names.parent(**id).is_none());
        let mut names: Vec<(String, bool)> =
            own.map(|(id, e)| (self.names.name(*id).to_string(), e.origin == Origin::Defined)).collect();
        names.sort();
        names
    }

    /// The variables of Cairn's own libraries, and primitives as procedures, by key.
    pub fn definitions(&self) -> Vec<(String, GlobalId)> {
        let mut out = Vec::new();
        for (name, library) in &self.libraries {
            let module = &self.modules[library.module as usize];
            if !module.builtin || library.loading {
                continue;
            }
            for (id, e) in &module.table {
                if let (Origin::Defined, Binding::Global(g)) = (e.origin, e.binding)
                    && self.names.parent(*id).is_none()
                {
                    out.push((format!("{name} {}", self.names.name(*id)), g));
                }
            }
        }
        for ((op, name), g) in &self.wrappers {
            out.push((primitive_key(*op, name), *g));
        }
        out.extend(self.helpers.iter().map(|(name, g)| (format!("% {name}"), *g)));
        out.retain(|(_, g)| !self.program.globals[g.0 as usize].assigned);
        out.sort();
        out
    }

    fn outcome(&mut self) -> Result<(), Failed> {
        let errors = self.take_errors();
        if errors.is_empty() { Ok(()) } else { Err(Failed { errors, sources: self.sources.clone() }) }
    }
}

/// The addresses of compound data and strings, each with its number in the order in which they begin.
fn addresses(forms: &[Syntax]) -> FxHashMap<usize, usize> {
    let mut found = FxHashMap::default();
    let mut todo: Vec<&Syntax> = forms.iter().rev().collect();
    while let Some(x) = todo.pop() {
        if let Some(address) = address(x) {
            found.insert(address, found.len());
        }
        if let Datum::List(items) | Datum::Dotted(items) | Datum::Vector(items) = &x.datum {
            todo.extend(items.iter().rev());
        }
    }
    found
}

/// Identity of a compound datum or string; the empty list has none.
fn address(x: &Syntax) -> Option<usize> {
    match &x.datum {
        Datum::List(items) | Datum::Dotted(items) | Datum::Vector(items) => Some(items.address()),
        Datum::String(s) => Some(s.as_ptr() as usize),
        Datum::Bytes(b) | Datum::Numbers(_, b) => Some(b.as_ptr() as usize),
        _ => None,
    }
}

impl Expander<'_> {
    /// The object in memory that a constant of evaluated text stands for: a variable of its own.
    pub(super) fn embedded_object(&mut self, x: &Syntax) -> Option<Expr> {
        if self.s.embedded.is_empty() {
            return None;
        }
        let n = *self.s.embedded.get(&address(x)?)?;
        while self.s.objects.len() <= n {
            let g = self.fresh_global("object", false);
            self.s.objects.push(g);
        }
        Some(Expr::Global(self.s.objects[n], Site::NONE))
    }

    /// Reads evaluated text; it takes the place of the text evaluated before.
    fn evaluated(&mut self, text: &str) -> Vec<Syntax> {
        let file = match self.s.evaluated {
            Some(file) => file,
            None => self.s.add_source("evaluated code", "", false),
        };
        self.s.evaluated = Some(file);
        self.s.sources[file as usize].text = text.into();
        self.read(file, text, false).unwrap_or_else(|d| {
            self.report(d);
            Vec::new()
        })
    }

    /// Every primitive under its own name and under those that libraries export it by: what evaluated code may refer
    /// to.
    fn procedures(&self) -> Vec<(PrimOp, Rc<str>)> {
        let mut all: Vec<(PrimOp, Rc<str>)> = prims::procedures().map(|op| (op, op.name().into())).collect();
        for library in self.s.libraries.values() {
            for (id, b) in library.bindings() {
                if let Binding::Prim(op) = b
                    && prims::procedures().any(|p| p == op)
                {
                    all.push((op, prims::name_as_procedure(self.name(id)).into()));
                }
            }
        }
        all.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.name().cmp(b.0.name())));
        all.dedup();
        all
    }

    /// Defines the variable that gives the evaluator the values of the program's libraries, if it is in the program: a
    /// procedure without arguments that returns a vector of the names of the libraries, the keys, and a list of vectors
    /// of values.
    pub(super) fn define_running_bindings(&mut self) {
        let Some(g) = self.undefined_bindings() else { return };
        if self.s.boot.is_some() {
            return; // it was defined when the library was compiled
        }
        let definitions = self.all_definitions();
        let builtin = |m: u32| self.s.modules[m as usize].builtin;
        let mut libraries: Vec<String> =
            self.s.libraries.iter().filter(|(_, l)| builtin(l.module)).map(|(n, _)| n.to_string()).collect();
        libraries.sort();
        let text = |s: &String| Literal::String(s.as_str().into());
        let keys: Vec<Literal> = definitions.iter().map(|(key, _)| text(key)).collect();
        let libraries: Vec<Literal> = libraries.iter().map(text).collect();
        let values = self.values_of(&definitions);
        self.push_bindings(g, libraries, keys, values);
    }

    /// Defines the variable for the library compiled beforehand, which has its exports instead. They are the result,
    /// and a list of vectors of their values.
    pub(super) fn define_exports(&mut self) -> Option<(Vec<(String, GlobalId)>, Expr)> {
        let g = self.undefined_bindings()?;
        self.push_bindings(g, vec![], vec![], Expr::Const(Literal::Nil));
        let definitions = self.all_definitions();
        let values = self.values_of(&definitions);
        Some((definitions, values))
    }

    /// The variable, if it is in the program and not defined.
    pub(super) fn undefined_bindings(&mut self) -> Option<GlobalId> {
        let evaluator = LibraryName::of(&["cairn", "evaluator"]);
        let module = self.s.libraries.get(&evaluator)?.module;
        let id = self.s.names.intern(RUNNING_BINDINGS);
        self.define_unbound(id, module)
    }

    /// With all primitives as procedures.
    fn all_definitions(&mut self) -> Vec<(String, GlobalId)> {
        for (op, name) in self.procedures() {
            self.wrapper(op, &name);
        }
        self.s.definitions()
    }

    /// A list of vectors of the variables' values.
    fn values_of(&mut self, definitions: &[(String, GlobalId)]) -> Expr {
        let mut chunks = Vec::new();
        for chunk in definitions.chunks(CHUNK) {
            let values = chunk.iter().map(|(_, g)| Expr::Global(*g, Site::NONE)).collect();
            let body = Expr::Prim { op: PrimOp::Vector, args: values, site: Site::NONE, proven: 0 };
            let part = self.fresh_global("running-values", true);
            self.push_procedure(part, "running-values", body);
            chunks.push(Expr::Call(Expr::Global(part, Site::NONE).into(), vec![], Site::NONE));
        }
        self.list(chunks)
    }

    fn push_bindings(&mut self, g: GlobalId, libraries: Vec<Literal>, keys: Vec<Literal>, values: Expr) {
        let constant = |items: Vec<Literal>| Expr::Const(Literal::Vector(items.into()));
        let args = vec![constant(libraries), constant(keys), values];
        let body = Expr::Prim { op: PrimOp::Vector, args, site: Site::NONE, proven: 0 };
        self.push_procedure(g, RUNNING_BINDINGS, body);
    }

    fn push_procedure(&mut self, g: GlobalId, name: &str, body: Expr) {
        let clauses = vec![Clause { params: vec![], rest: None, body }];
        self.push_form(TopForm::Define(g, Expr::Lambda(Lambda { name: name.into(), clauses, site: Site::NONE })));
    }
}
