//! Failures of runtime calls.
//!
//! A call that cannot do its work records a [`Failure`] in the runtime and returns `Value::FAIL`; compiled code then
//! makes [`crate::throw`] turn it into a condition. Recording allocates nothing in the heap: calls without the `ALLOC`
//! flag may fail, and then `lo` and `hi` are not valid. Messages read as `who: message irritant …`, for example `car:
//! expected a pair, got 5`: the irritants complete the sentence.

use crate::access;
use crate::runtime::{Failure, rt};
use cairn_layout::Value;
use cairn_layout::machine::{Machine, error as kind};

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

/// Says that the recorded failure is that of a procedure made at run time, whose name is the one it has, not the one of
/// the library's procedure that called.
pub fn keep_who(ctx: &mut Machine) -> Value {
    if let Some(failure) = &mut rt(ctx).failure {
        failure.argument = WHO_STAYS;
    }
    Value::FAIL
}

/// The argument of a failure whose `who` stays what it is.
pub const WHO_STAYS: u32 = u32::MAX;

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

/// `expected 2 arguments, got 1:`, from an arity word; what was got follows.
pub fn count_message(arity: u64, noun: &str, got: usize) -> String {
    let mut minimum = cairn_layout::code::least_count(arity);
    let more = arity >> 16 & 1 != 0;
    let several = |n: &u64| arity >> 17 & 1 != 0 && arity >> (32 + n) & 1 != 0;
    // 2, 3 or at least 4 is at least 2
    while more && (1..=32).contains(&minimum) && several(&(minimum as u64 - 1)) {
        minimum -= 1;
    }
    let exact = (0..32u64).filter(|n| several(n) && !(more && *n >= minimum as u64));
    let mut counts: Vec<String> = exact.map(|n| n.to_string()).collect();
    match (more, arity >> 17 & 1) {
        (true, _) => counts.push(format!("at least {minimum}")),
        (false, 0) if minimum == 0 => counts.push("no".to_string()),
        (false, 0) => counts.push(minimum.to_string()),
        (false, _) => {}
    }
    let last = counts.pop().unwrap_or_default();
    let plural = if last == "1" || last == "at least 1" { "" } else { "s" };
    let counts = if counts.is_empty() { last } else { format!("{} or {last}", counts.join(", ")) };
    match got {
        0 => format!("expected {counts} {noun}{plural}, got none"),
        n => format!("expected {counts} {noun}{plural}, got {n}:"),
    }
}

/// The operating system's words for an error, without Rust's `(os error 2)`.
pub fn describe_io(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(i) => text[..i].to_string(),
        None => text,
    }
}

/// `pair` as `a pair`.
pub fn with_article(noun: &str) -> std::borrow::Cow<'_, str> {
    if noun.starts_with("a ") || noun.starts_with("an ") || noun.starts_with("the ") {
        return noun.into();
    }
    let article = if noun.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {noun}").into()
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
