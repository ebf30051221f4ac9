//! The numeric tower on heap values.
//!
//! The problem: generic arithmetic is called whenever an inline fast path gives up, so some of its cases are hot
//! (fixnum overflow, doubles too large for self-tagging, mixes of fixnum and double, bignums), and most are rare. The
//! idea: every operation looks at its operands once, as [`operand::Operand`]s; the hot combinations are handled on
//! machine words and borrowed limbs, with bignum results written straight into the heap object; everything else is
//! converted to `cairn_num::Number`, computed there, and converted back.
//!
//! ```text
//!  Value ──operand──▶ Fix(i64) | Flo(f64) | Big(sign, &limbs) | Ratio | Complex | Other
//!                       └────────── hot ──────────┘                 └─ to_number ─▶ Number ─ from_number ─▶ Value
//! ```
//!
//! | module | operations |
//! |---|---|
//! | [`operand`] | views of values, canonical results, conversion to and from `Number`, faults |
//! | [`big`] | integer results written into heap objects |
//! | [`arith`] | `+ - * /`, comparison, integer division, `gcd` |
//! | [`fraction`] | `+ - * /` and comparison of ratios whose parts are fixnums |
//! | [`real`] | predicates, rounding, exactness, elementary functions, complex parts |
//! | [`bits`] | bitwise operations and shifts |
//! | [`conversion`] | `number->string`, `string->number` |
//!
//! Invariants: results are canonical (an integer that fits is a fixnum; a double that can be self-tagged is; ratios are
//! in lowest terms; exact zero imaginary parts vanish), so numbers that are `eqv?` have equal parts. Calls without the
//! `ALLOC` flag do not allocate.

pub mod arith;
pub mod big;
pub mod bits;
pub mod conversion;
mod fraction;
pub mod operand;
pub mod real;
#[cfg(test)]
mod tests;

pub use arith::*;
pub use bits::*;
pub use conversion::*;
pub use operand::to_number;
pub use real::*;
