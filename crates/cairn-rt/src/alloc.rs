//! Making heap objects from Rust.
//!
//! How memory is handed out is the heap's business ([`cairn_heap::Heap::alloc`], inlined here); this file knows what
//! the objects look like. Nothing here collects, so values in Rust locals stay valid; when a collection is due, the
//! heap goes on beyond the nursery's budget, the next heap check of compiled code fails, and a stop is requested for
//! code that has none. A heap check
//! made by compiled code before the runtime call still holds after it.
//!
//! Payloads of fresh objects are uninitialised: the caller fills them before it returns to compiled code.

use crate::access;
use crate::exhaustion;
use crate::machine::stop_word;
use crate::runtime::rt;
use cairn_heap::AllocKind;
use cairn_layout::Value;
use cairn_layout::machine::{Machine, stop};
use cairn_layout::object::{self, LARGE_BYTES, Type};
use cairn_layout::value::{TAG_OBJECT, TAG_PAIR};

/// Longest object: keeps sizes far from overflow. A request above it is out of memory whatever the limit.
pub(crate) const LENGTH_MAX: u64 = 1 << 40;

/// Bytes of an object that the heap could not hold even if it were empty.
pub fn never_fits(ctx: &Machine, ty: Type, length: u64) -> Option<u64> {
    if length > LENGTH_MAX {
        return Some(length.saturating_mul(8));
    }
    let bytes = object::object_bytes(object::header(ty, 0, length));
    (bytes > rt(ctx).heap.heap_max()).then_some(bytes)
}

/// A fresh object with its header; the payload is uninitialised.
#[inline(always)]
pub fn alloc_object(ctx: &mut Machine, ty: Type, flags: u8, length: u64) -> Value {
    if length > LENGTH_MAX {
        exhaustion::refuse(ctx, length.saturating_mul(8));
    }
    alloc_object_of(ctx, object::header(ty, flags, length))
}

/// A fresh object with this header; the payload is uninitialised.
#[inline(always)]
pub fn alloc_object_of(ctx: &mut Machine, header: u64) -> Value {
    let bytes = object::object_bytes(header);
    let kind = if object::header_is_leaf(header) { AllocKind::Leaf } else { AllocKind::Scannable };
    let address = alloc(ctx, bytes, kind);
    // SAFETY: `alloc` has just given out `object_bytes(header)` bytes at `address`.
    unsafe { begin(address, header) }
}

/// The object that begins at `address`.
///
/// # Safety
/// There are as many fresh bytes as the header says.
#[inline(always)]
unsafe fn begin(address: u64, header: u64) -> Value {
    // SAFETY: as many fresh bytes are at `address` as the header says (`# Safety`). The last word is cleared first, so
    // that padding (of leaves) and the word after an empty object's header are defined.
    unsafe {
        *((address + object::object_bytes(header) - 8) as *mut u64) = 0;
        *(address as *mut u64) = header;
    }
    Value(address | TAG_OBJECT)
}

/// A fresh object with this header that never moves; the payload is uninitialised. It counts as old from the start.
pub fn alloc_still(ctx: &mut Machine, header: u64) -> Value {
    let bytes = object::object_bytes(header);
    let leaf = object::header_is_leaf(header);
    let address = match rt(ctx).heap.alloc_still(&mut ctx.cursors, bytes, leaf) {
        Ok(address) => address,
        Err(_) => exhaustion::overdraw(ctx, bytes, |ctx| rt(ctx).heap.alloc_still(&mut ctx.cursors, bytes, leaf)),
    };
    stop_for_heap(ctx);
    // SAFETY: `alloc_still` has just given out `object_bytes(header)` bytes at `address`.
    unsafe { begin(address, header) }
}

/// A fresh pair.
#[inline]
pub fn alloc_pair(ctx: &mut Machine, car: Value, cdr: Value) -> Value {
    let address = alloc(ctx, 16, AllocKind::Pair);
    // SAFETY: `alloc` has just given out 16 bytes at `address`.
    unsafe {
        *(address as *mut Value) = car;
        *((address + 8) as *mut Value) = cdr;
    }
    Value(address | TAG_PAIR)
}

/// A fresh procedure-like object of `words` words, uninitialised: the caller fills all of them and adds the tag.
#[inline]
pub fn alloc_procedure(ctx: &mut Machine, words: u64) -> u64 {
    alloc(ctx, 8 * words, AllocKind::Procedure)
}

/// Memory for an object of `bytes` bytes: its address.
#[inline(always)]
pub fn alloc(ctx: &mut Machine, bytes: u64, kind: AllocKind) -> u64 {
    match rt(ctx).heap.alloc_at_hand(&mut ctx.cursors, bytes, kind) {
        Some(address) => address,
        None => alloc_elsewhere(ctx, bytes, kind),
    }
}

#[cold]
fn alloc_elsewhere(ctx: &mut Machine, bytes: u64, kind: AllocKind) -> u64 {
    let address = match rt(ctx).heap.alloc_slow(&mut ctx.cursors, bytes, kind) {
        Ok(address) => address,
        Err(_) => exhaustion::overdraw(ctx, bytes, |ctx| rt(ctx).heap.alloc(&mut ctx.cursors, bytes, kind)),
    };
    stop_for_heap(ctx);
    if let Some(profiler) = &mut rt(ctx).heap_profile {
        profiler.called(ctx);
    }
    address
}

/// If the heap waits for a safepoint, the next one of any kind is it: a loop may have no heap checks of its own, where
/// runtime calls and stubs (lists of arguments) do all the allocation.
pub(crate) fn stop_for_heap(ctx: &mut Machine) {
    if ctx.stop & stop::HEAP == 0 && rt(ctx).heap.waits_for_safepoint(ctx.cursors) {
        // SAFETY: `ctx` is a reference, so the machine is alive.
        unsafe { stop_word::request(ctx, stop::HEAP) }
    }
}

/// A slot of an object that may be old was written.
#[inline]
pub fn write_barrier(ctx: &mut Machine, slot: *const Value) {
    rt(ctx).heap.mark_card(slot as u64);
}

/// `count` slots from `first` on, of an object that may be old, were written.
pub fn write_barrier_range(ctx: &mut Machine, first: *const Value, count: usize) {
    rt(ctx).heap.mark_cards(first as u64, count as u64);
}

/// Stores into payload word `i`, which is below its length, of an object, with its barrier.
#[inline]
pub fn store_word(ctx: &mut Machine, v: Value, i: u64, x: Value) {
    let slot = access::word_address(v, i as usize);
    // SAFETY: callers pass an index below the object's length, so `slot` is one of its words.
    unsafe { *slot = x };
    if x.is_pointer() {
        write_barrier(ctx, slot);
    }
}

/// A flonum, self-tagged when its exponent allows.
#[inline]
pub fn make_flonum(ctx: &mut Machine, x: f64) -> Value {
    match Value::try_flonum(x) {
        Some(v) => v,
        None => {
            let v = alloc_object(ctx, Type::Flonum, 0, 1);
            // SAFETY: `v` has just been made with a payload of one word.
            unsafe { *(access::word_address(v, 0) as *mut f64) = x };
            v
        }
    }
}

/// A string with the characters of `text`.
pub fn make_string(ctx: &mut Machine, text: &str) -> Value {
    if text.is_ascii() {
        return make_ascii_string(ctx, text.as_bytes());
    }
    let v = alloc_object(ctx, Type::String, 0, text.chars().count() as u64);
    for (slot, c) in access::string_chars_mut(v).iter_mut().zip(text.chars()) {
        *slot = c as u32;
    }
    v
}

/// A string of these ASCII characters.
pub fn make_ascii_string(ctx: &mut Machine, bytes: &[u8]) -> Value {
    let v = alloc_object(ctx, Type::String, 0, bytes.len() as u64);
    for (slot, b) in access::string_chars_mut(v).iter_mut().zip(bytes) {
        *slot = *b as u32;
    }
    v
}

/// A string of these scalar values.
pub fn make_string_from_chars(ctx: &mut Machine, chars: &[u32]) -> Value {
    let v = alloc_object(ctx, Type::String, 0, chars.len() as u64);
    access::string_chars_mut(v).copy_from_slice(chars);
    v
}

/// A bytevector with these bytes.
pub fn make_bytevector(ctx: &mut Machine, bytes: &[u8]) -> Value {
    let v = alloc_object(ctx, Type::Bytevector, 0, bytes.len() as u64);
    access::byte_slice_mut(v).copy_from_slice(bytes);
    v
}

/// A vector of these values.
pub fn make_vector(ctx: &mut Machine, items: &[Value]) -> Value {
    let v = alloc_object(ctx, Type::Vector, 0, items.len() as u64);
    access::words_mut(v).copy_from_slice(items);
    written(ctx, v);
    v
}

/// To be called when a fresh object of values has been filled: large objects may count as old from the start.
#[inline]
pub fn written(ctx: &mut Machine, v: Value) {
    let h = access::header(v);
    if object::object_bytes(h) > LARGE_BYTES {
        write_barrier_range(ctx, access::word_address(v, 0), object::header_length(h) as usize);
    }
}

/// A list of these values.
pub fn make_list(ctx: &mut Machine, items: &[Value]) -> Value {
    items.iter().rev().fold(Value::NIL, |rest, item| alloc_pair(ctx, *item, rest))
}

/// An object of values with all of them equal to `fill`.
#[inline]
pub fn make_filled(ctx: &mut Machine, ty: Type, length: u64, fill: Value) -> Value {
    let v = alloc_object(ctx, ty, 0, length);
    access::words_mut(v).fill(fill);
    if fill.is_pointer() {
        written(ctx, v);
    }
    v
}

/// Makes the fresh leaf `v` shorter and gives the room back when `v` was the last object allocated. The result
/// replaces `v`, which may have moved.
pub fn shrink_last(ctx: &mut Machine, v: Value, length: u64) -> Value {
    let old = access::header(v);
    debug_assert!(length <= object::header_length(old) && object::header_is_leaf(old));
    let new = (old & 0xFFFF) | (length << object::LENGTH_SHIFT);
    let (old_bytes, new_bytes) = (object::object_bytes(old), object::object_bytes(new));
    let from = v.address();
    // SAFETY: the object's bytes are ours; moving it up stays inside them, and nobody else knows it yet.
    unsafe {
        *(from as *mut u64) = new;
        if let Some(to) = rt(ctx).heap.shrink(&mut ctx.cursors, from, old_bytes, new_bytes) {
            std::ptr::copy(from as *const u64, to as *mut u64, (new_bytes / 8) as usize);
            return Value(to | TAG_OBJECT);
        }
        // The heap checker, which walks from object to object, steps over words of zero.
        std::ptr::write_bytes((from + new_bytes) as *mut u8, 0, (old_bytes - new_bytes) as usize);
    }
    v
}
