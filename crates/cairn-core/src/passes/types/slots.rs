//! What flows against the order of the walk: types of parameters, contents of boxes and globals.
//!
//! A slot starts empty and grows; whoever has read it must then be walked again. What a slot says is true when nothing
//! grows any more.

use super::held::Facts;
use super::lattice::{Slot, Type};
use super::question::compared_constants;
use super::records::Records;
use super::vectors::Vectors;
use crate::ir::{GlobalId, Program, TopForm, VarId};
use crate::passes::known::GlobalFacts;
use rustc_hash::FxHashMap;

pub(super) struct Slots {
    /// Types of parameters of labels and of known procedures; contents of boxes. Indexed by `VarId`.
    vars: Vec<Slot>,
    /// The fixnums that parameters are tested for.
    constants: FxHashMap<VarId, Vec<i64>>,
    /// Boxes; is their every use seen?
    boxes: FxHashMap<VarId, bool>,
    /// Contents of globals that are no known procedures.
    globals: Vec<Slot>,
    /// Forms that read them.
    readers: Vec<Vec<usize>>,
    /// Some definition is in the program.
    defined: Vec<bool>,
    /// Fields of records.
    pub(super) records: Records,
    /// Elements of vectors.
    pub(super) vectors: Vectors,
    /// Some flonum is stored in some object: what comes out of objects may be one.
    pub(super) stored_flonums: bool,
    pub(super) held: Facts,
}

impl Slots {
    pub(super) fn new(program: &Program, facts: &GlobalFacts, forms: &[TopForm], held: Facts) -> Slots {
        let globals = program.globals.len();
        let records = Records::new(program, forms);
        let mut slots = Slots {
            vars: vec![Slot::default(); program.vars.len()],
            constants: compared_constants(forms),
            boxes: FxHashMap::default(),
            globals: vec![Slot::default(); globals],
            readers: vec![Vec::new(); globals],
            defined: vec![false; globals],
            vectors: Vectors::new(program, facts, forms, &records),
            records,
            stored_flonums: false,
            held,
        };
        for form in forms {
            if let TopForm::Define(g, _) = form {
                slots.defined[g.0 as usize] = true;
            }
        }
        slots
    }

    /// What the slot of a parameter or box holds so far.
    pub(super) fn get(&self, v: VarId) -> Type {
        self.vars[v.0 as usize].ty
    }

    /// Says whether that is news.
    pub(super) fn grow(&mut self, v: VarId, t: Type) -> bool {
        let constants = self.constants.get(&v).map_or(&[][..], |c| c);
        self.vars[v.0 as usize].grow(self.held.var(v, t), constants)
    }

    /// `v` is bound to a fresh box.
    pub(super) fn make_box(&mut self, v: VarId) {
        self.boxes.entry(v).or_insert(true);
    }

    pub(super) fn is_box(&self, v: VarId) -> bool {
        self.boxes.contains_key(&v)
    }

    /// Contents of a box whose uses are all seen, else `ANY`.
    pub(super) fn contents(&self, v: VarId) -> Type {
        if self.boxes.get(&v) == Some(&true) { self.get(v) } else { Type::ANY }
    }

    /// `v` is used where we do not see what happens to it; says whether it is a box and that is news.
    pub(super) fn lose_sight(&mut self, v: VarId) -> bool {
        self.boxes.get_mut(&v).is_some_and(|seen| std::mem::replace(seen, false))
    }

    /// Contents of a global, read in form `reader`.
    pub(super) fn global(&mut self, g: GlobalId, reader: usize) -> Type {
        let at = g.0 as usize;
        if !self.defined[at] {
            return Type::ANY;
        }
        if !self.readers[at].contains(&reader) {
            self.readers[at].push(reader);
        }
        self.held.global(g, self.globals[at].ty)
    }

    /// What was found of a global.
    pub(super) fn said(&self, g: GlobalId) -> Type {
        self.globals[g.0 as usize].ty
    }

    /// The forms that must be walked again because a global holds more than they saw.
    pub(super) fn grow_global(&mut self, g: GlobalId, t: Type) -> Vec<usize> {
        if self.globals[g.0 as usize].grow(t, &[]) { self.readers[g.0 as usize].clone() } else { Vec::new() }
    }
}
