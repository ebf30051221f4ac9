//! What the heap has done: counters, pauses, and one event per collection for whoever watches.

use std::fmt;
use std::time::Duration;

/// Extent of a collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CollectionKind {
    /// Young objects only.
    Minor,
    /// Everything.
    Major,
}

/// Why a collection happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The nursery is full.
    Nursery,
    /// Many large objects or stack chunks were allocated.
    Large,
    /// The heap reached its limit.
    Limit,
    /// Much has been allocated since the last major collection, and the heap has not grown; or it has grown by stack
    /// chunks alone: what it holds may be dead.
    Stale,
    /// The heap is near the user's maximum.
    HeapMax,
    /// The program asked.
    Request,
    /// Zeal.
    Zeal,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Nursery => "nursery full",
            Reason::Large => "large objects",
            Reason::Limit => "heap limit",
            Reason::Stale => "stale",
            Reason::HeapMax => "heap maximum",
            Reason::Request => "requested",
            Reason::Zeal => "zeal",
        })
    }
}

/// One collection.
#[derive(Clone, Copy, Debug)]
pub struct CollectionEvent {
    /// Counted from 1.
    pub number: u64,
    /// Extent.
    pub kind: CollectionKind,
    /// Cause.
    pub reason: Reason,
    /// Bytes in the nursery before.
    pub nursery: u64,
    /// Bytes held outside the nursery before and after.
    pub before: u64,
    /// See `before`.
    pub after: u64,
    /// Bytes copied.
    pub copied: u64,
    /// Limit at which the next major collection is due.
    pub limit: u64,
    /// How long the program stood still.
    pub pause: Duration,
}

impl fmt::Display for CollectionEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.kind == CollectionKind::Minor { "minor" } else { "major" };
        write!(
            f,
            "gc {} {kind} ({}): nursery {}, heap {} -> {} of {}, copied {}, {:.3} ms",
            self.number,
            self.reason,
            Bytes(self.nursery),
            Bytes(self.before),
            Bytes(self.after),
            Bytes(self.limit),
            Bytes(self.copied),
            self.pause.as_secs_f64() * 1e3,
        )
    }
}

/// Watches collections; `--trace-gc` prints each event.
pub trait Observer {
    /// A collection has ended.
    fn collection(&mut self, event: &CollectionEvent);
}

/// A number of bytes, printed for people: `512`, `3.1K`, `12.0M`.
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let b = self.0 as f64;
        match self.0 {
            0..1024 => write!(f, "{}", self.0),
            1024..1_048_576 => write!(f, "{:.1}K", b / 1024.0),
            1_048_576..1_073_741_824 => write!(f, "{:.1}M", b / 1048576.0),
            _ => write!(f, "{:.2}G", b / 1073741824.0),
        }
    }
}

/// Pauses, in buckets whose width is an eighth of their start: quantiles are exact to 12 %.
#[derive(Clone, Debug)]
pub struct Pauses {
    buckets: Box<[u32; Pauses::BUCKETS]>,
    count: u64,
    total: Duration,
    max: Duration,
}

impl Default for Pauses {
    fn default() -> Self {
        Pauses { buckets: Box::new([0; Pauses::BUCKETS]), count: 0, total: Duration::ZERO, max: Duration::ZERO }
    }
}

impl Pauses {
    const BUCKETS: usize = 8 * 62;

    fn bucket(nanos: u64) -> usize {
        let n = nanos.max(8);
        let log = 63 - n.leading_zeros();
        ((log - 3) * 8 + ((n >> (log - 3)) & 7) as u32) as usize
    }
    fn bucket_start(i: usize) -> u64 {
        (8 + (i as u64 & 7)) << (i / 8)
    }
    /// Records a pause.
    pub fn add(&mut self, pause: Duration) {
        self.buckets[Pauses::bucket(pause.as_nanos() as u64)] += 1;
        self.count += 1;
        self.total += pause;
        self.max = self.max.max(pause);
    }
    /// Number of pauses.
    pub const fn count(&self) -> u64 {
        self.count
    }
    /// Sum of all pauses.
    pub const fn total(&self) -> Duration {
        self.total
    }
    /// The longest pause.
    pub const fn max(&self) -> Duration {
        self.max
    }
    /// The pause that a fraction `q` of all pauses does not exceed, rounded down by at most an eighth.
    pub fn quantile(&self, q: f64) -> Duration {
        let mut left = (self.count as f64 * q).ceil() as u64;
        for (i, &n) in self.buckets.iter().enumerate() {
            if left <= n as u64 {
                return if n == 0 { Duration::ZERO } else { Duration::from_nanos(Pauses::bucket_start(i)) };
            }
            left -= n as u64;
        }
        self.max
    }
}

/// Counters since the heap was made.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Minor collections.
    pub minor: u64,
    /// Major collections.
    pub major: u64,
    /// Bytes allocated by the mutator, up to the last extent it filled.
    pub allocated: u64,
    /// Bytes of small objects that were old from the start.
    pub born_old: u64,
    /// Bytes copied by minor collections: promoted.
    pub promoted: u64,
    /// Bytes copied by major collections.
    pub copied: u64,
    /// Objects that collections left where they were because an ambiguous root refers to them, or that a minor one
    /// had to.
    pub pinned: u64,
    /// Words of static data that collections of young objects have looked at.
    pub static_words: u64,
    /// What the stages of mostly-copying collections took and found.
    pub mostly_copying: MostlyCopying,
    /// Times that a marking stack was full and objects had to be found again.
    pub overflows: u64,
    /// Most bytes that the heap held at once, survivors being copied included.
    pub peak: u64,
    /// Most bytes that the heap held after a major collection: the live data, as far as it is known.
    pub live: u64,
    /// Pauses of minor collections.
    pub minor_pauses: Pauses,
    /// Pauses of major collections.
    pub major_pauses: Pauses,
}

/// Stages of mostly-copying collections, and what they count, since the heap was made.
#[derive(Clone, Debug, Default)]
pub struct MostlyCopying {
    /// Collections.
    pub collections: u64,
    /// Objects on pages that were live, over all collections.
    pub objects: u64,
    /// Time of each of [`MostlyCopying::STAGES`].
    pub stages: [Duration; 5],
    /// Words looked at that might have been references.
    pub tested: u64,
    /// Objects that were walked over to find out which one such a word refers to.
    pub walked: u64,
    /// Bytes of holes that were allocated again.
    pub refilled: u64,
    /// Ambiguous roots that refer to an object.
    pub roots: u64,
    /// Pages promoted.
    pub promoted_pages: u64,
    /// The sum, over all collections, of those roots for each promoted page.
    pub roots_per_page: f64,
    /// Bytes of live pinned objects.
    pub pinned_bytes: u64,
    /// Bytes of dead objects on promoted pages.
    pub holes: u64,
}

impl MostlyCopying {
    /// Names of the stages, in order.
    pub const STAGES: [&str; 5] = ["pin", "root", "graph", "free", "sweep"];
}

impl Stats {
    /// Time spent in collections.
    pub fn pause_total(&self) -> Duration {
        self.minor_pauses.total() + self.major_pauses.total()
    }
    /// The longest pause.
    pub fn pause_max(&self) -> Duration {
        self.minor_pauses.max().max(self.major_pauses.max())
    }
    /// All counters by name, for programs that read them: bytes, counts, and nanoseconds where a name ends in `_ns`.
    pub fn numbers(&self) -> Vec<(&'static str, u64)> {
        let ns = |d: Duration| d.as_nanos() as u64;
        let (minor, major) = (&self.minor_pauses, &self.major_pauses);
        let mut all = vec![
            ("allocated", self.allocated),
            ("peak", self.peak),
            ("live", self.live),
            ("minor", self.minor),
            ("major", self.major),
            ("promoted", self.promoted),
            ("born_old", self.born_old),
            ("copied", self.copied),
            ("pinned", self.pinned),
            ("minor_ns", ns(minor.total())),
            ("major_ns", ns(major.total())),
            ("minor_p50_ns", ns(minor.quantile(0.5))),
            ("minor_p99_ns", ns(minor.quantile(0.99))),
            ("major_p50_ns", ns(major.quantile(0.5))),
            ("major_p99_ns", ns(major.quantile(0.99))),
            ("pause_max_ns", ns(self.pause_max())),
        ];
        let m = &self.mostly_copying;
        if m.collections > 0 {
            let stages = ["pin_ns", "root_ns", "graph_ns", "free_ns", "sweep_ns"];
            all.extend(stages.into_iter().zip(m.stages.map(ns)));
            all.extend([
                ("live_objects", m.objects),
                ("words_tested", m.tested),
                ("objects_walked", m.walked),
                ("refilled", m.refilled),
                ("quasi_pointers", m.roots),
                ("promoted_pages", m.promoted_pages),
                ("pinned_bytes", m.pinned_bytes),
                ("invalidated", m.holes),
                ("roots_per_page_milli", (m.roots_per_page * 1e3 / m.collections as f64) as u64),
            ]);
        }
        all
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        writeln!(f, "allocated     {:>10}   peak heap {}", Bytes(self.allocated).to_string(), Bytes(self.peak))?;
        if self.pinned > 0 {
            writeln!(f, "pinned        {:>10}", self.pinned)?;
        }
        if self.born_old > 0 {
            writeln!(f, "born old      {:>10}", Bytes(self.born_old).to_string())?;
        }
        for (name, n, bytes, p) in [
            ("minor", self.minor, self.promoted, &self.minor_pauses),
            ("major", self.major, self.copied, &self.major_pauses),
        ] {
            writeln!(
                f,
                "{name} gc      {n:>10}   copied {}   pauses: total {:.1} ms, p50 {:.3} ms, p99 {:.3} ms, max {:.3} ms",
                Bytes(bytes),
                ms(p.total()),
                ms(p.quantile(0.5)),
                ms(p.quantile(0.99)),
                ms(p.max()),
            )?;
        }
        let m = &self.mostly_copying;
        if m.collections > 0 {
            write!(f, "stages       ")?;
            for (name, time) in MostlyCopying::STAGES.iter().zip(&m.stages) {
                write!(f, " {name} {:.1} ms", ms(*time))?;
            }
            writeln!(
                f,
                "\nquasi         {:>10} tested   roots {}   promoted pages {}   pinned {}   holes {}",
                m.tested,
                m.roots,
                m.promoted_pages,
                Bytes(m.pinned_bytes),
                Bytes(m.holes),
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_pauses() {
        let mut p = Pauses::default();
        for us in 1..=100 {
            p.add(Duration::from_micros(us));
        }
        let median = p.quantile(0.5).as_nanos();
        assert!((43_000..=50_000).contains(&median), "{median}");
        assert_eq!(p.max(), Duration::from_micros(100));
        assert_eq!(p.count(), 100);
    }
}
