//! The Frame IR: what an activation looks like.
//!
//! Every Scheme procedure has been split at its non-tail calls. The pieces are [`Function`]s; each becomes one
//! LLVM function with the uniform prototype of `cairn_layout::machine`. Inside a function, control flow is a
//! graph of [`Block`]s over mutable variables (the LLVM back end lets LLVM build SSA form).
//!
//! ```text
//!  procedure f ──split──▶  f        Entry    argument count, clause selection, rest lists; jumps to a Body
//!                          f.0      Body     parameters in registers; up to its first non-tail calls
//!                          f.0.r3   Return   entered by returning into a frame; loads its slots
//!                          f.0.b7   Body     a block that several pieces jump to (loop header, join point)
//! ```
//!
//! Frames. A call that is not a tail call stores its live variables into a frame and names the return point.
//! A frame has `words` words: the header (`StrategyFacts::header_words`) and slots. Slot `s` is
//! * under strategies with frames on a stack: the word at `sp + 8 * (words - 1 - s)`: slot 0 is the oldest, so a frame
//!   can grow or shrink in place while its slots stay where they are; the caller's frame starts at `sp + 8 * words`;
//! * under strategies with frames in the heap: word `header_words + s` of the record; word 1 is the caller's frame.
//!
//! Invariants (checked by [`crate::verify`]):
//! * a variable is assigned before it is used, along every path from its function's entry;
//! * every allocating operation is covered by a preceding `HeapCheck` in the same block with enough bytes (runtime
//!   calls in between leave room for `CHECK_LIMIT` bytes); a closure is patched before the next check;
//! * `live` lists of safepoints name every tagged variable used later; unboxed doubles are in no such list, never
//!   parameters; `Free` operations occur only where the closure variable is live;
//! * only `Return` functions use `Slot`, and only slots their frame declares live;
//! * a call that makes the stack grow has a `StackCheck` before it ([`Module::stack_growth`]);
//! * control that never ends never ceases to pass statements that stop ([`Stmt::stops`]): [`crate::safepoints`] says
//!   what that means for blocks and functions.

use cairn_core::inlined::InlineTable;
use cairn_core::ir::{GlobalId, ImportFrom, Literal, Shots, SourceFile};
use cairn_core::prim::{Kind, PrimOp};
use cairn_layout::c::{Shape, direct};
use cairn_layout::calls::RtIndex;
use cairn_layout::code::Site;
use cairn_layout::facts::StrategyFacts;
use cairn_layout::limits::RED_ZONE;
use cairn_layout::object::{PAIR_BYTES, headed_bytes};
use cairn_num::{Int, Number};
use std::rc::Rc;

/// A variable of one function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// A function of the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct FuncId(pub u32);

/// A block of one function; block 0 is its entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// How a variable's word is represented.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Rep {
    /// A value word.
    Tagged,
    /// An unboxed double; never live across a call or in a frame.
    Double,
}

/// A variable's facts.
#[derive(Clone, Debug)]
pub struct VarInfo {
    /// Name in the source, for people.
    pub name: Rc<str>,
    /// Representation.
    pub rep: Rep,
}

/// A module: a whole program.
#[derive(Clone, Debug)]
pub struct Module {
    /// The strategy it was made for.
    pub strategy: &'static StrategyFacts,
    /// All functions, indexed by [`FuncId`].
    pub functions: Vec<Function>,
    /// Global variables, indexed by `GlobalId`.
    pub globals: Vec<Global>,
    /// The program: an `Entry` function of no arguments and no free variables.
    pub main: FuncId,
    /// Sources, indexed by `Site::file`.
    pub sources: Vec<SourceFile>,
    /// Names that errors give, indexed by `Site::who`.
    pub procedures: Vec<Rc<str>>,
    /// Positions in inlined bodies, indexed by `Site::row`.
    pub inlined: InlineTable,
    /// Its code serves several runtimes in one process (`cairn_layout::module::ModuleTable::shared`).
    pub shared: bool,
}

/// A global variable.
#[derive(Clone, Debug)]
pub struct Global {
    /// Name.
    pub name: Rc<str>,
    /// What it holds from the start: the static closure of an `Entry` function without free variables. Others are
    /// unbound until their definition has run.
    pub procedure: Option<FuncId>,
    /// No form defines it: only messages ask.
    pub undefined: bool,
    /// Another module's: filled when the module is loaded.
    pub import: Option<ImportFrom>,
}

/// A piece of code: one LLVM function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Unique name for people and for the symbol.
    pub name: Rc<str>,
    /// Name of the procedure it belongs to, for backtraces.
    pub procedure: Rc<str>,
    /// Comes from lib/: hidden in backtraces.
    pub library: bool,
    /// Part of a procedure so large that LLVM translates it without optimizing; see `split/cuts.rs`.
    pub vast: bool,
    /// What kind of entry it has.
    pub kind: FuncKind,
    /// Variables, indexed by [`Var`].
    pub vars: Vec<VarInfo>,
    /// Blocks, indexed by [`BlockId`]; empty for `Entry`.
    pub blocks: Vec<Block>,
}

impl Function {
    /// Can anything reach it? An entry that nothing mentions has no clauses; it keeps its id, but no code is made for
    /// it.
    pub fn in_use(&self) -> bool {
        !matches!(&self.kind, FuncKind::Entry { clauses, .. } if clauses.is_empty())
    }

    /// Words of the frame that it finds at `sp`: 0 unless it is a return point.
    pub fn incoming_words(&self) -> u32 {
        match &self.kind {
            FuncKind::Return { frame, .. } => frame.words,
            _ => 0,
        }
    }

    /// Is the variable a value word?
    pub fn is_tagged(&self, v: Var) -> bool {
        self.vars[v.0 as usize].rep == Rep::Tagged
    }

    /// The variable that holds the closure, in bodies that need one.
    pub fn closure(&self) -> Option<Var> {
        match &self.kind {
            FuncKind::Body { closure, .. } => *closure,
            _ => None,
        }
    }
}

/// How a function is entered.
#[derive(Clone, Debug)]
pub enum FuncKind {
    /// Entered through a closure with any number of arguments.
    Entry {
        /// Words of its closures: code word and free variables.
        closure_words: u32,
        /// Clauses in order; the first that accepts the count is taken.
        clauses: Vec<EntryClause>,
        /// Where the procedure was written.
        site: Site,
    },
    /// Entered by known calls and jumps.
    Body {
        /// Parameters: `machine.rs` says in which registers.
        params: Vec<Var>,
        /// Receives the closure when the body needs it.
        closure: Option<Var>,
    },
    /// Entered by returning into a frame.
    Return {
        /// The frame it finds at `sp`.
        frame: Frame,
        /// Where the values go.
        results: Results,
        /// Site of the call it returns from.
        site: Site,
    },
}

/// A clause of an `Entry` function.
#[derive(Clone, Debug)]
pub struct EntryClause {
    /// Number of required parameters.
    pub required: u32,
    /// Further arguments go to a rest list, passed as one more parameter.
    pub rest: bool,
    /// All arguments go to one list: there are too many to pass them.
    pub listed: bool,
    /// The body: a `Body` function with [`EntryClause::params`] parameters.
    pub body: FuncId,
}

impl EntryClause {
    /// Arguments that its body receives one by one.
    pub fn spread(&self) -> u32 {
        if self.listed { 0 } else { self.required }
    }
    /// Does the body receive a list after those?
    pub fn has_list(&self) -> bool {
        self.listed || self.rest
    }
    /// Parameters of its body.
    pub fn params(&self) -> u32 {
        self.spread() + self.has_list() as u32
    }
}

/// What a return point does with the values it receives.
#[derive(Clone, Debug)]
pub enum Results {
    /// One value (of several, the first).
    Single(Var),
    /// Several values: one for each parameter, and a list of the others.
    Multi {
        /// Required values.
        params: Vec<Var>,
        /// List of further values.
        rest: Option<Var>,
        /// Where another count of values is reported; with a name, as a wrong count of arguments.
        site: Site,
    },
}

/// Shape of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Words, header included.
    pub words: u32,
    /// Slots that hold live values, ascending.
    pub live: Vec<u32>,
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Statements.
    pub stmts: Vec<Stmt>,
    /// Terminator.
    pub term: Term,
}

/// A use of a value.
#[derive(Clone, Debug)]
pub enum Operand {
    /// Variable.
    Var(Var),
    /// Constant.
    Const(Literal),
    /// Static closure of an `Entry` function without free variables.
    Procedure(FuncId),
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// Assigns the operation's result.
    Assign(Var, Op),
    /// Performs the operation, ignoring its result.
    Effect(Op),
    /// Makes sure that `bytes` bytes can be taken from the nursery, collecting if not. With 0 bytes, a poll: collects
    /// if allocation inside the runtime has made a collection due, and leaves what earlier checks promised; right after
    /// an operation that [`Prim::boxes_its_result`] in a tagged variable the poll belongs to that operation's slow
    /// path.
    HeapCheck {
        /// Bytes needed by the allocations up to the next check, call or end of block.
        bytes: u32,
        /// Tagged variables that are used afterwards.
        live: Vec<Var>,
    },
    /// Makes sure that the stack can grow by this many words below the incoming frame, moving that frame to another
    /// place if not; serves a stop if one is requested. The last safepoint of a block whose call makes a frame.
    StackCheck {
        /// Words of the new frame less those of the incoming one.
        words: u32,
        /// Tagged variables that are used afterwards.
        live: Vec<Var>,
    },
    /// Serves a stop (a signal, a thread switch) if one is requested: on cycles that have no other safepoint.
    StopCheck {
        /// Tagged variables that are used afterwards.
        live: Vec<Var>,
    },
}

impl Stmt {
    /// The tagged variables that survive this statement, if the collector may run at it.
    pub fn safepoint_live(&self) -> Option<&[Var]> {
        match self {
            Stmt::HeapCheck { live, .. } | Stmt::StackCheck { live, .. } | Stmt::StopCheck { live } => Some(live),
            Stmt::Assign(..) | Stmt::Effect(_) => None,
        }
    }

    /// Does control that passes this statement again and again get to the runtime soon after a stop is requested? A
    /// heap check does: what it promises is taken, so a block of the nursery later it finds none left. A check of 0
    /// bytes may never.
    pub fn stops(&self) -> bool {
        match self {
            Stmt::HeapCheck { bytes, .. } => *bytes > 0,
            Stmt::StackCheck { .. } | Stmt::StopCheck { .. } => true,
            Stmt::Assign(..) | Stmt::Effect(_) => false,
        }
    }
}

/// An operation.
#[derive(Clone, Debug)]
pub enum Op {
    /// The operand.
    Copy(Operand),
    /// A primitive.
    Prim(Prim),
    /// Contents of a global that is certainly defined.
    Global(GlobalId),
    /// Contents of a global; raises when unbound.
    GlobalChecked(GlobalId, Site),
    /// Stores into a global (definition, or assignment of a certainly defined one).
    SetGlobal(GlobalId, Operand),
    /// Assigns a global; raises when unbound.
    SetGlobalChecked(GlobalId, Operand, Site),
    /// Free variable `i` of the function's closure: word `1 + i`.
    Free(u32),
    /// Slot of the incoming frame.
    Slot(u32),
    /// A fresh closure of an `Entry` function.
    Closure {
        /// The code.
        entry: FuncId,
        /// Values of its free variables.
        free: Vec<Operand>,
    },
    /// Fills word `1 + index` of a closure allocated since the last heap check (mutual recursion).
    ClosurePatch {
        /// The closure.
        closure: Var,
        /// Free-variable index.
        index: u32,
        /// The value.
        value: Operand,
    },
}

/// A primitive with its operands.
#[derive(Clone, Debug)]
pub struct Prim {
    /// The operation.
    pub op: PrimOp,
    /// Operands.
    pub args: Vec<Operand>,
    /// Position for errors.
    pub site: Site,
    /// Bit `i`: the check of operand `i` is unnecessary.
    pub proven: u8,
}

impl Prim {
    /// Is the result always a flonum?
    pub fn makes_flonum(&self) -> bool {
        match self.op {
            PrimOp::Op(op) => op.info().result == Kind::Flonum,
            PrimOp::CCall => self.c_signature().is_some_and(|s| direct::result(s).is_floating()),
            _ => false,
        }
    }

    /// Must operand `i` be a flonum?
    pub fn takes_flonum(&self, i: usize) -> bool {
        match self.op {
            // signature, address and number of an inlined function come first
            PrimOp::CCall => {
                i >= 3 && self.c_signature().is_some_and(|s| direct::argument(s, i - 3).is_floating())
            }
            op => op.arg_kind(i) == Kind::Flonum,
        }
    }

    /// Words of the structure that a call of C returns, if it returns one.
    pub fn c_struct_words(&self) -> Option<usize> {
        if self.op != PrimOp::CCall || direct::result(self.c_signature()?) != direct::STRUCT {
            return None;
        }
        match self.args.get(3) {
            Some(Operand::Const(Literal::Number(Number::Int(Int::Fix(shape))))) => Some(Shape::of(*shape).words()),
            _ => panic!("the shape of a structure is a literal"),
        }
    }

    fn c_signature(&self) -> Option<i64> {
        match self.args.first() {
            Some(Operand::Const(Literal::Number(Number::Int(Int::Fix(code))))) => Some(*code),
            _ => None,
        }
    }

    /// Generic or flonum arithmetic: unless the result stays unboxed, a slow path may allocate it, and nothing else
    /// allocates.
    pub fn boxes_its_result(&self) -> bool {
        use cairn_core::prim::Op as P;
        let PrimOp::Op(o) = self.op else { return false };
        let generic = matches!(
            o,
            P::Add
                | P::Sub
                | P::Mul
                | P::Div
                | P::Quotient
                | P::Remainder
                | P::Modulo
                | P::FloorQuotient
                | P::Sqrt
                | P::Inexact
        );
        generic || o.info().result == Kind::Flonum
    }
}

/// A condition.
#[derive(Clone, Debug)]
pub enum Test {
    /// Anything but `#f`.
    Truthy(Operand),
    /// A primitive whose result kind is `Boolean`.
    Prim(Prim),
}

/// What is called.
#[derive(Clone, Debug)]
pub enum Callee {
    /// Any value; checked to be a procedure.
    Unknown(Operand),
    /// A `Body` function, with its closure if it needs one. Argument count fits.
    Known(FuncId, Option<Operand>),
    /// `apply`: the last argument is a list, spread by the runtime.
    Apply(Operand),
    /// `call/cc`: captures the continuation after the frame is pushed (or left, for a tail call) and passes it
    /// as the only argument. No other arguments.
    CallCc(Shots, Operand),
}

/// A frame to be made by a call.
#[derive(Clone, Debug)]
pub struct NewFrame {
    /// Its shape; equal to the return point's.
    pub frame: Frame,
    /// What to store; slots that already hold the right value (the frame is reused) are left out.
    pub stores: Vec<(u32, Operand)>,
}

/// A terminator.
#[derive(Clone, Debug)]
pub enum Term {
    /// Unconditional.
    Goto(BlockId),
    /// Conditional.
    Branch {
        /// Condition.
        test: Test,
        /// When it holds.
        then: BlockId,
        /// When not.
        els: BlockId,
    },
    /// Returns one value to the caller's frame. (A function entered by `Return` leaves its own frame first.)
    Return(Operand),
    /// Returns any other number of values.
    ReturnMulti(Vec<Operand>),
    /// Call in tail position, or jump to another piece of the same procedure.
    TailCall {
        /// Callee.
        callee: Callee,
        /// Arguments.
        args: Vec<Operand>,
        /// Position for errors.
        site: Site,
    },
    /// Call that returns to `ret`.
    Call {
        /// Callee.
        callee: Callee,
        /// Arguments.
        args: Vec<Operand>,
        /// Position for errors.
        site: Site,
        /// Frame to make. Under strategies that reuse frames, it takes the place of the incoming frame.
        frame: NewFrame,
        /// Return point: a `Return` function.
        ret: FuncId,
    },
}

impl Op {
    /// Bytes that this operation takes from the nursery inline; covered by a heap check.
    pub fn alloc_bytes(&self) -> u32 {
        use cairn_core::prim::Op as P;
        let object = |n: usize| headed_bytes(n) as u32;
        match self {
            Op::Prim(p) => match p.op {
                PrimOp::Op(P::Cons) => PAIR_BYTES as u32,
                PrimOp::Op(P::MakeBox | P::MakePromise) => object(1),
                PrimOp::Op(P::FlRectangular | P::C64VectorRef | P::C128VectorRef) => object(2),
                PrimOp::Vector | PrimOp::Opaque => object(p.args.len()),
                PrimOp::Record => object(p.args.len() - 1),
                PrimOp::Op(P::RawRecord | P::CompactRecord) => object(p.raw_words()),
                PrimOp::CCall => p.c_struct_words().map_or(0, object),
                _ => 0,
            },
            Op::Closure { free, .. } => object(free.len()),
            _ => 0,
        }
    }
}

impl Prim {
    /// How many words the record has that `raw-record` makes.
    pub fn raw_words(&self) -> usize {
        match &self.args[1] {
            Operand::Const(Literal::Number(Number::Int(Int::Fix(n)))) => *n as usize,
            _ => panic!("the length of a raw record is a literal"),
        }
    }
}

impl Module {
    /// Does it make this runtime call?
    pub fn calls(&self, call: RtIndex) -> bool {
        let is_it = |op: &Op| matches!(op, Op::Prim(p) if p.op == PrimOp::Rt(call));
        let mut statements = self.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.stmts);
        statements.any(|s| matches!(s, Stmt::Assign(_, op) | Stmt::Effect(op) if is_it(op)))
    }

    /// Words by which a frame that `f` makes exceeds what is certainly there, if the stack must be checked for them: a
    /// frame that takes the place of the incoming one may grow into the red zone unasked.
    pub fn stack_growth(&self, f: &Function, frame: &Frame) -> Option<u32> {
        if !self.strategy.reuse {
            return self.strategy.limit_check.then_some(frame.words);
        }
        let incoming = f.incoming_words();
        let grows = self.strategy.limit_check && frame.words > incoming;
        (grows && (incoming == 0 || 8 * u64::from(frame.words) > RED_ZONE)).then(|| frame.words - incoming)
    }

    /// The function.
    pub fn function(&self, f: FuncId) -> &Function {
        &self.functions[f.0 as usize]
    }
}
