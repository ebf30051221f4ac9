//! `#lang` lines, which stand for imports.

use std::borrow::Cow;

/// The text with blanks for such a line.
pub(crate) fn without_language(text: &str) -> Cow<'_, str> {
    match language_line(text) {
        Some(line) => format!("{}{}{}", &text[..line.start], " ".repeat(line.len()), &text[line.end..]).into(),
        None => text.into(),
    }
}

/// Where `#lang …` is, if that is the first thing in a text behind comments.
pub(super) fn language_line(text: &str) -> Option<std::ops::Range<usize>> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("#lang ") {
            return Some(start..start + line.trim_end().len());
        }
        if !line.trim().is_empty() && !line.starts_with(';') {
            return None;
        }
        start += line.len();
    }
    None
}
