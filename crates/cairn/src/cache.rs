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

use crate::cache_directory::{Cache, compiler_identity};
use crate::cache_room::{make_room, touch};
use crate::compiled::{Compiled, Kind};
use crate::counted_bytes::{Reader, Writer};
use crate::diagnostics::Messages;
use crate::options::{CompileOptions, Level};
use crate::source::{Seen, Source};
use crate::unfinished;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

impl Cache {
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
        let CompileOptions { frames, gc, level, backend, sites, debug, compact, coverage, disabled, verify: _ } =
            options;
        let level = if *level == Level::Auto { Level::High } else { *level }; // compiled as a whole, it is the same
        let facts = format!(
            "{} {} {level:?} {backend:?} {sites} {debug} {compact:?} {coverage} {disabled:?}",
            frames.name, gc.name
        );
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
