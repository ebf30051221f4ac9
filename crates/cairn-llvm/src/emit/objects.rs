//! Objects made and read inline: pairs, headed objects, closures, continuations.

use super::builder::{Builder, ins, line};
use super::ir_text::{Mem, Val};
use crate::alloc;
use cairn_layout::machine::{slot, slot_offset};
use cairn_layout::object::{AllocKind, PAIR_BYTES, continuation, headed_bytes};
use cairn_layout::value::{TAG_OBJECT, TAG_PAIR, TAG_PROCEDURE};

impl Builder {
    /// Memory for an object that a heap check has covered; returns the address (a word).
    pub(crate) fn allocate(&mut self, kind: AllocKind, bytes: u64) -> Val {
        let alloc = alloc::for_facts(self.collector);
        let at = alloc.take(self, kind, bytes);
        self.footing.object(self, at)
    }

    /// A headed object with these words; returns the value.
    pub(crate) fn headed(&mut self, header: u64, words: &[Val]) -> Val {
        let at = self.allocate(AllocKind::Scannable, headed_bytes(words.len()));
        let p = self.address(&at, 0);
        self.store_at(&p, 0, &Val::word(header), Mem::Header);
        if words.is_empty() {
            self.store_at(&p, 8, &Val::Int(0), Mem::Heap);
        }
        for (i, v) in words.iter().enumerate() {
            self.store_at(&p, 8 + 8 * i as i64, v, Mem::Heap);
        }
        ins!(self, "add i64 {at}, {TAG_OBJECT}")
    }

    /// A fresh closure; returns the value. It has room for a free variable even without one.
    pub(crate) fn closure(&mut self, code: &str, free: &[Val]) -> Val {
        let at = self.allocate(AllocKind::Procedure, headed_bytes(free.len()));
        let p = self.address(&at, 0);
        let m = Mem::Closure.suffix();
        line!(self, "store ptr {code}, ptr {p}{m}");
        if free.is_empty() {
            self.store_at(&p, 8, &Val::Int(0), Mem::Closure);
        }
        for (i, v) in free.iter().enumerate() {
            self.store_at(&p, 8 + 8 * i as i64, v, Mem::Closure);
        }
        ins!(self, "add i64 {at}, {TAG_PROCEDURE}")
    }

    /// The innermost winder.
    pub(crate) fn winders(&mut self) -> Val {
        self.load_machine(slot_offset(slot::WINDERS))
    }

    /// A fresh continuation object: words 1 to 6.
    pub(crate) fn continuation(&mut self, words: [Val; continuation::LEN as usize - 1]) -> Val {
        let at = self.allocate(AllocKind::Procedure, 8 * continuation::LEN);
        let p = self.address(&at, 0);
        line!(self, "store ptr @cairn_continuation, ptr {p}{}", Mem::Closure.suffix());
        for (i, w) in words.iter().enumerate() {
            self.store_at(&p, 8 + 8 * i as i64, w, Mem::Closure);
        }
        ins!(self, "add i64 {at}, {TAG_PROCEDURE}")
    }

    /// Word `i` of continuation object `k`.
    pub(crate) fn continuation_word(&mut self, k: &Val, i: u64) -> Val {
        self.load_word(k, 8 * i as i64 - TAG_PROCEDURE as i64, Mem::Closure)
    }

    /// A fresh pair.
    pub(crate) fn pair(&mut self, car: &Val, cdr: &Val) -> Val {
        let at = self.allocate(AllocKind::Pair, PAIR_BYTES);
        let p = self.address(&at, 0);
        self.store_at(&p, 0, car, Mem::Heap);
        self.store_at(&p, 8, cdr, Mem::Heap);
        ins!(self, "add i64 {at}, {TAG_PAIR}")
    }
}
