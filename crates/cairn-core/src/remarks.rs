//! What keeps code that runs often from being fast: for whoever asks why a program is slow.
//!
//! The problem: the optimizer gives up without a word, and a programmer does not see that one call of an unknown
//! procedure keeps doubles in memory. The idea: what it gave up shows in the program that it leaves: operations that
//! still test their operands, calls that are still calls. Only code that repeats matters, so each is told with the
//! number of loops and recursive procedures that it stands in, as far as calls tell.
//!
//! ```text
//!  (define (sum f l)
//!    (let loop ((l l) (s 0))
//!      (if (pair? l)
//!          (loop (cdr l)                 no remark: `l` is known to be a pair
//!                (+ s (f (car l))))      `+` tests its operands; `f` is unknown
//!          s)))
//! ```
//!
//! Invariant: a remark's place is in a text that is not the library's. Code of the library that stands in place of a
//! call is told at that call.
//! Complexity: linear in the size of the program.

use crate::ir::{Expr, GlobalId, LabelId, Lambda, Program, TopForm, VarId};
use crate::passes;
use crate::prim::{IN_RANGE, Kind, Numeric, Op, PrimOp, fixnum_bit};
use crate::walk::{deep, for_each_binder, for_each_child, visit};
use cairn_layout::code::Site;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;

/// What costs time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cost {
    /// Arithmetic that asks for the kinds of its operands: their names, where they are variables.
    Kinds(Vec<Rc<str>>),
    /// A test that an operand is what it must be.
    Check {
        /// Its name, where it is a variable.
        operand: Option<Rc<str>>,
        /// What it must be.
        kind: Kind,
    },
    /// A test of an index, or of what it is an index of.
    Index,
    /// A call of a procedure that is not known.
    Unknown {
        /// Its name, where it is a variable.
        name: Option<Rc<str>>,
        /// Why.
        why: Unknown,
    },
    /// A call of a known procedure, the body of which is not in place of the call.
    NotInlined {
        /// Its name.
        name: Rc<str>,
        /// Why.
        why: NotInlined,
    },
    /// A procedure is an object with variables of its own.
    Closure(Rc<str>),
    /// A double that was in a register becomes a value.
    Double,
}

/// Why is a procedure unknown?
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unknown {
    /// Its variable is assigned, or defined more than once.
    Assigned,
    /// It is the value of a variable that may be any procedure.
    Value,
    /// An expression makes it.
    Computed,
}

/// Why is a body not in place of a call?
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NotInlined {
    /// The procedure may come to a call of itself.
    Recursive,
    /// The body is so large, in units of about one operation; more than so many are not copied.
    Large(usize, usize),
    /// It would have been, had not the program grown enough.
    Enough,
}

/// A remark at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    /// Number of the text.
    pub file: u32,
    /// Byte at which the form begins.
    pub start: u32,
    /// What costs.
    pub cost: Cost,
    /// Loops and recursive procedures that it is inside of, at most [`DEEPEST`].
    pub depth: u32,
}

/// More loops around a place are not counted.
pub const DEEPEST: u32 = 5;

/// Remarks about an optimized program, where it repeats, by file and place.
pub fn of(program: &Program) -> Vec<Remark> {
    let mut found = Found::new(program);
    for form in &program.forms {
        match form {
            TopForm::Define(g, Expr::Lambda(l)) => found.procedure(Some(Callee::Global(*g)), l),
            form => found.expr(Code { procedure: 0, depth: 0 }, form.expr()),
        }
    }
    found.remarks()
}

/// A procedure by the variable that it is the value of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Callee {
    Global(GlobalId),
    Local(VarId),
}

/// Where an expression stands: in which procedure, in how many of its loops.
#[derive(Clone, Copy)]
struct Code {
    procedure: usize,
    depth: u32,
}

/// What the program has. Procedure 0 is the code of the program's own forms.
struct Found<'p> {
    program: &'p Program,
    numbers: FxHashMap<Callee, usize>,
    /// Sizes of known procedures, and whether the user has written them: a loop of the library is nobody's to inline.
    known: FxHashMap<Callee, (usize, bool)>,
    /// Calls of known procedures, by caller.
    calls: Vec<Vec<(Callee, u32)>>,
    /// Procedures that are made there as values, and may be called as often as the code around them runs, or more.
    values: Vec<Vec<(usize, u32)>>,
    seen: Vec<(Code, u32, u32, Cost)>,
    not_inlined: Vec<(Code, u32, u32, Callee)>,
    doubles: FxHashSet<VarId>,
    /// Variables that hold the length of the object that another one holds.
    lengths: FxHashMap<VarId, VarId>,
    /// Indices and objects: here the one is known to be less than the length of the other. LLVM knows it, too.
    within: Vec<(VarId, VarId)>,
}

impl<'p> Found<'p> {
    fn new(program: &'p Program) -> Found<'p> {
        let mut known = FxHashMap::default();
        let about = |l: &Lambda| (passes::inline::lambda_size(l), own_place(program, l.site).is_some());
        let mut doubles = FxHashSet::default();
        let mut lengths = FxHashMap::default();
        for form in &program.forms {
            if let TopForm::Define(g, Expr::Lambda(l)) = form
                && !program.globals[g.0 as usize].assigned
            {
                known.insert(Callee::Global(*g), about(l));
            }
            visit(form.expr(), &mut |e| match e {
                Expr::Fix(bs, _) => bs.iter().for_each(|(v, l)| {
                    known.insert(Callee::Local(*v), about(l));
                }),
                Expr::Let(bs, _) => {
                    doubles.extend(bs.iter().filter(|(_, e)| makes_a_double(e)).map(|(v, _)| *v));
                    lengths.extend(bs.iter().filter_map(|(v, e)| Some((*v, measured(e)?))));
                }
                _ => {}
            });
        }
        let (numbers, seen, not_inlined) = (FxHashMap::default(), Vec::new(), Vec::new());
        let (calls, values) = (vec![Vec::new()], vec![Vec::new()]);
        Found { program, numbers, known, calls, values, seen, not_inlined, doubles, lengths, within: Vec::new() }
    }

    fn number(&mut self, callee: Option<Callee>) -> usize {
        if let Some(n) = callee.and_then(|c| self.numbers.get(&c)) {
            return *n;
        }
        let n = self.calls.len();
        self.calls.push(Vec::new());
        self.values.push(Vec::new());
        if let Some(callee) = callee {
            self.numbers.insert(callee, n);
        }
        n
    }

    fn procedure(&mut self, callee: Option<Callee>, l: &'p Lambda) {
        let procedure = self.number(callee);
        self.clauses(procedure, l);
    }

    fn clauses(&mut self, procedure: usize, l: &'p Lambda) {
        l.clauses.iter().for_each(|c| self.expr(Code { procedure, depth: 0 }, &c.body));
    }

    fn expr(&mut self, code: Code, e: &'p Expr) {
        deep(|| self.expr_here(code, e))
    }

    fn expr_here(&mut self, code: Code, e: &'p Expr) {
        match e {
            Expr::Lambda(l) => {
                let n = self.number(None);
                self.values[code.procedure].push((n, code.depth));
                if is_closed_over(l) {
                    self.note(code, l.site, Cost::Closure(l.name.clone()));
                }
                return self.clauses(n, l);
            }
            Expr::Fix(bs, body) => {
                for (v, l) in bs {
                    self.procedure(Some(Callee::Local(*v)), l);
                }
                return self.expr(code, body);
            }
            Expr::Labels(labels, body) => {
                let targets: Vec<Vec<usize>> = labels
                    .iter()
                    .map(|l| {
                        labels.iter().enumerate().filter(|(_, m)| jumps(&l.body, m.id)).map(|(i, _)| i).collect()
                    })
                    .collect();
                let loops = repeating(&targets);
                for (i, label) in labels.iter().enumerate() {
                    self.expr(Code { depth: code.depth + u32::from(loops[i]), ..code }, &label.body);
                }
                return self.expr(code, body);
            }
            Expr::If(test, then, other) => {
                self.expr(code, test);
                let within = self.index_within(test);
                self.within.extend(within);
                self.expr(code, then);
                self.within.truncate(self.within.len() - usize::from(within.is_some()));
                return self.expr(code, other);
            }
            Expr::Call(f, args, site) => self.call(code, f, args, *site),
            Expr::Apply(f, args, site) => self.call(code, f, args, *site),
            Expr::Prim { op, args, site, proven } => self.prim(code, *op, args, *site, *proven),
            _ => {}
        }
        for_each_child(e, &mut |c| self.expr(code, c));
    }

    fn call(&mut self, code: Code, f: &'p Expr, args: &'p [Expr], site: Site) {
        let callee = match f {
            Expr::Local(v) => Some(Callee::Local(*v)),
            Expr::Global(g, _) => Some(Callee::Global(*g)),
            _ => None,
        };
        match callee {
            Some(c) if self.known.contains_key(&c) => {
                self.calls[code.procedure].push((c, code.depth));
                if self.known[&c].1
                    && let Some((file, start)) = own_place(self.program, site)
                {
                    self.not_inlined.push((code, file, start, c));
                }
            }
            Some(Callee::Global(g)) => {
                let global = &self.program.globals[g.0 as usize];
                let why = if global.assigned { Unknown::Assigned } else { Unknown::Value };
                // an imported procedure is known to its own module
                if !global.library {
                    self.note(code, site, Cost::Unknown { name: Some(global.name.clone()), why });
                }
            }
            Some(Callee::Local(v)) => {
                let name = Some(self.program.vars[v.0 as usize].name.clone());
                self.note(code, site, Cost::Unknown { name, why: Unknown::Value });
            }
            None => self.note(code, site, Cost::Unknown { name: None, why: Unknown::Computed }),
        }
        if args.iter().any(|a| self.is_double(a)) {
            self.note(code, site, Cost::Double);
        }
    }

    fn prim(&mut self, code: Code, op: PrimOp, args: &'p [Expr], site: Site, proven: u8) {
        let PrimOp::Op(o) = op else { return };
        let info = o.info();
        let names = |i: usize| match &args[i] {
            Expr::Local(v) => Some(self.program.vars[v.0 as usize].name.clone()),
            _ => None,
        };
        if op.is_generic() {
            let open = |i: &usize| proven & fixnum_bit(*i) == 0 && !matches!(args[*i], Expr::Const(_));
            if (0..args.len()).any(|i| open(&i)) {
                let names = (0..args.len()).filter(open).filter_map(names).collect();
                self.note(code, site, Cost::Kinds(names));
            }
        } else if matches!(info.args, [_, Kind::Fixnum, ..]) {
            let is_within = match args {
                [Expr::Local(v), Expr::Local(i), ..] => self.within.contains(&(*i, *v)),
                _ => false,
            };
            if op.can_fail(proven) && proven & IN_RANGE == 0 && !is_within {
                self.note(code, site, Cost::Index);
            }
        } else if op.can_fail(proven) {
            let open = |(i, k): &(usize, &Kind)| **k != Kind::Any && proven & 1 << i == 0;
            if let Some((i, kind)) = info.args.iter().enumerate().find(open) {
                let operand = args.get(i).and_then(|_| names(i));
                self.note(code, site, Cost::Check { operand, kind: *kind });
            }
        }
        if stores(o) && args.iter().any(|a| self.is_double(a)) {
            self.note(code, site, Cost::Double);
        }
    }

    /// Is it a test that an index is less than a length? Of what?
    fn index_within(&self, test: &Expr) -> Option<(VarId, VarId)> {
        let Expr::Prim { op: PrimOp::Op(Op::FxLt), args, .. } = test else { return None };
        match args.as_slice() {
            [Expr::Local(i), Expr::Local(n)] => Some((*i, *self.lengths.get(n)?)),
            [Expr::Local(i), e] => Some((*i, measured(e)?)),
            _ => None,
        }
    }

    fn is_double(&self, e: &Expr) -> bool {
        match e {
            Expr::Local(v) => self.doubles.contains(v),
            e => makes_a_double(e),
        }
    }

    fn note(&mut self, code: Code, site: Site, cost: Cost) {
        if let Some((file, start)) = self.place(site) {
            self.seen.push((code, file, start, cost));
        }
    }

    /// Where the user has written what this has come from.
    fn place(&self, site: Site) -> Option<(u32, u32)> {
        let table = &self.program.inlined;
        let mut site = site;
        loop {
            if let Some(place) = own_place(self.program, site) {
                return Some(place);
            }
            site = table.get(site)?.at;
        }
    }

    fn remarks(self) -> Vec<Remark> {
        let n = self.calls.len();
        let number = |c: &Callee| self.numbers.get(c).copied();
        let edges: Vec<Vec<usize>> = (0..n)
            .map(|p| {
                let calls = self.calls[p].iter().filter_map(|(c, _)| number(c));
                calls.chain(self.values[p].iter().map(|(v, _)| *v)).collect()
            })
            .collect();
        let recursive = repeating(&edges);
        let mut depths: Vec<u32> = recursive.iter().map(|r| u32::from(*r)).collect();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for p in 0..n {
                let calls = self.calls[p].iter().filter_map(|(c, d)| Some((number(c)?, *d)));
                for (q, d) in calls.chain(self.values[p].iter().copied()) {
                    let inherited = depths[p] + d + u32::from(recursive[q] && !recursive[p]);
                    let deep = inherited.min(DEEPEST);
                    if depths[q] < deep {
                        depths[q] = deep;
                        changed = true;
                    }
                }
            }
        }
        let depth = |code: &Code| (depths[code.procedure] + code.depth).min(DEEPEST);
        let mut deepest: BTreeMap<(u32, u32, Cost), u32> = BTreeMap::new();
        let mut add = |code: &Code, file: u32, start: u32, cost: Cost| {
            let depth = depth(code);
            if depth > 0 {
                let old = deepest.entry((file, start, cost)).or_default();
                *old = (*old).max(depth);
            }
        };
        for (code, file, start, cost) in &self.seen {
            add(code, *file, *start, cost.clone());
        }
        for (code, file, start, callee) in &self.not_inlined {
            let name = match callee {
                Callee::Global(g) => &self.program.globals[g.0 as usize].name,
                Callee::Local(v) => &self.program.vars[v.0 as usize].name,
            };
            let (size, _) = self.known[callee];
            let why = match number(callee) {
                Some(p) if recursive[p] => NotInlined::Recursive,
                _ if size > passes::inline::SMALL => NotInlined::Large(size, passes::inline::SMALL),
                _ => NotInlined::Enough,
            };
            add(code, *file, *start, Cost::NotInlined { name: name.clone(), why });
        }
        deepest.into_iter().map(|((file, start, cost), depth)| Remark { file, start, cost, depth }).collect()
    }
}

/// Where this was written, if by the user.
fn own_place(program: &Program, site: Site) -> Option<(u32, u32)> {
    let text = program.inlined.get(site).map_or(site, |row| row.site);
    let file = text.file()?;
    let is_own = program.sources.get(file as usize).is_some_and(|s| !s.library);
    is_own.then(|| (file, text.start()))
}

/// Which of these come to themselves?
fn repeating(edges: &[Vec<usize>]) -> Vec<bool> {
    let mut repeats = vec![false; edges.len()];
    for component in passes::letrec::components(edges) {
        let again = component.len() > 1 || component.iter().any(|n| edges[*n].contains(n));
        component.iter().for_each(|n| repeats[*n] = again);
    }
    repeats
}

fn jumps(e: &Expr, to: LabelId) -> bool {
    let mut found = false;
    visit(e, &mut |e| found |= matches!(e, Expr::Jump(l, _) if *l == to));
    found
}

/// Does a procedure take local variables from around it?
fn is_closed_over(l: &Lambda) -> bool {
    let mut used = FxHashSet::default();
    let mut bound: FxHashSet<VarId> = FxHashSet::default();
    for c in &l.clauses {
        bound.extend(c.params.iter().copied().chain(c.rest));
        visit(&c.body, &mut |e| {
            if let Expr::Local(v) = e {
                used.insert(*v);
            }
            for_each_binder(e, &mut |v| {
                bound.insert(v);
            });
        });
    }
    used.iter().any(|v| !bound.contains(v))
}

/// The variable that an expression is the length of.
fn measured(e: &Expr) -> Option<VarId> {
    let Expr::Prim { op: PrimOp::Op(op), args, .. } = e else { return None };
    let is_length = matches!(op, Op::VectorLength | Op::StringLength | Op::BytevectorLength)
        || op.numeric().is_some_and(|(access, _)| access == Numeric::Length);
    match args.as_slice() {
        [Expr::Local(v)] if is_length => Some(*v),
        _ => None,
    }
}

/// Is its value the result of flonum arithmetic?
fn makes_a_double(e: &Expr) -> bool {
    matches!(e, Expr::Prim { op: PrimOp::Op(o), .. } if o.info().result == Kind::Flonum)
}

/// Does it put an operand into an object?
fn stores(o: Op) -> bool {
    matches!(o, Op::Cons | Op::VectorSet | Op::SetCar | Op::SetCdr | Op::MakeBox | Op::SetBox)
}
