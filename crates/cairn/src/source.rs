//! Texts of programs, and what was seen of files.

use crate::error::Error;
use cairn_eval::library_loader::unreadable;
use cairn_rt::describe_io;
use std::io::Read;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// The text of a program, and the name that it goes by: libraries and included files are looked for beside it.
#[derive(Clone, Debug)]
pub struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// Nobody has written it: backtraces have no places of it.
    pub(crate) hidden: bool,
}

impl Source {
    /// A program that need not be a file.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Source {
        Source { path: path.into(), text: text.into(), hidden: false }
    }

    /// A file, read now and only now: it may be a pipe. `-` is the standard input.
    pub fn read(path: impl Into<PathBuf>) -> Result<Source, Error> {
        let path = path.into();
        if path == Path::new("-") {
            let mut bytes = Vec::new();
            std::io::stdin()
                .read_to_end(&mut bytes)
                .map_err(|e| format!("cannot read the standard input: {}", describe_io(&e)))?;
            let path = PathBuf::from(STANDARD_INPUT);
            return Ok(Source::new(path.clone(), utf8(&path, bytes)?));
        }
        let text = read_text(&path)?;
        Ok(Source::new(path, text))
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The name of a program that comes from there.
const STANDARD_INPUT: &str = "(standard input)";

/// The directory that stands for the library in the binary: `CAIRN_LIB`, unless it is empty.
pub fn library_directory_of_environment() -> Option<PathBuf> {
    std::env::var_os("CAIRN_LIB").filter(|d| !d.is_empty()).map(PathBuf::from)
}

/// What a file was when it was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    /// It had this hash.
    Text(u128),
    /// There was none, or something else of that name.
    Absent,
}

impl Seen {
    /// The file as it is now; `None` when it cannot be read.
    pub(crate) fn now(path: &Path) -> Option<Seen> {
        if !path.is_file() {
            return Some(Seen::Absent);
        }
        Some(Seen::Text(xxh3_128(&std::fs::read(path).ok()?)))
    }
}

/// Texts of files, and names of files that were not there.
pub(crate) type Texts = Vec<(PathBuf, Option<String>)>;

/// Reads a source file, with a message fit for the user.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|e| unreadable(path, &e))?;
    utf8(path, bytes)
}

/// The text of a source file.
fn utf8(path: &Path, bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|e| {
        let (before, rest) = e.as_bytes().split_at(e.utf8_error().valid_up_to());
        let before = String::from_utf8_lossy(before);
        let (line, column) = cairn_syntax::diagnostic::line_column(&before, before.len() as u32);
        format!(
            "{}:{line}:{column}: the byte {:02X} is not valid UTF-8, and source files are UTF-8 (iconv converts others)",
            path.display(),
            rest[0]
        )
    })
}
