//! What identifiers mean: bindings, scopes, and the tables of modules and libraries.

use super::core::Core;
use crate::diagnostic::Span;
use crate::syntax::Ident;
use cairn_core::ir::{GlobalId, VarId};
use cairn_core::prim::PrimOp;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What an identifier means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Binding {
    Core(Core),
    Macro(u32),
    Local(VarId),
    Global(GlobalId),
    Prim(PrimOp),
    /// A pattern variable of `syntax-case`: the variable that holds what it matched, and how many ellipses follow it.
    Pattern(VarId, u32),
}

pub(super) const NONE: u32 = u32::MAX;

pub(super) struct Entry {
    pub(super) ident: Ident,
    pub(super) depth: u32,
    pub(super) binding: Binding,
    /// The entry that this one hides.
    pub(super) hidden: u32,
}

/// The open local scopes.
#[derive(Default)]
pub(super) struct Scopes {
    /// Innermost entry of each identifier.
    pub(super) heads: Vec<u32>,
    pub(super) entries: Vec<Entry>,
}

impl Scopes {
    /// The innermost binding that is visible at a depth.
    pub(super) fn entry(&self, id: Ident, depth: u32) -> Option<&Entry> {
        let mut at = *self.heads.get(id.0 as usize)?;
        while at != NONE {
            let e = &self.entries[at as usize];
            if e.depth <= depth {
                return Some(e);
            }
            at = e.hidden;
        }
        None
    }
    /// Is the identifier bound in the scope at exactly this depth?
    pub(super) fn bound_at(&self, id: Ident, depth: u32) -> bool {
        match self.heads.get(id.0 as usize) {
            Some(&at) if at != NONE => self.entries[at as usize].depth == depth,
            _ => false,
        }
    }
    pub(super) fn bind(&mut self, id: Ident, depth: u32, binding: Binding) {
        if self.heads.len() <= id.0 as usize {
            self.heads.resize(id.0 as usize + 1, NONE);
        }
        let head = &mut self.heads[id.0 as usize];
        self.entries.push(Entry { ident: id, depth, binding, hidden: *head });
        *head = self.entries.len() as u32 - 1;
    }
    pub(super) fn truncate(&mut self, mark: usize) {
        while self.entries.len() > mark {
            let e = self.entries.pop().expect("longer than the mark");
            self.heads[e.ident.0 as usize] = e.hidden;
        }
    }
}

/// The body of a `let-syntax` whose definitions belong to the body around it: what its keywords mean there.
pub(super) struct Region {
    pub(super) keywords: FxHashMap<Ident, Binding>,
    /// Of the body around it.
    pub(super) depth: u32,
    /// The region around it, as [`crate::syntax::Context::region`].
    pub(super) outer: u32,
}

/// How a top-level binding came about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Imported,
    /// Imported, if the name has no other meaning.
    Offered,
    Defined,
}

/// What libraries an import is of: Chez Scheme's own has R6RS's names, and of both meanings its own is the wider.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Chez,
    R6rs,
    Other,
}

/// A top-level binding.
#[derive(Clone, Copy)]
pub(super) struct Entrance {
    pub(super) binding: Binding,
    pub(super) origin: Origin,
    pub(super) family: Family,
    pub(super) span: Span,
}

/// A namespace: a library or the program.
pub(super) struct Module {
    /// For messages; `None` for the program.
    pub(super) name: Option<Rc<str>>,
    /// Part of lib/.
    pub(super) builtin: bool,
    pub(super) table: FxHashMap<Ident, Entrance>,
    /// Globals that are referred to but not defined (yet).
    pub(super) unbound: FxHashMap<Ident, (GlobalId, Span)>,
    /// Variables whose names mean something else now, such as a macro. Code from before refers to them; so if the name
    /// is a variable's again, it is theirs.
    pub(super) hidden: FxHashMap<Ident, GlobalId>,
}

/// What looking up gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    Bound(Binding),
    /// Base identifier and the module where it has no meaning.
    Unbound(Ident, u32),
}

/// Where a definition goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(super) enum Target {
    Local(VarId),
    Global(GlobalId),
}

/// A place in the stack of scopes to return to.
pub(super) struct Mark {
    pub(super) entries: usize,
    pub(super) depth: u32,
}

/// A loaded library, or one being loaded (then its exports are empty).
pub(super) struct Library {
    pub(super) module: u32,
    pub(super) loading: bool,
    pub(super) exports: FxHashMap<Ident, Binding>,
}

impl Library {
    pub(super) fn get(&self, id: Ident) -> Option<Binding> {
        self.exports.get(&id).copied()
    }
    pub(super) fn bindings(&self) -> impl Iterator<Item = (Ident, Binding)> {
        self.exports.iter().map(|(id, b)| (*id, *b))
    }
}
