//! The heap's checker finds damage: each kind is done to a sound heap, under every collector, and must be reported with
//! the slot or in the words that name it.
#![allow(unsafe_code, missing_docs)]

mod common;

use cairn_heap::{HeapConfig, Zeal};
use cairn_layout::facts::COLLECTORS;
use cairn_layout::object::{Type, header};
use cairn_layout::value::{TAG_OBJECT, TAG_PAIR, TAG_PROCEDURE};
use common::{CODES, Mutator, NIL, fix, get, put};

fn mutators() -> impl Iterator<Item = Mutator> {
    COLLECTORS.iter().map(|collector| {
        Mutator::new(HeapConfig {
            collector,
            zeal: Zeal::default(),
            page_bytes: 32 << 10,
            ..HeapConfig::zealous()
        })
    })
}

/// What the checker says of a heap whose root 0 is a vector of a pair, a closure and a string, after the damage.
fn reports(damage: impl Fn(&mut Mutator, u64)) -> Vec<Vec<String>> {
    mutators()
        .map(|mut m| {
            let v = m.vector(3, NIL);
            m.roots.words.push(v);
            let parts = [m.cons(fix(1), fix(2)), m.closure(2, fix(3)), m.string(5, 'a' as u32)];
            for (i, part) in (1..).zip(parts) {
                put(v & !7, i, part);
            }
            m.verify();
            damage(&mut m, v);
            let problems = m.heap.check(m.cursors, &mut m.roots).expect_err("the damage is not seen");
            problems.iter().map(|p| p.to_string()).collect()
        })
        .collect()
}

fn all_say(what: &str, reports: &[Vec<String>]) {
    assert_eq!(reports.len(), COLLECTORS.len());
    for r in reports {
        assert!(r.iter().any(|p| p.contains(what)), "no {what:?} in {r:?}");
    }
}

#[test]
fn a_procedure_without_code() {
    // A small number where the address of code belongs.
    all_say("neither header nor code address", &reports(|_, v| put(get(v, 2) & !7, 0, fix(5))));
    all_say("neither header nor code address", &reports(|_, v| put(get(v, 2) & !7, 0, 0xFFF8)));
}

#[test]
fn a_word_that_refers_into_an_object() {
    for part in [1, 2, 3] {
        let found = reports(|_, v| put(v & !7, part, get(v, part) + 8));
        assert!(found.iter().all(|r| !r.is_empty()));
    }
}

#[test]
fn a_reference_with_the_tag_of_another_kind() {
    // The closure as if it was a string, the string as if it was a procedure.
    for (part, tag) in [(2, TAG_OBJECT), (3, TAG_PROCEDURE)] {
        let found = reports(|_, v| put(v & !7, part, get(v, part) & !7 | tag));
        assert!(found.iter().all(|r| !r.is_empty()));
    }
}

/// One object that two references take for different kinds: each of them alone may look sound.
#[test]
fn an_object_met_with_two_tags() {
    let found = reports(|_, v| put(v & !7, 1, get(v, 2) & !7 | TAG_PAIR));
    assert!(found.iter().all(|r| !r.is_empty()));
}

#[test]
fn an_object_longer_than_what_it_lies_in() {
    let found = reports(|_, v| put(get(v, 3) & !7, 0, header(Type::String, 0, 1 << 20)));
    assert!(found.iter().all(|r| !r.is_empty()));
}

#[test]
fn a_closure_that_claims_more_words_than_it_has() {
    let found = reports(|m, v| {
        // The last object that was allocated from this end: the words behind it are not its own.
        let c = m.closure(1, NIL);
        put(v & !7, 1, c);
        m.verify();
        put(c & !7, 0, CODES[7].address());
    });
    assert!(found.iter().all(|r| !r.is_empty()));
}

#[test]
fn immortal_objects_are_looked_at_and_nothing_behind_them() {
    for mut m in mutators() {
        let mut last = 0;
        for _ in 0..2_000 {
            last = m.heap.alloc_immortal(24, false).unwrap();
            put(last, 0, header(Type::Symbol, 0, 2));
            put(last, 1, NIL);
            put(last, 2, NIL);
            let name = m.heap.alloc_immortal(416, true).unwrap();
            put(name, 0, header(Type::String, 0, 102));
        }
        assert_eq!(m.verify().words, 3 * 2_000);
        let pair = m.cons(NIL, NIL);
        put(last, 2, pair + 8);
        m.heap.check(m.cursors, &mut m.roots).expect_err("the last word of the last symbol");
    }
}
