//! Calls into the runtime.
//!
//! Two ways out of Scheme code and back:
//! * an ordinary C call through the table in the machine context; the callee-saved registers of the C convention hold
//!   the machine state;
//! * a *cold call*: `callq *cold_stub(%r12)` as inline assembly, with the byte offset of the table entry in `eax`. The
//!   stub preserves every register but `rax`, `r14`, `r15`, so it costs the fast path nothing: no spills, no stack
//!   adjustment.
//!
//! A third way does not come back: `raise`.

use super::builder::{Builder, ins};
use super::ir_text::Val;
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
            self.store_machine(offset_of!(Machine, lo), &lo);
            self.store_machine(offset_of!(Machine, hi), &hi);
            let sp = self.sp();
            self.store_machine(offset_of!(Machine, thread.sp), &sp);
        }
        let f = self.machine_constant(call_offset(index));
        let mut list = String::new();
        for a in args {
            let _ = write!(list, ", i64 {a}");
        }
        let attributes = if flags & PURE != 0 { " #2" } else { " #1" };
        let result = ins!(self, "call i64 {f}(ptr %ctx{list}){attributes}");
        if flags & ALLOC != 0 {
            self.reload_nursery();
        }
        result
    }

    /// `lo` and `hi` as the runtime left them.
    pub(crate) fn reload_nursery(&mut self) {
        let lo = self.load_machine(offset_of!(Machine, lo));
        self.set_lo(&lo);
        let hi = self.load_machine(offset_of!(Machine, hi));
        self.set_hi(&hi);
    }

    /// A call through the cold stub; `sp` is what the runtime sees as the current frame.
    pub(crate) fn cold_call(&mut self, symbol: &str, sp: &Val, args: &[Val]) -> Val {
        const REGISTERS: [&str; 5] = ["rsi", "rdx", "rcx", "r8", "r9"];
        let index = row_of(symbol);
        let (lo, hi) = (self.lo(), self.hi());
        let (mut constraints, mut list) = (String::new(), String::new());
        for (a, r) in args.iter().zip(REGISTERS) {
            let _ = write!(constraints, ",{{{r}}}");
            let _ = write!(list, ", i64 {a}");
        }
        let takes_memory = index.row().flags & (ALLOC | FAIL) != 0 && self.alloc.keeps_state_in_memory();
        let (memory, attributes) =
            if leaves_memory_alone(symbol) && !takes_memory { ("", " #3") } else { (",~{memory}", " #1") };
        let result = ins!(
            self,
            "call {{ i64, i64, i64 }} asm sideeffect \"callq *{}(%r12)\", \
             \"={{rax}},={{r14}},={{r15}},0,{{r12}},{{r13}}{constraints},1,2{memory},~{{dirflag}},~{{fpsr}},~{{flags}}\"\
             (i64 {}, ptr %ctx, i64 {sp}{list}, i64 {lo}, i64 {hi}){attributes}",
            offset_of!(Machine, cold_stub),
            call_offset(index)
        );
        let value = ins!(self, "extractvalue {{ i64, i64, i64 }} {result}, 0");
        let lo = ins!(self, "extractvalue {{ i64, i64, i64 }} {result}, 1");
        self.set_lo(&lo);
        let hi = ins!(self, "extractvalue {{ i64, i64, i64 }} {result}, 2");
        self.set_hi(&hi);
        value
    }
}

/// Byte offset of a row's pointer in the machine context.
pub(crate) fn call_offset(index: RtIndex) -> usize {
    offset_of!(Machine, calls) + 8 * index.0 as usize
}
