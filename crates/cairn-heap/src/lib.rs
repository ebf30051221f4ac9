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
//! | [`client`] | what a collection asks of the language's runtime |
//! | [`gc`] | the collectors, one folder each, and what each is: `gc/plan.rs` |
//! | [`state`] | what every collector needs of a heap |
//! | [`model`] | what words and objects look like: Scheme's, and C's |
//! | [`space`] | nursery, mark-region, segregated fits, pages, large, immortal, cells, stack chunks: one file each |
//! | [`blocks`], [`region`] | block descriptors and allocator; address space and cards |
//! | [`marks`], `find` | object starts and lines; from an address to the object around it |
//! | `weak` | weak references, ephemerons, guardians |
//! | [`sizing`] | when to collect everything |
//! | [`check`], [`workshop`] | independent heap walker, and what it keeps from walk to walk |
//! | [`config`], [`stats`], [`error`], [`address`] | what they say |
//!
//! Absent: no process globals; no knowledge of Scheme outside `model/scheme.rs`; spaces know no algorithm; no
//! collector is named outside its folder and `gc/mod.rs`, nor a space that only one of them has outside `gc` and
//! `space` (`space/own.rs`).
//!
//! A heap without a compiler, used by hand (`examples/bench.rs` has more of it, `examples/documents.rs` is a program
//! with an object model of its own):
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
//! let mut cursors = heap.current();
//! let pair = heap.alloc(&mut cursors, 16, AllocKind::Pair).unwrap();
//! unsafe {
//!     *(pair as *mut u64) = Value::fixnum(1).0;
//!     *(pair as *mut u64).add(1) = Value::NIL.0;
//! }
//! let mut roots = Roots(vec![pair | 3]);
//! heap.collect(&mut cursors, &mut roots, Request::Minor).unwrap();
//! assert_ne!(roots.0[0], pair | 3); // the pair has moved
//! ```
//!
//! The same for C's objects, and a word that only seems to be a reference:
//!
//! ```
//! use cairn_heap::{Address, AmbiguousVisitor, CObjects, Client, Heap, HeapConfig, Nature, Request, RootVisitor};
//!
//! struct Stack(Vec<u64>);
//! impl Client for Stack {
//!     const AMBIGUOUS: bool = true;
//!     fn visit_ambiguous<V: AmbiguousVisitor>(&mut self, v: &mut V) {
//!         unsafe { v.ambiguous_words(self.0.as_ptr(), self.0.len()) }
//!     }
//!     fn visit_roots<V: RootVisitor>(&mut self, _: &mut V) {}
//!     fn trace_continuation<V: RootVisitor>(&mut self, _: Address, _: &mut V) {}
//! }
//!
//! let mut model = CObjects::default();
//! let node = Nature::Typed(model.define(2, 0b10), 1); // a number, a pointer
//! let mut heap = Heap::new(model, HeapConfig::default()).unwrap();
//! let mut cursors = heap.current();
//! let [first, second] = [(); 2].map(|()| heap.make(&mut cursors, node).unwrap());
//! unsafe { *(first as *mut u64).add(2) = second };
//! let mut stack = Stack(vec![42, first + 8]); // into the middle
//! heap.collect(&mut cursors, &mut stack, Request::Minor).unwrap();
//! assert_eq!(heap.stats().pinned, 1);
//! assert_ne!(unsafe { *(first as *const u64).add(2) }, second); // this one has moved
//! ```
#![allow(unsafe_code)]

pub mod address;
pub mod blocks;
mod census;
pub mod check;
mod client;
mod config;
mod error;
mod find;
mod gc;
mod heap;
mod idle;
mod marks;
pub mod model;
mod region;
mod sampling;
mod sizing;
mod space;
mod state;
mod stats;
mod sync;
mod weak;
mod workshop;
mod zeal;

pub use address::{Address, ByAddress};
pub use census::Census;
pub use client::{AmbiguousVisitor, Client, RootVisitor, WeakVisitor};
pub use config::{HeapConfig, Proposals, SizingConfig, Tracing, Zeal};
pub use error::{HeapError, OutOfMemory};

pub use heap::{AllocKind, Cursors, Heap, Moves, Refill};
pub use model::ObjectModel;
pub use model::c::{CObjects, LayoutId, Nature};
pub use model::scheme::Scheme;
pub use region::{addresses_left, room_for_threads};
pub use sampling::Sample;
pub use space::cells::CellType;
pub use space::compact::PoolStats;
pub use state::Request;
pub use stats::{Bytes, CollectionEvent, CollectionKind, Observer, Stats};
pub use weak::{GivenBack, WeakHandle, WeakKind};
