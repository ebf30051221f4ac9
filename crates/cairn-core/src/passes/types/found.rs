//! What variables of a program hold whenever they are bound: what the analysis has found of a whole program, for those
//! that compile a part of it ([`super::held`]).
//!
//! Invariant: of a variable some of whose bindings are in copies under other names, nothing is said: what these were
//! given may have gone from the program with them.

use super::lattice::{Type, bits};
use super::state::Types;
use crate::ir::{GlobalId, Held, Program, VarId};
use crate::passes::known;
use std::rc::Rc;

/// What an analysis of the program says of its variables.
pub(crate) struct Found {
    pub(crate) vars: Vec<(VarId, Rc<Held>)>,
    pub(crate) globals: Vec<(GlobalId, Rc<Held>)>,
}

/// Analyses the whole program, which stays as it is. Dialect `Fixed` or `Opt`.
pub(crate) fn of_program(program: &mut Program) -> Found {
    let facts = known::analyze(program);
    let mut forms = std::mem::take(&mut program.forms);
    let mut types = Types::new(program, facts, &forms);
    types.env.note_bound();
    types.find(&mut forms);
    program.forms = forms;
    let vars = (0..program.vars.len() as u32).map(VarId).filter(|v| !program.vars[v.0 as usize].copied);
    let globals = (0..program.globals.len() as u32).map(GlobalId);
    Found {
        vars: vars.filter_map(|v| Some((v, types.held_by(v)?.into()))).collect(),
        globals: globals.filter_map(|g| Some((g, types.held_by_global(g)?.into()))).collect(),
    }
}

/// Vectors in vectors are looked into so deep.
const DEPTH: usize = 3;

impl Types {
    fn held_by(&self, v: VarId) -> Option<Held> {
        let boxed = self.slots.is_box(v);
        let t = if boxed { self.slots.contents(v) } else { self.env.bound(v) };
        let elements = self.elements(self.slots.vectors.class_of_var(v, boxed), DEPTH);
        told(Held { boxed, elements, ..held(t) })
    }

    fn held_by_global(&self, g: GlobalId) -> Option<Held> {
        let elements = self.elements(self.slots.vectors.class_of_global(g), DEPTH);
        let fields = self.slots.records.contents(g).into_iter();
        let fields = fields.filter_map(|(code, t)| Some((code, told(held(t))?.into()))).collect();
        told(Held { elements, fields, ..held(self.slots.said(g)) })
    }

    fn elements(&self, class: Option<u32>, depth: usize) -> Option<Rc<Held>> {
        let (t, class) = self.slots.vectors.contents(class?)?;
        let elements = if depth > 1 { self.elements(Some(class), depth - 1) } else { None };
        told(Held { elements, ..held(t) }).map(Rc::new)
    }
}

fn held(t: Type) -> Held {
    let Type { kinds, lo, hi, rtd, hint: _ } = t;
    Held { kinds, range: (lo, hi), record_type: rtd, boxed: false, elements: None, fields: Vec::new() }
}

/// What is worth telling: something is known of it, and it is reached.
fn told(held: Held) -> Option<Held> {
    (held.kinds != 0 && (held.kinds != bits::ANY || held.elements.is_some())).then_some(held)
}
