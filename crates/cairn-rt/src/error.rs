//! Failures, and how they reach Scheme.
//!
//! The problem: an operation fails in Rust, or in an inline check of compiled code; the program must see a
//! condition object, made by the library. The idea: a failing runtime call leaves a [`Failure`] in the runtime
//! and returns `Value::FAIL`; compiled code (for its own checks too) then calls [`cairn_machine_throw`], which
//! turns the failure into the five arguments of the error hook: kind, who, message, irritants, site.
//!
//! Invariants: recording a failure allocates nothing in the heap (calls without the `ALLOC` flag may fail, and
//! then `lo`/`hi` are not valid); nothing collects between the failure and the throw. Messages read as
//! `who: message irritant …`, for example `car: expected a pair, got 5`: the irritants complete the sentence.

use crate::access;
use crate::alloc;
use crate::record;
use crate::report;
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::code;
use cairn_layout::machine::{Machine, error as kind};
use cairn_layout::object::Type;
use std::ffi::CStr;

/// A failure on its way to the error hook.
#[derive(Debug, Clone)]
pub struct Failure {
    /// One of `cairn_layout::machine::error`.
    pub kind: i64,
    /// The procedure that failed.
    pub who: Option<String>,
    /// What happened; irritants follow when printed.
    pub message: String,
    /// Position among the arguments of `who` from 1, or 0: part of the message if `who` is what the program called.
    pub argument: u32,
    /// Offending objects.
    pub irritants: Vec<Value>,
}

/// Records a failure; the result is `Value::FAIL`, for `return fail(…)`.
#[cold]
pub fn fail(ctx: &mut Machine, kind: i64, who: &str, message: impl Into<String>, irritants: &[Value]) -> Value {
    let who = (!who.is_empty()).then(|| who.to_string());
    rt(ctx).failure =
        Some(Failure { kind, who, message: message.into(), argument: 0, irritants: irritants.to_vec() });
    Value::FAIL
}

/// `who: expected a pair as argument 2, got 5`. Arguments are counted from 1; 0 leaves the position out.
/// `expected` comes with its article.
#[cold]
pub fn wrong_type(ctx: &mut Machine, who: &str, argument: u32, expected: &str, got: Value) -> Value {
    fail(ctx, kind::TYPE, who, format!("expected {expected}, got"), &[got]);
    if let Some(failure) = &mut rt(ctx).failure {
        failure.argument = argument;
    }
    Value::FAIL
}

/// `who: argument 2 is out of range: 7`.
#[cold]
pub fn out_of_range(ctx: &mut Machine, who: &str, argument: u32, got: Value) -> Value {
    fail(ctx, kind::RANGE, who, format!("argument {argument} is out of range:"), &[got])
}

/// `who: division by zero`; the irritant is kept for handlers.
#[cold]
pub fn division_by_zero(ctx: &mut Machine, who: &str, dividend: Value) -> Value {
    fail(ctx, kind::DIVISION, who, "division by zero; the dividend was", &[dividend])
}

/// `who: cannot open "path": No such file or directory`. Satisfies `file-error?`.
#[cold]
pub fn file_error(ctx: &mut Machine, who: &str, action: &str, path: Value, error: &std::io::Error) -> Value {
    let name = access::string_of(path).map(|_| access::string_text(path)).unwrap_or_default();
    let message = format!("cannot {action} \"{name}\": {}", describe_io(error));
    fail(ctx, kind::FILE, who, message, &[])
}

/// Satisfies `read-error?`.
#[cold]
pub fn read_error(ctx: &mut Machine, who: &str, message: impl Into<String>, irritants: &[Value]) -> Value {
    fail(ctx, kind::READ, who, message, irritants)
}

/// Any other failure.
#[cold]
pub fn other(ctx: &mut Machine, who: &str, message: impl Into<String>, irritants: &[Value]) -> Value {
    fail(ctx, kind::OTHER, who, message, irritants)
}

/// The operating system's words for an error, without Rust's `(os error 2)`.
pub fn describe_io(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(i) => text[..i].to_string(),
        None => text,
    }
}

/// What an uncaught type error calls an object of type `t`, with its article.
fn container_name(v: Value) -> Option<(&'static str, usize)> {
    let name = if access::is(v, Type::Vector) {
        "a vector"
    } else if access::is(v, Type::String) {
        "a string"
    } else if access::is(v, Type::Bytevector) {
        "a bytevector"
    } else {
        return None;
    };
    Some((name, access::length(v)))
}

/// `pair` as `a pair`.
fn with_article(noun: &str) -> std::borrow::Cow<'_, str> {
    if noun.starts_with("a ") || noun.starts_with("an ") || noun.starts_with("the ") {
        return noun.into();
    }
    let article = if noun.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {noun}").into()
}

/// The two strings of `operation`: a C string `who`, then, right after its NUL, a C string `expected`.
///
/// # Safety
/// `operation` is zero or the address of such constants.
unsafe fn operation_text(operation: Value) -> (String, String) {
    if operation.0 == 0 || !operation.is_fixnum() {
        return (String::new(), String::new());
    }
    // SAFETY: by the contract above.
    unsafe {
        let who = CStr::from_ptr(operation.0 as *const _);
        let expected = CStr::from_ptr((operation.0 as *const std::ffi::c_char).add(who.to_bytes().len() + 1));
        (who.to_string_lossy().into_owned(), expected.to_string_lossy().into_owned())
    }
}

/// The one C string at `address`, or nothing.
///
/// # Safety
/// `address` is zero or the address of a C string.
pub(crate) unsafe fn c_text(address: u64) -> Option<String> {
    // SAFETY: by the contract above.
    (address != 0).then(|| unsafe { CStr::from_ptr(address as *const _).to_string_lossy().into_owned() })
}

/// `expected 2 arguments, got 1:`, from an arity word; what was got follows.
pub(crate) fn count_message(arity: u64, noun: &str, got: usize) -> String {
    let minimum = arity & 0xFFFF;
    let mut counts: Vec<String> = match (arity >> 16 & 1, arity >> 17 & 1) {
        (0, 0) if minimum == 0 => vec!["no".to_string()],
        (0, 0) => vec![minimum.to_string()],
        (0, _) => Vec::new(),
        _ => vec![format!("at least {minimum}")],
    };
    let several = (0..32).filter(|n| arity >> 17 & 1 != 0 && arity >> (32 + n) & 1 != 0);
    counts.splice(0..0, several.map(|n| n.to_string()));
    let last = counts.pop().unwrap_or_default();
    let plural = if last == "1" || last == "at least 1" { "" } else { "s" };
    let counts = if counts.is_empty() { last } else { format!("{} or {last}", counts.join(", ")) };
    match got {
        0 => format!("expected {counts} {noun}{plural}, got none"),
        n => format!("expected {counts} {noun}{plural}, got {n}:"),
    }
}

/// The failure of an inline check; see [`cairn_machine_throw`].
fn inline_failure(kind: i64, operation: Value, x: Value, y: Value) -> Failure {
    let mut irritants = Vec::new();
    let who;
    let message;
    match kind {
        kind::NOT_PROCEDURE => {
            // SAFETY: compiled code passes such a constant for this kind, or zero.
            let (name, _) = unsafe { operation_text(operation) };
            who = (!name.is_empty()).then_some(name);
            message = "tried to call what is not a procedure:".to_string();
            irritants.push(x);
        }
        kind::UNBOUND => {
            // SAFETY: compiled code passes the address of the variable's name, or zero.
            let name = unsafe { c_text(if operation.is_fixnum() { operation.0 } else { 0 }) };
            let name = name.unwrap_or_else(|| "a variable".to_string());
            return Failure {
                kind: kind::UNBOUND,
                who: None,
                message: format!("unbound variable: {name}"),
                argument: 0,
                irritants,
            };
        }
        kind::ARITY => {
            irritants.extend(access::list_items(y));
            // SAFETY: `x` is a procedure: its first word is an entry, with an entry's prefix.
            let (name, arity) = unsafe {
                let entry = *(x.address() as *const u64);
                let at = |offset: i64| *((entry as i64 + offset) as *const u64);
                (c_text(at(code::ENTRY_NAME)), at(code::ARITY))
            };
            who = name;
            message = count_message(arity, "argument", irritants.len());
        }
        _ => {
            // SAFETY: compiled code passes such a constant for these kinds.
            let (name, expected) = unsafe { operation_text(operation) };
            who = (!name.is_empty()).then_some(name);
            let expected = match record::type_name(y).filter(|_| kind == kind::TYPE) {
                Some(name) => name,
                None => expected,
            };
            message = match kind {
                kind::TYPE => format!("expected {}, got", with_article(&expected)),
                kind::RANGE => match container_name(y) {
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
                kind::TYPE => record::type_name(y).is_some(),
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
    // SAFETY: compiled code passes such a constant, or zero.
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

/// Turns a failure into the error hook's arguments, in `args[0..5]`: kind, who, message, irritants, site.
///
/// `failed` is one of `cairn_layout::machine::error`. For `PENDING`, a runtime call failed and left its failure
/// in the runtime; `operation` names the procedure that the program called if that is another one. Otherwise an inline check failed: `operation` is the address of the static C strings
/// `"who\0expected\0"` and `x` the offending operand, `y` a second irritant or `Value::DEFAULT`
/// (for `RANGE`: the container; for `TYPE`: the descriptor when a record of that type was expected). `NOT_PROCEDURE`: `x` is the operator. `ARITY`: `x` is the procedure, `y` the
/// list of arguments, and `site` the procedure's, which is replaced by the call's if that is certain. `UNBOUND`: `operation` is the address of the variable's name.
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
    if failed == Value::fixnum(kind::ARITY)
        && let Some(call) = failure.who.as_ref().and_then(|name| report::site_of_call(ctx, name))
    {
        site = Value::fixnum(call.0 as i64);
    }
    let who = match &failure.who {
        Some(name) => alloc::make_string(ctx, name),
        None => Value::FALSE,
    };
    let message = alloc::make_string(ctx, &failure.message);
    let irritants = alloc::make_list(ctx, &failure.irritants);
    let arguments = [Value::fixnum(failure.kind), who, message, irritants, site];
    for (i, v) in arguments.into_iter().enumerate() {
        // SAFETY: `args` has room for far more than five values.
        unsafe { *ctx.args.add(i) = v };
    }
    Value::UNSPECIFIED
}

/// The value of an `Option`, or a return with the type error `who: expected … as argument n, got v`.
macro_rules! expect_kind {
    ($ctx:expr, $who:expr, $n:expr, $expected:expr, $v:expr, $option:expr) => {
        match $option {
            Some(x) => x,
            None => return $crate::error::wrong_type($ctx, $who, $n, $expected, $v),
        }
    };
}
pub(crate) use expect_kind as expect;

/// Checks the bounds `start..end` of a sequence of `length`; absent bounds are `Value::DEFAULT`. `argument` is the
/// position of `start` among the arguments. On failure the failure is recorded.
pub fn check_range(
    ctx: &mut Machine,
    who: &str,
    argument: u32,
    length: usize,
    start: Value,
    end: Value,
) -> Option<std::ops::Range<usize>> {
    let mut bound = |v: Value, default: usize, argument: u32| -> Option<usize> {
        if v == Value::DEFAULT {
            return Some(default);
        }
        if !v.is_fixnum() {
            wrong_type(ctx, who, argument, "an index", v);
            return None;
        }
        let n = v.as_fixnum();
        if n < 0 || n as u64 > length as u64 {
            let message = format!("argument {argument} is not in 0 to {length}:");
            fail(ctx, kind::RANGE, who, message, &[v]);
            return None;
        }
        Some(n as usize)
    };
    let from = bound(start, 0, argument)?;
    let to = bound(end, length, argument + 1)?;
    if from > to {
        fail(ctx, kind::RANGE, who, "the start is after the end:", &[start, end]);
        return None;
    }
    Some(from..to)
}

/// As [`check_length`], for a new object of type `ty`: the heap must be able to hold it.
pub fn check_size(ctx: &mut Machine, who: &str, ty: Type, v: Value) -> Option<u64> {
    let n = check_length(ctx, who, v)?;
    let Some(bytes) = alloc::never_fits(ctx, ty, n) else { return Some(n) };
    let (bytes, limit) = (alloc::size_text(bytes), alloc::size_text(rt(ctx).heap.heap_max()));
    let message = format!("{bytes} exceed the heap limit of {limit} (raise it with --heap-max); the length was");
    fail(ctx, kind::RANGE, who, message, &[v]);
    None
}

/// Checks a length: a fixnum from 0.
pub fn check_length(ctx: &mut Machine, who: &str, v: Value) -> Option<u64> {
    if v.is_fixnum() && v.as_fixnum() >= 0 {
        return Some(v.as_fixnum() as u64);
    }
    if v.is_fixnum() {
        fail(ctx, kind::RANGE, who, "a length cannot be negative:", &[v]);
    } else {
        wrong_type(ctx, who, 1, "a length", v);
    }
    None
}

/// The value of an `Option` whose `None` says that a failure is recorded, or a return of `Value::FAIL`.
macro_rules! check {
    ($option:expr) => {
        match $option {
            Some(x) => x,
            None => return cairn_layout::Value::FAIL,
        }
    };
}
pub(crate) use check;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{list_items, string_text};
    use crate::print::{Mode, to_text};
    use crate::testing::TestRuntime;

    /// The sentence that a person reads, from the hook's arguments.
    fn thrown(ctx: &mut Machine, kind: i64, operation: u64, x: Value, y: Value) -> String {
        cairn_machine_throw(ctx, Value::fixnum(kind), Value(operation), Value::fixnum(7), x, y);
        // SAFETY: the throw wrote five arguments.
        let arguments = unsafe { std::slice::from_raw_parts(ctx.args, 5) };
        assert_eq!(arguments[4], Value::fixnum(7));
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
        let name = Text(*b"frob\0");
        let text = thrown(ctx, kind::UNBOUND, name.0.as_ptr() as u64, Value::DEFAULT, Value::DEFAULT);
        assert_eq!(text, "unbound variable: frob");
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
            (1 | 1 << 16, "area: expected at least 1 argument, got 1: 5"),
            (0, "area: expected no arguments, got 1: 5"),
            (1 << 17 | 1 << 34 | 1 << 35, "area: expected 2 or 3 arguments, got 1: 5"),
            (4 | 3 << 16 | 1 << 32 | 1 << 34, "area: expected 0, 2 or at least 4 arguments, got 1: 5"),
        ] {
            // An entry's prefix, then its code.
            let code = [name.0.as_ptr() as u64, 0, arity, 1, 0];
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

    #[test]
    fn ranges() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        let n = Value::fixnum;
        assert_eq!(check_range(ctx, "f", 2, 5, n(1), n(5)), Some(1..5));
        assert_eq!(check_range(ctx, "f", 2, 5, Value::DEFAULT, Value::DEFAULT), Some(0..5));
        for (start, end, message) in [
            (n(-1), n(5), "argument 2 is not in 0 to 5:"),
            (n(0), n(6), "argument 3 is not in 0 to 5:"),
            (n(3), n(2), "the start is after the end:"),
            (Value::TRUE, n(2), "expected an index, got"),
        ] {
            assert_eq!(check_range(ctx, "f", 2, 5, start, end), None);
            assert_eq!(rt(ctx).failure.take().unwrap().message, message);
        }
    }
}
