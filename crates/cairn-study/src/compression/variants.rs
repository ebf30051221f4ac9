//! The ways to build and run a program that are compared.

use super::c_programs::Program;
use crate::measure::Run;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// A way to build and run a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// `clang-19 -O2`, malloc of the C library: the paper's NoPA.
    Malloc,
    /// The executable of [`Self::Malloc`] with mimalloc.
    Mimalloc,
    /// The executable of [`Self::Malloc`] with jemalloc.
    Jemalloc,
    /// `cairn cc -O2 --ptrcomp=pool`: the paper's PA.
    Pool,
    /// `cairn cc -O2 --ptrcomp=static`: the paper's PC.
    Static,
    /// `cairn cc -O2 --ptrcomp=dynamic`: pools that can be expanded, and are not.
    Dynamic,
    /// Dynamic pools with indices of 16 bits: expanded at 256 KiB.
    Dynamic16,
    /// Dynamic pools with indices of 8 bits: expanded at 1 KiB.
    Dynamic8,
    /// `clang-19 -O2 -DBY_HAND`: pools of 32-bit offsets, written by a person.
    Hand,
}

/// All, in the order of figures' legends.
pub const VARIANTS: [Variant; 9] = [
    Variant::Malloc,
    Variant::Mimalloc,
    Variant::Jemalloc,
    Variant::Pool,
    Variant::Static,
    Variant::Dynamic,
    Variant::Hand,
    Variant::Dynamic16,
    Variant::Dynamic8,
];

impl Variant {
    /// In tables and legends.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Malloc => "malloc",
            Variant::Mimalloc => "mimalloc",
            Variant::Jemalloc => "jemalloc",
            Variant::Pool => "pool",
            Variant::Static => "static",
            Variant::Dynamic => "dynamic",
            Variant::Dynamic16 => "dynamic, 16 bits",
            Variant::Dynamic8 => "dynamic, 8 bits",
            Variant::Hand => "by hand",
        }
    }

    /// Is it made to be expanded, and only measured for that?
    pub fn is_short(self) -> bool {
        matches!(self, Variant::Dynamic16 | Variant::Dynamic8)
    }

    /// The variant whose executable this one runs.
    pub fn executable(self) -> Variant {
        match self {
            Variant::Mimalloc | Variant::Jemalloc => Variant::Malloc,
            other => other,
        }
    }

    /// The compiler of that executable.
    pub fn compiler(self, cairn: &Path) -> OsString {
        match self {
            Variant::Malloc | Variant::Mimalloc | Variant::Jemalloc | Variant::Hand => "clang-19".into(),
            _ => cairn.into(),
        }
    }

    /// The compiler's arguments, but for the output.
    pub fn options(self, program: &Program, sources: &[std::path::PathBuf]) -> Vec<OsString> {
        let first: &[&str] = match self {
            Variant::Pool => &["cc", "-O2", "--ptrcomp=pool"],
            Variant::Static => &["cc", "-O2", "--ptrcomp=static"],
            Variant::Dynamic => &["cc", "-O2", "--ptrcomp=dynamic"],
            Variant::Dynamic16 => &["cc", "-O2", "--ptrcomp=dynamic", "--pool-bits=16"],
            Variant::Dynamic8 => &["cc", "-O2", "--ptrcomp=dynamic", "--pool-bits=8"],
            Variant::Hand => &["-O2", "-DBY_HAND"],
            _ => &["-O2"],
        };
        let mut all: Vec<OsString> = first.iter().chain(program.options()).map(OsString::from).collect();
        all.extend(sources.iter().map(OsString::from));
        all.push("-lm".into());
        all
    }

    /// Variables of the environment in which it runs.
    pub fn environment(self) -> Vec<(String, String)> {
        let library = self.library();
        library.iter().map(|l| ("LD_PRELOAD".to_string(), l.to_string())).collect()
    }

    fn library(self) -> Option<&'static str> {
        match self {
            Variant::Mimalloc => Some("libmimalloc.so.2"),
            Variant::Jemalloc => Some("libjemalloc.so.2"),
            _ => None,
        }
    }

    /// Is what it needs installed? The loader names libraries that it does not find, and goes on without them.
    pub fn is_there(self) -> bool {
        let Some(library) = self.library() else { return true };
        let output = Command::new("true").env("LD_PRELOAD", library).output();
        output.is_ok_and(|o| o.status.success() && o.stderr.is_empty())
    }

    /// A run of the executable in this way.
    pub fn run(self, executable: &Path, arguments: &[String], expected: Option<&str>) -> Run {
        Run {
            arguments: arguments.to_vec(),
            environment: self.environment(),
            expected: expected.map(str::to_string),
            ..Run::of(executable)
        }
    }
}
