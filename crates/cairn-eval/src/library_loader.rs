//! The sources of `lib/`, and the loader of a running program.

use cairn_syntax::{LibraryName, Loader};
use include_dir::{Dir, include_dir};
use std::path::{Path, PathBuf};

static LIB: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../lib");

/// Prefix of the paths of built-in libraries, in messages.
pub const BUILT_IN: &str = "lib/";

/// The text of a file of `lib/`; `relative` is its path there.
pub fn built_in(relative: &str) -> Option<&'static str> {
    LIB.get_file(relative)?.contents_utf8()
}

/// The names of the libraries in `lib/`.
pub fn names() -> Vec<LibraryName> {
    fn go(directory: &Dir<'_>, names: &mut Vec<LibraryName>) {
        for file in directory.files() {
            if let Some(path) = file.path().to_str().and_then(|p| p.strip_suffix(".sld")) {
                names.extend(LibraryName::parse(&format!("({})", path.replace('/', " "))));
            }
        }
        directory.dirs().for_each(|d| go(d, names));
    }
    let mut names = Vec::new();
    go(&LIB, &mut names);
    names
}

/// Finds libraries: those of `lib/`, then files in the working directory and in the directories of the library path.
#[derive(Debug, Default)]
pub struct Files {
    path: Vec<PathBuf>,
}

impl Files {
    /// With this library path.
    pub fn new(path: Vec<PathBuf>) -> Files {
        Files { path }
    }
}

impl Loader for Files {
    fn load_library(&mut self, name: &LibraryName) -> Result<Option<(String, String)>, String> {
        let relative = format!("{}.sld", name.path());
        if let Some(text) = built_in(&relative) {
            return Ok(Some((format!("{BUILT_IN}{relative}"), text.to_string())));
        }
        let directories = std::iter::once(Path::new("")).chain(self.path.iter().map(|d| &**d));
        let mut files = directories.map(|d| d.join(&relative));
        let Some(file) = files.find(|f| f.is_file()) else { return Ok(None) };
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        Ok(Some((file.display().to_string(), text)))
    }

    fn library_names(&self) -> Vec<LibraryName> {
        names()
    }

    fn load_include(&mut self, from: &str, path: &str) -> Result<(String, String), String> {
        let file = Path::new(from).parent().unwrap_or(Path::new("")).join(path);
        if let Some(relative) = file.to_str().and_then(|f| f.strip_prefix(BUILT_IN))
            && let Some(text) = built_in(relative)
        {
            return Ok((file.display().to_string(), text.to_string()));
        }
        let text = std::fs::read_to_string(&file).map_err(|e| e.to_string())?;
        Ok((file.display().to_string(), text))
    }
}
