//! A runtime without compiled code, for unit tests.

use crate::runtime::{Options, Runtime};
use cairn_layout::machine::Machine;

/// A runtime of its own for one test.
pub struct TestRuntime {
    runtime: Box<Runtime>,
}

impl TestRuntime {
    /// With default options.
    pub fn new() -> TestRuntime {
        TestRuntime { runtime: Runtime::new(Options::default()).expect("memory for a test heap") }
    }

    /// Its machine.
    pub fn ctx(&mut self) -> &'static mut Machine {
        // SAFETY: tests use it only while the `TestRuntime` lives.
        unsafe { &mut *self.runtime.machine() }
    }
}
