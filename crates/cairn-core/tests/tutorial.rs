//! docs/internals/add-a-pass.md: its code is that of `examples/doubling.rs`, step by step, and that works.

#[path = "../examples/doubling.rs"]
#[allow(missing_docs)]
mod doubling;

#[path = "../../../tests/support/tutorial.rs"]
mod tutorial;

#[test]
fn the_pass_changes_the_program_and_not_what_it_does() {
    doubling::main();
    // a factor that is not 2, and operands that are tested, stay
    for text in ["(%write-object (%fl*:3 3.0 1.5) '() 1)", "(%write-object (%fl*:1 1.5 2.0) '() 1)"] {
        assert!(doubling::check(text).contains("%fl*"), "{text}");
    }
}

#[test]
fn the_text_shows_the_file() {
    tutorial::check("docs/internals/add-a-pass.md", "crates/cairn-core/examples/doubling.rs");
}

/// What the page says of the tables is so: each pass of the optimizer has a row in the module's table and in the order.
#[test]
fn the_places_that_the_text_names_are_there() {
    let (text, passes) =
        (tutorial::read("docs/internals/add-a-pass.md"), tutorial::read("crates/cairn-core/src/passes/mod.rs"));
    for name in cairn_core::passes::Disabled::names() {
        assert!(passes.contains(&format!("//! | [`{name}`] |")), "{name} has no row in the table");
    }
    for place in ["passes/mod.rs", "`HIGH`", "check_pass", "--disable-pass"] {
        assert!(text.contains(place), "{place}");
    }
    assert!(passes.contains("const HIGH: &[Step]") && passes.contains("check_pass(25"));
}
