//! Clocks, exit, the environment.

use crate::access::{self, string_of};
use crate::alloc::{alloc_pair, make_flonum, make_string};
use crate::arguments::expect;
use crate::fatal;
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::Type;
use std::os::unix::ffi::OsStrExt;

/// Nanoseconds since the runtime began. (2^60 ns are 36 years.)
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_jiffy(ctx: &mut Machine) -> Value {
    Value::fixnum(rt(ctx).start.elapsed().as_nanos() as i64)
}

/// Nanoseconds of processor time that the process has taken.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_spent(_ctx: &mut Machine) -> Value {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock is there on every Linux, and `time` is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Value::fixnum(time.tv_sec * 1_000_000_000 + time.tv_nsec)
}

/// Seconds since 1970, a flonum.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_second(ctx: &mut Machine) -> Value {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    make_flonum(ctx, now.map(|d| d.as_secs_f64()).unwrap_or(0.0))
}

/// The exit status that `exit`'s argument means: of `#t` 0, of an integer up to 255 itself, of other integers 255 (the
/// system keeps the low byte only, and what is not 0 must not become 0), of anything else 1.
pub fn exit_status(v: Value) -> i32 {
    match v {
        Value::TRUE => 0,
        v if v.is_fixnum() => u8::try_from(v.as_fixnum()).unwrap_or(u8::MAX).into(),
        v if access::is(v, Type::Bignum) => u8::MAX.into(),
        _ => 1,
    }
}

/// Ends the program after flushing the open ports.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_exit(ctx: &mut Machine, status: Value) -> Value {
    fatal::end(ctx, exit_status(status))
}

/// Ends the program at once: no winders have run, but what was written is not lost.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_emergency_exit(ctx: &mut Machine, status: Value) -> Value {
    (rt(ctx).flush)(ctx);
    fatal::end_now(ctx, exit_status(status))
}

/// From now on a program that ends without calling `exit` ends with this status.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_end_status(ctx: &mut Machine, status: Value) -> Value {
    rt(ctx).end_status = exit_status(status);
    Value::UNSPECIFIED
}

/// Tells who has started this program as a test what has happened. Is there somebody?
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_test_event(ctx: &mut Machine, event: Value) -> Value {
    let listener = rt(ctx).options.tests.clone();
    if let Some(listener) = &listener {
        listener.told(&access::string_text(event));
    }
    Value::bool(listener.is_some())
}

/// Something has been evaluated once more.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_count(ctx: &mut Machine, counter: Value) -> Value {
    if let Some(counts) = &rt(ctx).options.counts {
        counts.add(counter.as_fixnum() as usize);
    }
    Value::UNSPECIFIED
}

/// Is the test of this name to be run, groups and all? All are, unless somebody has chosen.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_test_wanted(ctx: &mut Machine, name: Value) -> Value {
    let listener = rt(ctx).options.tests.clone();
    Value::bool(listener.is_none_or(|l| l.wants(&access::string_text(name))))
}

/// The program's name and its arguments: a list of strings.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_command_line(ctx: &mut Machine) -> Value {
    let items = rt(ctx).options.command_line.clone();
    items.iter().rev().fold(Value::NIL, |rest, text| {
        let s = make_string(ctx, text);
        alloc_pair(ctx, s, rest)
    })
}

/// The value of an environment variable: a string or `#f`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_getenv(ctx: &mut Machine, name: Value) -> Value {
    let _ = expect!(ctx, "get-environment-variable", 1, "a string", name, string_of(name));
    let name = access::string_text(name);
    // The standard library's lookup panics on names that cannot be.
    if name.is_empty() || name.contains(['=', '\0']) {
        return Value::FALSE;
    }
    match std::env::var_os(&name) {
        Some(value) => make_string(ctx, &String::from_utf8_lossy(value.as_bytes())),
        None => Value::FALSE,
    }
}

/// All environment variables: a list of pairs of strings.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_environment(ctx: &mut Machine) -> Value {
    std::env::vars_os().fold(Value::NIL, |rest, (name, value)| {
        let name = make_string(ctx, &String::from_utf8_lossy(name.as_bytes()));
        let value = make_string(ctx, &String::from_utf8_lossy(value.as_bytes()));
        let entry = alloc_pair(ctx, name, value);
        alloc_pair(ctx, entry, rest)
    })
}

/// `(timeline?)`: is there one?
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_has_timeline(ctx: &mut Machine) -> Value {
    Value::bool(rt(ctx).timeline.is_some())
}

/// `(timeline-turn name)`: the turn of the thread with this name begins; `#f`: nobody's does.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_system_timeline_turn(ctx: &mut Machine, name: Value) -> Value {
    let name = access::string_of(name).map(|_| access::string_text(name));
    if let Some(track) = &mut rt(ctx).timeline {
        track.turn(name.as_deref());
    }
    Value::UNSPECIFIED
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bare_runtime::TestRuntime;

    #[test]
    fn exit_statuses() {
        assert_eq!(exit_status(Value::TRUE), 0);
        assert_eq!(exit_status(Value::FALSE), 1);
        assert_eq!(exit_status(Value::fixnum(7)), 7);
        assert_eq!(exit_status(Value::char(65)), 1);
        assert_eq!(exit_status(Value::UNSPECIFIED), 1);
        assert_eq!(
            [0, 255, 256, 257, -1, i64::MIN >> 8].map(|n| exit_status(Value::fixnum(n))),
            [0, 255, 255, 255, 255, 255]
        );
    }

    #[test]
    fn impossible_environment_names_are_just_absent() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        for name in ["", "A=B", "\0", "CAIRN_SURELY_UNSET"] {
            let name = make_string(ctx, name);
            assert_eq!(cairn_system_getenv(ctx, name), Value::FALSE);
        }
        assert_eq!(cairn_system_getenv(ctx, Value::fixnum(1)), Value::FAIL);
    }
}
