//! C headers as libraries: `(import (c "geometry.h" "geometry"))`. clang-19 reads them; where there is none, that is
//! said, and the tests pass.

use std::fs;
use std::path::Path;
use std::process::Command;

mod common;
use common::{Directory, cairn, printed, root, text};

/// A directory with the header of `tests/c/headers`, its library, and a cache; `None` without clang.
fn geometry(name: &str) -> Option<Directory> {
    let directory = Directory::new(name);
    let from = root().join("tests/c/headers");
    for file in ["geometry.h", "parts.h", "headers.scm"] {
        fs::copy(from.join(file), directory.0.join(file)).unwrap();
    }
    let library = directory.0.join("libgeometry.so");
    let clang = Command::new("clang-19")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &from.join("geometry.c")])
        .output();
    let Ok(output) = clang else {
        eprintln!("not tested: there is no clang-19 here");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(directory)
}

/// The program prints this however it is run.
fn prints_everywhere(directory: &Path, program: &str, expected: &str) {
    let source = format!("{program}.scm");
    let other = ["--opt=high", "--frames=heap", "--gc=marksweep"];
    for options in [&[][..], &["--opt=low"], &["--opt=high"], &other] {
        let output = cairn(directory, &[&["run"], options, &[source.as_str()]].concat()).output().unwrap();
        assert_eq!(printed(&output), expected, "{options:?}");
    }
    printed(&cairn(directory, &["build", &source, "-o", "program"]).output().unwrap());
    let built = Command::new(directory.join("program")).current_dir(directory).output().unwrap();
    assert_eq!(printed(&built), expected, "built");
}

/// The messages of a program that is wrong.
fn messages(directory: &Path, program: &str) -> String {
    fs::write(directory.join("wrong.scm"), program).unwrap();
    let output = cairn(directory, &["run", "wrong.scm"]).output().unwrap();
    assert!(!output.status.success(), "{}", text(&output.stdout));
    text(&output.stderr)
}

#[test]
fn every_kind_of_declaration_is_there_however_the_program_is_run() {
    let Some(directory) = geometry("c-headers-modes") else { return };
    let expected = fs::read_to_string(root().join("tests/c/headers/headers.out")).unwrap();
    prints_everywhere(&directory.0, "headers", &expected);
}

#[test]
fn the_prompt_has_headers() {
    let Some(directory) = geometry("c-headers-prompt") else { return };
    let input = "(import (c \"geometry.h\" \"geometry\"))\n(twice 1)\n(define (name) (color_name GREEN))\n(name)\n\
                 (part_of_geometry RED)\n(name)\n";
    fs::write(directory.0.join("input"), input).unwrap();
    let input = fs::File::open(directory.0.join("input")).unwrap();
    let output = cairn(&directory.0, &["repl"]).stdin(input).output().unwrap();
    assert_eq!(text(&output.stdout), "\"grün\"\n12\n\"grün\"\n");
    assert!(text(&output.stderr).contains("`twice` cannot be used: it is a static function"));
}

#[test]
fn what_cannot_be_used_says_why() {
    let Some(directory) = geometry("c-headers-errors") else { return };
    let import = "(import (scheme base) (c \"geometry.h\" \"geometry\"))\n";
    let of = |uses: &str| messages(&directory.0, &format!("{import}{uses}"));
    let all = of("(twice 2)\n(by_value (make-point))\n(map wide '(1))\ncounter");
    for expected in [
        "`twice` cannot be used: it is a static function, which no library has\n --> wrong.scm:2:2",
        "`wide` cannot be used: parameter 1 is of the type `long double`, which (cairn c) does not have\n \
         --> wrong.scm:4:6",
        "`counter` cannot be used: it is a variable of C, not a function\n --> wrong.scm:5:1",
    ] {
        assert!(all.contains(expected), "{expected}\n{all}");
    }
    // a declaration without a function costs only who calls it
    assert!(of("(absent 2)").contains("there is no function absent in"));
    // the header of geometry.h's own, but not unistd.h
    assert!(of("(getpid)").contains("`getpid` is not defined"));
    let missing = messages(&directory.0, "(import (c \"nothing.h\"))");
    assert!(missing.contains("'nothing.h' file not found\n --> wrong.scm:1:9"), "{missing}");
    let none = messages(&directory.0, "(import (c \"geometry\"))");
    assert!(none.contains("it names no header"), "{none}");
    let bad = messages(&directory.0, "(import (c \"a>b.h\"))");
    assert!(bad.contains("\"a>b.h\" is no name of a header or library"), "{bad}");
}

/// `define-c-library` in a program, in a library's body and at the prompt.
#[test]
fn the_form_makes_a_library_of_headers_where_it_stands() {
    let Some(directory) = geometry("c-library-form") else { return };
    fs::create_dir(directory.0.join("include")).unwrap();
    directory
        .write("include/scale.h", "static const int unused;\n#define SCALED (FACTOR * 2)\n#define NAME LABEL\n");
    let clauses = "(header \"geometry.h\") (link \"geometry\") (header \"scale.h\")
        (include-directory \"include\") (define FACTOR 21) (define \"LABEL\" \"\\\"a b\\\"\")";
    directory.write(
        "shapes.sld",
        format!(
            "(define-library (shapes) (export norm shape:color_name g:point-x) (import (scheme base) (cairn c))
               (begin (define-c-library shape {clauses} (prefix g:))
                      (define (norm x) (let ((p (g:make-point))) (g:set-point-x! p x) (g:point_norm p)))))"
        ),
    );
    let program = format!(
        "(import (scheme base) (scheme write) (cairn c) (prefix (shapes) s:))
         (define (all)
           (list SCALED NAME MAX_POINTS (color_name GREEN) (s:norm 3) (s:shape:color_name RED) (geo:color_name BLUE)))
         (define-c-library geo {clauses})
         (write (all))
         (write ((c-procedure int \"part_of_geometry\" (int) geo) 1))
         (newline)"
    );
    let expected = "(42 \"a b\" 16 \"grün\" 3.0 \"red\" #f)13\n";
    directory.write("program.scm", &program);
    for options in [&[][..], &["--opt=high"]] {
        let output = cairn(&directory.0, &[&["run"], options, &["program.scm"]].concat()).output().unwrap();
        assert_eq!(printed(&output), expected, "{options:?}");
    }
    // found beside the program from elsewhere, too
    fs::create_dir(directory.0.join("elsewhere")).unwrap();
    let output = cairn(&directory.0.join("elsewhere"), &["run", "../program.scm"]).output().unwrap();
    assert_eq!(printed(&output), expected, "elsewhere");
    printed(&cairn(&directory.0, &["build", "program.scm", "-o", "program"]).output().unwrap());
    assert_eq!(printed(&Command::new(directory.0.join("program")).output().unwrap()), expected, "built");
    let output = cairn(&directory.0, &["check", "program.scm"]).output().unwrap();
    assert_eq!((text(&output.stdout), text(&output.stderr)), (String::new(), String::new()));
    let input =
        format!("(import (cairn c))\n(define-c-library geo {clauses})\n(list SCALED (color_name GREEN))\n");
    directory.write("input", &input);
    let input = fs::File::open(directory.0.join("input")).unwrap();
    let output = cairn(&directory.0, &["repl"]).stdin(input).output().unwrap();
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("(42 \"grün\")\n".into(), String::new()));
}

/// Names of a header that are Scheme's, or the program's, mean what they did.
#[test]
fn names_of_the_program_come_before_those_of_a_c_library() {
    let Some(directory) = geometry("c-library-names") else { return };
    // imports before and behind, definitions before and behind, names of (scheme base)
    let program = "(import (scheme base) (scheme write) (cairn c))
         (define (opposite x) (list 'mine x))
         (define-c-library posix (header \"unistd.h\" \"stdlib.h\"))
         (define-c-library geo (header \"geometry.h\") (link \"geometry\"))
         (import (scheme process-context) (scheme read))
         (define (copy_of x) (list 'copy x))
         (define (f) (write (list (abs -3/2) (opposite 1) (copy_of 2) (geo:opposite 3) (sum #f 0)))
                     (newline) (flush-output-port))
         (define (sum x y) (list x y))
         (f)
         (posix:write 1 (bytevector 79 75 10) 3)
         (write (list (posix:abs -3) (eof-object? (read (open-input-string \"\")))))
         (exit 0)";
    directory.write("program.scm", program);
    for options in [&[][..], &["--opt=high"]] {
        let output = cairn(&directory.0, &[&["run"], options, &["program.scm"]].concat()).output().unwrap();
        let expected = "(3/2 (mine 1) (copy 2) -3 (#f 0))\nOK\n(3 #t)";
        assert_eq!(printed(&output), expected, "{options:?}");
    }
    // what is asked for by name is imported like anything else, and a structure brings its procedures
    let program = "(import (scheme base) (scheme write) (cairn c))
         (define-c-library geo (header \"geometry.h\") (link \"geometry\") (only point sum) (prefix g-))
         (define p (g-make-point)) (g-set-point-x! p 4)
         (write (list (g-point-x p) (g-sum (bytevector) 0) (geo:point_norm p)))";
    directory.write("program.scm", program);
    assert_eq!(printed(&cairn(&directory.0, &["run", "program.scm"]).output().unwrap()), "(4 0 4.0)");
    let twice = "(import (scheme base) (scheme write) (cairn c))
         (define-c-library posix (header \"unistd.h\") (only write))
         (write 1 (bytevector 79 75 10) 3)";
    directory.write("program.scm", twice);
    let output = cairn(&directory.0, &["run", "program.scm"]).output().unwrap();
    assert_eq!(text(&output.stdout), "OK\n");
    assert!(text(&output.stderr).contains("`write` is imported twice with different meanings"));
    let left_out = messages(
        &directory.0,
        "(import (scheme base) (cairn c))
         (define-c-library geo (header \"geometry.h\") (link \"geometry\") (only point))\n(sum 1 2)",
    );
    assert!(left_out.contains("`sum` is not defined\n --> wrong.scm:3:2"), "{left_out}");
}

#[test]
fn a_form_that_is_wrong_says_where() {
    let Some(directory) = geometry("c-library-wrong") else { return };
    let of = |form: &str| messages(&directory.0, &format!("(import (scheme base) (cairn c))\n{form}\n"));
    for (form, expected) in [
        ("(define-c-library geo (header \"nothing.h\"))", "'nothing.h' file not found\n --> wrong.scm:2:1"),
        (
            "(define-c-library geo (header \"geometry.h\") (only pointe))",
            "the C library has no `pointe`\n --> wrong.scm:2:51",
        ),
        ("(let () (define-c-library geo (header \"geometry.h\")) 1)", "stands where an expression is expected"),
    ] {
        let said = of(form);
        assert!(said.contains(expected), "{expected}\n{said}");
    }
}

#[test]
fn structures_travel_by_value_and_blocking_calls_let_others_run() {
    let directory = Directory::new("c-values");
    let from = root().join("tests/c/values");
    for file in ["values.h", "values.scm"] {
        fs::copy(from.join(file), directory.0.join(file)).unwrap();
    }
    let library = directory.0.join("libvalues.so");
    let clang = Command::new("clang-19")
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .args([&library, &from.join("values.c")])
        .output();
    let Ok(output) = clang else {
        eprintln!("not tested: there is no clang-19 here");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = fs::read_to_string(from.join("values.out")).unwrap();
    prints_everywhere(&directory.0, "values", &expected);
    let refused = messages(&directory.0, "(import (scheme base) (c \"values.h\" \"values\"))\n(packed_back 1)");
    assert!(refused.contains("`packed_back` cannot be used"), "{refused}");
}

/// `tests/c/callbacks`: C calls Scheme with structures of every class.
#[test]
fn callbacks_take_and_return_structures() {
    let Some(directory) = geometry("c-callbacks") else { return };
    let from = root().join("tests/c/callbacks");
    for file in ["callbacks.c", "callbacks.scm"] {
        fs::copy(from.join(file), directory.0.join(file)).unwrap();
    }
    let expected = fs::read_to_string(from.join("callbacks.out")).unwrap();
    prints_everywhere(&directory.0, "callbacks", &expected);
}

/// `tests/c/bits`: C and Scheme write the same bytes and read the same numbers.
#[test]
fn bit_fields_lie_where_c_has_them() {
    let Some(directory) = geometry("c-bit-fields") else { return };
    let from = root().join("tests/c/bits");
    for file in ["bits.h", "bits.c", "bits.scm"] {
        fs::copy(from.join(file), directory.0.join(file)).unwrap();
    }
    let expected = fs::read_to_string(from.join("bits.out")).unwrap();
    prints_everywhere(&directory.0, "bits", &expected);
}

#[test]
fn a_header_is_read_once_until_it_changes() {
    let Some(directory) = geometry("c-headers-cache") else { return };
    let program = "(import (scheme base) (scheme write) (c \"geometry.h\" \"geometry\"))\n(write PART)\n";
    fs::write(directory.0.join("part.scm"), program).unwrap();
    let run = |path: Option<&str>| {
        let mut command = cairn(&directory.0, &["run", "part.scm"]);
        if let Some(path) = path {
            command.env("PATH", path);
        }
        command.output().unwrap()
    };
    let without = run(Some("/nowhere"));
    assert!(text(&without.stderr).contains("clang-19, which is not here"), "{}", text(&without.stderr));
    assert_eq!(printed(&run(None)), "12");
    // another program, so that it is not the program that is found in the cache
    fs::write(directory.0.join("part.scm"), program.replace("PART", "(+ 1 PART)")).unwrap();
    assert_eq!(printed(&run(Some("/nowhere"))), "13");
    // of the header's parts, too
    fs::write(directory.0.join("parts.h"), "#define PART 20\n").unwrap();
    assert_eq!(printed(&run(None)), "21");
}

/// Headers that a machine may not have.
#[test]
fn headers_of_other_people_are_read() {
    let Some(directory) = geometry("c-headers-others") else { return };
    for (header, package, program, expected) in [
        (
            "sqlite3.h",
            "libsqlite3-dev",
            "(import (scheme base) (scheme write) (cairn c) (c \"sqlite3.h\" \"sqlite3\"))\n\
             (define cell (make-bytevector (c-sizeof pointer) 0))\n\
             (sqlite3_open \":memory:\" cell)\n\
             (define db (c-ref cell pointer))\n\
             (define rows '())\n\
             (define each (c-callback int (pointer int pointer pointer)\n\
               (lambda (data n texts names) (set! rows (cons (c-string (c-ref texts pointer)) rows)) 0)))\n\
             (define status (sqlite3_exec db \"create table t (x); insert into t values ('a'), ('b'); \
                select x from t\" each #f #f))\n\
             (sqlite3_prepare_v2 db \"select ?\" -1 cell #f)\n\
             (define s (c-ref cell pointer))\n\
             (sqlite3_bind_text s 1 \"bound\" -1 SQLITE_TRANSIENT)\n\
             (write (list (= status SQLITE_OK) rows (= (sqlite3_step s) SQLITE_ROW) \
                (c-string (sqlite3_column_text s 0))))\n\
             (sqlite3_finalize s)\n\
             (write (= SQLITE_OK (sqlite3_close db)))\n",
            "(#t (\"b\" \"a\") #t \"bound\")#t",
        ),
        (
            "zlib.h",
            "zlib1g-dev",
            "(import (scheme base) (scheme write) (cairn c) (c \"zlib.h\" \"z\"))\n\
             (write (list (crc32 0 (string->utf8 \"hello\") 5) (string=? ZLIB_VERSION (zlibVersion)) Z_BEST_SPEED\n\
               (c-sizeof z_stream)))\n",
            "(907060870 #t 1 112)",
        ),
        (
            "math.h",
            "libc6-dev",
            "(import (scheme base) (scheme write) (prefix (c \"math.h\") c:))\n\
             (write (list (c:hypot 3. 4.) (c:ldexp 1.5 3) (c:exp 0) (c:floor 2.5) c:M_PI))\n",
            "(5.0 12.0 1.0 2.0 3.141592653589793)",
        ),
    ] {
        let there = ["/usr/include", "/usr/local/include"].iter().any(|d| Path::new(d).join(header).exists());
        if !there {
            eprintln!("not tested: there is no {header} here; apt-get install {package}");
            continue;
        }
        fs::write(directory.0.join("other.scm"), program).unwrap();
        for options in [&[][..], &["--opt=high"]] {
            let output = cairn(&directory.0, &[&["run"], options, &["other.scm"]].concat()).output().unwrap();
            assert_eq!(printed(&output), expected, "{header} {options:?}");
        }
    }
}
