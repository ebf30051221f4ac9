//! Reading and writing across the ends of buffers.
//!
//! A compiled program reads files in every way there is and says what it saw, as counts and checksums; the same are
//! computed here from the bytes. The files put characters of one to four bytes at every distance from the end of a
//! port's buffer; a pipe that delivers a few bytes at a time cuts them everywhere else.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

mod common;
use common::binary;

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

/// A port's buffer, in bytes. Should it change, the files here still cut characters: they are long and of mixed widths.
const BUFFER: usize = 1 << 16;

const READER: &str = r#"
(import (scheme base) (scheme write) (scheme file) (scheme process-context))

(define (mix h c) (modulo (+ (* h 31) c 1) 1000003))
(define (mix-string h s)
  (let loop ((i 0) (h h)) (if (= i (string-length s)) h (loop (+ i 1) (mix h (char->integer (string-ref s i)))))))

;; All characters, by a procedure that reads one or more as a string, or the end of the file.
(define (by-pieces next)
  (lambda (p)
    (let loop ((n 0) (h 0))
      (let ((s (next p)))
        (if (eof-object? s) (list n h) (loop (+ n (string-length s)) (mix-string h s)))))))
(define (piece k) (by-pieces (lambda (p) (read-string k p))))
(define (chars p)
  (let loop ((n 0) (h 0))
    (let ((c (read-char p)))
      (if (eof-object? c) (list n h) (loop (+ n 1) (mix h (char->integer c)))))))
(define (peeked p)
  (let loop ((n 0) (h 0))
    (let ((c (peek-char p)))
      (cond ((eof-object? c) (if (eof-object? (read-char p)) (list n h) 'no-end))
            ((not (char-ready? p)) 'not-ready)
            ((eqv? c (read-char p)) (loop (+ n 1) (mix h (char->integer c))))
            (else (list 'peeked-another n c))))))
(define (mixed seed)
  (let ((state seed))
    (define (below n)
      (set! state (modulo (+ (* state 1103515245) 12345) 2147483648))
      (modulo (quotient state 65536) n))
    (by-pieces
      (lambda (p)
        (case (below 4)
          ((0) (let ((c (read-char p))) (if (eof-object? c) c (string c))))
          ((1) (peek-char p) (let ((c (read-char p))) (if (eof-object? c) c (string c))))
          ((2) (read-string (+ 1 (below 9)) p))
          (else (read-string (+ 1 (below 5000)) p)))))))
(define (lines p)
  (let loop ((n 0) (h 0))
    (let ((l (read-line p)))
      (if (eof-object? l) (list n h) (loop (+ n 1) (mix (mix-string h l) 10))))))
(define (bytes p)
  (let loop ((n 0) (h 0))
    (let* ((b (peek-u8 p)) (c (read-u8 p)))
      (cond ((not (eqv? b c)) (list 'peeked-another n))
            ((eof-object? b) (list n h))
            (else (loop (+ n 1) (mix h b)))))))
(define (blocks k)
  (lambda (p)
    (let loop ((n 0) (h 0))
      (let ((b (read-bytevector k p)))
        (if (eof-object? b)
            (list n h)
            (do ((i 0 (+ i 1)) (h h (mix h (bytevector-u8-ref b i))))
                ((= i (bytevector-length b)) (loop (+ n i) h))))))))

(define (say what) (write what) (newline))
(if (null? (cdr (command-line)))
    (say (chars (current-input-port)))
    (for-each
      (lambda (file)
        (for-each
          (lambda (reader) (say (call-with-port (open-input-file file) reader)))
          (list chars peeked (piece 1) (piece 7) (piece 1000) (piece 65536) (piece 1000000) (mixed 1) (mixed 2) lines))
        (for-each
          (lambda (reader) (say (call-with-port (open-binary-input-file file) reader)))
          (list bytes (blocks 1) (blocks 1000) (blocks 65536) (blocks 1000000))))
      (cdr (command-line))))
"#;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("cairn-ports-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
    fn cairn(&self) -> Command {
        let mut command = Command::new(binary());
        command.args(["run", "--opt=high"]).env("CAIRN_CACHE_DIR", self.0.join("cache"));
        command
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn mix(h: u64, c: u64) -> u64 {
    (h * 31 + c + 1) % 1_000_003
}

fn sum(of: impl Iterator<Item = u64>) -> String {
    let (n, h) = of.fold((0, 0), |(n, h), c| (n + 1, mix(h, c)));
    format!("({n} {h})\n")
}

/// What the program says of a file.
fn expected(text: &str) -> String {
    let chars = sum(text.chars().map(|c| c as u64));
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    let sum_lines = lines.iter().fold(0, |h, l| mix(l.chars().fold(h, |h, c| mix(h, c as u64)), 10));
    chars.repeat(9) + &format!("({} {sum_lines})\n", lines.len()) + &sum(text.bytes().map(u64::from)).repeat(5)
}

const WIDTHS: [&str; 4] = ["b", "ñ", "€", "😀"];

/// Text of mixed widths, some of it in lines.
fn mixture(r: &mut Random, bytes: usize) -> String {
    let mut text = String::new();
    while text.len() < bytes {
        match r.below(12u32) {
            0 => text.push('\n'),
            n => text += WIDTHS[n as usize % 4],
        }
    }
    text
}

#[test]
fn characters_across_the_ends_of_buffers() {
    let folder = Folder::new("read");
    let program = folder.write("read.scm", READER.as_bytes());
    let mut r = Random::seeded(21);
    let (mut files, mut want) = (vec![], String::new());
    let mut add = |name: String, text: String| {
        want += &expected(&text);
        files.push(folder.write(&name, text.as_bytes()));
    };
    for before in 0..6 {
        for (w, wide) in WIDTHS.iter().enumerate() {
            // alone at the end of the first buffer, then more of the kind
            let text = "a".repeat(BUFFER - before) + wide + &mixture(&mut r, 300);
            add(format!("{before}-{w}"), text);
        }
        // nothing but wide characters, so that each buffer begins at another place in them
        let text = "a".repeat(before) + &WIDTHS[before % 4].repeat(24_000);
        add(format!("{before}-all"), text);
        // the end of the file at the end of the buffer
        add(format!("{before}-end"), "a".repeat(BUFFER - before) + &"é".repeat(before / 2));
    }
    add("mixture".into(), mixture(&mut r, 5 * BUFFER));
    add("empty".into(), String::new());
    let output = folder.cairn().arg(&program).args(&files).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let per_file = 15;
    for (i, (said, want)) in said.lines().zip(want.lines()).enumerate() {
        assert_eq!(said, want, "reader {} of {}", i % per_file, files[i / per_file].display());
    }
    assert_eq!(said.lines().count(), files.len() * per_file);
}

#[test]
fn characters_cut_by_a_pipe() {
    let folder = Folder::new("pipe");
    let program = folder.write("read.scm", READER.as_bytes());
    let mut r = Random::seeded(22);
    let text = mixture(&mut r, 600);
    let mut child = folder.cairn().arg(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let (now, later) = rest.split_at((1 + r.below(5usize)).min(rest.len()));
        pipe.write_all(now).unwrap();
        pipe.flush().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
        rest = later;
    }
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), sum(text.chars().map(|c| c as u64)));
}

/// What is written arrives, however it is cut into calls.
#[test]
fn writing_across_the_ends_of_buffers() {
    let folder = Folder::new("write");
    let mut r = Random::seeded(23);
    let out = folder.0.join("out.txt");
    let mut want = String::new();
    let mut calls = String::new();
    let mut wide = 0;
    while want.len() < 4 * BUFFER {
        let to_end = BUFFER - want.len() % BUFFER;
        let w = WIDTHS[r.below(4usize)];
        match r.below(5u32) {
            0 if to_end > 8 => {
                // up to just before the end of a buffer
                let n = to_end - r.below(5usize);
                want += &"x".repeat(n);
                writeln!(calls, "(write-string (make-string {n} #\\x) p)").unwrap();
            }
            1 => {
                let n = 1 + r.below(9_000usize);
                want += &w.repeat(n);
                let c = w.chars().next().unwrap() as u32;
                writeln!(calls, "(do ((i 0 (+ i 1))) ((= i {n})) (write-char (integer->char {c}) p))").unwrap();
            }
            2 => {
                let n = 1 + r.below(30_000usize);
                want += &w.repeat(n);
                let c = w.chars().next().unwrap() as u32;
                writeln!(calls, "(write-string (make-string {n} (integer->char {c})) p)").unwrap();
            }
            3 => {
                want += &format!("(1 2.5 \"{w}\")\n");
                writeln!(calls, "(write '(1 2.5 \"{w}\") p) (newline p)").unwrap();
            }
            _ => {
                want.push_str(&w.repeat(3)[..w.len() * 2]);
                wide += 1;
                writeln!(calls, "(write-string \"{w}{w}{w}{w}\" p 1 3) (if (odd? {wide}) (flush-output-port p))")
                    .unwrap();
            }
        }
    }
    let text = format!(
        "(import (scheme base) (scheme write) (scheme file))
        (define p (open-output-file \"{}\"))\n{calls}(close-port p)",
        out.display()
    );
    let program = folder.write("write.scm", text.as_bytes());
    let output = folder.cairn().arg(&program).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let got = std::fs::read_to_string(&out).unwrap();
    let at = got.bytes().zip(want.bytes()).position(|(a, b)| a != b);
    assert!(got == want, "{} of {} bytes, the first difference at {at:?}", got.len(), want.len());
}
