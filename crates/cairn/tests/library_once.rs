//! The library that was compiled beforehand: programs on it share its state, and it is made again when it is not what
//! this binary would make.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

mod common;
use common::{Directory, binary, terminal};

/// Standard output and standard error of a program.
fn run(binary: &Path, directory: &Directory, program: &str, options: &[&str], zeal: &str) -> (String, String) {
    directory.write("p.scm", program);
    let output = Command::new(binary)
        .args(["run", "--opt=high"])
        .args(options)
        .arg(directory.0.join("p.scm"))
        .env("CAIRN_CACHE_DIR", directory.0.join("cache"))
        .env("CAIRN_ZEAL", zeal)
        .output()
        .unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}

const SHARED: &str = r#"
(import (scheme base) (scheme write) (scheme eval) (scheme lazy) (srfi 69))
(define here (environment '(scheme base) '(scheme write) '(scheme lazy) '(srfi 69)))
(define (show x) (write x) (newline))
; the current port, and a parameter made here
(define port (open-output-string))
(parameterize ((current-output-port port)) (eval '(display "inside") here) (display "."))
(show (get-output-string port))
(define p (make-parameter 1))
(show (parameterize ((p 2)) ((eval '(lambda (f) (f)) here) p)))
; conditions cross in both directions
(show (guard (e ((error-object? e) (error-object-message e))) (eval '(error "from evaluated code" 1) here)))
(show ((eval '(lambda (f) (guard (e ((string? e) (list 'caught e))) (f))) here) (lambda () (raise "from compiled code"))))
(define (condition/report-string* e) (list (error-object? e) (error-object-message e)))
(show (guard (e (#t (condition/report-string* e))) (eval '(car 5) here)))
; types: records of the library, promises, tables
(define t (make-hash-table equal?))
((eval '(lambda (t) (hash-table-set! t "k" 'v)) here) t)
(show (hash-table-ref/default t "k" #f))
(show (hash-table? (eval '(make-hash-table) here)))
(show (force (eval '(delay (+ 1 2)) here)))
(show (map eof-object? (list (eval '(eof-object) here))))
; procedures are the same objects
(show (map (lambda (name x) (eq? (eval name here) x)) '(car map error force) (list car map error force)))
; a continuation through eval, and winders
(show (call/cc (lambda (k) (dynamic-wind (lambda () #f) (lambda () ((eval '(lambda (k) (k 'left)) here) k)) (lambda () (display "out "))))))
(show `(1 ,@(list 2 3) 4))
"#;

const SHARED_OUTPUT: &str = "\"inside.\"\n2\n\"from evaluated code\"\n(caught \"from compiled code\")\n\
                             (#t \"car: expected a pair, got\")\nv\n#t\n3\n(#t)\n(#t #t #t #t)\nout left\n(1 2 3 4)\n";

/// The library's state exists once, whoever uses it: parameters, hooks, types, conditions, the procedures themselves.
#[test]
fn the_state_of_the_library_exists_once() {
    let directory = Directory::new("library-state");
    for frames in ["chunks", "heap"] {
        for zeal in ["0", "1"] {
            let flag = format!("--frames={frames}");
            let (out, err) = run(&binary(), &directory, SHARED, &[&flag], zeal);
            assert_eq!((&*out, &*err), (SHARED_OUTPUT, ""), "{frames}, zeal {zeal}");
        }
    }
}

/// An executable contains the library: it runs without binary, cache and working directory, and what it evaluates may
/// import libraries that the program itself does not, with their macros. The same twice: programs in the cache are
/// built, too.
#[test]
fn executables_contain_the_library() {
    let directory = Directory::new("library-in-executable");
    let program = SHARED.to_string()
        + "(show (eval '(let*-values (((a . b) (values 1 2))) (and-let* ((x (assq 'k '((k . 3))))) (fold cons* b (list a x))))\n\
                       (environment '(scheme base) '(srfi 1) '(srfi 2))))\n(define (area s) (* (car s) (cdr s)))\n\
           (area 5)\n";
    directory.write("p.scm", &program);
    let exe = directory.0.join("a \"program\"");
    for frames in ["chunks", "heap"] {
        for how in ["new", "from the cache"] {
            let built = Command::new(binary())
                .args(["build", "--llvm=none", &format!("--frames={frames}")])
                .arg(directory.0.join("p.scm"))
                .arg("-o")
                .arg(&exe)
                .env("CAIRN_CACHE_DIR", directory.0.join("cache"))
                .output()
                .unwrap();
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
            let ran = Command::new(&exe).env_clear().env("CAIRN_ZEAL", "1").current_dir("/").output().unwrap();
            let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
            let expected = SHARED_OUTPUT.to_string() + "((k . 3) 1 2)\n";
            assert_eq!(out, expected, "{frames}, {how}: {err}");
            assert!(err.contains("expected a pair, got 5") && err.contains("0: area"), "{frames}, {how}: {err}");
            fs::remove_file(&exe).unwrap();
        }
    }
}

/// Backtraces and messages speak of the right module's text.
#[test]
fn errors_show_the_programs_text() {
    let directory = Directory::new("library-errors");
    let program = "(import (scheme base) (scheme eval))\n(define (area s) (* (car s) (cdr s)))\n\
                   (define (all l) (map area l))\n(eval '1 (environment '(scheme base)))\n(write-string (all '((1 . 2) 3)))\n";
    let (_, err) = run(&binary(), &directory, program, &[], "0");
    assert!(err.contains("(define (area s) (* (car s) (cdr s)))"), "{err}");
    assert!(err.contains("in area") || err.contains("area"), "{err}");
    // `error` keeps the frame of its caller, although its body is elsewhere
    let program = "(import (scheme base) (scheme eval))\n(define (withdraw x) (if (> x 1) (error \"not enough\" x) x))\n\
                   (eval '1 (environment '(scheme base)))\n(withdraw 5)\n";
    let (_, err) = run(&binary(), &directory, program, &[], "0");
    assert!(err.contains("not enough 5") && err.contains("withdraw"), "{err}");
}

/// A copy of the binary, with the library that goes with it, which our own code generator makes here.
struct Installed {
    directory: Directory,
    binary: PathBuf,
}

impl Installed {
    fn new(name: &str) -> Installed {
        let directory = Directory::new(name);
        let copy = directory.0.join("cairn");
        fs::copy(binary(), &copy).unwrap();
        Installed { directory, binary: copy }
    }

    fn library(&self) -> PathBuf {
        self.directory.0.join("cairn.chunks-gen-own.library")
    }

    fn evaluate(&self) {
        let program = "(import (scheme base) (scheme write) (scheme eval)) \
                       (write (eval '(+ 1 2) (environment '(scheme base))))";
        let (out, err) = run(&self.binary, &self.directory, program, &["--llvm=none"], "0");
        assert_eq!((&*out, &*err), ("3", ""));
    }
}

/// What is damaged, cut off, or made by another binary is made again. And where nobody may write, the cache has it.
#[test]
fn a_library_that_is_not_right_is_made_again() {
    let cairn = Installed::new("library-damage");
    // in the place of the file that is locked beside the binary there is a directory
    let lock = cairn.directory.0.join("cairn.chunks-gen-own.library.lock");
    fs::create_dir(&lock).unwrap();
    cairn.evaluate();
    assert!(!cairn.library().exists());
    let cached: Vec<PathBuf> = fs::read_dir(cairn.directory.0.join("cache"))
        .unwrap()
        .map(|f| f.unwrap().path())
        .filter(|f| f.extension().is_some_and(|e| e == "library"))
        .collect();
    let [cached] = &cached[..] else { panic!("{cached:?}") };
    fs::remove_dir(&lock).unwrap();
    let whole = fs::read(cached).unwrap();
    let mut damaged = whole.clone();
    damaged[200_000] ^= 1;
    fs::write(cached, damaged).unwrap();
    cairn.evaluate();
    assert!(fs::read(cairn.library()).unwrap() == whole, "made again, beside the binary now");
    // the same binary, installed at another time
    let made = fs::metadata(cairn.library()).unwrap().modified().unwrap();
    fs::File::open(&cairn.binary).unwrap().set_modified(made + std::time::Duration::from_secs(60)).unwrap();
    cairn.evaluate();
    assert_eq!(fs::metadata(cairn.library()).unwrap().modified().unwrap(), made, "the library is still its own");
    // another binary: another build-id
    let mut bytes = fs::read(&cairn.binary).unwrap();
    let note = b"\x14\0\0\0\x03\0\0\0GNU\0";
    let at = bytes.windows(note.len()).position(|w| w == note).expect("the linker's note") + note.len();
    bytes[at] ^= 1;
    fs::write(&cairn.binary, bytes).unwrap();
    cairn.evaluate();
    assert!(fs::read(cairn.library()).unwrap() != whole, "that binary's");
}

/// A run without a library has our own code generator make one. If it goes on for a second, another process makes
/// LLVM's, or looks whether somebody else has: here it waits for the lock, and then the library is there.
#[test]
fn a_run_does_not_wait_for_llvm() {
    let cairn = Installed::new("library-soon");
    let best = cairn.directory.0.join("cairn.chunks-gen.library");
    let lock = fs::File::create(best.with_extension("library.lock")).unwrap();
    lock.lock().unwrap();
    let program = |seconds: &str| {
        format!(
            "(import (scheme base) (scheme write) (scheme time)) (define end (+ (current-jiffy) (* {seconds} \
             (jiffies-per-second)))) (let loop () (if (< (current-jiffy) end) (loop))) (display 'done)"
        )
    };
    let run = |seconds| {
        cairn.directory.write("p.scm", program(seconds));
        let mut command = Command::new(&cairn.binary);
        command.arg("run").arg(cairn.directory.0.join("p.scm")).stderr(Stdio::piped()).stdout(Stdio::piped());
        command.env("CAIRN_CACHE_DIR", cairn.directory.0.join("cache")).spawn().unwrap()
    };
    let end = |child: Child| {
        let output = child.wait_with_output().unwrap();
        assert_eq!((&*output.stdout, &*output.stderr), (&b"done"[..], &b""[..]));
    };
    // processes of this binary that have the library made
    let makers = || {
        let all = fs::read_dir("/proc").unwrap().flatten().map(|process| process.path());
        let ours = all.filter(|p| fs::read_link(p.join("exe")).is_ok_and(|exe| exe == cairn.binary));
        ours.filter(|p| {
            fs::read_dir(p.join("fd")).is_ok_and(|mut open| {
                open.any(|f| {
                    f.is_ok_and(|f| {
                        fs::read_link(f.path()).is_ok_and(|f| f.ends_with("cairn.chunks-gen.library.lock"))
                    })
                })
            })
        })
        .count()
    };
    end(run("0"));
    assert!(cairn.library().exists() && makers() == 0);
    let long = run("30");
    let began = Instant::now();
    while makers() == 0 {
        assert!(began.elapsed() < Duration::from_secs(25), "nobody makes it");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!best.exists());
    // it outlives who has asked for it
    let mut long = long;
    long.kill().unwrap();
    long.wait().unwrap();
    assert_eq!(makers(), 1);
    fs::copy(made_by_llvm(), &best).unwrap();
    drop(lock);
    while makers() > 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    end(run("0"));
}

/// The library of the binary that is tested, which is a copy's, too.
fn made_by_llvm() -> PathBuf {
    assert!(Command::new(binary()).arg("prepare").status().unwrap().success());
    binary().with_file_name("cairn.chunks-gen.library")
}

/// Whoever waits for the library at a terminal is told why, once, also when another process makes it; what is found is
/// not spoken of, and standard output is the program's.
#[test]
fn a_terminal_is_told_why_it_waits() {
    let cairn = Installed::new("library-notice");
    cairn.directory.write("p.scm", "(display 3)");
    let start = || {
        let (screen, theirs) = terminal();
        let mut command = Command::new(&cairn.binary);
        command.args(["run", "--llvm=none"]).arg(cairn.directory.0.join("p.scm"));
        command.env("CAIRN_CACHE_DIR", cairn.directory.0.join("cache"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(theirs);
        (command.spawn().unwrap(), screen)
    };
    let notice = "cairn: compiling the library, once for this build of Cairn: a few seconds\r\n";
    let lock = fs::File::create(cairn.directory.0.join("cairn.chunks-gen-own.library.lock")).unwrap();
    lock.lock().unwrap();
    let (child, mut screen) = start();
    let mut told = vec![0; notice.len()];
    screen.read_exact(&mut told).unwrap();
    assert_eq!(String::from_utf8_lossy(&told), notice);
    assert!(!cairn.library().exists(), "it waits for whoever has the lock");
    drop(lock);
    let end = |(child, mut screen): (Child, fs::File)| {
        let output = child.wait_with_output().unwrap();
        assert_eq!((&*output.stdout, output.status.success()), (&b"3"[..], true));
        let mut rest = Vec::new();
        // a terminal that nobody has open any more ends with an error
        let _ = screen.read_to_end(&mut rest);
        assert_eq!(String::from_utf8_lossy(&rest), "", "told once, or not at all");
        assert!(cairn.library().exists());
    };
    end((child, screen));
    end(start());
}

/// An evaluated procedure that becomes native may be waiting at a safepoint, and its closure is then as short as those
/// of native procedures: it has one variable, whatever the shape of its parameters.
#[test]
fn procedures_that_may_become_native_have_one_variable() {
    let d = Directory::new("one-variable");
    d.write("p.scm", "(import (scheme base) (scheme eval)) (eval 1 (environment '(scheme base)))");
    let mut command = Command::new(binary());
    command.args(["build", "--emit=frame", "--only=evaluated", "p.scm", "-o", "p"]).current_dir(&d.0);
    let frame = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let words: Vec<&str> = (frame.lines().filter_map(|l| l.split_once(" entry words ")))
        .map(|(_, rest)| rest.split(' ').next().unwrap())
        .collect();
    // no parameters to four, any number; a list of all, of all but one, any number: `gen-native` in the evaluator
    assert_eq!(words.iter().filter(|w| **w == "2").count(), 9, "{words:?}");
    assert!(words.len() > 9, "those of `eval` are longer: {words:?}");
}
