//! What can be chosen about compiling.

use cairn_core::passes::Disabled;
use cairn_layout::facts::{COLLECTORS, CollectorFacts, STRATEGIES, StrategyFacts};
use cairn_layout::object::record::compact::Choice;

/// How hard to optimize.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Only what is needed.
    Low,
    /// Everything.
    High,
    /// A program that is run is evaluated, and compiled with everything where it is hot. Otherwise the same as `High`.
    Auto,
}

/// Who makes machine code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backend {
    /// LLVM, the best code.
    Full,
    /// Our own code generator: a thirtieth of the time, and code that takes about 1.4 times the time. For code that
    /// runs once or is tested for what it does.
    Own,
}

/// Options that change what a program is compiled to. They are part of its key in the cache.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CompileOptions {
    /// Frame strategy.
    pub frames: &'static StrategyFacts,
    /// Collector.
    pub gc: &'static CollectorFacts,
    /// Optimization level.
    pub level: Level,
    /// Who makes machine code; at `Level::Low` it is our own code generator.
    pub backend: Backend,
    /// Slow paths of allocation note where they are, for heap profiles.
    pub sites: bool,
    /// Debug information: for gdb, perf and valgrind.
    pub debug: bool,
    /// Compact records.
    pub compact: Choice,
    /// The program counts how often each part of it is evaluated.
    pub coverage: bool,
    /// Passes of the optimizer that are left out.
    pub disabled: Disabled,
    /// Run the verifiers after every pass.
    pub verify: bool,
}

impl Default for CompileOptions {
    /// The usual strategy and collector, full optimization.
    fn default() -> CompileOptions {
        let verify = cfg!(debug_assertions);
        CompileOptions {
            frames: STRATEGIES[0],
            gc: COLLECTORS[0],
            level: Level::High,
            backend: Backend::Full,
            sites: false,
            debug: false,
            compact: Choice::default(),
            coverage: false,
            disabled: Disabled::NOTHING,
            verify,
        }
    }
}
