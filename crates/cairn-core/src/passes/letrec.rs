//! Fixing `letrec*`: from recursive bindings of anything to recursive bindings of lambdas.
//!
//! ```text
//! before  (letrec ((f (lambda f (x) (g x)))          after  (fix ((g (lambda g (y) y)))
//!                  (g (lambda g (y) y))                       (fix ((f (lambda f (x) (g x))))
//!                  (a (f 1))                                    (let ((a (f 1)))
//!                  (b (h a))                                      (let ((b #!unbound))   ; b may be read too early
//!                  (h (lambda h (z) b)))                            (fix ((h (lambda h (z) (check b))))
//!           (h 2))                                                    (seq (set! b (h a)) (h 2))))))
//! ```
//!
//! After Ghuloum & Dybvig, *Fixing letrec (reloaded)* (2009): bindings are the nodes of a graph, a binding depends on
//! those its right-hand side mentions, and a *complex* right-hand side (one whose evaluation can be noticed) also
//! depends on the complex one before it, which keeps their order. So that a read before the definition is found, what
//! it is in and what it reads count as complex. Strongly connected components, taken in dependency order, become:
//!
//! * one binding without a cycle: `Let` (lambdas: `Fix`);
//! * lambdas never assigned: one `Fix`;
//! * a mix: the variables that lambdas of the component mention, or that are read before they are set, are allocated
//!   first, holding `#!unbound`, and set in order; others are bound by `Let` when their turn comes. Only in the
//!   component's lambdas and in right-hand sides up to its own is such a variable read with a check; everything else
//!   is evaluated after its initialization.
//!
//! The check is `(let ((t x)) (if (eq? t #!unbound) (unbound-variable 'x) t))`, with a runtime call that always fails.
//!
//! Invariant: no `Letrec` is left; new `SetLocal` targets are marked assigned. Complexity: linear in program size times
//! the nesting depth of `letrec` (free variables are collected for each level).

use crate::effects;
use crate::ir::{Expr, Lambda, Literal, Program, VarId};
use crate::prim::{Op, PrimOp};
use crate::walk::{bind_clause, deep, for_each_child_mut, select_clause, take, visit};
use cairn_layout::calls::by_symbol;
use cairn_layout::code::Site;
use rustc_hash::FxHashMap;

/// Runs the pass.
pub fn run(program: &mut Program) {
    let mut forms = std::mem::take(&mut program.forms);
    for form in &mut forms {
        fix(program, form.expr_mut(), Site::NONE);
    }
    program.forms = forms;
}

/// The innermost call or procedure around `e` stands at `around`.
fn fix(program: &mut Program, e: &mut Expr, around: Site) {
    deep(|| {
        let inside = site_of(e).unwrap_or(around);
        for_each_child_mut(e, &mut |c| fix(program, c, inside));
        match e {
            // `((lambda (x) body) e)` is a `let`
            Expr::Call(f, args, _) => {
                if let Expr::Lambda(l) = &mut **f
                    && let Some(i) = select_clause(l, args.len())
                {
                    *e = bind_clause(l.clauses.swap_remove(i), std::mem::take(args));
                    split_let(program, e);
                }
            }
            Expr::Letrec(bindings, body) => {
                let (bindings, body) = (std::mem::take(bindings), take(body));
                *e = fix_bindings(program, bindings, body, around);
            }
            Expr::Let(..) => split_let(program, e),
            _ => {}
        }
    })
}

fn site_of(e: &Expr) -> Option<Site> {
    match e {
        Expr::Call(_, _, site) | Expr::Apply(_, _, site) | Expr::CallCc(_, _, site) => Some(*site),
        Expr::Prim { site, .. } | Expr::SetGlobal(_, _, site) => Some(*site),
        Expr::Lambda(l) => Some(l.site),
        _ => None,
    }
    .filter(|site| *site != Site::NONE)
}

/// Splits the lambdas bound by a `Let` off: a lambda bound to an unassigned variable is a known procedure (`Fix`).
pub(super) fn split_let(program: &Program, e: &mut Expr) {
    let is_procedure = |v: VarId, e: &Expr| matches!(e, Expr::Lambda(_)) && !program.vars[v.0 as usize].assigned;
    let Expr::Let(bindings, body) = e else { return };
    if !bindings.iter().any(|(v, e)| is_procedure(*v, e)) {
        return;
    }
    let (mut procedures, mut others) = (Vec::new(), Vec::new());
    for (v, e) in std::mem::take(bindings) {
        match e {
            Expr::Lambda(l) if !program.vars[v.0 as usize].assigned => procedures.push((v, l)),
            e => others.push((v, e)),
        }
    }
    // one `Fix` each: they do not know each other
    let body = procedures.into_iter().rev().fold(take(body), |body, p| Expr::Fix(vec![p], Box::new(body)));
    *e = if others.is_empty() { body } else { Expr::Let(others, Box::new(body)) };
}

struct Binding {
    var: VarId,
    rhs: Expr,
    /// Indices of the bindings it mentions.
    mentions: Vec<usize>,
    complex: bool,
}

fn fix_bindings(program: &mut Program, bindings: Vec<(VarId, Expr)>, body: Expr, around: Site) -> Expr {
    let index: FxHashMap<VarId, usize> = bindings.iter().enumerate().map(|(i, (v, _))| (*v, i)).collect();
    let mut nodes: Vec<Binding> = bindings
        .into_iter()
        .map(|(var, rhs)| {
            let mut mentions = Vec::new();
            visit(&rhs, &mut |e| {
                if let Expr::Local(v) | Expr::SetLocal(v, _) = e {
                    mentions.extend(index.get(v));
                }
            });
            mentions.sort();
            mentions.dedup();
            // a continuation that comes back to what is evaluated before it gives an assigned variable its value again
            let given = program.vars[var.0 as usize].assigned && !matches!(rhs, Expr::Lambda(_));
            let complex = given || !is_simple(program, &rhs);
            Binding { var, rhs, mentions, complex }
        })
        .collect();
    keep_order_of_early_reads(&mut nodes);
    let mut edges: Vec<Vec<usize>> = nodes.iter().map(|n| n.mentions.clone()).collect();
    let mut previous = None;
    for (i, n) in nodes.iter().enumerate() {
        if n.complex {
            edges[i].extend(previous);
            previous = Some(i);
        }
    }
    let components = components(&edges);
    // innermost last: build from the end
    let mut result = body;
    for component in components.into_iter().rev() {
        let taken: Vec<(usize, Binding)> = component
            .iter()
            .map(|i| {
                let hole = Binding {
                    var: nodes[*i].var,
                    rhs: Expr::Const(Literal::Unspecified),
                    mentions: Vec::new(),
                    complex: false,
                };
                (*i, std::mem::replace(&mut nodes[*i], hole))
            })
            .collect();
        result = bind_component(program, taken, result, around);
    }
    result
}

/// A right-hand side that may read a variable that is defined behind it must come before that, for the read to be
/// found: both keep their places. It may read what it mentions, and what the lambdas mention that it mentions.
fn keep_order_of_early_reads(nodes: &mut [Binding]) {
    let is_lambda = |n: &Binding| matches!(n.rhs, Expr::Lambda(_));
    let mut seen = vec![false; nodes.len()];
    for i in 0..nodes.len() {
        if is_lambda(&nodes[i]) {
            continue;
        }
        let early: Vec<usize> = nodes[i].mentions.clone();
        nodes[i].complex |= early.iter().any(|j| *j > i && !is_lambda(&nodes[*j]));
        // what an earlier one has come to keeps its place already
        let mut work = early;
        while let Some(j) = work.pop() {
            if !is_lambda(&nodes[j]) {
                nodes[j].complex |= j > i;
            } else if !std::mem::replace(&mut seen[j], true) {
                work.extend(&nodes[j].mentions);
            }
        }
    }
}

/// Can the evaluation be moved before or after that of other right-hand sides?
fn is_simple(program: &Program, e: &Expr) -> bool {
    if matches!(e, Expr::Lambda(_)) {
        return true;
    }
    let mut assigned = false;
    visit(e, &mut |e| {
        if let Expr::Local(v) = e {
            assigned |= program.vars[v.0 as usize].assigned;
        }
    });
    !assigned && effects::pure(e, &effects::unknown_global)
}

fn bind_component(program: &mut Program, mut component: Vec<(usize, Binding)>, body: Expr, around: Site) -> Expr {
    component.sort_by_key(|(i, _)| *i);
    if let [(i, b)] = &component[..]
        && !b.mentions.contains(i)
    {
        let (_, b) = component.pop().expect("one binding");
        return match b.rhs {
            Expr::Lambda(l) if !program.vars[b.var.0 as usize].assigned => {
                Expr::Fix(vec![(b.var, l)], Box::new(body))
            }
            rhs => Expr::Let(vec![(b.var, rhs)], Box::new(body)),
        };
    }
    let (mut procedures, mut others) = (Vec::new(), Vec::new());
    for (i, b) in component {
        match b.rhs {
            Expr::Lambda(l) if !program.vars[b.var.0 as usize].assigned => {
                procedures.push((i, b.var, l, b.mentions))
            }
            rhs => others.push((i, b.var, rhs, b.mentions)),
        }
    }
    // assigned variables that start as lambdas come first: initializing them runs no code
    others.sort_by_key(|(i, _, rhs, _)| (!matches!(rhs, Expr::Lambda(_)), *i));
    // variables that somebody may read before their turn, or may mention before
    let early: Vec<(usize, VarId)> = others
        .iter()
        .filter(|(i, ..)| {
            procedures.iter().any(|(_, _, _, m)| m.contains(i))
                || others.iter().any(|(j, _, rhs, m)| (j <= i || matches!(rhs, Expr::Lambda(_))) && m.contains(i))
        })
        .map(|(i, v, ..)| (*i, *v))
        .collect();
    for (_, v) in &early {
        program.vars[v.0 as usize].assigned = true;
    }
    let unsure: Vec<(usize, VarId)> = others
        .iter()
        .filter(|(i, _, rhs, _)| !matches!(rhs, Expr::Lambda(_)) && early.iter().any(|(j, _)| i == j))
        .map(|(i, v, ..)| (*i, *v))
        .collect();
    for (j, _, rhs, mentions) in &mut others {
        let lambda = matches!(rhs, Expr::Lambda(_));
        let risky: Vec<VarId> =
            unsure.iter().filter(|(i, _)| (*j <= *i || lambda) && mentions.contains(i)).map(|(_, v)| *v).collect();
        if !risky.is_empty() {
            check_reads(program, rhs, &risky, around, true);
        }
    }
    let fix: Vec<(VarId, Lambda)> = procedures
        .into_iter()
        .map(|(_, v, mut l, mentions)| {
            let risky: Vec<VarId> = unsure.iter().filter(|(i, _)| mentions.contains(i)).map(|(_, v)| *v).collect();
            if !risky.is_empty() {
                l.clauses.iter_mut().for_each(|c| check_reads(program, &mut c.body, &risky, l.site, false));
            }
            (v, l)
        })
        .collect();
    let mut result = body;
    for (_, v, rhs, _) in others.into_iter().rev() {
        result = if early.iter().any(|(_, e)| *e == v) {
            match result {
                Expr::Seq(mut es) => {
                    es.insert(0, Expr::SetLocal(v, Box::new(rhs)));
                    Expr::Seq(es)
                }
                result => Expr::Seq(vec![Expr::SetLocal(v, Box::new(rhs)), result]),
            }
        } else {
            Expr::Let(vec![(v, rhs)], Box::new(result))
        };
    }
    if !fix.is_empty() {
        result = Expr::Fix(fix, Box::new(result));
    }
    if !early.is_empty() {
        let unbound = early.into_iter().map(|(_, v)| (v, Expr::Const(Literal::Unbound))).collect();
        result = Expr::Let(unbound, Box::new(result));
    }
    result
}

/// Replaces reads of `risky` variables by checked reads. A variable has no site of its own: a failure points at the
/// first read if `e` is evaluated with the definitions (`directly`), else at the innermost call or procedure around it,
/// and has that one's frame to return to.
fn check_reads(program: &mut Program, e: &mut Expr, risky: &[VarId], around: Site, directly: bool) {
    deep(|| match e {
        Expr::Local(v) if risky.contains(v) => {
            let (v, name) = (*v, program.vars[v.0 as usize].name.clone());
            let t = program.fresh_var(&name);
            let own = program.early_reads.get(&v).filter(|_| directly);
            let fail = Expr::Prim {
                op: PrimOp::Rt(const { by_symbol("cairn_machine_unbound") }),
                args: vec![Expr::Const(Literal::Symbol(name))],
                site: own.copied().unwrap_or(around).with_who(None),
                proven: 0,
            };
            let test = Expr::Prim {
                op: PrimOp::Op(Op::Eq),
                args: vec![Expr::Local(t), Expr::Const(Literal::Unbound)],
                site: Site::NONE,
                proven: 0,
            };
            let check = Expr::If(Box::new(test), Box::new(fail), Box::new(Expr::Local(t)));
            *e = Expr::Let(vec![(t, Expr::Local(v))], Box::new(check));
        }
        e => {
            let inside = site_of(e).unwrap_or(around);
            let directly = directly && !matches!(e, Expr::Lambda(_) | Expr::Fix(..));
            for_each_child_mut(e, &mut |c| check_reads(program, c, risky, inside, directly));
        }
    })
}

/// Strongly connected components (Tarjan 1972, with explicit stack), dependencies first.
pub(crate) fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let n = edges.len();
    let (mut order, mut low) = (vec![NEW; n], vec![0; n]);
    let mut on_stack = vec![false; n];
    let (mut stack, mut result, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..n {
        if order[root] != NEW {
            continue;
        }
        let mut work = vec![(root, 0)];
        while let Some((v, edge)) = work.pop() {
            if edge == 0 {
                order[v] = next;
                low[v] = next;
                next += 1;
                stack.push(v);
                on_stack[v] = true;
            }
            if let Some(&w) = edges[v].get(edge) {
                work.push((v, edge + 1));
                if order[w] == NEW {
                    work.push((w, 0));
                } else if on_stack[w] {
                    low[v] = low[v].min(order[w]);
                }
                continue;
            }
            if low[v] == order[v] {
                let mut component = Vec::new();
                while let Some(w) = stack.pop() {
                    on_stack[w] = false;
                    component.push(w);
                    if w == v {
                        break;
                    }
                }
                result.push(component);
            }
            if let Some((parent, _)) = work.last() {
                low[*parent] = low[*parent].min(low[v]);
            }
        }
    }
    result
}
