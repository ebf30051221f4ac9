//! What the places of a program have in common, and what each of them knows of the others.

use super::doorbell::{Board, Doorbell};
use super::shared::{Outcome, Shared};
use crate::access;
use crate::record_types::Made;
use cairn_heap::WeakHandle;
use cairn_layout::Value;
use cairn_layout::module::ModuleTable;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Nobody panics with these locks.
pub fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A module's table that several OS threads read.
pub struct Table(pub *const ModuleTable);

// SAFETY: nothing of a table changes after it has been loaded, but what `site_base` points to, before there are places.
unsafe impl Send for Table {}
// SAFETY: nobody writes a loaded table through `&Table`; what `site_base` points to was written before there were
// places.
unsafe impl Sync for Table {}

/// What the places of a program have in common.
pub struct Family {
    /// The program.
    pub table: Table,
    /// Where its code lies.
    pub code: Range<u64>,
    /// The next number.
    pub ids: AtomicU64,
    /// The places that run, without the first one.
    pub running: Mutex<Vec<Arc<Shared>>>,
    /// One of them has ended.
    pub ended: Condvar,
    /// Globals that had no value when some place began.
    pub late: Mutex<BTreeSet<usize>>,
    /// Those of them that a running place still has no value for, by the place's number.
    pub lacking: Mutex<FxHashMap<u64, BTreeSet<usize>>>,
    /// Record types made by places that have ended: others may have records of them.
    pub made: Mutex<Vec<Made>>,
    /// Which of the places are awake.
    pub board: Arc<Board>,
    /// Bytes of the messages that nobody has received yet.
    pub on_the_way: Arc<AtomicU64>,
}

impl Family {
    /// A number for something new.
    pub fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Relaxed)
    }

    /// Globals that had no value when some place began, in ascending order.
    pub fn late_globals(&self) -> Vec<usize> {
        lock(&self.late).iter().copied().collect()
    }

    /// Globals that some place other than number `own` has no value for, in ascending order. Nobody can come to lack
    /// more of what has a value here: a new place lacks what its maker lacks.
    pub fn lacked_by_others(&self, own: Option<u64>) -> BTreeSet<usize> {
        let lacking = lock(&self.lacking);
        lacking
            .iter()
            .filter(|(place, _)| Some(**place) != own)
            .flat_map(|(_, globals)| globals)
            .copied()
            .collect()
    }

    /// A place has got values for globals: it lacks only those for which `lacks` holds.
    pub fn lacks_less(&self, place: u64, lacks: impl Fn(usize) -> bool) {
        if let Some(globals) = lock(&self.lacking).get_mut(&place) {
            globals.retain(|g| lacks(*g));
        }
    }
}

/// A place's part.
pub struct Places {
    /// What all have in common.
    pub family: Arc<Family>,
    /// What stands for this place, unless it is the first.
    pub own: Option<Arc<Shared>>,
    /// Types of the records that stand for places and for channels.
    pub types: [Value; 2],
    /// The procedure that takes the place of continuations: a static closure.
    pub gone: Value,
    /// What numbers stand for, and a record that does.
    pub held: FxHashMap<u64, (Arc<Shared>, WeakHandle)>,
    /// When so many are held, those are looked for that nobody knows any more.
    pub crowd: usize,
    doorbell: Option<Arc<Doorbell>>,
    /// How this place ends, once it knows.
    pub ends_with: Option<Outcome>,
    /// Another place's globals, symbol slots and literals, and the table that leads to them.
    pub copy: Option<Box<Copy>>,
}

/// Words of the program's object that each place has for itself.
pub struct Copy {
    /// Large enough for all of them where they lie in the object; what is in between stays untouched.
    _words: Box<[u128]>,
    /// Leads to them.
    pub table: ModuleTable,
    /// What is added to addresses in the object.
    pub distance: u64,
}

impl Copy {
    /// Room for them.
    pub fn of(module: &ModuleTable) -> Copy {
        let end = |start: u64, words: u64| start + 8 * words;
        let (g, l, s) = (module.globals as u64, module.literals as u64, module.symbols as u64);
        let first = g.min(l).min(s) & !15;
        let last = end(g, module.global_count).max(end(l, module.literal_count)).max(end(s, module.symbol_count));
        // Zeros: pages come when they are touched.
        let mut words = vec![0u128; (last - first).div_ceil(16) as usize].into_boxed_slice();
        let distance = (words.as_mut_ptr() as u64).wrapping_sub(first);
        let there = |address: u64| address.wrapping_add(distance);
        let table = ModuleTable {
            globals: there(g) as *mut Value,
            literals: there(l) as *mut u64,
            symbols: there(s) as *mut Value,
            ..module.clone()
        };
        Copy { _words: words, table, distance }
    }
}

impl Places {
    /// A runtime's.
    pub fn new(family: Arc<Family>, types: [Value; 2], gone: Value) -> Places {
        let held = FxHashMap::default();
        Places { family, own: None, types, gone, held, crowd: 16, doorbell: None, ends_with: None, copy: None }
    }

    /// The table of the program in this place.
    pub fn module(&self) -> &'static ModuleTable {
        let table = self.copy.as_ref().map_or(self.family.table.0, |copy| &raw const copy.table);
        // SAFETY: the table is that of a loaded module, or its copy in a box of this value, and both live as long as
        // the runtime.
        unsafe { &*table }
    }

    /// What a record stands for.
    pub fn get(&self, record: Value) -> Option<Arc<Shared>> {
        let id = access::word(record, 0);
        id.is_fixnum().then(|| self.held.get(&(id.as_fixnum() as u64)).map(|(s, _)| s.clone()))?
    }

    /// The descriptor that others make this place's event loop look with.
    pub fn doorbell(&mut self) -> std::io::Result<Arc<Doorbell>> {
        if self.doorbell.is_none() {
            let doorbell = Arc::new(Doorbell::new(self.family.board.clone())?);
            if self.own.is_none() {
                self.family.board.set_first(&doorbell);
            }
            self.doorbell = Some(doorbell);
        }
        Ok(self.doorbell.clone().expect("made above"))
    }

    /// The descriptor that others make this place's event loop look with, if there is one.
    pub fn has_doorbell(&self) -> Option<&Arc<Doorbell>> {
        self.doorbell.as_ref()
    }
}

/// The words that each place has of its own, as they are here.
pub fn globals(module: &ModuleTable) -> &[Value] {
    // SAFETY: `module` is the table of a loaded module or a copy, so `global_count` values are at `globals`.
    unsafe { std::slice::from_raw_parts(module.globals, module.global_count as usize) }
}

/// The words of its literals.
pub fn literals(module: &ModuleTable) -> &[Value] {
    // SAFETY: `module` is the table of a loaded module or a copy, so `literal_count` words, as of objects, are at
    // `literals`.
    unsafe { std::slice::from_raw_parts(module.literals.cast(), module.literal_count as usize) }
}
