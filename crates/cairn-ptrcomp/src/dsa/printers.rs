//! Functions that do nothing with their variable arguments but have them printed.
//!
//! The problem: nearly every program has its own `die(const char *format, ...)`. What a program does with variable
//! arguments of its functions is not followed, so all that `die` gets would be lost. The idea: if the list of arguments
//! goes to `vfprintf` and its kin alone, perhaps by way of other functions of the program, `die` does with them what
//! `printf` does.
//!
//! ```text
//!  void die(const char *f, ...) { va_list a; va_start(a, f); vfprintf(stderr, f, a); va_end(a); exit(1); }
//! ```
//!
//! Invariant: no instruction of the program reads such a list, and nobody else keeps its address.

use crate::model::*;
use std::collections::BTreeSet;

/// Where `vprintf` and its kin get the list.
fn list_of(name: &str) -> Option<usize> {
    Some(match name {
        "vprintf" => 1,
        "vfprintf" | "vsprintf" | "vdprintf" => 2,
        "vsnprintf" => 3,
        _ => return None,
    })
}

/// The functions of a program with variable arguments of which this is true.
pub(super) fn find(module: &Module) -> BTreeSet<FuncId> {
    let varied = |id: &FuncId| module.function(*id).varargs && !module.function(*id).declared;
    module.function_ids().filter(varied).filter(|&id| only_prints(module, id)).collect()
}

fn only_prints(module: &Module, id: FuncId) -> bool {
    let mut seen = BTreeSet::new();
    let lists = module.function(id).values.iter().filter_map(|value| match &value.op {
        Op::Call(call) if is_intrinsic(module, call, "llvm.va_start") => call.arguments.first().copied(),
        _ => None,
    });
    lists.into_iter().all(|list| match list {
        Operand::Value(v) => {
            matches!(module.function(id).values[v.0 as usize].op, Op::Alloca)
                && goes_nowhere(module, id, v, &mut seen)
        }
        _ => false,
    })
}

fn is_intrinsic(module: &Module, call: &Call, name: &str) -> bool {
    matches!(call.callee, Callee::Known(id) if module.function(id).intrinsic && module.function(id).name.starts_with(name))
}

/// Is this list, an object on the stack or a parameter, only handed to what prints it?
fn goes_nowhere(module: &Module, id: FuncId, list: ValueId, seen: &mut BTreeSet<(FuncId, ValueId)>) -> bool {
    if !seen.insert((id, list)) {
        return true;
    }
    let function = module.function(id);
    let this = Operand::Value(list);
    function.values.iter().all(|value| {
        let mut used = false;
        value.op.operands(&mut |o| used |= *o == this);
        if !used {
            return true;
        }
        let Op::Call(call) = &value.op else { return false };
        let Callee::Known(callee) = call.callee else { return false };
        let to = module.function(callee);
        let mut places = call.arguments.iter().enumerate().filter(|(_, a)| **a == this).map(|(n, _)| n);
        if to.intrinsic {
            return ["llvm.va_start", "llvm.va_end", "llvm.lifetime"].iter().any(|n| to.name.starts_with(n));
        }
        match to.declared {
            true => places.all(|n| list_of(&to.name) == Some(n)),
            false => places.all(|n| n < to.params.len() && goes_nowhere(module, callee, ValueId(n as u32), seen)),
        }
    })
}
