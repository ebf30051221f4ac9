//! Where programs, libraries and included files come from, and what of the file system they depend on.
//!
//! The libraries of `lib/` are part of the binary, so that an installed Cairn needs no source tree. A library
//! `(foo bar)` that is not among them is looked for as `foo/bar.sld` or `foo/bar.sls` beside the program, then in the
//! directories of the library path. Included files are found beside the file that includes them, else where libraries
//! are, else in the working directory. Paths are taken as they are given: "beside the program" is beside the name that
//! was given, be it a symbolic link.
//!
//! Another directory can stand for `lib/` (`CAIRN_LIB`): for work on the library without building Cairn anew, and for
//! mutation tests. Programs are not cached then.
//!
//! Invariants: a file is read at most once in a compilation, so whatever it is (a pipe, a file being edited) the
//! compilation sees one text of it; and [`Files::dependencies`] is everything that the result depends on: texts that
//! were read, and names where there was no file when one was looked for.

use crate::c_headers::{self, CSource};
use crate::source::{Seen, Source, Texts, read_text};
use cairn_eval::library_loader::{self, BUILT_IN, built_in};
use cairn_syntax::{LibraryName, Loader};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use xxhash_rust::xxh3::xxh3_128;

/// The loader of one compilation.
pub(crate) struct Files<'a> {
    /// Stands for `lib/`.
    library: Option<&'a Path>,
    directories: Vec<PathBuf>,
    /// So many of them are the program's, and not where packages are.
    own: usize,
    /// Every file that was looked at: its text, or `None` when there was none.
    looked_at: BTreeMap<PathBuf, Option<Rc<str>>>,
    /// Files that C headers consist of.
    c_headers: BTreeMap<PathBuf, Seen>,
    /// What C sources were compiled to.
    c_sources: Vec<CSource>,
    /// Nothing that was looked at is a pipe or could not be read.
    repeatable: bool,
}

/// Where the packages of Snow-fort and Akku have their libraries, for a program in this directory: `lib/` in it or
/// beside it, and the nearest `.akku/lib/` in it or above it.
fn package_directories(beside: &Path) -> Vec<PathBuf> {
    // the empty path is the working directory, but has no absolute path
    let whole = std::path::absolute(if beside.as_os_str().is_empty() { Path::new(".") } else { beside });
    let whole = whole.unwrap_or_default();
    let own = [beside.join("lib"), beside.join("../lib")];
    let libraries = own.into_iter().zip([Some(&*whole), whole.parent()]);
    // what the system has in /lib is nobody's project
    let libraries = libraries.filter(|(_, around)| around.is_some_and(|d| d.parent().is_some())).map(|(d, _)| d);
    let akku = whole.ancestors().map(|d| d.join(".akku/lib")).find(|d| d.is_dir());
    libraries.chain(akku).filter(|d| d.is_dir()).collect()
}

impl<'a> Files<'a> {
    pub(crate) fn new(program: &'a Source, library_path: &'a [PathBuf], library: Option<&'a Path>) -> Files<'a> {
        let beside = program.path.parent().unwrap_or(Path::new(""));
        let given = library_path.iter().cloned();
        let directories = std::iter::once(beside.into()).chain(given).chain(package_directories(beside)).collect();
        Files {
            library,
            directories,
            own: 1 + library_path.len(),
            looked_at: BTreeMap::new(),
            c_headers: BTreeMap::new(),
            c_sources: Vec::new(),
            repeatable: library.is_none(),
        }
    }

    /// Where libraries are looked for.
    pub(crate) fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// The C sources that are parts of the program.
    pub(crate) fn c_sources(&self) -> Vec<CSource> {
        self.c_sources.clone()
    }

    /// Everything that was read, for another compilation of the same program.
    pub(crate) fn texts(&self) -> Texts {
        self.looked_at.iter().map(|(path, text)| (path.clone(), text.as_ref().map(|t| t.to_string()))).collect()
    }

    /// Takes these texts instead of reading the files.
    pub(crate) fn use_texts(&mut self, texts: &Texts) {
        self.looked_at = texts.iter().map(|(path, text)| (path.clone(), text.as_deref().map(Rc::from))).collect();
    }

    /// What the compilation depends on besides the program's own text, by absolute path; `None` when that cannot be
    /// checked later.
    pub(crate) fn dependencies(&self) -> Option<Vec<(PathBuf, Seen)>> {
        if !self.repeatable {
            return None;
        }
        let absolute = |(path, text): (&PathBuf, &Option<Rc<str>>)| {
            let seen = text.as_ref().map_or(Seen::Absent, |text| Seen::Text(xxh3_128(text.as_bytes())));
            Some((std::path::absolute(path).ok()?, seen))
        };
        let headers = self.c_headers.iter().map(|(path, seen)| Some((path.clone(), *seen)));
        self.looked_at.iter().map(absolute).chain(headers).collect()
    }

    /// The text of a file of the library; `relative` is its path in `lib/`.
    fn built_in(&self, relative: &str) -> Result<Option<String>, String> {
        if let Some(directory) = self.library {
            let path = directory.join(relative);
            return if path.is_file() { read_text(&path).map(Some) } else { Ok(None) };
        }
        Ok(built_in(relative).map(String::from))
    }

    /// Is there no such file? The compilation depends on that.
    fn is_absent(&mut self, path: &Path) -> bool {
        if !self.looked_at.contains_key(path) && (!path.exists() || path.is_dir()) {
            self.looked_at.insert(path.to_path_buf(), None);
        }
        self.looked_at.get(path) == Some(&None)
    }

    /// The text of a file; what is not to be found there is an error.
    fn text(&mut self, path: &Path) -> Result<Rc<str>, String> {
        if let Some(Some(text)) = self.looked_at.get(path) {
            return Ok(text.clone());
        }
        self.repeatable &= std::fs::metadata(path).is_ok_and(|m| m.is_file());
        let text: Rc<str> = read_text(path).inspect_err(|_| self.repeatable = false)?.into();
        self.looked_at.insert(path.to_path_buf(), Some(text.clone()));
        Ok(text)
    }
}

impl Loader for Files<'_> {
    fn load_library(&mut self, name: &LibraryName) -> Result<Option<(String, String)>, String> {
        if let Some(parts) = name.c_headers() {
            let library =
                c_headers::library(&parts, &self.directories).inspect_err(|_| self.repeatable = false)?;
            self.c_headers.extend(library.files);
            let new = library.source.filter(|s| !self.c_sources.contains(s));
            self.c_sources.extend(new);
            return Ok(Some((name.to_string(), library.text)));
        }
        for place in library_loader::places(name) {
            if let Some(text) = self.built_in(&place)? {
                return Ok(Some((format!("{BUILT_IN}{place}"), text)));
            }
        }
        let files = library_loader::files_of(name);
        for directory in self.directories.clone() {
            for file in &files {
                let path = directory.join(file);
                if self.is_absent(&path) {
                    continue;
                }
                let text = self.text(&path)?;
                if library_loader::is_library(&path, &text) {
                    return Ok(Some((path.display().to_string(), text.to_string())));
                }
            }
        }
        Ok(None)
    }

    fn directories_searched(&self) -> Vec<String> {
        let shown = |d: &PathBuf| if d.as_os_str().is_empty() { ".".to_string() } else { d.display().to_string() };
        self.directories.iter().map(shown).collect()
    }

    fn file_in_vain(&self, name: &LibraryName) -> Option<String> {
        // another name of one may have a file
        let own: Vec<&str> = library_loader::places(name).iter().filter_map(|p| built_in(p)).collect();
        if own.is_empty() {
            return None;
        }
        let files = library_loader::files_of(name);
        let mut paths = self.directories[..self.own].iter().flat_map(|d| files.iter().map(|f| d.join(f)));
        let file = paths.find(|p| p.is_file())?;
        // a copy of what is built in does no harm, nor does another library: (mpl rnrs) beside those of (mpl …)
        let text = std::fs::read_to_string(&file).ok();
        if text.as_ref().is_some_and(|text| !library_loader::may_define(text, name)) {
            return None;
        }
        let is_copy = own.iter().any(|own| text.as_deref() == Some(own));
        (!is_copy).then(|| file.display().to_string())
    }

    fn library_names(&self) -> Vec<LibraryName> {
        library_loader::names()
    }

    fn load_include(&mut self, from: &str, path: &str) -> Result<(String, String), String> {
        let resolved = Path::new(from).parent().unwrap_or(Path::new("")).join(path);
        if let Some(relative) = resolved.to_str().and_then(|p| p.strip_prefix(BUILT_IN))
            && let Some(text) = self.built_in(relative)?
        {
            return Ok((format!("{BUILT_IN}{relative}"), text));
        }
        let elsewhere = self.directories.iter().map(|d| d.join(path)).chain([path.into()]);
        let all: Vec<PathBuf> = std::iter::once(resolved.clone()).chain(elsewhere).collect();
        let found = all.into_iter().find(|f| !self.is_absent(f)).unwrap_or(resolved);
        Ok((found.display().to_string(), self.text(&found)?.to_string()))
    }
}
