//! Why a run ends early.

use cairn_layout::code::Site;

/// Why a program stopped early.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// An operand of the wrong kind, an index out of range, division by zero.
    Operand,
    /// A call of something that is no procedure.
    NotProcedure,
    /// A call with a wrong number of arguments, or a wrong number of values.
    Arity,
    /// A read of a variable before its definition.
    Unbound,
    /// Too many steps.
    Fuel,
    /// Something this interpreter does not do.
    Unsupported(&'static str),
    /// The program claims something that is not so.
    Unsound(String),
    /// An error that nobody handled: what it says. Only of macro transformers.
    Raised(String, Site),
    /// A continuation was invoked; never seen from outside.
    Throw(usize, String),
}

/// What a step yields, or why there are no more.
pub type Res<T> = Result<T, Stop>;
