//! A program that is evaluated, and the native code that takes its place where it is hot.
//!
//! ```text
//!  lib/cairn/evaluator.sld                    here                          the host, behind Evaluated
//!  forms, one by one               ◀── native-form ──                ◀──    code of the program
//!  a procedure is entered again
//!  and again                       ── native-request ─▶  what is bound  ──▶ begins to compile a module
//!  … goes on …
//!  makers, procedures              ◀── native-ready ──  loads it     ◀──    object code, when it is done
//!  old closure, new code           ── native-become! ─▶
//!                                       take_better_code             ◀──    later, at a safepoint: better code
//! ```
//!
//! A form that was typed at the prompt, or loaded, takes the same way, but for its code, which the expander hands over:
//! there the host is behind the `Evaluator`, whose session it follows (`cairn-eval/src/units.rs`).
//!
//! What the numbers mean is said in `cairn_core::tier`. A module shares the program's cells, pairs with a
//! value, and imports from the library that runs.
//!
//! Invariants: modules stay loaded as long as the runtime. A closure that becomes another one has its size, and keeps
//! what is in it: an activation of it may wait at a safepoint, behind a signal handler or in another thread, and still
//! read its only variable.

use crate::access;
use crate::alloc;
use crate::evaluator::{Parts, value, value_of};
use crate::failure::other;
use crate::machine::stop_word::served;
use crate::native_module::Progress;
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::code::{SHAPE, shape_words};
use cairn_layout::limits::{HOT_ENTRIES, IS_NATIVE};
use cairn_layout::machine::{Machine, stop};
use cairn_layout::value::TAG_PROCEDURE;

fn numbers(ctx: &mut Machine, items: impl Iterator<Item = usize>) -> Value {
    let items: Vec<Value> = items.map(|n| Value::fixnum(n as i64)).collect();
    alloc::make_vector(ctx, &items)
}

/// `(native-program)`: a vector of [`crate::evaluated_program::Evaluated::sizes`], then the sources and the cells of
/// what is undefined.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_native_program(ctx: &mut Machine) -> Value {
    let Some(program) = rt(ctx).options.program.clone() else { return Value::FALSE };
    let mut items = program.sizes().map(|n| Value::fixnum(n as i64)).to_vec();
    items.push(value(ctx, program.sources()));
    items.push(value(ctx, program.undefined()));
    alloc::make_vector(ctx, &items)
}

/// `(native-form n cells)`: the code of a form of the program.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_native_form(ctx: &mut Machine, n: Value, cells: Value) -> Value {
    let n = access::fixnum_of(n).unwrap_or(0) as usize;
    match rt(ctx).options.program.clone() {
        Some(program) => {
            value_of(ctx, program.form(n), &mut Parts::Cells(access::vector_of(cells).unwrap_or_default()))
        }
        None => Value::UNSPECIFIED,
    }
}

/// `(native-unbound)`: what cells hold before they have a value.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_native_unbound(_: &mut Machine) -> Value {
    Value::UNBOUND
}

/// `(native-haste)`: entries before a module is asked for, if [`crate::Options::haste`] says so; else `#f`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_native_haste(ctx: &mut Machine) -> Value {
    rt(ctx).options.haste.map_or(Value::FALSE, |n| Value::fixnum(n.get().into()))
}

/// `(native-request places entered cells held)`: a ticket for a module, or `#f` if there will be none. An element of
/// `entered` is a number of entries, or `#f` for what is native already. The places are
/// those of a form, `#(text form fingerprint lambdas cells …)`, and of others that define what it calls; `#f` for the
/// program. A cell's element of `held` is the procedure that the form with this cell has put there, if it still is.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_native_request(
    ctx: &mut Machine,
    places: Value,
    entered: Value,
    cells: Value,
    held: Value,
) -> Value {
    // in haste, whatever was entered is worth it
    let scale = if rt(ctx).options.haste.is_some() { i64::from(HOT_ENTRIES) } else { 1 };
    let count = |v: &Value| {
        let entered = access::fixnum_of(*v).map(|n| (n * scale).clamp(0, i64::from(IS_NATIVE) - 1) as u32);
        entered.unwrap_or(IS_NATIVE)
    };
    let entered = access::vector_of(entered).unwrap_or_default().iter().map(count).collect();
    let cells = access::vector_of(cells).unwrap_or_default();
    let bound = cells.iter().map(|c| c.is_pair() && access::car(*c) != Value::UNBOUND).collect();
    let stopper = rt(ctx).stopper.clone();
    stopper.is_for(ctx);
    match access::vector_of(places) {
        Some(places) => {
            let held = access::vector_of(held).unwrap_or_default().iter().map(|v| *v != Value::FALSE).collect();
            let part = |place: &Value| match access::vector_of(*place) {
                Some([text, form, fingerprint, _, cells, ..]) => {
                    [*text, *form, *fingerprint, *cells].map(|v| access::fixnum_of(v).unwrap_or(-1))
                }
                _ => [-1; 4],
            };
            let parts = places.iter().map(part).collect();
            let evaluator = rt(ctx).evaluator.as_mut();
            let ticket = evaluator.and_then(|e| e.request(parts, entered, bound, held, stopper));
            ticket.map_or(Value::FALSE, Value::fixnum)
        }
        None => Value::bool(rt(ctx).options.program.as_ref().is_some_and(|p| p.request(entered, bound, stopper))),
    }
}

/// `(native-ready ticket cells)`: `#(procedure lambdas cells)` of the module; `#f` while it is being made, `#t` if
/// there will be none. The procedure puts the module's value into the cell for it.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_native_ready(ctx: &mut Machine, ticket: Value, cells: Value) -> Value {
    let ticket = access::fixnum_of(ticket);
    let look = || match ticket {
        Some(ticket) => rt(ctx).evaluator.as_mut().map(|e| e.ready(ticket)),
        None => rt(ctx).options.program.clone().map(|p| p.ready()),
    };
    let mut progress = look();
    while rt(ctx).options.haste.is_some() && matches!(progress, Some(Progress::UnderWay)) {
        std::thread::sleep(std::time::Duration::from_millis(1));
        progress = look();
    }
    let native = match progress {
        Some(Progress::Made(native)) => native,
        Some(Progress::UnderWay) => return Value::FALSE,
        Some(Progress::Failed) | None => return Value::TRUE,
    };
    let cells = access::vector_of(cells).unwrap_or_default().to_vec();
    let (table, code) = native.code;
    // SAFETY: the module that `Native` speaks of stays loaded as long as the runtime, and its code lies in `code` (see
    // there); `cells` are elements of a vector, so values.
    let module = unsafe { rt(ctx).load_with_cells(table, code, &cells) };
    let main = match module {
        Ok(id) => rt(ctx).modules.get(id).expect("just loaded").main,
        Err(e) => return other(ctx, "run", e.to_string(), &[]),
    };
    let lambdas = numbers(ctx, native.lambdas.into_iter());
    let procedures = numbers(ctx, native.cells.into_iter().map(|n| n as usize));
    alloc::make_vector(ctx, &[main, lambdas, procedures])
}

/// A stop for [`stop::CODE`]: better code takes the place of what was loaded. This is a safepoint.
#[cold]
pub(crate) fn take_better_code(ctx: &mut Machine) {
    served(ctx, stop::CODE);
    let of_program = rt(ctx).options.program.as_ref().map_or(Vec::new(), |p| p.better_code());
    let of_units = rt(ctx).evaluator.as_mut().map_or(Vec::new(), |e| e.better_code());
    for better in of_program.into_iter().chain(of_units) {
        rt(ctx).admit_code(better.old.start, better.code);
        (better.install)();
    }
}

/// `(native-become! old new)`: the procedure `old` does what `new` does, which has no free variables. Not if `old` is
/// a module's own, or has more than one variable.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_native_become(ctx: &mut Machine, old: Value, new: Value) -> Value {
    let is_procedure = |v: Value| v.0 & 7 == TAG_PROCEDURE;
    // SAFETY: callers pass procedures, whose first word is a code address, before which a shape says how many words
    // there are.
    let words = |v: Value| unsafe { shape_words(*((*(v.address() as *const u64) as i64 + SHAPE) as *const u64)) };
    if is_procedure(old) && is_procedure(new) && rt(ctx).heap.contains(old.0) && words(old) == words(new) {
        // SAFETY: `old` is a procedure in the heap, so its first word, a code address, can be written; `new` is one of
        // as many words.
        unsafe { *(old.address() as *mut u64) = *(new.address() as *const u64) };
    }
    Value::UNSPECIFIED
}
