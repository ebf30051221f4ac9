//! The study of collectors: Smith and Morrisett, "Comparing mostly-copying and mark-sweep conservative collection"
//! (ISMM 1998), again.
//!
//! The paper compiled eight ML programs for two collectors and ran each at heap sizes from 1 to 64 MB, ten times. Here
//! the programs are Scheme ([`programs`]), the collectors all that `--gc=` knows, and the heap sizes are multiples of
//! the smallest heap in which any collector can run the program, so that tables are comparable although memories have
//! grown. Absolute times are not comparable with 1998; shares, ratios and counts are, and stand beside the paper's
//! ([`published`]).

mod exhibits;
mod findings;
mod measurements;
mod programs;
mod published;

use crate::harness::Lab;
use crate::report::Report;
use crate::study::Study;

/// `cairn study collectors`.
pub struct Collectors;

impl Study for Collectors {
    fn name(&self) -> &'static str {
        "collectors"
    }
    fn summary(&self) -> &'static str {
        "time and space of the collectors by heap size (Smith & Morrisett 1998)"
    }
    fn paper(&self) -> &'static str {
        "F. Smith and G. Morrisett: Comparing Mostly-Copying and Mark-Sweep Conservative Collection. ISMM 1998."
    }
    fn programs(&self) -> Vec<&'static str> {
        programs::PROGRAMS.iter().map(|p| p.name).collect()
    }
    fn run(&self, lab: &mut Lab) -> Result<Report, String> {
        let measured = measurements::measure(lab)?;
        Ok(exhibits::report(self, &measured))
    }
}
