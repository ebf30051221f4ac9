//! Budgets: what may be allocated from one collection to the next, where `lo..hi` is not memory.
//!
//! The problem: heap checks of compiled code compare `hi - lo` with what they want, whatever the collector; where
//! memory comes from free lists, that has to be a number. The idea: `hi - lo` is what is left of a *grant*, which
//! compiled code spends at its checks and the runtime when it allocates. `lo` lies where no object of the heap can be,
//! so that nothing takes `hi` for the address of one.

use crate::address::Address;
use crate::stats::Stats;

/// Bytes that may be allocated between two collections, at least.
const LEAST: u64 = 64 << 10;

/// See the module's header.
pub(super) struct Budget {
    zero: Address,
    total: u64,
    /// What is in the mutator's hands, when they were last filled; and what is not yet.
    granted: u64,
    left: u64,
}

impl Budget {
    /// None yet; `nowhere` is beyond all objects.
    pub fn new(nowhere: Address) -> Budget {
        Budget { zero: nowhere, total: 0, granted: 0, left: 0 }
    }
    /// After a collection: so many bytes, none of them granted.
    pub fn renew(&mut self, bytes: u64) {
        self.total = bytes.max(LEAST);
        (self.granted, self.left) = (0, self.total);
    }
    /// All of it, spent or not.
    pub const fn total(&self) -> u64 {
        self.total
    }
    /// Lets the mutator allocate `bytes` before the next heap check, even if less is left of the budget; `None`: all
    /// that is left.
    pub fn grant(&mut self, bytes: Option<u64>) -> (Address, Address) {
        self.granted = bytes.unwrap_or(self.left);
        self.left = self.left.saturating_sub(self.granted);
        self.current()
    }
    /// The bounds of the grant, as it was handed out.
    pub fn current(&self) -> (Address, Address) {
        (self.zero, self.zero.plus(self.granted))
    }
    /// Are there so many bytes, granted or not?
    pub const fn has(&self, lo: Address, hi: Address, bytes: u64) -> bool {
        hi.offset_from(lo) + self.left >= bytes
    }
    /// Takes what is left out of the mutator's hands.
    pub fn close(&mut self, stats: &mut Stats, lo: Address, hi: Address) -> (Address, Address) {
        stats.allocated += self.granted - hi.offset_from(lo);
        self.left += hi.offset_from(lo);
        self.granted = 0;
        self.current()
    }
    /// The runtime allocates. What compiled code was promised, its heap check has spent.
    pub fn spend(&self, stats: &mut Stats, lo: Address, hi: &mut Address, bytes: u64) {
        let spent = bytes.min(hi.offset_from(lo));
        *hi = hi.minus(spent);
        stats.allocated += bytes - spent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_granted_and_counted_once() {
        let (mut b, mut s) = (Budget::new(Address(1 << 40)), Stats::default());
        b.renew(100_000);
        let (lo, mut hi) = b.grant(Some(1000));
        assert_eq!(hi.offset_from(lo), 1000);
        b.spend(&mut s, lo, &mut hi, 400);
        assert!(b.has(lo, hi, 99_600) && !b.has(lo, hi, 99_601));
        assert_eq!((b.close(&mut s, lo, hi), s.allocated), ((lo, lo), 400));
        let (lo, mut hi) = b.grant(None);
        assert_eq!(hi.offset_from(lo), 99_600);
        b.spend(&mut s, lo, &mut hi, 1 << 20);
        assert_eq!(hi, lo);
        b.close(&mut s, lo, hi);
        assert_eq!(s.allocated, 400 + (1 << 20));
        // More than there is, for a check that is larger than the budget.
        assert_eq!(b.grant(Some(500)).1.offset_from(lo), 500);
        b.renew(0);
        assert_eq!(b.total(), LEAST);
    }
}
