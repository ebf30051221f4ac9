//! Doorbells in one thread; `tests/places_by_model.rs` tries several.

use super::doorbell::{Board, Doorbell, Sleep};
use std::sync::Arc;

/// A board, and the bells of two places that are awake.
fn places() -> (Arc<Board>, [Arc<Doorbell>; 2]) {
    let board = Arc::new(Board::default());
    let bells = [(); 2].map(|()| {
        board.enter();
        Arc::new(Doorbell::new(board.clone()).unwrap())
    });
    board.set_first(&bells[0]);
    (board, bells)
}

#[test]
fn the_first_place_is_told_when_none_is_awake() {
    let (board, [first, other]) = places();
    assert_eq!(first.sleep(), Sleep::Sleeps);
    other.ring();
    assert_eq!(other.sleep(), Sleep::Rung, "it has not seen that yet");
    // Somebody else rings at the first place: that has to see it before the other one's sleep means anything.
    first.ring();
    assert_eq!(other.sleep(), Sleep::Sleeps);
    first.wake();
    assert_eq!(first.sleep(), Sleep::Rung);
    assert_eq!(first.sleep(), Sleep::Deadlock);
    // It goes on, wakes the other one, which ends.
    other.ring();
    assert_eq!(first.sleep(), Sleep::Rung, "the ring that told of the deadlock");
    assert_eq!(first.sleep(), Sleep::Sleeps);
    other.wake();
    board.leave();
    first.wake();
    assert_eq!(first.sleep(), Sleep::Deadlock);
}

#[test]
fn it_is_no_deadlock_when_the_first_place_has_woken_another_one_meanwhile() {
    let (_board, [first, other]) = places();
    assert_eq!(first.sleep(), Sleep::Sleeps);
    assert_eq!(other.sleep(), Sleep::Sleeps);
    first.wake();
    // A signal's handler asks the other place, which answers and waits for the next question.
    other.ring();
    other.wake();
    first.ring();
    assert_eq!(other.sleep(), Sleep::Rung);
    assert_eq!(other.sleep(), Sleep::Sleeps);
    assert_eq!(first.sleep(), Sleep::Rung, "the answer");
}
