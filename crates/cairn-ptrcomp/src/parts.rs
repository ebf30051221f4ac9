//! What takes part in a link: the files that the linker names, sorted by what is known of their code.

use crate::dsa::externals::{allocates, effects};
use crate::sections::{self, Content};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What takes part in a link.
#[derive(Default)]
pub(crate) struct Parts {
    /// Bitcode of each object that has it.
    pub modules: Vec<Vec<u8>>,
    /// The objects' names on the command line.
    pub objects: Vec<PathBuf>,
    /// Names of the program that code outside of the modules uses.
    pub kept: BTreeSet<String>,
    /// Code of which nothing is known but its names: objects without bitcode, and libraries other than the C library.
    pub foreign: Vec<String>,
    /// The program is to be debugged.
    pub lines: bool,
    /// Objects that are no longer what their bitcode was made for.
    pub edited: Vec<String>,
}

/// Sorts the files the linker has named.
pub(crate) fn parts(trace: &str, program: &std::path::Path) -> Result<Parts, String> {
    let mut parts = Parts::default();
    let mut seen = BTreeSet::new();
    // Of names that are defined outside of the modules: where; and in them.
    let (mut elsewhere, mut here) = (BTreeMap::new(), vec![]);
    for line in trace.lines().filter(|l| !l.is_empty()) {
        if !seen.insert(line) {
            continue;
        }
        let system = sections::of_the_system(line);
        match sections::content(line)? {
            Content::Bitcode { modules, names, lines } => {
                parts.modules.extend(modules);
                parts.objects.push(line.into());
                parts.lines |= lines;
                here.extend(names.defined.into_iter().map(|n| (n, line)));
            }
            Content::Native { names, edited } => {
                parts.kept.extend(names.used);
                if !system {
                    parts.foreign.push(line.into());
                    elsewhere.extend(names.defined.into_iter().map(|n| (n, (line, true))));
                }
                if edited {
                    parts.edited.push(line.into());
                }
            }
            Content::Shared(names) if !system => {
                parts.foreign.push(line.into());
                for name in names.defined {
                    elsewhere.entry(name).or_insert((line, false));
                }
            }
            Content::Shared(_) | Content::List => {}
        }
    }
    for (name, object) in &here {
        if let Some((other, true)) = elsewhere.get(name) {
            return Err(format!("{name} is defined in {object} and in {other}"));
        }
        if allocates(name) {
            return Err(format!("{name} is the program's own, of {object}"));
        }
    }
    let library = |name: &str| allocates(name) || effects(name, 0).is_some();
    if let Some((name, (file, _))) = elsewhere.iter().find(|(name, _)| library(name)) {
        return Err(format!("{name} is not the C library's but that of {file}"));
    }
    parts.kept.extend(sections::exported(program)?);
    parts.kept.insert("main".into());
    Ok(parts)
}
