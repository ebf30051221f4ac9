//! Homogeneous numeric vectors: `f64vector-ref` and its like.
//!
//! ```text
//!  v has the tag of objects?                     ──no──▶ expected an f64vector
//!  type and kind in its header right?            ──no──▶ expected an f64vector
//!  index, rotated, below the length in elements? ──no──▶ has no element
//!  load, a double or an integer as it lies there
//! ```
//!
//! One comparison finds that a header says "numeric vector of this kind" (and, for stores, "no literal"). A flonum that
//! comes out is a `double` until somebody wants a word; integers of 64 bits that are no fixnums come from the runtime.

use super::data::field;
use super::raw_numbers::shape;
use super::{Sink, Value, called};
use crate::emit::builder::{ins, line};
use crate::emit::emitter::Emitter;
use crate::emit::ir_text::{Mem, Val};
use cairn_core::prim::{AS_VECTOR, IN_RANGE, Numeric};
use cairn_frame::ir::Prim;
use cairn_layout::machine::error;
use cairn_layout::object::numeric::{LITERAL_BIT, NumericKind};
use cairn_layout::object::record::FieldKind;
use cairn_layout::object::{LENGTH_SHIFT, Type, header};
use cairn_layout::value::TAG_OBJECT;

impl Emitter<'_, '_> {
    /// `f64vector?` and its like.
    pub(super) fn is_numeric(&mut self, v: &Val, kind: NumericKind, sink: &mut Sink) {
        self.if_object(v, sink);
        let h = self.header(v);
        let b = ins!(self, "and i64 {h}, {}", kind.header_mask());
        let bit = ins!(self, "icmp eq i64 {b}, {}", kind.header_bits());
        sink.end(self, &bit);
    }

    /// Everything else.
    pub(super) fn numeric_op(&mut self, access: Numeric, kind: NumericKind, p: &Prim) -> Value {
        if access == Numeric::Length {
            let v = self.operand(&p.args[0]);
            let h = self.numeric_header(p, &v, kind, false);
            let n = self.numeric_length(&h, kind);
            return Value::Word(ins!(self, "shl i64 {n}, 3"));
        }
        let (v, i) = self.numeric_element(p, kind, access == Numeric::Set);
        let base = self.address(&v, field(0));
        let offset = match kind.shift() {
            shift @ 0..3 => ins!(self, "lshr i64 {i}, {}", 3 - shift),
            3 => i.clone(),
            shift => ins!(self, "shl i64 {i}, {}", shift - 3),
        };
        let q = ins!(self, "getelementptr i8, ptr {base}, i64 {offset}");
        match (access, kind.part()) {
            (Numeric::Set, FieldKind::F32 | FieldKind::F64) => {
                let x = self.double_operand(p, 2);
                self.store_packed_double(&q, kind.part(), &x);
                Value::unspecified()
            }
            (Numeric::Set, part) => {
                self.store_packed(p, kind, part, (&v, &i), &q);
                Value::unspecified()
            }
            _ if kind.is_complex() => {
                let half = kind.bytes() / 2;
                let second = ins!(self, "getelementptr i8, ptr {q}, i64 {half}");
                let parts = [&q, &second].map(|q| self.load_packed_double(q, kind.part()));
                let words = parts.map(|x| self.encode_double(&x));
                Value::Word(self.headed(header(Type::Compnum, 0, 2), &words))
            }
            (_, FieldKind::F32 | FieldKind::F64) => Value::Double(self.load_packed_double(&q, kind.part())),
            (_, part) => self.load_packed(part, (&v, &i), &q),
        }
    }

    /// The header of a vector of this kind, and nothing else.
    fn numeric_header(&mut self, p: &Prim, v: &Val, kind: NumericKind, writable: bool) -> Val {
        let as_vector = p.proven & AS_VECTOR != 0;
        if as_vector && p.proven & 1 != 0 {
            return self.header(v);
        }
        let expected = match writable {
            _ if as_vector => "vector".to_string(),
            true => format!("a mutable {}vector", kind.name()),
            false => kind.with_article().to_string(),
        };
        let fail = self.type_error(p, &expected, v);
        let tag = self.has_tag(v, TAG_OBJECT);
        self.guard(&tag, &fail);
        let h = self.header(v);
        let bits = kind.header_mask() | if writable { LITERAL_BIT } else { 0 };
        let b = ins!(self, "and i64 {h}, {bits}");
        let ok = ins!(self, "icmp eq i64 {b}, {}", kind.header_bits());
        self.guard(&ok, &fail);
        h
    }

    /// The number of elements, from the header.
    fn numeric_length(&mut self, h: &Val, kind: NumericKind) -> Val {
        ins!(self, "lshr i64 {h}, {}", LENGTH_SHIFT + kind.shift())
    }

    /// Checks vector and index; returns the vector and the index as a fixnum word.
    fn numeric_element(&mut self, p: &Prim, kind: NumericKind, writable: bool) -> (Val, Val) {
        let (v, i) = (self.operand(&p.args[0]), self.operand(&p.args[1]));
        let in_range = p.proven & IN_RANGE != 0;
        if in_range && (!writable || p.proven & AS_VECTOR != 0) {
            return (v, i);
        }
        let h = self.numeric_header(p, &v, kind, writable);
        if in_range {
            return (v, i);
        }
        let n = self.numeric_length(&h, kind);
        let ok = if self.is_proven(p, 1) {
            let n = ins!(self, "shl i64 {n}, 3");
            ins!(self, "icmp ult i64 {i}, {n}")
        } else {
            let index = ins!(self, "call i64 @llvm.fshr.i64(i64 {i}, i64 {i}, i64 3)");
            ins!(self, "icmp ult i64 {index}, {n}")
        };
        let fail = self.throw_block(error::RANGE, called(p), "index", p.site, &[&i, &v]);
        self.guard(&ok, &fail);
        (v, i)
    }

    fn load_packed(&mut self, part: FieldKind, (v, i): (&Val, &Val), q: &Val) -> Value {
        let (bits, signed) = shape(part);
        let n = ins!(self, "load i{bits}, ptr {q}{}", Mem::Leaf.suffix());
        if bits == 64 {
            let wide = |e: &mut Self| e.rt_call_at("cairn_numeric_wide", &[v.clone(), i.clone()], None);
            return Value::Word(self.fixnum_or(&n, signed, wide));
        }
        let n = ins!(self, "{} i{bits} {n} to i64", if signed { "sext" } else { "zext" });
        Value::Word(ins!(self, "shl i64 {n}, 3"))
    }

    fn store_packed(&mut self, p: &Prim, kind: NumericKind, part: FieldKind, (v, i): (&Val, &Val), q: &Val) {
        let x = self.operand(&p.args[2]);
        let (bits, signed) = shape(part);
        if bits == 64 {
            let widen = |e: &mut Self| {
                e.rt_call("cairn_numeric_widen", &[v.clone(), i.clone(), x.clone()], p.site);
            };
            return self.store_wide(q, &x, signed, widen);
        }
        let fail = self.type_error(p, kind.expected(), &x);
        self.guard_fixnum_within(part, &x, &fail);
        let n = ins!(self, "ashr i64 {x}, 3");
        let n = ins!(self, "trunc i64 {n} to i{bits}");
        line!(self, "store i{bits} {n}, ptr {q}{}", Mem::Leaf.suffix());
    }
}
