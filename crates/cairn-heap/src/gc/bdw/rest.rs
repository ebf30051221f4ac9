//! What libgc has left to be traced, when it has marked what the roots reach.
//!
//! The problem: the frames of a continuation are no words of an object; ephemerons and guardians make tracing go on,
//! and libgc has none: its weak links and finalizers know nothing of a key that keeps a datum. The idea: between
//! marking and sweeping libgc tells us so (`GC_EVENT_MARK_END`), and lets us ask and set mark bits. So the same code
//! deals with what is weak as under every collector ([`crate::weak`]), and what it keeps is traced here, precisely.
//!
//! A word that only looks like a reference may lead to a free cell, to a dead object that libgc has not swept yet,
//! whose words lead anywhere, or to an object of another kind than its tag says. So what is reached from such words is
//! marked as libgc does it: by the size of its cell, all of whose words only look like references.
//!
//! Cost: as for marking, but only what nothing but frames of continuations, an ephemeron, a guardian or a dying port
//! keeps; and a few nanoseconds for each object that is marked, to find the continuations.
//!
//! # What holds
//!
//! Unsafe code here relies on this, and on nothing else:
//!
//! * *Still.* Libgc has stopped the world and has marked, and it sweeps when we are done: no cell is freed or
//!   handed out.
//! * *Cells.* What [`RootVisitor::slot`] accepts is marked only where libgc says that the address is in its heap;
//!   libgc's functions may be asked about any address, and `base` gives the start of a cell or nothing.
//! * *Precise words* (of roots, and of objects that they reach) are references by the contracts of [`RootVisitor`]
//!   and [`ObjectModel`]: what they refer to is a whole object.
//! * *Ambiguous words* promise nothing. A cell that is found by one is read as words within the size that libgc
//!   gives for it, each of which only looks like a reference; it is never measured as an object, but for a
//!   continuation, which is known by the descriptor in its first word and by its size.
//! * *One pointer back.* `note_continuation` gets the [`Rest`] that called, and nobody else uses it meanwhile.

#![allow(unsafe_op_in_unsafe_fn)] // One algorithm, safe by what is listed under "What holds".

use super::libgc::{ATOMIC, Functions};
use crate::address::{Address, Span, WORD};
use crate::client::{AmbiguousVisitor, Client, RootVisitor, WeakVisitor};
use crate::model::{ObjectModel, RefKind};
use crate::weak::{Watched, WeakTracing};
use cairn_layout::collector::CELL_GRANULE;
use cairn_layout::object::continuation;
use std::ffi::c_void;

/// The tracer.
pub(super) struct Rest<'a, M> {
    model: &'a M,
    gc: &'static Functions,
    stack: Vec<u64>,
    /// What words that look like references lead to.
    cells: Vec<Address>,
    continuations: Vec<Address>,
    watched: Watched,
}

impl<'a, M: ObjectModel> Rest<'a, M> {
    pub fn new(model: &'a M, gc: &'static Functions) -> Self {
        let (stack, cells, continuations) = (Vec::new(), Vec::new(), Vec::new());
        Rest { model, gc, stack, cells, continuations, watched: Watched::default() }
    }

    /// Notes the continuations that libgc has marked.
    ///
    /// # Safety
    /// libgc has just marked.
    pub unsafe fn find_continuations(&mut self) {
        (self.gc.enumerate_reachable_objects_inner)(note_continuation::<M>, (&raw mut *self).cast());
    }

    fn owns(&self, a: Address) -> bool {
        // SAFETY: `is_heap_ptr` may be asked about any address.
        unsafe { (self.gc.is_heap_ptr)(a.bytes() as *const c_void) != 0 }
    }

    /// # Safety
    /// An object, or a chunk, of libgc's starts there.
    unsafe fn mark(&self, a: Address) -> bool {
        let fresh = (self.gc.is_marked)(a.bytes() as *const c_void) == 0;
        if fresh {
            (self.gc.set_mark_bit)(a.bytes() as *const c_void);
        }
        fresh
    }

    /// Marks what all words of the cell at `a` lead to, whatever is there.
    unsafe fn look_into(&mut self, a: Address) {
        let mut bytes = 0;
        let kind = (self.gc.get_kind_and_size)(a.bytes() as *const c_void, &mut bytes);
        if kind != ATOMIC {
            note_continuation::<M>(a.bytes() as *mut c_void, bytes, (&raw mut *self).cast());
            self.ambiguous_words(a.words(), bytes / WORD as usize);
        }
    }

    unsafe fn look_at(&mut self, w: u64) {
        let (a, kind) = (M::address(w), M::kind(w));
        if kind == RefKind::Pair {
            return self.words(a.words(), 2);
        }
        let m = self.model.measure(kind, a.load());
        if m.continuation {
            self.continuations.push(a);
        }
        if !m.leaf {
            let model = self.model;
            model.scan(a, m.bytes, Span::new(a, a.plus(m.bytes)), self);
        }
    }
}

/// Libgc knows nothing of an object but its size.
const CONTINUATION_BYTES: usize = (WORD * continuation::LEN).next_multiple_of(CELL_GRANULE) as usize;

/// # Safety
/// `rest` is a [`Rest`] that nobody else uses meanwhile.
unsafe extern "C" fn note_continuation<M: ObjectModel>(object: *mut c_void, bytes: usize, rest: *mut c_void) {
    if bytes != CONTINUATION_BYTES {
        return;
    }
    let (rest, a) = (&mut *rest.cast::<Rest<'_, M>>(), Address(object as u64));
    let first = a.load();
    // A free cell that some word looks like a reference to begins with a link.
    let is_link = first == 0 || (rest.gc.is_heap_ptr)(first as *const c_void) != 0;
    if !is_link
        && M::kind_of(first) == RefKind::Procedure
        && rest.model.measure(RefKind::Procedure, first).continuation
    {
        rest.continuations.push(a);
    }
}

impl<M: ObjectModel> RootVisitor for Rest<'_, M> {
    unsafe fn slot(&mut self, slot: *mut u64) {
        let w = *slot;
        if M::is_reference(w) && self.owns(M::address(w)) && self.mark(M::address(w)) {
            self.watched.note(M::address(w));
            self.stack.push(w);
        }
    }

    fn mark_chunk(&mut self, chunk: Address) {
        // SAFETY: `chunk` is what `allocate_chunk` gave, an object of libgc's.
        unsafe { self.mark(chunk) };
    }
}

impl<M: ObjectModel> AmbiguousVisitor for Rest<'_, M> {
    fn ambiguous(&mut self, word: u64) {
        // As libgc does: what is displaced like a reference is one.
        // SAFETY: `base` may be asked about any address; what comes back is null or the start of a cell.
        unsafe {
            let a = Address((self.gc.base)(word as *mut c_void) as u64);
            if a.0 != 0 && M::is_reference(word) && M::address(word) == a && self.mark(a) {
                self.watched.note(a);
                self.cells.push(a);
            }
        }
    }
}

impl<M: ObjectModel> WeakVisitor for Rest<'_, M> {
    const EVERYTHING: bool = true;

    unsafe fn survivor(&self, w: u64) -> Option<u64> {
        let a = M::address(w);
        (!self.owns(a) || (self.gc.is_marked)(a.bytes() as *const c_void) != 0).then_some(w)
    }
}

impl<M: ObjectModel, C: Client> WeakTracing<C> for Rest<'_, M> {
    unsafe fn trace(&mut self, client: &mut C) {
        loop {
            while let Some(w) = self.stack.pop() {
                self.look_at(w);
            }
            if let Some(a) = self.cells.pop() {
                self.look_into(a);
            } else if let Some(k) = self.continuations.pop() {
                client.trace_continuation(k, self);
            } else {
                return;
            }
        }
    }
    fn watched(&mut self) -> &mut Watched {
        &mut self.watched
    }
    fn holder(&self, _: u64) -> Option<Address> {
        None
    }
}
