//! Whole programs under Core's interpreter, after each pass of the optimizer: what they note must stay the same.
//!
//! The program is expanded with the real library, in this process; the first form of it that runs is what the first
//! `shake` leaves. So a fault is found where it arises, with the name of the pass. Control that enters a continuation
//! again is not to be had in the interpreter; the other fuzzers have it.
//!
//! `CAIRN_FUZZ_SECONDS`, `CAIRN_FUZZ_SEED` and `CAIRN_FUZZ_BATCH` as everywhere.

use crate::common::root;
use crate::{generate, number, shrink};

use cairn_core::interp::{Notes, run_whole};
use cairn_core::passes::{Opt, optimize};
use cairn_syntax::{LibraryName, Loader, Session};
use std::time::{Duration, Instant};

/// Steps of a form.
const FUEL: usize = 300_000;

/// The libraries of the source tree.
struct Tree;

impl Loader for Tree {
    fn load_library(&mut self, name: &LibraryName) -> Result<Option<(String, String)>, String> {
        for folder in ["lib", "lib/more"] {
            let path = root().join(format!("{folder}/{}.sld", name.path()));
            if path.exists() {
                let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
                return Ok(Some((path.to_string_lossy().into_owned(), text)));
            }
        }
        Ok(None)
    }

    fn load_include(&mut self, from: &str, path: &str) -> Result<(String, String), String> {
        let full = std::path::Path::new(from).with_file_name(path);
        let text = std::fs::read_to_string(&full).map_err(|e| e.to_string())?;
        Ok((full.to_string_lossy().into_owned(), text))
    }
}

/// The prelude, in which each input of a test is a form of its own, and what is seen is noted.
fn prelude() -> String {
    let text = generate::PRELUDE;
    let imports = text.replacen("(import ", "(import (only (cairn primitives) %write-object) ", 1);
    // a condition holds the place where it arose, and a message the name of a procedure, which passes may change
    let imports = imports.replacen("(list 'failure (error-object-message e))", "'failure", 1);
    let imports = imports.replacen(
        "((procedure? x) 'procedure)",
        "((error-object? x) 'condition) ((procedure? x) 'procedure)",
        1,
    );
    let end = imports.find("; what no optimizer knows").expect("inputs come after the procedures");
    format!(
        "{}(define in-n 0)
(define in-x 0)
(define (attempt thunk)
  (call/cc (lambda (k) (with-exception-handler (lambda (e) (k (describe e))) thunk))))
(define (observe name thunk)
  (set! notes '())
  (let ((result (attempt thunk)))
    (%write-object (list name (show result) (show notes)) '() 1)))
(define-syntax test
  (syntax-rules ()
    ((_ number thunk)
     (begin
       (test1 number thunk 0 0.0)
       (test1 number thunk -1 1/2)
       (test1 number thunk 1152921504606846975 -0.0)
       (test1 number thunk 7 1e300)
       (test1 number thunk -1152921504606846976 +nan.0)))))
(define-syntax test1
  (syntax-rules ()
    ((_ number thunk n x)
     (begin (set! in-n n) (set! in-x x) (observe number (lambda () (thunk in-n in-x)))))))
",
        &imports[..end]
    )
}

/// Why a program does not stay the same, if so; else how many notes there were to compare, and why no more.
fn check(forms: &[String], level: Opt) -> Result<Notes, String> {
    let text = format!("{}{}\n", prelude(), forms.join("\n"));
    let expanded = Session::new().expand_program("fuzz.scm", &text, &mut Tree);
    let mut program = match expanded {
        Ok(expanded) => expanded.program,
        Err(failure) => {
            return Err(format!("no program: {}", failure.errors.first().map_or("", |e| e.message.as_str())));
        }
    };
    let mut before: Option<Notes> = None;
    let mut wrong = None;
    optimize(&mut program, level, true, &mut |pass, program| {
        if pass == "source" || wrong.is_some() {
            return;
        }
        let after = run_whole(program, if before.is_some() { 10 * FUEL } else { FUEL });
        match &before {
            None => before = Some(after),
            Some(before) if after.follow(before) => {}
            Some(before) => {
                let i = (0..).find(|i| before.notes.get(*i) != after.notes.get(*i)).unwrap_or_default();
                let shown = |n: &Notes| format!("{:?} {:?}", n.notes.get(i), n.end);
                wrong = Some(format!("pass `{pass}`:\n{}\n{}", shown(before), shown(&after)));
            }
        }
    });
    match wrong {
        Some(wrong) => Err(wrong),
        None => Ok(before.expect("`shake` is the first pass")),
    }
}

#[test]
fn whole_programs_stay_the_same_pass_by_pass() {
    let first = number("CAIRN_FUZZ_SEED").unwrap_or(1);
    let batch = number("CAIRN_FUZZ_BATCH").unwrap_or(12);
    let end = number("CAIRN_FUZZ_SECONDS").map(|s| Instant::now() + Duration::from_secs(s));
    let (mut tried, mut tests, mut noted, mut seed) = (0, 0, 0, first);
    let start = Instant::now();
    let mut problems = vec![];
    while end.map_or(seed == first, |end| Instant::now() < end) {
        let mut generator = generate::Generator::new(seed);
        let (mut forms, mut own) = (vec![], 0);
        for _ in 0..batch {
            let (more, n) = generator.whole(own, false);
            forms.extend(more);
            own += n;
        }
        let level = if seed.is_multiple_of(4) { Opt::Low } else { Opt::High };
        match check(&forms, level) {
            Ok(notes) => {
                (tests, noted) = (tests + own * super::INPUTS, noted + notes.notes.len());
                if let Some(end) = notes.end {
                    eprintln!("seed {seed} ends after {} notes: {end:?}", notes.notes.len());
                }
            }
            Err(wrong) => {
                eprintln!("seed {seed}: {wrong}\nmaking it smaller");
                let pass = wrong.lines().next().unwrap_or_default().to_string();
                let small = shrink::shrink(forms, |f| check(f, level).is_err_and(|w| w.starts_with(&pass)));
                problems.push(format!("seed {seed}: {wrong}\n--- after the prelude\n{}", small.join("\n")));
                eprintln!("{}\n", problems.last().expect("one was added"));
            }
        }
        tried += batch;
        seed += 1;
    }
    let rate = tried as f64 / start.elapsed().as_secs_f64();
    eprintln!("{tried} programs pass by pass, {noted} notes in {tests} tests, {rate:.1} a second");
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    assert!(noted * 2 > tests, "{noted} notes in {tests} tests");
}
