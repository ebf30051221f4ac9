//! The doorbells of places, in every order in which places can ring, fall asleep, wake and end (loom).

#![allow(unsafe_code)] // Descriptors of the system.

#[path = "../src/places/doorbell.rs"]
#[allow(dead_code, reason = "not all of it is tried")]
mod doorbell;

/// What `doorbell.rs` finds under this name in its crate.
mod sync {
    pub use loom::sync::{Mutex, MutexGuard, atomic};
    pub use std::sync::PoisonError;
}

use doorbell::{Board, Doorbell, Sleep};
use std::sync::Arc;

/// Has it been rung at? Looks once, as an event loop does.
fn has_rung(bell: &Doorbell) -> bool {
    let mut count = 0_u64;
    // SAFETY: reads eight bytes into a word; the descriptor does not block.
    #[allow(unsafe_code)]
    let read = unsafe { libc::read(bell.fd(), (&raw mut count).cast(), 8) };
    read == 8
}

/// A board with so many places, whose bells these are.
fn places<const N: usize>() -> (Arc<Board>, [Arc<Doorbell>; N]) {
    let board = Arc::new(Board::default());
    let bells = [(); N].map(|()| {
        board.enter();
        Arc::new(Doorbell::new(board.clone()).unwrap())
    });
    board.set_first(&bells[0]);
    (board, bells)
}

/// Whoever rings is heard: before the place falls asleep, or after.
#[test]
fn a_ring_is_never_lost() {
    loom::model(|| {
        let (_board, [first, other]) = places();
        let second = {
            let first = first.clone();
            loom::thread::spawn(move || {
                first.ring();
                assert_eq!(other.sleep(), Sleep::Sleeps, "nobody has rung at this one");
                other
            })
        };
        let mut seen = first.sleep();
        let _other = second.join().unwrap();
        assert!(has_rung(&first));
        if seen == Sleep::Sleeps {
            first.wake();
            seen = first.sleep();
        }
        assert_eq!(seen, Sleep::Rung);
        assert_eq!(first.sleep(), Sleep::Deadlock, "now nobody is awake");
    });
}

/// When all others have ended or sleep, the first place is told, once, and only then.
#[test]
fn a_deadlock_is_told_when_there_is_one() {
    loom::model(|| {
        let (board, [first, other]) = places();
        let second = loom::thread::spawn(move || {
            // nobody rings, so it sleeps for ever
            assert_eq!(other.sleep(), Sleep::Sleeps);
            other
        });
        let mut told = first.sleep();
        let other = second.join().unwrap();
        if told == Sleep::Sleeps {
            assert!(has_rung(&first), "it sleeps, and nobody will ever wake it");
            first.wake();
            told = first.sleep();
        }
        assert_eq!(told, Sleep::Deadlock);
        drop((board, other));
    });
}

/// A place that rings at another one and ends leaves no deadlock behind.
#[test]
fn who_ends_has_rung_before() {
    loom::model(|| {
        let (board, [first, other]) = places();
        let ends = {
            let (board, first) = (board.clone(), first.clone());
            loom::thread::spawn(move || {
                first.ring();
                board.leave();
                drop(other);
            })
        };
        let slept = first.sleep();
        ends.join().unwrap();
        assert!(has_rung(&first));
        if slept == Sleep::Sleeps {
            first.wake();
            assert_eq!(first.sleep(), Sleep::Rung);
        }
        assert_ne!(slept, Sleep::Deadlock, "there was a ring to be seen");
    });
}
