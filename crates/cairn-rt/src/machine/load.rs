//! Taking in a compiled module and running it.

use super::audit::Auditor;
use super::{frames, stubs};
use crate::options::Zeal;
use crate::runtime::Runtime;
use crate::symbol;
use cairn_layout::Value;
use cairn_layout::facts::{COLLECTORS, CollectorFacts, STRATEGIES, collector};
use cairn_layout::limits::ARGS_MIN;
use cairn_layout::module::{Bytes, MODULE_VERSION, ModuleTable, NODE_PLACEHOLDER, SYMBOL_PLACEHOLDER};
use std::fmt;

/// The text of a counted byte string in a module.
///
/// # Safety
/// `b` comes from a loaded module, which stays loaded.
pub unsafe fn text<'a>(b: &Bytes) -> std::borrow::Cow<'a, str> {
    // SAFETY: by the contract of this function.
    unsafe { String::from_utf8_lossy(std::slice::from_raw_parts(b.data, b.len as usize)) }
}

/// Why a module cannot be loaded.
#[derive(Debug)]
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
        }
    }
}

/// Name of the collector that a module was compiled for.
///
/// # Safety
/// `table` is a module table made by `cairn-llvm` (perhaps of another version), which stays loaded.
unsafe fn collector_name(table: *const ModuleTable) -> Result<String, LoadError> {
    // SAFETY: every version's table begins with the version; the rest is read when it is this one's.
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
/// As for [`Runtime::load`].
pub unsafe fn collector_of(table: *const ModuleTable) -> Result<&'static CollectorFacts, LoadError> {
    // SAFETY: by the contract of this function.
    let found = unsafe { collector_name(table)? };
    collector(&found).ok_or(LoadError::NoSuchCollector { found })
}

impl Runtime {
    /// Makes `table` the program of this runtime: interns its symbols, completes its literals, sets up the machine for its
    /// frame strategy.
    ///
    /// # Safety
    /// `table` is a module table made by `cairn-llvm`; the module stays loaded as long as the runtime lives, and no
    /// other runtime uses it.
    pub unsafe fn load(&mut self, table: *const ModuleTable) -> Result<(), LoadError> {
        // SAFETY: by the contract of this function, the table and what it points to are valid.
        unsafe {
            let (found, heap) = (collector_name(table)?, self.heap.facts().name);
            if found != heap {
                return Err(LoadError::OtherCollector { found, heap });
            }
            let module = &*table;
            let ctx = &mut *self.machine();
            for i in 0..module.symbol_count as usize {
                let name = text(&*module.symbol_names.add(i));
                *module.symbols.add(i) = symbol::intern(ctx, &name);
            }
            for i in 0..module.literal_count as usize {
                let word = module.literals.add(i);
                match *word & 0xFF {
                    SYMBOL_PLACEHOLDER => *word = (*module.symbols.add((*word >> 8) as usize)).0,
                    NODE_PLACEHOLDER => *word = module.literals as u64 + (*word >> 8),
                    _ => {}
                }
            }
            self.module = table;
            let state = &mut self.strategy;
            state.kind = STRATEGIES[module.strategy as usize].kind;
            state.halt = module.halt as u64;
            state.underflow = module.underflow as u64;
            state.continuation = module.continuation as u64;
            ctx.cold_stub = stubs::cold_stub as *const () as u64;
            self.args.resize(ARGS_MIN, Value::UNSPECIFIED);
            ctx.args = self.args.as_mut_ptr();
            if self.options.zeal != Zeal::Off {
                self.strategy.auditor = Auditor::of_process();
            }
            frames::start(ctx);
        }
        Ok(())
    }

    /// Runs the loaded program to its end: its value, or the exit status if it ended otherwise and the host goes on.
    ///
    /// # Safety
    /// A module is loaded.
    pub unsafe fn run_main(&mut self) -> Result<Value, i32> {
        // SAFETY: the module's `enter` has this type and contract (see `ModuleTable`).
        unsafe {
            let module = &*self.module;
            let ctx = self.machine();
            match stubs::enter(ctx, module.main, module.enter) {
                -1 => Ok((*ctx).result),
                status => Err(status as i32),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Host, Options};
    use crate::start::run_program;
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
        // SAFETY: the table is refused before anything in it is used.
        let e = unsafe { runtime.load(&table(MODULE_VERSION, "other")) }.unwrap_err().to_string();
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
                "for the collector `other`, which this runtime does not have (it has gen)",
            ),
            // whatever another version's table holds
            (table(MODULE_VERSION + 1, ""), "compile it again"),
        ] {
            let host = Arc::new(Listener::default());
            let options = Options { host: host.clone(), ..Options::default() };
            // SAFETY: as above.
            assert_eq!(unsafe { run_program(options, &table) }, 1);
            let said = host.0.lock().unwrap().clone();
            assert!(said.contains(expected), "{said}");
        }
    }
}
