//! What holds at the point of the walk: the type of every variable, the answers of the tests on the way here.
//!
//! Local variables are immutable, so a fact stays true in everything that comes after it. What a branch adds is taken
//! back when it is left: the trail remembers what held before. What both ways out of a test add holds after it
//! ([`either`]).

use super::held::Facts;
use super::lattice::Type;
use super::question::Question;
use crate::ir::VarId;
use rustc_hash::{FxHashMap, FxHashSet};

/// A fact: from here on the variable has the type.
pub(super) type Fact = (VarId, Type);

/// A point of the walk, to come back to.
#[derive(Clone, Copy, Default)]
pub(super) struct Mark {
    /// Length of the trail.
    pub(super) trail: usize,
    clock: u32,
}

/// Jumps that know more say nothing: comparing facts must stay cheap.
const MAX_FACTS: usize = 64;

/// How many answers are looked at.
const MEMORY: usize = 16;

pub(super) struct Env {
    /// Indexed by `VarId`.
    types: Vec<Type>,
    /// Facts to take back when leaving a branch: the variable and what held before.
    trail: Vec<Fact>,
    /// When a variable was bound, in ticks of `clock`.
    born: Vec<u32>,
    clock: u32,
    /// Answers of the tests around the expression being walked.
    answers: Vec<(Question, bool)>,
    held: Facts,
    /// What each variable was ever bound to, if anybody wants to know.
    bound: Option<Vec<Type>>,
}

impl Env {
    /// Nothing is known about any of this many variables, but for these facts.
    pub(super) fn new(vars: usize, held: Facts) -> Env {
        Env {
            types: vec![Type::ANY; vars],
            trail: Vec::new(),
            born: vec![0; vars],
            clock: 0,
            answers: Vec::new(),
            held,
            bound: None,
        }
    }

    /// From here on, notes what variables are bound to.
    pub(super) fn note_bound(&mut self) {
        self.bound = Some(vec![Type::NONE; self.types.len()]);
    }

    /// What a variable was ever bound to since [`Env::note_bound`].
    pub(super) fn bound(&self, v: VarId) -> Type {
        let noted = self.bound.as_ref().and_then(|b| b.get(v.0 as usize));
        noted.copied().unwrap_or(Type::NONE)
    }

    /// One more variable, of which nothing is known.
    pub(super) fn add(&mut self) -> VarId {
        self.types.push(Type::ANY);
        self.born.push(0);
        VarId(self.types.len() as u32 - 1)
    }

    pub(super) fn get(&self, v: VarId) -> Type {
        self.types[v.0 as usize]
    }

    /// What is known of a variable that may have been made since.
    pub(super) fn knows(&self, v: VarId) -> Type {
        self.types.get(v.0 as usize).copied().unwrap_or(Type::ANY)
    }

    /// Binds `v`.
    pub(super) fn bind(&mut self, v: VarId, t: Type) {
        self.clock += 1;
        self.born[v.0 as usize] = self.clock;
        self.types[v.0 as usize] = self.held.var(v, t);
        if let Some(bound) = self.bound.as_mut().and_then(|b| b.get_mut(v.0 as usize)) {
            *bound = bound.join(t);
        }
    }

    /// From here on, `v` has type `t`, which is within what was known.
    pub(super) fn refine(&mut self, v: VarId, t: Type) {
        let old = std::mem::replace(&mut self.types[v.0 as usize], t);
        if old != t {
            self.trail.push((v, old));
        }
    }

    pub(super) fn assume(&mut self, facts: &[Fact]) {
        for (v, t) in facts {
            let t = self.get(*v).meet(*t);
            self.refine(*v, t);
        }
    }

    /// Is the code here never reached, given these facts?
    pub(super) fn contradicts(&self, facts: &[Fact]) -> bool {
        facts.iter().any(|(v, _)| self.get(*v).is_none())
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { trail: self.trail.len(), clock: self.clock }
    }

    /// Takes back the facts since the trail had this length.
    pub(super) fn undo(&mut self, trail: usize) {
        while self.trail.len() > trail {
            if let Some((v, t)) = self.trail.pop() {
                self.types[v.0 as usize] = t;
            }
        }
    }

    /// Takes back the facts since `mark`; returns them for variables bound before.
    pub(super) fn leave(&mut self, mark: Mark) -> Vec<Fact> {
        let mut facts: Vec<Fact> = Vec::new();
        while self.trail.len() > mark.trail {
            let Some((v, old)) = self.trail.pop() else { break };
            let now = std::mem::replace(&mut self.types[v.0 as usize], old);
            if self.born[v.0 as usize] <= mark.clock {
                facts.push((v, now));
            }
        }
        // the last fact about a variable is the strongest and came off the trail first
        let mut seen = FxHashSet::default();
        facts.retain(|(v, _)| seen.insert(*v));
        facts
    }

    /// Takes back all facts since the trail had this length, and returns them.
    pub(super) fn take_back(&mut self, trail: usize) -> Vec<Fact> {
        self.leave(Mark { trail, clock: self.clock })
    }

    /// The facts since `mark` about variables bound before; none if they are too many.
    pub(super) fn since(&self, mark: Mark) -> Vec<Fact> {
        let mut known: Vec<Fact> = Vec::new();
        if self.trail.len() - mark.trail <= MAX_FACTS {
            for (v, _) in &self.trail[mark.trail..] {
                if self.born[v.0 as usize] <= mark.clock && !known.iter().any(|(k, _)| k == v) {
                    known.push((*v, self.get(*v)));
                }
            }
        }
        known
    }

    /// The question was answered on the way into a branch. Returns what [`Env::forget`] needs to come out again.
    pub(super) fn remember(&mut self, question: Option<Question>, answer: bool) -> usize {
        let before = self.answers.len();
        self.answers.extend(question.map(|q| (q, answer)));
        before
    }

    pub(super) fn forget(&mut self, before: usize) {
        self.answers.truncate(before);
    }

    /// The answer, if the question was asked on the way here.
    pub(super) fn answered(&self, q: Question) -> Option<bool> {
        self.answers.iter().rev().take(MEMORY).find(|(p, _)| *p == q).map(|(_, answer)| *answer)
    }
}

/// Facts that hold whichever of two ways was taken.
pub(super) fn either(a: &[Fact], b: &[Fact]) -> Vec<Fact> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let other: FxHashMap<VarId, Type> = b.iter().copied().collect();
    a.iter().filter_map(|(v, t)| other.get(v).map(|u| (*v, t.join(*u)))).collect()
}
