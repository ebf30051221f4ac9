//! The machine context: what compiled code reaches through its context register.
//!
//! Register convention (LLVM `preserve_none`, one uniform prototype for every piece of Scheme code):
//!
//! ```text
//!  void code(ptr ctx, i64 sp, i64 lo, i64 hi, i64 argc, i64 clo, i64 a0, i64 a1, i64 a2, i64 a3, i64 a4)
//!            r12      r13     r14     r15     rdi       rsi      rdx ...
//! ```
//!
//! `ctx` points to the [`Machine`]. `sp` is the youngest frame (under `heap`: the tagged frame). `lo` and `hi`
//! delimit the free part of the current nursery block: pairs are taken from `lo` up, everything else from `hi`
//! down, so `hi - lo >= bytes` is the one check for both.
//!
//! * Unknown call: `argc` arguments, the closure in `clo`, arguments 0..5 in `a0..a4`, the others in
//!   `args[5..argc]`. The count is the lower half of `argc`; the upper half says where a tail call stands
//!   ([`crate::code::tail_call`]).
//! * Known call: parameters 0..5 in `a0..a4`, parameter 5 in `argc`, parameter 6 in `clo` unless the callee
//!   needs its closure, which then is in `clo`; further parameters in `args[i]` where `i` is the parameter index.
//! * Single-value return: jump to the code address in the frame's first word, value in `a0`.
//! * Multiple-value return: jump to the frame's multiple-value entry (descriptor), count in `argc`, values like
//!   arguments of an unknown call.
//!
//! The first four registers are callee-saved in the C convention, so C calls keep the machine state.

use crate::Value;
use crate::limits::SPILL_WORDS;
use std::mem::offset_of;

/// A stack guard that no frame is above: every stack check and every stop check goes to the runtime.
pub const STOP: u64 = u64::MAX;
/// Reasons to stop: bits of [`Machine::stop`].
pub mod stop {
    /// A signal has arrived.
    pub const SIGNAL: u64 = 1;
    /// Guardians have got something back.
    pub const FINALIZERS: u64 = 4;
    /// Zeal: every safepoint collects. Never cleared.
    pub const ZEAL: u64 = 2;
    /// The ticker wants another thread to have its turn.
    pub const TICK: u64 = 8;
    /// Every safepoint may switch threads: with `CAIRN_SCHEDULE`, or while safepoints are counted.
    pub const SCHEDULE: u64 = 16;
    /// The stack has got more memory, which nobody has counted yet (`stack`).
    pub const STACK: u64 = 32;
    /// The run is to end: another place wants it.
    pub const END: u64 = 64;
    /// Allocation in runtime calls has made a collection due, or has come to the end of what it was given.
    pub const HEAP: u64 = 128;
    /// There is better code for a module.
    pub const CODE: u64 = 256;
    /// A sample for the profile of processor time is due.
    pub const PROFILE: u64 = 512;
}
/// Number of slots visible to the library as `(%machine-ref i)`: those of the thread, then those of the runtime.
pub const SLOTS: usize = 24;
/// How many of them belong to a thread: [`ThreadState::slots`]. The others are [`Machine::slots`].
pub const THREAD_SLOTS: usize = 3;
/// Slots known to the runtime.
pub mod slot {
    /// Dynamic-wind list; `%machine-ref 0`.
    pub const WINDERS: usize = 0;
    /// Exception handler stack.
    pub const HANDLERS: usize = 1;
    /// Current parameterization.
    pub const PARAMETERS: usize = 2;
    /// Procedure called with `(kind who message irritants site)` when a primitive or runtime call fails.
    pub const ERROR_HOOK: usize = 3;
    /// Procedure called with `(continuation values-list)` when a continuation with other winders is invoked.
    pub const REWIND_HOOK: usize = 4;
    /// Standard input port.
    pub const STDIN: usize = 5;
    /// Standard output port.
    pub const STDOUT: usize = 6;
    /// Standard error port.
    pub const STDERR: usize = 7;
    /// Procedure of no arguments that raises what [`RAISED`] says: called when the runtime ends an activation.
    pub const RAISE_HOOK: usize = 8;
    /// The arguments of the error hook, as a list; or the number of a signal, negative if the program cannot go on
    /// where it was.
    pub const RAISED: usize = 9;
    /// Procedure of no arguments to be called when a signal arrives; `#f`: signals end the program.
    pub const SIGNAL_HOOK: usize = 10;
    /// Procedure of no arguments to be called when guardians have got something back, or `#f`.
    pub const FINALIZER_HOOK: usize = 12;
    /// What a library that was compiled beforehand exports, a vector, once it has run.
    pub const EXPORTS: usize = 11;
    /// Procedure of no arguments to be called at a safepoint when another thread shall have its turn, or `#f`.
    pub const TICK_HOOK: usize = 13;
    /// Procedure called with what nobody handles: it returns if that is the program's business; or `#f`.
    pub const UNCAUGHT_HOOK: usize = 14;
    /// Procedure called with a port and 1 (to read) or 2 (to write) when that would block, or `#f`: it may block.
    pub const WAIT_HOOK: usize = 15;
    /// Procedure called with a thunk that raises a signal: has it run in the main thread. `#f`: there is only that.
    pub const INTERRUPT_HOOK: usize = 16;
    /// How many continuations for more than one use were captured, a fixnum: counted where one-shot continuations are
    /// cheaper than others.
    pub const CAPTURES: usize = 17;
    /// `#t` when the program has made a callback: then C functions may call it, and compiled code calls none directly.
    pub const C_CALLS_BACK: usize = 18;
    /// The mark of the evaluated tail call that was made last.
    pub const TAIL_MARK: usize = 19;
}

/// Offset of a slot in the machine context.
pub const fn slot_offset(i: usize) -> usize {
    assert!(i < SLOTS);
    match i.checked_sub(THREAD_SLOTS) {
        None => offset_of!(Machine, thread.slots) + 8 * i,
        Some(shared) => offset_of!(Machine, slots) + 8 * shared,
    }
}

/// Error kinds passed to the error hook (fixnums). Who, message and irritants read as one sentence:
/// `car: expected a pair, got` 5.
pub mod error {
    /// Argument of the wrong type: the irritant.
    pub const TYPE: i64 = 0;
    /// Index or number out of range.
    pub const RANGE: i64 = 1;
    /// Call of something that is not a procedure.
    pub const NOT_PROCEDURE: i64 = 2;
    /// Wrong number of arguments: who is the procedure, irritants are the arguments.
    pub const ARITY: i64 = 3;
    /// Variable used before its definition, or never defined.
    pub const UNBOUND: i64 = 4;
    /// What compiled code says it expected of a variable that nothing defines.
    pub const A_DEFINITION: &str = "a definition";
    /// What is said of a variable that nothing defines, before its name.
    pub const UNKNOWN: &str = "unbound variable: ";
    /// What is said of a variable whose definition comes later, before its name.
    pub const EARLY: &str = "variable used before its definition gives it a value: ";

    /// What is said of a variable that has no value.
    pub fn unbound(name: &str, undefined: bool) -> String {
        format!("{}{name}", if undefined { UNKNOWN } else { EARLY })
    }
    /// Division by zero.
    pub const DIVISION: i64 = 5;
    /// File error: satisfies `file-error?`.
    pub const FILE: i64 = 6;
    /// Read error: satisfies `read-error?`.
    pub const READ: i64 = 7;
    /// Anything else.
    pub const OTHER: i64 = 8;
    /// A runtime call failed; the runtime knows the details.
    pub const PENDING: i64 = 9;
    /// A form that is not one: an error of the expander in `eval`, `load` or `environment`.
    pub const SYNTAX: i64 = 10;
}

/// What a thread of control consists of while it runs, and all of it: where its frames are, and the slots that are its
/// own. To switch threads is to exchange this structure; everything else of the [`Machine`] belongs to the OS thread.
///
/// `sp` is in its register while compiled code runs. Which of the other fields mean anything is up to the frame
/// strategy: frames in the heap need `sp` alone.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ThreadState {
    /// A new frame must not start below this address. [`Machine::stack_guard`] is what compiled code compares with.
    pub stack_limit: u64,
    /// The youngest frame, while compiled code does not run or a runtime call is under way.
    pub sp: u64,
    /// Base of the current stack segment: address of its underflow frame (`chunks`).
    pub base: u64,
    /// The continuation below the current segment: continuation object or `#f`.
    pub under: Value,
    /// The youngest frame of `under` that has not been copied back; 0 when none has.
    pub under_sp: u64,
    /// Current chunk (`chunks`), else 0.
    pub chunk: u64,
    /// Slots 0 to `THREAD_SLOTS`.
    pub slots: [Value; THREAD_SLOTS],
}

impl ThreadState {
    /// A thread without frames, handlers and parameters.
    pub const NEW: ThreadState = ThreadState {
        stack_limit: 0,
        sp: 0,
        base: 0,
        under: Value::FALSE,
        under_sp: 0,
        chunk: 0,
        slots: [Value::NIL; THREAD_SLOTS],
    };
}

/// Where the mutator allocates: pairs from `lo` up, everything else from `hi` down, so that one comparison serves both.
/// Where memory comes from free lists, `hi - lo` is a budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Cursors {
    /// End of the pairs.
    pub lo: u64,
    /// Start of the other objects.
    pub hi: u64,
}

impl Cursors {
    /// Bytes between the cursors. None where they have crossed: when a budget has granted a heap check what it asks for
    /// and the runtime allocates before compiled code takes it, the two together take more (`marksweep`).
    #[inline(always)]
    pub const fn room(self) -> u64 {
        self.hi.saturating_sub(self.lo)
    }
}

/// Stubs of programs with native frames (`cairn_rt::machine::native_stubs`).
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct NativeStubs {
    /// Calls a function of the runtime, in `rax`, by C's convention.
    pub call: u64,
    /// Calls a C function, in `r11`, by C's convention, for compiled code.
    pub call_c: u64,
    /// Returns several values, or none.
    pub return_many: u64,
    /// Goes to the code in `Machine::again`, with the frames of the continuation in `sp`.
    pub go: u64,
}

/// The machine context: one for each OS thread that runs compiled code. Offsets are taken by the compiler with
/// `offset_of!`; what compiled code uses most comes first, as short offsets make short instructions.
#[repr(C)]
pub struct Machine {
    /// What stack checks and stop checks test: `thread.stack_limit`, or [`STOP`] while `stop` is not 0. Signal handlers
    /// and other OS threads may write it at any time; it is accessed atomically by the runtime.
    pub stack_guard: u64,
    /// The thread that runs.
    pub thread: ThreadState,
    /// Where allocation is, while compiled code does not run or a runtime call is under way.
    pub cursors: Cursors,
    /// The first free part of frames (`quasi`), or 0.
    pub free_parts: u64,
    /// Base of the card table, indexed by `(address >> CARD_SHIFT) & card_mask`.
    pub cards: *mut u8,
    /// Mask of card indices: addresses that are equal under it share a card. It does not change.
    pub card_mask: u64,
    /// Smaller words are no references to what a minor collection moves or frees: the card of a slot that gets one need
    /// not be marked. The heap changes it.
    pub young: u64,
    /// Stub for cold runtime calls: preserves every register but its results; see `cairn_rt::stubs`.
    pub cold_stub: u64,
    /// Stub for calls that stand behind an operation's fast path: it raises and collects, too; see
    /// [`crate::code::SlowCall`].
    pub slow_stub: u64,
    /// What the heap check that fails wants: which function to enter again (`cairn-llvm/src/emit/again.rs`).
    pub again: u64,
    /// Arguments and values beyond the registers.
    pub args: *mut Value,
    /// Number of values spilled by the slow path under way.
    pub spilled: u64,
    /// Why compiled code should come to the runtime: [`stop`] bits, set atomically at any time.
    pub stop: u64,
    /// The native stack pointer of the cold stub, while a runtime call made through it is under way.
    pub native_sp: u64,
    /// Result of a machine entry.
    pub result: Value,
    /// The slots after those of the thread.
    pub slots: [Value; SLOTS - THREAD_SLOTS],
    /// Native stack pointer of the entry into compiled code under way, or 0; see `cairn_rt::machine::stubs`.
    pub host_sp: u64,
    /// Native stack pointer whenever a function of compiled code is entered, in the run under way.
    pub entry_sp: u64,
    /// The runtime behind this machine (`cairn_rt::Runtime`).
    pub runtime: *mut u8,
    /// Live values of the slow path under way: `spill[0..spilled]`.
    pub spill: [Value; SPILL_WORDS],
    /// Function pointers, one per row of [`crate::calls::RT_CALLS`], in order.
    pub calls: [*const u8; crate::calls::CALL_CAPACITY],
    /// First cells of the free lists, indexed by [`crate::collector::FreeList`]; 0 when a list is empty. Before a
    /// collection they go back to the heap.
    pub free: [u64; crate::collector::FREE_LISTS],
    /// Which code allocates, for heap profiles: a site as a fixnum, written on slow paths of programs that were
    /// compiled for it.
    pub allocation_site: u64,
    /// Where compiled code with native frames goes for what needs another stack.
    pub native: NativeStubs,
    /// The types that extend others: [`crate::object::record::ancestry`].
    pub ancestry: *const u8,
    /// The pools of compact records: [`crate::object::record::compact::BIAS`] bytes before the table with an
    /// [`crate::object::record::compact::Entry`] for each number of a type.
    pub pools: *mut u8,
    /// Where the heap's region starts: references to elements of structure vectors count from here
    /// ([`crate::element`]).
    pub region: u64,
    /// What is added to the addresses of globals, symbol slots and literals of programs whose code serves several
    /// places (`ModuleTable::shared`): 0 in the first one.
    pub statics: u64,
    /// Where the OS thread's `errno` is: compiled code saves it after a call of C.
    pub errno_at: *const i32,
    /// What the last call of C has left in `errno`.
    pub c_errno: u64,
    /// The result of the last call of C that compiled code made, if it is no fixnum.
    pub c_wide: u64,
    /// Registers, results and stack of a call of C that is made by `cairn_c_spread`.
    pub c_words: [u64; crate::c::spread::WORDS],
}

// A thread is parked and resumed by copying it.
const _: () = assert!(size_of::<ThreadState>() <= 9 * 8);

impl Machine {
    /// Slot `i`, as `(%machine-ref i)` sees it.
    pub fn slot(&self, i: usize) -> Value {
        if i < THREAD_SLOTS { self.thread.slots[i] } else { self.slots[i - THREAD_SLOTS] }
    }

    /// Slot `i`, to be set.
    pub fn slot_mut(&mut self, i: usize) -> &mut Value {
        if i < THREAD_SLOTS { &mut self.thread.slots[i] } else { &mut self.slots[i - THREAD_SLOTS] }
    }
}

/// log2 of the bytes covered by one card.
pub const CARD_SHIFT: u32 = 9;
/// What a card is where all of it may hold new references: each bit stands for an eighth.
pub const DIRTY: u8 = 0xFF;
/// log2 of the reserved region (64 GiB).
pub const REGION_BITS: u32 = 36;
/// log2 of the block size (32 KiB).
pub const BLOCK_SHIFT: u32 = 15;
