//! Golden tests of the frame pass: `tests/golden/frame/*.txt`, one file per feature.
//!
//! The programs (`tests/support/golden.rs`) are Core text; `---- high` is the optimization level: `as it is` (dialect
//! Fixed or Opt), `low`, `high`. The result has a part for each strategy, `#### chunks`, `#### heap`. All that is
//! lowered is verified, printed, parsed, and printed again.

mod common;

use cairn_frame::print::print_module;

#[path = "../../../tests/support/golden.rs"]
mod support;
use support::Case;

fn result(case: &Case) -> String {
    let program = common::core(case.source, case.how);
    common::strategies()
        .map(|s| format!("#### {}\n{}", s.name, print_module(&common::lower(&program, s)).trim()))
        .collect::<Vec<_>>()
        .join("\n\n")
}

#[test]
fn golden() {
    support::check_folder("frame", result);
}
