//! From nothing to a running program: making a runtime, `main` of executables.

use crate::calls;
use crate::fatal;
use crate::heap_profile;
use crate::machine::load::collector_of;
use crate::machine::modules::{ModuleId, Modules};
use crate::machine::raise;
use crate::machine::state::State;
use crate::machine::stop::watch;
use crate::machine::stop_word::arm;
use crate::machine::stubs::{cold_stub, slow_stub};
use crate::machine::ticker::Ticker;
use crate::places;
use crate::port;
use crate::runtime::{DepthWatch, Exhaustion, Runtime};
use crate::start_options::{Host, MakeEvaluator, Options, Zeal};
use crate::symbol_table::SymbolTable;
use crate::time_profile;
use cairn_heap::{CollectionEvent, Heap, HeapConfig, Observer, Scheme, Tracing};
use cairn_layout::Value;
use cairn_layout::limits::ARGS_MIN;
use cairn_layout::machine::{Machine, ThreadState, slot, stop};
pub use cairn_layout::module::ModuleTable;
use std::ffi::{CStr, c_char, c_int};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Says each collection on standard error.
struct Tracer(Arc<dyn Host>);

impl Observer for Tracer {
    fn collection(&mut self, event: &CollectionEvent) {
        self.0.say(&format!("{event}\n"));
    }
}

/// Several who want to know.
struct All(Vec<Box<dyn Observer>>);

impl Observer for All {
    fn collection(&mut self, event: &CollectionEvent) {
        self.0.iter_mut().for_each(|o| o.collection(event));
    }
}

/// A session is collected as a whole when its heap holds this much: less than a program's, for it may be one of many
/// that wait for input, and what it has kept for a line is dead after it.
const LEAST_OF_A_SESSION: u64 = 4 << 20;

impl Runtime {
    /// A runtime with a heap of its own, standard ports, and no program yet.
    pub fn new(options: Options) -> Result<Box<Runtime>, String> {
        if options.host.has_the_process() {
            // SAFETY: no handler is installed: a write to a closed pipe becomes an error that can be reported, not a
            // signal that kills.
            unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
        }
        let (zeal, schedule, stack_chunks) = (options.zeal, options.schedule, options.stack_chunks);
        let frames_max = options.frames_max;
        let base = options.mostly_copying.heap(options.zeal.heap());
        let threads = options.gc_threads.unwrap_or(base.tracing.threads);
        let mut sizing = base.sizing;
        if options.console.is_some() {
            sizing.min_limit = sizing.min_limit.min(LEAST_OF_A_SESSION);
        }
        let config = HeapConfig {
            sizing,
            collector: options.collector,
            heap_max: options.heap_max,
            static_data: options.literals,
            tracing: Tracing { threads, ..base.tracing },
            ..base
        };
        let mut heap = Heap::new(Scheme, config).map_err(|e| e.to_string())?;
        if options.ambiguous_frames {
            heap.expect_ambiguity().map_err(|e| e.to_string())?;
        }
        let timeline = options.timeline.as_ref().map(|t| t.track());
        let mut observers: Vec<Box<dyn Observer>> = Vec::new();
        if options.trace_gc {
            observers.push(Box::new(Tracer(options.host.clone())));
        }
        if let Some(track) = &timeline {
            observers.push(Box::new(track.observer()));
        }
        if !observers.is_empty() {
            heap.set_observer(Some(Box::new(All(observers))));
        }
        // SAFETY: all zeros is a valid `Machine`: integers, null pointers, fixnums.
        let machine: *mut Machine = Box::into_raw(Box::new(unsafe { std::mem::zeroed::<Machine>() }));
        let mut runtime = Box::new(Runtime {
            machine,
            heap,
            symbols: SymbolTable::default(),
            options,
            flush: port::flush_all,
            raise: raise::raise,
            failure: None,
            last_output: b'\n',
            open_ports: Vec::new(),
            shared_descriptors: Default::default(),
            record_types: Default::default(),
            modules: Modules::default(),
            stopper: Default::default(),
            dropped_ports: Vec::new(),
            open_retries: (0, 0),
            helpers: Default::default(),
            start: Instant::now(),
            exhaustion: Exhaustion::default(),
            end_status: 0,
            depth: DepthWatch::new(frames_max),
            args: vec![Value::UNSPECIFIED; ARGS_MIN],
            evaluator: None,
            heap_profile: None,
            time_profile: None,
            timeline,
            strategy: State::new(zeal, stack_chunks),
            ticker: Ticker::new(schedule),
            events: None,
            c: Default::default(),
            c_elsewhere: Default::default(),
            places: None,
            end_others: places::end_others,
            describe_pools: crate::compact::report,
        });
        // SAFETY: `machine` was just made, and nothing else refers to it.
        let ctx = unsafe { &mut *machine };
        ctx.calls = calls::table();
        ctx.runtime = (&raw mut *runtime).cast();
        ctx.args = runtime.args.as_mut_ptr();
        ctx.thread = ThreadState::NEW;
        if zeal != Zeal::Off {
            ctx.stop |= stop::ZEAL;
        }
        if schedule.is_some() {
            ctx.stop |= stop::SCHEDULE;
        }
        arm(ctx);
        ctx.result = Value::UNSPECIFIED;
        ctx.slots.fill(Value::FALSE);
        *ctx.slot_mut(slot::CAPTURES) = Value::fixnum(0);
        ctx.cold_stub = cold_stub as *const () as u64;
        ctx.slow_stub = slow_stub as *const () as u64;
        ctx.cards = runtime.heap.cards_ptr();
        ctx.card_mask = runtime.heap.card_mask();
        // SAFETY: `young` is a word of the machine, which lives as long as the heap: the runtime owns both.
        unsafe { runtime.heap.publish_young(&raw mut ctx.young) };
        ctx.ancestry = crate::record_types::ancestry_table();
        ctx.pools = runtime.heap.pools_ptr();
        ctx.region = runtime.heap.region_start();
        crate::compact::run_with(ctx.pools);
        crate::elements::run_with(ctx.region);
        ctx.cursors = runtime.heap.current();
        port::open_standard(ctx);
        heap_profile::start(ctx);
        Ok(runtime)
    }
}

/// A module to be loaded: its table, and where its code lies.
pub type Code = (*const ModuleTable, Range<u64>);

/// What runs on the library.
pub enum OnLibrary {
    /// A module that imports from it.
    Module(Code),
    /// One of its procedures, of no arguments: the number of its export, which it has.
    Export(u32),
}

/// Creates a runtime, runs the program; the result is the exit status. The command line's first word is the program's
/// name.
///
/// # Safety
/// `table` is a module table made by `cairn-llvm`; the module stays loaded until this comes back. All of its code lies
/// in `code`, and no other module's.
pub unsafe fn run_program(options: Options, table: *const ModuleTable, code: Range<u64>) -> c_int {
    // SAFETY: `table` and `code` are those of one module, which stays loaded (`# Safety`); no run is under way, for the
    // runtime is new.
    unsafe {
        run_first(options, (table, code), |runtime, program| match runtime.run(program) {
            Ok(_) => Ok(0),
            Err(status) => Err(status),
        })
    }
}

/// Creates a runtime and runs a program on a library; the result is the exit status.
///
/// # Safety
/// The tables are module tables made by `cairn-llvm`; the modules stay loaded until this comes back. All code of each
/// lies in its range, and no other module's.
pub unsafe fn run_on_library(options: Options, library: Code, program: OnLibrary) -> c_int {
    let host = options.host.clone();
    // SAFETY: both modules stay loaded, each with its code (`# Safety`); runs follow each other, none is within
    // another.
    unsafe {
        run_first(options, library, |runtime, library| {
            runtime.run(library)?;
            let ran = match program {
                OnLibrary::Export(n) => {
                    let procedure = runtime.exports()[n as usize];
                    runtime.call(procedure)
                }
                OnLibrary::Module((table, code)) => match runtime.load(table, code) {
                    Ok(program) => runtime.run(program),
                    Err(e) => {
                        host.say(&format!("cairn: {e}\n"));
                        Err(1)
                    }
                },
            };
            ran.map(|_| 0)
        })
    }
}

/// Creates a runtime in a process that belongs to somebody else, and runs a program, after `prepare`.
///
/// # Safety
/// The table is a module table made by `cairn-llvm`; the module stays loaded until this comes back. All of its code
/// lies in the range, and no other module's.
pub(crate) unsafe fn run_hosted(options: Options, code: Code, prepare: impl FnOnce(&mut Runtime)) -> c_int {
    // SAFETY: `table` and `code` are those of one module, which stays loaded (`# Safety`); no run is under way, for the
    // runtime is new.
    unsafe {
        run_first(options, code, |runtime, program| {
            prepare(runtime);
            runtime.run(program).map(|_| 0)
        })
    }
}

/// Creates a runtime for the collector of this module, loads it, and lets `run` go on.
///
/// # Safety
/// `table` is a module table made by `cairn-llvm`; the module stays loaded until this comes back. All of its code lies
/// in `code`, and no other module's. `run` calls what loaded modules contain.
unsafe fn run_first(
    options: Options,
    (table, code): Code,
    run: impl FnOnce(&mut Runtime, ModuleId) -> Result<c_int, c_int>,
) -> c_int {
    let host = options.host.clone();
    let complain = |text: String| {
        host.say(&format!("cairn: {text}\n"));
        1
    };
    // SAFETY: `table` is a module table, perhaps of another version, which stays loaded (`# Safety`).
    let collector = match unsafe { collector_of(table) } {
        Ok(collector) => collector,
        Err(e) => return complain(e.to_string()),
    };
    // SAFETY: `collector_of` has refused tables of other versions, and this one stays loaded (`# Safety`).
    let literals = Some(unsafe { (*table).literals } as u64);
    let mut runtime = match Runtime::new(Options { collector, literals, ..options }) {
        Ok(runtime) => runtime,
        Err(e) => return complain(e),
    };
    // SAFETY: `table` and `code` are those of one module, which stays loaded (`# Safety`); the machine is the runtime's
    // box, and no runtime call is under way where it is referred to.
    unsafe {
        let first = match runtime.load(table, code) {
            Ok(first) => first,
            Err(e) => return complain(e.to_string()),
        };
        let _signals = host.has_the_process().then(|| watch(runtime.machine()));
        if let Some(file) = &runtime.options.profile {
            if let Err(e) = time_profile::check_name(file, runtime.options.flame_graph.is_some()) {
                return complain(e);
            }
            if let Err(e) = time_profile::start(&mut *runtime.machine()) {
                return complain(format!("there is no timer for --profile: {e}"));
            }
        }
        match run(&mut runtime, first) {
            Ok(status) => fatal::finish(&mut *runtime.machine(), status.max(runtime.end_status)),
            Err(status) => status,
        }
    }
}

// The linker asks for this symbol: `cairn_layout::fingerprint`.
std::arch::global_asm!(
    ".pushsection .rodata.cairn_runtime,\"a\"",
    ".globl cairn_runtime_{fingerprint}",
    "cairn_runtime_{fingerprint}: .byte 0",
    ".popsection",
    fingerprint = const cairn_layout::fingerprint::FINGERPRINT,
);

/// `main` of an executable made by `cairn build`. Options come from the environment: see `docs/`.
///
/// # Safety
/// Called by the executable's `main` with its arguments, its module, and where its code begins and ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_rt_main(
    argc: c_int,
    argv: *const *const c_char,
    table: *const ModuleTable,
    code: *const c_char,
    code_end: *const c_char,
) -> c_int {
    // SAFETY: `main` passes its arguments, its module, and where its code begins and ends (`# Safety`).
    unsafe { run_executable(argc, argv, table, code as u64..code_end as u64, None) }
}

/// Runs an executable made by `cairn build`, with an expander if its program evaluates.
///
/// # Safety
/// `argv` has `argc` C strings; `table` is the executable's own, whose code lies in `code`.
pub unsafe fn run_executable(
    argc: c_int,
    argv: *const *const c_char,
    table: *const ModuleTable,
    code: Range<u64>,
    evaluator: Option<MakeEvaluator>,
) -> c_int {
    // SAFETY: `argv` has `argc` C strings, and `table` and `code` are those of the executable's module (`# Safety`).
    unsafe { with_environment(argc, argv, |options| run_program(Options { evaluator, ..options }, table, code)) }
}

/// Runs an executable whose program runs on a library, with an expander.
///
/// # Safety
/// `argv` has `argc` C strings; `library` and `program` are parts of the executable, each with its code.
pub unsafe fn run_executable_on_library(
    argc: c_int,
    argv: *const *const c_char,
    library: Code,
    program: OnLibrary,
    evaluator: MakeEvaluator,
) -> c_int {
    let evaluator = Some(evaluator);
    // SAFETY: `argv` has `argc` C strings, and `library` and `program` are parts of the executable (`# Safety`).
    unsafe {
        with_environment(argc, argv, |options| run_on_library(Options { evaluator, ..options }, library, program))
    }
}

/// Runs a program with the options that the environment says.
///
/// # Safety
/// `argv` has `argc` C strings.
unsafe fn with_environment(argc: c_int, argv: *const *const c_char, run: impl FnOnce(Options) -> c_int) -> c_int {
    // SAFETY: `argv` has `argc` C strings (`# Safety`), and `i` is below `argc`.
    let command_line = unsafe {
        (0..argc as usize).map(|i| CStr::from_ptr(*argv.add(i)).to_string_lossy().into_owned()).collect()
    };
    match Options::from_environment(command_line) {
        Ok(options) => run(options),
        Err(message) => {
            eprintln!("cairn: {message}");
            2
        }
    }
}
