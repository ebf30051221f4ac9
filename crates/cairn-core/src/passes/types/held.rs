//! What variables hold whenever they are bound, as an analysis of the whole program has found it: from there to the
//! analysis of a part.
//!
//! ```text
//!  whole program ── find ──▶ [`super::found`]: facts ──▶ `VarInfo::held` ──▶ [`Facts`] in the walks of a part, whose
//!                                                                         callers are not in it
//! ```
//!
//! Invariant: a fact is about every binding of a variable, so it holds in copies of the code, too.

use super::lattice::Type;
use crate::ir::{Expr, GlobalId, Held, Program, VarId};
use crate::prim::{Op, PrimOp};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What the program's variables are said to hold.
#[derive(Clone, Default)]
pub(super) struct Facts(Rc<Tables>);

#[derive(Default)]
struct Tables {
    vars: FxHashMap<VarId, Rc<Held>>,
    boxes: FxHashMap<VarId, Rc<Held>>,
    globals: FxHashMap<GlobalId, Rc<Held>>,
    cells: FxHashMap<GlobalId, Rc<Held>>,
}

impl Facts {
    pub(super) fn of(program: &Program) -> Facts {
        let mut tables = Tables::default();
        for (i, info) in program.vars.iter().enumerate() {
            if let Some(held) = &info.held {
                let of = if held.boxed { &mut tables.boxes } else { &mut tables.vars };
                of.insert(VarId(i as u32), held.clone());
            }
        }
        for (i, info) in program.globals.iter().enumerate() {
            if let Some(held) = &info.held {
                let of = if info.import.is_some() { &mut tables.cells } else { &mut tables.globals };
                of.insert(GlobalId(i as u32), held.clone());
            }
        }
        Facts(tables.into())
    }

    /// A variable that is bound to a value of type `t`.
    pub(super) fn var(&self, v: VarId, t: Type) -> Type {
        narrow(self.0.vars.get(&v), t)
    }

    /// A global variable whose contents have type `t`.
    pub(super) fn global(&self, g: GlobalId, t: Type) -> Type {
        narrow(self.0.globals.get(&g), t)
    }

    /// The contents of the box in a variable.
    pub(super) fn in_box(&self, v: VarId) -> Option<Type> {
        self.0.boxes.get(&v).map(|held| type_of(held))
    }

    /// The contents of an imported cell.
    pub(super) fn in_cell(&self, g: GlobalId) -> Option<Type> {
        self.0.cells.get(&g).map(|held| type_of(held))
    }

    /// The elements of the vector `e`.
    pub(super) fn element_of(&self, e: &Expr) -> Option<Type> {
        Some(type_of(self.held(e)?.elements.as_ref()?))
    }

    /// A field of the records whose type is in a global variable.
    pub(super) fn field(&self, g: GlobalId, code: i64) -> Option<Type> {
        let fields = &self.0.globals.get(&g)?.fields;
        fields.iter().find(|(c, _)| *c == code).map(|(_, held)| type_of(held))
    }

    fn held(&self, e: &Expr) -> Option<&Rc<Held>> {
        match e {
            Expr::Local(v) => self.0.vars.get(v),
            Expr::Global(g, _) => self.0.globals.get(g),
            Expr::Prim { op: PrimOp::Op(op), args, .. } => match (op, args.first()?) {
                (Op::Unbox, Expr::Local(v)) => self.0.boxes.get(v),
                (Op::Car, Expr::Global(g, _)) => self.0.cells.get(g),
                (Op::VectorRef, v) => self.held(v)?.elements.as_ref(),
                _ => None,
            },
            _ => None,
        }
    }
}

fn narrow(held: Option<&Rc<Held>>, t: Type) -> Type {
    held.map(|h| type_of(h).meet(t)).filter(|both| !both.is_none()).unwrap_or(t)
}

fn type_of(held: &Held) -> Type {
    let Held { kinds, range: (lo, hi), record_type: rtd, .. } = *held;
    Type { kinds, lo, hi, rtd, hint: false }
}
