//! A process that runs a test program: what it prints, how it ends, and that it ends.
//!
//! It is in a process group of its own, so that all that it has started can be ended with it. A thread reads what they
//! print, of which the beginning and the end are kept; this one looks after the time. Ctrl-C reaches `cairn test`
//! alone, which ends the groups.

use cairn_rt::describe_io;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How a process has ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Ended {
    pub(super) how: How,
    pub(super) time: Duration,
    /// What was printed, with a remark where something is left out.
    pub(super) output: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum How {
    /// It was not run.
    #[default]
    NotRun,
    Status(i32),
    Signal(i32),
    /// It was ended: it took longer than this.
    TimedOut(Duration),
    Interrupted,
    /// There was none, for this reason.
    Failed(String),
}

/// Bytes of output that are kept from its beginning, and from its end.
const KEPT: (usize, usize) = (64 << 10, 64 << 10);
/// How often the clock is looked at.
const TICK: Duration = Duration::from_millis(20);
/// How long a process may go on after it was told to end.
const GRACE: Duration = Duration::from_secs(1);
/// How long output may come from others when the process has ended.
const LATE: Duration = Duration::from_millis(200);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

extern "C" fn note_interrupt(_: libc::c_int) {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// From now on Ctrl-C, and SIGTERM, are [`interrupted`].
pub(super) fn notice_interrupts() {
    let handler = note_interrupt as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler only stores an atomic flag, so it may run at any time.
    #[allow(unsafe_code)]
    unsafe {
        libc::signal(libc::SIGINT, handler);
        libc::signal(libc::SIGTERM, handler);
    }
}

/// Is everything to end?
pub(super) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Everything is to end.
pub(super) fn interrupt() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// The beginning and the end of what is printed.
#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: usize,
}

impl Kept {
    fn add(&mut self, mut bytes: &[u8]) {
        let room = KEPT.0 - self.head.len();
        if room > 0 {
            let (now, rest) = bytes.split_at(room.min(bytes.len()));
            self.head.extend_from_slice(now);
            bytes = rest;
        }
        self.tail.extend(bytes);
        let surplus = self.tail.len().saturating_sub(KEPT.1);
        self.tail.drain(..surplus);
        self.left_out += surplus;
    }

    fn text(&self) -> String {
        let mut bytes = self.head.clone();
        if self.left_out > 0 {
            bytes.extend(format!("\n… {} bytes left out …\n", self.left_out).bytes());
        }
        bytes.extend(&self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Runs a program until it ends, or its time is over.
pub(super) fn run(
    program: &Path,
    arguments: &[OsString],
    environment: &[(String, OsString)],
    time_limit: Option<Duration>,
) -> Ended {
    let began = Instant::now();
    let failed = |e: std::io::Error| Ended { how: How::Failed(describe_io(&e)), ..Ended::default() };
    let (mut reader, writer) = match std::io::pipe() {
        Ok(pipe) => pipe,
        Err(e) => return failed(e),
    };
    let mut command = Command::new(program);
    command.args(arguments).envs(environment.iter().map(|(n, v)| (n, v))).process_group(0).stdin(Stdio::null());
    let child = writer.try_clone().and_then(|w| {
        command.stdout(w).stderr(writer);
        command.spawn()
    });
    // closes the ends of the pipe that this process has
    drop(command);
    let mut child = match child {
        Ok(child) => child,
        Err(e) => return failed(e),
    };
    let kept = Arc::new(Mutex::new(Kept::default()));
    let (closed, is_closed) = mpsc::channel::<()>();
    let of_thread = kept.clone();
    std::thread::spawn(move || {
        let _closed = closed;
        let mut bytes = vec![0; 1 << 16];
        loop {
            match reader.read(&mut bytes) {
                Ok(0) | Err(_) => return,
                Ok(n) => of_thread.lock().unwrap_or_else(PoisonError::into_inner).add(&bytes[..n]),
            }
        }
    });
    let how = wait(&mut child, &is_closed, began, time_limit);
    let time = began.elapsed();
    if is_closed.recv_timeout(LATE) == Err(RecvTimeoutError::Timeout) {
        // somebody whom it has started has its output
        signal(&child, libc::SIGKILL);
        let _ = is_closed.recv_timeout(LATE);
    }
    let output = kept.lock().unwrap_or_else(PoisonError::into_inner).text();
    Ended { how, time, output }
}

/// Waits for the end, and sees to it.
fn wait(child: &mut Child, is_closed: &Receiver<()>, began: Instant, time_limit: Option<Duration>) -> How {
    let mut open = true;
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return how(status);
        }
        let over = time_limit.filter(|limit| began.elapsed() > *limit);
        if interrupted() || over.is_some() {
            end(child);
            return over.map_or(How::Interrupted, How::TimedOut);
        }
        if open {
            open = is_closed.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout);
        } else {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Ends a process and what it has started: kindly, so that it can say where it was, then for good.
fn end(child: &mut Child) {
    signal(child, libc::SIGTERM);
    let told = Instant::now();
    while told.elapsed() < GRACE {
        if let Ok(Some(_)) = child.try_wait() {
            break;
        }
        std::thread::sleep(TICK);
    }
    // whom it has started may not have listened
    signal(child, libc::SIGKILL);
    let _ = child.wait();
}

/// Sends a signal to the group of a process.
fn signal(child: &Child, signal: libc::c_int) {
    // SAFETY: `kill` is given no address. The group was made for this process, has its number, and was not waited for.
    #[allow(unsafe_code)]
    unsafe {
        libc::kill(-(child.id() as libc::pid_t), signal);
    }
}

fn how(status: ExitStatus) -> How {
    match (status.code(), status.signal()) {
        (Some(status), _) => How::Status(status),
        (None, signal) => How::Signal(signal.unwrap_or(0)),
    }
}

/// The name of a signal, for people.
pub(super) fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        libc::SIGINT => "SIGINT",
        libc::SIGKILL => "SIGKILL",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        _ => return format!("signal {signal}"),
    };
    name.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_of_output_are_kept() {
        let mut kept = Kept::default();
        kept.add(b"first ");
        assert_eq!(kept.text(), "first ");
        for _ in 0..1000 {
            kept.add(&[b'x'; 1000]);
        }
        kept.add(b" last");
        let text = kept.text();
        assert!(text.starts_with("first xxx") && text.ends_with("xxx last"), "{}", text.len());
        assert!(text.contains("\n… 868939 bytes left out …\n"), "{}", &text[KEPT.0..KEPT.0 + 40]);
    }
}
