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

/// See the module's header.
pub struct Events {
    poll: Poll,
    ready: mio::Events,
    /// Written to by the signal handler: a signal that arrives just before a wait must end it.
    signals: OwnedFd,
}

impl Events {
    /// Watches nothing but its own descriptor for signals.
    pub fn new() -> io::Result<Events> {
        let poll = Poll::new()?;
        // SAFETY: `eventfd` gives a fresh descriptor, which nobody else owns, or a negative number, which is not made
        // one.
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
    pub fn watch(&mut self, fd: i32, what: u64) -> io::Result<bool> {
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

    /// Tells of this descriptor, which others write to, each time it is written to from now on.
    pub fn hear(&mut self, fd: i32) -> io::Result<()> {
        self.poll.registry().register(&mut SourceFd(&fd), Token(fd as usize), Interest::READABLE)
    }

    /// The descriptor that signals are told through.
    pub fn signals(&self) -> i32 {
        self.signals.as_raw_fd()
    }

    /// What is ready, after at most so long.
    pub fn wait(&mut self, time: Option<Duration>) -> io::Result<Vec<u64>> {
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
