//! How often zeal acts.
//!
//! The problem: walking the whole heap around every collection, when there is one at every safepoint, takes time
//! quadratic in the work of the program; with large heaps nobody would wait for it. The idea: every safepoint collects,
//! without exception, which costs no more than what was allocated since the last one; but the larger the heap, the
//! fewer collections are major ones, and the fewer are walked before and after. So what zeal costs stays within a
//! constant factor of the program's own work. `thorough` walks around every collection. Collectors without young
//! objects have major ones only, at checks that are to make room: a poll for stops does not count.
//!
//! All of it depends on counts alone, never on time: a run can be repeated.

/// How many words may be walked for each of the first collections …
const EARLY_WORDS: u64 = 2048;
/// … for each of the others …
const LATE_WORDS: u64 = 128;
/// … and this many are the first.
const EARLY: u64 = 20_000;
/// Minor collections between two major ones, at least …
const MINORS: u64 = 30;
/// … and one more each time the heap has grown by this many bytes.
const BYTES_PER_MINOR: u64 = 2048;

/// See the module's header.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    thorough: bool,
    minors: u64,
    collections: u64,
    /// Words of the last walk that have not been earned yet.
    debt: u64,
}

impl Pace {
    /// At the start of a program.
    pub fn new(thorough: bool) -> Pace {
        Pace { thorough, ..Pace::default() }
    }
    /// A collection begins with a heap of this size: a major one?
    pub fn is_major(&mut self, used: u64) -> bool {
        self.minors += 1;
        let now = self.minors > MINORS + used / BYTES_PER_MINOR;
        if now {
            self.minors = 0;
        }
        now
    }
    /// A collection begins: walk the heap before and after it?
    pub fn walks(&mut self) -> bool {
        self.collections += 1;
        self.debt = self.debt.saturating_sub(if self.collections <= EARLY { EARLY_WORDS } else { LATE_WORDS });
        self.thorough || self.debt == 0
    }
    /// A walk met this many words.
    pub fn walked(&mut self, words: u64) {
        self.debt = words;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_heaps_get_everything_and_large_ones_their_share() {
        let mut p = Pace::new(false);
        let mut walks = |n: u64, words: u64| (0..n).filter(|_| p.walks() && (p.walked(words), true).1).count();
        assert_eq!(walks(100, 2_000), 100);
        assert_eq!(walks(100, 20_480), 10);
        assert_eq!(walks(EARLY - 200, 20_480), (EARLY as usize - 200) / 10);
        assert_eq!(walks(16_000, 20_480), 100);
        assert_eq!((0..310).filter(|_| p.is_major(0)).count(), 10);
        assert_eq!((0..1310).filter(|_| p.is_major(204_800)).count(), 10);
    }
    #[test]
    fn a_thorough_pace_leaves_out_no_walk() {
        let mut p = Pace::new(true);
        p.walked(1 << 30);
        assert!((0..100_000).all(|_| p.walks()));
    }
}
