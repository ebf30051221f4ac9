//! Pins: words that may or may not be references.
//!
//! The problem: such a word may be an integer, so it cannot be updated, and what it refers to must not move; and it is
//! known only too late, while tracing, whether an untyped object that holds one is alive. The idea (after Bartlett
//! 1988, and Smith & Morrisett 1998): before anything moves, all such words are gathered, those of dead untyped
//! objects too.
//!
//! * Minor: a young object that a word refers to is *pinned*: from now on it is old, in place (`space::pinned`), so no
//!   word in the heap, nor any captured frame, is left that refers to something young. Whatever lay beside it is copied
//!   or dead as ever. Untyped objects hold words of interest only on dirty cards, or when they are large and young.
//! * Major: what the client's words refer to is a root; the blocks that the words of untyped objects refer to are not
//!   evacuated, and the objects live if the untyped object does, which tracing finds out.
//!
//! The words are sorted, so that each extent of the nursery is parsed at most once. Cost: linear in words (n log n)
//! and in the extents that they refer to. Where neither client nor model is ambiguous, nothing of this is compiled.

use super::trace::Tracer;
use crate::address::{Address, BlockIndex, PAIR_BYTES, Span, WORD};
use crate::blocks::Kind;
use crate::client::{AmbiguousVisitor, Client, RootVisitor};
use crate::find::Finder;
use crate::marks::Starts;
use crate::model::{Located, ObjectModel};
use crate::space::nursery::Extent;
use crate::space::pinned::PinnedSpace;
use crate::state::Core;
use std::collections::HashSet;

/// Gathers words that point into the region.
struct Suspects {
    region: Span,
    words: Vec<Address>,
}

impl Suspects {
    fn new(core: &Core) -> Suspects {
        Suspects { region: core.region.span(), words: Vec::new() }
    }
    fn sorted(mut self) -> Vec<Address> {
        self.words.sort_unstable();
        self.words.dedup();
        self.words
    }
}

impl AmbiguousVisitor for Suspects {
    fn ambiguous(&mut self, word: u64) {
        if self.region.contains(Address(word)) {
            self.words.push(Address(word));
        }
    }
}

impl RootVisitor for Suspects {
    unsafe fn slot(&mut self, _: *mut u64) {}
    fn mark_chunk(&mut self, _: Address) {}
}

/// What a minor collection leaves in place.
#[derive(Default)]
pub(super) struct Pins {
    objects: Vec<Located>,
    large: Vec<Address>,
}

/// What a major collection leaves in place.
#[derive(Default)]
pub(super) struct Stays {
    /// Roots.
    objects: Vec<Located>,
    /// Not to be evacuated.
    pub(super) blocks: HashSet<BlockIndex>,
}

/// Shows all words of untyped objects that are new since the last collection (`young`), or all of them.
///
/// # Safety
/// The mutator stands still, and has initialised what it allocated.
unsafe fn visit_untyped<M: ObjectModel>(core: &Core, model: &M, young: bool, s: &mut Suspects) {
    let table = &core.pool.table;
    // SAFETY: objects and cells in use are initialised (`# Safety`), and their extents are those of their entries.
    unsafe {
        for (b, class) in core.cells.blocks(true) {
            let block = table.address_of(b);
            let mut visit = |span| class.cells_in(block, span, &core.marks, |a| class.scan(a, span, s));
            if young {
                core.cards.take_dirty(block, visit);
            } else {
                visit(Span::new(block, block.plus(crate::address::BLOCK_BYTES)));
            }
        }
        for o in core.large.iter().filter(|o| !o.leaf) {
            if !model.describe(o.start.load()).untyped {
                continue;
            }
            let whole = Located::headed(model, o.start);
            if !young || o.young {
                whole.scan(model, whole.span(), s);
            } else {
                core.cards.dirty_in(whole.span(), |card| whole.scan(model, card, s));
            }
        }
        for x in core.immortal.extents().filter(|x| !x.leaf) {
            let mut a = x.span.start;
            while a < x.span.end {
                if a.load() == 0 {
                    a = a.plus(WORD);
                    continue;
                }
                let o = Located::headed(model, a);
                o.scan(model, o.span(), s);
                a = o.span().end;
            }
        }
    }
}

/// The young objects around these addresses, which are sorted and lie in this extent.
///
/// # Safety
/// The extent is filled with initialised objects up to its cursors.
unsafe fn in_extent<M: ObjectModel>(model: &M, x: &Extent, words: &[Address], found: &mut Vec<Located>) {
    let mut at = x.hi;
    for &a in words {
        if a < x.lo {
            found.push(Located::pair::<M>(
                x.span.start.plus(a.offset_from(x.span.start) / PAIR_BYTES * PAIR_BYTES),
            ));
            continue;
        }
        while at <= a {
            // SAFETY: the extent is filled up to its cursors (`# Safety`), `at <= a` is in it, and `at` is the start of
            // an object or an unused word.
            unsafe {
                if at.load() == 0 {
                    at = at.plus(WORD);
                    continue;
                }
                let o = Located::headed(model, at);
                if o.span().contains(a) {
                    found.push(o);
                    break;
                }
                at = o.span().end;
            }
        }
    }
}

/// Before a minor collection: pins what ambiguous words refer to.
///
/// # Safety
/// The mutator stands still, and has initialised what it allocated; `extents` are those of the nursery, in order.
pub(super) unsafe fn pin_young<M: ObjectModel, C: Client>(
    core: &mut Core,
    model: &M,
    client: &mut C,
    pinned: &mut PinnedSpace,
    extents: &[Extent],
) -> Pins {
    let mut s = Suspects::new(core);
    client.visit_ambiguous(&mut s);
    if M::AMBIGUOUS {
        // SAFETY: the mutator stands still, and has initialised what it allocated (`# Safety`).
        unsafe { visit_untyped(core, model, true, &mut s) };
    }
    let words = s.sorted();
    let mut pins = Pins::default();
    for x in extents {
        let from = words.partition_point(|a| *a < x.span.start);
        let to = words.partition_point(|a| *a < x.span.end);
        // SAFETY: the extents are those of the nursery, filled up to their cursors (`# Safety`), and the words lie in
        // this one.
        unsafe { in_extent(model, x, &words[from..to], &mut pins.objects) };
    }
    let table = &core.pool.table;
    for a in words {
        let b = table.block_of(a);
        let state = table.state(b);
        if let Kind::Large | Kind::LargeTail | Kind::Shared = state.kind()
            && let Some(o) = core.large.around(&core.pool, a).filter(|o| o.young)
        {
            pins.large.push(o.start);
        }
    }
    pins.objects.retain(|o| pinned.pin(&mut core.pool.table, &core.marks, *o));
    core.stats.pinned += pins.objects.len() as u64;
    pins
}

/// Before a major collection, when the nursery is empty: what may not move.
///
/// # Safety
/// The mutator stands still, and has initialised what it allocated.
pub(super) unsafe fn stay<M: ObjectModel, C: Client>(
    core: &mut Core,
    model: &M,
    client: &mut C,
    pinned: &PinnedSpace,
) -> Stays {
    let (mut roots, mut others) = (Suspects::new(core), Suspects::new(core));
    client.visit_ambiguous(&mut roots);
    if M::AMBIGUOUS {
        // SAFETY: the mutator stands still, and has initialised what it allocated (`# Safety`).
        unsafe { visit_untyped(core, model, false, &mut others) };
    }
    let finder = Finder {
        model,
        pool: &core.pool,
        marks: &core.marks,
        large: &core.large,
        cells: &core.cells,
        own: pinned,
    };
    let mut stays = Stays::default();
    for a in roots.sorted() {
        if let Some(o) = finder.around(a, Starts::Now) {
            stays.blocks.insert(core.pool.table.block_of(o.reference.address()));
            stays.objects.push(o);
        }
    }
    stays.blocks.extend(others.words.into_iter().map(|a| core.pool.table.block_of(a)));
    core.stats.pinned += stays.objects.len() as u64;
    stays
}

impl<M: ObjectModel, C: Client> Tracer<'_, M, C, false> {
    /// Looks at what was pinned.
    ///
    /// # Safety
    /// It was pinned at the start of this collection.
    pub(super) unsafe fn visit_pins(&mut self, pins: &Pins) {
        for o in &pins.objects {
            // SAFETY: `o` was pinned at the start of this collection (`# Safety`), so it is still there, whole.
            unsafe { self.scan_pinned(o, o.span()) };
        }
        pins.large.iter().for_each(|&a| self.mark_large(a));
    }
}

impl<M: ObjectModel, C: Client> Tracer<'_, M, C, true> {
    /// Marks the objects that the client's ambiguous words refer to.
    ///
    /// # Safety
    /// They were found before this collection, and none of them is to move.
    pub(super) unsafe fn visit_stays(&mut self, stays: &Stays) {
        for o in &stays.objects {
            // SAFETY: `o` was found before this collection and does not move (`# Safety`), so the reference is one to a
            // whole object.
            let moved = unsafe { self.reach(o.reference.word()) };
            debug_assert_eq!(moved, o.reference.word());
        }
    }
}
