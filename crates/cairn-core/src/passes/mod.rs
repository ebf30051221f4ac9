//! The optimizer: passes over Core and the order they run in.
//!
//! The order is data: [`FIRST`], [`LOW`], [`HIGH`], each step with the reason why it comes where it does. Every pass of
//! [`HIGH`] can be left out ([`Disabled`]), for a program means the same without it.
//!
//! | pass | what it does |
//! |---|---|
//! | [`shake`] | drops globals that nothing needs: most of the library, so it comes first |
//! | [`letrec`] | `letrec*` becomes `Fix` (lambdas), `Let`, and boxes with checks |
//! | [`assign`] | assigned variables become boxes: from here on variables never change |
//! | [`wrong_counts`] | tail calls whose number of arguments is wrong keep their caller's frame |
//! | [`simplify`] | local rewriting: constants, copies, dead code, tests as control flow; with [`fold`] |
//! | [`lift`] | private variables of top-level closures become globals |
//! | [`contify`] | procedures that always return to one place become labels: loops and join points |
//! | [`escapes`] | continuations that are only called while their `call/cc` is under way: returns, jumps, one-shot |
//! | [`guards`] | guards around what only computes are set up when it fails; once, after the first inlining |
//! | [`inline`] | calls become bodies |
//! | [`loops`] | self calls in tail position become jumps |
//! | [`unroll`] | small recursive procedures get their body once more at their calls |
//! | [`elements`] | fields of elements of structure vectors, and of records in records, are reached where they lie |
//! | [`parts`] | records and pairs that are only read where they were made become variables |
//! | [`types`] | operand checks that cannot fail are marked proven |
//! | [`plain`] | records that are no elements of structure vectors get code of their own |
//! | [`keep_frames`] | calls of the library, and such as never return, keep their caller's frame, for backtraces |
//!
//! [`known`] collects facts about globals; it is recomputed whenever a pass asks, for forms come and go. `Opt::Low`
//! does [`LOW`] only. The optimizer assumes a closed program: all definitions and
//! assignments are in it.

pub mod assign;
mod contify;
pub mod elements;
pub mod escapes;
mod fold;
pub mod guards;
pub mod inline;
pub mod keep_frames;
pub mod known;
pub(crate) mod letrec;
mod lift;
pub mod loops;
pub mod parts;
pub mod plain;
mod recursion;
pub mod shake;
mod simplify;
pub mod testing;
pub mod types;
pub mod unroll;
pub mod wrong_counts;

pub use known::GlobalFacts;

use crate::ir::Program;
use crate::verify::{Dialect, verify as check};
use crate::walk;

/// How much to optimize.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opt {
    /// Only what is needed, and loops.
    Low,
    /// Everything.
    High,
}

/// Passes that are left out: `--disable-pass`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Disabled(u32);

impl Disabled {
    /// Nothing is left out.
    pub const NOTHING: Disabled = Disabled(0);

    /// The passes that can be left out.
    pub fn names() -> Vec<&'static str> {
        let mut names = vec![];
        for step in HIGH {
            if !names.contains(&step.pass) {
                names.push(step.pass);
            }
        }
        names
    }
    /// One more is left out; false if no pass has this name.
    pub fn add(&mut self, name: &str) -> bool {
        let found = Disabled::names().iter().position(|n| *n == name);
        found.inspect(|i| self.0 |= 1 << i).is_some()
    }
    /// Is this pass left out?
    fn has(self, name: &str) -> bool {
        Disabled::names().iter().position(|n| *n == name).is_some_and(|i| self.0 >> i & 1 != 0)
    }
    /// For keys of caches.
    pub fn bits(self) -> u32 {
        self.0
    }
    /// The set with these [`bits`](Disabled::bits).
    pub fn of_bits(bits: u32) -> Disabled {
        Disabled(bits)
    }
}

/// Runs the optimizer. With `verify`, checks the program after every pass and panics with the pass's name and the first
/// complaints if a pass broke it. `observe` sees the program after every pass.
pub fn optimize(program: &mut Program, level: Opt, verify: bool, observe: &mut dyn FnMut(&str, &Program)) {
    optimize_without(program, level, Disabled::NOTHING, verify, observe);
}

/// [`optimize`] without some passes.
pub fn optimize_without(
    program: &mut Program,
    level: Opt,
    disabled: Disabled,
    verify: bool,
    observe: &mut dyn FnMut(&str, &Program),
) {
    // passes drop and clone subtrees recursively
    let depth = walk::program_depth(program);
    walk::with_room(depth, || Pipeline::new(program, disabled, verify, observe).run(level));
}

/// What evaluation needs: recursive bindings are of lambdas only, assigned variables live in boxes; nothing is
/// optimized, no label is made. Dialect `Source` in, `Fixed` out.
pub fn prepare(program: &mut Program) {
    let depth = walk::program_depth(program);
    walk::with_room(depth, || {
        letrec::run(program);
        assign::run(program);
        wrong_counts::run(program, None);
    });
}

/// [`prepare`], and leaves out definitions that nothing comes to. The result depends on nothing but the program.
pub fn prepare_used(program: &mut Program) {
    prepare(program);
    let depth = walk::program_depth(program);
    walk::with_room(depth, || {
        let facts = known::analyze(program);
        shake::run(program, &facts);
    });
}

/// What the variables of a program that [`prepare`] has seen hold, whatever it does. No code of its own is copied, so
/// that bindings are all in one place.
pub(crate) fn what_is_held(program: &mut Program) -> types::Found {
    let depth = walk::program_depth(program);
    walk::with_room(depth, || {
        shake_off(program);
        simplify_all(program);
        inline::run_library(program);
        simplify_all(program);
        types::of_program(program)
    })
}

/// [`optimize_without`] for a program that [`prepare`] has seen.
pub fn optimize_prepared(program: &mut Program, level: Opt, disabled: Disabled, verify: bool) {
    let depth = walk::program_depth(program);
    walk::with_room(depth, || {
        let mut nobody = |_: &str, _: &Program| {};
        let mut pipeline = Pipeline::new(program, disabled, verify, &mut nobody);
        shake_off(pipeline.program);
        pipeline.after("shake", Some(Dialect::Fixed));
        pipeline.prepared(level);
    });
}

/// A step of the pipeline.
struct Step {
    pass: &'static str,
    run: fn(&mut Program),
    /// What the program is afterwards; `None`: nothing that can be checked.
    dialect: Option<Dialect>,
    /// Why it comes here.
    #[allow(dead_code, reason = "for readers, and for a test that there is one")]
    why: &'static str,
}

const fn step(pass: &'static str, run: fn(&mut Program), why: &'static str) -> Step {
    Step { pass, run, dialect: Some(Dialect::Opt), why }
}

const fn first(pass: &'static str, run: fn(&mut Program), dialect: Option<Dialect>, why: &'static str) -> Step {
    Step { pass, run, dialect, why }
}

/// What makes a program of the expander one that the others can treat.
const FIRST: &[Step] = &[
    first("shake", shake_off, Some(Dialect::Source), "most of the library goes before anybody looks at it"),
    first("letrec", letrec::run, None, "recursive bindings become `fix`, which every later pass counts on"),
    first("assign", assign::run, Some(Dialect::Fixed), "from here on variables never change"),
];

/// All that `Opt::Low` does besides.
const LOW: &[Step] = &[step("contify", contify_all, "loops must be loops")];

/// What `Opt::High` does besides.
const HIGH: &[Step] = &[
    step("simplify", simplify_all, "what macros leave behind is small before anything is counted"),
    step("lift", lift::run, "private variables become globals, of which facts are known"),
    step("contify", contify_all, "what is a label already need not be inlined to become one"),
    step("inline", inline_sparing_guards, "the first time, but for what `guards` looks for"),
    step("simplify", simplify_all, "bodies meet their arguments"),
    step("guards", guards::run, "the handlers of guards are at hand now, and no second copy of them is"),
    step("contify", contify_all, "procedures with one call left become labels"),
    step("escapes", escapes::run, "continuations of inlined procedures are seen to stay inside"),
    step("shake", shake_off, "what was inlined everywhere is gone before it is inlined into"),
    step("inline", inline::run, "once more, for what the first time has made small or known"),
    step("simplify", simplify_all, "bodies meet their arguments"),
    step("contify", contify_all, "procedures with one call left become labels"),
    step("escapes", escapes::run, "as after the first inlining"),
    step("shake", shake_off, "nobody spends time on what nobody needs"),
    step("simplify", simplify_all, "globals that shaking has made constant"),
    step("loops", loops::run, "after inlining: a self call may come from an inlined body"),
    step("unroll", unroll::run, "after `loops`: what is a loop is no recursion any more"),
    step("simplify", simplify_all, "unrolled bodies meet their arguments"),
    step(
        "elements",
        elements::run,
        "before `parts` and `types`: a reference to an element is not made, its fields are numbers",
    ),
    step("parts", objects_by_parts, "before `types`: a record that becomes variables has typed variables"),
    step("types", types::run, "when nothing copies code any more but its own versions of loops"),
    step("plain", plain::run, "after `types`, which says what accesses need not ask"),
    step("simplify", simplify_all, "tests that `types` has proven fold"),
];

fn shake_off(program: &mut Program) {
    let facts = known::analyze(program);
    shake::run(program, &facts);
}

fn simplify_all(program: &mut Program) {
    let facts = known::analyze(program);
    simplify::run(program, &facts);
}

fn objects_by_parts(program: &mut Program) {
    parts::run(program);
}

fn contify_all(program: &mut Program) {
    contify::run(program);
}

fn inline_sparing_guards(program: &mut Program) {
    let spared = guards::procedure(program);
    inline::run_sparing(program, spared);
}

struct Pipeline<'a> {
    program: &'a mut Program,
    disabled: Disabled,
    verify: bool,
    observe: &'a mut dyn FnMut(&str, &Program),
    /// With `verify`: what the last pass left known about globals, once recursive bindings are fixed.
    bound: Option<GlobalFacts>,
}

impl<'a> Pipeline<'a> {
    fn new(
        program: &'a mut Program,
        disabled: Disabled,
        verify: bool,
        observe: &'a mut dyn FnMut(&str, &Program),
    ) -> Pipeline<'a> {
        Pipeline { program, disabled, verify, observe, bound: None }
    }

    fn run(&mut self, level: Opt) {
        self.after("source", Some(Dialect::Source));
        FIRST.iter().for_each(|step| self.step(step));
        self.prepared(level);
    }

    /// What [`FIRST`] has prepared. Which calls keep their frames for backtraces is known best while they are as they
    /// were written, and said when nothing moves them any more.
    fn prepared(&mut self, level: Opt) {
        let facts = known::analyze(self.program);
        wrong_counts::run(self.program, Some(&facts));
        self.after("wrong-counts", Some(Dialect::Fixed));
        self.program.inlined.know(&self.program.sources);
        let facts = known::analyze(self.program);
        let callees = keep_frames::callees(self.program, &facts);
        keep_frames::mark_tail_calls(self.program, &facts, &callees);
        let (steps, disabled) = (if level == Opt::Low { LOW } else { HIGH }, self.disabled);
        for step in steps.iter().filter(|step| !disabled.has(step.pass)) {
            self.step(step);
        }
        let facts = known::analyze(self.program);
        keep_frames::run(self.program, &facts, &callees, level == Opt::Low);
        self.after("keep-frames", Some(Dialect::Opt));
    }

    fn step(&mut self, step: &Step) {
        (step.run)(self.program);
        self.after(step.pass, step.dialect);
    }

    fn after(&mut self, pass: &str, dialect: Option<Dialect>) {
        if self.verify
            && let Some(dialect) = dialect
            && let Err(complaints) = check(self.program, dialect)
        {
            panic!("the program is wrong after pass `{pass}`:\n  {}", complaints.join("\n  "));
        }
        if self.verify && matches!(dialect, Some(Dialect::Fixed | Dialect::Opt)) {
            let lost = self.bound.as_ref().map(|before| known::lost(before, self.program)).unwrap_or_default();
            if !lost.is_empty() {
                panic!("pass `{pass}` reads before their definition: {}", lost.join(", "));
            }
            self.bound = Some(known::analyze(self.program));
        }
        (self.observe)(pass, self.program);
    }
}

#[cfg(test)]
mod tests {
    use super::inline::random::check_pass;
    use super::*;

    #[test]
    fn each_pass_may_be_left_out() {
        assert!(FIRST.iter().chain(LOW).chain(HIGH).all(|step| step.why.len() > 10));
        assert!(!Disabled::default().add("letrec") && Disabled::names().len() >= 12);
        for name in Disabled::names() {
            let mut disabled = Disabled::NOTHING;
            assert!(disabled.add(name) && disabled.has(name));
            assert_eq!(Disabled::of_bits(disabled.bits()), disabled);
            check_pass(25, |p| {
                let mut seen = vec![];
                optimize_without(p, Opt::High, disabled, false, &mut |pass, _| seen.push(pass.to_string()));
                let needed = FIRST.iter().filter(|step| step.pass == name).count();
                assert_eq!(seen.iter().filter(|s| *s == name).count(), needed, "{name}");
            });
        }
    }

    fn checked(name: &str, pass: impl Fn(&mut Program)) {
        check_pass(120, |p| {
            let before = crate::print::print_program(p);
            pass(p);
            if let Err(complaints) = check(p, Dialect::Opt) {
                let after = crate::print::print_program(p);
                panic!("{name}: {}\nbefore:\n{before}\nafter:\n{after}", complaints.join("\n"));
            }
        });
    }

    #[test]
    fn simplify_keeps_meaning() {
        checked("simplify", |p| simplify::run(p, &known::analyze(p)));
    }

    #[test]
    fn lift_keeps_meaning() {
        checked("lift", lift::run);
    }

    #[test]
    fn contify_keeps_meaning() {
        checked("contify", |p| {
            contify::run(p);
        });
    }

    #[test]
    fn shake_keeps_meaning() {
        checked("shake", |p| shake::run(p, &known::analyze(p)));
    }

    #[test]
    fn everything_keeps_meaning() {
        checked("all", |p| {
            for _ in 0..2 {
                contify::run(p);
                simplify::run(p, &known::analyze(p));
                inline::run(p);
                simplify::run(p, &known::analyze(p));
                contify::run(p);
                shake::run(p, &known::analyze(p));
            }
        });
    }

    /// Thin procedures before what they call, at top level, in data, in local procedures and under each other: a
    /// definition must not come to read what is defined below it. `--verify` would panic; the interpreter agrees.
    #[test]
    fn definitions_may_stand_in_any_order() {
        let definitions = [
            "(define @f.0 (lambda f (x.0) (@g.1 x.0)))",
            "(define @g.1 (lambda g (x.1) (@h.2 x.1)))",
            "(define @h.2 (lambda h (x.2) (%cons x.2 (%cons x.2 '()))))",
            "(define @table.3 (%cons (lambda k (x.3) (@f.0 x.3)) (%cons (lambda k (x.4) (@h.2 x.4)) '())))",
            "(define @local.4 (let ((p.5 (lambda p (x.6) (@g.1 x.6)))) (%cons p.5 p.5)))",
            "(define @even.5 (lambda even (n.7) (if (%eq? n.7 0) #t (@odd.6 (%- n.7 1)))))",
            "(define @odd.6 (lambda odd (n.8) (@odd2.7 n.8)))",
            "(define @odd2.7 (lambda odd2 (n.9) (if (%eq? n.9 0) #f (@even.5 (%- n.9 1)))))",
        ];
        let uses = "(%cons (@f.0 1) (%cons (call (%car @table.3) 2) (%cons (call (%cdr @local.4) 3)
                     (%cons (@even.5 10) (%cons (@odd.6 7) '())))))";
        let mut order: Vec<usize> = (0..definitions.len()).collect();
        let mut state = 1_u64;
        for _ in 0..200 {
            let text: Vec<&str> = order.iter().map(|i| definitions[*i]).collect();
            let text = format!("{}\n{uses}", text.join("\n"));
            let mut program = crate::parse::parse_program(&text).expect("parses");
            let expected = crate::interp::run(&program, 10_000);
            assert!(expected.result.is_ok(), "{expected:?}");
            optimize(&mut program, Opt::High, true, &mut |pass, program| {
                assert_eq!(crate::interp::run(program, 10_000), expected, "after {pass}:\n{text}");
            });
            for i in (1..order.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                order.swap(i, (state >> 33) as usize % (i + 1));
            }
        }
    }

    /// A nest as deep as a quoted list of a hundred thousand computed elements.
    #[test]
    fn deep_nests_do_not_overflow() {
        let nest = |n: usize, open: &str, middle: &str, close: &str| {
            format!("{}{middle}{}", open.repeat(n), close.repeat(n))
        };
        for text in [
            format!("(define @f.0 (lambda f (x.0) {}))\n@f.0", nest(100_000, "(%cons x.0 ", "'()", ")")),
            format!("(define @f.0 (lambda f (x.0) {}))\n@f.0", nest(3_000, "(if (@f.0 x.0) 1 ", "2", ")")),
            format!("(define @f.0 (lambda f (x.0) {}))\n@f.0", nest(3_000, "(@f.0 (seq (@f.0 1) ", "2", "))")),
        ] {
            let mut p = crate::parse::parse_program(&text).expect("parses");
            optimize(&mut p, Opt::High, true, &mut |_, _| {});
            let printed = crate::print::print_program(&p);
            assert!(printed.len() > 100_000);
            drop(p.clone());
        }
    }
}
