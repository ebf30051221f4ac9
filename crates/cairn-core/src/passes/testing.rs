//! Running single passes by name, for golden tests.

use super::{assign, contify, elements, escapes, guards, known, letrec, lift, parts, shake, simplify};
use crate::ir::Program;
use crate::verify::Dialect;

/// Runs one pass. Returns the dialect its result must be in, `None` for an unknown name.
pub fn run_pass(program: &mut Program, pass: &str) -> Option<Option<Dialect>> {
    let facts = known::analyze(program);
    match pass {
        "nothing" => return Some(None),
        "shake" => {
            shake::run(program, &facts);
            return Some(None);
        }
        "letrec" => {
            letrec::run(program);
            return Some(None);
        }
        "simplify" => simplify::run(program, &facts),
        "lift" => lift::run(program),
        "escapes" => escapes::run(program),
        "guards" => guards::run(program),
        "elements" => elements::run(program),
        "parts" => _ = parts::run(program),
        "assign" => assign::run(program),
        "contify" => {
            contify::run(program);
        }
        _ => return None,
    }
    Some(Some(Dialect::Opt))
}
