//! The lists around a place, in a text that may be unfinished.
//!
//! A parenthesis at the left margin begins a new form whatever is still open before it, as the reader has it when it
//! goes on behind a mistake.

use cairn_layout::lexeme::{self, Kind, Lexeme};

/// A list that is open at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Open {
    /// Its parenthesis.
    pub(super) start: usize,
    /// Its first datum, if that is a name.
    pub(super) head: Option<(usize, usize)>,
    /// Data in it that begin before the place.
    pub(super) data: usize,
    /// Is it quoted?
    pub(super) quoted: bool,
}

/// What is at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Within {
    /// Program text.
    Code,
    /// A string or a character.
    Literal,
    /// A comment.
    Comment,
}

/// The lists around a place, outermost first, and what is there.
pub(super) fn around(text: &str, place: usize) -> (Vec<Open>, Within) {
    let mut open: Vec<Open> = Vec::new();
    let mut after_prefix = false;
    let mut quote = false;
    for l in lexeme::lexemes(text) {
        if l.start >= place {
            break;
        }
        let is_inside = place < l.end || !l.whole;
        match l.kind {
            Kind::LineComment if is_inside || !l.text(text).ends_with(['\n', '\r']) => {
                return (open, Within::Comment);
            }
            Kind::BlockComment if is_inside => return (open, Within::Comment),
            Kind::String | Kind::Character if is_inside => return (open, Within::Literal),
            Kind::Space | Kind::LineComment | Kind::BlockComment => {}
            Kind::DatumComment | Kind::Prefix => {
                if !after_prefix {
                    count(&mut open, None);
                }
                quote = l.text(text) == "'";
                after_prefix = true;
            }
            Kind::Open => {
                if begins_line(text, l.start) {
                    open.clear();
                }
                if !after_prefix {
                    count(&mut open, None);
                }
                let quoted = quote && after_prefix || open.last().is_some_and(|o| o.quoted);
                open.push(Open { start: l.start, head: None, data: 0, quoted });
                (after_prefix, quote) = (false, false);
            }
            Kind::Close => {
                open.pop();
                (after_prefix, quote) = (false, false);
            }
            _ => {
                if !after_prefix {
                    count(&mut open, Some(l).filter(|l| matches!(l.kind, Kind::Atom | Kind::Symbol)));
                }
                (after_prefix, quote) = (false, false);
            }
        }
    }
    (open, Within::Code)
}

/// A datum begins in the innermost list.
fn count(open: &mut [Open], name: Option<Lexeme>) {
    if let Some(list) = open.last_mut() {
        if list.data == 0 {
            list.head = name.map(|l| (l.start, l.end));
        }
        list.data += 1;
    }
}

/// Does a parenthesis here begin a form, whatever is open?
fn begins_line(text: &str, at: usize) -> bool {
    at == 0 || text.as_bytes()[at - 1] == b'\n'
}

/// Comment lines right before the line of a place, without semicolons.
pub(crate) fn comment_above(text: &str, place: usize) -> Option<String> {
    let start = text[..place].rfind('\n')? + 1;
    let mut lines: Vec<&str> = Vec::new();
    for line in text[..start].lines().rev() {
        let Some(comment) = line.trim_start().strip_prefix(';') else { break };
        // the heading of a section
        if comment.starts_with(";;;") {
            break;
        }
        let comment = comment.trim_start_matches(';');
        lines.push(comment.strip_prefix(' ').unwrap_or(comment).trim_end());
    }
    lines.reverse();
    (!lines.is_empty()).then(|| lines.join("\n").trim().to_string()).filter(|t| !t.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Heads and data of the lists around the mark `‸`.
    fn lists(marked: &str) -> (Vec<(String, usize)>, Within) {
        let place = marked.find('‸').unwrap();
        let text = marked.replace('‸', "");
        let (open, within) = around(&text, place);
        let shown = open.iter().map(|o| (o.head.map_or(String::new(), |(a, b)| text[a..b].to_string()), o.data));
        (shown.collect(), within)
    }

    #[test]
    fn lists_are_found_around_a_place() {
        let list = |head: &str, n| (head.to_string(), n);
        assert_eq!(lists("(f (g x ‸) y)"), (vec![list("f", 2), list("g", 2)], Within::Code));
        assert_eq!(lists("(f 'a ,(b) \"c\" ‸"), (vec![list("f", 4)], Within::Code));
        assert_eq!(lists("(f (unfinished\n(g ‸"), (vec![list("g", 1)], Within::Code));
        assert_eq!(lists("((a) ‸)"), (vec![list("", 1)], Within::Code));
        assert_eq!(lists("(f \"a‸b\")").1, Within::Literal);
        assert_eq!(lists("(f ; a‸b\n)").1, Within::Comment);
        assert_eq!(lists("; a‸").1, Within::Comment);
        assert_eq!(lists("; a\n‸").1, Within::Code);
        assert_eq!(lists("#| ‸").1, Within::Comment);
        assert_eq!(lists("(f)‸").0, vec![]);
    }

    #[test]
    fn comments_above_are_those_that_touch() {
        let text = ";; far\n\n;;; Adds.\n;; λ\n(define (f) 1)\n;;;; Section\n(define x 1)\n";
        let at = |what: &str| comment_above(text, text.find(what).unwrap());
        assert_eq!(at("(define (f"), Some("Adds.\nλ".into()));
        assert_eq!(at("(define x"), None);
    }
}
