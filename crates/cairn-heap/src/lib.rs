//! # cairn-heap: managed memory
//!
//! The problem: a language runtime needs memory that it never frees, fast to allocate, small, with short pauses,
//! and it must be possible to exchange the collector to find out which one is best. The idea: one block-
//! structured region (after BIBOP and Immix), *spaces* that know how memory is laid out, *collectors* that
//! compose them (after MMTk), one front ([`Heap`]) that a runtime programs against, and facts about each
//! collector as data that the compiler interprets.
//!
//! | module | what it is |
//! |---|---|
//! | [`heap`] | the front: allocation, safepoints, chunks, statistics |
//! | [`gc`] | the interface of collectors and of their client; one folder per collector |
//! | [`model`] | what words and objects look like: Scheme's, and C's |
//! | [`space`] | nursery, mark-region, large, immortal, stack chunks: one file each |
//! | [`blocks`], [`region`], [`marks`] | block descriptors and allocator; address space and cards; object starts and lines |
//! | `find` | from an address to the object around it |
//! | [`sizing`] | when to collect everything |
//! | [`check`] | independent heap walker |
//! | [`config`], [`stats`], [`error`], [`address`] | what they say |
//!
//! Absent: no process globals; no knowledge of Scheme outside `model/scheme.rs`; spaces know no algorithm; no
//! collector is named outside its folder and [`heap`].
//!
//! A heap without a compiler, used by hand (see `examples/bench.rs` for more):
//!
//! ```
//! use cairn_heap::{Address, AllocKind, Client, Heap, HeapConfig, Request, RootVisitor, Scheme};
//! use cairn_layout::Value;
//!
//! struct Roots(Vec<u64>);
//! impl Client for Roots {
//!     fn visit_roots<V: RootVisitor>(&mut self, v: &mut V) {
//!         unsafe { v.words(self.0.as_mut_ptr(), self.0.len()) }
//!     }
//!     fn trace_continuation<V: RootVisitor>(&mut self, _: Address, _: &mut V) {}
//! }
//!
//! let mut heap = Heap::new(Scheme, HeapConfig::default()).unwrap();
//! let (mut lo, mut hi) = heap.current();
//! let pair = heap.alloc(&mut lo, &mut hi, 16, AllocKind::Pair).unwrap();
//! unsafe {
//!     *(pair as *mut u64) = Value::fixnum(1).0;
//!     *(pair as *mut u64).add(1) = Value::NIL.0;
//! }
//! let mut roots = Roots(vec![pair | 3]);
//! heap.collect(&mut lo, &mut hi, &mut roots, Request::Minor).unwrap();
//! assert_ne!(roots.0[0], pair | 3); // the pair has moved
//! ```
#![allow(unsafe_code)]

pub mod address;
pub mod blocks;
pub mod check;
mod config;
mod error;
mod find;
mod gc;
mod heap;
mod marks;
pub mod model;
mod region;
mod sizing;
mod space;
mod stats;
mod zeal;

pub use address::Address;
pub use config::{HeapConfig, SizingConfig, Zeal};
pub use error::{HeapError, OutOfMemory};
pub use gc::{AmbiguousVisitor, Client, Request, RootVisitor, WeakVisitor};
pub use heap::{AllocKind, Heap, Refill};
pub use model::{CObjects, LayoutId, Nature, ObjectModel, Scheme};
pub use space::cells::CellType;
pub use stats::{Bytes, CollectionEvent, CollectionKind, Observer, Stats};
