//! A function's blocks as a graph: its loops, and how they are cut.

use crate::ir::*;
use crate::uses;
use std::collections::{HashMap, HashSet};

/// Does control that passes this block again and again get to the runtime soon after a stop is requested?
pub(super) fn stops(b: &Block) -> bool {
    b.stmts.iter().any(Stmt::stops)
}

fn successors(b: &Block) -> Vec<usize> {
    uses::successors(&b.term).iter().map(|s| s.0 as usize).collect()
}

/// A function's blocks while its loops are cut.
pub(super) struct LoopGraph {
    successors: Vec<Vec<usize>>,
    /// In reverse postorder; a copy has its original's number.
    number: Vec<usize>,
    /// Has it no safepoint?
    quiet: Vec<bool>,
}

impl LoopGraph {
    /// The graph of a function, and the headers of its loops, inner ones first.
    pub(super) fn of(f: &Function) -> (LoopGraph, Vec<usize>) {
        let successors: Vec<Vec<usize>> = f.blocks.iter().map(successors).collect();
        let order = reverse_postorder(&successors);
        let mut graph = LoopGraph { number: vec![usize::MAX; f.blocks.len()], quiet: vec![], successors };
        order.iter().enumerate().for_each(|(i, b)| graph.number[*b] = i);
        graph.quiet = f.blocks.iter().map(|b| !stops(b)).collect();
        let mut is_header = vec![false; f.blocks.len()];
        for &b in &order {
            let back = graph.successors[b].iter().filter(|s| graph.number[b] >= graph.number[**s]);
            back.for_each(|s| is_header[*s] = true);
        }
        let headers = order.into_iter().rev().filter(|b| is_header[*b]).collect();
        (graph, headers)
    }

    /// The blocks on cycles without a safepoint through a header, in its own loop: the header first, or none.
    pub(super) fn quiet_loop(&self, header: usize) -> Vec<usize> {
        self.loop_of(header, |b| self.quiet[b])
    }

    /// The blocks on cycles through a header, in its own loop.
    pub(super) fn whole_loop(&self, header: usize) -> Vec<usize> {
        self.loop_of(header, |_| true)
    }

    fn loop_of(&self, header: usize, may_have: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut predecessors: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut reached = HashSet::new();
        let mut work = if may_have(header) { vec![header] } else { vec![] };
        while let Some(b) = work.pop() {
            if !reached.insert(b) {
                continue;
            }
            for &s in &self.successors[b] {
                if s == header || may_have(s) && self.number[s] > self.number[header] {
                    predecessors.entry(s).or_default().push(b);
                    work.push(s);
                }
            }
        }
        let mut body = vec![];
        let mut found = HashSet::new();
        let mut work = vec![header];
        while let Some(b) = work.pop() {
            for p in predecessors.get(&b).into_iter().flatten() {
                if found.insert(*p) {
                    body.push(*p);
                    work.push(*p);
                }
            }
        }
        if let Some(at) = body.iter().position(|b| *b == header) {
            body.swap(0, at);
        }
        body
    }

    /// Lets the loop's rounds go through this many copies of its body, and then through a new, empty block, which it
    /// returns.
    pub(super) fn cut(&mut self, f: &mut Function, header: usize, body: &[usize], copies: usize) -> usize {
        let first = f.blocks.len();
        let stop = first + copies * body.len();
        let place =
            |round: usize, i: usize| if round == 0 { body[i] } else { first + (round - 1) * body.len() + i };
        let target = |round: usize, s: usize| match body.iter().position(|b| *b == s) {
            Some(0) if round == copies => stop,
            Some(0) => place(round + 1, 0),
            Some(i) => place(round, i),
            None => s,
        };
        debug_assert_eq!(body[0], header);
        let originals: Vec<Block> = body.iter().map(|b| f.blocks[*b].clone()).collect();
        for round in 0..=copies {
            for (i, original) in originals.iter().enumerate() {
                let mut block = original.clone();
                uses::retarget(&mut block.term, |s| BlockId(target(round, s.0 as usize) as u32));
                let next = successors(&block);
                if round == 0 {
                    f.blocks[body[i]] = block;
                    self.successors[body[i]] = next;
                } else {
                    f.blocks.push(block);
                    self.successors.push(next);
                    self.number.push(self.number[body[i]]);
                    self.quiet.push(true);
                }
            }
        }
        f.blocks.push(Block { stmts: vec![], term: Term::Goto(BlockId(header as u32)) });
        self.successors.push(vec![header]);
        self.number.push(self.number[header]);
        self.quiet.push(false);
        stop
    }
}

/// Blocks reachable from block 0 in reverse postorder.
fn reverse_postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = vec![];
    let mut stack = vec![];
    if !successors.is_empty() {
        seen[0] = true;
        stack.push((0, 0));
    }
    while let Some((b, i)) = stack.pop() {
        match successors[b].get(i) {
            Some(&s) => {
                stack.push((b, i + 1));
                if !std::mem::replace(&mut seen[s], true) {
                    stack.push((s, 0));
                }
            }
            None => order.push(b),
        }
    }
    order.reverse();
    order
}
