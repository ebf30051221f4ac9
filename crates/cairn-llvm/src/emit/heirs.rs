//! Which record types of a module extend which.
//!
//! ```text
//!  (define-record-type shape …)                      shape ⟶ circle, square
//!  (define-record-type (circle shape) …)      ⟶
//!  (define-record-type (square shape) …)
//! ```
//!
//! The problem: `(shape-x c)` of a circle `c` finds another header than a shape's, and the table of ancestors says what
//! that means, in a dozen instructions. The idea: where few types extend `shape`, their words are in variables that the
//! module knows, and a comparison with each costs two. Types that other modules add are found in the table.
//!
//! Invariant: the parent in a variable stays the parent of the type that was made from it. A program that enters a
//! definition of types again, by a continuation, makes new ones of the same form, and for a moment the variables hold
//! some of either; so an old circle may be taken for a new shape, which has the same fields.
//!
//! Linear in the size of the module.

use cairn_core::ir::GlobalId;
use cairn_core::prim::MAKE_RECORD_SUBTYPE;
use cairn_frame::ir::{Function, Module, Op, Operand, Stmt, Var};
use std::collections::HashMap;

/// A header is compared with those of the types that extend another one if there are no more than these.
const FEW: usize = 3;

/// For types that few others extend, the variables of those.
#[derive(Default)]
pub(super) struct Heirs(HashMap<GlobalId, Vec<GlobalId>>);

/// For variables that hold nothing but a global's contents, that global.
pub(super) type GlobalsIn = HashMap<Var, Option<GlobalId>>;

/// What the variables of a function hold.
pub(super) fn globals_in(f: &Function) -> GlobalsIn {
    let mut held = GlobalsIn::new();
    for s in f.blocks.iter().flat_map(|b| &b.stmts) {
        if let Stmt::Assign(v, op) = s {
            let g = match op {
                Op::Global(g) | Op::GlobalChecked(g, _) => Some(*g),
                _ => None,
            };
            held.entry(*v).and_modify(|h| *h = h.filter(|h| Some(*h) == g)).or_insert(g);
        }
    }
    held
}

impl Heirs {
    /// Does no type extend another one?
    pub(super) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    /// The types that extend the one in this variable, if they are few.
    pub(super) fn of_type(&self, g: GlobalId) -> Option<&Vec<GlobalId>> {
        self.0.get(&g)
    }

    /// Finds them.
    pub(super) fn of(module: &Module) -> Heirs {
        let mut parents: HashMap<GlobalId, Option<GlobalId>> = HashMap::new();
        for f in &module.functions {
            let stmts = || f.blocks.iter().flat_map(|b| &b.stmts);
            let is_made = |s: &Stmt| matches!(s, Stmt::Assign(_, Op::Prim(p)) if p.op == MAKE_RECORD_SUBTYPE);
            if !stmts().any(is_made) {
                continue;
            }
            let held = globals_in(f);
            let global = |o: &Operand| match o {
                Operand::Var(v) => held.get(v).copied().flatten(),
                _ => None,
            };
            let mut made: HashMap<Var, GlobalId> = HashMap::new();
            for s in stmts() {
                match s {
                    Stmt::Assign(v, Op::Prim(p)) if is_made(s) => {
                        if let Some(parent) = p.args.last().and_then(global) {
                            made.insert(*v, parent);
                        }
                    }
                    Stmt::Effect(
                        Op::SetGlobal(g, Operand::Var(v)) | Op::SetGlobalChecked(g, Operand::Var(v), _),
                    ) => {
                        // a variable that is set twice says nothing
                        let parent = made.get(v).copied();
                        parents.entry(*g).and_modify(|p| *p = None).or_insert(parent);
                    }
                    _ => {}
                }
            }
        }
        let mut heirs: HashMap<GlobalId, Vec<GlobalId>> = HashMap::new();
        for g in parents.keys() {
            let mut next = parents[g];
            while let Some(a) = next {
                heirs.entry(a).or_default().push(*g);
                next = parents.get(&a).copied().flatten();
            }
        }
        heirs.retain(|_, of| of.len() <= FEW);
        heirs.values_mut().for_each(|of| of.sort_by_key(|g| g.0));
        Heirs(heirs)
    }
}
