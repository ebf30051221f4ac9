//! What lives behind a part of an expression.
//!
//! The problem: frames of evaluated code hold the scope that the rest of their expression needs, and a scope holds all
//! variables that are visible, also those that nobody will look at again: what they refer to would stay reachable, from
//! a continuation even for ever. Scopes cannot be cleared, for a continuation may enter code again. The idea: where a
//! call leaves an expression unfinished and some of the visible variables are not mentioned in what is left of it, that
//! is given a scope of its own, with the others (`trim` in `cairn-eval/src/encode.rs`).
//!
//! Mentions of variables are counted in the order of evaluation, the bodies of lambdas where these are made. Each
//! expression then covers a span of numbers, and so does what is left of it behind one of its parts: a variable lives
//! there if it has a mention in that span.
//!
//! Complexity: linear, and a binary search for each visible variable where it is asked for.

use crate::ir::{Expr, Lambda, Program, VarId};
use crate::walk::{deep, for_each_child};
use rustc_hash::FxHashMap;

/// Where more variables are visible, nobody asks: programs written by programs have a hundred thousand, and a scope of
/// the living ones at each of them would be quadratic.
const MOST_VISIBLE: usize = 64;

/// The mentions below an expression that has parts.
#[derive(Clone, Copy)]
struct Span {
    end: u32,
    /// Does its evaluation call procedures, which may take long, or keep their continuation?
    calls: bool,
}

/// The spans of all expressions of some forms.
#[derive(Default)]
pub struct Liveness {
    spans: FxHashMap<*const Expr, Span>,
    mentions: FxHashMap<VarId, Vec<u32>>,
    count: u32,
}

impl Liveness {
    /// Of the forms of a program.
    pub fn of(program: &Program) -> Liveness {
        let mut all = Liveness::default();
        for form in &program.forms {
            all.expr(form.expr());
        }
        all
    }

    /// Which of the visible variables live behind `part` in `whole`; `None` if all do, or if nothing can happen before
    /// the rest is evaluated.
    pub fn behind(&self, part: &Expr, whole: &Expr, visible: &[VarId]) -> Option<Vec<VarId>> {
        let span = self.spans.get(&(part as *const _)).filter(|s| s.calls)?;
        if visible.is_empty() || visible.len() > MOST_VISIBLE {
            return None;
        }
        let end = self.spans.get(&(whole as *const _))?.end;
        let lives = |v: &VarId| {
            self.mentions.get(v).is_some_and(|all| {
                let next = all.partition_point(|n| *n < span.end);
                all.get(next).is_some_and(|n| *n < end)
            })
        };
        let live: Vec<VarId> = visible.iter().copied().filter(lives).collect();
        (live.len() < visible.len()).then_some(live)
    }

    fn expr(&mut self, e: &Expr) -> bool {
        deep(|| self.expr_here(e))
    }

    fn expr_here(&mut self, e: &Expr) -> bool {
        let calls = match e {
            Expr::Const(_) | Expr::Global(..) => return false,
            Expr::Local(v) => {
                self.mentions.entry(*v).or_default().push(self.count);
                self.count += 1;
                return false;
            }
            Expr::Lambda(l) => {
                self.lambda(l);
                false
            }
            Expr::Fix(bs, body) => {
                bs.iter().for_each(|(_, l)| self.lambda(l));
                self.expr(body)
            }
            e => {
                let mut calls =
                    matches!(e, Expr::Call(..) | Expr::Apply(..) | Expr::CallCc(..) | Expr::Receive { .. });
                for_each_child(e, &mut |c| calls |= self.expr(c));
                calls
            }
        };
        self.spans.insert(e, Span { end: self.count, calls });
        calls
    }

    fn lambda(&mut self, l: &Lambda) {
        l.clauses.iter().for_each(|c| {
            self.expr(&c.body);
        });
    }
}
