//! Does a test notice a mutant?
//!
//! In this order, until one does: the crate's own tests except golden files, whole programs with their output (as
//! they are, then under zeal, then with frames in the heap), the tests of the command that look at behaviour, and
//! last the golden files, which are counted apart: a golden file notices every change, right or wrong. What takes far
//! longer than without a mutant is caught, too, by whoever waits for it.

use crate::areas::Area;
use crate::workshop::{TestProgram, Workshop};
use crate::{Mutant, workshop};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// By a test of behaviour, named.
    Caught(String),
    /// By this test, which did not come to its end.
    TimedOut(String),
    /// By this golden file only.
    Golden(String),
    /// By nobody.
    Survived,
}

/// Test targets of the command that say something about behaviour; the others are about its form, or take too long.
const BEHAVIOUR: &[&str] =
    &["numbers_by_oracle", "ports_by_oracle", "mutators", "control_by_oracle", "joins", "faults"];

/// Whatever compares golden files has this in its name.
const GOLDEN: &str = "golden";

struct Program {
    path: PathBuf,
    expected: String,
    text: String,
    /// How long it takes in each mode of the area.
    usual: Vec<Duration>,
}

/// Programs that take longer than this in some mode are not run in it: there are too many mutants.
const LONGEST: Duration = Duration::from_secs(10);

/// Runs the tests.
pub struct Judge {
    tree: PathBuf,
    own: Vec<TestProgram>,
    behaviour: Vec<TestProgram>,
    programs: Vec<Program>,
    modes: &'static [&'static str],
    /// Do they pass without a mutant? Asked when one seems to be caught.
    sound: Mutex<HashMap<(PathBuf, String), bool>>,
    binary: PathBuf,
    /// How long each of `own` takes.
    usual: Vec<Duration>,
    folder: PathBuf,
}

impl Judge {
    /// For an area, in a workshop where its mutants are in place. Nothing may fail as long as no mutant is on.
    pub fn new(area: &Area, shop: &Workshop, binary: Option<PathBuf>, quick: bool, programs_only: bool) -> Judge {
        let own = if area.packages.is_empty() { vec![] } else { shop.tests(area.packages) };
        let programs = if quick && !area.packages.is_empty() { vec![] } else { programs(&shop.tree) };
        let with_command = !programs.is_empty();
        let binary = binary.unwrap_or_else(|| if with_command { shop.binary() } else { PathBuf::new() });
        let mut behaviour = if with_command && !quick && !programs_only { shop.tests(&["cairn"]) } else { vec![] };
        behaviour.retain(|t| BEHAVIOUR.contains(&t.name.as_str()));
        let folder = shop.target.join("judge");
        let mut judge = Judge {
            tree: shop.tree.clone(),
            own,
            behaviour,
            programs,
            modes: area.modes,
            sound: Mutex::default(),
            binary,
            usual: vec![],
            folder,
        };
        for i in 0..judge.own.len() {
            let began = Instant::now();
            let result = judge.test(&judge.own[i], 0, None, Duration::from_secs(600));
            assert!(result.is_none(), "{} fails without a mutant", judge.own[i].name);
            judge.usual.push(began.elapsed());
        }
        if quick || !area.modes.contains(&"zeal") {
            // these are all fast enough
            judge.programs.iter_mut().for_each(|p| p.usual = vec![LONGEST; judge.modes.len()]);
            return judge;
        }
        for i in 0..judge.programs.len() {
            for mode in judge.modes {
                let scratch = judge.folder.join("0");
                let _ = std::fs::remove_dir_all(&scratch);
                let (began, p) = (Instant::now(), &judge.programs[i]);
                let late = judge.program(p, mode, 0, None, &scratch, LONGEST + Duration::from_secs(1));
                assert!(late != Some(false), "{} ({mode}) fails without a mutant", p.path.display());
                judge.programs[i].usual.push(began.elapsed());
            }
        }
        judge
    }

    /// Looks for a test that notices.
    pub fn verdict(&self, shop: &workshop::Workshop, mutant: &Mutant) -> Verdict {
        let scratch = self.folder.join(mutant.id.to_string());
        let _ = std::fs::remove_dir_all(&scratch);
        std::fs::create_dir_all(&scratch).expect("a folder");
        let in_library = mutant.file.starts_with("lib");
        if in_library {
            shop.library(mutant, &scratch);
        }
        let verdict = self.search(mutant, in_library.then(|| scratch.join("lib")), &scratch);
        let _ = std::fs::remove_dir_all(&scratch);
        verdict
    }

    fn search(&self, mutant: &Mutant, lib: Option<PathBuf>, scratch: &Path) -> Verdict {
        let patience = |usual: Duration| usual * 6 + Duration::from_secs(5);
        for golden in [false, true] {
            for (test, usual) in self.own.iter().zip(&self.usual) {
                if let Some(late) = self.test(test, mutant.id, Some(golden), patience(*usual)) {
                    return match (golden, late) {
                        (true, _) => Verdict::Golden(test.name.clone()),
                        (false, true) => Verdict::TimedOut(test.name.clone()),
                        (false, false) => Verdict::Caught(test.name.clone()),
                    };
                }
            }
            if golden {
                continue;
            }
            // programs that mention what was changed come first
            let name = mutant.within.split("::").next().unwrap_or_default();
            let (near, far): (Vec<_>, Vec<_>) =
                self.programs.iter().partition(|p| lib.is_some() && p.text.contains(name));
            for (i, mode) in self.modes.iter().enumerate() {
                for program in near.iter().chain(&far) {
                    let usual = program.usual[i];
                    if usual > LONGEST {
                        continue;
                    }
                    let try_within =
                        |limit| self.program(program, mode, mutant.id, lib.as_deref(), scratch, limit);
                    let limit = patience(usual);
                    let mut failure = try_within(limit);
                    if failure == Some(true) {
                        // the machine may have become slower, and a changed library is compiled first
                        let now = self.time_of_sound(program, mode, lib.is_some()).map(patience);
                        failure = now.and_then(|now| if now > limit { try_within(now) } else { failure });
                    }
                    if let Some(late) = failure
                        && self.is_sound(program, mode, lib.is_some())
                    {
                        let name = program.path.file_stem().and_then(|n| n.to_str()).unwrap_or_default();
                        let by = format!(
                            "{name}.scm{}",
                            if *mode == "run" { String::new() } else { format!(" ({mode})") }
                        );
                        return if late { Verdict::TimedOut(by) } else { Verdict::Caught(by) };
                    }
                }
            }
            for test in &self.behaviour {
                let mut command = self.command(test, mutant.id, Duration::from_secs(300));
                command.env("CAIRN_BINARY", &self.binary).env("CAIRN_CACHE_DIR", scratch.join("cache"));
                lib.iter().for_each(|l| _ = command.env("CAIRN_LIB", l));
                if let Some(late) = failed(&mut command) {
                    return if late {
                        Verdict::TimedOut(test.name.clone())
                    } else {
                        Verdict::Caught(test.name.clone())
                    };
                }
            }
        }
        Verdict::Survived
    }

    /// For the list of `named.rs`: the tests of these crates, and all programs.
    pub fn of_named(shop: &Workshop) -> Judge {
        Judge {
            tree: shop.tree.clone(),
            own: shop.tests(&["cairn-core", "cairn-num", "cairn"]),
            behaviour: vec![],
            programs: programs(&shop.tree),
            modes: &["run", "zeal"],
            sound: Mutex::default(),
            binary: shop.binary(),
            usual: vec![],
            folder: shop.target.join("judge"),
        }
    }

    /// Does this test catch the mutant (or, with 0, fail without one)?
    pub fn catches(&self, shop: &Workshop, mutant: Option<&Mutant>, by: &str) -> bool {
        let id = mutant.map_or(0, |m| m.id);
        let scratch = self.folder.join(format!("{id}-{by}"));
        let _ = std::fs::remove_dir_all(&scratch);
        std::fs::create_dir_all(&scratch).expect("a folder");
        let lib = mutant.filter(|m| m.file.starts_with("lib")).map(|m| {
            shop.library(m, &scratch);
            scratch.join("lib")
        });
        let patience = Duration::from_secs(600);
        let caught = if let Some(program) = by.strip_suffix(".scm") {
            let of = |p: &&Program| p.path.file_stem().is_some_and(|n| n == program);
            let p = self.programs.iter().find(of).expect("the program is there");
            self.modes.iter().any(|mode| self.program(p, mode, id, lib.as_deref(), &scratch, patience).is_some())
        } else {
            let test = self.own.iter().find(|t| t.name == by).expect("the test is there");
            let mut command = self.command(test, id, patience);
            command.env("CAIRN_BINARY", &self.binary).env("CAIRN_CACHE_DIR", scratch.join("cache"));
            lib.iter().for_each(|l| _ = command.env("CAIRN_LIB", l));
            failed(&mut command).is_some()
        };
        let _ = std::fs::remove_dir_all(&scratch);
        caught
    }

    /// Does the program pass in this mode as things are? A test that fails anyway catches nothing.
    fn is_sound(&self, p: &Program, mode: &str, in_library: bool) -> bool {
        let key = (p.path.clone(), mode.to_string());
        if let Some(known) = self.sound.lock().expect("no panic").get(&key) {
            return *known;
        }
        let sound = self.time_of_sound(p, mode, in_library).is_some();
        self.sound.lock().expect("no panic").insert(key, sound);
        sound
    }

    /// How long the program takes in this mode as things are, if it passes.
    fn time_of_sound(&self, p: &Program, mode: &str, in_library: bool) -> Option<Duration> {
        let scratch = self.folder.join(format!("0-{:?}", std::thread::current().id()));
        let lib = self.tree.join("lib");
        let (began, limit) = (Instant::now(), Duration::from_secs(600));
        let sound = self.program(p, mode, 0, in_library.then_some(&lib), &scratch, limit).is_none();
        if !sound {
            eprintln!("{} ({mode}) fails without a mutant, and is left out", p.path.display());
        }
        let _ = std::fs::remove_dir_all(&scratch);
        sound.then(|| began.elapsed())
    }

    fn command(&self, test: &TestProgram, id: u32, patience: Duration) -> Command {
        let mut command = Command::new("timeout");
        command.args(["-k", "1", &patience.as_secs().max(1).to_string()]).arg(&test.path);
        command.current_dir(&test.folder).env("CAIRN_MUTANT", id.to_string());
        command
    }

    /// `Some` when it fails: `true` when it is late. Golden tests only, all others, or all.
    fn test(&self, test: &TestProgram, id: u32, golden: Option<bool>, patience: Duration) -> Option<bool> {
        let is_golden = test.name.contains(GOLDEN);
        let mut command = self.command(test, id, patience);
        match golden {
            Some(false) if is_golden => return None,
            Some(false) => _ = command.args(["--skip", GOLDEN]),
            Some(true) if !is_golden => _ = command.arg(GOLDEN),
            _ => {}
        }
        failed(&mut command)
    }

    fn program(
        &self,
        p: &Program,
        mode: &str,
        id: u32,
        lib: Option<&Path>,
        scratch: &Path,
        limit: Duration,
    ) -> Option<bool> {
        let first = p.text.lines().next().unwrap_or_default();
        let arguments = first.strip_prefix(";; args: ").unwrap_or_default().split_whitespace();
        let mut command = Command::new("timeout");
        command.args(["-k", "1", &limit.as_secs().to_string()]).arg(&self.binary).arg("run");
        command.arg(if mode == "heap" { "--frames=heap" } else { "--frames=chunks" });
        if lib.is_some() {
            // what a program needs of the changed library is compiled in a second; all of it in minutes
            command.args(["--opt=low", "--llvm=none"]);
        }
        command.arg(&p.path).args(arguments).current_dir(&self.tree);
        command.env("CAIRN_MUTANT", id.to_string()).env("CAIRN_CACHE_DIR", scratch.join("cache"));
        command.env("CAIRN_ZEAL", if mode == "zeal" { "1" } else { "0" });
        if let Some(limit) = first.strip_prefix(";; heap-max: ") {
            command.env("CAIRN_HEAP_MAX", limit.trim());
        }
        lib.iter().for_each(|l| _ = command.env("CAIRN_LIB", l));
        let input = self.tree.join(&p.path).with_extension("in");
        command.stdin(if input.exists() {
            std::fs::File::open(input).expect("input").into()
        } else {
            Stdio::null()
        });
        let output = command.stderr(Stdio::null()).output().expect("a program runs");
        let late = output.status.code() == Some(124);
        (late || output.stdout != p.expected.as_bytes()).then_some(late)
    }
}

/// `Some` when it fails: `true` when it is late.
fn failed(command: &mut Command) -> Option<bool> {
    let status =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("tests run");
    (!status.success()).then_some(status.code() == Some(124))
}

fn programs(tree: &Path) -> Vec<Program> {
    let mut found = vec![];
    for folder in ["tests/scheme", "tests/programs", "tests/messages"] {
        for entry in std::fs::read_dir(tree.join(folder)).expect("a folder of programs") {
            let path = entry.expect("an entry").path();
            let Ok(expected) = std::fs::read_to_string(path.with_extension("out")) else { continue };
            if path.extension().is_some_and(|e| e == "scm") {
                let text = std::fs::read_to_string(&path).expect("a program");
                found.push(Program {
                    path: path.strip_prefix(tree).expect("inside").into(),
                    expected,
                    text,
                    usual: vec![],
                });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}
