//! The study of stacks: Marlow, "An overhaul of stack management, and some performance improvements" (2010), again.
//!
//! The post changed how GHC's runtime keeps the stacks of threads: before, thread and stack were one object,
//! doubled and copied when full, and every collection looked at all of it; since then stacks consist of chunks, and
//! collections look at those that have been run since the last. Here the same compiler has both: `--frames=resize`
//! is the old way, `--frames=chunks` the new one, and `CAIRN_CHUNKS=all-dirty` the new one without the marks that
//! say what has been run.
//!
//! Thread programs like the post's, binary trees, and recursion of any depth above minor collections ([`programs`])
//! are run under these, and beside GHC, Gambit and Go, as far as those are there ([`contenders`]). All
//! implementations of a program must print the same line. The post's numbers stand beside ([`published`]).
//!
//! What differs from the post: under `resize` a thread that waits is a copy of its frames, made at each switch, not
//! a stack of its own; so thread programs compare more than the post did. The post's programs that call back from C
//! have no counterpart.

mod contenders;
mod exhibits;
mod findings;
mod measurements;
mod programs;
mod published;

use crate::harness::Lab;
use crate::report::Report;
use crate::study::Study;

/// `cairn study stacks`.
pub struct Stacks;

impl Study for Stacks {
    fn name(&self) -> &'static str {
        "stacks"
    }
    fn summary(&self) -> &'static str {
        "threads and deep recursion on stack chunks and the old way, beside others (Marlow 2010)"
    }
    fn paper(&self) -> &'static str {
        "S. Marlow: An overhaul of stack management, and some performance improvements. GHC blog, December 2010."
    }
    fn programs(&self) -> Vec<&'static str> {
        programs::PROGRAMS.iter().map(|p| p.name).collect()
    }
    fn run(&self, lab: &mut Lab) -> Result<Report, String> {
        let measured = measurements::measure(lab)?;
        Ok(exhibits::report(self, &measured))
    }
}
