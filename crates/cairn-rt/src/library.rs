//! A shared library made by `cairn build --shared`: how C comes in.
//!
//! The problem: C calls from any OS thread, with a stack of any size, at any time, perhaps from several threads at
//! once, or while Scheme has called C; and the process belongs to somebody else. The idea: a lock is held while Scheme
//! runs, and the program runs on a stack of its own ([`crate::c::server`]). It starts at the first call. Whoever calls
//! Scheme again from C that Scheme has called holds the lock already; that is a request above a fiber
//! ([`crate::c::fibers`]).
//!
//! ```text
//!              first call                     NAME_close, the end of the process
//!    New ───────────────────────▶ Running ───────────────────────────────────────▶ Over(why)
//!     │  an error of the top level   │  exit, no memory                              ▲
//!     ╰──────────────────────────────┴───────────────────────────────────────────────╯
//! ```
//!
//! What is here is global: each shared library has its own copy of the runtime, whose symbols nobody else sees.
//!
//! Invariants: the host's signals stay as they are, but for a SIGSEGV in the stack of a strategy that grows by faults,
//! which anybody else's is handed on from; the process never ends by us; what a call returns and what went wrong
//! belongs to the OS thread that has called. Who writes `printf("%d %s", f(), g())` does not know which call comes
//! first, so a text is kept until the thread has got [`TEXTS_KEPT`] others.

use crate::c::exports::{Argument, Callee, ExportCall, Given, is_helper};
use crate::c::fibers::{Calls, Signature};
use crate::c::server::Server;
use crate::fatal;
use crate::machine::load::take_over;
use crate::runtime::{Runtime, rt};
use crate::start::{Code, run_hosted};
use crate::start_options::{Host, MakeEvaluator, Options};
use cairn_layout::Value;
use cairn_layout::machine::{Machine, slot};
use cairn_layout::module::ModuleTable;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::{CStr, CString, c_char, c_int};
use std::io::Write as _;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// What `cairn build` writes into a shared library.
#[repr(C)]
pub struct LibraryTable {
    name: *const c_char,
    module: *const ModuleTable,
    code: *const c_char,
    code_end: *const c_char,
}

/// See the module's header.
enum State {
    New,
    Running(Box<Server>),
    Over(String),
}

/// A server goes to whichever OS thread holds the lock.
struct Shared(State);

// SAFETY: a `Server` is a stack and what lies on it, none of which belongs to an OS thread: `of_this_thread` renews
// what does, under the lock, before the server is entered.
unsafe impl Send for Shared {}

static STATE: Mutex<Shared> = Mutex::new(Shared(State::New));
/// The OS thread that holds the lock, or 0. Only that thread finds itself here.
static OWNER: AtomicU64 = AtomicU64::new(0);
/// The machine, while the program runs.
static MACHINE: AtomicPtr<Machine> = AtomicPtr::new(null_mut());
/// The program's exit status, when it has ended.
static STATUS: AtomicI32 = AtomicI32::new(0);
/// What the runtime has said.
static SAID: Mutex<String> = Mutex::new(String::new());
static HAS_SAID: AtomicBool = AtomicBool::new(false);
/// Most bytes of it.
const SAID_MAX: usize = 64 << 10;

/// How many texts a thread can have.
const TEXTS_KEPT: usize = 16;

thread_local! {
    /// Strings, vectors and messages that this thread has got, the last one last.
    static TEXTS: RefCell<VecDeque<Kept>> = const { RefCell::new(VecDeque::new()) };
    /// The message of its last call, or null.
    static ERROR: Cell<*const c_char> = const { Cell::new(std::ptr::null()) };
}

/// What C has got and does not free.
enum Kept {
    Text(CString),
    Elements(Vec<u64>),
}

/// Keeps what is said for the message of the call under way, and ends nothing but the program.
#[derive(Debug)]
struct InLibrary;

impl Host for InLibrary {
    fn say(&self, text: &str) {
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() + text.len() <= SAID_MAX {
            said.push_str(text);
        }
        HAS_SAID.store(true, Relaxed);
    }

    fn exit(&self, ctx: &mut Machine, status: i32) -> ! {
        fatal::return_to_host(ctx, status)
    }

    fn has_the_process(&self) -> bool {
        false
    }
}

/// What has been said since the last time.
fn take_said() -> Option<String> {
    if !HAS_SAID.swap(false, Relaxed) {
        return None;
    }
    Some(std::mem::take(&mut *SAID.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// What has been said is no message of a call: reports that were asked for, for instance.
fn tell_said() {
    if let Some(said) = take_said() {
        let _ = std::io::stderr().write_all(said.as_bytes());
    }
}

fn this_thread() -> u64 {
    // SAFETY: `pthread_self` asks nothing of its caller.
    unsafe { libc::pthread_self() }
}

/// From now on this is what went wrong, or nothing did.
fn set_error(error: Option<String>) {
    // a NUL would end the text
    let text = error.map(|e| CString::new(e.trim_end().replace('\0', "\\0")).unwrap_or_default());
    ERROR.set(text.map_or(std::ptr::null(), keep_text));
}

fn keep_text(text: CString) -> *const c_char {
    keep(Kept::Text(text))
}

/// Where it is, as long as it is there; null at the end of a thread, when nobody can ask any more.
fn keep(what: Kept) -> *const c_char {
    let keep = |texts: &RefCell<VecDeque<Kept>>| {
        let mut texts = texts.borrow_mut();
        if texts.len() == TEXTS_KEPT {
            texts.pop_front();
        }
        let address = match &what {
            Kept::Text(text) => text.as_ptr(),
            Kept::Elements(words) => words.as_ptr().cast(),
        };
        texts.push_back(what);
        address
    };
    TEXTS.try_with(keep).unwrap_or(std::ptr::null())
}

/// The lock, held by this thread.
struct Held(MutexGuard<'static, Shared>);

impl Held {
    fn new() -> Held {
        Held::with(STATE.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn with(guard: MutexGuard<'static, Shared>) -> Held {
        OWNER.store(this_thread(), Relaxed);
        Held(guard)
    }

    /// Starts the program if it has not been started; why it does not run.
    fn start(&mut self, library: &LibraryTable, evaluator: Option<MakeEvaluator>) -> Result<(), String> {
        match &self.0.0 {
            State::Running(_) => return Ok(()),
            State::Over(why) => return Err(why.clone()),
            State::New => {}
        }
        // SAFETY: the table is what `cairn build` has written: a C string, a module, and where its code begins and
        // ends.
        let (name, code) = unsafe {
            let name = CStr::from_ptr(library.name).to_string_lossy().into_owned();
            (name, (library.module, library.code as u64..library.code_end as u64))
        };
        let started = match Options::from_environment(vec![name]) {
            // a profile of time would need a signal of the host's
            Ok(options) => Server::new(program(
                Options { evaluator, profile: None, host: Arc::new(InLibrary), ..options },
                code,
            ))
            .map_err(|e| format!("there is no stack for the library: {e}")),
            Err(message) => Err(message),
        };
        match started {
            Ok(server) => {
                self.0.0 = State::Running(server);
                self.enter(null_mut())
            }
            Err(message) => {
                let why = format!("error: {message}");
                self.0.0 = State::Over(why.clone());
                Err(why)
            }
        }
    }

    /// Lets the program go on, which runs. An error: it has ended, and why.
    fn enter(&mut self, call: *mut ExportCall) -> Result<(), String> {
        let State::Running(server) = &mut self.0.0 else { return Ok(()) };
        let server: *mut Server = &raw mut **server;
        let machine = MACHINE.load(Relaxed);
        if !machine.is_null() {
            // SAFETY: `MACHINE` is not null, so the program runs and its machine lives; this thread has the lock, so
            // nobody else uses it.
            unsafe { of_this_thread(machine) };
        }
        // SAFETY: `State::Running`, so the server lives and has not ended; this thread has the lock; `call` stays on
        // our caller's stack.
        let ended = unsafe {
            Server::enter(server, call);
            (*server).ended
        };
        if !ended {
            tell_said();
            return Ok(());
        }
        let why = match take_said() {
            Some(said) => said.trim_end().to_string(),
            None => {
                let status = STATUS.load(Relaxed);
                format!("error: the library's program has ended: exit status {status}")
            }
        };
        self.0.0 = State::Over(why.clone());
        Err(why)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        OWNER.store(0, Relaxed);
    }
}

/// What runs on the server's stack.
fn program(options: Options, code: Code) -> Box<dyn FnOnce(*mut Server)> {
    Box::new(move |server| {
        // SAFETY: the code is part of this library, which is never unloaded, and `code` says where it lies.
        let status = unsafe { run_hosted(options, code, |runtime| serve(runtime, server)) };
        STATUS.store(status, Relaxed);
        MACHINE.store(null_mut(), Relaxed);
    })
}

/// Lets the runtime serve: C may call it at any time from now on.
fn serve(runtime: &mut Runtime, server: *mut Server) {
    runtime.c.server = server;
    runtime.c.may_call_back = true;
    runtime.c.enter = Some(call_back);
    let machine = runtime.machine();
    // SAFETY: `runtime` has just been made, and its machine with it; this thread has the lock, so nobody else uses it.
    unsafe {
        *(*machine).slot_mut(slot::C_CALLS_BACK) = Value::TRUE;
        of_this_thread(machine);
    }
    MACHINE.store(machine, Relaxed);
}

/// The machine runs on this OS thread from now on.
///
/// # Safety
/// The machine is alive, and nobody else uses it.
unsafe fn of_this_thread(machine: *mut Machine) {
    // SAFETY: the machine is alive and nobody else uses it (`# Safety`), but for a callback's check, which may read
    // `thread` at any time, and does so atomically.
    unsafe {
        take_over(&mut *machine);
        AtomicU64::from_ptr(&raw mut rt(&*machine).c.thread).store(this_thread(), Relaxed);
    }
}

/// What a call returns to C.
fn returned(call: ExportCall) -> u64 {
    set_error(call.error);
    if let Given::Words(words) = call.given {
        // SAFETY: the first word is the address of what the call returns beside a word: a structure of as many bytes as
        // the answer has, or the length of a vector. C has set it to zeros.
        unsafe {
            let result = *words as *mut u8;
            if !call.bytes.is_empty() {
                std::ptr::copy_nonoverlapping(call.bytes.as_ptr(), result, call.bytes.len());
            }
            if let Some((_, length)) = &call.vector {
                *result.cast::<usize>() = *length;
            }
        }
    }
    if let Some((elements, _)) = call.vector {
        return keep(Kept::Elements(elements)) as u64;
    }
    call.text.map_or(call.result, |text| keep_text(text) as u64)
}

/// A vector of so many elements is none.
fn too_long(name: &str, length: usize) -> String {
    format!("error: {name}: C has passed a vector of {length} elements")
}

fn refused(error: String) -> u64 {
    set_error(Some(error));
    0
}

/// Calls an exported procedure: what a function of the library does.
///
/// # Safety
/// The table is that of this library, the procedure has a number below that of its exports, and `words` are its
/// arguments.
pub unsafe fn call(
    library: &LibraryTable,
    evaluator: Option<fn() -> MakeEvaluator>,
    number: usize,
    words: *const u64,
) -> u64 {
    let callee = Callee::Export(number);
    let mut call = ExportCall::new(callee, Given::Words(words));
    if is_helper() {
        return refused(HELPER.into());
    }
    if OWNER.load(Relaxed) == this_thread() {
        // SAFETY: this thread owns the lock, so it is in C that the program has called, or is starting it; if `machine`
        // is not null, it lives until that comes back. `words` are this call's.
        let asked = unsafe {
            let machine = MACHINE.load(Relaxed);
            if machine.is_null() {
                return refused("error: the library has not been started yet".into());
            }
            let calls: *mut Calls = &raw mut rt(&*machine).c;
            if (*calls).types(callee).is_empty() {
                return refused(NOT_EXPORTED.into());
            }
            if let Some(length) = (*calls).exports.too_long(number, words) {
                return refused(too_long((*calls).name(callee), length));
            }
            Calls::ask_for_export(calls, &raw mut call)
        };
        return match asked {
            true => returned(call),
            false => refused(GIVEN_UP.into()),
        };
    }
    let mut held = Held::new();
    if let Err(why) = held.start(library, evaluator.map(|make| make())) {
        return refused(why);
    }
    // SAFETY: `start` said `Ok`, so the program runs and its machine lives; this thread has the lock. `words` are this
    // call's.
    unsafe {
        let calls = &rt(&*MACHINE.load(Relaxed)).c;
        if calls.types(callee).is_empty() {
            return refused(NOT_EXPORTED.into());
        }
        if let Some(length) = calls.exports.too_long(number, words) {
            return refused(too_long(calls.name(callee), length));
        }
    }
    match held.enter(&raw mut call) {
        Ok(()) => returned(call),
        Err(why) => refused(why),
    }
}

/// Calls a callback when nothing that Scheme has called is under way on this thread; the word that it returns, or the
/// bytes of a structure; or 0.
fn call_back(number: usize, arguments: &dyn Fn(&Signature) -> Vec<Argument>) -> (u64, Vec<u8>) {
    let refused = |why: String| (refused(why), Vec::new());
    if is_helper() {
        return refused(HELPER.into());
    }
    if OWNER.load(Relaxed) == this_thread() {
        return refused(GIVEN_UP.into());
    }
    let mut held = Held::new();
    if let State::Over(why) = &held.0.0 {
        return refused(why.clone());
    }
    let callee = Callee::Callback(number);
    // SAFETY: whoever has a callback has started the program, and it is not over, so its machine lives; this thread has
    // the lock.
    let signature = unsafe { rt(&*MACHINE.load(Relaxed)).c.signature(number).cloned() };
    let Some(signature) = signature else {
        return refused("error: C has called a callback that is free".into());
    };
    let mut call = ExportCall::new(callee, Given::Arguments(arguments(&signature)));
    match held.enter(&raw mut call) {
        Ok(()) => {
            let bytes = std::mem::take(&mut call.bytes);
            (returned(call), bytes)
        }
        Err(why) => refused(why),
    }
}

const HELPER: &str = "error: a function of C that is called as (blocking …) cannot call the library";
const GIVEN_UP: &str = "error: the library cannot be called now: a call of C is being given up";
const NOT_EXPORTED: &str = "error: the library's program has not come to this c-export";

/// Starts the library unless it has been started; 0, or -1 after an error.
pub fn start(library: &LibraryTable, evaluator: Option<fn() -> MakeEvaluator>) -> c_int {
    set_error(None);
    if OWNER.load(Relaxed) == this_thread() {
        return 0;
    }
    match Held::new().start(library, evaluator.map(|make| make())) {
        Ok(()) => 0,
        Err(why) => {
            refused(why);
            -1
        }
    }
}

/// Calls an exported procedure of a library that does not evaluate: [`call`].
///
/// # Safety
/// The table is that of this library, the procedure has a number below that of its exports, and `words` are its
/// arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_rt_library_call(library: &LibraryTable, number: usize, words: *const u64) -> u64 {
    // SAFETY: the table is this library's, `number` one of its exports, `words` the call's arguments (`# Safety`).
    unsafe { call(library, None, number, words) }
}

/// Starts a library that does not evaluate: [`start`].
#[unsafe(no_mangle)]
pub extern "C" fn cairn_rt_library_start(library: &LibraryTable) -> c_int {
    start(library, None)
}

/// What went wrong in this thread's last call, or null.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_rt_library_error() -> *const c_char {
    ERROR.get()
}

/// C that Scheme has called ends the process: what is in buffers is written out.
fn write_out() {
    let machine = MACHINE.load(Relaxed);
    // SAFETY: `MACHINE` is null or that of a live machine; this thread has the lock, and Scheme waits for C, unless
    // this is in a handler of a signal.
    unsafe {
        if !machine.is_null() && rt(&*machine).c.c_runs() {
            let flush = rt(&*machine).flush;
            flush(&mut *machine);
        }
    }
}

/// Ends the library's program: what it has written is flushed, its memory is freed, and nothing can be called any more.
/// 0, or -1 while it is in use: a function of C that it has called cannot close it, nor, if `at_exit`, may another
/// thread have it.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_rt_library_close(at_exit: bool) -> c_int {
    if OWNER.load(Relaxed) == this_thread() {
        if at_exit {
            write_out();
        }
        refused("error: a function that the library has called cannot close it".into());
        return -1;
    }
    let mut held = match at_exit {
        false => Held::new(),
        true => match STATE.try_lock() {
            Ok(guard) => Held::with(guard),
            Err(TryLockError::Poisoned(e)) => Held::with(e.into_inner()),
            Err(TryLockError::WouldBlock) => return -1,
        },
    };
    if let State::Running(server) = &mut held.0.0 {
        let server: *mut Server = &raw mut **server;
        let machine = MACHINE.load(Relaxed);
        // SAFETY: `State::Running`, so the program waits for a call on a machine that lives; this thread has the lock.
        unsafe {
            of_this_thread(machine);
            Server::enter(server, null_mut());
        }
        tell_said();
    }
    held.0.0 = State::Over("error: the library is closed".into());
    set_error(None);
    0
}
