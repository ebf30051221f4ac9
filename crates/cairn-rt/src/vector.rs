//! Vectors.
//!
//! Bounds arguments are fixnums, or `Value::DEFAULT` when absent. Stores mark cards: the vector may be old.

use crate::access::{list_items, vector_of, word_address, words, words_mut};
use crate::alloc::{alloc_object, alloc_pair, make_filled, make_vector, write_barrier_range, written};
use crate::arguments::{check_range, check_size, expect};
use crate::failure::check;
use crate::sequence::{copy_bounds, fill_with, total_length};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::Type;

/// `(make-vector length fill)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_vector_make(ctx: &mut Machine, length: Value, fill: Value) -> Value {
    let n = check!(check_size(ctx, "make-vector", Type::Vector, length));
    let fill = if fill == Value::DEFAULT { Value::UNSPECIFIED } else { fill };
    make_filled(ctx, Type::Vector, n, fill)
}

/// `(vector-copy vector start end)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_vector_sub(ctx: &mut Machine, v: Value, start: Value, end: Value) -> Value {
    let items = expect!(ctx, "vector-copy", 1, "a vector", v, vector_of(v));
    let range = check!(check_range(ctx, "vector-copy", 2, items.len(), start, end));
    make_vector(ctx, &items[range])
}

/// `(vector-copy! to at from start end)`; the vectors may be the same.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_vector_copy_to(
    ctx: &mut Machine,
    to: Value,
    at: Value,
    from: Value,
    start: Value,
    end: Value,
) -> Value {
    const WHO: &str = "vector-copy!";
    let to_length = expect!(ctx, WHO, 1, "a vector", to, vector_of(to)).len();
    let from_length = expect!(ctx, WHO, 3, "a vector", from, vector_of(from)).len();
    let (at, range) = check!(copy_bounds(ctx, WHO, (to_length, at), (from_length, start, end)));
    let target = word_address(to, at);
    // SAFETY: `copy_bounds` has checked both ranges, and `copy` allows overlap.
    unsafe { std::ptr::copy(word_address(from, range.start), target, range.len()) };
    write_barrier_range(ctx, target, range.len());
    Value::UNSPECIFIED
}

/// `(vector-fill! vector fill start end)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_vector_fill(ctx: &mut Machine, v: Value, fill: Value, start: Value, end: Value) -> Value {
    let n = expect!(ctx, "vector-fill!", 1, "a vector", v, vector_of(v)).len();
    let range = check!(check_range(ctx, "vector-fill!", 3, n, start, end));
    let (first, count) = (word_address(v, range.start), range.len());
    words_mut(v)[range].fill(fill);
    if fill.is_pointer() {
        write_barrier_range(ctx, first, count);
    }
    Value::UNSPECIFIED
}

/// Appends a list of vectors.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_vector_append(ctx: &mut Machine, list: Value) -> Value {
    let total = check!(total_length(ctx, "vector-append", "a vector", list, vector_of));
    let result = alloc_object(ctx, Type::Vector, 0, total as u64);
    fill_with(words_mut(result), list, words);
    written(ctx, result);
    result
}

/// `(list->vector list)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_vector_from_list(ctx: &mut Machine, list: Value) -> Value {
    let n = check!(crate::list::checked_length(ctx, "list->vector", list));
    let v = alloc_object(ctx, Type::Vector, 0, n as u64);
    for (slot, x) in words_mut(v).iter_mut().zip(list_items(list)) {
        *slot = x;
    }
    written(ctx, v);
    v
}

/// `(vector->list vector start end)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_vector_to_list(ctx: &mut Machine, v: Value, start: Value, end: Value) -> Value {
    let items = expect!(ctx, "vector->list", 1, "a vector", v, vector_of(v));
    let range = check!(check_range(ctx, "vector->list", 2, items.len(), start, end));
    items[range].iter().rev().fold(Value::NIL, |rest, x| alloc_pair(ctx, *x, rest))
}

/// Sorts `v[start, end)` by `<`, or by `>` if `falling`, if its elements are all fixnums, or all doubles in their words
/// and none of them NaN: then `#t`. Otherwise they stay as they are. Equal elements keep their order (0.0 and -0.0 are
/// equal). Callers bound the number of elements, for other threads wait.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_vector_sort_numbers(
    _: &mut Machine,
    v: Value,
    start: Value,
    end: Value,
    falling: Value,
) -> Value {
    let (Some(_), true, true) = (vector_of(v), start.is_fixnum(), end.is_fixnum()) else { return Value::FALSE };
    let range = start.as_fixnum() as usize..end.as_fixnum() as usize;
    let Some(items) = words_mut(v).get_mut(range) else { return Value::FALSE };
    let falling = falling != Value::FALSE;
    if items.iter().all(|x| x.is_fixnum()) {
        items.sort_unstable_by_key(|x| x.as_fixnum());
        if falling {
            items.reverse();
        }
        return Value::TRUE;
    }
    if !items.iter().all(|x| x.is_immediate_flonum() && !x.as_immediate_flonum().is_nan()) {
        return Value::FALSE;
    }
    items.sort_by(|x, y| {
        let (x, y) = if falling { (y, x) } else { (x, y) };
        x.as_immediate_flonum().partial_cmp(&y.as_immediate_flonum()).unwrap_or(std::cmp::Ordering::Equal)
    });
    Value::TRUE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::make_list;
    use crate::bare_runtime::TestRuntime;
    use cairn_layout::machine::{CARD_SHIFT, DIRTY};

    #[test]
    fn stores_of_pointers_mark_every_card() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        let v = cairn_vector_make(ctx, Value::fixnum(1000), Value::fixnum(0));
        let card = |ctx: &Machine, i: usize| {
            // SAFETY: the mask keeps the index below the size of the card table; the reference ends with the statement.
            unsafe { &mut *ctx.cards.add(((word_address(v, i) as u64 >> CARD_SHIFT) & ctx.card_mask) as usize) }
        };
        (0..1000).for_each(|i| *card(ctx, i) = 0);
        let n = Value::fixnum;
        cairn_vector_fill(ctx, v, n(1), n(0), n(1000));
        assert!((0..1000).all(|i| *card(ctx, i) == 0), "fixnums need no mark");
        let p = alloc_pair(ctx, n(1), n(2));
        cairn_vector_fill(ctx, v, p, n(200), n(800));
        assert!((200..800).all(|i| *card(ctx, i) == DIRTY));
        (0..1000).for_each(|i| *card(ctx, i) = 0);
        cairn_vector_copy_to(ctx, v, n(500), v, n(100), n(600));
        assert!((500..1000).all(|i| *card(ctx, i) == DIRTY));
        assert_eq!(words(v)[500], n(1));
        assert_eq!(words(v)[600], p);
    }

    #[test]
    fn lists_and_vectors_convert() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        let n = Value::fixnum;
        let list = make_list(ctx, &[n(1), n(2), n(3)]);
        let v = cairn_vector_from_list(ctx, list);
        let tail = cairn_vector_to_list(ctx, v, n(1), Value::DEFAULT);
        assert_eq!(list_items(tail).collect::<Vec<_>>(), [n(2), n(3)]);
        let both = make_list(ctx, &[v, v]);
        let long = cairn_vector_append(ctx, both);
        assert_eq!(words(long), [n(1), n(2), n(3), n(1), n(2), n(3)]);
        crate::bare_runtime::set_cdr(ctx, list, list);
        assert_eq!(cairn_vector_from_list(ctx, list), Value::FAIL);
        let dotted = alloc_pair(ctx, n(1), n(2));
        assert_eq!(cairn_vector_from_list(ctx, dotted), Value::FAIL);
        let mixed = make_list(ctx, &[v, n(1)]);
        assert_eq!(cairn_vector_append(ctx, mixed), Value::FAIL);
    }

    #[test]
    fn numbers_of_one_kind_are_sorted_in_place() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        let n = Value::fixnum;
        let f = |x: f64| Value::try_flonum(x).expect("fits a word");
        let mut sorted = |items: &[Value], start: i64, end: i64, falling: bool| {
            let v = crate::alloc::make_vector(ctx, items);
            let done = cairn_vector_sort_numbers(ctx, v, n(start), n(end), Value::bool(falling));
            (done == Value::TRUE, words(v).to_vec())
        };
        let ints = [n(3), n(-5), n(0), n(7), n(-5)];
        assert_eq!(sorted(&ints, 0, 5, false), (true, vec![n(-5), n(-5), n(0), n(3), n(7)]));
        assert_eq!(sorted(&ints, 1, 4, true), (true, vec![n(3), n(7), n(0), n(-5), n(-5)]));
        let zeros = [f(0.0), f(-0.0), f(-1.0)];
        assert_eq!(sorted(&zeros, 0, 3, false), (true, vec![f(-1.0), f(0.0), f(-0.0)]), "stable");
        assert_eq!(sorted(&zeros, 0, 3, true), (true, vec![f(0.0), f(-0.0), f(-1.0)]));
        for other in [f(1.0), Value::TRUE, Value::NIL] {
            let mixed = [n(2), n(1), other];
            assert_eq!(sorted(&mixed, 0, 3, false), (false, mixed.to_vec()));
        }
        assert_eq!(sorted(&ints, 3, 6, false), (false, ints.to_vec()), "beyond the end");
    }
}
