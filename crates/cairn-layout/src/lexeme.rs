//! Where the lexemes of a program's text end.
//!
//! The problem: many look at Scheme text: the reader to compile it, the runtime to mark the expression at a
//! [`crate::code::Site`], which says only where that begins, the formatter, the prompt, an editor's questions. Half of
//! the text may be missing. The idea: how far a lexeme goes is said here, once; what it means is the reader's business
//! (`cairn-syntax`).
//!
//! All offsets are in bytes, and at character boundaries.

use crate::object::numeric::NumericKind;

/// Bytes that end a symbol, number, character or boolean.
const DELIMITERS: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b" \t\n\r\x0C()\";|'`,[]{}";
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i] as usize] = true;
        i += 1;
    }
    table
};

/// Ends a symbol, number, character or boolean?
#[inline]
pub fn is_delimiter(b: u8) -> bool {
    DELIMITERS[b as usize]
}

/// The end of the run of what is no delimiter. The semicolon of an escape, `\x3b;`, is part of it.
pub fn run_end(text: &str, start: usize) -> usize {
    let mut at = start;
    while let Some(&b) = text.as_bytes().get(at) {
        if is_delimiter(b) {
            break;
        }
        if b == b'\\'
            && let Some(end) = hex_escape_end(text, at)
        {
            at = end;
            continue;
        }
        if b < 0x80 {
            at += 1;
        } else {
            let Some(c) = text[at..].chars().next().filter(|c| !c.is_whitespace()) else { break };
            at += c.len_utf8();
        }
    }
    at
}

/// The end of the escape that begins here, if it is one: `\x`, hexadecimal digits, a semicolon.
pub fn hex_escape_end(text: &str, start: usize) -> Option<usize> {
    let rest = text[start..].strip_prefix("\\x").or_else(|| text[start..].strip_prefix("\\X"))?;
    let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
    (digits > 0 && rest.as_bytes().get(digits) == Some(&b';')).then_some(start + 2 + digits + 1)
}

/// Behind the end of the line: a newline, a return, or the return of both, whose newline remains as white space.
pub fn line_end(text: &str, start: usize) -> usize {
    text[start..].find(['\n', '\r']).map_or(text.len(), |i| start + i + 1)
}

/// The end of the comment that begins with `#|`, if it has one.
pub fn block_comment_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (start, 0usize);
    loop {
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'#'), Some(b'|')) => {
                depth += 1;
                at += 2;
            }
            (Some(b'|'), Some(b'#')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            }
            (Some(_), _) => at += 1,
            (None, _) => return None,
        }
    }
}

/// The end of the character that begins with `#\`, if there is one.
pub fn character_end(text: &str, start: usize) -> Option<usize> {
    let first = text[start + 2..].chars().next()?;
    let end = start + 2 + first.len_utf8();
    Some(if first.is_alphanumeric() || !first.is_ascii() { run_end(text, end) } else { end })
}

/// The end of the string or `|symbol|` that begins here, if it has one.
pub fn delimited_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = bytes[start];
    let mut at = start + 1;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 1 + text.get(at + 1..)?.chars().next()?.len_utf8(),
            b if b == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// What a lexeme is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// White space.
    Space,
    /// `; …` with the end of its line, or a first line `#!/…`.
    LineComment,
    /// `#| … |#`.
    BlockComment,
    /// `#;`.
    DatumComment,
    /// `(`, `[`, `#(`, `#u8(` and its relatives.
    Open,
    /// `)`, `]`.
    Close,
    /// `'`, `` ` ``, `,`, `,@`, `#0=`: a datum must follow.
    Prefix,
    /// `"…"`.
    String,
    /// `|…|`.
    Symbol,
    /// `#\x`.
    Character,
    /// `#!fold-case` and its relatives, which are no data.
    Directive,
    /// A symbol, number, boolean, `#!eof` and its relatives, reference to a label, or dot; a brace, which the reader
    /// refuses.
    Atom,
}

/// A lexeme: from where to where, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lexeme {
    /// What it is.
    pub kind: Kind,
    /// First byte.
    pub start: usize,
    /// Behind the last byte.
    pub end: usize,
    /// Does it have its end? Otherwise the text's end cuts it off.
    pub whole: bool,
}

impl Lexeme {
    /// Its text.
    pub fn text(self, all: &str) -> &str {
        &all[self.start..self.end]
    }
    /// White space or a comment; not `#;`, which needs the datum behind it.
    pub fn is_atmosphere(self) -> bool {
        matches!(self.kind, Kind::Space | Kind::LineComment | Kind::BlockComment)
    }
}

/// The lexeme that begins at `start`, unless the text ends there. Whatever the text is, lexemes follow each other
/// without gaps to its end.
pub fn next(text: &str, start: usize) -> Option<Lexeme> {
    let bytes = text.as_bytes();
    let b = *bytes.get(start)?;
    let following = bytes.get(start + 1);
    let (kind, end) = match b {
        b'(' | b'[' => (Kind::Open, Some(start + 1)),
        b')' | b']' => (Kind::Close, Some(start + 1)),
        b'{' | b'}' => (Kind::Atom, Some(start + 1)),
        b';' => (Kind::LineComment, Some(line_end(text, start))),
        b'"' => (Kind::String, delimited_end(text, start)),
        b'|' => (Kind::Symbol, delimited_end(text, start)),
        b'\'' | b'`' => (Kind::Prefix, Some(start + 1)),
        b',' => (Kind::Prefix, Some(start + 1 + usize::from(following == Some(&b'@')))),
        b'#' => match following {
            Some(b'|') => (Kind::BlockComment, block_comment_end(text, start)),
            Some(b';') => (Kind::DatumComment, Some(start + 2)),
            Some(b'\\') => (Kind::Character, character_end(text, start)),
            Some(b'\'' | b'`') => (Kind::Prefix, Some(start + 2)),
            Some(b',') => (Kind::Prefix, Some(start + 2 + usize::from(bytes.get(start + 2) == Some(&b'@')))),
            Some(b'!') if matches!(start, 0 | BOM) && matches!(bytes.get(start + 2), Some(b'/' | b' ')) => {
                (Kind::LineComment, Some(line_end(text, start)))
            }
            Some(b'!') => {
                let end = run_end(text, start + 1);
                let is_datum = DATA_OF_DIRECTIVES.contains(&&text[start..end]);
                (if is_datum { Kind::Atom } else { Kind::Directive }, Some(end))
            }
            _ => {
                let end = run_end(text, start + 1);
                let digits = bytes[start + 1..end].iter().take_while(|b| b.is_ascii_digit()).count();
                match bytes.get(start + 1 + digits) {
                    Some(b'=' | b'#') if digits > 0 => {
                        let label = if bytes[start + 1 + digits] == b'=' { Kind::Prefix } else { Kind::Atom };
                        (label, Some(start + 2 + digits))
                    }
                    _ if bytes.get(end) == Some(&b'(') && opens_vector(&text[start + 1..end]) => {
                        (Kind::Open, Some(end + 1))
                    }
                    _ => (Kind::Atom, Some(end)),
                }
            }
        },
        _ if is_space(text, start) => {
            let mut end = start;
            while is_space(text, end) {
                end += text[end..].chars().next().map_or(1, char::len_utf8);
            }
            (Kind::Space, Some(end))
        }
        _ => (Kind::Atom, Some(run_end(text, start))),
    };
    Some(Lexeme { kind, start, end: end.unwrap_or(text.len()), whole: end.is_some() })
}

/// Is a vector opened by this between `#` and a parenthesis? Behind `#t` a parenthesis opens a list of its own.
fn opens_vector(name: &str) -> bool {
    let is_numeric = |name: &str| NumericKind::ALL.iter().any(|(_, n)| n.eq_ignore_ascii_case(name));
    let is_length = name.bytes().all(|b| b.is_ascii_digit());
    is_length || matches!(name, "u8" | "U8" | "vu8" | "VU8") || is_numeric(name)
}

/// What looks like a directive, but is a datum.
const DATA_OF_DIRECTIVES: [&str; 4] = ["#!eof", "#!default", "#!unspecified", "#!unspecific"];

/// Bytes of a byte order mark.
const BOM: usize = 3;

/// Is there white space, or a byte order mark?
fn is_space(text: &str, at: usize) -> bool {
    match text.as_bytes().get(at) {
        Some(b) if b.is_ascii() => matches!(b, b' ' | b'\t'..=b'\r'),
        Some(_) => text[at..].chars().next().is_some_and(|c| c.is_whitespace() || c == '\u{feff}'),
        None => false,
    }
}

/// All lexemes of the text.
pub fn lexemes(text: &str) -> impl Iterator<Item = Lexeme> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let lexeme = next(text, at)?;
        at = lexeme.end;
        Some(lexeme)
    })
}

/// Where the lists at the top level of the text begin.
pub fn lists(text: &str) -> impl Iterator<Item = usize> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(lexeme) = next(text, at) {
            if lexeme.kind == Kind::Open {
                at = datum_end(text, lexeme.start);
                return Some(lexeme.start);
            }
            at = lexeme.end;
        }
        None
    })
}

/// The end of the datum that begins at `start`; of one that does not end, the text's.
pub fn datum_end(text: &str, start: usize) -> usize {
    whole_datum_end(text, start).unwrap_or(text.len())
}

/// The end of the datum that begins at `start`, if it has one; a parenthesis that closes nothing ends it, too.
pub fn whole_datum_end(text: &str, start: usize) -> Option<usize> {
    let (mut at, mut depth, mut wanted) = (start, 0usize, 1usize);
    while let Some(lexeme) = next(text, at) {
        let complete = match lexeme.kind {
            Kind::Open => {
                depth += 1;
                false
            }
            Kind::Close => match depth.checked_sub(1) {
                Some(outer) => {
                    depth = outer;
                    true
                }
                None => return Some(at),
            },
            Kind::DatumComment => {
                wanted += usize::from(depth == 0);
                false
            }
            Kind::String | Kind::Symbol | Kind::Character | Kind::Atom => true,
            Kind::Space | Kind::LineComment | Kind::BlockComment | Kind::Prefix | Kind::Directive => false,
        };
        if !lexeme.whole {
            return None;
        }
        at = lexeme.end;
        if complete && depth == 0 {
            wanted -= 1;
            if wanted == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// Does the text end inside of a datum or comment, so that more of it could help?
pub fn is_unfinished(text: &str) -> bool {
    let mut at = 0;
    while let Some(lexeme) = next(text, at) {
        // a parenthesis that closes nothing is a mistake, which more text does not mend
        let from = match lexeme.kind {
            Kind::Space | Kind::LineComment | Kind::BlockComment | Kind::Directive | Kind::Close => {
                if !lexeme.whole {
                    return true;
                }
                at = lexeme.end;
                continue;
            }
            Kind::DatumComment => lexeme.end,
            _ => at,
        };
        match whole_datum_end(text, from) {
            Some(end) => at = end,
            None => return true,
        }
    }
    false
}

/// The word that ends at a place, or goes on there: where it begins.
pub fn word_start(text: &str, place: usize) -> usize {
    let is_part = |c: &char| !(c.is_whitespace() || c.is_ascii() && is_delimiter(*c as u8));
    let word = text[..place].char_indices().rev().take_while(|(_, c)| is_part(c));
    word.last().map_or(place, |(i, _)| i)
}

/// The name that the list at a place begins with.
pub fn head(text: &str, start: usize) -> Option<Lexeme> {
    let open = next(text, start).filter(|l| l.kind == Kind::Open)?;
    let mut inside = std::iter::successors(next(text, open.end), |l| next(text, l.end));
    inside.find(|l| !l.is_atmosphere()).filter(|l| matches!(l.kind, Kind::Atom | Kind::Symbol))
}

/// Is the text one name, number or other atom and nothing else?
pub fn is_atom(text: &str) -> bool {
    next(text, 0).is_some_and(|l| matches!(l.kind, Kind::Atom | Kind::Symbol) && l.whole && l.end == text.len())
}

#[cfg(test)]
mod tests {
    use super::{Kind, datum_end, head, is_atom, is_unfinished, lexemes, word_start};

    #[test]
    fn data_end_where_the_reader_ends_them() {
        let data = [
            "(a (b) \")\")",
            "abc",
            "\"a \\\" b\"",
            "(vector-ref (vector '|a)b| 1 2) 9)",
            "(f #| ) |# x)",
            "(f #| #| ) |# ) |# x)",
            "(f #\\) x)",
            "(f #\\( #\\\" #\\; #\\space x)",
            "(f ; )\n x)",
            "(f #;(g ) x)",
            "#;(a b) c",
            "#;#;a b c",
            "'(a . b)",
            ",@(f x)",
            "`(a ,b ,@c)",
            "#(1 2)",
            "#u8(1 2)",
            "#F64(1. 2.)",
            "#t",
            "#vu8(1 2)",
            "#'(a #,b #,@c)",
            "#`x",
            "#0=(a . #0#)",
            "#\\x41",
            "#\\λ",
            "[f (x) {y]",
            "'#!fold-case a",
            "#!eof",
            "λ",
            "|a b|",
            "(f '|\\x29;|)",
            "\\x31;+",
            "(f a\\x3b;b\\X20; x)",
            "#true",
            "(f\u{a0}x)",
        ];
        for datum in data {
            for rest in ["", " x", ")", "(y)", "\n;", "\u{a0}z"] {
                // what follows an atom directly must not prolong it
                let text = format!("{datum}{rest}");
                if rest != "(y)" || !datum.starts_with('#') || datum == "#t" {
                    assert_eq!(&text[..datum_end(&text, 0)], datum, "{text}");
                }
            }
        }
        for open in ["(a", "\"a", "#| a", "(f \"", "", "'", "#\\", "(f #;"] {
            assert_eq!(datum_end(open, 0), open.len(), "{open}");
        }
        assert_eq!(datum_end(")", 0), 0);
    }

    #[test]
    fn texts_are_unfinished_inside_of_a_datum_or_comment() {
        for text in ["", "a", "(a) b", ")", "') (b)", "#;a", "#;(a", "; (", "#!fold-case", "{", "(a #;)"] {
            assert_eq!(is_unfinished(text), text == "#;(a", "{text}");
        }
        for text in ["(", "a (", "'", "#;", "#;#;a", "'#;a", "'#!fold-case", "#|", "#\\", "\"", "|a", ") (", "#0="]
        {
            assert!(is_unfinished(text), "{text}");
        }
    }

    #[test]
    fn words_begin_behind_delimiters() {
        for (text, start) in [("(ab", 1), ("x 'yz", 3), ("λy", 0), ("(f ", 3), (",ab", 1), ("{ab", 1), ("|ab", 1)]
        {
            assert_eq!(word_start(text, text.len()), start, "{text}");
        }
    }

    #[test]
    fn lists_begin_with_names() {
        for (text, name) in [
            ("(f x)", Some("f")),
            ("[ #| c |# f]", Some("f")),
            ("(|a b| x)", Some("|a b|")),
            ("(f;c", Some("f")),
            ("((f) x)", None),
            ("()", None),
            ("('a)", None),
            ("f", None),
            ("(", None),
        ] {
            assert_eq!(head(text, 0).map(|l| l.text(text)), name, "{text}");
        }
        for (text, is) in [("a", true), ("|a b|", true), ("1+", true), ("a b", false), ("(a)", false), ("", false)]
        {
            assert_eq!(is_atom(text), is, "{text}");
        }
    }

    #[test]
    fn lexemes_cover_every_text() {
        use Kind::{
            Atom, BlockComment, Character, Close, DatumComment, Directive, LineComment, Open, Prefix, Space,
            Symbol,
        };
        let kinds = |text: &str| lexemes(text).map(|l| (l.kind, l.text(text).to_string())).collect::<Vec<_>>();
        let expected = [
            (LineComment, "#!/bin/cairn\n"),
            (Open, "("),
            (Atom, "f"),
            (Space, " "),
            (Open, "#u8("),
            (Atom, "1"),
            (Close, ")"),
            (Prefix, "'"),
            (Kind::String, "\"a\\\"b\""),
            (Prefix, ",@"),
            (Symbol, "|x y|"),
            (DatumComment, "#;"),
            (Character, "#\\("),
            (BlockComment, "#| ( |#"),
            (Atom, "#!eof"),
            (Space, " "),
            (Directive, "#!fold-case"),
            (Close, ")"),
            (LineComment, ";c"),
        ]
        .map(|(k, t)| (k, t.to_string()));
        assert_eq!(kinds("#!/bin/cairn\n(f #u8(1)'\"a\\\"b\",@|x y|#;#\\(#| ( |##!eof #!fold-case);c"), expected);
        assert_eq!(kinds("#0=a")[0], (Prefix, "#0=".to_string()));
        // no text has gaps, or holds the lexer up
        let pieces =
            ["(", ")", "#", "\\", "|", "\"", ";", "\n", "é", "\u{a0}", "#|", "x", "'", "#0=", "{", "\u{feff}"];
        let mut state = 1u32;
        for _ in 0..2000 {
            let mut text = String::new();
            for _ in 0..12 {
                state = state.wrapping_mul(1664525).wrapping_add(1013904223);
                text += pieces[(state >> 16) as usize % pieces.len()];
            }
            let mut at = 0;
            for l in lexemes(&text) {
                assert!(l.start == at && l.end > at, "{text:?} at {at}");
                at = l.end;
            }
            assert_eq!(at, text.len(), "{text:?}");
        }
    }
}
