//! How the words of a frame lie in the parts of a quasi-stack (`quasi`).
//!
//! A part has eight words. A frame of up to eight words is one part; the parts of a larger one hold seven words each,
//! and the eighth is the address of the next. In the free list it is so for every part.

/// Words of a part.
pub const PART_WORDS: u32 = 8;
/// Words of a frame that one of several parts holds.
const LINKED_WORDS: u32 = PART_WORDS - 1;
/// Offset in bytes of the next part's address.
pub const NEXT: u64 = 8 * LINKED_WORDS as u64;
/// In the word that refers to the caller's frame: this frame is not to be used again when it is left.
pub const MARK: u64 = 1;

/// Parts of a frame of so many words.
pub const fn parts(words: u32) -> u32 {
    if words <= PART_WORDS { 1 } else { words.div_ceil(LINKED_WORDS) }
}

/// The part, and the word in it, where word `i` is of a frame of `words` words.
pub const fn part_of(words: u32, i: u32) -> (u32, u32) {
    if words <= PART_WORDS { (0, i) } else { (i / LINKED_WORDS, i % LINKED_WORDS) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_frame_are_apart_and_leave_the_links_alone() {
        for words in 2..600 {
            let mut seen = std::collections::HashSet::new();
            for i in 0..words {
                let (part, at) = part_of(words, i);
                assert!(part < parts(words) && at < PART_WORDS, "{words} {i}");
                assert!(parts(words) == 1 || 8 * u64::from(at) != NEXT, "{words} {i}");
                assert!(seen.insert((part, at)), "{words} {i}");
            }
            assert!(part_of(words, 0) == (0, 0) && part_of(words, 1) == (0, 1));
        }
    }
}
