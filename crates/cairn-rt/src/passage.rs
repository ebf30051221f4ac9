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

    /// Moves to where the form has this name, if it has it once: errors of variables are known by the call or procedure
    /// around the reference.
    pub fn narrow(&mut self, name: &str) {
        let end = lexeme::datum_end(&self.text, self.start);
        let mut at = self.start;
        let mut found = std::iter::from_fn(|| {
            let lexeme = lexeme::next(&self.text, at).filter(|l| l.end <= end)?;
            at = lexeme.end;
            Some(lexeme)
        })
        .filter(|l| l.text(&self.text) == name);
        if let (Some(only), None) = (found.next(), found.next()) {
            self.start = only.start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_narrows_to_a_name_that_it_has_once() {
        let text = "(x) (+ y (f b \"b\" ; b\n  #\\b bb)) b";
        let narrowed = |name: &str, start: usize| {
            let mut passage = Passage { path: "".into(), text: text.into(), lines_before: 0, start };
            passage.narrow(name);
            passage.start
        };
        let form = text.find("(+").unwrap();
        assert_eq!(
            narrowed("b", form),
            text.find("b \"b\"").unwrap(),
            "not those in strings and comments, or outside"
        );
        assert_eq!(narrowed("x", form), form, "not there");
        assert_eq!(narrowed("b", 0), 0, "the first form has none");
        assert_eq!(narrowed("y", text.find('y').unwrap()), text.find('y').unwrap(), "the name is the form");
        let twice = "(+ b b)";
        let mut passage = Passage { path: "".into(), text: twice.into(), lines_before: 0, start: 0 };
        passage.narrow("b");
        assert_eq!(passage.start, 0, "which one is not known");
    }
}
