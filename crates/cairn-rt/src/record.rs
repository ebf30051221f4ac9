//! Records: making them, their fields, and what the runtime knows of them for printing and messages.
//!
//! ```text
//!  record  [type word][field]...        raw record  [type word][numbers as in C]...
//! ```
//!
//! An element reference ([`crate::structure`]) is a record of its element's type; its fields are reached from
//! [`place`].
//!
//! What stands behind a type word is in [`crate::record_types`]. Compiled code makes records and reads fields itself;
//! this is for evaluated code, for integers that are no fixnums, and for types that extend others.

use crate::access::{self, list_items, words_mut};
use crate::alloc::{alloc_object_of, write_barrier, written};
use crate::compact;
use crate::elements;
use crate::failure::{self, check, fail, wrong_type};
use crate::num;
use crate::numeric;
use crate::record_types::{self, Compact, Field, Part, RecordType};
use crate::symbol::intern;
use cairn_layout::Value;
use cairn_layout::element;
use cairn_layout::fields::Fields;
use cairn_layout::machine::{Machine, error};
use cairn_layout::object::record::{self, DESCRIBED_LENGTH_SHIFT, FieldKind, Slot};
use cairn_layout::object::{Type, header_length, type_byte};
use cairn_layout::value::TAG_OBJECT;
use cairn_num::{Int, Number};
use std::sync::atomic::Ordering;

/// `(make-record type fields)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_make(ctx: &mut Machine, rtd: Value, fields: Value) -> Value {
    let n = check!(crate::list::checked_length(ctx, "make-record", fields));
    let plain = record::is_type_word(rtd.0) && rtd.0 as u8 == type_byte(Type::Record);
    let described = record_types::get(rtd);
    let of_kinds = described.as_ref().is_some_and(|t| t.fields.iter().any(|f| f.slot.kind != FieldKind::Any));
    if let Some(t) = described.filter(|t| of_kinds && t.fields.len() == n) {
        return make_of_kinds(ctx, rtd, &t, fields);
    }
    if !plain || of_kinds || header_length(rtd.0) != n as u64 {
        return wrong_type(ctx, "make-record", 1, &format!("a type of records with {n} fields"), rtd);
    }
    let v = alloc_object_of(ctx, rtd.0);
    for (slot, x) in words_mut(v).iter_mut().zip(list_items(fields)) {
        *slot = x;
    }
    written(ctx, v);
    v
}

/// A record some of whose fields hold one kind of value only; there are as many values as fields.
fn make_of_kinds(ctx: &mut Machine, rtd: Value, t: &RecordType, fields: Value) -> Value {
    let v = if rtd.0 as u8 == type_byte(Type::Record) && t.compact.is_none() {
        let v = alloc_object_of(ctx, rtd.0);
        for (word, f) in words_mut(v).iter_mut().zip(&t.fields) {
            *word = initial(f.slot.kind);
        }
        written(ctx, v);
        v
    } else {
        cairn_record_make_raw(ctx, rtd)
    };
    for (f, x) in t.fields.iter().zip(list_items(fields)) {
        // Which type a reference is of, only the type's definition knows.
        let reference = f.slot.kind == FieldKind::Ref && x != Value::FALSE;
        if reference || !put(ctx, v, f.slot, x) {
            let who = format!("make-{}: field {}", record_types::type_name(rtd).unwrap_or_default(), f.name);
            let expected = match reference {
                true => "#f (only the constructor of the type's definition takes a record here)".into(),
                false => with_article(f.slot.kind),
            };
            wrong_type(ctx, &who, 0, &expected, x);
            return failure::keep_who(ctx);
        }
    }
    v
}

/// What a field holds before anything is stored in it.
pub fn initial(kind: FieldKind) -> Value {
    match kind {
        FieldKind::Any | FieldKind::Ref | FieldKind::Bool => Value::FALSE,
        FieldKind::F64 | FieldKind::F32 => Value::try_flonum(0.0).expect("zero needs no box"),
        FieldKind::Char => Value::char(0),
        _ => Value::fixnum(0),
    }
}

/// `(make-raw-record type)`: with zeros.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_make_raw(ctx: &mut Machine, rtd: Value) -> Value {
    if record::compact::is_type(rtd.0) {
        return compact::make(ctx, rtd);
    }
    if record::is_type_word(rtd.0)
        && rtd.0 as u8 == type_byte(Type::Record)
        && record_types::get(rtd).is_some_and(|t| t.compact == Some(Compact::Plain))
    {
        let v = alloc_object_of(ctx, rtd.0);
        words_mut(v).fill(Value::FALSE);
        written(ctx, v);
        return v;
    }
    if !record::is_type_word(rtd.0) || rtd.0 as u8 != type_byte(Type::RawRecord) {
        return wrong_type(ctx, "make-raw-record", 1, "a type of raw records", rtd);
    }
    let v = alloc_object_of(ctx, rtd.0);
    // SAFETY: `v` has just been made, with a payload of `length` words.
    unsafe { std::ptr::write_bytes(access::word_address(v, 0), 0, access::length(v)) };
    v
}

fn name_of(v: Value) -> String {
    if access::is(v, Type::Symbol) { access::symbol_text(v) } else { "record".into() }
}

/// The fields in a list of names, of pairs of a name and a code, and of lists of a name and pairs of a code and how
/// many such elements there are.
fn own_fields(list: Value, first: usize) -> Vec<Field> {
    let mut fields = Vec::new();
    for f in list_items(list) {
        let (name, about) = if f.is_pair() { (access::car(f), access::cdr(f)) } else { (f, Value::FALSE) };
        let name: Box<str> = name_of(name).into();
        let slot = match access::fixnum_of(about) {
            Some(code) => Slot::of(code),
            None => Slot::new(FieldKind::Any, false, (first + fields.len()) as u32),
        };
        if !about.is_pair() {
            fields.push(Field { name, slot, part: Part::Whole });
            continue;
        }
        let mut part = Part::First;
        for group in list_items(about) {
            let slot = Slot::of(access::car(group).as_fixnum());
            for k in 0..access::cdr(group).as_fixnum() {
                fields.push(Field { name: name.clone(), slot: slot.element(k), part });
                part = Part::More;
            }
        }
    }
    fields
}

fn make_type(ctx: &mut Machine, name: Value, fields: Value, about: Value, parent: Option<Value>) -> Value {
    let inherited = parent.and_then(record_types::get).map(|p| p.fields.clone()).unwrap_or_default();
    let own = inherited.len();
    let about = about.as_fixnum();
    let mut fields = inherited.into_iter().chain(own_fields(fields, own)).collect::<Vec<_>>();
    fields.shrink_to_fit();
    let compact = (about & record::COMPACT != 0)
        .then(|| if crate::runtime::rt(ctx).heap.facts().indirect { Compact::Pool } else { Compact::Plain });
    if compact == Some(Compact::Plain) {
        fields.iter_mut().for_each(|f| f.slot = f.slot.plain());
    }
    let made = record_types::define(RecordType {
        word: Value::UNSPECIFIED,
        name: name_of(name).into(),
        fields,
        own,
        parent,
        shown: usize::MAX.into(),
        sent: 0.into(),
        kept: false.into(),
        sealed: about & record::SEALED != 0,
        raw: about & record::RAW != 0,
        compact,
        length: (about >> DESCRIBED_LENGTH_SHIFT) as u64,
    });
    crate::runtime::rt(ctx).record_types.push(made);
    if compact == Some(Compact::Pool) && !(record::compact::is_type(made.0) && compact::define(ctx, made)) {
        crate::exhaustion::refuse(ctx, 1 << record::compact::ENTRY_SHIFT);
    }
    made
}

/// `(make-record-type name fields about)`: see `own_fields`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_make_type(ctx: &mut Machine, name: Value, fields: Value, about: Value) -> Value {
    make_type(ctx, name, fields, about, None)
}

/// `(make-record-subtype name fields about parent)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_make_subtype(
    ctx: &mut Machine,
    name: Value,
    fields: Value,
    about: Value,
    parent: Value,
) -> Value {
    match record_types::get(parent) {
        None => wrong_type(ctx, "define-record-type", 0, "a record type to extend", parent),
        Some(p) if p.sealed => {
            let message = format!("the record type {} is sealed: nothing can extend it:", p.name);
            fail(ctx, error::PENDING, "define-record-type", &message, &[name])
        }
        Some(_) => make_type(ctx, name, fields, about, Some(parent)),
    }
}

/// `(record-define name fields sealed? parent who)`: a type made at run time. `fields` is a list of names and of pairs
/// of a name and the name of a kind; `parent` is a type or `#f`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_define(
    ctx: &mut Machine,
    name: Value,
    fields: Value,
    sealed: Value,
    parent: Value,
    who: Value,
) -> Value {
    let who = access::string_text(who);
    let extended = (parent != Value::FALSE).then(|| record_types::get(parent));
    let parent_type = match extended {
        None => None,
        Some(None) => {
            wrong_type(ctx, &who, 0, "a record type to extend", parent);
            return failure::keep_who(ctx);
        }
        Some(Some(p)) if p.sealed => {
            let message = format!("the record type {} is sealed: nothing can extend it:", p.name);
            fail(ctx, error::PENDING, &who, message, &[name]);
            return failure::keep_who(ctx);
        }
        Some(Some(p)) => Some(p),
    };
    let mut kinds = Vec::new();
    for f in list_items(fields) {
        let kind = match f.is_pair() {
            true => FieldKind::by_name(&name_of(access::cdr(f))).filter(|k| *k != FieldKind::Ref),
            false => Some(FieldKind::Any),
        };
        let Some(kind) = kind else {
            let known = "a kind of field: any f64 f32 i8 i16 i32 i64 u8 u16 u32 u64 char bool";
            wrong_type(ctx, &who, 0, known, access::cdr(f));
            return failure::keep_who(ctx);
        };
        kinds.push((name_of(if f.is_pair() { access::car(f) } else { f }), kind));
    }
    let mut layout = match &parent_type {
        Some(p) => Fields::of(p.raw, p.fields.iter().map(|f| f.slot)),
        None => Fields::none(kinds.iter().map(|(_, kind)| *kind)),
    };
    if let (Some(p), Some(f)) = (&parent_type, list_items(fields).zip(&kinds).find(|(_, k)| !layout.fits(k.1))) {
        let message = format!(
            "records of type {} are raw, so a field of a type that extends it must say what number, character or \
             boolean it holds, as ({} f64) does; got",
            p.name, f.1.0
        );
        let got = if f.0.is_pair() { access::car(f.0) } else { f.0 };
        fail(ctx, error::TYPE, &who, message, &[got]);
        return failure::keep_who(ctx);
    }
    let mut all = parent_type.as_ref().map(|p| p.fields.clone()).unwrap_or_default();
    let own = all.len();
    all.extend(kinds.into_iter().map(|(name, kind)| Field {
        name: name.into(),
        slot: layout.add(kind),
        part: Part::Whole,
    }));
    if layout.too_many() {
        fail(ctx, error::RANGE, &who, "a record type with too many fields:", &[name]);
        return failure::keep_who(ctx);
    }
    let made = record_types::define(RecordType {
        word: Value::UNSPECIFIED,
        name: name_of(name).into(),
        fields: all,
        own,
        parent: parent_type.map(|_| parent),
        shown: usize::MAX.into(),
        sent: 0.into(),
        kept: false.into(),
        sealed: sealed.is_true(),
        raw: layout.raw,
        compact: None,
        length: layout.length(),
    });
    crate::runtime::rt(ctx).record_types.push(made);
    made
}

/// `(record-is-a object type)`: is it a record of this type, or of one that extends it?
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_is_a(_ctx: &mut Machine, object: Value, rtd: Value) -> Value {
    Value::bool(is_a(object, rtd))
}

/// Is the object a record of this type, or of one that extends it?
pub fn is_a(object: Value, rtd: Value) -> bool {
    let mut of = type_of(object);
    while let Some(t) = of {
        if t == rtd {
            return true;
        }
        of = record_types::get(t).and_then(|t| t.parent);
    }
    false
}

/// `(record-type record)`: its type.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_type(_ctx: &mut Machine, record: Value) -> Value {
    type_of(record).unwrap_or(Value::FALSE)
}

/// `(record-place object type)`: `#f` if it is no record of the type; else [`place`].
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_place(_ctx: &mut Machine, object: Value, rtd: Value) -> Value {
    if is_a(object, rtd) { place(object) } else { Value::FALSE }
}

/// The type of a record.
#[inline]
pub fn type_of(v: Value) -> Option<Value> {
    if v.is_compact() {
        return compact::type_of(v);
    }
    if element::is(v.0) {
        return record_types::numbered(element::number(v.0));
    }
    if is_element_object(v) {
        return Some(access::word(v, element::TYPE));
    }
    (v.is_object() && record::is_type_word(access::header(v))).then(|| Value(access::header(v)))
}

/// Is it a reference to an element of a structure vector?
#[inline]
pub fn is_element(v: Value) -> bool {
    element::is(v.0) || is_element_object(v)
}

/// Is it such a reference of a collector that knows addresses only?
fn is_element_object(v: Value) -> bool {
    v.is_object() && access::header(v) == element::OBJECT
}

/// What has the fields of a record where records have them: the record itself, or a word that refers into the storage
/// of its element. Good until the next collection.
#[inline]
pub fn place(v: Value) -> Value {
    if element::is(v.0) {
        return elements::place(v);
    }
    if !is_element_object(v) {
        return v;
    }
    let storage = access::word(v, element::STORAGE);
    Value(storage.0 + access::word(v, element::OFFSET).as_fixnum() as u64)
}

/// `(record-fits x code)`: may a field of this kind hold the bignum?
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_fits(_ctx: &mut Machine, x: Value, code: Value) -> Value {
    Value::bool(integer(x, Slot::of(code.as_fixnum()).kind).is_some())
}

/// The integer, if a field of this kind may hold it.
fn integer(x: Value, kind: FieldKind) -> Option<i128> {
    let (lo, hi) = kind.integers()?;
    let n = match num::to_number(x)? {
        Number::Int(Int::Fix(n)) => i128::from(n),
        Number::Int(Int::Big { negative, limbs }) => {
            let [limb] = limbs[..] else { return None };
            if negative { -i128::from(limb) } else { i128::from(limb) }
        }
        _ => return None,
    };
    (lo <= n && n <= hi).then_some(n)
}

/// Address of a raw field.
fn raw(record: Value, slot: Slot) -> *mut u8 {
    if slot.compact.is_some() {
        return compact::field(record, slot).expect("a compact record of the place that this thread runs").0;
    }
    (place(record).0 - TAG_OBJECT + 8 + u64::from(slot.at)) as *mut u8
}

/// Address of a field that is a value.
fn cooked(record: Value, slot: Slot) -> *mut Value {
    (place(record).0 - TAG_OBJECT + 8 + 8 * u64::from(slot.at)) as *mut Value
}

/// What a field holds.
pub enum Contents {
    /// A value.
    Value(Value),
    /// A number that lies in a raw record.
    Number(Number),
}

/// What a field holds. `slot` is one of the record's type.
pub fn contents(record: Value, slot: Slot) -> Contents {
    if !slot.raw {
        // SAFETY: `slot` is a field of the record's type, so a value is there.
        return Contents::Value(unsafe { *cooked(record, slot) });
    }
    if slot.compact.is_some() && slot.kind == FieldKind::Ref {
        return Contents::Value(compact::reference(record, slot));
    }
    let at = raw(record, slot);
    // SAFETY: `slot` is a raw field of the record's type, so a number of this kind is there, aligned for its size.
    unsafe {
        let n = match slot.kind {
            FieldKind::Any => return Contents::Value(*(at as *const Value)),
            FieldKind::F64 => return Contents::Number(Number::Flo(*(at as *const f64))),
            FieldKind::F32 => return Contents::Number(Number::Flo(f64::from(*(at as *const f32)))),
            FieldKind::Char => return Contents::Value(Value::char(*(at as *const u32))),
            FieldKind::Bool => return Contents::Value(Value::bool(*at != 0)),
            FieldKind::I8 => i128::from(*(at as *const i8)),
            FieldKind::I16 => i128::from(*(at as *const i16)),
            FieldKind::I32 => i128::from(*(at as *const i32)),
            FieldKind::I64 => i128::from(*(at as *const i64)),
            FieldKind::U8 => i128::from(*at),
            FieldKind::U16 => i128::from(*(at as *const u16)),
            FieldKind::U32 => i128::from(*(at as *const u32)),
            _ => i128::from(*(at as *const u64)),
        };
        Contents::Number(Number::Int(Int::from(n)))
    }
}

/// What a field holds, as a value. `slot` is one of the record's type.
pub fn get(ctx: &mut Machine, record: Value, slot: Slot) -> Value {
    match contents(record, slot) {
        Contents::Value(v) => v,
        Contents::Number(n) => num::operand::from_number(ctx, &n),
    }
}

/// Stores into a field; `false` if it may not hold `x`. `slot` is one of the record's type.
pub fn put(ctx: &mut Machine, record: Value, slot: Slot, x: Value) -> bool {
    if slot.compact.is_some() && slot.kind == FieldKind::Ref {
        return compact::put_reference(ctx, record, slot, x);
    }
    let at = raw(record, slot);
    let fits = match slot.kind {
        FieldKind::Any | FieldKind::Ref => !slot.raw || !x.is_pointer(),
        FieldKind::F64 | FieldKind::F32 => access::flonum_of(x).is_some(),
        FieldKind::Char => x.is_char(),
        FieldKind::Bool => x == Value::TRUE || x == Value::FALSE,
        kind => integer(x, kind).is_some(),
    };
    if !fits {
        return false;
    }
    if !slot.raw {
        let at = cooked(record, slot);
        // SAFETY: `slot` is a field of the record's type, so a value is there.
        unsafe { *at = x };
        if x.is_pointer() {
            write_barrier(ctx, at);
        }
        return true;
    }
    let double = access::flonum_of(x).unwrap_or(0.0);
    let n = integer(x, slot.kind).unwrap_or(0);
    // SAFETY: `slot` is a raw field of the record's type, so a number of this kind is there, aligned for its size.
    unsafe {
        match slot.kind {
            FieldKind::Any => *(at as *mut Value) = x,
            FieldKind::F64 => *(at as *mut f64) = double,
            FieldKind::F32 => *(at as *mut f32) = double as f32,
            FieldKind::Char => *(at as *mut u32) = x.as_char(),
            FieldKind::Bool => *at = u8::from(x.is_true()),
            kind => match kind.raw_bytes() {
                Some(1) => *at = n as u8,
                Some(2) => *(at as *mut u16) = n as u16,
                Some(4) => *(at as *mut u32) = n as u32,
                _ => *(at as *mut u64) = n as u64,
            },
        }
    }
    true
}

/// `(record-get record code)`: an integer of 64 bits that need not be a fixnum.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_get(ctx: &mut Machine, record: Value, code: Value) -> Value {
    get(ctx, record, Slot::of(code.as_fixnum()))
}

/// `(record-put! record code x)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_put(ctx: &mut Machine, record: Value, code: Value, x: Value) -> Value {
    let slot = Slot::of(code.as_fixnum());
    if put(ctx, record, slot, x) {
        return Value::UNSPECIFIED;
    }
    if let Some(rtd) = compact::target(record, slot).filter(|_| slot.kind == FieldKind::Ref) {
        let expected = format!("a record of type {} or #f", record_types::type_name(rtd).unwrap_or_default());
        let message = instead_of(x, rtd, &expected);
        return fail(ctx, error::TYPE, "", message, &[x]);
    }
    wrong_type(ctx, "", 0, &with_article(slot.kind), x)
}

/// `(record-fill! record code count numbers who)`: gives an array of `count` numbers, in a record that nobody else
/// knows, those of a homogeneous numeric vector or list.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_fill(
    ctx: &mut Machine,
    record: Value,
    code: Value,
    count: Value,
    from: Value,
    who: Value,
) -> Value {
    let (first, count) = (Slot::of(code.as_fixnum()), count.as_fixnum());
    let kind = numeric::kind_of(from).filter(|k| !k.is_complex());
    let given = match kind {
        Some(kind) => access::length(from) >> kind.shift(),
        None => match crate::list::shape(from) {
            crate::list::Shape::Proper(n) => n,
            _ => usize::MAX,
        },
    };
    if given != count as usize {
        let who = access::string_text(who);
        let numbers = failure::with_article(first.kind.expected());
        let expected = format!("{count} numbers, each {numbers}, in a homogeneous vector or list");
        if given == usize::MAX {
            return wrong_type(ctx, &who, 0, &expected, from);
        }
        return fail(ctx, error::RANGE, &who, format!("expected {expected}, got {given}:"), &[from]);
    }
    if let Some(kind) = kind {
        let bytes = numeric::bytes(from);
        if first.raw && kind.bytes() as u64 == first.bytes() && kind.part().integers() == first.kind.integers() {
            // SAFETY: `given == count` and the kinds are equally wide, so the array that begins with `first` has
            // `bytes.len()` bytes.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), raw(record, first), bytes.len()) };
            return Value::UNSPECIFIED;
        }
        for k in 0..count {
            let x = num::operand::from_number(ctx, &numeric::element(kind, bytes, k as usize));
            check!(put_element(ctx, record, first.element(k), x, who));
        }
    } else {
        for (k, x) in list_items(from).enumerate() {
            check!(put_element(ctx, record, first.element(k as i64), x, who));
        }
    }
    Value::UNSPECIFIED
}

/// `(record-part record type places words part)`: a fresh record of the type `part` with what lies in the record.
/// Compiled code does this itself (`cairn-core/src/passes/elements.rs`).
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_part(
    ctx: &mut Machine,
    record: Value,
    rtd: Value,
    places: Value,
    _words: Value,
    part: Value,
) -> Value {
    if !is_a(record, rtd) {
        let expected = record_types::type_name(rtd).unwrap_or_else(|| "record".into());
        let message = instead_of(record, rtd, &failure::with_article(&expected));
        return fail(ctx, error::TYPE, "", message, &[record]);
    }
    let copy = cairn_record_make_raw(ctx, part);
    for place in list_items(places) {
        let (to, from) = (Slot::of(access::car(place).as_fixnum()), Slot::of(access::cdr(place).as_fixnum()));
        let x = get(ctx, record, from);
        put(ctx, copy, to, x);
    }
    copy
}

fn put_element(ctx: &mut Machine, record: Value, slot: Slot, x: Value, who: Value) -> Option<()> {
    let done = put(ctx, record, slot, x).then_some(());
    if done.is_none() {
        wrong_type(ctx, &access::string_text(who), 0, &with_article(slot.kind), x);
    }
    done
}

/// The integer of 64 bits in a raw field of what has its fields, `slot` among them, at `place`.
pub fn integer_at(place: Value, slot: Slot) -> Number {
    let at = (place.0 - TAG_OBJECT + 8 + u64::from(slot.at)) as *const u64;
    // SAFETY: `slot` is a field of 64 bits of what is at `place`, so an aligned word is there.
    let bits = unsafe { *at };
    let signed = slot.kind == FieldKind::I64;
    Number::Int(Int::from(if signed { i128::from(bits as i64) } else { i128::from(bits) }))
}

/// Stores into such a field of 64 bits; `false` if it may not hold `x`.
pub fn put_integer_at(place: Value, slot: Slot, x: Value) -> bool {
    let Some(n) = integer(x, slot.kind) else { return false };
    let at = (place.0 - TAG_OBJECT + 8 + u64::from(slot.at)) as *mut u64;
    // SAFETY: `slot` is a field of 64 bits of what is at `place`, so an aligned word is there.
    unsafe { *at = n as u64 };
    true
}

/// What a record is that has the name of the type `rtd` but is of another one: it may have been defined twice.
fn namesake(x: Value, rtd: Value) -> Option<String> {
    let t = type_of(x).filter(|t| *t != rtd && record_types::type_name(*t) == record_types::type_name(rtd))?;
    let which = if record::number(t.0) < record::number(rtd.0) { "an older" } else { "another" };
    Some(format!("one of {which} definition of {}", record_types::type_name(rtd)?))
}

/// What an error says of `x`, which is not `expected` (with an article), a record of the type `rtd`.
pub fn instead_of(x: Value, rtd: Value, expected: &str) -> String {
    match namesake(x, rtd) {
        Some(what) => format!("expected {expected}, got {what}:"),
        None => format!("expected {expected}, got"),
    }
}

/// `(record-instead object type expected)`: the message of [`instead_of`], where it is about types of one name, or
/// `#f`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_instead(ctx: &mut Machine, object: Value, rtd: Value, expected: Value) -> Value {
    if namesake(object, rtd).is_none() {
        return Value::FALSE;
    }
    let message = instead_of(object, rtd, &access::string_text(expected));
    crate::alloc::make_string(ctx, &message)
}

/// What a field of this kind holds, with an article.
pub fn with_article(kind: FieldKind) -> String {
    failure::with_article(kind.expected()).into_owned()
}

/// `(record-type-show! type count)`: only so many fields of its records are printed.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_show(_ctx: &mut Machine, rtd: Value, count: Value) -> Value {
    if let Some(t) = record_types::get(rtd) {
        t.shown.store(count.as_fixnum() as usize, Ordering::Relaxed);
    }
    Value::UNSPECIFIED
}

/// `(record-type-about type what)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_about(ctx: &mut Machine, rtd: Value, what: Value) -> Value {
    let Some(t) = record_types::get(rtd) else { return Value::FALSE };
    let fields = match what.as_fixnum() {
        0 => return intern(ctx, &t.name),
        1 => &t.fields[t.own..],
        2 => &t.fields[..],
        3 => return t.parent.unwrap_or(Value::FALSE),
        5 => {
            let codes: Vec<Value> = t.fields.iter().map(|f| Value::fixnum(f.slot.code())).collect();
            return crate::alloc::make_list(ctx, &codes);
        }
        6 => return Value::bool(t.compact.is_some()),
        7 => return Value::bool(t.sealed),
        _ => {
            let kind = |f: &Field| match f.part {
                Part::Whole => Some(f.slot.kind.name()),
                Part::First => Some("several"),
                Part::More => None,
            };
            let kinds: Vec<Value> = t.fields.iter().filter_map(kind).map(|name| intern(ctx, name)).collect();
            return crate::alloc::make_list(ctx, &kinds);
        }
    };
    let named = fields.iter().filter(|f| f.part != Part::More);
    let names: Vec<Value> = named.map(|f| intern(ctx, &f.name)).collect();
    crate::alloc::make_list(ctx, &names)
}

/// What a condition object says; see `lib/cairn/control.sld`.
pub struct Condition {
    /// The procedure that failed.
    pub who: Option<String>,
    /// What happened.
    pub message: String,
    /// Offending objects, which complete the sentence.
    pub irritants: Vec<Value>,
}

/// The contents of a condition: a record of a type named `condition` with fields kind, who, message, irritants, site.
pub fn condition(v: Value) -> Option<Condition> {
    if !access::is(v, Type::Record) || access::length(v) != 5 {
        return None;
    }
    let text = |v: Value| access::string_of(v).map(|_| access::string_text(v));
    let message = text(access::word(v, 2))?;
    if record_types::type_name(type_of(v)?).as_deref() != Some("condition") {
        return None;
    }
    let irritants = access::word(v, 3);
    let proper = matches!(crate::list::shape(irritants), crate::list::Shape::Proper(_));
    let irritants = if proper { list_items(irritants).collect() } else { vec![irritants] };
    Some(Condition { who: text(access::word(v, 1)), message, irritants })
}

/// The address in a pointer of C: a raw record of a type named `pointer` with the one field `address`.
pub fn pointer(v: Value) -> Option<u64> {
    if !access::is(v, Type::RawRecord) || access::length(v) != 1 {
        return None;
    }
    let t = record_types::get(type_of(v)?)?;
    let is_pointer = &*t.name == "pointer" && t.fields.len() == 1 && &*t.fields[0].name == "address";
    // SAFETY: `v` is a raw record of length 1, so its payload is one word.
    is_pointer.then(|| unsafe { *(access::word_address(v, 0) as *const u64) })
}
