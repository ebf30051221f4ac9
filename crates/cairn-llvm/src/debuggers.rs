//! Tells debuggers and profilers of code that was loaded: gdb, by its interface for JIT compilers, and perf, by its
//! map of symbols.
//!
//! gdb sets a breakpoint in a function of a fixed name; each time that is called, it reads a list of object files in
//! this process's memory (*Debugging with GDB*, "JIT Compilation Interface"). It wants the objects as the compiler
//! wrote them, debug information included, with the address of each section that was loaded filled in.
//!
//! perf looks for `/tmp/perf-PID.map`: a line for each function, with address, size and name (Linux,
//! `tools/perf/Documentation/jit-interface.txt`).

use crate::elf::{ObjectFile, bad};
use crate::loader::Jit;
use object::{LittleEndian, Object, ObjectSymbol, SymbolKind};
use std::fmt::Write;
use std::ptr::null_mut;
use std::sync::Mutex;

/// An object in gdb's list.
#[repr(C)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    object: *const u8,
    size: u64,
}

/// What gdb reads.
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    relevant: *mut Entry,
    first: *mut Entry,
}

const REGISTERED: u32 = 1;

#[unsafe(no_mangle)]
static mut __jit_debug_descriptor: Descriptor =
    Descriptor { version: 1, action: 0, relevant: null_mut(), first: null_mut() };

/// Where gdb stops to read the descriptor.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __jit_debug_register_code() {
    // not to be left out, nor taken for another empty function
    std::hint::black_box(&raw const __jit_debug_descriptor);
}

/// Held by who changes the list.
static LIST: Mutex<()> = Mutex::new(());

impl Jit {
    /// Tells gdb and perf of this code, which was made of `object` and stays loaded until the process ends.
    pub fn announce(&self, object: &[u8]) -> Result<(), String> {
        let places = self.places_of(object)?;
        let file = ObjectFile::parse(object).map_err(bad)?;
        let table = file.elf_header().e_shoff.get(LittleEndian);
        let mut image = object.to_vec();
        for (i, place) in places.iter().enumerate() {
            if let Some(place) = place {
                let at = (table + 64 * i as u64 + 16) as usize;
                let field = image.get_mut(at..at + 8).ok_or_else(|| bad("section header"))?;
                field.copy_from_slice(&place.to_le_bytes());
            }
        }
        register(image.leak());
        // a profile without names is still one
        let _ = std::fs::write(format!("/tmp/perf-{}.map", std::process::id()), functions(&file, &places)?);
        Ok(())
    }
}

fn register(object: &'static [u8]) {
    let _held = LIST.lock();
    // SAFETY: the lock is held, and nobody else but gdb, which stops the process, looks at the list; entries live for
    // ever.
    unsafe {
        let descriptor = &raw mut __jit_debug_descriptor;
        let first = (*descriptor).first;
        let entry =
            Entry { next: first, previous: null_mut(), object: object.as_ptr(), size: object.len() as u64 };
        let entry = Box::into_raw(Box::new(entry));
        if !first.is_null() {
            (*first).previous = entry;
        }
        (*descriptor).first = entry;
        (*descriptor).relevant = entry;
        (*descriptor).action = REGISTERED;
    }
    __jit_debug_register_code();
}

/// A line for each function: address and size, hexadecimal, and its name.
fn functions(file: &ObjectFile<'_>, places: &[Option<u64>]) -> Result<String, String> {
    let mut text = String::new();
    for f in file.symbols().filter(|s| s.kind() == SymbolKind::Text) {
        if let Some(Some(place)) = f.section_index().and_then(|i| places.get(i.0)) {
            let name = f.name().map_err(bad)?.trim_start_matches("scm.");
            let _ = writeln!(text, "{:x} {:x} {name}", place + f.address(), f.size());
        }
    }
    Ok(text)
}
