//! Where the lexemes of a program's text end.
//!
//! The problem: the compiler and the runtime both read Scheme text, the one to compile it, the other to mark the
//! expression at a [`crate::code::Site`], which says only where that begins. The idea: how far a lexeme goes is said
//! here, once; what it means is the reader's business (`cairn-syntax`).
//!
//! All offsets are in bytes, and at character boundaries.

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

/// The end of the run of what is no delimiter.
pub fn run_end(text: &str, start: usize) -> usize {
    let mut at = start;
    while let Some(&b) = text.as_bytes().get(at) {
        if is_delimiter(b) {
            break;
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
    /// `(`, `[`, `{`, `#(`, `#u8(` and its relatives.
    Open,
    /// `)`, `]`, `}`.
    Close,
    /// `'`, `` ` ``, `,`, `,@`, `#0=`: a datum must follow.
    Prefix,
    /// `"…"`.
    String,
    /// `|…|`.
    Symbol,
    /// `#\x`.
    Character,
    /// `#!fold-case`, `#!eof` and their relatives.
    Directive,
    /// A symbol, number, boolean, reference to a label, or dot.
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
        b'(' | b'[' | b'{' => (Kind::Open, Some(start + 1)),
        b')' | b']' | b'}' => (Kind::Close, Some(start + 1)),
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
            Some(b'!') => (Kind::Directive, Some(run_end(text, start + 1))),
            _ => {
                let end = run_end(text, start + 1);
                let digits = bytes[start + 1..end].iter().take_while(|b| b.is_ascii_digit()).count();
                match bytes.get(start + 1 + digits) {
                    Some(b'=' | b'#') if digits > 0 => {
                        let label = if bytes[start + 1 + digits] == b'=' { Kind::Prefix } else { Kind::Atom };
                        (label, Some(start + 2 + digits))
                    }
                    _ if bytes.get(end) == Some(&b'(') => (Kind::Open, Some(end + 1)),
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

/// The end of the datum that begins at `start`; of one that does not end, the text's.
pub fn datum_end(text: &str, start: usize) -> usize {
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
                None => return at,
            },
            Kind::DatumComment => {
                wanted += usize::from(depth == 0);
                false
            }
            Kind::String | Kind::Symbol | Kind::Character | Kind::Atom | Kind::Directive => true,
            Kind::Space | Kind::LineComment | Kind::BlockComment | Kind::Prefix => false,
        };
        if !lexeme.whole {
            return text.len();
        }
        at = lexeme.end;
        if complete && depth == 0 {
            wanted -= 1;
            if wanted == 0 {
                return at;
            }
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{Kind, datum_end, lexemes};

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
            "#vu8(1 2)",
            "#'(a #,b #,@c)",
            "#`x",
            "#0=(a . #0#)",
            "#\\x41",
            "#\\λ",
            "[f (x) {y}]",
            "λ",
            "|a b|",
            "(f '|\\x29;|)",
            "#true",
            "(f\u{a0}x)",
        ];
        for datum in data {
            for rest in ["", " x", ")", "(y)", "\n;", "\u{a0}z"] {
                // what follows an atom directly must not prolong it
                let text = format!("{datum}{rest}");
                if rest != "(y)" || !datum.starts_with('#') {
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
            (Directive, "#!eof"),
            (Close, ")"),
            (LineComment, ";c"),
        ]
        .map(|(k, t)| (k, t.to_string()));
        assert_eq!(kinds("#!/bin/cairn\n(f #u8(1)'\"a\\\"b\",@|x y|#;#\\(#| ( |##!eof);c"), expected);
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
