//! Compiled programs, by content.
//!
//! The problem: compiling takes a second, starting a compiled script a few milliseconds. The idea: the object code of a program
//! is kept under a hash of everything it depends on. A *manifest*, found by the program's path and the options, lists the
//! files that were read, each with the hash of its contents; when all still match, the object named by their
//! combined hash is used without compiling.
//!
//! ```text
//!  ~/.cache/cairn/<hash of path, options, compiler>.manifest      file hash, file hash, …
//!  ~/.cache/cairn/<hash of manifest>.o
//!  ~/.cache/cairn/<hash of manifest>.warnings                     if there were any: shown again each time
//! ```
//!
//! Files are written under a temporary name and renamed, so that concurrent runs see whole files only. Every failure of
//! the cache itself only means that the program is compiled. Programs with warnings are not kept: the warnings are to be seen
//! every time. `CAIRN_CACHE_DIR` moves it, `--no-cache` avoids it.

use crate::Failure;
use crate::cli::CompileOptions;
use crate::library::lib_override;
use crate::pipeline;
use std::fs;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// The object code of a program: from the cache, or compiled now.
pub fn object(file: &Path, options: &CompileOptions) -> Result<Vec<u8>, Failure> {
    let cached = options.cache && lib_override().is_none();
    let entry = cached.then(|| Entry::new(file, options)).flatten();
    if let Some((object, warnings)) = entry.as_ref().and_then(Entry::find) {
        eprint!("{warnings}");
        return Ok(object);
    }
    let compiled = pipeline::compile(file, options)?;
    if let Some(entry) = entry {
        entry.keep(&compiled);
    }
    Ok(compiled.object)
}

struct Entry {
    directory: PathBuf,
    manifest: PathBuf,
}

impl Entry {
    fn new(file: &Path, options: &CompileOptions) -> Option<Entry> {
        let directory = directory()?;
        let path = fs::canonicalize(file).ok()?;
        let key = format!(
            "{} {} {:?} {:?} {:?}",
            path.display(),
            options.frames.name,
            options.level,
            std::env::var_os("CAIRN_PATH"),
            compiler_identity()?
        );
        let manifest = directory.join(format!("{:032x}.manifest", xxh3_128(key.as_bytes())));
        Some(Entry { directory, manifest })
    }

    /// The object and the warnings.
    fn find(&self) -> Option<(Vec<u8>, String)> {
        let manifest = fs::read_to_string(&self.manifest).ok()?;
        for line in manifest.lines() {
            let (hash, path) = line.split_once(' ')?;
            let text = fs::read(path).ok()?;
            if format!("{:032x}", xxh3_128(&text)) != hash {
                return None;
            }
        }
        let object = self.object_path(&manifest);
        let warnings = fs::read_to_string(object.with_extension("warnings")).unwrap_or_default();
        Some((fs::read(object).ok()?, warnings))
    }

    fn keep(&self, compiled: &pipeline::Compiled) {
        let mut manifest = String::new();
        for path in &compiled.source.files {
            let (Ok(path), Ok(text)) = (fs::canonicalize(path), fs::read(path)) else { return };
            manifest.push_str(&format!("{:032x} {}\n", xxh3_128(&text), path.display()));
        }
        if fs::create_dir_all(&self.directory).is_err() {
            return;
        }
        let (object, warnings) = (self.object_path(&manifest), &compiled.source.warnings);
        let said = warnings.is_empty() || write_whole(&object.with_extension("warnings"), warnings.as_bytes());
        if said && write_whole(&object, &compiled.object) {
            write_whole(&self.manifest, manifest.as_bytes());
        }
    }

    fn object_path(&self, manifest: &str) -> PathBuf {
        let key = format!("{}{manifest}", self.manifest.display());
        self.directory.join(format!("{:032x}.o", xxh3_128(key.as_bytes())))
    }
}

fn write_whole(path: &Path, bytes: &[u8]) -> bool {
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    fs::write(&temporary, bytes).is_ok() && fs::rename(&temporary, path).is_ok()
}

fn directory() -> Option<PathBuf> {
    if let Some(d) = std::env::var_os("CAIRN_CACHE_DIR") {
        return Some(d.into());
    }
    let base = match std::env::var_os("XDG_CACHE_HOME") {
        Some(d) => PathBuf::from(d),
        None => PathBuf::from(std::env::var_os("HOME")?).join(".cache"),
    };
    Some(base.join("cairn"))
}

/// Changes with every build of the compiler.
fn compiler_identity() -> Option<(u64, std::time::SystemTime)> {
    let meta = fs::metadata(std::env::current_exe().ok()?).ok()?;
    Some((meta.len(), meta.modified().ok()?))
}
