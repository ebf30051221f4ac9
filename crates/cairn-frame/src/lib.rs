//! # cairn-frame: shape of an activation
//!
//! Core → Frame IR: closure conversion, splitting at non-tail calls, liveness, frame layout, heap checks.
//! Knows frame strategies only through their published facts; knows nothing of LLVM.
//!
//! | module | its job |
//! |---|---|
//! | [`wide`] | code beyond the limits takes list form |
//! | [`analyze`] | which lambdas need closures, what is in them, lambda lifting |
//! | [`build`] | Core clause → control-flow graph |
//! | [`graph`] | dominators, pieces |
//! | [`flow`], [`uses`] | liveness; which variables an operation reads and writes |
//! | [`split`] | graph → functions: joins, slots, pieces, loads, checks |
//! | [`reps`] | unboxed doubles |
//! | [`safepoints`] | stack checks; stop checks on cycles without a safepoint |
//! | [`ir`] | the Frame IR |
//! | [`mod@print`], [`parse`] | to and from text |
//! | [`verify`] | checks its invariants |
//! | [`interp`] | runs modules, for tests |

mod analyze;
mod build;
mod flow;
mod graph;
pub mod interp;
pub mod ir;
pub mod parse;
pub mod print;
mod reps;
pub mod safepoints;
mod split;
pub mod uses;
pub mod verify;
mod wide;

use analyze::LamId;
use build::{Context, FuncIds};
use cairn_core::ir::{Expr, GlobalId, Program, TopForm};
use cairn_core::passes::{keep_frames, known};
use cairn_layout::facts::StrategyFacts;
pub use split::{SIZES, Sizes};
pub use wide::{WIDTHS, Widths};

use ir::{EntryClause, FuncId, FuncKind, Function, Global, Module};

/// Lowers an optimized Core program (dialect `Opt` or `Fixed`) to Frame IR for a frame strategy.
///
/// `always_bound[g]` says that global `g` is certainly defined wherever it is referenced.
pub fn lower(program: &Program, always_bound: &[bool], strategy: &'static StrategyFacts) -> Module {
    lower_within(program, always_bound, strategy, WIDTHS, SIZES)
}

/// [`lower`] with other ideas of what is wide and what is large: tests have small ones.
pub fn lower_within(
    program: &Program,
    always_bound: &[bool],
    strategy: &'static StrategyFacts,
    widths: Widths,
    sizes: Sizes,
) -> Module {
    assert!(widths.consistent());
    let (program, listed) = wide::narrow(program, always_bound, widths);
    let program = &*program;
    let closures = analyze::analyze(program, always_bound, &listed);
    let never_return = never_return(program);
    let mut functions: Vec<Option<Function>> = vec![];
    let mut next = || {
        functions.push(None);
        FuncId(functions.len() as u32 - 1)
    };
    let mut ids = FuncIds { bodies: vec![], entries: vec![] };
    for lam in &closures.lams {
        ids.entries.push(next());
        let clauses = lam.lambda.map_or(1, |l| l.clauses.len());
        ids.bodies.push((0..clauses).map(|_| next()).collect());
    }
    let mut cx = Context {
        program,
        closures: &closures,
        listed: &listed,
        ids: &ids,
        always_bound,
        never_return: &never_return,
        entries_used: vec![false; closures.lams.len()],
    };
    for i in 0..closures.lams.len() {
        let lam = LamId(i as u32);
        match closures.lam(lam).lambda {
            None => {
                let proc = build::build_main(&mut cx);
                split::split(proc, ids.bodies[i][0], &mut functions, strategy, sizes);
            }
            Some(l) => {
                for c in 0..l.clauses.len() {
                    let proc = build::build_clause(&mut cx, lam, c);
                    split::split(proc, ids.bodies[i][c], &mut functions, strategy, sizes);
                }
            }
        }
    }
    cx.entries_used[0] = true;
    let entries_used = cx.entries_used;
    for (i, lam) in closures.lams.iter().enumerate() {
        let entry = entry_function(&closures, LamId(i as u32), &ids, lam.library, &listed);
        functions[ids.entries[i].0 as usize] = Some(entry);
    }
    let mut globals: Vec<Global> = (program.globals.iter())
        .map(|g| Global {
            name: g.name.clone(),
            procedure: None,
            undefined: g.undefined,
            import: g.import.map(|i| i.from),
        })
        .collect();
    for form in &program.forms {
        if let TopForm::Define(g, Expr::Lambda(_)) = form
            && let Some(l) = closures.global.get(g)
            && entries_used[l.0 as usize]
        {
            globals[g.0 as usize].procedure = Some(ids.entries[l.0 as usize]);
        }
    }
    let functions = functions.into_iter().map(|f| f.expect("every function is built")).collect();
    let mut module = Module {
        strategy,
        functions,
        globals,
        main: ids.entries[0],
        sources: program.sources.clone(),
        procedures: program.procedures.clone(),
        inlined: program.inlined.clone(),
        shared: false,
    };
    drop_unused_entries(&mut module, &ids, &entries_used);
    safepoints::insert(&mut module);
    module
}

/// For each global: does it hold a procedure that never returns, under whatever name?
fn never_return(program: &Program) -> Vec<bool> {
    let facts = known::analyze(program);
    let never = keep_frames::never_return(program, &facts);
    (0..never.len()).map(|g| never[facts.resolve(GlobalId(g as u32)).0 as usize]).collect()
}

fn entry_function(
    closures: &analyze::Closures,
    lam: LamId,
    ids: &FuncIds,
    library: bool,
    listed: &wide::Listed,
) -> Function {
    let info = closures.lam(lam);
    let bodies = &ids.bodies[lam.0 as usize];
    let (name, clauses, site) = match info.lambda {
        None => {
            let clause = EntryClause { required: 0, rest: false, listed: false, body: bodies[0] };
            ("program".into(), vec![clause], cairn_layout::code::Site::NONE)
        }
        Some(l) => {
            let clauses =
                l.clauses.iter().zip(bodies).map(|(c, body)| match c.rest.and_then(|r| listed.get(&r)) {
                    Some(&(required, rest)) => EntryClause { required, rest, listed: true, body: *body },
                    None => {
                        let (required, rest) = (c.params.len() as u32, c.rest.is_some());
                        EntryClause { required, rest, listed: false, body: *body }
                    }
                });
            (l.name.clone(), clauses.collect(), l.site)
        }
    };
    let closure_words = 1 + if info.has_closure() { info.free.len() as u32 } else { 0 };
    Function {
        name: format!("{name}.{}.entry", ids.entries[lam.0 as usize].0).into(),
        procedure: name,
        library,
        vast: false,
        kind: FuncKind::Entry { closure_words, clauses, site },
        vars: vec![],
        blocks: vec![],
    }
}

/// Entries that nothing mentions become empty: no clauses, no code. Their ids stay valid.
fn drop_unused_entries(module: &mut Module, ids: &FuncIds, used: &[bool]) {
    for (entry, used) in ids.entries.iter().zip(used) {
        if !used && let FuncKind::Entry { clauses, .. } = &mut module.functions[entry.0 as usize].kind {
            clauses.clear();
        }
    }
}
