//! The checker: an independent walk over the heap.
//!
//! The problem: a collector's bug shows long after it happened, as a wrong result of the program. The idea: a
//! second opinion that shares no code with the collectors. It parses every block it meets from one end to the
//! other to learn where objects start, follows every reference from the roots, and demands that each refers to
//! the start of an object of its kind in a live block. Before a collection it also demands that every
//! reference from old to young lies on a dirty card: that catches a missing write barrier at its first chance.
//!
//! Static data outside the region is the client's: references to it are taken on trust.
//!
//! What it learns about words it keeps in a table of its own ([`Notes`]), not in the collector's.
//!
//! Cost: linear in what is live, a few nanoseconds a word; for tests and zeal.

use crate::address::{Address, BLOCK_BYTES, PAIR_BYTES, Span, WORD};
use crate::blocks::{Kind, State};
use crate::client::{AmbiguousVisitor, Client, RootVisitor};
use crate::model::{Located, Measure, ObjectModel, ObjectReference, RefKind};
use crate::space::cells::CellWords;
use crate::space::large::LargeObject;
use crate::space::nursery::Extent;
use crate::space::own::{Holds, OwnSpaces, Place};
use crate::state::Core;
use crate::workshop::Notes;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// What the checker walked over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Objects reached.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Words looked at, those of the roots among them.
    pub words: u64,
}

/// One thing that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The slot that holds the word.
    pub slot: Address,
    /// The word.
    pub word: u64,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slot {:?} holds {:#x}: {}", self.slot, self.word, self.what)
    }
}

const MOST_PROBLEMS: usize = 20;

struct Checker<'a, M> {
    model: &'a M,
    core: &'a Core,
    extents: &'a [Extent],
    own: &'a dyn OwnSpaces,
    notes: &'a mut Notes,
    /// Spans whose object starts are noted, by where they begin; or why they could not be parsed.
    parsed: &'a mut HashMap<Address, Result<(), String>>,
    /// Immortal extents whose object starts are noted, by where they begin, and up to where: they only grow.
    immortal: &'a mut HashMap<Address, Address>,
    queue: &'a mut Vec<ObjectReference>,
    problems: Vec<Problem>,
    report: Report,
    /// The words being looked at belong to an old object.
    scanning_old: bool,
    /// Objects outside of the region, and how they were met.
    abroad: HashMap<Address, u8>,
    /// Compact records met.
    compact: HashSet<u64>,
}

/// Checks everything reachable, and the remembered set.
pub(crate) fn check<M: ObjectModel, C: Client>(
    core: &mut Core,
    model: &M,
    extents: &[Extent],
    own: &dyn OwnSpaces,
    client: &mut C,
) -> Result<Report, Vec<Problem>> {
    let mut shop = std::mem::take(&mut core.workshop);
    let notes = match &mut shop.notes {
        Some(notes) => notes,
        none => none.insert(Notes::new(core.region.span()).expect("address space for the checker's notes")),
    };
    let mut c = Checker {
        model,
        core,
        extents,
        own,
        notes,
        parsed: &mut shop.parsed,
        immortal: &mut shop.immortal,
        queue: &mut shop.queue,
        problems: Vec::new(),
        report: Report::default(),
        scanning_old: true,
        abroad: HashMap::new(),
        compact: HashSet::new(),
    };
    for x in c.core.immortal.extents().filter(|x| !x.leaf) {
        // SAFETY: filled immortal extents hold initialised words, and are never given back.
        unsafe { c.immortals(x.span) };
    }
    c.scanning_old = false;
    client.audit_ambiguous(&mut c);
    if let Err(e) = client.audit_roots(&mut c) {
        c.problem(Address(0), 0, e);
    }
    while let Some(r) = c.queue.pop() {
        c.object(r, client);
    }
    let (problems, report) = (c.problems, c.report);
    notes.clear();
    shop.parsed.clear();
    core.workshop = shop;
    if problems.is_empty() { Ok(report) } else { Err(problems) }
}

/// Panics if the heap is inconsistent.
pub(crate) fn demand<M: ObjectModel, C: Client>(
    when: &str,
    core: &mut Core,
    model: &M,
    extents: &[Extent],
    own: &dyn OwnSpaces,
    client: &mut C,
) -> Report {
    let outcome = check(core, model, extents, own, client);
    outcome.unwrap_or_else(|problems| {
        let list: String = problems.iter().map(|p| format!("\n  {p}")).collect();
        panic!("the heap is inconsistent {when} collection {}:{list}", core.stats.minor + core.stats.major + 1)
    })
}

impl<M: ObjectModel> Checker<'_, M> {
    fn problem(&mut self, slot: Address, word: u64, what: String) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem { slot, word, what });
        }
    }

    /// Looks at the words of an extent of immortal objects.
    ///
    /// # Safety
    /// The extent's words are initialised, and objects fill it; nobody else uses it meanwhile.
    unsafe fn immortals(&mut self, span: Span) {
        if M::SELF_DESCRIBING {
            // SAFETY: the extent's words are initialised (`# Safety`), and every word of such a model describes itself.
            return unsafe { self.words(span.start.words(), (span.bytes() / WORD) as usize) };
        }
        let (mut a, model) = (span.start, self.model);
        while a < span.end {
            // SAFETY: `a` is the start of the extent or behind an object in it, below its end, so an initialised word
            // (`# Safety`).
            match unsafe { model.audit(a) } {
                Ok((_, m)) => {
                    // SAFETY: `audit` has measured an object at `a`; that its words are initialised is what `# Safety`
                    // says.
                    unsafe { model.scan(a, m.bytes, Span::new(a, a.plus(m.bytes)), self) };
                    a = a.plus(m.bytes);
                }
                Err(e) => return self.problem(a, 0, format!("{e} among immortal objects")),
            }
        }
    }

    /// Is this address in memory whose references to young objects are remembered on cards?
    fn is_old(&self, a: Address) -> bool {
        let table = &self.core.pool.table;
        if !table.covers(a) {
            return false;
        }
        let state = table.state(table.block_of(a));
        match state.kind() {
            Kind::Pinned => self.core.marks.is_set(a),
            Kind::Shared => self.core.large.around(&self.core.pool, a).is_some_and(|o| !o.young),
            _ => !state.has(State::YOUNG),
        }
    }

    /// A reference from an old to a young object must lie on a dirty card.
    fn remembered(&mut self, slot: Address, r: ObjectReference) {
        let wanted = self.core.generational && self.scanning_old && !self.is_old(r.address());
        if wanted && !self.core.cards.is_dirty(slot) {
            self.problem(slot, r.word(), "an old object refers to a young one, but its card is clean".into());
        }
    }

    /// Notes where objects start in a span of headed objects and procedures.
    fn parse(&mut self, span: Span, note: u8) -> Result<(), String> {
        let mut a = span.start;
        while a < span.end {
            // SAFETY: `a` is in the span, which callers take from the filled part of a block.
            if unsafe { a.load() } == 0 {
                // The mutator shortened the leaf before this word.
                a = a.plus(WORD);
                continue;
            }
            // SAFETY: `a` is in the filled part of a block, so its words are initialised; that a code address has a
            // descriptor is believed.
            let (_, m) = unsafe { self.model.audit(a) }.map_err(|e| format!("{e} at {a:?}"))?;
            if m.bytes > span.end.offset_from(a) {
                return Err(format!("the object at {a:?} reaches beyond its block"));
            }
            self.notes.add(a, note);
            a = a.plus(m.bytes);
        }
        Ok(())
    }

    /// Notes where objects start in a filled part of a page, by their prefixes and headers.
    fn parse_page(&mut self, span: Span) -> Result<(), String> {
        let mut a = span.start;
        while a < span.end {
            // SAFETY: `a` is in the span, which callers take from the filled part of a page.
            let word = unsafe { a.load() };
            let (bytes, kind) = (word >> 16, word >> 8 & 0xFF);
            if word == 0 {
                a = a.plus(WORD);
            } else if word & 0xFF != 0 {
                // SAFETY: `a` is in the filled part of a page, so its words are initialised; that a code address has a
                // descriptor is believed.
                let (_, m) = unsafe { self.model.audit(a) }.map_err(|e| format!("{e} at {a:?}"))?;
                self.notes.add(a, Notes::START);
                a = a.plus(m.bytes);
            } else {
                let at = a.plus(WORD);
                match kind {
                    0xFF => {} // a hole
                    0 if bytes == PAIR_BYTES => self.notes.add(at, Notes::START | Notes::PAIR),
                    1 => {
                        // SAFETY: `at` follows a prefix in the filled part of a page, so a closure's words are there;
                        // its code address is believed.
                        let (kind, m) = unsafe { self.model.audit(at) }.map_err(|e| format!("{e} at {at:?}"))?;
                        // It may have been shortened: a closure whose code was replaced.
                        if kind != RefKind::Procedure || m.bytes > bytes {
                            return Err(format!("{m:?} behind the prefix {word:#x} at {a:?}"));
                        }
                        self.notes.add(at, Notes::START);
                    }
                    _ => return Err(format!("the prefix {word:#x} at {a:?}")),
                }
                a = at.plus(bytes);
            }
        }
        if a == span.end { Ok(()) } else { Err(format!("the last object of {span:?} ends at {a:?}")) }
    }

    /// The extent of the mutator around an address.
    fn extent_around(&self, a: Address) -> Option<Extent> {
        let i = self.extents.partition_point(|x| x.span.end <= a);
        self.extents.get(i).copied().filter(|x| x.span.contains(a))
    }

    /// The extent around an address of a page, parsed.
    fn page_around(&mut self, a: Address) -> Result<Extent, String> {
        let i = self.extents.partition_point(|x| x.span.end <= a);
        let Some(&x) = self.extents.get(i).filter(|x| x.span.contains(a)) else {
            return Err("in a block of pages, but on none".into());
        };
        let parts = [Span::new(x.span.start, x.lo), Span::new(x.hi, x.span.end)];
        for part in parts.into_iter().filter(|p| p.bytes() > 0) {
            let outcome = match self.parsed.get(&part.start) {
                Some(outcome) => outcome.clone(),
                None => {
                    let outcome = self.parse_page(part);
                    self.parsed.insert(part.start, outcome.clone());
                    outcome
                }
            };
            outcome.map_err(|e| format!("on a page that cannot be parsed: {e}"))?;
        }
        Ok(x)
    }

    /// Is this word noted as the start of an object, and one that fits the tag?
    fn starts(&self, r: ObjectReference) -> Result<(), String> {
        if self.notes.at(r.address()) & Notes::START != 0 {
            self.matches_tag(r).map(drop)
        } else {
            Err("not the start of an object".into())
        }
    }

    fn in_parts(&mut self, r: ObjectReference, pairs: Span, others: Span) -> Result<(), String> {
        let a = r.address();
        if r.kind() == RefKind::Pair {
            return if pairs.contains(a) && a.offset_from(pairs.start).is_multiple_of(16) {
                Ok(())
            } else {
                Err("not the start of a pair".into())
            };
        }
        if !others.contains(a) {
            return Err("outside the filled part of its block".into());
        }
        self.parse_once(others).map_err(|e| format!("in a block that cannot be parsed: {e}"))?;
        self.starts(r)
    }

    fn parse_once(&mut self, others: Span) -> Result<(), String> {
        match self.parsed.get(&others.start) {
            Some(outcome) => outcome.clone(),
            None => {
                let outcome = self.parse(others, Notes::START);
                self.parsed.insert(others.start, outcome.clone());
                outcome
            }
        }
    }

    /// A reference into a block whose object starts are recorded.
    fn by_starts(&self, r: ObjectReference, end: Address) -> Result<(), String> {
        let a = r.address();
        if !self.core.marks.is_set(a) || r.kind() == RefKind::Pair && !a.0.is_multiple_of(16) {
            return Err("not the start of an object".into());
        }
        let bytes = if r.kind() == RefKind::Pair { 16 } else { self.matches_tag(r)?.bytes };
        if bytes > end.offset_from(a) {
            return Err("the object reaches beyond its block".into());
        }
        let mut inner = (1..bytes / WORD).map(|i| a.plus(i * WORD));
        if inner.any(|w| self.core.marks.is_set(w)) {
            Err("the object overlaps the next one".into())
        } else {
            Ok(())
        }
    }

    fn matches_tag(&self, r: ObjectReference) -> Result<Measure, String> {
        // SAFETY: callers have verified that an object starts there, so its words are initialised.
        let (kind, m) = unsafe { self.model.audit(r.address()) }?;
        if kind == r.kind() { Ok(m) } else { Err("the tag does not fit the object".into()) }
    }

    /// A reference into a block of this kind, which only the plan's own spaces know.
    fn in_own_space(&self, r: ObjectReference, kind: Kind) -> Result<(), String> {
        match self.own.place(&self.core.pool.table, r.address()) {
            Some(place) if self.core.marks.is_set(r.address()) => self.in_place(r, place),
            Some(_) => Err("not the start of an object in use".into()),
            None => Err(format!("no place for an object, in a block of kind {kind:?}")),
        }
    }

    /// A reference into a place of the plan's own spaces.
    fn in_place(&self, r: ObjectReference, place: Place) -> Result<(), String> {
        if r.address() != place.span.start {
            return Err("not the start of an object".into());
        }
        match (place.holds, r.kind()) {
            (Holds::One(o), _) if o.reference != r => Err("not the reference to the object there".into()),
            (Holds::One(_) | Holds::Pair | Holds::Unknown, RefKind::Pair) => Ok(()),
            (Holds::Pair, _) | (_, RefKind::Pair) => Err("in a place for what it is not".into()),
            (holds, _) => {
                let m = self.matches_tag(r)?;
                let fits = match holds {
                    Holds::One(o) => m.leaf == o.measure.leaf,
                    Holds::Leaf => m.leaf,
                    // Compiled code has no lists of cells for leaves: records of numbers lie among the others.
                    _ => true,
                };
                // It may be shorter than its place, or have been shortened since.
                let fits = fits && m.bytes <= place.span.bytes();
                if fits { Ok(()) } else { Err(format!("{m:?} in {place:?}")) }
            }
        }
    }

    fn reference(&mut self, r: ObjectReference) -> Result<(), String> {
        let (a, table) = (r.address(), &self.core.pool.table);
        let block = table.block_of(a);
        let start = table.address_of(block);
        match table.state(block).kind() {
            kind @ Kind::Pinned if self.core.marks.is_set(a) => self.in_own_space(r, kind),
            Kind::Scannable if !self.core.marks.is_set(a) && self.extent_around(a).is_some() => {
                // Being filled with objects that are born old.
                let x = self.extent_around(a).expect("just seen");
                self.in_parts(r, Span::new(x.span.start, x.lo), Span::new(x.hi, x.span.end))
            }
            Kind::Nursery | Kind::Pinned => match self.extent_around(a) {
                Some(x) => self.in_parts(r, Span::new(x.span.start, x.lo), Span::new(x.hi, x.span.end)),
                None => Err("in the empty part of the nursery".into()),
            },
            Kind::Page => {
                let x = self.page_around(a)?;
                if x.lo <= a && a < x.hi {
                    return Err("in the free part of a page".into());
                }
                match (r.kind() == RefKind::Pair, self.notes.at(a) & Notes::PAIR != 0) {
                    (false, false) => self.starts(r),
                    (true, true) => Ok(()),
                    _ => Err("not the start of an object of its kind".into()),
                }
            }
            Kind::Scannable | Kind::Leaf => self.by_starts(r, start.plus(BLOCK_BYTES)),
            Kind::Large | Kind::LargeTail | Kind::Shared => {
                match self.core.large.around(&self.core.pool, a).filter(|o| o.start == a) {
                    None => Err("not the start of a large object".into()),
                    Some(o) if r.kind() != o.kind => Err("the tag does not fit the large object".into()),
                    Some(_) => self.matches_tag(r).map(drop),
                }
            }
            Kind::Immortal | Kind::ImmortalTail => {
                if self.notes.at(a) & Notes::IMMORTAL_START == Notes::IMMORTAL_START {
                    return self.matches_tag(r).map(drop);
                }
                match self.core.immortal.extents().find(|x| x.span.contains(a)) {
                    Some(x) => {
                        let known = self.immortal.get(&x.span.start).copied().unwrap_or(x.span.start);
                        self.parse(Span::new(known, x.span.end), Notes::IMMORTAL_START)?;
                        self.immortal.insert(x.span.start, x.span.end);
                        self.starts(r)
                    }
                    None => Err("in the empty part of an immortal block".into()),
                }
            }
            Kind::Typed | Kind::Untyped => {
                let class = self.core.cells.class_of(table, block);
                if class.cell_around(start, a) != a || !self.core.marks.is_set(a) {
                    Err("not the start of a cell in use".into())
                } else if class.words() == CellWords::Untyped {
                    self.matches_tag(r).map(drop)
                } else if r.kind() != RefKind::Object {
                    Err("the tag does not fit a cell".into())
                } else {
                    Ok(())
                }
            }
            kind => self.in_own_space(r, kind),
        }
    }

    /// The object around an address, which may be anything. By walking back word by word, not by the collector's means.
    fn around(&mut self, a: Address) -> Option<ObjectReference> {
        let (core, table) = (self.core, &self.core.pool.table);
        if !table.covers(a) {
            return None;
        }
        let a = Address(a.0 & !(WORD - 1));
        let block = table.block_of(a);
        let start = table.address_of(block);
        let back = |from: Address, is_start: &dyn Fn(Address) -> bool| {
            (0..=a.offset_from(from) / WORD).map(|i| a.minus(i * WORD)).find(|&w| is_start(w))
        };
        if let Some(Place { holds: Holds::One(o), .. }) = self.own.place(table, a) {
            return Some(o.reference);
        }
        let found = match table.state(block).kind() {
            Kind::Nursery | Kind::Pinned => {
                let x = *self.extents.iter().find(|x| x.span.contains(a))?;
                if a < x.lo {
                    Located::pair::<M>(Address(a.0 & !(PAIR_BYTES - 1)))
                } else if a < x.hi {
                    return None;
                } else {
                    self.parse_once(Span::new(x.hi, x.span.end)).ok()?;
                    let o = back(x.hi, &|w| self.notes.at(w) & Notes::START != 0)?;
                    // SAFETY: the bit says that `parse` has met an object at `o`, and extents have no pairs above `hi`.
                    unsafe { Located::headed(self.model, o) }
                }
            }
            Kind::Page => {
                let x = self.page_around(a).ok()?;
                let from = if a < x.lo { x.span.start } else { x.hi };
                if a < from {
                    return None;
                }
                let o = back(from, &|w| self.notes.at(w) & Notes::START != 0)?;
                if self.notes.at(o) & Notes::PAIR != 0 {
                    Located::pair::<M>(o)
                } else {
                    // SAFETY: the bits say that `parse_page` has met an object at `o`, which is no pair.
                    unsafe { Located::headed(self.model, o) }
                }
            }
            Kind::Scannable | Kind::Leaf => match back(start, &|w| core.marks.is_set(w))? {
                o if core.marks.is_pair(o) => Located::pair::<M>(o),
                // SAFETY: `o` has a start bit, and none of a pair, so a headed object starts there.
                o => unsafe { Located::headed(self.model, o) },
            },
            Kind::Typed | Kind::Untyped => {
                let class = core.cells.class_of(table, block);
                Located::cell::<M>(back(start, &|w| core.marks.is_set(w))?, class.bytes())
            }
            Kind::Large | Kind::LargeTail | Kind::Shared => {
                let is_around = |o: &&LargeObject| a.offset_from(o.start) < o.bytes;
                let o = core.large.iter().find(is_around)?;
                // SAFETY: `o` is an entry of the space, so a large object starts at `o.start`.
                unsafe { Located::headed(self.model, o.start) }
            }
            _ => match self.own.place(table, a)?.holds {
                Holds::Unknown => return None,
                holds => match back(start, &|w| core.marks.is_set(w))? {
                    o if holds == Holds::Pair => Located::pair::<M>(o),
                    // SAFETY: `o` has a start bit in a place that holds no pairs, so a headed object starts there.
                    o => unsafe { Located::headed(self.model, o) },
                },
            },
        };
        found.span().contains(a).then_some(found.reference)
    }

    /// Verifies a reference met in this slot, and notes its object for a visit.
    fn follow(&mut self, at: Address, r: ObjectReference) {
        let (met, now) = (self.notes.at(r.address()) & Notes::MET, Notes::met(r));
        if met == now {
            return;
        }
        match self.reference(r) {
            Ok(()) if met != 0 => self.problem(at, r.word(), "met before with another tag".into()),
            Ok(()) => {
                self.notes.add(r.address(), now);
                self.queue.push(r);
            }
            Err(what) => self.problem(at, r.word(), what),
        }
    }

    /// Verifies a reference out of the region, to static data or into the plan's own spaces, and notes its object for a
    /// visit.
    fn follow_abroad(&mut self, at: Address, r: ObjectReference) {
        let Some(place) = self.own.place(&self.core.pool.table, r.address()) else { return };
        let now = Notes::met(r);
        match self.abroad.insert(r.address(), now) {
            Some(before) if before == now => return,
            Some(_) => return self.problem(at, r.word(), "met before with another tag".into()),
            None => {}
        }
        match self.in_place(r, place) {
            Ok(()) => self.queue.push(r),
            Err(what) => self.problem(at, r.word(), what),
        }
    }

    /// Verifies a reference to what lies inside of an object that stands still.
    fn follow_inside(&mut self, at: Address, word: u64, offset: u64) {
        match self.core.large.holder(&self.core.pool, offset) {
            Some(o) if self.is_old(o.start) || !self.core.generational => {
                let r = M::reference(o.start, o.kind);
                if let Some(r) = ObjectReference::from_word::<M>(r) {
                    self.follow(at, r);
                }
            }
            Some(_) => self.problem(at, word, "inside of an object that minor collections may free".into()),
            None => self.problem(at, word, "inside of no object".into()),
        }
    }

    /// Verifies a reference to a compact record, and all that it leads to.
    fn follow_compact(&mut self, at: Address, word: u64) {
        let mut queue = vec![word];
        while let Some(w) = queue.pop() {
            if !self.compact.insert(w) {
                continue;
            }
            if !self.core.compact.is_used(w) {
                self.problem(at, w, "a compact record that is not in use".into());
                continue;
            }
            self.report.objects += 1;
            queue.extend(self.core.compact.references(w));
        }
    }

    fn object<C: Client>(&mut self, r: ObjectReference, client: &mut C) {
        let a = r.address();
        self.report.objects += 1;
        self.scanning_old = self.is_old(a);
        if r.kind() == RefKind::Pair {
            self.report.bytes += 16;
            // SAFETY: `follow` has verified that `r` refers to a pair, so two words are at `a`.
            return unsafe { self.words(a.words(), 2) };
        }
        let (core, table) = (self.core, &self.core.pool.table);
        let block = table.block_of(a);
        if table.covers(a) && matches!(table.state(block).kind(), Kind::Typed | Kind::Untyped) {
            let class = core.cells.class_of(table, block);
            self.report.bytes += class.bytes();
            // SAFETY: `follow` has verified that `r` refers to the start of a cell in use, which is initialised.
            return unsafe { class.scan(a, Span::new(a, a.plus(class.bytes())), self) };
        }
        // SAFETY: `follow` has verified `r`, so the object's size could be determined and lies within its block or run.
        unsafe {
            let Ok((_, m)) = self.model.audit(a) else { return };
            self.report.bytes += m.bytes;
            let first = a.load();
            if r.kind() == RefKind::Procedure
                && let Err(e) = client.audit_code(first)
            {
                return self.problem(a, first, e);
            }
            if !m.leaf {
                let (model, whole) = (self.model, Span::new(a, a.plus(m.bytes)));
                model.scan(a, m.bytes, whole, self);
            }
            if m.continuation {
                self.scanning_old = false;
                if let Err(e) = client.audit_continuation(a, self) {
                    self.problem(a, first, e);
                }
            }
        }
    }
}

impl<M: ObjectModel> AmbiguousVisitor for Checker<'_, M> {
    /// What the word refers to, if anything, must be in order like all else. Any number may look like a reference to
    /// something young, so nothing is said about cards.
    fn ambiguous(&mut self, word: u64) {
        self.report.words += 1;
        if let Some(r) = self.around(Address(word)) {
            self.follow(Address(0), r);
        }
    }
}

impl<M: ObjectModel> RootVisitor for Checker<'_, M> {
    unsafe fn static_words(&mut self, start: *mut u64, n: usize) {
        let a = Address(start as u64);
        // References to young objects must lie on dirty cards there, too.
        self.scanning_old = self.core.own_cards.contains(Span::new(a, a.plus(WORD * n as u64)));
        // SAFETY: `n` valid words are at `start`, as `RootVisitor::static_words` demands of whoever calls it.
        unsafe { self.words(start, n) };
        self.scanning_old = false;
    }

    unsafe fn slot(&mut self, slot: *mut u64) {
        // SAFETY: `slot` is a valid word, as `RootVisitor::slot` demands of whoever calls it.
        let word = unsafe { *slot };
        self.report.words += 1;
        let at = Address(slot as u64);
        if let Some(what) = M::stray(word) {
            return self.problem(at, word, what.into());
        }
        if let Some(offset) = M::inside(word) {
            return self.follow_inside(at, word, offset);
        }
        if M::is_indirect(word) {
            return self.follow_compact(at, word);
        }
        let Some(r) = ObjectReference::from_word::<M>(word) else { return };
        if !self.core.pool.table.covers(r.address()) {
            return self.follow_abroad(at, r);
        }
        self.remembered(at, r);
        self.follow(at, r);
    }

    fn mark_chunk(&mut self, chunk: Address) {
        let place = self.own.place(&self.core.pool.table, chunk);
        if self.core.chunks.info(&self.core.pool, chunk).is_none() && place.is_none_or(|p| p.span.start != chunk) {
            self.problem(chunk, chunk.0, "not a stack chunk in use".into());
        }
    }
}
