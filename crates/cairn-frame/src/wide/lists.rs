//! Operands and parameters beyond the limit: lists, vectors and packs; deep nests of operands as chains of bindings.
//!
//! Operands are consed in the order of their evaluation and the list is reversed afterwards: so nothing but the list is
//! in waiting meanwhile, and an operand whose continuation is entered again makes a list of its own.

use super::packs::field;
use super::widths::{Listed, Wide, is_atom};
use cairn_core::deep;
use cairn_core::ir::*;
use cairn_core::prim::{Op, PrimOp};
use cairn_layout::calls::by_symbol;
use cairn_layout::code::{Site, expected_values};
use cairn_num::{Int, Number};
use std::collections::HashMap;

type Bindings = Vec<(VarId, Expr)>;

struct Lists<'a> {
    wide: &'a Wide,
    vars: Vec<VarInfo>,
    listed: Listed,
    /// Parameters that are fields of a vector or of a pack.
    fields: HashMap<VarId, (VarId, usize)>,
}

/// Rewrites the forms with wide expressions.
pub fn run(program: &Program, wide: &Wide) -> (Program, Listed) {
    let mut p = Lists { wide, vars: program.vars.clone(), listed: Listed::new(), fields: HashMap::new() };
    let mut forms = vec![];
    for (i, form) in program.forms.iter().enumerate() {
        forms.push(match form {
            form if !wide.form(i) => form.clone(),
            TopForm::Define(g, e) => TopForm::Define(*g, p.expr(e)),
            TopForm::Expr(e) => TopForm::Expr(p.expr(e)),
        });
    }
    (super::packs::with_forms(program, forms, p.vars), p.listed)
}

fn unspecified() -> Expr {
    Expr::Const(Literal::Unspecified)
}

fn number(n: i64) -> Expr {
    Expr::Const(Literal::Number(Number::Int(Int::Fix(n))))
}

fn prim(op: PrimOp, args: Vec<Expr>) -> Expr {
    Expr::Prim { op, args, site: Site::NONE, proven: 0 }
}

fn runtime(symbol: &str, args: Vec<Expr>) -> Expr {
    prim(PrimOp::Rt(by_symbol(symbol)), args)
}

fn bound(bindings: Bindings, body: Expr) -> Expr {
    if bindings.is_empty() { body } else { Expr::Let(bindings, body.into()) }
}

impl Lists<'_> {
    fn fresh(&mut self, name: &str) -> VarId {
        self.vars.push(VarInfo::new(name));
        VarId(self.vars.len() as u32 - 1)
    }

    fn bind(&mut self, e: Expr, bs: &mut Bindings) -> Expr {
        let t = self.fresh("t");
        bs.push((t, e));
        Expr::Local(t)
    }

    fn expr(&mut self, e: &Expr) -> Expr {
        deep(|| self.expr_inner(e))
    }

    fn expr_inner(&mut self, e: &Expr) -> Expr {
        match e {
            Expr::Local(v) => field(&self.fields, *v),
            Expr::Lambda(l) => Expr::Lambda(self.lambda(l)),
            Expr::Fix(bs, body) => {
                let bs = bs.iter().map(|(v, l)| (*v, self.lambda(l))).collect();
                Expr::Fix(bs, self.expr(body).into())
            }
            Expr::Receive { producer, clause, site } => {
                let producer = self.expr(producer).into();
                Expr::Receive { producer, clause: self.receiver(clause, *site).into(), site: *site }
            }
            Expr::Labels(ls, body) => {
                let labels = ls.iter().map(|l| self.label(l)).collect();
                Expr::Labels(labels, self.expr(body).into())
            }
            Expr::If(..) | Expr::Seq(_) => super::packs::rebuild(e, &mut |c| self.expr(c)),
            e if !self.wide.contains(e) => super::packs::rebuild(e, &mut |c| self.expr(c)),
            e => {
                let mut bs = vec![];
                let last = self.chain(e, &mut bs);
                bound(bs, last)
            }
        }
    }

    /// A wide nest of bindings and operands as a chain of bindings and a last expression.
    fn chain(&mut self, mut e: &Expr, bs: &mut Bindings) -> Expr {
        while let Expr::Let(inner, body) = e {
            for (v, e) in inner {
                let value = match e {
                    e if self.is_nest(e) => deep(|| self.chain(e, bs)),
                    e => self.expr(e),
                };
                bs.push((*v, value));
            }
            e = body;
        }
        if !self.is_nest(e) {
            return self.expr(e);
        }
        match e {
            Expr::Call(f, args, site) if args.len() > self.wide.widths.operands => {
                let f = self.atom(f, bs);
                let list = self.list(args, None, bs);
                Expr::Apply(f.into(), vec![list], *site)
            }
            Expr::Apply(f, args, site) if args.len() > self.wide.widths.operands => {
                let f = self.atom(f, bs);
                let (last, args) = args.split_last().expect("apply has a list");
                let list = self.list(args, Some(last), bs);
                Expr::Apply(f.into(), vec![list], *site)
            }
            Expr::Prim { op: PrimOp::Vector, args, .. } if args.len() > self.wide.widths.operands => {
                let list = self.list(args, None, bs);
                runtime("cairn_vector_from_list", vec![list])
            }
            Expr::Prim { op: PrimOp::Record, args, .. } if args.len() > self.wide.widths.operands => {
                let rtd = self.atom(&args[0], bs);
                let list = self.list(&args[1..], None, bs);
                runtime("cairn_record_make", vec![rtd, list])
            }
            // A continuation takes any number of values.
            Expr::Values(args) if args.len() > self.wide.widths.operands => {
                let list = self.list(args, None, bs);
                let list = self.bind(list, bs);
                let k = self.fresh("k");
                let body = Expr::Apply(Expr::Local(k).into(), vec![list], Site::NONE);
                let clauses = vec![Clause { params: vec![k], rest: None, body }];
                Expr::CallCc(
                    Shots::One,
                    Expr::Lambda(Lambda { name: "values".into(), clauses, site: Site::NONE }).into(),
                    Site::NONE,
                )
            }
            Expr::Jump(label, args) if args.len() > self.wide.widths.operands => {
                Expr::Jump(*label, self.packs(args, bs))
            }
            e => super::packs::rebuild(e, &mut |c| self.atom(c, bs)),
        }
    }

    /// Is it wide because of its operands?
    fn is_nest(&self, e: &Expr) -> bool {
        let control = matches!(
            e,
            Expr::If(..)
                | Expr::Seq(_)
                | Expr::Fix(..)
                | Expr::Receive { .. }
                | Expr::Labels(..)
                | Expr::Lambda(_)
        );
        self.wide.contains(e) && !control
    }

    /// An operand that waits under a name.
    fn atom(&mut self, e: &Expr, bs: &mut Bindings) -> Expr {
        if is_atom(e) {
            return self.expr(e);
        }
        // what is not assigned while others are evaluated need not wait
        if let Expr::Global(..) = e {
            let value = self.expr(e);
            return self.bind(value, bs);
        }
        let value = if self.is_nest(e) { deep(|| self.chain(e, bs)) } else { self.expr(e) };
        self.bind(value, bs)
    }

    /// The list of the operands, ending in the list `last`.
    fn list(&mut self, operands: &[Expr], last: Option<&Expr>, bs: &mut Bindings) -> Expr {
        let constants = operands.iter().all(|e| matches!(e, Expr::Const(_)));
        if last.is_none() && constants {
            let cons = |d: Literal, e: &Expr| match e {
                Expr::Const(a) => Literal::Pair(std::rc::Rc::new((a.clone(), d))),
                _ => unreachable!("all are constants"),
            };
            return Expr::Const(operands.iter().rev().fold(Literal::Nil, cons));
        }
        let mut list = Expr::Const(Literal::Nil);
        for e in operands {
            let value = if is_atom(e) { self.expr(e) } else { self.atom(e, bs) };
            list = self.bind(prim(PrimOp::Op(Op::Cons), vec![value, list]), bs);
        }
        let last = last.map_or(Expr::Const(Literal::Nil), |e| self.atom(e, bs));
        runtime("cairn_list_append_reversed", vec![list, last])
    }

    // ---- labels

    /// The operands of a jump in packs, and those in packs, until they are few.
    fn packs(&mut self, operands: &[Expr], bs: &mut Bindings) -> Vec<Expr> {
        let mut level: Vec<Expr> = vec![];
        for group in operands.chunks(self.wide.widths.pack) {
            let fields = group.iter().map(|e| self.atom(e, bs)).collect();
            level.push(self.bind(prim(PrimOp::Opaque, fields), bs));
        }
        while level.len() > self.wide.widths.operands {
            let groups: Vec<Vec<Expr>> = level.chunks(self.wide.widths.pack).map(<[Expr]>::to_vec).collect();
            level = groups.into_iter().map(|g| self.bind(prim(PrimOp::Opaque, g), bs)).collect();
        }
        level
    }

    fn label(&mut self, l: &Label) -> Label {
        let mut params = l.params.clone();
        while params.len() > self.wide.widths.operands {
            let mut packs = vec![];
            for group in params.chunks(self.wide.widths.pack) {
                let pack = self.fresh("pack");
                packs.push(pack);
                self.fields.extend(group.iter().enumerate().map(|(i, v)| (*v, (pack, i))));
            }
            params = packs;
        }
        Label { id: l.id, params, body: self.expr(&l.body) }
    }

    // ---- parameters

    fn lambda(&mut self, l: &Lambda) -> Lambda {
        let clauses = l.clauses.iter().map(|c| self.clause(c)).collect();
        Lambda { name: l.name.clone(), clauses, site: l.site }
    }

    /// A clause whose arguments come as one list if they are too many. Their count is checked where it is known anyway.
    fn clause(&mut self, c: &Clause) -> Clause {
        if c.params.len() <= self.wide.widths.operands {
            return Clause { params: c.params.clone(), rest: c.rest, body: self.expr(&c.body) };
        }
        let all = self.fresh("arguments");
        self.listed.insert(all, (c.params.len() as u32, c.rest.is_some()));
        let body = self.spread(c, all);
        Clause { params: vec![], rest: Some(all), body }
    }

    /// A receiver whose values come as one list if they are too many. It checks their count itself.
    fn receiver(&mut self, c: &Clause, site: Site) -> Clause {
        if c.params.len() <= self.wide.widths.operands {
            return self.clause(c);
        }
        let all = self.fresh("values");
        let n = c.params.len();
        let count = runtime("cairn_list_length", vec![Expr::Local(all)]);
        let expected = number(expected_values(n, c.rest.is_some(), site));
        let mismatch = Expr::Prim {
            op: PrimOp::Rt(by_symbol("cairn_machine_mismatch")),
            args: vec![expected, Expr::Local(all)],
            site,
            proven: 0,
        };
        let fail = Expr::Seq(vec![mismatch, unspecified()]);
        let fine = self.spread(c, all);
        let compare = |op, args| Expr::Prim { op: PrimOp::Op(op), args, site: Site::NONE, proven: u8::MAX };
        let body = match c.rest {
            None => Expr::If(compare(Op::Eq, vec![count, number(n as i64)]).into(), fine.into(), fail.into()),
            Some(_) => Expr::If(compare(Op::FxLt, vec![count, number(n as i64)]).into(), fail.into(), fine.into()),
        };
        Clause { params: vec![], rest: Some(all), body }
    }

    /// The body with its parameters taken from the list.
    fn spread(&mut self, c: &Clause, all: VarId) -> Expr {
        let n = c.params.len();
        let vector = self.fresh("vector");
        let mut bs = vec![(vector, runtime("cairn_vector_from_list", vec![Expr::Local(all)]))];
        self.fields.extend(c.params.iter().enumerate().map(|(i, v)| (*v, (vector, i))));
        if let Some(rest) = c.rest {
            let length = prim(PrimOp::Op(Op::VectorLength), vec![Expr::Local(vector)]);
            let rest_of = vec![Expr::Local(vector), number(n as i64), length];
            bs.push((rest, runtime("cairn_vector_to_list", rest_of)));
        }
        bound(bs, self.expr(&c.body))
    }
}
