//! # cairn-core: what a program means
//!
//! The Core IR ([`ir`]) is a small lambda language; [`prim`] lists its primitive operations. This crate knows
//! nothing of syntax, frames or LLVM.
//!
//! | module | what it does |
//! |---|---|
//! | [`ir`], [`prim`] | the language |
//! | [`mod@print`], [`parse`], [`verify`] | its text form, and what must hold |
//! | [`walk`], [`effects`] | what all passes share: walking, copying, measuring; effects |
//! | [`passes`] | the optimizer |
//! | [`copies`] | copies of library procedures, for programs on a library compiled beforehand |
//! | [`hints`] | what the optimizer has made of the text, for editors |
//! | [`liveness`] | what lives behind a part of an expression: what frames of evaluated code keep |
//! | [`tier`] | what of an evaluated program becomes native code |

pub mod copies;
mod effects;
pub mod globals;
pub mod hints;
pub mod inlined;
pub mod interp;
pub mod ir;
pub mod liveness;
pub mod parse;
pub mod passes;
pub mod prim;
pub mod print;
pub mod remarks;
pub mod scheme;
pub mod tier;
mod tier_lambdas;
mod tier_links;
pub mod tier_types;
pub mod verify;
mod walk;

#[cfg(debug_assertions)]
pub use walk::steps;

pub use walk::{deep, for_each_child, rewrite, visit};

#[cfg(test)]
extern crate self as cairn_core;
