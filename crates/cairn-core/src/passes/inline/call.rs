//! Calls: finding the procedure, deciding, beta reduction.

use super::estimate::{Arg, estimate, is_cold};
use super::quick::makes_quick_call;
use super::reduce::Steps;
use super::{
    DEPTH, Inliner, Known, MOVES, ONCE, SMALL, SMALL_ONCE, WITH_ARITHMETIC, WITH_C_CALL, WITH_CHECKS,
    WITH_ELEMENT, WITH_INDEX, WITH_QUICK_CALL,
};
use crate::ir::{Clause, Expr, GlobalId, Lambda, Literal, VarId};
use crate::passes::elements;
use crate::prim::{Effect, Kind, Op, PrimOp};
use crate::walk::{Positions, deep, list_expr, select_clause as select, take};
use cairn_layout::code::Site;

impl Inliner<'_> {
    /// A call whose parts are not yet walked.
    pub(super) fn call(&mut self, f: Expr, args: Vec<Expr>, site: Site) -> Expr {
        match f {
            Expr::Lambda(l) => match select(&l, args.len()) {
                Some(k) if site.is_known() => self.moved(l, k, args, site),
                Some(k) => {
                    let clause = self.keep_clause(l, k);
                    self.beta(clause, args)
                }
                None => {
                    let l = self.lambda(l);
                    self.residual(Expr::Lambda(l), args, site)
                }
            },
            Expr::Let(bs, body) => self.let_(bs, Expr::Call(body, args, site)),
            Expr::Fix(bs, body) => self.fix(bs, Expr::Call(body, args, site)),
            Expr::Seq(mut es) => match es.pop() {
                Some(f) => {
                    es.push(Expr::Call(Box::new(f), args, site));
                    self.expr(Expr::Seq(es))
                }
                None => self.residual(Expr::Seq(es), args, site),
            },
            Expr::Local(v) => self.call_local(v, args, site),
            Expr::Global(..) => match self.expr(f) {
                Expr::Global(g, s) => self.call_global(g, s, args, site),
                f => self.residual(f, args, site),
            },
            Expr::If(test, then, other) if self.callable(&then) && self.callable(&other) => {
                self.call_either(*test, *then, *other, args, site)
            }
            f => {
                let f = self.expr(f);
                let mut steps = Steps::default();
                let e = match self.peel(f, &mut steps) {
                    f @ (Expr::Lambda(_) | Expr::Local(_) | Expr::Global(..)) => self.call(f, args, site),
                    f => self.residual(f, args, site),
                };
                self.wrap(steps, e)
            }
        }
    }

    /// Is `f` a name of a procedure that may be inlined?
    fn callable(&self, f: &Expr) -> bool {
        match f {
            Expr::Local(v) => match &self.vars[v.0 as usize].known {
                Known::Atom(a) => self.callable(a),
                Known::Once(_) | Known::Template(_) => true,
                _ => false,
            },
            Expr::Global(g, _) => {
                self.global_lambda(self.facts.resolve(*g)).is_some_and(|(form, _)| !self.breaker[form])
            }
            _ => false,
        }
    }

    /// `((if t f g) x)` is `(let* ((t t) (x x)) (if t (f x) (g x)))`.
    fn call_either(&mut self, test: Expr, then: Expr, other: Expr, args: Vec<Expr>, site: Site) -> Expr {
        if args.iter().all(|a| matches!(a, Expr::Const(_) | Expr::Local(_))) {
            args.iter().for_each(|a| self.count(a));
            let then = Expr::Call(Box::new(then), args.clone(), site);
            let other = Expr::Call(Box::new(other), args, site);
            return self.expr(Expr::If(Box::new(test), Box::new(then), Box::new(other)));
        }
        let mut fresh = |what: &str| {
            let v = self.program.fresh_var(what);
            self.vars.push(super::Var::default());
            v
        };
        let t = fresh("test");
        let bs: Vec<(VarId, Expr)> = args.into_iter().map(|a| (fresh("argument"), a)).collect();
        let names: Vec<Expr> = bs.iter().map(|(v, _)| Expr::Local(*v)).collect();
        names.iter().chain(&names).for_each(|n| self.count(n));
        self.var(t).uses = 1;
        let then = Expr::Call(Box::new(then), names.clone(), site);
        let other = Expr::Call(Box::new(other), names, site);
        let branch = Expr::If(Box::new(Expr::Local(t)), Box::new(then), Box::new(other));
        self.let_(vec![(t, test)], Expr::Let(bs, Box::new(branch)))
    }

    fn residual(&mut self, f: Expr, args: Vec<Expr>, site: Site) -> Expr {
        let form = match &f {
            Expr::Global(g, _) => self.facts.lambda(*g),
            _ => None,
        };
        let args = args.into_iter().enumerate();
        let args = args.map(|(i, a)| self.called(a, form.is_some_and(|form| self.once.passes(form, i)))).collect();
        Expr::Call(Box::new(f), args, site)
    }

    fn call_local(&mut self, v: VarId, args: Vec<Expr>, site: Site) -> Expr {
        match std::mem::take(&mut self.var(v).known) {
            Known::Atom(a) => {
                self.var(v).uses -= 1;
                self.var(v).known = Known::Atom(a.clone());
                self.call(a, args, site)
            }
            Known::Once(l) => match select(&l, args.len()) {
                Some(k) if self.var(v).uses == 1 && self.may_move_to(site) => {
                    self.var(v).uses = 0;
                    self.moved(*l, k, args, site)
                }
                _ => {
                    self.var(v).known = Known::Once(l);
                    self.residual(Expr::Local(v), args, site)
                }
            },
            Known::Template(l) => {
                let chosen = if self.own.contains(&v) { None } else { self.decide(&l, None, &args) };
                self.var(v).known = Known::Template(l.clone());
                match chosen {
                    Some(k) => {
                        self.var(v).uses -= 1;
                        let positions = Positions::Inlined { procedure: l.name.clone(), at: site };
                        let clause = self.copy(&l.clauses[k], positions);
                        self.nested(clause, args)
                    }
                    None => self.residual(Expr::Local(v), args, site),
                }
            }
            known => {
                self.var(v).known = known;
                self.residual(Expr::Local(v), args, site)
            }
        }
    }

    fn call_global(&mut self, g: GlobalId, at: Site, args: Vec<Expr>, site: Site) -> Expr {
        let args = match self.search(g, args, site) {
            Ok(e) => return e,
            Err(args) => args,
        };
        let f = Expr::Global(g, at);
        let Some((form, l)) = self.global_lambda(g).filter(|(form, l)| {
            !self.breaker[*form] && !select(l, args.len()).is_some_and(|k| self.recursive.contains(&(*form, k)))
        }) else {
            if !self.own.is_empty() && !self.program.globals[g.0 as usize].library {
                return self.residual(f, args, site);
            }
            let args = match self.specialize(g, args, site) {
                Ok(e) => return e,
                Err(args) => args,
            };
            return match self.unfold(g, args, site) {
                Ok(e) => e,
                Err(args) => self.residual(f, args, site),
            };
        };
        let once = self.global_uses[g.0 as usize] == 1
            && self.lambda_depth > 0
            && super::lambda_size(l) <= ONCE
            && self.may_move_to(site);
        let chosen = if once { select(l, args.len()) } else { self.decide(l, Some(form), &args) };
        let Some(k) = chosen else { return self.residual(f, args, site) };
        // the lambda is lent out of the program while it is copied
        let lambda = match take(self.program.forms[form].expr_mut()) {
            Expr::Lambda(l) => l,
            e => {
                *self.program.forms[form].expr_mut() = e;
                return self.residual(f, args, site);
            }
        };
        self.uncount(&f);
        if once {
            self.removed[form] = true;
            return self.moved(lambda, k, args, site);
        }
        let positions = Positions::Inlined { procedure: lambda.name.clone(), at: site };
        let clause = self.copy(&lambda.clauses[k], positions);
        *self.program.forms[form].expr_mut() = Expr::Lambda(lambda);
        self.nested(clause, args)
    }

    /// The clause to copy, when copying pays. `form` defines the procedure, when it is a global one.
    fn decide(&self, l: &Lambda, form: Option<usize>, args: &[Expr]) -> Option<usize> {
        if self.depth >= DEPTH {
            return None;
        }
        let k = select(l, args.len())?;
        let known: Vec<Arg> = args.iter().map(|a| self.argument(a)).collect();
        let call = 2 + args.len();
        let small = match &l.clauses[k].body {
            body if elements::makes_reference(body) => WITH_ELEMENT,
            _ if self.runs_once => SMALL_ONCE,
            body if makes_c_call(body) => WITH_C_CALL,
            body if reaches_element(body) => WITH_INDEX,
            body if self.limits.small == SMALL && makes_quick_call(body) => WITH_QUICK_CALL,
            body if self.limits.small == SMALL && is_arithmetic(body) => WITH_ARITHMETIC,
            body if self.limits.small == SMALL && self.is_checked_arithmetic(body) => WITH_CHECKS,
            _ => self.limits.small,
        };
        let cold: &[bool] = if small == WITH_CHECKS { &self.cold } else { &[] };
        let small = call + small;
        // where code runs once, a procedure that is called once may as well stay an argument
        let worthwhile = |i: usize| !self.runs_once || !form.is_some_and(|form| self.once.passes(form, i));
        let with_procedure = known.iter().enumerate().any(|(i, a)| matches!(a, Arg::Procedure) && worthwhile(i));
        let limit = if with_procedure { self.limits.with_procedure } else { small };
        let e = estimate(&l.clauses[k], &known, limit, cold)?;
        let fits = e.size <= small || e.calls_argument && with_procedure;
        (fits && (e.size <= call || e.size <= self.growth)).then_some(k)
    }

    /// Nothing but arithmetic and tests of numbers, where some test fails in a call that never returns?
    fn is_checked_arithmetic(&self, body: &Expr) -> bool {
        let mut raises = false;
        self.is_checked(body, &mut raises) && raises
    }

    fn is_checked(&self, e: &Expr, raises: &mut bool) -> bool {
        deep(|| match e {
            Expr::Local(_) | Expr::Const(_) => true,
            Expr::Call(f, ..) if is_cold(f, &self.cold) => {
                *raises = true;
                true
            }
            Expr::Let(bs, body) => {
                bs.iter().all(|(_, e)| self.is_checked(e, raises)) && self.is_checked(body, raises)
            }
            Expr::If(test, then, other) => [test, then, other].iter().all(|e| self.is_checked(e, raises)),
            Expr::Seq(es) | Expr::Jump(_, es) => es.iter().all(|e| self.is_checked(e, raises)),
            Expr::Labels(ls, body) => {
                ls.iter().all(|l| self.is_checked(&l.body, raises)) && self.is_checked(body, raises)
            }
            Expr::Prim { op, args, .. } => {
                let computes = op.effect() == Effect::Pure
                    && matches!(op.result(), Kind::Fixnum | Kind::Flonum | Kind::Number | Kind::Boolean);
                (computes || op.name().starts_with("num-")) && args.iter().all(|a| self.is_checked(a, raises))
            }
            _ => false,
        })
    }

    pub(super) fn argument(&self, e: &Expr) -> Arg {
        match e {
            Expr::Const(l) => Arg::Const(l.clone()),
            Expr::Lambda(_) => Arg::Procedure,
            Expr::Local(v) => match &self.vars[v.0 as usize].known {
                Known::Atom(a) => self.argument(a),
                Known::Template(_) | Known::Once(_) | Known::Procedure => Arg::Procedure,
                Known::Quoted(l, _) => Arg::Const(l.clone()),
                Known::Nothing | Known::List(_) => Arg::Unknown,
            },
            Expr::Global(g, _) => match self.global_value(*g) {
                Some(Expr::Const(l)) => Arg::Const(l),
                Some(e @ Expr::Global(..)) => self.argument(&e),
                _ if self.facts.lambda(*g).is_some() => Arg::Procedure,
                _ => Arg::Unknown,
            },
            _ => Arg::Unknown,
        }
    }

    /// A procedure moves to its only call.
    fn moved(&mut self, l: Lambda, k: usize, args: Vec<Expr>, site: Site) -> Expr {
        let name = l.name.clone();
        let mut clause = self.keep_clause(l, k);
        self.program.inlined.move_body(&mut clause.body, &name, site);
        self.beta(clause, args)
    }

    /// May a procedure move to the call at `site`?
    fn may_move_to(&self, site: Site) -> bool {
        self.program.inlined.depth(site) < MOVES
    }

    /// Clause `k` alone: the others leave the program.
    fn keep_clause(&mut self, mut l: Lambda, k: usize) -> Clause {
        let clause = l.clauses.swap_remove(k);
        self.uncount_lambda(&l);
        clause
    }

    /// Beta reduction of a fresh copy.
    pub(super) fn nested(&mut self, clause: Clause, args: Vec<Expr>) -> Expr {
        self.growth = self.growth.saturating_sub(super::size(&clause.body));
        self.depth += 1;
        let e = self.beta(clause, args);
        self.depth -= 1;
        e
    }

    /// Binds the parameters of `clause` to `args` (not yet walked) in its body.
    fn beta(&mut self, clause: Clause, args: Vec<Expr>) -> Expr {
        let (bs, body) = self.parameters(clause, args);
        self.let_(bs, body)
    }

    /// Binds the parameters of `clause` to arguments that are already walked, in its body.
    pub(super) fn beta_walked(&mut self, steps: Steps, clause: Clause, args: Vec<Expr>) -> Expr {
        let (bs, body) = self.parameters(clause, args);
        self.let_walked(steps, bs, body)
    }

    fn parameters(&mut self, clause: Clause, mut args: Vec<Expr>) -> (Vec<(VarId, Expr)>, Expr) {
        let Clause { params, rest, body } = clause;
        let extra = args.split_off(params.len());
        let mut bs: Vec<(VarId, Expr)> = params.into_iter().zip(args).collect();
        let Some(rest) = rest else { return (bs, body) };
        // the rest list: its elements by name, then the list from them
        let names: Vec<VarId> = extra.iter().map(|_| self.fresh(rest)).collect();
        bs.extend(names.iter().copied().zip(extra));
        let items: Vec<Expr> = names.iter().map(|v| Expr::Local(*v)).collect();
        if read_only(rest, &body) {
            self.var(rest).known = Known::List(items.clone().into());
        }
        let list = list_expr(items);
        self.count(&list);
        (bs, Expr::Let(vec![(rest, list)], Box::new(body)))
    }

    pub(super) fn apply(&mut self, f: Expr, mut args: Vec<Expr>, site: Site) -> Expr {
        let items = match args.last() {
            Some(Expr::Const(Literal::Nil)) => Some([].into()),
            Some(Expr::Local(v)) => {
                let last = Expr::Local(*v);
                match &self.vars[v.0 as usize].known {
                    Known::Atom(Expr::Const(Literal::Nil)) => Some([].into()),
                    _ => self.known_list(&last),
                }
            }
            _ => None,
        };
        match items {
            Some(items) => {
                if let Some(last) = args.pop() {
                    self.uncount(&last);
                }
                for item in items.iter() {
                    self.count(item);
                    args.push(item.clone());
                }
                self.call(f, args, site)
            }
            None => {
                let f = self.boxed(f);
                Expr::Apply(f, self.all(args), site)
            }
        }
    }
}

/// Is the list bound to `v` only inspected in `e`, so that its elements stay what they are? Allowed are `null?`,
/// `pair?`, `car` and `cdr` chains, names for tails of it, and the list operand of `apply`.
fn read_only(v: VarId, e: &Expr) -> bool {
    let mut lists = vec![v];
    check(e, &mut lists)
}

fn is_list(e: &Expr, lists: &[VarId]) -> bool {
    match e {
        Expr::Local(v) => lists.contains(v),
        Expr::Prim { op: PrimOp::Op(Op::Cdr), args, .. } => is_list(&args[0], lists),
        _ => false,
    }
}

fn check(e: &Expr, lists: &mut Vec<VarId>) -> bool {
    deep(|| check_here(e, lists))
}

fn check_here(e: &Expr, lists: &mut Vec<VarId>) -> bool {
    match e {
        Expr::Local(v) => !lists.contains(v),
        Expr::Prim { op: PrimOp::Op(Op::IsNull | Op::IsPair | Op::Car), args, .. } if is_list(&args[0], lists) => {
            true
        }
        Expr::Let(bs, body) => {
            for (v, e) in bs {
                if is_list(e, lists) {
                    lists.push(*v);
                } else if !check(e, lists) {
                    return false;
                }
            }
            check(body, lists)
        }
        Expr::Apply(f, args, _) => {
            let Some((last, init)) = args.split_last() else { return false };
            check(f, lists) && init.iter().all(|a| check(a, lists)) && (is_list(last, lists) || check(last, lists))
        }
        _ => {
            let mut ok = true;
            crate::walk::for_each_child(e, &mut |c| ok = ok && check(c, lists));
            ok
        }
    }
}

/// Nothing but arithmetic on variables, constants and fields of records, the result perhaps in a record?
fn is_arithmetic(e: &Expr) -> bool {
    match e {
        Expr::Let(bs, body) => bs.iter().all(|(_, e)| is_arithmetic(e)) && is_arithmetic(body),
        Expr::Prim { op: PrimOp::Record, args, .. } => args[1..].iter().all(is_number),
        e => is_number(e),
    }
}

fn is_number(e: &Expr) -> bool {
    deep(|| match e {
        Expr::Local(_) | Expr::Const(_) => true,
        Expr::Prim { op: PrimOp::Op(Op::RecordRef | Op::RecordAt), args, .. } => is_number(&args[0]),
        Expr::Prim { op: PrimOp::Op(o), args, .. } => {
            use Op::*;
            matches!(o, Add | Sub | Mul | Div | Quotient | Remainder | Modulo | FloorQuotient | Inexact | Sqrt)
                && args.iter().all(is_number)
        }
        _ => false,
    })
}

/// Does the body end with an access to an element of an array in a record?
fn reaches_element(body: &Expr) -> bool {
    match body {
        Expr::Let(_, body) => reaches_element(body),
        Expr::Seq(es) => es.last().is_some_and(reaches_element),
        Expr::Prim { op: PrimOp::Op(op), .. } => op.index().is_some(),
        _ => false,
    }
}

/// Is it a call of C with the checks of its arguments, and what is called if they fail?
fn makes_c_call(body: &Expr) -> bool {
    match body {
        Expr::If(test, then, other) => makes_c_call(test) || makes_c_call(then) || makes_c_call(other),
        Expr::Let(bindings, body) => {
            let is_call = |e: &Expr| matches!(e, Expr::Prim { op: PrimOp::CCall, .. });
            bindings.iter().any(|(_, e)| is_call(e)) || makes_c_call(body)
        }
        Expr::Labels(_, body) => makes_c_call(body),
        Expr::Prim { op, .. } => matches!(op, PrimOp::Op(Op::CIsQuiet) | PrimOp::CCall),
        _ => false,
    }
}
