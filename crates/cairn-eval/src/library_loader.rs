//! The sources of `lib/`, and the loader of a running program.

use cairn_layout::lexeme::{self, Kind};
use cairn_rt::describe_io;
use cairn_syntax::{LibraryName, Loader};
use include_dir::{Dir, include_dir};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

static LIB: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../lib");

/// Prefix of the paths of built-in libraries, in messages.
pub const BUILT_IN: &str = "lib/";

/// What the files of libraries end in: R7RS's, R6RS's, and what Chez Scheme looks for besides, in the order in which
/// they are looked for.
const EXTENSIONS: [&str; 5] = ["sld", "sls", "chezscheme.sls", "ss", "scm"];

/// Where the file of a library may be in a directory, the first choice first. Of those that need not be libraries, only
/// a text that [`is_library`] is one.
pub fn files_of(name: &LibraryName) -> [String; EXTENSIONS.len()] {
    EXTENSIONS.map(|extension| format!("{}.{extension}", name.path()))
}

/// Is what this file says a library? Files `.ss` and `.scm` may be programs, or parts of the library beside them.
pub fn is_library(path: &Path, text: &str) -> bool {
    if !path.extension().is_some_and(|e| e == "ss" || e == "scm") {
        return true;
    }
    let mut at = 0;
    while let Some(l) = lexeme::next(text, at) {
        at = match l.kind {
            Kind::Directive => l.end,
            _ if l.is_atmosphere() => l.end,
            Kind::DatumComment => lexeme::datum_end(text, l.end),
            _ if l.text(text) == "#lang" => lexeme::line_end(text, l.end),
            _ => break,
        };
    }
    let head = lexeme::head(text, at).map(|l| l.text(text));
    matches!(head, Some("library" | "define-library"))
}

/// Is a library in the text that may be the one of this name? Its name begins alike.
pub fn may_define(text: &str, name: &LibraryName) -> bool {
    let first = name.0.first().map(|part| part.to_string());
    let libraries = lexeme::lists(text)
        .filter_map(|start| lexeme::head(text, start))
        .filter(|head| matches!(head.text(text), "library" | "define-library"));
    let mut names = libraries.map(|head| {
        let mut behind = std::iter::successors(lexeme::next(text, head.end), |l| lexeme::next(text, l.end));
        behind.find(|l| l.kind == Kind::Open).and_then(|open| lexeme::head(text, open.start))
    });
    names.any(|l| l.map(|l| l.text(text)) == first.as_deref())
}

/// The text of a file of `lib/`; `relative` is its path there.
pub fn built_in(relative: &str) -> Option<&'static str> {
    // `Dir::get_file` looks at every name of each directory on the way: help for a name that nobody defines asks for
    // hundreds of libraries
    static TEXTS: LazyLock<FxHashMap<&str, &str>> = LazyLock::new(|| {
        fn go(directory: &'static Dir<'_>, texts: &mut FxHashMap<&'static str, &'static str>) {
            texts.extend(directory.files().filter_map(|f| Some((f.path().to_str()?, f.contents_utf8()?))));
            directory.dirs().for_each(|d| go(d, texts));
        }
        let mut texts = FxHashMap::default();
        go(&LIB, &mut texts);
        texts
    });
    TEXTS.get(relative).copied()
}

/// The folder of `lib/` with the libraries that few programs use. They are not in the library that is compiled once:
/// whoever imports one compiles or evaluates it, and nobody else pays for it.
const MORE: &str = "more/";

/// Where in `lib/` the file of a library may be.
pub fn places(name: &LibraryName) -> [String; 2] {
    let usual = format!("{}.sld", name.path());
    let more = format!("{MORE}{usual}");
    [usual, more]
}

/// The names of all libraries in `lib/`.
pub fn names() -> Vec<LibraryName> {
    let (mut names, more) = compiled_and_more();
    names.extend(more);
    names
}

/// The names of those libraries in `lib/` that are compiled once, together.
pub fn compiled_names() -> Vec<LibraryName> {
    compiled_and_more().0
}

fn compiled_and_more() -> (Vec<LibraryName>, Vec<LibraryName>) {
    fn go(directory: &Dir<'_>, names: &mut (Vec<LibraryName>, Vec<LibraryName>)) {
        for file in directory.files() {
            if let Some(path) = file.path().to_str().and_then(|p| p.strip_suffix(".sld")) {
                let more = path.strip_prefix(MORE);
                let name = LibraryName::parse(&format!("({})", more.unwrap_or(path).replace('/', " ")));
                if more.is_some() { names.1.extend(name) } else { names.0.extend(name) }
            }
        }
        directory.dirs().for_each(|d| go(d, names));
    }
    let mut names = (Vec::new(), Vec::new());
    go(&LIB, &mut names);
    names
}

/// Finds libraries: those of `lib/`, then files in the directories of the library path and in the working directory.
/// Included files are looked for beside the file that includes them, then where libraries are.
/// Files that are part of the program come before those of the file system.
#[derive(Debug, Default)]
pub struct Files {
    path: Vec<PathBuf>,
    brought: FxHashMap<PathBuf, String>,
}

impl Files {
    /// With this library path.
    pub fn new(path: Vec<PathBuf>) -> Files {
        Files { path, ..Files::default() }
    }

    /// These files are part of the program, whose libraries are looked for in these directories.
    pub fn bring(&mut self, directories: Vec<String>, files: Vec<String>) {
        self.path = directories.into_iter().map(PathBuf::from).collect();
        let mut files = files.into_iter();
        while let (Some(path), Some(text)) = (files.next(), files.next()) {
            self.brought.insert(path.into(), text);
        }
    }

    fn is_file(&self, path: &Path) -> bool {
        self.brought.contains_key(path) || path.is_file()
    }

    fn text(&self, path: &Path) -> std::io::Result<String> {
        self.brought.get(path).map_or_else(|| std::fs::read_to_string(path), |text| Ok(text.clone()))
    }
}

/// Makes the text of a library from C headers: their names and what else is in the library's name, and the directories
/// where headers are looked for before C's own.
pub type HeaderReader = fn(&[&str], &[&Path]) -> Result<String, String>;

/// Reads C headers, in processes that can: an executable is not one.
pub static HEADER_READER: OnceLock<HeaderReader> = OnceLock::new();

/// Why a source file cannot be read, for the user.
pub fn unreadable(path: &Path, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => format!("no such file: {}", path.display()),
        _ => format!("cannot read {}: {}", path.display(), describe_io(error)),
    }
}

impl Loader for Files {
    fn load_library(&mut self, name: &LibraryName) -> Result<Option<(String, String)>, String> {
        if let (Some(parts), Some(read)) = (name.c_headers(), HEADER_READER.get()) {
            let directories: Vec<&Path> = self.path.iter().map(|d| &**d).collect();
            return Ok(Some((name.to_string(), read(&parts, &directories)?)));
        }
        for place in places(name) {
            if let Some(text) = built_in(&place) {
                return Ok(Some((format!("{BUILT_IN}{place}"), text.to_string())));
            }
        }
        let relative = files_of(name);
        let directories = self.path.iter().map(|d| &**d).chain(std::iter::once(Path::new("")));
        let mut files = directories.flat_map(|d| relative.iter().map(move |file| d.join(file)));
        let mut found = files.by_ref().filter(|f| self.is_file(f));
        found
            .find_map(|file| match self.text(&file) {
                Ok(text) => is_library(&file, &text).then(|| Ok((file.display().to_string(), text))),
                Err(e) => Some(Err(unreadable(&file, &e))),
            })
            .transpose()
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
        let elsewhere = self.path.iter().map(|d| d.join(path)).chain([path.into()]);
        let found = std::iter::once(file.clone()).chain(elsewhere).find(|f| self.is_file(f)).unwrap_or(file);
        let text = self.text(&found).map_err(|e| unreadable(&found, &e))?;
        Ok((found.display().to_string(), text))
    }
}
