//! Moving a right-hand side to the single use of its variable.
//!
//! ```text
//! before  (let ((x (%car p))) (let ((y (%cdr p))) (f y x)))     after  (let ((y (%cdr p))) (f y (%car p)))
//! ```
//!
//! The use is looked for along the order of evaluation; the search ends at the first thing that does not commute with
//! the right-hand side, at a lambda or loop (code that may run more often), and after a while. An expression without
//! effects that somebody could miss may move into a branch: then it is not evaluated when the other one is taken.
//!
//! A right-hand side that can fail may be what proves the operands of later operations:
//!
//! ```text
//! (let ((x (%car p))) (%cons (%cdr:1 p) x))         ; stays: `p` is a pair because `%car` succeeded
//! ```
//!
//! So it does not pass operations with proven operands once one of its own variables has been seen on the way.

use super::state::Simplifier;
use crate::effects::{self, Effects, jumps_out};
use crate::ir::{Expr, VarId};
use crate::prim::fixnum_bit;
use crate::walk::{deep, visit};

enum Search {
    /// Found and replaced.
    Done,
    /// Not here; all that was passed commutes.
    On,
    /// Must not go further.
    Stop,
}

/// Nodes looked at per variable.
const PATIENCE: u32 = 200;

struct Placing<'a, 'b> {
    simplifier: &'a Simplifier<'b>,
    v: VarId,
    e: &'a mut Option<Expr>,
    effects: Effects,
    /// Variables of an `e` that can fail: its success says something about them.
    told: Vec<VarId>,
    /// Has one of them been passed?
    met: bool,
    patience: u32,
}

impl Simplifier<'_> {
    /// Replaces the only occurrence of `v` in `body` by `e`, if that changes nothing else.
    pub(super) fn place(&self, v: VarId, e: &mut Option<Expr>, body: &mut Expr) {
        let Some(inner) = e.as_ref() else { return };
        let effects = self.effects(inner);
        // a read of a variable that is bound twice in a row is all the same; jumps never occur in right-hand sides
        debug_assert!(!jumps_out(inner));
        let mut told = Vec::new();
        if effects.meets(Effects::FAIL) {
            visit(inner, &mut |e| {
                if let Expr::Local(v) = e {
                    told.push(*v);
                }
            });
        }
        Placing { simplifier: self, v, e, effects, told, met: false, patience: PATIENCE }.search(body);
    }
}

impl Placing<'_, '_> {
    fn pass(&self, others: Effects) -> Search {
        if self.effects.commutes(others) { Search::On } else { Search::Stop }
    }

    fn many<'e>(&mut self, es: impl IntoIterator<Item = &'e mut Expr>) -> Search {
        for e in es {
            match self.search(e) {
                Search::On => {}
                end => return end,
            }
        }
        Search::On
    }

    fn then(&mut self, first: Search, others: Effects) -> Search {
        match first {
            Search::On => self.pass(others),
            end => end,
        }
    }

    fn search(&mut self, body: &mut Expr) -> Search {
        if self.patience == 0 {
            return Search::Stop;
        }
        self.patience -= 1;
        deep(|| match body {
            Expr::Local(v) if *v == self.v => {
                *body = self.e.take().expect("placed once");
                Search::Done
            }
            Expr::Local(v) => {
                self.met |= self.told.contains(v);
                Search::On
            }
            Expr::Const(_) | Expr::Lambda(_) => Search::On,
            Expr::Global(g, _) => self.pass(self.simplifier.facts.read_effects(*g)),
            Expr::SetLocal(..) | Expr::Letrec(..) => Search::Stop,
            Expr::SetGlobal(_, e, _) => {
                let first = self.search(e);
                self.then(first, Effects::WRITE.and(Effects::FAIL))
            }
            Expr::If(t, a, b) => match self.search(t) {
                Search::On if self.effects.within(Effects::ALLOC.and(Effects::READ)) => {
                    // in one branch or the other, or behind both
                    match self.search(a) {
                        Search::Done => Search::Done,
                        Search::On => self.search(b),
                        Search::Stop => match self.search(b) {
                            Search::Done => Search::Done,
                            _ => Search::Stop,
                        },
                    }
                }
                Search::On => Search::Stop,
                end => end,
            },
            Expr::Seq(es) => self.many(es),
            Expr::Let(bs, body) => match self.many(bs.iter_mut().map(|(_, e)| e)) {
                Search::On => self.search(body),
                end => end,
            },
            Expr::Fix(_, body) => self.search(body),
            Expr::Call(f, es, _) | Expr::Apply(f, es, _) => {
                let first = self.many(std::iter::once(&mut **f).chain(es));
                self.then(first, Effects::WRITE.and(Effects::FAIL))
            }
            Expr::CallCc(_, f, _) => {
                let first = self.search(f);
                self.then(first, Effects::WRITE.and(Effects::FAIL))
            }
            Expr::Prim { op, args, proven, .. } => {
                let effects = effects::of_prim(*op, *proven);
                match self.many(&mut *args) {
                    Search::On if self.met && relies(args, *proven) => Search::Stop,
                    first => self.then(first, effects),
                }
            }
            Expr::Values(es) | Expr::Jump(_, es) => self.many(es),
            Expr::Receive { producer, clause, .. } => {
                let first = self.search(producer);
                match self.then(first, Effects::FAIL) {
                    Search::On => self.search(&mut clause.body),
                    end => end,
                }
            }
            // label bodies may run again
            Expr::Labels(_, body) => match self.search(body) {
                Search::Done => Search::Done,
                _ => Search::Stop,
            },
        })
    }
}

/// Is some operand that is no constant taken for what it is without a test?
fn relies(args: &[Expr], proven: u8) -> bool {
    let bits = |i: usize| 1 << i | fixnum_bit(i);
    args.iter().take(4).enumerate().any(|(i, a)| !matches!(a, Expr::Const(_)) && proven & bits(i) != 0)
}
