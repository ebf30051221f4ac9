//! Quoted data that contain themselves.
//!
//! Literals of Core have shared parts but no cycles. So a reference is `#f` in the literal, and assignments put in
//! what it refers to when the program starts. Literals are nodes with an identity, and the rest of the program reaches
//! this one through a hidden global only, so that no pass can see the `#f` and rely on it:
//!
//! ```text
//! '#0=(a b . #0#)   ⟶   (define cycle '(a b . #f))
//!                       (set-cdr! '(b . #f) '(a b . #f))              the same two nodes as above
//! ```

use super::prims::{fixnum, prim};
use super::state::{Expander, R, grow};
use crate::syntax::{Datum, Syntax};
use cairn_core::ir::{Expr, Literal, TopForm};
use cairn_core::prim::Op;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Which data have references inside, by the addresses of their items.
#[derive(Default)]
pub(super) struct References(FxHashMap<usize, bool>);

impl References {
    /// Is there a reference in the datum?
    pub(super) fn inside(&mut self, x: &Syntax) -> bool {
        match &x.datum {
            Datum::Reference(_) => true,
            Datum::List(items) | Datum::Dotted(items) | Datum::Vector(items) | Datum::Labeled(_, items) => {
                if let Some(known) = self.0.get(&items.address()) {
                    return *known;
                }
                let found = grow(|| items.iter().fold(false, |found, i| self.inside(i) | found));
                self.0.insert(items.address(), found);
                found
            }
            _ => false,
        }
    }
}

#[derive(Default)]
struct Builder {
    references: References,
    patches: Vec<Patch>,
}

/// An assignment of what the label stands for.
struct Patch {
    op: Op,
    container: Literal,
    index: Option<usize>,
    label: u32,
}

/// A part: a literal, or what a label stands for.
enum Part {
    Literal(Literal),
    Label(u32),
}

/// The expression for a quoted datum with references.
pub(super) fn build(x: &mut Expander, datum: &Syntax) -> R<Expr> {
    let mut b = Builder::default();
    let root = b.part(x, datum);
    let target = |part: &Part| match part {
        Part::Literal(l) => Some(l.clone()),
        Part::Label(id) => x.s.labelled.get(*id),
    };
    let value = target(&root);
    let targets: Option<Vec<Literal>> = b.patches.iter().map(|p| target(&Part::Label(p.label))).collect();
    let (Some(value), Some(targets)) = (value, targets) else {
        return x.err(datum.span, "this refers to a label outside of the quotation");
    };
    let g = x.fresh_global("cycle", true);
    x.push_form(TopForm::Define(g, Expr::Const(value)));
    for (Patch { op, container, index, .. }, target) in b.patches.into_iter().zip(targets) {
        let mut args = vec![Expr::Const(container)];
        args.extend(index.map(|i| fixnum(i as i64)));
        args.push(Expr::Const(target));
        x.push_form(TopForm::Expr(prim(op, args)));
    }
    Ok(Expr::Global(g, x.site(datum.span)))
}

impl Builder {
    fn part(&mut self, x: &mut Expander, datum: &Syntax) -> Part {
        if !self.references.inside(datum) {
            return Part::Literal(x.constant(datum));
        }
        grow(|| match &datum.datum {
            Datum::Labeled(label, items) => {
                if let Some(l) = x.s.labelled.get(label.id) {
                    return Part::Literal(l);
                }
                let part = self.part(x, &items[0]);
                // otherwise it is a second label of something around it
                if let Part::Literal(l) = &part {
                    x.s.labelled.insert(label.id, l);
                }
                part
            }
            Datum::Vector(items) => {
                let mut labels = Vec::new();
                let mut literals = Vec::with_capacity(items.len());
                for (i, item) in items.iter().enumerate() {
                    let (l, label) = self.part(x, item).split();
                    literals.push(l);
                    labels.extend(label.map(|label| (i, label)));
                }
                let container = Literal::Vector(literals.into());
                for (i, label) in labels {
                    self.patch(Op::VectorSet, &container, Some(i), label);
                }
                Part::Literal(container)
            }
            Datum::Reference(label) => Part::Label(label.id),
            _ => {
                let (items, tail) = datum.parts();
                let mut rest = tail.map_or(Part::Literal(Literal::Nil), |t| self.part(x, t));
                for item in items.iter().rev() {
                    let (car, car_label) = self.part(x, item).split();
                    let (cdr, cdr_label) = rest.split();
                    let pair = Literal::Pair(Rc::new((car, cdr)));
                    car_label.into_iter().for_each(|l| self.patch(Op::SetCar, &pair, None, l));
                    cdr_label.into_iter().for_each(|l| self.patch(Op::SetCdr, &pair, None, l));
                    rest = Part::Literal(pair);
                }
                rest
            }
        })
    }

    fn patch(&mut self, op: Op, container: &Literal, index: Option<usize>, label: u32) {
        self.patches.push(Patch { op, container: container.clone(), index, label });
    }
}

impl Part {
    /// What stands in the literal, and what to put in later.
    fn split(self) -> (Literal, Option<u32>) {
        match self {
            Part::Literal(l) => (l, None),
            Part::Label(id) => (Literal::Bool(false), Some(id)),
        }
    }
}
