//! Puts an ELF object into this process.
//!
//! The problem: run compiled code without a linker, and, for programs compiled earlier, without loading LLVM at all.
//! The idea: the objects we make are simple (x86-64, static relocations, one module), so a loader is a page of code:
//! lay the allocated sections out in one mapping in the low 2 GiB, apply relocations, make code executable.
//!
//! What every program uses, the library, is linked beforehand for one address ([`Image`]) and mapped from its file.
//!
//! Invariants: code pages are never writable and executable at once; a mapping lives as long as its [`Jit`].

use crate::elf::{ObjectFile, bad};
use object::{Architecture, Object, ObjectKind, ObjectSection, ObjectSymbol, SectionFlags, SymbolSection};
use object::{RelocationFlags, RelocationTarget, SectionIndex, SectionKind, elf};
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

// SAFETY: a `Jit` is memory that any thread may unmap. What changes it are the programs that run its code, and
// `overwrite`, whose callers see to it that nobody does.
unsafe impl Send for Jit {}
// SAFETY: through `&Jit` the memory is read only, but for `overwrite`, whose callers see to it that nobody runs the
// code.
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
    object: ObjectFile<'a>,
    /// Where each section is placed, by its index; `None`: it is not loaded.
    places: Vec<Option<u64>>,
    /// Of the whole image.
    size: u64,
    /// Of its code, whole pages.
    code_size: u64,
}

const PAGE: u64 = 4096;

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
        // SAFETY: `map_low` has just given `size` bytes at `base`, writable, which nobody else uses.
        let memory = unsafe { std::slice::from_raw_parts_mut(base, size) };
        layout.place(base as u64, memory, known)?;
        jit.symbols = layout.symbols(base as u64, false)?;
        // SAFETY: `code_size` bytes from `base` on are whole pages of our own mapping.
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
                // SAFETY: `p` was just mapped with `bytes` bytes, by a kernel that took the address for a hint.
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
            // SAFETY: `code_size` bytes from `base` on are whole pages of our own mapping, whose code nobody runs at
            // this moment (`# Safety`).
            match unsafe { libc::mprotect(self.base.cast(), self.code_size as usize, protection) } {
                0 => Ok(()),
                _ => Err(format!("cannot change code: {}", std::io::Error::last_os_error())),
            }
        };
        protect(libc::PROT_READ | libc::PROT_WRITE)?;
        for (at, new) in changes {
            let inside = self.code().contains(at) && at + N as u64 <= self.code().end;
            let place = *at as *mut [u8; N];
            // SAFETY: `inside`, so all `N` bytes are of our own mapping, which is writable now; nobody runs them (`#
            // Safety`).
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
        Ok(layout.places.iter().map(|place| place.map(|p| self.base as u64 + p)).collect())
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
    fn read(bytes: &'a [u8]) -> Result<Layout<'a>, String> {
        let object = ObjectFile::parse(bytes).map_err(bad)?;
        if object.kind() != ObjectKind::Relocatable || object.architecture() != Architecture::X86_64 {
            return Err(bad("not an x86-64 ELF object"));
        }
        let mut layout = Layout { object, places: Vec::new(), size: 0, code_size: 0 };
        layout.lay_out()?;
        Ok(layout)
    }

    /// Places allocated sections: code, then on new pages everything else.
    fn lay_out(&mut self) -> Result<(), String> {
        let mut at = 0u64;
        for code in [true, false] {
            for s in self.object.sections() {
                let SectionFlags::Elf { sh_flags } = s.flags() else { continue };
                let has = |flag: u32| sh_flags & u64::from(flag) != 0;
                if has(elf::SHF_ALLOC) && has(elf::SHF_EXECINSTR) == code {
                    at = at.next_multiple_of(s.align().max(1));
                    let index = s.index().0;
                    self.places.resize(self.places.len().max(index + 1), None);
                    self.places[index] = Some(at);
                    at = at.checked_add(s.size()).filter(|a| *a < 1 << 31).ok_or_else(|| bad("size"))?;
                }
            }
            at = at.next_multiple_of(PAGE);
            if code {
                self.code_size = at;
            }
        }
        self.size = at.max(PAGE);
        Ok(())
    }

    /// Where a section is placed.
    fn place_of(&self, section: SectionIndex) -> Option<u64> {
        self.places.get(section.0).copied().flatten()
    }

    /// Puts the contents, for the address `base`, into `memory`, which is zero.
    fn place(&self, base: u64, memory: &mut [u8], known: &HashMap<String, u64>) -> Result<(), String> {
        for s in self.object.sections() {
            let Some(place) = self.place_of(s.index()) else { continue };
            if s.kind() != SectionKind::UninitializedData {
                memory[place as usize..(place + s.size()) as usize].copy_from_slice(s.data().map_err(bad)?);
            }
            self.relocate(&s, place, base, memory, known)?;
        }
        Ok(())
    }

    /// Definitions, for the address `base`: global ones, or all.
    fn symbols(&self, base: u64, all: bool) -> Result<HashMap<String, u64>, String> {
        let mut symbols = HashMap::new();
        for s in self.object.symbols().filter(|s| all || s.is_global()) {
            if let Some(place) = s.section_index().and_then(|i| self.place_of(i)) {
                let name = s.name().map_err(bad)?;
                // sections have no names
                if !name.is_empty() {
                    symbols.insert(name.to_string(), base + place + s.address());
                }
            }
        }
        Ok(symbols)
    }

    /// Applies the relocations of the types that our code model produces (System V ABI for x86-64).
    fn relocate<'b>(
        &self,
        section: &impl ObjectSection<'b>,
        place: u64,
        base: u64,
        memory: &mut [u8],
        known: &HashMap<String, u64>,
    ) -> Result<(), String> {
        for (offset, relocation) in section.relocations() {
            let RelocationTarget::Symbol(index) = relocation.target() else { return Err(bad("relocation")) };
            let symbol = self.object.symbol_by_index(index).map_err(bad)?;
            let address = match symbol.section() {
                SymbolSection::Undefined => {
                    let name = symbol.name().map_err(bad)?;
                    *known.get(name).ok_or_else(|| bad(format!("undefined symbol {name}")))?
                }
                SymbolSection::Section(index) => {
                    base + self.place_of(index).ok_or_else(|| bad("symbol"))? + symbol.address()
                }
                _ => symbol.address(),
            };
            let here = place + offset;
            let s = address.wrapping_add_signed(relocation.addend());
            let relative = s.wrapping_sub(base + here) as i64;
            let RelocationFlags::Elf { r_type } = relocation.flags() else { return Err(bad("relocation")) };
            let (word, bytes, fits) = match r_type {
                elf::R_X86_64_64 => (s, 8, true),
                elf::R_X86_64_PC64 => (relative as u64, 8, true),
                elf::R_X86_64_32 => (s, 4, s <= u32::MAX as u64),
                elf::R_X86_64_32S => (s, 4, s as i64 == s as i32 as i64),
                elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => {
                    (relative as u64, 4, relative == relative as i32 as i64)
                }
                other => return Err(bad(format!("relocation type {other:?}"))),
            };
            if !fits {
                return Err(bad("relocation out of range"));
            }
            let field = memory.get_mut(here as usize..here as usize + bytes).ok_or_else(|| bad("relocation"))?;
            field.copy_from_slice(&word.to_le_bytes()[..bytes]);
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

/// A fresh mapping in the low 2 GiB.
fn map_low(size: usize) -> Result<*mut u8, String> {
    // SAFETY: without `MAP_FIXED` the kernel chooses a place where nothing is.
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
