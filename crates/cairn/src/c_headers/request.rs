//! What the name of a library of C asks for, and clang, which is asked.

use crate::cache_directory::compiler_identity;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Debian's name of the compiler.
pub(super) const CLANG: &str = "clang-19";

/// What clang reads of the environment.
pub(super) const VARIABLES: [&str; 3] = ["CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH"];

/// What the name of a library says.
pub(super) struct Request<'a> {
    pub(super) headers: Vec<&'a str>,
    pub(super) libraries: Vec<&'a str>,
    pub(super) options: Vec<&'a str>,
    pub(super) directories: Vec<PathBuf>,
    /// What the options say of directories is relative to those, too.
    pub(super) beside: Vec<PathBuf>,
}

impl<'a> Request<'a> {
    pub(super) fn of(parts: &[&'a str], directories: &[impl AsRef<Path>]) -> Result<Request<'a>, String> {
        let is_option = |p: &&&str| p.starts_with('-');
        let is_header = |p: &&&str| [".h", ".hh", ".hpp", ".c"].iter().any(|end| p.ends_with(end));
        let options = parts.iter().filter(is_option).copied().collect();
        let (headers, libraries): (Vec<&str>, Vec<&str>) =
            parts.iter().filter(|p| !is_option(p)).partition(is_header);
        if headers.is_empty() {
            return Err("it names no header or source, which would end in .h or .c: (c \"zlib.h\" \"z\")".into());
        }
        let is_bad = |p: &&&str| p.contains(['\n', '\0']) || !is_option(p) && p.contains(['"', '>']);
        if let Some(bad) = parts.iter().find(is_bad) {
            return Err(format!("{bad:?} is no name of a header or library"));
        }
        // clang takes an empty one for something else
        let here = |d: &Path| if d.as_os_str().is_empty() { PathBuf::from(".") } else { d.to_path_buf() };
        let directories: Vec<PathBuf> = directories.iter().map(|d| here(d.as_ref())).collect();
        let options: Vec<&str> = options;
        let relative =
            options.iter().filter_map(|o| o.strip_prefix("-I").map(Path::new)).filter(|d| d.is_relative());
        let relative: Vec<&Path> = relative.filter(|d| !d.as_os_str().is_empty()).collect();
        let beside = directories.iter().flat_map(|d| relative.iter().map(move |r| d.join(r))).collect();
        Ok(Request { headers, libraries, options, directories, beside })
    }

    pub(super) fn has_source(&self) -> bool {
        self.headers.iter().any(|h| h.ends_with(".c"))
    }

    /// The lines that include the headers.
    pub(super) fn includes(&self) -> String {
        self.headers.iter().map(|h| format!("#include <{h}>\n")).collect()
    }

    /// Runs clang on a text.
    pub(super) fn clang(&self, arguments: &[&str], text: &str) -> Result<Output, String> {
        let mut command = Command::new(CLANG);
        for directory in self.directories.iter().chain(&self.beside) {
            command.arg("-I").arg(directory);
        }
        command.args(&self.options).args(["-w", "-fno-color-diagnostics", "-fno-caret-diagnostics"]);
        command.args(arguments).args(["-x", "c", "-"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| cannot_run(&e))?;
        let mut input = child.stdin.take().expect("is piped");
        // It may end before it has read all: then its message counts.
        let output = std::thread::scope(|s| {
            s.spawn(move || drop(input.write_all(text.as_bytes())));
            child.wait_with_output()
        });
        output.map_err(|e| cannot_run(&e))
    }

    /// What it prints, if it has no complaint.
    pub(super) fn printed(&self, arguments: &[&str], text: &str) -> Result<String, String> {
        self.said(arguments, text).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What it makes with optimization, if it has no complaint.
    pub(super) fn made(&self, arguments: &[&str], text: &str) -> Result<Vec<u8>, String> {
        let level = if self.options.iter().any(|o| o.starts_with("-O")) { &[][..] } else { &["-O2"] };
        self.said(&[level, arguments].concat(), text)
    }

    pub(super) fn said(&self, arguments: &[&str], text: &str) -> Result<Vec<u8>, String> {
        let output = self.clang(arguments, text)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let error = said.lines().find(|l| l.contains("error:")).unwrap_or(said.lines().next().unwrap_or(""));
        let error =
            error.strip_prefix("<stdin>:").map_or(error, |e| e.split_once("error: ").map_or(e, |(_, m)| m));
        Err(format!("clang-19 says: {error}"))
    }

    /// What identifies it, but for the files.
    pub(super) fn key(&self) -> String {
        // a header beside the program comes before one that was found elsewhere
        let all = || self.directories.iter().chain(&self.beside);
        let present = all().map(|d| self.headers.iter().map(|h| d.join(h).exists()));
        let present: Vec<Vec<bool>> = present.map(Iterator::collect).collect();
        let directories: Vec<_> = all().flat_map(std::path::absolute).collect();
        let variables = VARIABLES.map(std::env::var_os);
        let names = (&self.headers, &self.libraries, &self.options);
        format!("{} {names:?} {directories:?} {present:?} {variables:?}", compiler_identity().unwrap_or_default())
    }
}

pub(super) fn cannot_run(e: &std::io::Error) -> String {
    let install = "apt-get install -y --no-install-recommends clang-19 libc6-dev";
    match e.kind() {
        std::io::ErrorKind::NotFound => {
            format!("headers of C are read by {CLANG}, which is not here\n({install})")
        }
        _ => format!("cannot run {CLANG}: {e}"),
    }
}

/// What a C library may be called, best first: `z` is `libz.so.1`. The name with a version is there without the files
/// for development, too.
pub(super) fn places(name: &str, request: &Request) -> Vec<String> {
    if name.contains('/') || name.contains(".so") {
        return vec![name.into()];
    }
    let file = format!("lib{name}.so");
    if let Some(beside) = request.directories.iter().map(|d| d.join(&file)).find(|p| p.is_file())
        && let Some(path) = std::path::absolute(beside).ok().and_then(|p| Some(p.to_str()?.to_string()))
    {
        return vec![path];
    }
    let asked = request.printed(&[&format!("-print-file-name={file}")], "").unwrap_or_default();
    let found = Path::new(asked.trim());
    const USUAL: [&str; 5] =
        ["/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"];
    let directories = found.parent().filter(|p| p.is_absolute()).map(PathBuf::from).into_iter();
    let directories: Vec<PathBuf> = directories.chain(USUAL.map(PathBuf::from)).collect();
    let target = found.canonicalize().ok().filter(|_| found.is_absolute());
    let prefix = format!("{file}.");
    let mut names: Vec<String> = Vec::new();
    for entry in directories.iter().filter_map(|d| std::fs::read_dir(d).ok()).flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_it = |target: &PathBuf| entry.path().canonicalize().is_ok_and(|p| p == *target);
        // libm.so is a text for the linker
        let text = target.as_ref().is_some_and(|t| t.file_name().is_some_and(|n| *n == *file));
        if name.starts_with(&prefix) && (text || target.as_ref().is_none_or(is_it)) && !names.contains(&name) {
            names.push(name);
        }
    }
    names.sort_by_key(|n| (n.len(), n.clone()));
    names.truncate(1);
    names.push(file);
    names
}
