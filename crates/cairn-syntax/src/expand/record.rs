//! `define-record-type`.
//!
//! ```text
//! (define-record-type point          point      = (make-rtd 'point '(x y))          from (cairn records)
//!   (make-point x y)                 make-point = (lambda (x y) (%record point x y))
//!   point?                       ⟶   point?     = (lambda (r) (%record-instance? r point))
//!   (x point-x)                      point-x    = (lambda (r) (%record-ref r point 0))
//!   (y point-y set-point-y!))        point-y    = …
//! ```
//!
//! Checks in accessors carry their names, so that a failing one can say `point-x`, and no position: inlined or not, the
//! error is where the accessor is called. Angle brackets
//! around the type's name are left out of the name that people see.

use super::prims::prim_at;
use super::scan::{Item, Rhs};
use super::scope::Target;
use super::{Expander, R};
use crate::diagnostic::Span;
use crate::syntax::{Datum, Ident, Syntax};
use cairn_core::ir::{Clause, Expr, Lambda, Literal, VarId};
use cairn_core::prim::{Op, PrimOp};
use cairn_layout::code::Site;
use cairn_num::{Int, Number};
use std::rc::Rc;

const HELP: &str = "(define-record-type name (constructor field …) predicate (field accessor [modifier]) …)";

struct Field {
    id: Ident,
    accessor: Option<(Ident, Span)>,
    modifier: Option<(Ident, Span)>,
}

impl Expander<'_> {
    pub(super) fn scan_record(&mut self, form: &Syntax, parts: &[Syntax], items: &mut Vec<Item>) -> R<()> {
        let [_, name, constructor, predicate, fields @ ..] = parts else {
            return self.err_help(form.span, "bad `define-record-type`", HELP);
        };
        let type_id = match (name.as_ident(), name.as_list()) {
            (Some(id), _) => id,
            (None, Some([first, ..])) if first.as_ident().is_some() => first.as_ident().unwrap_or(Ident(0)),
            _ => return self.err_help(name.span, "the name of the record type is expected here", HELP),
        };
        let fields = self.record_fields(fields)?;
        let rtd = self.declare(type_id, name.span)?;
        let full_name = self.name(type_id).clone();
        let shown = full_name.strip_prefix('<').and_then(|n| n.strip_suffix('>')).unwrap_or(&full_name);
        let mut field_names = Literal::Nil;
        for f in fields.iter().rev() {
            field_names = Literal::Pair(Rc::new((Literal::Symbol(self.name(f.id).clone()), field_names)));
        }
        let args = vec![Expr::Const(Literal::Symbol(shown.into())), Expr::Const(field_names)];
        let made = self.library_call("records", "make-rtd", args, form.span)?;
        self.built(items, rtd, type_id, made);

        self.record_constructor(constructor, &fields, rtd, items)?;
        match (&predicate.datum, predicate.as_ident()) {
            (_, Some(id)) => {
                let target = self.declare(id, predicate.span)?;
                self.record_lambda(
                    items,
                    target,
                    id,
                    &["object"],
                    predicate.span,
                    |rtd, vars, site| prim_at(Op::IsInstance, vec![Expr::Local(vars[0]), rtd], site),
                    rtd,
                );
            }
            (Datum::Bool(false), _) => {}
            _ => return self.err_help(predicate.span, "the name of the predicate is expected here", HELP),
        }
        for (i, f) in fields.iter().enumerate() {
            let index = || Expr::Const(Literal::Number(Number::Int(Int::Fix(i as i64))));
            if let Some((id, span)) = f.accessor {
                let target = self.declare(id, span)?;
                self.record_lambda(
                    items,
                    target,
                    id,
                    &["record"],
                    span,
                    |rtd, vars, site| prim_at(Op::RecordRef, vec![Expr::Local(vars[0]), rtd, index()], site),
                    rtd,
                );
            }
            if let Some((id, span)) = f.modifier {
                let target = self.declare(id, span)?;
                self.record_lambda(
                    items,
                    target,
                    id,
                    &["record", "value"],
                    span,
                    |rtd, vars, site| {
                        prim_at(
                            Op::RecordSet,
                            vec![Expr::Local(vars[0]), rtd, index(), Expr::Local(vars[1])],
                            site,
                        )
                    },
                    rtd,
                );
            }
        }
        Ok(())
    }

    fn record_fields(&mut self, specs: &[Syntax]) -> R<Vec<Field>> {
        let mut fields: Vec<Field> = Vec::new();
        for spec in specs {
            let all = match spec.as_ident() {
                Some(_) => std::slice::from_ref(spec),
                None => spec.as_list().unwrap_or(&[]),
            };
            let ids: Option<Vec<(Ident, Span)>> =
                all.iter().map(|x| x.as_ident().map(|id| (id, x.span))).collect();
            let Some(ids @ [_, ..]) = ids.as_deref().filter(|ids| ids.len() <= 3) else {
                return self.err_help(spec.span, "not a field", HELP);
            };
            let id = ids[0].0;
            if fields.iter().any(|f| f.id == id) {
                return self.err(spec.span, format!("the field `{}` appears twice", self.name(id)));
            }
            fields.push(Field { id, accessor: ids.get(1).copied(), modifier: ids.get(2).copied() });
        }
        Ok(fields)
    }

    fn record_constructor(&mut self, x: &Syntax, fields: &[Field], rtd: Target, items: &mut Vec<Item>) -> R<()> {
        if let Datum::Bool(false) = x.datum {
            return Ok(());
        }
        let (id, id_span, chosen): (Ident, Span, Vec<usize>) = match (x.as_ident(), x.as_list()) {
            (Some(id), _) => (id, x.span, (0..fields.len()).collect()),
            (None, Some([name, params @ ..])) if name.as_ident().is_some() => {
                let mut chosen = Vec::new();
                for p in params {
                    let Some(i) = p.as_ident().and_then(|id| fields.iter().position(|f| f.id == id)) else {
                        let message = format!("`{}` is not a field of this record", self.source_text(p));
                        return self.err_help(p.span, message, HELP);
                    };
                    if chosen.contains(&i) {
                        return self.err(p.span, "this field is initialized twice");
                    }
                    chosen.push(i);
                }
                (name.as_ident().unwrap_or(Ident(0)), name.span, chosen)
            }
            _ => return self.err_help(x.span, "the constructor is expected here", HELP),
        };
        let target = self.declare(id, id_span)?;
        let names: Vec<Rc<str>> = chosen.iter().map(|i| self.name(fields[*i].id).clone()).collect();
        let names: Vec<&str> = names.iter().map(|n| &**n).collect();
        self.record_lambda(
            items,
            target,
            id,
            &names,
            id_span,
            |rtd, vars, site| {
                let mut args = vec![rtd];
                for i in 0..fields.len() {
                    args.push(match chosen.iter().position(|c| *c == i) {
                        Some(p) => Expr::Local(vars[p]),
                        None => Expr::Const(Literal::Bool(false)),
                    });
                }
                Expr::Prim { op: PrimOp::Record, args, site, proven: 0 }
            },
            rtd,
        );
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn record_lambda(
        &mut self,
        items: &mut Vec<Item>,
        target: Target,
        id: Ident,
        params: &[&str],
        span: Span,
        body: impl Fn(Expr, &[VarId], cairn_layout::code::Site) -> Expr,
        rtd: Target,
    ) {
        let params: Vec<VarId> = params.iter().map(|p| self.s.program.fresh_var(p)).collect();
        let site = self.site(span);
        let rtd = self.target(rtd, span);
        let body = body(rtd, &params, self.accessor_site(id));
        let clauses = vec![Clause { params, rest: None, body }];
        let e = Expr::Lambda(Lambda { name: self.name(id).clone(), clauses, site });
        self.built(items, target, id, e);
    }

    /// The position of what can fail in an accessor: where it is called, under the accessor's name.
    fn accessor_site(&mut self, id: Ident) -> Site {
        let who = if self.module().builtin {
            self.public_name(id)
        } else {
            let name = self.name(id).clone();
            Some(self.s.program.procedure_name(&name))
        };
        Site::NONE.with_who(who)
    }

    fn built(&mut self, items: &mut Vec<Item>, target: Target, id: Ident, e: Expr) {
        self.push_definition(target, id, Rhs::Built(e), items);
    }
}
