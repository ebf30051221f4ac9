//! Compiled programs, by content.
//!
//! The problem: compiling takes a second, starting a compiled script a few milliseconds. The idea: one file keeps the
//! object code of a program together with everything that it depends on: the hash of each text it was compiled from,
//! and the names where a library was looked for and not found. The file is found by the program's name and the options;
//! when all that it depends on is still so, its object is used without compiling.
//!
//! ```text
//!  ~/.cache/cairn/<hash of the key>.program
//!
//!      checksum of all that follows
//!      key            names of the program as given and absolute, library path, options, compiler
//!      program        hash of its text
//!      dependencies   name, hash or absent; …
//!      warnings       plain and in colour: shown again each time
//!      kind           what it takes to run it
//!      C sources      which are parts of it
//!      object
//! ```
//!
//! Invariants: what is hashed is what was compiled, not what the file holds afterwards; all names are absolute, and
//! files are looked up by the same names when compiling and when checking; a file of the cache appears whole or not at
//! all ([`crate::unfinished`]) and is believed only if its checksum is right. Every failure of the cache itself only
//! means that the program is compiled. There is one file for a program and its options: compiling again replaces it.
//! What was not used for long makes room for others ([`crate::cache_room`]).

use crate::Compiled;
use crate::cache_room::{ROOM, make_room, touch};
use crate::compiler::Kind;
use crate::diagnostics::Messages;
use crate::options::{CompileOptions, Level};
use crate::sources::{Seen, Source};
use crate::unfinished;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// A directory of compiled programs.
#[derive(Clone, Debug)]
pub struct Cache {
    directory: PathBuf,
    /// Is the directory made when it is not there?
    make: bool,
    /// What it takes at most, in bytes.
    room: u64,
}

impl Cache {
    /// In this directory. It is made when it is needed.
    pub fn new(directory: impl Into<PathBuf>) -> Cache {
        Cache { directory: directory.into(), make: true, room: ROOM }
    }

    /// This cache, if programs take at most so many bytes together.
    pub fn at_most(self, room: u64) -> Cache {
        Cache { room, ..self }
    }

    /// In this directory while it is there: somebody else's, who may have removed it.
    pub(crate) fn existing(directory: PathBuf) -> Cache {
        Cache { directory, make: false, room: ROOM }
    }

    /// Makes the directory.
    pub(crate) fn make(&self) {
        let _ = std::fs::create_dir_all(&self.directory);
    }

    /// Where the environment says: `CAIRN_CACHE_DIR`, or `cairn` in `XDG_CACHE_HOME`, or in `.cache` in `HOME`. Empty
    /// variables count as absent, and so do relative ones of the last two: they name no place of the user's.
    pub fn of_environment() -> Option<Cache> {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let home = |name: &str| set(name).filter(|p| p.is_absolute());
        let directory = set("CAIRN_CACHE_DIR")
            .or_else(|| home("XDG_CACHE_HOME").map(|d| d.join("cairn")))
            .or_else(|| home("HOME").map(|d| d.join(".cache/cairn")));
        directory.map(Cache::new)
    }

    /// The directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// What it takes at most, in bytes.
    pub(crate) fn room(&self) -> u64 {
        self.room
    }

    /// The entry of a program; `None` when something about it cannot be known.
    pub(crate) fn entry(
        &self,
        source: &Source,
        library_path: &[PathBuf],
        options: &CompileOptions,
    ) -> Option<Entry> {
        let mut key = Writer::default();
        let names = std::iter::once(&source.path).chain(library_path);
        for name in names {
            // As given, too: messages show it.
            key.put(name.as_os_str().as_bytes());
            key.put(std::path::absolute(name).ok()?.as_os_str().as_bytes());
        }
        let CompileOptions { frames, gc, level, backend, sites, debug, compact, coverage, verify: _ } = options;
        let level = if *level == Level::Auto { Level::High } else { *level }; // compiled as a whole, it is the same
        let facts =
            format!("{} {} {level:?} {backend:?} {sites} {debug} {compact:?} {coverage}", frames.name, gc.name);
        key.put(format!("{facts} {:?}", compiler_identity()?).as_bytes());
        let path = self.directory.join(format!("{:032x}.program", xxh3_128(&key.0)));
        Some(Entry {
            path,
            make: self.make,
            room: self.room,
            key: key.0,
            program: xxh3_128(source.text.as_bytes()),
        })
    }
}

/// The place of one program in the cache.
pub(crate) struct Entry {
    path: PathBuf,
    /// Is its directory made when it is not there?
    make: bool,
    /// What all programs together take at most.
    room: u64,
    key: Vec<u8>,
    /// Hash of the program's text.
    program: u128,
}

impl Entry {
    /// The program as it was kept, if it would be compiled to the same now.
    pub(crate) fn find(&self) -> Option<Compiled> {
        let file = std::fs::read(&self.path).ok()?;
        let mut r = Reader(&file);
        if r.hash()? != xxh3_128(r.0) || r.get()? != self.key || r.hash()? != self.program {
            return None;
        }
        for _ in 0..r.count()? {
            let path = Path::new(std::ffi::OsStr::from_bytes(r.get()?));
            let seen = if r.count()? == 0 { Seen::Absent } else { Seen::Text(r.hash()?) };
            if Seen::now(path)? != seen {
                return None;
            }
        }
        let plain = String::from_utf8(r.get()?.to_vec()).ok()?;
        let colored = String::from_utf8(r.get()?.to_vec()).ok()?;
        let kind = *[Kind::Whole, Kind::Evaluating, Kind::OnLibrary].get(r.count()?)?;
        let c_sources = serde_json::from_slice(r.get()?).ok()?;
        touch(&self.path);
        Some(Compiled {
            object: r.get()?.to_vec(),
            warnings: Messages { plain, colored },
            kind,
            open: None,
            exports: Vec::new(),
            c_sources,
        })
    }

    /// Held by one process at a time; `None` while another one has it, or when there is no such directory.
    pub(crate) fn lock(&self) -> Option<Locked> {
        let path = self.path.with_extension("lock");
        let file = File::create(&path).ok()?;
        file.try_lock().ok()?;
        Some(Locked { path, _file: file })
    }

    /// Keeps a program.
    pub(crate) fn keep(&self, compiled: &Compiled, dependencies: Vec<(PathBuf, Seen)>) {
        let mut w = Writer::default();
        w.put(&self.key);
        w.hash(self.program);
        w.count(dependencies.len());
        for (path, seen) in dependencies {
            w.put(OsString::from(path).into_vec());
            match seen {
                Seen::Absent => w.count(0),
                Seen::Text(hash) => {
                    w.count(1);
                    w.hash(hash);
                }
            }
        }
        w.put(&compiled.warnings.plain);
        w.put(&compiled.warnings.colored);
        w.count(compiled.kind as usize);
        w.put(serde_json::to_vec(&compiled.c_sources).unwrap_or_default());
        w.put(&compiled.object);
        let file = [&xxh3_128(&w.0).to_le_bytes()[..], &w.0].concat();
        if self.path.parent().is_some_and(|d| d.is_dir() || self.make && std::fs::create_dir_all(d).is_ok()) {
            let _ = unfinished::write_whole(&self.path, &file);
            make_room(&self.path, self.room);
        }
    }
}

/// The lock of an entry. It goes away with the value.
pub(crate) struct Locked {
    path: PathBuf,
    _file: File,
}

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Changes with every build of the compiler, and stays when its file is copied or installed: what the linker made of
/// its contents. Without that, length and time of the file.
pub(crate) fn compiler_identity() -> Option<String> {
    let mut file = File::open(std::env::current_exe().ok()?).ok()?;
    let mut start = Vec::new();
    file.by_ref().take(4096).read_to_end(&mut start).ok()?;
    if let Some(id) = build_id(&start) {
        return Some(id.iter().map(|byte| format!("{byte:02x}")).collect());
    }
    let meta = file.metadata().ok()?;
    Some(format!("{} {:?}", meta.len(), meta.modified().ok()?))
}

/// The linker's `.note.gnu.build-id`, in the first page of an executable: three words (length of the name, of the
/// contents, and the kind, 3), the name, the contents.
fn build_id(start: &[u8]) -> Option<&[u8]> {
    const LENGTH: u8 = 20; // SHA-1
    let note = [4, 0, 0, 0, LENGTH, 0, 0, 0, 3, 0, 0, 0, b'G', b'N', b'U', 0];
    let at = start.windows(note.len()).position(|w| w == note)? + note.len();
    start.get(at..at + usize::from(LENGTH))
}

/// Writes numbers and counted bytes.
#[derive(Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn count(&mut self, n: usize) {
        self.0.extend((n as u64).to_le_bytes());
    }
    pub(crate) fn hash(&mut self, hash: u128) {
        self.0.extend(hash.to_le_bytes());
    }
    pub(crate) fn put(&mut self, bytes: impl AsRef<[u8]>) {
        self.count(bytes.as_ref().len());
        self.0.extend(bytes.as_ref());
    }
}

/// Reads what a [`Writer`] wrote; `None` when it is not that.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }
    pub(crate) fn count(&mut self) -> Option<usize> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?) as usize)
    }
    pub(crate) fn hash(&mut self) -> Option<u128> {
        Some(u128::from_le_bytes(self.take(16)?.try_into().ok()?))
    }
    pub(crate) fn get(&mut self) -> Option<&'a [u8]> {
        let n = self.count()?;
        self.take(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_not_whole_is_not_found() {
        let directory = std::env::temp_dir().join(format!("cairn-entries-{}", std::process::id()));
        let cache = Cache::new(&directory);
        let source = Source::new("p.scm", "(display 1)");
        let entry = cache.entry(&source, &[], &CompileOptions::default()).unwrap();
        let warnings = Messages { plain: "plain".into(), colored: "colored".into() };
        let compiled = Compiled {
            object: b"\x7fELF and so on".to_vec(),
            warnings,
            kind: Kind::Evaluating,
            open: None,
            exports: vec![],
            c_sources: vec![],
        };
        entry.keep(&compiled, vec![(directory.join("none.sld"), Seen::Absent)]);
        let found = || entry.find().map(|c| (c.object, c.warnings));
        assert_eq!(found(), Some((compiled.object, compiled.warnings)));
        let whole = std::fs::read(&entry.path).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&entry.path, flipped).unwrap();
            assert_eq!(found(), None, "bit {bit}");
        }
        for length in 0..whole.len() {
            std::fs::write(&entry.path, &whole[..length]).unwrap();
            assert_eq!(found(), None, "length {length}");
        }
        std::fs::write(&entry.path, &whole).unwrap();
        assert!(found().is_some());
        let edited = Source::new("p.scm", "(display 2)");
        assert!(cache.entry(&edited, &[], &CompileOptions::default()).unwrap().find().is_none());
        std::fs::write(directory.join("none.sld"), "").unwrap();
        assert_eq!(found(), None);
        std::fs::remove_dir_all(directory).unwrap();
    }
}
