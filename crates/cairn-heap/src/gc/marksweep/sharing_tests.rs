//! Threads that share work; `tests/sharing_by_model.rs` tries all orders of a few.

use super::sharing::{Batch, Next, Sharing};
use crate::address::Address;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Numbers that stand for subtrees: each makes those below its half, twice. All are counted once.
#[test]
fn everything_is_done_once_and_then_all_stop() {
    let s = Sharing::new(3);
    let sum = AtomicU64::new(0);
    s.give(Batch { references: vec![18], pieces: vec![] }).ok().unwrap();
    let work = |asks| {
        loop {
            let mut stack = match s.next(asks) {
                Next::Batch(b) => b.references,
                Next::Continuations(k) => k.into_iter().map(|k| k.0).collect(),
                Next::Done => return,
            };
            while let Some(n) = stack.pop() {
                sum.fetch_add(1, Relaxed);
                if n == 9 {
                    assert!(s.continuation(Address(8)));
                } else if n > 0 {
                    stack.extend([n - 1, n - 1]);
                }
                if s.is_hungry() && stack.len() > 1 {
                    let references = stack.split_off(stack.len() / 2);
                    s.give(Batch { references, pieces: vec![] }).ok().unwrap();
                }
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| work(false));
        scope.spawn(|| work(false));
        work(true);
    });
    // 2^k subtrees of depth 18 - k down to 9, each of which goes on as one of depth 8.
    assert_eq!(sum.load(Relaxed), (1 << 10) - 1 + (1 << 9) * ((1 << 9) - 1));
}
