//! # cairn-mutate: are the tests any good?
//!
//! The problem: a test suite that passes says little about what it would notice. The idea (DeMillo, Lipton & Sayward,
//! *Hints on test data selection*, 1978): put small faults into the source, one at a time, and count how many of these
//! *mutants* some test catches.
//!
//! ```text
//!  sources ──rust/scheme: places for faults──▶ sample ──workshop──▶ a copy of the tree ──judge──▶ caught · survived
//! ```
//!
//! A mutant of Rust code would cost a compilation. So all mutants of a sample are compiled together, each behind a
//! switch that the variable `CAIRN_MUTANT` turns on (*mutant schemata*: Untch, Offutt & Harrold 1993). A mutant of
//! `lib/` costs a copy of the library, which `CAIRN_LIB` names. The sample is drawn by hashing what a mutant is and a
//! seed: an edit elsewhere leaves it as it is.
//!
//! This crate is a tool for working on Cairn; nothing of it is in the compiler or the runtime.

pub mod areas;
pub mod judge;
pub mod named;
pub mod rust_faults;
pub mod scheme_faults;
pub mod workshop;

use std::ops::Range;
use std::path::PathBuf;

/// A fault that can be put into a source file.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutant {
    /// Number of its switch, or of its copy of the library. From 1; 0 is the program as it is.
    pub id: u32,
    /// Path below the root of the tree.
    pub file: PathBuf,
    /// First line, from 1.
    pub line: usize,
    /// Bytes of the file that it stands for. Two mutants of one sample do not overlap.
    pub span: Range<usize>,
    /// What stands there instead. For Rust this is an expression or statement that asks the switch, with `{on}` for the
    /// question.
    pub text: String,
    /// Function or definition around it.
    pub within: String,
    /// What was done, in a few words: `< becomes <=`.
    pub what: String,
    /// The line's text.
    pub source: String,
}

impl Mutant {
    /// What does not change when lines move.
    pub fn identity(&self) -> String {
        format!("{} | {} | {} | {}", self.file.display(), self.within, self.what, self.source)
    }
}

/// Draws `count` mutants that do not overlap, and numbers them.
pub fn sample(all: Vec<Mutant>, count: usize, seed: u64) -> Vec<Mutant> {
    let mut keyed: Vec<(u64, Mutant)> = all.into_iter().map(|m| (hash(&m.identity(), seed), m)).collect();
    keyed.sort_by_key(|(key, _)| *key);
    let mut drawn: Vec<Mutant> = vec![];
    for (_, m) in keyed {
        if drawn.len() == count {
            break;
        }
        let apart = |d: &Mutant| d.file != m.file || d.span.end < m.span.start || m.span.end < d.span.start;
        if drawn.iter().all(apart) {
            drawn.push(Mutant { id: drawn.len() as u32 + 1, ..m });
        }
    }
    drawn
}

/// FNV-1a, then mixed, for the seed is short.
fn hash(text: &str, seed: u64) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for b in text.bytes() {
        h = (h ^ b as u64).wrapping_mul(0x0100_0000_01b3);
    }
    h = (h ^ (h >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    h ^ (h >> 31)
}

/// The line (from 1) and the text of the line at this byte.
pub(crate) fn line_at(text: &str, at: usize) -> (usize, String) {
    let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
    let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    (text[..start].matches('\n').count() + 1, text[start..end].trim().to_string())
}
