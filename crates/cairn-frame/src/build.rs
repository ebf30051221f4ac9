//! Core → control-flow graphs: one [`Proc`] per clause of each lambda.
//!
//! The problem: Core is a tree of nested expressions; the frame pass needs a graph whose edges are explicit and
//! whose calls end blocks. The idea: translate with a *destination* ([`Dest`]): where the value goes and what
//! happens next. Operands become variables or constants, evaluated left to right.
//!
//! ```text
//!  (define (f x) (+ (g x) 1))          b0: call g(x) -> t, then b1
//!                                      b1: u := + t 1;  return u
//! ```
//!
//! What follows a call that never returns is not built, though the call has a frame, for backtraces: the code after a
//! check that calls such a procedure is no return point's, and stays in one piece with what comes before the check.
//!
//! Invariants: variables are assigned once, except label parameters (assigned by each jump) and the targets of
//! conditionals (once on each path); block 0 has no predecessors; every use of a lambda's free variable appears
//! as a plain variable that is live on entry and nowhere assigned.

use crate::analyze::{Closures, LamId, MAIN, fitting_clause};
use crate::graph::{Proc, ProcBlock, ProcTerm};
use crate::ir::{BlockId, Callee, FuncId, Op, Operand, Prim, Results, Stmt, Test, Var, VarInfo};
use crate::wide::widths::Listed;
use cairn_core::ir::{Expr, GlobalId, LabelId, Lambda, Literal, Program, TopForm, VarId};
use cairn_core::prim::{Kind, PrimOp};
use cairn_layout::calls::by_symbol;
use cairn_layout::code::Site;
use std::collections::HashMap;
use std::rc::Rc;

/// Ids of functions that clauses and entries become.
pub struct FuncIds {
    /// Body of clause `i` of a lambda.
    pub bodies: Vec<Vec<FuncId>>,
    /// Entry of a lambda, if something needs it.
    pub entries: Vec<FuncId>,
}

/// Shared inputs of translation.
pub struct Context<'a> {
    /// The program.
    pub program: &'a Program,
    /// Closure analysis.
    pub closures: &'a Closures<'a>,
    /// Clauses that receive all arguments in a list.
    pub listed: &'a Listed,
    /// Function numbering.
    pub ids: &'a FuncIds,
    /// Globals that hold a procedure or constant from the start, or whose definition has certainly run.
    pub always_bound: &'a [bool],
    /// Globals that hold procedures that never return.
    pub never_return: &'a [bool],
    /// Which lambdas had their entry mentioned.
    pub entries_used: Vec<bool>,
}

#[derive(Clone)]
enum Dest {
    Tail,
    Var(Var),
    Effect,
    /// Parameters, rest parameter; where another count is reported.
    Multi(Rc<(Vec<Var>, Option<Var>, Site)>),
}

#[derive(Clone)]
struct LabelInfo {
    block: BlockId,
    params: Vec<Var>,
}

struct Builder<'a, 'b> {
    cx: &'b mut Context<'a>,
    proc: Proc,
    map: HashMap<VarId, Var>,
    labels: HashMap<LabelId, LabelInfo>,
    cur: BlockId,
}

/// Translates one clause of a lambda.
pub fn build_clause<'a>(cx: &mut Context<'a>, lam: LamId, index: usize) -> Proc {
    let info = cx.closures.lam(lam);
    let lambda = info.lambda.expect("main is built apart");
    let clause = &lambda.clauses[index];
    let name: Rc<str> = lambda.name.clone();
    let (lifted, has_closure, free, library) = (info.lifted, info.has_closure(), info.free.clone(), info.library);
    let binder = info.binder;
    let mut b = Builder::new(cx, name, library);
    b.proc.params = clause.params.iter().chain(&clause.rest).map(|p| b.var(*p)).collect();
    if lifted {
        let more: Vec<Var> = free.iter().map(|v| b.var(*v)).collect();
        b.proc.params.extend(more);
    }
    if has_closure {
        let v = b.fresh("closure");
        b.proc.closure = Some(v);
        if let Some(f) = binder {
            b.map.insert(f, v);
        }
        b.proc.free = free.iter().map(|v| b.var(*v)).collect();
    }
    b.start(&clause.body)
}

/// Translates the top-level forms.
pub fn build_main(cx: &mut Context<'_>) -> Proc {
    let program = cx.program;
    let library = cx.closures.lam(MAIN).library;
    let mut b = Builder::new(cx, "program".into(), library);
    let first = b.new_block();
    b.goto(first);
    b.cur = first;
    for form in &program.forms {
        match form {
            TopForm::Define(g, Expr::Lambda(_)) if b.cx.closures.global.contains_key(g) => {}
            TopForm::Define(g, e) => {
                let v = b.operand(e);
                b.effect(Op::SetGlobal(*g, v));
            }
            TopForm::Expr(e) => b.expr(e, Dest::Effect),
        }
    }
    b.close(ProcTerm::Return(Operand::Const(Literal::Unspecified)));
    b.finish()
}

impl<'a, 'b> Builder<'a, 'b> {
    fn new(cx: &'b mut Context<'a>, name: Rc<str>, library: bool) -> Self {
        let proc =
            Proc { name, library, params: vec![], closure: None, free: vec![], vars: vec![], blocks: vec![] };
        let mut b = Builder { cx, proc, map: HashMap::new(), labels: HashMap::new(), cur: BlockId(0) };
        b.new_block();
        b
    }

    fn start(mut self, body: &Expr) -> Proc {
        let first = self.new_block();
        self.goto(first);
        self.cur = first;
        self.expr(body, Dest::Tail);
        self.finish()
    }

    fn finish(mut self) -> Proc {
        crate::graph::prune(&mut self.proc);
        self.proc
    }

    // ---- variables and blocks

    fn var(&mut self, v: VarId) -> Var {
        if let Some(x) = self.map.get(&v) {
            return *x;
        }
        let name = self.cx.program.vars[v.0 as usize].name.clone();
        let x = self.new_var(name);
        self.map.insert(v, x);
        x
    }

    fn new_var(&mut self, name: Rc<str>) -> Var {
        self.proc.vars.push(VarInfo { name, rep: crate::ir::Rep::Tagged });
        Var(self.proc.vars.len() as u32 - 1)
    }

    fn fresh(&mut self, name: &str) -> Var {
        self.new_var(name.into())
    }

    fn new_block(&mut self) -> BlockId {
        self.proc.blocks.push(ProcBlock { stmts: vec![], term: ProcTerm::None });
        BlockId(self.proc.blocks.len() as u32 - 1)
    }

    fn close(&mut self, term: ProcTerm) {
        let b = &mut self.proc.blocks[self.cur.0 as usize];
        debug_assert!(matches!(b.term, ProcTerm::None), "a block is closed once");
        b.term = term;
        // Whatever follows is unreachable: collect it in a block without predecessors.
        self.cur = self.new_block();
    }

    fn goto(&mut self, target: BlockId) {
        self.close(ProcTerm::Goto(target));
    }

    fn emit(&mut self, s: Stmt) {
        self.proc.blocks[self.cur.0 as usize].stmts.push(s);
    }

    fn assign(&mut self, v: Var, op: Op) {
        self.emit(Stmt::Assign(v, op));
    }

    fn effect(&mut self, op: Op) {
        self.emit(Stmt::Effect(op));
    }

    fn temp(&mut self, op: Op) -> Operand {
        let t = self.fresh("t");
        self.assign(t, op);
        Operand::Var(t)
    }

    // ---- procedures as values

    fn entry(&mut self, l: LamId) -> FuncId {
        self.cx.entries_used[l.0 as usize] = true;
        self.cx.ids.entries[l.0 as usize]
    }

    fn local_operand(&mut self, v: VarId) -> Operand {
        if let Some(&l) = self.cx.closures.local.get(&v) {
            let info = self.cx.closures.lam(l);
            if !info.has_closure() {
                assert!(!info.lifted || info.free.is_empty(), "a lifted procedure is used as a value");
                return Operand::Procedure(self.entry(l));
            }
        }
        Operand::Var(self.var(v))
    }

    fn lambda_operand(&mut self, l: &Lambda) -> Operand {
        let id = self.cx.closures.ids[&(l as *const Lambda)];
        let entry = self.entry(id);
        if !self.cx.closures.lam(id).has_closure() {
            return Operand::Procedure(entry);
        }
        let free = self.free_operands(id);
        self.temp(Op::Closure { entry, free })
    }

    fn free_operands(&mut self, id: LamId) -> Vec<Operand> {
        let free = self.cx.closures.lam(id).free.clone();
        free.into_iter().map(|v| self.local_operand(v)).collect()
    }

    /// Allocates the closures of a recursive group; references to later members are patched afterwards.
    fn fix(&mut self, bindings: &[(VarId, &Lambda)]) {
        let mut made: Vec<VarId> = vec![];
        let mut patches = vec![];
        let group: Vec<(VarId, LamId)> = bindings
            .iter()
            .map(|(v, l)| (*v, self.cx.closures.ids[&(*l as *const Lambda)]))
            .filter(|(_, id)| self.cx.closures.lam(*id).has_closure())
            .collect();
        for &(v, id) in &group {
            let entry = self.entry(id);
            let x = self.var(v);
            let free_vars = self.cx.closures.lam(id).free.clone();
            let mut free = vec![];
            for (i, f) in free_vars.iter().enumerate() {
                let later = group.iter().any(|(w, _)| w == f) && !made.contains(f);
                if later {
                    patches.push((x, i as u32, *f));
                    free.push(Operand::Const(Literal::Bool(false)));
                } else {
                    free.push(self.local_operand(*f));
                }
            }
            self.assign(x, Op::Closure { entry, free });
            made.push(v);
        }
        for (closure, index, f) in patches {
            let value = self.local_operand(f);
            self.effect(Op::ClosurePatch { closure, index, value });
        }
    }

    // ---- expressions

    fn operands(&mut self, es: &[Expr]) -> Vec<Operand> {
        es.iter().map(|e| self.operand(e)).collect()
    }

    fn operand(&mut self, e: &Expr) -> Operand {
        match e {
            Expr::Const(c) => Operand::Const(c.clone()),
            Expr::Local(v) => self.local_operand(*v),
            Expr::Lambda(l) => self.lambda_operand(l),
            Expr::Global(g, site) => self.global_operand(*g, *site),
            e => {
                let t = self.fresh("t");
                self.expr(e, Dest::Var(t));
                Operand::Var(t)
            }
        }
    }

    fn global_operand(&mut self, g: GlobalId, site: Site) -> Operand {
        if let Some(&l) = self.cx.closures.global.get(&g) {
            return Operand::Procedure(self.entry(l));
        }
        let op = if self.cx.always_bound[g.0 as usize] { Op::Global(g) } else { Op::GlobalChecked(g, site) };
        self.temp(op)
    }

    /// Delivers a value that is already an operand.
    fn deliver(&mut self, v: Operand, dest: Dest) {
        match dest {
            Dest::Tail => self.close(ProcTerm::Return(v)),
            Dest::Var(x) => self.assign(x, Op::Copy(v)),
            Dest::Effect => {}
            Dest::Multi(_) => self.deliver_multi(vec![v], dest),
        }
    }

    /// Delivers the result of an operation.
    fn deliver_op(&mut self, op: Op, dest: Dest) {
        match dest {
            Dest::Var(x) => self.assign(x, op),
            Dest::Effect => self.effect(op),
            dest => {
                let t = self.temp(op);
                self.deliver(t, dest);
            }
        }
    }

    fn deliver_multi(&mut self, values: Vec<Operand>, dest: Dest) {
        match &dest {
            Dest::Tail if values.len() == 1 => self.close(ProcTerm::Return(values.into_iter().next().unwrap())),
            Dest::Tail => self.close(ProcTerm::ReturnMulti(values)),
            Dest::Effect => {}
            Dest::Var(_) => {
                let first = values.into_iter().next().unwrap_or(Operand::Const(Literal::Unspecified));
                self.deliver(first, dest);
            }
            Dest::Multi(formals) => {
                let (params, rest, site) = &**formals;
                let fits = values.len() == params.len() || (rest.is_some() && values.len() >= params.len());
                if !fits {
                    let expected = cairn_layout::code::expected_values(params.len(), rest.is_some(), *site);
                    let expected = Operand::Const(Literal::Number(small(expected)));
                    let got = self.list(values);
                    self.effect(Op::Prim(Prim {
                        op: PrimOp::Rt(by_symbol("cairn_machine_mismatch")),
                        args: vec![expected, got],
                        site: *site,
                        proven: 0,
                    }));
                    for p in params.iter().chain(rest) {
                        self.assign(*p, Op::Copy(Operand::Const(Literal::Unspecified)));
                    }
                    return;
                }
                let extra = values[params.len()..].to_vec();
                let firsts: Vec<(Var, Operand)> = params.iter().copied().zip(values).collect();
                if let Some(r) = rest {
                    let list = self.list(extra);
                    self.assign(*r, Op::Copy(list));
                }
                for (p, v) in firsts {
                    self.assign(p, Op::Copy(v));
                }
            }
        }
    }

    /// Conses a list of operands.
    fn list(&mut self, items: Vec<Operand>) -> Operand {
        let mut list = Operand::Const(Literal::Nil);
        for v in items.into_iter().rev() {
            list = self.temp(prim(cairn_core::prim::Op::Cons, vec![v, list]));
        }
        list
    }

    fn expr(&mut self, e: &Expr, dest: Dest) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.expr_inner(e, dest));
    }

    fn expr_inner(&mut self, e: &Expr, dest: Dest) {
        match e {
            Expr::Const(_) | Expr::Local(_) | Expr::Lambda(_) => {
                if matches!(dest, Dest::Effect) {
                    return;
                }
                let v = self.operand(e);
                self.deliver(v, dest);
            }
            Expr::Global(g, site) => {
                if self.cx.closures.global.contains_key(g) {
                    let v = self.global_operand(*g, *site);
                    return self.deliver(v, dest);
                }
                let op =
                    if self.cx.always_bound[g.0 as usize] { Op::Global(*g) } else { Op::GlobalChecked(*g, *site) };
                self.deliver_op(op, dest);
            }
            Expr::SetGlobal(g, e, site) => {
                let v = self.operand(e);
                let op = if self.cx.always_bound[g.0 as usize] {
                    Op::SetGlobal(*g, v)
                } else {
                    Op::SetGlobalChecked(*g, v, *site)
                };
                self.effect(op);
                self.deliver(Operand::Const(Literal::Unspecified), dest);
            }
            Expr::If(a, b, c) => {
                let (then, els) = (self.new_block(), self.new_block());
                self.test(a, then, els);
                if matches!(dest, Dest::Tail) {
                    self.cur = then;
                    self.expr(b, Dest::Tail);
                    self.cur = els;
                    self.expr(c, Dest::Tail);
                } else {
                    let join = self.new_block();
                    self.cur = then;
                    self.expr(b, dest.clone());
                    self.goto(join);
                    self.cur = els;
                    self.expr(c, dest);
                    self.goto(join);
                    self.cur = join;
                }
            }
            Expr::Seq(es) => {
                let (last, init) = es.split_last().expect("empty sequence");
                for e in init {
                    self.expr(e, Dest::Effect);
                }
                self.expr(last, dest);
            }
            Expr::Let(bs, body) => {
                for (v, e) in bs {
                    match e {
                        Expr::Lambda(l) => self.fix(&[(*v, l)]),
                        e => {
                            let x = self.var(*v);
                            self.expr(e, Dest::Var(x));
                        }
                    }
                }
                self.expr(body, dest);
            }
            Expr::Fix(bs, body) => {
                let group: Vec<(VarId, &Lambda)> = bs.iter().map(|(v, l)| (*v, l)).collect();
                self.fix(&group);
                self.expr(body, dest);
            }
            Expr::Call(f, args, site) => {
                let (callee, args) = self.callee(f, args);
                let returns = !matches!(**f, Expr::Global(g, _) if self.cx.never_return[g.0 as usize]);
                let is_tail = matches!(dest, Dest::Tail);
                self.call(callee, args, *site, dest);
                if !returns && !is_tail {
                    self.close(ProcTerm::Return(Operand::Const(Literal::Unspecified)));
                }
            }
            Expr::Apply(f, args, site) => {
                let f = self.operand(f);
                let mut args = self.operands(args);
                let mut list = args.pop().expect("apply without a list");
                for v in args.into_iter().rev() {
                    list = self.temp(prim(cairn_core::prim::Op::Cons, vec![v, list]));
                }
                self.call(Callee::Apply(f), vec![list], *site, dest);
            }
            Expr::CallCc(shots, f, site) => {
                let f = self.operand(f);
                self.call(Callee::CallCc(*shots, f), vec![], *site, dest);
            }
            Expr::Prim { op, args, site, proven } => {
                let args = self.operands(args);
                let op = Op::Prim(Prim { op: *op, args, site: *site, proven: *proven });
                self.deliver_op(op, dest);
            }
            Expr::Values(es) => {
                let values = self.operands(es);
                self.deliver_multi(values, dest);
            }
            Expr::Receive { producer, clause, site } => {
                let params: Vec<Var> = clause.params.iter().map(|p| self.var(*p)).collect();
                let rest = clause.rest.map(|r| self.var(r));
                self.expr(producer, Dest::Multi(Rc::new((params, rest, *site))));
                self.expr(&clause.body, dest);
            }
            Expr::Labels(labels, body) => {
                for l in labels {
                    let block = self.new_block();
                    let params = l.params.iter().map(|p| self.var(*p)).collect();
                    self.labels.insert(l.id, LabelInfo { block, params });
                }
                let join = (!matches!(dest, Dest::Tail)).then(|| self.new_block());
                self.expr(body, dest.clone());
                if let Some(j) = join {
                    self.goto(j);
                }
                for l in labels {
                    self.cur = self.labels[&l.id].block;
                    self.expr(&l.body, dest.clone());
                    if let Some(j) = join {
                        self.goto(j);
                    }
                }
                if let Some(j) = join {
                    self.cur = j;
                }
            }
            Expr::Jump(id, args) => self.jump(*id, args),
            Expr::SetLocal(..) | Expr::Letrec(..) => unreachable!("fixed Core has no such form"),
        }
    }

    /// Parallel assignment of the label's parameters.
    fn jump(&mut self, id: LabelId, args: &[Expr]) {
        let values = self.operands(args);
        let LabelInfo { block, params } = self.labels[&id].clone();
        let moves: Vec<(Var, Operand)> =
            params.into_iter().zip(values).filter(|(p, v)| !matches!(v, Operand::Var(x) if x == p)).collect();
        let mut late = vec![];
        for (i, (p, v)) in moves.iter().enumerate() {
            let read_later = moves[i + 1..].iter().any(|(_, w)| matches!(w, Operand::Var(x) if x == p));
            if read_later {
                let t = self.temp(Op::Copy(v.clone()));
                late.push((*p, t));
            } else {
                self.assign(*p, Op::Copy(v.clone()));
            }
        }
        for (p, t) in late {
            self.assign(p, Op::Copy(t));
        }
        self.goto(block);
    }

    // ---- calls

    fn callee(&mut self, f: &Expr, args: &[Expr]) -> (Callee, Vec<Operand>) {
        let known = match f {
            Expr::Local(v) => self.cx.closures.local.get(v).copied(),
            Expr::Global(g, _) => self.cx.closures.global.get(g).copied(),
            _ => None,
        };
        if let Some(l) = known {
            let lambda = self.cx.closures.lam(l).lambda.expect("main is not called");
            if let Some((index, clause)) = fitting_clause(lambda, args.len(), self.cx.listed) {
                let mut values = self.operands(args);
                if clause.rest.is_some() {
                    let extra = values.split_off(clause.params.len());
                    let list = self.list(extra);
                    values.push(list);
                }
                let info = self.cx.closures.lam(l);
                let (lifted, has_closure) = (info.lifted, info.has_closure());
                if lifted {
                    let more = self.free_operands(l);
                    values.extend(more);
                }
                let closure = match f {
                    Expr::Local(v) if has_closure => Some(Operand::Var(self.var(*v))),
                    _ => None,
                };
                let body = self.cx.ids.bodies[l.0 as usize][index];
                return (Callee::Known(body, closure), values);
            }
        }
        let f = self.operand(f);
        let args = self.operands(args);
        (Callee::Unknown(f), args)
    }

    fn call(&mut self, callee: Callee, args: Vec<Operand>, site: Site, dest: Dest) {
        let results = match &dest {
            Dest::Tail => return self.close(ProcTerm::TailCall(callee, args, site)),
            Dest::Var(x) => Results::Single(*x),
            Dest::Effect => Results::Single(self.fresh("ignored")),
            Dest::Multi(f) => Results::Multi { params: f.0.clone(), rest: f.1, site: f.2 },
        };
        let next = self.new_block();
        self.close(ProcTerm::Call(callee, args, site, results, next));
        self.cur = next;
    }

    // ---- conditions

    fn test(&mut self, e: &Expr, then: BlockId, els: BlockId) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.test_inner(e, then, els));
    }

    fn test_inner(&mut self, e: &Expr, then: BlockId, els: BlockId) {
        match e {
            Expr::Const(Literal::Bool(false)) => self.goto(els),
            Expr::Const(_) | Expr::Lambda(_) => self.goto(then),
            Expr::If(a, b, c) => {
                let (bt, bf) = (self.new_block(), self.new_block());
                self.test(a, bt, bf);
                self.cur = bt;
                self.test(b, then, els);
                self.cur = bf;
                self.test(c, then, els);
            }
            Expr::Seq(es) => {
                let (last, init) = es.split_last().expect("empty sequence");
                for e in init {
                    self.expr(e, Dest::Effect);
                }
                self.test(last, then, els);
            }
            Expr::Let(bs, body) if bs.iter().all(|(_, e)| !matches!(e, Expr::Lambda(_))) => {
                for (v, e) in bs {
                    let x = self.var(*v);
                    self.expr(e, Dest::Var(x));
                }
                self.test(body, then, els);
            }
            Expr::Prim { op: PrimOp::Op(cairn_core::prim::Op::Not), args, .. } => self.test(&args[0], els, then),
            Expr::Prim { op: op @ PrimOp::Op(_), args, site, proven } if op.result() == Kind::Boolean => {
                let args = self.operands(args);
                let prim = Prim { op: *op, args, site: *site, proven: *proven };
                self.close(ProcTerm::Branch(Test::Prim(prim), then, els));
            }
            e => {
                let v = self.operand(e);
                self.close(ProcTerm::Branch(Test::Truthy(v), then, els));
            }
        }
    }
}

fn prim(op: cairn_core::prim::Op, args: Vec<Operand>) -> Op {
    Op::Prim(Prim { op: PrimOp::Op(op), args, site: Site::NONE, proven: 0 })
}

fn small(n: i64) -> cairn_num::Number {
    cairn_num::Number::Int(cairn_num::Int::Fix(n))
}
