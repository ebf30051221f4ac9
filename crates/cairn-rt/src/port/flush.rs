//! Writing what is buffered: all of it, or what can be written without blocking.

use super::object::Port;
use crate::access;
use crate::failure::{describe_io, file_error};
use crate::fatal;
use crate::machine::stop;
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::machine::{Machine, slot};
use cairn_layout::object::port as field;
use cairn_layout::object::port::*;
use std::time::Instant;

/// A failure to write to a port's file.
#[cold]
pub(super) fn write_failed(ctx: &mut Machine, port: Port, error: &std::io::Error) -> Value {
    match port.fd() {
        Some(1) => {
            fatal::say(ctx, &format!("cairn: cannot write to standard output: {}", describe_io(error)));
            fatal::end_now(ctx, 1)
        }
        Some(2) => fatal::end_now(ctx, 1),
        _ => {
            let name = access::word(port.value(), field::NAME);
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
    if !has_threads(ctx) {
        return write_all(ctx, port, fd, &port.buffer()[..n]);
    }
    let written = write_some(ctx, port, fd, &port.buffer()[..n])?;
    port.buffer().copy_within(written..n, 0);
    port.set_pos(n - written);
    Some(())
}

/// How long a program that a signal ends waits for somebody to take its output.
const PATIENCE_MS: i32 = 1000;

/// Remembers whether these bytes, which leave the port's buffer, end a line.
pub(super) fn note_line(port: Port, bytes: &[u8]) {
    if let Some(last) = bytes.last() {
        let inside = if *last == b'\n' { 0 } else { FLAG_INSIDE_LINE };
        port.set_flags(port.flags() & !FLAG_INSIDE_LINE | inside);
    }
}

/// Writes all of `bytes` to a port's file. When a signal ends the program, what nobody takes is lost.
pub(super) fn write_all(ctx: &mut Machine, port: Port, fd: i32, mut bytes: &[u8]) -> Option<()> {
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

/// Waits until a descriptor is ready, at most `milliseconds` (-1: without end, or until a signal). Is it ready, or in a
/// state that reading or writing will tell?
pub(super) fn wait(fd: i32, events: i16, milliseconds: i32) -> bool {
    let mut poll = libc::pollfd { fd, events, revents: 0 };
    let start = Instant::now();
    let mut left = milliseconds;
    loop {
        // SAFETY: `poll` is one valid `pollfd`, and the call is told of one.
        let ready = unsafe { libc::poll(&mut poll, 1, left) };
        if ready >= 0 || milliseconds < 0 {
            return ready != 0;
        }
        // a signal: those that nudge (`stop`) do not make the wait longer or shorter
        left = milliseconds.saturating_sub(start.elapsed().as_millis() as i32).max(0);
    }
}

/// What a pipe that is ready takes without blocking.
const SAFE_BYTES: usize = libc::PIPE_BUF;

/// Do threads wait for files?
pub(super) fn has_threads(ctx: &Machine) -> bool {
    ctx.slot(slot::WAIT_HOOK).is_procedure()
}

/// Writes what can be written without blocking: how many bytes that is. `None`: the failure is recorded.
pub(super) fn write_some(ctx: &mut Machine, port: Port, fd: i32, bytes: &[u8]) -> Option<usize> {
    note_line(port, bytes);
    if let (libc::STDOUT_FILENO, Some(last)) = (fd, bytes.last()) {
        rt(ctx).last_output = *last;
    }
    let piecewise = port.flags() & FLAG_SOCKET == 0 && !is_ordinary(fd);
    let mut written = 0;
    while written < bytes.len() {
        let mut part = &bytes[written..];
        if piecewise {
            if !wait(fd, libc::POLLOUT, 0) {
                break;
            }
            part = &part[..part.len().min(SAFE_BYTES)];
        }
        // SAFETY: `part` is a slice, so its bytes can be read.
        let n = unsafe { libc::write(fd, part.as_ptr().cast(), part.len()) };
        if n >= 0 {
            written += n as usize;
            continue;
        }
        let error = std::io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EAGAIN) => break,
            _ => {
                write_failed(ctx, port, &error);
                return None;
            }
        }
    }
    Some(written)
}

/// Is it an ordinary file?
fn is_ordinary(fd: i32) -> bool {
    // SAFETY: `stat` is plain data, filled by the call.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        libc::fstat(fd, &mut stat) == 0 && stat.st_mode & libc::S_IFMT == libc::S_IFREG
    }
}
