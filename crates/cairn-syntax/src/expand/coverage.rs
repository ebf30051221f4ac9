//! Counters in programs: how often each piece of the user's text is evaluated.
//!
//! ```text
//! (define (f x)                 (define (f x) count₀
//!   (if (< x 0)          ⟶        count₁ (if (count₂ (< x 0))
//!       'minus                               (count₃ count₄ 'minus)
//!       (g x)))                              (count₅ count₆ (g x))))
//! ```
//!
//! A [`Point`] is what a counter counts: a compound expression, or an atom that begins its line; a clause of a
//! procedure; a way through a conditional. Texts of lib/ have none, so what the user hands to a macro of lib/ is
//! counted, and what that makes of it is not; the templates of the user's own macros are text like any other. Each
//! piece of text has one counter, however often it is expanded.
//!
//! Invariant: two sessions that expand the same text give the same numbers to the same points.

use super::state::{Counted, Expander, Point, Session};
use crate::diagnostic::Span;
use cairn_core::ir::{Clause, Expr, Literal};
use cairn_core::prim::PrimOp;
use cairn_layout::calls::by_symbol;
use cairn_layout::code::Site;
use cairn_num::{Int, Number};

impl Session {
    /// From now on, what is expanded has counters.
    pub fn count_evaluations(&mut self) {
        self.counters.get_or_insert_default();
    }

    /// What the counters count, by number.
    pub fn points(&self) -> &[Point] {
        self.counters.as_ref().map_or(&[], |c| &c.points)
    }
}

impl Expander<'_> {
    /// The expression behind a counter, if it is of a user's text and there are counters.
    fn counted(&mut self, span: Span, what: Counted, name: &str, e: Expr) -> Expr {
        let Some(counters) = &mut self.s.counters else { return e };
        if self.s.sources.get(span.file as usize).is_none_or(|f| f.library) {
            return e;
        }
        let points = &mut counters.points;
        let number = *counters.numbers.entry((span, what)).or_insert_with(|| {
            points.push(Point { span, what, name: name.into() });
            points.len() - 1
        });
        let args = vec![Expr::Const(Literal::Number(Number::Int(Int::Fix(number as i64))))];
        let op = PrimOp::Rt(by_symbol("cairn_system_count"));
        let count = Expr::Prim { op, args, site: Site::NONE, proven: 0 };
        match e {
            Expr::Seq(mut all) => {
                all.insert(0, count);
                Expr::Seq(all)
            }
            e => Expr::Seq(vec![count, e]),
        }
    }

    /// An expression of the text, counted if it is compound or begins its line. A procedure stays what it is.
    pub(super) fn counted_expression(&mut self, span: Span, compound: bool, e: Expr) -> Expr {
        if self.s.counters.is_none() || is_procedure(&e) || !compound && !self.begins_line(span) {
            return e;
        }
        self.counted(span, Counted::Expression, "", e)
    }

    /// An atom that does not begin its line, but is all that is evaluated there.
    pub(super) fn counted_atom(&mut self, span: Span, e: Expr) -> Expr {
        if self.begins_line(span) { e } else { self.counted_expression(span, true, e) }
    }

    /// The value of a form that a macro has made, counted where the macro is used.
    pub(super) fn counted_use(&mut self, e: Expr) -> Expr {
        match &self.trace {
            Some(step) if self.s.counters.is_some() => {
                let span = step.root.span;
                self.counted_expression(span, true, e)
            }
            _ => e,
        }
    }

    /// A clause of a procedure.
    pub(super) fn counted_clause(&mut self, span: Span, name: &str, clause: Clause) -> Clause {
        if self.s.counters.is_none() {
            return clause;
        }
        let Clause { params, rest, body } = clause;
        Clause { params, rest, body: self.counted(span, Counted::Procedure, name, body) }
    }

    /// A way through a conditional.
    pub(super) fn way(&mut self, conditional: Span, number: usize, e: Expr) -> Expr {
        self.counted(conditional, Counted::Way(number as u32), "", e)
    }

    fn begins_line(&self, span: Span) -> bool {
        let before = self.s.sources.get(span.file as usize).and_then(|f| f.text.get(..span.start as usize));
        before.is_some_and(|text| text.chars().rev().take_while(|c| *c != '\n').all(char::is_whitespace))
    }
}

/// Is this a procedure, perhaps with variables of its own?
fn is_procedure(e: &Expr) -> bool {
    match e {
        Expr::Lambda(_) => true,
        Expr::Let(_, body) => is_procedure(body),
        _ => false,
    }
}
