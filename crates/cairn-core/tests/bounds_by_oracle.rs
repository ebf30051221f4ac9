//! Random loops that count, before and after the analysis of types, under the reference interpreter: whether bounds and
//! overflow are rightly tested before the loop (`passes/types/bounds.rs`).
//!
//! Loops go up and down, by one or more, from and to where there are elements and beyond, also at the ends of the
//! fixnums; indices are linear in the counter, now and then with products. Some vectors are elements of another, which
//! may be stored into, may hold one of them twice, or itself. The interpreter stops where an operation claims that its
//! index is in range and it is not, or that its operands are fixnums.

use cairn_core::parse::parse_program;
use cairn_core::passes::{testing::run_pass, types};
use cairn_core::verify::{Dialect, verify};
use cairn_core::{interp, print::print_program};

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

struct Generator {
    random: Random,
    names: usize,
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn one_of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.random.below(of.len())]
    }

    /// Something linear in the counter, more often than not.
    fn index(&mut self, depth: usize, known: &[String]) -> String {
        if depth == 0 || self.below(3) == 0 {
            return match self.below(8) {
                0..=4 => "k.4".into(),
                5 if !known.is_empty() => known[self.random.below(known.len())].clone(),
                6 => self.one_of(&["i.2", "n.3"]).into(),
                _ => self.one_of(&["0", "1", "2", "-1"]).into(),
            };
        }
        let a = self.index(depth - 1, known);
        match self.below(6) {
            0 | 1 => format!("(%+ {a} {})", self.one_of(&["0", "1", "2", "-1", "i.2"])),
            2 => format!("(%- {a} {})", self.one_of(&["1", "2", "i.2"])),
            3 => format!("(%* {a} {})", self.one_of(&["1", "2", "i.2", "-1", "k.4", "(%- k.4 10)"])),
            4 => format!("(%- {} {a})", self.one_of(&["n.3", "10", "(%- n.3 1)"])),
            _ => format!("(%+ {a} {})", self.index(depth - 1, known)),
        }
    }

    /// A vector: one from outside, or an element of `m.6`.
    fn vector(&mut self, of: &[&str]) -> String {
        match self.below(3) {
            0 => format!("(%vector-ref m.6 {})", self.one_of(&["i.2", "i.2", "0", "1", "(%- 3 i.2)", "k.4"])),
            _ => self.one_of(of).into(),
        }
    }

    /// A loop over vectors `v.0` and `w.1`, some of which are elements of `m.6`, with integers `i.2` and `n.3`.
    fn looping(&mut self) -> String {
        let step = [1, 1, 1, 1, 2, 3, -1, -1, -2][self.below(9)];
        let bound = self.one_of(&[
            "n.3",
            "n.3",
            "(%vector-length v.0)",
            "(%vector-length w.1)",
            "12",
            "0",
            "-1",
            "(%- n.3 1)",
            "(%+ n.3 i.2)",
            "(%- (%* n.3 2) k.4)",
        ]);
        let down = self.one_of(&["0", "0", "-1", "i.2"]);
        let (first, test) = match step > 0 {
            true => (
                self.one_of(&["0", "0", "0", "1", "i.2"]),
                match self.below(6) {
                    0 | 1 => format!("(%= k.4 {bound})"),
                    2 => format!("(%not (%< k.4 {bound}))"),
                    3 => format!("(%< {bound} k.4)"),
                    4 => format!("(%<= {bound} k.4)"),
                    _ => format!("(%>= k.4 {bound})"),
                },
            ),
            false => (
                self.one_of(&["(%- n.3 1)", "(%- n.3 1)", "n.3", "11"]),
                match self.below(3) {
                    0 => format!("(%= k.4 {down})"),
                    1 => format!("(%< k.4 {down})"),
                    _ => format!("(%<= k.4 {down})"),
                },
            ),
        };
        self.names += 1;
        let named = format!("j.{}", 20 + self.names);
        let value = self.index(1, &[]);
        let known = [named.clone()];
        let read = format!("(%vector-ref {} {})", self.vector(&["v.0", "v.0", "w.1"]), self.index(2, &known));
        let store = match self.below(12) {
            0..4 => "(%write-object s.5 '() 1)".into(),
            4 => format!(
                "(%vector-set! m.6 {} {})",
                self.one_of(&["i.2", "0", "k.4"]),
                self.vector(&["v.0", "w.1"])
            ),
            5 => "#f".into(),
            _ => format!(
                "(%vector-set! {} {} {})",
                self.vector(&["w.1"]),
                self.index(1, &known),
                self.index(1, &known)
            ),
        };
        let next = match self.below(3) {
            0 => format!("(%- k.4 {})", -step),
            _ => format!("(%+ k.4 {step})"),
        };
        let again = format!("(let (({named} {value})) (seq {store} (jump L0 {next} (%+ s.5 {read}))))");
        let body = match self.below(2) {
            0 => format!("(if {test} s.5 {again})"),
            _ => format!("(if (%not {test}) {again} (%- s.5 k.4))"),
        };
        format!("(labels ((L0 (k.4 s.5) {body})) (jump L0 {first} 0))")
    }
}

fn program(seed: u64) -> String {
    let mut g = Generator { random: Random::seeded(seed), names: 0 };
    let body = g.looping();
    // whether the loop's procedure is seen to be called with vectors and fixnums only
    let f = g.one_of(&["(@f.0", "(call (%car (%cons @f.0 '()))"]);
    let (v, w) = (g.below(30), 10 + g.below(20));
    let i = g.one_of(&["0", "0", "1", "2", "3", "-2", "1152921504606846970", "-1152921504606846970"]);
    let n = match g.below(5) {
        0 => g.one_of(&["-3", "0", "1152921504606846970"]).into(),
        1 | 2 => v.to_string(),
        _ => (8 + g.below(16)).to_string(),
    };
    let rows =
        g.one_of(&["v.91 w.90 w.90 v.91", "v.91 v.91", "w.90 v.91 7 w.90", "w.90 w.90 w.90 w.90 w.90 v.91"]);
    let itself = g.one_of(&["#f", "#f", "(%vector-set! m.92 1 m.92)"]);
    format!(
        "(define @f.0 (lambda f (v.0 w.1 i.2 n.3 m.6) {body}))
        (let ((w.90 (%make-vector {w} 2)))
          (let ((v.91 (%make-vector {v} 1)))
            (let ((m.92 (%vector {rows})))
              (seq
                {itself}
                (%write-object {f} v.91 w.90 {i} {n} m.92) '() 1)
                (%write-object w.90 '() 1)
                (%write-object v.91 '() 1)))))"
    )
}

#[test]
fn loops_that_count_keep_meaning() {
    let (mut ended, mut failed, mut copied, mut rows) = (0, 0, 0, 0);
    for seed in 0..6_000 {
        let text = program(seed);
        let mut p = parse_program(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        let before = interp::run(&p, 3_000);
        if before.result == Err(interp::Stop::Fuel) {
            continue;
        }
        types::run(&mut p);
        let printed = print_program(&p);
        if let Err(complaints) = verify(&p, Dialect::Opt) {
            panic!("seed {seed}: {}\n{text}\n{printed}", complaints.join("\n"));
        }
        let after = interp::run(&p, 30_000);
        assert!(before == after, "seed {seed}\nbefore: {before:?}\n{text}\nafter: {after:?}\n{printed}");
        run_pass(&mut p, "simplify").expect("a pass");
        let after = interp::run(&p, 30_000);
        assert!(before == after, "seed {seed}, simplified\nbefore: {before:?}\n{text}\nafter: {after:?}");
        ended += u32::from(before.result.is_ok());
        failed += u32::from(before.result.is_err());
        copied += u32::from(printed.contains("%vector-ref:11"));
        rows += u32::from(printed.contains("(row.") && printed.contains("%vector-set!") && before.result.is_ok());
    }
    let counts =
        format!("{ended} ended, {failed} failed, {copied} have a copy, {rows} stored and read rows before it");
    assert!(ended > 500 && failed > 500 && copied > 1500 && rows > 100, "{counts}");
}
