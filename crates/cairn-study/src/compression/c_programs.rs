//! The C programs: those of the paper, which are the llvm-test-suite's, and ours of the same kinds.

use std::path::{Path, PathBuf};

/// Where a program's text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// All C files of this folder of the llvm-test-suite.
    Suite(&'static str),
    /// `benchmarks/papers/compression/NAME.c`, of which there is a version by hand.
    Ours,
}

/// A program.
#[derive(Debug)]
pub struct Program {
    /// The paper's name.
    pub name: &'static str,
    /// Where its text is.
    pub origin: Origin,
    /// Arguments for a quick study. A word with a dot in it is a file in the program's folder.
    pub quick: &'static [&'static str],
    /// Arguments for a whole one: the paper's where they are known.
    pub whole: &'static [&'static str],
}

const fn suite(
    name: &'static str,
    folder: &'static str,
    quick: &'static [&'static str],
    whole: &'static [&'static str],
) -> Program {
    Program { name, origin: Origin::Suite(folder), quick, whole }
}

const fn ours(name: &'static str, quick: &'static [&'static str], whole: &'static [&'static str]) -> Program {
    Program { name, origin: Origin::Ours, quick, whole }
}

/// The paper's ten in its order, and the three of Olden that it could not compress; then ours.
pub const PROGRAMS: [Program; 19] = [
    suite("bh", "Olden/bh", &["4000", "5"], &["40000", "30"]),
    suite("bisort", "Olden/bisort", &["300000", "4", "0"], &["3000000", "4", "0"]),
    suite("em3d", "Olden/em3d", &["512", "500", "25"], &["1024", "1000", "125"]),
    suite("perimeter", "Olden/perimeter", &["10"], &["11"]),
    suite("power", "Olden/power", &[], &[]),
    suite("treeadd", "Olden/treeadd", &["20"], &["22"]),
    suite("tsp", "Olden/tsp", &["102400"], &["2048000"]),
    suite("ft", "Ptrdist/ft", &["500", "20000"], &["1500", "100000"]),
    suite("ks", "Ptrdist/ks", &["KL-2.in"], &["KL-4.in"]),
    suite("llubench", "llubenchmark", &["-i", "1000"], &["-i", "3000"]),
    suite("health", "Olden/health", &["9", "20", "1"], &["10", "40", "1"]),
    suite("mst", "Olden/mst", &["1000"], &["4000"]),
    suite("voronoi", "Olden/voronoi", &["20000", "20", "0"], &["1000000", "20", "0"]),
    ours("bisort", &["19"], &["21"]),
    ours("em3d", &["2000", "250", "100"], &["2000", "1000", "125"]),
    ours("perimeter", &["17"], &["20"]),
    ours("treeadd", &["21", "20"], &["22", "100"]),
    ours("tsp", &["19"], &["21"]),
    ours("llubench", &["2000"], &["3000"]),
];

/// The folder of our programs, in the source tree.
pub const FOLDER: &str = "benchmarks/papers/compression";

impl Program {
    /// Is it ours?
    pub fn is_ours(&self) -> bool {
        self.origin == Origin::Ours
    }

    /// What it is called in tables that have both kinds, and its executables: `our treeadd`.
    pub fn label(&self) -> String {
        if self.is_ours() { format!("our {}", self.name) } else { self.name.to_string() }
    }

    /// Its folder, given the root of the source tree and the suite's.
    pub fn folder(&self, root: &Path, suite: Option<&Path>) -> PathBuf {
        match self.origin {
            Origin::Ours => root.join(FOLDER),
            Origin::Suite(folder) => suite.unwrap_or(root).join("MultiSource/Benchmarks").join(folder),
        }
    }

    /// Its C files in that folder, in order.
    pub fn sources(&self, folder: &Path) -> Result<Vec<PathBuf>, String> {
        if self.is_ours() {
            return Ok(vec![folder.join(format!("{}.c", self.name))]);
        }
        let entries = std::fs::read_dir(folder).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
        let files = entries.filter_map(|e| Some(e.ok()?.path()));
        let mut files: Vec<PathBuf> = files.filter(|f| f.extension().is_some_and(|e| e == "c")).collect();
        files.sort();
        if files.is_empty() { Err(format!("no C files in {}", folder.display())) } else { Ok(files) }
    }

    /// Options of the compiler that its text wants: it is C of 1990.
    pub fn options(&self) -> &'static [&'static str] {
        match self.origin {
            Origin::Ours => &[],
            Origin::Suite(_) => &["-w", "-std=gnu17", "-fcommon", "-Wno-implicit-int", "-DTORONTO"],
        }
    }

    /// Its arguments.
    pub fn arguments(&self, quick: bool, folder: &Path) -> Vec<String> {
        let words = if quick { self.quick } else { self.whole };
        let file = |w: &&str| if w.contains('.') { folder.join(w).display().to_string() } else { w.to_string() };
        words.iter().map(file).collect()
    }
}
