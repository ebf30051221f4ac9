//! The memory of a contiguous stack (`stack`): address space that gets pages when the stack reaches them.
//!
//! The problem: compiled code pushes frames without asking whether there is room; the stack must be able to fill the
//! heap's maximum, count against it, and give its memory back. The idea: a range as large as it may ever get is
//! reserved, and only its upper end can be used. A push beyond that faults; the handler of SIGSEGV makes some more of
//! the range usable and requests a stop (`stop::STACK` in [`cairn_layout::machine`]), and the push happens. Every
//! recursion has stop checks, so soon compiled code comes to a safepoint, where the growth is counted; there it can be
//! refused in the ordinary way.
//!
//! ```text
//!   start                         frontier                       sp              end
//!   │ never used: GUARD │ reserved │ usable, below the stack │ frames … outermost │
//!                                 ◀── a fault moves it
//! ```
//!
//! Where the system refuses pages, or the range is used up, the handler says so and ends the process: nothing else can
//! be done there. The runtime refuses growth before the range is used up ([`StackRegion::room`]).
//!
//! The stack of compiled code is not the native one, so the handler has a stack to run on. Faults elsewhere go to the
//! handler that was there before (Rust's, which reports overflows of the native stack).
//!
//! Invariants: pages from `frontier` to `end` can be read and written; a region is in the list of watched ones as long
//! as it is mapped; nodes of the list are never freed, so the handler can walk it at any time.

use crate::machine::stop_word;
use cairn_layout::machine::{Machine, stop as reason};
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::SeqCst};

/// Size of a page.
const PAGE: u64 = 4096;
/// A stack that comes this close to the end of its range is beyond help: it has outrun every stop check.
const GUARD: u64 = 1 << 20;
/// Pages that are usable from the start, and that stay when a stack shrinks.
const FIRST: u64 = 64 << 10;
/// Most bytes by which one fault moves the frontier.
pub const STEP_MAX: u64 = 4 << 20;
/// Most address space of one stack.
const RANGE_MAX: u64 = 64 << 30;

/// A region as the handler sees it.
#[derive(Default)]
struct Watched {
    /// 0: free for the next region.
    start: AtomicU64,
    end: AtomicU64,
    frontier: AtomicU64,
    /// Fewest bytes by which a fault moves the frontier.
    step: AtomicU64,
    machine: AtomicPtr<Machine>,
    next: AtomicPtr<Watched>,
}

/// The watched regions of the process.
static FIRST_WATCHED: AtomicPtr<Watched> = AtomicPtr::new(null_mut());

/// What handled SIGSEGV before: the address of a `sigaction`.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(null_mut());

impl Watched {
    /// A node that no region uses, for a region from `start`.
    fn new(start: u64) -> &'static Watched {
        for node in watched() {
            if node.start.compare_exchange(0, 1, SeqCst, SeqCst).is_ok() {
                node.set(start);
                return node;
            }
        }
        let node: &'static Watched = Box::leak(Box::default());
        node.set(start);
        let mut first = FIRST_WATCHED.load(SeqCst);
        loop {
            node.next.store(first, SeqCst);
            match FIRST_WATCHED.compare_exchange(first, (&raw const *node).cast_mut(), SeqCst, SeqCst) {
                Ok(_) => return node,
                Err(now) => first = now,
            }
        }
    }

    /// Until `end` is set, no address lies in it.
    fn set(&self, start: u64) {
        self.end.store(0, SeqCst);
        self.frontier.store(0, SeqCst);
        self.start.store(start, SeqCst);
    }

    /// Is this an address that the stack has not reached yet? Async-signal-safe.
    fn is_ahead(&self, address: u64) -> bool {
        let start = self.start.load(SeqCst);
        start > 1 && (start..self.frontier.load(SeqCst)).contains(&address)
    }

    /// Makes the page of a faulting address usable, if it is one that the stack may grow into. Async-signal-safe.
    fn grow(&self, address: u64) -> bool {
        let (start, end, frontier) = (self.start.load(SeqCst), self.end.load(SeqCst), self.frontier.load(SeqCst));
        if start <= 1 || address < start + GUARD || address >= frontier {
            return false;
        }
        let step = ((end - frontier) / 2).min(STEP_MAX).max(self.step.load(SeqCst));
        let lowest = (start + GUARD).max(frontier.saturating_sub(step));
        let new = lowest.min(address) & !(PAGE - 1);
        // SAFETY: `new..frontier` are pages of the region above its guard, which is mapped as long as `start` is above
        // 1.
        if unsafe { !protect(new, frontier, libc::PROT_READ | libc::PROT_WRITE) } {
            return false;
        }
        self.frontier.store(new, SeqCst);
        // SAFETY: `machine` is what `StackRegion::new` was given; it lives longer than the region, which its runtime
        // owns.
        unsafe { stop_word::request(self.machine.load(SeqCst), reason::STACK) };
        true
    }
}

/// The nodes of the list.
fn watched() -> impl Iterator<Item = &'static Watched> {
    // SAFETY: `Watched::new` leaks each node that it puts into the list, so a pointer is null or valid for ever.
    let node = |p: &AtomicPtr<Watched>| unsafe { p.load(SeqCst).as_ref::<'static>() };
    std::iter::successors(node(&FIRST_WATCHED), move |w| node(&w.next))
}

/// # Safety
/// `from..to` are pages that are mapped, and nothing needs what the protection forbids.
unsafe fn protect(from: u64, to: u64, how: i32) -> bool {
    // SAFETY: `from..to` are mapped pages, and nothing needs what `how` forbids (`# Safety`).
    unsafe { libc::mprotect(from as *mut libc::c_void, (to - from) as usize, how) == 0 }
}

/// What is said where the stack cannot grow.
const NO_PAGES: &str = "cairn: out of memory: the system has no more memory for the stack\n";

/// Only atomics and system calls: async-signal-safe.
extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the arguments of a handler with SA_SIGINFO; `errno` belongs to the interrupted thread.
    unsafe {
        let errno = *libc::__errno_location();
        let address = (*info).si_addr() as u64;
        let grown = watched().any(|w| w.grow(address));
        *libc::__errno_location() = errno;
        if grown {
            return;
        }
        if watched().any(|w| w.is_ahead(address)) {
            libc::write(2, NO_PAGES.as_ptr().cast(), NO_PAGES.len());
            libc::_exit(1)
        }
        let before = &*BEFORE.load(SeqCst);
        let handler = before.sa_sigaction;
        if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            // the instruction faults again
            libc::sigaction(signal, before, null_mut());
        } else if before.sa_flags & libc::SA_SIGINFO != 0 {
            let f: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = std::mem::transmute(handler);
            f(signal, info, context);
        } else {
            let f: extern "C" fn(i32) = std::mem::transmute(handler);
            f(signal);
        }
    }
}

/// Installs the handler, once in a process.
fn watch_faults() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: all zeros is a valid `sigaction`; the old one is read before the new one is set.
        unsafe {
            let mut before: Box<libc::sigaction> = Box::new(std::mem::zeroed());
            libc::sigaction(libc::SIGSEGV, std::ptr::null(), &mut *before);
            BEFORE.store(Box::into_raw(before), SeqCst);
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction =
                on_fault as extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGSEGV, &action, null_mut());
        }
    });
}

/// See the module's header.
pub struct StackRegion {
    watched: &'static Watched,
    start: u64,
    /// One past the last byte.
    pub end: u64,
    /// Bytes that have been counted.
    counted: u64,
    /// Whether it has been told that it is short.
    told: bool,
}

impl StackRegion {
    /// A region of at least `bytes`, as far as there is address space. `tiny`: it grows page by page.
    pub fn new(machine: *mut Machine, bytes: u64, tiny: bool) -> Option<StackRegion> {
        watch_faults();
        let mut size = bytes.clamp(4 * GUARD, RANGE_MAX).next_multiple_of(2 * PAGE);
        let start = loop {
            // SAFETY: without `MAP_FIXED` the system chooses a place where nothing is.
            let p = unsafe {
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
                libc::mmap(null_mut(), (size + size / 2) as usize, libc::PROT_NONE, flags, -1, 0)
            };
            if p != libc::MAP_FAILED {
                // Half as much is left to others, where a limit for addresses holds.
                let end = p as u64 + size;
                // SAFETY: `end` on are the last `size / 2` bytes of the new mapping, which nobody uses.
                unsafe { libc::munmap(end as *mut libc::c_void, (size / 2) as usize) };
                break p as u64;
            }
            size = (size / 2).next_multiple_of(2 * PAGE);
            if size < 4 * GUARD {
                return None;
            }
        };
        let (end, frontier) = (start + size, start + size - FIRST);
        // SAFETY: `frontier..end` are pages at the upper end of the new mapping, which nobody uses yet.
        if unsafe { !protect(frontier, end, libc::PROT_READ | libc::PROT_WRITE) } {
            return None;
        }
        let watched = Watched::new(start);
        watched.machine.store(machine, SeqCst);
        watched.step.store(if tiny { PAGE } else { FIRST }, SeqCst);
        watched.frontier.store(frontier, SeqCst);
        watched.end.store(end, SeqCst);
        Some(StackRegion { watched, start, end, counted: 0, told: false })
    }

    /// First byte of the range.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Bytes that frames can take at most.
    pub fn most(&self) -> u64 {
        self.end - self.start - GUARD
    }

    /// Bytes by which the stack can still grow.
    pub fn room(&self) -> u64 {
        self.watched.frontier.load(SeqCst) - self.start - GUARD
    }

    /// Has the stack just come near the end of its range? True once, until it has shrunk.
    pub fn is_short(&mut self) -> bool {
        let short = self.room() < self.most() / 5;
        let before = std::mem::replace(&mut self.told, short);
        short && !before
    }

    /// Bytes that have become usable since the last call.
    pub fn take_growth(&mut self) -> u64 {
        let usable = self.end - self.watched.frontier.load(SeqCst);
        usable - std::mem::replace(&mut self.counted, usable)
    }

    /// Gives memory back that a stack down to `sp` does not need, unless it is little: the bytes that were counted.
    pub fn trim(&mut self, sp: u64) -> u64 {
        let frontier = self.watched.frontier.load(SeqCst);
        let spare = FIRST.max((self.end - sp) / 2);
        let new = (sp - spare) & !(PAGE - 1);
        if new < frontier + 4 * FIRST {
            return 0;
        }
        // SAFETY: `frontier..new` are usable pages of the region, and all that is needed of the stack lies above `new`.
        unsafe {
            libc::madvise(frontier as *mut libc::c_void, (new - frontier) as usize, libc::MADV_DONTNEED);
            if !protect(frontier, new, libc::PROT_NONE) {
                return 0;
            }
        }
        self.watched.frontier.store(new, SeqCst);
        let counted = self.counted.min(self.end - new);
        std::mem::replace(&mut self.counted, counted) - counted
    }
}

impl Drop for StackRegion {
    fn drop(&mut self) {
        self.watched.frontier.store(0, SeqCst);
        self.watched.end.store(0, SeqCst);
        // SAFETY: our mapping, and its runtime is being dropped, so nothing runs on this stack any more.
        unsafe { libc::munmap(self.start as *mut libc::c_void, (self.end - self.start) as usize) };
        self.watched.start.store(0, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bare_runtime::TestRuntime;
    use crate::start_options::Options;

    #[test]
    fn a_region_grows_where_it_is_written_and_gives_back() {
        let mut t = TestRuntime::with(Options::default());
        let machine: *mut Machine = t.ctx();
        let mut r = StackRegion::new(machine, 64 << 20, false).unwrap();
        assert_eq!(r.take_growth(), FIRST);
        let deep = r.end - (20 << 20);
        let mut at = r.end;
        while at > deep {
            at -= 1024;
            // SAFETY: `at` is within the region, above the guard page, and its page becomes usable when it is written.
            unsafe { (at as *mut u64).write_volatile(at) };
        }
        // SAFETY: the loop has just written the word at `deep`.
        assert_eq!(unsafe { (deep as *const u64).read_volatile() }, deep);
        let grown = r.take_growth();
        assert!(((20 << 20) - FIRST..=(20 << 20) + STEP_MAX).contains(&grown), "{grown}");
        assert_eq!(r.take_growth(), 0);
        assert_ne!(t.ctx().stop & reason::STACK, 0, "a stop was requested");
        let back = r.trim(r.end - 4096);
        assert!(back > 19 << 20, "{back}");
        assert_eq!(r.trim(r.end - 4096), 0);
        // SAFETY: `deep` is within the region, which is mapped; `trim` gave its page back, and a fault makes it usable
        // again.
        assert_eq!(unsafe { (deep as *const u64).read_volatile() }, 0);
    }

    #[test]
    fn the_place_of_a_dropped_region_is_used_again() {
        let mut t = TestRuntime::with(Options::default());
        let machine: *mut Machine = t.ctx();
        let r = StackRegion::new(machine, 8 << 20, true).unwrap();
        let (node, inside) = (r.watched as *const Watched, r.end - (2 << 20));
        assert!(r.watched.grow(inside));
        drop(r);
        // SAFETY: `Watched::new` leaks each node, so `node` is valid after its region.
        assert!(!unsafe { &*node }.grow(inside));
        let n = watched().count();
        let again = StackRegion::new(machine, 8 << 20, true).unwrap();
        assert!(watched().count() <= n + 1 && again.end > 0);
    }
}
