//! The memory of a quasi-stack ([`super::quasi`]): blocks of parts, with a bit for each part that collections kept.

use cairn_layout::quasi::PART_WORDS;
use std::collections::HashSet;

/// Bytes of a part.
pub(super) const PART: u64 = 8 * PART_WORDS as u64;

/// Parts next to each other, and which of them the last collections have kept.
pub(super) struct Block {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) kept: Vec<u64>,
}

impl Block {
    /// Number of a part.
    pub(super) fn index(&self, part: u64) -> usize {
        ((part - self.start) / PART) as usize
    }
    pub(super) fn keeps(&self, i: usize) -> bool {
        self.kept[i / 64] >> (i % 64) & 1 != 0
    }
    pub(super) fn is_empty(&self) -> bool {
        self.kept.iter().all(|bits| *bits == 0)
    }
}

/// State of the strategy.
#[derive(Default)]
pub struct Quasi {
    /// By address.
    pub(super) blocks: Vec<Block>,
    /// Blocks whose free parts have not been handed out since the last collection; the last one comes first.
    pub(super) waiting: Vec<u64>,
    /// Frames that the audit under way has seen.
    pub(super) audited: HashSet<u64>,
}

impl Quasi {
    /// The block of a part.
    pub(super) fn block(&mut self, part: u64) -> Option<&mut Block> {
        let i = self.blocks.partition_point(|b| b.end <= part);
        self.blocks.get_mut(i).filter(|b| b.start <= part)
    }

    /// Sets a part's bit; was it set?
    pub(super) fn keep(&mut self, part: u64) -> bool {
        let block = self.block(part).expect("a part of a block");
        let i = block.index(part);
        let kept = block.keeps(i);
        block.kept[i / 64] |= 1 << (i % 64);
        kept
    }

    /// A collection has begun: everything that it does not keep will be free.
    pub(super) fn begin(&mut self, everything: bool) {
        if everything {
            self.blocks.iter_mut().for_each(|b| b.kept.fill(0));
        }
        self.waiting = self.blocks.iter().rev().map(|b| b.start).collect();
    }
}
