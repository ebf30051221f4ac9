//! Scheme text as a line editor sees it: half of it may be missing.
//!
//! One pass over the characters finds tokens; what the editor wants to know follows from them: whether more lines must
//! come ([`is_complete`]), how far the next one is indented ([`indentation`]), which parenthesis belongs to which
//! ([`partner`]). The reader proper is not asked: it stops at the first mistake, and gives no tokens.

use std::ops::Range;

/// What a piece of text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token {
    Open,
    Close,
    /// `'`, `#;` and their relatives: a datum must follow.
    Prefix,
    String,
    Comment,
    Atom,
}

/// The tokens, and whether the last one is cut off by the end of the text.
pub(super) fn tokens(text: &str) -> (Vec<(Token, Range<usize>)>, bool) {
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let mut i = 0;
    let mut cut = false;
    while i < bytes.len() {
        let start = i;
        let next = bytes.get(i + 1);
        let token = match (bytes[i], next) {
            (b' ' | b'\t' | b'\n' | b'\r', _) => {
                i += 1;
                continue;
            }
            (b';', _) => {
                i = text[i..].find('\n').map_or(text.len(), |n| i + n);
                Token::Comment
            }
            (b'#', Some(b'|')) => {
                let end = block_comment_end(&bytes[i..]);
                cut = end.is_none();
                i = end.map_or(text.len(), |n| i + n);
                Token::Comment
            }
            (b'"' | b'|', _) => {
                let end = quoted_end(&bytes[i..]);
                cut = end.is_none();
                i = end.map_or(text.len(), |n| i + n);
                if bytes[start] == b'"' { Token::String } else { Token::Atom }
            }
            (b'(' | b'[', _) => {
                i += 1;
                Token::Open
            }
            (b')' | b']', _) => {
                i += 1;
                Token::Close
            }
            (b'#', Some(b';')) | (b',', Some(b'@')) => {
                i += 2;
                Token::Prefix
            }
            (b'\'' | b'`' | b',', _) => {
                i += 1;
                Token::Prefix
            }
            (b'#', Some(b'(')) => {
                i += 2;
                Token::Open
            }
            (b'#', Some(b'u')) if bytes[i..].starts_with(b"#u8(") => {
                i += 4;
                Token::Open
            }
            (b'#', Some(b'\\')) => {
                i += 2;
                i += text[i..].chars().next().map_or(0, char::len_utf8);
                i += atom_length(&text[i..]);
                Token::Atom
            }
            _ => {
                i += atom_length(&text[i..]).max(1);
                Token::Atom
            }
        };
        all.push((token, start..i));
    }
    (all, cut)
}

fn atom_length(text: &str) -> usize {
    text.find(|c: char| c.is_whitespace() || "()[]\";'`,|".contains(c)).unwrap_or(text.len())
}

/// Behind the quote that ends what begins with one.
fn quoted_end(bytes: &[u8]) -> Option<usize> {
    let mut i = 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 1,
            b if b == bytes[0] => return Some(i + 1),
            _ => {}
        }
        i += 1;
    }
    None
}

fn block_comment_end(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut i) = (0, 0);
    while i + 1 < bytes.len() {
        match &bytes[i..i + 2] {
            b"#|" => (depth, i) = (depth + 1, i + 2),
            b"|#" if depth == 1 => return Some(i + 2),
            b"|#" => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
    }
    None
}

/// The open parentheses at the end of the text, innermost last, as indices of tokens.
fn open(tokens: &[(Token, Range<usize>)]) -> Vec<usize> {
    let mut open = Vec::new();
    for (i, (token, _)) in tokens.iter().enumerate() {
        match token {
            Token::Open => open.push(i),
            Token::Close => {
                open.pop();
            }
            _ => {}
        }
    }
    open
}

/// Can the text be evaluated as it is? A parenthesis too much is for the reader to complain of.
pub(super) fn is_complete(text: &str) -> bool {
    let (tokens, cut) = tokens(text);
    let code = tokens.iter().rfind(|(t, _)| *t != Token::Comment);
    !cut && code.is_none_or(|(t, _)| *t != Token::Prefix) && open(&tokens).is_empty()
}

/// Is a string open at the end of the text? Then where its contents begin.
pub(super) fn open_string(text: &str) -> Option<usize> {
    let (tokens, cut) = tokens(text);
    let (token, range) = tokens.last()?;
    (cut && *token == Token::String).then_some(range.start + 1)
}

/// Forms whose operands are a body: it is indented by two columns.
const BODIES: &[&str] = &[
    "begin",
    "case",
    "case-lambda",
    "define",
    "delay",
    "do",
    "else",
    "guard",
    "lambda",
    "let",
    "letrec",
    "named-lambda",
    "parameterize",
    "receive",
    "syntax-rules",
    "unless",
    "when",
];

/// Columns of blanks before what follows the text in a new line, when its first line starts in column `first`.
pub(super) fn indentation(text: &str, first: usize) -> usize {
    let (tokens, cut) = tokens(text);
    let Some(innermost) = open(&tokens).pop().filter(|_| !cut) else { return 0 };
    let column = |at: usize| {
        let line = text[..at].rfind('\n').map_or(0, |n| n + 1);
        text[line..at].chars().count() + if line == 0 { first } else { 0 }
    };
    let (_, paren) = &tokens[innermost];
    let here = column(paren.start);
    let line_end = text[paren.end..].find('\n').map_or(text.len(), |n| paren.end + n);
    let mut operands = tokens[innermost + 1..].iter().filter(|(t, r)| *t != Token::Comment && r.start < line_end);
    let Some((head, range)) = operands.next() else { return here + paren.len() };
    if *head != Token::Atom {
        return here + paren.len();
    }
    let name = &text[range.clone()];
    let is_body = BODIES.contains(&name.trim_end_matches('*'))
        || name.starts_with("define-")
        || name.starts_with("with-")
        || name.starts_with("let")
        || name.starts_with("call-with-");
    match operands.next() {
        _ if is_body => here + 2,
        Some((_, operand)) => column(operand.start),
        None => here + paren.len(),
    }
}

/// The parenthesis that belongs to the one at byte `at`, or just before it.
pub(super) fn partner(text: &str, at: usize) -> Option<usize> {
    let (tokens, _) = tokens(text);
    let here = tokens.iter().position(|(t, r)| match t {
        Token::Close => r.end == at,
        Token::Open => r.start == at,
        _ => false,
    })?;
    let mut open = Vec::new();
    for (i, (token, range)) in tokens.iter().enumerate() {
        match token {
            Token::Open => open.push(i),
            Token::Close => {
                let opener = open.pop();
                if i == here {
                    return opener.map(|o| tokens[o].1.end - 1);
                }
                if opener == Some(here) {
                    return Some(range.start);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_lines_come_while_something_is_open() {
        for text in
            ["", "x", "(car x)", "'a", "\"(\"", "#\\(", "#\\)", "; (", "#| ( |#", "|(|", ")", "(a) ; (", "#(1)"]
        {
            assert!(is_complete(text), "{text}");
        }
        for text in
            ["(", "'", "#;", "(a", "\"a", "\"a\\\"", "#|", "#| #| |#", "|a", "(a ; )", "(a #\\)", "' ; a", "#u8(1"]
        {
            assert!(!is_complete(text), "{text}");
        }
    }

    #[test]
    fn lines_are_indented() {
        for (text, columns) in [
            ("(define (f x)", 2),
            ("(let ((x 1)", 6),
            ("(let* ((x 1))", 2),
            ("(f", 1),
            ("(list 1", 6),
            ("(list 1\n      (if x", 10),
            ("((f) 1", 1),
            ("(cond ((= x 1) 2)", 6),
            ("'#(1", 3),
            ("\"abc", 0),
            ("(a))", 0),
        ] {
            assert_eq!(indentation(text, 0), columns, "{text}");
        }
        assert_eq!(indentation("(define (f x)", 2), 4);
    }

    #[test]
    fn parentheses_find_each_other() {
        let text = "(a (b) \")\" #\\) c)";
        for (at, partner_at) in [(0, Some(16)), (17, Some(0)), (3, Some(5)), (6, Some(3)), (9, None), (1, None)] {
            assert_eq!(partner(text, at), partner_at, "{at}");
        }
    }

    #[test]
    fn strings_are_open_until_their_quote() {
        assert_eq!(open_string("(load \"a/b"), Some(7));
        assert_eq!(open_string("(load \"a/b\""), None);
        assert_eq!(open_string("(load"), None);
    }
}
