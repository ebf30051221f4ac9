//! docs/add-a-collector.md: its code is that of `examples/tiny.rs`, step by step, and that works.

#[path = "../examples/tiny.rs"]
#[allow(missing_docs)]
mod tiny;

#[path = "../../../tests/support/tutorial.rs"]
mod tutorial;

#[test]
fn the_tiny_collector_collects() {
    tiny::main();
}

#[test]
fn the_text_shows_the_file() {
    tutorial::check("docs/add-a-collector.md", "crates/cairn-heap/examples/tiny.rs");
}
