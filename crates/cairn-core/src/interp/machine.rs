//! The state of a run, and what values of the interpreter call.

use super::primitives::World;
use super::values::Val;
use crate::ir::{Expr, GlobalId, LabelId, Lambda, Program, TopForm, VarId};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Variables, the innermost first.
pub type Env<'p> = Option<Rc<Node<'p>>>;

/// A variable and those outside.
pub struct Node<'p> {
    pub(super) var: VarId,
    pub(super) value: RefCell<Value<'p>>,
    pub(super) next: Env<'p>,
}

pub(super) enum Out<'p> {
    One(Value<'p>),
    Many(Vec<Value<'p>>),
    Tail(Value<'p>, Vec<Value<'p>>),
    Jump(LabelId, Vec<Value<'p>>),
}

pub(super) struct Machine<'p> {
    pub(super) program: &'p Program,
    pub(super) globals: RefCell<Vec<Option<Value<'p>>>>,
    pub(super) world: World<Procedure<'p>>,
    /// Values on their way to a continuation.
    pub(super) thrown: RefCell<Vec<Value<'p>>>,
    pub(super) captures: Cell<usize>,
    /// Calls of `values` under way.
    pub(super) depth: Cell<usize>,
    /// Present when a macro transformer runs, or a whole program with the library.
    pub(super) host: Option<Host<'p>>,
}

/// A value of the interpreter.
pub type Value<'p> = Val<Procedure<'p>>;

/// What values of the interpreter call.
pub enum Procedure<'p> {
    /// Code and the variables that it refers to.
    Closure(&'p Lambda, Env<'p>),
    /// By number.
    Continuation(usize),
    /// A procedure of a transformer's host, by number.
    Native(u32),
    /// A procedure of the machine, one of `cairn_layout::module::builtin`.
    Builtin(usize),
}

/// Procedures of the host.
pub trait Natives<'p> {
    /// Calls the procedure with this number: its value, or what is wrong.
    fn call(&self, number: u32, args: &[Value<'p>]) -> Result<Value<'p>, String>;
    /// Variables that are procedures of the host, which are called by these numbers.
    fn evaluating(&self) -> Vec<(GlobalId, u32)> {
        Vec::new()
    }
    /// The environment of import sets, as a number.
    fn environment(&self, _sets: &str) -> Result<u32, String> {
        Err("there are no environments".into())
    }
    /// Definitions, and the expression that a form is in an environment.
    fn expand(&'p self, _environment: u32, _form: &Value<'p>) -> Result<Vec<&'p [TopForm]>, String> {
        Err("there are no environments".into())
    }
    /// The text of a file, or why there is none.
    fn file(&self, _path: &str) -> Result<String, String> {
        Err("there are no files".into())
    }
    /// The datum that a text begins with, `None` at its end, and how many bytes were read.
    fn read(&self, _text: &str) -> Result<(Option<Value<'p>>, usize), String> {
        Err("there is no reader".into())
    }
    /// The name of a variable of what was evaluated, and whether nothing defines it.
    fn evaluated_name(&self, _variable: GlobalId) -> Option<(String, bool)> {
        None
    }
}

/// What a transformer needs beyond a program under test.
pub(super) struct Host<'p> {
    pub(super) definitions: RefCell<FxHashMap<GlobalId, &'p Expr>>,
    pub(super) natives: &'p dyn Natives<'p>,
    /// Exports of the library that was compiled beforehand, as variables.
    pub(super) exports: &'p FxHashMap<u32, GlobalId>,
    /// Values of variables from [`super::transform::LIBRARY_GLOBALS`] on.
    pub(super) values: RefCell<FxHashMap<GlobalId, Value<'p>>>,
    pub(super) symbols: Cell<u32>,
    /// Are claims that checks are not needed checked?
    pub(super) audits: bool,
    /// The condition that last said that a form is wrong, and what it says of it.
    pub(super) refusal: RefCell<Option<(Value<'p>, Value<'p>)>>,
}

impl<'p> Host<'p> {
    /// A host of programs that define what they need.
    pub(super) fn auditing(natives: &'p dyn Natives<'p>, exports: &'p FxHashMap<u32, GlobalId>) -> Host<'p> {
        let definitions = RefCell::default();
        let (values, refusal) = Default::default();
        Host { definitions, natives, exports, values, symbols: Cell::new(0), audits: true, refusal }
    }
}
