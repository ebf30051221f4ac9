//! Taking in a compiled module and running it.

use super::modules::ModuleId;
use super::{frames, raise, signal_stack, stubs};
use crate::access;
use crate::compact;
use crate::elements;
use crate::runtime::{Runtime, rt};
use crate::symbol;
use cairn_layout::Value;
use cairn_layout::code::Site;
use cairn_layout::collector::{Ambiguity, Barrier};
use cairn_layout::facts::{COLLECTORS, CollectorFacts, STRATEGIES, StrategyFacts, collector, why_apart};
use cairn_layout::machine::{Machine, ThreadState, slot};
use cairn_layout::module::{
    Bytes, ImportEntry, MODULE_VERSION, ModuleTable, NODE_PLACEHOLDER, NOT_LOADED, SYMBOL_PLACEHOLDER,
};
use std::fmt;
use std::ops::Range;

/// The text of a counted byte string in a module.
///
/// # Safety
/// `b` is one of a loaded module's tables or in one, and the module stays loaded as long as the result is used.
pub unsafe fn text<'a>(b: &Bytes) -> std::borrow::Cow<'a, str> {
    // SAFETY: `b` comes from a loaded module (`# Safety`), so `len` bytes are at `data` as long as it stays loaded.
    unsafe { String::from_utf8_lossy(std::slice::from_raw_parts(b.data, b.len as usize)) }
}

/// Why a module cannot be loaded.
#[derive(Debug, PartialEq, Eq)]
pub enum LoadError {
    /// Compiled by another version of Cairn.
    Version {
        /// The module's version.
        found: u64,
    },
    /// Compiled for a collector that is not in this runtime.
    NoSuchCollector {
        /// The module's.
        found: String,
    },
    /// Compiled for another collector than the heap's.
    OtherCollector {
        /// The module's.
        found: String,
        /// The heap's.
        heap: &'static str,
    },
    /// Compiled for another frame strategy than the modules that are loaded already.
    Frames {
        /// The module's strategy.
        found: &'static str,
        /// The runtime's.
        loaded: &'static str,
    },
    /// The heap's collector cannot serve such frames.
    Apart {
        /// Why not.
        why: String,
    },
    /// Frames cannot be read as ambiguous words.
    Ambiguous {
        /// Why not.
        why: String,
    },
    /// This copy of the module has been loaded before, in this runtime or another one.
    Taken,
    /// It imports what no module has exported.
    Imports,
    /// More modules than positions can tell apart, or code in the place of another module's.
    NoRoom,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Version { found } => write!(
                f,
                "this program was compiled for runtime version {found}, this is version {MODULE_VERSION}; compile it again"
            ),
            LoadError::NoSuchCollector { found } => {
                let known: Vec<&str> = COLLECTORS.iter().map(|c| c.name).collect();
                write!(
                    f,
                    "this program was compiled for the collector `{found}`, which this runtime does not have (it has {})",
                    known.join(", ")
                )
            }
            LoadError::OtherCollector { found, heap } => write!(
                f,
                "this program was compiled for the collector `{found}`, but the heap was made for `{heap}`"
            ),
            LoadError::Frames { found, loaded } => write!(
                f,
                "this module was compiled for frames of kind `{found}`, but those of `{loaded}` are loaded already"
            ),
            LoadError::Apart { why } => f.write_str(why),
            LoadError::Ambiguous { why } => write!(f, "frames cannot be read as ambiguous words: {why}"),
            LoadError::Taken => {
                write!(f, "this copy of the module belongs to a runtime already; load another copy")
            }
            LoadError::Imports => {
                write!(f, "this module was compiled on a library that is not loaded; compile it again")
            }
            LoadError::NoRoom => write!(f, "there is no room for another module, or its code is loaded already"),
        }
    }
}

/// Name of the collector that a module was compiled for.
///
/// # Safety
/// `table` is a module table made by `cairn-llvm` (perhaps of another version), which stays loaded.
unsafe fn collector_name(table: *const ModuleTable) -> Result<String, LoadError> {
    // SAFETY: a table of any version begins with the version (`# Safety`); the rest is read when it is this one's, and
    // so valid.
    unsafe {
        match (*table).version {
            MODULE_VERSION => Ok(text(&(*table).collector).into_owned()),
            found => Err(LoadError::Version { found }),
        }
    }
}

/// The collector that a module was compiled for: what the heap is to be made with.
///
/// # Safety
/// `table` is a module table made by `cairn-llvm` (perhaps of another version), which stays loaded.
pub unsafe fn collector_of(table: *const ModuleTable) -> Result<&'static CollectorFacts, LoadError> {
    // SAFETY: `table` is a module table of some version, which stays loaded (`# Safety`).
    let found = unsafe { collector_name(table)? };
    collector(&found).ok_or(LoadError::NoSuchCollector { found })
}

/// Why the frames of such programs cannot be read as words of which nothing is known, if they cannot.
fn why_precise(frames: &StrategyFacts, collector: &CollectorFacts) -> Option<String> {
    if frames.frames_in_heap {
        Some(format!(
            "those of `{}` are objects, which say what their words are (try --frames=chunks)",
            frames.name
        ))
    } else if collector.barrier != Barrier::None || collector.ambiguity == Ambiguity::None {
        Some(format!(
            "the collector `{}` does not look at all of them each time (try --gc=mcc or --gc=marksweep)",
            collector.name
        ))
    } else {
        None
    }
}

impl Runtime {
    /// Takes in a module: interns its symbols, completes its literals. The first one decides on the frame strategy.
    /// `code` is where its code lies.
    ///
    /// # Safety
    /// `table` is a module table made by `cairn-llvm`; the module stays loaded as long as the runtime lives. All of its
    /// code lies in `code`, and no other module's.
    pub unsafe fn load(&mut self, table: *const ModuleTable, code: Range<u64>) -> Result<ModuleId, LoadError> {
        // SAFETY: `table` and `code` are those of one module, which stays loaded (`# Safety`); there are no cells.
        unsafe { self.load_with_cells(table, code, &[]) }
    }

    /// Takes in a module that shares cells with evaluated code.
    ///
    /// # Safety
    /// `table` is a module table made by `cairn-llvm`; the module stays loaded as long as the runtime lives. All of its
    /// code lies in `code`, and no other module's. `cells` hold values.
    pub unsafe fn load_with_cells(
        &mut self,
        table: *const ModuleTable,
        code: Range<u64>,
        cells: &[Value],
    ) -> Result<ModuleId, LoadError> {
        // SAFETY: `table` is a module table that stays loaded (`# Safety`), and of this version, or `collector_name`
        // refuses it: so its counts are those of the words it points to. `site_base` says that no other runtime has
        // loaded it.
        unsafe {
            let (found, heap) = (collector_name(table)?, self.heap.facts().name);
            if found != heap {
                return Err(LoadError::OtherCollector { found, heap });
            }
            let module = &*table;
            let facts = STRATEGIES[module.strategy as usize];
            if let Some(why) = why_apart(facts, self.heap.facts()) {
                return Err(LoadError::Apart { why });
            }
            if self.options.ambiguous_frames
                && let Some(why) = why_precise(facts, self.heap.facts())
            {
                return Err(LoadError::Ambiguous { why });
            }
            if *module.site_base != NOT_LOADED {
                return Err(LoadError::Taken);
            }
            let imports = self.imports(module, cells)?;
            let id = self.admit(table, code)?;
            *module.site_base = Value::fixnum(Site::base(id.0) as i64).0;
            for i in 0..module.literal_count as usize {
                let word = module.literals.add(i);
                match *word & 0xFF {
                    SYMBOL_PLACEHOLDER => *word = (*module.symbols.add((*word >> 8) as usize)).0,
                    NODE_PLACEHOLDER => *word = module.literals as u64 + (*word >> 8),
                    _ => {}
                }
            }
            for (global, value) in imports {
                *module.globals.add(global) = value;
            }
            self.heap.mark_static(module.globals as *const u64, module.global_count as usize);
            self.heap.mark_static(module.literals, module.literal_count as usize);
            Ok(id)
        }
    }

    /// Takes in a module that another runtime has loaded, as the only one. The table is a copy of that one's, whose
    /// symbol slots, globals and literals are this runtime's own; the last two are left to the caller.
    ///
    /// # Safety
    /// `table` is a copy of the table of a loaded module of this version, and stays as long as the runtime lives, as
    /// the module does, whose code lies in `code`; `Machine::statics` leads to the copy's words.
    pub(crate) unsafe fn load_copy(
        &mut self,
        table: *const ModuleTable,
        code: Range<u64>,
    ) -> Result<ModuleId, LoadError> {
        // SAFETY: `table` and `code` are those of one module, which stays loaded (`# Safety`).
        unsafe { self.admit(table, code) }
    }

    /// Takes in more code of the module that the code at this address belongs to.
    pub(crate) fn admit_code(&mut self, of: u64, code: Range<u64>) {
        self.strategy.auditor.add(code.clone());
        self.modules.add_code(of, code);
    }

    /// Adds a module, and interns its symbols.
    ///
    /// # Safety
    /// `table` is a module table of this version, or a copy of one; it and the module stay as long as the runtime
    /// lives. All of its code lies in `code`, and no other module's.
    unsafe fn admit(&mut self, table: *const ModuleTable, code: Range<u64>) -> Result<ModuleId, LoadError> {
        // SAFETY: `table` is a module table of this version (`# Safety`), so its counts are those of the words it
        // points to.
        unsafe {
            let module = &*table;
            let facts = STRATEGIES[module.strategy as usize];
            let first = self.modules.iter().next().is_none();
            let state = &mut self.strategy;
            if first {
                state.kind = facts.kind;
                state.halt = module.halt as u64;
                state.resume = module.resume as u64;
                state.underflow = module.underflow as u64;
                state.continuation = module.continuation as u64;
                state.builtins = std::array::from_fn(|i| *module.builtins.add(i) as u64);
            } else if state.kind != facts.kind {
                return Err(LoadError::Frames { found: facts.name, loaded: state.kind.facts().name });
            }
            if first && facts.is_joined() {
                self.options.ambiguous_frames = true;
                frames::native::install(&mut *self.machine());
            }
            let state = &mut self.strategy;
            let id = self.modules.add(table, code.clone()).ok_or(LoadError::NoRoom)?;
            state.auditor.add(code);
            let ctx = &mut *self.machine();
            for i in 0..module.symbol_count as usize {
                let name = text(&*module.symbol_names.add(i));
                *module.symbols.add(i) = symbol::intern_for_module(ctx, &name);
            }
            Ok(id)
        }
    }

    /// What the imported globals of a module hold, by index.
    ///
    /// # Safety
    /// `module` is a table of this version, whose module stays loaded.
    unsafe fn imports(&self, module: &ModuleTable, cells: &[Value]) -> Result<Vec<(usize, Value)>, LoadError> {
        let exports = self.exports();
        // SAFETY: `module` is a table of this version (`# Safety`), so it has `import_count` imports, and `i` is below
        // that.
        let entries = (0..module.import_count as usize).map(|i| unsafe { *module.imports.add(i) });
        let value = |entry: ImportEntry| {
            let values = if entry.from.is_multiple_of(2) { exports } else { cells };
            Some((entry.global as usize, *values.get(entry.from as usize / 2)?))
        };
        entries.map(|entry| value(entry).ok_or(LoadError::Imports)).collect()
    }

    /// What the library that was run first exports, by number.
    pub(crate) fn exports(&self) -> &[Value] {
        // SAFETY: the machine is the runtime's own box, which it drops with itself.
        let exports = unsafe { *(*self.machine()).slot_mut(slot::EXPORTS) };
        access::vector_of(exports).unwrap_or_default()
    }

    /// Runs a loaded program from its beginning, in a new thread of control: its value, or the exit status if it ended
    /// otherwise and the host goes on. A program that is run again finds its globals as they are.
    ///
    /// # Safety
    /// The caller is no runtime call of this runtime. After a run that ended for lack of memory there may be no other.
    pub unsafe fn run(&mut self, program: ModuleId) -> Result<Value, i32> {
        let module = self.modules.get(program).expect("a module of this runtime");
        let main = module.main;
        // SAFETY: no runtime call of this runtime is under way (`# Safety`), and `program` is a loaded module.
        unsafe { self.call(main) }
    }

    /// Calls a procedure without arguments in a new thread of control, likewise.
    ///
    /// # Safety
    /// The caller is no runtime call of this runtime, which has loaded a module, and no run of it has ended for lack of
    /// memory.
    pub unsafe fn call(&mut self, procedure: Value) -> Result<Value, i32> {
        // The library sets its hooks before anything that needs them. Those of a library that was run first stay for
        // the programs on it.
        if self.exports().is_empty() {
            use slot::*;
            let threads = [TICK_HOOK, UNCAUGHT_HOOK, WAIT_HOOK, INTERRUPT_HOOK];
            for hook in [ERROR_HOOK, REWIND_HOOK, RAISE_HOOK, SIGNAL_HOOK].into_iter().chain(threads) {
                // SAFETY: the machine is the runtime's own box, which it drops with itself; no runtime call uses it now
                // (`# Safety`).
                unsafe { *(*self.machine()).slot_mut(hook) = Value::FALSE };
            }
        }
        // SAFETY: no runtime call is under way and a module is loaded (`# Safety`); hooks of no library were cleared
        // above.
        unsafe { self.call_with_hooks(procedure) }
    }

    /// Calls a procedure without arguments in a new thread of control, in a runtime whose library has been run.
    ///
    /// # Safety
    /// The caller is no runtime call of this runtime, which has loaded a module, and no run of it has ended for lack of
    /// memory.
    pub(crate) unsafe fn call_with_hooks(&mut self, procedure: Value) -> Result<Value, i32> {
        let code = self.modules.iter().next().expect("a loaded module").enter;
        // SAFETY: the module's `enter` has the type and contract that the stub demands (see `ModuleTable`); no runtime
        // call is under way (`# Safety`), so nothing else uses the machine, which lives as long as the runtime.
        unsafe {
            let ctx = self.machine();
            (*ctx).thread = ThreadState::NEW;
            (*ctx).spilled = 0;
            frames::start(&mut *ctx);
            take_over(&mut *ctx);
            let mut closure = procedure;
            loop {
                match stubs::enter(ctx, closure, code) {
                    -1 => return Ok((*ctx).result),
                    raise::RAISED => closure = (*ctx).result,
                    status => return Err(status as i32),
                }
            }
        }
    }
}

/// The machine runs on this OS thread from now on.
pub(crate) fn take_over(ctx: &mut Machine) {
    // SAFETY: `__errno_location` has no conditions, and its result is valid as long as this thread.
    ctx.errno_at = unsafe { libc::__errno_location() };
    compact::run_with(ctx.pools);
    elements::run_with(ctx.region);
    if rt(ctx).strategy.kind.facts().is_joined() {
        // Without it a stack that must grow would have nowhere to handle that; the fault then ends the process.
        signal_stack::ensure();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::start::run_program;
    use crate::start_options::{Host, Options};
    use std::sync::{Arc, Mutex};

    fn table(version: u64, collector: &'static str) -> ModuleTable {
        // SAFETY: all zeros is a valid table: integers, null pointers, fixnums.
        let empty: ModuleTable = unsafe { std::mem::zeroed() };
        let collector = Bytes { data: collector.as_ptr(), len: collector.len() as u64 };
        ModuleTable { version, collector, ..empty }
    }

    #[test]
    fn a_module_for_another_collector_is_refused() {
        let mut runtime = Runtime::new(Options::default()).unwrap();
        // SAFETY: the table is of this version, and its collector is found unknown before anything else in it is used.
        let e = unsafe { runtime.load(&table(MODULE_VERSION, "other"), 0..1) }.unwrap_err().to_string();
        assert_eq!(e, "this program was compiled for the collector `other`, but the heap was made for `gen`");
    }

    /// Keeps what it is told.
    #[derive(Debug, Default)]
    struct Listener(Mutex<String>);

    impl Host for Listener {
        fn say(&self, text: &str) {
            self.0.lock().unwrap().push_str(text);
        }
    }

    #[test]
    fn a_program_that_cannot_run_here_says_why() {
        for (table, expected) in [
            (
                table(MODULE_VERSION, "other"),
                "for the collector `other`, which this runtime does not have (it has gen, mcc, marksweep, bdw)",
            ),
            // whatever another version's table holds
            (table(MODULE_VERSION + 1, ""), "compile it again"),
        ] {
            let host = Arc::new(Listener::default());
            let options = Options { host: host.clone(), ..Options::default() };
            // SAFETY: its version or its collector is refused before anything else in the table is used.
            assert_eq!(unsafe { run_program(options, &table, 0..1) }, 1);
            let said = host.0.lock().unwrap().clone();
            assert!(said.contains(expected), "{said}");
        }
    }
}
