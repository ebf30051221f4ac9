//! OS threads that wait for the system in the place of a program's threads.
//!
//! The problem: some calls of the system block, and cannot be asked first whether they would: looking up the name of a
//! host, opening a named pipe whose other end nobody has opened. The idea: a *job* makes such a call on an OS thread of
//! its own, and rings a descriptor when it is done; the green thread waits for that as for any file
//! (`wait-for-file!`), then asks for the outcome. Only programs with threads do so; others just wait.
//!
//! Invariant: a job refers to nothing of the runtime, so it may outlive it; what it has made is closed then.

use crate::port;
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
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
struct Job<T> {
    /// Can be read when it is done.
    bell: Arc<OwnedFd>,
    outcome: Arc<Mutex<Option<T>>>,
}

impl<T: Send + 'static> Job<T> {
    fn start(work: impl FnOnce() -> T + Send + 'static) -> io::Result<Job<T>> {
        // SAFETY: a fresh descriptor, or an error.
        let bell = unsafe {
            match libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) {
                fd if fd < 0 => return Err(io::Error::last_os_error()),
                fd => Arc::new(OwnedFd::from_raw_fd(fd)),
            }
        };
        let job = Job { bell, outcome: Arc::default() };
        let (bell, outcome) = (job.bell.clone(), job.outcome.clone());
        std::thread::Builder::new().name("helper".into()).stack_size(STACK).spawn(move || {
            let done = work();
            *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            // SAFETY: writes eight bytes.
            unsafe { libc::write(bell.as_raw_fd(), (&raw const ONE).cast(), 8) };
        })?;
        Ok(job)
    }

    fn take(&self) -> Option<T> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn descriptor(&self) -> Value {
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
    openings: FxHashMap<i64, Job<io::Result<OwnedFd>>>,
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
    fn look_up(&mut self, host: &str) -> Option<Value> {
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
}

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

/// Opens a named pipe: the descriptor to wait for, before [`cairn_helpers_opened_file`] is called. `None`: there is no
/// other OS thread.
pub(crate) fn open(ctx: &mut Machine, path: CString, mode: i32) -> Option<Value> {
    let job = Job::start(move || {
        // SAFETY: a valid C string; a fresh descriptor, or an error.
        unsafe {
            match libc::open(path.as_ptr(), mode) {
                fd if fd < 0 => Err(io::Error::last_os_error()),
                fd => Ok(OwnedFd::from_raw_fd(fd)),
            }
        }
    });
    let job = job.ok()?;
    let descriptor = job.descriptor();
    rt(ctx).helpers.openings.insert(descriptor.as_fixnum(), job);
    Some(descriptor)
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
