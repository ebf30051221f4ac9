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

/// The end of the datum that begins at `start`; of one that does not end, the text's.
pub fn datum_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut wanted) = (start, 0usize, 1usize);
    while let Some(&b) = bytes.get(at) {
        let next = bytes.get(at + 1);
        // the end of a lexeme, and whether it completes a datum
        let (end, complete) = match b {
            b'(' | b'[' | b'{' => {
                depth += 1;
                (Some(at + 1), false)
            }
            b')' | b']' | b'}' => match depth.checked_sub(1) {
                Some(outer) => {
                    depth = outer;
                    (Some(at + 1), true)
                }
                None => return at,
            },
            b';' => (Some(line_end(text, at)), false),
            b'"' | b'|' => (delimited_end(text, at), true),
            b'\'' | b'`' => (Some(at + 1), false),
            b',' => (Some(at + 1 + usize::from(next == Some(&b'@'))), false),
            b'#' => match next {
                Some(b'|') => (block_comment_end(text, at), false),
                Some(b';') => {
                    wanted += usize::from(depth == 0);
                    (Some(at + 2), false)
                }
                Some(b'\\') => (character_end(text, at), true),
                _ => {
                    let end = run_end(text, at + 1);
                    let label = end > at + 1 && text[at + 1..end - 1].bytes().all(|b| b.is_ascii_digit());
                    let prefix = bytes.get(end) == Some(&b'(') || label && bytes[end - 1] == b'=';
                    (Some(end), !prefix)
                }
            },
            _ if b.is_ascii_whitespace() || b == 0x0B => (Some(at + 1), false),
            _ => match run_end(text, at) {
                end if end > at => (Some(end), true),
                // white space beyond ASCII
                _ => (text[at..].chars().next().map(|c| at + c.len_utf8()), false),
            },
        };
        let Some(end) = end else { return text.len() };
        at = end;
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
    use super::datum_end;

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
}
