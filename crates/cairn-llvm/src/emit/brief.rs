//! Which functions get short code for generic arithmetic.
//!
//! The problem: a sum of two values that may be anything is two tests, an addition, a sum of doubles with its
//! tests, and a call for all else: sixty lines of text and a millisecond of LLVM's time. The idea: that pays where
//! code runs often. What runs once (top-level code outside of loops, and procedures with one call, from there)
//! calls the runtime at once; if there is much of it, LLVM spends less on it, too. Of the rest of a large program,
//! some sums go without the way for doubles, which the runtime has, too: there is room for [`BUDGET`] such ways,
//! more than programs of usual size have, and for one in every [`SHARE`] statements; functions with loops come
//! first, then small ones.
//!
//! The library is left alone: it is compiled once, and what a program takes of it is little.
//!
//! Complexity: linear in the module, but for sorting.

use cairn_core::prim::fixnum_bit;
use cairn_frame::ir::*;
use cairn_frame::uses;

/// How short a function's arithmetic is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Brief {
    /// Everything in line.
    #[default]
    Not,
    /// Fixnums in line.
    Fixnums,
    /// Calls.
    Calls,
    /// Calls, and LLVM does not spend much on the function.
    Quick,
}

impl Brief {
    /// Is every generic operation a call?
    pub(crate) fn calls(self) -> bool {
        matches!(self, Brief::Calls | Brief::Quick)
    }
}

/// Ways for doubles that a program has at least.
const BUDGET: usize = 1000;
/// As many again as this part of the program's own statements. (A compiler of 11,000 lines wants a twenty-third in
/// all, a ray tracer a seventh.)
const SHARE: usize = 16;
/// Statements that run once: if there are more, LLVM spends less on them.
const MANY: usize = 2000;

/// How short each function is. `joined`: return points are in their procedures.
pub(crate) fn of(m: &Module, joined: bool) -> Vec<Brief> {
    let turns: Vec<Vec<bool>> = m.functions.iter().map(|f| turning(&f.blocks)).collect();
    let once = if joined { vec![false; m.functions.len()] } else { run_once(m, &turns) };
    let size = |f: &Function| f.blocks.iter().map(|b| 1 + b.stmts.len()).sum::<usize>();
    let many = m.functions.iter().zip(&once).filter(|(_, o)| **o).map(|(f, _)| size(f)).sum::<usize>() > MANY;
    let mut brief = vec![Brief::Not; m.functions.len()];
    let (mut wanted, mut statements) = (vec![], 0);
    for (i, f) in m.functions.iter().enumerate().filter(|(_, f)| !f.library) {
        let loops = turns[i].contains(&true);
        if once[i] && !loops {
            brief[i] = if many { Brief::Quick } else { Brief::Calls };
            continue;
        }
        statements += size(f);
        let ways = ways_for_doubles(f);
        if ways > 0 {
            wanted.push((!loops, ways, i));
        }
    }
    let mut left = BUDGET + statements / SHARE;
    wanted.sort_unstable();
    for (_, ways, i) in wanted {
        match left.checked_sub(ways) {
            Some(rest) => left = rest,
            None => brief[i] = Brief::Fixnums,
        }
    }
    brief
}

/// Generic operations on two values that may be anything, or on one and a number that doubles have, too.
fn ways_for_doubles(f: &Function) -> usize {
    let may_be_double = |p: &&Prim| {
        let fixnum = |i: usize| p.proven & fixnum_bit(i) != 0;
        p.op.is_generic() && !fixnum(0) && !fixnum(1)
    };
    let of_statement = |s: &Stmt| match s {
        Stmt::Assign(_, Op::Prim(p)) | Stmt::Effect(Op::Prim(p)) => may_be_double(&p) as usize,
        _ => 0,
    };
    let of_block = |b: &Block| {
        let test = matches!(&b.term, Term::Branch { test: Test::Prim(p), .. } if may_be_double(&p));
        b.stmts.iter().map(of_statement).sum::<usize>() + test as usize
    };
    f.blocks.iter().map(of_block).sum()
}

/// Which blocks may be on a cycle: those that are neither before all cycles nor behind them.
fn turning(blocks: &[Block]) -> Vec<bool> {
    let successors: Vec<Vec<usize>> =
        blocks.iter().map(|b| uses::successors(&b.term).iter().map(|s| s.0 as usize).collect()).collect();
    let mut predecessors = vec![vec![]; blocks.len()];
    for (b, next) in successors.iter().enumerate() {
        next.iter().for_each(|s| predecessors[*s].push(b));
    }
    let mut turning = vec![true; blocks.len()];
    // takes away what nothing is before, or behind, again and again
    let mut peel = |before: &[Vec<usize>], behind: &[Vec<usize>]| {
        let mut open: Vec<usize> = before.iter().map(|p| p.iter().filter(|b| turning[**b]).count()).collect();
        let mut work: Vec<usize> = (0..blocks.len()).filter(|b| turning[*b] && open[*b] == 0).collect();
        while let Some(b) = work.pop() {
            turning[b] = false;
            for s in &behind[b] {
                open[*s] -= 1;
                if open[*s] == 0 && turning[*s] {
                    work.push(*s);
                }
            }
        }
    };
    peel(&predecessors, &successors);
    peel(&successors, &predecessors);
    turning
}

/// Which functions are entered once, if nobody enters a continuation again: the program's body; return points of calls
/// in what runs once; and what else is referred to by such code only, procedures by one call.
fn run_once(m: &Module, turns: &[Vec<bool>]) -> Vec<bool> {
    let n = m.functions.len();
    let mut references = vec![0; n];
    for (i, f) in m.functions.iter().enumerate() {
        if let FuncKind::Entry { clauses, .. } = &f.kind
            && i != m.main.0 as usize
        {
            clauses.iter().for_each(|c| references[c.body.0 as usize] += 1);
        }
        for b in &f.blocks {
            references_of(&b.term, |to, called| references[to] += if called { 2 } else { 1 });
        }
    }
    let mut once = vec![false; n];
    let FuncKind::Entry { clauses, .. } = &m.function(m.main).kind else { return once };
    let mut work: Vec<usize> = clauses.iter().map(|c| c.body.0 as usize).filter(|f| references[*f] == 0).collect();
    while let Some(f) = work.pop() {
        once[f] = true;
        for (b, turns) in m.functions[f].blocks.iter().zip(&turns[f]) {
            if *turns {
                continue;
            }
            references_of(&b.term, |to, called| {
                if !called {
                    references[to] -= 1;
                } else if references[to] == 2 {
                    references[to] = 0;
                }
                if references[to] == 0 {
                    work.push(to);
                }
            });
        }
    }
    once
}

/// The functions that a block's end goes on with; which of them as a call that returns.
fn references_of(end: &Term, mut f: impl FnMut(usize, bool)) {
    match end {
        Term::TailCall { callee: Callee::Known(to, _), .. } => f(to.0 as usize, false),
        Term::Call { callee, ret, .. } => {
            f(ret.0 as usize, false);
            if let Callee::Known(to, _) = callee {
                f(to.0 as usize, true);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_layout::facts::CHUNKS;

    /// What becomes of the pieces of each procedure.
    fn briefs(text: &str) -> Vec<(String, Brief)> {
        let program = cairn_core::parse::parse_program(text).expect("parses");
        let m = cairn_frame::lower(&program, &vec![true; program.globals.len()], &CHUNKS);
        let pieces =
            m.functions.iter().zip(of(&m, false)).filter(|(f, _)| !matches!(f.kind, FuncKind::Entry { .. }));
        pieces.map(|(f, brief)| (f.procedure.to_string(), brief)).collect()
    }

    #[track_caller]
    fn check(text: &str, procedure: &str, expected: &[Brief]) {
        let found: Vec<Brief> = briefs(text).into_iter().filter(|(p, _)| p == procedure).map(|(_, b)| b).collect();
        assert_eq!(found, expected, "{procedure} of {text}");
    }

    const SUMS: &str =
        "(define @f.0 (lambda f (x.0) (%+ x.0 1))) (define @g.1 (lambda g (x.1) (%+ x.1 (@f.0 x.1))))";

    #[test]
    fn what_runs_once_calls() {
        let text = format!("{SUMS} (%cons (@g.1 1) '())");
        check(&text, "f", &[Brief::Calls]);
        check(&text, "g", &[Brief::Calls, Brief::Calls]);
        check(&text, "program", &[Brief::Calls, Brief::Calls]);
    }

    #[test]
    fn what_has_two_calls_or_is_a_value_may_run_often() {
        let text = format!("{SUMS} (%cons (@g.1 1) (@g.1 2))");
        check(&text, "f", &[Brief::Not]);
        check(&text, "g", &[Brief::Not, Brief::Not]);
        check(&format!("{SUMS} (%cons (@g.1 1) @g.1)"), "g", &[Brief::Not, Brief::Not]);
    }

    #[test]
    fn what_a_loop_calls_runs_often_and_what_follows_runs_once() {
        let loop_ = "(labels ((L0 (i.2) (if (%< i.2 9) (seq (@f.0 i.2) (jump L0 (%+ i.2 1))) i.2))) (jump L0 0))";
        let text = format!("{SUMS} {loop_} (@g.1 3)");
        check(&text, "f", &[Brief::Not]);
        assert!(briefs(&text).iter().any(|(p, b)| p == "program" && *b == Brief::Not));
    }

    #[test]
    fn ways_for_doubles_have_a_budget() {
        let n = 2 * BUDGET;
        let define =
            |i: usize| format!("(define @f.{i} (lambda f (x.{i}) (%+ x.{i} x.{i})))\n(%cons @f.{i} '())\n");
        let of_f =
            |n: usize| briefs(&(0..n).map(define).collect::<String>()).into_iter().filter(|(p, _)| p == "f");
        assert!(of_f(BUDGET).all(|(_, b)| b == Brief::Not));
        let short = of_f(n).filter(|(_, b)| *b == Brief::Fixnums).count();
        assert!((n / 4..n - BUDGET).contains(&short), "{short} of {n}");
    }
}
