//! Other systems that run the small programs: Chez Scheme, Standard ML of New Jersey, OCaml. One that is not installed
//! is left out, and the report says so.
//!
//! How they keep frames: Chez in segments of a stack (Hieb, Dybvig and Bruggeman 1990), SML/NJ in the heap, OCaml on
//! the system's stack. Chez runs the very text that Cairn compiles; texts in ML are beside it.
//!
//! Times are of whole processes, less the time of the same process with no work to do, so that starting does not count.

use crate::harness::{Lab, tool};
use crate::measure::Run;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One of the systems.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Peer {
    /// Chez Scheme.
    Chez,
    /// Standard ML of New Jersey.
    SmlNj,
    /// OCaml's compiler to native code.
    OCaml,
}

impl Peer {
    /// All of them.
    pub const ALL: [Peer; 3] = [Peer::Chez, Peer::SmlNj, Peer::OCaml];

    /// What the report calls it.
    pub fn name(self) -> &'static str {
        match self {
            Peer::Chez => "Chez",
            Peer::SmlNj => "SML/NJ",
            Peer::OCaml => "OCaml",
        }
    }

    /// The command that it is; `None` if it is not installed.
    pub fn command(self) -> Option<PathBuf> {
        tool(match self {
            Peer::Chez => "scheme",
            Peer::SmlNj => "sml",
            Peer::OCaml => "ocamlopt",
        })
    }

    /// What it says of its version; empty if it says nothing.
    pub fn version(self) -> String {
        let Some(command) = self.command() else { return String::new() };
        let option = if self == Peer::SmlNj { "@SMLversion" } else { "--version" };
        let output = Command::new(command).arg(option).output();
        let said = output.map(|o| [o.stdout, o.stderr].concat()).unwrap_or_default();
        String::from_utf8_lossy(&said).split_whitespace().last().unwrap_or_default().to_string()
    }

    /// A run of a small program, without the amount of work; `None` if the system, or a text for it, is not there.
    pub fn prepare(self, lab: &mut Lab, scheme: &Path) -> Result<Option<Run>, String> {
        let Some(command) = self.command() else { return Ok(None) };
        let name = scheme.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let suffix = match self {
            Peer::Chez => return chez(lab, &command, &name, scheme).map(Some),
            Peer::SmlNj => "sml",
            Peer::OCaml => "ml",
        };
        let text = scheme.with_extension(suffix);
        if !text.is_file() {
            return Ok(None);
        }
        // A copy, since OCaml's compiler leaves files beside the text.
        let copy = lab.write(&name, suffix, &read(&text)?)?;
        let built = copy.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let executable =
            lab.build_by(&copy, &format!("{built}-{suffix}"), |path| self.compiler(&command, &copy, path))?;
        Ok(Some(match self {
            Peer::SmlNj => {
                Run { arguments: vec![format!("@SMLload={}", executable.display())], ..Run::of(&command) }
            }
            Peer::Chez | Peer::OCaml => Run::of(&executable),
        }))
    }

    /// What makes an executable, or an image, of a text.
    fn compiler(self, command: &Path, text: &Path, result: &Path) -> Command {
        if self == Peer::SmlNj {
            let mut shell = Command::new("sh");
            // The system adds the name of the machine to that of the image.
            shell.args(["-c", "\"$0\" \"$1\" </dev/null && mv \"$IMAGE\".* \"$IMAGE\""]);
            shell.arg(command).arg(text).env("IMAGE", result);
            return shell;
        }
        let mut compiler = Command::new(command);
        compiler.arg("-O3").arg(text).arg("-o").arg(result);
        compiler
    }
}

fn chez(lab: &Lab, command: &Path, name: &str, scheme: &Path) -> Result<Run, String> {
    let program = lab.write(name, "ss", &for_chez(&read(scheme)?))?;
    let arguments = ["--optimize-level", "2", "--program"].map(String::from);
    let arguments = arguments.into_iter().chain([program.display().to_string()]).collect();
    Ok(Run { arguments, ..Run::of(command) })
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

/// The text as a program of R6RS, which Chez runs: another import, and nothing else.
fn for_chez(text: &str) -> String {
    let lines = text.lines().map(|l| if l.starts_with("(import ") { "(import (chezscheme))" } else { l });
    lines.flat_map(|l| [l, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chez_gets_its_own_import() {
        let text = ";;; Text.\n(import (scheme base) (scheme write))\n(write 1)\n";
        assert_eq!(for_chez(text), ";;; Text.\n(import (chezscheme))\n(write 1)\n");
    }
}
