//! Tokens: whitespace and comments, and everything that is not a parenthesis or a prefix.

use super::{Frame, Read, Reader};
use crate::diagnostic::Diagnostic;
use crate::syntax::{Datum, Syntax};
use cairn_layout::lexeme;
use cairn_layout::object::numeric::NumericKind;
use cairn_num::{Int, Number};
use std::borrow::Cow;

/// Names of characters, R7RS first, then common extensions.
const CHAR_NAMES: &[(&str, char)] = &[
    ("alarm", '\x07'),
    ("backspace", '\x08'),
    ("delete", '\x7f'),
    ("escape", '\x1b'),
    ("newline", '\n'),
    ("null", '\0'),
    ("return", '\r'),
    ("space", ' '),
    ("tab", '\t'),
    ("nul", '\0'),
    ("linefeed", '\n'),
    ("page", '\x0c'),
    ("altmode", '\x1b'),
    ("esc", '\x1b'),
    ("rubout", '\x7f'),
    ("vtab", '\x0b'),
];

/// Languages and systems whose directives say for whom a text is written: comments, as R6RS has it. `read` of lib/
/// knows the same.
const DIALECTS: &[&str] = &[
    "r6rs",
    "r7rs",
    "chezscheme",
    "guile",
    "ikarus",
    "ironscheme",
    "larceny",
    "loko",
    "mosh",
    "nmosh",
    "racket",
    "sagittarius",
    "vicare",
    "ypsilon",
];

/// Keywords in Guile's `define-module` and `use-modules`.
const GUILE_MODULES: &[&str] = &[
    "use-module",
    "export",
    "re-export",
    "replace",
    "autoload",
    "select",
    "prefix",
    "hide",
    "renamer",
    "declarative?",
];

impl Reader<'_> {
    /// To the end of the line: a newline, a return, or both (of both, the newline remains as white space).
    pub(super) fn skip_line(&mut self) {
        self.pos = lexeme::line_end(self.text, self.pos);
    }

    /// Whitespace, `;` comments and `#|…|#` comments. (`#;` is a construct of the parser.)
    pub(super) fn skip_atmosphere(&mut self) -> Read<()> {
        while let Some(&b) = self.bytes.get(self.pos) {
            match b {
                b' ' | b'\t'..=b'\r' => self.pos += 1,
                b';' => self.skip_line(),
                b'#' if self.bytes.get(self.pos + 1) == Some(&b'|') => self.block_comment()?,
                0x80.. => {
                    let c = self.text[self.pos..].chars().next().expect("not at the end");
                    if !c.is_whitespace() && c != '\u{feff}' {
                        return Ok(());
                    }
                    self.pos += c.len_utf8();
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    fn block_comment(&mut self) -> Read<()> {
        let start = self.pos;
        match lexeme::block_comment_end(self.text, start) {
            Some(end) => {
                self.pos = end;
                Ok(())
            }
            None => {
                self.pos = self.bytes.len();
                self.incomplete = true;
                Err(self.error(start, start + 2, "this comment is never closed").help("#| … |#").into())
            }
        }
    }

    /// The run of non-delimiters from here; moves behind it.
    fn run(&mut self) {
        self.pos = lexeme::run_end(self.text, self.pos);
    }

    /// A number or a symbol.
    pub(super) fn atom(&mut self) -> Read<Syntax> {
        let start = self.pos;
        self.run();
        let all = self.text;
        let text = &all[start..self.pos];
        let span = self.span(start, self.pos);
        let first = text.as_bytes().first().copied().unwrap_or(0);
        if (first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.'))
            && let Some(n) = parse_number(text, 10)
        {
            return Ok(Syntax::new(Datum::Number(n.into()), span));
        }
        if let Some(c) = text.chars().find(|c| c.is_control()) {
            let at = start + text.find(c).unwrap_or(0);
            return Err(self
                .error(at, at + c.len_utf8(), format!("a control character (U+{:04X}) in a symbol", c as u32))
                .into());
        }
        let name = self.unescaped(text, start)?;
        Ok(Syntax::ident(self.names.intern(&name), span))
    }

    /// The name of a symbol without bars, which begins at `start`: cases are folded, if they are to be, and hexadecimal
    /// escapes stand for characters.
    fn unescaped<'t>(&self, text: &'t str, start: usize) -> Read<Cow<'t, str>> {
        let folded = |part: &'t str| if self.fold_case { fold(part).into() } else { Cow::Borrowed(part) };
        let escapes = text.match_indices('\\').filter_map(|(i, _)| Some((i, lexeme::hex_escape_end(text, i)?)));
        let (mut name, mut plain) = (None::<String>, 0);
        for (i, end) in escapes {
            let code = u32::from_str_radix(&text[i + 2..end - 1], 16).ok();
            let Some(c) = code.and_then(char::from_u32) else {
                return Err(self.bad_escape(start + i, start + end));
            };
            let name = name.get_or_insert_default();
            name.push_str(&folded(&text[plain..i]));
            name.push(c);
            plain = end;
        }
        let rest = folded(&text[plain..]);
        Ok(match name {
            Some(name) => (name + &rest).into(),
            None => rest,
        })
    }

    fn bad_escape(&self, start: usize, end: usize) -> Box<Diagnostic> {
        self.error(start, end, "bad hexadecimal escape").help("\\x3BB; (ends with a semicolon)").into()
    }

    /// `#…`, except `#|` comments. `None`: a construct was opened or a directive obeyed.
    pub(super) fn hash(&mut self) -> Read<Option<Syntax>> {
        let start = self.pos;
        let datum = match self.bytes.get(start + 1) {
            Some(b'(') => {
                self.pos += 2;
                self.stack.push(Frame::Vector { start, items: Vec::new() });
                return Ok(None);
            }
            Some(b';') => {
                self.pos += 2;
                self.stack.push(Frame::Comment { start });
                return Ok(None);
            }
            Some(b'\\') => return self.character().map(Some),
            Some(b'!') => return self.directive(),
            // Chez Scheme's #%car is its own car, whatever the program means by that: here it is what the name means
            Some(b'%') if self.bytes.get(start + 2).is_some_and(|b| !lexeme::is_delimiter(*b)) => {
                self.pos += 2;
                return self.atom().map(Some);
            }
            Some(b'\'') => {
                self.prefix(2, "syntax");
                return Ok(None);
            }
            Some(b'`') => {
                self.prefix(2, "quasisyntax");
                return Ok(None);
            }
            Some(b',') => {
                if self.bytes.get(start + 2) == Some(&b'@') {
                    self.prefix(3, "unsyntax-splicing");
                } else {
                    self.prefix(2, "unsyntax");
                }
                return Ok(None);
            }
            Some(b'0'..=b'9') => {
                let mut end = start + 1;
                while self.bytes.get(end).is_some_and(u8::is_ascii_digit) {
                    end += 1;
                }
                let reference = match self.bytes.get(end) {
                    Some(b'(') => {
                        self.pos = end + 1;
                        self.stack.push(Frame::Vector { start, items: Vec::new() });
                        return Ok(None);
                    }
                    // Chez Scheme's #2%car, too
                    Some(b'%') if end == start + 2 => {
                        self.pos = end + 1;
                        return self.atom().map(Some);
                    }
                    Some(b'#') => true,
                    Some(b'=') => false,
                    _ => return Err(self.bad_hash(start)),
                };
                self.pos = end + 1;
                let label: u64 = match self.text[start + 1..end].parse() {
                    Ok(n) if n <= u64::from(u32::MAX) => n,
                    _ => return Err(self.error(start, self.pos, "this label number is too large").into()),
                };
                return self.label(start, label, reference);
            }
            _ => {
                self.run();
                let all = self.text;
                let text = &all[start..self.pos];
                match text {
                    "#t" | "#true" | "#T" | "#TRUE" => Datum::Bool(true),
                    "#f" | "#false" | "#F" | "#FALSE" => Datum::Bool(false),
                    "#u8" | "#U8" | "#vu8" | "#VU8" if self.bytes.get(self.pos) == Some(&b'(') => {
                        self.pos += 1;
                        self.stack.push(Frame::Bytes { start, items: Vec::new() });
                        return Ok(None);
                    }
                    _ if self.bytes.get(self.pos) == Some(&b'(') && numbers_kind(text).is_some() => {
                        self.pos += 1;
                        let kind = numbers_kind(text).expect("asked above");
                        self.stack.push(Frame::Numbers { start, kind, bytes: Vec::new() });
                        return Ok(None);
                    }
                    _ if matches!(
                        text.as_bytes().get(1),
                        Some(b'x' | b'X' | b'b' | b'B' | b'o' | b'O' | b'd' | b'D' | b'e' | b'E' | b'i' | b'I')
                    ) =>
                    {
                        match parse_number(text, 10) {
                            Some(n) => Datum::Number(n.into()),
                            None => {
                                return Err(self
                                    .error(start, self.pos, format!("`{text}` is not a number"))
                                    .help("prefixes are #x #o #b #d for the radix and #e #i for exactness")
                                    .into());
                            }
                        }
                    }
                    _ => {
                        self.pos = start;
                        return Err(self.bad_hash(start));
                    }
                }
            }
        };
        Ok(Some(Syntax::new(datum, self.span(start, self.pos))))
    }

    fn bad_hash(&mut self, start: usize) -> Box<Diagnostic> {
        self.run();
        let end = self.pos.max(start + 1);
        let text = &self.text[start..end];
        let help = match self.bytes.get(start + 1) {
            Some(b'&') => "a box has no spelling here: (box x) makes one, of (srfi 111) or (chezscheme)",
            Some(b':') if GUILE_MODULES.contains(&&text[2..]) => {
                "instead of Guile's define-module, a program begins with (import (srfi 1) ...), and a library is \
                           (define-library (name ...) (export ...) (import ...) (begin ...))"
            }
            Some(b':') => {
                "a symbol without a name of its own is made by (gensym) of (chezscheme); keywords \
                           like Racket's do not exist"
            }
            Some(b'{') => "a generated symbol has no spelling here: (gensym) of (chezscheme) makes one",
            Some(b'[') => "records have no spelling: call the constructor. A vector is #(1 2)",
            Some(b'#') => "names that begin with ## are Gambit's own: take what a library exports",
            Some(b'<') => "what is written so cannot be read again: procedures, ports, records and the like",
            _ => "after # may come: t f ( u8( vu8( \\char | ; !directive x o b d e i and labels 0= 0#",
        };
        self.error(start, end, format!("`{text}` is not a datum")).help(help).into()
    }

    fn directive(&mut self) -> Read<Option<Syntax>> {
        let start = self.pos;
        self.pos += 2;
        self.run();
        let datum = match &self.text[start + 2..self.pos] {
            "fold-case" => {
                self.fold_case = true;
                return Ok(None);
            }
            "no-fold-case" => {
                self.fold_case = false;
                return Ok(None);
            }
            name if DIALECTS.contains(&name) => return Ok(None),
            "eof" => Datum::Eof,
            "default" => Datum::Default,
            "unspecified" | "unspecific" => Datum::Unspecified,
            other => {
                let message = format!("unknown directive `#!{other}`");
                let help = match other {
                    "optional" | "rest" | "key" => {
                        "parameters that may be missing: case-lambda, (a . rest), or opt-lambda of (srfi 227)"
                    }
                    "bwp" => "what a weak reference gives when its object is gone: (cairn weak)",
                    "base-rtd" => "the type of record types has no spelling: see (cairn records)",
                    _ => "#!fold-case or #!no-fold-case",
                };
                return Err(self.error(start, self.pos, message).help(help).into());
            }
        };
        Ok(Some(Syntax::new(datum, self.span(start, self.pos))))
    }

    fn character(&mut self) -> Read<Syntax> {
        let start = self.pos;
        let body = start + 2;
        let (Some(first), Some(end)) = (self.text[body..].chars().next(), lexeme::character_end(self.text, start))
        else {
            self.incomplete = true;
            return Err(self.error(start, start + 2, "the text ends inside of a character").into());
        };
        self.pos = end;
        let name = &self.text[body..self.pos];
        let folded;
        let name = if self.fold_case {
            folded = fold(name);
            if name.chars().count() == 1 { name } else { &folded }
        } else {
            name
        };
        let c = if name.chars().count() == 1 {
            Some(first)
        } else if let Some((_, c)) = CHAR_NAMES.iter().find(|(n, _)| *n == name) {
            Some(*c)
        } else if matches!(first, 'x' | 'X' | 'U' | 'u') {
            u32::from_str_radix(&name[1..], 16).ok().and_then(char::from_u32)
        } else {
            None
        };
        match c {
            Some(c) => Ok(Syntax::new(Datum::Char(c), self.span(start, self.pos))),
            None => {
                let message = format!("`#\\{name}` is not a character");
                let lower = name.to_lowercase();
                let help = match CHAR_NAMES.iter().find(|(n, _)| *n == lower) {
                    Some((n, _)) => format!("did you mean #\\{n}?"),
                    None => "one character, a name (space, newline, tab, return, null, alarm, backspace, delete, \
                             escape), or x and a hexadecimal scalar value: #\\x3BB"
                        .to_string(),
                };
                Err(self.error(start, self.pos, message).help(help).into())
            }
        }
    }

    /// `\x41;` with the reader behind the `x`.
    fn hex_escape(&mut self, start: usize) -> Read<char> {
        let digits = self.pos;
        while self.bytes.get(self.pos).is_some_and(u8::is_ascii_hexdigit) {
            self.pos += 1;
        }
        let value = u32::from_str_radix(&self.text[digits..self.pos], 16).ok().and_then(char::from_u32);
        if let (Some(c), Some(b';')) = (value, self.bytes.get(self.pos)) {
            self.pos += 1;
            return Ok(c);
        }
        Err(self.bad_escape(start, self.pos))
    }

    pub(super) fn quoted_symbol(&mut self) -> Read<Syntax> {
        let start = self.pos;
        let name = self.delimited(b'|', "this symbol is never closed")?;
        let id = self.names.intern(&name);
        Ok(Syntax::ident(id, self.span(start, self.pos)))
    }

    pub(super) fn string(&mut self) -> Read<Syntax> {
        let start = self.pos;
        let text = self.delimited(b'"', "this string is never closed")?;
        Ok(Syntax::new(Datum::String(text.into()), self.span(start, self.pos)))
    }

    /// The contents of a string or `|symbol|`.
    fn delimited(&mut self, quote: u8, unclosed: &str) -> Read<String> {
        let start = self.pos;
        self.pos += 1;
        let mut out = String::new();
        loop {
            let from = self.pos;
            while self.bytes.get(self.pos).is_some_and(|b| *b != quote && *b != b'\\' && *b != b'\r') {
                self.pos += 1;
            }
            out.push_str(&self.text[from..self.pos]);
            let at = self.pos;
            match self.bytes.get(at) {
                None => {
                    self.incomplete = true;
                    let end = self.bytes.len();
                    return Err(self
                        .error(start, start + 1, unclosed)
                        .note(self.span(end, end), "the text ends here")
                        .into());
                }
                Some(b'\r') => {
                    self.pos += 1;
                    if self.bytes.get(self.pos) != Some(&b'\n') {
                        out.push('\n');
                    }
                }
                Some(b'\\') => {
                    self.pos += 1;
                    self.escape(at, &mut out)?;
                }
                Some(_) => {
                    self.pos += 1;
                    return Ok(out);
                }
            }
        }
    }

    /// One escape sequence, with the reader behind the backslash at `at`.
    fn escape(&mut self, at: usize, out: &mut String) -> Read<()> {
        let Some(c) = self.text[self.pos..].chars().next() else { return Ok(()) };
        self.pos += c.len_utf8();
        out.push(match c {
            'a' => '\x07',
            'b' => '\x08',
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            // R6RS's
            'v' => '\x0b',
            'f' => '\x0c',
            '"' | '\\' | '|' => c,
            'x' | 'X' => self.hex_escape(at)?,
            ' ' | '\t' | '\n' | '\r' => {
                // line continuation: \ blanks newline blanks
                self.pos -= 1;
                let blanks = |r: &mut Self| {
                    while matches!(r.bytes.get(r.pos), Some(b' ' | b'\t')) {
                        r.pos += 1;
                    }
                };
                blanks(self);
                if self.bytes.get(self.pos) == Some(&b'\r') {
                    self.pos += 1;
                }
                if self.bytes.get(self.pos) == Some(&b'\n') {
                    self.pos += 1;
                } else if self.bytes.get(self.pos.wrapping_sub(1)) != Some(&b'\r') {
                    return Err(self
                        .error(
                            at,
                            self.pos,
                            "a backslash before blanks continues the line, but the line does not end here",
                        )
                        .into());
                }
                blanks(self);
                return Ok(());
            }
            _ => {
                return Err(self
                    .error(at, self.pos, format!("unknown escape `\\{c}`"))
                    .help("\\a \\b \\t \\n \\r \\v \\f \\\" \\\\ \\| \\x41; or a backslash at the end of a line")
                    .into());
            }
        });
        Ok(())
    }
}

/// Case folding of symbols and character names.
pub(super) fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).map(|c| if c == 'ς' { 'σ' } else { c }).collect()
}

/// A number, or `None`. Short decimal integers, the common case, are read here.
fn parse_number(text: &str, radix: u32) -> Option<Number> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.is_empty() && digits.len() <= 17 && digits.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().ok().map(|n| Number::Int(Int::Fix(n)));
    }
    cairn_num::parse_number(text, radix)
}

/// The kind of the numeric vector that `#f64` or one of its relatives begins.
fn numbers_kind(text: &str) -> Option<NumericKind> {
    NumericKind::by_name(&text.strip_prefix('#')?.to_ascii_lowercase())
}
