//! The library compiled once: what is in `lib/` as one module in a file, mapped by programs that run on it.
//!
//! The problem: a program uses a small part of the library, or, if it evaluates, all of it; compiling that part with
//! every program costs more than the program itself. The idea: the whole library is compiled when it is first needed,
//! or by `./cairn` right after the binary, once for each frame strategy and collector, linked for a fixed address, and
//! written to a file beside the binary (or, if nobody may write there, in the cache). A program on the library is
//! expanded with the library's macros and names ([`cairn_syntax::BootLibrary`]), and imports its variables.
//!
//! ```text
//!  cairn.chunks-gen.library
//!
//!      checksum of head and image
//!      head       identity of the compiler; where the image belongs; names of libraries; keys of exports
//!      image      pages, mapped; those of code and constants are shared by all programs that run
//!      object     what the image was linked from: loaded as a copy when the image's place is taken; its own checksum
//!                 is in the head
//! ```
//!
//! Invariants: a file is believed only if its checksum is right and it was made by this very binary, whose `lib/` it
//! holds; otherwise it is made again. It appears whole or not at all ([`crate::unfinished`]). An export's number is its
//! place among the keys, which are sorted. With `CAIRN_LIB` there is no such file: programs are compiled with the
//! library that they name.

use crate::Error;
use crate::cache::{Reader, Writer, compiler_identity};
use crate::compiler::Compiler;
use crate::options::{CompileOptions, Level};
use crate::pipeline;
use crate::sources::{Files, Source};
use crate::unfinished;
use cairn_core::ir::{Import, ImportFrom};
use cairn_core::passes::{keep_frames, known};
use cairn_layout::module::ModuleTable;
use cairn_llvm::{Image, Jit};
use cairn_syntax::{BootLibrary, Exported, LibraryName, Session};
use std::fs::File;
use std::io::{IsTerminal, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

/// Where the image lies: below what the system hands out when asked for the low 2 GiB, and near enough that programs
/// there share the part of the card table that is kept for static data (`cairn-heap/src/region.rs`).
const BASE: u64 = 0x3000_0000;
const PAGE: usize = 4096;
/// Before the head: checksum and length.
const START: usize = 24;

/// The compiled library.
pub struct Library {
    file: File,
    /// Where the image begins in the file.
    image: u64,
    size: usize,
    base: u64,
    code_size: u64,
    table: u64,
    object: Range,
    object_checksum: u128,
    /// Names of libraries, and where in `head` it says what they export, if they need not be read.
    libraries: Vec<(String, Option<std::ops::Range<usize>>)>,
    head: Vec<u8>,
    keys: Vec<(u32, u32)>,
    text: String,
}

type Range = std::ops::Range<u64>;

/// Bit of a key's length: calls of the procedure do not return.
const NEVER_RETURNS: u32 = 1 << 31;

/// The library in memory.
pub(crate) struct Loaded {
    pub(crate) code: Jit,
    pub(crate) table: *const ModuleTable,
}

impl Library {
    /// The library in a file, if it is whole and made by this binary for these options.
    fn open(path: &Path, identity: &[u8]) -> Option<Library> {
        let mut file = File::open(path).ok()?;
        let mut start = [0; START];
        file.read_exact(&mut start).ok()?;
        let (checksum, length) = start.split_at(16);
        let length = u64::from_le_bytes(length.try_into().ok()?) as usize;
        if length as u64 > file.metadata().ok()?.len() {
            return None;
        }
        let mut head = vec![0; length];
        file.read_exact(&mut head).ok()?;
        let mut r = Reader(&head);
        if r.get()? != identity {
            return None;
        }
        let (base, size, code_size, table, object) = (r.count()?, r.count()?, r.count()?, r.count()?, r.count()?);
        let object_checksum = r.hash()?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let interface = |r: &mut Reader<'_>| {
            let bytes = r.get()?;
            let start = bytes.as_ptr() as usize - head.as_ptr() as usize;
            Some((!bytes.is_empty()).then_some(start..start + bytes.len()))
        };
        let libraries =
            (0..r.count()?).map(|_| Some((text(r.get()?)?, interface(&mut r)?))).collect::<Option<_>>()?;
        let field = |b: &[u8]| u32::from_le_bytes(b.try_into().expect("four bytes"));
        let keys: Vec<_> = r.get()?.chunks_exact(8).map(|k| (field(&k[..4]), field(&k[4..]))).collect();
        let all = text(r.get()?)?;
        let image = (START + length).next_multiple_of(PAGE) as u64;
        let objects = image + size as u64;
        let library = Library {
            head: Vec::new(),
            file,
            image,
            size,
            base: base as u64,
            code_size: code_size as u64,
            table: table as u64,
            object: objects..objects + object as u64,
            object_checksum,
            libraries,
            keys,
            text: all,
        };
        let whole = library.file.metadata().ok()?.len() == library.object.end;
        (whole && library.checksum(length, &head)? == checksum).then_some(Library { head, ..library })
    }

    fn checksum(&self, length: usize, head: &[u8]) -> Option<[u8; 16]> {
        let mut hash = Xxh3Default::new();
        hash.update(&(length as u64).to_le_bytes());
        hash.update(head);
        let mut at = (START + length) as u64;
        let mut piece = vec![0; 1 << 16];
        while at < self.object.start {
            let wanted = piece.len().min((self.object.start - at) as usize);
            self.file.read_exact_at(&mut piece[..wanted], at).ok()?;
            hash.update(&piece[..wanted]);
            at += wanted as u64;
        }
        Some(hash.digest128().to_le_bytes())
    }

    fn key(&self, i: usize) -> &str {
        let (at, length) = self.keys[i];
        self.text.get(at as usize..(at + (length & !NEVER_RETURNS)) as usize).unwrap_or("")
    }

    fn part(&self, name: &LibraryName) -> Option<&(String, Option<std::ops::Range<usize>>)> {
        let name = name.to_string();
        self.libraries.binary_search_by(|(l, _)| l.cmp(&name)).ok().map(|i| &self.libraries[i])
    }

    /// Number of the export with this key.
    pub fn number(&self, key: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.keys.len());
        while low < high {
            let middle = (low + high) / 2;
            match self.key(middle).cmp(key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle as u32),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Maps the library, or loads a copy of it.
    pub(crate) fn load(&self) -> Result<Loaded, Error> {
        if let Some(code) = Jit::map_image(&self.file, self.image, self.size, self.base, self.code_size) {
            return Ok(Loaded { code, table: self.table as *const ModuleTable });
        }
        let mut object = vec![0; (self.object.end - self.object.start) as usize];
        self.file
            .read_exact_at(&mut object, self.object.start)
            .map_err(|e| format!("cannot read the library: {e}"))?;
        if xxh3_128(&object) != self.object_checksum {
            return Err(Error::Other("the compiled library is damaged; remove it, and it is made again".into()));
        }
        let code = Jit::load_object(&object)?;
        let table = code.lookup("cairn_module").ok_or("the library has no module table".to_string())?;
        Ok(Loaded { table: table as *const ModuleTable, code })
    }
}

impl BootLibrary for Library {
    fn contains(&self, name: &LibraryName) -> bool {
        self.part(name).is_some()
    }

    fn export(&self, key: &str) -> Option<Import> {
        self.variable(self.number(key)?).map(|(_, import)| import)
    }

    fn variable(&self, n: u32) -> Option<(&str, Import)> {
        let never_returns = self.keys.get(n as usize)?.1 & NEVER_RETURNS != 0;
        let key = self.key(n as usize);
        // `(scheme base) map`, `%car first`
        let library = key.find(if key.starts_with('(') { ") " } else { " " })?;
        let name = key[library..].split_once(' ')?.1;
        Some((name, Import { from: ImportFrom::Library(n), never_returns }))
    }

    fn interface(&self, name: &LibraryName) -> Option<Vec<(&str, Exported)>> {
        let mut r = Reader(self.head.get(self.part(name)?.1.clone()?)?);
        (0..r.count()?)
            .map(|_| {
                let name = std::str::from_utf8(r.get()?).ok()?;
                let n = r.count()? as u32;
                let exported = match r.count()? {
                    0 => Exported::Keyword(n),
                    1 => Exported::Primitive(n),
                    _ => Exported::Variable(n),
                };
                Some((name, exported))
            })
            .collect()
    }
}

/// What tells a library from one that another binary made, or for other options.
fn identity(options: &CompileOptions) -> Option<Vec<u8>> {
    let CompileOptions { frames, gc, level: _, sites, verify: _ } = options;
    Some(format!("{} {} {sites} {:?}", frames.name, gc.name, compiler_identity()?).into_bytes())
}

/// Where the library may be: beside the binary, then in the cache.
fn places(options: &CompileOptions, cache: Option<&Path>) -> Vec<PathBuf> {
    let Ok(binary) = std::env::current_exe() else { return Vec::new() };
    let name = binary.file_name().unwrap_or_default().to_string_lossy();
    let sites = if options.sites { "-sites" } else { "" };
    let variant = format!("{}-{}{sites}.library", options.frames.name, options.gc.name);
    let beside = binary.with_file_name(format!("{name}.{variant}"));
    let hash = xxh3_128(binary.as_os_str().as_encoded_bytes());
    let cached = cache.map(|c| c.join(format!("{hash:032x}.{variant}")));
    std::iter::once(beside).chain(cached).collect()
}

/// The library: found, or compiled now.
pub(crate) fn find_or_make(compiler: &Compiler) -> Result<Library, Error> {
    let options = &compiler.options;
    let identity = identity(options).ok_or("the cairn binary cannot be found".to_string())?;
    let places = places(options, compiler.cache_directory());
    let found = || places.iter().find_map(|p| Library::open(p, &identity));
    if let Some(library) = found() {
        return Ok(library);
    }
    // whoever else is making it now is waited for
    let Some((place, _lock)) = places.iter().find_map(|p| Some((p, lock(p)?))) else {
        return Err(not_written(&places));
    };
    if let Some(library) = found() {
        return Ok(library);
    }
    if std::io::stderr().is_terminal() {
        eprintln!("cairn: compiling the library, once for this build of Cairn");
    }
    let bytes = make(compiler, &identity)?;
    let written = unfinished::write_whole(place, &bytes).ok().and_then(|()| Library::open(place, &identity));
    written.ok_or_else(|| not_written(&places))
}

fn not_written(places: &[PathBuf]) -> Error {
    let tried: Vec<String> = places.iter().map(|p| p.display().to_string()).collect();
    Error::Other(format!("the compiled library cannot be written to {}", tried.join(" or ")))
}

/// Locks the file that goes with a place; `None` when nothing can be written there.
fn lock(place: &Path) -> Option<File> {
    if let Some(directory) = place.parent() {
        std::fs::create_dir_all(directory).ok()?;
    }
    let mut name = place.file_name()?.to_os_string();
    name.push(".lock");
    let file = File::create(place.with_file_name(name)).ok()?;
    file.lock().ok()?;
    Some(file)
}

/// Compiles the library: the contents of the file.
fn make(compiler: &Compiler, identity: &[u8]) -> Result<Vec<u8>, Error> {
    let mut compiler = compiler.clone();
    compiler.options.level = Level::High;
    let source = Source::new("", "");
    let mut files = Files::new(&source, &[], None);
    let mut libraries = cairn_eval::library_loader::names();
    libraries.sort_by_key(|l| l.to_string());
    let boot = Session::new()
        .boot_program(&libraries, &mut files)
        .map_err(|f| Error::Rejected(crate::Messages::errors(&f.errors, &f.sources)))?;
    let mut program = boot.expanded.program;
    let always_bound = pipeline::optimize(&mut program, &compiler.options);
    let facts = known::analyze(&program);
    let never = keep_frames::never_return(&program, &facts);
    let module = pipeline::lower_program(&compiler, &program, &always_bound);
    let object = pipeline::object(&compiler, &module)?;
    let image = Image::link(&object, BASE)?;
    let table = image.lookup("cairn_module").ok_or("the library has no module table".to_string())?;

    let exports: Vec<(&str, bool)> =
        boot.exports.iter().map(|(key, g)| (&**key, never[facts.resolve(*g).0 as usize])).collect();
    let interface = |l: &LibraryName| {
        let name = l.to_string();
        let known = boot.interfaces.iter().find(|(n, _)| *n == name);
        let bytes = known.map(|(_, exports)| interface_bytes(exports)).unwrap_or_default();
        (name, bytes)
    };
    let libraries: Vec<(String, Vec<u8>)> = libraries.iter().map(interface).collect();
    Ok(assemble(identity, &image, table, &object, &libraries, &exports))
}

/// What [`BootLibrary::interface`] reads.
fn interface_bytes(exports: &[(String, Exported)]) -> Vec<u8> {
    let mut w = Writer::default();
    w.count(exports.len());
    for (name, exported) in exports {
        w.put(name);
        let (kind, n) = match exported {
            Exported::Keyword(n) => (0, n),
            Exported::Primitive(n) => (1, n),
            Exported::Variable(n) => (2, n),
        };
        w.count(*n as usize);
        w.count(kind);
    }
    w.0
}

/// The contents of a file. Libraries are names and interfaces; exports are keys, sorted, and whether calls of the
/// procedure never return.
fn assemble(
    identity: &[u8],
    image: &Image,
    table: u64,
    object: &[u8],
    libraries: &[(String, Vec<u8>)],
    exports: &[(&str, bool)],
) -> Vec<u8> {
    let mut keys = Vec::new();
    let mut text = String::new();
    for (key, never_returns) in exports {
        let flag = if *never_returns { NEVER_RETURNS } else { 0 };
        keys.extend((text.len() as u32).to_le_bytes());
        keys.extend((key.len() as u32 | flag).to_le_bytes());
        text += key;
    }
    let mut head = Writer::default();
    head.put(identity);
    for n in [image.base as usize, image.bytes.len(), image.code_size as usize, table as usize, object.len()] {
        head.count(n);
    }
    head.hash(xxh3_128(object));
    head.count(libraries.len());
    for (library, interface) in libraries {
        head.put(library);
        head.put(interface);
    }
    head.put(keys);
    head.put(text);
    let mut bytes = vec![0; 16];
    bytes.extend((head.0.len() as u64).to_le_bytes());
    bytes.extend(&head.0);
    bytes.resize(bytes.len().next_multiple_of(PAGE), 0);
    bytes.extend(&image.bytes);
    let checksum = xxh3_128(&bytes[16..]);
    bytes[..16].copy_from_slice(&checksum.to_le_bytes());
    bytes.extend(object);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A library of nothing but its tables.
    fn object() -> Vec<u8> {
        let options = CompileOptions { level: Level::Low, ..CompileOptions::default() };
        let program =
            crate::Compiler::new(options).compile(&Source::new("p.scm", "(import (scheme base)) (car '())"));
        program.unwrap_or_else(|e| panic!("{e}")).object
    }

    fn file(name: &str, object: &[u8]) -> (PathBuf, Vec<u8>) {
        let path = std::env::temp_dir().join(format!("cairn-boot-{name}-{}", std::process::id()));
        let exports = [("% append", false), ("%car car", false), ("(scheme base) error", true)];
        let interface =
            [("car".to_string(), Exported::Primitive(5)), ("error".to_string(), Exported::Variable(2))];
        let libraries =
            [("(scheme base)".to_string(), interface_bytes(&interface)), ("(srfi 2)".to_string(), Vec::new())];
        let image = Image::link(object, BASE).unwrap();
        let table = image.lookup("cairn_module").unwrap();
        (path, assemble(b"me", &image, table, object, &libraries, &exports))
    }

    #[test]
    fn only_what_is_whole_and_of_this_binary_is_believed() {
        let object = object();
        let (path, whole) = file("whole", &object);
        let open = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            Library::open(&path, b"me")
        };
        let library = open(&whole).expect("whole");
        let import = |key: &str| library.export(key).map(|i| (i.from, i.never_returns));
        assert_eq!(import("(scheme base) error"), Some((ImportFrom::Library(2), true)));
        assert_eq!(import("%car car"), Some((ImportFrom::Library(1), false)));
        assert_eq!(import("(scheme base)"), None);
        let names: Vec<_> = (0..4).map(|n| library.variable(n).map(|(name, _)| name)).collect();
        assert_eq!(names, [Some("append"), Some("car"), Some("error"), None]);
        let named = |name: &str| LibraryName::parse(name).unwrap();
        let contains = |name: &str| library.contains(&named(name));
        assert!(contains("(scheme base)") && contains("(srfi 2)") && !contains("(srfi 1)"));
        let interface = library.interface(&named("(scheme base)")).unwrap();
        assert_eq!(interface, [("car", Exported::Primitive(5)), ("error", Exported::Variable(2))]);
        assert!(
            library.interface(&named("(srfi 2)")).is_none() && library.interface(&named("(srfi 1)")).is_none()
        );
        let end = whole.len() - object.len();
        for byte in (0..whole.len()).filter(|b| *b < 512 || b % 997 == 0) {
            let mut flipped = whole.clone();
            flipped[byte] ^= 1 << (byte % 8);
            assert_eq!(open(&flipped).is_none(), byte < end, "byte {byte}");
            assert!(open(&whole[..byte]).is_none(), "length {byte}");
        }
        assert!(open(&whole).is_some());
        assert!(Library::open(&path, b"other").is_none());
        std::fs::remove_file(&path).unwrap();
    }

    /// Two runtimes in one process have a library each: the second one is a copy elsewhere, with the same contents.
    #[test]
    #[allow(unsafe_code)]
    fn a_library_whose_place_is_taken_is_loaded_elsewhere() {
        let object = object();
        let (path, whole) = file("twice", &object);
        std::fs::write(&path, &whole).unwrap();
        let library = Library::open(&path, b"me").expect("whole");
        let (first, second) = (library.load().unwrap(), library.load().unwrap());
        assert_eq!(first.code.code().start, BASE);
        assert!(!first.code.code().contains(&second.code.code().start));
        // SAFETY: both tables are of code that is loaded.
        let counts =
            |l: &Loaded| unsafe { ((*l.table).version, (*l.table).global_count, (*l.table).symbol_count) };
        assert_eq!(counts(&first), counts(&second));
        drop((first, second));
        assert_eq!(library.load().unwrap().code.code().start, BASE, "the place is free again");
        // the object has a checksum of its own
        let mut damaged = whole.clone();
        *damaged.last_mut().unwrap() ^= 1;
        std::fs::write(&path, &damaged).unwrap();
        let library = Library::open(&path, b"me").expect("the image is whole");
        let _first = library.load().unwrap();
        assert!(library.load().is_err());
        std::fs::remove_file(&path).unwrap();
    }
}
