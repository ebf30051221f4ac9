//! What strings, bytevectors and vectors share: the bounds of copies, and appending.
//!
//! The functions check first and touch objects only when nothing can fail any more.

use crate::access::list_items;
use crate::arguments::{check_range, range_in};
use crate::failure::{fail, wrong_type};
use cairn_layout::Value;
use cairn_layout::machine::{Machine, error as kind};
use std::ops::Range;

/// The bounds of `(…-copy! to at from start end)`, given both lengths: where elements go, and which. On failure the
/// failure is recorded.
#[inline]
pub fn copy_bounds(
    ctx: &mut Machine,
    who: &str,
    (to_length, at): (usize, Value),
    (from_length, start, end): (usize, Value, Value),
) -> Option<(usize, Range<usize>)> {
    if let (Some(range), Some(room)) =
        (range_in(from_length, start, end), range_in(to_length, at, Value::fixnum(to_length as i64)))
        && range.len() <= room.len()
    {
        return Some((room.start, range));
    }
    check_copy(ctx, who, (to_length, at), (from_length, start, end))
}

#[cold]
fn check_copy(
    ctx: &mut Machine,
    who: &str,
    (to_length, at): (usize, Value),
    (from_length, start, end): (usize, Value, Value),
) -> Option<(usize, Range<usize>)> {
    let at = check_range(ctx, who, 2, to_length, at, Value::DEFAULT)?.start;
    let range = check_range(ctx, who, 4, from_length, start, end)?;
    let room = to_length - at;
    if range.len() > room {
        let message = format!("{} elements do not fit in the room for {room}", range.len());
        fail(ctx, kind::RANGE, who, message, &[]);
        return None;
    }
    Some((at, range))
}

/// The length of all sequences of a list together. When `of` does not know one of them, the failure is recorded.
pub fn total_length<'a, T: 'a>(
    ctx: &mut Machine,
    who: &str,
    expected: &str,
    list: Value,
    of: fn(Value) -> Option<&'a [T]>,
) -> Option<usize> {
    let mut total = 0;
    for (i, v) in list_items(list).enumerate() {
        let Some(items) = of(v) else {
            wrong_type(ctx, who, i as u32 + 1, expected, v);
            return None;
        };
        total += items.len();
    }
    Some(total)
}

/// Fills `rest` with the elements of the sequences of a list, which have its length.
pub fn fill_with<'a, T: Copy + 'a>(mut rest: &mut [T], list: Value, of: fn(Value) -> &'a [T]) {
    for v in list_items(list) {
        let items = of(v);
        let (here, after) = rest.split_at_mut(items.len());
        here.copy_from_slice(items);
        rest = after;
    }
}
