//! The register convention of `cairn_layout::machine`, in one place.
//!
//! ```text
//!              a0..a4      argc          clo                    args[i]
//!  unknown     args 0..5   count         closure                args 5..count
//!  known       params 0..5 param 5       closure, or param 6    params 7.. (param 6 too when clo is the closure)
//!  values      values 0..5 count         –                      values 5..count
//! ```

use super::builder::{Builder, line};
use super::ir_text::{Mem, Val};
pub(crate) use super::registers::Regs;
use cairn_layout::limits::{ARG_REGISTERS, ARGS_MIN};
use cairn_layout::value::TAG_PROCEDURE;

/// Where a parameter of a known function travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// `a0..a4`.
    Arg(usize),
    /// The count register.
    Argc,
    /// The closure register.
    Clo,
    /// The argument area.
    Memory(usize),
}

/// Where parameter `i` of a known function travels.
pub(crate) fn known_place(i: usize, has_closure: bool) -> Place {
    match i {
        _ if i < ARG_REGISTERS => Place::Arg(i),
        5 => Place::Argc,
        6 if !has_closure => Place::Clo,
        _ => Place::Memory(i),
    }
}

/// A call whose operands are evaluated.
pub(crate) struct Call {
    pub regs: Regs,
    pub to: Target,
}

pub(crate) enum Target {
    Code(Val),
    Closure(Val),
}

impl Builder {
    /// The incoming value of parameter `i` of a known function.
    pub(crate) fn known_param(&mut self, i: usize, has_closure: bool) -> Val {
        match known_place(i, has_closure) {
            Place::Arg(i) => Val::text(format!("%a{i}")),
            Place::Argc => Val::text("%argc"),
            Place::Clo => Val::text("%clo"),
            Place::Memory(i) => self.load_arg(i),
        }
    }

    /// Registers of a known call; stores what does not fit.
    pub(crate) fn known_regs(&mut self, args: &[Val], closure: Option<Val>) -> Regs {
        let mut regs = Regs::default();
        let has_closure = closure.is_some();
        if let Some(c) = closure {
            regs.clo = c;
        }
        for (i, v) in args.iter().enumerate() {
            match known_place(i, has_closure) {
                Place::Arg(i) => regs.a[i] = v.clone(),
                Place::Argc => regs.argc = v.clone(),
                Place::Clo => regs.clo = v.clone(),
                Place::Memory(i) => self.store_arg(i, v),
            }
        }
        regs
    }

    /// Registers of an unknown call or of several values; stores what does not fit.
    pub(crate) fn unknown_regs(&mut self, args: &[Val], closure: Option<Val>) -> Regs {
        let mut regs = Regs { argc: Val::Int(args.len() as i64), ..Regs::default() };
        if let Some(c) = closure {
            regs.clo = c;
        }
        for (i, v) in args.iter().enumerate() {
            if i < ARG_REGISTERS {
                regs.a[i] = v.clone();
            } else {
                self.store_arg(i, v);
            }
        }
        regs
    }

    /// The incoming value of argument or value `i` in an unknown call.
    pub(crate) fn unknown_param(&mut self, i: usize) -> Val {
        if i < ARG_REGISTERS { self.incoming.a[i].clone() } else { self.load_arg(i) }
    }

    /// The registers as they came in.
    pub(crate) fn incoming_regs(&self) -> Regs {
        self.incoming.clone()
    }

    /// Stores the incoming argument registers from `start` on into the argument area.
    pub(crate) fn spill_arg_registers(&mut self, start: usize) {
        for i in start..ARG_REGISTERS {
            let v = self.incoming.a[i].clone();
            self.store_arg(i, &v);
        }
    }

    /// Argument registers loaded from the argument area.
    pub(crate) fn load_arg_registers(&mut self) -> [Val; ARG_REGISTERS] {
        std::array::from_fn(|i| self.load_arg(i))
    }

    /// Loads word `i` of the argument area.
    pub(crate) fn load_arg(&mut self, i: usize) -> Val {
        let base = self.args_base();
        self.load_at(&base, 8 * i as i64, Mem::Args)
    }

    /// Stores word `i` of the argument area; compiled code never asks for more than it has in any case.
    pub(crate) fn store_arg(&mut self, i: usize, v: &Val) {
        assert!(i < ARGS_MIN, "operand {i} does not fit the argument area");
        let base = self.args_base();
        self.store_at(&base, 8 * i as i64, v, Mem::Args);
    }

    /// Leaves for `target` (a function or a pointer).
    pub(crate) fn jump(&mut self, target: &Val, sp: &Val, regs: &Regs) {
        let sp = self.footing.passed(sp);
        self.jump_with(target, &sp, regs);
    }

    /// Leaves for `target`, with a word in the place of `sp`.
    pub(crate) fn jump_with(&mut self, target: &Val, sp: &Val, regs: &Regs) {
        let (lo, hi) = (self.lo(), self.hi());
        let Regs { argc, clo, a: [a0, a1, a2, a3, a4] } = regs;
        line!(
            self,
            "musttail call preserve_nonecc void {target}(ptr %ctx, i64 {sp}, i64 {lo}, i64 {hi}, i64 {argc}, \
             i64 {clo}, i64 {a0}, i64 {a1}, i64 {a2}, i64 {a3}, i64 {a4})"
        );
        line!(self, "ret void");
    }

    /// Leaves for the procedure `clo` (known to be one).
    pub(crate) fn jump_closure(&mut self, clo: &Val, sp: &Val, regs: &Regs) {
        let code = self.load_code(clo, -(TAG_PROCEDURE as i64), Mem::Closure);
        self.jump(&code, sp, regs);
    }
}
