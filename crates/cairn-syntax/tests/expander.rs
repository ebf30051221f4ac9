//! The expander against golden files, and on deep, long and endless programs.

#![allow(missing_docs)]
mod common;
use common::*;

#[test]
fn golden() {
    golden::check_folder("expander", |case| {
        expand_text(file_name(case), &format!("{}\n", case.source), &mut Memory::stub())
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

/// Branches of an expansion count together, whoever makes the data, and the message names the macro use that the user
/// wrote.
#[test]
fn doublings_are_bounded() {
    let macros = "(define-syntax twice (syntax-rules () ((_ () x) (list x))
                    ((_ (a b ...) x) (begin (twice (b ...) x) (twice (b ...) x)))))";
    let quoted = format!("(define x '({}))", "z ".repeat(100_000));
    let body = format!("(f {})", "z ".repeat(500));
    for (steps, x, more) in [(26, "1", ""), (8, &body[..], ""), (3, "1", &quoted[..])] {
        let numbers: String = (0..steps).map(|i| format!("{i} ")).collect();
        let text = format!("{macros}{more}\n(twice ({numbers}) {x})");
        let mut session = cairn_syntax::Session::new();
        session.limit_expansion(50_000);
        match session.expand_program("t.scm", &text, &mut Memory::stub()) {
            Ok(_) => assert!(!more.is_empty(), "{steps}"),
            Err(failed) => {
                let [d] = &failed.errors[..] else { panic!("{failed:?}") };
                assert_eq!(d.message, "the expansion of `twice` does not end, or makes more than 50000 data");
                assert!(text[d.span.start as usize..].starts_with("(twice (0 1 "));
                assert!(more.is_empty());
            }
        }
    }
}
