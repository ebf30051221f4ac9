//! Fields and global variables that no one assigns to are read before the loops that ask for them.
//!
//! ```text
//! (labels ((L (i) (if (%= i (%record-ref m @matrix 0))         (let ((rows (%record-ref m @matrix 0)))
//!                     'done                              ⟶       (labels ((L (i) (if (%= i rows)
//!                     (jump L (%+ i 1)))))                                           'done (jump L (%+ i 1)))))
//!   (jump L 0))                                                    (jump L 0)))
//! ```
//!
//! The problem: a matrix or a grid is mostly a record, so loops over it ask the record for its size and its elements in
//! every turn, and no bound of such a loop is a variable, of which [`super::bounds`] could know that it stays. The
//! idea: a field that no operation of the program assigns to holds what it held when the record was made.
//!
//! A read may fail, if its operand is no record of the type. So one is moved only where another access to the same
//! variable and type, or a test, has come before the loop; or where the first turn of the loop does it before anything
//! else that may fail. Loops with calls are left alone: there the read costs little, and a variable that lives across
//! the call costs as much.
//!
//! Global variables are read before a loop where operations on numbers and on vectors have them as operands: the passes
//! that come after know local variables only. They are defined whenever they are read, so that cannot fail.
//!
//! Invariants: types are those of [`Records::of_any_values`], so all accesses to their fields are in the program, and
//! no local variable is assigned to (dialect `Fixed` or `Opt`). Operands are evaluated from the left. Records in global
//! variables are left alone. Complexity: linear in the program for each level of nested loops.

use super::records::{Records, field};
use crate::ir::{Expr, GlobalId, Label, LabelId, Program, TopForm, VarId};
use crate::passes::known::{self, GlobalFacts, Known};
use crate::prim::{Op, PrimOp};
use crate::walk::{deep, for_each_child, for_each_child_mut, rewrite, take, visit};
use rustc_hash::FxHashSet;

/// See the module's header.
pub(super) fn run(program: &mut Program) {
    let facts = known::analyze(program);
    let mut forms = std::mem::take(&mut program.forms);
    let types = Records::new(program, &forms).of_any_values(program, &forms);
    let mut moved = Fields::new(program, types, facts, &forms);
    for form in &mut forms {
        moved.walk_apart(form.expr_mut(), None);
    }
    program.forms = forms;
}

/// What is read before a loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Read {
    /// The field of this code, of a record of this type in this variable.
    Field(VarId, GlobalId, i64),
    Global(GlobalId),
}

struct Fields<'p> {
    program: &'p mut Program,
    types: FxHashSet<GlobalId>,
    facts: GlobalFacts,
    /// Fields that are assigned to, by type and code.
    assigned: FxHashSet<(GlobalId, i64)>,
    /// Labels that their group jumps to.
    loops: FxHashSet<LabelId>,
    /// Variables that hold records of this type here, and the order in which that was found.
    known: FxHashSet<(VarId, GlobalId)>,
    order: Vec<(VarId, GlobalId)>,
}

impl<'p> Fields<'p> {
    fn new(
        program: &'p mut Program,
        types: FxHashSet<GlobalId>,
        facts: GlobalFacts,
        forms: &[TopForm],
    ) -> Fields<'p> {
        let (mut assigned, mut loops) = (FxHashSet::default(), FxHashSet::default());
        for form in forms {
            visit(form.expr(), &mut |e| {
                if let Expr::Prim { op: PrimOp::Op(Op::RecordSet), args, .. } = e {
                    assigned.extend(field(args));
                }
            });
            find_loops(form.expr(), &mut FxHashSet::default(), &mut loops);
        }
        let (known, order) = (FxHashSet::default(), Vec::new());
        Fields { program, types, facts, assigned, loops, known, order }
    }

    fn walk(&mut self, e: &mut Expr) {
        deep(|| self.walk_here(e))
    }

    /// Walks what is evaluated only perhaps, or at another time; there this is known in addition.
    fn walk_apart(&mut self, e: &mut Expr, too: Option<(VarId, GlobalId)>) {
        let before = self.order.len();
        self.note(too);
        self.walk(e);
        for fact in self.order.drain(before..) {
            self.known.remove(&fact);
        }
    }

    fn note(&mut self, fact: Option<(VarId, GlobalId)>) {
        if let Some(fact) = fact
            && self.known.insert(fact)
        {
            self.order.push(fact);
        }
    }

    fn walk_here(&mut self, e: &mut Expr) {
        if let Expr::Labels(labels, _) = e
            && labels.iter().any(|l| self.loops.contains(&l.id))
            && let reads = self.reads_to_move(e)
            && !reads.is_empty()
        {
            self.read_before(e, reads);
            return self.walk(e);
        }
        match e {
            Expr::If(test, then, other) => {
                self.walk(test);
                let asked = asked(test);
                self.walk_apart(then, asked);
                self.walk_apart(other, None);
            }
            Expr::Let(bindings, body) => {
                for (v, x) in bindings.iter_mut() {
                    self.walk(x);
                    self.note(made(x).map(|t| (*v, t)));
                }
                self.walk(body);
            }
            Expr::Lambda(_) | Expr::Fix(..) | Expr::Labels(..) | Expr::Receive { .. } | Expr::Letrec(..) => {
                for_each_child_mut(e, &mut |e| self.walk_apart(e, None))
            }
            e => {
                for_each_child_mut(e, &mut |e| self.walk(e));
                self.note(accessed(e));
            }
        }
    }

    /// The reads in a loop that may come before it, each once. The first of those that may fail are what the first turn
    /// reads first.
    fn reads_to_move(&self, e: &Expr) -> Vec<Expr> {
        let Expr::Labels(labels, entry) = e else { return Vec::new() };
        let (mut calls, mut bound) = (false, FxHashSet::<VarId>::default());
        let (mut reads, mut globals): (Vec<&Expr>, Vec<&Expr>) = (Vec::new(), Vec::new());
        visit(e, &mut |e| match e {
            Expr::Call(..) | Expr::Apply(..) | Expr::CallCc(..) | Expr::Lambda(_) | Expr::Fix(..) => calls = true,
            Expr::Labels(labels, _) => bound.extend(labels.iter().flat_map(|l| &l.params)),
            Expr::Let(bindings, _) | Expr::Letrec(bindings, _) => bound.extend(bindings.iter().map(|(v, _)| v)),
            Expr::Receive { clause, .. } => bound.extend(clause.params.iter().chain(&clause.rest)),
            Expr::Prim { op, args, .. } => {
                reads.extend(self.read(e).is_some().then_some(e));
                let operands = args.iter().take(numbers_and_vectors(*op));
                globals.extend(operands.filter(|a| matches!(self.read(a), Some(Read::Global(_)))));
            }
            _ => {}
        });
        if calls || reads.is_empty() && globals.is_empty() {
            return Vec::new();
        }
        let mut first = Vec::new();
        first_accesses(labels, entry, &mut first);
        let movable = |e: &&Expr| matches!(self.read(e), Some(Read::Field(v, ..)) if !bound.contains(&v));
        let first: Vec<&Expr> = first.into_iter().take_while(movable).collect();
        let by_first_turn: FxHashSet<_> = first.iter().filter_map(|e| accessed(e)).collect();
        let mut moved: Vec<Expr> = Vec::new();
        let mut there = FxHashSet::default();
        for e in first.into_iter().chain(reads).filter(movable) {
            let of = accessed(e).expect("it is a read");
            if (by_first_turn.contains(&of) || self.known.contains(&of)) && there.insert(self.read(e)) {
                moved.push(e.clone());
            }
        }
        moved.extend(globals.into_iter().filter(|e| there.insert(self.read(e))).cloned());
        moved
    }

    /// A read of a field or a global variable that nobody assigns to.
    fn read(&self, e: &Expr) -> Option<Read> {
        match e {
            Expr::Prim { op: PrimOp::Op(Op::RecordRef), args, .. } => {
                let (v, t) = accessed(e)?;
                let (_, code) = field(args)?;
                let stays = !self.assigned.contains(&(t, code)) && self.types.contains(&t);
                stays.then_some(Read::Field(v, t, code))
            }
            Expr::Global(g, _) => {
                let value = matches!(self.facts.get(*g).value, Known::Fixed);
                (value && self.facts.is_constant(*g)).then_some(Read::Global(*g))
            }
            _ => None,
        }
    }

    /// Gives names to what the reads give, before `e`.
    fn read_before(&mut self, e: &mut Expr, mut reads: Vec<Expr>) {
        let mut names = Vec::new();
        for read in &mut reads {
            if let Expr::Prim { proven, .. } = read {
                *proven = 0;
            }
            let what = self.read(read).expect("it is such a read");
            let name = if let Read::Field(..) = what { "field" } else { "global" };
            names.push((what, self.program.fresh_var(name)));
        }
        let name_of = |what: Option<Read>| names.iter().find(|(w, _)| Some(*w) == what).map(|(_, name)| *name);
        rewrite(e, &mut |e| {
            let Expr::Prim { op, args, .. } = e else { return };
            for a in args.iter_mut().take(numbers_and_vectors(*op)) {
                if let what @ Some(Read::Global(_)) = self.read(a)
                    && let Some(name) = name_of(what)
                {
                    *a = Expr::Local(name);
                }
            }
            if let Some(name) = name_of(self.read(e)) {
                *e = Expr::Local(name);
            }
        });
        let inner = take(e);
        *e = names
            .iter()
            .zip(reads)
            .rev()
            .fold(inner, |body, ((_, name), read)| Expr::Let(vec![(*name, read)], Box::new(body)));
    }
}

/// How many operands of the operation, from the first, are numbers, vectors, or strings.
fn numbers_and_vectors(op: PrimOp) -> usize {
    use Op::*;
    let PrimOp::Op(o) = op else { return 0 };
    match o {
        VectorRef | VectorSet | VectorLength | StringRef | StringSet | StringLength => 2,
        BytevectorRef | BytevectorSet | BytevectorLength => 2,
        Add | Sub | Mul | Div | NumEq | NumLt | NumLe | NumGt | NumGe => 2,
        FxAdd | FxSub | FxMul | FxEq | FxLt | FxLe | FlAdd | FlSub | FlMul | FlDiv | FlEq | FlLt | FlLe => 2,
        o if o.numeric().is_some() => 2,
        _ => 0,
    }
}

/// Finds the labels that the bodies of their group jump to.
fn find_loops(e: &Expr, open: &mut FxHashSet<LabelId>, loops: &mut FxHashSet<LabelId>) {
    deep(|| match e {
        Expr::Labels(labels, entry) => {
            open.extend(labels.iter().map(|l| l.id));
            labels.iter().for_each(|l| find_loops(&l.body, open, loops));
            labels.iter().for_each(|l| _ = open.remove(&l.id));
            find_loops(entry, open, loops);
        }
        e => {
            if let Expr::Jump(l, _) = e
                && open.contains(l)
            {
                loops.insert(*l);
            }
            for_each_child(e, &mut |e| find_loops(e, open, loops));
        }
    })
}

/// The variable that holds a record of this type once the expression has been evaluated: it fails otherwise.
fn accessed(e: &Expr) -> Option<(VarId, GlobalId)> {
    match e {
        Expr::Prim { op: PrimOp::Op(Op::RecordRef | Op::RecordSet), args, .. } => variable_and_type(args),
        _ => None,
    }
}

/// The variable that holds a record of this type if the test is passed.
fn asked(test: &Expr) -> Option<(VarId, GlobalId)> {
    match test {
        Expr::Prim { op: PrimOp::Op(Op::IsInstance), args, .. } => variable_and_type(args),
        _ => None,
    }
}

fn variable_and_type(args: &[Expr]) -> Option<(VarId, GlobalId)> {
    match args {
        [Expr::Local(v), Expr::Global(t, _), ..] => Some((*v, *t)),
        _ => None,
    }
}

/// The type of the record that the expression makes.
fn made(e: &Expr) -> Option<GlobalId> {
    match e {
        Expr::Prim { op: PrimOp::Record, args, .. } => match args.first() {
            Some(Expr::Global(t, _)) => Some(*t),
            _ => None,
        },
        _ => None,
    }
}

/// Adds the accesses of the first turn of a loop before anything else in it can fail or be seen.
fn first_accesses<'a>(labels: &'a [Label], entry: &'a Expr, found: &mut Vec<&'a Expr>) {
    let simple = |e: &Expr| matches!(e, Expr::Const(_) | Expr::Local(_));
    if let Expr::Jump(id, args) = entry
        && args.iter().all(simple)
        && let Some(l) = labels.iter().find(|l| l.id == *id)
    {
        accesses_at_first(&l.body, found);
    }
}

/// Adds the accesses that the expression begins with; says whether it is nothing else.
fn accesses_at_first<'a>(e: &'a Expr, found: &mut Vec<&'a Expr>) -> bool {
    deep(|| match e {
        Expr::Const(_) | Expr::Local(_) => true,
        Expr::Prim { op: PrimOp::Op(Op::RecordRef), .. } if accessed(e).is_some() => {
            found.push(e);
            true
        }
        Expr::Prim { args, .. } => {
            _ = args.iter().all(|a| accesses_at_first(a, found));
            false
        }
        Expr::If(test, ..) => {
            accesses_at_first(test, found);
            false
        }
        Expr::Let(bindings, body) => {
            bindings.iter().all(|(_, x)| accesses_at_first(x, found)) && accesses_at_first(body, found)
        }
        Expr::Seq(es) => es.iter().all(|e| accesses_at_first(e, found)),
        Expr::Labels(labels, entry) => {
            first_accesses(labels, entry, found);
            false
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::parse::parse_program;
    use crate::print::print_program;

    /// How many reads are moved before loops of the program, and whether any is left in them.
    fn moved(text: &str) -> (usize, bool) {
        let types = "(define @t.0 (%make-record-type 'grid '(size cells) 32))";
        let mut p = parse_program(&format!("{types} {text}")).unwrap_or_else(|e| panic!("{e}\n{text}"));
        super::run(&mut p);
        crate::verify::verify(&p, crate::verify::Dialect::Opt).expect("the program is right");
        let text = print_program(&p);
        let loops = text.split_once("(labels").map_or("", |(_, rest)| rest);
        (text.matches("((field.").count(), loops.contains("%record-ref"))
    }

    const LOOP: &str = "(labels ((L0 (i.2) (if (%= i.2 (%record-ref g.1 @t.0 0))
                                               (%record-ref g.1 @t.0 1)
                                               (jump L0 (%+ i.2 (%record-ref g.1 @t.0 0))))))
                          (jump L0 0))";

    #[test]
    fn reads_come_before_the_loop() {
        // the first turn reads the size first
        assert_eq!(moved(&format!("(define @f.1 (lambda f (g.1) {LOOP}))")), (2, false));
        // known by a read, by its birth, and by a test
        let later = LOOP.replace("(%= i.2 (%record-ref g.1 @t.0 0))", "(%machine-ref i.2)");
        assert_eq!(moved(&format!("(define @f.1 (lambda f (g.1) {later}))")), (0, true));
        for known in [
            "(lambda f (g.1) (seq (%machine-set! 1 (%record-ref g.1 @t.0 1)) LOOP))",
            "(lambda f (n.5) (let ((g.1 (%record @t.0 n.5 n.5))) LOOP))",
            "(lambda f (g.1) (if (%record-instance? g.1 @t.0) LOOP 0))",
        ] {
            assert_eq!(moved(&format!("(define @f.1 {})", known.replace("LOOP", &later))), (2, false), "{known}");
        }
    }

    #[test]
    fn global_variables_are_read_before_loops() {
        let loop_of = |v: &str| {
            format!(
                "(labels ((L0 (i.2 s.3) (if (%= i.2 @n.5) s.3 (jump L0 (%+ i.2 1) (%+ s.3 (%vector-ref {v} i.2))))))
                   (jump L0 0 0))"
            )
        };
        let defined = "(define @n.5 (%vector-length (%vector 1 2))) (define @v.4 (%vector 1 2))";
        for (loop_, before, count) in [
            (loop_of("@v.4"), "", 2),
            (loop_of("(%vector-ref @v.4 0)"), "", 2),
            // assigned; read before the definition; calls
            (loop_of("@v.4"), "(set! @v.4 (%vector 1))", 1),
            (
                loop_of("@v.4").replace("(%vector-ref", "(@f.6 (%vector-ref").replace("i.2))))))", "i.2)))))))"),
                "",
                0,
            ),
        ] {
            let text =
                format!("{defined} {before} (define @f.6 (lambda f (x.7) x.7)) (%write-object {loop_} '() 1)");
            let mut p = parse_program(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            super::run(&mut p);
            crate::verify::verify(&p, crate::verify::Dialect::Opt).expect("the program is right");
            assert_eq!(print_program(&p).matches("((global.").count(), count, "{text}\n{}", print_program(&p));
        }
        let text = format!("(define @g.6 (lambda g () {})) (@g.6) {defined}", loop_of("@v.4"));
        let mut p = parse_program(&text).expect("a program");
        super::run(&mut p);
        assert!(!print_program(&p).contains("((global."), "{}", print_program(&p));
    }

    #[test]
    fn reads_stay_where_they_must() {
        for (count, f) in [
            // known on another way only
            (0, "(lambda f (g.1) (if (%record-instance? g.1 @t.0) 0 LOOP))"),
            (0, "(lambda f (g.1) (seq (if (%machine-ref 1) (%record-ref g.1 @t.0 0) 0) LOOP))"),
            // a field is assigned to
            (1, "(lambda f (g.1) (seq (%record-set! g.1 @t.0 0 7) LOOP))"),
            // calls
            (0, "(lambda f (g.1) (seq (%record-ref g.1 @t.0 0) CALLING))"),
        ] {
            let later = LOOP.replace("(%= i.2 (%record-ref g.1 @t.0 0))", "(%machine-ref i.2)");
            let calling = later.replace("(%+ i.2", "(@f.1 i.2");
            let text = f.replace("LOOP", &later).replace("CALLING", &calling);
            assert_eq!(moved(&format!("(define @f.1 {text})")), (count, true), "{text}");
        }
        // something else may fail, or be done, before the first access
        for first in
            ["(seq (%machine-set! 1 i.2) (%record-ref g.1 @t.0 0))", "(%+ (%car i.2) (%record-ref g.1 @t.0 0))"]
        {
            let text = LOOP.replace("(%= i.2 (%record-ref g.1 @t.0 0))", first);
            assert_eq!(moved(&format!("(define @f.1 (lambda f (g.1) {text}))")), (0, true), "{first}");
        }
    }
}
