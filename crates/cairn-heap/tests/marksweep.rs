//! `marksweep`: what is reused, returned, looked at, and what happens when it gets tight.
#![allow(unsafe_code, missing_docs)]

mod common;

use cairn_heap::{HeapConfig, Request, SizingConfig, Tracing};
use cairn_layout::collector::{Allocation, FreeList, MARKSWEEP};
use cairn_layout::value::{TAG_OBJECT, TAG_PAIR};
use common::*;
use std::collections::HashSet;

fn config() -> HeapConfig {
    HeapConfig { collector: &MARKSWEEP, ..HeapConfig::default() }
}

fn threads(threads: u32) -> HeapConfig {
    HeapConfig { tracing: Tracing { threads, least: 0 }, ..config() }
}

#[test]
fn nothing_moves_and_what_is_free_is_used_again() {
    let mut m = Mutator::new(config());
    let every_third: Vec<u64> = (0..30_000).map(|i| m.cons(fix(i), NIL)).step_by(3).collect();
    m.roots.words = every_third.clone();
    m.major();
    assert_eq!(m.roots.words, every_third);
    let held = m.heap.bytes_in_use();
    let kept: HashSet<u64> = every_third.iter().copied().collect();
    for i in 0..19_000 {
        let p = m.cons(fix(i), NIL);
        assert!(!kept.contains(&p), "handed out twice");
    }
    // Two thirds of the cells were free.
    assert_eq!(m.heap.bytes_in_use(), held);
    assert!(every_third.iter().enumerate().all(|(i, &p)| get(p, 0) == fix(3 * i as i64)));
}

#[test]
fn compiled_code_and_runtime_take_cells_in_turn() {
    let mut m = Mutator::new(HeapConfig { zeal: HeapConfig::zealous().zeal, ..config() });
    let mut seen = HashSet::new();
    let Allocation::FreeLists { largest } = MARKSWEEP.allocation else { panic!() };
    for i in 0..20_000u64 {
        let list = FreeList((i % (largest / 16 + 1)) as u8);
        let a = m.pop(list);
        let bytes = MARKSWEEP.cell_bytes(list);
        // A vector that fills the cell, or a pair.
        if list.is_of_pairs() {
            put(a, 0, NIL);
            put(a, 1, NIL);
        } else {
            put(a, 0, cairn_layout::object::header(cairn_layout::object::Type::Vector, 0, bytes / 8 - 1));
            (1..bytes / 8).for_each(|k| put(a, k, NIL));
        }
        let other = m.vector(i % 60, NIL) & !7;
        for (start, bytes) in [(a, bytes), (other, 8 * (i % 60 + 1).max(2))] {
            assert!((0..bytes / 8).all(|k| seen.insert(start + 8 * k)), "{start:#x} overlaps");
        }
        if i % 4096 == 0 {
            m.roots.words.push(other | TAG_OBJECT);
            m.verify();
        }
    }
}

#[test]
fn leaves_are_never_looked_into() {
    let mut m = Mutator::new(config());
    for n in [2, 100, 5_000] {
        let p = m.cons(fix(1), NIL);
        let s = m.blank_string(n);
        put(s & !7, 1, p);
        m.roots.words = vec![s];
        m.roots.weak = vec![Some(p), Some(s)];
        m.major();
        assert_eq!(m.roots.weak, [None, Some(s)], "a string of {n}");
    }
}

/// Many stacks of sixteen references are too small for these.
#[test]
fn deep_and_wide_graphs_fit_small_stacks() {
    for config in [threads(1), threads(3), HeapConfig { mark_stack: 16, ..threads(1) }, {
        HeapConfig { mark_stack: 16, ..threads(3) }
    }] {
        let mut m = Mutator::new(config.clone());
        let n = 300_000;
        let by_cdr = m.list(n).unwrap();
        let mut by_car = NIL;
        m.roots.words = vec![by_cdr, NIL, NIL];
        for i in 0..n {
            m.check(16).unwrap();
            by_car = m.inline_cons(m.roots.words[1], fix(i));
            m.roots.words[1] = by_car;
        }
        let wide = m.vector(n as u64, NIL);
        m.roots.words[2] = wide;
        for i in 0..n as u64 {
            m.check(16).unwrap();
            let p = m.inline_cons(fix(i as i64), NIL);
            let p = m.inline_cons(p, NIL);
            m.set(wide, i + 1, p);
        }
        m.major();
        m.major();
        let report = m.verify();
        assert_eq!(report.objects, 4 * n as u64 + 1);
        assert_eq!(m.heap.stats().overflows > 0, config.mark_stack == 16, "{config:?}");
        assert_list(m.roots.words[0], n);
        let mut p = by_car;
        for i in (0..n).rev() {
            assert_eq!(get(p, 1), fix(i));
            p = get(p, 0);
        }
        m.roots.words = vec![wide];
        m.major();
        assert_eq!(m.verify().objects, 2 * n as u64 + 1);
    }
}

#[test]
fn empty_blocks_go_back_at_once_and_others_when_their_cells_are_wanted() {
    let mut m = Mutator::new(config());
    let l = m.list(1_000_000).unwrap();
    m.roots.words = vec![l];
    let full = m.heap.bytes_in_use();
    assert!((16_000_000..16_200_000).contains(&full), "{full}");
    m.roots.words.clear();
    m.major();
    assert_eq!(m.heap.bytes_in_use(), 0);
    let first = m.vector(3, NIL);
    assert_eq!(m.heap.bytes_in_use(), 32 << 10, "blocks of pairs may hold vectors");
    m.roots.words = vec![first];
}

#[test]
fn out_of_memory_is_reported_and_can_be_overcome() {
    let mut m = Mutator::new(HeapConfig { heap_max: Some(8 << 20), ..config() });
    let e = m.list(600_000).unwrap_err();
    assert!(e.used > 7 << 20 && e.heap_max == 8 << 20, "{e:?}");
    m.roots.words.clear();
    let _ = m.heap.collect(&mut m.cursors, &mut m.roots, Request::Major);
    // Live data of 90 % of the maximum.
    let l = m.list(450_000).unwrap();
    m.roots.words = vec![l];
    for _ in 0..300_000 {
        m.check(16).unwrap();
        m.inline_cons(NIL, NIL);
    }
    assert_list(m.roots.words[0], 450_000);
    assert!(m.heap.bytes_in_use() <= 8 << 20);
    assert!(m.heap.stats().major < 60, "{} collections", m.heap.stats().major);
    for absurd in [1 << 30, 1 << 59] {
        assert!(m.try_alloc(absurd, cairn_heap::AllocKind::Leaf).is_err());
    }
}

/// All but one cell in 16 KB die, of ever larger sizes: the heap exceeds its maximum, but by a quarter at most, and
/// collections stay few.
#[test]
fn fragmentation_is_bounded() {
    let mut m = Mutator::new(HeapConfig { heap_max: Some(16 << 20), ..config() });
    for size in (1..60u64).step_by(2) {
        let each = (16 << 10) / (8 * size + 8);
        let first = m.roots.words.len();
        for _ in 0..128 * each {
            if m.check(8 * size + 8).is_err() {
                let (used, collections) = (m.heap.bytes_in_use(), m.heap.stats().major);
                assert!(used > 20 << 20 && used < 21 << 20, "{used}");
                assert!(size > 11 && collections < 200, "{collections} collections at {size}");
                return;
            }
            let v = m.vector(size, NIL);
            m.roots.words.push(v);
        }
        let kept: Vec<u64> = m.roots.words[first..].iter().copied().step_by(each as usize).collect();
        m.roots.words.truncate(first);
        m.roots.words.extend(kept);
    }
    panic!("there is no end to fragmentation");
}

#[test]
fn collections_come_when_the_heap_has_doubled() {
    let sizing = SizingConfig { min_limit: 1 << 20, growth: 2.0, generous: 0, large_young: 1 << 20 };
    let mut m = Mutator::new(HeapConfig { sizing, ..config() });
    let l = m.list(250_000).unwrap(); // 4 MB
    m.roots.words = vec![l];
    m.major();
    let before = m.heap.stats().major;
    // 32 MB of garbage, of all kinds.
    for i in 0..500_000 {
        m.check(64).unwrap();
        match i % 3 {
            0 => (0..3).fold(NIL, |l, _| m.inline_cons(NIL, l)),
            1 => m.vector(7, NIL),
            _ => m.blank_string(14),
        };
    }
    let n = m.heap.stats().major - before;
    assert!((6..=9).contains(&n), "{n} collections");
    // Large objects count, too.
    for _ in 0..32 {
        m.check(16).unwrap();
        m.blank_string(250_000);
    }
    let n = m.heap.stats().major - before - n;
    assert!((6..=9).contains(&n), "{n} collections");
}

#[test]
fn a_reference_to_the_middle_keeps_an_object_and_one_to_a_free_cell_nothing() {
    let mut m = AnyMutator::<true>::new(HeapConfig { zeal: HeapConfig::zealous().zeal, ..config() });
    let inner = m.cons(fix(5), NIL);
    let v = m.vector(100, inner);
    let dead = m.cons(v, inner);
    m.roots.weak = vec![Some(v), Some(inner), Some(dead)];
    m.roots.maybe = vec![(v & !7) + 777, v & !7 | 1, 3];
    m.major();
    assert_eq!(m.roots.weak, [Some(v), Some(inner), None]);
    // Its cell still holds both words, or poison; it is free, so they keep nothing.
    m.roots.maybe = vec![dead & !7];
    m.major();
    assert_eq!(m.roots.weak, [None, None, None]);
    assert_eq!(dead & 7, TAG_PAIR);
}
