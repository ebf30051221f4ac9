//! C sources as parts of programs: `(import (c "kernel.c"))`. clang-19 compiles them; where there is none, the tests
//! pass.

use std::fs;
use std::process::Command;

mod common;
use common::{Directory, cairn, printed, root, text};

/// A directory with the files of `tests/c/source`; `None` without clang.
fn kernel(name: &str) -> Option<Directory> {
    if Command::new("clang-19").arg("--version").output().is_err() {
        eprintln!("not tested: there is no clang-19 here");
        return None;
    }
    let directory = Directory::new(name);
    for file in ["kernel.c", "kernel.h", "kernel.scm"] {
        fs::copy(root().join("tests/c/source").join(file), directory.0.join(file)).unwrap();
    }
    Some(directory)
}

/// What a program prints that is run with these options.
fn run(directory: &Directory, options: &[&str], program: &str) -> String {
    directory.write("program.scm", program);
    printed(&cairn(&directory.0, &[&["run"], options, &["program.scm"]].concat()).output().unwrap())
}

#[test]
fn the_form_is_an_import_where_it_stands() {
    let Some(directory) = kernel("c-source-form") else { return };
    directory.write("half.c", "double half(double x) { return x / 2; }");
    directory.write(
        "halves.sld",
        "(define-library (halves) (export quarter) (import (scheme base) (cairn c))
           (begin (c-source \"half.c\") (define (quarter x) (half (half x)))))",
    );
    let program = "(import (scheme base) (scheme write) (cairn c) (halves))
         (define x 5.)
         (c-source \"half.c\")
         (write (list (half x) (quarter x)))";
    for options in [&[][..], &["--opt=high"]] {
        assert_eq!(run(&directory, options, program), "(2.5 1.25)", "{options:?}");
    }
    let output = cairn(&directory.0, &["check", "program.scm"]).output().unwrap();
    assert_eq!((text(&output.stdout), text(&output.stderr)), (String::new(), String::new()));
}

/// What is computed with a result that is known to be small; called, inlined, and on a fiber.
#[test]
fn results_of_small_types_are_what_c_says() {
    let Some(directory) = kernel("c-source-results") else { return };
    let called = |t: &str| format!("__attribute__((noinline)) {t} called_{t}(int64_t x) {{ return x; }}\n");
    let small = |t: &str| format!("{t} small_{t}(int64_t x) {{ return x; }}\n");
    let of = |t: &str| called(t) + &small(t);
    let types = ["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "bool"];
    let functions: String = types.map(of).concat();
    directory.write("results.c", format!("#include <stdbool.h>\n#include <stdint.h>\n{functions}"));
    let twice = |t: &&str| format!("(+ 1 (* 2 (called_{t} x))) (+ 1 (* 2 (small_{t} x)))");
    let twice: String = types[..6].iter().map(twice).collect();
    let program = format!(
        "(import (scheme base) (scheme write) (cairn c) (c \"results.c\"))
         (define xs (list 0 -1 128 -128 65535 2147483648 -2147483648 4294967295 9223372036854775807))
         (define (all x) (list {twice} (called_bool x) (small_bool x)))
         (define before (map all xs))
         (define f (c-callback int () (lambda () 1)))
         (write (equal? before (map all xs)))
         (write (list (list-ref before 1) (list-ref before 5)))"
    );
    let expected = "#t((-1 -1 511 511 -1 -1 131071 131071 -1 -1 8589934591 8589934591 #t #t) \
                    (1 1 1 1 1 1 1 1 -4294967295 -4294967295 4294967297 4294967297 #t #t))";
    for options in [&[][..], &["--opt=low"], &["--opt=high"], &["--opt=high", "--frames=native"]] {
        assert_eq!(run(&directory, options, &program), expected, "{options:?}");
    }
}

#[test]
fn a_source_is_part_of_the_program_however_it_is_run() {
    let Some(directory) = kernel("c-source-modes") else { return };
    let expected = fs::read_to_string(root().join("tests/c/source/kernel.out")).unwrap();
    let frames = |name| ["--opt=high", name];
    let (heap, stack, native) = (frames("--frames=heap"), frames("--frames=stack"), frames("--frames=native"));
    let all: [&[&str]; 8] = [
        &[],
        &["--opt=low"],
        &["--opt=high"],
        &["--opt=high"], // from the cache
        &["--opt=high", "--llvm=none"],
        &heap,
        &stack,
        &native,
    ];
    for options in all {
        let output = cairn(&directory.0, &[&["run"], options, &["kernel.scm"]].concat()).output().unwrap();
        assert_eq!(printed(&output), expected, "{options:?}");
    }
    printed(&cairn(&directory.0, &["build", "kernel.scm", "-o", "program"]).output().unwrap());
    // an executable needs nothing of what it was made of
    for gone in ["cache", "kernel.c", "kernel.h"].map(|name| directory.0.join(name)) {
        if gone.is_dir() { fs::remove_dir_all(gone).unwrap() } else { fs::remove_file(gone).unwrap() }
    }
    let mut program = Command::new(directory.0.join("program"));
    program.env("CAIRN_CACHE_DIR", directory.0.join("nowhere")).env("PATH", "");
    assert_eq!(printed(&program.output().unwrap()), expected, "built");
}

/// The assembly of the procedure `f`.
fn assembly(directory: &Directory, options: &[&str], definition: &str) -> String {
    let program = format!(
        "(import (scheme base) (scheme write) (only (c \"kernel.c\") mix sum_to))\n{definition}\n(write (f 8 1. 2.))"
    );
    directory.write("f.scm", program);
    let arguments = [&["run"], options, &["--emit=asm", "--only=f", "f.scm"]].concat();
    let text = printed(&cairn(&directory.0, &arguments).output().unwrap());
    assert!(text.contains(".type"), "{text}");
    text
}

#[test]
fn no_call_of_a_small_function_is_left() {
    let Some(directory) = kernel("c-source-inlined") else { return };
    let small = "(define (f n a b) (if (= n 0) a (f (- n 1) (mix a b .25) b)))";
    for options in [&["--opt=high"][..], &["--opt=high", "--frames=native"], &["--opt=high", "--frames=heap"]] {
        let code = assembly(&directory, options, small);
        // what is subtracted, multiplied and added is all of `mix`; its name is that of a number
        for instruction in ["subsd", "mulsd", "addsd"] {
            assert!(code.contains(instruction), "{options:?} {instruction}\n{code}");
        }
        assert!(!code.contains("c.source."), "{options:?}\n{code}");
    }
    // arguments and results that are known to be doubles are neither checked nor made values
    let core =
        printed(&cairn(&directory.0, &["run", "--opt=high", "--emit=opt", "--only=f", "f.scm"]).output().unwrap());
    assert!(core.contains("%c-call") && !core.contains("flonum?") && !core.contains("c-apply"), "{core}");
    // the loop of one that has a loop is there, too
    let code = assembly(&directory, &["--opt=high"], "(define (f n a b) (if (= n 0) a (f (- n 1) (sum_to n) b)))");
    assert!(!code.contains("c.source."), "{code}");
    // what is not inlined is called at an address that is a variable
    let counts = "(define (f n a b) (if (= n 0) a (f (- n 1) (count) b)))";
    directory.write("g.scm", format!("(import (scheme base) (only (c \"kernel.c\") count))\n{counts}\n(f 1 2 3)"));
    let arguments = ["run", "--opt=high", "--emit=llvm", "--only=f", "g.scm"];
    let code = printed(&cairn(&directory.0, &arguments).output().unwrap());
    assert!(code.contains("call i32 (...)") && !code.contains("@c.source."), "{code}");
    // an int is a fixnum, and its double is one, whichever way the call goes
    let counts = counts.replace("(count)", "(+ 1 (* 2 (count)))");
    directory.write("g.scm", format!("(import (scheme base) (only (c \"kernel.c\") count))\n{counts}\n(f 1 2 3)"));
    let arguments = ["run", "--opt=high", "--emit=opt", "--only=f", "g.scm"];
    let core = printed(&cairn(&directory.0, &arguments).output().unwrap());
    assert!(core.contains("%fx*:3") && !core.contains("(%*") && !core.contains("(%+"), "{core}");
}

#[test]
fn the_code_follows_the_source() {
    let Some(directory) = kernel("c-source-changes") else { return };
    let program = "(import (scheme base) (scheme write) (c \"part.c\" \"more.c\" \"more.h\" \"-DUNIT=5\"))\n\
                   (define (f n) (if (= n 0) (scaled 1) (f (- n 1))))\n(write (list (f 9) (more 1) (helped) SIZE))";
    directory.write("part.c", "#include \"part.h\"\nint scaled(int x) { return UNIT * FACTOR * x; }\n");
    directory.write("part.h", "#define FACTOR 2\n");
    directory.write(
        "more.c",
        "static int calls;\nint more(int n) { return calls += n; }\nint helped(void) { return more(1); }\n",
    );
    directory.write("more.h", "enum { SIZE = 9 };\n");
    let modes = [&[][..], &["--opt=high"]];
    modes.iter().for_each(|options| assert_eq!(run(&directory, options, program), "(10 1 2 9)", "{options:?}"));
    // nothing is compiled again
    let mut command = cairn(&directory.0, &["run", "program.scm"]);
    assert_eq!(printed(&command.env("PATH", "").output().unwrap()), "(10 1 2 9)");
    directory.write("part.h", "#define FACTOR 3\n");
    modes.iter().for_each(|options| assert_eq!(run(&directory, options, program), "(15 1 2 9)", "{options:?}"));
    // what is lost is made again
    for file in fs::read_dir(directory.0.join("cache")).unwrap().flatten().map(|f| f.path()) {
        if file.to_string_lossy().contains(".c-source.") {
            fs::remove_file(file).unwrap();
        }
    }
    modes.iter().for_each(|options| assert_eq!(run(&directory, options, program), "(15 1 2 9)", "{options:?}"));
}

#[test]
fn libraries_of_a_program_share_the_state_of_a_source() {
    let Some(directory) = kernel("c-source-state") else { return };
    let library = "(define-library (counting) (export up) (import (scheme base) (only (c \"kernel.c\") count))\n\
                   (begin (define (up) (count))))";
    directory.write("counting.sld", library);
    let program = "(import (scheme base) (scheme write) (counting) (only (c \"kernel.c\") count))\n\
                   (define (many n) (if (> n 0) (begin (count) (many (- n 1)))))\n\
                   (many 50000) (up) (write (count))";
    for options in [&[][..], &["--opt=high"], &["--opt=low"]] {
        assert_eq!(run(&directory, options, program), "50002", "{options:?}");
    }
    // each prompt is a process; what is typed there and what was evaluated see the same
    directory
        .write("input", "(import (only (c \"kernel.c\") count))\n(count)\n(import (counting))\n(up)\n(count)\n");
    let input = fs::File::open(directory.0.join("input")).unwrap();
    let output = cairn(&directory.0, &["repl"]).stdin(input).output().unwrap();
    assert_eq!(printed(&output), "1\n2\n3\n");
}

#[test]
fn a_shared_library_has_its_sources_inside() {
    let Some(directory) = kernel("c-source-shared") else { return };
    let program = "(import (scheme base) (cairn c) (prefix (c \"kernel.c\") c:))\n\
                   (c-export int \"counted\" (int) (lambda (n) (+ (c:triple n) (c:count))))";
    directory.write("counted.scm", program);
    printed(&cairn(&directory.0, &["build", "--shared", "counted.scm"]).output().unwrap());
    fs::remove_dir_all(directory.0.join("cache")).unwrap();
    let main = "#include \"counted.h\"\n#include <stdio.h>\n\
                int main(void) { counted(1); printf(\"%d\", counted(5)); return 0; }\n";
    directory.write("main.c", main);
    let options = ["main.c", "-L.", "-lcounted", "-Wl,-rpath,.", "-o", "main"];
    printed(&Command::new("clang-19").args(options).current_dir(&directory.0).output().unwrap());
    assert_eq!(printed(&Command::new("./main").current_dir(&directory.0).output().unwrap()), "17");
}

#[test]
fn what_clang_complains_of_is_an_error_of_the_program() {
    let Some(directory) = kernel("c-source-errors") else { return };
    directory.write("wrong.c", "int f(int x) {\n  return x +;\n}\n");
    directory.write("wrong.scm", "(import (scheme base) (c \"wrong.c\"))\n(f 1)");
    let message = |program: &str| {
        let output = cairn(&directory.0, &["run", program]).output().unwrap();
        assert!(!output.status.success());
        text(&output.stderr)
    };
    let wrong = message("wrong.scm");
    assert!(wrong.contains("wrong.c:2:13: error: expected expression\n --> wrong.scm:1:23"), "{wrong}");
    directory.write("lost.c", "int lost(int);\nint f(int x) { return lost(x); }\n");
    directory.write("lost.scm", "(import (scheme base) (c \"lost.c\"))\n(f 1)");
    let lost = message("lost.scm");
    assert!(lost.contains("undefined symbol: lost"), "{lost}");
    directory.write("linked.scm", "(import (scheme base) (c \"kernel.c\" \"/nowhere/liblost.so\"))\n(mix 1 2 3)");
    let linked = message("linked.scm");
    assert!(linked.contains("clang-19 cannot link it: "), "{linked}");
    // declared in a header, defined nowhere: an error for who uses it
    directory.write("absent.scm", "(import (scheme base) (c \"kernel.c\"))\n(absent 1)");
    let absent = message("absent.scm");
    assert!(absent.contains("there is no function absent in"), "{absent}");
}
