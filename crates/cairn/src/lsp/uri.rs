//! Names of files as the protocol writes them: `file:///a%20b.scm`.

use lsp_types::Uri;
use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The file of a URI; `None` for what is none.
pub(super) fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let encoded = &rest[rest.find('/')?..];
    let mut bytes = Vec::new();
    let mut left = encoded.bytes();
    while let Some(b) = left.next() {
        if b == b'%' {
            let digits = [left.next()?, left.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(b);
        }
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

/// The URI of a file with an absolute path.
pub(super) fn of_path(path: &Path) -> Option<Uri> {
    let mut text = String::from("file://");
    for b in path.as_os_str().as_bytes() {
        match b {
            b'/' | b'-' | b'_' | b'.' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => text.push(*b as char),
            _ => {
                let _ = write!(text, "%{b:02X}");
            }
        }
    }
    path.is_absolute().then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris_and_back() {
        for path in ["/a/b.scm", "/a b/λ%?#.sld", "/"] {
            let uri = of_path(Path::new(path)).unwrap();
            assert_eq!(path_of(uri.as_str()), Some(path.into()), "{}", uri.as_str());
        }
        assert_eq!(of_path(Path::new("/a b")).unwrap().as_str(), "file:///a%20b");
        assert_eq!(path_of("file://localhost/a%2Bb"), Some("/a+b".into()));
        assert_eq!(path_of("untitled:1"), None);
        assert_eq!(path_of("file:///%4"), None);
        assert!(of_path(Path::new("a")).is_none());
    }
}
