//! Weak objects and guardians, as `lib/cairn/weak.sld` uses them. What they mean is the heap's business
//! (`cairn_heap::WeakKind`); here they are made, read and written.
//!
//! A guardian is a record whose first field is a list. What it gets back, `(object . companion)`, is put there when the
//! collection is over. Then a stop is requested, and the program's finalizers run at the next safepoint
//! ([`crate::machine::stop`]).

use crate::access::{self, length, word};
use crate::alloc::{alloc_object, alloc_pair, store_word};
use crate::fatal;
use crate::machine::stop_word;
use crate::runtime::rt;
use cairn_heap::WeakKind;
use cairn_layout::Value;
use cairn_layout::machine::{Machine, slot, stop as reason};
use cairn_layout::object::{self, Type};

/// The kind of a weak object.
pub fn kind_of(v: Value) -> Option<WeakKind> {
    access::is(v, Type::Weak).then(|| kind_of_header(access::header(v)))
}

/// The kind that the header of a weak object says.
pub fn kind_of_header(header: u64) -> WeakKind {
    WeakKind::ALL[object::header_flags(header) as usize & 3]
}

/// A weak object of so many words, all broken.
pub fn make(ctx: &mut Machine, kind: WeakKind, words: u64) -> Value {
    let v = alloc_object(ctx, Type::Weak, kind as u8, words);
    for i in 0..words as usize {
        // SAFETY: `v` has just been made with a payload of `words` words, and `i` is below that.
        unsafe { *access::word_address(v, i) = Value::BROKEN };
    }
    rt(ctx).heap.made_weak(v.0, words as u32, kind);
    v
}

/// Stores into a weak object.
pub fn store(ctx: &mut Machine, weak: Value, i: u64, x: Value) {
    match kind_of(weak) {
        Some(kind) => store_as(ctx, weak, i, x, (kind, length(weak) as u32)),
        None => store_word(ctx, weak, i, x),
    }
}

/// Stores into a weak object of this kind and so many words.
#[inline]
pub fn store_as(ctx: &mut Machine, weak: Value, i: u64, x: Value, (kind, words): (WeakKind, u32)) {
    store_word(ctx, weak, i, x);
    if x.is_pointer() {
        rt(ctx).heap.stored_weak(weak.0, words, kind);
    }
}

/// Gives guardians what the collection has found for them.
pub fn give_back(ctx: &mut Machine) {
    let back = rt(ctx).heap.take_given_back();
    if back.is_empty() {
        return;
    }
    // From the last to the first, so that the first stands in front.
    for b in back.into_iter().rev() {
        let (guardian, pair) = (Value(b.guardian), alloc_pair(ctx, Value(b.object), Value(b.companion)));
        let list = alloc_pair(ctx, pair, word(guardian, 0));
        store_word(ctx, guardian, 0, list);
    }
    if ctx.slot(slot::FINALIZER_HOOK).is_procedure() {
        // SAFETY: `ctx` is a reference, so the machine is alive.
        unsafe { stop_word::request(ctx, reason::FINALIZERS) };
    }
}

/// `(weak-make kind length)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_weak_make(ctx: &mut Machine, kind: Value, words: Value) -> Value {
    make(ctx, WeakKind::ALL[kind.as_fixnum() as usize], words.as_fixnum() as u64)
}

/// `(weak-kind x)`: a fixnum or `#f`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_weak_kind(_ctx: &mut Machine, x: Value) -> Value {
    kind_of(x).map_or(Value::FALSE, |k| Value::fixnum(k as i64))
}

/// `(weak-length weak)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_weak_length(_ctx: &mut Machine, weak: Value) -> Value {
    Value::fixnum(length(weak) as i64)
}

/// `(weak-ref weak i)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_weak_ref(_ctx: &mut Machine, weak: Value, i: Value) -> Value {
    word(weak, i.as_fixnum() as u64)
}

/// `(weak-set! weak i x)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_weak_set(ctx: &mut Machine, weak: Value, i: Value, x: Value) -> Value {
    store(ctx, weak, i.as_fixnum() as u64, x);
    Value::UNSPECIFIED
}

/// `(weak-guard! object companion guardian)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_weak_guard(ctx: &mut Machine, object: Value, companion: Value, guardian: Value) -> Value {
    rt(ctx).heap.guard(object.0, companion.0, guardian.0);
    Value::UNSPECIFIED
}

/// `(weak-touch x)`: to keep `x` alive so far.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_weak_touch(_ctx: &mut Machine, _x: Value) -> Value {
    Value::UNSPECIFIED
}

/// `(weak-report text)`: says on standard error what a finalizer has raised, and where.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_weak_report(ctx: &mut Machine, message: Value) -> Value {
    // The frames below are those of whatever ran when the object was found dead: they explain nothing.
    let text = access::string_text(message);
    fatal::say(ctx, text.split("\nbacktrace:\n").next().unwrap_or_default().trim_end());
    Value::UNSPECIFIED
}

/// `(weak-collect everything?)`: asks for a collection at the next heap check that fails, which is soon.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_weak_collect(ctx: &mut Machine, everything: Value) -> Value {
    // Should there be no memory for it, the collection comes when the nursery is full.
    let asked = rt(ctx).heap.request_collection(&mut ctx.cursors, everything.is_true());
    Value::bool(asked.is_ok())
}

/// `(weak-collections)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_weak_collections(ctx: &mut Machine) -> Value {
    Value::fixnum(rt(ctx).heap.moves().collections as i64)
}
