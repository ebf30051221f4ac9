//! Marking by one thread or several.
//!
//! Roots are shown by the thread that collects; the others help with what hangs on them, and are gone before the last
//! part, which needs the client again and again.

use super::marker::{Again, Marker, Shared, Stacks};
use crate::address::WORD;
use crate::client::{Client, RootVisitor};
use crate::find::Finder;
use crate::model::{Located, ObjectModel};
use crate::region::{Cards, room_for_threads};
use crate::space::immortal::ImmortalSpace;
use crate::state::Core;
use crate::weak::WeakObjects;
use std::sync::PoisonError;

/// How everything is to be marked.
pub(in crate::gc) struct Start<'a> {
    /// Room for each thread.
    pub stacks: &'a mut [Stacks],
    /// Several threads are worth while.
    pub parallel: bool,
    /// Some blocks will be evacuated.
    pub moving: bool,
    /// References to the objects that ambiguous roots refer to; `None`: the client is asked.
    pub ambiguous: Option<&'a [u64]>,
}

/// What marking has found.
#[derive(Default)]
pub(in crate::gc) struct Marked {
    /// Ambiguous words that refer to an object.
    pub found: u64,
    /// Times that deferred objects were looked for.
    pub overflows: u64,
    /// What is to be looked at again.
    pub again: Again,
}

/// Marks everything that can be reached by strong references; `finish`, with one thread, whatever else is to live.
///
/// # Safety
/// The mutator stands still, and what it has allocated is initialised. Start bits are clear; those of before are kept
/// if words are ambiguous.
pub(in crate::gc) unsafe fn mark<M: ObjectModel, C: Client, const LINES: bool>(
    core: &mut Core,
    model: &M,
    client: &mut C,
    start: Start,
    finish: impl FnOnce(&mut Marker<M, false, LINES>, &mut C, &mut WeakObjects, &Cards),
) -> Marked {
    let Core {
        pool, marks, large, cells, pinned, segregated, compact, chunks, immortal, weak, cards, region, ..
    } = core;
    let (first, others) = start.stacks.split_first_mut().expect("one thread at least");
    let parallel = start.parallel && !others.is_empty() && marks.expect_helpers().is_ok();
    let finder = Finder { model, pool, marks, large, cells, pinned, segregated };
    let shared = Shared::new(finder, compact, region, 1 + others.len(), start.moving);
    let mut result = Marked::default();
    // SAFETY: by the contract, all words shown are what they are said to be. While several threads trace, no starts are
    // set but by sides.
    unsafe {
        if parallel {
            let mut marker =
                Marker::<M, true, LINES>::new(&shared, first, Some(marks.sides(None)), Some(&mut *chunks));
            show_roots(model, immortal, client, start.ambiguous, &mut marker);
            let (shared, side) = (&shared, marks.sides(Some(others.len())));
            let room = room_for_threads();
            let others_again = std::sync::Mutex::new(Again::default());
            std::thread::scope(|scope| {
                for (i, stacks) in others.iter_mut().enumerate() {
                    if i >= room {
                        shared.sharing.without_one();
                        continue;
                    }
                    let again = &others_again;
                    let work = move || {
                        let mut marker = Marker::<M, true, LINES>::new(shared, stacks, Some(side), None);
                        marker.work();
                        again.lock().unwrap_or_else(PoisonError::into_inner).append(marker.again);
                    };
                    let thread = std::thread::Builder::new().name("cairn-mark".into());
                    if thread.spawn_scoped(scope, work).is_err() {
                        shared.sharing.without_one();
                    }
                }
                marker.trace_all(client);
            });
            result.found += marker.found;
            result.again = marker.again;
            result.again.continuations.iter().for_each(|k| marks.give_back(*k));
            result.again.append(others_again.into_inner().unwrap_or_else(PoisonError::into_inner));
            // The nursery's range is no part of the pool.
            pinned.blocks().for_each(|b| marks.merge(pool.table.address_of(b)));
        }
        let mut marker = Marker::<M, false, LINES>::new(&shared, first, None, Some(chunks));
        marker.again = std::mem::take(&mut result.again);
        if !parallel {
            show_roots(model, immortal, client, start.ambiguous, &mut marker);
        }
        marker.trace_all(client);
        finish(&mut marker, client, weak, cards);
        result.found += marker.found;
        result.overflows += marker.overflows;
        result.again = marker.again;
    }
    result
}

/// Shows all roots.
///
/// # Safety
/// Immortal objects and the client's roots are consistent; `ambiguous` are references.
unsafe fn show_roots<M: ObjectModel, C: Client, const PARALLEL: bool, const LINES: bool>(
    model: &M,
    immortal: &ImmortalSpace,
    client: &mut C,
    ambiguous: Option<&[u64]>,
    marker: &mut Marker<M, PARALLEL, LINES>,
) {
    match ambiguous {
        // SAFETY: by the contract.
        Some(known) => known.iter().for_each(|w| unsafe { marker.reach(*w) }),
        None => client.visit_ambiguous(marker),
    }
    for x in immortal.extents().filter(|x| !x.leaf) {
        // SAFETY: by the contract.
        unsafe {
            if M::SELF_DESCRIBING {
                marker.words(x.span.start.words(), (x.span.bytes() / WORD) as usize);
                continue;
            }
            let mut a = x.span.start;
            while a < x.span.end {
                let o = Located::headed(model, a);
                o.scan(model, o.span(), marker);
                a = o.span().end;
            }
        }
    }
    client.visit_roots(marker);
}
