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
//! A signal that comes after a runtime call has looked, and before it blocks, interrupts nothing. So the handler starts
//! a timer that nudges the machine's thread, by a signal that only interrupts, until the request is served.
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

/// Its handler does nothing: it interrupts what blocks. Who does not handle it does not notice it.
const NUDGE: i32 = libc::SIGURG;
/// The timer that sends [`NUDGE`] to the watched machine's thread while a signal waits to be served, or [`NO_TIMER`].
static TIMER: AtomicPtr<libc::c_void> = AtomicPtr::new(NO_TIMER);
/// A null pointer is the first timer of a process.
const NO_TIMER: libc::timer_t = std::ptr::without_provenance_mut(usize::MAX);

extern "C" fn on_nudge(_: i32) {}

/// A timer that can nudge this thread, if there is one to be had.
fn new_timer() -> libc::timer_t {
    // SAFETY: all zeros are valid for `sigevent`, and both structures outlive the call.
    unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = NUDGE;
        event.sigev_notify_thread_id = libc::gettid();
        let mut timer: libc::timer_t = null_mut();
        if libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) == 0 { timer } else { NO_TIMER }
    }
}

/// Nudges begin, or end. Async-signal-safe.
fn nudge(begin: bool) {
    let timer = TIMER.load(SeqCst);
    if timer != NO_TIMER {
        let period = libc::timespec { tv_sec: 0, tv_nsec: if begin { 10_000_000 } else { 0 } };
        let every = libc::itimerspec { it_interval: period, it_value: period };
        // SAFETY: `every` outlives the call; of a timer that is gone the kernel says so.
        unsafe { libc::timer_settime(timer, 0, &every, null_mut()) };
    }
}

/// The descriptor that ends the watched machine's wait for files (`crate::events`), or -1.
static WAKER: AtomicI32 = AtomicI32::new(-1);

/// From now on signals to this machine are also told through an event descriptor.
pub fn wake_through(machine: *mut Machine, fd: i32) {
    if WATCHED.load(SeqCst) == machine {
        WAKER.store(fd, SeqCst);
    }
}

/// Only atomics, `timer_settime`, `write` and `_exit`: async-signal-safe.
extern "C" fn on_signal(signal: i32) {
    let machine = WATCHED.load(SeqCst);
    if machine.is_null() || PENDING.swap(signal, SeqCst) != 0 {
        // SAFETY: `_exit` ends the process without running any code of it, and is async-signal-safe.
        unsafe { libc::_exit(128 + signal) }
    }
    // SAFETY: `WATCHED` is set to null when `Watch` is dropped, which is before the machine is, so this one is alive.
    unsafe { request(machine, stop::SIGNAL) };
    // SAFETY: `ONE` is eight bytes, and both calls are async-signal-safe; `errno`, which they may change, is put back.
    unsafe {
        let errno = *libc::__errno_location();
        nudge(true);
        let waker = WAKER.load(SeqCst);
        if waker >= 0 {
            libc::write(waker, (&raw const ONE).cast(), 8);
        }
        *libc::__errno_location() = errno;
    }
}

/// What is written to wake.
static ONE: u64 = 1;

type Handler = extern "C" fn(i32);

/// While it lives, signals request stops of a machine.
pub struct Watch {
    /// Is the machine the watched one?
    watching: bool,
    /// What to restore: the signals whose disposition was changed, with the old one.
    old: Vec<(i32, libc::sigaction)>,
}

/// Directs SIGINT and SIGTERM to a machine, which runs on this thread, unless another one has them.
pub fn watch(machine: *mut Machine) -> Watch {
    let mut old = vec![];
    let watching = WATCHED.compare_exchange(null_mut(), machine, SeqCst, SeqCst).is_ok();
    if watching {
        TIMER.store(new_timer(), SeqCst);
        for (signal, handler) in
            SIGNALS.map(|s| (s, on_signal as Handler)).into_iter().chain([(NUDGE, on_nudge as Handler)])
        {
            // SAFETY: all zeros is a valid `sigaction`; without SA_RESTART blocked calls return, and the request is
            // seen.
            unsafe {
                let mut before: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, std::ptr::null(), &mut before);
                if before.sa_sigaction == libc::SIG_IGN && signal != NUDGE {
                    continue;
                }
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handler as libc::sighandler_t;
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
        let timer = if self.watching { TIMER.swap(NO_TIMER, SeqCst) } else { NO_TIMER };
        if timer != NO_TIMER {
            // SAFETY: `watch` has made it. To a handler that has found it just now the kernel says that it is gone.
            unsafe { libc::timer_delete(timer) };
        }
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
    nudge(false); // a signal that comes before `PENDING` is 0 ends the process
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
