//! Samples of allocation: which code made the objects that live.
//!
//! The problem: objects do not say where they were made, and to write it into each of them would cost every program
//! memory and time. The idea: extents are made so short that compiled code comes to the slow path of a heap check
//! every few kilobytes. There it can say where it is (the *tag*, a word of the client's), and gets an extent that has
//! just the room it asks for: what is found in that extent when the next check fails is a sample. So compiled code is
//! the same with and without samples, but for what it does on slow paths.
//!
//! ```text
//!  │◀───────── an interval ────────▶│◀ need ▶│◀──────────── the next interval ────────────▶│
//!    filled as ever                   sample    …
//! ```
//!
//! A sample stands for all bytes since the last one. Since the check that crosses the end of an interval is sampled,
//! code is sampled in proportion to the bytes it takes; intervals vary at random (from a fixed seed), so that loops
//! are not met in step. At first everything is sampled, and intervals grow with what has been allocated: a program that
//! makes little has an exact profile. Objects made by runtime calls lie in extents of their own, and are
//! sampled by the same rule, with intervals of their own; large ones always, each for itself.
//!
//! Invariant: between collections, every sample in `objects` refers to an object that was alive after the last
//! collection, or was made since. Cost: an interval of 4 KiB costs a program 2 to 5 %; memory, 32 bytes for each sample
//! that lives.

use crate::address::{Address, PAIR_BYTES, WORD};
use crate::model::{Located, ObjectModel, RefKind};
use crate::space::nursery::Extent;
use cairn_layout::object::AllocKind;

/// Bytes between samples are at most this part of what the program has allocated so far.
const PART: u64 = 1024;

/// An object that was sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The reference to it.
    pub word: u64,
    /// Its size.
    pub bytes: u64,
    /// How many allocated bytes it stands for.
    pub weight: u64,
    /// What the client's word said when it was made.
    pub tag: u64,
}

/// What was sampled, before its objects are known one by one.
enum Taken {
    Extent(Extent),
    Object { a: Address, bytes: u64, kind: AllocKind },
}

/// Allocation by compiled code, or by runtime calls.
#[derive(Default)]
struct Stream {
    /// Bytes since the last sample, and at how many the next one comes.
    since: u64,
    interval: u64,
}

impl Stream {
    /// Do `bytes` more cross the end of the interval?
    fn crosses(&self, bytes: u64) -> bool {
        self.since + bytes > self.interval
    }
}

/// See the module's header.
pub(crate) struct Sampling {
    tag: *const u64,
    /// Bytes between samples, once the program has allocated much.
    interval: u64,
    compiled: Stream,
    calls: Stream,
    allocated: u64,
    random: u64,
    /// The current extent is a sample: its tag and weight.
    current: Option<(u64, u64)>,
    taken: Vec<(Taken, u64, u64)>,
    objects: Vec<Sample>,
    /// Objects from here on are young.
    old: usize,
}

impl Sampling {
    /// `tag`: where the client keeps the word that says which code is allocating. `interval`: bytes between samples,
    /// once the program has allocated much.
    ///
    /// # Safety
    /// It can be read as long as this value exists.
    pub(crate) unsafe fn new(tag: *const u64, interval: u64) -> Sampling {
        Sampling {
            tag,
            interval,
            compiled: Stream::default(),
            calls: Stream::default(),
            allocated: 0,
            random: 0x9E37_79B9_7F4A_7C15,
            current: None,
            taken: Vec::new(),
            objects: Vec::new(),
            old: 0,
        }
    }

    /// The next sample of a stream begins: its tag, and what it stands for besides itself.
    fn begin(&mut self, of: fn(&mut Sampling) -> &mut Stream) -> (u64, u64) {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let usual = (self.allocated / PART).min(self.interval);
        let interval = usual / 2 + if usual > 0 { self.random % usual } else { 0 };
        let weight = std::mem::replace(of(self), Stream { since: 0, interval }).since;
        // SAFETY: whoever made this value has promised that `tag` can be read as long as it exists (`new`).
        (unsafe { *self.tag }, weight)
    }

    /// How long an extent for a heap check of `need` bytes is to be: just that, if it is a sample.
    pub(crate) fn extent(&mut self, need: u64) -> u64 {
        if self.compiled.crosses(need) {
            self.current = Some(self.begin(|s| &mut s.compiled));
            return need;
        }
        self.compiled.interval - self.compiled.since
    }

    /// How long an extent that is no sample should be.
    pub(crate) fn until_next(&self) -> u64 {
        self.compiled.interval.saturating_sub(self.compiled.since)
    }

    /// The current extent was filled like this, with so many bytes.
    pub(crate) fn closed(&mut self, x: Extent, bytes: u64) {
        self.allocated += bytes;
        match self.current.take() {
            // Nothing was made: whoever asked for it has asked for more in the meantime.
            Some((_, weight)) if bytes == 0 => self.compiled.since += weight,
            Some((tag, weight)) => self.taken.push((Taken::Extent(x), tag, weight + bytes)),
            None => self.compiled.since += bytes,
        }
    }

    /// A runtime call makes an object of `bytes` bytes, beside the extents: is that a sample?
    pub(crate) fn asked(&mut self, bytes: u64) -> Option<(u64, u64)> {
        self.allocated += bytes;
        if self.calls.crosses(bytes) {
            return Some(self.begin(|s| &mut s.calls));
        }
        self.calls.since += bytes;
        None
    }

    /// An object made by a runtime call is a sample that stands for `weight` bytes besides itself.
    pub(crate) fn take(&mut self, a: Address, bytes: u64, kind: AllocKind, (tag, weight): (u64, u64)) {
        self.taken.push((Taken::Object { a, bytes, kind }, tag, weight + bytes));
    }

    /// A large object was made.
    pub(crate) fn take_large(&mut self, a: Address, bytes: u64, kind: AllocKind) {
        // SAFETY: whoever made this value has promised that `tag` can be read as long as it exists (`new`).
        let tag = unsafe { *self.tag };
        self.take(a, bytes, kind, (tag, 0));
    }

    /// Finds the objects of what was sampled since the last call.
    ///
    /// # Safety
    /// All of it is initialised, and where it was.
    pub(crate) unsafe fn find<M: ObjectModel>(&mut self, model: &M) {
        for (taken, tag, weight) in std::mem::take(&mut self.taken) {
            match taken {
                Taken::Extent(x) => {
                    let bytes = x.span.bytes() - x.hi.offset_from(x.lo);
                    // SAFETY: what was sampled is initialised, and where it was (`# Safety`), so `x` is filled up to
                    // its cursors.
                    unsafe {
                        self.find_in(model, x, |own| (tag, (weight as f64 * own as f64 / bytes as f64) as u64))
                    };
                }
                Taken::Object { a, bytes, kind } => {
                    let kind = match kind {
                        AllocKind::Pair => RefKind::Pair,
                        AllocKind::Procedure => RefKind::Procedure,
                        AllocKind::Scannable | AllocKind::Leaf => RefKind::Object,
                    };
                    self.objects.push(Sample { word: M::reference(a, kind), bytes, weight, tag });
                }
            }
        }
    }

    /// Finds the objects of an extent.
    ///
    /// # Safety
    /// The extent is filled with initialised objects up to its cursors.
    unsafe fn find_in<M: ObjectModel>(&mut self, model: &M, x: Extent, share: impl Fn(u64) -> (u64, u64)) {
        let mut a = x.span.start;
        while a < x.lo {
            let (tag, weight) = share(PAIR_BYTES);
            self.objects.push(Sample { word: M::reference(a, RefKind::Pair), bytes: PAIR_BYTES, weight, tag });
            a = a.plus(PAIR_BYTES);
        }
        a = x.hi;
        while a < x.span.end {
            // SAFETY: `a` is between `hi` and the end, filled with initialised objects (`# Safety`); words of 0 lie
            // between some.
            unsafe {
                if a.load() == 0 {
                    a = a.plus(WORD);
                    continue;
                }
                let o = Located::headed(model, a);
                let bytes = o.measure.bytes;
                let (tag, weight) = share(bytes);
                self.objects.push(Sample { word: o.reference.word(), bytes, weight, tag });
                a = a.plus(bytes);
            }
        }
    }

    /// The current extent, filled up to these cursors, if it is a sample: for those who look between collections.
    pub(crate) fn look_at_current(&mut self, x: Extent) {
        if let Some((tag, weight)) = self.current.take() {
            let bytes = x.span.bytes() - x.hi.offset_from(x.lo);
            self.taken.push((Taken::Extent(x), tag, weight + bytes));
        }
    }

    /// A collection is over that looked at young objects, or at everything: what has become of each.
    pub(crate) fn survivors(&mut self, everything: bool, survivor: impl Fn(u64) -> Option<u64>) {
        let from = if everything { 0 } else { self.old };
        let mut kept = from;
        for i in from..self.objects.len() {
            let sample = self.objects[i];
            if let Some(word) = survivor(sample.word) {
                self.objects[kept] = Sample { word, ..sample };
                kept += 1;
            }
        }
        self.objects.truncate(kept);
        self.old = kept;
    }

    /// All samples whose objects may be alive.
    pub(crate) fn objects(&self) -> &[Sample] {
        &self.objects
    }
}
