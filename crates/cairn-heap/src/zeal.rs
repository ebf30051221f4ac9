//! How often zeal acts.
//!
//! The problem: walking the whole heap around every collection, when there is one at every safepoint, takes time
//! quadratic in the work of the program; with large heaps nobody would wait for it. The idea: every safepoint collects,
//! without exception, which costs no more than what was allocated since the last one; but the larger the heap, the
//! fewer collections are major ones, and the fewer are walked before and after. So what zeal costs stays within a
//! constant factor of the program's own work. Collectors without young objects have major ones only: these come at the
//! first five thousand safepoints, and then at fewer the more lives. `unpaced` collects at every one, `thorough` walks
//! around all of these, too. Where nothing has been handed out since the last collection, another would find nothing.
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

/// Where all collections are major ones, so many safepoints have one each …
const EARLY_SAFEPOINTS: u64 = 5_000;
/// … and each of the others for so many bytes that live has none.
const BYTES_PER_SAFEPOINT: u64 = 1024;

/// See the module's header.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    thorough: bool,
    unpaced: bool,
    /// Safepoints that might have collected, and those since one did.
    safepoints: u64,
    quiet: u64,
    /// Nothing has been handed out since the last collection.
    fresh: bool,
    minors: u64,
    collections: u64,
    /// Words of the last walk that have not been earned yet.
    debt: u64,
}

impl Pace {
    /// At the start of a program.
    pub fn new(thorough: bool, unpaced: bool) -> Pace {
        Pace { thorough, unpaced: unpaced || thorough, ..Pace::default() }
    }
    /// A safepoint of a collector all of whose collections are major ones, when so many bytes live: does it collect?
    /// If not, the mutator is handed out memory.
    pub fn collects(&mut self, live: u64) -> bool {
        if std::mem::take(&mut self.fresh) {
            return false;
        }
        self.safepoints += 1;
        self.quiet += 1;
        let now = self.unpaced || self.safepoints <= EARLY_SAFEPOINTS || self.quiet > live / BYTES_PER_SAFEPOINT;
        if now {
            self.quiet = 0;
        }
        now
    }
    /// A collection is over.
    pub fn collected(&mut self) {
        self.fresh = true;
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
        let mut p = Pace::new(false, false);
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
        let mut p = Pace::new(true, false);
        p.walked(1 << 30);
        assert!((0..100_000).all(|_| p.walks()));
        assert!((0..100_000).all(|_| p.collects(1 << 30)));
    }
    #[test]
    fn major_collections_come_at_every_safepoint_at_first_and_always_if_asked_for() {
        let collections = |p: &mut Pace, n: u64, live: u64| (0..n).filter(|_| p.collects(live)).count() as u64;
        let mut p = Pace::new(false, false);
        assert_eq!(collections(&mut p, EARLY_SAFEPOINTS, 1 << 20), EARLY_SAFEPOINTS);
        assert_eq!(collections(&mut p, 102_500, 1 << 20), 100);
        assert_eq!(collections(&mut Pace::new(false, true), 100_000, 1 << 30), 100_000);
        p.collected();
        assert!(!p.collects(0) && p.collects(0), "nothing was handed out before");
    }
}
