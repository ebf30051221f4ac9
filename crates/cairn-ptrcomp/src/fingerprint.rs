//! Is an object still what its bitcode was made for?
//!
//! The problem: an object carries its bitcode in a section, and tools that change the object, like `objcopy
//! --redefine-sym`, `ld -r --wrap` or `ld -r` with code of another compiler, leave that section as it is. The idea:
//! what linkers see of an object is written down beside the bitcode, and compared when the program is linked.
//!
//! ```text
//!  s .text 6 17 16 c0ffee…     a section with contents: name, flags, size, alignment, hash
//!  g f 1 2 0 17                a name: binding, kind, visibility, size
//!  r g 3                       so many relocations to this name
//! ```
//!
//! What `ld -r` joins is the objects one after the other, each section aligned, with one table of names.

use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionFlags, SymbolFlags};
use std::collections::BTreeMap;

/// What linkers see of an object.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Fingerprint {
    sections: Vec<Section>,
    names: BTreeMap<String, Name>,
    relocations: BTreeMap<String, u64>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Section {
    name: String,
    flags: u64,
    size: u64,
    align: u64,
    hash: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Name {
    binding: u8,
    /// 0 undefined, 1 common, 2 defined.
    kind: u8,
    visibility: u8,
    size: u64,
}

/// `SHF_ALLOC`.
const ALLOCATED: u64 = 2;

/// Made of the others, and shortened when it is joined.
const UNWINDING: &str = ".eh_frame";

fn hash(bytes: &[u8]) -> u64 {
    // FNV-1a.
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

/// The sections that programs have in memory, but for notes, which linkers merge.
fn allocated<'d, 'f>(
    file: &'f object::File<'d>,
) -> impl Iterator<Item = (Section, object::Section<'d, 'f>)> + use<'d, 'f> {
    file.sections().filter_map(|section| {
        let SectionFlags::Elf { sh_flags: flags } = section.flags() else { return None };
        let name = section.name().ok()?.to_string();
        if flags & ALLOCATED == 0 || section.size() == 0 || name.starts_with(".note") {
            return None;
        }
        let description = Section { name, flags, size: section.size(), align: section.align().max(1), hash: 0 };
        Some((description, section))
    })
}

impl Fingerprint {
    /// Of an object.
    pub(crate) fn of(file: &object::File) -> Fingerprint {
        let mut found = Fingerprint::default();
        for (mut description, section) in allocated(file) {
            description.hash = hash(section.data().unwrap_or_default());
            found.sections.push(description);
            for (_, relocation) in section.relocations() {
                let RelocationTarget::Symbol(index) = relocation.target() else { continue };
                let Ok(symbol) = file.symbol_by_index(index) else { continue };
                if let (true, Ok(name)) = (symbol.is_global(), symbol.name()) {
                    *found.relocations.entry(name.into()).or_default() += 1;
                }
            }
        }
        for symbol in file.symbols().filter(|s| s.is_global()) {
            let (Ok(name), SymbolFlags::Elf { st_info, st_other }) = (symbol.name(), symbol.flags()) else {
                continue;
            };
            let kind = if symbol.is_undefined() { 0 } else { 2 - u8::from(symbol.is_common()) };
            let description = Name { binding: st_info >> 4, kind, visibility: st_other & 3, size: symbol.size() };
            if !name.is_empty() {
                found.names.insert(name.into(), description);
            }
        }
        found
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for s in &self.sections {
            text += &format!("s\t{}\t{}\t{}\t{}\t{}\n", s.name, s.flags, s.size, s.align, s.hash);
        }
        for (name, n) in &self.names {
            text += &format!("g\t{name}\t{}\t{}\t{}\t{}\n", n.binding, n.kind, n.visibility, n.size);
        }
        for (name, count) in &self.relocations {
            text += &format!("r\t{name}\t{count}\n");
        }
        text
    }

    pub(crate) fn parse(text: &str) -> Option<Fingerprint> {
        let mut found = Fingerprint::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split('\t').collect();
            let (&[what, name], numbers) = words.split_first_chunk()?;
            let numbers: Vec<u64> = numbers.iter().map(|n| n.parse().ok()).collect::<Option<_>>()?;
            match (what, &numbers[..]) {
                ("s", &[flags, size, align, hash]) => {
                    found.sections.push(Section { name: name.into(), flags, size, align, hash });
                }
                ("g", &[binding, kind, visibility, size]) => {
                    let [binding, kind, visibility] = [binding as u8, kind as u8, visibility as u8];
                    found.names.insert(name.into(), Name { binding, kind, visibility, size });
                }
                ("r", &[count]) => {
                    found.relocations.insert(name.into(), count);
                }
                _ => return None,
            }
        }
        Some(found)
    }

    /// Is this object what these were, one of them or several that `ld -r` has joined, and nothing besides?
    pub(crate) fn are(parts: &[Fingerprint], file: &object::File) -> bool {
        let whole = Fingerprint::of(file);
        if let [one] = parts {
            return *one == whole;
        }
        let mut relocations: BTreeMap<String, u64> = BTreeMap::new();
        let mut names: BTreeMap<String, Name> = BTreeMap::new();
        for part in parts {
            for (name, count) in &part.relocations {
                *relocations.entry(name.clone()).or_default() += count;
            }
            for (name, new) in &part.names {
                let Some(old) = names.get_mut(name) else {
                    names.insert(name.clone(), *new);
                    continue;
                };
                match (old.kind, new.kind) {
                    (0, 2) => *old = *new,
                    (2, 0) => {}
                    (0, 0) if *old == *new => {}
                    // Weak and common ones: the linker's rules are not ours to know.
                    _ => return false,
                }
            }
        }
        relocations == whole.relocations && names == whole.names && covered(parts, file)
    }
}

/// Do the sections of the parts make all of the sections of the whole?
fn covered(parts: &[Fingerprint], file: &object::File) -> bool {
    let mut whole: BTreeMap<(String, u64), (u64, Vec<u8>)> = BTreeMap::new();
    for (s, section) in allocated(file).filter(|(s, _)| s.name != UNWINDING) {
        let contents = section.data().unwrap_or_default().to_vec();
        if whole.insert((s.name, s.flags), (s.size, contents)).is_some() {
            return false;
        }
    }
    let mut ends: BTreeMap<(String, u64), u64> = BTreeMap::new();
    for section in parts.iter().flat_map(|p| &p.sections).filter(|s| s.name != UNWINDING) {
        let key = (section.name.clone(), section.flags);
        let Some((size, contents)) = whole.get(&key) else { return false };
        let end = ends.entry(key).or_default();
        let start = end.next_multiple_of(section.align);
        *end = start.saturating_add(section.size);
        let found = match contents.is_empty() {
            true => &[][..],
            false => contents.get(start as usize..*end as usize).unwrap_or_default(),
        };
        if *end > *size || hash(found) != section.hash {
            return false;
        }
    }
    whole.iter().all(|(key, (size, _))| ends.get(key) == Some(size))
}
