//! Calls and returns by `call` and `ret`.
//!
//! The problem: LLVM's own calls tell nobody how large the caller's frame is, and return no more than three words. The
//! idea: the call is inline assembly, with everything in the registers of the uniform prototype in both directions, and
//! says what a walk over the frames needs in two instructions that do nothing:
//!
//! ```text
//!      callq callee
//!      nopl  24(%rsp)                8 bytes: the caller's return address is 24 bytes above `rsp`
//!      nopl  descriptor(%rip)        7 bytes: what is elsewhere prefix data of the return point
//!      movl  $1, %edi                5 bytes, where several values are expected: these return behind it
//! ```
//!
//! The first operand is that of `llvm.addressofreturnaddress`, which becomes a number when the frame is laid out. A
//! return is a jump to `@cairn_return`, a function that is nothing but `ret`: so values leave in argument registers.
//!
//! Invariants: `r12` is the context at each call and each return; nothing else is preserved, `rbp` neither, so that no
//! frame holds a register of its caller's. The stack pointer is 8 modulo 16 when a function is entered.

use crate::emit::builder::{Builder, Footing, ins, line};
use crate::emit::emitter::{Activations, Emitter};
use crate::emit::function::block_label;
use crate::emit::ir_text::{Mem, Val};
use crate::emit::joined;
use crate::emit::part::Part;
use crate::emit::regs::{Call, Regs, Target};
use crate::emit::tables::{Effort, ModuleCx};
use crate::strategy::Frames;
use cairn_core::ir::Shots;
use cairn_frame::ir::{FuncId, FuncKind, Function, Module, NewFrame, Results};
use cairn_layout::machine::{Machine, NativeStubs};
use cairn_layout::value::TAG_PROCEDURE;
use std::collections::HashMap;
use std::fmt::Write;
use std::mem::offset_of;

/// Registers that come back, in order: `lo`, `hi`, then those of [`Regs`].
const REGISTERS: [&str; 10] = ["r14", "r15", "rdi", "rsi", "rdx", "rcx", "r8", "r9", "r11", "rax"];
/// Those that a call leaves in any state.
const CLOBBERS: &str = "~{r10},~{r13},~{rbx},~{rbp},~{xmm0},~{xmm1},~{xmm2},~{xmm3},~{xmm4},~{xmm5},~{xmm6},~{xmm7},\
                        ~{xmm8},~{xmm9},~{xmm10},~{xmm11},~{xmm12},~{xmm13},~{xmm14},~{xmm15},~{memory},~{dirflag},\
                        ~{fpsr},~{flags}";

/// Offset of a native stub's address in the machine context.
fn stub(at: usize) -> usize {
    offset_of!(Machine, native) + at
}

pub(super) struct Joined;

impl Frames for Joined {}

/// Where the function's return address is. Asked anew in each block: so it is an operand of instructions and never in a
/// register across calls.
fn return_address(b: &mut Builder) -> Val {
    ins!(b, "call ptr @llvm.addressofreturnaddress.p0() #6")
}

impl Footing for Joined {
    fn sp(&self, b: &mut Builder) -> Val {
        let at = return_address(b);
        ins!(b, "ptrtoint ptr {at} to i64")
    }

    fn passed(&self, _: &Val) -> Val {
        Val::poison()
    }

    /// On the runtime's stack.
    fn call_runtime(&self, b: &mut Builder, f: &Val, args: &[Val], _: bool) -> Val {
        const ARGUMENTS: [&str; 5] = ["rsi", "rdx", "rcx", "r8", "r9"];
        assert!(args.len() <= ARGUMENTS.len(), "a C call of {} operands", args.len());
        let (mut ties, mut list) = (String::new(), String::new());
        for (i, a) in args.iter().enumerate() {
            let _ = write!(ties, ",{}", i + 1);
            let _ = write!(list, ", i64 {a}");
        }
        let types = "i64, i64, i64, i64, i64, i64";
        let f = ins!(b, "ptrtoint ptr {f} to i64");
        let result = ins!(
            b,
            "call {{ {types} }} asm sideeffect alignstack \"callq *{}(%r12)\", \
             \"={{rax}},={{rsi}},={{rdx}},={{rcx}},={{r8}},={{r9}},0,{{r12}}{ties},~{{rdi}},~{{r10}},~{{r11}},~{{xmm0}},\
             ~{{xmm1}},~{{xmm2}},~{{xmm3}},~{{xmm4}},~{{xmm5}},~{{xmm6}},~{{xmm7}},~{{xmm8}},~{{xmm9}},~{{xmm10}},\
             ~{{xmm11}},~{{xmm12}},~{{xmm13}},~{{xmm14}},~{{xmm15}},~{{memory}},~{{dirflag}},~{{fpsr}},~{{flags}}\"\
             (i64 {f}, ptr %ctx{list}) #1",
            stub(offset_of!(NativeStubs, call))
        );
        ins!(b, "extractvalue {{ {types} }} {result}, 0")
    }

    /// The address, as LLVM's only way to it. Else it might keep that of the free memory beside it across a call, and
    /// get the object's by subtraction: no ambiguous root.
    fn object(&self, b: &mut Builder, at: Val) -> Val {
        ins!(b, "call i64 asm \"\", \"=r,0\"(i64 {at}) #3")
    }

    fn serves_c(&self) -> bool {
        false
    }

    fn is_read_as_it_is(&self) -> bool {
        true
    }
}

/// Goes to `code`, with the frames of continuation `k` instead of those that there are.
fn go(e: &mut Emitter<'_, '_>, k: &Val, code: &Val, regs: &Regs) {
    let word = ins!(e, "ptrtoint ptr {code} to i64");
    e.store_machine(offset_of!(Machine, again), &word);
    let f = e.machine_constant(stub(offset_of!(NativeStubs, go)));
    e.jump_with(&f, k, regs);
}

impl Activations for Joined {
    /// Control goes on in the return point's first block.
    fn call(&self, e: &mut Emitter<'_, '_>, call: Call, _: &NewFrame, ret: FuncId) {
        let (results, next) = e.returns[&ret].clone();
        let descriptor = e.cx.descriptor(ret);
        let Regs { argc, clo, a: [a0, a1, a2, a3, a4] } = &call.regs;
        let (lo, hi) = (e.lo(), e.hi());
        let (code, target) = match &call.to {
            Target::Code(f) if f.to_string().starts_with('@') => (None, Some(f.clone())),
            Target::Code(f) => (Some(f.clone()), None),
            Target::Closure(f) => (Some(e.load_code(f, -(TAG_PROCEDURE as i64), Mem::Closure)), None),
        };
        let code = code.map_or(Val::poison(), |f| ins!(e, "ptrtoint ptr {f} to i64"));
        let poison = Val::poison().to_string();
        let (mut outputs, mut inputs, mut list) = (String::new(), String::new(), String::new());
        for (i, (r, v)) in REGISTERS.iter().zip([&lo, &hi, argc, clo, a0, a1, a2, a3, a4, &code]).enumerate() {
            let _ = write!(outputs, "={{{r}}},");
            if v.to_string() != poison {
                let _ = write!(inputs, ",{i}");
                let _ = write!(list, ", i64 {v}");
            }
        }
        // after the outputs: 10 the return address, 11 the descriptor, 12 the function, if it is known
        let (text, operand, symbol) = match &target {
            Some(f) => ("callq ${12:P}", ",s", format!(", ptr {f}")),
            None => ("callq *%rax", "", String::new()),
        };
        let several = if let Results::Multi { .. } = results { "\\0A\\09movl $$1, %edi" } else { "" };
        let at = return_address(e);
        let types = ["i64"; REGISTERS.len()].join(", ");
        let r = ins!(
            e,
            "call {{ {types} }} asm sideeffect alignstack \"{text}\\0A\\09{{disp32}} nopl $10\\0A\\09nopl ${{11:P}}(%rip)\
             {several}\", \"{outputs}*m,s{operand},{{r12}}{inputs},{CLOBBERS}\"\
             (ptr elementtype(i64) {at}, ptr {descriptor}{symbol}, ptr %ctx{list}) #1"
        );
        let mut word = |i: usize| ins!(e, "extractvalue {{ {types} }} {r}, {i}");
        let (lo, hi, argc) = (word(0), word(1), word(2));
        let a = [4, 5, 6, 7, 8].map(word);
        e.set_lo(&lo);
        e.set_hi(&hi);
        match results {
            Results::Single(v) => line!(e, "store i64 {}, ptr %v{}", a[0], v.0),
            Results::Multi { params, rest, site } => {
                let incoming = Regs { argc, clo: Val::poison(), a };
                let outer = std::mem::replace(&mut e.incoming, incoming);
                e.receive(&params, rest, site);
                e.incoming = outer;
            }
        }
        e.goto(&block_label(next));
    }

    fn return_one(&self, e: &mut Emitter<'_, '_>, sp: &Val, v: &Val) {
        let mut regs = Regs::default();
        regs.a[0] = v.clone();
        e.jump(&Val::text("@cairn_return"), sp, &regs);
    }

    fn return_many(&self, e: &mut Emitter<'_, '_>, _: &Val, regs: &Regs) {
        let f = e.machine_constant(stub(offset_of!(NativeStubs, return_many)));
        e.jump(&f, &Val::poison(), regs);
    }

    fn slot(&self, _: &mut Emitter<'_, '_>, _: u32) -> Val {
        unreachable!("slots of joined procedures are variables")
    }

    fn leave(&self, b: &mut Builder, _: u32) -> Val {
        b.sp()
    }

    fn leave_counted(&self, b: &mut Builder, _: &Val) -> Val {
        b.sp()
    }

    fn place(&self, b: &mut Builder, words: u32) -> Val {
        b.below_sp(words)
    }

    fn lacks_room(&self, b: &mut Builder, _: u32, place: &Val) -> Val {
        b.is_below_guard(place)
    }

    fn captured(&self) -> u64 {
        1
    }

    fn capture(&self, b: &mut Builder, _: Shots) -> Val {
        b.captured_by_runtime()
    }

    fn return_to(&self, e: &mut Emitter<'_, '_>, k: &Val, regs: &Regs) {
        go(e, k, &Val::text("@cairn_return_values"), regs);
    }

    fn call_in(&self, e: &mut Emitter<'_, '_>, k: &Val, regs: &Regs) {
        let code = e.load_code(&regs.clo, -(TAG_PROCEDURE as i64), Mem::Closure);
        go(e, k, &code, regs);
    }

    fn prelude(&'static self, _: &mut ModuleCx<'_>) -> Vec<Part> {
        vec![Part { symbol: "@cairn_enter", text: enter() }, Part { symbol: "@cairn_return", text: returns() }]
    }

    fn joined(&self, m: &Module) -> HashMap<FuncId, joined::Joined> {
        joined::all(m)
    }

    fn is_function(&self, f: &Function) -> bool {
        f.in_use() && !matches!(f.kind, FuncKind::Return { .. })
    }

    /// What is called by `call` needs registers that only the optimizer finds.
    fn effort(&self, _: Effort) -> Effort {
        Effort::Full
    }

    /// LLVM sees no calls in native frames, and would not even have a frame of a spilled byte end at a word. Frames
    /// begin at any word, so what LLVM spills must not want more: that, the flag of the module says.
    fn attributes(&self) -> &'static str {
        "alignstack=8 \"no-realign-stack\" "
    }

    fn declarations(&self) -> &'static str {
        "declare ptr @llvm.addressofreturnaddress.p0()\n\
         attributes #5 = { naked noinline noredzone nounwind \"frame-pointer\"=\"none\" }\n\
         attributes #6 = { convergent }\n\
         !llvm.module.flags = !{!30}\n!30 = !{i32 1, !\"override-stack-alignment\", i32 8}\n"
    }
}

/// `ret`, in a function's place, so that values leave in the
/// registers of its arguments.
fn returns() -> String {
    "\ndefine internal preserve_nonecc void @cairn_return(ptr %ctx, i64 %sp, i64 %lo, i64 %hi, i64 %argc, i64 %clo, \
         i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4) #5 align 16 {\nentry:\n  \
         call void asm sideeffect \"retq\", \"\"()\n  unreachable\n}\n"
        .into()
}

/// `void cairn_enter(ctx, closure)`, C convention: leaves the native stack for the program's.
fn enter() -> String {
    let [sp, lo, hi] =
        [offset_of!(Machine, thread.sp), offset_of!(Machine, cursors.lo), offset_of!(Machine, cursors.hi)];
    format!(
        "\ndefine internal void @cairn_enter(ptr %ctx, i64 %clo) #5 {{\nentry:\n  call void asm sideeffect \
         \"movq %rdi, %r12\\0Amovq {sp}(%r12), %rsp\\0Amovq {lo}(%r12), %r14\\0Amovq {hi}(%r12), %r15\\0A\
         xorl %edi, %edi\\0Ajmpq *-{TAG_PROCEDURE}(%rsi)\", \"\"()\n  unreachable\n}}\n"
    )
}
