//! Several values: their types, from `values` to the parameters that receive them.
//!
//! ```text
//! (define @nearest (lambda (scene) (if … (values best distance) …)))       ; distance is a flonum
//! (receive (@nearest scene) (s t) …)                                        ; so t is one
//! ```
//!
//! The idea: what is in tail position of a producer delivers to the receiver's parameters, and what is in tail position
//! of a procedure delivers to the calls that are in such positions. Where something is called that is not seen, the
//! values may be anything.
//!
//! Invariants: [`Types::expr`] forgets the receiver, since most expressions deliver to somebody else;
//! [`Types::tail`] keeps it. A wrong number of values is an error, so it says nothing about the parameters.

use super::lattice::{Type, bits::*};
use super::state::{Receiver, Types};
use super::targets::ProcedureId;
use crate::ir::{Clause, Expr};
use crate::walk::deep;

impl Types {
    /// Walks an expression in tail position.
    pub(super) fn tail(&mut self, e: &mut Expr) -> Type {
        deep(|| self.expr_here(e))
    }

    /// Walks what delivers its values to `receiver`.
    pub(super) fn for_receiver(
        &mut self,
        receiver: Option<Receiver>,
        walk: impl FnOnce(&mut Self) -> Type,
    ) -> Type {
        let before = std::mem::replace(&mut self.receiver, receiver);
        let t = walk(self);
        self.receiver = before;
        t
    }

    /// Several values are delivered.
    pub(super) fn deliver(&mut self, types: &[Type]) {
        match self.receiver.clone() {
            Some(Receiver::Callers(p)) => {
                let news = self.procedures.several(p).grow(types);
                self.returns_more(p, news);
            }
            Some(Receiver::Parameters(vars)) if vars.len() == types.len() => {
                for (v, t) in vars.iter().zip(types) {
                    self.forms.again |= self.slots.grow(*v, *t);
                }
            }
            _ => {}
        }
    }

    /// Whatever is delivered is not seen.
    pub(super) fn deliver_unknown(&mut self) {
        match self.receiver.clone() {
            Some(Receiver::Callers(p)) => {
                let news = !std::mem::replace(&mut self.procedures.several(p).unknown, true);
                self.returns_more(p, news);
            }
            Some(Receiver::Parameters(vars)) => {
                for v in vars.iter() {
                    self.forms.again |= self.slots.grow(*v, Type::ANY);
                }
            }
            None => {}
        }
    }

    /// What a call of a known procedure returns is delivered.
    pub(super) fn deliver_results(&mut self, p: ProcedureId) {
        let Some(receiver) = self.receiver.clone() else { return };
        let several = self.procedures.several(p);
        if several.unknown {
            return self.deliver_unknown();
        }
        match receiver {
            Receiver::Callers(_) => {
                let all: Vec<Vec<Type>> =
                    several.counts.iter().map(|(_, slots)| slots.iter().map(|s| s.ty).collect()).collect();
                all.iter().for_each(|types| self.deliver(types));
            }
            Receiver::Parameters(vars) => {
                if let Some(types) = several.of(vars.len()) {
                    self.deliver(&types);
                }
            }
        }
    }

    /// `receive`: types of parameters come from what is delivered.
    pub(super) fn receive(&mut self, producer: &mut Expr, clause: &mut Clause) -> Type {
        let all = clause.rest.is_none() && clause.params.len() != 1;
        let receiver = all.then(|| Receiver::Parameters(clause.params[..].into()));
        if self.for_receiver(receiver, |t| t.tail(producer)).is_none() {
            return Type::NONE;
        }
        for v in &clause.params {
            let t = if all { self.slots.get(*v) } else { Type::ANY };
            if t.is_none() {
                return t; // nobody delivers so many values
            }
            self.env.bind(*v, t);
        }
        if let Some(v) = clause.rest {
            self.env.bind(v, Type::of(NULL | PAIR));
        }
        self.tail(&mut clause.body)
    }
}
