//! # cairn-core: what a program means
//!
//! The Core IR ([`ir`]) is a small lambda language; [`prim`] lists its primitive operations. This crate knows
//! nothing of syntax, frames or LLVM.

pub mod ir;
pub mod prim;
