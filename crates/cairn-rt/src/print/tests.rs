//! Tests of printing.

use super::*;
use crate::alloc::*;
use crate::bare_runtime::{TestRuntime, set_cdr};
use crate::symbol::intern;
use cairn_layout::machine::Machine;

fn written(v: Value) -> String {
    to_text(v, Mode::Write, usize::MAX)
}

fn fixnums(ctx: &mut Machine, items: &[i64]) -> Value {
    let items: Vec<Value> = items.iter().map(|n| Value::fixnum(*n)).collect();
    make_list(ctx, &items)
}

#[test]
fn atoms() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let s = make_string(ctx, "a\"b\\c\nλ\u{1}");
    assert_eq!(written(s), "\"a\\\"b\\\\c\\nλ\\x1;\"");
    assert_eq!(to_text(s, Mode::Display, 100), "a\"b\\c\nλ\u{1}");
    assert_eq!(written(Value::fixnum(-1 << 60)), "-1152921504606846976");
    let cases =
        [(97, "#\\a"), (0, "#\\null"), (32, "#\\space"), (0x3bb, "#\\λ"), (0x80, "#\\x80"), (127, "#\\delete")];
    for (c, text) in cases {
        assert_eq!(written(Value::char(c)), text);
    }
    for (x, text) in [(1.0, "1.0"), (-0.5, "-0.5"), (f64::INFINITY, "+inf.0"), (1e100, "1e100")] {
        assert_eq!(written(make_flonum(ctx, x)), text);
    }
    assert_eq!(written(make_bytevector(ctx, &[0, 255])), "#u8(0 255)");
    assert_eq!(written(make_vector(ctx, &[])), "#()");
}

#[test]
fn symbols_get_bars_when_they_need_them() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let cases = [
        ("foo", "foo"),
        ("", "||"),
        ("a b", "|a b|"),
        ("a|b", "|a\\|b|"),
        ("1", "|1|"),
        ("+i", "|+i|"),
        ("1+", "1+"),
        ("-", "-"),
        ("...", "..."),
        (".", "|.|"),
        ("->x", "->x"),
        ("#foo", "|#foo|"),
        ("[", "|[|"),
        ("a]", "|a]|"),
        ("{a}", "|{a}|"),
        ("Foo", "Foo"),
        ("λ", "λ"),
    ];
    for (name, text) in cases {
        assert_eq!(written(intern(ctx, name)), text);
    }
}

#[test]
fn lists_and_vectors() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let l = fixnums(ctx, &[1, 2, 3]);
    let v = make_vector(ctx, &[l, Value::NIL, Value::TRUE]);
    let p = alloc_pair(ctx, v, Value::fixnum(4));
    assert_eq!(written(p), "(#((1 2 3) () #t) . 4)");
}

#[test]
fn cycles_get_labels_and_plain_sharing_does_not() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let l = fixnums(ctx, &[1, 2]);
    set_cdr(ctx, cdr(l), l);
    assert_eq!(written(l), "#0=(1 2 . #0#)");
    assert_eq!(to_text(l, Mode::Display, 100), "#0=(1 2 . #0#)");
    let s = fixnums(ctx, &[7]);
    let both = make_list(ctx, &[s, s]);
    assert_eq!(written(both), "((7) (7))");
    assert_eq!(to_text(both, Mode::Shared, 100), "(#0=(7) #0#)");
    assert_eq!(to_text(l, Mode::Simple, 6), "(1 2 1…");
    let v = make_vector(ctx, &[Value::NIL, l]);
    store_word(ctx, v, 0, v);
    assert_eq!(written(v), "#0=#(#0# #1=(1 2 . #1#))");
}

#[test]
fn a_cycle_in_the_tail() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let l = fixnums(ctx, &[1, 2, 3]);
    let last = cdr(cdr(l));
    set_cdr(ctx, last, cdr(l));
    assert_eq!(written(l), "(1 . #0=(2 3 . #0#))");
}

#[test]
fn a_cycle_at_the_end_of_much() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    // before, at and after each size at which the search for cycles starts again
    for length in [9_999, 10_000, 10_001, 39_999, 40_000, 300_000, 2_000_000] {
        let last = alloc_pair(ctx, Value::fixnum(7), Value::NIL);
        let list = (1..length).fold(last, |rest, _| alloc_pair(ctx, Value::fixnum(7), rest));
        assert_eq!(written(list), format!("({}7)", "7 ".repeat(length - 1)));
        set_cdr(ctx, last, last);
        assert_eq!(written(list), format!("({}. #0=(7 . #0#))", "7 ".repeat(length - 1)));
        set_cdr(ctx, last, list);
        assert_eq!(written(list), format!("#0=({}. #0#)", "7 ".repeat(length)));
    }
}

#[test]
fn a_million_levels() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let deep = (0..1_000_000).fold(Value::NIL, |v, _| alloc_pair(ctx, v, Value::NIL));
    let text = written(deep);
    assert_eq!(text.len(), 2_000_002);
    assert_eq!(to_text(deep, Mode::Shared, usize::MAX), text);
}

#[test]
fn records_show_their_fields() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let names = [intern(ctx, "x"), intern(ctx, "y")];
    let names = make_list(ctx, &names);
    let point = intern(ctx, "<point>");
    let rtd = crate::record::cairn_record_make_type(ctx, point, names, Value::fixnum(2 << 4));
    let text = make_string(ctx, "q");
    let fields = make_list(ctx, &[Value::fixnum(1), text]);
    let p = crate::record::cairn_record_make(ctx, rtd, fields);
    assert_eq!(written(p), "#<point x: 1 y: \"q\">");
    assert_eq!(written(rtd), "#<record-type point>");
    crate::record::cairn_record_show(ctx, rtd, Value::fixnum(1));
    assert_eq!(written(p), "#<point x: 1>");
    crate::record::cairn_record_show(ctx, rtd, Value::fixnum(0));
    assert_eq!(written(p), "#<point>");
    crate::record::cairn_record_show(ctx, rtd, Value::fixnum(2));
    let name = intern(ctx, "condition");
    let rtd = crate::record::cairn_record_make_type(ctx, name, Value::NIL, Value::fixnum(5 << 4));
    let (who, message) = (make_string(ctx, "car"), make_string(ctx, "expected a pair, got"));
    let irritants = make_list(ctx, &[text]);
    let fields = make_list(ctx, &[Value::fixnum(0), who, message, irritants, Value::fixnum(0)]);
    let c = crate::record::cairn_record_make(ctx, rtd, fields);
    assert_eq!(written(c), "#<condition car: expected a pair, got \"q\">");
    store_word(ctx, p, 0, p);
    assert_eq!(written(p), "#0=#<point x: #0# y: \"q\">");
}

#[test]
fn exact_numbers() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let big = alloc_object(ctx, Type::Bignum, cairn_layout::object::FLAG_NEGATIVE, 2);
    words_of_big(big, &[0, 1]);
    assert_eq!(written(big), "-18446744073709551616");
    let ratio = alloc_object(ctx, Type::Ratnum, 0, 2);
    access::words_mut(ratio).copy_from_slice(&[Value::fixnum(-2), Value::fixnum(3)]);
    assert_eq!(written(ratio), "-2/3");
}

fn words_of_big(v: Value, limbs: &[u64]) {
    for (i, limb) in limbs.iter().enumerate() {
        // SAFETY: the bignum was made with as many limbs as this loop counts.
        unsafe { *(access::word_address(v, i) as *mut u64) = *limb };
    }
}
