//! What can be chosen when a program starts, and what the runtime asks of its host.

use crate::counts::Counts;
use crate::evaluated_program::Evaluated;
use crate::expander::{Console, Evaluator};
use crate::timeline::Timeline;
use cairn_heap::{HeapConfig, Proposals};
use cairn_layout::facts::{COLLECTORS, CollectorFacts};
use cairn_layout::limits::RED_ZONE;
use cairn_layout::machine::Machine;
use cairn_layout::object::record::compact::Choice;
use std::fmt::Debug;
use std::io::Write as _;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

/// Who runs programs: the process itself, or a program with runtimes inside.
pub trait Host: Debug + Send + Sync {
    /// Text for standard error: errors, statistics. A closed standard error is nobody's business.
    fn say(&self, text: &str) {
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    /// Ends the run with an exit status: the process, unless the host prefers to go on by
    /// [`return_to_host`](crate::fatal::return_to_host). Ports are flushed already.
    fn exit(&self, _ctx: &mut Machine, status: i32) -> ! {
        std::process::exit(status)
    }

    /// May the runtime handle the process's signals? Otherwise they are somebody else's.
    fn has_the_process(&self) -> bool {
        true
    }
}

/// Who is told of a program's tests, and chooses among them.
pub trait TestListener: Debug + Send + Sync {
    /// Something has happened, as `(srfi 64)` writes it: a datum.
    fn told(&self, event: &str);

    /// Is the test of this name to be run?
    fn wants(&self, name: &str) -> bool;
}

/// The host of a program that has the process to itself.
#[derive(Debug)]
pub struct Process;

impl Host for Process {}

/// Draws a flame graph (SVG) from folded stacks, a title, and what is counted; an error for the user.
pub type DrawFlameGraph = fn(&str, &str, &str) -> Result<Vec<u8>, String>;

/// Makes the expander of a runtime with given options.
#[derive(Clone)]
pub struct MakeEvaluator(pub Arc<MakeFunction>);

/// The function that does it.
pub type MakeFunction = dyn Fn(&Options) -> Box<dyn Evaluator> + Send + Sync;

impl Debug for MakeEvaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MakeEvaluator")
    }
}

/// How hard a run tries to find mistakes of the compiler and the runtime.
///
/// Zeal collects at every safepoint, without exception; walks the heap and all frames before and after collections;
/// moves every other old block in major ones; fills freed memory and dead slots of frames with a word that is no value;
/// and has tiny stack chunks and nurseries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zeal {
    /// Not at all.
    Off,
    /// `CAIRN_ZEAL=1`: the larger the heap, the fewer collections are walked around (`cairn-heap/src/zeal.rs`).
    On,
    /// `CAIRN_ZEAL=2`: walks around every collection.
    Thorough,
}

impl Zeal {
    /// What `CAIRN_ZEAL` says; an error for the user when that is none of its values.
    pub fn from_environment() -> Result<Zeal, String> {
        let value = std::env::var_os("CAIRN_ZEAL").unwrap_or_default();
        match value.to_str() {
            Some("" | "0") => Ok(Zeal::Off),
            Some("1") => Ok(Zeal::On),
            Some("2") => Ok(Zeal::Thorough),
            _ => Err(format!("CAIRN_ZEAL is {value:?}; it must be 0 (off), 1 (on) or 2 (thorough)")),
        }
    }

    /// How the heap is to be made.
    pub fn heap(self) -> HeapConfig {
        match self {
            Zeal::Off => HeapConfig::default(),
            zeal => {
                let base = HeapConfig::zealous();
                let thorough = zeal == Zeal::Thorough;
                let zeal = cairn_heap::Zeal { every_safepoint: true, evacuate: true, thorough, ..base.zeal };
                HeapConfig { zeal, ..base }
            }
        }
    }
}

/// How `mcc` works, for studies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MostlyCopying {
    /// Bytes of a page, if not the usual ones.
    pub page_bytes: Option<u64>,
    /// The heap has its maximal size from the start.
    pub fixed: bool,
    /// What the paper proposed.
    pub proposals: Proposals,
}

impl MostlyCopying {
    /// What `CAIRN_MCC` says, a list like `page=2K,fixed,batched`; an error for the user when it is not understood.
    pub fn from_environment() -> Result<MostlyCopying, String> {
        MostlyCopying::parse(&std::env::var_os("CAIRN_MCC").unwrap_or_default().to_string_lossy())
    }
    fn parse(list: &str) -> Result<MostlyCopying, String> {
        let mut m = MostlyCopying::default();
        for word in list.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            match word {
                "fixed" => m.fixed = true,
                "batched" => m.proposals.batched = true,
                "start-bits" => m.proposals.start_bits = true,
                "reuse-holes" => m.proposals.reuse_holes = true,
                _ => {
                    let page = word.strip_prefix("page=").and_then(parse_size);
                    let page = page.filter(|p| p.is_power_of_two() && (512..=32 << 10).contains(p));
                    m.page_bytes = Some(page.ok_or_else(|| {
                        format!(
                            "CAIRN_MCC has \"{word}\"; it is a list of fixed, batched, start-bits, reuse-holes and \
                             page=SIZE, a power of two from 512 to 32K"
                        )
                    })?);
                }
            }
        }
        Ok(m)
    }
    /// A heap that works so.
    pub fn heap(self, heap: HeapConfig) -> HeapConfig {
        let page_bytes = self.page_bytes.unwrap_or(heap.page_bytes);
        HeapConfig { page_bytes, fixed_heap: self.fixed, proposals: self.proposals, ..heap }
    }
}

/// How `chunks` keeps frames, for studies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StackChunks {
    /// Bytes of a chunk, if not the usual ones; of the smallest stack under `resize`.
    pub bytes: Option<u64>,
    /// Every collection looks at all frames of the thread, not only at those that have run since the last.
    pub all_dirty: bool,
}

impl StackChunks {
    /// What `CAIRN_CHUNKS` says, a list like `size=4K,all-dirty`; an error for the user when it is not understood.
    pub fn from_environment() -> Result<StackChunks, String> {
        StackChunks::parse(&std::env::var_os("CAIRN_CHUNKS").unwrap_or_default().to_string_lossy())
    }
    fn parse(list: &str) -> Result<StackChunks, String> {
        let mut c = StackChunks::default();
        for word in list.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            if word == "all-dirty" {
                c.all_dirty = true;
                continue;
            }
            let size = word.strip_prefix("size=").and_then(parse_size);
            let size = size.filter(|s| s.is_power_of_two() && (2 * RED_ZONE..=16 << 20).contains(s));
            c.bytes = Some(size.ok_or_else(|| {
                format!(
                    "CAIRN_CHUNKS has \"{word}\"; it is a list of all-dirty and size=SIZE, a power of two from 2K to 16M"
                )
            })?);
        }
        Ok(c)
    }
}

/// What the frames of a thread may take, unless the user says something else: ten million frames of evaluated code, and
/// fifty to a hundred million of compiled code, which a runaway recursion has made in a second.
pub const FRAMES_MAX: u64 = 1 << 30;

/// What the user can choose when a program starts.
#[derive(Debug, Clone)]
pub struct Options {
    /// The collector that the heap is made for; [`crate::start::run_program`] takes the program's.
    pub collector: &'static CollectorFacts,
    /// Where the program's literals will be, its globals beside them, for the heap to be placed;
    /// [`crate::start::run_program`] takes the program's.
    pub literals: Option<u64>,
    /// Bytes that the heap may hold; `None`: half of the physical memory.
    pub heap_max: Option<u64>,
    /// Bytes that the frames of a thread may take.
    pub frames_max: u64,
    /// Print memory statistics to standard error at the end.
    pub stats: bool,
    /// Write the same numbers to this file at the end, as a JSON object.
    pub stats_file: Option<PathBuf>,
    /// Write a profile of the heap to this file at the end.
    pub heap_profile: Option<PathBuf>,
    /// Write a profile of processor time to this file at the end.
    pub profile: Option<PathBuf>,
    /// A time line of threads and collections, written at the end.
    pub timeline: Option<Arc<Timeline>>,
    /// Draws a flame graph from folded stacks.
    pub flame_graph: Option<DrawFlameGraph>,
    /// Print a line for each collection.
    pub trace_gc: bool,
    /// Read words of frames and registers as ambiguous: whatever looks like a reference there is one.
    pub ambiguous_frames: bool,
    /// How `mcc` works.
    pub mostly_copying: MostlyCopying,
    /// How `chunks` keeps frames.
    pub stack_chunks: StackChunks,
    /// Most threads that trace, for collectors that can have several; `None`: as many as are worth it.
    pub gc_threads: Option<u32>,
    /// Compact records of types that evaluated code defines.
    pub compact: Choice,
    /// Checks for tests.
    pub zeal: Zeal,
    /// Threads take turns at random, as this number says; the same for the same number.
    pub schedule: Option<u64>,
    /// Evaluated code becomes native after so many entries of its procedures, and the program waits for that: tests see
    /// each transition at the same point.
    pub haste: Option<NonZeroU32>,
    /// The program's name, then its arguments.
    pub command_line: Vec<String>,
    /// Who runs it.
    pub host: Arc<dyn Host>,
    /// Makes the expander that `eval` needs.
    pub evaluator: Option<MakeEvaluator>,
    /// The terminal of a program that is a prompt.
    pub console: Option<Arc<Mutex<dyn Console>>>,
    /// Who has started it as a test.
    pub tests: Option<Arc<dyn TestListener>>,
    /// How often what is evaluated.
    pub counts: Option<Arc<Counts>>,
    /// Where evaluated code looks for libraries, after the working directory.
    pub library_path: Vec<PathBuf>,
    /// The program, if it is evaluated.
    pub program: Option<Arc<dyn Evaluated>>,
    /// How many cells of evaluated code are that program's.
    pub first_cell: usize,
}

/// Is an environment variable set, to anything but nothing and `0`?
fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|v| !v.is_empty() && v != "0")
}

/// `64M`, `2G`, `1048576`: a size in bytes.
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    let n: f64 = digits.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0)?;
    let bytes = n * (1u64 << shift) as f64;
    (bytes < (1u64 << 60) as f64).then_some(bytes as u64)
}

/// How many threads may trace.
pub fn parse_threads(text: &str) -> Result<u32, &'static str> {
    let n = text.trim().parse().ok().filter(|n| (1..=64).contains(n));
    n.ok_or("it must be a number from 1 to 64")
}

/// The directories of `CAIRN_PATH`, separated by colons. Empty ones are left out.
pub fn library_path_of_environment() -> Vec<PathBuf> {
    let path = std::env::var_os("CAIRN_PATH").unwrap_or_default();
    std::env::split_paths(&path).filter(|d| !d.as_os_str().is_empty()).collect()
}

/// The number in an environment variable; an error for the user, which says what it must be, when it is none.
fn number_of_environment<T: FromStr>(name: &str, what: &str) -> Result<Option<T>, String> {
    let value = std::env::var_os(name).unwrap_or_default();
    if value.is_empty() {
        return Ok(None);
    }
    let number = value.to_str().and_then(|v| v.parse().ok());
    number.map(Some).ok_or_else(|| format!("{name} is {value:?}; it must be a number{what}"))
}

/// The seed in `CAIRN_SCHEDULE`; an error for the user when it is none.
pub fn schedule_of_environment() -> Result<Option<u64>, String> {
    number_of_environment("CAIRN_SCHEDULE", ", the seed of a schedule")
}

/// The number in `CAIRN_HASTE`, for [`Options::haste`]; an error for the user when it is none.
pub fn haste_of_environment() -> Result<Option<NonZeroU32>, String> {
    number_of_environment("CAIRN_HASTE", " of entries, 1 or more")
}

impl Options {
    /// The options of an executable made by `cairn build`: `CAIRN_HEAP_MAX`, `CAIRN_FRAMES_MAX`, `CAIRN_STATS`,
    /// `CAIRN_STATS_FILE`, `CAIRN_HEAP_PROFILE`, `CAIRN_PROFILE`, `CAIRN_TIMELINE`, `CAIRN_TRACE_GC`,
    /// `CAIRN_GC_THREADS`, `CAIRN_ZEAL`, `CAIRN_SCHEDULE`, `CAIRN_CHUNKS`, `CAIRN_PATH`.
    pub fn from_environment(command_line: Vec<String>) -> Result<Options, String> {
        let mut options = Options { command_line, zeal: Zeal::from_environment()?, ..Options::default() };
        options.stats = is_set("CAIRN_STATS");
        options.stats_file = std::env::var_os("CAIRN_STATS_FILE").filter(|v| !v.is_empty()).map(PathBuf::from);
        options.heap_profile = std::env::var_os("CAIRN_HEAP_PROFILE").filter(|v| !v.is_empty()).map(PathBuf::from);
        options.profile = std::env::var_os("CAIRN_PROFILE").filter(|v| !v.is_empty()).map(PathBuf::from);
        let timeline = std::env::var_os("CAIRN_TIMELINE").filter(|v| !v.is_empty());
        options.timeline = timeline.map(|file| Timeline::new(file.into()));
        options.trace_gc = is_set("CAIRN_TRACE_GC");
        options.ambiguous_frames = is_set("CAIRN_AMBIGUOUS_FRAMES");
        options.mostly_copying = MostlyCopying::from_environment()?;
        options.stack_chunks = StackChunks::from_environment()?;
        options.library_path = library_path_of_environment();
        if let Some(text) = std::env::var_os("CAIRN_GC_THREADS") {
            let text = text.to_string_lossy();
            let n = parse_threads(&text).map_err(|what| format!("CAIRN_GC_THREADS is \"{text}\"; {what}"))?;
            options.gc_threads = Some(n);
        }
        let set =
            |name: &str, usual: &str| std::env::var(name).ok().filter(|v| !v.is_empty()).unwrap_or(usual.into());
        let (mode, bits) = (set("CAIRN_COMPACT", "declared"), set("CAIRN_COMPACT_BITS", "32"));
        options.compact = Choice::by_names(&mode, &bits).unwrap_or_default();
        options.schedule = schedule_of_environment()?;
        if let Some(text) = std::env::var_os("CAIRN_HEAP_MAX") {
            let text = text.to_string_lossy();
            let size = parse_size(&text)
                .ok_or_else(|| format!("CAIRN_HEAP_MAX is \"{text}\"; it must be a size such as 512M or 4G"))?;
            options.heap_max = Some(size);
        }
        if let Some(text) = std::env::var_os("CAIRN_FRAMES_MAX") {
            let text = text.to_string_lossy();
            options.frames_max = parse_size(&text)
                .ok_or_else(|| format!("CAIRN_FRAMES_MAX is \"{text}\"; it must be a size such as 512M or 4G"))?;
        }
        Ok(options)
    }
}

impl Default for Options {
    fn default() -> Self {
        let command_line = vec!["cairn".to_string()];
        Options {
            collector: COLLECTORS[0],
            literals: None,
            heap_max: None,
            frames_max: FRAMES_MAX,
            stats: false,
            stats_file: None,
            heap_profile: None,
            profile: None,
            timeline: None,
            flame_graph: None,
            trace_gc: false,
            ambiguous_frames: false,
            mostly_copying: MostlyCopying::default(),
            stack_chunks: StackChunks::default(),
            gc_threads: None,
            compact: Choice::default(),
            zeal: Zeal::Off,
            schedule: None,
            haste: None,
            command_line,
            host: Arc::new(Process),
            evaluator: None,
            console: None,
            tests: None,
            counts: None,
            library_path: Vec::new(),
            program: None,
            first_cell: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_of_mostly_copying() {
        let proposals = Proposals { batched: true, reuse_holes: true, start_bits: false };
        let all = MostlyCopying { page_bytes: Some(2048), fixed: true, proposals };
        assert_eq!(MostlyCopying::parse("page=2K, fixed,batched,reuse-holes"), Ok(all));
        assert_eq!(MostlyCopying::parse(""), Ok(MostlyCopying::default()));
        for wrong in ["page=3K", "page=64K", "page=", "batch", "fixed=1"] {
            assert!(MostlyCopying::parse(wrong).unwrap_err().contains(&format!("\"{wrong}\"")), "{wrong}");
        }
    }

    #[test]
    fn ways_of_stack_chunks() {
        let small = StackChunks { bytes: Some(4096), all_dirty: true };
        assert_eq!(StackChunks::parse("size=4K, all-dirty"), Ok(small));
        assert_eq!(StackChunks::parse("size=16M"), Ok(StackChunks { bytes: Some(16 << 20), all_dirty: false }));
        assert_eq!(StackChunks::parse(""), Ok(StackChunks::default()));
        for wrong in ["size=1K", "size=3K", "size=32M", "size=", "dirty"] {
            assert!(StackChunks::parse(wrong).unwrap_err().contains(&format!("\"{wrong}\"")), "{wrong}");
        }
    }

    #[test]
    fn threads() {
        assert_eq!((parse_threads("1"), parse_threads(" 64 ")), (Ok(1), Ok(64)));
        for wrong in ["0", "65", "-1", "two", ""] {
            assert!(parse_threads(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [("64M", 64 << 20), ("1.5k", 1536), ("17", 17), ("2GiB", 2 << 30), (" 0 ", 0)] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for text in ["", "M", "-1", "1x", "1e99G", "nan"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }
}
