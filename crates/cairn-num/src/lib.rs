//! # cairn-num: the numeric tower as algorithms
//!
//! The problem: four parties compute with Scheme numbers: the reader (text to number), the optimizer (constant
//! folding), the runtime (heap objects) and the printer. The idea: the algorithms live here, once, over plain Rust
//! data, in three layers:
//!
//! ```text
//!  limbs    &[u64] magnitudes            kernels of GMP's mpn layer behind safe slices; no allocation
//!  signed   sign + &[u64]  → &mut [u64]  signed integers written into the caller's memory (heap objects)
//!  Int, Number                           owned values: the whole tower
//! ```
//!
//! The runtime's hot paths use `signed` and write limbs straight into heap objects; everything rare (ratios, complex
//! numbers, transcendental functions) goes through [`Number`].
//!
//! | module | what it does |
//! |---|---|
//! | `number` | the types [`Int`] and [`Number`] |
//! | [`limbs`] | unsigned multi-limb kernels |
//! | [`signed`] | signed integers on borrowed limbs: sums, products, quotients, bits, shifts |
//! | [`int`] | [`Int`]: arithmetic of owned exact integers |
//! | [`float`] | doubles: exact decomposition, correct rounding, exact comparison |
//! | [`arith`] | [`Number`]: `+ - * /`, comparison, exactness |
//! | [`division`] | `quotient`, `remainder`, `modulo`, `gcd`, rounding, `numerator` |
//! | [`elementary`] | `exp`, `log`, trigonometry, `sqrt`, `expt`, polar form |
//! | [`parse`] | text to number |
//! | [`mod@format`] | number to text |
//!
//! Invariant: every `Int` and `Number` that leaves this crate is canonical (see the types), so equality of exact
//! numbers is structural.
#![allow(unsafe_code)] // only `limbs` uses it: the mpn kernels are C

pub mod arith;
pub mod division;
pub mod elementary;
mod fault;
pub mod float;
pub mod format;
pub mod int;
pub mod limbs;
mod number;
pub mod packed;
mod parse;
pub mod signed;

pub use fault::Fault;
pub use format::format_number;
pub use number::{Int, Number};
pub use parse::parse_number;
