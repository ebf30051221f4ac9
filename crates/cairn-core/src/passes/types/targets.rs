//! What is known of procedures whose calls are seen, and of labels. The rules that find it out are in
//! [`super::control`], those for several values in [`super::several`].

use super::env::{Fact, Mark};
use super::lattice::{Slot, Type};
use crate::ir::{Expr, GlobalId, Lambda, VarId};
use rustc_hash::FxHashMap;

/// What is known about a procedure that is called by name.
pub(super) struct Procedure {
    /// Parameters and rest parameter of each clause.
    pub(super) clauses: Vec<(Vec<VarId>, Option<VarId>)>,
    /// Clauses that are called by some code reached so far.
    pub(super) reached: Vec<bool>,
    /// May be called by code we do not see.
    pub(super) escaped: bool,
    pub(super) result: Slot,
    /// Its results when they are not one.
    pub(super) several: Several,
    /// The form it is defined in.
    pub(super) form: usize,
    /// Forms that use the result.
    pub(super) callers: Vec<usize>,
}

/// What is known about a label.
#[derive(Default)]
pub(super) struct Target {
    pub(super) params: Vec<VarId>,
    pub(super) reached: bool,
    /// Some jump to it comes from its own body or a later one: what other jumps know may not hold.
    pub(super) looping: bool,
    /// In this walk, its body has been entered.
    pub(super) entered: bool,
    /// Where its `Labels` begins.
    pub(super) mark: Mark,
    /// In the last walk: the types of the arguments of jumps after it was entered.
    pub(super) inner: Vec<Type>,
    /// What all jumps seen in this walk know.
    pub(super) facts: Option<Vec<Fact>>,
}

/// A procedure that is called by name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ProcedureId(u32);

/// The procedures that are called by name.
pub(super) struct Procedures {
    all: Vec<Procedure>,
    /// By the variable they are bound to.
    local: Vec<Option<ProcedureId>>,
    global: Vec<Option<ProcedureId>>,
    /// Length of the trail where a local procedure was bound.
    marks: FxHashMap<ProcedureId, usize>,
}

impl Procedures {
    /// An empty table for this many variables and globals.
    pub(super) fn new(vars: usize, globals: usize) -> Procedures {
        let (local, global) = (vec![None; vars], vec![None; globals]);
        Procedures { all: Vec::new(), local, global, marks: FxHashMap::default() }
    }

    /// The procedure defined as a global in `form`.
    pub(super) fn define(&mut self, g: GlobalId, l: &Lambda, form: usize) {
        self.global[g.0 as usize] = Some(self.add(l, form));
    }

    pub(super) fn local(&self, v: VarId) -> Option<ProcedureId> {
        self.local[v.0 as usize]
    }

    pub(super) fn global(&self, g: GlobalId) -> Option<ProcedureId> {
        self.global[g.0 as usize]
    }

    /// The procedure that `f` names.
    pub(super) fn named(&self, f: &Expr) -> Option<ProcedureId> {
        match f {
            Expr::Local(v) => self.local(*v),
            Expr::Global(g, _) => self.global(*g),
            _ => None,
        }
    }

    fn add(&mut self, l: &Lambda, form: usize) -> ProcedureId {
        self.all.push(Procedure {
            clauses: l.clauses.iter().map(|c| (c.params.clone(), c.rest)).collect(),
            reached: vec![false; l.clauses.len()],
            escaped: false,
            result: Slot::default(),
            several: Several::default(),
            form,
            callers: Vec::new(),
        });
        ProcedureId(self.all.len() as u32 - 1)
    }

    /// The procedure of a lambda in `form` that is bound to `v` where the trail has this length.
    pub(super) fn bind(&mut self, v: VarId, l: &Lambda, form: usize, trail: usize) {
        let p = self.local(v).unwrap_or_else(|| self.add(l, form));
        self.local[v.0 as usize] = Some(p);
        self.marks.insert(p, trail);
    }

    /// Length of the trail where it was bound; none for a global.
    pub(super) fn bound_at(&self, p: ProcedureId) -> usize {
        self.marks.get(&p).copied().unwrap_or(0)
    }

    /// What it returns when that is not one value.
    pub(super) fn several(&mut self, p: ProcedureId) -> &mut Several {
        &mut self.get(p).several
    }

    pub(super) fn get(&mut self, p: ProcedureId) -> &mut Procedure {
        &mut self.all[p.0 as usize]
    }
}

/// What a procedure returns when that is not one value.
#[derive(Default)]
pub(super) struct Several {
    /// By their number.
    pub(super) counts: Vec<(usize, Vec<Slot>)>,
    /// Any number of any values.
    pub(super) unknown: bool,
}

impl Several {
    pub(super) fn grow(&mut self, types: &[Type]) -> bool {
        let at = self.counts.iter().position(|(n, _)| *n == types.len()).unwrap_or_else(|| {
            self.counts.push((types.len(), vec![Slot::default(); types.len()]));
            self.counts.len() - 1
        });
        let slots = &mut self.counts[at].1;
        slots.iter_mut().zip(types).fold(false, |news, (s, t)| s.grow(*t, &[]) | news)
    }

    pub(super) fn of(&self, n: usize) -> Option<Vec<Type>> {
        let (_, slots) = self.counts.iter().find(|(m, _)| *m == n)?;
        Some(slots.iter().map(|s| s.ty).collect())
    }
}
