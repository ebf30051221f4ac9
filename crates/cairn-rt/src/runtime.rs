//! The runtime value: everything a running program owns.
//!
//! Nothing is global: two runtimes can live in one process. Compiled code knows only the machine context;
//! `Machine::runtime` leads from there to here ([`rt`]). This is the state alone, at the bottom of the crate;
//! [`crate::start`] makes it.

use crate::events::Events;
use crate::expander::Evaluator;
use crate::jobs::Helpers;
use crate::machine::modules::Modules;
use crate::machine::state::State;
use crate::machine::stop_word::Stopper;
use crate::machine::ticker::Ticker;
use crate::places::family::Places;
use crate::record_types::Made;
use crate::start_options::Options;
use crate::symbol_table::SymbolTable;
use cairn_heap::{Heap, Scheme};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use std::path::Path;
use std::time::Instant;

/// A failure on its way to the error hook.
#[derive(Debug, Clone)]
pub struct Failure {
    /// One of `cairn_layout::machine::error`.
    pub kind: i64,
    /// The procedure that failed.
    pub who: Option<String>,
    /// What happened; irritants follow when printed.
    pub message: String,
    /// Position among the arguments of `who` from 1, or 0: part of the message if `who` is what the program called.
    pub argument: u32,
    /// Offending objects.
    pub irritants: Vec<Value>,
}

/// When frames are measured again: see `machine/depth.rs`.
#[derive(Debug)]
pub struct DepthWatch {
    /// When the heap holds so many bytes.
    pub due: u64,
    /// What the frames took the last time.
    pub last: u64,
}

impl DepthWatch {
    /// Frames are looked at when the heap holds as much as they may take.
    pub fn new(frames_max: u64) -> DepthWatch {
        DepthWatch { due: frames_max, last: 0 }
    }

    /// When frames that take what they took the last time may have reached the limit.
    pub fn next(&self, used: u64, most: u64) -> u64 {
        used + most.saturating_sub(self.last).max(most / 16)
    }
}

/// Whether memory has run out; see [`crate::exhaustion`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exhaustion {
    /// There is memory, as far as is known.
    #[default]
    Plenty,
    /// The limit was exceeded by this many bytes, which were given all the same.
    Overdrawn(u64),
    /// The program knows.
    Raised,
}

/// Who makes a profile of the heap (`crate::heap_profile`, `crate::allocation_profile`).
pub trait Profiler {
    /// On the slow path of a heap check: whatever the heap hands out now is for the code under way.
    fn note(&mut self, ctx: &mut Machine);
    /// The heap has given the room that was asked for.
    fn refilled(&mut self, _ctx: &mut Machine) {}
    /// A runtime call has not found room at hand.
    fn called(&mut self, _ctx: &mut Machine) {}
    /// At a safepoint, after a stop for profiles was requested.
    fn stopped(&mut self, _ctx: &mut Machine) {}
    /// A collection is over.
    fn collected(&mut self, ctx: &mut Machine);
    /// At the end: the report. `frames`: compiled code is under way, and its frames are roots.
    fn report(&mut self, ctx: &mut Machine, frames: bool) -> Result<Vec<u8>, String>;
}

/// Who makes a profile of processor time (`crate::time_profile`). Ends its samples when it is dropped.
pub trait TimeProfiler {
    /// At a safepoint: the time since the last sample is for the frames under way.
    fn sample(&mut self, ctx: &Machine);
    /// A collection begins or ends.
    fn collecting(&mut self, begins: bool);
    /// A table of procedures, as text.
    fn table(&self) -> String;
    /// Writes it to a file, in the format that its name's ending says.
    fn write(&self, ctx: &Machine, file: &Path) -> Result<(), String>;
}

/// A running program's state outside its machine registers.
pub struct Runtime {
    /// The machine context, apart because compiled code holds its address. Freed on drop.
    pub(crate) machine: *mut Machine,
    /// Managed memory.
    pub heap: Heap<Scheme>,
    /// Interned symbols.
    pub symbols: SymbolTable,
    /// Options of this run.
    pub options: Options,
    /// The failure of the last runtime call that returned `Value::FAIL`.
    pub failure: Option<Failure>,
    /// Writes out what output ports have buffered; false when something was lost.
    pub(crate) flush: fn(&mut Machine) -> bool,
    /// Raises a condition in the program under way; comes back if there is none. See [`crate::machine::raise`].
    pub(crate) raise: fn(&mut Machine, &Failure),
    /// The last byte written to standard output; a line's end at first.
    pub(crate) last_output: u8,
    /// Open file ports. Weak: a port that nothing else refers to is closed.
    pub open_ports: Vec<Value>,
    /// Descriptors that two open ports have: who is closed first leaves them to the other.
    pub shared_descriptors: rustc_hash::FxHashSet<i32>,
    /// The record types that were made.
    pub(crate) record_types: Made,
    /// The loaded modules.
    pub modules: Modules,
    /// For who compiles beside the program.
    pub(crate) stopper: Stopper,
    /// Ports that nothing else refers to: to be closed. Roots.
    pub(crate) dropped_ports: Vec<Value>,
    /// How often a program was told to try again to open a file, and the number of major collections at the first time.
    pub(crate) open_retries: (u32, u64),
    /// When the runtime began.
    pub start: Instant,
    /// Whether memory has run out.
    pub(crate) exhaustion: Exhaustion,
    /// The exit status of a program that ends without calling `exit`.
    pub(crate) end_status: i32,
    /// When the depth of the stack is looked at.
    pub(crate) depth: DepthWatch,
    /// What `Machine::args` points to.
    pub args: Vec<Value>,
    /// The expander of evaluated code, once there was some.
    pub evaluator: Option<Box<dyn Evaluator>>,
    /// The profile of the heap, if one is made.
    pub(crate) heap_profile: Option<Box<dyn Profiler>>,
    /// The profile of processor time, while one is made.
    pub(crate) time_profile: Option<Box<dyn TimeProfiler>>,
    /// This place's part of the time line, if there is one.
    pub(crate) timeline: Option<crate::timeline::Track>,
    /// What the frame strategy keeps.
    pub strategy: State,
    /// Who sees to it that threads take turns.
    pub(crate) ticker: Ticker,
    /// What threads wait for outside of the program.
    pub(crate) events: Option<Events>,
    /// What OS threads do for it that would block.
    pub(crate) helpers: Helpers,
    /// Calls of C that are under way, and callbacks.
    pub(crate) c: crate::c::fibers::Calls,
    /// Calls of C that other OS threads make.
    pub(crate) c_elsewhere: crate::c::elsewhere::Elsewhere,
    /// What it knows of other places.
    pub(crate) places: Option<Box<Places>>,
    /// Ends the other places, if this is the first one.
    pub(crate) end_others: fn(&mut Machine),
    /// What `--stats` says of compact records.
    pub(crate) describe_pools: fn(&Machine) -> String,
}

impl Runtime {
    /// The machine context. It lives as long as the runtime.
    pub fn machine(&self) -> *mut Machine {
        self.machine
    }

    /// Address of `bytes` that live as long as the heap, or `None` when memory is exhausted.
    pub(crate) fn alloc_immortal(&mut self, bytes: u64, leaf: bool) -> Option<u64> {
        self.heap.alloc_immortal(bytes, leaf).ok()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.ticker.end();
        self.time_profile = None; // before the machine
        self.stopper.is_for(std::ptr::null_mut());
        // SAFETY: `new` made it by `Box::into_raw`; it is dropped here alone, and whoever requests stops of it has been
        // told to end.
        drop(unsafe { Box::from_raw(self.machine) });
    }
}

/// The runtime behind a machine.
#[inline]
pub fn rt<'a>(ctx: &Machine) -> &'a mut Runtime {
    debug_assert!(!ctx.runtime.is_null());
    // SAFETY: `Runtime::new` stored the address of the boxed runtime, which outlives its machine's use; runtime
    // calls run one at a time and keep no reference to the runtime across another use of it.
    unsafe { &mut *(ctx.runtime as *mut Runtime) }
}
