//! Writing: into buffers, and out of them.

use super::flush::{flush, has_threads, write_all};
use super::object::{Port, buffer_bytes, grow};
use crate::access;
use crate::alloc::{self, make_bytevector};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::Type;
use cairn_layout::object::port::*;

/// Smallest buffer of a string port.
const FIRST_STRING_BYTES: usize = 128;

/// Appends bytes to an output port. `None`: the failure is recorded.
#[inline]
pub fn put_bytes(ctx: &mut Machine, port: Port, bytes: &[u8]) -> Option<()> {
    let (pos, end) = (port.pos(), port.end());
    if bytes.len() <= end - pos {
        port.buffer()[pos..pos + bytes.len()].copy_from_slice(bytes);
        port.set_pos(pos + bytes.len());
        return Some(());
    }
    put_bytes_slow(ctx, port, bytes)
}

#[cold]
fn put_bytes_slow(ctx: &mut Machine, port: Port, bytes: &[u8]) -> Option<()> {
    match port.fd() {
        Some(fd) => {
            flush(ctx, port)?;
            if port.buffer().is_empty() {
                let size = buffer_bytes(port);
                let buffer = alloc::alloc_object(ctx, Type::Bytevector, 0, size);
                port.set_buffer(ctx, buffer);
                port.set_end(size as usize);
            }
            let pos = port.pos();
            if has_threads(ctx) {
                // What cannot be written now stays: the program waits before it writes more.
                if bytes.len() > port.end() - pos {
                    grow(ctx, port, pos + bytes.len());
                    port.set_end(port.buffer().len());
                }
            } else if bytes.len() >= port.end() {
                return write_all(ctx, port, fd, bytes);
            }
        }
        None => {
            let pos = port.pos();
            let capacity = (2 * port.end()).max(pos + bytes.len()).max(FIRST_STRING_BYTES);
            let old = port.buffer();
            let buffer = alloc::alloc_object(ctx, Type::Bytevector, 0, capacity as u64);
            access::byte_slice_mut(buffer)[..pos].copy_from_slice(&old[..pos]);
            port.set_buffer(ctx, buffer);
            port.set_end(capacity);
        }
    }
    let pos = port.pos();
    port.buffer()[pos..pos + bytes.len()].copy_from_slice(bytes);
    port.set_pos(pos + bytes.len());
    Some(())
}

/// Text on its way to a port. Remembers a failure, and whether a console needs flushing at the end.
pub struct Writer<'a> {
    ctx: &'a mut Machine,
    port: Port,
    console: bool,
    newline: bool,
    failed: bool,
}

impl<'a> Writer<'a> {
    /// A writer to an open output port.
    pub fn new(ctx: &'a mut Machine, port: Port) -> Writer<'a> {
        let console = port.flags() & FLAG_CONSOLE != 0;
        Writer { ctx, port, console, newline: false, failed: false }
    }
    /// Bytes of UTF-8.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        if self.failed {
            return;
        }
        if self.console && memchr::memchr(b'\n', bytes).is_some() {
            self.newline = true;
        }
        self.failed = put_bytes(self.ctx, self.port, bytes).is_none();
    }
    /// Text.
    #[inline]
    pub fn str(&mut self, text: &str) {
        self.bytes(text.as_bytes())
    }
    /// A character.
    #[inline]
    pub fn char(&mut self, c: u32) {
        let mut buffer = [0; 4];
        let text = access::to_char(c).encode_utf8(&mut buffer);
        self.bytes(text.as_bytes())
    }
    /// Characters.
    pub fn chars(&mut self, chars: &[u32]) {
        let mut buffer = [0; 1024];
        for part in chars.chunks(buffer.len() / 4) {
            let mut n = part.len();
            // Without branches inside, so that the compiler vectorizes it.
            if access::are_ascii(part) {
                for (byte, c) in buffer.iter_mut().zip(part) {
                    *byte = *c as u8;
                }
            } else {
                n = 0;
                for c in part {
                    n += access::to_char(*c).encode_utf8(&mut buffer[n..]).len();
                }
            }
            self.bytes(&buffer[..n]);
        }
    }
    /// Has a write failed? Then the failure is recorded and nothing more is written.
    pub fn failed(&self) -> bool {
        self.failed
    }
    /// Ends the operation: the unspecified value, or `FAIL`; `#f` if the program shall wait until more can be written.
    pub fn finish(self) -> Value {
        if self.failed || (self.newline && flush(self.ctx, self.port).is_none()) {
            return Value::FAIL;
        }
        answer(self.port, self.newline)
    }
}

/// What a write answers: `#f` if the thread shall wait until what is left has been written. `flushed`: all of it should
/// have been.
pub(super) fn answer(port: Port, flushed: bool) -> Value {
    let left = if port.fd().is_some() || port.is_custom() { port.pos() } else { 0 };
    // A custom port of the smallest buffer has none.
    let none = port.is_custom() && port.flags() & FLAG_SOCKET != 0;
    let wait = left as u64 > buffer_bytes(port) || (flushed || none) && left > 0;
    if wait { Value::FALSE } else { Value::UNSPECIFIED }
}

/// The end of an explicit flush: a socket gives its buffer back.
pub(super) fn flushed(ctx: &mut Machine, port: Port) -> Value {
    if has_threads(ctx) && port.flags() & FLAG_SOCKET != 0 && port.pos() == 0 {
        port.set_end(0);
        let empty = make_bytevector(ctx, &[]);
        port.set_buffer(ctx, empty);
    }
    answer(port, true)
}
