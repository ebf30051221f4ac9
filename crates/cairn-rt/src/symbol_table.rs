//! The table of symbols: plain data.
//!
//! It is open addressing over symbol words; the hash is that of the name's characters (`string-hash` of the name), kept
//! in the symbol, never the address. After a minor collection only the places of the symbols made since the last one
//! are looked at, after a major one all.

use crate::access::{self, string_chars};
use cairn_heap::WeakVisitor;
use cairn_layout::Value;
use cairn_layout::object;

/// The interned symbols.
#[derive(Default)]
pub struct SymbolTable {
    /// Symbols, `EMPTY`, or `GONE` where a symbol was. The length is a power of two.
    places: Vec<Value>,
    /// Number of symbols.
    count: usize,
    /// Number of places that are not empty.
    taken: usize,
    /// Symbols made since the last collection.
    pub young: Vec<Value>,
    /// Number of generated symbols so far.
    pub generated: u64,
    /// A module was given a symbol that the program had made before, so that symbols of modules may move.
    pub modules_move: bool,
}

const EMPTY: Value = Value(0);
/// A symbol has died here; a search goes on.
const GONE: Value = Value::FALSE;
const LEAST_PLACES: usize = 1024;

fn hash_of(symbol: Value) -> i64 {
    access::word(symbol, object::symbol::HASH).as_fixnum()
}

impl SymbolTable {
    /// Number of interned symbols.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Is the table empty?
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first place on the path of a hash that is empty or holds what is looked for.
    fn search(&self, hash: i64, is_it: impl Fn(Value) -> bool) -> usize {
        let mask = self.places.len() - 1;
        let mut i = spread(hash) & mask;
        while self.places[i] != EMPTY && (self.places[i] == GONE || !is_it(self.places[i])) {
            i = (i + 1) & mask;
        }
        i
    }

    /// The symbol with this name.
    pub fn find(&self, hash: i64, same: impl Fn(&[u32]) -> bool) -> Option<Value> {
        let found = |v| hash_of(v) == hash && same(string_chars(access::word(v, object::symbol::NAME)));
        let v = self.places[self.search(hash, found)];
        (v != EMPTY).then_some(v)
    }

    /// Enters a symbol that is not there; there is room.
    pub fn insert(&mut self, symbol: Value) {
        let i = self.search(hash_of(symbol), |_| false);
        self.places[i] = symbol;
        self.count += 1;
        self.taken += 1;
    }

    /// Bytes of the table.
    pub fn bytes(&self) -> u64 {
        size_of_val(&*self.places) as u64
    }

    /// The number of places for one more symbol, if it is another than now; fewer if most symbols have died.
    pub fn resized(&self) -> Option<usize> {
        let len = self.places.len();
        let full = (self.taken + 1) * 4 > len * 3;
        let sparse = self.count * 16 < len && len > LEAST_PLACES;
        (full || sparse).then(|| (self.count * 2 + 1).next_power_of_two().max(LEAST_PLACES))
    }

    /// Takes this many places.
    pub fn resize(&mut self, size: usize) {
        let old = std::mem::replace(&mut self.places, vec![EMPTY; size]);
        (self.count, self.taken) = (0, 0);
        for v in old.into_iter().filter(|v| *v != EMPTY && *v != GONE) {
            self.insert(v);
        }
    }

    fn settle(&mut self, i: usize, survivor: Option<u64>) {
        match survivor {
            Some(word) => self.places[i] = Value(word),
            None => {
                self.places[i] = GONE;
                self.count -= 1;
            }
        }
    }

    /// Forgets the symbols that died in a collection, and learns where the others are.
    pub fn visit_weak<V: WeakVisitor>(&mut self, visitor: &mut V) {
        let young = std::mem::take(&mut self.young);
        if V::EVERYTHING {
            for i in 0..self.places.len() {
                let v = self.places[i];
                if v != EMPTY && v != GONE {
                    // SAFETY: the table's symbols were alive after the last collection.
                    self.settle(i, unsafe { visitor.survivor(v.0) });
                }
            }
            return;
        }
        for v in young {
            // What has moved has left its words behind, except the first: the hash can still be read.
            let i = self.search(hash_of(v), |other| other == v);
            debug_assert!(self.places[i] == v, "a young symbol is in the table");
            // SAFETY: `v` is in the list of symbols that were made since the last collection.
            self.settle(i, unsafe { visitor.survivor(v.0) });
        }
    }
}

fn spread(hash: i64) -> usize {
    ((hash as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
}
