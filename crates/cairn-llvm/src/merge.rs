//! Several ELF objects into one, like `ld -r`, for the few shapes that our own objects have.
//!
//! Sections are kept apart (an object may have any number of `.text`); symbol tables become one. A hidden symbol is
//! local to the merged object; an undefined one is bound to the definition in another part.

use crate::elf::*;
use std::collections::HashMap;

const SHT_PROGBITS: u32 = 1;
const SHT_STRTAB: u32 = 3;
const STB_LOCAL: u8 = 0;
const STT_SECTION: u8 = 3;
const STT_FILE: u8 = 4;
const STV_HIDDEN: u8 = 2;
const HEADER: usize = 64;
const SECTION_HEADER: usize = 64;
const SYMBOL: u64 = 24;

/// One symbol of the output.
struct Symbol {
    name: String,
    /// Binding and type.
    info: u8,
    section: u16,
    value: u64,
    size: u64,
}

/// A section of the output.
struct Out {
    name: String,
    kind: u32,
    flags: u64,
    align: u64,
    link: u32,
    info: u32,
    entry: u64,
    /// Size, for sections without bytes in the file.
    size: u64,
    bytes: Vec<u8>,
}

/// Merges objects.
pub(crate) fn merge(objects: &[Vec<u8>]) -> Result<Vec<u8>, String> {
    if let [one] = objects {
        return Ok(one.clone());
    }
    let mut sections: Vec<Out> = Vec::new();
    // per object: new index of each section
    let mut places: Vec<HashMap<usize, u16>> = Vec::new();
    let mut read = Vec::new();
    for object in objects {
        let o = Bytes(object);
        let all = read_sections(&o)?;
        let names = all.get(o.u16(0x3E)? as usize).ok_or_else(|| bad("section names"))?.offset;
        let mut place = HashMap::new();
        for (i, s) in all.iter().enumerate() {
            let name = o.string(names + s.name as u64)?;
            let seen = name == ".note.GNU-stack" && sections.iter().any(|t| t.name == name);
            if matches!(s.kind, SHT_PROGBITS | SHT_NOBITS) && name != ".comment" && !seen {
                let bytes = if s.kind == SHT_NOBITS { Vec::new() } else { o.slice(s.offset, s.size)?.to_vec() };
                sections.push(Out {
                    name: name.to_string(),
                    kind: s.kind,
                    flags: s.flags,
                    align: s.align,
                    link: 0,
                    info: 0,
                    entry: 0,
                    size: s.size,
                    bytes,
                });
                // section 0 is the null section
                place.insert(i, sections.len() as u16);
            }
        }
        places.push(place);
        read.push((o, all));
    }
    let (symbols, locals, indices) = merge_symbols(&read, &places)?;
    let table = sections.len() + 1 + read.iter().flat_map(|(_, s)| s).filter(|s| s.kind == SHT_RELA).count();
    for (n, (o, all)) in read.iter().enumerate() {
        for s in all.iter().filter(|s| s.kind == SHT_RELA) {
            let target = *places[n].get(&(s.info as usize)).ok_or_else(|| bad("relocated section"))?;
            let mut bytes = o.slice(s.offset, s.size)?.to_vec();
            for r in bytes.chunks_exact_mut(24) {
                let info = u64::from_le_bytes(r[8..16].try_into().map_err(|_| bad("relocation"))?);
                let new = *indices[n].get(&((info >> 32) as u32)).ok_or_else(|| bad("relocation symbol"))?;
                r[8..16].copy_from_slice(&((new as u64) << 32 | info & 0xFFFF_FFFF).to_le_bytes());
            }
            sections.push(Out {
                name: format!(".rela{}", sections[target as usize - 1].name),
                kind: SHT_RELA,
                flags: s.flags,
                align: 8,
                link: table as u32,
                info: target as u32,
                entry: 24,
                size: s.size,
                bytes,
            });
        }
    }
    let mut strings = vec![0u8];
    let mut bytes = vec![0u8; SYMBOL as usize];
    for s in &symbols {
        let name = if s.name.is_empty() { 0 } else { strings.len() as u32 };
        if name != 0 {
            strings.extend(s.name.as_bytes());
            strings.push(0);
        }
        bytes.extend(name.to_le_bytes());
        bytes.extend([s.info, 0]);
        bytes.extend(s.section.to_le_bytes());
        bytes.extend(s.value.to_le_bytes());
        bytes.extend(s.size.to_le_bytes());
    }
    let plain = |name: &str, kind, link, info, entry, bytes: Vec<u8>| Out {
        name: name.into(),
        kind,
        flags: 0,
        align: 8,
        link,
        info,
        entry,
        size: bytes.len() as u64,
        bytes,
    };
    debug_assert_eq!(sections.len() + 1, table);
    sections.push(plain(".symtab", SHT_SYMTAB, table as u32 + 1, locals as u32 + 1, SYMBOL, bytes));
    sections.push(plain(".strtab", SHT_STRTAB, 0, 0, 0, strings));
    Ok(write(sections))
}

type Indices = Vec<HashMap<u32, u32>>;

/// The merged symbols without the null symbol, how many are local, and the new index of each old one.
fn merge_symbols(
    read: &[(Bytes<'_>, Vec<Section>)],
    places: &[HashMap<usize, u16>],
) -> Result<(Vec<Symbol>, usize, Indices), String> {
    let (mut local, mut global) = (Vec::new(), Vec::new());
    // old symbols by where they went; undefined ones by name
    enum Went {
        Local(usize),
        Global(usize),
        Named(String),
    }
    let mut went: Vec<HashMap<u32, Went>> = Vec::new();
    let mut defined: HashMap<String, Went> = HashMap::new();
    for (n, (o, all)) in read.iter().enumerate() {
        let mut map = HashMap::new();
        let table = all.iter().find(|s| s.kind == SHT_SYMTAB).ok_or_else(|| bad("no symbols"))?;
        let strings = all.get(table.link as usize).ok_or_else(|| bad("symbol names"))?;
        for i in 1..table.size / SYMBOL {
            let at = table.offset + SYMBOL * i;
            let name = o.string(strings.offset + o.u32(at)? as u64)?.to_string();
            let flags = o.u16(at + 4)?.to_le_bytes();
            let (info, hidden) = (flags[0], flags[1] & 3 == STV_HIDDEN);
            let old = o.u16(at + 6)?;
            let (value, size) = (o.u64(at + 8)?, o.u64(at + 16)?);
            if info & 15 == STT_FILE {
                continue;
            }
            if old == 0 {
                map.insert(i as u32, Went::Named(name));
                continue;
            }
            let section = match old {
                0xFFF1 => old,
                _ => match places[n].get(&(old as usize)) {
                    Some(s) => *s,
                    None => continue,
                },
            };
            let is_local = info >> 4 == STB_LOCAL;
            if is_local || hidden {
                let name_kept = if info & 15 == STT_SECTION { String::new() } else { name.clone() };
                local.push(Symbol { name: name_kept, info: info & 15, section, value, size });
                map.insert(i as u32, Went::Local(local.len() - 1));
                if !is_local {
                    defined.insert(name, Went::Local(local.len() - 1));
                }
            } else {
                global.push(Symbol { name: name.clone(), info, section, value, size });
                map.insert(i as u32, Went::Global(global.len() - 1));
                defined.insert(name, Went::Global(global.len() - 1));
            }
        }
        went.push(map);
    }
    let locals = local.len();
    let mut indices = Vec::new();
    for map in &went {
        let mut index = HashMap::new();
        for (old, w) in map {
            let new = match w {
                Went::Named(name) => match defined.get(name) {
                    Some(Went::Local(i)) => *i,
                    Some(Went::Global(i)) => locals + i,
                    _ => {
                        // bound to nothing here: stays undefined, once
                        const GLOBAL_NOTYPE: u8 = 1 << 4;
                        let s = Symbol { name: name.clone(), info: GLOBAL_NOTYPE, section: 0, value: 0, size: 0 };
                        global.push(s);
                        defined.insert(name.clone(), Went::Global(global.len() - 1));
                        locals + global.len() - 1
                    }
                },
                Went::Local(i) => *i,
                Went::Global(i) => locals + i,
            };
            index.insert(*old, new as u32 + 1);
        }
        indices.push(index);
    }
    local.append(&mut global);
    Ok((local, locals, indices))
}

/// Lays the file out: header, section contents, section names, section headers.
fn write(mut sections: Vec<Out>) -> Vec<u8> {
    let mut names = vec![0u8];
    sections.push(Out {
        name: ".shstrtab".into(),
        kind: SHT_STRTAB,
        flags: 0,
        align: 1,
        link: 0,
        info: 0,
        entry: 0,
        size: 0,
        bytes: Vec::new(),
    });
    let mut at: Vec<u32> = Vec::new();
    for s in &sections {
        at.push(names.len() as u32);
        names.extend(s.name.as_bytes());
        names.push(0);
    }
    let last = sections.len() - 1;
    sections[last].size = names.len() as u64;
    sections[last].bytes = names;
    let mut file = vec![0u8; HEADER];
    let mut headers = vec![0u8; SECTION_HEADER];
    for (s, name) in sections.iter().zip(&at) {
        file.resize(file.len().next_multiple_of(s.align.max(1) as usize), 0);
        let offset = file.len() as u64;
        file.extend(&s.bytes);
        headers.extend(name.to_le_bytes());
        headers.extend(s.kind.to_le_bytes());
        for w in [s.flags, 0, offset, s.size] {
            headers.extend(w.to_le_bytes());
        }
        headers.extend(s.link.to_le_bytes());
        headers.extend(s.info.to_le_bytes());
        headers.extend(s.align.to_le_bytes());
        headers.extend(s.entry.to_le_bytes());
    }
    file.resize(file.len().next_multiple_of(8), 0);
    let table = file.len() as u64;
    file.extend(headers);
    // e_ident: 64 bits, little-endian, version 1; relocatable, x86-64, version 1
    file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    file[16..18].copy_from_slice(&1u16.to_le_bytes());
    file[18..20].copy_from_slice(&62u16.to_le_bytes());
    file[20..24].copy_from_slice(&1u32.to_le_bytes());
    file[0x28..0x30].copy_from_slice(&table.to_le_bytes());
    file[0x34..0x36].copy_from_slice(&(HEADER as u16).to_le_bytes());
    file[0x3A..0x3C].copy_from_slice(&(SECTION_HEADER as u16).to_le_bytes());
    file[0x3C..0x3E].copy_from_slice(&(sections.len() as u16 + 1).to_le_bytes());
    file[0x3E..0x40].copy_from_slice(&(sections.len() as u16).to_le_bytes());
    file
}
