//! Records: type tests, fields, inline allocation.
//!
//! ```text
//!  v has the tag of objects?  ──no──▶ cold: a reference to an element of the type? ──yes──▶ load or store there
//!  its header = type word?    ──no──▶ cold: does its type extend another one? ──no──▶ fail
//!  load or store                              └─ yes: is the one asked for among its ancestors ([`ancestry`])?
//! ```
//!
//! All records of a type have the same header, the type word ([`record`]), so that a type test is one comparison; a
//! type that extends another one says so in a bit of its records' headers. Where the optimizer knows that nothing
//! extends the type ([`NEVER_EXTENDED`]), that question is not asked; where the module has a few types that extend it
//! (`emit/heirs.rs`), the header is compared with theirs first. References to elements of structure vectors are words
//! of another tag ([`element`]), from which the address of the fields is computed; with collectors that know none,
//! objects whose header has that bit as well. Where no record of the type lies in such a vector ([`IN_NO_VECTOR`]),
//! nobody looks for them.
//!
//! Fields of numbers, characters and booleans lie in raw records as they are in C, and are checked when they are
//! stored.

use super::data::field;
use super::raw_numbers::shape;
use super::{Sink, Value, literal_fixnum};
use crate::emit::builder::{Builder, Label, ins, line};
use crate::emit::emitter::Emitter;
use crate::emit::heirs::globals_in;
use crate::emit::ir_text::{Mem, Odds, Val};
use cairn_core::prim::{HAS_PASSED, IN_NO_VECTOR, NEVER_EXTENDED, Op, STRUCTURE_ELEMENT, STRUCTURE_REFERENCE};
use cairn_frame::ir::{Operand, Prim};
use cairn_layout::element;
use cairn_layout::machine::{Machine, error};
use cairn_layout::object::record::{self, FieldKind, Slot, ancestry, compact};
use cairn_layout::object::{AllocKind, headed_bytes};
use cairn_layout::value::{CHAR_BYTE, TAG_IMMEDIATE, TAG_MASK, TAG_OBJECT, Value as Word};
use std::mem::offset_of;

/// Whose field is accessed: what the runtime gets where an integer is no fixnum.
enum Owner {
    /// A record.
    Record(Val),
    /// An element of a structure vector: its storage, and how many bytes it lies behind the first word, a fixnum.
    Storage(Val, Val),
    /// A record, for an element of its field: the index, a fixnum.
    Element(Val, Val),
}

/// The shift that makes a header the offset of the entry of its number.
const NUMBER_TO_ENTRY: (&str, u32) = if record::NUMBER_SHIFT >= ancestry::ENTRY_SHIFT {
    ("lshr", record::NUMBER_SHIFT - ancestry::ENTRY_SHIFT)
} else {
    ("shl", ancestry::ENTRY_SHIFT - record::NUMBER_SHIFT)
};

impl Emitter<'_, '_> {
    /// `(%record type x …)`: the type word is the header.
    pub(super) fn fresh_record(&mut self, p: &Prim) -> Value {
        let words = self.operands(&p.args);
        Value::Word(self.headed_by(&words[0], &words[1..]))
    }

    /// `record-instance?`
    pub(super) fn is_instance(&mut self, p: &Prim, v: &Val, sink: &mut Sink) {
        let rtd = self.operand(&p.args[1]);
        if self.collector.indirect && p.proven & (NEVER_EXTENDED | IN_NO_VECTOR) == 0 {
            self.if_object_or_element(v, &rtd, sink);
        } else {
            self.if_object(v, sink);
        }
        let have = self.header(v);
        let same = ins!(self, "icmp eq i64 {have}, {rtd}");
        if p.proven & NEVER_EXTENDED != 0 {
            return sink.end(self, &same);
        }
        let (yes, other) = (self.fresh(), self.fresh());
        self.branch(&same, &yes, &other, Odds::Even);
        self.start(&other);
        self.known_heirs(p, &have, &yes, Odds::Even);
        let more = self.fresh();
        self.goto(&more);
        self.start(&yes);
        sink.end_known(self, true);
        self.start(&more);
        let extends = self.extends(&have);
        let (ask, no) = (self.fresh(), self.fresh());
        self.branch(&extends, &ask, &no, Odds::Unlikely);
        self.start(&no);
        sink.end_known(self, false);
        self.out_of_line(&ask, |e| {
            let bit = e.is_heir(v, &rtd, &have);
            sink.end(e, &bit);
        });
    }

    /// Goes on where the value has the tag of objects. Ends the other path, where it may refer to an element of the
    /// type.
    fn if_object_or_element(&mut self, v: &Val, rtd: &Val, sink: &mut Sink) {
        let tag = self.has_tag(v, TAG_OBJECT);
        let (object, other) = (self.fresh(), self.fresh());
        self.branch(&tag, &object, &other, Odds::Even);
        self.start(&other);
        let same = self.is_element_of(v, rtd);
        let (yes, no) = (self.fresh(), self.fresh());
        self.branch(&same, &yes, &no, Odds::Even);
        self.start(&yes);
        sink.end_known(self, true);
        self.start(&no);
        let any = self.is_element(v);
        let (ask, none) = (self.fresh(), self.fresh());
        self.branch(&any, &ask, &none, Odds::Unlikely);
        self.start(&none);
        sink.end_known(self, false);
        self.out_of_line(&ask, |e| {
            let bit = e.is_a(v, rtd);
            sink.end(e, &bit);
        });
        self.start(&object);
    }

    /// Goes on only if the record is one of the type. The result is the word from which its fields are reached.
    fn guard_instance(&mut self, p: &Prim, v: &Val) -> Val {
        if p.proven & 1 != 0 {
            return v.clone();
        }
        if self.collector.indirect && p.proven & HAS_PASSED != 0 {
            let (tag, place) = (self.has_tag(v, TAG_OBJECT), self.place_of_element(v));
            return ins!(self, "select i1 {tag}, i64 {v}, i64 {place}");
        }
        let rtd = self.operand(&p.args[1]);
        let fail = self.throw_block(error::TYPE, "", "record of the right type", p.site, &[v, &rtd]);
        let tag = self.has_tag(v, TAG_OBJECT);
        if self.collector.indirect && p.proven & (NEVER_EXTENDED | IN_NO_VECTOR) == 0 {
            return self.guard_object_or_element(p, v, &rtd, &tag, &fail);
        }
        self.guard(&tag, &fail);
        let have = self.header(v);
        let same = ins!(self, "icmp eq i64 {have}, {rtd}");
        if p.proven & NEVER_EXTENDED != 0 {
            self.guard(&same, &fail);
            return v.clone();
        }
        let (ok, other) = (self.fresh(), self.fresh());
        let here = self.here();
        self.branch(&same, &ok, &other, Odds::Likely);
        let elsewhere = self.out_of_line(&other, |e| {
            let from = e.known_heirs(p, &have, &ok, Odds::Likely);
            if p.proven & IN_NO_VECTOR != 0 {
                let bit = e.is_heir(v, &rtd, &have);
                e.branch(&bit, &ok, &fail, Odds::Likely);
                return vec![];
            }
            let mut places: Vec<_> = from.into_iter().map(|block| (v.clone(), block)).collect();
            places.extend(e.place_by_header(v, &rtd, &have, &ok, &fail));
            places
        });
        self.start(&ok);
        if elsewhere.is_empty() {
            return v.clone();
        }
        let places: Vec<_> = std::iter::once((v.clone(), here)).chain(elsewhere).collect();
        self.phi("i64", &places)
    }

    /// As [`Self::guard_instance`], where `v` may be a reference to an element, which is no object; `tag`: it is one.
    fn guard_object_or_element(&mut self, p: &Prim, v: &Val, rtd: &Val, tag: &Val, fail: &Label) -> Val {
        let (object, other, ok, unlike) = (self.fresh(), self.fresh(), self.fresh(), self.fresh());
        self.branch(tag, &object, &other, Odds::Likely);
        let mut places = self.out_of_line(&other, |e| {
            let same = e.is_element_of(v, rtd);
            let (inside, ask) = (e.fresh(), e.fresh());
            e.branch(&same, &inside, &ask, Odds::Likely);
            e.start(&inside);
            let place = e.place_of_element(v);
            let from_inside = e.here();
            e.goto(&ok);
            e.start(&ask);
            let asked = e.ask_place(v, rtd, &ok, fail);
            vec![(place, from_inside), asked]
        });
        self.start(&object);
        let have = self.header(v);
        let same = ins!(self, "icmp eq i64 {have}, {rtd}");
        places.push((v.clone(), self.here()));
        self.branch(&same, &ok, &unlike, Odds::Likely);
        let heirs = self.out_of_line(&unlike, |e| {
            let mut from = e.known_heirs(p, &have, &ok, Odds::Likely);
            let bit = e.is_heir(v, rtd, &have);
            from.push(e.here());
            e.branch(&bit, &ok, fail, Odds::Likely);
            from
        });
        places.extend(heirs.into_iter().map(|block| (v.clone(), block)));
        self.start(&ok);
        self.phi("i64", &places)
    }

    /// From where the fields of `v` are reached, whose header `have` is not the type word `rtd`, with a collector for
    /// which references to elements are objects: by the table of types, or the runtime. Goes to `ok` with one of the
    /// results, each given with the block that it comes from, or to `fail`.
    fn place_by_header(&mut self, v: &Val, rtd: &Val, have: &Val, ok: &Label, fail: &Label) -> Vec<(Val, Label)> {
        let ask = self.fresh();
        let bit = self.is_heir_by_table(rtd, have, &ask);
        let from_table = self.here();
        self.branch(&bit, ok, fail, Odds::Likely);
        self.start(&ask);
        let asked = self.ask_place(v, rtd, ok, fail);
        vec![(v.clone(), from_table), asked]
    }

    /// Asks the runtime from where the fields of a record of the type are reached. Goes to `ok` with the result, which
    /// is given with the block that it comes from, or to `fail`.
    fn ask_place(&mut self, v: &Val, rtd: &Val, ok: &Label, fail: &Label) -> (Val, Label) {
        let place = self.rt_call_at("cairn_record_place", &[v.clone(), rtd.clone()], None);
        let bit = ins!(self, "icmp ne i64 {place}, {}", Word::FALSE.0);
        let here = self.here();
        self.branch(&bit, ok, fail, Odds::Likely);
        (place, here)
    }

    // ---- elements of structure vectors

    /// `(%structure-reference … storage offset type)`, `(%structure-element storage offset type)`: a word, if the
    /// collector knows such ones.
    pub(super) fn element_reference(&mut self, p: &Prim) -> Option<Value> {
        if !self.collector.indirect || !matches!(p.op, STRUCTURE_REFERENCE | STRUCTURE_ELEMENT) {
            return None;
        }
        let [.., storage, offset, rtd] = &p.args[..] else { return None };
        let (storage, offset, rtd) = (self.operand(storage), self.operand(offset), self.operand(rtd));
        let place = self.behind(&storage, &offset);
        let region = self.region();
        let apart = ins!(self, "sub i64 {place}, {region}");
        let apart = ins!(self, "shl i64 {apart}, {}", element::OFFSET_SHIFT);
        let key = self.element_key(&rtd);
        Some(Value::Word(ins!(self, "or disjoint i64 {apart}, {key}")))
    }

    /// Where the heap's region starts.
    fn region(&mut self) -> Val {
        let q = ins!(self, "getelementptr i8, ptr %ctx, i64 {}", offset_of!(Machine, region));
        ins!(self, "load i64, ptr {q}, !invariant.load !3")
    }

    /// What references to elements of the type have in common.
    fn element_key(&mut self, rtd: &Val) -> Val {
        let number = ins!(self, "lshr i64 {rtd}, {}", element::NUMBER_DOWN);
        let number = ins!(self, "and i64 {number}, {}", element::NUMBER_MASK);
        ins!(self, "or disjoint i64 {number}, {}", element::FORM as i64)
    }

    /// An `i1`: is it a reference to an element of this very type?
    fn is_element_of(&mut self, v: &Val, rtd: &Val) -> Val {
        let key = self.element_key(rtd);
        let have = ins!(self, "and i64 {v}, {}", element::KEY_MASK as i64);
        ins!(self, "icmp eq i64 {have}, {key}")
    }

    /// An `i1`: is it a reference to an element, of any type?
    fn is_element(&mut self, v: &Val) -> Val {
        let have = ins!(self, "and i64 {v}, {}", element::FORM_MASK as i64);
        ins!(self, "icmp eq i64 {have}, {}", element::FORM as i64)
    }

    /// What the fields of an element are reached from, as if it were a record there.
    fn place_of_element(&mut self, v: &Val) -> Val {
        let up = ins!(self, "shl i64 {v}, {}", element::ABOVE);
        let offset = ins!(self, "lshr i64 {up}, {}", element::ABOVE + element::OFFSET_SHIFT);
        let region = self.region();
        ins!(self, "add i64 {region}, {offset}")
    }

    /// What lies so many bytes (a fixnum) behind the storage, as if it were a record there.
    fn behind(&mut self, storage: &Val, offset: &Val) -> Val {
        let bytes = ins!(self, "ashr i64 {offset}, 3");
        ins!(self, "add i64 {storage}, {bytes}")
    }

    /// An `i1`: does the header say that its type extends another one? (A very long vector may say so, too.)
    fn extends(&mut self, header: &Val) -> Val {
        let bit = ins!(self, "and i64 {header}, {}", record::EXTENDS);
        ins!(self, "icmp ne i64 {bit}, 0")
    }

    /// An `i1`: does the type of `v`, whose header says that it extends another one, extend the type `rtd`?
    fn is_heir(&mut self, v: &Val, rtd: &Val, have: &Val) -> Val {
        let (ask, done) = (self.fresh(), self.fresh());
        let by_table = self.is_heir_by_table(rtd, have, &ask);
        let from_table = self.here();
        self.goto(&done);
        self.start(&ask);
        let asked = self.is_a(v, rtd);
        let from_runtime = self.here();
        self.goto(&done);
        self.start(&done);
        self.phi("i1", &[(by_table, from_table), (asked, from_runtime)])
    }

    /// Goes to `yes` if the header is that of a type which extends the one asked for, as far as this module's few such
    /// types go. The result is the blocks that it goes there from.
    fn known_heirs(&mut self, p: &Prim, have: &Val, yes: &Label, odds: Odds) -> Vec<Label> {
        let mut from = Vec::new();
        for heir in self.heirs_of(&p.args[1]) {
            let word = self.load_global(heir);
            let same = ins!(self, "icmp eq i64 {have}, {word}");
            let other = self.fresh();
            from.push(self.here());
            self.branch(&same, yes, &other, odds);
            self.start(&other);
        }
        from
    }

    /// An `i1`: does the table of ancestors say that the type `have` extends `rtd`? Goes to `ask` where it says
    /// nothing about `have`.
    fn is_heir_by_table(&mut self, rtd: &Val, have: &Val, ask: &Label) -> Val {
        let table = self.machine_constant(offset_of!(Machine, ancestry));
        let number = ins!(self, "{} i64 {have}, {}", NUMBER_TO_ENTRY.0, NUMBER_TO_ENTRY.1);
        let offset = ins!(self, "and i64 {number}, {}", (ancestry::ENTRIES - 1) << ancestry::ENTRY_SHIFT);
        let entry = ins!(self, "getelementptr i8, ptr {table}, i64 {offset}");
        let own = self.load_at(&entry, ancestry::WORD, Mem::Machine);
        let known = ins!(self, "icmp eq i64 {own}, {have}");
        let look = self.fresh();
        self.branch(&known, &look, ask, Odds::Likely);
        self.start(&look);
        let depth = ins!(self, "lshr i64 {rtd}, {}", record::DEPTH_SHIFT - 3);
        let depth = ins!(self, "and i64 {depth}, {}", record::DEPTH_MAX << 3);
        let place = ins!(self, "getelementptr i8, ptr {entry}, i64 {depth}");
        let ancestor = self.load_at(&place, ancestry::ANCESTORS, Mem::Machine);
        ins!(self, "icmp eq i64 {ancestor}, {rtd}")
    }

    fn is_a(&mut self, v: &Val, rtd: &Val) -> Val {
        let r = self.rt_call_at("cairn_record_is_a", &[v.clone(), rtd.clone()], None);
        ins!(self, "icmp ne i64 {r}, {}", Word::FALSE.0)
    }

    /// Operations on records that are no predicates.
    pub(super) fn record_op(&mut self, op: Op, p: &Prim) -> Value {
        match op {
            Op::RawRecord => return self.raw_record(p),
            Op::CompactRecord => return self.compact_record(p),
            Op::RecordType => {
                let v = self.checked(p, 0);
                return Value::Word(self.type_word(&v));
            }
            _ => {}
        }
        let v = self.operand(&p.args[0]);
        if let Some(slot) = compact_slot(p) {
            if self.collector.indirect {
                return self.compact_op(op, p, &v, slot);
            }
            let place = self.guard_instance(p, &v);
            return self.plain_op(op, p, &v, &place, slot.plain());
        }
        let place = self.guard_instance(p, &v);
        self.field_op(op, p, &Owner::Record(v), &place)
    }

    /// A field of an element of a structure vector: it is reached from so many bytes behind the storage.
    pub(super) fn field_of_element(&mut self, op: Op, p: &Prim) -> Value {
        let (storage, offset) = (self.operand(&p.args[0]), self.operand(&p.args[1]));
        let place = self.behind(&storage, &offset);
        self.field_op(op.of_field(), p, &Owner::Storage(storage, offset), &place)
    }

    /// An element of a field of a record, which is reached from so many elements behind the first one.
    pub(super) fn element_op(&mut self, op: Op, p: &Prim) -> Value {
        let v = self.operand(&p.args[0]);
        let place = self.guard_instance(p, &v);
        let k = self.operand(&p.args[op.index().expect("an element")]);
        let index = ins!(self, "ashr i64 {k}, 3");
        let bytes = ins!(self, "mul i64 {index}, {}", field_slot(p).bytes());
        let place = ins!(self, "add i64 {place}, {bytes}");
        self.field_op(op.of_field(), p, &Owner::Element(v, k), &place)
    }

    /// The code of an element of an array, as a word.
    fn code_of_element(&mut self, first: &Val, k: &Val, slot: Slot) -> Val {
        let apart = ins!(self, "mul i64 {k}, {}", slot.bytes());
        ins!(self, "add i64 {first}, {apart}")
    }

    /// An access to the field of a record whose fields are reached from `place`.
    fn field_op(&mut self, op: Op, p: &Prim, of: &Owner, place: &Val) -> Value {
        let slot = field_slot(p);
        match op {
            Op::RecordRef if slot.raw => self.load_raw(of, place, slot),
            Op::RecordRef => Value::Word(self.load_word(place, field(i64::from(slot.at)), Mem::Heap)),
            Op::RecordSet => self.record_set(p, of, place, slot),
            Op::RecordFlRef => self.load_double(place, slot),
            _ => self.store_double(p, place, slot),
        }
    }

    /// The type word of a record. References that are no addresses say it themselves, or the runtime does; and so for
    /// references that are objects.
    fn type_word(&mut self, v: &Val) -> Val {
        let (object, other, join, ask) = (self.fresh(), self.fresh(), self.fresh(), self.fresh());
        let tag = self.has_tag(v, TAG_OBJECT);
        self.branch(&tag, &object, &other, Odds::Likely);
        let of_compact = self.out_of_line(&other, |e| {
            let (element, compact) = (e.is_element(v), e.fresh());
            e.branch(&element, &ask, &compact, Odds::Even);
            e.start(&compact);
            let upper = ins!(e, "and i64 {v}, {}", -1i64 << 32);
            let word = ins!(e, "or disjoint i64 {upper}, {TAG_IMMEDIATE}");
            e.goto(&join);
            (word, e.here())
        });
        self.start(&object);
        let have = self.header(v);
        let here = self.here();
        if self.collector.indirect {
            self.goto(&join);
        } else {
            let is_reference = ins!(self, "icmp eq i64 {have}, {}", element::OBJECT);
            self.branch(&is_reference, &ask, &join, Odds::Unlikely);
        }
        let asked = self.out_of_line(&ask, |e| {
            let word = e.rt_call_at("cairn_record_type", std::slice::from_ref(v), None);
            e.goto(&join);
            (word, e.here())
        });
        self.start(&join);
        self.phi("i64", &[(have, here), asked, of_compact])
    }

    fn raw_record(&mut self, p: &Prim) -> Value {
        let header = self.operand(&p.args[0]);
        let words = p.raw_words();
        let at = self.allocate(AllocKind::Leaf, headed_bytes(words));
        let q = self.address(&at, 0);
        self.store_at(&q, 0, &header, Mem::Header);
        for i in 0..words.max(1) {
            self.store_at(&q, 8 + 8 * i as i64, &Val::Int(0), Mem::Leaf);
        }
        Value::Word(ins!(self, "add i64 {at}, {TAG_OBJECT}"))
    }

    fn raw_address(&mut self, v: &Val, slot: Slot) -> Val {
        self.address(v, field(0) + i64::from(slot.at))
    }

    fn load_double(&mut self, v: &Val, slot: Slot) -> Value {
        let q = self.raw_address(v, slot);
        Value::Double(self.load_packed_double(&q, slot.kind))
    }

    fn store_double(&mut self, p: &Prim, v: &Val, slot: Slot) -> Value {
        let x = self.double_operand(p, 3);
        let q = self.raw_address(v, slot);
        self.store_packed_double(&q, slot.kind, &x);
        Value::unspecified()
    }

    /// A raw field that holds no flonums.
    fn load_raw(&mut self, of: &Owner, place: &Val, slot: Slot) -> Value {
        self.load_raw_as(of, place, slot, slot)
    }

    /// A raw field at `slot` behind `place`, which the runtime knows as `known`.
    fn load_raw_as(&mut self, of: &Owner, place: &Val, slot: Slot, known: Slot) -> Value {
        if slot.kind == FieldKind::Any {
            return Value::Word(self.load_word(place, field(0) + i64::from(slot.at), Mem::Leaf));
        }
        let q = self.raw_address(place, slot);
        let m = Mem::Leaf.suffix();
        let (bits, signed) = shape(slot.kind);
        let n = ins!(self, "load i{bits}, ptr {q}{m}");
        if bits == 64 {
            let code = Val::word(Word::fixnum(known.code()).0);
            let get = |e: &mut Self| match of {
                Owner::Record(v) => e.rt_call_at("cairn_record_get", &[v.clone(), code], None),
                Owner::Storage(s, o) => e.rt_call_at("cairn_structure_get", &[s.clone(), o.clone(), code], None),
                Owner::Element(v, k) => {
                    let code = e.code_of_element(&code, k, known);
                    e.rt_call_at("cairn_record_get", &[v.clone(), code], None)
                }
            };
            return Value::Word(self.fixnum_or(&n, signed, get));
        }
        let n = ins!(self, "{} i{bits} {n} to i64", if signed { "sext" } else { "zext" });
        Value::Word(match slot.kind {
            FieldKind::Char => {
                let c = ins!(self, "shl i64 {n}, 8");
                ins!(self, "or i64 {c}, {CHAR_BYTE}")
            }
            FieldKind::Bool => {
                let bit = ins!(self, "shl i64 {n}, 3");
                ins!(self, "or i64 {bit}, {}", Word::FALSE.0)
            }
            _ => ins!(self, "shl i64 {n}, 3"),
        })
    }

    fn record_set(&mut self, p: &Prim, of: &Owner, place: &Val, slot: Slot) -> Value {
        if slot.kind != FieldKind::Any && slot.kind != FieldKind::Ref {
            let x = self.operand(&p.args[3]);
            if !slot.raw || shape(slot.kind).0 != 64 {
                self.guard_field(p, slot.kind, &x);
            }
            if slot.raw {
                self.store_raw(p, of, place, slot, &x);
                return Value::unspecified();
            }
        }
        if slot.raw {
            // a value that the collector need not see
            let x = self.operand(&p.args[3]);
            self.store_word(place, field(0) + i64::from(slot.at), &x, Mem::Leaf);
            return Value::unspecified();
        }
        self.store_field(p, 3, place, field(i64::from(slot.at)))
    }

    /// Goes on only if a field of this kind may hold the word.
    fn guard_field(&mut self, p: &Prim, kind: FieldKind, x: &Val) {
        let fail = self.throw_block(error::TYPE, "", kind.expected(), p.site, &[x]);
        let ok = match kind {
            FieldKind::Char => self.is_char(x),
            FieldKind::Bool => self.is_boolean(x),
            FieldKind::F64 | FieldKind::F32 => {
                return self.guard_kind(cairn_core::prim::Kind::Flonum, x, &fail);
            }
            kind => return self.guard_integer(kind, x, &fail),
        };
        self.guard(&ok, &fail);
    }

    fn guard_integer(&mut self, kind: FieldKind, x: &Val, fail: &Label) {
        let (lo, hi) = kind.integers().expect("a field of integers");
        if hi - lo >= 1 << 60 {
            // values in records that are not raw: only bignums need the runtime
            let ok = self.is_fixnum_of(x, lo < 0);
            let (fits, big) = (self.fresh(), self.fresh());
            self.branch(&ok, &fits, &big, Odds::Likely);
            self.out_of_line(&big, |e| {
                let code = Val::word(Word::fixnum(Slot::new(kind, false, 0).code()).0);
                let r = e.rt_call_at("cairn_record_fits", &[x.clone(), code], None);
                let bit = ins!(e, "icmp ne i64 {r}, {}", Word::FALSE.0);
                e.branch(&bit, &fits, fail, Odds::Likely);
            });
            return self.start(&fits);
        }
        self.guard_fixnum_within(kind, x, fail);
    }

    fn store_raw(&mut self, p: &Prim, of: &Owner, place: &Val, slot: Slot, x: &Val) {
        self.store_raw_as(p, of, place, slot, slot, x);
    }

    fn store_raw_as(&mut self, p: &Prim, of: &Owner, place: &Val, slot: Slot, known: Slot, x: &Val) {
        let (bits, signed) = shape(slot.kind);
        let q = self.raw_address(place, slot);
        let m = Mem::Leaf.suffix();
        if bits < 64 {
            let shift = if slot.kind == FieldKind::Char { 8 } else { 3 };
            let n = ins!(self, "ashr i64 {x}, {shift}");
            let n = ins!(self, "trunc i64 {n} to i{bits}");
            line!(self, "store i{bits} {n}, ptr {q}{m}");
            return;
        }
        let code = Val::word(Word::fixnum(known.code()).0);
        self.store_wide(&q, x, signed, |e| {
            let x = x.clone();
            match of {
                Owner::Record(v) => e.rt_call("cairn_record_put", &[v.clone(), code, x], p.site),
                Owner::Storage(s, o) => e.rt_call("cairn_structure_put", &[s.clone(), o.clone(), code, x], p.site),
                Owner::Element(v, k) => {
                    let code = e.code_of_element(&code, k, known);
                    e.rt_call("cairn_record_put", &[v.clone(), code, x], p.site)
                }
            };
        });
    }
}

/// The field of an access.
fn field_slot(p: &Prim) -> Slot {
    let Some(code) = literal_fixnum(&p.args[2]) else { panic!("the field of {} is a literal", p.op.name()) };
    Slot::of(code)
}

/// The field of an access, if it is one of a compact record.
fn compact_slot(p: &Prim) -> Option<Slot> {
    literal_fixnum(p.args.get(2)?).map(Slot::of).filter(|s| s.compact.is_some())
}

/// Compact records: [`compact`].
impl Emitter<'_, '_> {
    /// An access to a compact record's field where the collector knows none: in a plain record.
    fn plain_op(&mut self, op: Op, p: &Prim, v: &Val, place: &Val, slot: Slot) -> Value {
        let at = field(i64::from(slot.at));
        match op {
            Op::RecordRef => Value::Word(self.load_word(place, at, Mem::Heap)),
            Op::RecordFlRef => {
                let w = self.load_word(place, at, Mem::Heap);
                Value::Double(self.decode_flonum(&w, None))
            }
            Op::RecordFlSet => {
                self.double_operand(p, 3);
                self.store_field(p, 3, place, at)
            }
            _ => self.record_set(p, &Owner::Record(v.clone()), place, slot),
        }
    }

    /// `compact-instance?`
    pub(super) fn is_compact(&mut self, p: &Prim, v: &Val, sink: &mut Sink) {
        if !self.collector.indirect {
            return self.is_instance(p, v, sink);
        }
        let rtd = self.operand(&p.args[1]);
        // The type may be one that was made at run time, which is not compact: its word is not negative, and any fixnum
        // may follow it.
        let near = self.is_compact_of(v, &rtd);
        let compact = ins!(self, "icmp slt i64 {rtd}, 0");
        let bit = ins!(self, "and i1 {near}, {compact}");
        sink.end(self, &bit);
    }

    /// An `i1`: is it a reference to a record of this compact type?
    fn is_compact_of(&mut self, v: &Val, rtd: &Val) -> Val {
        let number = ins!(self, "sub i64 {v}, {rtd}");
        let number = ins!(self, "sub i64 {number}, 1");
        ins!(self, "icmp ult i64 {number}, {}", u32::MAX)
    }

    /// An `i1`: is it a reference to a compact record of any type?
    pub(super) fn is_compact_reference(&mut self, v: &Val) -> Val {
        let bits = ins!(self, "and i64 {v}, {}", (1 << 63 | TAG_MASK) as i64);
        let one = ins!(self, "icmp eq i64 {bits}, {}", (1 << 63 | TAG_IMMEDIATE) as i64);
        let low = ins!(self, "trunc i64 {v} to i32");
        let no_type = ins!(self, "icmp ne i32 {low}, {TAG_IMMEDIATE}");
        ins!(self, "and i1 {one}, {no_type}")
    }

    /// The entry of a compact type's pool.
    fn pool(&mut self, rtd: &Val) -> Val {
        let pools = self.machine_constant(offset_of!(Machine, pools));
        let offset = ins!(self, "lshr i64 {rtd}, {}", compact::ENTRY_AT);
        ins!(self, "getelementptr i8, ptr {pools}, i64 {offset}")
    }

    /// A number of 32 bits in the entry of a pool.
    fn pool_number(&mut self, pool: &Val, offset: usize) -> Val {
        let q = ins!(self, "getelementptr i8, ptr {pool}, i64 {offset}");
        ins!(self, "load i32, ptr {q}{}", Mem::Machine.suffix())
    }

    fn compact_record(&mut self, p: &Prim) -> Value {
        let rtd = self.operand(&p.args[0]);
        if !self.collector.indirect {
            let words = vec![Val::word(Word::FALSE.0); p.raw_words()];
            return Value::Word(self.headed_by(&rtd, &words));
        }
        let pool = self.pool(&rtd);
        let next = self.pool_number(&pool, offset_of!(compact::Entry, next));
        let limit = self.pool_number(&pool, offset_of!(compact::Entry, limit));
        let none = ins!(self, "icmp eq i32 {next}, {limit}");
        let (ok, cold, done) = (self.fresh(), self.fresh(), self.fresh());
        self.branch(&none, &cold, &ok, Odds::Unlikely);
        self.start(&ok);
        let after = ins!(self, "add i32 {next}, 1");
        let q = ins!(self, "getelementptr i8, ptr {pool}, i64 {}", offset_of!(compact::Entry, next));
        line!(self, "store i32 {after}, ptr {q}{}", Mem::Machine.suffix());
        let n = ins!(self, "zext i32 {next} to i64");
        let n = ins!(self, "shl i64 {n}, {}", compact::RECORD_SHIFT);
        let word = self.reference_of(&n, &rtd);
        let here = self.here();
        self.goto(&done);
        let made = self.out_of_line(&cold, |e| {
            let r = e.rt_call_at("cairn_compact_make", std::slice::from_ref(&rtd), None);
            e.goto(&done);
            (r, e.here())
        });
        self.start(&done);
        Value::Word(self.phi("i64", &[(word, here), made]))
    }

    /// The reference to a record: the number is where references have it.
    fn reference_of(&mut self, n: &Val, rtd: &Val) -> Val {
        ins!(self, "or disjoint i64 {rtd}, {n}")
    }

    fn compact_op(&mut self, op: Op, p: &Prim, v: &Val, slot: Slot) -> Value {
        let rtd = self.operand(&p.args[1]);
        if p.proven & 1 == 0 {
            let fail = self.throw_block(error::TYPE, "", "record of the right type", p.site, &[v, &rtd]);
            let bit = self.is_compact_of(v, &rtd);
            self.guard(&bit, &fail);
        }
        let place = slot.compact.expect("a field of a compact record");
        let pool = self.pool(&rtd);
        if slot.kind == FieldKind::Ref {
            if op == Op::RecordRef {
                return self.compact_reference(p, v, &rtd, &pool, slot);
            }
            self.store_compact_reference(p, v, &rtd, &pool, slot);
            return Value::unspecified();
        }
        let mut q = self.compact_address(v, &rtd, &pool, slot);
        if place.widths != compact::Widths::Only32 {
            let code = Val::word(Word::fixnum(slot.code()).0);
            let (narrow, ok, cold) = (self.is_narrow(&pool), self.fresh(), self.fresh());
            let here = self.here();
            self.branch(&narrow, &cold, &ok, Odds::Unlikely);
            let elsewhere = self.out_of_line(&cold, |e| {
                let at = e.rt_call_at("cairn_compact_place", &[v.clone(), code], None);
                e.goto(&ok);
                (at, e.here())
            });
            self.start(&ok);
            q = self.phi("i64", &[(q, here), elsewhere]);
        }
        // Fields are reached as those of a record that begins there.
        let at_field = ins!(self, "add i64 {q}, {}", -field(0));
        let there = Slot { at: 0, ..slot };
        match op {
            Op::RecordRef => self.load_raw_as(&Owner::Record(v.clone()), &at_field, there, slot),
            Op::RecordFlRef => self.load_double(&at_field, there),
            Op::RecordFlSet => self.store_double(p, &at_field, there),
            _ => {
                let x = self.operand(&p.args[3]);
                if shape(slot.kind).0 != 64 {
                    self.guard_field(p, slot.kind, &x);
                }
                self.store_raw_as(p, &Owner::Record(v.clone()), &at_field, there, slot, &x);
                Value::unspecified()
            }
        }
    }

    /// An `i1`: do references in the pool's records have less than 32 bits?
    fn is_narrow(&mut self, pool: &Val) -> Val {
        let bits = self.pool_number(pool, offset_of!(compact::Entry, bits));
        ins!(self, "icmp ne i32 {bits}, 32")
    }

    /// The address of a field, as a word.
    fn compact_address(&mut self, v: &Val, rtd: &Val, pool: &Val, slot: Slot) -> Val {
        let base = self.load_at(pool, offset_of!(compact::Entry, base) as i64, Mem::Machine);
        let stride = slot.compact.map_or(1, |p| i64::from(p.stride));
        let number = ins!(self, "sub i64 {v}, {rtd}");
        let unit = 1 << compact::RECORD_SHIFT;
        let bytes = if stride % unit == 0 {
            ins!(self, "mul nuw i64 {number}, {}", stride / unit)
        } else {
            let n = ins!(self, "lshr i64 {number}, {}", compact::RECORD_SHIFT);
            ins!(self, "mul nuw i64 {n}, {stride}")
        };
        let start = ins!(self, "add i64 {base}, {bytes}");
        ins!(self, "add i64 {start}, {}", slot.at)
    }

    /// The type of the records that a field refers to; the tag alone if it has held none.
    fn compact_target(&mut self, rtd: &Val, pool: &Val, place: compact::Place) -> Val {
        if place.own {
            return rtd.clone();
        }
        let q = ins!(self, "getelementptr i8, ptr {pool}, i64 {}", offset_of!(compact::Entry, targets));
        let targets = ins!(self, "load ptr, ptr {q}{}", Mem::Machine.suffix());
        let upper = self.pool_number(&targets, 4 * place.index as usize);
        let upper = ins!(self, "zext i32 {upper} to i64");
        let upper = ins!(self, "shl i64 {upper}, 32");
        ins!(self, "or i64 {upper}, {TAG_IMMEDIATE}")
    }

    fn compact_reference(&mut self, p: &Prim, v: &Val, rtd: &Val, pool: &Val, slot: Slot) -> Value {
        let place = slot.compact.expect("a field of a compact record");
        let code = Val::word(Word::fixnum(slot.code()).0);
        let done = self.fresh();
        let slow = (place.widths != compact::Widths::Only32).then(|| {
            let (narrow, ok, cold) = (self.is_narrow(pool), self.fresh(), self.fresh());
            self.branch(&narrow, &cold, &ok, Odds::Unlikely);
            let r = self.out_of_line(&cold, |e| {
                let r = e.rt_call("cairn_record_get", &[v.clone(), code], p.site);
                e.goto(&done);
                (r, e.here())
            });
            self.start(&ok);
            r
        });
        let at = self.compact_address(v, rtd, pool, slot);
        let q = ins!(self, "inttoptr i64 {at} to ptr");
        let n = ins!(self, "load i32, ptr {q}{}", Mem::Leaf.suffix());
        // A branch, not a selection: what follows asks the same as a rule, and the next address must not wait.
        let (some, is_some) = (self.fresh(), ins!(self, "icmp ne i32 {n}, 0"));
        let mut paths = vec![(Val::word(Word::FALSE.0), self.here())];
        self.branch(&is_some, &some, &done, Odds::Likely);
        self.start(&some);
        let n = ins!(self, "zext i32 {n} to i64");
        let of = self.compact_target(rtd, pool, place);
        // So a reference is not `#f`, wherever that is asked.
        let no_immediate = ins!(self, "icmp slt i64 {of}, 0");
        line!(self, "call void @llvm.assume(i1 {no_immediate})");
        let word = self.reference_of(&n, &of);
        paths.push((word, self.here()));
        self.goto(&done);
        paths.extend(slow);
        self.start(&done);
        Value::Word(self.phi("i64", &paths))
    }

    /// Stores a reference: here if it is `#f` or one like those that the field holds, else by the runtime.
    fn store_compact_reference(&mut self, p: &Prim, v: &Val, rtd: &Val, pool: &Val, slot: Slot) {
        let place = slot.compact.expect("a field of a compact record");
        let x = self.operand(&p.args[3]);
        let of = self.compact_target(rtd, pool, place);
        let same = self.is_compact_of(&x, &of);
        let is_false = ins!(self, "icmp eq i64 {x}, {}", Word::FALSE.0);
        let mut ok = ins!(self, "or i1 {same}, {is_false}");
        if place.widths != compact::Widths::Only32 {
            let narrow = self.is_narrow(pool);
            ok = ins!(self, "select i1 {narrow}, i1 false, i1 {ok}");
        }
        let (here, other, join) = (self.fresh(), self.fresh(), self.fresh());
        self.branch(&ok, &here, &other, Odds::Likely);
        self.start(&here);
        let at = self.compact_address(v, rtd, pool, slot);
        let q = ins!(self, "inttoptr i64 {at} to ptr");
        let n = ins!(self, "trunc i64 {x} to i32");
        let n = ins!(self, "xor i32 {n}, {TAG_IMMEDIATE}");
        line!(self, "store i32 {n}, ptr {q}{}", Mem::Leaf.suffix());
        self.goto(&join);
        let code = Val::word(Word::fixnum(slot.code()).0);
        self.out_of_line(&other, |e| {
            e.rt_call("cairn_record_put", &[v.clone(), code, x.clone()], p.site);
            e.goto(&join);
        });
        self.start(&join);
    }
}

impl Builder {
    /// An object with this header and these words; returns the value.
    fn headed_by(&mut self, header: &Val, words: &[Val]) -> Val {
        let at = self.allocate(AllocKind::Scannable, headed_bytes(words.len()));
        let p = self.address(&at, 0);
        self.store_at(&p, 0, header, Mem::Header);
        if words.is_empty() {
            self.store_at(&p, 8, &Val::Int(0), Mem::Heap);
        }
        for (i, v) in words.iter().enumerate() {
            self.store_at(&p, 8 + 8 * i as i64, v, Mem::Heap);
        }
        ins!(self, "add i64 {at}, {TAG_OBJECT}")
    }
}

impl Emitter<'_, '_> {
    /// The variables of the types that extend the one which is this operand, if they are few.
    fn heirs_of(&mut self, rtd: &Operand) -> Vec<u32> {
        let (Some((_, f)), Operand::Var(v)) = (self.func, rtd) else { return Vec::new() };
        if self.cx.heirs.are_none() {
            return Vec::new();
        }
        let held = self.globals_in.get_or_insert_with(|| globals_in(f));
        let of = held.get(v).copied().flatten().and_then(|g| self.cx.heirs.of_type(g));
        of.map(|of| of.iter().map(|g| g.0).collect()).unwrap_or_default()
    }
}
