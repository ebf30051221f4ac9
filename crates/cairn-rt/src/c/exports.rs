//! Scheme procedures that C calls by name, in a shared library: their types, and a call of one.

use cairn_layout::c::{CType, Shape, VectorType, exported};
use std::cell::Cell;
use std::ffi::CString;
use std::ptr::{copy_nonoverlapping, slice_from_raw_parts};

/// The exported procedures, by number: [`super`] has the story.
#[derive(Default)]
pub struct Exports(Vec<Export>);

#[derive(Default)]
struct Export {
    /// For messages.
    name: String,
    /// The types ([`exported`]), that of the result first; empty until the program has come to the `c-export`.
    types: Vec<u8>,
    /// How those of them that are structures travel; empty if none is.
    shapes: Vec<Shape>,
}

impl Exports {
    /// The procedure with this number is there.
    pub fn add(&mut self, number: usize, name: String, types: &[u8], shapes: Vec<Shape>) {
        if self.0.len() <= number {
            self.0.resize_with(number + 1, Export::default);
        }
        self.0[number] = Export { name, types: types.to_vec(), shapes };
    }

    /// The types of a procedure, that of the result first; empty if it is not there yet.
    pub fn types(&self, number: usize) -> &[u8] {
        self.0.get(number).map_or(&[], |e| &e.types)
    }

    /// How the structure travels that the procedure returns.
    pub fn result_shape(&self, number: usize) -> Option<Shape> {
        self.0.get(number)?.shapes.first().copied()
    }

    /// The vectors among the arguments, each with its place among them.
    ///
    /// # Safety
    /// The words are those of a call of this procedure that is under way.
    unsafe fn vectors(&self, number: usize, words: *const u64) -> impl Iterator<Item = (usize, CVector)> {
        // SAFETY: `words` are those of a call of this procedure that is under way (`# Safety`).
        let arguments = unsafe { self.arguments(number, words) };
        arguments.into_iter().enumerate().filter_map(|(i, a)| match a {
            Argument::Vector(v) => Some((i, v)),
            _ => None,
        })
    }

    /// The arguments of a call. The first word is an address for the result; then come those of the arguments: of a
    /// structure its address, of a vector address and length, of all others what they are.
    ///
    /// # Safety
    /// The words are those of a call of this procedure that is under way.
    pub unsafe fn arguments(&self, number: usize, words: *const u64) -> Vec<Argument> {
        let Some(Export { types, shapes, .. }) = self.0.get(number) else { return Vec::new() };
        let mut at = words;
        let mut next = || {
            // SAFETY: a call under way has passed a word for the result and as many as the types want (`# Safety`), and
            // `next` is asked for as many.
            unsafe {
                at = at.add(1);
                *at
            }
        };
        let argument = |(i, code): (usize, &u8)| match exported(*code) {
            (_, Some(t)) => Argument::Vector(CVector { t, address: next(), length: next() as usize }),
            (CType::Struct, None) => {
                // SAFETY: C has passed the address of a structure of this shape, which stays as long as the call is
                // under way (`# Safety`).
                Argument::Struct(unsafe { (*slice_from_raw_parts(next() as *const u8, shapes[i].bytes)).to_vec() })
            }
            (t, None) => Argument::Word(t, next()),
        };
        types.iter().enumerate().skip(1).map(argument).collect()
    }

    /// The longest vector that C passes and that no heap has room for, if there is one: its length.
    ///
    /// # Safety
    /// The words are those of a call of this procedure that is under way.
    pub unsafe fn too_long(&self, number: usize, words: *const u64) -> Option<usize> {
        // SAFETY: `words` are those of a call of this procedure that is under way (`# Safety`).
        let vectors = unsafe { self.vectors(number, words) };
        vectors.filter(|(_, v)| v.address != 0).map(|(_, v)| v.length).filter(|n| *n > LENGTH_MAX).max()
    }

    /// Puts what the procedure has changed in vectors among its arguments into C's.
    ///
    /// # Safety
    /// The words are those of a call of this procedure that is under way, and `elements(i)` has as many bytes as
    /// argument `i`, a vector, has with C.
    pub unsafe fn give_back<'a>(&self, number: usize, words: *const u64, elements: impl Fn(usize) -> &'a [u8]) {
        // SAFETY: C has passed `length` elements at `address`, which stay as long as the call is under way, and
        // `elements(i)` has as many bytes (`# Safety`). What is the same is not written, for it may lie where nobody
        // can write.
        unsafe {
            for (i, v) in self.vectors(number, words).filter(|(_, v)| v.address != 0 && !v.t.constant) {
                let (own, theirs) = (elements(i), v.address as *mut u8);
                if *own != *slice_from_raw_parts(theirs, own.len()) {
                    copy_nonoverlapping(own.as_ptr(), theirs, own.len());
                }
            }
        }
    }

    /// Its name.
    pub fn name(&self, number: usize) -> &str {
        self.0.get(number).map_or("", |e| &e.name)
    }
}

/// What C calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    /// An exported procedure, by number.
    Export(usize),
    /// A callback, by number.
    Callback(usize),
}

impl Callee {
    /// As the library knows it: the number of a callback, or −1 less that of an exported procedure.
    pub fn code(self) -> i64 {
        match self {
            Callee::Export(n) => -1 - n as i64,
            Callee::Callback(n) => n as i64,
        }
    }
}

/// An argument of a callback or an exported procedure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// A word of this type.
    Word(CType, u64),
    /// The bytes of a structure.
    Struct(Vec<u8>),
    /// A vector of C's.
    Vector(CVector),
}

/// The elements of a homogeneous vector in C's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CVector {
    /// What they are.
    pub t: VectorType,
    /// Where they are; 0 for `#f`.
    pub address: u64,
    /// How many there are.
    pub length: usize,
}

/// Most elements of a vector that C passes.
const LENGTH_MAX: usize = 1 << 40;

/// With what something is called.
pub enum Given {
    /// By name: see [`Exports::arguments`].
    Words(*const u64),
    /// A callback.
    Arguments(Vec<Argument>),
}

/// A call of Scheme by name, or of a callback when nothing that Scheme has called is under way; on the stack of who
/// calls.
pub struct ExportCall {
    /// What is called.
    pub callee: Callee,
    /// The arguments.
    pub given: Given,
    /// What it returns; 0 after an error.
    pub result: u64,
    /// The string that it returns.
    pub text: Option<CString>,
    /// The structure that it returns.
    pub bytes: Vec<u8>,
    /// The vector that it returns, in whole words, and how many elements it has.
    pub vector: Option<(Vec<u64>, usize)>,
    /// What went wrong.
    pub error: Option<String>,
    /// Has Scheme said what comes of it?
    pub answered: bool,
}

impl ExportCall {
    /// A call with these arguments.
    pub fn new(callee: Callee, given: Given) -> ExportCall {
        ExportCall {
            callee,
            given,
            result: 0,
            text: None,
            bytes: Vec::new(),
            vector: None,
            error: None,
            answered: false,
        }
    }

    /// It returns this word.
    pub fn answer(&mut self, word: u64) {
        (self.result, self.answered) = (word, true);
    }

    /// It returns this string.
    pub fn answer_text(&mut self, text: CString) {
        self.text = Some(text);
        self.answered = true;
    }

    /// It returns this structure.
    pub fn answer_struct(&mut self, bytes: &[u8]) {
        (self.bytes, self.answered) = (bytes.to_vec(), true);
    }

    /// It returns a vector with these elements.
    pub fn answer_vector(&mut self, bytes: &[u8], length: usize) {
        let word = |part: &[u8]| {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            u64::from_ne_bytes(word)
        };
        self.vector = Some((bytes.chunks(8).map(word).collect(), length));
        self.answered = true;
    }

    /// It returns 0, for this reason.
    pub fn refuse(&mut self, error: String) {
        (self.result, self.text, self.error, self.answered) = (0, None, Some(error), true);
        self.vector = None;
        self.bytes.clear();
    }
}

thread_local! {
    static HELPS: Cell<bool> = const { Cell::new(false) };
}

/// Does a function of C that is called on an OS thread of its own: Scheme waits for it.
pub fn helping<R>(work: impl FnOnce() -> R) -> R {
    HELPS.set(true);
    let result = work();
    HELPS.set(false);
    result
}

/// Does Scheme wait for a function of C that is under way on this OS thread?
pub fn is_helper() -> bool {
    HELPS.get()
}
