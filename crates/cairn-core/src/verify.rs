//! The verifier: what must hold of a program between passes.
//!
//! It checks the dialect ([`Dialect`]), scoping (each variable and label is bound once and used only in its scope),
//! that jumps are in tail position of their `Labels` and pass the right number of arguments, operand counts and
//! `proven` masks of primitives, and that assigned variables are marked. Complexity: linear; deep programs are fine.

use crate::ir::{Clause, Expr, LabelId, Lambda, Program, VarId};
use crate::prim::{AS_VECTOR, HAS_PASSED, IN_NO_VECTOR, IN_RANGE, Op, PrimOp, fixnum_bit, scalar_bit};
use crate::walk::deep;

/// Which of the languages of [`crate::ir`] a program is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// After the expander.
    Source,
    /// After letrec fixing and assignment conversion.
    Fixed,
    /// In and after the optimizer.
    Opt,
}

/// Checks the whole program; all complaints, at most a few dozen.
pub fn verify(program: &Program, dialect: Dialect) -> Result<(), Vec<String>> {
    let mut v = Verifier {
        program,
        dialect,
        vars: vec![State::Fresh; program.vars.len()],
        labels: vec![false; program.labels as usize],
        visible: Vec::new(),
        base: 0,
        place: String::new(),
        complaints: Vec::new(),
    };
    for (i, form) in program.forms.iter().enumerate() {
        v.place = match form {
            crate::ir::TopForm::Define(g, _) => match program.globals.get(g.0 as usize) {
                Some(info) => format!("definition of {}", info.name),
                None => {
                    v.complaints.push(format!("form {i} defines unknown global {}", g.0));
                    continue;
                }
            },
            crate::ir::TopForm::Expr(_) => format!("form {i}"),
        };
        v.operand(form.expr());
    }
    if v.complaints.is_empty() { Ok(()) } else { Err(v.complaints) }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Fresh,
    Bound,
    Gone,
}

struct Verifier<'a> {
    program: &'a Program,
    dialect: Dialect,
    vars: Vec<State>,
    labels: Vec<bool>,
    /// Labels in scope, with parameter counts; only those from `base` on may be jumped to.
    visible: Vec<(LabelId, usize)>,
    base: usize,
    place: String,
    complaints: Vec<String>,
}

impl Verifier<'_> {
    fn complain(&mut self, text: String) {
        if self.complaints.len() < 40 {
            self.complaints.push(format!("{}: {text}", self.place));
        }
    }

    fn name(&self, v: VarId) -> String {
        let name = self.program.vars.get(v.0 as usize).map_or("?", |i| &i.name);
        format!("{name}.{}", v.0)
    }

    fn bind(&mut self, v: VarId) {
        match self.vars.get(v.0 as usize) {
            Some(State::Fresh) => self.vars[v.0 as usize] = State::Bound,
            Some(_) => self.complain(format!("{} is bound twice", self.name(v))),
            None => self.complain(format!("variable {} does not exist", v.0)),
        }
    }

    fn unbind(&mut self, v: VarId) {
        if let Some(s) = self.vars.get_mut(v.0 as usize) {
            *s = State::Gone;
        }
    }

    fn use_var(&mut self, v: VarId) {
        match self.vars.get(v.0 as usize) {
            Some(State::Bound) => {}
            Some(State::Fresh) => self.complain(format!("{} is used but not bound", self.name(v))),
            Some(State::Gone) => self.complain(format!("{} is used outside its scope", self.name(v))),
            None => self.complain(format!("variable {} does not exist", v.0)),
        }
    }

    fn use_global(&mut self, g: crate::ir::GlobalId) {
        if g.0 as usize >= self.program.globals.len() {
            self.complain(format!("global {} does not exist", g.0));
        }
    }

    fn only(&mut self, what: &str, allowed: bool) {
        if !allowed {
            self.complain(format!("{what} does not belong to {:?}", self.dialect));
        }
    }

    /// An expression that is not in tail position: no jumps out of it.
    fn operand(&mut self, e: &Expr) {
        let base = std::mem::replace(&mut self.base, self.visible.len());
        self.expr(e);
        self.base = base;
    }

    fn operands(&mut self, es: &[Expr]) {
        es.iter().for_each(|e| self.operand(e));
    }

    /// A clause whose body is in tail position (`tail`) or the body of a procedure.
    fn clause(&mut self, c: &Clause, tail: bool) {
        c.params.iter().chain(&c.rest).for_each(|v| self.bind(*v));
        if tail {
            self.expr(&c.body)
        } else {
            self.operand(&c.body)
        }
        c.params.iter().chain(&c.rest).for_each(|v| self.unbind(*v));
    }

    fn lambda(&mut self, l: &Lambda) {
        if l.clauses.is_empty() {
            self.complain(format!("lambda {} has no clause", l.name));
        }
        l.clauses.iter().for_each(|c| self.clause(c, false));
    }

    fn expr(&mut self, e: &Expr) {
        deep(|| match e {
            Expr::Const(_) => {}
            Expr::Local(v) => self.use_var(*v),
            Expr::Global(g, _) => self.use_global(*g),
            Expr::SetLocal(v, e) => {
                self.only("an assignment of a local variable", self.dialect == Dialect::Source);
                self.use_var(*v);
                if self.program.vars.get(v.0 as usize).is_some_and(|i| !i.assigned) {
                    self.complain(format!("{} is assigned but not marked so", self.name(*v)));
                }
                self.operand(e);
            }
            Expr::SetGlobal(g, e, _) => {
                self.use_global(*g);
                self.operand(e);
            }
            Expr::If(a, b, c) => {
                self.operand(a);
                self.expr(b);
                self.expr(c);
            }
            Expr::Seq(es) => match es.split_last() {
                Some((last, init)) => {
                    self.operands(init);
                    self.expr(last);
                }
                None => self.complain("an empty sequence".into()),
            },
            Expr::Let(bs, body) => {
                bs.iter().for_each(|(_, e)| self.operand(e));
                bs.iter().for_each(|(v, _)| self.bind(*v));
                self.expr(body);
                bs.iter().for_each(|(v, _)| self.unbind(*v));
            }
            Expr::Letrec(bs, body) => {
                self.only("letrec", self.dialect == Dialect::Source);
                bs.iter().for_each(|(v, _)| self.bind(*v));
                bs.iter().for_each(|(_, e)| self.operand(e));
                self.expr(body);
                bs.iter().for_each(|(v, _)| self.unbind(*v));
            }
            Expr::Fix(bs, body) => {
                self.only("fix", self.dialect != Dialect::Source);
                bs.iter().for_each(|(v, _)| self.bind(*v));
                bs.iter().for_each(|(_, l)| self.lambda(l));
                self.expr(body);
                bs.iter().for_each(|(v, _)| self.unbind(*v));
            }
            Expr::Lambda(l) => self.lambda(l),
            Expr::Call(f, es, _) | Expr::Apply(f, es, _) => {
                if matches!(e, Expr::Apply(..)) && es.is_empty() {
                    self.complain("apply without a list".into());
                }
                self.operand(f);
                self.operands(es);
            }
            Expr::Prim { op, args, proven, .. } => {
                if op.arity().is_some_and(|n| n != args.len()) {
                    self.complain(format!("%{} has {} operands", op.name(), args.len()));
                }
                let fixnums = if op.is_generic() { fixnum_bit(0) | fixnum_bit(1) } else { 0 };
                let scalar = op.stored_operand().map_or(0, scalar_bit);
                let asked =
                    if matches!(op, PrimOp::Op(o) if o.asks_type()) { IN_NO_VECTOR | HAS_PASSED } else { 0 };
                let range = if op.is_indexed() { IN_RANGE } else { 0 };
                let called = match op {
                    PrimOp::Op(Op::F64VectorRef | Op::F64VectorSet | Op::F64VectorLength) => AS_VECTOR,
                    _ => 0,
                };
                if args.len() < 8 && (*proven & !(fixnums | scalar | asked | range | called)) >> args.len() != 0 {
                    self.complain(format!("%{} proves operands it does not have", op.name()));
                }
                self.operands(args);
            }
            Expr::Values(es) => self.operands(es),
            Expr::Receive { producer, clause, .. } => {
                self.operand(producer);
                self.clause(clause, true);
            }
            Expr::CallCc(_, e, _) => self.operand(e),
            Expr::Labels(ls, body) => {
                self.only("labels", self.dialect == Dialect::Opt);
                let mark = self.visible.len();
                for l in ls {
                    match self.labels.get_mut(l.id.0 as usize) {
                        Some(known) => {
                            if std::mem::replace(known, true) {
                                self.complain(format!("label L{} is bound twice", l.id.0));
                            }
                        }
                        None => self.complain(format!("label L{} does not exist", l.id.0)),
                    }
                    self.visible.push((l.id, l.params.len()));
                }
                for l in ls {
                    l.params.iter().for_each(|v| self.bind(*v));
                    self.expr(&l.body);
                    l.params.iter().for_each(|v| self.unbind(*v));
                }
                self.expr(body);
                self.visible.truncate(mark);
            }
            Expr::Jump(l, es) => {
                self.only("jump", self.dialect == Dialect::Opt);
                match self.visible.iter().rposition(|(id, _)| id == l) {
                    None => self.complain(format!("jump to L{}, which is not in scope", l.0)),
                    Some(i) if i < self.base => {
                        self.complain(format!("jump to L{} is not in tail position", l.0));
                    }
                    Some(i) if self.visible[i].1 != es.len() => {
                        self.complain(format!("jump to L{} passes {} arguments", l.0, es.len()));
                    }
                    Some(_) => {}
                }
                self.operands(es);
            }
        })
    }
}
