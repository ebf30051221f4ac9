//! What calls by address are taken to call while a program is analysed, and how that is found:
//! [`super::calls_by_address`].

use crate::model::*;
use std::collections::{BTreeMap, BTreeSet};

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
    pub(super) calls: BTreeMap<(FuncId, ValueId), BTreeSet<FuncId>>,
    /// Those that may call code outside.
    pub(super) outside: BTreeSet<(FuncId, ValueId)>,
    pub(super) entered: BTreeSet<FuncId>,
    /// Every function whose address is taken, if nothing else is known.
    pub(super) all: Option<BTreeSet<FuncId>>,
    pub(super) rounds: usize,
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

    /// How much is assumed: it only grows.
    pub(super) fn size(&self) -> usize {
        self.entered.len() + self.outside.len() + self.calls.values().map(BTreeSet::len).sum::<usize>()
    }
}

pub(super) fn is_pointer(caller: &Function, operand: Operand) -> bool {
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
