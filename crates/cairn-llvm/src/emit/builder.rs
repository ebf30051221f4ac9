//! The text of one LLVM function under construction: instructions, labels, memory, the machine's registers.
//!
//! Text goes to `out`; slow paths go to `cold`, which follows at the end, so the text reads like the fast path.
//! `lo`, `hi` and `sp` live in allocas; `sp` only changes when a heap check moves heap frames.
//!
//! A builder knows neither the module nor the Frame IR: frame strategies and allocators, which get no more than this,
//! cannot depend on them either.

use super::ir_text::{Mem, Odds, Val};
use super::registers::Regs;
use cairn_layout::facts::CollectorFacts;
use cairn_layout::machine::Machine;
use cairn_layout::value::Value as Word;
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

/// A label inside a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label(pub Rc<str>);

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One LLVM function under construction.
pub(crate) struct Builder {
    out: String,
    cold: String,
    next: u32,
    here: Label,
    /// What the collector asks of the code.
    pub collector: &'static CollectorFacts,
    /// How code stands on the native stack.
    pub footing: &'static dyn Footing,
    /// The registers as the function, or the call that it goes on behind, received them.
    pub incoming: Regs,
    /// The node of the location that instructions have ([`super::debug`]).
    location: Option<usize>,
}

/// How code stands on the native stack: in one frame of the runtime's that all functions share, or each in its own.
pub(crate) trait Footing: Sync {
    /// The current frame.
    fn sp(&self, b: &mut Builder) -> Val;
    /// What a function that is jumped to is given for `sp`.
    fn passed(&self, sp: &Val) -> Val;
    /// A call of a function of the runtime's, by C's convention.
    fn call_runtime(&self, b: &mut Builder, f: &Val, args: &[Val], pure: bool) -> Val;
    /// The address of an object that was just made in free memory.
    fn object(&self, b: &mut Builder, at: Val) -> Val;
    /// May C functions be called from where the code stands?
    fn serves_c(&self) -> bool;
    /// Does the collector read what lives in registers and frames as they are? Else it is stored for it.
    fn is_read_as_it_is(&self) -> bool;
}

/// The text that a slow path interrupts.
pub(crate) struct Interrupted {
    out: String,
    here: Label,
}

impl Builder {
    /// A function without machine registers: a C function of the prelude.
    pub(crate) fn c_function(collector: &'static CollectorFacts, footing: &'static dyn Footing) -> Builder {
        let (out, cold) = (String::new(), String::new());
        let (here, incoming) = (Label("entry".into()), Regs::parameters());
        Builder { out, cold, next: 0, here, collector, footing, incoming, location: None }
    }

    /// A piece of Scheme code: the allocas of the machine's registers are in place.
    pub(crate) fn scheme(collector: &'static CollectorFacts, footing: &'static dyn Footing) -> Builder {
        let mut b = Builder::c_function(collector, footing);
        for r in ["sp", "lo", "hi"] {
            line!(b, "%{r}.v = alloca i64");
            line!(b, "store i64 %{r}, ptr %{r}.v");
        }
        b
    }

    /// The finished body.
    pub(crate) fn finish(self) -> String {
        let Builder { mut out, cold, .. } = self;
        out.push_str(&cold);
        out
    }

    // ---- instructions

    /// Emits `%tN = …`.
    pub(crate) fn instruction(&mut self, text: Arguments<'_>) -> Val {
        let n = self.next;
        self.next += 1;
        let _ = write!(self.out, "  %t{n} = {text}");
        self.end_line();
        Val::Temp(n)
    }

    /// Emits an instruction without a result.
    pub(crate) fn line(&mut self, text: Arguments<'_>) {
        let _ = write!(self.out, "  {text}");
        self.end_line();
    }

    fn end_line(&mut self) {
        if let Some(node) = self.location {
            let _ = write!(self.out, ", !dbg !{node}");
        }
        self.out.push('\n');
    }

    /// What follows is this location's.
    pub(super) fn set_location(&mut self, node: usize) {
        self.location = Some(node);
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
        let interrupted = self.interrupt(label);
        let t = body(self);
        self.resume(interrupted);
        t
    }

    /// Begins a slow path at `label`, until [`Builder::resume`].
    pub(crate) fn interrupt(&mut self, label: &Label) -> Interrupted {
        let interrupted = Interrupted { out: std::mem::take(&mut self.out), here: self.here() };
        self.start(label);
        interrupted
    }

    /// Ends a slow path and goes on with what it interrupted.
    pub(crate) fn resume(&mut self, interrupted: Interrupted) {
        let text = std::mem::replace(&mut self.out, interrupted.out);
        self.here = interrupted.here;
        // nested slow paths come before the one that leads to them; the order of blocks means nothing
        self.cold.push_str(&text);
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
        self.footing.sp(self)
    }
    /// So many words below the current frame, where stacks grow down.
    pub(crate) fn below_sp(&mut self, words: u32) -> Val {
        let sp = self.sp();
        ins!(self, "sub i64 {sp}, {}", 8 * words)
    }
    /// An `i1`: is a place of the stack beyond its limit, or is a stop requested?
    pub(crate) fn is_below_guard(&mut self, place: &Val) -> Val {
        let guard = self.load_machine(offset_of!(Machine, stack_guard));
        ins!(self, "icmp ult i64 {place}, {guard}")
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

    // ---- words

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
}
