//! Procedures that call themselves: what [`super::loops`] and [`super::unroll`] share.

use super::known;
use crate::ir::{Expr, GlobalId, Lambda, Program, TopForm, VarId};
use crate::walk::{deep, for_each_child_mut, take};

/// How a procedure is called from its own body.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Name {
    /// It is the value of a global that never changes.
    Global(GlobalId),
    /// It is bound by a `Fix`.
    Local(VarId),
}

impl Name {
    /// Is `e` a call of the procedure with `n` arguments?
    pub(super) fn is_called(self, e: &Expr, n: usize) -> bool {
        let Expr::Call(f, args, _) = e else { return false };
        args.len() == n
            && match **f {
                Expr::Global(g, _) => self == Name::Global(g),
                Expr::Local(v) => self == Name::Local(v),
                _ => false,
            }
    }
}

/// Calls `f` for every procedure that has a name: those of globals before what is in them, others after; and with
/// whether it is in the library.
pub(super) fn for_each_procedure(program: &mut Program, mut f: impl FnMut(&mut Program, &mut Lambda, Name, bool)) {
    let facts = known::analyze(program);
    for i in 0..program.forms.len() {
        let mut e = take(program.forms[i].expr_mut());
        let library = match program.forms[i] {
            TopForm::Define(g, _) => program.globals[g.0 as usize].library,
            TopForm::Expr(_) => false,
        };
        let mut f = |program: &mut Program, l: &mut Lambda, name| f(program, l, name, library);
        if let (TopForm::Define(g, _), Expr::Lambda(l)) = (&program.forms[i], &mut e)
            && facts.lambda(*g) == Some(i)
        {
            f(program, l, Name::Global(*g));
        }
        nested(program, &mut e, &mut f);
        *program.forms[i].expr_mut() = e;
    }
}

fn nested(program: &mut Program, e: &mut Expr, f: &mut impl FnMut(&mut Program, &mut Lambda, Name)) {
    deep(|| {
        for_each_child_mut(e, &mut |c| nested(program, c, f));
        if let Expr::Fix(bs, _) = e {
            bs.iter_mut().for_each(|(v, l)| f(program, l, Name::Local(*v)));
        }
    })
}
