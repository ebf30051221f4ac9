//! Random texts and programs for the reader and the expander.
//!
//! Nothing may panic, the places of messages and data lie in the text, valid data read back what they print, and what
//! expands passes the verifier of Core (`expand_text` runs it). `cargo test` makes a fixed number of rounds;
//! `CAIRN_FUZZ_SECONDS=600` goes on for so long, from the seed `CAIRN_FUZZ_SEED` on. `CAIRN_FUZZ_SEEDS=directory` takes
//! other programs to break. A failing text is in the message; keep it as a golden file.

#![allow(missing_docs)]
mod common;
use cairn_syntax::Span;
use cairn_syntax::read::{read_all, show};
use cairn_syntax::syntax::{Datum, Names, Syntax};
use common::*;
use std::time::{Duration, Instant};

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Runs `f` in some rounds, or for the time that was asked for.
fn rounds(usual: u64, mut f: impl FnMut(u64, &mut Random)) {
    let first = number("CAIRN_FUZZ_SEED").unwrap_or(1);
    let end = number("CAIRN_FUZZ_SECONDS").map(|s| Instant::now() + Duration::from_secs(s));
    for i in 0.. {
        if end.map_or(i >= usual, |end| Instant::now() >= end) {
            break;
        }
        let mut random = Random::seeded(first + i);
        random.next();
        f(i, &mut random);
    }
}

/// Golden inputs of a folder.
fn seeds(folder: &str) -> Vec<String> {
    let seeds = match std::env::var_os("CAIRN_FUZZ_SEEDS") {
        None => golden::sources(&root().join("tests/golden").join(folder)),
        Some(dir) => {
            let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
            files.retain(|p| p.extension().is_some_and(|e| e == "scm"));
            files.sort();
            files.iter().map(|p| std::fs::read_to_string(p).unwrap()).collect()
        }
    };
    assert!(!seeds.is_empty(), "no seeds for {folder}");
    seeds
}

const TOKENS: &[&str] = &[
    "(",
    ")",
    "[",
    "'",
    "`",
    ",",
    ",@",
    "#(",
    "#u8(",
    "#;",
    "#|",
    "|#",
    "|",
    "\"",
    "\\",
    "#\\",
    "#\\x",
    "#\\spac",
    ".",
    "...",
    "#0=",
    "#0#",
    "#1=",
    "#1#",
    "#99999999999999999999=",
    "a",
    "λ",
    "é",
    "\u{a0}",
    "\u{feff}",
    "#!fold-case",
    "#!eof",
    "#!x",
    "1",
    "1/2",
    "1e400",
    "+i",
    "#xFF",
    "#e1.5",
    "#d",
    "-",
    " ",
    "\n",
    "\r\n",
    ";",
    "255",
    "256",
    "\\x41;",
    "\\x",
    "\\\n  ",
    "\0",
    "#",
    "#t",
    "#tr",
    "1.5e3",
    "+inf.0",
    "-nan.0",
];

fn check_span(span: Span, text: &str) {
    let (start, end) = (span.start as usize, span.end as usize);
    assert!(start <= end && end <= text.len(), "{text:?}: {span:?}");
    assert!(text.is_char_boundary(start) && text.is_char_boundary(end), "{text:?}: {span:?}");
}

fn check_spans(x: &Syntax, text: &str) {
    check_span(x.span, text);
    if let Datum::List(items) | Datum::Dotted(items) | Datum::Vector(items) | Datum::Labeled(_, items) = &x.datum {
        items.iter().for_each(|i| check_spans(i, text));
    }
}

fn read_anything(text: &str, fold_case: bool) {
    let mut names = Names::default();
    match read_all(0, text, &mut names, fold_case) {
        Ok(data) => {
            for x in &data {
                check_spans(x, text);
                assert!(!show(x, &names).is_empty(), "{text:?}");
            }
        }
        Err(e) => {
            check_span(e.span, text);
            e.notes.iter().for_each(|(span, _)| check_span(*span, text));
        }
    }
}

#[test]
fn token_soup_reads_or_fails() {
    rounds(20_000, |_, r| {
        let text: String = (0..r.below(24)).map(|_| r.pick(TOKENS)).collect();
        read_anything(&text, r.below(2) == 0);
    });
}

#[test]
fn broken_bytes_read_or_fail() {
    let seeds = seeds("reader");
    rounds(3_000, |i, r| {
        let mut bytes = if i % 4 == 0 {
            (0..r.below(60)).map(|_| r.below(256) as u8).collect()
        } else {
            let seed = seeds[r.below(seeds.len())].as_bytes();
            let start = r.below(seed.len());
            seed[start..seed.len().min(start + r.below(400))].to_vec()
        };
        for _ in 0..r.below(8).min(bytes.len()) {
            let at = r.below(bytes.len());
            match r.below(3) {
                0 => bytes[at] = r.below(256) as u8,
                1 => bytes.insert(at, b"()#\"|;\\'.=0x "[r.below(13)]),
                _ => bytes.truncate(at.max(1)),
            }
        }
        read_anything(&String::from_utf8_lossy(&bytes), r.below(2) == 0);
    });
}

/// Text of a random datum. `labels` holds the labels defined so far, and those around it.
fn datum(r: &mut Random, depth: usize, labels: &mut Vec<u32>) -> String {
    let atoms = [
        "a",
        "list->vector",
        "|a b|",
        "||",
        "+",
        "...",
        "λ",
        "1",
        "-17",
        "1/3",
        "2.5",
        "1e21",
        "+i",
        "1-2.5i",
        "+inf.0",
        "123456789012345678901234567890",
        "#t",
        "#f",
        "()",
        "#\\a",
        "#\\space",
        "#\\x41",
        "#\\λ",
        "\"\"",
        "\"a\\\"b\\\\\"",
        "\"λ\\n\"",
        "#u8()",
        "#u8(0 255)",
    ];
    if depth == 0 || r.below(4) == 0 {
        return match labels.len() {
            n if n > 0 && r.below(3) == 0 => format!("#{}#", labels[r.below(n)]),
            _ => r.pick(&atoms).to_string(),
        };
    }
    let items = |r: &mut Random, least: usize, labels: &mut Vec<u32>| -> String {
        let n = least + r.below(4);
        (0..n)
            .map(|_| datum(r, depth - 1, labels))
            .collect::<Vec<_>>()
            .join(r.pick(&[" ", "\n", " ;c\n", " #|c|# ", " #;x "]))
    };
    match r.below(8) {
        0..=2 => format!("({})", items(r, 0, labels)),
        3 => format!("({} . {})", items(r, 1, labels), datum(r, depth - 1, labels)),
        4 => format!("#({})", items(r, 0, labels)),
        5 => format!("{}{}", r.pick(&["'", "`", ",", ",@"]), datum(r, depth - 1, labels)),
        _ => {
            let n = labels.iter().max().map_or(0, |n| n + 1 + r.below(3) as u32);
            labels.push(n);
            format!("#{n}=({})", items(r, 1, labels))
        }
    }
}

#[test]
fn data_read_back() {
    rounds(3_000, |_, r| {
        let text = datum(r, 5, &mut Vec::new());
        let mut names = Names::default();
        let mut shown = |text: &str| match read_all(0, text, &mut names, false) {
            Ok(data) => {
                assert_eq!(data.len(), 1, "{text}");
                check_spans(&data[0], text);
                show(&data[0], &names)
            }
            Err(e) => panic!("{text}: {e:?}"),
        };
        let first = shown(&text);
        assert_eq!(shown(&first), first, "{text}");
        // any datum can be quoted
        let out = expand_text("t.scm", &format!("(display '{text})"), &mut Memory::stub());
        assert!(!out.contains("error: "), "{text}: {out}");
    });
}

fn expand(text: &str) -> String {
    let start = Instant::now();
    let out = expand_text("t.scm", text, &mut Memory::stub());
    let taken = start.elapsed();
    assert!(taken.as_secs() < 20, "expansion took {taken:?}: {text}");
    out
}

/// Swaps, drops, repeats and replaces some tokens, and balances the parentheses again.
fn broken(r: &mut Random, text: &str) -> String {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let mut tokens: Vec<&str> =
        spaced.lines().map(|l| l.split(';').next().unwrap_or("")).flat_map(str::split_whitespace).collect();
    let start = r.below(tokens.len());
    tokens.rotate_left(start);
    tokens.truncate(400);
    for _ in 0..1 + r.below(12) {
        let (i, j) = (r.below(tokens.len()), r.below(tokens.len()));
        match r.below(4) {
            0 => tokens.swap(i, j),
            1 if tokens.len() > 1 => drop(tokens.remove(i)),
            2 => tokens.insert(i, tokens[j]),
            _ => {
                tokens[i] = r.pick(&[
                    "...",
                    "_",
                    ".",
                    "define",
                    "syntax-rules",
                    "else",
                    "=>",
                    "'",
                    "`",
                    ",@",
                    "#(",
                    "#0=",
                    "#0#",
                ])
            }
        }
    }
    let mut depth = 0usize;
    let mut out = String::new();
    for t in tokens {
        match t {
            "(" | "#(" => depth += 1,
            ")" if depth == 0 => continue,
            ")" => depth -= 1,
            _ => {}
        }
        out += t;
        out.push(' ');
    }
    out + &")".repeat(depth)
}

#[test]
fn broken_programs_expand_or_fail() {
    let seeds = seeds("expander");
    rounds(600, |_, r| {
        let seed = r.below(seeds.len());
        let text = broken(r, &seeds[seed]);
        expand(&text);
    });
}

/// Macros that every random program has: binding, repeating, defining, defining macros, with literals.
const MACROS: &str = "
    (define-syntax swap! (syntax-rules () ((_ a b) (let ((t a)) (set! a b) (set! b t)))))
    (define-syntax my-or (syntax-rules () ((_) #f) ((_ e) e) ((_ e r ...) (let ((t e)) (if t t (my-or r ...))))))
    (define-syntax my-let (syntax-rules () ((_ ((n v) ...) b ...) ((lambda (n ...) b ...) v ...))))
    (define-syntax rows (syntax-rules () ((_ (a b ...) ...) (list '(a (b b) ...) ...))))
    (define-syntax def (syntax-rules () ((_ n v) (begin (define t v) (define n t)))))
    (define-syntax constant (syntax-rules () ((_ n v) (define-syntax n (syntax-rules () ((_) v))))))
    (define-syntax pick (syntax-rules (left right) ((_ left a b) a) ((_ right a b) b)))
    (define-syntax ring (syntax-rules () ((_ x ...) '#0=(x ... #1=(x ...) #1# . #0#))))\n";

/// A random expression over the variables in scope.
fn expression(r: &mut Random, depth: usize, scope: &mut Vec<String>) -> String {
    if depth == 0 || r.below(6) == 0 {
        return match r.below(3) {
            0 if !scope.is_empty() => scope[r.below(scope.len())].clone(),
            1 => r.below(100).to_string(),
            _ => r.pick(&["'()", "\"s\"", "#t", "'(a . b)", "'#(1 (2))", "car"]).to_string(),
        };
    }
    let mut e = |r: &mut Random, scope: &mut Vec<String>| expression(r, depth - 1, scope);
    let name = r.pick(&["x", "y", "t", "if", "list", "tmp"]).to_string();
    // `body` sees the name
    let within = |r: &mut Random,
                  scope: &mut Vec<String>,
                  body: &mut dyn FnMut(&mut Random, &mut Vec<String>) -> String| {
        scope.push(name.clone());
        let text = body(r, scope);
        scope.pop();
        text
    };
    // what shadows `if` or `list` spoils the rest of the program: those names stay at small bodies
    let safe = matches!(&*name, "x" | "y" | "t" | "tmp");
    match r.below(15) {
        0 => format!("(if {} {} {})", e(r, scope), e(r, scope), e(r, scope)),
        1 => format!("(my-or {} {})", e(r, scope), e(r, scope)),
        2 if safe => {
            let v = e(r, scope);
            format!("(let (({name} {v})) {})", within(r, scope, &mut e))
        }
        3 if safe => {
            let v = e(r, scope);
            format!("(my-let (({name} {v})) {})", within(r, scope, &mut e))
        }
        4 if safe => format!("(lambda ({name} . rest) {})", within(r, scope, &mut e)),
        5 if safe => {
            let v = e(r, scope);
            format!("(let () (def {name} {v}) {})", within(r, scope, &mut e))
        }
        6 if safe => format!("(letrec (({name} (lambda () {}))) {name})", within(r, scope, &mut e)),
        7 => format!("(let (({name} 1) (other 2)) (swap! {name} other) {name})"),
        8 => {
            let label = r.below(1_000_000_000); // of its own within the whole program
            format!("`({name} ,{} ,@(list {}) #{label}=(q) #{label}#)", e(r, scope), e(r, scope))
        }
        9 => format!("(rows ({name} 1 2) (b) ({name} {}))", r.below(9)),
        10 => format!("(let () (constant k {}) (k))", e(r, scope)),
        11 => format!("(pick {} {} {})", r.pick(&["left", "right"]), e(r, scope), e(r, scope)),
        12 => format!("(ring {name} {})", r.below(9)),
        13 => {
            // inner macros stand in the templates of outer ones: names of their own
            let n = r.below(1_000_000_000);
            let v = e(r, scope);
            format!("(let-syntax ((m{n} (syntax-rules () ((_ v{n}) (list v{n} {v}))))) (m{n} {}))", e(r, scope))
        }
        _ => format!("(list {} {})", e(r, scope), e(r, scope)),
    }
}

#[test]
fn random_programs_expand() {
    rounds(400, |_, r| {
        let mut text = String::new();
        let mut scope = Vec::new();
        let mut names = Vec::new();
        for i in 0..r.below(3) {
            text += &format!(
                "(define-library (lib {i}) (import (scheme base)) (export v{i} (rename hidden w{i}) m{i})
                   (begin (define v{i} {}) (define (hidden x) (list x v{i}))
                          (define-syntax m{i} (syntax-rules () ((_ x) (hidden x))))))\n",
                r.below(9)
            );
            names.push(i);
        }
        text += "(import (scheme base)";
        for i in &names {
            text += &match r.below(3) {
                0 => format!(" (lib {i})"),
                1 => format!(" (only (lib {i}) v{i} w{i} m{i})"),
                _ => format!(" (prefix (rename (lib {i}) (v{i} u)) p{i}-)"),
            };
        }
        text += ")\n";
        text += MACROS;
        for i in 0..2 + r.below(5) {
            let value = expression(r, 5, &mut scope);
            text += &format!("(define g{i} {value})\n");
            scope.push(format!("g{i}"));
        }
        text += &expression(r, 6, &mut scope);
        let out = expand(&text);
        assert!(!out.starts_with("error: ") && !out.contains("\nerror: "), "{text}\n{out}");
        expand(&broken(r, &text));
    });
}
