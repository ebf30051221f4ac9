//! The study of frames: Appel and Shao, "Empirical and analytic study of stack versus heap cost for languages with
//! closures" (JFP 1996), again, with the call-heavy programs of Farvardin and Reppy (PLDI 2020).
//!
//! The paper compared frames in the heap with a stack that it simulated in part. Here six ways of keeping frames are
//! in one compiler (`--frames=`), which differ in nothing else; so each is run. One of them, LLVM's own frames, needs
//! another collector than the default; it is compared with the stack under that one ([`native_frames`]). Instructions
//! are counted, never derived from times ([`runs`] says how a frame's are told from the rest); times stand
//! beside.

mod appel_shao;
mod cache_simulator;
mod exhibits;
mod findings;
mod hanoi;
mod locality;
mod memory_trace;
mod native_frames;
mod peers;
mod programs;
mod runs;

use crate::harness::Lab;
use crate::report::Report;
use crate::study::Study;

/// `cairn study frames`.
pub struct Frames;

impl Study for Frames {
    fn name(&self) -> &'static str {
        "frames"
    }
    fn summary(&self) -> &'static str {
        "what a frame costs, by frame strategy (Appel & Shao 1996)"
    }
    fn paper(&self) -> &'static str {
        "A. Appel and Z. Shao: Empirical and Analytic Study of Stack versus Heap Cost for Languages with Closures. \
         Journal of Functional Programming 6(1), 1996."
    }
    fn programs(&self) -> Vec<&'static str> {
        programs::PROGRAMS.iter().map(|p| p.name).collect()
    }
    fn run(&self, lab: &mut Lab) -> Result<Report, String> {
        let measured = runs::measure(lab)?;
        Ok(exhibits::report(self, &measured))
    }
}
