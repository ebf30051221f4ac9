//! The expander against golden files, on public programs, and on broken programs.

#![allow(missing_docs)]
mod common;
use common::*;

#[test]
fn golden() {
    for_each_golden("expander", |name, text| expand_text(name, text, &mut Memory::stub()));
}

#[test]
fn try_file() {
    let Ok(path) = std::env::var("CAIRN_TRY") else { return };
    for path in path.split(':') {
        let text = std::fs::read_to_string(path).unwrap();
        let start = std::time::Instant::now();
        let mut m = Memory { real: true, ..Memory::default() };
        m.add("(define-library (chibi test) (import (scheme base) (scheme write)) (export test test-begin test-end test-values test-error test-assert test-numeric-syntax)
          (begin (define (test-begin . o) #f) (define (test-end . o) #f)
           (define-syntax test (syntax-rules () ((_ e x) (test #f e x)) ((_ n e x) (let ((r x)) (if (equal? r e) #t (begin (display \"FAIL\") (write 'x)))))))
           (define-syntax test-values (syntax-rules () ((_ e x) (test (call-with-values (lambda () e) list) (call-with-values (lambda () x) list)))))
           (define-syntax test-error (syntax-rules () ((_ e) e)))
           (define-syntax test-assert (syntax-rules () ((_ e) (test #t e)) ((_ n e) (test #t e))))))");
        let r = cairn_syntax::Session::new().expand_program(path, &text, &mut m);
        println!("{path}: {:?}", start.elapsed());
        match r {
            Ok(x) => {
                println!(
                    "{} forms {} globals {} vars",
                    x.program.forms.len(),
                    x.program.globals.len(),
                    x.program.vars.len()
                );
                for w in &x.warnings {
                    print!("warning: {}", render(w, &x.sources));
                }
            }
            Err(f) => {
                for d in &f.errors {
                    print!("error: {}", render(d, &f.sources));
                }
            }
        }
    }
}

fn expand(text: &str) -> String {
    expand_text("t.scm", text, &mut Memory::stub())
}

/// The last line of the expansion.
#[track_caller]
fn check(text: &str, expected: &str) {
    let actual = expand(text);
    assert_eq!(actual.lines().last().unwrap_or(""), expected, "source: {text}\nwhole expansion:\n{actual}");
}

#[test]
fn deep_nesting() {
    for (n, open, inner, close) in [
        (100_000, "(car ", "1", ")"),
        (10_000, "(if 1 ", "2", ")"),
        (10_000, "(let ((x 1)) ", "x", ")"),
        (10_000, "(lambda (x) ", "x", ")"),
        (10_000, "(cond (#f 1) (else ", "2", "))"),
        (10_000, "`(1 ,", "2", ")"),
        (10_000, "'(", "1", ")"),
        (10_000, "'#(", "1", ")"),
        (30_000, "(my-or #f ", "1", ")"),
        (10_000, "(begin 1 ", "1", ")"),
    ] {
        let text = format!(
            "(define-syntax my-or (syntax-rules () ((_) #f) ((_ e) e) ((_ e r ...) (let ((t e)) (if t t (my-or r ...))))))\n{}{inner}{}",
            open.repeat(n),
            close.repeat(n)
        );
        let r = cairn_syntax::expand_program("deep.scm", &text, &mut Memory::stub());
        match r {
            Ok(x) => std::mem::forget(x), // Core's own drop recurses
            Err(e) => panic!("{open}: {e:?}"),
        }
    }
}

#[test]
fn endless_expansion_is_an_error() {
    let text = "(define-syntax m (syntax-rules () ((_ x) (m x)))) (m 1)";
    assert!(expand(text).contains("the expansion of `m` does not end"));
    let text = "(define-syntax m (syntax-rules () ((_ x) (car (m x))))) (m 1)";
    assert!(expand(text).contains("the expansion of `m` does not end"));
}

#[test]
fn redefined_imports() {
    // Functions only: the program's own definition is the only one.
    check("(define (f x) (list x)) (define (list . xs) xs)", "(define list (lambda:list (. xs.26) xs.26))");
}

#[test]
fn broken_programs_never_panic() {
    let dir = root().join("tests/golden/expander");
    let mut seeds = Vec::new();
    for e in std::fs::read_dir(dir).unwrap() {
        let p = e.unwrap().path();
        if p.extension().is_some_and(|e| e == "scm") {
            seeds.push(std::fs::read_to_string(p).unwrap());
        }
    }
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % n
    };
    for round in 0..600 {
        let seed = &seeds[round % seeds.len()];
        // split into tokens, then swap, drop, repeat some
        let spaced = seed.replace('(', " ( ").replace(')', " ) ");
        let mut tokens: Vec<&str> =
            spaced.lines().map(|l| l.split(';').next().unwrap_or("")).flat_map(str::split_whitespace).collect();
        let start = below(tokens.len());
        tokens.rotate_left(start);
        tokens.truncate(400);
        for _ in 0..1 + below(12) {
            let (i, j) = (below(tokens.len()), below(tokens.len()));
            match below(4) {
                0 => tokens.swap(i, j),
                1 => {
                    tokens.remove(i);
                }
                2 => tokens.insert(i, tokens[j]),
                _ => {
                    tokens[i] =
                        ["...", "_", ".", "define", "syntax-rules", "else", "=>", "'", "`", ",@", "#("][below(11)]
                }
            }
        }
        // balance what can be balanced, so that the reader does not stop everything
        let mut depth = 0usize;
        let mut text = String::new();
        for t in tokens {
            match t {
                "(" | "#(" => depth += 1,
                ")" if depth == 0 => continue,
                ")" => depth -= 1,
                _ => {}
            }
            text += t;
            text.push(' ');
        }
        text += &")".repeat(depth);
        expand(&text);
    }
}
