//! Object code → executable: the system's C compiler as linker, with the runtime as a static library.
//!
//! The object code is the same as for running in memory; `main` comes from a line of C.
//!
//! The runtime library lies beside the `cairn` binary (`libcairn_rt.a`; for programs that evaluate `libcairn_eval.a`,
//! which holds the expander too), so building needs no source tree, and the executable needs neither LLVM nor Cairn. It
//! appears whole or not at all.

use crate::Error;
use crate::unfinished::Unfinished;
use cairn_rt::describe_io;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// `main`, which enters the runtime. The linker defines where the program's code begins and ends.
fn main_of(entry: &str) -> String {
    format!(
        "extern int {entry}(int, char **, const void *, const char *, const char *);\n\
         extern const char cairn_module[], __executable_start[], etext[];\n\
         int main(int argc, char **argv) {{\n\
           return {entry}(argc, argv, cairn_module, __executable_start, etext);\n\
         }}\n"
    )
}

/// Links `object` with the runtime into `output`, and with an expander if it evaluates.
pub(crate) fn executable(object: &[u8], evaluates: bool, output: &Path) -> Result<(), Error> {
    let (library, entry) =
        if evaluates { ("libcairn_eval.a", "cairn_eval_main") } else { ("libcairn_rt.a", "cairn_rt_main") };
    let runtime = runtime_library(library)?;
    if output.is_dir() {
        return Err(Error::Other(format!("cannot write {}: it is a directory", output.display())));
    }
    let cannot_write = |e: std::io::Error| format!("cannot write {}: {}", output.display(), describe_io(&e));
    let object_file = Unfinished::beside(output, "o");
    std::fs::write(object_file.path(), object).map_err(cannot_write)?;
    // A device is written to as it is, not replaced.
    let executable = (output.is_file() || !output.exists()).then(|| Unfinished::beside(output, "exe"));
    let result = Command::new("cc")
        .args(["-O1", "-o"])
        .arg(executable.as_ref().map_or(output, |e| e.path()))
        .arg(object_file.path())
        .args(["-x", "c", "-", "-x", "none"])
        .arg(runtime)
        // The only debug information is that of Rust's library: three fifths of the file. Symbols stay, for profilers.
        .args(["-no-pie", "-Wl,--gc-sections", "-Wl,--strip-debug", "-Wl,-z,noexecstack"])
        .args(["-l:libgmp.a", "-lpthread", "-ldl", "-lm"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .and_then(|mut child| {
            child.stdin.take().expect("piped").write_all(main_of(entry).as_bytes())?;
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

fn runtime_library(name: &str) -> Result<PathBuf, String> {
    let here = std::env::current_exe().map_err(|e| format!("cannot find the cairn binary: {e}"))?;
    let beside = here.with_file_name(name);
    if beside.is_file() {
        return Ok(beside);
    }
    Err(format!("the runtime library {} is missing; build Cairn again with ./cairn", beside.display()))
}
