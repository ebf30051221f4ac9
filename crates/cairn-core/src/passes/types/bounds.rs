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
//! Loops with few turns ([`MIN_TURNS`]) are left to the general loop, too, since the tests take as long as some turns.
//!
//! Invariants: it comes after all else of [`super`], whose facts hold in the copy as well; innermost loops without
//! calls and lambdas, except in what comes after them, of up to [`LIMIT`] nodes, so a program at most doubles.

use super::budget::{self, Copied};
use super::env::Env;
use super::lattice::{Type, bits::*};
use super::twice::{copied_loop, enter_by, inside, take_exits};
use crate::ir::{Expr, Label, LabelId, Literal, Program, TopForm, VarId};
use crate::passes::fold::fixnum;
use crate::prim::{IN_RANGE, Numeric, Op, PrimOp, fixnum_bit};
use crate::walk::{deep, for_each_binder, for_each_child_mut, rewrite, size_at_most, visit};
use cairn_layout::code::Site;
use cairn_layout::value::{FIXNUM_MAX, FIXNUM_MIN};
use cairn_num::{Int, Number};
use rustc_hash::{FxHashMap, FxHashSet};

/// Larger loop bodies are not copied.
const LIMIT: usize = 600;
/// Nor are loops looked at that are larger with what comes after them.
const SEARCH_LIMIT: usize = 4000;
/// A loop with fewer turns does not enter the copy, nor one with fewer turns than half of its tests.
const MIN_TURNS: usize = 8;
/// More than so many tests before a loop are not made.
const MAX_TESTS: usize = 100;
/// Larger linear expressions are not looked at.
const LINEAR: usize = 24;
/// The greatest step of a counter.
const MAX_STEP: i64 = 1 << 16;

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

/// When a loop goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum While {
    /// The counter is below the bound.
    Below,
    /// It is not above.
    UpTo,
    /// It is another number.
    Not,
}

/// A loop that counts.
struct Counting {
    /// Which parameter.
    parameter: usize,
    counter: VarId,
    step: i64,
    /// While the counter, or the negative one where it counts down, is so to the bound.
    goes_on: While,
    bound: Expr,
    /// It goes on where the test at its beginning has this answer.
    answer: bool,
    /// Variables that change from turn to turn.
    inner: FxHashSet<VarId>,
    /// Values of variables bound inside.
    values: FxHashMap<VarId, Expr>,
}

impl Counting {
    fn of(l: &Label) -> Option<Counting> {
        if !size_at_most(&l.body, SEARCH_LIMIT) {
            return None;
        }
        let mut body = Vec::new();
        inside(&l.body, l.id, &mut Vec::new(), &mut |e| body.push(e));
        if body.len() > LIMIT {
            return None;
        }
        let mut inner: FxHashSet<VarId> = l.params.iter().copied().collect();
        let (mut values, mut jumps, mut own) = (FxHashMap::default(), Vec::new(), FxHashSet::default());
        for e in &body {
            match e {
                Expr::Call(..) | Expr::Apply(..) | Expr::CallCc(..) => return None,
                Expr::Lambda(_) | Expr::Fix(..) | Expr::Letrec(..) | Expr::Receive { .. } => return None,
                Expr::Labels(labels, _) => own.extend(labels.iter().map(|l| l.id)),
                Expr::Jump(to, args) if *to == l.id => jumps.push(args),
                Expr::Let(bs, _) => values.extend(bs.iter().map(|(v, e)| (*v, (*e).clone()))),
                _ => {}
            }
            for_each_binder(e, &mut |v| {
                inner.insert(v);
            });
        }
        if jumps.is_empty() || loops_inside(&l.body, &own) {
            return None;
        }
        let (parameter, step) = (0..l.params.len()).find_map(|i| {
            let mut steps = jumps.iter().map(|args| step_of(&args[i], l.params[i], &values));
            let first = steps.next()??;
            steps.all(|s| s == Some(first)).then_some((i, first))
        })?;
        let counter = l.params[parameter];
        let Expr::If(test, then, other) = &l.body else { return None };
        let leaves = |e: &Expr| {
            let mut stays = false;
            visit(e, &mut |e| stays |= matches!(e, Expr::Jump(to, _) if *to == l.id));
            !stays
        };
        let answer = match (leaves(then), leaves(other)) {
            (true, false) => false,
            (false, true) => true,
            _ => return None,
        };
        let (goes_on, bound) = condition(test, counter, answer, step > 0)?;
        let c = Counting { parameter, counter, step, goes_on, bound, answer, inner, values };
        (c.is_outside(&c.bound) && (goes_on != While::Not || step.abs() == 1)).then_some(c)
    }

    /// Does it not change while the loop runs, and may it be evaluated before?
    fn is_outside(&self, e: &Expr) -> bool {
        match e {
            Expr::Local(v) => !self.inner.contains(v),
            Expr::Const(l) => fixnum(l).is_some(),
            Expr::Prim {
                op: PrimOp::Op(Op::VectorLength | Op::StringLength | Op::BytevectorLength | Op::F64VectorLength),
                args,
                ..
            } => self.is_outside(&args[0]),
            _ => false,
        }
    }

    /// What is to be tested before a copy of the loop `l`, if that is worth it.
    fn tests(&self, l: &Label, env: &Env) -> Option<Tests> {
        let mut finder = Finder { c: self, env, tests: Tests::default(), gains: 0 };
        finder.look_through(&l.body, l.id);
        let Finder { tests, gains, .. } = finder;
        (gains >= 2 && !tests.objects.is_empty() && tests.count() <= MAX_TESTS).then_some(tests)
    }

    /// The label in front of the loop `l`, if its copy is worth it. What the loop does when it ends becomes labels
    /// in `exits`.
    fn entry(self, program: &mut Program, l: &mut Label, env: &Env, exits: &mut Vec<Label>) -> Option<Label> {
        let tests = self.tests(l, env)?;
        take_exits(program, &mut l.body, l.id, &self.inner, &mut Vec::new(), exits);
        // what does not change gets its name before the copy is made
        let mut body = l.body.clone();
        let fixed: Vec<VarId> = tests.fixed.iter().map(|_| program.fresh_var("fixed")).collect();
        let mut rewriter = Rewriter { c: &self, tests: &tests, fixed: &fixed };
        rewriter.rewrite(&mut body);
        by_fixnums(&mut body);
        let copy = copied_loop(program, l, &body);
        let general = Label { id: program.fresh_label(), params: Vec::new(), body: copy.general(l) };
        Some(copy.entered(program, |program, params, inside| {
            let body = self.guarded(program, params[self.parameter], tests, &fixed, inside, general.id);
            Expr::Labels(vec![general], Box::new(body))
        }))
    }

    /// `then` if all tests succeed for a loop that begins with `first`, else a jump to `slow`.
    fn guarded(
        &self,
        program: &mut Program,
        first: VarId,
        tests: Tests,
        fixed: &[VarId],
        then: Expr,
        slow: LabelId,
    ) -> Expr {
        let mut g = Guard { steps: Vec::new() };
        let (bound, least) = (program.fresh_var("bound"), program.fresh_var("last"));
        g.steps.push(Step::Bind(bound, self.bound.clone()));
        g.test(prim(Op::IsFixnum, vec![Expr::Local(bound)], 0));
        g.test(prim(Op::IsFixnum, vec![Expr::Local(first)], 0));
        for v in &tests.variables {
            g.test(prim(Op::IsFixnum, vec![Expr::Local(*v)], 0));
        }
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
        let fixed: Vec<(VarId, Expr)> = fixed.iter().copied().zip(tests.fixed).collect();
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
        for (object, kind, indices) in &tests.objects {
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

    /// Is the counter in the linear expression?
    fn changes(&self, e: &Expr) -> bool {
        let mut found = false;
        visit(e, &mut |e| found |= matches!(e, Expr::Local(v) if *v == self.counter));
        found
    }

    /// `e` as sums and products of the counter, constants and variables from outside, linear in the counter.
    fn linear(&self, e: &Expr) -> Option<Expr> {
        let e = self.expand(e)?;
        size_at_most(&e, LINEAR).then_some(e)
    }

    fn expand(&self, e: &Expr) -> Option<Expr> {
        match e {
            Expr::Const(l) => fixnum(l).map(number),
            Expr::Local(v) if *v == self.counter || !self.inner.contains(v) => Some(Expr::Local(*v)),
            Expr::Local(v) => deep(|| self.expand(self.values.get(v)?)),
            Expr::Prim { op: PrimOp::Op(o), args, .. } => {
                let o = operation(*o)?;
                let (a, b) = (self.expand(&args[0])?, self.expand(&args[1])?);
                let product_of_counters = o == Op::Mul && self.changes(&a) && self.changes(&b);
                let e = generic(o, a, b);
                (!product_of_counters && size_at_most(&e, LINEAR)).then_some(e)
            }
            _ => None,
        }
    }
}

/// Does one of the labels jump to itself or an earlier one? Only joins are known not to.
fn loops_inside(e: &Expr, labels: &FxHashSet<LabelId>) -> bool {
    let mut found = false;
    visit(e, &mut |e| {
        if let Expr::Labels(ls, _) = e
            && ls.iter().any(|l| labels.contains(&l.id))
        {
            for l in ls {
                visit(&l.body, &mut |e| found |= matches!(e, Expr::Jump(to, _) if ls.iter().any(|l| l.id == *to)));
            }
        }
    });
    found
}

/// What is added to the counter by this argument.
fn step_of(e: &Expr, counter: VarId, values: &FxHashMap<VarId, Expr>) -> Option<i64> {
    let e = match e {
        Expr::Local(v) if *v != counter => values.get(v)?,
        e => e,
    };
    let Expr::Prim { op: PrimOp::Op(o), args, .. } = e else { return None };
    let step = match (operation(*o)?, &args[..]) {
        (Op::Add, [Expr::Local(v), Expr::Const(l)] | [Expr::Const(l), Expr::Local(v)]) if *v == counter => {
            fixnum(l)?
        }
        (Op::Sub, [Expr::Local(v), Expr::Const(l)]) if *v == counter => fixnum(l)?.checked_neg()?,
        _ => return None,
    };
    (step != 0 && step.abs() <= MAX_STEP).then_some(step)
}

/// How the counter is to the bound while the loop goes on, if it goes on where `test` has this answer.
fn condition(test: &Expr, counter: VarId, answer: bool, up: bool) -> Option<(While, Expr)> {
    let Expr::Prim { op: PrimOp::Op(o), args, .. } = test else { return None };
    if let (Op::Not, [e]) = (*o, &args[..]) {
        return condition(e, counter, !answer, up);
    }
    let [a, b] = &args[..] else { return None };
    let is_counter = |e: &Expr| matches!(e, Expr::Local(v) if *v == counter);
    let (left, bound) = match (is_counter(a), is_counter(b)) {
        (true, false) => (true, b),
        (false, true) => (false, a),
        _ => return None,
    };
    // "less" with the counter on the left, or what that is with everything turned round
    let (mut less, mut or_equal) = match o {
        Op::NumEq | Op::FxEq => return (!answer).then(|| (While::Not, bound.clone())),
        Op::NumLt | Op::FxLt => (true, false),
        Op::NumLe | Op::FxLe => (true, true),
        Op::NumGt => (false, false),
        Op::NumGe => (false, true),
        _ => return None,
    };
    if !left {
        less = !less;
    }
    if !answer {
        (less, or_equal) = (!less, !or_equal);
    }
    (less == up).then(|| (if or_equal { While::UpTo } else { While::Below }, bound.clone()))
}

/// The generic operation of sums and products.
fn operation(o: Op) -> Option<Op> {
    Some(match o {
        Op::Add | Op::FxAdd => Op::Add,
        Op::Sub | Op::FxSub => Op::Sub,
        Op::Mul | Op::FxMul => Op::Mul,
        _ => return None,
    })
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

/// An operation on integers, which may be bignums.
fn generic(op: Op, a: Expr, b: Expr) -> Expr {
    prim(op, vec![a, b], 3)
}

fn number(n: i64) -> Expr {
    Expr::Const(Literal::Number(Number::Int(Int::Fix(n))))
}

/// What an element is taken out of, or put into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sequence {
    is: PrimOp,
    length: PrimOp,
}

impl Sequence {
    /// Of an access.
    fn of(op: PrimOp) -> Option<Sequence> {
        let PrimOp::Op(o) = op else { return None };
        let (is, length) = match o {
            Op::VectorRef | Op::VectorSet => (Op::IsVector, Op::VectorLength),
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
    /// Sequences and the indices, at both ends.
    objects: Vec<(VarId, Sequence, Vec<Expr>)>,
}

impl Tests {
    fn count(&self) -> usize {
        let indices: usize = self.objects.iter().map(|(_, _, indices)| 2 + 4 * indices.len()).sum();
        self.variables.len() + self.fixed.len() + 2 * self.linear.len() + indices
    }
}

/// Are these linear expressions the same?
fn same(a: &Expr, b: &Expr) -> bool {
    match (a, b) {
        (Expr::Local(v), Expr::Local(w)) => v == w,
        (Expr::Const(l), Expr::Const(m)) => fixnum(l) == fixnum(m),
        (Expr::Prim { op: o, args: a, .. }, Expr::Prim { op: p, args: b, .. }) => {
            o == p && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        _ => false,
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
}

impl Finder<'_> {
    fn look_through(&mut self, body: &Expr, l: LabelId) {
        let Expr::If(_, then, other) = body else { return };
        let mut nodes = Vec::new();
        inside(if self.c.answer { then } else { other }, l, &mut Vec::new(), &mut |e| nodes.push(e));
        // indices first: they say which variables are integers
        nodes.iter().for_each(|e| self.access(e));
        nodes.iter().for_each(|e| self.arithmetic(e));
    }

    fn access(&mut self, e: &Expr) {
        let Expr::Prim { op, args, .. } = e else { return };
        let Some(kind) = Sequence::of(*op) else { return };
        let (Expr::Local(v), Some(index)) = (&args[0], self.c.linear(&args[1])) else { return };
        if self.c.inner.contains(v) || !self.only(&index, |t| t.may_be(FIXNUM)) {
            return;
        }
        self.mention(&index);
        self.gains += 2;
        match self.tests.objects.iter_mut().find(|(object, k, _)| object == v && *k == kind) {
            Some((_, _, indices)) => add(indices, index),
            None => self.tests.objects.push((*v, kind, vec![index])),
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
        if let Expr::Prim { op, args, proven, .. } = e
            && let (Some(kind), Some(Expr::Local(v))) = (Sequence::of(*op), args.first())
            && let Some(index) = self.c.linear(&args[1])
            && let Some((_, _, indices)) = self.tests.objects.iter().find(|(o, k, _)| o == v && *k == kind)
            && indices.iter().any(|i| same(i, &index))
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
