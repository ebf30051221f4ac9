//! Files and macros of headers, as the preprocessor tells them.
//!
//! A header includes others. Some are its own parts (`zconf.h` of `zlib.h`), others belong to somebody else (`unistd.h`
//! of `zconf.h`), and whoever imports `zlib.h` does not want `read` and `write`. So a file is part of the one that
//! includes it if the include is in quotation marks or names a directory (`<bits/math.h>`, `<gtk/gtkbutton.h>`), which
//! is no directory of POSIX (`<sys/types.h>`), or asks for the next header of the same name.

use super::request::Request;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use xxhash_rust::xxh3::xxh3_128;

/// What preprocessing tells.
pub(super) struct Preprocessed {
    /// All files that were read.
    pub(super) files: BTreeSet<PathBuf>,
    /// Those that the headers consist of, as clang names them.
    pub(super) own: BTreeSet<String>,
    /// Macros without parameters that are defined in them, with their texts.
    pub(super) macros: BTreeMap<String, String>,
    /// Hash of what clang has printed.
    pub(super) text: u128,
}

/// Directories of headers of POSIX.
const POSIX: [&str; 4] = ["sys/", "net/", "netinet/", "arpa/"];

pub(super) fn read(request: &Request) -> Result<Preprocessed, String> {
    let text = request.printed(&["-E", "-dD", "-dI"], &request.includes())?;
    let hash = xxh3_128(text.as_bytes());
    let mut p = Preprocessed { files: BTreeSet::new(), own: BTreeSet::new(), macros: BTreeMap::new(), text: hash };
    // files being read, each with whether it is part of the headers
    let mut open: Vec<(String, bool)> = Vec::new();
    let mut included = false;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# ") {
            let Some((file, flags)) = marker(rest) else { continue };
            match flags.split(' ').next() {
                Some("1") => {
                    let own = match open.len() {
                        0 | 1 => !file.starts_with('<'),
                        _ => included && open.last().is_some_and(|(_, own)| *own),
                    };
                    if !file.starts_with('<') {
                        p.files.insert(PathBuf::from(&file));
                        if own {
                            p.own.insert(file.clone());
                        }
                    }
                    open.push((file, own));
                }
                Some("2") if open.len() > 1 => drop(open.pop()),
                _ if open.is_empty() => open.push((file, false)),
                _ => {}
            }
        } else if let Some(rest) = line.strip_prefix("#include") {
            let base = open.last().map_or("", |(file, _)| file);
            included = is_part(rest, base, &request.headers);
        } else if let Some(rest) = line.strip_prefix("#define ") {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
            let (name, body) = rest.split_at(end);
            p.macros.remove(name);
            if open.last().is_some_and(|(_, own)| *own) && !body.starts_with('(') && !body.trim().is_empty() {
                p.macros.insert(name.into(), body.trim().into());
            }
        } else if let Some(name) = line.strip_prefix("#undef ") {
            p.macros.remove(name.trim());
        }
    }
    Ok(p)
}

/// File and flags of `12 "file.h" 1 3 4`.
fn marker(rest: &str) -> Option<(String, &str)> {
    let (_, rest) = rest.split_once(" \"")?;
    let end = rest.rfind('"')?;
    Some((rest[..end].replace("\\\\", "\\").replace("\\\"", "\""), rest[end + 1..].trim()))
}

/// Is what `#include` is followed by part of the file `base`?
fn is_part(rest: &str, base: &str, headers: &[&str]) -> bool {
    let rest = rest.split(" /*").next().unwrap_or(rest).trim();
    let (next, rest) = match rest.strip_prefix("_next") {
        Some(rest) => (true, rest.trim()),
        None => (false, rest),
    };
    let Some(name) = rest.strip_prefix('<').and_then(|r| r.strip_suffix('>')) else { return true };
    let last = |path: &str| path.rsplit('/').next().map(String::from);
    if next {
        return last(name) == last(base);
    }
    match POSIX.iter().find(|d| name.starts_with(**d)) {
        Some(directory) => headers.iter().any(|h| h.starts_with(directory)),
        None => name.contains('/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_header_are_told_from_other_headers() {
        let part = |rest, base| is_part(rest, base, &["zlib.h"]);
        assert!(part(" \"zconf.h\" /* clang -E -dI */", "/usr/include/zlib.h"));
        assert!(part(" <bits/mathcalls.h>", "/usr/include/math.h"));
        assert!(part("_next <limits.h>", "/usr/lib/clang/19/include/limits.h"));
        assert!(!part("_next <limits.h>", "/usr/lib/clang/19/include/float.h"));
        assert!(!part(" <unistd.h> /* clang -E -dI */", "/usr/include/zconf.h"));
        assert!(!part(" <sys/types.h>", "/usr/include/zconf.h"));
        assert!(is_part(" <sys/select.h>", "/usr/include/sys/types.h", &["sys/types.h"]));
        assert_eq!(marker("12 \"/a b/\\\"c\\\".h\" 1 3"), Some(("/a b/\"c\".h".into(), "1 3")));
        assert_eq!(marker("pragma once"), None);
    }
}
