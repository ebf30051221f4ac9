//! The files of a user's project.

use cairn_rt::describe_io;
use std::path::{Path, PathBuf};

/// The files in a directory and in those below it, but not in directories whose names begin with a dot, nor in `target`
/// and `node_modules`. An error says what cannot be read.
pub(crate) fn below(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut directories = vec![directory.to_path_buf()];
    while let Some(directory) = directories.pop() {
        let unreadable = |e| format!("cannot read {}: {}", directory.display(), describe_io(&e));
        for entry in std::fs::read_dir(&directory).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let (path, name) = (entry.path(), entry.file_name());
            let left_out = name.to_string_lossy().starts_with('.') || name == "node_modules" || name == "target";
            // a link to a directory may lead in a circle
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                if !left_out {
                    directories.push(path);
                }
            } else if path.is_file() {
                found.push(path);
            }
        }
    }
    Ok(found)
}
