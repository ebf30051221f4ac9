//! Primitive operations.
//!
//! The idea: an operation yields a [`Value`] in whatever representation it has, and a predicate *ends paths*: it sends
//! an `i1` to a [`Sink`], which either branches (in a test: no boolean is ever made) or collects the bits into a `phi`.
//!
//! Unless an operand's check is proven, it is checked here; a failing check jumps to a cold block that throws.

mod arith;
pub(crate) mod c;
mod c_structs;
mod data;
mod fixnum;
mod flonum;
mod numeric;
mod port;
mod raw_numbers;
mod record;
mod types;

use super::builder::{Builder, Label, ins};
use super::decoded::tested;
use super::emitter::Emitter;
use super::ir_text::{Odds, Val};
use cairn_core::ir::Literal;
use cairn_core::prim::{Kind, Op, PrimOp};
use cairn_frame::ir::{Operand, Prim, Rep, Test};
use cairn_layout::object::{Type, header};
use cairn_layout::value::Value as Word;
use cairn_num::{Int, Number};

/// The result of an operation.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A value word.
    Word(Val),
    /// An unboxed `double`.
    Double(Val),
    /// An `i1`, meaning a boolean.
    Bit(Val),
}

impl Value {
    /// The unspecified value.
    pub(crate) fn unspecified() -> Value {
        Value::Word(Val::word(Word::UNSPECIFIED.0))
    }
}

/// Where the paths of a predicate end.
pub(crate) enum Sink {
    /// In a branch.
    Branch(Label, Label),
    /// In a `phi` at the label.
    Collect(Label, Vec<(Val, Label)>),
}

impl Sink {
    /// Ends a path with an `i1`.
    pub(crate) fn end(&mut self, e: &mut Builder, bit: &Val) {
        self.end_at(e, bit, Odds::Even);
    }

    /// Ends a path with an `i1` when something is known about the answer.
    pub(crate) fn end_at(&mut self, e: &mut Builder, bit: &Val, odds: Odds) {
        match self {
            Sink::Branch(then, els) => {
                let (t, f) = (then.clone(), els.clone());
                e.branch(bit, &t, &f, odds);
            }
            Sink::Collect(join, paths) => {
                paths.push((bit.clone(), e.here()));
                let j = join.clone();
                e.goto(&j);
            }
        }
    }

    /// Ends a path with a known answer.
    pub(crate) fn end_known(&mut self, e: &mut Builder, answer: bool) {
        match self {
            Sink::Branch(then, els) => {
                let to = if answer { then.clone() } else { els.clone() };
                e.goto(&to);
            }
            Sink::Collect(..) => self.end(e, &Val::text(if answer { "true" } else { "false" })),
        }
    }
}

/// A literal fixnum.
pub(crate) fn literal_fixnum(o: &Operand) -> Option<i64> {
    match o {
        Operand::Const(Literal::Number(Number::Int(Int::Fix(i)))) => Some(*i),
        _ => None,
    }
}

/// Is the operand certainly not a pointer into the heap? Then storing it needs no barrier. (Literals and static
/// closures lie outside the heap.)
pub(super) fn never_heap_pointer(o: &Operand) -> bool {
    match o {
        Operand::Const(Literal::Symbol(_)) | Operand::Var(_) => false,
        Operand::Const(_) | Operand::Procedure(_) => true,
    }
}

impl Emitter<'_, '_> {
    /// The word of a result.
    pub(crate) fn tagged(&mut self, v: Value) -> Val {
        match v {
            Value::Word(w) => w,
            Value::Double(d) => self.encode_double(&d),
            Value::Bit(b) => self.boolean(&b),
        }
    }

    /// Branches on a test.
    pub(crate) fn test(&mut self, test: &Test, then: &Label, els: &Label) {
        let mut sink = Sink::Branch(then.clone(), els.clone());
        match test {
            Test::Truthy(o) => {
                if let Operand::Var(v) = o
                    && self.rep(*v) == Rep::Double
                {
                    return sink.end_known(self, true);
                }
                let v = self.operand(o);
                let bit = ins!(self, "icmp ne i64 {v}, {}", Word::FALSE.0);
                sink.end(self, &bit);
            }
            Test::Prim(p) => {
                if let Some(v) = tested(p).filter(|v| self.twins.contains(v)) {
                    return self.flonum_test(v, then, els);
                }
                if !self.predicate(p, &mut sink) {
                    let v = self.prim(p);
                    let v = self.tagged(v);
                    let bit = ins!(self, "icmp ne i64 {v}, {}", Word::FALSE.0);
                    sink.end(self, &bit);
                }
            }
        }
    }

    /// Performs a primitive.
    pub(crate) fn prim(&mut self, p: &Prim) -> Value {
        match p.op {
            PrimOp::Vector => self.fresh_object(Type::Vector, p),
            PrimOp::Record => self.fresh_record(p),
            PrimOp::Opaque => self.fresh_object(Type::Opaque, p),
            PrimOp::CCall => self.foreign_call(p),
            PrimOp::Rt(i) => {
                if let Some(reference) = self.element_reference(p) {
                    return reference;
                }
                let args = self.operands(&p.args);
                Value::Word(self.rt_call(i.row().symbol, &args, p.site))
            }
            PrimOp::Op(op) => {
                if op.info().result == Kind::Boolean {
                    let join = self.fresh();
                    let mut sink = Sink::Collect(join.clone(), Vec::new());
                    let known = self.predicate(p, &mut sink);
                    debug_assert!(known, "{op:?} is a predicate");
                    let Sink::Collect(_, paths) = sink else { unreachable!("the sink keeps its kind") };
                    self.start(&join);
                    return Value::Bit(self.phi("i1", &paths));
                }
                self.operation(op, p)
            }
        }
    }

    fn fresh_object(&mut self, t: Type, p: &Prim) -> Value {
        let words = self.operands(&p.args);
        Value::Word(self.headed(header(t, 0, words.len() as u64), &words))
    }

    /// Operations that are not predicates.
    fn operation(&mut self, op: Op, p: &Prim) -> Value {
        use Op::*;
        match op {
            Add | Sub | Mul | Div => self.arithmetic(op, p),
            Quotient | Remainder | Modulo | FloorQuotient => self.integer_division(op, p),
            Sqrt => self.square_root(p),
            Inexact => self.inexact(p),
            FxAdd | FxSub | FxMul | FxAnd | FxOr | FxXor | FxShl | FxShr => self.fixnum_op(op, p),
            FxOnes | FxLength | FxTrailing => self.fixnum_count(op, p),
            FlAdd | FlSub | FlMul | FlDiv | FlSqrt | FlAbs | FlFloor | FlCeiling | FlTruncate | FlRound
            | FixnumToFlonum => self.flonum_op(op, p),
            CharToInteger | IntegerToChar => self.char_op(op, p),
            PortTakeChar | PortLookChar | PortTakeByte | PortPutChar | PortPutByte => self.port_op(op, p),
            _ => self.memory_op(op, p),
        }
    }

    /// Predicates: sends every path's bit to the sink. `false` if `p` is not a predicate (nothing was emitted).
    fn predicate(&mut self, p: &Prim, sink: &mut Sink) -> bool {
        use Op::*;
        let PrimOp::Op(op) = p.op else { return false };
        match op {
            NumEq | NumLt | NumLe | NumGt | NumGe => self.compare(op, p, sink),
            FxEq | FxLt | FxLe => self.fixnum_compare(op, p, sink),
            FlEq | FlLt | FlLe => self.flonum_compare(op, p, sink),
            CharEq | CharLt => self.char_compare(op, p, sink),
            CIsQuiet => {
                let bit = self.is_quiet();
                sink.end(self, &bit);
            }
            _ if op.info().result == Kind::Boolean => self.type_predicate(op, p, sink),
            _ => return false,
        }
        true
    }

    /// Operand `i` as a word, checked to be of its kind.
    pub(crate) fn checked(&mut self, p: &Prim, i: usize) -> Val {
        let v = self.operand(&p.args[i]);
        self.check(p, i, &v);
        v
    }

    /// Does operand `i` need no check?
    pub(crate) fn is_proven(&self, p: &Prim, i: usize) -> bool {
        let want = p.op.arg_kind(i);
        if want == Kind::Any || p.proven >> i & 1 != 0 {
            return true;
        }
        let have = match &p.args[i] {
            Operand::Const(l) => l.kind(),
            Operand::Procedure(_) => Some(Kind::Procedure),
            Operand::Var(v) if self.rep(*v) == Rep::Double => Some(Kind::Flonum),
            Operand::Var(_) => None,
        };
        have == Some(want)
            || (want == Kind::Number && matches!(have, Some(Kind::Fixnum | Kind::Flonum | Kind::Compnum)))
    }

    /// Checks operand `i`, whose word is `v`.
    pub(crate) fn check(&mut self, p: &Prim, i: usize, v: &Val) {
        if self.is_proven(p, i) {
            return;
        }
        let kind = p.op.arg_kind(i);
        let fail = self.type_error(p, kind_name(kind), v);
        self.guard_kind(kind, v, &fail);
    }

    /// A cold block that raises "expected …".
    pub(crate) fn type_error(&mut self, p: &Prim, expected: &str, v: &Val) -> Label {
        let name = called(p);
        self.throw_block(cairn_layout::machine::error::TYPE, name, expected, p.site, &[v])
    }
}

/// What error messages call the operation.
fn called(p: &Prim) -> &'static str {
    match p.op {
        PrimOp::Op(o) => o.called(p.proven),
        op => op.name(),
    }
}

/// What error messages call a kind.
fn kind_name(k: Kind) -> &'static str {
    match k {
        Kind::Any => "value",
        Kind::Fixnum => "fixnum",
        Kind::Flonum => "flonum",
        Kind::Compnum => "complex number",
        Kind::Number => "number",
        Kind::Boolean => "boolean",
        Kind::Pair => "pair",
        Kind::Symbol => "symbol",
        Kind::String => "string",
        Kind::Char => "character",
        Kind::Vector => "vector",
        Kind::Bytevector => "bytevector",
        Kind::Procedure => "procedure",
        Kind::Box => "box",
        Kind::Record => "record",
        Kind::Port => "port",
        Kind::Promise => "promise",
        Kind::Opaque => "opaque object",
    }
}
