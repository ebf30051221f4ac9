//! What follows a store into an object that may be older than what is stored.

use crate::emit::builder::{Builder, ins, line};
use crate::emit::ir_text::{Mem, Odds, Val};
use cairn_layout::collector::Barrier;
use cairn_layout::machine::{CARD_SHIFT, Machine};
use std::mem::offset_of;

/// The word `value`, which may be a pointer, has been stored at `address`. Only what may be young is of interest: most
/// words that a program moves about in old data are not, and each card that is marked costs the next collection more
/// than the test costs here. Without a value: it is young.
pub(crate) fn after_store(b: &mut Builder, address: &Val, value: Option<&Val>) {
    match b.collector.barrier {
        Barrier::None => {}
        Barrier::Card => {
            let join = value.map(|value| {
                let (mark, join) = (b.fresh(), b.fresh());
                let young = b.load_machine(offset_of!(Machine, young));
                let may_be = ins!(b, "icmp uge i64 {value}, {young}");
                b.branch(&may_be, &mark, &join, Odds::Even);
                b.start(&mark);
                join
            });
            let cards = b.machine_constant(offset_of!(Machine, cards));
            let c = ins!(b, "lshr i64 {address}, {CARD_SHIFT}");
            let mask = b.machine_constant(offset_of!(Machine, card_mask));
            let mask = ins!(b, "ptrtoint ptr {mask} to i64");
            let c = ins!(b, "and i64 {c}, {mask}");
            let q = ins!(b, "getelementptr i8, ptr {cards}, i64 {c}");
            line!(b, "store i8 -1, ptr {q}{}", Mem::Card.suffix());
            if let Some(join) = join {
                b.goto(&join);
                b.start(&join);
            }
        }
    }
}
