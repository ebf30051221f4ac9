//! Typed cells in a heap of Scheme's objects: elements without headers, whose types their blocks know.
#![allow(unsafe_code, missing_docs)]

mod common;

use cairn_heap::{CellType, HeapConfig, SizingConfig, Zeal};
use common::*;

/// Four words: a reference, two raw words, a reference.
fn define(m: &mut Mutator) -> CellType {
    m.heap.define_cells(4, 0b1001)
}
fn cell(m: &mut Mutator, ty: CellType) -> u64 {
    m.heap.alloc_cell(&mut m.cursors, ty).unwrap() | 7
}

#[test]
fn cells_keep_what_their_type_says_and_nothing_else() {
    let mut m = Mutator::zealous();
    let ty = define(&mut m);
    let c = cell(&mut m, ty);
    assert!((0..4).all(|i| get(c, i) == 0), "cleared");
    m.roots.words = vec![c];
    for round in 0..12i64 {
        let (kept, lost) = (m.list(50 + round).unwrap(), m.cons(fix(1), NIL));
        m.set(c, round as u64 % 2 * 3, kept);
        // Looks like a reference, but is none: neither followed nor changed.
        put(c & !7, 1, lost);
        put(c & !7, 2, u64::MAX);
        if round % 3 == 2 {
            m.major()
        } else {
            m.minor()
        }
        assert_list(get(c, round as u64 % 2 * 3), 50 + round);
        assert_eq!((get(c, 1), get(c, 2)), (lost, u64::MAX));
        let lists = 50 + round + if round == 0 { 0 } else { 49 + round };
        assert_eq!(m.verify().objects, 1 + lists as u64);
    }
    assert_eq!(m.roots.words, [c], "cells do not move");
}

#[test]
fn initialising_a_cell_needs_no_barrier() {
    let mut m = Mutator::zealous();
    let ty = define(&mut m);
    let list = m.list(10).unwrap();
    // The second of its block, whose cards a collection has cleaned; and one that lies on two cards.
    m.roots.words = vec![cell(&mut m, ty), list];
    m.minor();
    for i in 0..40 {
        let list = m.list(i).unwrap();
        let c = cell(&mut m, ty);
        put(c & !7, 3, list);
        m.roots.words.push(c);
        m.minor();
        assert_list(get(c, 3), i);
    }
    m.verify();
}

#[test]
fn references_to_cells_from_everywhere() {
    let mut m = Mutator::new(HeapConfig {
        zeal: Zeal { evacuate: true, ..HeapConfig::zealous().zeal },
        ..HeapConfig::zealous()
    });
    let ty = define(&mut m);
    // A chain of cells, through pairs, vectors, other cells and a captured frame.
    let end = cell(&mut m, ty);
    put(end & !7, 0, fix(42));
    let a = cell(&mut m, ty);
    m.set(a, 3, end);
    let v = m.vector(2, a);
    let (chunk, _) = m.heap.alloc_chunk(200).unwrap();
    let b = cell(&mut m, ty);
    m.set(b, 0, v);
    put(chunk, 0, b);
    let k = m.continuation(chunk, 0, 1, NIL);
    let p = m.cons(NIL, k);
    let top = m.cons(p, NIL);
    m.roots.words = vec![top];
    for round in 0..6 {
        if round % 2 == 0 {
            m.minor()
        } else {
            m.major()
        }
        assert_eq!(m.verify().objects, 7);
        let k = get(get(m.roots.words[0], 0), 1);
        assert_eq!(get(get(k, 1), 0), b);
        assert_eq!(get(get(b, 0), 2), a);
        assert_eq!((get(a, 3), get(end, 0)), (end, fix(42)));
    }
}

#[test]
fn dead_cells_are_used_again_and_empty_blocks_go_back() {
    let config = HeapConfig {
        sizing: SizingConfig { min_limit: 1 << 20, growth: 1.5, generous: 0, large_young: 1 << 20 },
        nursery_bytes: 128 << 10,
        ..HeapConfig::default()
    };
    let mut m = Mutator::new(config);
    let types = [define(&mut m), m.heap.define_cells(2, 0b11), m.heap.define_cells(64, 1 << 63)];
    // Nothing but cells: they alone must bring collections about.
    m.roots.words = vec![NIL; 3];
    for i in 0..300_000 {
        m.check(16).unwrap();
        let ty = i % 3;
        let c = cell(&mut m, types[ty]);
        put(c & !7, 1, fix(i as i64));
        m.roots.words[ty] = c;
    }
    let s = m.heap.stats();
    assert!(s.allocated > 50 << 20 && s.peak < 4 << 20, "{s}");
    assert!(s.major > 20, "{s}");
    m.roots.words.clear();
    m.major();
    assert!(m.heap.bytes_in_use() <= 64 << 10, "{}", m.heap.bytes_in_use());
}

#[test]
fn the_checker_knows_cells() {
    let complaint = |spoil: fn(&mut Mutator, u64)| {
        let mut m = Mutator::zealous();
        let ty = define(&mut m);
        let c = cell(&mut m, ty);
        let other = cell(&mut m, ty);
        m.roots.words = vec![c, other];
        m.minor();
        m.verify();
        spoil(&mut m, c);
        let problems = m.heap.check(m.cursors, &mut m.roots).expect_err("the mistake went unnoticed");
        problems[0].what.clone()
    };
    assert!(complaint(|m, c| m.roots.words[0] = c + 8).contains("not the start of a cell"));
    assert!(complaint(|m, c| m.roots.words[0] = c + 64).contains("not the start of a cell"), "a free cell");
    assert!(complaint(|m, c| m.roots.words[0] = (c & !7) | 3).contains("the tag does not fit"));
    let clean = complaint(|m, c| {
        let p = m.cons(NIL, NIL);
        put(c & !7, 3, p);
    });
    assert!(clean.contains("card is clean"), "{clean}");
}

#[test]
fn a_heap_full_of_cells_is_an_error_and_goes_on() {
    let mut m = Mutator::new(HeapConfig { heap_max: Some(4 << 20), ..HeapConfig::zealous() });
    let ty = define(&mut m);
    m.roots.words = vec![NIL];
    let failed = (0..1_000_000).any(|_| {
        if m.check(16).is_err() {
            return true;
        }
        match m.heap.alloc_cell(&mut m.cursors, ty) {
            Ok(c) => {
                put(c, 3, m.roots.words[0]);
                m.roots.words[0] = c | 7;
                false
            }
            Err(_) => true,
        }
    });
    assert!(failed);
    m.roots.words[0] = NIL;
    m.major();
    let list = m.list(10_000).unwrap();
    assert_list(list, 10_000);
}
