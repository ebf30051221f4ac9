//! What shared code asks of the spaces that one plan alone has.
//!
//! The problem: whoever follows words from anywhere, as the [`Finder`](crate::find::Finder) and the
//! [checker](crate::check) do, must know objects in whatever memory there is; but a space that only one plan uses
//! belongs to that plan, and nobody else should name it. The idea: there is one question, asked of an address: which
//! *place* is there? A place is memory for one object, and what can be in it. The answer comes from the space that
//! knows, by way of [`Plan::own_spaces`](crate::gc::plan::Plan::own_spaces).
//!
//! Tracing does not ask: a plan's tracer has the plan's spaces at hand. The finder asks by a type parameter, so that
//! nothing is called through a table; the checker, which takes its time, by a reference to any such space.

use crate::address::{Address, Span};
use crate::blocks::BlockTable;
use crate::model::Located;

/// The spaces of a plan's own, as far as others must know of them.
pub(crate) trait OwnSpaces {
    /// The place around an address, which may be anything, if it is in one of these spaces.
    fn place(&self, _table: &BlockTable, _a: Address) -> Option<Place> {
        None
    }
    /// Bytes held that are in no block taken from the pool.
    fn outside_pool(&self) -> u64 {
        0
    }
}

/// Memory for one object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub span: Span,
    pub holds: Holds,
}

/// What a place holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Holds {
    /// This object.
    One(Located),
    /// A pair, if its start bit is set.
    Pair,
    /// An object whose first word says what it is, if its start bit is set.
    Headed,
    /// Such an object, without references.
    Leaf,
    /// Something, of which no more is known.
    Unknown,
}

/// No spaces that others must know of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct NoSpaces;

impl OwnSpaces for NoSpaces {}
