//! What the expander knows of a text, kept for tools: what each identifier means, which procedures take how many
//! arguments, what is called, imported and exported.
//!
//! The problem: `cairn check` and editors ask what only the expander can answer (scopes, imports, macros), and the
//! program that comes out has forgotten the text. The idea: a session that is told to [`Session::observe`] writes down,
//! beside its work, what it finds out about identifiers that somebody wrote. The expander does the same work with or
//! without that.
//!
//! An identifier in a macro's template is written down for each expansion, with the place of the template: then one
//! place may have several meanings. What a template of `lib/` inserts is not written down: nobody wrote it here.
//!
//! [`Session::checkpoint`] and [`Session::rewind`] let one session check a text again and again: the libraries read
//! before the checkpoint stay, all else is forgotten.

use super::language::{language_line, without_language};
use super::loader::{LibraryName, Loader};
use super::meaning::{Binding, Library, Meaning, Origin, Target};
use super::observed::{Call, Entity, Form, Imported, Mention, Observed, Parameters, Role};
use super::state::{Expander, Session};
use crate::diagnostic::{Diagnostic, Span};
use crate::read;
use crate::syntax::{Context, Ident, Syntax};
use cairn_core::inlined::InlineTable;
use cairn_core::ir::{Expr, GlobalId, Lambda, Program, TopForm, VarId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A state of a session to return to.
pub struct Checkpoint {
    names: usize,
    sources: usize,
    vars: usize,
    globals: usize,
    modules: usize,
    macros: usize,
    regions: usize,
    retained: usize,
    inlined: InlineTable,
    procedural: bool,
}

/// The meaning of a text.
pub struct Checked {
    /// What is wrong.
    pub errors: Vec<Diagnostic>,
    /// What is suspicious.
    pub warnings: Vec<Diagnostic>,
    /// The number of the text among the session's sources.
    pub file: u32,
    /// Pieces of it that could not be read.
    pub damaged: Vec<Span>,
    /// Does it let others change what it defines: by `load`, or by evaluating in the interaction environment?
    pub open: bool,
    /// The module of the text, if it is a program and was read.
    pub module: Option<u32>,
    /// Does it import what it needs?
    pub imports: bool,
}

impl Session {
    /// Keeps from now on what tools want to know.
    pub fn observe(&mut self) {
        self.observed = Some(Box::default());
    }

    /// Reads and expands a program or a file of libraries for its messages and for what is observed; no program comes
    /// out. Mistakes of the reader hide nothing but the forms they are in.
    pub fn check(&mut self, path: &str, text: &str, loader: &mut dyn Loader) -> Checked {
        let mut x = Expander::new(self, loader);
        let file = x.s.add_source(path, text, false);
        let imports = x.check_text(file, text);
        let mut damaged = Vec::new();
        if let Some(o) = &mut self.observed {
            damaged = std::mem::take(&mut o.damaged);
        }
        let errors = self.take_errors();
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.sort_by_key(|d| (d.span.file, d.span.start));
        let forms = std::mem::take(&mut self.program.forms);
        drop_forms(forms);
        Checked { errors, warnings, file, damaged, open: self.open, module: self.main, imports }
    }

    /// The state of the session.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            names: self.names.len(),
            sources: self.sources.len(),
            vars: self.program.vars.len(),
            globals: self.program.globals.len(),
            modules: self.modules.len(),
            macros: self.macros.len(),
            regions: self.regions.len(),
            retained: self.retained.forms.len(),
            inlined: self.program.inlined.clone(),
            procedural: self.procedural,
        }
    }

    /// Forgets what has come since the checkpoint. Since then the session has only checked texts.
    pub fn rewind(&mut self, to: &Checkpoint) {
        let globals = to.globals as u32;
        let old = |g: &GlobalId| g.0 < globals;
        self.names.truncate(to.names);
        self.sources.truncate(to.sources);
        self.program.vars.truncate(to.vars);
        self.program.globals.truncate(to.globals);
        self.program.inlined = to.inlined.clone();
        self.modules.truncate(to.modules);
        for m in &mut self.modules {
            m.unbound.retain(|_, (g, _)| old(g));
        }
        self.macros.truncate(to.macros);
        self.regions.truncate(to.regions);
        self.libraries.extend(std::mem::take(&mut self.displaced));
        self.libraries.retain(|_, l| (l.module as usize) < to.modules);
        self.wrappers.retain(|_, g| old(g));
        self.helpers.retain(|_, g| old(g));
        self.warned.retain(old);
        self.library_globals.retain(old);
        self.record_types.retain(|t, _| match t {
            Target::Global(g) => old(g),
            Target::Local(v) => (v.0 as usize) < to.vars,
        });
        let late = self.retained.forms.split_off(to.retained.min(self.retained.forms.len()));
        drop_forms(late);
        self.warnings.clear();
        self.errors.clear();
        self.foreign.clear();
        self.missing.clear();
        self.labelled = Default::default();
        self.main = None;
        self.without_import = None;
        self.evaluated = None;
        self.free_sources.clear();
        self.procedural = to.procedural;
        self.open = false;
        if let Some(o) = &mut self.observed {
            let known = |e: &Entity| match e {
                Entity::Global(g) => old(g),
                Entity::Local(_) => false,
                _ => true,
            };
            o.procedures.retain(|e, _| known(e));
            o.acting.retain(|m| (*m as usize) < to.modules);
            o.mentions.clear();
            o.calls.clear();
            o.imports.clear();
            o.libraries.clear();
            o.damaged.clear();
            o.open.clear();
        }
    }

    /// Reads these libraries, and what they import, so that they are there before a checkpoint.
    pub fn load_libraries(&mut self, names: &[LibraryName], loader: &mut dyn Loader) {
        let mut x = Expander::new(self, loader);
        for name in names {
            // what is wrong with it is told where it is imported
            let _ = x.load(name, Span::default());
        }
        self.errors.clear();
        self.warnings.clear();
        // macro transformers run what libraries define
        self.retained.forms.append(&mut self.program.forms);
    }

    /// The libraries of `lib/` that have been read since a checkpoint.
    pub fn loaded_since(&self, checkpoint: &Checkpoint) -> Vec<LibraryName> {
        let is_new = |l: &Library| {
            let module = l.module as usize;
            module >= checkpoint.modules && self.modules[module].builtin && !l.loading
        };
        let mut names: Vec<LibraryName> =
            self.libraries.iter().filter(|(_, l)| is_new(l)).map(|(n, _)| n.clone()).collect();
        names.sort();
        names
    }

    /// Identifiers that were observed.
    pub fn mentions(&self) -> &[Mention] {
        self.observed.as_ref().map_or(&[], |o| &o.mentions)
    }

    /// Imports that were observed.
    pub fn imported_sets(&self) -> &[Imported] {
        self.observed.as_ref().map_or(&[], |o| &o.imports)
    }

    /// The parameters of a procedure, one text for each clause: `(a b . rest)` without the parentheses.
    pub fn parameters(&self, entity: Entity) -> Option<Vec<String>> {
        let clauses = self.observed.as_ref()?.procedures.get(&entity)?;
        let name = |v: &VarId| self.program.vars.get(v.0 as usize).map_or("_", |i| &*i.name).to_string();
        let one = |(required, rest): &Parameters| {
            let mut words: Vec<String> = required.iter().map(name).collect();
            if let Some(rest) = rest {
                words.extend([".".to_string(), name(rest)]);
            }
            words.join(" ")
        };
        Some(clauses.iter().map(one).collect())
    }

    /// Is it known to be a procedure?
    pub fn is_procedure(&self, entity: Entity) -> bool {
        self.observed.as_ref().is_some_and(|o| o.procedures.contains_key(&entity))
    }

    /// Is it a variable of a library?
    pub fn is_of_library(&self, entity: Entity) -> bool {
        matches!(entity, Entity::Global(g) if self.library_globals.contains(&g))
    }

    /// What a library exports that was read: names and meanings.
    pub fn exports_of(&self, name: &LibraryName) -> Option<Vec<(String, Entity)>> {
        let library = self.libraries.get(name).filter(|l| !l.loading)?;
        Some(library.bindings().map(|(id, b)| (self.names.name(id).to_string(), Entity::from(b))).collect())
    }

    /// The libraries that a text defines: their names and where they are.
    pub fn libraries_of(&self, file: u32) -> impl Iterator<Item = (String, Span)> {
        let all = self.observed.iter().flat_map(|o| &o.libraries).filter(move |(_, span)| span.file == file);
        all.map(|(module, span)| {
            let name = self.modules.get(*module as usize).and_then(|m| m.name.as_deref());
            (name.unwrap_or("").to_string(), *span)
        })
    }

    /// The names that the libraries export that are always there, with these libraries, the one to prefer first.
    pub fn exported(&mut self, loader: &mut dyn Loader) -> &FxHashMap<String, Vec<String>> {
        Expander::new(self, loader).know_homes();
        self.homes.get_or_insert_default()
    }

    /// What a program that imports nothing has to import when it imports this library, too.
    pub fn imports_with(&mut self, library: &str, loader: &mut dyn Loader) -> Vec<String> {
        let mut all = Expander::new(self, loader).defaults();
        if !all.iter().any(|l| l == library) {
            all.push(library.to_string());
        }
        all
    }

    /// Where something is defined at the top level of a module: the library's name, and the place of the name or of the
    /// form.
    pub fn definition(&self, entity: Entity) -> Option<(Option<Rc<str>>, Span)> {
        self.modules.iter().find_map(|m| {
            let is_it = |e: &&crate::expand::meaning::Entrance| {
                e.origin == Origin::Defined && Entity::from(e.binding) == entity
            };
            let entrance = m.table.values().find(is_it)?;
            Some((m.name.clone(), entrance.span))
        })
    }

    /// Names that are visible at the top level of a module, with their meanings.
    pub fn visible(&self, module: u32) -> impl Iterator<Item = (&str, Entity)> {
        let table = self.modules.get(module as usize).into_iter().flat_map(|m| &m.table);
        table
            .filter(|(id, _)| self.names.parent(**id).is_none())
            .map(|(id, e)| (&**self.names.name(*id), Entity::from(e.binding)))
    }

    /// The text of an identifier.
    pub fn name_of(&self, id: Ident) -> &str {
        self.names.name(id)
    }

    /// The libraries that export a name, the one to prefer first.
    pub fn exporters(&mut self, name: &str, loader: &mut dyn Loader) -> Vec<String> {
        Expander::new(self, loader).libraries_with(name)
    }

    /// The module of the innermost library of the text around a place; otherwise that of the program.
    pub fn module_at(&self, file: u32, at: u32) -> Option<u32> {
        let libraries = &self.observed.as_ref()?.libraries;
        let inside = libraries.iter().rfind(|(_, s)| s.file == file && s.start <= at && at <= s.end);
        inside.map(|(m, _)| *m).or(self.main)
    }
}

impl Expander<'_> {
    /// Expands all of a text; does it begin by importing, or is it a file of libraries?
    fn check_text(&mut self, file: u32, text: &str) -> bool {
        let language = language_line(text);
        let whole = text;
        let text = without_language(text);
        let labels = self.s.names.label_count();
        let (forms, mistakes, damaged) = read::read_recovering(file, &text, &mut self.s.names);
        let forms = match self.without_labels(forms, labels) {
            Ok(forms) => forms,
            Err(e) => {
                self.report(e);
                Vec::new()
            }
        };
        let defined: Vec<&Syntax> = forms.iter().filter(|f| self.defines_library(f)).collect();
        let libraries = !forms.is_empty() && defined.len() == forms.len();
        for form in defined {
            // the library as it is here takes the place of one that is known
            if let Some(Ok(name)) = form.as_list().and_then(|l| l.get(1)).map(|n| self.library_name(n))
                && let Some(old) = self.s.libraries.remove(&name)
            {
                self.s.displaced.push((name, old));
            }
        }
        let module = self.new_module(None, false);
        self.s.main = Some(module);
        self.ctx = Context::top(module);
        let known = language.is_some_and(|line| self.language(file, whole, line));
        let imports = known || libraries || self.imports_something(&forms);
        if !imports {
            self.s.without_import = Some(module);
            self.import_defaults(Span { file, start: 0, end: 0 });
        }
        self.top_level(forms, FxHashMap::default());
        self.define_wanted_of_c_headers();
        self.undefined_bindings(); // they are defined when the program is complete
        self.report_unbound();
        // What is said of a form that could not be read in full only follows from that.
        self.s.errors.retain(|d| !begins_in(d.span, &damaged));
        self.s.warnings.retain(|d| !begins_in(d.span, &damaged));
        for d in mistakes {
            self.report(d.into());
        }
        if let Some(o) = &mut self.s.observed {
            o.damaged = damaged;
        }
        imports
    }

    fn defines_library(&self, form: &Syntax) -> bool {
        let head = form.as_list().and_then(|l| l.first()).and_then(Syntax::as_ident);
        head.is_some_and(|id| &**self.name(id) == "define-library")
    }

    /// Is somebody to know of what stands there?
    fn is_observed(&self, span: Span) -> bool {
        self.s.observed.is_some() && self.s.sources.get(span.file as usize).is_some_and(|f| !f.library)
    }

    /// An identifier has been given a meaning.
    pub(super) fn mention(&mut self, id: Ident, span: Span, entity: impl Into<Entity>, role: Role) {
        if !self.is_observed(span) {
            return;
        }
        // What a template of lib/ inserts stands where the macro is used.
        let text = &self.s.sources[span.file as usize].text;
        let written = text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let name = &**self.s.names.name(id);
        if written != name && !(written.starts_with('|') || written.eq_ignore_ascii_case(name)) {
            return;
        }
        let Some(o) = &mut self.s.observed else { return };
        let around = |s: &&Span| s.file == span.file && s.start <= span.start && span.end <= s.end;
        let form = match role {
            Role::Definition(_) if self.ctx.depth == 0 => o.scanned,
            Role::Definition(_) | Role::Parameter | Role::Variable => {
                o.open.iter().rev().find(around).copied().unwrap_or_default()
            }
            _ => Span::default(),
        };
        let local = self.ctx.depth > 0;
        o.mentions.push(Mention { span, entity: entity.into(), role, form, local });
    }

    /// An identifier that heads a form, or stands for a macro.
    pub(super) fn mention_head(&mut self, head: &Syntax, binding: Binding) {
        if let (true, Some(id)) = (self.s.observed.is_some(), head.as_ident()) {
            self.mention(id, head.span, binding, Role::Reference);
        }
    }

    /// A definition, in the form that is being scanned.
    pub(super) fn mention_definition(&mut self, id: Ident, span: Span, entity: impl Into<Entity>, form: Form) {
        let form = if form == Form::Variable { self.observed_form() } else { form };
        self.mention(id, span, entity, Role::Definition(form));
    }

    /// The kind of the definitions that are being scanned.
    pub(super) fn observed_form(&self) -> Form {
        match &self.s.observed {
            Some(o) if o.record => Form::Record,
            _ => Form::Variable,
        }
    }

    /// A form of a body is scanned.
    pub(super) fn observe_scan(&mut self, form: Span, record: bool) {
        if let Some(o) = &mut self.s.observed {
            o.scanned = form;
            o.record = record;
        }
    }

    /// A form begins to be expanded.
    pub(super) fn observe_open(&mut self, form: Span) {
        if let Some(o) = &mut self.s.observed {
            o.open.push(form);
        }
    }

    /// The form has been expanded.
    pub(super) fn observe_close(&mut self) {
        if let Some(o) = &mut self.s.observed {
            o.open.pop();
        }
    }

    /// A variable gets this value.
    pub(super) fn observe_value(&mut self, variable: impl Into<Entity>, value: &Expr) {
        if let (Some(o), Expr::Lambda(Lambda { clauses, .. })) = (&mut self.s.observed, value) {
            let clauses = clauses.iter().map(|c| (c.params.clone(), c.rest)).collect();
            o.procedures.insert(variable.into(), clauses);
        }
    }

    /// A call is expanded.
    pub(super) fn observe_call(&mut self, head: &Syntax, arguments: usize, span: Span) {
        if !self.is_observed(head.span) {
            return;
        }
        let Some(id) = head.as_ident() else { return };
        let Meaning::Bound(b @ (Binding::Local(_) | Binding::Global(_))) = self.resolve(id) else { return };
        let call = Call { callee: b.into(), arguments, span, head: head.span, trace: self.trace.clone() };
        if let Some(o) = &mut self.s.observed {
            o.calls.push(call);
        }
    }

    /// An import set brings these bindings.
    pub(super) fn observe_import(&mut self, form: Span, set: &Syntax, bindings: &[(Ident, Binding)]) {
        if !self.is_observed(set.span) {
            return;
        }
        let mut inner = set;
        while let Some([_, deeper, ..]) = inner.as_list().filter(|_| self.is_modified(inner)) {
            inner = deeper;
        }
        let Ok(name) = self.imported_name(inner) else { return };
        let only = match set.as_list() {
            Some([head, _, names @ ..]) if self.is_modified(set) => {
                head.as_ident().filter(|id| &**self.name(*id) == "only").map(|_| names)
            }
            _ => None,
        };
        let listed = only.map(|names| {
            let one = |x: &Syntax| Some((self.name(x.as_ident()?).to_string(), x.span));
            names.iter().filter_map(one).collect()
        });
        for x in only.unwrap_or(&[]) {
            let Some(id) = x.as_ident() else { continue };
            if let Some((_, b)) = bindings.iter().find(|(i, _)| *i == id) {
                self.mention(id, x.span, *b, Role::Import);
            }
        }
        let library = self.s.libraries.get(&name).map(|l| l.module);
        let module = self.ctx.module;
        let Some(o) = &mut self.s.observed else { return };
        o.imports.push(Imported {
            span: set.span,
            form,
            library: name.to_string(),
            acts: library.is_none_or(|m| o.acting.contains(&m)),
            listed,
            names: bindings.iter().map(|(id, b)| (*id, (*b).into())).collect(),
            module,
        });
    }

    /// Is this import set one of another?
    fn is_modified(&self, set: &Syntax) -> bool {
        let Some([head, inner, ..]) = set.as_list() else { return false };
        let modifier = head.as_ident().map(|id| &**self.name(id));
        inner.as_list().is_some() && matches!(modifier, Some("only" | "except" | "prefix" | "rename"))
    }

    /// The body of the current module has an expression.
    pub(super) fn observe_action(&mut self) {
        let module = self.ctx.module;
        if !self.s.modules[module as usize].builtin
            && let Some(o) = &mut self.s.observed
        {
            o.acting.insert(module);
        }
    }

    /// A library is defined.
    pub(super) fn observe_library(&mut self, module: u32, form: Span) {
        if self.is_observed(form)
            && let Some(o) = &mut self.s.observed
        {
            o.libraries.push((module, form));
        }
    }
}

impl Session {
    /// What is wrong with the number of arguments of calls that were observed.
    pub fn wrong_calls(&mut self, loader: &mut dyn Loader) -> Vec<Diagnostic> {
        let Some(o) = self.observed.take() else { return Vec::new() };
        let mut wrong = Vec::new();
        for call in &o.calls {
            let assigned = match call.callee {
                Entity::Local(v) => self.program.vars[v.0 as usize].assigned,
                // a program that is open can be changed from outside
                Entity::Global(g) => {
                    let info = &self.program.globals[g.0 as usize];
                    info.assigned || self.open && !info.library
                }
                _ => true,
            };
            let Some(clauses) = o.procedures.get(&call.callee).filter(|_| !assigned) else { continue };
            let fits = |(required, rest): &Parameters| match rest {
                Some(_) => call.arguments >= required.len(),
                None => call.arguments == required.len(),
            };
            if clauses.iter().any(fits) {
                continue;
            }
            wrong.push((call, taken(clauses), self.place_of(&o, call.callee)));
        }
        let mut out = Vec::new();
        for (call, taken, place) in wrong {
            let mut x = Expander::new(self, loader);
            x.trace = call.trace.clone();
            let name = x.text_at(call.head, 40);
            let message = format!("`{name}` takes {taken}, but gets {} here", call.arguments);
            let mut d = x.diagnostic(call.span, message);
            if let Some(place) = place {
                d.notes.insert(0, (place, "it is defined here".into()));
            }
            if out.iter().all(|e: &Diagnostic| (e.span, &e.message) != (d.span, &d.message)) {
                out.push(d);
            }
        }
        self.observed = Some(o);
        out
    }

    /// Where a procedure of the user's is defined.
    fn place_of(&self, o: &Observed, entity: Entity) -> Option<Span> {
        let is_it = |m: &&Mention| m.entity == entity && matches!(m.role, Role::Definition(_) | Role::Variable);
        o.mentions.iter().find(is_it).map(|m| m.span)
    }
}

/// Does it begin in one of these pieces of text?
pub(crate) fn begins_in(span: Span, pieces: &[Span]) -> bool {
    pieces.iter().any(|p| p.file == span.file && p.start <= span.start && span.start < p.end)
}

/// Lets go of forms that nobody runs: a program drops deep expressions without recursion.
fn drop_forms(forms: Vec<TopForm>) {
    Program::default().forms = forms;
}

/// How many arguments these clauses take, in words.
fn taken(clauses: &[Parameters]) -> String {
    let least = clauses.iter().filter(|(_, rest)| rest.is_some()).map(|(required, _)| required.len()).min();
    let exact = clauses.iter().filter(|(_, rest)| rest.is_none()).map(|(required, _)| required.len());
    let mut exact: Vec<usize> = exact.filter(|n| least.is_none_or(|least| *n < least)).collect();
    exact.sort_unstable();
    exact.dedup();
    let mut counts: Vec<String> = exact.iter().map(usize::to_string).collect();
    counts.extend(least.map(|n| format!("at least {n}")));
    let plural = if counts == ["1"] || counts == ["at least 1"] { "" } else { "s" };
    match counts.split_last() {
        Some((last, [])) => format!("{last} argument{plural}"),
        Some((last, others)) => format!("{} or {last} arguments", others.join(", ")),
        None => "no arguments".into(),
    }
}
