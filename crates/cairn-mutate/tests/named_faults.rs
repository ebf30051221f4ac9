//! The faults of the list apply to the sources as they are: `cairn-mutate named` can put each of them back.

use cairn_mutate::named::{NAMED, mutants};
use std::path::Path;

#[test]
fn every_fault_of_the_list_has_its_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    assert_eq!(mutants(&root).len(), NAMED.len());
}
