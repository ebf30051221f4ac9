//! Where libraries and included files come from.
//!
//! The libraries of `lib/` are part of the binary, so that an installed Cairn needs no source tree. A library
//! `(foo bar)` that is not among them is looked for as `foo/bar.sld` beside the program, then in the directories
//! of `CAIRN_PATH` (separated by colons). Included files are found beside the file that includes them.
//!
//! `CAIRN_LIB=directory` takes the library from there instead of from the binary: for work on `lib/` without building Cairn
//! anew, and for the mutation tests of `lib/`. Programs are not cached then.

use cairn_rt::describe_io;
use cairn_syntax::{LibraryName, Loader};
use include_dir::{Dir, include_dir};
use std::path::{Path, PathBuf};

static LIB: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../lib");

/// Prefix of the paths of built-in libraries, in messages.
pub const BUILT_IN: &str = "lib/";

/// The directory that stands for the library in the binary, if there is one.
pub fn lib_override() -> Option<PathBuf> {
    std::env::var_os("CAIRN_LIB").filter(|d| !d.is_empty()).map(PathBuf::from)
}

/// The text of a file of the library; `relative` is its path in `lib/`.
fn built_in(relative: &str) -> Result<Option<String>, String> {
    if let Some(directory) = lib_override() {
        let path = directory.join(relative);
        return if path.is_file() { read_source(&path).map(Some) } else { Ok(None) };
    }
    let Some(file) = LIB.get_file(relative) else { return Ok(None) };
    let text = file.contents_utf8().ok_or_else(|| format!("lib/{relative} is not UTF-8"))?;
    Ok(Some(text.to_string()))
}

/// The loader of the command line.
pub struct Files {
    directories: Vec<PathBuf>,
}

impl Files {
    /// For a program in this file.
    pub fn new(program: &Path) -> Files {
        let mut directories = vec![program.parent().unwrap_or(Path::new("")).to_path_buf()];
        if let Some(path) = std::env::var_os("CAIRN_PATH") {
            directories.extend(std::env::split_paths(&path));
        }
        Files { directories }
    }
}

/// Reads a source file as text, with a message fit for the user.
pub fn read_source(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => format!("no such file: {}", path.display()),
        _ => format!("cannot read {}: {}", path.display(), describe_io(&e)),
    })?;
    String::from_utf8(bytes).map_err(|e| {
        let (before, rest) = e.as_bytes().split_at(e.utf8_error().valid_up_to());
        let before = String::from_utf8_lossy(before);
        let (line, column) = cairn_syntax::diagnostic::line_column(&before, before.len() as u32);
        format!(
            "{}:{line}:{column}: the byte {:02X} is not valid UTF-8, and source files are UTF-8 (iconv converts others)",
            path.display(),
            rest[0]
        )
    })
}

impl Loader for Files {
    fn load_library(&mut self, name: &LibraryName) -> Result<Option<(String, String)>, String> {
        let relative = format!("{}.sld", name.path());
        if let Some(text) = built_in(&relative)? {
            return Ok(Some((format!("{BUILT_IN}{relative}"), text)));
        }
        for directory in &self.directories {
            let path = directory.join(&relative);
            if path.is_file() {
                return Ok(Some((path.display().to_string(), read_source(&path)?)));
            }
        }
        Ok(None)
    }

    fn load_include(&mut self, from: &str, path: &str) -> Result<(String, String), String> {
        let resolved = Path::new(from).parent().unwrap_or(Path::new("")).join(path);
        if let Some(relative) = resolved.to_str().and_then(|p| p.strip_prefix(BUILT_IN))
            && let Some(text) = built_in(relative)?
        {
            return Ok((format!("{BUILT_IN}{relative}"), text));
        }
        Ok((resolved.display().to_string(), read_source(&resolved)?))
    }
}
