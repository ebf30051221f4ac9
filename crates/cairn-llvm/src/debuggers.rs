//! Tells debuggers and profilers of code that was loaded: gdb, by its interface for JIT compilers, and perf, by its
//! map of symbols.
//!
//! gdb sets a breakpoint in a function of a fixed name; each time that is called, it reads a list of object files in
//! this process's memory (*Debugging with GDB*, "JIT Compilation Interface"). It wants the objects as the compiler
//! wrote them, debug information included, with the address of each section that was loaded filled in.
//!
//! perf looks for `/tmp/perf-PID.map`: a line for each function, with address, size and name (Linux,
//! `tools/perf/Documentation/jit-interface.txt`).

use crate::elf::*;
use crate::loader::Jit;
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

/// The type of a symbol that is a function.
const STT_FUNC: u8 = 2;

impl Jit {
    /// Tells gdb and perf of this code, which was made of `object` and stays loaded until the process ends.
    pub fn announce(&self, object: &[u8]) -> Result<(), String> {
        let places = self.places_of(object)?;
        let o = Bytes(object);
        let table = o.u64(0x28)?;
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
        let _ = std::fs::write(format!("/tmp/perf-{}.map", std::process::id()), functions(&o, &places)?);
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
fn functions(o: &Bytes<'_>, places: &[Option<u64>]) -> Result<String, String> {
    let sections = read_sections(o)?;
    let mut text = String::new();
    let Some(table) = sections.iter().find(|s| s.kind == SHT_SYMTAB) else { return Ok(text) };
    let strings = sections.get(table.link as usize).ok_or_else(|| bad("symbols"))?;
    for i in 1..table.size / 24 {
        let at = table.offset + 24 * i;
        let is_function = o.slice(at + 4, 1)?[0] & 15 == STT_FUNC;
        if let Some(Some(place)) = places.get(o.u16(at + 6)? as usize).filter(|_| is_function) {
            let name = o.string(strings.offset + o.u32(at)? as u64)?;
            let (address, size) = (place + o.u64(at + 8)?, o.u64(at + 16)?);
            let _ = writeln!(text, "{address:x} {size:x} {}", name.trim_start_matches("scm."));
        }
    }
    Ok(text)
}
