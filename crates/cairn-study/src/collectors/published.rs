//! The paper's numbers: Smith and Morrisett, ISMM 1998, Tables 2 to 7. UltraSparc-5, 256 MB, BDW 4.10, gcc -O2.
//!
//! Rows are in the order of [`super::programs::PROGRAMS`].

/// Table 2: basic information, for MCC at the canonical heap size.
pub struct Basic {
    /// Canonical heap size in MB.
    pub heap_mb: f64,
    /// Allocation in MB.
    pub allocated_mb: f64,
    /// Most live data after any collection, in KB.
    pub live_kb: f64,
    /// Number of collections.
    pub collections: f64,
    /// Milliseconds a collection.
    pub collection_ms: f64,
    /// Live objects a collection.
    pub live_objects: f64,
}

const fn basic(
    heap_mb: f64,
    allocated_mb: f64,
    live_kb: f64,
    collections: f64,
    collection_ms: f64,
    live_objects: f64,
) -> Basic {
    Basic { heap_mb, allocated_mb, live_kb, collections, collection_ms, live_objects }
}

/// Table 2.
pub const BASIC: [Basic; 8] = [
    basic(8.0, 979.0, 4.0, 262.0, 1.0, 46.0),
    basic(16.0, 103.0, 1136.0, 15.0, 161.0, 84_732.0),
    basic(8.0, 75.0, 503.0, 19.0, 28.0, 28_374.0),
    basic(8.0, 244.0, 14.0, 69.0, 1.0, 501.0),
    basic(8.0, 173.0, 30.0, 47.0, 5.0, 2_951.0),
    basic(8.0, 328.0, 262.0, 98.0, 13.0, 26_919.0),
    basic(8.0, 213.0, 111.0, 68.0, 8.0, 6_637.0),
    basic(32.0, 1018.0, 3713.0, 92.0, 210.0, 335_480.0),
];

/// Table 3: roots, promoted pages, roots by promoted page, KB lost on promoted pages; averages of a collection.
pub const PROMOTION: [[f64; 4]; 8] = [
    [35.0, 5.0, 7.0, 8.0],
    [6126.0, 917.0, 7.0, 1358.0],
    [175.0, 46.0, 4.0, 112.0],
    [50.0, 7.0, 8.0, 11.0],
    [234.0, 47.0, 5.0, 67.0],
    [36.0, 10.0, 4.0, 7.0],
    [325.0, 50.0, 6.0, 78.0],
    [118.0, 304.0, 0.4, 585.0],
];

/// Table 4: percentages of MCC's time in the stages pin, root, graph, free, sweep.
pub const STAGES: [[f64; 5]; 8] = [
    [1.0, 28.0, 4.0, 63.0, 4.0],
    [0.0, 45.0, 42.0, 1.0, 12.0],
    [0.0, 7.0, 88.0, 2.0, 3.0],
    [0.0, 33.0, 18.0, 41.0, 8.0],
    [0.0, 36.0, 39.0, 11.0, 14.0],
    [0.0, 3.0, 91.0, 4.0, 2.0],
    [0.0, 36.0, 44.0, 6.0, 14.0],
    [10.0, 0.0, 88.0, 1.0, 1.0],
];

/// Table 5: percentages of objects allocated with 1, 2, 3, and 4 or more words; percentage of data without pointers.
pub const SIZES: [[f64; 5]; 8] = [
    [0.0, 50.0, 50.0, 0.0, 0.0],
    [31.0, 38.0, 31.0, 0.0, 2.0],
    [0.0, 87.0, 4.0, 8.0, 26.0],
    [0.0, 100.0, 0.0, 0.0, 37.0],
    [5.0, 62.0, 31.0, 2.0, 0.0],
    [0.0, 100.0, 0.0, 0.0, 0.0],
    [2.0, 80.0, 17.0, 1.0, 53.0],
    [0.0, 100.0, 0.0, 0.0, 1.0],
];

/// Table 6: percentages by which client time is longer than under BDW: under MCC, and under BDW with a header word.
pub const HEADERS: [[f64; 2]; 8] =
    [[23.6, 11.0], [0.3, 2.6], [-15.0, 8.1], [-0.5, 31.6], [-12.1, 0.6], [21.7, 20.9], [2.0, 5.9], [16.3, 14.4]];

/// Table 7, columns "A" (the mean of ten runs without the worst), at the canonical heap size: client and collector
/// seconds under BDW, then under MCC. BDW's collector time for Logic is not legible in the copy at hand.
pub const TIMES: [[Option<f64>; 4]; 8] = [
    [Some(15.70), Some(10.35), Some(19.43), Some(1.16)],
    [Some(18.24), Some(1.56), Some(18.30), Some(2.42)],
    [Some(19.34), Some(1.19), Some(16.44), Some(0.59)],
    [Some(11.26), Some(2.70), Some(11.21), Some(0.25)],
    [Some(6.79), None, Some(5.97), Some(0.31)],
    [Some(5.53), Some(4.38), Some(6.73), Some(1.44)],
    [Some(11.00), Some(2.58), Some(11.21), Some(0.72)],
    [Some(35.48), Some(15.82), Some(41.28), Some(19.14)],
];

/// How many times its live data MCC's heap must be at least (section 3.1.3).
pub const MCC_SPACE: f64 = 4.5;
