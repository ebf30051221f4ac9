//! Places in a text as the protocol counts them: lines from 0, and columns in UTF-16 units.

use cairn_syntax::Span;
use lsp_types::{Position, Range, TextDocumentContentChangeEvent, TextEdit};

/// Where the lines of a text begin.
pub(super) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// The lines of this text. They end with a newline, a return, or both.
    pub(super) fn new(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(i, b)| match b {
            b'\n' => true,
            b'\r' => bytes.get(i + 1) != Some(&b'\n'),
            _ => false,
        });
        Lines { starts: std::iter::once(0).chain(ends.map(|(i, _)| i + 1)).collect() }
    }

    /// The byte at a position; one behind the end of its line, or of the text, is that end.
    pub(super) fn offset(&self, text: &str, position: Position) -> usize {
        let line = position.line as usize;
        let Some(start) = self.starts.get(line).copied() else { return text.len() };
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        let line = text[start..end].trim_end_matches(['\n', '\r']);
        let mut units = 0;
        for (i, c) in line.char_indices() {
            if units >= position.character {
                return start + i;
            }
            units += c.len_utf16() as u32;
        }
        start + line.len()
    }

    /// The position of a byte.
    pub(super) fn position(&self, text: &str, offset: usize) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|s| *s <= offset) - 1;
        let before = &text[self.starts[line]..offset];
        // lines can be as long as texts, and this is asked for each word
        let units = if before.is_ascii() { before.len() } else { before.chars().map(char::len_utf16).sum() };
        Position::new(line as u32, units as u32)
    }

    /// The range of a piece of the text.
    pub(super) fn range(&self, text: &str, start: usize, end: usize) -> Range {
        Range::new(self.position(text, start), self.position(text, end.max(start)))
    }

    /// The range of a span.
    pub(super) fn of(&self, text: &str, span: Span) -> Range {
        self.range(text, span.start as usize, span.end as usize)
    }

    /// The range of a span, at most to the end of its first line: what is to be marked.
    pub(super) fn first_line_of(&self, text: &str, span: Span) -> Range {
        let start = (span.start as usize).min(text.len());
        let rest = text.get(start..).unwrap_or("");
        let end = rest.find(['\n', '\r']).map_or(text.len(), |i| start + i);
        self.range(text, start, (span.end as usize).min(end))
    }
}

/// The text after the changes of an editor, one after another.
pub(super) fn changed(mut text: String, changes: Vec<TextDocumentContentChangeEvent>) -> String {
    for change in changes {
        match change.range {
            Some(range) => {
                let lines = Lines::new(&text);
                let start = lines.offset(&text, range.start);
                let end = lines.offset(&text, range.end).max(start);
                text.replace_range(start..end, &change.text);
            }
            None => text = change.text,
        }
    }
    text
}

/// The edit of whole lines that makes one text of another; `None` if they are the same.
pub(super) fn difference(before: &str, after: &str) -> Option<TextEdit> {
    if before == after {
        return None;
    }
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - same;
    let alike = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let lines = Lines::new(before);
    let start: usize = old[..same].iter().map(|l| l.len()).sum();
    let end = before.len() - old[old.len() - alike..].iter().map(|l| l.len()).sum::<usize>();
    Some(TextEdit::new(lines.range(before, start, end), new[same..new.len() - alike].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(from: (u32, u32), to: (u32, u32), text: &str) -> TextDocumentContentChangeEvent {
        let range = Some(Range::new(Position::new(from.0, from.1), Position::new(to.0, to.1)));
        TextDocumentContentChangeEvent { range, range_length: None, text: text.into() }
    }

    #[test]
    fn columns_count_utf_16_units() {
        let text = "aλ😀b\r\nc\rd\n";
        let lines = Lines::new(text);
        for (offset, line, column) in
            [(0, 0, 0), (1, 0, 1), (3, 0, 2), (7, 0, 4), (8, 0, 5), (10, 1, 0), (12, 2, 0), (14, 3, 0)]
        {
            assert_eq!(lines.position(text, offset), Position::new(line, column), "{offset}");
            assert_eq!(lines.offset(text, Position::new(line, column)), offset, "{line}:{column}");
        }
        // inside of a pair of units, behind a line, behind the text
        assert_eq!(lines.offset(text, Position::new(0, 3)), 7);
        assert_eq!(lines.offset(text, Position::new(0, 99)), 8);
        assert_eq!(lines.offset(text, Position::new(9, 0)), text.len());
    }

    #[test]
    fn changes_follow_each_other() {
        let text = "aλ😀b\nc\n".to_string();
        let changes = vec![change((0, 2), (0, 4), "x"), change((0, 3), (1, 0), "-"), change((0, 9), (0, 9), "!")];
        assert_eq!(changed(text, changes), "aλx-c!\n");
        let whole = TextDocumentContentChangeEvent { range: None, range_length: None, text: "new".into() };
        assert_eq!(changed("old".into(), vec![whole]), "new");
    }

    #[test]
    fn differences_are_whole_lines() {
        for (before, after) in [
            ("a\nb\nc\n", "a\nx\ny\nc\n"),
            ("a\n", ""),
            ("", "b\n"),
            ("a", "a\n"),
            ("a\na\n", "a\n"),
            ("x\na", "a"),
        ] {
            let edit = difference(before, after).unwrap();
            let change = TextDocumentContentChangeEvent {
                range: Some(edit.range),
                range_length: None,
                text: edit.new_text,
            };
            assert_eq!(changed(before.into(), vec![change]), after, "{before:?}");
        }
        assert_eq!(difference("a\n", "a\n"), None);
    }
}
