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
//! young have an index of their own. It is empty again after the next collection: [`sync`] looks at the keys that it
//! held and enters them where they belong now. What the large index holds is looked at again only when a collection
//! has moved old objects. Whether a hash depends on addresses, and on young ones, is found out with the hash; so a key
//! that is looked for is looked for in the one index where it can be. For a heap whose objects never move all this
//! comes to nothing.
//!
//! Deleted entries leave a hole, which the index still knows; when the vector is full it is replaced by one as large
//! as the entries that are left need, and the indices by what they were without the holes: a slot has enough of the
//! hash for that. A vector of entries is never changed but by entering, deleting and setting values: whoever walks
//! through one that has been replaced finds what was there. The order of entries is the order in which they were made,
//! with any collector. Tables of a few entries have no index.
//!
//! The entries of weak tables lie in a weak object, so that collections make holes, too.
//!
//! Cost: constant for each operation; a minor collection costs the next user of a table the keys made since, a
//! collection that moves old objects all of them, if they are hashed by address.

use crate::access::{self, byte_slice_mut, length, word};
use crate::alloc::{alloc_object, alloc_pair, make_filled, store_word};
use crate::equality;
use crate::hashing::spread;
use crate::record;
use crate::record_types;
use crate::runtime::rt;
use crate::weak;
use cairn_heap::Moves;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::{Type, table as field};

/// Entries of a table that has no index.
const FEW: usize = field::LEAST as usize;
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
        // SAFETY: an index of a field; numbers need no barrier.
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
    fn index(self) -> Option<&'static mut [u64]> {
        slots(self.get(field::INDEX))
    }
    fn young(self) -> Option<&'static mut [u64]> {
        slots(self.get(field::YOUNG))
    }
}

/// Is it a hash table of `lib/cairn/hash-table.sld`?
pub(crate) fn is_table(v: Value) -> bool {
    const FIELDS: usize = 11;
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
fn slots(v: Value) -> Option<&'static mut [u64]> {
    if v == Value::FALSE {
        return None;
    }
    let bytes = byte_slice_mut(v);
    // SAFETY: the payload of a bytevector begins at a multiple of 8, and those of indices are that long.
    Some(unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr() as *mut u64, bytes.len() / 8) })
}

/// An index of so many slots, empty.
fn make_slots(ctx: &mut Machine, n: usize) -> Value {
    let v = alloc_object(ctx, Type::Bytevector, 0, 8 * n as u64);
    byte_slice_mut(v).fill(0);
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

/// Enters an entry, which is not there; there is an empty slot.
fn enter(slots: &mut [u64], hash: u32, entry: usize) {
    let mask = slots.len() - 1;
    let mut i = hash as usize & mask;
    while slots[i] != 0 {
        i = (i + 1) & mask;
    }
    slots[i] = (hash as u64) << 32 | (entry as u64 + 1);
}

fn hash_in(slot: u64) -> u32 {
    (slot >> 32) as u32
}
fn entry_in(slot: u64) -> usize {
    (slot as u32) as usize - 1
}

/// The entries with this hash for which `f` says yes: the first.
fn probe(slots: &[u64], hash: u32, mut f: impl FnMut(usize) -> bool) -> Option<usize> {
    let mask = slots.len() - 1;
    let mut i = hash as usize & mask;
    while slots[i] != 0 {
        if hash_in(slots[i]) == hash && f(entry_in(slots[i])) {
            return Some(entry_in(slots[i]));
        }
        i = (i + 1) & mask;
    }
    None
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
    /// Entries of the same kind, with room for so many.
    fn make_more(self, ctx: &mut Machine, room: usize) -> Entries {
        Entries(match weak::kind_of(self.0) {
            Some(kind) => weak::make(ctx, kind, 2 * room as u64),
            None => make_filled(ctx, Type::Vector, 2 * room as u64, Value::fixnum(0)),
        })
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

/// Keeps what lies close together close together: four neighbours share a cache line of the index.
fn near(n: u64) -> u32 {
    spread(n >> 2) << 2 | (n & 3) as u32
}

fn hash_address(heap: &cairn_heap::Heap<cairn_heap::Scheme>, v: Value) -> Hashed {
    let home = if heap.is_young(v.address()) { Home::Young } else { Home::Old };
    Hashed { hash: near(v.address() >> 4), home }
}

/// The hash of a key in a table of this kind, of which the program does not say how to hash.
fn hash_key(ctx: &Machine, kind: i64, key: Value) -> Hashed {
    if key.is_fixnum() {
        return Hashed { hash: near(key.as_fixnum() as u64), home: Home::Contents };
    }
    let heap = &rt(ctx).heap;
    let by_address = key.is_pointer()
        && match kind {
            field::EQ => !access::is(key, Type::Symbol),
            field::EQV => !equality::has_eqv_contents(key),
            _ => false,
        };
    if by_address {
        return hash_address(heap, key);
    }
    let mut home = Home::Contents;
    let hash = equality::hash_with(key, |v| {
        let h = hash_address(heap, v);
        home = home.max(h.home);
        u64::from(h.hash)
    });
    Hashed { hash: spread(hash), home }
}

/// Brings the indices up to date with what the last collections have moved.
fn sync(ctx: &mut Machine, t: Table) {
    let now = rt(ctx).heap.moves();
    if t.number(field::COLLECTIONS) as u64 != now.collections {
        catch_up(ctx, t, now);
    }
}

#[cold]
fn catch_up(ctx: &mut Machine, t: Table, now: Moves) {
    let moved = t.get(field::MOVES);
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
            t.young().into_iter().flatten().filter(|slot| **slot != 0).map(|slot| entry_in(*slot)).collect();
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
    if 2 * used > size {
        let larger = make_slots(ctx, (2 * size).max(FIRST_YOUNG));
        let (old, new) = (t.young(), slots(larger).expect("slots just made"));
        old.into_iter().flatten().filter(|s| **s != 0).for_each(|s| enter(new, hash_in(*s), entry_in(*s)));
        replace_slots(ctx, t, field::YOUNG, larger);
    }
    t.set_number(field::YOUNG_USED, used);
    enter(t.young().expect("made above"), hash, entry);
}

/// The entry with this key; without one, the key's hash, if the table has an index.
fn find(ctx: &mut Machine, t: Table, key: Value) -> Result<usize, Option<Hashed>> {
    let (kind, entries) = (t.kind(), t.entries());
    if t.index().is_none() {
        // There are no tables of this kind without index for which the program compares.
        return (0..t.used()).find(|i| same(kind, entries.key(*i), key)).ok_or(None);
    }
    let hashed = hash_key(ctx, kind, key);
    if hashed.home != Home::Contents {
        sync(ctx, t);
    }
    let index = if hashed.home == Home::Young { t.young() } else { t.index() };
    let found = index.and_then(|slots| probe(slots, hashed.hash, |i| same(kind, entries.key(i), key)));
    found.ok_or(Some(hashed))
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

/// Replaces the vector of entries by one with room for twice as many as there are, without holes.
fn resize(ctx: &mut Machine, t: Table) {
    let (old, used, count) = (t.entries(), t.used(), t.count());
    let room = FEW.max(2 * count);
    let new = old.make_more(ctx, room);
    // Where each entry has gone; nothing if all stay.
    let mut places = Vec::with_capacity(if count < used { used } else { 0 });
    let mut next = 0;
    for i in 0..used {
        let key = old.key(i);
        if count < used {
            places.push((key != Value::BROKEN).then_some(next));
        }
        if key != Value::BROKEN {
            new.set(ctx, next, key, old.value(i));
            next += 1;
        }
    }
    t.set(ctx, field::ENTRIES, new.0);
    t.set_number(field::USED, next);
    t.set_number(field::COUNT, next);
    if room <= FEW && t.kind() != field::OTHER {
        replace_slots(ctx, t, field::INDEX, Value::FALSE);
        replace_slots(ctx, t, field::YOUNG, Value::FALSE);
        t.set_number(field::YOUNG_USED, 0);
        t.set(ctx, field::MOVES, Value::FALSE);
        return;
    }
    let place_of = |i: usize| if places.is_empty() { Some(i) } else { places[i] };
    let renumber = |from: &[u64], to: &mut [u64]| {
        let mut n = 0;
        for slot in from.iter().filter(|s| **s != 0) {
            if let Some(i) = place_of(entry_in(*slot)) {
                enter(to, hash_in(*slot), i);
                n += 1;
            }
        }
        n
    };
    let had_index = t.index().is_some();
    let index = make_slots(ctx, index_slots(room));
    if let Some(from) = t.index() {
        renumber(from, slots(index).expect("slots just made"));
    }
    replace_slots(ctx, t, field::INDEX, index);
    if let Some(young) = t.young() {
        let from = young.to_vec();
        young.fill(0);
        let n = renumber(&from, young);
        t.set_number(field::YOUNG_USED, n);
    }
    if !had_index && t.kind() != field::OTHER {
        t.set_number(field::COLLECTIONS, rt(ctx).heap.moves().collections as usize);
        place(ctx, t, 0..next);
    }
}

fn remove(ctx: &mut Machine, t: Table, i: usize) {
    t.entries().set(ctx, i, Value::BROKEN, Value::BROKEN);
    if t.entries().are_weak() {
        return;
    }
    let left = t.number(field::COUNT) - 1;
    t.set_number(field::COUNT, left);
    if left == 0 && t.index().is_none() {
        t.set_number(field::USED, 0);
    }
}

/// Where the value of an entry is in the vector.
fn place_of_value(i: usize) -> Value {
    Value::fixnum(2 * i as i64 + 1)
}

/// `(table-find table key)`: where the value of `key` is in the vector of entries, or `#f`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_find(ctx: &mut Machine, table: Value, key: Value) -> Value {
    find(ctx, Table(table), key).map_or(Value::FALSE, place_of_value)
}

/// `(table-set! table key value)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_set(ctx: &mut Machine, table: Value, key: Value, value: Value) -> Value {
    let t = Table(table);
    match find(ctx, t, key) {
        Ok(i) => t.entries().set_value(ctx, i, value),
        Err(hashed) => append(ctx, t, hashed, key, value),
    }
    Value::UNSPECIFIED
}

/// `(table-delete! table key)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_delete(ctx: &mut Machine, table: Value, key: Value) -> Value {
    let t = Table(table);
    if let Ok(i) = find(ctx, t, key) {
        remove(ctx, t, i);
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

/// `(table-remove! table place)`: deletes the entry whose value is there.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_table_remove(ctx: &mut Machine, table: Value, place: Value) -> Value {
    let (t, i) = (Table(table), place.as_fixnum() as usize / 2);
    if i < t.used() && t.entries().key(i) != Value::BROKEN {
        remove(ctx, t, i);
    }
    Value::UNSPECIFIED
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
    use crate::alloc::make_vector;
    use crate::bare_runtime::TestRuntime;

    fn make(ctx: &mut Machine, kind: i64) -> Value {
        let entries = make_filled(ctx, Type::Vector, 2 * FEW as u64, Value::fixnum(0));
        let zero = Value::fixnum(0);
        let fields = [Value::fixnum(kind), entries, zero, zero, Value::FALSE, Value::FALSE, zero, zero];
        let v = make_filled(ctx, Type::Record, 9, Value::FALSE);
        fields.iter().enumerate().for_each(|(i, x)| store_word(ctx, v, i as u64, *x));
        v
    }

    /// Slots looked at to find each key once, and keys.
    fn steps(t: Table) -> (usize, usize) {
        let (mut steps, mut keys) = (0, 0);
        for slots in [t.index(), t.young()].into_iter().flatten() {
            let mask = slots.len() - 1;
            for (i, slot) in slots.iter().enumerate().filter(|(_, s)| **s != 0) {
                steps += (i.wrapping_sub(hash_in(*slot) as usize) & mask) + 1;
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
        for stride in [1, 8, 64, 1000, 1 << 20, 1 << 40] {
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
    }
}
