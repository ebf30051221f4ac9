//! Budgets: what may be allocated from one collection to the next, where `lo..hi` is not memory.
//!
//! The problem: heap checks of compiled code compare `hi - lo` with what they want, whatever the collector; where
//! memory comes from free lists, that has to be a number. The idea: `hi - lo` is what is left of a *grant*, which
//! compiled code spends at its checks and the runtime when it allocates. `lo` lies where no object of the heap can be,
//! so that nothing takes `hi` for the address of one.

use crate::address::Address;
use crate::stats::Stats;
use cairn_layout::machine::Cursors;

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
    pub fn grant(&mut self, bytes: Option<u64>) -> Cursors {
        self.granted = bytes.unwrap_or(self.left);
        self.left = self.left.saturating_sub(self.granted);
        self.current()
    }
    /// The bounds of the grant, as it was handed out.
    pub fn current(&self) -> Cursors {
        Cursors { lo: self.zero.0, hi: self.zero.0 + self.granted }
    }
    /// Are there so many bytes, granted or not?
    pub const fn has(&self, at: Cursors, bytes: u64) -> bool {
        at.room() + self.left >= bytes
    }
    /// Takes what is left out of the mutator's hands.
    pub fn close(&mut self, stats: &mut Stats, at: Cursors) -> Cursors {
        stats.allocated += self.granted - at.room();
        self.left += at.room();
        self.granted = 0;
        self.current()
    }
    /// The runtime allocates. What compiled code was promised, its heap check has spent.
    pub fn spend(&self, stats: &mut Stats, at: &mut Cursors, bytes: u64) {
        let spent = bytes.min(at.room());
        at.hi -= spent;
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
        let mut at = b.grant(Some(1000));
        assert_eq!(at.room(), 1000);
        b.spend(&mut s, &mut at, 400);
        assert!(b.has(at, 99_600) && !b.has(at, 99_601));
        let nothing = Cursors { hi: at.lo, ..at };
        assert_eq!((b.close(&mut s, at), s.allocated), (nothing, 400));
        let mut at = b.grant(None);
        assert_eq!(at.room(), 99_600);
        b.spend(&mut s, &mut at, 1 << 20);
        assert_eq!(at, nothing);
        b.close(&mut s, at);
        assert_eq!(s.allocated, 400 + (1 << 20));
        // The runtime allocates between a check and what compiled code takes for it: nothing is left, nor is it counted
        // as room that wraps around.
        let mut at = b.grant(Some(72));
        b.spend(&mut s, &mut at, 40);
        at.hi -= 72;
        assert_eq!((at.room(), b.has(at, 1)), (0, false));
        assert_eq!(b.close(&mut s, at), nothing);
        // More than there is, for a check that is larger than the budget.
        assert_eq!(b.grant(Some(500)).room(), 500);
        b.renew(0);
        assert_eq!(b.total(), LEAST);
    }
}
