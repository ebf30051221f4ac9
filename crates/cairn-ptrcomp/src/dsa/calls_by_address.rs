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
//! Invariant: a call by address of a finished analysis calls one of `Assumed::callees`, or code outside; then all that
//! it gives and gets has escaped. A function that isn't `entered` is only called by name.
//!
//! Where a call can only call one function, it can be made a call by name (`whole_program`), which is analysed for
//! itself: what one `hooks.allocate` returns is then told apart from what another does. To find these calls, they are
//! analysed as calls by name as long as nothing speaks against it ([`Singles::Named`]): if all that `allocate` returns
//! were one node, it would hold the hooks, too.
//!
//! Differences to Lattner (2005): he resolves calls while graphs are put into each other; here copies of graphs must be
//! complete when they are made.

use super::analysis::Analysis;
use super::points_to::flag;
use crate::model::*;
use std::collections::{BTreeMap, BTreeSet};

/// An assumption with more rounds is given up for the coarsest.
const MOST_ROUNDS: usize = 12;

/// What is done with calls by address that can only call one function.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub enum Singles {
    /// They are calls by address as others.
    #[default]
    Kept,
    /// They are analysed as if they were calls by name, and have to become that.
    Named,
}

/// What calls by address are taken to call.
#[derive(Clone, Default)]
pub struct Assumed {
    singles: Singles,
    calls: BTreeMap<(FuncId, ValueId), BTreeSet<FuncId>>,
    /// Those that may call code outside.
    outside: BTreeSet<(FuncId, ValueId)>,
    entered: BTreeSet<FuncId>,
    /// Every function whose address is taken, if nothing else is known.
    all: Option<BTreeSet<FuncId>>,
    rounds: usize,
}

impl Assumed {
    pub(super) fn new(singles: Singles) -> Assumed {
        Assumed { singles, ..Assumed::default() }
    }

    /// The only function that this call can call, if it is to be taken for a call by name.
    pub(super) fn named(&self, module: &Module, caller: FuncId, value: ValueId) -> Option<FuncId> {
        if self.singles == Singles::Kept || self.calls_outside(caller, value) {
            return None;
        }
        let called = self.calls.get(&(caller, value))?;
        let one = *called.first().filter(|_| called.len() == 1)?;
        let Op::Call(call) = &module.function(caller).values[value.0 as usize].op else { return None };
        let function = module.function(one);
        (call.signature == function.signature && !function.varargs && !function.intrinsic).then_some(one)
    }

    /// The functions that this call may call.
    pub(super) fn callees(&self, function: FuncId, call: ValueId) -> BTreeSet<FuncId> {
        let all = self.all.as_ref();
        all.or_else(|| self.calls.get(&(function, call))).cloned().unwrap_or_default()
    }

    /// May this call call a function that isn't there?
    pub(super) fn calls_outside(&self, function: FuncId, call: ValueId) -> bool {
        self.all.is_some() || self.outside.contains(&(function, call))
    }

    /// May this function be called by its address, from here or from outside?
    pub(super) fn is_entered(&self, function: FuncId) -> bool {
        self.all.as_ref().unwrap_or(&self.entered).contains(&function)
    }

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
        let (outside, vague) = (flagged(flag::ESCAPED), flagged(flag::ESCAPED | flag::SEEN));
        let before = self.size();
        self.entered.extend(outside.iter().chain(&analysis.called_back));
        for &(function, value, target) in &analysis.indirect {
            let node = analysis.graph.at(target);
            if node.flags & flag::ESCAPED != 0 {
                self.outside.insert((function, value));
            }
            let vague = vague.iter().filter(|_| node.flags & (flag::ESCAPED | flag::SEEN) != 0);
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

    fn size(&self) -> usize {
        self.entered.len() + self.outside.len() + self.calls.values().map(BTreeSet::len).sum::<usize>()
    }
}

impl Analysis<'_> {
    /// Does code outside get the address of this function?
    pub(crate) fn leaves(&self, id: FuncId) -> bool {
        let cell = self.known(id, Operand::Function(id));
        cell.is_some_and(|c| self.graph.at(c).flags & flag::ESCAPED != 0)
    }

    /// Calls by address that were analysed as calls by name: who calls, where, and whom.
    pub fn named(&self) -> Vec<(FuncId, ValueId, FuncId)> {
        let named = |&(caller, value, _): &(FuncId, ValueId, _)| {
            Some((caller, value, self.assumed.named(self.module, caller, value)?))
        };
        self.indirect.iter().filter_map(named).collect()
    }
}

fn is_pointer(caller: &Function, operand: Operand) -> bool {
    match operand {
        Operand::Value(v) => caller.values[v.0 as usize].kind.has_pointer(),
        Operand::Data => false,
        _ => true,
    }
}

/// Can this call be one of this function, whose address flows there? Programs of old call functions with too few
/// arguments, and with others than they have, where nobody looks. What the library gets and gives must be what it says.
pub(super) fn can_call(module: &Module, caller: FuncId, value: ValueId, callee: FuncId) -> bool {
    let caller = module.function(caller);
    let this = &caller.values[value.0 as usize];
    let (Op::Call(call), function) = (&this.op, module.function(callee)) else { return false };
    let (params, arguments) = (&function.params, &call.arguments);
    let other =
        |i: usize| arguments[i] != Operand::Data && params[i].has_pointer() != is_pointer(caller, arguments[i]);
    let other_result = match this.kind {
        Kind::Void => function.result.has_pointer(),
        kind => kind.has_pointer() && function.result == Kind::Void,
    };
    let few = params.len() > arguments.len();
    !function.intrinsic && (!function.declared || !few && !other_result && !(0..params.len()).any(other))
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
