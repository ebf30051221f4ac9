//! Closure analysis: which procedures need closures, and what is in them.
//!
//! The problem: a procedure with free variables needs them at run time. A closure record costs an allocation and
//! hides the code from direct calls. The idea, after Steckler & Wand (1997) and Keep, Hearn & Dybvig (2012):
//!
//! * a *known* procedure (bound by `Fix`, `Let` or an unassigned global) is called directly where it is called
//!   by name with a fitting argument count;
//! * a *well-known* one is only ever called so. It gets no closure: its free variables become further
//!   parameters (lambda lifting), as long as all parameters fit the registers of a known call;
//! * a procedure whose free variables are all closed procedures is itself closed: one static closure, no
//!   allocation;
//! * all others get flat closures holding exactly their free variables, so closures are safe for space (Shao & Appel
//!   1994): nothing is reachable through a closure but what its code can still use.
//!
//! Free variables and lifting depend on each other: a lifted callee's free variables are free in its callers.
//! [`analyze`] computes the least fixpoint; when a lifted procedure turns out to have too many parameters it is
//! un-lifted and the fixpoint starts again (at most once per procedure; in practice twice in all).
//!
//! Complexity: linear in the program times the nesting of recursive groups.

use crate::wide::widths::Listed;
use cairn_core::ir::{Clause, Expr, GlobalId, Lambda, Program, SourceFile, TopForm, VarId};
use cairn_layout::limits::KNOWN_REGISTERS;
use std::collections::{BTreeSet, HashMap};

/// A lambda of the program. `LamId(0)` is the main program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct LamId(pub u32);

/// The main program's pseudo-lambda.
pub const MAIN: LamId = LamId(0);

/// What is known of a lambda.
pub struct LamInfo<'a> {
    /// The lambda; `None` for the main program.
    pub lambda: Option<&'a Lambda>,
    /// Local variable that names it.
    pub binder: Option<VarId>,
    /// Referenced as a value, or called with a count no clause accepts: it needs an `Entry`.
    pub escapes: bool,
    /// Well-known and passed its free variables as parameters.
    pub lifted: bool,
    /// Free variables that must be supplied, ascending: closure contents or further parameters.
    pub free: Vec<VarId>,
    /// Comes from lib/.
    pub library: bool,
    refs: Vec<VarId>,
    children: Vec<LamId>,
}

impl LamInfo<'_> {
    /// Needs a closure record at run time.
    pub fn has_closure(&self) -> bool {
        !self.lifted && !self.free.is_empty()
    }
}

/// The result of the analysis.
pub struct Closures<'a> {
    /// Facts, indexed by [`LamId`].
    pub lams: Vec<LamInfo<'a>>,
    /// Lambda by identity.
    pub ids: HashMap<*const Lambda, LamId>,
    /// The lambda that a local variable always is.
    pub local: HashMap<VarId, LamId>,
    /// The lambda that a global variable always is.
    pub global: HashMap<GlobalId, LamId>,
    /// Lambda that binds a local variable.
    owner: Vec<LamId>,
}

impl<'a> Closures<'a> {
    /// Facts of one lambda.
    pub fn lam(&self, id: LamId) -> &LamInfo<'a> {
        &self.lams[id.0 as usize]
    }
}

/// The clause that accepts `count` arguments, with its index.
pub fn fitting_clause<'a>(lambda: &'a Lambda, count: usize, listed: &Listed) -> Option<(usize, &'a Clause)> {
    let accepts = |c: &Clause| match c.rest.map(|r| listed.get(&r)) {
        None => c.params.len() == count,
        Some(None) => c.params.len() <= count,
        // It wants more than any call has: such calls became `apply`.
        Some(Some(_)) => false,
    };
    lambda.clauses.iter().enumerate().find(|(_, c)| accepts(c))
}

struct Walker<'a> {
    out: Closures<'a>,
    current: LamId,
    /// Inside of a definition of the library.
    library: bool,
    sources: &'a [SourceFile],
    listed: &'a Listed,
}

/// Runs the analysis. A global that may be read before its definition, says `always_bound`, is no known procedure.
pub fn analyze<'a>(program: &'a Program, always_bound: &[bool], listed: &'a Listed) -> Closures<'a> {
    let out = Closures {
        lams: vec![],
        ids: HashMap::new(),
        local: HashMap::new(),
        global: HashMap::new(),
        owner: vec![MAIN; program.vars.len()],
    };
    let mut w = Walker { out, current: MAIN, library: program.hidden, sources: &program.sources, listed };
    w.new_lambda(None, None);
    for form in &program.forms {
        if let TopForm::Define(g, Expr::Lambda(l)) = form {
            let info = &program.globals[g.0 as usize];
            w.library = info.library;
            let id = w.new_lambda(Some(l), None);
            if !info.assigned && always_bound[g.0 as usize] {
                w.out.global.insert(*g, id);
            }
        }
    }
    for form in &program.forms {
        match form {
            TopForm::Define(g, Expr::Lambda(l)) => {
                w.library = program.globals[g.0 as usize].library;
                let id = w.out.ids[&(l as *const Lambda)];
                if !w.out.global.contains_key(g) {
                    w.out.lams[id.0 as usize].escapes = true;
                }
                w.lambda_body(id, l);
            }
            TopForm::Define(g, e) => {
                w.library = program.globals[g.0 as usize].library;
                w.expr(e);
            }
            TopForm::Expr(e) => {
                w.library = program.hidden;
                w.expr(e);
            }
        }
    }
    let mut out = w.out;
    for lam in &mut out.lams {
        lam.lifted = !lam.escapes && lam.lambda.is_some();
    }
    loop {
        fixpoint(&mut out);
        let mut again = false;
        for lam in &mut out.lams {
            let Some(lambda) = lam.lambda else { continue };
            let widest = lambda.clauses.iter().map(|c| c.params.len() + c.rest.is_some() as usize).max();
            if lam.lifted && !lam.free.is_empty() && widest.unwrap_or(0) + lam.free.len() > KNOWN_REGISTERS {
                lam.lifted = false;
                again = true;
            }
        }
        if !again {
            return out;
        }
    }
}

/// Least fixpoint of the free-variable equations for the current choice of lifted procedures.
fn fixpoint(out: &mut Closures) {
    let n = out.lams.len();
    let mut free: Vec<BTreeSet<VarId>> = vec![BTreeSet::new(); n];
    // Lambdas whose equation mentions lambda i.
    let mut users: Vec<Vec<usize>> = vec![vec![]; n];
    for (i, lam) in out.lams.iter().enumerate() {
        for r in &lam.refs {
            if let Some(g) = out.local.get(r) {
                users[g.0 as usize].push(i);
            }
        }
        for c in &lam.children {
            users[c.0 as usize].push(i);
        }
    }
    let mut queue: Vec<usize> = (0..n).rev().collect();
    let mut queued = vec![true; n];
    while let Some(i) = queue.pop() {
        queued[i] = false;
        let lam = &out.lams[i];
        let mut set: BTreeSet<VarId> = BTreeSet::new();
        for r in &lam.refs {
            match out.local.get(r) {
                None => {
                    set.insert(*r);
                }
                Some(g) => {
                    let callee = &out.lams[g.0 as usize];
                    if callee.lifted {
                        set.extend(free[g.0 as usize].iter().copied());
                    } else if !free[g.0 as usize].is_empty() {
                        set.insert(*r);
                    }
                }
            }
        }
        for c in &lam.children {
            if !out.lams[c.0 as usize].lifted {
                set.extend(free[c.0 as usize].iter().copied());
            }
        }
        set.retain(|v| out.owner[v.0 as usize] != LamId(i as u32) && Some(*v) != lam.binder);
        if set != free[i] {
            free[i] = set;
            for &u in &users[i] {
                if !queued[u] {
                    queued[u] = true;
                    queue.push(u);
                }
            }
        }
    }
    for (lam, free) in out.lams.iter_mut().zip(free) {
        lam.free = free.into_iter().collect();
    }
}

impl<'a> Walker<'a> {
    fn new_lambda(&mut self, lambda: Option<&'a Lambda>, binder: Option<VarId>) -> LamId {
        let id = LamId(self.out.lams.len() as u32);
        // loops of library procedures are copied to their calls
        let file = lambda.and_then(|l| l.site.file()).and_then(|f| self.sources.get(f as usize));
        let library = self.library || file.is_some_and(|s| s.library);
        self.out.lams.push(LamInfo {
            lambda,
            binder,
            escapes: false,
            lifted: false,
            free: vec![],
            library,
            refs: vec![],
            children: vec![],
        });
        if let Some(l) = lambda {
            self.out.ids.insert(l, id);
            if self.current != id {
                self.out.lams[self.current.0 as usize].children.push(id);
            }
        }
        id
    }

    fn bind(&mut self, v: VarId) {
        self.out.owner[v.0 as usize] = self.current;
    }

    fn lambda_body(&mut self, id: LamId, l: &'a Lambda) {
        let saved = std::mem::replace(&mut self.current, id);
        for c in &l.clauses {
            for p in c.params.iter().chain(&c.rest) {
                self.bind(*p);
            }
            self.expr(&c.body);
        }
        self.current = saved;
    }

    fn reference(&mut self, v: VarId) {
        self.out.lams[self.current.0 as usize].refs.push(v);
    }

    fn expr(&mut self, e: &'a Expr) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.expr_inner(e));
    }

    fn expr_inner(&mut self, e: &'a Expr) {
        match e {
            Expr::Const(_) => {}
            Expr::Local(v) => {
                self.reference(*v);
                if let Some(l) = self.out.local.get(v) {
                    self.out.lams[l.0 as usize].escapes = true;
                }
            }
            Expr::Global(g, _) => {
                if let Some(l) = self.out.global.get(g) {
                    self.out.lams[l.0 as usize].escapes = true;
                }
            }
            Expr::SetLocal(..) | Expr::Letrec(..) => panic!("closure analysis needs fixed Core"),
            Expr::SetGlobal(_, e, _) => self.expr(e),
            Expr::If(a, b, c) => {
                self.expr(a);
                self.expr(b);
                self.expr(c);
            }
            Expr::Seq(es) | Expr::Values(es) | Expr::Jump(_, es) => es.iter().for_each(|e| self.expr(e)),
            Expr::Let(bs, body) => {
                for (v, e) in bs {
                    self.bind(*v);
                    match e {
                        Expr::Lambda(l) => {
                            let id = self.new_lambda(Some(l), Some(*v));
                            self.out.local.insert(*v, id);
                            self.lambda_body(id, l);
                        }
                        e => self.expr(e),
                    }
                }
                self.expr(body);
            }
            Expr::Fix(bs, body) => {
                for (v, l) in bs {
                    self.bind(*v);
                    let id = self.new_lambda(Some(l), Some(*v));
                    self.out.local.insert(*v, id);
                }
                for (_, l) in bs {
                    self.lambda_body(self.out.ids[&(l as *const Lambda)], l);
                }
                self.expr(body);
            }
            Expr::Lambda(l) => {
                let id = self.new_lambda(Some(l), None);
                self.out.lams[id.0 as usize].escapes = true;
                self.lambda_body(id, l);
            }
            Expr::Call(f, args, _) => {
                match self.known(f) {
                    Some(l) if self.fits(l, args.len()) => {
                        if let Expr::Local(v) = &**f {
                            self.reference(*v);
                        }
                    }
                    _ => self.expr(f),
                }
                args.iter().for_each(|e| self.expr(e));
            }
            Expr::Apply(f, args, _) => {
                self.expr(f);
                args.iter().for_each(|e| self.expr(e));
            }
            Expr::CallCc(_, f, _) => self.expr(f),
            Expr::Prim { args, .. } => args.iter().for_each(|e| self.expr(e)),
            Expr::Receive { producer, clause, .. } => {
                self.expr(producer);
                for p in clause.params.iter().chain(&clause.rest) {
                    self.bind(*p);
                }
                self.expr(&clause.body);
            }
            Expr::Labels(labels, body) => {
                for l in labels {
                    l.params.iter().for_each(|p| self.bind(*p));
                    self.expr(&l.body);
                }
                self.expr(body);
            }
        }
    }

    fn known(&self, f: &Expr) -> Option<LamId> {
        match f {
            Expr::Local(v) => self.out.local.get(v).copied(),
            Expr::Global(g, _) => self.out.global.get(g).copied(),
            _ => None,
        }
    }

    fn fits(&self, l: LamId, count: usize) -> bool {
        let lambda = self.out.lams[l.0 as usize].lambda.expect("main is not called");
        fitting_clause(lambda, count, self.listed).is_some()
    }
}
