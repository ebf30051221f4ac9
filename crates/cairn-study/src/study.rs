//! What a study is.

use crate::harness::Lab;
use crate::report::Report;

/// An experiment of a paper, made again.
pub trait Study {
    /// How the command line calls it.
    fn name(&self) -> &'static str;
    /// What it measures, in one line.
    fn summary(&self) -> &'static str;
    /// The paper: authors, title, place, year.
    fn paper(&self) -> &'static str;
    /// The names of what it measures; some may be there several times.
    fn programs(&self) -> Vec<&'static str>;
    /// Measures what the lab has chosen among its programs, and tells what was found.
    fn run(&self, lab: &mut Lab) -> Result<Report, String>;
}
