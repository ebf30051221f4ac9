//! How frames are made, found and left: one implementation per way of keeping frames.
//!
//! Nothing else in this crate knows which strategy is in use. A new strategy is a new file here, its facts in
//! `cairn_layout::facts`, and its row in `crate::activations`.

pub(crate) mod chunks;
pub(crate) mod heap;
mod operations;
pub(crate) mod quasi;
pub(crate) mod stack;

pub(crate) use operations::{Frames, Push, Strategy};
