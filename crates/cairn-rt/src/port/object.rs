//! Ports as objects: their fields, their buffers, and how they are made.

use crate::access;
use crate::alloc::{self, make_bytevector, store_word};
use cairn_layout::Value;
use cairn_layout::machine::{Machine, slot};
use cairn_layout::object::port::*;
use cairn_layout::object::{Type, port as field};

/// Bytes in the buffer of a file port.
pub const BUFFER_BYTES: u64 = 64 * 1024;
/// Bytes in the buffer of a socket.
const SOCKET_BYTES: u64 = 4 * 1024;

/// A value known to be a port.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Port(pub(super) Value);

impl Port {
    /// `v` as a port.
    #[inline]
    pub fn of(v: Value) -> Option<Port> {
        access::is(v, Type::Port).then_some(Port(v))
    }
    /// Is it not closed?
    pub fn is_open(self) -> bool {
        self.flags() & FLAG_OPEN != 0
    }
    /// The value.
    pub fn value(self) -> Value {
        self.0
    }
    #[inline]
    fn int(self, i: u64) -> i64 {
        access::word(self.0, i).as_fixnum()
    }
    /// Stores a value that is no pointer.
    #[inline]
    pub(super) fn set_plain(self, i: u64, v: Value) {
        debug_assert!(!v.is_pointer());
        // SAFETY: callers pass a field's index, below `port::LEN`, and `self.0` is a port.
        unsafe { *access::word_address(self.0, i as usize) = v }
    }
    /// `FLAG_*` bits.
    #[inline]
    pub fn flags(self) -> i64 {
        self.int(field::FLAGS)
    }
    pub(super) fn set_flags(self, flags: i64) {
        self.set_plain(field::FLAGS, Value::fixnum(flags))
    }
    /// Next byte to read or write.
    #[inline]
    pub fn pos(self) -> usize {
        self.int(field::POS) as usize
    }
    /// Moves to another byte.
    #[inline]
    pub fn set_pos(self, pos: usize) {
        self.set_plain(field::POS, Value::fixnum(pos as i64))
    }
    /// End of valid bytes (input), capacity (output).
    #[inline]
    pub fn end(self) -> usize {
        self.int(field::END) as usize
    }
    pub(super) fn set_end(self, end: usize) {
        self.set_plain(field::END, Value::fixnum(end as i64))
    }
    /// The buffer.
    #[inline]
    pub fn buffer<'a>(self) -> &'a mut [u8] {
        access::byte_slice_mut(access::word(self.0, field::BUF))
    }
    /// The unread bytes of an input port.
    #[inline]
    pub fn unread<'a>(self) -> &'a [u8] {
        &self.buffer()[self.pos()..self.end()]
    }
    pub(super) fn set_buffer(self, ctx: &mut Machine, buffer: Value) {
        store_word(ctx, self.0, field::BUF, buffer)
    }
    /// File descriptor, unless it is a string or bytevector port.
    #[inline]
    pub fn fd(self) -> Option<i32> {
        let v = access::word(self.0, field::FD);
        v.is_fixnum().then(|| v.as_fixnum() as i32)
    }
    /// Is it a custom port? What reads and writes for it is a procedure of the library, in the place of a descriptor.
    pub fn is_custom(self) -> bool {
        access::word(self.0, field::FD).is_procedure()
    }
    /// The line of the next byte to read, from 1.
    pub fn line(self) -> i64 {
        if self.flags() & FLAG_INPUT != 0 {
            let (from, to) = (self.int(field::COUNTED) as usize, self.pos());
            let lines = memchr::memchr_iter(b'\n', &self.buffer()[from..to]).count();
            self.set_plain(field::LINE, Value::fixnum(self.int(field::LINE) + lines as i64));
            self.set_plain(field::COUNTED, Value::fixnum(to as i64));
        }
        self.int(field::LINE)
    }
    /// Puts the unread bytes, which were moved, at the start of the buffer.
    pub(super) fn restart(self, unread: usize) {
        self.set_pos(0);
        self.set_end(unread);
        self.set_plain(field::COUNTED, Value::fixnum(0));
    }
    /// The file's name as the user gave it.
    pub fn name(self) -> Option<String> {
        let v = access::word(self.0, field::NAME);
        access::string_of(v).map(|_| access::string_text(v))
    }
    /// What messages call the port: its name, or what kind of port it is.
    pub fn title(self) -> String {
        self.name().unwrap_or_else(|| "a string port".to_string())
    }
}

/// A fresh port.
pub fn make_port(ctx: &mut Machine, flags: i64, buffer: Value, end: usize, fd: Option<i32>, name: Value) -> Value {
    let v = alloc::alloc_object(ctx, Type::Port, compiled_code_can(flags), field::LEN);
    let fields = access::words_mut(v);
    fields[field::FLAGS as usize] = Value::fixnum(flags | FLAG_OPEN);
    fields[field::BUF as usize] = buffer;
    fields[field::POS as usize] = Value::fixnum(0);
    fields[field::END as usize] = Value::fixnum(end as i64);
    fields[field::FD as usize] = fd.map_or(Value::FALSE, |fd| Value::fixnum(fd as i64));
    fields[field::NAME as usize] = name;
    fields[field::LINE as usize] = Value::fixnum(1);
    fields[field::EXTRA as usize] = Value::FALSE;
    fields[field::COUNTED as usize] = Value::fixnum(0);
    fields[field::OTHER as usize] = Value::FALSE;
    v
}

/// The `CAN_*` flags of a port with these `FLAG_*` bits.
fn compiled_code_can(flags: i64) -> u8 {
    let both = |bits: i64, can: u8| if flags & bits == bits { can } else { 0 };
    // In a port that reads and writes the runtime sees to the direction.
    if flags & (FLAG_INPUT | FLAG_OUTPUT) == FLAG_INPUT | FLAG_OUTPUT {
        return 0;
    }
    let reads = both(FLAG_INPUT | FLAG_TEXTUAL, CAN_READ_TEXT) | both(FLAG_INPUT | FLAG_BINARY, CAN_READ_BYTES);
    let writes =
        both(FLAG_OUTPUT | FLAG_TEXTUAL, CAN_WRITE_TEXT) | both(FLAG_OUTPUT | FLAG_BINARY, CAN_WRITE_BYTES);
    reads | if flags & FLAG_CONSOLE == 0 { writes } else { 0 }
}

/// A port on a file descriptor. Its buffer is allocated when first used.
pub fn make_fd_port(ctx: &mut Machine, flags: i64, fd: i32, name: &str) -> Value {
    let name = alloc::make_string(ctx, name);
    let buffer = make_bytevector(ctx, &[]);
    make_port(ctx, flags, buffer, 0, Some(fd), name)
}

/// A port with these `FLAG_*` bits that is closed.
pub fn make_closed(ctx: &mut Machine, flags: i64) -> Value {
    let buffer = make_bytevector(ctx, &[]);
    let v = make_port(ctx, flags, buffer, 0, None, Value::FALSE);
    Port(v).set_flags(flags & !FLAG_OPEN);
    v
}

/// The standard output port.
pub fn standard_output(ctx: &Machine) -> Option<Port> {
    Port::of(ctx.slot(slot::STDOUT))
}

pub(super) fn drop_buffer(ctx: &mut Machine, port: Port) {
    port.line();
    port.restart(0);
    let empty = make_bytevector(ctx, &[]);
    port.set_buffer(ctx, empty);
}

/// Bytes in a port's buffer.
pub(super) fn buffer_bytes(port: Port) -> u64 {
    if port.flags() & FLAG_SOCKET != 0 { SOCKET_BYTES } else { BUFFER_BYTES }
}

/// A larger buffer, with room for `least` bytes and more.
pub(super) fn grow(ctx: &mut Machine, port: Port, least: usize) {
    let old = port.buffer();
    let size = (2 * old.len()).max(least + 1);
    let buffer = alloc::alloc_object(ctx, Type::Bytevector, 0, size as u64);
    access::byte_slice_mut(buffer)[..old.len()].copy_from_slice(old);
    port.set_buffer(ctx, buffer);
}
