//! Requested stops: how signals reach a program that computes.
//!
//! The problem: SIGINT and SIGTERM come between any two instructions, where nothing of the runtime may be touched; but
//! what the program has written must not be lost. The idea: the handler only requests a stop, in two words of the
//! machine context; at its next safepoint compiled code comes to the runtime, with all its values rooted, and the
//! request is served: the program ends, or a procedure that it has given is called (`lib/cairn/signal.sld`), and it
//! goes on where it was ([`super::suspend`]).
//!
//! ```text
//!  SIGINT ──▶ handler: stop |= SIGNAL, stack_guard := STOP     (a second one while the first is pending: _exit)
//!                                   │
//!  StackCheck, StopCheck: sp - n < stack_guard? ──▶ cairn_machine_guard ──▶ take: flush, exit 128 + signal
//!  HeapCheck, when the nursery block is used up ──▶ cairn_machine_collect ──▶ take
//!  read interrupted (EINTR) ──▶ serve_blocked ──▶ take
//! ```
//!
//! The two words are [`super::stop_word`]'s.
//!
//! Signals are a matter of the process: they go to the one machine that [`watch`] was called for, which is the main
//! program's. Signals that were ignored when the process began stay ignored.

use super::raise;
use super::stop_word::{arm, request, served};
use crate::fatal;
use cairn_layout::Value;
use cairn_layout::machine::{Machine, slot, stop};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering::SeqCst};

/// The signals that stop a program.
const SIGNALS: [i32; 2] = [libc::SIGINT, libc::SIGTERM];

/// The machine that signals go to.
static WATCHED: AtomicPtr<Machine> = AtomicPtr::new(null_mut());
/// The signal that has arrived and is not served yet, or 0.
static PENDING: AtomicI32 = AtomicI32::new(0);

/// The descriptor that ends the watched machine's wait for files (`crate::events`), or -1.
static WAKER: AtomicI32 = AtomicI32::new(-1);

/// From now on signals to this machine are also told through an event descriptor.
pub fn wake_through(machine: *mut Machine, fd: i32) {
    if WATCHED.load(SeqCst) == machine {
        WAKER.store(fd, SeqCst);
    }
}

/// Only atomics, `write` and `_exit`: async-signal-safe.
extern "C" fn on_signal(signal: i32) {
    let machine = WATCHED.load(SeqCst);
    if machine.is_null() || PENDING.swap(signal, SeqCst) != 0 {
        // SAFETY: `_exit` ends the process without running any code of it, and is async-signal-safe.
        unsafe { libc::_exit(128 + signal) }
    }
    // SAFETY: `WATCHED` is set to null when `Watch` is dropped, which is before the machine is, so this one is alive.
    unsafe { request(machine, stop::SIGNAL) };
    let waker = WAKER.load(SeqCst);
    if waker >= 0 {
        // SAFETY: `ONE` is eight bytes, and `write` is async-signal-safe; `errno`, which it may change, is put back.
        unsafe {
            let errno = *libc::__errno_location();
            libc::write(waker, (&raw const ONE).cast(), 8);
            *libc::__errno_location() = errno;
        }
    }
}

/// What is written to wake.
static ONE: u64 = 1;

/// While it lives, signals request stops of a machine.
pub struct Watch {
    /// Is the machine the watched one?
    watching: bool,
    /// What to restore: the signals whose disposition was changed, with the old one.
    old: Vec<(i32, libc::sigaction)>,
}

/// Directs SIGINT and SIGTERM to a machine, unless another one has them.
pub fn watch(machine: *mut Machine) -> Watch {
    let mut old = vec![];
    let watching = WATCHED.compare_exchange(null_mut(), machine, SeqCst, SeqCst).is_ok();
    if watching {
        for signal in SIGNALS {
            // SAFETY: all zeros is a valid `sigaction`; without SA_RESTART blocked calls return, and the request is
            // seen.
            unsafe {
                let mut before: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, std::ptr::null(), &mut before);
                if before.sa_sigaction == libc::SIG_IGN {
                    continue;
                }
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_signal as extern "C" fn(i32) as libc::sighandler_t;
                action.sa_flags = libc::SA_ONSTACK; // the stack of native frames has room when it is written
                libc::sigaction(signal, &action, std::ptr::null_mut());
                old.push((signal, before));
            }
        }
    }
    Watch { watching, old }
}

impl Drop for Watch {
    fn drop(&mut self) {
        for (signal, before) in &self.old {
            // SAFETY: `before` is what `watch` found for this signal, a valid `sigaction`.
            unsafe { libc::sigaction(*signal, before, std::ptr::null_mut()) };
        }
        if self.watching {
            WAKER.store(-1, SeqCst);
            WATCHED.store(null_mut(), SeqCst);
        }
    }
}

/// If a signal has arrived, the program ends with what it has written and status 128 + signal; or, if it asks for
/// signals, the number is the result, and the request is served.
#[inline]
pub fn take(ctx: &mut Machine) -> Option<i64> {
    if ctx.stop & stop::SIGNAL == 0 { None } else { Some(take_signal(ctx)) }
}

#[cold]
fn take_signal(ctx: &mut Machine) -> i64 {
    if !asks(ctx) {
        fatal::end(ctx, status())
    }
    // SAFETY: `stop` is an aligned word of a machine that `ctx` keeps alive; whoever else writes it does so atomically.
    unsafe { AtomicU64::from_ptr(&raw mut ctx.stop) }.fetch_and(!stop::SIGNAL, SeqCst);
    let signal = PENDING.swap(0, SeqCst);
    arm(ctx);
    i64::from(signal)
}

/// Guardians have got something back: does the program want to know? The request is served.
pub fn take_finalizers(ctx: &mut Machine) -> bool {
    served(ctx, stop::FINALIZERS);
    ctx.slot(slot::FINALIZER_HOOK).is_procedure()
}

/// In a runtime call that may block: serves a requested stop. There is no way back into such a call, so the program's
/// hook gets a negative number and must not return.
///
/// Not in programs with threads that ask for signals: there nothing blocks, and the signal is for the main thread,
/// which this need not be; the next safepoint tells it.
pub fn serve_blocked(ctx: &mut Machine) {
    if asks(ctx) && ctx.slot(slot::INTERRUPT_HOOK).is_procedure() {
        return;
    }
    if let Some(signal) = take(ctx) {
        *ctx.slot_mut(slot::RAISED) = Value::fixnum(-signal);
        raise::go_on_with(ctx, ctx.slot(slot::SIGNAL_HOOK))
    }
}

/// Does the program want to know of signals?
fn asks(ctx: &Machine) -> bool {
    ctx.slot(slot::SIGNAL_HOOK).is_procedure()
}

/// Ends the run because another place wants it.
#[cold]
pub fn end_for_another(ctx: &mut Machine) -> ! {
    served(ctx, stop::END);
    fatal::end(ctx, 1)
}

/// Ends the program as the pending signal demands, without more ado.
pub fn end(ctx: &mut Machine) -> ! {
    fatal::end_now(ctx, status())
}

fn status() -> i32 {
    128 + PENDING.load(SeqCst)
}

/// Is the program to be ended by a signal, or by another place? Then nothing may block for long any more.
pub fn is_ending(ctx: &Machine) -> bool {
    ctx.stop & stop::SIGNAL != 0 && !asks(ctx) || ctx.stop & stop::END != 0
}
