//! `--profile`: where processor time goes, by samples.
//!
//! The problem: a signal comes between any two instructions, where frames cannot be read; yet samples should show the
//! program's own calls with their lines, in every mode and under every frame strategy. The idea: the signal only
//! requests a stop ([`stop_word`]); at the next safepoint, which loops and recursions reach at once, all frames are
//! whole, and the backtrace's reader (`report.rs`) knows them, inlined, evaluated and native ones alike.
//!
//! ```text
//!  timer: 1 ms of the thread's processor time ──▶ handler: stop |= PROFILE
//!  next safepoint ──▶ sample: stacks[frames under way] += processor time since the last sample
//! ```
//!
//! A sample weighs what the thread's clock says, not what was counted: kernels look at such timers at their own ticks
//! only, perhaps each 4 ms. What collections take is measured, and put above the frames of the next sample.
//!
//! The youngest frames are those of the function that came to the safepoint. Its address is on the native stack, where
//! the cold stub saved it, and its name and position stand before its code (`cairn_layout::code`). Of a procedure that
//! returned before the next safepoint nothing is left: its time is its caller's. Evaluated code is known by its marks;
//! one that runs without a call under way is found among the spilled values.
//!
//! Stacks are read and counted by [`stacks`]. Programs that are not profiled pay one test where stops are served.

use crate::machine::stop_word;
use crate::runtime::{TimeProfiler, rt};
use cairn_layout::Value;
use cairn_layout::machine::{Machine, stop as reason};
use stacks::{PERIOD, Stacks, Unit};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};

pub(crate) mod formats;
pub(crate) mod stacks;

/// What the handler knows: the machine to be stopped, or null when the profile has ended. Never freed, for a signal may
/// come after its timer is gone.
type Target = AtomicPtr<Machine>;

/// See the module's header.
pub struct TimeProfile {
    target: &'static Target,
    timer: libc::timer_t,
    /// Their nanoseconds.
    stacks: Stacks,
    /// The thread's processor time at the last sample.
    sampled_at: u64,
    /// What collections have taken since then, and when the one under way began.
    collected: u64,
    collects_since: u64,
}

/// Only atomics: async-signal-safe.
extern "C" fn on_tick(_: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel's description of the signal; one of a timer carries what `start` gave it, which is not freed.
    // Another process's signal of the same number has another code.
    unsafe {
        if (*info).si_code != libc::SI_TIMER {
            return;
        }
        let machine = (*((*info).si_value().sival_ptr as *const Target)).load(SeqCst);
        if !machine.is_null() {
            stop_word::request(machine, reason::PROFILE);
        }
    }
}

/// Starts a profile of the program that runs on this OS thread, unless there is one. Without a timer there is none.
pub fn start(ctx: &mut Machine) -> Result<(), std::io::Error> {
    if rt(ctx).time_profile.is_some() {
        return Ok(());
    }
    let target: &'static Target = Box::leak(Box::new(AtomicPtr::new(ctx)));
    // SAFETY: all zeros are valid for these structures; the handler is async-signal-safe, and runs where there is room.
    let timer = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = on_tick;
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigaction(libc::SIGPROF, &action, null_mut());
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGPROF;
        event.sigev_notify_thread_id = libc::gettid();
        event.sigev_value = libc::sigval { sival_ptr: (&raw const *target).cast_mut().cast() };
        let mut timer: libc::timer_t = std::mem::zeroed();
        if libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &mut event, &mut timer) != 0 {
            return Err(std::io::Error::last_os_error());
        }
        let period = libc::timespec { tv_sec: 0, tv_nsec: PERIOD as libc::c_long };
        let every = libc::itimerspec { it_interval: period, it_value: period };
        libc::timer_settime(timer, 0, &every, null_mut());
        timer
    };
    rt(ctx).time_profile = Some(Box::new(TimeProfile {
        target,
        timer,
        stacks: Stacks::new(Unit::Nanoseconds),
        sampled_at: processor_time(),
        collected: 0,
        collects_since: 0,
    }));
    Ok(())
}

/// Nanoseconds of processor time that this OS thread has used.
fn processor_time() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid `timespec`, which the kernel fills.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

impl Drop for TimeProfile {
    fn drop(&mut self) {
        self.target.store(null_mut(), SeqCst);
        // SAFETY: `start` made the timer, and it is deleted here alone.
        unsafe { libc::timer_delete(self.timer) };
    }
}

impl TimeProfiler for TimeProfile {
    fn sample(&mut self, ctx: &Machine) {
        let now = processor_time();
        let all = now - std::mem::replace(&mut self.sampled_at, now);
        let collected = std::mem::take(&mut self.collected).min(all);
        let stack = self.stacks.at_safepoint(ctx);
        if collected > 0 {
            let collects = self.stacks.above("(collector)", &stack);
            self.stacks.add(collects, collected);
        }
        self.stacks.add(stack, all - collected);
    }

    fn collecting(&mut self, begins: bool) {
        let now = processor_time();
        if begins {
            self.collects_since = now;
        } else {
            self.collected += now - self.collects_since;
        }
    }

    fn table(&self) -> String {
        self.stacks.by_procedure()
    }

    fn write(&self, ctx: &Machine, file: &Path) -> Result<(), String> {
        let bytes = formats::bytes(&self.stacks, ctx, formats::Format::of(file)?)?;
        std::fs::write(file, bytes)
            .map_err(|e| format!("cannot write {}: {}", file.display(), crate::failure::describe_io(&e)))
    }
}

/// Why a profile cannot be written to a file of this name, if it cannot. `draws`: flame graphs can be drawn here.
pub fn check_name(file: &Path, draws: bool) -> Result<(), String> {
    match formats::Format::of(file)? {
        formats::Format::FlameGraph if !draws => Err(formats::NO_FLAME_GRAPH.into()),
        _ => Ok(()),
    }
}

/// `(profile-start)`: begins a new profile; `#f` if the whole run has one (`--profile`), or if there is no timer.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_profile_start(ctx: &mut Machine) -> Value {
    if rt(ctx).options.profile.is_some() {
        return Value::FALSE;
    }
    rt(ctx).time_profile = None; // of an evaluation that has been left
    Value::bool(start(ctx).is_ok())
}

/// `(profile-stop)`: a table of procedures, as a string.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_profile_stop(ctx: &mut Machine) -> Value {
    let table = rt(ctx).time_profile.take().map_or(String::new(), |profile| profile.table());
    crate::alloc::make_string(ctx, &table)
}
