//! Source spans and messages about them.

/// A piece of a source file: byte offsets, end exclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Span {
    /// Index of the file in the session's source table.
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span.
    pub fn new(file: u32, start: usize, end: usize) -> Span {
        Span { file, start: start as u32, end: end as u32 }
    }
    /// Is this a proper part of `other`?
    pub fn is_strictly_inside(self, other: Span) -> bool {
        self != other && self.file == other.file && self.start >= other.start && self.end <= other.end
    }
    /// From the start of `self` to the end of `other` (same file).
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start, end: other.end }
    }
}

/// A message about a place in the source: what is wrong, where, what else to look at, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Other places that matter.
    pub notes: Vec<(Span, String)>,
    /// What to do, for instance the right form.
    pub help: Option<String>,
    /// Is it likely that other messages are consequences of this? Then it is shown without them.
    pub root_cause: bool,
    /// Does one change of the text mend all that say this of it? Then it is shown once a file.
    pub mended_once: bool,
    /// Does it say that nothing defines a name? What a program evaluates or loads may do so.
    pub undefined: bool,
    /// What a transformer has said by `syntax-violation`, for programs that evaluate.
    pub violation: Option<Box<Violation>>,
}

/// The parts of R6RS's condition of wrong syntax; data as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Who found it.
    pub who: Option<String>,
    /// The transformer's message.
    pub message: String,
    /// The wrong form.
    pub form: String,
    /// The part that makes it wrong.
    pub subform: Option<String>,
}

impl Diagnostic {
    /// A message at a place.
    pub fn new(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            message: message.into(),
            span,
            notes: Vec::new(),
            help: None,
            root_cause: false,
            mended_once: false,
            undefined: false,
            violation: None,
        }
    }
    /// Adds a second place.
    pub fn note(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.notes.push((span, text.into()));
        self
    }
    /// One change mends all that say this.
    pub fn mended_once(mut self) -> Diagnostic {
        self.mended_once = true;
        self
    }
    /// Nothing defines a name.
    pub fn undefined(mut self) -> Diagnostic {
        self.undefined = true;
        self
    }
    /// Others may follow from it.
    pub fn root_cause(mut self) -> Diagnostic {
        self.root_cause = true;
        self
    }
    /// Adds advice.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }
}

/// Line and column, both from 1, of a byte offset; columns count characters.
pub fn line_column(text: &str, offset: u32) -> (usize, usize) {
    let mut end = (offset as usize).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.bytes().filter(|b| *b == b'\n').count() + 1, before[start..].chars().count() + 1)
}
