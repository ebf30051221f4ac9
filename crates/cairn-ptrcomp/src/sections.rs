//! Bitcode in objects: the section, who writes it, and what else the link reads from ELF files.
//!
//! ```text
//!  .cairn.bc (excluded from links):  "CAIRNBC1"  length: u64  bitcode, padded to 8 bytes   ; again for each object that
//!                                                                                         ; `ld -r` has joined
//! ```

use crate::clang::Scratch;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, ObjectSymbol};
use std::path::Path;
use std::process::Command;

const SECTION: &str = ".cairn.bc";
const MAGIC: &[u8; 8] = b"CAIRNBC1";

/// Adds bitcode to an object.
pub(crate) fn embed(object: &Path, bitcode: &Path, scratch: &Scratch) -> Result<(), String> {
    let bytes = std::fs::read(bitcode).map_err(|e| format!("cannot read {}: {e}", bitcode.display()))?;
    let mut framed = MAGIC.to_vec();
    framed.extend((bytes.len() as u64).to_le_bytes());
    framed.extend(&bytes);
    framed.resize(framed.len().next_multiple_of(8), 0);
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

/// What an input of a link is.
pub(crate) enum Content {
    /// Ours: its modules.
    Bitcode(Vec<Vec<u8>>),
    /// Foreign code, and the names it uses.
    Native(Vec<String>),
    /// A shared library or a linker script: its part is known from the linked program.
    Shared,
}

/// Reads a file the linker names as `path` or, of an archive, as `(path)member`.
pub(crate) fn content(named: &str) -> Result<Content, String> {
    let (path, member) = split(named);
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {path}: {e}"))?;
    let Some(member) = member else {
        if bytes.starts_with(b"!<arch>\n") {
            // Its members are named themselves.
            return Ok(Content::Shared);
        }
        return Ok(of_object(&bytes));
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
        [one] => Ok(of_object(one)),
        _ => Err(format!("{path}: {} members of the name {member}", found.len())),
    }
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

fn of_object(bytes: &[u8]) -> Content {
    let Ok(file) = object::File::parse(bytes) else { return Content::Shared };
    if file.kind() == object::ObjectKind::Dynamic {
        return Content::Shared;
    }
    if let Some(modules) = file.section_by_name(SECTION).and_then(|s| s.data().ok()).and_then(modules) {
        return Content::Bitcode(modules);
    }
    let names = file.symbols().filter(|s| s.is_undefined()).filter_map(|s| s.name().ok().map(str::to_string));
    Content::Native(names.filter(|n| !n.is_empty()).collect())
}

fn modules(mut section: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut modules = vec![];
    while !section.is_empty() {
        let rest = section.strip_prefix(MAGIC)?;
        let (length, rest) = rest.split_at_checked(8)?;
        let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
        modules.push(rest.get(..length)?.to_vec());
        section = rest.get(length.next_multiple_of(8)..)?;
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
        let mut section = vec![];
        for bytes in [&b"BC one"[..], b"BC second"] {
            section.extend(MAGIC);
            section.extend((bytes.len() as u64).to_le_bytes());
            section.extend(bytes);
            section.resize(section.len().next_multiple_of(8), 0);
        }
        assert_eq!(modules(&section).unwrap(), [b"BC one".to_vec(), b"BC second".to_vec()]);
        assert!(modules(&section[1..]).is_none());
    }
}
