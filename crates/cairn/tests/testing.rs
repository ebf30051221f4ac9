//! `cairn test`: what it finds, what it says of every way to fail, what it writes for others.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

mod common;
use common::{Directory, binary};

/// What it printed, and its exit status.
fn cairn(d: &Directory, arguments: &[&str]) -> (String, Option<i32>) {
    let output = Command::new(binary())
        .args(arguments)
        .current_dir(&d.0)
        .env_remove("CAIRN_PATH")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(), output.status.code())
}

fn test(d: &Directory, arguments: &[&str]) -> (String, Option<i32>) {
    cairn(d, &[&["test"], arguments].concat())
}

/// A program of tests.
fn suite(body: &str) -> String {
    format!("(import (scheme base) (scheme write) (scheme process-context) (srfi 64))\n{body}\n")
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn test_programs_are_found_by_a_rule() {
    let d = Directory::new("test-find");
    let good = suite("(test-begin \"t\") (test-assert \"yes\" #t) (test-end)");
    for name in ["a.scm", "deep/er/b.scm", "node_modules/n.scm", ".hidden/h.scm", "target/t.scm", "odd.sps"] {
        d.write(name, &good);
    }
    d.write("modified.scm", "(import (scheme base) (prefix (only (srfi :64) test-begin test-end test-assert) t:))\n(t:test-begin \"m\") (t:test-assert #t) (t:test-end)");
    d.write("plain-test.scm", "(display 1)");
    d.write("program.scm", "(import (scheme base) (srfi 1))\n(car 5) ; 64");
    d.write("quoted.scm", "(import (scheme base))\n(define l '((srfi 64)))\n(car 5)");
    d.write("late.scm", "(import (scheme base))\n(define x 1)\n(import (srfi 64))\n(car 5)");
    let (text, status) = test(&d, &[]);
    let mut programs: Vec<&str> =
        text.lines().filter_map(|l| l.split_once(" s  ")?.1.split_once(": ")).map(|(p, _)| p).collect();
    programs.retain(|p| p.ends_with(".scm"));
    programs.sort();
    assert_eq!(programs, ["a.scm", "deep/er/b.scm", "modified.scm", "plain-test.scm"], "{text}");
    has(&text, &["4 tests in 4 programs: 4 passed"]);
    assert_eq!(status, Some(0));

    // what is named is run, and each once
    let (text, status) = test(&d, &["odd.sps", "deep", "deep/er/b.scm", "./deep/er"]);
    has(&text, &["odd.sps: 1 test", "2 tests in 2 programs"]);
    assert_eq!(status, Some(0));

    d.write("empty/x.txt", "");
    let (text, status) = test(&d, &["empty"]);
    has(&text, &["cairn: there is no test in empty: a program that imports (srfi 64), or a file"]);
    assert_eq!(status, Some(2));
    let (text, status) = test(&d, &["absent"]);
    has(&text, &["cannot read absent: No such file"]);
    assert_eq!(status, Some(2));
    for wrong in ["--jobs=0", "--timeout=x", "--nothing"] {
        assert_eq!(test(&d, &[wrong]).1, Some(2), "{wrong}");
    }
    has(&test(&d, &["--timeout=-1"]).0, &["it must be a number of seconds, or 0"]);
    let output =
        Command::new(binary()).arg("test").current_dir(&d.0).env("TMPDIR", "/dev/null/x").output().unwrap();
    let parts = ["cairn: cannot make /dev/null/x/cairn-tests-", ": Not a directory"];
    has(&String::from_utf8_lossy(&output.stderr), &parts);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn failed_tests_are_shown_with_place_and_values() {
    let d = Directory::new("test-fail");
    let text = suite(
        r#"(define (third l) (vector-ref (list->vector l) 2))
(define-syntax check (syntax-rules () ((_ want e) (test-equal want e))))
(test-begin "outer")
(test-equal "same" 1 1)
(test-equal "lists" '(1 (2 3)) (list 1 '(2 4)))
(test-group "inner"
  (check "x" (string-append "x" "y"))
  (test-assert "raises" (third (list 1 2)))
  (test-error "returns" #t (+ 1 1))
  (test-error "of another kind" symbol? (raise 5))
  (test-expect-fail 1)
  (test-eqv "known" 1 2)
  (test-expect-fail 1)
  (test-eqv "surprise" 1 1)
  (test-skip 1)
  (test-eqv "left out" 1 2)
  (test-approximate "near" 1.0 1.5 .1))
(test-end)"#,
    );
    d.write("fail-test.scm", text);
    let (text, status) = test(&d, &[]);
    assert_eq!(status, Some(1));
    has(
        &text,
        &[
            "fail-test.scm: 7 of 10 tests failed, 1 skipped, 1 failed as expected",
            "\nfail-test.scm: outer: lists\n --> fail-test.scm:6:32\n  |\n6 | (test-equal \"lists\" '(1 (2 3)) (list 1 '(2 4)))\n  \
             |                                ^^^^^^^^^^^^^^^\n  expected: (1 (2 3))\n       got: (1 (2 4))\n                  ^\n",
            "\nfail-test.scm: outer: inner: (string-append \"x\" \"y\")\n --> fail-test.scm:8:14\n",
            "  expected: \"x\"\n       got: \"xy\"\n              ^\n",
            "error: vector-ref: a vector of length 2 has no element 2\n",
            ": third    fail-test.scm:2:19\n",
            "  expected: an error\n       got: no error, but 2\n",
            "  expected: an error that satisfies #<procedure symbol?>\n  error: raised: 5\n",
            "outer: inner: surprise\n",
            "  it passed, but was expected to fail\n",
            "  expected: 1.0\n       got: 1.5\n",
            "10 tests in 1 program: 1 passed, 7 failed, 1 skipped, 1 failed as expected",
            "         fail-test.scm:9  outer: inner: raises\n",
        ],
    );
    assert!(!text.contains("FAIL outer"), "the simple runner is silent:\n{text}");
    // the program alone does as ever
    let (text, status) = cairn(&d, &["run", "fail-test.scm"]);
    has(&text, &["%%%% Starting test outer", "FAIL outer: inner: raises", "# of unexpected failures  6"]);
    assert_eq!(status, Some(1));
}

#[test]
fn programs_that_do_not_end_well_are_reported() {
    let d = Directory::new("test-ends");
    d.write("status-test.scm", "(display \"hello\")\n(exit 3)");
    d.write("exits.scm", suite("(test-begin \"g\")\n(test-assert \"one\" #t)\n(exit 0)"));
    d.write("in-test.scm", suite("(test-begin \"g\")\n(test-assert \"leaves\" (exit 0))\n(test-end)"));
    d.write("count.scm", suite("(test-begin \"g\" 3)\n(test-assert \"one\" #t)\n(test-end)"));
    d.write("none.scm", suite("(display 1)"));
    d.write("uncaught.scm", suite("(test-begin \"g\")\n(test-assert \"one\" #t)\n(test-end)\n(car 5)"));
    d.write("open.scm", suite("(test-begin \"g\"\n"));
    d.write("unknown.scm", suite("(import (no such library))"));
    d.write(
        "killed.scm",
        "(import (scheme base) (srfi 64) (cairn c))\n(test-begin \"g\")\n\
         (define raise-signal (c-procedure int \"raise\" (int)))\n\
         (test-assert \"dies\" (raise-signal 9))\n(test-end)\n",
    );
    let (text, status) = test(&d, &["--junit=out.xml"]);
    assert_eq!(status, Some(1));
    has(
        &text,
        &[
            "\nstatus-test.scm\n  the program ended with status 3\n",
            "  status-test.scm prints:\n  | hello\n",
            "\nexits.scm: the program ended inside of the group `g`, before its (test-end)\n",
            "\nin-test.scm: g: leaves\n",
            "  the program ended in the midst of this test\n",
            "\nin-test.scm: the program ended in the midst of a test\n",
            "\ncount.scm: the program runs 1 test in the group `g`, which announces 3\n",
            "\nnone.scm: the program imports (srfi 64), but runs no test\n",
            "\nuncaught.scm: the program ended with status 1\n",
            "  | error: car: expected a pair, got 5\n",
            "open.scm: no test has run\n",
            "  | error: this parenthesis is never closed\n",
            "  | error: there is no library (no such library)",
            "\nkilled.scm: the program was killed by SIGKILL\n",
            "killed.scm: g: dies\n",
        ],
    );
}

#[test]
fn programs_that_hang_are_ended() {
    let d = Directory::new("test-hang");
    d.write(
        "hang.scm",
        suite(
            "(define (wait n) (if (< n 0) n (+ 1 (wait (+ n 0)))))\n(define (busy) (let loop ((i 0)) (if (< i 0) i (loop (modulo (+ i 1) 1000)))))\n\
             (display \"before\")\n(test-begin \"g\")\n(test-assert \"quick\" #t)\n(test-assert \"slow\" (+ 1 (busy)))\n(test-end)",
        ),
    );
    // it listens to no signal, and has started another that does not either
    d.write(
        "deaf-test.scm",
        "(import (scheme base) (cairn process) (cairn signal))\n\
         (define p (start-process '(\"sh\" \"-c\" \"trap '' TERM; sleep 70.125\")))\n\
         (with-exception-handler (lambda (e) #f)\n\
           (lambda () (call-with-interrupts (lambda () (let loop () (loop))))))",
    );
    d.write("good.scm", suite("(test-begin \"g\") (test-assert #t) (test-end)"));
    let began = Instant::now();
    let (text, status) = test(&d, &["--timeout=1.5", "-j4"]);
    assert_eq!(status, Some(1));
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    has(
        &text,
        &[
            "hang.scm: 1 of 2 tests failed",
            "\nhang.scm: g: slow\n --> hang.scm:7:21\n",
            "error: stopped here",
            "\nhang.scm: the program did not end within 1.5 s\n",
            "  | before\n",
            "deaf-test.scm\n  the program did not end within 1.5 s\n",
            "good.scm: 1 test\n",
        ],
    );
    let left = Command::new("pgrep").args(["-f", "sleep 70.125"]).output().unwrap();
    assert!(left.stdout.is_empty(), "what a program has started goes on");
}

#[test]
fn some_tests_are_chosen_by_name() {
    let d = Directory::new("test-filter");
    let body = "(test-begin \"words\")\n(test-group \"long\" (test-assert \"first\" (begin (display \"ran first\") #f)) (test-assert \"second\" #t))\n(test-assert \"third\" #t)\n(test-end)";
    d.write("words-test.scm", suite(body));
    d.write("other.scm", suite("(test-begin \"o\") (test-assert \"second\" #t) (test-end)"));
    d.write("plain-test.scm", "(exit 1)");
    let (text, status) = test(&d, &["--filter=second"]);
    has(&text, &["words-test.scm: 1 test\n", "other.scm: 1 test\n", "2 tests in 2 programs: 2 passed"]);
    assert_eq!(status, Some(0), "{text}");
    let (text, status) = test(&d, &["--filter=long: sec"]);
    has(&text, &["1 test in 1 program: 1 passed"]);
    assert_eq!(status, Some(0), "{text}");
    let (text, status) = test(&d, &["--filter", "wo*first", "--filter", "third"]);
    has(&text, &["1 of 2 tests failed", "ran first"]);
    assert_eq!(status, Some(1), "{text}");
    // a file takes all of its tests
    let (text, _) = test(&d, &["--filter=words-t"]);
    has(&text, &["1 of 3 tests failed"]);
    let (text, status) = test(&d, &["--filter=plain"]);
    has(&text, &["1 test in 1 program: 0 passed, 1 failed"]);
    assert_eq!(status, Some(1), "{text}");
    let (text, status) = test(&d, &["--filter=nowhere"]);
    has(&text, &["nothing matches the filter"]);
    assert_eq!(status, Some(2), "{text}");

    let (text, status) = test(&d, &["--list", "-j1"]);
    assert_eq!(
        text,
        "other.scm\n    o: second\nplain-test.scm\nwords-test.scm\n    words: long: first\n    words: long: second\n    words: third\n"
    );
    assert_eq!(status, Some(0));
    let (text, _) = test(&d, &["--list", "--filter=third", "words-test.scm"]);
    assert_eq!(text, "words-test.scm\n    words: third\n");
}

#[test]
fn output_is_shown_when_it_matters() {
    let d = Directory::new("test-output");
    d.write("good.scm", suite("(test-begin \"g\") (display \"chatter\") (test-assert \"fine\" #t) (test-end)"));
    d.write(
        "noisy.scm",
        suite(
            "(test-begin \"g\")\n(do ((i 0 (+ i 1))) ((= i 300000)) (write i) (newline))\n\
             (write-u8 255)\n(display \"\\x1b;[31mred\")\n(test-assert \"bad\" #f)\n(test-end)",
        )
        .replace("(write-u8 255)", "(write-bytevector (bytevector 255 10) (current-output-port))"),
    );
    let (text, _) = test(&d, &["good.scm"]);
    assert!(!text.contains("chatter"), "{text}");
    let (text, _) = test(&d, &["-v", "good.scm"]);
    has(&text, &["  | chatter", "pass", "    g: fine\n"]);
    let (text, status) = test(&d, &["noisy.scm"]);
    assert_eq!(status, Some(1));
    has(&text, &["lines before; --verbose shows them", "  | 299999\n", "  |  [31mred\n"]);
    assert!(!text.contains('\x1b') && text.lines().count() < 130, "{}", text.lines().count());
    let (text, _) = test(&d, &["-v", "noisy.scm"]);
    has(&text, &["  | 0\n  | 1\n", "bytes left out"]);
    d.write(
        "long.scm",
        suite(
            "(test-begin \"g\") (test-equal \"x\" (make-string 3000 #\\x)) (test-end)"
                .replace("\"x\" (make", "5 (make")
                .as_str(),
        ),
    );
    has(&test(&d, &["long.scm"]).0, &["xxx… (3002 characters)\n"]);
}

#[test]
fn libraries_are_found_where_tests_need_them() {
    let d = Directory::new("test-libraries");
    d.write(
        "shop/price.sld",
        "(define-library (shop price) (export two) (import (scheme base)) (begin (define two 2)))",
    );
    d.write(
        "tests/price-test.scm",
        "(import (scheme base) (srfi 64) (shop price))\n(test-begin \"p\") (test-eqv 2 two) (test-end)",
    );
    assert_eq!(test(&d, &[]).1, Some(0));
    assert_eq!(test(&d, &["tests"]).1, Some(0));
    d.write("elsewhere/x.txt", "");
    let elsewhere = Directory(d.0.join("elsewhere"));
    let (text, status) = test(&elsewhere, &[".."]);
    has(&text, &["../tests/price-test.scm: 1 test"]);
    assert_eq!(status, Some(0), "{text}");
    assert_eq!(test(&elsewhere, &["../tests/price-test.scm"]).1, Some(1));
    assert_eq!(test(&elsewhere, &["-I..", "../tests/price-test.scm"]).1, Some(0));
}

#[test]
fn the_junit_file_is_xml_that_says_it_all() {
    let d = Directory::new("test-junit");
    d.write(
        "x-test.scm",
        suite(
            "(test-begin \"a<b\")\n(test-equal \"q\\\"&'\" \"<]]>\" \"\\x1;\\n\")\n(test-assert \"fine\" #t)\n(test-skip 1)\n(test-assert \"not\" #t)\n\
             (display \"\\x0; \\x1b; & <x>\")\n(test-end)\n(exit 4)",
        ),
    );
    d.write("y-test.scm", "(display 1)");
    let (_, status) = test(&d, &["--junit=r.xml"]);
    assert_eq!(status, Some(1));
    let text = std::fs::read_to_string(d.0.join("r.xml")).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let all = document.root_element();
    let number = |node: &roxmltree::Node, name: &str| node.attribute(name).unwrap().parse::<usize>().unwrap();
    let counts = |n: &roxmltree::Node| ["tests", "failures", "errors", "skipped"].map(|name| number(n, name));
    assert_eq!((all.tag_name().name(), counts(&all)), ("testsuites", [5, 1, 1, 1]), "{text}");
    let suites: Vec<_> = all.children().filter(|c| c.is_element()).collect();
    assert_eq!(
        suites.iter().map(|s| s.attribute("name").unwrap()).collect::<Vec<_>>(),
        ["x-test.scm", "y-test.scm"]
    );
    assert_eq!(counts(&suites[0]), [4, 1, 1, 1]);
    let cases: Vec<_> = suites[0].children().filter(|c| c.has_tag_name("testcase")).collect();
    assert_eq!(cases.len(), 4);
    let first = cases[0];
    assert_eq!(first.attribute("name"), Some("q\"&'"));
    assert_eq!(first.attribute("classname"), Some("x-test.scm.a<b"));
    assert_eq!((first.attribute("file"), first.attribute("line")), (Some("x-test.scm"), Some("3")));
    let failure = first.first_element_child().unwrap();
    assert_eq!(failure.tag_name().name(), "failure");
    has(failure.attribute("message").unwrap(), &["expected: \"<]]>\"; got: "]);
    has(failure.text().unwrap(), &["x-test.scm:3\n"]);
    assert!(
        cases[1].first_element_child().is_none()
            && cases[2].first_element_child().unwrap().has_tag_name("skipped")
    );
    let error = cases[3].first_element_child().unwrap();
    assert_eq!(error.attribute("message"), Some("the program ended with status 4"));
    let output = suites[0].children().find(|c| c.has_tag_name("system-out")).unwrap();
    assert_eq!(output.text(), Some("\u{fffd} \u{fffd} & <x>"));
    assert!(suites.iter().flat_map(|s| s.attribute("time")).all(|t| t.parse::<f64>().unwrap() >= 0.0));

    let (text, status) = test(&d, &["--junit=absent/r.xml", "y-test.scm"]);
    has(&text, &["cannot write absent/r.xml"]);
    assert_eq!(status, Some(2));
}

#[test]
fn programs_run_at_the_same_time_and_in_every_way() {
    let d = Directory::new("test-jobs");
    // each waits for the other
    for (me, other) in [("a", "b"), ("b", "a")] {
        d.write(
            &format!("{me}.scm"),
            format!(
                "(import (scheme base) (scheme file) (srfi 18) (srfi 64))\n(test-begin \"{me}\")\n\
                 (call-with-output-file \"{me}.here\" (lambda (p) #t))\n\
                 (test-assert (let wait () (or (file-exists? \"{other}.here\") (begin (thread-sleep! .01) (wait)))))\n(test-end)\n"
            ),
        );
    }
    assert_eq!(test(&d, &["-j2", "--timeout=20"]).1, Some(0));
    for way in ["--opt=low", "--opt=high", "--gc=marksweep"] {
        d.write("c.scm", suite("(test-begin \"c\") (test-equal \"x\" '(1) (list 2)) (test-end)"));
        let (text, status) = test(&d, &[way, "c.scm"]);
        has(&text, &["--> c.scm:2:39", "  expected: (1)\n       got: (2)\n"]);
        assert_eq!(status, Some(1), "{way}: {text}");
    }
    d.write("d.scm", suite("(test-begin \"d\") (test-assert #f) (test-end)"));
    let (text, _) = test(&d, &["-j1", "--fail-fast", "d.scm", "c.scm"]);
    has(&text, &["1 program not run", "1 test in 1 program"]);
}

#[test]
fn an_interrupt_ends_all_programs() {
    assert!(Command::new(binary()).arg("prepare").status().unwrap().success());
    let d = Directory::new("test-interrupt");
    d.write("sleeps-test.scm", "(import (scheme base) (srfi 18))\n(call-with-port (open-output-file \"here\") (lambda (p) (write-u8 1)))\n(thread-sleep! 80)"
        .replace("(write-u8 1)", "#t").replace("(scheme base)", "(scheme base) (scheme file)"));
    let child = Command::new(binary()).arg("test").current_dir(&d.0).stdout(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while !d.0.join("here").exists() {
        assert!(began.elapsed() < Duration::from_secs(70), "the program does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed() < Duration::from_secs(79));
    assert_eq!((output.status.code(), output.status.signal()), (Some(130), None));
    has(&String::from_utf8_lossy(&output.stdout), &["STOP"]);
}

/// The lines of a file that lcov tells of, with their counts; a line that is not there has none.
fn covered(d: &Directory, file: &str) -> Vec<(usize, u64)> {
    let text = std::fs::read_to_string(d.0.join("coverage/lcov.info")).unwrap();
    let record = text.split("end_of_record\n").find(|r| r.contains(&format!("SF:{file}\n")));
    let lines = record.unwrap_or_else(|| panic!("{file} is not in {text}")).lines();
    let counts = lines.filter_map(|l| l.strip_prefix("DA:")?.split_once(','));
    counts.map(|(line, n)| (line.parse().unwrap(), n.parse().unwrap())).collect()
}

const PRICES: &str = r#"(define-library (shop price)
  (export total kind area unless-zero limit twice)
  (import (scheme base) (scheme case-lambda) (cairn macro))
  (begin
    (define limit 100)
    (define-syntax unless-zero
      (syntax-rules ()
        ((_ x e)
         (if (= x 0)
             'zero
             e))))
    (define (total prices)
      (if (null? prices)
          0
          (+ (car prices)
             (total (cdr prices)))))
    (define (kind n)
      (cond
        ((< n 0) 'negative)
        ((= n 0)
         'zero)
        (else
         (if (> n limit) 'large 'small))))
    (define area
      (case-lambda
        ((a) (* a a))
        ((a b)
         (* a b))
        ((a b c)
         (* a b c))))
    (define-syntax twice
      (er-macro-transformer
       (lambda (form rename compare)
         (list (rename '+)
               (cadr form)
               (cadr form)))))
    (define (never)
      (car
       5))))
"#;

#[test]
fn coverage_counts_lines_procedures_and_ways() {
    let d = Directory::new("test-coverage");
    d.write("shop/price.sld", PRICES);
    d.write("part.scm", "(define (part x)\n  (* x\n     (area x)))\n");
    d.write(
        "price-test.scm",
        "(import (scheme base) (srfi 64) (shop price))\n(include \"part.scm\")\n(test-begin \"price\")\n\
         (test-equal 6 (total '(1 2 3)))\n(test-equal 'negative (kind -1))\n(test-equal 'small (kind 1))\n\
         (test-equal 6 (area 2 3))\n(test-equal 'zero (unless-zero 0 5))\n(test-equal 8 (twice 4))\n\
         (test-equal 8 (part 2))\n(test-end)\n\
         (define (many n) (if (> n 0) (begin (total '(1)) (many (- n 1)))))\n(many 50000)\n",
    );
    for way in ["--opt=auto", "--opt=low", "--opt=high"] {
        let (text, status) = test(&d, &["--coverage", way]);
        assert_eq!(status, Some(0), "{text}");
        has(
            &text,
            &["  lines covered\n", "  100.0 %  part.scm: 3 of 3\n", "shop/price.sld: 16 of 22; not: 21, 29-39"],
        );
        let lines = covered(&d, "shop/price.sld");
        let expected = [
            [(5, 1), (9, 1), (10, 1)].as_slice(),
            &[(12, 100_004), (13, 100_004), (14, 50_001), (15, 50_003), (16, 50_003)],
            &[(17, 2), (18, 2), (19, 2), (20, 1), (21, 0), (23, 1)],
            &[(26, 1), (27, 1), (28, 1), (29, 0), (30, 0)],
            // not the transformer: it runs in the compiler
            &[(37, 0), (38, 0), (39, 0)],
        ];
        assert_eq!(lines, expected.concat(), "{way}");
        let text = std::fs::read_to_string(d.0.join("coverage/lcov.info")).unwrap();
        has(&text, &["FN:12,total\n", "FNDA:100004,total\n", "FNDA:0,never\n", "FNDA:1,area\n"]);
        // the conditional in `total`, and the clauses of `kind`
        has(&text, &["BRDA:13,1,0,50001\nBRDA:13,1,1,50003\n", "BRDA:18,2,0,1\nBRDA:18,2,1,0\nBRDA:18,2,2,1\n"]);
        assert!(!text.contains("price-test.scm"), "{text}");
    }
    let index = std::fs::read_to_string(d.0.join("coverage/index.html")).unwrap();
    let page =
        index.split("href=\"").find_map(|p| p.split('"').next().filter(|p| p.starts_with("shop_price"))).unwrap();
    let page = std::fs::read_to_string(d.0.join("coverage").join(page)).unwrap();
    has(
        &page,
        &["<tr id=L21 class=\"no\"><td>21<td>0<td><pre>         &#39;zero)</pre>".replace("&#39;", "'").as_str()],
    );
    has(&page, &["<tr id=L18 class=\"half\"", "<tr id=L4 class=\"\">"]);
    // elsewhere, and beside programs of which nothing is left
    d.write(
        "dies-test.scm",
        "(import (scheme base) (scheme process-context) (shop price))\n(kind 0)\n(emergency-exit 1)",
    );
    let (text, status) = test(&d, &["--coverage=out", "dies-test.scm"]);
    assert_eq!(status, Some(1));
    has(&text, &["shop/price.sld: 6 of 20", "  out/index.html\n"]);
    assert!(d.0.join("out/lcov.info").exists());
    let (text, _) = test(&d, &["--coverage=shop/price.sld/x", "dies-test.scm"]);
    has(&text, &["cannot write shop/price.sld/x: "]);
}
