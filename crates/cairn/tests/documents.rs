//! The documents do as they say: their blocks of code run, their links lead somewhere.
//!
//! | block | is run |
//! |---|---|
//! | `scheme` | as a program on standard input of `cairn run -`, without a warning; with `; => VALUE` comments at the prompt, which must print these values in this order |
//! | `sh` | by `bash -e`, in a directory where `cairn` is the command under test beside the tree's own folders |
//! | `text` after a block that was run | is what that prints |
//! | `c`, `rust` | by the tests of their crates (`cairn-heap-c/tests/c_programs.rs`, `cairn-heap/tests/tutorial.rs`), docs/c.md's by `shared.rs` |
//!
//! A line `<!-- not run: REASON -->` before a block leaves it out.

use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

mod common;
use common::{Directory, binary, root};

/// A block of code in a document.
struct Block {
    /// Where it begins: `docs/heap.md:12`.
    site: String,
    language: String,
    not_run: bool,
    text: String,
}

/// README.md and everything below docs/.
fn documents() -> Vec<PathBuf> {
    fn below(directory: &Path, out: &mut Vec<PathBuf>) {
        for entry in directory.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, out);
            } else if path.extension().is_some_and(|e| e == "md") {
                out.push(path);
            }
        }
    }
    let mut out: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|f| root().join(f)).into();
    below(&root().join("docs"), &mut out);
    out.sort();
    out
}

fn name(document: &Path) -> String {
    document.strip_prefix(root()).unwrap().to_string_lossy().into_owned()
}

fn blocks(document: &Path) -> Vec<Block> {
    let text = std::fs::read_to_string(document).unwrap();
    let mut out = vec![];
    let mut not_run = false;
    let mut lines = text.lines().enumerate();
    while let Some((i, line)) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let body = lines.by_ref().map(|(_, l)| format!("{l}\n")).take_while(|l| l != "```\n");
            out.push(Block {
                site: format!("{}:{}", name(document), i + 1),
                language: language.to_string(),
                text: body.collect(),
                not_run: std::mem::take(&mut not_run),
            });
        } else if let Some(reason) = line.strip_prefix("<!-- not run: ") {
            assert!(reason.len() > " -->".len() + 8, "{}:{}: why?", name(document), i + 1);
            not_run = true;
        } else if line.starts_with("<!-- cairn run --emit=") {
            not_run = true; // compared by walkthrough.rs
        } else if !line.is_empty() {
            not_run = false;
        }
    }
    out
}

fn with_input(command: &mut Command, input: &str) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn texts(output: &Output) -> (String, String) {
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What is wrong with a program, or what it printed.
fn run_scheme(block: &Block, directory: &Path) -> Result<String, String> {
    let output = with_input(Command::new(binary()).args(["run", "-"]).current_dir(directory), &block.text);
    let (out, err) = texts(&output);
    if !output.status.success() || !err.is_empty() {
        return Err(format!("{}: {}\n{err}", block.site, output.status));
    }
    let wanted: Vec<&str> =
        block.text.lines().filter_map(|l| l.split_once("; => ")).map(|(_, v)| v.trim()).collect();
    if wanted.is_empty() {
        return Ok(out);
    }
    let (values, err) = texts(&with_input(Command::new(binary()).current_dir(directory), &block.text));
    let mut printed = values.lines();
    for value in wanted {
        let is_it = |line: &str| line == value || line.split_once(" = ").is_some_and(|(_, v)| v == value);
        if !printed.any(is_it) {
            return Err(format!(
                "{}: `{value}` does not come out at the prompt, in this order:\n{values}{err}",
                block.site
            ));
        }
    }
    Ok(out)
}

fn run_shell(block: &Block, directory: &Path) -> Result<String, String> {
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("bash")
        .args(["-e", "-c", &block.text])
        .env("PATH", path)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (out, err) = texts(&output);
    if output.status.success() { Ok(out) } else { Err(format!("{}: {}\n{err}", block.site, output.status)) }
}

#[test]
fn blocks_of_code_run() {
    let mut wrong = vec![];
    let mut count = 0;
    for document in documents() {
        // Blocks of one document are typed one after another, in one directory.
        let directory = Directory::new(&format!("documents-{}", name(&document).replace('/', "-")));
        for folder in ["examples", "benchmarks", "lib", "tests"] {
            symlink(root().join(folder), directory.0.join(folder)).unwrap();
        }
        directory.write("cairn", format!("#!/bin/sh\nexec '{}' \"$@\"\n", binary().display()));
        std::fs::set_permissions(directory.0.join("cairn"), PermissionsExt::from_mode(0o755)).unwrap();
        let mut printed: Option<String> = None;
        for block in blocks(&document) {
            let result = match (block.language.as_str(), block.not_run) {
                (_, true) => {
                    printed = None;
                    continue;
                }
                ("scheme", false) => run_scheme(&block, &directory.0),
                ("sh", false) => run_shell(&block, &directory.0),
                ("text", false) => match printed.take() {
                    Some(out) if out != block.text => {
                        Err(format!("{}: the block before prints\n{out}", block.site))
                    }
                    _ => continue,
                },
                // Forms of the compiler are compared by walkthrough.rs, the others by their crates.
                ("c" | "rust" | "toml" | "llvm" | "asm" | "console" | "", false) => {
                    printed = None;
                    continue;
                }
                (language, _) => Err(format!("{}: who runs `{language}`?", block.site)),
            };
            count += 1;
            match result {
                Ok(out) => printed = Some(out),
                Err(e) => {
                    printed = None;
                    wrong.push(e);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(count > 20, "{count} blocks are few");
}

/// A comment with the name of a file before a block says that the block is that file.
#[test]
fn blocks_of_files_are_the_files() {
    let mut count = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for (i, part) in text.split("<!-- crates/").skip(1).enumerate() {
            let (file, rest) = part.split_once(" -->\n```").unwrap();
            let (_, rest) = rest.split_once('\n').unwrap();
            let block = rest.split("```\n").next().unwrap();
            let code = std::fs::read_to_string(root().join("crates").join(file)).unwrap();
            assert_eq!(block, code, "{}, block {i}: not crates/{file}", name(&document));
            count += 1;
        }
    }
    assert!(count > 0);
}

/// GitHub's name for a heading: lower case, spaces as hyphens, without punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// The targets of the links of a text, blocks of code left out.
fn targets(text: &str) -> Vec<(usize, String)> {
    let mut quoted = false;
    let mut out = vec![];
    for (i, line) in text.lines().enumerate() {
        quoted ^= line.starts_with("```");
        if !quoted {
            let links = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            out.extend(links.map(|(target, _)| (i + 1, target.to_string())));
        }
    }
    out
}

fn headings(text: &str) -> Vec<String> {
    let mut quoted = false;
    let mut out = vec![];
    for line in text.lines() {
        quoted ^= line.starts_with("```");
        if !quoted && line.starts_with('#') {
            out.push(anchor(line.trim_start_matches('#')));
        }
    }
    out
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = vec![];
    let mut count = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for (line, target) in targets(&text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            count += 1;
            let (file, section) = target.split_once('#').unwrap_or((&target, ""));
            let path = if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            let has_section = || {
                section.is_empty()
                    || std::fs::read_to_string(&path).is_ok_and(|t| headings(&t).iter().any(|h| h == section))
            };
            if !path.exists() || !has_section() {
                wrong.push(format!("{}:{line}: {target}", name(&document)));
            }
        }
    }
    assert!(wrong.is_empty(), "links to nowhere:\n{}", wrong.join("\n"));
    assert!(count > 100, "{count} links are few");
}

#[test]
fn links_and_headings_are_read() {
    assert_eq!(anchor(" `cairn cc`: C with smaller pointers"), "cairn-cc-c-with-smaller-pointers");
    assert_eq!(targets("a [b](c.md#d) [e](f)\n```\n[g](h)\n```\n"), [(1, "c.md#d".into()), (1, "f".into())]);
    assert_eq!(headings("# A b\n```\n# c\n```\n"), ["a-b"]);
}

/// Who reads what: nothing in the manual is out of reach.
#[test]
fn every_document_is_linked() {
    let documents = documents();
    let linked: Vec<PathBuf> = documents
        .iter()
        .filter(|d| !d.ends_with("SUMMARY.md"))
        .flat_map(|d| {
            let text = std::fs::read_to_string(d).unwrap();
            targets(&text)
                .into_iter()
                .filter_map(|(_, t)| d.parent().unwrap().join(t.split('#').next().unwrap()).canonicalize().ok())
                .collect::<Vec<_>>()
        })
        .collect();
    let lost: Vec<String> =
        documents.iter().filter(|d| !d.ends_with("README.md") && !linked.contains(d)).map(|d| name(d)).collect();
    assert!(lost.is_empty(), "no document links to: {lost:?}");
}

/// The manual as a site: docs/SUMMARY.md names each document of docs/ once, and nothing else.
#[test]
fn the_book_has_every_document() {
    let docs = root().join("docs");
    let summary = docs.join("SUMMARY.md");
    let text = std::fs::read_to_string(&summary).unwrap();
    let mut named: Vec<PathBuf> = targets(&text).into_iter().map(|(_, target)| docs.join(target)).collect();
    named.sort();
    let mut all = documents();
    all.retain(|d| d.starts_with(&docs) && *d != summary);
    assert_eq!(named, all);
}

/// Links of the manual out of docs/ lead to pages of the site.
#[test]
fn the_book_has_pages_of_the_tree() {
    let chapter = |content: &str, path: &str| {
        json!({ "Chapter": {
            "name": "x", "content": content, "number": null, "sub_items": [], "path": path, "source_path": path,
            "parent_names": [],
        } })
    };
    let mut outer = chapter("[a](../examples/tour.scm) [b](c.md#headers)\n```\n[c](../README.md)\n```\n", "x.md");
    outer["Chapter"]["sub_items"] =
        json!([chapter("[d](../../ARCHITECTURE.md) [e](../README.md) [f](../../benchmarks)\n", "internals/y.md")]);
    let book = json!({ "items": [outer, { "PartTitle": "p" }, "Separator"], "other": null });
    let input = json!([{ "root": root().join("docs"), "renderer": "html" }, book]);
    let output = with_input(
        Command::new(binary()).args(["run", "book/tree.scm"]).current_dir(root().join("docs")),
        &input.to_string(),
    );
    let (out, err) = texts(&output);
    assert!(output.status.success() && err.is_empty(), "{err}");
    let book: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(book["other"], Value::Null);
    let outer = &book["items"][0]["Chapter"];
    let expected = "[a](tree/examples/tour.scm.md) [b](c.md#headers)\n```\n[c](../README.md)\n```\n";
    assert_eq!(outer["content"], expected);
    let inner = "[d](../tree/ARCHITECTURE.md) [e](../index.md) f\n";
    assert_eq!(outer["sub_items"][0]["Chapter"]["content"], inner);
    let pages: Vec<&Value> = book["items"].as_array().unwrap()[4..].iter().map(|p| &p["Chapter"]).collect();
    assert_eq!(book["items"][3]["PartTitle"], "Files of the source tree");
    let page = |path: &str| {
        let page = pages.iter().find(|p| p["path"] == path);
        page.unwrap_or_else(|| panic!("{pages:#?}"))["content"].as_str().unwrap()
    };
    assert!(
        page("tree/examples/tour.scm.md").starts_with("# examples/tour.scm\n\n````scheme\n;;; A tour of Cairn")
    );
    assert!(page("tree/ARCHITECTURE.md").contains("](../glossary.md)"));
}

/// The bootstrap script finds its tree through symbolic links. The tree here has nothing to be built in it.
#[test]
fn cairn_runs_through_a_symbolic_link() {
    let directory = Directory::new("documents-link");
    for file in ["tree/crates/empty", "tree/lib/empty", "tree/Cargo.toml", "tree/Cargo.lock"] {
        directory.write(file, "");
    }
    directory.write("tree/target/release/cairn", "#!/bin/sh\necho \"found: $*\"\n");
    std::fs::copy(root().join("cairn"), directory.0.join("tree/cairn")).unwrap();
    for file in ["tree/target/release/cairn", "tree/cairn"] {
        std::fs::set_permissions(directory.0.join(file), PermissionsExt::from_mode(0o755)).unwrap();
    }
    symlink("tree/cairn", directory.0.join("first")).unwrap();
    symlink("first", directory.0.join("cairn")).unwrap();
    let output = Command::new(directory.0.join("cairn"))
        .args(["run", "x.scm"])
        .env_remove("CARGO_TARGET_DIR")
        .current_dir(&directory.0)
        .output()
        .unwrap();
    assert_eq!(texts(&output), ("found: run x.scm\n".into(), String::new()));
}

/// The commands of a tutorial, which end with those that try what was built.
fn commands(page: &str, trial: &str) -> (String, String) {
    let block = blocks(&root().join(page)).into_iter().find(|b| b.language == "sh" && b.text.contains(trial));
    let text = block.unwrap_or_else(|| panic!("{page}: no commands that end with {trial}")).text;
    let at = text.find(trial).unwrap();
    (text[..at].to_string(), text[at..].to_string())
}

/// Code without its comments, in words.
fn words(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
    code.flat_map(|l| l.split(|c: char| !c.is_alphanumeric() && !"_,%.".contains(c)).map(str::to_string)).collect()
}

/// The tutorials add a collector, a frame strategy and a primitive operation to a copy of the tree, all three to one:
/// their commands find every place. With `CAIRN_MATRIX=whole`, the copy is built, and what they end with is run.
#[test]
fn the_tutorials_add_one_of_each() {
    let directory = Directory::new("documents-tutorials");
    let tree = &directory.0;
    let is_whole = std::env::var_os("CAIRN_MATRIX").is_some_and(|v| v == "whole");
    let parts = ["crates", "lib", "examples", "tests", "Cargo.toml", "Cargo.lock", "cairn", "README.md", ".cargo"];
    for part in parts.iter().map(|p| root().join(p)).filter(|p| p.exists()) {
        assert!(Command::new("cp").arg("-r").args([&part, tree]).status().unwrap().success());
    }
    let bash = |commands: &str| {
        let mut bash = Command::new("bash");
        bash.args(["-e", "-c", commands]).current_dir(tree).env("CARGO_TARGET_DIR", tree.join("target"));
        let output = bash.env_remove("CAIRN_BINARY").output().unwrap();
        assert!(output.status.success(), "{commands}:\n{}", texts(&output).1);
        texts(&output).0
    };
    let tutorials = [
        ("docs/add-a-collector.md", "./cairn run --gc=mine"),
        ("docs/internals/add-a-strategy.md", "./cairn run --frames=own"),
        ("docs/internals/add-a-primitive.md", "cat >copysign.scm"),
    ];
    let trials = tutorials.map(|(page, trial)| {
        let (adding, trial) = commands(page, trial);
        bash(&adding);
        trial
    });
    // As often as the model is named, so often is its copy; a primitive has no model.
    for (file, old, new) in [
        ("cairn-heap/src/gc/mod.rs", "marksweep", "mine"),
        ("cairn-heap/src/gc/mod.rs", "MarkSweep", "Mine"),
        ("cairn-layout/src/facts.rs", "Stack,", "Own,"),
        ("cairn-llvm/src/strategy/mod.rs", "stack", "own"),
        ("cairn-rt/src/machine/frames/mod.rs", "Stack", "Own"),
        ("cairn-rt/src/machine/frames/mod.rs", "StackRuntime", "OwnRuntime"),
        ("cairn-llvm/tests/common/emitted.rs", "Stack", "Own"),
    ] {
        let words = words(&tree.join("crates").join(file));
        let count = |word: &str| words.iter().filter(|w| *w == word).count();
        let (old, new) = (count(old), count(new));
        assert!(old > 0 && new == old, "{file}: {old} places of the model, {new} of its copy");
    }
    for (file, new, wanted) in [
        ("crates/cairn-layout/src/facts.rs", "OWN", 3),
        ("crates/cairn-llvm/src/activations/mod.rs", "OwnFrames", 2),
        ("crates/cairn-core/src/prim.rs", "FlCopySign", 1),
        ("crates/cairn-core/src/interp/primitives.rs", "FlCopySign,", 1),
        ("crates/cairn-llvm/src/emit/prims/mod.rs", "FlCopySign", 1),
        ("crates/cairn-llvm/src/emit/prims/flonum.rs", "FlCopySign", 1),
        ("crates/cairn-llvm/src/emit/prims/flonum.rs", "llvm.copysign.f64", 1),
        ("crates/cairn-llvm/src/emit/mod.rs", "llvm.copysign.f64", 1),
        ("lib/more/srfi/144.sld", "%flcopysign", 2),
    ] {
        let found = words(&tree.join(file)).iter().filter(|w| *w == new).count();
        assert_eq!(found, wanted, "{file}: places of {new}");
    }
    if is_whole {
        let said = trials.map(|trial| bash(&trial));
        assert!(said[0].contains("1. Floating point") && said[1] == said[0], "{said:?}");
        assert_eq!(said[2].trim_end(), "(-1.5 2.5 -3.5)");
    }
}
