//! Small programs in hand-made Frame IR, compiled and run under every strategy.
#![allow(unsafe_code)]

mod common;
use cairn_core::ir::Literal;
use cairn_core::prim::{Op as P, PrimOp};
use cairn_frame::ir::*;
use cairn_layout::Value;
use cairn_layout::code::Site;
use cairn_layout::facts::{CHUNKS, PRECISE, StrategyFacts};
use cairn_layout::machine::{error, slot};
use cairn_llvm::backend::OptLevel;
use common::*;

/// `(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))`
fn fib(s: &'static StrategyFacts, n: i64) -> Module {
    let one = frame(s, 1);
    let check_frame = |live: &[u32]| if s.frames_in_heap { vec![check(8 * one.words, live)] } else { vec![] };
    let call = |v: u32, stores: Vec<(u32, Operand)>, ret: u32| Term::Call {
        callee: Callee::Known(FuncId(2), None),
        args: vec![var(v)],
        site: Site::NONE,
        frame: NewFrame { frame: one.clone(), stores },
        ret: FuncId(ret),
    };
    let with = |mut a: Vec<Stmt>, b: Vec<Stmt>| {
        a.extend(b);
        a
    };
    module(
        s,
        vec![
            entry("main", 0, false, 1),
            body("main.0", 0, 0, vec![block(vec![], known(2, &[fix(n)]))]),
            body(
                "fib.0",
                1,
                2,
                vec![
                    block(vec![], branch(prim(P::NumLt, &[var(0), fix(2)]), 1, 2)),
                    block(vec![], Term::Return(var(0))),
                    block(
                        with(check_frame(&[0]), vec![set(1, P::Sub, &[var(0), fix(1)])]),
                        call(1, vec![(0, var(0))], 3),
                    ),
                ],
            ),
            ret(
                "fib.0.r1",
                one.clone(),
                0,
                3,
                vec![block(
                    with(
                        vec![Stmt::Assign(Var(1), Op::Slot(0))],
                        with(check_frame(&[0, 1]), vec![set(2, P::Sub, &[var(1), fix(2)])]),
                    ),
                    call(2, vec![(0, var(0))], 4),
                )],
            ),
            ret(
                "fib.0.r2",
                one.clone(),
                0,
                3,
                vec![block(
                    vec![Stmt::Assign(Var(1), Op::Slot(0)), set(2, P::Add, &[var(1), var(0)])],
                    Term::Return(var(2)),
                )],
            ),
        ],
        0,
        0,
    )
}

#[test]
fn fib_is_right_under_both_strategies() {
    for &s in PRECISE {
        assert_eq!(run(&fib(s, 20)), Value::fixnum(6765), "{}", s.name);
    }
}

/// `(define (count n) (if (= n 0) 0 (+ 1 (count (- n 1)))))`: deep recursion links and leaves stack segments.
#[test]
fn deep_recursion_overflows_into_new_segments_and_comes_back() {
    for &s in PRECISE {
        let f = frame(s, 3);
        let mut pre = if s.frames_in_heap { vec![check(8 * f.words, &[0])] } else { vec![] };
        pre.push(set(1, P::Sub, &[var(0), fix(1)]));
        let m = module(
            s,
            vec![
                entry("main", 0, false, 1),
                body("main.0", 0, 0, vec![block(vec![], known(2, &[fix(1000)]))]),
                body(
                    "count.0",
                    1,
                    2,
                    vec![
                        block(vec![], branch(prim(P::NumEq, &[var(0), fix(0)]), 1, 2)),
                        block(vec![], Term::Return(fix(0))),
                        block(
                            pre,
                            Term::Call {
                                callee: Callee::Known(FuncId(2), None),
                                args: vec![var(1)],
                                site: Site::NONE,
                                frame: NewFrame {
                                    frame: f.clone(),
                                    stores: vec![(0, fix(1)), (1, var(0)), (2, fix(5))],
                                },
                                ret: FuncId(3),
                            },
                        ),
                    ],
                ),
                ret(
                    "count.0.r1",
                    f,
                    0,
                    3,
                    vec![block(
                        vec![Stmt::Assign(Var(1), Op::Slot(0)), set(2, P::Add, &[var(1), var(0)])],
                        Term::Return(var(2)),
                    )],
                ),
            ],
            0,
            0,
        );
        let mut machinery = load(&m, OptLevel::High);
        assert_eq!(machinery.run(), Value::fixnum(1000));
        let many = if s.limit_check { machinery.side.overflows } else { machinery.side.collections };
        assert!(many > 5 || !s.every_push_asks(), "{}: {many}", s.name);
    }
}

/// A loop of `cons`: live values survive the slow path of the heap check.
#[test]
fn values_survive_collections() {
    for &s in PRECISE {
        let m = program(
            s,
            3,
            vec![
                block(vec![copy(0, fix(0)), copy(1, lit(Literal::Nil))], Term::Goto(BlockId(1))),
                block(vec![], branch(prim(P::NumEq, &[var(0), fix(2000)]), 3, 2)),
                block(
                    vec![
                        check(16, &[0, 1]),
                        set(1, P::Cons, &[var(0), var(1)]),
                        set(0, P::Add, &[var(0), fix(1)]),
                    ],
                    Term::Goto(BlockId(1)),
                ),
                // add up the list
                block(vec![copy(0, fix(0))], Term::Goto(BlockId(4))),
                block(vec![], branch(prim(P::IsPair, &[var(1)]), 5, 6)),
                block(
                    vec![set(2, P::Car, &[var(1)]), set(0, P::Add, &[var(0), var(2)]), set(1, P::Cdr, &[var(1)])],
                    Term::Goto(BlockId(4)),
                ),
                block(vec![], Term::Return(var(0))),
            ],
        );
        let mut machinery = load(&m, OptLevel::High);
        assert_eq!(machinery.run(), Value::fixnum(1999 * 1000));
        assert!(machinery.side.collections >= 7, "{}", machinery.side.collections);
    }
}

/// Arguments beyond the registers, rest lists, `apply`, through unknown calls.
#[test]
fn many_arguments_rest_lists_and_apply() {
    for &s in PRECISE {
        // (f a0 … a8 . rest) returns the vector of a0 … a8 rest
        let ten: Vec<Operand> = (0..10).map(var).collect();
        let collect = vec![block(
            vec![
                check(88, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
                Stmt::Assign(Var(10), Op::Prim(prim_of(PrimOp::Vector, &ten, 0))),
            ],
            Term::Return(var(10)),
        )];
        let args: Vec<Operand> = (0..12).map(fix).collect();
        let list = (0..12).rev().fold(Literal::Nil, |t, i| {
            let Operand::Const(l) = fix(i) else { unreachable!() };
            Literal::Pair(std::rc::Rc::new((l, t)))
        });
        let callee = || Operand::Procedure(FuncId(2));
        for variant in 0..3 {
            let term = match variant {
                0 => Term::TailCall { callee: Callee::Unknown(callee()), args: args.clone(), site: Site::NONE },
                1 => Term::TailCall { callee: Callee::Unknown(var(0)), args: args.clone(), site: Site::NONE },
                _ => Term::TailCall {
                    callee: Callee::Apply(var(0)),
                    args: vec![lit(list.clone())],
                    site: Site::NONE,
                },
            };
            let m = module(
                s,
                vec![
                    entry("main", 0, false, 1),
                    body("main.0", 0, 1, vec![block(vec![copy(0, callee())], term)]),
                    entry("f", 9, true, 3),
                    body("f.0", 10, 11, collect.clone()),
                ],
                0,
                0,
            );
            let mut machinery = load(&m, OptLevel::High);
            let v = machinery.run();
            assert!(v.is_object());
            let word = |i: usize| unsafe { *((v.address() as *const Value).add(1 + i)) };
            for i in 0..9 {
                assert_eq!(word(i), Value::fixnum(i as i64), "variant {variant}");
            }
            let mut l = word(9);
            for i in 9..12 {
                let p = l.address() as *const Value;
                unsafe {
                    assert_eq!(*p, Value::fixnum(i));
                    l = *p.add(1);
                }
            }
            assert_eq!(l, Value::NIL);
        }
    }
}

/// Several values: to a frame that wants them, to one that wants the first, with a rest list, and a wrong number.
#[test]
fn multiple_values() {
    for &s in PRECISE {
        let build = |results: Results, values: usize, n: usize, body_blocks: Vec<Block>| {
            let f = frame(s, 1);
            let mut pre = if s.frames_in_heap { vec![check(8 * f.words, &[])] } else { vec![] };
            pre.push(copy(0, fix(100)));
            let receive = function(
                "main.0.r1",
                FuncKind::Return { frame: f.clone(), results, site: Site::new(0, 9) },
                n,
                body_blocks,
            );
            let returns = if values == 1 {
                Term::Return(fix(0))
            } else {
                Term::ReturnMulti((0..values as i64).map(fix).collect())
            };
            module(
                s,
                vec![
                    entry("main", 0, false, 1),
                    body(
                        "main.0",
                        0,
                        1,
                        vec![block(
                            pre,
                            Term::Call {
                                callee: Callee::Known(FuncId(3), None),
                                args: vec![],
                                site: Site::NONE,
                                frame: NewFrame { frame: f, stores: vec![(0, var(0))] },
                                ret: FuncId(2),
                            },
                        )],
                    ),
                    receive,
                    body("values.0", 0, 0, vec![block(vec![], returns)]),
                ],
                0,
                0,
            )
        };
        let three = Results::Multi { params: vec![Var(0), Var(1), Var(2)], rest: None, site: Site::NONE };
        let sum = |n: u32| {
            let mut stmts = vec![Stmt::Assign(Var(n), Op::Slot(0))];
            stmts.extend((0..n).map(|i| set(n, P::Add, &[var(n), var(i)])));
            vec![block(stmts, Term::Return(var(n)))]
        };
        assert_eq!(run(&often(build(three, 3, 4, sum(3)))), Value::fixnum(103));
        let eight = Results::Multi { params: (0..8).map(Var).collect(), rest: None, site: Site::NONE };
        assert_eq!(run(&often(build(eight, 8, 9, sum(8)))), Value::fixnum(128));
        let one = Results::Multi { params: vec![Var(0)], rest: None, site: Site::NONE };
        assert_eq!(run(&often(build(one, 1, 2, sum(1)))), Value::fixnum(100));
        assert_eq!(run(&often(build(Results::Single(Var(0)), 3, 2, sum(1)))), Value::fixnum(100));
        let rest = Results::Multi { params: vec![Var(0)], rest: Some(Var(1)), site: Site::NONE };
        let second = vec![block(vec![set(1, P::Cdr, &[var(1)]), set(0, P::Car, &[var(1)])], Term::Return(var(0)))];
        assert_eq!(run(&often(build(rest, 7, 2, second))), Value::fixnum(2));
    }
}

/// Runs a program that raises; the error hook returns its arguments' first: the kind.
fn raises(blocks: Vec<Block>, n: usize) -> [u64; 5] {
    let mut all = None;
    for &s in PRECISE {
        let m = module(
            s,
            vec![
                entry("main", 0, false, 1),
                body("main.0", 0, n, blocks.clone()),
                entry("hook", 5, false, 3),
                body("hook.0", 5, 5, vec![block(vec![], Term::Return(var(0)))]),
                entry("two", 2, false, 5),
                body("two.0", 2, 2, vec![block(vec![], Term::Return(var(0)))]),
            ],
            0,
            1,
        );
        let mut m = m;
        m.globals[0].procedure = Some(FuncId(2));
        let mut machinery = load(&m, OptLevel::High);
        unsafe { *machinery.machine.slot_mut(slot::ERROR_HOOK) = *(*machinery.table).globals };
        let kind = machinery.run();
        let [t] = machinery.side.throws[..] else { panic!("one throw, got {:?}", machinery.side.throws) };
        assert_eq!(kind.0, t[0]);
        // the site is a row that knows site and procedure
        let mut t = t;
        if let Some(row) = Site(t[2] >> 3).row() {
            let table = unsafe { &*machinery.table };
            assert!(u64::from(row) < table.inlined_count);
            let row = unsafe { &*table.inlined.add(row as usize) };
            let name = unsafe { std::ffi::CStr::from_ptr(row.procedure as *const std::ffi::c_char) };
            assert_eq!((name.to_bytes(), row.at), (&b"main.0"[..], Site::NONE.0));
            t[2] = row.site << 3;
        }
        all = Some(t);
    }
    all.expect("ran")
}

#[test]
fn failing_checks_reach_the_error_hook() {
    let one = |op: P, args: &[Operand]| vec![block(vec![set(0, op, args)], Term::Return(var(0)))];
    let t = raises(one(P::Car, &[fix(5)]), 1);
    assert_eq!((t[0], t[2], t[3]), (8 * error::TYPE as u64, 7 << 3, 40));
    let t = raises(one(P::Add, &[fix(5), lit(Literal::Nil)]), 1);
    assert_eq!(t[0], 8 * error::PENDING as u64);
    let t = raises(one(P::VectorRef, &[lit(Literal::Vector([Literal::Nil].into())), fix(1)]), 1);
    assert_eq!((t[0], t[3]), (8 * error::RANGE as u64, 8));
    let t = raises(one(P::IntegerToChar, &[fix(0xD800)]), 1);
    assert_eq!(t[0], 8 * error::TYPE as u64);
    let t = raises(one(P::StringSet, &[lit(Literal::String("abc".into())), fix(0), lit(Literal::Char('x'))]), 1);
    assert_eq!(t[0], 8 * error::TYPE as u64);
    let call = |callee| {
        vec![block(vec![copy(0, fix(3))], Term::TailCall { callee, args: vec![fix(1)], site: Site::new(0, 5) })]
    };
    let t = raises(call(Callee::Unknown(var(0))), 1);
    assert_eq!((t[0], t[2], t[3]), (8 * error::NOT_PROCEDURE as u64, 5 << 3, 24));
    let t = raises(call(Callee::Unknown(Operand::Procedure(FuncId(4)))), 1);
    assert_eq!(t[0], 8 * error::ARITY as u64);
}

#[test]
fn closures_hold_their_variables() {
    for &s in PRECISE {
        let c = |v: u32, n: i64| {
            Stmt::Assign(Var(v), Op::Closure { entry: FuncId(2), free: vec![fix(n), fix(2 * n)] })
        };
        let mut add = body(
            "f.0",
            8,
            10,
            vec![block(
                vec![
                    Stmt::Assign(Var(9), Op::Free(1)),
                    set(9, P::Add, &[var(9), var(5)]),
                    set(9, P::Add, &[var(9), var(6)]),
                    set(9, P::Add, &[var(9), var(7)]),
                ],
                Term::Return(var(9)),
            )],
        );
        add.kind = FuncKind::Body { params: (0..8).map(Var).collect(), closure: Some(Var(8)) };
        let args: Vec<Operand> = (0..8).map(fix).collect();
        let mut entry_f = entry("f", 8, false, 3);
        if let FuncKind::Entry { closure_words, .. } = &mut entry_f.kind {
            *closure_words = 3;
        }
        for direct in [false, true] {
            let callee = if direct { Callee::Known(FuncId(3), Some(var(0))) } else { Callee::Unknown(var(0)) };
            let m = module(
                s,
                vec![
                    entry("main", 0, false, 1),
                    body(
                        "main.0",
                        0,
                        1,
                        vec![block(
                            vec![check(24, &[]), c(0, 50)],
                            Term::TailCall { callee, args: args.clone(), site: Site::NONE },
                        )],
                    ),
                    entry_f.clone(),
                    add.clone(),
                ],
                0,
                0,
            );
            assert_eq!(run(&m), Value::fixnum(118), "{} {direct}", s.name);
        }
    }
}

/// Of variables and of literals.
#[test]
fn bits_of_fixnums_are_counted() {
    let largest = (1 << 60) - 1;
    for (n, ones, length, trailing) in [
        (0, 0, 0, 61),
        (1, 1, 1, 0),
        (-1, 61, 0, 0),
        (96, 2, 7, 5),
        (-96, 55, 7, 5),
        (largest, 60, 60, 0),
        (-largest - 1, 1, 60, 60),
    ] {
        for (op, want) in [(P::FxOnes, ones), (P::FxLength, length), (P::FxTrailing, trailing)] {
            for x in [var(0), fix(n)] {
                let first = block(vec![copy(0, fix(n))], Term::Goto(BlockId(1)));
                let done = block(vec![set(1, op, std::slice::from_ref(&x))], Term::Return(var(1)));
                let m = program(&CHUNKS, 2, vec![first, done]);
                assert_eq!(run(&often(m)), Value::fixnum(want), "{op:?} {x:?} {n}");
            }
        }
    }
}

/// Every mix of representations in generic arithmetic.
#[test]
fn arithmetic_of_fixnums_and_flonums() {
    let flonum = |x: f64| Value::try_flonum(x).expect("self-tagged");
    let both = |op: P, a: Operand, b: Operand, want: Value| {
        // through variables, and with each operand as a literal
        let copies = vec![copy(0, a.clone()), copy(1, b.clone())];
        let pick = |x: Operand, y: Operand| {
            let test = block(vec![], branch(prim(P::IsNull, &[lit(Literal::Nil)]), 2, 3));
            let first = block(copies.clone(), Term::Goto(BlockId(1)));
            let done = block(vec![set(2, op, &[x, y])], Term::Return(var(2)));
            let never = block(vec![copy(0, lit(Literal::Nil)), copy(1, var(0))], Term::Goto(BlockId(2)));
            program(&CHUNKS, 3, vec![first, test, done, never])
        };
        for (x, y) in [(var(0), var(1)), (a.clone(), var(1)), (var(0), b.clone()), (a.clone(), b.clone())] {
            assert_eq!(run(&often(pick(x, y))), want, "{op:?} {a:?} {b:?}");
        }
    };
    both(P::Add, fix(2), fix(3), Value::fixnum(5));
    both(P::Add, flo(2.5), fix(3), flonum(5.5));
    both(P::Sub, fix(3), flo(0.5), flonum(2.5));
    both(P::Mul, flo(1.5), flo(-2.0), flonum(-3.0));
    both(P::Mul, fix(-7), fix(6), Value::fixnum(-42));
    both(P::Div, fix(1), flo(4.0), flonum(0.25));
    both(P::Div, flo(1.0), flo(4.0), flonum(0.25));
    both(P::Add, flo(0.5), flo(-0.5), flonum(0.0));
    both(P::NumLt, fix(2), flo(2.5), Value::TRUE);
    both(P::NumGe, flo(2.5), fix(3), Value::FALSE);
    both(P::NumEq, flo(3.0), fix(3), Value::TRUE);
    both(P::NumLe, fix(3), fix(3), Value::TRUE);
    both(P::Modulo, fix(-7), fix(3), Value::fixnum(2));
    both(P::Remainder, fix(-7), fix(3), Value::fixnum(-1));
    both(P::Quotient, fix(-7), fix(2), Value::fixnum(-3));
    both(P::FloorQuotient, fix(-7), fix(2), Value::fixnum(-4));
    both(P::Modulo, fix(-7), fix(4), Value::fixnum(1));
    both(P::FxShl, fix(-3), fix(4), Value::fixnum(-48));
    both(P::FxShr, fix(-3), fix(1), Value::fixnum(-2));
    both(P::FlSub, flo(1.0), flo(0.25), flonum(0.75));
    both(P::FlLt, flo(1.0), flo(f64::INFINITY), Value::TRUE);
}
