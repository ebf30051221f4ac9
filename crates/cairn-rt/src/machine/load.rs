//! Taking in a compiled module and running it.

use super::audit::Auditor;
use super::{frames, stubs};
use crate::options::Zeal;
use crate::runtime::Runtime;
use crate::symbol;
use cairn_layout::Value;
use cairn_layout::facts::STRATEGIES;
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
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LoadError::Version { found } = self;
        write!(
            f,
            "this program was compiled for runtime version {found}, this is version {MODULE_VERSION}; compile it again"
        )
    }
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
            let module = &*table;
            if module.version != MODULE_VERSION {
                return Err(LoadError::Version { found: module.version });
            }
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
