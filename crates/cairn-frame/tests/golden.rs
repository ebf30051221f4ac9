//! Golden tests of the frame pass: `tests/golden/frame/*.txt`, one file per feature.
//!
//! The programs (`tests/support/golden.rs`) are Core text; `---- high` is the optimization level: `as it is` (dialect
//! Fixed or Opt), `low`, `high`. The result has a part for each strategy, `#### chunks`, `#### heap`, …, but one for
//! all whose facts are the same to the frame pass. All that is lowered is verified, printed, parsed, and printed again.

mod common;

use cairn_frame::print::print_module;
use cairn_layout::facts::StrategyFacts;

#[path = "../../../tests/support/golden.rs"]
mod support;
use support::Case;

fn result(case: &Case) -> String {
    let program = common::core(case.source, case.how);
    let read = |s: &StrategyFacts| (s.frames_in_heap, s.header_words, s.reuse, s.limit_check);
    let all: Vec<_> = common::strategies().collect();
    all.iter()
        .enumerate()
        .filter(|(i, s)| all[..*i].iter().all(|t| read(s) != read(t)))
        .map(|(_, s)| *s)
        .map(|s| format!("#### {}\n{}", s.name, print_module(&common::lower(&program, s)).trim()))
        .collect::<Vec<_>>()
        .join("\n\n")
}

#[test]
fn golden() {
    support::check_folder("frame", result);
}
