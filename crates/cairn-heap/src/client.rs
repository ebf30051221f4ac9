//! What a collection asks of the language runtime, its [`Client`].
//!
//! The client knows where the roots are and what the frames of a continuation look like; it shows both to a
//! [`RootVisitor`]. All of this is generic, never dynamic, so that visiting a slot inlines into the client's loops.

use crate::address::Address;

/// What is done with each root. Implemented by collectors and by the checker.
pub trait RootVisitor {
    /// Does the collection look at young objects only? Then a client need not show words that it has shown to an
    /// earlier collection and that have not been written since: what they refer to is not young any more.
    const YOUNG_ONLY: bool = false;

    /// Visits one word. If it refers to an object that moves, the word is updated.
    ///
    /// # Safety
    /// `slot` is a valid, 8-aligned word. If the object model takes it for a reference into the heap, it refers to a
    /// live object.
    unsafe fn slot(&mut self, slot: *mut u64);

    /// Visits `n` consecutive words.
    ///
    /// # Safety
    /// At `start` are `n` valid, 8-aligned words. Each that the object model takes for a reference into the heap refers
    /// to a live object.
    #[inline(always)]
    unsafe fn words(&mut self, start: *mut u64, n: usize) {
        for i in 0..n {
            // SAFETY: `start.add(i)` is the `i`-th of `n` valid words (`# Safety`).
            unsafe { self.slot(start.add(i)) }
        }
    }

    /// Visits `n` words of static data, outside of the heap. Whoever stores a reference there marks the card of the
    /// word, as for words of objects; so a collection of young objects looks at dirty cards only, as far as no others
    /// have the same cards.
    ///
    /// # Safety
    /// At `start` are `n` valid, 8-aligned words. Each that the object model takes for a reference into the heap refers
    /// to a live object.
    #[inline(always)]
    unsafe fn static_words(&mut self, start: *mut u64, n: usize) {
        // SAFETY: `n` valid words are at `start` (`# Safety`).
        unsafe { self.words(start, n) }
    }

    /// Keeps the stack chunk at this address (as returned by `Heap::alloc_chunk`) through this collection.
    fn mark_chunk(&mut self, chunk: Address);
}

/// What is done with each word that may or may not refer to an object: integers of the size of an address among them,
/// and references to the middle of an object.
pub trait AmbiguousVisitor {
    /// Shows one word.
    fn ambiguous(&mut self, word: u64);

    /// Shows `n` consecutive words.
    ///
    /// # Safety
    /// At `start` are `n` words that can be read.
    unsafe fn ambiguous_words(&mut self, start: *const u64, n: usize) {
        for i in 0..n {
            // SAFETY: `start.add(i)` is the `i`-th of `n` words that can be read (`# Safety`).
            self.ambiguous(unsafe { *start.add(i) });
        }
    }
}

/// What is known once everything reachable has been traced.
pub trait WeakVisitor: RootVisitor {
    /// Everything has been traced, not the young objects alone.
    const EVERYTHING: bool;

    /// What the reference `word` has become: `None` if its object is dead.
    ///
    /// # Safety
    /// `word` refers to an object that was alive after the last collection, or was made since.
    unsafe fn survivor(&self, word: u64) -> Option<u64>;
}

/// The language runtime, as the collector sees it.
///
/// A collection calls `visit_roots` first, and `trace_continuation` meanwhile; then `visit_dying`, and then
/// `visit_weak`. (One of everything does all of this twice: first for young objects.)
pub trait Client {
    /// Are there words that may or may not be references: does [`Client::visit_ambiguous`] show any? The same at every
    /// collection of a heap. Then nothing is unreachable for certain: such a client frees no stack chunk by hand.
    const AMBIGUOUS: bool = false;

    /// Shows every root that may or may not be a reference, before anything moves. What it refers to, at the start
    /// or in the middle of an object, lives on and stays in place; a word that refers to nothing does no harm.
    fn visit_ambiguous<V: AmbiguousVisitor>(&mut self, _visitor: &mut V) {}

    /// Shows the ambiguous roots to a check, which must leave behind nothing of what the client notes for a
    /// collection: it may not meet all that lives for an ambiguous word.
    fn audit_ambiguous<V: AmbiguousVisitor>(&mut self, visitor: &mut V) {
        self.visit_ambiguous(visitor);
    }

    /// Shows words that may or may not be references, of memory beside the heap that may be dead: what they refer to
    /// does not move, but nothing lives for them. Where something is found to be alive after all, its words are to be
    /// shown again: see [`Client::trace_continuation`]. Only collectors without generations ask.
    fn visit_pinning<V: AmbiguousVisitor>(&mut self, _visitor: &mut V) {}

    /// Visits every root: globals, literals, machine slots, spilled values, the frames of every current stack
    /// segment; and marks every current stack chunk.
    fn visit_roots<V: RootVisitor>(&mut self, visitor: &mut V);

    /// Visits the frames that the continuation object at `k` covers, and marks their chunk.
    ///
    /// Called once for each continuation that a collection copies. The object's raw words (chunk, sp, base) are valid;
    /// its values may not have been updated yet, and must be left alone: the collector visits them itself. A client
    /// with ambiguous roots may show the frames' words as such, if [`Client::visit_pinning`] has shown them, too.
    fn trace_continuation<V: RootVisitor + AmbiguousVisitor>(&mut self, k: Address, visitor: &mut V);

    /// What strong references reach is known. The client may keep other objects all the same, by visiting slots that
    /// refer to them: those that it has something to do for before they die.
    fn visit_dying<V: WeakVisitor>(&mut self, _visitor: &mut V) {}

    /// What survives is known: the client updates its weak references, and drops those to dead objects. It keeps
    /// nothing.
    fn visit_weak<V: WeakVisitor>(&mut self, _visitor: &mut V) {}

    /// For the checker: like [`Client::visit_roots`], but the frames are read by other means than the collector's,
    /// which complain of what is wrong with them, and may spoil what no live map speaks of.
    fn audit_roots<V: RootVisitor>(&mut self, visitor: &mut V) -> Result<(), String> {
        self.visit_roots(visitor);
        Ok(())
    }

    /// For the checker: like [`Client::trace_continuation`], likewise.
    fn audit_continuation<V: RootVisitor + AmbiguousVisitor>(
        &mut self,
        k: Address,
        visitor: &mut V,
    ) -> Result<(), String> {
        self.trace_continuation(k, visitor);
        Ok(())
    }

    /// For the checker, before it looks at the descriptor of a procedure or heap frame: is its code known?
    fn audit_code(&mut self, _code: u64) -> Result<(), String> {
        Ok(())
    }
}
