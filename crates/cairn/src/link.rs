//! Object code → executable: the system's C compiler as linker, with the runtime as a static library.
//!
//! The object code is the same as for running in memory; `main` comes from a line of C.
//!
//! A program that evaluates was compiled on the library that is in a file ([`crate::boot`]). Its executable contains
//! that, at the address for which it was linked, and its index.
//!
//! The runtime library lies beside the `cairn` binary (`libcairn_rt.a`; for programs that evaluate `libcairn_eval.a`,
//! which holds the expander too; a package has only this one), so building needs no source tree, and the executable
//! needs neither LLVM nor Cairn, nor any library but the system's own. It appears whole or not at all.

use crate::Error;
use crate::boot::Parts;
use crate::c_headers::CSource;
use crate::compiler::Compiled;
use crate::unfinished::Unfinished;
use cairn_rt::describe_io;
use std::io::Write;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a program is linked with.
pub(crate) enum Link<'a> {
    /// The runtime.
    Runtime,
    /// The runtime and an expander.
    Evaluating,
    /// These, and the library that it was compiled on.
    OnLibrary(Parts<'a>),
}

/// Where executables with the library begin: near its place, so that both share the part of the card table that is kept
/// for static data (`cairn-heap/src/region.rs`).
const BESIDE_LIBRARY: u64 = 0x2800_0000;

impl Link<'_> {
    /// `main`, which enters the runtime. The linker defines where the program's code begins and ends.
    fn main(&self) -> String {
        let (entry, library, declared, given) = match self {
            Link::Runtime => ("cairn_rt_main", String::new(), "", ""),
            Link::Evaluating => ("cairn_eval_main", String::new(), "", ""),
            Link::OnLibrary(parts) => (self::ON_LIBRARY, library(parts), ", const struct library *", ", &library"),
        };
        format!(
            "{library}\
             extern int {entry}(int, char **, const void *, const char *, const char *{declared});\n\
             extern const char cairn_module[], __executable_start[], etext[];\n\
             int main(int argc, char **argv) {{\n\
               return {entry}(argc, argv, cairn_module, __executable_start, etext{given});\n\
             }}\n"
        )
    }

    /// The archives that hold the runtime; the smallest first.
    pub(crate) fn archives(&self) -> &'static [&'static str] {
        match self {
            Link::Runtime => &["libcairn_rt.a", "libcairn_eval.a"],
            Link::Evaluating | Link::OnLibrary(_) => &["libcairn_eval.a"],
        }
    }

    /// What else the linker has to know.
    fn options(&self) -> Vec<String> {
        let Link::OnLibrary(Parts { code, base, .. }) = self else { return Vec::new() };
        let data = base + (code.end - code.start);
        let place = |section: &str, at: u64| format!("-Wl,--section-start=.cairn_library_{section}={at:#x}");
        vec![place("code", *base), place("data", data), format!("-Wl,-Ttext-segment={BESIDE_LIBRARY:#x}")]
    }
}

const ON_LIBRARY: &str = "cairn_eval_main_on_library";

/// The library as sections of their own, which are linked already, and the description that
/// [`cairn_eval::cairn_eval_main_on_library`] reads. The assembler copies the parts from the open file, for whatever
/// has its name by now may be another one.
fn library(parts: &Parts<'_>) -> String {
    let file = format!("/proc/{}/fd/{}", std::process::id(), parts.file.as_raw_fd());
    let section = |name: &str, flags: &str, part: &Range<u64>| {
        let (start, length) = (part.start, part.end - part.start);
        format!(
            "__asm__(\".section .cairn_library_{name},\\\"{flags}\\\",@progbits\\n\
             cairn_library_{name}: .incbin \\\"{file}\\\", {start}, {length}\\n\
             cairn_library_{name}_end:\\n.text\");\n\
             extern const char cairn_library_{name}[], cairn_library_{name}_end[];\n"
        )
    };
    let (code, data, index) = (
        section("code", "ax", &parts.code),
        section("data", "aw", &parts.data),
        section("index", "a", &parts.index),
    );
    format!(
        "{code}{data}{index}\
         static const struct library {{ const void *table; const char *code, *code_end, *data, *index, *index_end; }}\n\
         library = {{ (const void *) {:#x}, cairn_library_code, cairn_library_code_end, cairn_library_data,\n\
                     cairn_library_index, cairn_library_index_end }};\n",
        parts.table
    )
}

/// Links a program with what it needs into `output`, an executable.
pub(crate) fn executable(program: &Compiled, link: Link<'_>, debug: bool, output: &Path) -> Result<(), Error> {
    let runtime = runtime_library(link.archives())?;
    let place = link.options();
    let mut options: Vec<&str> = place.iter().map(String::as_str).collect();
    options.push("-no-pie");
    // Rust's library has debug information, too: three fifths of the file. Symbols stay, for profilers.
    options.extend((!debug).then_some("-Wl,--strip-debug"));
    linked(program, &link.main(), &runtime, &options, output)
}

/// What makes the program's C sources known to the runtime before anything runs.
fn c_sources(program: &Compiled) -> String {
    let mut text = String::new();
    for CSource { key, .. } in &program.c_sources {
        text += &format!(
            "extern const char cairn_c_source_{key}[];\n\
             extern void cairn_rt_c_source(const char *, const void *);\n\
             __attribute__((constructor)) static void cairn_knows_{key}(void) {{\n\
               cairn_rt_c_source(\"{key}\", cairn_c_source_{key});\n}}\n"
        );
    }
    text
}

/// Links a program, its C sources, the runtime and what this text of C says into `output`.
pub(crate) fn linked(
    program: &Compiled,
    c: &str,
    runtime: &Path,
    options: &[&str],
    output: &Path,
) -> Result<(), Error> {
    if output.is_dir() {
        return Err(Error::Other(format!("cannot write {}: it is a directory", output.display())));
    }
    let cannot_write = |e: std::io::Error| format!("cannot write {}: {}", output.display(), describe_io(&e));
    let object_file = Unfinished::beside(output, "o");
    std::fs::write(object_file.path(), &program.object).map_err(cannot_write)?;
    // A device is written to as it is, not replaced.
    let executable = (output.is_file() || !output.exists()).then(|| Unfinished::beside(output, "exe"));
    let result = Command::new("cc")
        .args(["-O1", "-o"])
        .arg(executable.as_ref().map_or(output, |e| e.path()))
        .arg(object_file.path())
        .args(program.c_sources.iter().filter_map(CSource::object))
        .args(["-x", "c", "-", "-x", "none"])
        .arg(runtime)
        // No library of the compiler's is needed where the executable runs: libgcc is in it.
        .args(["-static-libgcc", "-Wl,--gc-sections", "-Wl,-z,noexecstack"])
        .args(options)
        .args(program.c_sources.iter().flat_map(|s| &s.link))
        .args(["-lpthread", "-ldl", "-lm"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .and_then(|mut child| {
            let c = [c, &c_sources(program)].concat();
            child.stdin.take().expect("piped").write_all(c.as_bytes())?;
            child.wait_with_output()
        });
    let result = result.map_err(|e| {
        format!("cannot run the linker `cc`: {} (install a C compiler: apt-get install gcc)", describe_io(&e))
    })?;
    if result.status.success() {
        return Ok(executable.map_or(Ok(()), Unfinished::finish).map_err(cannot_write)?);
    }
    Err(Error::Other(format!(
        "linking {} failed:\n{}",
        output.display(),
        String::from_utf8_lossy(&result.stderr).trim_end()
    )))
}

/// The first of these that lies beside the `cairn` binary.
pub(crate) fn runtime_library(names: &[&str]) -> Result<PathBuf, String> {
    let here = std::env::current_exe().map_err(|e| format!("cannot find the cairn binary: {e}"))?;
    let beside = |name: &&str| here.with_file_name(name);
    names.iter().map(beside).find(|p| p.is_file()).ok_or_else(|| {
        let name = beside(&names[0]);
        format!("the runtime library {} is missing; build Cairn again with ./cairn", name.display())
    })
}
