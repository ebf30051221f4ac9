//! Native stacks for C functions that may call Scheme procedures; see [`super`].
//!
//! ```text
//!                     start, resume                      the function calls a callback
//!   host's stack  ───── switch ─────▶  fiber's stack  ──────────────┐
//!                 ◀──── switch ──────  Asking(callback, its words) ◀┘
//!                 ◀──── switch ──────  Done, when the function has returned
//! ```
//!
//! A callback is a few instructions in an executable page, which lead to its [`Callback`]. The page is filled once and
//! never written again: what is freed answers 0 from then on.
//!
//! Invariants: who runs on a fiber is C, and [`ask`], which touches nothing of the heap. A callback answers on the
//! OS thread of its runtime and above a fiber; everywhere else it returns 0. Nothing here keeps a reference to
//! [`Calls`] across a switch.

use super::invoke::{Returns, Words};
use super::lent::Lent;
use cairn_layout::c::{CType, FLOAT_REGISTERS, INTEGER_REGISTERS};
use std::io;
use std::mem::offset_of;
use std::ptr::null_mut;

/// Bytes of a fiber's stack, most of which is never touched, and of the guard below it.
const STACK_BYTES: usize = 8 << 20;
const GUARD_BYTES: usize = 64 << 10;
/// Fibers that are kept for later calls.
const IDLE_MAX: usize = 16;
/// Bits of a fiber's number in that of a request.
const FIBER_BITS: u32 = 16;
const FIBER_MASK: i64 = (1 << FIBER_BITS) - 1;
/// Bytes of a page of callbacks, and of each.
const PAGE_BYTES: usize = 4096;
const ENTRY_BYTES: usize = 32;
/// Callbacks in a page.
const PAGE_CALLBACKS: usize = PAGE_BYTES / ENTRY_BYTES;

/// Memory from the system.
struct Mapping {
    start: *mut u8,
    bytes: usize,
}

impl Mapping {
    fn new(bytes: usize) -> io::Result<Mapping> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: the system chooses a place where nothing is.
        let start = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            Err(io::Error::last_os_error())
        } else {
            Ok(Mapping { start: start.cast(), bytes })
        }
    }

    fn protect(&self, bytes: usize, how: i32) -> io::Result<()> {
        // SAFETY: these bytes are ours.
        match unsafe { libc::mprotect(self.start.cast(), bytes, how) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`; whoever drops it knows that nothing runs there.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

/// The words with which C calls a callback, where the stub has saved them.
#[repr(C)]
pub struct Called {
    integers: [u64; INTEGER_REGISTERS],
    floats: [u64; FLOAT_REGISTERS],
    integer: u64,
    float: u64,
    stack: *const u64,
}

impl Called {
    /// The arguments, as the types say.
    fn arguments(&self, types: &[u8]) -> Vec<u64> {
        let (mut integers, mut floats, mut stacked) = (0, 0, 0);
        let mut next = |t: &u8| {
            let (registers, at) = match CType::of(*t).is_floating() {
                true => (&self.floats[..], &mut floats),
                false => (&self.integers[..], &mut integers),
            };
            if let Some(word) = registers.get(*at) {
                *at += 1;
                return *word;
            }
            // SAFETY: a caller of a function of these types has put so many words there.
            let word = unsafe { *self.stack.add(stacked) };
            stacked += 1;
            word
        };
        types.iter().map(&mut next).collect()
    }
}

/// A Scheme procedure as C sees it.
struct Callback {
    calls: *mut Calls,
    number: usize,
    /// The types, that of the result first; empty if it is not in use.
    types: Vec<u8>,
    /// The OS thread of its runtime.
    thread: libc::pthread_t,
}

struct Page {
    code: Mapping,
    callbacks: Box<[Callback]>,
}

/// What a fiber does.
#[derive(Clone, Copy)]
enum State {
    Idle,
    Running,
    /// A callback, by number, has been called with these words.
    Asking(usize, *mut Called),
}

struct Fiber {
    stack: Mapping,
    /// Its stack pointer while it does not run.
    sp: u64,
    /// That of who has switched to it.
    host: u64,
    state: State,
    /// How many requests it has made.
    requests: i64,
    /// Its call is over as far as Scheme is concerned: callbacks answer 0 at once.
    failing: bool,
    words: Words,
    function: u64,
    lent: Lent,
    returns: Returns,
    errno: i32,
}

/// What has come of a call.
pub enum Outcome {
    /// The function has returned on this fiber, which is to be released: what it returns, and the words with that.
    Returned(usize, Returns, Words, i32),
    /// A fiber waits for the result of a callback: the request ([`Calls::asking`]), the callback, the types and words
    /// of its arguments.
    Asks(i64, usize, Vec<(CType, u64)>),
}

/// Fibers and callbacks of a runtime.
pub struct Calls {
    /// In boxes: their addresses are in use while they run.
    #[allow(clippy::vec_box)]
    fibers: Vec<Box<Fiber>>,
    /// The fiber that runs, or null.
    current: *mut Fiber,
    pages: Vec<Page>,
    /// Has a callback ever been made? Then C may call one at any time.
    pub may_call_back: bool,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls { fibers: Vec::new(), current: null_mut(), pages: Vec::new(), may_call_back: false }
    }
}

impl Calls {
    /// Makes a callback of these types: its number and its address. `self` must not move any more.
    pub fn make_callback(&mut self, types: &[u8]) -> io::Result<(usize, u64)> {
        let calls: *mut Calls = self;
        let mut free = self.pages.iter_mut().flat_map(|p| &mut p.callbacks).find(|c| c.types.is_empty());
        if free.is_none() {
            let first = self.pages.len() * PAGE_CALLBACKS;
            self.pages.push(Page::new(calls, first)?);
            free = self.pages.last_mut().and_then(|p| p.callbacks.first_mut());
        }
        let Some(callback) = free else { return Err(io::ErrorKind::OutOfMemory.into()) };
        callback.types = types.to_vec();
        self.may_call_back = true;
        let number = callback.number;
        let page = &self.pages[number / PAGE_CALLBACKS];
        Ok((number, page.code.start as u64 + (number % PAGE_CALLBACKS * ENTRY_BYTES) as u64))
    }

    /// Frees the callback at this address; its number, if there is one.
    pub fn free_callback(&mut self, address: u64) -> Option<usize> {
        let of_page = |p: &Page| (address.wrapping_sub(p.code.start as u64) as usize) < PAGE_BYTES;
        let page = self.pages.iter_mut().find(|p| of_page(p))?;
        let i = (address - page.code.start as u64) as usize / ENTRY_BYTES;
        let callback = &mut page.callbacks[i];
        let used = !std::mem::take(&mut callback.types).is_empty();
        used.then_some(callback.number)
    }

    fn callback_types(&self, number: usize) -> &[u8] {
        &self.pages[number / PAGE_CALLBACKS].callbacks[number % PAGE_CALLBACKS].types
    }

    /// Calls a function on a fiber.
    ///
    /// # Safety
    /// As [`Words::call`], and `calls` must not move any more.
    pub unsafe fn start(
        calls: *mut Calls,
        function: u64,
        words: Words,
        lent: Lent,
        returns: Returns,
    ) -> io::Result<Outcome> {
        // SAFETY: by the contract above; references end before the switch in `run`.
        unsafe {
            let fibers = &mut (*calls).fibers;
            let idle = fibers.iter().position(|f| matches!(f.state, State::Idle));
            let i = match idle {
                Some(i) => i,
                None if fibers.len() as i64 > FIBER_MASK => return Err(io::ErrorKind::OutOfMemory.into()),
                None => {
                    fibers.push(Fiber::new()?);
                    fibers.len() - 1
                }
            };
            let fiber = &mut *fibers[i];
            (fiber.function, fiber.words, fiber.lent, fiber.returns) = (function, words, lent, returns);
            fiber.failing = false;
            Ok(Calls::run(calls, i))
        }
    }

    /// Goes on with fiber `i`, which has asked. `failing`: it is to come to its end without asking again.
    ///
    /// # Safety
    /// As [`Calls::start`].
    pub unsafe fn resume(calls: *mut Calls, i: usize, failing: bool) -> Outcome {
        // SAFETY: by the contract above.
        unsafe {
            (&mut (*calls).fibers)[i].failing |= failing;
            Calls::run(calls, i)
        }
    }

    /// Sets the word that the callback under way on fiber `i` returns.
    pub fn answer(&mut self, i: usize, t: CType, word: u64) {
        if let State::Asking(_, called) = self.fibers[i].state {
            // SAFETY: the words are on the fiber's stack, which stands still.
            let called = unsafe { &mut *called };
            (called.integer, called.float) = if t.is_floating() { (0, word) } else { (word, 0) };
        }
    }

    /// The result type of the callback that fiber `i` waits for.
    pub fn answer_type(&self, i: usize) -> CType {
        match self.fibers[i].state {
            State::Asking(number, _) => CType::of(self.callback_types(number).first().copied().unwrap_or(0)),
            _ => CType::Void,
        }
    }

    /// The fiber of this request, if it still waits: a continuation may come back to one that was answered.
    pub fn asking(&self, request: i64) -> Option<usize> {
        let i = (request & FIBER_MASK) as usize;
        let fiber = self.fibers.get(i)?;
        let waits = matches!(fiber.state, State::Asking(..)) && fiber.requests == request >> FIBER_BITS;
        waits.then_some(i)
    }

    /// Fiber `i` is free for another call; what C was lent for the last one.
    pub fn release(&mut self, i: usize) -> Lent {
        let lent = std::mem::take(&mut self.fibers[i].lent);
        let idle = self.fibers.iter().filter(|f| matches!(f.state, State::Idle)).count();
        if idle >= IDLE_MAX && i + 1 == self.fibers.len() {
            self.fibers.pop();
        } else {
            self.fibers[i].state = State::Idle;
        }
        lent
    }

    /// Switches to fiber `i` until it returns or asks.
    unsafe fn run(calls: *mut Calls, i: usize) -> Outcome {
        // SAFETY: by the contract of the callers. Between the switches, only raw pointers are kept.
        unsafe {
            let fiber: *mut Fiber = &raw mut *(&mut (*calls).fibers)[i];
            (*fiber).state = State::Running;
            let before = std::mem::replace(&mut (*calls).current, fiber);
            switch(&raw mut (*fiber).host, (*fiber).sp);
            (*calls).current = before;
            match (*fiber).state {
                State::Asking(number, called) => {
                    let types = (*calls).callback_types(number).get(1..).unwrap_or_default();
                    let words = (*called).arguments(types);
                    let arguments = types.iter().map(|t| CType::of(*t)).zip(words).collect();
                    (*fiber).requests += 1;
                    Outcome::Asks((*fiber).requests << FIBER_BITS | i as i64, number, arguments)
                }
                _ => {
                    let words = std::mem::take(&mut (*fiber).words);
                    Outcome::Returned(i, (*fiber).returns, words, (*fiber).errno)
                }
            }
        }
    }
}

impl Fiber {
    fn new() -> io::Result<Box<Fiber>> {
        let stack = Mapping::new(GUARD_BYTES + STACK_BYTES)?;
        stack.protect(GUARD_BYTES, libc::PROT_NONE)?;
        let mut fiber = Box::new(Fiber {
            stack,
            sp: 0,
            host: 0,
            state: State::Idle,
            requests: 0,
            failing: false,
            words: Words::default(),
            function: 0,
            lent: Lent::default(),
            returns: Returns::default(),
            errno: 0,
        });
        // What `switch` takes: r15, r14, r13, r12, rbx, rbp, and where it returns to.
        let first = [0, 0, 0, 0, &raw mut *fiber as u64, 0, begin as *const () as u64];
        // SAFETY: the words are at the end of the stack, which is aligned for pages.
        unsafe {
            let top = fiber.stack.start.add(fiber.stack.bytes).cast::<u64>();
            let at = top.sub(first.len());
            std::ptr::copy_nonoverlapping(first.as_ptr(), at, first.len());
            fiber.sp = at as u64;
        }
        Ok(fiber)
    }
}

impl Page {
    /// A page of callbacks, numbered from `first` on.
    fn new(calls: *mut Calls, first: usize) -> io::Result<Page> {
        let code = Mapping::new(PAGE_BYTES)?;
        // SAFETY: it has no conditions.
        let thread = unsafe { libc::pthread_self() };
        let make = |i| Callback { calls, number: first + i, types: Vec::new(), thread };
        let callbacks: Box<[Callback]> = (0..PAGE_CALLBACKS).map(make).collect();
        for (i, callback) in callbacks.iter().enumerate() {
            // mov r10, callback; mov r11, stub; jmp r11
            let mut text = vec![0x49, 0xba];
            text.extend((&raw const *callback as u64).to_le_bytes());
            text.extend([0x49, 0xbb]);
            text.extend((callback_stub as *const () as u64).to_le_bytes());
            text.extend([0x41, 0xff, 0xe3]);
            // SAFETY: the entry is in the page and has room for it.
            unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), code.start.add(i * ENTRY_BYTES), text.len()) };
        }
        code.protect(PAGE_BYTES, libc::PROT_READ | libc::PROT_EXEC)?;
        Ok(Page { code, callbacks })
    }
}

/// Puts the stack pointer, and what a C function preserves, aside at `from`, and goes on where `to` was put aside.
///
/// # Safety
/// `to` is the stack pointer of a fiber or a host that has been left by this function, or is new.
#[unsafe(naked)]
unsafe extern "C" fn switch(from: *mut u64, to: u64) {
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

/// Where a new fiber begins, with itself in `rbx`.
#[unsafe(naked)]
unsafe extern "C" fn begin() {
    std::arch::naked_asm!("mov rdi, rbx", "call {serve}", "ud2", serve = sym serve)
}

/// Makes the calls that the fiber is given, for ever.
///
/// # Safety
/// On the stack of this fiber only.
unsafe extern "C" fn serve(fiber: *mut Fiber) {
    loop {
        // SAFETY: the fiber lives as long as its stack; the call is right by the contract of `Calls::start`.
        unsafe {
            let (words, function) = (&raw mut (*fiber).words, (*fiber).function);
            (*words).call(function);
            (*fiber).errno = *libc::__errno_location();
            switch(&raw mut (*fiber).sp, (*fiber).host);
        }
    }
}

/// What C calls comes here, with the callback in `r10`.
#[unsafe(naked)]
unsafe extern "C" fn callback_stub() {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "sub rsp, 144",
        "mov [rsp + {integers}], rdi",
        "mov [rsp + {integers} + 8], rsi",
        "mov [rsp + {integers} + 16], rdx",
        "mov [rsp + {integers} + 24], rcx",
        "mov [rsp + {integers} + 32], r8",
        "mov [rsp + {integers} + 40], r9",
        "movsd [rsp + {floats}], xmm0",
        "movsd [rsp + {floats} + 8], xmm1",
        "movsd [rsp + {floats} + 16], xmm2",
        "movsd [rsp + {floats} + 24], xmm3",
        "movsd [rsp + {floats} + 32], xmm4",
        "movsd [rsp + {floats} + 40], xmm5",
        "movsd [rsp + {floats} + 48], xmm6",
        "movsd [rsp + {floats} + 56], xmm7",
        "lea rax, [rbp + 16]",
        "mov [rsp + {stack}], rax",
        "mov rdi, r10",
        "mov rsi, rsp",
        "call {ask}",
        "mov rax, [rsp + {integer}]",
        "movsd xmm0, [rsp + {float}]",
        "leave",
        "ret",
        integers = const offset_of!(Called, integers),
        floats = const offset_of!(Called, floats),
        integer = const offset_of!(Called, integer),
        float = const offset_of!(Called, float),
        stack = const offset_of!(Called, stack),
        ask = sym ask,
    )
}

const _: () = assert!(size_of::<Called>() <= 144);

/// Leaves the fiber until the callback's result is there.
///
/// # Safety
/// Called by [`callback_stub`] only.
unsafe extern "C" fn ask(callback: *const Callback, called: *mut Called) {
    // SAFETY: the callback is in a page, which lives as long as the runtime; `called` is the stub's. That a fiber of
    // this runtime runs is known before anything of it is touched.
    unsafe {
        ((*called).integer, (*called).float) = (0, 0);
        if libc::pthread_equal(libc::pthread_self(), (*callback).thread) == 0 || (*callback).types.is_empty() {
            return;
        }
        let fiber = (*(*callback).calls).current;
        if fiber.is_null() || (*fiber).failing {
            return;
        }
        (*fiber).state = State::Asking((*callback).number, called);
        switch(&raw mut (*fiber).sp, (*fiber).host);
        (*fiber).state = State::Running;
    }
}
