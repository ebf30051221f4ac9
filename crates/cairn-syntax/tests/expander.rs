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
