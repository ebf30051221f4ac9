//! The expander of a program that evaluates, as the runtime sees it: a trait, and what it answers. See
//! [`crate::evaluator`].

use crate::machine::stop_word::Stopper;
use crate::native_module::{BetterCode, Progress};
use cairn_layout::object::numeric::NumericKind;
use cairn_num::Number;

/// A datum outside of the heap.
#[derive(Clone, Debug)]
pub enum Data {
    /// The empty list.
    Nil,
    /// Boolean.
    Bool(bool),
    /// Character.
    Char(char),
    /// The unspecified value.
    Unspecified,
    /// End of file.
    Eof,
    /// Absent optional argument.
    Default,
    /// Contents of a variable before its definition.
    Unbound,
    /// Number.
    Number(Number),
    /// Symbol.
    Symbol(String),
    /// Immutable string.
    String(String),
    /// Bytevector.
    Bytes(Vec<u8>),
    /// Numeric vector that is no bytevector: its elements as they lie in memory.
    Numbers(NumericKind, Vec<u8>),
    /// Elements, and what comes after them: `Nil` for a proper list.
    List(Vec<Data>, Box<Data>),
    /// Vector.
    Vector(Vec<Data>),
    /// A part of constants of a program that occurs more than once, with the number of the cell that keeps it.
    Shared(usize, Box<Data>),
}

impl Data {
    /// Drops it without recursion: it may be nested deeper than the native stack allows.
    pub fn take_apart(self) {
        let mut parts = vec![self];
        while let Some(data) = parts.pop() {
            match data {
                Data::List(items, tail) => {
                    parts.extend(items);
                    parts.push(*tail);
                }
                Data::Vector(items) => parts.extend(items),
                Data::Shared(_, data) => parts.push(*data),
                _ => {}
            }
        }
    }
}

/// Why something cannot be expanded.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// What is wrong.
    pub message: String,
    /// What the message is about, as it is written.
    pub text: String,
    /// Advice.
    pub help: Option<String>,
    /// Where, as in code. Boxed, for the way of an error is seldom taken.
    pub place: Box<Data>,
    /// Of wrong syntax: `#(who message form subform)`, strings or `#f`, data as they are written; else `#f`.
    pub violation: Box<Data>,
    /// Files that the evaluator has not seen yet, as they come with code: the place may be in one of them.
    pub files: Vec<Data>,
}

impl Rejection {
    /// Everything but the place, in one line.
    pub fn sentence(&self) -> String {
        let mut sentence = self.message.clone();
        if !self.text.is_empty() {
            sentence += &format!(": {}", self.text);
        }
        if let Some(help) = &self.help {
            sentence += &format!(" ({help})");
        }
        sentence
    }
}

/// An expander for code that is evaluated while the program runs. Errors are messages for people.
pub trait Evaluator {
    /// Told once, first: the libraries that are part of the program, and the keys of its variables by number.
    fn start(&mut self, libraries: Vec<String>, keys: Vec<String>) -> Result<(), String>;

    /// A new environment of the bindings of import sets, written as text; `None`: of a program without `import`.
    fn environment(&mut self, sets: Option<&str>) -> Result<i64, Rejection>;

    /// Code of the form written as `text`, a list. What is written in it as a compound datum or a string stands for an
    /// object, by its place in the text.
    fn expand(&mut self, text: &str, environment: i64) -> Result<Data, Rejection>;

    /// A text whose forms are to be expanded one after another: its number. Definitions of a `whole` file go together.
    /// Places are told as if so many lines came before it.
    fn open(&mut self, text: &str, name: &str, lines_before: i32, whole: bool) -> i64;

    /// Files that are part of the program: where libraries are looked for, and path after path, each with its text.
    fn bring(&mut self, directories: Vec<String>, files: Vec<String>);

    /// Code of the next form of a text; `None` at its end.
    fn next(&mut self, text: i64, environment: i64) -> Result<Option<Data>, Rejection>;

    /// No more forms of this text are wanted.
    fn close(&mut self, text: i64);

    /// The cell of a variable, defined if it is not.
    fn variable(&mut self, name: &str, environment: i64) -> Result<i64, String>;

    /// Whether what is expanded from now on is code for a debugger.
    fn debug(&mut self, on: bool);

    /// The cell of the variable that a name means in an environment, if it has one.
    fn cell(&mut self, name: &str, environment: i64) -> Option<i64>;

    /// Code for a debugger of the procedure that stands at byte `at` of a text, defined there at the top level of an
    /// environment or of a library: `#(n code)`, where `n` is how many free variables it has.
    fn variant(&mut self, name: &str, text: &str, at: usize, environment: i64) -> Option<Data>;

    /// The names that are bound in an environment; whether they were defined there.
    fn names(&self, environment: i64) -> Vec<(String, bool)>;

    /// What to do about a name that is not defined in an environment, if there is something to say.
    fn suggestion(&mut self, name: &str, environment: i64) -> Option<String>;

    /// Does a text that is open seem to define this name at its top level? Only messages ask.
    fn is_defined_later(&self, name: &str) -> bool;

    /// What becomes of the forms in `text`: Core, printed.
    fn explain(&mut self, text: &str, environment: i64) -> Result<String, Rejection>;

    /// A form of an open text, or of one that was open, is to become native: its text, its number there, its
    /// fingerprint, and how many cells it has, as [`Evaluator::next`] gave them, then the same of forms that define
    /// what it calls; how often its lambdas were entered, which cells are bound, which hold procedures that the form
    /// with the cell has defined. The ticket for its module; `None` if there will be none. Later there may be better
    /// code for it: then a stop is requested for [`cairn_layout::machine::stop::CODE`].
    fn request(
        &mut self,
        parts: Vec<[i64; 4]>,
        entered: Vec<u32>,
        bound: Vec<bool>,
        held: Vec<bool>,
        stopper: Stopper,
    ) -> Option<i64>;

    /// The module for a ticket.
    fn ready(&mut self, ticket: i64) -> Progress;

    /// The better code that has come since it was asked for.
    fn better_code(&mut self) -> Vec<BetterCode>;
}

/// What a prompt asks of its terminal, and of the compiler; see `lib/cairn/repl.sld`.
pub trait Console: std::fmt::Debug + Send {
    /// The answer to a request. `names` are those bound at the prompt, whether they were defined there.
    fn request(&mut self, what: &str, text: &str, names: &dyn Fn() -> Vec<(String, bool)>)
    -> Result<Data, String>;
}
