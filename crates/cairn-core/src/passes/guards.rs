//! Guards around expressions that do nothing but compute are only set up when something fails.
//!
//! ```text
//! (@guard* h (lambda thunk () (%car x)))     (labels ((L () (@guard* h (lambda thunk () (%car x)))))
//!                                              (if (%pair? x) (%car x) (jump L)))
//! (@guard* h (lambda thunk () (%eq? x 1)))   (%eq? x 1)
//! ```
//!
//! The problem: `guard` captures a continuation and makes a winder, a hundred instructions and more, for a body that is
//! often a single operation. The idea: an expression that calls nothing and writes nothing may be evaluated again. So
//! it is evaluated without the guard first; each operation that may fail is preceded by the tests that it would make,
//! and where one says that it will, the guard is set up and the expression evaluated from the start.
//!
//! This comes after the library's operations have been inlined, and before `guard*` is ([`procedure`]).
//!
//! Invariants: an operation is only reached without a guard where it cannot fail; whatever cannot be tested beforehand
//! (calls of the runtime that may fail, division, fields of records) keeps the guard as it is. So does what makes
//! objects, for memory may be exhausted: a loop may have nothing but its guards to notice. Linear in what is copied,
//! which is small.

use super::escapes::Joins;
use super::known::{self, GlobalFacts};
use crate::effects::Effects;
use crate::ir::{Expr, GlobalId, Label, Literal, Program, VarId};
use crate::prim::{Effect, Kind, Op, PrimOp};
use crate::walk::{Renaming, copy_fresh, deep, for_each_child_mut, rewrite, size_at_most, take, visit};
use cairn_layout::code::Site;
use cairn_num::{Int, Number};

/// Expressions of at most this size are copied.
const COPIED: usize = 40;

/// The library's procedure that `guard` becomes a call of.
pub fn procedure(program: &Program) -> Option<GlobalId> {
    let i = program.globals.iter().position(|g| g.library && &*g.name == "guard*")?;
    Some(GlobalId(i as u32))
}

/// Runs the pass.
pub fn run(program: &mut Program) {
    let Some(guard) = procedure(program) else { return };
    let facts = known::analyze(program);
    let mut forms = std::mem::take(&mut program.forms);
    for form in &mut forms {
        let mut any = false;
        visit(form.expr(), &mut |e| any |= is_guard(e, guard));
        if any {
            rewrite(form.expr_mut(), &mut |e| {
                if is_guard(e, guard) {
                    unguard(program, &facts, e);
                }
            });
        }
    }
    program.forms = forms;
}

fn is_guard(e: &Expr, guard: GlobalId) -> bool {
    matches!(e, Expr::Call(f, args, _) if args.len() == 2 && matches!(**f, Expr::Global(g, _) if g == guard))
}

/// The body of a guard, if it is known.
fn body(e: &Expr) -> Option<&Expr> {
    let Expr::Call(_, args, _) = e else { return None };
    let Expr::Lambda(thunk) = &args[1] else { return None };
    match &thunk.clauses[..] {
        [c] if c.params.is_empty() && c.rest.is_none() => Some(&c.body),
        _ => None,
    }
}

fn unguard(program: &mut Program, facts: &GlobalFacts, e: &mut Expr) {
    let Some(body) = body(e).filter(|b| size_at_most(b, COPIED) && may_be_repeated(b, facts)) else { return };
    let mut copy = copy_fresh(program, body, &mut Renaming::default());
    let exit = program.fresh_var("fails");
    test_first(program, &mut copy, exit);
    let mut fast = Joins { program, k: exit }.place(copy, None);
    let slow = program.fresh_label();
    let mut fails = false;
    rewrite(&mut fast, &mut |e| {
        if matches!(e, Expr::Call(f, ..) if matches!(**f, Expr::Local(v) if v == exit)) {
            fails = true;
            *e = Expr::Jump(slow, Vec::new());
        }
    });
    let guarded = take(e);
    *e = match fails {
        true => Expr::Labels(vec![Label { id: slow, params: Vec::new(), body: guarded }], Box::new(fast)),
        false => fast,
    };
}

/// Does the expression write nothing, make nothing and call nothing, and can be told beforehand what fails in it?
fn may_be_repeated(e: &Expr, facts: &GlobalFacts) -> bool {
    let mut may = true;
    visit(e, &mut |e| {
        may &= match e {
            Expr::Const(_) | Expr::Local(_) | Expr::If(..) | Expr::Seq(_) | Expr::Let(..) | Expr::Values(_) => {
                true
            }
            Expr::Global(g, _) => facts.read_effects(*g).within(Effects::READ),
            Expr::Prim { op: PrimOp::Op(op), proven, .. } => match PrimOp::Op(*op).can_fail(*proven) {
                true => tests(*op, *proven).is_some(),
                false => {
                    let info = op.info();
                    matches!(info.effect, Effect::Pure | Effect::Read)
                        && !matches!(info.result, Kind::Number | Kind::Flonum | Kind::Compnum | Kind::String)
                }
            },
            _ => false,
        }
    });
    may
}

/// A test of an operand that has a name.
enum Test {
    Is(Op, usize),
    /// The second operand is an index of the vector that is the first.
    IsIndex,
}

/// What to test before an operation so that it does not fail; `None`: not known.
fn tests(op: Op, proven: u8) -> Option<Vec<Test>> {
    use Op::*;
    let known = matches!(
        op,
        Car | Cdr
            | Add
            | Sub
            | Mul
            | NumEq
            | NumLt
            | NumLe
            | NumGt
            | NumGe
            | CharToInteger
            | CharEq
            | CharLt
            | FxAdd
            | FxSub
            | FxMul
            | FxEq
            | FxLt
            | FxLe
            | FxAnd
            | FxOr
            | FxXor
            | FxOnes
            | FxLength
            | FxTrailing
            | VectorLength
            | VectorRef
            | StringLength
            | BytevectorLength
    );
    if !known {
        return None;
    }
    let unproven = op.info().args.iter().enumerate().filter(|(i, _)| proven & (1 << i) == 0);
    let mut tests = unproven.map(|(i, k)| Some(Test::Is(predicate(*k)?, i))).collect::<Option<Vec<_>>>()?;
    if op == VectorRef {
        tests.push(Test::IsIndex);
    }
    Some(tests)
}

/// Numbers other than fixnums take the guard: they may have no order, and results may be large.
fn predicate(kind: Kind) -> Option<Op> {
    Some(match kind {
        Kind::Fixnum | Kind::Number => Op::IsFixnum,
        Kind::Pair => Op::IsPair,
        Kind::String => Op::IsString,
        Kind::Char => Op::IsChar,
        Kind::Vector => Op::IsVector,
        Kind::Bytevector => Op::IsBytevector,
        _ => return None,
    })
}

/// Puts tests before all operations that may fail: where one fails, `exit` is called.
fn test_first(program: &mut Program, e: &mut Expr, exit: VarId) {
    deep(|| {
        for_each_child_mut(e, &mut |c| test_first(program, c, exit));
        let Expr::Prim { op: PrimOp::Op(op), args, proven, site } = e else { return };
        if !PrimOp::Op(*op).can_fail(*proven) {
            return;
        }
        let (site, tests) = (*site, tests(*op, *proven).expect("asked before"));
        let mut named = Vec::new();
        for a in args.iter_mut().filter(|a| !matches!(a, Expr::Const(_) | Expr::Local(_))) {
            let v = program.fresh_var("operand");
            named.push((v, std::mem::replace(a, Expr::Local(v))));
        }
        let prim = |op, args| Expr::Prim { op: PrimOp::Op(op), args, site, proven: 0 };
        let mut checks = Vec::new();
        for test in tests {
            match test {
                Test::Is(op, i) => checks.push(prim(op, vec![args[i].clone()])),
                Test::IsIndex => {
                    let zero = Expr::Const(Literal::Number(Number::Int(Int::Fix(0))));
                    let length = prim(Op::VectorLength, vec![args[0].clone()]);
                    checks.push(prim(Op::FxLe, vec![zero, args[1].clone()]));
                    checks.push(prim(Op::FxLt, vec![args[1].clone(), length]));
                }
            }
        }
        let fails = || Expr::Call(Box::new(Expr::Local(exit)), Vec::new(), Site::NONE);
        let tested = checks
            .into_iter()
            .rev()
            .fold(take(e), |then, check| Expr::If(Box::new(check), Box::new(then), Box::new(fails())));
        *e = if named.is_empty() { tested } else { Expr::Let(named, Box::new(tested)) };
    })
}
