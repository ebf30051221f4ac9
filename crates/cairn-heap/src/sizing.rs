//! When to collect everything: the policy, apart from the mechanism.
//!
//! Tracing work between two major collections is proportional to what is live, and the number of majors
//! inversely to the room between live size and limit; so the limit is a multiple of the live size, with a floor
//! below which collecting is not worth its fixed costs, and a ceiling that the user sets.
//!
//! ```text
//!   limit = clamp(live + room', min_limit, heap_max − nursery)     room  = (growth − 1) × live
//!                                                                  room' = min(2 × room, room + generous)
//! ```
//!
//! So small heaps get more room in proportion, which a large one would hardly notice (`gcbench` has a live size of 16
//! MB most of the time, and a peak of 170).
//!
//! A program may drop what it holds and go on with little: then the heap does not grow, and no limit is ever reached.
//! So a major collection also comes when the program has allocated several times what the heap holds (`patience`) since
//! the last one. If that finds little dead, patience doubles: the cost of looking in vain is logarithmic in the length
//! of the run.
//!
//! Rejected for now: the square-root rule of Kirisame et al. (2022), which balances many heaps in one machine; it
//! needs measured allocation and tracing rates, so runs would no longer be reproducible.

use crate::address::BLOCK_BYTES;
use crate::config::SizingConfig;

/// Smaller heaps are not worth a look for what may have died.
const WORTH_A_LOOK: u64 = 16 << 20;
/// Multiple of what the heap holds that a program allocates before such a look, at first.
const FIRST_PATIENCE: u64 = 4;
/// Survivors of a minor collection that do not take longer than a millisecond to copy, as a rule.
const PAUSE_BYTES: u64 = 640 << 10;
/// From this share of the nursery on (in 1024ths), objects are given more time to die.
const MANY_SURVIVE: u64 = 32;
/// From this share of the nursery on (in 1024ths), a larger one is tried now and then, and given up.
const HALF: u64 = 512;
/// So many minor collections in a row that leave as much come before the first try.
const FIRST_TRY: u32 = 32;
/// There is no end to the tries, but so many collections between two are enough.
const LAST_TRY: u32 = 4096;
/// From this share of the nursery on (in 1024ths), what comes next may be old from the start.
const NEARLY_ALL: u64 = 980;
/// Half of the bytes that are old from the start, at first.
const FIRST_OLD_BIRTHS: u64 = 512 << 10;
/// They double so many times at most.
const LONGEST_STREAK: u32 = 4;

/// See the module's header.
#[derive(Clone, Debug)]
pub struct Sizing {
    config: SizingConfig,
    heap_max: u64,
    limit: u64,
    live: u64,
    patience: u64,
    /// Bytes allocated since the start, at the last major collection.
    allocated: u64,
    /// Share of the nursery that survives, in 1024ths: what it was in the worst of the last few minor collections.
    survival: u64,
    /// How many minor collections in a row nearly everything has survived that was mostly not pairs.
    streak: u32,
    /// Is the nursery as large as it may be, whatever survives of a small one?
    wide: bool,
    /// How many minor collections in a row half of the nursery or more has survived.
    crowded: u32,
    /// After so many of them, the nursery is made wide.
    until_try: u32,
}

impl Sizing {
    /// A policy for a heap of at most `heap_max` bytes.
    pub fn new(config: SizingConfig, heap_max: u64) -> Sizing {
        Sizing {
            config,
            heap_max,
            limit: config.min_limit.min(heap_max),
            live: 0,
            patience: FIRST_PATIENCE,
            allocated: 0,
            survival: 0,
            streak: 0,
            wide: false,
            crowded: 0,
            until_try: FIRST_TRY,
        }
    }
    /// A major collection is due when the heap holds this much.
    pub const fn limit(&self) -> u64 {
        self.limit
    }
    /// What survived the last major collection.
    pub const fn live(&self) -> u64 {
        self.live
    }
    /// No collection of everything while the heap holds less.
    pub const fn least(&self) -> u64 {
        self.config.min_limit
    }
    /// The most that the heap may hold.
    pub const fn heap_max(&self) -> u64 {
        self.heap_max
    }
    /// Bytes of young large objects that make a minor collection due.
    pub fn large_young(&self) -> u64 {
        self.config.large_young.min(self.heap_max / 4)
    }
    /// A major collection left `live` bytes; the nursery takes `nursery` more.
    pub fn after_major(&mut self, live: u64, nursery: u64) {
        self.live = live;
        let room = (live as f64 * (self.config.growth - 1.0)) as u64;
        let nursery = nursery.min(self.heap_max / 8);
        let wish = (live + (2 * room).min(room + self.config.generous)).max(self.config.min_limit);
        self.limit = wish.min(self.heap_max.saturating_sub(nursery)).max(live);
    }
    /// Has so much been allocated since the last major collection that what the heap holds is likely to be dead?
    /// `allocated` counts from the start.
    pub const fn is_stale(&self, held: u64, allocated: u64) -> bool {
        held >= WORTH_A_LOOK && (allocated - self.allocated) / self.patience >= held
    }
    /// A major collection of a heap of `before` bytes is over; the survivors are known.
    pub fn note_age(&mut self, before: u64, allocated: u64) {
        let in_vain = self.is_stale(before, allocated) && self.live > before / 4 * 3;
        self.patience = if in_vain { self.patience.saturating_mul(2) } else { FIRST_PATIENCE };
        self.allocated = allocated;
    }
    /// Room that must be left after a full collection, so that the program does not crawl from one collection to the
    /// next.
    pub fn breathing_room(&self) -> u64 {
        (self.heap_max / 32).max(32 << 10)
    }
    /// A minor collection of a nursery with `nursery` bytes, `pairs` of them pairs, is over: so many were copied.
    ///
    /// Pairs gain by being copied: the elements of a list come to lie in the order in which collections of everything
    /// follow them. Born old, they lie in the order in which they were made, and those collections take half as long
    /// again (`paraffins` 1.86 → 2.78 s, `earley` 0.90 → 1.46 s; copying less saves 0.6 and 0.2 s).
    pub fn note_survivors(&mut self, nursery: u64, pairs: u64, copied: u64) {
        let rate = copied * 1024 / nursery.max(BLOCK_BYTES);
        if !self.wide {
            self.survival = rate.max(self.survival - self.survival / 16).min(1024);
        }
        let kept = rate >= NEARLY_ALL && 2 * pairs <= nursery;
        self.streak = if kept { (self.streak + 1).min(LONGEST_STREAK) } else { 0 };
        self.try_a_wide_one(rate);
    }
    /// What a small nursery tells of objects that live a little longer than it takes to fill it: that all survive. A
    /// program that makes one list of 100,000 elements after the other has each copied, and then marked, though two of
    /// three would be dead when a large nursery is full. So one is tried, and kept while less than half survives; else
    /// it is tried again after twice as many collections, for what it leaves makes a long pause.
    fn try_a_wide_one(&mut self, rate: u64) {
        if self.wide {
            if rate >= HALF {
                self.until_try = (2 * self.until_try).min(LAST_TRY);
            }
            // where few survive, a small one that stays in the cache is as good
            self.wide = (MANY_SURVIVE..HALF).contains(&rate);
            self.crowded = 0;
            return;
        }
        self.crowded = if rate >= HALF && self.streak == 0 { self.crowded + 1 } else { 0 };
        if self.crowded >= self.until_try {
            self.wide = true;
        }
    }
    /// How many bytes of new objects shall be old from the start, before the nursery is used again, when the heap holds
    /// `used` bytes: none, unless nearly all young objects have survived lately, and few were pairs. `always`: a few,
    /// for tests.
    ///
    /// The more often they did, the more are born old; but if all of them die soon, the next major collection shall not
    /// come much earlier for it.
    pub fn old_births(&self, used: u64, always: bool) -> u64 {
        let wish = if self.streak > 0 { FIRST_OLD_BIRTHS << self.streak } else { 0 };
        let room = self.limit.saturating_sub(used);
        let few = if always { 2 * BLOCK_BYTES } else { 0 };
        wish.min(room / 4).max(few.min(room))
    }
    /// The nursery size when the heap holds `used` bytes and `most` is the configured size.
    ///
    /// An eighth of it suits programs that keep little: it stays in the second-level cache (`deriv`: 0.13 s instead of
    /// 0.16 s). The more a program keeps, the more often its survivors would only have needed a little more time to die
    /// (`nboyer`: 1.85 s with at most 8 MiB, 2.01 s with 4 MiB); likewise when many survive, as where trees are built
    /// and dropped. But the survivors make the pause: there shall be no more of them than [`PAUSE_BYTES`], as far as
    /// the last collections tell.
    pub fn nursery(&self, most: u64, used: u64) -> u64 {
        let room = self.heap_max.saturating_sub(used) / 2;
        let for_heap = (used / 32).clamp(most / 8, most);
        let for_lives = if self.survival >= MANY_SURVIVE { most / 2 } else { 0 };
        let for_pause = (PAUSE_BYTES * 1024 / self.survival.max(1)).max(most / 16);
        let wish = if self.wide { most } else { for_heap.max(for_lives).min(for_pause) };
        wish.min(self.heap_max / 8).min(room).max(BLOCK_BYTES) & !(BLOCK_BYTES - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_follows_live_size_between_floor_and_ceiling() {
        let mut s = Sizing::new(SizingConfig { min_limit: 100, growth: 2.0, generous: 0, large_young: 1 }, 1000);
        assert_eq!(s.limit(), 100);
        s.after_major(10, 50);
        assert_eq!(s.limit(), 100);
        s.after_major(200, 50);
        assert_eq!(s.limit(), 400);
        s.after_major(600, 50);
        assert_eq!(s.limit(), 950);
        s.after_major(990, 50);
        assert_eq!(s.limit(), 990);
        let mut s = Sizing::new(SizingConfig { min_limit: 100, growth: 2.0, generous: 150, large_young: 1 }, 1000);
        s.after_major(100, 50);
        assert_eq!(s.limit(), 300);
        s.after_major(300, 50);
        assert_eq!(s.limit(), 750);
    }
    #[test]
    fn a_heap_that_does_not_grow_is_looked_at_ever_more_rarely() {
        let config = SizingConfig { min_limit: 100, growth: 2.0, generous: 0, large_young: 1 };
        let mut s = Sizing::new(config, 1 << 40);
        let (held, m) = (64 << 20, 1 << 20);
        assert!(!s.is_stale(held, 255 * m) && s.is_stale(held, 256 * m));
        assert!(!s.is_stale(15 * m, 1 << 50), "a small heap");
        s.after_major(held, 0);
        s.note_age(held, 256 * m);
        assert!(!s.is_stale(held, (256 + 511) * m) && s.is_stale(held, (256 + 512) * m));
        s.after_major(m, 0);
        s.note_age(held, 768 * m);
        assert!(s.is_stale(held, (768 + 256) * m));
        let mut looks = 0;
        for allocated in 1_000..1_000_000 {
            if s.is_stale(held, allocated * m) {
                looks += 1;
                s.after_major(held, 0);
                s.note_age(held, allocated * m);
            }
        }
        assert!(looks <= 13, "{looks} looks in vain during 1 TB");
    }
    #[test]
    fn the_nursery_grows_with_the_heap_and_shrinks_near_the_maximum() {
        let s = Sizing::new(SizingConfig { min_limit: 100, growth: 2.0, generous: 0, large_young: 1 }, 1 << 30);
        let m = 1 << 20;
        assert_eq!(s.nursery(8 * m, 0), m);
        assert_eq!(s.nursery(8 * m, 64 * m), 2 * m);
        assert_eq!(s.nursery(8 * m, 900 * m), 8 * m);
        assert_eq!(s.nursery(8 * m, 1023 * m), m / 2);
        assert_eq!(s.nursery(8 * m, 1024 * m), 32 << 10);
    }
    #[test]
    fn the_nursery_follows_the_share_that_survives() {
        let config = SizingConfig { min_limit: 100, growth: 2.0, generous: 0, large_young: 1 };
        let mut s = Sizing::new(config, 1 << 40);
        let m = 1 << 20;
        s.note_survivors(m, 0, m / 100);
        assert_eq!(s.nursery(8 * m, 0), m, "few survive: what fits the cache");
        s.note_survivors(m, 0, m / 10);
        assert_eq!(s.nursery(8 * m, 0), 4 * m, "some do: they get more time to die");
        s.note_survivors(m, 0, m / 2);
        assert_eq!(s.nursery(8 * m, 0), 5 * m / 4, "half do: their copies make the pause");
        assert_eq!(s.nursery(8 * m, 1024 * m), 5 * m / 4, "however large the heap is");
        s.note_survivors(m, 0, m);
        assert_eq!(s.nursery(8 * m, 0), 640 << 10);
        for _ in 0..20 {
            s.note_survivors(m, 0, 0);
        }
        assert!(s.nursery(8 * m, 0) > m, "the worst is remembered");
        for _ in 0..40 {
            s.note_survivors(m, 0, 0);
        }
        assert_eq!(s.nursery(8 * m, 0), m, "for a while");
    }
    #[test]
    fn a_wide_nursery_is_tried_where_most_survive_and_kept_where_it_helps() {
        let config = SizingConfig { min_limit: 100, growth: 2.0, generous: 0, large_young: 1 };
        let m = 1 << 20;
        // each list lives until the next one of 2 MB is done
        let mut s = Sizing::new(config, 1 << 40);
        let mut copied = 0;
        for _ in 0..1000 {
            let nursery = s.nursery(8 * m, 0);
            let survive = nursery.min(2 * m);
            copied += survive * 1024 / nursery;
            s.note_survivors(nursery, nursery, survive);
        }
        assert!(copied < 1000 * 1024 * 28 / 100, "a quarter in the long run: {copied}");
        // everything lives
        let mut s = Sizing::new(config, 1 << 40);
        let wide = (0..1000).filter(|_| {
            let nursery = s.nursery(8 * m, 0);
            s.note_survivors(nursery, nursery, nursery);
            nursery == 8 * m
        });
        assert_eq!(wide.count(), 4 + 1, "the first nursery is small; then after 32, 64, 128, 256 collections");
        // few survive once it is wide
        let mut s = Sizing::new(config, 1 << 40);
        (0..FIRST_TRY).for_each(|_| s.note_survivors(m, m, m));
        assert_eq!(s.nursery(8 * m, 0), 8 * m);
        s.note_survivors(8 * m, 8 * m, 0);
        assert!(s.nursery(8 * m, 0) < 8 * m);
    }
    #[test]
    fn what_survives_again_and_again_is_born_old_but_for_pairs() {
        let config = SizingConfig { min_limit: 100, growth: 2.0, generous: 0, large_young: 1 };
        let mut s = Sizing::new(config, 1 << 40);
        let m = 1 << 20;
        s.after_major(1024 * m, 0);
        let mut after = |pairs, copied| {
            s.note_survivors(m, pairs, copied);
            s.old_births(0, false)
        };
        assert_eq!([after(0, m), after(m / 2, m), after(m / 4, m - m / 32)], [m, 2 * m, 4 * m]);
        assert_eq!([after(0, m), after(0, m)], [8 * m, 8 * m], "no more at once");
        assert_eq!(after(m / 2 + 16, m), 0, "mostly pairs");
        assert_eq!([after(0, m), after(0, m - m / 16)], [m, 0], "some have died");
    }
}
