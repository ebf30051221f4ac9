//! What the library that was compiled beforehand exports, as bytes.
//!
//! The problem: whoever expands code for programs on that library, the compiler or an executable that evaluates, must
//! know its names and its variables' numbers, at once and without its text. The idea: tables of numbers, read where
//! they lie, so nothing is parsed, and in an executable they are constants ([`crate::cairn_eval_main_on_library`]).
//!
//! ```text
//!  head        numbers of keys, libraries, names; bytes of text
//!  keys        text and length of each, sorted: an export's number is its place; bit 31 of the length: calls of the
//!              procedure never return
//!  libraries   text and length of each name, sorted; first of its names, and how many; `UNKNOWN`: it has to be read,
//!              because it exports macros
//!  names       text and length; what it stands for: a kind and a number
//!  text
//! ```
//!
//! All numbers have 32 bits. Invariant: bytes whose tables do not fit are no index; texts are looked at when they are
//! asked for.

use cairn_core::ir::{Import, ImportFrom};
use cairn_syntax::{BootLibrary, Exported, LibraryName};
use std::borrow::Cow;

/// The tables. Each is as long as the head says, in rows of so many words.
#[derive(Clone, Copy)]
enum Table {
    Keys,
    Libraries,
    Names,
}

const HEAD: usize = 4;
const ROWS: [usize; 3] = [2, 4, 4];
const NEVER_RETURNS: u32 = 1 << 31;
const UNKNOWN: u32 = u32::MAX;

/// The names that a library exports.
type Interface = [(String, Exported)];

/// The names and variables of the library.
pub struct LibraryIndex {
    bytes: Cow<'static, [u8]>,
    /// Where each table begins, in words, and how many rows it has.
    tables: [(usize, usize); 3],
    /// Where the text begins.
    text: usize,
}

impl LibraryIndex {
    /// The index in these bytes; `None` if they are none.
    pub fn new(bytes: Cow<'static, [u8]>) -> Option<LibraryIndex> {
        let head = |n: usize| {
            Some(u32::from_le_bytes(bytes.get(4 * n..4 * n + 4)?.try_into().expect("four bytes")) as usize)
        };
        let mut at = HEAD;
        let mut tables = [(0, 0); 3];
        for (n, words) in ROWS.into_iter().enumerate() {
            tables[n] = (at, head(n)?);
            at += words * head(n)?;
        }
        let whole = 4 * at + head(3)? == bytes.len();
        whole.then_some(LibraryIndex { bytes, tables, text: 4 * at })
    }

    /// Makes an index. Libraries have the names that they export, if they need not be read; exports are keys and
    /// whether calls of the procedure never return. Both are sorted.
    pub fn bytes(libraries: &[(String, Option<&Interface>)], exports: &[(&str, bool)]) -> Vec<u8> {
        let (mut words, mut text) = (Vec::new(), String::new());
        let mut put = |words: &mut Vec<u32>, name: &str, flag: u32| {
            words.extend([text.len() as u32, name.len() as u32 | flag]);
            text += name;
        };
        let mut names = Vec::new();
        for (key, never_returns) in exports {
            put(&mut words, key, if *never_returns { NEVER_RETURNS } else { 0 });
        }
        for (library, known) in libraries {
            put(&mut words, library, 0);
            words.extend([(names.len() / ROWS[2]) as u32, known.map_or(UNKNOWN, |k| k.len() as u32)]);
            for (name, exported) in known.unwrap_or_default() {
                put(&mut names, name, 0);
                names.extend(match exported {
                    Exported::Keyword(n) => [0, *n],
                    Exported::Primitive(n) => [1, *n],
                    Exported::Variable(n) => [2, *n],
                });
            }
        }
        let rows = [exports.len(), libraries.len(), names.len() / ROWS[2], text.len()].map(|n| n as u32);
        let numbers = rows.into_iter().chain(words).chain(names);
        numbers.flat_map(u32::to_le_bytes).chain(text.into_bytes()).collect()
    }

    /// A word of a row.
    fn word(&self, table: Table, row: usize, word: usize) -> u32 {
        let at = 4 * (self.tables[table as usize].0 + ROWS[table as usize] * row + word);
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().expect("four bytes"))
    }

    /// The text at the beginning of a row.
    fn text(&self, table: Table, row: usize) -> &str {
        let at = self.text + self.word(table, row, 0) as usize;
        let length = (self.word(table, row, 1) & !NEVER_RETURNS) as usize;
        self.bytes.get(at..at + length).and_then(|t| std::str::from_utf8(t).ok()).unwrap_or("")
    }

    /// The row of a sorted table that begins with this text.
    fn find(&self, table: Table, text: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.tables[table as usize].1);
        while low < high {
            let middle = (low + high) / 2;
            match self.text(table, middle).cmp(text) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Number of the export with this key.
    pub fn number(&self, key: &str) -> Option<u32> {
        self.find(Table::Keys, key).map(|n| n as u32)
    }
}

impl BootLibrary for LibraryIndex {
    fn contains(&self, name: &LibraryName) -> bool {
        self.find(Table::Libraries, &name.to_string()).is_some()
    }

    fn export(&self, key: &str) -> Option<Import> {
        self.variable(self.number(key)?).map(|(_, import)| import)
    }

    fn variable(&self, n: u32) -> Option<(&str, Import)> {
        let row = n as usize;
        if row >= self.tables[Table::Keys as usize].1 {
            return None;
        }
        let never_returns = self.word(Table::Keys, row, 1) & NEVER_RETURNS != 0;
        let key = self.text(Table::Keys, row);
        // `(scheme base) map`, `%car first`
        let library = key.find(if key.starts_with('(') { ") " } else { " " })?;
        let name = key[library..].split_once(' ')?.1;
        Some((name, Import { from: ImportFrom::Library(n), never_returns }))
    }

    fn home(&self, n: u32) -> Option<LibraryName> {
        let row = n as usize;
        let key = (row < self.tables[Table::Keys as usize].1).then(|| self.text(Table::Keys, row))?;
        LibraryName::parse(&key[..key.find(") ")? + 1])
    }

    fn interface(&self, name: &LibraryName) -> Option<Vec<(&str, Exported)>> {
        let library = self.find(Table::Libraries, &name.to_string())?;
        let [first, count] = [2, 3].map(|w| self.word(Table::Libraries, library, w));
        let rows = first as usize..first.checked_add(count)? as usize;
        let all = self.tables[Table::Names as usize].1;
        (count != UNKNOWN && rows.end <= all).then(|| rows.map(|row| self.exported(row)).collect())
    }
}

impl LibraryIndex {
    fn exported(&self, row: usize) -> (&str, Exported) {
        let n = self.word(Table::Names, row, 3);
        let exported = match self.word(Table::Names, row, 2) {
            0 => Exported::Keyword(n),
            1 => Exported::Primitive(n),
            _ => Exported::Variable(n),
        };
        (self.text(Table::Names, row), exported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library_loader::Files;
    use cairn_core::ir::{GlobalId, GlobalInfo, Program, TopForm};

    fn bytes() -> Vec<u8> {
        let exports = [("% append", false), ("%car car", false), ("(scheme base) error", true)];
        let base = [("car".to_string(), Exported::Primitive(5)), ("error".to_string(), Exported::Variable(2))];
        let empty = ("(scheme empty)".to_string(), Some(&[][..]));
        let libraries = [("(scheme base)".to_string(), Some(&base[..])), empty, ("(srfi 2)".to_string(), None)];
        LibraryIndex::bytes(&libraries, &exports)
    }

    /// The library in `lib/`, as programs are compiled on it.
    fn whole() -> LibraryIndex {
        let libraries = crate::library_loader::compiled_names();
        let boot = cairn_syntax::Session::new().boot_program(&libraries, &mut Files::default());
        let boot = boot.unwrap_or_else(|f| panic!("{:?}", f.errors));
        let mut exports: Vec<(&str, bool)> = boot.exports.iter().map(|(key, _)| (&**key, false)).collect();
        exports.sort();
        let interface = |l: &LibraryName| boot.interfaces.iter().find(|(n, _)| *n == l.to_string());
        let mut libraries: Vec<_> =
            libraries.iter().map(|l| (l.to_string(), interface(l).map(|(_, i)| &**i))).collect();
        libraries.sort_by(|a, b| a.0.cmp(&b.0));
        LibraryIndex::new(LibraryIndex::bytes(&libraries, &exports).into()).unwrap()
    }

    /// Only the texts of definitions that are asked for are read, each once, and a definition is that of the import.
    #[test]
    fn definitions_are_read_when_they_are_asked_for() {
        let mut session = cairn_syntax::Session::on_library(std::sync::Arc::new(whole()));
        session.keep_some_library_forms();
        let text = "(import (scheme base)) (define (f k l) (assq k (list-copy l))) (f 1 '())";
        let expanded = session.expand_program("p.scm", text, &mut Files::default());
        let mut expanded = expanded.unwrap_or_else(|f| panic!("{:?}", f.errors));
        assert!(expanded.library.is_empty(), "nothing is read for the program");
        let import = |program: &Program, name: &str| {
            let is = |g: &GlobalInfo| &*g.name == name && g.import.is_some();
            GlobalId(program.globals.iter().position(is).expect("an import") as u32)
        };
        let assq = import(&expanded.program, "assq");
        let defines = |forms: &[TopForm], g| forms.iter().any(|f| matches!(f, TopForm::Define(d, _) if *d == g));
        let read = session.read_definition(assq, &mut Files::default());
        assert!(defines(&read, assq));
        assert!(session.read_definition(assq, &mut Files::default()).is_empty(), "once is enough");
        let program = &mut expanded.program;
        session.know_more(program);
        program.forms.splice(0..0, read);
        cairn_core::verify::verify(program, cairn_core::verify::Dialect::Source).unwrap();
        assert_eq!(import(program, "assq"), assq);
        // the session goes on as if nothing had been read
        let more = session.expand_program("q.scm", "(write (f 1 '((1 2))))", &mut Files::default());
        assert!(more.is_ok_and(|m| m.missing.is_empty()));
    }

    #[test]
    fn what_was_put_in_is_found() {
        let index = LibraryIndex::new(bytes().into()).unwrap();
        let import = |key: &str| index.export(key).map(|i| (i.from, i.never_returns));
        assert_eq!(import("(scheme base) error"), Some((ImportFrom::Library(2), true)));
        assert_eq!(import("%car car"), Some((ImportFrom::Library(1), false)));
        assert_eq!(import("(scheme base)"), None);
        let names: Vec<_> = (0..4).map(|n| index.variable(n).map(|(name, _)| name)).collect();
        assert_eq!(names, [Some("append"), Some("car"), Some("error"), None]);
        let named = |name: &str| LibraryName::parse(name).unwrap();
        assert_eq!([1, 2, 3].map(|n| index.home(n)), [None, Some(named("(scheme base)")), None]);
        let contains = |name: &str| index.contains(&named(name));
        assert!(contains("(scheme base)") && contains("(srfi 2)") && !contains("(srfi 1)"));
        let interface = index.interface(&named("(scheme base)")).unwrap();
        assert_eq!(interface, [("car", Exported::Primitive(5)), ("error", Exported::Variable(2))]);
        assert_eq!(index.interface(&named("(scheme empty)")), Some(Vec::new()));
        assert!(index.interface(&named("(srfi 2)")).is_none() && index.interface(&named("(srfi 1)")).is_none());
    }

    #[test]
    fn what_is_not_whole_is_no_index() {
        let whole = bytes();
        for length in 0..whole.len() {
            assert!(LibraryIndex::new(whole[..length].to_vec().into()).is_none(), "length {length}");
        }
    }
}
