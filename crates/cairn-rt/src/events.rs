//! What threads wait for outside of the program: files that become ready, and time.
//!
//! The problem: a thread that waits for input must not keep the others from running. The idea: nothing that may block
//! is asked of the system before it is ready. A port whose read or write would block says so, and the scheduler
//! (`lib/cairn/scheduler.sld`) parks the thread, has the file descriptor watched, and asks the system for what is
//! ready now and then; when no thread can run, it waits here for files and time.
//!
//! A descriptor is watched until it has been told of once. Descriptors that the system cannot watch, such as those of
//! ordinary files, never block.
//!
//! Invariant: the set of watched descriptors is the system's alone. One that is closed is not watched any more, so
//! nothing has to be kept up to date here; what is told of a number that was given to another file is at worst a reason
//! to look too early.

use crate::alloc::make_list;
use crate::failure::{describe_io, other};
use crate::machine::stop;
use crate::runtime::{Runtime, rt};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use mio::unix::SourceFd;
use mio::{Interest, Poll, Token};
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Ready to be read, or in a state that reading will tell.
const READ: u64 = 1;
/// Ready to be written, likewise.
const WRITE: u64 = 2;
/// How many are told of at once.
const MOST: usize = 1024;
/// What stands for the descriptor that signals are told through.
const SIGNALS: Token = Token(usize::MAX);
/// How long a program waits before it counts as idle, and collects.
const IDLE: Duration = Duration::from_millis(50);

/// See the module's header.
pub struct Events {
    poll: Poll,
    ready: mio::Events,
    /// Written to by the signal handler: a signal that arrives just before a wait must end it.
    signals: OwnedFd,
}

impl Events {
    fn new() -> io::Result<Events> {
        let poll = Poll::new()?;
        // SAFETY: a fresh descriptor, or an error.
        let signals = unsafe {
            let fd = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        poll.registry().register(&mut SourceFd(&signals.as_raw_fd()), SIGNALS, Interest::READABLE)?;
        Ok(Events { poll, ready: mio::Events::with_capacity(MOST), signals })
    }

    /// Watches a descriptor once. False: it never blocks.
    fn watch(&mut self, fd: i32, what: u64) -> io::Result<bool> {
        let interest = match what & (READ | WRITE) {
            READ => Interest::READABLE,
            WRITE => Interest::WRITABLE,
            _ => Interest::READABLE | Interest::WRITABLE,
        };
        let (registry, token) = (self.poll.registry(), Token(fd as usize));
        let outcome = match registry.reregister(&mut SourceFd(&fd), token, interest) {
            Err(e) if e.kind() == ErrorKind::NotFound => registry.register(&mut SourceFd(&fd), token, interest),
            outcome => outcome,
        };
        match outcome {
            Ok(()) => Ok(true),
            Err(e) if e.raw_os_error() == Some(libc::EPERM) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// What is ready, after at most so long.
    fn wait(&mut self, time: Option<Duration>) -> io::Result<Vec<u64>> {
        match self.poll.poll(&mut self.ready, time) {
            // A signal: the caller has a safepoint.
            Err(e) if e.kind() == ErrorKind::Interrupted => return Ok(Vec::new()),
            outcome => outcome?,
        }
        let told = self.ready.iter().filter(|e| e.token() != SIGNALS).map(|e| {
            let read = e.is_readable() || e.is_read_closed() || e.is_error();
            let write = e.is_writable() || e.is_write_closed() || e.is_error();
            4 * e.token().0 as u64 + u64::from(read) * READ + u64::from(write) * WRITE
        });
        Ok(told.collect())
    }
}

fn events(rt: &mut Runtime) -> io::Result<&mut Events> {
    if rt.events.is_none() {
        let events = Events::new()?;
        stop::wake_through(rt.machine(), events.signals.as_raw_fd());
        rt.events = Some(events);
    }
    Ok(rt.events.as_mut().expect("made above"))
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
/// program is idle and collects at its next safepoint.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_thread_wait(ctx: &mut Machine, nanoseconds: Value) -> Value {
    let time = u64::try_from(nanoseconds.as_fixnum()).ok().map(Duration::from_nanos);
    let told = wait(ctx, time).unwrap_or_else(|e| {
        crate::fatal::say(ctx, &format!("cairn: cannot wait for files: {}", describe_io(&e)));
        crate::fatal::end(ctx, 1)
    });
    let told: Vec<Value> = told.into_iter().map(|n| Value::fixnum(n as i64)).collect();
    make_list(ctx, &told)
}

fn wait(ctx: &mut Machine, time: Option<Duration>) -> io::Result<Vec<u64>> {
    let long = time.is_none_or(|t| t > IDLE);
    if long && let Some(patience) = rt(ctx).heap.idle_collection() {
        let patience = patience.max(IDLE);
        let short = time.map_or(patience, |t| t.min(patience));
        let told = events(rt(ctx))?.wait(Some(short))?;
        if told.is_empty() && !stop::is_asked(ctx) {
            // If it is not due any more, the program asks again.
            let _ = rt(ctx).heap.request_idle_collection(&mut ctx.lo, &mut ctx.hi);
        }
        return Ok(told);
    }
    if stop::is_asked(ctx) {
        return Ok(Vec::new());
    }
    events(rt(ctx))?.wait(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_descriptor_is_told_of_once_for_each_watch() {
        let (reader, mut writer) = io::pipe().unwrap();
        let fd = reader.as_raw_fd();
        let mut events = Events::new().unwrap();
        let soon = Some(Duration::from_millis(5));
        assert!(events.watch(fd, READ).unwrap());
        assert_eq!(events.wait(soon).unwrap(), []);
        writer.write_all(b"x").unwrap();
        assert_eq!(events.wait(None).unwrap(), [4 * fd as u64 + READ]);
        assert_eq!(events.wait(soon).unwrap(), []);
        assert!(events.watch(fd, READ).unwrap(), "what is there is told of again");
        assert_eq!(events.wait(None).unwrap(), [4 * fd as u64 + READ]);
        assert!(events.watch(writer.as_raw_fd(), WRITE).unwrap());
        assert_eq!(events.wait(None).unwrap(), [4 * writer.as_raw_fd() as u64 + WRITE]);
    }

    #[test]
    fn ordinary_files_never_block() {
        let file = std::fs::File::open("Cargo.toml").unwrap();
        assert!(!Events::new().unwrap().watch(file.as_raw_fd(), READ).unwrap());
    }
}
