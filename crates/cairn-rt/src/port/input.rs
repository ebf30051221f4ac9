//! Reading: filling buffers, decoding UTF-8.

use super::flush::{flush, wait};
use super::object::{Port, buffer_bytes, grow, standard_output};
use crate::access;
use crate::alloc::{self};
use crate::failure::{check, file_error, read_error};
use crate::machine::stop;
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::port::*;
use cairn_layout::object::{Type, port as field};

/// Makes more bytes available after the unread ones. `Some(false)`: the end of the file. `None`: the failure is
/// recorded.
pub fn fill(ctx: &mut Machine, port: Port, who: &str) -> Option<bool> {
    let Some(fd) = port.fd() else { return Some(false) };
    if port.flags() & FLAG_AT_EOF != 0 {
        return Some(false);
    }
    if port.buffer().is_empty() {
        let buffer = alloc::alloc_object(ctx, Type::Bytevector, 0, buffer_bytes(port));
        port.set_buffer(ctx, buffer);
    }
    let (pos, end) = (port.pos(), port.end());
    if pos > 0 {
        port.line();
        port.buffer().copy_within(pos..end, 0);
        port.restart(end - pos);
    }
    if !prompt(ctx, fd) {
        return None;
    }
    let from = port.end();
    if from == port.buffer().len() {
        grow(ctx, port, from);
    }
    let room = &mut port.buffer()[from..];
    debug_assert!(!room.is_empty());
    before_read(ctx, fd);
    loop {
        stop::serve_blocked(ctx);
        // SAFETY: `room` is a slice of bytes that can be written, and the call is told its length.
        let n = unsafe { libc::read(fd, room.as_mut_ptr().cast(), room.len()) };
        if n > 0 {
            port.set_end(from + n as usize);
            return Some(true);
        }
        if n == 0 {
            if port.flags() & FLAG_CONSOLE != 0 {
                port.set_flags(port.flags() | FLAG_AT_EOF);
            }
            return Some(false);
        }
        let error = std::io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EAGAIN) => _ = wait(fd, libc::POLLIN, -1),
            _ => {
                let name = access::word(port.value(), field::NAME);
                file_error(ctx, who, "read", name, &error);
                return None;
            }
        }
    }
}

/// What was asked should be seen before the answer is awaited. False: the failure is recorded.
pub(super) fn prompt(ctx: &mut Machine, fd: i32) -> bool {
    let console = |p: &Port| fd == 0 && p.flags() & FLAG_CONSOLE != 0;
    standard_output(ctx).filter(console).is_none_or(|out| flush(ctx, out).is_some())
}

/// The end-of-file object has been handed out: a console can be read again.
pub(super) fn saw_eof(port: Port) -> Value {
    port.set_flags(port.flags() & !FLAG_AT_EOF);
    Value::EOF
}

/// What comes next in a textual port.
pub enum Peeked {
    /// A scalar value and its length in bytes.
    Char(u32, usize),
    /// The end of the file.
    Eof,
}

/// The next character, not consumed. `None`: the failure is recorded (and an offending byte consumed).
pub fn peek_scalar(ctx: &mut Machine, port: Port, who: &str) -> Option<Peeked> {
    let next = decode(ctx, port, who)?;
    if let Err(BadByte(byte)) = next {
        port.set_pos(port.pos() + 1);
        invalid_utf8(ctx, port, who, byte);
    }
    next.ok()
}

/// With this byte no encoding of a character begins, or none that is whole.
struct BadByte(u8);

/// What comes next, not consumed. `None`: it could not be read, and the failure is recorded.
fn decode(ctx: &mut Machine, port: Port, who: &str) -> Option<Result<Peeked, BadByte>> {
    if port.pos() == port.end() && !fill(ctx, port, who)? {
        return Some(Ok(Peeked::Eof));
    }
    let first = port.unread()[0];
    if first < 0x80 {
        return Some(Ok(Peeked::Char(first as u32, 1)));
    }
    let length = sequence_length(first);
    while port.unread().len() < length {
        if !fill(ctx, port, who)? {
            break;
        }
    }
    let bytes = port.unread();
    Some(match std::str::from_utf8(&bytes[..length.min(bytes.len())]) {
        Ok(text) => Ok(Peeked::Char(text.chars().next().map_or(0xFFFD, |c| c as u32), length)),
        Err(_) => Err(BadByte(first)),
    })
}

/// Bytes in the UTF-8 sequence that begins with `first` (1 when none does).
pub(super) fn sequence_length(first: u8) -> usize {
    match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    }
}

#[cold]
fn invalid_utf8(ctx: &mut Machine, port: Port, who: &str, byte: u8) -> Value {
    let message = format!("invalid UTF-8 in {}, line {}: byte #x{byte:02x}", port.title(), port.line());
    read_error(ctx, who, message, &[])
}

/// A string of UTF-8 bytes, of which the port has not passed the last newline, or a read error.
fn text_value(ctx: &mut Machine, port: Port, who: &str, bytes: &[u8]) -> Value {
    if bytes.is_ascii() {
        return alloc::make_ascii_string(ctx, bytes);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => alloc::make_string(ctx, text),
        Err(e) => invalid_utf8(ctx, port, who, bytes[e.valid_up_to()]),
    }
}

/// The rest of the line without its end (linefeed, carriage return, or both), or the end-of-file object.
pub(super) fn read_line(ctx: &mut Machine, port: Port, who: &str) -> Value {
    // The line so far, when it began in an earlier buffer.
    let mut before: Vec<u8> = Vec::new();
    loop {
        if port.pos() == port.end() && !check!(fill(ctx, port, who)) {
            return if before.is_empty() { saw_eof(port) } else { text_value(ctx, port, who, &before) };
        }
        let unread = port.unread();
        let Some(n) = memchr::memchr2(b'\n', b'\r', unread) else {
            before.extend_from_slice(unread);
            port.set_pos(port.end());
            continue;
        };
        let line = if before.is_empty() {
            text_value(ctx, port, who, &unread[..n])
        } else {
            before.extend_from_slice(&unread[..n]);
            text_value(ctx, port, who, &before)
        };
        let carriage_return = unread[n] == b'\r';
        port.set_pos(port.pos() + n + 1);
        if carriage_return {
            // A linefeed right after belongs to the same line end. A console is not asked for more.
            if port.pos() == port.end() && port.flags() & FLAG_CONSOLE == 0 {
                check!(fill(ctx, port, who));
            }
            if port.unread().first() == Some(&b'\n') {
                port.set_pos(port.pos() + 1);
            }
        }
        return line;
    }
}

/// Up to `k` characters, or the end-of-file object when there is none. Fewer where a bad byte comes next.
pub(super) fn read_string(ctx: &mut Machine, port: Port, who: &str, k: usize) -> Value {
    let mut chars: Vec<u32> = Vec::with_capacity(k.min(1 << 16));
    while chars.len() < k {
        // The longest run of whole ASCII characters at once, anything else one by one.
        let unread = port.unread();
        let run = unread.iter().take(k - chars.len()).take_while(|b| **b < 0x80).count();
        if run > 0 {
            chars.extend(unread[..run].iter().map(|b| *b as u32));
            port.set_pos(port.pos() + run);
            continue;
        }
        match check!(decode(ctx, port, who)) {
            Ok(Peeked::Char(c, n)) => {
                port.set_pos(port.pos() + n);
                chars.push(c);
            }
            // The next read tells of a bad byte, or of the end.
            _ if !chars.is_empty() => break,
            Ok(Peeked::Eof) => return saw_eof(port),
            Err(BadByte(byte)) => {
                port.set_pos(port.pos() + 1);
                return invalid_utf8(ctx, port, who, byte);
            }
        }
    }
    alloc::make_string_from_chars(ctx, &chars)
}

/// The next character, consumed, or the end-of-file object.
pub(super) fn read_char(ctx: &mut Machine, port: Port, who: &str) -> Value {
    match peek_scalar(ctx, port, who) {
        None => Value::FAIL,
        Some(Peeked::Eof) => saw_eof(port),
        Some(Peeked::Char(c, n)) => {
            port.set_pos(port.pos() + n);
            Value::char(c)
        }
    }
}

/// The next byte, or the end-of-file object.
pub(super) fn read_byte(ctx: &mut Machine, port: Port, who: &str, consume: bool) -> Value {
    if port.pos() == port.end() {
        match fill(ctx, port, who) {
            None => return Value::FAIL,
            Some(false) if consume => return saw_eof(port),
            Some(false) => return Value::EOF,
            Some(true) => {}
        }
    }
    let byte = port.unread()[0];
    if consume {
        port.set_pos(port.pos() + 1);
    }
    Value::fixnum(byte as i64)
}

/// Up to `k` bytes, or the end-of-file object when there is none.
pub(super) fn read_bytes(ctx: &mut Machine, port: Port, who: &str, k: usize) -> Value {
    let mut bytes: Vec<u8> = Vec::with_capacity(k.min(1 << 20));
    while bytes.len() < k {
        if port.pos() == port.end() {
            match fill(ctx, port, who) {
                None => return Value::FAIL,
                Some(true) => {}
                Some(false) if bytes.is_empty() => return saw_eof(port),
                Some(false) => break,
            }
        }
        let unread = port.unread();
        let n = unread.len().min(k - bytes.len());
        bytes.extend_from_slice(&unread[..n]);
        port.set_pos(port.pos() + n);
    }
    alloc::make_bytevector(ctx, &bytes)
}

/// Would a read return at once?
pub(super) fn is_ready(port: Port) -> bool {
    let Some(fd) = port.fd() else { return true };
    if port.pos() < port.end() || port.flags() & FLAG_AT_EOF != 0 {
        return true;
    }
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: `poll` is one valid `pollfd`, and the call is told of one.
    unsafe { libc::poll(&mut poll, 1, 0) > 0 }
}

/// How long a program waits for input before it counts as idle.
pub(super) const IDLE_MILLISECONDS: i32 = 50;

/// To be called before a read that may block: an idle program gives the pages it does not use back to the system.
fn before_read(ctx: &mut Machine, fd: i32) {
    if rt(ctx).heap.may_release() && !wait(fd, libc::POLLIN, IDLE_MILLISECONDS) {
        rt(ctx).heap.release_free();
    }
}
