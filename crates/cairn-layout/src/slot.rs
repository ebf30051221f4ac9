//! What the place of a record's field says of the bytes there.

use crate::object::record::{FieldKind, Slot};

impl Slot {
    /// Does a flonum lie in it as a double or a float?
    pub const fn is_double(self) -> bool {
        self.raw && matches!(self.kind, FieldKind::F64 | FieldKind::F32)
    }
    /// Bytes that it takes in a record that is not compact.
    pub const fn bytes(self) -> u64 {
        match self.kind.raw_bytes() {
            Some(n) if self.raw => n,
            _ => 8,
        }
    }
    /// Element `k` of an array whose first element is this.
    pub const fn element(self, k: i64) -> Slot {
        let unit = if self.raw { self.bytes() } else { 1 };
        Slot { at: self.at + (k as u64 * unit) as u32, ..self }
    }
}
