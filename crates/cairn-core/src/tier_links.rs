//! What a module of native code has to do with variables and constants of evaluated code.
//!
//! ```text
//!  > (define (square x) (* x x))                one form, and its module: none yet
//!  > (define (sum i s)                          another form; in its module:
//!      (if (> i 0)                                (define @square.7 (lambda square (x) (%* x x)))
//!          (sum (- i 1) (+ s (square i)))         … with callee (%car @square-cell): (if (%eq? callee @square-held)
//!          s))                                          (@square.7 i) (call callee i)) …
//! ```
//!
//! The problem: what is typed at the prompt may be defined again at any time, and code compiled before sees it. So a
//! call of it is a call of whatever its cell holds, and nothing is known about that. The idea: the module has copies of
//! procedures that were defined by forms, its own and others, and still are what their cells hold. Each call of one
//! compares the cell with what it held when the module was loaded; if it is the same, the copy is called, about which
//! all passes know everything, and which may be inlined. Code need not be given up when something is defined again.
//!
//! Invariants: a copy refers to variables and constants as its original does, through the cells of its form. Whoever
//! loads the module makes sure that cells hold then what they held when it was requested; if not, nobody enters it. A
//! module that is made before the form runs (`Request::ahead`) compares with its own procedures, which its makers
//! hand out when the form's definitions run.
//! Variables that no name refers to ([`GlobalInfo::hidden`]), such as record types, need no guard.
//! Complexity: linear.

use crate::ir::{Expr, GlobalId, GlobalInfo, Import, ImportFrom, Literal, Program, TopForm, VarId};
use crate::passes::known::copyable;
use crate::prim::{Op, PrimOp};
use crate::tier_lambdas::{Lambdas, Request};
use crate::walk::{Renaming, copy_fresh, deep, for_each_child_mut, size_at_most, take, visit};
use cairn_layout::code::Site;
use rustc_hash::{FxHashMap, FxHashSet};

/// How a module refers to a variable of the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linkage {
    /// Its own procedure, the value of this cell. Used as a value, it is the one that evaluated code made.
    Procedure(u32),
    /// Its own constant.
    Constant,
    /// A variable of the module that has the value: it never changes.
    Fixed,
    /// A procedure of the module, if the cell still holds what its definition has put there.
    Guarded {
        /// A variable that holds the cell.
        cell: GlobalId,
        /// A variable that holds what the cell holds when the module is loaded; the procedure itself in a module that
        /// is made ahead.
        held: GlobalId,
        procedure: GlobalId,
        /// Which part defines it.
        part: usize,
        /// Has the cell a value whenever the module runs?
        bound: bool,
    },
    /// Its cell.
    Cell {
        /// A variable that holds the cell.
        cell: GlobalId,
        bound: bool,
    },
}

/// A procedure that is not hot itself is in the module, so that calls of it are direct, if it has so many expressions
/// at most: it may come to all of a program, which takes LLVM longer than the program runs. A larger one is called by
/// its value.
const MOST_COPIED: usize = 200;

impl Linkage {
    /// The variable that holds the procedure, if the value of `g` is one of the module's procedures.
    pub(crate) fn own(self, g: GlobalId) -> Option<GlobalId> {
        match self {
            Linkage::Procedure(_) => Some(g),
            Linkage::Guarded { held, procedure, .. } if held == procedure => Some(procedure),
            _ => None,
        }
    }
}

/// A form, or the program, while it is linked.
pub(crate) struct Linked<'p> {
    pub(crate) forms: &'p [TopForm],
    pub(crate) lambdas: Lambdas<'p>,
    /// The number of its first cell in the module.
    pub(crate) first_cell: usize,
}

/// What variables and constants are in a module.
pub(crate) struct Cells {
    pub(crate) linkage: FxHashMap<GlobalId, Linkage>,
    /// Variables that hold values of procedures.
    pub(crate) procedures: FxHashMap<GlobalId, GlobalId>,
    /// Variables that hold cells of constants, by cell.
    constants: FxHashMap<usize, GlobalId>,
    /// Definitions of variables whose values are known when the module is loaded.
    pub(crate) values: Vec<TopForm>,
}

impl Cells {
    /// The first part is the module's own.
    pub(crate) fn new(program: &mut Program, parts: &[Linked], request: &Request) -> Cells {
        let mut definitions: FxHashMap<GlobalId, Vec<(usize, &Expr)>> = FxHashMap::default();
        let mut assigned: FxHashSet<GlobalId> = FxHashSet::default();
        for (part, form) in parts.iter().enumerate().flat_map(|(n, p)| p.forms.iter().map(move |f| (n, f))) {
            if let TopForm::Define(g, e) = form {
                definitions.entry(*g).or_default().push((part, e));
            }
            visit(form.expr(), &mut |e| {
                if let Expr::SetGlobal(g, ..) = e {
                    assigned.insert(*g);
                }
            });
        }
        let mut cells = Cells {
            linkage: FxHashMap::default(),
            procedures: FxHashMap::default(),
            constants: FxHashMap::default(),
            values: Vec::new(),
        };
        let mut variables: Vec<(usize, usize, GlobalId)> = Vec::new();
        for (n, part) in parts.iter().enumerate() {
            variables.extend(part.lambdas.variables.iter().map(|(g, cell)| (part.first_cell + cell, n, *g)));
        }
        variables.sort();
        let is = |flags: &[bool], cell: usize| flags.get(cell) == Some(&true);
        let hot: FxHashSet<usize> = parts[0].lambdas.hot(request).into_iter().collect();
        let is_copied = |part: usize, e: &Expr| match e {
            Expr::Lambda(l) => {
                part == 0 && hot.contains(&parts[0].lambdas.get(l).0) || size_at_most(e, MOST_COPIED)
            }
            _ => false,
        };
        for (number, part, g) in variables {
            let mut here = definitions.get(&g).into_iter().flatten().filter(|(n, _)| *n == part);
            let definition = here.next().filter(|_| here.next().is_none()).map(|(_, e)| *e);
            let wanted = |e: &Expr| match e {
                Expr::Lambda(l) => request.entered(parts[0].lambdas.get(l).0) > 0,
                _ => false,
            };
            let ahead = request.ahead && part == 0 && !assigned.contains(&g) && definition.is_some_and(wanted);
            let held = is(&request.held, number) && definition.is_some_and(|e| is_copied(part, e));
            let guarded = (ahead || held) && matches!(definition, Some(Expr::Lambda(_)));
            // parts share cells: the one that defines knows most
            let known = cells.linkage.get(&g).copied();
            if known.is_some() && (!guarded || !matches!(known, Some(Linkage::Cell { .. }))) {
                continue;
            }
            let info = &program.globals[g.0 as usize];
            let name = info.name.clone();
            let bound = is(&request.bound, number);
            let once = definition.filter(|_| bound && !info.assigned && !assigned.contains(&g));
            let import = Import { from: ImportFrom::Cell(number as u32), never_returns: false };
            let cell = match known {
                Some(Linkage::Cell { cell, .. }) => cell,
                _ => fresh_global(program, &name, Some(import)),
            };
            if bound {
                // before, it may hold nothing
                program.globals[cell.0 as usize].held = program.globals[g.0 as usize].held.clone();
            }
            let value = prim(Op::Car, vec![Expr::Global(cell, Site::NONE)]);
            let linkage = match once {
                Some(e @ Expr::Lambda(_)) if is_copied(part, e) => {
                    let holder = fresh_global(program, &name, None);
                    cells.procedures.insert(g, holder);
                    cells.values.push(TopForm::Define(holder, value));
                    Linkage::Procedure(number as u32)
                }
                Some(Expr::Const(l)) if copyable(l) => Linkage::Constant,
                Some(_) => {
                    cells.values.push(TopForm::Define(g, value));
                    Linkage::Fixed
                }
                None if guarded => {
                    let procedure = fresh_global(program, &name, None);
                    let mut held = procedure;
                    if !ahead {
                        held = fresh_global(program, &name, None);
                        cells.values.push(TopForm::Define(held, value));
                    }
                    Linkage::Guarded { cell, held, procedure, part, bound: !ahead }
                }
                None => Linkage::Cell { cell, bound },
            };
            cells.linkage.insert(g, linkage);
        }
        cells
    }

    /// Defines the procedures that guarded calls call.
    pub(crate) fn define_guarded(&mut self, program: &mut Program, parts: &[Linked]) {
        for (n, part) in parts.iter().enumerate() {
            for form in part.forms {
                let TopForm::Define(g, e) = form else { continue };
                let Some(&Linkage::Guarded { procedure, part: definer, .. }) = self.linkage.get(g) else {
                    continue;
                };
                if definer == n {
                    let mut e = copy_fresh(program, e, &mut Renaming::default());
                    self.link(program, part, &mut e);
                    program.forms.push(TopForm::Define(procedure, e));
                }
            }
        }
    }

    /// The value of the constant in a cell. It has one when code that it is part of runs, but perhaps not when the
    /// module is loaded.
    fn constant(&mut self, program: &mut Program, cell: usize) -> Expr {
        let import = Import { from: ImportFrom::Cell(cell as u32), never_returns: false };
        let holder =
            *self.constants.entry(cell).or_insert_with(|| fresh_global(program, "constant", Some(import)));
        prim(Op::Car, vec![Expr::Global(holder, Site::NONE)])
    }

    /// Rewrites references to variables and constants of the program.
    pub(crate) fn link(&mut self, program: &mut Program, part: &Linked, e: &mut Expr) {
        deep(|| {
            if let Expr::Call(f, args, _) = e
                && let Expr::Global(g, _) = **f
                && matches!(self.linkage.get(&g), Some(Linkage::Procedure(_)))
            {
                return args.iter_mut().for_each(|a| self.link(program, part, a)); // a direct call
            }
            if let Expr::Call(f, args, site) = e
                && let Expr::Global(g, _) = **f
                && let Some(&Linkage::Guarded { cell, held, procedure, bound, .. }) = self.linkage.get(&g)
            {
                args.iter_mut().for_each(|a| self.link(program, part, a));
                let value = prim(Op::Car, vec![Expr::Global(cell, Site::NONE)]);
                let value = if bound { value } else { checked(program, value, (**f).clone()) };
                *e = guarded(program, value, (held, procedure), std::mem::take(args), *site);
                return;
            }
            for_each_child_mut(e, &mut |c| self.link(program, part, c));
            match e {
                Expr::Const(l) => {
                    if let Some(n) = part.lambdas.constant(l) {
                        *e = self.constant(program, part.first_cell + n);
                    }
                }
                Expr::Global(g, site) => match self.linkage.get(g) {
                    Some(Linkage::Procedure(_)) => *g = self.procedures[g],
                    Some(Linkage::Guarded { cell, bound, .. } | Linkage::Cell { cell, bound }) => {
                        let value = prim(Op::Car, vec![Expr::Global(*cell, Site::NONE)]);
                        *e = if *bound { value } else { checked(program, value, Expr::Global(*g, *site)) };
                    }
                    _ => {}
                },
                Expr::SetGlobal(g, x, site) => {
                    let linkage = match self.linkage.get(g) {
                        Some(Linkage::Cell { cell, bound } | Linkage::Guarded { cell, bound, .. }) => {
                            Some((cell, *bound))
                        }
                        _ => None,
                    };
                    if let Some((cell, bound)) = linkage {
                        let holder = || Expr::Global(*cell, Site::NONE);
                        let v = program.fresh_var("value");
                        let store = prim(Op::SetCar, vec![holder(), Expr::Local(v)]);
                        let unspecified = || Expr::Const(Literal::Unspecified);
                        let mut steps = vec![store, unspecified()];
                        if !bound {
                            let raise = Expr::SetGlobal(*g, unspecified().into(), *site);
                            steps.insert(0, checked(program, prim(Op::Car, vec![holder()]), raise));
                        }
                        *e = Expr::Let(vec![(v, take(x))], Expr::Seq(steps).into());
                    }
                }
                _ => {}
            }
        })
    }
}

/// The call of a procedure of the module if the cell's value is still what it was, and else of the value. It is read
/// before the operands are computed, as in evaluated code: they may change it.
fn guarded(
    program: &mut Program,
    value: Expr,
    (held, procedure): (GlobalId, GlobalId),
    args: Vec<Expr>,
    site: Site,
) -> Expr {
    let callee = program.fresh_var("callee");
    let operands: Vec<VarId> = args.iter().map(|_| program.fresh_var("operand")).collect();
    let values = || operands.iter().map(|v| Expr::Local(*v)).collect();
    let same = prim(Op::Eq, vec![Expr::Local(callee), Expr::Global(held, Site::NONE)]);
    let known = Expr::Call(Expr::Global(procedure, site).into(), values(), site);
    let other = Expr::Call(Expr::Local(callee).into(), values(), site);
    let call = Expr::If(same.into(), known.into(), other.into());
    Expr::Let([(callee, value)].into_iter().chain(operands.into_iter().zip(args)).collect(), call.into())
}

/// The value of a cell that has one.
pub(crate) fn cell_value(program: &mut Program, name: &str, number: u32) -> Expr {
    let cell = fresh_global(program, name, Some(Import { from: ImportFrom::Cell(number), never_returns: false }));
    prim(Op::Car, vec![Expr::Global(cell, Site::NONE)])
}

pub(crate) fn fresh_global(program: &mut Program, name: &str, import: Option<Import>) -> GlobalId {
    program.globals.push(GlobalInfo { import, ..GlobalInfo::new(name) });
    GlobalId(program.globals.len() as u32 - 1)
}

/// The value of a cell, unless it is unbound: then `raise`, which reads or assigns a variable that is never defined.
fn checked(program: &mut Program, value: Expr, raise: Expr) -> Expr {
    let v = program.fresh_var("value");
    let unbound = prim(Op::Eq, vec![Expr::Local(v), Expr::Const(Literal::Unbound)]);
    Expr::Let(vec![(v, value)], Expr::If(unbound.into(), raise.into(), Expr::Local(v).into()).into())
}

/// Operations on cells need no checks: they are pairs.
pub(crate) fn prim(op: Op, args: Vec<Expr>) -> Expr {
    let proven = u8::from(op != Op::Eq);
    Expr::Prim { op: PrimOp::Op(op), args, site: Site::NONE, proven }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp;
    use crate::parse::parse_program;
    use crate::passes::{Disabled, Opt, optimize_prepared};
    use crate::print::print_program;
    use crate::tier::{Part, module, open};
    use crate::verify::{Dialect, verify};

    /// Two forms: cells 0 to 2 are those of the first, 3 to 5 of the second. Cells 1 and 3 are that of `by`.
    const FORMS: &str = "
        (global @go.0)
        (global @by.1)
        (define @go.0 (lambda go (l.0) (@by.1 l.0 2)))
        (define @by.1 (lambda by (l.1 n.2) (%* n.2 (%+ (%car l.1) (%car '(40))))))";

    /// The module of the first form, and what `(go '(1 2))` gives when `by` holds one value while it is loaded, and
    /// another one from then on.
    fn run(by: &str, later: &str, held: bool) -> (String, String) {
        let mut program = parse_program(FORMS).expect("parses");
        let other = Part { forms: program.forms.split_off(1), cells: 3 };
        open(&mut program, std::slice::from_ref(&other), FxHashSet::default())
            .expect("no variables of the library");
        let request = Request {
            entered: vec![200],
            bound: vec![true; 6],
            held: vec![true, false, false, held, false, false],
            ..Request::default()
        };
        module(&mut program, 0, &[other], &request);
        verify(&program, Dialect::Fixed).expect("well formed");
        let outcome = |program: &Program| {
            let (mut p, mut text, mut cells) = (program.clone(), String::new(), [0; 6]);
            for (g, info) in p.globals.iter_mut().enumerate() {
                if let Some(Import { from: ImportFrom::Cell(n), .. }) = info.import.take() {
                    cells[n as usize] = g;
                    let value = ["'go", by, "0", by, "0", "'(40)"][n as usize];
                    text += &format!("(define @{}.{g} (%cons {value} '()))\n", info.name);
                }
            }
            text += &print_program(&p);
            let [_, by, value, ..] = cells;
            text += &format!("(%set-car! @by.{by} {later})");
            text += &format!("(call (call (%vector-ref (%car @module-value.{value}) 0)) '(1 2))");
            let out = interp::run(&parse_program(&text).unwrap_or_else(|e| panic!("{e}\n{text}")), 100_000);
            format!("{:?}", out.result)
        };
        let text = print_program(&program);
        let result = outcome(&program);
        optimize_prepared(&mut program, Opt::High, Disabled::NOTHING, true);
        assert_eq!(result, outcome(&program), "optimization changes nothing");
        (text, result)
    }

    #[test]
    fn what_another_form_defines_is_called_directly() {
        let (text, result) = run("'by", "'by", true);
        assert_eq!(result, "Ok(\"82\")", "{text}");
    }

    /// Before the form has run, its variables are unbound, and its procedures are what its makers give.
    #[test]
    fn a_module_made_ahead_calls_its_own_procedures_as_long_as_they_are_there() {
        const FORM: &str = "
            (global @go.0)
            (global @by.1)
            (define @go.0 (lambda go (l.0) (@by.1 l.0 2)))
            (define @by.1 (lambda by (l.1 n.2) (%* n.2 (%car l.1))))";
        let mut program = parse_program(FORM).expect("parses");
        open(&mut program, &[], FxHashSet::default()).expect("no variables of the library");
        let makers = module(&mut program, 0, &[], &Request { ahead: true, ..Request::default() });
        assert_eq!((&makers.lambdas[..], &makers.procedures[..]), (&[0, 1][..], &[][..]));
        verify(&program, Dialect::Fixed).expect("well formed");
        let outcome = |program: &Program, by: &str| {
            let (mut p, mut text, mut cells) = (program.clone(), String::new(), [0; 3]);
            for (g, info) in p.globals.iter_mut().enumerate() {
                if let Some(Import { from: ImportFrom::Cell(n), .. }) = info.import.take() {
                    cells[n as usize] = g;
                    text += &format!("(define @{}.{g} (%cons '#!unbound '()))\n", info.name);
                }
            }
            text += &print_program(&p);
            let [_, cell, value] = cells;
            let maker = |n: usize| format!("(%vector-ref (%car @module-value.{value}) {n})");
            let by = if by.is_empty() { format!("(call {})", maker(1)) } else { by.to_string() };
            text += &format!("(%set-car! @by.{cell} {by}) (call (call {}) '(21 2))", maker(0));
            let out = interp::run(&parse_program(&text).unwrap_or_else(|e| panic!("{e}\n{text}")), 100_000);
            format!("{:?}", out.result)
        };
        let before = program.clone();
        optimize_prepared(&mut program, Opt::High, Disabled::NOTHING, true);
        for (by, expected) in [
            ("", "Ok(\"42\")"),
            ("(lambda other (l.90 n.91) (%+ n.91 5))", "Ok(\"7\")"),
            ("'#!unbound", "Err(Unbound)"),
        ] {
            assert_eq!(outcome(&before, by), expected, "{by}");
            assert_eq!(outcome(&program, by), expected, "{by}, optimized");
        }
    }

    #[test]
    fn another_definition_is_seen() {
        let (text, result) = run("'by", "(lambda other (l.90 n.91) (%+ n.91 1))", true);
        assert_eq!(result, "Ok(\"3\")", "{text}");
    }

    #[test]
    fn what_others_have_put_into_a_cell_is_called_as_it_is() {
        let (text, result) = run("'by", "(lambda other (l.90 n.91) (%+ n.91 5))", false);
        assert_eq!(result, "Ok(\"7\")", "{text}");
        assert!(!text.contains("lambda by"), "no copy of what is not called: {text}");
    }
}
