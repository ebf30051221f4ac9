//! The runtime calls of `lib/cairn/c.sld`.
//!
//! A C function is a vector, [`function`], which the library makes; the type of pointers is one of its elements, or an
//! argument, for every place has its own library. Results of C are never opaque objects: such a result is a callback's
//! request, `(%opaque request callback arguments)`.

use super::convert::{
    address_of, argument, c_text, expected, give_back, load, make_pointer, scalar, store, string_at, structure,
    value,
};
use super::exports::{Argument, CVector, Callee, Given, helping};
use super::fibers::{Asking, Calls, Outcome, Request, Signature};
use super::invoke::{Returns, Words, call_spread};
use super::lent::Lent;
use super::server::Server;
use super::sources;
use crate::access::{self, byte_slice, string_of, string_text};
use crate::alloc;
use crate::failure::{describe_io, fail};
use crate::jobs::Job;
use crate::num::operand::{make_integer, make_wide_integer, to_int};
use crate::numeric;
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::c::{CType, Passed, Shape, VectorType, direct};
use cairn_layout::machine::{Machine, error as kind, slot};
use cairn_layout::object::Type;
use std::ffi::{CStr, CString};

/// Elements of the vector that stands for a C function.
mod function {
    /// Fixnum: its address.
    pub const ADDRESS: u64 = 0;
    /// String: its name.
    pub const WHO: u64 = 1;
    /// Bytevector: the numbers of its types, that of the result first.
    pub const TYPES: u64 = 2;
    /// Vector of symbols: the types as the program names them, likewise.
    pub const NAMES: u64 = 3;
    /// The record type of pointers.
    pub const POINTER: u64 = 4;
    /// Vector of fixnums, [`Shape`](cairn_layout::c::Shape) of those types that are structures; or `#f`, if none is.
    pub const SHAPES: u64 = 5;
}

/// Does C's own library, or another that this process has, define the name?
pub fn is_taken(name: &str) -> bool {
    let Ok(name) = CString::new(name) else { return false };
    // SAFETY: `name` is a C string, which `dlsym` only reads.
    unsafe { !libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).is_null() }
}

/// What dlopen or dlsym says of its last failure.
fn loader_message() -> String {
    // SAFETY: the result is null or a C string that lasts until the next call of this kind on this thread.
    let text = unsafe {
        let text = libc::dlerror();
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    };
    text.unwrap_or_else(|| "unknown error".to_string())
}

/// `(c-open name)`: the handle of a library, an integer, or why there is none. `#f` is the program itself.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_open(ctx: &mut Machine, name: Value) -> Value {
    if string_of(name).is_some()
        && let Some(key) = string_text(name).strip_prefix(sources::PREFIX)
    {
        return match sources::open(key, loader_message) {
            Ok(handle) => make_integer(ctx, handle),
            Err(why) => alloc::make_string(ctx, &why),
        };
    }
    let path = string_of(name).and_then(|_| CString::new(string_text(name)).ok());
    let path_pointer = path.as_ref().map_or(std::ptr::null(), |p| p.as_ptr());
    // SAFETY: a path or null; what the library's initializers do is the program's business.
    let handle = unsafe { libc::dlopen(path_pointer, libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        let message = loader_message();
        return alloc::make_string(ctx, &message);
    }
    make_integer(ctx, handle as i64)
}

/// `(c-symbol handle name)`: an address, a fixnum, or `#f`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_symbol(_ctx: &mut Machine, handle: Value, name: Value) -> Value {
    let Ok(name) = CString::new(string_text(name)) else { return Value::FALSE };
    let handle = handle.as_fixnum();
    let address = sources::find(handle, &name).unwrap_or_else(|| {
        // SAFETY: the handle is even, so `c-open` has it from `dlopen`, and libraries are never closed; `name` is a C
        // string.
        unsafe { libc::dlsym(handle as *mut libc::c_void, name.as_ptr()) as u64 }
    });
    if address == 0 { Value::FALSE } else { Value::try_fixnum(address as i64).unwrap_or(Value::FALSE) }
}

/// `abs: argument 1 must be an int (…), got "x"`: `what` is what must be of the type.
fn mismatch(ctx: &mut Machine, who: &str, what: &str, t: CType, name: &str, got: Value) -> Value {
    let is_integer = to_int(got).is_some();
    let failed = if is_integer && t.integers().is_some() { kind::RANGE } else { kind::TYPE };
    fail(ctx, failed, who, format!("{what} must be {}, got", expected(t, name)), &[got])
}

/// What is wrong with something that must be a structure.
fn not_a_struct(what: &str, name: &str, bytes: usize) -> String {
    format!("{what} must be a {name} (a pointer, or a bytevector of {bytes} bytes), got")
}

/// Calls a function on this stack, and keeps `errno`.
///
/// # Safety
/// At `address` is a function of C that takes the arguments in `words`, and what it does with them is sound.
unsafe fn call_here(ctx: &mut Machine, words: &mut Words, address: u64) {
    // SAFETY: the function takes what is in `words` (`# Safety`); `errno` is this thread's.
    unsafe {
        words.call(address);
        ctx.c_errno = *libc::__errno_location() as u64;
    }
}

/// Bytes of the stack for such a call.
const BLOCKING_STACK: usize = 8 << 20;

/// The words of a call, what C is lent for it, and what it returns; an argument that does not fit is an error, and
/// this the failure. `moves`: collections may happen during the call.
fn prepared(ctx: &mut Machine, f: Value, arguments: Value, moves: bool) -> Result<(Words, Lent, Returns), Value> {
    let pointer = access::word(f, function::POINTER);
    let types = byte_slice(access::word(f, function::TYPES));
    let shapes = access::word(f, function::SHAPES);
    let shape = |i: usize| Shape::of(access::word(shapes, i as u64).as_fixnum());
    let returns = match CType::of(types[0]) {
        CType::Struct => Returns::Struct(shape(0)),
        t => Returns::Word(t),
    };
    let (mut words, mut lent) = (Words::default(), Lent::default());
    words.make_room(returns);
    for (i, (t, v)) in types[1..].iter().zip(access::words(arguments)).enumerate() {
        let t = CType::of(*t);
        let fits = match t {
            CType::Struct => structure(*v, shape(i + 1).bytes, pointer).map(|address| {
                // SAFETY: `structure` has found so many bytes in the vector, or the program says that they are behind
                // the pointer.
                unsafe { words.push_struct_at(shape(i + 1), address) };
            }),
            _ => argument(t, i, *v, pointer, &mut lent, moves).map(|word| words.push(t.is_floating(), word)),
        };
        if fits.is_none() {
            let who = string_text(access::word(f, function::WHO));
            let name = access::symbol_text(access::word(access::word(f, function::NAMES), i as u64 + 1));
            let what = format!("argument {}", i + 1);
            if t == CType::Struct {
                let message = not_a_struct(&what, &name, shape(i + 1).bytes);
                return Err(fail(ctx, kind::TYPE, &who, message, &[*v]));
            }
            return Err(mismatch(ctx, &who, &what, t, &name, *v));
        }
    }
    Ok((words, lent, returns))
}

/// The value of what a call has returned.
fn returned(ctx: &mut Machine, returns: Returns, words: &Words, pointer: Value) -> Value {
    match returns {
        Returns::Word(t) => value(ctx, t, words.result(t.is_floating()), pointer),
        Returns::Struct(shape) => {
            let bytes = words.structure(shape);
            bytevector(ctx, &bytes)
        }
    }
}

fn bytevector(ctx: &mut Machine, bytes: &[u8]) -> Value {
    let v = alloc::alloc_object(ctx, Type::Bytevector, 0, bytes.len() as u64);
    access::byte_slice_mut(v).copy_from_slice(bytes);
    v
}

/// `(c-begin function arguments)`: has another OS thread call it: the descriptor to wait for before `c-end`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_begin(ctx: &mut Machine, f: Value, arguments: Value) -> Value {
    let (mut words, lent, returns) = match prepared(ctx, f, arguments, true) {
        Ok(prepared) => prepared,
        Err(failed) => return failed,
    };
    let address = access::word(f, function::ADDRESS).as_fixnum() as u64;
    let job = Job::start_on(BLOCKING_STACK, move || {
        // SAFETY: the program says that this is the function's type, and that it may run on another thread; `prepared`
        // has checked the arguments, and `lent` keeps what they point to.
        let errno = unsafe {
            helping(|| words.call(address));
            *libc::__errno_location()
        };
        (words, lent, errno)
    });
    match job {
        Ok(job) => {
            let descriptor = job.descriptor();
            rt(ctx).c_elsewhere.insert(descriptor.as_fixnum(), (job, returns));
            descriptor
        }
        Err(e) => {
            let message = format!("there is no OS thread for a blocking call: {}", describe_io(&e));
            fail(ctx, kind::OTHER, "c-procedure", message, &[])
        }
    }
}

/// `(c-end descriptor arguments pointer-type)`: the result of a call that `c-begin` has begun, in a vector; `#f` if it
/// has not returned.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_end(ctx: &mut Machine, descriptor: Value, arguments: Value, pointer: Value) -> Value {
    let elsewhere = &mut rt(ctx).c_elsewhere;
    let Some((words, lent, errno)) = elsewhere.get(&descriptor.as_fixnum()).and_then(|(job, _)| job.take()) else {
        return Value::FALSE;
    };
    let Some((_, returns)) = elsewhere.remove(&descriptor.as_fixnum()) else { return Value::FALSE };
    ctx.c_errno = errno as u64;
    let v = returned(ctx, returns, &words, pointer);
    give_back(lent, access::words(arguments));
    alloc::make_vector(ctx, &[v])
}

/// `(c-invoke function arguments)`: calls it with a vector of as many arguments as it has.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_invoke(ctx: &mut Machine, f: Value, arguments: Value) -> Value {
    let (address, pointer) = (access::word(f, function::ADDRESS), access::word(f, function::POINTER));
    let may_call_back = rt(ctx).c.may_call_back;
    let (mut words, lent, returns) = match prepared(ctx, f, arguments, may_call_back) {
        Ok(prepared) => prepared,
        Err(failed) => return failed,
    };
    let address = address.as_fixnum() as u64;
    if may_call_back {
        // SAFETY: the program says that this is the function's type, and `prepared` has checked the arguments; the
        // runtime, which is boxed, does not move, and no reference to `c` is kept here.
        let outcome = unsafe { Calls::start(&raw mut rt(ctx).c, address, words, lent, returns) };
        return match outcome {
            Ok(outcome) => told(ctx, outcome, arguments, pointer),
            Err(e) => fail(ctx, kind::OTHER, "c-procedure", format!("no stack for C: {}", describe_io(&e)), &[]),
        };
    }
    // SAFETY: the program says that this is the function's type, and `prepared` has checked the arguments; `lent` keeps
    // what they point to.
    unsafe { call_here(ctx, &mut words, address) };
    // A string may be part of what was lent.
    let v = returned(ctx, returns, &words, pointer);
    give_back(lent, access::words(arguments));
    v
}

/// What has come of a call on a fiber: the result, or a request.
fn told(ctx: &mut Machine, outcome: Outcome, arguments: Value, pointer: Value) -> Value {
    match outcome {
        Outcome::Returned(fiber, returns, words, errno) => {
            ctx.c_errno = errno as u64;
            let lent = rt(ctx).c.release(fiber);
            let v = returned(ctx, returns, &words, pointer);
            give_back(lent, access::words(arguments));
            v
        }
        Outcome::Asks(request) => asked(ctx, request, pointer),
    }
}

/// The object that tells the library of a request.
fn asked(ctx: &mut Machine, request: Request, pointer: Value) -> Value {
    let arguments = request.arguments.into_iter();
    let items: Vec<Value> = arguments
        .map(|argument| match argument {
            Argument::Word(t, word) => value(ctx, t, word, pointer),
            Argument::Struct(bytes) => bytevector(ctx, &bytes),
            Argument::Vector(CVector { address: 0, .. }) => Value::FALSE,
            // SAFETY: C says that `length` elements are at `address`; `too_long` has refused lengths that no memory
            // has.
            Argument::Vector(CVector { t, address, length }) => unsafe {
                let elements = std::slice::from_raw_parts(address as *const u8, length << t.kind.shift());
                numeric::make(ctx, t.kind, elements)
            },
        })
        .collect();
    let items = alloc::make_vector(ctx, &items);
    let object = alloc::alloc_object(ctx, Type::Opaque, 0, 3);
    let parts = [Value::fixnum(request.number), Value::fixnum(request.callee.code()), items];
    access::words_mut(object).copy_from_slice(&parts);
    object
}

/// `(c-answer request x name pointer-type)`: what the callback or the exported procedure under way returns; `#f` if
/// nothing is. What the procedure has changed in vectors of C's goes back.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_answer(
    ctx: &mut Machine,
    request: Value,
    x: Value,
    name: Value,
    pointer: Value,
) -> Value {
    let [number, _, arguments] = access::words(request) else { return Value::FALSE };
    let Some(asking) = rt(ctx).c.asking(number.as_fixnum()) else { return Value::FALSE };
    let call = rt(ctx).c.export_call(asking);
    let answered = answer(ctx, asking, x, name, pointer);
    // SAFETY: an `export_call` that still waits (`asking`) is under way, on a stack that stands still.
    if let Some(call) = call.filter(|_| answered == Value::TRUE)
        && let (Callee::Export(number), Given::Words(words)) = unsafe { ((*call).callee, &(*call).given) }
    {
        // SAFETY: that call is still under way; the procedure was given vectors of the lengths that C's have, and
        // cannot change those.
        unsafe { rt(ctx).c.exports.give_back(number, *words, |i| numeric::bytes(access::words(*arguments)[i])) };
    }
    answered
}

/// Answers who is asking.
fn answer(ctx: &mut Machine, asking: Asking, x: Value, name: Value, pointer: Value) -> Value {
    let (t, vector) = rt(ctx).c.answer_type(asking);
    let call = rt(ctx).c.export_call(asking);
    // SAFETY: an `export_call` that still waits is under way, on a stack that stands still.
    let who = call.map(|call| rt(ctx).c.name(unsafe { (*call).callee }).to_string());
    let who = who.unwrap_or_else(|| "c-callback".into());
    if let (Some(call), Some(VectorType { kind: elements, .. })) = (call, vector) {
        // SAFETY: an `export_call` that still waits is under way, on a stack that stands still, so this is the only
        // reference to it.
        let call = unsafe { &mut *call };
        match numeric::kind_of(x) {
            Some(k) if k == elements => {
                let bytes: &[u8] = numeric::bytes(x);
                call.answer_vector(bytes, bytes.len() >> elements.shift());
            }
            None if x == Value::FALSE => call.answer(0),
            _ => {
                let what = match &*access::symbol_text(name) {
                    "bytevector" => "a bytevector",
                    _ => elements.with_article(),
                };
                return fail(ctx, kind::TYPE, &who, format!("the result must be {what} or #f, got"), &[x]);
            }
        }
        return Value::TRUE;
    }
    if let (Some(call), CType::String, Some(_)) = (call, t, string_of(x)) {
        let Ok(text) = CString::new(string_text(x)) else {
            return fail(ctx, kind::TYPE, &who, "the result must be a string without NUL, got", &[x]);
        };
        // SAFETY: an `export_call` that still waits is under way, on a stack that stands still.
        unsafe { (*call).answer_text(text) };
        return Value::TRUE;
    }
    if let (CType::Struct, Some(shape)) = (t, rt(ctx).c.answer_shape(asking)) {
        let Some(address) = structure(x, shape.bytes, pointer) else {
            let message = not_a_struct("the result", &access::symbol_text(name), shape.bytes);
            return fail(ctx, kind::TYPE, &who, message, &[x]);
        };
        // SAFETY: `structure` has found so many bytes in the vector, or the program says that they are behind the
        // pointer.
        let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, shape.bytes) }.to_vec();
        rt(ctx).c.answer_struct(asking, shape, &bytes);
        return Value::TRUE;
    }
    let word = match t {
        CType::Void => Some(0),
        _ => scalar(t, x, pointer),
    };
    let Some(word) = word else {
        return mismatch(ctx, &who, "the result", t, &access::symbol_text(name), x);
    };
    rt(ctx).c.answer(asking, t, word);
    Value::TRUE
}

/// `(c-refuse request text)`: the call of an exported procedure returns 0, for this reason.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_refuse(ctx: &mut Machine, request: Value, text: Value) -> Value {
    let call = rt(ctx).c.asking(request.as_fixnum()).and_then(|asking| rt(ctx).c.export_call(asking));
    if let Some(call) = call {
        // SAFETY: `asking` has found that this call still waits, so it is under way, on a stack that stands still.
        unsafe { (*call).refuse(string_text(text)) };
    }
    Value::bool(call.is_some())
}

/// `(c-export number name types shapes)`: C may call the procedure with this number; `shapes` is as of a [`function`].
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_export(
    ctx: &mut Machine,
    number: Value,
    name: Value,
    types: Value,
    shapes: Value,
) -> Value {
    let (number, shapes) = (number.as_fixnum() as usize, shapes_of(shapes));
    rt(ctx).c.exports.add(number, string_text(name), byte_slice(types), shapes);
    Value::UNSPECIFIED
}

/// `(c-await pointer-type)`: lets C go on until it calls an exported procedure; the request, or `#f` if the program is
/// to end.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_await(ctx: &mut Machine, pointer: Value) -> Value {
    let server = rt(ctx).c.server;
    if server.is_null() {
        return Value::FALSE;
    }
    // SAFETY: there is a server, so this program runs on its stack; `call` is null or under way until `wait` sets it to
    // null, and is one again when `wait` says true.
    unsafe {
        let call = (*server).call;
        if !call.is_null() && !(*call).answered {
            (*call).refuse("error: a continuation has left the procedure that C has called".into());
        }
        if !Server::wait(server) {
            return Value::FALSE;
        }
        let request = rt(ctx).c.request_of_host((*server).serial(), (*server).call);
        asked(ctx, request, pointer)
    }
}

/// `(c-resume request failing? arguments pointer-type)`: goes on with the call; like `c-invoke`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_resume(
    ctx: &mut Machine,
    request: Value,
    failing: Value,
    arguments: Value,
    pointer: Value,
) -> Value {
    let Some(Asking::Fiber(fiber)) = rt(ctx).c.asking(request.as_fixnum()) else {
        return fail(ctx, kind::OTHER, "c-callback", "the call of C is over: nothing can return to it", &[]);
    };
    // SAFETY: `asking` has found that the fiber waits for an answer; the runtime, which is boxed, does not move, and no
    // reference to `c` is kept here.
    let outcome = unsafe { Calls::resume(&raw mut rt(ctx).c, fiber, failing.is_true()) };
    told(ctx, outcome, arguments, pointer)
}

/// The shapes of a [`function`].
fn shapes_of(shapes: Value) -> Vec<Shape> {
    match shapes {
        Value::FALSE => Vec::new(),
        shapes => access::words(shapes).iter().map(|shape| Shape::of(shape.as_fixnum())).collect(),
    }
}

/// `(c-callback types shapes pointer-type)`: number and pointer of a new callback; types and shapes are those of a
/// [`function`].
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_callback(ctx: &mut Machine, types: Value, shapes: Value, pointer: Value) -> Value {
    let signature = Signature { types: byte_slice(types).to_vec(), shapes: shapes_of(shapes) };
    match rt(ctx).c.make_callback(signature) {
        Ok((number, address)) => {
            *ctx.slot_mut(slot::C_CALLS_BACK) = Value::TRUE;
            let p = make_pointer(ctx, address, pointer);
            alloc::alloc_pair(ctx, Value::fixnum(number as i64), p)
        }
        Err(e) => fail(ctx, kind::OTHER, "c-callback", format!("no memory for it: {}", describe_io(&e)), &[]),
    }
}

/// `(c-callback-free pointer pointer-type)`: the number of the callback there, which is freed, or `#f`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_callback_free(ctx: &mut Machine, p: Value, pointer: Value) -> Value {
    let number = address_of(p, pointer).and_then(|address| rt(ctx).c.free_callback(address));
    number.map_or(Value::FALSE, |n| Value::fixnum(n as i64))
}

/// `(c-direct signature address arguments)`: the call of a [`direct`] signature that compiled code makes itself, with a
/// list of arguments that are known to be right. A result that is neither fixnum nor flonum is `#f`; [`cairn_c_wide`]
/// has it.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_direct(ctx: &mut Machine, signature: Value, address: Value, arguments: Value) -> Value {
    let signature = signature.as_fixnum();
    let mut words = Words::default();
    let items: Vec<Value> = access::list_items(arguments).collect();
    let (result, places) = direct::signature(signature, items.len(), |i| items[i].as_fixnum());
    let returns = match result {
        Passed::Struct(shape) => Returns::Struct(shape),
        Passed::Scalar(t) => Returns::Word(t),
    };
    words.make_room(returns);
    // SAFETY: the library has checked the arguments: `v` is passed as a pointer and no `#f`, so a record of one word.
    let behind = |v: Value| unsafe { *(access::word_address(v, 0) as *const u64) };
    let lies = |v: Value| match numeric::kind_of(v) {
        Some(_) => numeric::bytes(v).as_ptr() as u64,
        None => behind(v),
    };
    for (passed, i) in places {
        let v = items[i];
        match passed {
            Passed::Scalar(CType::Pointer) if v != Value::FALSE => words.push(false, behind(v)),
            Passed::Scalar(direct::ELEMENTS) => words.push(false, if v == Value::FALSE { 0 } else { lies(v) }),
            Passed::Scalar(t) => words.push(t.is_floating(), scalar(t, v, Value::FALSE).unwrap_or(0)),
            Passed::Struct(shape) => {
                // SAFETY: the library has found so many bytes in the vector, or the program says that they are behind
                // the pointer.
                unsafe { words.push_struct_at(shape, lies(v)) };
            }
        }
    }
    // SAFETY: the program says that this is the function's type, and the library has checked the arguments.
    unsafe { call_here(ctx, &mut words, address.as_fixnum() as u64) };
    let wide = |ctx: &mut Machine, word: u64| {
        ctx.c_wide = word;
        Value::FALSE
    };
    let t = match result {
        Passed::Struct(_) => return returned(ctx, returns, &words, Value::FALSE),
        Passed::Scalar(t) => t,
    };
    match t {
        CType::Pointer | CType::U64 => match i64::try_from(words.integer).ok().and_then(Value::try_fixnum) {
            Some(v) => v,
            None => wide(ctx, words.integer),
        },
        CType::I64 => match Value::try_fixnum(words.integer as i64) {
            Some(v) => v,
            None => wide(ctx, words.integer),
        },
        t => value(ctx, t, words.result(t.is_floating()), Value::FALSE),
    }
}

/// `(c-elements x strings?)`: what a direct call passes for a string or a homogeneous vector: its text with NUL behind
/// it, and of a literal vector a copy; other vectors, and what is neither, as they are. `()` for a text with NUL in it,
/// and for all strings if they are not passed.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_elements(ctx: &mut Machine, x: Value, strings: Value) -> Value {
    if let Some(chars) = string_of(x) {
        if !strings.is_true() {
            return Value::NIL;
        }
        if chars.iter().all(|c| (1..0x80).contains(c)) {
            let v = alloc::alloc_object(ctx, Type::Bytevector, 0, chars.len() as u64 + 1);
            let (end, bytes) = access::byte_slice_mut(v).split_last_mut().expect("one byte more");
            bytes.iter_mut().zip(chars).for_each(|(byte, c)| *byte = *c as u8);
            *end = 0;
            return v;
        }
        return match c_text(chars) {
            Some(text) => bytevector(ctx, &text),
            None => Value::NIL,
        };
    }
    match numeric::kind_of(x) {
        Some(kind) if access::mutable(x).is_none() => numeric::make(ctx, kind, numeric::bytes(x)),
        _ => x,
    }
}

/// `(c-text address)`: the text at an address, or `#f` at NULL.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_text(ctx: &mut Machine, address: Value) -> Value {
    // SAFETY: the program says that C has returned a text: NULL or the address of a C string.
    unsafe { string_at(ctx, address.as_fixnum() as u64) }
}

/// Calls the function with what compiled code has put into `Machine::c_words`, `count` words of it for the stack.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_spread(ctx: &mut Machine, address: Value, count: Value) -> Value {
    // SAFETY: the program says that this is the function's type; compiled code has stored `count` words for the stack.
    unsafe { call_spread(&mut ctx.c_words, address.as_fixnum() as u64, count.as_fixnum() as usize) };
    Value::UNSPECIFIED
}

/// `(c-wide signed?)`: the result of the last direct call, as an integer.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_wide(ctx: &mut Machine, signed: Value) -> Value {
    let word = ctx.c_wide;
    if signed.is_true() { make_integer(ctx, word as i64) } else { make_wide_integer(ctx, word as i128) }
}

/// `(c-errno)`: what the last call of C has left in `errno`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_errno(ctx: &mut Machine) -> Value {
    Value::fixnum(ctx.c_errno as i32 as i64)
}

/// `(c-error-text number)`: the system's words for it.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_error_text(ctx: &mut Machine, number: Value) -> Value {
    let error = std::io::Error::from_raw_os_error(number.as_fixnum() as i32);
    alloc::make_string(ctx, &describe_io(&error))
}

/// Why bytes lie nowhere.
enum Misplaced {
    /// The offset is no fixnum.
    Offset,
    /// The bytevector, which is to change, is a literal.
    Immutable,
    /// The bytevector has only so many bytes.
    Beyond(usize),
    Null,
    NoPointer,
}

/// Where `bytes` bytes lie, `offset` bytes behind a pointer, or in a bytevector, in which they must be. `write`: they
/// are to change.
fn place(at: Value, offset: Value, bytes: usize, pointer: Value, write: bool) -> Result<u64, Misplaced> {
    if !offset.is_fixnum() {
        return Err(Misplaced::Offset);
    }
    let n = offset.as_fixnum();
    if numeric::kind_of(at).is_some() {
        if write && access::mutable(at).is_none() {
            return Err(Misplaced::Immutable);
        }
        let length = numeric::bytes(at).len();
        if usize::try_from(n).ok().and_then(|n| n.checked_add(bytes)).is_none_or(|end| end > length) {
            return Err(Misplaced::Beyond(length));
        }
        return Ok(access::word_address(at, 0) as u64 + n as u64);
    }
    match address_of(at, pointer) {
        Some(0) => Err(Misplaced::Null),
        Some(address) => Ok(address.wrapping_add(n as u64)),
        None => Err(Misplaced::NoPointer),
    }
}

/// `(c-misplaced who at offset bytes pointer-type)`: fails, for the reason why another call has found no place there;
/// `bytes` may be a vector of them.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_misplaced(
    ctx: &mut Machine,
    who: Value,
    at: Value,
    offset: Value,
    bytes: Value,
    pointer: Value,
) -> Value {
    let who = access::string_text(who);
    let bytes = if bytes.is_fixnum() { bytes.as_fixnum() as usize } else { numeric::bytes(bytes).len() };
    // what can only be read was to be written
    let why = place(at, offset, bytes, pointer, false).err().unwrap_or(Misplaced::Immutable);
    match why {
        Misplaced::Offset => crate::failure::wrong_type(ctx, &who, 0, "an offset", offset),
        Misplaced::Immutable => crate::failure::wrong_type(ctx, &who, 0, "a mutable bytevector", at),
        Misplaced::Beyond(length) => {
            let message = format!("{bytes} bytes at this offset are not in {length} bytes:");
            fail(ctx, kind::RANGE, &who, message, &[offset])
        }
        Misplaced::Null => fail(ctx, kind::TYPE, &who, "the pointer is NULL", &[]),
        Misplaced::NoPointer => crate::failure::wrong_type(ctx, &who, 0, "a pointer or a bytevector", at),
    };
    crate::failure::keep_who(ctx)
}

/// `(c-load at type offset pointer-type)`: `()` if there is nothing ([`cairn_c_misplaced`]).
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_load(ctx: &mut Machine, at: Value, t: Value, offset: Value, pointer: Value) -> Value {
    let t = CType::of(t.as_fixnum() as u8);
    let Ok(address) = place(at, offset, t.bytes(), pointer, false) else { return Value::NIL };
    // SAFETY: `place` has found so many bytes in a bytevector; of memory of C the program says that they are there.
    let word = unsafe { load(t, address) };
    value(ctx, t, word, pointer)
}

/// `(c-expected type)`: what must be where the type is to be stored.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_expected(ctx: &mut Machine, t: Value) -> Value {
    let t = CType::of(t.as_fixnum() as u8);
    let name = CType::NAMES.iter().rfind(|(_, named)| *named == t).map_or("", |(name, _)| name);
    // Nobody would keep the memory of a string.
    let text = expected(if t == CType::String { CType::Pointer } else { t }, name);
    alloc::make_string(ctx, &text)
}

/// `(c-store! at type offset x pointer-type)`: `#f` if the value is none of the type ([`cairn_c_expected`]), `()` if
/// there is no place for it ([`cairn_c_misplaced`]).
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_store(
    _ctx: &mut Machine,
    at: Value,
    t: Value,
    offset: Value,
    x: Value,
    pointer: Value,
) -> Value {
    let t = CType::of(t.as_fixnum() as u8);
    let Some(word) = scalar(t, x, pointer) else { return Value::FALSE };
    let Ok(address) = place(at, offset, t.bytes(), pointer, true) else { return Value::NIL };
    // SAFETY: `place` has found so many bytes in a bytevector; of memory of C the program says that they are there.
    unsafe { store(t, address, word) };
    Value::UNSPECIFIED
}

/// `(c-bytes type)`: how many bytes a type takes.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_bytes(_ctx: &mut Machine, t: Value) -> Value {
    Value::fixnum(CType::of(t.as_fixnum() as u8).bytes() as i64)
}

/// `(c-allocate bytes pointer-type)`: memory of C, all zeros; `#f` if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_allocate(ctx: &mut Machine, bytes: Value, pointer: Value) -> Value {
    // SAFETY: `calloc` has no conditions; a size that is too large gives NULL.
    let address = unsafe { libc::calloc(1, (bytes.as_fixnum() as usize).max(1)) };
    make_pointer(ctx, address as u64, pointer)
}

/// `(c-release p pointer-type)`: gives memory back.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_release(ctx: &mut Machine, p: Value, pointer: Value) -> Value {
    let Some(address) = address_of(p, pointer) else {
        return crate::failure::wrong_type(ctx, "c-free", 0, "a pointer or #f", p);
    };
    // SAFETY: the program says that malloc has made it, and that nobody uses it any more.
    unsafe { libc::free(address as *mut libc::c_void) };
    Value::UNSPECIFIED
}

/// `(c-copy-out at offset bytes pointer-type)`: a bytevector with these bytes, `()` if they are not there
/// ([`cairn_c_misplaced`]).
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_copy_out(
    ctx: &mut Machine,
    at: Value,
    offset: Value,
    n: Value,
    pointer: Value,
) -> Value {
    let who = "pointer->bytevector";
    let count = n.as_fixnum() as usize;
    if alloc::never_fits(ctx, Type::Bytevector, count as u64).is_some() {
        return crate::failure::out_of_range(ctx, who, 2, n);
    }
    let Ok(address) = place(at, offset, count, pointer, false) else { return Value::NIL };
    let v = alloc::alloc_object(ctx, Type::Bytevector, 0, count as u64);
    // SAFETY: `place` has found `count` bytes in a bytevector, or the program says that they are there; `v` is fresh,
    // and has as many.
    unsafe { std::ptr::copy_nonoverlapping(address as *const u8, access::byte_slice_mut(v).as_mut_ptr(), count) };
    v
}

/// `(c-copy-in! at offset vector pointer-type)`: puts all elements of a homogeneous vector there; `()` if there is no
/// place for them ([`cairn_c_misplaced`]).
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_copy_in(ctx: &mut Machine, at: Value, offset: Value, v: Value, pointer: Value) -> Value {
    let who = "pointer-copy!";
    if numeric::kind_of(v).is_none() {
        return crate::failure::wrong_type(ctx, who, 0, "a bytevector or another homogeneous vector", v);
    }
    let bytes = numeric::bytes(v);
    let Ok(address) = place(at, offset, bytes.len(), pointer, true) else { return Value::NIL };
    // SAFETY: `place` has found room for `bytes` in a mutable bytevector, or the program says that it is there. Both
    // may be one object.
    unsafe { std::ptr::copy(bytes.as_ptr(), address as *mut u8, bytes.len()) };
    Value::UNSPECIFIED
}

/// `(c-address p pointer-type)`: a natural number; `#f` if it is no pointer.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_address(ctx: &mut Machine, p: Value, pointer: Value) -> Value {
    match address_of(p, pointer) {
        Some(address) => make_wide_integer(ctx, address as i128),
        None => Value::FALSE,
    }
}

/// `(c-pointer address pointer-type)`: an address, a natural number of 64 bits, as a pointer; `()` if it is none.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_c_pointer(ctx: &mut Machine, address: Value, pointer: Value) -> Value {
    match scalar(CType::U64, address, pointer) {
        Some(address) => make_pointer(ctx, address, pointer),
        None => Value::NIL,
    }
}
