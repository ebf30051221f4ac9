//! Whose turn it is: what the scheduler (`lib/cairn/scheduler.sld`) and safepoints ask of the [`Ticker`].
//!
//! [`Ticker`]: super::ticker::Ticker

use super::stop_word::{arm, request, served};
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::machine::{Machine, slot, stop as reason};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// At a safepoint of a random schedule, one in so many switches.
const RARENESS: u64 = 4;

/// Shall another thread have its turn, and is there somebody to give it? A request by the ticker is served.
#[cold]
pub fn take_tick(ctx: &mut Machine) -> bool {
    // SAFETY: `stop` is an aligned word of a machine that `ctx` keeps alive; whoever else writes it does so atomically.
    let asked =
        unsafe { AtomicU64::from_ptr(&raw mut ctx.stop) }.fetch_and(!reason::TICK, SeqCst) & reason::TICK != 0;
    arm(ctx);
    let due = match rt(ctx).ticker.passed() {
        None => at_random(ctx) || asked,
        Some(due) => {
            if due && !rt(ctx).ticker.is_random() {
                served(ctx, reason::SCHEDULE);
            }
            due
        }
    };
    due && ctx.slot(slot::TICK_HOOK).is_procedure()
}

/// `(thread-tick-at k)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_thread_tick_at(ctx: &mut Machine, safepoints: Value) -> Value {
    let count = safepoints.as_fixnum().max(0) as u64;
    let left = rt(ctx).ticker.count(count);
    if count > 0 {
        // SAFETY: `ctx` is a reference, so the machine is alive.
        unsafe { request(ctx, reason::SCHEDULE) };
    } else if !rt(ctx).ticker.is_random() {
        served(ctx, reason::SCHEDULE);
    }
    Value::fixnum(left as i64)
}

/// Does a random schedule switch at this safepoint?
fn at_random(ctx: &mut Machine) -> bool {
    ctx.slot(slot::TICK_HOOK).is_procedure() && rt(ctx).ticker.next().is_some_and(|n| n % RARENESS == 0)
}

/// `(thread-tick nanoseconds)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_thread_tick(ctx: &mut Machine, period: Value) -> Value {
    let machine: *mut Machine = ctx;
    rt(ctx).ticker.set(machine, period.as_fixnum() as u64);
    Value::UNSPECIFIED
}

/// `(thread-random n)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_thread_random(ctx: &mut Machine, n: Value) -> Value {
    match rt(ctx).ticker.next() {
        Some(random) => Value::fixnum((random % n.as_fixnum().max(1) as u64) as i64),
        None => Value::FALSE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::alloc_procedure;
    use crate::bare_runtime::TestRuntime;
    use cairn_layout::value::TAG_PROCEDURE;
    use std::time::{Duration, Instant};

    fn is_asked(ctx: &mut Machine) -> bool {
        // SAFETY: `stop` is an aligned word of a machine that `ctx` keeps alive; whoever else writes it does so
        // atomically.
        unsafe { AtomicU64::from_ptr(&raw mut ctx.stop) }.fetch_and(!reason::TICK, SeqCst) & reason::TICK != 0
    }

    fn is_asked_within(ctx: &mut Machine, time: Duration) -> bool {
        let start = Instant::now();
        while start.elapsed() < time {
            if is_asked(ctx) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    }

    #[test]
    fn safepoints_are_counted_until_the_tick() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        cairn_thread_tick_at(ctx, Value::fixnum(2));
        *ctx.slot_mut(slot::TICK_HOOK) = Value(alloc_procedure(ctx, 1) | TAG_PROCEDURE);
        assert!(!take_tick(ctx) && ctx.stop & reason::SCHEDULE != 0);
        assert!(take_tick(ctx) && ctx.stop & reason::SCHEDULE == 0);
        assert!(!take_tick(ctx));
    }

    #[test]
    fn a_ticker_ticks_while_it_is_on() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        for _ in 0..3 {
            cairn_thread_tick(ctx, Value::fixnum(1_000_000));
            assert!(is_asked_within(ctx, Duration::from_secs(10)));
            assert!(is_asked_within(ctx, Duration::from_secs(10)), "again and again");
            cairn_thread_tick(ctx, Value::fixnum(0));
            std::thread::sleep(Duration::from_millis(20));
            is_asked(ctx);
            assert!(!is_asked_within(ctx, Duration::from_millis(30)), "off");
        }
    }
}
