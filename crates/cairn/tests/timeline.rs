//! `--timeline`: turns of threads that do not overlap, collections, and places, in a file that readers of Chrome's
//! trace format take.

mod common;

use common::{Directory, binary};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

const PROGRAM: &str = "\
(import (scheme base) (scheme write) (srfi 18) (cairn place))
(define (numbers n) (let loop ((i 0) (l '())) (if (= i n) (length l) (loop (+ i 1) (cons i l)))))
(define (work k) (do ((i 0 (+ i 1))) ((= i k)) (numbers 20000)))
(define (thread name) (make-thread (lambda () (work 60) (thread-sleep! 0.02) (work 60)) name))
(define threads (map thread '(\"reader\" \"\\\"quoted\\\"\")))
(for-each thread-start! threads)
(define p (place (work 60) 7))
(for-each thread-join! threads)
(write (place-wait p))
";

fn text(e: &Value, field: &str) -> String {
    e[field].as_str().unwrap_or_default().to_string()
}

#[test]
fn threads_take_turns_and_collections_are_there() {
    let d = Directory::new("timeline");
    std::fs::write(d.0.join("p.scm"), PROGRAM).unwrap();
    let run = |command: &mut Command| {
        let output = command.current_dir(&d.0).env("CAIRN_NO_CACHE", "1").output().unwrap();
        let said = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
        assert!(output.status.success(), "{said}");
        said
    };
    assert_eq!(run(Command::new(binary()).args(["run", "--timeline=auto.json", "p.scm"])), "7");
    assert_eq!(run(Command::new(binary()).args(["build", "--gc=mcc", "p.scm", "-o", "p"])), "");
    assert_eq!(run(Command::new(d.0.join("p")).env("CAIRN_TIMELINE", "built.json")), "7");
    for file in ["auto.json", "built.json"] {
        let json: Value = serde_json::from_slice(&std::fs::read(d.0.join(file)).unwrap()).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        let of = |phase: &str, category: &str| -> Vec<&Value> {
            events.iter().filter(|e| text(e, "ph") == phase && text(e, "cat") == category).collect()
        };
        let names: BTreeSet<String> = of("X", "thread").iter().map(|e| text(e, "name")).collect();
        assert_eq!(names, ["\"quoted\"", "main", "reader"].map(String::from).into(), "{file}");
        let places: BTreeSet<u64> = of("X", "gc").iter().map(|e| e["pid"].as_u64().unwrap()).collect();
        assert_eq!(places, [0, 1].into(), "{file}: each place collects");
        let mut turns: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
        for e in of("X", "thread") {
            let (from, length) = (e["ts"].as_f64().unwrap(), e["dur"].as_f64().unwrap());
            turns.entry(e["pid"].as_u64().unwrap()).or_default().push((from, from + length));
        }
        for (place, mut turns) in turns {
            turns.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(turns.windows(2).all(|w| w[0].1 <= w[1].0 + 0.002), "{file}: turns of place {place} overlap");
            assert!(place > 0 || turns.len() > 4 && turns[0].0 < 1000.0, "{file}: {turns:?}");
        }
        let rows = events.iter().filter(|e| text(e, "name") == "thread_name");
        assert!(rows.count() >= 5, "{file}");
    }
    let output =
        Command::new(binary()).current_dir(&d.0).args(["run", "--timeline=no/where.json", "p.scm"]).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write no/where.json: No such file"));
}
