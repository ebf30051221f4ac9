//! What a program does, lowered, is what it does: random programs under Core's interpreter, and their modules under the
//! interpreter of the Frame IR, for every strategy.
//!
//! Each is lowered as it is, and with small ideas of what is wide and what is large: then ordinary programs need lists
//! for their operands, packs for their variables and cuts for their code, and the widths that were asked for can be
//! demanded of the result. `CAIRN_SEED=n` runs one seed, `CAIRN_SEEDS=n` the first n.

mod common;

use cairn_core::interp::{self, Outcome, Stop};
use cairn_core::ir::{Program, TopForm};
use cairn_core::print::print_program;
use cairn_frame::ir::{FuncKind, Module, Stmt, Term};
use cairn_frame::print::print_module;
use cairn_frame::{SIZES, Sizes, WIDTHS, Widths};
use cairn_layout::facts::StrategyFacts;

#[path = "../../../tests/support/core_programs.rs"]
mod core_programs;

/// What counts as wide and large, as it is and much smaller.
const SHAPES: &[(Widths, Sizes)] = &[
    (WIDTHS, SIZES),
    (Widths { operands: 3, easy: 8, few: 4, pack: 3, nested: 2 }, Sizes { large: 8, part: 3, vast: 20 }),
    (Widths { operands: 1, easy: 14, few: 9, pack: 2, nested: 4 }, SIZES),
    (WIDTHS, Sizes { large: 4, part: 2, vast: 10 }),
];

const FUEL: usize = 20_000;

fn seeds(most: u64) -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().map(|n| n.parse::<u64>().expect("a number"));
    match number("CAIRN_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("CAIRN_SEEDS").unwrap_or(most),
    }
}

fn lowered(p: &Program, strategy: &'static StrategyFacts, (widths, sizes): (Widths, Sizes)) -> Module {
    let defined_first = p.forms.iter().all(|f| matches!(f, TopForm::Define(..)));
    let bound = vec![defined_first; p.globals.len()];
    let m = cairn_frame::lower_within(p, &bound, strategy, widths, sizes);
    cairn_frame::verify::verify(&m).unwrap_or_else(|e| panic!("{e:?}\n{}", print_module(&m)));
    m
}

/// Runs the program and its modules; says whether it ran to its end.
fn same_outcome(
    what: &str,
    p: &Program,
    strategies: impl Iterator<Item = &'static StrategyFacts>,
    shapes: &[(Widths, Sizes)],
) -> bool {
    let before = interp::run(p, FUEL);
    if matches!(before.result, Err(Stop::Fuel | Stop::Unsupported(_))) {
        return false;
    }
    for strategy in strategies {
        for shape in shapes {
            let m = lowered(p, strategy, *shape);
            let after = cairn_frame::interp::run(&m, 100 * FUEL);
            assert!(
                same(&before, &after),
                "{what}, {} with {shape:?}\nCore: {before:?}\nframe: {after:?}\n{}\n{}",
                strategy.name,
                print_program(p),
                print_module(&m)
            );
            widths_hold(what, &m, shape.0);
            checks_are_exact(what, &m);
        }
    }
    before.result.is_ok()
}

/// What was written is compared, and whether the end was reached: a lowered program has no value. Errors may differ:
/// several may be due, and their order is nobody's promise.
fn same(a: &Outcome, b: &Outcome) -> bool {
    let wrong = matches!(b.result, Err(Stop::Unsound(_) | Stop::Fuel | Stop::Unsupported(_)));
    !wrong && a.trace == b.trace && a.result.is_ok() == b.result.is_ok()
}

/// Nothing is wider than was asked for.
fn widths_hold(what: &str, m: &Module, widths: Widths) {
    let most = 2 * widths.easy;
    for f in &m.functions {
        let at_most = |n: usize, most: usize, of: &str| {
            assert!(n <= most, "{what}: {n} {of} in {}, at most {most}\n{}", f.name, print_module(m));
        };
        match &f.kind {
            FuncKind::Entry { closure_words, .. } => at_most(*closure_words as usize - 1, most, "free variables"),
            FuncKind::Body { params, .. } => at_most(params.len(), most, "parameters"),
            FuncKind::Return { frame, .. } => at_most(frame.live.len(), most, "slots"),
        }
        for b in &f.blocks {
            let live = b.stmts.iter().filter_map(|s| s.safepoint_live()).map(<[_]>::len).max();
            at_most(live.unwrap_or(0), most, "live variables");
            match &b.term {
                Term::ReturnMulti(args) => at_most(args.len(), widths.operands, "values"),
                Term::Call { args, .. } => at_most(args.len(), most, "operands"),
                _ => {}
            }
        }
    }
}

/// A heap check asks for what is taken until the next one, and for no more.
fn checks_are_exact(what: &str, m: &Module) {
    for f in &m.functions {
        for b in &f.blocks {
            let mut taken = match &b.term {
                Term::Call { frame, .. } if m.strategy.frames_in_heap => (8 * frame.frame.words).max(16),
                _ => 0,
            };
            for s in b.stmts.iter().rev() {
                match s {
                    Stmt::Assign(_, op) | Stmt::Effect(op) => taken += op.alloc_bytes(),
                    Stmt::HeapCheck { bytes: 0, .. } => {}
                    Stmt::HeapCheck { bytes, .. } => {
                        assert_eq!(*bytes, taken, "{what}: a check in {}\n{}", f.name, print_module(m));
                        taken = 0;
                    }
                    Stmt::StackCheck { .. } | Stmt::StopCheck { .. } => {}
                }
            }
        }
    }
}

#[test]
fn random_programs_do_the_same_lowered() {
    let (seeds, mut finished) = (seeds(30), 0);
    let all = seeds.end - seeds.start;
    for seed in seeds {
        let p = core_programs::program(seed);
        let shapes = [SHAPES[0], SHAPES[1 + seed as usize % 3]];
        finished += same_outcome(&format!("seed {seed}"), &p, common::strategies(), &shapes) as u64;
    }
    assert!(finished * 3 > all, "only {finished} of {all} programs run to the end");
}

/// `f(1) f(2) …`
fn each(n: usize, f: impl Fn(usize) -> String) -> String {
    (1..=n).map(f).collect::<Vec<_>>().join(" ")
}

/// Programs of width `n`: what is wide is run, and every one of its variables written.
fn wide_programs(n: usize) -> Vec<String> {
    let params = each(n, |i| format!("x.{i}"));
    let numbers = each(n, |i| i.to_string());
    let calls = each(n, |i| format!("(@id.0 {i})"));
    let write = |e: String| format!("(%write-object {e} '() 1)");
    let all = format!("(seq {} (@id.0 9) {} x.1)", each(n, |i| write(format!("x.{i}"))), write(format!("x.{n}")));
    let bound = |body: &str| {
        let head = each(n, |i| format!("(let ((x.{i} (@id.0 {i})))"));
        format!("{head} {body}{}", ")".repeat(n))
    };
    let f = |params: &str, body: &str| format!("(define @f.1 (lambda f ({params}) {body}))");
    let rest = format!("{params} . r.999");
    let of_rest = format!("(seq {} {all})", write("r.999".into()));
    let after = |define: String, uses: &str| format!("{define} (let ((g.998 (@id.0 @f.1))) {uses})");
    let down = format!("(jump L0 (%fx- x.1 1) {} x.1)", each(n - 2, |i| format!("x.{}", i + 1)));
    vec![
        after(f(&params, &all), &format!("(seq (@f.1 {numbers}) (g.998 {calls}))")),
        after(f(&rest, &of_rest), &format!("(seq (@f.1 {numbers}) (g.998 {calls} 77 88))")),
        after(f(&rest, &of_rest), &format!("(apply g.998 {calls} (%cons 5 '()))")),
        after(f(&params, &all), &format!("(g.998 {calls} 77)")),
        after(f(&rest, &of_rest), &format!("(apply g.998 {} '())", each(n - 1, |i| i.to_string()))),
        bound(&all),
        bound(&format!("(let ((h.994 (@id.0 (lambda h () {all})))) (seq (h.994) {all}))")),
        bound(&format!("(fix ((h.990 (lambda h (y.991) (if y.991 {all} (k.992 #t)))) (k.992 (lambda k (z.993) (seq (h.990 z.993) {all}))))
            (seq (h.990 #f) (let ((u.995 (@id.0 k.992))) (u.995 #t))))")),
        format!("(receive ({params}) (values {calls}) {all})"),
        format!("(receive ({rest}) (values {calls} 8 9) {of_rest})"),
        format!("(receive ({params}) (values {calls} 8) {all})"),
        format!("(receive ({params}) (@id.0 7) {all})"),
        format!("(labels ((L0 ({params}) (if (%fx< x.1 3) {all} {down}))) (jump L0 5 {}))", each(n - 1, |i| format!("{}", i + 1))),
        write(format!("(%vector {calls})")),
        write(format!("(%record {calls})")),
        write(each(n, |i| format!("(%cons (@id.0 {i})")) + " '()" + &")".repeat(n)),
        write(each(n, |i| format!("(%fx+ (if (@id.0 {i}) (@id.0 {i}) 1)")) + " 0" + &")".repeat(n)),
        bound(&format!("(%fx+ {all} (%fx+ (if (@id.0 x.2) {all} 4) {all}))")),
    ]
}

/// Tests in operands, each with `n` variables around it that are read after it, `depth` of them one in another.
fn deep_nest(depth: usize, n: usize) -> String {
    let mut text = "(@id.0 1)".to_string();
    for level in 1..=depth {
        let v = |i: usize| format!("x.{}", 1000 * level + i);
        let head = each(n, |i| format!("(let (({} (@id.0 {i})))", v(i)));
        let sum = (1..=n).fold("0".to_string(), |sum, i| format!("(%fx+ {} {sum})", v(i)));
        text = format!("{head} (%fx+ (if (@id.0 {}) {text} 0) {sum}){}", v(1), ")".repeat(n));
    }
    format!("(%write-object {text} '() 1)")
}

/// However deep wide expressions are nested, what is live stays within bounds.
#[test]
fn deep_nests_of_wide_tests_do_the_same_lowered() {
    let text = format!("(define @id.0 (lambda id (x.997) x.997)) (@id.0 @id.0) {}", deep_nest(40, 12));
    assert!(same_outcome(&text, &common::core(&text, "as it is"), common::strategies(), &SHAPES[1..3]));
}

#[test]
fn wide_programs_do_the_same_lowered() {
    let mut finished = 0;
    for n in [3, 245] {
        for (i, text) in wide_programs(n).into_iter().enumerate() {
            let text = format!("(define @id.0 (lambda id (x.997) x.997)) (@id.0 @id.0) {text}");
            let p = common::core(&text, "as it is");
            // one strategy after the other: wide programs take their time
            let strategies = common::strategies().collect::<Vec<_>>().into_iter().cycle().skip(i).take(1);
            finished += same_outcome(&text, &p, strategies, &SHAPES[..1]) as usize;
        }
    }
    assert!(finished >= 28, "{finished} programs run to their end");
}
