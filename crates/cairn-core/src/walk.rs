//! Walking, copying and measuring expressions: what all passes share.
//!
//! The problem: Core is a plain tree, and real programs make it deep (a quasiquoted list of 100,000 elements is a nest
//! of 100,000 `cons`). Recursion over it must not exhaust the native stack. The idea: recursion stays, but every
//! recursive step goes through [`deep`], which continues on a fresh heap-allocated stack segment when the current one
//! runs low. Orderless walks use [`visit`], which needs no recursion at all. Dropping is the one recursion that is not
//! ours to write: [`dismantle`] takes a tree apart with a work list; `Program` does so when dropped, and passes that
//! throw away large subtrees may do so too ([`with_room`] makes the rest safe inside the optimizer).
//!
//! Invariants: [`for_each_child`] and [`for_each_child_mut`] visit in evaluation order (branches and bodies of lambdas
//! and labels: in textual order); [`copy_fresh`] keeps every variable and label bound exactly once.

use crate::inlined::InlineTable;
use crate::ir::{Clause, Expr, Label, LabelId, Lambda, Literal, Program, TopForm, VarId};
use cairn_layout::code::Site;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Runs one recursive step; grows the native stack when little is left.
#[inline]
pub fn deep<R>(step: impl FnOnce() -> R) -> R {
    count_step();
    stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, step)
}

#[cfg(debug_assertions)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts an expression that somebody looks at, in debug builds.
#[inline]
fn count_step() {
    #[cfg(debug_assertions)]
    STEPS.with(|s| s.set(s.get() + 1));
}

/// How many expressions this thread has looked at: what work the passes do, whatever the machine. Tests of growth ask.
#[cfg(debug_assertions)]
pub fn steps() -> u64 {
    STEPS.with(|s| s.get())
}

/// Runs `work` with enough native stack to drop and clone expressions of this depth recursively.
pub fn with_room<R>(depth: usize, work: impl FnOnce() -> R) -> R {
    // dropping takes two to three small native frames per level; unused stack is never touched
    if depth < 1_000 { work() } else { stacker::grow(64 * 1024 * 1024 + depth * 2048, work) }
}

/// Number of levels of the program's deepest form.
pub fn program_depth(program: &Program) -> usize {
    program.forms.iter().map(|f| depth(f.expr())).max().unwrap_or(0)
}

/// The direct subexpressions of `$e` in evaluation order, by shared or by unique reference.
macro_rules! children {
    ($e:expr, $f:expr, $iter:ident $(, $unique:tt)?) => {
        match $e {
            Expr::Const(_) | Expr::Local(_) | Expr::Global(..) => {}
            Expr::SetLocal(_, e) | Expr::SetGlobal(_, e, _) | Expr::CallCc(_, e, _) => $f(e),
            Expr::If(a, b, c) => {
                $f(a);
                $f(b);
                $f(c);
            }
            Expr::Seq(es) | Expr::Values(es) | Expr::Jump(_, es) => es.$iter().for_each($f),
            Expr::Let(bs, body) | Expr::Letrec(bs, body) => {
                bs.$iter().for_each(|(_, e)| $f(e));
                $f(body);
            }
            Expr::Fix(bs, body) => {
                bs.$iter().flat_map(|(_, l)| & $($unique)? l.clauses).for_each(|c| $f(& $($unique)? c.body));
                $f(body);
            }
            Expr::Lambda(l) => l.clauses.$iter().for_each(|c| $f(& $($unique)? c.body)),
            Expr::Call(g, es, _) | Expr::Apply(g, es, _) => {
                $f(g);
                es.$iter().for_each($f);
            }
            Expr::Prim { args, .. } => args.$iter().for_each($f),
            Expr::Receive { producer, clause, .. } => {
                $f(producer);
                $f(& $($unique)? clause.body);
            }
            Expr::Labels(ls, body) => {
                ls.$iter().for_each(|l| $f(& $($unique)? l.body));
                $f(body);
            }
        }
    };
}

/// Calls `f` on every direct subexpression, in evaluation order.
pub fn for_each_child<'a>(e: &'a Expr, f: &mut (impl FnMut(&'a Expr) + ?Sized)) {
    children!(e, f, iter)
}

/// Calls `f` on every direct subexpression, in evaluation order.
pub fn for_each_child_mut(e: &mut Expr, f: &mut (impl FnMut(&mut Expr) + ?Sized)) {
    children!(e, f, iter_mut, mut)
}

/// Calls `f` on `e` and everything below it, parents first, otherwise in no particular order. Needs no native stack.
pub fn visit<'a>(e: &'a Expr, f: &mut impl FnMut(&'a Expr)) {
    let mut work = vec![e];
    while let Some(e) = work.pop() {
        count_step();
        f(e);
        for_each_child(e, &mut |c| work.push(c));
    }
}

/// Like [`visit`], but `f` decides whether to look below an expression.
pub fn visit_some<'a>(e: &'a Expr, f: &mut impl FnMut(&'a Expr) -> bool) {
    let mut work = vec![e];
    while let Some(e) = work.pop() {
        count_step();
        if f(e) {
            for_each_child(e, &mut |c| work.push(c));
        }
    }
}

/// Calls `f` on `e` and everything below it that is evaluated when `e` is: not the bodies of lambdas.
pub fn visit_now<'a>(e: &'a Expr, f: &mut impl FnMut(&'a Expr)) {
    let mut work = vec![e];
    while let Some(e) = work.pop() {
        count_step();
        f(e);
        match e {
            Expr::Lambda(_) => {}
            Expr::Fix(_, body) => work.push(body),
            _ => for_each_child(e, &mut |c| work.push(c)),
        }
    }
}

/// Rewrites bottom-up: `f` sees every expression after its children.
pub fn rewrite(e: &mut Expr, f: &mut impl FnMut(&mut Expr)) {
    deep(|| {
        for_each_child_mut(e, &mut |c| rewrite(c, f));
        f(e);
    })
}

/// Calls `f` on every call in tail position of a procedure in `e`; parts first.
pub fn tail_calls(e: &mut Expr, f: &mut impl FnMut(&mut Expr)) {
    fn go(e: &mut Expr, tail: bool, f: &mut impl FnMut(&mut Expr)) {
        deep(|| match e {
            Expr::If(test, then, other) => {
                go(test, false, f);
                go(then, tail, f);
                go(other, tail, f);
            }
            Expr::Seq(es) => {
                let last = es.len().saturating_sub(1);
                es.iter_mut().enumerate().for_each(|(i, e)| go(e, tail && i == last, f));
            }
            Expr::Let(bs, body) | Expr::Letrec(bs, body) => {
                bs.iter_mut().for_each(|(_, e)| go(e, false, f));
                go(body, tail, f);
            }
            Expr::Fix(bs, body) => {
                bs.iter_mut().flat_map(|(_, l)| &mut l.clauses).for_each(|c| go(&mut c.body, true, f));
                go(body, tail, f);
            }
            Expr::Lambda(l) => l.clauses.iter_mut().for_each(|c| go(&mut c.body, true, f)),
            Expr::Receive { producer, clause, .. } => {
                go(producer, false, f);
                go(&mut clause.body, tail, f);
            }
            Expr::Labels(ls, body) => {
                ls.iter_mut().for_each(|l| go(&mut l.body, tail, f));
                go(body, tail, f);
            }
            e => {
                for_each_child_mut(e, &mut |c| go(c, false, f));
                if tail && matches!(e, Expr::Call(..) | Expr::Apply(..)) {
                    f(e);
                }
            }
        })
    }
    go(e, false, f)
}

/// Takes the expression out, leaving a constant.
pub fn take(e: &mut Expr) -> Expr {
    std::mem::replace(e, Expr::Const(Literal::Unspecified))
}

/// Number of levels of the tree.
pub fn depth(e: &Expr) -> usize {
    let mut work = vec![(e, 1)];
    let mut deepest = 0;
    while let Some((e, d)) = work.pop() {
        deepest = deepest.max(d);
        for_each_child(e, &mut |c| work.push((c, d + 1)));
    }
    deepest
}

/// Number of nodes: the usual estimate of code size. Constants and variables count 1.
pub fn size(e: &Expr) -> usize {
    let mut n = 0;
    visit(e, &mut |_| n += 1);
    n
}

/// Is [`size`] at most `limit`? Stops looking beyond it.
pub fn size_at_most(e: &Expr, limit: usize) -> bool {
    let mut n = 0;
    visit_some(e, &mut |_| {
        n += 1;
        n <= limit
    });
    n <= limit
}

/// Takes an expression apart without recursion.
pub fn dismantle(e: Expr) {
    let mut work = vec![e];
    while let Some(mut e) = work.pop() {
        for_each_child_mut(&mut e, &mut |c| {
            if !matches!(c, Expr::Const(_) | Expr::Local(_) | Expr::Global(..)) {
                work.push(take(c));
            }
        });
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        for form in self.forms.drain(..) {
            match form {
                TopForm::Define(_, e) | TopForm::Expr(e) => dismantle(e),
            }
        }
    }
}

impl Clone for Expr {
    fn clone(&self) -> Expr {
        deep(|| match self {
            Expr::Const(l) => Expr::Const(l.clone()),
            Expr::Local(v) => Expr::Local(*v),
            Expr::Global(g, s) => Expr::Global(*g, *s),
            Expr::SetLocal(v, e) => Expr::SetLocal(*v, e.clone()),
            Expr::SetGlobal(g, e, s) => Expr::SetGlobal(*g, e.clone(), *s),
            Expr::If(a, b, c) => Expr::If(a.clone(), b.clone(), c.clone()),
            Expr::Seq(es) => Expr::Seq(es.clone()),
            Expr::Let(bs, body) => Expr::Let(bs.clone(), body.clone()),
            Expr::Letrec(bs, body) => Expr::Letrec(bs.clone(), body.clone()),
            Expr::Fix(bs, body) => Expr::Fix(bs.clone(), body.clone()),
            Expr::Lambda(l) => Expr::Lambda(l.clone()),
            Expr::Call(f, es, s) => Expr::Call(f.clone(), es.clone(), *s),
            Expr::Apply(f, es, s) => Expr::Apply(f.clone(), es.clone(), *s),
            Expr::Prim { op, args, site, proven } => {
                Expr::Prim { op: *op, args: args.clone(), site: *site, proven: *proven }
            }
            Expr::Values(es) => Expr::Values(es.clone()),
            Expr::Receive { producer, clause, site } => {
                Expr::Receive { producer: producer.clone(), clause: clause.clone(), site: *site }
            }
            Expr::CallCc(n, e, s) => Expr::CallCc(*n, e.clone(), *s),
            Expr::Labels(ls, body) => Expr::Labels(ls.clone(), body.clone()),
            Expr::Jump(l, es) => Expr::Jump(*l, es.clone()),
        })
    }
}

/// How [`copy_fresh`] renames: variables and labels bound inside the copy get fresh names; others are looked up here
/// and kept when absent.
#[derive(Default, Debug)]
pub struct Renaming {
    /// Variables.
    pub vars: FxHashMap<VarId, VarId>,
    /// Labels.
    pub labels: FxHashMap<LabelId, LabelId>,
    /// What becomes of source positions.
    pub positions: Positions,
}

/// What becomes of source positions in a copy.
#[derive(Clone, Default, Debug)]
pub enum Positions {
    /// They stay.
    #[default]
    Keep,
    /// They become positions in a body of `procedure` that was inlined at the call `at`.
    Inlined {
        /// Name of the procedure.
        procedure: Rc<str>,
        /// Site of the call.
        at: Site,
    },
    /// They become positions in a procedure nested in such a body.
    Nested {
        /// Site of the call.
        at: Site,
    },
}

impl Renaming {
    /// A fresh name for `v`, remembered.
    pub fn bind(&mut self, program: &mut Program, v: VarId) -> VarId {
        program.vars[v.0 as usize].copied = true;
        let info = program.vars[v.0 as usize].clone();
        program.vars.push(info);
        let fresh = VarId(program.vars.len() as u32 - 1);
        self.vars.insert(v, fresh);
        fresh
    }
    /// A fresh name for `l`, remembered.
    pub fn bind_label(&mut self, program: &mut Program, l: LabelId) -> LabelId {
        let fresh = program.fresh_label();
        self.labels.insert(l, fresh);
        fresh
    }
    fn var(&self, v: VarId) -> VarId {
        self.vars.get(&v).copied().unwrap_or(v)
    }
    fn site(&self, program: &mut Program, s: Site) -> Site {
        match &self.positions {
            Positions::Keep => s,
            Positions::Inlined { procedure, at } => program.inlined.inline(s, procedure, *at),
            Positions::Nested { at } => program.inlined.inline_nested(s, *at),
        }
    }
}

/// A copy of `e` in which everything bound inside is renamed afresh.
pub fn copy_fresh(program: &mut Program, e: &Expr, names: &mut Renaming) -> Expr {
    deep(|| {
        macro_rules! copy {
            ($e:expr) => {
                copy_fresh(program, $e, names)
            };
        }
        macro_rules! boxed {
            ($e:expr) => {
                Box::new(copy_fresh(program, $e, names))
            };
        }
        macro_rules! many {
            ($es:expr) => {
                $es.iter().map(|e| copy_fresh(program, e, names)).collect()
            };
        }
        match e {
            Expr::Const(l) => Expr::Const(l.clone()),
            Expr::Local(v) => Expr::Local(names.var(*v)),
            Expr::Global(g, s) => Expr::Global(*g, names.site(program, *s)),
            Expr::SetLocal(v, e) => Expr::SetLocal(names.var(*v), boxed!(e)),
            Expr::SetGlobal(g, e, s) => Expr::SetGlobal(*g, boxed!(e), names.site(program, *s)),
            Expr::If(a, b, c) => Expr::If(boxed!(a), boxed!(b), boxed!(c)),
            Expr::Seq(es) => Expr::Seq(many!(es)),
            Expr::Let(bs, body) => {
                let bs = bs.iter().map(|(v, e)| (*v, copy!(e))).collect::<Vec<_>>();
                let bs = bs.into_iter().map(|(v, e)| (names.bind(program, v), e)).collect();
                Expr::Let(bs, boxed!(body))
            }
            Expr::Letrec(bs, body) => {
                let vars: Vec<_> = bs.iter().map(|(v, _)| names.bind(program, *v)).collect();
                let bs = vars.into_iter().zip(bs).map(|(v, (_, e))| (v, copy!(e))).collect();
                Expr::Letrec(bs, boxed!(body))
            }
            Expr::Fix(bs, body) => {
                let vars: Vec<_> = bs.iter().map(|(v, _)| names.bind(program, *v)).collect();
                let bs = vars.into_iter().zip(bs).map(|(v, (_, l))| (v, copy_lambda(program, l, names))).collect();
                Expr::Fix(bs, boxed!(body))
            }
            Expr::Lambda(l) => Expr::Lambda(copy_lambda(program, l, names)),
            Expr::Call(f, es, s) => Expr::Call(boxed!(f), many!(es), names.site(program, *s)),
            Expr::Apply(f, es, s) => Expr::Apply(boxed!(f), many!(es), names.site(program, *s)),
            Expr::Prim { op, args, site, proven } => {
                Expr::Prim { op: *op, args: many!(args), site: names.site(program, *site), proven: *proven }
            }
            Expr::Values(es) => Expr::Values(many!(es)),
            Expr::Receive { producer, clause, site } => Expr::Receive {
                producer: boxed!(producer),
                clause: Box::new(copy_clause(program, clause, names)),
                site: names.site(program, *site),
            },
            Expr::CallCc(n, e, s) => Expr::CallCc(*n, boxed!(e), names.site(program, *s)),
            Expr::Labels(ls, body) => {
                let ids: Vec<_> = ls.iter().map(|l| names.bind_label(program, l.id)).collect();
                let ls = ids
                    .into_iter()
                    .zip(ls)
                    .map(|(id, l)| {
                        let params = l.params.iter().map(|v| names.bind(program, *v)).collect();
                        Label { id, params, body: copy!(&l.body) }
                    })
                    .collect();
                Expr::Labels(ls, boxed!(body))
            }
            Expr::Jump(l, es) => Expr::Jump(names.labels.get(l).copied().unwrap_or(*l), many!(es)),
        }
    })
}

/// A copy of a clause with fresh parameters and body.
pub fn copy_clause(program: &mut Program, c: &Clause, names: &mut Renaming) -> Clause {
    let params = c.params.iter().map(|v| names.bind(program, *v)).collect();
    let rest = c.rest.map(|v| names.bind(program, v));
    Clause { params, rest, body: copy_fresh(program, &c.body, names) }
}

/// A copy of a lambda with everything bound inside renamed.
pub fn copy_lambda(program: &mut Program, l: &Lambda, names: &mut Renaming) -> Lambda {
    let nested = match names.positions {
        Positions::Inlined { at, .. } | Positions::Nested { at } => Positions::Nested { at },
        Positions::Keep => Positions::Keep,
    };
    let around = std::mem::replace(&mut names.positions, nested);
    let clauses = l.clauses.iter().map(|c| copy_clause(program, c, names)).collect();
    names.positions = around;
    Lambda { name: l.name.clone(), clauses, site: l.site }
}

/// Calls `f` on every variable bound directly by `e` (not below).
pub fn for_each_binder(e: &Expr, f: &mut impl FnMut(VarId)) {
    let clause = |c: &Clause, f: &mut dyn FnMut(VarId)| {
        c.params.iter().for_each(|v| f(*v));
        c.rest.iter().for_each(|v| f(*v));
    };
    match e {
        Expr::Let(bs, _) | Expr::Letrec(bs, _) => bs.iter().for_each(|(v, _)| f(*v)),
        Expr::Fix(bs, _) => bs.iter().for_each(|(v, l)| {
            f(*v);
            l.clauses.iter().for_each(|c| clause(c, f));
        }),
        Expr::Lambda(l) => l.clauses.iter().for_each(|c| clause(c, f)),
        Expr::Receive { clause: c, .. } => clause(c, f),
        Expr::Labels(ls, _) => ls.iter().flat_map(|l| &l.params).for_each(|v| f(*v)),
        _ => {}
    }
}

/// Number of occurrences of each local variable (reads; `SetLocal` counts too), indexed by `VarId`.
pub fn count_uses(program: &Program) -> Vec<u32> {
    let mut uses = vec![0; program.vars.len()];
    for form in &program.forms {
        visit(form.expr(), &mut |e| {
            if let Expr::Local(v) | Expr::SetLocal(v, _) = e {
                uses[v.0 as usize] += 1;
            }
        });
    }
    uses
}

/// Index of the clause that accepts `count` arguments.
pub fn select_clause(l: &Lambda, count: usize) -> Option<usize> {
    l.clauses.iter().position(|c| c.params.len() == count || (c.rest.is_some() && c.params.len() <= count))
}

/// `cons` cells holding `items`, as an expression: evaluates them left to right.
pub fn list_expr(items: Vec<Expr>) -> Expr {
    let cons = crate::prim::PrimOp::Op(crate::prim::Op::Cons);
    items.into_iter().rev().fold(Expr::Const(Literal::Nil), |rest, x| Expr::Prim {
        op: cons,
        args: vec![x, rest],
        site: Site::NONE,
        proven: 0,
    })
}

/// Binds `clause`'s parameters to `args` around its body: what a call with these arguments does. The count must fit.
pub fn bind_clause(clause: Clause, mut args: Vec<Expr>) -> Expr {
    let extra = args.split_off(clause.params.len());
    let mut bindings: Vec<_> = clause.params.into_iter().zip(args).collect();
    match clause.rest {
        Some(rest) => bindings.push((rest, list_expr(extra))),
        None => assert!(extra.is_empty(), "argument count was checked by the caller"),
    }
    if bindings.is_empty() { clause.body } else { Expr::Let(bindings, Box::new(clause.body)) }
}

impl TopForm {
    /// The form's expression.
    pub fn expr(&self) -> &Expr {
        match self {
            TopForm::Define(_, e) | TopForm::Expr(e) => e,
        }
    }
    /// The form's expression.
    pub fn expr_mut(&mut self) -> &mut Expr {
        match self {
            TopForm::Define(_, e) | TopForm::Expr(e) => e,
        }
    }
}

/// Calls `f` on every position in `e`, and tells whether it is in a procedure there.
pub fn each_site(e: &mut Expr, nested: bool, f: &mut impl FnMut(&mut Site, bool)) {
    deep(|| {
        if let Some(site) = site_mut(e) {
            f(site, nested);
        }
        match e {
            Expr::Lambda(l) => l.clauses.iter_mut().for_each(|c| each_site(&mut c.body, true, f)),
            Expr::Fix(bs, body) => {
                bs.iter_mut().flat_map(|(_, l)| &mut l.clauses).for_each(|c| each_site(&mut c.body, true, f));
                each_site(body, nested, f);
            }
            e => for_each_child_mut(e, &mut |c| each_site(c, nested, f)),
        }
    })
}

fn site_mut(e: &mut Expr) -> Option<&mut Site> {
    match e {
        Expr::Global(_, s) | Expr::SetGlobal(_, _, s) | Expr::Call(_, _, s) | Expr::Apply(_, _, s) => Some(s),
        Expr::Prim { site, .. } | Expr::Receive { site, .. } => Some(site),
        Expr::CallCc(_, _, s) => Some(s),
        _ => None,
    }
}

impl InlineTable {
    /// Positions in the body of `procedure`, which moves to its call at `site`.
    pub fn move_body(&mut self, body: &mut Expr, procedure: &Rc<str>, site: Site) {
        each_site(body, false, &mut |s, nested| {
            *s = if nested { self.inline_nested(*s, site) } else { self.inline(*s, procedure, site) };
        });
    }
}

impl Program {
    /// How many expressions there are.
    pub fn expressions(&self) -> usize {
        let mut count = 0;
        self.forms.iter().for_each(|f| visit(f.expr(), &mut |_| count += 1));
        count
    }
}
