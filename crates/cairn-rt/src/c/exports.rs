//! Scheme procedures that C calls by name, in a shared library: their types, and a call of one.

use cairn_layout::c::CType;
use std::cell::Cell;
use std::ffi::CString;

/// The exported procedures, by number: [`super`] has the story.
#[derive(Default)]
pub struct Exports(Vec<Export>);

#[derive(Default)]
struct Export {
    /// For messages.
    name: String,
    /// The types, that of the result first; empty until the program has come to the `c-export`.
    types: Vec<u8>,
}

impl Exports {
    /// The procedure with this number is there.
    pub fn add(&mut self, number: usize, name: String, types: &[u8]) {
        if self.0.len() <= number {
            self.0.resize_with(number + 1, Export::default);
        }
        self.0[number] = Export { name, types: types.to_vec() };
    }

    /// The types of a procedure, that of the result first; empty if it is not there yet.
    pub fn types(&self, number: usize) -> &[u8] {
        self.0.get(number).map_or(&[], |e| &e.types)
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
}

/// With what something is called.
pub enum Given {
    /// By name: a word for each argument.
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
    /// What went wrong.
    pub error: Option<String>,
    /// Has Scheme said what comes of it?
    pub answered: bool,
}

impl ExportCall {
    /// A call with these arguments.
    pub fn new(callee: Callee, given: Given) -> ExportCall {
        ExportCall { callee, given, result: 0, text: None, bytes: Vec::new(), error: None, answered: false }
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

    /// It returns 0, for this reason.
    pub fn refuse(&mut self, error: String) {
        (self.result, self.text, self.error, self.answered) = (0, None, Some(error), true);
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
