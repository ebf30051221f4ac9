//! Numbers as they lie in memory, side by side: elements of homogeneous vectors.
//!
//! An integer takes 1 to 8 bytes, a flonum 4 or 8, a complex number two flonums, all in native byte order. Only numbers
//! of the right kind and range have such bytes: exact integers, flonums, and for complex numbers flonums or parts that
//! are flonums.

use crate::number::{Int, Number};

/// How a number is packed.
#[derive(Clone, Copy, Debug)]
pub struct Packing {
    /// Bytes of the whole number.
    pub bytes: usize,
    /// Least and greatest integer, if it is an integer.
    pub integers: Option<(i128, i128)>,
    /// Is it a complex number?
    pub complex: bool,
}

impl Packing {
    /// The bytes of a number, if it may be packed so; those that count come first.
    pub fn pack(self, x: &Number) -> Option<[u8; 16]> {
        let mut to = [0; 16];
        match (x, self.integers) {
            (Number::Int(n), Some((lo, hi))) => {
                let n = match n {
                    Int::Fix(n) => i128::from(*n),
                    Int::Big { negative, limbs } => match limbs[..] {
                        [limb] if *negative => -i128::from(limb),
                        [limb] => i128::from(limb),
                        _ => return None,
                    },
                };
                if n < lo || n > hi {
                    return None;
                }
                to.copy_from_slice(&n.to_ne_bytes());
                if cfg!(target_endian = "big") {
                    to.rotate_left(16 - self.bytes);
                }
            }
            (Number::Flo(x), None) => self.pack_double(&mut to, *x),
            (Number::Complex(a, b), None) if self.complex => match (&**a, &**b) {
                (Number::Flo(a), Number::Flo(b)) => {
                    self.pack_double(&mut to, *a);
                    self.pack_double(&mut to[self.bytes / 2..], *b);
                }
                _ => return None,
            },
            _ => return None,
        }
        Some(to)
    }

    fn pack_double(self, to: &mut [u8], x: f64) {
        if self.double_bytes() == 4 {
            to[..4].copy_from_slice(&(x as f32).to_ne_bytes());
        } else {
            to[..8].copy_from_slice(&x.to_ne_bytes());
        }
    }

    fn double_bytes(self) -> usize {
        if self.complex { self.bytes / 2 } else { self.bytes }
    }

    /// The number that begins there.
    pub fn unpack(self, from: &[u8]) -> Number {
        if let Some((lo, _)) = self.integers {
            return Number::Int(self.unpack_integer(from, lo < 0).into());
        }
        let first = Number::Flo(self.unpack_double(from));
        if !self.complex {
            return first;
        }
        let second = Number::Flo(self.unpack_double(&from[self.bytes / 2..]));
        Number::Complex(Box::new(first), Box::new(second))
    }

    fn unpack_integer(self, from: &[u8], signed: bool) -> i128 {
        match (self.bytes, signed) {
            (1, false) => from[0].into(),
            (1, true) => (from[0] as i8).into(),
            (2, false) => u16::from_ne_bytes(head(from)).into(),
            (2, true) => i16::from_ne_bytes(head(from)).into(),
            (4, false) => u32::from_ne_bytes(head(from)).into(),
            (4, true) => i32::from_ne_bytes(head(from)).into(),
            (_, false) => u64::from_ne_bytes(head(from)).into(),
            (_, true) => i64::from_ne_bytes(head(from)).into(),
        }
    }

    fn unpack_double(self, from: &[u8]) -> f64 {
        if self.double_bytes() == 4 {
            f32::from_ne_bytes(head(from)).into()
        } else {
            f64::from_ne_bytes(head(from))
        }
    }
}

fn head<const N: usize>(from: &[u8]) -> [u8; N] {
    from[..N].try_into().expect("so many bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::format_number;
    use crate::parse::parse_number;

    fn through(packing: Packing, text: &str) -> Option<String> {
        let bytes = packing.pack(&parse_number(text, 10).unwrap())?;
        Some(format_number(&packing.unpack(&bytes), 10))
    }

    #[test]
    fn what_fits_comes_back_and_nothing_else_is_packed() {
        let integers = |bytes, lo, hi| Packing { bytes, integers: Some((lo, hi)), complex: false };
        for (bytes, bits) in [(1, 8), (2, 16), (4, 32), (8, 64)] {
            let (signed, unsigned) = (1i128 << (bits - 1), 1i128 << bits);
            for (packing, lo, hi) in [
                (integers(bytes, -signed, signed - 1), -signed, signed - 1),
                (integers(bytes, 0, unsigned - 1), 0, unsigned - 1),
            ] {
                for n in [lo, lo + 1, 0, 1, hi - 1, hi] {
                    assert_eq!(through(packing, &n.to_string()), Some(n.to_string()));
                }
                for text in [(lo - 1).to_string(), (hi + 1).to_string(), "1.".into(), "1/2".into(), "1e30".into()]
                {
                    assert_eq!(through(packing, &text), None, "{text}");
                }
            }
        }
    }

    #[test]
    fn flonums_and_complex_numbers() {
        let doubles = |bytes, complex| Packing { bytes, integers: None, complex };
        for text in ["-0.0", "1.5", "+inf.0", "-2.25"] {
            assert_eq!(through(doubles(8, false), text).as_deref(), Some(text));
            assert_eq!(through(doubles(4, false), text).as_deref(), Some(text));
        }
        assert_eq!(through(doubles(8, false), "0.1").as_deref(), Some("0.1"));
        assert_eq!(through(doubles(4, false), "0.1").as_deref(), Some("0.10000000149011612"));
        assert_eq!(through(doubles(16, true), "1.5-2.5i").as_deref(), Some("1.5-2.5i"));
        assert_eq!(through(doubles(8, true), "1.5-2.5i").as_deref(), Some("1.5-2.5i"));
        assert_eq!(through(doubles(8, true), "3.").as_deref(), Some("3.0+0.0i"));
        for text in ["1", "1/2", "1+2i"] {
            assert_eq!(through(doubles(16, true), text), None);
        }
        assert_eq!(through(doubles(8, false), "1.+2.i"), None);
    }
}
