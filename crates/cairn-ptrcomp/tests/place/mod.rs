//! Directories for tests, and what is done in them.
#![allow(dead_code)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// A directory for one test.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("cairn-cc-test-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Place(path)
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// `{}` is the directory.
    pub fn cc(&self, line: &str) -> bool {
        let here = self.0.to_str().expect("UTF-8");
        let words: Vec<OsString> = line.split(' ').map(|w| w.replace("{}", here).into()).collect();
        cairn_ptrcomp::cc(&words) == ExitCode::SUCCESS
    }

    /// Exit status and output of a program.
    pub fn run(&self, name: &str) -> (Option<i32>, String) {
        let output = Command::new(self.path(name)).output().expect("the program runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn has_pools(program: &Path) -> bool {
    let bytes = std::fs::read(program).expect("the program");
    [&b"cairn_pool_extend"[..], b"cairn_dynamic_extend"]
        .iter()
        .any(|name| bytes.windows(name.len()).any(|w| w == *name))
}

/// Every kind of pools.
pub const ALL: &[&str] = &["static", "dynamic", "auto"];

/// Runs a program without pools and with each kind; `smaller` are the kinds with which it has some.
pub fn same(name: &str, program: &str, smaller: &[&str]) {
    let place = Place::new(name);
    place.file("a.c", program);
    assert!(place.cc("-O2 -w --ptrcomp=off {}/a.c -o {}/plain"));
    let expected = place.run("plain");
    assert_eq!(expected.0, Some(0), "{expected:?}");
    for &mode in ALL {
        assert!(place.cc(&format!("-O2 -w --ptrcomp={mode} --check-indices {{}}/a.c -o {{}}/prog")));
        assert_eq!(place.run("prog"), expected, "{mode}");
        assert_eq!(has_pools(&place.path("prog")), smaller.contains(&mode), "{mode}");
    }
}
