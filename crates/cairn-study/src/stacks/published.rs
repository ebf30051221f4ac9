//! The post's numbers: Marlow, 15 December 2010, on GHC before and after the change.

/// What the change did to a program, in percent of what it was before.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// The post's name of the program.
    pub name: &'static str,
    /// Allocation.
    pub allocation: f64,
    /// Elapsed time.
    pub elapsed: f64,
}

/// The table of thread benchmarks, as far as there is such a program here.
pub const CHANGES: [Change; 4] = [
    Change { name: "sieve", allocation: -0.2, elapsed: -1.3 },
    Change { name: "threads001", allocation: 0.0, elapsed: 4.5 },
    Change { name: "threads003", allocation: -0.5, elapsed: -36.4 },
    Change { name: "threads006", allocation: -2.2, elapsed: -66.4 },
];

/// The least, the largest, and the geometric mean of changes of elapsed time in that table, all programs included.
pub const ELAPSED: (f64, f64, f64) = (-66.4, 4.5, -19.2);

/// Binary trees: seconds before and after.
pub const BINARY_TREES: (f64, f64) = (64.26, 17.61);

/// "threadring 10000000" in seconds, by version of GHC: without `-threaded`, and with it.
pub const THREAD_RING: [(&str, f64, f64); 3] =
    [("GHC 6.12.3", 1.50, 5.86), ("GHC 7.0.1", 2.05, 3.00), ("GHC with the change", 1.67, 2.31)];
