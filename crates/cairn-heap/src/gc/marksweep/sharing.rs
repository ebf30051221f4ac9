//! Work that tracing threads share.
//!
//! The problem: a graph is uneven, so a thread runs out of work while another has plenty; but looking for work in other
//! threads' stacks makes every push and pop dearer. The idea: each has a stack of its own; who has nothing left says
//! that it is *hungry*, and the others, who look at that one number now and then, give half of what they have.
//!
//! ```text
//!   thread 1 ── stack ──┐ half of it, when somebody is hungry      ┌──▶ thread 2
//!                       └──────────▶ batches ──────────────────────┘
//! ```
//!
//! All is done when every thread is hungry and nothing waits. Continuations wait for the thread that may ask the client
//! about them.
//!
//! `tests/sharing_by_model.rs` compiles this file with locks and atomics that try all orders.

use crate::address::{Address, Span};
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Part of an object whose words are still to be looked at: the reference to it, and which.
pub(super) type Piece = (u64, Span);

/// Work for another thread.
#[derive(Default)]
pub(super) struct Batch {
    pub references: Vec<u64>,
    pub pieces: Vec<Piece>,
}

#[derive(Default)]
struct Waiting {
    batches: Vec<Batch>,
    continuations: Vec<Address>,
    idle: usize,
    done: bool,
}

/// See the module's header.
pub(super) struct Sharing {
    threads: AtomicUsize,
    hungry: AtomicUsize,
    /// Objects were marked, but not looked at.
    pub deferred: AtomicBool,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

/// What there is to do for a thread that has nothing left.
pub(super) enum Next {
    Batch(Batch),
    Continuations(Vec<Address>),
    Done,
}

impl Sharing {
    pub fn new(threads: usize) -> Sharing {
        Sharing {
            threads: AtomicUsize::new(threads),
            hungry: AtomicUsize::new(0),
            deferred: AtomicBool::new(false),
            waiting: Mutex::default(),
            changed: Condvar::new(),
        }
    }
    /// There is one thread less than was said.
    pub fn without_one(&self) {
        self.threads.fetch_sub(1, Relaxed);
    }
    /// A thread panics only if the heap is broken, and then so does the collection.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Does somebody want work?
    #[inline(always)]
    pub fn is_hungry(&self) -> bool {
        self.hungry.load(Relaxed) > 0
    }
    /// Gives work away; back if there is no memory to keep it.
    pub fn give(&self, batch: Batch) -> Result<(), Batch> {
        let mut w = self.lock();
        if w.batches.try_reserve(1).is_err() {
            return Err(batch);
        }
        w.batches.push(batch);
        self.changed.notify_one();
        Ok(())
    }
    /// A continuation was reached that the client has to be asked about. Was there room to note it?
    pub fn continuation(&self, k: Address) -> bool {
        let mut w = self.lock();
        let room = w.continuations.try_reserve(1).is_ok();
        if room {
            w.continuations.push(k);
            self.changed.notify_all();
        }
        room
    }
    /// Waits for work. `asks`: this thread may ask the client about continuations.
    pub fn next(&self, asks: bool) -> Next {
        let mut w = self.lock();
        w.idle += 1;
        loop {
            if let Some(batch) = w.batches.pop() {
                w.idle -= 1;
                return Next::Batch(batch);
            }
            if asks && !w.continuations.is_empty() {
                w.idle -= 1;
                return Next::Continuations(std::mem::take(&mut w.continuations));
            }
            if w.done || w.idle == self.threads.load(Relaxed) && w.continuations.is_empty() {
                w.done = true;
                self.changed.notify_all();
                return Next::Done;
            }
            self.hungry.fetch_add(1, Relaxed);
            w = self.changed.wait(w).unwrap_or_else(PoisonError::into_inner);
            self.hungry.fetch_sub(1, Relaxed);
        }
    }
}
