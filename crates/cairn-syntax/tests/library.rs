//! Libraries: the rules of `define-library` and `import`, and all of `lib/`.

#![allow(missing_docs)]
mod common;
use cairn_core::ir::{Expr, TopForm};
use cairn_core::verify::{Dialect, verify};
use cairn_layout::code::Site;
use cairn_syntax::Session;
use common::*;
use std::path::Path;

fn with(libraries: &[&str], files: &[(&str, &str)], program: &str) -> String {
    let mut m = Memory::stub();
    for l in libraries {
        m.add(l);
    }
    for (path, text) in files {
        m.files.insert((*path).into(), (*text).into());
    }
    expand_text("main.scm", program, &mut m)
}

#[track_caller]
fn check(libraries: &[&str], program: &str, expected: &str) {
    let actual = with(libraries, &[], program);
    assert_eq!(actual.trim_end(), expected, "program: {program}");
}

const SHAPES: &str = "(define-library (shapes)
    (export area (rename internal-name side) square-of limit)
    (import (scheme base))
    (begin
      (define hidden 5)
      (define limit 3)
      (define (area x) (* x hidden))
      (define (internal-name) limit)
      (define-syntax square-of (syntax-rules () ((_ x) (let ((hidden-too x)) (* hidden hidden-too)))))))";

#[test]
fn import_sets() {
    let lib = [SHAPES];
    check(&lib, "(import (scheme base) (shapes)) (area (side))", &shapes("(area (internal-name))"));
    check(&lib, "(import (only (shapes) area)) (area 1)", &shapes("(area 1)"));
    check(&lib, "(import (prefix (except (shapes) side) s:)) (s:area s:limit)", &shapes("(area limit)"));
    check(&lib, "(import (rename (shapes) (area a) (limit area))) (a area)", &shapes("(area limit)"));
    check(
        &lib,
        "(import (rename (prefix (only (shapes) area limit) x-) (x-limit y))) (x-area y)",
        &shapes("(area limit)"),
    );
}

fn shapes(last: &str) -> String {
    format!(
        "(define hidden 5)\n(define limit 3)\n(define area (lambda:area (x.1) (* x.1 hidden)))\n(define internal-name \
         (lambda:internal-name () limit))\n{last}"
    )
}

#[test]
fn macros_from_libraries_see_the_library() {
    let out =
        with(&[SHAPES], &[], "(import (scheme base) (shapes)) (define hidden 1) (define * 2) (square-of hidden)");
    let last = out.lines().find(|l| l.starts_with("(let ")).unwrap_or("");
    // the library's hidden and *, the user's argument
    assert!(last.starts_with("(let ((hidden-too.") && last.contains(" hidden)) (* hidden hidden-too."), "{out}");
}

#[test]
fn a_missing_library_comes_before_its_consequences() {
    let library =
        "(define-library (l) (export x) (import (scheme base) (no)) (begin (define x (make-it (when)))))";
    let program = "(import (scheme base) (l)) (if) (let) (when)";
    let out = with(&[library], &[], program);
    assert!(out.starts_with("error: lib/l.sld:1:54-1:58: there is no library (no)"), "{out}");
    assert_eq!(out.matches("error:").count(), 1, "{out}");
}

#[test]
fn names_of_libraries_without_parentheses_get_them() {
    let out = with(&[SHAPES], &[], "(import shapes) (area 1)");
    assert!(out.starts_with("error: ") && out.contains(": the name of a library is a list"), "{out}");
    assert!(out.contains("(import (scheme base) (shapes))"), "{out}");
    let out = with(&[SHAPES], &[], "(import scheme base shapes) (car 1)");
    assert!(out.contains("(import (scheme base) (shapes))"), "{out}");
    assert_eq!(out.matches("error:").count(), 1, "{out}");
    assert!(with(&[SHAPES], &[], "(import forms)").contains("not an import set"));
}

#[test]
fn libraries_define_what_they_import() {
    let library =
        "(define-library (l) (export f) (import (scheme base)) (begin (define (f x) (car x)) (define (car x) x)))";
    let out = with(&[library], &[], "(import (scheme base) (l)) (f car)");
    assert!(out.contains("(define f (lambda:f (x.1) (car x.1)))\n(define car (lambda:car"), "{out}");
    assert!(out.contains("warning: lib/l.sld:1:94-1:97: `car` is imported and defined again"), "{out}");
    // what nobody asked for may be defined without ado
    let out = with(&[], &[], "(define (car x) x) (car 1)");
    assert!(!out.contains("warning"), "{out}");
}

#[test]
fn library_errors() {
    let bad = |lib: &str, program: &str| with(&[lib], &[], program);
    let out = bad("(define-library (l) (export nothing) (import (scheme base)))", "(import (l))");
    assert!(out.contains("`nothing` is exported but neither defined nor imported"), "{out}");
    // what is wrong in the library, not what follows from it
    let out =
        bad("(define-library (l) (export x) (import (scheme base)) (begin (define x (if))))", "(import (l))");
    assert!(out.contains("`if`") && !out.contains("neither"), "{out}");
    let out = bad(
        "(define-library (l) (export x) (import (scheme base)) (begin (wrong) (let) (define-syntax x 1)))",
        "(import (l))",
    );
    assert!(out.contains("error: ") && !out.contains("neither"), "{out}");
    let out = bad(SHAPES, "(import (only (shapes) aera))");
    assert!(out.contains("(shapes) does not export `aera`"), "{out}");
    let out = bad("(define-library (l) (import (scheme base)) (begin (define car 1)))", "(import (l))");
    assert!(out.contains("warning: lib/l.sld:1:59-1:62: `car` is imported and defined again"), "{out}");
    let out = bad("(define-library (l) (import (scheme base)) (define x 1))", "(import (l))");
    assert!(out.contains("put it into a begin"), "{out}");
    let out = bad("(define-library (l) (import (l)))", "(import (l))");
    assert!(out.contains("in a circle: (l) → (l)"), "{out}");
    let out = bad("(define-library (l) (import (scheme base)) (begin (define x 1) (define x 2)))", "(import (l))");
    assert!(out.contains("warning: lib/l.sld:1:72-1:73: `x` is defined twice in this library"), "{out}");
    let out = bad("(define-library (other) (import (scheme base)))", "(import (scheme base) (no))");
    assert!(out.contains("there is no library (no)"), "{out}");
    let out = bad(SHAPES, "(import (scheme base)) (let () (import (shapes)) 1)");
    assert!(
        out.contains("`import` is not allowed here") || out.contains("the keyword `import` is not imported"),
        "{out}"
    );
}

#[test]
fn library_in_the_program_file() {
    let text = "(define-library (mine) (export twice) (import (scheme base)) (begin (define (twice x) (* 2 x))))
                (import (scheme base) (mine))
                (twice 4)";
    let out = with(&[], &[], text);
    assert!(out.ends_with("(twice 4)\n"), "{out}");
}

#[test]
fn cond_expand_and_include() {
    let lib = "(define-library (inc)
        (import (scheme base))
        (export a b c)
        (include-library-declarations \"decls.scm\")
        (cond-expand ((library (no)) (begin (define c 1))) ((not cairn) (begin (define c 2))) (else (begin (define c 3))))
        (include \"body.scm\"))";
    let files =
        [("decls.scm", "(begin (define a 1))"), ("body.scm", "(define b a)"), ("ci.scm", "(DEFINE D 'SYM)")];
    let out = with(&[lib], &files, "(import (scheme base) (inc)) (include-ci \"ci.scm\") (list a b c d)");
    assert!(out.contains("(define c 3)\n") && out.ends_with("(define d 'sym)\n(list a b c d)\n"), "{out}");
    let out = with(&[lib], &[], "(import (inc))");
    assert!(out.contains("`decls.scm` cannot be included: no such file"), "{out}");
    let out = with(&[], &[("self.scm", "(include \"self.scm\")")], "(include \"self.scm\")");
    assert!(out.contains("does a file include itself?"), "{out}");
}

#[test]
fn without_imports_a_program_sees_the_standard_libraries() {
    let out = with(&[], &[], "(define p (delay 1)) (case-lambda ((x) x))");
    assert!(!out.contains("warning") && !out.contains("error"), "{out}");
    let out = with(&[], &[], "(import (scheme base)) (case-lambda ((x) x))");
    assert!(out.contains("the keyword `case-lambda` is not imported"), "{out}");
}

#[test]
fn a_session_continues() {
    let mut m = Memory::stub();
    let mut s = Session::new();
    let first = s.expand_program("one", "(define (f) (g)) (define x 1)", &mut m);
    assert!(first.is_ok_and(|x| x.warnings.len() == 1));
    let second = s.expand_program("two", "(define (g) x) (f)", &mut m).unwrap_or_else(|_| panic!("an error"));
    assert_eq!(second.warnings, []);
    assert_eq!(second.program.forms.len(), 2, "forms of earlier calls are not repeated");
    // the definition fills the variable that the first program referred to
    let names: Vec<_> = second.program.globals.iter().filter(|g| &*g.name == "g").collect();
    assert_eq!(names.len(), 1);
}

#[test]
fn code_from_templates_in_lib_takes_the_place_of_the_use() {
    let body = "(import (scheme base)) (export m) (begin (define-syntax m (syntax-rules () ((_ x) (car x)))))";
    for (name, in_program) in [("(scheme extra)", true), ("(extra)", false)] {
        let mut memory = Memory::stub();
        memory.add(&format!("(define-library {name} {body})"));
        let text = format!("(import {name}) (m 5)");
        let x = Session::new().expand_program("p", &text, &mut memory).unwrap_or_else(|_| panic!("an error"));
        let Some(TopForm::Expr(Expr::Prim { site, .. })) = x.program.forms.last() else { panic!("a primitive") };
        let use_ = (0, text.find("(m 5)").expect("there"));
        let place = |s: Site| (s.file().expect("a position") as usize, s.start() as usize);
        let chain = x.program.inlined.chain(*site);
        if in_program {
            assert_eq!(chain.iter().map(|(s, _)| place(*s)).collect::<Vec<_>>(), [use_]);
        } else {
            // a user's template is shown, with the use
            let [(template, Some(name)), (at, None)] = chain[..] else { panic!("{chain:?}") };
            let (file, start) = place(template);
            assert_eq!((&x.sources[file].text[start..][..5], &**name, place(at)), ("(car ", "m", use_));
        }
    }
}

#[test]
fn a_session_survives_errors() {
    let mut m = Memory::stub();
    let mut s = Session::new();
    let failed = s.expand_program("one", "(define x (list car)) (if)", &mut m);
    assert!(failed.is_err_and(|f| f.errors.len() == 1));
    let next = s.expand_program("two", "(list car)", &mut m).unwrap_or_else(|_| panic!("an error"));
    // the libraries loaded by the failed call are here, its own forms are not
    let defines = |name: &str| {
        next.program.forms.iter().any(|f| {
            matches!(f, cairn_core::ir::TopForm::Define(g, _) if &*next.program.globals[g.0 as usize].name == name)
        })
    };
    assert!(defines("list") && defines("car") && !defines("x"));
}

#[test]
fn features_agree_with_lib() {
    let text = std::fs::read_to_string(root().join("lib/cairn/features.sld")).expect("the library");
    let list = text.split("'(").nth(1).and_then(|t| t.split(')').next()).expect("a quoted list");
    let names: Vec<&str> = list.split_whitespace().collect();
    assert_eq!(names, cairn_syntax::expand::FEATURES);
}

/// `cond-expand` knows each SRFI that has a library; one that is only there in parts, as a folder, does not count.
#[test]
fn srfis_are_features() {
    for folder in ["lib/srfi", "lib/more/srfi"] {
        for file in std::fs::read_dir(root().join(folder)).expect("the folder") {
            let name = file.expect("an entry").file_name().into_string().expect("UTF-8");
            if let Some(number) = name.strip_suffix(".sld") {
                let feature = format!("srfi-{number}");
                assert!(cairn_syntax::expand::FEATURES.contains(&&*feature), "{feature}");
            }
        }
    }
}

/// How many forms of a file come together, from an environment with everything.
fn groups(text: &str) -> Vec<usize> {
    let (mut session, mut m) = (Session::new(), Memory { real: true, ..Memory::default() });
    m.files.insert("i.scm".into(), "(define i 1) (load \"x\") (define j 1)".into());
    let environment = session.environment(None, &mut m).unwrap_or_else(|f| panic!("{:?}", f.errors));
    session.expand_in(environment, "", &mut m, |_| ()).unwrap_or_else(|f| panic!("{:?}", f.errors));
    let mut open = session.open_text("f.scm", text, 0, true);
    let mut found = Vec::new();
    while let Some(n) = session
        .expand_next(environment, &mut open, &mut m, |s| {
            let program = s.expanded();
            // primitives as values are variables of the library
            let own = |f: &&TopForm| !matches!(f, TopForm::Define(g, _) if program.globals[g.0 as usize].library);
            program.forms.iter().filter(own).count()
        })
        .unwrap_or_else(|f| panic!("{:?}", f.errors))
    {
        found.push(n);
    }
    found
}

#[test]
fn definitions_of_a_file_go_together_unless_they_may_load_something() {
    assert_eq!(groups("(define (f) (g)) (define x (list 1 car 'y)) (define (g) x) (f)"), [3, 1]);
    // procedures of the library might call what they are given
    assert_eq!(groups("(define (f) 1) (define l (map f '(1))) (define (g) 1)"), [1, 1, 1]);
    assert_eq!(groups("(define l (map car '((1)))) (define v (make-vector 10 0)) (define w (vector l v))"), [3]);
    assert_eq!(
        groups("(define x (load \"x\")) (define y (eval 1 (interaction-environment))) (define z x)"),
        [1, 1, 1]
    );
    // forms of `begin`, `include` and `cond-expand` are forms of the file; a macro may stand behind its use
    assert_eq!(
        groups("(define (f) (m)) (define-syntax m (syntax-rules () ((_) 1))) (begin (define y 1) (f))"),
        [2, 1]
    );
    assert_eq!(groups("(include \"i.scm\") (cond-expand (r7rs (define k 1)) (else 2))"), [1, 1, 2]);
    // an imported name that is mentioned before its group gets its value first
    assert_eq!(groups("(define old car) (old '(1)) (define (car x) x)"), [2, 1, 1]);
    assert_eq!(groups("(define old car) (define (car x) x)"), [3]);
}

/// Names of all libraries under `lib/`.
fn all_libraries(dir: &Path, prefix: &str, out: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for e in entries.flatten() {
        let path = e.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().to_string();
        if path.is_dir() {
            let is_more = prefix.is_empty() && name == "more";
            let inner = if is_more { String::new() } else { format!("{prefix}{name} ") };
            all_libraries(&path, &inner, out);
        } else if path.extension().is_some_and(|e| e == "sld") {
            out.push(format!("({prefix}{name})"));
        }
    }
}

#[test]
fn every_library_of_lib_expands_and_verifies() {
    let mut names = Vec::new();
    all_libraries(&root().join("lib"), "", &mut names);
    names.sort();
    for name in &names {
        let mut m = Memory { real: true, ..Memory::default() };
        let imports = format!("(import (prefix {name} x:))");
        match Session::new().expand_program("all.scm", &imports, &mut m) {
            Ok(x) => {
                if let Err(c) = verify(&x.program, Dialect::Source) {
                    panic!("{name}: {}", c.join("\n"));
                }
                let warnings: Vec<String> = x.warnings.iter().map(|w| render(w, &x.sources)).collect();
                assert!(warnings.is_empty(), "{name}: {}", warnings.concat());
            }
            Err(f) => {
                let errors: Vec<String> = f.errors.iter().map(|w| render(w, &f.sources)).collect();
                panic!("{name}: {}", errors.concat());
            }
        }
    }
}
