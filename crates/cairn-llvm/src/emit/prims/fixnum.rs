//! Fixnum and character operations.
//!
//! Fixnum words are the integer times eight, so sums, differences and bitwise operations work on words as they are.

use super::{Sink, Value};
use crate::emit::builder::ins;
use crate::emit::emitter::Emitter;
use crate::emit::ir_text::Val;
use cairn_core::prim::{Kind, Op};
use cairn_frame::ir::Prim;
use cairn_layout::value::CHAR_BYTE;

impl Emitter<'_, '_> {
    /// Both operands, checked; fixnums with one test of both tags.
    fn two_fixnums(&mut self, p: &Prim) -> (Val, Val) {
        let (a, b) = (self.operand(&p.args[0]), self.operand(&p.args[1]));
        if self.is_proven(p, 0) || self.is_proven(p, 1) {
            self.check(p, 0, &a);
            self.check(p, 1, &b);
            return (a, b);
        }
        let both = ins!(self, "or i64 {a}, {b}");
        let ok = self.has_tag(&both, 0);
        let which = self.fresh();
        self.out_of_line(&which, |e| {
            e.check(p, 0, &a);
            e.check(p, 1, &b);
            crate::emit::builder::line!(e, "unreachable");
        });
        self.guard(&ok, &which);
        (a, b)
    }

    /// `fx…`, not comparisons.
    pub(super) fn fixnum_op(&mut self, op: Op, p: &Prim) -> Value {
        let (a, b) = self.two_fixnums(p);
        Value::Word(match op {
            Op::FxAdd => ins!(self, "add i64 {a}, {b}"),
            Op::FxSub => ins!(self, "sub i64 {a}, {b}"),
            Op::FxMul => {
                let n = ins!(self, "ashr i64 {a}, 3");
                ins!(self, "mul i64 {n}, {b}")
            }
            Op::FxAnd => ins!(self, "and i64 {a}, {b}"),
            Op::FxOr => ins!(self, "or i64 {a}, {b}"),
            Op::FxXor => ins!(self, "xor i64 {a}, {b}"),
            Op::FxShl => {
                let n = self.shift_count(&b);
                ins!(self, "shl i64 {a}, {n}")
            }
            Op::FxShr => {
                let n = self.shift_count(&b);
                let s = ins!(self, "ashr i64 {a}, {n}");
                ins!(self, "and i64 {s}, -8")
            }
            other => unreachable!("{other:?} is not a fixnum operation"),
        })
    }

    /// Operations that count bits: the three below the integer's are zeros.
    pub(super) fn fixnum_count(&mut self, op: Op, p: &Prim) -> Value {
        let a = self.checked(p, 0);
        let n = match op {
            Op::FxOnes => ins!(self, "call i64 @llvm.ctpop.i64(i64 {a})"),
            Op::FxLength => {
                let sign = ins!(self, "ashr i64 {a}, 63");
                let bits = ins!(self, "xor i64 {a}, {sign}");
                // the highest of the three lower bits ends the search
                let ended = ins!(self, "or i64 {bits}, 4");
                let zeros = ins!(self, "call i64 @llvm.ctlz.i64(i64 {ended}, i1 true)");
                ins!(self, "sub i64 61, {zeros}")
            }
            Op::FxTrailing => {
                let zeros = ins!(self, "call i64 @llvm.cttz.i64(i64 {a}, i1 false)");
                ins!(self, "sub i64 {zeros}, 3")
            }
            other => unreachable!("{other:?} counts no bits"),
        };
        Value::Word(ins!(self, "shl i64 {n}, 3"))
    }

    /// The hardware takes shift counts modulo 64; LLVM must be told.
    fn shift_count(&mut self, b: &Val) -> Val {
        let n = ins!(self, "lshr i64 {b}, 3");
        ins!(self, "and i64 {n}, 63")
    }

    /// `fx=`, `fx<`, `fx<=`.
    pub(super) fn fixnum_compare(&mut self, op: Op, p: &Prim, sink: &mut Sink) {
        let (a, b) = self.two_fixnums(p);
        let cc = match op {
            Op::FxEq => "eq",
            Op::FxLt => "slt",
            _ => "sle",
        };
        let bit = ins!(self, "icmp {cc} i64 {a}, {b}");
        sink.end(self, &bit);
    }

    /// `char=?`, `char<?`: words compare like characters.
    pub(super) fn char_compare(&mut self, op: Op, p: &Prim, sink: &mut Sink) {
        let (a, b) = (self.operand(&p.args[0]), self.operand(&p.args[1]));
        self.check(p, 0, &a);
        self.check(p, 1, &b);
        let cc = if op == Op::CharEq { "eq" } else { "ult" };
        let bit = ins!(self, "icmp {cc} i64 {a}, {b}");
        sink.end(self, &bit);
    }

    /// `char->integer`, `integer->char`.
    pub(super) fn char_op(&mut self, op: Op, p: &Prim) -> Value {
        if op == Op::CharToInteger {
            let v = self.checked(p, 0);
            let s = ins!(self, "lshr i64 {v}, 5");
            return Value::Word(ins!(self, "and i64 {s}, -8"));
        }
        let v = self.operand(&p.args[0]);
        let fail = self.type_error(p, "Unicode scalar value", &v);
        if !self.is_proven(p, 0) {
            self.guard_kind(Kind::Fixnum, &v, &fail);
        }
        let in_range = ins!(self, "icmp ult i64 {v}, {}", 0x11_0000u64 << 3);
        self.guard(&in_range, &fail);
        let from_surrogates = ins!(self, "sub i64 {v}, {}", 0xD800u64 << 3);
        let ok = ins!(self, "icmp uge i64 {from_surrogates}, {}", 0x800u64 << 3);
        self.guard(&ok, &fail);
        let s = ins!(self, "shl i64 {v}, 5");
        Value::Word(ins!(self, "or i64 {s}, {CHAR_BYTE}"))
    }
}
