//! Stack chunks of `gen`: which ones a minor collection frees.
#![allow(unsafe_code, missing_docs)]

mod common;

use cairn_heap::{HeapConfig, Request};
use common::*;

#[test]
fn a_minor_collection_frees_young_chunks_that_nothing_refers_to_and_no_others() {
    let mut m = Mutator::new(HeapConfig::default());
    let [kept, dropped, freed, old] = [0; 4].map(|_| m.heap.alloc_chunk(1024).unwrap().0);
    [kept, dropped, freed, old].iter().for_each(|chunk| put(*chunk, 0, NIL));
    let in_use = |m: &Mutator| {
        let mut all: Vec<u64> = m.heap.stack_chunks().iter().map(|(chunk, _)| *chunk).collect();
        all.sort_unstable();
        all
    };
    let sorted = |chunks: &[u64]| {
        let mut all = chunks.to_vec();
        all.sort_unstable();
        all
    };
    m.roots.words = vec![m.continuation(old, 0, 1, NIL)];
    m.roots.stack = vec![(kept, 1)];
    m.heap.free_chunk(freed);
    for _ in 0..3 {
        m.minor();
        assert_eq!(in_use(&m), sorted(&[kept, old]));
    }
    // its slot, which was freed by hand, is taken again
    let again = m.heap.alloc_chunk(1024).unwrap().0;
    put(again, 0, NIL);
    m.roots.stack.push((again, 1));
    m.minor();
    assert_eq!(in_use(&m), sorted(&[kept, again, old]));
    m.roots.stack.clear();
    m.minor();
    assert_eq!(in_use(&m), [old]);
    // one that was freed by hand is not freed once more
    let bytes = m.heap.bytes_in_use();
    let (by_hand, _) = m.heap.alloc_chunk(1024).unwrap();
    m.heap.free_chunk(by_hand);
    m.minor();
    assert_eq!(m.heap.bytes_in_use(), bytes);
}

#[test]
fn chunks_made_and_dropped_between_collections_ask_for_no_major_one() {
    let mut m = Mutator::new(HeapConfig::default());
    let majors = |m: &mut Mutator| m.heap.stats().major;
    for _ in 0..10 {
        // 3 MB of chunks of captured frames, all dead: more than is worth a look, were they kept
        for _ in 0..96 {
            let (chunk, _) = m.heap.alloc_chunk(32 << 10).unwrap();
            put(chunk, 0, NIL);
            m.continuation(chunk, 0, 1, NIL);
        }
        m.collect(Request::Auto);
        assert_eq!(m.heap.stack_chunks().len(), 0);
    }
    assert_eq!(majors(&mut m), 0);
    // those that minor collections keep are looked at once they have grown
    for _ in 0..96 {
        let (chunk, _) = m.heap.alloc_chunk(32 << 10).unwrap();
        put(chunk, 0, NIL);
        m.roots.words = vec![m.continuation(chunk, 0, 1, NIL)];
        m.collect(Request::Auto);
    }
    let (looked, left) = (majors(&mut m), m.heap.stack_chunks().len());
    assert!(looked > 0 && left < 40, "{looked} major collections, {left} chunks");
}
