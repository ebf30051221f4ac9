//! Where an element of a structure vector lies, by the word that refers to it ([`cairn_layout::element`]). It counts
//! from the start of the heap's region, and what prints a record has no machine at hand: so each thread knows that of
//! the machine that it runs.

use cairn_layout::{Value, element};
use std::cell::Cell;

thread_local! {
    /// `Machine::region` of the machine that this thread runs.
    static REGION: Cell<u64> = const { Cell::new(0) };
}

/// This thread runs the machine whose heap's region starts there.
pub fn run_with(region: u64) {
    REGION.set(region);
}

/// What the fields of an element are reached from, as if it were a record there.
pub fn place(reference: Value) -> Value {
    Value(REGION.get() + element::offset(reference.0))
}
