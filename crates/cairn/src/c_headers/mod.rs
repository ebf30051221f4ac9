//! Libraries made from C headers and sources: `(import (c "sqlite3.h" "sqlite3"))`, `(import (c "kernel.c"))`.
//!
//! ```text
//! (c "zlib.h" "z")  ──clang-19──▶ what it declares ──▶ (define-library (c "zlib.h" "z")
//!                                                        (export crc32 Z_OK …)
//!                                                        (begin (c:define Z_OK 0) …))
//! ```
//!
//! The problem: what a header means only a compiler of C knows. The idea: clang says it, in three runs, and the library
//! is plain Scheme with the forms of `(cairn c)`. `preprocessed`: which files and macros there are. `declarations`: the
//! functions and types, of clang's syntax tree. `probe`: values of macros and constants, and layouts, which the tree
//! does not have, as initial values of variables of a program that is compiled to LLVM IR. `library` writes the text.
//! A source is read like a header, and `source` compiles it.
//!
//! Whatever clang was told and the files it read are kept beside the text in Cairn's cache: the next compilation asks
//! the file system, not clang.
//!
//! Invariant: the text depends on nothing but the name of the library, the files in [`Library::files`], and the
//! variables in [`VARIABLES`].

mod declarations;
mod library;
mod preprocessed;
mod probe;
mod source;
mod types;

pub(crate) use source::CSource;

use crate::Cache;
use crate::cache_room::touch;
use crate::sources::Seen;
use crate::unfinished::write_whole;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::UNIX_EPOCH;
use xxhash_rust::xxh3::xxh3_128;

/// Debian's name of the compiler.
const CLANG: &str = "clang-19";
/// What clang reads of the environment.
const VARIABLES: [&str; 3] = ["CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH"];

/// The library of some headers.
#[derive(Clone)]
pub(crate) struct Library {
    /// A `define-library`.
    pub(crate) text: String,
    /// The files that it was made of.
    pub(crate) files: Vec<(PathBuf, Seen)>,
    /// What was compiled of it.
    pub(crate) source: Option<CSource>,
}

/// What the name of a library says.
struct Request<'a> {
    headers: Vec<&'a str>,
    libraries: Vec<&'a str>,
    options: Vec<&'a str>,
    directories: Vec<PathBuf>,
    /// What the options say of directories is relative to those, too.
    beside: Vec<PathBuf>,
}

impl<'a> Request<'a> {
    fn of(parts: &[&'a str], directories: &[impl AsRef<Path>]) -> Result<Request<'a>, String> {
        let is_option = |p: &&&str| p.starts_with('-');
        let is_header = |p: &&&str| [".h", ".hh", ".hpp", ".c"].iter().any(|end| p.ends_with(end));
        let options = parts.iter().filter(is_option).copied().collect();
        let (headers, libraries): (Vec<&str>, Vec<&str>) =
            parts.iter().filter(|p| !is_option(p)).partition(is_header);
        if headers.is_empty() {
            return Err("it names no header or source, which would end in .h or .c: (c \"zlib.h\" \"z\")".into());
        }
        let is_bad = |p: &&&str| p.contains(['\n', '\0']) || !is_option(p) && p.contains(['"', '>']);
        if let Some(bad) = parts.iter().find(is_bad) {
            return Err(format!("{bad:?} is no name of a header or library"));
        }
        // clang takes an empty one for something else
        let here = |d: &Path| if d.as_os_str().is_empty() { PathBuf::from(".") } else { d.to_path_buf() };
        let directories: Vec<PathBuf> = directories.iter().map(|d| here(d.as_ref())).collect();
        let options: Vec<&str> = options;
        let relative =
            options.iter().filter_map(|o| o.strip_prefix("-I").map(Path::new)).filter(|d| d.is_relative());
        let relative: Vec<&Path> = relative.filter(|d| !d.as_os_str().is_empty()).collect();
        let beside = directories.iter().flat_map(|d| relative.iter().map(move |r| d.join(r))).collect();
        Ok(Request { headers, libraries, options, directories, beside })
    }

    fn has_source(&self) -> bool {
        self.headers.iter().any(|h| h.ends_with(".c"))
    }

    /// The lines that include the headers.
    fn includes(&self) -> String {
        self.headers.iter().map(|h| format!("#include <{h}>\n")).collect()
    }

    /// Runs clang on a text.
    fn clang(&self, arguments: &[&str], text: &str) -> Result<Output, String> {
        let mut command = Command::new(CLANG);
        for directory in self.directories.iter().chain(&self.beside) {
            command.arg("-I").arg(directory);
        }
        command.args(&self.options).args(["-w", "-fno-color-diagnostics", "-fno-caret-diagnostics"]);
        command.args(arguments).args(["-x", "c", "-"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| cannot_run(&e))?;
        let mut input = child.stdin.take().expect("is piped");
        // It may end before it has read all: then its message counts.
        let output = std::thread::scope(|s| {
            s.spawn(move || drop(input.write_all(text.as_bytes())));
            child.wait_with_output()
        });
        output.map_err(|e| cannot_run(&e))
    }

    /// What it prints, if it has no complaint.
    fn printed(&self, arguments: &[&str], text: &str) -> Result<String, String> {
        self.said(arguments, text).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What it makes with optimization, if it has no complaint.
    fn made(&self, arguments: &[&str], text: &str) -> Result<Vec<u8>, String> {
        let level = if self.options.iter().any(|o| o.starts_with("-O")) { &[][..] } else { &["-O2"] };
        self.said(&[level, arguments].concat(), text)
    }

    fn said(&self, arguments: &[&str], text: &str) -> Result<Vec<u8>, String> {
        let output = self.clang(arguments, text)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let error = said.lines().find(|l| l.contains("error:")).unwrap_or(said.lines().next().unwrap_or(""));
        let error =
            error.strip_prefix("<stdin>:").map_or(error, |e| e.split_once("error: ").map_or(e, |(_, m)| m));
        Err(format!("clang-19 says: {error}"))
    }

    /// What identifies it, but for the files.
    fn key(&self) -> String {
        // a header beside the program comes before one that was found elsewhere
        let all = || self.directories.iter().chain(&self.beside);
        let present = all().map(|d| self.headers.iter().map(|h| d.join(h).exists()));
        let present: Vec<Vec<bool>> = present.map(Iterator::collect).collect();
        let directories: Vec<_> = all().flat_map(std::path::absolute).collect();
        let variables = VARIABLES.map(std::env::var_os);
        let names = (&self.headers, &self.libraries, &self.options);
        format!(
            "{} {names:?} {directories:?} {present:?} {variables:?}",
            crate::cache::compiler_identity().unwrap_or_default()
        )
    }
}

fn cannot_run(e: &std::io::Error) -> String {
    let install = "apt-get install -y --no-install-recommends clang-19 libc6-dev";
    match e.kind() {
        std::io::ErrorKind::NotFound => {
            format!("headers of C are read by {CLANG}, which is not here\n({install})")
        }
        _ => format!("cannot run {CLANG}: {e}"),
    }
}

/// What is kept in the cache.
#[derive(Serialize, Deserialize)]
struct Kept {
    key: String,
    files: Vec<KeptFile>,
    text: String,
    source: Option<CSource>,
}

#[derive(Serialize, Deserialize)]
struct KeptFile {
    path: PathBuf,
    /// Size, and time of the last change, in nanoseconds.
    stamp: (u64, u128),
    hash: u128,
}

fn stamp(path: &Path) -> Option<(u64, u128)> {
    let m = std::fs::metadata(path).ok()?;
    Some((m.len(), m.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos()))
}

fn hash(path: &Path) -> Option<u128> {
    Some(xxh3_128(&std::fs::read(path).ok()?))
}

impl KeptFile {
    fn now(path: &Path) -> Option<KeptFile> {
        Some(KeptFile { path: path.into(), stamp: stamp(path)?, hash: hash(path)? })
    }

    fn is_the_same(&self) -> bool {
        stamp(&self.path) == Some(self.stamp) || hash(&self.path) == Some(self.hash)
    }
}

/// Where a program of this name is found.
fn found_on_path(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|d| d.join(program)).find(|p| p.is_file())
}

/// The library of what `parts` names: headers, which end in `.h`, options for clang, which begin with `-`, and C
/// libraries. Headers are looked for in these directories first.
pub(crate) fn library(parts: &[&str], directories: &[impl AsRef<Path>]) -> Result<Library, String> {
    let request = Request::of(parts, directories)?;
    let key = request.key();
    let entry = Cache::of_environment()
        .map(|cache| cache.directory().join(format!("{:032x}.c-header", xxh3_128(key.as_bytes()))));
    if let Some(kept) = entry.as_deref().and_then(|path| find(path, &key)) {
        kept.source.iter().for_each(CSource::register);
        return Ok(made(kept));
    }
    let before = preprocessed::read(&request)?;
    let declared = declarations::read(&request, &before)?;
    let probed = probe::read(&request, &before, &declared)?;
    let made_of = request.has_source().then(|| source::compile(&request, &before, &declared)).transpose()?;
    let text = library::write(parts, &request, &before, &declared, &probed, made_of.as_ref());
    let source = made_of.map(|made| made.source);
    let clang = found_on_path(CLANG);
    let results = source.as_ref().map(CSource::files).unwrap_or_default();
    let files = before.files.iter().chain(&results).map(|f| &**f).chain(clang.as_deref());
    let files: BTreeSet<&Path> = files.collect();
    let whole = files.len();
    let files: Vec<KeptFile> = files.into_iter().filter_map(KeptFile::now).collect();
    let kept = Kept { key, text, files, source };
    if let Some(path) = entry.filter(|_| kept.files.len() == whole)
        && let Ok(bytes) = serde_json::to_vec(&kept)
    {
        // Without a cache clang is asked again.
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = write_whole(&path, &bytes);
    }
    Ok(made(kept))
}

/// The library as it was kept, if all it was made of is the same. A clang that has gone changes nothing.
fn find(path: &Path, key: &str) -> Option<Kept> {
    let kept: Kept = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    let same = |f: &KeptFile| f.is_the_same() || f.path.ends_with(CLANG) && !f.path.exists();
    let found = (kept.key == key && kept.files.iter().all(same)).then_some(kept)?;
    touch(path);
    Some(found)
}

fn made(kept: Kept) -> Library {
    let of_c = kept.files.iter().filter(|f| !f.path.ends_with(CLANG));
    let files = of_c.map(|f| (f.path.clone(), Seen::Text(f.hash))).collect();
    Library { text: kept.text, files, source: kept.source }
}

/// For programs that evaluate.
pub(crate) fn text(parts: &[&str], directories: &[&Path]) -> Result<String, String> {
    library(parts, directories).map(|library| library.text)
}
