//! What the expander knows of record types.

use super::meaning::Target;
use crate::diagnostic::Span;
use crate::syntax::Ident;
use cairn_layout::object::record::{FieldKind, Slot};
use std::rc::Rc;

/// How many values a field has.
#[derive(Clone)]
pub(super) enum Shape {
    /// One.
    Single,
    /// An array of so many numbers.
    Array(u32),
    /// Those of a record of this type, which is raw.
    Inline(Rc<RecordInfo>),
}

/// What the expander knows of a record type.
pub(super) struct RecordInfo {
    /// The variable that constructors and accessors use.
    pub(super) rtd: Target,
    /// What it extends.
    pub(super) parent: Option<Rc<RecordInfo>>,
    /// All fields, inherited ones first.
    pub(super) fields: Vec<FieldInfo>,
    pub(super) raw: bool,
    /// Its records are compact.
    pub(super) compact: bool,
    pub(super) sealed: bool,
    /// Bytes of the fields in a raw record.
    pub(super) bytes: u32,
    /// Words of the fields in another one.
    pub(super) words: u32,
}

/// What a field of references refers to: the variable of the type, and its name.
pub(super) type Referent = (Target, Rc<str>);

/// A field.
#[derive(Clone)]
pub(super) struct FieldInfo {
    pub(super) name: Rc<str>,
    /// Of an array or record inside of the record: the slot of its first part.
    pub(super) slot: Slot,
    /// What references refer to.
    pub(super) of: Option<Referent>,
    pub(super) shape: Shape,
}

/// A field as it is written.
pub(super) struct Field {
    pub(super) id: Ident,
    pub(super) kind: FieldKind,
    pub(super) of: Option<Referent>,
    pub(super) shape: Shape,
    pub(super) accessor: Option<(Ident, Span)>,
    pub(super) modifier: Option<(Ident, Span)>,
}
