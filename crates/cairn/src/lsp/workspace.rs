//! The texts that the editor has open, and what the expander knows of them.
//!
//! The problem: each key changes a text, and everything that an editor asks for follows from all of it. The idea: a
//! text is checked as a whole each time ([`Checker`]), which takes milliseconds, because the libraries of `lib/` stay
//! known between checks; no state of an earlier text is left that could be wrong. What was checked last stays until any
//! text changes, so that questions about it cost nothing.
//!
//! Texts that are open stand for their files, also where another one imports or includes them.

use super::hints;
use super::text::Lines;
use super::uri;
use crate::cache_directory::Cache;
use crate::check;
use crate::source::{Source, Texts};
use crate::sources::Files;
use crate::unfinished::write_whole;
use cairn_eval::library_loader::BUILT_IN;
use cairn_layout::lexeme::{self, Kind, Lexeme};
use cairn_syntax::lint::{Checker, Report};
use cairn_syntax::{Entity, Mention, Session, Span};
use lsp_server::RequestId;
use lsp_types::{Location, Range, Uri};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::str::FromStr;

/// More must not come of a macro use while somebody types it.
const MAX_EXPANSION: usize = 2_000_000;

/// A text that is open.
pub(super) struct Document {
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// The file that says what it means: a library that includes it, or itself.
    whole: PathBuf,
}

/// What was checked last.
struct Current {
    whole: PathBuf,
    revision: u64,
    source: Source,
    directories: Vec<PathBuf>,
    report: Report,
}

/// Everything that is open.
pub(super) struct Workspace {
    pub(super) documents: BTreeMap<String, Document>,
    library_path: Vec<PathBuf>,
    /// Stands for `lib/`.
    library: Option<PathBuf>,
    checker: Checker,
    current: Option<Current>,
    /// Grows with every change of a text.
    revision: u64,
}

/// A text that was checked, and what is known of it.
pub(super) struct Known<'w> {
    pub(super) session: &'w mut Session,
    pub(super) report: &'w Report,
    /// Its number among the session's sources.
    pub(super) file: u32,
    pub(super) text: Rc<str>,
    pub(super) lines: Lines,
    pub(super) loader: Files<'w>,
}

impl Workspace {
    /// Nothing is open yet. Libraries are looked for in these directories.
    pub(super) fn new(library_path: Vec<PathBuf>, library: Option<PathBuf>) -> Workspace {
        let mut checker = Checker::default();
        checker.session().limit_expansion(MAX_EXPANSION);
        Workspace { documents: BTreeMap::new(), library_path, library, checker, current: None, revision: 0 }
    }

    /// A text is open, or has become another.
    pub(super) fn put(&mut self, uri: &str, text: String) {
        self.revision += 1;
        match self.documents.get_mut(uri) {
            Some(document) => document.text = text,
            None => {
                let path = uri::path_of(uri).unwrap_or_else(|| PathBuf::from(uri));
                let whole = check::whole(&path);
                self.documents.insert(uri.to_string(), Document { path, text, whole });
            }
        }
    }

    /// A text is closed: its file counts again.
    pub(super) fn close(&mut self, uri: &str) {
        self.revision += 1;
        self.documents.remove(uri);
    }

    /// Files have changed.
    pub(super) fn files_changed(&mut self) {
        self.revision += 1;
        for document in self.documents.values_mut() {
            document.whole = check::whole(&document.path);
        }
    }

    /// The text that is open for a file, and its URI.
    pub(super) fn open_at(&self, path: &Path) -> Option<(&str, &Document)> {
        self.documents.iter().find(|(_, d)| d.path == path).map(|(uri, d)| (uri.as_str(), d))
    }

    /// What is known of a text that is open.
    pub(super) fn known(&mut self, uri: &str) -> Option<Known<'_>> {
        let document = self.documents.get(uri)?;
        let (path, whole) = (document.path.clone(), document.whole.clone());
        let is_current = |c: &Current| c.whole == whole && c.revision == self.revision;
        if !self.current.as_ref().is_some_and(is_current) {
            self.current = Some(self.check(&whole)?);
        }
        let name = path.display().to_string();
        let Some(file) = self.checker.session().sources().iter().rposition(|s| *s.path == *name) else {
            if whole == path {
                return None;
            }
            // the library does not include it any more
            self.documents.get_mut(uri)?.whole = path;
            return self.known(uri);
        };
        let current = self.current.as_ref()?;
        let session = self.checker.session();
        let text = session.sources()[file].text.clone();
        Some(Known {
            report: &current.report,
            file: file as u32,
            lines: Lines::new(&text),
            text,
            loader: Files::new(&current.source, &current.directories, self.library.as_deref()),
            session,
        })
    }

    fn check(&mut self, whole: &Path) -> Option<Current> {
        let text = match self.open_at(whole) {
            Some((_, document)) => document.text.clone(),
            None => std::fs::read_to_string(whole).ok()?,
        };
        let mut directories = self.library_path.clone();
        directories.extend(library_root(whole, &text));
        let source = Source::new(whole, text);
        let texts: Texts = self.documents.values().map(|d| (d.path.clone(), Some(d.text.clone()))).collect();
        let mut files = Files::new(&source, &directories, self.library.as_deref());
        files.use_texts(&texts);
        let report = self.checker.check(&whole.display().to_string(), source.text(), &mut files);
        drop(files);
        Some(Current { whole: whole.to_path_buf(), revision: self.revision, source, directories, report })
    }

    /// What it takes to find the hints of a program. Libraries and parts of them have none: what becomes of them
    /// depends on who uses them.
    pub(super) fn hints_job(&self, uri: &str, id: RequestId, range: Range) -> Option<hints::Job> {
        let document = self.documents.get(uri).filter(|d| d.whole == d.path)?;
        let mut directories = self.library_path.clone();
        directories.extend(library_root(&document.path, &document.text));
        Some(hints::Job {
            id,
            range,
            path: document.path.clone(),
            text: document.text.clone(),
            directories,
            library: self.library.clone(),
            texts: self.documents.values().map(|d| (d.path.clone(), Some(d.text.clone()))).collect(),
        })
    }

    /// Where something in a source of the session is, for the editor. A file of `lib/` that is in the binary is written
    /// beside the cache, to be looked at.
    pub(super) fn location(&mut self, span: Span) -> Option<Location> {
        let source = self.checker.session().sources().get(span.file as usize)?;
        let range = Lines::new(&source.text).of(&source.text, span);
        let (path, text) = (source.path.clone(), source.text.clone());
        Some(Location::new(self.uri_of(&self.file_of(&path, &text)?)?, range))
    }

    /// The start of a file of this text, for the editor.
    pub(super) fn start_of(&self, path: &str, text: &str) -> Option<Location> {
        Some(Location::new(self.uri_of(&self.file_of(path, text)?)?, Range::default()))
    }

    /// The file on the disk that a source is. The program's own have absolute paths.
    fn file_of(&self, path: &str, text: &str) -> Option<PathBuf> {
        match path.strip_prefix(BUILT_IN) {
            Some(relative) => built_in_file(relative, text, self.library.as_deref()),
            None => Some(PathBuf::from(path)),
        }
    }

    /// The URI of a file: the editor's own if it is open.
    pub(super) fn uri_of(&self, path: &Path) -> Option<Uri> {
        match self.open_at(path) {
            Some((uri, _)) => Uri::from_str(uri).ok(),
            None => uri::of_path(path),
        }
    }
}

impl Known<'_> {
    /// What an identifier at this place stands for.
    pub(super) fn mention_at(&self, offset: usize) -> Option<Mention> {
        let here = |m: &&Mention| {
            m.span.file == self.file && m.span.start as usize <= offset && offset <= m.span.end as usize
        };
        // between two, the one behind
        self.session.mentions().iter().filter(here).max_by_key(|m| (m.span.start, m.role.binds())).copied()
    }

    /// Where something is defined.
    pub(super) fn definition(&self, entity: Entity) -> Option<Span> {
        let is_it = |m: &&Mention| m.entity == entity && m.role.binds();
        let written = self.session.mentions().iter().find(is_it).map(|m| m.span);
        written.or_else(|| self.session.definition(entity).map(|(_, span)| span))
    }

    /// The text of a span, of whatever source.
    pub(super) fn text_of(&self, span: Span) -> &str {
        let source = self.session.sources().get(span.file as usize);
        source.and_then(|s| s.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }
}

/// The directory from which a library's own name leads to its file.
pub(crate) fn library_root(path: &Path, text: &str) -> Option<PathBuf> {
    let head = lexeme::head(text, text.find("(define-library")?)?;
    let mut behind = lexeme::lexemes(&text[head.end..]).filter(|l| !l.is_atmosphere());
    behind.next().filter(|l| l.kind == Kind::Open)?;
    let parts: Vec<Lexeme> = behind.take_while(|l| l.kind != Kind::Close).collect();
    let mut root = path.with_extension("");
    for part in parts.into_iter().rev() {
        if root.file_name()? != part.text(&text[head.end..]) || !root.pop() {
            return None;
        }
    }
    Some(root)
}

/// The folder of the cache with the library's files.
const LIBRARY_FOLDER: &str = concat!("lib-", env!("CARGO_PKG_VERSION"));

/// A file of `lib/` on the disk.
fn built_in_file(relative: &str, text: &str, library: Option<&Path>) -> Option<PathBuf> {
    if let Some(directory) = library {
        return std::path::absolute(directory.join(relative)).ok();
    }
    let path =
        std::path::absolute(Cache::of_environment()?.directory().join(LIBRARY_FOLDER).join(relative)).ok()?;
    if std::fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
        std::fs::create_dir_all(path.parent()?).ok()?;
        write_whole(&path, text.as_bytes()).ok()?;
    }
    Some(path)
}

/// Is it such a file? There is nothing to say about it.
pub(super) fn is_built_in(path: &Path) -> bool {
    let is_folder =
        |c: Cache| std::path::absolute(c.directory().join(LIBRARY_FOLDER)).is_ok_and(|d| path.starts_with(d));
    Cache::of_environment().is_some_and(is_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_say_where_their_root_is() {
        let root = |path: &str, text: &str| library_root(Path::new(path), text);
        assert_eq!(root("/p/shop/price.sld", ";; x\n(define-library (shop price) (export))"), Some("/p".into()));
        assert_eq!(root("/p/srfi/1.sld", "(define-library (srfi 1))"), Some("/p".into()));
        assert_eq!(root("/p/other.sld", "(define-library (shop price))"), None);
        assert_eq!(root("/p/a.scm", "(define x 1)"), None);
    }
}
