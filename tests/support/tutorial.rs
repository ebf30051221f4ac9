//! A tutorial and the file that it builds. A test includes this file.

use std::path::Path;

/// A file of the source tree.
pub fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// After each mark `<!-- step n -->` of the page comes the part of the file that begins with `// step n`; no part is
/// left out.
pub fn check(page: &str, file: &str) {
    let (text, code) = (read(page), read(file));
    let (code, _) = code.split_once("// end\n").expect("an end");
    let parts: Vec<&str> = code.split("// step ").skip(1).collect();
    assert_eq!(parts.len(), text.matches("<!-- step ").count());
    for part in parts {
        let (title, code) = part.split_once('\n').unwrap();
        let (number, title) = title.split_once(": ").unwrap();
        assert!(text.contains(&format!("## Step {number}: {title}\n")), "no heading for step {number}, {title}");
        let shown = format!("<!-- step {number} -->\n```rust\n{}\n```\n", code.trim_matches('\n'));
        assert!(text.contains(&shown), "{page} does not show this as step {number}:\n{shown}");
    }
}
