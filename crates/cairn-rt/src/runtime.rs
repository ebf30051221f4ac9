//! The runtime value: everything a running program owns.
//!
//! Nothing is global: two runtimes can live in one process. Compiled code knows only the machine context;
//! `Machine::runtime` leads from there to here ([`rt`]).

use crate::error::Failure;
use crate::machine::chunks::Geometry;
use crate::machine::stubs::cold_stub;
use crate::machine::{ARGS_MIN, State};
use crate::symbol::SymbolTable;
use crate::{calls, port};
use cairn_heap::{CollectionEvent, Heap, HeapConfig, Observer};
use cairn_layout::Value;
use cairn_layout::machine::{Machine, ThreadState};
use cairn_layout::module::ModuleTable;
use std::time::Instant;

/// How hard a run tries to find mistakes of the compiler and the runtime.
///
/// Zeal collects at every safepoint, without exception; walks the heap and all frames before and after collections; moves
/// every other old block in major ones; fills freed memory and dead slots of frames with a word that is no value; and has
/// tiny stack chunks and nurseries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zeal {
    /// Not at all.
    Off,
    /// `CAIRN_ZEAL=1`: the larger the heap, the fewer collections are walked around (`cairn-heap/src/zeal.rs`).
    On,
    /// `CAIRN_ZEAL=2`: walks around every collection.
    Thorough,
}

impl Zeal {
    fn from_environment() -> Zeal {
        match std::env::var_os("CAIRN_ZEAL") {
            Some(v) if v == "2" => Zeal::Thorough,
            _ if is_set("CAIRN_ZEAL") => Zeal::On,
            _ => Zeal::Off,
        }
    }

    fn heap(self) -> HeapConfig {
        match self {
            Zeal::Off => HeapConfig::default(),
            zeal => {
                let base = HeapConfig::zealous();
                let thorough = zeal == Zeal::Thorough;
                let zeal = cairn_heap::Zeal { every_safepoint: true, evacuate: true, thorough, ..base.zeal };
                HeapConfig { zeal, ..base }
            }
        }
    }
}

/// What the user can choose when a program starts.
#[derive(Debug, Clone)]
pub struct Options {
    /// Bytes that the heap may hold; `None`: half of the physical memory.
    pub heap_max: Option<u64>,
    /// Print memory statistics to standard error at the end.
    pub stats: bool,
    /// Print a line for each collection.
    pub trace_gc: bool,
    /// Checks for tests; what the environment's `CAIRN_ZEAL` says.
    pub zeal: Zeal,
    /// The program's name, then its arguments.
    pub command_line: Vec<String>,
}

/// Says each collection on standard error.
struct Tracer;

impl Observer for Tracer {
    fn collection(&mut self, event: &CollectionEvent) {
        port::complain(&event.to_string());
    }
}

/// Is an environment variable set, to anything but nothing and `0`?
fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|v| !v.is_empty() && v != "0")
}

/// `64M`, `2G`, `1048576`: a size in bytes.
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    let n: f64 = digits.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0)?;
    let bytes = n * (1u64 << shift) as f64;
    (bytes < (1u64 << 60) as f64).then_some(bytes as u64)
}

impl Options {
    /// The options of an executable made by `cairn build`: `CAIRN_HEAP_MAX`, `CAIRN_STATS`, `CAIRN_TRACE_GC`.
    pub fn from_environment(command_line: Vec<String>) -> Result<Options, String> {
        let mut options = Options { command_line, ..Options::default() };
        options.stats = is_set("CAIRN_STATS");
        options.trace_gc = is_set("CAIRN_TRACE_GC");
        if let Some(text) = std::env::var_os("CAIRN_HEAP_MAX") {
            let text = text.to_string_lossy();
            let size = parse_size(&text)
                .ok_or_else(|| format!("CAIRN_HEAP_MAX is \"{text}\"; it must be a size such as 512M or 4G"))?;
            options.heap_max = Some(size);
        }
        Ok(options)
    }
}

impl Default for Options {
    fn default() -> Self {
        let command_line = vec!["cairn".to_string()];
        Options { heap_max: None, stats: false, trace_gc: false, zeal: Zeal::from_environment(), command_line }
    }
}

/// A running program's state outside its machine registers.
pub struct Runtime {
    /// The machine context, apart because compiled code holds its address. Freed on drop.
    machine: *mut Machine,
    /// Managed memory.
    pub heap: Heap,
    /// Interned symbols.
    pub symbols: SymbolTable,
    /// Options of this run.
    pub options: Options,
    /// The failure of the last runtime call that returned `Value::FAIL`.
    pub failure: Option<Failure>,
    /// Open file output ports: flushed at exit. Roots.
    pub open_ports: Vec<Value>,
    /// The loaded program, or null.
    pub module: *const ModuleTable,
    /// When the runtime began.
    pub start: Instant,
    /// What `Machine::args` points to.
    pub args: Vec<Value>,
    /// What the frame strategy keeps.
    pub strategy: State,
}

impl Runtime {
    /// A runtime with a heap of its own, standard ports, and no program yet.
    pub fn new(options: Options) -> Result<Box<Runtime>, String> {
        // SAFETY: a write to a closed pipe must be an error that can be reported, not a signal that kills.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
        let config = HeapConfig { heap_max: options.heap_max, ..options.zeal.heap() };
        let mut heap = Heap::new(config).map_err(|e| e.to_string())?;
        if options.trace_gc {
            heap.set_observer(Some(Box::new(Tracer)));
        }
        // SAFETY: all zeros is a valid `Machine`: integers, null pointers, fixnums.
        let machine: *mut Machine = Box::into_raw(unsafe { Box::new_zeroed().assume_init() });
        let mut runtime = Box::new(Runtime {
            machine,
            heap,
            symbols: SymbolTable::default(),
            options,
            failure: None,
            open_ports: Vec::new(),
            module: std::ptr::null(),
            start: Instant::now(),
            args: vec![Value::UNSPECIFIED; ARGS_MIN],
            strategy: State::default(),
        });
        if runtime.options.zeal != Zeal::Off {
            runtime.strategy.chunks.geometry = Geometry::TINY;
        }
        // SAFETY: just made; nothing else refers to it.
        let ctx = unsafe { &mut *machine };
        ctx.calls = calls::table();
        ctx.runtime = (&raw mut *runtime).cast();
        ctx.args = runtime.args.as_mut_ptr();
        ctx.thread = ThreadState::NEW;
        ctx.result = Value::UNSPECIFIED;
        ctx.slots.fill(Value::FALSE);
        ctx.cold_stub = cold_stub as *const () as u64;
        ctx.cards = runtime.heap.cards_ptr();
        (ctx.lo, ctx.hi) = runtime.heap.current();
        port::open_standard(ctx);
        Ok(runtime)
    }

    /// The machine context. It lives as long as the runtime.
    pub fn machine(&self) -> *mut Machine {
        self.machine
    }

    /// Address of `bytes` that live as long as the heap, or `None` when memory is exhausted.
    pub(crate) fn alloc_immortal(&mut self, bytes: u64, leaf: bool) -> Option<u64> {
        self.heap.alloc_immortal(bytes, leaf).ok()
    }

    /// Ends the program: flushes the ports, reports what was asked for. The result is the exit status: `status`, or
    /// 1 when output was lost.
    pub fn finish(&mut self, status: i32) -> i32 {
        // SAFETY: the machine lives as long as the runtime.
        let complete = port::flush_all(unsafe { &mut *self.machine });
        self.at_exit();
        if complete { status } else { status.max(1) }
    }

    /// What was asked for at the end of the run.
    pub fn at_exit(&mut self) {
        if self.options.stats {
            port::complain(self.heap.stats().to_string().trim_end());
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // SAFETY: made by `Box::into_raw` in `new`, dropped once.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [("64M", 64 << 20), ("1.5k", 1536), ("17", 17), ("2GiB", 2 << 30), (" 0 ", 0)] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for text in ["", "M", "-1", "1x", "1e99G", "nan"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }
}
