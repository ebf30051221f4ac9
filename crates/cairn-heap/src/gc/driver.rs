//! One collection, as every collector does it.
//!
//! The problem: what must happen around each collection (ambiguity is learnt, the heap is walked under zeal, counters
//! and observers are told) is the same for all plans, and easily forgotten in one. The idea: it stands here once, and a
//! plan says what is its own:
//!
//! ```text
//!   prepare    the mutator's extents are closed
//!   trace      one cycle or several: what lives is found, and the rest freed; each ends in `Cycle::end`
//!   resume     the next extent, or budget
//! ```

use super::plan::Plan;
use crate::check;
use crate::client::Client;
use crate::error::OutOfMemory;
use crate::model::ObjectModel;
use crate::state::{Core, Request, Volume};
use crate::stats::{CollectionKind, Reason};
use cairn_layout::machine::Cursors;
use std::time::Instant;

/// Collects. Afterwards a fresh extent is current. On an error the collection has happened all the same: what is left
/// is too much for the heap's maximum.
pub(crate) fn collect<P: Plan, M: ObjectModel, C: Client>(
    plan: &mut P,
    core: &mut Core,
    model: &M,
    client: &mut C,
    at: Cursors,
    request: Request,
) -> Result<(), OutOfMemory> {
    let began = Instant::now();
    core.learn_ambiguity(M::AMBIGUOUS || C::AMBIGUOUS);
    plan.prepare(core, model, at);
    let walks = core.zeal.verify && core.pace.walks();
    if walks {
        plan.settle(core);
        let report = check::demand("before", core, model, &plan.extents(at), plan.own_spaces(), client);
        core.pace.walked(report.words);
    }
    plan.trace(core, model, client, began, request)?;
    if walks {
        check::demand("after", core, model, &plan.extents(at), plan.own_spaces(), client);
    }
    let tight = plan.is_tight(core).then(|| plan.out_of_memory(core, 0));
    plan.resume(core);
    tight.map_or(Ok(()), Err)
}

/// A collection of one kind that is under way.
pub(crate) struct Cycle {
    pub kind: CollectionKind,
    pub reason: Reason,
    pub began: Instant,
    /// Bytes held when it began, outside of what the mutator was filling.
    pub before: u64,
    /// Bytes that the mutator had filled since the last one.
    pub nursery: u64,
}

/// What a cycle has left behind.
pub(crate) struct Survivors {
    /// Bytes held now.
    pub after: u64,
    /// Bytes copied.
    pub copied: u64,
    /// The size at which the next collection of everything is due.
    pub limit: u64,
    /// What that will need, copies included, if all that is left lives on.
    pub needed: u64,
}

impl Cycle {
    /// It is over: counters, and whoever listens, are told.
    pub fn end(self, core: &mut Core, s: Survivors) {
        core.chunk_bytes_at_collection = core.chunks.bytes();
        match self.kind {
            CollectionKind::Minor => core.stats.minor += 1,
            CollectionKind::Major => {
                core.stats.major += 1;
                core.stats.live = core.stats.live.max(s.after);
            }
        }
        let Survivors { after, copied, limit, needed } = s;
        let bytes = Volume { nursery: self.nursery, before: self.before, after, copied, limit, needed };
        core.collected(self.kind, self.reason, self.began, bytes);
    }
}
