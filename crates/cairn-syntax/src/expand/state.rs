//! What the expander knows: between forms ([`Session`]), and while it expands some ([`Expander`]).

use super::items::{Redefined, Source};
use super::loader::{BootLibrary, LibraryName, Loader};
use super::macros::Macro;
use super::meaning::{Library, Module, Region, Scopes, Target};
use super::observed::Observed;
use super::record_info::RecordInfo;
use super::trace::Trace;
use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::{Context, Ident, Names, Syntax};
use cairn_core::ir::{GlobalId, Literal, Program, SourceFile, TopForm, VarId};
use cairn_core::prim::PrimOp;
use cairn_layout::c::{CType, VectorType};
use cairn_layout::object::record::compact;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

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

/// Everything known between forms: libraries, globals, macros. A REPL keeps one.
#[derive(Default)]
pub struct Session {
    pub(super) names: Names,
    pub(super) sources: Vec<SourceFile>,
    pub(super) program: Program,
    pub(super) modules: Vec<Module>,
    pub(super) macros: Vec<Rc<Macro>>,
    pub(super) libraries: FxHashMap<LibraryName, Library>,
    /// Globals that hold primitives as procedures, under some name.
    pub(super) wrappers: FxHashMap<(PrimOp, Rc<str>), GlobalId>,
    /// Globals that hold procedures made by the expander itself.
    pub(super) helpers: FxHashMap<&'static str, GlobalId>,
    pub(super) warnings: Vec<Diagnostic>,
    pub(super) errors: Vec<Diagnostic>,
    pub(super) warned: FxHashSet<GlobalId>,
    /// Which library exports a name, once somebody has wanted to know.
    pub(super) homes: Option<Homes>,
    pub(super) labelled: Labelled,
    /// Module of the program or REPL.
    pub(super) main: Option<u32>,
    /// The module of the program if it imports nothing.
    pub(super) without_import: Option<u32>,
    /// Imports of what is not here.
    pub(super) foreign: Vec<Foreign>,
    /// Stands for [`MAX_EXPANSION_SIZE`].
    pub(super) expansion_limit: Option<usize>,
    /// Forms of libraries that are in no program any more: macro transformers refer to them.
    pub(super) retained: Program,
    /// The library's text, expanded for macro transformers, when programs are compiled on one that was compiled
    /// beforehand.
    pub(super) library_text: LibraryText,
    /// What macro transformers have evaluated.
    pub(super) evaluation: Option<Box<Evaluation>>,
    /// Variables of libraries.
    pub(super) library_globals: FxHashSet<GlobalId>,
    /// The bodies of `let-syntax` that were spliced into others; [`crate::syntax::Context::region`] counts from 1.
    pub(super) regions: Vec<Region>,
    /// Was `er-macro-transformer` or a relative imported anywhere?
    pub(super) procedural: bool,
    /// Was `syntax-case` imported outside of lib/?
    pub(super) syntax_case: bool,
    /// The macros that `define-syntax-parameter` made.
    pub(super) syntax_parameters: FxHashSet<u32>,
    /// The source that stands for evaluated text.
    pub(super) evaluated: Option<u32>,
    /// While forms are expanded to be evaluated: the number of the file that they stand in, or 0.
    pub(super) evaluating: Option<u32>,
    /// How many files have been opened for that.
    pub(super) whole_texts: u32,
    /// How many meanings names have been given at top level, also instead of others.
    pub(super) meanings: usize,
    /// Of the libraries defined meanwhile, in which.
    pub(super) defined_in: FxHashMap<LibraryName, u32>,
    /// The library that programs are compiled on: its parts are loaded for their macros and names.
    pub(super) boot: Option<Arc<dyn BootLibrary>>,
    /// Its variables that have been heard of, by number.
    pub(super) imported: FxHashMap<u32, GlobalId>,
    /// Every primitive, in the order of its number.
    pub(super) primitives: Vec<PrimOp>,
    /// Variables of that library that the program refers to, and that it does not export.
    pub(super) missing: Vec<GlobalId>,
    /// The forms of that library, if they are kept.
    pub(super) library_forms: Option<Vec<TopForm>>,
    /// Parts of that library that are known without their text, if only some texts are wanted.
    pub(super) unread: Option<FxHashSet<LibraryName>>,
    /// The part whose text is wanted now.
    pub(super) wanted: Option<LibraryName>,
    /// Data of that text that stand for objects in memory: number by address. Empty unless it is being expanded.
    pub(super) embedded: FxHashMap<usize, usize>,
    /// The variables that stand for these objects, by number.
    pub(super) objects: Vec<GlobalId>,
    /// Record types, by the variables that hold them.
    pub(super) record_types: FxHashMap<Target, Rc<RecordInfo>>,
    /// Which record types are compact.
    pub(super) compact: compact::Choice,
    /// The names of types that the program extends, or makes structure vectors of.
    pub(super) extended: FxHashSet<Rc<str>>,
    /// Sources of texts that were forgotten.
    pub(super) free_sources: Vec<u32>,
    /// Has code outside of lib/ referred to what lets a program be changed from outside?
    pub(super) open: bool,
    /// Has it referred to `environment`?
    pub(super) makes_environments: bool,
    /// A text, an offset in it, and the number of its line.
    pub(super) counted_lines: Option<(Rc<str>, usize, usize)>,
    /// Counters, if programs are to have them.
    pub(super) counters: Option<Counters>,
    /// What tools want to know, if one has asked for it.
    pub(super) observed: Option<Box<Observed>>,
    /// What C may call by name, by number.
    pub(super) c_exports: Vec<CExport>,
    /// Is the program to be a shared library?
    pub(super) serves: bool,
    /// Definitions of C headers that nothing has referred to.
    pub(super) c_headers: Waiting,
    /// Layouts of C's structures, of those variables of which they are known.
    pub(super) c_layouts: Layouts,
    /// How C declares them, of those of which that is known.
    pub(super) c_declarations: Declarations,
    /// Libraries for which others stand in the text that is being checked.
    pub(super) displaced: Vec<(LibraryName, Library)>,
}

pub(super) type R<T> = Result<T, Box<Diagnostic>>;

/// One run over some forms.
pub(super) struct Expander<'a> {
    pub(super) s: &'a mut Session,
    pub(super) loader: &'a mut dyn Loader,
    pub(super) ctx: Context,
    pub(super) scopes: Scopes,
    /// Macro uses that led to the form being expanded.
    pub(super) trace: Trace,
    /// An expansion did not end: no more macros are expanded.
    pub(super) endless: bool,
    /// References to locals so far, indexed by variable: 0 means none.
    pub(super) referenced: Vec<bool>,
    /// Variables of the definitions around that have no value yet where code outside of procedures is.
    pub(super) initializing: FxHashSet<VarId>,
    /// Imported variables that the program defines again, by their new global.
    pub(super) redefined: FxHashMap<GlobalId, Redefined>,
    /// Index of the top-level item being expanded.
    pub(super) item: usize,
    /// In lib/: the name that errors give in the definition being expanded, see [`cairn_layout::code::Site::who`].
    pub(super) who: Option<usize>,
    /// Exported names of the library of lib/ being expanded, as indices of such names.
    pub(super) public: FxHashMap<Ident, usize>,
    /// Libraries being loaded, outermost first.
    pub(super) loading: Vec<LibraryName>,
    /// Expressions around the one being expanded.
    pub(super) nesting: usize,
    /// Words of constants in the program so far.
    pub(super) constants: usize,
    /// Definitions whose right-hand sides are not expanded yet: macro transformers may refer to them.
    pub(super) sources: FxHashMap<GlobalId, Source>,
    /// Inside of a transformer: where the macro is defined.
    pub(super) transformer_at: Option<Context>,
    /// In a `syntax-rules` that is an expression: the ellipsis that it names.
    pub(super) ellipsis: Option<Ident>,
    /// Variables whose values are C functions, each around the lambda that calls it.
    pub(super) c_functions: Vec<VarId>,
}

/// How many errors are reported at most.
pub(super) const MAX_ERRORS: usize = 60;

/// More macro uses than this, each in the expansion of the one before, are taken for an endless expansion.
pub(super) const MAX_EXPANSION_DEPTH: u32 = 100_000;

/// More items and expressions than this must not come of one macro use that the user wrote, in all branches of its
/// expansion.
pub(super) const MAX_EXPANSION_SIZE: usize = 10_000_000;

/// Expressions nested deeper than this are an error. (Compiling them would take minutes: each level is code.)
pub(super) const MAX_NESTING: usize = 100_000;

/// More words of constants in one program are an error: each is an entry of a table that LLVM reads as text.
pub(super) const MAX_CONSTANTS: usize = 4_000_000;

/// Runs `f` with enough stack for another level of recursion.
pub(super) fn grow<T>(f: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(256 * 1024, 8 * 1024 * 1024, f)
}

/// The library as a program of its own: programs on a library that was compiled beforehand do not have its forms.
#[derive(Default)]
pub(super) struct LibraryText {
    pub(super) session: Option<Box<Session>>,
    /// How many libraries it was made for, if for all that are known.
    pub(super) libraries: usize,
    /// Variables of the program that transformers come to, and all that these come to.
    pub(super) searched: FxHashSet<GlobalId>,
    /// Variables, from [`cairn_core::interp::transform::LIBRARY_GLOBALS`] on, by their number as exports.
    pub(super) exports: FxHashMap<u32, GlobalId>,
}

/// What macro transformers evaluate: what is there for all uses of macros.
#[derive(Default)]
pub(super) struct Evaluation {
    pub(super) session: Session,
    /// [`Session::extent`] when `same` was made.
    pub(super) extent: usize,
    /// Variables of the session that are others of the program or of the library's text.
    pub(super) same: FxHashMap<GlobalId, GlobalId>,
    /// Definitions of libraries, with the numbers that transformers see.
    pub(super) libraries: Vec<Rc<Vec<TopForm>>>,
    /// How many of the session's definitions these are.
    pub(super) taken: usize,
    /// Numbers of environments, by import sets.
    pub(super) environments: FxHashMap<String, u32>,
}

/// The libraries to import for a name, as text, the best one first.
pub(super) type Homes = FxHashMap<String, Vec<String>>;

/// What labels of the session stand for, by their ids.
#[derive(Default)]
pub(super) struct Labelled(FxHashMap<u32, Literal>);

impl Labelled {
    pub(super) fn get(&self, id: u32) -> Option<Literal> {
        self.0.get(&id).cloned()
    }
    pub(super) fn insert(&mut self, id: u32, literal: &Literal) {
        self.0.insert(id, literal.clone());
    }
}

/// A form that imports what is not here.
pub(super) struct Foreign {
    pub(super) module: u32,
    pub(super) span: Span,
    pub(super) message: String,
    /// Import sets of the form that are good.
    pub(super) kept: Vec<String>,
}

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Where it is written; of a way, the conditional.
    pub span: Span,
    /// What it is.
    pub what: Counted,
    /// Name of the procedure.
    pub name: Rc<str>,
}

/// A kind of [`Point`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counted {
    /// An expression.
    Expression,
    /// A clause of a procedure.
    Procedure,
    /// The way of this number through a conditional.
    Way(u32),
}

/// The points of a session, by number.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) points: Vec<Point>,
    pub(super) numbers: FxHashMap<(Span, Counted), usize>,
}

/// A procedure that C calls by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CExport {
    /// The name in C.
    pub name: String,
    /// The types, that of the result first.
    pub types: Vec<CDeclared>,
}

/// A type as C declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CDeclared {
    /// One that `(cairn c)` has a name for.
    Named(String),
    /// Address and number of the elements of a homogeneous vector.
    Vector(VectorType),
    /// A structure by value.
    Struct(CStruct),
    /// A pointer to a function of these types, that of the result first.
    Function(Vec<CDeclared>),
}

/// A structure of `define-c-struct`, as C declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CStruct {
    /// Its tag.
    pub name: String,
    /// Names and types of the fields, and lengths of those that are arrays.
    pub fields: Vec<(String, CDeclared, Option<usize>)>,
}

/// Declarations of structures, by variable.
pub(super) type Declarations = FxHashMap<GlobalId, CStruct>;

/// Layouts by variable.
pub(super) type Layouts = FxHashMap<GlobalId, Layout>;

/// What a structure is like.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) bytes: usize,
    pub(super) alignment: usize,
    /// What is in it at which offset; nothing in a large one.
    pub(super) leaves: Vec<(usize, CType)>,
}

/// A definition that nothing has referred to.
pub(super) struct Definition {
    pub(super) module: u32,
    pub(super) id: Ident,
    pub(super) value: Syntax,
}

/// The libraries of headers that were loaded, and their definitions.
#[derive(Default)]
pub(super) struct Waiting {
    pub(super) definitions: FxHashMap<GlobalId, Definition>,
    /// By module: how many forms of the present program come before it.
    pub(super) places: BTreeMap<u32, usize>,
}

impl Waiting {
    /// The next forms begin another program.
    pub(super) fn forms_are_gone(&mut self) {
        self.places.values_mut().for_each(|at| *at = 0);
    }
}
