//! What the analysis of types claims about arithmetic, against arithmetic.
//!
//! For every operation on integers and many pairs of ranges: a procedure tests that its operands lie in the ranges,
//! computes, and compares the result with constants. Where the analysis knows the answer of a comparison, it decides
//! it; where a range is wrong, one of the calls with the ends of the ranges sees another answer than the reference
//! interpreter gives for the program as it was.

use cairn_core::parse::parse_program;
use cairn_core::passes::types;
use cairn_core::print::print_program;
use cairn_core::verify::{Dialect, verify};
use cairn_core::{interp, passes::inline};
use std::fmt::Write;

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

const GENERIC: [&str; 7] = ["+", "-", "*", "quotient", "remainder", "modulo", "floor-quotient"];
const FIXNUM: [&str; 8] = ["fx+", "fx-", "fx*", "fxand", "fxior", "fxxor", "fxsra", "fxsll"];
const MAX: i64 = (1 << 60) - 1;
const CORNERS: [i64; 27] = [
    -MAX - 1,
    -MAX,
    -(1 << 59),
    -(1 << 33),
    -(1 << 32),
    -256,
    -16,
    -9,
    -8,
    -7,
    -2,
    -1,
    0,
    1,
    2,
    3,
    7,
    8,
    9,
    15,
    16,
    255,
    256,
    1 << 32,
    1 << 59,
    MAX - 1,
    MAX,
];

/// A range of corners, and some of its members: the ends first.
fn range(r: &mut Random, shift: bool) -> (i64, i64, Vec<i64>) {
    let pick = |r: &mut Random| if shift { r.below(61i64) } else { CORNERS[r.below(CORNERS.len())] };
    let (a, mut b) = (pick(r), pick(r));
    if r.below(4u32) == 0 {
        b = a;
    }
    let (lo, hi) = (a.min(b), a.max(b));
    let mut members = vec![lo, hi];
    members.extend(CORNERS.iter().filter(|c| (lo..=hi).contains(*c)).copied().filter(|_| r.below(3u32) == 0));
    members.dedup();
    (lo, hi, members)
}

fn program(r: &mut Random, op: &str) -> String {
    let shift = matches!(op, "fxsra" | "fxsll");
    let divides = ["quotient", "remainder", "modulo", "floor-quotient"].contains(&op);
    let ((xl, xh, xs), (yl, yh, ys)) = (range(r, false), range(r, shift));
    let mut compared = String::new();
    for _ in 0..6 {
        let test = r.pick(&["<", "<=", "=", ">", ">="]);
        let c = CORNERS[r.below(CORNERS.len())];
        write!(compared, " (%write-object (%{test} r.2 {c}) '() 1)").unwrap();
    }
    // what the result is compared with most closely: results of the ends
    let (near, by) = (xs[r.below(xs.len())], ys[r.below(ys.len())]);
    if !(divides && by == 0) {
        write!(compared, " (let ((e.3 (%{op} {near} {by}))) (seq (%write-object (%< r.2 e.3) '() 1) (%write-object (%< e.3 r.2) '() 1)))")
            .unwrap();
    }
    let calls: String = (xs.iter().flat_map(|x| ys.iter().map(move |y| (x, y))))
        .filter(|(_, y)| !(divides && **y == 0))
        .map(|(x, y)| format!("(@run.0 {x} {y})\n"))
        .collect();
    format!(
        "(define @run.0 (lambda run (x.0 y.1)
          (if (if (%fixnum? x.0) (%fixnum? y.1) #f)
            (if (if (%<= {xl} x.0) (if (%<= x.0 {xh}) (if (%<= {yl} y.1) (%<= y.1 {yh}) #f) #f) #f)
              (let ((r.2 (%{op} x.0 y.1)))
                (seq (%write-object r.2 '() 1) (%write-object (%fixnum? r.2) '() 1){compared}))
              'out)
            'other)))
        {calls}(@run.0 'a 1)\n(@run.0 1 1.5)\n"
    )
}

fn check(op: &str, seed: u64) {
    let mut r = Random::seeded(seed);
    let text = program(&mut r, op);
    let mut p = parse_program(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let before = interp::run(&p, 100_000);
    if seed.is_multiple_of(4) {
        inline::run(&mut p);
    }
    types::run(&mut p);
    let printed = print_program(&p);
    assert_eq!(verify(&p, Dialect::Opt), Ok(()), "{printed}");
    let after = interp::run(&p, 100_000);
    assert!(before == after, "{op}, seed {seed}\n{before:?}\n{text}\n{after:?}\n{printed}");
}

#[test]
fn ranges_of_results_hold() {
    for (i, op) in GENERIC.iter().chain(&FIXNUM).enumerate() {
        for seed in 0..60 {
            check(op, 1000 * i as u64 + seed);
        }
    }
}
