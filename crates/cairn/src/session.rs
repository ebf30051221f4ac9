//! A compiler session: what was chosen for it. What it does stands in files above: [`crate::compiler`] first.

use crate::cache::Entry;
use crate::cache_directory::Cache;
use crate::error::Error;
use crate::options::CompileOptions;
use crate::source::Source;
use crate::sources::Files;
use crate::stage_report::Observer;
use crate::{c_headers, coverage};
use cairn_rt::counts::Counts;
use cairn_syntax::Session;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A compiler session: how to compile, where libraries are, which programs were compiled before. Sessions share nothing
/// with each other; compiling changes none.
#[derive(Clone, Debug, Default)]
pub struct Compiler {
    pub(crate) options: CompileOptions,
    pub(crate) library_path: Vec<PathBuf>,
    pub(crate) library: Option<PathBuf>,
    pub(crate) cache: Option<Cache>,
    pub(crate) observer: Option<Observer>,
    pub(crate) background: Option<PathBuf>,
    pub(crate) coverage: Option<PathBuf>,
    pub(crate) shared: bool,
}

impl Compiler {
    /// A session without library path and cache.
    pub fn new(options: CompileOptions) -> Compiler {
        cairn_eval::library_loader::HEADER_READER.get_or_init(|| c_headers::text);
        if let Some(cache) = Cache::of_environment() {
            cairn_rt::C_SOURCES.get_or_init(|| cache.directory().to_path_buf());
        }
        Compiler { options, ..Compiler::default() }
    }

    /// Looks for libraries in these directories, after the program's own.
    pub fn library_path(mut self, directories: impl IntoIterator<Item = PathBuf>) -> Compiler {
        self.library_path = directories.into_iter().collect();
        self
    }

    /// Takes Cairn's own library from this directory instead of from the binary.
    pub fn library_directory(mut self, directory: Option<PathBuf>) -> Compiler {
        self.library = directory;
        self
    }

    pub(crate) fn files<'a>(&'a self, source: &'a Source) -> Files<'a> {
        Files::new(source, &self.library_path, self.library.as_deref())
    }

    /// The directory that stands for Cairn's own library, if there is one.
    pub(crate) fn library(&self) -> Option<&Path> {
        self.library.as_deref()
    }

    /// Keeps compiled programs in this cache.
    pub fn cache(mut self, cache: Option<Cache>) -> Compiler {
        self.cache = cache;
        self
    }

    /// Tells `observer` each stage of a compilation: how long it took, and how much it made.
    pub fn observer(mut self, observer: Option<Observer>) -> Compiler {
        self.observer = observer;
        self
    }

    /// What is compiled while its program runs is compiled by another process of this program, which calls
    /// [`crate::compile_in_background`] when its argument is [`crate::BACKGROUND`]; otherwise by a thread.
    pub fn background(mut self, program: Option<PathBuf>) -> Compiler {
        self.background = program;
        self
    }

    /// Programs count what they evaluate, in files whose names begin so: [`Compiler::counts`].
    pub fn coverage(mut self, files: Option<PathBuf>) -> Compiler {
        self.options.coverage = files.is_some();
        self.coverage = files;
        self
    }

    /// Programs become shared libraries, which [`crate::Compiled::build`] makes.
    pub fn shared(mut self, shared: bool) -> Compiler {
        self.shared = shared;
        self
    }

    /// Writes down what the counters of a program that was expanded count.
    pub(crate) fn note_points(&self, session: &Session) -> Result<(), Error> {
        match &self.coverage {
            Some(files) => coverage::write_points(files, session),
            None => Ok(()),
        }
    }

    /// The counters of the program that was compiled last, if it has some.
    pub fn counts(&self) -> Result<Option<Arc<Counts>>, Error> {
        self.coverage.as_deref().map(coverage::start).transpose()
    }

    pub(crate) fn entry(&self, source: &Source) -> Option<Entry> {
        let cache = self.keeps()?;
        cache.entry(source, &self.library_path, &self.options)
    }

    /// The cache, if this session keeps what it compiles.
    pub(crate) fn keeps(&self) -> Option<&Cache> {
        self.cache.as_ref().filter(|_| self.library.is_none() && !self.shared)
    }

    /// Where compiled libraries may be kept.
    pub(crate) fn cache_directory(&self) -> Option<&Path> {
        self.cache.as_ref().map(|c| c.directory())
    }
}
