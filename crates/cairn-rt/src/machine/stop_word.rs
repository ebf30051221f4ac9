//! The two words by which a machine is asked to stop at its next safepoint.
//!
//! `Machine::stack_guard` is `thread.stack_limit` unless a bit of `Machine::stop` is set. Whoever changes either calls
//! [`arm`], which looks at `stop` after it has written the guard, while [`request`] writes `stop` before the guard: so
//! no request is lost, whichever comes first.

use cairn_layout::machine::{Machine, STOP, stop};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

/// With this another thread requests stops of a machine that may end at any time.
#[derive(Clone, Debug, Default)]
pub struct Stopper(Arc<Mutex<Target>>);

#[derive(Debug)]
struct Target(*mut Machine);

impl Default for Target {
    fn default() -> Target {
        Target(null_mut())
    }
}

// SAFETY: what another thread does with the pointer is `request`, which any thread may call while the machine is alive;
// it is alive while the pointer is here, under the lock.
unsafe impl Send for Target {}

impl Stopper {
    /// From now on it is for this machine, which is alive until another call with null.
    pub(crate) fn is_for(&self, machine: *mut Machine) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0 = machine;
    }

    /// Requests a stop, if the machine is still alive.
    pub fn request(&self, reason: u64) {
        let target = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !target.0.is_null() {
            // SAFETY: `target.0` is not null, so its machine is alive, and `is_for(null)` before its end waits for the
            // lock held here.
            unsafe { request(target.0, reason) }
        }
    }
}

/// Lets the stack guard say what the limit and the requests ask for.
pub fn arm(ctx: &mut Machine) {
    // SAFETY: both are aligned words of a machine that `ctx` keeps alive; whoever else writes them does so atomically.
    let (guard, stop) =
        unsafe { (AtomicU64::from_ptr(&raw mut ctx.stack_guard), AtomicU64::from_ptr(&raw mut ctx.stop)) };
    guard.store(ctx.thread.stack_limit, SeqCst);
    if stop.load(SeqCst) != 0 {
        guard.store(STOP, SeqCst);
    }
}

/// Requests a stop of a machine for a reason, a bit of [`stop`]. Async-signal-safe; may be called by any thread.
///
/// # Safety
/// The machine is alive.
pub unsafe fn request(machine: *mut Machine, reason: u64) {
    // SAFETY: the machine is alive (`# Safety`), and both are aligned words of it, which all threads access atomically.
    unsafe {
        AtomicU64::from_ptr(&raw mut (*machine).stop).fetch_or(reason, SeqCst);
        AtomicU64::from_ptr(&raw mut (*machine).stack_guard).store(STOP, SeqCst);
    }
}

/// A request has been served.
pub fn served(ctx: &mut Machine, reason: u64) {
    // SAFETY: `stop` is an aligned word of a machine that `ctx` keeps alive; whoever else writes it does so atomically.
    unsafe { AtomicU64::from_ptr(&raw mut ctx.stop) }.fetch_and(!reason, SeqCst);
    arm(ctx);
}

/// Has something been requested that the next safepoint will serve?
pub fn is_asked(ctx: &mut Machine) -> bool {
    // SAFETY: `stop` is an aligned word of a machine that `ctx` keeps alive; whoever else writes it does so atomically.
    unsafe { AtomicU64::from_ptr(&raw mut ctx.stop) }.load(SeqCst) & !(stop::ZEAL | stop::SCHEDULE | stop::HEAP)
        != 0
}
