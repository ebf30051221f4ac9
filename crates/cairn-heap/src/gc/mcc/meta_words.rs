//! Objects on pages: meta words with two state bits, and holes.
//!
//! ```text
//!  meta word          bit 63  VISITED   reached by this collection: copied if not pinned
//!                     bit 62  PINNED    stays where it is: treated by marking, not by copying
//!
//!  a copied object    │ meta, VISITED │ the new reference │ …
//!  a hole             │ bytes, 0xFF, 0 │ what was there …
//! ```
//!
//! Both bits are clear between collections. A hole is what the sweep leaves of a dead object on a promoted page: it has
//! the form of a prefix, of a kind that does not exist. Words of 0 between objects are nothing.

use crate::address::{Address, Span, WORD};
use crate::model::{Described, ObjectModel};

/// Stays where it is.
pub(super) const PINNED: u64 = 1 << 62;
/// Reached by this collection.
pub(super) const VISITED: u64 = 1 << 63;
/// The state bits.
pub(super) const STATE: u64 = PINNED | VISITED;

const HOLE_KIND: u64 = 0xFF;

/// The meta word of a hole of so many bytes, itself included.
pub(super) const fn hole(whole: u64) -> u64 {
    (whole - WORD) << 16 | HOLE_KIND << 8
}

/// Bytes of the hole that begins with this word, itself included, if one does.
#[inline(always)]
pub(super) const fn hole_bytes(word: u64) -> Option<u64> {
    if word & 7 == 0 && word >> 8 & 0xFF == HOLE_KIND { Some(WORD + (word >> 16)) } else { None }
}

/// An object that was found by walking.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    /// Where its meta word is.
    pub meta: Address,
    /// What that says.
    pub is: Described,
}

impl Object {
    /// Where references to it point.
    #[inline(always)]
    pub fn start<M: ObjectModel>(&self) -> Address {
        if M::is_prefixed(self.is.kind) { self.meta.plus(WORD) } else { self.meta }
    }
    /// One past its end.
    #[inline(always)]
    pub fn end(&self) -> Address {
        self.meta.plus(self.is.whole)
    }
    /// Where it lies, without its prefix.
    pub fn span<M: ObjectModel>(&self) -> Span {
        Span::new(self.start::<M>(), self.end())
    }
    /// The reference to it.
    pub fn reference<M: ObjectModel>(&self) -> u64 {
        M::reference(self.start::<M>(), self.is.kind)
    }
}

/// Where the meta word of the object of this reference is.
#[inline(always)]
pub(super) fn meta_of<M: ObjectModel>(reference: u64) -> Address {
    let a = M::address(reference);
    if M::is_prefixed(M::kind(reference)) { a.minus(WORD) } else { a }
}

/// The object with its meta word at `at`; or, if there is none, how many bytes to go on.
///
/// # Safety
/// `at` is in the filled part of a page, where an object, a hole or an unused word begins.
#[inline(always)]
pub(super) unsafe fn object_at<M: ObjectModel>(model: &M, at: Address) -> Result<Object, u64> {
    // SAFETY: `at` is in the filled part of a page (`# Safety`), so the word is initialised.
    let word = unsafe { at.load() };
    if word == 0 {
        return Err(WORD);
    }
    match hole_bytes(word) {
        Some(bytes) => Err(bytes),
        None => Ok(Object { meta: at, is: model.describe(word & !STATE) }),
    }
}

/// Walks from object to object through a filled part of a page, as long as `f` returns true.
///
/// # Safety
/// `part` is one that its page says is filled: objects, holes and unused words lie side by side there.
#[inline(always)]
pub(super) unsafe fn walk<M: ObjectModel>(model: &M, part: Span, mut f: impl FnMut(Object) -> bool) {
    let mut at = part.start;
    while at < part.end {
        // SAFETY: `at < part.end`, and from the start on it went from object to object of a filled part (`# Safety`).
        match unsafe { object_at(model, at) } {
            Ok(o) if !f(o) => return,
            Ok(o) => at = o.end(),
            Err(bytes) => at = at.plus(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::c::{CObjects, Nature};
    use crate::model::scheme::Scheme;
    use cairn_layout::collector::prefix;
    use cairn_layout::object::{AllocKind, SEQUENCE_FLAGS, Type, header};

    #[test]
    fn no_object_looks_like_a_hole_and_state_bits_change_no_size() {
        let mut c = CObjects::default();
        let layout = c.define(3, 0b101);
        for n in [0, 1, 7, 255, 65_535, 1 << 20, 1 << 30] {
            for nature in [Nature::Typed(layout, n), Nature::Untyped(n), Nature::Atomic(n)] {
                let h = c.header(nature);
                assert!(hole_bytes(h).is_none() && h & STATE == 0);
                assert_eq!(c.describe(h).whole, c.bytes(nature));
                assert_eq!(c.describe(h).untyped, matches!(nature, Nature::Untyped(_)));
            }
            for (kind, before) in [(AllocKind::Pair, 8), (AllocKind::Procedure, 8)] {
                let p = prefix(kind, 16 + 8 * n);
                assert!(hole_bytes(p).is_none() && p & STATE == 0);
                assert_eq!(Scheme.describe(p).whole, before + 16 + 8 * n);
            }
            for (ty, flags) in
                [(Type::Vector, SEQUENCE_FLAGS), (Type::String, SEQUENCE_FLAGS), (Type::Opaque, 0xFF)]
            {
                let h = header(ty, flags, n);
                assert!(hole_bytes(h).is_none() && h & STATE == 0);
                assert_eq!(Scheme.describe(h).whole, cairn_layout::object::object_bytes(h));
            }
            assert_eq!(hole_bytes(hole(16 + 8 * n)), Some(16 + 8 * n));
        }
    }
}
