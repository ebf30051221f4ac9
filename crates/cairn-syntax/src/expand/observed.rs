//! What tools are told of a text: which identifier stands for what, what is called, what is imported.

use super::meaning::{Binding, Target};
use super::trace::Trace;
use crate::diagnostic::Span;
use crate::syntax::Ident;
use cairn_core::ir::{GlobalId, VarId};
use cairn_core::prim::PrimOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// What an identifier stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Entity {
    /// A local variable.
    Local(VarId),
    /// A variable of a library or of the program.
    Global(GlobalId),
    /// A macro, by number.
    Macro(u32),
    /// A keyword of the language, by number.
    Keyword(u32),
    /// A primitive operation.
    Primitive(PrimOp),
}

impl From<Binding> for Entity {
    fn from(b: Binding) -> Entity {
        match b {
            Binding::Core(c) => Entity::Keyword(c as u32),
            Binding::Macro(m) => Entity::Macro(m),
            Binding::Local(v) | Binding::Pattern(v, _) => Entity::Local(v),
            Binding::Global(g) => Entity::Global(g),
            Binding::Prim(p) => Entity::Primitive(p),
        }
    }
}

impl From<Target> for Entity {
    fn from(t: Target) -> Entity {
        match t {
            Target::Local(v) => Entity::Local(v),
            Target::Global(g) => Entity::Global(g),
        }
    }
}

/// What an identifier does where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It is defined by a form.
    Definition(Form),
    /// It is a parameter, or bound otherwise where nobody can leave it out.
    Parameter,
    /// It is bound to a value by a form like `let`.
    Variable,
    /// It is referred to, or heads a form.
    Reference,
    /// It is assigned.
    Assignment,
    /// It is exported.
    Export,
    /// It is named in an import.
    Import,
}

impl Role {
    /// Does it give the identifier its meaning?
    pub fn binds(self) -> bool {
        matches!(self, Role::Definition(_) | Role::Parameter | Role::Variable)
    }
    /// Is it a parameter, or bound like one?
    pub fn is_parameter(self) -> bool {
        self == Role::Parameter
    }
}

/// A kind of definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `define` and `define-values`.
    Variable,
    /// `define-syntax` and its local relatives.
    Macro,
    /// A part of a record type or structure vector.
    Record,
}

/// An identifier somewhere.
#[derive(Clone, Copy, Debug)]
pub struct Mention {
    /// Where it stands.
    pub span: Span,
    /// What it stands for.
    pub entity: Entity,
    /// What it does there.
    pub role: Role,
    /// Of a binding: the form that makes it, or, of a local one, the form in which it is visible.
    pub form: Span,
    /// Is it in a scope inside of the top level?
    pub local: bool,
}

/// A procedure call.
pub(crate) struct Call {
    /// What is called.
    pub(crate) callee: Entity,
    /// How many arguments it gets.
    pub(crate) arguments: usize,
    /// The call.
    pub(crate) span: Span,
    /// The name of the procedure.
    pub(crate) head: Span,
    pub(super) trace: Trace,
}

/// An import set.
pub struct Imported {
    /// The set.
    pub span: Span,
    /// The declaration around it.
    pub form: Span,
    /// The library.
    pub library: String,
    /// May importing it do something by itself?
    pub acts: bool,
    /// The names that `(only …)` lists, and where.
    pub listed: Option<Vec<(String, Span)>>,
    /// What it brings: name and meaning.
    pub names: Vec<(Ident, Entity)>,
    /// The module that imports it.
    pub module: u32,
}

/// The parameters of a clause: required ones and the rest.
pub(crate) type Parameters = (Vec<VarId>, Option<VarId>);

/// What was found out.
#[derive(Default)]
pub(crate) struct Observed {
    pub(crate) mentions: Vec<Mention>,
    pub(crate) calls: Vec<Call>,
    pub(crate) imports: Vec<Imported>,
    /// The clauses of procedures that are defined once.
    pub(crate) procedures: FxHashMap<Entity, Vec<Parameters>>,
    /// Modules whose bodies have expressions.
    pub(super) acting: FxHashSet<u32>,
    /// Modules of libraries in the text, with the extents of their definitions.
    pub(crate) libraries: Vec<(u32, Span)>,
    /// Mistakes of the reader, which went on behind them.
    pub(super) damaged: Vec<Span>,
    /// Forms that are being expanded, outermost first.
    pub(super) open: Vec<Span>,
    /// The form that is being scanned.
    pub(super) scanned: Span,
    /// Is a record type being defined?
    pub(super) record: bool,
}
