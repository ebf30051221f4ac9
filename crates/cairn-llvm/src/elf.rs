//! Reading ELF relocatable files: just what our own objects contain.

/// What goes wrong with an object: always a bug or a damaged cache file.
pub(crate) fn bad(what: &str) -> String {
    format!("damaged object code: {what}")
}

/// Little-endian fields of a byte string.
pub(crate) struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn slice(&self, at: u64, len: u64) -> Result<&'a [u8], String> {
        let end = at.checked_add(len).ok_or_else(|| bad("range"))?;
        self.0.get(at as usize..end as usize).ok_or_else(|| bad("range"))
    }
    pub(crate) fn u16(&self, at: u64) -> Result<u16, String> {
        Ok(u16::from_le_bytes(self.slice(at, 2)?.try_into().map_err(|_| bad("field"))?))
    }
    pub(crate) fn u32(&self, at: u64) -> Result<u32, String> {
        Ok(u32::from_le_bytes(self.slice(at, 4)?.try_into().map_err(|_| bad("field"))?))
    }
    pub(crate) fn u64(&self, at: u64) -> Result<u64, String> {
        Ok(u64::from_le_bytes(self.slice(at, 8)?.try_into().map_err(|_| bad("field"))?))
    }
    /// NUL-terminated string.
    pub(crate) fn string(&self, at: u64) -> Result<&'a str, String> {
        let rest = self.0.get(at as usize..).ok_or_else(|| bad("string"))?;
        let n = rest.iter().position(|b| *b == 0).ok_or_else(|| bad("string"))?;
        std::str::from_utf8(&rest[..n]).map_err(|_| bad("string"))
    }
}

/// A section header.
pub(crate) struct Section {
    /// Offset of the name in the section name table.
    pub name: u32,
    pub kind: u32,
    pub flags: u64,
    pub offset: u64,
    pub size: u64,
    pub link: u32,
    pub info: u32,
    pub align: u64,
    /// Where it was placed.
    pub place: Option<u64>,
}

pub(crate) const SHT_RELA: u32 = 4;
pub(crate) const SHT_SYMTAB: u32 = 2;
pub(crate) const SHT_NOBITS: u32 = 8;
pub(crate) const SHF_ALLOC: u64 = 2;
pub(crate) const SHF_EXEC: u64 = 4;

/// All section headers.
pub(crate) fn read_sections(o: &Bytes<'_>) -> Result<Vec<Section>, String> {
    let (table, entry) = (o.u64(0x28)?, o.u16(0x3A)? as u64);
    // with many sections the count is in the first header
    let count = match o.u16(0x3C)? {
        0 => o.u64(table + 32)?,
        n => n as u64,
    };
    (0..count)
        .map(|i| {
            let h = table + i * entry;
            Ok(Section {
                name: o.u32(h)?,
                kind: o.u32(h + 4)?,
                flags: o.u64(h + 8)?,
                offset: o.u64(h + 24)?,
                size: o.u64(h + 32)?,
                link: o.u32(h + 40)?,
                info: o.u32(h + 44)?,
                align: o.u64(h + 48)?,
                place: None,
            })
        })
        .collect()
}
