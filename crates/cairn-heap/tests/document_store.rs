//! `examples/documents.rs`, a program with an object model of its own, does what it says with every collector.
#![allow(missing_docs)]

#[path = "../examples/documents.rs"]
mod documents;

#[test]
fn the_store_of_documents_works_with_every_collector() {
    documents::main();
}
