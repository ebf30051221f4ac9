//! Weak references, ephemerons, guardians: what does not keep objects alive, or only until they die.
//!
//! The problem: which objects are alive is known when everything has been traced; but an ephemeron, whose second word
//! counts only while its first one refers to something alive, makes tracing go on, and so does a guardian, which gets
//! back the objects that it guards when they would die. The idea: the words of *weak objects* are never traced (to the
//! object model they are leaves); the heap has a list of these objects, and deals with them when the strong references
//! have been followed, all in this file. A collector provides [`WeakTracing`], and no more.
//!
//! ```text
//!  strong references ─▶ ephemerons ─▶ guardians ─▶ Client::visit_dying ─▶ Client::visit_weak ─▶ what is dead is broken
//!                        ▲      │      │  ▲  │                   │
//!                        └──────┴──────┘  └──┴──── ephemerons ◀──┘
//! ```
//!
//! An ephemeron whose key has not been reached waits for it: the collector tells of each object that it reaches and
//! that is *watched* ([`Watched`]). So a chain of ephemerons is followed in linear time. It does so only in this phase,
//! and only when there are weak objects to look at; otherwise nothing of this costs anything.
//!
//! Generations: a collection of young objects looks at the weak objects made since the last one, and at old ones that
//! have been stored to ([`WeakObjects::stored`]); in those longer than a card, at the dirty cards.
//!
//! Order: an object that is guarded is given back with everything that it refers to, and weak references to it are not
//! broken then. Objects that refer to each other are given back all at once.

use crate::address::{Address, ByAddress, Span, WORD};
use crate::client::{Client, WeakVisitor};
use crate::model::ObjectModel;
use crate::region::{CARD_BYTES, Cards};
use cairn_layout::object::weak;

/// What the words of a weak object mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum WeakKind {
    /// Weak references.
    References = weak::REFERENCES as u8,
    /// Pairs of words: the second is referred to while what the first refers to is alive.
    Ephemerons = weak::EPHEMERONS as u8,
    /// Pairs of words: the first is referred to while what the second refers to is alive.
    ByValue = weak::BY_VALUE as u8,
    /// Pairs of weak references; a pair goes when either of the two dies.
    Both = weak::BOTH as u8,
}

impl WeakKind {
    /// All of them, by their numbers.
    pub const ALL: [WeakKind; 4] = [WeakKind::References, WeakKind::Ephemerons, WeakKind::ByValue, WeakKind::Both];

    /// Bytes of what is alive or dead as a whole.
    const fn unit(self) -> u64 {
        match self {
            WeakKind::References => WORD,
            _ => 2 * WORD,
        }
    }
}

/// An object whose words are weak.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeakObject {
    /// The reference to it.
    word: u64,
    words: u32,
    kind: WeakKind,
}

impl WeakObject {
    fn span<M: ObjectModel>(self) -> Span {
        let start = M::address(self.word).plus(WORD);
        Span::new(start, start.plus(self.words as u64 * WORD))
    }
}

/// An object that is given back to its guardian before it dies.
#[derive(Clone, Copy, Debug)]
struct Guarded {
    object: u64,
    companion: u64,
    guardian: u64,
}

/// What a guardian has got back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GivenBack {
    /// The guardian's reference.
    pub guardian: u64,
    /// The object that nothing else refers to.
    pub object: u64,
    /// What was registered with it, or the object itself.
    pub companion: u64,
}

/// A weak reference that is kept outside the heap; see [`crate::Heap::make_weak_handle`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WeakHandle(u32);

/// The objects that something waits for, by the addresses that they had before the collection.
#[derive(Default)]
pub(crate) struct Watched {
    /// The last of those who wait.
    waiting: ByAddress<u32>,
    reached: Vec<u32>,
}

impl Watched {
    /// The object at this address has been reached for the first time.
    #[inline]
    pub fn note(&mut self, a: Address) {
        if let Some(last) = self.waiting.remove(&a.0) {
            self.reached.push(last);
        }
    }
    /// Is anybody waiting for the object at this address?
    pub fn contains(&self, a: Address) -> bool {
        self.waiting.contains_key(&a.0)
    }
}

/// What a collector provides beyond [`WeakVisitor`].
pub(crate) trait WeakTracing<C>: WeakVisitor {
    /// Follows the references of everything that has been reached and not looked at yet.
    ///
    /// # Safety
    /// All grey words are what the object model says.
    unsafe fn trace(&mut self, client: &mut C);
    /// Those who are to be told, by [`Watched::note`], of every object reached from now on.
    fn watched(&mut self) -> &mut Watched;
    /// Where the object starts in which lies what is so many bytes behind the start of the region.
    fn holder(&self, offset: u64) -> Option<Address>;
}

/// What waits for an object to be reached.
#[derive(Clone, Copy)]
enum Wait {
    /// A weak object that has not been reached itself.
    Object(WeakObject),
    /// The pair of words there.
    Pair(Address),
    /// It has been dealt with.
    Over,
}

/// One collection's work.
#[derive(Default)]
struct Round {
    waits: Vec<(Wait, u32)>,
    /// Weak objects that are alive.
    alive: Vec<WeakObject>,
    /// Parts of them that hold weak references.
    weak: Vec<(Span, WeakKind)>,
}

const NOBODY: u32 = u32::MAX;

/// What has become of the word `w`: `None` if it refers to something dead.
///
/// # Safety
/// If `w` is a reference, it is one to an object that was alive after the last collection, or was made since.
unsafe fn alive<M: ObjectModel>(t: &impl WeakVisitor, w: u64) -> Option<u64> {
    // SAFETY: a reference among our words is to an object that was alive after the last collection or is new (`#
    // Safety`), which is what `survivor` asks for.
    if M::is_reference(w) || M::is_indirect(w) { unsafe { t.survivor(w) } } else { Some(w) }
}

/// Under what those who wait for an object are found: its address, or what is none for a compact record.
fn watched_as<M: ObjectModel, C>(t: &impl WeakTracing<C>, w: u64) -> Address {
    match M::inside(w) {
        Some(offset) => t.holder(offset).unwrap_or(Address(w)),
        None if M::is_indirect(w) => Address(w),
        None => M::address(w),
    }
}

impl Round {
    fn wait<C>(&mut self, t: &mut impl WeakTracing<C>, a: Address, wait: Wait) {
        let me = self.waits.len() as u32;
        let before = t.watched().waiting.insert(a.0, me).unwrap_or(NOBODY);
        self.waits.push((wait, before));
    }

    /// A weak object is to be looked at, within this part; it may be dead.
    ///
    /// # Safety
    /// `o` and what its words refer to were alive after the last collection, or were made since; `part` is one of its
    /// own.
    unsafe fn look<M: ObjectModel, C>(
        &mut self,
        t: &mut impl WeakTracing<C>,
        mut o: WeakObject,
        part: Option<Span>,
    ) {
        // SAFETY: the list's objects were alive after the last collection, or were made since; and so were those that
        // their words refer to, or they were broken.
        unsafe {
            let Some(word) = t.survivor(o.word) else {
                return self.wait(t, M::address(o.word), Wait::Object(o));
            };
            o.word = word;
            let span = part.unwrap_or_else(|| o.span::<M>());
            if part.is_none() {
                self.alive.push(o);
            }
            let key = match o.kind {
                WeakKind::References | WeakKind::Both => return self.weak.push((span, o.kind)),
                WeakKind::Ephemerons => 0,
                WeakKind::ByValue => 1,
            };
            let mut at = span.start;
            while at < span.end {
                let pair = at.words();
                let k = *pair.add(key);
                if alive::<M>(t, k).is_some() {
                    t.slot(pair);
                    t.slot(pair.add(1));
                } else {
                    let watched = watched_as::<M, C>(t, k);
                    self.wait(t, watched, Wait::Pair(at));
                }
                at = at.plus(2 * WORD);
            }
        }
    }

    /// Traces, and deals with the ephemerons whose keys are reached, until nothing changes.
    ///
    /// # Safety
    /// All grey words are what the object model says, and the mutator stands still.
    unsafe fn trace<M: ObjectModel, C>(&mut self, t: &mut impl WeakTracing<C>, client: &mut C) {
        loop {
            // SAFETY: all grey words are what the object model says (`# Safety`).
            unsafe { t.trace(client) };
            if t.watched().reached.is_empty() {
                return;
            }
            while let Some(last) = t.watched().reached.pop() {
                let mut next = last;
                while next != NOBODY {
                    let (wait, before) = self.waits[next as usize];
                    self.waits[next as usize].0 = Wait::Over;
                    next = before;
                    match wait {
                        // SAFETY: `o` waits, so `look` has found it in the lists, and it was reached, so it is whole.
                        Wait::Object(o) => unsafe { self.look::<M, C>(t, o, None) },
                        // SAFETY: `at` waits, so `look` has found an ephemeron's two words there, in a weak object that
                        // has survived.
                        Wait::Pair(at) => unsafe { t.words(at.words(), 2) },
                        Wait::Over => {}
                    }
                }
            }
        }
    }

    /// Everything that is alive is known: weak references are updated, or broken.
    ///
    /// # Safety
    /// The parts and pairs that were noted still lie in weak objects that nobody else uses.
    unsafe fn break_dead<M: ObjectModel>(&mut self, t: &impl WeakVisitor) {
        for (wait, _) in &self.waits {
            if let Wait::Pair(at) = wait {
                // SAFETY: `at` waits, so `look` has found an ephemeron's two words there; its key is dead, and nobody
                // else refers to them.
                unsafe {
                    *at.words() = M::BROKEN;
                    *at.words().add(1) = M::BROKEN;
                }
            }
        }
        for (span, kind) in &self.weak {
            let n = (kind.unit() / WORD) as usize;
            // SAFETY: `look` has found this part of a weak object that has survived: initialised words, to which no
            // other slice is alive.
            let words =
                unsafe { std::slice::from_raw_parts_mut(span.start.words(), (span.bytes() / WORD) as usize) };
            if n == 1 {
                for w in words.iter_mut().filter(|w| **w != M::BROKEN) {
                    // SAFETY: `w` is a word of a weak object: broken, or of an object that was alive after the last
                    // collection or is new.
                    *w = unsafe { alive::<M>(t, *w) }.unwrap_or(M::BROKEN);
                }
                continue;
            }
            for pair in words.chunks_exact_mut(n) {
                // SAFETY: both are words of a weak object: broken, or of objects that were alive after the last
                // collection or are new.
                let found = unsafe { (alive::<M>(t, pair[0]), alive::<M>(t, pair[1])) };
                let (Some(a), Some(b)) = found else {
                    pair.fill(M::BROKEN);
                    continue;
                };
                (pair[0], pair[1]) = (a, b);
            }
        }
    }
}

/// See the module's header.
#[derive(Default)]
pub(crate) struct WeakObjects {
    /// Made since the last collection.
    young: Vec<WeakObject>,
    old: Vec<WeakObject>,
    /// Old ones that have been stored to since, by address.
    dirty: ByAddress<WeakObject>,
    /// The last of these.
    last_dirty: u64,
    guarded_young: Vec<Guarded>,
    guarded_old: Vec<Guarded>,
    given_back: Vec<GivenBack>,
    handles: Vec<u64>,
    free_handles: Vec<WeakHandle>,
}

impl WeakObjects {
    /// A weak object has been made: to the object model it is a leaf, with a header word.
    pub fn made(&mut self, word: u64, words: u32, kind: WeakKind) {
        self.young.push(WeakObject { word, words, kind });
    }
    /// Is it known that a reference has been stored into the old weak object that this word refers to?
    #[inline]
    pub fn is_last_stored<M: ObjectModel>(&self, word: u64) -> bool {
        M::address(word).0 == self.last_dirty
    }
    /// A reference was stored into a weak object that may be old; its card is marked.
    pub fn stored<M: ObjectModel>(&mut self, word: u64, words: u32, kind: WeakKind) {
        let a = M::address(word).0;
        if a != self.last_dirty {
            self.dirty.insert(a, WeakObject { word, words, kind });
            self.last_dirty = a;
        }
    }
    /// `companion` is given back to the guardian when `object` would die, while the guardian is alive.
    pub fn guard(&mut self, object: u64, companion: u64, guardian: u64) {
        self.guarded_young.push(Guarded { object, companion, guardian });
    }
    /// What guardians have got back since the last call, in the order in which it was registered.
    pub fn take_given_back(&mut self) -> Vec<GivenBack> {
        std::mem::take(&mut self.given_back)
    }
    /// A weak reference outside the heap.
    pub fn make_handle(&mut self, word: u64) -> WeakHandle {
        match self.free_handles.pop() {
            Some(h) => {
                self.handles[h.0 as usize] = word;
                h
            }
            None => {
                self.handles.push(word);
                WeakHandle(self.handles.len() as u32 - 1)
            }
        }
    }
    /// What it refers to.
    pub fn handle<M: ObjectModel>(&self, h: WeakHandle) -> Option<u64> {
        Some(self.handles[h.0 as usize]).filter(|w| *w != M::BROKEN)
    }
    /// It is not used any more.
    pub fn free_handle<M: ObjectModel>(&mut self, h: WeakHandle) {
        self.handles[h.0 as usize] = M::BROKEN;
        self.free_handles.push(h);
    }

    /// Is there nothing to do for a collection of young objects, or of everything?
    pub fn is_idle(&self, everything: bool) -> bool {
        let old = everything && !(self.old.is_empty() && self.guarded_old.is_empty());
        let young = !(self.young.is_empty() && self.dirty.is_empty() && self.guarded_young.is_empty());
        !old && !young && self.given_back.is_empty() && self.handles.is_empty()
    }

    /// Does all that is to be done when strong references have been followed: also calls the client's `visit_dying` and
    /// `visit_weak`.
    ///
    /// # Safety
    /// All grey words are what the object model says, and the mutator stands still.
    pub unsafe fn settle<M: ObjectModel, C: Client, T: WeakTracing<C>>(
        &mut self,
        t: &mut T,
        client: &mut C,
        cards: &Cards,
    ) {
        let mut round = Round::default();
        // SAFETY: all grey words are what the object model says, and the mutator stands still (`# Safety`); `look` says
        // what of our words.
        unsafe {
            for g in &mut self.given_back {
                t.slot(&raw mut g.guardian);
                t.slot(&raw mut g.object);
                t.slot(&raw mut g.companion);
            }
            self.last_dirty = 0;
            let dirty = std::mem::take(&mut self.dirty);
            for o in std::mem::take(&mut self.young) {
                round.look::<M, C>(t, o, None);
            }
            if T::EVERYTHING {
                for o in std::mem::take(&mut self.old) {
                    round.look::<M, C>(t, o, None);
                }
            } else {
                for o in dirty.into_values() {
                    self.look_at_dirty::<M, C>(t, &mut round, o, cards);
                }
            }
            round.trace::<M, C>(t, client);
            self.give_back::<M, C, T>(t, client, &mut round);
            client.visit_dying(t);
            round.trace::<M, C>(t, client);
            client.visit_weak(t);
            round.break_dead::<M>(t);
            for w in self.handles.iter_mut().filter(|w| **w != M::BROKEN) {
                *w = alive::<M>(t, *w).unwrap_or(M::BROKEN);
            }
        }
        self.old.append(&mut round.alive);
    }

    /// Looks at the parts of an old weak object that were stored to.
    ///
    /// # Safety
    /// `o` is an old weak object; otherwise as `look` says.
    unsafe fn look_at_dirty<M: ObjectModel, C>(
        &mut self,
        t: &mut impl WeakTracing<C>,
        round: &mut Round,
        o: WeakObject,
        cards: &Cards,
    ) {
        let span = o.span::<M>();
        let unit = o.kind.unit();
        let mut parts = Vec::new();
        if span.bytes() < 4 * CARD_BYTES {
            parts.push(span);
        } else {
            cards.take_dirty_in(span, |part| {
                if part.bytes() < CARD_BYTES {
                    // The rest of the card belongs to others.
                    cards.mark(part.start);
                }
                let from = part.start.offset_from(span.start) / unit * unit;
                let to = part.end.offset_from(span.start).next_multiple_of(unit);
                parts.push(Span::new(span.start.plus(from), span.start.plus(to).min(span.end)));
            });
        }
        for part in parts {
            // SAFETY: `o` was stored to since the last collection, so it is in the old list; grey words are what the
            // model says (`# Safety`).
            unsafe { round.look::<M, C>(t, o, Some(part)) };
        }
    }

    /// Gives back what would die to guardians that are alive.
    ///
    /// # Safety
    /// All grey words are what the object model says, and the mutator stands still.
    unsafe fn give_back<M: ObjectModel, C, T: WeakTracing<C>>(
        &mut self,
        t: &mut T,
        client: &mut C,
        round: &mut Round,
    ) {
        let mut open = std::mem::take(&mut self.guarded_young);
        if T::EVERYTHING {
            let mut all = std::mem::take(&mut self.guarded_old);
            all.append(&mut open);
            open = all;
        }
        // SAFETY: what is registered was alive after the last collection, or was made since.
        unsafe {
            let mut held = Vec::new();
            loop {
                // Guardians that are alive keep what they are to give back, which may keep other guardians.
                loop {
                    let before = held.len();
                    open.retain_mut(|g: &mut Guarded| {
                        let guardian = alive::<M>(t, g.guardian);
                        if let Some(word) = guardian {
                            g.guardian = word;
                            let same = g.companion == g.object;
                            if !same {
                                t.slot(&raw mut g.companion);
                            }
                            held.push((*g, same));
                        }
                        guardian.is_none()
                    });
                    if held.len() == before {
                        break;
                    }
                    round.trace::<M, C>(t, client);
                }
                let mut dying = Vec::new();
                for (mut g, same) in held.drain(..) {
                    match alive::<M>(t, g.object) {
                        Some(word) => {
                            g.object = word;
                            g.companion = if same { word } else { g.companion };
                            self.guarded_old.push(g);
                        }
                        None => dying.push((g, same)),
                    }
                }
                if dying.is_empty() {
                    return;
                }
                for (mut g, same) in dying {
                    t.slot(&raw mut g.object);
                    let companion = if same { g.object } else { g.companion };
                    self.given_back.push(GivenBack { guardian: g.guardian, object: g.object, companion });
                }
                round.trace::<M, C>(t, client);
            }
        }
    }
}
