//! A pass of one's own: twice a double is the double added to itself. docs/internals/add-a-pass.md builds it, step by
//! step.

// step 1: say what becomes what
use cairn_core::ir::{Expr, Literal, Program};
use cairn_core::prim::{Op, PrimOp};
use cairn_core::rewrite;
use cairn_num::Number;

/// The operand of a multiplication by 2.0 that needs no test.
fn doubled(e: &Expr) -> Option<&Expr> {
    let Expr::Prim { op: PrimOp::Op(Op::FlMul), args, proven: 3, .. } = e else { return None };
    let two = |e: &Expr| matches!(e, Expr::Const(Literal::Number(Number::Flo(x))) if *x == 2.0);
    match &args[..] {
        [x, factor] if two(factor) => Some(x),
        [factor, x] if two(factor) => Some(x),
        _ => None,
    }
}

// step 2: rewrite
/// The pass.
pub fn run(program: &mut Program) {
    let mut forms = std::mem::take(&mut program.forms);
    for form in &mut forms {
        rewrite(form.expr_mut(), &mut |e| {
            let Some(x) = doubled(e) else { return };
            // whatever the operand is, it is computed once
            let (x, v) = (x.clone(), program.fresh_var("doubled"));
            let Expr::Prim { site, .. } = *e else { return };
            let args = vec![Expr::Local(v), Expr::Local(v)];
            let sum = Expr::Prim { op: PrimOp::Op(Op::FlAdd), args, site, proven: 3 };
            *e = Expr::Let(vec![(v, x)], sum.into());
        });
    }
    program.forms = forms;
}

// step 3: look at it
use cairn_core::parse::parse_program;
use cairn_core::print::print_program;

const BEFORE: &str = "
(define @area.0 (lambda area (r.0) (%fl*:3 (%fl*:3 r.0 r.0) 2.0)))
(seq (%write-object (@area.0 1.5) '() 1) (%write-object (%fl*:3 2.0 (%fl+:3 0.1 0.2)) '() 1))
";

// step 4: the program does what it did
use cairn_core::interp;
use cairn_core::verify::{Dialect, verify};

/// Runs the pass on a program, and the program before and after it.
pub fn check(text: &str) -> String {
    let mut program = parse_program(text).expect("a program");
    let before = interp::run(&program, 10_000);
    run(&mut program);
    let after = print_program(&program);
    assert_eq!(verify(&program, Dialect::Opt), Ok(()), "{after}");
    assert_eq!(interp::run(&program, 10_000), before, "{after}");
    after
}

/// Prints the program before and after.
pub fn main() {
    let after = check(BEFORE);
    assert!(!after.contains("%fl*:3 (") && after.contains("%fl+"), "{after}");
    println!("{}\n{after}", BEFORE.trim());
}
// end
