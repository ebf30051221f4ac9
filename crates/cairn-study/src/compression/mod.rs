//! The study of pointer compression: Lattner and Adve, "Transparent pointer compression for linked data structures"
//! (MSP 2005), again.
//!
//! The paper compiled ten C programs as they were, with pool allocation, and with pool allocation and 32-bit indices
//! for pointers, and walked the lists of one of them at many lengths. Here `cairn cc` does so, `clang-19 -O2` is what
//! it is compared with, and malloc may also be one of today's allocators. The paper's own programs are measured where
//! a checkout of the llvm-test-suite is given (`--suite DIR`), programs of ours of the same kinds always
//! ([`c_programs`]): those also exist with pools of 32-bit offsets written by hand, which tell what can be reached.
//! The paper's numbers ([`lattner_adve`]) stand beside.

mod c_programs;
mod claims;
mod costs;
mod fig15;
mod lattner_adve;
mod variants;

use crate::harness::Lab;
use crate::report::Report;
use crate::study::Study;

/// `cairn study compression`.
pub struct Compression;

impl Study for Compression {
    fn name(&self) -> &'static str {
        "compression"
    }
    fn summary(&self) -> &'static str {
        "time and memory of C programs with small pointers (Lattner & Adve 2005)"
    }
    fn paper(&self) -> &'static str {
        "C. Lattner and V. Adve: Transparent Pointer Compression for Linked Data Structures. MSP 2005."
    }
    fn programs(&self) -> Vec<&'static str> {
        c_programs::PROGRAMS.iter().map(|p| p.name).collect()
    }
    fn run(&self, lab: &mut Lab) -> Result<Report, String> {
        let measured = costs::measure(lab)?;
        Ok(fig15::report(self, &measured))
    }
}
