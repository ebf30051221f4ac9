//! Values to words of C and back.
//!
//! What C gets of a string or a literal vector is a copy, which [`Lent`] keeps for the duration of the call. Of other
//! vectors it gets the elements themselves, for nothing moves while C runs, unless it may call back: then collections
//! may happen meanwhile, so it gets a copy that is copied back.

use super::lent::Lent;
use crate::access::{self, flonum_of, string_of};
use crate::alloc::{make_ascii_string, make_flonum, make_string};
use crate::num::operand::{make_integer, make_wide_integer, to_int, to_number};
use crate::numeric;
use cairn_layout::Value;
use cairn_layout::c::CType;
use cairn_layout::machine::Machine;
use cairn_num::{Int, Number};
use std::ffi::CStr;

/// The elements of argument `i`, a vector.
fn elements(i: usize, v: Value, lent: &mut Lent, moves: bool) -> u64 {
    let bytes: &[u8] = numeric::bytes(v);
    match (access::mutable(v), moves) {
        (None, _) => lent.keep(bytes.into()),
        (Some(_), false) => bytes.as_ptr() as u64,
        (Some(_), true) => lent.keep_for(i, bytes.into()),
    }
}

/// The call is over: what C has changed goes back into the vectors among the arguments.
pub fn give_back(lent: Lent, arguments: &[Value]) {
    for (i, copy) in lent.returned() {
        if let Some(v) = arguments.get(*i)
            && numeric::kind_of(*v).is_some()
        {
            numeric::bytes_mut(*v).copy_from_slice(copy);
        }
    }
}

/// The address in a pointer, or that of NULL.
pub fn address_of(v: Value, pointer: Value) -> Option<u64> {
    if v == Value::FALSE {
        return Some(0);
    }
    let is_pointer = v.is_object() && access::header(v) == pointer.0;
    // SAFETY: `v` has the header of a pointer record, whose payload is one word, the address.
    is_pointer.then(|| unsafe { *(access::word_address(v, 0) as *const u64) })
}

/// A pointer, or `#f` for NULL.
pub fn make_pointer(ctx: &mut Machine, address: u64, pointer: Value) -> Value {
    if address == 0 {
        return Value::FALSE;
    }
    let v = crate::alloc::alloc_object_of(ctx, pointer.0);
    // SAFETY: `alloc_object_of` has just made `v` with the header of a pointer record, whose payload is one word.
    unsafe { *(access::word_address(v, 0) as *mut u64) = address };
    v
}

fn double_of(v: Value) -> Option<f64> {
    match flonum_of(v) {
        Some(x) => Some(x),
        None if v.is_fixnum() => Some(v.as_fixnum() as f64),
        None => to_number(v).filter(|n| !matches!(n, Number::Complex(..))).map(|n| n.to_f64()),
    }
}

/// The word for a value that needs no memory beside it; `None` if it is none of the type.
pub fn scalar(t: CType, v: Value, pointer: Value) -> Option<u64> {
    if let Some((least, greatest)) = t.integers() {
        let n = match v.is_fixnum() {
            true => v.as_fixnum() as i128,
            false => match to_int(v)? {
                Int::Fix(n) => n as i128,
                Int::Big { negative, limbs } => match *limbs {
                    [limb] if negative => -(limb as i128),
                    [limb] => limb as i128,
                    _ => return None,
                },
            },
        };
        return (least <= n && n <= greatest).then_some(n as u64);
    }
    match t {
        CType::Bool => Some((v != Value::FALSE) as u64),
        CType::Char => v.is_char().then(|| v.as_char() as u64).filter(|c| *c < 256),
        CType::F32 => double_of(v).map(|x| (x as f32).to_bits() as u64),
        CType::F64 => double_of(v).map(f64::to_bits),
        CType::Pointer | CType::String => address_of(v, pointer),
        _ => None,
    }
}

/// The word for argument `i`. `moves`: collections may happen during the call.
pub fn argument(t: CType, i: usize, v: Value, pointer: Value, lent: &mut Lent, moves: bool) -> Option<u64> {
    match t {
        CType::String | CType::Bytes if v == Value::FALSE => Some(0),
        CType::String if string_of(v).is_some() => {
            let text = c_text(string_of(v)?)?;
            Some(lent.keep(text))
        }
        CType::String | CType::Bytes => match numeric::kind_of(v) {
            Some(_) => Some(elements(i, v, lent, moves)),
            None => address_of(v, pointer),
        },
        _ => scalar(t, v, pointer),
    }
}

/// Where the bytes of a structure that is passed by value lie: behind a pointer, or in a homogeneous vector that has as
/// many.
pub fn structure(v: Value, bytes: usize, pointer: Value) -> Option<u64> {
    if numeric::kind_of(v).is_some() {
        let elements: &[u8] = numeric::bytes(v);
        return (elements.len() >= bytes).then_some(elements.as_ptr() as u64);
    }
    address_of(v, pointer).filter(|address| *address != 0)
}

/// The characters in UTF-8, with NUL behind them; `None` if there is one among them.
pub fn c_text(chars: &[u32]) -> Option<Box<[u8]>> {
    let mut bytes = Vec::with_capacity(chars.len() + 1);
    for c in chars {
        match *c {
            0 => return None,
            1..0x80 => bytes.push(*c as u8),
            c => bytes.extend_from_slice(access::to_char(c).encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes.push(0);
    Some(bytes.into())
}

/// What a type holds, for messages: `an int (-2147483648 to 2147483647)`.
pub fn expected(t: CType, name: &str) -> String {
    let article = if name.starts_with('i') || name.starts_with("un") { "an" } else { "a" };
    let what = match t {
        CType::Char => "a character up to U+00FF".to_string(),
        CType::F32 | CType::F64 => "a real number".to_string(),
        CType::String => return "a string without NUL, a bytevector, a pointer, or #f".to_string(),
        CType::Pointer => return "a pointer or #f".to_string(),
        CType::Bytes => return "a bytevector, another homogeneous vector, a pointer, or #f".to_string(),
        _ => match t.integers() {
            Some((least, greatest)) => format!("{least} to {greatest}"),
            None => return format!("{article} {name}"),
        },
    };
    format!("{article} {name} ({what})")
}

/// The value of a word that C has returned, or that lies in memory.
pub fn value(ctx: &mut Machine, t: CType, word: u64, pointer: Value) -> Value {
    match t {
        CType::Void | CType::Bytes | CType::Struct => Value::UNSPECIFIED,
        CType::Bool => Value::bool(word as u8 != 0),
        CType::Char => Value::char(word as u8 as u32),
        CType::I8 => Value::fixnum(word as i8 as i64),
        CType::I16 => Value::fixnum(word as i16 as i64),
        CType::I32 => Value::fixnum(word as i32 as i64),
        CType::I64 => make_integer(ctx, word as i64),
        CType::U8 => Value::fixnum(word as u8 as i64),
        CType::U16 => Value::fixnum(word as u16 as i64),
        CType::U32 => Value::fixnum(word as u32 as i64),
        CType::U64 => make_wide_integer(ctx, word as i128),
        CType::F32 => make_flonum(ctx, f32::from_bits(word as u32) as f64),
        CType::F64 => make_flonum(ctx, f64::from_bits(word)),
        // SAFETY: the program says that there is a C string at the address.
        CType::String => unsafe { string_at(ctx, word) },
        CType::Pointer => make_pointer(ctx, word, pointer),
    }
}

/// The text at an address, or `#f` at NULL.
///
/// # Safety
/// `address` is 0 or that of a C string.
pub unsafe fn string_at(ctx: &mut Machine, address: u64) -> Value {
    if address == 0 {
        return Value::FALSE;
    }
    // SAFETY: `address` is not 0, so a C string is there (`# Safety`).
    let text = unsafe { CStr::from_ptr(address as *const _) }.to_bytes();
    match text.is_ascii() {
        true => make_ascii_string(ctx, text),
        false => make_string(ctx, &String::from_utf8_lossy(text)),
    }
}

/// The word of this type at an address.
///
/// # Safety
/// `t.bytes()` bytes can be read at `address`.
pub unsafe fn load(t: CType, address: u64) -> u64 {
    let mut word = [0; 8];
    // SAFETY: `t.bytes()` bytes can be read at `address` (`# Safety`), and no type has more than eight.
    unsafe { std::ptr::copy_nonoverlapping(address as *const u8, word.as_mut_ptr(), t.bytes()) };
    u64::from_le_bytes(word)
}

/// Puts the word at an address.
///
/// # Safety
/// `t.bytes()` bytes can be written at `address`; nobody has a reference to them.
pub unsafe fn store(t: CType, address: u64, word: u64) {
    // SAFETY: `t.bytes()` bytes can be written at `address` (`# Safety`), and no type has more than eight.
    unsafe { std::ptr::copy_nonoverlapping(word.to_le_bytes().as_ptr(), address as *mut u8, t.bytes()) };
}
