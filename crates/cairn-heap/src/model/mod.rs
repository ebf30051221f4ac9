//! Object models: what the words of a heap mean.
//!
//! The problem: a collector must know which words refer to objects, how large an object is and where its references
//! are; that is a matter of the language, not of the algorithm. The idea: all of it is one trait, and
//! [`crate::Heap`], the tracing loops and the checker are generic over it. Everything is resolved at compile time:
//! with [`scheme::Scheme`] the loops are what they were when the layout was written into them.
//!
//! ```text
//!  word ── is_reference? ── kind ──▶ Pair        two words without header
//!                                    Object      its first word, a header, tells the size
//!                                    Procedure   its first word points at a descriptor that tells the size
//! ```
//!
//! What every model has in common: objects consist of 64-bit words at addresses divisible by 8, are at least 16 bytes
//! long, and there are at most these three kinds of reference. While a collection runs, the first word of a headed
//! object that has moved is the new reference to it; so a reference must be told from every first word. A first word
//! of 0 is none: unused words between objects are 0.

pub(crate) mod c;
pub(crate) mod scheme;

use crate::address::{Address, PAIR_BYTES, Span, WORD};
use crate::client::{AmbiguousVisitor, RootVisitor};

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

/// What the meta word of an object says: see [`ObjectModel::describe`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Described {
    /// The kind of the references to it.
    pub kind: RefKind,
    /// Bytes from the meta word to the object's end.
    pub whole: u64,
    /// Holds no references.
    pub leaf: bool,
    /// Of its words nothing is known.
    pub untyped: bool,
}

/// An object that was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Located {
    /// The reference to it.
    pub reference: ObjectReference,
    /// What it is like.
    pub measure: Measure,
}

impl Located {
    /// The pair at `a`.
    pub fn pair<M: ObjectModel>(a: Address) -> Located {
        let reference = ObjectReference { word: M::reference(a, RefKind::Pair), address: a, kind: RefKind::Pair };
        Located { reference, measure: Measure { bytes: PAIR_BYTES, leaf: false, continuation: false } }
    }
    /// The cell of `bytes` bytes at `a`: what it holds, its block knows.
    pub fn cell<M: ObjectModel>(a: Address, bytes: u64) -> Located {
        let kind = RefKind::Object;
        let reference = ObjectReference { word: M::reference(a, kind), address: a, kind };
        Located { reference, measure: Measure { bytes, leaf: false, continuation: false } }
    }
    /// The headed object at `a`.
    ///
    /// # Safety
    /// A headed object, initialised and not forwarded, starts at `a`.
    pub unsafe fn headed<M: ObjectModel>(model: &M, a: Address) -> Located {
        // SAFETY: a headed object is at `a` (`# Safety`), so its first word is initialised.
        let first = unsafe { a.load() };
        let kind = M::kind_of(first);
        let reference = ObjectReference { word: M::reference(a, kind), address: a, kind };
        // SAFETY: `first` is the first word of a headed object of this kind.
        Located { reference, measure: unsafe { model.measure(kind, first) } }
    }
    /// Where it lies.
    pub fn span(&self) -> Span {
        let start = self.reference.address();
        Span::new(start, start.plus(self.measure.bytes))
    }
    /// Shows the visitor the words within `part` that refer to something, or may.
    ///
    /// # Safety
    /// The object that was found is still there, whole, and nobody else uses it meanwhile.
    pub unsafe fn scan<M: ObjectModel, V: RootVisitor + AmbiguousVisitor>(
        &self,
        model: &M,
        part: Span,
        visitor: &mut V,
    ) {
        if self.measure.leaf {
            return;
        }
        let part = self.span().intersection(part);
        // SAFETY: the object is still there, and nobody else uses it meanwhile (`# Safety`); `part` is cut to it.
        unsafe {
            if self.reference.kind() == RefKind::Pair {
                visitor.words(part.start.words(), (part.bytes() / WORD) as usize);
            } else {
                model.scan(self.reference.address(), self.measure.bytes, part, visitor);
            }
        }
    }
}

/// See the module's header. A model without state is a unit type; one with tables is shared by the whole heap.
pub trait ObjectModel: Sync + 'static {
    /// The first word of a pair that has moved, equal to no other word; the second is the new reference.
    const PAIR_MOVED: u64;
    /// What is in the place of a weak reference to an object that has died: no reference.
    const BROKEN: u64;
    /// Every word of an object that is no leaf is a reference, or is not one by [`ObjectModel::is_reference`]. Then
    /// memory is scanned word by word, without knowing where objects start.
    const SELF_DESCRIBING: bool;
    /// There are objects with words that may or may not be references.
    const AMBIGUOUS: bool;

    /// Does this word refer to an object? Asked of words of objects and of roots.
    fn is_reference(word: u64) -> bool;
    /// Does this word, which is no reference otherwise, refer to something without being its address: to a compact
    /// record ([`crate::space`]), or to what lies inside of an object that stands still ([`ObjectModel::inside`])?
    fn is_indirect(_word: u64) -> bool {
        false
    }
    /// If such a word refers to what lies inside of an object from [`Heap::alloc_still`](crate::Heap::alloc_still): how
    /// many bytes behind the region's start.
    fn inside(_word: u64) -> Option<u64> {
        None
    }
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
    /// Where the object of this reference starts. Collectors may ask for other words, too, before they ask what they
    /// are; any address will do then.
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
    /// `first` is the first word of an object of this kind, and is not that of one that has moved.
    unsafe fn measure(&self, kind: RefKind, first: u64) -> Measure;
    /// The kind of the references to a headed object with this first word.
    fn kind_of(first: u64) -> RefKind;
    /// Shows the visitor the words within `part` of the headed object at `a`, of so many bytes, that refer to
    /// something, or may.
    ///
    /// # Safety
    /// An initialised object of this model, of `bytes` bytes and no leaf, is at `a`. Nobody else uses it meanwhile.
    unsafe fn scan<V: RootVisitor + AmbiguousVisitor>(&self, a: Address, bytes: u64, part: Span, visitor: &mut V);

    /// Does a prefix (`cairn_layout::collector`) stand before objects of this kind, if the collector asks for prefixes?
    fn is_prefixed(kind: RefKind) -> bool;
    /// What the *meta word* of an object says: its prefix, if the collector asks for prefixes and this kind has one,
    /// else its first word. The two highest bits are clear.
    fn describe(&self, meta: u64) -> Described;

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
