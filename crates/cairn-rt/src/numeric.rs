//! Homogeneous numeric vectors (SRFI 4, SRFI 160): numbers of one kind, side by side as they are in C.
//!
//! The problem: twelve types with the same sixty procedures each. The idea: a vector's header says of which kind it is
//! ([`cairn_layout::object::numeric`]), and what is here reads and writes elements of any kind; `lib/cairn/numeric.sld`
//! has one procedure for all kinds, too. Compiled code has `f64vector-ref` and its like inline and comes here only for
//! integers of 64 bits that are no fixnums, and to store complex numbers. A u8vector is a bytevector.
//!
//! Invariants: what is stored is checked first, and indices and ranges are checked by the library before it asks.

use crate::access;
use crate::alloc::alloc_object_of;
use crate::arguments::check_size;
use crate::failure::{check, with_article, wrong_type};
use crate::hashing::{finish, flonum_key, mix};
use crate::num::operand::{from_number, to_number};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::numeric::{self, NumericKind, VECTOR, vector_header};
use cairn_num::packed::Packing;
use cairn_num::{Int, Number};
use std::cmp::Ordering;

/// The kind of a numeric vector.
#[inline]
pub fn kind_of(v: Value) -> Option<NumericKind> {
    if v.is_object() { NumericKind::of_header(access::header(v)) } else { None }
}

/// The bytes of a numeric vector.
pub fn bytes<'a>(v: Value) -> &'a [u8] {
    debug_assert!(kind_of(v).is_some());
    // SAFETY: the payload of a numeric vector is `length` bytes.
    unsafe { std::slice::from_raw_parts(access::word_address(v, 0) as *const u8, access::length(v)) }
}

/// The elements of a u32vector.
pub fn u32s<'a>(v: Value) -> &'a [u32] {
    debug_assert!(kind_of(v) == Some(NumericKind::U32));
    // SAFETY: the payload of a u32vector is `length` bytes, a multiple of 4, aligned as words are.
    unsafe { std::slice::from_raw_parts(access::word_address(v, 0) as *const u32, access::length(v) / 4) }
}

/// The bytes of a numeric vector, to be written.
pub fn bytes_mut<'a>(v: Value) -> &'a mut [u8] {
    debug_assert!(kind_of(v).is_some());
    // SAFETY: the payload of a numeric vector is `length` bytes; a runtime call has the heap to itself, and callers
    // keep no other slice of the same vector.
    unsafe { std::slice::from_raw_parts_mut(access::word_address(v, 0) as *mut u8, access::length(v)) }
}

/// How an element is packed.
fn packing(kind: NumericKind) -> Packing {
    Packing { bytes: kind.bytes(), integers: kind.part().integers(), complex: kind.is_complex() }
}

/// How each part of an element is packed: the element, or a part of a complex number.
fn part_packing(kind: NumericKind) -> Packing {
    let bytes = kind.bytes() >> u32::from(kind.is_complex());
    Packing { bytes, complex: false, ..packing(kind) }
}

/// The parts of all elements: one each, or two.
fn parts(kind: NumericKind, bytes: &[u8]) -> impl Iterator<Item = Number> + '_ {
    let packing = part_packing(kind);
    bytes.chunks_exact(packing.bytes).map(move |b| packing.unpack(b))
}

/// Element `i` of a vector of these bytes.
pub fn element(kind: NumericKind, bytes: &[u8], i: usize) -> Number {
    packing(kind).unpack(&bytes[i << kind.shift()..])
}

/// A hash of a part of a number: equal for parts that are `=`.
fn key(part: &Number) -> u64 {
    match part {
        Number::Flo(x) => flonum_key(x + 0.0),
        Number::Int(Int::Big { limbs, .. }) => limbs[0],
        Number::Int(Int::Fix(n)) => *n as u64,
        _ => 0,
    }
}

/// The bytes of an element, or a failure of `who`.
fn encode(ctx: &mut Machine, kind: NumericKind, x: Value, who: &str) -> Option<([u8; 16], usize)> {
    let found = to_number(x).and_then(|n| packing(kind).pack(&n));
    if found.is_none() {
        wrong_type(ctx, who, 0, &with_article(kind.expected()), x);
    }
    Some((found?, kind.bytes()))
}

/// Is it an f64vector that is a vector to the program?
pub fn is_vector(v: Value) -> bool {
    v.is_object() && numeric::is_vector(access::header(v))
}

/// A fresh vector of these bytes.
pub fn make(ctx: &mut Machine, kind: NumericKind, from: &[u8]) -> Value {
    let v = alloc_object_of(ctx, kind.header(false, (from.len() >> kind.shift()) as u64));
    bytes_mut(v).copy_from_slice(from);
    v
}

fn kind_numbered(kind: Value) -> NumericKind {
    NumericKind::of(kind.as_fixnum()).expect("the library names kinds that there are")
}

fn length(kind: NumericKind, v: Value) -> usize {
    access::length(v) >> kind.shift()
}

fn is_equal_kind(a: Value, b: Value) -> Option<NumericKind> {
    kind_of(a).filter(|k| kind_of(b) == Some(*k))
}

/// `equal?`: of one kind, with elements that are `eqv?`.
pub fn equal(a: Value, b: Value) -> bool {
    let Some(kind) = is_equal_kind(a, b) else { return false };
    if bytes(a) == bytes(b) {
        return true;
    }
    kind.part().integers().is_none()
        && bytes(a).len() == bytes(b).len()
        && parts(kind, bytes(a)).zip(parts(kind, bytes(b))).all(|p| match p {
            (Number::Flo(x), Number::Flo(y)) => flonum_key(x) == flonum_key(y),
            _ => false,
        })
}

/// A hash of a numeric vector: equal for vectors that are `equal?`.
pub fn hash(v: Value) -> u64 {
    kind_of(v).map_or(0, |kind| parts(kind, bytes(v)).fold(kind as u64 + 16, |h, p| mix(h, key(&p))))
}

/// `(numeric-make kind length fill who)`; zeros if `fill` is `#f`. With [`VECTOR`] in the kind, it is a vector to the
/// program.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_make(ctx: &mut Machine, kind: Value, n: Value, fill: Value, who: Value) -> Value {
    let as_vector = kind.as_fixnum() == NumericKind::F64 as i64 | VECTOR;
    let kind = if as_vector { NumericKind::F64 } else { kind_numbered(kind) };
    let who = access::string_text(who);
    let n = check!(check_size(ctx, &who, kind.object_type(), n));
    let total = Value::fixnum(n.saturating_mul(kind.bytes() as u64).min(i64::MAX as u64 >> 4) as i64);
    check!(check_size(ctx, &who, kind.object_type(), total));
    let item = match fill {
        Value::FALSE => None,
        _ => Some(check!(encode(ctx, kind, fill, &who))),
    };
    let v = alloc_object_of(ctx, if as_vector { vector_header(n) } else { kind.header(false, n) });
    match item {
        Some((item, size)) if item[..size].iter().any(|b| *b != 0) => fill_bytes(bytes_mut(v), &item[..size]),
        _ => bytes_mut(v).fill(0),
    }
    v
}

fn fill_bytes(to: &mut [u8], item: &[u8]) {
    match item {
        [byte] => to.fill(*byte),
        _ => to.chunks_exact_mut(item.len()).for_each(|c| c.copy_from_slice(item)),
    }
}

/// `(numeric-kind x)`
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_kind(_ctx: &mut Machine, x: Value) -> Value {
    kind_of(x).map_or(Value::FALSE, |k| Value::fixnum(k as i64))
}

/// `(numeric-writable? v)`
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_is_writable(_ctx: &mut Machine, v: Value) -> Value {
    Value::bool(access::mutable(v).is_some())
}

/// `(numeric-named name)`
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_named(_ctx: &mut Machine, name: Value) -> Value {
    NumericKind::by_name(&access::string_text(name)).map_or(Value::FALSE, |k| Value::fixnum(k as i64))
}

/// `(numeric-fits? kind x)`
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_fits(_ctx: &mut Machine, kind: Value, x: Value) -> Value {
    Value::bool(to_number(x).and_then(|n| packing(kind_numbered(kind)).pack(&n)).is_some())
}

/// `(numeric-length v)`
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_length(_ctx: &mut Machine, v: Value) -> Value {
    kind_of(v).map_or(Value::FALSE, |k| Value::fixnum(length(k, v) as i64))
}

/// `(numeric-get v i)`
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_get(ctx: &mut Machine, v: Value, i: Value) -> Value {
    let Some(kind) = kind_of(v) else { return Value::FALSE };
    from_number(ctx, &element(kind, bytes(v), i.as_fixnum() as usize))
}

/// `(numeric-wide v i)`
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_wide(ctx: &mut Machine, v: Value, i: Value) -> Value {
    cairn_numeric_get(ctx, v, i)
}

fn put(ctx: &mut Machine, v: Value, i: Value, x: Value, who: &str) -> Value {
    let Some(kind) = kind_of(v) else { return Value::FALSE };
    let (item, size) = check!(encode(ctx, kind, x, who));
    let at = (i.as_fixnum() as usize) << kind.shift();
    bytes_mut(v)[at..at + size].copy_from_slice(&item[..size]);
    Value::UNSPECIFIED
}

/// `(numeric-put! v i x who)`
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_put(ctx: &mut Machine, v: Value, i: Value, x: Value, who: Value) -> Value {
    put(ctx, v, i, x, &access::string_text(who))
}

/// `(numeric-widen! v i x)`
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_widen(ctx: &mut Machine, v: Value, i: Value, x: Value) -> Value {
    let who = kind_of(v).map_or(String::new(), |k| format!("{}vector-set!", k.name()));
    put(ctx, v, i, x, &who)
}

fn set_complex(ctx: &mut Machine, kind: NumericKind, v: Value, i: Value, x: Value) -> Value {
    let who = format!("{}vector-set!", kind.name());
    if kind_of(v) != Some(kind) || access::mutable(v).is_none() {
        return wrong_type(ctx, &who, 1, &format!("a mutable {}vector", kind.name()), v);
    }
    if !i.is_fixnum() {
        return wrong_type(ctx, &who, 2, "an index", i);
    }
    if i.as_fixnum() < 0 || i.as_fixnum() as u64 >= length(kind, v) as u64 {
        return crate::failure::out_of_range(ctx, &who, 2, i);
    }
    put(ctx, v, i, x, &who)
}

/// `(c64vector-set! v i x)`
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_set_c64(ctx: &mut Machine, v: Value, i: Value, x: Value) -> Value {
    set_complex(ctx, NumericKind::C64, v, i, x)
}

/// `(c128vector-set! v i x)`
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_set_c128(ctx: &mut Machine, v: Value, i: Value, x: Value) -> Value {
    set_complex(ctx, NumericKind::C128, v, i, x)
}

/// `(numeric-copy! to at from start end)`; the vectors are of one kind, and may be the same.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_copy_to(
    _ctx: &mut Machine,
    to: Value,
    at: Value,
    from: Value,
    start: Value,
    end: Value,
) -> Value {
    let Some(kind) = is_equal_kind(to, from) else { return Value::FALSE };
    let scaled = |n: Value| (n.as_fixnum() as usize) << kind.shift();
    let (at, range) = (scaled(at), scaled(start)..scaled(end));
    assert!(range.start <= range.end && range.end <= bytes(from).len());
    assert!(bytes(to).len().checked_sub(at).is_some_and(|room| range.len() <= room));
    // SAFETY: both ranges were found to be in the vectors above, and `copy` allows overlap.
    unsafe {
        let source = (access::word_address(from, 0) as *const u8).add(range.start);
        let target = (access::word_address(to, 0) as *mut u8).add(at);
        std::ptr::copy(source, target, range.len());
    }
    Value::UNSPECIFIED
}

/// `(numeric-fill! v x start end who)`
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_fill(
    ctx: &mut Machine,
    v: Value,
    x: Value,
    start: Value,
    end: Value,
    who: Value,
) -> Value {
    let Some(kind) = kind_of(v) else { return Value::FALSE };
    let (item, size) = check!(encode(ctx, kind, x, &access::string_text(who)));
    let scaled = |n: Value| (n.as_fixnum() as usize) << kind.shift();
    fill_bytes(&mut bytes_mut(v)[scaled(start)..scaled(end)], &item[..size]);
    Value::UNSPECIFIED
}

/// `(numeric-reverse! v start end)`
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_reverse(_ctx: &mut Machine, v: Value, start: Value, end: Value) -> Value {
    let Some(kind) = kind_of(v) else { return Value::FALSE };
    let scaled = |n: Value| (n.as_fixnum() as usize) << kind.shift();
    let range = &mut bytes_mut(v)[scaled(start)..scaled(end)];
    range.reverse();
    range.chunks_exact_mut(kind.bytes()).for_each(<[u8]>::reverse);
    Value::UNSPECIFIED
}

/// `(numeric-same? a b)`
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_same(_ctx: &mut Machine, a: Value, b: Value) -> Value {
    let Some(kind) = is_equal_kind(a, b) else { return Value::FALSE };
    let equal = |(x, y): (Number, Number)| x.compare(&y) == Some(Ordering::Equal);
    Value::bool(bytes(a).len() == bytes(b).len() && parts(kind, bytes(a)).zip(parts(kind, bytes(b))).all(equal))
}

/// `(numeric-less? a b)`: the shorter one, or the one with the smaller number in the first place where they differ.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_less(_ctx: &mut Machine, a: Value, b: Value) -> Value {
    let Some(kind) = is_equal_kind(a, b) else { return Value::FALSE };
    if bytes(a).len() != bytes(b).len() {
        return Value::bool(bytes(a).len() < bytes(b).len());
    }
    let mut pairs = parts(kind, bytes(a)).zip(parts(kind, bytes(b))).map(|(x, y)| x.compare(&y));
    Value::bool(pairs.find(|o| *o != Some(Ordering::Equal)) == Some(Some(Ordering::Less)))
}

/// `(numeric-hash v)`
#[unsafe(no_mangle)]
pub extern "C" fn cairn_numeric_hash(_ctx: &mut Machine, v: Value) -> Value {
    Value::fixnum(finish(hash(v)))
}
