//! How failures reach Scheme.
//!
//! The problem: an operation fails in Rust, or in an inline check of compiled code; the program must see a
//! condition object, made by the library. The idea: compiled code calls [`cairn_machine_throw`], which
//! turns the failure into the five arguments of the error hook: kind, who, message, irritants, site.
//!
//! Invariant: nothing collects between the failure and the throw.

use crate::access;
use crate::alloc;
use crate::call_place;
use crate::evaluated_marks as evaluated;
use crate::failure::{count_message, with_article};
use crate::machine::frame_reader::described_name;
use crate::numeric;
use crate::record;
use crate::runtime::{Failure, rt};
use cairn_layout::Value;
use cairn_layout::code::{self, Site};
use cairn_layout::machine::{Machine, error as kind};
use cairn_layout::object::Type;
use cairn_layout::object::numeric::NumericKind;
use std::borrow::Cow;
use std::ffi::CStr;

/// What an error about an index calls an object, with its article, and its length.
fn container_name(v: Value) -> Option<(Cow<'static, str>, usize)> {
    if let Some(kind) = numeric::kind_of(v).filter(|k| *k != NumericKind::U8) {
        return Some((kind.with_article().into(), access::length(v) >> kind.shift()));
    }
    let name: &'static str = if access::is(v, Type::Vector) {
        "a vector"
    } else if access::is(v, Type::String) {
        "a string"
    } else if access::is(v, Type::Bytevector) {
        "a bytevector"
    } else {
        return None;
    };
    Some((name.into(), access::length(v)))
}

/// The two strings of `operation`: a C string `who`, then, right after its NUL, a C string `expected`.
///
/// # Safety
/// `operation` is zero or the address of such constants.
unsafe fn operation_text(operation: Value) -> (String, String) {
    if operation.0 == 0 || !operation.is_fixnum() {
        return (String::new(), String::new());
    }
    // SAFETY: `operation` is not zero, so it is the address of such constants (`# Safety`): two C strings, one behind
    // the other.
    unsafe {
        let who = CStr::from_ptr(operation.0 as *const _);
        let expected = CStr::from_ptr((operation.0 as *const std::ffi::c_char).add(who.to_bytes().len() + 1));
        (who.to_string_lossy().into_owned(), expected.to_string_lossy().into_owned())
    }
}

/// The failure of an inline check; see [`cairn_machine_throw`].
fn inline_failure(kind: i64, operation: Value, x: Value, y: Value) -> Failure {
    let mut irritants = Vec::new();
    let who;
    let message;
    match kind {
        kind::NOT_PROCEDURE => {
            // SAFETY: for this kind, compiled code passes zero or the address of the two strings.
            let (name, _) = unsafe { operation_text(operation) };
            who = (!name.is_empty()).then_some(name);
            message = "tried to call what is not a procedure:".to_string();
            irritants.push(x);
        }
        kind::UNBOUND => {
            // SAFETY: for this kind, compiled code passes zero or the address of the two strings.
            let (name, expected) = unsafe { operation_text(operation) };
            let name = if name.is_empty() { "a variable" } else { &name };
            let message = kind::unbound(name, expected == kind::A_DEFINITION);
            return Failure { kind: kind::UNBOUND, who: None, message, argument: 0, irritants };
        }
        kind::ARITY => {
            irritants.extend(access::list_items(y));
            // SAFETY: for this kind, `x` is a procedure: its first word is an entry, with an entry's prefix before it.
            let (name, arity) = unsafe {
                let entry = *(x.address() as *const u64);
                let at = |offset: i64| *((entry as i64 + offset) as *const u64);
                (described_name(entry, code::ENTRY_NAME), at(code::ARITY))
            };
            who = name.map(|name| evaluated::procedure_name(x, &name).unwrap_or(name));
            message = count_message(arity, "argument", irritants.len());
        }
        _ => {
            // SAFETY: for all other kinds, compiled code passes zero or the address of the two strings.
            let (name, expected) = unsafe { operation_text(operation) };
            who = (!name.is_empty()).then_some(name);
            let expected = match crate::record_types::type_name(y).filter(|_| kind == kind::TYPE) {
                Some(name) => name,
                None => expected,
            };
            message = match kind {
                kind::TYPE => record::instead_of(x, y, &with_article(&expected)),
                kind::RANGE => match container_name(y) {
                    // vectors of flonums may be f64vectors (`cairn_core::prim::AS_VECTOR`)
                    Some((_, n)) if x.is_fixnum() && who.as_deref().is_some_and(|w| w.starts_with("vector-")) => {
                        format!("a vector of length {n} has no element")
                    }
                    Some((container, n)) if x.is_fixnum() => format!("{container} of length {n} has no element"),
                    Some(_) => "expected an index, got".to_string(),
                    None => format!("expected {}, got", with_article(&expected)),
                },
                kind::DIVISION => "division by zero; the dividend was".to_string(),
                _ if expected.is_empty() => "failed:".to_string(),
                _ => expected,
            };
            if x != Value::DEFAULT {
                irritants.push(x);
            }
            let explained = match kind {
                kind::RANGE => container_name(y).is_some(),
                kind::TYPE => crate::record_types::type_name(y).is_some(),
                _ => false,
            };
            if y != Value::DEFAULT && !explained {
                irritants.push(y);
            }
        }
    }
    Failure { kind, who, message, argument: 0, irritants }
}

/// The failure that a runtime call recorded, in terms of what the program called.
fn pending_failure(ctx: &mut Machine, operation: Value) -> Failure {
    let mut failure = rt(ctx).failure.take().expect("a call that fails records its failure");
    if failure.argument == crate::failure::WHO_STAYS {
        return failure;
    }
    // SAFETY: compiled code passes zero or the address of the two strings with each call that may fail.
    let (name, _) = unsafe { operation_text(operation) };
    let same = name.is_empty() || failure.who.as_ref() == Some(&name);
    if same && failure.argument > 0 {
        let position = format!(" as argument {}, got", failure.argument);
        failure.message = failure.message.replace(", got", &position);
    }
    if !name.is_empty() {
        failure.who = Some(name);
    }
    failure
}

/// Where a procedure is written: a site, or the mark of an evaluated one.
fn place_of_procedure(ctx: &Machine, procedure: Value) -> Value {
    // SAFETY: `procedure` is what was called with a wrong count, so a procedure: its first word is an entry, with its
    // prefix.
    let (code, site, name) = unsafe {
        let entry = *(procedure.address() as *const u64);
        let at = |offset: i64| *((entry as i64 + offset) as *const u64);
        (entry, Site(at(code::ENTRY_SITE)), described_name(entry, code::ENTRY_NAME))
    };
    let mark = name.and_then(|name| evaluated::procedure_mark(procedure, &name));
    mark.unwrap_or_else(|| Value::fixnum(rt(ctx).modules.locate(code, site).0 as i64))
}

/// Turns a failure into the error hook's arguments, in `args[0..5]`: kind, who, message, irritants, site.
///
/// `failed` is one of `cairn_layout::machine::error`. For `PENDING`, a runtime call failed and left its failure
/// in the runtime; `operation` names the procedure that the program called if that is another one. Otherwise an inline
/// check failed: `operation` is the address of the static C strings `"who\0expected\0"` and `x` the offending operand,
/// `y` a second irritant or `Value::DEFAULT` (for `RANGE`: the container; for `TYPE`: the descriptor when a record of
/// that type was expected). `NOT_PROCEDURE`: `x` is the operator. `ARITY`: `x` is the procedure, `y` the list of
/// arguments, and `site` what the call says of itself (`cairn_layout::code::tail_call`); the hook gets the call's
/// position if that is known, else the procedure's. `UNBOUND`: `who` is the variable, and `expected`
/// [`kind::A_DEFINITION`] if nothing defines it.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_throw(
    ctx: &mut Machine,
    failed: Value,
    operation: Value,
    site: Value,
    x: Value,
    y: Value,
) -> Value {
    let failure = match failed.as_fixnum() {
        kind::PENDING => pending_failure(ctx, operation),
        k => inline_failure(k, operation, x, y),
    };
    let mut site = site;
    if failed == Value::fixnum(kind::ARITY) {
        let call = call_place::place_of_call(ctx, failure.who.as_deref(), site.as_fixnum() as u32);
        site = call.unwrap_or_else(|| place_of_procedure(ctx, x));
    }
    let who = match &failure.who {
        Some(name) => alloc::make_string(ctx, name),
        None => Value::FALSE,
    };
    let message = alloc::make_string(ctx, &failure.message);
    let irritants = alloc::make_list(ctx, &failure.irritants);
    let arguments = [Value::fixnum(failure.kind), who, message, irritants, site];
    for (i, v) in arguments.into_iter().enumerate() {
        // SAFETY: `args` has room for `ARGS_MIN` values, far more than these five.
        unsafe { *ctx.args.add(i) = v };
    }
    Value::UNSPECIFIED
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{list_items, string_text};
    use crate::bare_runtime::TestRuntime;
    use crate::failure::wrong_type;
    use crate::print::{Mode, to_text};

    /// The sentence that a person reads, from the hook's arguments.
    fn thrown(ctx: &mut Machine, failed: i64, operation: u64, x: Value, y: Value) -> String {
        cairn_machine_throw(ctx, Value::fixnum(failed), Value(operation), Value::fixnum(7), x, y);
        // SAFETY: `cairn_machine_throw` has just written five arguments.
        let arguments = unsafe { std::slice::from_raw_parts(ctx.args, 5) };
        // the position of a wrong count is the procedure's, which has none here
        let site = if failed == kind::ARITY { Site::NONE.0 as i64 } else { 7 };
        assert_eq!(arguments[4], Value::fixnum(site));
        let mut text = String::new();
        if arguments[1] != Value::FALSE {
            text = string_text(arguments[1]) + ": ";
        }
        text += &string_text(arguments[2]);
        for v in list_items(arguments[3]) {
            text = text + " " + &to_text(v, Mode::Write, 100);
        }
        text
    }

    #[repr(align(8))]
    struct Text<const N: usize>([u8; N]);

    #[test]
    fn inline_checks_read_as_sentences() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        let car = Text(*b"car\0pair\0");
        let address = car.0.as_ptr() as u64;
        let five = Value::fixnum(5);
        assert_eq!(thrown(ctx, kind::TYPE, address, five, Value::DEFAULT), "car: expected a pair, got 5");
        let index = Text(*b"vector-ref\0an index\0");
        let address = index.0.as_ptr() as u64;
        let v = alloc::make_vector(ctx, &[five, five]);
        let text = thrown(ctx, kind::RANGE, address, five, v);
        assert_eq!(text, "vector-ref: a vector of length 2 has no element 5");
        let text = thrown(ctx, kind::RANGE, address, five, Value::DEFAULT);
        assert_eq!(text, "vector-ref: expected an index, got 5");
        let text = thrown(ctx, kind::RANGE, address, Value::TRUE, v);
        assert_eq!(text, "vector-ref: expected an index, got #t");
        let quotient = Text(*b"quotient\0\0");
        let address = quotient.0.as_ptr() as u64;
        let text = thrown(ctx, kind::DIVISION, address, five, Value::DEFAULT);
        assert_eq!(text, "quotient: division by zero; the dividend was 5");
        let name = Text(*b"frob\0a definition\0");
        let text = thrown(ctx, kind::UNBOUND, name.0.as_ptr() as u64, Value::DEFAULT, Value::DEFAULT);
        assert_eq!(text, "unbound variable: frob");
        let name = Text(*b"frob\0\0");
        let text = thrown(ctx, kind::UNBOUND, name.0.as_ptr() as u64, Value::DEFAULT, Value::DEFAULT);
        assert_eq!(text, "variable used before its definition gives it a value: frob");
        let text = thrown(ctx, kind::NOT_PROCEDURE, 0, five, Value::NIL);
        assert_eq!(text, "tried to call what is not a procedure: 5");
    }

    #[test]
    fn arity_failures_name_the_procedure() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        let name = Text(*b"area\0");
        for (arity, expected) in [
            (2, "area: expected 2 arguments, got 1: 5"),
            (code::count_word(70_000, false), "area: expected 70000 arguments, got 1: 5"),
            (1 | 1 << 16, "area: expected at least 1 argument, got 1: 5"),
            (0, "area: expected no arguments, got 1: 5"),
            (1 << 17 | 1 << 34 | 1 << 35, "area: expected 2 or 3 arguments, got 1: 5"),
            (4 | 3 << 16 | 1 << 32 | 1 << 34, "area: expected 0, 2 or at least 4 arguments, got 1: 5"),
        ] {
            // An entry's prefix, then its code.
            let mut code = [0, 0, arity, 1, 0];
            code[0] = (name.0.as_ptr() as u64).wrapping_sub(&raw const code[4] as u64);
            let closure = [&raw const code[4] as u64, 0];
            let procedure = Value(closure.as_ptr() as u64 | cairn_layout::value::TAG_PROCEDURE);
            let arguments = alloc::make_list(ctx, &[Value::fixnum(5)]);
            assert_eq!(thrown(ctx, kind::ARITY, 0, procedure, arguments), expected);
        }
    }

    #[test]
    fn failed_calls_are_thrown_once() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        assert_eq!(wrong_type(ctx, "f", 2, "a list", Value::TRUE), Value::FAIL);
        let text = thrown(ctx, kind::PENDING, 0, Value::DEFAULT, Value::DEFAULT);
        assert_eq!(text, "f: expected a list as argument 2, got #t");
        assert!(rt(ctx).failure.is_none());
    }
}
