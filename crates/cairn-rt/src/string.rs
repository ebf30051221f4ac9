//! Strings: flat arrays of scalar values, four bytes each, so that indexing is one load.
//!
//! Bounds arguments are fixnums, or `Value::DEFAULT` when absent.

use crate::access::{self, list_items, string_chars, string_chars_mut, string_of};
use crate::alloc::{alloc_object, alloc_pair, make_string_from_chars};
use crate::arguments::{check_range, check_size, expect};
use crate::chars;
use crate::failure::{check, other, wrong_type};
use crate::hashing::hash_words;
use crate::sequence::{copy_bounds, fill_with, total_length};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::Type;

/// `(make-string length char)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_make(ctx: &mut Machine, length: Value, fill: Value) -> Value {
    let n = check!(check_size(ctx, "make-string", Type::String, length));
    let c = match fill {
        Value::DEFAULT => ' ' as u32,
        _ => expect!(ctx, "make-string", 2, "a character", fill, fill.is_char().then(|| fill.as_char())),
    };
    let v = alloc_object(ctx, Type::String, 0, n);
    string_chars_mut(v).fill(c);
    v
}

/// `(string-append a b)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_append(ctx: &mut Machine, a: Value, b: Value) -> Value {
    let x = expect!(ctx, "string-append", 1, "a string", a, string_of(a));
    let y = expect!(ctx, "string-append", 2, "a string", b, string_of(b));
    let v = alloc_object(ctx, Type::String, 0, (x.len() + y.len()) as u64);
    let (left, right) = string_chars_mut(v).split_at_mut(x.len());
    left.copy_from_slice(x);
    right.copy_from_slice(y);
    v
}

/// Appends a list of strings.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_concat(ctx: &mut Machine, list: Value) -> Value {
    let total = check!(total_length(ctx, "string-append", "a string", list, string_of));
    let v = alloc_object(ctx, Type::String, 0, total as u64);
    fill_with(string_chars_mut(v), list, string_chars);
    v
}

/// `(substring string start end)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_sub(ctx: &mut Machine, s: Value, start: Value, end: Value) -> Value {
    let chars = expect!(ctx, "substring", 1, "a string", s, string_of(s));
    let range = check!(check_range(ctx, "substring", 2, chars.len(), start, end));
    make_string_from_chars(ctx, &chars[range])
}

/// `(string-copy! to at from start end)`; the strings may be the same.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_copy_to(
    ctx: &mut Machine,
    to: Value,
    at: Value,
    from: Value,
    start: Value,
    end: Value,
) -> Value {
    const WHO: &str = "string-copy!";
    let target = string_of(to).filter(|_| access::mutable(to).is_some());
    let to_length = expect!(ctx, WHO, 1, "a mutable string", to, target).len();
    let from_length = expect!(ctx, WHO, 3, "a string", from, string_of(from)).len();
    let (at, range) = check!(copy_bounds(ctx, WHO, (to_length, at), (from_length, start, end)));
    // SAFETY: `copy_bounds` has checked both ranges, and `copy` allows overlap.
    unsafe {
        let source = (access::word_address(from, 0) as *const u32).add(range.start);
        let target = (access::word_address(to, 0) as *mut u32).add(at);
        std::ptr::copy(source, target, range.len());
    }
    Value::UNSPECIFIED
}

/// `(string-fill! string char start end)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_fill(ctx: &mut Machine, s: Value, c: Value, start: Value, end: Value) -> Value {
    let target = string_of(s).filter(|_| access::mutable(s).is_some());
    let n = expect!(ctx, "string-fill!", 1, "a mutable string", s, target).len();
    let c = expect!(ctx, "string-fill!", 2, "a character", c, c.is_char().then(|| c.as_char()));
    let range = check!(check_range(ctx, "string-fill!", 3, n, start, end));
    string_chars_mut(s)[range].fill(c);
    Value::UNSPECIFIED
}

/// -1, 0 or 1: the order of two strings by scalar values.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_compare(ctx: &mut Machine, a: Value, b: Value) -> Value {
    let x = expect!(ctx, "string<?", 0, "a string", a, string_of(a));
    let y = expect!(ctx, "string<?", 0, "a string", b, string_of(b));
    Value::fixnum(x.cmp(y) as i64)
}

/// `(string=? a b)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_equal(ctx: &mut Machine, a: Value, b: Value) -> Value {
    let x = expect!(ctx, "string=?", 0, "a string", a, string_of(a));
    let y = expect!(ctx, "string=?", 0, "a string", b, string_of(b));
    Value::bool(x == y)
}

/// A string of what `ascii` makes of each character, if all are ASCII, or else of what `full` makes of them together.
fn mapped(
    ctx: &mut Machine,
    who: &str,
    s: Value,
    ascii: impl Fn(u8) -> u8,
    full: impl Fn(&[u32], &mut Vec<u32>),
) -> Value {
    let chars = expect!(ctx, who, 0, "a string", s, string_of(s));
    if chars.iter().fold(0, |all, c| all | c) < 128 {
        let v = alloc_object(ctx, Type::String, 0, chars.len() as u64);
        for (slot, c) in string_chars_mut(v).iter_mut().zip(chars) {
            *slot = ascii(*c as u8).into();
        }
        return v;
    }
    let mut out = Vec::with_capacity(chars.len());
    full(chars, &mut out);
    make_string_from_chars(ctx, &out)
}

/// `(string-upcase s)`: the full mapping, `ß` gives `SS`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_upcase(ctx: &mut Machine, s: Value) -> Value {
    mapped(
        ctx,
        "string-upcase",
        s,
        |c| c.to_ascii_uppercase(),
        |chars, out| out.extend(chars.iter().flat_map(|c| access::to_char(*c).to_uppercase()).map(|c| c as u32)),
    )
}

/// `(string-downcase s)`: the full mapping; a capital sigma that ends a word becomes a final one.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_downcase(ctx: &mut Machine, s: Value) -> Value {
    mapped(
        ctx,
        "string-downcase",
        s,
        |c| c.to_ascii_lowercase(),
        |chars, out| {
            // The standard library's conversion knows the final sigma.
            let text: String = chars.iter().map(|c| access::to_char(*c)).collect();
            out.extend(text.to_lowercase().chars().map(|c| c as u32));
        },
    )
}

/// `(string-foldcase s)`: the full folding.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_foldcase(ctx: &mut Machine, s: Value) -> Value {
    mapped(
        ctx,
        "string-foldcase",
        s,
        |c| c.to_ascii_lowercase(),
        |chars, out| chars.iter().for_each(|c| chars::foldcase_full(access::to_char(*c), out)),
    )
}

/// `(list->string list)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_from_list(ctx: &mut Machine, list: Value) -> Value {
    let n = check!(crate::list::checked_length(ctx, "list->string", list));
    for c in list_items(list) {
        if !c.is_char() {
            return wrong_type(ctx, "list->string", 0, "a character", c);
        }
    }
    let v = alloc_object(ctx, Type::String, 0, n as u64);
    for (slot, c) in string_chars_mut(v).iter_mut().zip(list_items(list)) {
        *slot = c.as_char();
    }
    v
}

/// `(string->list string start end)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_to_list(ctx: &mut Machine, s: Value, start: Value, end: Value) -> Value {
    let chars = expect!(ctx, "string->list", 1, "a string", s, string_of(s));
    let range = check!(check_range(ctx, "string->list", 2, chars.len(), start, end));
    chars[range].iter().rev().fold(Value::NIL, |rest, c| alloc_pair(ctx, Value::char(*c), rest))
}

/// `(string->vector string start end)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_to_vector(ctx: &mut Machine, s: Value, start: Value, end: Value) -> Value {
    let chars = expect!(ctx, "string->vector", 1, "a string", s, string_of(s));
    let range = check!(check_range(ctx, "string->vector", 2, chars.len(), start, end));
    let v = alloc_object(ctx, Type::Vector, 0, range.len() as u64);
    for (slot, c) in access::words_mut(v).iter_mut().zip(&chars[range]) {
        *slot = Value::char(*c);
    }
    v
}

/// `(vector->string vector start end)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_from_vector(ctx: &mut Machine, vector: Value, start: Value, end: Value) -> Value {
    let items = expect!(ctx, "vector->string", 1, "a vector", vector, access::vector_of(vector));
    let range = check!(check_range(ctx, "vector->string", 2, items.len(), start, end));
    let items = &items[range];
    if let Some(bad) = items.iter().find(|c| !c.is_char()) {
        return wrong_type(ctx, "vector->string", 0, "a vector of characters, found", *bad);
    }
    let v = alloc_object(ctx, Type::String, 0, items.len() as u64);
    for (slot, c) in string_chars_mut(v).iter_mut().zip(items) {
        *slot = c.as_char();
    }
    v
}

/// `(string->utf8 string start end)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_to_utf8(ctx: &mut Machine, s: Value, start: Value, end: Value) -> Value {
    let chars = expect!(ctx, "string->utf8", 1, "a string", s, string_of(s));
    let range = check!(check_range(ctx, "string->utf8", 2, chars.len(), start, end));
    let chars = &chars[range];
    if chars.iter().fold(0, |all, c| all | c) < 0x80 {
        let v = alloc_object(ctx, Type::Bytevector, 0, chars.len() as u64);
        for (byte, c) in access::byte_slice_mut(v).iter_mut().zip(chars) {
            *byte = *c as u8;
        }
        return v;
    }
    let size: usize = chars.iter().map(|c| access::to_char(*c).len_utf8()).sum();
    let v = alloc_object(ctx, Type::Bytevector, 0, size as u64);
    let mut rest = access::byte_slice_mut(v);
    for c in chars {
        let c = access::to_char(*c);
        c.encode_utf8(rest);
        rest = &mut rest[c.len_utf8()..];
    }
    v
}

/// `(utf8->string bytevector start end)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_from_utf8(ctx: &mut Machine, bytes: Value, start: Value, end: Value) -> Value {
    const WHO: &str = "utf8->string";
    let all = expect!(ctx, WHO, 1, "a bytevector", bytes, access::bytes_of(bytes));
    let range = check!(check_range(ctx, WHO, 2, all.len(), start, end));
    let from = range.start;
    if all[range.clone()].is_ascii() {
        return crate::alloc::make_ascii_string(ctx, &all[range]);
    }
    match std::str::from_utf8(&all[range]) {
        Ok(text) => crate::alloc::make_string(ctx, text),
        Err(e) => {
            let at = from + e.valid_up_to();
            other(ctx, WHO, format!("invalid UTF-8 at index {at}: byte #x{:02x}", all[at]), &[])
        }
    }
}

/// Hash of a string's characters: a non-negative fixnum.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_string_hash(ctx: &mut Machine, s: Value) -> Value {
    let chars = expect!(ctx, "string-hash", 1, "a string", s, string_of(s));
    Value::fixnum(hash_words(chars.iter().map(|c| *c as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::string_text;
    use crate::alloc::{make_list, make_string};
    use crate::bare_runtime::TestRuntime;

    const NONE: Value = Value::DEFAULT;

    #[test]
    fn case_mappings_are_full() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        let s = make_string(ctx, "Straße ΑΣ ΑΣΑ");
        let up = cairn_string_upcase(ctx, s);
        assert_eq!(string_text(up), "STRASSE ΑΣ ΑΣΑ");
        let down = cairn_string_downcase(ctx, s);
        assert_eq!(string_text(down), "straße ας ασα");
        let fold = cairn_string_foldcase(ctx, s);
        assert_eq!(string_text(fold), "strasse ας ασα".replace('ς', "σ"));
    }

    #[test]
    fn copies_overlap_and_are_checked() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        let s = make_string(ctx, "abcdef");
        let n = Value::fixnum;
        assert_eq!(cairn_string_copy_to(ctx, s, n(2), s, n(0), n(4)), Value::UNSPECIFIED);
        assert_eq!(string_text(s), "ababcd");
        assert_eq!(cairn_string_copy_to(ctx, s, n(0), s, n(1), NONE), Value::UNSPECIFIED);
        assert_eq!(string_text(s), "babcdd");
        assert_eq!(cairn_string_copy_to(ctx, s, n(3), s, n(0), n(4)), Value::FAIL);
        assert_eq!(cairn_string_copy_to(ctx, s, n(7), s, n(0), n(0)), Value::FAIL);
        assert_eq!(string_text(s), "babcdd");
    }

    #[test]
    fn conversions_go_both_ways() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        let s = make_string(ctx, "aλ🂡");
        let list = cairn_string_to_list(ctx, s, NONE, NONE);
        let back = cairn_string_from_list(ctx, list);
        assert_eq!(string_text(back), "aλ🂡");
        let bytes = cairn_string_to_utf8(ctx, s, Value::fixnum(1), NONE);
        assert_eq!(access::byte_slice(bytes), "λ🂡".as_bytes());
        let back = cairn_string_from_utf8(ctx, bytes, NONE, NONE);
        assert_eq!(string_text(back), "λ🂡");
        assert_eq!(cairn_string_from_utf8(ctx, bytes, Value::fixnum(1), NONE), Value::FAIL);
        let vector = cairn_string_to_vector(ctx, s, NONE, NONE);
        let back = cairn_string_from_vector(ctx, vector, NONE, Value::fixnum(2));
        assert_eq!(string_text(back), "aλ");
        let all = make_list(ctx, &[s, s]);
        let twice = cairn_string_concat(ctx, all);
        assert_eq!(access::length(twice), 6);
        let mixed = make_list(ctx, &[Value::char(97), Value::TRUE]);
        assert_eq!(cairn_string_from_list(ctx, mixed), Value::FAIL);
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        assert_eq!(cairn_string_make(ctx, Value::fixnum(-1), NONE), Value::FAIL);
        assert_eq!(cairn_string_make(ctx, Value::TRUE, NONE), Value::FAIL);
        let empty = cairn_string_make(ctx, Value::fixnum(0), NONE);
        assert_eq!(access::length(empty), 0);
        let large = cairn_string_make(ctx, Value::fixnum(100_000), Value::char(0x3bb));
        assert!(string_chars(large).iter().all(|c| *c == 0x3bb) && string_chars(large).len() == 100_000);
    }
}
