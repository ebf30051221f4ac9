//! What `mcc` asks of its heap.

use crate::gc::plan::Constraints;
use cairn_layout::collector::MCC;

pub(crate) const CONSTRAINTS: Constraints =
    Constraints { facts: &MCC, young_quarters: 0, generational: false, evacuates: true, ambiguous: true };
