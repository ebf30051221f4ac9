//! The registers of a jump.

use super::ir_text::Val;
use cairn_layout::limits::ARG_REGISTERS;

/// The registers of a jump besides the machine state; unused ones are poison.
#[derive(Clone, Debug)]
pub(crate) struct Regs {
    /// Count, or parameter 5.
    pub argc: Val,
    /// Closure, or parameter 6.
    pub clo: Val,
    /// Arguments.
    pub a: [Val; ARG_REGISTERS],
}

impl Default for Regs {
    fn default() -> Regs {
        Regs { argc: Val::poison(), clo: Val::poison(), a: std::array::from_fn(|_| Val::poison()) }
    }
}

impl Regs {
    /// The parameters of a function.
    pub(crate) fn parameters() -> Regs {
        Regs {
            argc: Val::text("%argc"),
            clo: Val::text("%clo"),
            a: std::array::from_fn(|i| Val::text(format!("%a{i}"))),
        }
    }
}
