//! OS threads that wait for the system in the place of a program's threads.
//!
//! The problem: some calls of the system block, and cannot be asked first whether they would: looking up the name of a
//! host, opening a named pipe whose other end nobody has opened. The idea: a *job* makes such a call on an OS thread of
//! its own, and rings a descriptor when it is done; the green thread waits for that as for any file
//! (`wait-for-file!`), then asks for the outcome. Only programs with threads do so; others just wait.
//!
//! Invariant: a job refers to nothing of the runtime, so it may outlive it; what it has made is closed then.

use crate::jobs::Job;
use crate::port;
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use std::net::IpAddr;

/// A host's name as it is looked up.
pub(crate) fn bare_host(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

/// `(net-look-up host)`: `#t` when the host's addresses are known, or the descriptor to wait for before asking again.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_helpers_look_up(ctx: &mut Machine, host: Value) -> Value {
    if crate::access::string_of(host).is_none() {
        return Value::TRUE; // who uses it says what is wrong
    }
    let text = crate::access::string_text(host);
    let host = bare_host(&text);
    if host.parse::<IpAddr>().is_ok() {
        return Value::TRUE;
    }
    rt(ctx).helpers.look_up(host).unwrap_or(Value::TRUE)
}

/// `(opened-file descriptor path flags)`: the port, or `#f` when it is not open yet.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_helpers_opened_file(ctx: &mut Machine, job: Value, path: Value, flags: Value) -> Value {
    let openings = &mut rt(ctx).helpers.openings;
    let Some(outcome) = openings.get(&job.as_fixnum()).and_then(Job::take) else { return Value::FALSE };
    openings.remove(&job.as_fixnum());
    let flags = flags.as_fixnum();
    let who = port::opener(flags);
    match outcome {
        Ok(fd) => port::opened(ctx, who, path, fd, flags),
        Err(e) => crate::failure::file_error(ctx, who, "open", path, &e),
    }
}
