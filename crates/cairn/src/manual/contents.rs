//! What is in a manual, as data.

use std::collections::BTreeMap;

/// A library, as the manual shows it.
#[derive(Clone, Debug)]
pub(super) struct Library {
    pub(super) name: String,
    /// What its file says about it.
    pub(super) about: String,
    /// Its file, and the line where it begins.
    pub(super) place: Option<(String, usize)>,
    pub(super) exports: Vec<Export>,
}

/// A name that a library exports.
#[derive(Clone, Debug)]
pub(super) struct Export {
    pub(super) name: String,
    /// Its name where it is defined, if that is another one.
    pub(super) renamed: Option<String>,
    pub(super) kind: String,
    pub(super) signatures: Vec<String>,
    /// The library that defines it, if that is another one.
    pub(super) from: Option<String>,
    pub(super) comment: String,
    pub(super) place: Option<(String, usize)>,
}

/// The order of libraries: by the parts of their names, numbers as numbers.
pub(super) type Order = Vec<(usize, String)>;

pub(super) fn order(name: &str) -> Order {
    let parts = name.trim_matches(['(', ')']).split_whitespace();
    parts.map(|p| p.parse().map_or((usize::MAX, p.to_string()), |n| (n, String::new()))).collect()
}

/// What is in the manual.
#[derive(Debug, Default)]
pub(super) struct Manual {
    pub(super) libraries: BTreeMap<Order, Library>,
    /// Texts of files that are referred to.
    pub(super) sources: BTreeMap<String, String>,
}
