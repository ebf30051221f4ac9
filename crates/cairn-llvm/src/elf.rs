//! Object code as LLVM writes it, and what is said of it when it is not that.

use object::LittleEndian;
use object::read::elf::ElfFile64;

/// An object taken apart.
pub(crate) type ObjectFile<'a> = ElfFile64<'a, LittleEndian>;

/// What goes wrong with an object: always a bug or a damaged cache file.
pub(crate) fn bad(what: impl std::fmt::Display) -> String {
    format!("damaged object code: {what}")
}
