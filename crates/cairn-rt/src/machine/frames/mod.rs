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
mod strategy;
#[cfg(test)]
mod tests;
mod whole;

use crate::access::{is, words};
use crate::runtime::rt;
use cairn_heap::address::Address;
use cairn_heap::{AmbiguousVisitor, RootVisitor};
use cairn_layout::Value;
use cairn_layout::facts::FrameKind;
use cairn_layout::machine::{Machine, slot};
use cairn_layout::object::Type;
pub(super) use strategy::continuation_word;
use strategy::raise_used;
pub use strategy::{FrameStrategy, behind_descriptor};

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
/// The machine is at a safepoint with whole frames, as [`FrameStrategy`] says; nothing else uses it meanwhile.
pub unsafe fn visit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) {
    // SAFETY: at a safepoint with whole frames (`# Safety`), which is all that each strategy's `visit_thread` asks for.
    unsafe { chosen!(ctx, visit_thread(ctx, visitor)) }
}

/// See [`FrameStrategy::visit_rest`].
///
/// # Safety
/// The machine is at a safepoint; nothing else uses it meanwhile.
pub unsafe fn visit_rest<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) {
    // SAFETY: at a safepoint (`# Safety`), so the words of `thread` that the strategy visits hold values.
    unsafe { chosen!(ctx, visit_rest(ctx, visitor)) }
}

/// See [`FrameStrategy::visit_ambiguous`].
///
/// # Safety
/// The machine is at a safepoint with whole frames, as [`FrameStrategy`] says; nothing else uses it meanwhile.
pub unsafe fn visit_ambiguous<V: AmbiguousVisitor>(ctx: &mut Machine, visitor: &mut V) {
    // SAFETY: at a safepoint (`# Safety`), so the words between `sp` and the oldest frame can be read.
    unsafe { chosen!(ctx, visit_ambiguous(ctx, visitor)) }
}

/// See [`FrameStrategy::visit_ambiguous_continuation`].
///
/// # Safety
/// `k` is a continuation object of this machine's strategy, as [`FrameStrategy`] says.
pub unsafe fn visit_ambiguous_continuation<V: RootVisitor + AmbiguousVisitor>(
    ctx: &Machine,
    k: Address,
    visitor: &mut V,
) {
    // SAFETY: `k` is a continuation object (`# Safety`), so its words delimit frames that can be read.
    unsafe { chosen!(ctx, visit_ambiguous_continuation(ctx, k, visitor)) }
}

/// See [`FrameStrategy::audit_ambiguous`].
///
/// # Safety
/// The machine is at a safepoint with whole frames, as [`FrameStrategy`] says; nothing else uses it meanwhile.
pub unsafe fn audit_ambiguous<V: AmbiguousVisitor>(ctx: &mut Machine, visitor: &mut V) {
    // SAFETY: at a safepoint (`# Safety`), so the words between `sp` and the oldest frame can be read.
    unsafe { chosen!(ctx, audit_ambiguous(ctx, visitor)) }
}

/// See [`FrameStrategy::audit_ambiguous_continuation`].
///
/// # Safety
/// `k` is a continuation object of this machine's strategy, as [`FrameStrategy`] says.
pub unsafe fn audit_ambiguous_continuation<V: RootVisitor + AmbiguousVisitor>(
    ctx: &Machine,
    k: Address,
    visitor: &mut V,
) {
    // SAFETY: `k` is a continuation object (`# Safety`), so its words delimit frames that can be read.
    unsafe { chosen!(ctx, audit_ambiguous_continuation(ctx, k, visitor)) }
}

/// See [`FrameStrategy::visit_continuation`].
///
/// # Safety
/// `k` is a continuation object of this machine's strategy, as [`FrameStrategy`] says.
pub unsafe fn visit_continuation<V: RootVisitor>(ctx: &Machine, k: Address, visitor: &mut V) {
    // SAFETY: `k` is a continuation object (`# Safety`); both functions read its words, and the second the frames it
    // covers.
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
/// The machine is at a safepoint, and the words between `sp` and the oldest frame can be read and written.
pub unsafe fn audit_thread<V: RootVisitor>(ctx: &mut Machine, visitor: &mut V) -> Result<(), String> {
    // SAFETY: at a safepoint (`# Safety`), so the words from `sp` on can be read; the audit believes no more of them.
    unsafe { chosen!(ctx, audit_thread(ctx, visitor)) }
}

/// See [`FrameStrategy::audit_continuation`].
///
/// # Safety
/// `k` is a continuation object of this machine's strategy, as [`FrameStrategy`] says, but for what its frames hold.
pub unsafe fn audit_continuation<V: RootVisitor>(
    ctx: &mut Machine,
    k: Address,
    visitor: &mut V,
) -> Result<(), String> {
    // SAFETY: `k` is a continuation object (`# Safety`), so its words can be read; the audit believes no more of them.
    unsafe { chosen!(ctx, audit_continuation(ctx, k, visitor)) }
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

/// A continuation was to be called that has been used.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_used(ctx: &mut Machine) -> Value {
    raise_used(ctx)
}
