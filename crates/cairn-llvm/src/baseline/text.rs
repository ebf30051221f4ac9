//! Reading LLVM's text: blanks, words, numbers, names, constants.

use super::ir::{Op, Symbol};
use std::collections::HashMap;

/// The symbols of a module, numbered as they come.
#[derive(Default)]
pub(super) struct Symbols<'a> {
    numbers: HashMap<&'a str, Symbol>,
    pub names: Vec<&'a str>,
}

impl<'a> Symbols<'a> {
    /// The number of a name, which is written as between quotes.
    pub fn number(&mut self, name: &'a str) -> Symbol {
        let next = self.names.len() as Symbol;
        let number = *self.numbers.entry(name).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        number
    }
}

/// What stands between quotes, `\XX` as bytes.
pub(super) fn unescaped(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        out.push(match b {
            b'\\' => {
                let mut digit = || bytes.next().and_then(|d| (d as char).to_digit(16)).ok_or("an escape");
                (16 * digit()? + digit()?) as u8
            }
            _ => b,
        });
    }
    Ok(out)
}

/// A place in a line.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// What cannot be read.
    pub fn unknown<T>(&self, what: &str) -> Result<T, String> {
        Err(format!("{what}: {} [here:] {}", &self.text[..self.at], self.rest()))
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes this text, if it stands here.
    pub fn eat(&mut self, text: &str) -> bool {
        let is_here = self.rest().starts_with(text);
        self.at += if is_here { text.len() } else { 0 };
        is_here
    }

    pub fn expect(&mut self, text: &str) -> Result<(), String> {
        if self.eat(text) { Ok(()) } else { self.unknown(text) }
    }

    /// Passes `text` and all before it.
    pub fn find(&mut self, text: &str) -> Result<&'a str, String> {
        let Some(n) = self.rest().find(text) else { return self.unknown(text) };
        let before = &self.rest()[..n];
        self.at += n + text.len();
        Ok(before)
    }

    fn while_byte(&mut self, is_in: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let n = rest.bytes().position(|b| !is_in(b)).unwrap_or(rest.len());
        self.at += n;
        &rest[..n]
    }

    /// A word of letters, digits, `.`, `_`.
    pub fn word(&mut self) -> &'a str {
        self.while_byte(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'_')
    }

    /// A word and the blank behind it.
    pub fn word_and_blank(&mut self) -> &'a str {
        let word = self.word();
        self.eat(" ");
        word
    }

    /// Digits; numbers above `i64::MAX` wrap around.
    pub fn number(&mut self) -> Result<i64, String> {
        let negative = self.eat("-");
        let digits = self.while_byte(|b| b.is_ascii_digit());
        match digits.parse::<u64>() {
            Ok(n) if negative => Ok((n as i64).wrapping_neg()),
            Ok(n) => Ok(n as i64),
            Err(_) => self.unknown("a number"),
        }
    }

    /// A symbol behind its `@`, without quotes.
    pub fn symbol(&mut self) -> Result<&'a str, String> {
        if self.eat("\"") {
            return self.find("\"");
        }
        match self.word() {
            "" => self.unknown("a symbol"),
            word => Ok(word),
        }
    }

    /// A number, a name, or a constant expression.
    pub fn constant(&mut self, symbols: &mut Symbols<'a>) -> Result<Op, String> {
        match self.peek() {
            Some(b'@') => {
                self.at += 1;
                Ok(Op::Symbol(symbols.number(self.symbol()?), 0))
            }
            Some(b'0') if self.eat("0x") => {
                let digits = self.while_byte(|b| b.is_ascii_hexdigit());
                match u64::from_str_radix(digits, 16) {
                    Ok(bits) => Ok(Op::Int(bits as i64)),
                    Err(_) => self.unknown("a double"),
                }
            }
            Some(b'-' | b'0'..=b'9') => Ok(Op::Int(self.number()?)),
            _ => self.expression(symbols),
        }
    }

    /// `add (i64 …, i64 …)` and the like.
    fn expression(&mut self, symbols: &mut Symbols<'a>) -> Result<Op, String> {
        match self.word() {
            "true" => Ok(Op::Int(1)),
            "false" | "null" | "zeroinitializer" => Ok(Op::Int(0)),
            "poison" | "undef" => Ok(Op::Poison),
            "ptrtoint" | "inttoptr" => {
                self.expect(" (")?;
                self.word_and_blank();
                let value = self.constant(symbols)?;
                self.expect(" to ")?;
                self.word();
                self.expect(")")?;
                Ok(value)
            }
            word @ ("add" | "getelementptr") => {
                self.expect(if word == "add" { " (" } else { " (i8, " })?;
                self.word_and_blank();
                let base = self.constant(symbols)?;
                self.expect(", i64 ")?;
                let more = self.number()?;
                self.expect(")")?;
                match base {
                    Op::Symbol(symbol, n) => Ok(Op::Symbol(symbol, n.wrapping_add(more))),
                    Op::Int(n) => Ok(Op::Int(n.wrapping_add(more))),
                    _ => self.unknown("a constant"),
                }
            }
            _ => self.unknown("a constant"),
        }
    }
}
