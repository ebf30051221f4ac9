//! Which options of a link leave alone what names mean?
//!
//! The problem: `--wrap`, `--defsym`, scripts and the like make the linker put one function in the place of another,
//! and whole-program analysis would look at the wrong one. So only options are accepted of which it is known that they
//! don't: whatever else stands there, the first program stays.

use crate::command::Piece;

/// Without a value, or with one after `=`.
const PLAIN: &[&str] = &[
    "E",
    "export-dynamic",
    "no-export-dynamic",
    "dynamic-list",
    "export-dynamic-symbol",
    "as-needed",
    "no-as-needed",
    "add-needed",
    "no-add-needed",
    "copy-dt-needed-entries",
    "no-copy-dt-needed-entries",
    "gc-sections",
    "no-gc-sections",
    "print-gc-sections",
    "start-group",
    "end-group",
    "(",
    ")",
    "whole-archive",
    "no-whole-archive",
    "push-state",
    "pop-state",
    "s",
    "S",
    "x",
    "X",
    "strip-all",
    "strip-debug",
    "discard-all",
    "discard-locals",
    "build-id",
    "hash-style",
    "eh-frame-hdr",
    "no-eh-frame-hdr",
    "no-undefined",
    "allow-shlib-undefined",
    "no-allow-shlib-undefined",
    "fatal-warnings",
    "no-fatal-warnings",
    "enable-new-dtags",
    "disable-new-dtags",
    "relax",
    "no-relax",
    "sort-common",
    "sort-section",
    "cref",
    "t",
    "trace",
    "verbose",
    "stats",
    "demangle",
    "no-demangle",
    "Bstatic",
    "Bdynamic",
    "dn",
    "dy",
    "static",
    "pie",
    "no-pie",
    "color-diagnostics",
    "threads",
    "no-threads",
    "no-keep-memory",
    "reduce-memory-overheads",
    "compress-debug-sections",
    "package-metadata",
    "no-ld-generated-unwind-info",
    "M",
    "print-map",
    "print-memory-usage",
];

/// With a value, in the same word after `=` or in the next.
const WITH_VALUE: &[&str] =
    &["rpath", "rpath-link", "Map", "soname", "h", "dynamic-linker", "I", "m", "dependency-file", "L", "l", "z"];

/// Keywords of `-z`.
const KEYWORDS: &[&str] = &[
    "relro",
    "norelro",
    "now",
    "lazy",
    "noexecstack",
    "defs",
    "origin",
    "text",
    "notext",
    "separate-code",
    "noseparate-code",
    "combreloc",
    "nocopyreloc",
    "pack-relative-relocs",
    "max-page-size",
    "common-page-size",
    "stack-size",
];

/// Options of clang's after which a program has no C library or begins elsewhere.
const WITHOUT_LIBRARY: &[&str] = &["-nostdlib", "-nolibc", "-nodefaultlibs", "-nostartfiles", "-r"];

/// The first option that may change what names mean.
pub(crate) fn strange(pieces: &[Piece]) -> Option<String> {
    let mut words: Vec<String> = vec![];
    for piece in pieces {
        match piece {
            Piece::Linker(option) => {
                let option: Vec<_> = option.iter().map(|w| w.to_string_lossy().into_owned()).collect();
                match &option[..] {
                    [one] if one.starts_with("-Wl,") => words.extend(one[4..].split(',').map(str::to_string)),
                    [x, value] if x == "-Xlinker" => words.push(value.clone()),
                    [x, ..] if x.starts_with("-fuse-ld") || x == "-rdynamic" || x.starts_with("-static") => {}
                    [x, ..] if WITHOUT_LIBRARY.contains(&x.as_str()) => return Some(x.clone()),
                    other => words.extend(other.iter().cloned()),
                }
            }
            Piece::Flag(flag) => {
                if let Some(flag) = flag.iter().find(|f| WITHOUT_LIBRARY.iter().any(|w| *f == w)) {
                    return Some(flag.to_string_lossy().into_owned());
                }
            }
            _ => {}
        }
    }
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !harmless(word, &mut words) {
            return Some(word.clone());
        }
    }
    None
}

/// Is it an option that changes no name? Takes its value.
fn harmless<'a>(word: &str, rest: &mut impl Iterator<Item = &'a String>) -> bool {
    let Some(name) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else {
        return false;
    };
    let (stem, value) = name.split_once('=').map_or((name, None), |(n, v)| (n, Some(v)));
    if PLAIN.contains(&stem) || stem.starts_with("warn-") || stem.starts_with("no-warn-") {
        return true;
    }
    let keyword = |text: &str| KEYWORDS.contains(&text.split('=').next().unwrap_or_default());
    if WITH_VALUE.contains(&stem) {
        let value = value.map(str::to_string).or_else(|| rest.next().cloned());
        return stem != "z" || value.is_some_and(|v| keyword(&v));
    }
    // A value without a space: -lm, -L/usr/lib, -O1, -znow.
    let short = !word.starts_with("--");
    short && (name.starts_with(['l', 'L', 'O']) || name.strip_prefix('z').is_some_and(keyword))
}

#[cfg(test)]
mod tests {
    use crate::command::Command;
    use std::ffi::OsString;

    fn strange(line: &str) -> Option<String> {
        super::strange(&Command::parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>()).pieces)
    }

    #[test]
    fn usual_options_change_no_names() {
        for line in [
            "-O2 a.o -lm -L. -Llib -pthread -fopenmp -static -rdynamic -pie -s",
            "-Wl,-O1,--as-needed,-z,relro,-z,now -Wl,-rpath,/x -Wl,-rpath=/y -Wl,-Map=a.map a.o",
            "-Wl,--start-group a.o b.a -Wl,--end-group -Xlinker --gc-sections -z noexecstack -Wl,-znow",
            "-Wl,--whole-archive b.a -Wl,--no-whole-archive -Wl,--build-id=none -Wl,--hash-style=gnu",
        ] {
            assert_eq!(strange(line), None, "{line}");
        }
    }

    #[test]
    fn options_that_give_names_other_meanings() {
        for (line, option) in [
            ("-Wl,--wrap=f a.o", "--wrap=f"),
            ("-Wl,--wrap,f a.o", "--wrap"),
            ("-Xlinker -wrap -Xlinker f a.o", "-wrap"),
            ("-Wl,--as-needed,--defsym=f=g a.o", "--defsym=f=g"),
            ("-Wl,--version-script=v a.o", "--version-script=v"),
            ("-T script a.o", "-T"),
            ("-Wl,-T,script a.o", "-T"),
            ("-u f a.o", "-u"),
            ("-Wl,@more a.o", "@more"),
            ("-z muldefs a.o", "-z"),
            ("-nostdlib a.o", "-nostdlib"),
            ("-nostartfiles a.o", "-nostartfiles"),
            ("-Wl,-e,start a.o", "-e"),
            ("-Wl,-Bsymbolic a.o", "-Bsymbolic"),
        ] {
            assert_eq!(strange(line).as_deref(), Some(option), "{line}");
        }
    }
}
