//! Libraries by name, and where they come from: files, or what was compiled beforehand.

use cairn_core::ir::Import;
use std::fmt;
use std::rc::Rc;

/// What a program without `import` imports.
pub const DEFAULT_LIBRARIES: &[&str] = &[
    "base",
    "case-lambda",
    "char",
    "complex",
    "cxr",
    "eval",
    "file",
    "inexact",
    "lazy",
    "load",
    "process-context",
    "r5rs",
    "read",
    "repl",
    "time",
    "write",
];

/// A part of a library's name.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum NamePart {
    /// `scheme` in `(scheme base)`.
    Symbol(Rc<str>),
    /// `1` in `(srfi 1)`.
    Number(u64),
    /// `"zlib.h"` in `(c "zlib.h" "z")`: a header of C, what it is linked with, an option of C's compiler.
    Text(Rc<str>),
}

/// The name of a library.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LibraryName(pub Vec<NamePart>);

impl LibraryName {
    /// A name of symbols.
    pub fn of(parts: &[&str]) -> LibraryName {
        LibraryName(parts.iter().map(|p| NamePart::Symbol((*p).into())).collect())
    }
    /// The name that is written so, of plain identifiers and numbers: `(scheme base)`.
    pub fn parse(text: &str) -> Option<LibraryName> {
        let parts = text.strip_prefix('(')?.strip_suffix(')')?;
        let part = |p: &str| match p.parse() {
            Ok(n) => NamePart::Number(n),
            Err(_) => NamePart::Symbol(p.into()),
        };
        Some(LibraryName(parts.split_whitespace().map(part).collect()))
    }
    /// What a library of bindings of C headers is made from; `None` of another library.
    pub fn c_headers(&self) -> Option<Vec<&str>> {
        let [NamePart::Symbol(family), parts @ ..] = &self.0[..] else { return None };
        let texts = parts.iter().map(|p| match p {
            NamePart::Text(text) => Some(&**text),
            _ => None,
        });
        texts.collect::<Option<Vec<&str>>>().filter(|p| &**family == "c" && !p.is_empty())
    }
    /// The usual path of its file, without extension: `scheme/base`.
    pub fn path(&self) -> String {
        let parts: Vec<String> = self.0.iter().map(|p| p.to_string()).collect();
        parts.join("/")
    }
}

impl fmt::Display for NamePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NamePart::Symbol(s) => f.write_str(s),
            NamePart::Number(n) => write!(f, "{n}"),
            NamePart::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl fmt::Display for LibraryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, part) in self.0.iter().enumerate() {
            write!(f, "{}{part}", if i > 0 { " " } else { "" })?;
        }
        f.write_str(")")
    }
}

/// Where libraries and included files come from.
pub trait Loader {
    /// Path and text of the file that defines the library, `None` when there is no such library, an error when
    /// it cannot be read.
    fn load_library(&mut self, name: &LibraryName) -> Result<Option<(String, String)>, String>;
    /// Path and text of a file included by the file `from` as `path`.
    fn load_include(&mut self, from: &str, path: &str) -> Result<(String, String), String>;
    /// Names of the libraries that are always there, for who has forgotten to import one.
    fn library_names(&self) -> Vec<LibraryName> {
        Vec::new()
    }
    /// The directories where libraries are looked for, for who finds none.
    fn directories_searched(&self) -> Vec<String> {
        Vec::new()
    }
    /// A file that would define this library, were it not built in.
    fn file_in_vain(&self, _name: &LibraryName) -> Option<String> {
        None
    }
    /// Is this library part of Cairn's own `lib/`? Its code takes the call site of the user in messages.
    fn is_builtin(&self, name: &LibraryName) -> bool {
        matches!(name.0.first(), Some(NamePart::Symbol(s)) if matches!(&**s, "scheme" | "srfi" | "cairn" | "rnrs"))
    }
}

/// A library that was compiled beforehand.
pub trait BootLibrary: Send + Sync {
    /// Is this one of its parts?
    fn contains(&self, name: &LibraryName) -> bool;
    /// The variable with this key, and its number.
    fn export(&self, key: &str) -> Option<Import>;
    /// The name of the variable of this number, and how it is imported.
    fn variable(&self, number: u32) -> Option<(&str, Import)>;
    /// The part whose text defines the variable of this number; `None` of what the expander makes by itself.
    fn home(&self, number: u32) -> Option<LibraryName>;
    /// What a part exports; `None` for parts that have to be read, because they export macros.
    fn interface(&self, name: &LibraryName) -> Option<Vec<(&str, Exported)>>;
}

/// What a name stands for that a library exports, by numbers that only this very compiler understands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exported {
    /// A keyword of the language.
    Keyword(u32),
    /// A primitive.
    Primitive(u32),
    /// A variable: the number of its key.
    Variable(u32),
}
