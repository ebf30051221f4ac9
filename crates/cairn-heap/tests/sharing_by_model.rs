//! The sharing of work between tracing threads, in every order of their steps that a few of them can come in (loom).

#[path = "../src/gc/marksweep/sharing.rs"]
#[allow(dead_code, reason = "not all of it is tried")]
mod sharing;

/// What `sharing.rs` finds under these names in its crate.
mod sync {
    pub use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
    pub use std::sync::PoisonError;
}

mod address {
    #[derive(Clone, Copy, Debug)]
    pub struct Address(pub u64);
    #[derive(Clone, Copy, Debug)]
    pub struct Span;
}

use address::Address;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering::Relaxed};
use sharing::{Batch, Next, Sharing};

/// A number stands for a subtree: two of the next smaller ones hang on it, which are given away where somebody is
/// hungry. A hundred stands for a continuation.
struct Work {
    sharing: Sharing,
    done: AtomicU64,
    /// A thread has been told that all is done; nobody may find work after that.
    over: AtomicU64,
}

impl Work {
    fn go(&self, asks: bool) {
        loop {
            let mut stack = match self.sharing.next(asks) {
                Next::Batch(batch) => batch.references,
                Next::Continuations(all) => {
                    assert!(asks, "only one thread may ask the client");
                    all.into_iter().map(|k| k.0).collect()
                }
                Next::Done => {
                    self.over.fetch_add(1, Relaxed);
                    return;
                }
            };
            while let Some(n) = stack.pop() {
                assert_eq!(self.over.load(Relaxed), 0, "a thread has gone home while there was work");
                self.done.fetch_add(1, Relaxed);
                match n {
                    100 => assert!(self.sharing.continuation(Address(0))),
                    0 => {}
                    n => stack.extend([n - 1, n - 1]),
                }
                if self.sharing.is_hungry() && stack.len() > 1 {
                    let references = stack.split_off(stack.len() / 2);
                    self.sharing.give(Batch { references, pieces: vec![] }).ok().unwrap();
                }
            }
        }
    }
}

fn check(threads: usize, first: u64, all: u64, preemptions: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let work = Work { sharing: Sharing::new(threads), done: AtomicU64::new(0), over: AtomicU64::new(0) };
        work.sharing.give(Batch { references: vec![first], pieces: vec![] }).ok().unwrap();
        let work = Arc::new(work);
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let work = work.clone();
                loom::thread::spawn(move || work.go(false))
            })
            .collect();
        work.go(true);
        others.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!((work.done.load(Relaxed), work.over.load(Relaxed)), (all, threads as u64));
    });
}

#[test]
fn two_threads_do_all_once_and_stop() {
    check(2, 1, 3, 3);
    check(2, 2, 7, 2);
}

#[test]
fn three_threads_do_all_once_and_stop() {
    check(3, 1, 3, 2);
}

#[test]
fn continuations_come_to_the_thread_that_may_ask() {
    check(2, 100, 2, 3);
    check(3, 100, 2, 2);
}
