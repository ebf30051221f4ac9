//! How often zeal acts.
//!
//! The problem: collecting at every safepoint and walking the whole heap around every collection takes time quadratic in
//! the work of the program; with large heaps nobody would wait for it. The idea: a pace that follows the costs.
//! Small heaps, where most mistakes show, get everything. A collection may be left out when the heap is large or very many
//! have been made, a walk when the last one was long or, again, very many have been made; so what zeal costs stays within a constant factor of the program's
//! own work. `thorough` leaves out nothing.
//!
//! All of it depends on counts alone, never on time: a run can be repeated.

/// One more safepoint passes without a collection for each so many bytes of the heap …
const BYTES_PER_SKIP: u64 = 512 << 10;
/// … and for each so many collections made before.
const COLLECTIONS_PER_SKIP: u64 = 500;
/// One more collection passes without a walk for each so many words of the last walk …
const WORDS_PER_SKIP: u64 = 400;
/// … and for each so many walks made before.
const WALKS_PER_SKIP: u64 = 200;

/// See the module's header.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    thorough: bool,
    collections: u64,
    passed: u64,
    unwalked: u64,
    walks: u64,
    words: u64,
}

impl Pace {
    /// At the start of a program.
    pub fn new(thorough: bool) -> Pace {
        Pace { thorough, ..Pace::default() }
    }
    /// A safepoint is reached with a heap of so many bytes: collect?
    pub fn collects(&mut self, used: u64) -> bool {
        self.passed += 1;
        let n = used / BYTES_PER_SKIP + self.collections / COLLECTIONS_PER_SKIP;
        let now = self.thorough || self.passed > n;
        if now {
            self.passed = 0;
            self.collections += 1;
        }
        now
    }
    /// A collection begins: walk the heap before and after it?
    pub fn walks(&mut self) -> bool {
        self.unwalked += 1;
        let now = self.thorough || self.unwalked > self.words / WORDS_PER_SKIP + self.walks / WALKS_PER_SKIP;
        if now {
            self.unwalked = 0;
            self.walks += 1;
        }
        now
    }
    /// A walk met so many words.
    pub fn walked(&mut self, words: u64) {
        self.words = words;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_heaps_get_everything_and_large_ones_their_share() {
        let mut p = Pace::new(false);
        assert!((0..500).all(|_| p.collects(100 << 10)));
        assert_eq!((0..440).filter(|_| p.collects(10 << 20)).count(), 440 / 22);
        p.walked(100);
        assert!((0..10).all(|_| p.walks()));
        p.walked(4_000);
        assert_eq!((0..110).filter(|_| p.walks()).count(), 10);
    }
    #[test]
    fn a_thorough_pace_leaves_out_nothing() {
        let mut p = Pace::new(true);
        p.walked(1 << 30);
        assert!((0..100_000).all(|_| p.collects(1 << 40) && p.walks()));
    }
}
