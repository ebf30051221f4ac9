//! Ambiguous roots: what they refer to lives on and stays; whatever else they say does no harm.
#![allow(unsafe_code, missing_docs)]

mod common;

use cairn_heap::{Cursors, HeapConfig, Request, Zeal};
use cairn_layout::object::{Type, header};
use cairn_layout::value::{TAG_OBJECT, TAG_PROCEDURE};
use common::*;
use std::collections::BTreeSet;

type Pinning = AnyMutator<true>;

const BLOCK: u64 = 32 << 10;

fn evacuating() -> HeapConfig {
    HeapConfig { zeal: Zeal { evacuate: true, ..HeapConfig::zealous().zeal }, ..HeapConfig::zealous() }
}

/// One object of each kind, young, with its size: pair, vector, string, closure, continuation, large vector.
fn one_of_each(m: &mut Pinning) -> Vec<(u64, u64)> {
    let leaf = m.string(3, 65);
    let (chunk, _) = m.heap.alloc_chunk(200).unwrap();
    put(chunk, 0, leaf);
    vec![
        (m.cons(leaf, NIL), 16),
        (m.vector(9, leaf), 80),
        (m.string(7, 0x3BB), 40),
        (m.closure(3, leaf), 32),
        (m.continuation(chunk, 0, 1, leaf), 56),
        (m.vector(3000, leaf), 24_008),
    ]
}

/// Asserts that these are the objects of `one_of_each`.
fn assert_one_of_each(m: &Pinning, objects: &[u64]) {
    let [pair, vector, string, closure, continuation, large] = objects[..] else { panic!() };
    let leaf = get(pair, 0);
    assert_eq!((get(leaf, 0), get(leaf, 1)), (header(Type::String, 0, 3), 65 << 32 | 65));
    assert_eq!(get(pair, 1), NIL);
    assert!(get(vector, 0) == header(Type::Vector, 0, 9) && (1..=9).all(|i| get(vector, i) == leaf));
    assert!(get(string, 0) == header(Type::String, 0, 7) && get(string, 2) == 0x3BB << 32 | 0x3BB);
    assert!(get(closure, 0) == CODES[4].address() && (1..=3).all(|i| get(closure, i) == leaf));
    assert_eq!(get(continuation, 0), CONTINUATION.address());
    assert_eq!(get(get(continuation, 1), 0), leaf, "the frame");
    assert!(m.heap.chunk_is_old(get(continuation, 1)).is_some());
    assert!(get(large, 0) == header(Type::Vector, 0, 3000) && (1..=3000).all(|i| get(large, i) == leaf));
}

#[test]
fn every_kind_of_object_stays_whichever_of_its_bytes_is_meant() {
    for last in [false, true] {
        let mut m = Pinning::new(evacuating());
        let made = one_of_each(&mut m);
        let other = m.cons(fix(1), fix(2));
        m.roots.maybe = made.iter().map(|(w, bytes)| (w & !7) + if last { bytes - 1 } else { 0 }).collect();
        m.roots.words = vec![other];
        let objects: Vec<u64> = made.iter().map(|o| o.0).collect();
        for (i, request) in
            [Request::Minor, Request::Major, Request::Minor, Request::Major].into_iter().enumerate()
        {
            m.collect(request);
            assert_one_of_each(&m, &objects);
            // Six objects and the string that all refer to; and the pair.
            assert_eq!(m.verify().objects, 8);
            if i == 0 {
                assert_eq!(m.heap.stats().pinned, 5, "the large one does not move anyway");
                assert_ne!(m.roots.words, [other], "what is not pinned moves");
            }
        }
        assert!(m.heap.stats().to_string().contains("pinned"));
        // One byte further is another object, or none.
        m.roots.maybe.clear();
        m.major();
        assert_eq!(m.verify().objects, 1, "nothing else refers to them");
    }
}

#[test]
fn old_objects_stay_where_an_evacuation_would_move_them() {
    let mut m = Pinning::new(evacuating());
    let made = one_of_each(&mut m);
    m.roots.words = made.iter().map(|o| o.0).collect();
    m.minor();
    let objects = m.roots.words.clone();
    m.roots.maybe = objects.iter().map(|w| (w & !7) + 8).collect();
    for _ in 0..4 {
        m.major();
        assert_eq!(m.roots.words, objects);
        assert_one_of_each(&m, &objects);
    }
    m.roots.maybe.clear();
    m.major();
    m.major();
    assert!(
        m.roots.words.iter().zip(&objects).take(5).all(|(new, old)| new != old),
        "both parities of blocks moved"
    );
    assert_one_of_each(&m, &m.roots.words.clone());
}

#[test]
fn a_dead_object_is_kept_with_all_that_it_refers_to() {
    let mut m = Pinning::zealous();
    let list = m.list(1000).unwrap();
    m.roots.words = vec![list];
    m.minor();
    let list = m.roots.words[0];
    // Dead from here on, for all that is known.
    m.roots.words.clear();
    m.roots.maybe = vec![(list & !7) + 9];
    for request in [Request::Minor, Request::Major, Request::Major] {
        m.collect(request);
        assert_list(list, 1000);
        assert_eq!(m.verify().objects, 1000);
    }
    m.roots.maybe.clear();
    m.major();
    assert!(m.heap.bytes_in_use() <= 2 * BLOCK, "{}", m.heap.bytes_in_use());
}

#[test]
fn words_that_refer_to_nothing_do_no_harm() {
    let mut m = Pinning::new(evacuating());
    let made = one_of_each(&mut m);
    m.roots.words = made.iter().map(|o| o.0).collect();
    let symbol = m.heap.alloc_immortal(24, false).unwrap();
    for (i, w) in [header(Type::Symbol, 0, 2), NIL, NIL].into_iter().enumerate() {
        put(symbol, i as u64, w);
    }
    let chunk = get(made[4].0, 1);
    let (Cursors { lo, hi }, large) = (m.cursors, made[5].0 & !7);
    m.roots.maybe = vec![
        0,
        1,
        u64::MAX,
        1 << 63,
        &raw const m as u64,
        lo,
        (lo + hi) / 2,
        hi - 1,
        m.cursors.hi + BLOCK,
        chunk,
        chunk + 100,
        symbol,
        symbol + 20,
        large + 3001 * 8,
        large - 8,
    ];
    for request in [Request::Minor, Request::Major, Request::Minor, Request::Major] {
        m.collect(request);
        assert_eq!(m.heap.stats().pinned, 0);
        assert_one_of_each(&m, &m.roots.words.clone());
        assert_eq!(m.verify().objects, 7);
    }
}

#[test]
fn roots_that_refer_to_everything() {
    for config in [HeapConfig::zealous(), evacuating()] {
        let mut m = Pinning::new(config);
        let list = m.list(3000).unwrap();
        m.roots.words = vec![list];
        let more = one_of_each(&mut m);
        m.roots.words.extend(more.iter().map(|o| o.0));
        m.minor();
        // Some old, some young.
        let more = one_of_each(&mut m);
        m.roots.words.extend(more.iter().map(|o| o.0));
        let young = m.roots.words[7..12].to_vec();
        let old = m.roots.words[..7].to_vec();
        let blocks: BTreeSet<u64> = young.iter().chain(&old).map(|w| w & !(BLOCK - 1)).collect();
        let all = blocks.iter().flat_map(|b| (0..BLOCK / 16 + 100).map(move |i| b + 16 * i + i % 16)).collect();
        m.roots.maybe = all;
        m.minor();
        assert_eq!(m.roots.words[7..12], young);
        assert!(m.heap.stats().pinned >= 6);
        m.major();
        assert_eq!(m.roots.words[7..12], young);
        assert_eq!(m.roots.words[1..7], old[1..7]);
        m.roots.maybe.clear();
        for request in [Request::Minor, Request::Major, Request::Major] {
            m.collect(request);
            assert_list(m.roots.words[0], 3000);
            assert_one_of_each(&m, &m.roots.words[1..7]);
            assert_one_of_each(&m, &m.roots.words[7..13]);
            assert_eq!(m.verify().objects, 3000 + 14);
        }
    }
}

#[test]
fn a_pinned_object_is_old_in_its_place_until_it_dies() {
    let mut m = Pinning::zealous();
    let v = m.vector(4, NIL);
    m.roots.maybe = vec![v + 9];
    m.minor();
    let with_pin = m.heap.bytes_in_use();
    for round in 0..20 {
        // Stores into it are remembered.
        let l = m.list(200 + round).unwrap();
        m.set(v, 1 + round as u64 % 4, l);
        m.collect(if round % 5 == 4 { Request::Major } else { Request::Minor });
        assert_list(get(v, 1 + round as u64 % 4), 200 + round);
    }
    m.roots.maybe.clear();
    m.major();
    assert!(m.heap.bytes_in_use() < with_pin, "its lines are the nursery's again");
    assert_eq!(m.verify().objects, 0);
    // The nursery comes round again, to that place too.
    let place = |w: u64| w & !127;
    let mut back = false;
    for _ in 0..200 {
        back |= (0..3000).any(|_| place(m.vector(4, NIL)) == place(v));
        m.minor();
    }
    assert!(back);
}

#[test]
fn the_nursery_goes_on_between_pinned_objects() {
    let mut m = Pinning::new(HeapConfig { nursery_bytes: 1 << 20, ..HeapConfig::default() });
    // One in sixteen kilobytes.
    let vectors: Vec<u64> = (0..2000).map(|_| m.vector(7, NIL)).collect();
    let pinned: Vec<u64> = vectors.iter().copied().step_by(256).collect();
    m.roots.maybe = pinned.iter().map(|v| v + 1).collect();
    m.minor();
    assert_eq!(m.heap.stats().pinned, pinned.len() as u64);
    let mut shared = BTreeSet::new();
    for round in 0..50 {
        for i in 0..1200 {
            m.check(24).unwrap();
            let (p, v) = (m.cons(fix(i), NIL), m.vector(7, fix(round)));
            for w in [p & !7, v & !7] {
                assert!(
                    !pinned.iter().any(|o| (o & !7) < w + 64 && w < (o & !7) + 64),
                    "overlaps a pinned object"
                );
                shared.extend(pinned.iter().position(|o| o & !(BLOCK - 1) == w & !(BLOCK - 1)));
            }
        }
        for (i, &v) in pinned.iter().enumerate() {
            assert_eq!(get(v, 0), header(Type::Vector, 0, 7));
            let l = m.list(3).unwrap();
            m.set(v, 1 + i as u64 % 7, l);
        }
        m.collect(if round % 10 == 9 { Request::Major } else { Request::Minor });
        for (i, &v) in pinned.iter().enumerate() {
            assert_list(get(v, 1 + i as u64 % 7), 3);
        }
        m.verify();
    }
    assert!(shared.len() >= 2, "blocks with pinned objects hold young ones besides");
    assert!(m.heap.bytes_in_use() < 64 << 10, "{}", m.heap.bytes_in_use());
}

#[test]
fn an_old_list_that_ends_in_a_pinned_pair() {
    let mut m = Pinning::zealous();
    let end = m.cons(fix(0), NIL);
    m.roots.maybe = vec![end];
    let list = (1..100).fold(end, |list, i| m.cons(fix(i), list));
    m.roots.words = vec![list];
    m.minor();
    m.roots.maybe.clear();
    for request in [Request::Major, Request::Minor, Request::Major] {
        m.collect(request);
        let mut at = m.roots.words[0];
        for i in (0..100).rev() {
            assert_eq!(get(at, 0), fix(i));
            assert_eq!(i == 0, at == end, "the last one stays");
            at = get(at, 1);
        }
        assert_eq!(at, NIL);
        assert_eq!(m.verify().objects, 100);
    }
}

#[test]
fn weak_references_to_pinned_objects_and_to_their_neighbours() {
    let mut m = Pinning::new(HeapConfig { nursery_bytes: 1 << 20, ..HeapConfig::default() });
    let (mut pinned, mut rounds) = (vec![], vec![]);
    for _ in 0..6 {
        // By threes: pinned, moved, dead; the later ones in what is left of blocks with pinned objects.
        let made: Vec<u64> =
            (0..300).map(|i| if i % 2 == 0 { m.vector(3, fix(i)) } else { m.cons(fix(i), NIL) }).collect();
        m.roots.weak = made.iter().map(|&w| Some(w)).collect();
        m.roots.words = made.iter().copied().skip(1).step_by(3).collect();
        pinned.extend(made.iter().step_by(3));
        m.roots.maybe = pinned.iter().map(|w| w + 3).collect();
        let before = m.heap.stats().pinned;
        m.minor();
        assert_eq!(m.heap.stats().pinned - before, 100);
        let survivors = |m: &Pinning| {
            m.roots.weak.chunks(3).zip(made.chunks(3)).zip(&m.roots.words).all(|((weak, made), root)| {
                weak[0] == Some(made[0]) && weak[1] == Some(*root) && *root != made[1] && weak[2].is_none()
            })
        };
        assert!(survivors(&m), "{:?}", &m.roots.weak[..6]);
        rounds.push(made[0] & !(BLOCK - 1));
        m.major();
        assert!(survivors(&m));
    }
    rounds.dedup();
    assert!(rounds.len() < 6, "some rounds shared a block");
    m.roots.weak = pinned.iter().map(|&w| Some(w)).collect();
    m.roots.maybe.clear();
    m.minor();
    assert!(m.roots.weak.iter().all(Option::is_some), "old now");
    m.major();
    assert!(m.roots.weak.iter().all(Option::is_none));
}

#[test]
fn a_captured_frame_that_refers_to_a_pinned_object_needs_no_second_look() {
    let mut m = Pinning::zealous();
    let p = m.cons(fix(7), NIL);
    let (chunk, _) = m.heap.alloc_chunk(200).unwrap();
    put(chunk, 0, p);
    let k = m.continuation(chunk, 0, 1, NIL);
    m.roots.words = vec![k];
    m.roots.maybe = vec![p];
    m.minor();
    m.roots.maybe.clear();
    m.minor();
    m.minor();
    assert_eq!(get(m.roots.words[0], 1), chunk);
    assert_eq!(get(chunk, 0), p, "old, in place");
    assert_eq!((get(p, 0), get(p, 1)), (fix(7), NIL));
    assert_eq!(m.verify().objects, 2);
}

#[test]
#[should_panic(expected = "differ in `AMBIGUOUS`")]
fn a_heap_has_ambiguous_roots_or_it_has_none() {
    let mut m = Pinning::zealous();
    m.minor();
    m.heap.collect(&mut m.cursors, &mut Roots::default(), Request::Minor).unwrap();
}

#[test]
fn damage_to_pinned_objects_and_to_references_is_seen() {
    type Damage = fn(holder: u64);
    let damages: [(&str, Damage); 5] = [
        ("not the reference to the object there", |h| put(h, 1, get(h, 1) & !7 | TAG_OBJECT)),
        ("not the reference to the object there", |h| put(h, 2, get(h, 2) & !7 | TAG_PROCEDURE)),
        ("in the empty part of the nursery", |h| put(h, 2, get(h, 2) + 8)),
        ("bytes: ", |h| put(get(h, 3) & !7, 0, header(Type::String, 0, 1 << 20))),
        ("leaf: ", |h| put(get(h, 3) & !7, 0, header(Type::Vector, 0, 1))),
    ];
    for (what, damage) in damages {
        let mut m = Pinning::new(evacuating());
        let parts = [m.cons(fix(1), fix(2)), m.vector(9, fix(3)), m.string(7, 65)];
        let holder = m.vector(3, NIL);
        (1..).zip(parts).for_each(|(i, part)| put(holder & !7, i, part));
        m.roots.words = vec![holder];
        m.roots.maybe = parts.map(|w| w & !7).to_vec();
        m.collect(Request::Minor);
        assert_eq!(m.verify().objects, 4);
        let holder = m.roots.words[0] & !7;
        assert_eq!([1, 2, 3].map(|i| get(holder, i)), parts, "all are pinned");
        damage(holder);
        let problems = m.heap.check(m.cursors, &mut m.roots).expect_err("the damage is not seen");
        assert!(problems.iter().any(|p| p.what.contains(what)), "no {what:?} in {problems:?}");
    }
}
