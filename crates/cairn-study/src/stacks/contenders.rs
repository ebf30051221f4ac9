//! Who runs the programs: this compiler in three ways, and the peers, if they are there.

use crate::harness::{Lab, tool};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A way to run a program.
#[derive(Debug)]
pub struct Contender {
    /// What reports call it.
    pub name: &'static str,
    /// How executables are made.
    pub kind: Kind,
}

/// How executables are made.
#[derive(Debug)]
pub enum Kind {
    /// By this compiler.
    Ours {
        /// The frame strategy.
        frames: &'static str,
        /// `CAIRN_CHUNKS` of the run.
        chunks: &'static str,
    },
    /// By another one.
    Peer {
        /// The compiler's program.
        tool: &'static str,
        /// Arguments that make it tell its version.
        version: &'static [&'static str],
        /// What the names of its sources end in.
        suffix: &'static str,
        /// Arguments that make it write an executable, whose path follows them.
        arguments: &'static [&'static str],
    },
}

/// The new way, the old way, the new way without marks, and the others. Positions of the first are given names.
pub const CONTENDERS: [Contender; 7] = [
    Contender { name: "chunks", kind: Kind::Ours { frames: "chunks", chunks: "" } },
    Contender { name: "old way", kind: Kind::Ours { frames: "resize", chunks: "" } },
    Contender { name: "all dirty", kind: Kind::Ours { frames: "chunks", chunks: "all-dirty" } },
    Contender {
        name: "GHC",
        kind: Kind::Peer {
            tool: "ghc",
            version: &["--numeric-version"],
            suffix: ".hs",
            arguments: &["-O2", "-v0", "-o"],
        },
    },
    Contender {
        name: "GHC -threaded",
        kind: Kind::Peer {
            tool: "ghc",
            version: &["--numeric-version"],
            suffix: ".hs",
            arguments: &["-O2", "-threaded", "-v0", "-o"],
        },
    },
    Contender {
        name: "Gambit",
        kind: Kind::Peer { tool: "gsc", version: &["-v"], suffix: "-gambit.scm", arguments: &["-exe", "-o"] },
    },
    Contender {
        name: "Go",
        kind: Kind::Peer { tool: "go", version: &["version"], suffix: ".go", arguments: &["build", "-o"] },
    },
];

/// Position of `chunks`.
pub const CHUNKS: usize = 0;
/// Position of the old way.
pub const OLD: usize = 1;
/// Position of chunks without marks.
pub const ALL_DIRTY: usize = 2;
/// Position of GHC without `-threaded`.
pub const GHC: usize = 3;
/// How many contenders are this compiler's.
pub const OURS: usize = 3;

/// A program that can be run.
#[derive(Clone, Debug)]
pub struct Executable {
    /// The file.
    pub file: PathBuf,
    /// Variables of its environment.
    pub environment: Vec<(String, String)>,
}

impl Contender {
    /// "GHC 9.0.2"; for a peer that is not there, what is missing; nothing for this compiler.
    pub fn version(&self) -> Option<Result<String, String>> {
        let Kind::Peer { tool: name, version, .. } = &self.kind else { return None };
        let Some(program) = tool(name) else {
            return Some(Err(format!("{} (no program {name})", self.name)));
        };
        let text = Command::new(program).args(*version).output().map(|o| o.stdout).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        // "go version go1.19.8 linux/amd64", "v4.9.3 2018… \"./configure …", "9.0.2"
        let is_version = |w: &&str| w.contains('.') && w.contains(|c: char| c.is_ascii_digit());
        let number = text.split_whitespace().find(is_version).unwrap_or("of unknown version");
        Some(Ok(format!("{} {}", self.name, number.trim_start_matches(|c: char| c.is_ascii_alphabetic()))))
    }

    /// Makes the executable of a program; `None` when the compiler is not there, or the program not written for it.
    pub fn build(&self, lab: &mut Lab, folder: &Path, file: &str) -> Result<Option<Executable>, String> {
        match &self.kind {
            Kind::Ours { frames, chunks } => {
                let source = folder.join(format!("{file}.scm"));
                let made = lab.build(&source, &[format!("--frames={frames}")], &format!("{file}-{frames}"))?;
                let environment = vec![("CAIRN_CHUNKS".to_string(), chunks.to_string())];
                Ok(Some(Executable { file: made, environment }))
            }
            Kind::Peer { tool: name, suffix, arguments, .. } => {
                let source = folder.join(format!("{file}{suffix}"));
                let Some(compiler) = tool(name).filter(|_| source.is_file()) else { return Ok(None) };
                let target = format!("{file}-{}", self.name.to_lowercase().replace(' ', ""));
                let made = lab.build_in_copy(&source, &target, |source, executable| {
                    let mut command = Command::new(compiler);
                    command.args(*arguments).arg(executable).arg(source);
                    command
                })?;
                Ok(Some(Executable { file: made, environment: Vec::new() }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_have_names() {
        for (at, name) in [(CHUNKS, "chunks"), (OLD, "old way"), (ALL_DIRTY, "all dirty"), (GHC, "GHC")] {
            assert_eq!(CONTENDERS[at].name, name);
        }
        let ours = CONTENDERS.iter().take_while(|c| matches!(c.kind, Kind::Ours { .. })).count();
        assert_eq!(ours, OURS);
    }

    #[test]
    fn an_absent_peer_is_named() {
        let arguments = &["-o"];
        let kind = Kind::Peer { tool: "no-such-compiler", version: &["-v"], suffix: ".x", arguments };
        let absent = Contender { name: "X", kind };
        assert_eq!(absent.version(), Some(Err("X (no program no-such-compiler)".to_string())));
    }
}
