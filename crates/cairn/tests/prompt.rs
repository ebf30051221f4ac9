//! Interactive sessions: piped, on expressions, on a terminal.
//!
//! In the golden file the title of a case is `cairn` and options, or a remark; its source is what is piped in. What
//! comes out are standard output and standard error in one stream, and the exit status.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

mod common;
use common::{Directory, binary, root, terminal};

#[path = "../../../tests/support/golden.rs"]
mod golden;

/// Expressions of a title such as `cairn -e (+ 1 2) -e x`.
fn expressions(title: &str) -> Vec<String> {
    title.split(" -e ").skip(1).flat_map(|e| ["-e".to_string(), e.to_string()]).collect()
}

#[test]
fn transcripts() {
    let d = Directory::new("prompt");
    golden::check(&root().join("tests/golden/prompt/piped.txt"), &|case| {
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 2>&1"])
            .arg(binary())
            .args(expressions(case.title))
            .current_dir(&d.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let _ = child.stdin.take().unwrap().write_all(format!("{}\n", case.source).as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "⏎\n" };
        format!("{text}{newline}exit status {}", output.status.code().unwrap_or(-1))
    });
}

/// The names of the last hundred values are variables when somebody mentions them, and no others: a session has no more
/// variables than its inputs have.
#[test]
fn values_get_variables_when_they_are_mentioned() {
    let count = "(+ 1 2)\n".repeat(150);
    let input = format!(
        "(* 6 7)\n(list $1 $1)\n5 (list $3 'same)\n(define (f) $1)\n(set! $2 'new)\n$2\n{count}(f)\n,env $\n$1\n$155 \
         (list $156)\n"
    );
    let mut child = Command::new(binary())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || pipe.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let threes = "3\n".repeat(150);
    assert_eq!(out, format!("42\n(42 42)\n5\n(5 same)\nnew\n{threes}$1\n$2\n$3\n3\n(3)\n"), "{err}");
}

/// While a session waits for input from a pipe, its threads run, and SIGTERM ends it.
#[test]
fn threads_of_a_session_run_while_it_waits() {
    let mut child = Command::new(binary()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let text = "(import (cairn thread))
        (define (tick) (thread-sleep! 0.01) (display \"tick\") (flush-output-port) (tick))
        (define t (spawn tick))
        (define busy (spawn (lambda () (let loop () (loop)))))\n";
    pipe.write_all(text.as_bytes()).unwrap();
    let mut said = [0; 40];
    child.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
    assert_eq!(String::from_utf8_lossy(&said), "tick".repeat(10));
    let killed = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(killed.success());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(143), "{status}");
    drop(pipe);
}

/// Many inputs take no more memory than few.
#[test]
fn inputs_are_forgotten() {
    let session = |inputs: usize| {
        let mut child = Command::new(binary()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || {
            for i in 0..inputs {
                writeln!(
                    input,
                    "(define (f x) (let loop ((i 0)) (cond ((< i 3) (loop (+ i 1))) (else (+ x {i})))))"
                )
                .unwrap();
            }
            writeln!(input, "(f 1)").unwrap();
            let status = "/proc/self/status";
            writeln!(input, "(call-with-input-file {status:?} (lambda (p) (read-string 4000 p)))").unwrap();
        });
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        writer.join().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert!(text.starts_with(&format!("{inputs}\n")), "{text}");
        let resident = text.split("VmRSS:").nth(1).unwrap_or_else(|| panic!("{text}"));
        resident
            .trim_start_matches(|c: char| !c.is_ascii_digit())
            .split(' ')
            .next()
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let (few, many) = (session(1_000), session(20_000));
    assert!(many < few + 16_000, "{few} KB, then {many} KB");
}

/// What `,expand` shows is Scheme: evaluated, it does what the expression does.
#[test]
fn expansions_can_be_evaluated() {
    let expressions = [
        "(let loop ((i 0) (l '())) (if (< i 4) (loop (+ i 1) (cons i l)) l))",
        "(let ((x 1)) (let ((x (+ x 1)) (y x)) ((lambda (x . z) (list x y z)) x 5 6)))",
        "(let* ((if list) (or vector)) (list (if 1 2) (or 3)))",
        "(guard (e ((string? e) (list 'text e)) ((symbol? e) 'symbol)) (raise 'oops))",
        "(guard (e ((string? e) 'outer)) (guard (e ((symbol? e) 'inner)) (raise \"text\")))",
        "(guard (e ((assq 'a e) => cdr) ((assq 'b e))) (raise (list (cons 'a 42))))",
        "(let ((p (make-parameter 1))) (parameterize ((p (+ (p) 1))) (list (p) (force (delay (p))))))",
        "(do ((i 0 (+ i 1)) (v (make-vector 3))) ((= i 3) v) (vector-set! v i `(a ,i ,@(list 1 2))))",
        "(case (* 2 3) ((2 3 5 7) 'prime) ((1 4 6 8 9) => (lambda (x) (list x))) (else 'other))",
        "((case-lambda ((x) (list x)) ((x y) (+ x y)) ((x . rest) rest)) 1 2 3)",
        "(let-values (((a b) (values 1 2)) ((c . d) (values 3 4 5))) (define e 6) (set! e (+ e a)) (list a b c d e))",
        "(letrec ((even? (lambda (n) (or (= n 0) (odd? (- n 1))))) \
         (odd? (lambda (n) (and (> n 0) (even? (- n 1)))))) (even? 10))",
        "(let () (define-record-type point (make x y) point? (x px) (y py set-py!)) \
         (let ((p (make 1 2))) (set-py! p 5) (list (px p) (py p))))",
        "(let-syntax ((swap (syntax-rules () ((_ a b) (let ((t a)) (set! a b) (set! b t)))))) \
         (let ((t 1) (u 2)) (swap t u) (list t u)))",
        "(begin (define-values (a b . c) (values 1 2 3 4)) (list a b c))",
        "(begin (define-record-type <point> (make-point y x) point? (x point-x set-point-x!) (y point-y)) \
         (let ((p (make-point 1 2))) (set-point-x! p 7) (list (point-x p) (point-y p) (point? 5))))",
        "(begin (define (area . sides) (apply * sides)) (area 2 3 4))",
        "(string-append \"a\\n\" (string #\\x41 #\\space) (symbol->string '|a b|))",
        "(when (memv 2 '(1 2 3)) (unless #f 'yes))",
    ];
    let session = |input: String| {
        let mut child = Command::new(binary()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut keyboard = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || keyboard.write_all(input.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for e in expressions {
        let expansion = session(format!(",expand {e}\n"));
        let wanted = session(format!("{e}\n"));
        assert!(!wanted.trim().is_empty(), "{e}");
        assert_eq!(session(expansion.clone()), wanted, "{e} is shown as\n{expansion}");
        for word in ["let*", "do ", "case ", "when", "unless", "let-syntax", "define-values", "`"] {
            assert!(!expansion.contains(&format!("({word} ")), "{e} is shown as\n{expansion}");
        }
    }
}

/// To print a procedure with its place, or an error, costs the same after many lines as after few.
#[test]
fn places_do_not_cost_more_after_many_lines() {
    for (kind, line) in [("procedures", "(lambda (x) (+ x 1))\n"), ("errors", "(vector-ref (vector 1 2) 9)\n")] {
        let session = |lines: usize| {
            let before = common::seconds_of_children();
            let d = Directory::new("places");
            let file = d.0.join("input");
            std::fs::write(&file, line.repeat(lines)).unwrap();
            let input = std::fs::File::open(&file).unwrap();
            let output = Command::new(binary()).stdin(input).output().unwrap();
            let said = String::from_utf8_lossy(if kind == "errors" { &output.stderr } else { &output.stdout });
            assert!(said.contains(&format!(":{lines}:1")), "{kind}: {:?}", said.lines().last());
            common::seconds_of_children() - before
        };
        // files have numbers of 14 bits
        let (few, many) = (session(2_000), session(20_000));
        assert!(many < 25.0 * few, "{kind}: {few} s for 2,000, {many} s for 20,000");
    }
}

/// A session of 200,000 lines takes less than 20 MB at any time.
#[test]
fn a_long_session_stays_small() {
    let d = Directory::new("small");
    let peak = "(define (peak)
        (call-with-input-file \"/proc/self/status\"
          (lambda (port)
            (let loop ((line (read-line port)))
              (if (and (> (string-length line) 6) (string=? (substring line 0 6) \"VmHWM:\")) line (loop (read-line port)))))))
      (peak)\n";
    // whoever is first makes the library
    said(&d, "1");
    d.write("input", "(+ 1 2)\n".repeat(200_000) + peak);
    let input = std::fs::File::open(d.0.join("input")).unwrap();
    let output = Command::new(binary()).stdin(input).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|l| l.contains("VmHWM")).expect("the peak").to_string();
    let kilobytes: u64 = line.split_whitespace().find_map(|w| w.parse().ok()).expect(&line);
    // more of a binary that is not optimized is in memory
    let megabytes = if cfg!(debug_assertions) { 36 } else { 20 };
    assert!(kilobytes < megabytes << 10, "{line}");
}

/// What a session says of an input, in one stream.
fn said(d: &Directory, input: &str) -> String {
    let mut child = Command::new("sh")
        .args(["-c", "exec \"$0\" 2>&1"])
        .arg(binary())
        .current_dir(&d.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// Procedures of files and of the user's libraries, also of what a library includes, stop and show their variables.
#[test]
fn breaks_in_files_and_libraries() {
    let d = Directory::new("breaks");
    let write = |name: &str, text: &str| std::fs::write(d.0.join(name), text).unwrap();
    write(
        "shop.sld",
        "(define-library (shop) (export total price)\n (import (scheme base))\n (begin\n  (define (price p) \
                       (* 2 (cdr p)))\n  (define (total l) (apply + (map price l))))\n (include \"more.scm\")\n \
                       (export rebate))\n",
    );
    write("more.scm", "(define (rebate p percent)\n  (- (price p) percent))\n");
    write("file.scm", "(define (inner a) (* a 10))\n(define (outer b)\n  (+ 1 (inner b)))\n");
    let text = said(
        &d,
        "(import (shop))\n,load file.scm\n,break price rebate inner\n(total '((x . 1)))\np\n,c\n(rebate '(y . 3) 1)\n\
         percent\n,c\n,c\n(outer 4)\n,bt\n(list a)\n,c\n,unbreak\n(list (total '((x . 1))) (rebate '(y . 3) 1) \
         (outer 4))\n",
    );
    for expected in [
        "break: (price (x . 1))\n --> shop.sld:4:3\n",
        "\n(x . 1)\n2\n",
        "break: (rebate (y . 3) 1)\n --> more.scm:1:1\n",
        "break: (price (y . 3))\n",
        "break: (inner 4)\n --> file.scm:1:1\n",
        "> 0: inner  file.scm:1:1\n  1: outer  file.scm:3:8\n",
        "\n(4)\n41\n(2 5 41)\n",
    ] {
        assert!(text.contains(expected), "no {expected:?} in\n{text}");
    }
}

/// Native code does not run past a breakpoint, also where it had the procedure inlined; it comes back afterwards.
#[test]
fn native_code_stops_at_breaks() {
    let d = Directory::new("native-breaks");
    let text = said(
        &d,
        "(define (inc n) (+ n 1))\n(define (up n) (let loop ((i 0)) (if (< i n) (loop (inc i)) i)))\n\
         (up 3000000)\n(up 3000000)\n(up 3000000)\n,break inc\n(up 2)\n(* n 100)\n,c\n(* n 100)\n,c\n,unbreak\n(up 3000000)\n",
    );
    assert_eq!(text.matches("break: (inc ").count(), 2, "{text}");
    assert!(text.contains("\n0\nbreak: (inc 1)\n"), "{text}");
    assert!(text.ends_with("\n100\n2\n3000000\n"), "{text}");
}

mod at_a_terminal {
    use super::*;
    use std::fs::File;
    use std::os::unix::process::CommandExt;
    use std::process::Child;
    use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
    use std::time::{Duration, Instant};

    /// How long an answer may take on a machine that is busy with other tests.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// A session on a terminal of its own.
    struct Session {
        child: Child,
        keyboard: File,
        screen: Receiver<Vec<u8>>,
        seen: String,
    }

    /// A session that its test leaves open ends with it.
    impl Drop for Session {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    impl Session {
        #[allow(unsafe_code)]
        fn new(d: &Directory, kind: &str) -> Session {
            let (keyboard, theirs) = terminal();
            let mut command = Command::new(binary());
            let stdio = || Stdio::from(theirs.try_clone().unwrap());
            command.current_dir(&d.0).stdin(stdio()).stdout(stdio()).stderr(stdio());
            command.env("TERM", kind).env("NO_COLOR", "1").env("CAIRN_HISTORY", d.0.join("history"));
            // SAFETY: between `fork` and `exec` only these two calls are made, which are async-signal-safe.
            unsafe {
                command.pre_exec(|| {
                    libc::setsid();
                    libc::ioctl(0, libc::TIOCSCTTY, 0);
                    Ok(())
                });
            }
            let child = command.spawn().unwrap();
            drop(theirs);
            let (send, screen) = channel();
            let mut output = keyboard.try_clone().unwrap();
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(n @ 1..) = output.read(&mut buffer) {
                    if send.send(buffer[..n].to_vec()).is_err() {
                        break;
                    }
                }
            });
            Session { child, keyboard, screen, seen: String::new() }
        }

        fn send(&mut self, keys: &str) {
            self.keyboard.write_all(keys.as_bytes()).unwrap();
        }

        /// Waits until the text appears; what came before it is forgotten.
        fn expect(&mut self, text: &str) {
            let start = Instant::now();
            loop {
                if let Some(at) = self.seen.find(text) {
                    self.seen.drain(..at + text.len());
                    return;
                }
                match self.screen.recv_timeout(PATIENCE.saturating_sub(start.elapsed())) {
                    Ok(bytes) => self.seen += &String::from_utf8_lossy(&bytes),
                    Err(RecvTimeoutError::Timeout) => panic!("no {text:?} in {:?}", self.seen),
                    Err(RecvTimeoutError::Disconnected) => panic!("ended without {text:?}: {:?}", self.seen),
                }
            }
        }

        /// Waits for an answer, and for the prompt after it: until then the terminal is not the editor's, and a Ctrl-C
        /// throws away what was typed.
        fn answer(&mut self, text: &str) {
            self.expect(text);
            self.expect("> ");
        }

        fn status(mut self) -> Option<i32> {
            let start = Instant::now();
            while start.elapsed() < PATIENCE {
                if let Some(status) = self.child.try_wait().unwrap() {
                    return status.code();
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            let _ = self.child.kill();
            panic!("the session does not end: {:?}", self.seen);
        }
    }

    #[test]
    fn a_session_on_a_terminal() {
        let d = Directory::new("terminal");
        std::fs::write(d.0.join("defines.scm"), "(define from-a-file 7)\n").unwrap();
        let mut s = Session::new(&d, "xterm");
        s.expect("> ");
        s.send("(+ 40 2)\r");
        s.answer("$1 = 42");
        // lines until the parentheses match, indented
        s.send("(define (count-up n)\r(let loop ((i 0))\r(if (< i n)\r(loop (+ i 1)) i)))\r");
        s.send("(count-up 1000)\r");
        s.answer("$2 = 1000");
        // an endless loop, interrupted; the session goes on as it was
        s.send("(begin (display \"run\") (display \"ning\") (newline) (let loop () (loop)))\r");
        s.expect("running");
        s.send("\x03");
        s.expect("error: interrupted");
        s.send("(list 'still (count-up 3))\r");
        s.answer("$3 = (still 3)");
        // Ctrl-C at the prompt gives the line up
        s.send("(this is (not ");
        s.expect("(this is (not ");
        s.send("\x03");
        s.expect("> ");
        s.send("(list $1 $2)\r");
        s.answer("$4 = (42 1000)");
        // completion: a name defined here, then a file's name
        s.send("(count-\t 5)\r");
        s.answer("$5 = 5");
        s.send(",load def\t\r");
        s.send("from-a-\t\r");
        s.answer("$6 = 7");
        s.send("(car 'a)\r");
        s.expect("error: car: expected a pair, got a");
        s.expect("--> prompt");
        s.answer("^^^^^^^^");
        s.send("\x04");
        assert_eq!(s.status(), Some(0));
        // the next session remembers the last input but two, and has nothing else of this one
        let mut s = Session::new(&d, "xterm");
        s.expect("> ");
        s.send("\x1b[A\x1b[A\x1b[A\x1b[A\r");
        s.answer("unbound variable: count-up");
        s.send(",quit\r");
        assert_eq!(s.status(), Some(0));
    }

    /// A break has a prompt of its own; Ctrl-C there gives a line up, and ends what is computed; Ctrl-D leaves it.
    /// What the README shows: each line behind a `>` is typed, the others are what comes then.
    #[test]
    fn the_picture_of_a_session_is_one() {
        let picture = std::fs::read_to_string(root().join("docs/prompt.svg")).unwrap();
        let d = Directory::new("picture");
        let mut s = Session::new(&d, "xterm");
        let mut lines = 0;
        for line in picture.lines().filter(|l| l.trim_start().starts_with("<text ")) {
            let parts = line.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text);
            let text = parts.collect::<String>().replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&");
            match text.strip_prefix("> ") {
                Some(typed) => {
                    s.expect("> ");
                    s.send(&format!("{typed}\r"));
                }
                None => s.expect(&text),
            }
            lines += 1;
        }
        assert!(lines > 10, "{lines} lines in {picture}");
    }

    #[test]
    fn a_break_on_a_terminal() {
        let d = Directory::new("break");
        let mut s = Session::new(&d, "xterm");
        s.expect("> ");
        s.send("(define (f x)\r(* x 2))\r,break f\r(f 4)\r");
        s.expect("break: (f 4)");
        s.expect("--> prompt 1:1:1");
        s.expect("break> ");
        s.send("(+ x 1)\r");
        s.answer("$1 = 5");
        s.send("(f x)\r");
        s.expect("break: (f 4)");
        s.expect("break 2> ");
        s.send("(list x (not ");
        s.expect("(list x (not ");
        s.send("\x03");
        s.expect("break 2> ");
        s.send("(begin (display \"run\") (display \"ning\") (newline) (let loop () (loop)))\r");
        s.expect("running");
        s.send("\x03");
        s.expect("error: interrupted");
        s.expect("break 2> ");
        s.send("\x04");
        s.expect("break> ");
        s.send(",c\r");
        s.answer("$2 = 8");
        s.send("(f 5)\r");
        s.expect("break> ");
        s.send("\x04");
        s.expect("> ");
        s.send("x\r");
        s.expect("unbound variable: x");
        s.answer("backtrace:");
        s.send("\x04");
        assert_eq!(s.status(), Some(0));
    }

    /// Where several names fit, they are listed with the ways to use them.
    #[test]
    fn completion_lists_signatures() {
        let d = Directory::new("signatures");
        let mut s = Session::new(&d, "xterm");
        s.expect("> ");
        s.send("(string-fo\t\t");
        s.expect("(string-foldcase object)");
        s.expect("(string-for-each f s)");
        s.expect("(string-fo"); // the line again
        s.send("\x03");
        s.expect("> ");
        s.send(",quit\r");
        assert_eq!(s.status(), Some(0));
    }

    /// A terminal that does not bracket what it pastes: the text keeps its own indentation and gets no other.
    #[test]
    fn what_is_pasted_is_not_indented_twice() {
        let d = Directory::new("paste");
        let mut s = Session::new(&d, "xterm");
        s.expect("> ");
        s.send("(define (f x)\r    (list\r\t\tx\r\r      \"a\r  b\"))\r");
        s.send("(f 1)\r");
        s.answer("$1 = (1 \"a\\n  b\")");
        // what is typed is indented
        for keys in ["(vector", "\r", "2", "\r", "3)", "\r"] {
            std::thread::sleep(Duration::from_millis(50));
            s.send(keys);
        }
        s.answer("$2 = #(2 3)");
        s.send(",quit\r");
        assert_eq!(s.status(), Some(0));
        let history = std::fs::read_to_string(d.0.join("history")).unwrap();
        assert!(history.contains("(define (f x)\\n    (list\\n\t\tx\\n"), "{history}");
        assert!(history.contains("(vector\\n   2\\n   3)\n"), "{history}");
        assert!(history.contains("\\n      \"a\\n  b\"))\n"), "{history}");
    }

    /// What is typed while the terminal is not the editor's, before the prompt or during an evaluation, has line feeds
    /// at the ends of its lines: a text of several lines is one input all the same.
    #[test]
    fn lines_typed_ahead_are_one_input() {
        let d = Directory::new("typed-ahead");
        let mut s = Session::new(&d, "xterm");
        s.send("(define (f x)\n  (list\n   x\n   \"a\n b\"))\n(f 1)\n");
        s.answer("$1 = (1 \"a\\n b\")");
        s.send("(+ 1\n   2)\n");
        s.answer("$2 = 3");
        s.send(",quit\n");
        assert_eq!(s.status(), Some(0));
    }

    /// As under Emacs: no escape sequences, and Ctrl-C is a signal.
    #[test]
    fn a_session_on_a_dumb_terminal() {
        let d = Directory::new("dumb");
        let mut s = Session::new(&d, "dumb");
        s.expect("> ");
        s.send("(+ 40\n2)\n");
        s.expect("42");
        s.send("(begin (display \"run\") (display \"ning\") (newline) (let loop () (loop)))\n");
        s.expect("running");
        s.send("\x03");
        s.expect("error: interrupted");
        s.expect("> ");
        s.send("(list 'still $1)\n");
        s.expect("(still 42)");
        s.send("\x03");
        s.expect("error: interrupted");
        s.send("(* 6 7)\n");
        s.expect("42");
        // also when a thread waits
        s.send("(import (cairn thread)) (define t (spawn (lambda () (thread-sleep! 1000)))) 'spawned\n");
        s.expect("spawned");
        s.expect("> ");
        for number in ["107", "108"] {
            s.send("\x03");
            s.expect("error: interrupted");
            s.send(&format!("(- {number}000 1)\n"));
            s.expect(&format!("{}999", number.parse::<i32>().unwrap() - 1));
        }
        assert!(!s.seen.contains('\x1b'));
        s.send("\x04");
        assert_eq!(s.status(), Some(0));
    }
}
