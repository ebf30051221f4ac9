//! The compiler underneath: clang-19, as a process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Debian's name of it.
const CLANG: &str = "clang-19";

/// A command that runs clang.
pub(crate) fn clang() -> Command {
    Command::new(CLANG)
}

fn cannot_run(e: &std::io::Error) -> String {
    format!("cannot run {CLANG}: {e}\n(apt-get install -y --no-install-recommends clang-19 libc6-dev binutils)")
}

/// Clang does all of it.
pub(crate) fn just_clang(arguments: &[OsString]) -> Result<ExitCode, String> {
    Ok(exit_code(status(clang().args(arguments))?))
}

/// Runs it; its messages go where ours go.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus, String> {
    command.status().map_err(|e| cannot_run(&e))
}

/// Runs it and takes what it says.
pub(crate) fn output(command: &mut Command) -> Result<Output, String> {
    command.stdin(Stdio::null()).output().map_err(|e| cannot_run(&e))
}

/// The exit code to end with after a process has ended with this.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    ExitCode::from(status.code().and_then(|c| u8::try_from(c).ok()).unwrap_or(1))
}

/// A directory for files in between; it goes away with the value.
pub(crate) struct Scratch {
    directory: PathBuf,
    count: AtomicU32,
}

impl Scratch {
    pub(crate) fn new() -> Result<Scratch, String> {
        let base = std::env::temp_dir();
        for attempt in 0..1000 {
            let directory = base.join(format!("cairn-cc-{}-{attempt}", std::process::id()));
            match std::fs::create_dir(&directory) {
                Ok(()) => return Ok(Scratch { directory, count: AtomicU32::new(0) }),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(format!("cannot make a directory in {}: {e}", base.display())),
            }
        }
        Err(format!("cannot make a directory in {}", base.display()))
    }

    /// A file name that was not used before.
    pub(crate) fn file(&self, stem: &Path, extension: &str) -> PathBuf {
        let stem = stem.file_stem().map_or("x".into(), |s| s.to_string_lossy());
        self.directory.join(format!("{stem}-{}.{extension}", self.count.fetch_add(1, Ordering::Relaxed)))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What can't be removed is in the directory for temporary files.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
