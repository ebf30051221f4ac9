//! What OS threads do for a program's threads ([`crate::helpers`]): jobs, and which are under way.

use cairn_layout::Value;
use rustc_hash::FxHashMap;
use std::ffi::CString;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Native stack of a job: the resolver needs some.
const STACK: usize = 256 << 10;
/// How long what was found for a name is used: so long as a program takes to make the call for which it asked.
const FRESH: Duration = Duration::from_secs(5);

/// Something that an OS thread does.
pub(crate) struct Job<T> {
    /// Can be read when it is done.
    bell: Arc<OwnedFd>,
    outcome: Arc<Mutex<Option<T>>>,
}

impl<T: Send + 'static> Job<T> {
    /// Begins on an OS thread of its own.
    pub(crate) fn start(work: impl FnOnce() -> T + Send + 'static) -> io::Result<Job<T>> {
        Job::start_on(STACK, work)
    }

    /// Begins on an OS thread with so many bytes of stack.
    pub(crate) fn start_on(stack: usize, work: impl FnOnce() -> T + Send + 'static) -> io::Result<Job<T>> {
        // SAFETY: `eventfd` gives a fresh descriptor, which nobody else owns, or a negative number, which is not made
        // one.
        let bell = unsafe {
            match libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) {
                fd if fd < 0 => return Err(io::Error::last_os_error()),
                fd => Arc::new(OwnedFd::from_raw_fd(fd)),
            }
        };
        let job = Job { bell, outcome: Arc::default() };
        let (bell, outcome) = (job.bell.clone(), job.outcome.clone());
        std::thread::Builder::new().name("helper".into()).stack_size(stack).spawn(move || {
            let done = work();
            *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            // SAFETY: `ONE` is eight bytes, and `bell` keeps the descriptor open.
            unsafe { libc::write(bell.as_raw_fd(), (&raw const ONE).cast(), 8) };
        })?;
        Ok(job)
    }

    /// The outcome, once, when there is one.
    pub(crate) fn take(&self) -> Option<T> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The descriptor to wait for, a fixnum.
    pub(crate) fn descriptor(&self) -> Value {
        Value::fixnum(self.bell.as_raw_fd().into())
    }
}

static ONE: u64 = 1;

type Addresses = Result<Vec<IpAddr>, (Option<i32>, String)>;

/// What is under way for a program.
#[derive(Default)]
pub(crate) struct Helpers {
    names: FxHashMap<String, Job<Addresses>>,
    found: FxHashMap<String, (Instant, Addresses)>,
    /// Files that are being opened, by descriptor.
    pub(crate) openings: FxHashMap<i64, Job<io::Result<OwnedFd>>>,
}

fn look_up(host: &str) -> Addresses {
    match (host, 0).to_socket_addrs() {
        Ok(found) => Ok(found.map(|a| a.ip()).collect()),
        Err(e) => Err((e.raw_os_error(), e.to_string())),
    }
}

impl Helpers {
    /// What was found for a name just now.
    pub(crate) fn found(&self, host: &str) -> Option<io::Result<Vec<IpAddr>>> {
        let (at, addresses) = self.found.get(host)?;
        (at.elapsed() < FRESH).then(|| match addresses {
            Ok(addresses) => Ok(addresses.clone()),
            Err((Some(code), _)) => Err(io::Error::from_raw_os_error(*code)),
            Err((None, text)) => Err(io::Error::other(text.clone())),
        })
    }

    /// Has a name looked up: the descriptor to wait for, or `None` when it is known.
    pub(crate) fn look_up(&mut self, host: &str) -> Option<Value> {
        if let Some(job) = self.names.get(host) {
            let Some(found) = job.take() else { return Some(job.descriptor()) };
            self.names.remove(host);
            self.found.retain(|_, (at, _)| at.elapsed() < FRESH);
            self.found.insert(host.to_string(), (Instant::now(), found));
        }
        if self.found(host).is_some() {
            return None;
        }
        let name = host.to_string();
        // Without another OS thread the program waits.
        let job = Job::start(move || look_up(&name)).ok()?;
        let descriptor = job.descriptor();
        self.names.insert(host.to_string(), job);
        Some(descriptor)
    }

    /// Opens a named pipe: the descriptor to wait for, before `cairn_helpers_opened_file` is called. `None`: there is
    /// no other OS thread.
    pub(crate) fn open(&mut self, path: CString, mode: i32) -> Option<Value> {
        let job = Job::start(move || {
            // SAFETY: `path` is a C string; `open` gives a fresh descriptor, which nobody else owns, or a negative
            // number.
            unsafe {
                match libc::open(path.as_ptr(), mode) {
                    fd if fd < 0 => Err(io::Error::last_os_error()),
                    fd => Ok(OwnedFd::from_raw_fd(fd)),
                }
            }
        });
        let job = job.ok()?;
        let descriptor = job.descriptor();
        self.openings.insert(descriptor.as_fixnum(), job);
        Some(descriptor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Events;

    #[test]
    fn a_job_rings_when_it_is_done() {
        let (begin, begun) = std::sync::mpsc::channel();
        let job = Job::start(move || {
            begun.recv().unwrap();
            5
        });
        let job = job.unwrap();
        let (mut events, fd) = (Events::new().unwrap(), job.bell.as_raw_fd());
        assert!(events.watch(fd, 1).unwrap());
        assert_eq!(events.wait(Some(Duration::from_millis(5))).unwrap(), []);
        assert_eq!(job.take(), None);
        begin.send(()).unwrap();
        assert_eq!(events.wait(None).unwrap(), [4 * fd as u64 + 1]);
        assert_eq!(job.take(), Some(5));
    }

    #[test]
    fn names_are_found_once_for_all_who_ask() {
        let mut helpers = Helpers::default();
        let first = helpers.look_up("localhost").unwrap();
        while let Some(again) = helpers.look_up("localhost") {
            assert_eq!(again, first, "one job");
            std::thread::yield_now();
        }
        assert!(helpers.found("localhost").unwrap().unwrap().iter().all(|a| a.is_loopback()));
        assert!(helpers.names.is_empty());
    }
}
