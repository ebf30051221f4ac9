//! Objects that are born old: what is built up and kept, continuations, leaves, and what they refer to.
#![allow(unsafe_code, missing_docs)]

mod common;

use cairn_heap::{HeapConfig, Zeal};
use common::*;

/// Objects are born old after every collection.
fn with_old_births() -> Mutator {
    Mutator::new(HeapConfig {
        zeal: Zeal { old_births: true, ..HeapConfig::zealous().zeal },
        ..HeapConfig::zealous()
    })
}

#[test]
fn what_is_built_up_and_kept_is_born_old_and_not_copied() {
    let mut m = Mutator::new(HeapConfig { nursery_bytes: 1 << 20, ..HeapConfig::default() });
    let count = 1_000_000;
    m.roots.words.push(NIL);
    for i in 0..count {
        m.check(32).unwrap();
        let v = m.vector(3, fix(i));
        put(v & !7, 1, m.roots.words[0]);
        m.roots.words[0] = v;
    }
    let s = m.heap.stats();
    assert!(s.born_old > 20 << 20 && s.promoted < 10 << 20, "{} born old, {} copied", s.born_old, s.promoted);
    m.major();
    let mut v = m.roots.words[0];
    for i in (0..count).rev() {
        assert_eq!((get(v, 2), get(v, 3)), (fix(i), fix(i)));
        v = get(v, 1);
    }
    assert_eq!((v, m.verify().objects), (NIL, count as u64));
    m.roots.words.clear();
    m.major();
    assert!(m.heap.bytes_in_use() < 1 << 20, "{}", m.heap.bytes_in_use());
}

#[test]
fn pairs_are_copied_into_the_order_of_their_list() {
    let mut m = Mutator::new(HeapConfig { nursery_bytes: 1 << 20, ..HeapConfig::default() });
    let list = m.list(1_000_000).unwrap();
    m.roots.words.push(list);
    assert_eq!(m.heap.stats().born_old, 0);
    assert!(m.heap.stats().promoted > 12 << 20);
}

#[test]
fn garbage_is_not_born_old() {
    let mut m = Mutator::new(HeapConfig { nursery_bytes: 1 << 20, ..HeapConfig::default() });
    for _ in 0..100_000 {
        m.list(100).unwrap();
    }
    assert_eq!(m.heap.stats().born_old, 0);
    assert!(m.heap.stats().minor > 10);
}

#[test]
fn leaves_born_old_are_no_references_and_their_block_is_used_again() {
    for evacuate in [false, true] {
        let zeal = Zeal { old_births: true, evacuate, ..HeapConfig::zealous().zeal };
        let mut m = Mutator::new(HeapConfig { zeal, ..HeapConfig::zealous() });
        for round in 0..30 {
            m.minor();
            let before = m.heap.stats().born_old;
            // Characters that look like references to young objects, and vectors between them, stored into later.
            let mut kept = vec![];
            for i in 0..200 {
                m.check(4096).unwrap();
                let look = m.cons(fix(i), NIL);
                kept.push(m.vector(3, fix(i)));
                let s = m.string(8, 0);
                for w in 1..=4 {
                    put(s & !7, w, look);
                }
                kept.push(s);
                m.roots.words = kept.clone();
                m.check(16).unwrap();
                kept = m.roots.words.clone();
            }
            m.minor();
            assert!(m.heap.stats().born_old > before, "round {round}");
            for i in (0..400).step_by(2) {
                let l = m.list(2).unwrap();
                m.set(m.roots.words[i], 1 + i as u64 % 3, l);
            }
            let texts: Vec<u64> = (1..400).step_by(2).map(|i| get(m.roots.words[i], 1)).collect();
            m.minor();
            m.verify();
            for (i, text) in texts.into_iter().enumerate() {
                let s = m.roots.words[2 * i + 1];
                assert!((1..=4).all(|w| get(s, w) == text), "a string was changed");
                assert_list(get(m.roots.words[2 * i], 1 + 2 * i as u64 % 3), 2);
            }
            m.roots.words.retain(|w| w & 64 == 0);
            m.major();
            m.verify();
            m.roots.words.clear();
        }
        m.major();
        assert!(m.heap.bytes_in_use() < 300 << 10, "{}", m.heap.bytes_in_use());
    }
}

#[test]
fn large_objects_that_only_objects_born_old_refer_to_live_on() {
    let mut m = with_old_births();
    for _ in 0..20 {
        m.major();
        let before = m.heap.stats().born_old;
        let large = m.vector(5_000, fix(7));
        let p = m.cons(large, NIL);
        m.verify();
        m.roots.words = vec![p];
        m.minor();
        assert!(m.heap.stats().born_old > before);
        m.minor();
        let large = get(m.roots.words[0], 0);
        assert!((1..=5_000).all(|i| get(large, i) == fix(7)));
        m.verify();
    }
    m.roots.words.clear();
    m.major();
    assert_eq!(m.verify().objects, 0);
}

#[test]
fn a_chunk_of_a_continuation_born_old_lives_as_long_as_that() {
    let mut m = with_old_births();
    m.minor();
    let chunk = m.heap.alloc_chunk(4096).unwrap().0;
    let text = m.string(3, 97);
    put(chunk, 0, text);
    let k = m.continuation(chunk, 0, 1, NIL);
    m.roots.words = vec![k];
    let (majors, before) = (m.heap.stats().major, m.heap.stats().born_old);
    m.minor();
    assert!(m.heap.stats().born_old > before);
    assert_eq!(m.heap.stats().major, majors + 1, "only a major collection can tell which chunks live");
    assert_eq!(m.heap.chunk_is_old(chunk), Some(true));
    let before = m.heap.stats().born_old;
    for _ in 0..5 {
        m.minor();
        m.cons(NIL, NIL);
    }
    assert_eq!(m.heap.stats().born_old, before, "no old births for a while");
    assert_eq!(get(get(chunk, 0), 1), 97 << 32 | 97);
    m.roots.words.clear();
    m.major();
    assert_eq!(m.heap.chunk_is_old(chunk), None);
}
