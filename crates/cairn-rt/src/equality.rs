//! `eqv?`, `equal?` and hashing.
//!
//! `equal?` must terminate on circular data (R7RS) and be fast on ordinary data. The idea (Adams & Dybvig,
//! "Efficient nondestructive equality checking for trees and graphs", ICFP 2008): compare plainly for a budget
//! of steps; when it is used up, alternate between stretches of plain comparison and stretches that remember in
//! a union-find structure which objects are already assumed equal. The structure bounds the number of distinct
//! comparisons, the plain stretches keep its cost small. We differ in using an explicit stack: nesting in the
//! car is bounded by memory, not by the native stack.

use crate::access::{self, byte_slice, car, cdr, limbs, string_chars, word, words};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::{self, Type};
use std::collections::HashMap;

/// Comparisons before the union-find structure is used at all.
const PLAIN_BUDGET: i64 = 100_000;
/// Mean length of a later plain stretch.
const STRETCH: u64 = 400;
/// Length of a stretch with union-find.
const CAREFUL: i64 = -40;

/// `eqv?`: same object, or equal numbers of the same exactness.
pub fn eqv(a: Value, b: Value) -> bool {
    if a == b {
        return true;
    }
    if !a.is_object() || !b.is_object() {
        return false;
    }
    let h = access::header(a);
    if h != access::header(b) {
        return false;
    }
    const FLONUM: u8 = Type::Flonum as u8;
    const BIGNUM: u8 = Type::Bignum as u8;
    const RATNUM: u8 = Type::Ratnum as u8;
    const COMPNUM: u8 = Type::Compnum as u8;
    match object::header_type_code(h) {
        FLONUM => access::flonum_of(a).map(f64::to_bits) == access::flonum_of(b).map(f64::to_bits),
        BIGNUM => limbs(a) == limbs(b),
        // Parts are real numbers, so this recursion ends at once.
        RATNUM | COMPNUM => eqv(word(a, 0), word(b, 0)) && eqv(word(a, 1), word(b, 1)),
        _ => false,
    }
}

/// Is `v` something whose parts `equal?` compares?
fn is_container(v: Value) -> bool {
    v.is_pair() || access::is(v, Type::Vector)
}

/// Sets of objects assumed equal, keyed by address word.
#[derive(Default)]
struct Classes {
    numbers: HashMap<u64, usize>,
    parents: Vec<usize>,
}

impl Classes {
    fn find(&mut self, v: Value) -> usize {
        let next = self.parents.len();
        let mut i = *self.numbers.entry(v.0).or_insert(next);
        if i == next {
            self.parents.push(next);
        }
        while self.parents[i] != i {
            self.parents[i] = self.parents[self.parents[i]];
            i = self.parents[i];
        }
        i
    }

    /// Puts both in one class; were they in one already?
    fn union(&mut self, a: Value, b: Value) -> bool {
        let (i, j) = (self.find(a), self.find(b));
        self.parents[j] = i;
        i == j
    }
}

/// `equal?`.
pub fn equal(a: Value, b: Value) -> bool {
    let mut todo = Todo::default();
    let (mut a, mut b) = (a, b);
    let mut budget = PLAIN_BUDGET;
    let mut classes = Classes::default();
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    loop {
        if !is_container(a) || !is_container(b) {
            if a != b && !equal_atoms(a, b) {
                return false;
            }
        } else if a != b {
            budget -= 1;
            if budget <= CAREFUL {
                // xorshift: any sequence will do that no data structure follows by accident
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                budget = (seed % (2 * STRETCH)) as i64;
            }
            if budget <= 0 && classes.union(a, b) {
                // Where one thing is known more will be: stay careful. (Else plain stretches would leave more to
                // do than careful ones finish.)
                budget = 0;
            } else {
                if a.is_pair() && b.is_pair() {
                    let (x, y) = (car(a), car(b));
                    (a, b) = (cdr(a), cdr(b));
                    if x == y {
                        continue;
                    }
                    if !is_container(x) || !is_container(y) {
                        if !equal_atoms(x, y) {
                            return false;
                        }
                        continue;
                    }
                    todo.pairs.push((a, b));
                    (a, b) = (x, y);
                    continue;
                }
                if a.is_pair() || b.is_pair() || access::length(a) != access::length(b) {
                    return false;
                }
                todo.vectors.push((a, b, 0));
                todo.pairs.push((VECTOR, VECTOR));
            }
        }
        match todo.next() {
            Some((x, y)) => (a, b) = (x, y),
            None => return true,
        }
    }
}

/// What is still to be compared. A `VECTOR` mark on `pairs` stands for the top of `vectors`.
#[derive(Default)]
struct Todo {
    pairs: Vec<(Value, Value)>,
    vectors: Vec<(Value, Value, usize)>,
}

const VECTOR: Value = Value::FAIL;

impl Todo {
    fn next(&mut self) -> Option<(Value, Value)> {
        loop {
            let (x, y) = self.pairs.pop()?;
            if x != VECTOR {
                return Some((x, y));
            }
            if let Some((v, w, i)) = self.vectors.pop()
                && i < access::length(v)
            {
                self.vectors.push((v, w, i + 1));
                self.pairs.push((VECTOR, VECTOR));
                return Some((words(v)[i], words(w)[i]));
            }
        }
    }
}

fn equal_atoms(a: Value, b: Value) -> bool {
    if !a.is_object() || !b.is_object() {
        return false;
    }
    if access::is(a, Type::String) {
        return access::is(b, Type::String) && string_chars(a) == string_chars(b);
    }
    if access::is(a, Type::Bytevector) {
        return access::is(b, Type::Bytevector) && byte_slice(a) == byte_slice(b);
    }
    eqv(a, b)
}

/// Hash of a sequence of words: 0 to 2^60 - 1, a fixnum.
pub fn hash_words(words: impl Iterator<Item = u64>) -> i64 {
    finish(words.fold(0, mix))
}

fn mix(h: u64, x: u64) -> u64 {
    (h.rotate_left(5) ^ x).wrapping_mul(0x517C_C1B7_2722_0A95)
}

fn finish(h: u64) -> i64 {
    ((h ^ (h >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 4) as i64
}

/// Hash consistent with `equal?` (so also with `eqv?` on numbers, strings and the like). Looks at a bounded
/// number of parts. Objects without contents to hash (procedures, ports, records) hash by their kind only.
pub fn hash(v: Value) -> i64 {
    const PARTS: usize = 256;
    let mut h = 0;
    let mut todo = vec![v];
    let mut left = PARTS;
    while let Some(v) = todo.pop() {
        if left == 0 {
            break;
        }
        left -= 1;
        if v.is_pair() {
            h = mix(h, 3);
            todo.push(cdr(v));
            todo.push(car(v));
        } else if access::is(v, Type::Vector) {
            let items = words(v);
            h = mix(h, items.len() as u64);
            todo.extend(items.iter().take(left).rev());
        } else {
            h = mix(h, hash_atom(v));
        }
    }
    finish(h)
}

fn hash_atom(v: Value) -> u64 {
    if v.is_procedure() {
        return 6;
    }
    if !v.is_object() {
        return v.0;
    }
    const STRING: u8 = Type::String as u8;
    const BYTES: u8 = Type::Bytevector as u8;
    const SYMBOL: u8 = Type::Symbol as u8;
    const BIGNUM: u8 = Type::Bignum as u8;
    const RATNUM: u8 = Type::Ratnum as u8;
    const COMPNUM: u8 = Type::Compnum as u8;
    const FLONUM: u8 = Type::Flonum as u8;
    match object::header_type_code(access::header(v)) {
        STRING => string_chars(v).iter().fold(1, |h, c| mix(h, *c as u64)),
        BYTES => byte_slice(v).iter().fold(2, |h, b| mix(h, *b as u64)),
        SYMBOL => word(v, object::symbol::HASH).0,
        BIGNUM => limbs(v).iter().fold(4 + access::is_negative_bignum(v) as u64, |h, l| mix(h, *l)),
        RATNUM | COMPNUM => mix(hash_atom(word(v, 0)), hash_atom(word(v, 1))),
        FLONUM => access::flonum_of(v).map_or(0, f64::to_bits),
        code => code as u64,
    }
}

/// Slow path of `eqv?`: the operands differ as words.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_eq_eqv(_ctx: &mut Machine, a: Value, b: Value) -> Value {
    Value::bool(eqv(a, b))
}

/// `(equal? a b)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_eq_equal(_ctx: &mut Machine, a: Value, b: Value) -> Value {
    Value::bool(equal(a, b))
}

/// `(equal-hash v)`: a non-negative fixnum.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_eq_hash(_ctx: &mut Machine, v: Value) -> Value {
    Value::fixnum(hash(v))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::*;
    use crate::testing::TestRuntime;

    #[test]
    fn equal_compares_contents() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        let make = |ctx: &mut Machine, last: &str| {
            let s = make_string(ctx, last);
            let b = make_bytevector(ctx, &[1, 2]);
            let f = make_flonum(ctx, 1e300);
            let v = make_vector(ctx, &[s, b, f]);
            make_list(ctx, &[Value::fixnum(1), v, Value::char(65)])
        };
        let (a, b, c) = (make(ctx, "xyz"), make(ctx, "xyz"), make(ctx, "xyw"));
        assert!(equal(a, b) && !equal(a, c) && !eqv(a, b));
        assert_eq!(hash(a), hash(b));
        assert_ne!(hash(a), hash(c));
        let (x, y) = (make_flonum(ctx, f64::NAN), make_flonum(ctx, f64::NAN));
        assert!(x != y && eqv(x, y));
        assert!(!eqv(make_flonum(ctx, 0.0), make_flonum(ctx, -0.0)));
        assert!(!equal(Value::fixnum(1), make_flonum(ctx, 1.0)));
    }

    #[test]
    fn equal_ends_on_circular_lists() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        let circle = |ctx: &mut Machine, n: i64, odd: bool| {
            let last = alloc_pair(ctx, Value::fixnum(odd as i64), Value::NIL);
            let first = (1..n).fold(last, |rest, _| alloc_pair(ctx, Value::fixnum(0), rest));
            set_cdr(ctx, last, first);
            first
        };
        let (a, b, c) = (circle(ctx, 7, false), circle(ctx, 12, false), circle(ctx, 12, true));
        assert!(equal(a, b));
        assert!(!equal(a, c));
        hash(a);
    }

    #[test]
    fn equal_ends_on_circular_vectors_and_shared_trees() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        let looped = |ctx: &mut Machine, last: i64| {
            let v = make_filled(ctx, Type::Vector, 3, Value::fixnum(last));
            store_word(ctx, v, 0, v);
            store_word(ctx, v, 1, v);
            v
        };
        let (a, b, c) = (looped(ctx, 1), looped(ctx, 1), looped(ctx, 2));
        assert!(equal(a, b) && !equal(a, c));
        // 2^200 paths, 200 pairs.
        let tree = |ctx: &mut Machine| (0..200).fold(Value::NIL, |v, _| alloc_pair(ctx, v, v));
        let (a, b) = (tree(ctx), tree(ctx));
        assert!(equal(a, b));
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_native_stack() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        let deep = |ctx: &mut Machine| (0..1_000_000).fold(Value::NIL, |v, _| alloc_pair(ctx, v, Value::NIL));
        let (a, b) = (deep(ctx), deep(ctx));
        assert!(equal(a, b));
    }
}
