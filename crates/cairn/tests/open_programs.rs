//! Programs that load, or evaluate in the interaction environment, share everything with what they load and evaluate,
//! however they are run.

use std::process::Command;

mod common;
use common::{Directory, binary};

const FILES: &[(&str, &str)] = &[
    // its macros are used by later forms; a file that it loads lies beside it
    (
        "sub/inner.scm",
        "(define inner 'inner) (load \"deep/leaf.scm\")
         (define-syntax swap! (syntax-rules () ((_ a b) (let ((t a)) (set! a b) (set! b t)))))",
    ),
    ("sub/deep/leaf.scm", "(define leaf (list 'leaf inner))"),
    // what the program defines is used, assigned and defined again
    (
        "changes.scm",
        "(set! counter (+ counter 1)) (store! dest counter) (define (helper x) (* x 100)) (define base 7)",
    ),
    ("records.scm", "(define (sum p) (+ (px p) (py p))) (define made (make-point 3 4))"),
    // as many programs do: the loaded file imports for itself
    ("imports.scm", "(import (srfi 1)) (define (last-of l) (last l))"),
    (
        "own/lib.sld",
        "(define-library (own lib) (export loader) (import (scheme base) (scheme load) (own part))
       (begin (define (loader file) (load file) part)))",
    ),
    ("own/part.sld", "(define-library (own part) (export part) (import (scheme base)) (include \"part.scm\"))"),
    ("own/part.scm", "(define part 'part)"),
    ("included.scm", "(load \"sub/inner.scm\") (define both 1) (define other 2) (swap! both other)"),
];

const PROGRAM: &str = r#"
(define (show x) (write x) (newline))
(define counter 10)
(define dest 0)
(define-syntax store! (syntax-rules () ((_ a b) (set! a b))))
(define (use x) (helper x))             ; the definition comes behind
(define (helper x) (* x 2))
(define base 3)
(define (get-base) base)
(show (use 1))
(load "changes.scm")
(show (list counter dest (use 1) (get-base)))
(define (load-it) (load "sub/inner.scm") (list inner leaf))
(show (load-it))
(define a 1)
(define b 2)
(swap! a b)
(show (list a b))
(define e (interaction-environment))
(show (eval '(use 3) e))
(eval '(define (helper x) (list 'new x)) e)
(show (use 4))
(eval '(set! base 'changed) e)
(show base)
(eval '(begin (define q 1) (define-syntax my-or (syntax-rules () ((_ x y) (let ((t x)) (if t t y)))))) e)
(show (my-or #f (+ q 1)))
(define-record-type point (make-point x y) point? (x px) (y py))
(load "records.scm" e)
(show (list (sum made) (eval '(px made) e) (point? made)))
; a continuation goes on with the forms behind it
(define k #f)
(define n 0)
(show (call/cc (lambda (c) (set! k c) n)))
(set! n (+ n 1))
(if (< n 3) (k n))
; imported names that are defined behind their use
(define (mapped x) (vector-map x 1))
(define old-car car)
(show (procedure? old-car))
(define (vector-map a b) (list 'mine a b))
(define (car x) (old-car (list 'wrapped x)))
(show (list (mapped 5) (car 6)))
(load "imports.scm")
(show (list (last-of '(1 2 3)) (last '(4 5))))
(include "included.scm")
(show (list both other))
(show (guard (e (#t (list 'caught (error-object? e)))) (load "no-such-file.scm")))
"#;

const EXPECTED: &str = "2
(11 11 100 7)
(inner (leaf inner))
(2 1)
300
(new 4)
changed
2
(7 3 #t)
0
1
2
#t
((mine 5 1) wrapped)
(3 5)
(2 1)
(caught #t)
";

const WITH_IMPORTS: &str = r#"
(import (scheme base) (scheme load) (only (scheme repl) interaction-environment) (scheme eval) (scheme write) (own lib))
(define (twice x) (* 2 x))
(write (list (loader "changes.scm") (eval '(twice 21) (interaction-environment)) counter dest))
"#;

/// Output and errors of a program in a directory that is not that of the program.
fn output(d: &Directory, command: &mut Command) -> String {
    let elsewhere = d.0.join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let output = command.env("CAIRN_CACHE_DIR", d.0.join("cache")).current_dir(elsewhere).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn directory(name: &str) -> Directory {
    let d = Directory::new(name);
    for (path, text) in FILES {
        std::fs::create_dir_all(d.0.join(path).parent().unwrap()).unwrap();
        d.write(path, text);
    }
    d.write("p.scm", PROGRAM);
    let definitions =
        "(define counter 0) (define dest 0) (define-syntax store! (syntax-rules () ((_ a b) (set! a b))))";
    d.write("i.scm", WITH_IMPORTS.replace("(define (twice", &format!("{definitions}\n(define (twice")));
    d
}

const OF_IMPORTS: &str = "(part 42 1 1)";

#[test]
fn they_are_one_world_with_what_they_load() {
    let d = directory("open");
    for level in ["auto", "high", "low"] {
        let run = |file: &str| {
            let option = format!("--opt={level}");
            output(&d, Command::new(binary()).args(["run", &option]).arg(d.0.join(file)))
        };
        assert_eq!(run("p.scm"), EXPECTED, "--opt={level}");
        assert_eq!(run("i.scm"), OF_IMPORTS, "--opt={level}");
    }
}

/// Executables have the text of what the program includes and imports, and read what it loads.
#[test]
fn executables_are_too() {
    let d = directory("open-build");
    for (file, expected) in [("p.scm", EXPECTED), ("i.scm", OF_IMPORTS)] {
        let build =
            |c: &mut Command| output(&d, c.arg("build").arg(d.0.join(file)).arg("-o").arg(d.0.join("program")));
        assert_eq!(build(&mut Command::new(binary())), "");
        for part in ["own/lib.sld", "own/part.sld", "own/part.scm", "included.scm"] {
            std::fs::rename(d.0.join(part), d.0.join("hidden")).unwrap();
            let same = output(&d, &mut Command::new(d.0.join("program")));
            std::fs::rename(d.0.join("hidden"), d.0.join(part)).unwrap();
            assert_eq!(same, expected, "{file} without {part}");
        }
    }
}

/// A library of the program's is loaded once, also for what is evaluated in an environment with it.
#[test]
fn environments_have_the_programs_libraries() {
    let d = directory("open-environment");
    d.write(
        "own/state.sld",
        "(define-library (own state) (export up! ups make-p p? p-x) (import (scheme base))
           (begin (define n 0) (define (up!) (set! n (+ n 1)) n) (define (ups) n)
                  (define-record-type p (make-p x) p? (x p-x))))",
    );
    let body = "(up!) (up!)
        (define env (environment '(scheme base) '(own state)))
        (write (list (ups) (eval '(up!) env) (ups) (eval `(p-x ',(make-p 5)) env) (p? (eval '(make-p 1) env))))";
    let imports = "(import (scheme base) (scheme write) (scheme eval) (own state))";
    d.write("e.scm", format!("{imports} {body}"));
    // the library stands in the program's file
    let text = std::fs::read_to_string(d.0.join("own/state.sld")).unwrap().replace("own state", "here state");
    d.write("h.scm", format!("{text} {imports} {body}").replace("own state", "here state"));
    d.write("r6rs.scm", R6RS);
    d.write("more.scm", MORE);
    for (file, expected) in [
        ("e.scm", "(2 3 3 5 #t)"),
        ("h.scm", "(2 3 3 5 #t)"),
        ("r6rs.scm", "((assertion \"bad\") (who foo) (who me) 2 no-file)"),
        ("more.scm", "(#t 3 #t)"),
    ] {
        for level in ["auto", "high", "low"] {
            let option = format!("--opt={level}");
            let seen = output(&d, Command::new(binary()).args(["run", &option]).arg(d.0.join(file)));
            assert_eq!(seen, expected, "{file} --opt={level}");
        }
        let mut build = Command::new(binary());
        build.arg("build").arg(d.0.join(file)).arg("-o").arg(d.0.join("program"));
        assert_eq!(output(&d, &mut build), "");
        assert_eq!(output(&d, &mut Command::new(d.0.join("program"))), expected, "{file} built");
    }
}

/// Conditions and tables that evaluated code makes, of libraries that are not compiled beforehand.
const R6RS: &str = r#"
(import (rnrs) (rnrs eval))
(define (try form)
  (guard (e ((assertion-violation? e) (list 'assertion (condition-message e)))
            ((i/o-file-does-not-exist-error? e) 'no-file)
            ((who-condition? e) (list 'who (condition-who e))))
    (eval form (environment '(rnrs)))))
(define table (try '(let ((h (make-eqv-hashtable))) (hashtable-set! h 1 2) h)))
(write (list (try '(assertion-violation 'foo "bad" 1)) (try '(error 'foo "bad" 1))
             (try '(raise (make-who-condition 'me))) (hashtable-ref table 1 #f) (try '(open-file-input-port "/there/is/none"))))
"#;

const MORE: &str = r#"
(import (scheme base) (scheme write) (scheme eval) (srfi 113) (srfi 128) (srfi 146))
(define (evaluated form) (eval form (environment '(scheme base) '(srfi 113) '(srfi 128) '(srfi 146))))
(define s (evaluated '(set (make-default-comparator) 1 2 3)))
(write (list (set? s) (set-size s) (mapping? (evaluated '(mapping (make-default-comparator) 'a 1)))))
"#;

#[test]
fn names_that_chez_scheme_does_not_have_are_free() {
    let d = directory("chez-free");
    let library = "(library (util) (export list-set! square) (import (except (chezscheme) remove))
        (define (square x) (list 'square x)) (define (list-set! l k x) (list 'mine l k x)))";
    d.write("util.sls", library);
    for imports in ["(util) (chezscheme)", "(chezscheme) (util)", "(except (chezscheme) iota) (util)"] {
        let program = format!("(import {imports}) (write (cons (list-set! 'a 1 2) (square 3)))");
        d.write("free.scm", &program);
        let program = output(&d, Command::new(binary()).arg("run").arg(d.0.join("free.scm")));
        assert_eq!(program, "((mine a 1 2) square 3)", "{imports}");
    }
    d.write("has.scm", "(import (chezscheme)) (write (square 3))");
    assert_eq!(output(&d, Command::new(binary()).arg("run").arg(d.0.join("has.scm"))), "9");
}

/// Chez Scheme's `eval` needs no environment: that of the program is meant.
#[test]
fn the_eval_of_chez_scheme_is_the_programs() {
    let d = directory("open-chez");
    let program = "(import (chezscheme)) (define five 5)
                   (printf \"~s ~s \" (eval '(* five 2)) (eval '(add1 2) (interaction-environment)))
                   (eval '(define six (add1 five))) (printf \"~s\" (map (lambda (e) (eval e)) '(six 7)))";
    d.write("chez.scm", program);
    assert_eq!(output(&d, Command::new(binary()).arg("run").arg(d.0.join("chez.scm"))), "10 3 (6 7)");
}

#[test]
fn so_is_the_prompt() {
    let d = directory("open-prompt");
    for file in ["p.scm", "i.scm"] {
        let load = format!("(load {:?})", d.0.join(file));
        let expected = if file == "p.scm" { EXPECTED } else { OF_IMPORTS };
        let library = format!("-I{}", d.0.display());
        let output = output(&d, Command::new(binary()).arg(library).args(["-e", &load]));
        assert_eq!(output.trim_end(), expected.trim_end());
    }
}

/// What is wrong is said where it is, also in a file that is loaded.
#[test]
fn errors_have_places() {
    let d = directory("open-errors");
    d.write("bad.scm", "(define (f x)\n  (car x))\n(f 1)\n");
    d.write("syntax.scm", "(define x 1)\n(let ((y)) y)\n");
    let library = "(define-library (own bad) (export x) (import (scheme base))\n (begin\n  (define x (if))))";
    d.write("own/bad.sld", library);
    d.write("own/includes.sld", "(define-library (own includes) (import (scheme base))\n (include \"none.scm\"))");
    for (program, expected) in [
        ("(load \"bad.scm\")\n", "bad.scm:2:3"),
        ("(load \"syntax.scm\")\n", "syntax.scm:2:"),
        ("(load \"imports.scm\")\n(display 1)\n(let ((y)) y)\n", "p.scm:3:"),
        ("(define (g) (load \"bad.scm\"))\n(g)\n", "p.scm:2:1"),
        // a library that is read while the program runs
        ("(import (own bad))\n(define (g) (load \"bad.scm\"))\n", "own/bad.sld:3:13"),
        ("(import (own includes))\n(define (g) (load \"bad.scm\"))\n", "own/includes.sld:2:11"),
        ("(import (scheme base) (scheme eval))\n(environment '(own bad))\n", "own/bad.sld:3:13"),
        ("(import (scheme base) (scheme eval))\n(environment '(own none))\n", "p.scm:2:1"),
    ] {
        d.write("p.scm", program);
        let text = output(
            &d,
            Command::new(binary()).arg("run").arg(format!("-I{}", d.0.display())).arg(d.0.join("p.scm")),
        );
        assert!(text.contains(expected), "{expected} of\n{program}\n{text}");
    }
}

/// An included file may lie beside the file that includes it, where libraries are looked for, or in the working
/// directory; the nearest counts.
#[test]
fn included_files_are_looked_for() {
    let d = Directory::new("includes");
    d.write(
        "lib/deep/own.sld",
        "(define-library (deep own) (export x) (import (scheme base)) (include \"deep/part.scm\"))",
    );
    d.write("lib/deep/part.scm", "(define x 'beside-libraries)");
    d.write("elsewhere/here.scm", "(write 'here)");
    d.write("beside/main.scm", "(include \"near.scm\" \"here.scm\") (import (deep own)) (write x)");
    d.write("beside/near.scm", "(import (scheme base) (scheme write)) (write 'near)");
    d.write("lib/near.scm", "(write 'far)");
    let open = "(import (scheme base) (scheme write) (scheme repl)) (include \"near.scm\" \"here.scm\") (import (deep own))
                (eval '(write x) (interaction-environment))";
    d.write("beside/open.scm", open);
    for (file, options) in
        [("main", "--opt=high"), ("main", "--opt=auto"), ("open", "--opt=high"), ("open", "--opt=auto")]
    {
        let program = d.0.join(format!("beside/{file}.scm"));
        let library = format!("-I{}", d.0.join("lib").display());
        let out = output(&d, Command::new(binary()).args(["run", options, &library]).arg(program));
        assert_eq!(out, "nearherebeside-libraries", "{file} {options}");
    }
}

/// A program that is run, and built and run, with the files that it loads as they were, and changed.
#[test]
fn native_code_in_executables_serves_what_it_was_made_of() {
    let d = directory("open-ahead");
    let program = "
        (define (show . xs) (for-each display xs) (newline))
        (define (f x) (g x))
        (define (g x) (* x 2))
        (define (count-to n) (do ((i 0 (+ i 1)) (s 0 (+ s (f i)))) ((= i n) s)))
        (define-record-type point (make-point x y) point? (x px set-px!) (y py))
        (define (move n) (let loop ((i 0) (p (make-point 0 0))) (if (= i n) (px p) (begin (set-px! p i) (loop (+ i 1) p)))))
        (show (f 21) \" \" (count-to 1000) \" \" (move 1000))
        (load \"loaded.scm\")
        (show (f 21) \" \" (count-to 1000))
        (eval '(define (g x) (- x)) (interaction-environment))
        (show (f 21) \" \" (count-to 1000))
        (define (later-user) (later 1))
        (define (later-value) later)
        (define (caught thunk) (call/cc (lambda (k) (with-exception-handler (lambda (e) (k (error-object-message e))) thunk))))
        (show (caught later-user) (caught later-value))
        (show (caught (lambda () (set! later 1))))
        (define (later x) (list x 5))
        (show (later-user) (procedure? (later-value)) (eq? later (later-value)))
        (set! g (lambda (x) (* 100 x)))
        (show (f 2))
        (define g car)
        (show (f '(1 2)))
        (use-macro 3)
        (show (helper 10))
        (define (const) '(a b))
        (show (eq? (const) (const)))
        (define k #f)
        (define n 0)
        (define (again) (set! n (+ n 1)) (if (< n 3) (k n)))
        (show \"k \" (call/cc (lambda (c) (set! k c) 0)))
        (again)
        (define (deep n) (if (= n 0) (car 'x) (+ 1 (deep (- n 1)))))
        (deep 3)";
    let loaded = "
        (define (g x) (+ x 1000))
        (define (helper n) (if (= n 0) '() (cons n (helper (- n 1)))))
        (define-syntax twice (syntax-rules () ((_ e) (begin e e))))
        (define (use-macro x) (twice (show \"use \" x)))";
    let changed = "
        (define (g x) (+ x 2000))
        (define (helper n) (show \"helper\") n)
        (define-syntax use-macro (syntax-rules () ((_ x) (show \"macro \" 'x))))";
    d.write("ahead.scm", program);
    d.write("loaded.scm", loaded);
    let run = || output(&d, Command::new(binary()).arg("run").arg(d.0.join("ahead.scm")));
    let build = |frames: &str| {
        let mut build = Command::new(binary());
        build.args(["build", "--verify", frames]).arg(d.0.join("ahead.scm")).arg("-o").arg(d.0.join("ahead"));
        output(&d, &mut build)
    };
    let ahead = || output(&d, &mut Command::new(d.0.join("ahead")));
    let seen = run();
    assert!(seen.contains("unbound variable: later") && seen.contains("-21 -499500"), "{seen}");
    for frames in ["chunks", "heap"] {
        assert_eq!(build(&format!("--frames={frames}")), "");
        assert_eq!(ahead(), seen, "{frames}");
    }
    d.write("loaded.scm", changed);
    let other = run();
    assert!(other.contains("helper") && other.contains("macro 3"), "{other}");
    assert_eq!(ahead(), other);
}

/// Evaluated code takes more than ten times as long.
#[test]
fn executables_that_load_are_fast() {
    let d = directory("open-fast");
    let fib = "(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))";
    d.write("fast.scm", "(load \"fib.scm\") (display (fib 32))");
    d.write("fib.scm", fib);
    let build =
        Command::new(binary()).arg("build").arg(d.0.join("fast.scm")).arg("-o").arg(d.0.join("fast")).status();
    assert!(build.unwrap().success());
    let time = || {
        let began = common::seconds_of_children();
        assert_eq!(output(&d, &mut Command::new(d.0.join("fast"))), "2178309");
        common::seconds_of_children() - began
    };
    let native = time();
    d.write("fib.scm", format!("{fib} ; another text"));
    let evaluated = time();
    assert!(3.0 * native < evaluated, "{native} s against {evaluated} s");
}

/// Every library that is not compiled beforehand can be evaluated: it uses no primitive that only compiled code has.
#[test]
fn every_library_can_be_evaluated() {
    let d = directory("open-every");
    let mut names: Vec<String> = Vec::new();
    let more = common::root().join("lib/more");
    let mut folders = vec![more.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|e| e == "sld") {
                let name = entry.strip_prefix(&more).unwrap().with_extension("");
                names.push(format!("({})", name.to_str().unwrap().replace('/', " ")));
            }
        }
    }
    assert!(names.len() > 100, "{names:?}");
    let program = format!(
        "(import (scheme base) (scheme eval) (scheme write))
         (for-each (lambda (name)
                     (guard (e (#t (write name) (display \": \") (display (error-object-message e)) (newline)))
                       (environment name)))
                   '({}))",
        names.join("\n")
    );
    d.write("every.scm", &program);
    assert_eq!(output(&d, Command::new(binary()).arg("run").arg(d.0.join("every.scm"))), "");
}

#[test]
fn forms_with_many_parts_are_not_deep() {
    // each clause is in the scope, or the alternative, of the one before
    let program = "
        (import (scheme base) (scheme write) (scheme eval) (scheme repl))
        (define (parts n part) (let loop ((i (- n 1)) (l '())) (if (< i 0) l (loop (- i 1) (cons (part i) l)))))
        (define (name i) (string->symbol (string-append \"v\" (number->string i))))
        (define (try n)
          (for-each
           (lambda (form) (write (eval form (interaction-environment))) (newline))
           `((cond ,@(parts n (lambda (i) `((eqv? x ,i) ,i))) (else 'last))
             (case x ,@(parts n (lambda (i) `((,(name i)) ,i))) (else 'last))
             (or ,@(parts n (lambda (i) `(eqv? x ,i))) 'last)
             (and ,@(parts n (lambda (i) 'x)) 'last)
             (let* (,@(parts n (lambda (i) `(,(name i) ,(if (= i 0) 'x (list 'quote i)))))) ,(name (- n 1)))
             (begin ,@(parts n (lambda (i) 'x)) 'last)
             ,(list 'length (list 'quasiquote (parts n (lambda (i) (list 'unquote 'x)))))
             (length (list ,@(parts n (lambda (i) 'x)))))))
        (eval '(define x 'none) (interaction-environment))
        (try 12000)
        (try 100000)
        (define (nest n) (if (= n 0) 1 (list '+ 1 (nest (- n 1)))))
        (write (eval (nest 90000) (interaction-environment)))
        (guard (e (#t (write (error-object? e)))) (eval (nest 200000) (interaction-environment)))";
    let d = Directory::new("many-parts");
    d.write("p.scm", program);
    let seen = output(&d, Command::new(binary()).arg("run").arg(d.0.join("p.scm")));
    let lines = |n: u32| format!("last\nlast\nlast\nlast\n{}\nlast\n{n}\n{n}\n", n - 1);
    assert_eq!(seen, format!("{}{}90001#t", lines(12000), lines(100000)));
}

#[test]
fn warnings_of_open_programs_are_printed() {
    let d = Directory::new("open-warnings");
    // what is not defined may be what is evaluated
    d.write("p.scm", "(import (chezscheme) (srfi 69) (srfi 125))\n(eval '(define later 1))\n(display later)");
    for way in [&["run"][..], &["run", "--opt=high"]] {
        let run = Command::new(binary()).args(way).arg(d.0.join("p.scm")).output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!(&*run.stdout, b"1", "{said}");
        assert!(said.contains(" are imported twice with different meanings"), "{said}");
        assert!(!said.contains("is not defined"), "{said}");
    }
}
