//! The expander: [`Syntax`] to Core.
//!
//! ```text
//! (define-syntax swap! (syntax-rules () ((_ a b) (let ((tmp a)) (set! a b) (set! b tmp)))))
//! (swap! tmp other)         ⟶   (let ((tmp.1 tmp)) (set! tmp other) (set! other tmp.1))
//! ```
//!
//! **Hygiene** (`scope`) is by renaming: a symbol that a template inserts becomes a fresh alias, which means
//! whatever the symbol meant where the macro was defined unless the expansion binds the alias itself.
//!
//! **Two phases.** A body (of a library, the program, or a lambda) is *scanned* first: heads are macro-expanded
//! until all definitions are known (`scan`). Then right-hand sides and expressions are expanded (`forms`), so
//! that a reference always sees the binding it should, whatever the order of the text.
//!
//! **Errors** do not stop expansion: the failing form becomes an unspecified constant and its neighbours are
//! looked at too. Recursion grows the stack (`stacker`): data nest as deep as
//! memory allows, expressions up to [`state::MAX_NESTING`].
//!
//! | file | what |
//! |---|---|
//! | `core` | the keywords |
//! | `meaning`, `scope` | what identifiers mean: bindings, scopes, modules; how that is found |
//! | `state`, `trace` | what is known between forms, and while some are expanded; the macro uses around them |
//! | `loader` | names of libraries, and where they come from |
//! | `library` | libraries, imports and exports, `cond-expand`, includes |
//! | `language` | `#lang` lines |
//! | `items`, `scan` | definitions of a body, top level |
//! | `forms`, `binding`, `quote` | expressions |
//! | `cycle` | quoted data that contain themselves |
//! | `label` | labels in program text |
//! | `layout` | numbers of cairn-layout as a library |
//! | `record`, `record_info`, `record_code`, `record_parts` | `define-record-type` |
//! | `structure_vector` | `define-structure-vector` |
//! | `c` | `c-procedure` and its like |
//! | `c_header` | definitions of C headers, which wait until something refers to them |
//! | `macros`, `rules` | macros that were compiled; `syntax-rules` |
//! | `procedural` | macro transformers that are procedures |
//! | `syntax_case` | `syntax-case` and `syntax` |
//! | `prims` | primitives and hidden procedures |
//! | `prebuilt` | the library compiled beforehand, and programs on it |
//! | `evaluate` | expansion while a program runs: `eval`, `environment` |
//! | `file_forms` | which forms of a file go together when it is evaluated form by form |
//! | `observed`, `observe` | what tools want to know of a text |

mod binding;
mod c;
mod c_export;
mod c_header;
mod c_library;
mod c_structs;
mod core;
mod coverage;
mod cycle;
mod evaluate;
mod file_forms;
mod foreign;
mod forms;
mod items;
mod label;
mod language;
mod layout;
mod library;
mod loader;
mod macros;
mod meaning;
mod observe;
mod observed;
mod prebuilt;
mod prims;
mod procedural;
mod quote;
mod record;
mod record_code;
mod record_info;
mod record_parts;
mod rules;
mod scan;
mod scope;
mod state;
mod structure_vector;
mod suggest;
mod syntax_case;
mod trace;
mod transformer_eval;

use crate::diagnostic::{Diagnostic, Span};
use crate::expand::language::language_line;
use crate::expand::prims::unspecified;
use crate::expand::state::{Expander, MAX_ERRORS, MAX_EXPANSION_SIZE, MAX_NESTING, R, grow};
use crate::expand::trace::{Root, maker};
use crate::syntax::{Context, Ident, Syntax};
use cairn_core::ir::{Expr, Program, SourceFile, TopForm};
use cairn_layout::code::Site;
use cairn_layout::object::record::compact;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

pub use evaluate::{Environment, OpenText, RUNNING_BINDINGS};
pub(crate) use language::without_language;
pub use library::FEATURES;
pub use loader::{BootLibrary, DEFAULT_LIBRARIES, Exported, LibraryName, Loader, NamePart};
pub(crate) use observe::begins_in;
pub use observe::{Checked, Checkpoint};
pub use observed::{Entity, Form, Imported, Mention, Role};
pub use prebuilt::BootProgram;
pub use prims::primitive_key;
pub use state::{CDeclared, CExport, CStruct, Counted, Expanded, Failed, Point, Session};

/// Expands one program. [`Session`] gives more control, and the sources of the messages.
pub fn expand_program(main_path: &str, text: &str, loader: &mut dyn Loader) -> Result<Expanded, Vec<Diagnostic>> {
    Session::new().expand_program(main_path, text, loader).map_err(|f| f.errors)
}

impl Session {
    /// A session without libraries.
    pub fn new() -> Session {
        Session::default()
    }

    /// Reads and expands a program. Its globals and libraries stay known; forms of earlier calls are not
    /// repeated.
    pub fn expand_program(&mut self, path: &str, text: &str, loader: &mut dyn Loader) -> Result<Expanded, Failed> {
        let mut x = Expander::new(self, loader);
        x.main_program(path, text);
        self.finish()
    }

    /// Chooses which record types are compact.
    pub fn choose_compact(&mut self, choice: compact::Choice) {
        self.compact = choice;
    }

    /// Programs become shared libraries: their last form waits for calls of C.
    pub fn serve_c(&mut self) {
        self.serves = true;
    }

    /// Bounds what may come of one macro use that the user wrote: data made and expressions expanded. Ten million by
    /// default.
    pub fn limit_expansion(&mut self, limit: usize) {
        self.expansion_limit = Some(limit);
    }

    fn finish(&mut self) -> Result<Expanded, Failed> {
        let errors = self.take_errors();
        let mut warnings = std::mem::take(&mut self.warnings);
        if !errors.is_empty() {
            // what libraries define stays for the next call
            return Err(Failed { errors, sources: self.sources.clone() });
        }
        let mut program = Program::default();
        program.forms = std::mem::take(&mut self.program.forms);
        self.c_headers.forms_are_gone();
        warnings.sort_by_key(|d| (d.span.file, d.span.start));
        program.vars = self.program.vars.clone();
        program.globals = self.program.globals.clone();
        program.sources = self.sources.clone();
        program.procedures = self.program.procedures.clone();
        program.inlined = self.program.inlined.clone();
        program.early_reads = std::mem::take(&mut self.program.early_reads);
        let missing = std::mem::take(&mut self.missing);
        let library = self.library_forms.as_mut().map(std::mem::take).unwrap_or_default();
        let c_exports = self.c_exports.clone();
        Ok(Expanded { program, warnings, sources: self.sources.clone(), missing, library, c_exports })
    }

    /// The errors in the order of the text; what follows from others is left out.
    fn take_errors(&mut self) -> Vec<Diagnostic> {
        let mut errors = std::mem::take(&mut self.errors);
        if errors.iter().any(|d| d.root_cause) {
            errors.retain(|d| d.root_cause);
        }
        errors.sort_by_key(|d| (d.span.file, d.span.start));
        errors
    }

    fn add_source(&mut self, path: &str, text: &str, library: bool) -> u32 {
        self.sources.push(SourceFile::new(path, text, library));
        self.sources.len() as u32 - 1
    }
}

impl<'a> Expander<'a> {
    fn new(s: &'a mut Session, loader: &'a mut dyn Loader) -> Expander<'a> {
        Expander {
            s,
            loader,
            ctx: Context::top(0),
            scopes: crate::expand::meaning::Scopes::default(),
            trace: None,
            endless: false,
            referenced: Vec::new(),
            initializing: FxHashSet::default(),
            redefined: FxHashMap::default(),
            item: 0,
            who: None,
            public: FxHashMap::default(),
            loading: Vec::new(),
            nesting: 0,
            constants: 0,
            sources: FxHashMap::default(),
            transformer_at: None,
            ellipsis: None,
            c_functions: Vec::new(),
        }
    }

    fn main_program(&mut self, path: &str, text: &str) {
        let file = self.s.add_source(path, text, false);
        let language = language_line(text);
        let whole = text;
        let text = without_language(text);
        let text = &*text;
        let forms = match self.read(file, text, false) {
            Ok(forms) => forms,
            Err(e) => return self.report(e),
        };
        let first_time = self.s.main.is_none();
        let module = self.s.main.unwrap_or_else(|| self.new_module(None, false));
        self.s.main = Some(module);
        self.ctx = Context::top(module);
        forms.iter().for_each(|f| self.note_extended(f));
        let known = language.is_some_and(|line| self.language(file, whole, line));
        if first_time && !known && !self.imports_something(&forms) {
            self.s.without_import = Some(module);
            self.import_defaults(Span { file, start: 0, end: 0 });
        }
        self.top_level(forms, FxHashMap::default());
        if self.s.serves {
            self.serve_c(Span { file, start: 0, end: 0 });
        }
        self.define_wanted_of_c_headers();
        let end = self.s.program.forms.len();
        self.define_running_bindings();
        // the program may evaluate at any time: these come before all else
        let forms = &mut self.s.program.forms;
        let defined = forms.len() - end;
        forms.rotate_right(defined);
        self.report_unbound();
        self.s.missing = self.s.not_exported();
    }

    // errors

    fn err<T>(&self, span: Span, message: impl Into<String>) -> R<T> {
        Err(self.diagnostic(span, message).into())
    }

    fn err_help<T>(&self, span: Span, message: impl Into<String>, help: impl Into<String>) -> R<T> {
        Err(self.diagnostic(span, message).help(help).into())
    }

    fn diagnostic(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        let mut d = Diagnostic::new(span, message);
        let mut step = &self.trace;
        for _ in 0..20 {
            let Some(s) = step else { break };
            let text = format!("in the expansion of `{}`", self.s.names.name(s.name));
            let count = d.notes.len();
            match d.notes.last_mut() {
                // macros of lib/ that use each other all stand where the user's macro use stands
                Some(last) if last.0 == s.span => last.1 = text,
                _ if count == 3 => break,
                _ => d.notes.push((s.span, text)),
            }
            step = &s.outer;
        }
        d
    }

    #[allow(clippy::boxed_local)] // errors travel in boxes
    fn report(&mut self, d: Box<Diagnostic>) {
        if !d.message.is_empty()
            && (self.s.errors.len() < MAX_ERRORS || d.root_cause)
            && !self.s.errors.iter().any(|e| e.span == d.span && e.message == d.message)
        {
            self.s.errors.push(*d);
        }
    }

    fn warn(&mut self, d: Diagnostic) {
        self.s.warnings.push(d);
    }

    /// A form that is not what its keyword takes: says what that is, and how many parts there are.
    fn takes<T>(&mut self, span: Span, items: &[Syntax], takes: &str, help: &str) -> R<T> {
        let name = items.first().and_then(Syntax::as_ident).map(|id| self.name(id).clone()).unwrap_or_default();
        let got = match items.len() {
            0 | 1 => "nothing".to_string(),
            2 => "only one part".to_string(),
            n => format!("{} parts", n - 1),
        };
        self.err_help(span, format!("`{name}` takes {takes}, got {got}"), help)
    }

    /// The value, or an unspecified constant after reporting the error.
    fn recover(&mut self, r: R<Expr>) -> Expr {
        r.unwrap_or_else(|d| {
            self.report(d);
            unspecified()
        })
    }

    // small helpers

    /// Where something stands; what a user's template has made, at the macro's use, too.
    fn site(&mut self, span: Span) -> Site {
        let made = match maker(span, self.trace.as_ref()) {
            Some(step) => {
                let (name, at) = (self.name(step.name).clone(), step.began);
                self.made_site(span, name, at)
            }
            None => Site::new(span.file, span.start),
        };
        made.with_who(self.who)
    }

    /// Where something stands that is no call.
    fn plain_site(&self, span: Span) -> Site {
        Site::new(span.file, span.start).with_who(self.who)
    }

    /// The site of a text that a template of this macro has made for a use that began there, if the text is a user's.
    fn made_site(&mut self, span: Span, mac: Rc<str>, began: Site) -> Site {
        let site = Site::new(span.file, span.start);
        match self.s.sources.get(span.file as usize) {
            Some(f) if !f.library => self.s.program.inlined.expanded(site, mac, began),
            _ => site,
        }
    }

    fn name(&self, id: Ident) -> &Rc<str> {
        self.s.names.name(id)
    }

    fn push_form(&mut self, form: TopForm) {
        self.s.program.forms.push(form);
    }

    /// The text of a datum in the source, shortened, for messages.
    fn source_text(&self, x: &Syntax) -> String {
        self.text_at(x.span, 40)
    }

    fn text_at(&self, span: Span, length: usize) -> String {
        let text = self.s.sources.get(span.file as usize).map_or("", |f| &f.text);
        let piece = text.get(span.start as usize..span.end as usize).unwrap_or("…");
        let mut short = String::new();
        for (i, word) in piece.split_whitespace().enumerate() {
            if short.chars().count() + word.chars().count() > length {
                short.push_str(" …");
                break;
            }
            if i > 0 {
                short.push(' ');
            }
            short.push_str(word);
        }
        short
    }
}

impl Expander<'_> {
    /// `n` more items or expressions came of the macro use `root`.
    fn count_expansion(&mut self, root: &Root, n: usize) -> R<()> {
        root.size.set(root.size.get() + n);
        let limit = self.s.expansion_limit.unwrap_or(MAX_EXPANSION_SIZE);
        if root.size.get() <= limit {
            return Ok(());
        }
        if self.endless {
            return Err(Diagnostic::new(root.span, "").into()); // reported once is enough
        }
        self.endless = true;
        let name = self.name(root.name);
        let message = format!("the expansion of `{name}` does not end, or makes more than {limit} data");
        Err(Diagnostic::new(root.span, message).help("build large data at run time").into())
    }

    /// Runs one level of expansion, with enough native stack and not too deep.
    fn nested<T>(&mut self, span: Span, f: impl FnOnce(&mut Self) -> R<T>) -> R<T> {
        if self.nesting == MAX_NESTING {
            if let Some(step) = self.trace.as_ref().filter(|s| s.depth as usize > MAX_NESTING / 10) {
                self.endless = true;
                let message = format!("the expansion of `{}` does not end", self.name(step.name));
                return self.err(span, message);
            }
            let message = format!("expressions are nested more than {MAX_NESTING} deep");
            let d = self.diagnostic(span, message).help("build large data at run time, or read it from a file");
            return Err(d.root_cause().into());
        }
        self.nesting += 1;
        self.observe_open(span);
        let result = grow(|| f(self));
        self.observe_close();
        self.nesting -= 1;
        result
    }
}
