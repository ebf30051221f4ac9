//! Which files are test programs.
//!
//! The rule: a file that is named is one. In a directory, and in those below it, a file `….scm` is one if it imports
//! `(srfi 64)` at its top level, or if its name ends in `-test.scm`. Directories whose names begin with a dot are not
//! looked into, nor are `node_modules` and `target`.

use crate::error::Error;
use crate::user_files;
use cairn_rt::describe_io;
use cairn_syntax::read::Reader;
use cairn_syntax::syntax::{Names, Syntax};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A test program.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Where it is.
    pub(super) path: PathBuf,
    /// How it is called in reports.
    pub(super) name: String,
    /// The directory that was searched: libraries are looked for there, too.
    pub(super) root: PathBuf,
    /// Does it import `(srfi 64)`?
    pub(super) has_suites: bool,
}

/// All of them, each once, in the order of paths.
pub(super) fn all(paths: &[PathBuf]) -> Result<Vec<Found>, Error> {
    let here = [PathBuf::from(".")];
    let mut found = Vec::new();
    for path in if paths.is_empty() { &here[..] } else { paths } {
        let kind =
            std::fs::metadata(path).map_err(|e| format!("cannot read {}: {}", path.display(), describe_io(&e)))?;
        if kind.is_dir() {
            let programs =
                user_files::below(path)?.into_iter().filter(|p| p.extension().is_some_and(|e| e == "scm"));
            for file in programs {
                let has_suites = imports_suites(&file);
                if has_suites || file.to_string_lossy().ends_with("-test.scm") {
                    found.push(Found { has_suites, ..program(&file, path) });
                }
            }
        } else {
            let root = path.parent().unwrap_or(Path::new("")).to_path_buf();
            found.push(Found { has_suites: imports_suites(path), ..program(path, &root) });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let mut seen = HashSet::new();
    found.retain(|f| seen.insert(f.path.canonicalize().unwrap_or_else(|_| f.path.clone())));
    Ok(found)
}

fn program(path: &Path, root: &Path) -> Found {
    let path = path.strip_prefix("./").unwrap_or(path).to_path_buf();
    let name = path.display().to_string();
    Found { path, name, root: root.to_path_buf(), has_suites: false }
}

/// Does the program import `(srfi 64)`? Reads imports only, which come first.
fn imports_suites(path: &Path) -> bool {
    let Ok(text) = std::fs::read(path) else { return false };
    let text = String::from_utf8_lossy(&text);
    // most files need not be read
    if !text.contains("64") {
        return false;
    }
    let mut names = Names::default();
    let mut imports = Vec::new();
    let mut reader = Reader::new(0, &text, &mut names);
    while let Ok(Some(form)) = reader.next_datum() {
        imports.push(form);
    }
    let is_import =
        |x: &Syntax| x.parts().0.first().and_then(Syntax::as_ident).map(|id| &**names.name(id)) == Some("import");
    imports.iter().take_while(|x| is_import(x)).any(|x| x.parts().0[1..].iter().any(|set| is_suites(set, &names)))
}

/// Is this `(srfi 64)`, however it is written, or an import set of it?
fn is_suites(set: &Syntax, names: &Names) -> bool {
    let (items, _) = set.parts();
    let text = |x: &Syntax| cairn_syntax::read::show(x, names);
    match items {
        [library, number, ..] if text(library) == "srfi" => ["64", ":64", "srfi-64"].contains(&&*text(number)),
        [modifier, inner, ..] if ["only", "except", "prefix", "rename"].contains(&&*text(modifier)) => {
            is_suites(inner, names)
        }
        _ => false,
    }
}
