//! C sources as parts of programs: `(import (c "kernel.c"))`.
//!
//! ```text
//! kernel.c ──clang-19 -O2──▶ bitcode ──LLVM──▶ KEY.c-source.o       linked with executables
//!                                              KEY.c-source.so      for programs in Cairn's own process
//!                                              KEY.c-source.ll      small functions, inlined in both
//! ```
//!
//! The problem: the functions of a source, unlike those of a header, are in no library. The idea: they become one,
//! which is kept in Cairn's cache under a key made of the preprocessed text and the options; programs know it by the
//! key (`cairn-rt/src/c/sources.rs`), so that nothing in them says where the cache was.
//!
//! Several files are one text for clang, in the order of the library's name.

use super::declarations::Declarations;
use super::preprocessed::Preprocessed;
use super::request::{CLANG, Request, cannot_run, places};
use super::types::Type;
use crate::cache_directory::Cache;
use crate::cache_room::touch;
use crate::unfinished::{Unfinished, write_whole};
use cairn_layout::c::CType;
use cairn_llvm::{c_source, c_type_name};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// A source that was compiled.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct CSource {
    /// What it is called in programs and in the cache.
    pub(crate) key: String,
    /// What the linker has to know besides.
    pub(crate) link: Vec<String>,
    /// The functions that are inlined.
    pub(super) numbers: Vec<i64>,
}

impl CSource {
    fn file(&self, suffix: &str) -> Option<PathBuf> {
        Some(Cache::of_environment()?.directory().join(format!("{}.c-source.{suffix}", self.key)))
    }

    /// The object in the cache.
    pub(crate) fn object(&self) -> Option<PathBuf> {
        self.file("o")
    }

    /// All that is in the cache.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        ["o", "so", "ll"].iter().filter_map(|suffix| self.file(suffix)).collect()
    }

    /// Makes its small functions known to LLVM's users in this process.
    pub(super) fn register(&self) {
        self.files().iter().for_each(|path| touch(path));
        if let Some(text) = self.file("ll").and_then(|path| std::fs::read_to_string(path).ok()) {
            c_source::register(&self.numbers, &text);
        }
    }
}

/// What the text of the library has to know of a source.
pub(super) struct Made {
    pub(super) source: CSource,
    /// What it defines, but for static functions; those that are inlined have a number.
    pub(super) functions: BTreeMap<String, Option<i64>>,
}

/// Compiles the sources of a library.
pub(super) fn compile(request: &Request, before: &Preprocessed, d: &Declarations) -> Result<Made, String> {
    let key = format!("{:032x}", xxh3_128(format!("{} {:032x}", request.key(), before.text).as_bytes()));
    let cannot_keep = "what is made of a C source is kept in Cairn's cache, and there is none (CAIRN_CACHE_DIR)";
    let cache = Cache::of_environment().ok_or(cannot_keep)?;
    let defined = d.functions.iter().filter(|f| f.is_defined && !f.is_static);
    let defined: Vec<(String, i64)> = defined.map(|f| (f.symbol.clone(), number(&key, &f.symbol))).collect();
    let table = format!("cairn_c_source_{key}");
    let mut text = request.includes();
    _ = writeln!(text, "const struct {{ const char *name; const void *address; }} {table}[] = {{");
    for (name, _) in &defined {
        _ = writeln!(text, "  {{ \"{name}\", (const void *) {name} }},");
    }
    text += "  { 0, 0 } };\n";
    let bitcode = request.made(&["-fPIC", "-emit-llvm", "-c", "-o", "-"], &text)?;
    // a processor that the options name is not the one that Scheme is compiled for
    let candidates = if request.options.iter().any(|o| o.starts_with("-m")) { &[][..] } else { &defined };
    let compiled = c_source::compile(&bitcode, &table, candidates)?;
    let link = request.libraries.iter().filter_map(|name| {
        let place = places(name, request).into_iter().next()?;
        Some(if place.contains('/') { place } else { format!("-l:{place}") })
    });
    let link: Vec<String> = link.collect();
    let functions = d.functions.iter().filter_map(|f| {
        let (_, number) = defined.iter().find(|(symbol, _)| *symbol == f.symbol)?;
        let same = compiled.inlined.get(&f.symbol).is_some_and(|types| Some(types) == types_of(d, f).as_ref());
        Some((f.name.clone(), same.then_some(*number)))
    });
    let functions: BTreeMap<String, Option<i64>> = functions.collect();
    let source = CSource { key, link, numbers: functions.values().filter_map(|n| *n).collect() };
    cache.make();
    let write = |suffix: &str, bytes: &[u8]| {
        let path = source.file(suffix).ok_or(cannot_keep)?;
        write_whole(&path, bytes).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        Ok::<PathBuf, String>(path)
    };
    let object = write("o", &compiled.object)?;
    write("ll", compiled.small.as_bytes())?;
    shared_object(&source, &object)?;
    source.register();
    Ok(Made { source, functions })
}

/// The number of a function: another text of the source, another number.
fn number(key: &str, function: &str) -> i64 {
    const BITS: u64 = (1 << 58) - 1;
    ((xxh3_64(format!("{key} {function}").as_bytes()) & BITS) | 1) as i64
}

/// The types of a function as LLVM writes them, if compiled code can call it itself.
fn types_of(d: &Declarations, f: &super::declarations::Function) -> Option<Vec<String>> {
    let passed = |text: &String| match d.names.type_of(text) {
        Type::Void => Some(CType::Void),
        Type::Number(t) => CType::by_name(t),
        Type::Pointer | Type::Array(..) | Type::Function(_) => Some(CType::Pointer),
        _ => None,
    };
    let types = std::iter::once(&f.result).chain(&f.parameters).map(passed);
    types.map(|t| Some(c_type_name(t?).to_string())).collect()
}

/// Links the object for programs in Cairn's own process.
fn shared_object(source: &CSource, object: &Path) -> Result<(), String> {
    let target = object.with_extension("so");
    let file = Unfinished::beside(&target, "tmp");
    let mut command = Command::new(CLANG);
    command.arg("-shared").arg("-o").arg(file.path()).arg(object).args(&source.link).arg("-lm");
    let output = command.output().map_err(|e| cannot_run(&e))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("clang-19 cannot link it: {}", said.lines().next().unwrap_or("")));
    }
    file.finish().map_err(|e| format!("cannot write {}: {e}", target.display()))
}
