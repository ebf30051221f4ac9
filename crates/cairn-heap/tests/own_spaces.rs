//! Plans own their spaces, as the sources say: what is shared is used by several collectors, and shared code names no
//! space that only one of them has.
#![allow(missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The code of all files below a directory, comments left out.
fn sources(directory: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(sources(&path));
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.lines().map(|l| l.split("//").next().unwrap());
            all.insert(path, code.collect::<Vec<_>>().join("\n"));
        }
    }
    all
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The collectors, by their folders, whose code satisfies this.
fn collectors(satisfies: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let gc = source().join("gc");
    let all = sources(&gc);
    let folder = |path: &Path| {
        let mut parts = path.strip_prefix(&gc).unwrap().components();
        let first = parts.next()?.as_os_str().to_str().unwrap().to_owned();
        parts.next().map(|_| first)
    };
    all.iter().filter(|(_, code)| satisfies(code)).filter_map(|(path, _)| folder(path)).collect()
}

fn has_word(code: &str, word: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == word)
}

#[test]
fn a_space_that_is_shared_has_several_collectors() {
    let state = std::fs::read_to_string(source().join("state.rs")).unwrap();
    let (_, core) = state.split_once("pub(crate) struct Core {").unwrap();
    let (core, _) = core.split_once("\n}").unwrap();
    let fields = core
        .lines()
        .filter_map(|l| l.trim().strip_prefix("pub(crate) ")?.strip_suffix("Space,")?.split_once(": "));
    let spaces: Vec<&str> = fields.map(|(field, _)| field).collect();
    assert!(spaces.contains(&"large") && spaces.contains(&"immortal"), "{spaces:?}");
    for space in spaces {
        let users = collectors(|code| has_word(code, space));
        assert!(users.len() >= 2, "`{space}` of `Core` is used by {users:?} only: it belongs to that plan");
    }
}

#[test]
fn shared_code_names_no_space_that_one_collector_has() {
    let source = source();
    let shared = sources(&source);
    let shared =
        shared.iter().filter(|(path, _)| !["gc", "space"].iter().any(|d| path.starts_with(source.join(d))));
    let shared: Vec<_> = shared.collect();
    let mut own = Vec::new();
    for path in sources(&source.join("space")).keys() {
        let space = path.file_stem().unwrap().to_str().unwrap();
        let named = format!("space::{space}::");
        let users = collectors(|code| code.contains(&named));
        if users.len() == 1 {
            own.push(space.to_owned());
            for (file, code) in &shared {
                assert!(!code.contains(&named), "{file:?} names {space}, which only {users:?} has");
            }
        }
    }
    assert_eq!(own, ["markregion", "pages", "pinned", "segregated"]);
}
