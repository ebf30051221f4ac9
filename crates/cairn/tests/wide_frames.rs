//! Frames of every width, deep in the stack, across collections and captures.
//!
//! The limits at which wide frames are treated differently (bits of a live map, words of a bit set, the part of a chunk
//! that needs no check) are constants of several crates; here widths are tried around powers of two, at every phase of
//! a chunk. What the live variables must hold after the call is computed here.

use std::fmt::Write as _;
use std::process::Command;

mod common;
use common::binary;
use common::matrix::{self, Configuration};

const PRELUDE: &str = r#"
(import (scheme base) (scheme write))
(define kept '())
(define k #f)
(define again 0)
(define (churn) (do ((i 0 (+ i 1)) (l '() (cons i l))) ((= i 40) (set! kept l))))
;; Frames of three words, to come to the next wide one at another place of the chunk.
(define (pad n thunk) (if (= n 0) (thunk) (let ((r (pad (- n 1) thunk))) (if (vector? r) (car r) r))))
;; Elements are lists (n i), strings or doubles, by their index; all must be what they were.
(define (sum v n)
  (let loop ((i 0) (total 0))
    (if (= i (vector-length v))
        total
        (let ((x (vector-ref v i)))
          (loop (+ i 1)
                (+ total
                   (cond ((pair? x) (if (eqv? (car x) n) (cadr x) -1000000))
                         ((string? x) (if (string=? x (number->string (+ n i))) i -1000000))
                         ((flonum? x) (exact (- x n .25)))
                         (else -1000000))))))))
(define (elements n width)
  (let loop ((i (- width 1)) (l '()))
    (if (< i 0)
        l
        (loop (- i 1)
              (cons (case (modulo i 7) ((3) (number->string (+ n i))) ((5) (+ n i .25)) (else (list n i))) l)))))
(define (flonum? x) (and (number? x) (inexact? x)))
(define (bottom) (churn) (call/cc (lambda (c) (set! k c))) (churn) 0)
"#;

/// A procedure with this many variables that are live across a call of itself. They are parameters: those cost the
/// least to compile.
fn procedure(width: usize) -> String {
    let variables: String = (0..width).map(|i| format!(" v{i}")).collect();
    format!(
        "(define (enter-{width} n) (if (= n 0) (bottom) (apply wide-{width} n (elements n {width}))))
        (define (wide-{width} n{variables})
          (let ((r (pad (modulo (* n 37) 61) (lambda () (enter-{width} (- n 1))))))
            (churn)
            (+ r (sum (vector{variables}) n))))\n"
    )
}

/// Runs twice to the bottom's continuation; what is printed is what `depth` levels add up to.
fn program(widths: &[usize], depth: usize) -> (String, String) {
    let (mut text, mut want) = (PRELUDE.to_string(), String::new());
    for w in widths {
        text += &procedure(*w);
        write!(
            text,
            "(set! again 0) (let ((r (enter-{w} {depth}))) (write (list {w} r)) (newline)
             (set! again (+ again 1)) (if (< again 3) (k 0)))\n"
        )
        .unwrap();
        let sum = depth * (w * (w - 1) / 2);
        want += &format!("({w} {sum})\n").repeat(3);
    }
    (text, want)
}

fn run(name: &str, text: &str, flags: &[&str], zeal: bool) -> String {
    let folder = std::env::temp_dir().join(format!("cairn-wide-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("wide.scm");
    std::fs::write(&file, text).unwrap();
    let mut command = Command::new(binary());
    command.arg("run").args(flags).arg(&file).env("CAIRN_CACHE_DIR", folder.join("cache"));
    let output = command.env("CAIRN_ZEAL", if zeal { "1" } else { "0" }).output().unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn check(name: &str, widths: &[usize], depth: usize, zeal: bool) {
    let (text, want) = program(widths, depth);
    for c in matrix::cross() {
        let flags = Configuration { opt: "low", ..c }.flags("");
        let flags = flags.each_ref().map(|f| f.as_str());
        assert_eq!(run(name, &text, &flags, zeal), want, "{flags:?}, zeal: {zeal}");
    }
}

#[test]
fn wide_frames_overflow_chunks_at_every_phase() {
    check("deep", &[1, 64, 90, 125, 127, 128, 129, 130, 160], 150, false);
}

#[test]
fn very_wide_frames_overflow_chunks() {
    check("very", &[255, 256, 320, 513], 60, false);
}

/// Under zeal every live map is used, and frames are audited.
#[test]
fn live_maps_of_every_width_across_collections() {
    check("zeal", &[62, 63, 64, 65, 127, 128, 129, 192, 257], 3, true);
}
