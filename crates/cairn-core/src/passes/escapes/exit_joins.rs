//! Join points: what comes after a call of `k` becomes a label that only the other paths jump to.
//!
//! The problem: a call of a continuation in the middle of its receiver leaves undone what would follow. The idea: the
//! receiver is rebuilt so that each expression knows what is done with its value (`Then`); where control leaves by
//! `k`, that is dropped.
//!
//! Invariant: afterwards every call of `k` that is not in a procedure nested in the receiver is in tail position.

use crate::ir::{Clause, Expr, Label, LabelId, Program, VarId};
use crate::walk::{deep, for_each_child, for_each_child_mut, visit_now};
use cairn_layout::code::Site;

/// What is done with the value of an expression that is not in tail position: a label, and what it gets.
#[derive(Clone, Copy)]
pub(in crate::passes) struct Then {
    label: LabelId,
    gets: Gets,
}

#[derive(Clone, Copy)]
enum Gets {
    Nothing,
    Value,
    /// This many values, and whether the rest comes in a list.
    Values(usize, bool, Site),
}

/// Moves calls of `k` to tail position: what would come after them becomes a label that the other paths jump to.
pub(in crate::passes) struct Joins<'a> {
    pub(in crate::passes) program: &'a mut Program,
    pub(in crate::passes) k: VarId,
}

impl Joins<'_> {
    /// Is there a call of `k` in `e`, apart from procedures in it?
    fn leaves(&self, e: &Expr) -> bool {
        let mut found = false;
        visit_now(e, &mut |e| found |= self.is_exit(e));
        found
    }

    fn is_exit(&self, e: &Expr) -> bool {
        matches!(e, Expr::Call(f, ..) | Expr::Apply(f, ..) if matches!(**f, Expr::Local(v) if v == self.k))
    }

    /// `e` and `then`, with all calls of `k` in tail position.
    pub(in crate::passes) fn place(&mut self, e: Expr, then: Option<Then>) -> Expr {
        deep(|| match e {
            Expr::If(t, a, b) => {
                let (a, b) = (self.place(*a, then), self.place(*b, then));
                if !self.leaves(&t) {
                    return Expr::If(t, Box::new(a), Box::new(b));
                }
                let v = self.program.fresh_var("test");
                let rest = Expr::If(Box::new(Expr::Local(v)), Box::new(a), Box::new(b));
                self.join(*t, Gets::Value, vec![v], rest)
            }
            Expr::Seq(mut es) => match es.iter().position(|e| self.leaves(e)) {
                Some(i) if i + 1 < es.len() => {
                    let rest = self.place(sequence(es.split_off(i + 1)), then);
                    let e = es.pop().expect("that one");
                    es.push(self.join(e, Gets::Nothing, Vec::new(), rest));
                    sequence(es)
                }
                _ => {
                    let last = es.pop().expect("a sequence is not empty");
                    es.push(self.place(last, then));
                    sequence(es)
                }
            },
            Expr::Let(mut bs, body) => match bs.iter().position(|(_, e)| self.leaves(e)) {
                Some(i) => {
                    let rest = bs.split_off(i + 1);
                    let (v, e) = bs.pop().expect("that one");
                    let rest = if rest.is_empty() { *body } else { Expr::Let(rest, body) };
                    let rest = self.place(rest, then);
                    let e = self.join(e, Gets::Value, vec![v], rest);
                    if bs.is_empty() { e } else { Expr::Let(bs, Box::new(e)) }
                }
                None => Expr::Let(bs, Box::new(self.place(*body, then))),
            },
            Expr::Fix(bs, body) => Expr::Fix(bs, Box::new(self.place(*body, then))),
            Expr::Labels(labels, body) => {
                let labels = labels.into_iter().map(|l| Label { body: self.place(l.body, then), ..l }).collect();
                Expr::Labels(labels, Box::new(self.place(*body, then)))
            }
            Expr::Receive { producer, clause, site } => {
                let Clause { params, rest, body } = *clause;
                let body = self.place(body, then);
                if !self.leaves(&producer) {
                    let clause = Box::new(Clause { params, rest, body });
                    return Expr::Receive { producer, clause, site };
                }
                let gets = Gets::Values(params.len(), rest.is_some(), site);
                self.join(*producer, gets, params.into_iter().chain(rest).collect(), body)
            }
            e if self.leaves(&e) => self.operands(e, then),
            e => self.deliver(e, then),
        })
    }

    /// An expression whose operands may leave: the first that does is evaluated by itself, those before get names.
    fn operands(&mut self, mut e: Expr, then: Option<Then>) -> Expr {
        let mut children = Vec::new();
        for_each_child(&e, &mut |c| children.push(self.leaves(c)));
        let Some(first) = children.iter().position(|leaves| *leaves) else {
            return e; // it leaves itself
        };
        let (mut i, mut operands) = (0, Vec::new());
        for_each_child_mut(&mut e, &mut |c| {
            if i <= first && !matches!(c, Expr::Const(_) | Expr::Local(_) | Expr::Lambda(_)) {
                let v = self.program.fresh_var("operand");
                operands.push((v, std::mem::replace(c, Expr::Local(v))));
            }
            i += 1;
        });
        let (v, leaving) = operands.pop().expect("what leaves is no atom");
        let rest = self.place(e, then);
        let e = self.join(leaving, Gets::Value, vec![v], rest);
        operands.into_iter().rev().fold(e, |e, binding| Expr::Let(vec![binding], Box::new(e)))
    }

    /// The value of an expression without inner structure that does not leave.
    fn deliver(&mut self, e: Expr, then: Option<Then>) -> Expr {
        let Some(Then { label, gets }) = then else { return e };
        match (e, gets) {
            (e @ Expr::Jump(..), _) => e,
            (Expr::Const(_) | Expr::Local(_), Gets::Nothing) => Expr::Jump(label, Vec::new()),
            (e, Gets::Nothing) => Expr::Seq(vec![e, Expr::Jump(label, Vec::new())]),
            (e, Gets::Value) => Expr::Jump(label, vec![e]),
            (e, Gets::Values(count, more, site)) => {
                let params: Vec<VarId> = (0..count).map(|_| self.program.fresh_var("value")).collect();
                let rest = more.then(|| self.program.fresh_var("values"));
                let args = params.iter().chain(&rest).map(|v| Expr::Local(*v)).collect();
                let clause = Box::new(Clause { params, rest, body: Expr::Jump(label, args) });
                Expr::Receive { producer: Box::new(e), clause, site }
            }
        }
    }

    /// `e`, then `rest`, whose parameters get its value.
    fn join(&mut self, e: Expr, gets: Gets, params: Vec<VarId>, rest: Expr) -> Expr {
        let label = self.program.fresh_label();
        let e = self.place(e, Some(Then { label, gets }));
        Expr::Labels(vec![Label { id: label, params, body: rest }], Box::new(e))
    }
}

fn sequence(mut es: Vec<Expr>) -> Expr {
    if es.len() == 1 { es.pop().expect("one") } else { Expr::Seq(es) }
}
