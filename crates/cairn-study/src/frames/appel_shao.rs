//! The paper's numbers: Appel and Shao, JFP 6(1), 1996. SML/NJ on a DECstation 5000/240, MIPS.
//!
//! Rows of programs are Boyer, Knuth-B, Lexgen, Life, YACC, Simple, VLIW.

/// Figure 1: instructions per frame of a way of keeping frames.
pub struct Breakdown {
    /// The name of ours that is the same.
    pub strategy: &'static str,
    /// Creation.
    pub creation: f64,
    /// Frame pointers.
    pub pointers: f64,
    /// Copying and sharing.
    pub sharing: f64,
    /// Cache write misses, where a miss waits for memory; elsewhere 0.
    pub write_misses: f64,
    /// Cache read misses.
    pub read_misses: f64,
    /// Disposal.
    pub disposal: f64,
    /// The sum, without write misses.
    pub total: f64,
    /// Call/cc: the cost by depth N, chunk size X.
    pub call_cc: &'static str,
}

/// Figure 1.
pub const BREAKDOWN: [Breakdown; 4] = [
    row("heap", [3.1, 2.0, 0.0, 5.3, 1.0, 1.4, 7.5], "O(1)"),
    row("stack", [1.0, 0.0, 3.4, 0.0, 0.0, 1.0, 5.4], "O(N)"),
    row("chunks", [3.0, 0.0, 3.4, 0.0, 0.0, 1.0, 7.4], "O(X)"),
    row("quasi", [3.0, 2.0, 3.4, 0.0, 0.0, 4.0, 12.4], "O(1)"),
];

const fn row(strategy: &'static str, v: [f64; 7], call_cc: &'static str) -> Breakdown {
    let [creation, pointers, sharing, write_misses, read_misses, disposal, total] = v;
    Breakdown { strategy, creation, pointers, sharing, write_misses, read_misses, disposal, total, call_cc }
}

/// The row of Figure 1 for one of our strategies.
pub fn breakdown(strategy: &str) -> Option<&'static Breakdown> {
    BREAKDOWN.iter().find(|b| b.strategy == strategy)
}

/// Figure 3: limit checks per frame that no other allocation shares.
pub const LIMIT_CHECKS: [f64; 7] = [0.717, 0.783, 0.864, 0.456, 0.631, 0.665, 0.695];
/// Figure 4: thousands of frames, and instructions per frame.
pub const FRAMES: [(f64, f64); 7] = [
    (662.0, 94.0),
    (3465.0, 61.0),
    (1873.0, 166.0),
    (201.0, 239.0),
    (1187.0, 97.0),
    (5516.0, 85.0),
    (3274.0, 87.0),
];
/// Figure 5: the share of frames in what is allocated, and the words of a frame.
pub const ALLOCATION: [(f64, f64); 7] =
    [(0.55, 4.8), (0.53, 3.7), (0.79, 3.7), (0.39, 3.1), (0.59, 5.0), (0.66, 4.6), (0.50, 4.8)];
/// Figure 10: instructions that the collector spends per frame more with frames in the heap, `Z_h`.
pub const COLLECTION: [f64; 7] = [-0.95, -0.20, 0.03, 2.62, 7.86, -0.03, 0.22];

/// Section 6.2: cycles of read misses per frame that the heap has more than the stack, in a cache of 16 KiB that
/// allocates on writes, and in one that writes around.
pub const READ_MISSES: (f64, f64) = (1.0, 5.1);
/// Section 6.1: cycles of write misses per frame in the heap, where a miss waits ten cycles.
pub const WRITE_MISSES: f64 = 5.3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_the_sums_of_their_parts() {
        for b in &BREAKDOWN {
            let sum = b.creation + b.pointers + b.sharing + b.read_misses + b.disposal;
            assert!((sum - b.total).abs() < 1e-9, "{}: {sum}", b.strategy);
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean(&LIMIT_CHECKS) - 0.687).abs() < 1e-3);
        assert!((mean(&FRAMES.map(|(_, n)| n)) - 119.0).abs() < 0.6);
        assert!((mean(&ALLOCATION.map(|(share, _)| share)) - 0.57).abs() < 0.01);
        assert!((mean(&ALLOCATION.map(|(_, words)| words)) - 4.2).abs() < 0.1);
        assert!((mean(&COLLECTION) - 1.36).abs() < 0.01);
    }
}
