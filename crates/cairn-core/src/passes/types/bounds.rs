//! Loops that count: bounds of vectors and overflow are tested once, before the loop.
//!
//! ```text
//! (labels ((L (k s)
//!            (if (%fx=:3 k n)
//!                s
//!                (jump L (%+:19 k 1) (%fl+ s (%f64vector-ref v (%+:3 (%*:3 i n) k)))))))
//!   (jump L 0 0.0))
//! ```
//! becomes
//! ```text
//! (labels ((L (k s) …))                                             ; as before
//!   (labels ((E (k0 s0)
//!              (if (and (fixnum? i) (fixnum? n) (< 8 (- n k0))
//!                       (fixnum? (set! inv (* i n)))                ; what does not change
//!                       (fixnum? (+ inv k0)) (fixnum? (+ inv (- n 1)))
//!                       (f64vector? v) (< -1 (+ inv k0) (f64vector-length v)) (< -1 (+ inv (- n 1)) …))
//!                  (labels ((F (k s)
//!                             (if (%fx=:3 k n)
//!                                 s
//!                                 (jump F (%fx+:3 k 1) (%fl+ s (%f64vector-ref:11 v (%fx+:3 inv k)))))))
//!                    (jump F k0 s0))
//!                  (jump L k0 s0))))
//!     (jump E 0 0.0)))
//! ```
//!
//! The problem: each access of a vector asks for its kind, its length and whether the index is below, each sum of
//! indices whether it overflows, though the answer is the same in every turn. The idea: a value that is linear in the
//! counter is greatest or least in the first or in the last turn; if it is a fixnum, or an index of the vector, in
//! both, it is one in all turns between. Whatever fails in the tests is done by the general loop, which fails, or goes
//! beyond the fixnums, where and how it always did. The tests themselves cannot fail: each is made of what the ones
//! before have shown.
//!
//! A row of a matrix, which is an element of a vector, is read before the loop, too, if it stays ([`Source`]).
//!
//! Loops with few turns ([`MIN_TURNS`]) are left to the general loop, too, since the tests take as long as some turns.
//!
//! Invariants: it comes after all else of [`super`], whose facts hold in the copy as well; innermost loops without
//! calls and lambdas, except in what comes after them, of limited size ([`Counting`]), so a program at most doubles.

use super::budget::{self, Copied};
use super::counting::{Counting, Source, Stores, While, generic, number, operation, same};
use super::env::Env;
use super::lattice::{Type, bits::*};
use super::twice::{copied_loop, enter_by, inside, take_exits};
use crate::ir::{Expr, Label, LabelId, Literal, Program, TopForm, VarId};
use crate::prim::{IN_RANGE, Numeric, Op, PrimOp, fixnum_bit};
use crate::walk::{deep, for_each_child_mut, rewrite, visit};
use cairn_layout::code::Site;
use cairn_layout::value::{FIXNUM_MAX, FIXNUM_MIN};
use rustc_hash::FxHashSet;

/// A loop with fewer turns does not enter the copy, nor one with fewer turns than half of its tests.
const MIN_TURNS: usize = 8;
/// More than so many tests before a loop are not made.
const MAX_TESTS: usize = 100;

/// Gives loops that count a copy without tests.
pub(super) fn run(program: &mut Program, forms: &mut [TopForm], env: &Env) {
    let mut wanted = FxHashSet::default();
    for form in &*forms {
        visit(form.expr(), &mut |e| {
            if let Expr::Labels(labels, _) = e
                && let [l] = &labels[..]
                && let Some(counting) = Counting::of(l)
                && counting.tests(l, env).is_some()
            {
                wanted.insert(Copied::Loop(l.id));
            }
        });
    }
    let chosen = budget::chosen(program, forms, wanted);
    for form in forms {
        walk(program, form.expr_mut(), env, &chosen);
    }
}

fn walk(program: &mut Program, e: &mut Expr, env: &Env, chosen: &FxHashSet<Copied>) {
    deep(|| {
        for_each_child_mut(e, &mut |e| walk(program, e, env, chosen));
        let mut exits = Vec::new();
        if let Expr::Labels(labels, _) = e
            && let [l] = &mut labels[..]
            && chosen.contains(&Copied::Loop(l.id))
            && let Some(counting) = Counting::of(l)
            && let Some(entry) = counting.entry(program, l, env, &mut exits)
        {
            let id = l.id;
            enter_by(e, id, entry, exits);
        }
    })
}

impl Counting {
    /// What is to be tested before a copy of the loop `l`, if that is worth it.
    fn tests(&self, l: &Label, env: &Env) -> Option<Tests> {
        [true, false].into_iter().find_map(|elements| {
            let mut finder = Finder { c: self, env, tests: Tests::default(), gains: 0, elements };
            finder.look_through(&l.body, l.id);
            let Finder { mut tests, gains, .. } = finder;
            let enough = gains >= 2 && !tests.objects.is_empty();
            (enough && tests.ask_for_stores(&self.stores) && tests.count() <= MAX_TESTS).then_some(tests)
        })
    }

    /// The label in front of the loop `l`, if its copy is worth it. What the loop does when it ends becomes labels
    /// in `exits`.
    fn entry(self, program: &mut Program, l: &mut Label, env: &Env, exits: &mut Vec<Label>) -> Option<Label> {
        let tests = self.tests(l, env)?;
        take_exits(program, &mut l.body, l.id, &self.inner, &mut Vec::new(), exits);
        // what does not change gets its name before the copy is made
        let mut body = l.body.clone();
        let fixed: Vec<VarId> = tests.fixed.iter().map(|_| program.fresh_var("fixed")).collect();
        let objects = tests.names(program);
        let mut rewriter = Rewriter { c: &self, tests: &tests, fixed: &fixed, objects: &objects };
        rewriter.rewrite(&mut body);
        by_fixnums(&mut body);
        let copy = copied_loop(program, l, &body);
        let general = Label { id: program.fresh_label(), params: Vec::new(), body: copy.general(l) };
        Some(copy.entered(program, |program, params, inside| {
            let names = Names { fixed: &fixed, objects: &objects };
            let body = self.guarded(program, params[self.parameter], tests, names, inside, general.id);
            Expr::Labels(vec![general], Box::new(body))
        }))
    }

    /// `then` if all tests succeed for a loop that begins with `first`, else a jump to `slow`.
    fn guarded(
        &self,
        program: &mut Program,
        first: VarId,
        tests: Tests,
        names: Names,
        then: Expr,
        slow: LabelId,
    ) -> Expr {
        let mut g = Guard { steps: Vec::new() };
        let (bound, least) = (program.fresh_var("bound"), program.fresh_var("last"));
        for v in &tests.variables {
            g.test(prim(Op::IsFixnum, vec![Expr::Local(*v)], 0));
        }
        let computed = self.computed_bound().map(|b| on_fixnums(&b));
        g.steps.push(Step::Bind(bound, computed.unwrap_or_else(|| self.bound.clone())));
        g.test(prim(Op::IsFixnum, vec![Expr::Local(bound)], 0));
        g.test(prim(Op::IsFixnum, vec![Expr::Local(first)], 0));
        // from the lower end to the upper is more than some turns: nothing here overflows
        let span = MIN_TURNS.max(tests.count() / 2) as i64 * self.step.abs();
        let (lower, upper) = if self.step > 0 { (first, bound) } else { (bound, first) };
        g.test(fixnums(Op::FxLe, Expr::Local(lower), number(FIXNUM_MAX - span)));
        g.test(fixnums(Op::FxLt, fixnums(Op::FxAdd, Expr::Local(lower), number(span)), Expr::Local(upper)));
        // the last turn's counter, or beyond
        let towards = if self.step > 0 { -1 } else { 1 };
        let up_to = self.goes_on == While::UpTo;
        let n = Expr::Local(bound);
        let last = if up_to { n } else { fixnums(Op::FxAdd, n, number(towards)) };
        g.steps.push(Step::Bind(least, last));
        // the counter after the last turn, if it is not the bound
        if up_to || self.step.abs() != 1 {
            let last = Expr::Local(least);
            g.test(match self.step {
                1.. => fixnums(Op::FxLe, last, number(FIXNUM_MAX - self.step)),
                _ => fixnums(Op::FxLe, number(FIXNUM_MIN - self.step), last),
            });
        }
        let name_of =
            |source: &Source| tests.name_of(source, names.objects).expect("it comes before what needs it");
        let fixed: Vec<(VarId, Expr)> = names.fixed.iter().copied().zip(tests.fixed.iter().cloned()).collect();
        for (v, e) in &fixed {
            g.steps.push(Step::Bind(*v, on_fixnums(e)));
            g.test(prim(Op::IsFixnum, vec![Expr::Local(*v)], 0));
        }
        let ends = [first, least];
        for e in &tests.linear {
            for end in ends {
                g.test(prim(Op::IsFixnum, vec![self.at(e, end, &fixed)], 0));
            }
        }
        let mut bound: Vec<VarId> = Vec::new();
        for (Accessed { source, kind, indices }, object) in tests.objects.iter().zip(names.objects) {
            if let Source::Element(vector, index) = source
                && !bound.contains(object)
            {
                g.steps.push(Step::Bind(*object, element(name_of(vector), self.at(index, first, &fixed))));
                bound.push(*object);
            }
            let length = program.fresh_var("length");
            g.test(kind.question(*object));
            g.steps.push(Step::Bind(length, kind.length(*object)));
            for e in indices {
                let ends = if self.changes(e) { &ends[..] } else { &ends[..1] };
                for end in ends {
                    let mut index = self.at(e, *end, &fixed);
                    if !matches!(index, Expr::Local(_) | Expr::Const(_)) {
                        let v = program.fresh_var("index");
                        g.steps.push(Step::Bind(v, std::mem::replace(&mut index, Expr::Local(v))));
                        g.test(prim(Op::IsFixnum, vec![Expr::Local(v)], 0));
                    }
                    g.test(fixnums(Op::FxLe, number(0), index.clone()));
                    g.test(fixnums(Op::FxLt, index, Expr::Local(length)));
                }
            }
        }
        for (a, b) in &tests.different {
            let same = prim(Op::Eq, vec![Expr::Local(name_of(a)), Expr::Local(name_of(b))], 0);
            g.test(prim(Op::Not, vec![same], 0));
        }
        g.finish(then, slow)
    }

    /// A linear expression where the counter is `v`, with operations that do not overflow. `fixed`: names of parts.
    fn at(&self, e: &Expr, v: VarId, fixed: &[(VarId, Expr)]) -> Expr {
        if let Some((name, _)) = fixed.iter().find(|(_, f)| same(f, e)) {
            return Expr::Local(*name);
        }
        match e {
            Expr::Local(k) if *k == self.counter => Expr::Local(v),
            Expr::Prim { op: PrimOp::Op(o), args, .. } => {
                on_fixnums(&generic(*o, self.at(&args[0], v, fixed), self.at(&args[1], v, fixed)))
            }
            e => e.clone(),
        }
    }
}

fn unchecked(o: Op) -> Op {
    match o {
        Op::Add => Op::FxAdd,
        Op::Sub => Op::FxSub,
        _ => Op::FxMul,
    }
}

fn prim(op: Op, args: Vec<Expr>, proven: u8) -> Expr {
    Expr::Prim { op: PrimOp::Op(op), args, site: Site::NONE, proven }
}

/// An operation on fixnums.
fn fixnums(op: Op, a: Expr, b: Expr) -> Expr {
    prim(op, vec![a, b], 3)
}

/// A linear expression all of whose variables are fixnums: so are the operands that are variables or constants.
fn on_fixnums(e: &Expr) -> Expr {
    let mut e = e.clone();
    rewrite(&mut e, &mut |e| {
        if let Expr::Prim { args, proven, .. } = e {
            let leaf = |i: &usize| matches!(args[*i], Expr::Local(_) | Expr::Const(_));
            *proven |= (0..args.len()).filter(leaf).fold(0, |bits, i| bits | fixnum_bit(i));
        }
    });
    e
}

/// `(%vector-ref vector index)`, which cannot fail.
fn element(vector: VarId, index: Expr) -> Expr {
    let op = PrimOp::Op(Op::VectorRef);
    Expr::Prim { op, args: vec![Expr::Local(vector), index], site: Site::NONE, proven: IN_RANGE | 2 | 1 }
}

/// What an element is taken out of, or put into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sequence {
    is: PrimOp,
    length: PrimOp,
}

impl Sequence {
    const VECTOR: Sequence = Sequence { is: PrimOp::Op(Op::IsVector), length: PrimOp::Op(Op::VectorLength) };

    /// Of an access.
    fn of(op: PrimOp) -> Option<Sequence> {
        let PrimOp::Op(o) = op else { return None };
        let (is, length) = match o {
            Op::VectorRef | Op::VectorSet => return Some(Sequence::VECTOR),
            Op::StringRef | Op::StringSet => (Op::IsString, Op::StringLength),
            Op::BytevectorRef | Op::BytevectorSet => (Op::IsBytevector, Op::BytevectorLength),
            o => {
                let (Numeric::Ref | Numeric::Set, kind) = o.numeric()? else { return None };
                let named = |what: &str| PrimOp::by_name(&format!("{}vector{what}", kind.name()));
                return Some(Sequence { is: named("?")?, length: named("-length")? });
            }
        };
        Some(Sequence { is: PrimOp::Op(is), length: PrimOp::Op(length) })
    }

    fn question(self, v: VarId) -> Expr {
        Expr::Prim { op: self.is, args: vec![Expr::Local(v)], site: Site::NONE, proven: 0 }
    }

    fn length(self, v: VarId) -> Expr {
        let proven = u8::from(self.length.arg_kind(0) != crate::prim::Kind::Any);
        Expr::Prim { op: self.length, args: vec![Expr::Local(v)], site: Site::NONE, proven }
    }
}

/// What is to be tested before a loop.
#[derive(Default)]
struct Tests {
    /// Variables from outside: fixnums.
    variables: Vec<VarId>,
    /// What does not change: fixnums, with names in the loop.
    fixed: Vec<Expr>,
    /// What is linear in the counter: fixnums at both ends.
    linear: Vec<Expr>,
    /// Sequences and the indices, at both ends. A vector comes before its elements.
    objects: Vec<Accessed>,
    /// Objects of which the one must not be the other.
    different: Vec<(Source, Source)>,
}

/// An object and what the loop does with it.
struct Accessed {
    source: Source,
    kind: Sequence,
    indices: Vec<Expr>,
}

/// What the tests bind.
#[derive(Clone, Copy)]
struct Names<'a> {
    /// Of [`Tests::fixed`].
    fixed: &'a [VarId],
    /// Of [`Tests::objects`].
    objects: &'a [VarId],
}

impl Tests {
    fn count(&self) -> usize {
        let indices: usize = self.objects.iter().map(|o| 2 + 4 * o.indices.len()).sum();
        self.variables.len() + self.fixed.len() + 2 * self.linear.len() + indices + self.different.len()
    }

    /// Asks whether the vectors whose elements are read before the loop are others than those that it stores into. Says
    /// whether that can be asked.
    fn ask_for_stores(&mut self, stores: &Stores) -> bool {
        for vector in self.objects.iter().filter_map(|o| o.source.vector()) {
            let Some(stored) = stores.others(vector) else { return false };
            for s in stored {
                let known = matches!(s, Source::Variable(_)) || self.objects.iter().any(|o| o.source.is(s));
                if !known {
                    return false;
                }
                if !self.different.iter().any(|(a, b)| a.is(vector) && b.is(s)) {
                    self.different.push((vector.clone(), s.clone()));
                }
            }
        }
        true
    }

    /// The variables of the objects: new ones where they are elements.
    fn names(&self, program: &mut Program) -> Vec<VarId> {
        let mut names = Vec::new();
        for o in &self.objects {
            let name = self.name_of(&o.source, &names).unwrap_or_else(|| program.fresh_var("row"));
            names.push(name);
        }
        names
    }

    /// The variable of an object, as far as they have names.
    fn name_of(&self, source: &Source, names: &[VarId]) -> Option<VarId> {
        match source {
            Source::Variable(v) => Some(*v),
            _ => self.objects.iter().zip(names).find(|(o, _)| o.source.is(source)).map(|(_, name)| *name),
        }
    }
}

fn add(es: &mut Vec<Expr>, e: Expr) {
    if !es.iter().any(|old| same(old, &e)) {
        es.push(e);
    }
}

/// Finds what is to be tested.
struct Finder<'a> {
    c: &'a Counting,
    env: &'a Env,
    tests: Tests,
    /// Tests that the loop is spared in each turn.
    gains: usize,
    /// May elements of vectors be read before the loop?
    elements: bool,
}

impl Finder<'_> {
    fn look_through(&mut self, body: &Expr, l: LabelId) {
        let Expr::If(_, then, other) = body else { return };
        if let Some(bound) = self.c.computed_bound() {
            if !self.only(&bound, |t| t.may_be(FIXNUM)) {
                return;
            }
            self.mention(&bound);
            add(&mut self.tests.fixed, bound);
        }
        let mut nodes = Vec::new();
        inside(if self.c.answer { then } else { other }, l, &mut Vec::new(), &mut |e| nodes.push(e));
        // indices first: they say which variables are integers
        nodes.iter().for_each(|e| self.access(e));
        nodes.iter().for_each(|e| self.arithmetic(e));
    }

    fn access(&mut self, e: &Expr) {
        let Expr::Prim { op, args, .. } = e else { return };
        let Some(kind) = Sequence::of(*op) else { return };
        let (Some(source), Some(index)) = (self.c.source(&args[0]), self.c.linear(&args[1])) else { return };
        if !self.only(&index, |t| t.may_be(FIXNUM)) || !self.has_vector(&source) {
            return;
        }
        self.mention(&index);
        self.gains += 2;
        self.note(source, kind, index);
    }

    /// Takes down the vectors that an element is read from; says whether that can be done before the loop.
    fn has_vector(&mut self, source: &Source) -> bool {
        let Source::Element(vector, index) = source else { return true };
        let fit = self.elements && self.only(index, |t| t.may_be(FIXNUM)) && self.has_vector(vector);
        if fit {
            self.mention(index);
            self.note((**vector).clone(), Sequence::VECTOR, index.clone());
        }
        fit
    }

    fn note(&mut self, source: Source, kind: Sequence, index: Expr) {
        match self.tests.objects.iter_mut().find(|o| o.source.is(&source) && o.kind == kind) {
            Some(o) => add(&mut o.indices, index),
            None => self.tests.objects.push(Accessed { source, kind, indices: vec![index] }),
        }
    }

    fn arithmetic(&mut self, e: &Expr) {
        let Expr::Prim { op: op @ PrimOp::Op(o), args, proven, .. } = e else { return };
        let (Some(_), Some(e)) = (operation(*o), self.c.linear(e)) else { return };
        let known = self.tests.variables.clone();
        if !self.only_but(&e, &known, |t| !t.is_none() && t.within(INTEGER)) {
            return;
        }
        self.gains += usize::from(op.is_generic());
        if self.c.changes(&e) {
            if op.is_generic() || *proven & 3 != 3 {
                self.mention(&e);
                add(&mut self.tests.linear, e);
            }
        } else if args.iter().any(|a| !matches!(a, Expr::Const(_))) {
            self.mention(&e);
            add(&mut self.tests.fixed, e);
        }
    }

    /// Are the variables from outside of such a type?
    fn only(&self, e: &Expr, test: impl Fn(Type) -> bool) -> bool {
        self.only_but(e, &[], test)
    }

    /// Are those but these?
    fn only_but(&self, e: &Expr, but: &[VarId], test: impl Fn(Type) -> bool) -> bool {
        let mut all = true;
        visit(e, &mut |e| {
            if let Expr::Local(v) = e
                && *v != self.c.counter
                && !but.contains(v)
            {
                all &= test(self.env.get(*v));
            }
        });
        all
    }

    /// Takes down the variables from outside in a linear expression.
    fn mention(&mut self, e: &Expr) {
        let (c, variables) = (self.c, &mut self.tests.variables);
        visit(e, &mut |e| {
            if let Expr::Local(v) = e
                && *v != c.counter
                && !variables.contains(v)
            {
                variables.push(*v);
            }
        });
    }
}

/// Writes into a copy of the body what the tests have shown.
struct Rewriter<'a> {
    c: &'a Counting,
    tests: &'a Tests,
    fixed: &'a [VarId],
    objects: &'a [VarId],
}

impl Rewriter<'_> {
    fn rewrite(&mut self, e: &mut Expr) {
        if let Expr::Prim { op: PrimOp::Op(o), .. } = e
            && let Some(generic) = operation(*o)
            && let Some(linear) = self.c.linear(e)
        {
            if let Some(i) = self.tests.fixed.iter().position(|f| same(f, &linear)) {
                *e = Expr::Local(self.fixed[i]);
                return;
            }
            let known = self.tests.linear.iter().any(|l| same(l, &linear));
            if known && let Expr::Prim { op, proven, .. } = e {
                (*op, *proven) = (PrimOp::Op(unchecked(generic)), 3);
            }
        }
        if let Expr::Prim { op: PrimOp::Op(Op::IsFixnum), args, .. } = e
            && let Some(linear) = self.c.linear(&args[0])
            && self.tests.linear.iter().any(|l| same(l, &linear))
        {
            *e = Expr::Const(Literal::Bool(true));
            return;
        }
        if let Expr::Prim { op: PrimOp::Op(Op::VectorRef), .. } = e
            && let Some(row) = self.c.source(e)
            && let Some(name) = self.tests.name_of(&row, self.objects)
        {
            *e = Expr::Local(name);
            return;
        }
        if let Expr::Prim { op, args, proven, .. } = e
            && let Some(kind) = Sequence::of(*op)
            && let (Some(source), Some(index)) = (self.c.source(&args[0]), self.c.linear(&args[1]))
            && let Some(o) = self.tests.objects.iter().find(|o| o.source.is(&source) && o.kind == kind)
            && o.indices.iter().any(|i| same(i, &index))
        {
            let numeric = matches!(*op, PrimOp::Op(o) if o.numeric().is_some());
            *proven |= IN_RANGE | 2 | u8::from(!numeric);
        }
        deep(|| for_each_child_mut(e, &mut |e| self.rewrite(e)));
    }
}

/// The test that a loop begins with is about fixnums.
fn by_fixnums(body: &mut Expr) {
    let Expr::If(test, ..) = body else { return };
    let mut test = &mut **test;
    while let Expr::Prim { op: PrimOp::Op(Op::Not), args, .. } = test {
        test = &mut args[0];
    }
    if let Expr::Prim { op: PrimOp::Op(o), proven, .. } = test {
        (*o, *proven) = match o {
            Op::NumEq => (Op::FxEq, 3),
            Op::NumLt => (Op::FxLt, 3),
            Op::NumLe => (Op::FxLe, 3),
            _ => return,
        };
    }
}

/// Something done before a loop.
enum Step {
    Bind(VarId, Expr),
    Test(Expr),
}

struct Guard {
    steps: Vec<Step>,
}

impl Guard {
    fn test(&mut self, e: Expr) {
        self.steps.push(Step::Test(e));
    }

    fn finish(self, then: Expr, slow: LabelId) -> Expr {
        self.steps.into_iter().rev().fold(then, |body, step| match step {
            Step::Bind(v, e) => Expr::Let(vec![(v, e)], Box::new(body)),
            Step::Test(e) => Expr::If(Box::new(e), Box::new(body), Box::new(Expr::Jump(slow, Vec::new()))),
        })
    }
}
