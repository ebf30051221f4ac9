//! How places are woken.
//!
//! A doorbell is a file descriptor of a runtime that its event loop watches ([`crate::events`]): a green thread that
//! waits for what is shared parks as it does for a file, and its place goes on.
//!
//! A place that waits for nothing but its doorbell *sleeps*. Only a place that is awake rings, so when none is awake
//! any more, none will ever be: that is a deadlock, and the first place is told ([`Board`]). A doorbell that has rung
//! counts as awake until its place has seen it; rings and falling asleep happen under the board's lock.
//!
//! `tests/places_by_model.rs` compiles this file with locks and atomics that try all orders.

use crate::sync::atomic::{AtomicBool, Ordering::Relaxed};
use crate::sync::{Mutex, MutexGuard, PoisonError};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Arc, Weak};

/// Tells the event loop of a runtime that it shall look.
#[derive(Debug)]
pub struct Doorbell {
    fd: OwnedFd,
    board: Arc<Board>,
    /// Both under the board's lock.
    asleep: AtomicBool,
    rung: AtomicBool,
}

/// Who of a program's places is awake.
#[derive(Debug, Default)]
pub struct Board(Mutex<Awake>);

#[derive(Debug, Default)]
struct Awake {
    /// How many places are awake, or have been rung at.
    count: usize,
    /// The first place's doorbell, once it has one.
    first: Option<Weak<Doorbell>>,
    /// All of them sleep but the first place, which does not know yet.
    deadlock: bool,
}

/// What became of a place that wanted to sleep.
#[derive(PartialEq, Eq, Debug)]
pub enum Sleep {
    /// Its doorbell may ring.
    Sleeps,
    /// Somebody has rung before.
    Rung,
    /// Nobody will ever ring.
    Deadlock,
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, Awake> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is another place.
    pub fn enter(&self) {
        let mut awake = self.lock();
        awake.count += 1;
        awake.deadlock = false;
    }

    /// A place, which is awake, has ended.
    pub fn leave(&self) {
        self.lock().less();
    }

    /// This is the doorbell of the first place.
    pub fn set_first(&self, doorbell: &Arc<Doorbell>) {
        self.lock().first = Some(Arc::downgrade(doorbell));
    }
}

impl Awake {
    /// One place less is awake.
    fn less(&mut self) {
        self.count -= 1;
        if self.count == 0
            && let Some(first) = self.first.as_ref().and_then(Weak::upgrade)
        {
            first.ring_under(self);
            self.deadlock = true;
        }
    }
}

impl Doorbell {
    /// A new one.
    pub fn new(board: Arc<Board>) -> io::Result<Doorbell> {
        let (asleep, rung) = (AtomicBool::new(false), AtomicBool::new(false));
        // SAFETY: `eventfd` gives a fresh descriptor, which nobody else owns, or a negative number, which is not made
        // one.
        unsafe {
            match libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) {
                fd if fd < 0 => Err(io::Error::last_os_error()),
                fd => Ok(Doorbell { fd: OwnedFd::from_raw_fd(fd), board, asleep, rung }),
            }
        }
    }

    /// Its descriptor.
    pub fn fd(&self) -> i32 {
        self.fd.as_raw_fd()
    }

    /// Each ring is an event of its own for an edge-triggered poll, so nobody has to read the descriptor.
    pub fn ring(&self) {
        self.ring_under(&mut self.board.lock());
    }

    fn ring_under(&self, awake: &mut Awake) {
        if !self.rung.swap(true, Relaxed) && self.asleep.load(Relaxed) {
            awake.count += 1;
            awake.deadlock = false;
        }
        // SAFETY: `ONE` is eight bytes, and the descriptor is this bell's own.
        unsafe { libc::write(self.fd(), (&raw const ONE).cast(), 8) };
    }

    /// The place has nothing to wait for but this. Afterwards, unless it has to look first, it waits, and then says
    /// [`Doorbell::wake`].
    pub fn sleep(&self) -> Sleep {
        let mut awake = self.board.lock();
        if !self.rung.swap(false, Relaxed) {
            self.asleep.store(true, Relaxed);
            awake.less();
            if !self.rung.load(Relaxed) {
                return Sleep::Sleeps;
            }
            self.asleep.store(false, Relaxed);
        }
        let first = awake.first.as_ref().is_some_and(|d| std::ptr::eq(d.as_ptr(), self));
        let still = first && std::mem::take(&mut awake.deadlock) && awake.count == 1;
        if still { Sleep::Deadlock } else { Sleep::Rung }
    }

    /// The place has been waiting.
    pub fn wake(&self) {
        let mut awake = self.board.lock();
        if self.asleep.swap(false, Relaxed) && !self.rung.load(Relaxed) {
            awake.count += 1;
        }
    }
}

static ONE: u64 = 1;
