//! docs/internals/add-a-pass.md: its code is that of `examples/doubling.rs`, step by step, and that works.

#[path = "../examples/doubling.rs"]
#[allow(missing_docs)]
mod doubling;

use std::path::Path;

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn the_pass_changes_the_program_and_not_what_it_does() {
    doubling::main();
    // a factor that is not 2, and operands that are tested, stay
    for text in ["(%write-object (%fl*:3 3.0 1.5) '() 1)", "(%write-object (%fl*:1 1.5 2.0) '() 1)"] {
        assert!(doubling::check(text).contains("%fl*"), "{text}");
    }
}

/// After each mark `<!-- step n -->` of the text comes the part of the file that begins with `// step n`.
#[test]
fn the_text_shows_the_file() {
    let (text, file) = (read("docs/internals/add-a-pass.md"), read("crates/cairn-core/examples/doubling.rs"));
    let (file, _) = file.split_once("// end\n").expect("an end");
    let parts: Vec<&str> = file.split("// step ").skip(1).collect();
    assert_eq!(parts.len(), text.matches("<!-- step ").count());
    for part in parts {
        let (title, code) = part.split_once('\n').unwrap();
        let (number, title) = title.split_once(": ").unwrap();
        assert!(text.contains(&format!("## Step {number}: {title}\n")), "no heading for step {number}, {title}");
        let shown = format!("<!-- step {number} -->\n```rust\n{}\n```\n", code.trim_matches('\n'));
        assert!(
            text.contains(&shown),
            "docs/internals/add-a-pass.md does not show this as step {number}:\n{shown}"
        );
    }
}

/// What the page says of the tables is so: each pass of the optimizer has a row in the module's table and in the order.
#[test]
fn the_places_that_the_text_names_are_there() {
    let (text, passes) = (read("docs/internals/add-a-pass.md"), read("crates/cairn-core/src/passes/mod.rs"));
    for name in cairn_core::passes::Disabled::names() {
        assert!(passes.contains(&format!("//! | [`{name}`] |")), "{name} has no row in the table");
    }
    for place in ["passes/mod.rs", "`HIGH`", "check_pass", "--disable-pass"] {
        assert!(text.contains(place), "{place}");
    }
    assert!(passes.contains("const HIGH: &[Step]") && passes.contains("check_pass(25"));
}
