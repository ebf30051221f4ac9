//! The printed forms in docs/internals/path-of-a-program.md are what the compiler prints.
//!
//! A line `<!-- cairn run --emit=STAGE … FILE -->` before a code block says where the block comes from. Its lines must
//! appear in that output, in order and without gaps; a line with `…` alone stands for a gap. Numbers that only make
//! names unique (`tree.1852`, `LBB12_3`) and words of descriptors may differ, so that a change to the library does not
//! touch the document.

use std::process::Command;

mod common;
use common::{binary, root};

/// The document that follows one program through every stage.
const DOCUMENT: &str = "docs/internals/path-of-a-program.md";

struct Block {
    line: usize,
    arguments: Vec<String>,
    text: Vec<String>,
}

/// The code blocks that name their origin.
fn blocks(document: &str) -> Vec<Block> {
    let mut out = vec![];
    let mut lines = document.lines().enumerate();
    while let Some((line, text)) = lines.next() {
        let Some(command) = text.strip_prefix("<!-- cairn ").and_then(|c| c.strip_suffix(" -->")) else {
            continue;
        };
        let (_, fence) = lines.next().expect("a block follows");
        assert!(fence.starts_with("```"), "line {}: a code block follows its origin", line + 2);
        let text = lines.by_ref().map(|(_, text)| text).take_while(|text| !text.starts_with("```"));
        out.push(Block {
            line: line + 1,
            arguments: command.split_whitespace().map(String::from).collect(),
            text: text.map(unnumbered).collect(),
        });
    }
    out
}

/// The line with `#` for numbers that only make names unique, and single spaces.
fn unnumbered(line: &str) -> String {
    let mut out = String::new();
    let mut number = false;
    for c in line.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        if c.is_ascii_digit() && (number || [".", "LBB", "_", "%t", "%v", "%l"].iter().any(|p| out.ends_with(p))) {
            if !number {
                out.push('#');
            }
            number = true;
        } else {
            number = false;
            out.push(c);
        }
    }
    // numbers as long as this are words of descriptors, which contain indices of names
    let words: Vec<&str> = out.split(' ').collect();
    let is_word = |w: &str| w.trim_end_matches(',').len() > 12 && w.trim_end_matches(',').parse::<u64>().is_ok();
    words.iter().map(|w| if is_word(w) { "#" } else { w }).collect::<Vec<_>>().join(" ")
}

/// Where `wanted` occurs in `lines` as a run, from `from` on: the index after it.
fn after(lines: &[String], from: usize, wanted: &[String]) -> Option<usize> {
    (from..=lines.len().checked_sub(wanted.len())?)
        .find(|&i| lines[i..i + wanted.len()] == *wanted)
        .map(|i| i + wanted.len())
}

#[test]
fn printed_forms_are_real() {
    let document = std::fs::read_to_string(root().join(DOCUMENT)).unwrap();
    let blocks = blocks(&document);
    let stages = ["core", "opt", "frame", "llvm", "asm"];
    for stage in stages {
        let flag = format!("--emit={stage}");
        assert!(blocks.iter().any(|b| b.arguments.contains(&flag)), "{DOCUMENT} shows no {stage}");
    }
    let mut wrong = vec![];
    for block in &blocks {
        let output = Command::new(binary()).current_dir(root()).args(&block.arguments).output().unwrap();
        assert!(output.status.success(), "{:?}: {}", block.arguments, String::from_utf8_lossy(&output.stderr));
        let printed: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(unnumbered).collect();
        let mut at = 0;
        for run in block.text.split(|line| line == "…") {
            match after(&printed, at, run) {
                Some(next) => at = next,
                None => wrong.push(format!(
                    "{DOCUMENT}:{}: not printed by `cairn {}`:\n{}",
                    block.line,
                    block.arguments.join(" "),
                    run.join("\n")
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn numbers_in_names_do_not_count() {
    assert_eq!(unnumbered("  (car  tree.12) proven 1"), "(car tree.#) proven 1");
    assert_eq!(unnumbered("\tjb\t.LBB213_1"), "jb .LBB#_#");
    assert_eq!(unnumbered("%t12 = load i64"), "%t# = load i64");
    assert_eq!(unnumbered("addq $16, %r14"), "addq $16, %r14");
    assert_eq!(unnumbered("i64 1152780767118491669, i64 4294967300"), "i64 # i64 4294967300");
}
