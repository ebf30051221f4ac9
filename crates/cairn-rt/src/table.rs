//! Hash tables: finding keys whose addresses change.
//!
//! The problem: what has no contents to compare (a pair under `eq?`, a record, a procedure) can be hashed by its
//! address only, and collections move objects. The idea: entries lie side by side in the order in which they were made;
//! the *index*, hashed, only says where. So it can be made anew from the entries, one after another, whenever addresses
//! have changed; nothing but the addresses is looked at.
//!
//! ```text
//!  index  [ · | hash,2 | · | hash,0 | hash,1 | · | · | · ]      64-bit slots: 32 bits of hash, entry + 1; 0: empty
//!                │            │        │
//!  entries  [key0 value0 | key1 value1 | key2 value2 | … ]      a vector
//!                              ▲                   ▲
//!  young  [ · | hash,3 | · | · ]                   └ used       entries whose keys were young when they were entered
//! ```
//!
//! A young object moves with the next collection, an old one hardly ever. So keys whose hash depends on something
//! young have an index of their own. It is empty again after the next collection: [`catch_up`] looks at the keys that
//! it held and enters them where they belong now. What the large index holds is looked at again only when a collection
//! has moved old objects. Whether a hash depends on addresses, and on young ones, is found out with the hash; so a key
//! that is looked for is looked for in the one index where it can be. For a heap whose objects never move all this
//! comes to nothing.
//!
//! Keys that lie or count side by side are side by side in the index, so that a program which asks for them in that
//! order stays in the cache, and a dense set of keys has no collisions. Where two keys meet, the later one goes
//! elsewhere, to a place of its own hash ([`walk`](crate::table_index::walk)): runs of slots that are taken do no harm.
//!
//! Compiled code asks by calls that allocate nothing, so that it needs no frame around them, and that look first at the
//! entry that was found last and at the one behind it ([`find_again`]). Where they cannot say, it calls again.
//!
//! Deleted entries leave a hole; when the vector is full the entries close up, or it is replaced by one as large as
//! they need, and the indices are told where they have gone. Whoever walks through a vector of entries marks it in the
//! table: then it is never changed but by entering, deleting and setting values, and one that has been replaced has
//! what was there. The order of entries is the order in which they were made, with any collector. Tables of a few
//! entries have no index.
//!
//! The entries of weak tables lie in a weak object, so that collections make holes, too. These the indices still know
//! until the entries are moved.
//!
//! Cost: constant for each operation; a minor collection costs the next user of a table the keys made since, a
//! collection that moves old objects all of them, if they are hashed by address.

use crate::access::{self, byte_slice_mut, length, word};
use crate::alloc::{alloc_object, alloc_pair, store_word, write_barrier_range, written};
use crate::equality;
use crate::hashing::{near, spread};
use crate::record;
use crate::record_types;
use crate::runtime::rt;
use crate::table_index::{DELETED, GONE, enter, enter_all, entry_in, is_taken, place_after, probe, taken_of};
use crate::weak;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::{LENGTH_SHIFT, Type, symbol, table as field};
use cairn_layout::value::CHAR_SHIFT;

/// Entries of a table that has no index.
const FEW: usize = field::LEAST as usize;
/// With fewer entries a table grows faster.
const LITTLE: usize = 512;
/// Slots of the first index of young keys.
const FIRST_YOUNG: usize = 64;
/// An index of young keys that is longer is not kept.
const YOUNG_KEPT: usize = 4096;

/// What the hash of a key depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Home {
    /// No address.
    Contents,
    /// Addresses of old objects.
    Old,
    /// The address of a young object, too.
    Young,
}

/// A key's hash.
#[derive(Clone, Copy)]
struct Hashed {
    hash: u32,
    home: Home,
}

/// A hash table of `lib/cairn/hash-table.sld`.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Table(Value);

impl Table {
    fn get(self, i: u64) -> Value {
        word(self.0, i)
    }
    fn number(self, i: u64) -> usize {
        self.get(i).as_fixnum() as usize
    }
    fn set(self, ctx: &mut Machine, i: u64, v: Value) {
        store_word(ctx, self.0, i, v);
    }
    fn set_number(self, i: u64, n: usize) {
        // SAFETY: `i` is the index of a field, below the record's length; numbers need no barrier.
        unsafe { *access::word_address(self.0, i as usize) = Value::fixnum(n as i64) };
    }
    fn kind(self) -> i64 {
        self.get(field::KIND).as_fixnum()
    }
    fn entries(self) -> Entries {
        Entries(self.get(field::ENTRIES))
    }
    fn used(self) -> usize {
        self.number(field::USED)
    }
    /// Entries that are there.
    fn count(self) -> usize {
        let entries = self.entries();
        if entries.are_weak() {
            // Collections delete, too.
            return (0..self.used()).filter(|i| entries.key(*i) != Value::BROKEN).count();
        }
        self.number(field::COUNT)
    }
    /// Does anybody walk through these entries?
    fn is_walked(self) -> bool {
        self.get(field::WALKED) != Value::FALSE
    }
    #[inline]
    fn index(self) -> Option<&'static mut [u64]> {
        slots(self.get(field::INDEX))
    }
    fn young(self) -> Option<&'static mut [u64]> {
        slots(self.get(field::YOUNG))
    }
}

/// Is it a hash table of `lib/cairn/hash-table.sld`?
pub(crate) fn is_table(v: Value) -> bool {
    const FIELDS: usize = 13;
    access::is(v, Type::Record)
        && length(v) == FIELDS
        && record::type_of(v).and_then(record_types::get).is_some_and(|t| {
            let named = |i: u64, name: &str| t.fields.get(i as usize).is_some_and(|f| &*f.name == name);
            &*t.name == "hash-table" && named(field::ENTRIES, "entries") && named(field::MOVES, "moves")
        })
}

/// How many entries a weak table has; `None` for other tables.
pub(crate) fn weak_count(table: Value) -> Option<usize> {
    let t = Table(table);
    t.entries().are_weak().then(|| t.count())
}

/// The first entry of a table that is not weak, from this index on: its index, key and value.
pub(crate) fn entry_from(table: Value, from: usize) -> Option<(usize, Value, Value)> {
    let t = Table(table);
    let entries = t.entries();
    let i = (from..t.used()).find(|i| entries.key(*i) != Value::BROKEN)?;
    Some((i, entries.key(i), entries.value(i)))
}

/// The slots of an index; `None` for `#f`. Valid until the runtime call returns.
#[inline]
fn slots(v: Value) -> Option<&'static mut [u64]> {
    if v == Value::FALSE {
        return None;
    }
    let bytes = access::header(v) >> LENGTH_SHIFT;
    // SAFETY: an index is a bytevector, whose payload begins at a multiple of 8 and is a multiple of 8 long
    // (`make_slots`); no other slice of it is in use, for a runtime call has the heap to itself.
    Some(unsafe { std::slice::from_raw_parts_mut(access::word_address(v, 0) as *mut u64, bytes as usize / 8) })
}

/// An index of so many slots, empty.
fn make_slots(ctx: &mut Machine, n: usize) -> Value {
    let v = alloc_object(ctx, Type::Bytevector, 0, 8 * n as u64);
    byte_slice_mut(v).fill(0);
    v
}

fn copy_of_slots(ctx: &mut Machine, from: &[u64]) -> Value {
    let v = alloc_object(ctx, Type::Bytevector, 0, 8 * from.len() as u64);
    slots(v).expect("slots just made").copy_from_slice(from);
    v
}

/// Puts an index, or `#f`, in the place of another, which nobody else knows: its memory is free at once.
fn replace_slots(ctx: &mut Machine, t: Table, i: u64, new: Value) {
    let old = t.get(i);
    t.set(ctx, i, new);
    if old != Value::FALSE {
        rt(ctx).heap.free_large(old.address());
    }
}

/// Slots of the index for so many entries: at most two thirds of them are taken.
fn index_slots(entries: usize) -> usize {
    (entries * 3 / 2).next_power_of_two()
}

/// The vector of entries.
#[derive(Clone, Copy)]
struct Entries(Value);

impl Entries {
    /// Room for so many.
    fn room(self) -> usize {
        length(self.0) / 2
    }
    /// `BROKEN` where one was deleted.
    fn key(self, i: usize) -> Value {
        word(self.0, 2 * i as u64)
    }
    fn value(self, i: usize) -> Value {
        word(self.0, 2 * i as u64 + 1)
    }
    fn set_value(self, ctx: &mut Machine, i: usize, value: Value) {
        self.store(ctx, 2 * i as u64 + 1, value);
    }
    fn set(self, ctx: &mut Machine, i: usize, key: Value, value: Value) {
        self.store(ctx, 2 * i as u64, key);
        self.set_value(ctx, i, value);
    }
    fn store(self, ctx: &mut Machine, i: u64, x: Value) {
        if self.are_weak() { weak::store(ctx, self.0, i, x) } else { store_word(ctx, self.0, i, x) }
    }
    fn are_weak(self) -> bool {
        access::is(self.0, Type::Weak)
    }
    /// New entries of the same kind, with room for so many, and of these those up to `used` without the holes.
    fn with_room(self, ctx: &mut Machine, room: usize, used: usize) -> Entries {
        if let Some(kind) = weak::kind_of(self.0) {
            let new = Entries(weak::make(ctx, kind, 2 * room as u64));
            let there = (0..used).filter(|i| self.key(*i) != Value::BROKEN);
            there.enumerate().for_each(|(to, i)| new.set(ctx, to, self.key(i), self.value(i)));
            return new;
        }
        let new = alloc_object(ctx, Type::Vector, 0, 2 * room as u64);
        let to = access::words_mut(new);
        let mut next = 0;
        for entry in access::words(self.0)[..2 * used].chunks_exact(2) {
            if entry[0] != Value::BROKEN {
                to[next..next + 2].copy_from_slice(entry);
                next += 2;
            }
        }
        to[next..].fill(Value::fixnum(0));
        written(ctx, new);
        Entries(new)
    }
    /// Moves the entries up to `used` into the holes among them.
    fn close_up(self, ctx: &mut Machine, used: usize) {
        let words = access::words_mut(self.0);
        let mut next = 0;
        for i in (0..2 * used).step_by(2) {
            if words[i] != Value::BROKEN {
                words[next] = words[i];
                words[next + 1] = words[i + 1];
                next += 2;
            }
        }
        // Whoever has remembered the place of an entry finds that it is another's, or nobody's.
        words[next..2 * used].fill(Value::BROKEN);
        write_barrier_range(ctx, words.as_ptr(), next);
    }
}

/// Are these keys the same in a table of this kind?
fn same(kind: i64, a: Value, b: Value) -> bool {
    a == b
        || match kind {
            field::EQ => false,
            field::EQV => equality::eqv(a, b),
            _ => equality::equal(a, b),
        }
}

#[inline]
fn hash_address(heap: &cairn_heap::Heap<cairn_heap::Scheme>, v: Value) -> Hashed {
    let home = if heap.is_young(v.address()) { Home::Young } else { Home::Old };
    Hashed { hash: near(v.address() >> 4), home }
}

/// The hash of a key that no other is the same as, in a table of any kind, and that is not hashed by address.
#[inline]
fn hash_simple(key: Value) -> Option<u32> {
    if key.is_fixnum() {
        Some(near(key.as_fixnum() as u64))
    } else if access::is(key, Type::Symbol) {
        // well mixed already
        Some((word(key, symbol::HASH).0 >> 8) as u32)
    } else if key.is_char() {
        Some(near(key.0 >> CHAR_SHIFT))
    } else {
        None
    }
}

/// Is this reference, for which there is no simple hash, the same as itself only in a table of this kind?
#[inline]
fn is_by_address(kind: i64, key: Value) -> bool {
    (key.is_pointer() || key.is_indirect())
        && match kind {
            field::EQ => true,
            field::EQV => !equality::has_eqv_contents(key),
            _ => false,
        }
}

/// The hash of a key in a table of this kind, of which the program does not say how to hash.
fn hash_key(ctx: &Machine, kind: i64, key: Value) -> Hashed {
    if let Some(hash) = hash_simple(key) {
        return Hashed { hash, home: Home::Contents };
    }
    let heap = &rt(ctx).heap;
    if is_by_address(kind, key) { hash_address(heap, key) } else { hash_contents(heap, key) }
}

fn hash_contents(heap: &cairn_heap::Heap<cairn_heap::Scheme>, key: Value) -> Hashed {
    let mut home = Home::Contents;
    let hash = equality::hash_with(key, |v| {
        let h = hash_address(heap, v);
        home = home.max(h.home);
        u64::from(h.hash)
    });
    Hashed { hash: spread(hash), home }
}

/// Has there been a collection since the indices were up to date?
#[inline]
fn is_behind(ctx: &Machine, t: Table) -> bool {
    t.number(field::COLLECTIONS) as u64 != rt(ctx).heap.moves().collections
}

/// Brings the indices up to date with what the last collections have moved.
#[cold]
fn catch_up(ctx: &mut Machine, t: Table) {
    let (now, moved) = (rt(ctx).heap.moves(), t.get(field::MOVES));
    t.set_number(field::COLLECTIONS, now.collections as usize);
    if moved != Value::FALSE && moved.as_fixnum() as u64 != now.old {
        if let Some(index) = t.index() {
            index.fill(0);
        }
        forget_young(ctx, t);
        t.set(ctx, field::MOVES, Value::FALSE);
        place(ctx, t, 0..t.used());
    } else if t.number(field::YOUNG_USED) > 0 {
        let mut moved: Vec<usize> =
            t.young().into_iter().flatten().filter(|slot| is_taken(**slot)).map(|slot| entry_in(*slot)).collect();
        // In the order in which they were made, which is that of their addresses: both indices like it better.
        moved.sort_unstable();
        forget_young(ctx, t);
        place(ctx, t, moved.into_iter());
    }
}

/// Empties the index of young keys.
fn forget_young(ctx: &mut Machine, t: Table) {
    match t.young() {
        Some(young) if young.len() <= YOUNG_KEPT => young.fill(0),
        _ => replace_slots(ctx, t, field::YOUNG, Value::FALSE),
    }
    t.set_number(field::YOUNG_USED, 0);
}

/// Enters those of these entries that are there into the indices, where they are not.
fn place(ctx: &mut Machine, t: Table, which: impl Iterator<Item = usize>) {
    let (kind, entries) = (t.kind(), t.entries());
    for i in which {
        let key = entries.key(i);
        if key != Value::BROKEN {
            let hashed = hash_key(ctx, kind, key);
            enter_hashed(ctx, t, hashed, i);
        }
    }
}

/// Enters an entry with this hash into the index that it belongs to.
fn enter_hashed(ctx: &mut Machine, t: Table, hashed: Hashed, entry: usize) {
    if hashed.home == Home::Young {
        return enter_young(ctx, t, hashed.hash, entry);
    }
    if hashed.home == Home::Old && t.get(field::MOVES) == Value::FALSE {
        let old = rt(ctx).heap.moves().old;
        t.set_number(field::MOVES, old as usize);
    }
    enter(t.index().expect("a table with hashes has an index"), hashed.hash, entry);
}

fn enter_young(ctx: &mut Machine, t: Table, hash: u32, entry: usize) {
    let used = t.number(field::YOUNG_USED) + 1;
    let size = t.young().map_or(0, |y| y.len());
    t.set_number(field::YOUNG_USED, used);
    if 2 * used > size {
        let taken = t.young().map_or_else(Vec::new, |y| taken_of(y));
        t.set_number(field::YOUNG_USED, taken.len() + 1);
        // As large as it was, if most of what fills it has been deleted.
        let size = if 4 * taken.len() < size { size } else { (2 * size).max(FIRST_YOUNG) };
        let larger = make_slots(ctx, size);
        enter_all(slots(larger).expect("slots just made"), &taken, &[]);
        replace_slots(ctx, t, field::YOUNG, larger);
    }
    enter(t.young().expect("made above"), hash, entry);
}

/// Where a key was found.
struct Found {
    entry: usize,
    /// The field of the index and the slot in it, if the table has an index.
    slot: Option<(u64, usize)>,
}

/// Why no entry was found.
enum Missing {
    /// The key is not there, and the table has no index.
    Unhashed,
    /// The key, with this hash, is not there.
    Hashed(Hashed),
    /// Objects have moved since the indices were up to date, or the library has to look.
    Unknown,
}

/// The key for which `same` says yes in one of the two indices, the one that `hashed` belongs to.
#[inline(always)]
fn look_up(t: Table, hashed: Hashed, mut same: impl FnMut(Value) -> bool) -> Result<Found, Missing> {
    let entries = t.entries();
    let which = if hashed.home == Home::Young { field::YOUNG } else { field::INDEX };
    slots(t.get(which))
        .and_then(|slots| {
            let i = probe(slots, hashed.hash, |i| same(entries.key(i)))?;
            Some(Found { entry: entry_in(slots[i]), slot: Some((which, i)) })
        })
        .ok_or(Missing::Hashed(hashed))
}

/// The entry with this key.
#[inline(always)]
fn find(ctx: &mut Machine, t: Table, key: Value) -> Result<Found, Missing> {
    match search(ctx, t, key) {
        Err(Missing::Unknown) => {
            catch_up(ctx, t);
            search(ctx, t, key)
        }
        found => found,
    }
}

/// The entry with this key, if no index has to be brought up to date for it.
#[inline(always)]
fn search(ctx: &Machine, t: Table, key: Value) -> Result<Found, Missing> {
    let simple = hash_simple(key);
    if t.get(field::INDEX) == Value::FALSE {
        return find_of_few(t, simple.is_some(), key);
    }
    if let Some(hash) = simple {
        return look_up(t, Hashed { hash, home: Home::Contents }, |k| k == key);
    }
    if !is_by_address(t.kind(), key) {
        return find_by_contents(ctx, t, key);
    }
    if is_behind(ctx, t) {
        return Err(Missing::Unknown);
    }
    look_up(t, hash_address(&rt(ctx).heap, key), |k| k == key)
}

/// The entry with this key in a table without index.
#[inline(always)]
fn find_of_few(t: Table, simple: bool, key: Value) -> Result<Found, Missing> {
    let (kind, entries, used) = (t.kind(), t.entries(), t.used());
    // There are no tables of this kind without index for which the program compares.
    let entry = if simple || is_by_address(kind, key) {
        find_word_of_few(entries, used, key)
    } else {
        find_few_by_contents(kind, entries, used, key)
    };
    entry.map(|entry| Found { entry, slot: None }).ok_or(Missing::Unhashed)
}

/// No branch asks at which entry it is: that would be as good as random.
#[inline(always)]
fn find_word_of_few(entries: Entries, used: usize, key: Value) -> Option<usize> {
    debug_assert!(entries.room() >= FEW);
    let mut at = FEW;
    for i in (0..FEW).rev() {
        at = if entries.key(i) == key { i } else { at };
    }
    (at < used).then_some(at)
}

#[inline(never)]
fn find_few_by_contents(kind: i64, entries: Entries, used: usize, key: Value) -> Option<usize> {
    (0..used).find(|i| same(kind, entries.key(*i), key))
}

#[inline(never)]
fn find_by_contents(ctx: &Machine, t: Table, key: Value) -> Result<Found, Missing> {
    let kind = t.kind();
    let hashed = hash_contents(&rt(ctx).heap, key);
    if hashed.home != Home::Contents && is_behind(ctx, t) {
        return Err(Missing::Unknown);
    }
    look_up(t, hashed, |k| same(kind, k, key))
}

/// Makes an entry for a key that is not there.
fn append(ctx: &mut Machine, t: Table, hashed: Option<Hashed>, key: Value, value: Value) {
    if t.used() == t.entries().room() {
        resize(ctx, t);
    }
    let i = t.used();
    t.entries().set(ctx, i, key, value);
    t.set_number(field::USED, i + 1);
    t.set_number(field::COUNT, t.number(field::COUNT) + 1);
    if t.index().is_some() {
        let hashed = hashed.unwrap_or_else(|| hash_key(ctx, t.kind(), key));
        enter_hashed(ctx, t, hashed, i);
    }
}

/// Makes room for another entry: by closing up the entries where holes are many and nobody walks through them, else in
/// a vector with room for twice as many as there are, or four times while that is little, without holes.
#[cold]
fn resize(ctx: &mut Machine, t: Table) {
    let (old, used, count) = (t.entries(), t.used(), t.count());
    let room = FEW.max(if count < LITTLE { 4 * count } else { 2 * count });
    // Where each entry goes; nothing if all stay.
    let mut places = Vec::new();
    if count < used {
        places.reserve_exact(used);
        let mut next = 0;
        for i in 0..used {
            let is_there = old.key(i) != Value::BROKEN;
            places.push(if is_there { next } else { GONE });
            next += u32::from(is_there);
        }
    }
    let stays = !old.are_weak() && !t.is_walked() && count <= old.room() / 8 * 5 && old.room() / 4 <= room;
    if stays {
        old.close_up(ctx, used);
    } else {
        let new = old.with_room(ctx, room, used);
        t.set(ctx, field::ENTRIES, new.0);
        t.set(ctx, field::WALKED, Value::FALSE);
    }
    t.set_number(field::USED, count);
    t.set_number(field::COUNT, count);
    let (had_index, room) = (t.index().is_some(), t.entries().room());
    if room <= FEW && t.kind() != field::OTHER {
        replace_slots(ctx, t, field::INDEX, Value::FALSE);
        replace_slots(ctx, t, field::YOUNG, Value::FALSE);
        t.set_number(field::YOUNG_USED, 0);
        t.set(ctx, field::MOVES, Value::FALSE);
        return;
    }
    let size = index_slots(room);
    match t.index() {
        Some(index) if index.len() == size => {
            renumber(t, field::INDEX, &places);
        }
        from => {
            let index = make_slots(ctx, size);
            let to = slots(index).expect("slots just made");
            from.into_iter().for_each(|from| enter_all(to, from, &places));
            replace_slots(ctx, t, field::INDEX, index);
        }
    }
    if let Some(left) = renumber(t, field::YOUNG, &places) {
        t.set_number(field::YOUNG_USED, left);
    }
    if !had_index && t.kind() != field::OTHER {
        t.set_number(field::COLLECTIONS, rt(ctx).heap.moves().collections as usize);
        place(ctx, t, 0..count);
    }
}

/// Gives the entries in an index their new places and forgets those that are gone. How many are left.
fn renumber(t: Table, which: u64, places: &[u32]) -> Option<usize> {
    let slots = slots(t.get(which))?;
    let taken = taken_of(slots);
    slots.fill(0);
    enter_all(slots, &taken, places);
    Some(taken.iter().filter(|s| place_after(places, entry_in(**s)).is_some()).count())
}

fn remove(ctx: &mut Machine, t: Table, found: Found) {
    let i = found.entry;
    t.entries().set(ctx, i, Value::BROKEN, Value::BROKEN);
    if t.entries().are_weak() {
        // Collections make holes of which the index knows, too; they stay until the entries move.
        return;
    }
    if let Some((which, slot)) = found.slot {
        slots(t.get(which)).expect("an index with this slot")[slot] = DELETED;
    }
    t.set_number(field::COUNT, t.number(field::COUNT) - 1);
    // With an index it stays a hole: so the entries fill up, and the index is made anew, before deleted slots fill it.
    if i + 1 == t.used() && !t.is_walked() && t.index().is_none() {
        t.set_number(field::USED, i);
    }
}

/// Where the value of an entry is in the vector.
fn place_of_value(i: usize) -> Value {
    Value::fixnum(2 * i as i64 + 1)
}

/// The entry with this key, if it is the one behind the last that was found, or that one: programs ask for keys in the
/// order in which they were made, and for one key several times.
#[inline(always)]
fn find_again(t: Table, key: Value) -> Option<usize> {
    let (entries, used, next) = (t.entries(), t.used(), t.number(field::NEXT));
    let is_at = |i: usize| i < used && entries.key(i) == key;
    if is_at(next) {
        t.set_number(field::NEXT, next + 1);
        return Some(next);
    }
    let last = next.wrapping_sub(1);
    is_at(last).then_some(last)
}

/// The entry with this key, if no index has to be brought up to date for it; nothing is allocated.
#[inline(always)]
fn find_known(ctx: &Machine, t: Table, key: Value) -> Result<usize, Missing> {
    let kind = t.kind();
    if kind >= field::STRING && (kind == field::OTHER || !access::is(key, Type::String)) {
        return Err(Missing::Unknown);
    }
    let entry = search(ctx, t, key)?.entry;
    t.set_number(field::NEXT, entry + 1);
    Ok(entry)
}

/// `(table-find-known table key)`: what `table-find` returns, or the default object.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_find_known(ctx: &mut Machine, table: Value, key: Value) -> Value {
    match find_again(Table(table), key) {
        Some(entry) => place_of_value(entry),
        None => find_known_place(ctx, Table(table), key),
    }
}

#[inline(never)]
extern "C" fn find_known_place(ctx: &mut Machine, t: Table, key: Value) -> Value {
    match find_known(ctx, t, key) {
        Ok(entry) => place_of_value(entry),
        Err(Missing::Unknown) => Value::DEFAULT,
        Err(_) => Value::FALSE,
    }
}

/// `(table-ref-known table key default)`: what `table-ref` returns, or the default object.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_ref_known(ctx: &mut Machine, table: Value, key: Value, default: Value) -> Value {
    match find_again(Table(table), key) {
        Some(entry) => Table(table).entries().value(entry),
        None => known_value(ctx, Table(table), key, default),
    }
}

#[inline(never)]
extern "C" fn known_value(ctx: &mut Machine, t: Table, key: Value, default: Value) -> Value {
    match find_known(ctx, t, key) {
        Ok(entry) => t.entries().value(entry),
        Err(Missing::Unknown) => Value::DEFAULT,
        Err(_) => default,
    }
}

/// `(table-set-known! table key value)`: `#t` if it has done what `table-set!` does, or the default object.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_set_known(ctx: &mut Machine, table: Value, key: Value, value: Value) -> Value {
    let t = Table(table);
    match find_again(t, key).map_or_else(|| find_known(ctx, t, key), Ok) {
        Ok(entry) => t.entries().set_value(ctx, entry, value),
        Err(Missing::Hashed(hashed)) if has_room(t, hashed.home) => append(ctx, t, Some(hashed), key, value),
        Err(Missing::Unhashed) if has_room(t, Home::Contents) => append(ctx, t, None, key, value),
        Err(_) => return Value::DEFAULT,
    }
    Value::TRUE
}

/// Can such a key get an entry without an allocation?
fn has_room(t: Table, home: Home) -> bool {
    let young_has = || 2 * (t.number(field::YOUNG_USED) + 1) <= t.young().map_or(0, |y| y.len());
    t.used() < t.entries().room() && (home != Home::Young || young_has())
}

/// `(table-find table key)`: where the value of `key` is in the vector of entries, or `#f`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_find(ctx: &mut Machine, table: Value, key: Value) -> Value {
    find(ctx, Table(table), key).map_or(Value::FALSE, |f| place_of_value(f.entry))
}

/// `(table-ref table key default)`: the value of `key`, or `default`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_ref(ctx: &mut Machine, table: Value, key: Value, default: Value) -> Value {
    let t = Table(table);
    find(ctx, t, key).map_or(default, |f| t.entries().value(f.entry))
}

/// `(table-set! table key value)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_set(ctx: &mut Machine, table: Value, key: Value, value: Value) -> Value {
    let t = Table(table);
    match find(ctx, t, key) {
        Ok(f) => t.entries().set_value(ctx, f.entry, value),
        Err(Missing::Hashed(hashed)) => append(ctx, t, Some(hashed), key, value),
        Err(_) => append(ctx, t, None, key, value),
    }
    Value::UNSPECIFIED
}

/// `(table-delete! table key)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_delete(ctx: &mut Machine, table: Value, key: Value) -> Value {
    let t = Table(table);
    if let Ok(found) = find(ctx, t, key) {
        remove(ctx, t, found);
    }
    Value::UNSPECIFIED
}

/// The hash that the program has computed.
fn given(hash: Value) -> Hashed {
    Hashed { hash: near(hash.as_fixnum() as u64), home: Home::Contents }
}

/// `(table-candidates table hash)`: where the values of those keys are whose hash this may be.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_candidates(ctx: &mut Machine, table: Value, hash: Value) -> Value {
    let t = Table(table);
    let mut found = Value::NIL;
    if let Some(index) = t.index() {
        probe(index, given(hash).hash, |i| {
            if t.entries().key(i) != Value::BROKEN {
                found = alloc_pair(ctx, place_of_value(i), found);
            }
            false
        });
    }
    found
}

/// `(table-append! table hash key value)`: a table of the program's own procedures gets a key that is not there.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_append(
    ctx: &mut Machine,
    table: Value,
    hash: Value,
    key: Value,
    value: Value,
) -> Value {
    let t = Table(table);
    if t.index().is_none() {
        let index = make_slots(ctx, index_slots(t.entries().room()));
        t.set(ctx, field::INDEX, index);
    }
    append(ctx, t, Some(given(hash)), key, value);
    Value::UNSPECIFIED
}

/// `(table-remove! table place hash)`: deletes the entry whose value is there. The procedures are the program's own.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_remove(ctx: &mut Machine, table: Value, place: Value, hash: Value) -> Value {
    let (t, entry) = (Table(table), place.as_fixnum() as usize / 2);
    if entry < t.used() && t.entries().key(entry) != Value::BROKEN {
        let slot = t.index().and_then(|slots| probe(slots, given(hash).hash, |i| i == entry));
        remove(ctx, t, Found { entry, slot: slot.map(|i| (field::INDEX, i)) });
    }
    Value::UNSPECIFIED
}

/// `(table-copy! to from)`: `to`, fresh and of the same kind, gets what is in `from`; entries of neither are weak.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_copy(ctx: &mut Machine, to: Value, from: Value) -> Value {
    let (to, from) = (Table(to), Table(from));
    if from.count() < from.used() {
        resize(ctx, from);
    }
    let entries = from.entries();
    let copy = entries.with_room(ctx, entries.room(), from.used());
    to.set(ctx, field::ENTRIES, copy.0);
    for i in [field::INDEX, field::YOUNG] {
        if let Some(slots) = slots(from.get(i)) {
            let copy = copy_of_slots(ctx, slots);
            to.set(ctx, i, copy);
        }
    }
    for i in [field::USED, field::COUNT, field::YOUNG_USED, field::COLLECTIONS, field::MOVES] {
        to.set(ctx, i, from.get(i));
    }
    Value::UNSPECIFIED
}

/// `(table-column table i)`: a vector of the keys (0) or values (1).
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_column(ctx: &mut Machine, table: Value, i: Value) -> Value {
    let (t, i) = (Table(table), i.as_fixnum() as usize);
    let column = alloc_object(ctx, Type::Vector, 0, t.count() as u64);
    let entries = t.entries();
    let there = (0..t.used()).filter(|e| entries.key(*e) != Value::BROKEN);
    for (to, e) in access::words_mut(column).iter_mut().zip(there) {
        *to = word(entries.0, (2 * e + i) as u64);
    }
    written(ctx, column);
    column
}

/// `(table-count table)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_count(_ctx: &mut Machine, table: Value) -> Value {
    Value::fixnum(Table(table).count() as i64)
}

/// `(broken-object)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_broken(_ctx: &mut Machine) -> Value {
    Value::BROKEN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::{make_filled, make_vector};
    use crate::bare_runtime::TestRuntime;
    use crate::table_index::{hash_in, walk};

    fn make(ctx: &mut Machine, kind: i64) -> Value {
        let entries = make_filled(ctx, Type::Vector, 2 * FEW as u64, Value::fixnum(0));
        let zero = Value::fixnum(0);
        let fields = [Value::fixnum(kind), entries, zero, zero, Value::FALSE, Value::FALSE, zero, zero];
        let v = make_filled(ctx, Type::Record, 11, Value::FALSE);
        store_word(ctx, v, field::NEXT, Value::fixnum(-1));
        fields.iter().enumerate().for_each(|(i, x)| store_word(ctx, v, i as u64, *x));
        v
    }

    /// Slots looked at to find each key once, and keys; nobody looks at many.
    fn steps(t: Table) -> (usize, usize) {
        let (mut steps, mut keys) = (0, 0);
        for slots in [t.index(), t.young()].into_iter().flatten() {
            for (at, slot) in slots.iter().enumerate().filter(|(_, s)| is_taken(**s)) {
                let before = steps;
                walk(slots, hash_in(*slot), |i, _| {
                    steps += 1;
                    (i == at).then_some(())
                });
                assert!(steps - before <= 300, "{} slots", steps - before);
                keys += 1;
            }
        }
        (steps, keys)
    }

    #[test]
    fn keys_without_contents_have_places_of_their_own() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        const N: usize = 20_000;
        for kind in [field::EQ, field::EQV, field::EQUAL] {
            for shape in 0..3 {
                let table = make(ctx, kind);
                for i in 0..N {
                    let n = Value::fixnum(i as i64);
                    let key = match shape {
                        0 if kind == field::EQUAL => continue,
                        0 => alloc_pair(ctx, n, Value::NIL),
                        1 => make_filled(ctx, Type::Record, 2 + i as u64 % 3, Value::FALSE),
                        _ => {
                            let record = make_filled(ctx, Type::Record, 2, Value::FALSE);
                            make_vector(ctx, &[record])
                        }
                    };
                    cairn_table_set(ctx, table, key, n);
                    assert_eq!(cairn_table_find(ctx, table, key), Value::fixnum(2 * i as i64 + 1));
                }
                let (steps, keys) = steps(Table(table));
                assert!(keys == N || shape == 0, "{keys}");
                assert!(
                    steps <= 3 * keys,
                    "{steps} steps to {keys} keys of shape {shape} in a table of kind {kind}"
                );
            }
        }
    }

    #[test]
    fn numbers_in_steps_do_not_collide() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        for stride in [1, 8, 64, 1000, 1 << 16, 1 << 20, 1 << 30, 1 << 40] {
            let table = make(ctx, field::EQV);
            for i in 0..10_000 {
                cairn_table_set(ctx, table, Value::fixnum(i * stride), Value::NIL);
            }
            let (steps, keys) = steps(Table(table));
            assert!(keys == 10_000 && steps <= 5 * keys, "stride {stride}: {steps} steps");
        }
    }

    #[test]
    fn holes_are_used_again() {
        let mut t = TestRuntime::new();
        let ctx = t.ctx();
        let table = make(ctx, field::EQ);
        for i in 0..100_000 {
            cairn_table_set(ctx, table, Value::fixnum(i), Value::NIL);
            cairn_table_delete(ctx, table, Value::fixnum(i - 5));
        }
        assert_eq!(Table(table).number(field::COUNT), 5);
        assert!(Table(table).entries().room() <= 4 * FEW);
        // always the last entry, in a table with an index
        for i in 0..10_000 {
            cairn_table_set(ctx, table, Value::fixnum(i), Value::NIL);
            if i >= 20 {
                cairn_table_delete(ctx, table, Value::fixnum(i));
                assert_eq!(cairn_table_find(ctx, table, Value::fixnum(-i)), Value::FALSE);
            }
        }
    }
}
