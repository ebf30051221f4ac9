//! Safepoints: where compiled code lets the collector run.
//!
//! Compiled code comes here when the current nursery block has too little room. Its live values are in
//! `Machine::spill`, everything older is in frames, and the registers hold nothing else: so all roots are known precisely.
//! Runtime calls never come here.

use super::audit::Segment;
use super::chunks;
use super::walk::visit_frames;
use crate::alloc::out_of_memory;
use crate::runtime::{Runtime, rt};
use cairn_heap::address::Address;
use cairn_heap::{Client, Refill, RootVisitor};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::continuation;

/// Makes room for `bytes` bytes, collecting if the nursery's budget is spent. Roots: `Machine::spill[0..spilled]`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_collect(ctx: &mut Machine, bytes: Value) -> Value {
    safepoint(ctx, bytes.as_fixnum() as u64);
    ctx.spilled = 0;
    Value::UNSPECIFIED
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
    if !rt(ctx).strategy.facts.frames_in_heap {
        // The consumed part of the continuation below must not keep anything alive.
        chunks::remainder(ctx);
    }
    let (mut lo, mut hi) = (ctx.lo, ctx.hi);
    let mut roots = Roots { machine: ctx };
    let outcome = rt(ctx).heap.safepoint(&mut lo, &mut hi, need, &mut roots);
    (ctx.lo, ctx.hi) = (lo, hi);
    if let Err(e) = outcome {
        out_of_memory(ctx, e.requested);
    }
}

/// The collector's view of a running program.
struct Roots {
    machine: *mut Machine,
}

impl Roots {
    /// Every root but the frames of the current segment, which it returns: none when frames are in the heap.
    ///
    /// # Safety
    /// The machine is between two instructions of compiled code: all of these are words that hold values.
    unsafe fn visit_machine<V: RootVisitor>(&mut self, visitor: &mut V) -> Option<Segment> {
        // SAFETY: the machine context outlives the collection, and nothing else uses it meanwhile.
        unsafe {
            let ctx = &mut *self.machine;
            let rt: &mut Runtime = rt(ctx);
            visitor.words(ctx.thread.slots.as_mut_ptr() as *mut u64, ctx.thread.slots.len());
            visitor.words(ctx.slots.as_mut_ptr() as *mut u64, ctx.slots.len());
            visitor.words(ctx.spill.as_mut_ptr() as *mut u64, ctx.spilled as usize);
            visitor.slot(&raw mut ctx.result as *mut u64);
            visitor.slot(&raw mut ctx.thread.under as *mut u64);
            visitor.words(rt.open_ports.as_mut_ptr() as *mut u64, rt.open_ports.len());
            if !rt.module.is_null() {
                let module = &*rt.module;
                visitor.words(module.globals as *mut u64, module.global_count as usize);
                visitor.words(module.literals, module.literal_count as usize);
            }
            if let Some((spare, _)) = rt.strategy.chunks.spare {
                visitor.mark_chunk(Address(spare));
            }
            if rt.strategy.facts.frames_in_heap {
                visitor.slot(&raw mut ctx.thread.sp);
                return None;
            }
            (ctx.thread.chunk != 0).then_some(Segment {
                chunk: ctx.thread.chunk,
                sp: ctx.thread.sp,
                base: ctx.thread.base,
            })
        }
    }

    /// The second reading of a segment.
    ///
    /// # Safety
    /// `s.chunk` is the address of a chunk.
    unsafe fn audit<V: RootVisitor>(&mut self, s: Segment, visitor: &mut V) -> Result<(), String> {
        // SAFETY: as for `visit_machine`; the first word of a chunk is its end.
        unsafe {
            let strategy = &mut rt(&*self.machine).strategy;
            let mut auditor = std::mem::take(&mut strategy.auditor);
            let outcome = auditor.segment(strategy, s, Address(s.chunk).load(), visitor);
            strategy.auditor = auditor;
            visitor.mark_chunk(Address(s.chunk));
            outcome
        }
    }
}

/// The frames that a continuation object covers: none when frames are in the heap.
///
/// # Safety
/// `k` is a continuation object.
unsafe fn segment_of(k: Address) -> Option<Segment> {
    // SAFETY: by the contract.
    let word = |i: u64| unsafe { k.plus(8 * i).load() };
    let chunk = word(continuation::CHUNK);
    (chunk != 0).then(|| Segment { chunk, sp: word(continuation::SP), base: word(continuation::BASE) })
}

/// The collector's reading of a segment.
///
/// # Safety
/// `s` delimits whole frames.
unsafe fn visit_segment<V: RootVisitor>(s: Segment, visitor: &mut V) {
    // SAFETY: by the contract.
    unsafe { visit_frames(s.sp, s.base, visitor) };
    visitor.mark_chunk(Address(s.chunk));
}

impl Client for Roots {
    fn visit_roots<V: RootVisitor>(&mut self, visitor: &mut V) {
        // SAFETY: the collector runs at safepoints only.
        unsafe {
            if let Some(s) = self.visit_machine(visitor) {
                visit_segment(s, visitor);
            }
        }
    }

    fn trace_continuation<V: RootVisitor>(&mut self, k: Address, visitor: &mut V) {
        // SAFETY: `k` is a continuation object.
        unsafe {
            if let Some(s) = segment_of(k) {
                visit_segment(s, visitor);
            }
        }
    }

    fn audit_roots<V: RootVisitor>(&mut self, visitor: &mut V) -> Result<(), String> {
        // SAFETY: as for `visit_roots`.
        unsafe { self.visit_machine(visitor).map_or(Ok(()), |s| self.audit(s, visitor)) }
    }

    fn audit_continuation<V: RootVisitor>(&mut self, k: Address, visitor: &mut V) -> Result<(), String> {
        // SAFETY: as for `trace_continuation`.
        unsafe { segment_of(k).map_or(Ok(()), |s| self.audit(s, visitor)) }
    }

    fn audit_code(&mut self, code: u64) -> Result<(), String> {
        // SAFETY: as for `visit_machine`.
        unsafe { rt(&*self.machine).strategy.auditor.code(code) }
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
