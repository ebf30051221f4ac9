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

use super::check::writes;
use super::flush::{has_threads, wait};
use super::input::{IDLE_MILLISECONDS, fill, prompt, sequence_length};
use super::object::{Port, drop_buffer};
use crate::runtime::rt;
use cairn_layout::machine::Machine;
use cairn_layout::object::port::*;

/// What is read at a time of what need not be waited for.
const PART_BYTES: usize = 1 << 20;

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
        return custom_is_ready(port, enough);
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

/// An idle program collects what it has dropped. Is it better to do that now than to read? The caller's caller,
/// compiled code, has a safepoint before it asks again. Nothing has been read yet, and what was written has been
/// flushed.
fn rather_collect(ctx: &mut Machine, port: Port) -> bool {
    let Some(fd) = port.fd() else { return false };
    if port.pos() < port.end() || port.flags() & FLAG_AT_EOF != 0 {
        return false;
    }
    let Some(patience) = rt(ctx).heap.idle_collection(ctx.cursors) else { return false };
    if !prompt(ctx, fd) {
        return false;
    }
    let patience = patience.as_millis().clamp(IDLE_MILLISECONDS as u128, i32::MAX as u128) as i32;
    !wait(fd, libc::POLLIN, patience) && rt(ctx).heap.request_idle_collection(&mut ctx.cursors).is_ok()
}

/// To be called before a read of a custom port: has its buffer enough, or is there no more?
fn custom_is_ready(port: Port, enough: impl Fn(&[u8]) -> bool) -> Readiness {
    let both = port.flags() & FLAG_OUTPUT != 0;
    if both && writes(port) {
        return Readiness::Wait;
    }
    if enough(port.unread()) || port.flags() & FLAG_AT_EOF != 0 { Readiness::Ready } else { Readiness::Wait }
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
