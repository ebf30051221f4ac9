//! Small passes, under the reference interpreter: boxes for assigned parameters, negations of negations.

use cairn_core::interp;
use cairn_core::parse::parse_program;
use cairn_core::passes::testing::run_pass;
use cairn_core::print::print_program;
use cairn_core::verify::{Dialect, verify};

/// Runs the program before and after a pass.
fn same(text: &str, pass: &str, dialect: Dialect) {
    let mut p = parse_program(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let before = interp::run(&p, 20_000);
    assert!(before.result.is_ok() && !before.trace.is_empty(), "{before:?}\n{text}");
    run_pass(&mut p, pass);
    let printed = print_program(&p);
    assert_eq!(verify(&p, dialect), Ok(()), "{text}\n{printed}");
    assert_eq!(interp::run(&p, 20_000), before, "{text}\n{printed}");
}

/// Each of the parameters of a clause is assigned or not; closures see the assignments.
#[test]
fn assigned_parameters_are_boxed() {
    for assigned in 0..8u32 {
        let names = ["x.0", "y.1", "r.2"];
        let of_assigned = |text: fn(&str) -> String| -> String {
            (0..3).filter(|i| assigned & (1 << i) != 0).map(|i| text(names[i])).collect()
        };
        let sets = of_assigned(|v| format!("(set! {v} (%cons 0 {v})) "));
        let marks = of_assigned(|v| format!("(var {v} assigned) "));
        let writes: String = names.iter().map(|n| format!("(%write-object {n} '() 1) ")).collect();
        let text = format!(
            "(define @f.0 (lambda f (x.0 y.1 . r.2)
               (let ((k.3 (lambda k () (seq {sets} {writes} 1)))) (seq (k.3) (k.3) {sets} {writes} 1))))
             (@f.0 1 2 3 4) (@f.0 5 6) {marks}"
        );
        same(&text, "assign", Dialect::Fixed);
    }
}

/// `(not (not x))` is `x` where only its truth matters, and `#t` or `#f` elsewhere.
#[test]
fn a_negated_negation_is_a_boolean() {
    for x in ["5", "#f", "#t", "'()", "(%cons 1 2)", "a.1", "(%pair? a.1)", "(@g.1 a.1)"] {
        let text = format!(
            "(define @g.1 (lambda g (b.2) b.2))
             (define @f.0 (lambda f (a.1)
               (seq (%write-object (%not (%not {x})) '() 1) (%write-object (if (%not (%not {x})) 1 2) '() 1))))
             (@f.0 7) (@f.0 #f)"
        );
        same(&text, "simplify", Dialect::Opt);
    }
}
