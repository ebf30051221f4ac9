//! All ways to compile and run a program, from the tables of strategies and collectors: a new row is in every test at
//! once.

use cairn_layout::collector::Barrier;
use cairn_layout::facts::{COLLECTORS, CollectorFacts, STRATEGIES, StrategyFacts};

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
    /// The same under the checks of `CAIRN_ZEAL`.
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
    /// What users get who ask for nothing.
    pub fn usual() -> Configuration {
        Configuration { mode: Mode::Run, frames: STRATEGIES[0], collector: COLLECTORS[0], opt: "high" }
    }

    /// The same for programs, but run in another way.
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

    /// Arguments of `cairn run` and `cairn build`.
    pub fn flags(&self) -> [String; 3] {
        let Configuration { frames, collector, opt, .. } = self;
        [format!("--frames={}", frames.name), format!("--gc={}", collector.name), format!("--opt={opt}")]
    }
}

/// Every strategy with every collector, run with full optimization; [`Configuration::usual`] first.
pub fn pairs() -> impl Iterator<Item = Configuration> {
    STRATEGIES.iter().flat_map(|frames| {
        COLLECTORS.iter().map(move |collector| Configuration { frames, collector, ..Configuration::usual() })
    })
}

/// Every pair, run as programs that are evaluated first. Zeal, under which the evaluator takes minutes with frames in
/// the heap, is left to the usual strategy.
pub fn evaluated() -> impl Iterator<Item = Configuration> {
    let usual = Configuration::usual().frames;
    let modes = |c: Configuration| [c, c.with_mode(Mode::Zeal)];
    let every = pairs().map(|c| Configuration { opt: "auto", ..c }).flat_map(modes);
    every.filter(move |c| c.mode != Mode::Zeal || c.frames == usual)
}

/// The whole matrix. Zeal with low optimization, which takes longest, is left to the usual strategy.
pub fn all() -> impl Iterator<Item = Configuration> {
    let modes = [Mode::Run, Mode::Build, Mode::Zeal];
    let every = move |c| {
        modes.into_iter().flat_map(move |mode| ["high", "low"].map(|opt| Configuration { mode, opt, ..c }))
    };
    let usual = Configuration::usual().frames;
    let precise =
        pairs().flat_map(every).filter(move |c| (c.mode, c.opt) != (Mode::Zeal, "low") || c.frames == usual);
    let ambiguous = pairs().filter(|c| c.collector.barrier == Barrier::None && !c.frames.frames_in_heap);
    precise.chain(ambiguous.flat_map(|c| [Mode::Ambiguous, Mode::AmbiguousZeal].map(|m| c.with_mode(m))))
}
