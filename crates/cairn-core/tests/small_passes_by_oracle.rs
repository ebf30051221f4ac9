//! Small passes, under the reference interpreter: boxes for assigned parameters, negations of negations.

use cairn_core::interp;
use cairn_core::ir::Program;
use cairn_core::parse::parse_program;
use cairn_core::passes::testing::run_pass;
use cairn_core::passes::{inline, types};
use cairn_core::print::print_program;
use cairn_core::verify::{Dialect, verify};

/// Runs the program before and after a pass.
fn same(text: &str, pass: &str, dialect: Dialect) {
    same_after(text, dialect, |p| _ = run_pass(p, pass).expect("a pass"));
}

fn same_after(text: &str, dialect: Dialect, pass: impl Fn(&mut Program)) {
    let mut p = parse_program(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let before = interp::run(&p, 20_000);
    assert!(before.result.is_ok() && !before.trace.is_empty(), "{before:?}\n{text}");
    pass(&mut p);
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

/// Bindings around a top-level lambda become globals, and nothing is lost on the way.
#[test]
fn what_is_bound_around_a_lambda_is_lifted_with_it() {
    let text = "(define @count.0 (let ((n.0 10) (m.1 20))
                  (fix ((add.2 (lambda add (x.3) (%cons x.3 n.0))))
                    (lambda count (y.4) (seq (%write-object (add.2 y.4) '() 1) (%write-object m.1 '() 1))))))
                (define @count.1 (let ((n.5 30)) (lambda other (y.6) (%write-object (%cons n.5 y.6) '() 1))))
                (@count.0 1) (@count.0 2) (@count.1 3)";
    same(text, "lift", Dialect::Opt);
}

/// Procedures that are used once wait to be put where they are called; those that only others of them use must not be
/// forgotten, in whatever order they stand.
#[test]
fn procedures_that_only_waiting_procedures_use_are_kept() {
    let orders = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]];
    let lambdas = [
        "(a.1 (lambda a (x.11) (seq (%write-object x.11 '() 1) (%cons b.2 x.11))))",
        "(b.2 (lambda b (x.12) (seq (%write-object x.12 '() 1) (%cons c.3 x.12))))",
        "(c.3 (lambda c (x.13) (seq (%write-object x.13 '() 1) (%cons d.4 x.13))))",
        "(d.4 (lambda d (x.14) (seq (%write-object x.14 '() 1) 0)))",
    ];
    for order in orders {
        let fixed: String = order.iter().map(|&i| lambdas[i]).collect();
        let text = format!(
            "(define @f.0 (lambda f (y.0) (fix ({fixed}) (%cons a.1 y.0))))
             (define @go.1 (lambda go (p.20) (if (%pair? p.20) (let ((q.21 (%car p.20))) (@go.1 (q.21 1))) p.20)))
             (@go.1 (@f.0 7))"
        );
        same_after(&text, Dialect::Opt, inline::run);
    }
}

/// A procedure that one of two variables names is called by both names; the test is evaluated once, and before.
#[test]
fn one_of_two_procedures_gets_operands_that_are_computed() {
    for test in ["(%pair? x.0)", "(%cons x.0 1)", "(seq (%write-object x.0 '() 1) (%pair? x.0))"] {
        let text = format!(
            "(define @a.1 (lambda a (y.1) (%write-object (%cons 'a y.1) '() 1)))
             (define @b.2 (lambda b (y.2) (%write-object (%cons 'b y.2) '() 1)))
             (define @f.0 (lambda f (x.0) (call (if {test} @a.1 @b.2) (%cons x.0 x.0))))
             (@f.0 5) (@f.0 (%cons 1 2))"
        );
        same_after(&text, Dialect::Opt, inline::run);
    }
}

/// A procedure that stands once in the text is called several times when what it stands in is copied.
#[test]
fn a_procedure_handed_on_by_a_copy_stays() {
    for calls in
        ["(g.2 @call.0 1)", "(seq (g.2 @call.0 1) (g.2 @call.0 2))", "(seq (g.2 @call.0 1) (g.2 @keep.1 2) 0)"]
    {
        let text = format!(
            "(define @call.0 (lambda call (p.3 y.4) (p.3 y.4)))
             (define @keep.1 (lambda keep (p.5 y.6) (%cons p.5 y.6)))
             (define @main.2 (lambda main (n.0)
               (let ((f.1 (lambda f (x.7) (seq (%write-object x.7 '() 1) (%write-object n.0 '() 1) x.7))))
                 (let ((g.2 (lambda g (h.8 y.9) (h.8 f.1 y.9)))) {calls}))))
             (@main.2 10) (@main.2 11)"
        );
        same_after(&text, Dialect::Opt, inline::run);
    }
}

/// Whoever gets a vector may store anything into it, also where the vector is the last of a sequence.
#[test]
fn a_vector_at_the_end_of_a_sequence_is_not_known() {
    for given in ["v.1", "(seq (%write-object 0 '() 1) v.1)", "(let ((w.3 v.1)) (seq 1 2 w.3))"] {
        let text = format!(
            "(define @f.0 (lambda f (n.0)
               (let ((v.1 (%make-vector n.0 1.5)))
                 (let ((p.2 (%cons 0 {given})))
                   (seq (%vector-set! (%cdr p.2) 1 'changed) (%write-object (%vector-ref v.1 1) '() 1))))))
             (@f.0 3)"
        );
        same_after(&text, Dialect::Opt, types::run);
    }
}

/// A test decides by the last of its expressions, and the others are looked at, too.
#[test]
fn a_sequence_tests_its_last_expression() {
    for last in ["(%pair? x.0)", "(%not (%pair? x.0))", "#f", "(%car (%cons x.0 2))"] {
        let text = format!(
            "(define @show.1 (lambda show (y.1) (%write-object (if (%fixnum? y.1) 'number y.1) '() 1)))
             (define @f.0 (lambda f (x.0)
               (%write-object (if (seq (@show.1 1) (@show.1 'a) {last}) 'yes 'no) '() 1)))
             (@f.0 #f) (@f.0 5) (@f.0 (%cons 1 2))"
        );
        same_after(&text, Dialect::Opt, types::run);
    }
}
