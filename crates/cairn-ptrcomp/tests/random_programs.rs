//! Random C programs print the same compiled with small pointers and by clang without optimization, however they are
//! linked: from sources, from archives or joined objects, with an object or a shared library of clang's, with `--wrap`,
//! with threads or C++ beside them, with an allocator that is loaded before.
//!
//! A few seconds here; `CAIRN_C_PROGRAMS=10000 CAIRN_C_SEED=1 cargo test -p cairn-ptrcomp --test random_programs` for
//! hours. A program that differs stays in the directory that the message names.

mod random_c;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// What a program writes, how it ends, and what it complains of.
fn result(program: &Path) -> ((String, Option<i32>), String) {
    result_after(program, None)
}

/// What a program writes, how it ends, and what it complains of, when this library is loaded before it.
fn result_after(program: &Path, preloaded: Option<&Path>) -> ((String, Option<i32>), String) {
    let mut command = Command::new("timeout");
    command.arg("20");
    if let Some(library) = preloaded {
        command.arg("env").arg(format!("LD_PRELOAD={}", library.display()));
    }
    let output = command.arg(program).output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    ((text(&output.stdout), output.status.code()), text(&output.stderr))
}

/// How the programs are compiled. Every program with the first two, with dynamic pools of 8 bits and as without options
/// but for 8 bits, and by turns with one of the others of each kind.
const MODES: [&[&str]; 10] = [
    &["--ptrcomp=static"],
    &["--ptrcomp=pool"],
    &["--ptrcomp=static", "--pool-bits=16"],
    &["--ptrcomp=static", "--pool-bits=8"],
    // Pools of more than 255 objects are expanded.
    &["--ptrcomp=dynamic", "--pool-bits=8"],
    &["--ptrcomp=dynamic", "--pool-bits=16"],
    &["--ptrcomp=dynamic"],
    // What is proven to fit a kilobyte is static: nothing may ever be full.
    &["--pool-bits=8"],
    &["--pool-bits=16"],
    &["--pool-bits=32"],
];

/// Ways to link a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Link {
    /// Sources and all in one command.
    Sources,
    /// Objects, some of them in a library.
    Archive,
    /// Objects that `ld -r` has joined.
    Joined,
    /// The last file is an object of clang's.
    Native,
    /// The last file is a shared library.
    Shared,
    /// With `--wrap`.
    Wrapped,
    /// With lines for debuggers.
    Debugged,
    /// With an object whose OpenMP threads allocate while the program does.
    Parallel,
    /// With an object of a C++ compiler's that allocates before, during and after `main`.
    Cxx,
    /// A library with an allocator of its own is loaded before the program.
    Preloaded,
}

const LINKS: [Link; 10] = [
    Link::Sources,
    Link::Archive,
    Link::Joined,
    Link::Native,
    Link::Shared,
    Link::Wrapped,
    Link::Debugged,
    Link::Parallel,
    Link::Cxx,
    Link::Preloaded,
];

/// Threads of OpenMP that make and drop lists from before `main` until after it.
const THREADS: &str = "#include <pthread.h>\n#include <stdlib.h>\nstruct n { struct n *next; long v; };\n\
    static volatile int over; static pthread_t other;\n\
    static void *work(void *p) { while (!over) {\n\
    _Pragma(\"omp parallel for num_threads(2)\") for (int k = 0; k < 8; k++) { struct n *h = 0; long made = 0;\n\
    for (; made < 100; made++) { struct n *q = malloc(sizeof *q); if (!q) break; q->v = made; q->next = h; h = q; }\n\
    while (h) { struct n *d = h; if (d->v != --made) abort(); h = d->next; free(d); } if (made) abort(); } } return p; }\n\
    __attribute__((constructor)) static void begin(void) { pthread_create(&other, 0, work, 0); }\n\
    __attribute__((destructor)) static void end(void) { over = 1; pthread_join(other, 0); }\n";

/// A C++ object with a map that is filled before `main` and looked through after it.
const CXX: &str = "#include <cstdlib>\n#include <map>\n#include <string>\n#include <thread>\n\
    struct table { std::map<int, std::string> m; std::thread t;\n\
    table() : t([this] { for (int i = 0; i < 1000; i++) m[i] = std::string(i % 50, 'x'); }) {}\n\
    ~table() { t.join(); for (auto &e : m) if (e.second.size() != (size_t)(e.first % 50)) std::abort(); } };\n\
    static table all;\n";

/// An allocator that hands out memory once and never again, with a word before each piece; each thread has its own.
const ALLOCATOR: &str = "#include <errno.h>\n#include <string.h>\n#include <sys/mman.h>\ntypedef unsigned long w;\n\
    static __thread char *at __attribute__((tls_model(\"initial-exec\")));\n\
    static __thread char *end __attribute__((tls_model(\"initial-exec\")));\n\
    static void *give(w n, w align) { if (n >> 40) { errno = ENOMEM; return 0; } w p = ((w)at + 16 + align - 1) / align * align;\n\
    if (!at || p + n > (w)end) { w size = n + align + (64ul << 20);\n\
    at = mmap(0, size, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); if (at == MAP_FAILED) { at = 0; errno = ENOMEM; return 0; }\n\
    end = at + size; p = ((w)at + 16 + align - 1) / align * align; }\n\
    ((w *)p)[-1] = n; at = (char *)p + n; return (void *)p; }\n\
    void *malloc(w n) { return give(n, 16); }\nvoid free(void *p) { if (p) memset(p, 0xdd, ((w *)p)[-1]); }\n\
    void *calloc(w a, w b) { w n; if (__builtin_mul_overflow(a, b, &n)) return 0; return give(n, 16); }\n\
    void *realloc(void *p, w n) { w m = p ? ((w *)p)[-1] : 0; if (p && n <= m) return p;\n\
    void *q = give(n, 16); if (p && q) { memcpy(q, p, m); free(p); } return q; }\n\
    void *memalign(w align, w n) { return give(n, align); }\nvoid *aligned_alloc(w align, w n) { return give(n, align); }\n\
    int posix_memalign(void **p, w align, w n) { return (*p = give(n, align)) ? 0 : ENOMEM; }\n\
    w malloc_usable_size(void *p) { return p ? ((w *)p)[-1] : 0; }\n";

/// A program's sources, and where it is made.
struct Sources<'a> {
    directory: &'a Path,
    /// Without the wrapper.
    files: Vec<String>,
}

impl Sources<'_> {
    fn run(&self, tool: &str, words: &[&str]) -> Result<(), String> {
        let output =
            Command::new(tool).args(words).current_dir(self.directory).output().map_err(|e| e.to_string())?;
        let message = || format!("{tool} {words:?}: {}", String::from_utf8_lossy(&output.stderr));
        if output.status.success() { Ok(()) } else { Err(message()) }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.directory.join(name), text).expect("a file");
    }

    fn path(&self, name: &str) -> OsString {
        self.directory.join(name).into()
    }

    /// `cairn cc` with these options.
    fn cc(&self, options: &[&str], more: &[OsString]) -> Result<(), String> {
        let mut words: Vec<OsString> = options.iter().map(OsString::from).collect();
        words.extend(["-w", "-O2", "--check-indices", "--report=html"].map(OsString::from));
        words.extend(more.iter().cloned());
        if cairn_ptrcomp::cc(&words) == ExitCode::SUCCESS { Ok(()) } else { Err("cairn cc fails".into()) }
    }

    /// Makes `small`.
    fn build(&self, options: &[&str], link: Link) -> Result<(), String> {
        let (last, others) = self.files.split_last().expect("a file");
        let mut inputs: Vec<OsString> = vec![];
        match link {
            Link::Sources => inputs.extend(self.files.iter().map(|f| self.path(f))),
            Link::Parallel => {
                self.write("threads.c", THREADS);
                self.run("gcc", &["-O2", "-fopenmp", "-c", "threads.c", "-o", "threads.o"])?;
                inputs.extend(self.files.iter().map(|f| f.as_str()).chain(["threads.o"]).map(|f| self.path(f)));
                // libgcc_s is there when a thread ends, also if the program has limited its memory by then
                inputs.extend(
                    ["-l:libgomp.so.1", "-pthread", "-Wl,--no-as-needed", "-l:libgcc_s.so.1"].map(OsString::from),
                );
            }
            Link::Cxx => {
                self.write("more.cc", CXX);
                self.run("g++", &["-O2", "-c", "more.cc", "-o", "more.o"])?;
                inputs.extend(self.files.iter().map(|f| f.as_str()).chain(["more.o"]).map(|f| self.path(f)));
                inputs.extend(["-l:libstdc++.so.6".into(), "-pthread".into()]);
            }
            Link::Preloaded => {
                self.write("allocator.c", ALLOCATOR);
                let words = ["-O2", "-fno-builtin", "-fPIC", "-shared", "allocator.c", "-o", "liballocator.so"];
                self.run("clang-19", &words)?;
                inputs.extend(self.files.iter().map(|f| self.path(f)));
            }
            Link::Debugged => {
                inputs.extend(["-g".into()].into_iter().chain(self.files.iter().map(|f| self.path(f))))
            }
            Link::Wrapped => {
                inputs.push("-Wl,--wrap=tick".into());
                inputs.extend(
                    self.files.iter().map(|f| f.as_str()).chain([random_c::WRAPPER]).map(|f| self.path(f)),
                );
            }
            Link::Native => {
                self.run("clang-19", &["-w", "-O1", "-c", last, "-o", "last.o"])?;
                inputs.extend(others.iter().map(|f| self.path(f)).chain([self.path("last.o")]));
            }
            Link::Shared => {
                self.run("clang-19", &["-w", "-O1", "-fPIC", "-shared", last, "-o", "liblast.so"])?;
                inputs.extend(others.iter().map(|f| self.path(f)).chain([self.path("liblast.so")]));
                inputs.push(format!("-Wl,-rpath={}", self.directory.display()).into());
            }
            Link::Archive | Link::Joined => {
                let objects: Vec<String> = self.files.iter().map(|f| f.replace(".c", ".o")).collect();
                for (source, object) in self.files.iter().zip(&objects) {
                    self.cc(options, &["-c".into(), self.path(source), "-o".into(), self.path(object)])?;
                }
                let all: Vec<&str> = objects.iter().map(String::as_str).collect();
                if link == Link::Joined {
                    self.run("ld", &[&["-r", "-o", "all.o"], &all[..]].concat())?;
                    inputs.push(self.path("all.o"));
                } else {
                    let _ = std::fs::remove_file(self.path("liball.a"));
                    self.run("ar", &[&["rc", "liball.a"], &all[1..], &all[..1]].concat())?;
                    inputs.extend([self.path(all[0]), self.path("liball.a")]);
                }
            }
        }
        inputs.extend(["-o".into(), self.path("small")]);
        self.cc(options, &inputs)
    }
}

/// Is this tool on the machine?
fn is_there(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|o| o.status.success())
}

fn check(directory: &Path, seed: u64) -> Result<(), String> {
    let program = random_c::program(seed);
    std::fs::create_dir_all(directory).expect("a directory for the program");
    for (name, text) in &program.files {
        std::fs::write(directory.join(name), text).expect("a file");
    }
    let names = program.files.iter().map(|f| f.0.clone());
    let files = names.filter(|n| n.ends_with(".c") && n != random_c::WRAPPER).collect();
    let sources = Sources { directory, files };
    let all: Vec<&str> = sources.files.iter().map(String::as_str).collect();
    // One file alone has `main` and can be no library.
    let links = LINKS.iter().copied().filter(|l| all.len() > 1 || !matches!(l, Link::Native | Link::Shared));
    // What fits into little memory depends on who else takes some, and on the allocator.
    let is_limited = program.files.iter().any(|(_, text)| text.contains("setrlimit"));
    let links = links.filter(|l| !is_limited || !matches!(l, Link::Parallel | Link::Preloaded | Link::Cxx));
    let links: Vec<Link> = links.filter(|l| *l != Link::Cxx || is_there("g++")).collect();
    sources.run("clang-19", &[&["-w", "-O0", "-o", "plain"], &all[..]].concat())?;
    let (plain, _) = result(&directory.join("plain"));
    let (mut wrapped, mut preloaded) = (None, None);
    let library = directory.join("liballocator.so");
    let turn = (seed % 2) as usize;
    let modes = [MODES[0], MODES[1], MODES[2 + turn], MODES[4], MODES[5 + turn], MODES[7], MODES[8 + turn]];
    for (number, options) in modes.into_iter().enumerate() {
        let link = links[(seed as usize + number) % links.len()];
        let mode = format!("{}, {link:?}", options.join(" "));
        sources.build(options, link).map_err(|e| format!("{mode}: {e}"))?;
        let expected = match link {
            Link::Wrapped => wrapped.get_or_insert_with(|| {
                let words = [&["-w", "-O0", "-Wl,--wrap=tick", "-o", "wrapped"], &all[..], &[random_c::WRAPPER]];
                sources.run("clang-19", &words.concat()).expect("clang links it");
                result(&directory.join("wrapped")).0
            }),
            Link::Preloaded => {
                preloaded.get_or_insert_with(|| result_after(&directory.join("plain"), Some(&library)).0)
            }
            _ => &plain,
        };
        let small = directory.join("small");
        let report = std::fs::read_to_string(small.with_extension("html")).unwrap_or_default();
        // What the checker objects to is dropped, so it would not show.
        if let Some(row) = report.split("<td>").find(|r| r.contains("the checker ")) {
            return Err(format!("{mode}: {row}"));
        }
        let (found, complaint) = result_after(&small, Some(library.as_path()).filter(|_| link == Link::Preloaded));
        // A static pool of few bits may be too small; the program ends after what it had to say until then.
        let full = complaint.contains("is full: compile with a larger --pool-bits");
        if options.len() == 2 && options[0] == "--ptrcomp=static" && full && expected.0.starts_with(&found.0) {
            continue;
        }
        if found != *expected {
            return Err(format!("{mode}: expected {expected:?}, found {found:?}"));
        }
    }
    Ok(())
}

#[test]
fn programs_print_the_same() {
    let (first, count) = (setting("CAIRN_C_SEED", 1), setting("CAIRN_C_PROGRAMS", 5));
    let base: PathBuf = std::env::temp_dir().join(format!("cairn-c-programs-{}", std::process::id()));
    let mut bad = vec![];
    for seed in first..first + count {
        let directory = base.join(seed.to_string());
        match check(&directory, seed) {
            Ok(()) => std::fs::remove_dir_all(&directory).expect("it is ours"),
            Err(why) => bad.push(format!("seed {seed}, in {}: {why}", directory.display())),
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    let _ = std::fs::remove_dir_all(&base);
}
