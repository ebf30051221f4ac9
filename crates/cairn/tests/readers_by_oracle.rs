//! The reader of programs and `read` of running programs: two readers that must agree with each other, with a reference
//! for nested comments, and with data whose text is known.
//!
//! Texts go to a compiled program, one a line; it writes back what it read. What stands in the line is compared with
//! what the reader of `cairn-syntax` makes of the same text.

use cairn_syntax::read::{read_all, show};
use cairn_syntax::syntax::Names;
use std::process::Command;

mod common;
use common::binary;

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

const PROGRAM: &str = r#"
(import (scheme base) (scheme write) (scheme read))
(define (decode s) (string-map (lambda (c) (if (char=? c #\x1) #\newline c)) s))
(define (data p)
  (let ((x (read p))) (if (eof-object? x) '() (cons x (data p)))))
(let loop ()
  (let ((line (read-line)))
    (if (not (eof-object? line))
        (begin
          (guard (e ((read-error? e) (write-string "error")))
            (let ((out (open-output-string)))
              (for-each (lambda (x) (write x out) (write-char #\space out)) (data (open-input-string (decode line))))
              (write-string (get-output-string out))))
          (newline)
          (loop)))))
"#;

/// What `read` makes of each text: the data as written, or `error`.
fn at_run_time(name: &str, texts: &[String]) -> Vec<String> {
    let folder = std::env::temp_dir().join(format!("cairn-readers-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (program, input) = (folder.join("read.scm"), folder.join("input"));
    std::fs::write(&program, PROGRAM).unwrap();
    let lines: String = texts.iter().map(|t| t.replace('\n', "\x01") + "\n").collect();
    std::fs::write(&input, lines).unwrap();
    let mut command = Command::new(binary());
    command.args(["run", "--opt=high"]).arg(&program).env("CAIRN_CACHE_DIR", folder.join("cache"));
    let output = command.stdin(std::fs::File::open(&input).unwrap()).output().unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let said: Vec<String> =
        String::from_utf8_lossy(&output.stdout).lines().map(|l| l.trim().to_string()).collect();
    assert_eq!(said.len(), texts.len());
    said
}

/// What the compiler's reader makes of a text, likewise.
fn at_compile_time(text: &str) -> String {
    let mut names = Names::default();
    match read_all(0, text, &mut names, false) {
        Ok(data) => data.iter().map(|x| show(x, &names)).collect::<Vec<_>>().join(" "),
        Err(_) => "error".into(),
    }
}

/// The text after a comment whose `#|` has been read; `None` when it is not closed.
fn after_comment(mut text: &str) -> Option<&str> {
    let mut depth = 1;
    while depth > 0 {
        if let Some(rest) = text.strip_prefix("|#") {
            (text, depth) = (rest, depth - 1);
        } else if let Some(rest) = text.strip_prefix("#|") {
            (text, depth) = (rest, depth + 1);
        } else {
            let mut chars = text.chars();
            chars.next()?;
            text = chars.as_str();
        }
    }
    Some(text)
}

#[test]
fn comments_nest() {
    let mut r = Random::seeded(31);
    let pieces = ["#", "|", "#|", "|#", "a", " ", "\n", ";", "\"", "\\", "#;", "(", "λ"];
    let (mut with, mut without) = (vec![], vec![]);
    for i in 0..3_000 {
        let n = if i < 400 { 1 + i / 100 } else { r.below(14usize) };
        let body: String = (0..n).map(|_| r.pick(&pieces)).collect();
        let text = format!("{body}|#");
        let before = r.pick(&["", "1 ", "(a . ", "\"x\"", "(b)"]);
        let after = if before.starts_with('(') { " 2)" } else { " 2" };
        let Some(rest) = after_comment(&text) else {
            // a comment that is not closed takes everything
            assert_eq!(at_compile_time(&format!("{before}#|{text}{after}")), "error", "#|{text}{after}");
            continue;
        };
        with.push(format!("{before}#|{text}{after}"));
        without.push(format!("{before} {rest}{after}"));
    }
    assert!(with.len() > 1500);
    for (a, b) in with.iter().zip(&without) {
        assert_eq!(at_compile_time(a), at_compile_time(b), "{a}");
    }
    let said = at_run_time("comments", &[&with[..], &without[..]].concat());
    for (i, text) in with.iter().enumerate() {
        assert_eq!(said[i], said[with.len() + i], "{text}");
    }
}

struct Text<'a> {
    r: &'a mut Random,
    /// As a person might write it.
    loose: String,
    /// As `write` writes it.
    strict: String,
}

impl Text<'_> {
    fn both(&mut self, text: &str) {
        self.loose += text;
        self.strict += text;
    }
    /// Anything that may stand between two data; something that separates, if asked.
    fn gap(&mut self, separates: bool) {
        let n = self.r.below(3usize) + separates as usize;
        for i in 0..n {
            let gap = self.r.pick(&[
                " ",
                "\n",
                "\t",
                "  ",
                "; ) note\n",
                "#| ( |#",
                "#|#||#|#",
                "#|##a|#",
                "#;(a b) ",
                "#;#;1 2 ",
            ]);
            if i == 0 && gap.starts_with('#') {
                self.loose.push(' ');
            }
            self.loose += gap;
        }
    }
    fn atom(&mut self) {
        let (loose, strict) = match self.r.below(10u32) {
            0 => ("#true", "#t"),
            1 => ("|abc|", "abc"),
            2 => ("#x1F", "31"),
            3 => ("1.50", "1.5"),
            4 => ("#\\space", "#\\space"),
            5 => ("\"a\\x41;\\\n   b\"", "\"aAb\""),
            6 => ("|a b|", "|a b|"),
            7 => ("#\\x41", "#\\A"),
            8 => ("#u8(1 #;7 2 #|3|# 255)", "#u8(1 2 255)"),
            _ => ("...", "..."),
        };
        self.loose += loose;
        self.strict += strict;
    }
    fn datum(&mut self, depth: usize) {
        let kind = if depth == 0 { 9 } else { self.r.below(10u32) };
        match kind {
            0..=2 => {
                self.both(if kind == 2 { "#(" } else { "(" });
                let n = self.r.below(5usize);
                for i in 0..n {
                    self.gap(i > 0);
                    if i > 0 {
                        self.strict.push(' ');
                    }
                    self.datum(depth - 1);
                }
                if kind == 1 && n > 0 {
                    self.gap(true);
                    self.loose.push('.');
                    self.gap(true);
                    self.strict += " . ";
                    // not a list, which would be written as part of this one
                    self.atom();
                }
                self.gap(false);
                self.both(")");
            }
            3 => {
                let forms = [("'", "quote"), ("`", "quasiquote"), (",", "unquote"), (",@", "unquote-splicing")];
                let (short, long) = forms[self.r.below(4usize)];
                self.loose += short;
                self.strict += &format!("({long} ");
                self.gap(false);
                self.datum(depth - 1);
                self.strict.push(')');
            }
            _ => self.atom(),
        }
    }
}

/// White space and comments change nothing, between any two tokens.
#[test]
fn data_are_read_whatever_stands_between_their_tokens() {
    let mut r = Random::seeded(32);
    let (mut loose, mut strict) = (vec![], vec![]);
    for _ in 0..1_500 {
        let mut t = Text { r: &mut r, loose: String::new(), strict: String::new() };
        t.gap(false);
        t.datum(4);
        t.gap(false);
        loose.push(t.loose);
        strict.push(t.strict);
    }
    for (a, b) in loose.iter().zip(&strict) {
        assert_ne!(at_compile_time(a), "error", "{a}");
        assert_eq!(at_compile_time(a), at_compile_time(b), "{a}");
    }
    let said = at_run_time("gaps", &[&loose[..], &strict[..]].concat());
    for (i, text) in loose.iter().enumerate() {
        assert_eq!(said[i], said[loose.len() + i], "{text}");
        assert_eq!(said[i].replace(' ', ""), strict[i].replace(' ', ""), "{text}");
    }
}

/// What one reader takes, the other takes. (Bars stand alone here: `read` takes `a|b c|d` as one symbol; in
/// a program a bar ends what is before it.)
#[test]
fn both_readers_take_the_same_texts() {
    let mut r = Random::seeded(33);
    let pieces = [
        "(",
        ")",
        "(",
        ")",
        "#(",
        "'",
        "`",
        ",",
        ",@",
        ".",
        " . ",
        "#;",
        "\"",
        "a",
        "1",
        "-",
        "+",
        "..",
        " ",
        "\n",
        "#t ",
        "#\\a ",
        "#\\x41 ",
        "#u8(",
        "1.5",
        "e",
        "#x",
        ";",
        "λ",
        " |a b| ",
        "\"b\"",
        "\"\\x41;\"",
        "[",
        "]",
        "{",
        "}",
    ];
    let texts: Vec<String> = (0..6_000)
        .map(|_| {
            let n = 1 + r.below(8usize);
            (0..n).map(|_| r.pick(&pieces)).collect()
        })
        .collect();
    let compiled: Vec<String> = texts.iter().map(|t| at_compile_time(t)).collect();
    let said = at_run_time("both", &texts);
    let mut good = 0;
    for (i, text) in texts.iter().enumerate() {
        good += (said[i] != "error") as usize;
        assert_eq!(said[i] == "error", compiled[i] == "error", "{text:?} is {} or {}", said[i], compiled[i]);
    }
    assert!(good > 1_000, "{good}");
}
