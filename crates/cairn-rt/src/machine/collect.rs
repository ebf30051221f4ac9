//! Safepoints: where compiled code lets the collector run.
//!
//! Compiled code comes here when the current nursery block has too little room, or the stack guard trips. Its live
//! values are in `Machine::spill`, everything older is in frames, and the registers hold nothing else: so all roots are
//! known precisely. Runtime calls never come here.

use super::{depth, frames, stop_word};
use crate::exhaustion;
use crate::port;
use crate::runtime::{Runtime, rt};
use crate::weak;
use cairn_heap::address::Address;
use cairn_heap::{AmbiguousVisitor, Census, Client, Refill, RootVisitor, WeakVisitor};
use cairn_layout::Value;
use cairn_layout::code::Site;
use cairn_layout::machine::{Machine, stop as reason};

/// What compiled code asks for at a safepoint, in bytes.
pub struct Room {
    /// In the nursery; 0: nothing.
    pub heap: u64,
    /// Below the youngest frame; 0: nothing.
    pub stack: u64,
    /// Size of the youngest frame, if that may move because a larger one takes its place; else 0.
    pub kept: u64,
}

/// Ends a safepoint: what compiled code asked for is there, and `sp` is the result.
pub fn make_room(ctx: &mut Machine, room: &Room) -> Value {
    if ctx.stop & reason::STACK != 0 {
        frames::grown(ctx);
        admit_growth(ctx);
        depth::admit(ctx);
    }
    let asked = ctx.stop & reason::HEAP != 0;
    if asked {
        stop_word::served(ctx, reason::HEAP);
    }
    if asked || room.heap > 0 || ctx.stop & reason::ZEAL != 0 {
        safepoint(ctx, room.heap);
    }
    if room.stack > 0 && frames::lacks_room(ctx, room.stack) {
        // The program may have left the frames that were too many since it was told.
        if exhaustion::is_raised(ctx) && rt(ctx).heap.request_collection(&mut ctx.cursors, true).is_ok() {
            safepoint(ctx, 0);
        }
        frames::overflow(ctx, room.stack, room.kept);
        // Where chunks are not freed by hand, deep recursion alone makes a collection due.
        if rt(ctx).options.ambiguous_frames && rt(ctx).heap.chunks_are_due() {
            safepoint(ctx, 0);
        }
        admit_growth(ctx);
        // A collection may have taken the room, where what is free is found anew.
        while frames::lacks_room(ctx, room.stack) {
            frames::overflow(ctx, room.stack, room.kept);
        }
        depth::admit(ctx);
    }
    ctx.spilled = 0;
    Value(ctx.thread.sp)
}

/// Frames have got more memory: may they keep it? Where a continuation is a copy of the stack, there must be room for
/// some, since handlers of conditions make them.
fn admit_growth(ctx: &mut Machine) {
    if exhaustion::is_overdrawn(ctx) {
        safepoint(ctx, 0);
    }
    let copy = frames::copy_bytes(ctx);
    let lacks = |ctx: &Machine| {
        let heap = &mut rt(ctx).heap;
        heap.is_overdrawn() || exhaustion::is_plenty(ctx) && heap.bytes_in_use() + copy > heap.heap_max()
    };
    if copy > 0 && lacks(ctx) {
        if rt(ctx).heap.request_collection(&mut ctx.cursors, true).is_ok() {
            safepoint(ctx, 0);
        }
        if lacks(ctx) {
            exhaustion::refuse(ctx, copy);
        }
    }
}

/// What [`Machine::allocation_site`] holds between the slow paths of heap checks: what is allocated is for nobody.
pub const NO_SITE: u64 = Value::fixnum(Site::NONE.0 as i64).0;

/// Room for `bytes` bytes, by the next extent or by a collection. `Machine::sp` and `Machine::cursors` must be current,
/// live values in `spill[0..spilled]`.
pub fn safepoint(ctx: &mut Machine, bytes: u64) {
    if let Some(profiler) = &mut rt(ctx).heap_profile {
        profiler.note(ctx);
    }
    let heap = &mut rt(ctx).heap;
    let need = bytes + heap.check_reserve();
    if let Refill::Block(fresh) = heap.refill(ctx.cursors, need) {
        ctx.cursors = fresh;
        ctx.allocation_site = NO_SITE;
        if let Some(profiler) = &mut rt(ctx).heap_profile {
            profiler.refilled(ctx);
        }
        return;
    }
    if let Some(profiler) = &mut rt(ctx).time_profile {
        profiler.collecting(true);
    }
    frames::before_collection(ctx);
    rt(ctx).heap.return_cells(&mut ctx.free);
    let mut cursors = ctx.cursors;
    let outcome = if rt(ctx).options.ambiguous_frames {
        let chunks = rt(ctx).heap.stack_chunks();
        let mut roots = Roots::<true> { machine: ctx, chunks, frames: true };
        rt(ctx).heap.collect_for(&mut cursors, need, &mut roots)
    } else {
        let mut roots = Roots::<false> { machine: ctx, chunks: Vec::new(), frames: true };
        rt(ctx).heap.collect_for(&mut cursors, need, &mut roots)
    };
    ctx.cursors = cursors;
    frames::after_collection(ctx);
    port::close_dropped(ctx);
    weak::give_back(ctx);
    ctx.allocation_site = NO_SITE;
    if let Some(profiler) = &mut rt(ctx).time_profile {
        profiler.collecting(false);
    }
    if let Some(profiler) = &mut rt(ctx).heap_profile {
        profiler.collected(ctx);
    }
    exhaustion::collected(ctx, outcome, need);
    depth::admit_after_collection(ctx);
}

/// Tells `visit` each object that lives, and its size; see [`cairn_heap::Heap::census`]. The machine is as for
/// [`safepoint`], or, without `frames`, no compiled code is under way.
pub fn census(ctx: &mut Machine, frames: bool, visit: impl FnMut(u64, u64)) -> std::io::Result<Census> {
    let mut roots = Roots::<false> { machine: ctx, chunks: Vec::new(), frames };
    rt(ctx).heap.census(&mut roots, visit)
}

/// The collector's view of a running program. `AMBIGUOUS`: of the words of frames and registers nothing is known.
struct Roots<const AMBIGUOUS: bool> {
    machine: *mut Machine,
    /// Address and size of the stack chunks in use, if their words are ambiguous.
    chunks: Vec<(u64, u64)>,
    /// There are frames, and spilled values.
    frames: bool,
}

impl<const AMBIGUOUS: bool> Roots<AMBIGUOUS> {
    fn ctx(&mut self) -> &mut Machine {
        // SAFETY: the runtime owns the machine and the heap; while the heap collects, only its client uses the machine.
        unsafe { &mut *self.machine }
    }

    /// Every root but the frames.
    ///
    /// # Safety
    /// The machine is between two instructions of compiled code: all of these are words that hold values.
    unsafe fn visit_machine<V: RootVisitor>(&mut self, visitor: &mut V) {
        let frames = self.frames;
        let ctx = self.ctx();
        let rt: &mut Runtime = rt(ctx);
        // SAFETY: at a safepoint (`# Safety`): `slots`, `spill[..spilled]`, `result` and the ports hold values, and so
        // do globals and literals of loaded modules, whose tables stay valid as long as the runtime.
        unsafe {
            visitor.words(ctx.thread.slots.as_mut_ptr() as *mut u64, ctx.thread.slots.len());
            visitor.words(ctx.slots.as_mut_ptr() as *mut u64, ctx.slots.len());
            if !AMBIGUOUS && frames {
                visitor.words(ctx.spill.as_mut_ptr() as *mut u64, ctx.spilled as usize);
            }
            visitor.slot(&raw mut ctx.result as *mut u64);
            visitor.words(rt.dropped_ports.as_mut_ptr() as *mut u64, rt.dropped_ports.len());
            for module in rt.modules.iter() {
                visitor.static_words(module.globals as *mut u64, module.global_count as usize);
                visitor.static_words(module.literals, module.literal_count as usize);
                if rt.symbols.modules_move {
                    visitor.words(module.symbols as *mut u64, module.symbol_count as usize);
                }
            }
        }
    }
}

impl<const AMBIGUOUS: bool> Client for Roots<AMBIGUOUS> {
    const AMBIGUOUS: bool = AMBIGUOUS;

    fn visit_ambiguous<V: AmbiguousVisitor>(&mut self, visitor: &mut V) {
        if AMBIGUOUS {
            let ctx = self.ctx();
            // SAFETY: `spilled` words of the spill area are in use; the collector asks at safepoints only, so the
            // frames are whole.
            unsafe {
                visitor.ambiguous_words(ctx.spill.as_ptr() as *const u64, ctx.spilled as usize);
                frames::visit_ambiguous(ctx, visitor);
            }
        }
    }

    fn audit_ambiguous<V: AmbiguousVisitor>(&mut self, visitor: &mut V) {
        if AMBIGUOUS {
            let ctx = self.ctx();
            // SAFETY: `spilled` words of the spill area are in use; the checker asks at safepoints only, so the frames
            // are whole.
            unsafe {
                visitor.ambiguous_words(ctx.spill.as_ptr() as *const u64, ctx.spilled as usize);
                frames::audit_ambiguous(ctx, visitor);
            }
        }
    }

    /// Which of the frames in other segments are alive, tracing finds out.
    fn visit_pinning<V: AmbiguousVisitor>(&mut self, visitor: &mut V) {
        for &(start, bytes) in &self.chunks {
            // SAFETY: `start` and `bytes` are those of a chunk in use, as the heap listed it before this collection.
            unsafe { visitor.ambiguous_words(start as *const u64, (bytes / 8) as usize) };
        }
    }

    fn visit_roots<V: RootVisitor>(&mut self, visitor: &mut V) {
        // SAFETY: the collector runs at safepoints only, so the machine's words hold values and its frames are whole.
        unsafe {
            self.visit_machine(visitor);
            if !self.frames {
                return;
            }
            if !AMBIGUOUS {
                return frames::visit_thread(self.ctx(), visitor);
            }
            frames::visit_rest(self.ctx(), visitor);
        }
    }

    fn trace_continuation<V: RootVisitor + AmbiguousVisitor>(&mut self, k: Address, visitor: &mut V) {
        // SAFETY: the collector passes continuation objects only, at the places where they will stay.
        unsafe {
            if !AMBIGUOUS {
                return frames::visit_continuation(self.ctx(), k, visitor);
            }
            frames::visit_ambiguous_continuation(self.ctx(), k, visitor);
        }
    }

    fn visit_dying<V: WeakVisitor>(&mut self, visitor: &mut V) {
        port::visit_dying(rt(self.ctx()), visitor);
    }

    fn visit_weak<V: WeakVisitor>(&mut self, visitor: &mut V) {
        rt(self.ctx()).symbols.visit_weak(visitor);
    }

    fn audit_roots<V: RootVisitor>(&mut self, visitor: &mut V) -> Result<(), String> {
        if AMBIGUOUS {
            // What dead slots hold counts, so they cannot be spoiled.
            self.visit_roots(visitor);
            return Ok(());
        }
        // SAFETY: the checker runs at safepoints only, so the machine's words hold values; the audit finds out about
        // frames.
        unsafe {
            self.visit_machine(visitor);
            frames::audit_thread(self.ctx(), visitor)
        }
    }

    fn audit_continuation<V: RootVisitor + AmbiguousVisitor>(
        &mut self,
        k: Address,
        visitor: &mut V,
    ) -> Result<(), String> {
        // SAFETY: the checker passes continuation objects only; the audit finds out about their frames.
        unsafe {
            if !AMBIGUOUS {
                return frames::audit_continuation(self.ctx(), k, visitor);
            }
            frames::audit_ambiguous_continuation(self.ctx(), k, visitor);
        }
        Ok(())
    }

    fn audit_code(&mut self, code: u64) -> Result<(), String> {
        rt(self.ctx()).strategy.auditor.code(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bare_runtime::TestRuntime;
    use crate::start_options::{Options, Zeal};

    #[test]
    fn a_check_larger_than_the_nursery_is_no_lack_of_memory() {
        let options = Options { heap_max: Some(512 << 10), zeal: Zeal::Off, ..Options::default() };
        let mut t = TestRuntime::with(options);
        let ctx = t.ctx();
        for _ in 0..20 {
            // The nursery is an eighth of the heap.
            safepoint(ctx, 100_000);
            assert!(ctx.cursors.room() >= 100_000);
            ctx.cursors.hi -= 100_000;
        }
        assert!(rt(ctx).heap.stats().minor > 0);
    }
}
