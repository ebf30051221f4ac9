//! What compiled code calls at a safepoint.
//!
//! It comes here when the current nursery block has too little room, or the stack guard trips. Its live values are in
//! `Machine::spill`, everything older is in frames. First a requested stop is served, then room is made.

use super::collect::{Room, make_room};
use super::suspend::suspend;
use super::{raise, stop, stop_word, turns};
use crate::native;
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::machine::{Machine, slot, stop as reason};

/// A heap check found too little room: makes room for `bytes` bytes, collecting if the nursery's budget is spent.
/// Roots: `Machine::spill[0..spilled]`. The result is the new `sp`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_collect(ctx: &mut Machine, bytes: Value) -> Value {
    let room = Room { heap: bytes.as_fixnum() as u64, stack: 0, kept: 0 };
    serve(ctx, &room);
    make_room(ctx, &room)
}

/// The stack guard tripped: a stop is requested, or there is no room for `bytes` more bytes of stack. Then the youngest
/// frame, of `kept` bytes, moves to another chunk. Roots and result as above.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_guard(ctx: &mut Machine, bytes: Value, kept: Value) -> Value {
    let room = Room { heap: 0, stack: bytes.as_fixnum() as u64, kept: kept.as_fixnum() as u64 };
    serve(ctx, &room);
    make_room(ctx, &room)
}

/// Profiles take a sample.
#[cold]
fn sample(ctx: &mut Machine) {
    stop_word::served(ctx, reason::PROFILE);
    if let Some(mut profiler) = rt(ctx).time_profile.take() {
        profiler.sample(ctx);
        rt(ctx).time_profile = Some(profiler);
    }
    if let Some(profiler) = &mut rt(ctx).heap_profile {
        profiler.stopped(ctx);
    }
}

/// Serves a requested stop, if there is one. If the program asks for signals its hook is called, and goes on here when
/// that returns.
#[inline]
fn serve(ctx: &mut Machine, room: &Room) {
    if ctx.stop & reason::END != 0 {
        stop::end_for_another(ctx)
    }
    if ctx.stop & reason::PROFILE != 0 {
        sample(ctx)
    }
    if ctx.stop & reason::CODE != 0 {
        native::take_better_code(ctx)
    }
    if ctx.stop & (reason::TICK | reason::SCHEDULE) != 0 && turns::take_tick(ctx) {
        suspend(ctx, room);
        raise::go_on_with(ctx, ctx.slot(slot::TICK_HOOK))
    }
    if ctx.stop & reason::FINALIZERS != 0 && stop::take_finalizers(ctx) {
        suspend(ctx, room);
        raise::go_on_with(ctx, ctx.slot(slot::FINALIZER_HOOK))
    }
    if let Some(signal) = stop::take(ctx) {
        suspend(ctx, room);
        *ctx.slot_mut(slot::RAISED) = Value::fixnum(signal);
        raise::go_on_with(ctx, ctx.slot(slot::SIGNAL_HOOK))
    }
}
