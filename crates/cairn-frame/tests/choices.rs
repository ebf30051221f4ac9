//! Choices of the frame pass, each against the rule that its module states: which variables are unboxed doubles, what
//! checks keep alive, which loops are left as they are.

mod common;

use cairn_frame::ir::{Function, Module, Rep, Stmt};
use cairn_frame::parse::parse_module;
use cairn_frame::print::print_module;
use cairn_frame::safepoints;
use cairn_frame::verify::verify;

fn statements(f: &Function) -> impl Iterator<Item = &Stmt> {
    f.blocks.iter().flat_map(|b| &b.stmts)
}

fn named<'a>(m: &'a Module, name: &str) -> &'a Function {
    m.functions.iter().find(|f| &*f.name == name).expect("a function of this name")
}

/// A flonum is raw if that saves a decoding and costs two encodings at most.
#[test]
fn a_flonum_is_unboxed_when_flonum_operations_or_stores_use_it_and_few_others_do() {
    let value_uses = ["(%set-box! c.2 x.3)", "(%cons x.3 c.2)", "(%write-object x.3 '() 1)", "(@g.1 x.3)"];
    for (values, decodes) in (0..11).flat_map(|v| (0..3).map(move |d| (v, d))) {
        for shift in 0..value_uses.len() {
            let as_value: Vec<&str> = (0..values).map(|i| value_uses[(i + shift) % 3]).collect();
            // a store encodes by itself
            let stored = as_value.contains(&value_uses[0]);
            let as_flonum = (0..decodes).map(|_| "(%set-box! c.2 (%fl+ x.3 a.0))");
            let uses: Vec<&str> = as_value.into_iter().chain(as_flonum).collect();
            let text = format!(
                "(define @f.0 (lambda f (a.0 b.1 c.2) (let ((x.3 (%fl* a.0 b.1))) (seq {} #t))))
                (define @g.1 (lambda g (x.4) x.4)) (@g.1 @f.0)",
                uses.join(" ")
            );
            for strategy in common::strategies() {
                let module = common::lower(&common::core(&text, "as it is"), strategy);
                let x = module
                    .functions
                    .iter()
                    .flat_map(|f| &f.vars)
                    .find(|v| v.name.starts_with('x') && v.rep == Rep::Double);
                assert_eq!(x.is_some(), (decodes > 0 || stored) && values <= 8, "{values} and {decodes}: {text}");
            }
        }
    }
}

/// Checks that are inserted where a closure's variables are still to be read keep the closure.
const READS: &str = "module STRATEGY main main.entry

function main.entry of main entry words 1
  0 -> main

function main of main body ()
  b0:
    check 64 live ()
    f.0 = closure f.entry '1 '#f
    g.1 = closure g.entry f.0 '#f
    tail direct g closure g.1 ('3)

function f.entry of f entry words 3
  1 -> f

function f of f body (x.0) closure c.1
  b0:
    goto b1
  b1:
    a.2 = free 0
    if a.2 b1 else b2
  b2:
    b.3 = free 1
    return b.3

function g.entry of g entry words 3
  1 -> g

function g of g body (x.0) closure c.1
  b0:
    check 64 live (c.1)
    goto b1
  b1:
    a.2 = free 0
    b.3 = free 1
    call a.2 (b.3) frame WORDS [] then g.r1

function g.r1 of g return frame WORDS [] -> r.0
  b0:
    return r.0
";

#[test]
fn a_check_keeps_the_closure_whose_variables_are_read_after_it() {
    for strategy in common::strategies() {
        let text = READS.replace("STRATEGY", strategy.name).replace("WORDS", &strategy.header_words.to_string());
        let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        safepoints::insert(&mut module);
        let printed = print_module(&module);
        let stops = statements(named(&module, "f")).filter(|s| matches!(s, Stmt::StopCheck { .. })).count();
        assert_eq!(stops, 1, "{printed}");
        assert!(printed.contains("stop live (c.1)"), "{printed}");
        if printed.contains("    stack ") {
            let words = strategy.header_words;
            let checked = format!("b.3 = free 1\n    stack {words} live (a.2 b.3)\n    call a.2 (b.3)");
            assert!(printed.contains(&checked), "{printed}");
        }
        let complaints = verify(&module).err().unwrap_or_default();
        let of_checks: Vec<&String> = complaints.iter().filter(|c| !c.contains("without a heap check")).collect();
        assert!(of_checks.is_empty(), "{of_checks:?}\n{printed}");
    }
}

/// Loops: with a safepoint in each round already, with one on one of two ways, with none, nested.
const LOOPS: [(&str, bool); 5] = [
    ("(labels ((L0 (l.1) (if (%null? l.1) l.1 (jump L0 (@g.1 l.1))))) (jump L0 a.0))", false),
    ("(labels ((L0 (l.1) (if (%null? l.1) l.1 (jump L0 (%cons l.1 l.1))))) (jump L0 a.0))", false),
    ("(labels ((L0 (l.1) (if (%null? l.1) l.1 (jump L0 (%cdr l.1))))) (jump L0 a.0))", true),
    (
        "(labels ((L0 (l.1) (if (%null? l.1) l.1 (if (%pair? l.1) (jump L0 (%cons l.1 l.1)) (jump L0 (%cdr l.1))))))
           (jump L0 a.0))",
        true,
    ),
    (
        "(labels ((L0 (l.1) (if (%null? l.1) l.1
             (labels ((L1 (k.2) (if (%null? k.2) (jump L0 (%cdr l.1)) (jump L1 (%cdr k.2))))) (jump L1 l.1)))))
           (jump L0 a.0))",
        true,
    ),
];

#[test]
fn loops_that_stop_are_left_as_they_are() {
    // Where frames are in the heap there are no stack checks: a second insertion has nothing to do.
    for (body, quiet) in LOOPS {
        let text = format!(
            "(define @f.0 (lambda f (a.0) {body})) (define @g.1 (lambda g (x.9) (%cons x.9 '()))) (@g.1 @f.0) (@g.1 @g.1)"
        );
        let mut module = common::lower(&common::core(&text, "as it is"), common::named("heap"));
        let stops = |m: &Module| {
            m.functions.iter().flat_map(statements).filter(|s| matches!(s, Stmt::StopCheck { .. })).count()
        };
        assert_eq!(stops(&module) > 0, quiet, "{text}\n{}", print_module(&module));
        let once = print_module(&module);
        safepoints::insert(&mut module);
        common::same(&print_module(&module), &once);
    }
}

/// Only what is much too large for people, and has no loop, is left to LLVM without optimization; the word survives
/// printing and parsing.
#[test]
fn a_procedure_is_vast_when_it_is_very_long_and_runs_through_once() {
    let steps = |n| vec!["(%set-box! c.1 (%cons c.1 c.1))"; n].join(" ");
    let straight = |n| format!("(seq {} c.1)", steps(n));
    let looping =
        |n| format!("(labels ((L0 (l.2) (if (%null? l.2) {} (jump L0 (%cdr l.2))))) (jump L0 a.0))", straight(n));
    for (n, body, vast) in
        [(5000, straight(5000), true), (3000, straight(3000), false), (5000, looping(5000), false)]
    {
        let text = format!("(define @f.0 (lambda f (a.0 c.1) {body})) @f.0");
        for strategy in common::strategies() {
            let module = common::lower(&common::core(&text, "as it is"), strategy);
            let pieces: Vec<&Function> = module.functions.iter().filter(|f| !f.blocks.is_empty()).collect();
            for f in &pieces {
                assert_eq!(f.vast, vast && &*f.procedure == "f", "{n} steps in {}, {}", f.name, strategy.name);
            }
            let again = parse_module(&print_module(&module)).expect("it parses");
            assert_eq!(
                again.functions.iter().filter(|f| f.vast).count(),
                pieces.iter().filter(|f| f.vast).count()
            );
        }
    }
}
