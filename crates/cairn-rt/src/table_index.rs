//! The index of a hash table: slots that say in which entry a key with this hash may be.
//!
//! A slot is 0 while it is empty. The low half of one that is taken is the entry's number + 1, the high half its hash.
//! Of what is deleted a mark stays, so that searches go on behind it; whoever fills an index makes it anew before no
//! slot is empty. See [`crate::table`].

/// What is in the slot of a deleted entry: searches go on behind it.
pub const DELETED: u64 = u32::MAX as u64;

/// The hash in a slot that is taken.
pub fn hash_in(slot: u64) -> u32 {
    (slot >> 32) as u32
}

/// The entry in a slot that is taken.
pub fn entry_in(slot: u64) -> usize {
    (slot as u32) as usize - 1
}

/// Does the slot hold an entry?
pub fn is_taken(slot: u64) -> bool {
    slot != 0 && slot as u32 != u32::MAX
}

/// Goes through the slots where a hash can be, until `f`, which gets a slot's number and what is in it, returns
/// something: two neighbours at a time, the first ones where the hash says, the next ones somewhere else for each hash,
/// ever further on, so that nobody follows a long run of slots that are taken.
#[inline(always)]
pub fn walk<R>(slots: &[u64], hash: u32, mut f: impl FnMut(usize, u64) -> Option<R>) -> R {
    let mask = slots.len() - 1;
    // Twice an odd number times 0, 1, 3, 6, 10, …: these sums are all different modulo a power of two, so all pairs
    // have their turn.
    let first = (hash.wrapping_mul(0x9E37_79B1) >> 15 | 1) as usize * 2;
    let (mut i, mut step) = (hash as usize & mask, first);
    loop {
        for i in [i, i ^ 1] {
            if let Some(found) = f(i, slots[i]) {
                return found;
            }
        }
        i = (i + step) & mask;
        step += first;
    }
}

/// Enters an entry, which is not there; there is an empty slot.
#[inline]
pub fn enter(slots: &mut [u64], hash: u32, entry: usize) {
    let free = walk(slots, hash, |i, slot| (!is_taken(slot)).then_some(i));
    slots[free] = u64::from(hash) << 32 | (entry as u64 + 1);
}

/// The slots of entries with this hash for which `f` says yes: the first.
#[inline(always)]
pub fn probe(slots: &[u64], hash: u32, mut f: impl FnMut(usize) -> bool) -> Option<usize> {
    walk(slots, hash, |i, slot| {
        if slot == 0 {
            Some(None)
        } else if hash_in(slot) == hash && is_taken(slot) && f(entry_in(slot)) {
            Some(Some(i))
        } else {
            None
        }
    })
}

/// The slots that hold entries.
pub fn taken_of(slots: &[u64]) -> Vec<u64> {
    slots.iter().copied().filter(|s| is_taken(*s)).collect()
}

/// Enters what is in another index with the places that it has now.
pub fn enter_all(to: &mut [u64], from: &[u64], places: &[u32]) {
    const PART: usize = 128;
    let mut taken = [0; PART];
    for part in from.chunks(PART) {
        // Which slots are taken is as good as random: no branch asks for it.
        let mut n = 0;
        for slot in part {
            taken[n] = *slot;
            n += usize::from(is_taken(*slot));
        }
        for slot in &taken[..n] {
            if let Some(i) = place_after(places, entry_in(*slot)) {
                enter(to, hash_in(*slot), i);
            }
        }
    }
}

/// In a list of places: the entry is a hole.
pub const GONE: u32 = u32::MAX;

/// Where an entry has gone; no places: all have stayed.
pub fn place_after(places: &[u32], entry: usize) -> Option<usize> {
    match places.get(entry) {
        None => Some(entry),
        Some(&GONE) => None,
        Some(i) => Some(*i as usize),
    }
}
