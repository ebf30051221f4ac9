//! `cairn fmt`: files as [`cairn_syntax::format`] writes them.
//!
//! A file is replaced as a whole, with its permissions, or not at all; a symbolic link stays one, and a file that is as
//! it should be is not touched.

use crate::diagnostics::Messages;
use crate::error::Error;
use crate::source::Source;
use crate::unfinished::Unfinished;
use cairn_core::ir::SourceFile;
use cairn_rt::describe_io;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

/// The text of a source, formatted.
pub fn formatted(source: &Source) -> Result<String, Error> {
    cairn_syntax::format::formatted(&source.text).map_err(|message| {
        let path = source.path.display().to_string();
        let file = SourceFile::new(&path, &source.text, false);
        Error::Rejected(Messages::errors(&[message], &[file]))
    })
}

/// The first line that is not as it should be, from 1.
pub fn first_difference(before: &str, after: &str) -> Option<usize> {
    if before == after {
        return None;
    }
    let same = before.split('\n').zip(after.split('\n')).take_while(|(a, b)| a == b).count();
    Some(same + 1)
}

/// Gives a file this text.
pub fn rewrite(path: &Path, text: &str) -> Result<(), Error> {
    let write = || {
        let target = path.canonicalize()?;
        let file = Unfinished::beside(&target, "fmt");
        let before = target.metadata()?;
        std::fs::write(file.path(), text)?;
        // only a privileged user can give a file away
        let _ = chown(file.path(), Some(before.uid()), Some(before.gid()));
        std::fs::set_permissions(file.path(), before.permissions())?;
        file.finish()
    };
    write().map_err(|e| Error::Other(format!("cannot write {}: {}", path.display(), describe_io(&e))))
}
