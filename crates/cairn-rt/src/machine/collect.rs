//! Safepoints: where compiled code lets the collector run.
//!
//! Compiled code comes here when the current nursery block has too little room, or the stack guard trips. Its live values are in
//! `Machine::spill`, everything older is in frames, and the registers hold nothing else: so all roots are known precisely.
//! Runtime calls never come here.

use super::{frames, stop};
use crate::exhaustion;
use crate::port;
use crate::runtime::{Runtime, rt};
use cairn_heap::address::Address;
use cairn_heap::{Client, Refill, RootVisitor, WeakVisitor};
use cairn_layout::Value;
use cairn_layout::machine::{Machine, stop as reason};

/// Makes room for `bytes` bytes, collecting if the nursery's budget is spent. Roots: `Machine::spill[0..spilled]`. The result
/// is the new `sp`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_collect(ctx: &mut Machine, bytes: Value) -> Value {
    stop::serve(ctx);
    safepoint(ctx, bytes.as_fixnum() as u64);
    ctx.spilled = 0;
    Value(ctx.thread.sp)
}

/// The stack guard tripped: a stop is requested, or there is no room for `bytes` more bytes of stack. Then the youngest
/// frame, of `kept` bytes, moves to another chunk. Roots and result as above.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_guard(ctx: &mut Machine, bytes: Value, kept: Value) -> Value {
    stop::serve(ctx);
    if ctx.stop & reason::ZEAL != 0 {
        safepoint(ctx, 0);
    }
    let bytes = bytes.as_fixnum() as u64;
    if bytes > 0 && ctx.thread.sp - bytes < ctx.thread.stack_limit {
        frames::overflow(ctx, bytes, kept.as_fixnum() as u64);
        if exhaustion::is_overdrawn(ctx) {
            safepoint(ctx, 0);
        }
    }
    ctx.spilled = 0;
    Value(ctx.thread.sp)
}

/// Room for `bytes` bytes, by the next extent or by a collection. `Machine::{sp, lo, hi}` must be current, live values in
/// `spill[0..spilled]`.
pub fn safepoint(ctx: &mut Machine, bytes: u64) {
    let heap = &mut rt(ctx).heap;
    let need = bytes + heap.check_reserve();
    if let Refill::Block(lo, hi) = heap.refill(ctx.lo, ctx.hi, need) {
        (ctx.lo, ctx.hi) = (lo, hi);
        return;
    }
    frames::before_collection(ctx);
    let (mut lo, mut hi) = (ctx.lo, ctx.hi);
    let mut roots = Roots { machine: ctx };
    let outcome = rt(ctx).heap.safepoint(&mut lo, &mut hi, need, &mut roots);
    (ctx.lo, ctx.hi) = (lo, hi);
    port::close_dropped(ctx);
    exhaustion::collected(ctx, outcome, need);
}

/// The collector's view of a running program.
struct Roots {
    machine: *mut Machine,
}

impl Roots {
    fn ctx(&mut self) -> &mut Machine {
        // SAFETY: the machine context outlives the collection, and nothing else uses it meanwhile.
        unsafe { &mut *self.machine }
    }

    /// Every root but the frames.
    ///
    /// # Safety
    /// The machine is between two instructions of compiled code: all of these are words that hold values.
    unsafe fn visit_machine<V: RootVisitor>(&mut self, visitor: &mut V) {
        let ctx = self.ctx();
        let rt: &mut Runtime = rt(ctx);
        // SAFETY: by the contract.
        unsafe {
            visitor.words(ctx.thread.slots.as_mut_ptr() as *mut u64, ctx.thread.slots.len());
            visitor.words(ctx.slots.as_mut_ptr() as *mut u64, ctx.slots.len());
            visitor.words(ctx.spill.as_mut_ptr() as *mut u64, ctx.spilled as usize);
            visitor.slot(&raw mut ctx.result as *mut u64);
            visitor.words(rt.dropped_ports.as_mut_ptr() as *mut u64, rt.dropped_ports.len());
            for module in rt.modules.iter() {
                visitor.words(module.globals as *mut u64, module.global_count as usize);
                visitor.static_words(module.literals, module.literal_count as usize);
                if rt.symbols.modules_move {
                    visitor.words(module.symbols as *mut u64, module.symbol_count as usize);
                }
            }
        }
    }
}

impl Client for Roots {
    fn visit_roots<V: RootVisitor>(&mut self, visitor: &mut V) {
        // SAFETY: the collector runs at safepoints only.
        unsafe {
            self.visit_machine(visitor);
            frames::visit_thread(self.ctx(), visitor);
        }
    }

    fn trace_continuation<V: RootVisitor>(&mut self, k: Address, visitor: &mut V) {
        // SAFETY: `k` is a continuation object.
        unsafe { frames::visit_continuation(self.ctx(), k, visitor) }
    }

    fn visit_dying<V: WeakVisitor>(&mut self, visitor: &mut V) {
        port::visit_dying(rt(self.ctx()), visitor);
    }

    fn visit_weak<V: WeakVisitor>(&mut self, visitor: &mut V) {
        rt(self.ctx()).symbols.visit_weak(visitor);
    }

    fn audit_roots<V: RootVisitor>(&mut self, visitor: &mut V) -> Result<(), String> {
        // SAFETY: as for `visit_roots`.
        unsafe {
            self.visit_machine(visitor);
            frames::audit_thread(self.ctx(), visitor)
        }
    }

    fn audit_continuation<V: RootVisitor>(&mut self, k: Address, visitor: &mut V) -> Result<(), String> {
        // SAFETY: as for `trace_continuation`.
        unsafe { frames::audit_continuation(self.ctx(), k, visitor) }
    }

    fn audit_code(&mut self, code: u64) -> Result<(), String> {
        rt(self.ctx()).strategy.auditor.code(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Options, Zeal};
    use crate::testing::TestRuntime;

    #[test]
    fn a_check_larger_than_the_nursery_is_no_lack_of_memory() {
        let options = Options { heap_max: Some(512 << 10), zeal: Zeal::Off, ..Options::default() };
        let mut t = TestRuntime::with(options);
        let ctx = t.ctx();
        for _ in 0..20 {
            // The nursery is an eighth of the heap.
            safepoint(ctx, 100_000);
            assert!(ctx.hi - ctx.lo >= 100_000);
            ctx.hi -= 100_000;
        }
        assert!(rt(ctx).heap.stats().minor > 0);
    }
}
