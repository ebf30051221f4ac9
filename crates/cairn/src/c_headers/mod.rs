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
//! variables in [`request::VARIABLES`].

mod declarations;
mod library;
mod preprocessed;
mod probe;
mod request;
mod source;
mod types;

use crate::c_headers::request::{CLANG, Request};
pub(crate) use source::CSource;

use crate::cache_directory::Cache;
use crate::cache_room::touch;
use crate::source::Seen;
use crate::unfinished::write_whole;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use xxhash_rust::xxh3::xxh3_128;

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
