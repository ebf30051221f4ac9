//! Collectors and what they ask of the language runtime.
//!
//! A collector composes spaces into an algorithm. It implements [`Plan`] and publishes its facts
//! (`cairn_layout::facts`) for code generation. The runtime is a [`Client`]: it knows where the roots are and
//! what the frames of a continuation look like; it shows both to a [`RootVisitor`]. All of this is generic,
//! never dynamic, so that visiting a slot inlines into the client's loops.
//!
//! Adding a collector: a folder `gc/NAME/`, a variant in `heap::Selected`, a row in `facts::COLLECTORS`.

pub mod r#gen;

use crate::address::Address;
use crate::error::OutOfMemory;
use crate::heap::Core;
use crate::model::ObjectModel;
use crate::stats::Reason;

/// What is done with each root. Implemented by collectors and by the checker.
pub trait RootVisitor {
    /// Visits one word. If it refers to an object that moves, the word is updated.
    ///
    /// # Safety
    /// `slot` is a valid, 8-aligned word. If the object model takes it for a reference into the heap, it refers to a
    /// live object.
    unsafe fn slot(&mut self, slot: *mut u64);

    /// Visits `n` consecutive words.
    ///
    /// # Safety
    /// As for [`RootVisitor::slot`], for each word.
    #[inline(always)]
    unsafe fn words(&mut self, start: *mut u64, n: usize) {
        for i in 0..n {
            // SAFETY: by the contract of this function.
            unsafe { self.slot(start.add(i)) }
        }
    }

    /// Keeps the stack chunk at this address (as returned by `Heap::alloc_chunk`) through this collection.
    fn mark_chunk(&mut self, chunk: Address);
}

/// What is done with each word that may or may not refer to an object: integers of the size of an address among them, and
/// references to the middle of an object.
pub trait AmbiguousVisitor {
    /// Shows one word.
    fn ambiguous(&mut self, word: u64);

    /// Shows `n` consecutive words.
    ///
    /// # Safety
    /// They can be read.
    unsafe fn ambiguous_words(&mut self, start: *const u64, n: usize) {
        for i in 0..n {
            // SAFETY: by the contract of this function.
            self.ambiguous(unsafe { *start.add(i) });
        }
    }
}

/// The language runtime, as the collector sees it.
pub trait Client {
    /// Are there words that may or may not be references: does [`Client::visit_ambiguous`] show any? The same at every
    /// collection of a heap. Then nothing is unreachable for certain: such a client frees no stack chunk by hand.
    const AMBIGUOUS: bool = false;

    /// Shows every root that may or may not be a reference, before anything moves. What it refers to, at the start
    /// or in the middle of an object, lives on and stays in place; a word that refers to nothing does no harm.
    fn visit_ambiguous<V: AmbiguousVisitor>(&mut self, _visitor: &mut V) {}

    /// Visits every root: globals, literals, machine slots, spilled values, the frames of every current stack
    /// segment; and marks every current stack chunk.
    fn visit_roots<V: RootVisitor>(&mut self, visitor: &mut V);

    /// Visits the frames that the continuation object at `k` covers, and marks their chunk.
    ///
    /// Called once for each continuation that a collection copies. The object's raw words (chunk, sp, base) are
    /// valid; its values may not have been updated yet, and must be left alone: the collector visits them itself.
    fn trace_continuation<V: RootVisitor>(&mut self, k: Address, visitor: &mut V);

    /// For the checker: like [`Client::visit_roots`], but the frames are read by other means than the collector's, which
    /// complain of what is wrong with them, and may spoil what no live map speaks of.
    fn audit_roots<V: RootVisitor>(&mut self, visitor: &mut V) -> Result<(), String> {
        self.visit_roots(visitor);
        Ok(())
    }

    /// For the checker: like [`Client::trace_continuation`], likewise.
    fn audit_continuation<V: RootVisitor>(&mut self, k: Address, visitor: &mut V) -> Result<(), String> {
        self.trace_continuation(k, visitor);
        Ok(())
    }

    /// For the checker, before it looks at the descriptor of a procedure or heap frame: is its code known?
    fn audit_code(&mut self, _code: u64) -> Result<(), String> {
        Ok(())
    }
}

/// What a collection is asked to cover.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// Whatever the policy says.
    Auto,
    /// Young objects, unless the heap is at its maximum.
    Minor,
    /// Everything.
    Major,
}

/// The interface of a collector towards the heap.
pub(crate) trait Plan {
    /// Bounds of the extent being filled: its cursors right after it was handed out.
    fn current(&self) -> (Address, Address);
    /// The next extent, with room for `need` bytes, or `None` when a collection is due.
    fn refill(&mut self, core: &mut Core, lo: Address, hi: Address, need: u64) -> Option<(Address, Address)>;
    /// Room for a small object, collecting or not: beyond the end of the extent, and of the nursery, if need be.
    fn allocate(
        &mut self,
        core: &mut Core,
        lo: &mut Address,
        hi: &mut Address,
        bytes: u64,
        from_below: bool,
    ) -> Result<Address, OutOfMemory>;
    /// A fresh extent with room for `need` bytes, for a heap check that asks for more than the nursery has.
    fn close_and_extend(
        &mut self,
        core: &mut Core,
        lo: &mut Address,
        hi: &mut Address,
        need: u64,
    ) -> Result<(), OutOfMemory>;
    /// Leaves compiled code no more of its extent than `CHECK_RESERVE` bytes, which an earlier heap check may have
    /// promised it: so its next heap check fails, at the latest after so many bytes.
    fn hide(&mut self, core: &mut Core, lo: &mut Address, hi: &mut Address) -> Result<(), OutOfMemory>;
    /// Has a collection been asked for?
    fn wants_collection(&self) -> bool;
    /// Asks for a collection at the next refill.
    fn want(&mut self, reason: Reason, major: bool);
    /// Collects. Afterwards a fresh extent is current.
    fn collect<M: ObjectModel, C: Client>(
        &mut self,
        core: &mut Core,
        model: &M,
        client: &mut C,
        lo: Address,
        hi: Address,
        request: Request,
    ) -> Result<(), OutOfMemory>;
    /// Gives pages that the mutator has not come to yet back to the system.
    fn trim(&mut self);
    /// Bytes the mutator has taken from the nursery since the last collection.
    fn nursery_used(&self) -> u64;
    /// Blocks that must stay available for survivors.
    fn reserve(&self) -> u32;
}
