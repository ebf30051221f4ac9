//! `eqv?`, `equal?` and hashing.
//!
//! `equal?` must terminate on circular data (R7RS) and be fast on ordinary data. The idea (Adams & Dybvig,
//! "Efficient nondestructive equality checking for trees and graphs", ICFP 2008): compare plainly for a budget
//! of steps; when it is used up, alternate between stretches of plain comparison and stretches that remember in
//! a union-find structure which objects are already assumed equal. The structure bounds the number of distinct
//! comparisons, the plain stretches keep its cost small. We differ in using an explicit stack: nesting in the
//! car is bounded by memory, not by the native stack.

use crate::access::{self, byte_slice, car, cdr, limbs, string_chars, word, words};
use crate::hashing::{finish, flonum_key, mix};
use crate::numeric;
use cairn_heap::ByAddress;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::{self, Type};

/// Comparisons before the union-find structure is used at all.
const PLAIN_BUDGET: i64 = 10_000;
/// Mean length of a later plain stretch.
const STRETCH: u64 = 1000;
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
        FLONUM => access::flonum_of(a).map(flonum_key) == access::flonum_of(b).map(flonum_key),
        BIGNUM => limbs(a) == limbs(b),
        // Parts are real numbers, so this recursion ends at once.
        RATNUM | COMPNUM => eqv(word(a, 0), word(b, 0)) && eqv(word(a, 1), word(b, 1)),
        _ => false,
    }
}

/// Room for this many objects is made at once.
const FIRST_CLASSES: usize = 1 << 14;

/// Sets of objects assumed equal, keyed by address word.
#[derive(Default)]
struct Classes {
    numbers: ByAddress<u32>,
    parents: Vec<u32>,
}

impl Classes {
    fn find(&mut self, v: Value) -> u32 {
        if self.parents.is_empty() {
            // Whoever comes here has much to compare.
            self.numbers.reserve(FIRST_CLASSES);
            self.parents.reserve(FIRST_CLASSES);
        }
        let next = self.parents.len() as u32;
        let mut i = *self.numbers.entry(v.0).or_insert(next);
        if i == next {
            self.parents.push(next);
        }
        while self.parents[i as usize] != i {
            self.parents[i as usize] = self.parents[self.parents[i as usize] as usize];
            i = self.parents[i as usize];
        }
        i
    }

    /// Puts both in one class; were they in one already?
    fn union(&mut self, a: Value, b: Value) -> bool {
        let (i, j) = (self.find(a), self.find(b));
        self.parents[j as usize] = i;
        i == j
    }
}

/// When to compare plainly and when carefully.
struct Pace {
    /// Steps left of a plain stretch; from 0 down to `CAREFUL` of a careful one.
    left: i64,
    seed: u64,
    classes: Classes,
}

impl Pace {
    /// The next comparison of two containers is due. Is it known to come out equal?
    #[inline]
    fn is_known(&mut self, a: Value, b: Value) -> bool {
        self.left -= 1;
        self.left <= 0 && self.is_known_carefully(a, b)
    }

    #[cold]
    fn is_known_carefully(&mut self, a: Value, b: Value) -> bool {
        if self.left <= CAREFUL {
            // xorshift: any sequence will do that no data structure follows by accident
            self.seed ^= self.seed << 13;
            self.seed ^= self.seed >> 7;
            self.seed ^= self.seed << 17;
            self.left = 1 + (self.seed % (2 * STRETCH)) as i64;
            return false;
        }
        let known = self.classes.union(a, b);
        if known {
            // Where one thing is known more will be: stay careful. (Else plain stretches would leave more to do than
            // careful ones finish.)
            self.left = 0;
        }
        known
    }
}

/// What is still to be compared.
enum Task {
    /// Two objects.
    Both(Value, Value),
    /// Two vectors of the same length, from an index.
    Vectors(Value, Value, usize),
}

/// `equal?`.
#[inline]
pub fn equal(a: Value, b: Value) -> bool {
    let has_parts = |v: Value| v.is_pair() || access::is(v, Type::Vector);
    a == b || if has_parts(a) { equal_parts(a, b) } else { equal_atoms(a, b) }
}

fn equal_parts(a: Value, b: Value) -> bool {
    let mut pace = Pace { left: PLAIN_BUDGET, seed: 0x2545_F491_4F6C_DD1D, classes: Classes::default() };
    let mut tasks: Vec<Task> = Vec::new();
    let (mut a, mut b) = (a, b);
    loop {
        // Along two lists.
        while a != b && a.is_pair() && b.is_pair() && !pace.is_known(a, b) {
            let (x, y) = (car(a), car(b));
            (a, b) = (cdr(a), cdr(b));
            if x == y {
                continue;
            }
            if x.is_pair() || access::is(x, Type::Vector) {
                if a != b {
                    tasks.push(Task::Both(a, b));
                }
                (a, b) = (x, y);
            } else if !equal_atoms(x, y) {
                return false;
            }
        }
        if a != b && !(a.is_pair() && b.is_pair()) {
            match (access::vector_of(a), access::vector_of(b)) {
                (Some(x), Some(y)) => {
                    if x.len() != y.len() {
                        return false;
                    }
                    if !pace.is_known(a, b) {
                        tasks.push(Task::Vectors(a, b, 0));
                    }
                }
                _ if equal_atoms(a, b) => {}
                _ => return false,
            }
        }
        // Nothing is left of `a` and `b`: on to the next task.
        loop {
            match tasks.pop() {
                None => return true,
                Some(Task::Both(x, y)) => {
                    (a, b) = (x, y);
                    break;
                }
                Some(Task::Vectors(v, w, start)) => {
                    let (v_items, w_items) = (words(v), words(w));
                    match (start..v_items.len()).find(|i| v_items[*i] != w_items[*i]) {
                        None => {}
                        Some(i) => {
                            tasks.push(Task::Vectors(v, w, i + 1));
                            (a, b) = (v_items[i], w_items[i]);
                            break;
                        }
                    }
                }
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
    if access::is(a, Type::NumericVector) {
        return numeric::equal(a, b);
    }
    eqv(a, b)
}

/// Hash consistent with `equal?` (so also with `eqv?` on numbers, strings and the like), the same as long as the
/// program runs. Objects without contents to hash (procedures, ports, records) hash by their kind only.
pub fn hash(v: Value) -> i64 {
    let by_kind = |v: Value| if v.is_procedure() { 6 } else { u64::from(access::type_code(v).unwrap_or(0)) };
    finish(hash_with(v, by_kind))
}

/// Hash consistent with `equal?`, in which objects that are equal to themselves only count as `by_identity` says.
/// Looks at a bounded number of parts.
#[inline]
pub fn hash_with(v: Value, mut by_identity: impl FnMut(Value) -> u64) -> u64 {
    if v.is_pair() || access::is(v, Type::Vector) {
        hash_parts(v, &mut by_identity)
    } else {
        mix(0, hash_atom(v, &mut by_identity))
    }
}

fn hash_parts(v: Value, by_identity: &mut impl FnMut(Value) -> u64) -> u64 {
    const PARTS: usize = 256;
    let (mut h, mut left) = (0, PARTS);
    // What is still to be looked at. A list goes on in `v`, so that this stays empty for lists of atoms.
    let mut todo = Vec::new();
    let mut v = v;
    loop {
        while v.is_pair() && left > 0 {
            left -= 1;
            let x = car(v);
            if x.is_pair() || access::is(x, Type::Vector) {
                h = mix(h, 3);
                todo.push(cdr(v));
                v = x;
            } else {
                h = mix(mix(h, 3), hash_atom(x, by_identity));
                v = cdr(v);
            }
        }
        if let Some(items) = access::vector_of(v) {
            h = mix(h, items.len() as u64);
            for x in items.iter().take(left) {
                left -= 1;
                if x.is_pair() || access::is(*x, Type::Vector) {
                    todo.push(*x);
                } else {
                    h = mix(h, hash_atom(*x, by_identity));
                }
            }
        } else if !v.is_pair() {
            h = mix(h, hash_atom(v, by_identity));
        }
        match todo.pop() {
            Some(next) if left > 0 => v = next,
            _ => return h,
        }
    }
}

/// Are there other objects `eqv?` to this one, or is its hash its own?
pub fn has_eqv_contents(v: Value) -> bool {
    const SYMBOL: u8 = Type::Symbol as u8;
    const BIGNUM: u8 = Type::Bignum as u8;
    const RATNUM: u8 = Type::Ratnum as u8;
    const COMPNUM: u8 = Type::Compnum as u8;
    const FLONUM: u8 = Type::Flonum as u8;
    matches!(access::type_code(v), Some(SYMBOL | BIGNUM | RATNUM | COMPNUM | FLONUM))
}

fn hash_atom(v: Value, by_identity: &mut impl FnMut(Value) -> u64) -> u64 {
    // A word that refers to a record without being its address is another one in another place.
    if v.is_procedure() || v.is_indirect() {
        return by_identity(v);
    }
    if !v.is_object() {
        return v.0;
    }
    const STRING: u8 = Type::String as u8;
    const BYTES: u8 = Type::Bytevector as u8;
    const NUMERIC: u8 = Type::NumericVector as u8;
    const SYMBOL: u8 = Type::Symbol as u8;
    const BIGNUM: u8 = Type::Bignum as u8;
    const RATNUM: u8 = Type::Ratnum as u8;
    const COMPNUM: u8 = Type::Compnum as u8;
    const FLONUM: u8 = Type::Flonum as u8;
    match object::header_type_code(access::header(v)) {
        STRING => hash_chars(string_chars(v)),
        BYTES => byte_slice(v).iter().fold(2, |h, b| mix(h, *b as u64)),
        NUMERIC => numeric::hash(v),
        SYMBOL => word(v, object::symbol::HASH).0,
        BIGNUM => limbs(v).iter().fold(4 + access::is_negative_bignum(v) as u64, |h, l| mix(h, *l)),
        RATNUM | COMPNUM => mix(hash_atom(word(v, 0), by_identity), hash_atom(word(v, 1), by_identity)),
        FLONUM => access::flonum_of(v).map_or(0, flonum_key),
        _ => by_identity(v),
    }
}

/// Two characters at a time: a step waits for the one before.
#[inline]
fn hash_chars(chars: &[u32]) -> u64 {
    let (pairs, last) = chars.as_chunks::<2>();
    let h = pairs.iter().fold(1 + 8 * chars.len() as u64, |h, [a, b]| mix(h, *a as u64 | (*b as u64) << 32));
    last.iter().fold(h, |h, c| mix(h, *c as u64))
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
    use crate::bare_runtime::{TestRuntime, set_cdr};

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
        let negative = make_flonum(ctx, -f64::NAN);
        assert!(eqv(x, negative) && hash(x) == hash(negative) && !eqv(x, make_flonum(ctx, f64::INFINITY)));
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
