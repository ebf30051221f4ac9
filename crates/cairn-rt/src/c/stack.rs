//! Native stacks beside that of the OS thread, and how control goes from one to another.

use std::io;
use std::ptr::null_mut;

/// Bytes of the guard below a stack.
const GUARD_BYTES: usize = 64 << 10;

/// Memory from the system.
pub struct Mapping {
    /// The first byte.
    pub start: *mut u8,
    bytes: usize,
}

impl Mapping {
    /// A stack of so many bytes with a guard below it.
    pub fn stack(bytes: usize) -> io::Result<Mapping> {
        let stack = Mapping::new(GUARD_BYTES + bytes)?;
        stack.protect(GUARD_BYTES, libc::PROT_NONE)?;
        Ok(stack)
    }

    /// Prepares a new stack for [`switch`], which goes to `begin` with `word` in `rbx`; the stack pointer.
    pub fn prepare(&self, begin: u64, word: u64) -> u64 {
        // What `switch` takes: r15, r14, r13, r12, rbx, rbp, and where it returns to.
        let first = [0, 0, 0, 0, word, 0, begin];
        // SAFETY: the mapping ends at `start + bytes`, a multiple of a page, and is larger than these seven words.
        unsafe {
            let sp = self.start.add(self.bytes).cast::<u64>().sub(first.len());
            std::ptr::copy_nonoverlapping(first.as_ptr(), sp, first.len());
            sp as u64
        }
    }

    /// So many bytes, which can be read and written.
    pub fn new(bytes: usize) -> io::Result<Mapping> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: without `MAP_FIXED` the system chooses a place where nothing is.
        let start = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            Err(io::Error::last_os_error())
        } else {
            Ok(Mapping { start: start.cast(), bytes })
        }
    }

    /// Lets the first bytes be used in this way only.
    pub fn protect(&self, bytes: usize, how: i32) -> io::Result<()> {
        // SAFETY: `self` has mapped these bytes from `start` on, callers pass no more than it has, and nothing there
        // needs what `how` forbids.
        match unsafe { libc::mprotect(self.start.cast(), bytes, how) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` mapped these bytes; fibers and servers are dropped when nothing runs there.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

/// Puts the stack pointer, and what a C function preserves, aside at `from`, and goes on where `to` was put aside.
///
/// # Safety
/// `to` is the stack pointer of a fiber or a host that has been left by this function, or is new.
#[unsafe(naked)]
pub unsafe extern "C" fn switch(from: *mut u64, to: u64) {
    std::arch::naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}
