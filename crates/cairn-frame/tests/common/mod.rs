//! Shared by the tests: Core text → Frame IR, with everything checked that can be checked on the way.

#![allow(dead_code)] // each test binary uses its part

use cairn_core::ir::{GlobalId, Program};
use cairn_core::passes::{self, Opt};
use cairn_frame::ir::Module;
use cairn_frame::parse::parse_module;
use cairn_frame::print::print_module;
use cairn_frame::verify::verify;
use cairn_layout::facts::{STRATEGIES, StrategyFacts, strategy};

/// Parses Core text. `level`: `as it is`, or an optimization level.
pub fn core(source: &str, level: &str) -> Program {
    let mut program = cairn_core::parse::parse_program(source).unwrap_or_else(|e| panic!("{e}\n{source}"));
    match level {
        "as it is" => {}
        "low" => passes::optimize(&mut program, Opt::Low, true, &mut |_, _| {}),
        "high" => passes::optimize(&mut program, Opt::High, true, &mut |_, _| {}),
        level => panic!("no level `{level}`"),
    }
    program
}

/// Lowers, verifies, and prints and parses.
pub fn lower(program: &Program, strategy: &'static StrategyFacts) -> Module {
    let facts = passes::known::analyze(program);
    let bound: Vec<bool> = (0..program.globals.len()).map(|g| facts.always_bound(GlobalId(g as u32))).collect();
    let module = cairn_frame::lower(program, &bound, strategy);
    let text = print_module(&module);
    if let Err(complaints) = verify(&module) {
        let source = cairn_core::print::print_program(program);
        panic!("{}\nsource:\n{source}\nframe:\n{text}", complaints.join("\n"));
    }
    let again = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    same(&print_module(&again), &text);
    assert_eq!(verify(&again), Ok(()), "the parsed module is worse\n{text}");
    module
}

/// Panics with the first differing line.
pub fn same(actual: &str, expected: &str) {
    for (i, (a, e)) in actual.lines().zip(expected.lines()).enumerate() {
        assert_eq!(a, e, "line {} of\n{expected}", i + 1);
    }
    assert_eq!(actual.len(), expected.len(), "one text is a part of the other\n{actual}\nand\n{expected}");
}

/// All strategies by name.
pub fn strategies() -> impl Iterator<Item = &'static StrategyFacts> {
    STRATEGIES.iter().copied()
}

/// A strategy by name.
pub fn named(name: &str) -> &'static StrategyFacts {
    strategy(name).unwrap_or_else(|| panic!("no strategy `{name}`"))
}
