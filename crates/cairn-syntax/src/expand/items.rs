//! Bodies after scanning: definitions whose right-hand sides are still text.

use super::meaning::{Binding, Target};
use super::trace::Trace;
use crate::diagnostic::Span;
use crate::syntax::{Context, Ident, Items, Syntax};
use cairn_core::ir::Expr;

/// An imported variable that the program defines again.
pub(super) struct Redefined {
    /// What the name meant.
    pub(super) old: Binding,
    /// Index of the first item with a reference.
    pub(super) first_use: Option<usize>,
}

/// One form of a body after scanning.
pub(super) struct Item {
    pub(super) kind: ItemKind,
    pub(super) trace: Trace,
    /// As [`Context::region`].
    pub(super) region: u32,
}

pub(super) enum ItemKind {
    Define { target: Target, id: Ident, rhs: Rhs },
    DefineValues { targets: Vec<Target>, rest: Option<Target>, rhs: Syntax, span: Span },
    Expr(Syntax),
}

/// What a variable is defined as.
pub(super) enum Rhs {
    /// `(define (name . formals) body …)`: the whole form, and whether the name is in the pair or given.
    Procedure {
        form: Items,
        formals: Syntax,
        span: Span,
    },
    Expr(Syntax),
    Built(Expr),
}

/// A definition at top level that is not expanded yet.
pub(super) struct Source {
    pub(super) place: Context,
    pub(super) id: Ident,
    pub(super) rhs: Rhs,
}
