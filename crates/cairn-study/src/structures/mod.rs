//! The study of structure vectors: Cérat and Feeley, "Structure vectors and their implementation" (Scheme 2014), again.
//!
//! The paper's Table 1 has thirteen rows: microbenchmarks and small programs over records in a vector, structure
//! vectors, and vectors with the fields inline. All rows are measured ([`experiments`]), with Gambit's records beside,
//! and what the table does not say: instructions by the kind of reference, memory by element, and two programs of
//! today, a particle system and a mesh, also in C and OCaml. The paper's seconds are those of a laptop of 2014; its
//! ratios stand beside ours ([`published`]).
//!
//! Where we differ: Cairn's programs make all checks except those that the compiler proves superfluous, so the rows of
//! the paper that are measured with and without checks have the same programs here; Gambit's are compiled as the paper
//! says.

mod comparisons;
mod experiments;
mod findings;
mod published;

use crate::harness::Lab;
use crate::report::Report;
use crate::study::Study;

/// `cairn study structures`.
pub struct Structures;

impl Study for Structures {
    fn name(&self) -> &'static str {
        "structures"
    }
    fn summary(&self) -> &'static str {
        "time, instructions and memory of structure vectors (Cérat & Feeley 2014)"
    }
    fn paper(&self) -> &'static str {
        "B. Cérat and M. Feeley: Structure Vectors and their Implementation. Scheme and Functional Programming 2014."
    }
    fn programs(&self) -> Vec<&'static str> {
        experiments::names()
    }
    fn run(&self, lab: &mut Lab) -> Result<Report, String> {
        let measured = experiments::measure(lab)?;
        Ok(comparisons::report(self, &measured))
    }
}
