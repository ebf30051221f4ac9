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
//! memory allows, expressions up to [`MAX_NESTING`].
//!
//! | file | what |
//! |---|---|
//! | `core` | the keywords |
//! | `scope` | identifiers, scopes, modules, resolution |
//! | `library` | libraries, imports and exports, `cond-expand`, includes |
//! | `scan` | definitions of a body, top level |
//! | `forms`, `binding`, `quote` | expressions |
//! | `cycle` | quoted data that contain themselves |
//! | `label` | labels in program text |
//! | `layout` | numbers of cairn-layout as a library |
//! | `record`, `record_parts`, `structure_vector` | `define-record-type`, `define-structure-vector` |
//! | `c` | `c-procedure` and its like |
//! | `c_header` | definitions of C headers, which wait until something refers to them |
//! | `rules` | `syntax-rules` |
//! | `procedural` | macro transformers that are procedures |
//! | `syntax_case` | `syntax-case` and `syntax` |
//! | `prims` | primitives and hidden procedures |
//! | `prebuilt` | the library compiled beforehand, and programs on it |
//! | `evaluate` | expansion while a program runs: `eval`, `environment` |
//! | `file_forms` | which forms of a file go together when it is evaluated form by form |
//! | `observe` | what tools want to know of a text |

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
mod label;
mod layout;
mod library;
mod observe;
mod prebuilt;
mod prims;
mod procedural;
mod quote;
mod record;
mod record_parts;
mod rules;
mod scan;
mod scope;
mod structure_vector;
mod suggest;
mod syntax_case;

use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::{Context, Ident, Names, Syntax};
use cairn_core::ir::{Expr, GlobalId, Literal, Program, SourceFile, TopForm, VarId};
use cairn_core::prim::PrimOp;
use cairn_layout::code::Site;
use cairn_layout::object::record::compact;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

pub use c_export::{CDeclared, CExport, CStruct};
pub use coverage::{Counted, Point};
pub use evaluate::{Environment, OpenText, RUNNING_BINDINGS, primitive_key};
pub use library::{DEFAULT_LIBRARIES, FEATURES, LibraryName, NamePart};
pub(crate) use observe::begins_in;
pub use observe::{Checked, Checkpoint, Entity, Form, Imported, Mention, Role};
pub use prebuilt::{BootLibrary, BootProgram, Exported};

/// Where libraries and included files come from.
pub trait Loader {
    /// Path and text of the file that defines the library, `None` when there is no such library, an error when
    /// it cannot be read.
    fn load_library(&mut self, name: &LibraryName) -> Result<Option<(String, String)>, String>;
    /// Path and text of a file included by the file `from` as `path`.
    fn load_include(&mut self, from: &str, path: &str) -> Result<(String, String), String>;
    /// Names of the libraries that are always there, for who has forgotten to import one.
    fn library_names(&self) -> Vec<LibraryName> {
        Vec::new()
    }
    /// A file that would define this library, were it not built in.
    fn file_in_vain(&self, _name: &LibraryName) -> Option<String> {
        None
    }
    /// Is this library part of Cairn's own `lib/`? Its code takes the call site of the user in messages.
    fn is_builtin(&self, name: &LibraryName) -> bool {
        matches!(name.0.first(), Some(NamePart::Symbol(s)) if matches!(&**s, "scheme" | "srfi" | "cairn" | "rnrs"))
    }
}

/// A program ready for the optimizer.
pub struct Expanded {
    /// The program.
    pub program: Program,
    /// Suspicious things, for instance references to variables that are never defined.
    pub warnings: Vec<Diagnostic>,
    /// All files, indexed by [`Span::file`] of the warnings.
    pub sources: Vec<SourceFile>,
    /// On a library that was compiled beforehand: variables of it that the program refers to and that it does not
    /// export. With any, the program is to be compiled together with the library.
    pub missing: Vec<GlobalId>,
    /// The forms of that library, if the session keeps them.
    pub library: Vec<TopForm>,
    /// What C may call by name in a shared library, by number.
    pub c_exports: Vec<CExport>,
}

/// What went wrong: messages, and the files that their spans point into.
#[derive(Debug)]
pub struct Failed {
    /// At least one message.
    pub errors: Vec<Diagnostic>,
    /// All files, indexed by [`Span::file`].
    pub sources: Vec<SourceFile>,
}

/// Expands one program. [`Session`] gives more control, and the sources of the messages.
pub fn expand_program(main_path: &str, text: &str, loader: &mut dyn Loader) -> Result<Expanded, Vec<Diagnostic>> {
    Session::new().expand_program(main_path, text, loader).map_err(|f| f.errors)
}

/// How many errors are reported at most.
const MAX_ERRORS: usize = 60;

/// What an identifier means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Binding {
    Core(core::Core),
    Macro(u32),
    Local(VarId),
    Global(GlobalId),
    Prim(PrimOp),
    /// A pattern variable of `syntax-case`: the variable that holds what it matched, and how many ellipses follow it.
    Pattern(VarId, u32),
}

/// Everything known between forms: libraries, globals, macros. A REPL keeps one.
#[derive(Default)]
pub struct Session {
    names: Names,
    sources: Vec<SourceFile>,
    program: Program,
    modules: Vec<scope::Module>,
    macros: Vec<Rc<rules::Macro>>,
    libraries: FxHashMap<LibraryName, library::Library>,
    /// Globals that hold primitives as procedures, under some name.
    wrappers: FxHashMap<(PrimOp, Rc<str>), GlobalId>,
    /// Globals that hold procedures made by the expander itself.
    helpers: FxHashMap<&'static str, GlobalId>,
    warnings: Vec<Diagnostic>,
    errors: Vec<Diagnostic>,
    warned: FxHashSet<GlobalId>,
    /// Which library exports a name, once somebody has wanted to know.
    homes: Option<suggest::Homes>,
    labelled: cycle::Labelled,
    /// Module of the program or REPL.
    main: Option<u32>,
    /// The module of the program if it imports nothing.
    without_import: Option<u32>,
    /// Imports of what is not here.
    foreign: Vec<foreign::Foreign>,
    /// Stands for [`MAX_EXPANSION_SIZE`].
    expansion_limit: Option<usize>,
    /// Forms of libraries that are in no program any more: macro transformers refer to them.
    retained: Program,
    /// The library's text, expanded for macro transformers, when programs are compiled on one that was compiled
    /// beforehand.
    library_text: procedural::LibraryText,
    /// Variables of libraries.
    library_globals: FxHashSet<GlobalId>,
    /// Was `er-macro-transformer` or a relative imported anywhere?
    procedural: bool,
    /// Was `syntax-case` imported outside of lib/?
    syntax_case: bool,
    /// The macros that `define-syntax-parameter` made.
    syntax_parameters: FxHashSet<u32>,
    /// The source that stands for evaluated text.
    evaluated: Option<u32>,
    /// While forms are expanded to be evaluated: the number of the file that they stand in, or 0.
    evaluating: Option<u32>,
    /// How many files have been opened for that.
    whole_texts: u32,
    /// Of the libraries defined meanwhile, in which.
    defined_in: FxHashMap<LibraryName, u32>,
    /// The library that programs are compiled on: its parts are loaded for their macros and names.
    boot: Option<Arc<dyn BootLibrary>>,
    /// Its variables that have been heard of, by number.
    imported: FxHashMap<u32, GlobalId>,
    /// Every primitive, in the order of its number.
    primitives: Vec<PrimOp>,
    /// Variables of that library that the program refers to, and that it does not export.
    missing: Vec<GlobalId>,
    /// The forms of that library, if they are kept.
    library_forms: Option<Vec<TopForm>>,
    /// Data of that text that stand for objects in memory: number by address. Empty unless it is being expanded.
    embedded: FxHashMap<usize, usize>,
    /// The variables that stand for these objects, by number.
    objects: Vec<GlobalId>,
    /// Record types, by the variables that hold them.
    record_types: FxHashMap<scope::Target, Rc<record::RecordInfo>>,
    /// Which record types are compact.
    compact: compact::Choice,
    /// The names of types that the program extends, or makes structure vectors of.
    extended: FxHashSet<Rc<str>>,
    /// Sources of texts that were forgotten.
    free_sources: Vec<u32>,
    /// Has code outside of lib/ referred to what lets a program be changed from outside?
    open: bool,
    /// A text, an offset in it, and the number of its line.
    counted_lines: Option<(Rc<str>, usize, usize)>,
    /// Counters, if programs are to have them.
    counters: Option<coverage::Counters>,
    /// What tools want to know, if one has asked for it.
    observed: Option<Box<observe::Observed>>,
    /// What C may call by name, by number.
    c_exports: Vec<CExport>,
    /// Is the program to be a shared library?
    serves: bool,
    /// Definitions of C headers that nothing has referred to.
    c_headers: c_header::Waiting,
    /// Layouts of C's structures, of those variables of which they are known.
    c_layouts: c_structs::Layouts,
    /// How C declares them, of those of which that is known.
    c_declarations: c_export::Declarations,
    /// Libraries for which others stand in the text that is being checked.
    displaced: Vec<(LibraryName, library::Library)>,
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
        self.sources.push(SourceFile { path: path.into(), text: text.into(), library });
        self.sources.len() as u32 - 1
    }
}

type R<T> = Result<T, Box<Diagnostic>>;

/// A macro use, and the one whose expansion contained it.
struct Step {
    name: Ident,
    span: Span,
    /// The site of the use; if it was made by a template of the same macro, that of the one it began with.
    began: Site,
    /// Uses since the expansion last came to a smaller piece of the user's text.
    depth: u32,
    /// That piece.
    origin: Span,
    /// The use that does not come out of an expansion.
    root: Rc<Root>,
    outer: Trace,
}

/// A macro use that the user wrote, and what has come of it.
struct Root {
    name: Ident,
    span: Span,
    /// Items made by the templates, and expressions expanded.
    size: Cell<usize>,
}

type Trace = Option<Rc<Step>>;

/// How many macro uses, each in the expansion of the next, are looked at to find out where a text came from …
const MAKERS: usize = 64;
/// … and so many of other macros around it are shown.
const MAKERS_SHOWN: usize = 16;

/// The macro use whose template made a text, of these. Text that stands in one of the uses is the user's argument
/// there, and went through the inner ones.
fn maker(span: Span, trace: Option<&Rc<Step>>) -> Option<&Step> {
    let mut from = trace;
    let mut step = trace;
    for _ in 0..MAKERS {
        let Some(s) = step else { break };
        step = s.outer.as_ref();
        if span == s.span || span.is_strictly_inside(s.span) {
            from = step;
        }
    }
    from.map(|s| &**s)
}

impl Drop for Step {
    fn drop(&mut self) {
        // iteratively: chains get long
        let mut next = self.outer.take();
        while let Some(mut step) = next.and_then(Rc::into_inner) {
            next = step.outer.take();
        }
    }
}

/// More macro uses than this, each in the expansion of the one before, are taken for an endless expansion.
const MAX_EXPANSION_DEPTH: u32 = 100_000;
/// More items and expressions than this must not come of one macro use that the user wrote, in all branches of its
/// expansion.
const MAX_EXPANSION_SIZE: usize = 10_000_000;

/// One run over some forms.
struct Expander<'a> {
    s: &'a mut Session,
    loader: &'a mut dyn Loader,
    ctx: Context,
    scopes: scope::Scopes,
    /// Macro uses that led to the form being expanded.
    trace: Trace,
    /// An expansion did not end: no more macros are expanded.
    endless: bool,
    /// References to locals so far, indexed by variable: 0 means none.
    referenced: Vec<bool>,
    /// Imported variables that the program defines again, by their new global.
    redefined: FxHashMap<GlobalId, scan::Redefined>,
    /// Index of the top-level item being expanded.
    item: usize,
    /// In lib/: the name that errors give in the definition being expanded, see [`Site::who`].
    who: Option<usize>,
    /// Exported names of the library of lib/ being expanded, as indices of such names.
    public: FxHashMap<Ident, usize>,
    /// Libraries being loaded, outermost first.
    loading: Vec<LibraryName>,
    /// Expressions around the one being expanded.
    nesting: usize,
    /// Words of constants in the program so far.
    constants: usize,
    /// Definitions whose right-hand sides are not expanded yet: macro transformers may refer to them.
    sources: FxHashMap<GlobalId, procedural::Source>,
    /// Inside of a transformer: where the macro is defined.
    transformer_at: Option<Context>,
    /// Variables whose values are C functions, each around the lambda that calls it.
    c_functions: Vec<VarId>,
}

/// Expressions nested deeper than this are an error. (Compiling them would take minutes: each level is code.)
const MAX_NESTING: usize = 100_000;
/// More words of constants in one program are an error: each is an entry of a table that LLVM reads as text.
const MAX_CONSTANTS: usize = 4_000_000;

impl<'a> Expander<'a> {
    fn new(s: &'a mut Session, loader: &'a mut dyn Loader) -> Expander<'a> {
        Expander {
            s,
            loader,
            ctx: Context { module: 0, depth: 0 },
            scopes: scope::Scopes::default(),
            trace: None,
            endless: false,
            referenced: Vec::new(),
            redefined: FxHashMap::default(),
            item: 0,
            who: None,
            public: FxHashMap::default(),
            loading: Vec::new(),
            nesting: 0,
            constants: 0,
            sources: FxHashMap::default(),
            transformer_at: None,
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
        self.ctx = Context { module, depth: 0 };
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

/// The text with blanks for such a line.
pub(crate) fn without_language(text: &str) -> Cow<'_, str> {
    match language_line(text) {
        Some(line) => format!("{}{}{}", &text[..line.start], " ".repeat(line.len()), &text[line.end..]).into(),
        None => text.into(),
    }
}

/// Where `#lang …` is, if that is the first thing in a text behind comments.
fn language_line(text: &str) -> Option<std::ops::Range<usize>> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("#lang ") {
            return Some(start..start + line.trim_end().len());
        }
        if !line.trim().is_empty() && !line.starts_with(';') {
            return None;
        }
        start += line.len();
    }
    None
}

fn unspecified() -> Expr {
    Expr::Const(Literal::Unspecified)
}

/// Runs `f` with enough stack for another level of recursion.
fn grow<T>(f: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(256 * 1024, 8 * 1024 * 1024, f)
}
