//! Samples of allocation and censuses: what lives, and which code made it.
#![allow(unsafe_code, missing_docs)]

mod common;

use cairn_heap::{HeapConfig, Scheme, Zeal};
use cairn_layout::object::{Type, header, object_bytes};
use cairn_layout::value::TAG_OBJECT;
use common::*;
use std::collections::HashMap;

/// A mutator that is sampled: code says where it is in `tag`.
struct Sampled {
    m: Mutator,
    tag: &'static mut u64,
}

impl Sampled {
    fn new(config: HeapConfig) -> Sampled {
        let tag: *mut u64 = Box::into_raw(Box::new(0));
        let mut m = Mutator::new(config);
        unsafe { m.heap.sample_allocation(&mut m.cursors, tag, 4 << 10) };
        Sampled { m, tag: unsafe { &mut *tag } }
    }
    /// Code number `tag` checks for room: only its slow path says where it is.
    fn check(&mut self, tag: u64, bytes: u64) {
        *self.tag = tag;
        self.m.plain_check(bytes).unwrap();
        *self.tag = 0;
    }
    fn cons(&mut self, tag: u64, car: u64, cdr: usize) -> u64 {
        self.check(tag, 16);
        self.m.inline_cons(car, self.m.roots.words[cdr])
    }
    fn vector(&mut self, tag: u64, n: u64) -> u64 {
        let h = header(Type::Vector, 0, n);
        self.check(tag, object_bytes(h));
        self.m.cursors.hi -= object_bytes(h);
        put(self.m.cursors.hi, 0, h);
        (1..=n).for_each(|i| put(self.m.cursors.hi, i, fix(1)));
        self.m.cursors.hi | TAG_OBJECT
    }
    fn string(&mut self, tag: u64, n: u64) -> u64 {
        *self.tag = tag;
        let s = self.m.blank_string(n);
        *self.tag = 0;
        s
    }
    /// What samples say about live bytes, by tag, and how many there are.
    fn estimates(&mut self) -> (HashMap<u64, u64>, usize) {
        let samples = unsafe { self.m.heap.samples(self.m.cursors) }.to_vec();
        let census = self.m.heap.census(&mut self.m.roots, |_, _| {}).unwrap();
        let mut by_tag = HashMap::new();
        let live = samples.iter().filter(|s| census.has_met::<Scheme>(s.word));
        live.for_each(|s| *by_tag.entry(s.tag).or_default() += s.weight);
        (by_tag, samples.len())
    }
    fn census(&mut self) -> (u64, u64) {
        let (mut objects, mut bytes) = (0, 0);
        let count = |_, b| (objects, bytes) = (objects + 1, bytes + b);
        self.m.heap.census(&mut self.m.roots, count).unwrap();
        (objects, bytes)
    }
}

const RING: usize = 20_000;

/// A list that lives, vectors and strings that live for a while, garbage.
fn work(s: &mut Sampled, rounds: usize) {
    s.m.roots.words = vec![NIL; 1 + 2 * RING];
    for i in 0..rounds {
        s.m.roots.words[0] = s.cons(1, fix(i as i64), 0);
        s.m.roots.words[1 + i % RING] = s.vector(2, 5);
        s.cons(3, NIL, 0);
        s.m.roots.words[1 + RING + i % RING] = s.string(4, 20);
    }
}

#[test]
fn live_bytes_are_estimated_by_the_code_that_made_them() {
    let mut s = Sampled::new(HeapConfig::default());
    let rounds = 200_000;
    work(&mut s, rounds);
    let live = [(1, 16 * rounds), (2, 48 * RING), (4, 88 * RING)];
    let objects = rounds + 2 * RING;
    assert_eq!(s.census(), (objects as u64, live.iter().map(|(_, n)| *n as u64).sum()));
    for major in [false, true] {
        if major {
            s.m.major();
        }
        let (found, samples) = s.estimates();
        for (tag, bytes) in live {
            let estimate = *found.get(&tag).unwrap_or(&0) as f64 / bytes as f64;
            assert!((0.8..1.2).contains(&estimate), "{estimate} × the bytes of {tag}: {found:?}");
        }
        let others: u64 = found.iter().filter(|(t, _)| !live.iter().any(|l| l.0 == **t)).map(|(_, n)| n).sum();
        assert!(others < 100_000, "{found:?}");
        assert!(samples < 20_000, "the dead are forgotten: {samples}");
    }
    s.m.verify();
    s.m.roots.words.clear();
    s.m.major();
    assert_eq!((s.census(), s.estimates()), ((0, 0), (HashMap::new(), 0)));
}

#[test]
fn a_small_program_is_sampled_whole() {
    let mut s = Sampled::new(HeapConfig::default());
    s.m.roots.words = vec![NIL; 2];
    for i in 0..100 {
        s.m.roots.words[0] = s.cons(7, fix(i), 0);
        s.cons(8, NIL, 1);
        s.m.roots.words[1] = s.vector(9, 3);
    }
    s.m.roots.words[1] = NIL;
    let (found, _) = s.estimates();
    assert_eq!(found, HashMap::from([(7, 1600)]));
    let large = s.string(10, 50_000);
    s.m.roots.words[1] = large;
    s.m.minor();
    let (found, _) = s.estimates();
    assert_eq!(found[&10], 200_008);
}

#[test]
fn sampling_under_zeal() {
    let zeal = Zeal { every_safepoint: true, evacuate: true, ..HeapConfig::zealous().zeal };
    let mut s = Sampled::new(HeapConfig { zeal, ..HeapConfig::zealous() });
    s.m.roots.words = vec![NIL; 1];
    for i in 0..300 {
        s.m.roots.words[0] = s.cons(1, fix(i), 0);
        s.vector(2, 5);
        s.string(3, 30);
    }
    let (found, _) = s.estimates();
    assert_eq!(found.keys().collect::<Vec<_>>(), [&1]);
    assert_eq!(s.census(), (300, 4800));
}

/// Runtime calls have an extent of their own then; code that does nothing else comes to a collection all the same.
#[test]
fn a_loop_of_runtime_calls_is_collected() {
    let mut s = Sampled::new(HeapConfig::default());
    for _ in 0..200_000 {
        s.string(1, 20);
        s.m.check(16).unwrap();
    }
    let stats = s.m.heap.stats();
    assert!(stats.minor > 10 && stats.peak < 8 << 20, "{stats}");
}
