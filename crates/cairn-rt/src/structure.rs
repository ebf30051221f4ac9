//! Structure vectors: records without headers, side by side in one object.
//!
//! ```text
//!  storage, a vector       [header][field]...[field]...        or a bytevector, for types with raw records
//!                                  ▲ element 0  ▲ element 1
//!  reference to an element   a word: type and place
//! ```
//!
//! The problem: an element must do wherever a record does, though no word of it says what it is. The idea: the word
//! that refers to it says so ([`element`]), and where in the heap's region the element lies. So nothing is allocated
//! for a reference, and `eq?` compares words. For that the storage never moves; a collector that meets such a word
//! keeps the object around the place alive ([`cairn_heap::Heap::alloc_still`]). Compiled code asks for such words after
//! its test for the tag of objects has failed (`cairn-llvm/src/emit/prims/record.rs`): plain records pay nothing. The
//! optimizer makes no reference that is only used to reach fields (`cairn-core/src/passes/elements.rs`).
//!
//! A collector that only knows addresses, libgc, does not see through such words. There a reference is a small object
//! that knows storage and type ([`element::OBJECT`]), and the same one as long as somebody holds it: a structure vector
//! has *pages*, weak vectors of references to 64 elements each, made when one of these is first referred to. Compiled
//! code knows nothing of them but that their header says that the type extends another one, so it asks the runtime.

use crate::access::{self, words_mut};
use crate::alloc::{
    LENGTH_MAX, alloc_object, alloc_object_of, alloc_still, store_word, write_barrier_range, written,
};
use crate::arguments::check_size;
use crate::elements;
use crate::exhaustion;
use crate::failure::{check, wrong_type};
use crate::num;
use crate::record::{self, initial};
use crate::record_types::{self, RecordType};
use crate::runtime::rt;
use crate::weak;
use cairn_heap::WeakKind;
use cairn_layout::Value;
use cairn_layout::element;
use cairn_layout::machine::Machine;
use cairn_layout::object::record::{self as layout, Slot};
use cairn_layout::object::structure;
use cairn_layout::object::{FLAG_STILL, Type, header, header_is_still};
use cairn_layout::value::TAG_OBJECT;
use std::sync::atomic::Ordering;

/// The word that refers to the element of a type which lies so many bytes behind the first word of a storage.
fn word(ctx: &Machine, storage: Value, offset: Value, rtd: Value) -> Value {
    Value(element::reference(rtd.0, inside(storage, offset).0 - ctx.region))
}

/// The storage of the element that a word refers to, and how many bytes behind its first word the element lies.
pub fn storage_of(ctx: &Machine, reference: Value) -> Option<(Value, Value)> {
    let storage = Value(rt(ctx).heap.holder(reference.0)?);
    Some((storage, Value::fixnum((elements::place(reference).0 - storage.0) as i64)))
}

/// Bytes of an element.
fn stride(t: &RecordType) -> usize {
    layout::stride(t.fields.iter().map(|f| f.slot))
}

/// The first field of a record, or of an element.
fn fields(v: Value) -> *mut u8 {
    (record::place(v).0 - TAG_OBJECT + 8) as *mut u8
}

/// `(structure-stride type)`: bytes of an element.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_structure_stride(_ctx: &mut Machine, rtd: Value) -> Value {
    record_types::get(rtd).map_or(Value::FALSE, |t| Value::fixnum(stride(&t) as i64))
}

/// `(structure-type type kept?)`: the type. Where a program defines structure vectors of a type it says so to the
/// compiler by this, and gives the type to no others (`cairn-core/src/passes/types/records.rs`). The compiler says
/// whether references to elements may be kept: only then must their storage stand still.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_structure_type(_ctx: &mut Machine, rtd: Value, kept: Value) -> Value {
    if let Some(t) = record_types::get(rtd) {
        t.kept.fetch_or(kept.is_true(), Ordering::Relaxed);
    }
    rtd
}

/// No more than this is copied from at once, so that it stays in the processor's nearest cache.
const COPIED_BYTES: usize = 8 << 10;

/// Makes `n` elements from `to` on what the first one is, in time that the memory sets and not the number of elements.
///
/// # Safety
/// There is room for `n` elements of `stride` bytes, and the first has been written.
unsafe fn repeat(to: *mut u8, stride: usize, n: usize) {
    let total = stride * n;
    // SAFETY: room for `n` elements of `stride` bytes is at `to`, and the first is written (`# Safety`): so `done`
    // bytes are. What is copied lies before where it goes, for `some <= done`.
    unsafe {
        if std::slice::from_raw_parts(to, stride).iter().all(|b| *b == 0) {
            return std::ptr::write_bytes(to, 0, total);
        }
        let unit = (COPIED_BYTES / stride).max(1) * stride;
        let mut done = stride;
        while done < total {
            let some = done.min(unit).min(total - done);
            std::ptr::copy_nonoverlapping(to, to.add(done), some);
            done += some;
        }
    }
}

/// A fresh object with this header, which may be a storage that must stand still; the payload is uninitialised.
pub fn alloc_perhaps_still(ctx: &mut Machine, header: u64) -> Value {
    let still = header_is_still(header) && rt(ctx).heap.facts().indirect;
    if still { alloc_still(ctx, header) } else { alloc_object_of(ctx, header) }
}

/// `(structure-storage type n who record)`: room for `n` elements, with the fields of a record of the type, or, if that
/// is `#f`, zeros and `#f`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_structure_storage(
    ctx: &mut Machine,
    rtd: Value,
    n: Value,
    who: Value,
    from: Value,
) -> Value {
    let who = access::string_text(who);
    let Some(t) = record_types::get(rtd) else { return Value::FALSE };
    let ty = if t.raw { Type::Bytevector } else { Type::Vector };
    let n = check!(check_size(ctx, &who, ty, n));
    let unit = if t.raw { 1 } else { 8 };
    let total = n.saturating_mul(stride(&t) as u64 / unit).min(i64::MAX as u64 >> 4);
    let total = check!(check_size(ctx, &who, ty, Value::fixnum(total as i64)));
    if total > LENGTH_MAX {
        exhaustion::refuse(ctx, total.saturating_mul(8));
    }
    let still = n > 0 && t.kept.load(Ordering::Relaxed);
    let v = alloc_perhaps_still(ctx, header(ty, if still { FLAG_STILL } else { 0 }, total));
    let (bytes, n) = (stride(&t), n as usize);
    let to = access::word_address(v, 0) as *mut u8;
    if bytes == 0 || n == 0 {
        return v;
    }
    // SAFETY: `total` was computed for `n` elements of `stride` bytes, all of which fit; a record of their type has the
    // fields of one.
    unsafe {
        if from != Value::FALSE {
            std::ptr::copy_nonoverlapping(fields(from), to, bytes);
        } else if t.raw {
            std::ptr::write_bytes(to, 0, bytes);
        } else {
            for (i, f) in t.fields.iter().enumerate() {
                *(to as *mut Value).add(i) = initial(f.slot.kind);
            }
        }
        repeat(to, bytes, n);
    }
    if !t.raw && from != Value::FALSE {
        write_barrier_range(ctx, to as *const Value, n * bytes / 8);
    }
    v
}

/// `(structure-element storage offset type)`: a reference to the element so many bytes behind the first word.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_structure_element(ctx: &mut Machine, storage: Value, offset: Value, rtd: Value) -> Value {
    if rt(ctx).heap.facts().indirect {
        return word(ctx, storage, offset, rtd);
    }
    object(ctx, storage, offset, rtd)
}

/// A reference that is an object, of which nobody knows yet.
fn object(ctx: &mut Machine, storage: Value, offset: Value, rtd: Value) -> Value {
    let v = alloc_object_of(ctx, element::OBJECT);
    for (i, word) in [(element::STORAGE, storage), (element::OFFSET, offset), (element::TYPE, rtd)] {
        // SAFETY: `v` has just been made with the header `element::OBJECT`, and so with these three words.
        unsafe { *access::word_address(v, i as usize) = word };
    }
    v
}

/// `(structure-reference vector i storage offset type)`: the reference to element `i`, which has this offset. Of
/// objects it is the one that the vector's pages know, as long as somebody holds it, else a new one.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_structure_reference(
    ctx: &mut Machine,
    vector: Value,
    i: Value,
    storage: Value,
    offset: Value,
    rtd: Value,
) -> Value {
    if rt(ctx).heap.facts().indirect {
        return word(ctx, storage, offset, rtd);
    }
    let pages = access::word(vector, structure::PAGES);
    if pages != Value::FALSE {
        let (page, place) = place_of(i);
        let references = access::word(pages, page);
        if references != Value::FALSE {
            let known = access::word(references, place);
            if known != Value::BROKEN {
                return known;
            }
        }
    }
    new_reference(ctx, vector, i, storage, offset, rtd)
}

/// In which page the reference to element `i` is, an index, and where there.
#[inline(always)]
fn place_of(i: Value) -> (u64, u64) {
    let i = i.as_fixnum() as u64;
    (i / structure::PAGE as u64, i % structure::PAGE as u64)
}

/// A reference to an element that no page knows one to. It is apart so that the look-up needs no frame.
#[inline(never)]
fn new_reference(ctx: &mut Machine, vector: Value, i: Value, storage: Value, offset: Value, rtd: Value) -> Value {
    let (page, i) = place_of(i);
    let mut pages = access::word(vector, structure::PAGES);
    if pages == Value::FALSE {
        let n = access::word(vector, structure::LENGTH).as_fixnum();
        pages = alloc_object(ctx, Type::Vector, 0, (n as u64).div_ceil(structure::PAGE as u64));
        words_mut(pages).fill(Value::FALSE);
        store_word(ctx, vector, structure::PAGES, pages);
    }
    let mut references = access::word(pages, page);
    if references == Value::FALSE {
        references = weak::make(ctx, WeakKind::References, structure::PAGE as u64);
        store_word(ctx, pages, page, references);
    }
    let e = object(ctx, storage, offset, rtd);
    weak::store_as(ctx, references, i, e, (WeakKind::References, structure::PAGE as u32));
    e
}

/// `(structure-fill! storage offset n record)`: `n` elements from there get the fields of a record of their type.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_structure_fill(
    ctx: &mut Machine,
    storage: Value,
    offset: Value,
    n: Value,
    from: Value,
) -> Value {
    let Some(t) = record::type_of(from).and_then(record_types::get) else { return Value::UNSPECIFIED };
    let (bytes, n) = (stride(&t), n.as_fixnum() as usize);
    let to = (storage.address() + 8 + offset.as_fixnum() as u64) as *mut u8;
    let from = fields(from);
    if bytes == 0 || n == 0 {
        return Value::UNSPECIFIED;
    }
    // SAFETY: the library has checked that `n` elements of the record's type are there; the record may be one of them.
    unsafe {
        std::ptr::copy(from, to, bytes);
        repeat(to, bytes, n);
    }
    if !t.raw {
        write_barrier_range(ctx, to as *const Value, n * bytes / 8);
    }
    Value::UNSPECIFIED
}

/// A word from which the fields of an element are reached as a record's are.
fn inside(storage: Value, offset: Value) -> Value {
    Value(storage.0 + offset.as_fixnum() as u64)
}

/// `(structure-wide storage offset code)`: an integer of 64 bits that need not be a fixnum.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_structure_get(ctx: &mut Machine, storage: Value, offset: Value, code: Value) -> Value {
    let number = record::integer_at(inside(storage, offset), Slot::of(code.as_fixnum()));
    num::operand::from_number(ctx, &number)
}

/// `(structure-widen! storage offset code x)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_structure_put(
    ctx: &mut Machine,
    storage: Value,
    offset: Value,
    code: Value,
    x: Value,
) -> Value {
    let slot = Slot::of(code.as_fixnum());
    if record::put_integer_at(inside(storage, offset), slot, x) {
        return Value::UNSPECIFIED;
    }
    wrong_type(ctx, "", 0, &record::with_article(slot.kind), x)
}

/// `(structure-swap! storage i j type)`: the elements so many bytes behind the first word change places.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_structure_swap(
    ctx: &mut Machine,
    storage: Value,
    i: Value,
    j: Value,
    rtd: Value,
) -> Value {
    let Some(t) = record_types::get(rtd) else { return Value::UNSPECIFIED };
    let bytes = stride(&t);
    let at = |o: Value| (storage.address() + 8 + o.as_fixnum() as u64) as *mut u8;
    if i == j || bytes == 0 {
        return Value::UNSPECIFIED;
    }
    debug_assert!((i.as_fixnum() - j.as_fixnum()).unsigned_abs() as usize >= bytes);
    // SAFETY: the library gives offsets of two elements of this type, which lie apart (asserted in debug builds).
    unsafe { std::ptr::swap_nonoverlapping(at(i), at(j), bytes) };
    if !t.raw {
        for o in [i, j] {
            write_barrier_range(ctx, at(o) as *const Value, bytes / 8);
        }
    }
    Value::UNSPECIFIED
}

/// `(structure-plain record)`: a record of its own with the fields of a record, which may be an element.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_structure_plain(ctx: &mut Machine, from: Value) -> Value {
    let Some(t) = record::type_of(from).and_then(record_types::get) else { return from };
    let v = alloc_object_of(ctx, t.word.0);
    let (to, whole) = (fields(v), 8 * t.length as usize);
    // SAFETY: `v` has just been made with `length` words, at least the `stride` bytes of fields that an element has.
    unsafe {
        std::ptr::write_bytes(to, 0, whole);
        std::ptr::copy_nonoverlapping(fields(from), to, stride(&t));
    }
    if !t.raw {
        written(ctx, v);
    }
    v
}
