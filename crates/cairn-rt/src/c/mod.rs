//! Calls of C functions, and of Scheme procedures by C: what `lib/cairn/c.sld` asks of the runtime.
//!
//! | file | its one job |
//! |---|---|
//! | [`convert`] | values to words of C and back |
//! | [`lent`] | what C has only for the duration of a call |
//! | [`invoke`] | a call with all registers that C's convention has |
//! | [`fibers`] | calls on a stack of their own, which may call back |
//! | [`exports`] | what C may call by name in a shared library |
//! | [`stack`] | native stacks, and how one is left for another |
//! | [`sources`] | functions of C sources that are parts of programs |
//! | [`server`] | the stack of a shared library's program |
//! | [`elsewhere`] | calls that OS threads of their own make |
//! | [`c_calls`] | the runtime calls |
//!
//! The problem: C code may call Scheme procedures, and those may collect, capture continuations and let other threads
//! run; but a runtime call never collects, and what compiled code holds in registers across it is no root.
//!
//! The idea: a C function that may call back runs on a *fiber*, a native stack of its own. When it calls a Scheme
//! procedure, the fiber is left, and the runtime call returns to the library with a request: the library calls the
//! procedure, like any other, and resumes the fiber with the result. So Scheme code never runs above C code, there are
//! no C frames among Scheme's, and every frame strategy, collector and thread goes on as without C.
//!
//! A program that has made no callback has no need of that: then C functions are called where the runtime call is, on
//! the host's stack, or by compiled code itself.
//!
//! In a shared library it is the other way round, too: C calls what the program exports ([`server`]).

pub mod c_calls;
pub mod convert;
pub(crate) mod elsewhere;
pub mod exports;
pub mod fibers;
pub mod invoke;
pub mod lent;
pub mod server;
pub mod sources;
mod stack;
