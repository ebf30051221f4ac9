//! The Core IR.
//!
//! A program is a sequence of top-level forms over global variables; expressions are trees. Variables are
//! numbered program-wide and bound exactly once (renaming happened in the expander), so passes need no
//! environments and substitution cannot capture.
//!
//! Three dialects share the types; the verifier takes the dialect as an argument:
//!
//! | dialect | after | may contain |
//! |---|---|---|
//! | `Source` | expander | everything but `Fix`, `Labels`, `Jump` |
//! | `Fixed` | letrec fixing and assignment conversion | no `Letrec`, no `SetLocal`; `Fix` binds lambdas only |
//! | `Opt` | optimizer | the same plus `Labels` and `Jump` |
//!
//! Evaluation order: operands, `Let` right-hand sides: left to right. `Letrec` is `letrec*`.

use crate::inlined::InlineTable;
use crate::prim::{Kind, PrimOp};
use cairn_layout::code::Site;
use cairn_layout::object::numeric::NumericKind;
use cairn_num::{Int, Number};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A local variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// A global variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct GlobalId(pub u32);

/// A label of [`Expr::Labels`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u32);

/// A constant.
#[derive(Clone, Debug)]
pub enum Literal {
    /// Number.
    Number(Number),
    /// Character.
    Char(char),
    /// Boolean.
    Bool(bool),
    /// Empty list.
    Nil,
    /// The unspecified value.
    Unspecified,
    /// The end-of-file object.
    Eof,
    /// Absent optional argument.
    Default,
    /// Contents of a variable before its definition ran.
    Unbound,
    /// Symbol.
    Symbol(Rc<str>),
    /// String.
    String(Rc<str>),
    /// Bytevector.
    Bytes(Rc<[u8]>),
    /// Numeric vector that is no bytevector: its elements as they lie in memory.
    Numbers(NumericKind, Rc<[u8]>),
    /// Pair.
    Pair(Rc<(Literal, Literal)>),
    /// Vector.
    Vector(Rc<[Literal]>),
}

/// Nested data are taken apart without recursion.
impl Drop for Literal {
    fn drop(&mut self) {
        let mut parts = Vec::new();
        self.release(&mut parts);
        while let Some(mut part) = parts.pop() {
            part.release(&mut parts);
        }
    }
}

impl Literal {
    /// What the constant is, if one of the kinds that checks ask for; `None` for other kinds.
    pub fn kind(&self) -> Option<Kind> {
        Some(match self {
            Literal::Number(Number::Int(Int::Fix(_))) => Kind::Fixnum,
            Literal::Number(Number::Flo(_)) => Kind::Flonum,
            Literal::Number(Number::Complex(..)) => Kind::Compnum,
            Literal::Number(_) => Kind::Number,
            Literal::Char(_) => Kind::Char,
            Literal::Bool(_) => Kind::Boolean,
            Literal::Symbol(_) => Kind::Symbol,
            Literal::String(_) => Kind::String,
            Literal::Bytes(_) => Kind::Bytevector,
            Literal::Pair(_) => Kind::Pair,
            Literal::Vector(_) => Kind::Vector,
            Literal::Nil
            | Literal::Unspecified
            | Literal::Eof
            | Literal::Default
            | Literal::Unbound
            | Literal::Numbers(..) => return None,
        })
    }
    /// Moves compound parts that nobody else holds to `parts`.
    fn release(&mut self, parts: &mut Vec<Literal>) {
        let mut take = |l: &mut Literal| {
            if let Literal::Pair(_) | Literal::Vector(_) = l {
                parts.push(std::mem::replace(l, Literal::Nil));
            }
        };
        match self {
            Literal::Pair(p) => {
                if let Some((a, d)) = Rc::get_mut(p) {
                    take(a);
                    take(d);
                }
            }
            Literal::Vector(v) => {
                if let Some(items) = Rc::get_mut(v) {
                    items.iter_mut().for_each(take);
                }
            }
            _ => {}
        }
    }
}

/// A local variable's facts.
#[derive(Clone, Debug)]
pub struct VarInfo {
    /// Name in the source, for people.
    pub name: Rc<str>,
    /// Target of some `SetLocal` (maintained by the expander; gone after assignment conversion).
    pub assigned: bool,
    /// Some copy of its binding is in the program under another name.
    pub copied: bool,
    /// What it holds whenever it is bound, if an analysis of the whole program has said so: [`crate::tier_types`].
    pub held: Option<Rc<Held>>,
}

impl VarInfo {
    /// A variable without further facts.
    pub fn new(name: impl Into<Rc<str>>) -> VarInfo {
        VarInfo { name: name.into(), assigned: false, copied: false, held: None }
    }
}

/// A set of values, one of which a variable, or the box in it, holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Held {
    /// The kinds, as [`crate::passes::types`] has them.
    pub kinds: u32,
    /// Least and greatest fixnum.
    pub range: (i64, i64),
    /// The one type of the records among them, if known: the variable that holds it.
    pub record_type: Option<GlobalId>,
    /// The variable holds a box, and this is said of its contents.
    pub boxed: bool,
    /// Of vectors: what their elements hold.
    pub elements: Option<Rc<Held>>,
    /// Of a record type: what fields of its records hold, by [`crate::passes::types::field_of`] codes.
    pub fields: Vec<(i64, Rc<Held>)>,
}

/// A global variable's facts.
#[derive(Clone, Debug)]
pub struct GlobalInfo {
    /// Name in the source, for people and messages.
    pub name: Rc<str>,
    /// Target of some `SetGlobal` (assignment after definition) or defined more than once.
    pub assigned: bool,
    /// Defined in lib/: inlined bodies take the caller's source position.
    pub library: bool,
    /// Defined by `define-record-type` and the like as a procedure that calls nothing and fails where it is called.
    pub operation: bool,
    /// Holds a record type, or an ancestor of one, whose records may lie in structure vectors: that an operation on a
    /// record has passed its check does not say where the fields are.
    pub elements: bool,
    /// No name refers to it, only code of the form that defines it: no other form can define or assign it.
    pub hidden: bool,
    /// Argument counts that procedures take which forms have defined it as, and whether they take more; empty if it was
    /// not defined yet. What may hold anything takes all. Only evaluation keeps this
    /// ([`crate::passes::wrong_counts`]).
    pub takes: Vec<(usize, bool)>,
    /// Used, and so far no form defines it.
    pub undefined: bool,
    /// Defined by another module.
    pub import: Option<Import>,
    /// What it holds whenever it is bound, or for an import of a cell, what that holds: [`crate::tier_types`].
    pub held: Option<Rc<Held>>,
}

/// What another module defines: bound before this module's code runs, and the same ever after.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Import {
    /// Which value it is.
    pub from: ImportFrom,
    /// A procedure whose calls do not return.
    pub never_returns: bool,
}

/// Where the value of an imported variable is to be found when the module is loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImportFrom {
    /// Export of this number of the library that was compiled beforehand.
    Library(u32),
    /// Cell of this number of evaluated code: a pair, whose `car` is the value of a variable that others change.
    Cell(u32),
}

/// A source file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Path as given.
    pub path: Rc<str>,
    /// Whole text.
    pub text: Rc<str>,
    /// Part of lib/.
    pub library: bool,
    /// Places are told as if so many lines came before the text: what was typed before it at a prompt.
    pub lines_before: i32,
}

impl SourceFile {
    /// A file that begins with its first line.
    pub fn new(path: &str, text: &str, library: bool) -> SourceFile {
        SourceFile { path: path.into(), text: text.into(), library, lines_before: 0 }
    }
}

/// Where names stand in [`Program::procedures`], of which the first few are known here.
#[derive(Clone, Debug, Default)]
pub struct NamePlaces {
    places: FxHashMap<Rc<str>, usize>,
    known: usize,
}

/// A whole program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Local variables, indexed by [`VarId`].
    pub vars: Vec<VarInfo>,
    /// Global variables, indexed by [`GlobalId`].
    pub globals: Vec<GlobalInfo>,
    /// Number of labels handed out so far.
    pub labels: u32,
    /// Forms in order of execution.
    pub forms: Vec<TopForm>,
    /// Sources, indexed by `Site::file`.
    pub sources: Vec<SourceFile>,
    /// Names that errors give, indexed by `Site::who`.
    pub procedures: Vec<Rc<str>>,
    /// Where names stand in `procedures`, which only grows once it was asked.
    pub name_places: NamePlaces,
    /// Positions in inlined bodies, indexed by `Site::row`.
    pub inlined: InlineTable,
    /// Where a variable is first read while the definitions that it belongs to are evaluated, outside of procedures.
    pub early_reads: FxHashMap<VarId, Site>,
    /// Is the program's own text one that nobody has written? Then its forms are no procedure of a backtrace.
    pub hidden: bool,
}

/// A top-level form.
#[derive(Clone, Debug)]
pub enum TopForm {
    /// Defines (first time) or redefines a global.
    Define(GlobalId, Expr),
    /// Evaluated for effect.
    Expr(Expr),
}

/// How often a continuation may be used: one-shot continuations are those of Bruggeman, Waddell & Dybvig (1996).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shots {
    /// Any number of times.
    Many,
    /// Once, by calling it or by returning from its receiver.
    One,
}

impl Shots {
    /// Name of the operation that captures.
    pub fn name(self) -> &'static str {
        match self {
            Shots::Many => "call/cc",
            Shots::One => "call/1cc",
        }
    }

    /// The operation of this name.
    pub fn named(name: &str) -> Option<Shots> {
        [Shots::Many, Shots::One].into_iter().find(|s| s.name() == name)
    }
}

/// An expression.
#[derive(Debug)]
pub enum Expr {
    /// Constant.
    Const(Literal),
    /// Local variable.
    Local(VarId),
    /// Global variable; raises when unbound.
    Global(GlobalId, Site),
    /// Assignment of a local. Value unspecified.
    SetLocal(VarId, Box<Expr>),
    /// Assignment of a global; raises when it is not yet defined.
    SetGlobal(GlobalId, Box<Expr>, Site),
    /// Conditional: anything but `#f` is true.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Sequence of at least one expression; the last gives the value.
    Seq(Vec<Expr>),
    /// Parallel binding.
    Let(Vec<(VarId, Expr)>, Box<Expr>),
    /// `letrec*`: right-hand sides in order; a read before initialization raises.
    Letrec(Vec<(VarId, Expr)>, Box<Expr>),
    /// Mutually recursive lambdas.
    Fix(Vec<(VarId, Lambda)>, Box<Expr>),
    /// Procedure.
    Lambda(Lambda),
    /// Call.
    Call(Box<Expr>, Vec<Expr>, Site),
    /// `(apply f x ... list)`: the last operand is a list.
    Apply(Box<Expr>, Vec<Expr>, Site),
    /// Primitive. Bit `i` of `proven` says that the check of operand `i` is unnecessary.
    Prim {
        /// The operation.
        op: PrimOp,
        /// Operands.
        args: Vec<Expr>,
        /// Where it came from, for errors.
        site: Site,
        /// Proven operand checks.
        proven: u8,
    },
    /// `(values x ...)`.
    Values(Vec<Expr>),
    /// Evaluates `producer`, binds its values to the clause's parameters, evaluates the clause's body.
    Receive {
        /// Producer.
        producer: Box<Expr>,
        /// Receiver: parameters, rest parameter, body.
        clause: Box<Clause>,
        /// Where another count of values is reported. With a name, as a wrong count of arguments of that procedure.
        site: Site,
    },
    /// `(call-with-current-continuation f)` without winders: calls `f` with the raw continuation.
    CallCc(Shots, Box<Expr>, Site),
    /// Local join points and loops. Jumps occur in tail position with respect to this expression only (in label bodies
    /// or in `body`), never inside a nested lambda.
    Labels(Vec<Label>, Box<Expr>),
    /// Jump to a label.
    Jump(LabelId, Vec<Expr>),
}

/// A join point or loop header.
#[derive(Clone, Debug)]
pub struct Label {
    /// The label.
    pub id: LabelId,
    /// Parameters.
    pub params: Vec<VarId>,
    /// Body.
    pub body: Expr,
}

/// A procedure: one clause, or several for `case-lambda` (the first that accepts the argument count is taken).
#[derive(Clone, Debug)]
pub struct Lambda {
    /// Name for people: from `define`, `let`, or `lambda` at a position.
    pub name: Rc<str>,
    /// Clauses, at least one.
    pub clauses: Vec<Clause>,
    /// Where it was written.
    pub site: Site,
}

/// Parameters and body.
#[derive(Clone, Debug)]
pub struct Clause {
    /// Required parameters.
    pub params: Vec<VarId>,
    /// Rest parameter, bound to a fresh list.
    pub rest: Option<VarId>,
    /// Body.
    pub body: Expr,
}

impl GlobalInfo {
    /// A variable without further facts.
    pub fn new(name: impl Into<Rc<str>>) -> GlobalInfo {
        GlobalInfo {
            name: name.into(),
            assigned: false,
            library: false,
            operation: false,
            elements: false,
            hidden: false,
            takes: Vec::new(),
            undefined: false,
            import: None,
            held: None,
        }
    }
}

impl Program {
    /// Does the text at a site belong to the user, not to a library of lib/?
    pub fn is_users(&self, site: Site) -> bool {
        let file = self.inlined.get(site).map_or(site, |row| row.site).file();
        file.and_then(|f| self.sources.get(f as usize)).is_some_and(|s| !s.library)
    }

    /// A fresh local variable.
    pub fn fresh_var(&mut self, name: &str) -> VarId {
        self.vars.push(VarInfo::new(name));
        VarId(self.vars.len() as u32 - 1)
    }
    /// The place of `name` among the names that errors give.
    pub fn procedure_name(&mut self, name: &str) -> usize {
        let NamePlaces { places, known } = &mut self.name_places;
        for (i, name) in self.procedures.iter().enumerate().skip(*known) {
            places.entry(name.clone()).or_insert(i);
        }
        let place = places.get(name).copied().unwrap_or_else(|| {
            let name: Rc<str> = name.into();
            self.procedures.push(name.clone());
            places.insert(name, self.procedures.len() - 1);
            self.procedures.len() - 1
        });
        *known = self.procedures.len();
        debug_assert_eq!(&*self.procedures[place], name);
        place
    }
    /// A fresh label.
    pub fn fresh_label(&mut self) -> LabelId {
        self.labels += 1;
        LabelId(self.labels - 1)
    }
}

impl InlineTable {
    /// Tells the table which of the program's sources are the library's.
    pub fn know(&mut self, sources: &[SourceFile]) {
        self.library = sources.iter().map(|s| s.library).collect();
    }
}
