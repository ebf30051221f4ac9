//! Doubles: tagging themselves, unboxed, boxed when their exponent does not fit.
//!
//! ```text
//!  tag    w = rotl(bits, 4) + 1        in the tag set? ──no──▶ cold: box
//!  untag  bits = rotr(w - 1, 4)        bit 1 clear?    ──no──▶ cold: an object of type flonum? load : throw
//! ```
//!
//! Variables of representation `Double` skip both.

use super::{Sink, Value};
use crate::emit::builder::{Label, ins, line};
use crate::emit::decoded::keeps_doubles;
use crate::emit::emitter::Emitter;
use crate::emit::ir_text::{Mem, Odds, Val, double};
use cairn_core::ir::Literal;
use cairn_core::prim::Op;
use cairn_frame::ir::{Operand, Prim, Rep, Var};
use cairn_layout::object::Type;
use cairn_layout::value::{FLONUM_BIAS, FLONUM_ROTATE, FLONUM_TAGS, TAG_OBJECT};
use cairn_num::Number;

impl Emitter<'_, '_> {
    /// The value word of a double; boxes it in the cold part if need be.
    pub(crate) fn encode_double(&mut self, d: &Val) -> Val {
        self.encode(d, false)
    }

    /// The value word of a double that is the result of the statement under way: boxing it may collect.
    pub(crate) fn encode_result(&mut self, d: &Val) -> Val {
        self.encode(d, true)
    }

    fn encode(&mut self, d: &Val, is_result: bool) -> Val {
        let (w, fits) = self.encode_if_immediate(d);
        let (cold, join) = (self.fresh(), self.fresh());
        let here = self.here();
        self.branch(&fits, &join, &cold, Odds::Likely);
        let boxed = self.out_of_line(&cold, |e| {
            let mut b = e.box_double(d);
            if is_result {
                b = e.poll(&b);
            }
            e.goto(&join);
            (b, e.here())
        });
        self.start(&join);
        self.phi("i64", &[(w, here), boxed])
    }

    /// A double in an object.
    pub(super) fn box_double(&mut self, d: &Val) -> Val {
        let bits = ins!(self, "bitcast double {d} to i64");
        self.rt_call_at("cairn_num_box_flonum", &[bits], None)
    }

    /// The value word of a double if that tags itself, and an `i1` that says whether it does.
    pub(crate) fn encode_if_immediate(&mut self, d: &Val) -> (Val, Val) {
        let w = self.encode_immediate(d);
        let fits = self.tag_in(&w, FLONUM_TAGS);
        (w, fits)
    }

    /// The value word of a double that is known to tag itself.
    pub(crate) fn encode_immediate(&mut self, d: &Val) -> Val {
        let bits = ins!(self, "bitcast double {d} to i64");
        let r = ins!(self, "call i64 @llvm.fshl.i64(i64 {bits}, i64 {bits}, i64 {FLONUM_ROTATE})");
        ins!(self, "add i64 {r}, {FLONUM_BIAS}")
    }

    /// The double of a self-tagged word.
    pub(crate) fn decode_immediate(&mut self, w: &Val) -> Val {
        let r = ins!(self, "sub i64 {w}, {FLONUM_BIAS}");
        let bits = ins!(self, "call i64 @llvm.fshr.i64(i64 {r}, i64 {r}, i64 {FLONUM_ROTATE})");
        ins!(self, "bitcast i64 {bits} to double")
    }

    /// An `i1`: is the word a fixnum or a self-tagged flonum? Of all tags, theirs have this bit clear.
    fn is_immediate_number(&mut self, w: &Val) -> Val {
        let bit = ins!(self, "and i64 {w}, 2");
        ins!(self, "icmp eq i64 {bit}, 0")
    }

    /// The double of a boxed flonum.
    pub(crate) fn load_boxed(&mut self, w: &Val) -> Val {
        let p = self.address(w, 8 - TAG_OBJECT as i64);
        let m = Mem::Leaf.suffix();
        ins!(self, "load double, ptr {p}{m}")
    }

    /// The double of a flonum word; anything else goes to `fail` (without one, it cannot be anything else).
    pub(crate) fn decode_flonum(&mut self, w: &Val, fail: Option<&Label>) -> Val {
        let immediate = self.is_immediate_number(w);
        let (fast, cold, join) = (self.fresh(), self.fresh(), self.fresh());
        self.branch(&immediate, &fast, &cold, Odds::Likely);
        self.start(&fast);
        if let Some(fail) = fail {
            let fixnum = self.has_tag(w, 0);
            let go = self.fresh();
            self.branch(&fixnum, fail, &go, Odds::Unlikely);
            self.start(&go);
        }
        let d = self.decode_immediate(w);
        let fast = self.here();
        self.goto(&join);
        let boxed = self.out_of_line(&cold, |e| {
            if let Some(fail) = fail {
                e.guard_object(w, Type::Flonum, fail);
            }
            let d = e.load_boxed(w);
            e.goto(&join);
            (d, e.here())
        });
        self.start(&join);
        self.phi("double", &[(d, fast), boxed])
    }

    /// A double that is known without decoding: a `Double` variable or a literal.
    pub(crate) fn known_double(&mut self, o: &Operand) -> Option<Val> {
        match o {
            Operand::Var(v) if self.rep(*v) == Rep::Double => Some(ins!(self, "load double, ptr %v{}", v.0)),
            Operand::Const(Literal::Number(Number::Flo(x))) => Some(double(*x)),
            _ => None,
        }
    }

    /// Operand `i` of a flonum operation.
    pub(super) fn double_operand(&mut self, p: &Prim, i: usize) -> Val {
        if let Some(d) = self.known_double(&p.args[i]) {
            return d;
        }
        let twin = match p.args[i] {
            Operand::Var(v) if self.doubles.contains(&v) => return ins!(self, "load double, ptr %d{}", v.0),
            Operand::Var(v) if keeps_doubles(p) => Some(v),
            _ => None,
        };
        let w = self.operand(&p.args[i]);
        let fail = (!self.is_proven(p, i)).then(|| self.type_error(p, "flonum", &w));
        let d = self.decode_flonum(&w, fail.as_ref());
        if let Some(v) = twin {
            line!(self, "store double {d}, ptr %d{}", v.0);
            self.doubles.insert(v);
        }
        d
    }

    /// `flonum?` of a variable that has one for its double, in a test: sets that on the way to `then`.
    pub(super) fn flonum_test(&mut self, v: Var, then: &Label, els: &Label) {
        let w = self.operand(&Operand::Var(v));
        let immediate = self.tag_in(&w, FLONUM_TAGS);
        let (yes, no, boxed) = (self.fresh(), self.fresh(), self.fresh());
        self.branch(&immediate, &yes, &no, Odds::Probable);
        self.start(&no);
        self.is_object(&w, &[Type::Flonum], &mut Sink::Branch(boxed.clone(), els.clone()));
        self.start(&boxed);
        let d = self.load_boxed(&w);
        line!(self, "store double {d}, ptr %d{}", v.0);
        self.goto(then);
        self.start(&yes);
        let d = self.decode_immediate(&w);
        line!(self, "store double {d}, ptr %d{}", v.0);
        self.goto(then);
    }

    /// The double of a fixnum word.
    pub(crate) fn fixnum_to_double(&mut self, w: &Val) -> Val {
        let n = ins!(self, "ashr i64 {w}, 3");
        ins!(self, "sitofp i64 {n} to double")
    }

    /// `fl…`, not comparisons, and `fixnum->flonum`.
    pub(super) fn flonum_op(&mut self, op: Op, p: &Prim) -> Value {
        if op == Op::FixnumToFlonum {
            let w = self.checked(p, 0);
            return Value::Double(self.fixnum_to_double(&w));
        }
        let a = self.double_operand(p, 0);
        let instruction = match op {
            Op::FlAdd => "fadd",
            Op::FlSub => "fsub",
            Op::FlMul => "fmul",
            Op::FlDiv => "fdiv",
            _ => {
                let f = match op {
                    Op::FlSqrt => "sqrt",
                    Op::FlAbs => "fabs",
                    Op::FlFloor => "floor",
                    Op::FlCeiling => "ceil",
                    Op::FlTruncate => "trunc",
                    Op::FlRound => "roundeven",
                    other => unreachable!("{other:?} is not a flonum operation"),
                };
                return Value::Double(ins!(self, "call double @llvm.{f}.f64(double {a})"));
            }
        };
        let b = self.double_operand(p, 1);
        Value::Double(ins!(self, "{instruction} double {a}, {b}"))
    }

    /// `fl=`, `fl<`, `fl<=`.
    pub(super) fn flonum_compare(&mut self, op: Op, p: &Prim, sink: &mut Sink) {
        let (a, b) = (self.double_operand(p, 0), self.double_operand(p, 1));
        let cc = match op {
            Op::FlEq => "oeq",
            Op::FlLt => "olt",
            _ => "ole",
        };
        let bit = ins!(self, "fcmp {cc} double {a}, {b}");
        sink.end(self, &bit);
    }

    /// `sqrt`: inline for flonums that are not negative.
    pub(super) fn square_root(&mut self, p: &Prim) -> Value {
        self.unary(p, "cairn_num_sqrt", |e, d, slow| {
            let ok = ins!(e, "fcmp oge double {d}, {}", double(0.0));
            e.guard(&ok, slow);
            ins!(e, "call double @llvm.sqrt.f64(double {d})")
        })
    }

    /// `inexact`: inline for fixnums and flonums.
    pub(super) fn inexact(&mut self, p: &Prim) -> Value {
        if let Some(d) = self.known_double(&p.args[0]) {
            return Value::Double(d);
        }
        let w = self.operand(&p.args[0]);
        let fix = self.has_tag(&w, 0);
        let (yes, no, join, slow) = (self.fresh(), self.fresh(), self.fresh(), self.fresh());
        self.branch(&fix, &yes, &no, Odds::Probable);
        let mut paths = Vec::new();
        self.start(&yes);
        let d = self.fixnum_to_double(&w);
        // every fixnum's double tags itself
        paths.push((self.encode_immediate(&d), self.here()));
        self.goto(&join);
        self.start(&no);
        let immediate = self.is_immediate_number(&w);
        paths.push((w.clone(), self.here()));
        self.branch(&immediate, &join, &slow, Odds::Probable);
        self.start(&slow);
        let r = self.slow_result("cairn_num_inexact", &[w], p.site);
        paths.push((r, self.here()));
        self.goto(&join);
        self.start(&join);
        Value::Word(self.phi("i64", &paths))
    }

    /// An operation on one number: inline for flonums, else the runtime.
    fn unary(&mut self, p: &Prim, symbol: &str, inline: impl Fn(&mut Self, &Val, &Label) -> Val) -> Value {
        let slow = self.fresh();
        let join = self.fresh();
        let mut paths = Vec::new();
        let d = match self.known_double(&p.args[0]) {
            Some(d) => d,
            None => {
                let w = self.operand(&p.args[0]);
                let immediate = self.is_immediate_number(&w);
                self.guard(&immediate, &slow);
                let fixnum = self.has_tag(&w, 0);
                let flonum = ins!(self, "xor i1 {fixnum}, true");
                self.guard(&flonum, &slow);
                self.decode_immediate(&w)
            }
        };
        let r = inline(self, &d, &slow);
        let r = self.encode_result(&r);
        paths.push((r, self.here()));
        self.goto(&join);
        self.start(&slow);
        let w = self.operand(&p.args[0]);
        let r = self.slow_result(symbol, &[w], p.site);
        paths.push((r, self.here()));
        self.goto(&join);
        self.start(&join);
        Value::Word(self.phi("i64", &paths))
    }
}
