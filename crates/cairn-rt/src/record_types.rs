//! Record types: what stands behind a type word.
//!
//! The problem: a record says in its header of which type it is, by a number (`cairn_layout::object::record`); names,
//! fields and ancestors must be found from there, also where no runtime is at hand, as when something is printed.
//!
//! The idea: numbers are unique in the process. Each runtime gives back the numbers of the types that it made when it
//! is dropped, along with all objects that know them. A type lives as long as its runtime: a program that defines types
//! in a loop keeps them all.

use cairn_layout::Value;
use cairn_layout::object::record::{
    DEPTH_MAX, NUMBER_BITS, Slot, ancestry, compact, is_type_word, number, type_word,
};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: Box<str>,
    /// Where it is and what it may hold.
    pub slot: Slot,
    /// What the program calls a field may be several.
    pub part: Part,
}

/// How a field belongs to what the program calls one: arrays and records inside of records are several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// It is one.
    Whole,
    /// The first of several.
    First,
    /// One more.
    More,
}

/// What becomes of records that are sent to another place ([`crate::places`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// They are copied.
    Copied,
    /// They stand for something of the place they are in.
    Never,
    /// They are hash tables, which depend on addresses.
    Table,
}

/// What became of a type that is declared compact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compact {
    /// Its records lie in a pool.
    Pool,
    /// Its records are plain ones: the collector knows no pools.
    Plain,
}

/// A record type.
#[derive(Debug)]
pub struct RecordType {
    /// The type word, set by [`define`].
    pub word: Value,
    /// The type's name as the program writes it, perhaps with angle brackets.
    pub name: Box<str>,
    /// All fields, inherited ones first.
    pub fields: Vec<Field>,
    /// How many of them are printed, from the first.
    pub shown: AtomicUsize,
    /// What [`Sent`] says.
    pub sent: AtomicU8,
    /// How many of them are inherited.
    pub own: usize,
    /// The type that it extends.
    pub parent: Option<Value>,
    /// Nothing extends it.
    pub sealed: bool,
    /// Its records hold no values.
    pub raw: bool,
    /// Its records are compact, or would be with another collector.
    pub compact: Option<Compact>,
    /// Words of its records.
    pub length: u64,
    /// References to its records as elements of structure vectors may be kept.
    pub kept: AtomicBool,
}

impl RecordType {
    /// The fields that are printed.
    pub fn shown(&self) -> &[Field] {
        &self.fields[..self.shown.load(Ordering::Relaxed).min(self.fields.len())]
    }

    /// What becomes of its records that are sent.
    pub fn sent(&self) -> Sent {
        match self.sent.load(Ordering::Relaxed) {
            0 => Sent::Copied,
            1 => Sent::Never,
            _ => Sent::Table,
        }
    }

    /// Sets what becomes of its records that are sent: 0, 1, 2, in the order of [`Sent`].
    pub fn set_sent(&self, how: i64) {
        self.sent.store(how as u8, Ordering::Relaxed);
    }
}

/// All types.
struct Types {
    /// By number, from 1.
    all: Vec<Option<Arc<RecordType>>>,
    /// Numbers that are free.
    free: Vec<u32>,
}

/// Ancestors in an entry of the table that compiled code reads ([`ancestry`]).
const ANCESTORS: usize = DEPTH_MAX as usize;

/// An entry of that table.
#[repr(C)]
struct Display {
    word: AtomicU64,
    ancestors: [AtomicU64; ANCESTORS],
}

const _: () = assert!(
    size_of::<Display>() == 1 << ancestry::ENTRY_SHIFT
        && std::mem::offset_of!(Display, word) == ancestry::WORD as usize
        && std::mem::offset_of!(Display, ancestors) == ancestry::ANCESTORS as usize
);

impl Display {
    /// An entry that says nothing.
    const fn none() -> Display {
        Display { word: AtomicU64::new(0), ancestors: [const { AtomicU64::new(0) }; ANCESTORS] }
    }
}

/// One entry more than there are numbers that fit: whoever looks in an entry for a type of the greatest depth reads the
/// word of the next one, which is not that type's, for those have no entries.
static ANCESTRY: [Display; ancestry::ENTRIES as usize + 1] =
    [const { Display::none() }; ancestry::ENTRIES as usize + 1];

/// Where the table of ancestors is.
pub fn ancestry_table() -> *const u8 {
    (&raw const ANCESTRY).cast()
}

/// Sets the entry of a type whose ancestors, the oldest first, are these. While it changes it says nothing.
fn set_display(number: u32, word: u64, ancestors: &[Value]) {
    if u64::from(number) >= ancestry::ENTRIES {
        return;
    }
    let entry = &ANCESTRY[number as usize];
    entry.word.store(0, Ordering::Release);
    if ancestors.len() >= ANCESTORS {
        return;
    }
    for (i, place) in entry.ancestors.iter().enumerate() {
        place.store(ancestors.get(i).map_or(0, |a| a.0), Ordering::Release);
    }
    entry.word.store(word, Ordering::Release);
}

static TYPES: RwLock<Types> = RwLock::new(Types { all: Vec::new(), free: Vec::new() });

/// Makes a type known; the result is its type word.
pub fn define(mut t: RecordType) -> Value {
    let mut types = TYPES.write().unwrap_or_else(PoisonError::into_inner);
    let Types { all, free } = &mut *types;
    let n = free.pop().unwrap_or_else(|| {
        all.push(None);
        all.len() as u32
    });
    assert!(n < (1 << NUMBER_BITS) - 1, "more record types than there are numbers");
    let mut ancestors = Vec::new();
    let mut next = t.parent;
    while let Some(a) = next {
        ancestors.push(a);
        next = all.get((number(a.0) as usize).wrapping_sub(1)).and_then(|t| t.as_ref()?.parent);
    }
    ancestors.reverse();
    let word = Value(match t.compact {
        Some(Compact::Pool) if n < compact::TYPES => compact::word(n),
        _ => type_word(t.raw, ancestors.len() as u64, n, t.length),
    });
    t.word = word;
    if !ancestors.is_empty() {
        set_display(n, word.0, &ancestors);
    }
    all[n as usize - 1] = Some(Arc::new(t));
    word
}

/// The type of this type word; `None` if it is none.
pub fn get(word: Value) -> Option<Arc<RecordType>> {
    if !is_type_word(word.0) {
        return None;
    }
    let types = TYPES.read().unwrap_or_else(PoisonError::into_inner);
    types.all.get((number(word.0) as usize).wrapping_sub(1))?.clone().filter(|t| t.word == word)
}

/// The type word of the type with this number.
pub fn numbered(n: u32) -> Option<Value> {
    let types = TYPES.read().unwrap_or_else(PoisonError::into_inner);
    types.all.get((n as usize).wrapping_sub(1))?.as_ref().map(|t| t.word)
}

/// The type words that a runtime has made. Dropping it gives their numbers back.
#[derive(Debug, Default)]
pub struct Made(Vec<Value>);

impl Made {
    /// One more.
    pub fn push(&mut self, word: Value) {
        self.0.push(word);
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let mut types = TYPES.write().unwrap_or_else(PoisonError::into_inner);
        for word in self.0.drain(..) {
            if compact::is_type(word.0) {
                // Another place may have records of it.
                continue;
            }
            let n = number(word.0);
            types.all[n as usize - 1] = None;
            set_display(n, 0, &[]);
            types.free.push(n);
        }
    }
}

/// The name of a record type, without the angle brackets of `<point>`.
pub fn type_name(rtd: Value) -> Option<String> {
    let name = get(rtd)?.name.to_string();
    let inner = name.strip_prefix('<').and_then(|t| t.strip_suffix('>')).filter(|t| !t.is_empty());
    Some(inner.map(str::to_string).unwrap_or(name))
}
