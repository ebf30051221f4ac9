//! Heaps are values: two of them in one process, of different object models, know nothing of each other.
#![allow(unsafe_code, missing_docs)]

mod common;

use cairn_heap::{Address, CObjects, Client, Cursors, Heap, HeapConfig, Nature, Request, RootVisitor};
use common::*;

#[derive(Default)]
struct CRoots(Vec<u64>);

impl Client for CRoots {
    fn visit_roots<V: RootVisitor>(&mut self, v: &mut V) {
        unsafe { v.words(self.0.as_mut_ptr(), self.0.len()) }
    }
    fn trace_continuation<V: RootVisitor>(&mut self, _: Address, _: &mut V) {}
}

struct C {
    heap: Heap<CObjects>,
    cursors: Cursors,
    roots: CRoots,
    cons: Nature,
}

impl C {
    fn new() -> C {
        let mut model = CObjects::default();
        let cons = Nature::Typed(model.define(2, 0b10), 1);
        let mut heap = Heap::new(model, HeapConfig::zealous()).unwrap();
        let cursors = heap.current();
        C { heap, cursors, roots: CRoots::default(), cons }
    }
    /// A list of `0..n`: number, next.
    fn list(&mut self, n: u64) {
        let root = self.roots.0.len();
        self.roots.0.push(0);
        for i in (0..n).rev() {
            if self.cursors.room() < 2048 {
                self.heap.safepoint(&mut self.cursors, 2048, &mut self.roots).unwrap();
            }
            let a = self.heap.make(&mut self.cursors, self.cons).unwrap();
            put(a, 1, i);
            put(a, 2, self.roots.0[root]);
            self.roots.0[root] = a;
        }
    }
    fn assert_list(&self, mut list: u64, n: u64) {
        for i in 0..n {
            assert_eq!(get(list, 1), i);
            list = get(list, 2);
        }
        assert_eq!(list, 0);
    }
    fn collect(&mut self, request: Request) {
        self.heap.collect(&mut self.cursors, &mut self.roots, request).unwrap();
    }
}

#[test]
fn two_heaps_of_different_models_in_one_process() {
    let (mut m, mut c) = (Mutator::zealous(), C::new());
    let mut events = (0, 0);
    for round in 0..30i64 {
        let l = m.list(1000 + round).unwrap();
        m.roots.words.push(l);
        c.list(500 + round as u64);
        // References into the other heap are foreign: neither followed nor changed.
        let foreign = c.roots.0[round as usize];
        assert!(c.heap.contains(foreign) && !m.heap.contains(foreign));
        let holder = m.vector(1, fix(0));
        put(holder & !7, 1, foreign | 7);
        m.roots.words.push(holder);
        c.collect(if round % 3 == 0 { Request::Major } else { Request::Minor });
        let held = get(m.roots.words[2 * round as usize + 1], 1);
        assert_eq!(held, foreign | 7);
        m.collect(if round % 4 == 0 { Request::Major } else { Request::Minor });
        assert_eq!(get(m.roots.words[2 * round as usize + 1], 1), foreign | 7);
        events = (m.heap.stats().minor, c.heap.stats().minor);
    }
    assert!(events.0 >= 20 && events.1 >= 20, "{events:?}");
    for round in 0..30i64 {
        assert_list(m.roots.words[2 * round as usize], 1000 + round);
        c.assert_list(c.roots.0[round as usize], 500 + round as u64);
    }
    assert_eq!(m.verify().objects, (0..30).map(|r| 1000 + r + 1).sum::<u64>());
    assert_eq!(c.heap.check(c.cursors, &mut c.roots).unwrap().objects, (0..30).map(|r| 500 + r).sum::<u64>());
    // One ends, the other goes on.
    drop(m);
    c.collect(Request::Major);
    c.assert_list(c.roots.0[29], 529);
}

#[test]
fn heaps_in_threads_of_their_own() {
    std::thread::scope(|s| {
        for n in 0..3u64 {
            s.spawn(move || {
                let mut c = C::new();
                (0..20).for_each(|_| c.list(2_000 + n));
                c.collect(Request::Major);
                c.roots.0.iter().for_each(|&l| c.assert_list(l, 2_000 + n));
            });
            s.spawn(move || {
                let mut m = Mutator::zealous();
                let l = m.list(20_000).unwrap();
                m.roots.words.push(l);
                m.major();
                assert_list(m.roots.words[0], 20_000);
            });
        }
    });
}
