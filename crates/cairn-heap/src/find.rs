//! From an address to the object around it.
//!
//! The problem: a word that may or may not be a reference, perhaps to the middle of an object, must be answered with
//! "this object" or "none", without a wrong guess: what is taken for an object is scanned and kept. The idea: every
//! kind of block can be asked. Cells are found by arithmetic, large objects by their entries, and in the old space the
//! last start bit at or before the address is that of the only object that can reach so far; a second bit says whether
//! it is a pair. (The nursery has neither: see `gc/gen/pins.rs`.) What lies in a space of one plan's alone, that space
//! knows ([`OwnSpaces`]). Stack chunks and immortal objects need no answer: nothing there is freed or moved for want of
//! a reference to its middle.
//!
//! What is found may be dead: then it has been so since the last major collection at most, and all that it refers to is
//! still there.

use crate::address::Address;
use crate::blocks::{BlockPool, Kind, State};
use crate::marks::{Marks, Starts};
use crate::model::{Located, ObjectModel};
use crate::space::cells::CellSpace;
use crate::space::large::LargeSpace;
use crate::space::own::{Holds, OwnSpaces};

/// The parts of a heap that know where objects are; `S`: the plan's own spaces.
pub(crate) struct Finder<'a, M, S> {
    pub(crate) model: &'a M,
    pub(crate) pool: &'a BlockPool,
    pub(crate) marks: &'a Marks,
    pub(crate) large: &'a LargeSpace,
    pub(crate) cells: &'a CellSpace,
    pub(crate) own: &'a S,
}

impl<M: ObjectModel, S: OwnSpaces> Finder<'_, M, S> {
    /// The object around `a`, which may be anything, outside the nursery.
    pub(crate) fn around(&self, a: Address, which: Starts) -> Option<Located> {
        let table = &self.pool.table;
        if !table.covers(a) {
            return None;
        }
        let block = table.block_of(a);
        let state = table.state(block);
        let found = match state.kind() {
            // Blocks filled while marking: no word from before refers to them.
            Kind::Scannable | Kind::Leaf if state.has(State::YOUNG) => return None,
            Kind::Scannable | Kind::Leaf => {
                let start = self.marks.last_start(a, which)?;
                if state.is(Kind::Scannable) && self.marks.is_pair(start) {
                    Located::pair::<M>(start)
                } else {
                    // SAFETY: `start` has a start bit, and none of a pair, so a headed object starts there.
                    unsafe { Located::headed(self.model, start) }
                }
            }
            Kind::Large | Kind::LargeTail | Kind::Shared => {
                let o = self.large.around(self.pool, a)?;
                // SAFETY: `o` is an entry of the space, so a large object, which is no pair, starts at `o.start`.
                unsafe { Located::headed(self.model, o.start) }
            }
            Kind::Typed | Kind::Untyped => {
                let class = self.cells.class_of(table, block);
                let start = class.cell_around(table.address_of(block), a);
                if self.marks.last_start(start, which) != Some(start) {
                    return None;
                }
                Located::cell::<M>(start, class.bytes())
            }
            _ => {
                let place = self.own.place(table, a)?;
                let start = place.span.start;
                match place.holds {
                    Holds::One(o) => o,
                    _ if self.marks.last_start(start, which) != Some(start) => return None,
                    Holds::Pair => Located::pair::<M>(start),
                    // SAFETY: `start` has a start bit in a place of headed objects, so one starts there.
                    Holds::Headed | Holds::Leaf => unsafe { Located::headed(self.model, start) },
                    Holds::Unknown => return None,
                }
            }
        };
        found.span().contains(a).then_some(found)
    }
}
