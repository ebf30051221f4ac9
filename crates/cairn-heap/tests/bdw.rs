//! `bdw`: what libgc is asked to do, and what it is not told.
#![allow(unsafe_code, missing_docs)]

mod common;

use cairn_heap::{AllocKind, CObjects, Heap, HeapConfig, HeapError, Request, Scheme, WeakKind};
use cairn_layout::collector::{BDW, FreeList};
use cairn_layout::object::{Type, header, object_bytes};
use cairn_layout::value::TAG_OBJECT;
use common::*;
use std::collections::HashSet;
use std::ffi::c_void;
use std::sync::Mutex;

/// libgc has one heap in a process.
static ALONE: Mutex<()> = Mutex::new(());

fn config() -> HeapConfig {
    HeapConfig { collector: &BDW, ..HeapConfig::default() }
}

/// Overwrites what earlier calls may have left on the stack.
#[inline(never)]
fn forget() {
    std::hint::black_box([0u64; 4096]);
}

#[test]
fn one_heap_at_a_time_and_of_schemes_objects() {
    let _alone = ALONE.lock();
    let first = Mutator::new(config());
    assert!(matches!(Heap::new(Scheme, config()), Err(HeapError::OneLibgc)));
    drop(first);
    let e = Heap::new(CObjects::default(), config()).err().expect("no heap for C's objects");
    assert!(e.to_string().contains("the middle"), "{e}");
    Heap::new(Scheme, config()).unwrap();
}

/// libgc takes the thread that starts it for the process's main one; it is not waited for when it has ended.
#[test]
fn the_thread_of_the_first_heap_may_end() {
    let _alone = ALONE.lock();
    let collected = || {
        let mut m = Mutator::new(config());
        let l = m.list(1000).unwrap();
        m.roots.words = vec![l];
        m.major();
        assert_list(l, 1000);
    };
    for _ in 0..3 {
        std::thread::scope(|s| _ = s.spawn(collected));
    }
    collected();
}

/// Only our own large objects are freed by their address: libgc's lie outside of the region.
#[test]
fn an_object_of_libgc_is_not_freed_as_a_large_one() {
    let _alone = ALONE.lock();
    let mut m = Mutator::new(config());
    let v = m.vector(100_000, fix(7));
    m.roots.words = vec![v];
    m.heap.free_large(v & !7);
    m.major();
    let v = m.roots.words[0] & !7;
    assert!((1..=100_000).all(|i| get(v, i) == fix(7)));
}

#[test]
fn what_is_reachable_stays_where_it_is_and_the_rest_is_used_again() {
    let _alone = ALONE.lock();
    let mut m = Mutator::new(config());
    let l = m.list(300_000).unwrap();
    m.roots.words = vec![l];
    for _ in 0..20 {
        let v = m.vector(1000, l);
        m.roots.words.push(v);
        let garbage = m.list(100_000).unwrap();
        assert_ne!(garbage, NIL);
    }
    m.major();
    assert_eq!(m.roots.words[0], l);
    assert_list(l, 300_000);
    assert!(m.heap.stats().major >= 2 && m.heap.bytes_in_use() < 24 << 20, "{}", m.heap.stats());
    m.verify();
}

/// A function of the libgc that has been loaded.
fn libgc(name: &std::ffi::CStr) -> unsafe extern "C" fn(*mut c_void) -> *mut c_void {
    unsafe {
        let library = libc::dlopen(c"libgc.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD);
        assert!(!library.is_null(), "libgc is not loaded");
        std::mem::transmute(libc::dlsym(library, name.as_ptr()))
    }
}

#[test]
fn chains_come_from_libgc_and_no_cell_comes_twice() {
    let _alone = ALONE.lock();
    let mut m = Mutator::new(config());
    let base = libgc(c"GC_base");
    let mut seen = HashSet::new();
    for i in 0..20_000u64 {
        let list = FreeList((i % 33) as u8);
        let a = m.pop(list);
        assert!((0..BDW.cell_bytes(list) / 8).all(|k| seen.insert(a + 8 * k)), "{a:#x} overlaps");
        assert_eq!(unsafe { base((a + 6) as *mut c_void) } as u64, a, "an object of libgc, known by its tag");
        // libgc clears its cells.
        assert!((1..BDW.cell_bytes(list) / 8).all(|k| get(a, k) == 0));
    }
}

#[test]
fn leaves_keep_nothing_and_weak_references_break() {
    let _alone = ALONE.lock();
    let mut m = Mutator::new(config());
    let mut strings = vec![];
    let mut targets = vec![];
    for n in [2u64, 100, 5_000, 100_000] {
        let p = m.cons(fix(n as i64), NIL);
        let s = m.blank_string(n);
        put(s & !7, 1, p);
        strings.push(s);
        targets.push(Some(p));
    }
    m.roots.words = strings.clone();
    m.roots.weak = targets;
    m.roots.weak.extend(strings.iter().map(|s| Some(*s)));
    forget();
    m.major();
    let (dead, alive) = m.roots.weak.split_at(4);
    assert_eq!(dead, [None; 4]);
    assert!(alive.iter().zip(&strings).all(|(w, s)| *w == Some(*s)));
}

/// What only an ephemeron keeps, libgc's marking does not reach; its collector's second part does.
#[test]
fn ephemerons_hang_together_in_linear_time() {
    let _alone = ALONE.lock();
    let mut m = Mutator::new(HeapConfig { heap_max: Some(1 << 30), ..config() });
    let n = 50_000;
    let keys: Vec<u64> = (0..n).map(|i| m.cons(fix(i as i64), NIL)).collect();
    let all = m.vector(n as u64, NIL);
    for i in (0..n).rev() {
        let datum = if i + 1 < n { m.vector(2, keys[i + 1]) } else { NIL };
        let h = header(Type::Weak, WeakKind::Ephemerons as u8, 2);
        let a = m.try_alloc(object_bytes(h), AllocKind::Leaf).unwrap();
        put(a, 0, h);
        put(a, 1, keys[i]);
        put(a, 2, datum);
        m.heap.made_weak(a | TAG_OBJECT, 2, WeakKind::Ephemerons);
        m.set(all, i as u64 + 1, a | TAG_OBJECT);
    }
    m.roots.words = vec![keys[0], all];
    forget();
    m.major();
    for i in 0..n as u64 {
        let e = get(all, i + 1);
        assert_eq!(get(get(e, 1), 0), fix(i as i64));
    }
    m.roots.words[0] = NIL;
    forget();
    m.major();
    let broken = (1..=n as u64).filter(|i| get(get(all, *i), 1) == cairn_layout::Value::BROKEN.0).count();
    assert_eq!(broken, n);
}

#[test]
fn chunks_live_while_a_continuation_refers_to_them() {
    let _alone = ALONE.lock();
    let mut m = Mutator::new(config());
    let (chunk, bytes) = m.heap.alloc_chunk(32 << 10).unwrap();
    assert!(m.heap.chunk_end(chunk) >= chunk + bytes);
    let held = m.cons(fix(7), NIL);
    // What is left of a frame that has returned: else each continuation would keep those before it.
    let left = m.cons(fix(8), NIL);
    put(chunk, 0, held);
    put(chunk, 1, left);
    let k = m.continuation(chunk, 0, 1, NIL);
    m.roots.words = vec![k];
    m.roots.weak = vec![Some(held), Some(left)];
    forget();
    m.major();
    assert_eq!(m.roots.weak, [Some(held), None]);
    assert_eq!(get(held, 0), fix(7));
    m.roots.words.clear();
    forget();
    m.major();
    assert_eq!(m.roots.weak, [None, None]);
}

#[test]
fn out_of_memory_is_an_error_and_can_be_overcome() {
    let _alone = ALONE.lock();
    let mut m = Mutator::new(HeapConfig { heap_max: Some(16 << 20), ..config() });
    m.list(2_000_000).unwrap_err();
    m.roots.words.clear();
    forget();
    let _ = m.heap.collect(&mut m.cursors, &mut m.roots, Request::Major);
    let l = m.list(500_000).unwrap();
    assert_list(l, 500_000);
    for absurd in [1 << 30, 1 << 59] {
        assert!(m.try_alloc(absurd, AllocKind::Leaf).is_err());
    }
}
