//! Other programs: started, waited for, told to end.
//!
//! A program runs with pipes, or with what this program has, for its standard input, output and error. Its end is an
//! event like others: a descriptor of the process becomes readable (`pidfd_open`, Linux 5.3), so a thread waits for it
//! as for input.

use crate::access::{self, list_items, string_of};
use crate::alloc::make_vector;
use crate::arguments::expect;
use crate::failure::{describe_io, fail};
use crate::port::{FLAG_BINARY, FLAG_INPUT, FLAG_OUTPUT, FLAG_TEXTUAL, make_fd_port};
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::machine::{Machine, error as kind};
use std::os::fd::IntoRawFd;
use std::process::{Command, Stdio};

/// Its ports are connected to pipes.
const IN: i64 = 1;
const OUT: i64 = 2;
const ERROR: i64 = 4;

/// `(process-start command pipes)`: `#(id descriptor input output error)`; what is no port is `#f`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_process_start(ctx: &mut Machine, words: Value, pipes: Value) -> Value {
    let mut texts = Vec::new();
    for word in list_items(words) {
        let _ = expect!(ctx, "start-process", 1, "a list of strings", words, string_of(word));
        texts.push(access::string_text(word));
    }
    let Some((program, arguments)) = texts.split_first() else {
        return fail(ctx, kind::TYPE, "start-process", "expected a list of strings, got", &[words]);
    };
    let bits = pipes.as_fixnum();
    let end = |bit: i64| if bits & bit != 0 { Stdio::piped() } else { Stdio::inherit() };
    let started = Command::new(program).args(arguments).stdin(end(IN)).stdout(end(OUT)).stderr(end(ERROR)).spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(e) => {
            let message = format!("cannot run \"{program}\": {}", describe_io(&e));
            return fail(ctx, kind::FILE, "start-process", message, &[]);
        }
    };
    // SAFETY: `pidfd_open` is given no address, so it touches no memory.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id() as libc::pid_t, 0) };
    let descriptor = if descriptor < 0 { Value::FALSE } else { Value::fixnum(descriptor) };
    let fds = [
        child.stdin.take().map(|p| (p.into_raw_fd(), FLAG_OUTPUT)),
        child.stdout.take().map(|p| (p.into_raw_fd(), FLAG_INPUT)),
        child.stderr.take().map(|p| (p.into_raw_fd(), FLAG_INPUT)),
    ];
    let mut parts = vec![Value::fixnum(child.id().into()), descriptor];
    for fd in fds {
        parts.push(match fd {
            None => Value::FALSE,
            Some((fd, direction)) => {
                let port = make_fd_port(ctx, direction | FLAG_TEXTUAL | FLAG_BINARY, fd, program);
                rt(ctx).open_ports.push(port);
                port
            }
        });
    }
    make_vector(ctx, &parts)
}

/// `(process-status id)`: the exit status, the signal that ended it as a negative number, or `#f` while it runs.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_process_status(_: &mut Machine, id: Value) -> Value {
    let mut status = 0;
    // SAFETY: `status` is a valid place for the status, and `waitpid` touches nothing else.
    let ended = unsafe { libc::waitpid(id.as_fixnum() as libc::pid_t, &mut status, libc::WNOHANG) };
    if ended == 0 {
        Value::FALSE
    } else if ended < 0 {
        Value::fixnum(255)
    } else if libc::WIFSIGNALED(status) {
        Value::fixnum(-i64::from(libc::WTERMSIG(status)))
    } else {
        Value::fixnum(libc::WEXITSTATUS(status).into())
    }
}

/// `(process-signal id signal)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_process_signal(ctx: &mut Machine, id: Value, signal: Value) -> Value {
    let signal = expect!(ctx, "process-signal!", 2, "a signal number", signal, access::fixnum_of(signal));
    // SAFETY: `kill` is given no address, so it touches no memory; what the signal does to another process is the
    // program's wish.
    let sent = unsafe { libc::kill(id.as_fixnum() as libc::pid_t, signal as i32) } == 0;
    Value::bool(sent)
}

/// `(process-release descriptor)`: nobody waits for this process any more.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_process_release(_: &mut Machine, descriptor: Value) -> Value {
    // SAFETY: `process-start` opened the descriptor for the library, which closes it once and uses it nowhere else.
    unsafe { libc::close(descriptor.as_fixnum() as i32) };
    Value::UNSPECIFIED
}
