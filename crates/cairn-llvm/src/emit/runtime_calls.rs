//! Calls into the runtime.
//!
//! Three ways out of Scheme code and back:
//! * an ordinary C call through the table in the machine context; the callee-saved registers of the C convention hold
//!   the machine state;
//! * a *cold call*: `callq *cold_stub(%r12)` as inline assembly, with the byte offset of the table entry in `eax`. The
//!   stub preserves every register but `rax`, `r14`, `r15`, so it costs the fast path nothing: no spills, no stack
//!   adjustment.
//!
//! * a *slow call*: the same through `slow_stub`, with a [`cairn_layout::code::SlowCall`]; the stub raises and
//!   collects.
//!
//! A further way does not come back: `raise`.

use super::builder::{Builder, ins};
use super::ir_text::Val;
use crate::alloc;
use cairn_layout::calls::{ALLOC, FAIL, PURE, RT_CALLS, RtIndex};
use cairn_layout::machine::Machine;
use std::fmt::Write;
use std::mem::offset_of;

/// The row with this symbol.
pub(crate) fn row_of(symbol: &str) -> RtIndex {
    let i = RT_CALLS.iter().position(|r| r.symbol == symbol);
    RtIndex(i.unwrap_or_else(|| panic!("no runtime call {symbol}")) as u16)
}

/// Does the row neither read nor write memory that compiled code can see, apart from what its arguments denote for
/// good? Then loads before and after the call can be shared.
fn leaves_memory_alone(symbol: &str) -> bool {
    symbol.starts_with("cairn_num_") || symbol == "cairn_eq_eqv"
}

impl Builder {
    /// A C call. `lo`, `hi` and `sp` are in the context during calls that allocate or fail (a failure allocates its
    /// details).
    pub(crate) fn c_call(&mut self, symbol: &str, args: &[Val]) -> Val {
        let index = row_of(symbol);
        let flags = index.row().flags;
        if flags & (ALLOC | FAIL) != 0 {
            let (lo, hi) = (self.lo(), self.hi());
            self.store_machine(offset_of!(Machine, cursors.lo), &lo);
            self.store_machine(offset_of!(Machine, cursors.hi), &hi);
            let sp = self.sp();
            self.store_machine(offset_of!(Machine, thread.sp), &sp);
        }
        let f = self.machine_constant(call_offset(index));
        let result = self.footing.call_runtime(self, &f, args, flags & PURE != 0);
        if flags & ALLOC != 0 {
            self.reload_nursery();
        }
        result
    }

    /// `lo` and `hi` as the runtime left them.
    pub(crate) fn reload_nursery(&mut self) {
        let lo = self.load_machine(offset_of!(Machine, cursors.lo));
        self.set_lo(&lo);
        let hi = self.load_machine(offset_of!(Machine, cursors.hi));
        self.set_hi(&hi);
    }

    /// The continuation object that the runtime makes of the frames at hand.
    pub(crate) fn captured_by_runtime(&mut self) -> Val {
        let sp = self.sp();
        self.cold_call("cairn_machine_capture", &sp, &[])
    }

    /// A call through the cold stub; `sp` is what the runtime sees as the current frame.
    pub(crate) fn cold_call(&mut self, symbol: &str, sp: &Val, args: &[Val]) -> Val {
        let at = Val::Int(call_offset(row_of(symbol)) as i64);
        self.stub_call(symbol, offset_of!(Machine, cold_stub), &at, sp, args, None)
    }

    /// A call through the slow stub; the result, and `sp` after it, which is another one only if it `polls`.
    pub(crate) fn slow_stub(
        &mut self,
        symbol: &str,
        descriptor: &str,
        sp: &Val,
        args: &[Val],
        polls: bool,
    ) -> (Val, Val) {
        let at = Val::text(format!("ptrtoint (ptr {descriptor} to i64)"));
        let mut new_sp = sp.clone();
        let moved = if polls { Some(&mut new_sp) } else { None };
        let result = self.stub_call(symbol, offset_of!(Machine, slow_stub), &at, sp, args, moved);
        (result, new_sp)
    }

    /// A call of a stub with `at` in `rax`; `moved` receives the new `sp`, if the stub may change it.
    fn stub_call(
        &mut self,
        symbol: &str,
        stub: usize,
        at: &Val,
        sp: &Val,
        args: &[Val],
        moved: Option<&mut Val>,
    ) -> Val {
        const REGISTERS: [&str; 5] = ["rsi", "rdx", "rcx", "r8", "r9"];
        let (lo, hi) = (self.lo(), self.hi());
        let (mut constraints, mut list) = (String::new(), String::new());
        for (a, r) in args.iter().zip(REGISTERS) {
            let _ = write!(constraints, ",{{{r}}}");
            let _ = write!(list, ", i64 {a}");
        }
        let flags = row_of(symbol).row().flags;
        let takes_memory = flags & (ALLOC | FAIL) != 0 && alloc::for_facts(self.collector).keeps_state_in_memory();
        let (memory, attributes) = if leaves_memory_alone(symbol) && !takes_memory && moved.is_none() {
            // One that may raise does not come back: what was stored before must be there.
            ("", if stub == offset_of!(Machine, slow_stub) { " #4" } else { " #3" })
        } else {
            (",~{memory}", " #1")
        };
        let (types, sp_out, sp_in) =
            if moved.is_some() { ("i64, i64, i64, i64", ",={r13}", "3") } else { ("i64, i64, i64", "", "{r13}") };
        let result = ins!(
            self,
            "call {{ {types} }} asm sideeffect \"callq *{stub}(%r12)\", \"={{rax}},={{r14}},={{r15}}{sp_out},0,{{r12}},\
             {sp_in}{constraints},1,2{memory},~{{dirflag}},~{{fpsr}},~{{flags}}\"\
             (i64 {at}, ptr %ctx, i64 {sp}{list}, i64 {lo}, i64 {hi}){attributes}"
        );
        let value = ins!(self, "extractvalue {{ {types} }} {result}, 0");
        let lo = ins!(self, "extractvalue {{ {types} }} {result}, 1");
        self.set_lo(&lo);
        let hi = ins!(self, "extractvalue {{ {types} }} {result}, 2");
        self.set_hi(&hi);
        if let Some(moved) = moved {
            *moved = ins!(self, "extractvalue {{ {types} }} {result}, 3");
        }
        value
    }
}

/// Byte offset of a row's pointer in the machine context.
pub(crate) fn call_offset(index: RtIndex) -> usize {
    offset_of!(Machine, calls) + 8 * index.0 as usize
}
