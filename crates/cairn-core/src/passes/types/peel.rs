//! Loops whose parameters become flonums, or complex numbers of them: the first iteration gets a copy of its own.
//!
//! ```text
//! (labels ((L (i sum)                       (labels ((L (i sum)
//!            (if (%< i 0.0)                            (if (%< i 0.0) sum (jump M (%- i 1.0) (%+ i sum))))
//!                sum                                 (M (i sum)
//!                (jump L (%- i 1.0)                    (if (%< i 0.0) sum (jump M (%- i 1.0) (%+ i sum)))))
//!                        (%+ i sum)))))       (jump L n 0.0))
//!   (jump L n 0.0))                         ; in M, both are flonums
//! ```
//!
//! The problem: what comes from outside, such as `n`, may be any number, and so the parameter may; every iteration
//! tests, decodes and encodes it, although each but the first gets a flonum. The idea: jumps from the loop's own body
//! go to a copy, whose parameters have the types of those jumps only; then all is analysed once more. Loops of one
//! label and limited size.

use super::lattice::Type;
use super::state::Types;
use crate::ir::{Expr, Label, LabelId, Program, TopForm, VarId};
use crate::walk::{Renaming, copy_fresh, deep, for_each_child_mut, rewrite, size_at_most};
use rustc_hash::FxHashSet;

/// Larger bodies are not copied.
const LIMIT: usize = 250;

impl Types {
    /// Does some parameter become a flonum, or a complex number of flonums, after the first iteration? All jumps of
    /// the loop's own body have been walked for the last time.
    pub(super) fn stabilizes(&self, l: &Label) -> bool {
        let Some(inner) = self.inner_types(l.id) else { return false };
        let only_inside = |v: &VarId, is: fn(Type) -> bool, inner: Type| is(inner) && !is(self.slots.get(*v));
        l.params
            .iter()
            .zip(inner)
            .any(|(v, t)| only_inside(v, Type::is_flonum, *t) || only_inside(v, Type::is_flocomp, *t))
            && size_at_most(&l.body, LIMIT)
    }
}

/// Copies the loops of `forms` that are in `peels`.
pub(super) fn run(program: &mut Program, forms: &mut [TopForm], peels: &FxHashSet<LabelId>) {
    for form in forms {
        peel(program, form.expr_mut(), peels);
    }
}

fn peel(program: &mut Program, e: &mut Expr, peels: &FxHashSet<LabelId>) {
    deep(|| {
        for_each_child_mut(e, &mut |e| peel(program, e, peels));
        let Expr::Labels(labels, _) = e else { return };
        let [l] = &mut labels[..] else { return };
        if !peels.contains(&l.id) || !size_at_most(&l.body, LIMIT) {
            return;
        }
        let mut names = Renaming::default();
        let id = names.bind_label(program, l.id);
        let params = l.params.iter().map(|v| names.bind(program, *v)).collect();
        let copy = Label { id, params, body: copy_fresh(program, &l.body, &mut names) };
        rewrite(&mut l.body, &mut |e| {
            if let Expr::Jump(to, args) = e
                && *to == l.id
            {
                *e = Expr::Jump(id, std::mem::take(args));
            }
        });
        labels.push(copy);
    })
}
