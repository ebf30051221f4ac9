//! What `bdw` asks of its heap.

use crate::gc::plan::Constraints;
use cairn_layout::collector::BDW;

pub(crate) const CONSTRAINTS: Constraints =
    Constraints { facts: &BDW, young_quarters: 0, generational: false, evacuates: false, ambiguous: true };
