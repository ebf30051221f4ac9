//! Checking the arguments of runtime calls: kinds, indices, lengths and sizes.

use crate::alloc;
use crate::exhaustion::size_text;
use crate::failure::{fail, wrong_type};
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::machine::{Machine, error as kind};
use cairn_layout::object::{LARGE_BYTES, Type};
use std::ops::Range;

/// The value of an `Option`, or a return with the type error `who: expected … as argument n, got v`.
macro_rules! expect_kind {
    ($ctx:expr, $who:expr, $n:expr, $expected:expr, $v:expr, $option:expr) => {
        match $option {
            Some(x) => x,
            None => return $crate::failure::wrong_type($ctx, $who, $n, $expected, $v),
        }
    };
}
pub(crate) use expect_kind as expect;

/// Checks the bounds `start..end` of a sequence of `length`; absent bounds are `Value::DEFAULT`. `argument` is the
/// position of `start` among the arguments. On failure the failure is recorded.
#[inline]
pub fn check_range(
    ctx: &mut Machine,
    who: &str,
    argument: u32,
    length: usize,
    start: Value,
    end: Value,
) -> Option<Range<usize>> {
    match range_in(length, start, end) {
        Some(range) => Some(range),
        None => check_bounds(ctx, who, argument, length, start, end),
    }
}

/// `start..end`, if both are there and it is a range of a sequence of `length`.
#[inline]
pub fn range_in(length: usize, start: Value, end: Value) -> Option<Range<usize>> {
    if !(start.is_fixnum() && end.is_fixnum()) {
        return None;
    }
    // negative ones are beyond any length
    let (start, end) = (start.as_fixnum() as usize, end.as_fixnum() as usize);
    (start <= end && end <= length).then_some(start..end)
}

#[cold]
fn check_bounds(
    ctx: &mut Machine,
    who: &str,
    argument: u32,
    length: usize,
    start: Value,
    end: Value,
) -> Option<Range<usize>> {
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

/// Checks a length as [`check_length`] does, for a new object of type `ty`: the heap must be able to hold it.
#[inline(always)]
pub fn check_size(ctx: &mut Machine, who: &str, ty: Type, v: Value) -> Option<u64> {
    // Every heap has room for a small object.
    let small = v.is_fixnum() && (0..(LARGE_BYTES / 16) as i64).contains(&v.as_fixnum());
    if small { Some(v.as_fixnum() as u64) } else { check_any_size(ctx, who, ty, v) }
}

fn check_any_size(ctx: &mut Machine, who: &str, ty: Type, v: Value) -> Option<u64> {
    let n = check_length(ctx, who, v)?;
    let Some(bytes) = alloc::never_fits(ctx, ty, n) else { return Some(n) };
    let (bytes, limit) = (size_text(bytes), size_text(rt(ctx).heap.heap_max()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bare_runtime::TestRuntime;

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
