//! The numbers themselves: the types that all of the tower computes with, and what always holds of their values.

/// An exact integer. Invariant: `Big` never holds a value that fits a fixnum-sized `Fix` (61 bits signed) and
/// never has a leading zero limb.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Int {
    /// A small integer, `-(1 << 60) ..= (1 << 60) - 1`.
    Fix(i64),
    /// Sign and magnitude, least significant limb first.
    Big {
        /// Negative?
        negative: bool,
        /// Magnitude.
        limbs: Vec<u64>,
    },
}

/// A Scheme number. Invariants: ratios are in lowest terms with denominator > 1; the parts of a complex number are
/// real, both exact or both inexact, and the imaginary part is not exact zero.
#[derive(Clone, Debug)]
pub enum Number {
    /// Exact integer.
    Int(Int),
    /// Exact ratio.
    Ratio(Int, Int),
    /// Inexact real.
    Flo(f64),
    /// Complex.
    Complex(Box<Number>, Box<Number>),
}
