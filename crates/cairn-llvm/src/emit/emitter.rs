//! State while one function is emitted: its text, the module's tables, its variables.
//!
//! Every variable lives in an alloca. What concerns only the text is the [`Builder`]'s, to which an emitter
//! dereferences.

use super::brief::Brief;
use super::builder::{Builder, Footing, Label, ins, line};
use super::debug::Node;
use super::decoded::Doubles;
use super::heirs::GlobalsIn;
use super::ir_text::{Mem, Odds, Val};
use super::joined::Joined;
use super::part::Part;
use super::regs::{Call, Regs};
use super::tables::{Effort, Head, ModuleCx};
use cairn_core::ir::Shots;
use cairn_frame::ir::*;
use cairn_layout::code::Site;
use cairn_layout::machine::Machine;
use std::collections::HashMap;
use std::mem::offset_of;
use std::ops::{Deref, DerefMut};

/// How procedures are called and left, and continuations captured and entered. There are two ways: a procedure is split
/// at its calls, and frames are ours (`crate::activations::split`); or it is one function with frames of LLVM's
/// (`crate::activations::joined`).
pub(crate) trait Activations: Footing {
    /// A call that is not a tail call: where it returns, and what the frame keeps until then.
    fn call(&self, e: &mut Emitter<'_, '_>, call: Call, frame: &NewFrame, ret: FuncId);
    /// Returns one value to the frame at `sp`.
    fn return_one(&self, e: &mut Emitter<'_, '_>, sp: &Val, v: &Val);
    /// Returns several values, or none, to the frame at `sp`.
    fn return_many(&self, e: &mut Emitter<'_, '_>, sp: &Val, regs: &Regs);
    /// What a slot of the incoming frame holds.
    fn slot(&self, e: &mut Emitter<'_, '_>, slot: u32) -> Val;
    /// `sp` of the caller's frame, where the function's own has so many words.
    fn leave(&self, b: &mut Builder, words: u32) -> Val;
    /// `sp` of the caller's frame, where only the running code knows how many words the function's own has; 0: none.
    fn leave_counted(&self, b: &mut Builder, words: &Val) -> Val;
    /// Where a stack check looks for the room of a frame of so many words.
    fn place(&self, b: &mut Builder, words: u32) -> Val;
    /// An `i1`: is there no room at `place`, or is a stop requested?
    fn lacks_room(&self, b: &mut Builder, words: u32, place: &Val) -> Val;
    /// How many continuation objects a heap check has to cover before [`Activations::capture`].
    fn captured(&self) -> u64;
    /// Makes a continuation object of the frames at hand; sets `sp`.
    fn capture(&self, b: &mut Builder, shots: Shots) -> Val;
    /// Returns the values in `regs` to continuation `k`.
    fn return_to(&self, e: &mut Emitter<'_, '_>, k: &Val, regs: &Regs);
    /// Calls the procedure in `regs.clo`, without arguments, in continuation `k`, which is not used up.
    fn call_in(&self, e: &mut Emitter<'_, '_>, k: &Val, regs: &Regs);
    /// The functions that a module needs for all that: entry from C, return points.
    fn prelude(&'static self, cx: &mut ModuleCx<'_>) -> Vec<Part>;
    /// Procedures with their return points inside.
    fn joined(&self, _: &Module) -> HashMap<FuncId, Joined> {
        HashMap::new()
    }
    /// Is a function of the Frame IR one of LLVM's?
    fn is_function(&self, f: &Function) -> bool {
        f.in_use()
    }
    /// What LLVM spends on a function, where it would be this.
    fn effort(&self, effort: Effort) -> Effort {
        effort
    }
    /// Further attributes of functions.
    fn attributes(&self) -> &'static str {
        ""
    }
    /// Declarations and flags of the module.
    fn declarations(&self) -> &'static str {
        ""
    }
}

/// Variables that live after a statement whose slow path may collect, and its target.
pub(crate) type Poll = (Vec<Var>, Option<Var>);

/// State while one LLVM function is emitted.
pub(crate) struct Emitter<'c, 'm> {
    /// The text.
    builder: Builder,
    /// Tables of the module.
    pub cx: &'c mut ModuleCx<'m>,
    /// How procedures are called and left.
    pub activations: &'static dyn Activations,
    /// The Frame IR function, unless a prelude function is emitted.
    pub func: Option<(FuncId, &'m Function)>,
    /// Of the statement under way, if its slow path may collect.
    pub(super) poll: Option<Poll>,
    /// Nothing has happened in the function that must not happen twice ([`super::again`]).
    pub(super) fresh_start: bool,
    /// `i1`s that say whether a variable assigned in this block is a fixnum: a `phi` of constants for a sum, which jump
    /// threading turns into one test less on each path.
    pub(super) fixnum_flags: HashMap<Var, Val>,
    /// Variables that have one for their double, and those whose double is at hand ([`super::decoded`]).
    pub(super) twins: Doubles,
    pub(super) doubles: Doubles,
    /// The `i1` that says whether the result of the operation just emitted is a fixnum.
    pub(super) result_flag: Option<Val>,
    /// How short arithmetic is.
    pub(super) brief: Brief,
    /// Where the frame of the call that ends the block goes: the stack check has found room there.
    pub(crate) reserved: Option<Val>,
    /// Where the heap check under way allocates first.
    pub(super) allocation: Site,
    /// Where calls return inside of this function ([`super::joined`]).
    pub(crate) returns: HashMap<FuncId, (Results, BlockId)>,
    /// What the function's variables hold of globals, once somebody has asked.
    pub(super) globals_in: Option<GlobalsIn>,
    /// The procedure, in debug information.
    scope: Option<Node>,
}

impl Deref for Emitter<'_, '_> {
    type Target = Builder;
    fn deref(&self) -> &Builder {
        &self.builder
    }
}

impl DerefMut for Emitter<'_, '_> {
    fn deref_mut(&mut self) -> &mut Builder {
        &mut self.builder
    }
}

impl<'c, 'm> Emitter<'c, 'm> {
    /// A fresh function: allocas of the machine's registers and of the variables are in place.
    pub(crate) fn new(
        cx: &'c mut ModuleCx<'m>,
        activations: &'static dyn Activations,
        func: Option<(FuncId, &'m Function)>,
    ) -> Self {
        let mut builder = Builder::scheme(cx.collector, activations);
        for (i, v) in func.iter().flat_map(|(_, f)| f.vars.iter().enumerate()) {
            match v.rep {
                Rep::Tagged => line!(builder, "%v{i} = alloca i64"),
                Rep::Double => line!(builder, "%v{i} = alloca double"),
            }
        }
        Emitter {
            builder,
            cx,
            activations,
            func,
            poll: None,
            fresh_start: false,
            fixnum_flags: HashMap::new(),
            twins: Doubles::new(),
            doubles: Doubles::new(),
            result_flag: None,
            brief: Brief::Not,
            reserved: None,
            allocation: Site::NONE,
            returns: HashMap::new(),
            globals_in: None,
            scope: None,
        }
    }

    /// A function of the prelude.
    pub(crate) fn prelude_part(
        cx: &mut ModuleCx<'_>,
        activations: &'static dyn Activations,
        symbol: &'static str,
        head: &Head,
        body: &dyn Fn(&mut Emitter<'_, '_>),
    ) -> Part {
        let mut e = Emitter::new(cx, activations, None);
        body(&mut e);
        let body = e.finish();
        let mut text = String::new();
        cx.define(&mut text, symbol, head, Effort::Full, None, &body);
        Part { symbol, text }
    }

    /// What follows belongs to the procedure with this scope, if there is debug information.
    pub(super) fn enter_scope(&mut self, scope: Option<Node>) {
        self.scope = scope;
        if let (Some(scope), Some(debug)) = (scope, &mut self.cx.debug) {
            let node = debug.nowhere(scope);
            self.builder.set_location(node);
        }
    }

    /// What follows is done at this position, if it is one and there is debug information.
    pub(super) fn locate(&mut self, site: Site) {
        if let (Some(scope), Some(debug)) = (self.scope, &mut self.cx.debug)
            && let Some(node) = debug.location(site, scope)
        {
            self.builder.set_location(node);
        }
    }

    /// The finished body.
    pub(crate) fn finish(self) -> String {
        self.builder.finish()
    }

    /// Emits `body` into the cold part, starting at `label`.
    pub(crate) fn out_of_line<T>(&mut self, label: &Label, body: impl FnOnce(&mut Self) -> T) -> T {
        let interrupted = self.builder.interrupt(label);
        let t = body(self);
        self.builder.resume(interrupted);
        t
    }

    // ---- values

    /// Value of a tagged operand; a double is tagged (and boxed if need be).
    pub(crate) fn operand(&mut self, o: &Operand) -> Val {
        match o {
            Operand::Var(v) => match self.rep(*v) {
                Rep::Tagged => ins!(self, "load i64, ptr %v{}", v.0),
                Rep::Double => {
                    let d = ins!(self, "load double, ptr %v{}", v.0);
                    self.encode_double(&d)
                }
            },
            Operand::Const(l) => self.constant(l),
            Operand::Procedure(f) => self.cx.static_closure(*f),
        }
    }

    /// Values of operands.
    pub(crate) fn operands(&mut self, os: &[Operand]) -> Vec<Val> {
        os.iter().map(|o| self.operand(o)).collect()
    }

    /// The word of a constant.
    pub(crate) fn constant(&mut self, l: &cairn_core::ir::Literal) -> Val {
        match self.cx.literals.value(l) {
            super::literals::Lit::Symbol(i) => {
                let (m, p) = (Mem::Global.suffix(), self.static_word("@cairn_symbols", i));
                ins!(self, "load i64, ptr {p}{m}")
            }
            lit @ super::literals::Lit::Node(..) if self.cx.module.shared => {
                let statics = self.load_machine(offset_of!(Machine, statics));
                ins!(self, "add i64 {statics}, {}", lit.constant())
            }
            lit => lit.constant(),
        }
    }

    /// Address of word `i` of globals or symbol slots. Where code serves several runtimes, each has such words of its
    /// own, all of them as far from those in the object.
    pub(crate) fn static_word(&mut self, table: &str, i: usize) -> Val {
        let own = format!("getelementptr (i8, ptr {table}, i64 {})", 8 * i);
        if !self.cx.module.shared {
            return Val::text(own);
        }
        let statics = self.load_machine(offset_of!(Machine, statics));
        ins!(self, "getelementptr i8, ptr {own}, i64 {statics}")
    }

    /// Representation of a variable.
    pub(crate) fn rep(&self, v: Var) -> Rep {
        self.func.map_or(Rep::Tagged, |(_, f)| f.vars[v.0 as usize].rep)
    }

    /// What is known in this block about an operand being a fixnum.
    pub(crate) fn fixnum_flag(&self, o: &Operand) -> Option<Val> {
        match o {
            Operand::Var(v) => self.fixnum_flags.get(v).cloned(),
            _ => None,
        }
    }

    /// Records whether the operation's result is a fixnum.
    pub(crate) fn set_result_flag(&mut self, flag: Val) {
        self.result_flag = Some(flag);
    }

    // ---- returning

    /// Returns one value to the frame at `sp`.
    pub(crate) fn return_one(&mut self, sp: &Val, v: &Val) {
        self.activations.return_one(self, sp, v);
    }

    /// Returns several values, or none, to the frame at `sp`.
    pub(crate) fn return_many(&mut self, sp: &Val, regs: &Regs) {
        self.activations.return_many(self, sp, regs);
    }

    /// Returns as many values as `argc` says, which may be one.
    pub(crate) fn return_counted(&mut self, sp: &Val, regs: &Regs) {
        let one = ins!(self, "icmp eq i64 {}, 1", regs.argc);
        let (single, several) = (self.fresh(), self.fresh());
        self.branch(&one, &single, &several, Odds::Likely);
        self.start(&single);
        self.return_one(sp, &regs.a[0]);
        self.start(&several);
        self.return_many(sp, regs);
    }

    /// Words of the frame that the function finds at `sp`: 0 unless it is a return point.
    pub(crate) fn incoming_words(&self) -> u32 {
        match self.func.map(|(_, f)| &f.kind) {
            Some(FuncKind::Return { frame, .. }) => frame.words,
            _ => 0,
        }
    }

    /// The caller's frame.
    pub(crate) fn leave(&mut self) -> Val {
        let words = self.incoming_words();
        if words == 0 { self.sp() } else { self.activations.leave(self, words) }
    }
}
