//! Structures by value in calls of C, by System V's convention for x86-64.
//!
//! A structure that is passed lies somewhere, behind a pointer or in a homogeneous vector; its words are loaded from
//! there into registers, as its [`Shape`] says, or all of it goes onto the stack (`byval`). The result is a fresh
//! bytevector: C writes into it, or its words come in registers.
//!
//! ```text
//!  struct { double x; int n; } f(struct { float a, b, c; }, struct { long l[3]; })
//!
//!   xmm0  8 bytes: a and b          the stack: l, 24 bytes       xmm0  x
//!   xmm1  4 bytes: c                                             rax   n, and 4 bytes of nothing
//! ```
//!
//! Invariants: no byte outside of the structure is read; what is behind it in the last word of a result is 0.

use super::Sink;
use super::c::{Piece, Returned, type_name};
use crate::emit::builder::{ins, line};
use crate::emit::emitter::Emitter;
use crate::emit::ir_text::{Mem, Odds, Val};
use cairn_frame::ir::Prim;
use cairn_layout::c::{CType, Passed, Registers, Shape, spread};
use cairn_layout::machine::Machine;
use cairn_layout::object::{AllocKind, LENGTH_SHIFT, Type, headed_bytes, header, type_byte};
use cairn_layout::value::TAG_OBJECT;
use std::fmt::Write;
use std::mem::offset_of;

/// A structure that C writes.
pub(super) struct Room {
    /// The bytevector.
    pub(super) object: Val,
    /// The address of its bytes.
    pub(super) payload: Val,
}

impl Emitter<'_, '_> {
    /// `c-holds?`.
    pub(super) fn holds(&mut self, p: &Prim, v: &Val, sink: &mut Sink) {
        let bytes = self.checked(p, 1);
        self.if_object(v, sink);
        let h = self.header(v);
        let is_vector = self.is_homogeneous(&h);
        let bytes = ins!(self, "lshr i64 {bytes}, 3");
        let n = ins!(self, "lshr i64 {h}, {LENGTH_SHIFT}");
        let enough = ins!(self, "icmp uge i64 {n}, {bytes}");
        let bit = ins!(self, "and i1 {is_vector}, {enough}");
        sink.end_at(self, &bit, Odds::Even);
    }

    /// Does the header say so? An `i1`.
    fn is_homogeneous(&mut self, h: &Val) -> Val {
        let b = ins!(self, "and i64 {h}, 255");
        let [bytes, other] =
            [Type::Bytevector, Type::NumericVector].map(|t| ins!(self, "icmp eq i64 {b}, {}", type_byte(t)));
        ins!(self, "or i1 {bytes}, {other}")
    }

    /// Where the bytes lie that a homogeneous vector has, or a pointer points to.
    pub(super) fn bytes_address(&mut self, v: &Val) -> Val {
        let h = self.header(v);
        let is_vector = self.is_homogeneous(&h);
        let elements = ins!(self, "add i64 {v}, {}", 8 - TAG_OBJECT as i64);
        let word = self.load_word(v, 8 - TAG_OBJECT as i64, Mem::Leaf);
        ins!(self, "select i1 {is_vector}, i64 {elements}, i64 {word}")
    }

    /// The bytevector for a result that C writes into memory.
    pub(super) fn room_for(&mut self, result: Passed) -> Option<Room> {
        let Passed::Struct(shape @ Shape { in_memory: true, .. }) = result else { return None };
        let words = vec![Val::Int(0); shape.words()];
        let object = self.returned_structure(shape, &words);
        let payload = ins!(self, "add i64 {object}, {}", 8 - TAG_OBJECT as i64);
        Some(Room { object, payload })
    }

    /// A bytevector of these words.
    pub(super) fn returned_structure(&mut self, shape: Shape, words: &[Val]) -> Val {
        let at = self.allocate(AllocKind::Leaf, headed_bytes(words.len()));
        let p = self.address(&at, 0);
        self.store_at(&p, 0, &Val::word(header(Type::Bytevector, 0, shape.bytes as u64)), Mem::Header);
        for (i, word) in words.iter().enumerate() {
            let bits = 8 * (shape.bytes - 8 * i).min(8);
            let word = match bits {
                64 => word.clone(),
                bits => ins!(self, "and i64 {word}, {}", (1_u64 << bits) - 1),
            };
            self.store_at(&p, 8 + 8 * i as i64, &word, Mem::Leaf);
        }
        ins!(self, "add i64 {at}, {TAG_OBJECT}")
    }

    /// Pieces in order, with structures that travel in registers taken apart; and whether each has a register.
    pub(super) fn placed(&mut self, result: Passed, pieces: Vec<Piece>) -> Vec<(Piece, bool)> {
        let room = matches!(result, Passed::Struct(shape) if shape.in_memory);
        let mut left = Registers::for_result(result);
        let mut placed = Vec::new();
        for (i, piece) in pieces.into_iter().enumerate() {
            let passed = match &piece {
                Piece::Word(_) => Passed::Scalar(CType::I64),
                Piece::Double(_) | Piece::Float(_) => Passed::Scalar(CType::F64),
                Piece::Struct(shape, _) => Passed::Struct(*shape),
            };
            let in_registers = room && i == 0 || left.take(passed);
            match piece {
                Piece::Struct(shape, at) if in_registers => {
                    for (i, floating) in shape.parts().iter().enumerate() {
                        let part = self.part(shape, &at, i, *floating);
                        placed.push((part, true));
                    }
                }
                piece => placed.push((piece, in_registers)),
            }
        }
        placed
    }

    /// Word `i` of a structure.
    fn part(&mut self, shape: Shape, at: &Val, i: usize, floating: bool) -> Piece {
        let p = self.address(at, 8 * i as i64);
        match (floating, (shape.bytes - 8 * i).min(8)) {
            (true, 8) => Piece::Double(ins!(self, "load double, ptr {p}, align 1")),
            (true, 4) => Piece::Float(ins!(self, "load float, ptr {p}, align 1")),
            (false, 8) => Piece::Word(ins!(self, "load i64, ptr {p}, align 1")),
            (_, bytes) => {
                let n = ins!(self, "load i{}, ptr {p}, align 1", 8 * bytes);
                Piece::Word(ins!(self, "zext i{} {n} to i64", 8 * bytes))
            }
        }
    }

    /// What is in the register of a piece: is it one of floating point, and its `double`, or its `i64`.
    pub(super) fn register(&mut self, piece: &Piece) -> (bool, Val) {
        match piece {
            Piece::Word(a) => (false, a.clone()),
            Piece::Double(d) => (true, d.clone()),
            // a float in the low half of a double's bits
            Piece::Float(_) => {
                let n = self.bits(piece);
                (true, ins!(self, "bitcast i64 {n} to double"))
            }
            Piece::Struct(..) => unreachable!("it has no register"),
        }
    }

    /// The word of a piece that is no structure.
    fn bits(&mut self, piece: &Piece) -> Val {
        match piece {
            Piece::Word(a) => a.clone(),
            Piece::Double(d) => ins!(self, "bitcast double {d} to i64"),
            Piece::Float(f) => {
                let n = ins!(self, "bitcast float {f} to i32");
                ins!(self, "zext i32 {n} to i64")
            }
            Piece::Struct(..) => unreachable!("it is more than a word"),
        }
    }

    /// A call that LLVM emits.
    pub(super) fn llvm_foreign_call(
        &mut self,
        address: &Val,
        result: Passed,
        pieces: &[(Piece, bool)],
    ) -> Returned {
        let f = ins!(self, "inttoptr i64 {address} to ptr");
        let mut list = String::new();
        for (i, (piece, _)) in pieces.iter().enumerate() {
            let _ = write!(list, "{}", if i > 0 { ", " } else { "" });
            let _ = match piece {
                Piece::Word(a) => write!(list, "i64 {a}"),
                Piece::Double(d) => write!(list, "double {d}"),
                Piece::Float(f) => write!(list, "float {f}"),
                Piece::Struct(shape, at) => {
                    let p = self.address(at, 0);
                    write!(list, "ptr byval([{} x i8]) align 8 {p}", shape.bytes)
                }
            };
        }
        let parts = match result {
            Passed::Struct(shape) if !shape.in_memory => shape.parts().to_vec(),
            Passed::Struct(_) | Passed::Scalar(CType::Void) => {
                line!(self, "call void (...) {f}({list}) #1");
                return Returned::Scalar(Val::poison());
            }
            Passed::Scalar(t) => {
                return Returned::Scalar(ins!(self, "call {} (...) {f}({list}) #1", type_name(t)));
            }
        };
        let types: Vec<&str> = parts.iter().map(|floating| if *floating { "double" } else { "i64" }).collect();
        let types = types.join(", ");
        let r = ins!(self, "call {{ {types} }} (...) {f}({list}) #1");
        let word = |(i, floating): (usize, &bool)| {
            let v = ins!(self, "extractvalue {{ {types} }} {r}, {i}");
            if *floating { ins!(self, "bitcast double {v} to i64") } else { v }
        };
        Returned::Words(parts.iter().enumerate().map(word).collect())
    }

    /// A call whose arguments are partly on the stack, from code that is on a stack of its own: through the runtime.
    pub(super) fn spread_call(&mut self, address: &Val, pieces: &[(Piece, bool)]) -> Returned {
        let place = |i: usize| offset_of!(Machine, c_words) + 8 * i;
        let (mut integers, mut floats, mut stack) = (spread::INTEGERS, spread::FLOATS, spread::STACK);
        for (piece, in_registers) in pieces {
            if let Piece::Struct(shape, at) = piece {
                for i in 0..shape.words() {
                    let part = self.part(*shape, at, i, false);
                    let word = self.bits(&part);
                    self.store_machine(place(stack), &word);
                    stack += 1;
                }
                continue;
            }
            let next = match (in_registers, piece) {
                (false, _) => &mut stack,
                (true, Piece::Word(_)) => &mut integers,
                (true, _) => &mut floats,
            };
            let at = *next;
            *next += 1;
            let word = self.bits(piece);
            self.store_machine(place(at), &word);
        }
        let address = ins!(self, "shl i64 {address}, 3");
        self.c_call("cairn_c_spread", &[address, Val::Int(8 * (stack - spread::STACK) as i64)]);
        let [a, x, b, y] = [0, 1, 2, 3].map(|i| self.load_machine(place(spread::RESULTS + i)));
        Returned::Registers { integers: [a, b], floats: [x, y] }
    }
}
