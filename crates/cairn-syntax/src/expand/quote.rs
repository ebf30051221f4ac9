//! `quote` and `quasiquote`.
//!
//! Constant parts of a quasiquotation stay literals; the rest is consed. `(a ,b ,@c d)` becomes
//! `(%cons 'a (%cons b (append c '(d))))`.
//!
//! A labelled part of a literal is one shared node; data that contain themselves are completed at run time (`cycle`).

use super::core::Core;
use super::cycle;
use super::prims::prim;
use super::state::{Expander, MAX_CONSTANTS, R, grow};
use crate::syntax::{Datum, Syntax};
use cairn_core::ir::{Expr, Literal};
use cairn_core::prim::{Op, PrimOp};
use std::rc::Rc;

/// The result of a quasiquoted part.
enum Part {
    Constant,
    Built(Expr),
}

impl Expander<'_> {
    /// The constant that a datum stands for; aliases become the symbols that the user wrote.
    pub(super) fn literal(&mut self, x: &Syntax) -> R<Literal> {
        if self.contains_itself(x) {
            return self.err_help(x.span, "a datum that contains itself can only be quoted", "'#0=(a b . #0#)");
        }
        self.checked_constant(x)
    }

    /// [`Expander::constant`], unless the constants of the program become too large.
    pub(super) fn checked_constant(&mut self, x: &Syntax) -> R<Literal> {
        let reported = self.constants > MAX_CONSTANTS;
        let l = self.constant(x);
        if self.constants > MAX_CONSTANTS && !reported {
            let message =
                format!("the constants of this program are larger than {} MB", MAX_CONSTANTS * 8 / 1_000_000);
            let d = self.diagnostic(x.span, message).help("keep large data in a file, and read it at run time");
            return Err(d.root_cause().into());
        }
        Ok(l)
    }

    fn contains_itself(&self, x: &Syntax) -> bool {
        self.s.names.label_count() > 0 && cycle::References::default().inside(x)
    }

    /// The constant that a datum without references stands for; only a part of it when constants become too large.
    pub(super) fn constant(&mut self, x: &Syntax) -> Literal {
        self.constants += match &x.datum {
            Datum::String(s) => s.len() / 2,
            Datum::Bytes(b) | Datum::Numbers(_, b) => b.len() / 8,
            Datum::List(items) | Datum::Dotted(items) => 2 * items.len(),
            Datum::Vector(items) => items.len(),
            _ => 0,
        };
        if self.constants > MAX_CONSTANTS {
            return Literal::Nil;
        }
        match &x.datum {
            Datum::Nil => Literal::Nil,
            Datum::Bool(b) => Literal::Bool(*b),
            Datum::Char(c) => Literal::Char(*c),
            Datum::Eof => Literal::Eof,
            Datum::Default => Literal::Default,
            Datum::Unspecified => Literal::Unspecified,
            Datum::Ident(id) => Literal::Symbol(self.name(*id).clone()),
            Datum::Number(n) => Literal::Number((**n).clone()),
            Datum::String(s) => Literal::String(s.clone()),
            Datum::Bytes(b) => Literal::Bytes(b.clone()),
            Datum::Numbers(kind, b) => Literal::Numbers(*kind, b.clone()),
            Datum::List(_) | Datum::Dotted(_) => grow(|| {
                let (items, tail) = x.parts();
                let mut list = tail.map_or(Literal::Nil, |t| self.constant(t));
                for x in items.iter().rev() {
                    list = Literal::Pair(Rc::new((self.constant(x), list)));
                }
                list
            }),
            Datum::Vector(items) => {
                let items: Vec<Literal> = grow(|| items.iter().map(|i| self.constant(i)).collect());
                Literal::Vector(items.into())
            }
            Datum::Labeled(label, items) => match self.s.labelled.get(label.id) {
                Some(l) => l,
                None => {
                    let l = grow(|| self.constant(&items[0]));
                    self.s.labelled.insert(label.id, &l);
                    l
                }
            },
            Datum::Reference(_) => unreachable!("the caller looked for references"),
        }
    }

    /// `(quote x)`.
    pub(super) fn quote(&mut self, x: &Syntax) -> R<Expr> {
        if let Some(e) = self.embedded_object(x) {
            return Ok(e);
        }
        if self.contains_itself(x) { cycle::build(self, x) } else { Ok(Expr::Const(self.checked_constant(x)?)) }
    }

    /// `(quasiquote x)`.
    pub(super) fn quasiquote(&mut self, x: &Syntax) -> R<Expr> {
        let part = self.quasi(x, 0)?;
        self.finish(part, x)
    }

    fn finish(&mut self, part: Part, x: &Syntax) -> R<Expr> {
        match part {
            Part::Constant => Ok(Expr::Const(self.literal(x)?)),
            Part::Built(e) => Ok(e),
        }
    }

    fn quasi(&mut self, x: &Syntax, level: u32) -> R<Part> {
        match &x.datum {
            Datum::List(_) | Datum::Dotted(_) => self.nested(x.span, |e| e.quasi_list(x, level)),
            Datum::Vector(items) => self.nested(x.span, |e| e.quasi_vector(items, x, level)),
            Datum::Labeled(..) if self.contains_itself(x) => Ok(Part::Built(self.quote(x)?)),
            // A part that is computed is computed for each mention.
            Datum::Labeled(_, items) => grow(|| self.quasi(&items[0], level)),
            _ => Ok(Part::Constant),
        }
    }

    fn quasi_vector(&mut self, items: &[Syntax], x: &Syntax, level: u32) -> R<Part> {
        let site = self.site(x.span);
        let splices =
            level == 0 && items.iter().any(|i| matches!(self.unquotation(i), Some((Core::UnquoteSplicing, _))));
        let (op, args) = if splices {
            let Part::Built(list) = self.quasi_items(items, None, level)? else { return Ok(Part::Constant) };
            (PrimOp::by_name("list->vector").expect("a row of the table of runtime calls"), vec![list])
        } else {
            let parts: R<Vec<Part>> = items.iter().map(|i| self.quasi(i, level)).collect();
            let parts = parts?;
            if parts.iter().all(|p| matches!(p, Part::Constant)) {
                return Ok(Part::Constant);
            }
            let args: R<Vec<Expr>> = parts.into_iter().zip(items).map(|(p, i)| self.finish(p, i)).collect();
            (PrimOp::Vector, args?)
        };
        Ok(Part::Built(Expr::Prim { op, args, site, proven: 0 }))
    }

    /// The keyword and operands of `(unquote x …)` and its relatives. `quasiquote` has one operand; the others may have
    /// any number, for `` ``(a ,,@xs) `` makes such forms.
    fn unquotation<'x>(&self, x: &'x Syntax) -> Option<(Core, &'x [Syntax])> {
        let [head, operands @ ..] = x.as_list()? else { return None };
        [Core::Quasiquote, Core::Unquote, Core::UnquoteSplicing]
            .into_iter()
            .find(|k| self.is_keyword(head, *k))
            .filter(|k| *k != Core::Quasiquote || operands.len() == 1)
            .map(|k| (k, operands))
    }

    fn quasi_list(&mut self, x: &Syntax, level: u32) -> R<Part> {
        match self.unquotation(x) {
            Some((Core::Unquote, [operand])) if level == 0 => Ok(Part::Built(self.expr(operand))),
            Some((keyword @ (Core::Unquote | Core::UnquoteSplicing), _)) if level == 0 => {
                let what = if keyword == Core::Unquote { " of several expressions" } else { "" };
                let message = format!("`{}`{what} outside of a list", keyword.name());
                self.err_help(x.span, message, "`(a ,@list b)")
            }
            Some((keyword, operands)) => {
                let inner = if keyword == Core::Quasiquote { level + 1 } else { level - 1 };
                match self.quasi_items(operands, None, inner)? {
                    Part::Constant => Ok(Part::Constant),
                    Part::Built(rest) => {
                        let head = Expr::Const(Literal::Symbol(keyword.name().into()));
                        Ok(Part::Built(prim(Op::Cons, vec![head, rest])))
                    }
                }
            }
            None => {
                let (items, tail) = x.parts();
                self.quasi_items(items, tail, level)
            }
        }
    }

    fn quasi_items(&mut self, items: &[Syntax], tail: Option<&Syntax>, level: u32) -> R<Part> {
        // `(a . ,x)` reads as `(a unquote x)`
        let mut items = items;
        let joined;
        let mut tail = tail;
        if tail.is_none() && items.len() >= 3 {
            let (front, last) = items.split_at(items.len() - 2);
            let pair = Syntax::list(last.to_vec(), last[0].span.to(last[1].span));
            if matches!(self.unquotation(&pair), Some((Core::Unquote | Core::Quasiquote, _))) {
                items = front;
                joined = pair;
                tail = Some(&joined);
            }
        }
        // expand in the order of the text, then cons from the end
        let mut parts = Vec::with_capacity(items.len());
        for x in items {
            match self.unquotation(x) {
                Some((keyword @ (Core::Unquote | Core::UnquoteSplicing), operands)) if level == 0 => {
                    for operand in operands {
                        parts.push((operand, keyword == Core::UnquoteSplicing, Part::Built(self.expr(operand))));
                    }
                }
                _ => parts.push((x, false, self.quasi(x, level)?)),
            }
        }
        let mut list = match tail {
            None => Part::Constant,
            Some(t) => self.quasi(t, level)?,
        };
        let mut constant = match (&list, tail) {
            (Part::Built(_), _) | (_, None) => Literal::Nil,
            (Part::Constant, Some(t)) => self.literal(t)?,
        };
        for (x, splice, part) in parts.into_iter().rev() {
            list = match (splice, part, list) {
                (_, Part::Constant, Part::Constant) => {
                    constant = Literal::Pair(Rc::new((self.literal(x)?, constant)));
                    Part::Constant
                }
                (splice, part, list) => {
                    let e = self.finish(part, x)?;
                    let rest = match list {
                        Part::Constant => Expr::Const(std::mem::replace(&mut constant, Literal::Nil)),
                        Part::Built(e) => e,
                    };
                    Part::Built(match (splice, rest) {
                        (true, Expr::Const(Literal::Nil)) => e,
                        (true, rest) => {
                            let site = self.site(x.span);
                            self.append(e, rest, site)
                        }
                        (false, rest) => prim(Op::Cons, vec![e, rest]),
                    })
                }
            };
        }
        Ok(list)
    }
}
