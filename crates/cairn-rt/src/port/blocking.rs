//! Ports of programs with threads: nothing blocks.
//!
//! The problem: a read that waits, or a write that nobody takes, would keep all threads from running. The idea: when
//! the scheduler has set its wait hook, what would block is not done. A read first sees to it that the port's buffer
//! has all that it needs ([`ready_to_read`]); what has come so far stays in the buffer, which grows, and the answer is
//! `#f`: `lib/cairn/port.scm` has the thread wait and asks again. So a read takes everything or nothing, and an
//! interrupt in between loses nothing. Writes always succeed: what cannot be written now stays in the buffer, and the
//! answer `#f` means that the thread shall wait before it goes on.
//!
//! Descriptors that other programs share are not made non-blocking. A pipe or terminal that is ready takes a few
//! kilobytes without blocking; an ordinary file always does.

use super::input::{fill, prompt, sequence_length};
use super::*;

/// Bytes in the buffer of a socket.
const SOCKET_BYTES: u64 = 4 * 1024;
/// What is read at a time of what need not be waited for.
const PART_BYTES: usize = 1 << 20;
/// What a pipe that is ready takes without blocking.
const SAFE_BYTES: usize = libc::PIPE_BUF;

/// Do threads wait for files?
pub(super) fn has_threads(ctx: &Machine) -> bool {
    ctx.slot(slot::WAIT_HOOK).is_procedure()
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

/// Can a read go on?
pub(crate) enum Readiness {
    /// It has all that it needs, or the end of the file has come.
    Ready,
    /// The thread shall wait; or the program is idle and collects.
    Wait,
    /// It has failed; the failure is recorded.
    Failed,
}

/// To be called before a read: sees to it that the buffer has `enough`.
pub(super) fn ready_to_read(
    ctx: &mut Machine,
    port: Port,
    who: &str,
    enough: impl Fn(&[u8]) -> bool,
) -> Readiness {
    if port.is_custom() {
        return custom::ready_to_read(port, enough);
    }
    if !has_threads(ctx) {
        return if rather_collect(ctx, port) { Readiness::Wait } else { Readiness::Ready };
    }
    let Some(fd) = port.fd() else { return Readiness::Ready };
    let before = port.end() - port.pos();
    loop {
        if enough(port.unread()) || port.flags() & FLAG_AT_EOF != 0 {
            return Readiness::Ready;
        }
        if !prompt(ctx, fd) {
            return Readiness::Failed;
        }
        // What an ordinary file has without waiting comes in parts, too: others have turns in between.
        if port.end() - port.pos() > before + PART_BYTES {
            return Readiness::Wait;
        }
        if !wait(fd, libc::POLLIN, 0) {
            if port.flags() & FLAG_SOCKET != 0 && port.pos() == port.end() {
                drop_buffer(ctx, port);
            }
            return Readiness::Wait;
        }
        match fill(ctx, port, who) {
            None => return Readiness::Failed,
            Some(false) => return Readiness::Ready,
            Some(true) => {}
        }
    }
}

/// Is there a whole character?
pub(super) fn has_char(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| bytes.len() >= sequence_length(*first))
}

/// Are there `k` characters?
pub(super) fn has_chars(bytes: &[u8], k: usize) -> bool {
    let mut at = 0;
    for _ in 0..k {
        if !has_char(&bytes[at.min(bytes.len())..]) {
            return false;
        }
        at += sequence_length(bytes[at]);
    }
    true
}

/// Is there a whole line? After a carriage return a linefeed may come, but not from a console.
pub(super) fn has_line(port: Port, bytes: &[u8]) -> bool {
    match memchr::memchr2(b'\n', b'\r', bytes) {
        None => false,
        Some(i) => bytes[i] == b'\n' || i + 1 < bytes.len() || port.flags() & FLAG_CONSOLE != 0,
    }
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
        // SAFETY: the slice is valid for its length.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_whole() {
        let text = "aλ€😀b".as_bytes();
        for k in 0..=5 {
            let least = text.len() - (k..5).map(|i| [1, 2, 3, 4, 1][i]).sum::<usize>();
            assert!(has_chars(&text[..least], k), "{k}");
            assert!(k == 0 || !has_chars(&text[..least - 1], k), "{k}");
        }
        assert!(!has_chars(text, 6) && !has_char(b""));
        assert!(has_chars(b"\xFFa", 2), "bad bytes count as one each");
    }
}
