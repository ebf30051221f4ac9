//! Facts that frame strategies and collectors publish. Code generation reads these; it never asks "which
//! strategy is this". Those of collectors are in [`crate::collector`].

use crate::collector::{Ambiguity, Barrier};
pub use crate::collector::{BDW, COLLECTORS, CollectorFacts, GEN, MARKSWEEP, MCC, collector};

/// The ways of keeping frames. The compiler's table of lowerings and the runtime's of strategies are `match`es on this,
/// so that a new row lacks nothing unnoticed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum FrameKind {
    /// Linked stack chunks.
    Chunks,
    /// Heap records.
    Heap,
    /// One contiguous stack with a guard page.
    Stack,
    /// One object that grows by copying.
    Resize,
    /// Linked frames from a free list.
    Quasi,
    /// The back end's own.
    Native,
}

impl FrameKind {
    /// What the strategy publishes.
    pub const fn facts(self) -> &'static StrategyFacts {
        STRATEGIES[self as usize]
    }
}

/// How a procedure lies in code, and so how it is called and left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activations {
    /// Cut at its calls into functions: calls and returns are jumps, and frames are ours.
    Split,
    /// One function with its return points inside: calls are `call`, returns `ret`, and frames what LLVM makes of them.
    /// Nothing is known of their words but where return addresses are.
    Joined,
}

/// What code generation needs to know about a frame strategy.
#[derive(Debug, PartialEq, Eq)]
pub struct StrategyFacts {
    /// The one name: flag value, folder, test folder, report row.
    pub name: &'static str,
    /// What the tables of both sides know it by; its position in [`STRATEGIES`].
    pub kind: FrameKind,
    /// Frames are immutable heap records: allocated at each call, counted in heap checks, never popped.
    pub frames_in_heap: bool,
    /// Words before the first slot: return address (and parent frame, when frames are in the heap).
    pub header_words: u32,
    /// A frame may be kept and updated in place from one call of an activation to the next.
    pub reuse: bool,
    /// Pushing a frame asks whether there is room: checks `Machine::stack_guard`.
    pub limit_check: bool,
    /// How a procedure lies in code.
    pub activations: Activations,
    /// One line for the manual.
    pub summary: &'static str,
}

impl StrategyFacts {
    /// Are procedures [`Activations::Joined`]?
    pub const fn is_joined(&self) -> bool {
        matches!(self.activations, Activations::Joined)
    }
    /// Does every frame beyond those there are cost a check, at which a stop can be served? If not, recursion has to be
    /// asked for stops like loops.
    pub const fn every_push_asks(&self) -> bool {
        self.limit_check || self.frames_in_heap
    }
}

/// Why programs with such frames cannot run with a collector, if they cannot.
pub fn why_apart(frames: &StrategyFacts, collector: &CollectorFacts) -> Option<String> {
    if !frames.is_joined() {
        return None;
    }
    let why = match (collector.barrier, collector.ambiguity) {
        (Barrier::None, Ambiguity::Words) => return None,
        (Barrier::None, Ambiguity::References) => {
            "takes no address of the middle of an object for a reference to it"
        }
        (Barrier::None, Ambiguity::None) => "wants to know all references precisely",
        (Barrier::Card, _) => "does not look at all frames each time",
    };
    Some(format!(
        "of native frames nothing is known but where they are, and the collector `{}` {why} (try --gc=marksweep or --gc=mcc)",
        collector.name
    ))
}

/// The collector of programs with such frames, if none is chosen: the usual one, or the quickest of those that can be.
pub fn collector_for(frames: &StrategyFacts) -> &'static CollectorFacts {
    let serves = |c: &&CollectorFacts| why_apart(frames, c).is_none();
    let usual = COLLECTORS[0];
    if serves(&usual) { usual } else { COLLECTORS.iter().copied().rfind(serves).unwrap_or(usual) }
}

/// Linked chunks of 32 KiB (the default).
pub const CHUNKS: StrategyFacts = StrategyFacts {
    name: "chunks",
    kind: FrameKind::Chunks,
    frames_in_heap: false,
    header_words: 1,
    reuse: true,
    limit_check: true,
    activations: Activations::Split,
    summary: "linked stack chunks of 32 KiB; call/cc splits a chunk in constant time",
};

/// Immutable heap records.
pub const HEAP: StrategyFacts = StrategyFacts {
    name: "heap",
    kind: FrameKind::Heap,
    frames_in_heap: true,
    header_words: 2,
    reuse: false,
    limit_check: false,
    activations: Activations::Split,
    summary: "every frame is an immutable heap record (Appel & Shao 1996); call/cc is free",
};

/// One reserved region, grown by page faults.
pub const STACK: StrategyFacts = StrategyFacts {
    name: "stack",
    kind: FrameKind::Stack,
    frames_in_heap: false,
    header_words: 1,
    reuse: true,
    limit_check: false,
    activations: Activations::Split,
    summary: "one contiguous stack with a guard page instead of checks; call/cc copies it",
};

/// One object, doubled on overflow.
pub const RESIZE: StrategyFacts = StrategyFacts {
    name: "resize",
    kind: FrameKind::Resize,
    frames_in_heap: false,
    header_words: 1,
    reuse: true,
    limit_check: true,
    activations: Activations::Split,
    summary: "one stack object, doubled by copying and scanned whole (Marlow's \"old way\"); call/cc copies it",
};

/// Linked frames, written once, from a free list.
pub const QUASI: StrategyFacts = StrategyFacts {
    name: "quasi",
    kind: FrameKind::Quasi,
    frames_in_heap: false,
    header_words: 2,
    reuse: false,
    limit_check: true,
    activations: Activations::Split,
    summary: "linked frames of eight words from a free list (Danvy's quasi-stack); captured ones stay where they are",
};

/// The frames that LLVM makes, left by `ret`.
pub const NATIVE: StrategyFacts = StrategyFacts {
    name: "native",
    kind: FrameKind::Native,
    frames_in_heap: false,
    header_words: 1,
    reuse: true,
    limit_check: false,
    activations: Activations::Joined,
    summary: "LLVM's own frames, call and ret (Smith & Morrisett 1998), for collectors that take ambiguous roots; call/cc \
              copies what is new",
};

/// All frame strategies; the index is `ModuleTable::strategy`.
pub const STRATEGIES: &[&StrategyFacts] = &[&CHUNKS, &HEAP, &STACK, &RESIZE, &QUASI, &NATIVE];

/// Those whose frames say which of their words are references, for every collector.
pub const PRECISE: &[&StrategyFacts] = &[&CHUNKS, &HEAP, &STACK, &RESIZE, &QUASI];

/// The strategy with this name.
pub fn strategy(name: &str) -> Option<&'static StrategyFacts> {
    STRATEGIES.iter().copied().find(|s| s.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_are_found_by_kind_and_by_name() {
        for s in STRATEGIES {
            assert_eq!(s.kind.facts(), *s);
            assert_eq!(strategy(s.name), Some(*s));
            assert_eq!(PRECISE.contains(s), !s.is_joined());
        }
    }
}
