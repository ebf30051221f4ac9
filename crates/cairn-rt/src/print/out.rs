//! What is printed to, and how: ports and texts of bounded length; as `write`, `display` or their kin.

use crate::access;
use crate::port::Writer;

/// How to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// `display`.
    Display,
    /// `write`.
    Write,
    /// `write-shared`.
    Shared,
    /// `write-simple`.
    Simple,
}

/// What text is printed to.
pub trait Out {
    /// Appends text.
    fn str(&mut self, text: &str);
    /// Appends a character.
    fn char(&mut self, c: u32);
    /// Appends characters.
    fn chars(&mut self, chars: &[u32]) {
        chars.iter().for_each(|c| self.char(*c))
    }
    /// Nothing more will be taken: printing may stop.
    fn is_full(&self) -> bool;
}

impl Out for Writer<'_> {
    fn str(&mut self, text: &str) {
        Writer::str(self, text)
    }
    fn char(&mut self, c: u32) {
        Writer::char(self, c)
    }
    fn chars(&mut self, chars: &[u32]) {
        Writer::chars(self, chars)
    }
    fn is_full(&self) -> bool {
        self.failed()
    }
}

/// Text of at most some number of bytes.
pub(super) struct Limited {
    pub(super) text: String,
    pub(super) limit: usize,
}

impl Out for Limited {
    fn str(&mut self, text: &str) {
        if !self.is_full() {
            self.text.push_str(text)
        }
    }
    fn char(&mut self, c: u32) {
        if !self.is_full() {
            self.text.push(access::to_char(c))
        }
    }
    fn is_full(&self) -> bool {
        self.text.len() > self.limit
    }
}
