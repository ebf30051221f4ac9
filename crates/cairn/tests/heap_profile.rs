//! `--heap-profile`: types are counted exactly, lines are those that made the objects.

mod common;

use common::{Directory, binary};
use std::fs;
use std::process::Command;

/// Output and status of a command line.
fn cairn(d: &Directory, command: &str) -> (String, Option<i32>) {
    let arguments = command.split_whitespace();
    let output =
        Command::new(binary()).current_dir(&d.0).args(arguments).env("CAIRN_NO_CACHE", "1").output().unwrap();
    let text = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
    (text, output.status.code())
}

const PROGRAM: &str = "\
(import (scheme base) (scheme write))
(define-record-type node (make-node key left right) node? (key node-key) (left node-left) (right node-right))
(define (make-tree d)
  (if (= d 0)
      (make-node 0 #f #f)
      (make-node d (make-tree (- d 1)) (make-tree (- d 1)))))
(define (numbers n)
  (let loop ((i 0) (l '()))
    (if (= i n)
        l
        (loop (+ i 1)
              (cons i l)))))
(define kept '())
(define (drop-all) (set! kept '()))
(define (text n)
  (make-string n #\\a))
(set! kept
  (list (make-tree 14) (numbers 20000)
        (text 100000)))
(define sink #f)
(define (garbage n) (if (> n 0) (begin (set! sink (vector n n n)) (garbage (- n 1)))))
(garbage 500000)
(display (length kept))
(drop-all)
(garbage 500000)
(define small (numbers 100))
(display (length small))
";

/// The rows of a moment's table whose lines end like this: objects and bytes (1.5M is 1500000).
fn rows<'a>(moment: &'a str, end: &str) -> Vec<(u64, &'a str)> {
    let of_row = |line: &'a str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.parse().ok()?, words.next()?))
    };
    moment.lines().filter(|l| l.ends_with(end)).filter_map(of_row).collect()
}

fn profile(options: &str) -> String {
    let d = Directory::new("heap-profile");
    d.write("held.scm", PROGRAM);
    assert_eq!(cairn(&d, &format!(" run {options} --heap-profile=out held.scm")), ("3100".to_string(), Some(0)));
    fs::read_to_string(d.0.join("out")).unwrap()
}

#[test]
fn what_lives_is_shown_by_type_and_by_line() {
    for frames in ["chunks", "heap"] {
        let text = profile(&format!("--frames={frames}"));
        let (peak, end) = text.split_once("At the end").expect("two moments");
        // 2^15 - 1 nodes of a header and three fields.
        assert_eq!(rows(peak, "  record node"), [(32767, "1024.0K")], "{text}");
        let made = |line: &str| rows(peak, &format!("held.scm:{line}")).iter().map(|r| r.0).sum::<u64>();
        let leaves = made("5 (make-tree)") as f64 / 16384.0;
        let inner = made("6 (make-tree)") as f64 / 16383.0;
        assert!((0.8..1.2).contains(&leaves) && (0.8..1.2).contains(&inner), "{leaves} {inner}\n{text}");
        let pairs = made("12 (loop)") + made("12 (numbers)");
        assert!((18_000..22_000).contains(&pairs), "{text}");
        assert_eq!(rows(peak, "string  held.scm:16 (text)"), [(1, "390.6K")], "{text}");
        assert_eq!(rows(end, "  record node"), [], "{text}");
        assert!(!end.contains("make-tree") && !end.contains(":16"), "{text}");
        let ends: u64 = rows(end, "  pair").iter().map(|r| r.0).sum();
        assert!((100..300).contains(&ends), "{text}");
    }
}

#[test]
fn executables_have_profiles_too() {
    let d = Directory::new("heap-profile-build");
    d.write("held.scm", PROGRAM);
    for (options, known) in [("--sites", true), ("", false)] {
        assert_eq!(cairn(&d, &format!(" build {options} held.scm -o held")), (String::new(), Some(0)));
        let out =
            Command::new(d.0.join("held")).env("CAIRN_HEAP_PROFILE", d.0.join("profile.json")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&out.stdout), "3100");
        let json: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(d.0.join("profile.json")).unwrap()).unwrap();
        let nodes = json["peak"]["types"].as_array().unwrap().iter().find(|t| t["type"] == "record node").unwrap();
        assert_eq!((&nodes["objects"], &nodes["bytes"]), (&32767.into(), &(32767 * 32).into()));
        let total: u64 =
            json["peak"]["lines"].as_array().unwrap().iter().map(|l| l["bytes"].as_u64().unwrap()).sum();
        let live = json["peak"]["bytes"].as_u64().unwrap();
        assert!((live * 8 / 10..live * 12 / 10).contains(&total), "{json}");
        let lines = json["peak"]["lines"].as_array().unwrap();
        let exact = lines
            .iter()
            .any(|l| l["line"].as_str().unwrap().ends_with("held.scm:5") && l["type"] == "record node");
        assert!(exact || !known, "{json}");
        assert_eq!(json["remark"].as_str().unwrap().contains("not compiled with --sites"), !known);
    }
}

#[test]
fn other_collectors_have_types_only() {
    let text = profile("--gc=mcc");
    assert!(text.contains("with the collector gen only"), "{text}");
    assert_eq!(rows(&text, "  record node"), [(32767, "1024.0K")], "{text}");
}

#[test]
fn a_profile_that_cannot_be_written_is_an_error() {
    let d = Directory::new("heap-profile-file");
    d.write("p.scm", "(display 1)");
    let (text, status) = cairn(&d, " run --heap-profile=no/such/directory p.scm");
    assert!(text.contains("cannot write no/such/directory: "), "{text}");
    assert_eq!(status, Some(1));
}

const CALLS: &str = "\
(import (scheme base) (scheme write))
(define (pairs n l)
  (if (= n 0) l (pairs (- n 1) (cons n l))))
(define (text n) (make-string n #\\a))
(define (few n) (length (pairs n '())))
(define (many n) (length (pairs (* 3 n) '())))
(define (strings n) (do ((i 0 (+ i 1)) (s 0 (+ s (string-length (text 10))))) ((= i n) s)))
(define procedures (list few many strings))
(define total 0)
(do ((k 0 (+ k 1))) ((= k 30)) (for-each (lambda (f) (set! total (+ total (f 10000)))) procedures))
(display total)
";

/// Bytes of the stacks with a frame of each of these procedures.
fn bytes_of(folded: &str, names: &[&str]) -> u64 {
    let has = |stack: &str, name: &str| stack.split(';').any(|f| f.split(' ').next() == Some(name));
    let of_line = |line: &str| {
        let (stack, n) = line.rsplit_once(' ').unwrap();
        names.iter().all(|name| has(stack, name)).then(|| n.parse::<u64>().unwrap())
    };
    folded.lines().filter_map(of_line).sum()
}

/// Stacks weigh what their calls have allocated, garbage or not.
#[test]
fn stacks_have_the_bytes_that_their_calls_allocate() {
    let d = Directory::new("allocation-stacks");
    d.write("calls.scm", CALLS);
    for frames in ["chunks", "heap", "stack"] {
        let command = format!("run --frames={frames} --stats-file=stats.json --heap-profile=out.folded calls.scm");
        assert_eq!(cairn(&d, &command), ("4200000".to_string(), Some(0)));
        let folded = fs::read_to_string(d.0.join("out.folded")).unwrap();
        let stats: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(d.0.join("stats.json")).unwrap()).unwrap();
        let (allocated, all) = (stats["allocated"].as_u64().unwrap(), bytes_of(&folded, &[]));
        assert!((allocated * 95 / 100..=allocated).contains(&all), "{all} of {allocated}\n{folded}");
        // 16 bytes for a pair, about 56 for a string of ten characters; `strings` is inlined
        let (few, many) = (bytes_of(&folded, &["few"]), bytes_of(&folded, &["many"]));
        let strings = bytes_of(&folded, &["lambda"]) - few - many;
        for (found, bytes) in [(few, 4_800_000), (many, 14_400_000), (strings, 16_800_000)] {
            assert!((bytes * 9 / 10..bytes * 11 / 10).contains(&found), "{found}, not {bytes}\n{folded}");
        }
    }
    for (name, start) in [("out.svg", "<?xml"), ("out.speedscope.json", "{\"$schema\""), ("out.pb.gz", "\u{1f}")] {
        assert_eq!(cairn(&d, &format!("run --heap-profile={name} calls.scm")), ("4200000".to_string(), Some(0)));
        let bytes = fs::read(d.0.join(name)).unwrap();
        assert!(bytes.starts_with(start.as_bytes()), "{name}");
    }
    assert!(fs::read_to_string(d.0.join("out.speedscope.json")).unwrap().contains("\"unit\": \"bytes\""));
    assert!(fs::read_to_string(d.0.join("out.svg")).unwrap().contains("Allocation"));
    let (text, status) = cairn(&d, "run --gc=mcc --heap-profile=other.svg calls.scm");
    assert!(text.contains("which calls allocate is known with --gc=gen only") && status == Some(1), "{text}");
}
