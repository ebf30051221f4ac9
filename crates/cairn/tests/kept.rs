//! A program takes from the library what it uses, however much it imports.

use std::process::Command;

mod common;
use common::{Directory, binary};

/// Expressions of Core behind the optimizer, as `--time` tells.
fn kept(d: &Directory, program: &str) -> usize {
    d.write("p.scm", program);
    let mut command = Command::new(binary());
    command.args(["build", "--llvm=none", "--time", "p.scm", "-o", "p"]).current_dir(&d.0);
    let told =
        String::from_utf8(command.env("CAIRN_CACHE_DIR", d.0.join("cache")).output().unwrap().stderr).unwrap();
    let line = told.lines().find(|l| l.trim_start().starts_with("optimize ")).unwrap_or_else(|| panic!("{told}"));
    let words: Vec<&str> = line.split_whitespace().collect();
    words[words.len() - 2].parse().unwrap_or_else(|e| panic!("{e}: {line}"))
}

/// Tables, parameters and record types that libraries make when they are imported go with what uses them.
#[test]
fn what_is_imported_and_not_used_is_left_out() {
    let d = Directory::new("kept");
    let hello = kept(&d, "(display \"hello\")");
    let one = |library: &str| kept(&d, &format!("(import (only {library} display)) (display \"hello\")"));
    let (rnrs, chez) = (one("(rnrs)"), one("(chezscheme)"));
    let used = kept(&d, "(import (rnrs)) (display (hashtable-ref (make-eq-hashtable) 1 2))");
    assert!(hello < 1_500 && rnrs < hello + 500, "{hello}, {rnrs}");
    assert!(chez < 5_000, "{chez}: its `display` knows of writers for records, so of hash tables");
    assert!(used > rnrs + 1_000, "{used}, {rnrs}: hash tables are not small");
}
