//! Locks and atomics, by a name of their own, so that a test can put others in their place that try all orders.

pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError, atomic};
