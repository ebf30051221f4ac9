//! One function: the emitter's state, basic instructions, and the walk over blocks.
//!
//! Text goes to `out`; slow paths go to `cold`, which follows at the end, so the text reads like the fast path.
//! `lo`, `hi`, `sp` and every variable live in allocas; `sp` only changes when a heap check moves heap frames.

use super::module::ModuleCx;
use super::prims::Value;
use super::regs::Regs;
use super::text::{Mem, Odds, Val};
use cairn_core::prim::Kind;
use cairn_frame::ir::*;
use cairn_layout::code::Site;
use cairn_layout::machine::{Machine, slot, slot_offset};
use cairn_layout::object::continuation;
use cairn_layout::value::{TAG_OBJECT, TAG_PAIR, TAG_PROCEDURE, Value as Word};
use std::collections::HashMap;
use std::fmt::{Arguments, Write};
use std::mem::offset_of;
use std::rc::Rc;

/// Emits an instruction with a result; `ins!(e, "add i64 {}, 1", v)`.
macro_rules! ins {
    ($e:expr, $($t:tt)*) => { $e.instruction(format_args!($($t)*)) };
}
/// Emits a line without a result.
macro_rules! line {
    ($e:expr, $($t:tt)*) => { $e.line(format_args!($($t)*)) };
}
pub(crate) use {ins, line};

/// What a collection at a poll leaves at least: as much as an earlier heap check of the block may have promised.
const POLL_BYTES: u32 = cairn_layout::machine::CHECK_RESERVE as u32;

/// A label inside a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label(pub Rc<str>);

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// State while one LLVM function is emitted.
pub(crate) struct Emitter<'c, 'm> {
    /// Tables of the module.
    pub cx: &'c mut ModuleCx<'m>,
    /// The Frame IR function, unless a prelude function is emitted.
    pub func: Option<(FuncId, &'m Function)>,
    out: String,
    cold: String,
    next: u32,
    here: Label,
    /// Live variables after the statement under way and its target, if its slow path may collect.
    poll: Option<(Vec<Var>, Option<Var>)>,
    /// `i1`s that say whether a variable assigned in this block is a fixnum: a `phi` of constants for a sum, which jump threading
    /// turns into one test less on each path.
    fixnum_flags: HashMap<Var, Val>,
    /// The same for the result of the operation just emitted.
    result_flag: Option<Val>,
}

/// The frame a function finds at `sp`, in words: 0 unless it is a return point.
pub(crate) fn incoming_words(func: &Function) -> u32 {
    match &func.kind {
        FuncKind::Return { frame, .. } => frame.words,
        _ => 0,
    }
}

impl<'c, 'm> Emitter<'c, 'm> {
    /// A fresh function: allocas of the machine state are in place.
    pub(crate) fn new(cx: &'c mut ModuleCx<'m>, func: Option<(FuncId, &'m Function)>) -> Self {
        let mut e = Emitter { func, ..Emitter::prelude_c(cx) };
        for r in ["sp", "lo", "hi"] {
            line!(e, "%{r}.v = alloca i64");
            line!(e, "store i64 %{r}, ptr %{r}.v");
        }
        if let Some((_, f)) = func {
            for (i, v) in f.vars.iter().enumerate() {
                match v.rep {
                    Rep::Tagged => line!(e, "%v{i} = alloca i64"),
                    Rep::Double => line!(e, "%v{i} = alloca double"),
                }
            }
        }
        e
    }

    /// The finished body.
    pub(crate) fn finish(self) -> String {
        let Emitter { mut out, cold, .. } = self;
        out.push_str(&cold);
        out
    }

    // ---- instructions

    /// Emits `%tN = …`.
    pub(crate) fn instruction(&mut self, text: Arguments<'_>) -> Val {
        let n = self.next;
        self.next += 1;
        let _ = writeln!(self.out, "  %t{n} = {text}");
        Val::Temp(n)
    }

    /// Emits an instruction without a result.
    pub(crate) fn line(&mut self, text: Arguments<'_>) {
        let _ = writeln!(self.out, "  {text}");
    }

    /// A fresh label.
    pub(crate) fn fresh(&mut self) -> Label {
        let n = self.next;
        self.next += 1;
        Label(format!("l{n}").into())
    }

    /// Starts a block.
    pub(crate) fn start(&mut self, label: &Label) {
        let _ = writeln!(self.out, "{label}:");
        self.here = label.clone();
    }

    /// The block being emitted.
    pub(crate) fn here(&self) -> Label {
        self.here.clone()
    }

    /// Emits `body` into the cold part, starting at `label`.
    pub(crate) fn out_of_line<T>(&mut self, label: &Label, body: impl FnOnce(&mut Self) -> T) -> T {
        let hot = std::mem::take(&mut self.out);
        let here = self.here();
        self.start(label);
        let t = body(self);
        let text = std::mem::replace(&mut self.out, hot);
        self.here = here;
        // nested slow paths come after the one that leads to them
        let nested = std::mem::take(&mut self.cold);
        self.cold = nested + &text;
        t
    }

    /// Unconditional branch.
    pub(crate) fn goto(&mut self, to: &Label) {
        line!(self, "br label %{to}");
    }

    /// Conditional branch.
    pub(crate) fn branch(&mut self, cond: &Val, then: &Label, els: &Label, odds: Odds) {
        let o = odds.suffix();
        line!(self, "br i1 {cond}, label %{then}, label %{els}{o}");
    }

    /// Goes on only if `cond` (an `i1`) holds; else to `fail`.
    pub(crate) fn guard(&mut self, cond: &Val, fail: &Label) {
        let ok = self.fresh();
        self.branch(cond, &ok, fail, Odds::Likely);
        self.start(&ok);
    }

    /// Joins several paths.
    pub(crate) fn phi(&mut self, ty: &str, paths: &[(Val, Label)]) -> Val {
        if let [(v, _)] = paths {
            return v.clone();
        }
        let mut s = String::new();
        for (i, (v, l)) in paths.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let _ = write!(s, "{comma}[ {v}, %{l} ]");
        }
        ins!(self, "phi {ty} {s}")
    }

    // ---- memory

    /// Pointer to `base + offset` where `base` is a word.
    pub(crate) fn address(&mut self, base: &Val, offset: i64) -> Val {
        let p = ins!(self, "inttoptr i64 {base} to ptr");
        if offset == 0 { p } else { ins!(self, "getelementptr i8, ptr {p}, i64 {offset}") }
    }

    /// Loads the word at `base + offset`, `base` a word.
    pub(crate) fn load_word(&mut self, base: &Val, offset: i64, mem: Mem) -> Val {
        let p = self.address(base, offset);
        let m = mem.suffix();
        ins!(self, "load i64, ptr {p}{m}")
    }

    /// Stores the word at `base + offset`, `base` a word.
    pub(crate) fn store_word(&mut self, base: &Val, offset: i64, v: &Val, mem: Mem) {
        let p = self.address(base, offset);
        let m = mem.suffix();
        line!(self, "store i64 {v}, ptr {p}{m}");
    }

    /// Loads the word at pointer `p + offset`.
    pub(crate) fn load_at(&mut self, p: &Val, offset: i64, mem: Mem) -> Val {
        let q = ins!(self, "getelementptr i8, ptr {p}, i64 {offset}");
        let m = mem.suffix();
        ins!(self, "load i64, ptr {q}{m}")
    }

    /// Stores the word at pointer `p + offset`.
    pub(crate) fn store_at(&mut self, p: &Val, offset: i64, v: &Val, mem: Mem) {
        let q = ins!(self, "getelementptr i8, ptr {p}, i64 {offset}");
        let m = mem.suffix();
        line!(self, "store i64 {v}, ptr {q}{m}");
    }

    /// Loads a word of the machine context.
    pub(crate) fn load_machine(&mut self, offset: usize) -> Val {
        self.load_at(&Val::text("%ctx"), offset as i64, Mem::Machine)
    }

    /// Stores a word of the machine context.
    pub(crate) fn store_machine(&mut self, offset: usize, v: &Val) {
        self.store_at(&Val::text("%ctx"), offset as i64, v, Mem::Machine);
    }

    /// Base of the argument area; the runtime may move it.
    pub(crate) fn args_base(&mut self) -> Val {
        let q = ins!(self, "getelementptr i8, ptr %ctx, i64 {}", offset_of!(Machine, args));
        ins!(self, "load ptr, ptr {q}{}", Mem::Machine.suffix())
    }

    /// A pointer in the machine context that never changes while compiled code runs.
    pub(crate) fn machine_constant(&mut self, offset: usize) -> Val {
        let q = ins!(self, "getelementptr i8, ptr %ctx, i64 {offset}");
        ins!(self, "load ptr, ptr {q}, !invariant.load !3")
    }

    /// A code pointer from the word at `base + offset`.
    pub(crate) fn load_code(&mut self, base: &Val, offset: i64, mem: Mem) -> Val {
        let p = self.address(base, offset);
        let m = mem.suffix();
        ins!(self, "load ptr, ptr {p}{m}")
    }

    // ---- machine state

    /// Current frame.
    pub(crate) fn sp(&mut self) -> Val {
        ins!(self, "load i64, ptr %sp.v")
    }
    /// Start of the free part of the nursery.
    pub(crate) fn lo(&mut self) -> Val {
        ins!(self, "load i64, ptr %lo.v")
    }
    /// End of the free part of the nursery.
    pub(crate) fn hi(&mut self) -> Val {
        ins!(self, "load i64, ptr %hi.v")
    }
    /// Sets `sp`.
    pub(crate) fn set_sp(&mut self, v: &Val) {
        line!(self, "store i64 {v}, ptr %sp.v");
    }
    /// Sets `lo`.
    pub(crate) fn set_lo(&mut self, v: &Val) {
        line!(self, "store i64 {v}, ptr %lo.v");
    }
    /// Sets `hi`.
    pub(crate) fn set_hi(&mut self, v: &Val) {
        line!(self, "store i64 {v}, ptr %hi.v");
    }

    /// Leaves for `target` (a function or a pointer).
    pub(crate) fn jump(&mut self, target: &Val, sp: &Val, regs: &Regs) {
        let (lo, hi) = (self.lo(), self.hi());
        let Regs { argc, clo, a: [a0, a1, a2, a3, a4] } = regs;
        line!(
            self,
            "musttail call preserve_nonecc void {target}(ptr %ctx, i64 {sp}, i64 {lo}, i64 {hi}, i64 {argc}, \
             i64 {clo}, i64 {a0}, i64 {a1}, i64 {a2}, i64 {a3}, i64 {a4})"
        );
        line!(self, "ret void");
    }

    /// Leaves for the procedure `clo` (known to be one).
    pub(crate) fn jump_closure(&mut self, clo: &Val, sp: &Val, regs: &Regs) {
        let code = self.load_code(clo, -(TAG_PROCEDURE as i64), Mem::Closure);
        self.jump(&code, sp, regs);
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
                let m = Mem::Global.suffix();
                ins!(self, "load i64, ptr getelementptr (i8, ptr @cairn_symbols, i64 {}){m}", 8 * i)
            }
            lit => lit.constant(),
        }
    }

    /// Representation of a variable.
    pub(crate) fn rep(&self, v: Var) -> Rep {
        self.func.map_or(Rep::Tagged, |(_, f)| f.vars[v.0 as usize].rep)
    }

    /// Assigns a variable, converting between representations.
    pub(crate) fn assign(&mut self, v: Var, value: Value) {
        match self.rep(v) {
            Rep::Tagged => {
                let w = match value {
                    Value::Double(d) => self.encode_result(&d),
                    other => self.tagged(other),
                };
                line!(self, "store i64 {w}, ptr %v{}", v.0);
            }
            Rep::Double => {
                let d = match value {
                    Value::Double(d) => d,
                    other => {
                        let w = self.tagged(other);
                        self.decode_flonum(&w, None)
                    }
                };
                line!(self, "store double {d}, ptr %v{}", v.0);
            }
        }
    }

    /// `#t` or `#f` from an `i1`.
    pub(crate) fn boolean(&mut self, bit: &Val) -> Val {
        ins!(self, "select i1 {bit}, i64 {}, i64 {}", Word::TRUE.0, Word::FALSE.0)
    }

    /// An `i1`: are the tag bits of `v` equal to `tag`?
    pub(crate) fn has_tag(&mut self, v: &Val, tag: u64) -> Val {
        // `lea` and `test` are shorter than `mov`, `and`, `cmp`
        let d = if tag == 0 { v.clone() } else { ins!(self, "sub i64 {v}, {tag}") };
        let t = ins!(self, "and i64 {d}, 7");
        ins!(self, "icmp eq i64 {t}, 0")
    }

    // ---- the walk

    /// Emits all blocks; block 0 first.
    pub(crate) fn blocks(&mut self, func: &'m Function) {
        self.goto(&block_label(BlockId(0)));
        for (i, b) in func.blocks.iter().enumerate() {
            self.start(&block_label(BlockId(i as u32)));
            self.fixnum_flags.clear();
            let mut stmts = b.stmts.iter().peekable();
            while let Some(s) = stmts.next() {
                // A poll right after an operation with a slow path belongs into that path.
                if let (Some(target), Some(Stmt::HeapCheck { bytes: 0, live })) =
                    (self.polled_target(s), stmts.peek())
                {
                    self.poll = Some((live.clone(), target));
                    stmts.next();
                }
                self.stmt(s);
                self.poll = None;
            }
            self.terminator(&b.term);
        }
    }

    /// The target of a statement that allocates in the runtime on a slow path only.
    fn polled_target(&self, s: &Stmt) -> Option<Option<Var>> {
        match s {
            Stmt::Assign(v, Op::Prim(p)) if p.boxes_its_result() && self.rep(*v) == Rep::Tagged => Some(Some(*v)),
            Stmt::Effect(Op::Prim(p)) if p.boxes_its_result() => Some(None),
            _ => None,
        }
    }

    fn stmt(&mut self, s: &'m Stmt) {
        match s {
            Stmt::Assign(v, op) => {
                self.result_flag = None;
                let value = self.op(op);
                self.assign(*v, value);
                let flag = match op {
                    Op::Copy(o) => self.fixnum_flag(o),
                    Op::Prim(p) => match p.op.result() {
                        Kind::Fixnum => Some(Val::text("true")),
                        Kind::Flonum => Some(Val::text("false")),
                        _ => self.result_flag.take(),
                    },
                    _ => None,
                };
                match flag {
                    Some(f) => self.fixnum_flags.insert(*v, f),
                    None => self.fixnum_flags.remove(v),
                };
            }
            Stmt::Effect(op) => {
                self.op(op);
            }
            Stmt::HeapCheck { bytes, live } => self.heap_check(*bytes, live),
        }
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

    /// Bytes 0 asks for a poll: a collection when the runtime wants one, which it shows by leaving little room.
    fn heap_check(&mut self, bytes: u32, live: &[Var]) {
        let short = if bytes == 0 { self.collection_wanted() } else { self.room_below(bytes as i64) };
        let (cold, go) = (self.fresh(), self.fresh());
        self.branch(&short, &cold, &go, Odds::Unlikely);
        self.out_of_line(&cold, |e| {
            e.collect(if bytes == 0 { POLL_BYTES } else { bytes.max(16) }, live, None);
            e.goto(&go);
        });
        self.start(&go);
    }

    /// An `i1`: is there less room than this many bytes?
    pub(crate) fn room_below(&mut self, bytes: i64) -> Val {
        let (hi, lo) = (self.hi(), self.lo());
        let room = ins!(self, "sub i64 {hi}, {lo}");
        ins!(self, "icmp ult i64 {room}, {bytes}")
    }

    fn collection_wanted(&mut self) -> Val {
        self.room_below(cairn_layout::machine::CHECK_RESERVE as i64 + 16)
    }

    /// Calls the collector. `extra` is one more value that lives on; its new word is returned.
    pub(crate) fn collect(&mut self, bytes: u32, live: &[Var], extra: Option<&Val>) -> Option<Val> {
        let live: Vec<Var> = live.iter().copied().filter(|v| self.rep(*v) == Rep::Tagged).collect();
        let spill = |i: usize| offset_of!(Machine, spill) + 8 * i;
        for (i, v) in live.iter().enumerate() {
            let w = ins!(self, "load i64, ptr %v{}", v.0);
            self.store_machine(spill(i), &w);
        }
        let mut count = live.len();
        let at_extra = count;
        if let Some(w) = extra {
            self.store_machine(spill(count), w);
            count += 1;
        }
        let at_sp = count;
        let moves_sp = self.cx.strategy.frame_is_value();
        if moves_sp {
            let sp = self.sp();
            self.store_machine(spill(count), &sp);
            count += 1;
        }
        self.store_machine(offset_of!(Machine, spilled), &Val::Int(count as i64));
        let sp = self.sp();
        self.cold_call("cairn_machine_collect", &sp, &[Val::word(Word::fixnum(bytes as i64).0)]);
        for (i, v) in live.iter().enumerate() {
            let w = self.load_machine(spill(i));
            line!(self, "store i64 {w}, ptr %v{}", v.0);
        }
        if moves_sp {
            let w = self.load_machine(spill(at_sp));
            self.set_sp(&w);
        }
        extra.map(|_| self.load_machine(spill(at_extra)))
    }

    /// To be called on a slow path with the statement's result in hand, when nothing else of the statement is outstanding: collects
    /// if the runtime wants it and the frame pass allows it here.
    pub(crate) fn poll(&mut self, result: &Val) -> Val {
        let Some((live, target)) = self.poll.clone() else { return result.clone() };
        let live: Vec<Var> = live.into_iter().filter(|v| Some(*v) != target).collect();
        let wanted = self.collection_wanted();
        let (yes, join, here) = (self.fresh(), self.fresh(), self.here());
        self.branch(&wanted, &yes, &join, Odds::Unlikely);
        self.start(&yes);
        let moved = self.collect(POLL_BYTES, &live, Some(result)).expect("an extra value");
        let after = self.here();
        self.goto(&join);
        self.start(&join);
        self.phi("i64", &[(result.clone(), here), (moved, after)])
    }

    fn terminator(&mut self, t: &'m Term) {
        match t {
            Term::Goto(b) => self.goto(&block_label(*b)),
            Term::Branch { test, then, els } => self.test(test, &block_label(*then), &block_label(*els)),
            Term::Return(o) => {
                let v = self.operand(o);
                let sp = self.leave();
                self.return_one(&sp, &v);
            }
            Term::ReturnMulti(os) => {
                let vs = self.operands(os);
                let sp = self.leave();
                if let [v] = &vs[..] {
                    return self.return_one(&sp, v);
                }
                let regs = self.unknown_regs(&vs, None);
                self.return_many(&sp, &regs);
            }
            Term::TailCall { callee, args, site } => {
                let call = self.prepare_call(callee, args, *site);
                let sp = self.leave();
                self.call(call, sp);
            }
            Term::Call { callee, args, site, frame, ret } => {
                let call = self.prepare_call(callee, args, *site);
                let stores: Vec<(u32, Val)> = frame.stores.iter().map(|(s, o)| (*s, self.operand(o))).collect();
                let strategy = self.cx.strategy;
                let sp = strategy.push(self, &frame.frame, &stores, *ret);
                self.call(call, sp);
            }
        }
    }

    /// Jumps to the single-value entry of the frame at `sp`.
    pub(crate) fn return_one(&mut self, sp: &Val, v: &Val) {
        let strategy = self.cx.strategy;
        let code = strategy.return_code(self, sp);
        let mut regs = Regs::default();
        regs.a[0] = v.clone();
        self.jump(&code, sp, &regs);
    }

    /// Jumps to the multiple-value entry of the frame at `sp`.
    pub(crate) fn return_many(&mut self, sp: &Val, regs: &Regs) {
        let strategy = self.cx.strategy;
        let code = strategy.return_code(self, sp);
        let p = ins!(self, "getelementptr i8, ptr {code}, i64 {}", cairn_layout::code::MV_ENTRY);
        let m = Mem::Code.suffix();
        let mv = ins!(self, "load ptr, ptr {p}{m}");
        self.jump(&mv, sp, regs);
    }

    /// The caller's frame.
    pub(crate) fn leave(&mut self) -> Val {
        let words = self.func.map_or(0, |(_, f)| incoming_words(f));
        let strategy = self.cx.strategy;
        if words == 0 { self.sp() } else { strategy.leave(self, words) }
    }

    /// Evaluates callee and arguments; checks what can fail, while the incoming frame is still in place.
    fn prepare_call(&mut self, callee: &'m Callee, args: &[Operand], site: Site) -> Call {
        match callee {
            Callee::Known(f, clo) => {
                let args = self.operands(args);
                let clo = clo.as_ref().map(|c| self.operand(c));
                let regs = self.known_regs(&args, clo);
                Call { regs, to: Target::Code(Val::text(self.cx.symbol(*f))) }
            }
            Callee::Unknown(Operand::Procedure(f)) => {
                let args = self.operands(args);
                let clo = self.cx.static_closure(*f);
                let regs = self.unknown_regs(&args, Some(clo));
                Call { regs, to: Target::Code(Val::text(self.cx.symbol(*f))) }
            }
            Callee::Unknown(o) => {
                let f = self.operand(o);
                let args = self.operands(args);
                self.check_procedure(&f, site);
                let regs = self.unknown_regs(&args, Some(f.clone()));
                Call { regs, to: Target::Closure(f) }
            }
            Callee::Apply(o) => {
                let f = self.operand(o);
                let list = self.operands(args);
                self.check_procedure(&f, site);
                let n = self.rt_call("cairn_machine_spread", &list, site);
                let n = ins!(self, "lshr i64 {n}, 3");
                let a = self.load_arg_registers();
                Call { regs: Regs { argc: n, clo: f.clone(), a }, to: Target::Closure(f) }
            }
            Callee::CallCc(o) => {
                let f = self.operand(o);
                self.check_procedure(&f, site);
                let regs = Regs { clo: f, ..Regs::default() };
                Call { regs, to: Target::Code(Val::text("@cairn_call_cc")) }
            }
        }
    }

    fn check_procedure(&mut self, f: &Val, site: Site) {
        use cairn_layout::machine::error::NOT_PROCEDURE;
        let ok = self.has_tag(f, TAG_PROCEDURE);
        let fail = self.throw_block(NOT_PROCEDURE, "", "", site, &[f]);
        self.guard(&ok, &fail);
    }

    fn call(&mut self, call: Call, sp: Val) {
        match call.to {
            Target::Code(f) => self.jump(&f, &sp, &call.regs),
            Target::Closure(f) => self.jump_closure(&f, &sp, &call.regs),
        }
    }

    // ---- operations that are not primitives

    fn op(&mut self, op: &'m Op) -> Value {
        match op {
            Op::Copy(Operand::Var(v)) if self.rep(*v) == Rep::Double => {
                Value::Double(ins!(self, "load double, ptr %v{}", v.0))
            }
            Op::Copy(o) => Value::Word(self.operand(o)),
            Op::Prim(p) => self.prim(p),
            Op::Global(g) => Value::Word(self.load_global(g.0)),
            Op::GlobalChecked(g, site) => Value::Word(self.checked_global(g.0, *site)),
            Op::SetGlobal(g, o) => {
                let v = self.operand(o);
                self.store_global(g.0, &v);
                Value::unspecified()
            }
            Op::SetGlobalChecked(g, o, site) => {
                let v = self.operand(o);
                self.checked_global(g.0, *site);
                self.store_global(g.0, &v);
                Value::unspecified()
            }
            Op::Free(i) => {
                let Some((_, Function { kind: FuncKind::Body { closure: Some(c), .. }, .. })) = self.func else {
                    panic!("free variable outside a closure's body")
                };
                let c = ins!(self, "load i64, ptr %v{}", c.0);
                Value::Word(self.load_word(&c, 8 * (1 + *i as i64) - TAG_PROCEDURE as i64, Mem::Closure))
            }
            Op::Slot(s) => {
                let words = self.func.map_or(0, |(_, f)| incoming_words(f));
                let sp = self.sp();
                let strategy = self.cx.strategy;
                let (base, offset) = strategy.slot(self, &sp, words, *s);
                Value::Word(self.load_word(&base, offset, Mem::Frame))
            }
            Op::Closure { entry, free } => {
                let values = self.operands(free);
                let at = self.take_from_top(8 + 8 * values.len().max(1));
                let code = self.cx.symbol(*entry);
                let p = self.address(&at, 0);
                let m = Mem::Closure.suffix();
                line!(self, "store ptr {code}, ptr {p}{m}");
                if values.is_empty() {
                    self.store_at(&p, 8, &Val::Int(0), Mem::Closure);
                }
                for (i, v) in values.iter().enumerate() {
                    self.store_at(&p, 8 + 8 * i as i64, v, Mem::Closure);
                }
                Value::Word(ins!(self, "add i64 {at}, {TAG_PROCEDURE}"))
            }
            Op::ClosurePatch { closure, index, value } => {
                let v = self.operand(value);
                let c = ins!(self, "load i64, ptr %v{}", closure.0);
                self.store_word(&c, 8 * (1 + *index as i64) - TAG_PROCEDURE as i64, &v, Mem::Closure);
                Value::unspecified()
            }
        }
    }

    fn load_global(&mut self, g: u32) -> Val {
        let m = Mem::Global.suffix();
        ins!(self, "load i64, ptr getelementptr (i8, ptr @cairn_globals, i64 {}){m}", 8 * g)
    }

    fn store_global(&mut self, g: u32, v: &Val) {
        let m = Mem::Global.suffix();
        line!(self, "store i64 {v}, ptr getelementptr (i8, ptr @cairn_globals, i64 {}){m}", 8 * g);
    }

    fn checked_global(&mut self, g: u32, site: Site) -> Val {
        use cairn_layout::machine::error::UNBOUND;
        let v = self.load_global(g);
        let ok = ins!(self, "icmp ne i64 {v}, {}", Word::UNBOUND.0);
        let name = self.cx.module.globals[g as usize].name.clone();
        let fail = self.throw_block(UNBOUND, &name, "defined variable", site, &[]);
        self.guard(&ok, &fail);
        v
    }

    /// Takes `bytes` from the top of the nursery; returns the address (a word).
    pub(crate) fn take_from_top(&mut self, bytes: usize) -> Val {
        let hi = self.hi();
        let at = ins!(self, "sub i64 {hi}, {bytes}");
        self.set_hi(&at);
        at
    }

    /// Takes a pair from the bottom of the nursery; returns the address (a word).
    pub(crate) fn take_pair(&mut self) -> Val {
        let at = self.lo();
        let lo = ins!(self, "add i64 {at}, 16");
        self.set_lo(&lo);
        at
    }

    /// A headed object with these words; returns the value.
    pub(crate) fn headed(&mut self, header: u64, words: &[Val]) -> Val {
        let at = self.take_from_top(8 + 8 * words.len().max(1));
        let p = self.address(&at, 0);
        self.store_at(&p, 0, &Val::word(header), Mem::Header);
        if words.is_empty() {
            self.store_at(&p, 8, &Val::Int(0), Mem::Heap);
        }
        for (i, v) in words.iter().enumerate() {
            self.store_at(&p, 8 + 8 * i as i64, v, Mem::Heap);
        }
        ins!(self, "add i64 {at}, {TAG_OBJECT}")
    }

    /// The innermost winder.
    pub(crate) fn winders(&mut self) -> Val {
        self.load_machine(slot_offset(slot::WINDERS))
    }

    /// A fresh continuation object: words 1 to 6.
    pub(crate) fn continuation(&mut self, words: [Val; continuation::LEN as usize - 1]) -> Val {
        let at = self.take_from_top(8 * continuation::LEN as usize);
        let p = self.address(&at, 0);
        line!(self, "store ptr @cairn_continuation, ptr {p}{}", Mem::Closure.suffix());
        for (i, w) in words.iter().enumerate() {
            self.store_at(&p, 8 + 8 * i as i64, w, Mem::Closure);
        }
        ins!(self, "add i64 {at}, {TAG_PROCEDURE}")
    }

    /// Word `i` of continuation object `k`.
    pub(crate) fn continuation_word(&mut self, k: &Val, i: u64) -> Val {
        self.load_word(k, 8 * i as i64 - TAG_PROCEDURE as i64, Mem::Closure)
    }

    /// A fresh pair.
    pub(crate) fn pair(&mut self, car: &Val, cdr: &Val) -> Val {
        let at = self.take_pair();
        let p = self.address(&at, 0);
        self.store_at(&p, 0, car, Mem::Heap);
        self.store_at(&p, 8, cdr, Mem::Heap);
        ins!(self, "add i64 {at}, {TAG_PAIR}")
    }
}

/// A call whose operands are evaluated.
struct Call {
    regs: Regs,
    to: Target,
}

enum Target {
    Code(Val),
    Closure(Val),
}

/// The label of a Frame IR block.
pub(crate) fn block_label(b: BlockId) -> Label {
    Label(format!("b{}", b.0).into())
}

impl<'c, 'm> Emitter<'c, 'm> {
    /// A C function of the prelude: no machine state.
    pub(crate) fn prelude_c(cx: &'c mut ModuleCx<'m>) -> Self {
        Emitter {
            cx,
            func: None,
            out: String::new(),
            cold: String::new(),
            next: 0,
            here: Label("entry".into()),
            poll: None,
            fixnum_flags: HashMap::new(),
            result_flag: None,
        }
    }
}
