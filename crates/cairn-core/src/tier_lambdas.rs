//! The lambdas of forms by number, in the order in which evaluated code and its modules know them, and what evaluation
//! has seen of them so far: for [`crate::tier`].

use crate::ir::{Expr, GlobalId, GlobalInfo, Lambda, Literal, TopForm, VarId};
use crate::walk::{deep, for_each_child, size};
use cairn_layout::limits::{HOT_ENTRIES, IS_NATIVE};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A lambda, seen from evaluated code.
pub struct LambdaInfo<'p> {
    pub(crate) lambda: &'p Lambda,
    /// The recursive group that it is a member of.
    pub(crate) group: Option<&'p [(VarId, Lambda)]>,
    /// Is it a member that is only called? Then its closures seldom outlive the activation that has made them.
    only_called: bool,
    /// The lambda around it.
    outer: Option<usize>,
    /// What its maker takes, in this order: its free variables, or those of the whole group. Members of the group that
    /// are only called are not among them.
    pub free: Vec<VarId>,
}

impl LambdaInfo<'_> {
    /// Is it a member of a recursive group? Then its free variables have values when the whole group is made.
    pub fn is_member(&self) -> bool {
        self.group.is_some()
    }
}

/// The lambdas of a program by number.
#[derive(Default)]
pub struct Lambdas<'p> {
    pub(crate) infos: Vec<LambdaInfo<'p>>,
    numbers: FxHashMap<*const Lambda, usize>,
    /// Number of the cell of each variable.
    pub(crate) variables: FxHashMap<GlobalId, usize>,
    /// Number of each constant, and of each part that occurs more than once in constants.
    constants: FxHashMap<*const u8, usize>,
    shared: FxHashMap<*const u8, usize>,
}

impl<'p> Lambdas<'p> {
    /// Numbers the lambdas, variables and constants of some forms. Imports have no cells. Whoever does not ask for
    /// cells need not give the variables.
    pub fn of(globals: &[GlobalInfo], forms: &'p [TopForm]) -> Lambdas<'p> {
        let mut scan = Scan { globals, ..Scan::default() };
        for form in forms {
            if let TopForm::Define(g, _) = form {
                scan.variable(*g);
            }
            scan.expr(form.expr());
        }
        let Scan { mut lambdas, mut free, values, shared, .. } = scan;
        lambdas.shared = shared;
        for n in 0..lambdas.infos.len() {
            let Some(group) = lambdas.infos[n].group else { continue };
            // a group is made as a whole; its first member comes first
            if !std::ptr::eq(lambdas.infos[n].lambda, &group[0].1) {
                continue;
            }
            let numbers: Vec<usize> = group.iter().map(|(_, l)| lambdas.numbers[&(l as *const _)]).collect();
            let members: FxHashSet<VarId> = group.iter().map(|(m, _)| *m).collect();
            let all: FxHashSet<VarId> = numbers.iter().flat_map(|n| std::mem::take(&mut free[*n])).collect();
            let mut all: Vec<VarId> =
                all.into_iter().filter(|v| !members.contains(v) || values.contains(v)).collect();
            all.sort();
            for (n, (member, _)) in numbers.iter().zip(group) {
                lambdas.infos[*n].only_called = !values.contains(member);
                lambdas.infos[*n].free.clone_from(&all);
            }
        }
        for (info, free) in lambdas.infos.iter_mut().zip(free).filter(|(info, _)| info.group.is_none()) {
            info.free = free.into_iter().collect();
            info.free.sort();
        }
        lambdas
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.infos.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }

    /// The number of a lambda of these forms, and what is known about it.
    pub fn get(&self, l: &Lambda) -> (usize, &LambdaInfo<'p>) {
        let n = self.numbers[&(l as *const _)];
        (n, &self.infos[n])
    }

    /// The outermost lambda that begins at this byte of a file.
    pub fn at(&self, file: u32, start: u32) -> Option<&'p Lambda> {
        let here = |l: &Lambda| l.site.file() == Some(file) && l.site.start() == start;
        self.infos.iter().map(|info| info.lambda).find(|l| here(l))
    }

    /// The cell of a variable of the program.
    pub fn cell(&self, g: GlobalId) -> usize {
        self.variables[&g]
    }

    /// The cell for the value of modules, behind those of variables.
    pub fn value_cell(&self) -> usize {
        self.variables.len()
    }

    /// The variables, in the order of their cells.
    pub fn variables(&self) -> Vec<GlobalId> {
        let mut all: Vec<GlobalId> = self.variables.keys().copied().collect();
        all.sort_by_key(|g| self.variables[g]);
        all
    }

    /// The cell of a constant; `None` for constants that are the same wherever they stand.
    pub fn constant(&self, l: &Literal) -> Option<usize> {
        Some(self.value_cell() + 1 + self.constants.get(&identity(l)?)?)
    }

    /// The cell of a part that occurs more than once in constants.
    pub fn shared(&self, part: *const u8) -> Option<usize> {
        Some(self.value_cell() + 1 + self.constants.len() + self.shared.get(&part)?)
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.value_cell() + 1 + self.constants.len() + self.shared.len()
    }

    /// A lambda inside of another is in the code of both, so what is nested deep would be there many times, and LLVM's
    /// time is in proportion to that. If there is too much of it, closures that are made anew all the time are left
    /// out: the code around them will make native ones. If there still is, the hottest come first. Others have their
    /// turn with the next module.
    fn spare(&self, hot: &mut [bool], entered: &dyn Fn(usize) -> u32, whole: usize) {
        let size_of = |n: usize| self.infos[n].lambda.clauses.iter().map(|c| size(&c.body)).sum::<usize>();
        let sizes: Vec<usize> = (0..hot.len()).map(|n| if hot[n] { size_of(n) } else { 0 }).collect();
        let total = |hot: &[bool]| (0..hot.len()).filter(|n| hot[*n]).map(|n| sizes[n]).sum::<usize>();
        if total(hot) <= whole {
            return;
        }
        for n in 0..hot.len() {
            let mut outer = self.infos[n].outer;
            while let Some(o) = outer {
                hot[n] &= !(hot[o] && entered(o) >= HOT_ENTRIES);
                outer = self.infos[o].outer;
            }
        }
        let mut order: Vec<usize> = (0..hot.len()).filter(|n| hot[*n]).collect();
        order.sort_by_key(|n| std::cmp::Reverse(entered(*n)));
        let mut room = whole;
        for n in order {
            hot[n] = sizes[n] <= room || room == whole;
            room -= if hot[n] { sizes[n].min(room) } else { 0 };
        }
    }

    /// Those that are worth compiling: what was entered so often that compiling it takes no longer than evaluating it
    /// has taken; and of what is around that, what is entered again, and loops in code that evaluation is inside of, or
    /// may be. A loop inside of one of these is left out where the code around it is entered again soon: then it is
    /// native, too.
    pub(crate) fn hot(&self, request: &Request) -> Vec<usize> {
        let entered = |n: usize| request.entered(n);
        let mut around = vec![false; self.infos.len()];
        let mut hot = vec![false; self.infos.len()];
        // those inside have larger numbers
        for (n, info) in self.infos.iter().enumerate().rev() {
            let again = entered(n) > 1 || info.is_member() && info.outer.is_none_or(|o| entered(o) > 0);
            hot[n] = entered(n) >= HOT_ENTRIES || around[n] && again;
            if let Some(outer) = info.outer {
                around[outer] |= hot[n] || around[n];
            }
        }
        for (n, info) in self.infos.iter().enumerate().filter(|(_, info)| info.only_called) {
            let often = |o: usize| entered(o) >= OFTEN && entered(n) / entered(o) <= SOON;
            let mut outer = info.outer;
            while let Some(o) = outer {
                hot[n] &= !(hot[o] && often(o));
                outer = self.infos[o].outer;
            }
        }
        self.spare(&mut hot, &entered, request.room);
        (0..hot.len()).filter(|n| hot[*n]).collect()
    }
}

/// What was entered so often is entered again, as far as one can tell.
const OFTEN: u32 = 8;

/// After at most so many entries of a loop inside of it: as many as take about a millisecond.
const SOON: u32 = 2000;

/// What tells a constant from others that are written alike.
fn identity(l: &Literal) -> Option<*const u8> {
    match l {
        Literal::String(s) => Some(Rc::as_ptr(s).cast()),
        Literal::Bytes(b) => Some(Rc::as_ptr(b).cast()),
        Literal::Pair(p) => Some(Rc::as_ptr(p).cast()),
        Literal::Vector(v) => Some(Rc::as_ptr(v).cast()),
        _ => None,
    }
}

/// The walk that numbers lambdas and finds free variables.
#[derive(Default)]
struct Scan<'p, 'g> {
    lambdas: Lambdas<'p>,
    /// Free variables of each lambda.
    free: Vec<FxHashSet<VarId>>,
    /// What is known of the globals. Not copied: a session has many, and forms are small.
    globals: &'g [GlobalInfo],
    /// Lambdas around the expression, outermost first.
    around: Vec<usize>,
    /// How many lambdas are around the binding of a variable.
    depths: FxHashMap<VarId, usize>,
    /// Variables that are not just called.
    values: FxHashSet<VarId>,
    /// Parts of constants.
    seen: FxHashSet<*const u8>,
    /// Those that occur more than once.
    shared: FxHashMap<*const u8, usize>,
}

impl<'p> Scan<'p, '_> {
    fn bind<'v>(&mut self, vars: impl IntoIterator<Item = &'v VarId>) {
        for v in vars {
            self.depths.insert(*v, self.around.len());
        }
    }

    fn variable(&mut self, g: GlobalId) {
        if self.globals.get(g.0 as usize).is_none_or(|info| info.import.is_none()) {
            let next = self.lambdas.variables.len();
            self.lambdas.variables.entry(g).or_insert(next);
        }
    }

    /// Finds the parts of a constant that have occurred before.
    fn parts(&mut self, l: &Literal) {
        let mut work = vec![l];
        while let Some(l) = work.pop() {
            let Some(part) = identity(l) else { continue };
            if !self.seen.insert(part) {
                let next = self.shared.len();
                self.shared.entry(part).or_insert(next);
                continue;
            }
            match l {
                Literal::Pair(p) => work.extend([&p.0, &p.1]),
                Literal::Vector(items) => work.extend(items.iter()),
                _ => {}
            }
        }
    }

    fn mention(&mut self, v: VarId) {
        for n in &self.around[self.depths[&v]..] {
            self.free[*n].insert(v);
        }
    }

    fn expr(&mut self, e: &'p Expr) {
        deep(|| self.expr_here(e))
    }

    fn expr_here(&mut self, e: &'p Expr) {
        match e {
            Expr::Const(l) => {
                if let Some(whole) = identity(l) {
                    let next = self.lambdas.constants.len();
                    self.lambdas.constants.entry(whole).or_insert(next);
                    self.parts(l);
                }
            }
            Expr::Local(v) => {
                self.values.insert(*v);
                self.mention(*v);
            }
            Expr::Global(g, _) => self.variable(*g),
            Expr::SetGlobal(g, e, _) => {
                self.variable(*g);
                self.expr(e);
            }
            Expr::Call(f, args, _) => {
                match &**f {
                    Expr::Local(v) => self.mention(*v),
                    f => self.expr(f),
                }
                args.iter().for_each(|a| self.expr(a));
            }
            Expr::Let(bs, body) => {
                bs.iter().for_each(|(_, e)| self.expr(e));
                self.bind(bs.iter().map(|(v, _)| v));
                self.expr(body);
            }
            Expr::Fix(bs, body) => {
                self.bind(bs.iter().map(|(v, _)| v));
                bs.iter().for_each(|(_, l)| self.lambda(l, Some(bs)));
                self.expr(body);
            }
            Expr::Lambda(l) => self.lambda(l, None),
            Expr::Receive { producer, clause, .. } => {
                self.expr(producer);
                self.bind(clause.params.iter().chain(&clause.rest));
                self.expr(&clause.body);
            }
            e => for_each_child(e, &mut |c| self.expr(c)),
        }
    }

    fn lambda(&mut self, l: &'p Lambda, group: Option<&'p [(VarId, Lambda)]>) {
        let n = self.lambdas.infos.len();
        self.lambdas.numbers.insert(l, n);
        let outer = self.around.last().copied();
        self.lambdas.infos.push(LambdaInfo { lambda: l, group, only_called: false, outer, free: Vec::new() });
        self.free.push(FxHashSet::default());
        self.around.push(n);
        for c in &l.clauses {
            self.bind(c.params.iter().chain(&c.rest));
            self.expr(&c.body);
        }
        self.around.pop();
    }
}

/// What evaluation has seen so far.
#[derive(Clone, Debug)]
pub struct Request {
    /// How often each lambda was entered since there was a module, by number; [`IS_NATIVE`] if it is native already.
    pub entered: Vec<u32>,
    /// Which cells have a value, also of other parts.
    pub bound: Vec<bool>,
    /// Which hold the procedure that the definition in the cell's part has put there.
    pub held: Vec<bool>,
    /// Is the module made before anything runs? Then all lambdas are wanted but those that were entered 0 times, and
    /// procedures among them that the form defines are the module's own.
    pub ahead: bool,
    /// The makers of the module have so many expressions at most, if one alone has not more.
    pub room: usize,
}

impl Default for Request {
    fn default() -> Request {
        let (entered, bound, held) = Default::default();
        Request { entered, bound, held, ahead: false, room: Request::ROOM }
    }
}

impl Request {
    /// Room in a program's first modules.
    pub const ROOM: usize = 800;

    /// How often evaluated closures of a lambda were entered.
    pub(crate) fn entered(&self, n: usize) -> u32 {
        if self.ahead {
            return self.entered.get(n).copied().unwrap_or(HOT_ENTRIES);
        }
        self.entered.get(n).copied().filter(|entered| *entered != IS_NATIVE).unwrap_or(0)
    }

    /// Has a module native code of a lambda?
    pub(crate) fn is_native(&self, n: usize) -> bool {
        self.entered.get(n) == Some(&IS_NATIVE)
    }
}
