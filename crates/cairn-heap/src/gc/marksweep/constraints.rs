//! What `marksweep` asks of its heap.

use crate::gc::plan::Constraints;
use cairn_layout::collector::MARKSWEEP;

pub(crate) const CONSTRAINTS: Constraints =
    Constraints { facts: &MARKSWEEP, young_quarters: 0, generational: false, evacuates: false, ambiguous: true };
