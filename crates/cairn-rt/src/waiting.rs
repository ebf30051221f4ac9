//! How the scheduler has the system watch files, and waits when no thread can run ([`crate::events`]).

use crate::alloc::make_list;
use crate::events::Events;
use crate::failure::{describe_io, other};
use crate::machine::{stop, stop_word};
use crate::places::doorbell::{Doorbell, Sleep};
use crate::runtime::{Runtime, rt};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The time that says: only other places can end the wait.
const AMONG_PLACES: i64 = -2;
/// How long a program waits before it counts as idle, and collects.
const IDLE: Duration = Duration::from_millis(50);

fn events(rt: &mut Runtime) -> io::Result<&mut Events> {
    if rt.events.is_none() {
        let events = Events::new()?;
        stop::wake_through(rt.machine(), events.signals());
        rt.events = Some(events);
        if let Some(places) = &rt.places
            && let (Some(doorbell), Some(events)) = (places.has_doorbell(), &mut rt.events)
        {
            events.hear(doorbell.fd())?;
        }
    }
    Ok(rt.events.as_mut().expect("made above"))
}

/// Makes what files are watched with, which takes descriptors itself: before a program that accepts connections has
/// used up all of them.
pub fn prepare(ctx: &mut Machine) -> io::Result<()> {
    events(rt(ctx)).map(|_| ())
}

/// What other places make this one's event loop look with.
pub fn doorbell(rt: &mut Runtime) -> io::Result<Arc<Doorbell>> {
    let places = rt.places.as_mut().expect("there are places");
    let known = places.has_doorbell().is_some();
    let doorbell = places.doorbell()?;
    if !known && let Some(events) = &mut rt.events {
        events.hear(doorbell.fd())?;
    }
    Ok(doorbell)
}

/// `(thread-watch descriptor what)`: 1 to read, 2 to write. `#f`: that never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_thread_watch(ctx: &mut Machine, fd: Value, what: Value) -> Value {
    let fd = fd.as_fixnum() as i32;
    match events(rt(ctx)).and_then(|e| e.watch(fd, what.as_fixnum() as u64)) {
        Ok(watched) => Value::bool(watched),
        Err(e) => {
            let message = format!("cannot wait for a file: {}", describe_io(&e));
            other(ctx, "", message, &[])
        }
    }
}

/// `(thread-wait nanoseconds)`: waits until a watched descriptor is ready, at most so long, without end if the number
/// is negative. The result is a list of `4 * descriptor + what`. It may come back early: a signal has arrived, or the
/// program is idle and collects at its next safepoint. -2: nothing but another place can end the wait; the result is
/// `#t` if none of them will.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_thread_wait(ctx: &mut Machine, nanoseconds: Value) -> Value {
    let time = u64::try_from(nanoseconds.as_fixnum()).ok().map(Duration::from_nanos);
    let places = rt(ctx).places.as_ref().filter(|_| nanoseconds == Value::fixnum(AMONG_PLACES));
    let doorbell = places.and_then(|p| p.has_doorbell()).cloned();
    let told = match doorbell.as_ref().map(|d| d.sleep()) {
        Some(Sleep::Deadlock) => return Value::TRUE,
        // Also when a stop is asked for: it counts as seen now.
        Some(Sleep::Rung) => events(rt(ctx)).and_then(|e| e.wait(Some(Duration::ZERO))),
        Some(Sleep::Sleeps) | None => wait(ctx, time),
    };
    doorbell.inspect(|d| d.wake());
    let told = told.unwrap_or_else(|e| {
        crate::fatal::say(ctx, &format!("cairn: cannot wait for files: {}", describe_io(&e)));
        crate::fatal::end(ctx, 1)
    });
    let told: Vec<Value> = told.into_iter().map(|n| Value::fixnum(n as i64)).collect();
    make_list(ctx, &told)
}

fn wait(ctx: &mut Machine, time: Option<Duration>) -> io::Result<Vec<u64>> {
    let long = time.is_none_or(|t| t > IDLE);
    if long && !stop_word::is_asked(ctx) && rt(ctx).heap.may_release() {
        // What the last collection has freed goes back to the system; then the program asks again.
        let told = events(rt(ctx))?.wait(Some(IDLE))?;
        if told.is_empty() {
            rt(ctx).heap.release_free();
        }
        return Ok(told);
    }
    if long && let Some(patience) = rt(ctx).heap.idle_collection(ctx.cursors) {
        let patience = patience.max(IDLE);
        let short = time.map_or(patience, |t| t.min(patience));
        let told = events(rt(ctx))?.wait(Some(short))?;
        if told.is_empty() && short == patience && !stop_word::is_asked(ctx) {
            // If it is not due any more, the program asks again.
            let _ = rt(ctx).heap.request_idle_collection(&mut ctx.cursors);
        }
        return Ok(told);
    }
    if stop_word::is_asked(ctx) {
        return Ok(Vec::new());
    }
    if long && rt(ctx).heap.may_release() {
        // What the last collection has left free goes back; then the program asks again.
        let told = events(rt(ctx))?.wait(Some(IDLE))?;
        if told.is_empty() && !stop_word::is_asked(ctx) {
            rt(ctx).heap.release_free();
        }
        return Ok(told);
    }
    events(rt(ctx))?.wait(time)
}
