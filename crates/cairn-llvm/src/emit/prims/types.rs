//! Type tests and equality.

use super::Sink;
use crate::emit::builder::{Label, ins};
use crate::emit::emitter::Emitter;
use crate::emit::ir_text::{Mem, Odds, Val};
use cairn_core::ir::Literal;
use cairn_core::prim::{Kind, Op};
use cairn_frame::ir::{Operand, Prim};
use cairn_layout::object::{Type, type_byte};
use cairn_layout::value::*;
use cairn_num::{Int, Number};

/// The header type behind a kind of headed objects.
fn header_type(k: Kind) -> Option<Type> {
    Some(match k {
        Kind::Compnum => Type::Compnum,
        Kind::Symbol => Type::Symbol,
        Kind::String => Type::String,
        Kind::Vector => Type::Vector,
        Kind::Bytevector => Type::Bytevector,
        Kind::Box => Type::Box,
        Kind::Port => Type::Port,
        Kind::Promise => Type::Promise,
        Kind::Opaque => Type::Opaque,
        _ => return None,
    })
}

/// Bit `i` (mod 8): tag `i` means fixnum or self-tagged flonum.
const NUMBER_TAGS: u64 = FLONUM_TAGS | 0x0101_0101_0101_0101;

impl Emitter<'_, '_> {
    /// An `i1`: is the bit of `v`'s tag set in `mask`?
    pub(crate) fn tag_in(&mut self, v: &Val, mask: u64) -> Val {
        // 32 bits of the periodic mask suffice and are a shorter constant; becomes `bt`
        let t = ins!(self, "trunc i64 {v} to i32");
        let k = ins!(self, "and i32 {t}, 31");
        let s = ins!(self, "lshr i32 {}, {k}", mask as u32);
        let b = ins!(self, "and i32 {s}, 1");
        ins!(self, "icmp ne i32 {b}, 0")
    }

    /// The low byte of an object's header (the tag was tested).
    pub(crate) fn header_byte(&mut self, v: &Val) -> Val {
        let h = self.header(v);
        ins!(self, "and i64 {h}, 255")
    }

    /// An object's header (the tag was tested).
    pub(crate) fn header(&mut self, v: &Val) -> Val {
        self.load_word(v, -(TAG_OBJECT as i64), Mem::Header)
    }

    /// Goes on only if `v` is of the kind.
    pub(crate) fn guard_kind(&mut self, kind: Kind, v: &Val, fail: &Label) {
        if let Some(t) = header_type(kind) {
            self.guard_object(v, t, fail);
            return;
        }
        let bit = match kind {
            Kind::Any => return,
            Kind::Fixnum => self.has_tag(v, TAG_FIXNUM),
            Kind::Pair => self.has_tag(v, TAG_PAIR),
            Kind::Procedure => self.has_tag(v, TAG_PROCEDURE),
            Kind::Char => self.is_char(v),
            Kind::Boolean => self.is_boolean(v),
            kind => {
                let p = self.fresh();
                let mut sink = Sink::Branch(p.clone(), fail.clone());
                match kind {
                    Kind::Flonum => self.is_flonum(v, &mut sink),
                    Kind::Record => self.is_record(v, &mut sink),
                    _ => self.is_number(v, &mut sink),
                }
                self.start(&p);
                return;
            }
        };
        self.guard(&bit, fail);
    }

    /// Goes on only if `v` is an object with this header type; returns the header.
    pub(crate) fn guard_object(&mut self, v: &Val, t: Type, fail: &Label) -> Val {
        let tag = self.has_tag(v, TAG_OBJECT);
        self.guard(&tag, fail);
        let h = self.header(v);
        let b = ins!(self, "and i64 {h}, 255");
        let ok = ins!(self, "icmp eq i64 {b}, {}", type_byte(t));
        self.guard(&ok, fail);
        h
    }

    pub(super) fn is_char(&mut self, v: &Val) -> Val {
        let b = ins!(self, "and i64 {v}, 255");
        ins!(self, "icmp eq i64 {b}, {CHAR_BYTE}")
    }

    pub(super) fn is_boolean(&mut self, v: &Val) -> Val {
        let b = ins!(self, "and i64 {v}, {}", !(Value::FALSE.0 ^ Value::TRUE.0) as i64);
        ins!(self, "icmp eq i64 {b}, {}", Value::FALSE.0 & Value::TRUE.0)
    }

    /// Goes on where the value has the tag of objects; ends the other path.
    pub(super) fn if_object(&mut self, v: &Val, sink: &mut Sink) {
        let tag = self.has_tag(v, TAG_OBJECT);
        let (yes, no) = (self.fresh(), self.fresh());
        self.branch(&tag, &yes, &no, Odds::Even);
        self.start(&no);
        sink.end_known(self, false);
        self.start(&yes);
    }

    /// A record: an object, or a compact one.
    fn is_record(&mut self, v: &Val, sink: &mut Sink) {
        let tag = self.has_tag(v, TAG_OBJECT);
        let (yes, no) = (self.fresh(), self.fresh());
        self.branch(&tag, &yes, &no, Odds::Even);
        self.start(&no);
        let bit = self.is_compact_reference(v);
        sink.end(self, &bit);
        self.start(&yes);
        self.is_object(v, &[Type::Record, Type::RawRecord], sink);
    }

    pub(super) fn is_object(&mut self, v: &Val, types: &[Type], sink: &mut Sink) {
        self.if_object(v, sink);
        let b = self.header_byte(v);
        let mut bit = ins!(self, "icmp eq i64 {b}, {}", type_byte(types[0]));
        for t in &types[1..] {
            let c = ins!(self, "icmp eq i64 {b}, {}", type_byte(*t));
            bit = ins!(self, "or i1 {bit}, {c}");
        }
        sink.end(self, &bit);
    }

    fn is_flonum(&mut self, v: &Val, sink: &mut Sink) {
        self.tag_or_object(v, FLONUM_TAGS, &[Type::Flonum], sink);
    }

    fn is_number(&mut self, v: &Val, sink: &mut Sink) {
        self.tag_or_object(v, NUMBER_TAGS, &[Type::Bignum, Type::Flonum, Type::Ratnum, Type::Compnum], sink);
    }

    fn tag_or_object(&mut self, v: &Val, mask: u64, types: &[Type], sink: &mut Sink) {
        let bit = self.tag_in(v, mask);
        let (yes, no) = (self.fresh(), self.fresh());
        self.branch(&bit, &yes, &no, Odds::Probable);
        self.start(&yes);
        sink.end_known(self, true);
        self.start(&no);
        self.is_object(v, types, sink);
    }

    /// Type predicates, `not`, `eq?`, `eqv?`.
    pub(super) fn type_predicate(&mut self, op: Op, p: &Prim, sink: &mut Sink) {
        let v = self.operand(&p.args[0]);
        if let Some((_, kind)) = op.numeric() {
            return self.is_numeric(&v, kind, sink);
        }
        let word = |e: &mut Self, w: Value| ins!(e, "icmp eq i64 {v}, {}", w.0);
        let bit = match op {
            Op::IsFixnum => {
                let bit = match self.fixnum_flag(&p.args[0]) {
                    Some(flag) => flag,
                    None => self.has_tag(&v, TAG_FIXNUM),
                };
                return sink.end_at(self, &bit, Odds::Probable);
            }
            Op::IsPair => self.has_tag(&v, TAG_PAIR),
            Op::IsProcedure => self.has_tag(&v, TAG_PROCEDURE),
            Op::IsChar => self.is_char(&v),
            Op::IsBoolean => self.is_boolean(&v),
            Op::IsNull => word(self, Value::NIL),
            Op::IsEof => word(self, Value::EOF),
            Op::IsDefault => word(self, Value::DEFAULT),
            Op::Not => word(self, Value::FALSE),
            Op::Eq => {
                let w = self.operand(&p.args[1]);
                ins!(self, "icmp eq i64 {v}, {w}")
            }
            Op::Eqv => return self.eqv(p, &v, sink),
            Op::IsFlonum => return self.is_flonum(&v, sink),
            Op::IsNumber => return self.is_number(&v, sink),
            Op::IsInstance => return self.is_instance(p, &v, sink),
            Op::CHolds => return self.holds(p, &v, sink),
            Op::IsBignum => return self.is_object(&v, &[Type::Bignum], sink),
            Op::IsRatnum => return self.is_object(&v, &[Type::Ratnum], sink),
            Op::IsCompnum => return self.is_object(&v, &[Type::Compnum], sink),
            Op::IsSymbol => return self.is_object(&v, &[Type::Symbol], sink),
            Op::IsString => return self.is_object(&v, &[Type::String], sink),
            Op::IsVector => return self.is_object(&v, &[Type::Vector], sink),
            Op::IsBytevector => return self.is_object(&v, &[Type::Bytevector], sink),
            Op::IsRecord => return self.is_record(&v, sink),
            Op::IsCompact => return self.is_compact(p, &v, sink),
            Op::IsPort => return self.is_object(&v, &[Type::Port], sink),
            Op::IsPromise => return self.is_object(&v, &[Type::Promise], sink),
            Op::IsOpaque => return self.is_object(&v, &[Type::Opaque], sink),
            other => unreachable!("{other:?} is not a type predicate"),
        };
        sink.end(self, &bit);
    }

    /// Different words are `eqv?` only if both are objects: bignums, ratnums, compnums, boxed flonums.
    fn eqv(&mut self, p: &Prim, v: &Val, sink: &mut Sink) {
        let w = self.operand(&p.args[1]);
        let same = ins!(self, "icmp eq i64 {v}, {w}");
        if p.args.iter().any(eqv_is_eq) {
            return sink.end(self, &same);
        }
        let (yes, no) = (self.fresh(), self.fresh());
        self.branch(&same, &yes, &no, Odds::Even);
        self.start(&yes);
        sink.end_known(self, true);
        self.start(&no);
        let both = ins!(self, "and i64 {v}, {w}");
        let objects = self.has_tag(&both, TAG_OBJECT);
        let (slow, out) = (self.fresh(), self.fresh());
        self.branch(&objects, &slow, &out, Odds::Even);
        self.start(&out);
        sink.end_known(self, false);
        // of those, only numbers with the same header may be eqv?
        self.start(&slow);
        let (a, b) = (self.header(v), self.header(&w));
        let alike = ins!(self, "icmp eq i64 {a}, {b}");
        let byte = ins!(self, "and i64 {a}, 255");
        let mut number = Val::text("false");
        for t in [Type::Bignum, Type::Flonum, Type::Ratnum, Type::Compnum] {
            let c = ins!(self, "icmp eq i64 {byte}, {}", type_byte(t));
            number = ins!(self, "or i1 {number}, {c}");
        }
        let maybe = ins!(self, "and i1 {alike}, {number}");
        let (call, out) = (self.fresh(), self.fresh());
        self.branch(&maybe, &call, &out, Odds::Unlikely);
        self.start(&out);
        sink.end_known(self, false);
        self.out_of_line(&call, |e| {
            let r = e.rt_call_at("cairn_eq_eqv", &[v.clone(), w.clone()], None);
            let bit = ins!(e, "icmp ne i64 {r}, {}", Value::FALSE.0);
            sink.end(e, &bit);
        });
    }
}

/// Is `eqv?` with this operand the same as `eq?`? True of constants that are not boxed numbers.
fn eqv_is_eq(o: &Operand) -> bool {
    match o {
        Operand::Procedure(_) => true,
        Operand::Const(Literal::Number(Number::Int(Int::Fix(_)))) => true,
        Operand::Const(Literal::Number(Number::Flo(x))) => Value::try_flonum(*x).is_some(),
        Operand::Const(Literal::Number(_)) => false,
        Operand::Const(_) => true,
        Operand::Var(_) => false,
    }
}
