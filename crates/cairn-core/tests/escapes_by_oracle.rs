//! Random programs that capture continuations, before and after escape analysis, under the reference interpreter.
//!
//! Continuations are called in tails, operands, tests, bindings, producers and loops, with one value or two; passed to
//! procedures, local and global, that call them, pass them on or put them into a list; captured by closures that are
//! called at once or kept. Tracing what happens on the way makes lost or repeated effects visible. What the passes must
//! not do is decided by hand in `tests/golden/core/escapes.txt`.

use cairn_core::interp;
use cairn_core::parse::parse_program;
use cairn_core::passes::testing::run_pass;
use cairn_core::print::print_program;
use cairn_core::verify::{Dialect, verify};

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

struct Generator {
    random: Random,
    names: usize,
    size: usize,
    numbers: Vec<String>,
    continuations: Vec<String>,
    /// Local procedures of a counter and a continuation.
    procedures: Vec<String>,
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

    fn pick(&mut self, from: fn(&Generator) -> &Vec<String>) -> Option<String> {
        let n = from(self).len();
        (n > 0).then(|| {
            let i = self.below(n);
            from(self)[i].clone()
        })
    }

    fn number(&mut self) -> String {
        match self.below(3) {
            0 => self.below(5).to_string(),
            _ => self.pick(|g| &g.numbers).unwrap_or_else(|| "7".into()),
        }
    }

    fn expr(&mut self, depth: usize) -> String {
        self.size += 1;
        if depth == 0 || self.size > 60 {
            return self.number();
        }
        let d = depth - 1;
        match self.below(18) {
            0..=2 => self.capture(d),
            3..=6 => match self.pick(|g| &g.continuations) {
                Some(k) => self.exit(&k, d),
                None => self.capture(d),
            },
            7 | 8 => {
                format!("(if (%< {} {}) {} {})", self.expr(d.min(2)), self.number(), self.expr(d), self.expr(d))
            }
            9 => format!("(seq (%write-object {} '() 1) {} {})", self.number(), self.expr(d), self.expr(d)),
            10 => {
                let (v, w) = (self.name("v"), self.name("w"));
                let inits = [self.expr(d), self.expr(d)];
                self.numbers.extend([v.clone(), w.clone()]);
                let body = self.expr(d);
                self.numbers.truncate(self.numbers.len() - 2);
                format!("(let (({v} {}) ({w} {})) {body})", inits[0], inits[1])
            }
            11 => {
                let (v, w) = (self.name("v"), self.name("w"));
                let producer = match self.below(3) {
                    0 => self.two(d),
                    1 => format!("(if (%< {} 3) {} {})", self.number(), self.two(d), self.two(d)),
                    _ => format!("(seq {} {})", self.expr(d), self.two(d)),
                };
                self.numbers.extend([v.clone(), w.clone()]);
                let body = self.expr(d);
                self.numbers.truncate(self.numbers.len() - 2);
                format!("(receive ({v} {w}) {producer} {body})")
            }
            12 => self.looping(d),
            13 | 14 => self.local(d),
            15 => match (self.pick(|g| &g.procedures), self.pick(|g| &g.continuations)) {
                (Some(f), Some(k)) => format!("({f} (%- {} 1) {k})", self.counter),
                _ => self.local(d),
            },
            16 => match self.pick(|g| &g.continuations) {
                // global ones: call it in a tail, call it in an operand, keep it, pass it on
                Some(k) => {
                    let user = self.random.pick(&["tail.1", "first.2", "pass.3", "keep.5"]);
                    format!("(@{user} {} {k})", self.expr(d))
                }
                None => self.capture(d),
            },
            _ => format!("(%+ {} {})", self.expr(d), self.expr(d)),
        }
    }

    /// Two values, or an exit that brings none.
    fn two(&mut self, d: usize) -> String {
        match (self.below(4), self.pick(|g| &g.continuations)) {
            (0, Some(k)) => self.exit(&k, d),
            _ => format!("(values {} {})", self.expr(d), self.expr(d)),
        }
    }

    fn exit(&mut self, k: &str, d: usize) -> String {
        match self.below(6) {
            0 => format!("({k} {} {})", self.expr(d), self.number()),
            1 => format!("(apply {k} (%cons {} '()))", self.expr(d)),
            2 => {
                let x = self.name("x");
                // a closure over it, called by a procedure that only calls it, or one that keeps it
                let user = self.random.pick(&["call.6", "hold.7"]);
                format!("(@{user} (lambda exit ({x}) ({k} {x})) {})", self.expr(d))
            }
            _ => format!("({k} {})", self.expr(d)),
        }
    }

    fn capture(&mut self, d: usize) -> String {
        let k = self.name("k");
        self.continuations.push(k.clone());
        let body = self.expr(d);
        self.continuations.pop();
        match self.below(4) {
            0 => format!("(@call/cc.0 (lambda receiver ({k}) {body}))"),
            1 => {
                let r = self.name("r");
                format!("(fix (({r} (lambda receiver ({k}) {body}))) (call/cc {r}))")
            }
            _ => format!("(call/cc (lambda receiver ({k}) {body}))"),
        }
    }

    /// A loop with a label, in which the continuations around may be called.
    fn looping(&mut self, d: usize) -> String {
        let (i, sum) = (self.name("i"), self.name("v"));
        self.names += 1;
        let label = self.names;
        self.numbers.push(sum.clone());
        let (step, end) = (self.expr(d), self.expr(d.min(1)));
        self.numbers.pop();
        format!(
            "(labels ((L{label} ({i} {sum}) (if (%< {i} 1) {end} (jump L{label} (%- {i} 1) {step})))) (jump L{label} {} 1))",
            self.below(4)
        )
    }

    fn local(&mut self, d: usize) -> String {
        let (f, n, k) = (self.name("f"), self.name("n"), self.name("k"));
        let outer = std::mem::replace(&mut self.counter, n.clone());
        self.procedures.push(f.clone());
        self.continuations.push(k.clone());
        let body = self.expr(d);
        self.continuations.pop();
        self.counter = outer;
        let rest = self.expr(d);
        self.procedures.pop();
        format!("(fix (({f} (lambda f ({n} {k}) (if (%< {n} 1) {} {body})))) {rest})", self.number())
    }
}

fn program(seed: u64) -> String {
    let mut g = Generator {
        random: Random::seeded(seed),
        names: 20,
        size: 0,
        numbers: vec![],
        continuations: vec![],
        procedures: vec![],
        counter: "n.0".into(),
    };
    let body = g.capture(6);
    format!(
        "(define @call/cc.0 (lambda call/cc (f.1) (call/cc f.1)))
        (define @tail.1 (lambda tail (x.2 k.3) (if (%< x.2 3) (k.3 x.2) (@pass.3 1 k.3))))
        (define @first.2 (lambda first (x.4 k.5) (%+ 1 (k.5 x.4))))
        (define @pass.3 (lambda pass (x.6 k.7) (@tail.1 (%- x.6 1) k.7)))
        (define @kept.4 (%box '()))
        (define @keep.5 (lambda keep (x.8 k.9) (seq (%set-box! @kept.4 (%cons k.9 '())) x.8)))
        (define @call.6 (lambda call (f.10 x.11) (%+ 1 (f.10 x.11))))
        (define @hold.7 (lambda hold (f.12 x.13) (seq (%set-box! @kept.4 (%cons f.12 '())) (f.12 x.13))))
        (let ((n.0 3)) (%write-object {body} '() 1))\n"
    )
}

#[test]
fn escape_analysis_keeps_meaning() {
    let (mut ended, mut changed, mut captures, mut left) = (0, 0, 0, 0);
    const COUNT: u64 = 800;
    for seed in 0..COUNT {
        let text = program(seed);
        let mut p = parse_program(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert_eq!(verify(&p, Dialect::Opt), Ok(()), "{text}");
        let before = interp::run(&p, 20_000);
        if before.result == Err(interp::Stop::Fuel) {
            continue;
        }
        let source = print_program(&p);
        run_pass(&mut p, "escapes").expect("a pass");
        let printed = print_program(&p);
        if let Err(complaints) = verify(&p, Dialect::Opt) {
            panic!("seed {seed}: {}\n{source}\n{printed}", complaints.join("\n"));
        }
        let after = interp::run(&p, 200_000);
        assert!(before == after, "seed {seed}\nbefore: {before:?}\n{source}\nafter: {after:?}\n{printed}");
        ended += before.result.is_ok() as u64;
        changed += (source != printed) as u64;
        captures += source.matches("call/cc").count();
        left += printed.matches("call/cc").count();
    }
    assert!(
        ended * 2 > COUNT && changed * 2 > COUNT,
        "of {COUNT}, {ended} ran to their end, {changed} were changed"
    );
    assert!(left * 2 < captures, "of {captures} captures, {left} are left");
}
