//! Fields of records: what they hold, as far as the program is closed; and raw records.
//!
//! ```text
//!  (define body.1 (%make-record-type 'body '(x v) 32))      (define body.1 (%make-record-type 'body '((x . c) (v . d)) 33))
//!  (%record body.1 1. 0.)                              ⟶    (let ((r (%raw-record body.1 2)))
//!                                                             (%record-fl-set! r body.1 c 1.) (%record-fl-set! r body.1 d 0.) r)
//!  (%record-set! b body.1 1 (%fl+ (%record-ref b body.1 1) dv))
//!                                                           (%record-fl-set! b body.1 d (%fl+ (%record-fl-ref b body.1 d) dv))
//! ```
//!
//! The problem: what comes out of a record may be anything, so numeric programs with records test, decode and encode
//! every number. The idea: a record type is *closed* if its type word is only ever an operand of operations on records.
//! Then all stores into its fields are in the program, and a field holds what they store ([`Records::grow`]).
//! If no field of a type needs to be looked at by the collector, and some field holds flonums only, its records become
//! raw: flonums lie in them as doubles, all else as it was.
//!
//! Types with structure vectors may be closed, too: what makes their vectors copies records of the type. Their records
//! become raw only where the program says so, since elements lie as the expander has written it. If nothing makes
//! references to elements that are kept, no record is one, and the type's records cost what others do.
//!
//! Records of types of lib/ stay as they are: the runtime stores into some of them (hash tables, guardians).
//!
//! Invariants: type words of closed types do not leave the operations, so nothing extends them, nothing outside of the
//! program stores into their records, and what only reads them, the printer for one, asks the type for its fields.

use super::lattice::{Slot as Grown, Type, bits::*};
use crate::ir::{Expr, GlobalId, Literal, Program, TopForm};
use crate::prim::{
    MAKE_RAW_RECORD, MAKE_RECORD_SUBTYPE, MAKE_RECORD_TYPE, Op, PrimOp, STRUCTURE_ELEMENT, STRUCTURE_REFERENCE,
    STRUCTURE_SWAP, STRUCTURE_TYPE,
};
use crate::walk::{rewrite, visit};
use cairn_layout::code::Site;
use cairn_layout::object::record::{COMPACT, DESCRIBED_LENGTH_SHIFT, FieldKind, RAW, Slot};
use cairn_num::{Int, Number};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// What is known of closed record types.
#[derive(Default)]
pub(super) struct Records {
    types: FxHashMap<GlobalId, Closed>,
    /// Types whose records may lie in structure vectors.
    elements: FxHashSet<GlobalId>,
    /// All types with structure vectors are closed.
    vectors_closed: bool,
    /// By code: what is stored in fields of elements, and the forms that read them.
    of_elements: FxHashMap<i64, (Grown, Vec<usize>)>,
}

/// A closed type.
#[derive(Default)]
struct Closed {
    /// By code: contents, and the forms that read it.
    fields: FxHashMap<i64, (Grown, Vec<usize>)>,
    /// By code: fields in which something is stored that is a flonum, or probably one.
    flonums: FxHashSet<i64>,
    /// There are structure vectors of it, which know where the fields of their elements are.
    vectors: bool,
}

impl Records {
    pub(super) fn new(program: &Program, forms: &[TopForm]) -> Records {
        let mut types: FxHashMap<GlobalId, Closed> = FxHashMap::default();
        for form in forms {
            if let TopForm::Define(g, Expr::Prim { op: MAKE_RECORD_TYPE, .. }) = form
                && !program.globals[g.0 as usize].library
            {
                types.insert(*g, Closed::default());
            }
        }
        let imports = program.globals.iter().any(|g| g.import.is_some());
        let elements = elements(program, forms);
        if types.is_empty() {
            return Records { elements, ..Records::default() };
        }
        let mut vectors = 0;
        // every mention of the global, against those as the type operand
        let mut mentions: FxHashMap<GlobalId, (i64, usize)> = FxHashMap::default();
        for form in forms {
            if let TopForm::Define(g, _) = form {
                mentions.entry(*g).or_default().1 += 1;
            }
            visit(form.expr(), &mut |e| match e {
                Expr::Global(g, _) => mentions.entry(*g).or_default().0 += 1,
                Expr::SetGlobal(g, ..) => mentions.entry(*g).or_default().1 += 1,
                Expr::Prim { op, args, .. } => {
                    let Some(Expr::Global(g, _)) = type_operand(*op).and_then(|i| args.get(i)) else { return };
                    mentions.entry(*g).or_default().0 -= 1;
                    if *op == STRUCTURE_TYPE {
                        vectors += 1;
                        if let Some(t) = types.get_mut(g) {
                            t.vectors = true;
                        }
                    }
                }
                _ => {}
            });
        }
        types.retain(|g, _| mentions.get(g) == Some(&(0, 1)));
        // elements that nothing has been stored in
        for form in forms {
            if let TopForm::Define(g, e) = form
                && let Some(t) = types.get_mut(g)
                && elements.contains(g)
            {
                for code in fields_of_any_value(e) {
                    t.fields.entry(code).or_default().0.grow(Type::boolean(false), &[]);
                }
            }
        }
        let closed = types.values().filter(|t| t.vectors).count();
        let vectors_closed = closed == vectors && !imports;
        Records { types, elements, vectors_closed, of_elements: FxHashMap::default() }
    }

    /// May records of the type in this variable be elements of structure vectors?
    pub(super) fn may_be_elements(&self, g: GlobalId) -> bool {
        self.elements.contains(&g)
    }

    /// Closed types without structure vectors, whose fields may hold anything, and all of whose records are made, read
    /// and assigned to by operations that name type and field.
    pub(super) fn of_any_values(&self, program: &Program, forms: &[TopForm]) -> FxHashSet<GlobalId> {
        if self.types.is_empty() || program.globals.iter().any(|g| g.import.is_some()) {
            return FxHashSet::default();
        }
        let plain = |form: &TopForm| match form {
            TopForm::Define(g, e) => {
                let closed = self.types.get(g).is_some_and(|t| !t.vectors) && !self.elements.contains(g);
                let (_, about) = description(e).filter(|_| closed)?;
                (about & COMPACT == 0).then_some(*g)
            }
            TopForm::Expr(_) => None,
        };
        let mut found: FxHashSet<GlobalId> = forms.iter().filter_map(plain).collect();
        // somebody may access any of them
        let mut others = found.is_empty();
        for form in forms {
            visit(form.expr(), &mut |e| {
                let Expr::Prim { op, args, .. } = e else { return };
                let Some(Expr::Global(g, _)) = type_operand(*op).and_then(|i| args.get(i)) else {
                    // an access to any record, by a type that was asked of it; those of the evaluator
                    others |= matches!(op, PrimOp::Op(o) if o.is_field_access());
                    others |= op.name().starts_with("record-slot");
                    return;
                };
                let known = match op {
                    PrimOp::Record | PrimOp::Op(Op::IsInstance) => true,
                    PrimOp::Op(Op::RecordRef | Op::RecordSet) => {
                        field(args).is_some() && field_of(&args[2]).kind == FieldKind::Any
                    }
                    _ => false,
                };
                if !known {
                    found.remove(g);
                }
            });
        }
        if others { FxHashSet::default() } else { found }
    }

    /// Is this the variable of a closed type?
    pub(super) fn has(&self, g: GlobalId) -> bool {
        self.types.contains_key(&g)
    }

    pub(super) fn is_closed(&self, e: &Expr) -> bool {
        matches!(e, Expr::Global(g, _) if self.has(*g))
    }

    /// Contents of a field, read in form `reader`.
    pub(super) fn get(&mut self, g: GlobalId, code: i64, reader: usize) -> Type {
        let Some(t) = self.types.get_mut(&g) else { return Type::ANY };
        let (slot, readers) = t.fields.entry(code).or_default();
        if !readers.contains(&reader) {
            readers.push(reader);
        }
        Type { hint: t.flonums.contains(&code) && !slot.ty.is_flonum(), ..slot.ty }
    }

    /// What was found of the fields of a closed type, by code.
    pub(super) fn contents(&self, g: GlobalId) -> Vec<(i64, Type)> {
        let fields = self.types.get(&g).into_iter().flat_map(|t| &t.fields);
        let mut all: Vec<(i64, Type)> = fields.map(|(code, (slot, _))| (*code, slot.ty)).collect();
        all.sort_by_key(|(code, _)| *code);
        all
    }

    /// The forms that must be walked again because a field holds more than they saw.
    pub(super) fn grow(&mut self, g: GlobalId, code: i64, t: Type) -> Vec<usize> {
        let Some(of) = self.types.get_mut(&g) else { return Vec::new() };
        if t.hint || t.is_flonum() {
            of.flonums.insert(code);
        }
        let (slot, readers) = of.fields.entry(code).or_default();
        if slot.grow(t, &[]) { readers.clone() } else { Vec::new() }
    }

    /// Contents of a field, with this code, of an element of a structure vector whose type is not said, read in form
    /// `reader`.
    pub(super) fn get_of_element(&mut self, code: i64, reader: usize) -> Type {
        if !self.vectors_closed {
            return Type::ANY;
        }
        let read = |(slot, readers): &mut (Grown, Vec<usize>)| {
            if !readers.contains(&reader) {
                readers.push(reader);
            }
            slot.ty
        };
        let stored = read(self.of_elements.entry(code).or_default());
        let types = self.types.values_mut().filter(|of| of.vectors);
        let copied = types.map(|of| read(of.fields.entry(code).or_default())).fold(Type::NONE, Type::join);
        // elements that nothing has been stored in
        Type::boolean(false).join(stored).join(copied)
    }

    /// The forms that must be walked again because a field of an element, whose type is not said, holds more than they
    /// saw.
    pub(super) fn grow_of_element(&mut self, code: i64, t: Type) -> Vec<usize> {
        let mut again = Vec::new();
        let (slot, readers) = self.of_elements.entry(code).or_default();
        if slot.grow(t, &[]) {
            again.extend_from_slice(readers);
        }
        // references that are kept show it to the operations on records
        for (g, of) in &mut self.types {
            if of.vectors && self.elements.contains(g) {
                let (slot, readers) = of.fields.entry(code).or_default();
                if slot.grow(t, &[]) {
                    again.extend_from_slice(readers);
                }
            }
        }
        again
    }

    /// Says of types with structure vectors that no references to elements are kept, where that is so: those vectors
    /// may move.
    fn note_kept(&self, forms: &mut [TopForm]) {
        for form in forms.iter_mut() {
            rewrite(form.expr_mut(), &mut |e| {
                if let Expr::Prim { op: STRUCTURE_TYPE, args, .. } = e
                    && let Expr::Global(g, _) = &args[0]
                    && !self.elements.contains(g)
                {
                    args[1] = Expr::Const(Literal::Bool(false));
                }
            });
        }
    }

    /// Makes records raw whose fields are numbers, among them some that are flonums only.
    pub(super) fn make_raw(self, program: &mut Program, forms: &mut [TopForm]) {
        if program.globals.iter().any(|g| g.elements) {
            self.note_kept(forms);
        }
        let mut raw: FxHashMap<GlobalId, Vec<Slot>> = FxHashMap::default();
        for form in forms.iter() {
            if let TopForm::Define(g, e) = form
                && let (Some(t), Some((names, _))) = (self.types.get(g), description(e))
                && !t.vectors
                && let Some(slots) = layout(t, names.len())
            {
                raw.insert(*g, slots);
            }
        }
        if raw.is_empty() {
            return;
        }
        for form in forms.iter_mut() {
            if let TopForm::Define(g, e) = form
                && let Some(slots) = raw.get(g)
            {
                describe(e, slots);
                continue;
            }
            rewrite(form.expr_mut(), &mut |e| make_operation_raw(program, &raw, e));
        }
    }
}

/// The types whose records may be elements of structure vectors. None is one if nothing makes references to elements
/// that are kept: then those vectors are only read and written.
fn elements(program: &Program, forms: &[TopForm]) -> FxHashSet<GlobalId> {
    let marked = program.globals.iter().enumerate().filter(|(_, g)| g.elements);
    let marked: FxHashSet<GlobalId> = marked.map(|(i, _)| GlobalId(i as u32)).collect();
    if marked.is_empty() || program.globals.iter().any(|g| g.import.is_some()) {
        return marked;
    }
    let mut parents: FxHashMap<GlobalId, Option<&Expr>> = FxHashMap::default();
    let mut made: Vec<Option<GlobalId>> = Vec::new();
    for form in forms {
        match form {
            TopForm::Define(g, Expr::Prim { op: MAKE_RECORD_TYPE, .. }) => _ = parents.insert(*g, None),
            TopForm::Define(g, Expr::Prim { op: MAKE_RECORD_SUBTYPE, args, .. }) => {
                parents.insert(*g, args.last());
            }
            _ => {}
        }
        visit(form.expr(), &mut |e| {
            if let Expr::Prim { op: STRUCTURE_REFERENCE | STRUCTURE_ELEMENT, args, .. } = e {
                made.push(match args.last() {
                    Some(Expr::Global(g, _)) => Some(*g),
                    _ => None,
                });
            }
        });
    }
    // an element is one of its type and of that type's ancestors
    let mut elements = FxHashSet::default();
    while let Some(g) = made.pop() {
        let Some((g, parent)) = g.and_then(|g| Some((g, *parents.get(&g)?))) else { return marked };
        if elements.insert(g)
            && let Some(parent) = parent
        {
            made.push(match parent {
                Expr::Global(p, _) => Some(*p),
                _ => None,
            });
        }
    }
    elements
}

/// Names of the fields, and the description, in the expression that makes a type of records that are not raw and whose
/// fields may hold anything.
fn description(e: &Expr) -> Option<(Vec<Rc<str>>, i64)> {
    let Expr::Prim { op: MAKE_RECORD_TYPE, args, .. } = e else { return None };
    let [_, Expr::Const(fields), Expr::Const(Literal::Number(Number::Int(Int::Fix(about))))] = &args[..] else {
        return None;
    };
    let (mut names, mut rest) = (Vec::new(), fields);
    while let Literal::Pair(p) = rest {
        let Literal::Symbol(name) = &p.0 else { return None };
        names.push(name.clone());
        rest = &p.1;
    }
    (about & RAW == 0).then_some((names, *about))
}

/// The codes of fields that may hold anything, in the expression that makes a type: among others they are words, too.
fn fields_of_any_value(e: &Expr) -> Vec<i64> {
    let Expr::Prim { op: MAKE_RECORD_TYPE, args, .. } = e else { return Vec::new() };
    let Some(Expr::Const(mut rest)) = args.get(1).cloned() else { return Vec::new() };
    let (mut codes, mut at) = (Vec::new(), 0);
    while let Literal::Pair(p) = &rest {
        match &p.0 {
            Literal::Pair(about) => {
                let mut runs = &about.1;
                at += i64::from(!matches!(runs, Literal::Pair(_)));
                while let Literal::Pair(run) = runs {
                    if let Literal::Pair(run) = &run.0
                        && let Literal::Number(Number::Int(Int::Fix(n))) = run.1
                    {
                        at += n;
                    }
                    runs = &run.1;
                }
            }
            _ => {
                codes.push(at);
                at += 1;
            }
        }
        rest = p.1.clone();
    }
    codes
}

/// Type and code of the field that an operation on records names.
pub(super) fn field(args: &[Expr]) -> Option<(GlobalId, i64)> {
    match args {
        [_, Expr::Global(g, _), code @ Expr::Const(_), ..] => Some((*g, field_of(code).code())),
        _ => None,
    }
}

/// The operand that is a record type.
fn type_operand(op: PrimOp) -> Option<usize> {
    match op {
        PrimOp::Record | PrimOp::Op(Op::RawRecord | Op::CompactRecord) | MAKE_RAW_RECORD | STRUCTURE_TYPE => {
            Some(0)
        }
        STRUCTURE_ELEMENT => Some(2),
        STRUCTURE_SWAP => Some(3),
        STRUCTURE_REFERENCE => Some(4),
        PrimOp::Op(o) if o.asks_type() => Some(1),
        _ => None,
    }
}

/// Where the fields lie in raw records, if the type's records may be and ought to be raw.
fn layout(t: &Closed, fields: usize) -> Option<Vec<Slot>> {
    let mut flonums = false;
    let slots = (0..fields as u32).map(|i| {
        let ty = t.fields.get(&i64::from(i)).map_or(Type::NONE, |f| f.0.ty);
        flonums |= ty.is_flonum();
        let kind = match ty {
            t if t.is_flonum() => FieldKind::F64,
            t if t.within(SCALAR) => FieldKind::Any,
            _ => return None,
        };
        Some(Slot::new(kind, true, 8 * i))
    });
    slots.collect::<Option<Vec<_>>>().filter(|_| flonums)
}

/// Says in the expression that makes the type where its fields are.
fn describe(e: &mut Expr, slots: &[Slot]) {
    let Some((names, about)) = description(e) else { return };
    let mut fields = Literal::Nil;
    for (name, slot) in names.into_iter().zip(slots).rev() {
        let field = Literal::Pair(Rc::new((Literal::Symbol(name), code(*slot))));
        fields = Literal::Pair(Rc::new((field, fields)));
    }
    debug_assert_eq!(about >> DESCRIBED_LENGTH_SHIFT, slots.len() as i64);
    if let Expr::Prim { args, .. } = e {
        args[1] = Expr::Const(fields);
        args[2] = Expr::Const(fixnum(about | RAW));
    }
}

fn make_operation_raw(program: &mut Program, raw: &FxHashMap<GlobalId, Vec<Slot>>, e: &mut Expr) {
    let Expr::Prim { op, args, proven, .. } = e else { return };
    let Some(Expr::Global(g, _)) = type_operand(*op).and_then(|i| args.get(i)) else { return };
    let Some(slots) = raw.get(g) else { return };
    match op {
        PrimOp::Op(o) if o.is_field_access() => {
            let Some(slot) = slots.get(field_of(&args[2]).at as usize) else { return };
            args[2] = Expr::Const(code(*slot));
            match (*o, slot.kind) {
                (Op::RecordRef, FieldKind::F64) => *op = PrimOp::Op(Op::RecordFlRef),
                (Op::RecordSet, FieldKind::F64) => {
                    *op = PrimOp::Op(Op::RecordFlSet);
                    *proven = *proven & 3 | 1 << 3;
                }
                _ => {}
            }
        }
        PrimOp::Record => {
            let mut args = std::mem::take(args);
            let rtd = args.remove(0);
            *e = fresh(program, rtd, args, slots);
        }
        _ => {}
    }
}

/// A raw record with these fields.
fn fresh(program: &mut Program, rtd: Expr, args: Vec<Expr>, slots: &[Slot]) -> Expr {
    let prim = |op, args, proven| Expr::Prim { op: PrimOp::Op(op), args, site: Site::NONE, proven };
    let record = program.fresh_var("record");
    let (mut bindings, mut body) = (Vec::new(), Vec::new());
    let words = Expr::Const(fixnum(slots.len() as i64));
    let made = prim(Op::RawRecord, vec![rtd.clone(), words], 0);
    for (x, slot) in args.into_iter().zip(slots) {
        let value = match x {
            Expr::Local(_) | Expr::Const(_) => x,
            x => {
                let v = program.fresh_var("field");
                bindings.push((v, x));
                Expr::Local(v)
            }
        };
        let op = if slot.kind == FieldKind::F64 { Op::RecordFlSet } else { Op::RecordSet };
        let operands = vec![Expr::Local(record), rtd.clone(), Expr::Const(code(*slot)), value];
        body.push(prim(op, operands, 1 | 2 | 1 << 3));
    }
    body.push(Expr::Local(record));
    let made = Expr::Let(vec![(record, made)], Expr::Seq(body).into());
    if bindings.is_empty() { made } else { Expr::Let(bindings, made.into()) }
}

fn code(slot: Slot) -> Literal {
    fixnum(slot.code())
}

fn fixnum(n: i64) -> Literal {
    Literal::Number(Number::Int(Int::Fix(n)))
}

/// The field that operand 2 of an access names.
pub fn field_of(e: &Expr) -> Slot {
    match e {
        Expr::Const(Literal::Number(Number::Int(Int::Fix(code)))) => Slot::of(*code),
        _ => Slot::of(0),
    }
}
