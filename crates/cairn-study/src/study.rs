//! What a study is, and which there are.

use crate::collectors::Collectors;
use crate::compression::Compression;
use crate::frames::Frames;
use crate::harness::Lab;
use crate::report::Report;
use crate::stacks::Stacks;
use crate::structures::Structures;

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

/// All studies, in the order of the command line's help.
pub fn studies() -> Vec<Box<dyn Study>> {
    vec![Box::new(Collectors), Box::new(Frames), Box::new(Stacks), Box::new(Structures), Box::new(Compression)]
}
