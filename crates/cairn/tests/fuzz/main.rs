//! Random programs through the whole system: all configurations must answer alike.
//!
//! A program (`generate.rs`) is compiled under low and high optimization for every frame strategy and collector and
//! run, and once more under zeal. Outputs are compared; a difference is made small by leaving out forms and parts of
//! forms as long as some difference remains, and shown with the configurations that differ.
//!
//! `cargo test` tries a few fixed seeds. `CAIRN_FUZZ_SECONDS=600` goes on for so long, from the seed `CAIRN_FUZZ_SEED`
//! on; `CAIRN_FUZZ_KEEP=directory` keeps what was found.

mod generate;
mod passes;
mod shrink;
mod ways;

#[path = "../common/mod.rs"]
mod common;
use common::binary;
use common::matrix::{self, Configuration, Mode};

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Tests in one program: enough to make its compilation worth while.
const TESTS: usize = 24;
/// How often the prelude runs each test, with other inputs.
const INPUTS: usize = 5;
/// Programs tried by `cargo test`.
const PROGRAMS: u64 = 1;
/// A command that is given as the arguments, ended if it hangs: when it has taken a minute of processor time, or
/// `CAIRN_FUZZ_PATIENCE` seconds, or ten times as long by the clock, for the machine may be busy.
fn patiently() -> Command {
    let patience = number("CAIRN_FUZZ_PATIENCE").unwrap_or(60);
    let mut command = Command::new("timeout");
    command.arg((10 * patience).to_string());
    command.args(["sh", "-c", "ulimit -t $0; exec \"$@\""]).arg(patience.to_string());
    command
}

/// Strategies and collectors with full optimization, with low optimization and under zeal: those in whose share the
/// seed is, after the usual pair. Who fuzzes for a while leaves out nothing.
fn configurations(seed: u64) -> Vec<Configuration> {
    let whole = number("CAIRN_FUZZ_SECONDS").is_some();
    let ways = |c: Configuration| [c, Configuration { opt: "low", ..c }, c.with_mode(Mode::Zeal)];
    let others = matrix::pairs().flat_map(ways).skip(1).filter(|c| whole || c.shares(seed as usize));
    [Configuration::usual()].into_iter().chain(others).collect()
}

/// The options of a configuration but for how hard LLVM works: what is looked for are Cairn's faults.
fn without_llvm(c: Configuration) -> impl Iterator<Item = String> {
    c.flags("").into_iter().filter(|f| !f.starts_with("--llvm"))
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|n| n.parse().ok())
}

/// A directory for the programs of one seed and what is compiled from them.
struct Workshop {
    directory: PathBuf,
}

impl Workshop {
    fn new(seed: u64) -> Workshop {
        let directory = std::env::temp_dir().join(format!("cairn-fuzz-{}-{seed}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        Workshop { directory }
    }

    /// What the program writes in this configuration, and how it ends.
    fn observe(&self, text: &str, c: Configuration) -> String {
        let file = self.directory.join("program.scm");
        std::fs::write(&file, text).unwrap();
        let output = patiently()
            .arg(binary())
            .args(["run", "--heap-max=512M", "--llvm=none"])
            .args(without_llvm(c))
            .arg(&file)
            .env("CAIRN_CACHE_DIR", self.directory.join("cache"))
            .env("CAIRN_ZEAL", if c.mode == Mode::Zeal { "1" } else { "0" })
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        match output.status.code() {
            Some(0) => out.into_owned(),
            status => {
                // backtraces and the places of errors may differ between optimization levels
                let why = err.lines().find(|l| !l.is_empty() && !l.starts_with("warning")).unwrap_or("");
                format!("{out}\n{why}\nstatus {}", status.map_or("killed".into(), |s| s.to_string()))
            }
        }
    }

    /// The first two configurations that differ, of these.
    fn difference(&self, text: &str, of: &[Configuration]) -> Option<(Configuration, Configuration)> {
        let first = self.observe(text, of[0]);
        // A program that ends early has not been tested; the generator must not make such.
        let other = of[1..].iter().find(|c| self.observe(text, **c) != first)?;
        Some((of[0], *other))
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn text(forms: &[String]) -> String {
    format!("{}{}\n", generate::PRELUDE, forms.join("\n"))
}

/// Tries one seed; the result describes a difference.
fn try_seed(seed: u64) -> Result<(), String> {
    let forms = generate::Generator::new(seed).program(TESTS);
    let shop = Workshop::new(seed);
    let program = text(&forms);
    let first = shop.observe(&program, Configuration::usual());
    let pair = match shop.difference(&program, &configurations(seed)) {
        None if first.lines().count() >= TESTS * INPUTS && !first.contains("\nstatus ") => return Ok(()),
        None => return Err(format!("seed {seed}: the program does not run to its end:\n{first}\n{program}")),
        Some((a, b)) => [a, b],
    };
    let [one, two] = pair.map(|c| shop.observe(&program, c));
    let (left, right) = one.lines().zip(two.lines()).find(|(a, b)| a != b).unwrap_or(("…", "…"));
    let names = pair.map(|c| c.name()).join(" and ");
    eprintln!("seed {seed}: {names} differ, making it smaller\n  {left}\n  {right}");
    // first of all, the other tests
    let number = left.trim_start_matches('(').split(' ').next().unwrap_or_default();
    let alone = |f: &&String| !f.starts_with("(test ") || f.starts_with(&format!("(test {number} "));
    let alone: Vec<String> = forms.iter().filter(alone).cloned().collect();
    let forms = if shop.difference(&text(&alone), &pair).is_some() { alone } else { forms };
    let small = shrink::shrink(forms, |forms| shop.difference(&text(forms), &pair).is_some());
    let shown = text(&small);
    if let Some(directory) = std::env::var_os("CAIRN_FUZZ_KEEP") {
        let _ = std::fs::write(Path::new(&directory).join(format!("seed-{seed}.scm")), &shown);
    }
    let [a, b] = pair.map(|c| format!("{}:\n{}", c.name(), shop.observe(&shown, c)));
    Err(format!(
        "seed {seed}: two configurations differ\n--- {a}\n--- {b}\n--- after the prelude\n{}",
        small.join("\n")
    ))
}

#[test]
fn all_configurations_answer_alike() {
    let first = number("CAIRN_FUZZ_SEED").unwrap_or(1);
    let end = number("CAIRN_FUZZ_SECONDS").map(|s| Instant::now() + Duration::from_secs(s));
    let mut problems = vec![];
    let mut seed = first;
    while match end {
        Some(end) => Instant::now() < end,
        None => seed < first + PROGRAMS,
    } {
        if let Err(problem) = try_seed(seed) {
            eprintln!("{problem}\n");
            problems.push(problem);
        }
        seed += 1;
    }
    eprintln!("{} programs, {} tests", seed - first, (seed - first) * (TESTS * INPUTS) as u64);
    assert!(problems.is_empty(), "{} of {} programs:\n{}", problems.len(), seed - first, problems.join("\n\n"));
}

#[test]
fn the_generator_is_deterministic_and_its_forms_are_balanced() {
    for seed in 0..200 {
        let forms = generate::Generator::new(seed).program(TESTS);
        assert_eq!(forms, generate::Generator::new(seed).program(TESTS));
        for form in forms {
            assert_eq!(shrink::parse(&form).to_string(), form, "seed {seed}");
        }
    }
}
