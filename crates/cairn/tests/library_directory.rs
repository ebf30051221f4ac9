//! `CAIRN_LIB`: the library from a directory instead of from the binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

mod common;
use common::{binary, root};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &target) } else { fs::copy(&path, &target).map(|_| ()).unwrap() }
    }
}

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(program: &Path, lib: &Path, scratch: &Path) -> (String, String) {
    let output = Command::new(binary())
        .arg("run")
        .arg(program)
        .env("CAIRN_LIB", lib)
        .env("CAIRN_CACHE_DIR", scratch.join("cache"))
        .output()
        .unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// An edit of the library shows in the next run, although program and compiler are as before; what the directory lacks
/// is not taken from the binary.
#[test]
fn an_edited_library_is_used_at_once() {
    let scratch = Scratch(std::env::temp_dir().join(format!("cairn-lib-{}", std::process::id())));
    let lib = scratch.0.join("lib");
    copy(&root().join("lib"), &lib);
    let program = scratch.0.join("p.scm");
    fs::write(
        &program,
        "(import (scheme base) (scheme write) (srfi 1)) (write (iota 3)) (write (list-index even? '(1 2)))",
    )
    .unwrap();
    assert_eq!(run(&program, &lib, &scratch.0).0, "(0 1 2)1");
    // what one form makes the expander define for itself (`append`, for `,@`) is there for later ones' transformers
    let later = scratch.0.join("later.scm");
    fs::write(
        &later,
        "(import (scheme base) (scheme eval) (scheme repl) (cairn macro) (scheme write))
         (define (evaluate form) (eval form (interaction-environment)))
         (evaluate '(define-syntax twice
                      (er-macro-transformer (lambda (f r c) `(,(r 'list) ,@(cdr f) ,@(cdr f))))))
         (write (evaluate '(twice 1 2)))
         (evaluate '(define-syntax thrice
                      (er-macro-transformer (lambda (f r c) `(,(r 'list) ,@(cdr f) ,@(cdr f) ,@(cdr f))))))
         (write (evaluate '(list (thrice 1) (twice 1))))",
    )
    .unwrap();
    assert_eq!(run(&later, &lib, &scratch.0), ("(1 2 1 2)((1 1 1) (1 1))".into(), String::new()));
    // what an open program evaluates reaches primitives that only compiled code has
    let open = scratch.0.join("open.scm");
    fs::write(
        &open,
        "(import (scheme base) (scheme write) (scheme eval) (scheme repl) (cairn weak) (srfi 18))
         (write (weak-pair? (weak-cons 1 2)))
         (write (eval '(thread? (current-thread)) (interaction-environment)))",
    )
    .unwrap();
    assert_eq!(run(&open, &lib, &scratch.0), ("#t#t".to_string(), String::new()));
    let srfi = lib.join("srfi/1.scm");
    let text = fs::read_to_string(&srfi).unwrap();
    assert!(text.contains("(define list-index\n"));
    fs::write(
        &srfi,
        text.replace("(define list-index\n", "(define (list-index . x) 'edited)\n(define other-index\n"),
    )
    .unwrap();
    assert_eq!(run(&program, &lib, &scratch.0).0, "(0 1 2)edited");
    // a program that evaluates, too: it is not put on the library that was compiled beforehand
    let evaluating = scratch.0.join("e.scm");
    let text = "(import (scheme base) (scheme write) (scheme eval) (srfi 1)) \
                (write (list (list-index even? '(1 2)) (eval '(+ 1 2) (environment '(scheme base)))))";
    fs::write(&evaluating, text).unwrap();
    assert_eq!(run(&evaluating, &lib, &scratch.0).0, "(edited 3)");
    fs::remove_file(lib.join("srfi/1.sld")).unwrap();
    let (out, err) = run(&program, &lib, &scratch.0);
    assert!(out.is_empty() && err.contains("(srfi 1)"), "{out}{err}");
}

/// Libraries of packages, as Snow-fort and Akku lay them out, are found from programs beside them.
#[test]
fn layouts_of_packages_are_understood() {
    let scratch = Scratch(std::env::temp_dir().join(format!("cairn-layouts-{}", std::process::id())));
    let write = |path: &str, text: &str| {
        let path = scratch.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("lib/snow/a.sld", "(define-library (snow a) (export x) (import (scheme base)) (begin (define x 1)))");
    write(
        ".akku/lib/akku/b.sls",
        "(library (akku b) (export y) (import (only (scheme base) define)) (define y 2))",
    );
    let program = "(import (scheme base) (scheme write) (snow a) (akku b)) (write (list x y))";
    write("p.scm", program);
    write("tests/p.scm", program);
    // what stands beside a program comes first
    write("own/snow/a.sld", "(define-library (snow a) (export x) (import (scheme base)) (begin (define x 'own)))");
    write("own/p.scm", program);
    // Akku's directory is that of a project, however deep the program lies
    write("src/deep/q.scm", "(import (scheme base) (scheme write) (akku b)) (write y)");
    write("src/deep/r.scm", "(import (scheme base) (snow a)) x");
    let run = |path: &str| {
        let output = Command::new(binary())
            .args(["run", path])
            .current_dir(&scratch.0)
            .env("CAIRN_CACHE_DIR", scratch.0.join("cache"))
            .output()
            .unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    assert_eq!(run("p.scm"), "(1 2)");
    assert_eq!(run("tests/p.scm"), "(1 2)");
    assert_eq!(run("own/p.scm"), "(own 2)");
    assert_eq!(run("src/deep/q.scm"), "2");
    assert!(run("src/deep/r.scm").contains("there is no library (snow a)"));
    // what Chez Scheme takes, too; R7RS's and R6RS's own names come first
    let library = |name: &str, is: &str| {
        format!("(library (kinds {name}) (export {name}) (import (rnrs)) (define {name} '{is}))")
    };
    write("kinds/a.ss", &library("a", "ss"));
    write("kinds/b.scm", &library("b", "scm"));
    write("kinds/c.chezscheme.sls", &library("c", "chez"));
    write("kinds/c.ss", &library("c", "ss"));
    write("kinds/c.guile.sls", &library("c", "guile"));
    write("kinds/d.sls", &library("d", "sls"));
    write("kinds/d.chezscheme.sls", &library("d", "chez"));
    // neither a part of a library nor a program is one
    write("kinds/e.ss", "; (library (kinds e))\n(define e 'part)");
    let late = "#!/usr/bin/env cairn\n#| one |# ; more\n\
                (define-library (kinds e) (export e) (import (scheme base)) (begin (define e 'scm)))";
    write("kinds/e.scm", late);
    write("kinds/f.scm", "(define f 1)");
    write("f.scm", "(import (scheme base) (kinds f))");
    assert!(run("f.scm").contains("there is no library (kinds f)"));
    write(
        "k.scm",
        "(import (scheme base) (scheme write) (kinds a) (kinds b) (kinds c) (kinds d) (kinds e)) (write (list a b c d e))",
    );
    assert_eq!(run("k.scm"), "(ss scm chez sls scm)");
}

/// An executable is not linked with the runtime of another build of Cairn, whose calls stand at other places.
#[test]
fn the_runtime_of_another_cairn_is_refused() {
    let scratch = Scratch(std::env::temp_dir().join(format!("cairn-other-runtime-{}", std::process::id())));
    fs::create_dir_all(&scratch.0).unwrap();
    let of_binary = |name: &std::ffi::OsStr| {
        let name = name.to_string_lossy();
        name == "cairn" || name.starts_with("cairn.chunks-gen.library")
    };
    for entry in fs::read_dir(Path::new(&binary()).parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if of_binary(path.file_name().unwrap()) {
            let target = scratch.0.join(path.file_name().unwrap());
            fs::hard_link(&path, &target).or_else(|_| fs::copy(&path, &target).map(|_| ())).unwrap();
        }
    }
    // an archive without any member
    fs::write(scratch.0.join("libcairn_rt.a"), "!<arch>\n").unwrap();
    fs::write(scratch.0.join("p.scm"), "(display 1)").unwrap();
    let output = Command::new(scratch.0.join("cairn"))
        .args(["build", "p.scm", "-o", "p"])
        .current_dir(&scratch.0)
        .env("CAIRN_CACHE_DIR", scratch.0.join("cache"))
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    let library = scratch.0.join("libcairn_rt.a").display().to_string();
    let expected = format!("the runtime library {library} is another cairn's; build Cairn again with ./cairn");
    assert!(error.contains(&expected), "{error}");
    assert!(!output.status.success() && !scratch.0.join("p").exists());
}
