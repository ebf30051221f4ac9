//! How much code the copies of loops and procedures may be.
//!
//! The problem: a loop that is versioned ([`super::version`], [`super::bounds`]) becomes two, with tests before them,
//! and LLVM takes its time for all of it; a program of a thousand small loops would be compiled several times as long
//! for loops of which few are hot. The idea: copies have a budget, a fixed part ([`BUDGET`]), which is more than what
//! programs of usual size want, and a part of the program's own size ([`SHARE`]). If it is not enough, loops inside of
//! other loops come first, of those and of the others the smallest: there the tests that a copy is spared are the
//! greatest part.
//!
//! Invariants: the choice depends on the program only. The library's forms neither count nor are they cut short, for
//! it is compiled once, and what a program takes of it is little. Linear but for sorting.

use crate::ir::{Expr, LabelId, Lambda, Program, TopForm, VarId};
use crate::walk::{deep, for_each_child};
use rustc_hash::FxHashSet;

/// What the copies of a program may be at least, in expressions, tests before them included: those of about forty
/// loops. Programs of up to 2,500 lines want a half of it.
const BUDGET: usize = 3000;
/// As much again as this part of the program. (A compiler of 11,000 lines wants a fifteenth.)
const SHARE: usize = 8;
/// The tests before a copy are about so many expressions.
const TESTS: usize = 50;

/// What is to be copied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Copied {
    Loop(LabelId),
    /// By its first parameter.
    Procedure(VarId),
}

/// Those among `wanted` that are copied.
pub(super) fn chosen(program: &Program, forms: &[TopForm], wanted: FxHashSet<Copied>) -> FxHashSet<Copied> {
    let mut survey = Survey::new(&wanted);
    let (mut own, mut library) = (0, FxHashSet::default());
    for form in forms {
        let before = survey.found.len();
        let size = survey.measure(form.expr());
        if matches!(form, TopForm::Define(g, _) if program.globals[g.0 as usize].library) {
            library.extend(survey.found.drain(before..).map(|f| f.what));
        } else {
            own += size;
        }
    }
    let Survey { mut found, loops, .. } = survey;
    let mut left = BUDGET + own / SHARE;
    if found.iter().map(|f| f.size).sum::<usize>() <= left {
        return wanted;
    }
    let nested = |f: &Found| f.around.iter().any(|l| loops.contains(l));
    found.sort_by_cached_key(|f| (!nested(f), f.size));
    let fits = |f: &Found| match left.checked_sub(f.size) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    library.extend(found.into_iter().take_while(fits).map(|f| f.what));
    library
}

/// Something that is wanted.
struct Found {
    what: Copied,
    /// Expressions of its copy and of the tests before it.
    size: usize,
    /// The labels that it is in.
    around: Vec<LabelId>,
}

struct Survey<'a> {
    wanted: &'a FxHashSet<Copied>,
    found: Vec<Found>,
    /// Labels around the expression being measured, in its procedure.
    around: Vec<LabelId>,
    /// Those that jump to themselves.
    loops: FxHashSet<LabelId>,
}

impl<'a> Survey<'a> {
    fn new(wanted: &'a FxHashSet<Copied>) -> Survey<'a> {
        Survey { wanted, found: Vec::new(), around: Vec::new(), loops: FxHashSet::default() }
    }

    /// The number of expressions.
    fn measure(&mut self, e: &Expr) -> usize {
        deep(|| match e {
            Expr::Labels(labels, body) => {
                let mut size = 1 + self.measure(body);
                for l in labels {
                    let what = Copied::Loop(l.id);
                    let place = self.wanted.contains(&what).then(|| self.note(what));
                    self.around.push(l.id);
                    let own = self.measure(&l.body);
                    self.around.pop();
                    place.into_iter().for_each(|i| self.found[i].size = own + TESTS);
                    size += own;
                }
                size
            }
            Expr::Jump(to, args) => {
                if self.around.contains(to) {
                    self.loops.insert(*to);
                }
                1 + args.iter().map(|a| self.measure(a)).sum::<usize>()
            }
            Expr::Lambda(l) => 1 + self.lambda(l),
            Expr::Fix(bs, body) => {
                let lambdas: usize = bs.iter().map(|(_, l)| 1 + self.lambda(l)).sum();
                1 + lambdas + self.measure(body)
            }
            e => {
                let mut size = 1;
                for_each_child(e, &mut |e| size += self.measure(e));
                size
            }
        })
    }

    fn lambda(&mut self, l: &Lambda) -> usize {
        let around = std::mem::take(&mut self.around);
        let mut size = 0;
        for c in &l.clauses {
            let what = c.params.first().map(|v| Copied::Procedure(*v));
            let place = what.filter(|w| self.wanted.contains(w)).map(|w| self.note(w));
            let own = self.measure(&c.body);
            place.into_iter().for_each(|i| self.found[i].size = own + TESTS);
            size += own;
        }
        self.around = around;
        size
    }

    fn note(&mut self, what: Copied) -> usize {
        self.found.push(Found { what, size: 0, around: self.around.clone() });
        self.found.len() - 1
    }
}
