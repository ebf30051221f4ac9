//! Bounds: nothing is wider than the area it travels in. The verifier has its own idea of what an allocation takes.

use super::checker::Checker;
use crate::ir::*;
use cairn_core::prim::{Op as P, PrimOp};
use cairn_layout::limits::{CHECK_RESERVE, FRAME_WORDS_MAX, LIVE_MAX, OPERANDS_MAX, RED_ZONE};

/// Bytes that an operation takes from the nursery: a word before its operands, but none in a pair; two words at least.
pub(crate) fn allocated(op: &Op) -> u32 {
    let words = match op {
        Op::Closure { free, .. } => 1 + free.len(),
        Op::Prim(p) => match p.op {
            PrimOp::Op(P::Cons | P::MakeBox | P::MakePromise) => 2,
            PrimOp::Op(P::FlRectangular) => 3,
            PrimOp::Record => p.args.len(),
            PrimOp::Op(P::RawRecord | P::CompactRecord) => 1 + p.raw_words(),
            PrimOp::Vector | PrimOp::Opaque => 1 + p.args.len(),
            PrimOp::CCall => match p.c_struct_words() {
                Some(words) => 1 + words,
                None => return 0,
            },
            _ => return 0,
        },
        _ => return 0,
    };
    8 * words.max(2) as u32
}

impl Checker<'_> {
    /// Words of stack that a call must have asked for: what its frame has more than the one found at `sp`, unless it
    /// takes that one's place and ends within the red zone.
    pub(super) fn stack_needed(&self, frame: &Frame) -> Option<u32> {
        if !self.m.strategy.reuse {
            return if self.m.strategy.limit_check { Some(frame.words) } else { None };
        }
        let found = match &self.f.kind {
            FuncKind::Return { frame, .. } => frame.words,
            FuncKind::Body { .. } | FuncKind::Entry { .. } => 0,
        };
        let unasked = found > 0 && u64::from(frame.words) * 8 <= RED_ZONE;
        let more = frame.words.saturating_sub(found);
        (self.m.strategy.limit_check && more > 0 && !unasked).then_some(more)
    }

    /// What a function receives.
    pub(super) fn kind_bounds(&mut self) {
        match &self.f.kind {
            FuncKind::Entry { closure_words, clauses, .. } => {
                self.at_most(0, "free variables", (*closure_words as usize).saturating_sub(1), LIVE_MAX);
                for c in clauses {
                    self.at_most(0, "parameters", c.spread() as usize, OPERANDS_MAX);
                }
            }
            FuncKind::Body { params, .. } => self.at_most(0, "parameters", params.len(), OPERANDS_MAX),
            FuncKind::Return { frame, results, .. } => {
                self.at_most(0, "words of the frame", frame.words as usize, FRAME_WORDS_MAX as usize);
                if let Results::Multi { params, .. } = results {
                    self.at_most(0, "values", params.len(), OPERANDS_MAX);
                }
            }
        }
    }

    /// What a block keeps, allocates and hands over.
    pub(super) fn block_bounds(&mut self, i: usize, b: &Block) {
        for (k, s) in b.stmts.iter().enumerate() {
            match s {
                Stmt::HeapCheck { bytes, live } => {
                    self.at_most(i, "live variables", live.len(), LIVE_MAX);
                    let left = left_after_closures(&b.stmts[k + 1..], *bytes);
                    self.at_most(i, "bytes of a heap check", left as usize, CHECK_RESERVE as usize);
                }
                Stmt::StackCheck { live, .. } | Stmt::StopCheck { live } => {
                    self.at_most(i, "live variables", live.len(), LIVE_MAX);
                }
                Stmt::Assign(_, op) | Stmt::Effect(op) => {
                    self.at_most(i, "bytes of an allocation", allocated(op) as usize, CHECK_RESERVE as usize);
                }
            }
        }
        match &b.term {
            Term::ReturnMulti(values) => self.at_most(i, "values", values.len(), OPERANDS_MAX),
            Term::TailCall { args, .. } => self.at_most(i, "operands", args.len(), OPERANDS_MAX),
            Term::Call { args, frame, .. } => {
                self.at_most(i, "operands", args.len(), OPERANDS_MAX);
                self.at_most(i, "words of the frame", frame.frame.words as usize, FRAME_WORDS_MAX as usize);
            }
            Term::Goto(_) | Term::Branch { .. } | Term::Return(_) => {}
        }
    }

    fn at_most(&mut self, i: usize, what: &str, n: usize, limit: usize) {
        if n > limit {
            self.error(i, format!("{n} {what}, the limit is {limit}"));
        }
    }
}

/// What is left of a heap check of `bytes` bytes when something else than making and patching closures comes. Nothing
/// calls the runtime before, so a check for closures that refer to each other may ask for more than the runtime leaves.
fn left_after_closures(stmts: &[Stmt], bytes: u32) -> u32 {
    let mut left = bytes;
    for s in stmts {
        match s {
            Stmt::Assign(_, op @ Op::Closure { .. }) => left = left.saturating_sub(allocated(op)),
            Stmt::Effect(Op::ClosurePatch { .. }) => {}
            _ => break,
        }
    }
    left
}
