//! What types with structure vectors cost programs that use their records as any others.
//!
//! The compiler's text is compared, not instructions counted: what is the same text is the same code.

mod common;
use common::run_text;

/// A procedure of a program after all passes over Core, with its variables numbered from 0.
fn optimized(name: &str, text: &str, procedure: &str) -> String {
    let text = emitted(name, text, &["--only", procedure]);
    assert!(text.contains(&format!("define @{procedure}.")), "{name}: no {procedure} in\n{text}");
    renumbered(&text)
}

/// A program after all passes over Core, or what these options leave of it.
fn emitted(name: &str, text: &str, options: &[&str]) -> String {
    let program = format!("(import (scheme base) (scheme write) (cairn structure))\n{text}\n");
    run_text(&format!("record-costs-{name}"), &program, &[&["--opt=high", "--emit=opt"], options].concat())
}

/// The text with the numbers of its names in the order of their first use, and spaces alike.
fn renumbered(text: &str) -> String {
    let mut numbers: Vec<&str> = Vec::new();
    let words = text.split_whitespace().map(|word| {
        let end = word.trim_end_matches([')', '(']).len();
        match word[..end].rsplit_once('.') {
            Some((name, n)) if !name.is_empty() && n.parse::<u32>().is_ok() => {
                let known = numbers.iter().position(|m| *m == n).unwrap_or_else(|| {
                    numbers.push(n);
                    numbers.len() - 1
                });
                format!("{name}.{known}{}", &word[end..])
            }
            _ => word.to_string(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

const LISTS: &str = "
    (define (len l) (if (p? l) (+ (p-x l) (len (p-y l))) 0))
    (define (made n) (let l ((i 0) (a '())) (if (= i n) a (l (+ i 1) (make-p i a)))))
    (define (go k) (let ((l (made 100))) (let loop ((i 0) (s 0)) (if (= i k) s (loop (+ i 1) (+ s (len l)))))))
    (display (go 10)) (display (go 20))";

/// Structure vectors whose elements are read and written where they lie.
const VECTORS: &str = "
    (define-structure-vector p)
    (define v (make-p-vector 3 1 2))
    (p-vector-set! v 0 1 2)
    (display (p-x (p-vector-ref v 0)))
    (display (p-vector? (p-vector-copy v)))
    (p-vector-sort! (lambda (a b) (< (p-x a) (p-x b))) v)";

#[test]
fn records_of_a_type_with_structure_vectors_cost_what_others_do() {
    for (name, fields) in [("any", "(x p-x set-p-x!) (y p-y)"), ("kinds", "((x i32) p-x set-p-x!) (y p-y)")] {
        let record = format!("(define-record-type p (make-p x y) p? {fields})");
        let alone = optimized(&format!("{name}-alone"), &format!("{record}{LISTS}"), "len");
        let beside = optimized(&format!("{name}-beside"), &format!("{record}{VECTORS}{LISTS}"), "len");
        assert_eq!(alone, beside, "{name}");
        assert!(alone.contains("record-instance?:2"), "one comparison: {alone}");
    }
}

/// An element that is kept may be what `len` gets: plain records have code of their own, with one question, and behind
/// it stands what elements take.
#[test]
fn where_elements_are_kept_plain_records_are_asked_once() {
    let record = "(define-record-type p (make-p x y) p? (x p-x set-p-x!) (y p-y))";
    let kept = "(define-structure-vector p) (define v (make-p-vector 3 1 '()))
                (define kept (list (p-vector-ref v 0) (p-vector-ref v 1)))
                (display (map len kept))";
    let len = optimized("kept", &format!("{record}{LISTS}{kept}"), "len");
    let (plain, elements) = ("(if (%record-instance?:2 l.1 @p.2)", "(if (%record-instance? l.1 @p.2)");
    let (plain, elements) = (len.find(plain).expect(&len), len.find(elements).expect(&len));
    assert!(plain < elements, "{len}");
    // all is known of a plain record and of what its fields hold
    let first = &len[plain..elements];
    assert!(
        first.contains("(%record-ref:5 l.1 @p.2 0)") && first.contains("(%record-ref:5 l.1 @p.2 1)"),
        "{first}"
    );
    // and of an element, that it has passed for one
    assert!(len[elements..].contains("(%record-ref:36 l.1 @p.2 0)"), "{len}");
}

/// Only vectors whose elements may be referred to must stand still.
#[test]
fn vectors_without_references_to_elements_may_move() {
    let record = "(define-record-type p (make-p x y) p? (x p-x set-p-x!) (y p-y))";
    for (name, more, kept) in [("moves", "", "#f"), ("still", "(display (list (p-vector-ref v 0)))", "#t")] {
        let whole = emitted(name, &format!("{record}{VECTORS}{more}"), &[]);
        let (_, made) = whole.split_once("(%structure-type ").expect(&whole);
        assert!(made.split_once(')').expect(made).0.ends_with(kept), "{made}");
    }
}

/// Programs that only read structure vectors make no references either, however often they read.
#[test]
fn programs_that_only_read_make_no_references() {
    let points = "(define-record-type p (make-p x y) p? ((x f64) p-x) ((y f64) p-y))
        (define-structure-vector p)
        (define (sum v n)
          (let loop ((i 0) (s 0.))
            (if (= i n)
                s
                (let ((a (p-vector-ref v i))) (loop (+ i 1) (+ s (* (p-x a) (p-y a))))))))
        (define (difference v n)
          (let loop ((i 0) (s 0.))
            (if (= i n)
                s
                (let ((a (p-vector-ref v i))) (loop (+ i 1) (+ s (- (p-x a) (p-y a))))))))
        (define v (make-p-vector 100 1. 2.))
        (display (list (sum v 100) (difference v 100) (sum v 10) (difference v 10)))";
    let q = "(define-record-type q (make-q x y) q? ((x f64) q-x) ((y f64) q-y)) (define-structure-vector q)
        (define w (make-q-vector 100 1. 2.)) (display (q-x (q-vector-ref w 3)))";
    for (name, text) in [("one", points.to_string()), ("two", format!("{points}{q}"))] {
        for procedure in ["sum", "difference"] {
            let text = optimized(&format!("{name}-{procedure}"), &text, procedure);
            assert!(text.contains("structure-fl-get"), "{text}");
            assert!(!text.contains("%structure-reference") && !text.contains("%structure-element"), "{text}");
        }
    }
}

/// What a sort is told to compare by becomes part of it.
#[test]
fn sorting_in_place_makes_no_references() {
    let text = "(define-record-type p (make-p x y) p? ((x f64) p-x) ((y f64) p-y))
        (define-structure-vector p)
        (define (order! v) (p-vector-sort! (lambda (a b) (< (p-x a) (p-x b))) v))
        (define v (make-p-vector 100 1. 2.))
        (order! v) (order! (make-p-vector 10)) (display (p-x (p-vector-ref v 10)))";
    let order = optimized("order", text, "order!");
    assert!(order.contains("structure-fl-put!") && order.contains("%fl<"), "{order}");
    assert!(!order.contains("%structure-element") && !order.contains("%structure-reference"), "{order}");
}

/// A constructor that has the name of its type does not define a variable twice: it is known, and inlined.
#[test]
fn a_constructor_may_have_the_name_of_its_type() {
    let of = |constructor: &str| {
        format!(
            "(define-record-type p ({constructor} x y) p? (x p-x) (y p-y))
             (define (moved a d) ({constructor} (+ (p-x a) d) (p-y a)))
             (define (go k) (let loop ((i 0) (a ({constructor} 0.5 1))) (if (= i k) (p-x a) (loop (+ i 1) (moved a i)))))
             (display (go 10)) (display (go 20))"
        )
    };
    let other = optimized("other-name", &of("make-p"), "go");
    let same = optimized("same-name", &of("p"), "go");
    assert_eq!(same, other);
    assert!(!same.contains("(call "), "{same}");
}

/// An element of an array is a load behind a test of the index, and a record inside of another one is read there.
#[test]
fn arrays_and_records_inside_are_reached_where_they_lie() {
    let text = "(define-record-type q (make-q x y) q? ((x f64) q-x) ((y f64) q-y))
        (define-record-type p (make-p c at) p? ((c (array f64 3)) p-c set-p-c!) ((at (inline q)) p-at))
        (define-structure-vector p)
        (define (sum v n k)
          (let loop ((i 0) (s 0.))
            (if (= i n) s (loop (+ i 1) (+ s (p-c (p-vector-ref v i) k))))))
        (define (products v n)
          (let loop ((i 0) (s 0.))
            (if (= i n)
                s
                (let ((q (p-at (p-vector-ref v i)))) (loop (+ i 1) (+ s (* (q-x q) (q-y q))))))))
        (define v (make-p-vector 100 #f64(1. 2. 3.) (make-q 4. 5.)))
        (display (list (sum v 100 1) (products v 100) (sum v 10 2) (products v 10)))";
    for procedure in ["sum", "products"] {
        let text = optimized(procedure, text, procedure);
        assert!(text.contains("structure-fl-get") && text.contains("%fl+"), "{text}");
        for made in
            ["%structure-reference", "%structure-element", "%raw-record", "%record-part", "(@p-c", "(@p-at"]
        {
            assert!(!text.contains(made), "{made}: {text}");
        }
    }
}
