//! Mutation testing by hand: `cargo run -p cairn-mutate -- AREA… [--count N] [--seed S] [--jobs J] [--quick]`.
//!
//! For each area (`all` for all of them): draws a sample, judges it, and prints the score and what survived.
//! `--quick` runs the tests of the area's crates alone, `--programs` these and whole programs, `--list` shows the
//! sample, `named` checks the list of `named.rs`.

use cairn_mutate::areas::{AREAS, Area};
use cairn_mutate::judge::{Judge, Verdict};
use cairn_mutate::workshop::Workshop;
use cairn_mutate::{Mutant, named, sample};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

struct Options {
    areas: Vec<&'static Area>,
    count: usize,
    seed: u64,
    jobs: usize,
    list: bool,
    binary: Option<PathBuf>,
    only: Option<String>,
    quick: bool,
    programs: bool,
    named: bool,
}

fn options() -> Result<Options, String> {
    let mut o = Options {
        areas: vec![],
        count: 25,
        seed: 1,
        jobs: 1,
        list: false,
        binary: None,
        only: None,
        quick: false,
        programs: false,
        named: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(a) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{a} needs a value"));
        match a.as_str() {
            "--count" => o.count = value()?.parse().map_err(|_| "--count needs a number")?,
            "--seed" => o.seed = value()?.parse().map_err(|_| "--seed needs a number")?,
            "--jobs" => o.jobs = value()?.parse().map_err(|_| "--jobs needs a number")?,
            "--binary" => o.binary = Some(value()?.into()),
            "--only" => o.only = Some(value()?),
            "--list" => o.list = true,
            "--quick" => o.quick = true,
            "--programs" => o.programs = true,
            "named" => o.named = true,
            "all" => o.areas = AREAS.iter().collect(),
            name => o.areas.push(Area::named(name).ok_or_else(|| {
                let names: Vec<&str> = AREAS.iter().map(|a| a.name).collect();
                format!("no area `{name}`: there are {} and all", names.join(", "))
            })?),
        }
    }
    if o.areas.is_empty() && !o.named { Err("which area?".into()) } else { Ok(o) }
}

fn main() {
    let o = options().unwrap_or_else(|e| {
        eprintln!("cairn-mutate: {e}");
        std::process::exit(2);
    });
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the source tree");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    if o.named {
        check_named(&root, &target.join("mutation"));
    }
    for area in &o.areas {
        judge_area(area, &o, &root, &target.join("mutation"));
    }
}

/// The list of faults by name: every one must be caught by the tests that it names, and those must pass without it.
fn check_named(root: &Path, folder: &Path) {
    let shop = Workshop::new(root, folder);
    let all = named::mutants(root);
    let (good, bad) = shop.settle(all, &["cairn-core", "cairn-num", "cairn-heap", "cairn-rt", "cairn"]);
    assert!(bad.is_empty(), "these do not compile: {bad:?}");
    let judge = Judge::of_named(&shop);
    let mut missed = 0;
    for (m, n) in good.iter().zip(named::NAMED) {
        for by in n.by {
            assert!(!judge.catches(&shop, None, by), "{by} fails without a fault");
            let caught = judge.catches(&shop, Some(m), by);
            missed += !caught as usize;
            println!("{} — {by}: {}", n.title, if caught { "caught" } else { "NOT CAUGHT" });
        }
    }
    std::process::exit((missed > 0) as i32);
}

fn judge_area(area: &Area, o: &Options, root: &Path, folder: &Path) {
    let mut all = area.mutants(root);
    if let Some(only) = &o.only {
        all.retain(|m| m.identity().contains(only));
    }
    let places = all.len();
    let drawn = sample(all, o.count, o.seed);
    if o.list {
        drawn.iter().for_each(|m| println!("{}:{} {}", m.file.display(), m.line, m.identity()));
        return;
    }
    let shop = Workshop::new(root, folder);
    let (good, bad) = shop.settle(drawn, area.packages);
    eprintln!("{}: {} mutants of {places}, {} more do not compile", area.name, good.len(), bad.len());
    let binary = o.binary.clone().filter(|_| area.packages.is_empty());
    let judge = Judge::new(area, &shop, binary, o.quick, o.programs);
    let queue = Mutex::new(good.into_iter());
    let verdicts: Mutex<Vec<(Mutant, Verdict)>> = Mutex::new(vec![]);
    std::thread::scope(|scope| {
        for _ in 0..o.jobs {
            scope.spawn(|| {
                loop {
                    let Some(m) = queue.lock().expect("no panic").next() else { return };
                    let began = Instant::now();
                    let verdict = judge.verdict(&shop, &m);
                    println!(
                        "{}:{} [{}] {} — {verdict:?} ({:.1} s)",
                        m.file.display(),
                        m.line,
                        m.within,
                        m.what,
                        began.elapsed().as_secs_f64()
                    );
                    verdicts.lock().expect("no panic").push((m, verdict));
                }
            });
        }
    });
    report(area, &verdicts.into_inner().expect("no panic"), places, o);
}

fn report(area: &Area, verdicts: &[(Mutant, Verdict)], places: usize, o: &Options) {
    let count = |f: fn(&Verdict) -> bool| verdicts.iter().filter(|(_, v)| f(v)).count();
    let caught = count(|v| matches!(v, Verdict::Caught(_)));
    let late = count(|v| matches!(v, Verdict::TimedOut(_)));
    let golden = count(|v| matches!(v, Verdict::Golden(_)));
    let survived = count(|v| matches!(v, Verdict::Survived));
    println!(
        "\n{}: seed {}, {} of {places} places: {caught} caught, {late} by time, {golden} by golden files only, {survived} survived: {:.0} %\n",
        area.name,
        o.seed,
        verdicts.len(),
        100.0 * (caught + late) as f64 / verdicts.len().max(1) as f64,
    );
    for (m, v) in verdicts.iter().filter(|(_, v)| matches!(v, Verdict::Survived | Verdict::Golden(_))) {
        println!("{v:?} | {} (line {})", m.identity(), m.line);
    }
}
