//! C's objects: raw pointers, typed, untyped and atomic objects and cells, against a shadow model.
//!
//! The model is a table of objects that Rust owns. Words that the layout calls references are updated by the
//! collector when objects move; words of untyped objects and ambiguous roots are not, so what they refer to must
//! stay. Other words hold numbers, many of which look like addresses in the heap, and must never change.
#![allow(unsafe_code, missing_docs)]

mod common;

use cairn_heap::{CObjects, CellType, Cursors, Heap, HeapConfig, LayoutId, Nature, Request, SizingConfig, Zeal};
use cairn_layout::collector::{Ambiguity, COLLECTORS, Moving};
use common::{AmbiguousRoots, Random, get, put};
use std::collections::HashMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
struct Id(usize);

/// A word: a number, or a reference to a byte inside of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Field {
    Number(u64),
    Object(Id, u64),
}

const NULL: Field = Field::Number(0);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Layout by index.
    Typed(usize),
    Untyped,
    Atomic,
    Cell,
}

/// Words and references of the layouts.
const LAYOUTS: [(u32, u64); 3] = [(3, 0b101), (1, 1), (5, 0b00010)];
const CELL: (u32, u64) = (4, 0b1001);

struct Object {
    kind: Kind,
    fields: Vec<Field>,
}

impl Object {
    /// Word of field `k`, counted from the start of the object.
    fn word(&self, k: usize) -> u64 {
        if self.kind == Kind::Cell { k as u64 } else { k as u64 + 1 }
    }
    fn bytes(&self) -> u64 {
        8 * self.word(self.fields.len().max(if self.kind == Kind::Cell { 0 } else { 1 }))
    }
    fn is_reference(&self, k: usize) -> bool {
        match self.kind {
            Kind::Typed(l) => LAYOUTS[l].1 >> (k % LAYOUTS[l].0 as usize) & 1 != 0,
            Kind::Cell => CELL.1 >> k & 1 != 0,
            _ => false,
        }
    }
}

struct Stress {
    heap: Heap<CObjects>,
    cursors: Cursors,
    roots: AmbiguousRoots,
    layouts: Vec<LayoutId>,
    cell: CellType,
    r: Random,
    objects: Vec<Object>,
    precise: Vec<Field>,
    ambiguous: Vec<Field>,
    most: usize,
}

impl Stress {
    fn new(config: HeapConfig, seed: u64, roots: usize, most: usize) -> Stress {
        let mut model = CObjects::default();
        let layouts = LAYOUTS.map(|(words, references)| model.define(words, references)).to_vec();
        let mut heap = Heap::new(model, config).unwrap();
        let cell = heap.define_cells(CELL.0, CELL.1);
        let cursors = heap.current();
        Stress {
            heap,
            cursors,
            roots: AmbiguousRoots { words: vec![0; roots], maybe: vec![0; 8] },
            layouts,
            cell,
            r: Random(seed),
            objects: vec![],
            precise: vec![NULL; roots],
            ambiguous: vec![NULL; 8],
            most,
        }
    }

    /// The start of an object that is reachable from a precise root.
    fn pick(&mut self) -> Option<(u64, Id)> {
        let i = self.r.below(self.precise.len() as u64) as usize;
        let (mut a, mut field) = (self.roots.words[i], self.precise[i]);
        let mut found = None;
        for _ in 0..1 + self.r.below(6) {
            let Field::Object(id, offset) = field else { break };
            a -= offset;
            found = Some((a, id));
            let o = &self.objects[id.0];
            if o.fields.is_empty() {
                break;
            }
            let k = self.r.below(o.fields.len() as u64) as usize;
            (a, field) = (get(a, o.word(k)), o.fields[k]);
        }
        found
    }
    /// A number that may look like an address.
    fn number(&mut self) -> u64 {
        let any = self.roots.words[self.r.below(self.roots.words.len() as u64) as usize];
        let near = |base: u64, d: u64| base.wrapping_add(d).wrapping_sub(1 << 17);
        match self.r.below(4) {
            0 => near(any, self.r.below(1 << 18)),
            1 => near(self.cursors.lo, self.r.below(1 << 18)),
            2 => self.r.next() << self.r.below(40),
            _ => self.r.below(100),
        }
    }
    /// A word for an ambiguous place: a number only if it refers to nothing that the model knows would matter.
    fn maybe(&mut self) -> (u64, Field) {
        match self.pick() {
            Some((a, id)) if self.r.below(3) > 0 => {
                let offset = self.r.below(self.objects[id.0].bytes());
                (a + offset, Field::Object(id, offset))
            }
            _ => {
                let n = self.number();
                (n, Field::Number(n))
            }
        }
    }
    /// A word for field `k` of an object.
    fn word_for(&mut self, kind: Kind, reference: bool) -> (u64, Field) {
        match (kind, reference) {
            (Kind::Untyped, _) => self.maybe(),
            (_, true) => self.pick().map_or((0, NULL), |(a, id)| (a, Field::Object(id, 0))),
            _ => {
                let n = self.number();
                (n, Field::Number(n))
            }
        }
    }

    fn make(&mut self) {
        let n = match self.r.below(60) {
            0 => 1000 + self.r.below(9000),
            1..4 => self.r.below(300),
            _ => self.r.below(10),
        };
        let cursors = &mut self.cursors;
        let (kind, a, words) = match self.r.below(10) {
            0..4 => {
                let l = self.r.below(3) as usize;
                let nature = Nature::Typed(self.layouts[l], n);
                (Kind::Typed(l), self.heap.make(cursors, nature), n * LAYOUTS[l].0 as u64)
            }
            4..6 => (Kind::Untyped, self.heap.make(cursors, Nature::Untyped(n)), n),
            6..8 => (Kind::Atomic, self.heap.make(cursors, Nature::Atomic(n)), n),
            _ => (Kind::Cell, self.heap.alloc_cell(cursors, self.cell), CELL.0 as u64),
        };
        let a = a.unwrap();
        let object = Object { kind, fields: vec![NULL; words as usize] };
        assert!((0..words as usize).all(|k| get(a, object.word(k)) == 0), "not cleared");
        self.objects.push(object);
        let id = Id(self.objects.len() - 1);
        for _ in 0..words.min(6) {
            self.store(a, id);
        }
        let i = self.r.below(self.precise.len() as u64) as usize;
        (self.roots.words[i], self.precise[i]) = (a, Field::Object(id, 0));
    }

    fn store(&mut self, a: u64, id: Id) {
        let o = &self.objects[id.0];
        if o.fields.is_empty() {
            return;
        }
        let k = self.r.below(o.fields.len() as u64) as usize;
        let (kind, reference, at) = (o.kind, o.is_reference(k), o.word(k));
        let (word, field) = self.word_for(kind, reference);
        put(a, at, word);
        self.heap.mark_card(a + 8 * at);
        self.objects[id.0].fields[k] = field;
    }

    fn step(&mut self) {
        match self.r.below(100) {
            0..50 => {
                if self.cursors.room() < 4096 {
                    let cursors = &mut self.cursors;
                    self.heap.safepoint(cursors, 4096, &mut self.roots).unwrap();
                }
                self.make();
            }
            50..80 => {
                if let Some((a, id)) = self.pick() {
                    self.store(a, id);
                }
            }
            80..90 => {
                let i = self.r.below(self.ambiguous.len() as u64) as usize;
                (self.roots.maybe[i], self.ambiguous[i]) = self.maybe();
            }
            90..99 => {
                let i = self.r.below(self.precise.len() as u64) as usize;
                let keep = self.r.below(3) > 0;
                let (word, field) = if keep { self.word_for(Kind::Cell, true) } else { (0, NULL) };
                (self.roots.words[i], self.precise[i]) = (word, field);
            }
            _ => match self.r.below(20) {
                0 => self.collect(Request::Major),
                1..5 => self.collect(Request::Minor),
                _ => {}
            },
        }
        if self.objects.len() > self.most {
            self.forget();
        }
    }
    fn collect(&mut self, request: Request) {
        self.heap.collect(&mut self.cursors, &mut self.roots, request).unwrap();
    }

    /// Walks both graphs; they must be the same. Returns where the objects are.
    fn compare(&self) -> HashMap<Id, u64> {
        let mut seen: HashMap<Id, u64> = HashMap::new();
        let mut back: HashMap<u64, Id> = HashMap::new();
        let roots = self.roots.words.iter().zip(&self.precise).chain(self.roots.maybe.iter().zip(&self.ambiguous));
        let mut todo: Vec<(u64, Field)> = roots.map(|(w, f)| (*w, *f)).collect();
        while let Some((word, field)) = todo.pop() {
            match field {
                Field::Number(n) => assert_eq!(word, n, "a number changed"),
                Field::Object(id, offset) => {
                    let a = word - offset;
                    if let Some(&known) = seen.get(&id) {
                        assert_eq!(known, a, "one object, two places");
                        continue;
                    }
                    seen.insert(id, a);
                    assert_eq!(back.insert(a, id), None, "two objects, one place");
                    let o = &self.objects[id.0];
                    let count = o.fields.len() as u64;
                    let nature = match o.kind {
                        Kind::Typed(l) => Some(Nature::Typed(self.layouts[l], count / LAYOUTS[l].0 as u64)),
                        Kind::Untyped => Some(Nature::Untyped(count)),
                        Kind::Atomic => Some(Nature::Atomic(count)),
                        Kind::Cell => None,
                    };
                    if let Some(nature) = nature {
                        assert_eq!(get(a, 0), self.heap.model().header(nature));
                    }
                    todo.extend(o.fields.iter().enumerate().map(|(k, f)| (get(a, o.word(k)), *f)));
                }
            }
        }
        seen
    }
    fn verify(&mut self) -> cairn_heap::check::Report {
        match self.heap.check(self.cursors, &mut self.roots) {
            Ok(r) => r,
            Err(p) => panic!("{}", p.iter().map(|p| format!("{p}\n")).collect::<String>()),
        }
    }

    /// Drops half of the roots and renumbers what is left.
    fn forget(&mut self) {
        for i in 0..self.precise.len() / 2 {
            (self.roots.words[i], self.precise[i]) = (0, NULL);
        }
        let mut ids: Vec<Id> = self.compare().into_keys().collect();
        if ids.len() > self.most / 2 {
            self.precise.fill(NULL);
            self.roots.words.fill(0);
            self.ambiguous.fill(NULL);
            self.roots.maybe.fill(0);
            ids.clear();
        }
        ids.sort_unstable();
        let new: HashMap<Id, Id> = ids.iter().enumerate().map(|(n, &id)| (id, Id(n))).collect();
        let rename = |f: &mut Field| {
            if let Field::Object(id, _) = f {
                *id = new[id];
            }
        };
        for (i, mut o) in std::mem::take(&mut self.objects).into_iter().enumerate() {
            if new.contains_key(&Id(i)) {
                o.fields.iter_mut().for_each(rename);
                self.objects.push(o);
            }
        }
        self.precise.iter_mut().chain(&mut self.ambiguous).for_each(rename);
    }

    fn run(mut self, steps: u32) {
        let moved = |s: &mut Stress| {
            let before = s.compare();
            s.collect(Request::Minor);
            let after = s.compare();
            before.iter().filter(|(id, a)| after[id] != **a).count()
        };
        let mut moves = 0;
        for i in 0..steps {
            self.step();
            if i % 997 == 0 {
                moves += moved(&mut self);
                self.verify();
            }
        }
        self.collect(Request::Major);
        let n = self.compare().len() as u64;
        let reached = self.verify().objects;
        assert!(reached >= n, "the checker reached {reached} of {n} objects");
        let s = self.heap.stats();
        assert!(s.minor + s.major > 10, "too few collections: {s}");
        let moving = self.heap.facts().moving == Moving::AtSafepoints;
        // What is born old is not moved by minor collections.
        let enough = if moving { moves > 20 || s.born_old > 1 << 20 } else { moves == 0 };
        assert!(s.pinned > 20 && enough, "{moves} objects moved; {s}");
    }
}

fn steps(normal: u32) -> u32 {
    // More for a long run by hand.
    std::env::var("CAIRN_STRESS").ok().and_then(|s| s.parse::<u32>().ok()).unwrap_or(1) * normal
}

/// This configuration with each collector in turn.
fn with_each(config: HeapConfig) -> impl Iterator<Item = HeapConfig> {
    let all = COLLECTORS.iter().filter(|c| c.ambiguity == Ambiguity::Words);
    all.map(move |collector| HeapConfig { collector, ..config.clone() })
}

#[test]
fn an_immortal_untyped_object_keeps_what_it_refers_to() {
    with_each(HeapConfig::zealous()).for_each(immortal_untyped);
}

fn immortal_untyped(config: HeapConfig) {
    let mut s = Stress::new(config, 1, 1, 1);
    let typed = s.heap.alloc_immortal(16, false).unwrap();
    put(typed, 0, s.heap.model().header(Nature::Typed(s.layouts[1], 1)));
    put(typed, 1, 0);
    let untyped = s.heap.alloc_immortal(24, false).unwrap();
    put(untyped, 0, s.heap.model().header(Nature::Untyped(2)));
    put(untyped, 2, 12345);
    let layout = Nature::Typed(s.layouts[0], 1);
    let [a, b] = [(); 2].map(|()| s.heap.make(&mut s.cursors, layout).unwrap());
    put(a, 2, 7);
    put(b, 2, 8);
    put(untyped, 1, a + 20);
    put(typed, 1, b);
    for request in [Request::Minor, Request::Major, Request::Minor, Request::Major] {
        s.collect(request);
        assert_eq!((get(a, 2), get(untyped, 1), get(untyped, 2)), (7, a + 20, 12345));
        let moving = s.heap.facts().moving == Moving::AtSafepoints;
        assert!((get(typed, 1) != b) == moving && get(get(typed, 1), 2) == 8, "the typed one's moved");
        assert_eq!(s.verify().objects, 2);
    }
}

#[test]
fn initialising_an_untyped_object_needs_no_barrier() {
    with_each(HeapConfig::zealous()).for_each(initialising_untyped);
}

fn initialising_untyped(config: HeapConfig) {
    let mut s = Stress::new(config, 1, 1, 1);
    for words in [1, 20, 900, 5000] {
        for i in 0..20 {
            let cursors = &mut s.cursors;
            let kept = s.heap.make(cursors, Nature::Atomic(2)).unwrap();
            put(kept, 2, i);
            let holder = s.heap.make(cursors, Nature::Untyped(words)).unwrap();
            put(holder, words, kept + 23);
            s.roots.words[0] = holder;
            s.collect(if i % 5 == 4 { Request::Major } else { Request::Minor });
            assert_eq!(get(get(s.roots.words[0], words) - 23, 2), i);
            assert_eq!(s.verify().objects, 2);
        }
    }
}

#[test]
fn with_a_tiny_nursery() {
    for config in with_each(HeapConfig::zealous()) {
        for seed in 1..=4 {
            Stress::new(config.clone(), seed * 79, 16, 2_000).run(steps(15_000));
        }
    }
}

#[test]
fn collecting_at_every_heap_check() {
    let zeal = Zeal { every_safepoint: true, ..HeapConfig::zealous().zeal };
    for config in with_each(HeapConfig { zeal, ..HeapConfig::zealous() }) {
        Stress::new(config, 5, 16, 500).run(steps(5_000));
    }
}

#[test]
fn moving_all_that_may_move() {
    for always_major in [true, false] {
        let zeal = Zeal { always_major, evacuate: true, ..HeapConfig::zealous().zeal };
        Stress::new(HeapConfig { zeal, ..HeapConfig::zealous() }, 8, 300, 6_000).run(steps(12_000));
    }
}

#[test]
fn with_objects_born_old() {
    for evacuate in [false, true] {
        let zeal = Zeal { old_births: true, evacuate, ..HeapConfig::zealous().zeal };
        Stress::new(HeapConfig { zeal, ..HeapConfig::zealous() }, 31, 100, 3_000).run(steps(12_000));
        let zeal = Zeal { old_births: true, evacuate, ..Zeal::default() };
        Stress::new(HeapConfig { zeal, ..HeapConfig::zealous() }, 32, 500, 20_000).run(steps(30_000));
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
        Stress::new(config, 1009, 200, 10_000).run(steps(20_000));
    }
}
