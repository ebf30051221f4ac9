//! Object models: what the words of a heap mean.
//!
//! The problem: a collector must know which words refer to objects, how large an object is and where its references are;
//! that is a matter of the language, not of the algorithm. The idea: all of it is one trait, and [`crate::Heap`], the
//! tracing loops and the checker are generic over it. Everything is resolved at compile time: with [`Scheme`] the
//! loops are what they were when the layout was written into them.
//!
//! ```text
//!  word ── is_reference? ── kind ──▶ Pair        two words without header
//!                                    Object      its first word, a header, tells the size
//!                                    Procedure   its first word points at a descriptor that tells the size
//! ```
//!
//! What every model has in common: objects consist of 64-bit words at addresses divisible by 8, are at least 16 bytes long,
//! and there are at most these three kinds of reference. While a collection runs, the first word of a headed object that has
//! moved is the new reference to it; so a reference must be told from every first word. A first word of 0 is none:
//! unused words between objects are 0.

mod scheme;

use crate::address::Address;
pub use scheme::Scheme;

/// What a reference says about the object behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefKind {
    /// Two words, no header.
    Pair,
    /// The first word is the address of a descriptor, which gives the size.
    Procedure,
    /// The first word is a header.
    Object,
}

/// A word that refers to an object, and what it says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ObjectReference {
    word: u64,
    address: Address,
    kind: RefKind,
}

impl ObjectReference {
    /// The reference in this word, if it is one.
    #[inline(always)]
    pub fn from_word<M: ObjectModel>(word: u64) -> Option<ObjectReference> {
        M::is_reference(word).then(|| ObjectReference { word, address: M::address(word), kind: M::kind(word) })
    }
    /// The word.
    #[inline(always)]
    pub const fn word(self) -> u64 {
        self.word
    }
    /// Where the object starts.
    #[inline(always)]
    pub const fn address(self) -> Address {
        self.address
    }
    /// Its kind.
    #[inline(always)]
    pub const fn kind(self) -> RefKind {
        self.kind
    }
}

impl std::fmt::Debug for ObjectReference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}@{:?}", self.kind, self.address)
    }
}

/// What the collector has to know of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measure {
    /// Whole size, a multiple of 8.
    pub bytes: u64,
    /// Holds no references.
    pub leaf: bool,
    /// The client shows what else it keeps alive: [`crate::Client::trace_continuation`].
    pub continuation: bool,
}

/// See the module's header. A model without state is a unit type; one with tables is shared by the whole heap.
pub trait ObjectModel: 'static {
    /// The first word of a pair that has moved, equal to no other word; the second is the new reference.
    const PAIR_MOVED: u64;

    /// Does this word refer to an object? Asked of words of objects and of roots.
    fn is_reference(word: u64) -> bool;
    /// Does this word refer to a pair?
    fn is_pair(word: u64) -> bool;
    /// Is this reference one to an object with a header? (Hot loops ask such questions one by one: a `match` on
    /// [`ObjectModel::kind`] made them 3 % longer.)
    fn is_object(reference: u64) -> bool;
    /// The kind of this reference.
    fn kind(reference: u64) -> RefKind {
        if Self::is_pair(reference) {
            RefKind::Pair
        } else if Self::is_object(reference) {
            RefKind::Object
        } else {
            RefKind::Procedure
        }
    }
    /// Where the object of this reference starts.
    fn address(reference: u64) -> Address;
    /// [`ObjectModel::address`] of a reference to a pair.
    fn pair_address(reference: u64) -> Address;
    /// The reference to the object at `a`.
    fn reference(a: Address, kind: RefKind) -> u64;
    /// The new reference to an object of this kind (no pair) with this first word, if it has moved.
    fn moved(kind: RefKind, first: u64) -> Option<u64>;
    /// Size and nature of the object of this kind (no pair) with this first word.
    ///
    /// # Safety
    /// It is the first word of an object of this kind.
    unsafe fn measure(&self, kind: RefKind, first: u64) -> Measure;

    /// For the checker: what is wrong with this word wherever it is met, when it is a trace of freed memory or of an
    /// object that has moved.
    fn stray(word: u64) -> Option<&'static str>;
    /// For the checker: kind and measure of the headed object at `a`, which may be anything; not by the means of
    /// [`ObjectModel::measure`].
    ///
    /// # Safety
    /// The word at `a` is initialised. If it looks like the address of a descriptor, it is one.
    unsafe fn audit(&self, a: Address) -> Result<(RefKind, Measure), String>;
}
