//! What is checked, and how a complaint about it is made: below the checks themselves.

use crate::ir::*;

/// The function that is checked, and the complaints so far.
pub struct Checker<'a> {
    pub m: &'a Module,
    pub f: &'a Function,
    pub errors: &'a mut Vec<String>,
}

impl Checker<'_> {
    pub fn error(&mut self, block: usize, what: String) {
        self.errors.push(format!("{} b{block}: {what}", self.f.name));
    }

    pub fn var(&self, v: Var) -> String {
        format!("{}.{}", self.f.vars[v.0 as usize].name, v.0)
    }

    pub fn is_double(&self, v: Var) -> bool {
        self.f.vars[v.0 as usize].rep == Rep::Double
    }

    pub fn callee_function(&self, f: FuncId) -> Option<&Function> {
        self.m.functions.get(f.0 as usize)
    }
}
