//! Pseudo-random numbers for tests that make their inputs: the same in every run. A test includes this file.

#![allow(dead_code)] // each test uses its part

/// A generator (xorshift: Marsaglia 2003). The state is not zero.
pub struct Random(pub u64);

impl Random {
    /// One of many that have little in common.
    pub fn seeded(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }
    /// Any word but zero.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    /// A number below `n`.
    pub fn below<N: TryFrom<u64> + TryInto<u64>>(&mut self, n: N) -> N {
        let Ok(n) = n.try_into() else { panic!("a negative bound") };
        let Ok(r) = N::try_from((self.next() >> 11) % n) else { unreachable!() };
        r
    }
    /// One of these.
    pub fn pick<'x, T: ?Sized>(&mut self, from: &[&'x T]) -> &'x T {
        from[self.below(from.len())]
    }
}
