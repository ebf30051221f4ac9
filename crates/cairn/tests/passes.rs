//! `--disable-pass`: a program does the same without any one pass of the optimizer.

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
        let output = run(&["--no-cache", "--llvm=quick", &option], program);
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
