//! `number->string` and `string->number`.

use crate::access;
use crate::alloc::{make_ascii_string, make_string};
use crate::failure;
use crate::num::operand::{from_number, to_number};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_num::limbs;

/// A radix argument, 2 to 36.
fn radix(ctx: &mut Machine, who: &str, v: Value) -> Result<u32, Value> {
    match access::fixnum_of(v) {
        Some(r @ 2..=36) => Ok(r as u32),
        _ => Err(failure::wrong_type(ctx, who, 2, "a radix between 2 and 36", v)),
    }
}

/// `(number->string n radix)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_to_string(ctx: &mut Machine, a: Value, b: Value) -> Value {
    const WHO: &str = "number->string";
    let radix = match radix(ctx, WHO, b) {
        Ok(r) => r,
        Err(fail) => return fail,
    };
    if a.is_fixnum() {
        let (n, mut buffer) = (a.as_fixnum(), [0; 64]);
        let digits = limbs::digits_of(n.unsigned_abs(), radix, &mut buffer);
        return match n < 0 {
            true => make_ascii_string(ctx, &[b"-", digits.as_bytes()].concat()),
            false => make_ascii_string(ctx, digits.as_bytes()),
        };
    }
    match to_number(a) {
        Some(n) => make_string(ctx, &cairn_num::format_number(&n, radix)),
        None => failure::wrong_type(ctx, WHO, 1, "a number", a),
    }
}

/// `(string->number s radix)`: `#f` when `s` does not denote a number.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_from_string(ctx: &mut Machine, a: Value, b: Value) -> Value {
    const WHO: &str = "string->number";
    let Some(chars) = access::string_of(a) else { return failure::wrong_type(ctx, WHO, 1, "a string", a) };
    let radix = match radix(ctx, WHO, b) {
        Ok(r) => r,
        Err(fail) => return fail,
    };
    let mut text = String::with_capacity(chars.len());
    for &c in chars {
        match char::from_u32(c).filter(char::is_ascii) {
            Some(c) => text.push(c),
            None => return Value::FALSE,
        }
    }
    match cairn_num::parse_number(&text, radix) {
        Some(n) => from_number(ctx, &n),
        None => Value::FALSE,
    }
}
