//! How often is a block executed in one call of its function, at most?
//!
//! The problem: a pool whose indices can't be outgrown needs no other form, and that is proven by counting the objects
//! that are ever allocated. The idea: in a function's control flow graph, a block that is in no circle is executed once
//! at most; one in loops as often as the product of what their counters allow.
//!
//! ```text
//!  i = phi [0, before], [i + 1, end of the round];  if i < 100 go on, else leave       at most 101 times
//! ```
//!
//! A circle whose only entry is one block, the head, is a loop; without the edges to the head, what circles remain are
//! loops inside. Its rounds are counted if the head has a counter: a number that begins with a constant and changes by
//! a constant in every round, and some block that every round passes compares it with a constant and may leave.
//! Anything else has no bound. Invariant: numbers are too large, never too small; [`UNBOUNDED`] stands for all that are
//! too large to count. Quadratic in the depth of loops, else linear in the size of the function.
#![allow(unsafe_code)]

use crate::llvm_codes::{opcode, type_kind, value_kind};
use crate::model::UNBOUNDED;
use cairn_llvm_c::{BasicBlockRef, ModuleFunctions, ValueRef};
use std::collections::{BTreeSet, HashMap};
use std::ffi::c_uint;

/// The blocks of a function, by number; the first is where it begins.
struct Flow<'a> {
    f: &'a ModuleFunctions,
    blocks: Vec<BasicBlockRef>,
    numbers: HashMap<BasicBlockRef, usize>,
    next: Vec<Vec<usize>>,
    times: Vec<u64>,
}

/// The bound of each block of a function that has a body.
pub(super) fn times(f: &ModuleFunctions, function: ValueRef) -> HashMap<BasicBlockRef, u64> {
    let mut blocks = vec![];
    // SAFETY: the function has a body (see above), so it has blocks, and each ends with a terminator; all come from
    // LLVM's iteration.
    let next = unsafe {
        let mut block = (f.LLVMGetFirstBasicBlock)(function);
        while !block.is_null() {
            blocks.push(block);
            block = (f.LLVMGetNextBasicBlock)(block);
        }
        let ends = blocks.iter().map(|&b| (f.LLVMGetBasicBlockTerminator)(b));
        let all =
            ends.map(|end| (0..(f.LLVMGetNumSuccessors)(end)).map(|n| (f.LLVMGetSuccessor)(end, n)).collect());
        all.collect::<Vec<Vec<BasicBlockRef>>>()
    };
    let numbers: HashMap<BasicBlockRef, usize> = blocks.iter().enumerate().map(|(n, &b)| (b, n)).collect();
    let next = next.iter().map(|all| all.iter().map(|b| numbers[b]).collect()).collect();
    let mut flow = Flow { f, times: vec![1; blocks.len()], blocks, numbers, next };
    let everything: BTreeSet<usize> = (0..flow.blocks.len()).collect();
    flow.loops(&everything, None);
    flow.blocks.iter().copied().zip(flow.times).collect()
}

impl Flow<'_> {
    /// Multiplies the bounds of the blocks in circles among these, in which edges to `head` don't count.
    fn loops(&mut self, region: &BTreeSet<usize>, head: Option<usize>) {
        for circle in self.circles(region, head) {
            let rounds = self.head(&circle).and_then(|head| Some((head, self.rounds(head, &circle)?)));
            for &block in &circle {
                let by = match rounds {
                    Some((head, rounds)) if block == head => rounds.head,
                    Some((_, rounds)) => rounds.others,
                    None => UNBOUNDED,
                };
                self.times[block] = self.times[block].saturating_mul(by);
            }
            if let Some((head, _)) = rounds {
                self.loops(&circle, Some(head));
            }
        }
    }

    fn edges<'s>(
        &'s self,
        from: usize,
        region: &'s BTreeSet<usize>,
        head: Option<usize>,
    ) -> impl Iterator<Item = usize> + 's {
        self.next[from].iter().copied().filter(move |to| region.contains(to) && Some(*to) != head)
    }

    /// The sets of blocks of which each leads to each, a block that leads to itself among them.
    fn circles(&self, region: &BTreeSet<usize>, head: Option<usize>) -> Vec<BTreeSet<usize>> {
        // Kosaraju: backwards in the order in which a first search leaves blocks, a second one follows edges backwards.
        let (mut seen, mut left) = (BTreeSet::new(), vec![]);
        for &root in region {
            let mut work = vec![(root, false)];
            while let Some((block, done)) = work.pop() {
                if done {
                    left.push(block);
                } else if seen.insert(block) {
                    work.push((block, true));
                    work.extend(self.edges(block, region, head).map(|b| (b, false)));
                }
            }
        }
        let mut before: HashMap<usize, Vec<usize>> = HashMap::new();
        for &block in region {
            for to in self.edges(block, region, head) {
                before.entry(to).or_default().push(block);
            }
        }
        let (mut taken, mut circles) = (BTreeSet::new(), vec![]);
        for &root in left.iter().rev() {
            let (mut circle, mut work) = (BTreeSet::new(), vec![root]);
            while let Some(block) = work.pop() {
                if taken.insert(block) {
                    circle.insert(block);
                    work.extend(before.get(&block).into_iter().flatten());
                }
            }
            if circle.len() > 1 || circle.iter().any(|&b| self.edges(b, region, head).any(|to| to == b)) {
                circles.push(circle);
            }
        }
        circles
    }

    /// The only block of a circle to which others lead.
    fn head(&self, circle: &BTreeSet<usize>) -> Option<usize> {
        let mut heads: BTreeSet<usize> = BTreeSet::new();
        heads.extend(circle.get(&0));
        let outside = self.next.iter().enumerate().filter(|(block, _)| !circle.contains(block));
        heads.extend(outside.flat_map(|(_, next)| next).filter(|block| circle.contains(block)));
        heads.first().copied().filter(|_| heads.len() == 1)
    }

    /// Does every round of a loop pass this block?
    fn always_passed(&self, block: usize, head: usize, circle: &BTreeSet<usize>) -> bool {
        let (mut seen, mut work) = (BTreeSet::from([block]), vec![head]);
        while let Some(at) = work.pop() {
            if seen.insert(at) {
                if self.next[at].contains(&head) {
                    return false;
                }
                work.extend(self.edges(at, circle, Some(head)));
            }
        }
        true
    }

    /// How often a loop's blocks are executed, each time the loop is begun.
    fn rounds(&self, head: usize, circle: &BTreeSet<usize>) -> Option<Rounds> {
        let mut least: Option<Rounds> = None;
        let mut instruction = self.first(head);
        while self.opcode(instruction) == Some(opcode::PHI) {
            if let Some(counter) = self.counter(instruction, circle) {
                for &block in circle {
                    let more = self.goes_on(block, &counter, circle);
                    if let Some(more) = more.filter(|_| self.always_passed(block, head, circle)) {
                        // Whoever asks at the head goes on that often, and asks once more.
                        let all = more.saturating_add(1);
                        let others = if block == head { more } else { all };
                        let before = least.unwrap_or(Rounds { head: UNBOUNDED, others: UNBOUNDED });
                        least = Some(Rounds { head: before.head.min(all), others: before.others.min(others) });
                    }
                }
            }
            // SAFETY: `instruction` is not null here, so it is one of the block (*Live handles*).
            instruction = unsafe { (self.f.LLVMGetNextInstruction)(instruction) };
        }
        least
    }

    fn first(&self, block: usize) -> ValueRef {
        // SAFETY: `blocks` are those of the function (*Live handles*), and `block` is a number of one.
        unsafe { (self.f.LLVMGetFirstInstruction)(self.blocks[block]) }
    }

    fn opcode(&self, value: ValueRef) -> Option<i32> {
        // SAFETY: `value` is null or live (*Live handles*), and is asked for its opcode if it is an instruction.
        unsafe {
            let instruction = !value.is_null() && (self.f.LLVMGetValueKind)(value) == value_kind::INSTRUCTION;
            instruction.then(|| (self.f.LLVMGetInstructionOpcode)(value))
        }
    }

    fn operand(&self, instruction: ValueRef, n: c_uint) -> ValueRef {
        // SAFETY: callers have asked for the opcode, and `n` is below the number of operands of such instructions.
        unsafe { (self.f.LLVMGetOperand)(instruction, n) }
    }

    fn constant(&self, value: ValueRef) -> Option<i64> {
        // SAFETY: `value` is live (*Live handles*), and a constant integer where its number is asked for; wider ones
        // are no counters.
        unsafe {
            let number = (self.f.LLVMGetValueKind)(value) == value_kind::INT;
            number.then(|| (self.f.LLVMConstIntGetSExtValue)(value))
        }
    }

    fn counter(&self, phi: ValueRef, circle: &BTreeSet<usize>) -> Option<Counter> {
        // SAFETY: callers have found that `phi` is one, and `n` is below the number of edges.
        let (width, incoming) = unsafe {
            let kind = (self.f.LLVMTypeOf)(phi);
            if (self.f.LLVMGetTypeKind)(kind) != type_kind::INTEGER {
                return None;
            }
            let count = (self.f.LLVMCountIncoming)(phi);
            let pair = |n| ((self.f.LLVMGetIncomingBlock)(phi, n), (self.f.LLVMGetIncomingValue)(phi, n));
            ((self.f.LLVMGetIntTypeWidth)(kind), (0..count).map(pair).collect::<Vec<_>>())
        };
        let (mut first, mut next) = (None, None);
        for (block, value) in incoming {
            match circle.contains(&self.numbers[&block]) {
                true if next.is_none_or(|n| n == value) => next = Some(value),
                false if first.is_none_or(|n| Some(n) == self.constant(value)) => {
                    first = Some(self.constant(value)?)
                }
                _ => return None,
            }
        }
        let (first, next) = (first?, next?);
        let [a, b] = match self.opcode(next) {
            Some(opcode::ADD | opcode::SUB) => [0, 1].map(|n| self.operand(next, n)),
            _ => return None,
        };
        let subtracted = self.opcode(next) == Some(opcode::SUB);
        let step = match (self.constant(a), self.constant(b)) {
            (None, Some(n)) if a == phi => n,
            (Some(n), None) if b == phi && !subtracted => n,
            _ => return None,
        };
        let step = if subtracted { step.checked_neg()? } else { step };
        (width <= 64 && step != 0).then_some(Counter { phi, next, width, first, step })
    }

    /// How often a block that may leave the loop goes on with it, one time after the other from the first.
    fn goes_on(&self, block: usize, counter: &Counter, circle: &BTreeSet<usize>) -> Option<u64> {
        // SAFETY: `blocks` are those of the function (*Live handles*), and each has a terminator.
        let end = unsafe { (self.f.LLVMGetBasicBlockTerminator)(self.blocks[block]) };
        if self.opcode(end) != Some(opcode::BR) || self.next[block].len() != 2 {
            return None;
        }
        let stays = [0, 1].map(|n| circle.contains(&self.next[block][n]));
        let test = self.operand(end, 0);
        if stays[0] == stays[1] || self.opcode(test) != Some(opcode::ICMP) {
            return None;
        }
        // SAFETY: the line above has found that `test` is a comparison of integers.
        let predicate = Predicate::of(unsafe { (self.f.LLVMGetICmpPredicate)(test) })?;
        let [a, b] = [0, 1].map(|n| self.operand(test, n));
        let (predicate, compared, limit) = match (self.constant(a), self.constant(b)) {
            (None, Some(limit)) => (predicate, a, limit),
            (Some(limit), None) => (predicate.swapped(), b, limit),
            _ => return None,
        };
        let predicate = if stays[0] { predicate } else { predicate.denied() };
        let ahead = match compared {
            v if v == counter.phi => 0,
            v if v == counter.next => 1,
            _ => return None,
        };
        counter.holds(predicate, limit, ahead)
    }
}

/// How often the head of a loop is executed, and each other block that is in no loop inside.
#[derive(Clone, Copy)]
struct Rounds {
    head: u64,
    others: u64,
}

/// A number that changes by a constant in every round.
struct Counter {
    phi: ValueRef,
    next: ValueRef,
    width: u32,
    first: i64,
    step: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A comparison of integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Predicate {
    order: Order,
    signed: bool,
}

impl Predicate {
    /// Of `LLVMIntPredicate`.
    fn of(number: i32) -> Option<Predicate> {
        use Order::*;
        let order = match number {
            32 => Equal,
            33 => Unequal,
            34 | 38 => Greater,
            35 | 39 => GreaterOrEqual,
            36 | 40 => Less,
            37 | 41 => LessOrEqual,
            _ => return None,
        };
        Some(Predicate { order, signed: number >= 38 })
    }

    /// With the operands the other way round.
    fn swapped(self) -> Predicate {
        use Order::*;
        let order = match self.order {
            Less => Greater,
            LessOrEqual => GreaterOrEqual,
            Greater => Less,
            GreaterOrEqual => LessOrEqual,
            same => same,
        };
        Predicate { order, ..self }
    }

    /// True where this one is false.
    fn denied(self) -> Predicate {
        use Order::*;
        let order = match self.order {
            Equal => Unequal,
            Unequal => Equal,
            Less => GreaterOrEqual,
            LessOrEqual => Greater,
            Greater => LessOrEqual,
            GreaterOrEqual => Less,
        };
        Predicate { order, ..self }
    }
}

impl Counter {
    /// How often, from the first round on, the comparison of the counter with `limit` holds before it fails: nothing
    /// if it may never fail, or only after the counter has overflowed. `ahead` rounds have been added to the counter.
    fn holds(&self, predicate: Predicate, limit: i64, ahead: i128) -> Option<u64> {
        let mask = (1i128 << self.width) - 1;
        let seen = |n: i64| if predicate.signed { i128::from(n) } else { i128::from(n) & mask };
        let (lowest, highest) = match predicate.signed {
            true => (-(1i128 << (self.width - 1)), (1i128 << (self.width - 1)) - 1),
            false => (0, mask),
        };
        let step = i128::from(self.step);
        let (first, limit) = (seen(self.first) + ahead * step, seen(limit));
        if first < lowest || first > highest {
            return None;
        }
        // Upwards to what is at least `end`, which is no number of this width if it is above `top`.
        let up = |first: i128, step: i128, end: i128, top: i128| {
            if first >= end {
                return Some(0);
            }
            if step <= 0 {
                return None;
            }
            let count = (end - first + step - 1) / step;
            (first + count * step <= top).then_some(count)
        };
        let count = match predicate.order {
            Order::Less => up(first, step, limit, highest),
            Order::LessOrEqual => up(first, step, limit + 1, highest),
            Order::Greater => up(-first, -step, -limit, -lowest),
            Order::GreaterOrEqual => up(-first, -step, 1 - limit, -lowest),
            Order::Equal => Some(i128::from(first == limit)),
            Order::Unequal => {
                let way = limit - first;
                (way % step == 0 && way / step >= 0).then(|| way / step)
            }
        };
        count.and_then(|n| u64::try_from(n).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Order::*;

    fn holds(width: u32, first: i64, step: i64, order: Order, signed: bool, limit: i64) -> Option<u64> {
        let nothing = std::ptr::null_mut();
        Counter { phi: nothing, next: nothing, width, first, step }.holds(Predicate { order, signed }, limit, 0)
    }

    /// What a counter of eight bits does, counted; nothing if it comes back to where it was, or has overflowed.
    fn counted(first: i8, step: i8, order: Order, signed: bool, limit: i8) -> Option<u64> {
        let value = |n: i8| if signed { i32::from(n) } else { i32::from(n as u8) };
        let (mut now, limit) = (value(first), value(limit));
        for round in 0..300 {
            let holds = match order {
                Equal => now == limit,
                Unequal => now != limit,
                Less => now < limit,
                LessOrEqual => now <= limit,
                Greater => now > limit,
                GreaterOrEqual => now >= limit,
            };
            if !holds {
                return Some(round);
            }
            now += i32::from(step);
            let fits = if signed { i8::try_from(now).is_ok() } else { u8::try_from(now).is_ok() };
            if !fits {
                // One step beyond what fits, `Equal` has failed; others are as they were, in some round.
                return (order == Equal).then_some(round + 1);
            }
        }
        None
    }

    #[test]
    fn counters_of_eight_bits_are_as_counted() {
        let numbers = [-128, -127, -100, -3, -1, 0, 1, 2, 7, 50, 99, 126, 127];
        for order in [Equal, Unequal, Less, LessOrEqual, Greater, GreaterOrEqual] {
            for signed in [false, true] {
                for first in numbers {
                    for step in [-128i8, -50, -3, -2, -1, 1, 2, 3, 50, 127] {
                        for limit in numbers {
                            let expected = counted(first, step, order, signed, limit);
                            let (f, s, l) = (i64::from(first), i64::from(step), i64::from(limit));
                            let found = holds(8, f, s, order, signed, l);
                            assert_eq!(found, expected, "{first} by {step} {order:?} {limit}, signed: {signed}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn wide_counters_don_t_overflow_unseen() {
        assert_eq!(holds(32, 0, 1, Less, true, 100), Some(100));
        assert_eq!(holds(32, 0, 1, LessOrEqual, true, i64::from(i32::MAX)), None);
        assert_eq!(holds(64, 0, 1, LessOrEqual, true, i64::MAX), None);
        assert_eq!(holds(64, 0, 3, Less, false, -1), Some(u64::MAX / 3));
        assert_eq!(holds(64, -1, -1, Greater, false, 0), Some(u64::MAX));
    }
}
