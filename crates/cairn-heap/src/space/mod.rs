//! Spaces: kinds of memory, one per file.
//!
//! A space knows how its memory is laid out, handed out, walked and given back. It never knows which collector
//! uses it, what a root is, or when collections happen: collectors (see [`crate::gc`]) compose spaces.

pub mod cells;
pub mod compact;
pub mod immortal;
pub mod large;
pub mod markregion;
pub mod nursery;
pub mod own;
pub mod pages;
pub mod pinned;
pub mod segregated;
pub mod stack_chunks;
