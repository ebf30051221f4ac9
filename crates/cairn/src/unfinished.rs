//! Files that appear whole or not at all.
//!
//! A file is written under a name of its own beside its target and then renamed, so that nobody ever sees half of it,
//! and what was there stays until then. Whatever goes wrong on the way (a full disk, say) removes it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A file being written. Unless it is finished, it goes away with the value.
pub(crate) struct Unfinished {
    path: PathBuf,
    target: PathBuf,
}

impl Unfinished {
    /// To become `target`. Nothing is written yet.
    pub(crate) fn beside(target: &Path, suffix: &str) -> Unfinished {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let unique = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let mut name = target.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{unique}.{suffix}"));
        Unfinished { path: target.with_file_name(name), target: target.to_path_buf() }
    }

    /// Where to write.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it the target.
    pub(crate) fn finish(self) -> io::Result<()> {
        std::fs::rename(&self.path, &self.target)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After `finish` there is nothing of this name.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Writes a whole file.
pub(crate) fn write_whole(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = Unfinished::beside(target, "tmp");
    std::fs::write(file.path(), bytes)?;
    file.finish()
}
