//! Weak objects, guardians and handles, of Scheme's and C's objects.
#![allow(unsafe_code, missing_docs)]

mod common;

use cairn_heap::{
    Address, AllocKind, CObjects, Client, Heap, HeapConfig, Nature, Request, RootVisitor, WeakHandle, WeakKind,
};
use cairn_layout::Value;
use cairn_layout::collector::{Ambiguity, COLLECTORS, CollectorFacts};
use cairn_layout::object::{Type, header, object_bytes};
use cairn_layout::value::TAG_OBJECT;
use common::*;
use std::collections::HashMap;
use std::time::Instant;

const BROKEN: u64 = Value::BROKEN.0;

trait WeakMutator {
    fn weak(&mut self, kind: WeakKind, words: &[u64]) -> u64;
    fn weak_set(&mut self, weak: u64, i: usize, x: u64);
}

impl WeakMutator for Mutator {
    fn weak(&mut self, kind: WeakKind, words: &[u64]) -> u64 {
        let h = header(Type::Weak, kind as u8, words.len() as u64);
        let a = self.try_alloc(object_bytes(h), AllocKind::Leaf).unwrap();
        put(a, 0, h);
        words.iter().enumerate().for_each(|(i, w)| put(a, i as u64 + 1, *w));
        self.heap.made_weak(a | TAG_OBJECT, words.len() as u32, kind);
        a | TAG_OBJECT
    }
    fn weak_set(&mut self, weak: u64, i: usize, x: u64) {
        self.set(weak, i as u64 + 1, x);
        let h = get(weak, 0) >> 8;
        self.heap.stored_weak(weak, (h >> 8) as u32, WeakKind::ALL[h as usize & 3]);
    }
}

/// Milliseconds that two collections take when `n` ephemerons hang together, each by the key in the datum before.
fn chain(n: usize, request: Request, order: impl Fn(usize) -> usize) -> f64 {
    let mut m =
        Mutator::new(HeapConfig { heap_max: Some(1 << 30), nursery_bytes: 512 << 20, ..HeapConfig::default() });
    let keys: Vec<u64> = (0..n).map(|i| m.cons(fix(i as i64), NIL)).collect();
    let all = m.vector(n as u64, NIL);
    for i in (0..n).map(order) {
        let datum = if i + 1 < n { m.vector(2, keys[i + 1]) } else { NIL };
        let e = m.weak(WeakKind::Ephemerons, &[keys[i], datum]);
        m.set(all, i as u64 + 1, e);
    }
    m.roots.words = vec![keys[0], all];
    let began = Instant::now();
    m.collect(request);
    m.collect(request);
    let time = began.elapsed().as_secs_f64() * 1e3;
    let [first, all] = m.roots.words[..] else { panic!() };
    assert_eq!(get(get(all, 1), 1), first);
    for i in 0..n as u64 {
        let e = get(all, i + 1);
        assert_eq!(get(get(e, 1), 0), fix(i as i64));
        if i + 1 < n as u64 {
            assert_eq!(get(get(e, 2), 1), get(get(all, i + 2), 1));
        }
    }
    m.roots.words[0] = NIL;
    m.major();
    let all = m.roots.words[1];
    assert!((1..=n as u64).all(|i| get(get(all, i), 1) == BROKEN && get(get(all, i), 2) == BROKEN));
    time
}

#[test]
fn a_chain_of_ephemerons_takes_linear_time() {
    const N: usize = 100_000;
    // Were each found by looking at all of them, this would take many minutes.
    for request in [Request::Minor, Request::Major] {
        let backwards = chain(N, request, |i| N - 1 - i);
        let shuffled = chain(N, request, |i| i * 7919 % N);
        assert!(backwards < 20_000.0 && shuffled < 20_000.0, "{backwards} ms, {shuffled} ms");
    }
}

#[test]
fn old_weak_objects_may_refer_to_young_ones() {
    let mut m = Mutator::zealous();
    let live = m.cons(fix(1), NIL);
    let words = vec![fix(0); 1000];
    m.roots.words = vec![live];
    for kind in WeakKind::ALL {
        let w = m.weak(kind, &words);
        m.roots.words.push(w);
    }
    m.major();
    for round in 0..20 {
        for at in [0, 1, 31, 62, 63, 64, 65, 126, 511, 998].map(|i| (i + 2 * round) % 998) {
            let live = m.roots.words[0];
            let (key, datum) = (m.cons(fix(2), live), m.cons(fix(3), live));
            let at = at / 2 * 2;
            for k in 0..4 {
                let w = m.roots.words[k + 1];
                m.weak_set(w, at, if round % 2 == 0 { live } else { key });
                m.weak_set(w, at + 1, datum);
            }
            m.collect(if round % 5 == 4 { Request::Major } else { Request::Minor });
            let [live, references, ephemerons, by_value, both] = m.roots.words[..] else { panic!() };
            let pair = |w: u64| (get(w, at as u64 + 1), get(w, at as u64 + 2));
            let pairs = [references, ephemerons, by_value, both].map(pair);
            if round % 2 == 0 {
                assert_eq!((pairs[0].0, get(pairs[0].1, 1)), (live, live), "the ephemeron has kept the datum");
                assert!(pairs.iter().all(|p| *p == pairs[0]));
            } else {
                assert!(pairs.iter().all(|p| *p == (BROKEN, BROKEN)));
            }
            m.verify();
        }
    }
}

#[test]
fn guardians_get_back_what_would_die_and_nothing_else() {
    let mut m = Mutator::zealous();
    let guardian = m.cons(NIL, NIL);
    let live = m.cons(fix(0), NIL);
    m.roots.words = vec![guardian, live];
    let (a, b) = (m.cons(fix(1), NIL), m.cons(fix(2), NIL));
    m.set(a, 1, b);
    let dead_guardian = m.cons(NIL, NIL);
    // A guardian that only a guarded object refers to.
    let inner = m.cons(NIL, NIL);
    let holder = m.cons(fix(3), inner);
    let innermost = m.cons(fix(4), NIL);
    let lost = m.cons(fix(5), NIL);
    for x in [a, b, live, holder] {
        m.heap.guard(x, x, guardian);
    }
    m.heap.guard(innermost, fix(44), inner);
    m.heap.guard(lost, lost, dead_guardian);
    let weak = m.weak(WeakKind::References, &[a, lost]);
    m.roots.words.push(weak);
    m.minor();
    let back = m.heap.take_given_back();
    let guardian = m.roots.words[0];
    let numbers: Vec<(bool, u64)> = back.iter().map(|g| (g.guardian == guardian, get(g.object, 0))).collect();
    assert_eq!(numbers, [(true, fix(1)), (true, fix(2)), (true, fix(3)), (false, fix(4))]);
    assert_eq!(back[0].companion, back[0].object);
    assert_eq!(get(back[0].object, 1), back[1].object);
    assert_eq!(back[3].companion, fix(44));
    assert_eq!(get(back[2].object, 1), back[3].guardian);
    let weak = m.roots.words[2];
    assert_eq!((get(weak, 1), get(weak, 2)), (back[0].object, BROKEN));
    m.major();
    assert!(m.heap.take_given_back().is_empty(), "each comes back once");
    assert_eq!(get(m.roots.words[2], 1), BROKEN);
    m.roots.words[1] = NIL;
    m.minor();
    assert!(m.heap.take_given_back().is_empty(), "it is old");
    m.major();
    // Until somebody takes it, it lives.
    m.minor();
    m.major();
    let back = m.heap.take_given_back();
    assert_eq!((back.len(), get(back[0].object, 0)), (1, fix(0)));
}

#[test]
fn random_weak_objects_agree_with_a_model() {
    // Objects by number; strong references of the roots; ephemerons (key, datum): an object is alive if a root or a
    // living ephemeron with a living key reaches it. Objects refer to one another, too.
    for seed in 1..40 {
        let mut r = Random(seed * 77_777);
        let mut m = Mutator::zealous();
        let n = 40;
        let objects: Vec<u64> = (0..n).map(|i| m.vector(2, fix(i))).collect();
        let mut refers: Vec<Option<usize>> = vec![None; n as usize];
        for i in 0..n as usize {
            if r.below(2) == 0 {
                let j = r.below(n as u64) as usize;
                m.set(objects[i], 2, objects[j]);
                refers[i] = Some(j);
            }
        }
        let mut pairs = Vec::new();
        let all = m.vector(60, NIL);
        for k in 0..60 {
            let (key, datum) = (r.below(n as u64) as usize, r.below(n as u64) as usize);
            let e = m.weak(WeakKind::Ephemerons, &[objects[key], objects[datum]]);
            m.set(all, k + 1, e);
            pairs.push((key, datum));
        }
        let rooted: Vec<usize> = (0..3).map(|_| r.below(n as u64) as usize).collect();
        m.roots.words = rooted.iter().map(|i| objects[*i]).collect();
        m.roots.words.push(all);
        let mut alive = vec![false; n as usize];
        let mut todo = rooted.clone();
        loop {
            while let Some(i) = todo.pop() {
                if !std::mem::replace(&mut alive[i], true) {
                    todo.extend(refers[i]);
                }
            }
            todo.extend(pairs.iter().filter(|(k, d)| alive[*k] && !alive[*d]).map(|(_, d)| *d));
            if todo.is_empty() {
                break;
            }
        }
        m.collect(if seed % 2 == 0 { Request::Minor } else { Request::Major });
        m.verify();
        let all = *m.roots.words.last().unwrap();
        let mut seen: HashMap<usize, u64> = HashMap::new();
        for (k, (key, datum)) in pairs.iter().enumerate() {
            let e = get(all, k as u64 + 1);
            if alive[*key] {
                for (i, w) in [(key, get(e, 1)), (datum, get(e, 2))] {
                    assert_eq!(get(w, 1), fix(*i as i64));
                    assert_eq!(*seen.entry(*i).or_insert(w), w, "one object stays one");
                }
            } else {
                assert_eq!((get(e, 1), get(e, 2)), (BROKEN, BROKEN), "seed {seed}: ephemeron {k}");
            }
        }
    }
}

struct Pointers(Vec<u64>);

impl Client for Pointers {
    fn visit_roots<V: RootVisitor>(&mut self, v: &mut V) {
        unsafe { v.words(self.0.as_mut_ptr(), self.0.len()) }
    }
    fn trace_continuation<V: RootVisitor>(&mut self, _: Address, _: &mut V) {}
}

#[test]
fn c_objects_have_weak_handles_guardians_and_ephemerons() {
    for collector in COLLECTORS.iter().filter(|c| c.ambiguity == Ambiguity::Words) {
        c_objects_under(collector);
    }
}

fn c_objects_under(collector: &'static CollectorFacts) {
    let mut model = CObjects::default();
    let node = Nature::Typed(model.define(2, 0b10), 1);
    let mut heap = Heap::new(model, HeapConfig { collector, ..HeapConfig::default() }).unwrap();
    let mut cursors = heap.current();
    let [first, second, third, guardian] = [(); 4].map(|()| heap.make(&mut cursors, node).unwrap());
    let ephemeron = heap.make(&mut cursors, Nature::Atomic(32)).unwrap();
    for (a, n) in [(first, 1), (second, 2), (third, 3), (guardian, 4)] {
        put(a, 1, n);
    }
    for (i, x) in [first, third, second, third].into_iter().enumerate() {
        put(ephemeron, i as u64 + 1, x);
    }
    heap.made_weak(ephemeron, 4, WeakKind::Ephemerons);
    heap.guard(second, second, guardian);
    let handles: Vec<WeakHandle> = [first, second, third].map(|x| heap.make_weak_handle(x)).to_vec();
    let mut roots = Pointers(vec![first, guardian, ephemeron]);
    for request in [Request::Minor, Request::Major] {
        heap.collect(&mut cursors, &mut roots, request).unwrap();
        let value = |h: WeakHandle| heap.weak_handle(h).map(|a| get(a, 1));
        if request == Request::Minor {
            assert_eq!(handles.iter().map(|h| value(*h)).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
            let back = heap.take_given_back();
            assert_eq!((back.len(), back[0].guardian, get(back[0].object, 1)), (1, roots.0[1], 2));
        } else {
            assert_eq!(handles.iter().map(|h| value(*h)).collect::<Vec<_>>(), [Some(1), None, Some(3)]);
            let words: Vec<u64> = (1..5).map(|i| get(roots.0[2], i)).collect();
            assert_eq!((words[0], get(words[1], 1)), (roots.0[0], 3));
            assert_eq!(words[2..], [0, 0]);
        }
    }
    roots.0[0] = 0;
    heap.collect(&mut cursors, &mut roots, Request::Major).unwrap();
    assert!(handles.iter().all(|h| heap.weak_handle(*h).is_none()));
    heap.free_weak_handle(handles[0]);
    assert_eq!(heap.make_weak_handle(roots.0[1]), handles[0]);
}
