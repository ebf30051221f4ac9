//! Puts an ELF object into this process.
//!
//! The problem: run compiled code without a linker, and, for programs compiled earlier, without loading LLVM at all.
//! The idea: the objects we make are simple (x86-64, static relocations, one module), so a loader is a page of code:
//! lay the allocated sections out in one mapping in the low 2 GiB, apply relocations, make code executable.
//!
//! What every program uses, the library, is linked beforehand for one address ([`Image`]) and mapped from its file.
//!
//! Invariants: code pages are never writable and executable at once; a mapping lives as long as its [`Jit`].

use crate::elf::*;
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr::null_mut;

/// A loaded object.
pub struct Jit {
    base: *mut u8,
    size: usize,
    code_size: u64,
    symbols: HashMap<String, u64>,
}

/// What changes a loaded object's memory are the programs that run its code, and [`Jit::overwrite`], whose callers see
/// to it that nobody does.
// SAFETY: see above.
unsafe impl Send for Jit {}
// SAFETY: likewise.
unsafe impl Sync for Jit {}

/// An object, linked for one address.
pub struct Image {
    /// Contents, code first.
    pub bytes: Vec<u8>,
    /// Where they are to be.
    pub base: u64,
    /// Bytes of code, whole pages.
    pub code_size: u64,
    symbols: HashMap<String, u64>,
}

impl Image {
    /// Links an object, which must refer to no symbols but its own, for an address in the low 2 GiB.
    pub fn link(object: &[u8], base: u64) -> Result<Image, String> {
        let layout = Layout::read(object)?;
        let mut bytes = vec![0; layout.size as usize];
        layout.place(base, &mut bytes, &HashMap::new())?;
        let symbols = layout.symbols(base, false)?;
        Ok(Image { bytes, base, code_size: layout.code_size, symbols })
    }

    /// Address of a global symbol of the object.
    pub fn lookup(&self, name: &str) -> Option<u64> {
        self.symbols.get(name).copied()
    }
}

/// An object taken apart.
struct Layout<'a> {
    object: Bytes<'a>,
    sections: Vec<Section>,
    /// Of the whole image.
    size: u64,
    /// Of its code, whole pages.
    code_size: u64,
}

const PAGE: u64 = 4096;

/// Relocation types of the x86-64 ABI that our code model produces.
mod reloc {
    pub const R64: u32 = 1;
    pub const PC32: u32 = 2;
    pub const PLT32: u32 = 4;
    pub const R32: u32 = 10;
    pub const R32S: u32 = 11;
    pub const PC64: u32 = 24;
}

impl Jit {
    /// Loads an object, which must refer to no symbols but its own.
    pub fn load_object(object: &[u8]) -> Result<Jit, String> {
        Jit::load(&Layout::read(object)?, &HashMap::new())
    }

    /// Loads an object that may also refer to these symbols. The result has the addresses of all its own.
    pub(crate) fn load_with_names(
        object: &[u8],
        known: &HashMap<String, u64>,
    ) -> Result<(Jit, HashMap<String, u64>), String> {
        let layout = Layout::read(object)?;
        let jit = Jit::load(&layout, known)?;
        let names = layout.symbols(jit.base as u64, true)?;
        Ok((jit, names))
    }

    fn load(layout: &Layout, known: &HashMap<String, u64>) -> Result<Jit, String> {
        let size = layout.size as usize;
        let base = map_low(size)?;
        let mut jit = Jit { base, size, code_size: layout.code_size, symbols: HashMap::new() };
        // SAFETY: a fresh private mapping of `size` bytes, writable, used by nobody else.
        let memory = unsafe { std::slice::from_raw_parts_mut(base, size) };
        layout.place(base as u64, memory, known)?;
        jit.symbols = layout.symbols(base as u64, false)?;
        // SAFETY: whole pages of our own mapping.
        let r = unsafe { libc::mprotect(base.cast(), jit.code_size as usize, libc::PROT_READ | libc::PROT_EXEC) };
        if r != 0 {
            return Err(format!("cannot make code executable: {}", std::io::Error::last_os_error()));
        }
        Ok(jit)
    }

    /// Maps an image that was written to a file, at the address that it was linked for: pages come when they are
    /// needed, and those that nobody writes are shared. `None` when something else lies there.
    pub fn map_image(file: &File, offset: u64, size: usize, base: u64, code_size: u64) -> Option<Jit> {
        let map = |at: u64, bytes: usize, protection: i32| {
            // SAFETY: with `MAP_FIXED_NOREPLACE` no mapping is replaced.
            let p = unsafe {
                libc::mmap(
                    (base + at) as *mut libc::c_void,
                    bytes,
                    protection,
                    libc::MAP_PRIVATE | libc::MAP_FIXED_NOREPLACE,
                    file.as_raw_fd(),
                    (offset + at) as libc::off_t,
                )
            };
            if p as u64 == base + at {
                return true;
            }
            if p != libc::MAP_FAILED {
                // SAFETY: just mapped, by a kernel that took the address for a hint.
                unsafe { libc::munmap(p, bytes) };
            }
            false
        };
        let code = code_size as usize;
        if !map(0, code, libc::PROT_READ | libc::PROT_EXEC) {
            return None;
        }
        let mut jit = Jit { base: base as *mut u8, size: code, code_size, symbols: HashMap::new() };
        if size > code && !map(code_size, size - code, libc::PROT_READ | libc::PROT_WRITE) {
            return None;
        }
        jit.size = size;
        Some(jit)
    }

    /// Writes into the code, at these addresses, where it is `old`.
    ///
    /// # Safety
    /// Nobody runs the code at this moment; whoever goes on in it afterwards finds what it can go on with.
    pub(crate) unsafe fn overwrite<const N: usize>(
        &self,
        changes: &[(u64, [u8; N])],
        old: [u8; N],
    ) -> Result<(), String> {
        let protect = |protection| {
            // SAFETY: whole pages of our own mapping.
            match unsafe { libc::mprotect(self.base.cast(), self.code_size as usize, protection) } {
                0 => Ok(()),
                _ => Err(format!("cannot change code: {}", std::io::Error::last_os_error())),
            }
        };
        protect(libc::PROT_READ | libc::PROT_WRITE)?;
        for (at, new) in changes {
            let inside = self.code().contains(at) && at + N as u64 <= self.code().end;
            let place = *at as *mut [u8; N];
            // SAFETY: inside of our own mapping, which is writable now.
            unsafe {
                if inside && *place == old {
                    *place = *new;
                }
            }
        }
        protect(libc::PROT_READ | libc::PROT_EXEC)
    }

    /// Where each section lies of the object that this was made of; `None`: it is not loaded.
    pub(crate) fn places_of(&self, object: &[u8]) -> Result<Vec<Option<u64>>, String> {
        let layout = Layout::read(object)?;
        Ok(layout.sections.iter().map(|s| s.place.map(|p| self.base as u64 + p)).collect())
    }

    /// Where the code lies.
    pub fn code(&self) -> std::ops::Range<u64> {
        self.base as u64..self.base as u64 + self.code_size
    }

    /// Address of a global symbol of the object.
    pub fn lookup(&self, name: &str) -> Option<*const u8> {
        self.symbols.get(name).map(|a| *a as *const u8)
    }
}

impl<'a> Layout<'a> {
    fn read(object: &'a [u8]) -> Result<Layout<'a>, String> {
        let o = Bytes(object);
        if o.slice(0, 6)? != b"\x7fELF\x02\x01" || o.u16(16)? != 1 || o.u16(18)? != 62 {
            return Err(bad("not an x86-64 ELF object"));
        }
        let mut sections = read_sections(&o)?;
        let size = lay_out(&mut sections)?;
        let code_size = sections
            .iter()
            .filter(|s| s.flags & SHF_EXEC != 0)
            .filter_map(|s| Some(s.place? + s.size))
            .max()
            .unwrap_or(0)
            .next_multiple_of(PAGE);
        Ok(Layout { object: o, sections, size, code_size })
    }

    /// Puts the contents, for the address `base`, into `memory`, which is zero.
    fn place(&self, base: u64, memory: &mut [u8], known: &HashMap<String, u64>) -> Result<(), String> {
        for s in &self.sections {
            if let Some(p) = s.place
                && s.kind != SHT_NOBITS
            {
                memory[p as usize..(p + s.size) as usize].copy_from_slice(self.object.slice(s.offset, s.size)?);
            }
        }
        for s in self.sections.iter().filter(|s| s.kind == SHT_RELA) {
            self.relocate(s, base, memory, known)?;
        }
        Ok(())
    }

    /// Definitions, for the address `base`: global ones, or all.
    fn symbols(&self, base: u64, all: bool) -> Result<HashMap<String, u64>, String> {
        let mut symbols = HashMap::new();
        let Some(table) = self.sections.iter().find(|s| s.kind == SHT_SYMTAB) else { return Ok(symbols) };
        let strings = self.sections.get(table.link as usize).ok_or_else(|| bad("symbols"))?;
        let o = &self.object;
        let first = if all { 1 } else { table.info as u64 };
        for i in first..table.size / 24 {
            let at = table.offset + 24 * i;
            let index = o.u16(at + 6)? as usize;
            if index != 0
                && let Some(place) = self.sections.get(index).and_then(|s| s.place)
            {
                let name = o.string(strings.offset + o.u32(at)? as u64)?;
                // sections have no names
                if !name.is_empty() {
                    symbols.insert(name.to_string(), base + place + o.u64(at + 8)?);
                }
            }
        }
        Ok(symbols)
    }

    fn relocate(
        &self,
        table: &Section,
        base: u64,
        memory: &mut [u8],
        known: &HashMap<String, u64>,
    ) -> Result<(), String> {
        let (o, sections) = (&self.object, &self.sections);
        let section = |i: usize| sections.get(i).ok_or_else(|| bad("section index"));
        let Some(target) = section(table.info as usize)?.place else { return Ok(()) };
        let symbols = section(table.link as usize)?;
        let strings = section(symbols.link as usize)?;
        for i in 0..table.size / 24 {
            let at = table.offset + 24 * i;
            let (offset, info, addend) = (o.u64(at)?, o.u64(at + 8)?, o.u64(at + 16)?);
            let entry = symbols.offset + 24 * (info >> 32);
            let index = o.u16(entry + 6)? as usize;
            let value = o.u64(entry + 8)?;
            let symbol = match index {
                0 => {
                    let name = o.string(strings.offset + o.u32(entry)? as u64)?;
                    *known.get(name).ok_or_else(|| bad(&format!("undefined symbol {name}")))?
                }
                0xFFF1 => value,
                _ => base + section(index)?.place.ok_or_else(|| bad("symbol"))? + value,
            };
            let here = target + offset;
            let s = symbol.wrapping_add(addend);
            let relative = s.wrapping_sub(base + here) as i64;
            let (word, bytes, fits) = match info as u32 {
                reloc::R64 => (s, 8, true),
                reloc::PC64 => (relative as u64, 8, true),
                reloc::R32 => (s, 4, s <= u32::MAX as u64),
                reloc::R32S => (s, 4, s as i64 == s as i32 as i64),
                reloc::PC32 | reloc::PLT32 => (relative as u64, 4, relative == relative as i32 as i64),
                other => return Err(bad(&format!("relocation type {other}"))),
            };
            if !fits {
                return Err(bad("relocation out of range"));
            }
            let place = memory.get_mut(here as usize..here as usize + bytes).ok_or_else(|| bad("relocation"))?;
            place.copy_from_slice(&word.to_le_bytes()[..bytes]);
        }
        Ok(())
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        // SAFETY: our own mapping; nobody runs its code any more: the owner's duty, as with any code in memory.
        unsafe {
            libc::munmap(self.base.cast(), self.size);
        }
    }
}

/// Places allocated sections: code, then on new pages everything else. Returns the size.
fn lay_out(sections: &mut [Section]) -> Result<u64, String> {
    let mut at = 0u64;
    for code in [true, false] {
        for s in sections.iter_mut() {
            if s.flags & SHF_ALLOC != 0 && (s.flags & SHF_EXEC != 0) == code {
                at = at.next_multiple_of(s.align.max(1));
                s.place = Some(at);
                at = at.checked_add(s.size).filter(|a| *a < 1 << 31).ok_or_else(|| bad("size"))?;
            }
        }
        at = at.next_multiple_of(PAGE);
    }
    Ok(at.max(PAGE))
}

/// A fresh mapping in the low 2 GiB.
fn map_low(size: usize) -> Result<*mut u8, String> {
    // SAFETY: an anonymous mapping at an address of the kernel's choice.
    let p = unsafe {
        libc::mmap(
            null_mut(),
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT,
            -1,
            0,
        )
    };
    if p == libc::MAP_FAILED {
        return Err(format!("no memory for code in the low 2 GiB: {}", std::io::Error::last_os_error()));
    }
    Ok(p.cast())
}
