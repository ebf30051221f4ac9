//! What `cairn explain` shows is true: each wrong program fails with the message, each right one runs without a word.

use std::process::{Command, Output};

mod common;
use common::{Directory, binary, root};

/// The pages' names, messages, and programs.
fn pages() -> Vec<(String, String, [String; 2])> {
    let text = std::fs::read_to_string(root().join("crates/cairn/src/explain/pages.md")).unwrap();
    let page = |page: &str| {
        let (name, rest) = page.split_once('\n').unwrap();
        let message = rest.lines().find_map(|l| l.strip_prefix("Message: ")).unwrap();
        let programs: Vec<&str> = rest.split("```").skip(1).step_by(2).collect();
        let programs =
            programs.iter().map(|p| p.strip_prefix("scheme\n").unwrap().to_string()).collect::<Vec<_>>();
        (name.to_string(), message.to_string(), programs.try_into().expect("a page has two programs"))
    };
    text.split("## ").skip(1).map(page).collect()
}

fn run(d: &Directory, program: &str) -> Output {
    d.write("p.scm", program);
    Command::new(binary()).args(["run", "--no-cache", "p.scm"]).current_dir(&d.0).output().unwrap()
}

fn explain(what: &[&str]) -> Output {
    Command::new(binary()).arg("explain").args(what).output().unwrap()
}

#[test]
fn wrong_programs_fail_as_is_said_and_right_ones_run() {
    let d = Directory::new("explain");
    let pages = pages();
    assert!(pages.len() >= 30, "{}", pages.len());
    for (name, message, [wrong, right]) in pages {
        let output = run(&d, &wrong);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}: {said}");
        let is_said = said.lines().any(|line| {
            let mut rest = line;
            message.split('…').all(|part| rest.find(part).map(|at| rest = &rest[at + part.len()..]).is_some())
        });
        assert!(is_said, "{name}: {said}");
        let output = run(&d, &right);
        assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stderr)), (Some(0), ""), "{name}");
        // by name, and by what was printed
        let page = explain(&[&name]);
        assert_eq!(page.status.code(), Some(0), "{name}");
        let page = String::from_utf8(page.stdout).unwrap();
        for line in wrong.lines().chain(right.lines()) {
            assert!(page.contains(&format!("    {line}")), "{name}: {page}");
        }
    }
}

#[test]
fn messages_are_explained_as_they_were_printed() {
    for (message, name) in [
        ("unbound variable: aera", "unbound-variable"),
        ("error: car: expected a pair, got ()", "expected-a-pair"),
        ("point-x: expected a point, got (1 2)", "wrong-record"),
        ("add: expected 2 arguments, got 1: 3", "number-of-arguments"),
        ("error: expected 2 values, got 1: (1 2)\n --> p.scm:2:17", "number-of-values"),
    ] {
        let output = explain(&[message]);
        assert!(output.stdout.starts_with(format!("{name}\n").as_bytes()), "{message}: {output:?}");
    }
    let output = explain(&["the moon is too far away"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        said,
        "cairn: nothing explains `the moon is too far away`; `cairn explain` lists what is explained\n"
    );
    let contents = String::from_utf8(explain(&[]).stdout).unwrap();
    for (name, ..) in pages() {
        assert!(contents.contains(&format!("  {name} ")), "{name}");
    }
    let same = Command::new(binary()).args(["--explain", "bad-let"]).output().unwrap();
    assert_eq!(same.stdout, explain(&["bad-let"]).stdout);
}
