//! What an analysis of whole programs says that their variables hold: random programs check it while they run, in the
//! reference interpreter, and must do what they did.

use crate::interp::{self, Stop};
use crate::ir::{Expr, Held, Literal, Program, VarId};
use crate::parse::parse_program;
use crate::passes;
use crate::passes::inline::random::program;
use crate::prim::{Op, PrimOp};
use crate::print::print_program;
use crate::walk::rewrite;
use cairn_layout::code::Site;
use cairn_num::{Int, Number};
use std::collections::HashMap;

fn prim(op: Op, args: Vec<Expr>) -> Expr {
    Expr::Prim { op: PrimOp::Op(op), args, site: Site::NONE, proven: 0 }
}

fn fixnum(n: i64) -> Expr {
    Expr::Const(Literal::Number(Number::Int(Int::Fix(n))))
}

fn truth(b: bool) -> Expr {
    Expr::Const(Literal::Bool(b))
}

/// The bits of kinds, as the glossary of the types pass has them, with the tests for them.
const TESTS: [(u32, Op); 8] = [
    (1, Op::IsFixnum),
    (1 << 1 | 1 << 27, Op::IsFlonum),
    (1 << 2 | 1 << 24, Op::IsBignum),
    (1 << 7, Op::IsNull),
    (1 << 8, Op::IsPair),
    (1 << 12, Op::IsVector),
    (1 << 14, Op::IsProcedure),
    (1 << 6, Op::Not),
];

/// Fails unless the value is one of those.
fn check(value: &dyn Fn() -> Expr, held: &Held, checks: &mut Vec<Expr>) {
    let fails = || prim(Op::Car, vec![truth(false)]);
    let mut forbid = |test: Expr| checks.push(Expr::If(test.into(), fails().into(), truth(true).into()));
    for (bits, op) in TESTS {
        if held.kinds & bits == 0 {
            forbid(prim(op, vec![value()]));
        }
    }
    let (lo, hi) = held.range;
    let outside = Expr::If(
        prim(Op::FxLt, vec![value(), fixnum(lo)]).into(),
        truth(true).into(),
        prim(Op::FxLt, vec![fixnum(hi), value()]).into(),
    );
    forbid(Expr::If(prim(Op::IsFixnum, vec![value()]).into(), outside.into(), truth(false).into()));
    if let Some(elements) = &held.elements {
        let mut of_first = Vec::new();
        check(&|| prim(Op::VectorRef, vec![value(), fixnum(0)]), elements, &mut of_first);
        let is_empty = || prim(Op::FxLt, vec![prim(Op::VectorLength, vec![value()]), fixnum(1)]);
        let all =
            |of_first: Vec<Expr>| Expr::If(is_empty().into(), truth(true).into(), Expr::Seq(of_first).into());
        checks.push(Expr::If(prim(Op::IsVector, vec![value()]).into(), all(of_first).into(), truth(true).into()));
    }
}

/// Lets the program check what is said of its variables, wherever they are bound; returns how much was said.
fn let_it_check(p: &mut Program) -> usize {
    let said: HashMap<VarId, Held> = (p.vars.iter().enumerate())
        .filter_map(|(i, info)| Some((VarId(i as u32), (**info.held.as_ref()?).clone())))
        .collect();
    let with_checks = |vars: Vec<VarId>, body: &mut Expr| {
        let mut checks = Vec::new();
        for v in vars {
            let Some(held) = said.get(&v) else { continue };
            let value = || match held.boxed {
                true => prim(Op::Unbox, vec![Expr::Local(v)]),
                false => Expr::Local(v),
            };
            check(&value, held, &mut checks);
        }
        if !checks.is_empty() {
            checks.push(std::mem::replace(body, truth(false)));
            *body = Expr::Seq(checks);
        }
    };
    for form in &mut p.forms {
        rewrite(form.expr_mut(), &mut |e| match e {
            Expr::Lambda(l) => l
                .clauses
                .iter_mut()
                .for_each(|c| with_checks(c.params.iter().chain(&c.rest).copied().collect(), &mut c.body)),
            Expr::Let(bs, body) => with_checks(bs.iter().map(|(v, _)| *v).collect(), body),
            Expr::Fix(bs, _) => {
                for c in bs.iter_mut().flat_map(|(_, l)| &mut l.clauses) {
                    with_checks(c.params.iter().chain(&c.rest).copied().collect(), &mut c.body);
                }
            }
            Expr::Labels(ls, _) => ls.iter_mut().for_each(|l| with_checks(l.params.clone(), &mut l.body)),
            _ => {}
        });
    }
    said.len()
}

#[test]
fn random_programs_hold_what_is_said() {
    let (mut said, mut finished) = (0, 0);
    for seed in 0..1500 {
        let mut p = program(seed);
        let before = interp::run(&p, 20_000);
        if before.result == Err(Stop::Fuel) {
            continue;
        }
        finished += usize::from(before.result.is_ok());
        super::note(&mut p, &[]);
        let source = print_program(&p);
        said += let_it_check(&mut p);
        let after = interp::run(&p, 2_000_000);
        assert!(
            before == after,
            "seed {seed}\nbefore: {before:?}\nafter: {after:?}\n{source}\n{}",
            print_program(&p)
        );
    }
    assert!(finished > 500, "{finished}");
    assert!(said > 5_000, "something is said of {said} variables only");
}

/// What is said of the variables of these names: kinds by bits, and the range of fixnums.
fn said(text: &str, names: &[&str]) -> Vec<Option<(u32, (i64, i64))>> {
    let mut p = parse_program(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    passes::prepare(&mut p);
    super::note(&mut p, &[]);
    let of = |name: &&str| {
        let v = p.vars.iter().find(|v| &*v.name == *name).unwrap_or_else(|| panic!("no {name}"));
        v.held.as_ref().map(|h| (h.kinds, h.range))
    };
    names.iter().map(of).collect()
}

const FIXNUM: u32 = 1;
const FLONUM: u32 = 1 << 1 | 1 << 27;

#[test]
fn parameters_of_loops_are_known_from_their_calls() {
    let text = "(define @f.0 (lambda f (n.0)
                  (fix ((loop.1 (lambda loop (i.2 s.3)
                                  (if (%< i.2 100) (loop.1 (%+ i.2 1) (%- s.3 0.5)) s.3))))
                    (loop.1 0 n.0))))
                (%write-object (%cons (@f.0 2.5) (@f.0 3.5)) '() 1)";
    let all = said(text, &["n", "i", "s"]);
    assert_eq!(all[0].map(|(kinds, _)| kinds & !FLONUM), Some(0), "{all:?}");
    assert_eq!(all[1], Some((FIXNUM, (0, 255))), "{all:?}");
    assert_eq!(all[2].map(|(kinds, _)| kinds & !FLONUM), Some(0), "{all:?}");
}

#[test]
fn nothing_is_said_where_anybody_may_call() {
    let text = "(define @f.0 (lambda f (n.0) n.0))
                (define @g.1 (lambda g (m.1) (%+ m.1 1)))
                (%write-object (%cons (@f.0 1) (@g.1 2)) '() 1)
                (%write-object @f.0 '() 1)";
    let all = said(text, &["n", "m"]);
    assert_eq!(all, [None, Some((FIXNUM, (2, 2)))]);
}

#[test]
fn boxes_hold_what_is_stored_in_them() {
    let text = "(define @f.0 (lambda f (x.0)
                  (let ((b.1 (%box 1)) (c.2 (%box 1)))
                    (seq (%set-box! b.1 2.5) (%write-object c.2 '() 1) (%unbox b.1)))))
                (%write-object (@f.0 7) '() 1)";
    let all = said(text, &["b", "c"]);
    assert_eq!(all[0].map(|(kinds, range)| (kinds & !FLONUM, range)), Some((FIXNUM, (1, 1))), "{all:?}");
    assert_eq!(all[1], None, "{all:?}");
}
