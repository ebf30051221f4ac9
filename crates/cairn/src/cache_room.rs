//! Room for compiled programs: the cache stays below a size, however many programs were run.
//!
//! The problem: a quarter of a megabyte for each program, and a new one with each build of the compiler, and nobody
//! looks into the directory. The idea: whoever keeps a program looks how much there is, and removes what was not used
//! for the longest time, programs and what was made of C headers and sources, until a quarter of the room is free; so
//! this is rare. What is found is used: its file's time of change says when, to a day.
//!
//! Invariants: only what can be made again is removed, never a file of another kind, and not the one just kept. Any
//! failure only means that the cache is larger than it should be.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What compiled programs take at most if nothing else was said, in bytes.
pub const ROOM: u64 = 512 << 20;
/// How exactly is known when a program was used.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Files of C headers and sources: see `c_headers`.
const OF_C: [&str; 2] = [".c-header", ".c-source."];

/// Notes that this file was used.
pub(crate) fn touch(path: &Path) {
    let now = SystemTime::now();
    let is_old = |time: SystemTime| now.duration_since(time).is_ok_and(|age| age > DAY);
    if path.metadata().and_then(|m| m.modified()).is_ok_and(is_old)
        && let Ok(file) = File::options().write(true).open(path)
    {
        let _ = file.set_modified(now);
    }
}

/// Removes what was not used for long beside `kept`, if all together take more than `room` bytes.
pub(crate) fn make_room(kept: &Path, room: u64) {
    let Some(Ok(files)) = kept.parent().map(std::fs::read_dir) else { return };
    let is_ours = |p: &PathBuf| {
        let name = p.file_name().unwrap_or_default().to_string_lossy();
        p.extension() == kept.extension() || OF_C.iter().any(|part| name.contains(part))
    };
    let programs = files.flatten().map(|file| file.path()).filter(is_ours);
    let used = |m: &Metadata| m.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let with_size = |path: PathBuf| path.metadata().ok().map(|m| (used(&m), m.len(), path));
    let mut programs: Vec<(SystemTime, u64, PathBuf)> = programs.filter_map(with_size).collect();
    let mut taken: u64 = programs.iter().map(|(_, size, _)| size).sum();
    if taken <= room {
        return;
    }
    programs.sort();
    for (_, size, path) in programs {
        if taken <= room / 4 * 3 {
            break;
        }
        if path.file_name() != kept.file_name() && std::fs::remove_file(&path).is_ok() {
            taken -= size;
        }
    }
}
