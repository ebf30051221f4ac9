//! What a text that expands may still have wrong: definitions, imports and variables that nothing uses, calls with a
//! wrong number of arguments.
//!
//! The problem: a warning that is wrong is worse than none, and macros hide uses: an argument that a macro drops, a
//! name in a template that nobody has used yet, a clause of `cond-expand` for other systems. The idea: something is
//! unused when the expander has seen no use of it **and** its name stands nowhere in the text but where it is bound.
//! So what is missed is a name that is used for two things, and nothing is found that is not there.
//!
//! What may have users elsewhere is left alone: exports; definitions of a file that imports nothing, which others load
//! or include; names that begin with `_`; the parts of record types; parameters.
//!
//! Complexity: one pass over the text and one over what was observed.

use crate::diagnostic::{Diagnostic, Span};
use crate::expand::{Checked, Checkpoint, Entity, Form, Imported, Loader, Mention, Role, Session, begins_in};
use crate::loads::names_of_loads;
use crate::read::MAX_MISTAKES;
use cairn_layout::lexeme::{self, Kind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Checks texts, one after another. The libraries of `lib/` that one has needed are there for the next.
pub struct Checker {
    session: Session,
    base: Checkpoint,
}

/// What was found in a text.
pub struct Report {
    /// What is wrong.
    pub errors: Vec<Diagnostic>,
    /// What is suspicious, in the order of the text.
    pub warnings: Vec<Finding>,
    /// What else is known of it.
    pub checked: Checked,
}

impl Default for Checker {
    fn default() -> Checker {
        let mut session = Session::new();
        session.observe();
        let base = session.checkpoint();
        Checker { session, base }
    }
}

impl Checker {
    /// Checks a program or a file of libraries. What the session knows of it stays until the next one.
    pub fn check(&mut self, path: &str, text: &str, loader: &mut dyn Loader) -> Report {
        let new = self.session.loaded_since(&self.base);
        self.session.rewind(&self.base);
        if !new.is_empty() {
            self.session.load_libraries(&new, loader);
            self.base = self.session.checkpoint();
        }
        let mut checked = self.session.check(path, text, loader);
        let errors = std::mem::take(&mut checked.errors);
        let said = std::mem::take(&mut checked.warnings);
        let mut warnings = findings(&mut self.session, &checked, loader);
        // names that a wrong form should have defined are not defined: that is no news
        let wrong = Words::around(&self.session, &errors, &checked);
        let follows = |d: &Diagnostic| undefined_name(d).is_some_and(|n| wrong.contains(n));
        let loaded = names_of_loads(path, text, loader);
        let is_loaded = |d: &Diagnostic| undefined_name(d).is_some_and(|n| loaded.contains(n));
        warnings.extend(said.into_iter().filter(|d| !follows(d) && !is_loaded(d)).map(Finding::from));
        warnings.retain(|f| !begins_in(f.message.span, &checked.damaged));
        // the library of a C header: nobody has written it
        let sources = self.session.sources();
        let is_made = |file: u32| sources.get(file as usize).is_some_and(|s| s.path.starts_with("(c "));
        warnings.retain(|f| !is_made(f.message.span.file));
        if errors.iter().any(|e| e.root_cause) {
            warnings.clear();
        }
        warnings.sort_by_key(|f| (f.message.span.file, f.message.span.start));
        Report { errors, warnings, checked }
    }

    /// What is known of the text that was checked last.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }
}

/// The name that a message says is not defined.
pub fn undefined_name(d: &Diagnostic) -> Option<&str> {
    d.message.strip_prefix('`')?.strip_suffix("` is not defined")
}

/// Something that nothing uses, or that is used wrongly.
pub struct Finding {
    /// The message.
    pub message: Diagnostic,
    /// Is it that nothing uses something?
    pub unused: bool,
    /// An import set, or one of its names, that can be left out.
    pub removable: Option<Span>,
}

impl From<Diagnostic> for Finding {
    /// Something that is used wrongly.
    fn from(message: Diagnostic) -> Finding {
        Finding { message, unused: false, removable: None }
    }
}

/// What there is to say about a text that was checked by a session that observes.
fn findings(session: &mut Session, checked: &Checked, loader: &mut dyn Loader) -> Vec<Finding> {
    let mut found: Vec<Finding> = session.wrong_calls(loader).into_iter().map(Finding::from).collect();
    let words = Words::new(session, checked);
    let uses: FxHashSet<Entity> = session.mentions().iter().filter(|m| is_use(m)).map(|m| m.entity).collect();
    let names: FxHashSet<&str> =
        session.mentions().iter().filter(|m| is_use(m)).map(|m| words.at(m.span)).collect();
    if checked.imports && !checked.open {
        found.extend(definitions(session, &words));
    }
    found.extend(variables(session, &words, &uses));
    found.extend(imports(session, &words, &names));
    found
}

/// Is this a use of what is bound elsewhere?
fn is_use(m: &Mention) -> bool {
    matches!(m.role, Role::Reference | Role::Assignment | Role::Export)
}

/// The words of the texts that were observed, and where they stand.
struct Words<'s> {
    texts: Vec<&'s str>,
    places: FxHashMap<&'s str, Vec<Span>>,
    /// The files that belong to the text alone.
    own: Vec<u32>,
}

impl<'s> Words<'s> {
    fn new(session: &'s Session, checked: &Checked) -> Words<'s> {
        let files: FxHashSet<u32> = session
            .mentions()
            .iter()
            .map(|m| m.span.file)
            .chain(session.imported_sets().iter().map(|i| i.span.file))
            .collect();
        let texts: Vec<&str> = session.sources().iter().map(|s| &*s.text).collect();
        let mut places: FxHashMap<&str, Vec<Span>> = FxHashMap::default();
        for file in files {
            let Some(text) = texts.get(file as usize) else { continue };
            for l in lexeme::lexemes(text).filter(|l| matches!(l.kind, Kind::Atom | Kind::Symbol)) {
                places.entry(l.text(text)).or_default().push(Span::new(file, l.start, l.end));
            }
        }
        // `foo.scm` belongs to `foo.sld`; what others are called like may be included by several
        let stem = |path: &str| path.strip_suffix(".sld").or(path.strip_suffix(".scm")).map(str::to_string);
        let path = |file: u32| session.sources().get(file as usize).map(|s| &*s.path);
        let name = path(checked.file).and_then(stem);
        let is_own = |file: &u32| *file == checked.file || name.is_some() && path(*file).and_then(stem) == name;
        let own = (0..texts.len() as u32).filter(is_own).collect();
        Words { texts, places, own }
    }

    /// Is what the file defines for this text alone?
    fn is_own(&self, file: u32) -> bool {
        self.own.contains(&file)
    }

    /// Is it written there that the variable is bound? In the use of a macro, it is the macro that does it.
    fn is_bound_here(&self, m: &Mention) -> bool {
        if m.role == Role::Variable {
            let form = self.at(m.form);
            let head = lexeme::head(form, 0).map(|l| l.text(form));
            return matches!(head, Some("let" | "let*" | "letrec" | "letrec*" | "do"));
        }
        let before = Span { start: m.form.start, end: m.span.start, ..m.form };
        let before = self.at(before).trim_end_matches('(').trim_end();
        before.ends_with("(define") || before.ends_with("(define-syntax")
    }

    /// The words of the forms of the text that are wrong: from the form that begins a line before a mistake to the one
    /// behind it.
    fn around(session: &Session, errors: &[Diagnostic], checked: &Checked) -> FxHashSet<String> {
        let places = errors.iter().map(|d| d.span).chain(checked.damaged.iter().copied());
        let mut words = FxHashSet::default();
        for span in places.take(MAX_MISTAKES) {
            let Some(source) = session.sources().get(span.file as usize) else { continue };
            let at = (span.start as usize).min(source.text.len());
            // the mistake may be the form's parenthesis itself
            let before = source.text.get(..=at).or(source.text.get(..at));
            let start = before.and_then(|t| t.rfind("\n(")).unwrap_or(0);
            let end = source.text.get(at..).and_then(|t| t.find("\n(")).map_or(source.text.len(), |i| at + i);
            let Some(form) = source.text.get(start..end) else { continue };
            let atoms = lexeme::lexemes(form).filter(|l| matches!(l.kind, Kind::Atom | Kind::Symbol));
            words.extend(atoms.map(|l| l.text(form).to_string()));
        }
        words
    }

    fn at(&self, span: Span) -> &'s str {
        self.texts
            .get(span.file as usize)
            .and_then(|t| t.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }

    /// Does the word stand anywhere but in one of these places?
    fn elsewhere(&self, word: &str, except: impl Fn(Span) -> bool) -> bool {
        self.places.get(word).is_some_and(|all| all.iter().any(|s| !except(*s)))
    }
}

/// Has the writer said that nobody may use it?
fn is_placeholder(name: &str) -> bool {
    name.starts_with('_') || name.starts_with("ignore") || name == "dummy"
}

/// Definitions at top level.
fn definitions(session: &Session, words: &Words) -> Vec<Finding> {
    let exported: FxHashSet<Entity> =
        session.mentions().iter().filter(|m| m.role == Role::Export).map(|m| m.entity).collect();
    let mut found = Vec::new();
    for m in session.mentions() {
        let (Role::Definition(Form::Variable | Form::Macro), false) = (m.role, m.local) else { continue };
        let name = words.at(m.span);
        // what a macro of the text defines is not to be left out, nor what is inside of another form
        let written = m.span.is_strictly_inside(m.form);
        let inside = |s: Span| s == m.span || s.is_strictly_inside(m.form);
        if !written
            || !words.is_own(m.span.file)
            || exported.contains(&m.entity)
            || is_placeholder(name)
            || words.elsewhere(name, inside)
        {
            continue;
        }
        let message = Diagnostic::new(m.span, format!("`{name}` is defined, but nothing uses it"));
        found.push(Finding { message, unused: true, removable: None });
    }
    found
}

/// Local variables.
fn variables(session: &Session, words: &Words, uses: &FxHashSet<Entity>) -> Vec<Finding> {
    let mut found = Vec::new();
    for m in session.mentions() {
        let (Role::Variable | Role::Definition(Form::Variable | Form::Macro), true) = (m.role, m.local) else {
            continue;
        };
        let name = words.at(m.span);
        let here = |s: Span| s == m.span || !s.is_strictly_inside(m.form);
        let written = m.span.is_strictly_inside(m.form) && words.is_bound_here(m);
        if !written || uses.contains(&m.entity) || is_placeholder(name) || words.elsewhere(name, here) {
            continue;
        }
        let what = if m.role == Role::Variable { "bound" } else { "defined" };
        let message = Diagnostic::new(m.span, format!("`{name}` is {what}, but nothing uses it"))
            .help(format!("if that is so on purpose, call it `_{name}`"));
        found.push(Finding { message, unused: true, removable: None });
    }
    found
}

/// Imports: whole sets, and names that `only` lists.
fn imports(session: &Session, words: &Words, names: &FxHashSet<&str>) -> Vec<Finding> {
    let forms: Vec<Span> = session.imported_sets().iter().map(|i| i.form).collect();
    let in_imports = |s: Span| forms.iter().any(|f| s.is_strictly_inside(*f));
    let is_used = |name: &str| names.contains(name) || words.elsewhere(name, in_imports);
    let mut found = Vec::new();
    for set in session.imported_sets() {
        let used = |i: &Imported| i.names.iter().any(|(id, _)| is_used(session.name_of(*id)));
        if !used(set) {
            // what is imported for what it does
            if !set.acts && !set.names.is_empty() {
                let message = format!("nothing of {} is used", set.library);
                let message = Diagnostic::new(set.span, message);
                found.push(Finding { message, unused: true, removable: Some(set.span) });
            }
            continue;
        }
        for (name, span) in set.listed.iter().flatten().filter(|(name, _)| !is_used(name)) {
            let message = Diagnostic::new(*span, format!("`{name}` is imported, but nothing uses it"));
            found.push(Finding { message, unused: true, removable: Some(*span) });
        }
    }
    found
}
