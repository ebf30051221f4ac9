//! What a test program tells, event by event.
//!
//! `(srfi 64)` makes a datum of each event; its header says which there are. In the program's process a [`Teller`]
//! writes them to a file, one after another, each with one system call: what was told is there, whatever becomes of the
//! process. Afterwards they are read here. A program may be killed in the middle of one, so the last may be a piece.

use cairn_rt::start_options::TestListener;
use cairn_syntax::read::Reader;
use cairn_syntax::syntax::{Datum, Names, Syntax};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Which tests are wanted: those whose name contains this text, where `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// The pattern that is written so.
    pub fn new(text: impl Into<String>) -> Pattern {
        Pattern(text.into())
    }

    /// How it is written.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Does it match the name?
    pub fn matches(&self, name: &str) -> bool {
        let mut rest = name;
        self.0.split('*').all(|part| match rest.find(part) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                true
            }
            None => false,
        })
    }
}

/// Writes events to a file.
#[derive(Debug)]
pub struct Teller {
    file: File,
    /// The tests that are run; none: all.
    wanted: Vec<Pattern>,
    /// Run no test, tell their names.
    list: bool,
}

impl Teller {
    /// To this file, which is made.
    pub fn new(file: &Path, wanted: Vec<Pattern>, list: bool) -> std::io::Result<Teller> {
        Ok(Teller { file: File::options().append(true).create(true).open(file)?, wanted, list })
    }

    fn write(&self, event: &str) {
        // without it the program is seen to have ended early
        let _ = (&self.file).write_all(format!("{event}\n").as_bytes());
    }
}

impl TestListener for Teller {
    fn told(&self, event: &str) {
        if !event.is_empty() {
            self.write(event);
        }
    }

    fn wants(&self, name: &str) -> bool {
        let wanted = self.wanted.is_empty() || self.wanted.iter().any(|w| w.matches(name));
        if wanted && self.list {
            self.write(&format!("(listed {})", quoted(name)));
        }
        wanted && !self.list
    }
}

/// A string as Scheme writes it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\r', "\\r"))
}

/// Where a test stands in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) line: usize,
    /// Its first byte, and one behind its last.
    pub(super) bytes: (usize, usize),
}

/// What came of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Pass,
    Fail,
    /// Expected to fail, but passed.
    XPass,
    /// Expected to fail, and failed.
    XFail,
    Skip,
}

/// Something that has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Group(String),
    End,
    /// So many tests in the group, and so many were announced.
    Count(usize, usize),
    /// A test begins: name, place, form.
    Test(String, Option<Place>, String),
    /// It has ended: what is known of it, by name.
    Result(Kind, Duration, Vec<(String, String)>),
    /// The program was told to end in the midst of a test: where it was.
    Stopped(String),
    /// There is a test of this full name.
    Listed(String),
}

/// The events in a file; what is no event is left out.
pub(super) fn read(text: &str) -> Vec<Event> {
    let mut names = Names::default();
    let mut data = Vec::new();
    let mut reader = Reader::new(0, text, &mut names);
    while let Ok(Some(datum)) = reader.next_datum() {
        data.push(datum);
    }
    data.iter().filter_map(|x| event(x, &names)).collect()
}

fn event(x: &Syntax, names: &Names) -> Option<Event> {
    let [head, rest @ ..] = x.parts().0 else { return None };
    let symbol = |x: &Syntax| x.as_ident().map(|id| names.name(id).to_string());
    Some(match (&*symbol(head)?, rest) {
        ("group", [name]) => Event::Group(string(name)?),
        ("end", []) => Event::End,
        ("count", [was, expected]) => Event::Count(number(was, names)?, number(expected, names)?),
        ("test", [name, place, form]) => Event::Test(string(name)?, self::place(place, names), string(form)?),
        ("result", [kind, time, facts @ ..]) => {
            let kind = match &*symbol(kind)? {
                "pass" => Kind::Pass,
                "xpass" => Kind::XPass,
                "xfail" => Kind::XFail,
                "skip" => Kind::Skip,
                _ => Kind::Fail,
            };
            let fact = |x: &Syntax| match x.parts().0 {
                [name, text] => Some((symbol(name)?, string(text)?)),
                _ => None,
            };
            let time = Duration::from_nanos(number(time, names).unwrap_or(0) as u64);
            Event::Result(kind, time, facts.iter().filter_map(fact).collect())
        }
        ("stopped", [report]) => Event::Stopped(string(report)?),
        ("listed", [name]) => Event::Listed(string(name)?),
        _ => return None,
    })
}

fn string(x: &Syntax) -> Option<String> {
    match &x.datum {
        Datum::String(s) => Some(s.to_string()),
        _ => None,
    }
}

fn number(x: &Syntax, names: &Names) -> Option<usize> {
    cairn_syntax::read::show(x, names).parse().ok()
}

fn place(x: &Syntax, names: &Names) -> Option<Place> {
    let Datum::Vector(items) = &x.datum else { return None };
    let [file, line, start, end] = &items[..] else { return None };
    let bytes = (number(start, names)?, number(end, names)?);
    Some(Place { file: string(file)?, line: number(line, names)?, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_parts_of_names() {
        let matches = |pattern: &str, name: &str| Pattern::new(pattern).matches(name);
        assert!(matches("", "x") && matches("b", "abc") && matches("abc", "abc"));
        assert!(matches("a*c", "xabcx") && matches("*", "") && matches("a*", "a"));
        assert!(!matches("c*a", "abc") && !matches("d", "abc") && !matches("aa", "a"));
        // each part behind the one before
        assert!(!matches("ab*bc", "abc") && matches("ab*bc", "ab bc"));
    }

    #[test]
    fn events_are_read_as_far_as_they_go() {
        let text = "(group \"g\")\n(test \"a\" #(\"f.scm\" 3 10 20) \"(f)\")\n(result fail 1500 (actual-value \"\\\"x\\\"\"))\n\
                    (what) 5 (count 1 2)\n(test \"b\" #f \"x\")\n(resu";
        let place = Place { file: "f.scm".into(), line: 3, bytes: (10, 20) };
        assert_eq!(
            read(text),
            [
                Event::Group("g".into()),
                Event::Test("a".into(), Some(place), "(f)".into()),
                Event::Result(
                    Kind::Fail,
                    Duration::from_nanos(1500),
                    vec![("actual-value".into(), "\"x\"".into())]
                ),
                Event::Count(1, 2),
                Event::Test("b".into(), None, "x".into()),
            ]
        );
        assert_eq!(read(&format!("(listed {})", quoted("a\"\\\n"))), [Event::Listed("a\"\\\n".into())]);
    }
}
