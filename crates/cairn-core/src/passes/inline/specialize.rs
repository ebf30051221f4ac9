//! Recursive procedures called with a known procedure that they pass on unchanged: the static argument
//! transformation (Santos 1995), at the call.
//!
//! ```text
//! (define fold (lambda (f acc l) (if (%pair? l) (fold f (f acc (%car l)) (%cdr l)) acc)))
//! (fold (lambda (a x) (%+ a x)) 0 items)
//! ```
//! becomes
//! ```text
//! (let ((f (lambda (a x) (%+ a x))) (t 0) (u items))
//!   (fix ((fold (lambda (acc l) (if (%pair? l) (fold (f acc (%car l)) (%cdr l)) acc)))) (fold t u)))
//! ```
//! and then `f` moves to its call. The definition itself stays as it is: a global procedure needs no closure.
//!
//! And recursion over a short constant list is unfolded: `(memq x '(a b))` becomes `(if (%eq? x 'a) … (%eq? x 'b) …)`.

use super::estimate::{Arg, estimate};
use super::{DEPTH, Inliner, size};
use crate::ir::{Clause, Expr, GlobalId, Lambda, Literal, VarId};
use crate::prim::{Op, PrimOp};
use crate::walk::{Positions, rewrite, take, visit};
use cairn_layout::code::Site;
use std::rc::Rc;

/// Lists of at most this many elements are unfolded.
const UNFOLD: usize = 8;

impl Inliner<'_> {
    /// The call of recursive `g` with its loop copied, when that makes a call of an argument known.
    pub(super) fn specialize(&mut self, g: GlobalId, args: Vec<Expr>, site: Site) -> Result<Expr, Vec<Expr>> {
        let Some(fixed) = self.worth_specializing(g, &args) else { return Err(args) };
        // its loop stays a procedure, for the time being
        let library = self.program.globals[g.0 as usize].library;
        let open = |procedure| match library {
            true => Positions::Nested { at: site },
            false => Positions::Inlined { procedure, at: Site::NONE },
        };
        let Some((clause, name, lambda_site)) = self.copy_of_global(g, open) else {
            return Err(args);
        };
        let Clause { params, mut body, .. } = clause;
        self.growth = self.growth.saturating_sub(size(&body));
        self.global_uses[g.0 as usize] -= 1; // the call that goes away
        let again = self.program.fresh_var(&name);
        self.vars.push(super::Var::default());
        rewrite(&mut body, &mut |e| {
            let Expr::Call(f, args, site) = e else { return };
            if !matches!(**f, Expr::Global(h, _) if h == g) {
                return;
            }
            let mut moving = Vec::new();
            for (a, fixed) in args.drain(..).zip(&fixed) {
                if *fixed {
                    self.uncount(&a);
                } else {
                    moving.push(a);
                }
            }
            self.global_uses[g.0 as usize] -= 1;
            let var = self.var(again);
            var.uses += 1;
            var.own_uses += 1;
            *e = Expr::Call(Box::new(Expr::Local(again)), moving, *site);
        });
        let mut bs: Vec<(VarId, Expr)> = Vec::with_capacity(args.len());
        let (mut moving, mut start) = (Vec::new(), Vec::new());
        for ((p, a), fixed) in params.into_iter().zip(args).zip(&fixed) {
            if *fixed {
                bs.push((p, a));
            } else {
                let first = self.fresh(p);
                self.var(first).uses = 1;
                bs.push((first, a));
                start.push(Expr::Local(first));
                moving.push(p);
            }
        }
        self.var(again).uses += 1;
        let clauses = vec![Clause { params: moving, rest: None, body }];
        let fix = vec![(again, Lambda { name, clauses, site: lambda_site })];
        let enter = Expr::Call(Box::new(Expr::Local(again)), start, site);
        self.depth += 1;
        let e = self.let_(bs, Expr::Fix(fix, Box::new(enter)));
        self.depth -= 1;
        Ok(e)
    }

    /// A copy of the only clause of a global procedure, its name and position.
    fn copy_of_global(
        &mut self,
        g: GlobalId,
        positions: impl FnOnce(Rc<str>) -> Positions,
    ) -> Option<(Clause, Rc<str>, Site)> {
        let (form, _) = self.global_lambda(g)?;
        let lent = take(self.program.forms[form].expr_mut());
        let copy = match &lent {
            Expr::Lambda(l) => Some((self.copy(&l.clauses[0], positions(l.name.clone())), l.name.clone(), l.site)),
            _ => None,
        };
        *self.program.forms[form].expr_mut() = lent;
        copy
    }

    /// The call of recursive `g` with its body inlined, when it walks down a short constant list.
    pub(super) fn unfold(&mut self, g: GlobalId, args: Vec<Expr>, site: Site) -> Result<Expr, Vec<Expr>> {
        if !self.worth_unfolding(g, &args) {
            return Err(args);
        }
        let Some((clause, ..)) = self.copy_of_global(g, |procedure| Positions::Inlined { procedure, at: site })
        else {
            return Err(args);
        };
        self.global_uses[g.0 as usize] -= 1;
        Ok(self.nested(clause, args))
    }

    fn worth_unfolding(&self, g: GlobalId, args: &[Expr]) -> bool {
        if self.depth >= DEPTH || self.runs_once {
            return false;
        }
        let is_list = |e: &Expr| self.quoted(e).is_some_and(|l| is_short_list(&l));
        let Some(k) = args.iter().position(is_list) else { return false };
        let Some((_, l)) = self.global_lambda(g) else { return false };
        let [clause] = &l.clauses[..] else { return false };
        if clause.rest.is_some() || clause.params.len() != args.len() {
            return false;
        }
        let mut descends = true;
        visit(&clause.body, &mut |e| {
            if let Expr::Call(f, args, _) = e
                && matches!(**f, Expr::Global(h, _) if h == g)
            {
                descends &= args.get(k).is_some_and(|a| is_tail(a, clause.params[k]));
            }
        });
        let known: Vec<Arg> = args.iter().map(|a| self.argument(a)).collect();
        let small = 2 + args.len() + self.limits.small;
        descends && estimate(clause, &known, small, &[]).is_some_and(|e| e.size <= self.growth)
    }

    /// Which parameters every recursive call passes on unchanged, when one of them is called and gets a known
    /// procedure.
    fn worth_specializing(&self, g: GlobalId, args: &[Expr]) -> Option<Vec<bool>> {
        let known: Vec<Arg> = args.iter().map(|a| self.argument(a)).collect();
        if self.depth >= DEPTH || !known.iter().any(|a| matches!(a, Arg::Procedure)) {
            return None;
        }
        let (_, l) = self.global_lambda(g)?;
        let [clause] = &l.clauses[..] else { return None };
        if clause.rest.is_some() || clause.params.len() != args.len() {
            return None;
        }
        let fixed = fixed_parameters(g, clause)?;
        let known: Vec<Arg> =
            known.into_iter().zip(&fixed).map(|(a, fixed)| if *fixed { a } else { Arg::Unknown }).collect();
        let e = estimate(clause, &known, self.limits.with_procedure, &[])?;
        (e.calls_argument && e.size <= self.growth).then_some(fixed)
    }
}

/// For each parameter: do all recursive calls pass it on unchanged? `None` when there are no such calls, or `g` is
/// used otherwise.
fn fixed_parameters(g: GlobalId, clause: &Clause) -> Option<Vec<bool>> {
    let mut fixed = vec![true; clause.params.len()];
    let (mut uses, mut calls) = (0, 0);
    visit(&clause.body, &mut |e| match e {
        Expr::Global(h, _) if *h == g => uses += 1,
        Expr::Call(f, args, _)
            if matches!(**f, Expr::Global(h, _) if h == g) && args.len() == clause.params.len() =>
        {
            calls += 1;
            for ((fixed, a), p) in fixed.iter_mut().zip(args).zip(&clause.params) {
                *fixed &= matches!(a, Expr::Local(v) if v == p);
            }
        }
        _ => {}
    });
    (uses == calls && calls > 0 && fixed.contains(&true)).then_some(fixed)
}

/// `(cdr v)`
fn is_tail(e: &Expr, v: VarId) -> bool {
    match e {
        Expr::Prim { op: PrimOp::Op(Op::Cdr), args, .. } => matches!(args[0], Expr::Local(w) if w == v),
        _ => false,
    }
}

fn is_short_list(l: &Literal) -> bool {
    let mut l = l;
    for _ in 0..=UNFOLD {
        match l {
            Literal::Nil => return true,
            Literal::Pair(p) => l = &p.1,
            _ => return false,
        }
    }
    false
}
