//! Tables and places that compiler and runtime look up by name or number.

#![allow(unsafe_code)]

use cairn_layout::calls::RtIndex;
use cairn_layout::code::{OF_PROCEDURE, Site, expected_values};
use cairn_layout::collector::{COLLECTORS, collector};
use cairn_layout::facts::{STRATEGIES, strategy};
use cairn_layout::machine::{Machine, SLOTS};
use cairn_layout::value::Value;

#[test]
fn names_find_what_bears_them() {
    for s in STRATEGIES {
        assert_eq!(strategy(s.name).map(|f| f.name), Some(s.name));
    }
    for c in COLLECTORS {
        assert_eq!(collector(c.name).map(|f| f.name), Some(c.name));
    }
    for unknown in ["", "chunk", "chunks ", "Gen"] {
        assert!(
            strategy(unknown).is_none() && collector(unknown).is_none() && RtIndex::by_name(unknown).is_none()
        );
    }
}

/// Each slot of the machine is a place of its own, whether it belongs to the thread or to the worker.
#[test]
fn slots_are_apart() {
    // SAFETY: a machine is words, pointers that may be null and values; nobody runs this one.
    let mut m: Box<Machine> = Box::new(unsafe { std::mem::zeroed() });
    for i in 0..SLOTS {
        *m.slot_mut(i) = Value::fixnum(100 + i as i64);
    }
    for i in 0..SLOTS {
        assert_eq!(m.slot(i), Value::fixnum(100 + i as i64), "slot {i}");
    }
}

/// The count that is expected, and whether the values are arguments of a procedure with a name, do not get mixed up.
#[test]
fn expected_values_tell_count_and_procedure() {
    for count in [0, 1, 2, 100] {
        for rest in [false, true] {
            let (anonymous, named) =
                (expected_values(count, rest, Site::NONE), expected_values(count, rest, "0:1:3".parse().unwrap()));
            assert_eq!(anonymous as u64 & OF_PROCEDURE, 0, "{count} {rest}");
            assert_eq!(named as u64, anonymous as u64 | OF_PROCEDURE, "{count} {rest}");
            assert_eq!(anonymous as u64, cairn_layout::code::count_word(count as u64, rest), "{count} {rest}");
        }
    }
}
