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
//! In a shared library, C may call what the library exports, too; above a fiber that is a request like any other
//! ([`Calls::ask_for_export`]). Where there is no fiber, [`super::server`] has the rest, for callbacks, too.
//!
//! Invariants: who runs on a fiber is C, and [`ask`], which touches nothing of the heap. A callback answers on the OS
//! thread that its runtime runs on and above a fiber; everywhere else it returns 0, but for shared libraries. Nothing
//! here keeps a reference to [`Calls`] across a switch.

use super::exports::{Argument, Callee, ExportCall, Exports, Given};
use super::invoke::{Returns, Words};
use super::lent::Lent;
use super::server::Server;
use super::stack::{Mapping, switch};
use cairn_layout::c::{CType, FLOAT_REGISTERS, INTEGER_REGISTERS, Shape, VectorType, exported};
use std::io;
use std::mem::offset_of;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes of a fiber's stack, most of which is never touched.
const STACK_BYTES: usize = 8 << 20;
/// Fibers that are kept for later calls.
const IDLE_MAX: usize = 16;
/// Bits of a fiber's number in that of a request.
const FIBER_BITS: u32 = 16;
const FIBER_MASK: i64 = (1 << FIBER_BITS) - 1;
/// There instead of a fiber's number: the request of whoever has called the shared library.
const OF_HOST: i64 = FIBER_MASK;
/// Bytes of a page of callbacks, and of each.
const PAGE_BYTES: usize = 4096;
const ENTRY_BYTES: usize = 32;
/// Callbacks in a page.
const PAGE_CALLBACKS: usize = PAGE_BYTES / ENTRY_BYTES;

/// The words with which C calls a callback, where the stub has saved them.
#[repr(C)]
pub struct Called {
    integers: [u64; INTEGER_REGISTERS],
    floats: [u64; FLOAT_REGISTERS],
    integer: u64,
    float: u64,
    second_integer: u64,
    second_float: u64,
    stack: *const u64,
}

/// The types of a callback.
#[derive(Clone, Default)]
pub struct Signature {
    /// That of the result first; empty if there is no such callback.
    pub types: Vec<u8>,
    /// The shapes of those that are structures, in the same places; empty if none is.
    pub shapes: Vec<Shape>,
}

impl Signature {
    /// What it returns.
    fn returns(&self) -> Returns {
        match (self.types.first().map(|t| CType::of(*t)), self.shapes.first()) {
            (Some(CType::Struct), Some(shape)) => Returns::Struct(*shape),
            (t, _) => Returns::Word(t.unwrap_or(CType::Void)),
        }
    }
}

impl Called {
    /// The arguments, as the types say; they lie where [`Words::push`] and [`Words::push_struct`] would put them.
    fn arguments(&self, signature: &Signature) -> Vec<Argument> {
        let in_memory = matches!(signature.returns(), Returns::Struct(shape) if shape.in_memory);
        // the first one says where the result goes
        let mut taken = Taken { called: self, integers: in_memory as usize, floats: 0, stacked: 0 };
        let argument = |(i, t): (usize, &u8)| match (CType::of(*t), signature.shapes.get(i)) {
            (CType::Struct, Some(shape)) => Argument::Struct(taken.structure(*shape)),
            (t, _) => Argument::Word(t, taken.word(t.is_floating())),
        };
        signature.types.iter().enumerate().skip(1).map(argument).collect()
    }

    /// The callback returns this structure.
    fn give(&mut self, shape: Shape, bytes: &[u8]) {
        if shape.in_memory {
            let room = self.integers[0];
            // SAFETY: the shape is returned in memory, so whoever calls has passed the address of room for it as the
            // first argument.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), room as *mut u8, shape.bytes) };
            self.integer = room;
            return;
        }
        let mut integers = [&mut self.integer, &mut self.second_integer].into_iter();
        let mut floats = [&mut self.float, &mut self.second_float].into_iter();
        for (floating, part) in shape.parts().iter().zip(bytes.chunks(8)) {
            let register = if *floating { floats.next() } else { integers.next() };
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            register.into_iter().for_each(|r| *r = u64::from_le_bytes(word));
        }
    }
}

/// How many of a callback's words have been taken.
struct Taken<'a> {
    called: &'a Called,
    integers: usize,
    floats: usize,
    stacked: usize,
}

impl Taken<'_> {
    fn register(&mut self, floating: bool) -> Option<u64> {
        let (registers, at) = match floating {
            true => (&self.called.floats[..], &mut self.floats),
            false => (&self.called.integers[..], &mut self.integers),
        };
        let word = registers.get(*at).copied();
        *at += word.is_some() as usize;
        word
    }

    fn stacked(&mut self) -> u64 {
        // SAFETY: functions of these types have so many words on the stack, and whoever calls has put them there.
        let word = unsafe { *self.called.stack.add(self.stacked) };
        self.stacked += 1;
        word
    }

    fn word(&mut self, floating: bool) -> u64 {
        self.register(floating).unwrap_or_else(|| self.stacked())
    }

    fn structure(&mut self, shape: Shape) -> Vec<u8> {
        let left = (INTEGER_REGISTERS - self.integers, FLOAT_REGISTERS - self.floats);
        let words: Vec<u64> = match shape.fits(left) {
            true => shape.parts().iter().filter_map(|floating| self.register(*floating)).collect(),
            false => (0..shape.bytes.div_ceil(8)).map(|_| self.stacked()).collect(),
        };
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(shape.bytes);
        bytes
    }
}

/// A Scheme procedure as C sees it.
struct Callback {
    calls: *mut Calls,
    number: usize,
    /// Without types if it is not in use.
    signature: Signature,
    /// What C expects, also of a callback that is free.
    returns: Returns,
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
    /// An exported procedure has been called, and waits for this.
    Exporting(*mut ExportCall),
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
    /// A fiber waits for the result of a callback or an exported procedure.
    Asks(Request),
}

/// C wants a procedure of Scheme to be called.
pub struct Request {
    /// Its number ([`Calls::asking`]).
    pub number: i64,
    /// What it calls.
    pub callee: Callee,
    /// The arguments.
    pub arguments: Vec<Argument>,
}

/// Who waits for the answer of a request.
#[derive(Clone, Copy)]
pub enum Asking {
    /// This fiber.
    Fiber(usize),
    /// Whoever has called the shared library ([`Server`]).
    Host,
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
    /// The OS thread that the runtime runs on, once there are callbacks.
    pub thread: libc::pthread_t,
    /// What C may call by name.
    pub exports: Exports,
    /// Who runs the program of a shared library, or null.
    pub server: *mut Server,
    /// How a callback gets there when nothing that Scheme has called is under way.
    pub enter: Option<Enter>,
}

/// Calls a callback, by number, and gets its arguments when it knows the types; the word that it returns, or the bytes.
pub type Enter = fn(number: usize, arguments: &dyn Fn(&Signature) -> Vec<Argument>) -> (u64, Vec<u8>);

impl Default for Calls {
    fn default() -> Calls {
        Calls {
            fibers: Vec::new(),
            current: null_mut(),
            pages: Vec::new(),
            may_call_back: false,
            thread: 0,
            exports: Exports::default(),
            server: null_mut(),
            enter: None,
        }
    }
}

impl Calls {
    /// Makes a callback of these types: its number and its address. `self` must not move any more.
    pub fn make_callback(&mut self, signature: Signature) -> io::Result<(usize, u64)> {
        let calls: *mut Calls = self;
        let mut free = self.pages.iter_mut().flat_map(|p| &mut p.callbacks).find(|c| c.signature.types.is_empty());
        if free.is_none() {
            let first = self.pages.len() * PAGE_CALLBACKS;
            self.pages.push(Page::new(calls, first)?);
            free = self.pages.last_mut().and_then(|p| p.callbacks.first_mut());
        }
        let Some(callback) = free else { return Err(io::ErrorKind::OutOfMemory.into()) };
        (callback.returns, callback.signature) = (signature.returns(), signature);
        if !self.may_call_back {
            self.may_call_back = true;
            // SAFETY: `pthread_self` asks nothing of its caller.
            self.thread = unsafe { libc::pthread_self() };
        }
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
        let used = !std::mem::take(&mut callback.signature).types.is_empty();
        used.then_some(callback.number)
    }

    /// The types of a callback, if there is one with the number.
    pub fn signature(&self, number: usize) -> Option<&Signature> {
        let signature = &self.pages.get(number / PAGE_CALLBACKS)?.callbacks[number % PAGE_CALLBACKS].signature;
        (!signature.types.is_empty()).then_some(signature)
    }

    fn callback_types(&self, number: usize) -> &[u8] {
        self.signature(number).map_or(&[], |s| &s.types)
    }

    /// Calls a function on a fiber.
    ///
    /// # Safety
    /// The function takes the words, as [`Words::call`] demands. `calls` is the runtime's and does not move any more;
    /// the caller runs on its OS thread and keeps no reference to it.
    pub unsafe fn start(
        calls: *mut Calls,
        function: u64,
        words: Words,
        lent: Lent,
        returns: Returns,
    ) -> io::Result<Outcome> {
        // SAFETY: `calls` is valid and does not move, and the function takes the words (`# Safety`); the references
        // that are made here end before the switch in `run`.
        unsafe {
            let fibers = &mut (*calls).fibers;
            let idle = fibers.iter().position(|f| matches!(f.state, State::Idle));
            let i = match idle {
                Some(i) => i,
                None if fibers.len() as i64 >= OF_HOST => return Err(io::ErrorKind::OutOfMemory.into()),
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
    /// Fiber `i` has asked and was not resumed since. `calls` is the runtime's and does not move any more; the caller
    /// runs on its OS thread and keeps no reference to it.
    pub unsafe fn resume(calls: *mut Calls, i: usize, failing: bool) -> Outcome {
        // SAFETY: `calls` is valid and fiber `i` of it has asked (`# Safety`); the reference ends before the switch in
        // `run`.
        unsafe {
            (&mut (*calls).fibers)[i].failing |= failing;
            Calls::run(calls, i)
        }
    }

    /// Sets the word that the request returns.
    pub fn answer(&mut self, asking: Asking, t: CType, word: u64) {
        match self.state_of(asking) {
            State::Asking(_, called) => {
                // SAFETY: the fiber is asking, so its stack, where `called` is, stands still until it is resumed.
                let called = unsafe { &mut *called };
                (called.integer, called.float) = if t.is_floating() { (0, word) } else { (word, 0) };
            }
            State::Exporting(call) => {
                // SAFETY: `call` is on the stack of who has called, which stands still until there is an answer.
                unsafe { (*call).answer(word) }
            }
            State::Idle | State::Running => {}
        }
    }

    /// Sets the structure that the request returns.
    pub fn answer_struct(&mut self, asking: Asking, shape: Shape, bytes: &[u8]) {
        match self.state_of(asking) {
            // SAFETY: the fiber is asking, so its stack, where `called` is, stands still until it is resumed.
            State::Asking(_, called) => unsafe { (*called).give(shape, bytes) },
            // SAFETY: `call` is on the stack of who has called, which stands still until there is an answer.
            State::Exporting(call) => unsafe { (*call).answer_struct(bytes) },
            State::Idle | State::Running => {}
        }
    }

    /// The shape of the structure that the request returns, if it returns one.
    pub fn answer_shape(&self, asking: Asking) -> Option<Shape> {
        let number = match self.state_of(asking) {
            State::Asking(number, _) => number,
            // SAFETY: `call` is on the stack of who has called, which stands still until there is an answer.
            State::Exporting(call) => match unsafe { (*call).callee } {
                Callee::Callback(number) => number,
                Callee::Export(number) => return self.exports.result_shape(number),
            },
            State::Idle | State::Running => return None,
        };
        match self.signature(number)?.returns() {
            Returns::Struct(shape) => Some(shape),
            Returns::Word(_) => None,
        }
    }

    /// The result type of the request: see [`exported`].
    pub fn answer_type(&self, asking: Asking) -> (CType, Option<VectorType>) {
        let types = match self.state_of(asking) {
            State::Asking(number, _) => self.callback_types(number),
            // SAFETY: `call` is on the stack of who has called, which stands still until there is an answer.
            State::Exporting(call) => self.types(unsafe { (*call).callee }),
            State::Idle | State::Running => &[],
        };
        exported(types.first().copied().unwrap_or(0))
    }

    /// The call of an exported procedure that this request is.
    pub fn export_call(&self, asking: Asking) -> Option<*mut ExportCall> {
        match self.state_of(asking) {
            State::Exporting(call) => Some(call),
            _ => None,
        }
    }

    fn state_of(&self, asking: Asking) -> State {
        match asking {
            Asking::Fiber(i) => self.fibers[i].state,
            Asking::Host => {
                // SAFETY: `asking` gives `Host` only if `server` is not null, and a server lives longer than what it
                // runs: this runtime.
                let call = unsafe { (*self.server).call };
                State::Exporting(call)
            }
        }
    }

    /// Who waits for this request, if somebody still does: a continuation may come back to one that was answered.
    pub fn asking(&self, request: i64) -> Option<Asking> {
        let i = request & FIBER_MASK;
        if i == OF_HOST {
            // SAFETY: `server` is not null, and lives longer than what it runs: this runtime.
            let waits = !self.server.is_null() && unsafe { (*self.server).waits_for(request >> FIBER_BITS) };
            return waits.then_some(Asking::Host);
        }
        let fiber = self.fibers.get(i as usize)?;
        let waits = matches!(fiber.state, State::Asking(..) | State::Exporting(_));
        (waits && fiber.requests == request >> FIBER_BITS).then_some(Asking::Fiber(i as usize))
    }

    /// The request of who has called the shared library, `serial`-th of its kind.
    ///
    /// # Safety
    /// `call` points to a call under way.
    pub unsafe fn request_of_host(&self, serial: i64, call: *const ExportCall) -> Request {
        // SAFETY: `call` points to a call under way (`# Safety`).
        let (callee, arguments) = unsafe { ((*call).callee, self.arguments(call)) };
        Request { number: serial << FIBER_BITS | OF_HOST, callee, arguments }
    }

    /// Is C under way that Scheme has called, on the OS thread that the runtime runs on?
    pub fn c_runs(&self) -> bool {
        !self.current.is_null()
    }

    /// The types of a procedure, that of the result first; empty if there is none.
    pub fn types(&self, callee: Callee) -> &[u8] {
        match callee {
            Callee::Export(n) => self.exports.types(n),
            Callee::Callback(n) => self.callback_types(n),
        }
    }

    /// What messages call a procedure.
    pub fn name(&self, callee: Callee) -> &str {
        match callee {
            Callee::Export(n) => self.exports.name(n),
            Callee::Callback(_) => "c-callback",
        }
    }

    /// The arguments of a call.
    ///
    /// # Safety
    /// `call` points to a call under way.
    unsafe fn arguments(&self, call: *const ExportCall) -> Vec<Argument> {
        // SAFETY: `call` points to a call under way (`# Safety`), and words of an exported procedure are those of the
        // call.
        unsafe {
            match ((*call).callee, &(*call).given) {
                (_, Given::Arguments(arguments)) => arguments.clone(),
                (Callee::Export(number), Given::Words(words)) => self.exports.arguments(number, *words),
                (Callee::Callback(_), Given::Words(_)) => Vec::new(),
            }
        }
    }

    /// C has called an exported procedure above a fiber: leaves that until the answer is there. False if there is no
    /// fiber, or one on which nothing is asked any more.
    ///
    /// # Safety
    /// On the OS thread that the runtime runs on; `calls` is the runtime's, and the caller keeps no reference to it.
    /// `call` lies on the stack of who has called.
    pub unsafe fn ask_for_export(calls: *mut Calls, call: *mut ExportCall) -> bool {
        // SAFETY: `current` is null or the fiber that this stack belongs to, so it is alive; `call` stays on this
        // stack; no reference is kept over the switch.
        unsafe {
            let fiber = (*calls).current;
            if fiber.is_null() || (*fiber).failing {
                return false;
            }
            (*fiber).state = State::Exporting(call);
            switch(&raw mut (*fiber).sp, (*fiber).host);
            (*fiber).state = State::Running;
            true
        }
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
    ///
    /// # Safety
    /// The fiber stands still, with a call to make or an answer. `calls` is the runtime's and does not move any more;
    /// the caller runs on its OS thread and keeps no reference to it.
    unsafe fn run(calls: *mut Calls, i: usize) -> Outcome {
        // SAFETY: `calls` is valid and fiber `i` of it stands still, ready to run (`# Safety`). Boxes keep fibers in
        // place, and over the switch only raw pointers are kept.
        unsafe {
            let fiber: *mut Fiber = &raw mut *(&mut (*calls).fibers)[i];
            (*fiber).state = State::Running;
            let before = std::mem::replace(&mut (*calls).current, fiber);
            switch(&raw mut (*fiber).host, (*fiber).sp);
            (*calls).current = before;
            let (callee, arguments) = match (*fiber).state {
                State::Asking(number, called) => {
                    let signature = (*calls).signature(number);
                    (Callee::Callback(number), signature.map_or_else(Vec::new, |s| (*called).arguments(s)))
                }
                State::Exporting(call) => ((*call).callee, (*calls).arguments(call)),
                _ => {
                    let words = std::mem::take(&mut (*fiber).words);
                    return Outcome::Returned(i, (*fiber).returns, words, (*fiber).errno);
                }
            };
            (*fiber).requests += 1;
            let number = (*fiber).requests << FIBER_BITS | i as i64;
            Outcome::Asks(Request { number, callee, arguments })
        }
    }
}

impl Fiber {
    fn new() -> io::Result<Box<Fiber>> {
        let stack = Mapping::stack(STACK_BYTES)?;
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
        let itself = &raw mut *fiber as u64;
        fiber.sp = fiber.stack.prepare(begin as *const () as u64, itself);
        Ok(fiber)
    }
}

impl Page {
    /// A page of callbacks, numbered from `first` on.
    fn new(calls: *mut Calls, first: usize) -> io::Result<Page> {
        let code = Mapping::new(PAGE_BYTES)?;
        let make = |i| Callback {
            calls,
            number: first + i,
            signature: Signature::default(),
            returns: Returns::default(),
        };
        let callbacks: Box<[Callback]> = (0..PAGE_CALLBACKS).map(make).collect();
        for (i, callback) in callbacks.iter().enumerate() {
            // mov r10, callback; mov r11, stub; jmp r11
            let mut text = vec![0x49, 0xba];
            text.extend((&raw const *callback as u64).to_le_bytes());
            text.extend([0x49, 0xbb]);
            text.extend((callback_stub as *const () as u64).to_le_bytes());
            text.extend([0x41, 0xff, 0xe3]);
            // SAFETY: `i` is below `PAGE_CALLBACKS`, so the entry of `ENTRY_BYTES` is in the page, which is writable;
            // `text` has 23.
            unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), code.start.add(i * ENTRY_BYTES), text.len()) };
        }
        code.protect(PAGE_BYTES, libc::PROT_READ | libc::PROT_EXEC)?;
        Ok(Page { code, callbacks })
    }
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
        // SAFETY: a fiber is dropped only while nothing runs on it, so it is alive; `Calls::start`'s caller has vouched
        // for the call.
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
        "sub rsp, 160",
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
        "mov rdx, [rsp + {second_integer}]",
        "movsd xmm1, [rsp + {second_float}]",
        "leave",
        "ret",
        integers = const offset_of!(Called, integers),
        floats = const offset_of!(Called, floats),
        integer = const offset_of!(Called, integer),
        float = const offset_of!(Called, float),
        second_integer = const offset_of!(Called, second_integer),
        second_float = const offset_of!(Called, second_float),
        stack = const offset_of!(Called, stack),
        ask = sym ask,
    )
}

const _: () = assert!(size_of::<Called>() <= 160);

/// Leaves the fiber until the callback's result is there.
///
/// # Safety
/// Called by [`callback_stub`] only.
unsafe extern "C" fn ask(callback: *const Callback, called: *mut Called) {
    // SAFETY: the callback is in a page, which lives as long as the runtime; `called` is the stub's. That a fiber of
    // this runtime runs is known before anything of it is touched.
    unsafe {
        ((*called).integer, (*called).float) = (0, 0);
        ((*called).second_integer, (*called).second_float) = (0, 0);
        let returns = (*callback).returns;
        if let Returns::Struct(shape) = returns
            && shape.in_memory
        {
            (*called).give(shape, &vec![0; shape.bytes]);
        }
        let calls = (*callback).calls;
        // each call of a shared library may come from another OS thread, which writes the word first
        let thread = AtomicU64::from_ptr(&raw mut (*calls).thread).load(Relaxed);
        let mine = libc::pthread_equal(libc::pthread_self(), thread) != 0;
        let fiber = if mine { (*calls).current } else { null_mut() };
        if fiber.is_null() {
            if let Some(enter) = (*calls).enter {
                let (word, bytes) = enter((*callback).number, &|signature| (*called).arguments(signature));
                match returns {
                    Returns::Struct(shape) if bytes.len() == shape.bytes => (*called).give(shape, &bytes),
                    Returns::Struct(_) => {}
                    Returns::Word(_) => ((*called).integer, (*called).float) = (word, word),
                }
            }
            return;
        }
        if (*fiber).failing || (*callback).signature.types.is_empty() {
            return;
        }
        (*fiber).state = State::Asking((*callback).number, called);
        switch(&raw mut (*fiber).sp, (*fiber).host);
        (*fiber).state = State::Running;
    }
}
