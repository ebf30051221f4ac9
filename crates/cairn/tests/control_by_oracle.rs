//! Dynamic state under jumps: `dynamic-wind`, `parameterize`, handlers, `guard` and continuations that leave and come
//! back, in random nests.
//!
//! The oracle is a small machine: a statement runs in an *environment* (values of the parameters, handlers, winds) and
//! before a *continuation*, a list of what is left to do, each item with its own environment. So a continuation that is
//! entered again brings its state along by construction, and `before` and `after` run in the environment of the call of
//! `dynamic-wind` (R7RS 6.10). A statement `(note i)` writes down where the program is and what the parameters are.

use std::fmt::Write as _;
use std::process::Command;
use std::rc::Rc;

mod common;
use common::binary;

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

/// Where single use saves something, a second use is noticed: after a return, after a call, and when frames that were
/// made on top return.
#[test]
fn a_second_use_of_a_one_shot_continuation_is_an_error() {
    let programs = [
        "(define k #f) (define n 0) (call/1cc (lambda (c) (set! k c) 1)) (set! n (+ n 1)) (if (< n 5) (k 2))",
        "(define k #f) (define n 0) (call/1cc (lambda (c) (set! k c) (c 1))) (set! n (+ n 1)) (if (< n 5) (k 2))",
        "(define j #f) (define n 0)
         (define (f k) (+ 1 (call/1cc (lambda (c) (set! j c) (k 1)))))
         (list (call/1cc f)) (set! n (+ n 1)) (if (< n 5) (j 1))",
    ];
    for program in programs {
        let text = format!("(import (scheme base) (cairn control)) {program}");
        let file = std::env::temp_dir().join(format!("one-shot-{}.scm", std::process::id()));
        std::fs::write(&file, &text).unwrap();
        let output = Command::new(binary()).arg("run").arg(&file).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        std::fs::remove_file(&file).unwrap();
        assert!(
            said.contains("a one-shot continuation was") && said.contains("a second time"),
            "{program}: {said}"
        );
        assert!(!output.status.success());
    }
}

type Body = Rc<Vec<Statement>>;

enum Statement {
    Note(usize),
    /// Parameter 0 or 1 gets this value.
    Bind(usize, i64, Body),
    Wind(Body, Body, Body),
    /// Keeps the continuation in a variable, and goes on.
    Capture(usize),
    /// Jumps to the continuation in the variable, if there is one and there is fuel.
    Jump(usize),
    Handle(Body, Body),
    /// The clause, then the body.
    Guard(Body, Body),
    Signal,
    /// A call that is not in tail position.
    Block(Body),
}

use Statement::*;

/// Continuations that a program may keep.
const VARIABLES: usize = 3;
const FUEL: usize = 9;

#[derive(Clone)]
struct Environment {
    parameters: [i64; 2],
    handlers: Option<Rc<Handler>>,
    winds: Option<Rc<Winder>>,
}

struct Handler {
    what: HandlerKind,
    outer: Option<Rc<Handler>>,
}

enum HandlerKind {
    Procedure(Body),
    Guard(Body, Environment, Continuation),
}

struct Winder {
    before: Body,
    after: Body,
    environment: Environment,
    depth: usize,
}

type Continuation = Option<Rc<Item>>;

/// What is left to do.
struct Item {
    what: Work,
    environment: Environment,
    next: Continuation,
}

enum Work {
    /// The statements of a body from here on.
    Run(Body, usize),
    /// The body of this wind has returned.
    Leave(Rc<Winder>),
    /// On the way to a continuation: these are the winds that are in force by now.
    Travel(Continuation, Option<Rc<Winder>>),
}

struct Machine {
    log: String,
    kept: Vec<Option<(Continuation, Option<Rc<Winder>>)>>,
    fuel: usize,
}

fn then(what: Work, environment: &Environment, next: &Continuation) -> Continuation {
    Some(Rc::new(Item { what, environment: environment.clone(), next: next.clone() }))
}

fn same(a: &Option<Rc<Winder>>, b: &Option<Rc<Winder>>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => Rc::ptr_eq(a, b),
        _ => false,
    }
}

fn depth(w: &Option<Rc<Winder>>) -> usize {
    w.as_ref().map_or(0, |w| w.depth)
}

/// The next step from the winds `here` to those of `target`: a thunk, its environment, and the winds after it.
fn step(
    here: &Option<Rc<Winder>>,
    target: &Option<Rc<Winder>>,
) -> Option<(Body, Environment, Option<Rc<Winder>>)> {
    if same(here, target) {
        return None;
    }
    // enter below `target`, unless there is something to leave
    let mut up = target.clone();
    let mut enter = None;
    while depth(&up) > depth(here) {
        enter = up.clone();
        up = up.and_then(|w| w.environment.winds.clone());
    }
    if same(&up, here) {
        let w = enter.expect("the target is deeper");
        return Some((w.before.clone(), w.environment.clone(), Some(w)));
    }
    let w = here.clone().expect("not at the bottom");
    Some((w.after.clone(), w.environment.clone(), w.environment.winds.clone()))
}

impl Machine {
    fn run(&mut self, program: &Body) {
        let start = Environment { parameters: [0, 1000], handlers: None, winds: None };
        let mut at = then(Work::Run(program.clone(), 0), &start, &None);
        while let Some(item) = at {
            at = match &item.what {
                Work::Run(body, i) if *i == body.len() => item.next.clone(),
                Work::Run(body, i) => {
                    // the rest runs in the environment that this statement began in
                    let rest = then(Work::Run(body.clone(), i + 1), &item.environment, &item.next);
                    self.statement(&body[*i], &item.environment, rest)
                }
                Work::Leave(w) => then(Work::Run(w.after.clone(), 0), &w.environment, &item.next),
                Work::Travel(target, to) => match step(&item.environment.winds, to) {
                    None => target.clone(),
                    Some((thunk, environment, winds)) => {
                        let arrived = Environment { winds, ..environment.clone() };
                        let rest = then(Work::Travel(target.clone(), to.clone()), &arrived, &None);
                        // `before` and `after` run outside
                        then(Work::Run(thunk, 0), &environment, &rest)
                    }
                },
            };
        }
    }

    fn statement(&mut self, s: &Statement, e: &Environment, rest: Continuation) -> Continuation {
        let run = |body: &Body, e: &Environment, rest: &Continuation| then(Work::Run(body.clone(), 0), e, rest);
        match s {
            Note(i) => {
                write!(self.log, "({i} {} {})", e.parameters[0], e.parameters[1]).unwrap();
                rest
            }
            Bind(which, value, body) => {
                let mut inner = e.clone();
                inner.parameters[*which] = if *which == 1 { value + 1000 } else { *value };
                run(body, &inner, &rest)
            }
            Wind(before, body, after) => {
                let w = Rc::new(Winder {
                    before: before.clone(),
                    after: after.clone(),
                    environment: e.clone(),
                    depth: depth(&e.winds) + 1,
                });
                let inside = Environment { winds: Some(w.clone()), ..e.clone() };
                let body = run(body, &inside, &then(Work::Leave(w), e, &rest));
                run(before, e, &body)
            }
            Capture(v) => {
                self.kept[*v] = Some((rest.clone(), e.winds.clone()));
                rest
            }
            Jump(v) => match (&self.kept[*v], self.fuel) {
                (Some((k, winds)), 1..) => {
                    self.fuel -= 1;
                    then(Work::Travel(k.clone(), winds.clone()), e, &None)
                }
                _ => rest,
            },
            Handle(handler, body) => {
                let what = HandlerKind::Procedure(handler.clone());
                let handlers = Some(Rc::new(Handler { what, outer: e.handlers.clone() }));
                run(body, &Environment { handlers, ..e.clone() }, &rest)
            }
            Guard(clause, body) => {
                let what = HandlerKind::Guard(clause.clone(), e.clone(), rest.clone());
                let handlers = Some(Rc::new(Handler { what, outer: e.handlers.clone() }));
                run(body, &Environment { handlers, ..e.clone() }, &rest)
            }
            Signal => {
                let h = e.handlers.as_ref().expect("programs have an outermost handler");
                match &h.what {
                    HandlerKind::Procedure(body) => {
                        run(body, &Environment { handlers: h.outer.clone(), ..e.clone() }, &rest)
                    }
                    HandlerKind::Guard(clause, at, k) => {
                        let clause = run(clause, at, k);
                        then(Work::Travel(clause, at.winds.clone()), e, &None)
                    }
                }
            }
            Block(body) => run(body, e, &rest),
        }
    }
}

struct Generator {
    random: Random,
    notes: usize,
    size: usize,
}

impl Generator {
    fn body(&mut self, depth: usize, thunk: bool) -> Body {
        let n = 1 + self.random.below(3usize);
        let mut all: Vec<Statement> = (0..n).map(|_| self.statement(depth, thunk)).collect();
        if self.random.below(2u32) == 0 {
            all.push(self.note());
        }
        Rc::new(all)
    }
    fn note(&mut self) -> Statement {
        self.notes += 1;
        Note(self.notes)
    }
    /// In a thunk of `dynamic-wind` nothing is captured and nothing jumps: R7RS leaves that open.
    fn statement(&mut self, depth: usize, thunk: bool) -> Statement {
        self.size += 1;
        let simple = depth == 0 || self.size > 40;
        let d = depth.saturating_sub(1);
        match self.random.below(if simple { 5 } else { 18u32 }) {
            0 | 1 => self.note(),
            2 | 3 if !thunk => {
                let v = self.random.below(VARIABLES);
                if self.random.below(2u32) == 0 { Capture(v) } else { Jump(v) }
            }
            4 if !thunk => Signal,
            2..=4 => self.note(),
            5..=8 => Wind(self.body(d.min(1), true), self.body(d, thunk), self.body(d.min(1), true)),
            9 | 10 => {
                let (which, value) = (self.random.below(2usize), self.random.below(9i64));
                Bind(which, value, self.body(d, thunk))
            }
            11 => Handle(self.body(d.min(1), thunk), self.body(d, thunk)),
            12 => Guard(self.body(d.min(1), thunk), self.body(d, thunk)),
            13 | 14 => Block(self.body(d, thunk)),
            _ => {
                // a body that is entered again later
                let v = self.random.below(VARIABLES);
                let inner = self.body(d, thunk);
                let first = if thunk { self.note() } else { Capture(v) };
                let mut w = Wind(self.body(0, true), Rc::new(vec![first, Block(inner)]), self.body(0, true));
                if self.random.below(3u32) > 0 {
                    // in another state than what jumps there
                    w = Bind(self.random.below(2usize), 10 + self.random.below(9i64), Rc::new(vec![w]));
                }
                if thunk {
                    return w;
                }
                let mut jump = Jump(v);
                if self.random.below(3u32) == 0 {
                    jump = Bind(self.random.below(2usize), 20 + self.random.below(9i64), Rc::new(vec![jump]));
                }
                Block(Rc::new(vec![w, jump]))
            }
        }
    }
}

fn scheme(body: &Body) -> String {
    let mut out = String::new();
    for s in body.iter() {
        let text = match s {
            Note(i) => format!("(note {i})"),
            Bind(which, value, b) => format!("(parameterize ((p{which} {value})) {})", scheme(b)),
            Wind(b, t, a) => {
                format!(
                    "(dynamic-wind (lambda () {}) (lambda () {}) (lambda () {}))",
                    scheme(b),
                    scheme(t),
                    scheme(a)
                )
            }
            Capture(v) => format!("(call/cc (lambda (c) (set! k{v} c)))"),
            Jump(v) => format!("(if (and k{v} (< 0 fuel)) (begin (set! fuel (- fuel 1)) (k{v} #f)))"),
            Handle(h, b) => {
                format!("(with-exception-handler (lambda (x) {}) (lambda () {}))", scheme(h), scheme(b))
            }
            Guard(c, b) => format!("(guard (x (#t {})) {})", scheme(c), scheme(b)),
            Signal => "(raise-continuable 'signal)".into(),
            Block(b) => format!("(let ((r (begin {} 0))) (if (eqv? r 1) (note 0)))", scheme(b)),
        };
        out += &text;
        out.push(' ');
    }
    out + "0"
}

/// A program of random tests, and what it must write.
fn program(seeds: std::ops::Range<u64>) -> (String, String) {
    let mut text = String::from(
        "(import (scheme base) (scheme write))
        (define p0 (make-parameter 0)) (define p1 (make-parameter 0 (lambda (x) (+ x 1000))))
        (define fuel 0) (define k0 #f) (define k1 #f) (define k2 #f)
        (define (note i) (write (list i (p0) (p1))))
        (define (test seed thunk)
          (write seed)
          (set! fuel 9) (set! k0 #f) (set! k1 #f) (set! k2 #f)
          (let ((done 0)) (thunk) (newline)))\n",
    );
    let mut want = String::new();
    for seed in seeds {
        let mut g = Generator { random: Random::seeded(seed), notes: 0, size: 0 };
        let top = Rc::new(vec![Note(0)]);
        let body = Rc::new(vec![Handle(top, g.body(5, false))]);
        let mut m = Machine { log: String::new(), kept: vec![None; VARIABLES], fuel: FUEL };
        m.run(&body);
        writeln!(want, "{seed}{}", m.log).unwrap();
        writeln!(text, "(test {seed} (lambda () {}))", scheme(&body)).unwrap();
    }
    (text, want)
}

fn check(name: &str, seeds: std::ops::Range<u64>, flags: &[&str], zeal: bool) {
    let (text, want) = program(seeds);
    let folder = std::env::temp_dir().join(format!("cairn-control-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("control.scm");
    std::fs::write(&file, &text).unwrap();
    let mut command = Command::new(binary());
    command.arg("run").args(flags).arg(&file).env("CAIRN_CACHE_DIR", folder.join("cache"));
    let output = command.env("CAIRN_ZEAL", if zeal { "1" } else { "0" }).output().unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    let said = String::from_utf8_lossy(&output.stdout);
    for (said, want) in said.lines().zip(want.lines()) {
        let number = want.split('(').next().unwrap();
        let test = text.lines().find(|l| l.starts_with(&format!("(test {number} "))).unwrap_or("");
        assert_eq!(said, want, "{flags:?}\n{test}");
    }
    assert_eq!(said.lines().count(), want.lines().count(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn dynamic_state_under_jumps() {
    check("chunks", 0..26, &["--opt=high"], false);
}

#[test]
fn dynamic_state_under_jumps_with_frames_in_the_heap() {
    check("heap", 60..80, &["--frames=heap", "--opt=low"], false);
}

#[test]
fn dynamic_state_under_jumps_and_collections() {
    check("zeal", 110..124, &["--opt=low"], true);
}
