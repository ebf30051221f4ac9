//! Bitcode in objects: the section, who writes it, and what else the link reads from ELF files.
//!
//! ```text
//!  .cairn.bc (excluded from links):  "CAIRNBC2"  length: u64  what the object was (`fingerprint`), padded to 8 bytes
//!                                                length: u64  bitcode, padded            ; all of it again for each
//!                                                                                       ; object that `ld -r` has joined
//! ```

use crate::clang::Scratch;
use crate::fingerprint::Fingerprint;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, ObjectSymbol};
use std::path::Path;
use std::process::Command;

const SECTION: &str = ".cairn.bc";
const MAGIC: &[u8; 8] = b"CAIRNBC2";

/// Adds bitcode to an object.
pub(crate) fn embed(object: &Path, bitcode: &Path, scratch: &Scratch) -> Result<(), String> {
    let read = |path: &Path| std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()));
    let native = read(object)?;
    let file = object::File::parse(&*native).map_err(|e| format!("{}: {e}", object.display()))?;
    let framed = framed(&[Fingerprint::of(&file).text().as_bytes(), &read(bitcode)?]);
    let file = scratch.file(bitcode, "section");
    std::fs::write(&file, framed).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
    let mut add = std::ffi::OsString::from(format!("{SECTION}="));
    add.push(&file);
    let done = Command::new("objcopy")
        .arg("--add-section")
        .arg(add)
        .args(["--set-section-flags", &format!("{SECTION}=exclude,readonly")])
        .arg(object)
        .output()
        .map_err(|e| format!("cannot run objcopy: {e} (apt-get install -y binutils)"))?;
    if !done.status.success() {
        return Err(format!("objcopy: {}", String::from_utf8_lossy(&done.stderr).trim_end()));
    }
    Ok(())
}

fn framed(pieces: &[&[u8]]) -> Vec<u8> {
    let mut framed = MAGIC.to_vec();
    for bytes in pieces {
        framed.extend((bytes.len() as u64).to_le_bytes());
        framed.extend(*bytes);
        framed.resize(framed.len().next_multiple_of(8), 0);
    }
    framed
}

/// Names that an object has in common with others.
#[derive(Default)]
pub(crate) struct Names {
    pub defined: Vec<String>,
    pub used: Vec<String>,
}

/// What an input of a link is.
pub(crate) enum Content {
    /// Ours: its modules. `lines`: it is to be debugged.
    Bitcode { modules: Vec<Vec<u8>>, names: Names, lines: bool },
    /// Foreign code; `edited` if it was ours.
    Native { names: Names, edited: bool },
    /// A shared library; what it uses of the program is known from the linked program.
    Shared(Names),
    /// An archive, whose members are named themselves, or a list of libraries.
    List,
}

/// Reads a file the linker names as `path` or, of an archive, as `(path)member`.
pub(crate) fn content(named: &str) -> Result<Content, String> {
    let (path, member) = split(named);
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {path}: {e}"))?;
    let Some(member) = member else {
        if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
            return Ok(Content::List);
        }
        return of_object(&bytes, path);
    };
    let archive = ArchiveFile::parse(&*bytes).map_err(|e| format!("{path}: {e}"))?;
    let mut found = vec![];
    for entry in archive.members() {
        let entry = entry.map_err(|e| format!("{path}: {e}"))?;
        if entry.name() == member.as_bytes() {
            found.push(entry.data(&*bytes).map_err(|e| format!("{path}: {e}"))?);
        }
    }
    match found[..] {
        [one] => of_object(one, path),
        _ => Err(format!("{path}: {} members of the name {member}", found.len())),
    }
}

/// Is this file, as the linker names it, part of the C library or the compiler's own?
pub(crate) fn of_the_system(named: &str) -> bool {
    const STEMS: [&str; 18] = [
        "libc",
        "libm",
        "libmvec",
        "libpthread",
        "libdl",
        "librt",
        "libutil",
        "libresolv",
        "libcrypt",
        "libgcc",
        "libgcc_s",
        "libgcc_eh",
        "libc_nonshared",
        "libssp_nonshared",
        "libclang_rt.builtins",
        "crt",
        "ld-linux",
        "ld",
    ];
    const OBJECTS: [&str; 11] = [
        "crt1.o",
        "crti.o",
        "crtn.o",
        "Scrt1.o",
        "rcrt1.o",
        "gcrt1.o",
        "crtbegin.o",
        "crtbeginS.o",
        "crtbeginT.o",
        "crtend.o",
        "crtendS.o",
    ];
    let Ok(path) = Path::new(split(named).0).canonicalize() else { return false };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let system = ["/usr/lib", "/lib"].iter().any(|d| path.starts_with(d)) || path.starts_with("/usr/lib64");
    let library = STEMS.iter().any(|stem| {
        let rest = name.strip_prefix(stem);
        rest.is_some_and(|r| r.starts_with(".so") || r.starts_with(".a") || version(r))
    });
    system && (library || OBJECTS.contains(&&*name))
}

/// As in `libm-2.36.a`, `ld-linux-x86-64.so.2`.
fn version(rest: &str) -> bool {
    rest.strip_prefix('-').is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()) || r.starts_with("x86-64"))
}

/// `(archive)member` or `archive(member)`, as the linkers write it.
fn split(named: &str) -> (&str, Option<&str>) {
    if let Some((path, member)) = named.strip_prefix('(').and_then(|n| n.rsplit_once(')')) {
        return (path, Some(member));
    }
    match named.strip_suffix(')').and_then(|n| n.rsplit_once('(')) {
        Some((path, member)) => (path, Some(member)),
        None => (named, None),
    }
}

fn of_object(bytes: &[u8], path: &str) -> Result<Content, String> {
    let Ok(file) = object::File::parse(bytes) else { return script(bytes, path) };
    let mut names = Names::default();
    if file.kind() == object::ObjectKind::Dynamic {
        let defined = file.dynamic_symbols().filter(|s| !s.is_undefined());
        names.defined = defined.filter_map(|s| s.name().ok().map(str::to_string)).collect();
        return Ok(Content::Shared(names));
    }
    for symbol in file.symbols().filter(|s| s.is_global()) {
        let Ok(name) = symbol.name() else { continue };
        let list = if symbol.is_undefined() { &mut names.used } else { &mut names.defined };
        list.push(name.to_string());
    }
    let called = |section: object::Section| section.name().is_ok_and(|n| n.starts_with(".gnu.lto_"));
    if file.sections().any(called) {
        return Err(format!("{path} is to be compiled when it is linked"));
    }
    let Some(section) = file.section_by_name(SECTION) else { return Ok(Content::Native { names, edited: false }) };
    let found = section.data().ok().and_then(modules);
    let Some(found) = found.filter(|f| {
        let fingerprints: Vec<Fingerprint> = f.iter().map(|m| m.0.clone()).collect();
        Fingerprint::are(&fingerprints, &file)
    }) else {
        return Ok(Content::Native { names, edited: true });
    };
    let lines = file.section_by_name(".debug_line").is_some();
    Ok(Content::Bitcode { modules: found.into_iter().map(|m| m.1).collect(), names, lines })
}

/// What is no object may be a list of libraries, like the C library's `libc.so`; other scripts define names.
fn script(bytes: &[u8], path: &str) -> Result<Content, String> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(['=', '{', ':']) => Ok(Content::List),
        _ => Err(format!("{path} is a script, or to be compiled when it is linked")),
    }
}

/// Fingerprints and bitcode in a section.
fn modules(mut section: &[u8]) -> Option<Vec<(Fingerprint, Vec<u8>)>> {
    fn piece<'a>(section: &mut &'a [u8]) -> Option<&'a [u8]> {
        let (length, rest) = section.split_at_checked(8)?;
        let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
        let piece = rest.get(..length)?;
        *section = rest.get(length.checked_next_multiple_of(8)?..)?;
        Some(piece)
    }
    let mut modules = vec![];
    while !section.is_empty() {
        section = section.strip_prefix(MAGIC)?;
        let fingerprint = Fingerprint::parse(std::str::from_utf8(piece(&mut section)?).ok()?)?;
        modules.push((fingerprint, piece(&mut section)?.to_vec()));
    }
    Some(modules)
}

/// Names that a linked program gives to its shared libraries.
pub(crate) fn exported(program: &Path) -> Result<Vec<String>, String> {
    let bytes = std::fs::read(program).map_err(|e| format!("cannot read {}: {e}", program.display()))?;
    let file = object::File::parse(&*bytes).map_err(|e| format!("{}: {e}", program.display()))?;
    let names = file.dynamic_symbols().filter(|s| !s.is_undefined());
    Ok(names.filter_map(|s| s.name().ok().map(str::to_string)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_archives() {
        assert_eq!(split("(./libx.a)f.o"), ("./libx.a", Some("f.o")));
        assert_eq!(split("libx.a(f.o)"), ("libx.a", Some("f.o")));
        assert_eq!(split("dir (1)/a.o"), ("dir (1)/a.o", None));
    }

    #[test]
    fn joined_sections_are_several_modules() {
        let mut section = framed(&[b"g\tf\t1\t2\t0\t17\n", b"BC one"]);
        section.extend(framed(&[b"", b"BC second"]));
        let found = modules(&section).unwrap();
        assert_eq!(found.iter().map(|m| &m.1[..]).collect::<Vec<_>>(), [&b"BC one"[..], b"BC second"]);
        assert_eq!(found[0].0.text(), "g\tf\t1\t2\t0\t17\n");
        assert!(modules(&section[1..]).is_none());
        assert!(modules(&section[..section.len() - 1]).is_none());
    }
}
