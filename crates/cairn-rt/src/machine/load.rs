//! Taking in a compiled module and running it.

use super::audit::Auditor;
use super::{ARGS_MIN, chunks, stubs};
use crate::alloc;
use crate::runtime::{Options, Runtime, Zeal};
use crate::symbol;
use cairn_layout::Value;
use cairn_layout::facts::STRATEGIES;
use cairn_layout::machine::Machine;
use cairn_layout::module::{Bytes, MODULE_VERSION, ModuleTable, NODE_PLACEHOLDER, SYMBOL_PLACEHOLDER};
use cairn_layout::value::TAG_PROCEDURE;
use std::ffi::{CStr, c_char, c_int};

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
            state.facts = STRATEGIES[module.strategy as usize];
            state.halt = module.halt as u64;
            state.underflow = module.underflow as u64;
            state.continuation = module.continuation as u64;
            ctx.cold_stub = stubs::cold_stub as *const () as u64;
            self.args.resize(ARGS_MIN, Value::UNSPECIFIED);
            ctx.args = self.args.as_mut_ptr();
            ctx.thread.under = Value::FALSE;
            if self.options.zeal != Zeal::Off {
                self.strategy.auditor = Auditor::of_process();
            }
            if self.strategy.facts.frames_in_heap {
                let frame = alloc::alloc_procedure(ctx, 2) as *mut u64;
                *frame = self.strategy.halt;
                *frame.add(1) = 0;
                ctx.thread.sp = frame as u64 | TAG_PROCEDURE;
            } else {
                chunks::start(ctx);
            }
        }
        Ok(())
    }

    /// Runs the loaded program to its end. Returns its value; exits the process on an uncaught error.
    ///
    /// # Safety
    /// A module is loaded.
    pub unsafe fn run_main(&mut self) -> Value {
        // SAFETY: the module's `enter` has this type and contract (see `ModuleTable`).
        unsafe {
            let module = &*self.module;
            let enter: extern "C" fn(*mut Machine, Value) = std::mem::transmute(module.enter);
            let ctx = self.machine();
            enter(ctx, module.main);
            (*ctx).result
        }
    }
}

/// Creates a runtime, runs the program, ends the process as Scheme's `exit` would. The command line's first word is the
/// program's name.
///
/// # Safety
/// As for [`Runtime::load`].
pub unsafe fn run_program(options: Options, table: *const ModuleTable) -> c_int {
    let mut runtime = match Runtime::new(options) {
        Ok(runtime) => runtime,
        Err(e) => {
            eprintln!("cairn: {e}");
            return 1;
        }
    };
    // SAFETY: by the contract of this function.
    unsafe {
        if let Err(LoadError::Version { found }) = runtime.load(table) {
            eprintln!(
                "cairn: this program was compiled for runtime version {found}, this is version {MODULE_VERSION}; compile it again"
            );
            return 1;
        }
        runtime.run_main();
    }
    runtime.finish(0)
}

/// `main` of an executable made by `cairn build`. Options come from the environment: see `docs/`.
///
/// # Safety
/// Called by the executable's `main` with its arguments and its module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_rt_main(
    argc: c_int,
    argv: *const *const c_char,
    table: *const ModuleTable,
) -> c_int {
    // SAFETY: `argv` has `argc` C strings.
    let command_line = unsafe {
        (0..argc as usize).map(|i| CStr::from_ptr(*argv.add(i)).to_string_lossy().into_owned()).collect()
    };
    match Options::from_environment(command_line) {
        // SAFETY: by the contract of this function.
        Ok(options) => unsafe { run_program(options, table) },
        Err(message) => {
            eprintln!("cairn: {message}");
            2
        }
    }
}
