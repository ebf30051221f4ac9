//! Macro uses: which led to a text, and what has come of them.

use crate::diagnostic::Span;
use crate::syntax::Ident;
use cairn_layout::code::Site;
use std::cell::Cell;
use std::rc::Rc;

/// A macro use, and the one whose expansion contained it.
pub(super) struct Step {
    pub(super) name: Ident,
    pub(super) span: Span,
    /// The site of the use; if it was made by a template of the same macro, that of the one it began with.
    pub(super) began: Site,
    /// Uses since the expansion last came to a smaller piece of the user's text.
    pub(super) depth: u32,
    /// That piece.
    pub(super) origin: Span,
    /// The use that does not come out of an expansion.
    pub(super) root: Rc<Root>,
    pub(super) outer: Trace,
}

/// A macro use that the user wrote, and what has come of it.
pub(super) struct Root {
    pub(super) name: Ident,
    pub(super) span: Span,
    /// Items made by the templates, and expressions expanded.
    pub(super) size: Cell<usize>,
}

pub(super) type Trace = Option<Rc<Step>>;

/// How many macro uses, each in the expansion of the next, are looked at to find out where a text came from …
pub(super) const MAKERS: usize = 64;
/// … and so many of other macros around it are shown.
pub(super) const MAKERS_SHOWN: usize = 16;

/// The macro use whose template made a text, of these. Text that stands in one of the uses is the user's argument
/// there, and went through the inner ones.
pub(super) fn maker(span: Span, trace: Option<&Rc<Step>>) -> Option<&Step> {
    let mut from = trace;
    let mut step = trace;
    for _ in 0..MAKERS {
        let Some(s) = step else { break };
        step = s.outer.as_ref();
        if span == s.span || span.is_strictly_inside(s.span) {
            from = step;
        }
    }
    from.map(|s| &**s)
}

impl Drop for Step {
    fn drop(&mut self) {
        // iteratively: chains get long
        let mut next = self.outer.take();
        while let Some(mut step) = next.and_then(Rc::into_inner) {
            next = step.outer.take();
        }
    }
}
