//! Code and data as an ELF object.

use super::data::Global;
use super::ir::{Address, Bytes, Symbol as Number};
use super::read::Module;
use super::text::unescaped;
use super::x86::{Code, Field};
use object::elf;
use object::write::{Object, Relocation, SectionId, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationFlags, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
};

/// Where a symbol is defined.
#[derive(Clone, Copy)]
struct Definition {
    section: SectionId,
    at: u64,
    size: u64,
    is_code: bool,
    is_global: bool,
}

/// Writes the object: `starts` are where the functions begin in the code, and where they end.
pub(super) fn write(m: &Module<'_>, mut code: Code, starts: &[(usize, usize)]) -> Result<Vec<u8>, String> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let mut section = |name: &str, kind| object.add_section(Vec::new(), name.as_bytes().to_vec(), kind);
    let text = section(m.section.unwrap_or(".text"), SectionKind::Text);
    let constants = section(".data.rel.ro", SectionKind::ReadOnlyDataWithRel);
    let variables = section(".data", SectionKind::Data);
    let zeros = section(".bss", SectionKind::UninitializedData);
    section(".note.GNU-stack", SectionKind::Other);
    let mut definitions: Vec<Option<Definition>> = vec![None; m.symbols.names.len()];
    for (f, (start, end)) in m.functions.iter().zip(starts) {
        definitions[f.symbol as usize] = Some(Definition {
            section: text,
            at: *start as u64,
            size: (end - start) as u64,
            is_code: true,
            is_global: f.is_global,
        });
    }
    let in_code = |number: Number| definitions[number as usize].filter(|d| d.is_code).map(|d| d.at as i64);
    resolve(&mut code, in_code);
    let mut data = [(constants, Bytes::default()), (variables, Bytes::default())];
    let mut zero_bytes = 0u64;
    for g in &m.globals {
        definitions[g.symbol as usize] = Some(place(g, &mut data, &mut zero_bytes, zeros));
    }
    let symbols = define(&mut object, m, &definitions)?;
    let relocate = |object: &mut Object<'_>, section, at: u64, number: Number, more, field| {
        let r_type = match field {
            Field::Relative => elf::R_X86_64_PC32,
            Field::Signed => elf::R_X86_64_32S,
            Field::Unsigned => elf::R_X86_64_32,
            Field::Distance => elf::R_X86_64_PC64,
            Field::Word => elf::R_X86_64_64,
        };
        let flags = RelocationFlags::Elf { r_type };
        let relocation = Relocation { offset: at, symbol: symbols[number as usize], addend: more, flags };
        object.add_relocation(section, relocation).map_err(|e| e.to_string())
    };
    for r in &code.relocations {
        relocate(&mut object, text, r.at as u64, r.symbol, r.more, r.field)?;
    }
    object.set_section_data(text, code.bytes, 16);
    for (section, bytes) in data {
        for a in &bytes.addresses {
            if a.from.is_some() {
                return Err("a distance in data".into());
            }
            relocate(&mut object, section, a.at.into(), a.of, a.more, Field::Word)?;
        }
        object.set_section_data(section, bytes.bytes, 16);
    }
    object.append_section_bss(zeros, zero_bytes, 16);
    object.write().map_err(|e| e.to_string())
}

/// Distances within the code are known.
fn resolve(code: &mut Code, in_code: impl Fn(Number) -> Option<i64>) {
    let bytes = &mut code.bytes;
    code.relocations.retain(|r| match (r.field, in_code(r.symbol)) {
        (Field::Relative, Some(target)) => {
            let distance = (target + r.more - r.at as i64) as i32;
            bytes[r.at..r.at + 4].copy_from_slice(&distance.to_le_bytes());
            false
        }
        _ => true,
    });
}

fn place(
    g: &Global,
    [constants, variables]: &mut [(SectionId, Bytes); 2],
    zero_bytes: &mut u64,
    zeros: SectionId,
) -> Definition {
    let align = u64::from(g.align.max(1));
    let (section, at, size) = if g.zeros > 0 && !g.is_constant {
        let at = zero_bytes.next_multiple_of(align);
        *zero_bytes = at + g.zeros as u64;
        (zeros, at, g.zeros)
    } else {
        let (section, bytes) = if g.is_constant { constants } else { variables };
        let at = bytes.bytes.len().next_multiple_of(align as usize);
        bytes.bytes.resize(at, 0);
        bytes.bytes.extend_from_slice(&g.content.bytes);
        bytes.bytes.resize(bytes.bytes.len() + g.zeros, 0);
        bytes.addresses.extend(g.content.addresses.iter().map(|a| Address { at: a.at + at as u32, ..*a }));
        (*section, at as u64, g.content.bytes.len() + g.zeros)
    };
    Definition { section, at, size: size as u64, is_code: false, is_global: g.is_global }
}

/// Names for all; what is not defined here is defined elsewhere.
fn define(
    object: &mut Object<'_>,
    m: &Module<'_>,
    definitions: &[Option<Definition>],
) -> Result<Vec<SymbolId>, String> {
    (definitions.iter().enumerate())
        .map(|(number, d)| {
            let (section, value, size, kind, scope) = match d {
                Some(d) => (
                    SymbolSection::Section(d.section),
                    d.at,
                    d.size,
                    if d.is_code { SymbolKind::Text } else { SymbolKind::Data },
                    if d.is_global { SymbolScope::Dynamic } else { SymbolScope::Compilation },
                ),
                None => (SymbolSection::Undefined, 0, 0, SymbolKind::Unknown, SymbolScope::Unknown),
            };
            Ok(object.add_symbol(Symbol {
                name: unescaped(m.symbols.names[number])?,
                value,
                size,
                kind,
                scope,
                weak: false,
                section,
                flags: SymbolFlags::None,
            }))
        })
        .collect()
}
