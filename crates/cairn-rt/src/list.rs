//! Lists: the shape of a chain of pairs (proper, dotted or circular), and what needs it.

use crate::access::{car, cdr};
use crate::alloc::alloc_pair;
use crate::failure::{check, fail, wrong_type};
use cairn_layout::Value;
use cairn_layout::machine::{Machine, error as kind};

/// What the end of a chain of pairs is.
pub enum Shape {
    /// Ends in the empty list after this many pairs.
    Proper(usize),
    /// Ends in something else.
    Dotted,
    /// Does not end.
    Circular,
}

/// Follows the cdrs of `v`. The pair met after 2, 4, 8, … steps is remembered; when it is met again the chain is a
/// circle (Brent 1980). One load per pair, where a second pointer at half speed makes it one and a half.
pub fn shape(v: Value) -> Shape {
    // no list contains this word
    let (mut at, mut mark, mut n) = (v, Value::FAIL, 0);
    let mut steps = 2;
    loop {
        for _ in 0..steps {
            if !at.is_pair() {
                return if at == Value::NIL { Shape::Proper(n) } else { Shape::Dotted };
            }
            at = cdr(at);
            n += 1;
            if at == mark {
                return Shape::Circular;
            }
        }
        mark = at;
        steps *= 2;
    }
}

/// The length of a proper list, or a recorded failure.
pub fn checked_length(ctx: &mut Machine, who: &str, list: Value) -> Option<usize> {
    match shape(list) {
        Shape::Proper(n) => Some(n),
        Shape::Dotted => {
            wrong_type(ctx, who, 0, "a list", list);
            None
        }
        Shape::Circular => {
            fail(ctx, kind::TYPE, who, "expected a list, got a circular one that begins with", &[car(list)]);
            None
        }
    }
}

/// `(length list)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_list_length(ctx: &mut Machine, list: Value) -> Value {
    Value::fixnum(check!(checked_length(ctx, "length", list)) as i64)
}

/// `(list? v)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_list_is_list(_ctx: &mut Machine, v: Value) -> Value {
    Value::bool(matches!(shape(v), Shape::Proper(_)))
}

/// `(append (reverse list) end)`: a fresh list. Compiled code asks for it with proper lists of its own only.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_list_append_reversed(ctx: &mut Machine, list: Value, end: Value) -> Value {
    let (mut from, mut to) = (list, end);
    while from.is_pair() {
        to = alloc_pair(ctx, car(from), to);
        from = cdr(from);
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::make_list;
    use crate::bare_runtime::{TestRuntime, set_cdr};

    #[test]
    fn lengths_of_all_shapes() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        for n in 0..6 {
            let list = make_list(ctx, &vec![Value::TRUE; n]);
            assert_eq!(cairn_list_length(ctx, list), Value::fixnum(n as i64));
            // Every lasso with a stem of 0..n pairs.
            for stem in 0..n {
                let list = make_list(ctx, &vec![Value::TRUE; n]);
                let at = |i: usize| (0..i).fold(list, |l, _| cdr(l));
                set_cdr(ctx, at(n - 1), at(stem));
                assert_eq!(cairn_list_length(ctx, list), Value::FAIL);
                assert_eq!(cairn_list_is_list(ctx, list), Value::FALSE);
                assert!(matches!(shape(list), Shape::Circular));
            }
        }
        let dotted = crate::alloc::alloc_pair(ctx, Value::TRUE, Value::TRUE);
        assert_eq!(cairn_list_length(ctx, dotted), Value::FAIL);
    }
}
