//! A runtime without compiled code, for unit tests.

use crate::alloc::write_barrier;
use crate::runtime::Runtime;
use crate::start_options::Options;
use cairn_layout::Value;
use cairn_layout::machine::Machine;

/// A runtime of its own for one test.
pub struct TestRuntime {
    runtime: Box<Runtime>,
}

impl TestRuntime {
    /// With default options.
    pub fn new() -> TestRuntime {
        TestRuntime::with(Options::default())
    }

    /// With these options.
    pub fn with(options: Options) -> TestRuntime {
        TestRuntime { runtime: Runtime::new(options).expect("memory for a test heap") }
    }

    /// Its machine.
    pub fn ctx(&mut self) -> &'static mut Machine {
        // SAFETY: the machine is the runtime's own box; tests use it only while the `TestRuntime` lives, and one
        // reference at a time.
        unsafe { &mut *self.runtime.machine() }
    }
}

/// Stores the cdr of a pair, with its barrier.
pub fn set_cdr(ctx: &mut Machine, pair: Value, x: Value) {
    debug_assert!(pair.is_pair());
    let slot = (pair.address() + 8) as *mut Value;
    // SAFETY: `pair` is a pair (asserted above), two words at its address, of which `slot` is the second.
    unsafe { *slot = x };
    if x.is_pointer() {
        write_barrier(ctx, slot);
    }
}
