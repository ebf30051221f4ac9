//! Symbols: one object per name.
//!
//! The symbols of modules live in the heap's immortal space, with their names, and never move; so compiled code may
//! hold their addresses without telling the collector. Symbols made at run time are ordinary heap objects, which the
//! table refers to weakly: a symbol that nothing else refers to is forgotten, and nobody can tell that its name gets a
//! new one later.
//!
//! Symbols made by `generate-symbol` are objects that the table ([`crate::symbol_table`]) does not know.

use crate::access::{self, string_of};
use crate::alloc;
use crate::arguments::expect;
use crate::exhaustion;
use crate::hashing::hash_words;
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::{self, Type};
use cairn_layout::value::TAG_OBJECT;

/// The symbol named by these characters.
pub fn intern_chars(ctx: &mut Machine, name: &[u32]) -> Value {
    intern_with(ctx, name, make_mortal)
}

/// The symbol with this name, like `intern_chars`; a new one is made by `make`.
fn intern_with(ctx: &mut Machine, name: &[u32], make: fn(&mut Machine, &[u32], i64) -> Value) -> Value {
    let hash = hash_words(name.iter().map(|c| *c as u64));
    fit(ctx);
    if let Some(symbol) = rt(ctx).symbols.find(hash, |other| other == name) {
        return symbol;
    }
    let symbol = make(ctx, name, hash);
    rt(ctx).symbols.insert(symbol);
    symbol
}

/// Makes the table's size fit. It is no part of the heap, but counts as one.
#[inline]
fn fit(ctx: &mut Machine) {
    #[cold]
    fn change(ctx: &mut Machine, size: usize) {
        let (before, bytes) = (rt(ctx).symbols.bytes(), (size * size_of::<Value>()) as u64);
        if rt(ctx).heap.charge(bytes).is_err() {
            exhaustion::overdraw(ctx, bytes, |ctx| rt(ctx).heap.charge(bytes));
        }
        rt(ctx).symbols.resize(size);
        rt(ctx).heap.discharge(before);
    }
    if let Some(size) = rt(ctx).symbols.resized() {
        change(ctx, size);
    }
}

/// The symbol with this name, for a module: it stays, and, unless the program has made it before, where it is.
pub fn intern_for_module(ctx: &mut Machine, name: &str) -> Value {
    let chars: Vec<u32> = name.chars().map(|c| c as u32).collect();
    let symbol = intern_with(ctx, &chars, make_immortal);
    rt(ctx).symbols.modules_move |= !rt(ctx).heap.is_immortal(symbol.0);
    symbol
}

/// The symbol with this name.
pub fn intern(ctx: &mut Machine, name: &str) -> Value {
    let chars: Vec<u32> = name.chars().map(|c| c as u32).collect();
    intern_chars(ctx, &chars)
}

/// A symbol that lives as long as it is referred to.
fn make_mortal(ctx: &mut Machine, name: &[u32], hash: i64) -> Value {
    let text = alloc::alloc_object(ctx, Type::String, object::FLAG_LITERAL, name.len() as u64);
    access::string_chars_mut(text).copy_from_slice(name);
    let symbol = alloc::alloc_object(ctx, Type::Symbol, 0, object::symbol::LEN);
    access::words_mut(symbol).copy_from_slice(&[text, Value::fixnum(hash)]);
    rt(ctx).symbols.young.push(symbol);
    symbol
}

/// A symbol and its name outside the collected spaces.
fn make_immortal(ctx: &mut Machine, name: &[u32], hash: i64) -> Value {
    let name_header = object::header(Type::String, object::FLAG_LITERAL, name.len() as u64);
    let symbol_header = object::header(Type::Symbol, 0, object::symbol::LEN);
    let name_bytes = object::object_bytes(name_header);
    let Some(address) = rt(ctx).alloc_immortal(name_bytes, true) else { exhaustion::refuse(ctx, name_bytes) };
    // SAFETY: `alloc_immortal` has given `name_bytes` at `address`: the header and the characters, rounded up to words.
    unsafe {
        *((address + name_bytes - 8) as *mut u64) = 0;
        *(address as *mut u64) = name_header;
        std::ptr::copy_nonoverlapping(name.as_ptr(), (address + 8) as *mut u32, name.len());
    }
    let name = Value(address | TAG_OBJECT);
    let symbol_bytes = object::object_bytes(symbol_header);
    let Some(address) = rt(ctx).alloc_immortal(symbol_bytes, false) else { exhaustion::refuse(ctx, symbol_bytes) };
    // SAFETY: `alloc_immortal` has given `symbol_bytes` at `address`: the header and two words.
    unsafe {
        *(address as *mut u64) = symbol_header;
        *((address + 8) as *mut Value) = name;
        *((address + 16) as *mut Value) = Value::fixnum(hash);
    }
    Value(address | TAG_OBJECT)
}

/// `(string->symbol string)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbol_intern(ctx: &mut Machine, name: Value) -> Value {
    let chars = expect!(ctx, "string->symbol", 1, "a string", name, string_of(name));
    intern_chars(ctx, chars)
}

/// A fresh symbol that no name leads to.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbol_gensym(ctx: &mut Machine) -> Value {
    let table = &mut rt(ctx).symbols;
    table.generated += 1;
    let name: Vec<u32> = format!("g{}", table.generated).chars().map(u32::from).collect();
    generated(ctx, &name)
}

/// `(generate-symbol-named name)`: name, a string, is the program's to choose; no other symbol is this one.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbol_named(ctx: &mut Machine, name: Value) -> Value {
    rt(ctx).symbols.generated += 1;
    let name = access::string_chars(name).to_vec();
    generated(ctx, &name)
}

/// A symbol that the table does not know; its hash is that of the number of symbols generated so far.
fn generated(ctx: &mut Machine, name: &[u32]) -> Value {
    let hash = hash_words([rt(ctx).symbols.generated, u64::MAX].into_iter());
    let text = alloc::alloc_object(ctx, Type::String, object::FLAG_LITERAL, name.len() as u64);
    access::string_chars_mut(text).copy_from_slice(name);
    let symbol = alloc::alloc_object(ctx, Type::Symbol, 0, object::symbol::LEN);
    access::words_mut(symbol).copy_from_slice(&[text, Value::fixnum(hash)]);
    symbol
}

/// `(syntax-host what a b)`: what lib/more/cairn/syntax-case.sld asks the expander. When a program runs there is none:
/// `#f`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbol_syntax(_ctx: &mut Machine, _what: Value, _a: Value, _b: Value) -> Value {
    Value::FALSE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bare_runtime::TestRuntime;

    #[test]
    fn a_name_has_one_symbol() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        let first: Vec<Value> = (0..5000).map(|i| intern(ctx, &format!("s{i}λ"))).collect();
        for (i, v) in first.iter().enumerate() {
            assert_eq!(intern(ctx, &format!("s{i}λ")), *v);
            assert_eq!(access::symbol_text(*v), format!("s{i}λ"));
        }
        assert_eq!(rt(ctx).symbols.len(), 5000);
        let mortal = intern(ctx, "made by the program");
        let immortal = intern_for_module(ctx, "in a module");
        assert_eq!(intern(ctx, "in a module"), immortal);
        assert!(!rt(ctx).symbols.modules_move);
        assert_eq!(intern_for_module(ctx, "made by the program"), mortal);
        assert!(rt(ctx).symbols.modules_move, "the module's symbol may move");
        let g = cairn_symbol_gensym(ctx);
        assert_ne!(intern(ctx, &access::symbol_text(g)), g);
    }
}
