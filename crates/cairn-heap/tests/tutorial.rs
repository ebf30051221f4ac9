//! docs/add-a-collector.md: its code is that of `examples/tiny.rs`, step by step, and that works.

#[path = "../examples/tiny.rs"]
#[allow(missing_docs)]
mod tiny;

use std::path::Path;

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn the_tiny_collector_collects() {
    tiny::main();
}

/// After each mark `<!-- step n -->` of the text comes the part of the file that begins with `// step n`; no part is
/// left out.
#[test]
fn the_text_shows_the_file() {
    let (text, file) = (read("docs/add-a-collector.md"), read("crates/cairn-heap/examples/tiny.rs"));
    let (file, _) = file.split_once("// end\n").expect("an end");
    let parts: Vec<&str> = file.split("// step ").skip(1).collect();
    assert_eq!(parts.len(), text.matches("<!-- step ").count());
    for part in parts {
        let (title, code) = part.split_once('\n').unwrap();
        let (number, title) = title.split_once(": ").unwrap();
        assert!(text.contains(&format!("## Step {number}: {title}\n")), "no heading for step {number}, {title}");
        let shown = format!("<!-- step {number} -->\n```rust\n{}\n```\n", code.trim_matches('\n'));
        assert!(text.contains(&shown), "docs/add-a-collector.md does not show this as step {number}:\n{shown}");
    }
}
