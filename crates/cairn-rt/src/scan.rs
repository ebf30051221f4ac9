//! The loops of regular expressions: a deterministic automaton goes over a string by its table.
//!
//! The automaton is made in `lib/more/cairn/regexp/automaton.scm`, a part at a time: where the table does not say how
//! to go on, the loop stops and says what is missing. The table is a u32vector:
//!
//! ```text
//!   0..128       classes of the ASCII characters; 0 = not known
//!   128..384     of some others, by their last 8 bits: character << 11 | class
//!   384          number of ranges of characters that a match may begin with; 0 = any, or too many ranges
//!   385..393     their first characters and their sizes less 1
//!   393..        states between matches, by the class of the character before
//!   behind that  rows of states: by class, what comes next
//!
//!   what comes next   0 = not known, or
//!   ┌─────┬──────┬──────┬──────┬───────┬───────┬──────────────────────────┐
//!   │ 0 0 │ idle │ stop │ lost │ start │ match │ index of the row         │
//!   └─────┴──────┴──────┴──────┴───────┴───────┴──────────────────────────┘
//!    31    29     28     27     26      25  24  23                       0
//! ```
//!
//! `match`: before this character a match ends, which has begun where the first of the attempts that are under way
//! began (1), at an unknown place (2), or here (3). `start`: this character begins the first of the attempts; `lost`:
//! it is unknown where that began. `stop`: there are no more attempts. `idle`: there are none, but each character may
//! begin one. Class 0 is that of the end of the text.
//!
//! The second loop finds submatches of a match, where at each character only one way through the program goes on
//! (`lib/more/cairn/regexp/submatches.scm`). Its table has the same classes, and then:
//!
//! ```text
//!   384..640     sets of submatches' ends, as bits
//!   640..        rows of places in the program: by class 0, or set << 24 | row: stored on the way to the next row
//! ```

use crate::access::{string_of, vector_of, words_mut};
use crate::arguments::expect;
use crate::numeric;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::numeric::NumericKind;

const ASCII: u32 = 128;
const OTHERS: usize = 128;
const RANGES: usize = 384;
const MOST_RANGES: usize = 4;
const IDLE_STATES: usize = RANGES + 1 + 2 * MOST_RANGES;
const SAVED: usize = 384;
const PLACES: usize = 640;

const ROW: u32 = (1 << 24) - 1;
const MATCH: u32 = 3 << 24;
const MATCH_FIRST: u32 = 1 << 24;
const MATCH_LOST: u32 = 2 << 24;
const START: u32 = 1 << 26;
const LOST: u32 = 1 << 27;
const STOP: u32 = 1 << 28;
const IDLE: u32 = 1 << 29;

/// So many characters are passed before threads and collections have their turn.
const MOST_CHARS: usize = 1 << 20;

/// Why the loop stopped.
const DONE: i64 = 0;
const NO_ENTRY: i64 = 1;
const NO_CLASS: i64 = 2;
const NO_IDLE_STATE: i64 = 3;
const PAUSE: i64 = 4;

/// What the loop goes on from and leaves behind, in a vector of fixnums, in this order.
#[derive(Clone, Copy)]
struct Registers {
    /// The place in the string.
    at: usize,
    /// Where the text ends that a match may take: behind `at`, or before it when the loop goes backward.
    limit: usize,
    /// The row of the state; 0: the one between matches, by the character before.
    state: usize,
    /// Where the first of the attempts began, or -1.
    start: i64,
    /// The end of the match, or -1.
    end: i64,
    /// Its beginning, or -1.
    from: i64,
    /// The range of the string that counts: outside of it there is nothing.
    low: usize,
    high: usize,
    /// What is missing: a class or a character.
    what: u32,
}

fn table_of<'a>(table: Value) -> Option<&'a [u32]> {
    (numeric::kind_of(table) == Some(NumericKind::U32)).then(|| numeric::u32s(table))
}

/// `(string-scan string table registers backward?)`: why it stopped.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_scan_string(
    ctx: &mut Machine,
    s: Value,
    table: Value,
    now: Value,
    backward: Value,
) -> Value {
    const WHO: &str = "string-scan";
    let chars = expect!(ctx, WHO, 1, "a string", s, string_of(s));
    let table = expect!(ctx, WHO, 2, "a u32vector", table, table_of(table));
    let old = expect!(ctx, WHO, 3, "nine fixnums", now, vector_of(now).filter(|v| v.len() == 9));
    let [at, limit, state, start, end, from, low, high] = std::array::from_fn(|i| old[i].as_fixnum());
    let [at, limit, state, low, high] = [at, limit, state, low, high].map(|x| x as usize);
    let mut registers = Registers { at, limit, state, start, end, from, low, high, what: 0 };
    let reason = match backward {
        Value::FALSE => registers.run::<false>(chars, table),
        _ => registers.run::<true>(chars, table),
    };
    let Registers { at, state, start, end, from, what, .. } = registers;
    // Fixnums in place of fixnums: no barrier has to know of it.
    let new = words_mut(now);
    for (i, x) in [(0, at as i64), (2, state as i64), (3, start), (4, end), (5, from), (8, i64::from(what))] {
        new[i] = Value::fixnum(x);
    }
    Value::fixnum(reason)
}

/// `(scan-submatches string table places from to)`: stores where the submatches of a match begin and end. -1; or
/// -2 - c where the class of the character c is not known; or `row << 11 | class` of what is missing.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_scan_submatches(
    ctx: &mut Machine,
    s: Value,
    table: Value,
    places: Value,
    from: Value,
    to: Value,
) -> Value {
    const WHO: &str = "scan-submatches";
    let range = from.as_fixnum() as usize..to.as_fixnum() as usize;
    let chars = expect!(ctx, WHO, 1, "a string", s, string_of(s).and_then(|chars| chars.get(range)));
    let table = expect!(ctx, WHO, 2, "a u32vector", table, table_of(table));
    expect!(ctx, WHO, 3, "a vector", places, vector_of(places));
    // Fixnums in place of #f and of fixnums: no barrier has to know of it.
    let places = words_mut(places);
    let mut row = PLACES;
    for (i, c) in chars.iter().copied().map(Some).chain([None]).enumerate() {
        let class = c.map_or(0, |c| class_of(table, c));
        if let Some(c) = c
            && class == 0
        {
            return Value::fixnum(-2 - i64::from(c));
        }
        let entry = table[row + class as usize];
        if entry == 0 {
            return Value::fixnum((row as i64) << 11 | i64::from(class));
        }
        if entry > ROW {
            let mut saved = table[SAVED + (entry >> 24) as usize];
            while saved != 0 {
                places[saved.trailing_zeros() as usize] = Value::fixnum(from.as_fixnum() + i as i64);
                saved &= saved - 1;
            }
        }
        row = (entry & ROW) as usize;
    }
    places[0] = from;
    places[1] = to;
    Value::fixnum(-1)
}

/// The class of a character, 0 if it is not known.
#[inline(always)]
fn class_of(table: &[u32], c: u32) -> u32 {
    if c < ASCII {
        return table[c as usize];
    }
    let known = table[OTHERS + (c & 0xff) as usize];
    if known >> 11 == c { known & 0x7ff } else { 0 }
}

impl Registers {
    /// The next character, or the end of the text.
    #[inline(always)]
    fn next<const BACKWARD: bool>(&self, chars: &[u32], at: usize) -> Option<u32> {
        match BACKWARD {
            false => (at < self.high).then(|| chars[at]),
            true => (at > self.low).then(|| chars[at - 1]),
        }
    }

    fn run<const BACKWARD: bool>(&mut self, chars: &[u32], table: &[u32]) -> i64 {
        // Locals, so that they are in registers.
        let mut now = *self;
        let reason = now.step::<BACKWARD>(chars, table);
        *self = now;
        reason
    }

    #[inline(always)]
    fn step<const BACKWARD: bool>(&mut self, chars: &[u32], table: &[u32]) -> i64 {
        let (limit, high) = (self.limit, self.high);
        assert!(limit <= high && high <= chars.len() && self.low <= self.limit && self.at <= high);
        let pause = match BACKWARD {
            false => limit.min(self.at + MOST_CHARS),
            true => limit.max(self.at.saturating_sub(MOST_CHARS)),
        };
        loop {
            if self.state == 0 {
                self.at += first_in(&chars[self.at..pause.max(self.at)], &table[RANGES..IDLE_STATES]);
                let class = match self.at {
                    at if at == self.low => 0,
                    at => match class_of(table, chars[at - 1]) {
                        0 => return self.missing(NO_CLASS, chars[at - 1]),
                        class => class,
                    },
                };
                match table[IDLE_STATES + class as usize] {
                    0 => return self.missing(NO_IDLE_STATE, class),
                    row => self.state = row as usize,
                }
            }
            let (mut at, mut state) = (self.at, self.state);
            let entry = loop {
                if at == pause {
                    break None;
                }
                let c = chars[if BACKWARD { at - 1 } else { at }];
                let class = class_of(table, c);
                let entry = table[state + class as usize];
                // neither unknown nor with a flag
                if class == 0 || entry.wrapping_sub(1) >= ROW {
                    break Some((c, class, entry));
                }
                state = entry as usize;
                at = if BACKWARD { at - 1 } else { at + 1 };
            };
            (self.at, self.state) = (at, state);
            let Some((c, class, entry)) = entry else {
                if at != limit {
                    return PAUSE;
                }
                // what is there decides only on whether a match ends here
                let class = match self.next::<BACKWARD>(chars, at) {
                    None => 0,
                    Some(c) => match class_of(table, c) {
                        0 => return self.missing(NO_CLASS, c),
                        class => class,
                    },
                };
                return match table[state + class as usize] {
                    0 => self.missing(NO_ENTRY, class),
                    entry => {
                        self.note_match(entry);
                        DONE
                    }
                };
            };
            if class == 0 {
                return self.missing(NO_CLASS, c);
            }
            if entry == 0 {
                return self.missing(NO_ENTRY, class);
            }
            self.note_match(entry);
            if entry & (START | LOST) != 0 {
                self.start = if entry & START != 0 { at as i64 } else { -1 };
            }
            if entry & STOP != 0 {
                return DONE;
            }
            self.at = if BACKWARD { at - 1 } else { at + 1 };
            self.state = if entry & IDLE != 0 { 0 } else { (entry & ROW) as usize };
        }
    }

    fn missing(&mut self, reason: i64, what: u32) -> i64 {
        self.what = what;
        reason
    }

    #[inline(always)]
    fn note_match(&mut self, entry: u32) {
        if entry & MATCH != 0 {
            self.end = self.at as i64;
            self.from = match entry & MATCH {
                MATCH_FIRST => self.start,
                MATCH_LOST => -1,
                _ => self.at as i64,
            };
        }
    }
}

/// The place of the first character that is in one of the ranges, or the end.
#[inline(always)]
fn first_in(chars: &[u32], ranges: &[u32]) -> usize {
    // One range is repeated where there are fewer than the loop knows of.
    let range = |i: usize| (ranges[1 + 2 * i], ranges[2 + 2 * i]);
    match ranges[0] {
        0 => 0,
        1 => first(chars, [range(0)]),
        2 => first(chars, [range(0), range(1)]),
        3 => first(chars, [range(0), range(1), range(2)]),
        _ => first(chars, [range(0), range(1), range(2), range(3)]),
    }
}

fn first<const N: usize>(chars: &[u32], ranges: [(u32, u32); N]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the line above has found that the processor has AVX2, which is all that `first_by_eight` asks for.
        return unsafe { first_by_eight(chars, ranges) };
    }
    first_by_blocks(chars, ranges)
}

#[inline(always)]
fn within<const N: usize>(c: u32, ranges: &[(u32, u32); N]) -> bool {
    ranges.iter().fold(false, |found, &(low, size)| found | (c.wrapping_sub(low) <= size))
}

/// For any processor: blocks without branches inside, which the compiler vectorizes.
fn first_by_blocks<const N: usize>(chars: &[u32], ranges: [(u32, u32); N]) -> usize {
    let blocks = chars.chunks_exact(16);
    let at = 16 * blocks.take_while(|b| !b.iter().fold(false, |found, &c| found | within(c, &ranges))).count();
    chars[at..].iter().position(|&c| within(c, &ranges)).map_or(chars.len(), |i| at + i)
}

/// With AVX2: eight characters at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn first_by_eight<const N: usize>(chars: &[u32], ranges: [(u32, u32); N]) -> usize {
    use std::arch::x86_64::*;
    let limits = ranges.map(|(low, size)| (_mm256_set1_epi32(low as i32), _mm256_set1_epi32(size as i32)));
    let mut at = 0;
    while at + 8 <= chars.len() {
        // SAFETY: `at + 8 <= chars.len()`, so eight characters are there; the load need not be aligned.
        let block = unsafe { _mm256_loadu_si256(chars.as_ptr().add(at).cast()) };
        let mut found = _mm256_setzero_si256();
        for (low, size) in limits {
            let offset = _mm256_sub_epi32(block, low);
            // at most the size, without a sign
            found = _mm256_or_si256(found, _mm256_cmpeq_epi32(_mm256_min_epu32(offset, size), offset));
        }
        let mask = _mm256_movemask_ps(_mm256_castsi256_ps(found));
        if mask != 0 {
            return at + mask.trailing_zeros() as usize;
        }
        at += 8;
    }
    chars[at..].iter().position(|&c| within(c, &ranges)).map_or(chars.len(), |i| at + i)
}

#[cfg(test)]
mod tests {
    use super::{first, first_by_blocks, within};

    /// The place of the first character of a range is the same in every way of looking for it, wherever it is.
    #[test]
    fn first_of_ranges() {
        let ranges = [(u32::from(b'a'), 2), (0x3b1, 0), (0x10000, 0xfffff)];
        let inside = ['a', 'c', 'α', '\u{10000}', '\u{10ffff}'];
        let outside = ['\0', '`', 'd', 'ΰ', 'β', '\u{ffff}'];
        for length in 0..70 {
            for at in 0..length {
                for c in inside.into_iter().chain(outside) {
                    let wanted = if inside.contains(&c) { at } else { length };
                    // a second one, which must not count
                    let chars: Vec<u32> =
                        (0..length).map(|i| if i == at || i == at + 9 { c as u32 } else { 0x60 }).collect();
                    assert_eq!(chars.iter().position(|&c| within(c, &ranges)).unwrap_or(length), wanted);
                    assert_eq!(first(&chars, ranges), wanted);
                    assert_eq!(first_by_blocks(&chars, ranges), wanted);
                }
            }
        }
    }
}
