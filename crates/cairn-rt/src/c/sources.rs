//! Functions of C sources that a program imports: `(import (c "kernel.c"))`.
//!
//! ```text
//! (c-library "c-source:KEY")   in Cairn's process:  KEY.c-source.so in its cache, opened once
//!                              in an executable:    part of it, which says so before `main` (`cairn/src/link.rs`)
//!                                      ⟶  cairn_c_source_KEY: name, address, name, address, …, NULL
//! ```
//!
//! The problem: the same expanded program is evaluated, compiled into this process, and linked into executables that
//! have no file beside them; and what a source calls its functions must not take the place of a function of C's own
//! library. The idea: a source has one symbol, a table of its functions, which is found in one of two ways.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What the name of such a library begins with.
pub(super) const PREFIX: &str = "c-source:";

/// Where Cairn keeps what it has made of sources; executables have no such directory.
pub static C_SOURCES: OnceLock<PathBuf> = OnceLock::new();

/// An element of a table. The last one has no name.
#[repr(C)]
pub struct Function {
    name: *const c_char,
    address: *const c_void,
}

/// Keys and tables of what is linked with the program.
static LINKED: Mutex<Vec<(String, usize)>> = Mutex::new(Vec::new());

/// Makes a source known that is linked with the program.
///
/// # Safety
/// `key` ends in NUL, and `table` in an element without a name; it stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_rt_c_source(key: *const c_char, table: *const Function) {
    // SAFETY: `key` ends in NUL (`# Safety`).
    let key = unsafe { CStr::from_ptr(key) }.to_string_lossy().into_owned();
    LINKED.lock().unwrap_or_else(PoisonError::into_inner).push((key, table as usize));
}

/// A table as the handle of a library: no handle of the loader's is odd.
const IS_TABLE: usize = 1;

/// The handle of a source, or why there is none.
pub(super) fn open(key: &str, loader_message: impl Fn() -> String) -> Result<i64, String> {
    let linked = LINKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, table)) = linked.iter().find(|(k, _)| k == key) {
        return Ok((table | IS_TABLE) as i64);
    }
    let directory = C_SOURCES.get().ok_or("it is not part of this executable")?;
    let path = directory.join(format!("{key}.c-source.so"));
    let c = |text: &str| CString::new(text).map_err(|e| e.to_string());
    let (path, symbol) = (c(&path.to_string_lossy())?, c(&format!("cairn_c_source_{key}"))?);
    // SAFETY: `path` is a C string; what the initializers of the program's own C do is its business.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        return Err(loader_message());
    }
    // SAFETY: `handle` is what `dlopen` has just given and not null, and `symbol` is a C string.
    let table = unsafe { libc::dlsym(handle, symbol.as_ptr()) };
    if table.is_null() { Err(loader_message()) } else { Ok((table as usize | IS_TABLE) as i64) }
}

/// The address of a function, if the handle is that of a source; 0 if it has no such function.
pub(super) fn find(handle: i64, name: &CStr) -> Option<u64> {
    if handle as usize & IS_TABLE == 0 {
        return None;
    }
    let mut at = (handle as usize & !IS_TABLE) as *const Function;
    // SAFETY: the handle is odd, so it is a table that `open` has found (no handle of the loader's is odd); it ends in
    // an element without a name, and names of the others are C strings.
    unsafe {
        while !(*at).name.is_null() {
            if CStr::from_ptr((*at).name) == name {
                return Some((*at).address as u64);
            }
            at = at.add(1);
        }
    }
    Some(0)
}
