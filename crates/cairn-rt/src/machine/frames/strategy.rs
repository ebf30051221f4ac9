//! What a strategy must do at run time, and what all of them need for it: continuation objects, and descriptors behind
//! return addresses.

use crate::alloc;
use crate::fatal;
use crate::machine::audit::Segment;
use crate::machine::raise;
use crate::runtime::{Failure, rt};
use cairn_heap::address::Address;
use cairn_heap::{AmbiguousVisitor, RootVisitor};
use cairn_layout::Value;
use cairn_layout::code::{SHAPE, shape_words};
use cairn_layout::machine::{Machine, error};
use cairn_layout::object::continuation;
use cairn_layout::value::TAG_PROCEDURE;

/// What a way of keeping frames does at run time. `ThreadState` is its own; of the rest of the machine it uses the
/// heap.
///
/// Between two runtime calls, `Machine::thread` describes a stack of **whole frames**: each a return address, then the
/// words that its descriptor speaks of, the outermost one being the halt frame. The words that the descriptor's map
/// shows as live hold values. Compiled code leaves frames so at each safepoint; `machine/audit.rs` checks it under
/// zeal.
///
/// A **continuation object** is what `make_continuation` made: `continuation::LEN` words. `CHUNK` is 0, or a chunk that
/// the object keeps, in which `SP..BASE` are whole frames; of strategies with linked frames, `SP` is a frame or 0.
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
    /// At a safepoint: the machine is between two instructions of compiled code, its frames are whole, and nothing else
    /// uses it meanwhile.
    unsafe fn visit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V);

    /// Visits what the thread refers to besides its frames and slots, as far as `visit_thread` does.
    ///
    /// # Safety
    /// At a safepoint: the words of `Machine::thread` that hold values are up to date.
    unsafe fn visit_rest<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V);

    /// Where the words are of the thread's frames that are in no continuation object. `None`: frames are objects.
    fn segment(ctx: &Machine) -> Option<Segment>;

    /// Where the words are of the frames that a continuation object covers. `None`: frames are objects.
    ///
    /// # Safety
    /// `k` is the address of a continuation object, so its `continuation::LEN` words can be read.
    unsafe fn covered(k: Address) -> Option<Segment>;

    /// Visits the frames that a continuation object covers and that are not objects themselves.
    ///
    /// # Safety
    /// `k` is the address of a continuation object, where it will stay through the collection; nothing runs its frames.
    unsafe fn visit_continuation<V: RootVisitor>(ctx: &Machine, k: Address, visitor: &mut V);

    /// Shows the words of the thread's frames, as far as they are in no continuation object, where nothing is known of
    /// words. Comes before `visit_rest`.
    ///
    /// # Safety
    /// At a safepoint: the machine is between two instructions of compiled code, and its frames are whole.
    unsafe fn visit_ambiguous<V: AmbiguousVisitor>(ctx: &mut Machine, visitor: &mut V) {
        if let Some(s) = Self::segment(ctx) {
            // SAFETY: `sp..base` are the words of whole frames (`# Safety`), all of one chunk or region, so they can be
            // read.
            unsafe { visitor.ambiguous_words(s.sp as *const u64, ((s.base - s.sp) / 8) as usize) };
        }
    }

    /// Shows the words of the frames that a continuation object covers, where nothing is known of words.
    ///
    /// # Safety
    /// `k` is the address of a continuation object.
    unsafe fn visit_ambiguous_continuation<V: RootVisitor + AmbiguousVisitor>(
        _: &Machine,
        k: Address,
        visitor: &mut V,
    ) {
        // SAFETY: `k` is a continuation object (`# Safety`), so `sp..base` are words of its chunk, which it keeps.
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
    /// At a safepoint: the machine is between two instructions of compiled code, and its frames are whole.
    unsafe fn audit_ambiguous<V: AmbiguousVisitor>(ctx: &mut Machine, visitor: &mut V) {
        // SAFETY: the same state of the machine is asked for (`# Safety` of both).
        unsafe { Self::visit_ambiguous(ctx, visitor) }
    }

    /// What [`FrameStrategy::visit_ambiguous_continuation`] shows, for a check.
    ///
    /// # Safety
    /// `k` is the address of a continuation object.
    unsafe fn audit_ambiguous_continuation<V: RootVisitor + AmbiguousVisitor>(
        ctx: &Machine,
        k: Address,
        visitor: &mut V,
    ) {
        // SAFETY: `k` is a continuation object (`# Safety` of both).
        unsafe { Self::visit_ambiguous_continuation(ctx, k, visitor) }
    }

    /// Shows the thread's roots as `visit_thread` does, but by the distrustful reading of `machine/audit.rs`.
    ///
    /// # Safety
    /// At a safepoint; the words from `sp` to the end of the oldest frame can be read and written. That the frames are
    /// whole is what the audit finds out.
    unsafe fn audit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) -> Result<(), String>;

    /// Shows a continuation's roots as `visit_continuation` does, but by the distrustful reading of `machine/audit.rs`.
    ///
    /// # Safety
    /// `k` is the address of a continuation object, but for its frames: that these are whole is what the audit finds
    /// out.
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
            // SAFETY: `walk` shows return addresses of frames, and `SHAPE` is a word of the descriptor before each.
            bytes += 8 * shape_words(unsafe { *(shape as *const u64) });
            bytes <= most
        });
        bytes
    }

    /// The values in a frame that [`FrameStrategy::walk`] came to. Where frames cannot be read precisely: the words
    /// that may be references, to objects that can be read.
    fn live_values(ctx: &Machine, frame: u64) -> Vec<Value>;
}

const DESCRIPTOR: u64 = 11;
const END: u64 = 15;

/// The operand at `at`, which is `DESCRIPTOR` or 4, of the two instructions behind a return address.
///
/// # Safety
/// `code` is a return address of native frames: two instructions of `END` bytes stand there.
pub(super) unsafe fn operand(code: u64, at: u64) -> u64 {
    // SAFETY: behind `code` are the two instructions of a native return address (`# Safety`), and `at` is 4 or 11,
    // within them.
    unsafe { ((code + at) as *const i32).read_unaligned() as i64 as u64 }
}

/// The address behind the descriptor of a return address of native frames.
///
/// # Safety
/// `code` is a return address of native frames: two instructions of `END` bytes stand there.
pub(super) unsafe fn behind_native_descriptor(code: u64) -> u64 {
    // SAFETY: `code` is a return address of native frames (`# Safety`), which is what `operand` asks for.
    unsafe { (code + END).wrapping_add(operand(code, DESCRIPTOR)) }
}

/// The address behind the descriptor of a return address that [`super::walk`] came to: itself, where descriptors are
/// prefix data.
pub fn behind_descriptor(ctx: &Machine, code: u64) -> u64 {
    if rt(ctx).strategy.kind.facts().is_joined() {
        // SAFETY: frames are native here, and `walk` came to `code` as to the return address of one.
        unsafe { behind_native_descriptor(code) }
    } else {
        code
    }
}

/// A fresh continuation object: words 1 to 6.
pub(super) fn make_continuation(ctx: &mut Machine, words: [u64; continuation::LEN as usize - 1]) -> Value {
    let code = rt(ctx).strategy.continuation;
    let address = alloc::alloc_procedure(ctx, continuation::LEN);
    // SAFETY: `alloc_procedure` has just given out `continuation::LEN` words, and `words` are one fewer.
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
pub(super) fn raise_used(ctx: &mut Machine) -> ! {
    let message = "a one-shot continuation was used a second time".to_string();
    let failure = Failure { kind: error::OTHER, who: None, message, argument: 0, irritants: Vec::new() };
    raise::raise(ctx, &failure);
    fatal::say(ctx, "cairn: a one-shot continuation was used a second time");
    fatal::end(ctx, 1)
}

/// Sets word `i` of a continuation object to something that is not in the heap.
pub(super) fn set_word(k: Value, i: u64, word: u64) {
    debug_assert!(k.is_procedure());
    // SAFETY: `k` is a continuation object: `make_continuation` gave it `continuation::LEN` words, of which `i` is one.
    unsafe { *((k.address() + 8 * i) as *mut u64) = word }
}

/// Word `i` of a continuation object.
pub(in crate::machine) fn continuation_word(k: Value, i: u64) -> u64 {
    debug_assert!(k.is_procedure());
    // SAFETY: `k` is a continuation object: `make_continuation` gave it `continuation::LEN` words, of which `i` is one.
    unsafe { *((k.address() + 8 * i) as *const u64) }
}
