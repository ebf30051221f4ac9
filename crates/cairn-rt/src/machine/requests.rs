//! Memory for compiled code that does not take it by itself (`cairn_layout::collector`): cells for its free lists,
//! single objects. Nothing here collects; the heap check of compiled code has covered what is asked for.

use crate::alloc::alloc;
use crate::exhaustion;
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::collector::FreeList;
use cairn_layout::machine::Machine;
use cairn_layout::object::AllocKind;

/// At least one cell for an empty list: the address of the first. Cells are chained through their first words, the last
/// of which is 0. A heap without lists of its own hands out one cell at a time.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_cells(ctx: &mut Machine, list: Value) -> Value {
    let list = FreeList(list.as_fixnum() as u8);
    match rt(ctx).heap.cells(&mut ctx.cursors, list) {
        Ok(cell) => Value(cell),
        Err(_) => {
            let bytes = rt(ctx).heap.facts().cell_bytes(list);
            Value(exhaustion::overdraw(ctx, bytes, |ctx| rt(ctx).heap.cells(&mut ctx.cursors, list)))
        }
    }
}

/// Memory for one object of this size: its address, without tag.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_machine_object(ctx: &mut Machine, kind: Value, bytes: Value) -> Value {
    let kind = AllocKind::ALL[kind.as_fixnum() as usize];
    Value(alloc(ctx, bytes.as_fixnum() as u64, kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::alloc_pair;
    use crate::bare_runtime::TestRuntime;
    use crate::start_options::Options;
    use cairn_layout::collector::{Allocation, BDW, COLLECTORS, CollectorFacts};

    /// Fills the `bytes` at `address` with words that are no addresses, as whoever asked would.
    fn fill(address: u64, bytes: u64) {
        for word in 0..bytes / 8 {
            // SAFETY: `address` was just handed out with `bytes` bytes, and `word` counts words of that.
            unsafe { *(address as *mut u64).add(word as usize) = Value::fixnum(word as i64).0 };
        }
    }

    #[test]
    fn memory_that_is_asked_for_overlaps_nothing() {
        COLLECTORS.iter().for_each(|c| overlaps_nothing(c));
    }

    fn overlaps_nothing(collector: &'static CollectorFacts) {
        let mut t = TestRuntime::with(Options { collector, ..Options::default() });
        let ctx = t.ctx();
        let lists = matches!(collector.allocation, Allocation::FreeLists { .. });
        // libgc decides how long its chains are; ours have two cells at least.
        let any_length = collector == &BDW;
        let mut chains = 0;
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for round in 0..50u64 {
            let mut take = |address: u64, bytes: u64| {
                assert!(address.is_multiple_of(8) && address != 0);
                fill(address, bytes);
                taken.push((address, address + bytes));
            };
            for list in [FreeList::PAIRS, FreeList(1), FreeList(4), FreeList(32)] {
                let cell = cairn_machine_cells(ctx, Value::fixnum(list.0.into())).0;
                // SAFETY: `cairn_machine_cells` has just given out `cell`, a cell of a list, which begins with its
                // link.
                let next = unsafe { *(cell as *const u64) };
                let is_chain = next != 0;
                assert!(next.is_multiple_of(8), "{}: {next:#x}", collector.name);
                assert!(is_chain == lists || any_length, "{}: {next:#x}", collector.name);
                chains += u64::from(is_chain);
                take(cell, collector.cell_bytes(list));
            }
            for kind in [AllocKind::Procedure, AllocKind::Scannable] {
                let bytes = 16 + 8 * round;
                take(cairn_machine_object(ctx, Value::fixnum(kind as i64), Value::fixnum(bytes as i64)).0, bytes);
            }
            let pair = alloc_pair(ctx, Value::NIL, Value::NIL);
            taken.push((pair.address(), pair.address() + 16));
        }
        assert_eq!(chains > 0, lists, "{}", collector.name);
        taken.sort_unstable();
        for w in taken.windows(2) {
            assert!(w[0].1 <= w[1].0, "{w:x?}");
        }
    }
}
