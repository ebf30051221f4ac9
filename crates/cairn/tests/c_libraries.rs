//! Calls of C libraries that a machine may not have, and the code of direct calls. (What every machine has is called by
//! `tests/programs/c.scm`, in all configurations.) A library that is absent is said, and its test passes.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

mod common;
use common::{Directory, binary, root};

fn cairn(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(binary())
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Is the library there? If not, that is said.
fn is_there(library: &str, package: &str) -> bool {
    let program = format!(
        "(import (scheme base) (scheme write) (cairn c))\n\
         (write (guard (e ((file-error? e) 'absent)) (c-library \"{library}\") 'present))"
    );
    let there = match printed(&cairn(&["run", "-"], &program)).as_str() {
        "present" => true,
        "absent" => false,
        other => panic!("{other}"),
    };
    if !there {
        eprintln!("not tested: there is no {library} here; apt-get install {package}");
    }
    there
}

/// The program prints the same however it is run: the text of its name in tests/c.
fn prints_everywhere(program: &str) {
    let expected = Path::new("tests/c").join(Path::new(program).with_extension("out").file_name().unwrap());
    let expected = fs::read_to_string(root().join(expected)).unwrap();
    for options in [&[][..], &["--opt=low"], &["--opt=high"], &["--opt=high", "--frames=heap", "--gc=marksweep"]] {
        let output = cairn(&[&["run"], options, &[program]].concat(), "");
        assert_eq!(printed(&output), expected, "{program} {options:?}");
    }
    let directory = Directory::new("c-libraries");
    let exe = directory.0.join(program.replace('/', "-"));
    printed(&cairn(&["build", program, "-o", exe.to_str().unwrap()], ""));
    assert_eq!(printed(&Command::new(&exe).output().unwrap()), expected, "{program}, built");
}

/// A test for each program of a library: what it prints is in tests/c.
macro_rules! programs_print {
    ($($test:ident: $program:literal, $library:literal of $package:literal;)*) => {$(
        #[test]
        fn $test() {
            if is_there($library, $package) {
                prints_everywhere($program);
            }
        }
    )*};
}

programs_print! {
    sqlite_stores_and_queries: "examples/sqlite.scm", "libsqlite3.so.0" of "libsqlite3-0";
    zlib_compresses: "tests/c/zlib.scm", "libz.so.1" of "zlib1g";
    zstd_compresses_in_one_step_and_in_streams: "tests/c/zstd.scm", "libzstd.so.1" of "libzstd1";
    pcre2_matches_replaces_and_calls_back: "tests/c/pcre2.scm", "libpcre2-8.so.0" of "libpcre2-8-0";
    ncurses_writes_on_a_screen: "tests/c/ncurses.scm", "libncursesw.so.6" of "libncursesw6";
    openssl_carries_tls_over_sockets: "examples/tls.scm", "libssl.so.3" of "libssl3";
}

/// A plot, in three formats; a file that cannot be written is an error.
#[test]
fn cairo_plots() {
    if !is_there("libcairo.so.2", "libcairo2") {
        return;
    }
    let directory = Directory::new("c-cairo");
    let plot = |options: &[&str], name: &str| {
        let file = directory.0.join(name);
        let output = cairn(&[&["run"], options, &["examples/plot.scm", file.to_str().unwrap()]].concat(), "");
        printed(&output);
        fs::read(file).unwrap()
    };
    let svg = String::from_utf8(plot(&[], "a.svg")).unwrap();
    assert!(svg.starts_with("<?xml") && svg.ends_with("</svg>\n"), "{svg}");
    // a curve of 401 points, of which cairo leaves out those on a line
    let longest = svg.split("<path").map(|path| path.matches(" L ").count()).max();
    assert!(longest.is_some_and(|n| (300..=400).contains(&n)), "{longest:?}");
    let png = plot(&["--opt=high"], "a.png");
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    assert_eq!(png[16..24], [0, 0, 2, 128, 0, 0, 1, 144], "640 by 400");
    assert!(plot(&["--opt=low"], "a.pdf").starts_with(b"%PDF-"));
    let output = cairn(&["run", "examples/plot.scm", "/nowhere/a.svg"], "");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("error: cairo: error while writing"), "{error}");
}

#[test]
fn files_and_directories_by_srfi_170() {
    prints_everywhere("tests/c/posix.scm");
}

/// In a loop over a C function that was defined at top level there is no call of Scheme, and doubles stay unboxed.
#[test]
fn calls_are_direct() {
    let program = "(import (scheme base) (cairn c))\n\
                   (define cos* (c-procedure double \"cos\" (double)))\n\
                   (define (settled n x) (if (= n 0) x (settled (- n 1) (cos* x))))\n\
                   (vector (settled 100 1.) (settled 200 .5))";
    let core = printed(&cairn(&["run", "--opt=high", "--emit=opt", "--only=settled", "-"], program));
    assert!(core.contains("%c-call"), "{core}");
    let text = printed(&cairn(&["run", "--opt=high", "--emit=llvm", "--only=settled", "-"], program));
    let call = text.lines().find(|l| l.contains("call double (...)")).unwrap_or_else(|| panic!("{text}"));
    assert!(call.contains("(double %"), "{call}");
    // nor where a text or a vector is passed, or a text returned
    let program = "(import (scheme base) (cairn c))\n\
                   (define length* (c-procedure size_t \"strlen\" (string)))\n\
                   (define word (c-procedure string \"strerror\" (int)))\n\
                   (define (all n) (if (= n 0) 0 (+ (length* (word n)) (all (- n 1)))))\n\
                   (vector (all 3) (all 4))";
    let core = printed(&cairn(&["run", "--opt=high", "--emit=opt", "--only=all", "-"], program));
    assert!(core.contains("%c-elements") && core.contains("%c-text"), "{core}");
    assert_eq!(core.matches("%c-call").count(), 2, "{core}");
}
