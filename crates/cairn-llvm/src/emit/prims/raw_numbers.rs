//! Numbers as they lie in raw records and in homogeneous vectors: floats and doubles, integers of 8 to 64 bits.
//!
//! An integer of less than 64 bits is always a fixnum. One of 64 may be a bignum as a word: that is made, or taken
//! apart, by a call of the runtime out of line.

use crate::emit::builder::{Label, ins, line};
use crate::emit::emitter::Emitter;
use crate::emit::ir_text::{Mem, Odds, Val};
use cairn_layout::object::record::FieldKind;

/// Bits of a field, and whether it is an integer with a sign. A boolean is one byte: bit 3 of its word.
pub(super) fn shape(kind: FieldKind) -> (u32, bool) {
    let bits = 8 * kind.raw_bytes().unwrap_or(8) as u32;
    let signed = kind.integers().is_some_and(|(lo, _)| lo < 0);
    (bits, signed)
}

impl Emitter<'_, '_> {
    /// The double or float at `q`.
    pub(super) fn load_packed_double(&mut self, q: &Val, kind: FieldKind) -> Val {
        let m = Mem::Leaf.suffix();
        if kind == FieldKind::F32 {
            let f = ins!(self, "load float, ptr {q}{m}");
            return ins!(self, "fpext float {f} to double");
        }
        ins!(self, "load double, ptr {q}{m}")
    }

    /// Stores a double at `q`, as the kind says.
    pub(super) fn store_packed_double(&mut self, q: &Val, kind: FieldKind, x: &Val) {
        let m = Mem::Leaf.suffix();
        if kind == FieldKind::F32 {
            let f = ins!(self, "fptrunc double {x} to float");
            line!(self, "store float {f}, ptr {q}{m}");
        } else {
            line!(self, "store double {x}, ptr {q}{m}");
        }
    }

    /// The integer of 64 bits `n` as a word: a fixnum, else what `boxed` gets from the runtime.
    pub(super) fn fixnum_or(&mut self, n: &Val, signed: bool, boxed: impl FnOnce(&mut Self) -> Val) -> Val {
        let word = ins!(self, "shl i64 {n}, 3");
        let back = ins!(self, "ashr i64 {word}, 3");
        let mut fits = ins!(self, "icmp eq i64 {back}, {n}");
        if !signed {
            let natural = ins!(self, "icmp sge i64 {n}, 0");
            fits = ins!(self, "and i1 {fits}, {natural}");
        }
        let (join, cold) = (self.fresh(), self.fresh());
        let here = self.here();
        self.branch(&fits, &join, &cold, Odds::Likely);
        let boxed = self.out_of_line(&cold, |e| {
            let r = boxed(e);
            e.goto(&join);
            (r, e.here())
        });
        self.start(&join);
        self.phi("i64", &[(word, here), boxed])
    }

    /// Goes on only if the word is a fixnum within the bounds of a kind of less than 64 bits.
    pub(super) fn guard_fixnum_within(&mut self, kind: FieldKind, x: &Val, fail: &Label) {
        let tag = self.has_tag(x, 0);
        self.guard(&tag, fail);
        let (lo, hi) = kind.integers().expect("integers");
        let (lo, hi) = (8 * lo as i64, 8 * hi as i64);
        let from = ins!(self, "sub i64 {x}, {lo}");
        let ok = ins!(self, "icmp ule i64 {from}, {}", hi.wrapping_sub(lo));
        self.guard(&ok, fail);
    }

    /// Is the word a fixnum that an integer of 64 bits, with a sign or not, can be?
    pub(super) fn is_fixnum_of(&mut self, x: &Val, signed: bool) -> Val {
        let ok = self.has_tag(x, 0);
        if signed {
            return ok;
        }
        let natural = ins!(self, "icmp sge i64 {x}, 0");
        ins!(self, "and i1 {ok}, {natural}")
    }

    /// Stores the word as an integer of 64 bits at `q`: a fixnum here, anything else by `put`, a call of the runtime.
    pub(super) fn store_wide(&mut self, q: &Val, x: &Val, signed: bool, put: impl FnOnce(&mut Self)) {
        let ok = self.is_fixnum_of(x, signed);
        let (fixnum, other, join) = (self.fresh(), self.fresh(), self.fresh());
        self.branch(&ok, &fixnum, &other, Odds::Likely);
        self.start(&fixnum);
        let n = ins!(self, "ashr i64 {x}, 3");
        line!(self, "store i64 {n}, ptr {q}{}", Mem::Leaf.suffix());
        self.goto(&join);
        self.out_of_line(&other, |e| {
            put(e);
            e.goto(&join);
        });
        self.start(&join);
    }
}
