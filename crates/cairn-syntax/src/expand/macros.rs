//! Compiled macros: rules of `syntax-rules`, and transformers that are procedures.

use super::core::Core;
use crate::diagnostic::Span;
use crate::syntax::{Context, Ident, Label, Syntax};
use cairn_core::ir::Expr;

/// A compiled macro.
pub(super) struct Macro {
    pub(super) name: Ident,
    /// Where its templates' symbols are looked up.
    pub(super) context: Context,
    /// In lib/: expansions take the position of the use.
    pub(super) library: bool,
    pub(super) body: Body,
    pub(super) span: Span,
}

pub(super) enum Body {
    Rules(Vec<Rule>),
    Procedure(Procedure),
}

impl Macro {
    /// Is it called with a whole form, be that an identifier or an assignment?
    pub(super) fn takes_identifiers(&self) -> bool {
        matches!(&self.body, Body::Procedure(p) if p.takes_syntax())
    }
    pub(super) fn context(&self) -> Context {
        self.context
    }
    pub(super) fn name(&self) -> Ident {
        self.name
    }
    pub(super) fn span(&self) -> Span {
        self.span
    }
}

pub(super) struct Rule {
    pub(super) pattern: Pattern,
    pub(super) template: Template,
    pub(super) slots: usize,
    pub(super) idents: Vec<Ident>,
    /// Of the pattern behind its first item.
    pub(super) span: Span,
}

pub(super) enum Pattern {
    Any,
    Slot(usize),
    Literal(Ident),
    Seq(Box<SeqPattern>),
    Vector(Box<SeqPattern>),
    Datum(Syntax),
}

/// `(before … repeat ... after … . tail)`.
pub(super) struct SeqPattern {
    pub(super) before: Vec<Pattern>,
    /// The repeated pattern and its slots.
    pub(super) repeat: Option<(Pattern, Vec<usize>)>,
    pub(super) after: Vec<Pattern>,
    pub(super) tail: Option<Pattern>,
}

pub(super) enum Template {
    Slot(usize),
    Ident(usize, Span),
    Datum(Syntax),
    Seq(Vec<Element>, Option<Box<Template>>, Span),
    Vector(Vec<Element>, Span),
    Labeled(Label, Box<Template>, Span),
    Reference(Label, Span),
}

pub(super) struct Element {
    pub(super) template: Template,
    /// For each ellipsis, outermost first: the slots that it iterates over.
    pub(super) ellipses: Vec<Vec<usize>>,
}

/// How a transformer is called, and what the symbols of its result mean.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// `(f form rename compare)`.
    Renaming,
    /// `(f form environment)` with that of the use; symbols mean what they do at the definition.
    Closures,
    /// `(f form environment)` with that of the definition; symbols mean what they do at the use.
    ReversedClosures,
    /// `(f form)`.
    Syntax,
}

impl Way {
    pub(super) fn of(core: Core) -> Option<Way> {
        match core {
            Core::ErMacroTransformer => Some(Way::Renaming),
            Core::ScMacroTransformer => Some(Way::Closures),
            Core::RscMacroTransformer => Some(Way::ReversedClosures),
            _ => None,
        }
    }
}

/// A transformer.
pub(super) struct Procedure {
    pub(super) way: Way,
    pub(super) code: Expr,
}

impl Procedure {
    /// Is it called with identifiers and assignments, too?
    pub(super) fn takes_syntax(&self) -> bool {
        self.way == Way::Syntax
    }
}
