//! Records whose fields hold vectors and numbers, in random programs.
//!
//! `passes/types` makes f64vectors of vectors of flonums in fields (`vectors.rs`), and reads fields that nothing
//! assigns to before the loops that ask for them (`fields.rs`). The oracle is the same program without these passes
//! (`--opt=low`): both must write the same, failures and what they show included.

use std::fmt::Write as _;

mod common;
use common::run_text;

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

const GROUPS: usize = 60;

/// A field: its name, and whether there is a procedure that assigns to it.
type Field = (String, bool);

/// Record types, records of them and procedures with loops over these, all of which nothing else in the program uses.
struct Group<'r> {
    r: &'r mut Random,
    number: usize,
    types: Vec<Vec<Field>>,
}

impl Group<'_> {
    fn chance(&mut self, percent: u64) -> bool {
        self.r.below(100) < percent
    }

    fn flonum(&mut self) -> &'static str {
        self.r.pick(&["0.", "1.5", "-2.25", "7.", ".5"])
    }

    fn first_value(&mut self) -> String {
        match self.r.below(20) {
            0..11 => {
                let other = self.chance(15);
                let fill = if other { self.r.pick(&["0", "1", "#f"]) } else { self.flonum() };
                format!("(make-vector {} {fill})", self.r.pick(&["0", "1", "3", "5"]))
            }
            11..17 => self.r.below(7).to_string(),
            17 => self.flonum().to_string(),
            _ => self.r.pick(&["'s", "\"x\"", "(list 1 2)", "(vector 1. 2.)", "#f"]).to_string(),
        }
    }

    fn field(&mut self, t: usize) -> Field {
        let i = self.r.below(self.types[t].len());
        self.types[t][i].clone()
    }

    fn get(&mut self, t: usize, record: &str) -> String {
        format!("(get-{} {record})", self.field(t).0)
    }

    /// An expression of numbers, of the fields of `record`, which has type `t`, of `i` and `s`.
    fn number(&mut self, t: usize, record: &str, depth: usize) -> String {
        match self.r.below(20) {
            _ if depth == 0 => self.r.pick(&["i", "s", "2", "i"]).to_string(),
            0..5 => self.r.pick(&["i", "s", "1.5", "3"]).to_string(),
            5..7 => self.get(t, record),
            7..13 => format!("(vector-ref {} {})", self.get(t, record), self.r.pick(&["i", "0", "i"])),
            _ => {
                let operator = self.r.pick(&["+", "*", "-", "+"]);
                let (a, b) = (self.number(t, record, depth - 1), self.number(t, record, depth - 1));
                format!("({operator} {a} {b})")
            }
        }
    }

    /// A loop over the record `g` of type `t`, which may change it and `h`, of type `u`.
    fn turns(&mut self, t: usize, u: usize) -> String {
        let mut body = String::new();
        if self.chance(40) {
            let (v, x) = (self.get(t, "g"), self.number(t, "g", 2));
            let x = if self.chance(50) { format!("(+ 0. {x})") } else { x };
            let _ = write!(body, "(vector-set! {v} i {x}) ");
        }
        let (field, assigned) = self.field(t);
        if assigned && self.chance(50) {
            let _ = write!(body, "(set-{field}! g {}) ", self.first_value());
        }
        if self.chance(30) {
            let (v, x) = (self.get(u, "h"), self.number(u, "h", 2));
            let _ = write!(body, "(if (= i 1) (vector-set! {v} 0 {x})) ");
        }
        let bound = match self.r.below(4) {
            0 => "3".to_string(),
            1 => format!("(vector-length {})", self.get(t, "g")),
            _ => self.get(t, "g"),
        };
        let (first, x) = (self.flonum(), self.number(t, "g", 2));
        if self.chance(30) {
            format!("(let loop ((i 0) (s {first})) (if (< i {bound}) (begin {body} (loop (+ i 1) (+ s {x}))) s))")
        } else {
            format!("(do ((i 0 (+ i 1)) (s {first} (+ s {x}))) ((>= i {bound}) s) {body})")
        }
    }

    fn text(&mut self) -> String {
        let n = self.number;
        let mut text = String::new();
        for t in 0..1 + self.r.below(3usize) {
            let fields: Vec<Field> =
                (0..1 + self.r.below(3)).map(|i| (format!("f{n}-{t}-{i}"), self.chance(35))).collect();
            let names: Vec<&str> = fields.iter().map(|(name, _)| &**name).collect();
            let _ = write!(text, "(define-record-type t{n}-{t} (make{n}-{t} {}) t{n}-{t}?", names.join(" "));
            for (name, assigned) in &fields {
                let setter = if *assigned { format!(" set-{name}!") } else { String::new() };
                let _ = write!(text, " ({name} get-{name}{setter})");
            }
            text.push_str(")\n");
            self.types.push(fields);
        }
        let types = self.types.len();
        let records: Vec<usize> = (0..2 + self.r.below(3)).map(|_| self.r.below(types)).collect();
        for (i, t) in records.iter().enumerate() {
            let values: Vec<String> = (0..self.types[*t].len()).map(|_| self.first_value()).collect();
            let _ = writeln!(text, "(define r{n}-{i} (make{n}-{t} {}))", values.join(" "));
        }
        let mut procedures = Vec::new();
        for k in 0..2 + self.r.below(3usize) {
            let (t, u) = (self.r.below(types), self.r.below(types));
            let mut turns = self.turns(t, u);
            if self.chance(30) {
                let bound = self.get(t, "g");
                turns = format!("(do ((j 0 (+ j 1)) (a 0. (+ a {turns}))) ((= j {bound}) a))");
            }
            let v = self.get(t, "g");
            turns = match self.r.below(10) {
                0..3 => format!("(if (t{n}-{t}? g) {turns} 'no)"),
                3..5 => format!("(begin {v} {turns})"),
                5 => format!("(let ((v {v})) (if (vector? v) {turns} (list v)))"),
                _ => turns,
            };
            let _ = writeln!(text, "(define (p{n}-{k} g h s) {turns})");
            procedures.push(t);
        }
        for _ in 0..4 + self.r.below(6) {
            let k = self.r.below(procedures.len());
            let mut g = self.r.below(records.len());
            if self.chance(80) {
                g = records.iter().position(|t| *t == procedures[k]).unwrap_or(g);
            }
            let g = if self.chance(10) { "(make-vector 2 1.)".to_string() } else { format!("r{n}-{g}") };
            let (h, s) = (self.r.below(records.len()), self.flonum());
            let _ = writeln!(text, "(try (lambda () (p{n}-{k} {g} r{n}-{h} {s})))");
        }
        for i in 0..records.len() {
            let _ = writeln!(text, "(write-shared r{n}-{i}) (newline)");
        }
        text
    }
}

fn program() -> String {
    let mut text = String::from(
        "(import (scheme base) (scheme write))
        (define (try thunk)
          (write (guard (e ((error-object? e) (list (error-object-message e) (error-object-irritants e)))) (thunk)))
          (newline))\n",
    );
    let mut r = Random::seeded(2026);
    for number in 0..GROUPS {
        text += &Group { r: &mut r, number, types: Vec::new() }.text();
    }
    text
}

#[test]
fn nobody_can_tell_how_fields_are_kept_and_when_they_are_read() {
    let program = program();
    let run = |options: &[&str]| run_text("records", &program, options);
    let (low, high) = (run(&["--opt=low"]), run(&["--opt=high"]));
    let optimized = run(&["--opt=high", "--emit=opt"]);

    for (i, (a, b)) in low.lines().zip(high.lines()).enumerate() {
        assert_eq!(a, b, "line {i} of the output");
    }
    assert_eq!(low, high);
    let count = |what: &str| optimized.matches(what).count();
    let (raw, moved) = (count("%numeric-make"), count("((field."));
    assert!(raw > GROUPS / 4 && moved > GROUPS, "f64vectors made: {raw}; reads before loops: {moved}");
    let failed = low.lines().filter(|l| l.starts_with("(\"")).count();
    assert!(failed > GROUPS && failed * 4 < low.lines().count() * 3, "{failed} of {} fail", low.lines().count());
}
