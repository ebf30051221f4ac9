//! Labels: used once, they move to their jump; tiny ones are copied to all of theirs; unreachable ones go.
//!
//! ```text
//! before  (labels ((L0 (x) (%car x)) (L1 () (jump L2 1)) (L2 (y) y)) (if a (jump L0 b) (jump L1)))
//! after   (if a (%car b) 1)
//! ```
//!
//! Bodies are simplified when the first jump to them is met, so unreachable labels are never looked at. A jump is in
//! tail position of its `Labels`, so a body that moves to it is simplified for the context of the `Labels`.

use super::state::{Ctx, Mode, Simplifier, State};
use crate::ir::{Expr, Label, LabelId, VarId};
use crate::walk::{Renaming, copy_fresh};

fn atomic(e: &Expr) -> bool {
    matches!(e, Expr::Const(_) | Expr::Local(_) | Expr::Global(..))
}

/// Small enough to copy.
fn tiny(e: &Expr) -> bool {
    match e {
        Expr::Const(_) | Expr::Local(_) | Expr::Global(..) => true,
        Expr::Jump(_, es) | Expr::Values(es) => es.len() <= 4 && es.iter().all(atomic),
        _ => false,
    }
}

impl Simplifier<'_> {
    pub(super) fn label_uses(&mut self, l: LabelId) -> &mut u32 {
        let i = l.0 as usize;
        if self.label_uses.len() <= i {
            self.label_uses.resize(i + 1, 2); // made in this run: unknown
        }
        &mut self.label_uses[i]
    }

    pub(super) fn labels(&mut self, ls: Vec<Label>, body: Expr, ctx: Ctx) -> Expr {
        let ids: Vec<LabelId> = ls.iter().map(|l| l.id).collect();
        let mut copied = Vec::new();
        for l in &ls {
            let n = *self.label_uses(l.id);
            if n < 2 || !tiny(&l.body) {
                continue;
            }
            // copies of a jump are more uses of its label; one that is moving already cannot have more
            if let Expr::Jump(to, _) = &l.body {
                if *to == l.id || copied.contains(to) || self.labels.get(to).is_some_and(|s| s.mode != Mode::Label)
                {
                    continue;
                }
                *self.label_uses(*to) += n - 1;
            }
            let mut inner = Vec::new();
            crate::walk::visit(&l.body, &mut |e| {
                if let Expr::Local(v) = e {
                    inner.push(*v);
                }
            });
            for v in inner {
                if let Some(u) = self.uses.get_mut(v.0 as usize) {
                    *u += n - 1;
                }
            }
            copied.push(l.id);
        }
        for l in ls {
            let once = *self.label_uses(l.id) == 1;
            let mode = match copied.contains(&l.id) {
                true => Mode::Copy,
                false if once => Mode::Once,
                false => Mode::Label,
            };
            self.labels.insert(l.id, State { params: l.params, body: Some(l.body), mode, reached: false });
        }
        let body = self.simplify(body, ctx);
        let mut done: Vec<Label> = Vec::new();
        loop {
            let next = ids.iter().find(|id| {
                let s = &self.labels[*id];
                s.reached && s.mode == Mode::Label && s.body.is_some()
            });
            let Some(id) = next.copied() else { break };
            let state = self.labels.get_mut(&id).expect("known");
            let (params, body) = (std::mem::take(&mut state.params), state.body.take().expect("not yet done"));
            let body = self.simplify(body, ctx);
            done.push(Label { id, params, body });
        }
        // the order of the source
        done.sort_by_key(|l| ids.iter().position(|id| *id == l.id));
        for id in ids {
            self.labels.remove(&id);
        }
        if done.is_empty() { body } else { Expr::Labels(done, Box::new(body)) }
    }

    pub(super) fn jump(&mut self, l: LabelId, args: Vec<Expr>, ctx: Ctx) -> Expr {
        let mut steps = Vec::new();
        let args = self.operands(args, &mut steps);
        let e = self.jump_to(l, args, ctx);
        self.wrap(steps, e)
    }

    fn jump_to(&mut self, l: LabelId, args: Vec<Expr>, ctx: Ctx) -> Expr {
        let Some(state) = self.labels.get_mut(&l) else { return Expr::Jump(l, args) };
        state.reached = true;
        match state.mode {
            Mode::Label => Expr::Jump(l, args),
            Mode::Once => {
                let body = state.body.take().expect("one jump only");
                let params = std::mem::take(&mut state.params);
                self.enter(params.into_iter().zip(args).collect(), body, ctx)
            }
            Mode::Copy => {
                let mut names = Renaming::default();
                let params: Vec<VarId> = state.params.clone();
                let body = state.body.take().expect("kept for copies");
                let params: Vec<VarId> = params.iter().map(|v| names.bind(self.program, *v)).collect();
                let copy = copy_fresh(self.program, &body, &mut names);
                self.labels.get_mut(&l).expect("known").body = Some(body);
                self.enter(params.into_iter().zip(args).collect(), copy, ctx)
            }
        }
    }
}
