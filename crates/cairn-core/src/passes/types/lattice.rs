//! What can be known about a value: a set of kinds, the range of its fixnums, the type of its records.
//!
//! A [`Type`] stands for a set of values; `join` is union or a little more, `meet` intersection or a little more. The
//! chain of joins is finite in kinds; ranges are made so by [`Slot::grow`], which widens.

use crate::ir::{GlobalId, Literal};
use crate::prim::{Kind, Op};
use cairn_layout::value::{FIXNUM_MAX, FIXNUM_MIN};
use cairn_num::{Int, Number};

/// Sets of kinds, one bit each.
pub(super) mod bits {
    #![allow(missing_docs)]
    pub const FIXNUM: u32 = 1;
    /// Flonums that are not below zero: NaN and -0.0 are among them.
    pub const NATURAL_FLONUM: u32 = 1 << 1;
    /// Flonums below zero.
    pub const NEGATIVE_FLONUM: u32 = 1 << 27;
    pub const FLONUM: u32 = NATURAL_FLONUM | NEGATIVE_FLONUM;
    /// Integers below the fixnums.
    pub const LOW: u32 = 1 << 2;
    /// Integers above the fixnums.
    pub const HIGH: u32 = 1 << 24;
    pub const BIGNUM: u32 = LOW | HIGH;
    pub const RATNUM: u32 = 1 << 3;
    /// Complex numbers of flonums.
    pub const FLOCOMP: u32 = 1 << 4;
    /// Exact ones.
    pub const EXACTCOMP: u32 = 1 << 25;
    pub const COMPNUM: u32 = FLOCOMP | EXACTCOMP;
    pub const TRUE: u32 = 1 << 5;
    pub const FALSE: u32 = 1 << 6;
    pub const NULL: u32 = 1 << 7;
    pub const PAIR: u32 = 1 << 8;
    pub const SYMBOL: u32 = 1 << 9;
    pub const STRING: u32 = 1 << 10;
    pub const CHAR: u32 = 1 << 11;
    pub const VECTOR: u32 = 1 << 12;
    pub const BYTES: u32 = 1 << 13;
    pub const PROCEDURE: u32 = 1 << 14;
    pub const RECORD: u32 = 1 << 15;
    pub const PORT: u32 = 1 << 16;
    pub const PROMISE: u32 = 1 << 17;
    pub const OPAQUE: u32 = 1 << 18;
    pub const BOX: u32 = 1 << 19;
    pub const EOF: u32 = 1 << 20;
    pub const DEFAULT: u32 = 1 << 21;
    pub const UNSPECIFIED: u32 = 1 << 22;
    pub const UNBOUND: u32 = 1 << 23;
    /// Record types.
    pub const RECORD_TYPE: u32 = 1 << 26;
    /// Homogeneous numeric vectors that are no bytevectors.
    pub const NUMERIC: u32 = 1 << 28;
    pub const ANY: u32 = (1 << 29) - 1;
    pub const BOOLEAN: u32 = TRUE | FALSE;
    pub const INTEGER: u32 = FIXNUM | BIGNUM;
    pub const EXACT: u32 = INTEGER | RATNUM;
    pub const REAL: u32 = EXACT | FLONUM;
    pub const NUMBER: u32 = REAL | COMPNUM;
    /// `eqv?` on these is more than comparing words.
    pub const EQV_DEEP: u32 = FLONUM | BIGNUM | RATNUM | COMPNUM;
    /// They have neither parts nor an identity ([`crate::prim::scalar_bit`]).
    pub const SCALAR: u32 = FIXNUM | BOOLEAN | NULL | CHAR | EOF | DEFAULT | UNSPECIFIED | UNBOUND;
    /// `equal?` on all others is comparing words.
    pub const EQUAL_SHALLOW: u32 =
        FIXNUM | BOOLEAN | NULL | SYMBOL | CHAR | PROCEDURE | EOF | DEFAULT | UNSPECIFIED;
}
use bits::*;

/// No vector, string or bytevector is as long as this: it would not fit the address space.
pub(super) const LENGTH_MAX: i64 = 1 << 48;

/// Stands for the bound of a type with bignums: beyond sums of two fixnums.
const INFINITY: i128 = 1 << 62;

/// A set of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Type {
    /// Kinds of its members.
    pub kinds: u32,
    /// Least fixnum; above `hi` when there is none.
    pub lo: i64,
    /// Greatest fixnum.
    pub hi: i64,
    /// The one type of its records, if known: the global that holds the descriptor.
    pub rtd: Option<GlobalId>,
    /// Perhaps a flonum, where nothing is known: a guess, for speculation only.
    pub hint: bool,
}

impl Type {
    /// No value: the expression never returns.
    pub const NONE: Type = Type { kinds: 0, lo: 1, hi: 0, rtd: None, hint: false };
    /// Every value.
    pub const ANY: Type = Type { kinds: ANY, lo: FIXNUM_MIN, hi: FIXNUM_MAX, rtd: None, hint: false };
    /// The unspecified value.
    pub const UNSPECIFIED: Type = Type::of(UNSPECIFIED);
    /// `#t` and `#f`.
    pub const BOOLEAN: Type = Type::of(BOOLEAN);

    /// All values of these kinds.
    pub const fn of(kinds: u32) -> Type {
        if kinds & FIXNUM != 0 {
            Type { kinds, lo: FIXNUM_MIN, hi: FIXNUM_MAX, rtd: None, hint: false }
        } else {
            Type { kinds, lo: 1, hi: 0, rtd: None, hint: false }
        }
    }

    /// The fixnums `lo..=hi`.
    pub const fn range(lo: i64, hi: i64) -> Type {
        if lo > hi { Type::NONE } else { Type { kinds: FIXNUM, lo, hi, rtd: None, hint: false } }
    }

    /// The integers `lo..=hi`, some of which may not be fixnums.
    pub fn integers(lo: i128, hi: i128) -> Type {
        let (min, max) = (i128::from(FIXNUM_MIN), i128::from(FIXNUM_MAX));
        let fixnums =
            if lo <= max && hi >= min { Type::range(lo.max(min) as i64, hi.min(max) as i64) } else { Type::NONE };
        let beyond = if lo < min { LOW } else { 0 } | if hi > max { HIGH } else { 0 };
        if beyond == 0 { fixnums } else { fixnums.join(Type::of(beyond)) }
    }

    /// Bounds of its integers, infinite (beyond every sum of two fixnums) where bignums are among them; a type
    /// without integers has none.
    pub fn bounds(self) -> Option<(i128, i128)> {
        let lo = match self.kinds {
            k if k & LOW != 0 => -INFINITY,
            k if k & FIXNUM != 0 => i128::from(self.lo),
            k if k & HIGH != 0 => i128::from(FIXNUM_MAX) + 1,
            _ => return None,
        };
        let hi = match self.kinds {
            k if k & HIGH != 0 => INFINITY,
            k if k & FIXNUM != 0 => i128::from(self.hi),
            _ => i128::from(FIXNUM_MIN) - 1,
        };
        Some((lo, hi))
    }

    /// Its values with integers restricted to `lo..=hi`.
    pub fn restrict(self, lo: i128, hi: i128) -> Type {
        let kept = self.meet(Type::integers(lo, hi));
        self.only(!INTEGER).join(kept)
    }

    pub fn boolean(b: bool) -> Type {
        Type::of(if b { TRUE } else { FALSE })
    }

    pub fn literal(l: &Literal) -> Type {
        Type::of(match l {
            Literal::Number(Number::Int(Int::Fix(n))) => return Type::range(*n, *n),
            Literal::Number(Number::Int(Int::Big { negative, .. })) => {
                if *negative {
                    LOW
                } else {
                    HIGH
                }
            }
            Literal::Number(Number::Ratio(..)) => RATNUM,
            Literal::Number(Number::Flo(x)) if *x < 0.0 => NEGATIVE_FLONUM,
            Literal::Number(Number::Flo(_)) => NATURAL_FLONUM,
            Literal::Number(n @ Number::Complex(..)) => {
                if n.is_exact() {
                    EXACTCOMP
                } else {
                    FLOCOMP
                }
            }
            Literal::Char(_) => CHAR,
            Literal::Bool(b) => return Type::boolean(*b),
            Literal::Nil => NULL,
            Literal::Unspecified => UNSPECIFIED,
            Literal::Eof => EOF,
            Literal::Default => DEFAULT,
            Literal::Unbound => UNBOUND,
            Literal::Symbol(_) => SYMBOL,
            Literal::String(_) => STRING,
            Literal::Bytes(_) => BYTES,
            Literal::Numbers(..) => NUMERIC,
            Literal::Pair(_) => PAIR,
            Literal::Vector(_) => VECTOR,
        })
    }

    /// No value at all?
    pub fn is_none(self) -> bool {
        self.kinds == 0
    }

    /// Only values of these kinds?
    pub fn within(self, kinds: u32) -> bool {
        self.kinds & !kinds == 0
    }

    /// Some value of these kinds?
    pub fn may_be(self, kinds: u32) -> bool {
        self.kinds & kinds != 0
    }

    pub fn is_fixnum(self) -> bool {
        self.kinds == FIXNUM
    }

    pub fn is_flonum(self) -> bool {
        self.kinds != 0 && self.within(FLONUM)
    }

    /// Complex numbers of flonums only?
    pub fn is_flocomp(self) -> bool {
        self.kinds == FLOCOMP
    }

    fn normal(mut self) -> Type {
        if self.lo > self.hi {
            self.kinds &= !FIXNUM;
        }
        if self.kinds & FIXNUM == 0 {
            (self.lo, self.hi) = (1, 0);
        }
        if self.kinds & RECORD == 0 {
            self.rtd = None;
        }
        self
    }

    /// Values in either.
    pub fn join(self, other: Type) -> Type {
        let (lo, hi) = match (self.kinds & FIXNUM != 0, other.kinds & FIXNUM != 0) {
            (true, true) => (self.lo.min(other.lo), self.hi.max(other.hi)),
            (true, false) => (self.lo, self.hi),
            _ => (other.lo, other.hi),
        };
        let rtd = match (self.kinds & RECORD != 0, other.kinds & RECORD != 0) {
            (true, true) if self.rtd != other.rtd => None,
            (true, _) => self.rtd,
            _ => other.rtd,
        };
        Type { kinds: self.kinds | other.kinds, lo, hi, rtd, hint: self.hint | other.hint }
    }

    /// Values in both.
    pub fn meet(self, other: Type) -> Type {
        Type {
            kinds: self.kinds & other.kinds,
            lo: self.lo.max(other.lo),
            hi: self.hi.min(other.hi),
            rtd: self.rtd.or(other.rtd),
            hint: self.hint | other.hint,
        }
        .normal()
    }

    /// Its values of these kinds.
    pub fn only(self, kinds: u32) -> Type {
        Type { kinds: self.kinds & kinds, ..self }.normal()
    }

    /// Its values with fixnums restricted to `lo..=hi`.
    pub fn clamp(self, lo: i64, hi: i64) -> Type {
        Type { lo: self.lo.max(lo), hi: self.hi.min(hi), ..self }.normal()
    }
}

/// The kinds that an operand check of `kind` lets pass.
pub(super) fn mask(kind: Kind) -> u32 {
    match kind {
        Kind::Any => ANY,
        Kind::Fixnum => FIXNUM,
        Kind::Flonum => FLONUM,
        Kind::Compnum => COMPNUM,
        Kind::Number => NUMBER,
        Kind::Boolean => BOOLEAN,
        Kind::Pair => PAIR,
        Kind::Symbol => SYMBOL,
        Kind::String => STRING,
        Kind::Char => CHAR,
        Kind::Vector => VECTOR,
        Kind::Bytevector => BYTES,
        Kind::Procedure => PROCEDURE,
        Kind::Box => BOX,
        Kind::Record => RECORD,
        Kind::Port => PORT,
        Kind::Promise => PROMISE,
        Kind::Opaque => OPAQUE,
    }
}

/// The kinds for which a one-operand predicate answers `#t`.
pub(super) fn predicate(op: Op) -> Option<u32> {
    Some(match op {
        Op::IsFixnum => FIXNUM,
        Op::IsFlonum => FLONUM,
        Op::IsBignum => BIGNUM,
        Op::IsRatnum => RATNUM,
        Op::IsCompnum => COMPNUM,
        Op::IsNumber => NUMBER,
        Op::IsPair => PAIR,
        Op::IsNull => NULL,
        Op::IsBoolean => BOOLEAN,
        Op::IsSymbol => SYMBOL,
        Op::IsString => STRING,
        Op::IsChar => CHAR,
        Op::IsVector => VECTOR,
        Op::IsBytevector => BYTES,
        Op::IsProcedure => PROCEDURE,
        Op::IsRecord => RECORD,
        Op::IsPort => PORT,
        Op::IsPromise => PROMISE,
        Op::IsOpaque => OPAQUE,
        Op::IsEof => EOF,
        Op::IsDefault => DEFAULT,
        Op::Not => FALSE,
        _ => return None,
    })
}

/// A type that grows while the analysis runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub ty: Type,
    /// How often its range grew.
    grown: u8,
}

impl Default for Slot {
    fn default() -> Slot {
        Slot { ty: Type::NONE, grown: 0 }
    }
}

/// Where widening ranges stop, in both directions.
const STOPS: [i64; 8] = [FIXNUM_MIN, -(1 << 32), -1, 0, 255, 1 << 32, LENGTH_MAX, FIXNUM_MAX];
/// A range stops at own constants of its variable this often: each stop is a walk.
const FINE_STEPS: u8 = 6;

impl Slot {
    /// Adds `t`; says whether that changed anything. `constants` are those that the variable is compared with: a loop
    /// that ends when its counter *equals* one is bounded by it.
    pub fn grow(&mut self, t: Type, constants: &[i64]) -> bool {
        let mut new = self.ty.join(Type { hint: false, ..t });
        if new == self.ty {
            return false;
        }
        if self.ty.kinds & FIXNUM != 0 && (new.lo, new.hi) != (self.ty.lo, self.ty.hi) {
            self.grown = self.grown.saturating_add(1);
            if self.grown > 2 {
                let own = if self.grown <= FINE_STEPS { constants } else { &[] };
                let stops = || STOPS.iter().chain(own).copied();
                if new.lo < self.ty.lo {
                    new.lo = stops().filter(|s| *s <= new.lo).max().unwrap_or(FIXNUM_MIN);
                }
                if new.hi > self.ty.hi {
                    new.hi = stops().filter(|s| *s >= new.hi).min().unwrap_or(FIXNUM_MAX);
                }
            }
        }
        self.ty = new;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_meet_and_overflow() {
        let a = Type::range(0, 5);
        let b = Type::range(3, 9);
        assert_eq!(a.join(b), Type::range(0, 9));
        assert_eq!(a.meet(b), Type::range(3, 5));
        assert!(a.meet(Type::range(6, 9)).is_none());
        assert_eq!(a.join(Type::of(PAIR)).only(FIXNUM), a);
        let sum = Type::integers(i128::from(FIXNUM_MAX), i128::from(FIXNUM_MAX) + 1);
        assert_eq!((sum.kinds, sum.lo), (FIXNUM | HIGH, FIXNUM_MAX));
        let counter = Type::range(0, FIXNUM_MAX).join(Type::of(HIGH));
        assert_eq!(counter.restrict(-5, 7), Type::range(0, 7));
        assert_eq!(counter.restrict(5, 1 << 70).kinds, FIXNUM | HIGH);
        assert_eq!(Type::of(LOW | FLONUM).restrict(0, 7), Type::of(FLONUM));
    }

    #[test]
    fn growing_ends() {
        let mut slot = Slot::default();
        let mut steps = 0;
        while slot.grow(slot.ty.join(Type::range(0, 0)).meet(Type::ANY).join(step(slot.ty)), &[]) {
            steps += 1;
        }
        assert!(steps < 12, "{steps}");
        assert_eq!((slot.ty.lo, slot.ty.hi), (0, FIXNUM_MAX));
    }

    #[test]
    fn growing_stops_at_constants() {
        let mut slot = Slot::default();
        // (let loop ((i 0)) (if (= i 100) … (loop (+ i 1))))
        while slot.grow(step(if slot.ty.hi == 100 { slot.ty.clamp(0, 99) } else { slot.ty }), &[7, 100]) {}
        assert_eq!(slot.ty, Type::range(0, 100));
    }

    fn step(t: Type) -> Type {
        if t.is_none() { Type::range(0, 0) } else { Type::range(t.lo, (t.hi + 1).min(FIXNUM_MAX)) }
    }
}
