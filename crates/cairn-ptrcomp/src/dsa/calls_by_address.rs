//! Which functions can a call by address call?
//!
//! The problem: that the analysis of the program tells, which needs to know what is called. So it is first done with
//! calls that call nothing; what then flows into the addresses that are called is assumed of the next analysis, until
//! one finds no more than it has assumed. The assumption only grows, so there is an end; where it comes late, each call
//! is taken to call any function whose address is taken.
//!
//! ```text
//!  struct hooks { void *(*allocate)(size_t); } hooks = { malloc };
//!  first:   hooks.allocate(24) calls nothing       finds {malloc}
//!  second:  it calls malloc                        finds {malloc}: done
//! ```
//!
//! Nodes without a known layout may be copied as numbers, which no edge of the graph tells. So an address that lay in
//! one may be of any function whose address lay in one.
//!
//! Invariant: a call by address of a finished analysis calls one of [`Assumed::callees`], or code outside; then all
//! that it gives and gets has escaped. A function that isn't `entered` is only called by name.
//!
//! Where a call can only call one function, it can be made a call by name (`whole_program`), which is analysed for
//! itself: what one `hooks.allocate` returns is then told apart from what another does. To find these calls, they are
//! analysed as calls by name as long as nothing speaks against it ([`super::assumed::Singles::Named`]): if all that
//! `allocate` returns were one node, it would hold the hooks, too.
//!
//! Differences to Lattner (2005): he resolves calls while graphs are put into each other; here copies of graphs must be
//! complete when they are made.

use super::analysis::Analysis;
use super::assumed::{Assumed, can_call, is_pointer};
use super::points_to::flag;
use crate::model::*;
use std::collections::BTreeSet;

/// An assumption with more rounds is given up for the coarsest.
const MOST_ROUNDS: usize = 12;

impl Assumed {
    /// Adds what an analysis under this assumption has found; false if that is nothing new.
    pub(super) fn add(&mut self, analysis: &Analysis) -> bool {
        if self.all.is_some() {
            return false;
        }
        let module = analysis.module;
        let taken: BTreeSet<FuncId> =
            module.function_ids().filter(|id| module.function(*id).address_taken).collect();
        let of = |id: &FuncId| analysis.known(*id, Operand::Function(*id)).map(|c| analysis.graph.at(c));
        let flagged = |flags: u16| -> BTreeSet<FuncId> {
            taken.iter().copied().filter(|id| of(id).is_some_and(|n| n.flags & flags != 0)).collect()
        };
        const VAGUE: u16 = flag::ESCAPED | flag::SEEN | flag::MIXED;
        let (outside, vague) = (flagged(flag::ESCAPED), flagged(VAGUE));
        let before = self.size();
        self.entered.extend(outside.iter().chain(&analysis.called_back));
        for &(function, value, target) in &analysis.indirect {
            let node = analysis.graph.at(target);
            if node.flags & flag::ESCAPED != 0 {
                self.outside.insert((function, value));
            }
            let vague = vague.iter().filter(|_| node.flags & VAGUE != 0);
            let vague = vague.filter(|id| fits(module, function, value, **id));
            let sure = node.functions.iter().filter(|id| can_call(module, function, value, **id));
            let called: BTreeSet<FuncId> = sure.chain(vague).copied().collect();
            self.calls.entry((function, value)).or_default().extend(called);
        }
        for (&(function, value), called) in &self.calls {
            if self.named(module, function, value).is_none() {
                self.entered.extend(called);
            }
        }
        let news = self.size() != before;
        self.rounds += 1;
        if news && self.rounds > MOST_ROUNDS {
            self.all = Some(taken);
        }
        news
    }
}

impl Analysis<'_> {
    /// Does code outside get the address of this function?
    pub(crate) fn leaves(&self, id: FuncId) -> bool {
        let cell = self.known(id, Operand::Function(id));
        cell.is_some_and(|c| self.graph.at(c).flags & flag::ESCAPED != 0)
    }

    /// Calls by address: who calls, where, and each function that may be called.
    pub(crate) fn by_address(&self) -> impl Iterator<Item = (FuncId, ValueId, FuncId)> {
        self.indirect.iter().flat_map(|&(caller, value, _)| {
            self.assumed.callees(caller, value).into_iter().map(move |callee| (caller, value, callee))
        })
    }

    /// Calls by address that were analysed as calls by name: who calls, where, and whom.
    pub fn named(&self) -> Vec<(FuncId, ValueId, FuncId)> {
        let named = |&(caller, value, _): &(FuncId, ValueId, _)| {
            Some((caller, value, self.assumed.named(self.module, caller, value)?))
        };
        self.indirect.iter().filter_map(named).collect()
    }
}

/// Can it be one of this function, of which nothing is known but that its address is somewhere? Not with fewer
/// arguments than parameters, nor where one would get an address where it has an int, or the other way round.
fn fits(module: &Module, caller: FuncId, value: ValueId, callee: FuncId) -> bool {
    let (from, function) = (module.function(caller), module.function(callee));
    let this = &from.values[value.0 as usize];
    let Op::Call(call) = &this.op else { return false };
    let (params, arguments) = (&function.params, &call.arguments);
    let never = |i: usize| {
        params[i].has_pointer() && !call.wide[i] && !call.zero[i]
            || !function.wide[i] && is_pointer(from, arguments[i])
    };
    let no_result = function.result == Kind::Void && this.kind.has_pointer() && call.used;
    let few = params.len() > arguments.len();
    can_call(module, caller, value, callee) && !few && !no_result && !(0..params.len()).any(never)
}
