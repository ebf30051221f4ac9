//! # cairn-heap-c: the heap for programs in C
//!
//! The problem: implementers of other languages, and C programs, want a collector, not a compiler. The idea: the header
//! `include/cairn_heap.h` says what there is, in C's terms; here is each of its functions, as thin as can be, on
//! [`cairn_heap::Heap`] with the object model [`cairn_heap::CObjects`]. Objects are allocated and stores
//! recorded by inline functions of the header, as compiled Scheme code does it; the constants that they use are
//! compared with the library's by a test.
//!
//! | module | what it is |
//! |---|---|
//! | [`embedded`] | a heap as C sees it, and the client that shows its roots |
//! | `native_stack` | the words of the native stack and the registers |
//! | this file | the functions, and what of their arguments is checked |
//!
//! Invariants:
//! * Nothing is global: all state hangs off the pointer that the program passes.
//! * *The pointer* came from `cairn_heap_new` and was not freed, and one thread at a time uses it: so the header asks
//!   of the program. No reference to the heap is in use when a function is called: while functions of the program run
//!   that may call it, none is.
//! * Nothing unwinds into C: what a program can cause is an error with a message, not a panic.
//! * The collector runs only in functions whose comment in the header says `[collects]`.
// What the functions are for, and what they ask of their callers, stands in the header.
#![allow(unsafe_code, missing_docs, non_camel_case_types, clippy::missing_safety_doc)]

pub mod embedded;
mod native_stack;

use cairn_heap::{HeapConfig, HeapError, Nature, Request, SizingConfig, Zeal};
use cairn_layout::facts;
use embedded::{Embedded, Finalizer, Limit, Listener, WeakCell};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// `cairn_options`.
#[repr(C)]
pub struct cairn_options {
    size: usize,
    collector: *const c_char,
    heap_max: usize,
    nursery: usize,
    zeal: c_int,
}

/// Of the addresses that are left, where they are limited, a heap takes one part of so many: a program may have many
/// heaps.
const REGION_SHARE: u64 = 16;
/// `CAIRN_NO_LAYOUT`.
const NO_LAYOUT: u32 = u32::MAX;

/// The heap behind the pointer that the program passes.
///
/// # Safety
/// `pointer` came from `cairn_heap_new`, was not freed, and no other reference to the heap is in use.
unsafe fn heap<'a>(pointer: *mut Embedded) -> &'a mut Embedded {
    // SAFETY: the pointer is that of a heap, and no other reference to it is in use (`# Safety`).
    unsafe { &mut *pointer }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_options_init(options: *mut cairn_options) {
    let fresh = cairn_options {
        size: size_of::<cairn_options>(),
        collector: std::ptr::null(),
        heap_max: 0,
        nursery: 0,
        zeal: 0,
    };
    // SAFETY: the program passes a place for options, which can be written.
    unsafe { options.write(fresh) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_heap_new(
    options: *const cairn_options,
    message: *mut c_char,
    message_size: usize,
) -> *mut Embedded {
    // SAFETY: `options` is null, or the program's, which `cairn_options_init` has filled.
    let made = unsafe { config(options) }.and_then(|c| Embedded::new(c).map_err(|e| e.to_string()));
    match made {
        Ok(heap) => Box::into_raw(heap),
        Err(why) => {
            if !message.is_null() && message_size > 0 {
                let n = why.len().min(message_size - 1);
                // SAFETY: the buffer has `message_size` bytes, of which `n` and one more are written.
                unsafe {
                    std::ptr::copy_nonoverlapping(why.as_ptr(), message.cast(), n);
                    message.add(n).write(0);
                }
            }
            std::ptr::null_mut()
        }
    }
}

/// What the options ask for.
///
/// # Safety
/// `options` is null, or the program's, whose first member is their size, and whose strings are null or C strings.
unsafe fn config(options: *const cairn_options) -> Result<HeapConfig, String> {
    let mut config = HeapConfig { region_share: REGION_SHARE, ..HeapConfig::default() };
    if options.is_null() {
        return Ok(config);
    }
    // SAFETY: `options` is not null; the first member of options of any version is their size, and those of this size
    // are ours.
    let o = unsafe {
        if (*options).size != size_of::<cairn_options>() {
            return Err("the options were not made by cairn_options_init of this version".into());
        }
        &*options
    };
    if !o.collector.is_null() {
        // SAFETY: `collector` is not null, so a C string of the program's.
        let name = unsafe { CStr::from_ptr(o.collector) }.to_string_lossy();
        config.collector =
            facts::collector(&name).ok_or_else(|| HeapError::NoSuchCollector(name.into_owned()).to_string())?;
    }
    if o.zeal != 0 {
        config = HeapConfig { collector: config.collector, region_share: REGION_SHARE, ..HeapConfig::zealous() };
        config.zeal = Zeal { every_safepoint: true, unpaced: true, evacuate: true, ..config.zeal };
    }
    if o.heap_max != 0 {
        config.heap_max = Some(o.heap_max as u64);
        config.sizing =
            SizingConfig { min_limit: config.sizing.min_limit.min(o.heap_max as u64 / 4), ..config.sizing };
    }
    if o.nursery != 0 {
        config.nursery_bytes = (o.nursery as u64).clamp(64 << 10, 1 << 30);
    }
    Ok(config)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_heap_free(pointer: *mut Embedded) {
    if !pointer.is_null() {
        // SAFETY: it came from `cairn_heap_new`, and is not used again (*The pointer*).
        drop(unsafe { Box::from_raw(pointer) });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_error(pointer: *const Embedded) -> *const c_char {
    // SAFETY: the pointer is that of a heap, which is only read (*The pointer*).
    unsafe { (*pointer).error().as_ptr() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_define(pointer: *mut Embedded, words: c_uint, references: u64) -> u32 {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    let h = unsafe { heap(pointer) };
    h.define(words, references).unwrap_or(NO_LAYOUT)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_new_slow(pointer: *mut Embedded, layout: u32, count: usize) -> *mut c_void {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    let h = unsafe { heap(pointer) };
    let Some(layout) = h.layout(layout) else { return h.fail("there is no such layout") };
    // SAFETY: the pointer is that of a heap, and `h` is not used any more (*The pointer*).
    unsafe { make(pointer, Nature::Typed(layout, count as u64)) }
}

/// A cleared object, after a collection if one is due. Null when there is no memory for it, and the program's function
/// for that case does not ask to try again.
///
/// # Safety
/// `pointer` is that of a heap, and no reference to it is in use.
unsafe fn make(pointer: *mut Embedded, nature: Nature) -> *mut c_void {
    loop {
        // SAFETY: no reference to the heap is in use (`# Safety`); this one ends here, for the program's function may
        // use the heap.
        let (why, limit) = match unsafe { heap(pointer) }.make(nature) {
            Ok(object) => return object as *mut c_void,
            // SAFETY: `limit` is copied from the heap, to which no reference is in use any more.
            Err(why) => (why, unsafe { (*pointer).limit }),
        };
        if limit.is_none_or(|(call, data)| call(pointer, why.bytes, data) == 0) {
            // SAFETY: no reference to the heap is in use (`# Safety`), and the program's function has come back.
            return unsafe { heap(pointer) }.fail(&why.message);
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_new_untyped(pointer: *mut Embedded, bytes: usize) -> *mut c_void {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    unsafe { make(pointer, Nature::Untyped(bytes.div_ceil(8) as u64)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_new_atomic(pointer: *mut Embedded, bytes: usize) -> *mut c_void {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    unsafe { make(pointer, Nature::Atomic(bytes.div_ceil(8) as u64)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_add_root(pointer: *mut Embedded, first: *mut u64, count: usize) {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    unsafe { heap(pointer) }.roots.precise.push((first, count));
}

/// Takes out the run of words that was added last with this first word.
fn forget<P: PartialEq>(runs: &mut Vec<(P, usize)>, first: P) {
    if let Some(i) = runs.iter().rposition(|r| r.0 == first) {
        runs.swap_remove(i);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_remove_root(pointer: *mut Embedded, first: *mut u64) {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    forget(&mut unsafe { heap(pointer) }.roots.precise, first);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_scan_stack(pointer: *mut Embedded, base: *const u64) {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    unsafe { heap(pointer) }.roots.stack_base = (!base.is_null()).then_some(base);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_add_ambiguous(pointer: *mut Embedded, first: *const u64, count: usize) {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    unsafe { heap(pointer) }.roots.ambiguous.push((first, count));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_remove_ambiguous(pointer: *mut Embedded, first: *const u64) {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    forget(&mut unsafe { heap(pointer) }.roots.ambiguous, first);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_pin(pointer: *mut Embedded, object: u64) {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    *unsafe { heap(pointer) }.roots.pins.entry(object).or_insert(0) += 1;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_unpin(pointer: *mut Embedded, object: u64) {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    let pins = &mut unsafe { heap(pointer) }.roots.pins;
    if let Some(n) = pins.get_mut(&object) {
        *n -= 1;
        if *n == 0 {
            pins.remove(&object);
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_weak_new(pointer: *mut Embedded, object: u64) -> *mut WeakCell {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    unsafe { heap(pointer) }.roots.add_weak(object)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_weak_get(weak: *const WeakCell) -> u64 {
    // SAFETY: the program passes what came from `cairn_weak_new`, and was not freed.
    unsafe { (*weak).object() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_weak_free(pointer: *mut Embedded, weak: *mut WeakCell) {
    if !weak.is_null() {
        // SAFETY: no reference to the heap is in use (*The pointer*); the cell came from `cairn_weak_new` of this heap,
        // and was not freed.
        unsafe { heap(pointer).roots.remove_weak(weak) }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_add_finalizer(
    pointer: *mut Embedded,
    object: u64,
    run: Finalizer,
    data: *mut c_void,
) {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    unsafe { heap(pointer) }.roots.add_finalizer(object, run, data);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_finalizers_ready(pointer: *const Embedded) -> usize {
    // SAFETY: the pointer is that of a heap, which is only read (*The pointer*).
    unsafe { (*pointer).roots.ready() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_run_finalizers(pointer: *mut Embedded) -> usize {
    let mut ran = 0;
    // SAFETY: no reference to the heap is in use (*The pointer*), and this one ends before the finalizer, which uses
    // the heap, runs.
    while let Some((object, run, data)) = unsafe { heap(pointer) }.roots.next_ready() {
        run(pointer, object as *mut c_void, data);
        ran += 1;
    }
    ran
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_collect(pointer: *mut Embedded, everything: c_int) -> c_int {
    let request = if everything != 0 { Request::Major } else { Request::Minor };
    // SAFETY: no reference to the heap is in use (*The pointer*).
    if unsafe { heap(pointer) }.collect(request) { 0 } else { -1 }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_on_limit(pointer: *mut Embedded, call: Option<Limit>, data: *mut c_void) {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    unsafe { heap(pointer) }.limit = call.map(|call| (call, data));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_on_collection(pointer: *mut Embedded, call: Option<Listener>, data: *mut c_void) {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    unsafe { heap(pointer) }.listen(pointer, call, data);
}

/// `cairn_counters`.
#[repr(C)]
pub struct cairn_counters {
    allocated: u64,
    in_use: u64,
    peak: u64,
    heap_max: u64,
    minor: u64,
    major: u64,
    copied: u64,
    pinned: u64,
    pause_ns: u64,
    longest_pause_ns: u64,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_count_up(pointer: *mut Embedded, counters: *mut cairn_counters) {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    let h = &mut unsafe { heap(pointer) }.heap;
    let s = h.stats();
    let ns = |d: std::time::Duration| d.as_nanos() as u64;
    let counted = cairn_counters {
        allocated: s.allocated,
        in_use: h.bytes_in_use(),
        peak: s.peak,
        heap_max: h.heap_max(),
        minor: s.minor,
        major: s.major,
        copied: s.promoted + s.copied,
        pinned: s.pinned,
        pause_ns: ns(s.pause_total()),
        longest_pause_ns: ns(s.pause_max()),
    };
    // SAFETY: the program passes a place for counters, which can be written.
    unsafe { counters.write(counted) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_release(pointer: *mut Embedded) {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    unsafe { heap(pointer) }.heap.release_free();
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_check(pointer: *mut Embedded) -> c_int {
    // SAFETY: no reference to the heap is in use (*The pointer*).
    if unsafe { heap(pointer) }.check() { 0 } else { -1 }
}
