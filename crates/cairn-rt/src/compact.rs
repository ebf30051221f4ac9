//! Compact records, as the runtime makes, reads and writes them; what they look like is in
//! `cairn_layout::object::record::compact`, where they lie in `cairn_heap`.
//!
//! The problem: a reference says of which type a record is and its number, but not where the heap has it; and what
//! prints a record has no machine at hand. The idea: each thread knows the table of pools of the machine that it runs.

use crate::exhaustion;
use crate::record_types;
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::record::compact::{self, Entry};
use cairn_layout::object::record::{FieldKind, Slot};
use std::cell::Cell;

thread_local! {
    /// `Machine::pools` of the machine that this thread runs.
    static POOLS: Cell<*mut u8> = const { Cell::new(std::ptr::null_mut()) };
}

/// This thread runs the machine with these pools.
pub fn run_with(pools: *mut u8) {
    POOLS.set(pools);
}

/// The entry of the pool of a reference; `None` if this thread has no such record.
fn entry(v: Value) -> Option<&'static Entry> {
    let pools = POOLS.get();
    if pools.is_null() || !v.is_compact() {
        return None;
    }
    // SAFETY: the table has an entry for each number of a type that a reference can say; those of types that are not
    // compact are clear.
    let e = unsafe { &*(pools.add((compact::type_of(v.0) >> compact::ENTRY_AT) as usize) as *const Entry) };
    (e.base != 0 && compact::record_number(v.0) <= e.high).then_some(e)
}

/// The type of a compact record.
pub fn type_of(v: Value) -> Option<Value> {
    v.is_compact().then(|| Value(compact::type_of(v.0)))
}

/// Where a field of a compact record is, and the bits of references there.
pub fn field(v: Value, slot: Slot) -> Option<(*mut u8, u32)> {
    let (place, e) = (slot.compact?, entry(v)?);
    // SAFETY: `slot` is a field of `v`'s type, so its place is one of those that the entry has for all fields.
    let at = unsafe { *e.places.add(place.index as usize) };
    Some(((e.base + compact::record_number(v.0) as u64 * e.stride as u64 + at as u64) as *mut u8, e.bits))
}

/// What a field of references holds.
pub fn reference(v: Value, slot: Slot) -> Value {
    let (Some((at, bits)), Some(e), Some(place)) = (field(v, slot), entry(v), slot.compact) else {
        return Value::FALSE;
    };
    // SAFETY: `field` gave the address of a field of `bits` bits, in the pool of a record in use.
    let n = unsafe {
        match bits {
            32 => *(at as *const u32) >> compact::RECORD_SHIFT,
            16 => u32::from(*(at as *const u16)),
            _ => u32::from(*at),
        }
    };
    if n == 0 {
        return Value::FALSE;
    }
    // SAFETY: the entry has a target for each field, and `place` is the place of a field of `v`'s type.
    let upper = if place.own { (v.0 >> 32) as u32 } else { unsafe { *e.targets.add(place.index as usize) } };
    Value(compact::with_upper(upper, n))
}

/// Stores a reference to a compact record, or `#f`; `false` if the field holds others.
pub fn put_reference(ctx: &mut Machine, v: Value, slot: Slot, x: Value) -> bool {
    let (Some(e), Some(place)) = (entry(v), slot.compact) else { return false };
    let n = if x == Value::FALSE { 0 } else { compact::record_number(x.0) };
    if n != 0 {
        // SAFETY: the entry has a target for each field, and `place` is the place of a field of `v`'s type. The heap,
        // which reads it, does so while it collects, and no reference outlives this function.
        let target = unsafe { &mut *e.targets.add(place.index as usize) };
        let upper = if place.own { (v.0 >> 32) as u32 } else { *target };
        if !x.is_compact() || upper != 0 && upper != (x.0 >> 32) as u32 {
            return false;
        }
        *target = (x.0 >> 32) as u32;
    } else if x != Value::FALSE {
        return false;
    }
    if e.bits < 32 && n >> e.bits != 0 {
        let ty = compact::type_number(v.0);
        exhaustion::overdraw(ctx, 0, |ctx| rt(ctx).heap.widen_pool(ty, n));
    }
    let Some((at, bits)) = field(v, slot) else { return false };
    // SAFETY: `field` gave the address of a field of `bits` bits, in the pool of a record in use; `n` fits (see
    // `widen_pool`).
    unsafe {
        match bits {
            32 => *(at as *mut u32) = n << compact::RECORD_SHIFT,
            16 => *(at as *mut u16) = n as u16,
            _ => *at = n as u8,
        }
    }
    true
}

/// The type of the records that a field of references has held, if it has held some.
pub fn target(v: Value, slot: Slot) -> Option<Value> {
    let (e, place) = (entry(v)?, slot.compact?);
    // SAFETY: the entry has a target for each field, and `place` is the place of a field of `v`'s type.
    let upper = if place.own { (v.0 >> 32) as u32 } else { unsafe { *e.targets.add(place.index as usize) } };
    (upper != 0).then(|| Value(compact::type_of(compact::with_upper(upper, 0))))
}

/// A record of a compact type, clear.
pub fn make(ctx: &mut Machine, rtd: Value) -> Value {
    let number = cairn_layout::object::record::number(rtd.0);
    let at = (rtd.0 >> compact::ENTRY_AT) as usize;
    // SAFETY: `rtd` is the type word of a compact type, so the table has an entry at `at`.
    let e = unsafe { ctx.pools.add(at) as *mut Entry };
    // SAFETY: `e` is the type's entry, which only this thread uses while its program runs; no reference to it is made.
    unsafe {
        if (*e).base == 0 && !define(ctx, rtd) {
            // The type is another place's.
            exhaustion::refuse(ctx, 1 << 16);
        }
        if (*e).next == (*e).limit {
            let refill = |ctx: &mut Machine| rt(ctx).heap.refill_pool(&mut ctx.cursors, number);
            if refill(ctx).is_err() {
                exhaustion::overdraw(ctx, 0, refill);
            }
            crate::alloc::stop_for_heap(ctx);
        }
        let n = (*e).next;
        (*e).next += 1;
        Value(compact::reference(rtd.0, n))
    }
}

/// A record on its way to another place: its type word, then for each field a reference, or two fixnums, which are the
/// halves of its bits.
pub fn parts(v: Value) -> Vec<u64> {
    let rtd = Value(compact::type_of(v.0));
    let mut words = vec![rtd.0];
    for f in record_types::get(rtd).iter().flat_map(|t| &t.fields) {
        if f.slot.kind == FieldKind::Ref {
            words.push(reference(v, f.slot).0);
            continue;
        }
        let mut bits = 0u64;
        if let (Some((at, _)), Some(bytes)) = (field(v, f.slot), f.slot.kind.raw_bytes()) {
            // SAFETY: `field` gave the address of a field, which has `bytes` bytes, at most the eight of `bits`.
            unsafe { std::ptr::copy_nonoverlapping(at, (&raw mut bits).cast(), bytes as usize) };
        }
        words.extend([bits as u32, (bits >> 32) as u32].map(|half| Value::fixnum(i64::from(half)).0));
    }
    words
}

/// Gives a record what [`parts`] has found.
pub fn fill(ctx: &mut Machine, v: Value, words: &[u64]) {
    let Some(t) = record_types::get(Value(words[0])) else { return };
    let mut rest = words[1..].iter();
    let mut next = || Value(rest.next().copied().unwrap_or(0));
    for f in &t.fields {
        let first = next();
        if f.slot.kind == FieldKind::Ref {
            put_reference(ctx, v, f.slot, first);
            continue;
        }
        let bits = first.as_fixnum() as u64 | (next().as_fixnum() as u64) << 32;
        if let (Some((at, _)), Some(bytes)) = (field(v, f.slot), f.slot.kind.raw_bytes()) {
            // SAFETY: `field` gave the address of a field, which has `bytes` bytes, at most the eight of `bits`.
            unsafe { std::ptr::copy_nonoverlapping((&raw const bits).cast(), at, bytes as usize) };
        }
    }
}

/// `(make-compact-record type)`: clear; what compiled code calls when the run at hand is used up.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_compact_make(ctx: &mut Machine, rtd: Value) -> Value {
    make(ctx, rtd)
}

/// `(compact-place record code)`: the address of a field (raw).
#[unsafe(no_mangle)]
pub extern "C" fn cairn_compact_place(_ctx: &mut Machine, record: Value, code: Value) -> Value {
    let place = field(record, Slot::of(code.as_fixnum()));
    Value(place.expect("a field of a record of this heap").0 as u64)
}

/// A line for each pool, with names of types.
pub fn report(ctx: &Machine) -> String {
    let mut text = String::new();
    for p in rt(ctx).heap.pools().iter().filter(|p| p.made > 0) {
        let rtd = Value(compact::word(p.type_number));
        let name = record_types::type_name(rtd).unwrap_or_default();
        let fields = record_types::get(rtd).map_or(0, |t| t.fields.len());
        let bytes = |n: u64| cairn_heap::Bytes(n).to_string();
        text += &format!(
            "compact       {:>10}   {name}: {} records made, {} of {} bytes (plain: {}), references of {} bits, most at once {}",
            bytes(p.records * u64::from(p.stride)),
            p.made,
            p.records,
            p.stride,
            cairn_layout::object::headed_bytes(fields),
            p.bits,
            bytes(p.peak),
        );
        if p.expansions > 0 {
            text += &format!(", {} expansions", p.expansions);
        }
        text.push('\n');
    }
    text
}

/// Makes the pool of a type of compact records; `false` if the type cannot have one.
pub fn define(ctx: &mut Machine, rtd: Value) -> bool {
    let Some(t) = record_types::get(rtd) else { return false };
    let widths = t.fields.iter().find_map(|f| f.slot.compact).map(|p| p.widths).unwrap_or_default();
    let kinds = t.fields.iter().map(|f| (f.slot.kind, f.slot.compact.is_some_and(|p| p.own)));
    let kinds: Vec<(FieldKind, bool)> = kinds.collect();
    rt(ctx).heap.define_pool(cairn_layout::object::record::number(rtd.0), kinds, widths).is_ok()
}
