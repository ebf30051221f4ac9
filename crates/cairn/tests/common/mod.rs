//! Where the tests of the whole system find things.

#![allow(dead_code)] // each test uses its part

pub mod matrix;

#[path = "../../../../tests/support/package.rs"]
mod package;

use std::fs::File;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The source tree.
pub fn root() -> PathBuf {
    package::package().join("../..").canonicalize().unwrap()
}

/// Is it a text that others wrote, a reference implementation that stays as it is? Then it lies in a folder of its own
/// with its licence, and our form and our findings do not concern it. `tidy` has the list of such folders.
pub fn of_others(path: &std::path::Path) -> bool {
    path.extension().is_some_and(|e| e == "scm") && path.with_file_name("LICENSE").exists()
}

/// The command line under test: `CAIRN_BINARY`, or the one built with the test.
pub fn binary() -> PathBuf {
    std::env::var_os("CAIRN_BINARY").map_or(env!("CARGO_BIN_EXE_cairn").into(), PathBuf::from)
}

/// `cairn` with these arguments, in a directory and with a cache of its own there.
pub fn cairn(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(arguments).current_dir(directory).env("CAIRN_CACHE_DIR", directory.join("cache"));
    command
}

/// A program that has only so many kilobytes of addresses, and leaves no core file.
pub fn with_addresses(kilobytes: usize, program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -c 0; ulimit -v {kilobytes}; exec \"$0\" \"$@\"")]).arg(program);
    command
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a program that succeeds prints, and it complains of nothing.
pub fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    text(&output.stdout)
}

/// What `cairn run` with these options writes of a program, which succeeds. No other test has this name.
pub fn run_text(name: &str, program: &str, options: &[&str]) -> String {
    let directory = Directory::new(name);
    directory.write("program.scm", program);
    let file = directory.0.join("program.scm");
    let output = Command::new(binary()).arg("run").args(options).arg(file).output().unwrap();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// A directory that goes away with the value.
pub struct Directory(pub PathBuf);

impl Directory {
    pub fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("cairn-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    /// Writes a file, and makes the directories on the way to it.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// Both sides of a new terminal, ours first.
#[allow(unsafe_code)]
pub fn terminal() -> (File, OwnedFd) {
    let (mut ours, mut theirs) = (0, 0);
    let null = std::ptr::null_mut();
    let size = libc::winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the pointers are valid or null, and the descriptors new and nobody else's.
    unsafe {
        assert_eq!(libc::openpty(&mut ours, &mut theirs, null, null.cast(), &size), 0);
        (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    }
}

/// Seconds of processor time of the processes that this one has waited for.
#[allow(unsafe_code)]
pub fn seconds_of_children() -> f64 {
    // SAFETY: all zero is a value; the pointer is valid.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
