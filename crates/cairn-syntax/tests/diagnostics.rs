//! Every message of the reader and the expander has an example in a golden file.
//!
//! The messages are found in the source text: the first string literal behind each of [`MARKS`]. Of a format string,
//! each fixed part must occur, in one line of the golden outputs. So a new diagnostic needs an example to pass this
//! test.

#![allow(missing_docs)]
mod common;
use common::root;
use std::path::{Path, PathBuf};

/// What stands before the text of a message.
const MARKS: [&str; 8] = [
    ".err(",
    ".err_help(",
    ".error(",
    ".diagnostic(",
    "Diagnostic::new(",
    "message = format!(",
    "message = \"",
    ".note(",
];

/// Messages without an example, and why.
const WITHOUT_EXAMPLE: [(&str, &str); 9] = [
    ("a record type with too many fields", "four million of them"),
    ("formatting would change this program", "that is a mistake of the formatter, and none is known"),
    ("this text holds more than", "the example would be of ten million data"),
    ("does not end, or makes more than", "likewise; tests/expander.rs has one with a lower limit"),
    ("cannot be used: {why}", "it takes a C header; cairn/tests/c_headers.rs has some"),
    ("the C library has no", "likewise"),
    ("is built in; {file} is not read", "it takes a file; cairn/tests/command_line.rs has one"),
    ("is exported twice", "it takes a shared library; cairn/tests/shared.rs has one"),
    ("does not export the procedure", "that is a mistake in lib/, not in a program"),
];

fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for e in std::fs::read_dir(directory).expect("a directory") {
        let path = e.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The string literal that comes first in the call whose parenthesis was just opened.
fn first_string(text: &str) -> Option<String> {
    let mut depth = 0;
    let mut chars = text.chars();
    loop {
        match chars.next()? {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return None,
            ')' | ']' | '}' => depth -= 1,
            ';' => return None,
            '"' => break,
            _ => {}
        }
    }
    let mut out = String::new();
    loop {
        match chars.next()? {
            '"' => return Some(out),
            '\\' => match chars.next()? {
                '\n' => {
                    let rest = chars.as_str().trim_start();
                    chars = rest.chars();
                }
                c => out.push(c),
            },
            c => out.push(c),
        }
    }
}

/// The parts of a format string between its arguments.
fn fixed_parts(format: &str) -> Vec<&str> {
    format
        .split('{')
        .enumerate()
        .map(|(i, p)| if i == 0 { p } else { p.split_once('}').map_or(p, |(_, p)| p) })
        .collect()
}

#[test]
fn every_message_has_an_example() {
    let golden: String = ["tests/golden", "tests/errors"]
        .iter()
        .flat_map(|d| [files(&root().join(d), "err"), files(&root().join(d), "txt")])
        .flatten()
        .map(|f| std::fs::read_to_string(f).expect("a golden file"))
        .collect();
    let mut count = 0;
    let mut missing = String::new();
    for file in files(&root().join("crates/cairn-syntax/src"), "rs") {
        let source = std::fs::read_to_string(&file).expect("a source file");
        for mark in MARKS {
            for (at, _) in source.match_indices(mark) {
                let end = at + mark.len() - usize::from(mark.ends_with('"'));
                let Some(message) = first_string(&source[end..]) else { continue };
                count += 1;
                if WITHOUT_EXAMPLE.iter().any(|(m, _)| message.contains(m)) {
                    continue;
                }
                let parts = fixed_parts(&message);
                let shown = golden.lines().any(|l| {
                    let mut rest = l;
                    parts.iter().all(|p| match rest.find(p) {
                        Some(i) => {
                            rest = &rest[i + p.len()..];
                            true
                        }
                        None => false,
                    })
                });
                if !shown {
                    let line = source[..at].matches('\n').count() + 1;
                    missing += &format!("{}:{line}: {message}\n", file.display());
                }
            }
        }
    }
    assert!(count > 150, "only {count} messages found: do the marks still fit the source?");
    assert!(missing.is_empty(), "messages without an example in a golden file:\n{missing}");
}
