//! What a stage of a compilation took and made: for whoever wants to know where time goes (`--time`).

use std::time::Duration;

/// A stage that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageReport {
    /// Its name: `expand`, `optimize`, `frame`, `emit`, `llvm`.
    pub stage: String,
    /// Wall-clock time.
    pub time: Duration,
    /// The size of what it made.
    pub size: usize,
    /// What was counted: expressions of Core, statements of the Frame IR, bytes of LLVM IR as text, bytes of object
    /// code.
    pub unit: String,
}

/// Is told of each stage when it has ended.
pub type Observer = fn(&StageReport);

impl std::fmt::Display for StageReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let StageReport { stage, time, size, unit } = self;
        write!(f, "{stage:>10} {:8.1} ms {size:>10} {unit}", time.as_secs_f64() * 1e3)
    }
}
