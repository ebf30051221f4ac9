//! Which object a quasi-pointer refers to.
//!
//! Objects of all sizes lie together on a page, so the page is walked from its start until the object is found whose
//! bytes the word points at: in the average case past half of the objects of the page. References to the middle of an
//! object count; a word that points at a prefix, a hole or a free part refers to nothing.

use super::meta_words::{self, Object};
use crate::address::Address;
use crate::find::Finder;
use crate::marks::Starts;
use crate::model::{Located, ObjectModel};
use crate::space::pages::{PageSpace, Role};

/// The object that was found.
pub(super) enum Found {
    /// On a page.
    OnPage(Object),
    /// A large object or a cell.
    Apart(Located),
}

/// The parts of a heap that know where objects are.
pub(super) struct Detector<'a, M> {
    pub pages: &'a PageSpace,
    pub finder: Finder<'a, M>,
}

impl<M: ObjectModel> Detector<'_, M> {
    /// The object around `a`, an address of the region. Copies are none: no word that was there before refers to one.
    pub fn around(&self, a: Address, starts: Starts) -> Option<Found> {
        match self.pages.role(a) {
            Role::NONE => self.finder.around(a, starts).map(Found::Apart),
            Role::TO => None,
            _ => self.on_page(a).map(Found::OnPage),
        }
    }

    fn on_page(&self, a: Address) -> Option<Object> {
        let page = self.pages.page(self.pages.id(a));
        let part = page.filled().into_iter().find(|part| part.contains(a))?;
        let mut found = None;
        // SAFETY: the mutator has closed its pages, and filled them with objects.
        unsafe {
            meta_words::walk(self.finder.model, part, |o| {
                if o.end() > a {
                    found = Some(o).filter(|o| o.span::<M>().contains(a));
                    return false;
                }
                true
            });
        }
        found
    }
}
