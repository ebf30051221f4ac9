//! Symbols: one object per name.
//!
//! Interned symbols live in the heap's immortal space, with their names, and never move; so the table and
//! compiled code may hold their addresses without telling the collector. The table is open addressing over
//! symbol words; the hash is that of the name's characters (`string-hash` of the name), kept in the symbol.
//! Symbols made by `generate-symbol` are ordinary heap objects that the table does not know.

use crate::access::{self, string_chars, string_of};
use crate::alloc;
use crate::arguments::expect;
use crate::equality::hash_words;
use crate::exhaustion;
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::{self, Type};
use cairn_layout::value::TAG_OBJECT;

/// The interned symbols.
#[derive(Default)]
pub struct SymbolTable {
    /// Symbols, or fixnum 0 in empty places. The length is a power of two.
    places: Vec<Value>,
    count: usize,
    /// Number of generated symbols so far.
    generated: u64,
}

const EMPTY: Value = Value(0);

impl SymbolTable {
    /// Number of interned symbols.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Is the table empty?
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The place of the symbol with this name, or where it would go.
    fn place(&self, hash: i64, same: impl Fn(&[u32]) -> bool) -> usize {
        let mask = self.places.len() - 1;
        let mut i = spread(hash) & mask;
        loop {
            let v = self.places[i];
            if v == EMPTY
                || (access::word(v, object::symbol::HASH).as_fixnum() == hash
                    && same(string_chars(access::word(v, object::symbol::NAME))))
            {
                return i;
            }
            i = (i + 1) & mask;
        }
    }

    fn bytes(&self) -> u64 {
        size_of_val(&*self.places) as u64
    }

    /// The bytes that `grow` asks for.
    fn bytes_grown(&self) -> u64 {
        (2 * self.bytes()).max(8 << 10)
    }

    fn grow(&mut self) {
        let size = self.bytes_grown() as usize / size_of::<Value>();
        let old = std::mem::replace(&mut self.places, vec![EMPTY; size]);
        for v in old.into_iter().filter(|v| *v != EMPTY) {
            let mut i = spread(access::word(v, object::symbol::HASH).as_fixnum()) & (size - 1);
            while self.places[i] != EMPTY {
                i = (i + 1) & (size - 1);
            }
            self.places[i] = v;
        }
    }
}

fn spread(hash: i64) -> usize {
    ((hash as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
}

/// The symbol named by these characters.
pub fn intern_chars(ctx: &mut Machine, name: &[u32]) -> Value {
    let hash = hash_words(name.iter().map(|c| *c as u64));
    let table = &rt(ctx).symbols;
    if (table.count + 1) * 4 > table.places.len() * 3 {
        grow_table(ctx);
    }
    let i = rt(ctx).symbols.place(hash, |other| other == name);
    if rt(ctx).symbols.places[i] == EMPTY {
        let symbol = make_immortal(ctx, name, hash);
        let table = &mut rt(ctx).symbols;
        table.places[i] = symbol;
        table.count += 1;
    }
    rt(ctx).symbols.places[i]
}

/// The table is no part of the heap, but counts as one.
#[cold]
fn grow_table(ctx: &mut Machine) {
    let (before, bytes) = (rt(ctx).symbols.bytes(), rt(ctx).symbols.bytes_grown());
    if rt(ctx).heap.charge(bytes).is_err() {
        exhaustion::overdraw(ctx, bytes, |ctx| rt(ctx).heap.charge(bytes));
    }
    rt(ctx).symbols.grow();
    rt(ctx).heap.discharge(before);
}

/// The symbol with this name.
pub fn intern(ctx: &mut Machine, name: &str) -> Value {
    let chars: Vec<u32> = name.chars().map(|c| c as u32).collect();
    intern_chars(ctx, &chars)
}

/// A symbol and its name outside the collected spaces.
fn make_immortal(ctx: &mut Machine, name: &[u32], hash: i64) -> Value {
    let name_header = object::header(Type::String, object::FLAG_LITERAL, name.len() as u64);
    let symbol_header = object::header(Type::Symbol, 0, object::symbol::LEN);
    let name_bytes = object::object_bytes(name_header);
    let Some(address) = rt(ctx).alloc_immortal(name_bytes, true) else { exhaustion::refuse(ctx, name_bytes) };
    // SAFETY: `address` has room for the header and the characters, rounded up to words.
    unsafe {
        *((address + name_bytes - 8) as *mut u64) = 0;
        *(address as *mut u64) = name_header;
        std::ptr::copy_nonoverlapping(name.as_ptr(), (address + 8) as *mut u32, name.len());
    }
    let name = Value(address | TAG_OBJECT);
    let symbol_bytes = object::object_bytes(symbol_header);
    let Some(address) = rt(ctx).alloc_immortal(symbol_bytes, false) else { exhaustion::refuse(ctx, symbol_bytes) };
    // SAFETY: a symbol is its header and two words.
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
    let text = format!("g{}", table.generated);
    let hash = hash_words(text.chars().map(|c| c as u64).chain([u64::MAX]));
    let name = alloc::make_string(ctx, &text);
    let symbol = alloc::alloc_object(ctx, Type::Symbol, 0, object::symbol::LEN);
    access::words_mut(symbol).copy_from_slice(&[name, Value::fixnum(hash)]);
    symbol
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestRuntime;

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
        let (held, table) = (rt(ctx).heap.bytes_in_use(), rt(ctx).symbols.bytes());
        grow_table(ctx);
        assert_eq!(rt(ctx).heap.bytes_in_use(), held + table, "the table counts");
        let ctx = t.ctx();
        let g = cairn_symbol_gensym(ctx);
        assert_ne!(intern(ctx, &access::symbol_text(g)), g);
    }
}
