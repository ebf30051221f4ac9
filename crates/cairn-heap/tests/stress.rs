//! Random mutation against a shadow model.
//!
//! The model is a table of objects that Rust owns: kind and fields by number. Each step makes an object, stores a
//! field, drops or copies a root, takes a weak reference, captures or drops a piece of "stack", or collects; in the
//! heap and in the model alike. From time to time the two graphs are walked side by side and must be the same, object
//! for object, sharing included. The heap's own checker runs at every collection.
#![allow(unsafe_code, missing_docs)]

mod common;

use cairn_heap::{HeapConfig, Proposals, Request, SizingConfig, Tracing, Zeal};
use cairn_layout::collector::{Ambiguity, Barrier, COLLECTORS, MARKSWEEP, MCC};
use cairn_layout::object::continuation;
use common::*;
use std::collections::HashMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
struct Id(usize);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Field {
    Number(i64),
    Object(Id),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Pair,
    Vector,
    Closure,
    /// Length and character.
    String(u64, u32),
    /// Frames in a chunk; the fields are the words of the frames, then the continuation below.
    Continuation,
}

struct Object {
    kind: Kind,
    fields: Vec<Field>,
}

struct AnyStress<const AMBIGUOUS: bool> {
    m: AnyMutator<AMBIGUOUS>,
    r: Random,
    objects: Vec<Object>,
    roots: Vec<Field>,
    /// For each ambiguous root that was made from a reference: that reference and its object.
    pinned: Vec<Option<(u64, Field)>>,
    /// Objects of the weak references in `m.roots.weak`.
    weak: Vec<Id>,
    most: usize,
}

type Stress = AnyStress<false>;

impl<const A: bool> AnyStress<A> {
    fn new(config: HeapConfig, seed: u64, most: usize) -> Self {
        let mut m = AnyMutator::new(config);
        m.roots.words = vec![fix(0); 16];
        AnyStress {
            m,
            r: Random(seed),
            objects: vec![],
            roots: vec![Field::Number(0); 16],
            pinned: vec![],
            weak: vec![],
            most,
        }
    }

    /// With more roots, more objects live.
    fn with_roots(mut self, n: usize) -> Self {
        self.m.roots.words.resize(n, fix(0));
        self.roots.resize(n, Field::Number(0));
        self
    }

    /// A random value that is reachable: in the heap and in the model.
    fn pick(&mut self) -> (u64, Field) {
        if self.r.below(4) == 0 {
            let n = self.r.below(1000) as i64;
            return (fix(n), Field::Number(n));
        }
        let i = self.r.below(self.roots.len() as u64) as usize;
        let (mut word, mut field) = (self.m.roots.words[i], self.roots[i]);
        for _ in 0..self.r.below(6) {
            let Field::Object(id) = field else { break };
            let o = &self.objects[id.0];
            if o.fields.is_empty() || o.kind == Kind::Continuation {
                break;
            }
            let k = self.r.below(o.fields.len() as u64) as usize;
            word = get(word, Self::word_index(o.kind, k));
            field = o.fields[k];
        }
        (word, field)
    }

    /// Word of field `k` of an object.
    fn word_index(kind: Kind, k: usize) -> u64 {
        if kind == Kind::Pair { k as u64 } else { k as u64 + 1 }
    }

    fn add(&mut self, kind: Kind, fields: Vec<Field>, word: u64) {
        self.objects.push(Object { kind, fields });
        let i = self.r.below(self.roots.len() as u64) as usize;
        self.roots[i] = Field::Object(Id(self.objects.len() - 1));
        self.m.roots.words[i] = word;
    }

    /// Makes something; `checked`: after a heap check.
    fn make(&mut self, checked: bool) {
        match self.r.below(20) {
            0..8 => {
                let ((a, fa), (b, fb)) = (self.pick(), self.pick());
                let p = if checked { self.m.inline_cons(a, b) } else { self.m.cons(a, b) };
                self.add(Kind::Pair, vec![fa, fb], p);
            }
            8..12 => {
                let n = match self.r.below(40) {
                    0 => 1024 + self.r.below(6000), // large, or just not
                    1 => 900 + self.r.below(150),
                    2..6 => self.r.below(200),
                    _ => self.r.below(8),
                };
                let (x, f) = self.pick();
                let v = self.m.vector(n, x);
                self.add(Kind::Vector, vec![f; n as usize], v);
            }
            12..15 => {
                let n = 1 + self.r.below(6);
                let (x, f) = self.pick();
                let c = self.m.closure(n, x);
                self.add(Kind::Closure, vec![f; n as usize], c);
            }
            15..18 => {
                let n = if self.r.below(40) == 0 { 2000 + self.r.below(9000) } else { self.r.below(30) };
                let c = self.r.below(0x10000) as u32;
                let s = self.m.string(n, c);
                self.add(Kind::String(n, c), vec![], s);
            }
            _ => {
                let n = 1 + self.r.below(20);
                let bytes = [200, 1000, 4000, 32 << 10, 50 << 10][self.r.below(5) as usize];
                let Ok((chunk, _)) = self.m.heap.alloc_chunk(bytes) else { panic!("no chunk") };
                let mut fields = vec![];
                for i in 0..n {
                    let (x, f) = self.pick();
                    put(chunk, i, x);
                    fields.push(f);
                }
                let (next, f) = self.pick();
                fields.push(f);
                let k = self.m.continuation(chunk, 0, n, next);
                self.add(Kind::Continuation, fields, k);
            }
        }
    }

    fn store(&mut self) {
        let (word, field) = self.pick();
        let Field::Object(id) = field else { return };
        let (x, f) = self.pick();
        let o = &mut self.objects[id.0];
        if o.fields.is_empty() || o.kind == Kind::Continuation {
            return;
        }
        let k = self.r.below(o.fields.len() as u64) as usize;
        o.fields[k] = f;
        let at = Self::word_index(o.kind, k);
        self.m.set(word, at, x);
    }

    /// An ambiguous root comes or goes: into an object, or anywhere.
    fn suspect(&mut self) {
        if self.pinned.len() > 12 {
            self.pinned.clear();
            self.m.roots.maybe.clear();
        }
        match self.pick() {
            (word, field @ Field::Object(id)) if self.r.below(4) > 0 => {
                let o = &self.objects[id.0];
                let bytes = match o.kind {
                    Kind::Pair => 16,
                    Kind::String(n, _) => 8 + 4 * n.max(1),
                    Kind::Continuation => 8 * continuation::LEN,
                    Kind::Vector | Kind::Closure => 8 + 8 * o.fields.len().max(1) as u64,
                };
                let inside = (word & !7) + self.r.below(bytes);
                self.m.roots.maybe.push(inside);
                self.pinned.push(Some((word, field)));
            }
            (word, _) => {
                // Of pages that exist, most; and some beyond the heap.
                let near = (word & !7).wrapping_add(self.r.below(1 << 18)).wrapping_sub(1 << 17);
                let nursery = self.m.cursors.lo.wrapping_add(self.r.below(1 << 18)).wrapping_sub(1 << 17);
                let any = [near, nursery, self.r.next() << 20, u64::MAX][self.r.below(4) as usize];
                self.m.roots.maybe.push(any);
                self.pinned.push(None);
            }
        }
    }

    fn step(&mut self) {
        if A && self.r.below(6) == 0 {
            self.suspect();
        }
        if self.r.below(50) == 0
            && self.weak.len() < 64
            && let (word, Field::Object(id)) = self.pick()
        {
            self.m.roots.weak.push(Some(word));
            self.weak.push(id);
        }
        match self.r.below(100) {
            0..50 => {
                self.m.check(16).unwrap();
                self.make(true);
            }
            50..60 => self.make(false), // a runtime call without heap check
            60..90 => self.store(),
            90..99 => {
                let i = self.r.below(self.roots.len() as u64) as usize;
                let (x, f) = if self.r.below(3) == 0 { (fix(0), Field::Number(0)) } else { self.pick() };
                (self.m.roots.words[i], self.roots[i]) = (x, f);
            }
            _ => match self.r.below(20) {
                0 => self.m.major(),
                1..5 => self.m.minor(),
                _ => {}
            },
        }
        if self.objects.len() > self.most {
            self.forget();
        }
    }

    /// Walks both graphs; they must be the same. Returns the ids reached.
    fn compare(&self) -> HashMap<Id, u64> {
        let mut seen: HashMap<Id, u64> = HashMap::new();
        let mut back: HashMap<u64, Id> = HashMap::new();
        let mut todo: Vec<(u64, Field)> =
            self.m.roots.words.iter().copied().zip(self.roots.iter().copied()).collect();
        todo.extend(self.pinned.iter().flatten());
        while let Some((word, field)) = todo.pop() {
            match field {
                Field::Number(n) => assert_eq!(word, fix(n)),
                Field::Object(id) => {
                    if let Some(&w) = seen.get(&id) {
                        assert_eq!(w, word, "one object, two places");
                        continue;
                    }
                    seen.insert(id, word);
                    assert_eq!(back.insert(word, id), None, "two objects, one place");
                    let o = &self.objects[id.0];
                    match o.kind {
                        Kind::String(n, c) => {
                            assert_eq!(word & 7, 7);
                            assert_eq!(get(word, 0) >> 16, n);
                            for i in 0..n {
                                assert_eq!(unsafe { *(((word & !7) + 8 + 4 * i) as *const u32) }, c);
                            }
                        }
                        Kind::Continuation => {
                            assert_eq!(get(word, 0), CONTINUATION.address());
                            let (sp, base) = (get(word, continuation::SP), get(word, continuation::BASE));
                            let n = o.fields.len() - 1;
                            assert_eq!((base - sp) / 8, n as u64);
                            assert!(self.m.heap.chunk_is_old(get(word, continuation::CHUNK)).is_some());
                            for k in 0..n {
                                todo.push((get(sp, k as u64), o.fields[k]));
                            }
                            todo.push((get(word, continuation::NEXT), o.fields[n]));
                        }
                        kind => {
                            assert_eq!(
                                word & 7,
                                [3, 7, 6][[Kind::Pair, Kind::Vector, Kind::Closure]
                                    .iter()
                                    .position(|k| *k == kind)
                                    .unwrap()]
                            );
                            for (k, f) in o.fields.iter().enumerate() {
                                todo.push((get(word, Self::word_index(kind, k)), *f));
                            }
                        }
                    }
                }
            }
        }
        for (&word, id) in self.m.roots.weak.iter().zip(&self.weak) {
            let alive = seen.get(id).copied();
            assert!(alive.is_none() || alive == word, "a weak reference to an object that lives");
        }
        seen
    }

    /// After a collection of everything: weak references to what has died are gone.
    fn compare_weak(&mut self) {
        let seen = self.compare();
        for (&word, id) in self.m.roots.weak.iter().zip(&self.weak) {
            assert!(A || word == seen.get(id).copied(), "a weak reference to an object that has died");
        }
        self.weak.clear();
        self.m.roots.weak.clear();
    }

    /// Drops half of the roots and renumbers what is left, to keep the model small.
    fn forget(&mut self) {
        self.m.major();
        self.compare_weak();
        self.pinned.clear();
        self.m.roots.maybe.clear();
        for i in 0..self.roots.len() / 2 {
            self.roots[i] = Field::Number(0);
            self.m.roots.words[i] = fix(0);
        }
        let mut ids: Vec<Id> = self.compare().into_keys().collect();
        if ids.len() > self.most / 2 {
            self.roots.fill(Field::Number(0));
            self.m.roots.words.fill(fix(0));
            ids.clear();
        }
        ids.sort_unstable_by_key(|i| i.0);
        let new: HashMap<Id, Id> = ids.iter().enumerate().map(|(n, &id)| (id, Id(n))).collect();
        let rename = |f: &mut Field| {
            if let Field::Object(id) = f {
                *id = new[id];
            }
        };
        let mut kept = vec![];
        for (i, mut o) in std::mem::take(&mut self.objects).into_iter().enumerate() {
            if new.contains_key(&Id(i)) {
                o.fields.iter_mut().for_each(rename);
                kept.push(o);
            }
        }
        self.objects = kept;
        self.roots.iter_mut().for_each(rename);
    }

    fn run(mut self, steps: u32) {
        for i in 0..steps {
            self.step();
            if i % 997 == 0 {
                self.compare();
                self.m.verify();
            }
        }
        self.m.major();
        self.compare_weak();
        let n = self.compare().len() as u64;
        let reached = self.m.verify().objects;
        assert!(if A { reached >= n } else { reached == n }, "{reached} objects instead of {n}");
        let s = self.m.heap.stats();
        let counts = self.m.heap.facts().ambiguity == Ambiguity::Words;
        assert_eq!(s.pinned > 10, A && counts, "{s}");
        assert!(s.minor + s.major > 10, "too few collections: {s}");
    }
}

fn steps(normal: u32) -> u32 {
    // More for a long run by hand.
    std::env::var("CAIRN_STRESS").ok().and_then(|s| s.parse::<u32>().ok()).unwrap_or(1) * normal
}

/// This configuration with each collector in turn.
fn with_each(config: HeapConfig) -> impl Iterator<Item = HeapConfig> {
    COLLECTORS.iter().map(move |collector| HeapConfig { collector, ..config.clone() })
}

/// This configuration with each collector that keeps what a word points into the middle of.
fn with_each_ambiguous(config: HeapConfig) -> impl Iterator<Item = HeapConfig> {
    with_each(config).filter(|c| c.collector.ambiguity == Ambiguity::Words)
}

#[test]
fn with_a_tiny_nursery() {
    for config in with_each(HeapConfig::zealous()) {
        for seed in 1..=4 {
            Stress::new(config.clone(), seed * 77, 3_000).run(steps(15_000));
        }
    }
}

#[test]
fn collecting_at_every_heap_check() {
    let zeal = Zeal { every_safepoint: true, ..HeapConfig::zealous().zeal };
    for config in with_each(HeapConfig { zeal, ..HeapConfig::zealous() }) {
        Stress::new(config, 5, 500).run(steps(3_000));
    }
}

#[test]
fn with_major_collections_only() {
    let zeal = Zeal { always_major: true, ..HeapConfig::zealous().zeal };
    Stress::new(HeapConfig { zeal, ..HeapConfig::zealous() }, 6, 2_000).run(steps(10_000));
}

#[test]
fn with_objects_born_old() {
    for evacuate in [false, true] {
        let zeal = Zeal { old_births: true, evacuate, ..HeapConfig::zealous().zeal };
        Stress::new(HeapConfig { zeal, ..HeapConfig::zealous() }, 21, 3_000).run(steps(20_000));
        let zeal = Zeal { old_births: true, evacuate, ..Zeal::default() };
        Stress::new(HeapConfig { zeal, ..HeapConfig::zealous() }, 22, 20_000).with_roots(500).run(steps(60_000));
        let config = HeapConfig { zeal, ..HeapConfig::zealous() };
        AnyStress::<true>::new(config, 23, 5_000).with_roots(500).run(steps(20_000));
    }
}

#[test]
fn moving_everything_in_major_collections() {
    for always_major in [true, false] {
        let zeal = Zeal { always_major, evacuate: true, ..HeapConfig::zealous().zeal };
        Stress::new(HeapConfig { zeal, ..HeapConfig::zealous() }, 8, 15_000).with_roots(1_000).run(steps(12_000));
    }
}

#[test]
fn without_zeal_in_a_small_region() {
    let config = HeapConfig {
        nursery_bytes: 256 << 10,
        sizing: SizingConfig { min_limit: 2 << 20, growth: 1.3, generous: 0, large_young: 1 << 20 },
        region_bits: 28,
        zeal: Zeal::default(),
        ..HeapConfig::default()
    };
    for config in with_each(config) {
        for seed in 1..=3 {
            Stress::new(config.clone(), seed * 1001, 20_000).with_roots(500).run(steps(60_000));
        }
    }
}

#[test]
fn with_pages_of_every_size() {
    for page_bytes in [512, 1 << 10, 4 << 10, 32 << 10] {
        let config = HeapConfig { collector: &MCC, page_bytes, ..HeapConfig::zealous() };
        Stress::new(config.clone(), page_bytes, 3_000).run(steps(8_000));
        AnyStress::<true>::new(config, page_bytes + 1, 3_000).run(steps(8_000));
    }
}

#[test]
fn with_what_the_paper_of_mcc_proposes() {
    for bits in 1..8u64 {
        let on = |bit: u64| bits >> bit & 1 != 0;
        let proposals = Proposals { batched: on(0), start_bits: on(1), reuse_holes: on(2) };
        for page_bytes in [2 << 10, 32 << 10] {
            let config = HeapConfig { collector: &MCC, page_bytes, proposals, ..HeapConfig::zealous() };
            AnyStress::<true>::new(config, 7 * bits + page_bytes, 3_000).run(steps(6_000));
        }
    }
}

#[test]
fn with_several_tracing_threads() {
    let tracing = Tracing { threads: 3, least: 0 };
    for mark_stack in [16, 1 << 16] {
        let config = HeapConfig { collector: &MARKSWEEP, tracing, mark_stack, ..HeapConfig::zealous() };
        Stress::new(config.clone(), 21, 20_000).with_roots(500).run(steps(15_000));
        AnyStress::<true>::new(config, 22, 20_000).with_roots(500).run(steps(15_000));
    }
}

#[test]
fn requests_mixed_in() {
    for config in with_each(HeapConfig::zealous()) {
        requests(Stress::new(config, 99, 1_000));
    }
}

fn requests(mut s: Stress) {
    let minors = s.m.heap.facts().barrier == Barrier::Card;
    for i in 0..300 {
        for _ in 0..20 {
            s.step();
        }
        let cursors = &mut s.m.cursors;
        s.m.heap.request_collection(cursors, i % 3 == 0).unwrap();
        let before = s.m.heap.stats().clone();
        s.make(false); // must not collect
        assert_eq!((s.m.heap.stats().minor, s.m.heap.stats().major), (before.minor, before.major));
        s.m.check(16).unwrap();
        assert_eq!(s.m.heap.stats().major > before.major, i % 3 == 0 || !minors);
        s.compare();
    }
    s.m.collect(Request::Minor);
    s.compare();
}

#[test]
fn with_words_that_may_be_references() {
    for config in with_each_ambiguous(HeapConfig::zealous()) {
        for seed in 1..=4 {
            AnyStress::<true>::new(config.clone(), seed * 31, 3_000).run(steps(15_000));
        }
    }
    let zeal = Zeal { every_safepoint: true, ..HeapConfig::zealous().zeal };
    for config in with_each_ambiguous(HeapConfig { zeal, ..HeapConfig::zealous() }) {
        AnyStress::<true>::new(config, 12, 500).run(steps(3_000));
    }
    for always_major in [true, false] {
        let zeal = Zeal { always_major, evacuate: true, ..HeapConfig::zealous().zeal };
        let config = HeapConfig { zeal, ..HeapConfig::zealous() };
        AnyStress::<true>::new(config, 13, 15_000).with_roots(1_000).run(steps(12_000));
    }
}

#[test]
fn with_words_that_may_be_references_in_a_small_region_without_zeal() {
    let config = HeapConfig {
        nursery_bytes: 256 << 10,
        sizing: SizingConfig { min_limit: 2 << 20, growth: 1.3, generous: 0, large_young: 1 << 20 },
        region_bits: 28,
        zeal: Zeal::default(),
        ..HeapConfig::default()
    };
    for config in with_each_ambiguous(config) {
        AnyStress::<true>::new(config, 1003, 20_000).with_roots(500).run(steps(40_000));
    }
}
