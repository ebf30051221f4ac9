//! The expander against golden files, on public programs, and on broken programs.

#![allow(missing_docs)]
mod common;
use common::*;

#[test]
fn golden() {
    // lines of `;;;;` separate independent programs
    for_each_golden("expander", |name, text| {
        let parts: Vec<_> = text.split(";;;;\n").map(|t| expand_text(name, t, &mut Memory::stub())).collect();
        parts.join("--\n")
    });
}

fn expand(text: &str) -> String {
    expand_text("t.scm", text, &mut Memory::stub())
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
        if let Err(e) = r {
            panic!("{open}: {e:?}");
        }
    }
}

#[test]
fn long_data() {
    let n = 1_000_000;
    let text = format!("(define x '({})) (define y `({} ,x))", "1 ".repeat(n), "2 ".repeat(n / 10));
    let r = cairn_syntax::expand_program("long.scm", &text, &mut Memory::stub());
    assert!(r.is_ok());
}

#[test]
fn many_labels() {
    // each label doubles what the one before stands for
    let doubling: String = (1..60).map(|i| format!("#{i}=(#{0}# #{0}#) ", i - 1)).collect();
    for text in ["'(#0=(a) ", "(list #0=(a) ", "(define-syntax m (syntax-rules () ((_) '(#0=(a) "] {
        let open = text.matches('(').count() - text.matches(')').count();
        let text = format!("{text}{doubling}{}", ")".repeat(open));
        assert!(expand(&text).contains("the labels make this form too large"), "{text}");
    }
    let n = 100_000;
    let nested: String = (0..n).map(|i| format!("#{i}=(")).collect();
    for tail in ["#0#", "x"] {
        let text = format!("(define x '{nested}{tail}{})", ")".repeat(n));
        assert!(cairn_syntax::expand_program("deep.scm", &text, &mut Memory::stub()).is_ok());
    }
    let text = format!("(define x '#0=({}. #0#))", "a ".repeat(n));
    assert!(cairn_syntax::expand_program("long.scm", &text, &mut Memory::stub()).is_ok());
}

#[test]
fn endless_expansion_is_an_error() {
    let text = "(define-syntax m (syntax-rules () ((_ x) (m x)))) (m 1)";
    assert!(expand(text).contains("the expansion of `m` does not end"));
    for body in ["(car (m x))", "(begin (m x) (m x))", "(if (m x) (m (x x)) (m x))", "(m (x x))", "((m 1) x)"] {
        let text = format!("(define-syntax m (syntax-rules () ((_ x) {body}))) (list (m 1)) (let () (m 2) 3)");
        assert!(expand(&text).contains("the expansion of `m` does not end"), "{body}");
    }
    let text = "(define-syntax m (syntax-rules () ((_ x ...) (m x ... x ...)))) (m 1)";
    assert!(expand(text).contains("the expansion of `m` does not end"));
}

#[test]
fn broken_programs_never_panic() {
    // CAIRN_FUZZ_SEEDS=directory takes other programs to break
    let dir = std::env::var_os("CAIRN_FUZZ_SEEDS").map_or(root().join("tests/golden/expander"), Into::into);
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
    // CAIRN_FUZZ_ROUNDS=100000 digs deeper
    let rounds = std::env::var("CAIRN_FUZZ_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    for round in 0..rounds {
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
        let start = std::time::Instant::now();
        expand(&text);
        let taken = start.elapsed();
        assert!(taken.as_secs() < 20, "round {round} took {taken:?}: {text}");
    }
}
