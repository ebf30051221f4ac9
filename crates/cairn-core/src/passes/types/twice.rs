//! Code that is there twice: the test in front of both, and copies of loops.
//!
//! ```text
//! (labels ((L (i) (if (%< i n) (jump L (%+ i 1)) (write i))))
//!   (jump L 0))
//! ```
//! becomes
//! ```text
//! (labels ((X (i) (write i)))                                    ; an exit
//!   (labels ((L (i) (if (%< i n) (jump L (%+ i 1)) (jump X i))))
//!     (labels ((E (i) (if …                                      ; the entry
//!                         (labels ((F (i) (if (%< i n) (jump F (%+ i 1)) (jump X i))))
//!                           (jump F i))
//!                         (jump L i))))
//!       (jump E 0))))
//! ```
//!
//! The problem: what is tested once must be known in what follows, so that is there once for each answer, and the copy
//! ought to be small. The idea: loops are entered through a label in front of both; what a loop does when it ends is
//! not copied, but becomes a label of its own that both jump to, with the loop's variables that it needs
//! ([`take_exits`]). When to copy, and what the tests are, is decided by others: [`super::speculate`],
//! [`super::paths`], [`super::version`], [`super::bounds`].
//!
//! Invariants: every variable and label stays bound once. Searching for exits is linear but for the sizes, which are
//! looked up at each expression in tail position.

use crate::ir::{Expr, Label, LabelId, Literal, Program, VarId};
use crate::prim::{Op, PrimOp};
use crate::walk::{Renaming, copy_fresh, deep, rewrite, size_at_most, take, visit};
use cairn_layout::code::Site;
use rustc_hash::{FxHashMap, FxHashSet};

/// Exits up to this size are copied.
const EXIT_LIMIT: usize = 12;

/// A variable, and the test that it must pass.
pub(super) type Test = (VarId, Op);

/// `then` if all variables pass their tests, else `other`.
pub(super) fn if_all(tests: impl DoubleEndedIterator<Item = Test>, then: Expr, other: Expr) -> Expr {
    let test = tests.rev().fold(None, |rest, (v, test)| {
        let op = PrimOp::Op(test);
        let test = Expr::Prim { op, args: vec![Expr::Local(v)], site: Site::NONE, proven: 0 };
        Some(match rest {
            None => test,
            Some(rest) => Expr::If(Box::new(test), Box::new(rest), Box::new(Expr::Const(Literal::Bool(false)))),
        })
    });
    match test {
        Some(test) => Expr::If(Box::new(test), Box::new(then), Box::new(other)),
        None => then,
    }
}

/// Makes a choice of a generic operation: on flonums, and on what else there is.
///
/// ```text
/// (%- (%record-ref p t 0) x)
/// ⟶ (let ((leaf (%record-ref p t 0))) (if (if (%flonum? leaf) (%flonum? x) #f) (%- leaf x) (%- leaf x)))
/// ```
pub(super) fn on_flonums(program: &mut Program, e: &mut Expr) {
    let Expr::Prim { args, .. } = &mut *e else { return };
    let (mut bindings, mut tests) = (Vec::new(), Vec::new());
    for a in args {
        if !matches!(a, Expr::Local(_) | Expr::Const(_)) {
            let v = program.fresh_var("leaf");
            bindings.push((v, std::mem::replace(a, Expr::Local(v))));
        }
        if let Expr::Local(v) = a {
            tests.push((*v, Op::IsFlonum));
        }
    }
    let choice = if_all(tests.into_iter(), e.clone(), take(e));
    *e = bindings.into_iter().rev().fold(choice, |body, b| Expr::Let(vec![b], Box::new(body)));
}

/// Is `e`, in tail position of loop `l`, where the loop ends, and more than what may be copied? `labels`: those of the
/// loop.
fn is_exit(e: &Expr, l: LabelId, labels: &[LabelId]) -> bool {
    let (mut ends, mut small) = (true, size_at_most(e, EXIT_LIMIT));
    visit(e, &mut |e| match e {
        Expr::Jump(to, _) => ends &= *to != l && !labels.contains(to),
        Expr::Lambda(_) | Expr::Fix(..) | Expr::Call(..) | Expr::Apply(..) | Expr::CallCc(..) => small = false,
        _ => {}
    });
    ends && !small
}

/// Calls `f` on every expression of a loop's body, except in exits.
pub(super) fn inside<'a>(e: &'a Expr, l: LabelId, labels: &mut Vec<LabelId>, f: &mut impl FnMut(&'a Expr)) {
    if is_exit(e, l, labels) {
        return;
    }
    deep(|| match e {
        Expr::If(a, b, c) => {
            f(e);
            visit(a, f);
            inside(b, l, labels, f);
            inside(c, l, labels, f);
        }
        Expr::Seq(es) => {
            f(e);
            let Some((last, init)) = es.split_last() else { return };
            init.iter().for_each(|e| visit(e, f));
            inside(last, l, labels, f);
        }
        Expr::Let(bs, body) => {
            f(e);
            bs.iter().for_each(|(_, e)| visit(e, f));
            inside(body, l, labels, f);
        }
        Expr::Labels(ls, body) => {
            f(e);
            let outside = labels.len();
            labels.extend(ls.iter().map(|l| l.id));
            ls.iter().for_each(|x| inside(&x.body, l, labels, f));
            inside(body, l, labels, f);
            labels.truncate(outside);
        }
        e => visit(e, f),
    })
}

/// Takes the exits out of a loop's body: labels whose parameters are the variables `bound` in the loop.
pub(super) fn take_exits(
    program: &mut Program,
    e: &mut Expr,
    l: LabelId,
    bound: &FxHashSet<VarId>,
    labels: &mut Vec<LabelId>,
    exits: &mut Vec<Label>,
) {
    if is_exit(e, l, labels) {
        let mut needed = Vec::new();
        visit(e, &mut |e| {
            if let Expr::Local(v) = e
                && bound.contains(v)
                && !needed.contains(v)
            {
                needed.push(*v);
            }
        });
        let mut names = Renaming::default();
        let params = needed.iter().map(|v| names.bind(program, *v)).collect();
        let body = copy_fresh(program, e, &mut names);
        let id = program.fresh_label();
        exits.push(Label { id, params, body });
        *e = Expr::Jump(id, needed.into_iter().map(Expr::Local).collect());
        return;
    }
    deep(|| match e {
        Expr::If(_, b, c) => {
            take_exits(program, b, l, bound, labels, exits);
            take_exits(program, c, l, bound, labels, exits);
        }
        Expr::Seq(es) => {
            if let Some(e) = es.last_mut() {
                take_exits(program, e, l, bound, labels, exits);
            }
        }
        Expr::Let(_, body) => take_exits(program, body, l, bound, labels, exits),
        Expr::Labels(ls, body) => {
            let outside = labels.len();
            labels.extend(ls.iter().map(|l| l.id));
            ls.iter_mut().for_each(|x| take_exits(program, &mut x.body, l, bound, labels, exits));
            take_exits(program, body, l, bound, labels, exits);
            labels.truncate(outside);
        }
        _ => {}
    })
}

/// A copy of a loop, to be entered by a label in front of both.
pub(super) struct LoopCopy {
    /// The copy.
    pub(super) fast: Label,
    /// Its names for variables of the loop.
    pub(super) inner: FxHashMap<VarId, VarId>,
    /// The parameters of the label in front of both, and whose places they take.
    params: Vec<VarId>,
    pub(super) outer: FxHashMap<VarId, VarId>,
}

/// A copy of the loop `l` with this body, in terms of its parameters.
pub(super) fn copied_loop(program: &mut Program, l: &Label, body: &Expr) -> LoopCopy {
    let mut names = Renaming::default();
    let id = names.bind_label(program, l.id);
    let params: Vec<VarId> = l.params.iter().map(|v| names.bind(program, *v)).collect();
    let fast = Label { id, params, body: copy_fresh(program, body, &mut names) };
    let mut outer = Renaming::default();
    let params = l.params.iter().map(|v| outer.bind(program, *v)).collect();
    LoopCopy { fast, inner: names.vars, params, outer: outer.vars }
}

impl LoopCopy {
    /// A jump from in front of both to the loop itself.
    pub(super) fn general(&self, l: &Label) -> Expr {
        self.jump(l.id)
    }

    fn jump(&self, l: LabelId) -> Expr {
        Expr::Jump(l, self.params.iter().map(|v| Expr::Local(*v)).collect())
    }

    /// The label in front of both. `choose` gets its parameters and the expression that runs the copy.
    pub(super) fn entered(
        self,
        program: &mut Program,
        choose: impl FnOnce(&mut Program, &[VarId], Expr) -> Expr,
    ) -> Label {
        let enter = self.jump(self.fast.id);
        let inside = Expr::Labels(vec![self.fast], Box::new(enter));
        let body = choose(program, &self.params, inside);
        Label { id: program.fresh_label(), params: self.params, body }
    }
}

/// The loop `l` of `e`, its `Labels`, is entered by `entry`; what it does when it ends is in `exits`.
pub(super) fn enter_by(e: &mut Expr, l: LabelId, entry: Label, exits: Vec<Label>) {
    let Expr::Labels(_, body) = e else { return };
    redirect(body, l, &mut |args| Expr::Jump(entry.id, args));
    **body = Expr::Labels(vec![entry], Box::new(take(body)));
    if !exits.is_empty() {
        *e = Expr::Labels(exits, Box::new(take(e)));
    }
}

/// Replaces jumps to `l`.
pub(super) fn redirect(e: &mut Expr, l: LabelId, new: &mut impl FnMut(Vec<Expr>) -> Expr) {
    rewrite(e, &mut |e| {
        if let Expr::Jump(to, args) = e
            && *to == l
        {
            *e = new(std::mem::take(args));
        }
    });
}
