//! The optimizer: passes over Core and the order they run in.
//!
//! ```text
//! shake ─ letrec ─ assign ─ wrong_counts ─ simplify ─ lift ─ contify ─┐
//!          ┌──────────────────────────────────────────────────────────┘
//!          └─ (inline ─ simplify ─ contify ─ escapes ─ shake) × 2 ─┐
//!          ┌──────────────────────────────────────────────────────┘
//!          └─ simplify ─ loops ─ unroll ─ simplify ─ elements ─ parts ─ types ─ plain ─ simplify
//! ```
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
//! stops after `wrong_counts`, contifies and keeps frames. The optimizer assumes a closed program: all definitions and
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

/// Runs the optimizer. With `verify`, checks the program after every pass and panics with the pass's name and the first
/// complaints if a pass broke it. `observe` sees the program after every pass.
pub fn optimize(program: &mut Program, level: Opt, verify: bool, observe: &mut dyn FnMut(&str, &Program)) {
    // passes drop and clone subtrees recursively
    let depth = walk::program_depth(program);
    walk::with_room(depth, || Pipeline::new(program, verify, observe).run(level));
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

/// [`optimize`] for a program that [`prepare`] has seen.
pub fn optimize_prepared(program: &mut Program, level: Opt, verify: bool) {
    let depth = walk::program_depth(program);
    walk::with_room(depth, || {
        let mut nobody = |_: &str, _: &Program| {};
        let mut pipeline = Pipeline::new(program, verify, &mut nobody);
        pipeline.shake(Dialect::Fixed);
        pipeline.prepared(level);
    });
}

/// Rounds of inlining, each followed by simplification and contification.
const ROUNDS: usize = 2;

struct Pipeline<'a> {
    program: &'a mut Program,
    verify: bool,
    observe: &'a mut dyn FnMut(&str, &Program),
    /// With `verify`: what the last pass left known about globals, once recursive bindings are fixed.
    bound: Option<GlobalFacts>,
}

impl<'a> Pipeline<'a> {
    fn new(program: &'a mut Program, verify: bool, observe: &'a mut dyn FnMut(&str, &Program)) -> Pipeline<'a> {
        Pipeline { program, verify, observe, bound: None }
    }

    fn run(&mut self, level: Opt) {
        self.after("source", Some(Dialect::Source));
        self.shake(Dialect::Source);
        letrec::run(self.program);
        self.after("letrec", None); // assignments and `fix` together: no dialect
        assign::run(self.program);
        self.prepared(level);
    }

    fn prepared(&mut self, level: Opt) {
        self.after("assign", Some(Dialect::Fixed));
        let facts = known::analyze(self.program);
        wrong_counts::run(self.program, Some(&facts));
        self.after("wrong-counts", Some(Dialect::Fixed));
        self.program.inlined.know(&self.program.sources);
        let facts = known::analyze(self.program);
        let callees = keep_frames::callees(self.program, &facts);
        keep_frames::mark_tail_calls(self.program, &facts, &callees);
        if level == Opt::Low {
            self.contify();
            return self.keep_frames(&callees, level);
        }
        self.simplify();
        lift::run(self.program);
        self.after("lift", Some(Dialect::Opt));
        self.contify();
        for round in 0..ROUNDS {
            let spared = guards::procedure(self.program).filter(|_| round == 0);
            inline::run_sparing(self.program, spared);
            self.after("inline", Some(Dialect::Opt));
            self.simplify();
            if round == 0 {
                guards::run(self.program);
                self.after("guards", Some(Dialect::Opt));
            }
            self.contify();
            escapes::run(self.program);
            self.after("escapes", Some(Dialect::Opt));
            self.shake(Dialect::Opt);
        }
        self.simplify();
        loops::run(self.program);
        self.after("loops", Some(Dialect::Opt));
        unroll::run(self.program);
        self.after("unroll", Some(Dialect::Opt));
        self.simplify();
        elements::run(self.program);
        self.after("elements", Some(Dialect::Opt));
        parts::run(self.program);
        self.after("parts", Some(Dialect::Opt));
        types::run(self.program);
        self.after("types", Some(Dialect::Opt));
        plain::run(self.program);
        self.after("plain", Some(Dialect::Opt));
        self.simplify();
        self.keep_frames(&callees, level);
    }

    fn keep_frames(&mut self, callees: &keep_frames::Callees, level: Opt) {
        let facts = known::analyze(self.program);
        keep_frames::run(self.program, &facts, callees, level == Opt::Low);
        self.after("keep-frames", Some(Dialect::Opt));
    }

    fn shake(&mut self, dialect: Dialect) {
        let facts = known::analyze(self.program);
        shake::run(self.program, &facts);
        self.after("shake", Some(dialect));
    }

    fn simplify(&mut self) {
        let facts = known::analyze(self.program);
        simplify::run(self.program, &facts);
        self.after("simplify", Some(Dialect::Opt));
    }

    fn contify(&mut self) {
        contify::run(self.program);
        self.after("contify", Some(Dialect::Opt));
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
