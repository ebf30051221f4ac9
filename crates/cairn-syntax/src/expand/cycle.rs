//! Quoted data that contain themselves.
//!
//! Literals of Core are trees, so a cyclic one is built when the program starts, by a hidden global:
//!
//! ```text
//! '#0=(a b . #0#)   ⟶   (define cycle (let ((p (cons 'b #f))) (let ((l (cons 'a p))) (set-cdr! p l) l)))
//! ```
//!
//! Only the pairs and vectors that lead to a reference are built; what contains none stays a literal. Pairs and
//! vectors that hold a reference get a variable, hold `#f` at first, and are patched at the end.

use super::prims::prim;
use super::{Expander, R, grow};
use crate::syntax::{Datum, Syntax};
use cairn_core::ir::{Expr, Literal, TopForm, VarId};
use cairn_core::prim::{Op, PrimOp};
use cairn_layout::code::Site;
use cairn_num::{Int, Number};

#[derive(Default)]
struct Builder {
    /// Bindings in order; each uses earlier ones only.
    bindings: Vec<(VarId, Expr)>,
    labels: Vec<(u32, VarId)>,
    /// Operation, container, index of a vector, label to store.
    patches: Vec<(Op, VarId, Option<usize>, u32)>,
}

/// What goes into a slot: an expression, or a label to patch in later.
enum Slot {
    Expr(Expr),
    Label(u32),
}

/// The expression for a quoted datum with labels.
pub(super) fn build(x: &mut Expander, datum: &Syntax) -> R<Expr> {
    let mut b = Builder::default();
    let value = match b.datum(x, datum)? {
        Slot::Expr(e) => e,
        Slot::Label(n) => return x.err(datum.span, format!("label #{n}= is not defined before this")),
    };
    let mut body = Vec::new();
    for (op, container, index, label) in b.patches {
        let Some((_, target)) = b.labels.iter().find(|(n, _)| *n == label) else {
            return x
                .err(datum.span, format!("the datum with the label #{label}= lies outside of this quotation"));
        };
        let mut args = vec![Expr::Local(container)];
        args.extend(index.map(|i| Expr::Const(Literal::Number(Number::Int(Int::Fix(i as i64))))));
        args.push(Expr::Local(*target));
        body.push(prim(op, args));
    }
    body.push(value);
    let mut e = Expr::Seq(body);
    for binding in b.bindings.into_iter().rev() {
        e = Expr::Let(vec![binding], e.into());
    }
    let g = x.fresh_global("cycle", true);
    x.push_form(TopForm::Define(g, e));
    Ok(Expr::Global(g, x.site(datum.span)))
}

impl Builder {
    fn datum(&mut self, x: &mut Expander, datum: &Syntax) -> R<Slot> {
        match &datum.datum {
            Datum::Reference(n) => Ok(Slot::Label(*n)),
            Datum::Labeled(n, items) => {
                let Slot::Expr(e) = grow(|| self.datum(x, &items[0]))? else {
                    return x.err(datum.span, "a label that stands for itself");
                };
                let v = self.bind(x, e);
                self.labels.push((*n, v));
                Ok(Slot::Expr(Expr::Local(v)))
            }
            _ => match x.literal(datum) {
                Ok(l) => Ok(Slot::Expr(Expr::Const(l))),
                Err(_) => grow(|| self.compound(x, datum)).map(Slot::Expr),
            },
        }
    }

    fn compound(&mut self, x: &mut Expander, datum: &Syntax) -> R<Expr> {
        if let Datum::Vector(items) = &datum.datum {
            let mut args = Vec::new();
            let mut later = Vec::new();
            for (i, item) in items.iter().enumerate() {
                match self.datum(x, item)? {
                    Slot::Expr(e) => args.push(e),
                    Slot::Label(n) => {
                        args.push(placeholder());
                        later.push((i, n));
                    }
                }
            }
            let v = self.bind(x, Expr::Prim { op: PrimOp::Vector, args, site: Site::NONE, proven: 0 });
            self.patches.extend(later.into_iter().map(|(i, n)| (Op::VectorSet, v, Some(i), n)));
            return Ok(Expr::Local(v));
        }
        let (items, tail) = datum.parts();
        let mut rest = match tail {
            Some(t) => self.datum(x, t)?,
            None => Slot::Expr(Expr::Const(Literal::Nil)),
        };
        for item in items.iter().rev() {
            let (car, car_label) = split(self.datum(x, item)?);
            let (cdr, cdr_label) = split(rest);
            let v = self.bind(x, prim(Op::Cons, vec![car, cdr]));
            self.patches.extend(car_label.map(|n| (Op::SetCar, v, None, n)));
            self.patches.extend(cdr_label.map(|n| (Op::SetCdr, v, None, n)));
            rest = Slot::Expr(Expr::Local(v));
        }
        Ok(split(rest).0)
    }

    fn bind(&mut self, x: &mut Expander, e: Expr) -> VarId {
        let v = x.s.program.fresh_var("part");
        self.bindings.push((v, e));
        v
    }
}

fn split(slot: Slot) -> (Expr, Option<u32>) {
    match slot {
        Slot::Expr(e) => (e, None),
        Slot::Label(n) => (placeholder(), Some(n)),
    }
}

fn placeholder() -> Expr {
    Expr::Const(Literal::Bool(false))
}
