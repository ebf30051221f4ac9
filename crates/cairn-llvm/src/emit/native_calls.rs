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

use super::builder::{Builder, ins, line};
use super::emitter::Emitter;
use super::function::{Call, Target, block_label};
use super::ir_text::{Mem, Val};
use super::regs::Regs;
use cairn_frame::ir::*;
use cairn_layout::machine::{Machine, NativeStubs};
use cairn_layout::value::TAG_PROCEDURE;
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

impl Builder {
    /// A C call on the runtime's stack; see `Builder::c_call`.
    pub(super) fn native_c_call(&mut self, f: &Val, args: &[Val]) -> Val {
        const ARGUMENTS: [&str; 5] = ["rsi", "rdx", "rcx", "r8", "r9"];
        assert!(args.len() <= ARGUMENTS.len(), "a C call of {} operands", args.len());
        let (mut ties, mut list) = (String::new(), String::new());
        for (i, a) in args.iter().enumerate() {
            let _ = write!(ties, ",{}", i + 1);
            let _ = write!(list, ", i64 {a}");
        }
        let types = "i64, i64, i64, i64, i64, i64";
        let f = ins!(self, "ptrtoint ptr {f} to i64");
        let result = ins!(
            self,
            "call {{ {types} }} asm sideeffect alignstack \"callq *{}(%r12)\", \
             \"={{rax}},={{rsi}},={{rdx}},={{rcx}},={{r8}},={{r9}},0,{{r12}}{ties},~{{rdi}},~{{r10}},~{{r11}},~{{xmm0}},\
             ~{{xmm1}},~{{xmm2}},~{{xmm3}},~{{xmm4}},~{{xmm5}},~{{xmm6}},~{{xmm7}},~{{xmm8}},~{{xmm9}},~{{xmm10}},\
             ~{{xmm11}},~{{xmm12}},~{{xmm13}},~{{xmm14}},~{{xmm15}},~{{memory}},~{{dirflag}},~{{fpsr}},~{{flags}}\"\
             (i64 {f}, ptr %ctx{list}) #1",
            stub(offset_of!(NativeStubs, call))
        );
        ins!(self, "extractvalue {{ {types} }} {result}, 0")
    }

    /// The address of a new object, as LLVM's only way to it. Else it might keep that of the free memory beside it
    /// across a call, and get the object's by subtraction: no ambiguous root.
    pub(super) fn of_its_own(&mut self, at: &Val) -> Val {
        ins!(self, "call i64 asm \"\", \"=r,0\"(i64 {at}) #3")
    }

    /// Returns the values in `regs`.
    pub(super) fn native_return(&mut self, regs: &Regs) {
        let f = self.machine_constant(stub(offset_of!(NativeStubs, return_many)));
        self.jump(&f, &Val::poison(), regs);
    }

    /// Goes to `code`, with the frames of continuation `k` instead of those that there are.
    pub(super) fn native_go(&mut self, k: &Val, code: &Val, regs: &Regs) {
        let word = ins!(self, "ptrtoint ptr {code} to i64");
        self.store_machine(offset_of!(Machine, again), &word);
        let f = self.machine_constant(stub(offset_of!(NativeStubs, go)));
        self.jump_with(&f, k, regs);
    }
}

impl<'m> Emitter<'_, 'm> {
    /// A call that is not a tail call; control goes on in the return point's first block.
    pub(super) fn native_call(&mut self, call: Call, ret: FuncId) {
        let (results, next) = self.returns[&ret].clone();
        let descriptor = self.cx.descriptor(ret);
        let Regs { argc, clo, a: [a0, a1, a2, a3, a4] } = &call.regs;
        let (lo, hi) = (self.lo(), self.hi());
        let (code, target) = match &call.to {
            Target::Code(f) if f.to_string().starts_with('@') => (None, Some(f.clone())),
            Target::Code(f) => (Some(f.clone()), None),
            Target::Closure(f) => (Some(self.load_code(f, -(TAG_PROCEDURE as i64), Mem::Closure)), None),
        };
        let code = code.map_or(Val::poison(), |f| ins!(self, "ptrtoint ptr {f} to i64"));
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
        let at = self.return_address();
        let types = ["i64"; REGISTERS.len()].join(", ");
        let r = ins!(
            self,
            "call {{ {types} }} asm sideeffect alignstack \"{text}\\0A\\09{{disp32}} nopl $10\\0A\\09nopl ${{11:P}}(%rip)\
             {several}\", \"{outputs}*m,s{operand},{{r12}}{inputs},{CLOBBERS}\"\
             (ptr elementtype(i64) {at}, ptr {descriptor}{symbol}, ptr %ctx{list}) #1"
        );
        let mut word = |i: usize| ins!(self, "extractvalue {{ {types} }} {r}, {i}");
        let (lo, hi, argc) = (word(0), word(1), word(2));
        let a = [4, 5, 6, 7, 8].map(word);
        self.set_lo(&lo);
        self.set_hi(&hi);
        match results {
            Results::Single(v) => line!(self, "store i64 {}, ptr %v{}", a[0], v.0),
            Results::Multi { params, rest, site } => {
                let incoming = Regs { argc, clo: Val::poison(), a };
                let outer = std::mem::replace(&mut self.incoming, incoming);
                self.receive(&params, rest, site);
                self.incoming = outer;
            }
        }
        self.goto(&block_label(next));
    }
}
