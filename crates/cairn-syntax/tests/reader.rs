//! The reader against golden files and deep nesting.

#![allow(missing_docs)]
mod common;
use cairn_core::ir::SourceFile;
use cairn_syntax::read::{Reader, read_all, show};
use cairn_syntax::syntax::{Datum, Names};
use common::*;

/// Each datum with its byte range, or the message.
fn read_text(name: &str, text: &str) -> String {
    let mut names = Names::default();
    let mut out = String::new();
    let mut reader = Reader::new(0, text, &mut names);
    let mut data = Vec::new();
    let error = loop {
        match reader.next_datum() {
            Ok(Some(x)) => data.push(x),
            Ok(None) => break None,
            Err(e) => break Some((e, reader.incomplete())),
        }
    };
    for x in &data {
        out += &format!("{}..{} {}\n", x.span.start, x.span.end, show(x, &names));
    }
    if let Some((e, incomplete)) = error {
        let sources = [SourceFile::new(name, text, false)];
        out += &format!("error: {}", render(&e, &sources));
        if incomplete {
            out += "  (more input could help)\n";
        }
    }
    out
}

#[test]
fn golden() {
    golden::check_folder("reader", |case| {
        let newline = if case.how == "read" { "\n" } else { "" };
        read_text(file_name(case), &format!("{}{newline}", case.source))
    });
}

#[test]
fn nesting_is_bounded_by_memory_only() {
    let n = 1_000_000;
    for (open, close) in [("(", ")"), ("#(", ")"), ("'", "x"), ("(a . ", ")"), ("#;(", ")")] {
        let text = if close == "x" { open.repeat(n) + close } else { open.repeat(n) + "1" + &close.repeat(n) };
        let mut names = Names::default();
        let data = read_all(0, &text, &mut names, false).expect("well-formed");
        assert!(data.len() <= 1);
        let shown = data.first().map_or(0, |x| show(x, &names).len());
        assert!(shown > n || open == "#;(", "{open}: {shown}");
        drop(data);
    }
    let mut names = Names::default();
    let e = read_all(0, &"(".repeat(n), &mut names, false).expect_err("unclosed");
    assert_eq!(e.message, "this parenthesis is never closed");
}

#[test]
fn spans_cover_the_text_of_each_datum() {
    let text = "(define (f x) \"a\\x41;b\" #\\a '#(1 2.5) . y) |a b|";
    let mut names = Names::default();
    let data = read_all(3, text, &mut names, false).expect("well-formed");
    let piece = |x: &cairn_syntax::syntax::Syntax| &text[x.span.start as usize..x.span.end as usize];
    assert_eq!(piece(&data[1]), "|a b|");
    let Datum::Dotted(items) = &data[0].datum else { panic!("a dotted list") };
    let pieces: Vec<&str> = items.iter().map(piece).collect();
    assert_eq!(pieces, ["define", "(f x)", "\"a\\x41;b\"", "#\\a", "'#(1 2.5)", "y"]);
    assert!(items.iter().all(|x| x.span.file == 3));
}

#[test]
fn a_return_ends_a_comment() {
    for text in ["a ; comment\rb", "a ; comment\r\nb", "a ; comment\nb", "#!/bin/cairn\ra b", "a b ; c\r; d\r"] {
        let mut names = Names::default();
        let data = read_all(0, text, &mut names, false).expect("well-formed");
        let shown: Vec<String> = data.iter().map(|x| show(x, &names)).collect();
        assert_eq!(shown, ["a", "b"], "{text:?}");
    }
}
