//! Shared libraries made by `cairn build --shared`: C, Python and Rust call Scheme.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

mod common;
use common::{Directory, binary, printed, root, text};

/// `cairn build --shared` in a directory.
fn build(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(binary());
    command.args(["build", "--shared"]).args(arguments).current_dir(directory);
    command.env("CAIRN_CACHE_DIR", directory.join("cache")).output().unwrap()
}

/// A directory with this program, built as a shared library.
fn library(name: &str, program: &str, options: &[&str]) -> Directory {
    let directory = Directory::new(&format!("shared-{name}"));
    directory.write(&format!("{name}.scm"), program);
    assert_eq!(printed(&build(&directory.0, &[options, &[&format!("{name}.scm")]].concat())), "");
    directory
}

/// Compiles a program of C that uses the library.
fn compile(directory: &Path, program: &str, library: &str) {
    compile_with(directory, program, library, &[]);
}

fn compile_with(directory: &Path, program: &str, library: &str, options: &[&str]) {
    let output = Command::new("cc")
        .args([
            "-Wall",
            "-Wextra",
            "-Werror",
            "-O1",
            "-pthread",
            "-o",
            "program",
            program,
            "-L.",
            "-Wl,-rpath,$ORIGIN",
        ])
        .arg(format!("-l{library}"))
        .args(options)
        .current_dir(directory)
        .output()
        .unwrap();
    printed(&output);
}

/// A callback that takes and returns structures, called when nothing that Scheme has called is under way.
#[test]
fn callbacks_have_structures_by_value_at_any_time() {
    let program = "(import (scheme base) (cairn c))
         (define-c-struct small (n int) (x float))
         (define-c-struct large (a long) (b double) (c small))
         (define small-f
           (c-callback small (large small) (lambda (l s) (if (< (small-n s) 0) (error \"negative\")) (large-c l))))
         (define large-f
           (c-callback large (small large)
             (lambda (s l) (set-large-c! l s) (set-large-a! l (+ 1 (large-a l))) l)))
         (c-export pointer \"small_f\" () (lambda () small-f))
         (c-export pointer \"large_f\" () (lambda () large-f))";
    let directory = library("structures", program, &[]);
    directory.write(
        "use.c",
        "#include \"structures.h\"
         #include <stdio.h>
         struct small { int n; float x; };
         struct large { long a; double b; struct small c; };
         int main(void) {
           struct small (*f)(struct large, struct small) = (struct small (*)(struct large, struct small))small_f();
           struct large (*g)(struct small, struct large) = (struct large (*)(struct small, struct large))large_f();
           struct large l = g((struct small){ 1, 1.5f }, (struct large){ 2, 2.5, { 3, 3.5f } });
           struct small s = f(l, (struct small){ 4, 4.5f });
           printf(\"%ld %g %d %g, %d %g\\n\", l.a, l.b, l.c.n, l.c.x, s.n, s.x);
           s = f(l, (struct small){ -4, 4.5f });
           printf(\"%d %g %d\\n\", s.n, s.x, structures_error() != NULL);
           return structures_close();
         }",
    );
    compile(&directory.0, "use.c", "structures");
    let output = Command::new(directory.0.join("program")).output().unwrap();
    assert_eq!(printed(&output), "3 2.5 1 1.5, 1 1.5\n0 0 1\n");
}

/// The library and the program of `tests/c/shared`.
fn counting(options: &[&str]) -> Directory {
    let from = root().join("tests/c/shared");
    let directory = library("counting", &fs::read_to_string(from.join("counting.scm")).unwrap(), options);
    fs::copy(from.join("counting.c"), directory.0.join("counting.c")).unwrap();
    compile(&directory.0, "counting.c", "counting");
    directory
}

fn program(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(directory.join("program"));
    command.args(arguments);
    command
}

/// The tests of `counting.c` that end the library, or are long.
const ALONE: [&str; 5] = ["calls of C", "leaving", "closing", "leaving from within", "errors"];

#[test]
fn c_calls_scheme_with_every_kind_of_frames_and_collector() {
    let ways: [&[&str]; 5] = [
        &[],
        &["--frames=native", "--gc=marksweep"],
        &["--frames=stack", "--opt=low"],
        &["--frames=heap", "--gc=mcc"],
        &["--frames=resize", "--debug"],
    ];
    for options in ways {
        let directory = counting(options);
        let said = printed(&program(&directory.0, &[]).output().unwrap());
        assert_eq!(said, "starts\nsaid\nall is well\n", "{options:?}");
        for test in ALONE {
            let said = printed(&program(&directory.0, &[test]).output().unwrap());
            assert_eq!(said, "starts\nwell\n", "{test} {options:?}");
        }
    }
}

#[test]
fn what_c_waits_for_survives_collections_at_every_safepoint() {
    for options in [&[][..], &["--frames=native", "--gc=marksweep"]] {
        let directory = counting(options);
        for test in ["types", "calls of C", "callbacks"] {
            let said = printed(&program(&directory.0, &[test]).env("CAIRN_ZEAL", "1").output().unwrap());
            assert_eq!(said, "starts\nwell\n", "{test} {options:?}");
        }
    }
}

/// A frame whose live map is not in its descriptor, several values, and an error with a backtrace: all that descriptors
/// refer to by distances.
fn referring() -> String {
    let names: Vec<String> = (0..150).map(|i| format!("x{i}")).collect();
    let bound: Vec<String> = (0..150).map(|i| format!("(x{i} (list (+ n {i})))")).collect();
    let all = names.iter().map(|x| format!("(car {x})")).collect::<Vec<_>>().join(" ");
    format!(
        "(import (scheme base) (cairn c))
         (define (parts n) (if (= n 0) (values 1 2 3) (parts (- n 1))))
         (define (build n) (if (= n 0) '() (cons n (build (- n 1)))))
         (define (wide n) (let ({}) (let ((l (build n))) (+ (length l) {all}))))
         (define (fails n) (+ 1 (vector-ref (vector n) (+ n 1))))
         (c-export long \"wide\" (long) wide)
         (c-export long \"several\" (long)
           (lambda (n) (call-with-values (lambda () (parts n)) (lambda (a b c) (+ a (* 10 b) (* 100 c))))))
         (c-export long \"counted\" (long)
           (lambda (n) (call-with-values (lambda () (parts n)) (lambda l (length l)))))
         (c-export long \"fails\" (long) (lambda (n) (* 2 (fails n))))",
        bound.join(" ")
    )
}

/// The loader writes nothing into the code: a system may forbid it, and processes share the pages.
#[test]
fn there_are_no_text_relocations() {
    let ways: [&[&str]; 4] = [
        &[],
        &["--opt=low", "--frames=stack"],
        &["--frames=native", "--gc=marksweep"],
        &["--frames=heap", "--debug"],
    ];
    for options in ways {
        let directory = library("referring", &referring(), options);
        directory.write(
            "use.c",
            "#include \"referring.h\"
             #include <stdio.h>
             int main(void) {
               printf(\"%ld %ld %ld\\n\", wide(1000), several(5), counted(5));
               long failed = fails(3);
               printf(\"%ld %s\\n\", failed, referring_error());
               return referring_close();
             }",
        );
        compile(&directory.0, "use.c", "referring");
        let expected = "162175 321 3\n0 error: vector-ref: a vector of length 1 has no element 4\n";
        for zeal in ["0", "1"] {
            let said = printed(&program(&directory.0, &[]).env("CAIRN_ZEAL", zeal).output().unwrap());
            assert!(said.starts_with(expected) && said.contains(": fails "), "{options:?} {said}");
        }
        let read = |what: &str| {
            let output =
                Command::new("readelf").args([what, "libreferring.so"]).current_dir(&directory.0).output();
            printed(&output.unwrap())
        };
        assert!(!read("-dW").contains("TEXTREL"), "{options:?}");
        // addresses that the loader changes lie in no segment of code
        let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
        let segments = read("-lW");
        let code: Vec<std::ops::Range<u64>> = (segments.lines())
            .filter(|l| l.trim_start().starts_with("LOAD") && l.contains(" R E "))
            .map(|l| l.split_whitespace().map(String::from).collect::<Vec<_>>())
            .map(|words| number(&words[2])..number(&words[2]) + number(&words[5]))
            .collect();
        assert!(!code.is_empty(), "{segments}");
        let relocations = read("-rW");
        let places: Vec<u64> = (relocations.lines())
            .filter(|l| l.contains(" R_X86_64_"))
            .map(|l| number(l.split_whitespace().next().unwrap()))
            .collect();
        assert!(places.len() > 100, "{relocations}");
        assert!(!places.iter().any(|place| code.iter().any(|c| c.contains(place))), "{options:?}");
    }
}

/// The library and the programs of `tests/c/shared/types.*`.
fn types(options: &[&str]) -> Directory {
    let from = root().join("tests/c/shared");
    let directory = library("types", &fs::read_to_string(from.join("types.scm")).unwrap(), options);
    for file in ["types.c", "types.py"] {
        fs::copy(from.join(file), directory.0.join(file)).unwrap();
    }
    compile_with(&directory.0, "types.c", "types", &["-pedantic", "-std=c17", "-Wl,-z,text"]);
    directory
}

#[test]
fn structures_vectors_strings_and_functions_go_both_ways() {
    let ways: [&[&str]; 5] = [
        &[],
        &["--frames=native", "--gc=marksweep"],
        &["--frames=stack", "--opt=low"],
        &["--frames=heap", "--gc=mcc"],
        &["--frames=quasi", "--debug"],
    ];
    for options in ways {
        let directory = types(options);
        for zeal in ["0", "1"] {
            let said = printed(&program(&directory.0, &[]).env("CAIRN_ZEAL", zeal).output().unwrap());
            assert_eq!(said, "all is well\n", "{options:?}, zeal {zeal}");
        }
        let python = Command::new("python3").arg(directory.0.join("types.py")).env("PYTHONUTF8", "1").output();
        match python {
            Ok(python) => assert_eq!(printed(&python), "all is well\n", "{options:?}"),
            Err(_) => eprintln!("not tested: there is no python3 here"),
        }
    }
}

/// The header is text of C and of C++ that no compiler complains of, and declares what the program says.
#[test]
fn the_header_is_right_c() {
    let directory = types(&[]);
    let header = fs::read_to_string(directory.0.join("types.h")).unwrap();
    for line in [
        "struct rect {\n  struct point from;\n  struct point to;\n  char tag[4];\n  const char *name;\n};\n",
        "struct point middle(struct point, struct point);\n",
        "double sum_u16(uint16_t *, size_t);\n",
        "const uint8_t *reversed(const uint8_t *, size_t, size_t *);\n",
        "\nconst int32_t *squares(int, size_t *);\n",
        "size_t measured(size_t (*)(const char *), const char *);\n",
        "void sort(void (*)(void *, size_t), int32_t *, size_t);\n",
        "void move_by(void *, double);\n",
    ] {
        assert!(header.contains(line), "{line}{header}");
    }
    directory.write("twice.c", "#include \"types.h\"\n#include \"types.h\"\nextern int nothing;\n");
    for (compiler, language, standard) in [
        ("cc", "c", "-std=c99"),
        ("cc", "c", "-std=c17"),
        ("c++", "c++", "-std=c++11"),
        ("c++", "c++", "-std=c++20"),
    ] {
        let output = Command::new(compiler)
            .args([
                "-Wall",
                "-Wextra",
                "-pedantic",
                "-Werror",
                "-fsyntax-only",
                standard,
                "-x",
                language,
                "twice.c",
            ])
            .current_dir(&directory.0)
            .output();
        match output {
            Ok(output) => assert_eq!(printed(&output), "", "{standard}"),
            Err(_) => eprintln!("not tested: there is no {compiler} here"),
        }
    }
}

/// Structures of one name in two libraries of a process have nothing to do with each other, nor have what is kept.
#[test]
fn two_libraries_have_structures_of_their_own() {
    let make = |name: &str, field: &str, add: &str| {
        let program = format!(
            "(import (scheme base) (cairn c))
             (define-c-struct pair (a {field}) (b {field}))
             (define (next p) (set-pair-a! p (+ {add} (pair-b p))) p)
             (c-export pair \"next\" (pair) next)
             (c-export bytevector \"text\" (int) (lambda (n) (make-bytevector n {add})))"
        );
        library(name, &program, &[])
    };
    let (ints, doubles) = (make("ints", "int", "1"), make("doubles", "double", "2"));
    #[repr(C)]
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Pair<T> {
        a: T,
        b: T,
    }
    let ints = Loaded::new(&ints.0.join("libints.so"));
    let doubles = Loaded::new(&doubles.0.join("libdoubles.so"));
    let next_int: extern "C" fn(Pair<c_int>) -> Pair<c_int> = ints.function("next");
    let next_double: extern "C" fn(Pair<f64>) -> Pair<f64> = doubles.function("next");
    let texts: [extern "C" fn(c_int, *mut usize) -> *const u8; 2] =
        [ints.function("text"), doubles.function("text")];
    let (mut length, mut before) = (0, std::ptr::null());
    for n in 0..20 {
        assert_eq!(next_int(Pair { a: 0, b: n }), Pair { a: n + 1, b: n });
        assert_eq!(next_double(Pair { a: 0.0, b: 0.5 }), Pair { a: 2.5, b: 0.5 });
        let first = texts[0](n + 1, &mut length);
        assert_eq!(length, n as usize + 1);
        for _ in 0..20 {
            before = texts[1](5, &mut length);
        }
        // SAFETY: so many bytes are there until sixteen others are, of the same library.
        unsafe {
            assert_eq!(std::slice::from_raw_parts(first, n as usize + 1), vec![1; n as usize + 1]);
            assert_eq!(std::slice::from_raw_parts(before, length), [2; 5]);
        }
    }
}

/// Nothing of the runtime can be seen, so another library's runtime cannot get in its way.
#[test]
fn only_what_is_exported_can_be_seen() {
    let directory = counting(&[]);
    let output =
        Command::new("nm").args(["-D", "--defined-only", "libcounting.so"]).current_dir(&directory.0).output();
    let mut names: Vec<String> =
        printed(&output.unwrap()).lines().filter_map(|l| l.split(' ').next_back()).map(String::from).collect();
    let program = fs::read_to_string(root().join("tests/c/shared/counting.scm")).unwrap();
    let exported = program.lines().filter(|l| l.starts_with("(c-export")).filter_map(|l| l.split('"').nth(1));
    let own = ["counting_start", "counting_error", "counting_close"];
    let mut expected: Vec<String> = exported.chain(own).map(String::from).collect();
    names.sort();
    expected.sort();
    assert_eq!(names, expected);
}

#[test]
fn the_example_works_from_c_python_and_rust() {
    let from = root().join("examples/shared-library");
    let directory = library("words", &fs::read_to_string(from.join("words.scm")).unwrap(), &[]);
    for file in ["words.c", "words.py", "words.rs"] {
        fs::copy(from.join(file), directory.0.join(file)).unwrap();
    }
    compile_with(&directory.0, "words.c", "words", &["-pedantic"]);
    let said = printed(&program(&directory.0, &[]).output().unwrap());
    let error = "error: there is no word in the text: \"1, 2, 3\"\n  --> words.scm:27:21\n";
    let begin = "8 words, most often \"the\"\nthe 3\nand 2\nbat 1\n";
    assert!(said.starts_with(&format!("{begin}{error}")), "{said}");
    let rust = Command::new("rustc")
        .args([
            "--edition=2024",
            "words.rs",
            "-o",
            "rust",
            "-L.",
            "-C",
            "link-arg=-Wl,-rpath,$ORIGIN",
            "-D",
            "warnings",
        ])
        .current_dir(&directory.0)
        .output();
    assert_eq!(printed(&rust.unwrap()), "");
    let said = printed(&Command::new(directory.0.join("rust")).output().unwrap());
    let begin = "8 words, most often Ok(\"the\")\nthe 3\nand 2\nbat 1\n";
    assert!(said.starts_with(&format!("{begin}{error}")), "{said}");
    let Ok(python) = Command::new("python3").arg(directory.0.join("words.py")).env("PYTHONUTF8", "1").output()
    else {
        return eprintln!("not tested: there is no python3 here");
    };
    let begin = "7 words, most often zwölf\nzwölf 3\nboxkämpfer 2\nfüchse 1\n";
    let said = printed(&python);
    assert!(said.starts_with(&format!("{begin}{error}")), "{said}");
}

/// The library and the program in Rust of docs/c.md.
#[test]
fn the_documents_library_works_from_rust() {
    let document = fs::read_to_string(root().join("docs/c.md")).unwrap();
    let block = |language: &str, what: &str| {
        let begin = format!("```{language}\n");
        let mut blocks = document.split(&begin).skip(1);
        let text = blocks.find_map(|b| Some(b.split_once("\n```")?.0).filter(|b| b.contains(what)));
        format!("{}\n", text.expect(what))
    };
    let directory = library("hello", &block("scheme", "(c-export int \"add\""), &[]);
    directory.write("main.rs", block("rust", "#[link(name = \"hello\")]"));
    let output = Command::new("rustc")
        .args(["--edition=2024", "main.rs", "-L.", "-C", "link-arg=-Wl,-rpath,$ORIGIN", "-D", "warnings"])
        .current_dir(&directory.0)
        .output();
    assert_eq!(printed(&output.unwrap()), "");
    assert_eq!(printed(&Command::new(directory.0.join("main")).output().unwrap()), "Hello, Rust! 42\n");
}

/// A shared library as this process has loaded it.
struct Loaded(*mut c_void);

impl Loaded {
    fn new(file: &Path) -> Loaded {
        let name = CString::new(file.to_str().unwrap()).unwrap();
        // SAFETY: `name` is a C string, and the library is one of this test, whose constructors do no harm.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
        assert!(!handle.is_null(), "{}", file.display());
        Loaded(handle)
    }

    /// A function, of a type that the caller knows.
    fn function<F: Copy>(&self, name: &str) -> F {
        let name = CString::new(name).unwrap();
        // SAFETY: the handle is of a library, which is never unloaded; the caller says what the type is.
        unsafe {
            let address = libc::dlsym(self.0, name.as_ptr());
            assert!(!address.is_null(), "{name:?}");
            std::mem::transmute_copy(&address)
        }
    }

    fn error(&self, name: &str) -> Option<String> {
        let error: extern "C" fn() -> *const c_char = self.function(name);
        let error = error();
        // SAFETY: null, or a text that is there until the next call.
        (!error.is_null()).then(|| unsafe { CStr::from_ptr(error).to_string_lossy().into_owned() })
    }
}

const PAIR: &str = r#"(import (scheme base) (cairn c))
(define calls 0)
(define (through f n)
  (set! calls (+ calls 1))
  (if (= n 0) 0 (+ 1 ((c-procedure int "through" (int) f) (- n 1)))))
(c-export int "through" (pointer int) through)
(c-export int "calls" () (lambda () calls))
(c-export string "version" () (lambda () (make-string calls #\v)))
"#;

type Through = extern "C" fn(extern "C" fn(c_int) -> c_int, c_int) -> c_int;

/// Two libraries, and a copy of one, in this process: each has variables of its own, and they call each other.
#[test]
fn several_libraries_in_one_process() {
    let directory = library("pair", PAIR, &[]);
    let other = library("other", PAIR, &["--frames=native", "--gc=marksweep"]);
    let copy = directory.0.join("libcopy.so");
    fs::copy(directory.0.join("libpair.so"), &copy).unwrap();
    let all = [directory.0.join("libpair.so"), other.0.join("libother.so"), copy].map(|f| Loaded::new(&f));
    static THROUGH: [std::sync::OnceLock<Through>; 3] = [const { std::sync::OnceLock::new() }; 3];
    for (cell, library) in THROUGH.iter().zip(&all) {
        cell.set(library.function("through")).unwrap();
    }
    extern "C" fn next<const I: usize>(n: c_int) -> c_int {
        let through = THROUGH[(I + 1) % 3].get().unwrap();
        through([next::<1>, next::<2>, next::<0>][I], n)
    }
    assert_eq!(THROUGH[0].get().unwrap()(next::<0>, 30), 30);
    for (library, expected) in all.iter().zip([11, 10, 10]) {
        let calls: extern "C" fn() -> c_int = library.function("calls");
        let version: extern "C" fn() -> *const c_char = library.function("version");
        assert_eq!(calls(), expected);
        // SAFETY: the text is there until the next call of the library.
        assert_eq!(unsafe { CStr::from_ptr(version()) }.to_bytes().len(), expected as usize);
    }
    // unloading and loading again finds it as it was
    // SAFETY: the handle comes from `dlopen` in this test, which closes it once.
    assert_eq!(unsafe { libc::dlclose(all[0].0) }, 0);
    let again = Loaded::new(&directory.0.join("libpair.so"));
    let calls: extern "C" fn() -> c_int = again.function("calls");
    assert_eq!(calls(), 11);
    let close: extern "C" fn() -> c_int = again.function("pair_close");
    assert_eq!((close(), calls()), (0, 0));
    assert_eq!(again.error("pair_error").as_deref(), Some("error: the library is closed"));
    let calls: extern "C" fn() -> c_int = all[2].function("calls");
    assert_eq!(calls(), 10);
}

#[test]
fn a_library_may_evaluate() {
    let program = r#"(import (scheme base) (scheme eval) (scheme read) (cairn c))
(define (calculate text)
  (eval (read (open-input-string text)) (environment '(scheme base))))
(c-export long "calculate" (string) calculate)
"#;
    let directory = library("evaluates", program, &[]);
    let loaded = Loaded::new(&directory.0.join("libevaluates.so"));
    let calculate: extern "C" fn(*const c_char) -> c_long = loaded.function("calculate");
    assert_eq!(calculate(c"(* 6 (let loop ((i 0)) (if (< i 7) (loop (+ i 1)) i)))".as_ptr()), 42);
    // as deep as code may be, and deeper, on threads whose stacks lie elsewhere
    let nested = |n: usize| CString::new("(+ 1 ".repeat(n) + "1" + &")".repeat(n)).unwrap();
    let (deep, too_deep) = (nested(90_000), nested(110_000));
    let error: extern "C" fn() -> *const c_char = loaded.function("evaluates_error");
    let check = || {
        assert_eq!((calculate(deep.as_ptr()), error()), (90_001, std::ptr::null()));
        assert_eq!(calculate(too_deep.as_ptr()), 0);
        // SAFETY: the text is there until the next call of the library.
        assert!(unsafe { CStr::from_ptr(error()) }.to_string_lossy().contains("nested more than"));
    };
    check();
    std::thread::scope(|s| s.spawn(check).join().unwrap());
}

#[test]
fn a_library_may_have_threads_and_places_and_call_blocking_functions() {
    let program = r#"(import (scheme base) (cairn c) (cairn place) (cairn thread))
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(c-export long "fibs" (int) (lambda (n) (apply + (place-map fib (list n n)))))
(define usleep (c-procedure (blocking int) "usleep" (unsigned)))
(define turns 0)
(define (turn) (set! turns (+ turns 1)) (thread-yield!) (turn))
(c-export long "sleep_and_turn" ()
          (lambda ()
            (let ((t (thread-start! (make-thread turn))))
              (usleep 20000)
              (thread-terminate! t)
              turns)))
(c-export long "through" (pointer) (lambda (f) ((c-procedure (blocking long) "f" () f))))
"#;
    let directory = library("beside", program, &[]);
    let loaded = Loaded::new(&directory.0.join("libbeside.so"));
    let fibs: extern "C" fn(c_int) -> c_long = loaded.function("fibs");
    assert_eq!(fibs(15), 1220);
    let sleep: extern "C" fn() -> c_long = loaded.function("sleep_and_turn");
    assert!(sleep() > 10);
    // what a blocking call calls on its thread must not wait for who waits for it
    static FIBS: std::sync::OnceLock<extern "C" fn(c_int) -> c_long> = std::sync::OnceLock::new();
    FIBS.set(fibs).unwrap();
    extern "C" fn calls_again() -> c_long {
        FIBS.get().unwrap()(15) + 5
    }
    let through: extern "C" fn(extern "C" fn() -> c_long) -> c_long = loaded.function("through");
    assert_eq!(through(calls_again), 5);
}

#[test]
fn a_library_that_fails_to_start_says_why() {
    let program = "(import (scheme base) (cairn c))\n(c-export int \"f\" () (lambda () 1))\n(car '())\n\
                   (c-export int \"g\" () (lambda () 2))\n";
    let directory = library("fails", program, &[]);
    let loaded = Loaded::new(&directory.0.join("libfails.so"));
    let [f, start]: [extern "C" fn() -> c_int; 2] = ["f", "fails_start"].map(|name| loaded.function(name));
    assert_eq!(start(), -1);
    for _ in 0..2 {
        let error = loaded.error("fails_error").unwrap();
        assert!(error.starts_with("error: car: expected a pair, got ()\n --> fails.scm:3:1\n"), "{error}");
        assert_eq!(f(), 0);
    }
}

/// However the process ends, what the library has written is in the file.
#[test]
fn buffers_are_written_out_at_the_end() {
    let scheme = r#"(import (scheme base) (scheme file) (cairn c))
(define port (open-output-file "written"))
(c-export void "note" (string) (lambda (s) (write-string s port)))
(c-export int "through" (pointer int) (lambda (f n) ((c-procedure int "f" (int) f) n)))
"#;
    let c = r#"#include "buffers.h"
#include <stdlib.h>
static int leave(int n) { exit(n); }
int main(int argc, char **argv) {
  (void) argv;
  note("kept\n");
  return argc == 1 ? 4 : argc == 2 ? through(leave, 5) : 6 + buffers_close();
}
"#;
    let directory = library("buffers", scheme, &[]);
    directory.write("buffers.c", c);
    compile(&directory.0, "buffers.c", "buffers");
    for (arguments, status) in [(&[][..], 4), (&["1"], 5), (&["1", "2"], 6)] {
        let ended = program(&directory.0, arguments).current_dir(&directory.0).status().unwrap();
        assert_eq!(ended.code(), Some(status));
        assert_eq!(fs::read_to_string(directory.0.join("written")).unwrap(), "kept\n");
        fs::remove_file(directory.0.join("written")).unwrap();
    }
}

#[test]
fn what_cannot_be_built() {
    let directory = Directory::new("shared-wrong");
    let refused = |program: &str, options: &[&str]| {
        directory.write("wrong.scm", format!("(import (scheme base) (cairn c))\n{program}"));
        let output = build(&directory.0, &[options, &["wrong.scm"]].concat());
        assert!(!output.status.success());
        assert!(!directory.0.join("libwrong.so").exists() && !directory.0.join("wrong.h").exists());
        text(&output.stderr)
    };
    let f = "(c-export int \"f\" () (lambda () 1))";
    assert!(refused("1", &[]).contains("the program exports nothing to C\nhelp: (c-export"));
    assert!(refused(&format!("{f}{f}"), &[]).contains("`f` is exported twice"));
    assert!(refused(f, &["--gc=bdw"]).contains("a shared library cannot have --gc=bdw"));
    let own = "(c-export int \"wrong_error\" () (lambda () 1))";
    assert!(refused(own, &[]).contains("the library has a function wrong_error of its own"));
    let two = "(define-c-struct a-b (x int)) (define-c-struct a_b (y int))
               (c-export a-b \"f\" (a-b) values) (c-export a_b \"g\" (a_b) values)";
    let said = refused(two, &[]);
    assert!(said.contains("C would have two structures called a_b\nhelp: one of them needs"), "{said}");
    // outside of a shared library the form only looks at what it is given
    directory.write("run.scm", format!("(import (scheme base) (scheme write) (cairn c))\n{f}(display 1)\n{f}"));
    let run =
        |mode: &str| Command::new(binary()).args(["run", mode, "run.scm"]).current_dir(&directory.0).output();
    for mode in ["--opt=auto", "--opt=high"] {
        assert_eq!(printed(&run(mode).unwrap()), "1");
    }
    directory.write("run.scm", "(import (cairn c))\n(c-export int \"f\" () 5)");
    let said = text(&run("--opt=high").unwrap().stderr);
    assert!(said.starts_with("error: c-export: expected a procedure, got 5\n"), "{said}");
    directory.write(
        "run.scm",
        "(import (scheme base) (cairn c))\n(define-c-struct a (x int))\n(define-c-struct b (x int) (y int))\n\
         (set! a b)\n(c-export a \"f\" (a) values)",
    );
    let said = text(&run("--opt=high").unwrap().stderr);
    let expected = "error: c-export: f: the structures are others than those that the header declares\n";
    assert!(said.starts_with(expected), "{said}");
}
