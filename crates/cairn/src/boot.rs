//! The library compiled once: what is in `lib/` as one module in a file, mapped by programs that run on it. Left out is
//! the folder `lib/more/`: libraries that few programs use, which are compiled or evaluated with those.
//!
//! The problem: a program uses a small part of the library, or, if it evaluates, all of it; compiling that part with
//! every program costs more than the program itself. The idea: the whole library is compiled when it is first needed,
//! or by `./cairn` right after the binary, once for each frame strategy and collector, linked for a fixed address, and
//! written to a file beside the binary (or, if nobody may write there, in the cache). A program on the library is
//! expanded with the library's macros and names ([`cairn_syntax::BootLibrary`]), and imports its variables.
//!
//! LLVM takes a quarter of a minute for it, so a run that does not find its library has our own code generator make
//! one, in a file of its own, in two or three seconds. If that run goes on for long, another process has LLVM make the
//! best, for the runs after it. What the two export is the same, in the same order.
//!
//! ```text
//!  cairn.chunks-gen.library
//!
//!      checksum of head, index and image
//!      head       identity of the compiler; where the image belongs
//!      index      names of libraries; keys of exports ([`cairn_eval::library_index`])
//!      image      pages, mapped; those of code and constants are shared by all programs that run
//!      object     what the image was linked from: loaded as a copy when the image's place is taken; its own checksum
//!                 is in the head
//! ```
//!
//! Invariants: a file is believed only if its checksum is right and it was made by this very binary, whose `lib/` it
//! holds; otherwise it is made again. It appears whole or not at all ([`crate::unfinished`]). With `CAIRN_LIB` there is
//! no such file: programs are compiled with the library that they name. Executables that evaluate contain image and
//! index ([`crate::link`]).

use crate::background::{LONG, Work};
use crate::cache_directory::compiler_identity;
use crate::counted_bytes::{Reader, Writer};
use crate::error::Error;
use crate::options::{Backend, CompileOptions, Level};
use crate::session::Compiler;
use crate::source::{Source, Texts};
use crate::sources::Files;
use crate::stages;
use crate::unfinished;
use cairn_core::passes::Disabled;
use cairn_core::passes::{keep_frames, known};
use cairn_eval::library_index::LibraryIndex;
use cairn_layout::module::ModuleTable;
use cairn_llvm::{Image, Jit, OptLevel};
use cairn_syntax::{LibraryName, Session};
use std::fs::File;
use std::io::{IsTerminal, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
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
    index: Arc<LibraryIndex>,
    /// Where the index lies in the file.
    index_place: Range,
}

type Range = std::ops::Range<u64>;

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
        let index = r.get()?;
        let index_start = START + (index.as_ptr() as usize - head.as_ptr() as usize);
        let index_place = index_start as u64..(index_start + index.len()) as u64;
        let image = (START + length).next_multiple_of(PAGE) as u64;
        let objects = image + size as u64;
        let library = Library {
            file,
            image,
            size,
            base: base as u64,
            code_size: code_size as u64,
            table: table as u64,
            object: objects..objects + object as u64,
            object_checksum,
            index: Arc::new(LibraryIndex::new(index.to_vec().into())?),
            index_place,
        };
        let whole = library.file.metadata().ok()?.len() == library.object.end;
        (whole && library.checksum(length, &head)? == checksum).then_some(library)
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

    /// What it exports.
    pub(crate) fn index(&self) -> Arc<LibraryIndex> {
        self.index.clone()
    }

    /// What an executable needs of it.
    pub(crate) fn parts(&self) -> Parts<'_> {
        let code = self.image..self.image + self.code_size;
        let data = code.end..self.image + self.size as u64;
        let (base, table) = (self.base, self.table);
        Parts { file: &self.file, code, data, index: self.index_place.clone(), base, table }
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

/// Where the parts of the library lie in its file, and where they are to lie in memory: the code at `base`, the data
/// right behind it.
pub(crate) struct Parts<'a> {
    pub(crate) file: &'a File,
    pub(crate) code: Range,
    pub(crate) data: Range,
    pub(crate) index: Range,
    pub(crate) base: u64,
    /// Address of the module table.
    pub(crate) table: u64,
}

/// What tells a library from one that another binary made, or for other options.
fn identity(options: &CompileOptions) -> Option<Vec<u8>> {
    let CompileOptions {
        frames,
        gc,
        level: _,
        backend,
        sites,
        debug: _,
        compact: _,
        coverage: _,
        disabled: _,
        verify: _,
    } = options;
    Some(format!("{} {} {backend:?} {sites} {:?}", frames.name, gc.name, compiler_identity()?).into_bytes())
}

/// Where the library may be: beside the binary, then in the cache.
fn places(options: &CompileOptions, cache: Option<&Path>) -> Vec<PathBuf> {
    let Ok(binary) = std::env::current_exe() else { return Vec::new() };
    let name = binary.file_name().unwrap_or_default().to_string_lossy();
    let sites = if options.sites { "-sites" } else { "" };
    let own = if options.backend == Backend::Own { "-own" } else { "" };
    let variant = format!("{}-{}{sites}{own}.library", options.frames.name, options.gc.name);
    let beside = binary.with_file_name(format!("{name}.{variant}"));
    let hash = xxh3_128(binary.as_os_str().as_encoded_bytes());
    let cached = cache.map(|c| c.join(format!("{hash:032x}.{variant}")));
    std::iter::once(beside).chain(cached).collect()
}

/// The library for a run: the best if that is there, else what is soon made.
pub(crate) fn find_or_make_soon(compiler: &Compiler) -> Result<Library, Error> {
    if let Some(library) = find(compiler) {
        return Ok(library);
    }
    let soon = CompileOptions { backend: Backend::Own, ..compiler.options };
    if library_level(&soon) != OptLevel::Own || library_level(&compiler.options) == OptLevel::Own {
        return find_or_make(compiler);
    }
    let library = find_or_make(&Compiler { options: soon, ..compiler.clone() })?;
    make_later(compiler);
    Ok(library)
}

/// The options for the library, whatever those for programs are.
fn library_options(options: &CompileOptions) -> CompileOptions {
    CompileOptions { level: Level::High, debug: false, disabled: Disabled::NOTHING, ..*options }
}

fn library_level(options: &CompileOptions) -> OptLevel {
    stages::llvm_level(&library_options(options))
}

/// Has this process somebody who will have the library made? It asks for it as it compiles, and again as it runs.
static LATER: AtomicBool = AtomicBool::new(false);

/// If this process is there for long, another one makes the library.
fn make_later(compiler: &Compiler) {
    if compiler.background.is_none() || LATER.swap(true, Ordering::Relaxed) {
        return;
    }
    let work = Work::new(compiler.clone(), Source::new("", ""), Texts::new());
    let later = move || {
        std::thread::sleep(LONG);
        work.library();
    };
    // without a thread there will be none
    let _ = std::thread::Builder::new().spawn(later);
}

/// The library that these options ask for, if it is there.
fn find(compiler: &Compiler) -> Option<Library> {
    let places = places(&compiler.options, compiler.cache_directory());
    find_at(&places, &identity(&compiler.options)?)
}

fn find_at(places: &[PathBuf], identity: &[u8]) -> Option<Library> {
    places.iter().find_map(|p| Library::open(p, identity))
}

/// The library: found, or compiled now.
pub(crate) fn find_or_make(compiler: &Compiler) -> Result<Library, Error> {
    let options = &compiler.options;
    let identity = identity(options).ok_or("the cairn binary cannot be found".to_string())?;
    let places = places(options, compiler.cache_directory());
    let found = || find_at(&places, &identity);
    if let Some(library) = found() {
        return Ok(library);
    }
    let _notice = Notice::start(options);
    // whoever else is making it now is waited for
    let Some((place, _lock)) = places.iter().find_map(|p| Some((p, lock(p)?))) else {
        return Err(not_written(&places));
    };
    if let Some(library) = found() {
        return Ok(library);
    }
    let bytes = make(compiler, &identity)?;
    let written = unfinished::write_whole(place, &bytes).ok().and_then(|()| Library::open(place, &identity));
    written.ok_or_else(|| not_written(&places))
}

/// Tells the terminal why nothing happens, if that takes longer than a moment, whoever makes the library. It has ended
/// when this is dropped. Standard error that is no terminal is the program's alone.
struct Notice(Option<(Sender<()>, JoinHandle<()>)>);

/// A wait that needs no explanation.
const MOMENT: Duration = Duration::from_millis(300);

impl Notice {
    fn start(options: &CompileOptions) -> Notice {
        if !std::io::stderr().is_terminal() {
            return Notice(None);
        }
        let (end, ended) = channel();
        let time = if library_level(options) == OptLevel::Own { "a few seconds" } else { "about a minute" };
        let (usual, mut which) = (CompileOptions::default(), String::new());
        if (options.gc.name, options.frames.name) != (usual.gc.name, usual.frames.name) {
            which = format!(" for --gc={} --frames={}", options.gc.name, options.frames.name);
        }
        let tell = move || {
            if ended.recv_timeout(MOMENT) == Err(RecvTimeoutError::Timeout) {
                eprintln!("cairn: compiling the library{which}, once for this build of Cairn: {time}");
            }
        };
        Notice(std::thread::Builder::new().spawn(tell).ok().map(|thread| (end, thread)))
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            // a terminal that is gone is none of the caller's concern
            let _ = thread.join();
        }
    }
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
    let compiler = Compiler { options: library_options(&compiler.options), ..compiler.clone() };
    let source = Source::new("", "");
    let mut files = Files::new(&source, &[], None);
    let mut libraries = cairn_eval::library_loader::compiled_names();
    libraries.sort_by_key(|l| l.to_string());
    let boot = Session::new()
        .boot_program(&libraries, &mut files)
        .map_err(|f| Error::Rejected(crate::diagnostics::Messages::errors(&f.errors, &f.sources)))?;
    let mut program = boot.expanded.program;
    let always_bound = stages::optimize(&mut program, &compiler.options);
    let facts = known::analyze(&program);
    let never = keep_frames::never_return(&program, &facts);
    let module = stages::lower_program(&compiler, &program, &always_bound);
    let object = stages::object(&compiler, &module)?;
    let image = Image::link(&object, BASE)?;
    let table = image.lookup("cairn_module").ok_or("the library has no module table".to_string())?;

    let exports: Vec<(&str, bool)> =
        boot.exports.iter().map(|(key, g)| (&**key, never[facts.resolve(*g).0 as usize])).collect();
    let interface = |l: &LibraryName| {
        let name = l.to_string();
        let known = boot.interfaces.iter().find(|(n, _)| *n == name);
        (name, known.map(|(_, exports)| &**exports))
    };
    let libraries: Vec<_> = libraries.iter().map(interface).collect();
    Ok(assemble(identity, &image, table, &object, &LibraryIndex::bytes(&libraries, &exports)))
}

/// The contents of a file.
fn assemble(identity: &[u8], image: &Image, table: u64, object: &[u8], index: &[u8]) -> Vec<u8> {
    let mut head = Writer::default();
    head.put(identity);
    for n in [image.base as usize, image.bytes.len(), image.code_size as usize, table as usize, object.len()] {
        head.count(n);
    }
    head.hash(xxh3_128(object));
    head.put(index);
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

impl Compiler {
    /// The library compiled beforehand, made now if need be; `None` when another one stands for it.
    pub(crate) fn boot(&self) -> Option<Library> {
        if self.library.is_some() {
            return None;
        }
        find_or_make_soon(self).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A library of nothing but its tables.
    fn object() -> Vec<u8> {
        let options = CompileOptions { level: Level::Low, ..CompileOptions::default() };
        let program = crate::session::Compiler::new(options)
            .compile(&Source::new("p.scm", "(import (scheme base)) (car '())"));
        program.unwrap_or_else(|e| panic!("{e}")).object
    }

    fn file(name: &str, object: &[u8]) -> (PathBuf, Vec<u8>) {
        let path = std::env::temp_dir().join(format!("cairn-boot-{name}-{}", std::process::id()));
        let index = LibraryIndex::bytes(&[("(scheme base)".to_string(), None)], &[("(scheme base) error", true)]);
        let image = Image::link(object, BASE).unwrap();
        let table = image.lookup("cairn_module").unwrap();
        (path, assemble(b"me", &image, table, object, &index))
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
        assert_eq!(library.index().number("(scheme base) error"), Some(0));
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
        // SAFETY: the table is part of the code that `l` has loaded and keeps.
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
