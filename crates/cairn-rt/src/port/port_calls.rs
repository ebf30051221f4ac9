//! The runtime calls on ports.

use super::blocking::{has_char, has_chars, has_line, ready_to_read};
use super::output::{Writer, flushed};
use super::*;
use crate::access::{byte_slice, bytes_of, string_of};
use crate::arguments::{check_length, check_range, expect};
use crate::bytes::byte_of;
use crate::failure::check;
use crate::print::{self, Mode};

const TEXT_IN: i64 = FLAG_INPUT | FLAG_TEXTUAL;
const TEXT_OUT: i64 = FLAG_OUTPUT | FLAG_TEXTUAL;
const BYTES_IN: i64 = FLAG_INPUT | FLAG_BINARY;
const BYTES_OUT: i64 = FLAG_OUTPUT | FLAG_BINARY;

/// Before a read: answers `#f` if it would have to wait.
macro_rules! enough {
    ($ctx:expr, $port:expr, $who:literal, $enough:expr) => {
        match ready_to_read($ctx, $port, $who, $enough) {
            Readiness::Ready => {}
            Readiness::Wait => return Value::FALSE,
            Readiness::Failed => return Value::FAIL,
        }
    };
}

/// `(open-file path flags)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_open_file(ctx: &mut Machine, path: Value, flags: Value) -> Value {
    let flags = if flags.is_fixnum() { flags.as_fixnum() } else { 0 };
    let who = opener(flags);
    let _ = expect!(ctx, who, 1, "a string", path, string_of(path));
    open_file(ctx, who, path, flags)
}

/// Standard input, output or error for 0, 1, 2.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_standard(ctx: &mut Machine, i: Value) -> Value {
    match i.as_fixnum() {
        0 => ctx.slot(slot::STDIN),
        1 => ctx.slot(slot::STDOUT),
        _ => ctx.slot(slot::STDERR),
    }
}

/// `(open-input-string string)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_open_input_string(ctx: &mut Machine, s: Value) -> Value {
    let chars = expect!(ctx, "open-input-string", 1, "a string", s, string_of(s));
    let buffer = if access::are_ascii(chars) {
        let v = alloc::alloc_object(ctx, Type::Bytevector, 0, chars.len() as u64);
        for (slot, c) in access::byte_slice_mut(v).iter_mut().zip(chars) {
            *slot = *c as u8;
        }
        v
    } else {
        make_bytevector(ctx, access::string_text(s).as_bytes())
    };
    make_port(ctx, TEXT_IN, buffer, access::length(buffer), None, Value::FALSE)
}

/// `(open-output-string)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_open_output_string(ctx: &mut Machine) -> Value {
    let buffer = make_bytevector(ctx, &[]);
    make_port(ctx, TEXT_OUT, buffer, 0, None, Value::FALSE)
}

/// What was written to a string or bytevector port.
fn accumulated<'a>(ctx: &mut Machine, who: &str, v: Value, wanted: i64, expected: &str) -> Option<&'a [u8]> {
    match Port::of(v).filter(|p| p.flags() & wanted == wanted && p.fd().is_none() && !p.is_custom()) {
        Some(port) => Some(&port.buffer()[..port.pos()]),
        None => {
            wrong_type(ctx, who, 1, expected, v);
            None
        }
    }
}

/// `(get-output-string port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_get_output_string(ctx: &mut Machine, port: Value) -> Value {
    let bytes = check!(accumulated(ctx, "get-output-string", port, TEXT_OUT, "a string output port"));
    alloc::make_string(ctx, &String::from_utf8_lossy(bytes))
}

/// `(take-output-string port)`: what was written since the last time.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_take_output_string(ctx: &mut Machine, port: Value) -> Value {
    let text = cairn_port_get_output_string(ctx, port);
    if let Some(port) = Port::of(port).filter(|_| text != Value::FAIL) {
        port.set_pos(0);
    }
    text
}

/// `(open-input-bytevector bytevector)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_open_input_bytevector(ctx: &mut Machine, v: Value) -> Value {
    let bytes = expect!(ctx, "open-input-bytevector", 1, "a bytevector", v, bytes_of(v));
    let buffer = make_bytevector(ctx, bytes);
    make_port(ctx, BYTES_IN, buffer, bytes.len(), None, Value::FALSE)
}

/// `(open-output-bytevector)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_open_output_bytevector(ctx: &mut Machine) -> Value {
    let buffer = make_bytevector(ctx, &[]);
    make_port(ctx, BYTES_OUT, buffer, 0, None, Value::FALSE)
}

/// `(get-output-bytevector port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_get_output_bytevector(ctx: &mut Machine, port: Value) -> Value {
    let bytes = check!(accumulated(ctx, "get-output-bytevector", port, BYTES_OUT, "a bytevector output port"));
    make_bytevector(ctx, bytes)
}

/// `(close-port port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_close(ctx: &mut Machine, v: Value) -> Value {
    let port = expect!(ctx, "close-port", 1, "a port", v, Port::of(v));
    check!(close(ctx, port));
    Value::UNSPECIFIED
}

/// `(flush-output-port port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_flush(ctx: &mut Machine, port: Value) -> Value {
    let port = check!(check_port(ctx, "flush-output-port", 1, port, FLAG_OUTPUT));
    check!(flush(ctx, port));
    flushed(ctx, port)
}

/// `(read-char port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_read_char(ctx: &mut Machine, port: Value) -> Value {
    let port = check!(check_port(ctx, "read-char", 1, port, TEXT_IN));
    enough!(ctx, port, "read-char", has_char);
    input::read_char(ctx, port, "read-char")
}

/// `(peek-char port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_peek_char(ctx: &mut Machine, port: Value) -> Value {
    let port = check!(check_port(ctx, "peek-char", 1, port, TEXT_IN));
    enough!(ctx, port, "peek-char", has_char);
    match check!(peek_scalar(ctx, port, "peek-char")) {
        Peeked::Char(c, _) => Value::char(c),
        Peeked::Eof => Value::EOF,
    }
}

/// `(port-line port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_line(ctx: &mut Machine, v: Value) -> Value {
    Value::fixnum(expect!(ctx, "port-line", 1, "a port", v, Port::of(v)).line())
}

/// `(port-inside-line? port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_inside_line(ctx: &mut Machine, v: Value) -> Value {
    let port = check!(check_port(ctx, "fresh-line", 1, v, FLAG_OUTPUT | FLAG_TEXTUAL));
    Value::bool(match port.pos() {
        0 => port.flags() & FLAG_INSIDE_LINE != 0,
        n => port.buffer()[n - 1] != b'\n',
    })
}

/// `(read-line port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_read_line(ctx: &mut Machine, port: Value) -> Value {
    let port = check!(check_port(ctx, "read-line", 1, port, TEXT_IN));
    enough!(ctx, port, "read-line", |bytes: &[u8]| has_line(port, bytes));
    input::read_line(ctx, port, "read-line")
}

/// `(read-string k port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_read_string(ctx: &mut Machine, k: Value, port: Value) -> Value {
    let k = check!(check_length(ctx, "read-string", k));
    let port = check!(check_port(ctx, "read-string", 2, port, TEXT_IN));
    enough!(ctx, port, "read-string", |bytes: &[u8]| has_chars(bytes, k as usize));
    input::read_string(ctx, port, "read-string", k as usize)
}

/// `(char-ready? port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_char_ready(ctx: &mut Machine, port: Value) -> Value {
    let port = check!(check_port(ctx, "char-ready?", 1, port, TEXT_IN));
    Value::bool(input::is_ready(port))
}

/// `(read-u8 port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_read_u8(ctx: &mut Machine, port: Value) -> Value {
    let port = check!(check_port(ctx, "read-u8", 1, port, BYTES_IN));
    enough!(ctx, port, "read-u8", |bytes: &[u8]| !bytes.is_empty());
    input::read_byte(ctx, port, "read-u8", true)
}

/// `(peek-u8 port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_peek_u8(ctx: &mut Machine, port: Value) -> Value {
    let port = check!(check_port(ctx, "peek-u8", 1, port, BYTES_IN));
    enough!(ctx, port, "peek-u8", |bytes: &[u8]| !bytes.is_empty());
    input::read_byte(ctx, port, "peek-u8", false)
}

/// `(u8-ready? port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_u8_ready(ctx: &mut Machine, port: Value) -> Value {
    let port = check!(check_port(ctx, "u8-ready?", 1, port, BYTES_IN));
    Value::bool(input::is_ready(port))
}

/// `(read-bytevector k port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_read_bytevector(ctx: &mut Machine, k: Value, port: Value) -> Value {
    let k = check!(check_length(ctx, "read-bytevector", k));
    let port = check!(check_port(ctx, "read-bytevector", 2, port, BYTES_IN));
    enough!(ctx, port, "read-bytevector", |bytes: &[u8]| bytes.len() >= k as usize);
    input::read_bytes(ctx, port, "read-bytevector", k as usize)
}

/// `(write-char char port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_write_char(ctx: &mut Machine, c: Value, port: Value) -> Value {
    let c = expect!(ctx, "write-char", 1, "a character", c, c.is_char().then(|| c.as_char()));
    let port = check!(check_port(ctx, "write-char", 2, port, TEXT_OUT));
    let mut writer = Writer::new(ctx, port);
    writer.char(c);
    writer.finish()
}

/// `(write-string string port start end)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_write_string(
    ctx: &mut Machine,
    s: Value,
    port: Value,
    start: Value,
    end: Value,
) -> Value {
    let chars = expect!(ctx, "write-string", 1, "a string", s, string_of(s));
    let port = check!(check_port(ctx, "write-string", 2, port, TEXT_OUT));
    let range = check!(check_range(ctx, "write-string", 3, chars.len(), start, end));
    let mut writer = Writer::new(ctx, port);
    writer.chars(&chars[range]);
    writer.finish()
}

/// `(write-u8 byte port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_write_u8(ctx: &mut Machine, byte: Value, port: Value) -> Value {
    let b = expect!(ctx, "write-u8", 1, "a byte", byte, byte_of(byte));
    let port = check!(check_port(ctx, "write-u8", 2, port, BYTES_OUT));
    let mut writer = Writer::new(ctx, port);
    writer.bytes(&[b]);
    writer.finish()
}

/// `(write-bytevector bytevector port start end)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_write_bytes(
    ctx: &mut Machine,
    v: Value,
    port: Value,
    start: Value,
    end: Value,
) -> Value {
    let n = expect!(ctx, "write-bytevector", 1, "a bytevector", v, bytes_of(v)).len();
    let port = check!(check_port(ctx, "write-bytevector", 2, port, BYTES_OUT));
    let range = check!(check_range(ctx, "write-bytevector", 3, n, start, end));
    let mut writer = Writer::new(ctx, port);
    writer.bytes(&byte_slice(v)[range]);
    writer.finish()
}

/// `(write-object object port mode)`: mode 0 `display`, 1 `write`, 2 `write-shared`, 3 `write-simple`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_write_object(ctx: &mut Machine, object: Value, port: Value, mode: Value) -> Value {
    let (mode, who) = match mode.as_fixnum() {
        0 => (Mode::Display, "display"),
        1 => (Mode::Write, "write"),
        2 => (Mode::Shared, "write-shared"),
        _ => (Mode::Simple, "write-simple"),
    };
    let port = check!(check_port(ctx, who, 2, port, TEXT_OUT));
    let mut writer = Writer::new(ctx, port);
    print::print(&mut writer, object, mode);
    writer.finish()
}

/// `(file-exists? path)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_file_exists(ctx: &mut Machine, path: Value) -> Value {
    let _ = expect!(ctx, "file-exists?", 1, "a string", path, string_of(path));
    Value::bool(std::fs::metadata(access::string_text(path)).is_ok())
}

/// `(delete-file path)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_delete_file(ctx: &mut Machine, path: Value) -> Value {
    let _ = expect!(ctx, "delete-file", 1, "a string", path, string_of(path));
    match std::fs::remove_file(access::string_text(path)) {
        Ok(()) => Value::UNSPECIFIED,
        Err(e) => file_error(ctx, "delete-file", "delete", path, &e),
    }
}
