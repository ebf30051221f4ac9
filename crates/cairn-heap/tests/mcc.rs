//! `mcc`, stage by stage: what is pinned, promoted, copied, freed and made a hole.
#![allow(unsafe_code, missing_docs)]

mod common;

use cairn_heap::{
    AllocKind, CObjects, Cursors, Heap, HeapConfig, LayoutId, Nature, Proposals, Request, Scheme, Stats, Zeal,
};
use cairn_layout::collector::MCC;
use cairn_layout::value::TAG_PAIR;
use common::{AmbiguousRoots, AnyMutator, NIL, Random, assert_list, fix, get, put};

fn config(page_bytes: u64) -> HeapConfig {
    HeapConfig { collector: &MCC, page_bytes, ..HeapConfig::zealous() }
}

struct C {
    heap: Heap<CObjects>,
    cursors: Cursors,
    roots: AmbiguousRoots,
    /// A number, then a reference.
    node: LayoutId,
}

impl C {
    fn new(config: HeapConfig) -> C {
        let mut model = CObjects::default();
        let node = model.define(2, 0b10);
        let mut heap = Heap::new(model, config).unwrap();
        let cursors = heap.current();
        C { heap, cursors, roots: AmbiguousRoots::default(), node }
    }
    fn make(&mut self, nature: Nature) -> u64 {
        self.heap.make(&mut self.cursors, nature).unwrap()
    }
    fn node(&mut self, number: u64, next: u64) -> u64 {
        let a = self.make(Nature::Typed(self.node, 1));
        put(a, 1, number);
        put(a, 2, next);
        a
    }
    fn collect(&mut self) -> Stats {
        self.heap.collect(&mut self.cursors, &mut self.roots, Request::Major).unwrap();
        self.verify();
        self.heap.stats()
    }
    fn verify(&mut self) -> u64 {
        match self.heap.check(self.cursors, &mut self.roots) {
            Ok(r) => r.objects,
            Err(p) => panic!("{}", p.iter().map(|p| format!("{p}\n")).collect::<String>()),
        }
    }
}

#[test]
fn what_no_quasi_pointer_refers_to_is_copied() {
    for page_bytes in [2 << 10, 32 << 10] {
        let mut c = C::new(config(page_bytes));
        let mut list = 0;
        for i in 0..1000 {
            list = c.node(i, list);
        }
        c.roots.words = vec![list];
        let s = c.collect();
        assert_eq!((s.pinned, s.mostly_copying.promoted_pages, s.copied), (0, 0, 24_000));
        assert_ne!(c.roots.words[0], list);
        assert_eq!(c.verify(), 1000);
    }
}

#[test]
fn the_page_of_a_pinned_object_is_promoted_and_everything_live_on_it_stays() {
    let mut c = C::new(config(2 << 10));
    // Three hundred nodes: pages of 85 each.
    let nodes: Vec<u64> = (0..300).map(|i| c.node(i, 0)).collect();
    c.roots.words = nodes.clone();
    // Into the middle of one.
    c.roots.maybe = vec![nodes[150] + 17];
    let s = c.collect();
    assert_eq!((s.mostly_copying.roots, s.mostly_copying.promoted_pages), (1, 1));
    let page = |a: u64| a / 2048;
    for (i, (old, new)) in nodes.iter().zip(c.roots.words.clone()).enumerate() {
        assert_eq!(*old == new, page(*old) == page(nodes[150]), "node {i}");
        assert_eq!(get(new, 1), i as u64);
    }
    let neighbours = nodes.iter().filter(|a| page(**a) == page(nodes[150])).count() as u64;
    assert!(neighbours > 60);
    assert_eq!((s.pinned, s.mostly_copying.pinned_bytes), (neighbours, 24 * neighbours));
    assert_eq!(s.mostly_copying.holes, 0, "all of them live");
}

#[test]
fn an_object_copied_before_its_page_is_promoted_leaves_a_hole() {
    let mut c = C::new(config(2 << 10));
    // The untyped object is only reached after `early` has been copied off the page of `late`.
    let early = c.node(1, 0);
    let late = c.node(2, 0);
    let untyped = c.make(Nature::Untyped(2));
    put(untyped, 1, late);
    let far = c.node(3, untyped);
    c.roots.words = vec![early, far];
    let s = c.collect();
    let [early_now, far_now] = c.roots.words[..] else { panic!() };
    assert!(early_now != early && far_now != far);
    assert_eq!(get(far_now, 2), untyped, "untyped objects never move");
    assert_eq!(get(untyped, 1), late, "its words are never changed");
    assert_eq!((get(late, 1), get(early_now, 1)), (2, 1));
    assert_eq!((s.pinned, s.mostly_copying.promoted_pages), (2, 1));
    assert!(s.mostly_copying.holes >= 24 * 2);
}

#[test]
fn no_quasi_pointer_revives_what_was_swept() {
    let mut c = C::new(config(2 << 10));
    // A dead object refers to one that dies, and moves.
    let victim = c.node(7, 0);
    let filler: Vec<u64> = (0..200).map(|i| c.node(i, 0)).collect();
    let dead = c.node(8, victim);
    let kept = c.node(9, 0);
    c.roots.maybe = vec![kept];
    let s = c.collect();
    assert_eq!(s.pinned, 1);
    assert!(s.mostly_copying.holes > 0 && filler.len() == 200);
    assert_eq!(dead / 2048, kept / 2048, "they share a page");
    // Now a word refers to the dead one: nothing is found there.
    for byte in 0..24 {
        c.roots.maybe = vec![kept, dead + byte];
        let s = c.collect();
        assert_eq!(c.verify(), 1, "byte {byte}");
        assert_eq!((get(kept, 1), s.mostly_copying.roots), (9, 2 + byte));
    }
}

#[test]
fn holes_go_with_the_next_collection() {
    let mut c = C::new(config(2 << 10));
    let nodes: Vec<u64> = (0..4000).map(|i| c.node(i, 0)).collect();
    // One node of each page.
    c.roots.words = nodes.iter().copied().step_by(80).collect();
    c.roots.maybe = c.roots.words.clone();
    let s = c.collect();
    assert_eq!(s.pinned, 50);
    assert!(s.mostly_copying.promoted_pages >= 46, "{s}");
    let held = c.heap.bytes_in_use();
    c.roots.maybe.clear();
    let s = c.collect();
    assert_eq!((s.pinned, s.copied), (50, 50 * 24), "nothing pins them any longer");
    assert!(c.heap.bytes_in_use() < held / 2, "{} of {held}", c.heap.bytes_in_use());
}

#[test]
fn untyped_objects_never_move_and_what_dead_ones_refer_to_stays_a_while() {
    let mut c = C::new(config(2 << 10));
    let target = c.node(5, 0);
    let untyped = c.make(Nature::Untyped(3));
    put(untyped, 2, target + 8);
    c.roots.words = vec![untyped];
    let s = c.collect();
    assert_eq!(c.roots.words[0], untyped, "whoever holds its address need not tell");
    assert_eq!((get(untyped, 2), s.pinned), (target + 8, 2));
    // Both die; the words of the dead one are looked at in the pin stage, but nothing is kept for them.
    c.roots.words.clear();
    let tested = s.mostly_copying.tested;
    let s = c.collect();
    assert_eq!((s.pinned, s.mostly_copying.tested), (2, tested + 1));
    assert_eq!(c.verify(), 0);
    assert!(c.heap.bytes_in_use() <= 64 << 10);
}

#[test]
fn cycles_of_typed_and_untyped_objects_die() {
    let mut c = C::new(config(32 << 10));
    for _ in 0..100 {
        let node = c.node(1, 0);
        let untyped = c.make(Nature::Untyped(2));
        put(untyped, 1, node);
        put(node, 2, untyped);
    }
    c.collect();
    assert_eq!(c.verify(), 0);
    assert!(c.heap.bytes_in_use() <= 64 << 10);
}

/// A heap of chains of typed and untyped objects, some of them pinned by words into their middle; the same random work
/// for all. What it costs to find the quasi-pointers, what is held, and the numbers at the end of each chain.
fn work(proposals: Proposals, page_bytes: u64) -> (Stats, u64, Vec<u64>) {
    let mut c = C::new(HeapConfig { proposals, ..config(page_bytes) });
    let mut r = Random(42);
    let mut last = Vec::new();
    c.roots.words = vec![0; 50];
    for round in 0..40 {
        for i in 0..50 {
            if c.cursors.room() < 2000 {
                c.heap.safepoint(&mut c.cursors, 2000, &mut c.roots).unwrap();
            }
            let head = c.node(1000 * round + i, 0);
            let untyped = c.make(Nature::Untyped(3));
            put(untyped, 2, head + r.below(24));
            let atomic = c.make(Nature::Atomic(1 + r.below(20)));
            let second = c.node(i, untyped);
            if r.below(3) == 0 {
                c.roots.words[i as usize] = second;
            }
            if r.below(8) == 0 {
                c.roots.maybe.push(second + r.below(24));
                c.roots.maybe.push(atomic + r.below(16));
            }
        }
        if round % 4 == 3 {
            c.roots.maybe.drain(..c.roots.maybe.len() / 2);
        }
        c.collect();
    }
    for second in &c.roots.words {
        last.push(get(*second, 1));
        let word = get(get(*second, 2), 2);
        last.push(get(word - word % 8, 0) & 1);
    }
    last.push(c.verify());
    (c.heap.stats(), c.heap.bytes_in_use(), last)
}

#[test]
fn proposals_of_the_paper_change_the_work_but_not_what_lives() {
    for page_bytes in [2 << 10, 32 << 10] {
        let (faithful, held, expected) = work(Proposals::default(), page_bytes);
        for bits in 1..8 {
            let on = |bit: u32| bits >> bit & 1 != 0;
            let proposals = Proposals { batched: on(0), start_bits: on(1), reuse_holes: on(2) };
            let (s, now_held, found) = work(proposals, page_bytes);
            let m = &s.mostly_copying;
            // Where objects lie decides which pages are promoted, but not what is alive.
            assert_eq!(found.last(), expected.last(), "{proposals:?}");
            assert_eq!(found[..100], expected[..100], "{proposals:?}");
            if !proposals.reuse_holes {
                assert_eq!(
                    (s.pinned, m.promoted_pages),
                    (faithful.pinned, faithful.mostly_copying.promoted_pages)
                );
                assert_eq!(now_held, held);
            }
            let walked = m.walked as f64 / faithful.mostly_copying.walked as f64;
            match (proposals.batched, proposals.start_bits) {
                (false, false) => {}
                (true, false) => assert!(walked < 0.9, "{proposals:?}: {walked}"),
                (_, true) => assert!(walked < 0.6, "{proposals:?}: {walked}"),
            }
            assert_eq!(m.refilled > 0, proposals.reuse_holes, "{proposals:?}");
        }
    }
}

#[test]
fn large_objects_and_cells_are_found_by_quasi_pointers_too() {
    let mut c = C::new(config(2 << 10));
    let small = c.node(1, 0);
    let large = c.make(Nature::Untyped(5000));
    put(large, 4000, small);
    let cells = c.heap.define_cells(4, 0b1);
    let cell = c.heap.alloc_cell(&mut c.cursors, cells).unwrap();
    let other = c.node(2, 0);
    put(cell, 0, other);
    c.roots.maybe = vec![large + 20_000, cell + 25];
    for _ in 0..3 {
        c.collect();
        assert_eq!(c.verify(), 4);
        assert_eq!((get(get(large, 4000), 1), get(get(cell, 0), 1)), (1, 2));
    }
    assert!(get(cell, 0) != other && get(large, 4000) == small);
    c.roots.maybe.clear();
    c.collect();
    assert_eq!(c.verify(), 0);
}

#[test]
fn a_collection_comes_when_two_thirds_of_the_heap_are_full() {
    for (bytes, page_bytes) in [(3 << 20, 2 << 10), (12 << 20, 32 << 10)] {
        let mut m: AnyMutator<true> = AnyMutator::new(HeapConfig {
            heap_max: Some(bytes),
            fixed_heap: true,
            zeal: Zeal::default(),
            ..config(page_bytes)
        });
        for _ in 0..10 {
            let before = m.heap.stats();
            while m.heap.stats().major == before.major {
                m.plain_check(16).unwrap();
                m.inline_cons(NIL, NIL);
            }
            let allocated = m.heap.stats().allocated - before.allocated;
            let share = allocated as f64 / bytes as f64;
            assert!((0.6..=0.67).contains(&share), "{share} of {bytes}");
        }
    }
}

#[test]
fn the_runtime_gets_no_page_beyond_the_limit() {
    let limit = 2 << 20;
    let mut m: AnyMutator<true> =
        AnyMutator::new(HeapConfig { heap_max: Some(limit), zeal: Zeal::default(), ..config(32 << 10) });
    // Everything lives, so that no collection helps.
    let mut l = NIL;
    let mut bytes = 0;
    while let Ok(a) = m.try_alloc(16, AllocKind::Pair) {
        put(a, 0, fix(1));
        put(a, 1, l);
        l = a | TAG_PAIR;
        bytes += 24;
        if bytes % (64 << 10) == 0 {
            m.roots.words = vec![l];
            let _ = m.heap.collect(&mut m.cursors, &mut m.roots, Request::Major);
            l = m.roots.words[0];
        }
        assert!(bytes <= 2 * limit, "{bytes} bytes in a heap of {limit}");
    }
    assert!(bytes > limit / 2, "{bytes} bytes are too few");
}

/// Lists, numbers and words that seem to point at them: the lists are whole whatever is pinned.
#[test]
fn deep_recursion_as_knuth_bendix_has_it() {
    for page_bytes in [2 << 10, 32 << 10] {
        let mut m: AnyMutator<true> = AnyMutator::new(config(page_bytes));
        let mut r = Random(page_bytes);
        let mut lists = Vec::new();
        for i in 0..60 {
            let l = m.list(50 + i).unwrap();
            // As a word of a stack: precisely known, or not.
            if r.below(2) == 0 {
                m.roots.maybe.push(l + r.below(8));
                lists.push((l, 50 + i));
            } else {
                m.roots.words.push(l);
            }
            assert_list(l, 50 + i);
        }
        m.major();
        lists.iter().for_each(|(l, n)| assert_list(*l, *n));
        let s = m.heap.stats();
        assert!(s.pinned >= lists.len() as u64 && s.mostly_copying.promoted_pages > 3, "{s}");
        assert!(s.to_string().contains("promoted pages"), "{s}");
    }
}

#[test]
fn objects_longer_than_a_page_get_a_longer_one() {
    let mut m: AnyMutator<true> = AnyMutator::new(config(512));
    let vectors: Vec<u64> = (0..40).map(|i| m.vector(60 + 20 * i, fix(i as i64))).collect();
    m.roots.words = vectors.clone();
    m.roots.maybe = vec![(vectors[20] & !7) + 3000];
    for _ in 0..3 {
        m.major();
        for (i, v) in m.roots.words.iter().enumerate() {
            assert!((1..=60 + 20 * i as u64).all(|k| get(*v, k) == fix(i as i64)), "vector {i}");
        }
        assert_eq!(m.roots.words[20], vectors[20]);
        m.verify();
    }
    let _: &Heap<Scheme> = &m.heap;
}

#[test]
fn an_object_of_the_runtimes_own_page_is_not_taken_for_the_last_of_compiled_code() {
    // Every extent is as large as asked for, so a page of the runtime is full with one object; pages are neighbours.
    let zeal = Zeal { every_safepoint: true, ..Zeal::default() };
    let mut m: AnyMutator<false> = AnyMutator::new(HeapConfig { zeal, ..config(512) });
    for _ in 0..200 {
        m.heap.safepoint(&mut m.cursors, 512, &mut m.roots).unwrap();
        let s = m.blank_string(126);
        assert_eq!(m.heap.shrink(&mut m.cursors, s & !7, 512, 16), None);
    }
}
