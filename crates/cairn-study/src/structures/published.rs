//! The paper's numbers: Cérat and Feeley 2014, Table 1. Core i7 of 2.2 GHz, 8 GB, Gambit.

/// Seconds of a row of Table 1, on 32 and 64 bits.
pub struct Row {
    /// Plain records in a vector: the baseline.
    pub records: [f64; 2],
    /// Structure vectors.
    pub structures: [f64; 2],
    /// Vectors with the fields inline, where the paper has them.
    pub inline: Option<[f64; 2]>,
}

/// The column of 64 bits.
pub const BITS_64: usize = 1;

const fn row(records: [f64; 2], structures: [f64; 2], inline: Option<[f64; 2]>) -> Row {
    Row { records, structures, inline }
}

/// Table 1, in the paper's order, which is that of [`super::experiments::ROWS`].
pub const TABLE: [Row; 13] = [
    row([78.47, 72.01], [1.26, 1.42], Some([1.10, 3.07])),
    row([5.00, 5.17], [0.35, 0.65], Some([1.46, 1.40])),
    row([4.45, 4.55], [0.00, 0.00], Some([0.00, 0.00])),
    row([4.85, 5.23], [0.34, 0.57], Some([1.46, 1.40])),
    row([1.32, 1.24], [1.63, 1.84], Some([0.95, 0.63])),
    row([4.64, 4.19], [1.24, 1.24], Some([1.13, 2.14])),
    row([2.07, 1.85], [7.42, 8.35], None),
    row([1.33, 0.93], [1.19, 0.94], Some([0.95, 0.63])),
    row([0.87, 0.62], [0.82, 0.55], None),
    row([3.42, 3.52], [2.96, 3.00], None),
    row([1.36, 0.81], [1.20, 0.85], None),
    row([6.91, 5.50], [7.66, 5.95], None),
    row([2.10, 1.71], [3.67, 3.58], None),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The ratios that the paper prints beside its seconds, on 64 bits.
    #[test]
    fn ratios_are_those_that_the_paper_prints() {
        let printed = [0.02, 0.12, 0.0, 0.11, 1.48, 0.30, 4.51, 1.01, 0.89, 0.85, 1.05, 1.08, 2.09];
        for (row, ratio) in TABLE.iter().zip(printed) {
            assert!((row.structures[BITS_64] / row.records[BITS_64] - ratio).abs() <= 0.0061, "{ratio}");
        }
    }
}
