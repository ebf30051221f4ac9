//! The collector `gen` through the public interface.
#![allow(unsafe_code, missing_docs)]

mod common;

use cairn_heap::{AllocKind, Heap, HeapConfig, Request, Scheme, SizingConfig, Zeal};
use cairn_layout::collector::Moving;
use cairn_layout::facts::{COLLECTORS, CollectorFacts, GEN};
use cairn_layout::limits::CHECK_RESERVE;
use cairn_layout::object::{Type, header};
use common::*;

#[test]
fn a_list_survives_minor_and_major_collections_and_becomes_contiguous() {
    let mut m = Mutator::zealous();
    let list = m.list(20_000).unwrap();
    m.roots.words.push(list);
    assert!(m.heap.stats().minor > 3);
    m.minor();
    assert_list(m.roots.words[0], 20_000);
    m.major();
    let list = m.roots.words[0];
    assert_list(list, 20_000);
    let second = get(list, 1);
    assert_eq!(second, list + 16, "copying follows the cdr");
    m.major();
    assert_list(m.roots.words[0], 20_000);
}

#[test]
fn kinds_of_objects_keep_their_contents_and_sharing() {
    let mut m = Mutator::zealous();
    let s = m.string(5, 0x3BB);
    let v = m.vector(7, s);
    let c = m.closure(3, v);
    let empty = m.vector(0, NIL);
    let p = m.cons(c, empty);
    m.set(v, 7, p); // a cycle
    m.roots.words = vec![p, v, s];
    for request in [Request::Minor, Request::Minor, Request::Major, Request::Minor, Request::Major] {
        m.collect(request);
        let [p, v, s] = m.roots.words[..] else { panic!() };
        assert_eq!(get(v, 0), header(Type::Vector, 0, 7));
        assert_eq!(get(v, 7), p);
        assert!((1..7).all(|i| get(v, i) == s));
        assert_eq!(get(s, 0), header(Type::String, 0, 5));
        assert_eq!(get(s, 2), 0x3BB_0000_03BB);
        let c = get(p, 0);
        assert_eq!(c & 7, 6);
        assert_eq!(get(c, 0), CODES[4].address());
        assert!((1..4).all(|i| get(c, i) == v));
        assert_eq!(get(get(p, 1), 0), header(Type::Vector, 0, 0));
        assert_eq!(m.verify().objects, 5);
    }
}

#[test]
fn garbage_goes_away() {
    let mut m = Mutator::zealous();
    for _ in 0..50 {
        let l = m.list(5_000).unwrap();
        m.roots.words = vec![l];
    }
    m.major();
    assert!(m.heap.bytes_in_use() < 300 << 10, "{}", m.heap.bytes_in_use());
    assert_eq!(m.verify().objects, 5_000);
    m.roots.words.clear();
    m.major();
    assert_eq!(m.verify().objects, 0);
}

#[test]
fn stores_into_old_objects_are_remembered() {
    let mut m = Mutator::zealous();
    let v = m.vector(1000, NIL);
    let b = m.vector(1, NIL);
    let p = m.cons(NIL, NIL);
    let k = m.closure(2, NIL);
    m.roots.words = vec![v, b, p, k];
    m.minor();
    for round in 0..20 {
        for i in [1, 500, 1000] {
            let l = m.list(3).unwrap();
            m.set(m.roots.words[0], i, l);
        }
        let l = m.list(4).unwrap();
        m.set(m.roots.words[1], 1, l);
        let l = m.list(5).unwrap();
        m.set(m.roots.words[2], 1, l);
        let l = m.list(6).unwrap();
        m.set(m.roots.words[3], 2, l);
        if round % 7 == 6 {
            m.major()
        } else {
            m.minor()
        }
        for i in [1, 500, 1000] {
            assert_list(get(m.roots.words[0], i), 3);
        }
        assert_list(get(m.roots.words[1], 1), 4);
        assert_list(get(m.roots.words[2], 1), 5);
        assert_list(get(m.roots.words[3], 2), 6);
    }
}

#[test]
fn large_objects_stay_in_place_hold_young_objects_and_are_freed() {
    let mut m = Mutator::zealous();
    let v = m.vector(30_000, NIL);
    let s = m.string(100_000, 65);
    m.roots.words = vec![v, s];
    // Young and unmarked: freed by a minor collection.
    let before = m.heap.bytes_in_use();
    m.string(50_000, 66);
    assert!(m.heap.bytes_in_use() >= before + 200_000);
    let l = m.cons(fix(0), NIL); // a runtime call: no collection since `v` was made
    put(v & !7, 30_000, l); // initialisation of a young object needs no barrier
    m.minor();
    assert!(m.heap.bytes_in_use() < before + 100_000);
    assert_eq!(m.roots.words, [v, s]);
    assert_list(get(v, 30_000), 1);
    // Old: stores are remembered.
    for i in [1, 4096, 29_999] {
        let l = m.list(i as i64 % 100).unwrap();
        m.set(v, i, l);
    }
    m.minor();
    for i in [1u64, 4096, 29_999] {
        assert_list(get(v, i), i as i64 % 100);
    }
    m.major();
    assert_eq!(m.roots.words, [v, s]);
    for i in [1u64, 4096, 29_999] {
        assert_list(get(v, i), i as i64 % 100);
    }
    m.roots.words.clear();
    m.major();
    assert_eq!(m.heap.bytes_in_use(), 32 << 10, "one nursery block");
}

#[test]
fn immortal_objects_never_move_and_are_roots() {
    let mut m = Mutator::zealous();
    let name = m.heap.alloc_immortal(16, true).unwrap();
    put(name, 0, header(Type::String, 0, 2));
    put(name, 1, 0);
    let symbol = m.heap.alloc_immortal(24, false).unwrap();
    put(symbol, 0, header(Type::Symbol, 0, 2));
    put(symbol, 1, name | 7);
    let l = m.list(5).unwrap();
    put(symbol, 2, l);
    for r in [Request::Minor, Request::Major, Request::Minor, Request::Major] {
        m.collect(r);
        assert_list(get(symbol, 2), 5);
        let l = m.list(5).unwrap();
        m.set(symbol, 2, l);
    }
    // A long name has blocks of its own.
    let long = m.heap.alloc_immortal(100_008, true).unwrap();
    put(long, 0, header(Type::String, 0, 25_000));
    m.roots.words.push(long | 7);
    m.major();
    assert_eq!(m.roots.words, [long | 7]);
    m.verify();
}

#[test]
fn chunks_live_while_the_stack_or_a_continuation_needs_them() {
    let mut m = Mutator::zealous();
    let (chunk, size) = m.heap.alloc_chunk(32 << 10).unwrap();
    assert_eq!((size, chunk + size), (32 << 10, m.heap.chunk_end(chunk)));
    let l = m.list(3).unwrap();
    for i in 0..10 {
        put(chunk, i, l);
    }
    // Current: kept, its frames are roots, not old.
    m.roots.stack = vec![(chunk, 10)];
    m.minor();
    assert_eq!(m.heap.chunk_is_old(chunk), Some(false));
    assert_list(unsafe { *(chunk as *const u64) }, 3);
    // Captured by a continuation in the nursery: the promoted continuation makes it old.
    let k = m.continuation(chunk, 2, 6, NIL);
    m.roots.words = vec![k];
    m.roots.stack.clear();
    let l = m.list(4).unwrap();
    for i in 2..6 {
        put(chunk, i, l);
    }
    let traced = m.roots.traced;
    m.minor();
    assert!(m.roots.traced > traced);
    assert_eq!(m.heap.chunk_is_old(chunk), Some(true));
    assert_list(unsafe { *((chunk + 16) as *const u64) }, 4);
    // Old chunks survive minor collections that do not see them.
    m.minor();
    assert_eq!(m.heap.chunk_is_old(chunk), Some(true));
    m.major();
    assert_list(unsafe { *((chunk + 40) as *const u64) }, 4);
    // The continuation is dropped: only a major collection finds out.
    m.roots.words.clear();
    m.minor();
    assert_eq!(m.heap.chunk_is_old(chunk), Some(true));
    m.major();
    assert_eq!(m.heap.chunk_is_old(chunk), None);
}

#[test]
fn a_major_collection_decides_anew_which_chunks_are_old() {
    let mut m = Mutator::zealous();
    let (chunk, _) = m.heap.alloc_chunk(32 << 10).unwrap();
    put(chunk, 0, NIL);
    let k = m.continuation(chunk, 0, 1, NIL);
    m.roots.words = vec![k];
    m.roots.stack = vec![(chunk, 1)];
    m.minor();
    assert_eq!(m.heap.chunk_is_old(chunk), Some(true));
    m.roots.words.clear();
    m.major();
    assert_eq!(m.heap.chunk_is_old(chunk), Some(false), "only the stack refers to it now");
    m.roots.stack.clear();
    m.minor();
    assert_eq!(m.heap.chunk_is_old(chunk), None);
}

#[test]
fn an_old_chunk_that_was_freed_is_young_when_it_is_taken_again() {
    let mut m = Mutator::zealous();
    let (other, _) = m.heap.alloc_chunk(1024).unwrap();
    let (chunk, _) = m.heap.alloc_chunk(1024).unwrap();
    put(chunk, 0, NIL);
    m.roots.words = vec![m.continuation(chunk, 0, 1, NIL)];
    m.roots.stack = vec![(other, 0)];
    m.minor();
    assert_eq!(m.heap.chunk_is_old(chunk), Some(true));
    m.roots.words.clear();
    m.heap.free_chunk(chunk);
    assert_eq!(m.heap.alloc_chunk(1024).unwrap().0, chunk);
    assert_eq!(m.heap.chunk_is_old(chunk), Some(false));
}

#[test]
fn all_chunks_are_listed() {
    let mut m = Mutator::new(HeapConfig::default());
    let mut all = [512, 512, 1024, 1024, 1024, 32 << 10, 100_000].map(|n| m.heap.alloc_chunk(n).unwrap()).to_vec();
    m.heap.free_chunk(all.remove(3).0);
    let mut listed = m.heap.stack_chunks();
    all.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, all);
}

#[test]
fn what_a_block_held_before_is_not_taken_for_references() {
    let mut m = Mutator::new(HeapConfig::default());
    // A freed chunk full of words that look like references to young pairs.
    let (chunk, size) = m.heap.alloc_chunk(32 << 10).unwrap();
    for i in 0..size / 8 {
        put(chunk, i, (m.cursors.lo + 16 * i) | 3);
    }
    m.heap.free_chunk(chunk);
    m.minor();
    // Its block becomes the home of a promoted vector, and the card of the vector dirty.
    let v = m.vector(3, NIL);
    m.roots.words = vec![v];
    m.minor();
    let v = m.roots.words[0];
    assert_eq!(v & !0x7FFF, chunk, "the test needs the block to be reused");
    let garbage = m.list(100).unwrap();
    assert_ne!(garbage, NIL);
    m.set(v, 1, NIL);
    let before = m.heap.stats().promoted;
    m.minor();
    assert_eq!(m.heap.stats().promoted, before);
}

#[test]
fn fragmented_memory_is_used_again() {
    let sizing = SizingConfig { min_limit: 4 << 20, ..SizingConfig::default() };
    let mut m = Mutator::new(HeapConfig { sizing, ..HeapConfig::default() });
    // 16 MB of vectors of 1 KB; then only every sixth stays.
    let table = m.vector(16_384, NIL);
    m.roots.words = vec![table];
    m.minor();
    for i in 1..=16_384 {
        m.check(1024).unwrap();
        let v = m.vector(127, fix(i));
        m.set(m.roots.words[0], i as u64, v);
    }
    for i in 1..=16_384 {
        if i % 6 != 0 {
            m.set(m.roots.words[0], i, NIL);
        }
    }
    let keeps = |m: &Mutator| (6..=16_384).step_by(6).all(|i| get(get(m.roots.words[0], i), 127) == fix(i as i64));
    m.major();
    assert!(keeps(&m));
    let fragmented = m.heap.bytes_in_use();
    assert!(fragmented > 12 << 20, "{fragmented}: the test needs fragmentation");
    // New survivors go into the holes.
    let l = m.list(300_000).unwrap(); // 4.8 MB
    m.roots.words.push(l);
    m.minor();
    assert!(m.heap.bytes_in_use() < fragmented + (3 << 20), "{}", m.heap.bytes_in_use());
    assert_list(m.roots.words[1], 300_000);
    assert!(keeps(&m));
    // And sparse blocks are evacuated: what remains is compact.
    m.roots.words.truncate(1);
    m.major();
    m.major();
    assert!(keeps(&m));
    assert!(m.heap.bytes_in_use() < 6 << 20, "{}", m.heap.bytes_in_use());
    m.verify();
}

/// One pair is left in every line of many blocks: hardly a line is free, and yet nearly all of the memory is.
#[test]
fn blocks_with_little_in_every_line_are_emptied() {
    let mut m = Mutator::new(HeapConfig::default());
    let table = m.vector(524_288, NIL);
    m.roots.words = vec![table];
    for i in 1..=524_288 {
        m.check(16).unwrap();
        let pair = m.cons(fix(i), NIL);
        m.set(m.roots.words[0], i as u64, pair);
    }
    m.minor();
    (1..=524_288).filter(|i| i % 7 != 0).for_each(|i| m.set(m.roots.words[0], i, NIL));
    m.major();
    let crumbled = m.heap.bytes_in_use();
    (0..30).for_each(|_| m.major());
    assert!((7..=524_288).step_by(7).all(|i| get(get(m.roots.words[0], i), 0) == fix(i as i64)));
    assert!(m.heap.bytes_in_use() + (4 << 20) < crumbled, "{} of {crumbled}", m.heap.bytes_in_use());
}

#[test]
fn a_continuation_is_traced_once_per_copy() {
    let mut m = Mutator::new(HeapConfig::default());
    let (chunk, _) = m.heap.alloc_chunk(1024).unwrap();
    put(chunk, 0, NIL);
    let k = m.continuation(chunk, 0, 1, NIL);
    let v = m.vector(50, k);
    m.roots.words = vec![k, v, k];
    m.minor();
    assert_eq!(m.roots.traced, 1);
    m.minor();
    assert_eq!(m.roots.traced, 1, "old continuations are not traced again");
    m.major();
    assert_eq!(m.roots.traced, 2);
}

#[test]
fn chunks_of_all_sizes_are_reused() {
    let mut m = Mutator::zealous();
    let mut all = vec![];
    for round in 0..6 {
        for bytes in [100, 512, 600, 1024, 5000, 16 << 10, 20_000, 32 << 10, 70_000] {
            for _ in 0..9 {
                let (c, n) = m.heap.alloc_chunk(bytes).unwrap();
                assert!(n >= bytes);
                for w in 0..n / 8 {
                    put(c, w, fix(7));
                }
                all.push((c, n));
            }
        }
        all.sort_unstable();
        assert!(all.windows(2).all(|w| w[0].0 + w[0].1 <= w[1].0), "chunks overlap");
        // Half of them stay current, some are freed by hand, the others are swept.
        let mut i = 0;
        all.retain(|&(c, _)| {
            i += 1;
            if i % 3 == 0 {
                m.heap.free_chunk(c);
            }
            i % 3 == 1
        });
        m.roots.stack = all.iter().map(|&(c, n)| (c, (n / 8) as usize)).collect();
        if round % 2 == 0 {
            m.minor()
        } else {
            m.major()
        }
        assert!(all.iter().all(|&(c, _)| m.heap.chunk_is_old(c) == Some(false)));
    }
    m.roots.stack.clear();
    m.minor();
    assert!(all.iter().all(|&(c, _)| m.heap.chunk_is_old(c).is_none()));
    m.major();
    assert_eq!(m.heap.bytes_in_use(), 32 << 10);
}

#[test]
fn freeing_and_taking_a_chunk_again_and_again_costs_no_memory() {
    let mut m = Mutator::new(HeapConfig::default());
    for bytes in [1000, 32 << 10, 100_000] {
        for _ in 0..100_000 {
            let (c, _) = m.heap.alloc_chunk(bytes).unwrap();
            m.heap.free_chunk(c);
        }
    }
    assert!(m.heap.bytes_in_use() < 1 << 20);
}

fn limited(bytes: u64) -> Mutator {
    Mutator::new(HeapConfig { heap_max: Some(bytes), ..HeapConfig::default() })
}

#[test]
fn the_maximum_ends_a_growing_list_with_an_error_and_the_heap_stays_usable() {
    let mut m = limited(16 << 20);
    let e = m.list(10_000_000).unwrap_err();
    assert_eq!(e.heap_max, 16 << 20);
    assert!(e.used <= 17 << 20, "{e}");
    assert!(m.heap.stats().major > 0);
    assert!(e.to_string().starts_with("out of memory: the heap holds 1"), "{e}");
    // The list is still rooted and intact, and allocating a little works.
    assert!(m.verify().objects > 500_000);
    m.cons(NIL, NIL);
    // Dropping it makes room again.
    m.roots.words.clear();
    m.major();
    let l = m.list(100_000).unwrap();
    assert_list(l, 100_000);
}

#[test]
fn the_maximum_holds_for_runtime_calls_large_objects_and_chunks() {
    let mut m = limited(16 << 20);
    assert!(m.try_alloc(20 << 20, AllocKind::Leaf).is_err());
    assert!(m.try_alloc(1 << 60, AllocKind::Leaf).is_err());
    // Small objects in one endless runtime call.
    let mut n = 0u64;
    while m.try_alloc(16, AllocKind::Pair).map(|a| put(a, 0, NIL)).is_ok() {
        n += 16;
        assert!(n < 17 << 20);
    }
    assert!(n > 14 << 20);
    m = limited(16 << 20);
    let mut n = 0;
    while let Ok((c, bytes)) = m.heap.alloc_chunk(32 << 10) {
        m.roots.stack.push((c, 0));
        n += bytes;
        assert!(n < 17 << 20);
    }
    assert!(n > 14 << 20);
    m = limited(16 << 20);
    let mut n = 0;
    while m
        .try_alloc(1 << 20, AllocKind::Leaf)
        .map(|a| put(a, 0, header(Type::Bytevector, 0, (1 << 20) - 8)))
        .is_ok()
    {
        n += 1;
        assert!(n < 17);
    }
    // None of it is live: the collection that was asked for makes room.
    m.check(16).unwrap();
    assert!(m.try_alloc(8 << 20, AllocKind::Leaf).is_ok());
}

#[test]
fn programs_that_live_below_the_maximum_run_in_it() {
    let mut m = limited(24 << 20);
    let keep = m.list(300_000).unwrap(); // 4.8 MB
    m.roots.words.push(keep);
    for _ in 0..200 {
        let l = m.list(50_000).unwrap();
        m.roots.words.truncate(1);
        m.roots.words.push(l);
        m.check(16).unwrap();
        m.vector(100_000, NIL); // 0.8 MB, garbage at once
    }
    assert_list(m.roots.words[0], 300_000);
    assert!(m.heap.stats().major > 2);
}

#[test]
fn a_runtime_call_may_overdraw_and_the_next_heap_check_collects() {
    let mut m = Mutator::new(HeapConfig { nursery_bytes: 256 << 10, ..HeapConfig::default() });
    let mut l = NIL;
    for i in (0..100_000).rev() {
        l = m.cons(fix(i), l);
    }
    assert_eq!(m.heap.stats().minor, 0, "runtime calls never collect");
    m.roots.words.push(l);
    m.check(16).unwrap();
    assert_eq!(m.heap.stats().minor, 1, "the very next heap check does");
    assert_list(m.roots.words[0], 100_000);
}

#[test]
fn large_objects_make_the_next_heap_check_collect() {
    let mut m = Mutator::new(HeapConfig::default());
    for i in 0..1000 {
        m.check(16).unwrap();
        m.cons(NIL, NIL);
        let s = m.string(250_000, 65); // 1 MB
        assert_eq!(get(s, 0) >> 16, 250_000);
        assert!(m.heap.bytes_in_use() < 24 << 20, "round {i}: {}", m.heap.bytes_in_use());
    }
    assert!(m.heap.stats().minor >= 50);
    assert_eq!(m.heap.stats().major, 0);
}

#[test]
fn a_heap_check_without_reserve_holds_across_runtime_calls_and_fails_soon() {
    let mut m = Mutator::new(HeapConfig { nursery_bytes: 256 << 10, ..HeapConfig::zealous() });
    let mut most = 0;
    for i in 0..3_000 {
        m.plain_check(32).unwrap();
        let a = m.inline_cons(fix(i), NIL);
        let v = m.vector(if i % 50 == 0 { 2_000 } else { 20 }, a);
        let b = m.inline_cons(v, NIL); // promised by the heap check above
        m.roots.words = vec![a, v, b];
        most = most.max(m.heap.bytes_in_use());
    }
    assert!(m.heap.stats().minor >= 3, "{}", m.heap.stats().minor);
    assert!(most < 2 << 20, "{most}");
    m.verify();
}

/// The slow path of a heap check as the runtime has it: runtime calls find room for as much as the reserve in the same
/// extent, and need no collection for it.
#[test]
fn a_heap_check_leaves_room_for_runtime_calls() {
    let mut m = Mutator::new(HeapConfig { nursery_bytes: 1 << 20, ..HeapConfig::default() });
    let mut random = Random(7);
    for round in 0..400 {
        // from a few words to whole blocks
        let bytes = 16 * (1 + random.below(1 << (1 + round % 11)));
        while m.cursors.room() >= bytes {
            m.inline_cons(NIL, NIL);
        }
        let need = bytes + m.heap.check_reserve();
        m.heap.safepoint(&mut m.cursors, need, &mut m.roots).unwrap();
        let (lo, hi) = (m.cursors.lo, m.cursors.hi);
        for _ in 0..CHECK_RESERVE / 1024 {
            m.string(254, 65); // 1 KiB
        }
        assert_eq!((m.cursors.lo, m.cursors.hi), (lo, hi - CHECK_RESERVE), "{bytes} bytes");
        assert!(m.cursors.room() >= bytes, "what was promised is left");
    }
    assert!(m.heap.stats().minor > 2, "{}", m.heap.stats().minor);
    let mut m = Mutator::new(HeapConfig {
        zeal: Zeal { every_safepoint: true, ..Zeal::default() },
        ..HeapConfig::default()
    });
    assert_eq!(m.heap.check_reserve(), 0, "every check is to fail");
}

/// A weak reference follows its object, of whatever size, and is cleared by the first collection that looks at the
/// object and finds it dead.
#[test]
fn weak_references_know_the_living_from_the_dead() {
    type Make = fn(&mut Mutator) -> u64;
    let makes: [(&str, Make); 7] = [
        ("pair", |m| m.cons(fix(1), NIL)),
        ("vector", |m| m.vector(10, NIL)),
        ("vector of 5 KB", |m| m.vector(700, NIL)),
        ("string of 12 KB", |m| m.string(3_000, 65)),
        ("vector of 30 KB", |m| m.vector(4_000, NIL)),
        ("vector of 240 KB", |m| m.vector(30_000, NIL)),
        ("string of 400 KB", |m| m.string(100_000, 65)),
    ];
    for old in [None, Some(Request::Minor), Some(Request::Major)] {
        for request in [Request::Minor, Request::Major] {
            let mut m = Mutator::new(HeapConfig { nursery_bytes: 8 << 20, ..HeapConfig::default() });
            // by twos: one to live, one to die
            for (_, make) in makes.iter().chain(&makes) {
                for _ in 0..2 {
                    let w = make(&mut m);
                    m.roots.words.push(w);
                }
            }
            if let Some(first) = old {
                m.collect(first);
                m.collect(Request::Minor);
            }
            m.roots.weak = m.roots.words.iter().map(|w| Some(*w)).collect();
            let mut i = 0;
            m.roots.words.retain(|_| {
                i += 1;
                i % 2 == 1
            });
            m.collect(request);
            for (i, pair) in m.roots.weak.chunks(2).enumerate() {
                let what = format!("{}, old after {old:?}, {request:?}", makes[i % makes.len()].0);
                assert_eq!(pair[0], Some(m.roots.words[i]), "living {what}");
                let unseen = old.is_some() && request == Request::Minor;
                assert_eq!(pair[1].is_some(), unseen, "dead {what}");
            }
            m.verify();
            m.major();
            let left = m.roots.weak.iter().flatten().copied().collect::<Vec<u64>>();
            assert_eq!(left, m.roots.words, "after a major collection");
        }
    }
}

#[test]
fn a_heap_check_larger_than_the_nursery_is_served() {
    let mut m = Mutator::new(HeapConfig { nursery_bytes: 64 << 10, ..HeapConfig::default() });
    m.check(1 << 20).unwrap();
    assert!(m.cursors.room() >= 1 << 20);
    // An object that fits no block, although born in the nursery, survives as a large object.
    m.cursors.hi -= 400_008;
    put(m.cursors.hi, 0, header(Type::Vector, 0, 50_000));
    for i in 1..=50_000 {
        put(m.cursors.hi, i, NIL);
    }
    let v = m.cursors.hi | 7;
    let l = m.list(3).unwrap();
    put(v & !7, 50_000, l);
    m.roots.words = vec![v];
    m.minor();
    let v = m.roots.words[0];
    assert_list(get(v, 50_000), 3);
    assert_eq!(m.verify().objects, 4);
    m.minor();
    m.major();
    assert_eq!(m.roots.words[0], v);
    assert_list(get(v, 50_000), 3);
    m.roots.words.clear();
    m.major();
    assert_eq!(m.heap.bytes_in_use(), 32 << 10);
}

#[test]
fn two_heaps_live_side_by_side() {
    let mut a = Mutator::zealous();
    let mut b = Mutator::zealous();
    let la = a.list(5_000).unwrap();
    let lb = b.list(6_000).unwrap();
    a.roots.words.push(la);
    b.roots.words.push(lb);
    a.major();
    b.minor();
    assert_list(a.roots.words[0], 5_000);
    assert_list(b.roots.words[0], 6_000);
    assert!(!a.heap.contains(b.roots.words[0]));
    drop(a);
    b.major();
    assert_list(b.roots.words[0], 6_000);
}

#[test]
fn a_small_region_works_too() {
    let mut m = Mutator::new(HeapConfig { region_bits: 28, ..HeapConfig::default() });
    assert!(m.heap.heap_max() < 100 << 20);
    let l = m.list(1_000_000).unwrap();
    m.roots.words.push(l);
    m.major();
    assert_list(m.roots.words[0], 1_000_000);
    assert!(m.list(20_000_000).is_err());
}

#[test]
fn unknown_collectors_are_refused() {
    static NONE: CollectorFacts = CollectorFacts { name: "none", ..GEN };
    let e = Heap::new(Scheme, HeapConfig { collector: &NONE, ..HeapConfig::default() }).err().unwrap();
    assert_eq!(e.to_string(), "no collector is called `none`");
}

#[test]
fn collecting_at_every_heap_check() {
    let zeal = Zeal { poison: true, verify: true, every_safepoint: true, ..Zeal::default() };
    let mut m = Mutator::new(HeapConfig { zeal, ..HeapConfig::zealous() });
    let l = m.list(300).unwrap();
    assert_list(l, 300);
    let stats = m.heap.stats();
    assert!(stats.minor + stats.major >= 299 && stats.major >= 5, "{} and {}", stats.minor, stats.major);
    m.roots.words.push(l);
    let zeal = Zeal { always_major: true, ..zeal };
    let mut m = Mutator::new(HeapConfig { zeal, ..HeapConfig::zealous() });
    let l = m.list(300).unwrap();
    assert_list(l, 300);
    assert!(m.heap.stats().major >= 299);
}

mod corruption {
    //! The checker finds what a test breaks on purpose.
    use super::*;

    fn complaint(m: &mut Mutator) -> String {
        let problems = m.heap.check(m.cursors, &mut m.roots).expect_err("the corruption went unnoticed");
        problems[0].to_string()
    }
    fn old_vector() -> Mutator {
        let mut m = Mutator::new(HeapConfig::default());
        let v = m.vector(10, NIL);
        m.roots.words = vec![v];
        m.minor();
        m.verify();
        m
    }

    #[test]
    fn a_missing_write_barrier() {
        let mut m = old_vector();
        let p = m.cons(NIL, NIL);
        put(m.roots.words[0] & !7, 3, p);
        assert!(complaint(&mut m).contains("its card is clean"));
    }
    #[test]
    #[should_panic(expected = "its card is clean")]
    fn a_missing_write_barrier_under_zeal() {
        let mut m = Mutator::zealous();
        let v = m.vector(10, NIL);
        m.roots.words = vec![v];
        m.minor();
        let p = m.cons(NIL, NIL);
        put(m.roots.words[0] & !7, 3, p);
        m.minor();
    }
    #[test]
    fn a_missing_root() {
        let mut m = old_vector();
        let p = m.cons(NIL, NIL);
        m.minor(); // `p` was no root
        m.roots.words.push(p);
        assert!(complaint(&mut m).contains("not the start of a pair"), "{}", complaint(&mut m));
    }
    #[test]
    fn a_reference_into_the_middle() {
        let mut m = old_vector();
        let inner = m.roots.words[0] + 8;
        m.roots.words.push(inner);
        assert!(complaint(&mut m).contains("not the start of an object"));
    }
    #[test]
    fn a_wrong_tag() {
        let mut m = old_vector();
        let wrong = m.roots.words[0] - 1; // procedure tag
        m.roots.words.push(wrong);
        assert!(complaint(&mut m).contains("tag does not fit"));
    }
    #[test]
    fn a_wrong_header() {
        let mut m = old_vector();
        put(m.roots.words[0] & !7, 0, header(Type::Vector, 0, 100_000));
        assert!(complaint(&mut m).contains("beyond its block"));
    }
    #[test]
    fn a_reference_to_a_freed_block() {
        let mut m = old_vector();
        let stale = m.roots.words.pop().unwrap();
        m.major();
        m.roots.words.push(stale);
        assert!(complaint(&mut m).contains("kind Free"));
    }
    #[test]
    fn a_freed_chunk_on_the_stack() {
        let mut m = old_vector();
        let (c, _) = m.heap.alloc_chunk(4096).unwrap();
        m.heap.free_chunk(c);
        m.roots.stack.push((c, 0));
        assert!(complaint(&mut m).contains("not a stack chunk in use"));
    }
}

#[test]
fn objects_of_a_few_kilobytes_share_blocks_and_live_and_die_apart() {
    for config in [HeapConfig::default(), HeapConfig::zealous()] {
        let mut m = Mutator::new(config);
        let n = 300;
        for i in 0..n {
            m.check(16).unwrap();
            let v = m.vector(1_100 + 37 * (i % 50), fix(i as i64));
            m.roots.words.push(v);
        }
        m.major();
        m.verify();
        let live: u64 = (0..n).map(|i| 8 * (1_101 + 37 * (i % 50))).sum();
        let used = m.heap.bytes_in_use();
        assert!(used - (32 << 10) < live + live / 100 * 15, "{used} bytes for {live}");
        // References from old to young at both ends of every object.
        for i in 0..n as usize {
            m.check(32).unwrap();
            let (p, v) = (m.inline_cons(fix(i as i64), NIL), m.roots.words[i]);
            m.set(v, 1, p);
            let last = get(v, 0) >> 16;
            let p = m.inline_cons(fix(-(i as i64)), NIL);
            m.set(v, last, p);
        }
        m.verify();
        m.minor();
        m.verify();
        // Every other one dies, and its neighbours keep what they hold.
        for i in (0..n as usize).step_by(2) {
            m.roots.words[i] = NIL;
        }
        m.major();
        m.verify();
        for i in (1..n as usize).step_by(2) {
            let v = m.roots.words[i];
            let last = get(v, 0) >> 16;
            assert_eq!((get(get(v, 1), 0), get(get(v, last), 0)), (fix(i as i64), fix(-(i as i64))));
            assert_eq!(get(v, 2), fix(i as i64));
        }
        // Their room is found again, by young objects between old ones, of which half die young.
        for i in (0..n as usize).step_by(2) {
            m.check(16).unwrap();
            let v = m.vector(1_100 + 37 * (i as u64 % 50), fix(7));
            if i % 4 == 0 {
                m.roots.words[i] = v;
            }
        }
        m.verify();
        m.minor();
        m.verify();
        assert!(m.heap.bytes_in_use() <= used + (64 << 10));
        m.roots.words.clear();
        m.major();
        assert_eq!(m.heap.bytes_in_use(), 32 << 10);
    }
}

/// A tree of pairs `depth` deep whose leaves are vectors, strings and closures.
fn thicket(m: &mut Mutator, depth: u32, r: &mut Random) -> u64 {
    if depth == 0 {
        return match r.below(5) {
            0 => m.vector(r.below(300), NIL),
            1 => m.string(r.below(40), 65),
            2 => m.vector(1_100 + r.below(4_000), fix(1)),
            3 => {
                let v = m.vector(1 + r.below(5), fix(5));
                m.closure(3, v)
            }
            _ => m.list(20).unwrap(),
        };
    }
    let n = m.roots.words.len();
    for _ in 0..4 {
        let t = thicket(m, depth - 1, r);
        m.roots.words.push(t);
    }
    m.check(16 * 8).unwrap();
    let v = m.vector(4, NIL);
    for i in 0..4 {
        let t = m.roots.words[n + i];
        let p = m.cons(t, NIL);
        m.set(v, i as u64 + 1, p);
    }
    m.roots.words.truncate(n);
    v
}

#[test]
fn a_full_mark_stack_loses_nothing() {
    for (mark_stack, zeal) in [(1, Zeal::default()), (7, Zeal { evacuate: true, ..HeapConfig::zealous().zeal })] {
        let mut m = Mutator::new(HeapConfig { mark_stack, zeal, ..HeapConfig::zealous() });
        let mut r = Random(5);
        let t = thicket(&mut m, 4, &mut r);
        m.roots.words.push(t);
        m.major();
        let before = m.verify();
        let used = m.heap.bytes_in_use();
        for _ in 0..3 {
            m.major();
            assert_eq!(m.verify(), before);
        }
        assert!(m.heap.stats().overflows > 0, "with {mark_stack} entries");
        assert!(m.heap.bytes_in_use() <= used, "nothing dead is kept for it");
        m.roots.words.clear();
        m.major();
        assert_eq!(m.heap.bytes_in_use(), 32 << 10);
    }
    // What programs run with is enough for such data.
    let mut m = Mutator::new(HeapConfig::default());
    let t = thicket(&mut m, 4, &mut Random(5));
    m.roots.words.push(t);
    m.major();
    m.verify();
    assert_eq!(m.heap.stats().overflows, 0);
}

#[test]
fn continuations_beyond_the_bound_are_found_again() {
    let mut m = Mutator::new(HeapConfig { mark_stack: 2, ..HeapConfig::zealous() });
    let n = 40;
    for i in 0..n {
        let (chunk, _) = m.heap.alloc_chunk(1000).unwrap();
        let frame = m.vector(3, fix(i));
        for w in 0..4 {
            put(chunk, w, frame);
        }
        let k = m.continuation(chunk, 0, 4, NIL);
        m.roots.words.push(k);
    }
    let all = m.roots.words.clone();
    let v = m.vector(n as u64, NIL);
    for (i, k) in all.into_iter().enumerate() {
        m.set(v, i as u64 + 1, k);
    }
    m.roots.words = vec![v];
    m.major();
    m.major();
    m.verify();
    for i in 0..n {
        let k = get(m.roots.words[0], i as u64 + 1);
        let chunk = get(k, cairn_layout::object::continuation::CHUNK);
        assert_eq!(get(get(chunk, 0), 1), fix(i));
    }
    assert!(m.heap.stats().overflows > 0);
}

#[test]
fn static_data_are_looked_at_where_they_were_written() {
    for config in [HeapConfig::default(), HeapConfig::zealous()] {
        let statics = vec![NIL; 100_000];
        let at = statics.as_ptr() as u64;
        let mut m = Mutator::new(HeapConfig { static_data: Some(at), ..config });
        m.roots.statics = statics;
        m.heap.mark_static(at as *const u64, 100_000);
        m.minor();
        let first = m.heap.stats().static_words;
        assert!(first >= 100_000);
        for round in 0..50 {
            // Words far apart, at the very ends among them; the last one of the first array, the first of the second.
            let places = [round * 1_777, 99_999 - round * 13, 33_332, 33_333];
            for i in places {
                m.check(16).unwrap();
                let p = m.inline_cons(fix(i as i64), NIL);
                m.roots.statics[i] = p;
                m.heap.mark_card(at + 8 * i as u64);
            }
            m.verify();
            m.minor();
            for i in places {
                assert_eq!(get(m.roots.statics[i], 0), fix(i as i64));
            }
        }
        let looked_at = m.heap.stats().static_words - first;
        // At most one card for a store; and each time those at the ends of the arrays.
        assert!(looked_at <= 50 * (3 + 4) * 64, "{looked_at} words for 200 stores");
        m.major();
        m.verify();
        // Objects of the heap never have these cards.
        let l = m.list(200_000).unwrap();
        m.roots.words.push(l);
        m.heap.mark_card(at + 8 * 500);
        let p = m.cons(fix(3), NIL);
        m.roots.statics[500] = p;
        m.minor();
        assert_eq!(get(m.roots.statics[500], 0), fix(3));
        m.verify();
    }
}

/// What tables rely on that find objects by their addresses (`Heap::moves`).
#[test]
fn an_old_object_moves_only_in_collections_that_say_so() {
    for collector in COLLECTORS {
        for evacuate in [false, true] {
            let zeal = Zeal { evacuate, ..Zeal::default() };
            let mut m = Mutator::new(HeapConfig { collector, zeal, ..HeapConfig::zealous() });
            let (mut moved, mut said) = (0, 0);
            for round in 0..40 {
                for _ in 0..50 {
                    let p = m.list(round % 7 + 1).unwrap();
                    m.roots.words.push(p);
                }
                let keep = |i: usize| i as i64 % (round % 3 + 2) != 0;
                let mut i = 0;
                m.roots.words.retain(|_| {
                    i += 1;
                    keep(i)
                });
                let young: Vec<bool> = m.roots.words.iter().map(|&w| m.heap.is_young(w & !7)).collect();
                let (words, before) = (m.roots.words.clone(), m.heap.moves());
                m.collect(if round % 4 == 3 { Request::Major } else { Request::Minor });
                let other = words.iter().zip(&m.roots.words).zip(young).any(|((a, b), young)| a != b && !young);
                assert!(!other || m.heap.moves() != before);
                assert!(!other || m.heap.moves().old != before.old, "{}: {round}", collector.name);
                moved += u64::from(other);
                said += u64::from(m.heap.moves().old != before.old);
            }
            assert!(
                moved > 0 || !(collector.moving != Moving::Never && evacuate),
                "{}: nothing moved",
                collector.name
            );
            assert!(said < 40 || collector.name != "gen");
        }
    }
}
