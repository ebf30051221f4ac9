//! How a run ends.
//!
//! The problem: a program ends in many places (`exit`, an error that nobody handles, no memory, a standard output that
//! is gone), and not every process ends with its program: a host may have several runtimes, and go on. The idea: every
//! ending comes here, in two steps. [`finish`] writes out what is buffered and says what was asked for at the end; then
//! the host's [`exit`](crate::start_options::Host::exit) decides. Nothing else in the runtime ends the process.
//!
//! A host that goes on calls [`return_to_host`]: the run's frames on the native stack are dropped, and
//! [`Runtime::run`](crate::Runtime::run) returns the status. Destructors of the runtime calls that were under way do
//! not run: what they had allocated outside of the heap is lost.

use crate::machine::stubs;
use crate::runtime::rt;
use cairn_layout::machine::Machine;

/// Text for standard error, without its line's end.
pub fn say(ctx: &Machine, text: &str) {
    rt(ctx).options.host.say(&format!("{text}\n"));
}

/// Flushes the ports, reports what was asked for. The result is the exit status: `status`, or 1 when output was lost.
pub fn finish(ctx: &mut Machine, status: i32) -> i32 {
    finish_with(ctx, status, false)
}

/// [`finish`]; `frames`: a call of compiled code ends the run, whose frames are still there.
fn finish_with(ctx: &mut Machine, status: i32, frames: bool) -> i32 {
    (rt(ctx).end_others)(ctx);
    let complete = (rt(ctx).flush)(ctx);
    if let Some(profiler) = &mut rt(ctx).heap_profile
        && let Some(file) = &rt(ctx).options.heap_profile
    {
        let written = profiler.report(ctx, frames).and_then(|bytes| {
            let cannot = |e| format!("cannot write {}: {}", file.display(), crate::failure::describe_io(&e));
            std::fs::write(file, bytes).map_err(cannot)
        });
        if let Err(message) = written {
            say(ctx, &message);
            return status.max(1);
        }
    }
    if let Some(profile) = rt(ctx).time_profile.take()
        && let Some(file) = rt(ctx).options.profile.clone()
        && let Err(e) = profile.write(ctx, &file)
    {
        say(ctx, &format!("cairn: {e}"));
        return status.max(1);
    }
    if let Some(track) = rt(ctx).timeline.take()
        && let Some((file, text)) = track.end()
        && let Err(e) = std::fs::write(&file, text)
    {
        say(ctx, &format!("cannot write {}: {}", file.display(), crate::failure::describe_io(&e)));
        return status.max(1);
    }
    if rt(ctx).options.stats {
        let text = rt(ctx).heap.stats().to_string() + &(rt(ctx).describe_pools)(ctx);
        say(ctx, text.trim_end());
    }
    if let Some(file) = &rt(ctx).options.stats_file
        && let Err(e) = std::fs::write(file, numbers(ctx))
    {
        say(ctx, &format!("cannot write {}: {}", file.display(), crate::failure::describe_io(&e)));
        return status.max(1);
    }
    if complete { status } else { status.max(1) }
}

/// What the run has cost, as a JSON object of integers: the heap's counters, words of frames that collections have
/// looked at, and `elapsed_ns`, from the runtime's start.
fn numbers(ctx: &Machine) -> String {
    let elapsed = rt(ctx).start.elapsed().as_nanos() as u64;
    let frames = &rt(ctx).strategy;
    let frame_words = [
        ("frame_words_minor", frames.young_words + frames.promoted_words),
        ("frame_words_major", frames.full_words),
    ];
    let numbers =
        std::iter::once(("elapsed_ns", elapsed)).chain(rt(ctx).heap.stats().numbers()).chain(frame_words);
    let fields: Vec<String> = numbers.map(|(name, n)| format!("  \"{name}\": {n}")).collect();
    format!("{{\n{}\n}}\n", fields.join(",\n"))
}

/// Ends the run in good order.
pub fn end(ctx: &mut Machine, status: i32) -> ! {
    let status = finish_with(ctx, status, true);
    end_now(ctx, status)
}

/// Ends the run as things are.
pub fn end_now(ctx: &mut Machine, status: i32) -> ! {
    let host = rt(ctx).options.host.clone();
    host.exit(ctx, status)
}

/// For hosts that do not end with a run: makes the [`Runtime::run`](crate::Runtime::run) under way return
/// `Err(status)`.
///
/// # Panics
/// Outside of a run.
pub fn return_to_host(ctx: &mut Machine, status: i32) -> ! {
    assert!(ctx.host_sp != 0, "no run is under way");
    // SAFETY: a run is under way (asserted), so `run` entered compiled code through the stub, below on this stack.
    unsafe { stubs::leave(ctx, i64::from(status)) }
}
