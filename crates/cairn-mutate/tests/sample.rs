//! A sample of mutants in every other run of the tests: of `cairn-num`, then of `lib/`, whose tests are fast. The turn
//! decides (`CAIRN_TURN`), as it does for the matrix of programs.
//!
//! The sample is the same as long as what is mutated stays as it is; `CAIRN_MUTATE_SEED` draws another one,
//! `CAIRN_MUTATE_COUNT` a larger one. A mutant that survives fails the test: write a test that catches it, or say in
//! `survivors.txt` why it is no fault.

use cairn_mutate::areas::Area;
use cairn_mutate::judge::{Judge, Verdict};
use cairn_mutate::sample;
use cairn_mutate::workshop::Workshop;
use std::path::{Path, PathBuf};

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The reasons of `survivors.txt`, by what mutants are.
fn known() -> Vec<(String, String)> {
    let text = include_str!("../survivors.txt");
    let lines = text.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
    lines
        .map(|l| l.split_once(" => ").expect("a mutant and a reason"))
        .map(|(m, r)| (m.into(), r.into()))
        .collect()
}

/// Is this area's sample judged in this turn, the one of four with this number? It takes a minute.
fn is_in_turn(own: u64) -> bool {
    let is_its_own = number("CAIRN_TURN", own) % 4 == own;
    if !is_its_own {
        println!("not in this turn");
    }
    is_its_own
}

fn judge(name: &str, count: u64) {
    let (seed, count) = (number("CAIRN_MUTATE_SEED", 1), number("CAIRN_MUTATE_COUNT", count));
    let area = Area::named(name).unwrap();
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), PathBuf::from);
    let shop = Workshop::new(&root(), &target.join(format!("mutation-sample/{name}")));
    let drawn = sample(area.mutants(&root()), count as usize, seed);
    let (good, _) = shop.settle(drawn, area.packages);
    assert!(!good.is_empty());
    let judge = Judge::new(area, &shop, std::env::var_os("CAIRN_BINARY").map(PathBuf::from), true, false);
    let known = known();
    let mut missed = vec![];
    for m in &good {
        let verdict = judge.verdict(&shop, m);
        let reason = known.iter().find(|(k, _)| *k == m.identity());
        println!("{}:{} {} — {verdict:?} {reason:?}", m.file.display(), m.line, m.what);
        if verdict == Verdict::Survived && reason.is_none() {
            missed.push(format!("{} (line {})", m.identity(), m.line));
        }
    }
    assert!(missed.is_empty(), "seed {seed}: no test notices these faults:\n{}", missed.join("\n"));
}

#[test]
fn faults_in_num_are_caught() {
    if is_in_turn(0) {
        judge("num", 6);
    }
}

#[test]
fn faults_in_lib_are_caught() {
    if is_in_turn(2) {
        judge("lib", 1);
    }
}
