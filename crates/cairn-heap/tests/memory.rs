//! How much memory of the system a heap takes: tests that measure the process, one at a time.
#![allow(unsafe_code, missing_docs)]

mod common;

use cairn_heap::{HeapConfig, SizingConfig};
use cairn_layout::facts::{BDW, COLLECTORS};
use common::*;
use std::sync::Mutex;

static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn memory_stays_bounded_while_gigabytes_are_allocated() {
    let _alone = ALONE.lock();
    let mut m = Mutator::new(HeapConfig::default());
    let keep = m.list(100_000).unwrap();
    m.roots.words = vec![keep; 64];
    let mut r = Random(7);
    let start = resident();
    let mut most = 0;
    for i in 0..1_200_000 {
        m.check(4008).unwrap();
        let v = m.blank_string(1000);
        if r.below(8) == 0 {
            let slot = 1 + r.below(63) as usize;
            m.roots.words[slot] = v;
        }
        if i % 10_000 == 0 {
            most = most.max(resident());
        }
    }
    assert!(m.heap.stats().allocated > 4 << 30);
    assert!(most < start + (64 << 20), "{} MB resident", most >> 20);
    assert_list(m.roots.words[0], 100_000);
}

/// Under every collector of ours; libgc decides for itself.
#[test]
fn memory_goes_back_to_the_system() {
    let _alone = ALONE.lock();
    for collector in COLLECTORS.iter().copied().filter(|c| c.name != BDW.name) {
        let sizing = SizingConfig { min_limit: 8 << 20, ..SizingConfig::default() };
        let mut m = Mutator::new(HeapConfig { collector, sizing, ..HeapConfig::default() });
        let before = resident();
        let l = m.list(5_000_000).unwrap(); // 80 MB
        let s = m.string(10_000_000, 65); // 40 MB
        m.roots.words = vec![l, s];
        assert!(resident() > before + (110 << 20), "{}", collector.name);
        m.roots.words.clear();
        m.major();
        m.major();
        let left = resident().saturating_sub(before) >> 20;
        assert!(left < 24, "{}: {left} MB", collector.name);
    }
}
