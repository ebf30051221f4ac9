//! Pools of compact records: `cairn_layout::object::record::compact` says what they look like.
//!
//! The problem: half of a record with links is the upper half of its references, and a header says again and again what
//! all its neighbours say. The idea (pointer compression: Lattner & Adve 2005): the records of a type lie in one pool
//! of their own, and refer to each other by number. A number outlives every change of the pool, so a pool that is full
//! moves as a whole, by moving its pages, and a pool whose references have become too narrow is laid out anew, while
//! nothing outside of it changes.
//!
//! ```text
//!  Entry: base ──▶ │ 0 (none) │ 1 │ 2 │ 3 │ …  │ next … limit │ … high │ … touched │ pages to come
//!                                │ in use: a bit each        │  the mutator's run   │
//! ```
//!
//! Compact records refer to nothing but compact records. So collections of young objects do not look at them, and they
//! count as old from the start; a full collection marks them beside everything else ([`CompactSpace::mark`]), and what
//! is not marked is free ([`CompactSpace::sweep`]). The mutator takes records from runs of free ones, which are cleared
//! before.

use crate::address::{Address, prefetch};
use crate::region::Mapping;
use cairn_layout::object::record::FieldKind;
use cairn_layout::object::record::compact::{
    ENTRY_SHIFT, Entry, RECORD_SHIFT, RECORDS, TYPES, Widths, layout, record_number, type_number, upper,
    with_upper, word as type_word,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Bytes of a run for the mutator.
const RUN_BYTES: u32 = 16 << 10;
/// Bytes of a new pool.
const FIRST_BYTES: u64 = 64 << 10;
/// Beyond its live records, a pool keeps so many bytes of pages, or as many as these.
const SLACK: u64 = 4 << 20;
/// Records on their way from the stack of the marker.
const QUEUE: usize = 8;

/// A field of references.
#[derive(Clone, Copy)]
struct Reference {
    at: u32,
    index: u32,
    own: bool,
}

/// The records of one type.
struct Pool {
    entry: *mut Entry,
    number: u32,
    upper: u32,
    fields: Vec<(FieldKind, bool)>,
    targets: Box<[u32]>,
    places: Vec<u32>,
    references: Vec<Reference>,
    bits: u32,
    stride: u32,
    map: Mapping,
    /// No record with a greater number is in use.
    high: u32,
    /// Records up to this number may not be clear.
    touched: u32,
    /// Before this number nothing is free.
    cursor: u32,
    /// A bit for each record that is in use, or handed out to the mutator.
    used: Vec<u64>,
    marks: Vec<AtomicU64>,
    live: u32,
    /// There are marked records that have not been looked at.
    deferred: AtomicBool,
    peak: u64,
    made: u64,
    expansions: u32,
}

/// What is known of a pool, for people.
#[derive(Clone, Debug)]
pub struct PoolStats {
    /// The number of the type.
    pub type_number: u32,
    /// Records in use, those included that have died since the last full collection.
    pub records: u64,
    /// Records handed out so far, in whole runs.
    pub made: u64,
    /// Bytes of a record.
    pub stride: u32,
    /// Bits of references in fields.
    pub bits: u32,
    /// Times that they became wider.
    pub expansions: u32,
    /// Most bytes in use.
    pub peak: u64,
}

impl Pool {
    fn address(&self, n: u32) -> u64 {
        self.map.base().0 + n as u64 * self.stride as u64
    }
    /// Records that the mapping has room for, those of number 0 included.
    fn room(&self) -> u64 {
        (self.map.bytes() / self.stride as u64).min(RECORDS as u64)
    }
    fn is_used(&self, n: u32) -> bool {
        n > 0 && n <= self.high && self.used[n as usize / 64] >> (n % 64) & 1 != 0
    }
    #[inline]
    fn is_marked(&self, n: u32) -> bool {
        self.marks.get(n as usize / 64).is_some_and(|w| w.load(Relaxed) >> (n % 64) & 1 != 0)
    }
    /// Marks a record; was it unmarked?
    #[inline]
    fn set<const PARALLEL: bool>(&self, n: u32) -> bool {
        let Some(word) = self.marks.get(n as usize / 64) else { return false };
        let bit = 1 << (n % 64);
        let before = word.load(Relaxed);
        if before & bit != 0 {
            return false;
        }
        if PARALLEL {
            return word.fetch_or(bit, Relaxed) & bit == 0;
        }
        word.store(before | bit, Relaxed);
        true
    }
    /// The reference in a field of the record at `at`; 0 if there is none.
    #[inline]
    fn reference(&self, at: u64, r: Reference) -> u64 {
        let q = at + r.at as u64;
        // SAFETY: callers pass the address of a record in use, and `r` is one of its fields, of `bits` bits.
        let n = unsafe {
            match self.bits {
                32 => *(q as *const u32) >> RECORD_SHIFT,
                16 => *(q as *const u16) as u32,
                _ => *(q as *const u8) as u32,
            }
        };
        let upper = if r.own { self.upper } else { self.targets[r.index as usize] };
        if n == 0 { 0 } else { with_upper(upper, n) }
    }
    fn publish(&mut self) {
        // SAFETY: the entry is in the table, which lives as long as the space; one thread, and no other reference to it
        // is alive.
        let e = unsafe { &mut *self.entry };
        e.base = self.map.base().0;
        e.targets = self.targets.as_mut_ptr();
        e.places = self.places.as_ptr();
        (e.bits, e.stride, e.high) = (self.bits, self.stride, self.high);
    }
    fn lay_out(&mut self, bits: u32) {
        let kinds: Vec<FieldKind> = self.fields.iter().map(|f| f.0).collect();
        let (places, stride) = layout(&kinds, bits).expect("kinds of compact records");
        let all = self.fields.iter().zip(&places).enumerate();
        let references = all.filter(|(_, (f, _))| f.0 == FieldKind::Ref);
        self.references =
            references.map(|(i, (f, at))| Reference { at: *at, index: i as u32, own: f.1 }).collect();
        (self.places, self.stride, self.bits) = (places, stride, bits);
    }
    /// Room for more records, if the system has some.
    fn grow(&mut self) -> std::io::Result<()> {
        let old = self.map.bytes();
        let more = if old < 64 << 20 { old } else { old / 2 };
        let step = |bytes: u64| (old + bytes).next_multiple_of(1 << 16);
        if self.map.grow(step(more)).is_err() {
            self.map.grow(step(FIRST_BYTES))?;
        }
        self.make_bits();
        self.publish();
        Ok(())
    }
    /// A bit of each kind for every record that there is room for.
    fn make_bits(&mut self) {
        let words = self.room() as usize / 64 + 1;
        self.used.resize(words, 0);
        self.marks.resize_with(words, || AtomicU64::new(0));
    }
    /// The next run of free records, cleared: the first one, and the one after the last.
    fn take_run(&mut self, most: u32) -> std::io::Result<(u32, u32)> {
        // The first free number.
        let mut n = self.cursor.max(1);
        while n <= self.high {
            let word = self.used[n as usize / 64] >> (n % 64);
            let skip = word.trailing_ones();
            if skip < 64 - n % 64 {
                n += skip;
                break;
            }
            n = (n / 64 + 1) * 64;
        }
        let first = n.min(self.high + 1);
        let mut end = first;
        while end <= self.high && end - first < most && !self.is_used(end) {
            end += 1;
        }
        if end > self.high {
            while first as u64 >= self.room() {
                if self.room() == RECORDS as u64 {
                    return Err(std::io::ErrorKind::OutOfMemory.into());
                }
                self.grow()?;
            }
            end = (first as u64 + most as u64).min(self.room()) as u32;
        }
        for n in first..end {
            self.used[n as usize / 64] |= 1 << (n % 64);
        }
        if first <= self.touched {
            let bytes = (end.min(self.touched + 1) - first) as u64 * self.stride as u64;
            // SAFETY: `first..end` were found free, and up to `touched` they are in the pool's memory.
            unsafe { std::ptr::write_bytes(self.address(first) as *mut u8, 0, bytes as usize) };
        }
        self.cursor = end;
        self.high = self.high.max(end - 1);
        self.touched = self.touched.max(end - 1);
        self.live += end - first;
        self.made += (end - first) as u64;
        self.peak = self.peak.max(self.bytes());
        self.publish();
        Ok((first, end))
    }
    fn bytes(&self) -> u64 {
        self.live as u64 * self.stride as u64
    }
    /// Lays all records out anew, with wider references.
    fn widen(&mut self, bits: u32) -> std::io::Result<()> {
        let kinds: Vec<FieldKind> = self.fields.iter().map(|f| f.0).collect();
        let (places, stride) = layout(&kinds, bits).expect("kinds of compact records");
        let room = (self.high as u64 + 1) * stride as u64;
        let map = Mapping::reserve(room.next_multiple_of(1 << 16).max(self.map.bytes()))?;
        for n in (1..=self.high).filter(|n| self.is_used(*n)) {
            let (from, to) = (self.address(n), map.base().0 + n as u64 * stride as u64);
            for (i, kind) in kinds.iter().enumerate() {
                let (from, to) = (from + self.places[i] as u64, to + places[i] as u64);
                let size =
                    if *kind == FieldKind::Ref { self.bits / 8 } else { kind.raw_bytes().unwrap_or(0) as u32 };
                // SAFETY: `from` and `to` are the same field of a record in use, in the old memory and in the new;
                // numbers are little-endian, and the new ones are clear.
                unsafe {
                    std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, size as usize);
                    if *kind == FieldKind::Ref && bits == 32 {
                        *(to as *mut u32) <<= RECORD_SHIFT;
                    }
                }
            }
        }
        self.map = map;
        self.lay_out(bits);
        self.touched = self.high;
        self.make_bits();
        self.expansions += 1;
        self.peak = self.peak.max(self.bytes());
        self.publish();
        Ok(())
    }
    fn sweep(&mut self, poison: bool) {
        self.live = 0;
        let (mut high, before) = (0, self.high);
        for (i, (used, mark)) in self.used.iter_mut().zip(&self.marks).enumerate() {
            *used = mark.swap(0, Relaxed);
            self.live += used.count_ones();
            if *used != 0 {
                high = i as u32 * 64 + 63 - used.leading_zeros();
            }
        }
        (self.cursor, self.high) = (1, high);
        if poison {
            let dead = (1..=before.min(self.touched)).filter(|n| *n > high || !self.is_used(*n));
            for n in dead {
                // SAFETY: `n` is not in use and at most `touched`, so its `stride` bytes are in the pool's memory.
                unsafe { std::ptr::write_bytes(self.address(n) as *mut u8, 0x5A, self.stride as usize) };
            }
        }
        let keep = high as u64 + (self.bytes().max(SLACK) / self.stride as u64);
        if (self.touched as u64) > keep {
            let from = self.address(keep as u32 + 1).next_multiple_of(4096);
            let to = self.address(self.touched + 1).next_multiple_of(4096);
            if from < to {
                crate::region::release_pages(crate::address::Span::new(Address(from), Address(to)));
            }
            // The page that both parts share is not clear.
            self.touched = ((from - self.map.base().0) / self.stride as u64) as u32;
        }
        self.publish();
    }
}

/// The stack of a marker: kept, so that it is not made for each record.
#[derive(Default)]
pub(crate) struct CompactStack(Vec<u64>);

/// See the module's header.
pub(crate) struct CompactSpace {
    table: Mapping,
    /// By the numbers of types.
    pools: Vec<Option<Box<Pool>>>,
    young: u64,
    poison: bool,
    /// Most records of a run.
    most: u32,
    /// Most references in a marker's stack.
    stack: usize,
}

// SAFETY: while several threads mark, entries are reached through the space alone, and only bits are written,
// atomically.
unsafe impl Sync for CompactSpace {}
// SAFETY: a space is tables and memory of its own, none of which belongs to a thread.
unsafe impl Send for CompactSpace {}

impl CompactSpace {
    /// No pools.
    pub fn new(poison: bool, every_safepoint: bool, stack: usize) -> std::io::Result<CompactSpace> {
        let most = if every_safepoint { 2 } else { RUN_BYTES };
        let table = Mapping::reserve((TYPES as u64) << ENTRY_SHIFT)?;
        Ok(CompactSpace { table, pools: Vec::new(), young: 0, poison, most, stack: stack.max(16) })
    }
    /// The table of pools.
    pub fn table(&self) -> *mut u8 {
        self.table.base().bytes()
    }
    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        self.all().map(Pool::bytes).sum()
    }
    /// Bytes handed out since the last full collection.
    pub const fn young_bytes(&self) -> u64 {
        self.young
    }
    fn all(&self) -> impl Iterator<Item = &Pool> {
        self.pools.iter().flatten().map(|p| &**p)
    }
    fn pool(&self, number: u32) -> Option<&Pool> {
        self.pools.get(number as usize)?.as_deref()
    }
    fn pool_mut(&mut self, number: u32) -> Option<&mut Pool> {
        self.pools.get_mut(number as usize)?.as_deref_mut()
    }
    /// Makes the pool of a type with this number, whose fields are these.
    pub fn define(&mut self, number: u32, fields: Vec<(FieldKind, bool)>, widths: Widths) -> std::io::Result<()> {
        let i = number as usize;
        if self.pools.len() <= i {
            self.pools.resize_with(i + 1, || None);
        }
        let entry = (self.table.base().0 + ((number as u64) << ENTRY_SHIFT)) as *mut Entry;
        let mut pool = Pool {
            entry,
            number,
            upper: upper(type_word(number)),
            targets: vec![0; fields.len()].into(),
            fields,
            places: Vec::new(),
            references: Vec::new(),
            bits: 0,
            stride: 1,
            map: Mapping::reserve(FIRST_BYTES)?,
            high: 0,
            touched: 0,
            cursor: 1,
            used: Vec::new(),
            marks: Vec::new(),
            live: 0,
            deferred: AtomicBool::new(false),
            peak: 0,
            made: 0,
            expansions: 0,
        };
        pool.lay_out(widths.first());
        pool.make_bits();
        pool.publish();
        self.pools[i] = Some(Box::new(pool));
        Ok(())
    }
    /// Hands the mutator a run of records of this type; the bytes of it.
    pub fn refill(&mut self, number: u32) -> std::io::Result<u64> {
        let most = self.most;
        let pool = self.pool_mut(number).expect("a compact type of this heap");
        let (first, end) = pool.take_run((most / pool.stride).clamp(2.min(most), most))?;
        // SAFETY: `entry` points into the table, which lives as long as the space, and the mutator waits for this.
        unsafe { ((*pool.entry).next, (*pool.entry).limit) = (first, end) };
        let bytes = (end - first) as u64 * pool.stride as u64;
        self.young += bytes;
        Ok(bytes)
    }
    /// Makes the references in the records of a type wide enough for this number.
    pub fn widen(&mut self, type_number: u32, for_number: u32) -> std::io::Result<()> {
        let pool = self.pool_mut(type_number).expect("a compact type of this heap");
        let mut bits = pool.bits;
        while bits < 32 && for_number >> bits != 0 {
            bits *= 2;
        }
        if bits > pool.bits { pool.widen(bits) } else { Ok(()) }
    }
    /// Is this a reference to a record that is in use?
    pub fn is_used(&self, word: u64) -> bool {
        self.pool(type_number(word))
            .is_some_and(|p| p.upper == (word >> 32) as u32 && p.is_used(record_number(word)))
    }
    /// The references in a record.
    pub fn references(&self, word: u64) -> Vec<u64> {
        let Some(p) = self.pool(type_number(word)) else { return Vec::new() };
        let at = p.address(record_number(word));
        p.references.iter().map(|r| p.reference(at, *r)).filter(|w| *w != 0).collect()
    }
    /// What is known of each pool.
    pub fn stats(&self) -> Vec<PoolStats> {
        let stats = |p: &Pool| PoolStats {
            type_number: p.number,
            records: p.live as u64,
            made: p.made,
            stride: p.stride,
            bits: p.bits,
            expansions: p.expansions,
            peak: p.peak,
        };
        self.all().map(stats).collect()
    }

    /// A full collection begins: nothing is marked, and what the mutator has left of its runs is free again.
    pub fn begin_marking(&mut self) {
        for p in self.pools.iter().flatten() {
            // SAFETY: `entry` points into the table, which lives as long as the space, and the mutator stands still.
            unsafe { ((*p.entry).next, (*p.entry).limit) = (0, 0) };
            p.marks.iter().for_each(|w| w.store(0, Relaxed));
        }
    }
    /// Is this record marked?
    pub fn is_marked(&self, word: u64) -> bool {
        self.pool(type_number(word)).is_none_or(|p| p.is_marked(record_number(word)))
    }
    /// Marks the record of a reference, and all that it leads to; tells `met` of each record that was unmarked. A word
    /// that only looks like a reference does no harm.
    #[inline]
    pub fn mark<const PARALLEL: bool>(&self, word: u64, stack: &mut CompactStack, met: impl FnMut(u64)) {
        if let Some(p) = self.pool(type_number(word))
            && p.upper == (word >> 32) as u32
            && !p.is_marked(record_number(word))
            && p.is_used(record_number(word))
        {
            self.mark_all::<PARALLEL>(word, stack, met);
        }
    }
    #[inline(never)]
    fn mark_all<const PARALLEL: bool>(&self, root: u64, stack: &mut CompactStack, mut met: impl FnMut(u64)) {
        let mut queue = [0; QUEUE];
        let (mut at, mut waiting) = (0, 0);
        self.reach::<PARALLEL>(root, stack, &mut met);
        loop {
            let next = stack.0.pop();
            if next.is_none() && waiting == 0 {
                if !self.resume::<PARALLEL>(stack, &mut met) {
                    return;
                }
                continue;
            }
            if let Some(w) = next
                && let Some(p) = self.pool(type_number(w))
            {
                prefetch(p.address(record_number(w)) as *const u8);
            }
            let w: u64 = std::mem::replace(&mut queue[at], next.unwrap_or(0));
            at = (at + 1) % QUEUE;
            waiting += next.is_some() as usize;
            if w != 0 {
                waiting -= 1;
                self.look_at::<PARALLEL>(w, stack, &mut met);
            }
        }
    }
    /// Marks a record that is in use; if it has references and was unmarked, it gets onto the stack.
    #[inline(always)]
    fn reach<const PARALLEL: bool>(&self, w: u64, stack: &mut CompactStack, met: &mut impl FnMut(u64)) {
        let Some(p) = self.pool(type_number(w)) else { return };
        if !p.set::<PARALLEL>(record_number(w)) {
            return;
        }
        met(w);
        if p.references.is_empty() {
        } else if stack.0.len() < self.stack {
            stack.0.push(w);
        } else {
            p.deferred.store(true, Relaxed);
        }
    }
    /// Reaches what a record refers to.
    #[inline(always)]
    fn look_at<const PARALLEL: bool>(&self, w: u64, stack: &mut CompactStack, met: &mut impl FnMut(u64)) {
        let Some(p) = self.pool(type_number(w)) else { return };
        let at = p.address(record_number(w));
        for r in p.references.iter().rev() {
            let next = p.reference(at, *r);
            if next != 0 {
                self.reach::<PARALLEL>(next, stack, met);
            }
        }
    }
    /// Looks at all marked records of pools of which some had no room on the stack. Were there such pools?
    #[cold]
    fn resume<const PARALLEL: bool>(&self, stack: &mut CompactStack, met: &mut impl FnMut(u64)) -> bool {
        let mut any = false;
        for p in self.all().filter(|p| p.deferred.swap(false, Relaxed)) {
            any = true;
            for n in (1..=p.high).filter(|n| p.is_marked(*n)) {
                self.look_at::<PARALLEL>(with_upper(p.upper, n), stack, met);
                while stack.0.len() > self.stack / 2 {
                    let Some(w) = stack.0.pop() else { break };
                    self.look_at::<PARALLEL>(w, stack, met);
                }
            }
        }
        any
    }
    /// Frees what is not marked.
    pub fn sweep(&mut self) {
        let poison = self.poison;
        self.pools.iter_mut().flatten().for_each(|p| p.sweep(poison));
        self.young = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: u32 = 7;

    fn space(widths: Widths, stack: usize) -> CompactSpace {
        let mut s = CompactSpace::new(false, false, stack).unwrap();
        s.define(NODE, vec![(FieldKind::U8, false), (FieldKind::Ref, true), (FieldKind::Ref, true)], widths)
            .unwrap();
        s
    }
    fn make(s: &mut CompactSpace) -> u64 {
        let entry = s.pool(NODE).unwrap().entry;
        // SAFETY: `entry` points into the table of the space `s`, and no reference to it is alive.
        unsafe {
            if (*entry).next == (*entry).limit {
                s.refill(NODE).unwrap();
            }
            (*entry).next += 1;
            with_upper(upper(type_word(NODE)), (*entry).next - 1)
        }
    }
    fn link(s: &mut CompactSpace, from: u64, field: usize, to: u64) {
        s.widen(NODE, record_number(to)).unwrap();
        let p = s.pool(NODE).unwrap();
        let at = p.address(record_number(from)) + p.places[field] as u64;
        // SAFETY: `at` is the address of a reference field, of `bits` bits, of a record in use.
        unsafe {
            match p.bits {
                8 => *(at as *mut u8) = record_number(to) as u8,
                16 => *(at as *mut u16) = record_number(to) as u16,
                _ => *(at as *mut u32) = record_number(to) << RECORD_SHIFT,
            }
        }
    }
    fn collect(s: &mut CompactSpace, roots: &[u64]) -> usize {
        let (mut stack, mut met) = (CompactStack::default(), 0);
        s.begin_marking();
        roots.iter().for_each(|w| s.mark::<false>(*w, &mut stack, |_| met += 1));
        s.sweep();
        met
    }

    #[test]
    fn lists_are_marked_and_their_rest_is_used_again() {
        for widths in [Widths::Only32, Widths::From8, Widths::From16] {
            let mut s = space(widths, 1000);
            let all: Vec<u64> = (0..70_000).map(|_| make(&mut s)).collect();
            for (i, pair) in all.windows(2).enumerate() {
                link(&mut s, pair[0], 1, pair[1]);
                link(&mut s, pair[0], 2, all[(i + 70_000) / 2]);
            }
            let half = all[35_000];
            assert_eq!(collect(&mut s, &[half]), 35_000);
            assert_eq!(s.bytes(), 35_000 * 12);
            assert_eq!(s.stats()[0].bits, 32);
            let again = make(&mut s);
            assert!(!all[35_000..].contains(&again) && s.is_used(again) && s.is_used(all[35_000]));
            assert!(s.references(again).is_empty(), "it is clear");
            assert_eq!(collect(&mut s, &[]), 0);
            assert_eq!(s.bytes(), 0);
        }
    }

    #[test]
    fn a_stack_that_is_too_small_is_enough() {
        let mut s = space(Widths::Only32, 0);
        let all: Vec<u64> = (0..20_000).map(|_| make(&mut s)).collect();
        // A tree in which the first branch of each node leads to a long chain.
        for i in 0..9_999 {
            link(&mut s, all[i], 2, all[2 * i + 1]);
            link(&mut s, all[i], 1, all[2 * i + 2]);
        }
        assert_eq!(collect(&mut s, &all[..1]), 19_999);
        assert_eq!(collect(&mut s, &all[..1]), 19_999);
    }

    #[test]
    fn words_that_look_like_references_do_no_harm() {
        let mut s = space(Widths::From8, 10);
        let one = make(&mut s);
        for word in [
            u64::MAX,
            2,
            one & 0xFFFF_FFFF,
            one | 1 << 62,
            one | 1 << 32,
            one | 1 << 31,
            type_word(NODE),
            2 | 1 << 63,
        ] {
            assert_eq!(collect(&mut s, &[one, word]), 1, "{word:x}");
        }
    }
}
