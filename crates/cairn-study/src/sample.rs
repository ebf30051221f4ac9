//! What a run yields: values by name, or why there are none.

use std::collections::BTreeMap;

/// Values by name.
pub type Sample = BTreeMap<String, f64>;

/// A run that did not do what it should: why, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed(pub String);

/// The least of a value, in seconds.
pub fn fastest(samples: &[Sample], name: &str) -> f64 {
    samples.iter().filter_map(|s| s.get(name)).copied().fold(f64::INFINITY, f64::min) / 1e9
}
