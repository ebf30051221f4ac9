//! Records, and how their type descriptors look to the runtime.
//!
//! ```text
//!  record                         type descriptor (itself a record)
//!  [header][rtd][field 0]...      [header][rtd of rtds][name: symbol][field names: list]...
//! ```
//!
//! The descriptor of descriptors has `#f` for its own. The library defines descriptors; the runtime reads names from
//! them, for printing. Records come in from anywhere, so nothing here trusts the shape of a descriptor.

use crate::access::{self, list_items, words_mut};
use crate::alloc::{alloc_object, written};
use crate::failure::check;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::Type;

/// `(make-record rtd fields)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_record_make(ctx: &mut Machine, rtd: Value, fields: Value) -> Value {
    let n = check!(crate::list::checked_length(ctx, "make-record", fields));
    let v = alloc_object(ctx, Type::Record, 0, n as u64 + 1);
    let words = words_mut(v);
    words[0] = rtd;
    for (slot, x) in words[1..].iter_mut().zip(list_items(fields)) {
        *slot = x;
    }
    written(ctx, v);
    v
}

/// Is this record a type descriptor: the descriptor of descriptors, or an instance of it?
pub fn is_descriptor(record: Value) -> bool {
    let rtd = access::word(record, 0);
    let is_root =
        |v: Value| access::is(v, Type::Record) && access::length(v) > 0 && access::word(v, 0) == Value::FALSE;
    rtd == Value::FALSE || is_root(rtd)
}

/// The name of a record type, without the angle brackets of `<point>`.
pub fn type_name(rtd: Value) -> Option<String> {
    if !access::is(rtd, Type::Record) || access::length(rtd) < 2 {
        return None;
    }
    let name = access::word(rtd, 1);
    let text = if access::is(name, Type::Symbol) {
        access::symbol_text(name)
    } else if access::is(name, Type::String) {
        access::string_text(name)
    } else {
        return None;
    };
    let inner = text.strip_prefix('<').and_then(|t| t.strip_suffix('>')).filter(|t| !t.is_empty());
    Some(inner.map(str::to_string).unwrap_or(text))
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
    if !access::is(v, Type::Record) || access::length(v) != 6 {
        return None;
    }
    let text = |v: Value| access::string_of(v).map(|_| access::string_text(v));
    let message = text(access::word(v, 3))?;
    if type_name(access::word(v, 0)).as_deref() != Some("condition") {
        return None;
    }
    let irritants = access::word(v, 4);
    let proper = matches!(crate::list::shape(irritants), crate::list::Shape::Proper(_));
    let irritants = if proper { list_items(irritants).collect() } else { vec![irritants] };
    Some(Condition { who: text(access::word(v, 2)), message, irritants })
}

/// The fields of a record that people see: all, unless its type's list of field names ends with a symbol; then those
/// that are named.
pub fn shown_fields<'a>(v: Value) -> &'a [Value] {
    let fields = &access::words(v)[1..];
    let rtd = access::word(v, 0);
    if !access::is(rtd, Type::Record) || access::length(rtd) < 3 {
        return fields;
    }
    let (mut names, mut named) = (access::word(rtd, 2), 0);
    while names.is_pair() && named < fields.len() {
        (names, named) = (access::cdr(names), named + 1);
    }
    if access::is(names, Type::Symbol) { &fields[..named] } else { fields }
}

/// The name of field `i` (from 0) of records of this type. Field names may be symbols or lists that begin with one.
pub fn field_name(rtd: Value, i: usize) -> Option<String> {
    if !access::is(rtd, Type::Record) || access::length(rtd) < 3 {
        return None;
    }
    let fields = access::word(rtd, 2);
    let field = match access::vector_of(fields) {
        Some(items) => items.get(i).copied()?,
        None => list_items(fields).nth(i)?,
    };
    let field = if field.is_pair() { access::car(field) } else { field };
    access::is(field, Type::Symbol).then(|| access::symbol_text(field))
}
