//! Numbers about numbers.

/// The mean of the values but the largest, as Smith and Morrisett did: "ten runs, throwing out the worst". One value is
/// its own mean. `None` for no values.
pub fn mean_without_worst(values: &[f64]) -> Option<f64> {
    let worst = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match values.len() {
        0 => None,
        1 => Some(values[0]),
        n => Some((values.iter().sum::<f64>() - worst) / (n - 1) as f64),
    }
}

/// The index of the largest value, when there are at least two.
pub fn worst(values: &[f64]) -> Option<usize> {
    (values.len() > 1).then(|| (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b])))?
}

/// The value in the middle; of an even number of values, the mean of the middle two.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    (n > 0).then(|| f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]))
}

/// The geometric mean of positive values.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| (values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_run_does_not_count() {
        assert_eq!(mean_without_worst(&[1.0, 9.0, 3.0]), Some(2.0));
        assert_eq!(mean_without_worst(&[5.0]), Some(5.0));
        assert_eq!(mean_without_worst(&[]), None);
        assert_eq!(worst(&[1.0, 9.0, 3.0]), Some(1));
        assert_eq!(worst(&[1.0]), None);
    }

    #[test]
    fn medians_and_means() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
        assert!((geometric_mean(&[1.0, 4.0]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), None);
    }
}
