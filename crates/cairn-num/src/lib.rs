//! # cairn-num: the numeric tower as algorithms
//!
//! Numbers as plain Rust values (no heap): used by the reader, by constant folding, and, on limb slices, by the
//! runtime. Limb kernels come from GMP's `mpn` layer.

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

/// A Scheme number. Invariants: ratios are in lowest terms with denominator > 1; the parts of a complex number are real,
/// both exact or both inexact, and the imaginary part is not exact zero.
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
