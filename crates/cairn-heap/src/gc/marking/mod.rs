//! Marking in place, by one thread or several, for every collector that marks.

mod marker;
mod sharing;
#[cfg(test)]
mod sharing_tests;
mod together;

pub(super) use marker::{Again, Stacks};
pub(super) use together::{Marked, Start, mark};
