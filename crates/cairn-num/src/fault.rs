//! Why an operation has no result.

use std::fmt;

/// What is wrong with the arguments. Arguments are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Division by zero.
    DivisionByZero,
    /// An argument is not of the wanted kind, named with its article.
    Type {
        /// Which argument.
        argument: u32,
        /// What was wanted: `"an integer"`.
        expected: &'static str,
    },
    /// An argument asks for a number too large to represent.
    Range {
        /// Which argument.
        argument: u32,
    },
}

impl Fault {
    /// Wants `expected` as this argument.
    pub(crate) const fn kind(argument: u32, expected: &'static str) -> Fault {
        Fault::Type { argument, expected }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::DivisionByZero => write!(f, "division by zero"),
            Fault::Type { argument, expected } => write!(f, "expected {expected} as argument {argument}"),
            Fault::Range { argument } => write!(f, "argument {argument} is out of range"),
        }
    }
}
