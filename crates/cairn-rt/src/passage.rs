//! Places in texts, for messages.

use cairn_layout::lexeme;
use std::borrow::Cow;

/// A position for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Line and column of a byte offset.
pub fn position(text: &str, offset: usize) -> Position {
    let offset = (0..=offset.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    Position { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
}

/// A place in a text.
pub struct Passage<'a> {
    /// What the text is called.
    pub path: Cow<'a, str>,
    /// The text, or its end.
    pub text: Cow<'a, str>,
    /// Lines of the text before this one; less than none if the text has some that nobody has written.
    pub lines_before: isize,
    /// Byte offset in `text`.
    pub start: usize,
}

impl Passage<'_> {
    /// The line and column.
    pub fn position(&self) -> Position {
        let p = position(&self.text, self.start);
        Position { line: p.line.saturating_add_signed(self.lines_before), ..p }
    }

    /// The text of the form there.
    pub fn form(&self) -> Option<&str> {
        self.text.get(self.start..lexeme::datum_end(&self.text, self.start))
    }
}
