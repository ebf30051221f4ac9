//! `--profile`: samples find the procedures that take the time, in every mode and under every frame strategy.

use cairn_layout::facts::STRATEGIES;
use std::fs;
use std::process::{Command, Stdio};

mod common;
use common::{Directory, binary};

/// Of the time, `spend` takes nearly all, called by `twice` at line 7; and the collector some.
const PROGRAM: &str = "(define (spend n)
  (let next ((i 0) (l '()))
    (if (< i n)
        (next (+ i 1) (if (= 0 (modulo i 100)) '() (cons (number->string i) l)))
        (length l))))
(define (twice n)
  (+ (spend n) (spend n)))
(display (+ 1 (twice 4000000)))
";

const ANSWER: &str = "199";

fn run(d: &Directory, options: &str, file: &str) -> String {
    let command = format!("run {options} --profile={file} p.scm");
    let output = Command::new(binary())
        .current_dir(&d.0)
        .args(command.split_whitespace())
        .env("CAIRN_NO_CACHE", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), ANSWER, "{command}: {output:?}");
    fs::read_to_string(d.0.join(file)).unwrap()
}

/// Microseconds of the stacks that contain `part`, and of all.
fn samples(folded: &str, part: &str) -> (u64, u64) {
    let count = |line: &str| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
    let (mut found, mut all) = (0, 0);
    for line in folded.lines() {
        all += count(line);
        found += if line.contains(part) { count(line) } else { 0 };
    }
    (found, all)
}

/// Nearly all samples are below the call of `twice`, with its line.
fn check(folded: &str, how: &str) {
    let (found, all) = samples(folded, "p.scm:7");
    assert!(all >= 10_000, "{how}: {folded}");
    assert!(10 * found >= 8 * all, "{how}: {found} of {all}\n{folded}");
}

#[test]
fn every_mode_shows_the_calls_under_way() {
    let d = Directory::new("profile");
    d.write("p.scm", PROGRAM);
    for options in ["", "--opt=low", "--opt=high", "--llvm=none --opt=high"] {
        check(&run(&d, options, "out.folded"), options);
    }
}

#[test]
fn every_frame_strategy_shows_the_calls_under_way() {
    let d = Directory::new("profile-frames");
    d.write("p.scm", PROGRAM);
    for frames in STRATEGIES {
        let gc = if frames.is_joined() { " --gc=marksweep" } else { "" };
        let options = format!("--frames={}{gc}", frames.name);
        check(&run(&d, &options, "out.folded"), &options);
    }
}

#[test]
fn executables_are_profiled_by_their_environment() {
    let d = Directory::new("profile-build");
    d.write("p.scm", PROGRAM);
    let built = Command::new(binary()).args(["build", "p.scm", "-o", "p"]).current_dir(&d.0).status().unwrap();
    assert!(built.success());
    let run =
        |file: &str| Command::new(d.0.join("p")).current_dir(&d.0).env("CAIRN_PROFILE", file).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&run("out.folded").stdout), ANSWER);
    check(&fs::read_to_string(d.0.join("out.folded")).unwrap(), "build");
    // refused before the program runs
    for (file, what) in [("out.svg", "cairn run"), ("out.xyz", "does not say what to write")] {
        let output = run(file);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(what) && output.stdout.is_empty(), "{said}");
    }
}

#[test]
fn each_format_is_what_its_readers_expect() {
    let d = Directory::new("profile-formats");
    d.write("p.scm", PROGRAM);
    let svg = run(&d, "--opt=high", "out.svg");
    let document = roxmltree::Document::parse_with_options(
        &svg,
        roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() },
    )
    .unwrap();
    let titles: Vec<&str> =
        document.descendants().filter(|n| n.has_tag_name("title")).filter_map(|n| n.text()).collect();
    assert!(titles.iter().any(|t| t.contains("twice p.scm:7")), "{titles:?}");

    let table = run(&d, "", "out.txt");
    assert!(table.lines().next().unwrap().contains("self ms") && table.contains("  twice  p.scm"), "{table}");

    let json: serde_json::Value = serde_json::from_str(&run(&d, "--opt=high", "out.json")).unwrap();
    let frames = json["shared"]["frames"].as_array().unwrap();
    assert!(frames.iter().any(|f| f["name"] == "twice" && f["file"] == "p.scm" && f["line"] == 7), "{json}");
    let profile = &json["profiles"][0];
    let (stacks, weights) = (profile["samples"].as_array().unwrap(), profile["weights"].as_array().unwrap());
    assert_eq!(stacks.len(), weights.len());
    let sum: u64 = weights.iter().map(|w| w.as_u64().unwrap()).sum();
    assert_eq!(profile["endValue"].as_u64(), Some(sum));
    for stack in stacks {
        assert!(stack.as_array().unwrap().iter().all(|i| (i.as_u64().unwrap() as usize) < frames.len()));
    }
}

#[test]
fn deep_recursions_cost_no_more_and_errors_end_in_a_profile() {
    let d = Directory::new("profile-deep");
    d.write(
        "p.scm",
        "(define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))
(define (again n) (if (> n 0) (begin (deep 1000000) (again (- n 1)))))
(again 300)
(display \"199\")
(car 5)
",
    );
    let folded = run(&d, "--opt=high", "out.folded");
    assert!(folded.lines().any(|l| l.starts_with("…;deep p.scm:1;")), "{folded}");
    assert!(folded.lines().all(|l| l.split(';').count() < 250));
}
