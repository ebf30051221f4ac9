//! What counts as wide: how many values may be in waiting at once inside an expression.

use cairn_core::ir::{Clause, Expr, Lambda, Program, VarId};
use cairn_core::{deep, for_each_child};
use cairn_layout::limits::{FRAME_HEADER_MAX, FRAME_WORDS_MAX, LIVE_MAX};
use std::collections::{HashMap, HashSet};

/// What counts as wide. A value, so that tests can make ordinary programs wide.
#[derive(Clone, Copy, Debug)]
pub struct Widths {
    /// Most operands and parameters that stay as they are.
    pub operands: usize,
    /// Values in waiting inside an expression that is not looked at closely, and variables live around it: each at most
    /// so many.
    pub easy: usize,
    /// Variables live in a procedure that has had to pack some: few, for each call of a straight line of calls keeps
    /// them.
    pub few: usize,
    /// Variables in a pack.
    pub pack: usize,
    /// Variables around a wide expression that is not the last one.
    pub nested: usize,
}

/// What lowering goes by.
pub const WIDTHS: Widths = Widths { operands: 200, easy: 240, few: 64, pack: 48, nested: 8 };

impl Widths {
    /// Is it possible to keep to them?
    pub const fn consistent(&self) -> bool {
        let Widths { operands, easy, few, pack, nested } = *self;
        operands <= easy && few + pack <= easy && nested <= few && pack > 1
    }
}

const _: () = assert!(WIDTHS.consistent() && 2 * WIDTHS.easy <= LIVE_MAX);
const _: () = assert!(FRAME_HEADER_MAX as usize + LIVE_MAX <= FRAME_WORDS_MAX as usize);

/// Rest parameters that receive all arguments of a clause with too many parameters: how many there must be, and whether
/// there may be more.
pub type Listed = HashMap<VarId, (u32, bool)>;

/// Expressions inside of which more than [`Widths::easy`] variables and operands may be in waiting at once, or that
/// have more than [`Widths::operands`] operands or parameters themselves; and the forms they are in.
pub struct Wide {
    /// What counts as wide.
    pub widths: Widths,
    nodes: HashSet<*const Expr>,
    forms: Vec<bool>,
}

impl Wide {
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    /// Is the expression wide?
    pub fn contains(&self, e: &Expr) -> bool {
        self.nodes.contains(&(e as *const Expr))
    }
    /// Does top-level form `i` contain wide expressions?
    pub fn form(&self, i: usize) -> bool {
        self.forms[i]
    }
}

/// Finds the wide expressions of a program.
pub fn scan(program: &Program, widths: Widths) -> Wide {
    let mut wide = Wide { widths, nodes: HashSet::new(), forms: vec![] };
    for form in &program.forms {
        let before = wide.nodes.len();
        wide.need(form.expr());
        wide.forms.push(wide.nodes.len() > before);
    }
    wide
}

/// Can evaluating it neither wait for anything nor fail?
pub fn is_atom(e: &Expr) -> bool {
    matches!(e, Expr::Const(_) | Expr::Local(_) | Expr::Lambda(_))
}

impl Wide {
    /// Values in waiting at once, at most; variables bound inside count until the end of their scope.
    fn need(&mut self, e: &Expr) -> usize {
        deep(|| {
            let n = self.need_inner(e);
            if n > self.widths.easy {
                self.nodes.insert(e);
            }
            n
        })
    }

    fn need_inner(&mut self, e: &Expr) -> usize {
        match e {
            Expr::Lambda(l) => {
                self.lambda(l);
                0
            }
            Expr::Let(bs, body) | Expr::Letrec(bs, body) => {
                let inside = bs.iter().enumerate().map(|(i, (_, e))| i + self.need(e)).max().unwrap_or(0);
                inside.max(bs.len() + self.need(body))
            }
            Expr::Fix(bs, body) => {
                bs.iter().for_each(|(_, l)| self.lambda(l));
                bs.len() + self.need(body)
            }
            Expr::If(..) | Expr::Seq(_) => {
                let mut most = 0;
                for_each_child(e, &mut |c| most = self.need(c).max(most));
                most
            }
            Expr::Receive { producer, clause, .. } => self.need(producer).max(self.clause(clause)),
            Expr::Labels(ls, body) => {
                let inside = ls.iter().map(|l| self.parameters(l.params.len()) + self.need(&l.body)).max();
                inside.unwrap_or(0).max(self.need(body))
            }
            _ => {
                let (mut waiting, mut most, mut count) = (0, 0, 0);
                for_each_child(e, &mut |c| {
                    most = (waiting + self.need(c)).max(most);
                    waiting += !is_atom(c) as usize;
                    count += 1;
                });
                most.max(waiting).max(self.parameters(count))
            }
        }
    }

    fn lambda(&mut self, l: &Lambda) {
        for c in &l.clauses {
            if self.clause(c) > self.widths.easy {
                self.nodes.insert(&c.body);
            }
        }
    }

    fn clause(&mut self, c: &Clause) -> usize {
        self.parameters(c.params.len() + c.rest.is_some() as usize) + self.need(&c.body)
    }

    /// Few parameters or operands count what they are, too many of them are wide in any case.
    fn parameters(&self, n: usize) -> usize {
        if n > self.widths.operands { n + self.widths.easy } else { n }
    }
}
