//! Pairs, vectors, strings, bytevectors, boxes, ports: loads, stores and inline allocation.
//!
//! One comparison checks an index: rotated right by three, a fixnum is its integer, and any other word or a negative
//! integer is larger than every length. (A proven fixnum is compared as it is.)
//!
//! Write barrier: `crate::alloc` says what follows a store of a value that may point into the heap.

use super::{Value, literal_fixnum, never_heap_pointer};
use crate::alloc::after_store;
use crate::emit::builder::{Label, ins, line};
use crate::emit::emitter::Emitter;
use crate::emit::ir_text::{Mem, Odds, Val};
use cairn_core::prim::{IN_RANGE, Kind, Op, scalar_bit};
use cairn_frame::ir::{Operand, Prim};
use cairn_layout::code::Site;
use cairn_layout::machine::{error, slot_offset};
use cairn_layout::object::{FLAG_LITERAL, FLAGS_SHIFT, LENGTH_SHIFT, SEQUENCE_FLAGS, Type, header, type_byte};
use cairn_layout::value::{CHAR_BYTE, TAG_OBJECT, TAG_PAIR};

/// Offset of word `i` after the header, from the tagged value.
pub(super) const fn field(i: i64) -> i64 {
    8 + 8 * i - TAG_OBJECT as i64
}

/// What an indexed object holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    Word,
    Char,
    Byte,
}

impl Emitter<'_, '_> {
    /// Everything that is not arithmetic or a predicate.
    pub(super) fn memory_op(&mut self, op: Op, p: &Prim) -> Value {
        use Op::*;
        if let Some((access, kind)) = op.numeric() {
            return self.numeric_op(access, kind, p);
        }
        match op {
            Cons => {
                let w = self.operands(&p.args);
                Value::Word(self.pair(&w[0], &w[1]))
            }
            Car | Cdr => {
                let v = self.checked(p, 0);
                let offset = if op == Car { 0 } else { 8 };
                Value::Word(self.load_word(&v, offset - TAG_PAIR as i64, Mem::Heap))
            }
            FlRectangular => {
                let parts = [self.checked(p, 0), self.checked(p, 1)];
                Value::Word(self.headed(header(Type::Compnum, 0, 2), &parts))
            }
            CompnumReal | CompnumImag => {
                let v = self.checked(p, 0);
                Value::Word(self.load_word(&v, field(i64::from(op == CompnumImag)), Mem::Heap))
            }
            SetCar | SetCdr => {
                let v = self.checked(p, 0);
                let offset = if op == SetCar { 0 } else { 8 };
                self.store_field(p, 1, &v, offset - TAG_PAIR as i64)
            }
            MakeBox | MakePromise => {
                let w = self.operands(&p.args);
                let t = if op == MakeBox { Type::Box } else { Type::Promise };
                Value::Word(self.headed(header(t, 0, 1), &w))
            }
            Unbox | PromiseRef | SymbolName => {
                let v = self.checked(p, 0);
                Value::Word(self.load_word(&v, field(0), Mem::Heap))
            }
            SetBox | PromiseSet => {
                let v = self.checked(p, 0);
                self.store_field(p, 1, &v, field(0))
            }
            RecordAt | RecordAtSet | RecordFlAt | RecordFlAtSet => self.element_op(op, p),
            RecordType | RecordRef | RecordSet | RecordFlRef | RecordFlSet | RawRecord | CompactRecord => {
                self.record_op(op, p)
            }
            StructureRef | StructureSet | StructureFlRef | StructureFlSet => self.field_of_element(op, p),
            PortRef | OpaqueRef => match literal_fixnum(&p.args[1]) {
                Some(i) => {
                    let v = self.checked(p, 0);
                    Value::Word(self.load_word(&v, field(i), Mem::Heap))
                }
                None => self.element_ref(p, object_type(op), Element::Word),
            },
            PortSet | OpaqueSet => match literal_fixnum(&p.args[1]) {
                Some(i) => {
                    let v = self.checked(p, 0);
                    self.store_field(p, 2, &v, field(i))
                }
                None => self.element_set(p, object_type(op), Element::Word),
            },
            MachineRef | MachineSet => {
                let i = literal_fixnum(&p.args[0]).expect("the slot of %machine-ref is a literal");
                let offset = slot_offset(i as usize);
                if op == MachineRef {
                    return Value::Word(self.load_machine(offset));
                }
                let v = self.operand(&p.args[1]);
                self.store_machine(offset, &v);
                Value::unspecified()
            }
            VectorLength | StringLength | BytevectorLength => {
                let v = self.checked(p, 0);
                let h = self.header(&v);
                Value::Word(self.length_word(&h))
            }
            VectorRef => self.element_ref(p, Type::Vector, Element::Word),
            StringRef => self.element_ref(p, Type::String, Element::Char),
            BytevectorRef => self.element_ref(p, Type::Bytevector, Element::Byte),
            VectorSet => self.element_set(p, Type::Vector, Element::Word),
            StringSet => self.element_set(p, Type::String, Element::Char),
            BytevectorSet => self.element_set(p, Type::Bytevector, Element::Byte),
            other => unreachable!("{other:?} is emitted elsewhere"),
        }
    }

    /// Stores operand `i` at `v + offset`, with a barrier when it may point into the heap.
    pub(super) fn store_field(&mut self, p: &Prim, i: usize, v: &Val, offset: i64) -> Value {
        if let Some(d) = self.double_variable(&p.args[i]) {
            let q = self.address(v, offset);
            return self.store_double_as_word(p, i, &d, &q);
        }
        let w = self.operand(&p.args[i]);
        let address = ins!(self, "add i64 {v}, {offset}");
        self.store_word(v, offset, &w, Mem::Heap);
        self.barrier(p, i, &address, Some(&w));
        Value::unspecified()
    }

    /// The double of a variable that holds one.
    fn double_variable(&mut self, o: &Operand) -> Option<Val> {
        match o {
            Operand::Var(_) => self.known_double(o),
            _ => None,
        }
    }

    /// Stores a double, operand `i`, as a value at `q`. Only one that must be boxed needs a barrier.
    fn store_double_as_word(&mut self, p: &Prim, i: usize, d: &Val, q: &Val) -> Value {
        let (w, fits) = self.encode_if_immediate(d);
        let (fast, cold, join) = (self.fresh(), self.fresh(), self.fresh());
        self.branch(&fits, &fast, &cold, Odds::Likely);
        self.start(&fast);
        line!(self, "store i64 {w}, ptr {q}{}", Mem::Heap.suffix());
        self.goto(&join);
        self.out_of_line(&cold, |e| {
            let boxed = e.box_double(d);
            line!(e, "store i64 {boxed}, ptr {q}{}", Mem::Heap.suffix());
            let address = ins!(e, "ptrtoint ptr {q} to i64");
            e.barrier(p, i, &address, None);
            e.goto(&join);
        });
        self.start(&join);
        Value::unspecified()
    }

    /// What follows a store of operand `i`, whose value is `w` unless that is new, at `address`: nothing if that is no
    /// pointer into the heap.
    fn barrier(&mut self, p: &Prim, i: usize, address: &Val, w: Option<&Val>) {
        let scalar = p.op.stored_operand() == Some(i) && p.proven & scalar_bit(i) != 0;
        if scalar || never_heap_pointer(&p.args[i]) {
            return;
        }
        after_store(self, address, w);
    }

    /// The length in a header as a fixnum word. The flags next to it are always clear (`SEQUENCE_FLAGS`), so that no
    /// mask is needed, nor a register for it.
    fn length_word(&mut self, h: &Val) -> Val {
        const { assert!((SEQUENCE_FLAGS as u64) << FLAGS_SHIFT < 1 << (LENGTH_SHIFT - 3)) };
        ins!(self, "lshr i64 {h}, {}", LENGTH_SHIFT - 3)
    }

    /// Checks object and index; returns the object and the index as a fixnum word.
    fn element(&mut self, p: &Prim, t: Type, writable: bool) -> (Val, Val) {
        let v = self.operand(&p.args[0]);
        let i = self.operand(&p.args[1]);
        let in_range = p.proven & IN_RANGE != 0;
        if in_range && !may_be_literal(t, writable) {
            return (v, i);
        }
        let h = self.indexed_header(p, &v, t, writable);
        if in_range {
            return (v, i);
        }
        let ok = if self.is_proven(p, 1) {
            // both as fixnum words; the length is then the same word as `vector-length` yields
            let n = self.length_word(&h);
            ins!(self, "icmp ult i64 {i}, {n}")
        } else {
            let n = ins!(self, "lshr i64 {h}, {LENGTH_SHIFT}");
            let index = ins!(self, "call i64 @llvm.fshr.i64(i64 {i}, i64 {i}, i64 3)");
            ins!(self, "icmp ult i64 {index}, {n}")
        };
        let fail = self.index_error(p, &i, &v, p.site);
        self.guard(&ok, &fail);
        (v, i)
    }

    /// The header of operand 0, checked unless proven; a literal may not be written to.
    fn indexed_header(&mut self, p: &Prim, v: &Val, t: Type, writable: bool) -> Val {
        let literal = if may_be_literal(t, writable) { (FLAG_LITERAL as u64) << FLAGS_SHIFT } else { 0 };
        let proven = self.is_proven(p, 0);
        if proven && literal == 0 {
            return self.header(v);
        }
        let expected = match (t, literal != 0) {
            (Type::Vector, _) => "vector",
            (Type::String, false) => "string",
            (Type::String, true) => "mutable string",
            (Type::Bytevector, false) => "bytevector",
            (Type::Bytevector, true) => "mutable bytevector",
            _ => "object",
        };
        let fail = self.type_error(p, expected, v);
        if !proven {
            let tag = self.has_tag(v, TAG_OBJECT);
            self.guard(&tag, &fail);
        }
        let h = self.header(v);
        let b = ins!(self, "and i64 {h}, {}", 255 | literal);
        let ok = ins!(self, "icmp eq i64 {b}, {}", type_byte(t));
        self.guard(&ok, &fail);
        h
    }

    fn index_error(&mut self, p: &Prim, i: &Val, v: &Val, site: Site) -> Label {
        self.throw_block(error::RANGE, p.op.name(), "index", site, &[i, v])
    }

    /// Pointer to element `index`, a fixnum word: already the byte offset of a word.
    fn element_pointer(&mut self, v: &Val, index: &Val, e: Element) -> Val {
        let base = self.address(v, field(0));
        let offset = match e {
            Element::Word => index.clone(),
            Element::Char => ins!(self, "lshr i64 {index}, 1"),
            Element::Byte => ins!(self, "lshr i64 {index}, 3"),
        };
        ins!(self, "getelementptr i8, ptr {base}, i64 {offset}")
    }

    fn element_ref(&mut self, p: &Prim, t: Type, e: Element) -> Value {
        let (v, index) = self.element(p, t, false);
        let q = self.element_pointer(&v, &index, e);
        let leaf = Mem::Leaf.suffix();
        Value::Word(match e {
            Element::Word => ins!(self, "load i64, ptr {q}{}", Mem::Heap.suffix()),
            Element::Char => {
                let c = ins!(self, "load i32, ptr {q}{leaf}");
                let c = ins!(self, "zext i32 {c} to i64");
                let c = ins!(self, "shl i64 {c}, 8");
                ins!(self, "or i64 {c}, {CHAR_BYTE}")
            }
            Element::Byte => {
                let b = ins!(self, "load i8, ptr {q}{leaf}");
                let b = ins!(self, "zext i8 {b} to i64");
                ins!(self, "shl i64 {b}, 3")
            }
        })
    }

    fn element_set(&mut self, p: &Prim, t: Type, e: Element) -> Value {
        let (v, index) = self.element(p, t, true);
        if matches!(e, Element::Word)
            && let Some(d) = self.double_variable(&p.args[2])
        {
            let q = self.element_pointer(&v, &index, e);
            return self.store_double_as_word(p, 2, &d, &q);
        }
        let x = self.operand(&p.args[2]);
        match e {
            Element::Word => {
                let q = self.element_pointer(&v, &index, e);
                line!(self, "store i64 {x}, ptr {q}{}", Mem::Heap.suffix());
                if !never_heap_pointer(&p.args[2]) {
                    let address = ins!(self, "ptrtoint ptr {q} to i64");
                    self.barrier(p, 2, &address, Some(&x));
                }
            }
            Element::Char => {
                self.check(p, 2, &x);
                let q = self.element_pointer(&v, &index, e);
                let c = ins!(self, "lshr i64 {x}, 8");
                let c = ins!(self, "trunc i64 {c} to i32");
                line!(self, "store i32 {c}, ptr {q}{}", Mem::Leaf.suffix());
            }
            Element::Byte => {
                let b = ins!(self, "call i64 @llvm.fshr.i64(i64 {x}, i64 {x}, i64 3)");
                let ok = ins!(self, "icmp ult i64 {b}, 256");
                let fail = self.type_error(p, "byte", &x);
                self.guard(&ok, &fail);
                let q = self.element_pointer(&v, &index, e);
                let b = ins!(self, "trunc i64 {b} to i8");
                line!(self, "store i8 {b}, ptr {q}{}", Mem::Leaf.suffix());
            }
        }
        Value::unspecified()
    }
}

/// Must a store ask whether the object is a literal?
fn may_be_literal(t: Type, writable: bool) -> bool {
    writable && (t as u8) >= cairn_layout::object::FIRST_LEAF
}

/// The header type behind operand 0 of an access with a computed index.
fn object_type(op: Op) -> Type {
    if op.info().args[0] == Kind::Port { Type::Port } else { Type::Opaque }
}
