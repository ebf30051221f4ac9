//! The machine: entering compiled code, frames, continuations, collections.
//!
//! | module | its one job |
//! |---|---|
//! | [`stubs`] | the cold stub: runtime calls that preserve all registers |
//! | [`native_stubs`] | the same for native frames, and their return points that no call has |
//! | [`frames`] | the frame strategies: overflow, underflow, capture, reinstatement, roots |
//! | [`state`] | what the machine keeps besides its context |
//! | [`frame_reader`] | reading frames by their descriptors |
//! | [`audit`] | a second, distrustful reading of frames, for zeal |
//! | [`safepoint`] | what compiled code calls at a safepoint |
//! | [`collect`] | room for what comes next: roots, the collector's client |
//! | [`modules`] | the loaded modules: whose code, whose positions |
//! | [`requests`] | memory for compiled code that asks for it |
//! | [`raise`] | conditions raised from inside the runtime |
//! | [`stop_word`] | how a stop is requested: the stack guard |
//! | [`stop`] | requested stops: signals |
//! | [`suspend`] | leaving a safepoint and coming back |
//! | [`ticker`] | stops requested by the clock, or at random |
//! | [`turns`] | turns of threads |
//! | [`load`] | taking in a compiled module, running it |

pub(crate) mod audit;
pub(crate) mod collect;
pub mod depth;
pub(crate) mod frame_reader;
pub mod frames;
pub mod load;
pub mod modules;
mod native_stubs;
pub(crate) mod raise;
mod requests;
mod safepoint;
mod signal_stack;
pub(crate) mod state;
pub mod stop;
pub(crate) mod stop_word;
pub(crate) mod stubs;
mod suspend;
pub(crate) mod ticker;
pub(crate) mod turns;

pub use frames::{cairn_machine_note_base, cairn_machine_used};
pub use requests::*;
pub use safepoint::*;
pub use suspend::cairn_machine_resume;

use crate::access;
use crate::alloc;
use crate::exhaustion;
use crate::failure;
use crate::list::{Shape, shape};
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::code::{OF_PROCEDURE, SHAPE, flags};
use cairn_layout::machine::Machine;
use cairn_layout::object::continuation;
use cairn_layout::value::TAG_PROCEDURE;
use frame_reader::descriptor;
use frames::continuation_word;

/// A return left the current segment: brings back the frame below. The result is the new `Machine::sp`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_underflow(ctx: &mut Machine) -> Value {
    frames::underflow(ctx);
    Value(ctx.thread.sp)
}

/// Captures the current continuation where compiled code does not do it itself. `Machine::sp` may change.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_capture(ctx: &mut Machine) -> Value {
    frames::capture(ctx)
}

/// Captures the current continuation for one use, where compiled code does not do it itself. `Machine::sp` may change.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_capture_once(ctx: &mut Machine) -> Value {
    frames::capture_once(ctx)
}

/// A procedure of the prelude, by its number.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_builtin(ctx: &mut Machine, i: Value) -> Value {
    let code = rt(ctx).strategy.builtins[i.as_fixnum() as usize];
    let address = alloc::alloc_procedure(ctx, 2);
    // SAFETY: `alloc_procedure` has just given out these two words.
    unsafe { (address as *mut [u64; 2]).write([code, 0]) };
    Value(address | TAG_PROCEDURE)
}

/// Do these continuations have the same frames?
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_same(ctx: &mut Machine, j: Value, k: Value) -> Value {
    Value::bool(frames::same(ctx, j, k))
}

/// Makes the frames of a continuation object the current ones, where compiled code does not do it itself. The result is
/// the new `Machine::sp`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_reinstate(ctx: &mut Machine, k: Value) -> Value {
    frames::reinstate(ctx, k);
    Value(ctx.thread.sp)
}

/// Is it a continuation?
pub(crate) fn is_continuation(v: Value) -> bool {
    // SAFETY: `v` is a procedure, so its first word is a code address, before which a descriptor stands.
    v.is_procedure()
        && unsafe { descriptor(continuation_word(v, continuation::CODE), SHAPE) } & flags::CONTINUATION != 0
}

/// The dynamic-wind list at the capture of continuation `k`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_winders(ctx: &mut Machine, k: Value) -> Value {
    if !is_continuation(k) {
        return failure::wrong_type(ctx, "continuation-winders", 0, "a continuation", k);
    }
    Value(continuation_word(k, continuation::WINDERS))
}

/// Spreads a list into `Machine::args`; the result is its length.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_spread(ctx: &mut Machine, list: Value) -> Value {
    // Count first, so that an improper or circular list writes nothing.
    let n = match shape(list) {
        Shape::Proper(n) => n,
        // Other arguments may be before the last: its end tells what is wrong, wherever it begins.
        Shape::Dotted if list.is_pair() => {
            let mut end = list;
            while end.is_pair() {
                end = access::cdr(end);
            }
            return failure::wrong_type(ctx, "apply", 0, "the empty list at the end of the last argument", end);
        }
        Shape::Dotted | Shape::Circular => {
            return failure::wrong_type(ctx, "apply", 0, "a proper list as last argument", list);
        }
    };
    ensure_args(ctx, n);
    let mut rest = list;
    for i in 0..n {
        // SAFETY: `ensure_args` made room for `n` arguments.
        unsafe { *ctx.args.add(i) = access::car(rest) };
        rest = access::cdr(rest);
    }
    Value::fixnum(n as i64)
}

/// The list of `Machine::args[start..argc]`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_rest(ctx: &mut Machine, start: Value, argc: Value) -> Value {
    let (start, end) = (start.as_fixnum() as usize, argc.as_fixnum() as usize);
    let mut list = Value::NIL;
    for i in (start..end).rev() {
        // SAFETY: compiled code calls this with `argc` arguments stored in `args`, and `i` is below that.
        let x = unsafe { *ctx.args.add(i) };
        list = alloc::alloc_pair(ctx, x, list);
    }
    list
}

/// A `receive` got the wrong number of values: those in the list. `expected` is `cairn_layout::code::expected_values`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_mismatch(ctx: &mut Machine, expected: Value, got: Value) -> Value {
    let got: Vec<Value> = access::list_items(got).collect();
    let expected = expected.as_fixnum() as u64;
    let noun = if expected & OF_PROCEDURE != 0 { "argument" } else { "value" };
    let message = failure::count_message(expected & !OF_PROCEDURE, noun, got.len());
    failure::fail(ctx, cairn_layout::machine::error::ARITY, "", message, &got)
}

/// A `letrec` variable was read before its initialization.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_unbound(ctx: &mut Machine, name: Value) -> Value {
    use cairn_layout::machine::error;
    let message = error::unbound(&access::symbol_text(name), false);
    failure::fail(ctx, error::UNBOUND, "", message, &[])
}

/// Makes the argument area hold `n` arguments. What it grows by counts as part of the heap.
pub fn ensure_args(ctx: &mut Machine, n: usize) {
    let len = rt(ctx).args.len();
    if len < n {
        let size = n.next_power_of_two();
        let bytes = ((size - len) * size_of::<Value>()) as u64;
        if rt(ctx).heap.charge(bytes).is_err() {
            exhaustion::overdraw(ctx, bytes, |ctx| rt(ctx).heap.charge(bytes));
        }
        let area = &mut rt(ctx).args;
        area.resize(size, Value::UNSPECIFIED);
        ctx.args = area.as_mut_ptr();
    }
}
