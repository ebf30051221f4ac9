//! What a compiled program hands to the runtime: one static [`ModuleTable`], symbol `cairn_module`.

use crate::Value;

/// A compiled module's tables. Built by `cairn-llvm`, read by `cairn-rt`.
#[repr(C)]
#[derive(Clone)]
pub struct ModuleTable {
    /// [`MODULE_VERSION`]; guards against stale caches.
    pub version: u64,
    /// Index of the frame strategy in `facts::STRATEGIES`.
    pub strategy: u64,
    /// Name of the collector whose facts the code was made by.
    pub collector: Bytes,
    /// Global variables (roots; a store marks its card).
    pub globals: *mut Value,
    /// Number of globals.
    pub global_count: u64,
    /// The globals among them that other modules define: filled at load.
    pub imports: *const ImportEntry,
    /// Number of them.
    pub import_count: u64,
    /// Words of structured literals: pairs, vectors and their contents, scanned as roots (programs do mutate
    /// them). At load, a word `(i << 8) | SYMBOL_PLACEHOLDER` is replaced by symbol `i`, a word
    /// `(n << 8) | NODE_PLACEHOLDER` by the address of the literals plus `n`.
    pub literals: *mut u64,
    /// Number of literal words.
    pub literal_count: u64,
    /// Symbol slots, filled at load.
    pub symbols: *mut Value,
    /// Symbol names: NUL-free UTF-8 with explicit lengths.
    pub symbol_names: *const Bytes,
    /// Number of symbols.
    pub symbol_count: u64,
    /// Sources, indexed by `code::Site::file`.
    pub sources: *const Source,
    /// Number of sources.
    pub source_count: u64,
    /// Positions of errors, and of calls in inlined bodies; indexed by `code::Site::row`.
    pub inlined: *const Inlined,
    /// Number of them.
    pub inlined_count: u64,
    /// `extern "C" fn(ctx: *mut Machine, closure: Value)`: runs a procedure of no arguments to its end, leaving its
    /// value in `Machine::result`. `Machine::{sp,lo,hi}` must be set; they are set again on return.
    pub enter: *const u8,
    /// The program: a closure of no arguments.
    pub main: Value,
    /// Code address of the outermost return point. This and the next four may be null where `imports` are, for the
    /// runtime uses those of the module that it has loaded first.
    pub halt: *const u8,
    /// Code address of the return point that goes back to a safepoint; its frames have one slot.
    pub resume: *const u8,
    /// Code address of the underflow return point (`chunks`), else null.
    pub underflow: *const u8,
    /// Code address of continuation objects.
    pub continuation: *const u8,
    /// Code addresses of procedures that no Scheme text defines, by [`builtin`].
    pub builtins: *const *const u8,
    /// Not 0: code finds globals, symbol slots and literals by way of `Machine::statics`, so it serves several
    /// runtimes, each with its own copy of these words (`cairn_rt::places`).
    pub shared: u64,
    /// Added to the positions of failures (as a fixnum): the module's number in its runtime, set at load; see
    /// `code::Site::base`. Before, [`NOT_LOADED`].
    pub site_base: *mut u64,
}

/// Procedures of the prelude, for `%machine-builtin`.
pub mod builtin {
    /// `(call-in k thunk)`: calls `thunk` with the continuation `k` instead of the present one; winders stay as they
    /// are.
    pub const CALL_IN: usize = 0;
    /// `(return-values x ...)`: its arguments as values, however many.
    pub const RETURN_VALUES: usize = 1;
    /// How many there are.
    pub const COUNT: usize = 2;
}

/// A global that another module defines.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ImportEntry {
    /// Index of the global.
    pub global: u64,
    /// Twice the number of the library's export, or twice the number of a cell of evaluated code, plus 1.
    pub from: u64,
}

/// What [`ModuleTable::site_base`] points to until the module is loaded. Globals, literals and symbols are words of the
/// object itself, which belong to one runtime then: another one needs a copy of its own.
pub const NOT_LOADED: u64 = u64::MAX;

/// Bumped whenever compiled code and runtime stop fitting each other.
pub const MODULE_VERSION: u64 = 14;

/// Low byte of a literal word that stands for a symbol.
pub const SYMBOL_PLACEHOLDER: u64 = 0xFA;
/// Low byte of a literal word that stands for a pair or object among the literals.
pub const NODE_PLACEHOLDER: u64 = 0xF2;

/// A position that knows its procedure, and where that procedure's body was inlined.
#[repr(C)]
pub struct Inlined {
    /// Where the text stands.
    pub site: u64,
    /// Name of the procedure it is written in: NUL-terminated.
    pub procedure: u64,
    /// The call in whose place the body stands: a row too; or unknown (a tail call, or not inlined).
    pub at: u64,
}

/// A counted byte string.
#[repr(C)]
#[derive(Clone)]
pub struct Bytes {
    /// First byte.
    pub data: *const u8,
    /// Length in bytes.
    pub len: u64,
}

/// A source file, for error messages.
#[repr(C)]
pub struct Source {
    /// Path as the user gave it.
    pub path: Bytes,
    /// Text; empty for library files.
    pub text: Bytes,
    /// Places are told as if so many lines came before the text.
    pub lines_before: i64,
}
