//! A primary data cache, simulated: which reads and writes of a trace miss.
//!
//! As in the paper (section 6): lines of 32 bytes; direct-mapped, or sets of several lines of which the least recently
//! used goes. What a write that misses does is the policy:
//!
//! ```text
//!   allocate (write-validate)   the line is taken, the written bytes are valid, the rest is not; nothing is fetched
//!   around                      the write goes to memory, the cache stays as it is
//! ```
//!
//! A read misses if its line is not there, or if some of its bytes are not valid; then the whole line is fetched. An
//! access that crosses the edge of a line is one to each.

/// Bytes of a line.
pub const LINE: u64 = 32;

/// What a write does whose line is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnWriteMiss {
    /// Takes the line without fetching it.
    Allocate,
    /// Leaves the cache as it is.
    Around,
}

/// Size and kind of a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Bytes: a power of two, at least a set.
    pub bytes: u64,
    /// Lines of a set; 1: direct-mapped.
    pub ways: usize,
    /// The policy.
    pub on_write_miss: OnWriteMiss,
}

#[derive(Clone, Copy)]
struct Line {
    /// Address divided by [`LINE`].
    number: u64,
    /// Which bytes are valid; none: nothing is there.
    valid: u32,
}

/// A cache, and what missed so far.
pub struct Cache {
    geometry: Geometry,
    /// Sets one after the other, each with the most recently used line first.
    lines: Vec<Line>,
    set_mask: u64,
    /// Reads that had to fetch a line.
    pub read_misses: u64,
    /// Writes whose line was not there.
    pub write_misses: u64,
}

impl Cache {
    /// An empty cache.
    pub fn new(geometry: Geometry) -> Cache {
        let lines = (geometry.bytes / LINE) as usize;
        let sets = lines / geometry.ways;
        assert!(sets.is_power_of_two(), "{geometry:?}");
        Cache {
            geometry,
            lines: vec![Line { number: 0, valid: 0 }; lines],
            set_mask: sets as u64 - 1,
            read_misses: 0,
            write_misses: 0,
        }
    }

    /// Its size and kind.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// A read of so many bytes.
    pub fn read(&mut self, address: u64, bytes: u64) {
        for (number, mask) in parts(address, bytes) {
            let line = self.find(number);
            match line {
                Some(line) if line.valid & mask == mask => {}
                _ => {
                    self.read_misses += 1;
                    self.put(number, u32::MAX);
                }
            }
        }
    }

    /// A write of so many bytes.
    pub fn write(&mut self, address: u64, bytes: u64) {
        for (number, mask) in parts(address, bytes) {
            if let Some(line) = self.find(number) {
                line.valid |= mask;
                continue;
            }
            self.write_misses += 1;
            if self.geometry.on_write_miss == OnWriteMiss::Allocate {
                self.put(number, mask);
            }
        }
    }

    fn set(&mut self, number: u64) -> &mut [Line] {
        let ways = self.geometry.ways;
        let first = (number & self.set_mask) as usize * ways;
        &mut self.lines[first..first + ways]
    }

    /// The line, which becomes the first of its set.
    fn find(&mut self, number: u64) -> Option<&mut Line> {
        let set = self.set(number);
        let at = set.iter().position(|l| l.number == number && l.valid != 0)?;
        set[..=at].rotate_right(1);
        set.first_mut()
    }

    /// Makes the line the first of its set: it is there already as the first, or takes the place of the last.
    fn put(&mut self, number: u64, valid: u32) {
        let set = self.set(number);
        if set[0].number != number || set[0].valid == 0 {
            set.rotate_right(1);
        }
        set[0] = Line { number, valid };
    }
}

/// Numbers of the lines of an access, and the bytes of each as bits.
fn parts(address: u64, bytes: u64) -> impl Iterator<Item = (u64, u32)> {
    let end = address + bytes.max(1);
    (address / LINE..end.div_ceil(LINE)).map(move |number| {
        let from = address.max(number * LINE) - number * LINE;
        let to = end.min((number + 1) * LINE) - number * LINE;
        (number, (((1u64 << (to - from)) - 1) << from) as u32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(lines: u64, ways: usize, on_write_miss: OnWriteMiss) -> Cache {
        Cache::new(Geometry { bytes: lines * LINE, ways, on_write_miss })
    }

    /// Reads lines by number; tells how many missed.
    fn misses(cache: &mut Cache, lines: &[u64]) -> u64 {
        let before = cache.read_misses;
        lines.iter().for_each(|l| cache.read(l * LINE, 8));
        cache.read_misses - before
    }

    #[test]
    fn lines_of_one_place_take_turns() {
        let mut direct = cache(4, 1, OnWriteMiss::Allocate);
        // 0 and 4 share a place, 1 has its own.
        assert_eq!(misses(&mut direct, &[0, 1, 0, 4, 0, 1]), 4);
        // Two sets of two: 0, 2, 4 share one. The least recently used goes: 2 for 4, then 0 for 2.
        let mut two_ways = cache(4, 2, OnWriteMiss::Allocate);
        assert_eq!(misses(&mut two_ways, &[0, 2, 0, 4, 0, 2, 0, 4]), 5);
    }

    #[test]
    fn a_written_line_is_valid_where_it_was_written() {
        let mut c = cache(4, 1, OnWriteMiss::Allocate);
        c.write(64, 8);
        assert_eq!((c.write_misses, c.read_misses), (1, 0));
        c.read(64, 8);
        assert_eq!(c.read_misses, 0, "what was written is there");
        c.write(72, 8);
        c.read(64, 16);
        assert_eq!((c.write_misses, c.read_misses), (1, 0), "the line was there for the second write");
        c.read(80, 8);
        assert_eq!(c.read_misses, 1, "the rest of the line was not");
        c.read(88, 8);
        assert_eq!(c.read_misses, 1, "now it is");
    }

    #[test]
    fn a_write_around_leaves_the_cache_as_it_is() {
        let mut c = cache(4, 1, OnWriteMiss::Around);
        c.write(64, 8);
        c.write(64, 8);
        assert_eq!(c.write_misses, 2);
        c.read(64, 8);
        assert_eq!(c.read_misses, 1);
        c.write(64, 8);
        assert_eq!((c.write_misses, c.read_misses), (2, 1), "a write to a line that is there hits");
        c.write(64 + 4 * LINE, 8);
        c.read(64, 8);
        assert_eq!(c.read_misses, 1, "and one that misses takes nobody's place");
    }

    #[test]
    fn accesses_across_an_edge_are_two() {
        assert_eq!(parts(28, 8).collect::<Vec<_>>(), [(0, 0xF000_0000), (1, 0xF)]);
        assert_eq!(parts(32, 32).collect::<Vec<_>>(), [(1, u32::MAX)]);
        let mut c = cache(4, 1, OnWriteMiss::Allocate);
        c.read(28, 8);
        assert_eq!(c.read_misses, 2);
        c.write(60, 8);
        assert_eq!(c.write_misses, 1, "line 1 is there, line 2 is not");
    }
}
