//! The paper's numbers: Lattner and Adve, MSP 2005, Figure 15. UltraSPARC-IIIi, 64 KB first-level and 1 MB
//! second-level cache; the least of three runs.

/// A row of Figure 15.
pub struct Row {
    /// The program.
    pub name: &'static str,
    /// Seconds without pools, with pools, with pools and small pointers.
    pub seconds: [f64; 3],
    /// Peak of the heap with small pointers, as a share of that with pools.
    pub memory: f64,
}

const fn row(name: &'static str, seconds: [f64; 3], memory: f64) -> Row {
    Row { name, seconds, memory }
}

/// Figure 15, in the paper's order.
pub const FIGURE_15: [Row; 10] = [
    row("bh", [15.32, 16.19, 16.17], 1.0),
    row("bisort", [27.33, 24.31, 24.29], 0.5),
    row("em3d", [27.19, 27.16, 30.25], 1.0),
    row("perimeter", [10.13, 6.63, 5.38], 0.57),
    row("power", [6.53, 6.52, 6.51], 0.92),
    row("treeadd", [72.83, 52.78, 35.76], 0.5),
    row("tsp", [18.33, 16.28, 15.28], 0.75),
    row("ft", [14.59, 11.60, 10.04], 0.51),
    row("ks", [8.01, 7.93, 8.27], 1.0),
    row("llubench", [37.42, 27.89, 11.87], 0.5),
];

/// The row of a program.
pub fn published(name: &str) -> Option<&'static Row> {
    FIGURE_15.iter().find(|r| r.name == name)
}
