//! Flonums out of objects: what loops keep in registers, read in the program after `types`; and that programs mean
//! what they meant, under the reference interpreter, whatever the objects hold.

use cairn_core::interp;
use cairn_core::parse::parse_program;
use cairn_core::passes::types;
use cairn_core::print::print_program;
use cairn_core::verify::{Dialect, verify};

/// The program after `types`. It does what it did, and fails where it failed.
fn checked(text: &str) -> String {
    let mut p = parse_program(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let before = interp::run(&p, 20_000);
    types::run(&mut p);
    let printed = print_program(&p);
    assert_eq!(verify(&p, Dialect::Opt), Ok(()), "{text}\n{printed}");
    assert_eq!(interp::run(&p, 200_000), before, "{text}\n{printed}");
    printed.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What objects hold in these programs, `X`.
const ELEMENTS: [&str; 5] = ["2.5", "2", "1152921504606846975", "'x", "1/2"];

/// Calls of `f` whose operands are flonums, fixnums, or none that arithmetic takes.
fn program(procedure: &str, call: &str, x: &str) -> String {
    format!(
        "(define @t.0 (%make-record-type 'point '(x y) 32))
         (define @make.1 (lambda make (x.0 y.1) (%record @t.0 x.0 y.1)))
         (define @id.2 (lambda id (x.2) x.2))
         {procedure}
         (%write-object (%record-ref (@make.1 1.5 2.5) @t.0 0) '() 1)
         {}",
        call.replace('X', x)
    )
}

/// An operand before the stored value that may fail has a name, and the store is done on both paths: the double is
/// stored without a barrier.
#[test]
fn a_double_is_stored_where_it_is_made() {
    let fill = "(define @fill.3
        (lambda fill (v.10 k.11 n.12)
          (labels ((L0 (j.13)
                     (if (%= j.13 n.12)
                         v.10
                         (seq
                           (%vector-set! v.10 (%+ (%* k.11 n.12) j.13)
                             (%+ (%vector-ref v.10 j.13) (%* (%vector-ref v.10 (%+ j.13 1)) 1.5)))
                           (jump L0 (%+ j.13 1))))))
            (jump L0 0))))";
    for x in ELEMENTS {
        for operands in ["0 2", "1 3", "'y 2", "0 'y", "2 2"] {
            let call = format!("(%write-object (@fill.3 (%vector X 1.5 X 3.5) {operands}) '() 1)");
            let text = checked(&program(fill, &call, x));
            if operands.contains('y') {
                continue; // it always fails
            }
            let stores: Vec<&str> = text.split("(%vector-set!").skip(1).collect();
            assert!(stores.len() >= 2, "{text}");
            for store in stores {
                let value = ["(let ((leaf", "(%fl+", "(%+:2 leaf"].map(|v| store.find(v).unwrap_or(usize::MAX));
                assert!(value[0] > value[1].min(value[2]), "the value is chosen inside of a store: {text}");
            }
        }
    }
}

/// A flonum from outside is decoded in front of the loop, the outer one if there are two.
#[test]
fn loops_do_not_decode_what_they_do_not_change() {
    let scale = "(define @scale.3
        (lambda scale (v.10 k.11)
          (labels ((L0 (i.12)
                     (if (%fx= i.12 3)
                         v.10
                         (seq
                           (labels ((L1 (j.13)
                                      (if (%fx= j.13 3)
                                          #f
                                          (seq
                                            (%vector-set! v.10 j.13
                                              (%* k.11 (%+ (%vector-ref v.10 j.13) (%* k.11 0.5))))
                                            (jump L1 (%fx+ j.13 1))))))
                             (jump L1 0))
                           (jump L0 (%fx+ i.12 1))))))
            (jump L0 0))))";
    for x in ELEMENTS {
        let call = "(%write-object (@scale.3 (%vector X 1.5 X) 0.25) '() 1)
                    (%write-object (@scale.3 (%vector X 1.5 X) 1.25) '() 1)";
        let text = checked(&program(scale, call, x));
        let (before, after) = text.split_once("(%fl*:3 k.11 1.0)").unwrap_or_else(|| panic!("{text}"));
        assert!(before.ends_with(' ') && before.contains("(let ((double."), "{text}");
        assert!(!before.contains("labels ((L"), "it is in front of both loops: {text}");
        assert!(!after.contains("(%fl*:3 k.11"), "{text}");
        // a test of the parameter tells, too
        let call = "(%write-object (@scale.3 (%vector X 1.5 X) (@id.2 X)) '() 1)
                    (%write-object (@scale.3 (%vector X 1.5 X) (@id.2 0.5)) '() 1)";
        checked(&program(scale, call, x));
    }
}

/// A loop with a call keeps the flonum as it is: no double stays in a register across calls.
#[test]
fn loops_that_call_decode_in_place() {
    let scale = "(define @scale.3
        (lambda scale (v.10 k.11)
          (labels ((L0 (j.13)
                     (if (%fx= j.13 3)
                         v.10
                         (seq
                           (%vector-set! v.10 j.13 (%* k.11 (%+ (@scale.3 v.10 k.11) (%* k.11 0.5))))
                           (jump L0 (%fx+ j.13 1))))))
            (jump L0 3))))";
    let text = checked(&program(scale, "(%write-object (@scale.3 (%vector X 1.5 X) 0.25) '() 1)", "1"));
    assert!(!text.contains("double."), "{text}");
}

/// One operation on a value from outside is worth a copy of the loop it stands in.
#[test]
fn a_loop_gets_a_path_for_a_flonum_from_outside() {
    let add = "(define @add.3
        (lambda add (v.10 w.11)
          (let ((x.12 (%vector-ref v.10 0)))
            (labels ((L0 (j.13)
                       (if (%fx= j.13 3)
                           v.10
                           (seq
                             (%vector-set! v.10 j.13 (%+ (%vector-ref v.10 j.13) (%* x.12 (%vector-ref w.11 j.13))))
                             (jump L0 (%fx+ j.13 1))))))
              (jump L0 0)))))";
    for x in ELEMENTS {
        for y in ELEMENTS {
            let call = format!("(%write-object (@add.3 (%vector X 1.5 X) (%vector 0.5 {y} X)) '() 1)");
            let text = checked(&program(add, &call, x));
            assert!(text.contains("(if (%flonum? x.12) (let ((double."), "{text}");
        }
    }
}

/// Fields of closed record types are known to hold flonums by what is stored in them: differences of fields are tested
/// once, and the loop's least one is a double.
#[test]
fn fields_of_closed_types_are_evidence() {
    let nearest = "(define @nearest.3
        (lambda nearest (p.10 v.11)
          (labels ((L0 (j.12 best.13 d.14)
                     (if (%fx= j.12 3)
                         best.13
                         (let ((b.15 (%vector-ref v.11 j.12)))
                           (let ((dx.16 (%- (%record-ref p.10 @t.0 0) (%record-ref b.15 @t.0 0))))
                             (let ((dy.17 (%- (%record-ref p.10 @t.0 1) (%record-ref b.15 @t.0 1))))
                               (let ((e.18 (%+ (%* dx.16 dx.16) (%* dy.17 dy.17))))
                                 (if (%< e.18 d.14)
                                     (jump L0 (%fx+ j.12 1) j.12 e.18)
                                     (jump L0 (%fx+ j.12 1) best.13 d.14)))))))))
            (jump L0 0 7 1e30))))";
    for x in ELEMENTS {
        for y in ["0.5", "3", "'x"] {
            let point = |x: &str, y: &str| format!("(@make.1 (@id.2 {x}) (@id.2 {y}))");
            let points = [point("X", "X"), point(y, "1.25"), point("2.5", "X")].join(" ");
            for p in [point("1.5", "0.5"), point("X", y)] {
                let call = format!("(%write-object (@nearest.3 {p} (%vector {points})) '() 1)");
                let text = checked(&program(nearest, &call, x));
                assert!(text.contains("(%fl<:3"), "{text}");
            }
        }
    }
}

/// A loop that begins with an exact number and computes with complex numbers of flonums from then on carries their
/// parts.
#[test]
fn loops_carry_the_parts_of_complex_numbers() {
    for first in ["0", "2", "1/2", "1.5"] {
        let orbit = format!(
            "(define @orbit.3
               (lambda orbit (a.10 n.11)
                 (let ((c.14 (%fl-rectangular (%inexact a.10) 0.25)))
                   (labels ((L0 (z.12 i.13)
                              (if (%fx= i.13 n.11)
                                  (%compnum? z.12)
                                  (if (if (%compnum? z.12) (%fl< 9.0 (%compnum-real z.12)) (%= z.12 7))
                                      i.13
                                      (jump L0 (%+ (%- (%* z.12 z.12) (%* 2 z.12)) c.14) (%fx+ i.13 1))))))
                     (jump L0 {first} 0)))))"
        );
        let text = checked(&program(&orbit, "(%write-object (@orbit.3 0.5 9) '() 1)", "1"));
        let (_, looping) = text.split_once("(L1 (").expect("the first turn has a copy of its own");
        assert_eq!(looping.matches("(%fl*").count(), 6, "{text}");
        for generic in ["(%* ", "(%*:", "(%+ ", "(%+:"] {
            assert!(!looping.contains(generic), "{generic} in {text}");
        }
    }
}
