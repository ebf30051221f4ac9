//! Where the tests of the whole system find things.

#![allow(dead_code)] // each test uses its part

use std::path::{Path, PathBuf};

/// The source tree.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The command line under test: `CAIRN_BINARY`, or the one built with the test.
pub fn binary() -> PathBuf {
    std::env::var_os("CAIRN_BINARY").map_or(env!("CARGO_BIN_EXE_cairn").into(), PathBuf::from)
}
