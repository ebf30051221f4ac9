//! The command line itself: wrong use, files that cannot be read, monstrous input.
//!
//! In golden files the title of a case is a command line; its text is what the command wrote (standard output, then
//! standard error) and its exit status. Commands run in a directory of their own, where the test made some files.

use cairn_layout::collector::Barrier;
use cairn_layout::facts::COLLECTORS;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

mod common;
use common::{Directory, binary, root, terminal};

#[path = "../../../tests/support/golden.rs"]
mod golden;

trait Commands {
    fn cairn(&self, command: &str) -> (String, Option<i32>);
    fn transcript(&self, golden: &str);
}

impl Commands for Directory {
    /// Output and status of a command line.
    fn cairn(&self, command: &str) -> (String, Option<i32>) {
        let output = Command::new(binary())
            .current_dir(&self.0)
            .args(command.split_whitespace())
            .env("CAIRN_NO_CACHE", "1")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
        (text, output.status.code())
    }
    fn transcript(&self, golden: &str) {
        let file = root().join("tests/golden/command-line").join(golden);
        golden::check(&file, &|case| {
            let (text, status) = self.cairn(case.title.strip_prefix("cairn").expect("a command line"));
            let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            format!("{text}{newline}exit status {}", status.map_or(-1, |s| s))
        });
    }
}

#[test]
fn cached_and_evaluated_programs_start_without_llvm() {
    let d = Directory::new("cached");
    d.write(
        "maps.scm",
        r#"(display (call-with-input-file "/proc/self/maps" (lambda (p) (read-string 1000000 p))))"#,
    );
    // making the library takes LLVM
    assert!(Command::new(binary()).arg("prepare").status().unwrap().success());
    let has_llvm = |level: &str| {
        let mut command = Command::new(binary());
        command.args(["run", level, "maps.scm"]).current_dir(&d.0).env("CAIRN_CACHE_DIR", &d.0);
        let maps = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert!(maps.contains("cairn"), "{maps}");
        maps.contains("libLLVM")
    };
    assert!(!has_llvm("--opt=auto"), "evaluating does not need it");
    assert!(has_llvm("--opt=high"), "compiling loads it");
    assert!(!has_llvm("--opt=high"));
}

#[test]
fn warnings_appear_at_every_run() {
    let d = Directory::new("warned");
    d.write("warned.scm", "(define (f) missing) (display 1)");
    let stderr = || {
        let mut command = Command::new(binary());
        command.args(["run", "warned.scm"]).current_dir(&d.0).env("CAIRN_CACHE_DIR", &d.0);
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    let first = stderr();
    assert!(first.contains("warning: `missing` is not defined"), "{first}");
    assert_eq!(stderr(), first);
}

#[test]
fn wrong_use() {
    let d = Directory::new("use");
    d.write("one.scm", "(display 1)");
    d.write("one", "(display 1)");
    fs::create_dir(d.0.join("folder.scm")).unwrap();
    let script = d.0.join("script.scm");
    // by way of `env`: the path of an interpreter ends at its first space
    d.write("script.scm", "#!/usr/bin/env cairn\n(write (cdr (command-line)))");
    fs::create_dir(d.0.join("bin")).unwrap();
    std::os::unix::fs::symlink(binary(), d.0.join("bin/cairn")).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(d.0.join("libraries/more")).unwrap();
    let evaluates = "(write (list one (eval 'two (environment '(two)))))";
    d.write("uses.scm", format!("(import (scheme base) (scheme write) (scheme eval) (one)) {evaluates}"));
    d.write(
        "libraries/one.sld",
        "(define-library (one) (import (scheme base)) (export one) (begin (define one 1)))",
    );
    d.write(
        "libraries/more/two.sld",
        "(define-library (two) (import (scheme base)) (export two) (begin (define two 2)))",
    );
    d.write("lib.scm", "(import (scheme base) (cairn c)) (c-export int \"lib_close\" () (lambda () 1))");
    d.write("taken.scm", "(import (scheme base) (cairn c)) (c-export int \"write\" (int) (lambda (n) n))");
    d.transcript("use.txt");
    let path = format!("{}:/usr/bin:/bin", d.0.join("bin").display());
    let mut command = Command::new(&script);
    let output = command.args(["--opt", "run"]).env("PATH", path).env("CAIRN_NO_CACHE", "1").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "(\"--opt\" \"run\")");
}

/// What is said about the command line itself knows every command.
#[test]
fn version_manual_and_completions() {
    let d = Directory::new("about");
    let said = |command: &str| {
        let (text, status) = d.cairn(command);
        assert_eq!(status, Some(0), "{command}: {text}");
        text
    };
    let version = said("--version");
    let of_library = env!("CARGO_PKG_VERSION");
    assert!(version.starts_with(&format!("cairn {of_library} (")), "{version}");
    assert!(version.contains("commit ") && version.contains("; LLVM 19.1"), "{version}");
    assert!(version.trim_end().ends_with(&format!("{}-linux-gnu)", std::env::consts::ARCH)), "{version}");
    let help = said("--help");
    let commands: Vec<&str> =
        help.lines().filter_map(|l| l.strip_prefix("  ")).filter_map(|l| l.split_whitespace().next()).collect();
    let commands = &commands[commands.iter().position(|c| *c == "repl").unwrap()..];
    let commands: Vec<&&str> = commands.iter().take_while(|c| !c.starts_with('-')).collect();
    assert!(commands.len() >= 6, "{help}");
    for text in ["manual", "completions bash", "completions zsh", "completions fish"] {
        let text = said(text);
        for command in &commands {
            assert!(text.contains(**command), "{command}: {text}");
        }
        assert!(text.replace('\\', "").contains("heap-max"), "{text}");
    }
    assert_eq!(d.cairn("completions tcsh").1, Some(2));
}

/// They run on machines where no compiler was ever installed: what is not the C library is inside of them.
#[test]
fn executables_need_only_the_c_library() {
    let d = Directory::new("needs");
    d.write("plain.scm", "(import (scheme base) (scheme write)) (display (/ (expt 7 300) 3))");
    d.write("evaluates.scm", "(import (scheme base) (scheme eval)) (eval '(+ 1 2) (environment '(scheme base)))");
    for program in ["plain", "evaluates"] {
        let (text, status) = d.cairn(&format!("build --opt=low {program}.scm"));
        assert_eq!(status, Some(0), "{text}");
        let output = Command::new("readelf").arg("-d").arg(d.0.join(program)).output().unwrap();
        let dynamic = String::from_utf8(output.stdout).unwrap();
        let needed: Vec<&str> = (dynamic.lines().filter(|l| l.contains("(NEEDED)")))
            .map(|l| l.split(['[', ']']).nth(1).unwrap())
            .filter(|library| !["libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"].contains(library))
            .collect();
        assert!(dynamic.contains("(NEEDED)") && needed.is_empty(), "{program}: {needed:?}");
        assert!(Command::new(d.0.join(program)).output().unwrap().status.success());
    }
}

#[test]
fn programs_on_standard_input() {
    let d = Directory::new("standard-input");
    d.write("part.scm", "(display \"included \")");
    let run = |text: &str| {
        let mut command = Command::new(binary());
        command.args(["run", "-", "a"]).current_dir(&d.0).env("CAIRN_NO_CACHE", "1");
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat()
    };
    assert_eq!(run("(include \"part.scm\") (write (command-line))"), "included (\"-\" \"a\")");
    assert!(run("(display 1)\n(car").contains("--> (standard input):2:1"));
}

#[test]
fn strange_input() {
    let d = Directory::new("input");
    d.write("empty.scm", "");
    d.write("no-newline.scm", "(display 7)");
    d.write("bom.scm", "\u{feff}(display 8)\n");
    d.write("crlf.scm", "(display 1)\r\n(if)\r\n");
    d.write("latin1.scm", b"(display 1)\n(display \"caf\xe9\")\n");
    d.write("binary.scm", b"\x7fELF\x02\x01\x01\x00\x00");
    d.write("nul.scm", "(display\0 1)");
    d.write("nul-in-string.scm", "(display (string-length \"a\0b\"))");
    d.write("escape.scm", "(if \"\x1b[31m\")");
    d.write("string.scm", "(display 1)\n(display \"abc\n");
    d.write("comment.scm", "(display 1)\n#| abc");
    d.write("datum-comment.scm", "(display 1)\n#;");
    d.write("long-line.scm", format!("(display 1)\n(list {}(if){})", "1 ".repeat(1000), " 2".repeat(1000)));
    d.write("includes.scm", "(include \"latin1.scm\")");
    d.write("circular.scm", "(display 1)\n(include \"circular.scm\")");
    fs::create_dir(d.0.join("my")).unwrap();
    d.write("imports.scm", "(import (my latin))");
    d.write("my/latin.sld", b"\xe9");
    d.write("misnamed.scm", "(import (my tools))");
    d.write("my/tools.sld", "(define-library (my tool))");
    d.write("no-library.scm", "(import (my script))");
    d.write("my/script.sld", "(display 1)");
    d.write("deep.scm", "(car ".repeat(150_000) + &")".repeat(150_000));
    d.write("large.scm", format!("(car '#({}))", "1 ".repeat(4_100_000)));
    // found whether or not the library is there already
    d.write(
        "forgotten.scm",
        "(import (scheme base))\n(define (f x)\n  (displya (display x) (iota 3) (thread-start! x)))",
    );
    d.transcript("input.txt");
}

#[test]
fn closed_standard_output_is_an_error() {
    let d = Directory::new("closed");
    d.write("one.scm", "(display 1)");
    for arguments in ["run one.scm", "run --emit=core one.scm", "--help"] {
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$0\" \"$@\" >&-"]).arg(binary()).args(arguments.split(' '));
        let output = shell.current_dir(&d.0).output().unwrap();
        let complaint = "cairn: cannot write to standard output: Bad file descriptor\n";
        assert_eq!(String::from_utf8_lossy(&output.stderr), complaint, "{arguments}");
        assert_eq!(output.status.code(), Some(1), "{arguments}");
    }
}

#[test]
fn unknown_zeal_is_wrong_use() {
    let d = Directory::new("zeal");
    d.write("one.scm", "(display 1)");
    let (output, status) = d.cairn("build one.scm");
    assert_eq!(status, Some(0), "{output}");
    let run = |mut command: Command, zeal: &str| {
        let output = command.current_dir(&d.0).env("CAIRN_ZEAL", zeal).output().unwrap();
        ([&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat(), output.status.code())
    };
    let in_memory = || {
        let mut command = Command::new(binary());
        command.args(["run", "one.scm"]);
        command
    };
    for (value, output, status) in [
        ("", "1", 0),
        ("0", "1", 0),
        ("2", "1", 0),
        ("abc", "cairn: CAIRN_ZEAL is \"abc\"; it must be 0 (off), 1 (on) or 2 (thorough)\n", 2),
    ] {
        let expected = (output.to_string(), Some(status));
        assert_eq!(run(in_memory(), value), expected);
        assert_eq!(run(Command::new(d.0.join("one")), value), expected);
    }
}

#[test]
fn only_zero_means_zero() {
    let d = Directory::new("status");
    let statuses = [
        ("(exit)", 0),
        ("(exit #t)", 0),
        ("(exit #f)", 1),
        ("(exit 7)", 7),
        ("(exit 255)", 255),
        ("(exit 256)", 255),
        ("(exit -256)", 255),
        ("(exit (expt 2 64))", 255),
        ("(exit 'failure)", 1),
        ("(emergency-exit 256)", 255),
    ];
    for (text, status) in statuses {
        d.write("exits.scm", text);
        assert_eq!(d.cairn("run --opt=low exits.scm"), (String::new(), Some(status)), "{text}");
    }
}

/// Deep and long programs work, or say what is too much of them.
#[test]
fn monstrous_input() {
    let d = Directory::new("monster");
    let repeat = |n: usize, open: &str, inner: &str, close: &str| open.repeat(n) + inner + &close.repeat(n);
    let nest = |open: &str, inner: &str, close: &str| repeat(70_000, open, inner, close);
    let works = [
        ("parens", format!("(define x '{}) (display (null? x))", nest("(", "", ")")), "#f"),
        ("vectors", format!("(define x '{}) (display (vector-length x))", nest("#(", "", ")")), "1"),
        ("quotes", format!("(define x {}) (display (length x))", nest("'", "a", "")), "2"),
        ("begins", nest("(begin ", "(display 1)", ")"), "1"),
        ("comments", nest("#|", "", "|#") + "(display 1)", "1"),
        ("datum-comments", format!("#;{} (display 1)", nest("(", "", ")")), "1"),
        ("long", format!("(define s \"{}\") (display (string-length s))", "x".repeat(1_000_000)), "1000000"),
        ("line", format!("(display 1) ;{}", "x".repeat(10_000_000)), "1"),
        ("symbol", format!("(display (eq? 'a '{}))", "x".repeat(1_000_000)), "#f"),
    ];
    for (name, text, output) in &works {
        d.write("m.scm", text);
        assert_eq!(d.cairn("run m.scm"), (output.to_string(), Some(0)), "{name}");
    }
    let nest = |open: &str, inner: &str, close: &str| repeat(200_000, open, inner, close);
    let fails = [
        (nest("(+ 1 ", "1", ")"), "error: expressions are nested more than 100000 deep\n --> m.scm:1:"),
        (nest("(let () ", "1", ")"), "error: expressions are nested more than 100000 deep\n --> m.scm:1:"),
        (nest("(define (f) ", "1", ")"), "error: expressions are nested more than 100000 deep\n --> m.scm:1:"),
        (nest("`(1 ,", "x", ")"), "error: expressions are nested more than 100000 deep\n --> m.scm:1:"),
        (
            nest("`", "x", "") + &nest(",", "x", ""),
            "error: expressions are nested more than 100000 deep\n --> m.scm:1:",
        ),
        (nest("(", "", ""), "error: this parenthesis is never closed\n --> m.scm:1:200000\n"),
        (nest("#|", "", ""), "error: this comment is never closed\n --> m.scm:1:1\n"),
        (
            format!("(f \"{}\")", "x".repeat(9_000_000)),
            "error: the constants of this program are larger than 32 MB\n",
        ),
        (
            format!("(f '({}))", "1 ".repeat(2_500_000)),
            "error: the constants of this program are larger than 32 MB\n",
        ),
    ];
    for (text, message) in &fails {
        d.write("m.scm", text);
        let (output, status) = d.cairn("run m.scm");
        assert!(
            output.starts_with(message) && output.len() < 2000,
            "{message}: {}",
            &output[..output.len().min(2000)]
        );
        assert_eq!(status, Some(1), "{message}");
    }
}

/// `read`, `write`, `display` and `equal?` on a million levels, at run time.
#[test]
fn monstrous_data() {
    let d = Directory::new("data");
    let program = r##"
        (import (scheme base) (scheme read) (scheme write))
        (define n 1000000)
        (define (repeat s) (let ((p (open-output-string))) (do ((i 0 (+ i 1))) ((= i n) (get-output-string p)) (write-string s p))))
        (define (try open inner close)
          (let* ((s (string-append (repeat open) inner (repeat close)))
                 (x (read (open-input-string s)))
                 (out (open-output-string)))
            (write x out)
            (write (list (equal? x (read (open-input-string s)))
                         (equal? x (read (open-input-string (get-output-string out))))))))
        (try "(" "" ")")
        (try "#(" "" ")")
        (try "'" "a" "")
        (try "(a . (" "" "))")
        (try "#;(" "" ")1")
        (define (message s) (guard (e ((read-error? e) (write (error-object-message e)))) (read (open-input-string s))))
        (message (repeat "("))
        (message (repeat "#|"))
        (message (string-append "\"" (repeat "x")))"##;
    d.write("d.scm", program);
    let end = "\"read: input:1: unexpected end of input\"";
    assert_eq!(d.cairn("run d.scm"), (format!("{}{}", "(#t #t)".repeat(5), end.repeat(3)), Some(0)));
}

/// A tree, deep recursion and captured frames: what frames refer to is pinned, the rest is copied.
#[test]
fn frames_can_be_read_as_ambiguous_words() {
    let d = Directory::new("ambiguous");
    d.write(
        "deep.scm",
        "(define (numbers n) (if (= n 0) '() (cons n (numbers (- n 1)))))
         (define (sum l) (if (null? l) 0 (+ (car l) (sum (cdr l)))))
         (define k #f)
         (define count 0)
         (define (work i) (if (= i 0) 0 (let ((l (numbers 200))) (+ (work (- i 1)) (sum l)))))
         (write (+ (call/cc (lambda (c) (set! k c) 1)) (work 2000)))
         (set! count (+ count 1))
         (if (< count 4) (k count))",
    );
    let run = |options: &str| d.cairn(&format!(" run {options} --stats-file=run.json deep.scm"));
    let number = |name: &str| -> u64 {
        let text = fs::read_to_string(d.0.join("run.json")).unwrap();
        let rest = text.split_once(&format!("\"{name}\": ")).unwrap_or_else(|| panic!("{name} in {text}")).1;
        rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    };
    let expected = ("40200001402000014020000240200003".to_string(), Some(0));
    assert_eq!(run("--gc=mcc"), expected);
    assert_eq!(["pinned", "promoted_pages", "quasi_pointers"].map(number), [0, 0, 0]);
    assert_eq!(run("--gc=mcc --ambiguous-frames"), expected);
    for name in ["pinned", "promoted_pages", "quasi_pointers", "pinned_bytes", "root_ns", "copied"] {
        assert!(number(name) > 0, "{name}");
    }
    assert!(number("pinned") >= number("promoted_pages"));
    assert_eq!(run("--gc=marksweep"), expected);
    assert_eq!(["pinned", "copied"].map(number), [0, 0]);
    assert_eq!(run("--gc=marksweep --ambiguous-frames"), expected);
    assert!(number("pinned") > 0 && number("copied") == 0);
    assert_eq!(run("--gc=mcc --frames=native"), expected);
    for name in ["pinned", "promoted_pages", "quasi_pointers", "pinned_bytes", "copied"] {
        assert!(number(name) > 0, "{name}");
    }
    assert_eq!(run("--gc=marksweep --frames=native"), expected);
    assert!(number("pinned") > 0 && number("copied") == 0);
    for (options, why) in [("--gc=gen", "the collector `gen` does not"), ("--gc=mcc --frames=heap", "are objects")]
    {
        let (message, status) = run(&format!("{options} --ambiguous-frames"));
        assert!(message.contains("cannot be read as ambiguous words") && message.contains(why), "{message}");
        assert_eq!(status, Some(1));
    }
}

/// Frames in which each word may be a reference: who cannot serve them says so, recursion goes as deep as memory does,
/// and what was captured there is entered again and again.
#[test]
fn native_frames() {
    let d = Directory::new("native");
    d.write(
        "deep.scm",
        "(define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))
         (define k #f)
         (define (capture n) (if (= n 0) (call/cc (lambda (c) (set! k c) 0)) (+ 1 (capture (- n 1)))))
         (define count 0)
         (write (list (deep 10000000) (capture 1000000)))
         (set! count (+ count 1))
         (if (< count 3) (k count))
         (write (guard (e (#t (error-object-message e))) (let more ((n 0)) (+ 1 (more n)))))",
    );
    for gc in ["marksweep", "mcc"] {
        let (said, status) = d.cairn(&format!("run --frames=native --gc={gc} --heap-max=512M deep.scm"));
        let lists = "(10000000 1000000)(10000000 1000001)(10000000 1000002)\"out of memory";
        assert!(said.starts_with(lists) && status == Some(0), "{gc}: {said}");
    }
    let (said, status) = d.cairn("run --frames=native --heap-max=512M deep.scm");
    assert!(said.starts_with("(10000000 1000000)") && status == Some(0), "{said}");
    for (gc, why) in [("gen", "does not look at all frames"), ("bdw", "address of the middle of an object")] {
        let (said, status) = d.cairn(&format!("run --frames=native --gc={gc} deep.scm"));
        assert!(said.contains(why) && said.contains("--gc=marksweep") && status == Some(2), "{said} {status:?}");
    }
}

/// A file does not take the place of a library that is built in; whoever has one is told.
#[test]
fn a_file_for_a_library_that_is_built_in_is_not_read() {
    let d = Directory::new("in-vain");
    std::fs::create_dir_all(d.0.join("mine/srfi")).unwrap();
    d.write(
        "mine/srfi/1.sld",
        "(define-library (srfi 1) (export iota) (import (scheme base)) (begin (define iota 5)))",
    );
    d.write("p.scm", "(import (scheme base) (scheme write) (only (srfi 1) iota)) (write (iota 2))");
    for command in ["run", "run --opt=high", "check"] {
        let said = d.cairn(&format!("{command} -I mine p.scm")).0;
        assert!(said.contains("(srfi 1) is built in; mine/srfi/1.sld is not read"), "{command}: {said}");
        assert!(!d.cairn(&format!("{command} p.scm")).0.contains("built in"), "{command}");
    }
    // a library beside others of its own, whose file is called as one that is built in
    std::fs::create_dir_all(d.0.join("mpl")).unwrap();
    d.write("mpl/rnrs.sls", "(library (mpl rnrs) (export x) (import (rnrs)) (define x 5))");
    d.write("mpl/y.sls", "(library (mpl y) (export y) (import (rnrs) (mpl rnrs)) (define y (list x)))");
    d.write("mpl/p.sps", "(import (rnrs) (mpl y))\n(write y)");
    for command in ["run -I .", "check -I ."] {
        let said = d.cairn(&format!("{command} mpl/p.sps")).0;
        assert!(!said.contains("built in"), "{command}: {said}");
    }
}

/// Native frames begin at any word: what LLVM keeps in them of vector registers must not want more.
#[test]
fn vector_registers_in_native_frames() {
    let d = Directory::new("vectors");
    d.write(
        "vectors.scm",
        "(import (scheme base) (scheme write) (srfi 4))
         (define-record-type p (mkp x y) p? (x p-x set-p-x!) (y p-y))
         (define (f v w fv n a x k)
           (let ((r0 (mkp x 1.)))
             (do ((i 39 (- i 1)) (s2 0. s3) (s3 0. (f64vector-ref fv (+ (* i a) 1))))
                 ((<= i 0) s3)
               (let ((t (vector-ref v i)))
                 (let ((z (/ (+ (vector-ref w (+ (* i a) 1)) s2 (f64vector-ref fv 3)) 4)))
                   (if (< -1e40 z 1e40) z 0.5))
                 (set! n (+ a 3))
                 (f64vector-set! fv (+ i 2) (* (* -1 s2) (if (> x s3) (p-y r0) s2)))))))
         (define (run f v w fv n a x)
           (write (call/cc (lambda (k)
             (call/cc (lambda (k0)
               (with-exception-handler (lambda (c) (k0 c)) (lambda () (f v w fv n a x k)))))))))
         (run f (make-vector 100 1) (make-vector 100 1) (make-f64vector 100 1.) 30 1 2/3)",
    );
    let code = d.cairn("build --emit=asm --only=f --opt=high --frames=native vectors.scm").0;
    let aligned = code.lines().filter(|l| l.contains("\tmovap") && l.contains("(%rsp)"));
    assert_eq!(aligned.collect::<Vec<_>>(), [""; 0]);
    for gc in ["marksweep", "mcc"] {
        let (said, status) = d.cairn(&format!("run --opt=high --frames=native --gc={gc} vectors.scm"));
        assert_eq!((&*said, status), ("1.0", Some(0)), "{gc}");
    }
}

/// Compiled code takes memory from free lists without a call: load, test, load, store, read in the machine code.
#[test]
fn cells_are_popped_inline() {
    let d = Directory::new("pops");
    d.write(
        "pairs.scm",
        "(define (pairs n) (let loop ((i 0) (l '())) (if (= i n) l (loop (+ i 1) (cons i l)))))
         (display (length (pairs 10)))",
    );
    let head = format!("{}(%r12)", std::mem::offset_of!(cairn_layout::machine::Machine, free));
    for gc in ["marksweep", "bdw", "gen"] {
        let (asm, status) = d.cairn(&format!(" run --gc={gc} --opt=high --emit=asm --only=pairs pairs.scm"));
        assert_eq!(status, Some(0), "{asm}");
        let lines: Vec<&str> = asm.lines().map(str::trim).collect();
        let load = lines.iter().position(|l| l.starts_with(&format!("movq\t{head}, %")));
        assert_eq!(load.is_some(), gc != "gen", "{gc}:\n{asm}");
        let Some(load) = load else { continue };
        let cell = lines[load].rsplit(' ').next().unwrap();
        assert_eq!(lines[load + 1], format!("testq\t{cell}, {cell}"), "{asm}");
        assert!(lines[load + 2].starts_with("je\t"), "{asm}");
        let after = |from: usize, start: String| {
            let found = lines[from..].iter().position(|l| l.starts_with(&start));
            from + found.unwrap_or_else(|| panic!("no `{start}` after line {from}:\n{asm}"))
        };
        let link = after(load + 3, format!("movq\t({cell}), "));
        let next = lines[link].rsplit(' ').next().unwrap();
        let store = after(link + 1, format!("movq\t{next}, {head}"));
        let call = after(0, "call".into());
        assert!(store < call, "the first call comes at line {call}, the pop ends at {store}:\n{asm}");
    }
}

/// Under zeal, compiled code asks for room a thousand times here.
#[test]
fn zeal_has_every_collector_collect() {
    let d = Directory::new("zeal-collects");
    d.write(
        "list.scm",
        "(define (list-of n) (if (= n 0) '() (cons n (list-of (- n 1))))) (write (length (list-of 1000)))",
    );
    for c in COLLECTORS {
        for zeal in ["1", "2"] {
            let mut command = Command::new(binary());
            command.current_dir(&d.0).args([
                "run",
                "--opt=high",
                "--gc",
                c.name,
                "--stats-file=run.json",
                "list.scm",
            ]);
            let output = command.env("CAIRN_ZEAL", zeal).output().unwrap();
            assert_eq!(output.stdout, b"1000", "{}: {output:?}", c.name);
            let text = fs::read_to_string(d.0.join("run.json")).unwrap();
            let [minor, major] = ["minor", "major"].map(|name| -> u64 {
                let rest = text.split_once(&format!("\"{name}\": ")).unwrap().1;
                rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
            });
            let enough = if c.barrier == Barrier::None { major >= 1000 } else { minor >= 1000 && major >= 5 };
            assert!(enough, "{} {zeal}: {minor} {major}", c.name);
        }
    }
}
/// Chunks that are left are not freed by hand then, for some word may look like a reference into them.
#[test]
fn recursion_with_ambiguous_frames_uses_its_chunks_again() {
    let d = Directory::new("chunks");
    d.write(
        "deep.scm",
        "(define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))
         (let loop ((i 0) (s 0)) (if (< i 1000) (loop (+ i 1) (+ s (deep 10000))) (write s)))",
    );
    for gc in ["mcc", "marksweep"] {
        let out = d.cairn(&format!(" run --gc={gc} --ambiguous-frames --stats-file=run.json deep.scm"));
        assert_eq!(out, ("10000000".to_string(), Some(0)));
        let text = fs::read_to_string(d.0.join("run.json")).unwrap();
        let peak = text.split_once("\"peak\": ").unwrap().1.split(|c: char| !c.is_ascii_digit()).next().unwrap();
        assert!(peak.parse::<u64>().unwrap() < 32 << 20, "{gc}: {text}");
    }
}

#[test]
fn stages_are_reported_with_time_and_size() {
    let d = Directory::new("stages");
    d.write("p.scm", "(import (scheme base)) (define (f l) (map (lambda (x) (* x x)) l)) (f '(1 2))");
    let (text, status) = d.cairn("run --opt=high --time p.scm");
    assert_eq!(status, Some(0), "{text}");
    let stages: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
    let names: Vec<&str> = stages.iter().map(|s| s[0]).collect();
    assert_eq!(names, ["expand", "optimize", "frame", "emit", "llvm"], "{text}");
    let size = |n: usize| stages[n][3].parse::<usize>().unwrap();
    // the library is expanded with the program; of what nobody calls nothing is left
    assert!(size(0) > 1000 && size(1) > 10 && size(1) < size(0), "{text}");
    assert!(size(2) > 10 && size(3) > size(2) && size(4) > 1000, "{text}");
    assert_eq!(stages[4][4..], ["bytes", "of", "object", "code"]);
}

#[test]
fn numbers_of_a_run_go_to_a_file_as_json() {
    let d = Directory::new("stats-file");
    d.write("cons.scm", "(let loop ((i 0) (l '())) (if (< i 300000) (loop (+ i 1) (cons i '()))))");
    assert_eq!(d.cairn(" run --stats-file=run.json cons.scm"), (String::new(), Some(0)));
    let text = fs::read_to_string(d.0.join("run.json")).unwrap();
    let number = |name: &str| -> u64 {
        let rest = text.split_once(&format!("\"{name}\": ")).unwrap_or_else(|| panic!("{name} in {text}")).1;
        rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    };
    assert!(number("allocated") >= 300_000 * 16 - number("peak"), "{text}");
    assert!(number("minor") > 0 && number("elapsed_ns") > number("minor_ns"), "{text}");
    let (message, status) = d.cairn(" run --stats-file=missing/run.json cons.scm");
    assert!(message.contains("cannot write missing/run.json: No such file"), "{message}");
    assert_eq!(status, Some(1));
}

/// Deep recursion over lists: what minor collections look at depends on where the stack ends that has been run since.
#[test]
fn chunks_have_the_size_that_is_asked_for_and_marks_save_work() {
    let d = Directory::new("chunk-sizes");
    d.write(
        "deep.scm",
        "(define (numbers n) (if (= n 0) '() (cons n (numbers (- n 1)))))
         (define (work n sum) (if (= n 0) sum (work (- n 1) (+ sum (length (numbers 100))))))
         (define (deep n) (if (= n 0) (work 100000 0) (+ 1 (deep (- n 1)))))
         (write (deep 100000))",
    );
    let run = |frames: &str, chunks: &str| {
        let mut command = Command::new(binary());
        command.current_dir(&d.0).args(["run", "--frames", frames, "--stats-file=run.json", "deep.scm"]);
        command.env("CAIRN_CHUNKS", chunks).env("CAIRN_CACHE_DIR", &d.0);
        let output = command.output().unwrap();
        let text = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
        (text, output.status.code())
    };
    let words = |frames: &str, chunks: &str| -> [u64; 2] {
        assert_eq!(run(frames, chunks), ("10100000".to_string(), Some(0)), "{frames} {chunks}");
        let text = fs::read_to_string(d.0.join("run.json")).unwrap();
        ["frame_words_minor", "minor"].map(|name| {
            let rest = text.split_once(&format!("\"{name}\": ")).unwrap_or_else(|| panic!("{name} in {text}")).1;
            rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
        })
    };
    // The recursion's frames have a word, and half of the calls are inlined. Each is looked at once, and by every
    // collection at most the words of a chunk.
    let stack = 100_000 / 2;
    for (chunks, bytes) in [("", 32 << 10), ("size=2K", 2 << 10), ("size=64K", 64 << 10)] {
        let [looked_at, collections] = words("chunks", chunks);
        let most = stack + collections * bytes / 8;
        assert!(collections > 50 && (stack..most).contains(&looked_at), "{chunks}: {looked_at} in {collections}");
    }
    for (frames, chunks) in [("chunks", "all-dirty"), ("chunks", "size=2K,all-dirty"), ("resize", "")] {
        let [looked_at, collections] = words(frames, chunks);
        assert!(looked_at > collections * stack * 9 / 10, "{frames} {chunks}: {looked_at} in {collections}");
    }
    let (message, status) = run("chunks", "size=3K");
    assert!(
        message.contains("CAIRN_CHUNKS has \"size=3K\"; it is a list of all-dirty and size=SIZE"),
        "{message}"
    );
    assert_eq!(status, Some(2));
}

/// `cairn help` says what `cairn --help` says, `cairn help build` what `cairn build --help` says.
#[test]
fn help_is_a_command() {
    let said = |arguments: &[&str]| {
        let output = Command::new(binary()).args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for (asked, same) in [(&["help"][..], &["--help"][..]), (&["help", "build"], &["build", "--help"])] {
        let (status, text) = said(asked);
        assert_eq!((status, &text), (Some(0), &said(same).1), "{asked:?}");
        assert!(text.contains("Usage: cairn"), "{text}");
    }
    assert_eq!(said(&["help", "nothing"]).0, Some(2));
}

/// On a screen, the report of an error begins a line, whatever the program has written before it; elsewhere, nothing
/// is added to what a program writes.
#[test]
fn reports_begin_a_line() {
    let d = Directory::new("reports-begin-a-line");
    for (output, shown) in [("half", "half\r\nerror: "), ("line\n", "line\r\nerror: "), ("", "error: ")] {
        d.write("p.scm", format!("(import (scheme base)) (write-string {output:?}) (car 5)"));
        for option in ["--opt=auto", "--opt=high"] {
            let mut command = common::cairn(&d.0, &["run", option, "p.scm"]);
            command.stdin(Stdio::null()).env("NO_COLOR", "1");
            let piped = command.output().unwrap();
            assert_eq!(common::text(&piped.stdout), output);
            let (mut screen, theirs) = terminal();
            let mut child = command.stdout(theirs.try_clone().unwrap()).stderr(theirs).spawn().unwrap();
            drop(command);
            child.wait().unwrap();
            let mut seen = String::new();
            let _ = screen.read_to_string(&mut seen);
            assert!(seen.starts_with(shown), "{option}: {seen:?}");
        }
    }
}
