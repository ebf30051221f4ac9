//! What follows a store into an object that may be older than what is stored.

use crate::emit::builder::{Builder, ins, line};
use crate::emit::ir_text::{Mem, Val};
use cairn_layout::collector::Barrier;
use cairn_layout::machine::{CARD_SHIFT, Machine};
use std::mem::offset_of;

/// A word that may be a pointer has been stored at `address`.
pub(crate) fn after_store(b: &mut Builder, address: &Val) {
    match b.collector.barrier {
        Barrier::None => {}
        Barrier::Card => {
            let cards = b.machine_constant(offset_of!(Machine, cards));
            let c = ins!(b, "lshr i64 {address}, {CARD_SHIFT}");
            let mask = b.machine_constant(offset_of!(Machine, card_mask));
            let mask = ins!(b, "ptrtoint ptr {mask} to i64");
            let c = ins!(b, "and i64 {c}, {mask}");
            let q = ins!(b, "getelementptr i8, ptr {cards}, i64 {c}");
            line!(b, "store i8 1, ptr {q}{}", Mem::Card.suffix());
        }
    }
}
