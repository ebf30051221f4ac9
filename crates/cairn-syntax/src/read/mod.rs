//! The reader: text to [`Syntax`].
//!
//! All of R7RS section 7.1: comments of three kinds, labels, `|symbols|`, strings and characters with every
//! escape, bytevectors, every number syntax (through `cairn-num`), `#!fold-case`. Beyond R7RS it knows
//! `#!eof`, `#!default` and `#!unspecified`, and a first line `#!/…` is a comment. Of R6RS there are square brackets
//! for parentheses, each of which closes what its own kind opened; `#vu8(…)`; and `#'x`, `` #`x ``, `#,x`, `#,@x` for
//! the forms `syntax`, `quasisyntax`, `unsyntax`, `unsyntax-splicing`.
//!
//! The parser keeps its own stack of open constructs ([`Frame`]): nesting depth is bounded by memory only.
//! A label makes [`Datum::Labeled`] of a datum that has an identity, and so does each reference behind it: what is
//! labelled is one object. A reference inside of its own datum is [`Datum::Reference`].

mod show;
mod token;

use show::packing;
pub use show::show;

use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::{Datum, Items, Label, Names, Syntax};
use cairn_layout::lexeme;
use cairn_layout::object::numeric::NumericKind;
use cairn_num::{Int, Number};
use rustc_hash::FxHashMap;

/// An open construct.
enum Frame {
    /// `joined` holds where inner lists were opened right after a dot: `(a . (b` goes on as `(a b`, because
    /// copying tails level by level would be quadratic. `base` is the number of items when the last was joined.
    List {
        start: usize,
        items: Vec<Syntax>,
        tail: Tail,
        joined: Vec<usize>,
        base: usize,
    },
    Vector {
        start: usize,
        items: Vec<Syntax>,
    },
    Bytes {
        start: usize,
        items: Vec<u8>,
    },
    /// `#f64(…)` and its relatives.
    Numbers {
        start: usize,
        kind: NumericKind,
        bytes: Vec<u8>,
    },
    /// `'x` and its relatives: the name of the form, where the prefix is.
    Prefix {
        start: usize,
        end: usize,
        name: &'static str,
    },
    /// `#;`
    Comment {
        start: usize,
    },
    /// `#n=`
    Label {
        start: usize,
        end: usize,
        label: u64,
    },
}

enum Tail {
    None,
    Expected(Span),
    Read(Syntax),
    /// The tail was a list, joined to the items.
    Closed(Span),
}

/// What is known of a label while a datum is read.
enum Labelled {
    /// Its datum is being read.
    Open(Label),
    Known(Syntax),
}

/// Reads datums from a text, one by one.
pub struct Reader<'a> {
    file: u32,
    text: &'a str,
    bytes: &'a [u8],
    pos: usize,
    fold_case: bool,
    names: &'a mut Names,
    stack: Vec<Frame>,
    labels: FxHashMap<u64, Labelled>,
    incomplete: bool,
    /// Data read so far.
    count: usize,
}

/// A text with more data than this is an error: in memory it takes gigabytes.
const MAX_DATA: usize = 10_000_000;

type Read<T> = Result<T, Box<Diagnostic>>;

/// Reads the whole text. Stops at the first error.
pub fn read_all(file: u32, text: &str, names: &mut Names, fold_case: bool) -> Result<Vec<Syntax>, Diagnostic> {
    let mut reader = Reader::new(file, text, names);
    reader.fold_case = fold_case;
    let mut out = Vec::new();
    loop {
        match reader.next_datum() {
            Ok(Some(x)) => out.push(x),
            Ok(None) => return Ok(out),
            Err(e) => return Err(*e),
        }
    }
}

/// Most mistakes that are looked for in one text.
pub(crate) const MAX_MISTAKES: usize = 60;

/// Reads all of a text whatever is wrong with it: the data, what is wrong, and where. Behind a mistake reading goes on
/// with the next form that begins a line; what the damaged form holds until there is one of the data.
pub fn read_recovering(file: u32, text: &str, names: &mut Names) -> (Vec<Syntax>, Vec<Diagnostic>, Vec<Span>) {
    let (mut data, mut mistakes, mut damaged) = (Vec::new(), Vec::<Diagnostic>::new(), Vec::new());
    let (mut from, mut fold_case) = (None, false);
    while mistakes.len() < MAX_MISTAKES {
        let mut reader = Reader::new(file, text, names);
        (reader.pos, reader.fold_case) = (from.unwrap_or(reader.pos), fold_case);
        let mistake = loop {
            let begin = reader.pos;
            match reader.next_datum() {
                Ok(Some(x)) => data.push(x),
                Ok(None) => break None,
                Err(e) => break Some((begin, e)),
            }
        };
        let Some((begin, mistake)) = mistake else { break };
        fold_case = reader.fold_case;
        let mut atmosphere = std::iter::successors(lexeme::next(text, begin), |l| lexeme::next(text, l.end));
        let start = atmosphere.find(|l| !l.is_atmosphere() || !l.whole).map_or(text.len(), |l| l.start);
        if matches!(text.as_bytes().get(start), Some(b')' | b']')) {
            mistakes.push(*mistake);
            from = Some(start + 1);
            continue;
        }
        let end = text[start..].find("\n(").map_or(text.len(), |i| start + i + 1);
        damaged.push(Span::new(file, start, end));
        let mut piece = Reader::new(file, &text[..end], names);
        (piece.pos, piece.fold_case) = (start, fold_case);
        // The mistake is in a form behind this one: then this one has no end.
        mistakes.push(match piece.next_datum() {
            Err(mut open) if mistake.span.start as usize >= end => {
                open.notes.truncate(0);
                let note = "a form at the left margin inside of it: is a `)` missing before this?";
                open.note(Span::new(file, end, end + 1), note)
            }
            _ => *mistake,
        });
        (piece.pos, piece.fold_case) = (start, fold_case);
        piece.stack.clear();
        piece.labels.clear();
        data.extend(piece.damaged_datum());
        from = Some(end);
    }
    (data, mistakes, damaged)
}

impl<'a> Reader<'a> {
    /// A reader at the start of `text`; `file` goes into the spans.
    pub fn new(file: u32, text: &'a str, names: &'a mut Names) -> Reader<'a> {
        let mut reader = Reader {
            file,
            text,
            bytes: text.as_bytes(),
            pos: 0,
            fold_case: false,
            names,
            stack: Vec::new(),
            labels: FxHashMap::default(),
            incomplete: false,
            count: 0,
        };
        if text.starts_with('\u{feff}') {
            reader.pos = 3;
        }
        if text[reader.pos..].starts_with("#!/") || text[reader.pos..].starts_with("#! ") {
            reader.skip_line();
        }
        reader
    }

    /// Did the last error come from the text ending too early? More input could help.
    pub fn incomplete(&self) -> bool {
        self.incomplete
    }

    /// Byte offset of the next unread character.
    pub fn position(&self) -> usize {
        self.pos
    }

    /// The next datum, or `None` at the end of the text.
    pub fn next_datum(&mut self) -> Read<Option<Syntax>> {
        self.stack.clear();
        self.labels.clear();
        self.rest_of_datum()
    }

    /// What can be read of a datum with mistakes, the last of which may be that its end is missing.
    fn damaged_datum(&mut self) -> Option<Syntax> {
        for _ in 0..MAX_MISTAKES {
            let before = self.pos;
            match self.rest_of_datum() {
                Ok(Some(x)) => return Some(x),
                Ok(None) => return None,
                Err(_) if self.pos == self.bytes.len() => break,
                Err(_) if self.pos == before => {
                    self.pos = lexeme::next(self.text, before).map_or(self.bytes.len(), |l| l.end);
                }
                Err(_) => {}
            }
        }
        let mut inner: Option<Syntax> = None;
        while let Some(frame) = self.stack.pop() {
            let end = self.pos;
            match frame {
                Frame::List { start, mut items, tail, .. } => {
                    items.extend(match tail {
                        Tail::Read(tail) => Some(tail),
                        _ => None,
                    });
                    items.extend(inner.take());
                    inner = Some(Syntax::list(items, self.span(start, end)));
                }
                Frame::Vector { start, mut items } => {
                    items.extend(inner.take());
                    inner = Some(Syntax::new(Datum::Vector(items.into()), self.span(start, end)));
                }
                Frame::Comment { .. } => inner = None,
                _ => {}
            }
        }
        inner
    }

    fn rest_of_datum(&mut self) -> Read<Option<Syntax>> {
        loop {
            self.skip_atmosphere()?;
            let start = self.pos;
            let Some(&b) = self.bytes.get(start) else {
                return if self.stack.is_empty() { Ok(None) } else { Err(self.unfinished()) };
            };
            let datum = match b {
                b'(' | b'[' => {
                    self.pos += 1;
                    self.open(start);
                    continue;
                }
                b')' | b']' => {
                    self.pos += 1;
                    self.check_kind(start)?;
                    if self.close_joined(start)? {
                        continue;
                    }
                    self.close(start)?
                }
                b'\'' => {
                    self.prefix(1, "quote");
                    continue;
                }
                b'`' => {
                    self.prefix(1, "quasiquote");
                    continue;
                }
                b',' => {
                    if self.bytes.get(start + 1) == Some(&b'@') {
                        self.prefix(2, "unquote-splicing");
                    } else {
                        self.prefix(1, "unquote");
                    }
                    continue;
                }
                b'"' => self.string()?,
                b'|' => self.quoted_symbol()?,
                b'{' | b'}' => {
                    let c = b as char;
                    return Err(self
                        .error(start, start + 1, format!("`{c}` is not used in R7RS"))
                        .help("write ( and ) instead")
                        .into());
                }
                b'#' => match self.hash()? {
                    Some(x) => x,
                    None => continue,
                },
                b'.' if self.lone_dot() => {
                    self.pos += 1;
                    self.dot(start)?;
                    continue;
                }
                _ => self.atom()?,
            };
            if let Some(x) = self.deliver(datum)? {
                return Ok(Some(x));
            }
        }
    }

    /// Hands a finished datum to the innermost open construct; returns it when there is none.
    fn deliver(&mut self, mut x: Syntax) -> Read<Option<Syntax>> {
        self.count += 1;
        if self.count > MAX_DATA {
            return Err(Diagnostic::new(x.span, format!("this text holds more than {MAX_DATA} data"))
                .help("keep large data in a file, and read it at run time")
                .into());
        }
        loop {
            match self.stack.last_mut() {
                None => return Ok(Some(x)),
                Some(Frame::List { items, tail, .. }) => match tail {
                    Tail::None => items.push(x),
                    Tail::Expected(_) => *tail = Tail::Read(x),
                    Tail::Read(Syntax { span: earlier, .. }) | Tail::Closed(earlier) => {
                        let earlier = *earlier;
                        return Err(Diagnostic::new(x.span, "more than one datum after the dot")
                            .note(earlier, "the tail of the list is already here")
                            .help("(a b . tail)")
                            .into());
                    }
                },
                Some(Frame::Vector { items, .. }) => items.push(x),
                Some(Frame::Bytes { items, .. }) => match &x.datum {
                    Datum::Number(n) if let Number::Int(Int::Fix(k @ 0..=255)) = **n => items.push(k as u8),
                    _ => {
                        return Err(Diagnostic::new(x.span, "not a byte")
                            .help("a bytevector holds exact integers from 0 to 255: #u8(0 10 255)")
                            .into());
                    }
                },
                Some(Frame::Numbers { kind, bytes, .. }) => {
                    let packed = match &x.datum {
                        Datum::Number(n) => packing(*kind).pack(n),
                        _ => None,
                    };
                    let Some(packed) = packed else {
                        let message = format!("no element of {}", kind.with_article());
                        return Err(Diagnostic::new(x.span, message).help(numbers_help(*kind)).into());
                    };
                    bytes.extend_from_slice(&packed[..kind.bytes()]);
                }
                Some(Frame::Comment { .. }) => {
                    self.stack.pop();
                }
                Some(Frame::Prefix { start, end, name }) => {
                    let (start, end, name) = (*start, *end, *name);
                    self.stack.pop();
                    let head = Syntax::ident(self.names.intern(name), self.span(start, end));
                    let span = Span { start: start as u32, ..x.span };
                    x = Syntax::list(vec![head, x], span);
                    continue;
                }
                Some(Frame::Label { start, end, label }) => {
                    let (start, end, label) = (*start, *end, *label);
                    self.stack.pop();
                    x.span.start = start as u32;
                    if let Some(Labelled::Open(known)) = self.labels.get(&label) {
                        if matches!(x.datum, Datum::Reference(of) if of.id == known.id) {
                            return Err(self.error(start, end, "a label that stands for itself").into());
                        }
                        if has_identity(&x.datum) {
                            let span = x.span;
                            x = Syntax::new(Datum::Labeled(*known, Items::from(vec![x])), span);
                        }
                    }
                    self.labels.insert(label, Labelled::Known(x.clone()));
                    continue;
                }
            }
            return Ok(None);
        }
    }

    pub(super) fn prefix(&mut self, len: usize, name: &'static str) {
        let start = self.pos;
        self.pos += len;
        self.stack.push(Frame::Prefix { start, end: self.pos, name });
    }

    fn open(&mut self, start: usize) {
        if let Some(Frame::List { items, tail: tail @ Tail::Expected(_), joined, base, .. }) =
            self.stack.last_mut()
        {
            *tail = Tail::None;
            joined.push(start);
            *base = items.len();
            return;
        }
        self.stack.push(Frame::List { start, items: Vec::new(), tail: Tail::None, joined: Vec::new(), base: 0 });
    }

    /// A parenthesis may not close what a bracket opened, nor a bracket what a parenthesis opened.
    fn check_kind(&self, at: usize) -> Read<()> {
        let (opened, opener) = match self.stack.last() {
            Some(Frame::List { start, joined, .. }) => {
                let opened = joined.last().copied().unwrap_or(*start);
                (opened, self.bytes[opened])
            }
            Some(Frame::Vector { start, .. } | Frame::Bytes { start, .. } | Frame::Numbers { start, .. }) => {
                (*start, b'(')
            }
            _ => return Ok(()),
        };
        let closer = self.bytes[at];
        if (opener == b'[') == (closer == b']') {
            return Ok(());
        }
        let (opener, closer) = (opener as char, closer as char);
        Err(self
            .error(at, at + 1, format!("`{closer}` does not close `{opener}`"))
            .note(self.span(opened, opened + 1), format!("this `{opener}` is open"))
            .into())
    }

    /// Does the parenthesis close a joined list?
    fn close_joined(&mut self, at: usize) -> Read<bool> {
        let span = self.span(at, at + 1);
        match self.stack.last_mut() {
            Some(Frame::List { tail, joined, .. }) if !joined.is_empty() => {
                if let Tail::Expected(dot) = tail {
                    return Err(Diagnostic::new(*dot, "nothing follows the dot").help("(a b . tail)").into());
                }
                if let Tail::None = tail {
                    *tail = Tail::Closed(span);
                }
                joined.pop();
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn close(&mut self, at: usize) -> Read<Syntax> {
        let end = at + 1;
        let square = self.bytes[at] == b']';
        match self.stack.pop() {
            Some(Frame::List { start, items, tail, .. }) => {
                let span = self.span(start, end);
                match tail {
                    Tail::None | Tail::Closed(_) => Ok(Syntax::list(items, span)),
                    Tail::Read(tail) => Ok(Syntax::dotted(items, tail, span)),
                    Tail::Expected(dot) => {
                        Err(Diagnostic::new(dot, "nothing follows the dot").help("(a b . tail)").into())
                    }
                }
            }
            Some(Frame::Vector { start, mut items }) => {
                self.fill_vector(start, &mut items)?;
                Ok(Syntax::new(Datum::Vector(items.into()), self.span(start, end)))
            }
            Some(Frame::Bytes { start, items }) => {
                Ok(Syntax::new(Datum::Bytes(items.into()), self.span(start, end)))
            }
            Some(Frame::Numbers { start, kind, bytes }) => {
                Ok(Syntax::new(Datum::Numbers(kind, bytes.into()), self.span(start, end)))
            }
            Some(Frame::Prefix { start, end, .. }) => {
                Err(self.error(start, end, "no datum follows this prefix").into())
            }
            Some(Frame::Comment { start }) => Err(self.error(start, start + 2, "no datum follows `#;`").into()),
            Some(Frame::Label { start, end, .. }) => {
                Err(self.error(start, end, "no datum follows this label").into())
            }
            None => Err(self
                .error(at, end, format!("this {} closes nothing", if square { "bracket" } else { "parenthesis" }))
                .help("remove it, or look for one too many earlier in the form before it")
                .into()),
        }
    }

    /// Of a vector with a length, `#5(1 2)`, the last element, or 0, stands for those that are left out.
    fn fill_vector(&self, start: usize, items: &mut Vec<Syntax>) -> Read<()> {
        let digits = &self.text[start + 1..][..self.text[start + 1..].find('(').unwrap_or(0)];
        if digits.is_empty() {
            return Ok(());
        }
        let behind = start + 1 + digits.len();
        let length = match digits.parse::<usize>() {
            Ok(n) if n <= LONGEST_FILLED => n,
            _ => {
                let help = format!("at most {LONGEST_FILLED} can be written so: (make-vector {digits} 0)");
                return Err(self.error(start, behind, "this vector is too long").help(help).into());
            }
        };
        if items.len() > length {
            let message = format!("this vector has {} elements, more than its length", items.len());
            return Err(self.error(start, behind, message).help(format!("#{}(…), or #(…)", items.len())).into());
        }
        let zero = || Syntax::new(Datum::Number(Number::Int(Int::Fix(0)).into()), self.span(start, behind));
        let last = items.last().cloned().unwrap_or_else(zero);
        items.resize(length, last);
        Ok(())
    }

    fn lone_dot(&self) -> bool {
        self.bytes.get(self.pos + 1).is_none_or(|b| lexeme::is_delimiter(*b))
    }

    fn dot(&mut self, at: usize) -> Read<()> {
        let span = self.span(at, at + 1);
        match self.stack.last_mut() {
            Some(Frame::List { items, tail, base, .. }) if items.len() > *base && matches!(tail, Tail::None) => {
                *tail = Tail::Expected(span);
                Ok(())
            }
            _ => Err(Diagnostic::new(span, "misplaced dot").help("(a b . tail)").into()),
        }
    }

    fn unfinished(&mut self) -> Box<Diagnostic> {
        self.incomplete = true;
        let at_end = self.span(self.bytes.len(), self.bytes.len());
        let frame = self.stack.last().expect("only called inside of a construct");
        let (start, end, what) = match *frame {
            Frame::List { start, .. } if self.bytes[start] == b'[' => {
                (start, start + 1, "this bracket is never closed")
            }
            Frame::List { start, .. } => (start, start + 1, "this parenthesis is never closed"),
            Frame::Vector { start, .. } => (start, start + 2, "this vector is never closed"),
            Frame::Bytes { start, .. } => (start, start + 4, "this bytevector is never closed"),
            Frame::Numbers { start, kind, .. } => {
                (start, start + 2 + kind.name().len(), "this vector is never closed")
            }
            Frame::Prefix { start, end, .. } => (start, end, "no datum follows this prefix"),
            Frame::Comment { start } => (start, start + 2, "no datum follows `#;`"),
            Frame::Label { start, end, .. } => (start, end, "no datum follows this label"),
        };
        let mut d = self.error(start, end, what).note(at_end, "the text ends here");
        // A form at the left margin inside of an open one: the parenthesis is probably missing before it.
        let outer = self.stack.iter().find_map(|f| match f {
            Frame::List { start, .. } | Frame::Vector { start, .. } => Some(*start),
            _ => None,
        });
        let from = outer.unwrap_or(start) + 1;
        if let Some(i) = self.text.get(from..).and_then(|t| t.find("\n(")) {
            let at = from + i + 1;
            d = d.note(
                self.span(at, at + 1),
                "a form at the left margin inside of it: is a `)` missing before this?",
            );
        }
        d.into()
    }

    fn label(&mut self, start: usize, label: u64, reference: bool) -> Read<Option<Syntax>> {
        let end = self.pos;
        if reference {
            let x = match self.labels.get_mut(&label) {
                Some(Labelled::Known(x)) => Syntax::new(x.datum.clone(), self.span(start, end)),
                Some(Labelled::Open(known)) => {
                    known.cyclic = true;
                    let datum = Datum::Reference(*known);
                    Syntax::new(datum, self.span(start, end))
                }
                None => {
                    return Err(self
                        .error(start, end, format!("label #{label}= is not defined before this"))
                        .into());
                }
            };
            return Ok(Some(x));
        }
        if self.labels.insert(label, Labelled::Open(self.names.label())).is_some() {
            return Err(self.error(start, end, format!("label #{label}= is defined twice in one datum")).into());
        }
        self.stack.push(Frame::Label { start, end, label });
        Ok(None)
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }

    fn error(&self, start: usize, end: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.span(start, end), message)
    }
}

/// The longest vector that `#5(0)` may stand for.
const LONGEST_FILLED: usize = 1 << 20;

fn numbers_help(kind: NumericKind) -> String {
    match kind.part().integers() {
        Some((lo, hi)) => format!("it holds exact integers from {lo} to {hi}: #{}(1 2 3)", kind.name()),
        None if kind.is_complex() => format!("it holds inexact numbers: #{}(1.5 2.0+1.0i)", kind.name()),
        None => format!("it holds inexact real numbers: #{}(1.5 2.0)", kind.name()),
    }
}

/// Can two equal data of this kind be different objects?
fn has_identity(datum: &Datum) -> bool {
    matches!(
        datum,
        Datum::List(_)
            | Datum::Dotted(_)
            | Datum::Vector(_)
            | Datum::String(_)
            | Datum::Bytes(_)
            | Datum::Numbers(..)
            | Datum::Labeled(..)
            | Datum::Reference(_)
    )
}
