//! The loaded modules, and which of them a piece of code belongs to.
//!
//! The problem: positions in descriptors speak of the tables of their own module, but a condition outlives the code
//! that raised it, and a backtrace passes through several modules. The idea: a position is *located* when it leaves its
//! module: the bits that held a name (`Site::who`), which only the compiler needs, then hold the module's index. Frames
//! are located by their code address, failures by the word `ModuleTable::site_base`.

use cairn_layout::code::{Site, tail_call};
use cairn_layout::module::ModuleTable;
use std::collections::HashMap;
use std::ops::Range;

/// A module's number in its runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModuleId(pub u32);

/// The modules of a runtime. They stay loaded as long as it lives.
#[derive(Default)]
pub struct Modules {
    tables: Vec<*const ModuleTable>,
    /// Where each one's code lies, by address.
    code: Vec<(Range<u64>, ModuleId)>,
    /// What tail calls say of themselves, to rows; made when somebody asks, of the first so many modules.
    tail_calls: HashMap<u32, Site>,
    indexed: usize,
}

impl Modules {
    /// Adds a module, unless there are too many or its code is that of another one.
    ///
    /// # Safety
    /// `table` is a module table that outlives the runtime.
    pub unsafe fn add(&mut self, table: *const ModuleTable, code: Range<u64>) -> Option<ModuleId> {
        let id = ModuleId(self.tables.len() as u32);
        let at = self.code.partition_point(|(c, _)| c.start < code.start);
        let free = self.code.get(at).is_none_or(|(next, _)| code.end <= next.start)
            && self.code[..at].last().is_none_or(|(before, _)| before.end <= code.start);
        if id.0 >= Site::MODULES || !free {
            return None;
        }
        self.tables.push(table);
        self.code.insert(at, (code, id));
        Some(id)
    }

    /// Adds code of the module that other code belongs to. Positions in it speak of the same tables.
    pub fn add_code(&mut self, of: u64, code: Range<u64>) {
        if let Some(id) = self.of_code(of) {
            let at = self.code.partition_point(|(c, _)| c.start < code.start);
            self.code.insert(at, (code, id));
        }
    }

    /// All of them, in the order of loading.
    pub fn iter(&self) -> impl Iterator<Item = &ModuleTable> {
        // SAFETY: `add` took only tables that outlive the runtime, whose part `self` is.
        self.tables.iter().map(|t| unsafe { &**t })
    }

    /// A module's table.
    pub fn get(&self, id: ModuleId) -> Option<&ModuleTable> {
        // SAFETY: `add` took only tables that outlive the runtime, whose part `self` is.
        self.tables.get(id.0 as usize).map(|t| unsafe { &**t })
    }

    /// Where a module's code lies.
    pub fn code(&self, id: ModuleId) -> Option<Range<u64>> {
        self.code.iter().find(|(_, of)| *of == id).map(|(code, _)| code.clone())
    }

    /// The extent of code around an address.
    pub fn code_around(&self, code: u64) -> Option<Range<u64>> {
        let at = self.code.partition_point(|(c, _)| c.end <= code);
        self.code.get(at).filter(|(c, _)| c.contains(&code)).map(|(c, _)| c.clone())
    }

    /// The module that this code address lies in.
    pub fn of_code(&self, code: u64) -> Option<ModuleId> {
        let at = self.code.partition_point(|(c, _)| c.end <= code);
        self.code.get(at).filter(|(c, _)| c.contains(&code)).map(|(_, id)| *id)
    }

    /// A position from the descriptor of `code`, located.
    pub fn locate(&self, code: u64, site: Site) -> Site {
        self.of_code(code).map_or(Site::NONE, |id| site.in_module(id.0))
    }

    /// The row of a tail call that says `call` of itself, located. Of several that are alike the last one: a module
    /// that was made later may be the one that runs.
    pub fn tail_call(&mut self, call: u32) -> Option<Site> {
        while let Some(table) = self.get(ModuleId(self.indexed as u32)) {
            let calls: Vec<(u32, u32)> = (0..table.inlined_count as u32)
                // SAFETY: `table` is the table of a module (`get`), and said_at itself compares rows with its count.
                .filter_map(|row| Some((row, unsafe { said_at(table, row) }?)))
                .collect();
            let module = self.indexed as u32;
            self.tail_calls
                .extend(calls.into_iter().map(|(row, call)| (call, Site::inlined(row).in_module(module))));
            self.indexed += 1;
        }
        self.tail_calls.get(&call).copied()
    }

    /// The tables that a located position speaks of.
    pub fn of_site(&self, site: Site) -> Option<&ModuleTable> {
        self.get(ModuleId(site.module()))
    }
}

/// What a tail call at this row of a table says of itself.
///
/// # Safety
/// `table` is the table of a loaded module: it points to as many rows and sources as it counts.
unsafe fn said_at(table: &ModuleTable, row: u32) -> Option<u32> {
    let mut places = Vec::new();
    let mut next = Some(row);
    while let Some(row) = next.filter(|row| u64::from(*row) < table.inlined_count) {
        // SAFETY: `row` was just compared with `inlined_count`, and the table is a module's (`# Safety`).
        let row = unsafe { &*table.inlined.add(row as usize) };
        let site = Site(row.site);
        let file = site.file().filter(|file| u64::from(*file) < table.source_count)?;
        // SAFETY: `file` was just compared with `source_count`; a source's path is `len` bytes at `data`, part of the
        // module.
        let path = unsafe {
            let path = &(*table.sources.add(file as usize)).path;
            std::slice::from_raw_parts(path.data, path.len as usize)
        };
        places.push((path, site.start()));
        next = Site(row.at).row();
    }
    Some(tail_call::at(places.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_belongs_to_one_module() {
        let mut m = Modules::default();
        let add = |m: &mut Modules, code: Range<u64>| {
            // SAFETY: `add` does not look at the table, and nobody asks this `Modules` for one.
            unsafe { m.add(std::ptr::null(), code) }.map(|id| id.0)
        };
        assert_eq!(add(&mut m, 500..600), Some(0));
        assert_eq!(add(&mut m, 100..200), Some(1));
        assert_eq!(add(&mut m, 200..300), Some(2));
        for (code, owner) in
            [(99, None), (100, Some(1)), (199, Some(1)), (200, Some(2)), (300, None), (599, Some(0)), (600, None)]
        {
            assert_eq!(m.of_code(code).map(|id| id.0), owner, "{code}");
        }
        for overlapping in [0..101, 299..301, 150..160, 400..700, 599..601] {
            assert_eq!(add(&mut m, overlapping), None);
        }
        m.add_code(250, 700..800);
        m.add_code(300, 900..1000);
        assert_eq!((m.of_code(700).map(|id| id.0), m.of_code(950)), (Some(2), None));
        let site = m.locate(210, Site::new(3, 77).with_who(Some(5)).tail());
        assert_eq!((site.module(), site.file(), site.start(), site.is_tail()), (2, Some(3), 77, true));
        assert_eq!(m.locate(300, Site::new(3, 77)), Site::NONE);
    }
}
