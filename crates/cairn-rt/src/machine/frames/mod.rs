//! How frames are kept: one implementation for each way, behind one trait.
//!
//! The problem: frames may lie in stack chunks, in the heap, on one large stack, …; the rest of the runtime should not
//! care. The idea: what a strategy must do at run time is [`FrameStrategy`]; the functions here call the one of the
//! loaded program. The common cases of overflow, capture and return are compiled code (`cairn-llvm/src/strategy`),
//! which comes here for the others, so a `match` on the way costs nothing that shows.
//!
//! Nothing outside of this folder knows which strategies there are. A new one is a row of
//! `cairn_layout::facts::STRATEGIES`, a file here and one there; the compiler complains of everything that is missing.

mod chunks;
mod compaction;
mod heap;
pub(super) mod native;
pub(super) mod quasi;
pub(in crate::machine) mod quasi_blocks;
mod resize;
pub mod sealed_frames;
mod stack;
pub(super) mod stack_region;
#[cfg(test)]
mod tests;
mod whole;

use super::audit::Segment;
use crate::access::{is, words};
use crate::alloc;
use crate::fatal;
use crate::machine::raise;
use crate::runtime::Failure;
use crate::runtime::rt;
use cairn_heap::address::Address;
use cairn_heap::{AmbiguousVisitor, RootVisitor};
use cairn_layout::Value;
use cairn_layout::code::{SHAPE, shape_words};
use cairn_layout::facts::FrameKind;
use cairn_layout::machine::{Machine, error, slot};
use cairn_layout::object::{Type, continuation};
use cairn_layout::value::TAG_PROCEDURE;

/// What a way of keeping frames does at run time. `ThreadState` is its own; of the rest of the machine it uses the
/// heap.
///
/// Between two runtime calls, `Machine::thread` describes a stack of whole frames: each a return address, then the
/// words that its descriptor speaks of, the outermost one being the halt frame.
pub trait FrameStrategy {
    /// Gives the thread its outermost frame. What it had before is dropped.
    fn start(ctx: &mut Machine);

    /// Is there too little room for a frame of `bytes` bytes more?
    fn lacks_room(ctx: &Machine, bytes: u64) -> bool {
        ctx.thread.sp - bytes < ctx.thread.stack_limit
    }

    /// Makes room for `bytes` bytes below the youngest frame. If that has `kept` bytes it may move, because it is about
    /// to be replaced by a larger one; with 0, all frames stay.
    fn overflow(ctx: &mut Machine, bytes: u64, kept: u64);

    /// Makes a frame that returns to `code`, with `value` in its one slot.
    fn push(ctx: &mut Machine, code: u64, value: Value);

    /// Is there certainly no frame where compiled code expects its own?
    fn is_empty(_: &Machine) -> bool {
        false
    }

    /// Brings the youngest frame to where compiled code expects its own, if it is not there.
    fn settle(ctx: &mut Machine);

    /// The operating system has given the stack more memory, as [`stop`](cairn_layout::machine::stop) tells: counts it.
    fn grown(_: &mut Machine) {
        unreachable!("nobody tells of memory for frames")
    }

    /// Bytes that the continuations which a handler makes may take besides their objects.
    fn copy_bytes(_: &Machine) -> u64 {
        0
    }

    /// A return left the current segment, so `sp` is its base: brings back the frame below.
    fn underflow(ctx: &mut Machine);

    /// The continuation of the frames at `sp`, as an object that can be reinstated any number of times.
    fn capture(ctx: &mut Machine) -> Value;

    /// The continuation of the frames at `sp`, as an object that need be reinstated only once.
    fn capture_once(ctx: &mut Machine) -> Value {
        Self::capture(ctx)
    }

    /// Do these continuations, one of which may be the other's tail, have the same frames?
    fn same(j: Value, k: Value) -> bool {
        continuation_word(j, continuation::SP) == continuation_word(k, continuation::SP)
    }

    /// Makes the frames of `k` the thread's, instead of those it has; `sp` is then the youngest of them.
    fn reinstate(ctx: &mut Machine, k: Value);

    /// A collection comes next. May allocate.
    fn before_collection(ctx: &mut Machine);

    /// One is over, and compiled code has not gone on. May allocate chunks.
    fn after_collection(_: &mut Machine) {}

    /// Visits the live words of the thread's frames, as far as they are in no continuation object, and what else it
    /// refers to but its slots.
    ///
    /// # Safety
    /// At a safepoint: the machine is between two instructions of compiled code.
    unsafe fn visit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V);

    /// Visits what the thread refers to besides its frames and slots, as far as `visit_thread` does.
    ///
    /// # Safety
    /// As for `visit_thread`.
    unsafe fn visit_rest<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V);

    /// Where the words are of the thread's frames that are in no continuation object. `None`: frames are objects.
    fn segment(ctx: &Machine) -> Option<Segment>;

    /// Where the words are of the frames that a continuation object covers. `None`: frames are objects.
    ///
    /// # Safety
    /// `k` is a continuation object.
    unsafe fn covered(k: Address) -> Option<Segment>;

    /// Visits the frames that a continuation object covers and that are not objects themselves.
    ///
    /// # Safety
    /// `k` is a continuation object.
    unsafe fn visit_continuation<V: RootVisitor>(ctx: &Machine, k: Address, visitor: &mut V);

    /// Shows the words of the thread's frames, as far as they are in no continuation object, where nothing is known of
    /// words. Comes before `visit_rest`.
    ///
    /// # Safety
    /// As for `visit_thread`.
    unsafe fn visit_ambiguous<V: AmbiguousVisitor>(ctx: &mut Machine, visitor: &mut V) {
        if let Some(s) = Self::segment(ctx) {
            // SAFETY: words between the youngest frame and the oldest.
            unsafe { visitor.ambiguous_words(s.sp as *const u64, ((s.base - s.sp) / 8) as usize) };
        }
    }

    /// Shows the words of the frames that a continuation object covers, where nothing is known of words.
    ///
    /// # Safety
    /// As for `visit_continuation`.
    unsafe fn visit_ambiguous_continuation<V: RootVisitor + AmbiguousVisitor>(
        _: &Machine,
        k: Address,
        visitor: &mut V,
    ) {
        // SAFETY: by the contract; the segment's words are in its chunk.
        unsafe {
            if let Some(s) = Self::covered(k) {
                visitor.mark_chunk(Address(s.chunk));
                visitor.ambiguous_words(s.sp as *const u64, ((s.base - s.sp) / 8) as usize);
            }
        }
    }

    /// What [`FrameStrategy::visit_ambiguous`] shows, for a check: nothing is noted.
    ///
    /// # Safety
    /// As there.
    unsafe fn audit_ambiguous<V: AmbiguousVisitor>(ctx: &mut Machine, visitor: &mut V) {
        // SAFETY: by the contract.
        unsafe { Self::visit_ambiguous(ctx, visitor) }
    }

    /// What [`FrameStrategy::visit_ambiguous_continuation`] shows, for a check.
    ///
    /// # Safety
    /// As there.
    unsafe fn audit_ambiguous_continuation<V: RootVisitor + AmbiguousVisitor>(
        ctx: &Machine,
        k: Address,
        visitor: &mut V,
    ) {
        // SAFETY: by the contract.
        unsafe { Self::visit_ambiguous_continuation(ctx, k, visitor) }
    }

    /// Shows the thread's roots as `visit_thread` does, but by the distrustful reading of [`super::audit`].
    ///
    /// # Safety
    /// As for `visit_thread`.
    unsafe fn audit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) -> Result<(), String>;

    /// Shows a continuation's roots as `visit_continuation` does, but by the distrustful reading of [`super::audit`].
    ///
    /// # Safety
    /// As for `visit_continuation`.
    unsafe fn audit_continuation<V: RootVisitor>(
        ctx: &mut Machine,
        k: Address,
        visitor: &mut V,
    ) -> Result<(), String>;

    /// Calls `f` with the return address and the address of each frame, youngest first, until it returns false or the
    /// halt frame is reached.
    fn walk(ctx: &Machine, f: &mut dyn FnMut(u64, u64) -> bool);

    /// Calls `f` with the return address and the address of each frame of a continuation, youngest first, until it
    /// returns false.
    fn walk_continuation(k: Value, f: &mut dyn FnMut(u64, u64) -> bool);

    /// Bytes that the frames take. When they are more than `most`, it may be any number above that.
    fn depth(ctx: &Machine, most: u64) -> u64 {
        let mut bytes = 0;
        Self::walk(ctx, &mut |code, _| {
            let shape = behind_descriptor(ctx, code) as i64 + SHAPE;
            // SAFETY: return addresses of frames have a descriptor.
            bytes += 8 * shape_words(unsafe { *(shape as *const u64) });
            bytes <= most
        });
        bytes
    }

    /// The values in a frame that [`FrameStrategy::walk`] came to. Where frames cannot be read precisely: the words
    /// that may be references, to objects that can be read.
    fn live_values(ctx: &Machine, frame: u64) -> Vec<Value>;
}

/// Calls a function of the strategy in use.
macro_rules! chosen {
    ($ctx:expr, $f:ident($($argument:expr),*)) => {
        match rt($ctx).strategy.kind {
            FrameKind::Chunks => chunks::ChunksRuntime::$f($($argument),*),
            FrameKind::Heap => heap::HeapRuntime::$f($($argument),*),
            FrameKind::Stack => stack::StackRuntime::$f($($argument),*),
            FrameKind::Quasi => quasi::QuasiRuntime::$f($($argument),*),
            FrameKind::Native => native::NativeRuntime::$f($($argument),*),
            FrameKind::Resize => resize::ResizeRuntime::$f($($argument),*),
        }
    };
}

/// See [`FrameStrategy::start`].
pub fn start(ctx: &mut Machine) {
    chosen!(ctx, start(ctx))
}

/// See [`FrameStrategy::overflow`].
pub fn overflow(ctx: &mut Machine, bytes: u64, kept: u64) {
    chosen!(ctx, overflow(ctx, bytes, kept))
}

/// See [`FrameStrategy::lacks_room`].
pub fn lacks_room(ctx: &Machine, bytes: u64) -> bool {
    chosen!(ctx, lacks_room(ctx, bytes))
}

/// See [`FrameStrategy::push`].
pub fn push(ctx: &mut Machine, code: u64, value: Value) {
    chosen!(ctx, push(ctx, code, value))
}

/// See [`FrameStrategy::is_empty`].
pub fn is_empty(ctx: &Machine) -> bool {
    chosen!(ctx, is_empty(ctx))
}

/// See [`FrameStrategy::settle`].
pub fn settle(ctx: &mut Machine) {
    chosen!(ctx, settle(ctx))
}

/// See [`FrameStrategy::grown`].
pub fn grown(ctx: &mut Machine) {
    chosen!(ctx, grown(ctx))
}

/// See [`FrameStrategy::copy_bytes`].
pub fn copy_bytes(ctx: &Machine) -> u64 {
    chosen!(ctx, copy_bytes(ctx))
}

/// See [`FrameStrategy::underflow`].
pub fn underflow(ctx: &mut Machine) {
    chosen!(ctx, underflow(ctx))
}

/// See [`FrameStrategy::capture`].
pub fn capture(ctx: &mut Machine) -> Value {
    chosen!(ctx, capture(ctx))
}

/// See [`FrameStrategy::capture_once`].
pub fn capture_once(ctx: &mut Machine) -> Value {
    chosen!(ctx, capture_once(ctx))
}

/// See [`FrameStrategy::same`].
pub fn same(ctx: &mut Machine, j: Value, k: Value) -> bool {
    chosen!(ctx, same(j, k))
}

/// See [`FrameStrategy::reinstate`].
pub fn reinstate(ctx: &mut Machine, k: Value) {
    chosen!(ctx, reinstate(ctx, k))
}

/// See [`FrameStrategy::before_collection`].
pub fn before_collection(ctx: &mut Machine) {
    chosen!(ctx, before_collection(ctx))
}

/// See [`FrameStrategy::after_collection`].
pub fn after_collection(ctx: &mut Machine) {
    chosen!(ctx, after_collection(ctx))
}

/// See [`FrameStrategy::visit_thread`].
///
/// # Safety
/// As there.
pub unsafe fn visit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) {
    // SAFETY: by the contract.
    unsafe { chosen!(ctx, visit_thread(ctx, visitor)) }
}

/// See [`FrameStrategy::visit_rest`].
///
/// # Safety
/// As there.
pub unsafe fn visit_rest<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) {
    // SAFETY: by the contract.
    unsafe { chosen!(ctx, visit_rest(ctx, visitor)) }
}

/// See [`FrameStrategy::visit_ambiguous`].
///
/// # Safety
/// As there.
pub unsafe fn visit_ambiguous<V: AmbiguousVisitor>(ctx: &mut Machine, visitor: &mut V) {
    // SAFETY: by the contract.
    unsafe { chosen!(ctx, visit_ambiguous(ctx, visitor)) }
}

/// See [`FrameStrategy::visit_ambiguous_continuation`].
///
/// # Safety
/// As there.
pub unsafe fn visit_ambiguous_continuation<V: RootVisitor + AmbiguousVisitor>(
    ctx: &Machine,
    k: Address,
    visitor: &mut V,
) {
    // SAFETY: by the contract.
    unsafe { chosen!(ctx, visit_ambiguous_continuation(ctx, k, visitor)) }
}

/// See [`FrameStrategy::audit_ambiguous`].
///
/// # Safety
/// As there.
pub unsafe fn audit_ambiguous<V: AmbiguousVisitor>(ctx: &mut Machine, visitor: &mut V) {
    // SAFETY: by the contract.
    unsafe { chosen!(ctx, audit_ambiguous(ctx, visitor)) }
}

/// See [`FrameStrategy::audit_ambiguous_continuation`].
///
/// # Safety
/// As there.
pub unsafe fn audit_ambiguous_continuation<V: RootVisitor + AmbiguousVisitor>(
    ctx: &Machine,
    k: Address,
    visitor: &mut V,
) {
    // SAFETY: by the contract.
    unsafe { chosen!(ctx, audit_ambiguous_continuation(ctx, k, visitor)) }
}

/// See [`FrameStrategy::visit_continuation`].
///
/// # Safety
/// As there.
pub unsafe fn visit_continuation<V: RootVisitor>(ctx: &Machine, k: Address, visitor: &mut V) {
    // SAFETY: by the contract.
    unsafe {
        if let Some(s) = chosen!(ctx, covered(k)) {
            rt(ctx).strategy.looks_at_continuation::<V>((s.base - s.sp) / 8);
        }
        chosen!(ctx, visit_continuation(ctx, k, visitor))
    }
}

/// See [`FrameStrategy::audit_thread`].
///
/// # Safety
/// As there.
pub unsafe fn audit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) -> Result<(), String> {
    // SAFETY: by the contract.
    unsafe { chosen!(ctx, audit_thread(ctx, visitor)) }
}

/// See [`FrameStrategy::audit_continuation`].
///
/// # Safety
/// As there.
pub unsafe fn audit_continuation<V: RootVisitor>(
    ctx: &mut Machine,
    k: Address,
    visitor: &mut V,
) -> Result<(), String> {
    // SAFETY: by the contract.
    unsafe { chosen!(ctx, audit_continuation(ctx, k, visitor)) }
}

/// The address behind the descriptor of a return address that [`walk`] came to: itself, where descriptors are prefix
/// data.
pub fn behind_descriptor(ctx: &Machine, code: u64) -> u64 {
    if rt(ctx).strategy.kind.facts().native {
        // SAFETY: a return address.
        unsafe { native::behind_descriptor(code) }
    } else {
        code
    }
}

/// See [`FrameStrategy::walk`]. Where the frames of a prompt end, those below it follow.
pub fn walk(ctx: &Machine, f: &mut dyn FnMut(u64, u64) -> bool) {
    let base = rt(ctx).strategy.prompt_base;
    let mut winders = ctx.slot(slot::WINDERS);
    let mut at_base = false;
    let mut until_base = |code: u64, frame: u64| {
        at_base = code == base;
        !at_base && f(code, frame)
    };
    chosen!(ctx, walk(ctx, &mut until_base));
    while at_base && let Some(k) = leave_prompt(&mut winders) {
        at_base = false;
        let mut until_base = |code: u64, frame: u64| {
            at_base = code == base;
            !at_base && f(code, frame)
        };
        chosen!(ctx, walk_continuation(k, &mut until_base));
    }
}

/// Fields of a winder. See `make-winder` in `lib/cairn/control.sld`.
pub mod winder {
    /// The winder around it.
    pub const PARENT: usize = 0;
    /// How many winders it is inside of.
    pub const DEPTH: usize = 1;
    /// What is called on entry; a prompt has its own mark there.
    pub const MARK: usize = 2;
}

/// The continuation of the innermost prompt; `winders` are then those outside of it. See `lib/cairn/prompts.scm`.
fn leave_prompt(winders: &mut Value) -> Option<Value> {
    const CONTINUATION: usize = 1;
    while is(*winders, Type::Opaque) {
        let fields = words(*winders);
        *winders = fields[winder::PARENT];
        if is(fields[winder::MARK], Type::Opaque) {
            return Some(words(fields[winder::MARK])[CONTINUATION]);
        }
    }
    None
}

/// Notes the return address of the frame that all prompts have in common.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_note_base(ctx: &mut Machine, k: Value) -> Value {
    let mut code = 0;
    let mut first = |c: u64, _: u64| {
        code = c;
        false
    };
    chosen!(ctx, walk_continuation(k, &mut first));
    rt(ctx).strategy.prompt_base = code;
    k
}

/// See [`FrameStrategy::depth`].
pub fn depth(ctx: &Machine, most: u64) -> u64 {
    chosen!(ctx, depth(ctx, most))
}

/// See [`FrameStrategy::live_values`].
pub fn live_values(ctx: &Machine, frame: u64) -> Vec<Value> {
    chosen!(ctx, live_values(ctx, frame))
}

/// A fresh continuation object: words 1 to 6.
fn make_continuation(ctx: &mut Machine, words: [u64; continuation::LEN as usize - 1]) -> Value {
    let code = rt(ctx).strategy.continuation;
    let address = alloc::alloc_procedure(ctx, continuation::LEN);
    // SAFETY: `address` is `continuation::LEN` fresh words.
    unsafe {
        let p = address as *mut u64;
        *p.add(continuation::CODE as usize) = code;
        for (i, w) in words.into_iter().enumerate() {
            *p.add(1 + i) = w;
        }
    }
    Value(address | TAG_PROCEDURE)
}

/// Somebody returned to a one-shot continuation that has been used. Does not come back; the machine's state is that
/// after the return.
fn raise_used(ctx: &mut Machine) -> ! {
    let message = "a one-shot continuation was used a second time".to_string();
    let failure = Failure { kind: error::OTHER, who: None, message, argument: 0, irritants: Vec::new() };
    raise::raise(ctx, &failure);
    fatal::say(ctx, "cairn: a one-shot continuation was used a second time");
    fatal::end(ctx, 1)
}

/// A continuation was to be called that has been used.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_used(ctx: &mut Machine) -> Value {
    raise_used(ctx)
}

/// Sets word `i` of a continuation object to something that is not in the heap.
fn set_word(k: Value, i: u64, word: u64) {
    debug_assert!(k.is_procedure());
    // SAFETY: callers pass continuation objects only.
    unsafe { *((k.address() + 8 * i) as *mut u64) = word }
}

/// Word `i` of a continuation object.
pub(super) fn continuation_word(k: Value, i: u64) -> u64 {
    debug_assert!(k.is_procedure());
    // SAFETY: callers pass continuation objects only.
    unsafe { *((k.address() + 8 * i) as *const u64) }
}
