//! Bytevectors.
//!
//! Bounds arguments are fixnums, or `Value::DEFAULT` when absent.

use crate::access::{self, byte_slice, byte_slice_mut, bytes_of, word_address};
use crate::alloc::{alloc_object, make_bytevector, make_flonum};
use crate::arguments::{check_range, check_size, expect};
use crate::failure::check;
use crate::sequence::{copy_bounds, fill_with, total_length};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::Type;

/// A byte: a fixnum in 0..=255.
pub fn byte_of(v: Value) -> Option<u8> {
    if v.is_fixnum() { u8::try_from(v.as_fixnum()).ok() } else { None }
}

/// `(make-bytevector length byte)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_bytes_make(ctx: &mut Machine, length: Value, fill: Value) -> Value {
    let n = check!(check_size(ctx, "make-bytevector", Type::Bytevector, length));
    let byte = match fill {
        Value::DEFAULT => 0,
        _ => expect!(ctx, "make-bytevector", 2, "a byte", fill, byte_of(fill)),
    };
    let v = alloc_object(ctx, Type::Bytevector, 0, n);
    byte_slice_mut(v).fill(byte);
    v
}

/// `(bytevector-copy bytevector start end)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_bytes_sub(ctx: &mut Machine, v: Value, start: Value, end: Value) -> Value {
    let bytes = expect!(ctx, "bytevector-copy", 1, "a bytevector", v, bytes_of(v));
    let range = check!(check_range(ctx, "bytevector-copy", 2, bytes.len(), start, end));
    make_bytevector(ctx, &bytes[range])
}

/// `(bytevector-copy! to at from start end)`; the bytevectors may be the same.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_bytes_copy_to(
    ctx: &mut Machine,
    to: Value,
    at: Value,
    from: Value,
    start: Value,
    end: Value,
) -> Value {
    const WHO: &str = "bytevector-copy!";
    let target = bytes_of(to).filter(|_| access::mutable(to).is_some());
    let to_length = expect!(ctx, WHO, 1, "a mutable bytevector", to, target).len();
    let from_length = expect!(ctx, WHO, 3, "a bytevector", from, bytes_of(from)).len();
    let (at, range) = check!(copy_bounds(ctx, WHO, (to_length, at), (from_length, start, end)));
    // SAFETY: `copy_bounds` has checked both ranges, and `copy` allows overlap.
    unsafe {
        let source = (word_address(from, 0) as *const u8).add(range.start);
        let target = (word_address(to, 0) as *mut u8).add(at);
        std::ptr::copy(source, target, range.len());
    }
    Value::UNSPECIFIED
}

/// `(bytevector-fill! bytevector byte start end)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_bytes_fill(ctx: &mut Machine, v: Value, fill: Value, start: Value, end: Value) -> Value {
    let target = bytes_of(v).filter(|_| access::mutable(v).is_some());
    let n = expect!(ctx, "bytevector-fill!", 1, "a mutable bytevector", v, target).len();
    let byte = expect!(ctx, "bytevector-fill!", 2, "a byte", fill, byte_of(fill));
    let range = check!(check_range(ctx, "bytevector-fill!", 3, n, start, end));
    byte_slice_mut(v)[range].fill(byte);
    Value::UNSPECIFIED
}

/// Appends a list of bytevectors.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_bytes_append(ctx: &mut Machine, list: Value) -> Value {
    let total = check!(total_length(ctx, "bytevector-append", "a bytevector", list, bytes_of));
    let result = alloc_object(ctx, Type::Bytevector, 0, total as u64);
    fill_with(byte_slice_mut(result), list, byte_slice);
    result
}

/// `(bytevector-flonum bytevector k size)`: the double of 8 bytes from place `k` on, or the single of 4; the first one
/// counts least, or if `size` is negative, most. The bytes are there.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_bytes_flonum(ctx: &mut Machine, v: Value, k: Value, size: Value) -> Value {
    let (k, size) = (k.as_fixnum() as usize, size.as_fixnum());
    let bytes = &byte_slice(v)[k..];
    let x = match size {
        8 => f64::from_le_bytes(first(bytes)),
        -8 => f64::from_be_bytes(first(bytes)),
        4 => f32::from_le_bytes(first(bytes)).into(),
        _ => f32::from_be_bytes(first(bytes)).into(),
    };
    make_flonum(ctx, if x.is_nan() { f64::NAN } else { x })
}

/// `(bytevector-set-flonum! bytevector k size flonum)`, likewise.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_bytes_set_flonum(_: &mut Machine, v: Value, k: Value, size: Value, x: Value) -> Value {
    let (k, size, x) = (k.as_fixnum() as usize, size.as_fixnum(), access::flonum_of(x).unwrap_or_default());
    let x = if x.is_nan() { f64::NAN } else { x };
    let bytes = &mut byte_slice_mut(v)[k..];
    match size {
        8 => bytes[..8].copy_from_slice(&x.to_le_bytes()),
        -8 => bytes[..8].copy_from_slice(&x.to_be_bytes()),
        4 => bytes[..4].copy_from_slice(&(x as f32).to_le_bytes()),
        _ => bytes[..4].copy_from_slice(&(x as f32).to_be_bytes()),
    }
    Value::UNSPECIFIED
}

fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    *bytes.first_chunk().expect("the bytes are there")
}
