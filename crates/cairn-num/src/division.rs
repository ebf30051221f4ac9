//! Integer division, rounding to integers, fractions.
//!
//! The problem: `quotient` and its family work on exact integers and on doubles that are integers, mixed as one likes;
//! the result is inexact when an operand is. The idea: doubles below 2^53 divide as doubles (exactly: `fmod` never
//! rounds, and a rounded quotient that small truncates to the right integer); anything larger goes through exact
//! integers and is rounded once at the end. The rest is never `-0.0`.

use crate::fault::Fault;
use crate::number::{Int, Number};
use crate::signed::Rounding;

/// The operations on two integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Division {
    /// `quotient`, `truncate-quotient`.
    Quotient,
    /// `remainder`, `truncate-remainder`: sign of the dividend.
    Remainder,
    /// `floor-quotient`.
    FloorQuotient,
    /// `modulo`, `floor-remainder`: sign of the divisor.
    Modulo,
}

impl Division {
    /// How the quotient is rounded.
    pub fn rounding(self) -> Rounding {
        match self {
            Division::Quotient | Division::Remainder => Rounding::Truncate,
            Division::FloorQuotient | Division::Modulo => Rounding::Floor,
        }
    }
    /// Is the quotient the result, not the rest?
    pub fn wants_quotient(self) -> bool {
        matches!(self, Division::Quotient | Division::FloorQuotient)
    }
    /// The operation on exact integers; `None` when `b` is zero.
    pub fn exact(self, a: &Int, b: &Int) -> Option<Int> {
        let (q, r) = a.div_rem(b, self.rounding())?;
        Some(if self.wants_quotient() { q } else { r })
    }
    /// The operation on doubles that are integers below 2^53 in magnitude, `b` not zero.
    pub fn small_f64(self, a: f64, b: f64) -> f64 {
        let rest = match self {
            Division::Quotient => return (a / b).trunc() + 0.0,
            Division::FloorQuotient => return (a / b).floor() + 0.0,
            Division::Remainder => a % b,
            Division::Modulo => {
                let r = a % b;
                if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r }
            }
        };
        rest + 0.0 // -0.0 becomes 0.0
    }
}

/// Magnitudes below this are exact as doubles.
pub const EXACT_F64: f64 = (1u64 << 53) as f64;

const INTEGER: &str = "an integer";
const RATIONAL: &str = "a rational number";
const REAL: &str = "a real number";

impl Number {
    /// The exact integer that an integer is, and whether it was inexact.
    fn integer(&self, argument: u32) -> Result<(Int, bool), Fault> {
        match self {
            Number::Int(n) => Ok((n.clone(), false)),
            Number::Flo(x) if self.is_integer() => Ok((Int::from_f64(*x), true)),
            _ => Err(Fault::kind(argument, INTEGER)),
        }
    }

    /// `quotient` and its family.
    pub fn divide_integers(&self, op: Division, b: &Number) -> Result<Number, Fault> {
        if let (Number::Flo(x), Number::Flo(y)) = (self, b) {
            let ok = |n: &Number, x: f64| n.is_integer() && x.abs() < EXACT_F64;
            if ok(self, *x) && ok(b, *y) && *y != 0.0 {
                return Ok(Number::Flo(op.small_f64(*x, *y)));
            }
        }
        let (x, inexact_x) = self.integer(1)?;
        let (y, inexact_y) = b.integer(2)?;
        let exact = op.exact(&x, &y).ok_or(Fault::DivisionByZero)?;
        Ok(if inexact_x || inexact_y { Number::Flo(exact.to_f64()) } else { Number::Int(exact) })
    }

    /// `gcd` of two integers.
    pub fn gcd(&self, b: &Number) -> Result<Number, Fault> {
        let (x, inexact_x) = self.integer(1)?;
        let (y, inexact_y) = b.integer(2)?;
        let g = x.gcd(&y);
        Ok(if inexact_x || inexact_y { Number::Flo(g.to_f64()) } else { Number::Int(g) })
    }

    /// `numerator`.
    pub fn numerator(&self) -> Result<Number, Fault> {
        match self {
            Number::Flo(x) if *x == 0.0 => Ok(self.clone()), // with its sign
            _ => self.fraction_part(|(n, _)| n),
        }
    }

    /// `denominator`.
    pub fn denominator(&self) -> Result<Number, Fault> {
        self.fraction_part(|(_, d)| d)
    }

    fn fraction_part(&self, part: fn((Int, Int)) -> Int) -> Result<Number, Fault> {
        match self {
            Number::Complex(..) => Err(Fault::kind(1, RATIONAL)),
            Number::Flo(x) => {
                let exact = crate::arith::exact_f64(*x).ok_or(Fault::kind(1, RATIONAL))?;
                Ok(Number::Flo(part(exact.fraction()).to_f64()))
            }
            n => Ok(Number::Int(part(n.fraction()))),
        }
    }

    /// `floor`, `ceiling`, `truncate`, `round` (ties to even).
    pub fn round_to(&self, way: Round) -> Result<Number, Fault> {
        match self {
            Number::Int(_) => Ok(self.clone()),
            Number::Flo(x) => Ok(Number::Flo(way.f64(*x))),
            Number::Complex(..) => Err(Fault::kind(1, REAL)),
            Number::Ratio(n, d) => {
                // a ratio is never an integer, so the rest is never zero
                let (floor, rest) = n.div_rem(d, Rounding::Floor).expect("denominators are positive");
                let up = match way {
                    Round::Floor => false,
                    Round::Ceiling => true,
                    Round::Truncate => n.is_negative(),
                    Round::Nearest => match rest.add(&rest).cmp(d) {
                        std::cmp::Ordering::Equal => floor.is_odd(),
                        order => order.is_gt(),
                    },
                };
                Ok(Number::Int(if up { floor.add(&Int::ONE) } else { floor }))
            }
        }
    }

    /// `exact-integer-sqrt`: root and rest.
    pub fn exact_integer_sqrt(&self) -> Result<(Int, Int), Fault> {
        let expected = Fault::kind(1, "an exact non-negative integer");
        match self {
            Number::Int(n) => n.sqrt_rem().ok_or(expected),
            _ => Err(expected),
        }
    }
}

/// Ways to round a real to an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Round {
    /// Down.
    Floor,
    /// Up.
    Ceiling,
    /// Towards zero.
    Truncate,
    /// To the nearest, ties to even.
    Nearest,
}

impl Round {
    /// Rounds a double.
    pub fn f64(self, x: f64) -> f64 {
        match self {
            Round::Floor => x.floor(),
            Round::Ceiling => x.ceil(),
            Round::Truncate => x.trunc(),
            Round::Nearest => x.round_ties_even(),
        }
    }
}
