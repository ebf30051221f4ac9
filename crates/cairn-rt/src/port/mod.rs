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
mod check;
pub mod custom;
mod flush;
mod input;
mod object;
mod output;
pub mod port_calls;

pub(crate) use blocking::Readiness;
pub(crate) use check::check_port;
pub use flush::flush;
use flush::{has_threads, write_failed};
pub use input::{Peeked, peek_scalar};
use object::drop_buffer;
pub use object::{Port, make_closed, make_fd_port, make_port};
pub use output::Writer;

use crate::access;
use crate::alloc::{self, make_bytevector, store_word};
use crate::failure::{fail, file_error, wrong_type};
use crate::fatal;
use crate::machine::stop;
use crate::runtime::{Runtime, rt};
use cairn_heap::WeakVisitor;
use cairn_layout::Value;
use cairn_layout::machine::{Machine, error as kind, slot};
use cairn_layout::object::{Type, port as field};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

pub(crate) use cairn_layout::object::port::*;

/// Gives closed standard descriptors a placeholder that cannot be used, so that no file is ever opened in their place
/// and using them is an error that is reported.
///
/// Runs before `main` too: the standard library's own start-up would put in `/dev/null`, which swallows output.
pub extern "C" fn reserve_standard() {
    for fd in 0..3 {
        let mode = if fd == 0 { libc::O_WRONLY } else { libc::O_RDONLY };
        // SAFETY: the path is a C string, and no memory is written; `open` takes the lowest free descriptor, which is
        // `fd`.
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
    // SAFETY: `isatty` is given no address, and only looks at the descriptor.
    let console = |fd: i32| if unsafe { libc::isatty(fd) } == 1 { FLAG_CONSOLE } else { 0 };
    let both = FLAG_TEXTUAL | FLAG_BINARY;
    *ctx.slot_mut(slot::STDIN) = make_fd_port(ctx, FLAG_INPUT | both | console(0), 0, "standard input");
    *ctx.slot_mut(slot::STDOUT) = make_fd_port(ctx, FLAG_OUTPUT | both | console(1), 1, "standard output");
    *ctx.slot_mut(slot::STDERR) = make_fd_port(ctx, FLAG_OUTPUT | both | FLAG_CONSOLE, 2, "standard error");
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
                // SAFETY: `shutdown` is given no address, so it touches no memory.
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
    // SAFETY: the descriptor was opened for ports of which this is the last one (see `shared_descriptors`), so nobody
    // uses it after.
    rt(ctx).shared_descriptors.remove(&fd) || unsafe { libc::close(fd) } == 0
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
    // SAFETY: `path` is a C string; `stat` is plain data, all zeros is a value of it, and the call fills it.
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
    if has_threads(ctx)
        && is_fifo(&c_path)
        && let Some(job) = rt(ctx).helpers.open(c_path.clone(), mode | libc::O_CLOEXEC)
    {
        return job;
    }
    let fd = loop {
        stop::serve_blocked(ctx);
        // SAFETY: `c_path` is a C string, and outlives the call.
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
    // SAFETY: `open` has just given the descriptor, so nobody else owns it.
    opened(ctx, who, path, unsafe { OwnedFd::from_raw_fd(fd) }, flags)
}

/// The port of a file that was opened.
pub(crate) fn opened(ctx: &mut Machine, who: &str, path: Value, fd: OwnedFd, flags: i64) -> Value {
    // SAFETY: `stat` is plain data, all zeros is a value of it, and the call fills it.
    let kind = unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        if libc::fstat(fd.as_raw_fd(), &mut stat) == 0 { stat.st_mode & libc::S_IFMT } else { 0 }
    };
    // Reading a directory would fail only at the first read: say it now.
    if kind == libc::S_IFDIR {
        return file_error(ctx, who, "open", path, &std::io::Error::from_raw_os_error(libc::EISDIR));
    }
    // SAFETY: `isatty` is given no address, and only looks at the descriptor.
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
    let _ = rt(ctx).heap.request_collection(&mut ctx.cursors, true);
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
                // SAFETY: the port was alive after the last collection, and so was everything it refers to.
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
