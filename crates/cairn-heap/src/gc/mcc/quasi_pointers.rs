//! Which object a quasi-pointer refers to.
//!
//! Objects of all sizes lie together on a page, so the page is walked from its start until the object is found whose
//! bytes the word points at: in the average case past half of the objects of the page. References to the middle of an
//! object count; a word that points at a prefix, a hole or a free part refers to nothing.
//!
//! Two proposals of the paper make this cheaper ([`crate::Proposals`]). *Batched*: the words of a stage are sorted
//! first, and a walk goes on where the one before stopped. *Start bits*: the first walk over a page in a collection
//! notes where objects start, and later words are answered from there in constant time.

use super::meta_words::{self, Object};
use crate::address::{Address, BLOCK_BYTES, Span, WORD};
use crate::find::Finder;
use crate::marks::Starts;
use crate::model::{Located, ObjectModel};
use crate::space::own::NoSpaces;
use crate::space::pages::{PageId, PageSpace, Role};

/// The object that was found.
pub(super) enum Found {
    /// On a page.
    OnPage(Object),
    /// A large object or a cell.
    Apart(Located),
}

/// Where the last walk stopped: in which part of a page, and how far.
#[derive(Clone, Copy, Default)]
pub(super) struct Resume {
    part: Span,
    at: Address,
}

/// The parts of a heap that know where objects are.
pub(super) struct Detector<'a, M> {
    pub pages: &'a mut PageSpace,
    pub finder: Finder<'a, M, NoSpaces>,
    /// Of each page, by its number: whether it has start bits. None are to be made if this is missing.
    pub indexed: Option<&'a mut Vec<PageId>>,
    /// Words come in order.
    pub resume: Option<&'a mut Resume>,
    /// Counts objects walked over.
    pub walked: &'a mut u64,
}

impl<M: ObjectModel> Detector<'_, M> {
    /// The object around `a`, an address of the region. Copies are none: no word that was there before refers to one.
    pub fn around(&mut self, a: Address, starts: Starts) -> Option<Found> {
        match self.pages.role(a) {
            Role::NONE => self.finder.around(a, starts).map(Found::Apart),
            Role::TO => None,
            _ => self.on_page(a).map(Found::OnPage),
        }
    }

    fn on_page(&mut self, a: Address) -> Option<Object> {
        let id = self.pages.id(a);
        let part = self.pages.page(id).filled().into_iter().find(|part| part.contains(a))?;
        if self.indexed.is_some() {
            return self.by_start_bits(id, a);
        }
        let mut found = None;
        let mut rest = part;
        if let Some(r) = &self.resume
            && r.part == part
            && r.at <= a
        {
            rest.start = r.at;
        }
        // SAFETY: `rest` is the end of a filled part of a page, from the start of an object on; the mutator has closed
        // its pages.
        unsafe {
            meta_words::walk(self.finder.model, rest, |o| {
                rest.start = o.meta;
                *self.walked += 1;
                if o.end() > a {
                    found = Some(o).filter(|o| o.span::<M>().contains(a));
                    return false;
                }
                true
            });
        }
        if let Some(r) = &mut self.resume {
            **r = Resume { part, at: rest.start };
        }
        found
    }

    /// Start bits of a page stand at its meta words. Those of its neighbours in the block do no harm: what starts there
    /// ends there.
    fn by_start_bits(&mut self, id: PageId, a: Address) -> Option<Object> {
        let (marks, model) = (self.finder.marks, self.finder.model);
        let page = *self.pages.page(id);
        if !self.pages.has_start_bits(id) {
            self.indexed.as_mut()?.push(id);
            self.pages.set_start_bits(id, true);
            for part in page.filled() {
                // SAFETY: `part` is a filled part of a page, which the mutator has closed.
                unsafe {
                    meta_words::walk(model, part, |o| {
                        marks.set(o.meta);
                        *self.walked += 1;
                        true
                    });
                }
            }
        }
        let block = Span::new(page.span.start, a);
        let mut at = a;
        loop {
            // A page may be longer than a block, and the object before `a` begin in an earlier one.
            if let Some(meta) = marks.last_start(at, Starts::Now) {
                // SAFETY: `meta` has a start bit, which the walk above has set, or an earlier one: so it is the meta
                // word of an object.
                let o = unsafe { meta_words::object_at(model, meta) }.ok()?;
                return Some(o).filter(|o| o.span::<M>().contains(a));
            }
            let before = Address(at.0 & !(BLOCK_BYTES - 1)).minus(WORD);
            if !block.contains(before) {
                return None;
            }
            at = before;
        }
    }
}
