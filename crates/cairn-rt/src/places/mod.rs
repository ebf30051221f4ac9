//! Places: runtimes beside each other, each on an OS thread of its own, that run one program.
//!
//! The problem: green threads share a heap and take turns on one processor; several processors need several heaps, or
//! a collector that knows of threads. The idea (as in Racket's places; Tew et al. 2011): heaps share nothing, values
//! go from one to another as [messages](freeze). Code, constant leaves and static closures lie in the program's
//! object and serve all places. Words that programs change, globals, symbol slots and literals, each place has for
//! itself: a program that makes places is compiled so that its code adds `Machine::statics` to their addresses
//! (`ModuleTable::shared`), which is 0 in the first place. So all code addresses are the same everywhere, and a closure
//! can be sent.
//!
//! ```text
//!                         ┌ code, leaves, static closures ┐
//!   first place           │      the program's object     │          another place
//!   heap ◀─ globals, literals ◀─ statics = 0    statics = d ─▶ globals, literals ─▶ heap
//!     └──────────────── freeze ──▶ message ──▶ thaw ──────────────────────────────────┘
//! ```
//!
//! A place begins with a copy of its maker's variables as they are, like a process after `fork`, and calls a procedure
//! that came with them. (Running the bodies of libraries again, as Racket does, would leave the variables of the
//! program without values, and the compiler has left out tests that they have some.) What belongs to a run is made anew
//! by lib/cairn/place.sld: threads, timers, hooks of the scheduler.
//!
//! [`family::Family`] is what all places of a program have in common; its first place outlives the others, since they
//! run code that its caller has loaded: whatever ends the first one ends them before ([`end_others`]).
//!
//! Channels and places are records with a number; what it stands for is held as long as some object with it lives,
//! which weak handles tell.

pub mod doorbell;
#[cfg(test)]
mod doorbell_tests;
pub mod family;
mod freeze;
mod life;
mod place_calls;
pub mod shared;
mod thaw;

pub use life::end_others;
pub use place_calls::*;
