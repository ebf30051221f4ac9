//! A stack for signal handlers.
//!
//! The problem: with native frames compiled code runs on a region that grows when it is written, so the handler that
//! makes it grow needs another stack; Rust gives one to its own threads only. Invariant: after [`ensure`], the OS
//! thread has such a stack until it ends.

use std::cell::RefCell;
use std::ptr::null_mut;

/// Bytes of it: what the largest set of vector registers takes, with room for the handlers.
const BYTES: usize = 64 << 10;

/// The memory of this thread's, if we gave it one.
struct SignalStack(*mut libc::c_void);

impl Drop for SignalStack {
    fn drop(&mut self) {
        let none = libc::stack_t { ss_sp: null_mut(), ss_flags: libc::SS_DISABLE, ss_size: BYTES };
        // SAFETY: no handler runs on it, for the thread is about to end; the mapping is ours.
        unsafe {
            let mut present: libc::stack_t = std::mem::zeroed();
            libc::sigaltstack(std::ptr::null(), &mut present);
            // the thread's owner may have given it another one since
            if present.ss_sp == self.0 {
                libc::sigaltstack(&none, null_mut());
            }
            libc::munmap(self.0, BYTES);
        }
    }
}

thread_local! {
    static OURS: RefCell<Option<SignalStack>> = const { RefCell::new(None) };
}

/// Gives this OS thread a stack for signal handlers if it has none; false if there is no memory.
pub fn ensure() -> bool {
    // SAFETY: the present one is read; a new mapping is handed over, which lives as long as the thread.
    unsafe {
        let mut present: libc::stack_t = std::mem::zeroed();
        libc::sigaltstack(std::ptr::null(), &mut present);
        if present.ss_flags & libc::SS_DISABLE == 0 {
            return true;
        }
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let p = libc::mmap(null_mut(), BYTES, access, flags, -1, 0);
        if p == libc::MAP_FAILED {
            return false;
        }
        let new = libc::stack_t { ss_sp: p, ss_flags: 0, ss_size: BYTES };
        libc::sigaltstack(&new, null_mut());
        // at the end of a thread nobody keeps it any more
        let _ = OURS.try_with(|ours| ours.replace(Some(SignalStack(p))));
        true
    }
}
