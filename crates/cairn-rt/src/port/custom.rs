//! Custom ports, whose bytes procedures of the library take and give, and positions of ports.
//!
//! The problem: the runtime calls no Scheme. The idea: a custom port is one that would block whenever its buffer does
//! not do ([`super::blocking`]). The answer is `#f` then; `lib/cairn/port.scm` calls the port's procedure, which feeds
//! the buffer or takes what is in it, and asks again. So every reading and writing procedure works for custom ports.
//!
//! A port that reads and writes has one buffer at a time. While it writes, what came and was not read yet is kept in
//! [`field::OTHER`]; what was written is taken before it reads again.

use super::check::writes;
use super::flush::note_line;
use super::object::drop_buffer;
use super::*;
use crate::failure::check;

/// `(custom-port handler flags name)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_custom(ctx: &mut Machine, handler: Value, flags: Value, name: Value) -> Value {
    let buffer = make_bytevector(ctx, &[]);
    let v = make_port(ctx, flags.as_fixnum(), buffer, 0, None, name);
    store_word(ctx, v, field::FD, handler);
    v
}

/// `(port-feed! port bytevector start end)`: more to read for a custom port; nothing: the end of the file.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_feed(ctx: &mut Machine, v: Value, bytes: Value, start: Value, end: Value) -> Value {
    let port = check!(check_port(ctx, "port-feed!", 1, v, FLAG_INPUT));
    let Some(all) = access::bytes_of(bytes) else {
        return wrong_type(ctx, "port-feed!", 2, "a bytevector", bytes);
    };
    let range = check!(crate::arguments::check_range(ctx, "port-feed!", 3, all.len(), start, end));
    if range.is_empty() {
        port.set_flags(port.flags() | FLAG_AT_EOF);
        return Value::UNSPECIFIED;
    }
    port.line();
    let unread = port.unread().len();
    let buffer = alloc::alloc_object(ctx, Type::Bytevector, 0, (unread + range.len()) as u64);
    let to = access::byte_slice_mut(buffer);
    to[..unread].copy_from_slice(port.unread());
    to[unread..].copy_from_slice(&access::byte_slice(bytes)[range]);
    port.set_buffer(ctx, buffer);
    port.restart(access::length(buffer));
    Value::UNSPECIFIED
}

/// `(port-take! port)`: what a custom port holds that was written, which leaves it.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_take(ctx: &mut Machine, v: Value) -> Value {
    let Some(port) = Port::of(v).filter(|p| p.is_custom()) else {
        return make_bytevector(ctx, &[]);
    };
    if port.flags() & FLAG_INPUT != 0 && !writes(port) {
        return make_bytevector(ctx, &[]);
    }
    let taken = make_bytevector(ctx, &port.buffer()[..port.pos()]);
    note_line(port, access::byte_slice(taken));
    port.set_pos(0);
    taken
}

/// `(port-unread port)`: how many bytes the buffer of a port has that were not read.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_unread(ctx: &mut Machine, v: Value) -> Value {
    let Some(port) = Port::of(v) else { return wrong_type(ctx, "port-unread", 1, "a port", v) };
    let other = access::word(v, field::OTHER);
    let n = match port.flags() & FLAG_INPUT {
        0 => 0,
        _ if other != Value::FALSE => access::length(other),
        _ => port.unread().len(),
    };
    Value::fixnum(n as i64)
}

/// `(port-forget! port)`: what a custom port has come to hold and nobody has read is dropped.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_forget(ctx: &mut Machine, v: Value) -> Value {
    let port = check!(check_port(ctx, "port-forget!", 1, v, FLAG_INPUT));
    port.set_flags(port.flags() & !FLAG_AT_EOF);
    drop_buffer(ctx, port);
    Value::UNSPECIFIED
}

/// `(port-seek port position)`: moves a port on a file, or one that reads a string or bytevector, to this byte; `#f`:
/// it stays. The position before, or `#f` if the port has none.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_port_seek(ctx: &mut Machine, v: Value, to: Value) -> Value {
    let port = check!(check_port(ctx, "port-position", 1, v, 0));
    let target = to.is_fixnum().then(|| to.as_fixnum());
    let input = port.flags() & FLAG_INPUT != 0;
    let Some(fd) = port.fd() else {
        let before = Value::fixnum(port.pos() as i64);
        return match target {
            None => before,
            Some(n) if input && (0..=port.end() as i64).contains(&n) => {
                port.line();
                port.set_plain(field::COUNTED, Value::fixnum(n));
                port.set_pos(n as usize);
                before
            }
            Some(_) => Value::FALSE,
        };
    };
    if !input {
        check!(flush(ctx, port));
    }
    // SAFETY: `lseek` is given no address, so it touches no memory.
    let at = unsafe { libc::lseek(fd, 0, libc::SEEK_CUR) };
    if at < 0 {
        return Value::FALSE;
    }
    let before = if input { at - port.unread().len() as i64 } else { at + port.pos() as i64 };
    if let Some(n) = target {
        // SAFETY: `lseek` is given no address, so it touches no memory.
        if n < 0 || unsafe { libc::lseek(fd, n, libc::SEEK_SET) } < 0 {
            return Value::FALSE;
        }
        if input {
            port.set_flags(port.flags() & !FLAG_AT_EOF);
            drop_buffer(ctx, port);
        }
    }
    Value::fixnum(before)
}
