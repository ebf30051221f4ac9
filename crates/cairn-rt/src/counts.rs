//! Counters of evaluations, for coverage: in a file, so that they are there however the process ends.
//!
//! The file is an array of 64-bit counters in the machine's byte order, mapped into memory. All places of a program
//! count in the same one.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file of counters.
#[derive(Debug)]
pub struct Counts {
    first: *const AtomicU64,
    number: usize,
}

// SAFETY: the memory is shared, stays mapped as long as the value, and is accessed by atomic operations only.
unsafe impl Send for Counts {}
// SAFETY: all accesses through `&Counts` are atomic operations on memory that stays mapped as long as the value.
unsafe impl Sync for Counts {}

impl Counts {
    /// Makes a file of so many counters, all 0.
    pub fn new(file: &Path, number: usize) -> io::Result<Counts> {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(file)?;
        let bytes = number.max(1) * size_of::<AtomicU64>();
        file.set_len(bytes as u64)?;
        // SAFETY: without `MAP_FIXED` the system chooses a place where nothing is; the file has `bytes` bytes.
        let address = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Counts { first: address.cast_const().cast(), number })
    }

    /// Counts one more.
    pub fn add(&self, counter: usize) {
        if counter < self.number {
            // SAFETY: `counter` is below `number`, so it is in the mapping, which is aligned to a page; all access it
            // atomically.
            let counter = unsafe { &*self.first.add(counter) };
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Counts {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this size; nothing refers to it any more.
        unsafe { libc::munmap(self.first.cast_mut().cast(), self.number.max(1) * size_of::<AtomicU64>()) };
    }
}
