//! Two tiers: a program that is evaluated becomes native code where it turns out to be hot.
//!
//! ```text
//!  (define (work l) …)                 evaluated at first, counted; then in a module:
//!  (let loop ((i n))                     (define @work (lambda work (l) …))
//!    (if (> i 0)                         (%vector                                           makers:
//!        (begin (work l)                   (lambda () @work)                                lambda 0
//!               (loop (- i 1)))))          (lambda (l) (fix ((loop (lambda loop (i) …)))    lambda 1
//!                                                  loop)))
//! ```
//!
//! The problem: compiling takes longer than most programs run, and evaluating takes thirty times as long as native
//! code. Whether a loop is long shows only when it runs. The idea: every lambda of a program has a number
//! ([`Lambdas`]). Evaluated code counts how often each is entered; when that is often, a [`Request`] says so, and
//! [`module`] makes a program of those that are worth it, to be compiled while evaluation goes on. What that program
//! leaves is a vector of *makers*: procedures that take the values of a lambda's free variables and return its closure
//! in native code. An evaluated closure that is entered again goes there. A loop is a procedure that calls itself, so
//! running loops switch as well, at their next iteration.
//!
//! A procedure that is defined once, and was when the request was made, is a procedure of the module: calls of it are
//! direct, and all passes know it. Its value is that of the variable, as evaluated code made it, so that `eq?` cannot
//! tell tiers apart; loading the module changes where its code is. Other variables are read and written in their
//! *cells*, pairs that evaluated code shares. Members of a recursive group are the same for all, too: where one is not
//! called but used as a value, it is the evaluated closure, another free variable.
//!
//! Forms typed at the prompt are modules each, and call what others define: see [`crate::tier_links`].
//!
//! Constants that have an identity, such as lists, are in cells, too, behind the program's and one for the module's
//! value: evaluated code has made them.
//!
//! Invariants: both tiers number lambdas, constants and variables alike, because both walk the same program,
//! dialect `Fixed`.
//! Complexity: linear in the program's size times the nesting of its lambdas.

use crate::globals;
use crate::ir::{Clause, Expr, GlobalId, Import, ImportFrom, Lambda, Program, TopForm, VarId};
use crate::prim::{Op, PrimOp};
use crate::print::print_literal;
pub use crate::tier_lambdas::{LambdaInfo, Lambdas, Request};
use crate::tier_links::{Cells, Linkage, Linked, fresh_global, prim};
use crate::walk::{Renaming, copy_fresh, copy_lambda, deep, for_each_child_mut, visit};
use cairn_layout::code::Site;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// What tells forms of different meaning apart: their structure, and the names and origins of variables, but neither
/// the numbers of variables nor positions. Two processes of one executable compute the same. Not negative, 60 bits.
pub fn fingerprint(program: &Program, forms: &[TopForm]) -> i64 {
    let mut p = Fingerprint { program, hash: FxHasher::default(), vars: FxHashMap::default() };
    for form in forms {
        if let TopForm::Define(g, _) = form {
            p.global(*g);
        }
        visit(form.expr(), &mut |e| p.expr(e));
    }
    (p.hash.finish() >> 4) as i64
}

struct Fingerprint<'p> {
    program: &'p Program,
    hash: FxHasher,
    /// Local variables in the order of their appearance.
    vars: FxHashMap<VarId, usize>,
}

impl Fingerprint<'_> {
    fn global(&mut self, g: GlobalId) {
        let info = &self.program.globals[g.0 as usize];
        info.name.hash(&mut self.hash);
        match info.import.map(|i| i.from) {
            None => self.hash.write_u32(u32::MAX),
            Some(ImportFrom::Library(n)) => self.hash.write_u32(n),
            Some(ImportFrom::Cell(n)) => self.hash.write_u64(n.into()),
        }
    }

    fn var(&mut self, v: VarId) {
        let next = self.vars.len();
        self.hash.write_usize(*self.vars.entry(v).or_insert(next));
    }

    fn clause(&mut self, c: &Clause) {
        self.hash.write_usize(c.params.len());
        c.params.iter().chain(&c.rest).for_each(|v| self.var(*v));
    }

    fn lambda(&mut self, l: &Lambda) {
        l.name.hash(&mut self.hash);
        self.hash.write_usize(l.clauses.len());
        l.clauses.iter().for_each(|c| self.clause(c));
    }

    /// The expression itself; its parts come by themselves.
    fn expr(&mut self, e: &Expr) {
        std::mem::discriminant(e).hash(&mut self.hash);
        match e {
            Expr::Const(l) => print_literal(l).hash(&mut self.hash),
            Expr::Local(v) | Expr::SetLocal(v, _) => self.var(*v),
            Expr::Global(g, _) | Expr::SetGlobal(g, ..) => self.global(*g),
            Expr::Seq(es) | Expr::Values(es) | Expr::Call(_, es, _) | Expr::Apply(_, es, _) => {
                self.hash.write_usize(es.len())
            }
            Expr::Let(bs, _) | Expr::Letrec(bs, _) => {
                self.hash.write_usize(bs.len());
                bs.iter().for_each(|(v, _)| self.var(*v));
            }
            Expr::Fix(bs, _) => {
                self.hash.write_usize(bs.len());
                for (v, l) in bs {
                    self.var(*v);
                    self.lambda(l);
                }
            }
            Expr::Lambda(l) => self.lambda(l),
            Expr::Prim { op, args, .. } => {
                op.name().hash(&mut self.hash);
                self.hash.write_usize(args.len());
            }
            Expr::Receive { clause, .. } => self.clause(clause),
            Expr::CallCc(shots, ..) => shots.name().hash(&mut self.hash),
            Expr::If(..) | Expr::Labels(..) | Expr::Jump(..) => {}
        }
    }
}

/// A form that was typed or loaded and defines what another one calls. Its cells come behind those of the form and of
/// the parts before it.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// The form, dialect `Fixed`.
    pub forms: Vec<TopForm>,
    /// How many cells it has.
    pub cells: usize,
}

/// What a module is for, in the order of its value's elements.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Makers {
    /// Number of the lambda that each maker is for.
    pub lambdas: Vec<usize>,
    /// Cells whose values are procedures of the module: behind the makers come these procedures.
    pub procedures: Vec<u32>,
    /// Procedures that are native already, and their cells: the module need not have them.
    pub native: Vec<(GlobalId, u32)>,
}

/// Makes the variables of the program and of other parts such that any other code may change them: all are in cells. An
/// error if a form refers to a variable of the library that is no import, nor one of these.
pub fn open(program: &mut Program, others: &[Part], defined: FxHashSet<GlobalId>) -> Result<(), String> {
    let (mut mentioned, mut defined) = (FxHashSet::default(), defined);
    for form in program.forms.iter().chain(others.iter().flat_map(|p| &p.forms)) {
        if let TopForm::Define(g, _) = form {
            mentioned.insert(*g);
            defined.insert(*g);
        }
        globals::mentioned(form.expr(), &mut |g| {
            mentioned.insert(g);
        });
    }
    for g in mentioned {
        let info = &mut program.globals[g.0 as usize];
        match info.import {
            None if info.library && !defined.contains(&g) => return Err(format!("{} is not exported", info.name)),
            // a later form may make structure vectors of the record type that it holds
            None if info.hidden => info.elements = true,
            None => info.assigned = true,
            Some(_) => {}
        }
    }
    Ok(())
}

/// Makes the forms of the program, dialect `Fixed`, into those of a module of what is hot. Forms before `first` are
/// others' and stay. The module puts a vector, of makers and procedures, into the cell behind the program's cells.
pub fn module(program: &mut Program, first: usize, others: &[Part], request: &Request) -> Makers {
    let forms = program.forms.split_off(first);
    let lambdas = Lambdas::of(&program.globals, &forms);
    let mut parts = vec![Linked { forms: &forms, first_cell: 0, lambdas }];
    let mut first_cell = parts[0].lambdas.cells();
    for other in others {
        let lambdas = Lambdas::of(&program.globals, &other.forms);
        parts.push(Linked { forms: &other.forms, first_cell, lambdas });
        first_cell += other.cells;
    }
    let lambdas = &parts[0].lambdas;
    let mut cells = Cells::new(program, &parts, request);
    let mut makers = Makers { lambdas: lambdas.hot(request), ..Makers::default() };
    let mut values: Vec<Expr> = Vec::new();
    let own: FxHashMap<usize, GlobalId> = (forms.iter())
        .filter_map(|form| match form {
            TopForm::Define(g, Expr::Lambda(l)) => Some((lambdas.get(l).0, *g)),
            _ => None,
        })
        .filter_map(|(n, g)| Some((n, cells.linkage.get(&g)?.own(g)?)))
        .collect();
    for n in &makers.lambdas {
        values.push(match own.get(n) {
            Some(g) => maker_of(Vec::new(), Expr::Global(*g, Site::NONE)),
            None => {
                let mut maker = maker(program, &lambdas.infos[*n]);
                cells.link(program, &parts[0], &mut maker);
                maker
            }
        });
    }
    let hot: FxHashSet<usize> = makers.lambdas.iter().copied().collect();
    let is = |e: &Expr, has: &dyn Fn(usize) -> bool| matches!(e, Expr::Lambda(l) if has(lambdas.get(l).0));
    let is_hot = |e: &Expr| is(e, &|n| hot.contains(&n));
    let is_native = |e: &Expr| is(e, &|n| request.is_native(n));
    for form in &forms {
        let TopForm::Define(g, e) = form else { continue };
        match cells.linkage.get(g) {
            // others are in the module as far as these call them
            Some(Linkage::Procedure(n)) if is_hot(e) => {
                makers.procedures.push(*n);
                values.push(Expr::Global(*g, Site::NONE));
            }
            Some(Linkage::Procedure(n)) if is_native(e) => makers.native.push((*g, *n)),
            Some(Linkage::Procedure(_)) => {}
            Some(Linkage::Constant) => {}
            _ => continue,
        }
        let mut e = copy_fresh(program, e, &mut Renaming::default());
        cells.link(program, &parts[0], &mut e);
        program.forms.push(TopForm::Define(*g, e));
    }
    cells.define_guarded(program, &parts);
    program.forms.extend(cells.values);
    let import = Import { from: ImportFrom::Cell(lambdas.value_cell() as u32), never_returns: false };
    let value = fresh_global(program, "module-value", Some(import));
    let vector = Expr::Prim { op: PrimOp::Vector, args: values, site: Site::NONE, proven: 0 };
    program.forms.push(TopForm::Expr(prim(Op::SetCar, vec![Expr::Global(value, Site::NONE), vector])));
    makers
}

/// `(lambda (free …) L)`, or for a member of a group `(lambda (free …) (fix (…) member))`.
fn maker(program: &mut Program, info: &LambdaInfo) -> Expr {
    let mut names = Renaming::default();
    let params: Vec<VarId> = info.free.iter().map(|v| names.bind(program, *v)).collect();
    let body = match info.group {
        None => Expr::Lambda(copy_lambda(program, info.lambda, &mut names)),
        Some(group) => {
            // parameters that stand for members used as values; the group's own are only called
            let outside = names.vars.clone();
            let members: Vec<VarId> = group.iter().map(|(v, _)| names.bind(program, *v)).collect();
            let values: FxHashMap<VarId, VarId> =
                (group.iter().zip(&members)).filter_map(|((v, _), m)| Some((*m, *outside.get(v)?))).collect();
            let mut bindings: Vec<(VarId, Lambda)> =
                members.iter().zip(group).map(|(m, (_, l))| (*m, copy_lambda(program, l, &mut names))).collect();
            let bodies = bindings.iter_mut().flat_map(|(_, l)| &mut l.clauses).map(|c| &mut c.body);
            bodies.for_each(|b| use_values(b, &values));
            let this = group.iter().position(|(_, l)| std::ptr::eq(l, info.lambda)).expect("a member");
            Expr::Fix(bindings, Expr::Local(members[this]).into())
        }
    };
    maker_of(params, body)
}

fn maker_of(params: Vec<VarId>, body: Expr) -> Expr {
    let clauses = vec![Clause { params, rest: None, body }];
    Expr::Lambda(Lambda { name: "maker".into(), clauses, site: Site::NONE })
}

/// Variables become others, except where they are called.
fn use_values(e: &mut Expr, values: &FxHashMap<VarId, VarId>) {
    deep(|| match e {
        Expr::Local(v) => {
            if let Some(value) = values.get(v) {
                *v = *value;
            }
        }
        Expr::Call(f, args, _) => {
            if !matches!(**f, Expr::Local(_)) {
                use_values(f, values);
            }
            args.iter_mut().for_each(|a| use_values(a, values));
        }
        e => for_each_child_mut(e, &mut |c| use_values(c, values)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp;
    use crate::parse::parse_program;
    use crate::passes::{Disabled, Opt, optimize_prepared};
    use crate::print::print_program;
    use crate::verify::{Dialect, verify};
    use cairn_layout::limits::IS_NATIVE;

    /// The module of a program of which everything has run: lambda `n` was entered `entered[n]` times. The cells
    /// of `unbound` have no value yet.
    fn module_of(text: &str, entered: &[u32], unbound: &[u32]) -> (Program, Makers) {
        let mut program = parse_program(text).expect("parses");
        let bound = (0..program.globals.len() as u32).map(|n| !unbound.contains(&n)).collect();
        let makers =
            module(&mut program, 0, &[], &Request { entered: entered.to_vec(), bound, ..Request::default() });
        verify(&program, Dialect::Fixed).expect("well formed");
        (program, makers)
    }

    /// What it writes and gives, before and after the optimizer, when `use_it`, whose `@module.99` is the module's
    /// value, runs in its place; cells hold `values`.
    fn result(program: &Program, values: &[&str], use_it: &str) -> String {
        let outcome = |program: &Program| {
            let mut p = program.clone();
            let value = p.globals.iter().position(|g| &*g.name == "module-value").expect("the value's cell");
            let values = [values, &["0", "0", "0"]].concat();
            let mut text = String::new();
            for (g, info) in p.globals.iter_mut().enumerate() {
                if let Some(Import { from: ImportFrom::Cell(n), .. }) = info.import.take() {
                    text += &format!("(define @{}.{g} (%cons {} '()))\n", info.name, values[n as usize]);
                }
            }
            text += &print_program(&p);
            text += &format!("(seq {})", use_it.replace("@module.99", &format!("(%car @module-value.{value})")));
            let out = interp::run(&parse_program(&text).unwrap_or_else(|e| panic!("{e}\n{text}")), 100_000);
            format!("{} {:?}", out.trace.join(" "), out.result)
        };
        let plain = outcome(program);
        let mut optimized = program.clone();
        optimize_prepared(&mut optimized, Opt::High, Disabled::NOTHING, true);
        assert_eq!(plain, outcome(&optimized));
        plain
    }

    const LOOP: &str = "
        (define @square.0 (lambda square (x.0) (%* x.0 x.0)))
        (define @limit.1 4)
        (define @list.2 (%cons 3 '()))
        (define @count.3 0)
        (let ((step.1 2))
          (fix ((loop.2 (lambda loop (i.3 sum.4)
                  (if (%< i.3 @limit.1)
                    (seq (set! @count.3 (%+ @count.3 1))
                         (loop.2 (%+ i.3 step.1) (%+ sum.4 (@square.0 (%car @list.2)))))
                    sum.4))))
            (loop.2 0 0)))";
    const VALUES: &[&str] = &["'square", "4", "'(3)", "10"];

    #[test]
    fn a_running_loop_becomes_native() {
        let (program, makers) = module_of(LOOP, &[200, 300], &[]);
        assert_eq!(makers, Makers { lambdas: vec![0, 1], procedures: vec![0], native: vec![] });
        assert_eq!(result(&program, VALUES, "(call (call (%vector-ref @module.99 1) 2) 0 0)"), " Ok(\"18\")");
        let text = print_program(&program);
        assert!(text.contains("(@square.0 "), "calls are direct: {text}");
        assert!(!text.contains("(define @list.2 (%cons 3 '()))"), "values are those of evaluated code: {text}");
    }

    #[test]
    fn what_is_not_entered_again_is_not_compiled() {
        let once = "(define @f.0 (lambda f (g.0) (g.0)))
                    (@f.0 (lambda a () 1))
                    (@f.0 (lambda b () (fix ((loop.1 (lambda loop (i.2) (loop.1 i.2)))) (loop.1 1))))";
        let hot = |entered: &[u32]| module_of(once, entered, &[]).1.lambdas;
        assert_eq!(hot(&[1, 1, 0, 0]), []);
        assert_eq!(hot(&[199, 1, 0, 0]), [], "not worth it yet");
        assert_eq!(hot(&[200, 1, 0, 0]), [0]);
        assert_eq!(hot(&[200, 1, 1, 3]), [0], "nor is a short loop");
        let nested = "(define @f.0 (lambda f ()
                        (fix ((outer.1 (lambda outer (i.2)
                                (fix ((inner.3 (lambda inner (j.4) (inner.3 j.4)))) (inner.3 i.2)))))
                          (outer.1 1))))";
        let hot = |entered: &[u32]| module_of(nested, entered, &[]).1.lambdas;
        assert_eq!(hot(&[1, 1, 200]), [1, 2], "the loop around, which evaluation is inside of");
        assert_eq!(hot(&[2, 3, 200]), [0, 1, 2]);
        assert_eq!(hot(&[0, 0, 200]), [2]);
        assert_eq!(hot(&[2, 9, 200]), [0, 1], "the loop inside is in the code around it, which is entered again");
        assert_eq!(hot(&[2, 9, 40_000]), [0, 1, 2], "but not soon");
        let closures = "(define @f.0 (lambda f (n.1) (lambda later (x.2) (%+ x.2 n.1))))";
        assert_eq!(module_of(closures, &[200, 200], &[]).1.lambdas, [0, 1], "closures outlive activations");
    }

    #[test]
    fn what_is_native_already_is_called() {
        let large = "(%vector (%vector x.1 x.1) (%vector x.1 x.1) (%vector x.1 x.1) (%vector x.1 x.1) 1001)";
        let text = format!(
            "(define @f.0 (lambda f (x.0) (%vector (@g.1 x.0) (@g.1 5) (@h.2 x.0))))
             (define @g.1 (lambda g (x.1) {large}))
             (define @h.2 (lambda h (x.2) (%+ x.2 2002)))"
        );
        let (mut program, makers) = module_of(&text, &[200, IS_NATIVE, IS_NATIVE], &[]);
        assert_eq!((&makers.lambdas[..], &makers.procedures[..]), (&[0][..], &[0][..]));
        assert_eq!(makers.native.iter().map(|(_, cell)| *cell).collect::<Vec<_>>(), [1, 2]);
        optimize_prepared(&mut program, Opt::High, Disabled::NOTHING, true);
        crate::copies::remove_native(&mut program, &makers.native);
        verify(&program, Dialect::Fixed).expect("well formed");
        let text = print_program(&program);
        assert!(!text.contains("1001"), "it is called: {text}");
        assert!(text.contains("2002"), "small ones are inlined: {text}");
        let values = ["'f", "(lambda other (x.7) (%* x.7 2))", "'h"];
        let made = result(&program, &values, "(call (call (%vector-ref @module.99 0)) 1)");
        assert_eq!(made, " Ok(\"#(2 10 2003)\")");
    }

    #[test]
    fn procedures_that_are_not_hot_are_in_the_module_as_far_as_others_call_them() {
        let text = "(define @f.0 (lambda f (x.0) (@g.1 x.0)))
                    (define @g.1 (lambda g (x.1) (%+ x.1 1001)))
                    (define @h.2 (lambda h (x.2) (%+ x.2 2002)))";
        let (mut program, makers) = module_of(text, &[200, 3, 3], &[]);
        assert_eq!(makers, Makers { lambdas: vec![0], procedures: vec![0], native: vec![] });
        optimize_prepared(&mut program, Opt::High, Disabled::NOTHING, true);
        let text = print_program(&program);
        assert!(text.contains("1001") && !text.contains("2002"), "{text}");
    }

    /// Lambdas inside each other, each with some code of its own and entered so often.
    fn nest(depth: usize) -> String {
        let own = format!("(%vector {})", "x.0 ".repeat(30));
        let open: String = (1..depth).map(|n| format!("(%cons {own} (lambda inner (y.{n}) ")).collect();
        format!("(define @f.0 (lambda f (x.0) {open} {own} {}))", "))".repeat(depth - 1))
    }

    #[test]
    fn what_is_nested_deep_is_compiled_once() {
        let hot = |depth: usize, entered: u32| module_of(&nest(depth), &vec![entered; depth], &[]).1.lambdas;
        assert_eq!(hot(5, 200), [0, 1, 2, 3, 4], "closures outlive activations");
        assert_eq!(hot(20, 200), [0], "but each is in the code of all around it");
        let mut entered = vec![1; 20];
        entered[15..].fill(200);
        assert_eq!(
            module_of(&nest(20), &entered, &[]).1.lambdas,
            [15, 16, 17, 18, 19],
            "what is small is compiled"
        );
        // the hottest first
        let large =
            |g: usize| format!("(define @f.{g} (lambda f (x.{g}) (%vector {})))", format!("x.{g} ").repeat(450));
        let text = (0..3).map(large).collect::<String>();
        assert_eq!(module_of(&text, &[300, 200, 400], &[]).1.lambdas, [2], "others have their turn");
        assert_eq!(module_of(&text, &[300, 200, IS_NATIVE], &[]).1.lambdas, [0]);
        // later modules have more room
        let mut program = parse_program(&text).expect("parses");
        let request =
            Request { entered: vec![300, 200, 400], bound: vec![true; 3], room: 1000, ..Request::default() };
        assert_eq!(module(&mut program, 0, &[], &request).lambdas, [0, 2]);
    }

    #[test]
    fn large_procedures_that_are_not_hot_are_called_by_their_values() {
        let large = format!("(%vector {} 1001)", "x.1 ".repeat(300));
        let text = format!("(define @f.0 (lambda f (x.0) (@g.1 x.0))) (define @g.1 (lambda g (x.1) {large}))");
        let (mut program, makers) = module_of(&text, &[200, 3], &[]);
        assert_eq!((&makers.lambdas[..], &makers.procedures[..]), (&[0][..], &[0][..]));
        optimize_prepared(&mut program, Opt::High, Disabled::NOTHING, true);
        let text = print_program(&program);
        assert!(!text.contains("1001"), "{text}");
        let values = ["'f", "(lambda other (x.7) (%* x.7 2))"];
        assert_eq!(result(&program, &values, "(call (call (%vector-ref @module.99 0)) 4)"), " Ok(\"8\")");
    }

    #[test]
    fn members_of_a_group_are_the_same_in_both_tiers() {
        let (program, makers) = module_of(
            "(define @keep.0 (lambda keep (x.0) x.0))
             (let ((n.1 5))
               (fix ((even.2 (lambda even (i.3) (if (%eq? i.3 0) (@keep.0 odd.4) (odd.4 (%- i.3 1)))))
                     (odd.4 (lambda odd (i.5) (if (%eq? i.5 0) n.1 (even.2 (%- i.5 1))))))
                 (even.2 10)))",
            &[1, 500, 500],
            &[],
        );
        assert_eq!(makers.lambdas, [1, 2]);
        // free variables: n and odd; the evaluated `odd` is what comes out
        let call = |n: i32| format!("(call (call (%vector-ref @module.99 0) 7 'evaluated) {n})");
        assert_eq!(result(&program, &["'keep"], &call(10)), " Ok(\"evaluated\")");
        assert_eq!(result(&program, &["'keep"], &call(9)), " Ok(\"7\")");
    }

    #[test]
    fn variables_that_change_stay_in_their_cells() {
        let (program, _) = module_of(LOOP, &[200, 300], &[]);
        let twice =
            "(call (call (%vector-ref @module.99 1) 2) 0 0) (call (call (%vector-ref @module.99 1) 2) 0 0)";
        let cell = (program.globals.iter())
            .position(|g| matches!(g.import, Some(Import { from: ImportFrom::Cell(3), .. })))
            .expect("the cell of count");
        let read = format!("{twice} (%car @count.{cell})");
        assert_eq!(result(&program, VALUES, &read), " Ok(\"14\")");
    }

    #[test]
    fn constants_are_the_same_in_both_tiers() {
        let text = "(define @f.0 (lambda f () (%cons \"a\" (%cons '(1) (%cons 'a (%cons 5 '()))))))";
        let (program, _) = module_of(text, &[200], &[]);
        // cells: f, the module's value, the string, the list
        let made = result(&program, &["'f", "0", "'first", "'second"], "(call (call (%vector-ref @module.99 0)))");
        assert_eq!(made, " Ok(\"(first second a 5)\")");
    }

    #[test]
    fn unbound_variables_are_noticed() {
        let text = "(define @f.0 (lambda f (x.0) (if x.0 @later.1 (set! @later.1 1))))
                    (define @later.1 (%cons 1 2))";
        let (program, _) = module_of(text, &[200], &[1]);
        for (value, x, expected) in [
            ("5", "#t", " Ok(\"5\")"),
            ("5", "#f", " Ok(\"#<unspecified>\")"),
            ("'#!unbound", "#t", " Err(Unbound)"),
            ("'#!unbound", "#f", " Err(Unbound)"),
        ] {
            let got = result(&program, &["'f", value], &format!("(call (call (%vector-ref @module.99 0)) {x})"));
            assert_eq!(got, expected, "{value} {x}");
        }
    }
}
