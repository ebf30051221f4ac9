//! Where GMP's static library lies, as the C compiler knows: it becomes a part of whatever uses this crate, so that
//! neither Cairn nor its executables need GMP on the machine where they run.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let Ok(output) = Command::new("cc").arg("-print-file-name=libgmp.a").output() else { return };
    let file = String::from_utf8_lossy(&output.stdout);
    if let Some(directory) = Path::new(file.trim()).parent().filter(|d| d.is_absolute()) {
        println!("cargo:rustc-link-search=native={}", directory.display());
    }
}
