//! The ticker: threads take turns although none of them gives way.
//!
//! The problem: the scheduler is Scheme code (`lib/cairn/scheduler.sld`); a thread that computes does not call it. The
//! idea: while two threads want to run, an OS thread that sleeps all the time requests a stop of the machine
//! ([`stop_word::request`]) every few milliseconds; at its next safepoint compiled code comes to the runtime, which
//! calls the scheduler's tick hook there ([`super::safepoint`]). The scheduler turns the ticker off as soon as a tick
//! finds nobody else who wants to run, so programs with one thread never have one, and an idle program is not woken.
//!
//! Turning on and off is cheap, for a program may do so a million times a second: both are a store; the OS thread finds
//! out when its sleep ends, and only a ticker that has found nothing to do waits to be woken.
//!
//! With `CAIRN_SCHEDULE=SEED` the clock does not matter: at every safepoint a generator of random numbers decides, so
//! that a program that depends on nothing else runs the same way again.
//!
//! A test may also ask for the one tick at the k-th safepoint from now on ([`Ticker::count`]), so that something can be
//! tried at each safepoint of a program in turn.
//!
//! Invariant: the OS thread ends before the machine does ([`Ticker::end`]).

use super::stop_word;
use cairn_layout::machine::{Machine, stop as reason};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A machine that may be sent to another OS thread, to request stops there.
struct Stopped(*mut Machine);

// SAFETY: all that the other thread does with the pointer is `stop_word::request`, which any thread may call.
unsafe impl Send for Stopped {}

/// What both sides know.
#[derive(Default)]
struct Shared {
    /// Nanoseconds between ticks; 0: off.
    period: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The OS thread has found the ticker off, and waits.
    waits: bool,
    ends: bool,
}

/// See the module's header.
pub struct Ticker {
    shared: Arc<Shared>,
    clock: Option<JoinHandle<()>>,
    /// The state of a random schedule.
    random: Option<u64>,
    /// How many safepoints are left until the only tick; 0: it is not counted.
    countdown: u64,
}

impl Ticker {
    /// A ticker that is off.
    pub fn new(schedule: Option<u64>) -> Ticker {
        Ticker { shared: Arc::default(), clock: None, random: schedule, countdown: 0 }
    }

    /// Lets a machine be stopped every `period` nanoseconds; 0: no more.
    pub fn set(&mut self, machine: *mut Machine, period: u64) {
        if self.random.is_some() {
            return;
        }
        self.shared.period.store(period, SeqCst);
        if period == 0 {
            return;
        }
        if self.clock.is_none() {
            let (shared, machine) = (self.shared.clone(), Stopped(machine));
            // Without an OS thread there is no preemption; the program goes on.
            self.clock =
                std::thread::Builder::new().name("ticker".into()).spawn(move || tick(&shared, machine)).ok();
            return;
        }
        let mut state = self.shared.state.lock().unwrap_or_else(|e| e.into_inner());
        if std::mem::take(&mut state.waits) {
            self.shared.changed.notify_one();
        }
    }

    /// Ends the OS thread.
    pub fn end(&mut self) {
        let Some(clock) = self.clock.take() else { return };
        self.shared.state.lock().unwrap_or_else(|e| e.into_inner()).ends = true;
        self.shared.changed.notify_one();
        let _ = clock.join();
    }

    /// The `safepoints`-th safepoint from now on is a tick, and none before; 0: not so any more. The result is how many
    /// were left of what was counted before.
    pub fn count(&mut self, safepoints: u64) -> u64 {
        std::mem::replace(&mut self.countdown, safepoints)
    }

    /// A safepoint: if they are counted, is this the one?
    pub fn passed(&mut self) -> Option<bool> {
        self.countdown = self.countdown.checked_sub(1)?;
        Some(self.countdown == 0)
    }

    /// Are schedules random?
    pub fn is_random(&self) -> bool {
        self.random.is_some()
    }

    /// The next random number (SplitMix64; Steele, Lea & Flood 2014), if schedules are random.
    pub fn next(&mut self) -> Option<u64> {
        let state = self.random.as_mut()?;
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = *state;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        Some(z ^ z >> 31)
    }
}

/// The OS thread.
fn tick(shared: &Shared, machine: Stopped) {
    let mut state = shared.state.lock().unwrap_or_else(|e| e.into_inner());
    while !state.ends {
        let period = shared.period.load(SeqCst);
        if period == 0 {
            state.waits = true;
            // Looked at once more: whoever turned the ticker on before `waits` was set did not wake anybody.
            while state.waits && !state.ends && shared.period.load(SeqCst) == 0 {
                state = shared.changed.wait(state).unwrap_or_else(|e| e.into_inner());
            }
            state.waits = false;
            continue;
        }
        let sleep = shared.changed.wait_timeout(state, Duration::from_nanos(period));
        state = sleep.unwrap_or_else(|e| e.into_inner()).0;
        if !state.ends && shared.period.load(SeqCst) != 0 {
            // SAFETY: the machine lives until `Ticker::end` has come back, which waits for this thread.
            unsafe { stop_word::request(machine.0, reason::TICK) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let numbers = |seed| {
            let mut ticker = Ticker::new(Some(seed));
            (0..100).map(|_| ticker.next().unwrap() % 10).collect::<Vec<_>>()
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        assert_eq!(Ticker::new(None).next(), None);
    }

    #[test]
    fn the_last_of_the_safepoints_counted_is_the_tick() {
        let mut ticker = Ticker::new(None);
        assert_eq!(ticker.passed(), None);
        assert_eq!(ticker.count(3), 0);
        assert_eq!([(); 4].map(|()| ticker.passed()), [Some(false), Some(false), Some(true), None]);
        ticker.count(3);
        ticker.passed();
        assert_eq!(ticker.count(0), 2);
        assert_eq!(ticker.passed(), None);
    }
}
