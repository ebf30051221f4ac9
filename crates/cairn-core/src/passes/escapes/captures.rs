//! Which expressions capture a continuation, and for what.

use crate::ir::{Clause, Expr, GlobalId, Lambda, Shots, VarId};
use cairn_layout::code::Site;
use rustc_hash::FxHashMap;

/// Which expressions capture.
pub(super) struct Captures {
    pub(super) wrappers: FxHashMap<GlobalId, Shots>,
}

impl Captures {
    pub(super) fn captures(&self, e: &Expr) -> bool {
        self.receiver(e).is_some()
    }

    /// How an expression captures, and for what.
    pub(super) fn receiver<'a>(&self, e: &'a Expr) -> Option<(Shots, &'a Expr, Site)> {
        match e {
            Expr::CallCc(shots, f, site) => Some((*shots, f, *site)),
            Expr::Call(f, args, site) => match (&**f, &args[..]) {
                (Expr::Global(g, _), [receiver]) => Some((*self.wrappers.get(g)?, receiver, *site)),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn receiver_mut<'a>(&self, e: &'a mut Expr) -> Option<&'a mut Expr> {
        match e {
            Expr::CallCc(_, f, _) => Some(f),
            Expr::Call(f, args, _) => match (&**f, &mut args[..]) {
                (Expr::Global(g, _), [receiver]) if self.wrappers.contains_key(g) => Some(receiver),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The lambda of a receiver that takes a continuation, and the continuation.
pub(super) fn takes_one(receiver: &Expr) -> Option<(&Lambda, VarId)> {
    let Expr::Lambda(l) = receiver else { return None };
    match &l.clauses[..] {
        [Clause { params, rest: None, .. }] if params.len() == 1 => Some((l, params[0])),
        _ => None,
    }
}
