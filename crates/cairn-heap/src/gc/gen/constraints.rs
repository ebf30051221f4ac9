//! What `gen` demands of a heap and promises to code generation.

use crate::gc::plan::Constraints;
use cairn_layout::collector::GEN;

/// See [`super`].
pub(crate) const CONSTRAINTS: Constraints =
    Constraints { facts: &GEN, young_quarters: 1, generational: true, evacuates: true, ambiguous: true };
