//! When a program that waits should collect meanwhile, to give back what it has dropped.
//!
//! The problem: a program that drops data and then waits for input keeps them, for nothing makes it collect; but one
//! that waits often, and drops nothing, must not spend its time on collections. The idea: a collection happens when the
//! program has waited for twenty times as long as the longest one has taken, so it costs a twentieth of the time at
//! most. One of some milliseconds need not wait for seconds: [`SOON`], or four times the longest, is enough. When the
//! last one for this reason has found little, twice as long, and so on, until one finds much, or the program allocates
//! so much that it collects by itself.
//!
//! Invariant: a program that has allocated nothing since it collected for this reason does not do so again.

use std::time::Duration;

/// A program that holds less than this does not collect.
const LEAST: u64 = 4 << 20;
/// A collection need not wait longer, unless it takes long itself.
const SOON: Duration = Duration::from_millis(400);
/// Then it waits for so many times as long as the longest one has taken, at most.
const LONG: u32 = 4;
/// A collection has found much if it frees one part in so many.
const MUCH: u64 = 8;
/// How often the time to wait is doubled at most.
const DOUBLINGS: u32 = 12;

/// What is known of the collections that a waiting program has asked for.
#[derive(Default)]
pub struct Idle {
    /// How many collections there were after the last one of these.
    last: u64,
    /// Bytes that the heap held before it.
    before: u64,
    /// Bytes that it held after it; unknown until the program, which has collected, asks again.
    after: Option<u64>,
    /// How many found little, one after the other.
    in_vain: u32,
}

impl Idle {
    /// How long a program must have waited before it collects, if it should at all. There have been so many
    /// `collections`, the heap holds `used` bytes, and `longest` is the longest collection so far.
    pub fn patience(&mut self, collections: u64, used: u64, longest: Duration) -> Option<Duration> {
        if collections < self.last {
            return None;
        }
        if self.last > 0 {
            let Some(after) = self.after else {
                let little = self.before.saturating_sub(used) < self.before / MUCH;
                self.in_vain = if little { (self.in_vain + 1).min(DOUBLINGS) } else { 0 };
                (self.last, self.after) = (collections, Some(used));
                return None;
            };
            if collections > self.last {
                self.in_vain = 0;
            } else if used == after {
                return None;
            }
        }
        (used >= LEAST).then_some((20 * longest).min(SOON.max(LONG * longest)) * (1 << self.in_vain))
    }

    /// The next collection, after so many, is one that a waiting program has asked for.
    pub fn asked(&mut self, collections: u64, used: u64) {
        (self.last, self.before, self.after) = (collections + 1, used, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_millis(10);
    const MB: u64 = 1 << 20;

    #[test]
    fn what_was_never_collected_is_collected_when_the_program_waits() {
        assert_eq!(Idle::default().patience(0, LEAST - 1, PAUSE), None);
        assert_eq!(Idle::default().patience(0, LEAST, PAUSE), Some(20 * PAUSE));
    }

    #[test]
    fn what_takes_a_tenth_of_a_second_need_not_wait_for_two() {
        let patience = |ms| Idle::default().patience(0, LEAST, Duration::from_millis(ms)).unwrap().as_millis();
        assert_eq!([1, 20, 50, 100, 150, 1000].map(patience), [20, 400, 400, 400, 600, 4000]);
    }

    #[test]
    fn not_twice_when_nothing_was_allocated_between() {
        let mut idle = Idle::default();
        idle.asked(7, 80 * MB);
        assert_eq!(idle.patience(7, 80 * MB, PAUSE), None, "it has not happened yet");
        for _ in 0..3 {
            assert_eq!(idle.patience(8, 10 * MB, PAUSE), None);
        }
        // a line was read, and the program has perhaps dropped something
        assert_eq!(idle.patience(8, 10 * MB + 64, PAUSE), Some(20 * PAUSE));
    }

    #[test]
    fn who_drops_nothing_is_asked_less_and_less_often() {
        let mut idle = Idle::default();
        let mut patience = vec![];
        for n in 0..20 {
            patience.push(idle.patience(n, 80 * MB + 64, PAUSE).unwrap());
            idle.asked(n, 80 * MB + 64);
            assert_eq!(idle.patience(n + 1, 80 * MB, PAUSE), None);
        }
        assert_eq!(patience[..3], [20 * PAUSE, 40 * PAUSE, 80 * PAUSE]);
        assert_eq!(patience[19], 20 * PAUSE * (1 << DOUBLINGS));
        // one that finds much, and one that the program needed by itself
        idle.asked(20, 80 * MB);
        assert_eq!(idle.patience(21, 70 * MB, PAUSE), None);
        assert_eq!(idle.patience(21, 71 * MB, PAUSE), Some(20 * PAUSE));
        idle.asked(21, 71 * MB);
        assert_eq!(idle.patience(22, 71 * MB - 64, PAUSE), None);
        assert_eq!(idle.patience(22, 71 * MB, PAUSE), Some(40 * PAUSE));
        assert_eq!(idle.patience(23, 71 * MB, PAUSE), Some(20 * PAUSE));
    }
}
