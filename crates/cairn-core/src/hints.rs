//! What the optimizer has made of the text: for editors.
//!
//! The problem: who writes numeric code wants to see where numbers are flonums or fixnums for certain, which calls are
//! gone, and where a closure costs nothing; the optimizer knows, and leaves no list. The idea: compare the program
//! before and after by places. All passes keep the places of what they copy, inline and specialize, so what the result
//! has at a place is all that a part of the text has become.
//!
//! ```text
//!  (define (sum v)                              hints
//!    (let loop ((i 0) (s 0.))                   let: no closure
//!      (if (< i (f64vector-length v))           <: fixnum
//!          (loop (+ i 1)                        +: fixnum
//!                (+ s (f64vector-ref v i)))     +: flonum
//!          s)))
//! ```
//!
//! Invariant: a hint holds for all copies of its place; a place of which nothing is left has none.
//! Complexity: linear in the size of both programs.

use crate::inlined::InlineTable;
use crate::ir::{Expr, Lambda, Program};
use crate::prim::{IN_RANGE, Kind, Op, PrimOp, fixnum_bit};
use crate::walk::visit;
use cairn_layout::code::Site;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Hint {
    /// The operands are flonums, which is not tested.
    Flonum,
    /// The operands are fixnums, which is not tested.
    Fixnum,
    /// Neither types nor bounds are tested.
    Unchecked,
    /// The body of the procedure stands in place of the call.
    Inlined,
    /// No closure is made: the procedure is part of the code around it.
    NoClosure,
}

/// Hints for forms of a file, by the byte where the form begins. `before` is the program as it was expanded.
pub fn of(before: &Program, after: &Program, file: u32) -> BTreeMap<u32, Hint> {
    let written = Written::of(before, file);
    let made = Made::of(after, file);
    let mut hints = BTreeMap::new();
    for start in &written.arithmetic {
        let ops = made.ops.get(start).map_or(&[][..], |ops| ops);
        if !made.calls.contains(start) {
            let all: BTreeSet<_> = ops.iter().map(Operation::hint).collect();
            if let (1, Some(Some(hint))) = (all.len(), all.first()) {
                hints.insert(*start, *hint);
            }
        }
    }
    for start in &written.calls {
        if made.inlined.contains(start) && !made.calls.contains(start) {
            hints.insert(*start, Hint::Inlined);
        }
    }
    for (start, body) in &written.lambdas {
        let is_used = body.iter().any(|place| made.places.contains(place));
        if is_used && !made.lambdas.contains(start) {
            hints.insert(*start, Hint::NoClosure);
        }
    }
    hints
}

/// What somebody has written in a file: bytes where forms begin.
#[derive(Default)]
struct Written {
    arithmetic: FxHashSet<u32>,
    calls: FxHashSet<u32>,
    /// Procedures inside of others, with places in their bodies.
    lambdas: FxHashMap<u32, Vec<u32>>,
}

impl Written {
    fn of(program: &Program, file: u32) -> Written {
        let mut written = Written::default();
        let here = |site: Site| (site.file() == Some(file)).then(|| site.start());
        for form in &program.forms {
            let outermost: Option<*const Lambda> = match form.expr() {
                Expr::Lambda(l) => Some(l),
                _ => None,
            };
            visit(form.expr(), &mut |e| match e {
                Expr::Call(f, _, site) => match &**f {
                    Expr::Global(g, _) if program.globals[g.0 as usize].library => {
                        if is_of_interest(&program.globals[g.0 as usize].name) {
                            written.arithmetic.extend(here(*site));
                        }
                    }
                    _ => written.calls.extend(here(*site)),
                },
                Expr::Lambda(l) if outermost != Some(l) => written.lambda(l, here),
                _ => {}
            });
        }
        written
    }

    fn lambda(&mut self, l: &Lambda, here: impl Fn(Site) -> Option<u32>) {
        let Some(start) = here(l.site) else { return };
        let body = self.lambdas.entry(start).or_default();
        for clause in &l.clauses {
            visit(&clause.body, &mut |e| body.extend(site_of(e).and_then(&here)));
        }
    }
}

/// What there is after all passes, by the places in the text that it comes from.
#[derive(Default)]
struct Made {
    ops: FxHashMap<u32, Vec<Operation>>,
    calls: FxHashSet<u32>,
    lambdas: FxHashSet<u32>,
    places: FxHashSet<u32>,
    /// Calls that bodies stand in place of.
    inlined: FxHashSet<u32>,
}

struct Operation {
    op: Op,
    proven: u8,
    operands: usize,
}

impl Operation {
    fn hint(&self) -> Option<Hint> {
        let (op, proven) = (PrimOp::Op(self.op), self.proven);
        match self.op.info().args {
            // generic arithmetic may have to test for overflow
            [Kind::Number, ..] => {
                let fixnums = op.is_generic() && (0..self.operands).all(|i| proven & fixnum_bit(i) != 0);
                fixnums.then_some(Hint::Fixnum)
            }
            [Kind::Flonum, ..] => (!op.can_fail(proven)).then_some(Hint::Flonum),
            [Kind::Fixnum, ..] => (!op.can_fail(proven)).then_some(Hint::Fixnum),
            [_, Kind::Fixnum, ..] => (proven & IN_RANGE != 0).then_some(Hint::Unchecked),
            _ => None,
        }
    }
}

impl Made {
    fn of(program: &Program, file: u32) -> Made {
        let mut made = Made::default();
        for form in &program.forms {
            visit(form.expr(), &mut |e| {
                let Some(site) = whole_site_of(e) else { return };
                made.note_inlined(&program.inlined, site, file);
                let text = program.inlined.get(site).map_or(site, |row| row.site);
                if text.file() != Some(file) {
                    return;
                }
                let start = text.start();
                made.places.insert(start);
                match e {
                    Expr::Prim { op: PrimOp::Op(op), args, proven, .. } if computes(*op) => {
                        let operation = Operation { op: *op, proven: *proven, operands: args.len() };
                        made.ops.entry(start).or_default().push(operation);
                    }
                    Expr::Prim { .. } => {}
                    Expr::Lambda(_) => {
                        made.lambdas.insert(start);
                    }
                    _ => {
                        made.calls.insert(start);
                    }
                }
            });
            visit(form.expr(), &mut |e| {
                if let Expr::Fix(bs, _) = e {
                    for (_, l) in bs {
                        let text = program.inlined.get(l.site).map_or(l.site, |row| row.site);
                        if text.file() == Some(file) {
                            made.lambdas.insert(text.start());
                        }
                    }
                }
            });
        }
        made
    }

    /// The calls that the body around a place has come to.
    fn note_inlined(&mut self, table: &InlineTable, site: Site, file: u32) {
        let mut site = site;
        while let Some(row) = table.get(site) {
            let at = table.get(row.at).map_or(row.at, |outer| outer.site);
            if at.file() == Some(file) {
                self.inlined.insert(at.start());
            }
            site = row.at;
        }
    }
}

/// Library procedures of numbers, and of elements.
fn is_of_interest(name: &str) -> bool {
    const NUMBERS: [&str; 14] =
        ["*", "+", "-", "/", "<", "<=", "=", ">", ">=", "floor", "modulo", "quotient", "remainder", "sqrt"];
    NUMBERS.contains(&name) || name.ends_with("-ref") || name.ends_with("-set!")
}

/// Is it an operation on numbers, or on an element? Others at the same place are tests, say.
fn computes(op: Op) -> bool {
    matches!(op.info().args, [Kind::Number | Kind::Fixnum | Kind::Flonum, ..] | [_, Kind::Fixnum, ..])
}

fn site_of(e: &Expr) -> Option<Site> {
    match e {
        Expr::Prim { site, .. } | Expr::Call(_, _, site) | Expr::Apply(_, _, site) | Expr::CallCc(_, _, site) => {
            Some(*site)
        }
        _ => None,
    }
}

fn whole_site_of(e: &Expr) -> Option<Site> {
    match e {
        Expr::Lambda(l) => Some(l.site),
        e => site_of(e),
    }
}
