//! The optimizer as a whole: a program does the same without any one pass (`--disable-pass`), and small operations of
//! the library leave no call.

use cairn_core::passes::Disabled;
use std::fs;
use std::process::{Command, Output};

mod common;
use common::{Directory, binary, cairn, printed, root, text};

fn run(options: &[&str], program: &str) -> Output {
    Command::new(binary()).arg("run").args(options).arg(program).current_dir(root()).output().unwrap()
}

#[test]
fn a_program_does_the_same_without_any_one_pass() {
    let program = "tests/programs/mutators.scm";
    let expected = fs::read_to_string(root().join(program).with_extension("out")).unwrap();
    for name in Disabled::names() {
        let option = format!("--disable-pass={name}");
        let output = run(&["--no-cache", "--llvm=none", &option], program);
        assert_eq!(printed(&output), expected, "{option}");
    }
}

#[test]
fn what_is_left_out_is_not_done() {
    let d = Directory::new("passes");
    d.write(
        "p.scm",
        "(define (twice x) (+ x x))
         (define (total v i) (if (= i 0) 0 (+ (twice (vector-ref v i)) (total v (- i 1)))))
         (write (cons (total (vector 1 2 3) 2) (total (vector 4 5) 1)))",
    );
    let core = |options: &[&str]| {
        let emit = ["run", "--emit=opt", "--only=total", "p.scm"];
        printed(&cairn(&d.0, &[&emit[..3], options, &emit[3..]].concat()).output().unwrap())
    };
    assert!(!core(&["--opt=high"]).contains("twice"));
    assert!(core(&["--disable-pass=inline"]).contains("twice"));
    let output = cairn(&d.0, &["run", "--disable-pass=nothing", "p.scm"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("possible values: simplify, lift, contify, inline"), "{output:?}");
}

/// Operations on bits are done in place where integers are small; elsewhere they are quick calls of the runtime.
#[test]
fn operations_on_bits_call_no_procedure() {
    const OPERATIONS: [&str; 12] = [
        "(bitwise-and a b)",
        "(bitwise-ior a b 4)",
        "(bitwise-xor a b c)",
        "(bitwise-not a)",
        "(arithmetic-shift a 3)",
        "(arithmetic-shift a -3)",
        "(bitwise-arithmetic-shift-left a 3)",
        "(bitwise-arithmetic-shift-right a 3)",
        "(bitwise-xor a (arithmetic-shift b -1))",
        "(bitwise-and a (bitwise-not b))",
        "(bit-count a)",
        "(integer-length a)",
    ];
    let d = Directory::new("bits");
    let mut program =
        "(import (scheme base) (scheme write) (only (srfi 151) arithmetic-shift bit-count integer-length)
                               (only (rnrs arithmetic bitwise) bitwise-and bitwise-ior bitwise-xor bitwise-not
                                     bitwise-arithmetic-shift-left bitwise-arithmetic-shift-right))\n"
            .to_string();
    for (i, operation) in OPERATIONS.iter().enumerate() {
        // called twice, with what is not known
        program += &format!("(define (f{i} a b c) {operation})\n(write (list f{i} f{i}))\n");
    }
    d.write("p.scm", &program);
    for (i, operation) in OPERATIONS.iter().enumerate() {
        let only = format!("--only=f{i}");
        let core = printed(&cairn(&d.0, &["run", "--opt=high", "--emit=opt", &only, "p.scm"]).output().unwrap());
        let calls = core.replace("(@wrong-type", "");
        assert!(calls.contains("(%fx") && !calls.contains("(@"), "{operation}\n{core}");
    }
}
