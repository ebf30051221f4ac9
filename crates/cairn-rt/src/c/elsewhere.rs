//! Calls of C functions that OS threads of their own make, while the program's threads go on.

use super::invoke::{Returns, Words};
use super::lent::Lent;
use crate::jobs::Job;
use rustc_hash::FxHashMap;

/// What such a call comes to: the words with its result, what it was lent, `errno`.
pub(super) type Made = (Words, Lent, i32);

/// Those under way, by the descriptor that says that they have returned.
pub(crate) type Elsewhere = FxHashMap<i64, (Job<Made>, Returns)>;
