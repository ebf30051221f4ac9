//! All ways to compile and run a program, from the tables of strategies and collectors: a new row is in every test at
//! once.
//!
//! They are too many for each run of the tests: compiling all programs in all of them takes hours. So each run has its
//! turn ([`turn`]): what the usual strategy and collector do is tested in each, and of the rest a share, which moves
//! from turn to turn, until each program has met each strategy and each collector.

use cairn_layout::collector::Barrier;
use cairn_layout::facts::{COLLECTORS, CollectorFacts, STRATEGIES, StrategyFacts, collector_for, why_apart};

/// How a program is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// By `cairn run`.
    Run,
    /// As an executable made by `cairn build`.
    Build,
    /// Under the checks of `CAIRN_ZEAL`.
    Zeal,
    /// With `CAIRN_AMBIGUOUS_FRAMES`.
    Ambiguous,
    /// With ambiguous frames, under the checks of `CAIRN_ZEAL`.
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

    /// Is the program of this number in this cell's share, in this turn? Compiling takes nearly all of the time, so a
    /// program is built once by a pair, and runs in every way in whose share it is, too ([`Configuration::as_built`]):
    /// shares of running divide those of building. The usual pair builds half of the programs and evaluates the others;
    /// each other pair builds its share, the next pair's are others, and so are those of the next turn. With
    /// `CAIRN_MATRIX=whole`, every cell has all.
    pub fn shares(&self, program: usize) -> bool {
        is_whole() || self.shares_in(program, turn())
    }

    /// Is the program of this number in this cell's share, in this turn?
    pub fn shares_in(&self, program: usize, turn: usize) -> bool {
        let pair = pairs().position(|p| p.frames == self.frames && p.collector == self.collector).unwrap();
        let level = ["high", "auto", "low"].iter().position(|o| *o == self.opt).unwrap();
        // of two programs that are built, the one runs under zeal, the other also with ambiguous frames
        let moved = if self.mode == Mode::AmbiguousZeal { SLOW_SHARES } else { 0 };
        (program + pair + level + moved + turn).is_multiple_of(self.one_in())
    }

    /// This cell has one program in so many.
    fn one_in(&self) -> usize {
        let is_served_slowly = self.collector.barrier == Barrier::None;
        match (self.mode, self.opt, is_usual(self)) {
            (Mode::Run | Mode::Build, "auto", true) => USUAL_SHARES,
            (Mode::Run | Mode::Build, "auto", false) => EVALUATED_SHARES,
            (mode, "auto", _) if mode.is_zealous() && is_served_slowly => SLOWEST_SHARES,
            (mode, _, _) if mode.is_zealous() && is_served_slowly => 2 * SLOW_SHARES,
            (Mode::Zeal, "auto", _) => BUILT_SHARES,
            (Mode::Run, _, true) => BUILT_SHARES,
            (Mode::Run, _, false) => SLOW_SHARES,
            (Mode::Build, "high", true) => USUAL_SHARES,
            (_, "high", true) => 2 * USUAL_SHARES,
            (_, _, true) => LOW_USUAL_SHARES,
            (_, "high", false) if !is_served_slowly => BUILT_SHARES,
            (_, _, false) => SLOW_SHARES,
        }
    }

    /// Can a program take an hour? Under zeal there is a collection at each safepoint, which looks at the whole heap
    /// with some collectors, at the whole stack with some strategies. So [`PATIENCE`] is enough.
    pub fn is_slow(&self) -> bool {
        self.mode.is_zealous() && !is_usual(self)
    }

    /// In which ways what this cell builds is run.
    pub fn as_built(self) -> impl Iterator<Item = Configuration> {
        let ambiguous =
            self.collector.barrier == Barrier::None && !self.frames.frames_in_heap && !self.frames.is_joined();
        let modes = [Mode::Build, Mode::Zeal, Mode::Ambiguous, Mode::AmbiguousZeal].into_iter();
        modes.filter(move |mode| ambiguous || !mode.is_ambiguous()).map(move |mode| self.with_mode(mode))
    }

    /// Is the cell in this turn? The usual pair always is, and what is built. Of the others whose programs are
    /// evaluated first, or which LLVM compiles fully, one in [`LIBRARY_TURNS`] is: each needs a library of its own,
    /// which takes LLVM twenty seconds.
    pub fn is_in_turn(&self) -> bool {
        let place = cross().position(|c| c.frames == self.frames && c.collector == self.collector).unwrap_or(0);
        let is_dear = self.opt == "auto" || self.is_full_elsewhere();
        is_whole() || is_usual(self) || !is_dear || (place + turn()).is_multiple_of(LIBRARY_TURNS)
    }

    /// Who makes machine code: LLVM for every other program of the usual pair, and for each strategy with one
    /// collector, run; elsewhere our own code generator. What those cells test is frames, roots, barriers and live
    /// maps, which are neither's; and a whole program costs a second of LLVM's time.
    fn llvm(&self, program: &str) -> &'static str {
        let is_odd = is_usual(self) && (self.opt == "auto" || (number_of(program) + turn()).is_multiple_of(2));
        if is_odd || self.is_full_elsewhere() || is_whole() { "full" } else { "none" }
    }

    /// Is this a cell in which LLVM works fully, and that is not the usual pair's?
    fn is_full_elsewhere(&self) -> bool {
        self.mode == Mode::Run && self.opt == "high" && stands_for_strategy(self) && !is_usual(self)
    }

    /// Are programs that evaluate left out? Compiling all of `lib/` for them takes half a minute, and no other cell
    /// uses it.
    pub fn makes_no_library(&self) -> bool {
        !is_whole() && (self.is_full_elsewhere() || !is_on_cross(self))
    }

    /// Arguments of `cairn run` and `cairn build` for a program.
    pub fn flags(&self, program: &str) -> [String; 4] {
        let Configuration { frames, collector, opt, .. } = self;
        let chosen = [("frames", frames.name), ("gc", collector.name), ("opt", opt), ("llvm", self.llvm(program))];
        chosen.map(|(option, value)| format!("--{option}={value}"))
    }
}

/// A number for the name of a program, evenly spread (FNV-1a, with its bits mixed).
fn number_of(program: &str) -> usize {
    let hash =
        program.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    ((hash ^ hash >> 29) >> 8) as usize
}

/// Whose turn it is: `CAIRN_TURN`, for which `tests/run` takes a quarter of the number of commits.
pub fn turn() -> usize {
    std::env::var("CAIRN_TURN").ok().and_then(|t| t.parse().ok()).unwrap_or(0)
}

/// For so many seconds a slow cell runs a program: what that has printed by then is right.
pub const PATIENCE: u32 = 15;

/// One in so many is built by the usual pair, and one in so many, another one, is evaluated first: with two, each
/// program runs in each turn.
const USUAL_SHARES: usize = 2;
/// The usual pair builds one in so many with low optimization.
const LOW_USUAL_SHARES: usize = 16;
/// A pair builds one program in so many, and runs them under zeal too.
const BUILT_SHARES: usize = 30;
/// One in so many is built with low optimization, or run without an executable, where the pair is not the usual one;
/// or at all, with a collector that has none but major collections: there is one at each safepoint under zeal.
const SLOW_SHARES: usize = 60;
/// One in so many is evaluated first, where the pair is not the usual one.
const EVALUATED_SHARES: usize = 23;
/// One in so many evaluated programs runs under zeal with a collector of major collections only: evaluation has twenty
/// times as many safepoints.
const SLOWEST_SHARES: usize = 89;
/// A library is compiled for a pair other than the usual one in one turn of so many.
const LIBRARY_TURNS: usize = 7;

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

/// The matrix: every pair builds its programs with high and low optimization, and runs them in every way; those of the
/// cross also run some without an executable; each has its share of the programs ([`Configuration::shares`]).
/// `CAIRN_MATRIX=whole` leaves nothing out, and takes hours.
pub fn all() -> impl Iterator<Item = Configuration> {
    let whole = is_whole();
    pairs().flat_map(move |c| {
        let cells = [(Mode::Build, "high"), (Mode::Build, "low"), (Mode::Run, "high"), (Mode::Run, "low")];
        let in_process = if whole || is_usual(&c) { 2 } else { usize::from(is_on_cross(&c)) };
        cells.into_iter().take(2 + in_process).map(move |(mode, opt)| Configuration { mode, opt, ..c })
    })
}
