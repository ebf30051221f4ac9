//! The optimizer: passes over Core and the order they run in.

pub mod known;

pub use known::GlobalFacts;
