//! The directory of the package under test. Not where it was compiled: the tests may run in a copy of the source tree,
//! which cargo and nextest tell by a variable.

use std::path::PathBuf;

pub fn package() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into()).into()
}
