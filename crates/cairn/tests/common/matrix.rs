//! All ways to compile and run a program, from the tables of strategies and collectors: a new row is in every test at
//! once.

use cairn_layout::collector::Barrier;
use cairn_layout::facts::{COLLECTORS, CollectorFacts, STRATEGIES, StrategyFacts, collector_for, why_apart};

/// How a program is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// By `cairn run`.
    Run,
    /// As an executable made by `cairn build`.
    Build,
    /// By `cairn run`, under the checks of `CAIRN_ZEAL`.
    Zeal,
    /// By `cairn run --ambiguous-frames`.
    Ambiguous,
    /// `run` with ambiguous frames, under the checks of `CAIRN_ZEAL`.
    AmbiguousZeal,
}

impl Mode {
    /// Is this under the checks of `CAIRN_ZEAL`?
    pub fn is_zealous(self) -> bool {
        matches!(self, Mode::Zeal | Mode::AmbiguousZeal)
    }
    /// Is `--ambiguous-frames` given?
    pub fn is_ambiguous(self) -> bool {
        matches!(self, Mode::Ambiguous | Mode::AmbiguousZeal)
    }
}

/// One way to compile and run a program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Configuration {
    pub mode: Mode,
    pub frames: &'static StrategyFacts,
    pub collector: &'static CollectorFacts,
    /// Optimization level.
    pub opt: &'static str,
}

impl Configuration {
    /// The usual strategy and collector, compiled as a whole: what everything else is compared with.
    pub fn usual() -> Configuration {
        Configuration { mode: Mode::Run, frames: STRATEGIES[0], collector: COLLECTORS[0], opt: "high" }
    }

    /// This configuration, run in another way.
    pub fn with_mode(self, mode: Mode) -> Configuration {
        Configuration { mode, ..self }
    }

    /// `run-chunks-gen-high`
    pub fn name(&self) -> String {
        let mode = match self.mode {
            Mode::Run => "run",
            Mode::Build => "build",
            Mode::Zeal => "zeal",
            Mode::Ambiguous => "ambiguous",
            Mode::AmbiguousZeal => "ambiguous-zeal",
        };
        format!("{mode}-{}-{}-{}", self.frames.name, self.collector.name, self.opt)
    }

    /// Is this program in this cell's share? Its name decides, so that a new program moves no other one.
    pub fn shares_program(&self, program: &str) -> bool {
        self.shares(number_of(program))
    }

    /// Is the program of this number in this cell's share? Run, the usual pair's cells have all of them, every second
    /// one with low optimization. Built, where the same code is only linked, and under zeal, where a program takes
    /// seconds, each level of optimization has one of [`SHARES`] or [`ZEAL_SHARES`]. So has any other pair, and the
    /// next pair's are others, so that each strategy and each collector meets every program. With `CAIRN_MATRIX=whole`,
    /// every cell has all.
    pub fn shares(&self, program: usize) -> bool {
        let pair = pairs().position(|p| p.frames == self.frames && p.collector == self.collector).unwrap();
        let level =
            if is_usual(self) { ["high", "low", "auto"].iter().position(|o| *o == self.opt).unwrap() } else { 0 };
        let shares = match (self.mode.is_zealous(), self.collector.barrier) {
            (true, Barrier::None) if self.opt == "auto" => SLOWEST_SHARES,
            (true, Barrier::None) => SLOW_SHARES,
            (true, _) => ZEAL_SHARES,
            _ if self.is_fully_compiled() && !is_usual(self) => COMPILED_SHARES,
            _ if !is_usual(self) => OTHER_SHARES,
            _ => SHARES,
        };
        let run = is_usual(self) && self.mode == Mode::Run;
        is_whole()
            || run && (self.opt != "low" || program.is_multiple_of(2))
            || !run && (program + pair + level).is_multiple_of(shares)
    }

    /// How hard LLVM works: fully for the usual pair, and for each strategy with one collector, run; elsewhere as
    /// little as it can. What those cells test is frames, roots, barriers and live maps, which are Cairn's; and a whole
    /// program costs a second of LLVM's time when it works fully.
    fn llvm(&self) -> &'static str {
        if self.is_fully_compiled() || is_whole() { "full" } else { "quick" }
    }

    fn is_fully_compiled(&self) -> bool {
        is_usual(self) || self.mode == Mode::Run && self.opt == "high" && stands_for_strategy(self)
    }

    /// Arguments of `cairn run` and `cairn build`.
    pub fn flags(&self) -> [String; 4] {
        let Configuration { frames, collector, opt, .. } = self;
        let chosen = [("frames", frames.name), ("gc", collector.name), ("opt", opt), ("llvm", self.llvm())];
        chosen.map(|(option, value)| format!("--{option}={value}"))
    }
}

/// A number for the name of a program, evenly spread (FNV-1a, with its bits mixed).
fn number_of(program: &str) -> usize {
    let hash =
        program.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    ((hash ^ hash >> 29) >> 8) as usize
}

/// See [`Configuration::shares`].
const SHARES: usize = 5;
/// Built, or with ambiguous frames, where the pair is not the usual one.
const OTHER_SHARES: usize = 11;
/// Where LLVM works fully, and the pair is not the usual one.
const COMPILED_SHARES: usize = 7;
/// Under zeal, a cell runs one program in so many; a strategy has no more collectors than this.
const ZEAL_SHARES: usize = 4;
/// One in so many programs runs under zeal with a collector that has none but major collections: there is one at each
/// safepoint.
const SLOW_SHARES: usize = 29;
/// One in so many evaluated programs runs under zeal with such a collector: evaluation has twenty times as many
/// safepoints.
const SLOWEST_SHARES: usize = 89;

/// Every strategy with every collector that can serve it, run with full optimization; [`Configuration::usual`] first.
pub fn pairs() -> impl Iterator<Item = Configuration> {
    STRATEGIES.iter().flat_map(|frames| {
        let served = COLLECTORS.iter().filter(move |collector| why_apart(frames, collector).is_none());
        served.map(move |collector| Configuration { frames, collector, ..Configuration::usual() })
    })
}

/// The pairs in which the strategy or the collector is the usual one; with `CAIRN_MATRIX=whole`, all of them.
pub fn cross() -> impl Iterator<Item = Configuration> {
    let whole = is_whole();
    pairs().filter(move |c| whole || is_on_cross(c))
}

/// The usual strategy and collector, in any mode?
fn is_usual(c: &Configuration) -> bool {
    let usual = Configuration::usual();
    c.frames == usual.frames && c.collector == usual.collector
}

fn is_on_cross(c: &Configuration) -> bool {
    c.frames == Configuration::usual().frames || stands_for_strategy(c)
}

/// Is the collector the usual one of the strategy?
fn stands_for_strategy(c: &Configuration) -> bool {
    collector_for(c.frames) == c.collector
}

/// Is no cell left out?
fn is_whole() -> bool {
    std::env::var_os("CAIRN_MATRIX").is_some_and(|v| v == "whole")
}

/// The pairs of the cross, run as programs that are evaluated first. Zeal, under which the evaluator takes minutes with
/// other strategies, is left to the usual one.
pub fn evaluated() -> impl Iterator<Item = Configuration> {
    let usual = Configuration::usual().frames;
    let modes = |c: Configuration| [c, c.with_mode(Mode::Zeal)];
    let every = cross().map(|c| Configuration { opt: "auto", ..c }).flat_map(modes);
    every.filter(move |c| c.mode != Mode::Zeal || c.frames == usual)
}

/// The matrix: the usual pair in every way; the others of the cross by each mode and each level of optimization once;
/// the rest of the pairs under zeal, which demands most; each with its share of the programs
/// ([`Configuration::shares`]). `CAIRN_MATRIX=whole` leaves nothing out, and takes hours.
pub fn all() -> impl Iterator<Item = Configuration> {
    let every = [Mode::Run, Mode::Build, Mode::Zeal].into_iter().flat_map(|m| ["high", "low"].map(|opt| (m, opt)));
    let every: Vec<_> = every.collect();
    let whole = is_whole();
    let precise = pairs().flat_map(move |c| {
        let cells = match c {
            c if whole || c == Configuration::usual() => every.clone(),
            c if is_on_cross(&c) => vec![(Mode::Run, "high"), (Mode::Build, "low"), (Mode::Zeal, "high")],
            _ => vec![(Mode::Zeal, "high")],
        };
        cells.into_iter().map(move |(mode, opt)| Configuration { mode, opt, ..c })
    });
    let ambiguous = pairs()
        .filter(|c| c.collector.barrier == Barrier::None && !c.frames.frames_in_heap && !c.frames.is_joined());
    let ambiguous = ambiguous.flat_map(move |c| {
        let modes = [Mode::AmbiguousZeal, Mode::Ambiguous];
        modes.into_iter().take(if whole || is_on_cross(&c) { 2 } else { 1 }).map(move |m| c.with_mode(m))
    });
    precise.chain(ambiguous)
}
