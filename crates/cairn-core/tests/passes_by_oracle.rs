//! Random programs before and after passes, under the reference interpreter: what local procedures, several values and
//! records of several types make hard.
//!
//! The programs of `passes/inline/random.rs` are of all kinds; these are of one: local procedures with one or more
//! clauses, called from operands, producers and tails; procedures that return two values; records of two types that
//! meet in variables, parameters and results. So contification has regions to confuse, and the analysis of types joins
//! to get wrong. The interpreter stops where a check was removed that was needed.

use cairn_core::ir::Program;
use cairn_core::parse::parse_program;
use cairn_core::passes::testing::run_pass;
use cairn_core::passes::{inline, parts, types};
use cairn_core::verify::{Dialect, verify};
use cairn_core::{interp, print::print_program};

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

/// What an expression yields.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    /// A fixnum.
    Number,
    /// Two fixnums.
    Two,
    /// A record of one type or the other.
    Record,
}

use Kind::*;

#[derive(Clone)]
struct Procedure {
    name: String,
    yields: Kind,
    /// Numbers after the counter, for each clause.
    clauses: Vec<usize>,
}

struct Generator {
    random: Random,
    names: usize,
    size: usize,
    numbers: Vec<String>,
    records: Vec<String>,
    procedures: Vec<Procedure>,
    /// The variable that counts calls down.
    counter: String,
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }
    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}.{}", self.names)
    }

    fn expr(&mut self, kind: Kind, depth: usize) -> String {
        self.size += 1;
        let leaf = depth == 0 || self.size > 70;
        let d = depth.saturating_sub(1);
        if leaf {
            return self.leaf(kind);
        }
        match self.below(15) {
            12..=14 if kind == Number => self.field(d),
            0..=2 => self.call(kind, d),
            3 => {
                let test = self.test(d);
                format!("(if {test} {} {})", self.expr(kind, d), self.expr(kind, d))
            }
            4 => {
                let v = self.name("v");
                let init = self.expr(Number, d);
                self.numbers.push(v.clone());
                let body = self.expr(kind, d);
                self.numbers.pop();
                format!("(let (({v} {init})) {body})")
            }
            5 => {
                let v = self.name("r");
                let init = self.expr(Record, d);
                self.records.push(v.clone());
                let body = self.expr(kind, d);
                self.records.pop();
                format!("(let (({v} {init})) {body})")
            }
            6 | 7 => self.local(kind, d),
            8 | 9 => {
                // the producer is not in tail position, whatever stands in it
                let producer = self.expr(Two, d);
                let (a, b) = (self.name("v"), self.name("v"));
                self.numbers.extend([a.clone(), b.clone()]);
                let body = self.expr(kind, d);
                self.numbers.truncate(self.numbers.len() - 2);
                format!("(receive ({a} {b}) {producer} {body})")
            }
            10 => {
                let seen = self.expr(Number, d);
                format!("(seq (%write-object {seen} '() 1) {})", self.expr(kind, d))
            }
            _ => match kind {
                Number => format!("(%+ {} {})", self.expr(Number, d), self.expr(Number, d)),
                Two => format!("(values {} {})", self.expr(Number, d), self.expr(Number, d)),
                Record => {
                    let t = self.below(2);
                    format!("(%record @rtd.{t} {} {})", self.expr(Number, d), self.expr(Number, d))
                }
            },
        }
    }

    /// What is in a field of a record, perhaps after a test of its type; without one it is an error when it is of the
    /// other type.
    fn field(&mut self, d: usize) -> String {
        let (v, t, field) = (self.name("r"), self.below(2), self.below(2));
        let init = self.expr(Record, d);
        let get = format!("(%record-ref {v} @rtd.{t} {field})");
        let body = match self.below(3) {
            0 => get,
            // the first access proves the type for the second
            1 => {
                format!("(%+ {get} (%record-ref {v} @rtd.{} {field}))", if self.below(8) == 0 { 1 - t } else { t })
            }
            _ => format!("(if (%record-instance? {v} @rtd.{t}) {get} {})", self.expr(Number, d)),
        };
        format!("(let (({v} {init})) {body})")
    }

    fn test(&mut self, d: usize) -> String {
        match self.below(3) {
            0 if !self.records.is_empty() => {
                let (i, t) = (self.below(self.records.len()), self.below(2));
                format!("(%record-instance? {} @rtd.{t})", self.records[i])
            }
            1 => format!("(%eq? {} {})", self.expr(Number, d.min(1)), self.below(3)),
            _ => format!("(%< {} {})", self.expr(Number, d.min(1)), self.expr(Number, d.min(1))),
        }
    }

    fn leaf(&mut self, kind: Kind) -> String {
        match kind {
            Number if !self.numbers.is_empty() && self.below(3) > 0 => {
                let i = self.below(self.numbers.len());
                self.numbers[i].clone()
            }
            Number => self.below(5).to_string(),
            Two => format!("(values {} {})", self.leaf(Number), self.leaf(Number)),
            Record if !self.records.is_empty() && self.below(3) > 0 => {
                let i = self.below(self.records.len());
                self.records[i].clone()
            }
            Record => format!("(%record @rtd.{} {} {})", self.below(2), self.leaf(Number), self.leaf(Number)),
        }
    }

    /// A call of a local procedure of this kind, with one less to go.
    fn call(&mut self, kind: Kind, d: usize) -> String {
        let fit: Vec<Procedure> = self.procedures.iter().filter(|p| p.yields == kind).cloned().collect();
        if fit.is_empty() {
            return self.local(kind, d);
        }
        let p = fit[self.below(fit.len())].clone();
        let n = p.clauses[self.below(p.clauses.len())];
        let arguments: String = (0..n).map(|_| format!(" {}", self.expr(Number, d.min(2)))).collect();
        format!("({} (%- {} 1){arguments})", p.name, self.counter)
    }

    /// One or two procedures, in whose scope the rest is.
    fn local(&mut self, kind: Kind, d: usize) -> String {
        let before = self.procedures.len();
        let count = 1 + self.below(2);
        for i in 0..count {
            let yields = if i == 0 { kind } else { [Number, Two, Record][self.below(3)] };
            let clauses = match self.below(3) {
                0 => vec![self.below(2)],
                1 => vec![0, 1],
                _ => vec![2, 0, 1],
            };
            let name = self.name("f");
            self.procedures.push(Procedure { name, yields, clauses });
        }
        let mut bindings = vec![];
        for i in before..before + count {
            let p = self.procedures[i].clone();
            let clauses: Vec<String> = p.clauses.iter().map(|n| self.clause(&p, *n, d)).collect();
            let short = p.name.split('.').next().unwrap();
            bindings.push(match &clauses[..] {
                // a lambda has its clause without parentheses
                [clause] => format!("({} (lambda {short} {}))", p.name, &clause[1..clause.len() - 1]),
                _ => format!("({} (case-lambda {short} {}))", p.name, clauses.join(" ")),
            });
        }
        let body = self.expr(kind, d);
        self.procedures.truncate(before);
        format!("(fix ({}) {body})", bindings.join(" "))
    }

    fn clause(&mut self, p: &Procedure, n: usize, d: usize) -> String {
        let counter = self.name("n");
        let outer = std::mem::replace(&mut self.counter, counter.clone());
        let parameters: Vec<String> = (0..n).map(|_| self.name("v")).collect();
        let known = self.numbers.len();
        self.numbers.extend(parameters.iter().cloned());
        let (end, body) = (self.leaf(p.yields), self.expr(p.yields, d));
        self.numbers.truncate(known);
        self.counter = outer;
        let parameters: String = parameters.iter().map(|p| format!(" {p}")).collect();
        format!("(({counter}{parameters}) (if (%< {counter} 1) {end} {body}))")
    }
}

fn program(seed: u64) -> String {
    let mut g = Generator {
        random: Random::seeded(seed),
        names: 0,
        size: 0,
        numbers: vec![],
        records: vec![],
        procedures: vec![],
        counter: "n.0".into(),
    };
    let body = g.expr(Number, 7);
    format!(
        "(define @rtd.0 (%record #f 'one '(x y)))\n(define @rtd.1 (%record #f 'other '(x y)))
        (let ((n.0 3)) (%write-object {body} '() 1))\n"
    )
}

/// Compares programs before and after a pass. Some must run to their end, and some must be changed.
fn check(seeds: std::ops::Range<u64>, dialect: Dialect, pass: impl Fn(&mut Program)) {
    let (mut ended, mut changed) = (0, 0);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let text = program(seed);
        let mut p = parse_program(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        let before = interp::run(&p, 20_000);
        if before.result == Err(interp::Stop::Fuel) {
            continue;
        }
        let source = print_program(&p);
        pass(&mut p);
        let printed = print_program(&p);
        if let Err(complaints) = verify(&p, dialect) {
            panic!("seed {seed}: {}\n{source}\n{printed}", complaints.join("\n"));
        }
        let after = interp::run(&p, 200_000);
        assert!(before == after, "seed {seed}\nbefore: {before:?}\n{source}\nafter: {after:?}\n{printed}");
        ended += before.result.is_ok() as u64;
        changed += (source != printed) as u64;
    }
    assert!(
        ended * 3 > count && changed * 2 > count,
        "of {count}, {ended} ran to their end, {changed} were changed"
    );
}

#[test]
fn contification_keeps_meaning() {
    check(0..900, Dialect::Opt, |p| _ = run_pass(p, "contify").expect("a pass"));
}

#[test]
fn types_keep_meaning() {
    check(10_000..10_700, Dialect::Opt, |p| {
        run_pass(p, "contify").expect("a pass");
        types::run(p);
    });
}

#[test]
fn inlining_keeps_meaning() {
    check(20_000..20_200, Dialect::Opt, |p| {
        inline::run(p);
        types::run(p);
    });
}

#[test]
fn objects_by_their_parts_keep_meaning() {
    let replaced = std::cell::Cell::new(0);
    check(30_000..30_400, Dialect::Opt, |p| {
        inline::run(p);
        replaced.set(replaced.get() + u32::from(parts::run(p)));
        types::run(p);
    });
    assert!(replaced.get() > 100, "{}", replaced.get());
}

/// Two records meet in a variable, a label's parameter, a procedure's parameter, its result, or a loop's variable; what
/// is read there with either type's accessor is right or an error.
#[test]
fn records_of_two_types_meet() {
    let meetings = [
        "(let ((r.9 (if (%eq? n.0 X) (%record @rtd.A 1 2) (%record @rtd.B 3 4)))) GET)",
        "(labels ((L0 (r.9) GET)) (if (%eq? n.0 X) (jump L0 (%record @rtd.A 1 2)) (jump L0 (%record @rtd.B 3 4))))",
        "(fix ((f.1 (lambda f (r.9) GET))) (%+ (f.1 (%record @rtd.A 1 2)) (f.1 (%record @rtd.B 3 4))))",
        "(fix ((f.1 (lambda f (x.2) (if (%eq? x.2 X) (%record @rtd.A 1 2) (%record @rtd.B 3 4)))))
           (let ((r.8 (f.1 9))) (let ((r.9 (f.1 n.0))) GET)))",
        "(labels ((L0 (i.1 r.9) (if (%eq? i.1 X) GET (jump L0 (%- i.1 1) (%record @rtd.B 3 4)))))
           (jump L0 n.0 (%record @rtd.A 1 2)))",
    ];
    let gets = ["(%record-ref r.9 @rtd.T 1)", "(if (%record-instance? r.9 @rtd.T) (%record-ref r.9 @rtd.T 0) -1)"];
    let mut errors = 0;
    for (meeting, get) in meetings.iter().flat_map(|m| gets.iter().map(move |g| (m, g))) {
        for bits in 0..16 {
            let digit = |n: usize| (bits >> n & 1).to_string();
            let body = meeting.replace("GET", get).replace('A', &digit(0)).replace('B', &digit(1));
            let body = body.replace('T', &digit(2)).replace('X', &(3 - (bits >> 3 & 1)).to_string());
            let text = format!(
                "(define @rtd.0 (%record #f 'one '(x y))) (define @rtd.1 (%record #f 'other '(x y)))
                (define @run.2 (lambda run (n.0) {body})) (@run.2 3)"
            );
            let mut p = parse_program(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let before = interp::run(&p, 1_000);
            types::run(&mut p);
            assert_eq!(interp::run(&p, 1_000), before, "{text}\n{}", print_program(&p));
            errors += (before.result == Err(interp::Stop::Operand)) as usize;
        }
    }
    assert!(errors > 20, "{errors}");
}

/// A clause that nobody calls goes with the procedure that only it calls, although that one calls itself.
#[test]
fn uncalled_clauses_vanish() {
    let text = "(let ((n.0 3))
        (fix ((g.1 (lambda g (x.2) (if (%< x.2 1) n.0 (%+ 1 (g.1 (%- x.2 1)))))))
          (fix ((f.3 (case-lambda f ((a.4) (if (%< 10 a.4) a.4 (f.3 (%+ a.4 1)))) ((a.5 b.6) (g.1 a.5)))))
            (f.3 n.0))))";
    let mut p = parse_program(text).expect("well-formed");
    run_pass(&mut p, "contify").expect("a pass");
    assert_eq!(verify(&p, Dialect::Opt), Ok(()), "{}", print_program(&p));
    assert_eq!(interp::run(&p, 1_000).result, Ok("11".into()));
}
