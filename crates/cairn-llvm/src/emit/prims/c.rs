//! Calls of C functions by compiled code itself.
//!
//! The arguments are known to be right (`cairn-syntax/src/expand/c.rs`), and in registers, and what C does cannot come
//! back to Scheme: so it is a call like any other that LLVM emits. It has the type of functions of variable arguments,
//! for it may be one. Under native frames it is made on the host's stack, by a stub.
//!
//! A small function of a C source has a number instead. The call has its own type, and LLVM puts the function there
//! ([`crate::c_source`]): no call is left, whatever the frames are, and so nothing that a call would leave behind.

use super::{Value, literal_fixnum};
use crate::emit::builder::{ins, line};
use crate::emit::emitter::Emitter;
use crate::emit::ir_text::{Mem, Odds, Val};
use cairn_core::prim::PrimOp;
use cairn_frame::ir::{Module, Op, Operand, Prim, Stmt};
use cairn_layout::c::{CType, Passed, Shape, direct, inlined_symbol};
use cairn_layout::machine::{Machine, NativeStubs, slot, slot_offset};
use cairn_layout::value::{CHAR_BYTE, CHAR_SHIFT, TAG_OBJECT, Value as Word};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::mem::offset_of;

/// What LLVM calls the type of a result or an argument.
pub(super) fn type_name(t: CType) -> &'static str {
    match t {
        CType::Void => "void",
        CType::F32 => "float",
        CType::F64 => "double",
        _ => match t.bytes() {
            1 => "i8",
            2 => "i16",
            4 => "i32",
            _ => "i64",
        },
    }
}

/// What clang calls the type of a result or an argument.
pub fn c_type_name(t: CType) -> &'static str {
    match t {
        CType::Bool => "i1",
        CType::String | CType::Pointer | CType::Bytes => "ptr",
        _ => type_name(t),
    }
}

/// What clang calls the type of an argument.
fn argument_type_name(t: CType) -> &'static str {
    if t == direct::ELEMENTS { "ptr" } else { c_type_name(t) }
}

/// An argument, or a part of one.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// An `i64`.
    Word(Val),
    /// A `double`.
    Double(Val),
    /// A `float`.
    Float(Val),
    /// A structure at an address, an `i64`.
    Struct(Shape, Val),
}

/// What a call leaves.
pub(super) enum Returned {
    /// A value of the result's own type.
    Scalar(Val),
    /// Words of a structure.
    Words(Vec<Val>),
    /// All registers for results, as `i64`.
    Registers { integers: [Val; 2], floats: [Val; 2] },
}

impl Returned {
    fn scalar(self, e: &mut Emitter<'_, '_>, t: CType) -> Val {
        match self {
            Returned::Scalar(v) => v,
            Returned::Words(_) => unreachable!("the result is no structure"),
            Returned::Registers { integers: [n, _], floats: [x, _] } => match t {
                CType::F64 => ins!(e, "bitcast i64 {x} to double"),
                CType::F32 => {
                    let n = ins!(e, "trunc i64 {x} to i32");
                    ins!(e, "bitcast i32 {n} to float")
                }
                _ => match type_name(t) {
                    "i64" => n,
                    name => ins!(e, "trunc i64 {n} to {name}"),
                },
            },
        }
    }

    fn words(self, parts: &[bool]) -> Vec<Val> {
        match self {
            Returned::Scalar(_) => unreachable!("the result is a structure"),
            Returned::Words(words) => words,
            Returned::Registers { integers, floats } => {
                let (mut integers, mut floats) = (integers.into_iter(), floats.into_iter());
                let part = |floating: &bool| if *floating { floats.next() } else { integers.next() };
                parts.iter().filter_map(part).collect()
            }
        }
    }
}

/// Declarations of the functions that are inlined.
pub(crate) fn declare_inlined(module: &Module, out: &mut String) {
    let mut declared = BTreeMap::new();
    for s in module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.stmts) {
        if let Stmt::Assign(_, Op::Prim(p)) | Stmt::Effect(Op::Prim(p)) = s
            && p.op == PrimOp::CCall
            && let (Some(signature), Some(number @ 1..)) = (literal_fixnum(&p.args[0]), literal_fixnum(&p.args[2]))
        {
            let types = (0..p.args.len() - 3).map(|i| argument_type_name(direct::argument(signature, i)));
            let types: Vec<&str> = types.collect();
            declared.insert(number, (c_type_name(direct::result(signature)), types.join(", ")));
        }
    }
    for (number, (result, types)) in declared {
        let _ = writeln!(out, "declare {result} @{}({types})", inlined_symbol(number));
    }
}

impl Emitter<'_, '_> {
    /// `c-call`.
    pub(super) fn foreign_call(&mut self, p: &Prim) -> Value {
        let signature = literal_fixnum(&p.args[0]).expect("the signature of a call of C is a literal");
        let shape = |i: usize| literal_fixnum(&p.args[3 + i]).expect("the shape of a structure is a literal");
        let (result, arguments) = direct::signature(signature, p.args.len() - 3, shape);
        let number = literal_fixnum(&p.args[2]).expect("the number of an inlined function is a literal");
        if let (true, Passed::Scalar(t)) = (number != 0, result) {
            let types = (0..p.args.len() - 3).map(|i| direct::argument(signature, i));
            let args: Vec<(CType, Val)> =
                types.zip(&p.args[3..]).map(|(t, o)| (t, self.foreign_argument(t, o))).collect();
            return self.inlined_call(&inlined_symbol(number), t, &args);
        }
        let room = self.room_for(result);
        let mut pieces: Vec<Piece> = room.iter().map(|room| Piece::Word(room.payload.clone())).collect();
        for (passed, i) in &arguments {
            let o = &p.args[3 + i];
            match passed {
                Passed::Scalar(t) => {
                    let a = self.foreign_argument(*t, o);
                    pieces.push(match t {
                        CType::F32 => Piece::Float(a),
                        CType::F64 => Piece::Double(a),
                        _ => Piece::Word(a),
                    });
                }
                Passed::Struct(shape) => {
                    let v = self.operand(o);
                    let at = self.bytes_address(&v);
                    pieces.push(Piece::Struct(*shape, at));
                }
            }
        }
        let pieces = self.placed(result, pieces);
        let address = self.operand(&p.args[1]);
        let address = ins!(self, "lshr i64 {address}, 3");
        let returned = match self.footing.serves_c() {
            true => self.llvm_foreign_call(&address, result, &pieces),
            false if pieces.iter().any(|(_, in_registers)| !in_registers) => self.spread_call(&address, &pieces),
            false => self.stub_foreign_call(&address, &pieces),
        };
        let errno = self.load_machine(offset_of!(Machine, errno_at));
        let errno = ins!(self, "inttoptr i64 {errno} to ptr");
        let errno = ins!(self, "load i32, ptr {errno}");
        let errno = ins!(self, "zext i32 {errno} to i64");
        self.store_machine(offset_of!(Machine, c_errno), &errno);
        match (result, room) {
            (_, Some(room)) => Value::Word(room.object),
            (Passed::Struct(shape), None) => {
                let words: Vec<Val> = returned.words(shape.parts());
                Value::Word(self.returned_structure(shape, &words))
            }
            (Passed::Scalar(CType::Void), _) => Value::unspecified(),
            (Passed::Scalar(t), _) => {
                let r = returned.scalar(self, t);
                self.foreign_result(t, &r)
            }
        }
    }

    fn inlined_call(&mut self, symbol: &str, t: CType, args: &[(CType, Val)]) -> Value {
        let mut list = Vec::new();
        for (t, a) in args {
            let ty = argument_type_name(*t);
            let a = match ty {
                "i64" | "double" | "float" => a.clone(),
                "ptr" => ins!(self, "inttoptr i64 {a} to ptr"),
                _ => ins!(self, "trunc i64 {a} to {ty}"),
            };
            list.push(format!("{ty} {a}"));
        }
        let (list, ty) = (list.join(", "), c_type_name(t));
        let r = match t {
            CType::Void => {
                line!(self, "call void @{symbol}({list})");
                Val::poison()
            }
            _ => ins!(self, "call {ty} @{symbol}({list})"),
        };
        let r = match t {
            CType::Bool => ins!(self, "zext i1 {r} to i8"),
            CType::Pointer => ins!(self, "ptrtoint ptr {r} to i64"),
            _ => r,
        };
        self.foreign_result(t, &r)
    }

    fn foreign_argument(&mut self, t: CType, o: &Operand) -> Val {
        if t.is_floating() {
            let d = match self.known_double(o) {
                Some(d) => d,
                None => {
                    let w = self.operand(o);
                    self.decode_flonum(&w, None)
                }
            };
            return if t == CType::F32 { ins!(self, "fptrunc double {d} to float") } else { d };
        }
        let w = self.operand(o);
        match t {
            CType::Bool => {
                let bit = ins!(self, "icmp ne i64 {w}, {}", Word::FALSE.0);
                ins!(self, "zext i1 {bit} to i64")
            }
            CType::Char => ins!(self, "lshr i64 {w}, {CHAR_SHIFT}"),
            CType::Pointer | direct::ELEMENTS => {
                let null = ins!(self, "icmp eq i64 {w}, {}", Word::FALSE.0);
                let (some, join) = (self.fresh(), self.fresh());
                let here = self.here();
                self.branch(&null, &join, &some, Odds::Even);
                self.start(&some);
                let address = match t {
                    direct::ELEMENTS => self.bytes_address(&w),
                    _ => self.load_word(&w, 8 - TAG_OBJECT as i64, Mem::Leaf),
                };
                let there = self.here();
                self.goto(&join);
                self.start(&join);
                self.phi("i64", &[(Val::word(0), here), (address, there)])
            }
            _ => ins!(self, "ashr i64 {w}, 3"),
        }
    }

    fn foreign_result(&mut self, t: CType, r: &Val) -> Value {
        let bits = type_name(t);
        match t {
            CType::Void | CType::String | CType::Bytes | CType::Struct => Value::unspecified(),
            CType::Bool => Value::Bit(ins!(self, "icmp ne i8 {r}, 0")),
            CType::Char => {
                let n = ins!(self, "zext i8 {r} to i64");
                let n = ins!(self, "shl i64 {n}, {CHAR_SHIFT}");
                Value::Word(ins!(self, "or i64 {n}, {CHAR_BYTE}"))
            }
            CType::F32 => Value::Double(ins!(self, "fpext float {r} to double")),
            CType::F64 => Value::Double(r.clone()),
            CType::I64 | CType::U64 | CType::Pointer => Value::Word(self.fixnum_or(r, t == CType::I64, |e| {
                e.store_machine(offset_of!(Machine, c_wide), r);
                Val::word(Word::FALSE.0)
            })),
            CType::I8 | CType::I16 | CType::I32 | CType::U8 | CType::U16 | CType::U32 => {
                let signed = matches!(t, CType::I8 | CType::I16 | CType::I32);
                let n = ins!(self, "{} {bits} {r} to i64", if signed { "sext" } else { "zext" });
                Value::Word(ins!(self, "shl i64 {n}, 3"))
            }
        }
    }

    /// The call through `NativeStubs::call_c`: the function in `r11`, everything else as C has it.
    fn stub_foreign_call(&mut self, address: &Val, pieces: &[(Piece, bool)]) -> Returned {
        const INTEGERS: [&str; 6] = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"];
        let mut outputs = "={rax},={r11}".to_string();
        INTEGERS.iter().for_each(|r| outputs += &format!(",={{{r}}}"));
        (0..8).for_each(|i| outputs += &format!(",={{xmm{i}}}"));
        let types = [["i64"; 8].as_slice(), &["double"; 8]].concat().join(", ");
        let (mut inputs, mut list) = (",1".to_string(), format!("i64 {address}, ptr %ctx"));
        inputs += ",{r12}";
        let (mut integers, mut floats) = (0, 0);
        for (piece, _) in pieces {
            match self.register(piece) {
                (true, d) => {
                    let _ = write!(inputs, ",{}", 8 + floats);
                    let _ = write!(list, ", double {d}");
                    floats += 1;
                }
                (false, a) => {
                    let _ = write!(inputs, ",{}", 2 + integers);
                    let _ = write!(list, ", i64 {a}");
                    integers += 1;
                }
            }
        }
        let clobbers: String = (8..16).map(|i| format!(",~{{xmm{i}}}")).collect();
        let stub = offset_of!(Machine, native) + offset_of!(NativeStubs, call_c);
        let r = ins!(
            self,
            "call {{ {types} }} asm sideeffect alignstack \"callq *{stub}(%r12)\", \"{outputs}{inputs},~{{r10}}{clobbers},\
             ~{{memory}},~{{dirflag}},~{{fpsr}},~{{flags}}\"({list}) #1"
        );
        // rax, rdx, xmm0, xmm1
        let [a, b, x, y] = [0, 4, 8, 9].map(|i| ins!(self, "extractvalue {{ {types} }} {r}, {i}"));
        let [x, y] = [x, y].map(|d| ins!(self, "bitcast double {d} to i64"));
        Returned::Registers { integers: [a, b], floats: [x, y] }
    }

    /// `c-quiet?`: an `i1`.
    pub(super) fn is_quiet(&mut self) -> Val {
        let w = self.load_machine(slot_offset(slot::C_CALLS_BACK));
        ins!(self, "icmp eq i64 {w}, {}", Word::FALSE.0)
    }
}
