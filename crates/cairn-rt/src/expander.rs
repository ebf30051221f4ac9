//! The expander of a program that evaluates, as the runtime sees it: a trait, and what it answers. See
//! [`crate::evaluator`].

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
    /// Elements, and what comes after them: `Nil` for a proper list.
    List(Vec<Data>, Box<Data>),
    /// Vector.
    Vector(Vec<Data>),
    /// A part of constants of a program that occurs more than once, with the number of the cell that keeps it.
    Shared(usize, Box<Data>),
}

/// An expander for code that is evaluated while the program runs. Errors are messages for people.
pub trait Evaluator {
    /// Told once, first: the libraries that are part of the program, and the keys of its variables by number.
    fn start(&mut self, libraries: Vec<String>, keys: Vec<String>) -> Result<(), String>;

    /// A new environment of the bindings of import sets, written as text; `None`: of a program without `import`.
    fn environment(&mut self, sets: Option<&str>) -> Result<i64, String>;

    /// Code of the forms in `text`, a list.
    fn expand(&mut self, text: &str, environment: i64) -> Result<Data, String>;
}
