//! The parts of Cairn that are mutated, and what tests them.

use crate::{Mutant, rust_faults, scheme_faults};
use std::path::{Path, PathBuf};

/// A part of the sources.
pub struct Area {
    /// On the command line and in the report.
    pub name: &'static str,
    /// Files and folders below the root.
    pub sources: &'static [&'static str],
    /// Files of those that no test is meant for: printers for people, say.
    pub except: &'static [&'static str],
    /// The crates whose own tests are run; none for `lib/`.
    pub packages: &'static [&'static str],
    /// How whole programs are run.
    pub modes: &'static [&'static str],
}

/// All areas.
pub const AREAS: &[Area] = &[
    Area {
        name: "num",
        sources: &["crates/cairn-num/src"],
        except: &[],
        packages: &["cairn-num"],
        modes: &["run"],
    },
    Area {
        name: "heap",
        sources: &["crates/cairn-heap/src"],
        except: &["crates/cairn-heap/src/stats.rs"],
        packages: &["cairn-heap"],
        modes: &["run", "zeal"],
    },
    Area {
        name: "layout",
        sources: &["crates/cairn-layout/src"],
        except: &[],
        packages: &["cairn-layout", "cairn-heap", "cairn-frame"],
        modes: &["run"],
    },
    Area {
        name: "frame",
        sources: &["crates/cairn-frame/src"],
        except: &[
            "crates/cairn-frame/src/interp.rs",
            "crates/cairn-frame/src/print.rs",
            "crates/cairn-frame/src/parse.rs",
        ],
        packages: &["cairn-frame"],
        modes: &["run", "heap"],
    },
    Area {
        name: "core",
        sources: &["crates/cairn-core/src/passes"],
        except: &[],
        packages: &["cairn-core"],
        modes: &["run"],
    },
    Area { name: "lib", sources: &["lib"], except: &[], packages: &[], modes: &["run"] },
];

impl Area {
    /// The area of this name.
    pub fn named(name: &str) -> Option<&'static Area> {
        AREAS.iter().find(|a| a.name == name)
    }

    /// Every mutant of its sources.
    pub fn mutants(&self, root: &Path) -> Vec<Mutant> {
        let mut files = vec![];
        for source in self.sources {
            collect(&root.join(source), &mut files);
        }
        files.sort();
        let mut found = vec![];
        for path in files {
            let relative = path.strip_prefix(root).expect("below the root");
            if self.except.iter().any(|e| relative == Path::new(e)) || is_tests(relative) {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a readable source");
            match path.extension().and_then(|e| e.to_str()) {
                Some("rs") => found.extend(rust_faults::mutants(relative, &text)),
                Some("scm" | "sld") => found.extend(scheme_faults::mutants(relative, &text)),
                _ => {}
            }
        }
        found
    }
}

/// A file of unit tests: `tests.rs`, and what those use.
fn is_tests(path: &Path) -> bool {
    matches!(path.file_name().and_then(|n| n.to_str()), Some("tests.rs" | "testing.rs" | "random.rs"))
}

/// All files of a folder of sources, below the root.
pub(crate) fn files(root: &Path, folder: &str) -> Vec<PathBuf> {
    let mut found = vec![];
    collect(&root.join(folder), &mut found);
    found.iter().map(|f| f.strip_prefix(root).expect("below the root").to_path_buf()).collect()
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a folder of sources") {
            collect(&entry.expect("an entry").path(), files);
        }
    } else {
        files.push(path.to_path_buf());
    }
}
