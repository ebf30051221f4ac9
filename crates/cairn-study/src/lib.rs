//! # cairn-study: the experiments of the papers, on this machine
//!
//! Five papers stand behind Cairn; each measured something. A *study* measures it again, today, and prints every table
//! and figure with the published numbers beside the new ones, and sentences, made of the numbers, that say what holds.
//!
//! ```text
//!  study (collectors/ ...)         harness                            report
//!  programs × configurations  ──▶  build, run, repeat, resume  ──▶  tables, figures, findings ──▶ text, CSV, SVG, HTML
//!        ▲                             │ values by name                       ▲
//!        └──── published numbers ──────┴──── statistics ──────────────────────┘
//! ```
//!
//! Invariants:
//! * A number in a report was measured in this run of the study, or in one that it resumed: results are kept by the
//!   fingerprint of executable, arguments and environment, so a change of any of them measures again.
//! * A run whose output is not what the program prints elsewhere is no measurement but a failure that the report shows.
//! * Sentences about numbers are computed from them; a claim that could not be measured says so.
//! * Measurements alternate: the first repetition of all cells comes before the second of any, so that a machine that
//!   slows down slows down everything.

pub mod collectors;
pub mod compiled_code;
pub mod compression;
pub mod frames;
pub mod harness;
pub mod measure;
pub mod report;
pub mod sample;
pub mod stacks;
pub mod statistics;
pub mod structures;
pub mod studies;
pub mod study;
