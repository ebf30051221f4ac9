//! Several ELF objects into one, like `ld -r`.
//!
//! Sections are kept apart (an object may have any number of `.text`); symbol tables become one. A hidden symbol is
//! local to the merged object; an undefined one is bound to the definition in another part.

use crate::elf::{ObjectFile, bad};
use object::elf::{STB_LOCAL, STT_FILE, STV_DEFAULT, STV_HIDDEN};
use object::write::{Object, Relocation, SectionId, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, Object as _, ObjectSection, ObjectSymbol, RelocationTarget,
    SectionIndex, SectionKind, SymbolFlags, SymbolIndex, SymbolKind, SymbolScope,
};
use std::collections::HashMap;

/// Merges objects.
pub(crate) fn merge(objects: &[Vec<u8>]) -> Result<Vec<u8>, String> {
    if let [one] = objects {
        return Ok(one.clone());
    }
    let parts: Vec<_> =
        objects.iter().map(|o| ObjectFile::parse(&o[..])).collect::<Result<_, _>>().map_err(bad)?;
    let mut merged = Merged {
        object: Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little),
        sections: Vec::new(),
        symbols: Vec::new(),
        named: HashMap::new(),
    };
    for part in &parts {
        merged.add_sections(part).map_err(bad)?;
    }
    for (n, part) in parts.iter().enumerate() {
        merged.define(n, part).map_err(bad)?;
    }
    for (n, part) in parts.iter().enumerate() {
        merged.relocate(n, part)?;
    }
    merged.object.write().map_err(bad)
}

/// What comes of the parts.
struct Merged<'a> {
    object: Object<'a>,
    /// Of each part, where its sections went.
    sections: Vec<HashMap<SectionIndex, SectionId>>,
    /// Of each part, where the symbols went that it defines.
    symbols: Vec<HashMap<SymbolIndex, SymbolId>>,
    /// Where symbols went that parts share.
    named: HashMap<&'a [u8], SymbolId>,
}

impl<'a> Merged<'a> {
    /// Takes the contents of a part.
    fn add_sections(&mut self, part: &ObjectFile<'a>) -> Result<(), object::Error> {
        let mut places = HashMap::new();
        for section in part.sections() {
            let name = section.name_bytes()?;
            let is_content = !matches!(section.kind(), SectionKind::Metadata | SectionKind::Elf(_));
            let is_seen = || name == b".note.GNU-stack" && !self.sections.is_empty();
            if !is_content || name == b".comment" || is_seen() {
                continue;
            }
            let id = self.object.add_section(Vec::new(), name.to_vec(), section.kind());
            let new = self.object.section_mut(id);
            new.flags = section.flags();
            if new.is_bss() {
                new.append_bss(section.size(), section.align());
            } else {
                new.set_data(section.data()?, section.align());
            }
            places.insert(section.index(), id);
        }
        self.sections.push(places);
        Ok(())
    }

    /// Takes the symbols that part `n` defines.
    fn define(&mut self, n: usize, part: &ObjectFile<'a>) -> Result<(), object::Error> {
        let mut symbols = HashMap::new();
        for symbol in part.symbols() {
            let SymbolFlags::Elf { st_info, st_other } = symbol.flags() else { continue };
            let section = match symbol.section() {
                object::SymbolSection::Absolute if st_info & 15 != STT_FILE => SymbolSection::Absolute,
                object::SymbolSection::Section(index) => match self.sections[n].get(&index) {
                    Some(id) => SymbolSection::Section(*id),
                    None => continue,
                },
                _ => continue,
            };
            let name = symbol.name_bytes()?;
            let is_shared = symbol.is_global() && st_other & 3 != STV_HIDDEN;
            let (scope, binding) = match is_shared {
                true => (SymbolScope::Dynamic, st_info & !15),
                false => (SymbolScope::Compilation, STB_LOCAL << 4),
            };
            let id = self.object.add_symbol(Symbol {
                name: name.to_vec(),
                value: symbol.address(),
                size: symbol.size(),
                kind: symbol.kind(),
                scope,
                weak: symbol.is_weak(),
                section,
                flags: SymbolFlags::Elf { st_info: binding | st_info & 15, st_other: STV_DEFAULT },
            });
            symbols.insert(symbol.index(), id);
            if symbol.is_global() {
                self.named.insert(name, id);
            }
        }
        self.symbols.push(symbols);
        Ok(())
    }

    /// Takes the relocations of part `n`.
    fn relocate(&mut self, n: usize, part: &ObjectFile<'a>) -> Result<(), String> {
        for section in part.sections() {
            let Some(id) = self.sections[n].get(&section.index()).copied() else { continue };
            for (offset, relocation) in section.relocations() {
                let RelocationTarget::Symbol(index) = relocation.target() else { return Err(bad("relocation")) };
                let symbol = match self.symbols[n].get(&index) {
                    Some(symbol) => *symbol,
                    None => self.named(part.symbol_by_index(index).and_then(|s| s.name_bytes()).map_err(bad)?),
                };
                let relocation =
                    Relocation { offset, symbol, addend: relocation.addend(), flags: relocation.flags() };
                self.object.add_relocation(id, relocation).map_err(bad)?;
            }
        }
        Ok(())
    }

    /// The symbol of this name that a part defines; or it is bound to nothing here and stays undefined, once.
    fn named(&mut self, name: &'a [u8]) -> SymbolId {
        let object = &mut self.object;
        *self.named.entry(name).or_insert_with(|| {
            object.add_symbol(Symbol {
                name: name.to_vec(),
                value: 0,
                size: 0,
                kind: SymbolKind::Unknown,
                scope: SymbolScope::Unknown,
                weak: false,
                section: SymbolSection::Undefined,
                flags: SymbolFlags::None,
            })
        })
    }
}
