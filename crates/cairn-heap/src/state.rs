//! What every collector needs of a heap: the spaces that several of them have, sizes and counters.
//!
//! A space that only one plan uses belongs to that plan ([`crate::space::own`]), so none is here.

use crate::blocks::BlockPool;
use crate::config::Zeal;
use crate::idle::Idle;
use crate::marks::Marks;
use crate::region::{Cards, OwnCards, Region};
use crate::sampling::Sampling;
use crate::sizing::Sizing;
use crate::space::cells::CellSpace;
use crate::space::compact::CompactSpace;
use crate::space::immortal::ImmortalSpace;
use crate::space::large::LargeSpace;
use crate::space::stack_chunks::ChunkSpace;
use crate::stats::{CollectionEvent, CollectionKind, Observer, Reason, Stats};
use crate::weak::WeakObjects;
use crate::workshop::Workshop;
use crate::zeal::Pace;
use std::time::Instant;

/// What a collection is asked to cover.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// Whatever the policy says.
    Auto,
    /// Young objects, unless the heap is at its maximum.
    Minor,
    /// Everything.
    Major,
}

/// What every collector needs.
pub(crate) struct Core {
    pub(crate) region: Region,
    pub(crate) cards: Cards,
    pub(crate) marks: Marks,
    pub(crate) pool: BlockPool,
    pub(crate) large: LargeSpace,
    pub(crate) chunks: ChunkSpace,
    pub(crate) immortal: ImmortalSpace,
    pub(crate) cells: CellSpace,
    pub(crate) compact: CompactSpace,
    pub(crate) weak: WeakObjects,
    pub(crate) sizing: Sizing,
    pub(crate) stats: Stats,
    pub(crate) zeal: Zeal,
    pub(crate) mark_stack: usize,
    /// Which static data have cards that nothing in the region has.
    pub(crate) own_cards: OwnCards,
    /// Are references from old to young objects remembered on cards?
    pub(crate) generational: bool,
    pub(crate) pace: Pace,
    pub(crate) workshop: Workshop,
    pub(crate) chunk_bytes_at_collection: u64,
    /// Does the client, or the object model, show words that may or may not be references? Known at the first
    /// collection.
    pub(crate) ambiguous: Option<bool>,
    /// Samples of allocation, if they were asked for.
    pub(crate) sampling: Option<Box<Sampling>>,
    /// Collections that moved objects which were not young.
    pub(crate) old_moves: u64,
    /// Bytes that the client holds elsewhere on the program's behalf.
    pub(crate) charged: u64,
    /// Bytes that may be held beyond the maximum for a while.
    pub(crate) overdraft: u64,
    /// Collections so far when the pages of all that was free were last given back.
    pub(crate) released_at: u64,
    pub(crate) idle: Idle,
    /// How many major collections in a row have regained little of a heap that is nearly full.
    pub(crate) meagre: u32,
    pub(crate) observer: Option<Box<dyn Observer>>,
}

impl Core {
    /// Bytes held in blocks of the pool, whoever took them, and by shared spaces elsewhere. What a plan holds beyond
    /// that, it knows itself: see [`Plan::used`](crate::gc::plan::Plan::used).
    pub(crate) fn shared_bytes(&self) -> u64 {
        self.pool.bytes_in_use() + self.compact.bytes() + self.charged
    }
    /// A collection begins; are there words that may or may not be references? The same at every collection of a heap.
    pub(crate) fn learn_ambiguity(&mut self, ambiguous: bool) {
        let known = *self.ambiguous.get_or_insert(ambiguous);
        assert_eq!(known, ambiguous, "clients of one heap differ in `AMBIGUOUS`");
        if ambiguous {
            self.marks.expect_ambiguity().expect("address space for finding objects");
        }
    }
    /// The cause of a collection, where all collections are of one kind: what was wanted, or what the request says.
    pub(crate) fn cause(&self, wanted: Option<Reason>, request: Request) -> Reason {
        wanted.unwrap_or(match request {
            Request::Auto if self.zeal.every_safepoint => Reason::Zeal,
            Request::Auto => Reason::Limit,
            _ => Reason::Request,
        })
    }
    /// Does zeal want a collection at this safepoint, where all collections are of everything? `live` bytes survived
    /// the last one.
    pub(crate) fn zeal_collects(&mut self, live: u64) -> bool {
        self.zeal.every_safepoint && self.pace.collects(live)
    }
    /// A major collection has regained so many bytes. What the program or a test asked for says nothing.
    fn note_regained(&mut self, bytes: u64, needed: u64, reason: Reason) {
        let part = self.sizing.heap_max() / MEAGRE_PART;
        if bytes >= part || needed + 2 * part < self.sizing.heap_max() {
            self.meagre = 0;
        } else if !matches!(reason, Reason::Request | Reason::Zeal) {
            self.meagre += 1;
        }
    }
    /// Does the program only crawl from one collection to the next? Says so once; then it is given time to drop data.
    pub(crate) fn crawls(&mut self) -> bool {
        let so = self.meagre >= MOST_MEAGRE;
        if so {
            self.meagre = 0;
        }
        so
    }
    /// A collection that the counters include is over: its pause is counted, and whoever listens is told.
    pub(crate) fn collected(&mut self, kind: CollectionKind, reason: Reason, began: Instant, bytes: Volume) {
        let pause = began.elapsed();
        self.pace.collected();
        match kind {
            CollectionKind::Minor => self.stats.minor_pauses.add(pause),
            CollectionKind::Major => self.stats.major_pauses.add(pause),
        }
        let Volume { nursery, before, after, copied, limit, needed } = bytes;
        if kind == CollectionKind::Major {
            let young = if self.generational { nursery } else { 0 };
            self.note_regained((before + young).saturating_sub(after), needed, reason);
        }
        let number = self.stats.minor + self.stats.major;
        let event = CollectionEvent { number, kind, reason, nursery, before, after, copied, limit, pause };
        if let Some(o) = &mut self.observer {
            o.collection(&event);
        }
    }
}

/// Bytes of a collection; see [`CollectionEvent`].
pub(crate) struct Volume {
    pub(crate) nursery: u64,
    pub(crate) before: u64,
    pub(crate) after: u64,
    pub(crate) copied: u64,
    pub(crate) limit: u64,
    /// What the next collection will need, copies included, if all that is left lives on.
    pub(crate) needed: u64,
}

/// A major collection of a nearly full heap that regains less than one part in so many of its maximum is a meagre one.
const MEAGRE_PART: u64 = 20;
/// After so many meagre collections in a row, memory has run out.
const MOST_MEAGRE: u32 = 8;
