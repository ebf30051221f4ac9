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

use crate::boot::Parts;
use crate::c_headers::CSource;
use crate::compiled::Compiled;
use crate::error::Error;
use crate::open_run::UnitObject;
use crate::unfinished::Unfinished;
use cairn_layout::fingerprint;
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
    /// These, the library that it was compiled on, and modules for what it loads or evaluates.
    OnLibrary(Parts<'a>, &'a [UnitObject]),
}

/// Where executables with the library begin: near its place, so that both share the part of the card table that is kept
/// for static data (`cairn-heap/src/region.rs`).
const BESIDE_LIBRARY: u64 = 0x2800_0000;

/// Where the code of the modules of such executables begins: no module's is mixed with other code.
const UNITS: u64 = 0x2000_0000;
const PAGE: u64 = 4096;

impl Link<'_> {
    /// `main`, which enters the runtime. The linker defines where the program's code begins and ends.
    fn main(&self) -> String {
        let (entry, library, declared, given) = match self {
            Link::Runtime => ("cairn_rt_main", String::new(), "", ""),
            Link::Evaluating => ("cairn_eval_main", String::new(), "", ""),
            Link::OnLibrary(parts, units) => {
                (self::ON_LIBRARY, library(parts, units), ", const struct library *", ", &library")
            }
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
            Link::Evaluating | Link::OnLibrary(..) => &["libcairn_eval.a"],
        }
    }

    /// What else the linker has to know.
    fn options(&self) -> Vec<String> {
        let Link::OnLibrary(Parts { code, base, .. }, units) = self else { return Vec::new() };
        let data = base + (code.end - code.start);
        let place = |section: &str, at: u64| format!("-Wl,--section-start={section}={at:#x}");
        let mut options = vec![
            place(".cairn_library_code", *base),
            place(".cairn_library_data", data),
            format!("-Wl,-Ttext-segment={BESIDE_LIBRARY:#x}"),
        ];
        let mut at = UNITS;
        for (n, unit) in units.iter().enumerate() {
            options.push(place(&UnitObject::name(n), at));
            at += (unit.object.len() as u64).next_multiple_of(PAGE);
        }
        options
    }

    /// Objects besides the program's.
    fn objects(&self) -> &[UnitObject] {
        if let Link::OnLibrary(_, units) = self { units } else { &[] }
    }
}

const ON_LIBRARY: &str = "cairn_eval_main_on_library";

/// The library as sections of their own, which are linked already, and the description that
/// [`cairn_eval::cairn_eval_main_on_library`] reads. The assembler copies the parts from the open file, for whatever
/// has its name by now may be another one.
fn library(parts: &Parts<'_>, units: &[UnitObject]) -> String {
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
        "{code}{data}{index}{}\
         static const struct library {{\n\
           const void *table; const char *code, *code_end, *data, *index, *index_end;\n\
           const struct unit *units; unsigned long unit_count;\n\
         }} library = {{ (const void *) {:#x}, cairn_library_code, cairn_library_code_end, cairn_library_data,\n\
                       cairn_library_index, cairn_library_index_end, units, {} }};\n",
        described(units),
        parts.table,
        units.len()
    )
}

/// What [`cairn_eval::LinkedUnit`] is made of.
fn described(units: &[UnitObject]) -> String {
    let (mut declared, mut rows) = (String::new(), String::new());
    for (n, UnitObject { fingerprint, text, lambdas, .. }) in units.iter().enumerate() {
        let name = UnitObject::name(n);
        let numbers: String = lambdas.iter().map(|l| format!("{l}, ")).collect();
        declared += &format!(
            "extern const char {name}_table[], __start_{name}[], __stop_{name}[];\n\
             static const unsigned {name}_lambdas[] = {{ {numbers}0 }};\n"
        );
        rows += &format!(
            "{{ {fingerprint}, {text}u, {name}_table, __start_{name}, __stop_{name}, {name}_lambdas, {} }},\n",
            lambdas.len()
        );
    }
    format!(
        "{declared}\
         static const struct unit {{\n\
           long fingerprint; unsigned long text; const void *table; const char *code, *code_end;\n\
           const unsigned *lambdas; unsigned long lambda_count;\n\
         }} units[] = {{\n{rows}{{ 0 }} }};\n"
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
    linked(program, &link.main(), link.objects(), &runtime, &options, output)
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

/// Links a program, its C sources, modules beside it, the runtime and what this text of C says into `output`.
pub(crate) fn linked(
    program: &Compiled,
    c: &str,
    units: &[UnitObject],
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
    let unit_files: Vec<Unfinished> =
        (0..units.len()).map(|n| Unfinished::beside(output, &format!("unit{n}.o"))).collect();
    for (file, unit) in unit_files.iter().zip(units) {
        std::fs::write(file.path(), &unit.object).map_err(cannot_write)?;
    }
    // A device is written to as it is, not replaced.
    let executable = (output.is_file() || !output.exists()).then(|| Unfinished::beside(output, "exe"));
    let fingerprint = format!("{}{}", fingerprint::SYMBOL, fingerprint::FINGERPRINT);
    let result = Command::new("cc")
        .args(["-O1", "-o"])
        .arg(executable.as_ref().map_or(output, |e| e.path()))
        .arg(object_file.path())
        .args(unit_files.iter().map(Unfinished::path))
        .args(program.c_sources.iter().filter_map(CSource::object))
        .args(["-x", "c", "-", "-x", "none"])
        .arg(runtime)
        // No library of the compiler's is needed where the executable runs: libgcc is in it.
        .args(["-static-libgcc", "-Wl,--gc-sections", "-Wl,-z,noexecstack"])
        .arg(format!("-Wl,--require-defined={fingerprint}"))
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
    let why = String::from_utf8_lossy(&result.stderr);
    if why.contains(&fingerprint) {
        return Err(Error::Other(format!(
            "the runtime library {} is another cairn's; build Cairn again with ./cairn",
            runtime.display()
        )));
    }
    Err(Error::Other(format!("linking {} failed:\n{}", output.display(), why.trim_end())))
}

/// The first of these that lies beside the `cairn` binary.
pub(crate) fn runtime_library(names: &[&str]) -> Result<PathBuf, String> {
    let here = std::env::current_exe().map_err(|e| format!("cannot find the cairn binary: {e}"))?;
    let beside = |name: &&str| here.with_file_name(name);
    let Some(library) = names.iter().map(beside).find(|p| p.is_file()) else {
        let name = beside(&names[0]);
        return Err(format!("the runtime library {} is missing; build Cairn again with ./cairn", name.display()));
    };
    Ok(library)
}
