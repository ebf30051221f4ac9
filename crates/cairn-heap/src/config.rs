//! What the user of a heap chooses.

use cairn_layout::facts::CollectorFacts;
use std::path::Path;

/// Options of a heap. `HeapConfig::default()` is what `cairn run` uses.
#[derive(Clone, Debug)]
pub struct HeapConfig {
    /// The collector, one of `cairn_layout::facts::COLLECTORS`.
    pub collector: &'static CollectorFacts,
    /// Most bytes allocated between minor collections; an eighth of it while the heap is small.
    pub nursery_bytes: u64,
    /// Bytes the heap may hold after a full collection (`--heap-max`); `None`: half of the physical memory.
    pub heap_max: Option<u64>,
    /// Bytes of a page, a power of two up to a block (`mcc`).
    pub page_bytes: u64,
    /// The heap has its maximal size from the start, instead of growing when more lives (`mcc`).
    pub fixed_heap: bool,
    /// What Smith & Morrisett (1998) proposed beyond what they had built (`mcc`).
    pub proposals: Proposals,
    /// How many threads trace (`marksweep`).
    pub tracing: Tracing,
    /// When the heap grows and shrinks.
    pub sizing: SizingConfig,
    /// Where static data are that the client shows by `RootVisitor::static_words`: the region is placed so that their
    /// cards are theirs alone.
    pub static_data: Option<u64>,
    /// Most entries of each stack of a collection that marks: beyond, objects are found again by their marks.
    pub mark_stack: usize,
    /// Checks for tests.
    pub zeal: Zeal,
    /// Ask the system for huge pages, except for the first few megabytes. Random accesses of major collections gain a
    /// third, but on a machine short of memory the kernel's search for huge pages costs more than that: measured on
    /// `earley`, 1.2 to 2.4 s of system time instead of 0.5 s. So it is off.
    pub huge_pages: bool,
    /// log2 of the address space to reserve; at most `REGION_BITS`. It is less where there is less, or where other
    /// heaps have taken much.
    pub region_bits: u32,
    /// Where the process has a limit for addresses, the heap takes at most one part of so many of what is left: 1 for a
    /// heap that will be alone.
    pub region_share: u64,
}

/// Proposals of the paper that `mcc` follows; all off by default, as in the paper's measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proposals {
    /// Ambiguous roots are gathered and sorted, so that a page is walked once for all that refer to it.
    pub batched: bool,
    /// A page that is walked for a quasi-pointer gets its start bits: later ones are found without a walk.
    pub start_bits: bool,
    /// What was swept on promoted pages is allocated again before the next collection.
    pub reuse_holes: bool,
}

/// Threads that trace, of collectors that can have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tracing {
    /// At most so many, the program's own among them.
    pub threads: u32,
    /// The program's own alone while less than this lives: starting another takes 50 µs.
    pub least: u64,
}

impl Default for Tracing {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
        Tracing { threads: processors.min(2) as u32, least: 8 << 20 }
    }
}

/// Parameters of [`crate::sizing`].
#[derive(Clone, Copy, Debug)]
pub struct SizingConfig {
    /// No major collection while the heap holds less than this.
    pub min_limit: u64,
    /// The next major collection comes when the heap holds this multiple of what survived the last one.
    pub growth: f64,
    /// Most bytes that it may come later, while the heap is small.
    pub generous: u64,
    /// Bytes of young large objects that make a minor collection due.
    pub large_young: u64,
}

/// Checks for tests; all off by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Zeal {
    /// Fill freed memory with a pattern that is no valid value.
    pub poison: bool,
    /// Walk the whole heap before and after every collection, and panic on the first inconsistency.
    pub verify: bool,
    /// Make every collection a major one.
    pub always_major: bool,
    /// Collect at every heap check, now and then everything: extents are exactly as large as asked for, so that every
    /// check fails.
    pub every_safepoint: bool,
    /// Let some objects be born old after every collection, whatever survives (`gen`).
    pub old_births: bool,
    /// Collect and walk at every safepoint, however large the heap is and however long the program runs; see `zeal.rs`.
    pub thorough: bool,
    /// Collect at every safepoint, likewise.
    pub unpaced: bool,
    /// Move the objects of every other block in major collections.
    pub evacuate: bool,
}

impl Default for SizingConfig {
    /// A small floor and small budgets cost little, since collecting little is cheap, and keep the working set in the
    /// caches: with a floor of 32 MiB and 16 MiB of young large objects, `conform` took 37 instead of 12 MB at the same
    /// speed, `string` 38 instead of 20 MB and a sixth more time.
    fn default() -> Self {
        SizingConfig { min_limit: 8 << 20, growth: 2.0, generous: 16 << 20, large_young: 8 << 20 }
    }
}

impl Default for HeapConfig {
    fn default() -> Self {
        HeapConfig {
            collector: &cairn_layout::facts::GEN,
            nursery_bytes: 8 << 20,
            heap_max: None,
            page_bytes: crate::address::BLOCK_BYTES,
            fixed_heap: false,
            proposals: Proposals::default(),
            tracing: Tracing::default(),
            sizing: SizingConfig::default(),
            static_data: None,
            mark_stack: 1 << 16,
            zeal: Zeal::default(),
            huge_pages: false,
            region_bits: cairn_layout::machine::REGION_BITS,
            region_share: 1,
        }
    }
}

impl HeapConfig {
    /// A tiny nursery, poison and full checks: finds missing roots and barriers early, slowly.
    pub fn zealous() -> HeapConfig {
        HeapConfig {
            nursery_bytes: 128 << 10,
            page_bytes: 2 << 10,
            sizing: SizingConfig { min_limit: 1 << 20, growth: 1.5, generous: 0, large_young: 256 << 10 },
            mark_stack: 16,
            zeal: Zeal { poison: true, verify: true, ..Zeal::default() },
            ..HeapConfig::default()
        }
    }
}

/// Physical memory that this process may use: the machine's, or its control groups' if that is less.
pub fn physical_memory() -> u64 {
    // SAFETY: `sysconf` is given no address, and only reads constants of the system.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let machine = if pages > 0 && page > 0 { pages as u64 * page as u64 } else { 4 << 30 };
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    machine.min(group_limit(Path::new("/sys/fs/cgroup"), &groups))
}

/// The least limit of the control groups in `groups` (a line `number:controllers:path` for each hierarchy) and of those
/// around them, whose files are below `root`. In a container the path may be one that only the host has: then what is
/// mounted at the root is the container's own group.
fn group_limit(root: &Path, groups: &str) -> u64 {
    let mut least = u64::MAX;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (hierarchy, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            c if c.split(',').any(|c| c == "memory") => (root.join("memory"), "memory.limit_in_bytes"),
            _ => continue,
        };
        let path = if path.contains("..") { "" } else { path.trim_matches('/') };
        for group in hierarchy.join(path).ancestors().take_while(|g| g.starts_with(&hierarchy)) {
            let limit = std::fs::read_to_string(group.join(file)).ok().and_then(|s| s.trim().parse().ok());
            least = least.min(limit.unwrap_or(u64::MAX));
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_least_limit_of_all_control_groups_around_the_process_counts() {
        let root = std::env::temp_dir().join(format!("cairn-control-groups-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/b/memory.max", "max\n");
        write("a/memory.max", "3000\n");
        write("memory.max", "9000\n");
        write("other/memory.max", "1\n");
        write("memory/x/memory.limit_in_bytes", "2000\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        let limit = |groups: &str| group_limit(&root, groups);
        assert_eq!(limit("0::/a/b\n"), 3000, "that of the group around");
        assert_eq!(limit("0::/\n"), 9000);
        assert_eq!(limit("0::/only/on/the/host\n"), 9000);
        assert_eq!(limit("0::/../outside\n"), 9000);
        assert_eq!(limit("5:cpu,cpuacct:/x\n4:memory:/x\n"), 2000, "version 1");
        assert_eq!(limit("4:hugetlb,memory:/gone\n"), 9223372036854771712);
        assert_eq!(limit("4:memory:/x\n0::/a/b\n"), 2000);
        assert_eq!(limit("nonsense"), u64::MAX);
        fs::remove_dir_all(&root).unwrap();
    }
}
