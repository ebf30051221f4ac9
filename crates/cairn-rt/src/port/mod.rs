//! Ports: buffered byte streams, textual ones in UTF-8.
//!
//! A port is a heap object with the fields of `cairn_layout::object::port`; compiled code takes an ASCII character from
//! the buffer, or puts one there, by itself (`cairn_llvm::emit::prims::port`). Everything else is here.
//!
//! ```text
//!  input    BUF │ read │ unread bytes │ free │        output   BUF │ unflushed bytes │ free  │
//!                      POS            END                          0                 POS     END
//! ```
//!
//! Invariants: `POS` and `END` are fixnums within `BUF`; they are equal in a closed port and in one whose buffer is not
//! yet allocated, so that compiled code need not ask whether a port is open; the `CAN_*` flags of the header say what
//! it may do at all (a console is flushed after each line, so nothing is put there by compiled code). Lines are counted
//! when somebody asks, or when the bytes leave the buffer. Buffers of file ports are allocated at first use. Open file
//! ports are listed in `Runtime::open_ports`, weakly: those that a program drops are closed after the collection that
//! finds out; the others are flushed at exit. Without a free descriptor, opening asks for a collection and for another
//! try. Input text that is not UTF-8 is a read error that names file, line and byte; the offending byte is consumed, so
//! reading can go on.

mod blocking;
pub mod custom;
mod input;
mod output;
pub mod port_calls;

pub(crate) use blocking::Readiness;
pub use input::{Peeked, peek_scalar};
pub use output::Writer;

use crate::access;
use crate::alloc::{self, make_bytevector, store_word};
use crate::failure::{describe_io, fail, file_error, other, wrong_type};
use crate::fatal;
use crate::machine::stop;
use crate::runtime::{Runtime, rt};
use cairn_heap::WeakVisitor;
use cairn_layout::Value;
use cairn_layout::machine::{Machine, error as kind, slot};
use cairn_layout::object::{Type, port as field};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

pub(crate) use cairn_layout::object::port::*;

/// Bytes in the buffer of a file port.
pub const BUFFER_BYTES: u64 = 64 * 1024;

/// A value known to be a port.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Port(Value);

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
    fn set_plain(self, i: u64, v: Value) {
        debug_assert!(!v.is_pointer());
        // SAFETY: `i` is a field index below `port::LEN`.
        unsafe { *access::word_address(self.0, i as usize) = v }
    }
    /// `FLAG_*` bits.
    #[inline]
    pub fn flags(self) -> i64 {
        self.int(field::FLAGS)
    }
    fn set_flags(self, flags: i64) {
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
    fn set_end(self, end: usize) {
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
    fn set_buffer(self, ctx: &mut Machine, buffer: Value) {
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
    fn restart(self, unread: usize) {
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

/// Gives closed standard descriptors a placeholder that cannot be used, so that no file is ever opened in their place
/// and using them is an error that is reported.
///
/// Runs before `main` too: the standard library's own start-up would put in `/dev/null`, which swallows output.
pub extern "C" fn reserve_standard() {
    for fd in 0..3 {
        let mode = if fd == 0 { libc::O_WRONLY } else { libc::O_RDONLY };
        // SAFETY: plain system calls; `open` takes the lowest free descriptor, which is `fd`.
        unsafe {
            if libc::fcntl(fd, libc::F_GETFD) == -1 {
                libc::open(c"/dev/null".as_ptr(), mode);
            }
        }
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static RESERVE_STANDARD: extern "C" fn() = reserve_standard;

/// Puts the three standard ports into their machine slots.
pub fn open_standard(ctx: &mut Machine) {
    reserve_standard();
    // SAFETY: isatty only looks at a descriptor.
    let console = |fd: i32| if unsafe { libc::isatty(fd) } == 1 { FLAG_CONSOLE } else { 0 };
    let both = FLAG_TEXTUAL | FLAG_BINARY;
    *ctx.slot_mut(slot::STDIN) = make_fd_port(ctx, FLAG_INPUT | both | console(0), 0, "standard input");
    *ctx.slot_mut(slot::STDOUT) = make_fd_port(ctx, FLAG_OUTPUT | both | console(1), 1, "standard output");
    *ctx.slot_mut(slot::STDERR) = make_fd_port(ctx, FLAG_OUTPUT | both | FLAG_CONSOLE, 2, "standard error");
}

/// The standard output port.
pub fn standard_output(ctx: &Machine) -> Option<Port> {
    Port::of(ctx.slot(slot::STDOUT))
}

/// Checks that `v` is an open port with all of `wanted` flags.
pub(crate) fn check_port(ctx: &mut Machine, who: &str, argument: u32, v: Value, wanted: i64) -> Option<Port> {
    let Some(port) = Port::of(v) else {
        wrong_type(ctx, who, argument, "a port", v);
        return None;
    };
    let flags = port.flags();
    if flags & wanted != wanted {
        let side = if wanted & FLAG_INPUT != 0 { "input" } else { "output" };
        let expected = match wanted & (FLAG_TEXTUAL | FLAG_BINARY) {
            FLAG_TEXTUAL => format!("a textual {side} port"),
            FLAG_BINARY => format!("a binary {side} port"),
            _ => format!("an {side} port"),
        };
        wrong_type(ctx, who, argument, &expected, v);
        return None;
    }
    if flags & FLAG_OPEN == 0 {
        other(ctx, who, "the port is closed:", &[v]);
        return None;
    }
    if flags & (FLAG_INPUT | FLAG_OUTPUT) == FLAG_INPUT | FLAG_OUTPUT {
        custom::turn(ctx, port, wanted);
    }
    Some(port)
}

/// A failure to write to a port's file.
#[cold]
fn write_failed(ctx: &mut Machine, port: Port, error: &std::io::Error) -> Value {
    match port.fd() {
        Some(1) => {
            fatal::say(ctx, &format!("cairn: cannot write to standard output: {}", describe_io(error)));
            fatal::end_now(ctx, 1)
        }
        Some(2) => fatal::end_now(ctx, 1),
        _ => {
            let name = access::word(port.0, field::NAME);
            file_error(ctx, "write", "write to", name, error)
        }
    }
}

/// Writes out what an output port has buffered. `None`: the failure is recorded.
pub fn flush(ctx: &mut Machine, port: Port) -> Option<()> {
    let n = port.pos();
    let Some(fd) = port.fd() else { return Some(()) };
    if n == 0 || port.flags() & FLAG_OUTPUT == 0 {
        return Some(());
    }
    // The bytes leave the buffer even when they cannot be written, so that the failure is reported once.
    port.set_pos(0);
    if !blocking::has_threads(ctx) {
        return write_all(ctx, port, fd, &port.buffer()[..n]);
    }
    let written = blocking::write_some(ctx, port, fd, &port.buffer()[..n])?;
    port.buffer().copy_within(written..n, 0);
    port.set_pos(n - written);
    Some(())
}

/// How long a program that a signal ends waits for somebody to take its output.
const PATIENCE_MS: i32 = 1000;

/// Remembers whether these bytes, which leave the port's buffer, end a line.
fn note_line(port: Port, bytes: &[u8]) {
    if let Some(last) = bytes.last() {
        let inside = if *last == b'\n' { 0 } else { FLAG_INSIDE_LINE };
        port.set_flags(port.flags() & !FLAG_INSIDE_LINE | inside);
    }
}

/// Writes all of `bytes` to a port's file. When a signal ends the program, what nobody takes is lost.
fn write_all(ctx: &mut Machine, port: Port, fd: i32, mut bytes: &[u8]) -> Option<()> {
    note_line(port, bytes);
    if let (libc::STDOUT_FILENO, Some(last)) = (fd, bytes.last()) {
        rt(ctx).last_output = *last;
    }
    while !bytes.is_empty() {
        let mut length = bytes.len();
        if stop::is_ending(ctx) {
            if !wait(fd, libc::POLLOUT, PATIENCE_MS) {
                stop::end(ctx);
            }
            // so much is written without blocking
            length = length.min(libc::PIPE_BUF);
        }
        // SAFETY: the slice is valid for `length` bytes.
        let n = unsafe { libc::write(fd, bytes.as_ptr().cast(), length) };
        if n >= 0 {
            bytes = &bytes[n as usize..];
            continue;
        }
        let error = std::io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EAGAIN) => _ = wait(fd, libc::POLLOUT, -1),
            _ => {
                write_failed(ctx, port, &error);
                return None;
            }
        }
    }
    Some(())
}

/// Waits until a descriptor is ready, at most `milliseconds` (-1: without end). Is it ready, or in a state that reading
/// or writing will tell?
fn wait(fd: i32, events: i16, milliseconds: i32) -> bool {
    let mut poll = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: one valid pollfd.
    unsafe { libc::poll(&mut poll, 1, milliseconds) != 0 }
}

/// How long a program waits for input before it counts as idle.
const IDLE_MILLISECONDS: i32 = 50;

/// An idle program collects what it has dropped. Is it better to do that now than to read? The caller's caller,
/// compiled code, has a safepoint before it asks again. Nothing has been read yet, and what was written has been
/// flushed.
fn rather_collect(ctx: &mut Machine, port: Port) -> bool {
    let Some(fd) = port.fd() else { return false };
    if port.pos() < port.end() || port.flags() & FLAG_AT_EOF != 0 {
        return false;
    }
    let Some(patience) = rt(ctx).heap.idle_collection(ctx.lo, ctx.hi) else { return false };
    if !input::prompt(ctx, fd) {
        return false;
    }
    let patience = patience.as_millis().clamp(IDLE_MILLISECONDS as u128, i32::MAX as u128) as i32;
    !wait(fd, libc::POLLIN, patience) && rt(ctx).heap.request_idle_collection(&mut ctx.lo, &mut ctx.hi).is_ok()
}

/// To be called before a read that may block: an idle program gives the pages it does not use back to the system.
fn before_read(ctx: &mut Machine, fd: i32) {
    if rt(ctx).heap.may_release() && !wait(fd, libc::POLLIN, IDLE_MILLISECONDS) {
        rt(ctx).heap.release_free();
    }
}

/// Flushes standard output, standard error and all open file output ports. False when something was lost; that has
/// been said on standard error.
pub fn flush_all(ctx: &mut Machine) -> bool {
    // Nobody could wait meanwhile; in a session threads go on afterwards.
    let hook = std::mem::replace(ctx.slot_mut(slot::WAIT_HOOK), Value::FALSE);
    let mut ports = rt(ctx).open_ports.clone();
    ports.extend([ctx.slot(slot::STDOUT), ctx.slot(slot::STDERR)]);
    let mut complete = true;
    for port in ports.into_iter().filter_map(Port::of) {
        if flush(ctx, port).is_none() {
            complete = false;
            if let Some(failure) = rt(ctx).failure.take() {
                fatal::say(ctx, &format!("cairn: {}", failure.message));
            }
        }
    }
    *ctx.slot_mut(slot::WAIT_HOOK) = hook;
    complete
}

/// Closes a port; closing again does nothing.
pub fn close(ctx: &mut Machine, port: Port) -> Option<()> {
    if port.flags() & FLAG_OPEN == 0 {
        return Some(());
    }
    let flushed = flush(ctx, port);
    port.set_flags(port.flags() & !FLAG_OPEN);
    if let Some(fd) = port.fd() {
        if fd > 2 {
            if port.flags() & (FLAG_SOCKET | FLAG_OUTPUT) == FLAG_SOCKET | FLAG_OUTPUT {
                // The other side shall see the end, although there is a descriptor to read from.
                // SAFETY: a plain system call.
                unsafe { libc::shutdown(fd, libc::SHUT_WR) };
            }
            let failed = !close_descriptor(ctx, fd);
            let error = std::io::Error::last_os_error();
            let listed = &mut rt(ctx).open_ports;
            listed.retain(|v| *v != port.0);
            if failed && error.raw_os_error() != Some(libc::EINTR) && flushed.is_some() {
                drop_buffer(ctx, port);
                write_failed(ctx, port, &error);
                return None;
            }
        }
        drop_buffer(ctx, port);
    } else if port.flags() & FLAG_OUTPUT == 0 {
        drop_buffer(ctx, port);
    } else {
        // The text of a closed string port can still be asked for: `POS` stays, `END` shuts the fast path.
        port.set_end(port.pos());
    }
    flushed
}

/// Closes the descriptor of a port that is not used any more, unless another one has it too: did the system agree?
fn close_descriptor(ctx: &mut Machine, fd: i32) -> bool {
    // SAFETY: the descriptor was opened for ports of which this is the last one.
    rt(ctx).shared_descriptors.remove(&fd) || unsafe { libc::close(fd) } == 0
}

fn drop_buffer(ctx: &mut Machine, port: Port) {
    port.line();
    port.restart(0);
    let empty = make_bytevector(ctx, &[]);
    port.set_buffer(ctx, empty);
}

/// Who opens a file with these `FLAG_*` bits.
pub(crate) fn opener(flags: i64) -> &'static str {
    match (flags & FLAG_OUTPUT, flags & FLAG_BINARY) {
        (0, 0) => "open-input-file",
        (0, _) => "open-binary-input-file",
        (_, 0) => "open-output-file",
        _ => "open-binary-output-file",
    }
}

/// Is it a named pipe? Opening it waits for whoever opens the other end.
fn is_fifo(path: &std::ffi::CStr) -> bool {
    // SAFETY: a valid C string; `stat` is plain data, filled by the call.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        libc::stat(path.as_ptr(), &mut stat) == 0 && stat.st_mode & libc::S_IFMT == libc::S_IFIFO
    }
}

/// Opens a file; `flags` are direction and kind. The result is a port or `FAIL`; `#f`: the program shall ask again; a
/// fixnum: it shall wait for that descriptor, and then ask whether the file has been opened ([`crate::helpers`]).
pub fn open_file(ctx: &mut Machine, who: &str, path: Value, flags: i64) -> Value {
    let text = access::string_text(path);
    let Ok(c_path) = std::ffi::CString::new(text.as_str()) else {
        return fail(ctx, kind::FILE, who, "a file name cannot contain a null character:", &[path]);
    };
    let mode = match flags & FLAG_OUTPUT {
        0 => libc::O_RDONLY,
        _ if flags & OPEN_KEEPING != 0 => libc::O_WRONLY | libc::O_CREAT,
        _ => libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC,
    };
    if blocking::has_threads(ctx)
        && is_fifo(&c_path)
        && let Some(job) = rt(ctx).helpers.open(c_path.clone(), mode | libc::O_CLOEXEC)
    {
        return job;
    }
    let fd = loop {
        stop::serve_blocked(ctx);
        // SAFETY: a valid C string.
        let fd = unsafe { libc::open(c_path.as_ptr(), mode | libc::O_CLOEXEC, 0o666) };
        let error = std::io::Error::last_os_error();
        if fd >= 0 {
            break fd;
        }
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EMFILE | libc::ENFILE) if may_retry(ctx) => return Value::FALSE,
            _ => return file_error(ctx, who, "open", path, &error),
        }
    };
    rt(ctx).open_retries.0 = 0;
    // SAFETY: just opened, used nowhere else.
    opened(ctx, who, path, unsafe { OwnedFd::from_raw_fd(fd) }, flags)
}

/// The port of a file that was opened.
pub(crate) fn opened(ctx: &mut Machine, who: &str, path: Value, fd: OwnedFd, flags: i64) -> Value {
    // SAFETY: `stat` is plain data, filled by the call.
    let kind = unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        if libc::fstat(fd.as_raw_fd(), &mut stat) == 0 { stat.st_mode & libc::S_IFMT } else { 0 }
    };
    // Reading a directory would fail only at the first read: say it now.
    if kind == libc::S_IFDIR {
        return file_error(ctx, who, "open", path, &std::io::Error::from_raw_os_error(libc::EISDIR));
    }
    // SAFETY: isatty only looks at a descriptor.
    let console = kind == libc::S_IFCHR && unsafe { libc::isatty(fd.as_raw_fd()) } == 1;
    let (flags, name) =
        (flags & !OPEN_KEEPING | if console { FLAG_CONSOLE } else { 0 }, access::string_text(path));
    let port = make_fd_port(ctx, flags, fd.into_raw_fd(), &name);
    rt(ctx).open_ports.push(port);
    port
}

/// Times that a program is asked to come back before the collection that was requested has happened.
const RETRIES: u32 = 1000;

/// No descriptor is free: a major collection is requested, which will close the ports that the program has dropped. Not
/// when that has been done just now.
#[cold]
pub(crate) fn may_retry(ctx: &mut Machine) -> bool {
    let majors = rt(ctx).heap.stats().major;
    let (tries, at) = &mut rt(ctx).open_retries;
    if *tries == 0 {
        *at = majors;
    }
    if *at < majors || *tries == RETRIES {
        *tries = 0;
        return false;
    }
    *tries += 1;
    // Should this fail, there will be no collection, and the retries come to an end.
    let _ = rt(ctx).heap.request_collection(&mut ctx.lo, &mut ctx.hi, true);
    true
}

/// Everything reachable has been traced: ports that were not reached are kept once more, to be closed.
pub fn visit_dying<V: WeakVisitor>(rt: &mut Runtime, visitor: &mut V) {
    rt.open_ports.retain_mut(|port| {
        // SAFETY: an open port was alive after the last collection.
        let survivor = unsafe { visitor.survivor(port.0) };
        match survivor {
            Some(word) => port.0 = word,
            None => {
                // SAFETY: so was everything it refers to.
                unsafe { visitor.slot(&raw mut port.0) };
                rt.dropped_ports.push(*port);
            }
        }
        survivor.is_some()
    });
}

/// Closes the ports that a collection has found unreachable; what is buffered is written. Allocates nothing.
pub fn close_dropped(ctx: &mut Machine) {
    for port in std::mem::take(&mut rt(ctx).dropped_ports).into_iter().filter_map(Port::of) {
        if flush(ctx, port).is_none()
            && let Some(failure) = rt(ctx).failure.take()
        {
            fatal::say(ctx, &format!("cairn: {}", failure.message));
        }
        port.set_flags(port.flags() & !FLAG_OPEN);
        if let Some(fd) = port.fd().filter(|fd| *fd > 2) {
            close_descriptor(ctx, fd);
        }
    }
}

#[cfg(test)]
mod tests;
