//! Raising a condition from inside the runtime, where no failure can be returned.
//!
//! The problem: what goes wrong at a safepoint, or deep inside a runtime call, has no way to tell compiled code, which
//! expects a result. The idea: the activation of compiled code under way ends. Its frame pointer is in the context,
//! its native frame can be dropped (`stubs::leave`), and [`Runtime::run`](crate::Runtime::run) enters compiled code
//! again at the frames that stand there, with a procedure of the library that raises. So a handler sees the dynamic
//! state of the place that failed.
//!
//! Destructors of the runtime call under way do not run: it may lose memory outside of the heap, and must not have
//! taken anything out of the runtime's state.

use super::stubs;
use crate::alloc;
use crate::runtime::Failure;
use cairn_layout::Value;
use cairn_layout::code::Site;
use cairn_layout::machine::{Machine, THREAD_SLOTS, slot};

/// What `stubs::enter` returns when the procedure in `Machine::result` is to be called; no exit status.
pub(crate) const RAISED: i64 = i64::MIN;

const HOOK: usize = slot::RAISE_HOOK - THREAD_SLOTS;

/// The procedure that raises.
pub(crate) fn hook(ctx: &Machine) -> Value {
    ctx.slots[HOOK]
}

/// Is there compiled code to go back to, and a library that raises?
fn is_possible(ctx: &Machine) -> bool {
    ctx.host_sp != 0 && hook(ctx).is_procedure()
}

/// Raises, unless that is impossible; the machine's `sp`, `lo` and `hi` must be current.
pub fn raise(ctx: &mut Machine, failure: &Failure) {
    if !is_possible(ctx) {
        return;
    }
    let who = failure.who.as_ref().map_or(Value::FALSE, |name| alloc::make_string(ctx, name));
    let message = alloc::make_string(ctx, &failure.message);
    let irritants = alloc::make_list(ctx, &failure.irritants);
    let site = Value::fixnum(Site::NONE.0 as i64);
    let arguments = [Value::fixnum(failure.kind), who, message, irritants, site];
    ctx.slots[slot::RAISED - THREAD_SLOTS] = alloc::make_list(ctx, &arguments);
    go_on_with(ctx, hook(ctx))
}

/// Ends the activation under way and calls a procedure of no arguments at the frames that stand.
pub(crate) fn go_on_with(ctx: &mut Machine, procedure: Value) -> ! {
    ctx.spilled = 0;
    ctx.result = procedure;
    // SAFETY: a run is under way, so compiled code was entered through the stub, below on this stack.
    unsafe { stubs::leave(ctx, RAISED) }
}
