//! Every message of the running program, and of the command line, has an example in a golden file.
//!
//! The messages are found in the source text: string literals of the calls that fail ([`MARKS`], [`SCHEME_MARKS`]). Of
//! a format string, each fixed part must occur, in order, in one line of the golden outputs. So a new message needs an
//! example to pass this test. (Those of the reader and the expander: `crates/cairn-syntax/tests/diagnostics.rs`.)

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../../tests/support/package.rs"]
mod package;

fn root() -> PathBuf {
    package::package().join("../..").canonicalize().unwrap()
}

/// Calls of Rust that fail. Behind each: is its last string what was *expected*, or is each string a message?
const MARKS: [(&str, bool); 14] = [
    ("wrong_type(", true),
    ("expect!(", true),
    ("Fault::kind(", true),
    ("EXPECTED: &str = ", true),
    ("type_error(p, ", true),
    (" fail(ctx", false),
    ("other(ctx", false),
    ("file_error(ctx", false),
    ("read_error(ctx", false),
    ("read_error(\n", false),
    ("message = ", false),
    ("complain(", false),
    ("vec![format!(", false),
    ("=> \"division", false),
];

/// Calls of lib/ that fail.
const SCHEME_MARKS: [&str; 7] = [
    "(wrong-type ",
    "(out-of-range ",
    "(error ",
    "(refuse-form ",
    "(fail port ",
    "(raise-read-error ",
    "(raise-file-error ",
];

/// Messages without an example, and why.
const WITHOUT_EXAMPLE: &[(&str, &str)] = &[
    ("cannot wait for a file: {}", "the system refuses an event descriptor"),
    ("cannot wait for another place: {}", "likewise"),
    ("cannot make a place: {e}", "in places.rs: under bdw"),
    ("places need a program that is compiled", "in places.rs: evaluated code"),
    ("LLVM {major}.{minor}.{patch}", "what --version says depends on the machine"),
    ("recursion is too deep: its frames", "runaway_recursion in exhaustion.rs"),
    ("out of memory: {what}", "tests/exhaustion runs into each of them"),
    ("out of memory: a message of {} beside", "in exhaustion.rs: needs a small heap"),
    ("invalid UTF-8 in {}, line", "in crates/cairn-rt/src/port/tests.rs"),
    ("expected a continuation", "only lib/ asks a continuation for its winders"),
    ("flonum", "only (cairn primitives) has operations that take nothing else"),
    ("a type of records with {n} fields", "only (cairn primitives) makes records with fields of any number"),
    ("a type of raw records", "likewise"),
    ("a record type to extend", "the expander knows record types"),
    ("the record type {} is sealed: nothing can extend it:", "the expander says so before"),
    ("the result must be {what} or #f, got", "tests/c/shared/types.c"),
    ("C would have two structures called {}", "what_cannot_be_built in shared.rs"),
    ("no stack for C: {}", "the system has no memory left"),
    ("no memory for it: {}", "likewise"),
    ("there is no OS thread for a blocking call: {}", "likewise"),
    ("no native code: {reason}", "told to tests: the generator of programs looks for it"),
    ("the result must be a string without NUL", "in shared.rs: only a shared library answers C with a text"),
    ("expected nine fixnums", "lib/more/cairn/regexp.sld makes what it gives"),
    ("expected a u32vector", "likewise: a table of its automaton"),
    ("the code around it has grown enough", "no small program grows so much"),
    ("no module table", "the object code was not made by this compiler"),
    ("linking {} failed", "the linker's own words follow"),
    ("the runtime library {} is missing", "an installation that was taken apart"),
    ("cannot find the cairn binary", "the system does not tell"),
    ("cannot run {editor}: {e}", "the system has no shell"),
    ("the terminal knows no request", "lib/cairn/repl.sld makes the requests that it knows"),
    ("this program has no terminal", "likewise: only a session asks"),
    ("cairn: this program loads or evaluates code that may define", "only a terminal is told"),
    ("no line editor: {e}", "a terminal whose settings cannot be read"),
    ("cannot read the standard input: {}", "a read error"),
    ("the library has no {key}", "the session is part of lib/"),
    ("the compiled library is damaged", "damaged between the check of its head and its use"),
    (
        "the compiled library cannot be written to {}",
        "no directory can be written; programs are compiled whole then",
    ),
    ("the cairn binary cannot be found", "the system does not tell"),
    ("cannot read the library: {e}", "a read error"),
    ("the library cannot evaluate", "the evaluator is part of lib/"),
    ("a one-shot continuation was used a second time", "in control_by_oracle.rs: not all strategies notice"),
    ("the library is gone", "removed while a program runs on it"),
    ("the module has no table", "the object code was not made by this compiler"),
    ("this is not for users", "in beside_programs.rs: an argument that only Cairn gives"),
    ("lsp: {", "an editor whose pipe breaks"),
    ("A macro of {library}.", "in lsp.rs, as what an editor shows of a name"),
    ("Defined by {library}.", "likewise"),
    ("Exported by {}.", "likewise"),
    ("A macro of {}.", "likewise"),
    ("{name} object ...", "likewise"),
    ("there is no timer for --profile", "the system gives none"),
    ("cannot draw a flame graph: {e}", "inferno's own words follow"),
    ("(c:address->pointer {n})", "Scheme, and no message"),
    ("(c:inlined \"{number}\" c:source)", "likewise"),
    ("(c:lambda {})", "likewise"),
    ("clang-19 cannot link it: {}", "in c_source.rs: it takes a source"),
    ("`{key}` itself, not a pointer to it", "in c_headers.rs: it takes a header"),
    ("of the type {t}, which (cairn c) does not have", "likewise"),
    ("of the type `{text}`", "likewise"),
    ("{bad:?} is no name of a header or library", "in c_headers.rs"),
    ("clang-19 says: {error}", "what clang complains of without a place in the header"),
    ("cannot run {CLANG}: {e}", "a clang-19 that is there and cannot be started"),
    ("cannot run {}: {}", "cairn-study is missing beside cairn: an installation that was taken apart"),
];

fn files(directory: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for e in fs::read_dir(directory).unwrap() {
        let path = e.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extensions));
        } else if path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The string literals up to the end of the call (or the statement) that `text` is inside of.
fn strings(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut depth = 0;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            ';' if depth == 0 => break,
            '\'' if chars.as_str().starts_with(['"', '(', ')']) => {
                chars.next(); // a character literal
            }
            '"' => {
                let mut out = String::new();
                loop {
                    match chars.next() {
                        None | Some('"') => break,
                        Some('\\') => match chars.next() {
                            Some('n') => out.push('\n'),
                            Some('\n') => chars = chars.as_str().trim_start().chars(),
                            Some(c) => out.push(c),
                            None => break,
                        },
                        Some(c) => out.push(c),
                    }
                }
                found.push(out);
            }
            _ => {}
        }
    }
    found
}

/// Do the parts of a format string between its arguments occur in one line, or those of each of its lines?
fn shown(format: &str, golden: &str) -> bool {
    format.lines().all(|format| {
        let parts: Vec<&str> = format
            .split('{')
            .enumerate()
            .map(|(i, p)| if i == 0 { p } else { p.split_once('}').map_or(p, |(_, p)| p) })
            .collect();
        golden.lines().any(|line| {
            let mut rest = line;
            parts.iter().all(|p| rest.find(p).map(|i| rest = &rest[i + p.len()..]).is_some())
        })
    })
}

fn text_of(paths: &[PathBuf]) -> String {
    paths.iter().map(|p| fs::read_to_string(p).unwrap()).collect()
}

/// Rust without its unit tests.
fn rust_source(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end].to_string()
}

struct Found {
    place: String,
    message: String,
}

fn report(found: &[Found], golden: &str, least: usize) {
    assert!(found.len() > least, "only {} messages found: do the marks still fit the source?", found.len());
    let missing: String = found
        .iter()
        .filter(|f| !WITHOUT_EXAMPLE.iter().any(|(m, _)| f.message.contains(m)) && !shown(&f.message, golden))
        .map(|f| format!("{}: {}\n", f.place, f.message))
        .collect();
    assert!(missing.is_empty(), "messages without an example:\n{missing}");
}

fn messages_of(path: &Path, text: &str, marks: &[(&str, bool)]) -> Vec<Found> {
    let mut found = Vec::new();
    for (mark, expected) in marks {
        for (at, _) in text.match_indices(mark) {
            let line_start = text[..at].rfind('\n').map_or(0, |i| i + 1);
            let line = text[line_start..].lines().next().unwrap_or_default().trim_start();
            if line.starts_with("//") || line.contains("fn ") {
                continue;
            }
            let place = format!("{}:{}", path.display(), text[..at].matches('\n').count() + 1);
            let all = strings(&text[at + mark.len()..]);
            if *expected {
                // the last string may be the name of the procedure, when what was expected has a name itself
                let sentence = all.last().filter(|s| s.contains(' ') || mark.starts_with("type"));
                let article = if mark.starts_with("type") { "{}" } else { "" };
                found.extend(sentence.map(|s| Found { place, message: format!("expected {article}{s}") }));
            } else {
                // names of procedures have no spaces
                let sentences = all.into_iter().filter(|s| s.contains(' '));
                found.extend(sentences.map(|message| Found { place: place.clone(), message }));
            }
        }
    }
    found
}

#[test]
fn every_failure_at_run_time_has_an_example() {
    let outputs = ["tests/messages", "tests/errors"].map(|d| files(&root().join(d), &["out", "err"]));
    let mut golden = text_of(&outputs.concat());
    golden += &text_of(&[root().join("crates/cairn/tests/exhaustion.rs")]);
    let mut found = Vec::new();
    for path in files(&root().join("crates/cairn-rt/src"), &["rs"])
        .into_iter()
        .chain(files(&root().join("crates/cairn-num/src"), &["rs"]))
        .chain(files(&root().join("crates/cairn-llvm/src/emit"), &["rs"]))
        .filter(|p| !p.ends_with("tests.rs") && !p.ends_with("testing.rs"))
    {
        found.extend(messages_of(&path, &rust_source(&path), &MARKS));
    }
    // a text that others wrote lies beside its licence
    let ours = |p: &PathBuf| p.extension().is_some_and(|e| e == "sld") || !p.with_file_name("LICENSE").exists();
    for path in files(&root().join("lib"), &["sld", "scm"]).into_iter().filter(ours) {
        let text = fs::read_to_string(&path).unwrap();
        for mark in SCHEME_MARKS {
            for (at, _) in text.match_indices(mark) {
                let line = text[..at].matches('\n').count() + 1;
                let all = strings(&text[at + mark.len()..]);
                let (who, sentence) = match &all[..] {
                    [sentence, ..] if mark == "(fail port " => (String::new(), sentence),
                    [who, sentence] => (format!("{who}: "), sentence),
                    [sentence] => (String::new(), sentence),
                    _ => continue,
                };
                let expected = if mark == "(wrong-type " { "expected " } else { "" };
                found.push(Found {
                    place: format!("{}:{line}", path.display()),
                    message: format!("{who}{expected}{sentence}"),
                });
            }
        }
    }
    report(&found, &golden, 120);
}

#[test]
fn every_message_of_the_command_has_an_example() {
    let folders = ["command-line", "prompt"].map(|f| root().join("tests/golden").join(f));
    let mut golden: String = folders.iter().map(|f| text_of(&files(f, &["txt"]))).collect();
    for test in [
        "command_line",
        "exhaustion",
        "explain",
        "lsp",
        "testing",
        "project",
        "manual",
        "why_slow",
        "library_once",
        "library_directory",
    ] {
        golden += &text_of(&[root().join(format!("crates/cairn/tests/{test}.rs"))]);
    }
    let marks = [
        ("Error::Other(", false),
        ("eprintln!(", false),
        ("Err(format!(", false),
        ("ok_or(", false),
        ("|e| format!(", false),
        ("=> format!(", false),
    ];
    let mut found = Vec::new();
    for path in files(&root().join("crates/cairn/src"), &["rs"]) {
        found.extend(messages_of(&path, &rust_source(&path), &marks));
    }
    report(&found, &golden, 8);
}
