//! Where the fields of records lie, for the expander, which lays out types that it sees, and for the runtime, which
//! makes types of its own.
//!
//! Records are raw when all fields hold numbers, characters or booleans: then each lies behind the last, aligned for
//! its size, and a type that extends it goes on where it ends. Else each field is a word.

use crate::object::record::{FieldKind, LENGTH_MAX, Slot};

/// The fields so far.
#[derive(Clone, Copy, Debug)]
pub struct Fields {
    /// Records are raw.
    pub raw: bool,
    /// How many there are; of arrays and of records inside, all.
    pub count: u32,
    /// Bytes of those of a raw record.
    pub bytes: u32,
}

impl Fields {
    /// Of a type that extends none, whose fields are of these kinds: there are none yet.
    pub fn none(kinds: impl ExactSizeIterator<Item = FieldKind>) -> Fields {
        let raw = kinds.len() > 0 && kinds.into_iter().all(|kind| kind.raw_bytes().is_some());
        Fields { raw, count: 0, bytes: 0 }
    }

    /// Those of a type that is to be extended.
    pub fn of(raw: bool, slots: impl Iterator<Item = Slot>) -> Fields {
        let mut fields = Fields { raw, count: 0, bytes: 0 };
        for slot in slots {
            fields.count += 1;
            if raw {
                fields.bytes = fields.bytes.max(slot.at + slot.kind.raw_bytes().unwrap_or(8) as u32);
            }
        }
        fields
    }

    /// May a field of this kind be the next? Raw records have no room for values that the collector must see.
    pub fn fits(&self, kind: FieldKind) -> bool {
        !self.raw || kind.raw_bytes().is_some()
    }

    /// Adds a field, which [`Fields::fits`].
    pub fn add(&mut self, kind: FieldKind) -> Slot {
        let size = kind.raw_bytes().unwrap_or(8) as u32;
        self.add_extent(kind, (size, size, 1))
    }

    /// Adds an array, or a record inside of this one: `size` bytes aligned to `align` in a raw record, `values` words
    /// in another one. The slot is the first.
    pub fn add_extent(&mut self, kind: FieldKind, (size, align, values): (u32, u32, u32)) -> Slot {
        let word = self.count;
        self.count = self.count.saturating_add(values);
        if !self.raw {
            return Slot::new(kind, false, word);
        }
        let at = self.bytes.next_multiple_of(align);
        self.bytes = at.saturating_add(size);
        Slot::new(kind, true, at)
    }

    /// Words of a record.
    pub fn length(&self) -> u64 {
        u64::from(if self.raw { self.bytes.div_ceil(8) } else { self.count })
    }

    /// May there be so many?
    pub fn too_many(&self) -> bool {
        self.length() > LENGTH_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_fields_are_aligned_and_an_heir_goes_on() {
        use FieldKind::*;
        let kinds = [I8, F64, Bool];
        let mut fields = Fields::none(kinds.into_iter());
        let slots = kinds.map(|kind| fields.add(kind));
        assert_eq!(slots.map(|s| (s.raw, s.at)), [(true, 0), (true, 8), (true, 16)]);
        let mut heir = Fields::of(true, slots.into_iter());
        assert!(!heir.fits(Any) && !heir.fits(Ref));
        assert_eq!([heir.add(U16).at, heir.add(F32).at, heir.length() as u32], [18, 20, 3]);
    }

    #[test]
    fn fields_that_hold_anything_are_words() {
        use FieldKind::*;
        let mut fields = Fields::none([F64, Any].into_iter());
        assert_eq!([fields.add(F64), fields.add(Any)].map(|s| (s.raw, s.at)), [(false, 0), (false, 1)]);
        assert!(fields.fits(Ref) && !Fields::none([].into_iter()).raw && fields.length() == 2);
    }
}
