//! The stack on which the program of a shared library runs, and how C comes to it.
//!
//! The problem: C calls Scheme, from any stack and any OS thread; but compiled code is entered once, and what it has on
//! the native stack belongs to one entry. The idea: the program runs on a stack of its own, from beginning to end. Its
//! last form asks for a request (`c-await`), which leaves this stack for that of who has called, and comes back with
//! the next call. So to Scheme a call of C is what a callback is: a runtime call that returns with a request.
//!
//! ```text
//!    C's stack                                  the server's stack
//!    f(1) ── call ──── switch ────────────────▶ … c-await returns a request; Scheme calls the procedure
//!    f returns ◀────── switch ───────────────── c-await, with the answer
//!    g(2), perhaps on another OS thread ──────▶ …
//! ```
//!
//! Invariant: one OS thread at a time is in here ([`crate::library`] has the lock); between two calls nobody is, and
//! nothing of the runtime changes.

use super::exports::ExportCall;
use super::stack::{Mapping, switch};
use std::io;
use std::ptr::null_mut;

/// Bytes of the stack, most of which is never touched. Runtime calls run here, and the expander of programs that
/// evaluate, for code that is nested as deep as it may be.
const STACK_BYTES: usize = 256 << 20;

/// See the module's header.
pub struct Server {
    stack: Mapping,
    /// Its stack pointer while C runs.
    sp: u64,
    /// C's while it runs.
    host: u64,
    /// What runs.
    program: Option<Box<dyn FnOnce(*mut Server)>>,
    /// The call under way, or null.
    pub call: *mut ExportCall,
    /// How many calls there have been.
    serial: i64,
    /// The program has come to its end: nothing can be called any more.
    pub ended: bool,
}

impl Server {
    /// A server that will run this on its stack. It must come to its end before the server is dropped.
    pub fn new(program: Box<dyn FnOnce(*mut Server)>) -> io::Result<Box<Server>> {
        let stack = Mapping::stack(STACK_BYTES)?;
        let mut server = Box::new(Server {
            stack,
            sp: 0,
            host: 0,
            program: Some(program),
            call: null_mut(),
            serial: 0,
            ended: false,
        });
        let itself = &raw mut *server as u64;
        server.sp = server.stack.prepare(begin as *const () as u64, itself);
        Ok(server)
    }

    /// Lets the program go on until it waits for a call or ends; `call` is one, or null: it is to end, unless it has
    /// just been made.
    ///
    /// # Safety
    /// The server lives and has not ended, and nobody else is in it; `call` is null or stays until this comes back.
    pub unsafe fn enter(server: *mut Server, call: *mut ExportCall) {
        // SAFETY: the server's stack stands still, at `sp`, and nobody else is in it (`# Safety`); no reference is kept
        // over the switch.
        unsafe {
            (*server).call = call;
            (*server).serial += 1;
            switch(&raw mut (*server).host, (*server).sp);
        }
    }

    /// Lets C go on until it calls; false if the program is to end.
    ///
    /// # Safety
    /// The caller runs on this server's stack, so [`Server::enter`] has put C's aside.
    pub unsafe fn wait(server: *mut Server) -> bool {
        // SAFETY: this is the server's stack, so C's stands still at `host` since `enter`; no reference is kept over
        // the switch.
        unsafe {
            (*server).call = null_mut();
            switch(&raw mut (*server).sp, (*server).host);
            !(*server).call.is_null()
        }
    }

    /// The number of the call under way.
    pub fn serial(&self) -> i64 {
        self.serial
    }

    /// Does the call with this number wait for its answer?
    pub fn waits_for(&self, serial: i64) -> bool {
        // SAFETY: `call` is not null, so it is under way: `wait` sets null, and who calls keeps it until `enter` has
        // come back.
        self.serial == serial && !self.call.is_null() && unsafe { !(*self.call).answered }
    }
}

/// Where the stack begins, with the server in `rbx`.
#[unsafe(naked)]
unsafe extern "C" fn begin() {
    std::arch::naked_asm!("mov rdi, rbx", "call {run}", "ud2", run = sym run)
}

/// Runs the program; nobody comes back after its end.
///
/// # Safety
/// `begin` alone calls this, on the server's own stack.
unsafe extern "C" fn run(server: *mut Server) {
    // SAFETY: the server must not be dropped before its program has come to its end (`Server::new`), and this is its
    // stack.
    unsafe {
        if let Some(program) = (*server).program.take() {
            program(server);
        }
        (*server).ended = true;
        switch(&raw mut (*server).sp, (*server).host);
    }
}
