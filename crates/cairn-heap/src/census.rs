//! A census: every object that lives, one by one.
//!
//! The problem: what a program holds is a question about the objects that are reachable, at a moment when the
//! collector's tables say only what survived the last collection. The idea: a walk of its own from the roots, which
//! changes nothing, with a bit for each word of the region. It follows what is strong; weak objects are leaves.
//!
//! Cost: linear in what lives, about that of a major collection; a sixty-fourth of the region in addresses, of which
//! pages are used where objects lie.

use crate::address::{Address, PAIR_BYTES, Span, WORD};
use crate::client::{AmbiguousVisitor, Client, RootVisitor};
use crate::model::{ObjectModel, RefKind};
use crate::region::Mapping;
use crate::state::Core;

/// Which objects a census has met.
pub struct Census {
    region: Span,
    met: Mapping,
    queue: Vec<u64>,
}

impl Census {
    fn new(region: Span) -> std::io::Result<Census> {
        Ok(Census { region, met: Mapping::reserve(region.bytes() / WORD / 8)?, queue: Vec::new() })
    }
    fn bit(&self, a: Address) -> (*mut u8, u8) {
        debug_assert!(self.region.contains(a));
        let i = a.offset_from(self.region.start) / WORD;
        // SAFETY: `a` is in the region (asserted in debug builds), and the mapping has a bit for each of its words.
        (unsafe { self.met.base().bytes().add((i / 8) as usize) }, 1 << (i % 8))
    }
    /// Is the object of this reference alive?
    pub fn has_met<M: ObjectModel>(&self, word: u64) -> bool {
        let a = M::address(word);
        if !self.region.contains(a) {
            return true;
        }
        let (byte, bit) = self.bit(a);
        // SAFETY: `bit` has given a byte of the mapping.
        unsafe { *byte & bit != 0 }
    }
    fn meet(&mut self, a: Address) -> bool {
        let (byte, bit) = self.bit(a);
        // SAFETY: `bit` has given a byte of the mapping, which `&mut self` keeps for us alone.
        unsafe {
            let new = *byte & bit == 0;
            *byte |= bit;
            new
        }
    }
}

/// Shows words to a census.
struct Walker<'a, M> {
    census: &'a mut Census,
    model: &'a M,
    /// The reference to the object in which lies what is so many bytes behind the start of the region.
    holder: &'a dyn Fn(u64) -> Option<u64>,
}

impl<M: ObjectModel> RootVisitor for Walker<'_, M> {
    unsafe fn slot(&mut self, slot: *mut u64) {
        // SAFETY: `slot` is a valid word, as `RootVisitor::slot` demands of whoever calls it.
        let w = unsafe { *slot };
        let w = M::inside(w).and_then(|offset| (self.holder)(offset)).unwrap_or(w);
        if M::is_reference(w) && self.census.region.contains(M::address(w)) && self.census.meet(M::address(w)) {
            self.census.queue.push(w);
        }
    }
    fn mark_chunk(&mut self, _: Address) {}
}

impl<M: ObjectModel> AmbiguousVisitor for Walker<'_, M> {
    fn ambiguous(&mut self, _: u64) {}
}

/// Walks over everything that strong references reach; `visit` is told the reference to each object of the region, and
/// its size, those that live forever excepted. What only ambiguous words refer to is left out.
pub(crate) fn walk<M: ObjectModel, C: Client>(
    core: &mut Core,
    model: &M,
    client: &mut C,
    mut visit: impl FnMut(u64, u64),
) -> std::io::Result<Census> {
    use crate::blocks::Kind;
    let mut census = Census::new(core.region.span())?;
    let (large, pool) = (&core.large, &core.pool);
    let holder = |offset| large.holder(pool, offset).map(|o| M::reference(o.start, o.kind));
    let mut w = Walker { census: &mut census, model, holder: &holder };
    client.visit_roots(&mut w);
    for x in core.immortal.extents().filter(|x| !x.leaf && M::SELF_DESCRIBING) {
        // SAFETY: filled immortal extents hold initialised words, and are never given back; every word describes
        // itself.
        unsafe { w.words(x.span.start.words(), (x.span.bytes() / WORD) as usize) };
    }
    let table = &core.pool.table;
    while let Some(word) = w.census.queue.pop() {
        let a = M::address(word);
        let kind = M::kind(word);
        let immortal = matches!(table.state(table.block_of(a)).kind(), Kind::Immortal | Kind::ImmortalTail);
        // SAFETY: the mutator stands still, and `word` was met as a reference to an object that lives, so all its words
        // are initialised; what `measure` tells are its own.
        unsafe {
            if kind == RefKind::Pair {
                visit(word, PAIR_BYTES);
                w.words(a.words(), 2);
                continue;
            }
            let m = w.model.measure(kind, a.load());
            if !immortal {
                visit(word, m.bytes);
            }
            if m.continuation {
                client.trace_continuation(a, &mut w);
            }
            if !m.leaf {
                model.scan(a, m.bytes, Span::new(a, a.plus(m.bytes)), &mut w);
            }
        }
    }
    Ok(census)
}
