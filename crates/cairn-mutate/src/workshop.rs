//! A copy of the tree with all mutants of a sample in it, each behind its switch.
//!
//! Files are written only when their text changes, so that cargo rebuilds no more than it must. What does not compile
//! is found by `cargo check`: an error in a line takes the mutants of that line with it.

use crate::Mutant;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The function that asks whether a mutant is on, as a module of every mutated crate.
const SWITCH: &str = r#"
#[doc(hidden)]
pub mod mutant {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    static CHOSEN: AtomicU32 = AtomicU32::new(u32::MAX);
    #[inline]
    pub fn on(n: u32) -> bool {
        let chosen = CHOSEN.load(Relaxed);
        (if chosen == u32::MAX { first() } else { chosen }) == n
    }
    #[cold]
    fn first() -> u32 {
        let n = std::env::var("CAIRN_MUTANT").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
        CHOSEN.store(n, Relaxed);
        n
    }
}
"#;

/// What a copy of the tree consists of.
const PARTS: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "rustfmt.toml",
    "crates",
    "lib",
    "tests",
    "examples",
    "docs",
    "README.md",
    "ARCHITECTURE.md",
];

/// A copy of the tree.
pub struct Workshop {
    /// The sources as they are.
    pub root: PathBuf,
    /// The copy.
    pub tree: PathBuf,
    /// Where the copy is compiled.
    pub target: PathBuf,
}

/// A program of tests.
#[derive(Clone, Debug)]
pub struct TestProgram {
    /// The name of the test target, or of the crate for its unit tests.
    pub name: String,
    /// The executable.
    pub path: PathBuf,
    /// The folder of its crate, where it runs.
    pub folder: PathBuf,
}

impl Workshop {
    /// In this folder.
    pub fn new(root: &Path, folder: &Path) -> Workshop {
        Workshop { root: root.into(), tree: folder.join("tree"), target: folder.join("target") }
    }

    /// Makes the copy, with these mutants in the Rust sources.
    pub fn prepare(&self, mutants: &[Mutant]) {
        let mut wanted: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
        for part in PARTS {
            read_all(&self.root, Path::new(part), &mut wanted);
        }
        let mut crates = BTreeSet::new();
        for file in mutants.iter().map(|m| &m.file).collect::<BTreeSet<_>>() {
            if file.extension().is_none_or(|e| e != "rs") {
                continue;
            }
            let text = String::from_utf8(wanted[file].clone()).expect("UTF-8");
            wanted.insert(file.clone(), apply(&text, &of_file(mutants, file)).0.into_bytes());
            crates.insert(file.iter().take(2).collect::<PathBuf>());
        }
        for c in crates {
            wanted.get_mut(&c.join("src/lib.rs")).expect("a library").extend_from_slice(SWITCH.as_bytes());
        }
        let mut present = BTreeMap::new();
        for part in PARTS {
            read_all(&self.tree, Path::new(part), &mut present);
        }
        for path in present.keys().filter(|p| !wanted.contains_key(*p)) {
            fs::remove_file(self.tree.join(path)).expect("removing a file");
        }
        for (path, bytes) in &wanted {
            if present.get(path) != Some(bytes) {
                let path = self.tree.join(path);
                fs::create_dir_all(path.parent().expect("a folder")).expect("making a folder");
                fs::write(path, bytes).expect("writing a file");
            }
        }
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command.current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.target).args(arguments);
        // the tests run often, so a little optimization pays; checks of overflow stay
        command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1").env("CARGO_PROFILE_DEV_DEBUG", "0");
        command.env("RUSTFLAGS", "--cap-lints=warn").env("CARGO_TERM_COLOR", "never");
        // this may itself run under cargo
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG") || text.starts_with("CARGO_MANIFEST") || text.starts_with("NEXTEST") {
                command.env_remove(&name);
            }
        }
        command.env_remove("CAIRN_MUTANT");
        command
    }

    /// Makes the copy and throws out the mutants that do not compile; they are the second result.
    pub fn settle(&self, mutants: Vec<Mutant>, packages: &[&str]) -> (Vec<Mutant>, Vec<Mutant>) {
        let (mut good, mut bad) = (mutants, vec![]);
        loop {
            self.prepare(&good);
            if packages.is_empty() {
                return (good, bad);
            }
            let mut command = self.cargo(&["check", "--quiet", "--message-format=short", "--keep-going"]);
            packages.iter().for_each(|p| _ = command.args(["-p", p]));
            let output = command.output().expect("cargo runs");
            if output.status.success() {
                return (good, bad);
            }
            let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
            let wrong = self.blamed(&good, &complaints);
            assert!(!wrong.is_empty(), "the copy does not compile, and no mutant is to blame:\n{complaints}");
            let (kept, out) = good.into_iter().partition(|m: &Mutant| !wrong.contains(&m.id));
            good = kept;
            bad.extend::<Vec<_>>(out);
        }
    }

    /// The mutants in lines that have errors; failing that, those in the same file.
    fn blamed(&self, mutants: &[Mutant], complaints: &str) -> BTreeSet<u32> {
        let mut wrong = BTreeSet::new();
        for line in complaints.lines().filter(|l| l.contains(": error")) {
            let mut parts = line.split(':');
            let (Some(file), Some(Ok(number))) = (parts.next(), parts.next().map(str::parse::<usize>)) else {
                continue;
            };
            let file = Path::new(file);
            let text = fs::read_to_string(self.root.join(file)).unwrap_or_default();
            let (mutated, places) = apply(&text, &of_file(mutants, file));
            let start: usize = mutated.split_inclusive('\n').take(number - 1).map(str::len).sum();
            let end = start + mutated[start..].find('\n').unwrap_or(0);
            let hit: Vec<u32> =
                places.iter().filter(|(_, at)| at.start <= end && start <= at.end).map(|(id, _)| *id).collect();
            if hit.is_empty() {
                wrong.extend(places.iter().map(|(id, _)| *id));
            } else {
                wrong.extend(hit);
            }
        }
        wrong
    }

    /// Compiles the tests of crates; which targets they are.
    pub fn tests(&self, packages: &[&str]) -> Vec<TestProgram> {
        let mut command = self.cargo(&["test", "--quiet", "--no-run", "--tests", "--message-format=json"]);
        packages.iter().for_each(|p| _ = command.args(["-p", p]));
        let output = command.output().expect("cargo runs");
        assert!(output.status.success(), "the tests do not compile:\n{}", String::from_utf8_lossy(&output.stderr));
        let mut found = vec![];
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let (Some(path), Some(manifest)) = (field(line, "executable"), field(line, "manifest_path")) else {
                continue;
            };
            let stem = Path::new(path).file_name().and_then(|n| n.to_str()).unwrap_or_default();
            let name = stem.rsplit_once('-').map_or(stem, |(name, _)| name).to_string();
            let folder = Path::new(manifest).parent().expect("a folder").to_path_buf();
            found.push(TestProgram { name, path: path.into(), folder });
        }
        found
    }

    /// Compiles the command line; its path.
    pub fn binary(&self) -> PathBuf {
        let mut command = self.cargo(&["build", "--quiet", "-p", "cairn", "-p", "cairn-rt"]);
        let output = command.output().expect("cargo runs");
        assert!(output.status.success(), "cairn does not compile:\n{}", String::from_utf8_lossy(&output.stderr));
        self.target.join("debug/cairn")
    }

    /// A copy of `lib/` with this mutant.
    pub fn library(&self, mutant: &Mutant, folder: &Path) {
        let mut files = BTreeMap::new();
        read_all(&self.root, Path::new("lib"), &mut files);
        let text = String::from_utf8(files[&mutant.file].clone()).expect("UTF-8");
        files.insert(mutant.file.clone(), apply(&text, &[mutant]).0.into_bytes());
        for (path, bytes) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("making a folder");
            fs::write(path, bytes).expect("writing a file");
        }
    }
}

fn of_file<'a>(mutants: &'a [Mutant], file: &Path) -> Vec<&'a Mutant> {
    mutants.iter().filter(|m| m.file == file).collect()
}

/// The text with mutants in it, and where they are then.
fn apply(text: &str, mutants: &[&Mutant]) -> (String, Vec<(u32, Range<usize>)>) {
    let mut mutants = mutants.to_vec();
    mutants.sort_by_key(|m| m.span.start);
    let (mut out, mut places, mut at) = (String::new(), vec![], 0);
    for m in mutants {
        out.push_str(&text[at..m.span.start]);
        let start = out.len();
        out.push_str(&m.text.replace("{on}", &format!("crate::mutant::on({})", m.id)));
        places.push((m.id, start..out.len()));
        at = m.span.end;
    }
    out.push_str(&text[at..]);
    (out, places)
}

fn read_all(root: &Path, relative: &Path, out: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let path = root.join(relative);
    if path.is_dir() {
        for entry in fs::read_dir(&path).expect("a folder") {
            read_all(root, &relative.join(entry.expect("an entry").file_name()), out);
        }
    } else if let Ok(bytes) = fs::read(&path) {
        out.insert(relative.into(), bytes);
    }
}

/// A string field of a line of JSON, if it is there and has no escapes.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.split_once(&format!("\"{name}\":\""))?.1;
    rest.split_once('"').map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_are_put_in_their_places() {
        let found = crate::rust_faults::mutants(Path::new("x.rs"), "fn f() -> bool { 1 < 2 }");
        let drawn: Vec<Mutant> = found.into_iter().filter(|m| m.what.starts_with("`<`")).collect();
        let drawn = crate::sample(drawn, 9, 1);
        let (text, places) = apply("fn f() -> bool { 1 < 2 }", &[&drawn[0]]);
        assert_eq!(text, "fn f() -> bool { (if crate::mutant::on(1) { 1 <= 2 } else { 1 < 2 }) }");
        assert_eq!(&text[places[0].1.clone()], "(if crate::mutant::on(1) { 1 <= 2 } else { 1 < 2 })");
    }
}
