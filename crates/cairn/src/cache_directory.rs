//! The directory of what is kept, and what tells one compiler from another.

use crate::cache_room::ROOM;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A directory of compiled programs.
#[derive(Clone, Debug)]
pub struct Cache {
    pub(crate) directory: PathBuf,
    /// Is the directory made when it is not there?
    pub(crate) make: bool,
    /// What it takes at most, in bytes.
    pub(crate) room: u64,
}

impl Cache {
    /// In this directory. It is made when it is needed.
    pub fn new(directory: impl Into<PathBuf>) -> Cache {
        Cache { directory: directory.into(), make: true, room: ROOM }
    }

    /// This cache, if programs take at most so many bytes together.
    pub fn at_most(self, room: u64) -> Cache {
        Cache { room, ..self }
    }

    /// In this directory while it is there: somebody else's, who may have removed it.
    pub(crate) fn existing(directory: PathBuf) -> Cache {
        Cache { directory, make: false, room: ROOM }
    }

    /// Makes the directory.
    pub(crate) fn make(&self) {
        let _ = std::fs::create_dir_all(&self.directory);
    }

    /// Where the environment says: `CAIRN_CACHE_DIR`, or `cairn` in `XDG_CACHE_HOME`, or in `.cache` in `HOME`. Empty
    /// variables count as absent, and so do relative ones of the last two: they name no place of the user's.
    pub fn of_environment() -> Option<Cache> {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let home = |name: &str| set(name).filter(|p| p.is_absolute());
        let directory = set("CAIRN_CACHE_DIR")
            .or_else(|| home("XDG_CACHE_HOME").map(|d| d.join("cairn")))
            .or_else(|| home("HOME").map(|d| d.join(".cache/cairn")));
        directory.map(Cache::new)
    }

    /// The directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// What it takes at most, in bytes.
    pub(crate) fn room(&self) -> u64 {
        self.room
    }
}

/// Changes with every build of the compiler, and stays when its file is copied or installed: what the linker made of
/// its contents. Without that, length and time of the file.
pub(crate) fn compiler_identity() -> Option<String> {
    let mut file = File::open(std::env::current_exe().ok()?).ok()?;
    let mut start = Vec::new();
    file.by_ref().take(4096).read_to_end(&mut start).ok()?;
    if let Some(id) = build_id(&start) {
        return Some(id.iter().map(|byte| format!("{byte:02x}")).collect());
    }
    let meta = file.metadata().ok()?;
    Some(format!("{} {:?}", meta.len(), meta.modified().ok()?))
}

/// The linker's `.note.gnu.build-id`, in the first page of an executable: three words (length of the name, of the
/// contents, and the kind, 3), the name, the contents.
fn build_id(start: &[u8]) -> Option<&[u8]> {
    const LENGTH: u8 = 20; // SHA-1
    let note = [4, 0, 0, 0, LENGTH, 0, 0, 0, 3, 0, 0, 0, b'G', b'N', b'U', 0];
    let at = start.windows(note.len()).position(|w| w == note)? + note.len();
    start.get(at..at + usize::from(LENGTH))
}
